"""Made-up runs of many models of different accuracy on many tasks."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hkcanto_tasks.results.runs import Run
from hkcanto_tasks.results.statistics.estimates import value_of
from hkcanto_tasks.tasks import task_as_run

from .building import a_run

TASKS = (
    *(
        "hkmmlu",
        "tmmluplus_gen",
        "hkcanto_law",
        "hkcanto_professional_en",
        "hkcanto_cultural",
    ),
    *("hkcanto_phonology", "hkcanto_sentiment", "hkcanto_g2p"),
)


def many(
    models: Sequence[str], tasks: Sequence[str] = TASKS, limit: int = 0, seed: int = 1
) -> list[Run]:
    """Return a run of each model on each task; a limit is the number of items per subject."""
    rng, runs = np.random.default_rng(seed), []
    for task in tasks:
        how = task_as_run(task)
        scored = [
            (each.name, each.rows - how.task.definition.examples_from_test)
            for each in how.task.subjects
        ]
        sizes = {name: min(rows, limit or rows) for name, rows in scored}
        subjects = [name for name, rows in sizes.items() for _ in range(rows)]
        hard = rng.normal(0, 1, len(subjects))
        by_subject = {name: rng.normal(0, 0.6) for name in sizes}
        ease = hard + [by_subject[name] for name in subjects]
        for place, model in enumerate(models):
            skill = 1.5 * (place + 1) / len(models) + rng.normal(0, 0.2)
            right = (rng.logistic(0, 1, len(subjects)) < skill + ease).astype(float)
            figure = how.headline.averages
            down = how.headline.higher_is_better is False
            values = {
                figure: 1 - right if down else right,
                "unparsed_rate": np.zeros(len(right)),
            }
            more = (
                {"weights": {figure: np.full(len(right), 5.0)}}
                if how.headline.form == "rate"
                else {}
            )
            run = a_run(task, values, label=model, subjects=subjects, **more)
            runs.append(
                replace(
                    run,
                    limited=bool(limit),
                    reported={
                        ((), how.headline.name): value_of(run, how.headline.name).value
                    },
                )
            )
    return runs
