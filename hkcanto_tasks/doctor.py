"""The checks of `hkcanto doctor` and `hkcanto data verify`: installation, harnesses and data."""

import importlib
import importlib.metadata
import os
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from . import __version__
from .catalogue import left_out
from .data.fetch import forbidden
from .data.locating import locate
from .declarations import Benchmark
from .describing import quietly
from .errors import HKCantoError, NetworkUnavailable
from .tasks import load_task

_PACKAGES = ("lm-eval", "inspect-ai", "pycantonese", "ToJyutping", "torch", "transformers", "vllm")
_IMPORTS = {
    "lm-eval": "import lm_eval.tasks.manager, hkcanto_lm_eval.models, hkcanto_lm_eval.task\n"
    "from hkcanto_lm_eval._autoload import failures\n"
    "for error in failures: raise error",
    "inspect-ai": "import hkcanto._registry",
}
_DONE = "hkcanto: imported"
_PATIENCE = 300  # seconds, since imports from a cluster's cold disk are slow


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    Attributes:
        good: Whether the check passed; None if neither good nor bad.
        text: The finding.
        details: Extra detail, shown on request.
        command: The command that fixes it.
    """

    good: bool | None
    text: str
    details: Sequence[str] = ()
    command: str = ""


def installed() -> dict[str, str | None]:
    """Return the versions of relevant packages; None for those that are not installed.

    Examples:
        >>> [*installed()][:3]
        ['hkcanto', 'Python', 'lm-eval']
    """
    ours = {"hkcanto": __version__, "Python": platform.python_version()}
    return {**ours, **{package: _version(package) for package in _PACKAGES}}


def harnesses() -> list[Finding]:
    """Import each harness with our adapter, and check whether it finds our tasks by name."""
    return [*map(_harness, _IMPORTS)]


def _harness(package: str) -> Finding:
    version, extra = _version(package), package.removesuffix("-ai")
    install = f"pip install --upgrade 'hkcanto[{extra}]'"
    if version is None:
        return Finding(None, f"{package} is not installed: {install}")
    if why := why_not(_IMPORTS[package]):
        text = f"{package} {version} cannot run our tasks: an import fails: {why}"
        return Finding(False, text, command=install)
    if package == "inspect-ai":
        there = "hkcanto" in importlib.metadata.entry_points(group="inspect_ai").names
        text = "finds our tasks by name" if there else "does not find our tasks: no entry point"
        return Finding(there, f"{package} {text}", command="" if there else install)
    by_path = 'lm_eval --include_path "$(hkcanto path)"'
    if importlib.import_module("hkcanto_lm_eval._autoload").is_installed():
        return Finding(True, f"{package} finds our tasks by name (autoload is on)")
    if os.environ.get("HKCANTO_AUTOLOAD"):
        return Finding(None, f"{package}: autoload is off (HKCANTO_AUTOLOAD)", command=by_path)
    text = f"{package} does not find our tasks by name: hkcanto.pth was not read"
    return Finding(False, text, command=f"pip install hkcanto again, or {by_path}")


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
    try:
        run = subprocess.run(
            command,
            capture_output=True,
            check=False,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=_PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return f"it takes more than {_PATIENCE} s"
    if _DONE in run.stdout.splitlines():
        return ""
    lines = [line for line in run.stderr.splitlines() if line.strip()]
    return lines[-1].strip() if lines else f"it ends the interpreter with status {run.returncode}"


def outside() -> list[Finding]:
    """Return the benchmarks from outside this package that cannot be read."""
    return [Finding(False, f"A benchmark is left out: {each}") for each in left_out()]


def data(benchmark: Benchmark) -> Finding:
    """Load all tasks of a benchmark from the data that exists, without downloading any.

    Args:
        benchmark: The benchmark.
    """
    fetch = f"hkcanto data fetch {benchmark.name}"
    try:
        folder = locate(benchmark)
        allowed = folder.kind != "own"
        with quietly(HKCANTO_OFFLINE="1"):  # the findings say what the warnings would say
            loaded = [load_task(task.name, allow_absent=allowed) for task in benchmark.tasks]
    except NetworkUnavailable:
        text = f"{benchmark.title}: not downloaded yet, or not completely, in {folder.root}"
        if variable := forbidden():
            return Finding(False, f"{text}; {variable} forbids downloads", command=fetch)
        return Finding(None, f"{text}; the first run downloads it", command=fetch)
    except HKCantoError as error:
        return _refused(benchmark, error)
    if folder.kind == "local":
        fetch = f"unset HKCANTO_DATA_DIR; {fetch}"
    items = sum(len(task.samples) for task in loaded)
    asked = sum(len(task.asked) for task in loaded)
    present = sum(len({sample.subject for sample in task.samples}) for task in loaded)
    whole = present == asked or folder.kind == "sample"
    subjects = "" if present == asked else f", {present} of {asked} subjects"
    text = f"{benchmark.title}: {items:,} items{subjects}, in {folder.root} ({folder.kind})"
    remarks = (
        (task.task.definition.name, line)
        for task in loaded
        for line in (*task.differences.lines, task.kind.remark(task.samples))
    )
    details = [f"{name}: {line}" for name, line in remarks if line]
    return Finding(whole and not details, text, details, "" if whole else fetch)


def files(benchmark: Benchmark) -> Finding:
    """Compare every file of a benchmark's data with the record, without downloading any.

    Args:
        benchmark: The benchmark.
    """
    try:
        folder = locate(benchmark)
        problems = folder.verify()
    except HKCantoError as error:
        return _refused(benchmark, error)
    if not problems:
        state = "are as recorded" if folder.recorded else "look like data (no checksums recorded)"
        count = len(folder.files())
        return Finding(True, f"{benchmark.title}: {count} files {state}, in {folder.root}")
    kinds = Counter(problem.kind for problem in problems)
    counted = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    details = [f"{problem.kind} {problem.file}: {problem.detail}" for problem in problems]
    details.sort(key=lambda line: line.startswith("missing"))
    fetch = f"hkcanto data fetch {benchmark.name}"
    fetch = fetch if folder.kind == "cache" else f"unset HKCANTO_DATA_DIR; {fetch}"
    return Finding(False, f"{benchmark.title}: {counted}, in {folder.root}", details, fetch)


def _refused(benchmark: Benchmark, error: HKCantoError) -> Finding:
    first, *others = str(error).split("\n")
    return Finding(False, f"{benchmark.title}: {first}", others)


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
