"""Paired comparison of two runs: differences with intervals, significance tests, and gates.

`matching` pairs the items, and `reports.compare` puts the results into words.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from textwrap import shorten
from typing import Any, NamedTuple

import numpy as np

from ... import figures
from ...errors import ComparisonError, did_you_mean
from ...figures import Figure, sum_clusters
from ...messages import joined, named, say, sentences
from ..runs import UNREAD, Run
from . import intervals
from .intervals import CONFIDENCE, WORSE_CONFIDENCE, NonInferiority, loss_bound
from .matching import RESAMPLES, SEED, Effect, Paired, Resampling, match, points_of
from .power import items_for_bound, observed_spread, unlucky_bound
from .selection import Selection, selection
from .validity import UnreadRun, unread_run

# Below this design effect, a limited run's questions on one passage count as independent. A gate
# at 5 % then passes falsely in at most 5.2 %, even if all questions on a passage go the same way.
_NEGLIGIBLE_DESIGN_EFFECT = 1.02


@dataclass(frozen=True)
class Prospect:
    """What more items would say if two runs that disagree as these do were equally good.

    Attributes:
        needed_items: Number of items that pass the gate in 80 of 100 cases; None if no number does.
        task_items: Number of items of the whole task.
        decidable: The smallest tolerance in points that the whole task passes in 80 of 100 cases.
    """

    needed_items: int | None
    task_items: int
    decidable: float


class GateErrors(NamedTuple):
    """The confidence of a gate's bounds, higher if several tests share the errors."""

    confidence: float = CONFIDENCE
    worse_confidence: float = WORSE_CONFIDENCE


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
    #: the figure's gate, with its bounds in points; None without one
    gate: NonInferiority | None
    prospect: Prospect | None  # None unless the gate is undecided
    unread: Sequence[UnreadRun] = ()  # runs whose answers say nothing about the model

    @property
    def points(self) -> int:
        """The number of points in one unit of the figure."""
        return points_of(self.figure)


_GATE_ERRORS = GateErrors()


def compare(
    a: Run,
    b: Run,
    *,
    metric: str | None = None,
    gate: float | None = None,
    errors: GateErrors = _GATE_ERRORS,
    allowed: Collection[str] = (),
    seed: int = SEED,
    resamples: int = RESAMPLES,
    parts: bool = True,
    tests: int = 1,
    race: Selection | None = None,
) -> Comparison:
    """Compare two runs of a task item by item; they may differ in model and setup.

    Args:
        a: The baseline.
        b: The run to compare with it.
        metric: A figure of the task, such as `acc_macro`; by default its headline.
        gate: Tolerance in points, up to 100, for the test that B is not inferior to A.
        errors: Confidence of the gate's bounds.
        allowed: Parts of the signature in which the runs may differ under a gate, such as `shots`.
        seed: Seed of the resampling, at least 0.
        resamples: Number of resamples, at least 1.
        parts: Whether to compare averages, categories and subjects too.
        tests: Number of tests, such as tasks, that share the 5 % error of the difference.
        race: More than two runs that are compared with each other, if these are two of them.

    Raises:
        ComparisonError: The runs have different tasks, data or items, or lack the figure. With a
            gate, also if an item has a value on one side only, if the runs differ in a part of the
            signature that is not allowed, or if their items cannot bound the figure.
    """
    resampling = Resampling(seed, resamples)
    items = match(
        a,
        b,
        metric,
        resampling,
    )
    further: Mapping[str, Sequence[Effect]] = {}
    if parts and items.figure.form != "corpus":
        further = _further_effects(items, a, tests)
    tested = None
    prospect = None
    unread = []
    if items.figure.name not in UNREAD:
        unread = [*filter(None, map(unread_run, (a, b)))]
    if gate is not None and not unread:
        tested = _gate(
            items,
            a,
            b,
            gate,
            errors,
            allowed,
        )
        if tested.answer == "undecided":
            prospect = _prospect(
                items,
                a,
                gate,
                errors.confidence,
            )
    if race is not None and {a, b} <= race.items.keys():
        overall = race.effect(a, b, resampling)
    else:
        overall = items.effect(tests=tests)
    return Comparison(
        a,
        b,
        items.figure,
        overall,
        further,
        items.unscored,
        tested,
        prospect,
        unread,
    )


def pairwise(
    runs: Sequence[Run],
    *,
    gate: float | None = None,
    tests: int = 1,
    metric: str | None = None,
    **options: Any,
) -> tuple[Sequence[Comparison], Sequence[str]]:
    """Compare each run with each later one; if there are more than two, over all items only.

    The pairs share the error of 5 %, with those of other tasks (`tests` times). The differences of
    more than two runs are those of `selection`. The other options are those of `compare`; the gate
    tests that no run is inferior to the first.

    Returns:
        The comparisons, and why the other pairs cannot be compared, each reason once.
    """
    options |= {"metric": metric, "tests": tests, "parts": len(runs) == 2}
    if len(runs) > 2:
        options["race"] = selection(tuple(runs), tests, metric)
    comparisons = []
    refused: dict[str, None] = {}
    for a, b in combinations(runs, 2):
        tolerance = gate if a is runs[0] else None
        try:
            comparisons.append(
                compare(
                    a,
                    b,
                    gate=tolerance,
                    **options,
                )
            )
        except ComparisonError as error:
            refused[error.args[0]] = None
    return comparisons, [*refused]


def _further_effects(
    items: Paired, run: Run, tests: int
) -> Mapping[str, Sequence[Effect]]:
    """Return the effects on other averages, on parts of the task, and on subjects."""
    figure = items.figure
    alike = [
        other for other in run.figures.values() if other.averages == figure.averages
    ]
    averages = []
    parts = []
    # A part has no averages and parts of its own.
    for other in () if figure.part else alike:
        if other.part:
            mask = run.items.part_mask(other.part)[items.positions]
            if mask.any():
                parts.append(replace(items.where(mask), figure=other))
        elif other is not figure:
            averages.append(replace(items, figure=other).effect(other.name, tests))
    # A subject that is a part is not repeated.
    names = {*items.subjects.tolist()} - {other.part for other in alike}
    return {
        "averages": averages,
        "parts": [part.effect(part.figure.name, len(parts)) for part in parts],
        "subjects": _subject_effects(items, run, names),
    }


def _subject_effects(
    items: Paired,
    run: Run,
    names: Collection[str],
) -> list[Effect]:
    if len(names) < 2:
        return []
    plain = replace(items, figure=replace(items.figure, over="questions"))
    return [
        plain.where(items.subjects == subject.name).effect(subject.name, len(names))
        for subject in run.subjects
        if subject.name in names
    ]


# ---------------------------------------------------------------------- gates


def _gate(
    items: Paired,
    a: Run,
    b: Run,
    delta: float,
    errors: GateErrors,
    allowed: Collection[str],
) -> NonInferiority:
    """Test whether B is inferior, from its loss on each item.

    A corpus figure is bounded by the scores of sentences and by their pseudo-values, whichever
    bound is farther. A rate without an upper limit is tested only if no answer's is above 1, since
    no sample bounds how long a runaway answer may be. Subjects with equal weight are strata: their
    numbers of items, and so the items' weights, are fixed. Other weights are those of a whole task,
    or all equal (see `_sample_refusal`).

    Raises:
        ComparisonError: A gate cannot test these items.
    """
    ids = np.array(a.items.ids)[items.positions]
    _, first, questions = np.unique(ids, return_index=True, return_inverse=True)
    # By how much the variance grows if all questions on a passage go the same way.
    passages = np.unique(items.clusters[first], return_counts=True)[1]
    design_effect = float((passages**2).sum() / passages.sum())
    refusal = (
        _setup_refusal(a, b, allowed)
        or _figure_refusal(items)
        or _missing_refusal(items, a, b)
        or _sample_refusal(
            items.figure,
            a,
            b,
            design_effect,
        )
    )
    if refusal:
        raise ComparisonError(
            say(
                "{task}, {model} against {other}: {refusal}",
                task=named(a.definition.title, a.definition.chinese),
                model=b.label,
                other=a.label,
                refusal=refusal,
            )
        )

    clusters = items.clusters
    clustered = items.units < len(ids)
    if a.limited and not a.complete and design_effect <= _NEGLIGIBLE_DESIGN_EFFECT:
        clusters = questions
        clustered = False
    items = replace(items, clusters=clusters)
    tested = gate_test(items, delta, errors)
    remarks = [say(tested.method), *_gate_remarks(items)]
    if clustered:
        remarks.append(say("{number:,} clusters of items", number=items.units))
    return replace(tested, method=joined(", ", remarks))


def gate_test(
    items: Paired,
    delta: float,
    errors: GateErrors = _GATE_ERRORS,
    largest: float | None = None,
) -> NonInferiority:
    """Return a gate's test of some items, with its bounds in points.

    No bound contradicts the loss of the figure itself, which may differ from the items' mean loss.

    Args:
        items: Values of two runs, with a cluster for each independent unit.
        delta: Tolerance in points.
        errors: Confidence of the bounds.
        largest: Weight of the heaviest unit of the task; by default of these items.
    """
    heaviest = sum_clusters(items.sizes[:, None], items.clusters).max()
    tested = intervals.non_inferiority(
        *items.losses.T,
        delta=delta / 100,
        clusters=items.clusters,
        weights=items.sizes,
        largest=max(heaviest, largest or 0.0),
        **errors._asdict(),
    )
    loss = _figure_loss(items) * points_of(items.figure)
    bound = max(100 * tested.bound, loss)
    lower = min(100 * tested.lower, loss)
    if items.figure.form == "corpus":
        corpus_bound, corpus_lower = _corpus_bounds(items, errors)
        bound = max(bound, corpus_bound)
        lower = min(lower, corpus_lower)
    return tested.bounded(bound, lower, delta)


def _figure_loss(items: Paired) -> float:
    figure_a, figure_b = items.figures()
    if items.figure.higher_is_better:
        return figure_a - figure_b
    return figure_b - figure_a


def _corpus_bounds(items: Paired, errors: GateErrors) -> tuple[float, float]:
    """Return the upper and the lower bound of a corpus figure's loss, in points."""
    changes, largest = items.corpus_changes()
    sign = -1 if items.figure.higher_is_better else 1
    losses = sign * changes / largest
    ones = np.ones(len(losses))
    scale = largest * points_of(items.figure)
    bound = loss_bound(losses, ones, errors.confidence)
    lower = -loss_bound(-losses, ones, errors.worse_confidence)
    return scale * bound, scale * lower


def _prospect(
    items: Paired,
    run: Run,
    delta: float,
    confidence: float,
) -> Prospect:
    """Say how many items an undecided gate needs, and what the whole task can decide."""
    spread = observed_spread(items)
    task_items = max(items.questions, _scored_items(items.figure, run))
    needed = items_for_bound(spread, delta / 100, confidence=confidence)
    decidable = unlucky_bound(spread, task_items, confidence=confidence)
    return Prospect(needed, task_items, 100 * min(1.0, decidable))


def _scored_items(figure: Figure, run: Run) -> int:
    """Return the number of items of a figure in the whole task."""
    if not figure.part:
        return run.expected
    return sum(map(run.expected_of, run.subjects_of(figure.part)))


def _gate_remarks(items: Paired) -> list[str]:
    figure = items.figure
    remarks = []
    if figure.of_texts:
        remarks.append(say("of sentence scores and pseudo-values"))
    if figure.over != "questions":
        remarks.append(say("weighted as the figure weighs items"))
    if figure.form == "rate" and np.ptp(items.sizes):
        remarks.append(say("weighted by length"))
    if figure.unlimited:
        remarks.append(say("for rates of at most 1"))
    return remarks


def _setup_refusal(
    a: Run,
    b: Run,
    allowed: Collection[str],
) -> str:
    """Return why the setups do not allow a gate; empty if they do."""
    unlike = a.differs(b)
    refused = ", ".join(part for part in unlike if part not in allowed)
    if not refused:
        return ""
    unknown = (name for name in allowed if name not in unlike)
    meant = next(filter(None, (did_you_mean(name, unlike) for name in unknown)), "")
    text = say(
        "the runs differ in {parts}, but a gate is for runs under one setup. Run both under one "
        "setup, or --allow-differences {all_parts}.",
        parts=refused,
        all_parts=",".join(unlike),
    )
    return sentences(text, meant) if meant else text


def _figure_refusal(items: Paired) -> str:
    """Return why the figure has no bound; empty if it has one."""
    name = items.figure.name
    if items.figure.labels:
        return say(
            "{figure} has no bound: the weight of one answer depends on all others. "
            "Gate another figure (--metric acc).",
            figure=name,
        )
    above = int((items.losses > 1).any(axis=1).sum())
    if above:
        return say(
            "{number:,} items have a {figure} above 1, and others may be worse: nothing bounds it. "
            "Gate a figure of at most 1 (--metric cer_published).",
            number=above,
            figure=name,
        )
    return ""


def _missing_refusal(
    items: Paired,
    a: Run,
    b: Run,
) -> str:
    """Return which items are missing; empty if none are."""
    for run in (a, b):
        if run.unfinished:
            return say(
                "{model} on {task}: {unfinished}, and a gate cannot pass by leaving items out. "
                "Finish it.",
                model=run.label,
                task=run.task,
                unfinished=say(run.unfinished),
            )
    if items.one_sided:
        return say(
            "{number:,} items have a value of {figure} in only one of {model} and {other}. Run them "
            "again.",
            number=items.one_sided,
            figure=items.figure.name,
            model=a.label,
            other=b.label,
        )
    return ""


def _sample_refusal(
    figure: Figure,
    a: Run,
    b: Run,
    design_effect: float,
) -> str:
    """Return why limited runs do not represent the whole task; empty if they do."""
    if a.complete or not (a.limited or b.limited):
        return ""
    largest = ""
    if figure.form == "rate":
        largest = say("length of an item")
    elif design_effect > _NEGLIGIBLE_DESIGN_EFFECT:
        largest = say("number of questions on a passage")
    if largest:
        return say(
            "a part of the task does not show the largest {largest}, so no bound on {figure} holds. "
            "Run the task without a limit, or gate another figure (--metric).",
            largest=largest,
            figure=figure.name,
        )
    if not a.trusted_data:  # the sizes of its subjects are not published
        return ""
    gap = _disproportion(a) if figure.over == "questions" else _absence(figure, a)
    if not gap:
        return ""
    return say(
        "{gap}, so {figure} does not represent the whole task. Run it without a limit.",
        gap=gap,
        figure=figure.name,
    )


def _disproportion(run: Run) -> str:
    if run.in_proportion(run.kind.task.subjects) or run.in_proportion(run.subjects):
        return ""
    return say("the items are not in proportion to the sizes of the subjects")


def _absence(figure: Figure, run: Run) -> str:
    """Return which subjects of a mean of means have no item; empty if all have some."""
    task = run.kind.task
    names = []
    for subject in task.subjects:
        is_counted = figure.part in ("", *figures.parts_of(task, subject))
        if is_counted and subject not in run.subjects:
            names.append(subject.name)
    # The log itself may be of these subjects alone.
    if not names or sum(map(run.expected_of, run.subjects)) == run.available:
        return ""
    return say(
        "there is no item of {subjects}",
        subjects=shorten(", ".join(names), 100, placeholder=" …"),
    )
