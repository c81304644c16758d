"""`hkcanto compare` and `report` of many models on ten tasks, as a terminal of 80 columns shows it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

from hkcanto_tasks.cli import app
from hkcanto_tasks.results import logs
from hkcanto_tasks.results.frames import Runs
from hkcanto_tasks.results.reports import compare as comparing

from .many import TASKS, many
from .test_gate import TEN_TASKS

TEN_MODELS = (
    "Qwen2.5-72B-Instruct",
    "gemma-3-27b-it",
    "DeepSeek-V3",
    "gpt-4o-2024-11-20",
    "Yi-1.5-34B-Chat",
    "Llama-3.1-70B-Instruct",
    "Mistral-Large-Instruct-2411",
    "Phi-4",
    "internlm2_5-20b-chat",
    "aya-expanse-32b",
)


@pytest.mark.parametrize("tasks", [TASKS[2:3], TEN_TASKS])
def test_ten_models_are_one_table_that_fits(
    tasks: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [
        replace(run, argument=TEN_MODELS.index(run.label))
        for run in many(TEN_MODELS, tasks, limit=60)
    ]
    monkeypatch.setattr(comparing, "read_runs", lambda *_, **__: Runs(runs, ()))
    arguments = ["compare", *TEN_MODELS, "--resamples", "100"]
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert "10 models compared" in lines[:2]
    assert max(map(cell_len, lines)) <= 80
    assert " against " not in done.stdout
    assert done.stdout.count("Models and tasks") == 1


def reported(
    models: Sequence[str], tasks: Sequence[str], patch: pytest.MonkeyPatch
) -> str:
    """What `hkcanto report` says of runs of models on tasks, as one line."""
    runs = many(models, tasks)
    patch.setattr(logs, "read_runs", lambda *_, **__: Runs(runs, ()))
    done = CliRunner().invoke(app, ["report", "runs"], env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.output
    assert max(map(cell_len, done.stdout.splitlines())) <= 80
    return " ".join(done.stdout.split())


def test_one_model_says_what_a_rank_is_and_why_a_task_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = reported(TEN_MODELS[:1], TEN_TASKS, monkeypatch)
    assert (
        "Tasks without a rank: no published score of the same task and setup (7)."
        in said
    )
    assert "A rank is among a paper's models: all places that the 95 %" in said


def test_a_leader_that_is_clearly_ahead_of_all_others_is_shown_with_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = reported(("weak", "middling", "strong"), TASKS[:2], monkeypatch)
    assert (
        "strong leads among 3 models: mean rank 1.0; next is middling (2.0). It is certainly better "
        "than each of the others on some task"
    ) in said
    assert "hkcanto compare LOGS_OF_strong LOGS_OF_middling" in said
