"""The report on runs: which model leads and how surely, one table, then the details in sections.

Two models are compared task by task. More are rows, sorted by their mean rank. A single model has a
row for each task, beside the best published score.
"""

from collections.abc import (
    Iterator,
    Mapping,
    Sequence,
)
from functools import partial
from itertools import chain
from typing import Any

from ...messages import joined, say, verbatim
from ..frames import checkpoint, figure_rows
from ..runs import Run, SkippedLog
from ..statistics.selection import Selection, selection, why_out_of_selection
from ..statistics.validity import no_verdict, unread_run
from . import analyses
from .blocks import (
    Block,
    Note,
    Report,
    Section,
    report_of,
)
from .how_made import last_section
from .many_models import overview_of_many
from .one_model import overview_of_one
from .overview import Results
from .paper_tables import paper_table
from .presentation import (
    doubts,
    footer_of,
    headline,
    side_by_side,
    unread_of,
    warning_lines,
)
from .standings import (
    Standing,
    standings,
)
from .two_models import overview_of_two

_RUN_KEYS = (
    "label",
    "model",
    "harness",
    "task",
    "condition",
    "created",
    "status",
    "notes",
)


def build_report(
    runs: Sequence[Run],
    skipped: Sequence[SkippedLog] = (),
    title: str = "",
    *,
    alone: bool = False,
) -> Report:
    """Return the report of some runs; the default title names the models.

    All tasks share the error of 5 %, unless each is taken `alone`.
    """
    frame = partial(figure_rows, runs)
    runs = _in_training_order(runs)
    labels = [*dict.fromkeys(run.label for run in runs)]
    results = Results(
        runs,
        skipped,
        labels,
        side_by_side(runs),
        standings(runs),
        tests=1 if alone else tests_of(runs),
    )
    papers = [*map(paper_table, results.papers)]
    is_one_group = len(results.groups) == 1
    sections = [
        _first_section(results),
        Section(
            "Published scores",
            papers,
            "published",
            is_summary=is_one_group,
        ),
        *analyses.sections(runs),
        last_section(results),
    ]
    records = {
        "runs": [_record(results, run) for run in runs],
        "best": best_records(runs, alone=alone),
    }
    title = verbatim(title or _title(labels))
    return report_of(
        sections,
        title,
        footer_of(runs),
        records,
        frame,
    )


def _title(labels: Sequence[str]) -> str:
    """Return a title that names at most two models."""
    if len(labels) > 2:
        return say("{number} models", number=len(labels))
    return joined(" against ", reversed(labels))


def _in_training_order(runs: Sequence[Run]) -> list[Run]:
    """Return runs that are not checkpoints, then each training run's checkpoints by step."""
    steps = {run: checkpoint(run) or ("", 0) for run in runs}
    names = [*dict.fromkeys(["", *(name for name, _ in steps.values())])]
    return sorted(runs, key=lambda run: (names.index(steps[run][0]), steps[run][1]))


def tests_of(runs: Sequence[Run]) -> int:
    """Return the number of tasks on which runs can differ, which share the error of 5 %."""
    return max(1, sum(len(group) > 1 for group in side_by_side(runs)))


def best_records(
    runs: Sequence[Run], *, alone: bool = False
) -> Sequence[Mapping[str, Any]]:
    """Return the best run of each task under each condition, as records."""
    tests = 1 if alone else tests_of(runs)
    races = [selection(tuple(group), tests) for group in side_by_side(runs)]
    return [_best_record(race) for race in races if race]


def why_no_best(runs: Sequence[Run]) -> list[str]:
    """Say of each task without a best run why its runs are left out."""
    reasons = [[*map(why_out_of_selection, group)] for group in side_by_side(runs)]
    return [*chain.from_iterable(whys for whys in reasons if all(whys))]


def _best_record(race: Selection) -> Mapping[str, Any]:
    best = race.best
    _, step = checkpoint(best) or ("", None)
    return {
        "task": best.task,
        "condition": best.condition,
        "label": best.label,
        "step": step,
        "figure": headline(best),
        "picked_from": race.picked_from,
        "overstated": race.overstated,
        "ties": [run.label for run in race.ties],
        "left_out": {run.label: why for run, why in race.left_out.items()},
    }


def _record(results: Results, run: Run) -> Mapping[str, Any]:
    """Return a run as a record, with its setup, headline, ranks and checks."""
    return {
        **{key: getattr(run, key) for key in _RUN_KEYS},
        "headline": run.headline,
        "signature": run.signature.text,
        "figure": headline(run),
        "doubts": doubts(run),
        "unread": unread_of(run),
        "usage": run.usage.known,
        "standings": [*map(_standing_record, results.standings(run))],
    }


def _standing_record(standing: Standing) -> Mapping[str, Any]:
    return {
        "table": standing.table.name,
        "source": standing.table.source,
        "column": standing.column.name,
        "figure": standing.figure,
        "ranks": standing.ranks,
        "of": standing.total,
        "followed": standing.protocol,
        "other": standing.other,
        "remark": standing.remark,
        "copy_rank": standing.copy_rank,
    }


def _first_section(results: Results) -> Section:
    """Return the section to read first: a sentence, a line of warnings, and one table."""
    models = len(results.labels)
    if models < 2:
        overview = overview_of_one(results)
    elif models == 2:
        overview = overview_of_two(results)
    else:
        overview = overview_of_many(results)
    blocks: list[Block] = [*overview.notes]
    for warning in _warnings(results, overview.left_out):
        blocks.append(Note(warning, "warning"))
    blocks += overview.tables
    return Section(
        "Results",
        blocks,
        "results",
        is_summary=True,
    )


def _warnings(results: Results, left_out: Sequence[Run]) -> Iterator[str]:
    """Yield each doubt with the runs that it concerns, and the numbers of logs and runs left out."""
    yield from warning_lines(results.runs)
    superseded = sum(log.is_superseded for log in results.skipped)
    if superseded:
        yield say(
            "logs left out for larger or newer ones of their items: {number} (“How this was made”)",
            number=superseded,
        )
    others = len(results.skipped) - superseded
    if others:
        yield say(
            "logs left out or read in part: {number} (“How this was made”)",
            number=others,
        )
    unread = [*filter(None, map(unread_run, left_out))]
    yield from no_verdict(unread)
    unlike = len(left_out) - len(unread)
    if unlike:
        yield say(
            "runs not compared, as unfinished or on other items: {number}",
            number=unlike,
        )
