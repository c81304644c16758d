"""A task's errors are reported before Inspect loads the model or sends a request."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval

from hkcanto import tasks

from ..cases import named
from ..recording import recording

pytestmark = pytest.mark.slow


def inspect_eval_command(folder: Path, *arguments: str, **env: str) -> str:
    """Return the output for a model with an unknown provider, which Inspect reports at once."""
    done = subprocess.run(
        [sys.executable, "-m", "inspect_ai", *arguments, "--model", "no-such-provider/model"],
        cwd=folder,
        env={**os.environ, "HKCANTO_DATA": "sample", "COLUMNS": "400", **env},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode != 0
    return done.stdout + done.stderr


def test_a_task_that_cannot_be_made_is_said_before_the_model(tmp_path: Path) -> None:
    for arguments, env, said in [
        (
            ("eval", "hkcanto/g2p"),
            {"HKCANTO_DATA": "", "HKCANTO_DATA_DIR": "nowhere"},
            "DataNotFound: HKCANTO_DATA_DIR=nowhere is not a folder",
        ),
        (("eval", "hkcanto/law", "-T", "shotz=3"), {}, "has no option 'shotz'. Did you mean shots"),
        (
            ("eval-set", "hkcanto/g2p", "hkcanto/law", "-T", "shots=99", "--log-dir", "logs"),
            {},
            "shots=99, but there are",
        ),
        (
            ("eval", "hkcanto/translation", "-T", "judge=true", "--model-role", "reader=x/y"),
            {},
            "no model has the role grader",
        ),
    ]:
        with named(arguments, env, said):
            output = inspect_eval_command(tmp_path, *arguments, **env)
            assert said in output
            assert "no-such-provider" not in output
            assert "Traceback" not in output
            assert not list(tmp_path.glob("logs/*"))


def test_a_task_that_can_be_made_gets_to_the_model(tmp_path: Path) -> None:
    output = inspect_eval_command(
        tmp_path, "eval", "hkcanto/translation", "-T", "judge=true", "-T", "direction=yue_en",
        "--model-role", "grader=mockllm/model",
    )  # fmt: skip
    assert "OptionError" not in output
    assert "no-such-provider" in output  # so Inspect got as far as the model
    assert "hooks enabled" not in output


def test_without_a_grader_nothing_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    with recording() as server:
        (log,) = inspect_eval(
            tasks.summarization(judge=True),
            model="openai-api/local/letters",
            model_base_url=server.url,
            log_dir=str(tmp_path),
            display="none",
        )
    assert log.status == "error"
    assert "no model has the role grader" in log.error.message
    assert not server.requests
