"""The report of `hkcanto plan`: smallest detectable differences, and numbers of items needed."""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from itertools import combinations
from typing import NamedTuple

from ...catalogue import benchmarks, find_task, named_tasks
from ...declarations import TaskVariant
from ...errors import ComparisonError, OptionError
from ...figures import subject_weights
from ...tasks import task_as_run
from ..logs import read_runs
from ..reports.blocks import (
    Estimate,
    Note,
    Report,
    Section,
    TableBlock,
    TableColumn,
    Value,
    report_of,
    table,
)
from ..runs import Run
from ..statistics import power
from ..statistics.intervals import CONFIDENCE
from ..statistics.matching import match
from ..statistics.power import Spread, applied

_METHOD = (
    "80 % power; both runs answer every item; items are weighted as in the headline. "
    "A difference is tested at 5 %, two-sided (Miller 2024, section 5), a gate at 5 %, one-sided, "
    "by Gaffke's bound, as in hkcanto compare."
)
_SIZES = (100, 250, 500, 1_000, 2_000)


class PlannedTests(NamedTuple):
    """The differences to show and the gates to pass.

    Attributes:
        gates: Differences and tolerances δ, in points.
        loss: The true loss of the second run, in points; negative if it is better.
        shared_by: The number of tests (looks times candidates) that share a gate's 5 % error.
    """

    gates: Sequence[float]
    loss: float
    shared_by: int

    @property
    def confidence(self) -> float:
        """The confidence of each gate's bound."""
        return 1 - (1 - CONFIDENCE) / self.shared_by


class Part(NamedTuple):
    """A set of items, and the spread of the differences of two runs on it."""

    name: str
    items: int | None  # their number; None if it does not matter
    spread: Spread


class Goal(NamedTuple):
    """A difference to show, or to rule out by a gate, on a set of items."""

    part: Part
    points: float


def plan_from_runs(
    logs: Sequence[str],
    metric: str | None,
    sizes: Sequence[int],
    tests: PlannedTests,
) -> Report:
    """Return the plan for the tasks that runs have in common, with the observed spreads.

    The number of items is that of the whole task, even if the runs have only some of them.

    Args:
        logs: Logs or folders of logs, as in `hkcanto compare`.
        metric: A figure of the tasks; by default their headlines.
        sizes: Numbers of items to plan for, with the first of the spreads.
        tests: The differences to show and the gates to pass.

    Raises:
        ComparisonError: No two runs can be compared.
        OptionError: A gate is not above the loss.
    """
    by_task: dict[str, list[Run]] = defaultdict(list)
    for run in read_runs(logs):
        by_task[run.definition.name].append(run)
    parts = []
    for same_task in by_task.values():
        for a, b in combinations(same_task, 2):
            parts.append(_observed_part(a, b, metric))
    if not parts:
        raise ComparisonError(
            "no task has two runs: give the logs of two runs of one task."
        )
    about = "95 % intervals, from the runs' disagreement; items of the whole task."
    listed = [*_any_sizes(sizes, parts[0].spread), *parts]
    return _plan(
        "Plan from two runs",
        about,
        parts,
        listed,
        tests,
    )


def _observed_part(
    a: Run,
    b: Run,
    metric: str | None,
) -> Part:
    paired = match(a, b, metric)
    spread = power.observed_spread(paired)
    items = sum(map(a.expected_of, a.kind.task.subjects)) or paired.questions
    return Part(f"{a.task}: {b.label} against {a.label}", items, spread)


def plan_from_assumption(
    names: Sequence[str],
    discordance: float | None,
    deviation: float | None,
    sizes: Sequence[int],
    tests: PlannedTests,
) -> Report:
    """Return the plan for tasks with the published number of items and a common spread.

    A discordance is for tasks whose headline is a share of right answers, a standard deviation for
    the other tasks.

    Args:
        names: Benchmarks, tasks, their parts or subjects; by default all except subjects.
        discordance: The share of items on which one run is right and the other wrong, in per cent.
        deviation: The standard deviation of the differences, in points, if no discordance is given.
        sizes: Numbers of items to plan for.
        tests: The differences to show and the gates to pass.

    Raises:
        CatalogueError: A name is unknown.
        OptionError: The spread does not fit a task's figure, its number of items is unknown, or a
            gate is not above the loss.
    """
    if discordance is not None:
        share = Estimate(
            discordance / 100,
            None,
            None,
            0,
        )
        spread = power.spread_of_discordance(share)
        title = f"Plan for a discordance of {discordance:g} %"
    else:
        spread = power.spread_of_deviation((deviation or 0.0) / 100)
        title = (
            f"Plan for differences with a standard deviation of {deviation:g} points"
        )
    parts = _assumed_parts(names, spread)
    planned = [Part("any", None, spread)]
    if names:
        planned += parts
    listed = [*_any_sizes(sizes or _SIZES, spread), *parts]
    return _plan(
        title,
        "",
        planned,
        listed,
        tests,
    )


def _assumed_parts(names: Sequence[str], spread: power.Spread) -> list[Part]:
    """Return the tasks of these names, or all, with a common spread."""
    known = {benchmark.name for benchmark in benchmarks(with_sets=True)}
    tasks = _tasks_of(names or known)
    chosen = {name: find_task(name) for name in names if name not in known}
    parts = list[Part]()
    for name, task in (tasks | chosen).items():
        try:
            parts.append(_assumed_part(task, spread))
        except OptionError:
            # A benchmark is planned for those of its tasks that the spread fits.
            if name in chosen:
                raise
    return parts


def _tasks_of(names: Collection[str]) -> dict[str, TaskVariant]:
    """Return the tasks of benchmarks and their parts, without variants and subjects."""
    tasks = {}
    for task in named_tasks(with_sets=True).values():
        if task.scope == "subject" or task.variant.suffix:
            continue
        if task.benchmark.name in names:
            tasks[task.name] = task
    return tasks


def _assumed_part(task: TaskVariant, spread: Spread) -> Part:
    kind = task_as_run(task.name)
    headline = kind.headline
    sizes = {}
    for subject in task.subjects:
        rows = task.scored_rows(subject)
        if rows:
            sizes[subject.name] = rows
    items = sum(sizes.values())
    # Macro-F1 is a share, but no mean.
    is_share = headline.unit == "share" and headline.form == "mean"
    if not items or is_share != (spread.discordance is not None):
        raise OptionError(
            f"{task.name} has the headline {headline.title} and {items:,} declared items. "
            "Plan shares of right answers with --discordance, other figures with --sd, "
            "and tasks without `rows` by --items N alone."
        )
    if headline.over != "questions":
        weights = subject_weights(headline.over, sizes, kind.categories)
        spread = power.weighted(
            spread,
            [items * weight for weight in weights.values()],
            [size / items for size in sizes.values()],
        )
    return Part(task.name, items, spread)


def _any_sizes(sizes: Sequence[int], spread: Spread) -> list[Part]:
    return [Part(f"any {size:,}", size, spread) for size in sizes]


def _plan(
    title: str,
    about: str,
    parts: Sequence[Part],
    listed: Sequence[Part],
    tests: PlannedTests,
) -> Report:
    """Return the report.

    Args:
        title: The report's title.
        about: The source of the differences.
        parts: Parts whose spread was observed or assumed; gates are planned for them.
        listed: Parts whose smallest difference is listed if their number of items is known.
        tests: The differences to show and the gates to pass.
    """
    smallest_gate = min(tests.gates)
    if smallest_gate <= tests.loss:
        raise OptionError(
            f"--gate {smallest_gate:g} with --loss {tests.loss:g}: a run that loses so "
            "much does not pass. Give a larger gate, or a smaller loss."
        )
    shown = _shown_table(listed, about)
    needed = _needed_table(parts, tests)
    section = Section(
        "Plan",
        [Note(_METHOD), shown, needed],
        "plan",
        is_summary=True,
    )
    return report_of([section], title)


def _shown_table(parts: Sequence[Part], caption: str) -> TableBlock:
    columns: list[tuple[TableColumn, Callable[[Part], Value]]] = [
        (TableColumn("Item set"), lambda part: part.name),
        (TableColumn("Items", "count"), lambda part: part.items),
        (
            TableColumn(
                "Shows",
                "hundredths",
                "Smallest difference shown, in points.",
                drawn=True,
            ),
            _smallest_difference,
        ),
        (
            TableColumn(
                "Disagree",
                "percent",
                "Share of items that exactly one run answers correctly.",
            ),
            lambda part: part.spread.discordance,
        ),
        (
            TableColumn(
                "SD",
                "hundredths",
                "Standard deviation of the differences, in points.",
            ),
            lambda part: part.spread.deviation.times(100),
        ),
    ]
    counted = [part for part in parts if part.items]
    title = "Smallest difference shown, in points"
    return table(
        "shows",
        title,
        counted,
        columns,
        caption,
    )


def _smallest_difference(part: Part) -> Value:
    """Return the smallest difference shown; None if two such runs cannot differ so much."""
    largest = part.spread.discordance.value if part.spread.discordance else 1.0
    difference = power.smallest_difference(1, part.items or 1)
    points = part.spread.deviation.times(100 * difference)
    return points if points.value < 100 * largest else None


def _needed_table(parts: Sequence[Part], tests: PlannedTests) -> TableBlock:
    def items_to_show(goal: Goal) -> Value:
        return applied(
            lambda deviation: power.items_to_show(deviation, goal.points / 100),
            goal.part.spread.deviation,
        )

    def items_to_pass(goal: Goal) -> Value:
        return power.items_for_bound(
            goal.part.spread, goal.points / 100, tests.loss / 100, tests.confidence
        )

    columns: list[tuple[TableColumn, Callable[[Goal], Value]]] = [
        (TableColumn("Points"), lambda goal: f"{goal.points:g}"),
        (
            TableColumn("Item set"),
            lambda goal: goal.part.name if len(parts) > 1 else None,
        ),
        (
            TableColumn(
                "To show it", "count", "Items needed to show a difference of this size."
            ),
            items_to_show,
        ),
        (
            TableColumn(
                "By compare --gate",
                "count",
                "Items needed to pass a gate of this size.",
            ),
            items_to_pass,
        ),
        (TableColumn("Existing", "count"), lambda goal: goal.part.items),
    ]
    goals = []
    for part in parts:
        for gate in tests.gates:
            goals.append(Goal(part, gate))
    caption = (
        f"Gates: the second run loses {tests.loss:g} points; "
        f"{100 * tests.confidence:.6g} % confidence. With fewer items the gate is mostly undecided "
        "(exit status 3)."
    )
    return table(
        "takes",
        "Number of items needed",
        goals,
        columns,
        caption,
    )
