"""Matching the items of two runs, with the effect of one run against the other on these items.

Items are matched by id, and the two answers to an item are compared as a pair, which removes the
items' difficulty from the variance (Miller 2024, "Adding Error Bars to Evals", section 4.2).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import figures
from ...errors import ComparisonError
from ...figures import Figure, pseudo_values, sum_clusters, weights
from ...messages import joined, say
from ..runs import Floats, Ints, Run
from . import intervals
from .intervals import CONFIDENCE, Estimate, Interval, Statistic, errors_of

SEED = 1234
RESAMPLES = 10_000
_SAME_ANSWERS = 0.95
"""The smallest share of equal right answers in two dresses: 673 of 674 in HKCanto-Eval's exams for
professions, and a quarter by chance."""
_ROUNDING = 1e-12  # two computations of one value may differ in its last digits


class Resampling(NamedTuple):
    """The random exchanges of a test."""

    seed: int = SEED
    resamples: int = RESAMPLES


_DEFAULT = Resampling()


def shared_confidence(tests: int) -> float:
    """Return the confidence of each of several tests that together err in 5 % of cases at most."""
    return 1 - (1 - CONFIDENCE) / max(1, tests)


@dataclass(frozen=True, slots=True)
class Effect:
    """How B differs from A on some items: the figures of both, and the difference B minus A.

    `name` is that of a figure (`acc_macro`, `acc_stem`) or a subject, or empty for all items. B
    wins an item if it is better there, in the figure's direction. The p-value is two-sided. If the
    effect belongs to several tests, its interval holds for all of them at once, and `p_adjusted` is
    below 0.05 exactly if the interval excludes 0; it is None for a single test.
    """

    name: str
    a: float
    b: float
    difference: Estimate
    wins: int
    losses: int
    ties: int
    p_value: float
    test: str
    p_adjusted: float | None = None
    confidence: float = CONFIDENCE  # of the interval

    @property
    def is_certain(self) -> bool:
        """Whether the difference is more than chance explains, with all tests together."""
        p_value = self.p_value if self.p_adjusted is None else self.p_adjusted
        return p_value < 1 - CONFIDENCE - _ROUNDING


def points_of(figure: Figure) -> int:
    """Return the number of points in one unit of a figure."""
    return 100 if figure.unit in ("share", "rate") else 1


@dataclass(frozen=True, eq=False)
class Paired:
    """Values of two runs for the same items, in an order independent of the runs."""

    figure: Figure
    positions: NDArray[np.intp]  # in A
    ids: NDArray[np.str_]  # equal for all epochs of an item
    a: Floats  # rows; `statistic` turns their sums into a figure
    b: Floats
    losses: Floats  # of each side, 0 is best; by sentence scores for a corpus figure
    subjects: NDArray[np.str_]
    clusters: Ints
    resampling: Resampling
    statistic: Statistic = intervals.ratio
    categories: Mapping[str, str] | None = None  # of the subjects
    unscored: int = 0  # items left out because a side has no value for them
    one_sided: int = 0  # items left out because only one side has a value

    def where(self, mask: NDArray[np.bool_]) -> "Paired":
        """Return some of the items."""
        names = ("positions", "ids", "a", "b", "losses", "subjects", "clusters")
        columns: dict[str, Any] = {name: getattr(self, name)[mask] for name in names}
        return replace(self, **columns)

    @cached_property
    def units(self) -> int:
        """The number of independent units."""
        return len(np.unique(self.clusters))

    @cached_property
    def questions(self) -> int:
        """The number of items, each counted once for all its epochs."""
        return len(np.unique(self.ids))

    @cached_property
    def shares(self) -> Floats:
        """The weight of each item in the figure relative to the mean; 1 if all are equal."""
        count = len(self.losses)
        over = self.figure.over
        if over == "questions":
            return np.ones(count)
        return np.array(weights(over, self.subjects.tolist(), self.categories)) * count

    @cached_property
    def sizes(self) -> Floats:
        """The weight of each item: its length for a rate, otherwise its share of the figure."""
        if self.figure.form != "rate":
            return self.shares
        lengths: Floats = (self.a[:, 1] + self.b[:, 1]) / 2
        return np.maximum(1, lengths)

    @cached_property
    def is_right_or_wrong(self) -> bool:
        """Whether all values are 0 or 1, for independent items with equal weights."""
        if self.figure.form != "mean" or self.figure.over != "questions":
            return False
        independent = self.units == len(self.losses)
        return independent and bool(np.isin(self.losses, (0, 1)).all())

    @cached_property
    def rows(self) -> tuple[Floats, Floats]:
        """The weighted rows of each side, summed by independent unit."""
        shares = self.shares[:, None]
        rows_a = sum_clusters(self.a * shares, self.clusters)
        return rows_a, sum_clusters(self.b * shares, self.clusters)

    def figures(self) -> tuple[float, float]:
        """Return the figure of each side."""
        rows_a, rows_b = self.rows
        return self._figure(rows_a), self._figure(rows_b)

    def _figure(self, rows: Floats) -> float:
        return float(self.statistic(rows.sum(axis=0, keepdims=True))[0])

    def effect(
        self,
        name: str = "",
        tests: int = 1,
    ) -> Effect:
        """Return how B differs from A, with the interval and test that fit the figure.

        The 5 % error is shared by a number of tests (Bonferroni).
        """
        confidence = shared_confidence(tests)
        a, b = self.figures()
        gains = self.losses[:, 0] - self.losses[:, 1]
        wins = int((gains > _ROUNDING).sum())
        losses = int((gains < -_ROUNDING).sum())

        if self.is_right_or_wrong:
            test = "exact McNemar"
            p_value = intervals.mcnemar_p_value(wins, losses)
            up, down = wins, losses
            if not self.figure.higher_is_better:
                up, down = losses, wins
            interval = intervals.paired_accuracy_interval(
                up, down, len(gains), confidence
            )
        else:
            test = "paired permutation"
            if self.figure.form == "corpus":
                test = "approximate randomisation"
            p_value = intervals.randomization_p_value(
                *self.rows, self.statistic, **self.resampling._asdict()
            )
            interval = self._interval(a, b, confidence)

        low, high = intervals.agreeing(
            interval,
            p_value,
            b - a,
            confidence,
        )
        note = intervals.UNSEEN if self.figure.unlimited else ""
        return Effect(
            name=name,
            a=a,
            b=b,
            difference=Estimate(
                b - a,
                low,
                high,
                len(gains),
                note,
            ),
            wins=wins,
            losses=losses,
            ties=len(gains) - wins - losses,
            p_value=p_value,
            test=test,
            p_adjusted=min(1.0, tests * p_value) if tests > 1 else None,
            confidence=confidence,
        )

    def _interval(
        self,
        a: float,
        b: float,
        confidence: float,
    ) -> Interval:
        if self.figure.form == "corpus":
            changes, largest = self.corpus_changes()
            return intervals.paired_mean_interval(
                changes, largest=largest, confidence=confidence
            )
        if self.figure.over == "questions":
            return self._mean_or_rate_interval(a, b, confidence)
        return self._mean_of_means_interval(confidence)

    def corpus_changes(self) -> tuple[Floats, float]:
        """Return each unit's share in the difference of a corpus figure, and the largest possible.

        These are differences of pseudo-values, whose mean is the difference.
        """
        rows_a, rows_b = self.rows
        values_a = pseudo_values(rows_a, self.statistic)
        changes = pseudo_values(rows_b, self.statistic) - values_a
        a, b = self.figures()
        changes += b - a - changes.mean()
        largest = max(100 / points_of(self.figure), float(np.abs(changes).max()))
        return changes, largest

    def _mean_or_rate_interval(
        self,
        a: float,
        b: float,
        confidence: float,
    ) -> Interval:
        # Linearised if the two sides' lengths differ (Cochran 1977, section 6.4).
        sizes = self.sizes
        values_a = self.a[:, 0] - a * (self.a[:, 1] - sizes)
        values_b = self.b[:, 0] - b * (self.b[:, 1] - sizes)
        changes = (values_b - values_a) / sizes
        largest = max(1.0, float(np.abs(changes).max()))
        return intervals.paired_mean_interval(
            changes,
            self.clusters,
            weights=sizes,
            largest=largest,
            confidence=confidence,
        )

    def _mean_of_means_interval(self, confidence: float) -> Interval:
        # Tango's interval, for the number of draws with the stratified mean's variance.
        changes = self.b[:, 0] - self.a[:, 0]
        shares = self.shares / len(self.a)
        gained = float(shares @ np.maximum(changes, 0))
        lost = float(shares @ np.maximum(-changes, 0))
        variance = gained + lost - (gained - lost) ** 2
        strata = np.unique(self.subjects, return_inverse=True)[1]
        draws = intervals.effective_draws(
            changes, shares, self.clusters, variance, strata, confidence=confidence
        )
        return intervals.tango_interval(gained, lost, draws)


# ---------------------------------------------------------------------- matching two runs


def match(
    a: Run,
    b: Run,
    name: str | None,
    resampling: Resampling = _DEFAULT,
) -> Paired:
    """Match the items of two runs.

    Args:
        a: The baseline.
        b: The run to compare with it.
        name: A figure of the task; None for its headline.
        resampling: The random exchanges of tests.

    Raises:
        ComparisonError: The runs have different tasks, data or items, or lack the figure.
    """
    figure = _figure(a, b, name)
    _check_same_task(a, b)
    _check_same_ids(a, b)
    ids = sorted(a.items.positions)
    positions = _positions(a, ids)
    positions_b = _positions(b, ids)
    _check_same_questions(
        a,
        b,
        ids,
        positions,
        positions_b,
    )
    return _paired(
        a,
        b,
        figure,
        positions,
        positions_b,
        resampling,
    )


def match_dresses(
    a: Run,
    b: Run,
    name: str | None,
    resampling: Resampling = _DEFAULT,
) -> tuple[Paired, list[str]]:
    """Match the items of two tasks that ask the same in another language or script.

    Items are the same if their ids after the task's name and their right answers are.

    Args:
        a: A run of the first task.
        b: A run of the second task, by the same model.
        name: As in `match`.
        resampling: As in `match`.

    Returns:
        The items, and their ids without the task's name.

    Raises:
        ComparisonError: The tasks have other items, or the figure is not a mean over items.
    """
    figure = _figure(a, b, name)
    if figure.form != "mean" or figure.part:
        raise ComparisonError(
            f"{figure.name} is not a mean over items. Choose another figure with --metric."
        )
    ids_a = {item_id.partition("/")[2]: item_id for item_id in a.items.positions}
    ids_b = {item_id.partition("/")[2]: item_id for item_id in b.items.positions}
    keys = sorted(ids_a.keys() & ids_b.keys())
    positions = _positions(a, [ids_a[key] for key in keys])
    positions_b = _positions(b, [ids_b[key] for key in keys])
    same = a.items.golds[positions] == b.items.golds[positions_b]
    if not len(same) or same.mean() < _SAME_ANSWERS:
        raise ComparisonError(
            f"{a.task} and {b.task} do not ask the same items: of {len(keys):,} with one id, "
            f"{int(same.sum()):,} have the same right answer."
        )
    paired = _paired(
        a,
        b,
        figure,
        positions[same],
        positions_b[same],
        resampling,
    )
    key_of = dict(zip(positions.tolist(), keys, strict=True))
    return paired, [key_of[position] for position in paired.positions.tolist()]


def _figure(
    a: Run,
    b: Run,
    name: str | None,
) -> Figure:
    """Return the figure on which two runs are compared.

    Raises:
        ComparisonError: The task lacks it, it has no better direction, or a run was interrupted.
    """
    figure = a.figures.get(name) if name else a.headline
    if figure is None:
        raise ComparisonError(
            f"{a.task} does not have the figure {name!r}; choose one of {', '.join(a.figures)}."
        )
    if figure.higher_is_better is None:
        raise ComparisonError(
            say(
                "{figure} is neither good nor bad, so no model is better on it. Choose another "
                "figure with --metric; `hkcanto report --format json` gives its values.",
                figure=figure.name,
            )
        )
    if interrupted := a.interruption or b.interruption:
        raise ComparisonError(interrupted)
    return figure


def _paired(
    a: Run,
    b: Run,
    figure: Figure,
    positions: NDArray[np.intp],
    positions_b: NDArray[np.intp],
    resampling: Resampling,
) -> Paired:
    """Return the values of two runs for the items at some positions, where both have one."""
    side_a = _side(a, figure, positions)
    side_b = _side(b, figure, positions_b)
    losses = np.column_stack([side_a.losses, side_b.losses])
    missing = np.isnan(losses).sum(axis=1)
    kept = missing == 0
    if figure.part:
        kept &= a.items.part_mask(figure.part)[positions]
    if not kept.any():
        raise ComparisonError(
            f"no item has a value for {figure.name} in both {_title(a)} and {_title(b)}. "
            "Run them again with this version, or compare another figure (--metric)."
        )
    paired = Paired(
        figure,
        positions,
        np.array(a.items.ids, np.str_)[positions],
        side_a.rows,
        side_b.rows,
        losses,
        np.array(a.items.subjects, np.str_)[positions],
        a.items.clusters[positions],
        resampling,
        side_a.statistic,
        a.kind.categories,
        unscored=int((missing > 0).sum()),
        one_sided=int((missing == 1).sum()),
    )
    return paired.where(kept)


def _title(run: Run) -> str:
    return f"{run.label} ({run.sources[0].name})"


def _positions(run: Run, ids: list[str]) -> NDArray[np.intp]:
    return np.array([run.items.positions[item_id] for item_id in ids], np.intp)


def _check_same_task(a: Run, b: Run) -> None:
    facts = {
        "task": (a.definition.name, b.definition.name),
        "data": (a.data, b.data),
        "version": (a.signature.version, b.signature.version),
    }
    if a.is_local and b.is_local:
        # Each harness names the user's own files differently.
        del facts["data"]
    for what, (fact_a, fact_b) in facts.items():
        if fact_a != fact_b:
            raise ComparisonError(
                say(
                    "{run} has {what} {fact}, {other} has {other_fact}: run both on the same {what}.",
                    run=_title(a),
                    what=say(what),
                    fact=fact_a,
                    other=_title(b),
                    other_fact=fact_b,
                )
            )


def _check_same_ids(a: Run, b: Run) -> None:
    problems = []
    for run, other in ((a, b), (b, a)):
        extra = run.items.positions.keys() - other.items.positions.keys()
        if extra:
            examples = ", ".join(sorted(extra)[:5])
            problem = say(
                "{number:,} items are only in {run}, such as {examples}",
                number=len(extra),
                run=_title(run),
                examples=examples,
            )
            problems.append(problem)
    if problems:
        raise ComparisonError(
            say(
                "the runs of {task} differ in items: {problems}. Run both with the same limit, "
                "subjects and epochs.",
                task=a.definition.name,
                problems=joined("; ", problems),
            )
        )


def _check_same_questions(
    a: Run,
    b: Run,
    ids: list[str],
    positions_a: NDArray[np.intp],
    positions_b: NDArray[np.intp],
) -> None:
    differs = np.zeros(len(ids), np.bool_)
    if a.options.get("shuffle_choices") == b.options.get("shuffle_choices"):
        differs |= a.items.golds[positions_a] != b.items.golds[positions_b]
    # For the user's own files, only the questions themselves show whether the data is the same.
    if a.is_local and b.is_local and (a.task, a.options) == (b.task, b.options):
        lengths_a = a.items.question_lengths[positions_a]
        differs |= lengths_a != b.items.question_lengths[positions_b]
    if differs.any():
        raise ComparisonError(
            say(
                "{number:,} items differ in gold answer or length between {run} and {other}, such as "
                "{example}: run both on the same data.",
                number=int(differs.sum()),
                run=_title(a),
                other=_title(b),
                example=ids[differs.argmax()],
            )
        )


class _Side(NamedTuple):
    """One run's values for a figure."""

    rows: Floats
    losses: Floats
    statistic: Statistic  # sums of rows → the figure


def _side(
    run: Run,
    figure: Figure,
    positions: NDArray[np.intp],
) -> _Side:
    if figure.form == "corpus":
        return _corpus_side(run, figure, positions)
    items = run.items
    ones = np.ones(len(items))
    lengths = None
    if figure.form == "rate":
        lengths = items.weights.get(figure.averages)
    values = items.values.get(figure.averages, np.nan * ones)[positions]
    if lengths is None:
        lengths = ones
        if ((values < 0) | (values > 1)).any():
            raise ComparisonError(
                f"{figure.name} is not a share from 0 to 1: "
                "compare another figure (--metric)."
            )
    sizes = lengths[positions]
    rows = np.column_stack([errors_of(values, sizes), sizes])
    losses = 1 - values if figure.higher_is_better else values
    return _Side(rows, losses, intervals.ratio)


def _corpus_side(
    run: Run,
    figure: Figure,
    positions: NDArray[np.intp],
) -> _Side:
    if not run.items.pairs or not len(positions):
        raise ComparisonError(
            f"{figure.name} needs the texts of all items, but {run.label} has none. "
            "Run it again with --log_samples."
        )
    language = figures.language_of(run.kind.task)
    pairs = [run.items.pairs[position] for position in positions]
    rows, statistic = figures.corpus_rows(figure, pairs, language)
    scores = figures.corpus_scores(figure, pairs, language)
    # A perfect text may score above 1 in its last digit.
    return _Side(rows, np.clip(1 - np.array(scores), 0, 1), statistic)
