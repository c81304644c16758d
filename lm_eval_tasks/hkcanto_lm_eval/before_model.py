"""Check the requirements of our tasks before lm-eval loads the model."""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hkcanto_lm_eval import task_path
from hkcanto_tasks.catalogue import benchmarks, named_tasks
from hkcanto_tasks.errors import without_traceback
from hkcanto_tasks.loading import load_task
from hkcanto_tasks.setup import setup

from .config import options_of
from .index import configurations


def check(index: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    """Load the data of our tasks and groups, including their worked examples.

    Args:
        index: Name → entry of lm-eval's index, for the requested tasks. A name with a file that is
            not ours is the user's own task.
        metadata: The metadata that lm-eval passes to each task.

    Raises:
        HKCantoError: The error that the task itself would raise after the model is loaded.
    """
    without_traceback()
    ours = [name for name, entry in index.items() if _is_ours(entry)]
    for name in _tasks_of(ours):
        asked = options_of(name, metadata)
        how = setup(name, **asked)
        if how.task.variant.shots != 0 and (shots := _examples_asked()) is not None:
            asked = {**asked, "shots": shots}
        # The data may lack members of a group, but not a task that was asked for by its name.
        loaded = load_task(name, allow_absent=name not in ours, **asked)
        for subject in loaded.task.subjects:
            loaded.shots(subject.name)


def _is_ours(entry: Any) -> bool:
    path = entry["yaml_path"] if isinstance(entry, dict) else getattr(entry, "yaml_path", None)
    return path in (None, -1) or Path(path).is_relative_to(task_path())


def _tasks_of(names: Iterable[str]) -> Iterator[str]:
    tasks = named_tasks()
    groups = {
        name: config
        for benchmark in benchmarks()
        for name, config in configurations(benchmark).items()
        if "group" in config
    }
    for name in names:
        if name in tasks:
            yield name
        elif name in groups:
            members = (
                each if isinstance(each, str) else each["task"] for each in groups[name]["task"]
            )
            yield from _tasks_of(members)


def _examples_asked() -> int | None:
    """Return the value of `--num_fewshot`, if it is on the command line."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--num_fewshot", "-f", type=int)
    try:
        found: int | None = parser.parse_known_args()[0].num_fewshot
    except (SystemExit, argparse.ArgumentError):
        return None
    return found
