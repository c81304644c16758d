"""Runs of the first items of a task, as with `--limit`."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.results.runs import Run
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.tasks import stratified

from .building import a_run


def beginning(
    task: str,
    count: int,
    shares: float | Mapping[str, float] = 0.6,
    *,
    value: float = 1.0,
    **how: str,
) -> Run:
    """Return a run of a task's first items; a given share of each subject's items has the value.

    The numbers of questions are those of the papers, and the order is that of real runs.
    """
    ordered = stratified(
        [
            Sample(id=f"{own.name}/{place}", subject=own.name)
            for place in range(own.rows)
        ]
        for own in find_task(task).subjects
    )[:count]
    subjects = [sample.subject for sample in ordered]
    of = [
        shares if isinstance(shares, float) else shares.get(name, 0.0)
        for name in subjects
    ]
    drawn = np.random.default_rng(0).random(count)
    acc = [
        value if each < share else 0.0 for each, share in zip(drawn, of, strict=True)
    ]
    ids = [sample.id for sample in ordered]
    made = a_run(task, {"acc": acc}, ids=ids, subjects=subjects, label="mine", **how)
    return replace(made, limited=True)
