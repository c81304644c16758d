"""The pages of a board, each a `Report`."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from ... import __version__
from ...catalogue import TaskDefinition, benchmarks, find_task
from ...figures import Figure
from ..published import PublishedTable, published_tables
from ..reports.blocks import (
    Block,
    Column,
    Note,
    Report,
    Row,
    Section,
    Table,
    Value,
    column_of,
    section,
)
from ..reports.matrix import Contest, averages_of, columns_of, matrix
from ..reports.overview import published_sections
from ..reports.presentation import (
    headline,
    headline_column,
    headline_title,
    published_unit,
    task_title,
)
from ..reports.renderers.formatting import interval_text, value_text
from ..reports.standings import Beside, Standing
from ..statistics.intervals import Estimate
from .models import UNKNOWN, Model, openness, size_class, slug
from .records import Record
from .standing import Board, scores

HOME, TASKS, PAPERS = "index.html", "tasks/index.html", "papers/index.html"
CHANGES, ABSENT, FEED = "changes.html", "absent.html", "feed.xml"
_MOST_CHANGES = 100
_MOST_CURVES = 6
_COVERED = (
    "The 95 % intervals cover only the sampling of items. Results share a column only if "
    "task, version, shots, options, prompt and data are equal."
)
_RANKS = (
    "Ranks (#) are ranges: results that do not differ significantly, by the 95 % interval of the "
    "difference (Newcombe, 1998, method 10), share ranks. Published scores are taken as exact."
)
_UNREAD = "Share of responses, over all tasks, from which no answer could be read."
_SCRIPT = "Share of translations in Simplified characters where the reference is in Traditional."
_SIMPLIFIED = "Mean share of Simplified among characters that differ by script, in free answers."


def pages(board: Board, title: str) -> Iterator[tuple[str, Report]]:
    """Yield the pages of a board, each as its path and its report.

    Args:
        board: The results on it.
        title: The board's title.
    """
    yield HOME, _page(board, title, _home(board), HOME)
    yield TASKS, _page(board, "Tasks", [_tasks(board)], TASKS)
    for definition in {
        each.some.definition.name: each.some.definition for each in board.contests
    }.values():
        path = task_path(definition)
        yield path, _page(board, definition.title, _task(board, definition), path)
    for name in _models(board):
        path = model_path(name)
        yield path, _page(board, name, _model(board, name), path)
    yield PAPERS, _page(board, "The papers' tables", [_papers(board)], PAPERS)
    for beside, section_of in zip(board.beside, published_sections(board.beside, 2), strict=True):
        path = paper_path(beside.table)
        sections = [_paper(board, beside, section_of)]
        yield path, _page(board, beside.table.source, sections, path)
    yield CHANGES, _page(board, "What changed", [_changes(board)], CHANGES)
    yield ABSENT, _page(board, "Left out", _absent(board), ABSENT)


def task_path(definition: TaskDefinition) -> str:
    """Return the page of a task."""
    return f"tasks/{slug(definition.name)}.html"


def model_path(name: str) -> str:
    """Return the page of a model or a training run."""
    return f"models/{slug(name)}.html"


def paper_path(table: PublishedTable) -> str:
    """Return the page of a published table."""
    return f"papers/{slug(table.name)}.html"


def _page(board: Board, title: str, sections: Sequence[Section], path: str) -> Report:
    """Return a page with links to the other pages, relative to its path."""
    up = "../" * path.count("/")
    ways = {"Board": HOME, "Tasks": TASKS, "Papers": PAPERS, "What changed": CHANGES}
    ways |= {"Left out": ABSENT} if board.refused else {}
    links = {name: f"{up}{to}" for name, to in ways.items()}
    # The first section is always open; the page folds the others.
    sections = [
        replace(_placed(each, up), is_summary=not place or each.is_summary)
        for place, each in enumerate(sections)
    ]
    footer = [_COVERED, *board.footer]
    return Report(title, board.date, __version__, sections, footer, pages=links, feed=f"{up}{FEED}")


def _placed(made: Section, up: str) -> Section:
    """Return a section with its links from the top folder made relative to its page."""

    def moved(href: str) -> str:
        return href if not href or ":" in href else f"{up}{href}"

    blocks: list[Block] = []
    for block in made.blocks:
        if isinstance(block, Table):
            columns = [replace(each, href=moved(each.href)) for each in block.columns]
            rows = [replace(each, href=moved(each.href)) for each in block.rows]
            blocks.append(replace(block, columns=columns, rows=rows))
        else:
            blocks.append(block)
    return replace(made, blocks=blocks)


# ---------------------------------------------------------------------- home


def _home(board: Board) -> list[Section]:
    beside = [each for each in board.beside if each.runs]
    made = matrix(board.shown, beside)
    own = [_column(board, contest) for contest in board.contests]
    first = made.columns[1 : len(made.columns) - len(own)]
    title_of = {each.name: each.title for each in benchmarks()}
    averages = [
        replace(each, group=title_of[table.benchmark], href=paper_path(table))
        for each, (table, _) in zip(first, averages_of(beside), strict=True)
    ]
    extra: dict[Column, Callable[[Record], Estimate | None]] = {
        Column("Unread", "percent", _UNREAD, True): lambda each: each.unread,
        Column("Simplified", "percent", _SIMPLIFIED, True): lambda each: each.values.get(
            "simplified_ratio"
        ),
        Column("Wrong script", "percent", _SCRIPT, True): lambda each: each.wrong_script,
    }
    of_label = {
        label: [each for each in board.current if each.label == label] for label in board.order
    }
    more: dict[Column, Mapping[str, Estimate]] = {}
    for column, of in extra.items():
        pooled = {
            label: found
            for label, results in of_label.items()
            if (found := _pooled([each for result in results if (each := of(result))]))
        }
        more |= {column: pooled} if pooled else {}
    rows = []
    by_name = {str(row.values[0]): row for row in made.rows if row.kind == "run"}
    for label in board.order:
        row, facts = by_name[label], _facts(board, of_label[label])
        values = _placed_in(row, len(first), [each.get(label) for each in more.values()])
        places = [board.ranks.get((contest, label)) for contest in board.contests]
        ranked = [each.text if each else "" for each in places]
        ranked = [""] * (len(values) - len(ranked)) + ranked
        rows.append(Row(values, "run", model_path(board.families[label]), facts, ranked))
    for row in made.rows:
        if row.kind != "run":
            name, facts, href = str(row.values[0]), dict[str, str](), ""
            if row.kind == "published":
                facts, href = _paper_facts(board, name), model_path(name)
            values = _placed_in(row, len(first), [None for _ in more])
            rows.append(Row(values, row.kind, href, facts))
    columns = [Column("Model"), *averages, *more, *own]
    caption = f"{made.caption} {_RANKS}"
    results = replace(made, columns=columns, rows=rows, caption=caption, turnable=False, own="")
    blocks: list[Block] = [results]
    if not board.current:
        blocks.append(Note("Nobody has contributed a result yet: these are the papers' own."))
    if board.refused:
        count = f"{len(board.refused):,} files or runs were left out; see “Left out”."
        blocks.append(Note(count))
    return section("Models and tasks", blocks, "results", is_summary=True)


def _placed_in(row: Row, averages: int, more: Sequence[Value]) -> list[Value]:
    """Return the values of a matrix row, with more values inserted after the papers' averages."""
    return [*row.values[: averages + 1], *more, *row.values[averages + 1 :]]


def _column(board: Board, contest: Contest) -> Column:
    """Return the column of a contest, with a label that distinguishes it from its namesakes."""
    some = contest.some
    under = ", ".join([contest.column.under, *_telling(board, contest)])
    return replace(
        contest.column,
        under=under,
        href=task_path(some.definition),
        group=some.setup.task.benchmark.title,
    )


def _telling(board: Board, contest: Contest) -> list[str]:
    """Return how a contest differs from others with the same title and condition."""
    alike = [
        each.some.signature.parts
        for each in board.contests
        if (each.title, each.condition) == (contest.title, contest.condition)
    ]
    own = contest.some.signature.parts
    names = [
        name for name in own if name != "pkg" and len({str(each.get(name)) for each in alike}) > 1
    ]
    return [f"{name}:{own[name]}" for name in names]


def _called(board: Board, contest: Contest) -> str:
    return ", ".join([contest.condition, *_telling(board, contest)])


def _pooled(found: Sequence[Estimate]) -> Estimate | None:
    """Return a share over the items of several tasks, without an interval."""
    items = sum(each.items for each in found)
    if not items:
        return None
    return Estimate(sum(each.value * each.items for each in found) / items, None, None, items)


def _facts(board: Board, results: Sequence[Record]) -> dict[str, str]:
    """Return the facets by which the rows of a model can be filtered."""
    some = results[0]
    entry = board.models.get(some.model, Model())
    newest = max(each.created for each in results)
    weights = openness(entry, some.availability)
    return {"Size": size_class(some.model, entry), "Weights": weights, "Run in": f"{newest:%Y-%m}"}


def _paper_facts(board: Board, name: str) -> dict[str, str]:
    entry = board.models.get(name, Model())
    weights = openness(entry, UNKNOWN)
    return {"Size": size_class(name, entry), "Weights": weights, "Run in": "a paper"}


# ---------------------------------------------------------------------- tasks


def _tasks(board: Board) -> Section:
    rows = [
        Row(
            [
                contest.title,
                _called(board, contest),
                headline_title(contest.some),
                contest.some.setup.task.benchmark.title,
                sum(1 for label in contest.results if label),
                len(contest.published),
            ],
            href=task_path(contest.some.definition),
        )
        for contest in board.contests
    ]
    columns = [
        Column("Task"),
        Column("Condition", beneath=True),
        Column("Measure"),
        Column("Benchmark"),
        Column("Results", "count"),
        Column("Published", "count"),
    ]
    return Section("Tasks", [Table("tasks", "Tasks and conditions", columns, rows)], "tasks")


def _task(board: Board, definition: TaskDefinition) -> list[Section]:
    own = [each for each in board.contests if each.some.definition.name == definition.name]
    sections = []
    for place, contest in enumerate(own):
        blocks: list[Block] = [_contest(board, contest, f"contest_{place}")]
        sections += section(_called(board, contest), blocks, f"contest-{place}")
    tables = [each for each in published_tables() if _measures(each, definition)]
    rows = [
        Row(
            [each.source, each.title, each.protocol or None],
            href=paper_path(each),
        )
        for each in tables
    ]
    columns = [Column("Table"), Column("Shows"), Column("Protocol")]
    listed = Table("papers", "The papers' tables of this task", columns, rows)
    return [*sections, *section("In the papers", [listed], "papers")]


def _measures(table: PublishedTable, definition: TaskDefinition) -> bool:
    names = {name for column in table.columns for name in column.tasks}
    return any(find_task(name).definition.name == definition.name for name in names)


def _contest(board: Board, contest: Contest, name: str) -> Table:
    """Return the results and the published scores of a contest, best first, drawn as dots."""
    found, down = scores(contest), contest.some.headline.higher_is_better is False
    sources = _sources(contest)
    rows = []
    for label, score in sorted(
        found.items(), key=lambda each: ((1 if down else -1) * each[1].value, each[0])
    ):
        rank = board.ranks[contest, label]
        if isinstance(result := contest.results.get(label), Record):
            more: list[Value] = [result.unread, result.by, f"{result.created:%Y-%m-%d}"]
            href, facets = model_path(board.families[label]), _facts(board, [result])
            rows.append(Row([label, rank.text, score, *more], "run", href, facets))
        else:
            source = [None, sources.get(label), None]
            facets, shown = _paper_facts(board, label), contest.published[label]
            rows.append(
                Row([label, rank.text, shown, *source], "published", model_path(label), facets)
            )
    columns = [
        Column("Model"),
        Column("Rank", help=_RANKS),
        column_of(contest.some.headline, headline_title(contest.some), drawn=True),
        Column("Unread", "percent", _UNREAD, True),
        Column("From"),
        Column("Run on"),
    ]
    caption = f"{contest.some.headline.help} {_RANKS}"
    return _filled(Table(name, _called(board, contest), columns, rows, caption, own=""))


def _sources(contest: Contest) -> dict[str, str]:
    """Return the source of each published score: model → table."""
    found: dict[str, str] = {}
    for table, column in columns_of(contest.some):
        for row in table.rows:
            if row.values[column.name] is not None:
                found.setdefault(row.model, table.source)
    return found


# ---------------------------------------------------------------------- models


def _models(board: Board) -> list[str]:
    """Return the names that have a page: models, training runs, and the papers' models."""
    own = dict.fromkeys(board.families[each.label] for each in board.records)
    papers = (
        row.model for table in published_tables() for row in table.rows if row.kind == "model"
    )
    return sorted({*own, *papers})


def _model(board: Board, name: str) -> list[Section]:
    records = [each for each in board.records if board.families[each.label] == name]
    labels = {each.label for each in records}
    current = [each for each in board.current if each.label in labels]
    newest = [each for each in board.newest if each.label in labels]
    older = [each for each in records if each not in newest]
    entry = board.models.get(records[0].model if records else name, Model())
    return [
        *section("Results", [_results(board, current), *_about(entry)], "results", is_summary=True),
        *section("Checkpoints", _curves(board, newest), "checkpoints"),
        *section("In the papers' tables", [_in_papers(board, labels)], "papers"),
        *section("Published scores", [_published(name)], "published"),
        *section("All figures", [_figures(current)], "figures"),
        *section("Earlier results", [_earlier(older)], "earlier"),
        *section("How this was made", [_made(current)], "made"),
    ]


def _about(entry: Model) -> list[Block]:
    if not entry.link:
        return []
    return [Table("about", "The model", [Column("Page")], [Row([entry.link], href=entry.link)])]


def _results(board: Board, current: Sequence[Record]) -> Table:
    contest_of = {
        (label, result): contest
        for contest in board.contests
        for label, result in contest.results.items()
    }
    rows = []
    for each in current:
        contest = contest_of[each.label, each]
        found, unit = headline(each), column_of(each.headline).unit
        rank = board.ranks.get((contest, each.label))
        values: list[Value] = [
            each.definition.title,
            found if unit == "percent" else None,
            found if unit == "score" else None,
            f"{rank.text} of {rank.of}" if rank else None,
            each.unread,
            f"{each.created:%Y-%m-%d}",
            _called(board, contest),
            headline_title(each),
        ]
        rows.append(Row(values, "run", task_path(each.definition)))
    columns = [
        Column("Task"),
        Column("Result", "percent"),
        Column("Score", "score", "From 0 to 100."),
        Column("Rank", help=_RANKS),
        Column("Unread", "percent", _UNREAD, True),
        Column("Run on"),
        Column("Condition", beneath=True),
        Column("Measure", beneath=True),
    ]
    return _filled(Table("results", "Results", columns, rows))


def _filled(made: Table) -> Table:
    """Return a table without columns that have no value."""
    kept = [
        0,
        *(
            at
            for at in range(1, len(made.columns))
            if any(row.values[at] is not None for row in made.rows)
        ),
    ]
    rows = [replace(row, values=[row.values[at] for at in kept]) for row in made.rows]
    return replace(made, columns=[made.columns[at] for at in kept], rows=rows)


def _curves(board: Board, newest: Sequence[Record]) -> list[Block]:
    """Return the headlines by training step: a table of all tasks, and some as curves."""
    groups: dict[Hashable, dict[int, Record]] = defaultdict(dict)
    for each in newest:
        if (step := board.step(each)) is not None:
            groups[each.comparable_as][step] = each
    found = [of for of in groups.values() if len(of) > 1]
    steps = sorted({step for of in found for step in of})
    some = [next(iter(of.values())) for of in found]
    columns = [Column("Step", "count")]
    columns += [replace(headline_column(each), title=task_title(each)) for each in some]
    values = {step: [headline(of[step]) if step in of else None for of in found] for step in steps}
    rows = [Row([step, *own], "run") for step, own in values.items()]
    blocks: list[Block] = [
        Table(
            f"curve_{place}",
            columns[place].title,
            [columns[0], headline_column(some[place - 1], drawn=True)],
            [Row([step, own[place - 1]], "run") for step, own in values.items() if own[place - 1]],
            "By training step, with 95 % intervals.",
            curve=True,
        )
        for place in range(1, min(_MOST_CURVES, len(found)) + 1)
    ]
    caption = "All tasks by training step. The board compares the last step."
    return [*blocks, Table("steps", "Checkpoints", columns, rows, caption)]


def _in_papers(board: Board, labels: set[str]) -> Table:
    rows = []
    for beside in board.beside:
        href = paper_path(beside.table)
        own = [each for each in beside.runs.values() if _label_of(each) in labels]
        for each in (standing for standings in own for standing in standings.values()):
            unit = published_unit(each.column)
            shown = f"{value_text(each.figure, unit)} {interval_text(each.figure, unit)}".strip()
            rank = f"{each.rank} of {each.of}" if each.rank else each.figure.note
            rows.append(Row([beside.table.source, each.column.name, shown, rank], href=href))
    columns = [Column("Table"), Column("Column"), Column("Figure"), Column("Rank")]
    return Table("papers", "Among the papers' models", columns, rows)


def _label_of(standings: Mapping[str, Standing]) -> str:
    return next(iter(standings.values())).behind[0].label


def _published(name: str) -> Table:
    """Return the scores that the papers print for a model."""
    rows = []
    for table in published_tables():
        for row in table.rows:
            for column in table.columns if row.model == name else ():
                if (score := row.values[column.name]) is not None:
                    unit = published_unit(column)
                    text = f"{value_text(score, unit)}{' %' if unit == 'percent' else ''}"
                    href = paper_path(table)
                    rows.append(Row([table.source, column.name, text], href=href))
    return Table(
        "published", "In the papers", [Column("Table"), Column("Column"), Column("Score")], rows
    )


def _figures(current: Sequence[Record]) -> Table:
    """Return the figures of a model that the harnesses print, one row per task."""
    rows = []
    for each in current:
        known = [figure for figure in each.setup.table if figure.name in each.values]
        told = "; ".join(f"{figure.title} {_shown(each, figure)}" for figure in known)
        items = each.values[each.headline.name].items
        rows.append(Row([task_title(each), told, items], href=task_path(each.definition)))
    columns = [Column("Task and condition"), Column("Figures"), Column("Items", "count")]
    return Table("figures", "Figures", columns, rows, "↑: higher is better; ↓: lower is.")


def _shown(record: Record, figure: Figure) -> str:
    """Return a figure with its interval and an arrow for its direction."""
    unit, found = column_of(figure).unit, record.values[figure.name]
    sign = " %" if unit == "percent" else ""
    text = f"{value_text(found, unit)}{sign} {interval_text(found, unit)}".strip()
    return f"{text} {'↑' if figure.higher_is_better else '↓'}"


def _earlier(older: Sequence[Record]) -> Table:
    rows = [
        Row(
            [
                task_title(each),
                f"{each.created:%Y-%m-%d}",
                _shown(each, each.headline),
                each.by,
                each.signature.text,
            ]
        )
        for each in sorted(older, key=lambda each: (each.created, each.task), reverse=True)
    ]
    columns = [
        Column(name) for name in ("Task and condition", "Run on", "Result", "By", "Signature")
    ]
    return Table("earlier", "Results replaced by newer ones", columns, rows)


def _made(current: Sequence[Record]) -> Table:
    rows = [
        Row(
            [
                task_title(each),
                each.label,
                each.library,
                each.by or None,
                ", ".join(f"{name} {text}" for name, text in each.settings),
                each.signature.text,
                "logs" if each.url else None,
            ],
            href=each.url,
        )
        for each in current
    ]
    columns = [
        *(Column("Task and condition"), Column("Called"), Column("Harness"), Column("By")),
        *(Column("Settings"), Column("Signature"), Column("Link")),
    ]
    alike = "Compare numbers only if their signatures match (ignoring pkg). Names link to the logs."
    return _filled(Table("signatures", "Setup and signatures", columns, rows, alike))


# ---------------------------------------------------------------------- papers


def _papers(board: Board) -> Section:
    rows, cells = [], 0
    for each in board.beside:
        table, scores_of = each.table, [list(row.values.values()) for row in each.table.rows]
        known = sum(score is not None for own in scores_of for score in own)
        href = paper_path(table)
        rows.append(Row([table.source, table.title, known, len(each.runs)], href=href))
        cells += known
    columns = [
        *(Column("Table"), Column("Shows")),
        *(Column("Scores", "count"), Column("Results here", "count")),
    ]
    caption = f"{cells:,} scores, as printed."
    blocks = [Table("papers", "Published tables", columns, rows, caption)]
    return Section("The papers' tables", blocks, "papers")


def _paper(board: Board, beside: Beside, made: Section) -> Section:
    """Return a published table with the results in it, and how the paper measured."""
    notes = [Note(beside.table.protocol)] if beside.table.protocol else []
    blocks = [_led(board, beside, block) for block in made.blocks]
    return replace(made, blocks=[*blocks, *notes])


def _led(board: Board, beside: Beside, block: Block) -> Block:
    """Return a table whose model names link to their pages."""
    if not isinstance(block, Table):
        return block
    label_of = {name: _label_of(own) for name, own in beside.runs.items()}
    models = {row.model for row in beside.table.rows if row.kind == "model"}
    rows = []
    for row in block.rows:
        name = str(row.values[0])
        if row.kind == "run" and name in label_of:
            rows.append(replace(row, href=model_path(board.families[label_of[name]])))
        else:
            rows.append(replace(row, href=model_path(name) if name in models else ""))
    return replace(block, rows=rows)


# ---------------------------------------------------------------------- changes


class Change(NamedTuple):
    """The results of a model that were added on one day."""

    when: datetime
    label: str
    href: str
    records: Sequence[Record]


def changes(board: Board) -> list[Change]:
    """Return the additions, newest first, one for each model and day."""
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for each in board.records:
        groups[f"{_added(each):%Y-%m-%d}", each.label].append(each)
    found = [
        Change(max(map(_added, own)), label, model_path(board.families[label]), own)
        for (_, label), own in groups.items()
    ]
    return sorted(found, key=lambda each: (-each.when.timestamp(), each.label))


def _added(record: Record) -> datetime:
    return max(record.created, record.published)


def told(change: Change) -> str:
    """Return the results of a change as text."""
    return "; ".join(
        f"{task_title(each)}: {_shown(each, each.headline)}" for each in change.records
    )


def _changes(board: Board) -> Section:
    found = changes(board)
    rows = [
        Row([each.label, f"{each.when:%Y-%m-%d}", told(each)], "run", each.href)
        for each in found[:_MOST_CHANGES]
    ]
    columns = [Column("Model"), Column("Added"), Column("Results")]
    more = f"{len(found) - _MOST_CHANGES} more are left out." if len(found) > _MOST_CHANGES else ""
    blocks: list[Block] = [Table("changes", "The newest results", columns, rows, more)]
    if not rows:
        blocks = [Note("Nobody has contributed a result yet.")]
    return Section("What changed", blocks, "changes")


def _absent(board: Board) -> list[Section]:
    rows = [Row([each.path, each.reason]) for each in board.refused]
    columns = [Column("File"), Column("Reason")]
    caption = (
        "Results that cannot be trusted are not on the board. Paths are relative to the folder of "
        "results."
    )
    blocks: list[Block] = [Table("absent", "Files and runs left out", columns, rows, caption)]
    return [
        Section(
            "Left out",
            blocks if rows else [Note("Nothing was left out.")],
            "absent",
        )
    ]
