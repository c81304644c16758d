"""The report on runs: which model leads and how surely, one table, then the details in sections.

Two models are compared task by task. More are rows, sorted by their mean rank. A single model has a
row for each task, beside the best published score.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any, NamedTuple

from ...errors import ComparisonError
from ..published import PublishedColumn, PublishedRow, RowKind
from ..runs import Run, SkippedLog
from ..statistics.estimates import agreement
from ..statistics.intervals import CONFIDENCE, WIDE, Estimate
from ..statistics.paired import RESAMPLES, SEED, adjusted, match, points_of
from ..statistics.selection import Selection, selection
from . import analyses
from .blocks import (
    Block,
    Column,
    Kind,
    Note,
    Report,
    Row,
    Section,
    Table,
    Unit,
    Value,
    column_of,
    report_of,
    section,
    table,
)
from .compare import Pair, pairs_sentence, pairs_table
from .frames import checkpoint, figure_rows
from .presentation import (
    MANY_UNREAD,
    MODEL,
    TASK,
    doubts,
    figure_title,
    footer_of,
    headline,
    headline_title,
    published_unit,
    side_by_side,
    task_title,
    unread_of,
    usage_table,
)
from .renderers.formatting import interval_text, value_text
from .standings import (
    Beside,
    Contest,
    Standing,
    contests,
    departures,
    rank_of,
    standings,
    why_left_out,
)

_NAMED = 4  # models in a title, tasks in a sentence, figures that differ
_OF_RUN = (
    *("label", "model", "harness", "task"),
    *("condition", "created", "status", "notes", "headline"),
)
_KINDS: Mapping[RowKind, Kind] = {"model": "published", "human": "human", "random": "random"}
_MEANT = {
    "limit": "run with --limit, on a part of the items",
    "unchecked": "not checked against the harness",
    "unlike the harness": "figures unlike the harness's",
    "sample data": "sample data, comparable with nothing",
}
_INTERVAL = f"With 95 % interval: {WIDE}."
_EXACT = "Published scores have the interval of a run on as many items."
_RANKS = f"Ranks in the paper's table that the interval allows. {_EXACT}"
_FOLLOWED = (
    "† {0} has two protocols: the prompts of its appendices, and those of its release "
    "(prompt=release, for Jyutping examples=release). Which one its rows follow is not known."
)


def build_report(
    runs: Sequence[Run], skipped: Sequence[SkippedLog] = (), title: str = ""
) -> Report:
    """Return the report of some runs; the default title names the models."""
    frame = partial(figure_rows, runs)
    runs = _in_order_of_training(runs)
    beside = standings(runs)
    papers = [*map(paper_table, beside)]
    sections = [
        _first_section(runs, beside, skipped),
        *section("Published scores", papers, "published", is_summary=len(contests(runs)) == 1),
        *analyses.sections(runs),
        *section("Tokens and time", usage_table(runs), "usage"),
        _last_section(runs, beside, skipped),
    ]
    records = {"runs": _run_records(runs, beside), "best": best_records(runs)}
    title = title or _listed(_labels(runs))
    return report_of(sections, title, footer_of(runs), records, frame)


def best_records(runs: Sequence[Run]) -> Sequence[Mapping[str, Any]]:
    """Return the best run of each task under each condition, as records."""
    records = []
    for group in side_by_side(runs):
        if chosen := selection(tuple(group.runs)):
            best = chosen.best
            record: dict[str, Any] = {
                **{name: getattr(best, name) for name in ("task", "condition", "label")},
                "step": (checkpoint(best) or ("", None))[1],
                "figure": headline(best),
                "picked_from": chosen.picked_from,
                "overstated": chosen.overstated,
                "ties": [run.label for run in chosen.ties],
                "left_out": {run.label: why for run, why in chosen.left_out.items()},
            }
            records.append(record)
    return records


def _in_order_of_training(runs: Sequence[Run]) -> Sequence[Run]:
    """Return runs that are not checkpoints, then each training run's checkpoints by step."""
    of = {run: checkpoint(run) or ("", 0) for run in runs}
    names = list(dict.fromkeys(["", *(name for name, _ in of.values())]))
    return sorted(runs, key=lambda run: (names.index(of[run][0]), of[run][1]))


def _labels(runs: Sequence[Run]) -> list[str]:
    return list(dict.fromkeys(run.label for run in runs))


def _run_records(runs: Sequence[Run], beside: Sequence[Beside]) -> list[Mapping[str, Any]]:
    """Return the runs as records, with their setup, headline, ranks and checks."""
    return [
        {
            **{name: getattr(run, name) for name in _OF_RUN},
            "signature": run.signature.text,
            "figure": headline(run),
            "doubts": doubts(run),
            "unread": unread_of(run),
            "usage": run.usage.known,
            "standings": [
                {
                    "table": each.table.name,
                    "source": each.table.source,
                    "column": each.column.name,
                    **{name: getattr(each, name) for name in ("figure", "ranks", "of", "followed")},
                }
                for each in _standings_of(run, beside)
            ],
        }
        for run in runs
    ]


def _every_standing(beside: Sequence[Beside]) -> list[Standing]:
    tables = [columns for each in beside for columns in each.runs.values()]
    return [each for columns in tables for each in columns.values()]


def _standings_of(run: Run, beside: Sequence[Beside]) -> list[Standing]:
    """Return the ranks of a run in the papers' tables, those of its headline first."""
    behind = [each for each in _every_standing(beside) if run in each.behind]
    return sorted(behind, key=lambda standing: not standing.is_headline_of(run))


def _rank(run: Run, beside: Sequence[Beside]) -> Standing | None:
    """Return the rank of a run's headline; None without one."""
    of = (each for each in _standings_of(run, beside) if each.is_headline_of(run))
    return next((each for each in of if each.ranks), None)


def _rank_text(run: Run, beside: Sequence[Beside]) -> str | None:
    standing = _rank(run, beside)
    return standing.place if standing else None


# ---------------------------------------------------------------------- the first section


class _Race(NamedTuple):
    """A task that several models ran under one condition, and the best model."""

    title: str
    chosen: Selection

    @property
    def is_shared(self) -> bool:
        """Whether another model has the same figure as the best."""
        return any(abs(each) < 1e-12 for each in self.chosen.differences.values())


def _first_section(
    runs: Sequence[Run], beside: Sequence[Beside], skipped: Sequence[SkippedLog]
) -> Section:
    """Return the section to read first: a sentence, a line of warnings, and one table."""
    labels, left_out = _labels(runs), list[Run]()
    nothing = (
        f"Nothing is comparable between these {len(labels)} models: no two have complete runs of a "
        "task under the same condition on the same items."
    )
    if len(labels) == 2:
        pairs, left_out = _pairs(runs, labels)
        made = pairs_table(pairs, labels)
        known = [pair for pair in pairs if pair.effect]
        said = pairs_sentence(pairs, labels) if known else nothing
    elif len(labels) < 2:
        made, said = _tasks_table(runs, beside), _of_one(runs, beside)
    else:
        races, left_out = _races(runs)
        made = _matrix(runs, partial(_cell, races=races, among=runs), left_out)
        said = _of_many(races, made) if races else nothing
    warnings = [*_warnings(runs, skipped, left_out)]
    blocks: list[Block] = [Note(said, "verdict")]
    if warnings:
        blocks.append(Note(" · ".join(warnings), "warning"))
    if made.rows:
        blocks.append(made)
    return Section("Results", blocks, "results", is_summary=True)


def _pairs(runs: Sequence[Run], labels: Sequence[str]) -> tuple[list[Pair], list[Run]]:
    """Return each task's pair of runs, compared as in `hkcanto compare`, and runs left out."""
    pairs, left_out = list[Pair](), list[Run]()
    for contest in contests(runs):
        sides = [contest.runs.get(label) for label in labels]
        best = _in_points(contest)
        first, second = sides
        effect = None
        if first and second:
            try:
                drawing = {"seed": SEED, "resamples": RESAMPLES}
                effect = match(first, second, None, drawing).effect()
            except ComparisonError:
                left_out += [first, second]
        pairs.append(Pair(sides, contest.some.headline, effect, best))
    effects = iter(adjusted([pair.effect for pair in pairs if pair.effect]))
    return [p._replace(effect=next(effects)) if p.effect else p for p in pairs], left_out


def _in_points(contest: Contest) -> float | None:
    best = contest.best
    return None if best is None else best * points_of(contest.some.headline)


def _races(runs: Sequence[Run]) -> tuple[list[_Race], list[Run]]:
    """Return each task's best model, with differences that hold for all tasks at once."""
    groups = [group for group in side_by_side(runs) if len(group.runs) > 1]
    confidence = 1 - (1 - CONFIDENCE) / max(1, len(groups))
    chosen = [selection(tuple(group.runs), confidence) for group in groups]
    brief = len({group.runs[0].definition.title for group in groups}) == len(groups)
    races = [
        _Race(group.runs[0].definition.title if brief else group.title, each)
        for group, each in zip(groups, chosen, strict=True)
        if each and each.differences
    ]
    return races, [run for each in chosen if each for run in each.left_out]


def _cell(run: Run, races: Sequence[_Race], among: Sequence[Run]) -> Value:
    """Return the headline of a run, with a note on ties with the best and on doubts about it."""
    found = headline(run)
    if found is None:
        return None
    shared = set(doubts(among[0])).intersection(*map(doubts, among))
    notes = [doubt for doubt in doubts(run) if doubt not in shared]
    if any(run in race.chosen.ties for race in races):
        notes.insert(0, "≈")
    return replace(found, note="; ".join(notes))


def _of_many(races: Sequence[_Race], made: Table) -> str:
    """Say which model has the best mean rank, and where the best is ahead of all others."""
    sure = [race for race in races if not race.chosen.ties]
    if len(races) == 1:
        (race,) = races
        best, differences = race.chosen.best, race.chosen.differences
        second = min(differences, key=lambda run: abs(differences[run]))
        scores = [_score(run) for run in (best, second)]
        title = headline_title(best)
        if race.is_shared:
            both = f"{best.label} and {second.label}"
            return f"{both} lead on {race.title} with {scores[0]} each ({title})."
        ahead = len(differences) - len(race.chosen.ties)
        return (
            f"{best.label} leads on {race.title} with {scores[0]} against {second.label}'s "
            f"{scores[1]} ({title}); it is significantly ahead of {ahead or 'none'} of the "
            f"{len(differences)} others (95 %)."
        )
    scope = f"all {len(races)} tasks together, 95 %"
    leads = Counter(race.chosen.best.label for race in races if not race.is_shared)
    rank = made.rows[0].values[1]
    leaders = [
        str(row.values[0]) for row in made.rows if row.kind == "run" and row.values[1] == rank
    ]
    if rank is None:
        said = "No task was run in full by all models, so there is no mean rank."
    elif len(leaders) > 1:
        said = f"{_listed(leaders)} have the best mean rank, {value_text(rank, 'score')}."
    else:
        (leader,) = leaders
        said = (
            f"{leader} has the best mean rank, {value_text(rank, 'score')}, and the best score on "
            f"{leads[leader]} of {_tasks(len(races))}."
        )
    if not sure:
        return f"{said} On no task is the best model significantly ahead of all others ({scope})."
    named = _listed([f"{race.title} ({race.chosen.best.label})" for race in sure])
    if len(sure) == 1:
        only = "is the only task on which the best model is significantly ahead of all others"
        return f"{said} {named} {only} ({scope})."
    on = f"on {_tasks(len(sure))} ({scope}): {named}"
    return f"{said} The best model is significantly ahead of all others {on}."


def _score(run: Run) -> str:
    unit = column_of(run.headline).unit
    text = value_text(headline(run), unit)
    return f"{text} %" if unit == "percent" else text


def _of_one(runs: Sequence[Run], beside: Sequence[Beside]) -> str:
    """Say how the only model ranks among the papers' models."""
    if not runs:
        return "There is no run to report on."
    label, ranked = runs[0].label, [(run, each) for run in runs if (each := _rank(run, beside))]
    if len(runs) == 1:
        run, unit = runs[0], column_of(runs[0].headline).unit
        interval = interval_text(headline(run), unit)
        said = f"{label} has {_score(run)} {interval} on {task_title(run)} ({headline_title(run)})"
        if not ranked:
            return f"{said}. {_unranked(beside)}"
        standing = ranked[0][1]
        return f"{said}: rank {standing.place} in {standing.table.source}."
    if not ranked:
        return f"{label} ran {_tasks(len(runs))}. {_unranked(beside)}"
    ranked.sort(key=lambda pair: (pair[1].ranks or (0,))[0] / pair[1].of)
    names = [f"{run.definition.title} {each.place}" for run, each in ranked]
    on = f"on {len(ranked)} of {_tasks(len(runs))}"
    return f"{label} has a rank among published models {on}: {_listed(names)}."


def _unranked(beside: Sequence[Beside]) -> str:
    """Say why a model has no rank, or where the reasons are."""
    notes = [each.figure.note for each in _every_standing(beside) if each.figure.note]
    why = notes[0] if notes else "“How this was made” says why"
    return f"It has no rank among published models: {why}."


def _warnings(
    runs: Sequence[Run], skipped: Sequence[SkippedLog], left_out: Sequence[Run]
) -> Iterator[str]:
    of = Counter[str]()
    for run in runs:
        for doubt in doubts(run):
            many = doubt.endswith(" unread")
            of[f"over {MANY_UNREAD:.0%} unread" if many else _MEANT.get(doubt, doubt)] += 1
    for doubt, count in of.items():
        yield doubt if len(runs) == 1 else f"{doubt}: {_count(count, 'run', len(runs))}"
    if skipped:
        yield f"not read, or not in full: {_count(len(skipped), 'log')} (“How this was made”)"
    if left_out:
        yield f"not compared, as unfinished or on other items: {_count(len(left_out), 'run')}"


def _count(count: int, what: str, of: int = 0) -> str:
    if count == of:
        return f"all {what}s"
    return f"1 {what}" if count == 1 else f"{count} {what}s"


def _tasks(count: int) -> str:
    return _count(count, "task")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    shown = [*names[:_NAMED], f"{more} more"] if more > 1 else [*names]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


# ---------------------------------------------------------------------- tables


def _tasks_table(runs: Sequence[Run], beside: Sequence[Beside]) -> Table:
    """Return a single model's tasks with the best published scores, drawn on one axis."""
    rows = [(contest, run) for contest in contests(runs) for run in contest.runs.values()]
    titles = Counter(run.definition.title for _, run in rows)

    def title(row: tuple[Contest, Run]) -> str:
        brief = row[1].definition.title
        return brief if titles[brief] == 1 else task_title(row[1])

    def score(row: tuple[Contest, Run]) -> Value:
        found = headline(row[1])
        note = "; ".join(doubts(row[1])) if len(runs) > 1 else ""
        return found and replace(found.times(points_of(row[1].headline)), note=note)

    columns: list[tuple[Column, Callable[[tuple[Contest, Run]], Value]]] = [
        (Column("Task"), title),
        (Column("Score", "score", f"From 0 to 100. {_INTERVAL}", drawn=True), score),
        (Column("Rank", help=_RANKS), lambda row: _rank_text(row[1], beside)),
        (Column("Best published", "score", drawn=True), lambda row: _in_points(row[0])),
        (Column("Figure", beneath=True), lambda row: headline_title(row[1])),
    ]
    return table("tasks", "Task by task", rows, columns, kind=lambda _: "other")


def _matrix(
    runs: Sequence[Run], figure: Callable[[Run], Value], left_out: Sequence[Run] = ()
) -> Table:
    """Return the table of models × tasks, sorted by the mean rank over the tasks that all have.

    Below the models are the best published scores, and chance; `figure` returns a run's cell. A
    model with a run that is left out of the comparison has no rank.
    """
    found = contests(runs)
    columns = [
        Column("Model"),
        Column("Mean rank", "score", "Over the tasks that all models have in full.", True),
        *(contest.column for contest in found),
    ]
    ranks = _mean_ranks(found, _labels(runs), {run.label for run in left_out})
    rows = []
    for label in sorted(ranks, key=lambda label: (ranks[label] is None, ranks[label] or 0)):
        cells = [contest.runs.get(label) for contest in found]
        rows.append(
            Row([label, ranks[label], *(figure(run) if run else None for run in cells)], "run")
        )
    rows.append(Row(["Best published", None, *(contest.best for contest in found)], "best"))
    rows.append(Row(["Chance", None, *(contest.chance for contest in found)], "random"))
    rows = [row for row in rows if any(value is not None for value in row.values[1:])]
    caption = (
        "Each task's headline, on all of its items unless a note says otherwise. “≈” marks models "
        "that do not differ significantly from the best."
    )
    return Table("matrix", "Models and tasks", columns, rows, caption, turnable=True)


def _mean_ranks(
    found: Sequence[Contest], labels: Sequence[str], left_out: Collection[str]
) -> dict[str, float | None]:
    """Return each model's mean rank over the tasks that all have; None if it has no rank."""
    ranks: dict[str, list[int]] = {label: [] for label in labels}
    ranked = [label for label in labels if label not in left_out]
    for contest in found:
        of_all = {name: of.value for name, run in contest.runs.items() if (of := headline(run))}
        values = {label: of_all[label] for label in ranked if label in of_all}
        if len(values) == len(ranked):
            sign = 1 if contest.some.headline.higher_is_better else -1
            for label in ranked:
                better = sum(sign * other > sign * values[label] for other in values.values())
                ranks[label].append(1 + better)
    return {label: fmean(of) if of else None for label, of in ranks.items()}


def paper_table(beside: Beside) -> Table:
    """Return a published table with the runs in it, sorted and drawn by its headline."""
    paper, key = beside.table, beside.headline
    name, source = f"published_{paper.name}", f"{paper.source}: {paper.title}"
    rows: list[tuple[float | None, Row]] = []
    for row in paper.rows:
        place = rank_of(row, paper, key)
        values = [_printed(row, column.name) for column in paper.columns]
        shown: list[Value] = [row.model, str(place) if place else None, *values]
        rows.append((row.values[key.name], Row(shown, _KINDS.get(row.kind, "other"))))
    for run, of_run in beside.runs.items():
        of = of_run.get(key.name)
        rank = (f"{of.rank}{of.mark}" if of.ranks else of.figure.note or None) if of else None
        figures = [_shown(of_run.get(column.name), rank) for column in paper.columns]
        rows.append((of.figure.value if of else None, Row([run, rank, *figures], "run")))
    sign = 1 if key.lower_is_better else -1
    rows.sort(key=lambda pair: (pair[0] is None, sign * (pair[0] or 0)))
    ranked = (
        "Rank among the paper's models; for a run, the ranks that its 95 % interval allows, or why "
        f"it has none. {_EXACT}"
    )
    columns = [
        Column("Model"),
        Column("Rank", help=ranked, under=f"by {key.name}"),
        *(_column(column, drawn=column is key) for column in paper.columns),
    ]
    better = "lower" if key.lower_is_better else "higher"
    caption = f"The paper's models and the runs, by {key.name}; {better} is better. {_EXACT}"
    return Table(name, source, columns, [row for _, row in rows], caption)


def _printed(row: PublishedRow, column: str) -> Value:
    """Return a published score, with its remark if there is one."""
    score, note = row.values[column], row.notes.get(column, "")
    return Estimate(score, None, None, 0, note) if note and score is not None else score


def _shown(standing: Standing | None, said: str | None = None) -> Estimate | None:
    """Return a figure, without its note if the row's rank has the same text."""
    if standing and standing.figure.note == said:
        return replace(standing.figure, note="")
    return standing.figure if standing else None


def _column(column: PublishedColumn, *, drawn: bool) -> Column:
    of = column.mean_of or (*column.tasks, column.category or column.subject)
    about = f"{'Mean of' if column.mean_of else 'Of'} {', '.join(filter(None, of))}."
    if column.unmeasured:
        about = f"Not measured here: {column.unmeasured}."
    return Column(column.name, published_unit(column), about, column.lower_is_better, drawn)


# ---------------------------------------------------------------------- the last section


def _last_section(
    runs: Sequence[Run], beside: Sequence[Beside], skipped: Sequence[SkippedLog]
) -> Section:
    """Return the section on how everything was made: signatures, checks, protocols, omissions."""

    def of(unit: Unit) -> Callable[[Run], Value]:
        return lambda run: headline(run) if column_of(run.headline).unit == unit else None

    blocks: list[Block] = [
        table(
            "runs",
            "Runs",
            runs,
            [
                MODEL,
                TASK,
                (Column("Result", "percent", _INTERVAL), of("percent")),
                (Column("Score", "score", f"From 0 to 100. {_INTERVAL}"), of("score")),
                (Column("Rank", help=_RANKS), lambda run: _rank_text(run, beside)),
                (Column("Doubts", help=_DOUBTS), lambda run: "; ".join(doubts(run)) or None),
                (Column("Called"), lambda run: run.model),
                (Column("Harness"), lambda run: run.harness),
                (Column("Run on"), lambda run: f"{run.created:%Y-%m-%d %H:%M}"),
                (Column("Signature"), lambda run: run.signature.text),
            ],
            "Compare numbers only if their signatures match (ignoring pkg).",
        ),
        *map(Note, _checks(runs)),
        *map(Note, _protocols(beside)),
        *map(Note, _left_out(runs, beside)),
    ]
    if skipped:
        # Reports are passed on, and need not show whole paths.
        rows = [Row(["/".join(log.path.parts[-2:]), log.reason]) for log in skipped]
        title = "Logs not read, or not in full"
        caption = "The parts that could not be read are not in this report."
        blocks.append(Table("skipped", title, [Column("File"), Column("Reason")], rows, caption))
    return Section("How this was made", blocks, name="made", is_summary=bool(skipped))


_DOUBTS = (
    "Failed checks: figures equal to the harness's, all items, at most 2 % of the responses "
    "unread, a published revision of the data, greedy decoding."
)


def _checks(runs: Sequence[Run]) -> Iterator[str]:
    again = [run for run in runs if "rescored" in run.options]
    if harness := [run for run in runs if run not in again]:
        equal = sum(agreement(run).equal for run in harness)
        yield f"{equal:,} figures equal those of the harnesses."
    for run in again:
        yield f"{_name(run)} was scored again by hkcanto {run.options['rescored']}."
    for run in runs:
        for one in agreement(run).different[:_NAMED]:
            known = run.figures.get(one.name)
            title = figure_title(run, known) if known else one.name
            place = f" of {', '.join(one.subjects)}" if one.subjects else ""
            yield (
                f"{_name(run)}: {title}{place} is {one.ours:.6g} here, {one.reported:.6g} in "
                f"{run.harness}. Was the log edited, or made by another version of this package?"
            )
        missing = len(run.setup.task.subjects) - len(run.subjects)
        if missing and not run.is_sample:
            yield f"{_name(run)} lacks {missing} of the {len(run.setup.task.subjects)} subjects."
        yield from (f"{_name(run)}: {text}" for text in run.notes)


def _protocols(beside: Sequence[Beside]) -> Iterator[str]:
    """Say how the papers measured, and how the runs differ from that."""
    for each in beside:
        if each.table.protocol:
            yield f"{each.table.source}: {each.table.protocol}"
    papers = [each.table.source.partition(",")[0] for each in beside if each.table.two_protocols]
    yield from map(_FOLLOWED.format, dict.fromkeys(papers))
    for run in dict.fromkeys(run for each in beside for run in each.behind):
        if other := ", ".join(f"{name}:{value}" for name, value in departures(run).items()):
            yield f"{_name(run)} was run with other options than in the paper: {other}."


def _left_out(runs: Sequence[Run], beside: Sequence[Beside]) -> Iterator[str]:
    """Say why runs are in no published table: one line for each reason."""
    used = {run for each in beside for run in each.behind}
    reasons: dict[str, list[str]] = defaultdict(list)
    for run in runs:
        if run not in used:
            reasons[why_left_out(run)].append(f"{run.label} on {run.task}")
    for reason, names in reasons.items():
        yield f"Not beside published figures: {', '.join(names)}. {reason}"


def _name(run: Run) -> str:
    return f"{run.label} on {task_title(run)}"
