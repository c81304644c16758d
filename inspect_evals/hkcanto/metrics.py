"""The Inspect metrics: all figures of a task, under the same names as in lm-eval."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from math import nan
from statistics import fmean
from typing import Any

import msgspec
from inspect_ai.scorer import Metric, SampleScore, metric

from hkcanto_tasks.catalogue import average_of_tasks, find_benchmark
from hkcanto_tasks.errors import OptionError
from hkcanto_tasks.figures import (
    Figure,
    ItemValue,
    corpus_error,
    item_values,
    language_of,
    standard_error,
    value,
)
from hkcanto_tasks.judgements import Judgement
from hkcanto_tasks.kinds.base import Kind
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.tasks import task_as_run


def _figures(
    task: str,
    options: dict[str, Any] | None = None,
    subjects: list[str] | None = None,
) -> Metric:
    """The figures of a task's table: the headline first, and its standard error.

    Args:
        task: The task's name in lm-eval.
        options: The options of its kind.
        subjects: Its subjects; all by default.
    """
    kind = task_as_run(task, subjects or (), **(options or {}))
    language = language_of(kind.task)

    def error(
        headline: Figure,
        items: Any,
        scores: Sequence[SampleScore],
    ) -> float:
        if headline.form == "corpus":
            ids = sorted(str(score.sample_id) for score in scores)
            return corpus_error(
                headline,
                items,
                language,
                ids,
            )
        return standard_error(headline, items, kind.categories)

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        if _are_of_another(scores):
            return {}
        items = _items(kind, scores)
        values: dict[str, float] = {}
        for figure in kind.table:
            values[figure.name] = value(
                figure, items[figure.name], kind.categories, language
            )
            if figure == kind.headline:
                values[f"{figure.name}_stderr"] = error(
                    figure, items[figure.name], scores
                )
        return values

    return compute


figures = metric(name="figures")(_figures)
# For a task with rates or corpus figures, which pool the epochs' responses. Its other figures are
# means over the epochs; `--epochs-reducer` has no effect.
corpus_figures = metric(name="corpus_figures", scores="unreduced")(_figures)


@metric(name="table")
def table(
    benchmark: str,
    tasks: list[str],
    options: dict[str, Any] | None = None,
) -> Metric:
    """The averages of a benchmark over several tasks, and the columns that they average.

    Args:
        benchmark: The benchmark's name.
        tasks: The tasks in its averages.
        options: The options of their kind.
    """
    kinds = {task: task_as_run(task, **(options or {})) for task in tasks}
    declared = find_benchmark(benchmark).averages
    averages = sorted(declared, key=lambda average: len(average.columns) == 1)
    pooled: set[str] = set()
    for average in averages:
        for column in average.columns:
            if len(column) > 1:
                pooled.update(column)

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        if _are_of_another(scores):
            return {}
        headlines = {task: _headline(kinds[task], task, scores) for task in tasks}
        values = {
            average.name: average_of_tasks(average, headlines) for average in averages
        }
        for task in tasks:
            if task not in pooled:
                values[task] = headlines[task]
        unparsed: list[Any] = [
            score.score.as_dict()["unparsed_rate"] for score in scores
        ]
        values["unparsed_rate"] = fmean(unparsed) if unparsed else nan
        return values

    return compute


def _headline(
    kind: Kind,
    task: str,
    scores: Sequence[SampleScore],
) -> float:
    """Return a task's headline from the scores of several tasks."""
    of_task = [
        score for score in scores if (score.sample_metadata or {})["task"] == task
    ]
    items = _items(kind, of_task)[kind.headline.name]
    return value(
        kind.headline,
        items,
        kind.categories,
        language_of(kind.task),
    )


def _are_of_another(scores: Sequence[SampleScore]) -> bool:
    """Whether the scores are a second scorer's; Inspect applies a task's metrics to these, too."""
    return bool(scores) and "judgement" not in (scores[0].score.metadata or {})


def _items(kind: Kind, scores: Sequence[SampleScore]) -> dict[str, list[Any]]:
    """Return figure → the items' values; for a mean, each item's mean over its epochs.

    Raises:
        OptionError: The samples are of two runs with different data, options or versions.
    """
    _refuse_two_runs(scores)
    epochs: dict[str, dict[Any, list[Any]]] = {
        figure.name: defaultdict(list) for figure in kind.table
    }
    for score in sorted(scores, key=lambda score: str(score.sample_id)):
        sample = msgspec.convert(score.sample_metadata, Sample)
        values = item_values(kind.table, sample, _judgement(score))
        for name, item in values.items():
            if item is not None:
                epochs[name][score.sample_id].append(item)
    items: dict[str, list[Any]] = {}
    for figure in kind.table:
        by_sample = epochs[figure.name].values()
        if figure.form == "mean":
            items[figure.name] = [
                ItemValue.of(fmean(values), values[0].subject) for values in by_sample
            ]
        else:
            items[figure.name] = [*chain.from_iterable(by_sample)]
    return items


def _refuse_two_runs(scores: Sequence[SampleScore]) -> None:
    fingerprints: dict[Any, Any] = {}
    for score in scores:
        metadata = score.sample_metadata or {}
        fingerprint = metadata.get("fingerprint")
        if fingerprints.setdefault(metadata.get("task"), fingerprint) != fingerprint:
            raise OptionError(
                "the samples are of two runs with different data, options or versions of hkcanto. "
                "Retry with the data of the first run, or start a new run."
            )


def _judgement(score: SampleScore) -> Judgement:
    """Return the logged judgement, with the values of the score, which may be means over epochs."""
    judgement = msgspec.convert((score.score.metadata or {})["judgement"], Judgement)
    values = {
        name: number
        for name, number in score.score.as_dict().items()
        if number == number  # not NaN, which is unscored
    }
    return msgspec.structs.replace(judgement, values=values)
