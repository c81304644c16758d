"""The report of `hkcanto plan`: smallest detectable differences, and numbers of items needed."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ...catalogue import benchmarks, find_task, named_tasks
from ...errors import ComparisonError, OptionError
from ...figures import subject_weights
from ...tasks import task_as_run
from ..logs import read_runs
from ..reports.blocks import (
    Estimate,
    Note,
    Report,
    Section,
    TableColumn,
    Value,
    report_of,
    table,
)
from ..runs import Run
from ..statistics.estimates import mean_estimate
from ..statistics.intervals import CONFIDENCE
from ..statistics.matching import match
from . import power
from .power import Spread, applied

_METHOD = (
    "80 % power; both runs answer every item; items are weighted as in the headline. "
    "A difference is tested at 5 %, two-sided (Miller 2024, section 5), a gate at 5 %, one-sided, "
    "by Gaffke's bound, as in hkcanto compare."
)
_SIZES = (100, 250, 500, 1_000, 2_000)


class Part(NamedTuple):
    """A set of items, and the spread of the differences of two runs on it."""

    name: str
    items: int | None  # their number; None if it does not matter
    spread: Spread


def plan_from_runs(
    runs: Sequence[str], metric: str | None, sizes: Sequence[int], **tests: Any
) -> Report:
    """Return the plan for the tasks that runs have in common, with the observed spreads.

    The number of items is that of the whole task, even if the runs have only some of them.

    Args:
        runs: Logs or folders of logs, as in `hkcanto compare`.
        metric: A figure of the tasks; by default their headlines.
        sizes: Numbers of items to plan for, with the first of the spreads.
        tests: See `_plan`.

    Raises:
        ComparisonError: No two runs can be compared.
        OptionError: A gate is not above the loss.
    """
    by_task: dict[str, list[Run]] = defaultdict(list)
    for run in read_runs(runs):
        by_task[run.kind.task.definition.name].append(run)
    pairs = [pair for same in by_task.values() for pair in combinations(same, 2)]
    if not pairs:
        raise ComparisonError(
            "no task has two runs: give the logs of two runs of one task."
        )
    parts = []
    for a, b in pairs:
        paired = match(a, b, metric)
        before, after = np.clip(paired.losses, 0, 1).T
        questions, share = len({a.items.ids[place] for place in paired.positions}), None
        if replace(
            paired, figure=replace(paired.figure, over="questions")
        ).is_right_or_wrong:
            share = mean_estimate(abs(after - before), paired.clusters)
        if share and paired.is_right_or_wrong:
            spread = power.spread_of_discordance(share)
        else:
            spread = power.spread_of_losses(
                after - before, paired.sizes, paired.clusters, questions
            )
            spread = replace(spread, discordance=share)
        name = f"{a.task}: {b.label} against {a.label}"
        whole = sum(map(a.expected_of, a.kind.task.subjects))
        parts.append(Part(name, whole or questions, spread))
    about = "95 % intervals, from the runs' disagreement; items of the whole task."
    return _plan("Plan from two runs", about, parts, [], sizes, **tests)


def plan_from_assumption(
    names: Sequence[str],
    discordance: float | None,
    deviation: float | None,
    sizes: Sequence[int],
    **tests: Any,
) -> Report:
    """Return the plan for tasks with the published number of items and a common spread.

    A discordance is for tasks whose headline is a share of right answers, a standard deviation for
    the other tasks.

    Args:
        names: Benchmarks, tasks, their parts or subjects; by default all except subjects.
        discordance: The share of items on which one run is right and the other wrong, in per cent.
        deviation: The standard deviation of the differences, in points, if no discordance is given.
        sizes: Numbers of items to plan for.
        tests: See `_plan`.

    Raises:
        CatalogueError: A name is unknown.
        OptionError: The spread does not fit a task's figure, its number of items is unknown, or a
            gate is not above the loss.
    """
    if discordance is not None:
        spread = power.spread_of_discordance(Estimate(discordance / 100, None, None, 0))
        title = f"Plan for a discordance of {discordance:g} %"
    else:
        spread = power.spread_of_deviation((deviation or 0.0) / 100)
        title = (
            f"Plan for differences with a standard deviation of {deviation:g} points"
        )
    known = {each.name for each in benchmarks()}
    tasks = {
        task.name: task
        for task in named_tasks().values()
        if task.scope != "subject" and not task.variant.suffix
        if task.benchmark.name in (names or known)
    }
    asked_for = {name: find_task(name) for name in names if name not in known}
    parts = []
    for name, task in (tasks | asked_for).items():
        how = task_as_run(task.name)
        sizes_of = {
            each.name: rows
            for each in task.subjects
            if (rows := task.scored_rows(each))
        }
        items, over = sum(sizes_of.values()), how.headline.over
        is_share = (
            how.headline.unit == "share" and how.headline.form == "mean"
        )  # no macro-F1
        if items and is_share == (discordance is not None):
            weighted = spread
            if over != "questions":
                counted = subject_weights(over, sizes_of, how.categories)
                weights = [items * counted[each] for each in sizes_of]
                shares = [size / items for size in sizes_of.values()]
                weighted = power.weighted(spread, weights, shares)
            parts.append(Part(task.name, items, weighted))
        elif name in asked_for:
            what = f"{task.name} has the headline {how.headline.title} and {items:,} declared items"
            how_to = "Plan shares of right answers with --discordance, other figures with --sd"
            raise OptionError(
                f"{what}. {how_to}, and tasks without `rows` by --items N alone."
            )
    planned = [Part("any", None, spread), *(parts if names else [])]
    return _plan(title, "", planned, [] if names else parts, sizes or _SIZES, **tests)


def _plan(
    title: str,
    about: str,
    parts: Sequence[Part],
    others: Sequence[Part],
    sizes: Sequence[int],
    *,
    gates: Sequence[float],
    loss: float,
    shared_by: int,
) -> Report:
    """Return the report.

    Args:
        title: The report's title.
        about: The source of the differences.
        parts: Parts whose spread was observed or assumed; gates are planned for them.
        others: Other tasks, whose smallest difference is listed too.
        sizes: Numbers of items to plan for, with the first of the spreads.
        gates: Differences and tolerances δ, in points.
        loss: The true loss of the second run, in points; negative if it is better.
        shared_by: The number of tests (looks times candidates) that share a gate's 5 % error.
    """
    if min(gates) <= loss:
        what = f"--gate {min(gates):g} with --loss {loss:g}: a run that loses so much does not pass"
        raise OptionError(f"{what}. Give a larger gate, or a smaller loss.")
    confidence = 1 - (1 - CONFIDENCE) / shared_by

    def smallest(part: Part) -> Value:
        most = part.spread.discordance.value if part.spread.discordance else 1.0
        points = part.spread.deviation.times(
            100 * power.smallest_difference(1, part.items or 1)
        )
        return points if points.value < 100 * most else None

    def shown(row: tuple[Part, float]) -> Value:
        return applied(
            lambda end: power.items_to_show(end, row[1] / 100), row[0].spread.deviation
        )

    def passed(row: tuple[Part, float]) -> Value:
        return power.items_for_bound(
            row[0].spread, row[1] / 100, loss / 100, confidence
        )

    disagree = "Share of items that exactly one run answers correctly."
    deviates = "Standard deviation of the differences, in points."
    of_parts: list[tuple[TableColumn, Callable[[Part], Value]]] = [
        (TableColumn("Item set"), lambda part: part.name),
        (TableColumn("Items", "count"), lambda part: part.items),
        (
            TableColumn(
                "Shows", "number", "Smallest difference shown, in points.", drawn=True
            ),
            smallest,
        ),
        (
            TableColumn("Disagree", "percent", disagree),
            lambda part: part.spread.discordance,
        ),
        (
            TableColumn("SD", "number", deviates),
            lambda part: part.spread.deviation.times(100),
        ),
    ]
    of_gates: list[tuple[TableColumn, Callable[[tuple[Part, float]], Value]]] = [
        (TableColumn("Points"), lambda row: f"{row[1]:g}"),
        (TableColumn("Item set"), lambda row: row[0].name if len(parts) > 1 else None),
        (
            TableColumn(
                "To show it", "count", "Items needed to show a difference of this size."
            ),
            shown,
        ),
        (
            TableColumn(
                "By compare --gate",
                "count",
                "Items needed to pass a gate of this size.",
            ),
            passed,
        ),
        (TableColumn("Existing", "count"), lambda row: row[0].items),
    ]
    caption = f"Gates: the second run loses {loss:g} points; {100 * confidence:.6g} % confidence."
    gated = [(part, gate) for part in parts for gate in gates]
    counted = [Part(f"any {n:,}", n, parts[0].spread) for n in sizes]
    listed = [*counted, *(part for part in [*parts, *others] if part.items)]
    shows = table(
        "shows", "Smallest difference shown, in points", listed, of_parts, about
    )
    takes = table("takes", "Number of items needed", gated, of_gates, caption)
    return report_of(
        [Section("Plan", [Note(_METHOD), shows, takes], "plan", True)], title
    )
