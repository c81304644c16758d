"""The tasks and groups of the catalogue for lm-eval's index: configurations, and where they are."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

from hkcanto_lm_eval import task_path
from hkcanto_tasks.catalogue import BENCHMARKS, benchmarks, is_set, named_tasks
from hkcanto_tasks.declarations import Benchmark, TaskVariant

from .config import Config, averages_over

_log = logging.getLogger("hkcanto")


Folders = Sequence[str | PathLike[str]]


def with_our_folder(folders: Folders, builtin: Path) -> Folders:
    """Return `folders`, with ours after lm-eval's own if that is among them and ours is not."""
    present = [Path(folder).resolve() for folder in folders]
    ours = Path(task_path())
    if builtin.resolve() not in present or ours.resolve() in present:
        return folders
    behind = present.index(builtin.resolve()) + 1
    return [*folders[:behind], ours, *folders[behind:]]


def add_from_outside(
    index: dict[str, Any],
    folders: Folders,
    builtin: Path,
    entry: Any,
) -> None:
    """Add the tasks of benchmarks from outside, which replace lm-eval's own tasks of their names.

    They have no file, because a file that lm-eval reads can name code for it to run. An invalid
    benchmark causes a warning and does not keep ours from running.

    Args:
        index: Name → entry, as lm-eval made it.
        folders: The folders that lm-eval scanned. Tasks are added only if ours is among them.
        builtin: The folder of lm-eval's own tasks.
        entry: A function that makes an index entry from a task's configuration.
    """
    scanned = [Path(folder).resolve() for folder in folders]
    if Path(task_path()).resolve() not in scanned:
        return
    try:
        for benchmark in benchmarks(with_sets=True):
            if not is_packaged(benchmark):
                _add(
                    benchmark,
                    index,
                    builtin,
                    entry,
                )
    except Exception as error:
        _log.warning("Benchmarks from outside are left out: %s", error)


def _add(
    benchmark: Benchmark,
    index: dict[str, Any],
    builtin: Path,
    entry: Any,
) -> None:
    """Add the tasks and groups of a benchmark; those in a user's own file stay as they are.

    A public set takes no name that lm-eval has.
    """
    from .task import CatalogueTask

    for name, config in configurations(benchmark).items():
        if name in index and is_set(benchmark):
            continue
        path = index[name].yaml_path if name in index else None
        if path and not Path(path).is_relative_to(builtin):
            continue
        if path:
            _log.warning(
                "%s is the catalogue's task of that name, not lm-eval's own", name
            )
        if "group" not in config:
            config = {**config, "class": CatalogueTask}
        index[name] = entry(config)


def is_packaged(benchmark: Benchmark) -> bool:
    """Return whether a benchmark is one of this package, whose tasks have files."""
    return Path(benchmark.home).parent == BENCHMARKS


def configurations(benchmark: Benchmark) -> dict[str, Config]:
    """Return name → configuration of a benchmark's tasks and groups, without the tasks' class.

    That of a task is only its name: `CatalogueTask` gets the rest from the catalogue.

    Examples:
        >>> from hkcanto_tasks.catalogue import find_benchmark
        >>> configurations(find_benchmark("hkmmlu"))["hkmmlu_cot"]
        {'task': 'hkmmlu_cot'}
    """
    configs: dict[str, Config] = {}
    for task in named_tasks(with_sets=True).values():
        is_main = task.scope == "task"
        if task.benchmark.name != benchmark.name:
            continue
        if task.variant.suffix and not is_main:
            continue  # A variant of a subject or part is `subjects` of the main task's variant.
        configs[task.name] = {"task": task.name}
        if is_main and not task.variant.suffix and len(task.subjects) > 1:
            group = _group_of_subjects(task)
            configs[group["group"]] = group
    for group in _groups_of_averages(benchmark):
        configs[group["group"]] = group
    return configs


def _group_of_subjects(task: TaskVariant) -> Config:
    """Return the group that runs each subject of a task as a task of its own."""
    definition = task.definition
    return _group(
        f"{task.name}_by_subject",
        [f"{definition.name}_{subject.name}" for subject in task.subjects],
        {"acc": True, "unparsed_rate": True},
        definition.version,
    )


def _groups_of_averages(benchmark: Benchmark) -> Iterator[Config]:
    """Yield a group for each pooled column, and then the benchmark's with its averages."""
    if not benchmark.averages:
        return
    version = max(task.version for task in benchmark.tasks)
    pools: dict[str, str] = {}  # task → the group of its pooled column
    for average in benchmark.averages:
        if len(average.columns) == 1:
            (column,) = average.columns
            parts = [_part(name, benchmark) for name in column]
            yield _group(
                average.name,
                parts,
                {"acc": True},
                version,
            )
            pools |= dict.fromkeys(column, average.name)
    members: dict[str, Any] = {}
    metrics: dict[str, bool] = {}
    for average in averages_over(benchmark):
        metrics[average.name] = False
        for name in chain(*average.columns):
            members[pools.get(name, name)] = pools.get(name, _part(name, benchmark))
    for task in benchmark.tasks:
        name = pools.get(task.name, task.name)
        members.setdefault(name, name)
    yield _group(
        benchmark.name,
        [*members.values()],
        metrics,
        version,
    )


def _part(name: str, benchmark: Benchmark) -> Config:
    """Return a group's member that knows of which benchmark's averages it is a part."""
    return {"task": name, "metadata": {"part_of": benchmark.name}}


def _group(
    name: str,
    members: Sequence[Any],
    metrics: Mapping[str, bool],
    version: int,
) -> Config:
    """Return a group; each metric is averaged over questions, or otherwise over the members."""
    aggregated = []
    for metric, by_size in metrics.items():
        aggregated.append(
            {"metric": metric, "aggregation": "mean", "weight_by_size": by_size}
        )
    return {
        "group": name,
        "task": members,
        "aggregate_metric_list": aggregated,
        "metadata": {"version": version},
    }
