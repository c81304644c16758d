"""The gate of `hkcanto compare --gate`: its decision on all tasks, its sentences, its section.

Each task's test is in `statistics.paired`.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from operator import attrgetter
from typing import Literal

from ..statistics.intervals import NonInferiority
from ..statistics.paired import Comparison
from .blocks import (
    Block,
    Note,
    NoteLevel,
    Section,
    TableColumn,
    table,
)
from .presentation import distinct_names, figure_title
from .renderers.formatting import listed

GateVerdict = Literal["passed", "not passed", "incomplete"]

_COLUMNS = {
    "title": TableColumn("Task"),
    "figure": TableColumn("Figure", beneath=True),
    "verdict": TableColumn("Gate"),
    "bound": TableColumn(
        "Loses at most", "number", "In points. The gate passes if δ is larger."
    ),
    "needed_items": TableColumn(
        "Needed", "count", "Items for a run equal to the first to pass."
    ),
    "compared": TableColumn("Compared"),
    "method": TableColumn("Method"),
}
"""The columns of the gate's table, by the fields of `GatedTask`."""


@dataclass(frozen=True)
class GatedTask:
    """A comparison under a gate. These fields, and those of its `NonInferiority`, are in JSON."""

    task: str
    title: str
    metric: str
    figure: str  # the title of the metric
    compared: str
    differences: Sequence[str]
    verdict: GateVerdict
    delta: float
    passed: bool
    bound: float
    confidence: float
    method: str
    needed_items: int | None


@dataclass(frozen=True)
class Gate:
    """The verdict of a gate on all tasks. These fields are in JSON.

    Attributes:
        verdict: `passed` if each task passed and nothing was left out.
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

    @property
    def decisive(self) -> Sequence[GatedTask]:
        """The tasks that did not pass, or all if all passed."""
        return [task for task in self.tasks if not task.passed] or self.tasks


def decide(
    compared: Sequence[Comparison],
    delta: float,
    not_compared: Sequence[str],
    look: str = "1/1",
    candidates: int = 1,
) -> Gate:
    """Decide a gate on all tasks, with a tolerance of `delta` points.

    Each task's test has been made, with `look` and `candidates` in its confidence; they are for the
    record. What was not compared keeps the gate from passing.
    """
    tasks = list[GatedTask]()
    for comparison in compared:
        if comparison.gate is not None:
            tasks.append(_gated_task(comparison, comparison.gate, delta))
    verdict: GateVerdict = "passed"
    if not all(task.passed for task in tasks):
        verdict = "not passed"
    elif not_compared:
        verdict = "incomplete"
    return Gate(
        verdict,
        delta,
        bound=max((task.bound for task in tasks), default=None),
        method="; ".join(dict.fromkeys(task.method for task in tasks)),
        look=[*map(int, look.split("/"))],
        candidates=candidates,
        tasks=tasks,
        not_compared=not_compared,
    )


def _gated_task(
    comparison: Comparison,
    test: NonInferiority,
    delta: float,
) -> GatedTask:
    a = comparison.a
    figure = comparison.figure
    # A rate has no upper limit, so its test cuts each answer's rate off.
    cut_off = " (each answer's cut off at 1)" if figure.unlimited else ""
    return GatedTask(
        task=a.definition.name,
        title=a.definition.title,
        metric=figure.name,
        figure=figure_title(a, figure) + cut_off,
        compared=" against ".join(distinct_names([comparison.b, a])),
        differences=[*a.differs(comparison.b)],
        verdict="passed" if test.passed else "not passed",
        delta=delta,
        **asdict(test),
    )


def sentence(gate: Gate) -> str:
    """Say whether a gate passed, and how much may be lost at most."""
    if gate.verdict == "incomplete":
        return f"Gate incomplete: {len(gate.not_compared)} not compared, see below."
    tasks = gate.decisive
    compared = listed(task.compared for task in tasks)
    figures = listed(f"{task.figure} of {task.title}" for task in tasks)
    return (
        f"Gate {gate.verdict} ({compared}): δ is {gate.delta:g} points, and the loss is "
        f"at most {gate.bound:.3g} points in {figures}."
    )


def remarks(gate: Gate) -> Iterator[str]:
    """Yield the items that a gate needs, its method, and the allowed differences."""
    few = listed(
        f"{task.needed_items:,} items of {task.title}"
        for task in gate.tasks
        if task.needed_items and not task.passed
    )
    if few:
        yield f"With so few items, not even an equal run passes; it needs about {few}."
    confidence = 100 * max(task.confidence for task in gate.tasks)
    look, looks = gate.look
    yield (
        f"The bounds are one-sided, each with {confidence:.6g} % confidence "
        f"(look {look}/{looks}, candidates: {gate.candidates}): {gate.method}."
    )
    runs = max(Counter(task.task for task in gate.tasks).values())
    if runs > gate.candidates == 1:
        yield f"To choose one of them by this gate, give --candidates {runs}."
    names = dict.fromkeys(chain(*(task.differences for task in gate.tasks)))
    if names:
        yield f"They differ in {', '.join(names)}, as allowed."


def gate_section(gate: Gate) -> Section:
    """Return the section to read first: the verdict, remarks, and a row for each task."""
    blocks: list[Block] = [Note(sentence(gate), "verdict")]
    if gate.tasks:
        level: NoteLevel = "info" if gate.verdict == "passed" else "warning"
        columns = [(column, attrgetter(field)) for field, column in _COLUMNS.items()]
        title = "Non-inferiority, task by task"
        blocks.append(Note(" ".join(remarks(gate)), level))
        blocks.append(table("gate", title, gate.tasks, columns))
    return Section("Gate", blocks, "gate", is_summary=True)
