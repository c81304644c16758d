"""The gate of `hkcanto compare --gate`: its answer on all tasks, its sentences, its sections.

Each task's test is in `statistics.paired`.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from math import ceil
from operator import attrgetter
from typing import Literal

from ...errors import DOCS
from ...messages import joined, say, verbatim
from ..statistics.intervals import Estimate, GateAnswer, NonInferiority
from ..statistics.paired import Comparison
from .blocks import (
    Block,
    Note,
    Section,
    TableColumn,
    Value,
    next_step,
    table,
    verdict_note,
)
from .pairs import BY_HOW_MUCH, HOW_CERTAIN
from .presentation import distinct_names, figure_title, short_title, task_title
from .renderers.formatting import listed, value_text

GateVerdict = Literal["passed", "worse", "undecided", "incomplete"]
Undecided = Literal["pass", "fail"]

STATUSES: Mapping[GateVerdict, int] = {
    "passed": 0,
    "worse": 1,
    "incomplete": 2,
    "undecided": 3,
}
"""The exit status of each verdict."""

_GAIN = (
    "Observed gain in points, with the gate's lower and upper bound, each one-sided. Passed: the "
    "lower bound is above −δ. Worse: the upper bound is below −δ."
)
_COLUMNS = {
    "title": TableColumn("Task"),
    "result": TableColumn("Gate"),
    "baseline_score": TableColumn("Baseline", "score"),
    "candidate_score": TableColumn("Candidate", "score"),
    "gain": TableColumn(
        "Gain",
        "score_points",
        _GAIN,
        drawn=True,
    ),
    "figure": TableColumn("Figure", beneath=True),
}
"""The columns of the gate's table, by the fields of `GatedTask`."""
_COMPARED = TableColumn("Compared")

_RULE = (
    "The gate passes if every task passes, each with {passing} % confidence. It fails if a task is "
    "worse, with {worse} % confidence for all tasks together (look {look}, candidates: {candidates}). "
    "How often it errs: {methods}."
)
_MOST_DIGITS = 6
_RESULTS: Mapping[GateAnswer, str] = {
    "passed": say("passed"),
    "worse": say("failed"),
    "undecided": say("undecided"),
}
_ORDER: Sequence[GateAnswer] = ("worse", "undecided", "passed")


@dataclass(frozen=True)
class GatedTask:
    """A comparison under a gate. These fields, and those of its `NonInferiority`, are in JSON.

    `needed_items` is that of its `Prospect`.
    """

    task: str
    title: str
    metric: str  # the figure's name
    figure: str  # its title
    compared: str
    candidate: str
    baseline: str
    candidate_score: float  # in points, as the loss
    baseline_score: float
    differences: Sequence[str]
    verdict: GateAnswer
    delta: float
    passed: bool
    loss: Estimate  # in points, from the lower bound to the bound
    bound: float
    confidence: float
    lower: float
    lower_confidence: float
    method: str
    needed_items: int | None = None
    task_items: int | None = None
    decidable: float | None = None

    @property
    def result(self) -> str:
        """Its answer in the words of the gate's."""
        return _RESULTS[self.verdict]

    @property
    def gain(self) -> Estimate:
        """The negative loss, with its bounds."""
        return self.loss.times(-1)


@dataclass(frozen=True)
class Gate:
    """The verdict of a gate on all tasks. These fields are in JSON.

    Attributes:
        verdict: `worse` if a task is; else `incomplete` if something was left out; else
            `undecided` if a task is; else `passed`.
        delta: Tolerance in points.
        bound: The largest loss among the tasks, in points; None without tasks.
        method: How the bounds were computed.
        look: Number of this look at growing runs, and number of planned looks.
        candidates: The number of runs that the winner is chosen from.
        tasks: The gate of each comparison.
        not_compared: Why something was left out.
    """

    verdict: GateVerdict
    delta: float
    bound: float | None
    method: str
    look: Sequence[int]
    candidates: int
    tasks: Sequence[GatedTask]
    not_compared: Sequence[str]

    def having(self, answer: GateVerdict) -> list[GatedTask]:
        """Return the tasks with an answer, those that lose or may lose most first."""
        tasks = [task for task in self.tasks if task.verdict == answer]
        if answer == "worse":
            return sorted(tasks, key=lambda task: -task.loss.value)
        return sorted(tasks, key=lambda task: -task.bound)

    def status(self, undecided: Undecided | None = None) -> int:
        """Return the exit status; `undecided` says what it is without an answer."""
        if self.verdict == "undecided" and undecided is not None:
            return 0 if undecided == "pass" else 1
        return STATUSES[self.verdict]


def decide(
    compared: Sequence[Comparison],
    delta: float,
    not_compared: Sequence[str],
    look: str = "1/1",
    candidates: int = 1,
) -> Gate:
    """Decide a gate on all tasks, with a tolerance of `delta` points.

    Each task's test has been made, with `look` and `candidates` in its confidence; they are for the
    record. A comparison that was left out keeps the gate from passing.
    """
    tasks = list[GatedTask]()
    conditions = defaultdict[str, set[str]](set)
    for comparison in compared:
        title = comparison.a.definition.title
        conditions[title].add(task_title(comparison.a))
    for comparison in compared:
        if comparison.gate is not None:
            title = short_title(comparison.a.definition)
            if len(conditions[title]) > 1:
                title = task_title(comparison.a)
            tasks.append(
                _gated_task(
                    comparison,
                    comparison.gate,
                    title,
                    delta,
                )
            )
    return Gate(
        _verdict([task.verdict for task in tasks], not_compared),
        delta,
        bound=max((task.bound for task in tasks), default=None),
        method=joined("; ", dict.fromkeys(task.method for task in tasks)),
        look=[*map(int, look.split("/"))],
        candidates=candidates,
        tasks=tasks,
        not_compared=not_compared,
    )


def _verdict(answers: Sequence[GateAnswer], not_compared: Sequence[str]) -> GateVerdict:
    if "worse" in answers:
        return "worse"
    if not_compared or not answers:
        return "incomplete"
    return "undecided" if "undecided" in answers else "passed"


def _gated_task(
    comparison: Comparison,
    test: NonInferiority,
    title: str,
    delta: float,
) -> GatedTask:
    a = comparison.a
    figure = comparison.figure
    # A rate without an upper limit is tested only if all answers' are at most 1.
    title_of_figure = figure_title(a, figure)
    if figure.unlimited:
        title_of_figure = say(
            "{figure} (of at most 1 an answer)", figure=title_of_figure
        )
    names = distinct_names([comparison.b, a])
    prospect = comparison.prospect
    return GatedTask(
        task=a.definition.name,
        title=title,
        metric=figure.name,
        figure=title_of_figure,
        compared=say("{model} against {other}", model=names[0], other=names[1]),
        candidate=names[0],
        baseline=names[1],
        candidate_score=comparison.points * comparison.overall.b,
        baseline_score=comparison.points * comparison.overall.a,
        differences=[*a.differs(comparison.b)],
        verdict=test.answer,
        delta=delta,
        passed=test.passed,
        loss=_loss(comparison, test),
        bound=test.bound,
        confidence=test.confidence,
        lower=test.lower,
        lower_confidence=test.lower_confidence,
        method=test.method,
        **(asdict(prospect) if prospect else {}),
    )


def _loss(comparison: Comparison, test: NonInferiority) -> Estimate:
    effect = comparison.overall
    sign = -1 if comparison.figure.higher_is_better else 1
    loss = sign * comparison.points * effect.difference.value
    return Estimate(
        loss,
        test.lower,
        test.bound,
        effect.difference.items,
    )


# ---------------------------------------------------------------------- sentences


def verdict_notes(gate: Gate) -> Iterator[Note]:
    """Yield the verdict, the losses that decided it, how certain it is, and what to do next."""
    yield verdict_note("Gate", _sentence(gate))
    if gate.verdict == "incomplete":
        return
    losses = listed(_loss_text(task, gate) for task in gate.having(gate.verdict))
    text = say("{losses}.", losses=losses)
    if gate.verdict == "passed":
        first = gate.having("passed")[0]
        text = say("In the worst case: {loss}.", loss=_loss_text(first, gate))
    yield verdict_note(BY_HOW_MUCH, text)
    yield verdict_note(HOW_CERTAIN, _certainty(gate))
    yield from next_steps(gate)


def _certainty(gate: Gate) -> str:
    """Say with which confidence the verdict holds."""
    places = {
        "passing": _passing_confidence(gate),
        "worse": _worse_confidence(gate),
        "delta": f"{gate.delta:g}",
    }
    if gate.verdict == "passed":
        return say("{passing} % for each task (one-sided).", **places)
    if gate.verdict == "worse":
        return say(
            "{worse} % that these losses are larger than {delta} points, for all tasks together.",
            **places,
        )
    return say(
        "Neither is certain: {passing} % is needed to pass, and {worse} % for all tasks together to "
        "fail.",
        **places,
    )


def _sentence(gate: Gate) -> str:
    """Say the verdict, for how many tasks it holds, and what the others did."""
    if gate.verdict == "incomplete":
        first, *others = gate.not_compared or (say("no task has a gate."),)
        text = say("Without a verdict: {reason}", reason=first)
        if others:
            return say(
                "{text} · And {count} more, see below.", text=text, count=len(others)
            )
        return text
    candidates = [*dict.fromkeys(task.candidate for task in gate.tasks)]
    places = {
        "candidate": listed(candidates, " and "),
        "baseline": listed(dict.fromkeys(task.baseline for task in gate.tasks), ", "),
        "delta": f"{gate.delta:g}",
        "where": _where(gate),
    }
    if gate.verdict == "passed":
        return say(
            "Passed: {candidate} is less than {delta} points worse than {baseline} {where}.",
            **places,
        )
    if gate.verdict == "worse":
        return say(
            "Failed: {candidate} is more than {delta} points worse than {baseline} {where}.",
            **places,
        )
    return say(
        "Undecided, so do not release yet: there are too few items to tell whether {candidate} is more "
        "than {delta} points "
        "worse than {baseline} {where}.",
        **places,
    )


def _where(gate: Gate) -> str:
    """Return on how many of all tasks the verdict holds, and what the others did."""
    tasks = gate.having(gate.verdict)
    others = Counter(task.result for task in gate.tasks if task not in tasks)
    counted = [
        say("{count} {result}", count=count, result=result)
        for result, count in others.most_common()
    ]
    places = {
        "number": len(tasks),
        "total": len(gate.tasks),
        "task": tasks[0].title,
        "others": listed(counted, ", "),
    }
    if len(gate.tasks) == 1:
        return say("on {task}", **places)
    if len({task.candidate for task in gate.tasks}) > 1:
        if others:
            return say("in {number} of {total} comparisons ({others})", **places)
        return say("in each of {total} comparisons", **places)
    if others:
        return say("on {number} of {total} tasks ({others})", **places)
    return say("on each of {total} tasks", **places)


def _loss_text(task: GatedTask, gate: Gate) -> str:
    """Return a task, and how much is lost there at least or at most."""
    places = {
        "task": _named(gate, task),
        "loss": _points(task.loss.value, task.delta),
        "least": _points(task.lower, task.delta),
        "most": _points(task.bound, task.delta),
        "gain": _points(-task.bound, task.delta),
    }
    if task.verdict == "worse":
        return say("{task} loses {loss}, at least {least}", **places)
    if task.bound < 0:
        return say("{task} gains at least {gain}", **places)
    if task.passed:
        return say("{task} loses at most {most}", **places)
    return say("{task} could lose up to {most}", **places)


def _named(gate: Gate, task: GatedTask) -> str:
    """Return the title of a task, with the candidate if there are several."""
    candidates = {other.candidate for other in gate.tasks}
    if len(candidates) == 1:
        return task.title
    return say("{task} ({model})", task=task.title, model=task.candidate)


def _points(points: float, delta: float) -> str:
    """Return points with one digit, or as many as show on which side of δ they are."""
    for digits in range(1, _MOST_DIGITS):
        text = value_text(points, "score", digits)
        if float(text.replace("−", "-")) != delta or points == delta:
            break
    return text


# ---------------------------------------------------------------------- remarks


def next_steps(gate: Gate) -> Iterator[Note]:
    """Yield what to do after the verdict."""
    candidates = listed(dict.fromkeys(task.candidate for task in gate.tasks), ", ")
    by_subject = f"hkcanto compare LOGS --gate {gate.delta:g} --full"
    if gate.verdict == "passed":
        yield next_step(
            say("Release {candidates}, by this gate.", candidates=candidates)
        )
    elif gate.verdict == "worse":
        text = say(
            "Do not release {candidates}. See where it loses, subject by subject:",
            candidates=candidates,
        )
        yield next_step(text, by_subject)
    elif gate.verdict == "undecided":
        yield from _advice(gate)


def remarks(gate: Gate) -> Iterator[str]:
    """Yield remarks on a gate's runs."""
    runs = max(Counter(task.title for task in gate.tasks).values())
    if runs > gate.candidates == 1:
        yield say(
            "To choose one of them by this gate, give --candidates {runs}.", runs=runs
        )
    names = dict.fromkeys(chain(*(task.differences for task in gate.tasks)))
    if names:
        yield say("They differ in {names}, as allowed.", names=joined(", ", names))


def _advice(gate: Gate) -> Iterator[Note]:
    """Yield how many items undecided tasks need, and what to do if they do not have them."""
    undecided = gate.having("undecided")
    limited = [task for task in undecided if _has_enough(task)]
    small = [task for task in undecided if not _has_enough(task)]
    if limited:
        needs = [
            say("{task} {items:,}", task=task.title, items=task.needed_items)
            for task in limited
        ]
        text = say(
            "Run more items; if both are equally good, so many pass: {needs}.",
            needs=listed(needs),
        )
        yield next_step(text)
    if small:
        yield _advice_on_small(gate, small)


def _advice_on_small(gate: Gate, small: Sequence[GatedTask]) -> Note:
    """Return what to do about tasks that have too few items, even if all are run."""
    tolerance = max(map(_decidable_points, small))
    text = say(
        "Too small, even if all items are run: {tasks}. Plan the next gate:",
        tasks=listed(map(_needs, small), ", "),
    )
    command = f"hkcanto plan LOGS --gate {gate.delta:g} --gate {tolerance:g}"
    return next_step(text, command)


def _needs(task: GatedTask) -> str:
    """Return a task, the items with which 80 of 100 equally good runs pass, and its items."""
    return say(
        "{task} ({delta} points need {needed:,} items; its {items:,} can decide {tolerance} points)",
        task=task.title,
        delta=f"{task.delta:g}",
        needed=task.needed_items or 0,
        items=task.task_items or 0,
        tolerance=f"{_decidable_points(task):g}",
    )


def _decidable_points(task: GatedTask) -> float:
    """Return the smallest tolerance that a whole task can decide, rounded up to whole points."""
    return min(100.0, float(ceil(task.decidable or 0.0)))


def _has_enough(task: GatedTask) -> bool:
    return bool(task.needed_items and task.needed_items <= (task.task_items or 0))


def gate_section(gate: Gate, warnings: Sequence[Note] = ()) -> Section:
    """Return the section to read first: the verdict, warnings, remarks, and a row for each task."""
    blocks: list[Block] = [*verdict_notes(gate), *warnings]
    if gate.tasks:
        columns = [*_columns(gate)]
        title = say(
            "Gain in points, task by task: passed if all of its interval is above −{delta}, failed if "
            "all is below",
            delta=f"{gate.delta:g}",
        )
        tasks = [task for answer in _ORDER for task in gate.having(answer)]
        blocks += map(Note, remarks(gate))
        bounds = say(
            "The lower end holds with {passing} %, the upper with {worse} % for all tasks together: "
            "not the intervals of a report.",
            passing=_passing_confidence(gate),
            worse=_worse_confidence(gate),
        )
        blocks.append(
            table(
                "gate",
                title,
                tasks,
                columns,
                bounds,
            )
        )
    return Section(
        "Gate",
        blocks,
        "gate",
        is_summary=True,
    )


def _columns(
    gate: Gate,
) -> Iterator[tuple[TableColumn, Callable[[GatedTask], Value]]]:
    """Yield the columns of the gate's table; of two runs, scores are under their names."""
    is_of_two = len({task.compared for task in gate.tasks}) == 1
    for field, column in _COLUMNS.items():
        name = field.removesuffix("_score")
        if is_of_two and name != field:
            column = replace(column, title=verbatim(getattr(gate.tasks[0], name)))
        yield column, attrgetter(field)
    if not is_of_two:
        yield _COMPARED, attrgetter("compared")


def _passing_confidence(gate: Gate) -> str:
    """Return the confidence, in percent, with which each task passes."""
    return f"{100 * max(task.confidence for task in gate.tasks):.6g}"


def _worse_confidence(gate: Gate) -> str:
    """Return the confidence, in percent, that no task is called worse by chance."""
    error = 1 - gate.tasks[0].lower_confidence
    return f"{100 - 100 * error * len(gate.tasks):.6g}"


def method_section(gate: Gate) -> Section:
    """Return how each task was tested, which is shown on request."""
    if not gate.tasks:
        return Section("How the gate was tested", [], "gate-method")
    rule = say(
        _RULE,
        passing=_passing_confidence(gate),
        worse=_worse_confidence(gate),
        look="/".join(map(str, gate.look)),
        candidates=gate.candidates,
        methods=f"{DOCS}/methods.md",
    )
    columns = [
        (TableColumn("Task"), attrgetter("title")),
        (TableColumn("Method"), attrgetter("method")),
    ]
    tests = table(
        "gate_method",
        "Tests",
        gate.tasks,
        columns,
    )
    return Section("How the gate was tested", [Note(rule), tests], "gate-method")
