"""Resolve the repeatable option `--benchmark`, which names benchmarks or tasks."""

from collections.abc import Sequence

from .catalogue import TaskVariant, benchmarks, find_task


def chosen_tasks(names: Sequence[str] | None) -> list[TaskVariant]:
    """Return the tasks that names of benchmarks and tasks select, each once.

    Args:
        names: Names of benchmarks or tasks; None for all benchmarks.

    Raises:
        CatalogueError: No benchmark or task has that name.

    Examples:
        >>> [task.name for task in chosen_tasks(["tmmluplus", "hkcanto_g2p", "tmmluplus_gen"])]
        ['tmmluplus_gen', 'hkcanto_g2p']
    """
    known = {each.name: [entry.name for entry in each.tasks] for each in benchmarks()}
    tasks = [
        find_task(task)
        for name in (known if names is None else names)
        for task in known.get(name, [name])
    ]
    return list({task.name: task for task in tasks}.values())
