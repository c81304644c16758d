"""Tidy tables of figures and effects: the rows of CSV and of `to_frame`.

Each figure of a run and each effect of a comparison has a row. Columns have one type, and numbers
are not rounded.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hkcanto_metrics.error_spans import ERROR_CATEGORIES
from hkcanto_metrics.rubric import CRITERIA

from ..figures import Figure
from ..printable import one_line
from .runs import Run, SkippedLog
from .statistics.estimates import estimate
from .statistics.intervals import Estimate
from .statistics.paired import Comparison

if TYPE_CHECKING:
    import pandas as pd

_STEP = re.compile(
    r"(?:(?:revision=|@|(?<![a-z]))(?:checkpoint|ckpt|(?:global[-_]?)?step|iter(?:ation)?)|@|^(?=\d+$))"
    r"[-_=]?0*(\d+)(k?)(?![a-z\d.])(?:[-_]tokens[\d.]+[bt])?",
    re.IGNORECASE,
)
_LEFT = re.compile(r"\s*\(\W*\)|[-_/@=,:\s]+(?=\)|$)|^[-_/@=,:\s]+")
_ACCURACY = "Share of characters in which the judge labelled no error (formula (1))."
_POINTS = "Share of the possible points, lowered by a penalty for length."
_MEAN = "Mean of the judge's points: 5, 3 or 1."
_DISAGREES = (
    "Share of judgements that disagree with `fluent` on whether a text is fluent."
)
_ERRORS = "Labelled errors per judgement."
_FAILED = (
    "Share of unusable judgements. An item without a usable judgement has no score."
)
JUDGED: Mapping[str, Figure] = {
    figure.name: figure
    for figure in (
        Figure("judged_accuracy", "Judged accuracy", "share", True, _ACCURACY),
        Figure("judged_score", "Judged score", "share", True, _POINTS),
        *(Figure(of, of.capitalize(), "count", True, _MEAN) for of in CRITERIA),
        Figure(
            "fluency_disagreement_rate",
            "Disagrees on fluency",
            "share",
            None,
            _DISAGREES,
        ),
        Figure("judge_failure_rate", "Failed judgements", "share", False, _FAILED),
        *(Figure(of, of, "count", False, _ERRORS) for of in ERROR_CATEGORIES),
    )
}
"""The figures that a judge in Inspect adds to those of a task."""
_DIRECTIONS = {True: "higher", False: "lower", None: "neither"}


def checkpoint(run: Run) -> tuple[str, int] | None:
    """Return the training run and the step of a run; None if no step is found.

    The run's label, the model's name or the log's folders name them: `checkpoint-500`,
    `global_step_200`, `iter_0001000`, `@1000`, `revision=step1000-tokens4B`, or a number alone
    (`500=PATH`). The rest is the training run's name.
    """
    texts = run.label, run.model, "/".join(run.sources[0].parts[-4:-1])
    found = next((each for text in texts if (each := _STEP.search(text))), None)
    left = (_LEFT.sub("", _STEP.sub("", text)) for text in texts[:2])
    name = next(filter(None, left), "training run")
    name = name.strip("()") if name.startswith("(") else name
    return (name, int(found[1]) * (1000 if found[2] else 1)) if found else None


def figure_rows(runs: Sequence[Run]) -> Iterator[Mapping[str, Any]]:
    """Yield each figure of some runs, over all items and over each subject if there are several.

    Missing numbers are NaN, missing texts None.

    Examples:
        >>> list(figure_rows([]))
        []
    """
    for run in runs:
        judged = {
            name: each for name, each in JUDGED.items() if name in run.items.values
        }
        figures = {**run.figures, **judged}
        subjects = list(dict.fromkeys(run.items.subjects))
        for subject in (None, *(subjects if len(subjects) > 1 else ())):
            where = None if subject is None else (subject,)
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
        base, figure = one.a, one.figure
        of_base = {"baseline": base.label, "baseline_setup": base.condition}
        of_base["baseline_signature"] = base.signature.text
        effects = [
            ("", one.overall),
            *((part, e) for part, of in one.parts.items() for e in of),
        ]
        for part, effect in effects:
            name, subject = effect.name or figure.name, None
            if part == "subjects":
                name, subject = (
                    figure.name if figure.part else figure.averages,
                    effect.name,
                )
            row = _row(one.b, base.figures[name], subject, effect.difference)
            row |= {"headline": not part and figure == base.headline}
            row |= {"model_value": effect.b, "baseline_value": effect.a, **of_base}
            row |= {name: getattr(effect, name) for name in of_effect}
            if delta is not None:
                gate = None if part else one.gate
                row |= {"gate_delta": gate and delta, "gate_bound": gate and gate.bound}
                row["gate_passed"] = gate and gate.passed
            yield row | {"note": effect.difference.note or None}


def _row(
    run: Run, figure: Figure, subject: str | None, found: Estimate
) -> dict[str, Any]:
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


@dataclass(frozen=True)
class Runs(Sequence[Run]):
    """Runs that were read from logs, in the order of the arguments.

    Attributes:
        runs: The runs.
        skipped: Files that were not read completely.
    """

    runs: Sequence[Run]
    skipped: Sequence[SkippedLog] = ()

    def __getitem__(self, place: Any) -> Any:
        return self.runs[place]

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        """Return a table: the model, task, headline, number of items and status of each run."""
        lines = [("model", "task", "headline", "items", "status")]
        for run in self.runs:
            figure, headline = run.headline, estimate(run, run.headline.name)
            unit = ".1%" if figure.unit in ("share", "rate") else ".4g"
            value = (
                f"{figure.name} {headline.value:{unit}}"
                if headline
                else f"{figure.name} –"
            )
            task, status = f"{run.task}, {run.condition}", run.unfinished or "finished"
            lines.append(
                (one_line(run.label), task, value, f"{len(run.items):,}", status)
            )
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        form = "  ".join(f"{{:{width}}}" for width in widths)
        table = [form.format(*line).rstrip() for line in lines]
        if self.skipped:
            table.append(
                f"not read, or not in full: {len(self.skipped)} (see .skipped)"
            )
        return "\n".join(table)

    def to_frame(self, *, items: bool = False) -> "pd.DataFrame":
        """Return the runs' figures as a pandas data frame; pandas must be installed.

        Args:
            items: Return a row for each item and value instead, with the item's id and subject and
                without intervals.

        Returns:
            A row for each figure of a run, over all items and, in tasks with several subjects, for
            each `subject` (empty for all): `value`, `low` and `high` (the 95 % interval), `n`
            (items), `direction` (whether `higher` or `lower` is better, or `neither`), `headline`
            (whether it is the figure to read first), `status` (`cancelled`, …), `step` (of a
            checkpoint) and further columns, as in the CSV of `hkcanto report`. Shares and rates
            are from 0 to 1; missing values are NaN.
        """
        import pandas as pd

        if not items:
            return pd.DataFrame(figure_rows(self.runs))
        parts = [
            {"model": run.label, "task": run.task, "setup": run.condition}
            | {
                "id": run.items.ids,
                "subject": run.items.subjects,
                "figure": name,
                "value": values,
            }
            for run in self.runs
            for name, values in run.items.values.items()
        ]
        return (
            pd.concat(map(pd.DataFrame, parts), ignore_index=True)
            if parts
            else pd.DataFrame()
        )
