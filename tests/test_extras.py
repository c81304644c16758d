"""The extras of pyproject.toml can be installed together, and `uv sync` in a clone is enough."""

import os
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from .scripts import REPOSITORY

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
PYTHONS = [
    each.rpartition(" ")[2] for each in PROJECT["classifiers"] if "Python :: 3." in each
]
_UNREACHABLE = (
    "from versions: none",
    "Could not connect",
    "error sending request",
    "offline",
)


def run(*command: str | Path, cwd: Path = REPOSITORY, **env: str) -> str:
    """Run a command that must succeed; skip the test if no package index can be reached."""
    environment = {**os.environ, "SSL_CERT_FILE": os.environ.get("PIP_CERT", ""), **env}
    environment = {name: value for name, value in environment.items() if value}
    environment.pop("VIRTUAL_ENV", None)
    done = subprocess.run(
        [sys.executable, "-m", *map(str, command)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    printed = done.stdout + done.stderr
    if done.returncode and any(sign in printed for sign in _UNREACHABLE):
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, printed
    return printed


@pytest.fixture(scope="module")
def uv() -> None:
    pytest.importorskip("uv", reason="needs the extra dev")


@pytest.mark.slow
@pytest.mark.usefixtures("uv")
@pytest.mark.parametrize("python", PYTHONS)
def test_all_extras_at_once_are_solved(python: str, tmp_path: Path) -> None:
    """What solves all of them solves every pair."""
    options = (
        "-q",
        "--all-extras",
        "--python-version",
        python,
        "-o",
        tmp_path / "all.txt",
    )
    run("uv", "pip", "compile", *options, REPOSITORY / "pyproject.toml")
    pinned = (tmp_path / "all.txt").read_text("utf-8")
    for package in ("inspect-ai", "lm-eval", "openai", "torch", "vllm"):
        assert f"\n{package}==" in pinned


@pytest.mark.slow
@pytest.mark.usefixtures("uv")
def test_pip_installs_servers_with_a_pre_release_of_lm_eval() -> None:
    wanted = f"{REPOSITORY}[lm-eval,servers]", "lm-eval==0.5.0.dev1"
    options = ("--dry-run", "--ignore-installed", "-q", "--no-build-isolation")
    run("pip", "install", *options, *wanted)


@pytest.mark.slow
@pytest.mark.usefixtures("uv")
def test_uv_sync_in_a_clone_is_enough_for_inspect(tmp_path: Path) -> None:
    """As the register of inspect_evals installs it."""
    clone = tmp_path / "clone"
    files = subprocess.run(
        ["git", "ls-files", "-z"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    for name in filter(None, files):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, clone / name)
    run("uv", "sync", "-q", "--python", sys.executable, cwd=clone)
    printed = run(
        *(
            "uv",
            "run",
            "-q",
            "--python",
            sys.executable,
            "inspect",
            "eval",
            "hkcanto/g2p",
        ),
        *("--model", "hkcanto/tojyutping", "--limit", "5", "--display", "plain"),
        cwd=clone,
        HKCANTO_DATA="sample",
        HF_HUB_OFFLINE="1",
    )
    assert "cer_published" in printed


def test_pinned_versions_are_allowed_by_all_other_extras() -> None:
    extras = PROJECT["optional-dependencies"]
    asked = defaultdict(list)
    for text in [*PROJECT["dependencies"], *chain(*extras.values())]:
        requirement = Requirement(text)
        if requirement.name == "hkcanto":
            assert requirement.extras <= extras.keys(), text
        asked[requirement.name].append(requirement.specifier)
    pins = {
        name: [
            each.version
            for specifier in specifiers
            for each in specifier
            if each.operator == "=="
        ]
        for name, specifiers in asked.items()
    }
    assert pins["torch"]
    for name, versions in pins.items():
        for version in versions:
            for specifier in asked[name]:
                assert specifier.contains(version, prereleases=True), (name, version)
