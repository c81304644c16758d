"""Importing one of our packages is fast, in any order."""

import pkgutil
import subprocess
import sys

import pytest

import hkcanto_tasks

PACKAGES = ["hkcanto_metrics", "hkcanto_tasks", "hkcanto_lm_eval", "hkcanto"]
HEAVY = [
    "torch",
    "transformers",
    "datasets",
    "lm_eval",
    "inspect_ai",
    "numpy",
    "pycantonese",
]


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_a_package_imports_nothing_heavy(package: str) -> None:
    code = f"import sys, {package}; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_a_package_is_fast(package: str) -> None:
    code = f"import time; t = time.process_time(); import {package}; print(time.process_time() - t)"
    times = [
        float(
            subprocess.run(
                [sys.executable, "-c", code], capture_output=True, check=True
            ).stdout
        )
        for _ in range(3)
    ]
    assert min(times) < 0.2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layer", "forbidden"),
    [
        (
            "hkcanto_metrics.g2p",
            ["hkcanto_tasks", "hkcanto_lm_eval.task", "hkcanto.tasks"],
        ),
        (
            "hkcanto_tasks.tasks",
            ["lm_eval", "inspect_ai", "hkcanto_lm_eval.task", "hkcanto.tasks"],
        ),
        ("hkcanto_tasks.catalogue", ["hkcanto_tasks.kinds", "hkcanto_tasks.tasks"]),
        (
            "hkcanto_tasks.data.tables",
            ["hkcanto_tasks.catalogue", "hkcanto_tasks.kinds"],
        ),
        ("hkcanto_lm_eval.task", ["inspect_ai", "hkcanto"]),
        ("hkcanto._registry", ["lm_eval"]),
    ],
)
def test_dependencies_point_one_way(layer: str, forbidden: list[str]) -> None:
    code = f"import sys, {layer}; print([m for m in {forbidden} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().splitlines()[-1] == "[]"


def test_no_module_of_the_core_imports_a_harness() -> None:
    modules = [
        module.name
        for module in pkgutil.walk_packages(hkcanto_tasks.__path__, "hkcanto_tasks.")
        if not module.name.endswith("__main__")
    ]
    assert len(modules) > 50
    code = f"import sys, {', '.join(modules)}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    harnesses = {"lm_eval", "inspect_ai", "hkcanto_lm_eval.task", "hkcanto.tasks"}
    assert harnesses & {*done.stdout.split()} == set()


def test_describing_a_task_imports_no_harness() -> None:
    code = (
        "import sys; from hkcanto_tasks.describing import describe;"
        "describe('hkcanto/mmlu').record(); print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert {"lm_eval", "inspect_ai"} & {*done.stdout.split()} == set()


def test_listing_tasks_imports_no_reader_of_responses() -> None:
    code = "import sys, hkcanto_tasks; hkcanto_tasks.list_tasks(); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded = {*done.stdout.split()}
    assert "hkcanto_tasks.kinds.multiple_choice" in loaded
    readers = {"choice", "labels", "number", "g2p", "cleaning", "fluency"}
    assert loaded & {f"hkcanto_metrics.{reader}" for reader in readers} == set()
