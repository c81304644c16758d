"""Accuracy by the length of the question and of the reasoning (HKMMLU, Section 4.2.4, Figure 7)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..blocks import Block, Cell, Chart, Column, Row, Section, Table
from ..evaluations import Evaluation
from ..figures import Figure, figure
from .presentation import Point, SideBySide, cell, line_chart, side_by_side

_STEP = 200  # tokens, as in Figure 7
_BINS = 8
_FEWEST = 10

_Lengths = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Bin:
    """A range of lengths; both ends belong to it.

    Attributes:
        low: The shortest length.
        high: The longest; None if there is no end.
    """

    low: int
    high: int | None

    def __str__(self) -> str:
        if self.high is None:
            return f"{self.low} or more"
        return str(self.low) if self.low == self.high else f"{self.low}–{self.high}"

    def holds(self, lengths: _Lengths) -> NDArray[np.bool_]:
        """Return which lengths are in it."""
        mask: NDArray[np.bool_] = lengths >= self.low
        return mask if self.high is None else mask & (lengths <= self.high)


def sections(evaluations: Sequence[Evaluation]) -> Sequence[Section]:
    """Return a section on lengths, if there are questions that are right or wrong."""
    scored = [run for run in evaluations if "acc" in run.items.values and len(run.items)]
    blocks = [block for group in side_by_side(scored) for block in _blocks(group)]
    return [Section("Length", blocks, name="lengths")] if blocks else []


def _blocks(group: SideBySide) -> Iterator[Block]:
    runs = group.evaluations
    yield from _by_length(group, "question", [run.items.question_lengths for run in runs])
    reasoning = [run.items.reasoning_lengths for run in runs]
    if any(lengths.any() for lengths in reasoning):
        yield from _by_length(group, "reasoning", reasoning)


def _by_length(group: SideBySide, what: str, lengths: Sequence[_Lengths]) -> Iterator[Block]:
    """Show accuracy by length; in reasoning, items without any are left out."""
    unit = " or ".join(dict.fromkeys(run.length_unit for run in group.evaluations))
    # Every bin should have enough items of the model that has most of them.
    longest = max(lengths, key=np.count_nonzero)
    shown = longest[longest > 0]
    bins = step_bins(shown) if "token" in unit else equal_bins(shown)
    if len(bins) < 2:
        return
    found = {
        part: [
            _figure(run, part.holds(own) & (own > 0))
            for run, own in zip(group.evaluations, lengths, strict=True)
        ]
        for part in bins
    }
    yield _table(group, f"{what} length in {unit}", what, found)
    points = [
        Point(str(part), label, accuracy)
        for part, row in found.items()
        for label, (accuracy, _) in zip(group.labels, row, strict=True)
        if accuracy is not None
    ]
    yield Chart(
        f"Accuracy by {what} length: {group.title}",
        line_chart(points, "Accuracy", across=f"{what.title()} length in {unit}", series="Model"),
        f"A line for each model over the {what} length, with its 95 % interval; the figures are "
        "those of the table above.",
    )


def _figure(run: Evaluation, mask: NDArray[np.bool_]) -> tuple[Figure | None, int]:
    """Return the accuracy of some items, if they are enough, and how many they are."""
    items = int(mask.sum())
    return (figure(run, "acc", mask) if items >= _FEWEST else None), items


def _table(
    group: SideBySide,
    measure: str,
    what: str,
    found: dict[Bin, list[tuple[Figure | None, int]]],
) -> Table:
    columns = [Column(measure.capitalize())]
    # Models share the questions, but each has lengths of its own for its reasoning and its tokens.
    shared = all(len({items for _, items in row}) == 1 for row in found.values())
    columns += [Column("Items", "count")] if shared else []
    for label in group.labels:
        columns.append(Column(label, "percent"))
        columns += [] if shared else [Column(f"Items, {label}", "count")]
    rows = []
    for part, row in found.items():
        cells = [Cell(str(part)), *([Cell(row[0][1])] if shared else [])]
        for accuracy, items in row:
            cells.append(cell(accuracy, "" if accuracy else f"fewer than {_FEWEST} items"))
            cells += [] if shared else [Cell(items)]
        rows.append(Row(cells))
    how = (
        f"Steps of {_STEP} tokens as in HKMMLU, Figure 7; steps with fewer than {_FEWEST} items "
        "are joined to a neighbour."
        if "token" in measure
        else "Bins hold about equally many items."
    )
    return Table(
        f"Accuracy by {what} length: {group.title}",
        columns,
        rows,
        f"{how} A model with fewer than {_FEWEST} items in a bin has no figure there. Long and "
        "short questions are not of the same subjects: a difference need not be due to the length.",
        name=f"length_{what}_{group.name}",
    )


def equal_bins(lengths: _Lengths) -> list[Bin]:
    """Cut lengths into at most eight bins of about equally many items, and of ten at least.

    Example:
        >>> [str(part) for part in equal_bins(np.arange(1, 31))]
        ['1–10', '11–20', '21 or more']
    """
    if not len(lengths):
        return []
    count = max(1, min(_BINS, len(lengths) // _FEWEST))
    ordered = np.sort(lengths)
    starts = {int(part[0]) for part in np.array_split(ordered, count) if len(part)}
    return _joined(sorted(starts), lengths)


def step_bins(lengths: _Lengths) -> list[Bin]:
    """Cut lengths in steps of 200; a step with fewer than ten items is joined to a neighbour.

    Example:
        >>> [str(part) for part in step_bins(np.repeat([50, 210, 450, 900], [30, 20, 10, 3]))]
        ['0–199', '200–399', '400 or more']
    """
    if not len(lengths):
        return []
    return _joined(list(range(0, int(lengths.max()) + 1, _STEP)), lengths)


def _joined(starts: Sequence[int], lengths: _Lengths) -> list[Bin]:
    """Return the bins that start at some lengths; a small one is joined to the one after it, the
    last to the one before."""
    kept: list[int] = []
    start: int | None = None
    for place, own in enumerate(starts):
        start = own if start is None else start
        end = starts[place + 1] if place + 1 < len(starts) else None
        if Bin(start, None if end is None else end - 1).holds(lengths).sum() >= _FEWEST:
            kept.append(start)
            start = None
    kept = kept or [starts[0]]
    ends = [following - 1 for following in kept[1:]]
    return [Bin(low, high) for low, high in zip(kept, [*ends, None], strict=True)]
