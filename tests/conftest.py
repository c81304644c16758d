"""Runs of the real harnesses, shared by the tests that read their logs."""

import gc
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

os.environ.setdefault("HF_HUB_OFFLINE", "1")
# lm-eval would draw the samples of a bootstrap in one new process for each processor.
os.environ.setdefault("DISABLE_MULTIPROC", "1")
# readline exports the terminal's width to child processes, such as xdist's. A console would use it
# whatever width a test sets.
os.environ.pop("COLUMNS", None)
# For every evaluation, Inspect searches the file lists of all installed packages for a task's
# package. This takes nine tenths of the time of a small evaluation.
importlib.metadata.packages_distributions = cache(
    importlib.metadata.packages_distributions
)
# Inspect reads its tables of models with the slow loader.
if yaml.__with_libyaml__:
    yaml.safe_load = partial(yaml.load, Loader=yaml.CSafeLoader)
# The imported harnesses are a million objects. By default, the collector walks through them at
# every few hundred new ones, which took a fifth of the time of the tests.
gc.set_threshold(100_000, 50, 100)


# Fixtures that start commands of the harnesses, and those that need torch.
_SLOW = {"lm_eval_cli", "inspect_cli"}
_E2E = {"tiny_model", "thinking_model"}


def pytest_configure(config: pytest.Config) -> None:
    """Run every test of the files that are named on the command line, slow ones too.

    The default `-m` of pyproject.toml is for whole folders. A file whose tests are all slow would
    otherwise run nothing.
    """
    arguments = [str(argument) for argument in config.invocation_params.args]
    chosen = any(argument.startswith("-m") for argument in arguments)
    files = [argument for argument in config.args if ".py" in argument]
    if files and len(files) == len(config.args) and not chosen:
        config.option.markexpr = ""


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow and end-to-end tests; skip those that need the real release if it is missing."""
    for item in items:
        needed = set(getattr(item, "fixturenames", ()))
        of_release = item.get_closest_marker("realdata")
        if needed & _SLOW or of_release or item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.slow)
        if needed & _E2E:
            item.add_marker(pytest.mark.e2e)
        if of_release and not os.environ.get("HKCANTO_DATA_DIR"):
            item.add_marker(
                pytest.mark.skip("needs the real release: set HKCANTO_DATA_DIR")
            )


def pytest_collection_finish() -> None:
    """Let Inspect draw no table of results, which it does even with `display="none"`."""
    display = sys.modules.get("inspect_ai._display.rich.display")
    if display:
        vars(display)["tasks_results"] = lambda _: ""
    # What is imported by now stays: the collector need not walk through it again.
    gc.freeze()


@pytest.fixture(autouse=True)
def sample_data(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Every test uses the sample data unless it is marked `realdata`."""
    if request.node.get_closest_marker("realdata"):
        monkeypatch.delenv("HKCANTO_DATA", raising=False)
    else:
        monkeypatch.delenv("HKCANTO_DATA_DIR", raising=False)
        monkeypatch.setenv("HKCANTO_DATA", "sample")


@dataclass(frozen=True)
class LmEvalRun:
    """The output and the logs of `lm_eval`."""

    table: str
    results: Mapping[str, Any]
    samples: list[dict[str, Any]]


@dataclass(frozen=True)
class InspectRun:
    """The output and the log of `inspect eval`."""

    output: str
    log: Any


def run(*command: str, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """Run a command; return its standard output and error, and show them on failure."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "160", **(env or {})},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


@pytest.fixture(scope="session")
def lean_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PYTHONPATH for commands: the installed lm-eval without its own tasks.

    Reading their 14,000 files takes most of the time of a small evaluation. The README's demo,
    tests/lm_eval/test_autoload.py and the wheel of `.ci/run` are tested with them.
    """
    spec = find_spec("lm_eval")
    assert spec
    assert spec.origin
    folder = tmp_path_factory.mktemp("lean")

    def own_tasks(place: str, names: list[str]) -> list[str]:
        tasks = Path(place).name == "tasks"
        return [name for name in names if tasks and Path(place, name).is_dir()]

    shutil.copytree(Path(spec.origin).parent, folder / "lm_eval", ignore=own_tasks)
    return os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])


@pytest.fixture
def lean_lm_eval(lean_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the commands that a test starts use `lean_path`."""
    monkeypatch.setenv("PYTHONPATH", lean_path)


@pytest.fixture(scope="session")
def lm_eval_cli(
    tmp_path_factory: pytest.TempPathFactory, lean_path: str
) -> Callable[..., LmEvalRun]:
    """Return a function that runs the `lm_eval` command on one task and reads its logs."""

    def run_lm_eval(
        *arguments: str, task: str = "hkcanto_g2p", **env: str
    ) -> LmEvalRun:
        folder = tmp_path_factory.mktemp("lm_eval")
        table = run(
            sys.executable,
            *(
                "-m",
                "lm_eval",
                "--tasks",
                task,
                "--output_path",
                "out",
                "--log_samples",
            ),
            *arguments,
            cwd=folder,
            env={"HKCANTO_DATA": "sample", "PYTHONPATH": lean_path, **env},
        )
        (results,) = folder.glob("out/**/results_*.json")
        samples = [
            json.loads(line)
            for file in folder.glob(f"out/**/samples_{task}_*.jsonl")
            for line in file.open(encoding="utf-8")
        ]
        return LmEvalRun(table, json.loads(results.read_text("utf-8")), samples)

    return run_lm_eval


@pytest.fixture(scope="session")
def inspect_cli(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., InspectRun]:
    """Return a function that runs the `inspect eval` command on one task and reads its log."""

    def run_inspect(
        *arguments: str, task: str = "hkcanto/g2p", **env: str
    ) -> InspectRun:
        from inspect_ai.log import read_eval_log

        folder = tmp_path_factory.mktemp("inspect")
        output = run(
            sys.executable,
            *(
                "-m",
                "inspect_ai",
                "eval",
                task,
                "--log-dir",
                "logs",
                "--display",
                "plain",
            ),
            *arguments,
            cwd=folder,
            env={"HKCANTO_DATA": "sample", **env},
        )
        (log,) = folder.glob("logs/*.eval")
        return InspectRun(output, read_eval_log(str(log)))

    return run_inspect


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model with random weights."""
    pytest.importorskip("torch", reason="needs the extra e2e")
    from . import tiny_model

    return tiny_model.make(tmp_path_factory.mktemp("tiny_model"))


@pytest.fixture(scope="session")
def thinking_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another, whose template closes a block of reasoning if `enable_thinking` is false."""
    pytest.importorskip("torch", reason="needs the extra e2e")
    from . import tiny_model

    return tiny_model.make(tmp_path_factory.mktemp("thinking"), tiny_model.THINKING)


@pytest.fixture
def real_data() -> dict[str, str]:
    """The environment of a run on the real release."""
    return {"HKCANTO_DATA": "", "HKCANTO_DATA_DIR": os.environ["HKCANTO_DATA_DIR"]}


@pytest.fixture(scope="session")
def lm_eval_sample_run(lm_eval_cli: Callable[..., LmEvalRun]) -> LmEvalRun:
    """PyCantonese on the sample data in lm-eval."""
    return lm_eval_cli("--model", "hkcanto-g2p", "--model_args", "engine=pycantonese")


@pytest.fixture(scope="session")
def inspect_sample_run(inspect_cli: Callable[..., InspectRun]) -> InspectRun:
    """PyCantonese on the sample data in Inspect."""
    return inspect_cli("--model", "hkcanto/pycantonese")
