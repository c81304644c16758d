"""A benchmark of our own in a folder, declared by each test."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hkcanto_tasks import catalogue, load_task
from hkcanto_tasks.samples import Sample

DECLARED = """
name = "quiz"
title = "Quiz"
[data]
path = "data"
[prompts.plain]
system = {system}
question = {question}
{texts}
[[tasks]]
name = "quiz"
title = "Quiz"
kind = "{kind}"
{more}
"""
PLAIN = "{question}\n{options}"
FILES = 'files = { test = "test.json", dev = "test.json" }'
Quiz = Callable[..., Path]


@pytest.fixture
def quiz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Quiz:
    """Return a function that declares a benchmark `quiz`, and writes its files.

    Rows are written to `data/test.json`; other files are given as path → content.
    """
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))

    def declare(
        more: str,
        *rows: Mapping[str, Any],
        question: str = PLAIN,
        system: str = "",
        texts: str = "",
        kind: str = "multiple_choice",
        files: Mapping[str, str] | None = None,
    ) -> Path:
        catalogue._catalogue.cache_clear()
        (tmp_path / "data").mkdir(exist_ok=True)
        located = any(key in more for key in ("files", "reader", "splits"))
        text = DECLARED.format(
            question=json.dumps(question),
            system=json.dumps(system),
            texts=texts,
            kind=kind,
            more=more if located else f"{FILES}\n{more}",
        )
        (tmp_path / "benchmark.toml").write_text(text, encoding="utf-8")
        if rows:
            written = json.dumps(rows, ensure_ascii=False)
            (tmp_path / "data/test.json").write_text(written, "utf-8")
        for name, content in (files or {}).items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        return tmp_path

    return declare


def items(**options: Any) -> list[Sample]:
    """The scored items in the order of their ids."""
    samples = load_task("quiz", **options).samples
    return sorted(
        samples, key=lambda sample: (sample.subject, len(sample.id), sample.id)
    )


def read(**options: Any) -> list[tuple[str, tuple[str | None, ...], str]]:
    """Question, choices and target of each item."""
    return [(item.question, item.choices, item.target) for item in items(**options)]


def prompts(**options: Any) -> list[str]:
    """The prompts in the order of the items' ids."""
    loaded = load_task("quiz", **options)
    return [loaded.prompt(item).text() for item in items(**options)]


def as_csv(rows: Sequence[Sequence[str]], header: Sequence[str] = ()) -> str:
    """Rows as a CSV file, every cell in quotation marks."""
    lines = [header, *rows] if header else rows
    quoted = (
        ",".join('"' + cell.replace('"', '""') + '"' for cell in line) for line in lines
    )
    return "\r\n".join([*quoted, ""])
