"""Refusals are a few lines in the harnesses' commands, and exceptions for callers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hkcanto_tasks.cli import app
from hkcanto_tasks.errors import OptionError, without_traceback

from .answering import AnsweringLM
from .lm_eval.evaluating import evaluate
from .tasks.declaring import QUIZ

COMMANDS = {
    "lm_eval": [sys.executable, "-m", "lm_eval", "run", "--model", "dummy", "--tasks"],
    "inspect": [sys.executable, "-m", "inspect_ai", "eval", "--model", "mockllm/model"],
}
TASKS = {"lm_eval": "hkmmlu", "inspect": "hkcanto/hkmmlu"}


def said(harness: str, *more: str, cwd: Path, task: str = "", **env: str) -> str:
    """The output of a failing command, without the harness's log lines."""
    done = subprocess.run(
        [*COMMANDS[harness], task or TASKS[harness], *more],
        cwd=cwd,
        env={**os.environ, "HKCANTO_DATA": "", "COLUMNS": "200", **env},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("lean_lm_eval")
@pytest.mark.parametrize("harness", COMMANDS)
def test_no_data_and_no_network(harness: str, tmp_path: Path) -> None:
    output = said(
        harness, cwd=tmp_path, HKCANTO_CACHE=str(tmp_path), HKCANTO_OFFLINE="1"
    )
    message = [
        "NetworkUnavailable: cannot download hkmmlu from https://huggingface.co:",
        "HKCANTO_DATA_DIR=<dir>: use a copy in <dir>/hkmmlu without any network",
        "HKCANTO_DATA=sample: use the sample data in the package to try things out",
    ]
    assert all(line in output for line in message), output
    assert "Traceback" not in output
    assert len(output.splitlines()) <= 16  # six for the message, ten around it


@pytest.mark.slow
@pytest.mark.usefixtures("lean_lm_eval")
@pytest.mark.parametrize("harness", COMMANDS)
def test_a_broken_file(harness: str, tmp_path: Path) -> None:
    folder = tmp_path / "data/hkmmlu/test"
    folder.mkdir(parents=True)
    (folder / "hk_law.csv").write_text(
        "version https://git-lfs.github.com/spec/v1\n", "utf-8"
    )
    output = said(harness, cwd=tmp_path, HKCANTO_DATA_DIR=str(tmp_path / "data"))
    assert "DataCorrupt:" in output
    assert "git lfs pull" in output
    assert "Traceback" not in output


@pytest.mark.slow
@pytest.mark.usefixtures("lean_lm_eval")
@pytest.mark.parametrize(
    ("harness", "task", "option"),
    [("lm_eval", "quiz", []), ("inspect", "hkcanto/run", ["-T", "task=quiz"])],
)
def test_a_task_without_its_file(
    harness: str, task: str, option: list[str], tmp_path: Path
) -> None:
    """Both refuse; `hkcanto doctor` says it, too."""
    (tmp_path / "benchmark.toml").write_text(QUIZ + 'files = "exam.csv"\n', "utf-8")
    env = {"HKCANTO_BENCHMARKS": str(tmp_path), "HKCANTO_DATA": "sample"}
    output = said(harness, *option, cwd=tmp_path, task=task, **env)
    assert "has no test file of quiz; expected exam.csv" in " ".join(output.split())
    assert "Traceback" not in output
    checked = CliRunner().invoke(app, ["doctor"], env=env)
    assert checked.exit_code == 1
    assert "✗ Quiz: " in checked.output
    assert "has no test file of quiz; expected exam.csv" in " ".join(
        checked.output.split()
    )


def test_a_program_is_told_which_task_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "benchmark.toml").write_text(QUIZ + 'files = "exam.csv"\n', "utf-8")
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))
    evaluate("quiz", model=AnsweringLM())
    assert "The data has no file for quiz: it is left out." in caplog.messages


@pytest.mark.slow
@pytest.mark.usefixtures("lean_lm_eval")
@pytest.mark.parametrize(
    ("harness", "option"),
    [("lm_eval", ["--metadata", '{"shotz": 3}']), ("inspect", ["-T", "shotz=3"])],
)
def test_an_unknown_option(harness: str, option: list[str], tmp_path: Path) -> None:
    output = said(harness, *option, cwd=tmp_path, HKCANTO_DATA="sample")
    assert "OptionError: hkmmlu has no option 'shotz'. Did you mean shots?" in output
    assert "Traceback" not in output


@pytest.mark.slow
@pytest.mark.usefixtures("lean_lm_eval")
def test_too_many_shots_in_lm_eval(tmp_path: Path) -> None:
    output = said("lm_eval", "--num_fewshot", "9", cwd=tmp_path, HKCANTO_DATA="sample")
    assert "OptionError:" in output
    assert "Ask for 0 to" in output
    assert "Traceback" not in output


@pytest.mark.slow
@pytest.mark.usefixtures("lean_lm_eval")
def test_a_program_gets_the_exception(tmp_path: Path) -> None:
    program = (
        "from lm_eval import simple_evaluate\n"
        "from hkcanto_tasks.errors import HKCantoError\n"
        "try:\n    simple_evaluate(model='dummy', tasks=['hkmmlu'])\n"
        "except HKCantoError as error:\n    print('caught', type(error).__name__)\n"
        "simple_evaluate(model='dummy', tasks=['hkmmlu'])\n"
    )
    (tmp_path / "mine.py").write_text(program, "utf-8")
    done = subprocess.run(
        [sys.executable, "mine.py"],
        cwd=tmp_path,
        env={
            **os.environ,
            "HKCANTO_DATA": "",
            "HKCANTO_CACHE": str(tmp_path),
            "HKCANTO_OFFLINE": "1",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "caught NetworkUnavailable" in done.stdout
    assert "Traceback" in done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("lean_lm_eval")
@pytest.mark.parametrize(
    ("harness", "task", "meant"),
    [
        ("lm_eval", "hkmlu", "Did you mean hkmmlu?"),
        ("inspect", "hkcanto/hkcanto_law", "Did you mean hkcanto/law?"),
        ("inspect", "hkcanto/hkmmlu_sc", "mean hkcanto/run -T task=hkmmlu_sc?"),
        ("inspect", "hkcanto/phonolgy", "Did you mean hkcanto/phonology?"),
    ],
)
def test_an_unknown_task_is_answered_with_the_name_that_it_may_mean(
    harness: str, task: str, meant: str, tmp_path: Path
) -> None:
    output = said(harness, cwd=tmp_path, task=task)
    assert meant in output
    assert "Traceback" not in output


@pytest.mark.slow
@pytest.mark.usefixtures("lean_lm_eval")
def test_an_unknown_task_of_others_is_left_to_lm_eval(tmp_path: Path) -> None:
    output = said("lm_eval", cwd=tmp_path, task="hellaswagg")
    assert "hkcanto" not in output.rpartition("Traceback")[2].partition("Error")[2]
    assert "Tasks not found: hellaswagg" in output


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", "nowhere"),
        ("compare", "nowhere", "nowhere2"),
        ("plan", "nowhere", "nowhere2"),
        ("estimate", "--from", "nowhere"),
        ("contamination", "nowhere"),
        ("rescore", "nowhere", "-o", "new"),
        ("rescore", "nowhere", "--any"),
        ("agreement", "nowhere", "nowhere.csv"),
        ("publish", "nowhere", "--to", "card", "-o", "new"),
        ("board", "nowhere", "-o", "new"),
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_a_missing_path_has_one_exit_status_in_all_commands(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
    assert done.exit_code == 2, done.output
    assert "nowhere" in done.output
    assert "does not exist" in done.output
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", "logs", "-o", "a/b/report.html"),
        ("report", "logs", "--format", "md", "-o", "a/b/report"),
        ("compare", "logs", "logs", "-o", "a/b/report.html"),
        ("plan", "--discordance", "20", "-o", "a/b/plan.json"),
        ("publish", "logs", "--to", "card", "-o", "file/out"),
        ("board", "logs", "-o", "file"),
        ("rescore", "logs", "-o", "file/out"),
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_an_output_that_cannot_be_written_is_refused_before_the_work(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The logs are a folder without any log, which would be refused if they were read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    (tmp_path / "file").write_text("mine")
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
    assert done.exit_code in (1, 2), done.output
    assert "Give a f" in done.output
    assert "OptionError" in done.output or "DataNotFound" in done.output
    assert (tmp_path / "file").read_text() == "mine"


def test_a_pipe_gets_no_progress() -> None:
    done = CliRunner().invoke(app, ["doctor", "hkcanto_fluency"])
    assert "Checking" not in done.output
    assert not done.stderr


@pytest.mark.parametrize(
    ("program", "is_command"),
    [
        ("/usr/bin/lm_eval", True),
        ("lm-eval", True),
        ("C:\\venv\\Scripts\\inspect.exe", True),
        ("/venv/lib/lm_eval/__main__.py", True),
        ("/venv/lib/inspect_ai/__main__.py", True),
        ("/home/me/my_inspect", False),
        ("train.py", False),
        ("", False),
    ],
)
def test_only_a_harness_s_command_ends_with_our_message(
    program: str,
    is_command: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    by_default = list[BaseException]()

    def default(_: object, error: BaseException, *__: object) -> None:
        by_default.append(error)

    monkeypatch.setattr(sys, "argv", [program])
    monkeypatch.setattr(sys, "excepthook", default)
    without_traceback()
    ours, another = OptionError("no option\x1b"), ValueError("not ours")
    for error in (ours, another):
        sys.excepthook(type(error), error, None)
    assert by_default == ([another] if is_command else [ours, another])
    assert capsys.readouterr().err == "\nOptionError: no option␛\n" * is_command
