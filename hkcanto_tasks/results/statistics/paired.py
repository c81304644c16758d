"""Paired comparison of two runs: differences with intervals, significance tests, and gates.

Items are matched by id, and the two answers to an item are compared as a pair, which removes the
items' difficulty from the variance (Miller 2024, "Adding Error Bars to Evals", section 4.2).
`reports.compare` puts the results into words.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from textwrap import shorten
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import figures
from ...errors import ComparisonError
from ...figures import Figure, pseudo_values, sum_clusters, weights
from ..runs import Floats, Run
from . import intervals
from .intervals import CONFIDENCE, Estimate, NonInferiority, Statistic, errors_of

SEED, RESAMPLES = 1234, 10_000

# Below this design effect, a limited run's questions on one passage count as independent. A gate
# at 5 % then passes falsely in at most 5.2 %, even if all questions on a passage go the same way.
_SINGLY = 1.02
_SAME = 1e-12  # two computations of one value may differ in its last digits


@dataclass(frozen=True, slots=True)
class Effect:
    """How B differs from A on some items: the figures of both, and the difference B minus A.

    `name` is that of a figure (`acc_macro`, `acc_stem`) or a subject, or empty for all items. B
    wins an item if it is better there, in the figure's direction. The p-value is two-sided;
    `p_by_holm` is adjusted for its family of tests, and None for a single test.
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
    p_by_holm: float | None = None


@dataclass(frozen=True, eq=False)
class Comparison:
    """A comparison of two runs."""

    a: Run  # the baseline
    b: Run  # the run that is compared with it
    figure: Figure  # the compared figure, by default the headline
    overall: Effect  # the effect on the figure itself, with its own weighting of items
    #: other `averages` of the same values, `parts` (categories and further sets), `subjects`
    parts: Mapping[str, Sequence[Effect]]
    unscored: int  # items left out because one side has no value for them
    gate: (
        NonInferiority | None
    )  # the figure's gate, with its bound in points; None without one


def compare(
    a: Run,
    b: Run,
    *,
    metric: str | None = None,
    gate: float | None = None,
    confidence: float = CONFIDENCE,
    allowed: Collection[str] = (),
    seed: int = SEED,
    resamples: int = RESAMPLES,
    parts: bool = True,
) -> Comparison:
    """Compare two runs of a task item by item; they may differ in model and setup.

    Args:
        a: The baseline.
        b: The run to compare with it.
        metric: A figure of the task, such as `acc_macro`; by default its headline.
        gate: Tolerance in points, up to 100, for the test that B is not inferior to A.
        confidence: Confidence of the gate's bound.
        allowed: Parts of the signature in which the runs may differ under a gate, such as `shots`.
        seed: Seed of the resampling, at least 0.
        resamples: Number of resamples, at least 1.
        parts: Whether to compare averages, categories and subjects too.

    Raises:
        ComparisonError: The runs have different tasks, data or items, or lack the figure. With a
            gate, also if an item has a value on one side only, if the runs differ in a part of the
            signature that is not allowed, or if their items cannot bound the figure.
    """
    items = match(a, b, metric, {"seed": seed, "resamples": resamples})
    of_parts = _parts(items, a) if parts and items.figure.form != "corpus" else {}
    bound = None if gate is None else _gate(items, a, b, gate, confidence, allowed)
    return Comparison(
        a, b, items.figure, items.effect(), of_parts, items.unscored, bound
    )


def pairwise(
    runs: Sequence[Run], *, gate: float | None = None, **options: Any
) -> Sequence[Comparison]:
    """Compare each run with each later one; if there are more than two, over all items only.

    The p-values are adjusted for the number of pairs (Holm). The options are those of `compare`;
    the gate tests that no run is inferior to the first.
    """
    options["parts"] = len(runs) == 2
    compared = [
        compare(a, b, gate=gate if a is runs[0] else None, **options)
        for a, b in combinations(runs, 2)
    ]
    overall = adjusted([one.overall for one in compared])
    return [
        replace(one, overall=effect)
        for one, effect in zip(compared, overall, strict=True)
    ]


def points_of(figure: Figure) -> int:
    """Return the number of points in one unit of a figure."""
    return 100 if figure.unit in ("share", "rate") else 1


@dataclass(frozen=True, eq=False)
class Paired:
    """Values of two runs for the same items, in an order independent of the runs."""

    figure: Figure
    places: NDArray[np.intp]  # in A
    a: Floats  # rows; `statistic` turns their sums into a figure
    b: Floats
    losses: (
        Floats  # of each side on each item, 0 is best; for a corpus, by sentence scores
    )
    subjects: NDArray[np.str_]
    clusters: NDArray[np.int64]
    drawing: Mapping[str, Any]  # the resampling's seed and number
    statistic: Statistic = intervals.ratio
    categories: Mapping[str, str] | None = None  # of the subjects
    unscored: int = 0  # items left out because a side has no value for them
    one_sided: int = 0  # those of them for which the other side has a value

    def where(self, mask: NDArray[np.bool_]) -> "Paired":
        """Return some of the items."""
        names = ("places", "a", "b", "losses", "subjects", "clusters")
        columns: dict[str, Any] = {name: getattr(self, name)[mask] for name in names}
        return replace(self, **columns)

    @cached_property
    def units(self) -> int:
        """The number of independent units."""
        return len(np.unique(self.clusters))

    @cached_property
    def shares(self) -> Floats:
        """The weight of each item in the figure relative to the mean; 1 if all are equal."""
        count, over = len(self.losses), self.figure.over
        if over == "questions":
            return np.ones(count)
        return np.array(weights(over, self.subjects.tolist(), self.categories)) * count

    @cached_property
    def sizes(self) -> Floats:
        """The weight of each item: its length for a rate, otherwise its share of the figure."""
        lengths: Floats = (self.a[:, 1] + self.b[:, 1]) / 2
        return np.maximum(1, lengths) if self.figure.form == "rate" else self.shares

    @cached_property
    def is_right_or_wrong(self) -> bool:
        """Whether all values are 0 or 1, for independent items with equal weights."""
        plain = self.figure.form == "mean" and self.figure.over == "questions"
        independent = self.units == len(self.losses)
        return plain and independent and bool(np.isin(self.losses, (0, 1)).all())

    @cached_property
    def rows(self) -> tuple[Floats, Floats]:
        """The weighted rows of each side, summed by independent unit."""
        of_a, of_b = (side * self.shares[:, None] for side in (self.a, self.b))
        return sum_clusters(of_a, self.clusters), sum_clusters(of_b, self.clusters)

    def figures(self) -> list[float]:
        """Return the figure of each side."""
        return [
            float(self.statistic(side.sum(axis=0, keepdims=True))[0])
            for side in self.rows
        ]

    def effect(self, name: str = "") -> Effect:
        """Return how B differs from A, with the interval and test that fit the figure."""
        figure, count, (a, b) = self.figure, len(self.losses), self.figures()
        gains = self.losses[:, 0] - self.losses[:, 1]
        wins, losses = int((gains > _SAME).sum()), int((gains < -_SAME).sum())
        if self.is_right_or_wrong:
            test, p_value = "exact McNemar", intervals.mcnemar_p_value(wins, losses)
            up, down = (wins, losses) if figure.higher_is_better else (losses, wins)
            ends = intervals.paired_accuracy_interval(up, down, count)
        else:
            test = (
                "approximate randomisation"
                if figure.form == "corpus"
                else "paired permutation"
            )
            p_value = intervals.randomization_p_value(
                *self.rows, self.statistic, **self.drawing
            )
            ends = self._ends(a, b)
        ends = intervals.agreeing(ends, p_value, b - a)
        unseen = intervals.UNSEEN if figure.unlimited else ""
        difference, ties = Estimate(b - a, *ends, count, unseen), count - wins - losses
        return Effect(name, a, b, difference, wins, losses, ties, p_value, test)

    def _ends(self, a: float, b: float) -> tuple[float, float]:
        if self.figure.form == "corpus":
            before, after = (
                pseudo_values(units, self.statistic) for units in self.rows
            )
            changes = after - before
            changes += b - a - changes.mean()
            most = max(100 / points_of(self.figure), float(np.abs(changes).max()))
            return intervals.paired_mean_interval(changes, largest=most)
        if self.figure.over == "questions":
            # Linearised if the two sides' lengths differ (Cochran 1977, section 6.4).
            sizes, sides = self.sizes, ((self.a, a), (self.b, b))
            of_a, of_b = (
                side[:, 0] - value * (side[:, 1] - sizes) for side, value in sides
            )
            changes = (of_b - of_a) / sizes
            most = max(1.0, float(np.abs(changes).max()))
            clusters = self.clusters
            return intervals.paired_mean_interval(
                changes, clusters, weights=sizes, largest=most
            )
        # Tango's interval, for the number of draws with the stratified mean's variance.
        changes, shares = self.b[:, 0] - self.a[:, 0], self.shares / len(self.a)
        gained, lost = (
            float(shares @ np.maximum(sign * changes, 0)) for sign in (1, -1)
        )
        variance = gained + lost - (gained - lost) ** 2
        strata = np.unique(self.subjects, return_inverse=True)[1]
        draws = intervals.effective_draws(
            changes, shares, self.clusters, variance, strata
        )
        return intervals.tango_interval(gained, lost, draws)


def _parts(items: Paired, run: Run) -> Mapping[str, Sequence[Effect]]:
    """Return the effects on other averages, on parts of the task, and on subjects."""
    figure = items.figure
    alike = [
        other for other in run.figures.values() if other.averages == figure.averages
    ]
    averages, parts = list[Effect](), list[Effect]()
    for other in alike if not figure.part else ():
        if other.part:
            mask = run.items.part_mask(other.part)[items.places]
            some = replace(items.where(mask), figure=other)
            parts += [some.effect(other.name)] if mask.any() else []
        elif other is not figure:
            averages.append(replace(items, figure=other).effect(other.name))
    # A subject that is a part is not repeated.
    present = {*items.subjects.tolist()} - {other.part for other in alike}
    names = [
        each.name for each in run.subjects if each.name in present and len(present) > 1
    ]
    plain = replace(items, figure=replace(figure, over="questions"))
    subjects = [plain.where(items.subjects == name).effect(name) for name in names]
    return {
        "averages": averages,
        "parts": adjusted(parts),
        "subjects": adjusted(subjects),
    }


def _gate(
    items: Paired,
    a: Run,
    b: Run,
    delta: float,
    confidence: float,
    allowed: Collection[str],
) -> NonInferiority:
    """Test that B is not inferior, from its loss on each item.

    The bound is never below the loss of the figure itself, which differs from the items' mean loss
    for a corpus figure. If the figure has no upper limit, it bounds the figure with each answer's
    rate cut off at 1, since no sample bounds how long a runaway answer may be. Subjects with equal
    weight are strata: their numbers of items, and so the items' weights, are fixed. Other weights
    are those of a whole task, or all equal (see `_refusal`).

    Raises:
        ComparisonError: A gate cannot test these items.
    """
    figure, ids = items.figure, np.array(a.items.ids)[items.places]
    _, first, questions = np.unique(ids, return_index=True, return_inverse=True)
    # By how much the variance grows if all questions on a passage go the same way.
    passages = np.unique(items.clusters[first], return_counts=True)[1]
    design_effect = float((passages**2).sum() / passages.sum())
    if why := _refusal(items, a, b, allowed, design_effect):
        raise ComparisonError(
            f"{a.definition.title}, {b.label} against {a.label}: {why}"
        )
    singly = a.limited and not a.complete and design_effect <= _SINGLY
    clusters = questions if singly else items.clusters
    tested = intervals.non_inferiority(
        *items.losses.T,
        delta=delta / 100,
        clusters=clusters,
        weights=items.sizes,
        largest=sum_clusters(items.sizes[:, None], clusters).max(),
        confidence=confidence,
    )
    before, after = items.figures()
    loss = before - after if figure.higher_is_better else after - before
    bound = max(100 * tested.bound, loss * points_of(figure))
    remarks = {
        tested.method: True,
        "of sentence scores": figure.of_texts,
        "weighted as the figure weighs items": figure.over != "questions",
        "weighted by length": figure.form == "rate" and bool(np.ptp(items.sizes)),
        "each answer's rate cut off at 1": figure.unlimited,
        f"{items.units:,} clusters of items": not singly and items.units < len(ids),
    }
    method = ", ".join(remark for remark, holds in remarks.items() if holds)
    return replace(tested, bound=bound, passed=bound < delta, method=method)


def _refusal(
    items: Paired, a: Run, b: Run, allowed: Collection[str], design_effect: float
) -> str | None:
    """Return why a gate cannot test these items of A and B; None if it can."""
    figure, name, unlike = items.figure, items.figure.name, a.differs(b)
    if refused := ", ".join(part for part in unlike if part not in allowed):
        how = f"Run both under one setup, or --allow-differences {','.join(unlike)}."
        return f"the runs differ in {refused}, but a gate is for runs under one setup. {how}"
    if figure.labels:
        why = f"{name} has no bound: the weight of one answer depends on all others"
        return f"{why}. Gate another figure (--metric acc)."
    if above := int((items.losses > 1).any(axis=1).sum()):
        why = f"{above:,} items have a {name} above 1, and others may be worse: nothing bounds it"
        return f"{why}. Gate a figure of at most 1 (--metric cer_published)."
    if side := next((side for side in (a, b) if side.unfinished), None):
        why = f"{side.label} on {side.task}: {side.unfinished}"
        return f"{why}, and a gate cannot pass by leaving items out. Finish it."
    if items.one_sided:
        sides = f"only one of {a.label} and {b.label}"
        return f"{items.one_sided:,} items have a value of {name} in {sides}. Run them again."
    if a.complete or not (a.limited or b.limited):
        return None
    if figure.form == "rate" or design_effect > _SINGLY:
        what = (
            "length of an item"
            if figure.form == "rate"
            else "number of questions on a passage"
        )
        why = f"a part of the task does not show the largest {what}, so no bound on {name} holds"
        return (
            f"{why}. Run the task without a limit, or gate another figure (--metric)."
        )
    every, present = a.kind.task.subjects, a.subjects
    absent = [subject for subject in every if subject not in present]
    names = [
        s.name for s in absent if figure.part in ("", *figures.parts_of(a.kind.task, s))
    ]
    if not a.trusted_data:  # the sizes of its subjects are not published
        return None
    if figure.over == "questions" and not (
        a.in_proportion(every) or a.in_proportion(present)
    ):
        why = "the items are not in proportion to the sizes of the subjects"
    elif (
        figure.over != "questions"
        and names
        and sum(map(a.expected_of, present)) != a.available
    ):
        why = f"there is no item of {shorten(', '.join(names), 100, placeholder=' …')}"
    else:
        return None
    return (
        f"{why}, so {name} does not represent the whole task. Run it without a limit."
    )


def adjusted(effects: Sequence[Effect]) -> Sequence[Effect]:
    """Return a family of effects; if there are several, their p-values are adjusted by Holm."""
    if len(effects) < 2:
        return effects
    p_values = intervals.holm([effect.p_value for effect in effects])
    return [
        replace(effect, p_by_holm=p)
        for effect, p in zip(effects, p_values, strict=True)
    ]


def match(a: Run, b: Run, name: str | None, drawing: Mapping[str, Any]) -> Paired:
    """Match the items of two runs.

    Args:
        a: The baseline.
        b: The run to compare with it.
        name: A figure of the task; None for its headline.
        drawing: The seed and number of resamples, for tests.

    Raises:
        ComparisonError: As by `compare`.
    """
    first, second = (f"{side.label} ({side.sources[0].name})" for side in (a, b))
    figure = a.figures.get(name) if name else a.headline
    if figure is None:
        choice = ", ".join(a.figures)
        raise ComparisonError(
            f"{a.task} has no figure {name!r}; choose one of {choice}."
        )
    if interrupted := a.interruption or b.interruption:
        raise ComparisonError(interrupted)
    local = a.is_local and b.is_local
    for what, one, other in (
        ("task", a.definition.name, b.definition.name),
        ("data", a.data, a.data if local else b.data),
        ("version", a.signature.version, b.signature.version),
    ):
        if one != other:
            both = f"{first} has {what} {one}, {second} has {other}"
            raise ComparisonError(f"{both}: run both on the same {what}.")
    in_a, in_b = a.items.positions, b.items.positions
    only = [
        f"{len(ids):,} items are only in {file}, such as {', '.join(sorted(ids)[:5])}"
        for file, ids in (
            (first, in_a.keys() - in_b.keys()),
            (second, in_b.keys() - in_a.keys()),
        )
        if ids
    ]
    if only:
        what = f"the runs of {a.definition.name} differ in items: {'; '.join(only)}"
        raise ComparisonError(
            f"{what}. Run both with the same limit, subjects and epochs."
        )
    names = sorted(in_a)
    at, at_b = (
        np.array([places[name] for name in names], np.intp) for places in (in_a, in_b)
    )
    others = np.zeros(len(names), np.bool_)
    if a.options.get("shuffle_choices") == b.options.get("shuffle_choices"):
        others |= a.items.golds[at] != b.items.golds[at_b]
    # For the user's own files, only the questions themselves show whether the data is the same.
    if local and (a.task, a.options) == (b.task, b.options):
        others |= a.items.question_lengths[at] != b.items.question_lengths[at_b]
    if others.any():
        what = f"{others.sum():,} items differ in gold answer or length between {first} and"
        such = f"such as {names[others.argmax()]}"
        raise ComparisonError(f"{what} {second}, {such}: run both on the same data.")
    (rows, loss, statistic), (rows_b, loss_b, _) = (
        _rows(a, figure, at),
        _rows(b, figure, at_b),
    )
    losses = np.column_stack([loss, loss_b])
    missing = np.isnan(losses).sum(axis=1)
    kept = missing == 0
    if figure.part:
        kept &= a.items.part_mask(figure.part)[at]
    if not kept.any():
        what = f"no item has a value for {figure.name} in both {first} and {second}"
        how = "Run them again with this version, or compare another figure (--metric)."
        raise ComparisonError(f"{what}. {how}")
    subjects = np.array(a.items.subjects, np.str_)[at]
    columns = at, rows, rows_b, losses, subjects, a.items.clusters[at]
    more = (
        statistic,
        a.kind.categories,
        int((missing > 0).sum()),
        int((missing == 1).sum()),
    )
    return Paired(figure, *columns, drawing, *more).where(kept)


def _rows(
    side: Run, figure: Figure, at: NDArray[np.intp]
) -> tuple[Floats, Floats, Statistic]:
    """Return rows, the loss on each item, and the function from sums of rows to the figure."""
    if figure.form == "corpus":
        if not (side.items.pairs and len(at)):
            what = (
                f"{figure.name} needs the texts of all items, but {side.label} has none"
            )
            raise ComparisonError(f"{what}. Run it again with --log_samples.")
        language = figures.language_of(side.kind.task)
        pairs = [side.items.pairs[place] for place in at]
        counts, statistic = figures.corpus_rows(figure, pairs, language)
        return (
            counts,
            1 - np.array(figures.corpus_scores(figure, pairs, language)),
            statistic,
        )
    ones, is_rate = np.ones(len(side.items)), figure.form == "rate"
    values = side.items.values.get(figure.averages, np.nan * ones)[at]
    lengths = side.items.weights.get(figure.averages) if is_rate else None
    if lengths is None and ((values < 0) | (values > 1)).any():
        what = f"{figure.name} is not a share from 0 to 1"
        raise ComparisonError(f"{what}: compare another figure (--metric).")
    sizes = (ones if lengths is None else lengths)[at]
    losses = 1 - values if figure.higher_is_better else values
    return np.column_stack([errors_of(values, sizes), sizes]), losses, intervals.ratio
