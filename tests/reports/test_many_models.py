"""`hkcanto compare` and `report` of many models on ten tasks, as a terminal of 80 columns shows it."""

import re
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
    commands = [line for line in lines if line.startswith("  hkcanto compare ")]
    assert len(commands) >= 1
    assert max(map(cell_len, {*lines} - {*commands})) <= 80
    assert not re.search(r"[a-z] against [A-Za-z]", done.stdout)  # pairs
    assert done.stdout.count("Models and tasks") == 1


def reported(
    models: Sequence[str], tasks: Sequence[str], patch: pytest.MonkeyPatch
) -> str:
    """What `hkcanto report` says of runs of models on tasks, as one line."""
    runs = many(models, tasks)
    patch.setattr(logs, "read_runs", lambda *_, **__: Runs(runs, ()))
    done = CliRunner().invoke(app, ["report", "runs"], env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.output
    lines = [line for line in done.stdout.splitlines() if "  hkcanto " not in line]
    assert max(map(cell_len, lines)) <= 80
    return " ".join(done.stdout.split())


def test_one_model_says_what_a_rank_is_and_why_a_task_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = reported(TEN_MODELS[:1], TEN_TASKS, monkeypatch)
    assert "No rank 7 of 10 tasks: no published score of the same task and" in said
    assert "A rank is among a paper's models: all places that the 95 %" in said


def test_a_leader_that_is_clearly_ahead_of_all_others_is_shown_with_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = reported(("weak", "middling", "strong"), TASKS[:2], monkeypatch)
    assert (
        "strong is the first of 3 models: mean rank 1.0 over 2 tasks. Next is middling with 2.0."
    ) in said
    assert "strong is certainly better than middling on 2 of 2 tasks" in said
    assert "The other model is certainly behind strong on some task" in said
    assert "hkcanto compare runs --model strong --model middling" in said


def test_models_that_do_not_fit_have_numbers_and_no_model_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = reported(TEN_MODELS[:8], TEN_TASKS, monkeypatch)
    names = dict(re.findall(r"([1-8]) ([A-Za-z][\w.-]+)(?: ·| Task)", said))
    assert {*names.values()} == {*TEN_MODELS[:8]}
    assert "Task 1 2 3 4 5 6 7 8" in said
    # The title says how many items there are, and the best is marked.
    assert re.search(
        r"Hong Kong law % (\d\d\.\d[*≈]? ){8}Accuracy ↑, 5-shot, 424", said
    )


def test_chosen_models_are_compared_the_first_as_the_baseline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = [replace(run, argument=0) for run in many(TEN_MODELS[:4], TASKS[2:4])]
    monkeypatch.setattr(comparing, "read_runs", lambda *_, **__: Runs(runs, ()))

    def compared(*options: str) -> str:
        done = CliRunner().invoke(app, ["compare", "runs", *options])
        return f"{done.exit_code} {' '.join(done.output.split())}"

    first, second = TEN_MODELS[2], TEN_MODELS[0]
    said = compared("--model", first, "--model", second)
    assert said.startswith(f"0 {second} against {first} ")
    assert TEN_MODELS[1] not in said
    assert f"hkcanto compare runs --model={first} --model={second} --full" in said
    unknown = compared("--model", "nobody")
    assert unknown.startswith("2 ")
    assert f"no log has it. The logs have {TEN_MODELS[0]}" in unknown
