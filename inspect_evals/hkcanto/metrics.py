"""The Inspect metrics: all figures of a task, under the same names as in lm-eval."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from math import nan
from statistics import fmean
from typing import Any

import msgspec
from inspect_ai.scorer import Metric, SampleScore, metric

from hkcanto_tasks.catalogue import find_benchmark, of_columns
from hkcanto_tasks.errors import OptionError
from hkcanto_tasks.figures import (
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
    task: str, options: dict[str, Any] | None = None, subjects: list[str] | None = None
) -> Metric:
    """The figures of a task's table: the headline first, and its standard error.

    Args:
        task: The task's name in lm-eval.
        options: The options of its kind.
        subjects: Its subjects; all by default.
    """
    how = task_as_run(task, subjects or (), **(options or {}))
    language = language_of(how.task)

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        if _are_of_another(scores):
            return {}
        items, headline = _items(how, scores), how.table[0]
        if headline.form == "corpus":
            answered = sorted(str(score.sample_id) for score in scores)
            error = corpus_error(headline, items[headline.name], language, answered)
        else:
            error = standard_error(headline, items[headline.name], how.categories)
        values = {}
        for figure in how.table:
            values[figure.name] = value(
                figure, items[figure.name], how.categories, language
            )
        named = {
            headline.name: values.pop(headline.name),
            f"{headline.name}_stderr": error,
        }
        return {**named, **values}

    return compute


figures = metric(name="figures")(_figures)
# For a task with rates or corpus figures, which pool the epochs' responses. Its other figures are
# means over the epochs; `--epochs-reducer` has no effect.
corpus_figures = metric(name="corpus_figures", scores="unreduced")(_figures)


@metric(name="table")
def table(
    benchmark: str, tasks: list[str], options: dict[str, Any] | None = None
) -> Metric:
    """The averages of a benchmark over several tasks, and the columns that they average.

    Args:
        benchmark: The benchmark's name.
        tasks: The tasks in its averages.
        options: The options of their kind.
    """
    setups = {task: task_as_run(task, **(options or {})) for task in tasks}
    every = sorted(
        find_benchmark(benchmark).averages, key=lambda of: len(of.columns) == 1
    )
    pooled = {
        task
        for of in every
        for column in of.columns
        if len(column) > 1
        for task in column
    }

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        if _are_of_another(scores):
            return {}
        headlines = {}
        for task, how in setups.items():
            own = [
                each for each in scores if (each.sample_metadata or {})["task"] == task
            ]
            items, language = _items(how, own)[how.headline.name], language_of(how.task)
            headlines[task] = value(how.headline, items, how.categories, language)
        columns = {task: own for task, own in headlines.items() if task not in pooled}
        unparsed: list[Any] = [each.score.as_dict()["unparsed_rate"] for each in scores]
        return {
            **{of.name: of_columns(of, headlines) for of in every},
            **columns,
            "unparsed_rate": fmean(unparsed) if unparsed else nan,
        }

    return compute


def _are_of_another(scores: Sequence[SampleScore]) -> bool:
    """Whether the scores are a second scorer's; Inspect applies a task's metrics to these, too."""
    return bool(scores) and "judgement" not in (scores[0].score.metadata or {})


def _items(how: Kind, scores: Sequence[SampleScore]) -> dict[str, list[Any]]:
    """Return figure → the items' values; for a mean, each item's mean over its epochs.

    Raises:
        OptionError: The samples are of two runs with different data, options or versions.
    """
    about = [each.sample_metadata or {} for each in scores]
    prints = {(sample.get("task"), sample.get("fingerprint")) for sample in about}
    if len({task for task, _ in prints}) < len(prints):
        why = "the samples are of two runs with different data, options or versions of hkcanto"
        raise OptionError(
            f"{why}. Retry with the data of the first run, or start a new run."
        )
    epochs: dict[str, dict[Any, list[Any]]] = {
        each.name: defaultdict(list) for each in how.table
    }
    for each in sorted(scores, key=lambda each: str(each.sample_id)):
        sample = msgspec.convert(each.sample_metadata, Sample)
        logged = msgspec.convert((each.score.metadata or {})["judgement"], Judgement)
        known = {
            name: of for name, of in each.score.as_dict().items() if of == of
        }  # no NaN
        judgement = msgspec.structs.replace(logged, values=known)
        for name, item in item_values(how.table, sample, judgement).items():
            if item is not None:
                epochs[name][each.sample_id].append(item)
    items = {name: [*chain.from_iterable(of.values())] for name, of in epochs.items()}
    for figure in how.table:
        if figure.form == "mean":
            own = epochs[figure.name].values()
            items[figure.name] = [ItemValue.of(fmean(of), of[0].subject) for of in own]
    return items
