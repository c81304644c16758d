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
from .statistics.intervals import Estimate, NonInferiority
from .statistics.matching import Effect
from .statistics.paired import Comparison
from .statistics.validity import no_verdict

if TYPE_CHECKING:
    import pandas as pd

_Row = dict[str, Any]
_STEP = re.compile(
    r"(?:(?:revision=|@|(?<![a-z]))(?:checkpoint|ckpt|(?:global[-_]?)?step|iter(?:ation)?)|@|^(?=\d+$))"
    r"[-_=]?0*(\d+)(k?)(?![a-z\d.])(?:[-_]tokens[\d.]+[bt])?",
    re.IGNORECASE,
)
_PUNCTUATION_LEFT = re.compile(r"\s*\(\W*\)|[-_/@=,:\s]+(?=\)|$)|^[-_/@=,:\s]+")
_FIGURES_OF_JUDGES = (
    Figure(
        "judged_accuracy",
        "Judged accuracy",
        "share",
        True,
        "Share of characters in which the judge labelled no error (formula (1)).",
    ),
    Figure(
        "judged_score",
        "Judged score",
        "share",
        True,
        "Share of the possible points, lowered by a penalty for length.",
    ),
    *(
        Figure(
            criterion,
            criterion.capitalize(),
            "count",
            True,
            "Mean of the judge's points: 5, 3 or 1.",
        )
        for criterion in CRITERIA
    ),
    Figure(
        "fluency_disagreement_rate",
        "Disagrees on fluency",
        "share",
        None,
        "Share of judgements that disagree with `fluent` on whether a text is fluent.",
    ),
    Figure(
        "judge_failure_rate",
        "Failed judgements",
        "share",
        False,
        "Share of unusable judgements. An item without a usable judgement has no score.",
    ),
    *(
        Figure(
            category,
            category,
            "count",
            False,
            "Labelled errors per judgement.",
        )
        for category in ERROR_CATEGORIES
    ),
)
JUDGED: Mapping[str, Figure] = {figure.name: figure for figure in _FIGURES_OF_JUDGES}
"""The figures that a judge in Inspect adds to those of a task."""
_DIRECTIONS = {True: "higher", False: "lower", None: "neither"}


def checkpoint(run: Run) -> tuple[str, int] | None:
    """Return the training run and the step of a run; None if no step is found.

    The run's label, the model's name or the log's folders name them: `checkpoint-500`,
    `global_step_200`, `iter_0001000`, `@1000`, `revision=step1000-tokens4B`, or a number alone
    (`500=PATH`). The rest is the training run's name.
    """
    folders = run.sources[0].parts[-4:-1]
    for text in (run.label, run.model, "/".join(folders)):
        if step := _STEP.search(text):
            number, thousands = step.groups()
            return _training_run(run), int(number) * (1000 if thousands else 1)
    return None


def _training_run(run: Run) -> str:
    """Return the name of a training run: the label or the model's name without the step."""
    for text in (run.label, run.model):
        if name := _PUNCTUATION_LEFT.sub("", _STEP.sub("", text)):
            return name.strip("()") if name.startswith("(") else name
    return "training run"


def figure_rows(runs: Sequence[Run]) -> Iterator[_Row]:
    """Yield each figure of some runs, over all items and over each subject if there are several.

    Missing numbers are NaN, missing texts None.

    Examples:
        >>> list(figure_rows([]))
        []
    """
    for run in runs:
        figures = dict(run.figures)
        for name, figure in JUDGED.items():
            if name in run.items.values:
                figures[name] = figure
        subjects: list[str | None] = [*dict.fromkeys(run.items.subjects)]
        if len(subjects) == 1:
            subjects = []
        for subject in (None, *subjects):
            for name, figure in figures.items():
                if subject is not None and figure.averages != name:
                    continue  # an average over subjects, or a part of the task
                if row := _figure_row(run, figure, subject):
                    yield row


def _figure_row(
    run: Run,
    figure: Figure,
    subject: str | None,
) -> _Row | None:
    """Return a figure of a run; None if it has no value."""
    value = estimate(run, figure.name, None if subject is None else (subject,))
    if value is None:
        return None
    step = checkpoint(run)
    return {
        **_row(
            run,
            figure,
            subject,
            value,
        ),
        "headline": subject is None and figure == run.headline,
        "status": run.status,
        "step": step[1] if step else math.nan,
        "note": value.note or None,
    }


def effect_rows(
    compared: Sequence[Comparison],
    delta: float | None = None,
) -> Iterator[_Row]:
    """Yield each effect of some comparisons: the difference between `model` and `baseline`.

    Args:
        compared: The comparisons.
        delta: The tolerance of their gates, in points; None without gates.

    Examples:
        >>> list(effect_rows([]))
        []
    """
    for comparison in compared:
        yield _effect_row(
            comparison,
            "",
            comparison.overall,
            delta,
        )
        for part, effects in comparison.parts.items():
            for effect in effects:
                yield _effect_row(
                    comparison,
                    part,
                    effect,
                    delta,
                )


def _effect_row(
    comparison: Comparison,
    part: str,
    effect: Effect,
    delta: float | None,
) -> _Row:
    """Return an effect; `part` is empty for the effect on all items."""
    baseline = comparison.a
    figure = comparison.figure
    name = effect.name or figure.name
    subject = None
    if part == "subjects":
        name = figure.name if figure.part else figure.averages
        subject = effect.name
    row = _row(
        comparison.b,
        baseline.figures[name],
        subject,
        effect.difference,
    )
    row |= {
        "headline": not part and figure == baseline.headline,
        "model_value": effect.b,
        "baseline_value": effect.a,
        "baseline": baseline.label,
        "baseline_setup": baseline.condition,
        "baseline_signature": baseline.signature.text,
        "wins": effect.wins,
        "losses": effect.losses,
        "ties": effect.ties,
        "test": effect.test,
        "p_value": effect.p_value,
        "p_adjusted": effect.p_adjusted,
    }
    if delta is not None:
        row |= _gate_columns(None if part else comparison.gate, delta)
    row["note"] = effect.difference.note or None
    if comparison.unread:
        row["note"] = " ".join(no_verdict(comparison.unread))
    return row


def _gate_columns(gate: NonInferiority | None, delta: float) -> _Row:
    """Return the columns of a gate, which are empty for parts and for tasks that are not gated."""
    if gate is None:
        names = ("delta", "bound", "passed", "verdict", "lower")
        return dict.fromkeys(f"gate_{name}" for name in names)
    return {
        "gate_delta": delta,
        "gate_bound": gate.bound,
        "gate_passed": gate.passed,
        "gate_verdict": gate.answer,
        "gate_lower": gate.lower,
    }


def _row(
    run: Run,
    figure: Figure,
    subject: str | None,
    value: Estimate,
) -> _Row:
    return {
        "model": run.label,
        "task": run.task,
        "setup": run.condition,
        "figure": figure.name,
        "subject": subject,
        "value": value.value,
        "low": math.nan if value.low is None else value.low,
        "high": math.nan if value.high is None else value.high,
        "n": value.items,
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

    def __getitem__(self, index: Any) -> Any:
        return self.runs[index]

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        """Return a table: the model, task, headline, number of items and status of each run."""
        lines = [("model", "task", "headline", "items", "status")]
        lines += [*map(_line, self.runs)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        form = "  ".join(f"{{:{width}}}" for width in widths)
        table = [form.format(*line).rstrip() for line in lines]
        if self.skipped:
            count = len(self.skipped)
            table.append(f"left out or read in part: {count} (see .skipped)")
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
        frames: list[pd.DataFrame] = []
        for run in self.runs:
            for figure, values in run.items.values.items():
                columns = {
                    "model": run.label,
                    "task": run.task,
                    "setup": run.condition,
                    "id": run.items.ids,
                    "subject": run.items.subjects,
                    "figure": figure,
                    "value": values,
                }
                frames.append(pd.DataFrame(columns))
        if not frames:
            return pd.DataFrame()
        return pd.concat(frames, ignore_index=True)


def _line(run: Run) -> tuple[str, str, str, str, str]:
    """Return a run's line in the table of runs."""
    figure = run.headline
    headline = "–"
    if value := estimate(run, figure.name):
        unit = ".1%" if figure.unit in ("share", "rate") else ".4g"
        headline = f"{value.value:{unit}}"
    return (
        one_line(run.label),
        f"{run.task}, {run.condition}",
        f"{figure.name} {headline}",
        f"{len(run.items):,}",
        run.unfinished or "finished",
    )
