"""The report of `hkcanto plan`: smallest detectable differences, and numbers of items needed."""

import math
from collections.abc import Callable, Sequence
from functools import cache, partial

from ...catalogue import benchmarks, find_task, named_tasks
from ...errors import OptionError
from ...figures import subject_weights
from ...tasks import task_as_run
from ..reports.blocks import Column, Note, Report, Section, Table, Value, report_of, table
from ..statistics.intervals import CONFIDENCE, Estimate
from . import power
from .observed import Part
from .power import Spread, applied

_Gate = tuple[Part, float]
_Joint = tuple[tuple[float, str], list[float | None]]
_METHOD = (
    "80 % power; both runs answer every item; items are weighted as in the headline. "
    "A difference is tested at 5 %, two-sided (Miller 2024, section 5), a gate at 5 %, one-sided. "
    "The exact test (McNemar) and the gate by Gaffke's bound are those of hkcanto compare."
)


def catalogue(spread: Spread, names: Sequence[str] = ()) -> Sequence[Part]:
    """Return tasks and their parts, with the published number of items and a common spread.

    A discordance is for tasks whose headline is a share of right answers, any other spread for the
    other tasks.

    Args:
        spread: The spread assumed for all of them.
        names: Benchmarks, tasks, their parts or subjects; by default all except subjects.

    Raises:
        CatalogueError: A name is unknown.
        OptionError: The spread does not fit a task's figure, or its number of items is unknown.

    Examples:
        >>> from hkcanto_tasks.results.statistics.intervals import Estimate
        >>> half = power.of_discordance(Estimate(0.5, None, None, 0))
        >>> [(part.name, part.items) for part in catalogue(half, ["hkcanto_law"])]
        [('hkcanto_law', 424)]
    """
    known = [each.name for each in benchmarks()]
    of_benchmarks = [
        task
        for task in named_tasks().values()
        if task.scope != "subject" and not task.variant.suffix
        if task.benchmark.name in (names or known)
    ]
    there = {task.name for task in of_benchmarks}
    named = [find_task(name) for name in names if name not in {*known, *there}]
    parts: list[Part] = []
    asked: list[set[tuple[str, str]]] = []
    for task in (*of_benchmarks, *named):
        how, weighted = task_as_run(task.name), spread
        sizes = {each.name: rows for each in task.subjects if (rows := task.scored_rows(each))}
        items = sum(sizes.values())
        is_share = how.headline.unit == "share" and how.headline.form == "mean"  # no macro-F1
        if not items or is_share != (spread.discordance is not None):
            if task in named:
                if not items:
                    raise OptionError(
                        f"{task.name}: its number of items is not declared. Write `rows` for "
                        "its subjects into its benchmark.toml, or give the number: --items N."
                    )
                is_not, is_so = "is not a share of right answers", "is a share of right answers"
                kinds = ("--sd", is_not), ("--discordance", is_so)
                option, why = kinds[is_share]
                raise OptionError(f"{task.name}: its headline {why}. Plan it with {option}.")
            continue
        if how.headline.over != "questions":
            counted = subject_weights(how.headline.over, sizes, how.categories)
            shares = [size / items for size in sizes.values()]
            weighted = power.weighted(spread, [items * counted[name] for name in sizes], shares)
        asked.append({(task.definition.name, name) for name in sizes})
        parts.append(Part(task.name, items, weighted))
    counted_already = set[tuple[str, str]]()
    for place in sorted(range(len(parts)), key=lambda place: -parts[place].items):
        if not asked[place] & counted_already:
            parts[place] = parts[place]._replace(is_whole=True)
            counted_already |= asked[place]
    return parts


def build(
    parts: Sequence[Part],
    others: Sequence[Part],
    *,
    title: str,
    about: str,
    sizes: Sequence[int],
    gates: Sequence[float],
    loss: float,
    shared_by: int,
    gates_of_others: bool,
) -> Report:
    """Return the report.

    Args:
        parts: Parts whose spread was observed or assumed.
        others: Benchmarks and tasks at their size, with one of these spreads.
        title: The report's title, which names what was observed or assumed.
        about: The meaning of its intervals.
        sizes: Numbers of items to plan for, with the first of the spreads.
        gates: Differences and tolerances δ, in points.
        loss: The true loss of the second run, in points; negative if it is better.
        shared_by: The number of tests (looks times candidates) that share a gate's 5 % error.
        gates_of_others: Whether to plan the gates for the others too.

    Raises:
        OptionError: A gate is not above the loss.
    """
    if impossible := [gate for gate in gates if gate <= loss]:
        raise OptionError(
            f"--gate {impossible[0]:g} with --loss {loss:g}: a run that loses at least the "
            "tolerance does not pass. Give a larger gate, or a smaller loss."
        )
    whole = [part for part in parts if not part.is_subject]
    counted = [part._replace(name=f"any {n:,}", items=n) for part in whole[:1] for n in sizes]
    rows = [*counted, *(part for part in whole if part.items), *others]
    of_gates = [*whole, *(others if gates_of_others else ())]
    gated = [(part, gate) for part in of_gates for gate in gates]
    takes = _taken(gated, loss / 100, 1 - (1 - CONFIDENCE) / shared_by)
    note, shown = Note(_METHOD), _shown("shows", rows, about)
    sections = [
        Section("Differences that can be shown", [note, shown], "shows", is_summary=True),
        Section("Items needed", takes, "takes", is_summary=True),
    ]
    if subjects := [part for part in parts if part.is_subject]:
        sections.append(Section("By subject", [_shown("subjects", subjects, about)], "subjects"))
    return report_of(sections, title)


def _shown(name: str, parts: Sequence[Part], about: str) -> Table:
    several = len({part.of for part in parts}) > 1
    deviation = Column("SD", "number", "Standard deviation of the differences, in points.")
    sd = partial(applied, lambda end: 100 * end)
    columns: list[tuple[Column, Callable[[Part], Value]]] = [
        (Column("Item set"), lambda part: part.name),
        (Column("Items", "count"), lambda part: part.items),
        (Column("Shows", "number", "Points, by the formula.", drawn=True), _smallest),
        (
            Column("Disagree", "percent", "Share of items that exactly one run answers correctly."),
            lambda part: part.spread.discordance,
        ),
        (deviation, lambda part: None if part.spread.is_plain else sd(part.spread.deviation)),
        (Column("Exact test", "number", "Points, by McNemar's exact test."), _smallest_exact),
        (Column("Between"), lambda part: part.of if several else None),
    ]
    title = "Smallest difference shown, in points"
    return table(name, title, parts, columns, about)


def _smallest(part: Part) -> Value:
    most = part.spread.discordance.value if part.spread.discordance else 1.0
    factor = 100 * power.smallest_difference(1.0, part.items)
    points = applied(lambda end: factor * end, part.spread.deviation)
    return points if points.value < 100 * most else None


def _smallest_exact(part: Part) -> Value:
    share = part.spread.discordance if part.spread.is_plain else None
    smallest = share and power.smallest_by_mcnemar(share.value, part.items)
    return 100 * smallest if smallest else None


def _taken(gated: Sequence[_Gate], loss: float, confidence: float) -> Sequence[Table]:
    """Return the items that gates need and, for several tasks, how often all pass together."""
    together: dict[tuple[float, str], list[Part]] = {}
    for part, gate in gated:
        if part.is_whole and part.items:
            together.setdefault((gate, part.of), []).append(part)
    jointly = {key: parts for key, parts in together.items() if len(parts) > 1}

    @cache
    def passing(row: _Gate) -> float | None:
        part, delta = row[0], row[1] / 100
        if not part.items:
            return None
        return power.power_of_bound(part.spread, part.items, delta, loss, confidence)

    def needed(row: _Gate, by: Callable[..., int], *more: float) -> Estimate:
        return applied(lambda end: by(end, row[1] / 100, *more), row[0].spread.deviation)

    def by_bound(row: _Gate, share: float = power.POWER) -> int | None:
        of: dict[str, float] = {"power": share, "confidence": confidence}
        return power.items_for_bound(row[0].spread, row[1] / 100, loss, **of)

    def for_all(row: _Gate) -> int | None:
        part, gate = row
        parts = jointly.get((gate, part.of), ())
        return by_bound(row, power.POWER ** (1 / len(parts))) if part in parts else None

    several, pairs = len({part for part, _ in gated}) > 1, len({part.of for part, _ in gated})
    seen = Column("To show it", "count", "Items needed to show a difference of this size.")
    passed = Column("To pass a gate", "count", "By the normal approximation.")
    bound = Column("By compare --gate", "count", "With Gaffke's bound.")
    all_pass = Column(
        "For all to pass", "count", "For all tasks together to pass compare --gate in 80 %."
    )
    share = Column("Pass", "percent", "How often the existing items pass compare --gate.")
    columns: list[tuple[Column, Callable[[_Gate], Value]]] = [
        (Column("Points"), lambda row: f"{row[1]:g}"),
        (Column("Item set"), lambda row: row[0].name if several else None),
        (seen, lambda row: needed(row, power.items_to_show)),
        (passed, lambda row: needed(row, power.items_for_gate, loss, confidence)),
        (bound, by_bound),
        (all_pass, for_all),
        (Column("Existing", "count"), lambda row: row[0].items or None),
        (share, passing),
        (Column("Between"), lambda row: row[0].of if pairs > 1 else None),
    ]
    caption = (
        f"The gates are for a second run that truly loses {100 * loss:g} points, with "
        f"{100 * confidence:.6g} % confidence."
    )
    tables = [table("takes", "Number of items needed", gated, columns, caption)]
    if jointly:
        joint = [
            (key, [passing((part, key[0])) for part in parts]) for key, parts in jointly.items()
        ]
        of_all: list[tuple[Column, Callable[[_Joint], Value]]] = [
            (Column("Points"), lambda row: f"{row[0][0]:g}"),
            (Column("Tasks", "count"), lambda row: len(row[1])),
            (Column("All pass", "percent"), lambda row: math.prod(each or 0.0 for each in row[1])),
            (
                Column("Each needs", "percent", "Power, for 80 % together."),
                lambda row: power.POWER ** (1 / len(row[1])),
            ),
            (Column("Between"), lambda row: row[0][1] if pairs > 1 else None),
        ]
        caption = (
            "With the existing items and the same loss on every task: the product of the tasks' "
            "powers, since tasks without a common item are independent. If items are related, as "
            "in two languages, all tasks pass together more often."
        )
        tables.append(table("together", "How often all tasks pass", joint, of_all, caption))
    return tables
