"""What the first sections of a report share: its runs, and what is known of them together."""

from collections.abc import (
    Sequence,
)
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from ...messages import say
from ..runs import Run, SkippedLog
from ..statistics.intervals import WIDE, Estimate
from ..statistics.matching import points_of
from .blocks import (
    Note,
    TableBlock,
)
from .presentation import (
    headline,
)
from .standings import (
    PublishedBest,
    Standing,
    TableWithRuns,
    best_published,
)

SCORE = f"From 0 to 100. With 95 % interval: {WIDE}."
RANKS = (
    "Rank among the paper's models; for a run, the ranks that its 95 % interval allows, or why it "
    "has none. Published scores have the interval of a run on as many items."
)


@dataclass(frozen=True, eq=False)
class Results:
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


class Overview(NamedTuple):
    """The verdict and what to do next, the tables to read first, and runs that are not compared."""

    notes: Sequence[Note]
    tables: Sequence[TableBlock]
    left_out: Sequence[Run] = ()


def in_points(run: Run) -> Estimate | None:
    """Return the value of a run's headline, from 0 to 100."""
    value = headline(run)
    return value and value.times(points_of(run.headline))


def best_in_points(run: Run) -> PublishedBest | None:
    """Return the best published score of a run's headline, from 0 to 100."""
    best = best_published(run)
    return best and best._replace(score=best.score * points_of(run.headline))
