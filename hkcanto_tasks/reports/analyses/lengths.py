"""Accuracy by length, for programs: HKMMLU's Figure 7 (Section 4.2.4) of one's own runs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ..blocks import Column, Section, Table, Value, table
from ..evaluations import Evaluation
from ..figures import Mask, figure
from ..presentation import SideBySide, side_by_side

_STEP = 200  # tokens, as in Figure 7
_BINS = 8
_FEWEST = 10
_Lengths = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Bin:
    """A range of lengths, both ends in it; without an end, `high` is None."""

    low: int
    high: int | None

    def __str__(self) -> str:
        if self.high is None:
            return f"{self.low} or more"
        return str(self.low) if self.low == self.high else f"{self.low}–{self.high}"

    def holds(self, lengths: _Lengths) -> Mask:
        """Return which lengths are in it; a length of 0 stands for none."""
        return (lengths >= max(1, self.low)) & (lengths <= (self.high or np.inf))


def sections(evaluations: Sequence[Evaluation]) -> Sequence[Section]:
    """Return a section on lengths, if there are questions that are right or wrong."""
    scored = [run for run in evaluations if "acc" in run.items.values and len(run.items)]
    tables = [each for group in side_by_side(scored) for each in _tables(group)]
    return [Section("Length", tables, "lengths")] if tables else []


def _tables(group: SideBySide) -> Iterator[Table]:
    runs = group.evaluations
    unit = " or ".join(dict.fromkeys(run.length_unit for run in runs))
    for what in ("question", "reasoning"):
        lengths = [getattr(run.items, f"{what}_lengths") for run in runs]
        # Every bin should have enough items of the model that has most of them.
        bins = cut(max(lengths, key=np.count_nonzero), in_steps="token" in unit)
        columns = [_columns(run, own) for run, own in zip(runs, lengths, strict=True)]
        if len(bins) > 1:
            yield table(
                f"length_{what}_{group.name}",
                f"Accuracy by {what} length: {group.title}",
                bins,
                [(Column(f"{what.capitalize()} length in {unit}"), str), *chain(*columns)],
                f"In steps of {_STEP} tokens as in HKMMLU, Figure 7, or in bins of about equally "
                f"many items; fewer than {_FEWEST} have no figure.",
                data_only=True,
            )


def _columns(run: Evaluation, lengths: _Lengths) -> list[tuple[Column, Callable[[Bin], Value]]]:
    def items(part: Bin) -> int:
        return int(part.holds(lengths).sum())

    def accuracy(part: Bin) -> Value:
        return figure(run, "acc", part.holds(lengths)) if items(part) >= _FEWEST else None

    counted = Column(f"Items, {run.label}", "count")
    return [(Column(run.label, "percent"), accuracy), (counted, items)]


def cut(lengths: _Lengths, *, in_steps: bool) -> list[Bin]:
    """Cut lengths in steps of 200, or into eight bins of equally many; of ten items at least.

    Example:
        >>> [str(part) for part in cut(np.arange(1, 31), in_steps=False)]
        ['1–10', '11–20', '21 or more']
    """
    ordered = np.sort(lengths[lengths > 0])
    if in_steps:
        starts = list(range(0, int(ordered.max(initial=0)) + 1, _STEP))
    else:
        parts = np.array_split(ordered, max(1, min(_BINS, len(ordered) // _FEWEST)))
        starts = sorted({int(part[0]) for part in parts if len(part)}) or [0]
    kept = starts[:1]
    for start in starts[1:]:
        if ((ordered >= kept[-1]) & (ordered < start)).sum() >= _FEWEST:
            kept.append(start)
    if (ordered >= kept[-1]).sum() < _FEWEST:
        kept = kept[:-1] or kept
    ends = [start - 1 for start in kept[1:]]
    return [Bin(low, high) for low, high in zip(kept, [*ends, None], strict=True)]
