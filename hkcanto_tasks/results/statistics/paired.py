"""Paired comparison of two runs: differences with intervals, significance tests, and gates.

Items are matched by id, and the two answers to an item are compared as a pair, which removes the
items' difficulty from the variance (Miller 2024, "Adding Error Bars to Evals", section 4.2).
`reports.compare` puts the results into words.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ComparisonError
from ...figures import (
    Figure,
    corpus_rows,
    corpus_scores,
    language_of,
    parts_of,
    pseudo_values,
    sum_clusters,
    weights,
)
from ..runs import Run
from . import intervals, significance
from .intervals import CONFIDENCE, Estimate, NonInferiority, errors_of
from .significance import Floats, Statistic

SEED, RESAMPLES = 1234, 10_000

# Below this design effect, a limited run's questions on one passage count as independent. A gate
# at 5 % then passes falsely in at most 5.2 %, even if all questions on a passage go the same way.
_SINGLY = 1.02
_SAME = 1e-12  # two computations of one value may differ in its last digits
_Places = NDArray[np.intp]
_Drawing = dict[str, Any]  # the resampling's seed and number


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
    gate: NonInferiority | None  # the figure's gate, with its bound in points; None without one


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
    if gate is not None and (why := _not_gated(items, b, allowed)):
        raise ComparisonError(f"{a.definition.title}, {b.label} against {a.label}: {why}")
    overall, unscored = items.effect(), int((items.missing > 0).sum())
    of_parts = items.parts() if parts and items.figure.form != "corpus" else {}
    tested = None if gate is None else items.gate(gate, confidence, overall.difference.value)
    return Comparison(a, b, items.figure, overall, of_parts, unscored, tested)


def pairwise(
    runs: Sequence[Run], *, gate: float | None = None, **options: Any
) -> Sequence[Comparison]:
    """Compare each run with each later one; if there are more than two, over all items only.

    The p-values are adjusted for the number of pairs (Holm). The options are those of `compare`;
    the gate tests that no run is inferior to the first.
    """
    options["parts"] = len(runs) == 2
    found = [
        compare(a, b, gate=gate if a is runs[0] else None, **options)
        for a, b in combinations(runs, 2)
    ]
    overall = adjusted([comparison.overall for comparison in found])
    return [replace(one, overall=effect) for one, effect in zip(found, overall, strict=True)]


def points_of(figure: Figure) -> int:
    """Return the number of points in one unit of a figure."""
    return 100 if figure.unit in ("share", "rate") else 1


@dataclass(frozen=True, eq=False)
class _Paired:
    """The items for which both sides have a value, in an order independent of the sides."""

    figure: Figure
    side: Run  # A
    places: _Places  # in A
    a: Floats  # rows; `statistic` turns their sums into a figure
    b: Floats
    losses: Floats  # of each side on each item, 0 is best; for a corpus, by sentence scores
    subjects: NDArray[np.str_]
    clusters: NDArray[np.int64]
    statistic: Statistic
    drawing: _Drawing
    missing: NDArray[np.int64]  # how many sides have no value, also for items that are left out

    def where(self, mask: NDArray[np.bool_]) -> "_Paired":
        names = ("places", "a", "b", "losses", "subjects", "clusters")
        own: dict[str, Any] = {name: getattr(self, name)[mask] for name in names}
        return replace(self, **own)

    @property
    def is_rate(self) -> bool:
        return self.figure.form == "rate" and self.figure.name in self.side.items.weights

    @cached_property
    def units(self) -> int:
        return len(np.unique(self.clusters))

    @cached_property
    def questions(self) -> NDArray[np.int64]:
        """The index of each item's question, which is equal for all of its epochs."""
        ids = np.array([self.side.items.ids[place] for place in self.places])
        return np.unique(ids, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def design_effect(self) -> float:
        """The growth of the variance if all questions on a passage go the same way; at least 1."""
        _, first = np.unique(self.questions, return_index=True)
        sizes = np.unique(self.clusters[first], return_counts=True)[1]
        return float((sizes**2).sum() / sizes.sum())

    @cached_property
    def shares(self) -> Floats:
        """The weight of each item in the figure relative to the mean; 1 if all are equal."""
        if self.figure.over == "questions":
            return np.ones(len(self.places))
        names = self.subjects.tolist()
        of_items = weights(self.figure.over, names, self.side.setup.categories)
        return np.array(of_items) * len(names)

    @cached_property
    def sizes(self) -> Floats:
        """The weight of each item: its length for a rate, otherwise its share of the figure."""
        lengths: Floats = (self.a[:, 1] + self.b[:, 1]) / 2
        return np.maximum(1, lengths) if self.is_rate else self.shares

    @cached_property
    def is_right_or_wrong(self) -> bool:
        """Whether all values are 0 or 1, for independent items with equal weights."""
        of_mean = self.units == len(self.places) and self.figure.form == "mean"
        alike = self.figure.over == "questions"
        return of_mean and alike and bool(np.isin(self.losses, (0, 1)).all())

    @cached_property
    def counts(self) -> tuple[int, int]:
        """How many items B wins and loses."""
        gains = self.losses[:, 0] - self.losses[:, 1]
        return int((gains > _SAME).sum()), int((gains < -_SAME).sum())

    def figures(self) -> list[float]:
        """Return the figure of each side."""
        scale = self.shares[:, None]
        sums = [(side * scale).sum(axis=0, keepdims=True) for side in (self.a, self.b)]
        return [float(self.statistic(each)[0]) for each in sums]

    def of(self, figure: Figure) -> "_Paired":
        """Return the same items, weighted as in another average of the same values."""
        return replace(self, figure=figure)

    def effect(self, name: str = "") -> Effect:
        """Return how B differs from A, with the interval and test that fit the figure."""
        count, (wins, losses) = len(self.places), self.counts
        a, b = self.figures()
        scale = self.shares[:, None]
        of_a, of_b = (sum_clusters(own * scale, self.clusters) for own in (self.a, self.b))
        drawn: dict[str, Any] = {"statistic": self.statistic, **self.drawing}
        is_corpus = self.figure.form == "corpus"
        if self.is_right_or_wrong:
            test, p_value = "exact McNemar", significance.mcnemar_p_value(wins, losses)
        else:
            test = "approximate randomisation" if is_corpus else "paired permutation"
            p_value = significance.randomization_p_value(of_a, of_b, **drawn)
        if is_corpus:
            changes = pseudo_values(of_b, self.statistic) - pseudo_values(of_a, self.statistic)
            changes += b - a - changes.mean()
            most = max(100 / points_of(self.figure), float(np.abs(changes).max()))
            low, high = intervals.paired_mean_interval(changes, largest=most)
        else:
            alike = self.figure.over == "questions"
            low, high = self._ends() if alike else self._ends_of_average()
        unseen, ties = intervals.UNSEEN if self.figure.unlimited else "", count - wins - losses
        ends = intervals.agreeing((low, high), p_value, b - a)
        difference = Estimate(b - a, *ends, count, unseen)
        return Effect(name, a, b, difference, wins, losses, ties, p_value, test)

    def _ends(self) -> tuple[float, float]:
        if self.is_right_or_wrong:
            up, down = self.counts if self.figure.higher_is_better else self.counts[::-1]
            return intervals.paired_accuracy_interval(up, down, len(self.places))
        # Linearised if the two sides' lengths differ (Cochran 1977, section 6.4).
        a, b = (
            side[:, 0] - figure * (side[:, 1] - self.sizes)
            for side, figure in zip((self.a, self.b), self.figures(), strict=True)
        )
        changes = (b - a) / self.sizes
        of: dict[str, Any] = {"weights": self.sizes, "largest": max(1.0, np.abs(changes).max())}
        return intervals.paired_mean_interval(changes, self.clusters, **of)

    def _ends_of_average(self) -> tuple[float, float]:
        """Return Tango's interval, for the number of draws with the stratified mean's variance."""
        changes = self.b[:, 0] - self.a[:, 0]
        shares = self.shares / len(changes)
        gained, lost = (
            float(shares @ np.maximum(changes, 0)),
            float(shares @ np.maximum(-changes, 0)),
        )
        variance = gained + lost - (gained - lost) ** 2
        strata = np.unique(self.subjects, return_inverse=True)[1]
        draws = intervals.effective_draws(changes, shares, self.clusters, variance, strata)
        return intervals.tango_interval(gained, lost, draws)

    def parts(self) -> Mapping[str, Sequence[Effect]]:
        """Return the effects on other averages, on parts of the task, and on subjects."""
        side, own = self.side, self.figure
        alike = [each for each in side.figures.values() if each.averages == own.averages]
        parts = [
            self.where(mask).of(each).effect(each.name)
            for each in alike
            if each.part and not own.part
            if (mask := side.items.of_part(each.part)[self.places]).any()
        ]
        averages = [
            self.of(each).effect(each.name)
            for each in alike
            if not each.part and not own.part and each is not own
        ]
        return {"averages": averages, "parts": adjusted(parts), "subjects": self.by_subject()}

    def by_subject(self) -> Sequence[Effect]:
        """Return the effects on subjects that are not parts, if there are several."""
        own, side = replace(self.figure, over="questions"), self.side
        parts = {each.part for each in side.figures.values() if each.averages == own.averages}
        present = {*self.subjects.tolist()} - parts
        names = [each.name for each in side.subjects if each.name in present and len(present) > 1]
        found = [self.where(self.subjects == name).of(own).effect(name) for name in names]
        return adjusted(found)

    def gate(self, delta: float, confidence: float, difference: float) -> NonInferiority:
        """Test that B is not inferior, from its loss on each item.

        The bound is never below the loss of the figure itself. That differs from the items' mean
        loss for a corpus figure. Of a figure without an upper limit it is a bound on what is left
        if each answer's rate is cut off at 1, since no sample bounds how long a runaway answer may
        be. Subjects with equal weight are
        strata: their numbers of items, and so the items' weights, are fixed. Other weights are
        those of a whole task, or all equal (see `_not_gated`).
        """
        before, after = self.losses.T
        clusters = self.clusters
        if self.side.limited and not self.side.complete and self.design_effect <= _SINGLY:
            clusters = self.questions
        largest = sum_clusters(self.sizes[:, None], clusters).max()
        of: dict[str, Any] = {"clusters": clusters, "weights": self.sizes, "largest": largest}
        of["confidence"] = confidence
        found = intervals.non_inferiority(before, after, delta=delta / 100, **of)
        loss = -difference if self.figure.higher_is_better else difference
        bound = max(100 * found.bound, loss * points_of(self.figure))
        remarks = {
            found.method: True,
            "of sentence scores": self.figure.of_texts,
            "weighted as the figure weighs items": self.figure.over != "questions",
            "weighted by length": self.is_rate,
            "each answer's rate cut off at 1": self.figure.unlimited,
            f"{self.units:,} clusters of items": clusters is self.clusters
            and self.units < len(self.places),
        }
        method = ", ".join(remark for remark, holds in remarks.items() if holds)
        return replace(found, bound=bound, passed=bound < delta, method=method)


def _not_gated(items: _Paired, b: Run, allowed: Collection[str]) -> str:
    """Return why a gate cannot test these items of A and B; empty if it can."""
    a, figure = items.side, items.figure
    if unlike := [name for name in a.differs(b) if name not in allowed]:
        return (
            f"the runs differ in {', '.join(unlike)}, but a gate is for runs under one setup. Run "
            "both under the same setup, or pass --allow-differences "
            f"{','.join(a.differs(b))}."
        )
    if figure.labels:
        return (
            f"{figure.name} has no bound: the weight of one answer depends on all others. Gate "
            "another figure (--metric acc)."
        )
    if above := int((items.losses > 1).any(axis=1).sum()):
        return (
            f"{above:,} items have a {figure.name} above 1, and of such answers there may be more "
            f"and longer ones than the sample has: nothing bounds {figure.name}. Gate a figure "
            "that is at most 1 (--metric cer_published), or find out why the answers run away."
        )
    if stopped := [side for side in (a, b) if side.unfinished]:
        return (
            f"{stopped[0].label} on {stopped[0].task}: {stopped[0].unfinished}, and a gate cannot "
            "pass by leaving items out. Run it again, or finish it."
        )
    if one_sided := int((items.missing == 1).sum()):
        return (
            f"{one_sided:,} items have a value of {figure.name} in only one of {a.label} and "
            f"{b.label}, and a gate cannot pass by leaving items out. Run them again."
        )
    if a.complete or not (a.limited or b.limited):
        return ""
    if items.is_rate or items.design_effect > _SINGLY:
        what = "length of an item" if items.is_rate else "number of questions on a passage"
        return (
            f"a part of the task does not show the largest {what}, and without that a bound on "
            f"{figure.name} does not hold. Run the task without a limit"
            f"{', or gate a figure in which all items count alike (--metric)' * items.is_rate}."
        )
    every, present = a.setup.task.subjects, a.subjects
    of_part = (each for each in every if figure.part in ("", *parts_of(a.setup.task, each)))
    absent = [each.name for each in of_part if each not in present]
    if not a.trusted_data:  # the sizes of its subjects are not published
        return ""
    if figure.over == "questions":
        if a.in_proportion(every) or a.in_proportion(present):
            return ""
        why = "the items are not in proportion to the sizes of the subjects"
    elif absent and sum(map(a.expected_of, present)) != a.available:
        why = f"there is no item of {', '.join(absent[:5])}{', …' * (len(absent) > 5)}"
    else:
        return ""
    return (
        f"{why}, so {figure.name} does not represent the whole task. Run it without a limit, or "
        "with a larger one for all subjects together."
    )


def adjusted(effects: Sequence[Effect]) -> Sequence[Effect]:
    """Return a family of effects; if there are several, their p-values are adjusted by Holm."""
    if len(effects) < 2:
        return effects
    p_values = significance.holm([effect.p_value for effect in effects])
    return [replace(effect, p_by_holm=p) for effect, p in zip(effects, p_values, strict=True)]


def match(a: Run, b: Run, name: str | None, drawing: _Drawing) -> _Paired:
    """Match the items of two runs."""
    first, second = (f"{side.label} ({side.sources[0].name})" for side in (a, b))
    figure = a.figures.get(name) if name else a.headline
    if figure is None:
        raise ComparisonError(
            f"{a.task} has no figure {name!r}; choose one of {', '.join(a.figures)}."
        )
    if interrupted := a.interruption or b.interruption:
        raise ComparisonError(interrupted)
    local = a.is_local and b.is_local
    for what, own, other in (
        ("task", a.definition.name, b.definition.name),
        ("data", a.data, a.data if local else b.data),
        ("version", a.version, b.version),
    ):
        if own != other:
            raise ComparisonError(
                f"{first} has {what} {own}, {second} has {other}: run both on the same {what}."
            )
    in_a, in_b = a.items.places, b.items.places
    if in_a.keys() != in_b.keys():
        only = (first, in_a.keys() - in_b.keys()), (second, in_b.keys() - in_a.keys())
        said = "; ".join(
            f"{len(own):,} items are only in {file}, such as {', '.join(sorted(own)[:5])}"
            for file, own in only
            if own
        )
        raise ComparisonError(
            f"the two runs of {a.definition.name} do not have the same items: {said}. Run both "
            "with the same limit, subjects and epochs."
        )
    shared = sorted(in_a.keys() & in_b.keys())
    at, at_b = (np.array([own[name] for name in shared], np.intp) for own in (in_a, in_b))
    others = np.zeros(len(shared), np.bool_)
    if a.options.get("shuffle_choices") == b.options.get("shuffle_choices"):
        others |= a.items.golds[at] != b.items.golds[at_b]
    # For the user's own files, only the questions themselves show whether the data is the same.
    if local and (a.task, a.options) == (b.task, b.options):
        others |= a.items.question_lengths[at] != b.items.question_lengths[at_b]
    if others.any():
        raise ComparisonError(
            f"{others.sum():,} items differ in gold answer or length between {first} and "
            f"{second}, such as {shared[others.argmax()]}: run both on the same data."
        )
    (rows, lost, statistic), (rows_b, lost_b, _) = _rows(a, figure, at), _rows(b, figure, at_b)
    losses = np.column_stack([lost, lost_b])
    missing = np.isnan(losses).sum(axis=1)
    if missing.all():
        raise ComparisonError(
            f"no item has a value for {figure.name} in both {first} and {second}. Run them again "
            "with this version, or compare another figure (--metric)."
        )
    subjects, codes = a.items.subject_codes
    columns = at, rows, rows_b, losses, subjects[codes[at]], a.items.clusters[at]
    kept = missing == 0
    if figure.part:
        kept &= a.items.of_part(figure.part)[at]
    return _Paired(figure, a, *columns, statistic, drawing, missing).where(kept)


def _rows(side: Run, figure: Figure, at: _Places) -> tuple[Floats, Floats, Statistic]:
    """Return rows, the loss on each item, and the function from sums of rows to the figure."""
    if figure.form == "corpus":
        if not (side.items.pairs and len(at)):
            raise ComparisonError(
                f"{side.label} has no texts, but {figure.name} is computed from the texts of all "
                "items. Run it again with its samples logged (lm-eval: --log_samples)."
            )
        language, pairs = language_of(side.setup.task), [side.items.pairs[place] for place in at]
        counts, statistic = corpus_rows(figure, pairs, language)
        return counts, 1 - np.array(corpus_scores(figure, pairs, language)), statistic
    values = side.items.values.get(figure.averages, np.full(len(side.items), np.nan))[at]
    lengths = side.items.weights.get(figure.averages) if figure.form == "rate" else None
    if lengths is None and ((values < 0) | (values > 1)).any():
        raise ComparisonError(
            f"{figure.name} is not a share from 0 to 1, and does not say whether higher or lower "
            "is better: compare another figure (--metric)."
        )
    sizes = np.ones(len(at)) if lengths is None else lengths[at]
    losses = 1 - values if figure.higher_is_better else values
    errors = values if lengths is None else errors_of(values, sizes)
    return np.column_stack([errors, sizes]), losses, significance.ratio
