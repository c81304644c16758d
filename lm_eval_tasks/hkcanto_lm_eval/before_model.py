"""Load our tasks before lm-eval loads the model, so that what they lack is said at once."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from hkcanto_lm_eval import task_path
from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.errors import CatalogueError, in_command, without_traceback
from hkcanto_tasks.tasks import LoadedTask, load_task

from .config import Config, setting, task_options

_loaded: dict[str, LoadedTask] = {}  # by name and options


def take_loaded(name: str, options: Config) -> LoadedTask:
    """Return the task that was loaded before the model, once, or else load it.

    A task has no samples if the data lacks all of its subjects.

    Args:
        name: The task's name.
        options: Its options.
    """
    loaded = _loaded.pop(_key(name, options), None)
    return loaded or load_task(name, allow_absent=True, **options)


def preload(manager: Any, requested: Sequence[str]) -> None:
    """Load the data of our tasks and groups, including their worked examples.

    Args:
        manager: lm-eval's `TaskManager`, with its index and the metadata for each task.
        requested: The names of the requested tasks and groups.

    Raises:
        HKCantoError: The error that the task itself would raise after the model is loaded.
    """
    without_traceback()
    index = manager._index
    names: dict[str, None] = {}
    for entry in requested:
        for name in _tasks_in(index[entry], index):
            names[name] = None
    for name in names:
        options = task_options(name, manager.metadata or {})
        # The data may lack members of a group, but not a task that was asked for by its name.
        loaded = load_task(name, allow_absent=name not in requested, **options)
        _loaded[_key(name, options)] = loaded
        _load_examples(name, loaded)


def suggest(manager: Any, requested: Sequence[str]) -> None:
    """Name the task of ours that an unknown name may mean; lm-eval only says that it found none.

    Args:
        manager: lm-eval's `TaskManager`.
        requested: Names for which lm-eval has no task.

    Raises:
        CatalogueError: In lm-eval's command, if a name is most like one of ours.
    """
    if not in_command():
        return
    without_traceback()
    index = manager._index
    for name in requested:
        similar = get_close_matches(name, manager.all_tasks, n=1)
        is_ours = similar and any(_tasks_in(index[similar[0]], index))
        if is_ours and not Path(name).exists():  # a folder of tasks can be named, too
            raise CatalogueError(
                f"lm-eval has no task {name!r}. Did you mean {similar[0]}? "
                "`hkcanto list` shows all of ours."
            )


def _load_examples(name: str, loaded: LoadedTask) -> None:
    """Load the worked examples that the command asks for."""
    shots = setting("num_fewshot", "-f", type=int)
    if shots is not None and find_task(name).variant.shots != 0:
        loaded = loaded.at(shots=shots)
    for subject in loaded.task.subjects:
        loaded.prompt_examples(subject.name)


def _key(name: str, options: Config) -> str:
    return repr((name, sorted(options.items())))


def _tasks_in(entry: Any, index: Config) -> Iterator[str]:
    """Return the names of our tasks in an entry of the index; another's entry has none of ours."""
    path = entry.yaml_path
    if path and not Path(path).is_relative_to(task_path()):
        return
    members = (entry.cfg or {}).get("task")
    if isinstance(members, str):
        yield members
    elif isinstance(members, list):
        for member in members:
            name = member if isinstance(member, str) else member["task"]
            yield from _tasks_in(index[name], index)
