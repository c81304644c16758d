"""`inspect score LOG` knows the task from the log."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import score
from inspect_ai.log import read_eval_log

from hkcanto import tasks
from hkcanto.scorers import judged

from ..cases import named
from ..recording import recording
from .test_second_look import run


def rescored(log: Any, folder: Path, *arguments: str) -> Any:
    """The log that the command makes of another one."""
    made = folder / f"again{len(arguments)}.eval"
    done = subprocess.run(
        [
            *(
                sys.executable,
                "-m",
                "inspect_ai",
                "score",
                log.location,
                "--action",
                "overwrite",
            ),
            *("--output-file", str(made), *arguments),
        ],
        cwd=folder,
        env={**os.environ, "HKCANTO_DATA": "sample", "LOCAL_API_KEY": "none"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return read_eval_log(str(made))


@pytest.mark.slow
def test_a_log_is_scored_again_as_it_was(
    inspect_sample_run: Any, tmp_path: Path
) -> None:
    for arguments in [(), ("--scorer", "hkcanto/judged")]:
        with named(arguments):
            log = inspect_sample_run.log
            again = rescored(log, tmp_path, *arguments)
            scores = {each.id: each.scores["judged"] for each in log.samples}
            assert {each.id: each.scores["judged"].value for each in again.samples} == {
                name: score.value for name, score in scores.items()
            }
            (before,), (after,) = log.results.scores, again.results.scores
            assert after.metrics == before.metrics


@pytest.mark.slow
def test_each_sample_of_a_table_knows_its_own_task_and_options(
    inspect_cli: Any, tmp_path: Path
) -> None:
    with recording() as server:
        log = inspect_cli(
            *("--model", "openai-api/local/sentence", "--model-base-url", server.url),
            *("--limit", "12", "-T", "prompt=zh+scaffold"),
            task="hkcanto/hkcanto",
            LOCAL_API_KEY="none",
        ).log
    again = rescored(log, tmp_path, "--scorer", "hkcanto/judged")
    assert len({each.metadata["task"] for each in again.samples}) > 3
    for one, other in zip(log.samples, again.samples, strict=True):
        assert one.metadata["options"]["prompt"] == "zh+scaffold"
        assert one.scores["judged"] == other.scores["judged"]


def test_a_scorer_without_a_name_finds_the_task_in_each_sample(tmp_path: Path) -> None:
    task = tasks.run(task="hkcanto_law", shots=0)
    log = run(task, tmp_path, lambda _: "答案係 B。", limit=3)
    assert {sample.scores["judged"].answer for sample in log.samples} == {"B"}
    for sample in log.samples:
        sample.output.completion = "答案係 C。"
    again = score(log, judged(), action="overwrite")
    for sample in again.samples:
        judgement = sample.scores["judged"]
        assert judgement.answer == "C"
        assert judgement.value["acc"] == (sample.metadata["target"] == "C")
