"""Two models on the same items: how much one is better, and how sure that is.

Items are matched by their ids, and what two models answered to the same question is compared pair
by pair, which takes the questions' difficulty out (Miller 2024, "Adding Error Bars to Evals",
section 4.2). What it becomes for people to read is in `comparison_blocks`.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hkcanto_metrics.translation import sentence_scores, sufficient_statistics

from ..averages import weights
from ..corpus_figures import language_of
from ..errors import ComparisonError
from ..records import Metric, Over
from .evaluations import Evaluation
from .figures import errors_of
from .significance import (
    CONFIDENCE,
    Floats,
    Seed,
    Statistic,
    bootstrap_differences,
    bootstrap_p_value,
    holm,
    interval,
    loss_bound,
    loss_bound_of_equals,
    mcnemar_p_value,
    randomization_p_value,
    ratio,
    sum_clusters,
)

SEED, RESAMPLES = 1234, 10_000

_SHOWN = 5
# Two computations of one value may differ in its last digits.
_SAME = 1e-12


@dataclass(frozen=True, slots=True)
class Effect:
    """What B does otherwise than A on some items.

    Attributes:
        name: Of the items: empty for all, else a subject, a category, a further set, or the average
            that it is of (`acc_macro`).
        a: The figure of A, in the unit of the metric.
        b: The figure of B.
        low: Lower end of the 95 % interval of the difference.
        high: Upper end.
        wins: Items on which B is better, whichever way is good.
        losses: Items on which A is better.
        ties: Items on which they are as good as each other.
        p_value: Of `test`, two-sided: no difference between the two.
        test: Which test.
        adjusted: The p-value among those of its family, by Holm; None if it is alone.
        bootstrap_p: Of a corpus figure, sacreBLEU's p-value by bootstrap.
    """

    name: str
    a: float
    b: float
    low: float
    high: float
    wins: int
    losses: int
    ties: int
    p_value: float
    test: str
    adjusted: float | None = None
    bootstrap_p: float | None = None

    @property
    def difference(self) -> float:
        """The figure of B minus that of A."""
        return self.b - self.a

    @property
    def items(self) -> int:
        """Number of items."""
        return self.wins + self.losses + self.ties

    @property
    def p(self) -> float:
        """The p-value to go by: the adjusted one where there are several tests."""
        return self.p_value if self.adjusted is None else self.adjusted


@dataclass(frozen=True, slots=True)
class Gate:
    """A test that B is not inferior to A: it loses less than a tolerance.

    Attributes:
        tolerance: How much B may lose, in points: the δ of the test.
        bound: Upper bound of what B loses, one-sided, at 95 %; in points, negative if B is surely
            better. It is also the tolerance at which the verdict changes.
        method: How the bound was found.
    """

    tolerance: float
    bound: float
    method: str

    @property
    def passed(self) -> bool:
        """Whether B is not inferior: the bound is below the tolerance."""
        return self.bound < self.tolerance


@dataclass(frozen=True, eq=False)
class Comparison:
    """A comparison of two evaluations.

    Attributes:
        a: The one to compare with.
        b: The one that is compared.
        metric: The figure.
        seed: Of the resampling.
        resamples: Number of resamples.
        overall: All items; of an accuracy, every question counts once.
        averages: Means over subjects and over categories.
        categories: By category, as the paper averages it.
        sets: Further sets of items.
        subjects: By subject.
        gate: The test of non-inferiority, on `overall`; None if not asked for.
        unscored: Items left out because one side has no value for them.
    """

    a: Evaluation
    b: Evaluation
    metric: Metric
    seed: int
    resamples: int
    overall: Effect
    averages: Sequence[Effect] = ()
    categories: Sequence[Effect] = ()
    sets: Sequence[Effect] = ()
    subjects: Sequence[Effect] = ()
    gate: Gate | None = None
    unscored: int = 0

    @property
    def points(self) -> float:
        """How many points a unit of the metric is: 100 for fractions, 1 for scores."""
        return 1 if self.metric.unit == "score" else 100

    @property
    def sign(self) -> int:
        """1 if higher is better, else -1."""
        return 1 if self.metric.higher_is_better else -1


@dataclass(frozen=True, slots=True)
class PairwiseComparison:
    """Each of several evaluations compared with each other one.

    Attributes:
        evaluations: What was compared.
        comparisons: (place of A, place of B) → their comparison, over all items; the p-values are
            adjusted for the number of pairs.
    """

    evaluations: Sequence[Evaluation]
    comparisons: Mapping[tuple[int, int], Comparison]


@dataclass(frozen=True, slots=True)
class Partners:
    """Which evaluations of two runs are to be compared.

    Attributes:
        pairs: Of the first run and of the second, in the first run's order.
        without_partner: Those of either run that the other has nothing for.
    """

    pairs: Sequence[tuple[Evaluation, Evaluation]]
    without_partner: Sequence[Evaluation]


def compare(
    a: Evaluation,
    b: Evaluation,
    *,
    metric: str | None = None,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    gate: float | None = None,
) -> Comparison:
    """Compare two evaluations of a task item by item.

    They may differ in model, and in anything about the condition that leaves the items the same:
    shots, prompt, script, chain of thought, scoring.

    Args:
        a: The one to compare with.
        b: The one that is compared.
        metric: A figure of the task's kind; its headline without one.
        seed: Of the resampling, from 0 up.
        resamples: Number of resamples, from 1 up.
        gate: Tolerance in points, for the test that B is not inferior to A.

    Raises:
        ComparisonError: They are of different tasks, data or items, or have no such figure.
    """
    paired = _pair(a, b, _metric(a, metric))
    return _by_parts(_overall(a, b, paired, seed, resamples, gate), paired)


def compare_many(
    evaluations: Sequence[Evaluation],
    *,
    metric: str | None = None,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    gate: float | None = None,
) -> PairwiseComparison:
    """Compare several evaluations of a task pairwise, with p-values adjusted for that (Holm).

    Args:
        evaluations: Two or more; of each pair, the earlier one is A.
        metric: As in `compare`, as are seed and resamples.
        seed: See there.
        resamples: See there.
        gate: Tolerance in points, for the test that none is inferior to the first one.

    Raises:
        ComparisonError: As in `compare`, for any pair.
    """
    places = list(combinations(range(len(evaluations)), 2))
    found = []
    for i, j in places:
        a, b = evaluations[i], evaluations[j]
        paired = _pair(a, b, _metric(a, metric))
        found.append(_overall(a, b, paired, seed, resamples, gate if i == 0 else None))
    adjusted = _adjusted([comparison.overall for comparison in found])
    return PairwiseComparison(
        evaluations,
        {
            place: replace(comparison, overall=effect)
            for place, comparison, effect in zip(places, found, adjusted, strict=True)
        },
    )


def pair_up(a: Sequence[Evaluation], b: Sequence[Evaluation]) -> Partners:
    """Find which evaluations of two runs are to be compared with each other.

    Those of the same task under the same condition; of what is left, the only ones that the two
    runs have of a task, so that a run with chain of thought can be compared with one without.

    Args:
        a: The evaluations of one run.
        b: Those of the other.

    Raises:
        ComparisonError: A run has several models on a task under one condition.
    """
    sides = [_by_condition(a, "first"), _by_condition(b, "second")]
    partner_of = {key: sides[1][key] for key in sides[0] if key in sides[1]}
    alone: list[dict[str, list[object]]] = [defaultdict(list), defaultdict(list)]
    for side, left in zip(sides, alone, strict=True):
        for key, evaluation in side.items():
            if key not in partner_of:
                left[evaluation.named.entry.name].append(key)
    for task, keys in alone[0].items():
        others = alone[1].get(task, [])
        if len(keys) == len(others) == 1:
            partner_of[keys[0]] = sides[1][others[0]]
    taken = {id(evaluation) for evaluation in partner_of.values()}
    return Partners(
        [(side, partner_of[key]) for key, side in sides[0].items() if key in partner_of],
        [side for key, side in sides[0].items() if key not in partner_of]
        + [side for side in sides[1].values() if id(side) not in taken],
    )


@dataclass(frozen=True, eq=False)
class _Paired:
    """The items that both sides have a value for, in an order that does not depend on the sides.

    Attributes:
        metric: The figure.
        a: Rows of A, whose sums make its figure.
        b: Rows of B.
        statistic: What makes a figure of summed rows.
        gains: By how much B is better on each item.
        clusters: As in `Items`, as are subjects.
        subjects: See there.
        sets: Further set of items → which items are in it.
        test: The test of the difference, if it is not McNemar's.
        unscored: Items that one side has no value for.
    """

    metric: Metric
    a: Floats
    b: Floats
    statistic: Statistic
    gains: Floats
    clusters: NDArray[np.int64]
    subjects: NDArray[np.str_]
    sets: Mapping[str, NDArray[np.bool_]]
    test: str
    unscored: int = 0

    def where(self, mask: NDArray[np.bool_]) -> "_Paired":
        """Return a part of the items."""
        return replace(
            self,
            a=self.a[mask],
            b=self.b[mask],
            gains=self.gains[mask],
            clusters=self.clusters[mask],
            subjects=self.subjects[mask],
            sets={name: members[mask] for name, members in self.sets.items()},
        )

    def weighted(self, weights: Floats) -> "_Paired":
        """Return the items with a weight for each."""
        return replace(self, a=self.a * weights[:, None], b=self.b * weights[:, None])

    @property
    def figures(self) -> tuple[float, float]:
        """The figures of A and of B."""
        totals = self.a.sum(axis=0, keepdims=True), self.b.sum(axis=0, keepdims=True)
        return float(self.statistic(totals[0])[0]), float(self.statistic(totals[1])[0])

    @property
    def wins(self) -> int:
        """Items on which B is better."""
        return int((self.gains > _SAME).sum())

    @property
    def losses(self) -> int:
        """Items on which A is better."""
        return int((self.gains < -_SAME).sum())

    @property
    def is_mcnemar(self) -> bool:
        """Whether McNemar's test applies: right or wrong, once for each of independent items."""
        values = np.concatenate([self.a[:, 0], self.b[:, 0]])
        independent = len(np.unique(self.clusters)) == len(self.clusters)
        return self.test == _PERMUTATION and independent and bool(np.isin(values, (0, 1)).all())

    def units(self) -> tuple[Floats, Floats]:
        """Return the rows of A and of B, by independent items."""
        return sum_clusters(self.a, self.clusters), sum_clusters(self.b, self.clusters)

    def resampled(self, resamples: int, seed: Seed) -> Floats:
        """Return the differences on resamples of the items."""
        a, b = self.units()
        return bootstrap_differences(a, b, self.statistic, resamples=resamples, seed=seed)


_PERMUTATION, _RANDOMIZATION, _MCNEMAR = (
    "paired permutation",
    "approximate randomisation",
    "exact McNemar",
)


def _overall(
    a: Evaluation,
    b: Evaluation,
    paired: _Paired,
    seed: int,
    resamples: int,
    tolerance: float | None,
) -> Comparison:
    resampled = paired.resampled(resamples, seed)
    effect = _effect("", paired, resampled, seed)
    if paired.metric.corpus:
        p_value = bootstrap_p_value(resampled, effect.difference)
        effect = replace(effect, bootstrap_p=p_value)
    found = Comparison(a, b, paired.metric, seed, resamples, effect, unscored=paired.unscored)
    if tolerance is None:
        return found
    bound, method = _loss_bound(paired, resampled, found.sign)
    return replace(found, gate=Gate(tolerance, bound * found.points, method))


def _by_parts(found: Comparison, paired: _Paired) -> Comparison:
    """Add what a comparison says of averages, categories, sets and subjects."""
    sizes = Counter(paired.subjects.tolist())
    subjects = [subject for subject in found.a.subjects if subject.name and sizes[subject.name]]

    def resampled(part: _Paired, *place: int) -> Floats:
        return part.resampled(found.resamples, [found.seed, *place])

    def family(parts: Iterable[tuple[str, _Paired]], number: int) -> list[Effect]:
        return _adjusted(
            [
                _effect(name, part, resampled(part, number, i), found.seed)
                for i, (name, part) in enumerate(parts)
            ]
        )

    if found.metric.corpus:
        return found
    present = {name: members for name, members in paired.sets.items() if members.any()}
    of_sets = family(((name, paired.where(members)) for name, members in present.items()), 1)
    if len(subjects) < 2:
        return replace(found, sets=of_sets)
    parts = {subject.name: paired.where(paired.subjects == subject.name) for subject in subjects}
    draws = {name: resampled(part, 0, i) for i, (name, part) in enumerate(parts.items())}
    by_subject = [_effect(name, part, draws[name], found.seed) for name, part in parts.items()]
    categories = {
        category: paired.where(
            np.isin(paired.subjects, [each.name for each in subjects if each.category == category])
        )
        for category in dict.fromkeys(subject.category for subject in subjects if subject.category)
    }

    def mean_over(name: str, over: Over, part: _Paired) -> Effect:
        # Resampled within each subject: how many questions a subject has is no accident.
        shares = np.array(weights(over, part.subjects.tolist(), found.a.how.categories))
        drawn = np.sum(
            [shares[part.subjects == own].sum() * draws[own] for own in np.unique(part.subjects)],
            axis=0,
        )
        return _effect(name, part.weighted(shares), drawn, found.seed)

    averages = [
        figure
        for figure in found.a.how.figures
        if figure.averages == found.metric.name and figure.over != "questions" and not figure.part
    ]
    if any(figure.over == "categories" for figure in averages):  # of the means over subjects
        of_categories = _adjusted(
            [mean_over(name, "subjects", part) for name, part in categories.items()]
        )
    else:
        of_categories = family(categories.items(), 2)
    return replace(
        found,
        averages=[mean_over(figure.name, figure.over, paired) for figure in averages],
        categories=of_categories,
        sets=of_sets,
        subjects=_adjusted(by_subject),
    )


def _effect(name: str, paired: _Paired, resampled: Floats, seed: int) -> Effect:
    a, b = paired.figures
    low, high = interval(resampled)
    if paired.is_mcnemar:
        test, p_value = _MCNEMAR, mcnemar_p_value(paired.wins, paired.losses)
    else:
        test = paired.test
        p_value = randomization_p_value(
            *paired.units(), paired.statistic, resamples=len(resampled), seed=seed
        )
    ties = len(paired.gains) - paired.wins - paired.losses
    return Effect(name, a, b, low, high, paired.wins, paired.losses, ties, p_value, test)


def _adjusted(effects: Sequence[Effect]) -> list[Effect]:
    if len(effects) < 2:
        return list(effects)
    adjusted = holm([effect.p_value for effect in effects])
    return [replace(effect, adjusted=p) for effect, p in zip(effects, adjusted, strict=True)]


def _loss_bound(paired: _Paired, resampled: Floats, sign: int) -> tuple[float, str]:
    """Return the one-sided upper bound of B's loss in the unit of the metric, and its method."""
    if paired.is_mcnemar:
        bound = loss_bound(paired.losses, paired.wins, len(paired.gains))
        return bound, "Tango's score interval"
    if paired.test == _PERMUTATION and not paired.gains.any():
        bound = loss_bound_of_equals(len(np.unique(paired.clusters)))
        return bound, "exact binomial bound, all items being equal"
    return float(np.quantile(-sign * resampled, CONFIDENCE)), "paired bootstrap"


def _metric(evaluation: Evaluation, name: str | None) -> Metric:
    name = name or evaluation.headline.averages
    known = {metric.name: metric for metric in evaluation.metrics}
    if name not in known:
        raise ComparisonError(
            f"{evaluation.task} has no figure {name!r}; choose one of {', '.join(known)}."
        )
    return known[name]


def _pair(a: Evaluation, b: Evaluation, metric: Metric) -> _Paired:
    """Match the items of two evaluations.

    Raises:
        ComparisonError: There is a reason not to compare them.
    """
    _refuse_other_task_or_data(a, b)
    refuse_other_version(a, b)
    places = _places(a, b)
    _refuse_other_questions(a, b, *places)
    if metric.corpus:
        return _pair_of_corpora(a, b, metric, *places)
    values = [_values(side, metric)[place] for side, place in zip((a, b), places, strict=True)]
    scored = ~(np.isnan(values[0]) | np.isnan(values[1]))
    if not scored.any():
        raise ComparisonError(
            f"no item has a value for {metric.name} in both {_file(a)} and {_file(b)}. Compare "
            "another figure (--metric)."
        )
    rows = []
    for side, place, of_side in zip((a, b), places, values, strict=True):
        if metric.name in side.items.weights:
            weights = side.items.weights[metric.name][place]
            rows.append(np.column_stack([errors_of(of_side, weights), weights]))
        elif np.nanmax(of_side) > 1 or np.nanmin(of_side) < 0:
            raise ComparisonError(
                f"{metric.name} is no share from 0 to 1, and it does not say which value of it is "
                "better: compare another figure (--metric)."
            )
        else:
            rows.append(np.column_stack([of_side, np.ones(len(of_side))]))
    sign = 1 if metric.higher_is_better else -1
    is_rate = metric.name in a.items.weights
    return _Paired(
        metric,
        rows[0],
        rows[1],
        ratio,
        sign * (values[1] - values[0]),
        a.items.clusters[places[0]],
        np.asarray(a.items.subjects, np.str_)[places[0]],
        _sets(a, places[0]),
        _RANDOMIZATION if is_rate else _PERMUTATION,
        int((~scored).sum()),
    ).where(scored)


def _pair_of_corpora(
    a: Evaluation,
    b: Evaluation,
    metric: Metric,
    place_a: NDArray[np.intp],
    place_b: NDArray[np.intp],
) -> _Paired:
    language = language_of(a.named)
    rows: list[Floats] = []
    sentences: list[Floats] = []
    score: Callable[[Floats], float]
    for side, places in ((a, place_a), (b, place_b)):
        if not len(side.items.pairs):
            raise ComparisonError(
                f"{_file(side)} has no texts, and {metric.name} is computed from those of all "
                "items. Run it again with its samples logged (lm-eval: --log_samples)."
            )
        pairs = [side.items.pairs[place] for place in places]
        texts = [p.hypothesis for p in pairs], [p.reference for p in pairs]
        counted, score = sufficient_statistics(metric.name, *texts, language=language)
        rows.append(counted)
        sentences.append(
            np.array(
                [sentence_scores(*pair, language)[metric.name] for pair in zip(*texts, strict=True)]
            )
        )

    def statistic(sums: Floats) -> Floats:
        return np.array([score(row) for row in sums])

    return _Paired(
        metric,
        rows[0],
        rows[1],
        statistic,
        sentences[1] - sentences[0],
        a.items.clusters[place_a],
        np.asarray(a.items.subjects, np.str_)[place_a],
        _sets(a, place_a),
        _RANDOMIZATION,
    )


def _sets(side: Evaluation, places: NDArray[np.intp]) -> Mapping[str, NDArray[np.bool_]]:
    """Return the parts of the task that are no categories or subjects."""
    others = {each for subject in side.named.subjects for each in (subject.name, subject.category)}
    names = dict.fromkeys(name for parts in side.items.parts for name in parts)
    return {name: side.items.of_part(name)[places] for name in names if name not in others}


def _values(side: Evaluation, metric: Metric) -> Floats:
    values = side.items.values.get(metric.name)
    if values is None:
        raise ComparisonError(
            f"{_file(side)} has no values of {metric.name} for its items. Run it again with this "
            "version, or compare another figure (--metric)."
        )
    return values


def _refuse_other_task_or_data(a: Evaluation, b: Evaluation) -> None:
    if a.named.entry.name != b.named.entry.name:
        raise ComparisonError(
            f"{_file(a)} is of {a.task} and {_file(b)} of {b.task}: these have other questions. "
            "Compare two runs of one task."
        )
    if a.data != b.data and not (a.is_local and b.is_local):
        raise ComparisonError(
            f"{_file(a)} ran on the data {a.data} and {_file(b)} on {b.data}, so the same id may "
            "stand for another question (local-… is the content of files that are not the "
            "recorded ones). Run both on the same files."
        )


def refuse_other_version(a: Evaluation, b: Evaluation) -> None:
    """Refuse to compare two versions of a task.

    Raises:
        ComparisonError: They are of two.
    """
    if a.version != b.version:
        raise ComparisonError(
            f"{_file(a)} is of version {a.version} of {a.task} and {_file(b)} of version "
            f"{b.version}: prompts, scoring or averages differ (v: in the signatures). Run both "
            "with the same version of hkcanto."
        )


def _refuse_other_questions(
    a: Evaluation, b: Evaluation, places_a: NDArray[np.intp], places_b: NDArray[np.intp]
) -> None:
    """Refuse items that are other questions, or have other answers, in spite of their ids."""
    golds = a.items.golds[places_a], b.items.golds[places_b]
    other = np.flatnonzero(golds[0] != golds[1])
    if len(other) and a.options.get("shuffle_choices") == b.options.get("shuffle_choices"):
        example = a.items.ids[places_a[other[0]]]
        raise ComparisonError(
            f"{len(other):,} questions of {_file(a)} and {_file(b)} have another gold answer, such "
            f"as {example}: they ran on different data ({a.data}, {b.data}). Run both on the same."
        )
    # Of files of the user's own, nothing but the questions themselves says that they are equal.
    asked_alike = (a.task, a.options, a.length_unit) == (b.task, b.options, b.length_unit)
    if not (a.is_local and b.is_local and asked_alike):
        return
    lengths = a.items.question_lengths[places_a], b.items.question_lengths[places_b]
    differing = np.flatnonzero(lengths[0] != lengths[1])
    if len(differing):
        example = a.items.ids[places_a[differing[0]]]
        raise ComparisonError(
            f"{len(differing):,} questions of {_file(a)} and {_file(b)} have another length, such "
            f"as {example}: they ran on different files ({a.data}, {b.data}). Run both on the same."
        )


def _places(a: Evaluation, b: Evaluation) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where the items are on each side, in the order of their ids."""
    keys = _keys(a.items.ids), _keys(b.items.ids)
    of_both = set(keys[0]), set(keys[1])
    if of_both[0] != of_both[1]:
        only = [
            f"{len(missing):,} items are only in {_file(side)}{_listed(missing)}"
            for side, missing in ((a, of_both[0] - of_both[1]), (b, of_both[1] - of_both[0]))
        ]
        raise ComparisonError(
            f"the two runs of {a.named.entry.name} do not have the same items: "
            f"{'; '.join(only)}. Run both with the same limit, subjects and epochs."
        )
    if not keys[0]:
        raise ComparisonError(f"{_file(a)} and {_file(b)} have no items: nothing to compare.")
    first, second = (
        np.array(sorted(range(len(side)), key=side.__getitem__), np.intp) for side in keys
    )
    return first, second


def _keys(ids: Sequence[str]) -> list[tuple[str, int]]:
    """Return ids that are unique: with the epoch, by order."""
    seen: Counter[str] = Counter()
    keys = []
    for name in ids:
        keys.append((name, seen[name]))
        seen[name] += 1
    return keys


def _listed(keys: Iterable[tuple[str, int]]) -> str:
    found = sorted(keys)
    names = [name if not epoch else f"{name} in epoch {epoch + 1}" for name, epoch in found]
    more = ", …" if len(names) > _SHOWN else ""
    return f" ({', '.join(names[:_SHOWN])}{more})" if names else ""


def _file(evaluation: Evaluation) -> str:
    """Name an evaluation by its model and its file."""
    return f"{evaluation.label} ({evaluation.sources[0].name})"


def _by_condition(evaluations: Sequence[Evaluation], which: str) -> dict[object, Evaluation]:
    found: dict[object, Evaluation] = {}
    for evaluation in evaluations:
        key = evaluation.comparable_as
        if key in found:
            raise ComparisonError(
                f"the {which} run has both {_file(found[key])} and {_file(evaluation)} on "
                f"{evaluation.task}, {evaluation.condition}: which of them is meant? Give a folder "
                "with one model in it."
            )
        found[key] = evaluation
    return found
