"""Two runs of a task side by side: the sentence that compares them, and tables of differences."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from math import inf
from operator import attrgetter
from statistics import fmean
from typing import Any, NamedTuple

from ...figures import Figure
from ...messages import say, say_number, sentences, verbatim
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
    next_step,
    table,
    units_of,
    verdict_note,
)
from .presentation import measure_title, short_title, task_title
from .renderers.formatting import interval_text, listed, value_text

NOTHING = (
    "Nothing is comparable between these {models} models: no two have complete runs of a task under the "
    "same condition on the same items."
)
_GAIN = (
    "By how much the second is better, in points, with an interval that holds with 95 % for all "
    f"rows together: {WIDE}."
)
_CERTAIN = "Yes if the interval excludes 0, so that the difference is more than chance."
WHO_LEADS = "Who leads"
BY_HOW_MUCH = "By how much"
HOW_CERTAIN = "How certain"
_MOST_NAMED = 3  # uncertain differences that a sentence names
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
        is_divided: Whether the runs have several subjects.
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
    is_divided: bool = False

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
            return say("unread")
        if self.gain is None:
            return None
        return say("yes") if self.is_significant else say("no")


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
        short_title=short_title(comparison.a.definition),
        is_divided=len(comparison.a.subjects) > 1,
    )


def pairs_blocks(
    pairs: Sequence[RunPair], names: Sequence[str]
) -> tuple[list[Note], TableBlock]:
    """Return the verdict on two models, what to do next, and a row for each of their tasks.

    Rows are sorted by strength of evidence. The effects share the error of 5 %.
    """
    columns: list[tuple[TableColumn, Callable[[RunPair], Value]]] = [
        (TableColumn("Task"), attrgetter("title")),
        (TableColumn(verbatim(names[0]), "score"), lambda pair: pair.scores[0]),
        (TableColumn(verbatim(names[1]), "score"), lambda pair: pair.scores[1]),
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
        say(
            "Surest differences first. A gain is positive if {model} is better.",
            model=names[1],
        ),
    )


def _weakness(pair: RunPair) -> tuple[float, float]:
    """Return a key that sorts the surest differences first, and equally sure ones by their size."""
    if pair.effect is None or pair.gain is None:
        return inf, 0
    return pair.effect.p_value, -abs(pair.gain.value)


def _pairs_notes(pairs: Sequence[RunPair], names: Sequence[str]) -> Iterator[Note]:
    """Yield who leads, by how much, how certainly, and what to do next."""
    compared = [pair for pair in pairs if pair.gain]
    if not compared:
        unread = dict.fromkeys(chain.from_iterable(pair.unread for pair in pairs))
        nothing = listed(no_verdict(unread), " · ") or say(NOTHING, models=2)
        yield Note(nothing, "verdict")
        return
    if len(compared) == 1:
        yield from _notes_on_pair(compared[0], names)
    else:
        yield verdict_note(WHO_LEADS, _leads(compared, names))
        yield verdict_note(BY_HOW_MUCH, _amount(compared, names))
        yield verdict_note(HOW_CERTAIN, _certainty(compared, names))
    without = len({pair.title for pair in pairs if pair.unread})
    if without:
        text = say_number(
            "No verdict on {number} task, because answers could not be read.",
            "No verdict on {number} tasks, because answers could not be read.",
            without,
        )
        yield verdict_note("Unread", text)
    yield _next_step(compared)


def _next_step(pairs: Sequence[RunPair]) -> Note:
    """Return how to learn which differences are more than chance, or where they are."""
    differing = [pair for pair in pairs if abs(pair.points) > _NEGLIGIBLE]
    if differing and not any(pair.is_significant for pair in pairs):
        text = say("See how many items would show such differences:")
        return next_step(text, "hkcanto plan LOGS")
    if not any(pair.is_divided for pair in pairs):
        return next_step(
            say("Keep it as a page:"), "hkcanto compare LOGS -o report.html"
        )
    text = say("See the gains and losses subject by subject:")
    return next_step(text, "hkcanto compare LOGS --full")


def _leads(pairs: Sequence[RunPair], names: Sequence[str]) -> str:
    """Say on how many tasks each of two models leads, the leading one first."""
    ahead = sum(pair.points > _NEGLIGIBLE for pair in pairs)
    behind = sum(pair.points < -_NEGLIGIBLE for pair in pairs)
    first, second = names
    if behind > ahead:
        first, second = second, first
        ahead, behind = behind, ahead
    places = {
        "leader": second,
        "other": first,
        "ahead": ahead,
        "behind": behind,
        "tasks": len(pairs),
    }
    if not ahead:
        return say("{leader} and {other} are equal on each of {tasks} tasks.", **places)
    if ahead == len(pairs):
        return say("{leader} leads {other} on each of {tasks} tasks.", **places)
    if not behind:
        return say(
            "{leader} leads {other} on {ahead} of {tasks} tasks, and is equal on the others.",
            **places,
        )
    return say(
        "{leader} leads {other} on {ahead} of {tasks} tasks, and is behind on {behind}.",
        **places,
    )


def _amount(pairs: Sequence[RunPair], names: Sequence[str]) -> str:
    """Say the gain of the second model in the mean of tasks, or on the task with the largest.

    Only shares of right answers have a mean, and only on different items.
    """
    shares = [pair for pair in pairs if _has_mean(pair)]
    tasks = {pair.task for pair in shares}
    if len(shares) < 2 or len(tasks) < len(shares):
        largest = max(pairs, key=lambda pair: abs(pair.points))
        return say(
            "The largest difference is that on {task}: {model} {gain} points.",
            task=_task_name(largest, pairs),
            model=names[1],
            gain=value_text(largest.points, "score_points"),
        )
    gain = _mean_gain(shares)
    places = {
        "model": names[1],
        "gain": value_text(gain, "score_points"),
        "interval": interval_text(gain, "score_points"),
        "score": f"{_mean_score(shares, 1):.1f}",
        "other": f"{_mean_score(shares, 0):.1f}",
        "tasks": len(shares),
    }
    if len(shares) == len(pairs):
        return say(
            "{model} {gain} points in the mean of the {tasks} tasks: {score} against {other} "
            "(95 % {interval}).",
            **places,
        )
    return say(
        "{model} {gain} points in the mean of the {tasks} tasks with right and wrong answers: "
        "{score} against {other} (95 % {interval}).",
        **places,
    )


def _certainty(pairs: Sequence[RunPair], names: Sequence[str]) -> str:
    """Say how many differences are more than chance, for which model, and which could be chance."""
    certain = [pair for pair in pairs if pair.is_significant]
    places: dict[str, object] = {"certain": len(certain), "tasks": len(pairs)}
    if not certain:
        return say(
            "Certain on none of the {tasks} tasks: each difference could be chance (95 %, all tasks "
            "together).",
            **places,
        )
    winners = Counter(names[pair.points > 0] for pair in certain)
    if len(winners) == 1:
        (places["model"],) = winners
        text = say(
            "Certain on {certain} of {tasks} tasks, each time for {model} (95 %, all tasks together).",
            **places,
        )
    else:
        for_each = [
            say("{model} {count}", model=name, count=count)
            for name, count in winners.most_common()
        ]
        text = say(
            "Certain on {certain} of {tasks} tasks (95 %, all tasks together): {for_each}.",
            for_each=listed(for_each, ", "),
            **places,
        )
    chances = [pair for pair in pairs if not pair.is_significant]
    if not 0 < len(chances) <= _MOST_NAMED:
        return text
    named = listed(_task_and_gain(pair, pairs) for pair in chances)
    return sentences(text, say("Could be chance: {named}.", named=named))


def _task_and_gain(pair: RunPair, pairs: Sequence[RunPair]) -> str:
    return say(
        "{task} {gain}",
        task=_task_name(pair, pairs),
        gain=value_text(pair.points, "score_points"),
    )


def _task_name(pair: RunPair, pairs: Sequence[RunPair]) -> str:
    """Return the title of a task, with its condition if another pair has the same title."""
    titles = Counter(other.short_title for other in pairs)
    return pair.title if titles[pair.short_title] > 1 else pair.short_title


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
    return Estimate(
        value,
        value - below**0.5,
        value + above**0.5,
        len(pairs),
    )


def _has_mean(pair: RunPair) -> bool:
    return pair.figure.is_accuracy and bool(pair.gain and pair.gain.low is not None)


def verdict(pair: RunPair, names: Sequence[str]) -> str:
    """Say in sentences how the second run of a pair compares with the first."""
    return sentences(*(note.text for note in _notes_on_pair(pair, names)))


def _notes_on_pair(pair: RunPair, names: Sequence[str]) -> Iterator[Note]:
    """Yield which run of a pair leads, by how much, and how certainly."""
    effect = pair.effect
    gain = pair.gain
    if pair.unread:
        yield Note(listed(no_verdict(pair.unread), " · "), "verdict")
        return
    if effect is None or gain is None:
        yield Note(say(NOTHING, models=2), "verdict")
        return
    unit, points = units_of(pair.figure)
    values = {
        "figure": pair.measure,
        "score": value_text(effect.b, unit),
        "other": value_text(effect.a, unit),
        "gain": value_text(gain, points),
        "model": names[1],
    }
    yield verdict_note(WHO_LEADS, _outcome(pair, names))
    if points == "score_points":
        amount = say(
            "{gain} points for {model}: {figure} {score} against {other}.", **values
        )
    else:
        amount = say("{gain} for {model}: {figure} {score} against {other}.", **values)
    yield verdict_note(BY_HOW_MUCH, amount)
    yield verdict_note(HOW_CERTAIN, _test_text(effect, interval_text(gain, points)))


def _outcome(pair: RunPair, names: Sequence[str]) -> str:
    """Say whether the second run of a pair is better or worse than the first."""
    places = {"model": names[1], "other": names[0], "task": pair.title}
    if not pair.is_significant:
        return say(
            "No difference is shown between {model} and {other} on {task}.", **places
        )
    if pair.points > 0:
        return say("{model} is better than {other} on {task}.", **places)
    return say("{model} is worse than {other} on {task}.", **places)


def _test_text(effect: Effect, interval: str) -> str:
    """Say the interval, the test and its p-value, and the items won and lost.

    With more comparisons, interval and p-value are those of all together.
    """
    p_value = effect.p_value if effect.p_adjusted is None else effect.p_adjusted
    places = {
        "interval": interval,
        "p_value": "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}",
        "test": say(effect.test),
        "wins": f"{effect.wins:,}",
        "losses": f"{effect.losses:,}",
        "ties": f"{effect.ties:,}",
    }
    if effect.p_adjusted is None:
        return say(
            "95 % {interval}, {p_value} ({test}); {wins} items won, {losses} lost, {ties} tied.",
            **places,
        )
    return say(
        "95 % {interval}, {p_value} ({test}, for all comparisons together); {wins} items won, "
        "{losses} lost, {ties} tied.",
        **places,
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
            TableColumn(
                "p adjusted",
                "p",
                "For all rows together: Bonferroni; of pairs of models, by the largest difference.",
            ),
            attrgetter("effect.p_adjusted"),
        ),
        (TableColumn(verbatim(sides[0]), unit), attrgetter("effect.a")),
        (TableColumn(verbatim(sides[1]), unit), attrgetter("effect.b")),
        (TableColumn("Test"), lambda pair: say(pair.effect.test)),
        (TableColumn("Figure", beneath=True), lambda pair: pair.measure or None),
    ]
    return table(
        name,
        title,
        pairs,
        columns,
    )
