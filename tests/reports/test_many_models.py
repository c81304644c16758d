"""`hkcanto compare` and `report` of many models on ten tasks, as a terminal of 80 columns shows it."""

from dataclasses import replace

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

from hkcanto_tasks.cli import app
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
