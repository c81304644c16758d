"""The pages of a board: models × tasks in tiers, and each task with all of its results."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.resources import files
from itertools import chain

from ... import __version__
from ...catalogue import benchmarks, named_tasks
from ...signing import signature_of
from ...tasks import task_as_run
from ..published import published_tables
from ..reports.blocks import unit_of
from ..reports.renderers.formatting import interval_text, value_text
from ..reports.renderers.page import code, environment
from ..statistics.intervals import is_above, published_estimate
from .records import PublishedResult, Standing, items_of

KINDS: Mapping[Standing, str] = {
    "checked": "Checked: figures computed from the logs",
    "self-reported": "Self-reported: records without logs, which nobody could check",
    "published": "Published in papers",
}
_Cell = tuple[PublishedResult, int | None]  # with its tier
_HASHES = ("sent", "read", "metric", "pkg")
_RELEASE = "release"  # the data of a paper
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_LOOKS = str.maketrans(
    "01i", "oll", "-_."
)  # of names: `Model-1O` looks like `model_l0`
_OF_NO_MATTER = ("data", "turns", "rationale")  # for what a result measures


# ---------------------------------------------------------------------- columns


@dataclass(frozen=True, eq=False)
class Column:
    """Results that differ only in the model.

    Attributes:
        results: The newest of each model, also the papers'.
        tiers: Result → tier, 1 for the best; none for a result without an interval.
        setting: Its shots, its differences from the task's default setup, and its data.
    """

    results: Sequence[PublishedResult]
    tiers: Mapping[PublishedResult, int]
    setting: str


def columns(results: Sequence[PublishedResult]) -> list[Column]:
    """Return the columns of results and of the papers' scores, in the order of the catalogue."""
    groups: dict[str, list[PublishedResult]] = defaultdict(list)
    for result in _labelled(results):
        groups[result.key()].append(result)
    measured: dict[str, list[list[PublishedResult]]] = defaultdict(list)
    for group in groups.values():
        measured[group[0].key(*_OF_NO_MATTER)].append(group)
    for score in _papers():
        for group in measured[score.key(*_OF_NO_MATTER)] or [groups[score.key()]]:
            group.append(score)
    places = {name: place for place, name in enumerate(named_tasks())}
    by_column = (groups[column] for column in sorted(groups))
    made = []
    for group in sorted(by_column, key=lambda group: places[group[0].setup.task.whole]):
        by_age = sorted(
            group, key=lambda each: (each.created or _LONG_AGO, each.source)
        )
        newest = {(each.kind, each.model): each for each in by_age}.values()
        current = [each for each in group if each in newest]
        made.append(Column(current, tiers(current), _setting(group[0])))
    return made


def _papers() -> Iterable[PublishedResult]:
    """Return the papers' headlines of whole tasks; of a model's scores, that of the first table."""
    scores: dict[tuple[str, str], PublishedResult] = {}
    for table in published_tables():
        for column in table.columns:
            if (
                len(column.tasks) != 1
                or column.category
                or column.subject
                or column.unmeasured
            ):
                continue
            (task,) = column.named
            how = task_as_run(task.name, shots=column.shots_of(task))
            if column.metric != how.headline.name:
                continue
            signature, items = signature_of(how, _RELEASE), items_of(how)
            for row in table.rows:
                if (score := row.scores.get(column.name)) is not None:
                    value = {
                        column.metric: published_estimate(score, items, how.headline)
                    }
                    by = table.source
                    made = PublishedResult(
                        "published", row.model, how, signature, value, by=by
                    )
                    scores.setdefault((made.key(*_OF_NO_MATTER), row.model), made)
    return scores.values()


def _setting(result: PublishedResult) -> str:
    """Return a result's shots, how it differs from its task's default setup, and its data."""
    kind = task_as_run(result.setup.task.definition.name)
    default = signature_of(kind, result.signature.data)
    unlike = default.differs(result.signature).items()
    settings = {
        part: text for part, (_, text) in unlike if part not in ("shots", *_HASHES)
    }
    settings |= (
        {} if result.signature.data == _RELEASE else {"data": result.signature.data}
    )
    told = (f"{name} {text or 'none'}" for name, text in settings.items())
    return ", ".join([f"{result.signature.shots}-shot", *told])


def _labelled(results: Sequence[PublishedResult]) -> Iterator[PublishedResult]:
    """Yield results with the model's revision, models whose names look alike, and what differs
    between a model's runs."""
    looks = {
        result.model: result.model.casefold().translate(_LOOKS) for result in results
    }
    groups: dict[tuple[str, str], list[PublishedResult]] = defaultdict(list)
    for result in results:
        revision = result.settings.get("revision", "main")
        model = result.model if revision == "main" else f"{result.model}@{revision}"
        alike = [
            n
            for n in sorted(looks)
            if looks[n] == looks[result.model] and n != result.model
        ]
        model += f" (not {', not '.join(alike)})" if alike else ""
        settings = {k: v for k, v in result.settings.items() if k != "revision"}
        run = replace(result, model=model, settings={"by": result.by, **settings})
        groups[result.kind, model].append(run)
    for group in groups.values():
        counted = len({result.key() for result in group})
        telling = [
            name
            for name in dict.fromkeys(
                chain.from_iterable(result.settings for result in group)
            )
            if len({(result.key(), result.settings.get(name)) for result in group})
            > counted
        ]
        for result in group:
            told = ", ".join(
                f"{name} {result.settings.get(name) or 'unknown'}" for name in telling
            )
            yield replace(
                result, model=f"{result.model} ({told})" if told else result.model
            )


def tiers(results: Sequence[PublishedResult]) -> dict[PublishedResult, int]:
    """Return the tiers of results on one task under one setup; 1 is the best.

    A tier ends where a result is significantly worse than the tier's best: where the 95 % interval
    of their difference (Newcombe, 1998, method 10, as for independent samples) is below 0. This is
    cautious, since the models answered the same items. Self-reported results open no tier if others
    are there. Results without an interval have none.
    """

    higher = all(result.setup.headline.higher_is_better for result in results)

    def is_behind(result: PublishedResult, leader: PublishedResult) -> bool:
        """Return whether a result is significantly worse than another."""
        best, other = (leader, result) if higher else (result, leader)
        return is_above(best.headline, other.headline)

    sign = -1 if higher else 1
    ranked = [result for result in results if result.headline.low is not None]
    ranked.sort(key=lambda result: (sign * result.headline.value, result.model))
    checked = [result for result in ranked if result.kind != "self-reported"] or ranked
    leaders, tier_of = list[PublishedResult](), dict[PublishedResult, int]()
    for result in checked:
        if not leaders or is_behind(result, leaders[-1]):
            leaders.append(result)
        tier_of[result] = len(leaders)
    for result in ranked:
        tier_of.setdefault(
            result, 1 + sum(is_behind(result, leader) for leader in leaders)
        )
    return tier_of


# ---------------------------------------------------------------------- pages


def pages(
    results: Sequence[PublishedResult], refused: Mapping[str, Sequence[str]], title: str
) -> dict[str, str]:
    """Return the pages of a board: path → HTML. Equal results make equal pages.

    Args:
        results: The results to show, besides the papers'.
        refused: The files left out, by reason.
        title: Title of the site.
    """
    tasks: dict[str, list[Column]] = defaultdict(list)
    for column in columns(results):
        tasks[column.results[0].setup.task.definition.name].append(column)
    tables = []
    for benchmark in benchmarks():
        groups = [
            (task, tasks[task.name]) for task in benchmark.tasks if task.name in tasks
        ]
        if groups:
            tables.append(
                (benchmark, groups, _rows([c for _, group in groups for c in group]))
            )
    page, style, script = (
        files(__package__).joinpath(f"board.{ending}").read_text("utf-8")
        for ending in ("html.j2", "css", "js")
    )
    made = environment()
    made.filters |= {"number": value_text, "interval": interval_text, "unit": unit_of}
    dates = (result.created for result in results if result.created)
    shared = {"KINDS": KINDS, "date": max(dates, default=None), "version": __version__}
    template = made.from_string(page, {**shared, **code(style, script)})
    texts = {
        "index.html": template.render(
            title=title, up="", tables=tables, refused=refused
        )
    }
    for name, group in tasks.items():
        heading = group[0].results[0].setup.task.definition.title
        texts[f"tasks/{name}.html"] = template.render(
            title=heading, up="../", columns=group, board=title
        )
    return texts


def _rows(
    columns: Sequence[Column],
) -> dict[Standing, list[tuple[str, Sequence[_Cell | None]]]]:
    """Return the rows of a benchmark's table by kind, the best first.

    Models are ordered by the mean of their tiers as shares of each column's tiers. A column in
    which a model has no tier counts as the last tier.
    """
    cells: dict[tuple[Standing, str], list[_Cell | None]] = {}
    lost: dict[tuple[Standing, str], float] = defaultdict(lambda: float(len(columns)))
    for place, column in enumerate(columns):
        last = max(column.tiers.values(), default=1)
        for result in column.results:
            row = cells.setdefault((result.kind, result.model), [None] * len(columns))
            tier = column.tiers.get(result)
            row[place] = result, tier
            lost[result.kind, result.model] -= 1 - (tier or last) / last
    rows: dict[Standing, list[tuple[str, Sequence[_Cell | None]]]] = {}
    for kind, name in sorted(cells, key=lambda key: (lost[key], key)):
        rows.setdefault(kind, []).append((name, cells[kind, name]))
    return {kind: rows[kind] for kind in KINDS if kind in rows}
