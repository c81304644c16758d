"""Processor time of comparing models item by item: `python performance/bench_compare.py [MODELS]`.

The answers are drawn at random for all 26,368 questions of HKMMLU in its 66 subjects. The target is
2 s for the whole comparison of two models with its tables and chart, without reading the logs.
"""

import argparse
import resource
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.reports.evaluations import Evaluation, Items

TASK = "hkmmlu"


def evaluation(label: str, seed: int) -> Evaluation:
    """Random answers of one model to every question."""
    generator = np.random.default_rng(seed)
    subjects = find_task(TASK).subjects
    names = [subject.name for subject in subjects for _ in range(subject.rows)]
    groups = [subject.groups for subject in subjects for _ in range(subject.rows)]
    ids = [f"{TASK}/{s.name}/{row + 1}" for s in subjects for row in range(s.rows)]
    count = len(ids)
    hard = np.random.default_rng(0).random(count)
    right = (hard + 0.3 * generator.normal(size=count) < 0.6).astype(float)
    nothing = np.zeros(count)
    return Evaluation(
        label=label,
        model=label,
        harness="lm-eval",
        task=TASK,
        shots=0,
        options={"prompt": "paper", "script": "tc"},
        data="0123456",
        signature=f"{TASK}|shots:0",
        created=datetime.now(UTC),
        sources=(Path(f"{label}.json"),),
        items=Items(
            ids=ids,
            subjects=names,
            groups=groups,
            values={"acc": right, "unparsed_rate": nothing},
            weights={},
            clusters=np.arange(count),
            question_lengths=nothing.astype(np.int64),
            golds=nothing.astype(np.int64),
            response_lengths=nothing.astype(np.int64),
            reasoning_lengths=nothing.astype(np.int64),
            output_tokens=nothing,
            truncated=nothing,
            refused=nothing.astype(np.bool_),
        ),
    )


def timed(what: str, work: Callable[[], Any]) -> Any:
    """Print how long a call takes."""
    start = process_time()
    result = work()
    print(f"{what:40}{process_time() - start:7.2f} s")
    return result


def main() -> None:
    """Print one row per step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="?", type=int, default=8)
    models = parser.parse_args().models

    def libraries() -> None:
        import altair  # noqa: F401
        import scipy.stats  # noqa: F401
        import statsmodels.stats.multitest  # noqa: F401

    timed("importing the libraries", libraries)
    from hkcanto_tasks.reports.comparison import compare, compare_many
    from hkcanto_tasks.reports.comparison_blocks import blocks

    runs = [evaluation(f"model {i + 1}", i) for i in range(models)]
    print(f"{len(runs[0].items):,} items, {len(runs[0].subjects)} subjects")
    found = timed("compare", lambda: compare(runs[0], runs[1], gate=2.0))
    timed("blocks", lambda: blocks(found))
    pairwise = timed(f"compare_many, {models} models", lambda: compare_many(runs))
    timed("blocks", lambda: blocks(pairwise))
    print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
