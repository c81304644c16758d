"""Add the tasks of benchmarks from outside, which have no file, to lm-eval's index.

No file is written, because a file that lm-eval reads can name code for it to run.
"""

import logging
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import wraps
from os import PathLike
from pathlib import Path
from typing import Any

from hkcanto_lm_eval import task_path

_log = logging.getLogger("hkcanto")


def add_to(
    index: dict[str, Any],
    folders: Sequence[str | PathLike[str]],
    builtin: Path,
    entry: Callable[[dict[str, Any]], Any],
) -> None:
    """Add tasks without a file to lm-eval's index, and replace lm-eval's own tasks of their names.

    An invalid benchmark from outside causes a warning and does not keep ours from running.

    Args:
        index: Name → entry, as lm-eval made it.
        folders: The folders that lm-eval scanned. If ours is not among them, nothing is added.
        builtin: The folder of lm-eval's own tasks.
        entry: Makes an index entry from a task's configuration.
    """
    if Path(task_path()).resolve() not in [Path(folder).resolve() for folder in folders]:
        return

    def is_anothers(there: Any) -> bool:
        path = there["yaml_path"] if isinstance(there, dict) else there.yaml_path
        return path not in (None, -1) and not Path(path).is_relative_to(builtin)

    try:
        from .index import in_memory

        for name, config in in_memory().items():
            there = index.get(name)
            if there and is_anothers(there):
                continue
            if there:
                _log.warning("%s is the catalogue's task of that name, not lm-eval's own", name)
            index[name] = entry(config)
    except Exception as error:
        _log.warning("Benchmarks from outside are left out: %s", error)


def add_to_manager(manager: Any, builtin: Path) -> None:
    """Make lm-eval 0.4.11, which reads a task's file to create it, create ours from memory."""
    find, read = manager.initialize_tasks, manager._get_config

    def entry(config: dict[str, Any]) -> dict[str, Any]:
        kind = "group" if "group" in config else "python_task"
        return {"type": kind, "task": -1, "yaml_path": _NoFile(-1), "config": config}

    @wraps(find)
    def find_with_ours(self: Any, include_path: Any = None, *args: Any, **more: Any) -> Any:
        found = find(self, include_path, *args, **more)
        folders = [include_path] if isinstance(include_path, str | PathLike) else include_path
        add_to(found, folders or [], builtin, entry)
        return found

    @wraps(read)
    def read_or_copy(self: Any, name: str) -> Any:
        config = self.task_index.get(name, {}).get("config")
        return deepcopy(config) if config else read(self, name)

    manager.initialize_tasks, manager._get_config = find_with_ours, read_or_copy


class _NoFile(int):
    """The -1 that lm-eval 0.4.11 uses for a task without a file, but logs as a path."""

    def __fspath__(self) -> str:
        return "no file"
