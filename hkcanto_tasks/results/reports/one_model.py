"""The first section on a single model: its tasks beside the best published scores."""

from collections import Counter
from collections.abc import (
    Callable,
    Iterator,
    Sequence,
)
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from ...messages import joined, say, sentences
from ..runs import Run
from ..statistics.intervals import Estimate
from .blocks import (
    Note,
    TableColumn,
    Value,
    next_step,
    table,
    verdict_note,
)
from .overview import RANKS, SCORE, Overview, Results, best_in_points, in_points
from .pairs import (
    BY_HOW_MUCH,
    HOW_CERTAIN,
)
from .presentation import (
    doubts,
    measure_title,
    task_title,
)
from .renderers.formatting import (
    interval_text,
    listed,
    value_text,
)
from .standings import (
    PublishedBest,
)

_MOST_TASKS = 2  # whose scores a sentence has, with or without a rank
_MOST_REASONS = 3  # for tasks without a rank
_PLACES = (
    "A rank is among a paper's models: all places that the 95 % intervals of its score and of the "
    "published ones allow."
)
_TWO_PROTOCOLS = (
    "‡ The paper's models were asked as its appendices say or as its release does; which one is "
    "unknown."
)


class _TaskRow(NamedTuple):
    """A task of a single model."""

    title: str
    score: Estimate | None
    rank: str | None
    why_unranked: str
    best: PublishedBest | None
    measure: str

    @property
    def best_score(self) -> float | None:
        """The best published score, in points."""
        return self.best and self.best.score

    @property
    def best_model(self) -> str | None:
        """Who has the best published score."""
        return self.best and say("best published: {model}", model=self.best.model)


_COLUMNS: Sequence[tuple[TableColumn, Callable[[_TaskRow], Value]]] = [
    (TableColumn("Task"), attrgetter("title")),
    (
        TableColumn(
            "Score",
            "score",
            SCORE,
            drawn=True,
        ),
        attrgetter("score"),
    ),
    (TableColumn("Rank", help=RANKS), attrgetter("rank")),
    (TableColumn("Best published", "score", drawn=True), attrgetter("best_score")),
    (TableColumn("Figure", beneath=True), attrgetter("measure")),
    (TableColumn("Best published by", beneath=True), attrgetter("best_model")),
]


def overview_of_one(results: Results) -> Overview:
    """Return a single model's tasks with the best published scores, drawn on one axis."""
    runs = chain.from_iterable(results.groups)
    rows = [_task_row(run, results) for run in runs]
    notes = [Note("There is no run to report on.", "verdict")]
    if rows:
        notes = [*_notes_on_one(results.labels[0], rows)]
    tasks = table(
        "tasks",
        "Task by task",
        sorted(rows, key=lambda row: not row.rank),
        _COLUMNS,
        _caption(rows),
        kind="other",
    )
    return Overview(notes, [tasks])


def _task_row(run: Run, results: Results) -> _TaskRow:
    score = in_points(run)
    if score:
        # The line of warnings has the doubts about an only run.
        note = joined("; ", doubts(run)) if len(results.runs) > 1 else ""
        score = replace(score, note=note)
    return _TaskRow(
        task_title(run),
        score,
        results.rank(run),
        results.why_unranked(run),
        best_in_points(run),
        measure_title(run, run.headline),
    )


def _caption(rows: Sequence[_TaskRow]) -> str:
    """Say what the ranks mean, if there are any."""
    ranks = "".join(row.rank or "" for row in rows)
    if not ranks:
        return ""
    if "‡" in ranks:
        return sentences(say(_PLACES), say(_TWO_PROTOCOLS))
    return say(_PLACES)


def _notes_on_one(label: str, rows: Sequence[_TaskRow]) -> Iterator[Note]:
    """Yield where a model is among published ones, why not elsewhere, and what to do next."""
    if len(rows) <= _MOST_TASKS:
        for row in rows:
            yield verdict_note("Score", _task_sentence(label, row))
    else:
        yield from _notes_on_ranks(label, rows)
    text = say("See its scores by subject, and which answers could not be read:")
    yield next_step(text, "hkcanto report LOGS --full")


def _notes_on_ranks(label: str, rows: Sequence[_TaskRow]) -> Iterator[Note]:
    """Yield a model's ranks, how far it is from the best, and why other tasks lack a rank."""
    ranked = [row for row in rows if row.rank]
    if ranked:
        ranks = listed(
            say("{rank} on {task}", rank=row.rank, task=row.title) for row in ranked
        )
        amounts = listed(map(_distance_to_best, ranked))
        lead = say(
            "{model}'s ranks among published models: {ranks}.", model=label, ranks=ranks
        )
        yield verdict_note("Its place", lead)
        yield verdict_note(
            BY_HOW_MUCH, say("From the best published: {amounts}.", amounts=amounts)
        )
        certain = say(
            "95 % for each rank; a range is all places that the intervals allow."
        )
        yield verdict_note(HOW_CERTAIN, certain)
    reasons = Counter(row.why_unranked for row in rows if not row.rank)
    for reason, count in reasons.most_common(_MOST_REASONS):
        text = say(
            "{count} of {tasks} tasks: {reason}.",
            count=count,
            reason=reason,
            tasks=len(rows),
        )
        yield verdict_note("No rank", text)


def _distance_to_best(row: _TaskRow) -> str:
    """Return a task, and how far its score is from the best published one."""
    if row.score is None or row.best is None:
        return row.title
    return say(
        "{points} points on {task} ({rival} {best})",
        task=row.title,
        points=value_text(row.score.value - row.best.score, "score_points"),
        rival=row.best.model,
        best=value_text(row.best.score, "score"),
    )


def _task_sentence(label: str, row: _TaskRow) -> str:
    """Say the score and the rank of a task."""
    places = {
        "model": label,
        "task": row.title,
        "score": _score_text(row),
        "figure": row.measure,
        "rank": row.rank,
        "reason": row.why_unranked,
    }
    if row.rank:
        return say("{model} has {score} on {task} ({figure}): rank {rank}.", **places)
    return say("{model} has {score} on {task} ({figure}); no rank: {reason}.", **places)


def _score_text(row: _TaskRow) -> str:
    """Return the score of a task with its interval."""
    score = value_text(row.score, "score")
    return f"{score} {interval_text(row.score, 'score')}".strip()
