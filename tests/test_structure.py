"""The direction of the package's imports, and the names that it shows."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import hkcanto_tasks

from .scripts import REPOSITORY

ROOTS = ("hkcanto_tasks", "metrics", "lm_eval_tasks", "inspect_evals")


def files() -> list[Path]:
    return [
        path for root in ROOTS for path in sorted((REPOSITORY / root).rglob("*.py"))
    ]


def module_of(path: Path) -> str:
    parts = path.relative_to(REPOSITORY).with_suffix("").parts
    parts = parts if parts[0] == "hkcanto_tasks" else parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path, known: set[str]) -> Iterator[str]:
    """The modules of ours that a file imports, in functions and for types, too."""
    name = module_of(path)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        if isinstance(node, ast.ImportFrom):
            above = package.split(".")
            above = above[: len(above) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                target = (
                    f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base
                )
                if target in known and target != name:
                    yield target


@cache
def graph() -> dict[str, set[str]]:
    known = {module_of(path) for path in files()}
    faces = {
        "hkcanto_tasks",
        "hkcanto_metrics",
        "hkcanto",
        "hkcanto_lm_eval",
    }  # lazy by design
    return {
        module_of(path): {*imported(path, known)} - faces
        for path in files()
        if module_of(path) not in faces
    }


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert [
        *TopologicalSorter(graph()).static_order()
    ]  # raises an error that names the circle


def test_the_plugin_imports_nothing_of_the_workbench() -> None:
    allowed = ("hkcanto_tasks.results", "hkcanto_tasks.commands", "hkcanto_tasks.cli")
    inward = {
        name: target
        for name, targets in graph().items()
        for target in targets
        if target.startswith("hkcanto_tasks.results") and not name.startswith(allowed)
    }
    assert inward == {}


def test_metrics_import_no_core_and_the_core_no_adapter() -> None:
    for name, targets in graph().items():
        root = name.partition(".")[0]
        roots = {target.partition(".")[0] for target in targets}
        assert root != "hkcanto_metrics" or roots <= {"hkcanto_metrics"}, name
        adapters = {"hkcanto_lm_eval", "hkcanto", "hook"}
        over_them = name.startswith(
            ("hkcanto_tasks.results", "hkcanto_tasks.commands.doctor")
        )
        assert root in adapters or over_them or not (roots & adapters), name


def test_the_package_shows_ten_names() -> None:
    assert dir(hkcanto_tasks) == [*hkcanto_tasks.__all__]
    assert len(hkcanto_tasks.__all__) == 10
    assert all(getattr(hkcanto_tasks, name).__doc__ for name in hkcanto_tasks.__all__)
