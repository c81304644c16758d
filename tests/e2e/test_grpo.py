"""The script of `docs/rewards.md` as a user runs it: one step of GRPO with the small real model."""

import subprocess
import sys
from pathlib import Path

import pytest

from hkcanto_metrics import (
    cantonese_reward,
    choice_reward,
    jyutping_reward,
    multiply_rewards,
)

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def test_a_step_of_grpo_is_taken_on_our_rewards(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("trl", reason="needs the extra e2e")
    options = ("--steps", "1", "--generations", "2", "--tokens", "16")
    done = subprocess.run(
        [sys.executable, EXAMPLES / "grpo.py", model, "--output", "trained", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "trained" / "model.safetensors").exists()

    import pyarrow.parquet as pq

    monkeypatch.syspath_prepend(EXAMPLES)
    from grpo import QUESTIONS

    (logged,) = (tmp_path / "trained" / "completions").glob("*.parquet")
    rows = pq.read_table(logged).to_pylist()
    assert len(rows) == 2
    for row in rows:
        (question,) = [each for each in QUESTIONS if each["prompt"] == row["prompt"]]
        columns = {
            name: [value] for name, value in question.items() if name != "prompt"
        }
        for reward in (
            multiply_rewards(choice_reward, cantonese_reward),
            jyutping_reward,
        ):
            (expected,) = reward([row["completion"]], **columns)
            logged_reward = row[reward.__name__]
            is_none = logged_reward is None or logged_reward != logged_reward  # NaN
            assert (
                is_none
                if expected is None
                else logged_reward == pytest.approx(expected)
            )
