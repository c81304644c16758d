"""The first section on two models: each task's pair of runs, as `hkcanto compare` compares them."""

from ...errors import ComparisonError
from ..runs import Run
from ..statistics.paired import compare
from .overview import Overview, Results, best_in_points, in_points
from .pairs import (
    RunPair,
    pair_of,
    pairs_blocks,
)
from .presentation import (
    measure_title,
    task_title,
)


def overview_of_two(results: Results) -> Overview:
    """Return each task's pair of runs, compared as in `hkcanto compare`, and runs left out."""
    pairs = list[RunPair]()
    left_out = list[Run]()
    for group in results.groups:
        by_label = {run.label: run for run in reversed(group)}
        first, second = (by_label.get(label) for label in results.labels)
        pair = _compared_pair(
            first,
            second,
            _best_score(group[0]),
            results.tests,
        )
        if pair is None:
            pair = _uncompared_pair(group[0], first, second)
            if first and second:
                left_out += [first, second]
        pairs.append(pair)
    notes, tasks = pairs_blocks(pairs, results.labels)
    return Overview(notes, [tasks], left_out)


def _compared_pair(
    first: Run | None,
    second: Run | None,
    best: float | None,
    tests: int,
) -> RunPair | None:
    """Return the effect of a task's two runs; None if one is missing or they do not fit."""
    if first is None or second is None:
        return None
    try:
        comparison = compare(
            first,
            second,
            parts=False,
            tests=tests,
        )
        return pair_of(comparison, best)
    except ComparisonError:
        return None


def _best_score(run: Run) -> float | None:
    """Return the best published score of a run's task, from 0 to 100."""
    best = best_in_points(run)
    return best and best.score


def _uncompared_pair(
    run: Run,
    first: Run | None,
    second: Run | None,
) -> RunPair:
    """Return a task's pair of runs without an effect."""
    scores = list[float | None]()
    for side in (first, second):
        score = in_points(side) if side else None
        scores.append(score.value if score else None)
    measure = measure_title(run, run.headline)
    return RunPair(
        task_title(run),
        run.headline,
        None,
        measure,
        scores,
        _best_score(run),
    )
