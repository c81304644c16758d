"""The tasks and groups of the catalogue for lm-eval's index: configurations, and where they are."""

import logging
from collections.abc import Sequence
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

from hkcanto_lm_eval import task_path
from hkcanto_tasks.catalogue import BENCHMARKS, benchmarks, named_tasks
from hkcanto_tasks.declarations import Benchmark

from .config import averages_over

_log = logging.getLogger("hkcanto")


Folders = Sequence[str | PathLike[str]]


def with_our_folder(folders: Folders, builtin: Path) -> Folders:
    """Return `folders`, with ours after lm-eval's own if that is among them and ours is not."""
    present = [Path(folder).resolve() for folder in folders]
    if builtin.resolve() not in present or Path(task_path()).resolve() in present:
        return folders
    behind = present.index(builtin.resolve()) + 1
    return [*folders[:behind], Path(task_path()), *folders[behind:]]


def add_from_outside(
    index: dict[str, Any], folders: Folders, builtin: Path, entry: Any
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
    if Path(task_path()).resolve() not in [
        Path(folder).resolve() for folder in folders
    ]:
        return
    try:
        for benchmark in benchmarks():
            if is_packaged(benchmark):
                continue
            from .task import CatalogueTask

            for name, config in configurations(benchmark).items():
                path = index[name].yaml_path if name in index else None
                if path and not Path(path).is_relative_to(builtin):
                    continue
                if path:
                    _log.warning(
                        "%s is the catalogue's task of that name, not lm-eval's own",
                        name,
                    )
                code = {} if "group" in config else {"class": CatalogueTask}
                index[name] = entry({**config, **code})
    except Exception as error:
        _log.warning("Benchmarks from outside are left out: %s", error)


def is_packaged(benchmark: Benchmark) -> bool:
    """Return whether a benchmark is one of this package, whose tasks have files."""
    return Path(benchmark.home).parent == BENCHMARKS


def configurations(benchmark: Benchmark) -> dict[str, dict[str, Any]]:
    """Return name → configuration of a benchmark's tasks and groups, without the tasks' class.

    They have no texts of a benchmark: the task itself gets them from the catalogue.

    Examples:
        >>> from hkcanto_tasks.catalogue import find_benchmark
        >>> configurations(find_benchmark("hkmmlu"))["hkmmlu_cot"]["task"]
        'hkmmlu_cot'
    """
    made: dict[str, dict[str, Any]] = {}
    for task in named_tasks().values():
        main, version = task.scope == "task", task.definition.version
        # Variants of a single subject or part are `subjects` of the variant's main task.
        if task.benchmark.name != benchmark.name or (task.variant.suffix and not main):
            continue
        made[task.name] = {"task": task.name, "metadata": {"version": version}}
        if main and not task.variant.suffix and len(task.subjects) > 1:
            members = [
                f"{task.definition.name}_{subject.name}" for subject in task.subjects
            ]
            name, metrics = (
                f"{task.name}_by_subject",
                {"acc": True, "unparsed_rate": True},
            )
            made[name] = _group(name, members, metrics, version)
    return made | _groups(benchmark)


def _groups(benchmark: Benchmark) -> dict[str, dict[str, Any]]:
    """The group of a benchmark's tasks with its averages, and a group for each pooled column."""
    if not benchmark.averages:
        return {}
    part_of = {
        "part_of": benchmark.name
    }  # the group whose results have the averages over tasks
    version = max(task.version for task in benchmark.tasks)
    averages = averages_over(benchmark)
    averaged = [name for average in averages for name in chain(*average.columns)]
    made: dict[str, dict[str, Any]] = {}
    group_of: dict[str, str] = {}
    for average in benchmark.averages:
        if average not in averages:
            (column,) = average.columns
            parts = [{"task": name, "metadata": {**part_of}} for name in column]
            made[average.name] = _group(average.name, parts, {"acc": True}, version)
            group_of |= dict.fromkeys(column, average.name)
    members: dict[str, Any] = {}
    for name in (*averaged, *(task.name for task in benchmark.tasks)):
        alone = {"task": name, "metadata": {**part_of}} if name in averaged else name
        members[group_of.get(name, name)] = group_of.get(name, alone)
    metrics = {average.name: False for average in averages}
    made[benchmark.name] = _group(benchmark.name, [*members.values()], metrics, version)
    return made


def _group(
    name: str, tasks: list[Any], metrics: dict[str, bool], version: int
) -> dict[str, Any]:
    """A group; each metric is averaged over questions, or otherwise over the group's tasks."""
    aggregated = [
        {"metric": metric, "aggregation": "mean", "weight_by_size": by_size}
        for metric, by_size in metrics.items()
    ]
    more = {"aggregate_metric_list": aggregated, "metadata": {"version": version}}
    return {"group": name, "task": tasks, **more}
