"""lm-eval configurations for the tasks and groups of the catalogue."""

from collections.abc import Mapping, Sequence
from typing import Any

from hkcanto_tasks.catalogue import Benchmark, benchmarks, named_tasks


def configurations(benchmark: Benchmark) -> dict[str, dict[str, Any]]:
    """Return name → configuration of a benchmark's tasks and groups, without the tasks' class.

    Examples:
        >>> from hkcanto_tasks.catalogue import find_benchmark
        >>> configurations(find_benchmark("hkmmlu"))["hkmmlu_cot"]["task"]
        'hkmmlu_cot'
    """
    found: dict[str, dict[str, Any]] = {}
    for task in named_tasks().values():
        main, version = task.scope == "task", task.definition.version
        # Variants of a single subject or part are `subjects` of the variant's main task.
        if task.benchmark.name != benchmark.name or (task.variant.suffix and not main):
            continue
        found[task.name] = {"task": task.name, "metadata": {"version": version}}
        if main and not task.variant.suffix and len(task.subjects) > 1:
            members = [f"{task.definition.name}_{subject.name}" for subject in task.subjects]
            name, metrics = f"{task.name}_by_subject", {"acc": True, "unparsed_rate": True}
            found[name] = _group(name, members, metrics, version)
    return found | (_groups(benchmark) if benchmark.averages else {})


def in_memory() -> dict[str, dict[str, Any]]:
    """Return name → configuration of every task and group, for lm-eval to run without a file.

    The configurations have no texts of a benchmark: the task itself gets them from the catalogue.

    Raises:
        CatalogueError: A benchmark from outside is wrong.
    """
    from .task import CatalogueTask

    return {
        name: config if "group" in config else {**config, "class": CatalogueTask}
        for benchmark in benchmarks()
        for name, config in configurations(benchmark).items()
    }


def _groups(benchmark: Benchmark) -> dict[str, dict[str, Any]]:
    """The group of a benchmark's tasks with its averages, and a group for each pooled column."""
    found: dict[str, dict[str, Any]] = {}
    version = max(entry.version for entry in benchmark.tasks)
    averages = [of for of in benchmark.averages if len(of.columns) > 1]
    averaged = [name for of in averages for column in of.columns for name in column]

    def part(name: str) -> dict[str, Any]:
        return {"task": name, "metadata": {"part_of": benchmark.name}}

    pooled: dict[str, str] = {}
    for of in benchmark.averages:
        if len(of.columns) == 1:
            own = [part(name) for name in of.columns[0]]
            found[of.name] = _group(of.name, own, {"acc": True}, version)
            pooled |= dict.fromkeys(of.columns[0], of.name)
    members: dict[str, Any] = {}
    for name in [*averaged, *(entry.name for entry in benchmark.tasks)]:
        alone = part(name) if name in averaged else name
        members[pooled.get(name, name)] = pooled.get(name, alone)
    metrics = {of.name: False for of in averages}
    found[benchmark.name] = _group(benchmark.name, [*members.values()], metrics, version)
    return found


def _group(
    name: str, tasks: Sequence[Any], metrics: Mapping[str, bool], version: int
) -> dict[str, Any]:
    """A group; each metric is averaged over questions, or otherwise over the group's tasks."""
    aggregated = [
        {"metric": metric, "aggregation": "mean", "weight_by_size": by_size}
        for metric, by_size in metrics.items()
    ]
    more = {"aggregate_metric_list": aggregated, "metadata": {"version": version}}
    return {"group": name, "task": tasks, **more}
