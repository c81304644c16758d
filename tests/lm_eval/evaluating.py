"""lm-eval's evaluator in this process, without the scan of its own 14,000 task files."""

import pickle
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager, _index
from lm_eval.utils import make_table

from hkcanto_lm_eval import task_path
from hkcanto_lm_eval._autoload import install

# lm-eval logs the machine. For this, torch (if installed) starts pip, which takes nine tenths of
# the time of a small evaluation.
with suppress(ImportError):
    from torch.utils import collect_env

    collect_env.get_pretty_env_info = cache(collect_env.get_pretty_env_info)

# Every manager of tasks reads our 400 YAML files, which do not change. This takes half of the time
# of a small evaluation.
_load_yaml: Callable[..., dict[str, Any]] = _index.load_yaml
_ours = Path(task_path()).resolve()


@cache
def _pickled(path: Path, **options: Any) -> bytes:
    return pickle.dumps(_load_yaml(path, **options))


def _load_yaml_once(path: Path, **options: Any) -> dict[str, Any]:
    if _ours not in path.parents:
        return _load_yaml(path, **options)
    config: dict[str, Any] = pickle.loads(_pickled(path, **options))
    return config


_index.load_yaml = _load_yaml_once

install()  # as the hook does, if the tests run without it


def evaluate(*tasks: str, **options: Any) -> dict[str, Any]:
    """Run tasks; `model`, `metadata` and `include_path` are optional. Returns lm-eval's results."""
    manager = TaskManager(
        include_path=[task_path(), *options.pop("include_path", [])],
        include_defaults=False,
        metadata=options.pop("metadata", None),
    )
    results = simple_evaluate(
        model=options.pop("model", "hkcanto-g2p"),
        tasks=list(tasks),
        task_manager=manager,
        bootstrap_iters=options.pop("bootstrap_iters", 100),
        **options,
    )
    assert isinstance(results, dict)
    return results


def first_prompt(results: dict[str, Any], task: str) -> str:
    """Return the first prompt sent for a task."""
    prompt = results["samples"][task][0]["arguments"][0][0]
    assert isinstance(prompt, str)
    return prompt


@dataclass(frozen=True)
class Row:
    """A row of the table that lm-eval prints."""

    task: str
    metric: str
    arrow: str
    value: str
    error: str


def table(results: dict[str, Any]) -> list[Row]:
    """Return the rows of lm-eval's two printed tables, of tasks and of groups."""
    printed = [make_table(results)]
    if results.get("groups"):
        printed.append(make_table(results, "groups"))
    return [row for each in printed for row in _rows(each)]


def _rows(printed: str) -> Iterator[Row]:
    task = ""
    for line in printed.splitlines()[2:]:
        if line.startswith("|"):
            name, _, _, _, metric, arrow, value, _, error = (
                cell.strip() for cell in line.strip("|").split("|")
            )
            task = name.removeprefix("- ") or task
            yield Row(task.partition(" (")[0], metric, arrow, value, error)
