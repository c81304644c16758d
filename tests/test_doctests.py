"""The examples in the docstrings run as they are printed."""

import doctest
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGES = ["hkcanto_metrics", "hkcanto_tasks", "hkcanto_lm_eval", "hkcanto"]
RUN_ON_IMPORT = ["evaluate_modules", "__main__"]


def modules() -> Iterator[str]:
    for name in PACKAGES:
        package = importlib.import_module(name)
        yield name
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not any(part in module.name for part in RUN_ON_IMPORT):
                yield module.name


@pytest.mark.parametrize("name", PACKAGES)
def test_every_module_is_among_them(name: str) -> None:
    folder = Path(str(importlib.import_module(name).__file__)).parent
    # lm-eval and Hugging Face's evaluate import some modules by path, outside of any package, and
    # hkcanto the readers of public sets.
    ours = {
        path
        for path in folder.rglob("*.py")
        if not any(part in path.as_posix() for part in RUN_ON_IMPORT)
        and "lm_eval/tasks/" not in path.as_posix()
        and "hkcanto_tasks/sets/" not in path.as_posix()
    }
    found = {
        Path(str(importlib.import_module(module).__file__)) for module in modules()
    }
    assert ours - found == set()


@pytest.mark.parametrize("name", list(modules()))
def test_examples_in_docstrings(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
