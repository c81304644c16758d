"""Paired comparison of two runs: differences with intervals, significance tests, and gates.

Items are matched by id, and the two answers to an item are compared as a pair, which removes the
items' difficulty from the variance (Miller 2024, "Adding Error Bars to Evals", section 4.2).
`reports.compare` puts the results into words.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
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
    of_parts = _parts(items, a) if parts and items.figure.form != "corpus" else {}
    made = Comparison(a, b, items.figure, items.effect(), of_parts, items.unscored, None)
    if gate is None:
        return made
    return replace(made, gate=_gate(made, items, gate, confidence, allowed))


def pairwise(
    runs: Sequence[Run], *, gate: float | None = None, **options: Any
) -> Sequence[Comparison]:
    """Compare each run with each later one; if there are more than two, over all items only.

    The p-values are adjusted for the number of pairs (Holm). The options are those of `compare`;
    the gate tests that no run is inferior to the first.
    """
    options["parts"] = len(runs) == 2
    gates = ((a, b, gate if a is runs[0] else None) for a, b in combinations(runs, 2))
    found = [compare(a, b, gate=tolerance, **options) for a, b, tolerance in gates]
    overall = adjusted([comparison.overall for comparison in found])
    return [replace(one, overall=effect) for one, effect in zip(found, overall, strict=True)]


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
    losses: Floats  # of each side on each item, 0 is best; for a corpus, by sentence scores
    subjects: NDArray[np.str_]
    clusters: NDArray[np.int64]
    drawing: Mapping[str, Any]  # the resampling's seed and number
    statistic: Statistic = significance.ratio
    categories: Mapping[str, str] | None = None  # of the subjects
    unscored: int = 0  # items left out because a side has no value for them
    one_sided: int = 0  # those of them for which the other side has a value

    def where(self, mask: NDArray[np.bool_]) -> "Paired":
        """Return some of the items."""
        names = ("places", "a", "b", "losses", "subjects", "clusters")
        columns: dict[str, Any] = {name: getattr(self, name)[mask] for name in names}
        return replace(self, **columns)

    def of(self, figure: Figure) -> "Paired":
        """Return the same items under another average of the same values."""
        return replace(self, figure=figure)

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
        is_plain = self.figure.form == "mean" and self.figure.over == "questions"
        independent = self.units == len(self.losses)
        return is_plain and independent and bool(np.isin(self.losses, (0, 1)).all())

    def figures(self) -> list[float]:
        """Return the figure of each side."""
        scale = self.shares[:, None]
        sums = [(side * scale).sum(axis=0, keepdims=True) for side in (self.a, self.b)]
        return [float(self.statistic(total)[0]) for total in sums]

    def effect(self, name: str = "") -> Effect:
        """Return how B differs from A, with the interval and test that fit the figure."""
        figure, count, (a, b) = self.figure, len(self.losses), self.figures()
        gains = self.losses[:, 0] - self.losses[:, 1]
        wins, losses = int((gains > _SAME).sum()), int((gains < -_SAME).sum())
        scaled = (side * self.shares[:, None] for side in (self.a, self.b))
        units_a, units_b = (sum_clusters(rows, self.clusters) for rows in scaled)
        if self.is_right_or_wrong:
            test, p_value = "exact McNemar", significance.mcnemar_p_value(wins, losses)
            up, down = (wins, losses) if figure.higher_is_better else (losses, wins)
            ends = intervals.paired_accuracy_interval(up, down, count)
        else:
            test = "approximate randomisation" if figure.form == "corpus" else "paired permutation"
            of: dict[str, Any] = {"statistic": self.statistic}
            p_value = significance.randomization_p_value(units_a, units_b, **of, **self.drawing)
            if figure.form == "corpus":
                changes = pseudo_values(units_b, **of) - pseudo_values(units_a, **of)
                changes += b - a - changes.mean()
                most = max(100 / points_of(figure), float(np.abs(changes).max()))
                ends = intervals.paired_mean_interval(changes, largest=most)
            else:
                ends = self._ends(a, b)
        ends = intervals.agreeing(ends, p_value, b - a)
        unseen = intervals.UNSEEN if figure.unlimited else ""
        difference, ties = Estimate(b - a, *ends, count, unseen), count - wins - losses
        return Effect(name, a, b, difference, wins, losses, ties, p_value, test)

    def _ends(self, a: float, b: float) -> tuple[float, float]:
        if self.figure.over == "questions":
            # Linearised if the two sides' lengths differ (Cochran 1977, section 6.4).
            sizes = self.sizes
            of_a, of_b = (
                side[:, 0] - value * (side[:, 1] - sizes)
                for side, value in ((self.a, a), (self.b, b))
            )
            changes = (of_b - of_a) / sizes
            of: dict[str, Any] = {"weights": sizes, "largest": max(1.0, np.abs(changes).max())}
            return intervals.paired_mean_interval(changes, self.clusters, **of)
        # Tango's interval, for the number of draws with the stratified mean's variance.
        changes, shares = self.b[:, 0] - self.a[:, 0], self.shares / len(self.a)
        gained, lost = (float(shares @ np.maximum(sign * changes, 0)) for sign in (1, -1))
        variance = gained + lost - (gained - lost) ** 2
        strata = np.unique(self.subjects, return_inverse=True)[1]
        draws = intervals.effective_draws(changes, shares, self.clusters, variance, strata)
        return intervals.tango_interval(gained, lost, draws)


def _parts(items: Paired, run: Run) -> Mapping[str, Sequence[Effect]]:
    """Return the effects on other averages, on parts of the task, and on subjects."""
    figure = items.figure
    alike = [other for other in run.figures.values() if other.averages == figure.averages]
    averages, parts = list[Effect](), list[Effect]()
    for other in alike if not figure.part else ():
        if other.part:
            mask = run.items.of_part(other.part)[items.places]
            parts += [items.where(mask).of(other).effect(other.name)] if mask.any() else []
        elif other is not figure:
            averages.append(items.of(other).effect(other.name))
    # A subject that is a part is not repeated.
    present = {*items.subjects.tolist()} - {other.part for other in alike}
    names = [each.name for each in run.subjects if each.name in present and len(present) > 1]
    plain = items.of(replace(figure, over="questions"))
    subjects = [plain.where(items.subjects == name).effect(name) for name in names]
    return {"averages": averages, "parts": adjusted(parts), "subjects": adjusted(subjects)}


def _gate(
    made: Comparison, items: Paired, delta: float, confidence: float, allowed: Collection[str]
) -> NonInferiority:
    """Test that B is not inferior, from its loss on each item.

    The bound is never below the loss of the figure itself, which differs from the items' mean loss
    for a corpus figure. Of a figure without an upper limit it is a bound on what is left if each
    answer's rate is cut off at 1, since no sample bounds how long a runaway answer may be. Subjects
    with equal weight are strata: their numbers of items, and so the items' weights, are fixed.
    Other weights are those of a whole task, or all equal (see `_not_gated`).

    Raises:
        ComparisonError: A gate cannot test these items.
    """
    a, b, figure, ids = made.a, made.b, made.figure, np.array(made.a.items.ids)[items.places]
    _, first, questions = np.unique(ids, return_index=True, return_inverse=True)
    # By how much the variance grows if all questions on a passage go the same way.
    passages = np.unique(items.clusters[first], return_counts=True)[1]
    design_effect = float((passages**2).sum() / passages.sum())
    for why in _not_gated(items, a, b, allowed, design_effect):
        raise ComparisonError(f"{a.definition.title}, {b.label} against {a.label}: {why}")
    singly = a.limited and not a.complete and design_effect <= _SINGLY
    clusters = questions if singly else items.clusters
    found = intervals.non_inferiority(
        *items.losses.T,
        delta=delta / 100,
        clusters=clusters,
        weights=items.sizes,
        largest=sum_clusters(items.sizes[:, None], clusters).max(),
        confidence=confidence,
    )
    loss = made.overall.difference.times(-1 if figure.higher_is_better else 1).value
    bound = max(100 * found.bound, loss * points_of(figure))
    remarks = {
        found.method: True,
        "of sentence scores": figure.of_texts,
        "weighted as the figure weighs items": figure.over != "questions",
        "weighted by length": figure.form == "rate",
        "each answer's rate cut off at 1": figure.unlimited,
        f"{items.units:,} clusters of items": not singly and items.units < len(ids),
    }
    method = ", ".join(remark for remark, holds in remarks.items() if holds)
    return replace(found, bound=bound, passed=bound < delta, method=method)


def _not_gated(
    items: Paired, a: Run, b: Run, allowed: Collection[str], design_effect: float
) -> Iterator[str]:
    """Yield reasons why a gate cannot test these items of A and B."""
    figure, is_rate = items.figure, items.figure.form == "rate"
    name, unlike = figure.name, a.differs(b)
    if refused := ", ".join(part for part in unlike if part not in allowed):
        yield (
            f"the runs differ in {refused}, but a gate is for runs under one setup. Run both under "
            f"the same setup, or pass --allow-differences {','.join(unlike)}."
        )
    if figure.labels:
        why = f"{name} has no bound: the weight of one answer depends on all others"
        yield f"{why}. Gate another figure (--metric acc)."
    if above := int((items.losses > 1).any(axis=1).sum()):
        yield (
            f"{above:,} items have a {name} above 1, and of such answers there may be more and "
            f"longer ones than the sample has: nothing bounds {name}. Gate a figure that is at "
            "most 1 (--metric cer_published), or find out why the answers run away."
        )
    leaving_out = "and a gate cannot pass by leaving items out"
    for side in (a, b):
        if side.unfinished:
            why = f"{side.label} on {side.task}: {side.unfinished}"
            yield f"{why}, {leaving_out}. Run it again, or finish it."
    if items.one_sided:
        why = f"{items.one_sided:,} items have a value of {name} in only one of {a.label} and"
        yield f"{why} {b.label}, {leaving_out}. Run them again."
    if a.complete or not (a.limited or b.limited):
        return
    if is_rate or design_effect > _SINGLY:
        what = "length of an item" if is_rate else "number of questions on a passage"
        other = ", or gate a figure in which all items count alike (--metric)" if is_rate else ""
        yield (
            f"a part of the task does not show the largest {what}, and without that a bound on "
            f"{name} does not hold. Run the task without a limit{other}."
        )
    every, present, why = a.setup.task.subjects, a.subjects, ""
    of_part = (each for each in every if figure.part in ("", *parts_of(a.setup.task, each)))
    absent = [each.name for each in of_part if each not in present]
    if not a.trusted_data:  # the sizes of its subjects are not published
        return
    if figure.over == "questions" and not (a.in_proportion(every) or a.in_proportion(present)):
        why = "the items are not in proportion to the sizes of the subjects"
    if figure.over != "questions" and sum(map(a.expected_of, present)) != a.available and absent:
        why = f"there is no item of {', '.join([*absent[:5], *(['…'] if absent[5:] else [])])}"
    if why:
        yield (
            f"{why}, so {name} does not represent the whole task. Run it without a limit, or with "
            "a larger one for all subjects together."
        )


def adjusted(effects: Sequence[Effect]) -> Sequence[Effect]:
    """Return a family of effects; if there are several, their p-values are adjusted by Holm."""
    if len(effects) < 2:
        return effects
    p_values = significance.holm([effect.p_value for effect in effects])
    return [replace(effect, p_by_holm=p) for effect, p in zip(effects, p_values, strict=True)]


def match(a: Run, b: Run, name: str | None, drawing: Mapping[str, Any]) -> Paired:
    """Match the items of two runs."""
    first, second = (f"{side.label} ({side.sources[0].name})" for side in (a, b))
    figure = a.figures.get(name) if name else a.headline
    if figure is None:
        choice = ", ".join(a.figures)
        raise ComparisonError(f"{a.task} has no figure {name!r}; choose one of {choice}.")
    if interrupted := a.interruption or b.interruption:
        raise ComparisonError(interrupted)
    local = a.is_local and b.is_local
    for what in ["task", "version"] if local else ["task", "data", "version"]:
        one, other = (s.definition.name if what == "task" else getattr(s, what) for s in (a, b))
        if one != other:
            both = f"{first} has {what} {one}, {second} has {other}"
            raise ComparisonError(f"{both}: run both on the same {what}.")
    in_a, in_b = a.items.places, b.items.places
    if in_a.keys() != in_b.keys():
        only = (first, in_a.keys() - in_b.keys()), (second, in_b.keys() - in_a.keys())
        said = "; ".join(
            f"{len(ids):,} items are only in {file}, such as {', '.join(sorted(ids)[:5])}"
            for file, ids in only
            if ids
        )
        raise ComparisonError(
            f"the two runs of {a.definition.name} do not have the same items: {said}. Run both "
            "with the same limit, subjects and epochs."
        )
    names = sorted(in_a)
    at, at_b = (np.array([places[name] for name in names], np.intp) for places in (in_a, in_b))
    others = np.zeros(len(names), np.bool_)
    if a.options.get("shuffle_choices") == b.options.get("shuffle_choices"):
        others |= a.items.golds[at] != b.items.golds[at_b]
    # For the user's own files, only the questions themselves show whether the data is the same.
    if local and (a.task, a.options) == (b.task, b.options):
        others |= a.items.question_lengths[at] != b.items.question_lengths[at_b]
    if others.any():
        raise ComparisonError(
            f"{others.sum():,} items differ in gold answer or length between {first} and "
            f"{second}, such as {names[others.argmax()]}: run both on the same data."
        )
    (rows, loss, statistic), (rows_b, loss_b, _) = _rows(a, figure, at), _rows(b, figure, at_b)
    losses = np.column_stack([loss, loss_b])
    missing = np.isnan(losses).sum(axis=1)
    kept = missing == 0
    if figure.part:
        kept &= a.items.of_part(figure.part)[at]
    if not kept.any():
        raise ComparisonError(
            f"no item has a value for {figure.name} in both {first} and {second}. Run them again "
            "with this version, or compare another figure (--metric)."
        )
    subjects, codes = a.items.subject_codes
    columns = at, rows, rows_b, losses, subjects[codes[at]], a.items.clusters[at]
    more = statistic, a.setup.categories, int((missing > 0).sum()), int((missing == 1).sum())
    return Paired(figure, *columns, drawing, *more).where(kept)


def _rows(side: Run, figure: Figure, at: NDArray[np.intp]) -> tuple[Floats, Floats, Statistic]:
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
