"""Two runs of a task side by side: the sentence that compares them, and tables of differences."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from math import inf
from operator import attrgetter
from statistics import fmean
from typing import Any, NamedTuple

from ...figures import Figure
from ..statistics.intervals import (
    NORMAL,
    WIDE,
    Estimate,
    normal_quantile,
)
from ..statistics.matching import Effect, points_of
from ..statistics.paired import Comparison
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
_GAIN = (
    "By how much the second is better, in points, with an interval that holds with 95 % for all "
    f"rows together: {WIDE}."
)
_CERTAIN = "Yes if the interval excludes 0, so that the difference is more than chance."
_TOGETHER = "95 %, all tasks together"
_MOST_NAMED = 3  # uncertain differences that a sentence names
_PLAN = "hkcanto plan LOGS says how many items would show the {} that could be chance."
_BY_SUBJECT = "See the gains and losses subject by subject: add --full."
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
        task: The task's name.
        short_title: The task's title without its condition.
    """

    title: str
    figure: Figure
    effect: Effect | None
    measure: str = ""
    scores: Sequence[float | None] = ()
    best: float | None = None
    unread: Sequence[UnreadRun] = ()
    task: str = ""
    short_title: str = ""

    @property
    def gain(self) -> Estimate | None:
        """By how much the second run is better, in points; None if nothing can be said."""
        if self.effect is None or self.unread:
            return None
        sign = 1 if self.figure.higher_is_better else -1
        return self.effect.difference.times(sign * points_of(self.figure))

    @property
    def points(self) -> float:
        """By how many points the second run is better; 0 if nothing can be said."""
        return self.gain.value if self.gain else 0.0

    @property
    def is_significant(self) -> bool:
        """Whether the difference is more than chance explains."""
        return bool(self.gain and self.effect and self.effect.is_certain)

    @property
    def mark(self) -> str | None:
        """The mark of a row: whether the difference is certain, or that nothing can be said."""
        if self.unread:
            return "unread"
        if self.gain is None:
            return None
        return "yes" if self.is_significant else "no"


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
        task=comparison.a.definition.name,
        short_title=comparison.a.definition.title,
    )


def pairs_blocks(
    pairs: Sequence[RunPair], names: Sequence[str]
) -> tuple[list[Note], TableBlock]:
    """Return the verdict on two models, what to do next, and a row for each of their tasks.

    Rows are sorted by strength of evidence. The effects share the error of 5 %.
    """
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
            TableColumn("Certain", help=_CERTAIN),
            attrgetter("mark"),
        ),
        (TableColumn("Best published", "score"), attrgetter("best")),
        (TableColumn("Figure", beneath=True), attrgetter("measure")),
    ]
    return [*_pairs_notes(pairs, names)], table(
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


def _pairs_notes(pairs: Sequence[RunPair], names: Sequence[str]) -> Iterator[Note]:
    """Yield who leads and how certainly, by how much in the mean, and what to do next."""
    compared = [pair for pair in pairs if pair.gain]
    if not compared:
        unread = dict.fromkeys(chain.from_iterable(pair.unread for pair in pairs))
        nothing = " · ".join(no_verdict(unread)) or NOTHING.format(2)
        yield Note(nothing, "verdict")
        return
    if len(compared) == 1:
        yield Note(verdict(compared[0], names), "verdict")
    else:
        lead = f"{_leads(compared, names)} {_certainty(compared, names)}"
        yield Note(lead, "verdict")
        yield from map(Note, _mean_over_tasks(compared, names))
        yield from map(Note, _uncertain(compared, names))
    without = len({pair.title for pair in pairs if pair.unread})
    if without:
        tasks = "1 task" if without == 1 else f"{without} tasks"
        text = f"No verdict on {tasks}, because answers could not be read."
        yield Note(text, "verdict")
    yield from _next_step(compared)


def _next_step(pairs: Sequence[RunPair]) -> Iterator[Note]:
    """Yield how to learn which differences are more than chance, or where they are."""
    chances = [
        pair
        for pair in pairs
        if abs(pair.points) > _NEGLIGIBLE and not pair.is_significant
    ]
    if chances:
        number = "difference" if len(chances) == 1 else "differences"
        yield Note(_PLAN.format(number), "next")
    elif len(pairs) > 1 and any(pair.is_significant for pair in pairs):
        yield Note(_BY_SUBJECT, "next")


def _leads(pairs: Sequence[RunPair], names: Sequence[str]) -> str:
    """Say on how many tasks each of two models leads, the leading one first."""
    ahead = sum(pair.points > _NEGLIGIBLE for pair in pairs)
    behind = sum(pair.points < -_NEGLIGIBLE for pair in pairs)
    first, second = names
    if not ahead and not behind:
        return f"{second} and {first} are equal on {_all(len(pairs))} tasks."
    if behind > ahead:
        first, second = second, first
        ahead, behind = behind, ahead
    if ahead == len(pairs):
        return f"{second} leads {first} on {_all(ahead)} tasks."
    return f"{second} leads on {ahead} of {len(pairs)} tasks, {first} on {behind}."


def _all(count: int) -> str:
    return "both" if count == 2 else f"all {count}"


def _certainty(pairs: Sequence[RunPair], names: Sequence[str]) -> str:
    """Say how many differences are more than chance, and for which model."""
    certain = [pair for pair in pairs if pair.is_significant]
    if not certain:
        return f"Each difference could be chance ({_TOGETHER})."
    counted = f"{len(certain)} of the {len(pairs)} differences are"
    if len(certain) == len(pairs):
        counted = f"{_all(len(pairs)).capitalize()} differences are"
    elif len(certain) == 1:
        counted = f"1 of the {len(pairs)} differences is"
    winners = Counter(names[pair.points > 0] for pair in certain)
    parts = (f"{count} for {name}" for name, count in winners.most_common())
    if len(winners) == 1:
        parts = (f"in favour of {name}" for name in winners)
    return f"{counted} more than chance ({_TOGETHER}), {listed(parts, ', ')}."


def _uncertain(pairs: Sequence[RunPair], names: Sequence[str]) -> Iterator[str]:
    """Yield which differences could be chance, if they are few beside certain ones."""
    uncertain = [pair for pair in pairs if not pair.is_significant]
    if 0 < len(uncertain) <= _MOST_NAMED and len(uncertain) < len(pairs):
        named = listed(
            f"{_task_name(pair, pairs)} {value_text(pair.points, 'score_points')}"
            for pair in uncertain
        )
        yield f"Could be chance, in points for {names[1]}: {named}."


def _task_name(pair: RunPair, pairs: Sequence[RunPair]) -> str:
    """Return the title of a task, with its condition if another pair has the same title."""
    titles = Counter(other.short_title for other in pairs)
    return pair.title if titles[pair.short_title] > 1 else pair.short_title


def _mean_over_tasks(pairs: Sequence[RunPair], names: Sequence[str]) -> Iterator[str]:
    """Yield the mean accuracy over tasks, with the interval of its gain, if there is one.

    Only shares of right answers have a mean, and only on different items.
    """
    shares = [pair for pair in pairs if _is_share(pair)]
    tasks = {pair.task for pair in shares}
    if len(shares) < 2 or len(tasks) < len(shares):
        return
    others = [_task_name(pair, pairs) for pair in pairs if not _is_share(pair)]
    named = [_task_name(pair, pairs) for pair in shares]
    where = f"the {len(shares)} tasks"
    if 0 < len(others) < len(shares):
        where = f"{len(shares)} tasks (all but {listed(others, ', ')})"
    elif others:
        where = f"{len(shares)} tasks ({listed(named, ', ')})"
    total = _mean_gain(shares)
    yield (
        f"Mean accuracy of {where}: {names[1]} {_mean_score(shares, 1):.1f} against "
        f"{_mean_score(shares, 0):.1f}, gain {value_text(total, 'score_points')} points, 95 % "
        f"{interval_text(total, 'score_points')}."
    )


def _mean_score(pairs: Sequence[RunPair], side: int) -> float:
    """Return the mean of the scores of one side."""
    return fmean(pair.scores[side] or 0.0 for pair in pairs)


def _mean_gain(pairs: Sequence[RunPair]) -> Estimate:
    """Return the mean of independent gains, with its 95 % interval.

    The squared widths of the intervals add up, below and above (Zou and Donner, 2008).
    """
    below = 0.0
    above = 0.0
    for pair in pairs:
        gain = pair.gain
        if gain is None or gain.low is None or gain.high is None or not pair.effect:
            continue
        scale = NORMAL / normal_quantile(pair.effect.confidence) / len(pairs)
        below += (scale * (gain.value - gain.low)) ** 2
        above += (scale * (gain.high - gain.value)) ** 2
    value = fmean(pair.points for pair in pairs)
    return Estimate(value, value - below**0.5, value + above**0.5, len(pairs))


def _is_share(pair: RunPair) -> bool:
    figure = pair.figure
    is_accuracy = figure.unit == "share" and figure.form == "mean"
    has_ends = pair.gain is not None and pair.gain.low is not None
    return is_accuracy and figure.higher_is_better is True and has_ends


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
    return (
        f"{outcome} on {pair.title}: {pair.measure} {value_text(effect.b, unit)} against "
        f"{value_text(effect.a, unit)}, gain {value_text(gain, points)}{in_points}, 95 % "
        f"{interval_text(gain, points)} ({_test_text(effect)}). {second} wins "
        f"{effect.wins:,} items, loses {effect.losses:,}, ties {effect.ties:,}."
    )


def _test_text(effect: Effect) -> str:
    """Return the test and its p-value, which is that of all comparisons together if there are more."""
    p_value = effect.p_value
    together = ""
    if effect.p_adjusted is not None:
        p_value = effect.p_adjusted
        together = "; interval and p for all comparisons together"
    p_text = "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"
    return f"{effect.test}, {p_text}{together}"


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
            TableColumn(
                "p adjusted",
                "p",
                "For all rows together: Bonferroni; of pairs of models, by the largest difference.",
            ),
            attrgetter("effect.p_adjusted"),
        ),
        (TableColumn(sides[0], unit), attrgetter("effect.a")),
        (TableColumn(sides[1], unit), attrgetter("effect.b")),
        (TableColumn("Test"), attrgetter("effect.test")),
        (TableColumn("Figure", beneath=True), lambda pair: pair.measure or None),
    ]
    return table(name, title, pairs, columns)
