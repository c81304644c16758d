"""The shell steps of the workflow in docs/examples/ci, run as GitHub runs them."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from hkcanto_tasks.cli import app

from .scripts import REPOSITORY

WORKFLOW = yaml.safe_load(
    (REPOSITORY / "docs/examples/ci/evaluate.yml").read_text("utf-8")
)
STEPS = WORKFLOW["jobs"]["evaluate"]["steps"]


SHELL = {step["name"]: step["run"] for step in STEPS if "run" in step}


def run(name: str, folder: Path, **given: str) -> int:
    """Run a step as GitHub does; `gh` is a fake that records its arguments."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "gh").write_text('#!/bin/sh\nprintf "%s " "$@" > gh-arguments\n')
    (tools / "gh").chmod(0o755)
    environment = {
        **os.environ,
        **WORKFLOW["env"],
        "MODEL": "hkcanto-g2p",
        "BASE": "engine=pycantonese",
        "CHECKPOINT": "engine=",
        "TASKS": "hkcanto_g2p",
        "LIMIT": "60",
        "FLAGS": "",
        "HKCANTO_DATA": "sample",
        "HKCANTO_DATA_DIR": "",
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "PULL_REQUEST": "7",
        "PATH": os.pathsep.join(
            [str(tools), str(Path(sys.executable).parent), os.environ["PATH"]]
        ),
    }
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", SHELL[name]],
        cwd=folder,
        env={**environment, **given},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    may_fail = name == "Gate" or "may_fail" in given
    assert done.returncode == 0 or may_fail, done.stdout + done.stderr
    return done.returncode


def gate(folder: Path) -> int:
    """Compare, comment and gate; return the exit status of the job."""
    run("Compare", folder)
    run("Comment", folder)
    status = (folder / "output").read_text().strip().removeprefix("status=")
    return run("Gate", folder, STATUS=status)


@pytest.mark.slow
@pytest.mark.usefixtures("lean_lm_eval")
def test_the_steps_evaluate_compare_comment_and_gate(tmp_path: Path) -> None:
    (tmp_path / "checkpoint.txt").write_text("tojyutping\n")
    run("Evaluate the base", tmp_path)
    run("Evaluate the checkpoint", tmp_path)
    assert gate(tmp_path) == 0
    comment = (tmp_path / "comment.md").read_text("utf-8")
    assert (tmp_path / "summary").read_text("utf-8") == comment
    assert "+13.4 points for checkpoint" in comment
    assert "<html" in (tmp_path / "report.html").read_text("utf-8")
    arguments = shlex.split((tmp_path / "gh-arguments").read_text())
    assert arguments[:3] == ["pr", "comment", "7"]
    assert arguments[arguments.index("--body-file") + 1] == "comment.md"

    worse = tmp_path / "worse"
    (worse / "runs").mkdir(parents=True)
    (tmp_path / "runs" / "base").rename(worse / "runs" / "checkpoint")
    (tmp_path / "runs" / "checkpoint").rename(worse / "runs" / "base")
    assert gate(worse) == 1


@pytest.mark.parametrize("status", [0, 1])
def test_the_job_ends_with_the_status_of_the_comparison(
    tmp_path: Path, status: int
) -> None:
    assert run("Gate", tmp_path, STATUS=str(status)) == status


@pytest.mark.parametrize(
    "text",
    [
        "tojyutping,trust_remote_code=True",
        "../../x",
        "$(touch x)",
        "a b",
        "-x",
        "",
        "a\nb",
    ],
)
def test_a_checkpoint_is_a_name_or_path_and_nothing_else(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "checkpoint.txt").write_text(text)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "lm_eval").write_text("#!/bin/sh\ntouch called\n")
    (tools / "lm_eval").chmod(0o755)
    assert run("Evaluate the checkpoint", tmp_path, may_fail="yes") == 1
    assert not (tmp_path / "called").exists()
    (tmp_path / "checkpoint.txt").write_text("org/model-7b_v1.0\n")
    assert run("Evaluate the checkpoint", tmp_path) == 0
    assert (tmp_path / "called").exists()


def test_a_fork_does_not_reach_the_machine() -> None:
    condition = WORKFLOW["jobs"]["evaluate"]["if"]
    assert "head.repo.full_name == github.repository" in condition


def test_each_option_of_our_command_exists() -> None:
    text = SHELL["Compare"].replace("\\\n", " ")
    commands = re.findall(r"hkcanto (\w+)(.*)", text)
    assert [name for name, _ in commands] == ["compare", "report"]
    for name, arguments in commands:
        described = CliRunner().invoke(
            app, [name, "--help"], env={"COLUMNS": "200", "TERM": "dumb"}
        )
        assert described.exit_code == 0
        for option in re.findall(r" (-o|--[\w-]+)", arguments):
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", described.output), option
