"""Made-up runs of whole tasks of the papers' sizes, for tests of the papers' scores beside them."""

from collections.abc import Mapping, Sequence

from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.results.runs import Run

from .building import a_run, changed


def whole(
    task: str,
    share: float | Mapping[str, float] = 0.5,
    *,
    label: str = "mine",
    metric: str = "acc",
    subjects: Sequence[str] | None = None,
    shots: int | None = None,
    data: str = "ba2a58b",
    **options: str,
) -> Run:
    """Return a run of whole subjects; `share` of each one's items are right."""
    values, names = [], []
    for subject in find_task(task).subjects:
        if subjects is None or subject.name in subjects:
            own = share if isinstance(share, float) else share[subject.name]
            right = round(own * subject.rows)
            values += [1.0] * right + [0.0] * (subject.rows - right)
            names += [subject.name] * subject.rows
    made = a_run(
        task, {metric: values}, label=label, subjects=names, shots=shots, data=data
    )
    return changed(made, options={**made.options, **options})
