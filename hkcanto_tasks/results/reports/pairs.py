"""Two runs of a task side by side: the sentence that compares them, and tables of differences."""

from collections.abc import Callable, Sequence
from math import inf
from operator import attrgetter
from typing import Any, NamedTuple

from ...figures import Figure
from ..statistics.intervals import WIDE, Estimate
from ..statistics.matching import Effect, points_of
from ..statistics.paired import Comparison, adjusted
from ..statistics.validity import UnreadRun, no_verdict
from .blocks import (
    Note,
    TableBlock,
    TableColumn,
    Value,
    table,
    units_of,
)
from .presentation import measure_title, task_title
from .renderers.formatting import interval_text, listed, value_text

NOTHING = (
    "Nothing is comparable between these {} models: no two have complete runs of a task under the "
    "same condition on the same items."
)
_GAIN = f"By how much the second is better, in points, with 95 % interval: {WIDE}."
_SURE = "✓ if the difference is significant: 95 % for all tasks together (Holm)."
# A smaller gain in points may come from rounding.
_NEGLIGIBLE = 1e-9


class RunPair(NamedTuple):
    """Two runs of a task, or of a part of it. Only comparable runs have an effect.

    Attributes:
        title: The title of the task or part.
        figure: The figure that is compared.
        effect: How the second run differs from the first.
        measure: The title of the figure, if the rows of a table have several.
        scores: The score of each run, from 0 to 100.
        best: The best published score.
        unread: The runs whose answers say nothing about the model.
    """

    title: str
    figure: Figure
    effect: Effect | None
    measure: str = ""
    scores: Sequence[float | None] = ()
    best: float | None = None
    unread: Sequence[UnreadRun] = ()

    @property
    def gain(self) -> Estimate | None:
        """By how much the second run is better, in points; None if nothing can be said."""
        if self.effect is None or self.unread:
            return None
        sign = 1 if self.figure.higher_is_better else -1
        return self.effect.difference.times(sign * points_of(self.figure))

    @property
    def p_value(self) -> float:
        """The p-value, adjusted if there are several tests; infinite without a test."""
        if self.effect is None:
            return inf
        return self.effect.p_by_holm or self.effect.p_value

    @property
    def is_significant(self) -> bool:
        """Whether the difference is more than chance explains."""
        return not self.unread and self.p_value < 0.05

    @property
    def mark(self) -> str | None:
        """The mark of a row: whether the difference is certain, or that nothing can be said."""
        if self.unread:
            return "unread"
        return "✓" if self.is_significant else None


def pair_of(comparison: Comparison, best: float | None = None) -> RunPair:
    """Return two runs that were compared, with the best published score."""
    figure = comparison.figure
    effect = comparison.overall
    points = points_of(figure)
    return RunPair(
        task_title(comparison.a),
        figure,
        effect,
        measure_title(comparison.a, figure),
        scores=(points * effect.a, points * effect.b),
        best=best,
        unread=comparison.unread,
    )


def pairs_blocks(
    pairs: Sequence[RunPair], names: Sequence[str]
) -> tuple[Note, TableBlock]:
    """Return the verdict on two models, and a row for each of their tasks.

    Rows are sorted by strength of evidence. P-values are adjusted for the number of tasks.
    """
    effects = iter(adjusted([pair.effect for pair in pairs if pair.effect]))
    pairs = [pair._replace(effect=pair.effect and next(effects)) for pair in pairs]
    columns: list[tuple[TableColumn, Callable[[RunPair], Value]]] = [
        (TableColumn("Task"), attrgetter("title")),
        (TableColumn(names[0], "score"), lambda pair: pair.scores[0]),
        (TableColumn(names[1], "score"), lambda pair: pair.scores[1]),
        (
            TableColumn(
                "Gain",
                "score_points",
                _GAIN,
                drawn=True,
            ),
            attrgetter("gain"),
        ),
        (
            TableColumn("Sure", help=_SURE),
            attrgetter("mark"),
        ),
        (TableColumn("Best published", "score"), attrgetter("best")),
        (TableColumn("Figure", beneath=True), attrgetter("measure")),
    ]
    note = Note(_pairs_verdict(pairs, names), "verdict")
    return note, table(
        "pairs",
        "Task by task",
        sorted(pairs, key=_weakness),
        columns,
        f"A gain is positive if {names[1]} is better.",
    )


def _weakness(pair: RunPair) -> tuple[float, float]:
    """Return a key that sorts the surest differences first, and equally sure ones by their size."""
    if pair.effect is None or pair.gain is None:
        return inf, 0
    return pair.effect.p_value, -abs(pair.gain.value)


def _pairs_verdict(pairs: Sequence[RunPair], names: Sequence[str]) -> str:
    """Say on how many tasks each of two models leads, and which gains are significant."""
    unread = {member: None for pair in pairs for member in pair.unread}
    compared = [(pair, pair.gain.value) for pair in pairs if pair.gain]
    if unread and not compared:
        return " · ".join(no_verdict(unread))
    if not compared:
        return verdict(pairs[0], names)
    if len(compared) == 1:
        return verdict(compared[0][0], names)
    ahead = sum(gain > _NEGLIGIBLE for _, gain in compared)
    behind = sum(gain < -_NEGLIGIBLE for _, gain in compared)
    gains = listed(
        f"{pair.title} {value_text(gain, 'score_points')} points"
        for pair, gain in compared
        if pair.is_significant
    )
    silent = ""
    if unread:
        count = len({pair.title for pair in pairs if pair.unread})
        silent = f" No verdict on {count} tasks, because answers could not be read."
    return (
        f"{names[1]} leads on {ahead} of {len(compared)} tasks, {names[0]} on {behind}. "
        f"Significant gains of {names[1]} (all tasks together, 95 %): {gains or 'none'}."
        f"{silent}"
    )


def verdict(pair: RunPair, names: Sequence[str]) -> str:
    """Say in a sentence how the second run of a pair compares with the first."""
    first, second = names
    effect = pair.effect
    gain = pair.gain
    if pair.unread:
        return " · ".join(no_verdict(pair.unread))
    if effect is None or gain is None:
        return NOTHING.format(2)
    if not pair.is_significant:
        outcome = f"No difference shown between {second} and {first}"
    elif gain.value > 0:
        outcome = f"{second} is better than {first}"
    else:
        outcome = f"{second} is worse than {first}"
    unit, points = units_of(pair.figure)
    in_points = " points" if points == "score_points" else ""
    p_text = "p < 0.001" if pair.p_value < 0.001 else f"p = {pair.p_value:.2g}"
    return (
        f"{outcome} on {pair.title}: {pair.measure} {value_text(effect.b, unit)} against "
        f"{value_text(effect.a, unit)}, gain {value_text(gain, points)}{in_points}, 95 % "
        f"{interval_text(gain, points)} ({effect.test}, {p_text}). {second} wins "
        f"{effect.wins:,} items, loses {effect.losses:,}, ties {effect.ties:,}."
    )


def effects_table(
    name: str,
    title: str,
    pairs: Sequence[RunPair],
    sides: Sequence[str],
) -> TableBlock:
    """Return a table of effects on one figure, for two runs or pairs of runs."""
    unit, points = units_of(pairs[0].figure) if pairs else ("percent", "score_points")
    won = "{0.wins:,}/{0.losses:,}/{0.ties:,}"
    columns: list[tuple[TableColumn, Callable[[Any], Value]]] = [
        (TableColumn("Part"), attrgetter("title")),
        (
            TableColumn(
                "Gain",
                points,
                _GAIN,
                drawn=len(pairs) > 1,
            ),
            attrgetter("gain"),
        ),
        (TableColumn("Won/lost/tied"), lambda pair: won.format(pair.effect)),
        (TableColumn("p", "p", "Two-sided, unadjusted."), attrgetter("effect.p_value")),
        (
            TableColumn("p by Holm", "p", "Adjusted for several tests."),
            attrgetter("effect.p_by_holm"),
        ),
        (TableColumn(sides[0], unit), attrgetter("effect.a")),
        (TableColumn(sides[1], unit), attrgetter("effect.b")),
        (TableColumn("Test"), attrgetter("effect.test")),
        (TableColumn("Figure", beneath=True), lambda pair: pair.measure or None),
    ]
    return table(name, title, pairs, columns)
