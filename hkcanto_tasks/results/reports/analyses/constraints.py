"""Rates at which constraints were followed, by verifier, for tasks with constraints."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from ....kinds.constraints import followed_strictly
from ...runs import Run
from ...statistics.estimates import mean_estimate
from ..blocks import Column, Row, Section, Table, section
from ..presentation import MODEL, SideBySide, side_by_side

_COLUMNS = (
    Column("Constraint"),
    MODEL[0],
    Column("Followed", "percent", "Share of these constraints that were met, strictly.", False),
    Column("Constraints", "count", "How often this constraint was set, over all answers."),
)
_CAPTION = (
    "By verifier, the most frequent first. Some constraints are harder than others because of "
    "their prompts: compare models on one constraint, not one constraint with another."
)


def sections(runs: Sequence[Run]) -> Sequence[Section]:
    """Return a section with a table for each condition under which constraints were given."""
    groups = side_by_side(run for run in runs if run.definition.kind == "constraints")
    return section("Which constraints were followed", map(_followed, groups), "constraints")


def _followed(group: SideBySide[Run]) -> Table:
    found: dict[str, dict[str, list[tuple[bool, int]]]] = defaultdict(lambda: defaultdict(list))
    for run in group.runs:
        items = zip(run.items.pairs, run.items.reasons, run.items.clusters, strict=True)
        for pair, reason, cluster in items:
            for name, followed in followed_strictly(pair.reference, reason):
                found[name][run.label].append((followed, cluster))
    often = sorted(found, key=lambda name: (-max(map(len, found[name].values())), name))
    rows = [
        Row([name, label, mean_estimate(np.array(values, float), np.array(clusters)), len(values)])
        for name in often
        for label, own in found[name].items()
        for values, clusters in [tuple(zip(*own, strict=True))]
    ]
    return Table(f"constraints_{group.name}", group.title, _COLUMNS, rows, _CAPTION)
