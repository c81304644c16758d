"""The rows of a task in lm-eval's table of results: its figures, and averages over tasks."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any

from lm_eval.api.metrics import mean

from hkcanto_tasks.catalogue import find_task, share
from hkcanto_tasks.data.locating import locate
from hkcanto_tasks.data.rows import ReleaseRows
from hkcanto_tasks.declarations import Average
from hkcanto_tasks.errors import HKCantoError
from hkcanto_tasks.figures import Figure, language_of, value
from hkcanto_tasks.kinds.base import Kind
from hkcanto_tasks.tasks import LoadedTask

from .config import Config, averages_over

Aggregation = Callable[[Any], float]


class ResultRows:
    """The rows of a task. Some repeat the headline under another name.

    Args:
        loaded: The task.
        part_of: The benchmark whose group runs the task; empty if it is run by itself.
        kind: The task as it was run.
        has_printed_name: Whether the headline is also shown under the paper's name for it.
    """

    def __init__(
        self,
        loaded: LoadedTask,
        part_of: str,
        kind: Kind,
        *,
        has_printed_name: bool,
    ) -> None:
        self._loaded = loaded
        self._averages = averages_with(loaded, part_of)
        self._headline = loaded.kind.headline.name
        self._copies = [average.name for average in self._averages]
        is_repeated = loaded.task.definition.printed and loaded.task.scope == "task"
        if has_printed_name and is_repeated:
            self._copies.append(kind.printed_name)

    def named(self, figures: Config) -> Config:
        """Return the entries of figures under the names of lm-eval's rows."""
        named = dict(figures)
        if self._headline in figures:  # an unjudged answer has no headline
            named |= dict.fromkeys(self._copies, figures[self._headline])
        return named

    def aggregations(self) -> dict[str, Aggregation]:
        """Return row → the function that aggregates the items' values."""
        kind = self._loaded.kind
        aggregations = {}
        for figure in kind.table:
            aggregations[figure.name] = self._aggregation(figure)
        headline = aggregations[self._headline]
        named = self.named(aggregations)
        for average in self._averages:
            # Scaled so that lm-eval's plain mean over a group gives the average.
            tasks = sum(len(column) for column in average.columns)
            factor = tasks * share(average, self._loaded.task.whole)
            named[average.name] = partial(_scaled, factor, headline)
        return named

    def _aggregation(self, figure: Figure) -> Aggregation:
        is_plain_mean = figure.form == "mean" and figure.over == "questions"
        if is_plain_mean and not figure.part:
            return mean  # type: ignore[no-any-return]  # lm-eval knows its standard error
        kind = self._loaded.kind
        language = language_of(self._loaded.task)
        return partial(
            value,
            figure,
            categories=kind.categories,
            language=language,
        )


def _scaled(
    factor: float,
    aggregation: Aggregation,
    items: Any,
) -> float:
    return factor * aggregation(items)


def averages_with(loaded: LoadedTask, part_of: str) -> Sequence[Average]:
    """Return the averages over several tasks that include a task, if no subject is missing.

    A missing subject of any of their tasks counts: lm-eval would average over the other tasks.
    """
    task = loaded.task
    if part_of != task.benchmark.name:
        return ()
    averages = []
    for average in averages_over(task.benchmark):
        names = [*chain.from_iterable(average.columns)]
        if task.whole in names and all(has_all_subjects(name) for name in names):
            averages.append(average)
    return averages


def has_all_subjects(name: str) -> bool:
    """Return whether the data has a test file for each subject of a task."""
    task = find_task(name)
    if task.definition.reader:
        return True  # only reading its rows would tell
    try:
        release = ReleaseRows(locate(task.benchmark), task, ())
        return all(release.files(subject, "test") for subject in task.subjects)
    except HKCantoError:
        return False
