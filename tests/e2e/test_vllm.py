"""vLLM on the CPU: one copy and two copies of a model in lm-eval, and Inspect's `vllm/`.

vLLM needs an environment of its own, which `.ci/vllm` makes: `HKCANTO_TEST_VLLM` is its folder.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hkcanto_tasks.results.logs import read_runs
from hkcanto_tasks.results.runs import Run

from .conftest import DATA

pytestmark = pytest.mark.e2e

_ENVIRONMENT = os.environ.get("HKCANTO_TEST_VLLM", "")
_SETTINGS = ("max_model_len=2048", "enforce_eager=True", "gpu_memory_utilization=0.2")


def run(*command: str, cwd: Path, **env: str) -> None:
    """Run a command of the environment with vLLM; on failure show the end of its output."""
    commands = f"{_ENVIRONMENT}/bin{os.pathsep}{os.environ['PATH']}"
    base = {**os.environ, **DATA, "PATH": commands, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [f"{_ENVIRONMENT}/bin/{command[0]}", *command[1:]],
        cwd=cwd,
        env={**base, "VLLM_CPU_KVCACHE_SPACE": "1", **env},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]


@pytest.fixture(scope="module", autouse=True)
def environment() -> None:
    if not _ENVIRONMENT:
        pytest.skip(
            "needs an environment with vLLM: .ci/vllm DIR, then HKCANTO_TEST_VLLM=DIR"
        )


@pytest.fixture(scope="module")
def two_devices(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A Ray cluster that says it has two GPUs, which lm-eval asks for: one a copy."""
    folder = tmp_path_factory.mktemp("ray")
    options = ("--num-gpus=2", "--num-cpus=4", "--include-dashboard=false")
    run("ray", "start", "--head", *options, "--disable-usage-stats", cwd=folder)
    yield
    run("ray", "stop", cwd=folder)


def through_lm_eval(model: Path, folder: Path, *more: str, **env: str) -> Run:
    settings = ",".join([f"pretrained={model}", "dtype=bfloat16", *_SETTINGS, *more])
    run(
        *("lm_eval", "--model", "vllm", "--model_args", settings, "--tasks", "hkmmlu"),
        *(
            "--limit",
            "64",
            "--batch_size",
            "auto",
            "--log_samples",
            "--output_path",
            str(folder),
        ),
        cwd=folder.parent,
        **env,
    )
    (found,) = read_runs([folder], texts=True)
    return found


@pytest.mark.usefixtures("two_devices")
def test_two_copies_answer_as_one(model: Path, tmp_path: Path) -> None:
    one = through_lm_eval(model, tmp_path / "one")
    two = through_lm_eval(
        model, tmp_path / "two", "data_parallel_size=2", RAY_ADDRESS="auto"
    )
    answers = [
        {*zip(each.items.ids, each.items.texts, strict=True)} for each in (one, two)
    ]
    assert answers[0] == answers[1]
    assert len(answers[0]) == min(64, one.available)
    assert one.signature.text == two.signature.text


def test_inspect_starts_vllm_itself(model: Path, tmp_path: Path) -> None:
    settings = [
        word for each in ("dtype=bfloat16", *_SETTINGS) for word in ("-M", each)
    ]
    run(
        *("inspect", "eval", "hkcanto/hkmmlu", "--model", f"vllm/{model}", *settings),
        *(
            "--limit",
            "64",
            "--temperature",
            "0",
            "--display",
            "plain",
            "--log-dir",
            "logs",
        ),
        cwd=tmp_path,
    )
    (found,) = read_runs([tmp_path / "logs"])
    assert (found.status, found.backend) == ("success", "vllm")
    assert len(found.items) == min(64, found.available)
