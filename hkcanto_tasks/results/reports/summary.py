"""The report on runs: which model leads and how surely, one table, then the details in sections.

Two models are compared task by task. More are rows, sorted by their mean rank. A single model has a
row for each task, beside the best published score.
"""

from collections import Counter, defaultdict
from collections.abc import (
    Callable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from operator import attrgetter
from shlex import quote
from statistics import fmean
from typing import Any, NamedTuple

from ...errors import ComparisonError
from ...messages import joined, say, say_number, sentences, verbatim
from ..frames import checkpoint, figure_rows
from ..published import (
    PublishedColumn,
    PublishedRow,
    PublishedTable,
    RowKind,
)
from ..runs import Run, SkippedLog
from ..statistics.estimates import harness_agreement
from ..statistics.intervals import WIDE, Estimate
from ..statistics.matching import points_of
from ..statistics.paired import compare
from ..statistics.selection import Selection, selection, why_out_of_selection
from ..statistics.validity import no_verdict, unread_run
from . import analyses
from .blocks import (
    Block,
    Note,
    Report,
    Section,
    TableBlock,
    TableColumn,
    TableRow,
    TableRowKind,
    Value,
    next_step,
    report_of,
    table,
    unit_of,
    verdict_note,
)
from .pairs import (
    BY_HOW_MUCH,
    HOW_CERTAIN,
    NOTHING,
    WHO_LEADS,
    RunPair,
    pair_of,
    pairs_blocks,
)
from .presentation import (
    MODEL,
    TASK,
    doubts,
    footer_of,
    headline,
    measure_title,
    run_title,
    short_title,
    side_by_side,
    task_title,
    unread_of,
    warning_lines,
)
from .renderers.formatting import (
    interval_text,
    listed,
    number,
    value_text,
)
from .standings import (
    PublishedBest,
    Standing,
    TableWithRuns,
    best_published,
    chance,
    headline_column,
    rank_of,
    standings,
    why_left_out,
)

_MOST_DISAGREEMENTS = 4
_MOST_TASKS = 2  # whose scores a sentence has, with or without a rank
_MOST_REASONS = 3  # for tasks without a rank
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
_KINDS: Mapping[RowKind, TableRowKind] = {
    "model": "published",
    "human": "human",
    "random": "random",
}
_SCORE = f"From 0 to 100. With 95 % interval: {WIDE}."
_RANKS = (
    "Rank among the paper's models; for a run, the ranks that its 95 % interval allows, or why it "
    "has none. Published scores have the interval of a run on as many items."
)
_HIGHER = (
    "The paper's models and the runs, by {column}; higher is better. Published scores have the "
    "interval of a run on as many items."
)
_LOWER = (
    "The paper's models and the runs, by {column}; lower is better. Published scores have the "
    "interval of a run on as many items."
)
_PLACES = (
    "A rank is among a paper's models: all places that the 95 % intervals of its score and of the "
    "published ones allow."
)
_TWO_PROTOCOLS = (
    "‡ The paper's models were asked as its appendices say or as its release does; which one is "
    "unknown."
)
_MATRIX = (
    "Each task's headline figure, on all of its items unless a note says otherwise. The best is "
    "marked “*” or bold; “≈” marks models that are not certainly behind it. With few items, only large "
    "differences are certain."
)
_COUNTS = (
    "On how many of {tasks} tasks a model is certainly better than all others, perhaps the best (no "
    "model is certainly better than it), and certainly behind the best."
)
_BEST = "Tasks on which it is certainly better than all others."
_PERHAPS = "Tasks on which neither it nor another model is certainly the best."
_BEHIND = "Tasks on which it is certainly worse than the best."
_ONLY_ONE = (
    "No model leads: only {model} can be compared on every task. "
    "Each of the others has a run that is left out."
)
_DOUBTS = "Failed checks: figures like the harness's, all items, at most 2 % unread, greedy, known data."


@dataclass(frozen=True, eq=False)
class _Results:
    """The runs of a report, in the order of training, and what is known of them together.

    Attributes:
        runs: The runs.
        skipped: The logs that were left out or read in part.
        labels: The models.
        groups: Runs that differ only in the model.
        papers: The published tables with runs in them.
        tests: The number of tasks that share the error of 5 %.
    """

    runs: Sequence[Run]
    skipped: Sequence[SkippedLog]
    labels: Sequence[str]
    groups: Sequence[Sequence[Run]]
    papers: Sequence[TableWithRuns]
    tests: int

    def standings(self, run: Run) -> list[Standing]:
        """Return the standings of a run in the papers' tables, those of its headline first."""
        standings = chain.from_iterable(paper.standings for paper in self.papers)
        of_run = [standing for standing in standings if run in standing.runs]
        return sorted(of_run, key=lambda standing: not standing.is_headline_of(run))

    def rank(self, run: Run) -> str | None:
        """Return the rank of a run's headline; None without one."""
        for standing in self.standings(run):
            if standing.ranks and standing.is_headline_of(run):
                return standing.rank_text
        return None

    def why_unranked(self, run: Run) -> str:
        """Say in a few words why a run's headline is unranked."""
        for standing in self.standings(run):
            if standing.is_headline_of(run) and standing.figure.note:
                return standing.figure.note
        return say("no published score of the same task and setup")


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
    results = _Results(
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
        Section("Published scores", papers, "published", is_summary=is_one_group),
        *analyses.sections(runs),
        _last_section(results),
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


def _record(results: _Results, run: Run) -> Mapping[str, Any]:
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


# ---------------------------------------------------------------------- the first section


class _Overview(NamedTuple):
    """The verdict and what to do next, the tables to read first, and runs that are not compared."""

    notes: Sequence[Note]
    tables: Sequence[TableBlock]
    left_out: Sequence[Run] = ()


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


def _first_section(results: _Results) -> Section:
    """Return the section to read first: a sentence, a line of warnings, and one table."""
    models = len(results.labels)
    if models < 2:
        overview = _overview_of_one(results)
    elif models == 2:
        overview = _overview_of_two(results)
    else:
        overview = _overview_of_many(results)
    blocks: list[Block] = [*overview.notes]
    for warning in _warnings(results, overview.left_out):
        blocks.append(Note(warning, "warning"))
    blocks += overview.tables
    return Section("Results", blocks, "results", is_summary=True)


def _warnings(results: _Results, left_out: Sequence[Run]) -> Iterator[str]:
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


def overview_of_runs(
    runs: Sequence[Run], tests: int
) -> tuple[Sequence[Note], Sequence[TableBlock]]:
    """Return the verdict on more than two models, and the tables of models and tasks.

    A number of `tests` share the error of 5 %.
    """
    labels = [*dict.fromkeys(run.label for run in runs)]
    results = _Results(runs, (), labels, side_by_side(runs), (), tests)
    overview = _overview_of_many(results)
    return overview.notes, overview.tables


def _overview_of_one(results: _Results) -> _Overview:
    """Return a single model's tasks with the best published scores, drawn on one axis."""
    rows = list[_TaskRow]()
    for run in chain.from_iterable(results.groups):
        score = _in_points(run)
        if score:
            # The line of warnings has the doubts about an only run.
            note = joined("; ", doubts(run)) if len(results.runs) > 1 else ""
            score = replace(score, note=note)
        measure = measure_title(run, run.headline)
        best = _best_in_points(run)
        rows.append(
            _TaskRow(
                task_title(run),
                score,
                results.rank(run),
                results.why_unranked(run),
                best,
                measure,
            )
        )
    columns: list[tuple[TableColumn, Callable[[_TaskRow], Value]]] = [
        (TableColumn("Task"), attrgetter("title")),
        (
            TableColumn(
                "Score",
                "score",
                _SCORE,
                drawn=True,
            ),
            attrgetter("score"),
        ),
        (TableColumn("Rank", help=_RANKS), attrgetter("rank")),
        (TableColumn("Best published", "score", drawn=True), attrgetter("best_score")),
        (TableColumn("Figure", beneath=True), attrgetter("measure")),
        (TableColumn("Best published by", beneath=True), attrgetter("best_model")),
    ]
    notes = [Note("There is no run to report on.", "verdict")]
    if rows:
        notes = [*_notes_on_one(results.labels[0], rows)]
    ranks = "".join(row.rank or "" for row in rows)
    caption = say(_PLACES) if ranks else ""
    if "‡" in ranks:
        caption = sentences(caption, say(_TWO_PROTOCOLS))
    tasks = table(
        "tasks",
        "Task by task",
        sorted(rows, key=lambda row: not row.rank),
        columns,
        caption,
        kind="other",
    )
    return _Overview(notes, [tasks])


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


def _overview_of_two(results: _Results) -> _Overview:
    """Return each task's pair of runs, compared as in `hkcanto compare`, and runs left out."""
    pairs = list[RunPair]()
    left_out = list[Run]()
    for group in results.groups:
        by_label = {run.label: run for run in reversed(group)}
        first, second = (by_label.get(label) for label in results.labels)
        published = _best_in_points(group[0])
        best = published and published.score
        pair = _uncompared_pair(group[0], first, second, best)
        if first and second:
            try:
                pair = pair_of(
                    compare(first, second, parts=False, tests=results.tests), best
                )
            except ComparisonError:
                left_out += [first, second]
        pairs.append(pair)
    notes, tasks = pairs_blocks(pairs, results.labels)
    return _Overview(notes, [tasks], left_out)


def _uncompared_pair(
    run: Run,
    first: Run | None,
    second: Run | None,
    best: float | None,
) -> RunPair:
    """Return a task's pair of runs without an effect."""
    scores = list[float | None]()
    for side in (first, second):
        score = _in_points(side) if side else None
        scores.append(score.value if score else None)
    measure = measure_title(run, run.headline)
    return RunPair(
        task_title(run),
        run.headline,
        None,
        measure,
        scores,
        best,
    )


def _in_points(run: Run) -> Estimate | None:
    """Return the value of a run's headline, from 0 to 100."""
    value = headline(run)
    return value and value.times(points_of(run.headline))


def _best_in_points(run: Run) -> PublishedBest | None:
    """Return the best published score of a run's headline, from 0 to 100."""
    best = best_published(run)
    return best and best._replace(score=best.score * points_of(run.headline))


def _overview_of_many(results: _Results) -> _Overview:
    """Return which model has the best mean rank, and where the best is ahead of all others.

    The differences hold for all tasks at once. Runs that are not comparable are left out.
    """
    groups = [group for group in results.groups if len(group) > 1]
    races = list[Selection]()
    left_out = list[Run]()
    for group in groups:
        race = selection(tuple(group), results.tests)
        if race is None:
            continue
        left_out += race.left_out
        if race.differences:
            races.append(race)
    ranks = _mean_ranks(results, {run.label for run in left_out})
    notes = [Note(say(NOTHING, models=len(results.labels)), "verdict")]
    if races:
        notes = [*_notes_on_many(results, ranks, races)]
    tables = [_matrix(results, races, ranks)]
    if len(races) > 1:
        tables.insert(0, _models(results, ranks, races))
    return _Overview(notes, tables, left_out)


def _notes_on_many(
    results: _Results,
    ranks: Mapping[str, float | None],
    races: Sequence[Selection],
) -> Iterator[Note]:
    """Yield which models lead, by how much, how certainly, and what to do next."""
    known = {label: rank for label, rank in ranks.items() if rank is not None}
    if not known:
        yield Note(say("No task was run in full by all models."), "verdict")
        return
    if len(known) == 1:
        (model,) = known
        yield Note(say(_ONLY_ONE, model=model), "verdict")
        if len(races) > 1:
            yield verdict_note("Task by task", _best_of_tasks(races))
        return
    means = _mean_accuracies(results)
    best_first = _by_rank(known, means)
    best = known[best_first[0]]
    leaders = [label for label in best_first if known[label] == best]
    others = best_first[len(leaders) :]
    yield verdict_note(WHO_LEADS, _leads(leaders, others, known, races))
    first, second = best_first[:2]
    amount = _amount(first, second, means, races)
    if amount:
        yield verdict_note(BY_HOW_MUCH, amount)
    if len(races) > 1:
        yield verdict_note(HOW_CERTAIN, _lead_certainty(first, second, others, races))
        yield verdict_note("Task by task", _best_of_tasks(races))
    elif others:
        yield verdict_note(HOW_CERTAIN, _certainty_on_one(leaders, others, races[0]))
    models = " ".join(f"--model {quote(label)}" for label in (first, second))
    text = say("Compare the first two task by task:")
    yield next_step(text, f"hkcanto compare LOGS {models}")


def _leads(
    leaders: Sequence[str],
    others: Sequence[str],
    ranks: Mapping[str, float],
    races: Sequence[Selection],
) -> str:
    """Say which models have the best mean rank, or the best score on a single task."""
    places: dict[str, object] = {
        "leaders": listed(leaders, " and "),
        "models": len(ranks),
        "mean_rank": value_text(ranks[leaders[0]], "score"),
        "tasks": len(races),
    }
    if len(races) == 1:
        places["task"] = task_title(races[0].best)
        text = say("The best of {models} models on {task}: {leaders}.", **places)
    elif len(leaders) > 1:
        text = say(
            "{leaders} share the first place of {models} models: mean rank {mean_rank} over "
            "{tasks} tasks.",
            **places,
        )
    else:
        text = say(
            "{leaders} is the first of {models} models: mean rank {mean_rank} over {tasks} tasks.",
            **places,
        )
    if others:
        next_rank = value_text(ranks[others[0]], "score")
        following = {"model": others[0], "mean_rank": next_rank}
        if len(races) == 1:
            return sentences(text, say("Next is {model}.", **following))
        return sentences(text, say("Next is {model} with {mean_rank}.", **following))
    return text


def _amount(
    first: str,
    second: str,
    means: Mapping[str, Estimate],
    races: Sequence[Selection],
) -> str:
    """Say by how much the first model is ahead of the second: on a single task, or in the mean."""
    scores = dict(means)
    if len(races) == 1:
        pairs = {run.label: _in_points(run) for run in races[0].items}
        scores = {label: score for label, score in pairs.items() if score}
    if not scores:
        return ""
    difference = scores[first].value - scores[second].value
    if len(races) == 1:
        difference = abs(difference)  # of error rates, the lower is better
    gain = value_text(difference, "score_points")
    places = {
        "model": first,
        "second": second,
        "gain": gain,
        "score": value_text(scores[first], "score"),
        "other": value_text(scores[second], "score"),
        "tasks": scores[first].items,
    }
    if len(races) == 1:
        return say("{gain} points: {model} {score} against {second} {other}.", **places)
    return say(
        "{gain} points in the mean of {tasks} tasks: {model} {score}, {second} {other}.",
        **places,
    )


def _lead_certainty(
    first: str,
    second: str,
    others: Sequence[str],
    races: Sequence[Selection],
) -> str:
    """Say on how many tasks the first model is certainly better than the second, and than others."""
    text = _certainty_of_two(first, second, races)
    rest = [label for label in others if label != second]
    unclear = [label for label in rest if not _is_clearly_ahead(first, label, races)]
    places = {"model": first, "named": listed(unclear, ", "), "count": len(rest)}
    if unclear:
        close = say("Not certainly behind {model}: {named}.", **places)
        return sentences(text, close)
    if rest:
        behind = say_number(
            "The other model is certainly behind {model} on some task, and certainly ahead on none.",
            "The other {number} are certainly behind {model} on some task, and certainly ahead on "
            "none.",
            len(rest),
            model=first,
        )
        return sentences(text, behind)
    return text


def _certainty_of_two(first: str, second: str, races: Sequence[Selection]) -> str:
    """Say on how many tasks the first of two models is certainly better, and certainly worse."""
    better = _wins(first, second, races)
    worse = _wins(second, first, races)
    places = {
        "model": first,
        "second": second,
        "better": better,
        "worse": worse,
        "tasks": len(races),
    }
    if not better and not worse:
        return say(
            "Not certain: no task shows a difference between {model} and {second} (95 %, all pairs and "
            "tasks together).",
            **places,
        )
    if worse:
        return say(
            "Not certain: {model} is certainly better than {second} on {better} of {tasks} tasks, and "
            "certainly worse on {worse} (95 %, all pairs and tasks together).",
            **places,
        )
    return say(
        "{model} is certainly better than {second} on {better} of {tasks} tasks, and certainly worse "
        "on none (95 %, all pairs and tasks together).",
        **places,
    )


def _certainty_on_one(
    leaders: Sequence[str],
    others: Sequence[str],
    race: Selection,
) -> str:
    """Say than how many other models the best of a single task are certainly better."""
    close = [
        label
        for label in others
        if not any(_is_clearly_ahead(leader, label, [race]) for leader in leaders)
    ]
    text = say(
        "Certainly better than {apart} of the {others} others (95 %, all pairs).",
        apart=len(others) - len(close),
        others=len(others),
    )
    if close:
        models = listed((_named_behind(label, race) for label in close), ", ")
        return sentences(text, say("Not certainly better than {named}.", named=models))
    return text


def _wins(leader: str, other: str, races: Sequence[Selection]) -> int:
    """Return on how many tasks a model is significantly better than another."""
    return sum(
        run.label == leader and other in {beaten.label for beaten in behind}
        for race in races
        for run, behind in race.ahead.items()
    )


def _is_clearly_ahead(leader: str, other: str, races: Sequence[Selection]) -> bool:
    """Whether a model is significantly better than another on a task, and worse on none."""
    return _wins(leader, other, races) > 0 and not _wins(other, leader, races)


def _named_behind(label: str, race: Selection) -> str:
    """Return a model, and how many points it is behind the best of a task."""
    gaps = {run.label: gap for run, gap in race.differences.items()}
    points = points_of(race.best.headline) * abs(gaps.get(label, 0.0))
    return say("{model} ({points} points behind)", model=label, points=f"{points:.1f}")


def _best_of_tasks(races: Sequence[Selection]) -> str:
    """Say on how many tasks a model is certainly better than all others."""
    tasks = defaultdict[str, list[str]](list)
    for race in races:
        if not race.ties:
            score = value_text(_in_points(race.best), "score")
            won = say(
                "{task} {score}", task=short_title(race.best.definition), score=score
            )
            tasks[race.best.label].append(won)
    if not tasks:
        return say(
            "On none of the {tasks} tasks is one model certainly better than all others.",
            tasks=len(races),
        )
    texts = [
        say("{model}: {tasks}", model=label, tasks=listed(titles, ", "))
        for label, titles in tasks.items()
    ]
    return say(
        "On {won} of the {tasks} tasks one model is certainly better than all others. {named}.",
        won=sum(map(len, tasks.values())),
        tasks=len(races),
        named=listed(texts),
    )


def _mean_accuracies(results: _Results) -> Mapping[str, Estimate]:
    """Return each model's mean accuracy, from 0 to 100, over the tasks that all models have.

    Only shares of right answers have a mean, and only over at least two tasks. The items of the
    estimate are the tasks.
    """
    scores = defaultdict[str, list[float]](list)
    for group in results.groups:
        if not group[0].headline.is_accuracy:
            continue
        values = {run.label: value for run in group if (value := _in_points(run))}
        if len(values) == len(results.labels):
            for label, value in values.items():
                scores[label].append(value.value)
    return {
        label: Estimate(fmean(of_tasks), None, None, len(of_tasks))
        for label, of_tasks in scores.items()
        if len(of_tasks) > 1
    }


def _models(
    results: _Results,
    ranks: Mapping[str, float | None],
    races: Sequence[Selection],
) -> TableBlock:
    """Return the models by mean rank, with how often each is the best or not certainly behind."""
    firsts = Counter(race.best.label for race in races if not race.ties)
    perhaps = Counter[str]()
    behind = Counter[str]()
    for race in races:
        if race.ties:
            perhaps.update({run.label for run in (race.best, *race.ties)})
        tied = {run.label for run in (race.best, *race.ties)}
        behind.update({run.label for run in race.differences} - tied)
    columns: list[tuple[TableColumn, Callable[[str], Value]]] = [
        (TableColumn("Model"), str),
        (
            TableColumn("Mean rank", "score", lower_is_better=True),
            lambda label: ranks[label],
        ),
        (TableColumn("Mean accuracy", "score"), _mean_accuracies(results).get),
        (TableColumn("Certainly best", "count", _BEST), lambda label: firsts[label]),
        (TableColumn("Perhaps best", "count", _PERHAPS), lambda label: perhaps[label]),
        (
            TableColumn("Certainly behind", "count", _BEHIND),
            lambda label: behind[label],
        ),
    ]
    return table(
        "models",
        "Models, best first",
        _by_rank(ranks, _mean_accuracies(results)),
        columns,
        say(_COUNTS, tasks=len(races)),
    )


def _by_rank(
    ranks: Mapping[str, float | None], means: Mapping[str, Estimate]
) -> list[str]:
    """Return the models by mean rank, equal ones by their mean, those without a rank last."""

    def order(label: str) -> tuple[bool, float, float, str]:
        rank = ranks[label]
        mean = means[label].value if label in means else 0.0
        return rank is None, rank or 0.0, -mean, label

    return sorted(ranks, key=order)


def _matrix(
    results: _Results,
    races: Sequence[Selection],
    ranks: Mapping[str, float | None],
) -> TableBlock:
    """Return the table of models × tasks, sorted by the mean rank over the tasks that all have.

    A note of a headline says whether it ties with the best, and the doubts about it. Below the
    models are the best published scores, and chance.
    """
    columns = [
        TableColumn("Model"),
        TableColumn(
            "Mean rank",
            "score",
            "Over the tasks that all models have in full.",
            lower_is_better=True,
        ),
    ]
    best: list[Value] = [say("Best published"), None]
    random: list[Value] = [say("Chance"), None]
    for group in results.groups:
        columns.append(headline_column(group[0]))
        published = best_published(group[0])
        best.append(published and published.score)
        random.append(chance(group[0]))
    rows = _model_rows(results, races, ranks)
    rows += [TableRow(best, "best"), TableRow(random, "random")]
    return TableBlock(
        "matrix",
        "Models and tasks",
        columns,
        [row for row in rows if any(value is not None for value in row.values[1:])],
        caption=_MATRIX,
        turnable=len(results.groups) > 1,
    )


def _model_rows(
    results: _Results,
    races: Sequence[Selection],
    ranks: Mapping[str, float | None],
) -> list[TableRow]:
    """Return a row of headlines for each model, those without a mean rank last."""
    shared = set.intersection(*({*doubts(run)} for run in results.runs))
    ties = {*chain.from_iterable(race.ties for race in races)}
    by_label = [{run.label: run for run in reversed(group)} for group in results.groups]
    rows = list[TableRow]()
    for label in _by_rank(ranks, _mean_accuracies(results)):
        values: list[Value] = [label, ranks[label]]
        for runs in by_label:
            run = runs.get(label)
            values.append(_noted_headline(run, ties, shared) if run else None)
        rows.append(TableRow(values, "run"))
    return rows


def _noted_headline(
    run: Run,
    ties: Set[Run],
    shared: Set[str],
) -> Estimate | None:
    """Return a headline, noted with whether it ties with the best and what is doubtful about it."""
    value = headline(run)
    if value is None:
        return None
    notes = [doubt for doubt in doubts(run) if doubt not in shared]
    if run in ties:
        notes.insert(0, "≈")
    return replace(value, note=joined("; ", notes))


def _mean_ranks(results: _Results, left_out: Set[str]) -> dict[str, float | None]:
    """Return each model's mean rank over the tasks that all have.

    It is None without such a task, or if a run of the model is left out of the comparison.
    """
    ranked = {*results.labels} - left_out
    ranks: dict[str, list[int]] = {label: [] for label in results.labels}
    for group in results.groups:
        for label, rank in _task_ranks(group, ranked).items():
            ranks[label].append(rank)
    return {
        label: fmean(of_tasks) if of_tasks else None
        for label, of_tasks in ranks.items()
    }


def _task_ranks(group: Sequence[Run], labels: Set[str]) -> dict[str, int]:
    """Return the rank of each of some models on a task; empty if one of them lacks the task."""
    sign = 1 if group[0].headline.higher_is_better else -1
    scores = dict[str, float]()
    for run in group:
        value = headline(run)
        if value and run.label in labels:
            scores[run.label] = sign * value.value
    if len(scores) < len(labels):
        return {}
    return {
        label: 1 + sum(other > score for other in scores.values())
        for label, score in scores.items()
    }


# ---------------------------------------------------------------------- published tables


def paper_table(paper: TableWithRuns) -> TableBlock:
    """Return a published table with the runs in it, sorted and drawn by its headline."""
    published = paper.table
    key = paper.headline
    rows = [_published_row(row, published, key) for row in published.rows]
    for name, standings_of_run in paper.runs.items():
        rows.append(_run_row(name, standings_of_run, published, key))
    position = 2 + published.columns.index(key)
    sign = 1 if key.lower_is_better else -1

    def order(row: TableRow) -> tuple[bool, float]:
        score = number(row.values[position])
        return score is None, sign * (score or 0)

    about = say(_HIGHER, column=key.name)
    if key.lower_is_better:
        about = say(_LOWER, column=key.name)
    return TableBlock(
        f"published_{published.name}",
        say("{source}: {title}", source=published.source, title=say(published.title)),
        columns=[
            TableColumn("Model"),
            TableColumn("Rank", help=_RANKS, under=say("by {column}", column=key.name)),
            *(_paper_column(column, key) for column in published.columns),
        ],
        rows=sorted(rows, key=order),
        caption=about,
    )


def _published_row(
    row: PublishedRow,
    published: PublishedTable,
    key: PublishedColumn,
) -> TableRow:
    rank = rank_of(row, published, key)
    name = row.model if row.kind == "model" else say(row.model)
    values: list[Value] = [name, str(rank) if rank else None]
    for column, score in row.values.items():
        if score is not None and column in row.notes:
            values.append(
                Estimate(
                    score,
                    None,
                    None,
                    0,
                    say(row.notes[column]),
                )
            )
        else:
            values.append(score)
    return TableRow(values, _KINDS.get(row.kind, "other"))


def _run_row(
    name: str,
    by_column: Mapping[str, Standing],
    published: PublishedTable,
    key: PublishedColumn,
) -> TableRow:
    """Return the row of a run; its rank says why it has none."""
    headline_standing = by_column.get(key.name)
    rank = None
    if headline_standing:
        rank = headline_standing.rank_text or headline_standing.figure.note
    values: list[Value] = [name, rank]
    for column in published.columns:
        standing = by_column.get(column.name)
        figure = standing.shown if standing else None
        # A figure is shown without its note if the row's rank has the same text.
        if figure and figure.note == rank:
            figure = replace(figure, note="")
        values.append(figure)
    return TableRow(values, "run")


def _paper_column(column: PublishedColumn, key: PublishedColumn) -> TableColumn:
    about = say("Not measured here: {reason}.", reason=say(column.unmeasured))
    if not column.unmeasured:
        names = filter(None, (*column.mean_of, *column.tasks, column.part))
        about = say("Of {names}.", names=joined(", ", names))
    measure = column.measure
    return TableColumn(
        verbatim(column.name),
        unit_of(measure) if measure else column.unit,
        about,
        column.lower_is_better,
        drawn=column is key,
    )


# ---------------------------------------------------------------------- the last section


def _last_section(results: _Results) -> Section:
    """Return the section on how everything was made: signatures, checks, protocols, omissions."""
    score = TableColumn("Score", "score", _SCORE)
    columns: list[tuple[TableColumn, Callable[[Run], Value]]] = [
        MODEL,
        TASK,
        (score, _in_points),
        (TableColumn("Rank", help=_RANKS), results.rank),
        (
            TableColumn("Doubts", help=_DOUBTS),
            lambda run: joined("; ", doubts(run)) or None,
        ),
        (TableColumn("Called"), attrgetter("model")),
        (TableColumn("Harness"), attrgetter("harness")),
        (TableColumn("Run on"), lambda run: f"{run.created:%Y-%m-%d %H:%M}"),
        (TableColumn("Signature"), attrgetter("signature.text")),
    ]
    about = "Compare numbers only if their signatures match (ignoring pkg)."
    runs = table(
        "runs",
        "Runs",
        results.runs,
        columns,
        about,
    )
    notes = map(Note, chain(_checks(results.runs), _protocols(results)))
    blocks: list[Block] = [runs, *notes, _skipped(results.skipped)]
    return Section("How this was made", blocks, "made", bool(results.skipped))


def _skipped(logs: Sequence[SkippedLog]) -> TableBlock:
    """Return the logs that were left out or read in part, and why."""
    # Reports are passed on, and need not show whole paths.
    rows = [TableRow(["/".join(log.path.parts[-2:]), log.reason]) for log in logs]
    columns = [TableColumn("File"), TableColumn("Reason")]
    return TableBlock(
        "skipped",
        "Logs left out or read in part",
        columns,
        rows,
    )


def _checks(runs: Sequence[Run]) -> Iterator[str]:
    """Yield the number of figures that equal the harness's, and the remarks on each run."""
    scored = [run for run in runs if "rescored" not in run.options]
    equal = sum(harness_agreement(run).equal for run in scored)
    yield say("{number:,} figures equal those of the harnesses.", number=equal)
    for run in runs:
        yield from _checks_of_run(run)


def _checks_of_run(run: Run) -> Iterator[str]:
    title = run_title(run)
    version = run.options.get("rescored")
    if version:
        yield say(
            "{run} was scored again by hkcanto {version}.", run=title, version=version
        )
    for figure in harness_agreement(run).different[:_MOST_DISAGREEMENTS]:
        name = figure.name
        if figure.subjects:
            subjects = joined(", ", figure.subjects)
            name = say("{figure} of {subjects}", figure=name, subjects=subjects)
        yield say(
            "{run}: {figure} is {ours:.6g} here, {reported:.6g} in {harness}. Was the log edited, or "
            "made by another version of this package?",
            run=title,
            figure=name,
            ours=figure.ours,
            reported=figure.reported,
            harness=run.harness,
        )
    count = len(run.kind.task.subjects)
    lacking = count - len(run.subjects)
    if lacking > 0 and not run.is_sample:
        yield say(
            "{run} lacks {lacking} of the {count} subjects.",
            run=title,
            lacking=lacking,
            count=count,
        )
    for note in (*run.contradictions, *run.notes):
        yield say("{run}: {note}", run=title, note=note)


def _protocols(results: _Results) -> Iterator[str]:
    """Say how the papers measured, and why runs are not beside their figures."""
    shown = set[Run]()
    for paper in results.papers:
        source = paper.table.source
        if paper.table.protocol:
            yield say(
                "{source}: {title}", source=source, title=say(paper.table.protocol)
            )
        if paper.table.two_protocols:
            yield say(
                "‡ The rows of {source} may follow its appendices or its release.",
                source=source,
            )
        for standing in paper.standings:
            shown.update(standing.runs)
    names = defaultdict[str, list[str]](list)
    for run in results.runs:
        if run not in shown:
            run_name = say("{model} on {task}", model=run.label, task=run.task)
            names[why_left_out(run)].append(run_name)
    for reason, left_out in names.items():
        runs = say("Not beside published figures: {runs}.", runs=joined(", ", left_out))
        yield sentences(runs, reason)
