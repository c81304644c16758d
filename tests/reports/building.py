"""Runs made by hand, for tests that do not need a harness."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from hkcanto_tasks.figures import Pair, parts_of
from hkcanto_tasks.results.reports.blocks import Note, Section, TableBlock
from hkcanto_tasks.results.reports.summary import build_report
from hkcanto_tasks.results.runs import Items, Run, Sent
from hkcanto_tasks.results.statistics.intervals import Estimate
from hkcanto_tasks.signing import signature_of
from hkcanto_tasks.tasks import task_as_run


def a_run(
    task: str,
    values: Mapping[str, Sequence[float]],
    *,
    label: str = "model",
    subjects: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
    clusters: Sequence[int] | None = None,
    parts: Sequence[tuple[str, ...]] | None = None,
    weights: Mapping[str, Sequence[float]] | None = None,
    pairs: Sequence[Pair] = (),
    reasons: Sequence[str] = (),
    shots: int | None = None,
    data: str = "ba2a58b",
    version: str = "",
    **columns: Sequence[float],
) -> Run:
    """Return a run whose items have these values; everything else is a plain default."""
    count = max([*map(len, values.values()), len(pairs)])
    how = task_as_run(task, shots=shots)
    named, signed = how.task, signature_of(how, data)
    subjects = subjects or [named.subjects[0].name] * count
    known = {subject.name: parts_of(named, subject) for subject in named.subjects}
    parts = [
        known.get(subject, ()) + more
        for subject, more in zip(subjects, parts or [()] * count, strict=True)
    ]

    def column(name: str, fill: float, kind: type) -> np.ndarray:
        return np.asarray(columns.get(name, [fill] * count), kind)

    return Run(
        label=label,
        model=label,
        harness="lm-eval",
        signature=replace(signed, version=version or signed.version),
        created=datetime(2026, 11, 1, tzinfo=UTC),
        sources=(Path("results.json"),),
        sent=Sent(temperature=0.0),
        items=Items(
            ids=ids or [f"{task}/{subject}/{i}" for i, subject in enumerate(subjects)],
            subjects=subjects,
            parts=parts,
            values={
                name: np.asarray(of_metric, float) for name, of_metric in values.items()
            },
            weights={name: np.asarray(w, float) for name, w in (weights or {}).items()},
            clusters=np.asarray(
                range(count) if clusters is None else clusters, np.int64
            ),
            question_lengths=column("question_lengths", 20, np.int64),
            response_lengths=column("response_lengths", 1, np.int64),
            golds=column("golds", 0, np.int64),
            output_tokens=column("output_tokens", np.nan, np.float64),
            truncated=column("truncated", np.nan, np.float64),
            reasons=reasons,
            pairs=pairs,
        ),
    )


def changed(
    run: Run, *, options: Mapping[str, str] | None = None, **fields: Any
) -> Run:
    """Return a run with changes in its signature, such as other shots or other options."""
    if options is not None:
        fields["options"] = tuple(options.items())
    return replace(run, signature=replace(run.signature, **fields))


def sections(name: str, runs: Sequence[Run]) -> list[Section]:
    """Return the sections of a report with a name, such as `conditions`."""
    return [each for each in build_report(runs).sections if each.name.startswith(name)]


def tables(runs: Sequence[Run]) -> dict[str, list[dict[str, Any]]]:
    """Return the tables of a report by name: rows as dictionaries, estimates as their values."""
    blocks = [
        block for section in build_report(runs).sections for block in section.blocks
    ]
    return {
        block.name: [
            {
                column.title: value.value if isinstance(value, Estimate) else value
                for column, value in zip(block.columns, row.values, strict=True)
            }
            for row in block.rows
        ]
        for block in blocks
        if isinstance(block, TableBlock)
    }


def notes(runs: Sequence[Run]) -> list[str]:
    """Return the notes of a report."""
    blocks = [
        block for section in build_report(runs).sections for block in section.blocks
    ]
    return [block.text for block in blocks if isinstance(block, Note)]
