"""`hkcanto compare`: which evaluations of some logs are compared with which, as a report."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from ..errors import ComparisonError
from .blocks import Note, Report, Section
from .comparison import Comparison, PairwiseComparison, compare, compare_many, pair_up
from .comparison_blocks import blocks
from .evaluations import Evaluation
from .independent import compare_independent
from .logs import read_runs
from .report import footer_of, report_of


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """What came of comparing runs.

    Attributes:
        report: All comparisons.
        passed: Whether every gate was passed; True if none was asked for.
        complete: Whether no comparison was refused; with a gate, whether everything was compared:
            no task without a partner, and no log that could not be read.
    """

    report: Report
    passed: bool
    complete: bool


def compare_runs(
    runs: Sequence[str],
    *,
    metric: str | None = None,
    gate: float | None = None,
    paired: bool = True,
    seed: int = 1234,
    resamples: int = 10_000,
    progress: Callable[[int, int], None] | None = None,
) -> ComparedRuns:
    """Read runs and compare their models: two with each other, more of them pairwise.

    Args:
        runs: Logs or folders of logs, each perhaps as NAME=PATH; the first one is what the others
            are compared with.
        metric: The figure; each task's headline without one.
        gate: Tolerance in points. Of several models, each is tested against the first.
        paired: Whether to match items; else the runs are taken as independent samples.
        seed: Of the resampling.
        resamples: Number of resamples.
        progress: Called with how many logs are read, and of how many.

    Raises:
        LogError: Nothing could be read.
        ComparisonError: There is nothing to compare: one model only, no task in common, or on every
            task the models' items differ. If they differ on some, the report says so.
    """
    read = read_runs(runs, progress=progress)
    sides: dict[tuple[int, str], list[Evaluation]] = defaultdict(list)
    for place, evaluation in zip(read.places, read.evaluations, strict=True):
        sides[place, evaluation.label].append(evaluation)
    if not paired:
        return _independent(list(sides.values()), metric)
    options: dict[str, Any] = {
        "metric": metric,
        "gate": gate,
        "seed": seed,
        "resamples": resamples,
    }
    groups, alone = _groups(list(sides.values()))
    found: list[Comparison | PairwiseComparison] = []
    refused: list[str] = []
    left_out = [f"{each.label}, {each.task} ({each.condition}): no partner." for each in alone]
    left_out += [f"{log.path}: {log.reason}." for log in read.skipped]
    for group in groups:
        if not _has(group[0], metric):
            continue
        try:
            if len(group) == 2:
                found.append(compare(group[0], group[1], **options))
            else:
                found.append(compare_many(group, **options))
        except ComparisonError as error:
            refused.append(str(error))
    if not found:
        names = ", ".join(label for _, label in sides)
        asked = f" with a figure {metric!r}" if metric else ""
        reasons = [*refused, *left_out] or [f"The models ({names}) have no task in common{asked}."]
        raise ComparisonError("\n".join(["nothing to compare.", *reasons]))
    sections = [section for comparison in found for section in blocks(comparison)]
    if refused or left_out:
        notes = [Note(line, "warning") for line in (*refused, *left_out)]
        sections.append(Section("Not compared", notes, name="not-compared", is_summary=True))
    report = report_of(sections, _title(read.evaluations), footer_of(read.evaluations))
    complete = not refused and (gate is None or not left_out)
    return ComparedRuns(report, all(map(_passed, found)), complete)


def _independent(sides: Sequence[Sequence[Evaluation]], metric: str | None) -> ComparedRuns:
    pairs = [
        pair
        for a, b in combinations(sides, 2)
        for pair in pair_up(a, b).pairs
        if _has(pair[0], metric)
    ]
    evaluations = [evaluation for side in sides for evaluation in side]
    if not pairs:
        raise ComparisonError("nothing to compare: the runs have no task in common.")
    sections = [compare_independent(a, b, metric) for a, b in pairs]
    report = report_of(sections, _title(evaluations), footer_of(evaluations))
    return ComparedRuns(report, passed=True, complete=True)


def _groups(
    sides: Sequence[Sequence[Evaluation]],
) -> tuple[Sequence[Sequence[Evaluation]], Sequence[Evaluation]]:
    """Return which evaluations are compared with each other, and those with no partner."""
    if len(sides) == 2:
        partners = pair_up(*sides)
        return partners.pairs, partners.without_partner
    groups: dict[Hashable, list[Evaluation]] = defaultdict(list)
    for evaluation in (evaluation for side in sides for evaluation in side):
        groups[evaluation.comparable_as].append(evaluation)
    alike = [group for group in groups.values() if len(group) > 1]
    return alike, [group[0] for group in groups.values() if len(group) == 1]


def _title(evaluations: Sequence[Evaluation]) -> str:
    return " against ".join(reversed(list(dict.fromkeys(each.label for each in evaluations))))


def _has(evaluation: Evaluation, metric: str | None) -> bool:
    return metric is None or metric in {known.name for known in evaluation.metrics}


def _passed(comparison: Comparison | PairwiseComparison) -> bool:
    pairs = (
        [comparison]
        if isinstance(comparison, Comparison)
        else list(comparison.comparisons.values())
    )
    return all(pair.gate is None or pair.gate.passed for pair in pairs)
