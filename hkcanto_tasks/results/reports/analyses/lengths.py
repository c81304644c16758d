"""Accuracy by length of question and reasoning, as in HKMMLU's Figure 7 (4.2.4); JSON only."""

from collections.abc import Sequence
from itertools import pairwise
from sys import maxsize

import numpy as np

from ...runs import Ints, Run
from ...statistics.estimates import estimate
from ..blocks import Column, Row, Section, Table, Value, section
from ..presentation import SideBySide, side_by_side

_STEP = 200  # tokens, as in Figure 7
_BINS, _FEWEST = 8, 10
_CAPTION = (
    f"In steps of {_STEP} tokens as in HKMMLU, Figure 7, or in bins of about equally many items; "
    f"bins with fewer than {_FEWEST} items have no figure."
)


def sections(runs: Sequence[Run]) -> Sequence[Section]:
    """Return a section on lengths, if there are questions that are right or wrong."""
    groups = side_by_side((run for run in runs if len(run.items)), "acc")
    tables = [_table(group, what) for group in groups for what in ("question", "reasoning")]
    return section("Length", tables, "lengths")


def _table(group: SideBySide[Run], what: str) -> Table:
    """Return accuracies by length; the table has no rows if all items are in one bin."""
    unit = " or ".join(dict.fromkeys(run.length_unit for run in group.runs))
    lengths = {run: getattr(run.items, f"{what}_lengths") for run in group.runs}
    # The model with most items should have enough of them in every bin.
    bins = cut(max(lengths.values(), key=np.count_nonzero), in_steps="token" in unit)
    columns = [Column(f"{what.capitalize()} length in {unit}")]
    for run in group.runs:
        columns += [Column(run.label, "percent"), Column(f"Items, {run.label}", "count")]
    rows = []
    for part in bins if len(bins) > 1 else ():
        end = " or more" if part.stop == maxsize else f"–{part.stop - 1}"
        values: list[Value] = [f"{part.start}{end}"]
        for run, own in lengths.items():
            within = (own >= max(1, part.start)) & (own < part.stop)  # a length of 0 means no text
            items = int(within.sum())
            values += [estimate(run, "acc", within) if items >= _FEWEST else None, items]
        rows.append(Row(values, "run"))
    name, title = f"length_{what}_{group.name}", f"Accuracy by {what} length: {group.title}"
    return Table(name, title, columns, rows, _CAPTION, data_only=True)


def cut(lengths: Ints, *, in_steps: bool) -> Sequence[range]:
    """Cut lengths in steps of 200 or into eight bins of about equal size, at least ten items each.

    Examples:
        >>> cut(np.arange(1, 31), in_steps=False)[:2]
        [range(1, 11), range(11, 21)]
    """
    ordered = np.sort(lengths[lengths > 0])
    steps = range(0, int(ordered.max(initial=0)) + 1, _STEP)
    fewest = _FEWEST if in_steps else max(_FEWEST, len(ordered) // _BINS)
    starts, opened = list[int](), 0
    for start in steps if in_steps else np.unique(ordered).tolist():
        shorter = int(np.searchsorted(ordered, start))
        if not starts or shorter - opened >= fewest:
            starts, opened = [*starts, start], shorter
    if len(ordered) - opened < fewest:
        starts = starts[:-1] or starts
    return [range(*ends) for ends in pairwise([*starts, maxsize])]
