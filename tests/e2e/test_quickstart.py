"""The quick start's third step, as printed, with the tiny model under the names of the page."""

import re
import subprocess
import sys
from os import environ, pathsep
from pathlib import Path

import pytest

from ..scripts import REPOSITORY
from .conftest import DATA

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

STEP = (REPOSITORY / "docs/quickstart.md").read_text("utf-8").partition("## 3.")[2]
NAMES = ("Qwen2.5-0.5B-Instruct", "Qwen2.5-1.5B-Instruct")


@pytest.mark.parametrize("harness", ["lm-eval", "Inspect"])
def test_two_models_are_evaluated_and_compared_as_printed(
    tiny_model: Path, lean_path: str, tmp_path: Path, harness: str
) -> None:
    """Two items instead of 200; the compared models are one, so the gate has too few items."""
    (tmp_path / "Qwen").mkdir()
    for name in NAMES:
        (tmp_path / "Qwen" / name).symlink_to(tiny_model)
    with_lm_eval, with_inspect, compare = re.findall(r"```bash\n(.*?)```", STEP, re.S)
    evaluate = with_lm_eval if harness == "lm-eval" else with_inspect
    assert "--limit 200" in evaluate
    script = evaluate.replace("--limit 200", "--limit 2").replace(
        "unset HKCANTO_DATA\n", ""
    )
    path = pathsep.join([str(Path(sys.executable).parent), environ["PATH"]])
    done = subprocess.run(
        ["bash", "-e", "-c", script + compare],
        cwd=tmp_path,
        env={
            **environ,
            **DATA,
            "HF_HUB_OFFLINE": "1",
            "PATH": path,
            "PYTHONPATH": lean_path,
        },
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    # A model with random weights may give no answer that can be read.
    status = (
        2 if "could not be read: no verdict" in " ".join(done.stdout.split()) else 0
    )
    assert done.returncode == status, f"{done.stdout}\n{done.stderr}"
    assert "Qwen2.5-1.5B-Instruct" in done.stdout
    assert "HKMMLU" in done.stdout
