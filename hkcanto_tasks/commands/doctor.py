"""The command `hkcanto doctor`."""

import importlib.metadata
import os
import platform
import subprocess
import sys
from dataclasses import asdict
from importlib import import_module

import typer
from rich.text import Text

from .. import __version__
from .console import Json, print_json, print_row
from .findings import (
    BenchmarkName,
    Finding,
    check_loading,
    data_findings,
    print_findings,
)
from .output import progress

_PACKAGES = (
    "lm-eval",
    "inspect-ai",
    "pycantonese",
    "ToJyutping",
    "torch",
    "transformers",
    "vllm",
)
_IMPORTS = {
    "lm-eval": "import lm_eval.tasks.manager, hkcanto_lm_eval.models, hkcanto_lm_eval.task\n"
    "from hkcanto_lm_eval._autoload import failures\n"
    "for error in failures: raise error",
    "inspect-ai": "import hkcanto._registry",
}
"""Harness → code that imports it and our adapter."""

_DONE = "hkcanto: imported"


def doctor(benchmark: BenchmarkName = None, as_json: Json = False) -> None:
    """Check versions, harnesses and data; exit status 1 if something is wrong."""
    from ..catalogue import left_out

    with progress("Checking"):
        findings = [*map(_check_harness, _IMPORTS)]
        findings += data_findings(check_loading, benchmark)
    if benchmark is None:
        for reason in left_out():
            findings.append(Finding(False, f"A benchmark is left out: {reason}"))
    versions = _versions()
    if as_json:
        records = [asdict(finding) for finding in findings]
        print_json({"versions": versions, "findings": records})
    else:
        named = [f"{name} {version or '–'}" for name, version in versions.items()]
        print_row(Text(), Text(" · ".join(named), style="dim"))
        print_findings(findings, full=benchmark is not None)
    raise typer.Exit(any(finding.good is False for finding in findings))


# ---------------------------------------------------------------------- versions


def _versions() -> dict[str, str | None]:
    versions: dict[str, str | None] = {
        "hkcanto": __version__,
        "Python": platform.python_version(),
    }
    for package in _PACKAGES:
        versions[package] = _version(package)
    return versions


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


# ---------------------------------------------------------------------- harnesses


def _check_harness(package: str) -> Finding:
    """Import a harness with our adapter, and check whether it finds our tasks by name."""
    version = _version(package)
    extra = package.removesuffix("-ai")
    install = f"pip install --upgrade 'hkcanto[{extra}]'"
    if version is None:
        return Finding(None, f"{package} is not installed: {install}")
    failure = why_not(_IMPORTS[package])
    if failure:
        text = f"{package} {version} cannot run our tasks: an import fails: {failure}"
        return Finding(False, text, command=install)
    if _is_registered(package):
        return Finding(True, f"{package} finds our tasks by name")
    missing = f"{package} does not find our tasks by name"
    if package != "lm-eval":
        return Finding(False, f"{missing}: install hkcanto again", command=install)
    if os.environ.get("HKCANTO_AUTOLOAD"):
        text = f"{missing}: HKCANTO_AUTOLOAD switches this off"
        command = 'lm_eval --include_path "$(hkcanto path)"'
        return Finding(None, text, command=command)
    return Finding(None, missing, command="hkcanto autoload on")


def _is_registered(package: str) -> bool:
    """Return whether a harness finds our tasks by name."""
    if package == "inspect-ai":
        return "hkcanto" in importlib.metadata.entry_points(group="inspect_ai").names
    return bool(import_module("hkcanto_lm_eval._autoload").is_installed())


def why_not(code: str) -> str:
    """Run code in a separate interpreter, since it may exit or crash.

    Args:
        code: Python code.

    Returns:
        The reason why it did not finish, in one line; an empty text if it did.

    Examples:
        >>> why_not("import json"), why_not("import nowhere")
        ('', "ModuleNotFoundError: No module named 'nowhere'")
    """
    command = [sys.executable, "-P", "-c", f"{code}\nprint({_DONE!r}, flush=True)"]
    run = subprocess.run(
        command,
        capture_output=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if _DONE in run.stdout.splitlines():
        return ""
    lines = [line.strip() for line in run.stderr.splitlines() if line.strip()]
    if not lines:
        return f"it ends the interpreter with status {run.returncode}"
    return lines[-1]
