"""The state of the board: labels of models, the newest results, columns, ranks and the order."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from statistics import fmean

from ...catalogue import benchmarks, named_tasks
from ...setup import setup
from ..published import PublishedTable, published_tables
from ..reports.analyses.curves import step_in
from ..reports.matrix import Contest, contests
from ..reports.presentation import headline
from ..reports.standings import Beside, measures, standings, why_incomparable
from ..statistics.intervals import Estimate
from .models import Model
from .ranking import Rank, exact, ranks
from .reading import Refused, Results
from .records import EPOCH, Record

_SPEED = ("backend",)  # settings that change how fast a model runs


@dataclass(frozen=True, eq=False)
class Board:
    """The results from which all pages are made.

    Attributes:
        records: Each with a label that distinguishes it from others.
        refused: Files that were not used, and why.
        models: The entries of `models.toml`.
    """

    records: Sequence[Record]
    refused: Sequence[Refused]
    models: Mapping[str, Model]

    @cached_property
    def newest(self) -> Sequence[Record]:
        """The newest record of each label, task and condition, in the order of the catalogue."""
        latest: dict[Hashable, Record] = {}
        for each in sorted(self.records, key=lambda each: (each.created, each.source)):
            latest[each.label, each.comparable_as] = each
        place = {name: at for at, name in enumerate(named_tasks())}
        return sorted(
            latest.values(),
            key=lambda each: (place[each.task], each.signature.text, each.label),
        )

    @cached_property
    def families(self) -> Mapping[str, str]:
        """Label → its training run if it is a checkpoint, else the label itself."""
        found = {each.label: step_in(each.label, each.model) for each in self.records}
        steps: dict[str, set[int]] = defaultdict(set)
        for of in filter(None, found.values()):
            steps[of[0]].add(of[1])
        several = {name for name, own in steps.items() if len(own) > 1}
        return {label: of[0] if of and of[0] in several else label for label, of in found.items()}

    def step(self, record: Record) -> int | None:
        """Return the step of a checkpoint if its training run has several, else None."""
        if self.families[record.label] == record.label:
            return None
        found = step_in(record.label, record.model)
        return found[1] if found else None

    @cached_property
    def current(self) -> Sequence[Record]:
        """The results to compare: the newest; for a training run, those of the last step."""
        last: dict[str, int] = {}
        for each in self.newest:
            family = self.families[each.label]
            last[family] = max(last.get(family, 0), self.step(each) or 0)
        return [
            each
            for each in self.newest
            if (self.step(each) or 0) == last[self.families[each.label]]
        ]

    @cached_property
    def shown(self) -> Sequence[Record]:
        """The results behind the columns: current ones, and protocols that only papers used."""
        alone = [
            each.some
            for each in contests(_protocols(self.current))
            if each.published and isinstance(each.some, Record)
        ]
        place = {name: at for at, name in enumerate(named_tasks())}
        return sorted([*self.current, *alone], key=lambda each: place[each.task])

    @cached_property
    def contests(self) -> Sequence[Contest]:
        """The columns: those with results, and those that only papers measured."""
        return contests(self.shown)

    @cached_property
    def beside(self) -> Sequence[Beside]:
        """Every published table, with the results in it."""
        found = {each.table.name: each for each in standings(self.current)}
        return [found.get(table.name) or _alone(table) for table in published_tables()]

    @cached_property
    def ranks(self) -> Mapping[tuple[Contest, str], Rank]:
        """The ranks of all models in each contest."""
        return {
            (contest, name): rank
            for contest in self.contests
            for name, rank in ranks(
                scores(contest), lower_is_better=contest.some.headline.higher_is_better is False
            ).items()
        }

    @cached_property
    def order(self) -> Sequence[str]:
        """The labels, best first, by the mean of their ranks relative to the number of models."""
        shares: dict[str, list[float]] = defaultdict(list)
        for (contest, name), rank in self.ranks.items():
            if name in contest.results and rank.of > 1:
                shares[name].append((rank.best + rank.worst) / 2 / rank.of)
        labels = {each.label for each in self.current}
        return sorted(labels, key=lambda label: (fmean(shares.get(label, [1.0])), label))

    @cached_property
    def date(self) -> datetime | None:
        """When the newest result was made; None if there is none."""
        return max((max(each.created, each.published) for each in self.records), default=None)

    @cached_property
    def footer(self) -> Sequence[str]:
        """The papers and terms of the benchmarks on the board."""
        used = {each.some.setup.task.benchmark.name for each in self.contests}
        own = [each for each in benchmarks() if each.name in used]
        return [f"{each.title}: {each.paper}. {each.terms}" for each in own]


def board_of(results: Results, models: Mapping[str, Model]) -> Board:
    """Return the board of the results that were read."""
    return Board(_labelled(results.records), results.refused, models)


def scores(contest: Contest) -> Mapping[str, Estimate]:
    """Return the headlines in a contest: those of results, and published ones, taken as exact."""
    own = {name: found for name, each in contest.results.items() if (found := headline(each))}
    return {name: exact(score) for name, score in contest.published.items()} | own


def _labelled(records: Sequence[Record]) -> Sequence[Record]:
    """Return records with labels that show what differs between runs: revision, dtype, …."""
    groups: dict[str, list[Record]] = defaultdict(list)
    for each in records:
        groups[_with_revision(each)].append(each)
    found = []
    for label, group in groups.items():
        setups: dict[Hashable, list[Record]] = defaultdict(list)
        for each in group:
            setups[each.comparable_as].append(each)
        names = dict.fromkeys(name for each in group for name in _how(each))
        telling = [
            name
            for name in names
            if any(len({_how(each).get(name) for each in own}) > 1 for own in setups.values())
        ]
        for each in group:
            how = _how(each)
            told = ", ".join(
                how.get(name, "") if name == "harness" else f"{name} {how.get(name, 'unknown')}"
                for name in telling
            )
            found.append(replace(each, label=f"{label} ({told})" if told else label))
    return found


def _how(record: Record) -> dict[str, str]:
    """Return the settings in which two results of a model may differ."""
    own = {name: text for name, text in record.settings if name not in (*_SPEED, "revision")}
    return {"harness": record.harness, **own}


def _with_revision(record: Record) -> str:
    revision = dict(record.settings).get("revision", "main")
    return record.model if revision == "main" else f"{record.model}@{revision}"


def _protocols(current: Sequence[Record]) -> list[Record]:
    """Return the papers' protocols without any result, as results without a figure or a label."""
    found: dict[tuple[str, int], Record] = {}
    for table in published_tables():
        for column in table.columns:
            whole = len(column.tasks) == 1 and not (column.category or column.subject)
            for task in column.named if whole and not column.unmeasured else ():
                shots = column.shots_of(task)
                same = (each for each in current if measures(each, task, shots))
                if not any(not why_incomparable(each) for each in same):
                    signature = setup(task.name, shots=shots).signature("release")
                    none: Record = Record("", "", "other", signature, EPOCH, {})
                    found.setdefault((task.name, shots), none)
    return [*found.values()]


def _alone(table: PublishedTable) -> Beside:
    """Return a published table without any result in it."""
    first = table.headline or table.columns[0].name
    return Beside(table, table.column(first), {})
