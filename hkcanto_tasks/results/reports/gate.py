"""The gate of `hkcanto compare --gate`: its answer on all tasks, its sentences, its sections.

Each task's test is in `statistics.paired`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from operator import attrgetter
from typing import Literal

from ...errors import DOCS
from ..statistics.intervals import Estimate, GateAnswer, NonInferiority
from ..statistics.paired import Comparison
from .blocks import (
    Block,
    Note,
    Section,
    TableColumn,
    table,
)
from .presentation import distinct_names, figure_title, task_title
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
_BOUNDS = "A gate's bounds are computed by other methods than the intervals of the results (--full)."
_NEEDED = "Items with which 80 of 100 equally good runs pass."
_COLUMNS = {
    "title": TableColumn("Task"),
    "verdict": TableColumn("Gate"),
    "gain": TableColumn("Gain", "score_points", _GAIN, drawn=True),
    "needed_items": TableColumn("Needs", "count", _NEEDED),
    "task_items": TableColumn("Has", "count", "Items of the whole task."),
    "figure": TableColumn("Figure", beneath=True),
}
"""The columns of the gate's table, by the fields of `GatedTask`."""
_COMPARED = TableColumn("Compared")

_RULE = (
    "The gate passes if every task passes, each with {} % confidence. It fails if a task is worse, "
    "with {} % confidence for all tasks together (look {}, candidates: {}). "
    f"How often it errs: {DOCS}/methods.md."
)
_MOST_DIGITS = 6
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

    def having(self, answer: GateAnswer) -> list[GatedTask]:
        """Return the tasks with an answer, those that may lose most first."""
        tasks = [task for task in self.tasks if task.verdict == answer]
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
            title = comparison.a.definition.title
            if len(conditions[title]) > 1:
                title = task_title(comparison.a)
            tasks.append(_gated_task(comparison, comparison.gate, title, delta))
    return Gate(
        _verdict([task.verdict for task in tasks], not_compared),
        delta,
        bound=max((task.bound for task in tasks), default=None),
        method="; ".join(dict.fromkeys(task.method for task in tasks)),
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
    limit = " (of at most 1 an answer)" if figure.unlimited else ""
    names = distinct_names([comparison.b, a])
    prospect = comparison.prospect
    return GatedTask(
        task=a.definition.name,
        title=title,
        metric=figure.name,
        figure=figure_title(a, figure) + limit,
        compared=" against ".join(names),
        candidate=names[0],
        baseline=names[1],
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
    return Estimate(loss, test.lower, test.bound, effect.difference.items)


# ---------------------------------------------------------------------- sentences


def sentence(gate: Gate) -> str:
    """Say the verdict, and name the tasks that did not pass with their losses."""
    if gate.verdict == "incomplete":
        first, *others = gate.not_compared or ("no task has a gate.",)
        more = f" · And {len(others)} more, see below." if others else ""
        return f"Gate without a verdict: {first}{more}"
    candidate, baseline = _sides(gate)
    tasks = gate.having(gate.verdict)
    where = _where(gate, tasks)
    losses = listed(_loss_text(gate, task) for task in tasks)
    by_how_much = f"{gate.delta:g} points worse than {baseline} {where}"
    if gate.verdict == "passed":
        passed = f"Gate passed: {candidate} is less than {by_how_much}"
        if len(tasks) > 1:
            return f"{passed}. The least certain: {_loss_text(gate, tasks[0])}."
        return f"{passed}: {losses}."
    if gate.verdict == "worse":
        return f"Gate failed: {candidate} is more than {by_how_much}: {losses}."
    return f"Gate undecided: too few items to tell whether {candidate} is {by_how_much}: {losses}."


def _sides(gate: Gate) -> tuple[str, str]:
    """Return the names of the candidates and of the baseline."""
    candidates = dict.fromkeys(task.candidate for task in gate.tasks)
    baselines = dict.fromkeys(task.baseline for task in gate.tasks)
    baseline = listed(baselines, ", ")
    if len(candidates) > 1 and gate.verdict != "passed":
        return f"at least one of {len(candidates)} runs", baseline
    return listed(candidates, " and "), baseline


def _where(gate: Gate, tasks: Sequence[GatedTask]) -> str:
    """Return on how many of all tasks something holds, and what the others did."""
    total = len(gate.tasks)
    if total == 1:
        return f"on {tasks[0].title}"
    others = Counter(task.verdict for task in gate.tasks if task not in tasks)
    counted = (f"{count} {verdict}" for verdict, count in others.most_common())
    also = f" ({listed(counted, ', ')})" if others else ""
    number = f"{len(tasks)} of {total}" if others else f"each of {total}"
    if len({task.candidate for task in gate.tasks}) > 1:
        return f"in {number} comparisons{also}"
    return f"on {number} tasks{also}"


def _loss_text(gate: Gate, task: GatedTask) -> str:
    """Return a task, and how much is lost there at least or at most."""
    named = _named(gate, task) if len(gate.tasks) > 1 else "it"
    if task.verdict == "worse":
        loss = _points(task.loss.value, task.delta)
        return f"{named} loses {loss}, at least {_points(task.lower, task.delta)}"
    if task.bound < 0:
        return f"{named} gains at least {_points(-task.bound, task.delta)}"
    most = _points(task.bound, task.delta)
    if task.passed:
        return f"{named} loses at most {most}"
    return f"{named} could lose up to {most}"


def _named(gate: Gate, task: GatedTask) -> str:
    """Return the title of a task, with the candidate if there are several."""
    candidates = {other.candidate for other in gate.tasks}
    return f"{task.title} ({task.candidate})" if len(candidates) > 1 else task.title


def _points(points: float, delta: float) -> str:
    """Return points with one digit, or as many as show on which side of δ they are."""
    for digits in range(1, _MOST_DIGITS):
        text = value_text(points, "score", digits)
        if float(text.replace("−", "-")) != delta or points == delta:
            break
    return text


# ---------------------------------------------------------------------- remarks


def next_steps(gate: Gate) -> Iterator[str]:
    """Yield what to do after the verdict."""
    if gate.verdict == "undecided":
        yield from _advice(gate)
    elif gate.verdict == "passed":
        candidates = dict.fromkeys(task.candidate for task in gate.tasks)
        yield f"Nothing to fix: {listed(candidates, ' or ')} may be released."
    elif gate.verdict == "worse":
        yield "See where it loses, subject by subject: add --full."


def remarks(gate: Gate) -> Iterator[str]:
    """Yield remarks on a gate's runs."""
    runs = max(Counter(task.title for task in gate.tasks).values())
    if runs > gate.candidates == 1:
        yield f"To choose one of them by this gate, give --candidates {runs}."
    names = dict.fromkeys(chain(*(task.differences for task in gate.tasks)))
    if names:
        yield f"They differ in {', '.join(names)}, as allowed."


def _advice(gate: Gate) -> Iterator[str]:
    """Yield how many items undecided tasks need, and what to do if they do not have them."""
    undecided = gate.having("undecided")
    limited = [task for task in undecided if _has_enough(task)]
    small = [task for task in undecided if not _has_enough(task)]
    if limited:
        needs = [f"{task.needed_items:,} on {task.title}" for task in limited]
        yield f"Run more items. If both are equally good, so many pass: {listed(needs)}."
    if small:
        yield _advice_on_small(gate, small)


def _advice_on_small(gate: Gate, small: Sequence[GatedTask]) -> str:
    """Say what to do about tasks that have too few items, even if all are run."""
    tolerance = _rounded_up(max(task.decidable or 0.0 for task in small))
    counted = f"{len(small)} tasks are" if len(small) > 1 else f"{small[0].title} is"
    advice = (
        f"{counted} too small for {gate.delta:g} points (the table shows how many items "
        f"each needs and has). Allow more (--gate {tolerance:g})"
    )
    names = dict.fromkeys(task.task for task in gate.tasks if task not in small)
    if names:
        advice += f", or gate only large tasks (--task {','.join(names)})"
    return f"{advice}. Choose before the next runs."


def _has_enough(task: GatedTask) -> bool:
    return bool(task.needed_items and task.needed_items <= (task.task_items or 0))


def _rounded_up(points: float) -> float:
    """Return a tolerance in whole points, at most 100."""
    return min(100.0, float(int(points) + 1))


def gate_section(gate: Gate) -> Section:
    """Return the section to read first: the verdict, remarks, and a row for each task."""
    blocks: list[Block] = [Note(sentence(gate), "verdict")]
    if gate.tasks:
        columns = [(column, attrgetter(field)) for field, column in _COLUMNS.items()]
        if len({task.compared for task in gate.tasks}) > 1:
            columns.append((_COMPARED, attrgetter("compared")))
        title = f"Gain in points, task by task (the lower bound must be above −{gate.delta:g})"
        tasks = [task for answer in _ORDER for task in gate.having(answer)]
        blocks += [Note(step, "next") for step in next_steps(gate)]
        blocks += map(Note, remarks(gate))
        blocks.append(table("gate", title, tasks, columns, _BOUNDS))
    return Section("Gate", blocks, "gate", is_summary=True)


def method_section(gate: Gate) -> Section:
    """Return how each task was tested, which is shown on request."""
    if not gate.tasks:
        return Section("How the gate was tested", [], "gate-method")
    rule = _RULE.format(
        f"{100 * max(task.confidence for task in gate.tasks):.6g}",
        f"{100 - 100 * (1 - gate.tasks[0].lower_confidence) * len(gate.tasks):.6g}",
        "/".join(map(str, gate.look)),
        gate.candidates,
    )
    columns = [
        (TableColumn("Task"), attrgetter("title")),
        (TableColumn("Method"), attrgetter("method")),
    ]
    tests = table("gate_method", "Tests", gate.tasks, columns)
    return Section("How the gate was tested", [Note(rule), tests], "gate-method")
