"""Boards built on the command line, from made-up records and from logs of the harnesses."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from hkcanto_tasks.cli import app
from hkcanto_tasks.tasks import task_as_run

from ..publishing.conftest import hub, quiz_logs
from ..scripts import load_script

__all__ = ["hub", "quiz_logs"]

made_records = load_script("performance/made_records.py")


class Built(NamedTuple):
    """The command's exit status and output, and the site."""

    status: int
    output: str
    site: Path

    def page(self, path: str) -> str:
        """The text of a page."""
        return (self.site / path).read_text("utf-8")


Board = Callable[..., Built]


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Board:
    """Return a function that runs `hkcanto board` on paths and options."""
    monkeypatch.setenv("HKCANTO_CACHE", str(tmp_path / "cache"))

    def build(*arguments: str | Path, site: str = "site") -> Built:
        place = tmp_path / site
        command = ["board", *map(str, arguments), "-o", str(place)]
        done = CliRunner().invoke(app, command, env={"COLUMNS": "200"})
        assert "Traceback" not in done.output, done.output
        assert done.exception is None or isinstance(done.exception, SystemExit), (
            done.exception
        )
        return Built(done.exit_code, " ".join(done.output.split()), place)

    return build


class Results:
    """A folder of results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(
        self,
        model: str = "org/model-7b",
        task: str = "hkcanto_cultural",
        skill: float = 0.6,
        *,
        day: int = 0,
        shots: int | None = None,
        change: Callable[[dict[str, Any]], object] | None = None,
        name: str = "",
        options: Mapping[str, Any] | None = None,
    ) -> Path:
        """Add a record, changed in place by a function, and return its file."""
        made = made_records.record(
            task_as_run(task, shots=shots, **(options or {})), model, skill, day
        )
        if change:
            change(made)
        count = len([*self.folder.rglob("*.json")])
        file = self.folder / "data" / (name or f"{count}.json")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(made), encoding="utf-8")
        return file


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """An empty folder of results."""
    (tmp_path / "results").mkdir()
    return Results(tmp_path / "results")
