"""`hkcanto compare`: which evaluations of some logs are compared with which, as a report."""

from collections import defaultdict
from collections.abc import Callable, Sequence
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
    """

    report: Report
    passed: bool


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
        ComparisonError: There is one model only, or the models' items differ.
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
    found: Sequence[Comparison | PairwiseComparison]
    alone: Sequence[Evaluation]
    if len(sides) == 2:
        partners = pair_up(*sides.values())
        found = [compare(a, b, **options) for a, b in partners.pairs if _has(a, metric)]
        alone = partners.without_partner
    else:
        alike = _by_condition(read.evaluations)
        found = [compare_many(group, **options) for group in alike if len(group) > 1]
        alone = [group[0] for group in alike if len(group) == 1]
    if not found:
        names = ", ".join(label for _, label in sides)
        raise ComparisonError(
            f"nothing to compare: the models ({names}) have no task in common"
            + (f" with a figure {metric!r}." if metric else ".")
            + " Run both on the same task."
        )
    sections = [section for comparison in found for section in blocks(comparison)]
    left_out = [f"{log.path}: {log.reason}" for log in read.skipped]
    left_out += [f"{each.label}, {each.task} ({each.condition}): no partner" for each in alone]
    if left_out:
        notes = [Note(line, "warning") for line in left_out]
        sections.append(Section("Not compared", notes, name="not-compared", is_summary=True))
    report = report_of(sections, _title(read.evaluations), footer_of(read.evaluations))
    return ComparedRuns(report, all(_passed(comparison) for comparison in found))


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
    return ComparedRuns(report, passed=True)


def _title(evaluations: Sequence[Evaluation]) -> str:
    return " against ".join(reversed(list(dict.fromkeys(each.label for each in evaluations))))


def _has(evaluation: Evaluation, metric: str | None) -> bool:
    return metric is None or metric in {known.name for known in evaluation.metrics}


def _by_condition(evaluations: Sequence[Evaluation]) -> Sequence[Sequence[Evaluation]]:
    groups: dict[Any, list[Evaluation]] = defaultdict(list)
    for evaluation in evaluations:
        groups[evaluation.task, evaluation.condition].append(evaluation)
    return list(groups.values())


def _passed(comparison: Comparison | PairwiseComparison) -> bool:
    pairs = (
        [comparison]
        if isinstance(comparison, Comparison)
        else list(comparison.comparisons.values())
    )
    return all(pair.gate is None or pair.gate.passed for pair in pairs)
