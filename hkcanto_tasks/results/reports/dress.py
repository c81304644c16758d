"""The report of `hkcanto compare --dress`: the same items in another language or script.

The first two numbers of a model are paired by item, and so are the drops of two models.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ...errors import ComparisonError, OptionError
from ...messages import joined, say
from ..logs import read_runs
from ..runs import Run
from ..statistics.intervals import Estimate, paired_mean_interval
from ..statistics.matching import (
    RESAMPLES,
    SEED,
    Effect,
    Paired,
    Resampling,
    match_dresses,
    points_of,
)
from ..statistics.validity import no_verdict, unread_run
from .blocks import Block, Note, Report, Section, TableColumn, report_of, table
from .blocks import units_of as display_units
from .pairs import RunPair, effects_table, verdict
from .presentation import footer_of, measure_title


class _Dressed(NamedTuple):
    """One model on the items of two tasks.

    Attributes:
        label: The model's name.
        runs: Its run on each task.
        items: The paired items.
        keys: The items' ids without the name of a task.
    """

    label: str
    runs: tuple[Run, Run]
    items: Paired
    keys: Sequence[str]


def compare_dresses(
    logs: Sequence[str],
    tasks: Sequence[str],
    metric: str | None = None,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> Report:
    """Compare each model's runs of two tasks that ask the same items, and the models' drops.

    Args:
        logs: Logs or folders of logs.
        tasks: The two tasks, such as `hkcanto_mmlu_yue` and `hkcanto_mmlu_en`.
        metric: A figure of both; by default the first task's headline.
        seed: Seed of the exchanges of tests.
        resamples: Their largest number.

    Raises:
        HKCantoError: Two tasks are needed (`OptionError`), or each model ran them on other items
            (`ComparisonError`).
    """
    if len(tasks) != 2:
        raise OptionError("--dress takes two tasks: hkcanto_mmlu_yue,hkcanto_mmlu_en.")
    runs = read_runs(logs).runs
    resampling = Resampling(seed, resamples)
    models = _dressed_models(
        runs,
        tasks,
        metric,
        resampling,
    )
    effects = [model.items.effect(tests=len(models)) for model in models]
    blocks = [*_blocks(models, effects, tasks)]
    title = "The same items in two dresses"
    section = Section(
        title,
        blocks,
        "dress",
        is_summary=True,
    )
    return report_of(
        [section],
        title=joined(" and ", tasks),
        footer=footer_of([run for model in models for run in model.runs]),
        records={"dresses": [*map(_record, models, effects)]},
    )


def _dressed_models(
    runs: Sequence[Run],
    tasks: Sequence[str],
    metric: str | None,
    resampling: Resampling,
) -> list[_Dressed]:
    """Return each model that has a run of both tasks.

    Raises:
        ComparisonError: A model has two runs of a task or other items, or no model has both tasks.
    """
    models = list[_Dressed]()
    for (_, label), by_task in _runs_by_model(runs, tasks).items():
        if {*tasks} <= by_task.keys():
            first, second = (by_task[task] for task in tasks)
            items, keys = match_dresses(
                first,
                second,
                metric,
                resampling,
            )
            models.append(
                _Dressed(
                    label,
                    (first, second),
                    items,
                    keys,
                )
            )
    if not models:
        known = ", ".join(sorted({run.task for run in runs}))
        raise ComparisonError(
            f"no model has runs of both {' and '.join(tasks)}. There are runs of {known}."
        )
    return models


def _runs_by_model(
    runs: Sequence[Run],
    tasks: Sequence[str],
) -> dict[tuple[int, str], dict[str, Run]]:
    """Return the runs of each model by their tasks.

    Raises:
        ComparisonError: A model has two runs of one of the two tasks.
    """
    by_model: dict[tuple[int, str], dict[str, Run]] = defaultdict(dict)
    for run in runs:
        by_task = by_model[run.argument, run.label]
        if run.task in by_task and run.task in tasks:
            raise ComparisonError(f"{run.label} has two runs of {run.task}. Name one.")
        by_task[run.task] = run
    return by_model


def _blocks(
    models: Sequence[_Dressed], effects: Sequence[Effect], tasks: Sequence[str]
) -> Iterator[Block]:
    pairs = []
    for model, effect in zip(models, effects, strict=True):
        unread = [*filter(None, map(unread_run, model.runs))]
        figure = model.items.figure
        measure = measure_title(model.runs[0], figure)
        pairs.append(
            RunPair(
                model.label,
                figure,
                effect,
                measure,
                unread=unread,
            )
        )
    for pair in pairs:
        yield Note(verdict(pair, tasks), "verdict")
    for model in models:
        for remark in _remarks(model):
            text = say("{run}: {note}", run=model.label, note=remark)
            yield Note(text, "warning")
    for pair in pairs:
        if pair.unread:
            yield Note(joined(" · ", no_verdict(pair.unread)), "warning")
    read = [pair for pair in pairs if not pair.unread]
    yield effects_table(
        "dress",
        "Model by model",
        read,
        tasks,
    )
    yield _drops_table(models, tasks)


def _drops_table(models: Sequence[_Dressed], tasks: Sequence[str]) -> Block:
    """Return the differences of the changes of two models each."""
    drops = [
        (
            say("{model} against {other}", model=b.label, other=a.label),
            _difference(a, b),
        )
        for a, b in combinations(models, 2)
    ]
    figure = models[0].items.figure
    _, points = display_units(figure)
    about = say(
        "Change from {task} to {other} of the one minus that of the other.",
        task=tasks[0],
        other=tasks[1],
    )
    columns: list[Any] = [
        (TableColumn("Models"), lambda drop: drop[0]),
        (
            TableColumn("Difference", points, about),
            lambda drop: drop[1].times(points_of(figure)),
        ),
    ]
    return table(
        "drops",
        "Difference of the changes",
        drops,
        columns,
    )


def _difference(a: _Dressed, b: _Dressed) -> Estimate:
    """Return the change of one model minus that of another, over the items of both.

    Raises:
        ComparisonError: They have no item in common.
    """
    common = sorted({*a.keys} & {*b.keys})
    if not common:
        raise ComparisonError(f"{a.label} and {b.label} have no item in common.")
    changes = []
    for model in (a, b):
        position = {key: index for index, key in enumerate(model.keys)}
        chosen = [position[key] for key in common]
        changes.append((model.items.b - model.items.a)[chosen, 0])
    mask = np.isin(np.array(a.keys), common)
    items = a.items.where(mask)
    differences = changes[1] - changes[0]
    shares = items.shares
    value = float(np.average(differences, weights=shares))
    low, high = paired_mean_interval(
        differences, items.clusters, weights=shares, largest=2.0
    )
    return Estimate(
        value,
        low,
        high,
        len(common),
    )


def _remarks(model: _Dressed) -> Iterator[str]:
    """Yield what else differs between the two runs of a model."""
    first, second = model.runs
    for run in model.runs:
        without = len(run.items) - len(model.keys)
        if without:
            yield say(
                "{number:,} of {total:,} items of {task} have no partner with the same answer, and are "
                "left out",
                number=without,
                total=len(run.items),
                task=run.task,
            )
    if first.signature.shots != second.signature.shots:
        yield say(
            "{shots} and {other} shots differ, too",
            shots=first.signature.shots,
            other=second.signature.shots,
        )


def _record(model: _Dressed, effect: Effect) -> Mapping[str, Any]:
    return {
        "model": model.label,
        "tasks": [run.task for run in model.runs],
        "figure": model.items.figure.name,
        **asdict(replace(effect, name=model.label)),
    }
