"""The checks of `hkcanto doctor` and `hkcanto data verify`: installation, harnesses and data."""

import importlib.metadata
import os
import platform
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from . import __version__
from .catalogue import Benchmark, left_out, unknown_subjects
from .data.declared import wanted
from .data.fetch import DataFolder
from .data.locating import locate
from .data.release_files import ReleaseRows
from .errors import HKCantoError
from .setup import setup

_PACKAGES = ("lm-eval", "inspect-ai", "pycantonese", "ToJyutping", "torch", "transformers", "vllm")
_LM_EVAL = ("0.4.11", "0.4.13")  # the first and the last version tested
_FEW = 3
_IMPORTS = {
    "lm-eval": "import lm_eval.tasks, lm_eval.models\n"
    "import hkcanto_lm_eval.models, hkcanto_lm_eval.task\n"
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


def versions() -> str:
    """Return the versions of installed packages, and the names of missing ones, in one line.

    Examples:
        >>> versions().split(" · ")[0].startswith("hkcanto ")
        True
    """
    found = installed()
    there = [f"{package} {version}" for package, version in found.items() if version]
    absent = [package for package, version in found.items() if not version]
    return " · ".join(there + ([f"without {', '.join(absent)}"] if absent else []))


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
    there = {name: _version(name) for name in _IMPORTS}
    with ThreadPoolExecutor() as both:
        why = both.map(why_not, (code for name, code in _IMPORTS.items() if there[name]))
        failed = dict(zip(filter(there.get, there), why, strict=True))
    return [_lm_eval(there["lm-eval"], failed), _inspect(there["inspect-ai"], failed)]


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
    given: dict[str, Any] = {"encoding": "utf-8", "errors": "replace", "stdin": subprocess.DEVNULL}
    try:
        run = subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=False, **given)
    except subprocess.TimeoutExpired:
        return f"it takes more than {_PATIENCE} s"
    if _DONE in run.stdout.splitlines():
        return ""
    said = [line for line in run.stderr.splitlines() if line.strip()]
    if run.returncode < 0:
        return f"it crashes: {signal.strsignal(-run.returncode)}"
    return said[-1].strip() if said else f"it ends the interpreter with status {run.returncode}"


def _lm_eval(there: str | None, failed: Mapping[str, str]) -> Finding:
    by_path = 'lm_eval --include_path "$(hkcanto path)"'
    off = os.environ.get("HKCANTO_AUTOLOAD", "").strip().lower() in {"0", "false", "no", "off"}
    first, last = _LM_EVAL
    if there is None:
        return Finding(None, "lm-eval is not installed: pip install 'hkcanto[lm-eval]'")
    if _numbers(there) < _numbers(first):
        text = f"lm-eval {there} is too old: our tasks need {first} or later"
        return Finding(False, text, command="pip install --upgrade lm-eval")
    if why := failed["lm-eval"]:
        text = f"lm-eval {there} cannot run our tasks: an import fails: {why}"
        return Finding(False, text, command="pip install --upgrade 'hkcanto[lm-eval]'")
    if off:
        return Finding(None, "lm-eval: autoload is off (HKCANTO_AUTOLOAD)", command=by_path)
    if any(hasattr(finder, "hkcanto_autoload") for finder in sys.meta_path):
        newer = _numbers(there) > _numbers(last)
        said = f"; {there} is newer than {last}, the last version tested" * newer
        text = f"lm-eval finds our tasks by name (autoload is on){said}"
        return Finding(None if newer else True, text)
    text = "lm-eval does not find our tasks by name: hkcanto.pth was not read in this environment"
    return Finding(False, text, command=f"pip install hkcanto again, or {by_path}")


def _inspect(there: str | None, failed: Mapping[str, str]) -> Finding:
    if there is None:
        return Finding(None, "Inspect is not installed: pip install 'hkcanto[inspect]'")
    if why := failed["inspect-ai"]:
        text = f"Inspect {there} cannot run our tasks: an import fails: {why}"
        return Finding(False, text, command="pip install --upgrade 'hkcanto[inspect]'")
    if "hkcanto" in importlib.metadata.entry_points(group="inspect_ai").names:
        return Finding(True, "Inspect finds our tasks by name (entry point)")
    missing = "Inspect: our entry point is missing"
    return Finding(False, missing, command="pip install hkcanto again")


def outside() -> list[Finding]:
    """Return the benchmarks from outside this package that cannot be read."""
    return [Finding(False, f"A benchmark is left out: {each}") for each in left_out()]


def data(benchmark: Benchmark) -> Finding:
    """Check which data of a benchmark exists, without downloading any.

    Args:
        benchmark: The benchmark.
    """
    fetch = f"hkcanto data fetch {benchmark.name}"
    try:
        folder = locate(benchmark)
        files = folder.files()
        where = f"{len(files)} files in {folder.root} ({folder.kind})"
        if folder.kind == "cache":
            wrong = {problem.file for problem in folder.verify() if problem.kind != "extra"}
            if lacking := wrong & _read(benchmark, folder):
                text = "not downloaded yet" if not files else f"{len(lacking)} files are missing"
                said = unknown_subjects(benchmark)
                return Finding(False, f"{benchmark.title}: {text}, in {folder.root}", said, fetch)
        elif folder.recorded and folder.kind == "local":
            known = len(folder.recorded.keys() & {*files})
            where = f"{known} of {len(folder.recorded)} files in {folder.root} ({folder.kind})"
            if not {*files}.issuperset(_read(benchmark, folder)):
                unset = f"unset HKCANTO_DATA_DIR; {fetch}"
                return Finding(False, f"{benchmark.title}: {where}", (), unset)
        read = {task.name: ReleaseRows(folder, setup(task.name)) for task in benchmark.tasks}
    except HKCantoError as error:
        return _refused(benchmark, error)
    found = {name: each.differences for name, each in read.items()}
    details = [f"{name}: {line}" for name, each in found.items() for line in each.lines()]
    given_away = {name: _given_away(name, each) for name, each in read.items()}
    details += [f"{name}: {line}" for name, line in given_away.items() if line]
    missing = sum(len(each.missing) for each in found.values())
    asked = sum(each.asked for each in found.values())
    if missing:
        where = f"{asked - missing} of {asked} subjects, {where}"
    command = f"unset HKCANTO_DATA_DIR; {fetch}" if missing and folder.kind == "local" else ""
    good = not any(each.breaks_comparability or each.bad or each.extra for each in found.values())
    if without := [name for name, each in read.items() if not each.rows and folder.kind == "own"]:
        good, where = False, f"{where}, none of them a test file of {', '.join(without)}"
    return Finding(good, f"{benchmark.title}: {where}", details, command)


def _given_away(task: str, release: ReleaseRows) -> str:
    how = setup(task)
    return how.remark(
        [
            row
            for subject in how.task.subjects
            for row in how.scored(release.rows.get(subject.name, ()), subject)
        ]
    )


def _read(benchmark: Benchmark, folder: DataFolder) -> set[str]:
    """Return the recorded files that tasks read; all files if none are declared."""
    found = {
        path
        for task in benchmark.tasks
        if not task.is_open
        for path in wanted(folder.recorded, task, task.subjects)
    }
    return found & folder.recorded.keys() or {*folder.recorded, "*"}


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
        how = "are as recorded" if folder.recorded else "look like data (no checksums recorded)"
        count = len(folder.files())
        return Finding(True, f"{benchmark.title}: {count} files {how}, in {folder.root}")
    kinds = Counter(problem.kind for problem in problems)
    counted = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    details = [f"{problem.kind} {problem.file}: {problem.detail}" for problem in problems]
    fetch = f"hkcanto data fetch {benchmark.name}"
    return Finding(
        False,
        f"{benchmark.title}: {counted}, in {folder.root}",
        sorted(details, key=lambda line: line.startswith("missing")),
        fetch if folder.kind == "cache" else f"unset HKCANTO_DATA_DIR; {fetch}",
    )


def _refused(benchmark: Benchmark, error: HKCantoError) -> Finding:
    first, *others = str(error).split("\n")
    return Finding(False, f"{benchmark.title}: {first}", others)


def shortened(text: str, few: int = _FEW) -> str:
    """Shorten a list in a sentence to its first entries.

    Examples:
        >>> shortened("missing subjects: a, b, c, d, e", few=2)
        'missing subjects: a, b … and 3 more'
    """
    head, *more = text.split(", ")
    kept = more[: few - 1]
    rest = len(more) - len(kept)
    return ", ".join([head, *kept]) + (f" … and {rest} more" if rest else "")


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)[:3]]


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
