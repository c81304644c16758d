"""The Inspect metrics: all figures of a task, by the names that they have in lm-eval, too."""

from collections.abc import Sequence
from math import nan
from statistics import fmean
from typing import Any

import msgspec
from inspect_ai.scorer import Metric, SampleScore, metric

from hkcanto_tasks.catalogue import find_benchmark
from hkcanto_tasks.errors import OptionError
from hkcanto_tasks.figures import (
    Figure,
    ItemValue,
    corpus_errors,
    item_values,
    language_of,
    of_columns,
    standard_error,
    value,
)
from hkcanto_tasks.judgements import Judgement
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.setup import Setup, setup


@metric(name="figures")
def figures(
    task: str, options: dict[str, Any] | None = None, subjects: list[str] | None = None
) -> Metric:
    """The figures of a task's table: the headline first, and its standard error.

    Args:
        task: The task's name in lm-eval.
        options: The options of its kind.
        subjects: Its subjects; all of them without it.
    """
    return _figures(setup(task, subjects or (), **(options or {})))


@metric(name="corpus_figures", scores="unreduced")
def corpus_figures(
    task: str, options: dict[str, Any] | None = None, subjects: list[str] | None = None
) -> Metric:
    """As `figures`, for a task with figures of a whole corpus: of the responses of every epoch.

    Its other figures are means over the epochs; `--epochs-reducer` has no part in it.

    Args:
        task: As in `figures`, as are options and subjects.
        options: See there.
        subjects: See there.
    """
    return _figures(setup(task, subjects or (), **(options or {})))


def _figures(how: Setup) -> Metric:
    def compute(scores: list[SampleScore]) -> dict[str, float]:
        if scores and not _is_ours(scores[0]):
            return {}  # a judge's scores, to which Inspect applies a task's metrics, too
        headline, found = how.headline, _values(how, scores)
        error = {f"{headline.name}_stderr": _error(how, headline, scores)}
        return {headline.name: found.pop(headline.name), **error, **found}

    return compute


@metric(name="table")
def table(benchmark: str, tasks: list[str], options: dict[str, Any] | None = None) -> Metric:
    """The averages of a benchmark over several tasks, and the columns that they are of.

    Args:
        benchmark: The benchmark's name.
        tasks: The tasks in its averages.
        options: The options of their kind.
    """
    setups = {task: setup(task, **(options or {})) for task in tasks}
    every = sorted(find_benchmark(benchmark).averages, key=lambda of: len(of.columns) == 1)
    pooled = {task for of in every for column in of.columns if len(column) > 1 for task in column}

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        headlines = {}
        for task, how in setups.items():
            own = [each for each in scores if (each.sample_metadata or {})["task"] == task]
            headlines[task] = _values(how, own)[how.headline.name]
        columns = {task: own for task, own in headlines.items() if task not in pooled}
        unparsed: list[Any] = [each.score.as_dict()["unparsed_rate"] for each in scores]
        return {
            **{of.name: of_columns(of, headlines) for of in every},
            **columns,
            "unparsed_rate": fmean(unparsed) if unparsed else nan,
        }

    return compute


def _is_ours(score: SampleScore) -> bool:
    return "judgement" in (score.score.metadata or {})


def _values(how: Setup, scores: Sequence[SampleScore]) -> dict[str, float]:
    """Return the figures of the table."""
    _refuse_a_mixture(scores)
    found = _by_figure(how, scores)
    categories, language = how.categories, language_of(how.task)
    return {
        figure.name: value(figure, found[figure.name], categories, language) for figure in how.table
    }


def _by_figure(how: Setup, scores: Sequence[SampleScore]) -> dict[str, list[Any]]:
    """Return what the items give to each figure; several epochs give their mean, but to rates."""
    found: dict[str, dict[Any, list[Any]]] = {figure.name: {} for figure in how.table}
    for each in sorted(scores, key=lambda each: str(each.sample_id)):
        sample = msgspec.convert(each.sample_metadata, Sample)
        logged = msgspec.convert((each.score.metadata or {})["judgement"], Judgement)
        own = msgspec.structs.replace(logged, values=each.score.as_dict())
        for name, item in item_values(how.table, sample, own).items():
            if item is not None:
                found[name].setdefault(each.sample_id, []).append(item)
    is_mean = {figure.name: figure.form == "mean" for figure in how.table}
    return {
        name: [_mean(epochs) for epochs in items.values()]
        if is_mean[name]
        else [item for epochs in items.values() for item in epochs]
        for name, items in found.items()
    }


def _mean(epochs: Sequence[ItemValue]) -> ItemValue:
    return ItemValue.of(fmean(epochs), epochs[0].subject)


def _error(how: Setup, figure: Figure, scores: Sequence[SampleScore]) -> float:
    items = _by_figure(how, scores)[figure.name]
    if figure.form != "corpus":
        return standard_error(figure, items, how.categories)
    answered = sorted(str(each.sample_id) for each in scores)
    found = corpus_errors(items, language_of(how.task), answered) if items else None
    return found[figure.name].standard_error if found else nan


def _refuse_a_mixture(scores: Sequence[SampleScore]) -> None:
    """Refuse samples of two runs that had other data, options or versions."""
    about = [each.sample_metadata or {} for each in scores]
    prints = {(each.get("task"), each.get("fingerprint")) for each in about}
    if len({task for task, _ in prints}) < len(prints):
        raise OptionError(
            "the samples are of two runs with different data, options or versions of hkcanto, as "
            "after `inspect eval-retry` with another HKCANTO_DATA_DIR. Retry with the data of the "
            "first run (its signature is in the log's metadata), or run anew."
        )
