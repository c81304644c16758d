"""The Inspect metrics: all figures of a task, by the names that they have in lm-eval, too."""

from collections.abc import Mapping, Sequence
from math import nan
from statistics import fmean
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, metric

from hkcanto_tasks.averages import average, of_columns, standard_error
from hkcanto_tasks.catalogue import find_benchmark
from hkcanto_tasks.corpus_figures import Pair, corpus_errors, corpus_scores, language_of
from hkcanto_tasks.errors import OptionError
from hkcanto_tasks.records import Figure
from hkcanto_tasks.task import Condition, condition


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
    return _figures(condition(task, subjects or (), **(options or {})))


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
    return _figures(condition(task, subjects or (), **(options or {})))


def _figures(how: Condition) -> Metric:
    def compute(scores: list[SampleScore]) -> dict[str, float]:
        if scores and "pair" not in (scores[0].score.metadata or {}):
            return {}  # a judge's scores, to which Inspect applies a task's metrics, too
        _refuse_a_mixture(scores)
        headline, *others = how.table
        found = {
            headline.name: _value(how, headline, scores),
            f"{headline.name}_stderr": _error(how, headline, scores),
        }
        for figure in others:
            found[figure.name] = _value(how, figure, scores)
        return found

    return compute


@metric(name="table")
def table(benchmark: str, tasks: list[str], options: dict[str, Any] | None = None) -> Metric:
    """The averages of a benchmark over several tasks, and the columns that they are of.

    Args:
        benchmark: The benchmark's name.
        tasks: The tasks in its averages.
        options: The options of their kind.
    """
    conditions = {task: condition(task, **(options or {})) for task in tasks}
    every = sorted(find_benchmark(benchmark).averages, key=lambda of: len(of.columns) == 1)
    pooled = {task for of in every for column in of.columns if len(column) > 1 for task in column}

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        _refuse_a_mixture(scores)
        headlines = {}
        for task, how in conditions.items():
            own = [each for each in scores if _about(each)["task"] == task]
            headlines[task] = _value(how, how.table[0], own)
        columns = {task: value for task, value in headlines.items() if task not in pooled}
        unparsed = [_values(each)["unparsed_rate"] for each in scores]
        return {
            **{of.name: of_columns(of, headlines) for of in every},
            **columns,
            "unparsed_rate": average(unparsed),
        }

    return compute


def _refuse_a_mixture(scores: Sequence[SampleScore]) -> None:
    """Refuse samples of two runs that had other data, options or versions."""
    prints = {(_about(each).get("task"), _about(each).get("fingerprint")) for each in scores}
    if len({task for task, _ in prints}) < len(prints):
        raise OptionError(
            "the samples are of two runs with different data, options or versions of hkcanto, as "
            "after `inspect eval-retry` with another HKCANTO_DATA_DIR. Retry with the data of the "
            "first run (its signature is in the log's metadata), or run anew."
        )


def _value(how: Condition, figure: Figure, scores: Sequence[SampleScore]) -> float:
    if figure.corpus:
        pairs, _ = _pairs(scores)
        return corpus_scores(pairs, language_of(how.task))[figure.name] if pairs else nan
    if figure.pooled:
        rates, weights = _rates_and_weights(scores, figure.name)
        total = sum(weights)
        if not total:
            return 0.0 if scores else nan
        return sum(rate * weight for rate, weight in zip(rates, weights, strict=True)) / total
    values, subjects = _items(figure, scores)
    return average(values, figure.over, subjects, how.categories)


def _error(how: Condition, figure: Figure, scores: Sequence[SampleScore]) -> float:
    if figure.corpus:
        pairs, items = _pairs(scores)
        found = corpus_errors(pairs, language_of(how.task), items) if pairs else None
        return found[figure.name].standard_error if found else nan
    values, subjects = _items(figure, scores)
    return standard_error(values, figure.over, subjects, how.categories)


def _items(figure: Figure, scores: Sequence[SampleScore]) -> tuple[list[float], list[str]]:
    """The values of the items that a figure is of, each the mean of its epochs, and subjects."""
    values: dict[int | str | None, list[float]] = {}
    subjects = {}
    for each in scores:
        if not figure.part or figure.part in _about(each)["parts"]:
            values.setdefault(each.sample_id, []).append(_values(each)[figure.averages])
            subjects[each.sample_id] = _about(each)["subject"]
    return [fmean(epochs) for epochs in values.values()], [*subjects.values()]


def _rates_and_weights(scores: Sequence[SampleScore], name: str) -> tuple[list[float], list[float]]:
    rates = [_values(score)[name] for score in scores]
    weights = [float((score.score.metadata or {})["weights"][name]) for score in scores]
    return rates, weights


def _pairs(scores: Sequence[SampleScore]) -> tuple[list[Pair], list[int | str | None]]:
    """The pairs of the responses, and the items that they are of, in the order of these."""
    answered = [each for each in scores if (each.score.metadata or {}).get("pair")]
    answered.sort(key=lambda each: str(each.sample_id))
    pairs = [Pair(**(each.score.metadata or {})["pair"]) for each in answered]
    return pairs, [each.sample_id for each in answered]


def _about(score: SampleScore) -> Mapping[str, Any]:
    return score.sample_metadata or {}


def _values(score: SampleScore) -> Mapping[str, Any]:
    return score.score.as_dict()
