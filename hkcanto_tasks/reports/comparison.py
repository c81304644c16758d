"""Two models on the same items: how much one is better, and how sure that is.

Items are matched by their ids, and what two models answered to the same question is compared pair
by pair, which takes the questions' difficulty out (Miller 2024, "Adding Error Bars to Evals",
section 4.2). What it becomes for people to read is in `comparison_blocks`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hkcanto_metrics.translation import sentence_scores, sufficient_statistics

from ..averages import weights
from ..corpus_figures import language_of
from ..errors import ComparisonError
from ..records import Metric, Over
from . import significance
from .evaluations import Evaluation
from .figures import Figure, Mask, errors_of
from .gates import NonInferiority, non_inferiority
from .intervals import paired_accuracy_interval, paired_mean_interval
from .significance import Floats, Statistic

SEED, RESAMPLES = 1234, 10_000

_SHOWN = 5
# Two computations of one value may differ in its last digits.
_SAME = 1e-12
_Places = NDArray[np.intp]
_Drawing = dict[str, Any]  # the resampling's seed and number


@dataclass(frozen=True, slots=True)
class Effect:
    """What B does otherwise than A on some items: their figures, and the difference B minus A.

    `name` is empty for all items, else that of a figure (`acc_macro`, `acc_stem`) or a subject. B
    wins an item if it is better there, whichever way is good. The p-value is two-sided; that by
    Holm is among its family, if it is not alone, and that by bootstrap sacreBLEU's, of a corpus.
    """

    name: str
    a: float
    b: float
    difference: Figure
    wins: int
    losses: int
    ties: int
    p_value: float
    test: str
    p_by_holm: float | None = None
    p_by_bootstrap: float | None = None

    @property
    def is_significant(self) -> bool:
        """Whether the p-value, by Holm if there are several tests, is below 5 %."""
        return (self.p_value if self.p_by_holm is None else self.p_by_holm) < 0.05


@dataclass(frozen=True, eq=False)
class Comparison:
    """A comparison of two evaluations.

    Attributes:
        a: The one to compare with.
        b: The one that is compared.
        metric: The figure.
        overall: All items; of an accuracy, every question counts once.
        parts: `averages` over subjects and categories, `parts` (categories and further sets, as the
            paper averages them) and `subjects`.
        unscored: Items left out because one side has no value for them.
        gate: The test that B is not inferior on all items, its bound in points; None if not asked.
    """

    a: Evaluation
    b: Evaluation
    metric: Metric
    overall: Effect
    parts: Mapping[str, Sequence[Effect]]
    unscored: int
    gate: NonInferiority | None

    @property
    def points(self) -> int:
        """How many points a unit of the figure is: 100 for fractions, 1 for scores."""
        return 1 if self.metric.unit == "score" else 100


def compare(
    a: Evaluation,
    b: Evaluation,
    *,
    metric: str | None = None,
    gate: float | None = None,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    parts: bool = True,
) -> Comparison:
    """Compare two evaluations of a task item by item.

    They may differ in model, and in anything about the condition that leaves the items the same:
    shots, prompt, script, chain of thought, scoring.

    Args:
        a: The one to compare with.
        b: The one that is compared.
        metric: A figure of the task's kind; its headline without one.
        gate: Tolerance in points, up to 100, for the test that B is not inferior to A.
        seed: Of the resampling, from 0 up.
        resamples: Number of resamples, from 1 up.
        parts: Whether to compare averages, categories and subjects too.

    Raises:
        ComparisonError: They are of different tasks, data or items, or have no such figure; with a
            gate, also if some item has a value on one side only.
    """
    items = _match(a, b, metric, {"seed": seed, "resamples": resamples})
    of_parts = _parts(items) if parts and not items.metric.corpus else {}
    unscored = int((items.missing > 0).sum())
    found = Comparison(a, b, items.metric, items.effect(), of_parts, unscored, None)
    return found if gate is None else replace(found, gate=_gate(found, items, gate))


def pairwise(
    evaluations: Sequence[Evaluation], *, gate: float | None = None, **options: Any
) -> Sequence[Comparison]:
    """Compare each of several evaluations with each later one, over all items alone.

    The p-values are adjusted for the number of pairs (Holm). The options are those of `compare`;
    the gate tests that none is inferior to the first.
    """
    found = [
        compare(a, b, gate=gate if a is evaluations[0] else None, parts=False, **options)
        for a, b in combinations(evaluations, 2)
    ]
    adjusted = _adjusted([comparison.overall for comparison in found])
    return [replace(one, overall=effect) for one, effect in zip(found, adjusted, strict=True)]


def headline_difference(before: Evaluation, after: Evaluation) -> Figure | None:
    """Return how the headline differs on the items that both have; None if it is not comparable."""
    try:
        items = _match(before, after, None, {"seed": SEED, "resamples": 1_000}, common=True)
    except ComparisonError:
        return None
    return items.effect("", before.headline.over).difference


@dataclass(frozen=True, eq=False)
class _Paired:
    """The items that both sides have a value for, in an order that does not depend on the sides.

    Rows of A and of B are what `statistic` makes a figure of when they are summed; losses are what
    each loses on an item, 0 being best (of a corpus, by sentence scores); `places` are those in A;
    `missing` counts for all items, also those that are left out, the sides without a value.
    """

    metric: Metric
    side: Evaluation
    places: _Places
    a: Floats
    b: Floats
    losses: Floats
    subjects: NDArray[np.str_]
    clusters: NDArray[np.int64]
    statistic: Statistic
    drawing: _Drawing
    missing: NDArray[np.int64]

    def where(self, mask: Mask) -> "_Paired":
        names = ("places", "a", "b", "losses", "subjects", "clusters")
        own: dict[str, Any] = {name: getattr(self, name)[mask] for name in names}
        return replace(self, **own)

    @cached_property
    def is_independent(self) -> bool:
        return len(np.unique(self.clusters)) == len(self.clusters)

    @property
    def is_rate(self) -> bool:
        return self.metric.pooled and self.metric.name in self.side.items.weights

    @cached_property
    def is_right_or_wrong(self) -> bool:
        """Whether there is nothing but 0 and 1 for independent items."""
        of_mean = not (self.metric.corpus or self.is_rate)
        return of_mean and self.is_independent and bool(np.isin(self.losses, (0, 1)).all())

    @property
    def figures(self) -> tuple[float, float]:
        sums = [side.sum(axis=0, keepdims=True) for side in (self.a, self.b)]
        return float(self.statistic(sums[0])[0]), float(self.statistic(sums[1])[0])

    @cached_property
    def sizes(self) -> Floats:
        """What each item counts: of a rate the length, else 1."""
        lengths: Floats = (self.a[:, 1] + self.b[:, 1]) / 2
        return np.maximum(1, lengths) if self.is_rate else np.ones(len(self.places))

    def effect(self, name: str = "", over: Over = "questions") -> Effect:
        """Return what B does otherwise, by the interval and the test that fit the figure."""
        items, by_bootstrap, shares = self, None, np.empty(0)
        if over != "questions":
            shares = np.array(weights(over, self.subjects.tolist(), self.side.how.categories))
            items = replace(self, a=self.a * shares[:, None], b=self.b * shares[:, None])
        a, b = items.figures
        gains = self.losses[:, 0] - self.losses[:, 1]
        wins, losses = (int((sign * gains > _SAME).sum()) for sign in (1, -1))
        of_a, of_b = (significance.sum_clusters(own, self.clusters) for own in (items.a, items.b))
        if len(shares) or not self.is_right_or_wrong:
            of_sums = self.metric.corpus or self.is_rate
            test = "approximate randomisation" if of_sums else "paired permutation"
            p_value = significance.randomization_p_value(of_a, of_b, self.statistic, **self.drawing)
        else:
            test, p_value = "exact McNemar", significance.mcnemar_p_value(wins, losses)
        if self.metric.corpus:
            differences = significance.bootstrap_differences(
                of_a, of_b, self.statistic, **self.drawing
            )
            spread = bool(np.ptp(differences))  # none of equal texts, of which it says nothing
            low, high = significance.interval(differences) if spread else (None, None)
            by_bootstrap = significance.bootstrap_p_value(differences, b - a)
        else:
            low, high = self._ends_of_average(b - a, shares) if len(shares) else self._ends(p_value)
        difference = Figure(b - a, low, high, len(gains))
        counts = wins, losses, len(gains) - wins - losses
        return Effect(name, a, b, difference, *counts, p_value, test, None, by_bootstrap)

    def _ends(self, p_value: float | None = None) -> tuple[float, float]:
        if self.is_right_or_wrong:
            up, down = (int((sign * (self.b - self.a)[:, 0] > 0).sum()) for sign in (1, -1))
            return paired_accuracy_interval(up, down, len(self.places))
        # Linearised where the two sides' lengths differ (Cochran 1977, section 6.4).
        a, b = (
            side[:, 0] - figure * (side[:, 1] - self.sizes)
            for side, figure in zip((self.a, self.b), self.figures, strict=True)
        )
        changes = (b - a) / self.sizes
        most = max(1.0, float(np.abs(changes).max()))
        return paired_mean_interval(
            changes, self.clusters, weights=self.sizes, largest=most, p_value=p_value
        )

    def _ends_of_average(self, value: float, shares: Floats) -> tuple[float, float]:
        # Put together from the subjects', whose sizes are no accident (MOVER: Zou and others, 2009,
        # "A note on confidence interval estimation for a linear function of binomial proportions").
        below = above = 0.0
        for subject in np.unique(self.subjects):
            mask = self.subjects == subject
            part, share = self.where(mask), shares[mask].sum()
            (low, high), own = part._ends(), float(np.diff(part.figures)[0])
            below, above = below + (share * (own - low)) ** 2, above + (share * (high - own)) ** 2
        return value - below**0.5, value + above**0.5


def _gate(compared: Comparison, items: _Paired, delta: float) -> NonInferiority:
    """Test that B is not inferior, by what it loses on each item.

    The bound is never below the loss of the figure itself, which is not a mean of what the items
    lose if it is of a corpus, or a rate that may be above 1.
    """
    if one_sided := int((items.missing == 1).sum()):
        raise ComparisonError(
            f"{one_sided:,} items have a value of {items.metric.name} in only one of "
            f"{_file(compared.a)} and {_file(compared.b)}, and no gate is passed by leaving items "
            "out. Run them again, or leave --gate out."
        )
    found = non_inferiority(
        *np.clip(items.losses, 0, 1).T,
        delta=delta / 100,
        clusters=None if items.is_independent else items.clusters,
        weights=items.sizes,
    )
    observed = compared.overall.difference.value * compared.points
    bound = max(100 * found.bound, -observed if items.metric.higher_is_better else observed)
    remarks = {
        "of sentence scores": items.metric.corpus,
        "weighted by length": items.is_rate,
        "rates cut off at 1": bool((items.losses > 1).any()),
        f"{len(np.unique(items.clusters)):,} clusters of items": not items.is_independent,
    }
    method = ", ".join([found.method, *(remark for remark, holds in remarks.items() if holds)])
    return replace(found, bound=bound, passed=bound < delta, method=method)


def _parts(items: _Paired) -> Mapping[str, Sequence[Effect]]:
    """Return the effects on averages, on parts of the task, and on subjects."""
    side, averaging = items.side, items.metric.name
    figures = [own for own in side.figures.values() if own.of == averaging]
    parts = [
        items.where(mask).effect(own.name, own.over)
        for own in figures
        if own.part and (mask := side.items.of_part(own.part)[items.places]).any()
    ]
    present = {*items.subjects.tolist()} - {own.part for own in figures}
    subjects = [own for own in side.subjects if own.name in present and len(present) > 1]
    by_subject = [items.where(items.subjects == own.name).effect(own.name) for own in subjects]
    averages = [items.effect(own.name, own.over) for own in figures if not own.part]
    return {"averages": averages, "parts": _adjusted(parts), "subjects": _adjusted(by_subject)}


def _adjusted(effects: Sequence[Effect]) -> Sequence[Effect]:
    if len(effects) < 2:
        return effects
    adjusted = significance.holm([effect.p_value for effect in effects])
    return [replace(effect, p_by_holm=p) for effect, p in zip(effects, adjusted, strict=True)]


def _match(
    a: Evaluation, b: Evaluation, name: str | None, drawing: _Drawing, *, common: bool = False
) -> _Paired:
    """Match the items of two evaluations; `common` leaves out those that only one of them has."""
    metrics = {metric.name: metric for metric in a.metrics}
    metric = metrics.get(name or a.headline.averages)
    if metric is None:
        raise ComparisonError(
            f"{a.task} has no figure {name!r}; choose one of {', '.join(metrics)}."
        )
    _refuse_other_task_or_data(a, b)
    at, at_b = _places(a, b, common=common)
    _refuse_other_questions(a, b, at, at_b)
    (rows, lost, statistic), (rows_b, lost_b, _) = _rows(a, metric, at), _rows(b, metric, at_b)
    losses = np.column_stack([lost, lost_b])
    missing = np.isnan(losses).sum(axis=1)
    if missing.all():
        raise ComparisonError(
            f"no item has a value for {metric.name} in both {_file(a)} and {_file(b)}. Run them "
            "again with this version, or compare another figure (--metric)."
        )
    known, codes = a.items.subject_codes
    subjects, clusters = known[codes[at]], a.items.clusters[at]
    columns = at, rows, rows_b, losses, subjects, clusters
    return _Paired(metric, a, *columns, statistic, drawing, missing).where(missing == 0)


def _rows(side: Evaluation, metric: Metric, at: _Places) -> tuple[Floats, Floats, Statistic]:
    """Return rows whose sums make a figure, what is lost on each item, and the figure of sums."""
    if metric.corpus:
        if not len(side.items.pairs):
            raise ComparisonError(
                f"{_file(side)} has no texts, and {metric.name} is computed from those of all "
                "items. Run it again with its samples logged (lm-eval: --log_samples)."
            )
        language, pairs = language_of(side.named), [side.items.pairs[place] for place in at]
        outputs, gold, _ = zip(*pairs, strict=True)
        counts, score = sufficient_statistics(metric.name, outputs, gold, language=language)
        own = [sentence_scores(out, ref, language) for out, ref, _ in pairs]
        scores = np.array([each[metric.name] for each in own])
        return counts, 1 - scores / 100, lambda sums: np.array([score(row) for row in sums])
    values = side.items.values.get(metric.name, np.full(len(side.items), np.nan))[at]
    lengths = side.items.weights.get(metric.name) if metric.pooled else None
    if lengths is None and ((values < 0) | (values > 1)).any():
        raise ComparisonError(
            f"{metric.name} is no share from 0 to 1, and it does not say which value of it is "
            "better: compare another figure (--metric)."
        )
    sizes = np.ones(len(at)) if lengths is None else lengths[at]
    errors = values if lengths is None else errors_of(values, sizes)
    losses = 1 - values if metric.higher_is_better else values
    return np.column_stack([errors, sizes]), losses, significance.ratio


def _refuse_other_task_or_data(a: Evaluation, b: Evaluation) -> None:
    first, second = _file(a), _file(b)
    if a.named.entry.name != b.named.entry.name:
        raise ComparisonError(
            f"{first} is of {a.task} and {second} of {b.task}. Compare two runs of one task."
        )
    if a.data != b.data and not (a.is_local and b.is_local):
        raise ComparisonError(
            f"{first} ran on the data {a.data} and {second} on {b.data}, which may be other "
            "questions (local-…: not the recorded files). Run both on the same files."
        )
    if a.version != b.version:
        raise ComparisonError(
            f"{first} is of version {a.version} of {a.task} and {second} of version {b.version}, "
            "which differ. Run both with the same version of hkcanto."
        )


def _refuse_other_questions(a: Evaluation, b: Evaluation, of_a: _Places, of_b: _Places) -> None:
    """Refuse items that are other questions, or have other answers, in spite of their ids."""

    def refuse(other: Mask, what: str) -> None:
        if other.any():
            raise ComparisonError(
                f"{other.sum():,} questions of {_file(a)} and {_file(b)} have another {what}, such "
                f"as {a.items.ids[of_a[other.argmax()]]}: they ran on different data ({a.data}, "
                f"{b.data}). Run both on the same."
            )

    if a.options.get("shuffle_choices") == b.options.get("shuffle_choices"):
        refuse(a.items.golds[of_a] != b.items.golds[of_b], "gold answer")
    # Of files of the user's own, nothing but the questions themselves says that they are equal.
    asked_alike = (a.task, a.options, a.length_unit) == (b.task, b.options, b.length_unit)
    if a.is_local and b.is_local and asked_alike:
        refuse(a.items.question_lengths[of_a] != b.items.question_lengths[of_b], "length")


def _places(a: Evaluation, b: Evaluation, *, common: bool) -> tuple[_Places, _Places]:
    """Return where the items are on each side, in the order of their ids."""
    first, second = _by_name(a.items.ids), _by_name(b.items.ids)
    if first.keys() != second.keys() and not common:
        only = [(first.keys() - second.keys(), a), (second.keys() - first.keys(), b)]
        said = "; ".join(
            f"{len(own):,} items are only in {_file(side)}, as {', '.join(sorted(own)[:_SHOWN])}"
            for own, side in only
            if own
        )
        raise ComparisonError(
            f"the two runs of {a.named.entry.name} do not have the same items: {said}. Run both "
            "with the same limit, subjects and epochs."
        )
    shared = sorted(first.keys() & second.keys())
    if not shared:
        raise ComparisonError(f"{_file(a)} and {_file(b)} have no items: nothing to compare.")
    return np.array([first[name] for name in shared]), np.array([second[name] for name in shared])


def _by_name(ids: Sequence[str]) -> dict[str, int]:
    """Return where each item is, by its id and from the second epoch on by that too."""
    seen: Counter[str] = Counter()
    places = {}
    for place, name in enumerate(ids):
        seen[name] += 1
        places[f"{name} in epoch {seen[name]}" if seen[name] > 1 else name] = place
    return places


def _file(evaluation: Evaluation) -> str:
    return f"{evaluation.label} ({evaluation.sources[0].name})"
