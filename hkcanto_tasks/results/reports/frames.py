"""Tidy tables of figures and effects: the rows of CSV and of `to_frame`.

Each figure of a run and each effect of a comparison has a row. Columns have one type, and numbers
are not rounded.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...figures import Figure
from ..runs import Run
from ..statistics.estimates import estimate
from ..statistics.intervals import Estimate
from ..statistics.paired import Comparison
from .analyses.curves import checkpoint
from .analyses.writing import JUDGED

_DIRECTIONS = {True: "higher", False: "lower", None: "neither"}


def figure_rows(runs: Sequence[Run]) -> Iterator[Mapping[str, Any]]:
    """Yield each figure of some runs, over all items and over each subject if there are several.

    Missing numbers are NaN, missing texts None.

    Examples:
        >>> list(figure_rows([]))
        []
    """
    for run in runs:
        judged = {name: each for name, each in JUDGED.items() if name in run.items.values}
        figures = {**run.figures, **judged}
        subjects = list(dict.fromkeys(run.items.subjects))
        for subject in (None, *(subjects if len(subjects) > 1 else ())):
            where = None if subject is None else run.items.of_subjects([subject])
            for name, figure in figures.items():
                if subject is not None and figure.averages != name:
                    continue  # an average over subjects, or a part of the task
                if (found := estimate(run, name, where)) is not None:
                    yield {
                        **_row(run, figure, subject, found),
                        "headline": subject is None and figure == run.headline,
                        "status": run.status,
                        "step": (checkpoint(run) or ("", math.nan))[1],
                        "note": found.note or None,
                    }


def effect_rows(
    compared: Sequence[Comparison], delta: float | None = None
) -> Iterator[Mapping[str, Any]]:
    """Yield each effect of some comparisons: the difference between `model` and `baseline`.

    Args:
        compared: The comparisons.
        delta: The tolerance of their gates, in points; None without gates.

    Examples:
        >>> list(effect_rows([]))
        []
    """
    of_effect = ("wins", "losses", "ties", "test", "p_value", "p_by_holm")
    for one in compared:
        base, own = one.a, one.figure
        of_base = {"baseline": base.label, "baseline_setup": base.condition}
        of_base["baseline_signature"] = base.signature.text
        listed = [("", one.overall), *((part, e) for part, of in one.parts.items() for e in of)]
        for part, effect in listed:
            is_subject = part == "subjects"
            by_item = own.name if own.part else own.averages
            name = by_item if is_subject else effect.name or own.name
            subject = effect.name if is_subject else None
            row = _row(one.b, base.figures[name], subject, effect.difference)
            row |= {"headline": not part and own == base.headline}
            row |= {"model_value": effect.b, "baseline_value": effect.a, **of_base}
            row |= {name: getattr(effect, name) for name in of_effect}
            if delta is not None:
                gate = None if part else one.gate
                row["gate_delta"] = delta if gate else None
                row["gate_bound"] = gate.bound if gate else None
                row["gate_passed"] = gate.passed if gate else None
            yield row | {"note": effect.difference.note or None}


def _row(run: Run, figure: Figure, subject: str | None, found: Estimate) -> dict[str, Any]:
    return {
        "model": run.label,
        "task": run.task,
        "setup": run.condition,
        "figure": figure.name,
        "subject": subject,
        "value": found.value,
        "low": math.nan if found.low is None else found.low,
        "high": math.nan if found.high is None else found.high,
        "n": found.items,
        "unit": figure.unit,
        "direction": _DIRECTIONS[figure.higher_is_better],
        "signature": run.signature.text,
    }
