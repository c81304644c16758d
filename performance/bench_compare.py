"""Processor time of comparing models item by item: `python performance/bench_compare.py [MODELS]`.

The answers are drawn at random for all 26,368 questions of HKMMLU in its 66 subjects. The target is
2 s for the whole comparison of two models with its tables, without reading the logs.
"""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from measuring import arguments, memory, timed

from hkcanto_tasks.figures import parts_of
from hkcanto_tasks.results.runs import Items, Run
from hkcanto_tasks.signing import signature_of
from hkcanto_tasks.tasks import task_as_run

TASK = "hkmmlu"


def answered(label: str, seed: int) -> Run:
    """Random answers of one model to every question."""
    generator = np.random.default_rng(seed)
    how = task_as_run(TASK)
    subjects = how.task.subjects
    names = [subject.name for subject in subjects for _ in range(subject.rows)]
    parts = [parts_of(how.task, subject) for subject in subjects]
    ids = [f"{TASK}/{s.name}/{row + 1}" for s in subjects for row in range(s.rows)]
    count = len(ids)
    hard = np.random.default_rng(0).random(count)
    right = (hard + 0.3 * generator.normal(size=count) < 0.6).astype(float)
    nothing = np.zeros(count)
    return Run(
        label=label,
        model=label,
        harness="lm-eval",
        signature=signature_of(how, "0123456"),
        created=datetime.now(UTC),
        sources=(Path(f"{label}.json"),),
        items=Items(
            ids=ids,
            subjects=names,
            parts=[
                own
                for s, own in zip(subjects, parts, strict=True)
                for _ in range(s.rows)
            ],
            values={"acc": right, "unparsed_rate": nothing},
            weights={},
            clusters=np.arange(count),
            question_lengths=nothing.astype(np.int64),
            golds=nothing.astype(np.int64),
            response_lengths=nothing.astype(np.int64),
            output_tokens=nothing,
            truncated=nothing,
        ),
    )


def main() -> None:
    """Print one row per step."""
    models = arguments(__doc__, {"models": 8}).models

    def libraries() -> None:
        import scipy.special  # noqa: F401

    timed("importing the libraries", libraries)
    from hkcanto_tasks.results.reports.compare import sections
    from hkcanto_tasks.results.statistics.paired import compare, pairwise

    runs = [answered(f"model {i + 1}", i) for i in range(models)]
    print(f"{len(runs[0].items):,} items, {len(runs[0].subjects)} subjects")
    found = timed("compare", lambda: compare(runs[0], runs[1], gate=2.0))
    timed("sections", lambda: [*sections([[found]], [])])
    of_all = timed(f"pairwise, {models} models", lambda: pairwise(runs))
    timed("sections", lambda: [*sections([of_all], [])])
    print(f"memory: {memory():.0f} MB")


if __name__ == "__main__":
    main()
