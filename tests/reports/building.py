"""Evaluations made by hand, for tests that do not need a harness."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import numpy as np

from hkcanto_tasks.averages import parts_of
from hkcanto_tasks.corpus_figures import Pair
from hkcanto_tasks.reports.evaluations import Evaluation, Items
from hkcanto_tasks.setup import setup


def evaluation(
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
    version: str = "1",
    **columns: Sequence[float],
) -> Evaluation:
    """Return an evaluation whose items have these values; the rest is as plain as can be."""
    count = max([*map(len, values.values()), len(pairs)])
    how = setup(task)
    named = how.task
    shots = named.shots if shots is None else shots
    subjects = subjects or [named.subjects[0].name] * count
    known = {subject.name: parts_of(named, subject) for subject in named.subjects}
    parts = [
        known.get(subject, ()) + more
        for subject, more in zip(subjects, parts or [()] * count, strict=True)
    ]

    def column(name: str, fill: float, kind: type) -> np.ndarray:
        return np.asarray(columns.get(name, [fill] * count), kind)

    return Evaluation(
        label=label,
        model=label,
        harness="lm-eval",
        task=task,
        shots=shots,
        options={
            name: str(value)
            for name, value in msgspec.structs.asdict(how.kind.Options()).items()
            if value
        },
        data=data,
        version=version,
        signature=f"{task.replace('_', '-')}|shots:{shots}|data:{data}|v:{version}|pkg:0.1.0",
        created=datetime(2026, 11, 1, tzinfo=UTC),
        sources=(Path("results.json"),),
        items=Items(
            ids=ids or [f"{task}/{subject}/{i}" for i, subject in enumerate(subjects)],
            subjects=subjects,
            parts=parts,
            values={name: np.asarray(of_metric, float) for name, of_metric in values.items()},
            weights={name: np.asarray(w, float) for name, w in (weights or {}).items()},
            clusters=np.asarray(range(count) if clusters is None else clusters, np.int64),
            question_lengths=column("question_lengths", 20, np.int64),
            golds=column("golds", 0, np.int64),
            response_lengths=column("response_lengths", 1, np.int64),
            reasoning_lengths=column("reasoning_lengths", 0, np.int64),
            output_tokens=column("output_tokens", np.nan, np.float64),
            truncated=column("truncated", np.nan, np.float64),
            reasons=reasons,
            pairs=pairs,
        ),
    )
