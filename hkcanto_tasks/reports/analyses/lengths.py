"""Accuracy by length, for programs: HKMMLU's Figure 7 (Section 4.2.4) of one's own runs."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from sys import maxsize

import numpy as np

from ...runs import Ints, Run
from ..blocks import Column, Row, Section, Table, Value
from ..estimates import estimate
from ..presentation import SideBySide, side_by_side

_STEP = 200  # tokens, as in Estimate 7
_BINS, _FEWEST = 8, 10
_CAPTION = (
    f"In steps of {_STEP} tokens as in HKMMLU, Figure 7, or in bins of about equally many items; "
    f"fewer than {_FEWEST} have no figure."
)


def sections(evaluations: Sequence[Run]) -> Sequence[Section]:
    """Return a section on lengths, if there are questions that are right or wrong."""
    scored = [run for run in evaluations if "acc" in run.items.values and len(run.items)]
    tables = [each for group in side_by_side(scored) for each in _tables(group)]
    return [Section("Length", tables, "lengths")] if tables else []


def _tables(group: SideBySide) -> Iterator[Table]:
    unit = " or ".join(dict.fromkeys(run.length_unit for run in group.evaluations))
    for what in ("question", "reasoning"):
        lengths = {run: getattr(run.items, f"{what}_lengths") for run in group.evaluations}
        # Every bin should have enough items of the model that has most of them.
        bins = cut(max(lengths.values(), key=np.count_nonzero), in_steps="token" in unit)
        columns = [Column(f"{what.capitalize()} length in {unit}")]
        for run in lengths:
            columns += [Column(run.label, "percent"), Column(f"Items, {run.label}", "count")]
        if len(bins) > 1:
            name, title = f"length_{what}_{group.name}", f"Accuracy by {what} length: {group.title}"
            rows = [_row(part, lengths) for part in bins]
            yield Table(name, title, columns, rows, _CAPTION, data_only=True)


def _row(part: range, lengths: dict[Run, Ints]) -> Row:
    end = " or more" if part.stop == maxsize else f"–{part.stop - 1}"
    values: list[Value] = [f"{part.start}{end}"]
    for run, own in lengths.items():
        within = (own >= max(1, part.start)) & (own < part.stop)  # a length of 0 stands for none
        items = int(within.sum())
        values += [estimate(run, "acc", within) if items >= _FEWEST else None, items]
    return Row(values, "run")


def cut(lengths: Ints, *, in_steps: bool) -> Sequence[range]:
    """Cut lengths in steps of 200, or into eight bins of about equally many; of at least ten items.

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
