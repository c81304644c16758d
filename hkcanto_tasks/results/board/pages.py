"""The pages of a board: models × tasks in tiers, and each task with all of its results."""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from ... import __version__
from ...catalogue import benchmarks, named_tasks
from ...tasks import task_as_run
from ..published import published_tables
from ..publishing.runs import interval_text, number_text
from ..reports.renderers.page import code, environment
from ..statistics.intervals import is_above, of_items
from .records import PublishedResult, Refused, Results, Standing, items_of

KINDS: Mapping[Standing, str] = {
    "checked": "Checked: figures computed from the logs",
    "self-reported": "Self-reported: records without logs, which nobody could check",
    "published": "Published in papers",
}
_Cell = tuple[PublishedResult, int | None]  # with its tier
_SPEED = ("backend", "revision")  # does not change answers; already in the model's name
_HASHES = ("sent", "read", "metric", "pkg")
_RELEASE = "release"  # the data of a paper
_FREE = ("data", "pkg", "turns", "rationale", "rescored")  # do not change what is measured


# ---------------------------------------------------------------------- columns


@dataclass(frozen=True, eq=False)
class Column:
    """Results that differ only in the model.

    Attributes:
        results: The newest of each model, also the papers'.
        tiers: Result → tier, 1 for the best; none for a result without an interval.
        setting: How it differs from the task's other columns.
    """

    results: Sequence[PublishedResult]
    tiers: Mapping[PublishedResult, int]
    setting: str


def columns(results: Sequence[PublishedResult]) -> list[Column]:
    """Return the columns of results and of the papers' scores, in the order of the catalogue."""
    groups: dict[str, list[PublishedResult]] = defaultdict(list)
    for result in _labelled(results):
        groups[result.column].append(result)
    papers = _papers()
    measured = {column: _measure(group[0]) for column, group in groups.items()}
    for column, measure in measured.items():
        groups[column] += papers.get(measure, {}).values()
    for measure, scores in papers.items():
        if measure not in measured.values():
            groups[next(iter(scores.values())).column] += scores.values()
    tasks = list(named_tasks())
    ordered = sorted(
        groups.values(), key=lambda group: (tasks.index(group[0].setup.task.whole), group[0].column)
    )
    made = []
    for group in ordered:
        newest = {(each.kind, each.model): each for each in sorted(group, key=_age)}
        current = [each for each in group if each in newest.values()]
        task = group[0].setup.task.definition.name
        namesakes = [own[0] for own in ordered if own[0].setup.task.definition.name == task]
        made.append(Column(current, tiers(current), _setting(group[0], namesakes)))
    return made


def _age(result: PublishedResult) -> tuple[float, str]:
    return result.created.timestamp() if result.created else 0.0, result.source


def _papers() -> Mapping[Hashable, Mapping[str, PublishedResult]]:
    """Return the papers' headlines of whole tasks: measure → model → the first table's score."""
    scores: dict[Hashable, dict[str, PublishedResult]] = defaultdict(dict)
    for table in published_tables():
        for column in table.columns:
            if len(column.tasks) != 1 or column.category or column.subject or column.unmeasured:
                continue
            (task,) = column.named
            how = task_as_run(task.name, shots=column.shots_of(task))
            if column.metric != how.headline.name:
                continue
            signature, items = how.signature(_RELEASE), items_of(how)
            for row in table.rows:
                if (score := row.scores.get(column.name)) is not None:
                    value = {column.metric: of_items(score, items, how.headline)}
                    made = PublishedResult(
                        "published", row.model, how, signature, value, by=table.source
                    )
                    scores[_measure(made)].setdefault(row.model, made)
    return scores


def _measure(result: PublishedResult) -> Hashable:
    """Return what a result measures: its task as run, on any revision of the data."""
    parts = {"prompt": "paper", **result.signature.parts}.items()
    return result.signature.task, frozenset(pair for pair in parts if pair[0] not in _FREE)


def _setting(result: PublishedResult, namesakes: Sequence[PublishedResult]) -> str:
    """Return what tells a column from others of its task: the shots, and what else differs."""
    parts = [
        {"task": each.signature.task, **each.signature.parts}
        for each in namesakes
        if each.signature.data != _RELEASE or each is result
    ]
    own = {"task": result.signature.task, **result.signature.parts}
    told = [
        f"{value}" if name == "task" else f"{name} {value}"
        for name, value in own.items()
        if name not in ("shots", *_HASHES) and len({str(each.get(name)) for each in parts}) > 1
    ]
    return ", ".join([f"{result.signature.shots}-shot", *told])


def _labelled(results: Sequence[PublishedResult]) -> Iterator[PublishedResult]:
    """Yield results with the model's revision, and what differs between a model's runs."""
    groups: dict[tuple[str, str], list[PublishedResult]] = defaultdict(list)
    alike: dict[str, set[str]] = defaultdict(set)
    for result in results:
        alike[_shape(result.model)].add(result.model)
    for result in results:
        revision = result.settings.get("revision", "main")
        model = result.model if revision == "main" else f"{result.model}@{revision}"
        settings = {k: v for k, v in result.settings.items() if k not in _SPEED}
        told = replace(result, model=model, settings={"by": result.by, **settings})
        groups[result.kind, model].append(told)
    for group in groups.values():
        counted = len({result.column for result in group})
        telling = [
            name
            for name in dict.fromkeys(name for result in group for name in result.settings)
            if len({(result.column, result.settings.get(name)) for result in group}) > counted
        ]
        for result in group:
            told_by = [f"{name} {result.settings.get(name) or 'unknown'}" for name in telling]
            name = result.model.partition("@")[0]
            told_by += [f"not {other}" for other in sorted(alike[_shape(name)] - {name})]
            label = f"{result.model} ({', '.join(told_by)})" if told_by else result.model
            yield replace(result, model=label)


def _shape(model: str) -> str:
    """Return a model's name as it looks at a glance: `Org/Model-1O` like `org/model_l0`."""
    return re.sub("[^a-z0-9/]", "", model.casefold()).translate(str.maketrans("01i", "oll"))


def tiers(results: Sequence[PublishedResult]) -> dict[PublishedResult, int]:
    """Return the tiers of results on one task under one setup; 1 is the best.

    A tier ends where a result is significantly worse than the tier's best: where the 95 % interval
    of their difference (Newcombe, 1998, method 10, as for independent samples) is below 0. This is
    cautious, since the models answered the same items. Self-reported results open no tier if others
    are there. Results without an interval have none.
    """
    ranked = [result for result in results if result.headline.low is not None]
    ranked.sort(key=lambda result: (_loss(result), result.model))
    checked = [result for result in ranked if result.kind != "self-reported"] or ranked
    leaders: list[PublishedResult] = []
    found = {}
    for result in checked:
        if not leaders or _behind(result, leaders[-1]):
            leaders.append(result)
        found[result] = len(leaders)
    for result in ranked:
        if result not in found:
            found[result] = 1 + sum(_behind(result, leader) for leader in leaders)
    return found


def _loss(result: PublishedResult) -> float:
    sign = -1 if result.setup.headline.higher_is_better else 1
    return sign * result.headline.value


def _behind(result: PublishedResult, leader: PublishedResult) -> bool:
    """Return whether a result is significantly worse than another."""
    if result.setup.headline.higher_is_better:
        return is_above(leader.headline, result.headline)
    return is_above(result.headline, leader.headline)


# ---------------------------------------------------------------------- pages


def pages(read: Results, title: str) -> dict[str, str]:
    """Return the pages of a board: path → HTML. Equal results make equal pages."""
    tasks: dict[str, list[Column]] = defaultdict(list)
    for column in columns(read.results):
        tasks[column.results[0].setup.task.definition.name].append(column)
    groups = [(own[0].results[0].setup.task.definition, own) for own in tasks.values()]
    tables = []
    for benchmark in benchmarks():
        if listed := [group for group in groups if group[0] in benchmark.tasks]:
            tables.append((benchmark, listed, _rows([each for _, own in listed for each in own])))
    dates = [each.created for each in read.results if each.created]
    shared = {"KINDS": KINDS, "date": max(dates, default=None)}
    made = {
        "index.html": _render(title, "", tables=tables, refused=reasons(read.refused), **shared)
    }
    for definition, own in groups:
        made[f"tasks/{definition.name}.html"] = _render(
            definition.title, "../", columns=own, board=title, **shared
        )
    return made


def reasons(refused: Sequence[Refused]) -> list[tuple[str, list[str]]]:
    """Return each reason for which files were refused, with the files, the most frequent first."""
    counts = Counter(each.reason for each in refused)
    return [
        (reason, [each.path for each in refused if each.reason == reason])
        for reason, _ in counts.most_common()
    ]


def _rows(own: Sequence[Column]) -> dict[Standing, list[tuple[str, Sequence[_Cell | None]]]]:
    """Return the rows of a benchmark's table by kind, the best first.

    Models are ordered by the mean of their tiers as shares of each column's tiers. A column in
    which a model has no tier counts as the last tier.
    """
    cells: dict[tuple[Standing, str], list[_Cell | None]] = {}
    lost: dict[tuple[Standing, str], float] = defaultdict(lambda: float(len(own)))
    for place, column in enumerate(own):
        last = max(column.tiers.values(), default=1)
        for result in column.results:
            row = cells.setdefault((result.kind, result.model), [None] * len(own))
            tier = column.tiers.get(result)
            row[place] = result, tier
            lost[result.kind, result.model] -= 1 - (tier or last) / last
    rows: dict[Standing, list[tuple[str, Sequence[_Cell | None]]]] = {}
    for kind, name in sorted(cells, key=lambda key: (lost[key], key)):
        rows.setdefault(kind, []).append((name, cells[kind, name]))
    return {kind: rows[kind] for kind in KINDS if kind in rows}


# ---------------------------------------------------------------------- HTML


def _render(title: str, up: str, **content: Any) -> str:
    made = environment()
    made.filters |= {"number": number_text, "interval": interval_text}
    template = made.from_string(_resource("board.html.j2"))
    own = code(_resource("board.css"), _resource("board.js"))
    return template.render(title=title, up=up, version=__version__, **own, **content)


@cache
def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")
