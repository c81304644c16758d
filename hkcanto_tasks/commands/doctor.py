"""The commands `hkcanto doctor`, and `hkcanto data fetch`, `verify` and `path`."""

import importlib.metadata
import os
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Annotated

import typer
from rich.text import Text

from .. import __version__
from ..catalogue import benchmarks, find_benchmark, left_out
from ..data.fetch import DataFolder, forbidden
from ..data.locating import locate
from ..declarations import Benchmark
from ..errors import HKCantoError, NetworkUnavailable
from .console import Command, Json, echo, print_json, print_line, print_row
from .output import argument

Name = Annotated[str | None, argument("One benchmark; by default all.", "BENCHMARK")]
_FEW = 160  # characters of a detail, unless all are wanted
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
_DONE = "hkcanto: imported"


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


def doctor(benchmark: Name = None, as_json: Json = False) -> None:
    """Check versions, harnesses and data; exit status 1 if something is wrong."""
    findings = [*map(_harness, _IMPORTS), *_of_benchmarks(_loaded, benchmark)]
    if benchmark is None:
        findings += (
            Finding(False, f"A benchmark is left out: {why}") for why in left_out()
        )
    versions: dict[str, str | None] = {
        "hkcanto": __version__,
        "Python": platform.python_version(),
    }
    versions |= {package: _version(package) for package in _PACKAGES}
    if as_json:
        print_json(
            {
                "versions": versions,
                "findings": [asdict(finding) for finding in findings],
            }
        )
    else:
        named = (f"{name} {version or '–'}" for name, version in versions.items())
        print_row(Text(), Text(" · ".join(named), style="dim"))
        _print(findings, all_of_it=benchmark is not None)
    raise typer.Exit(any(finding.good is False for finding in findings))


# ---------------------------------------------------------------------- hkcanto data

data = typer.Typer(
    help="Download, check and locate the benchmarks' data.", no_args_is_help=True
)


@data.command(cls=Command)
def fetch(benchmark: Name = None) -> None:
    """Download the pinned release into the cache, if it is not there."""
    for one in _chosen(benchmark):
        folder = locate(one)
        folder.fetch(progress=True)
        print_line(f"{one.title}: {len(folder.files())} files in {folder.root}")


@data.command(cls=Command)
def verify(benchmark: Name = None) -> None:
    """Compare every file with its checksum; exit status 1 if one differs."""
    findings = [*_of_benchmarks(_compared, benchmark)]
    _print(findings, all_of_it=benchmark is not None)
    raise typer.Exit(any(finding.good is False for finding in findings))


@data.command(cls=Command)
def path(benchmark: Name = None) -> None:
    """Print the folder of a benchmark's data."""
    found = [
        *_of_benchmarks(lambda _, folder: Finding(True, str(folder.root)), benchmark)
    ]
    for one in found:
        echo("\n".join((one.text, *one.details)), to_err=not one.good)
    raise typer.Exit(not all(one.good for one in found))


# ---------------------------------------------------------------------- the checks


def _chosen(name: str | None) -> tuple[Benchmark, ...]:
    return benchmarks() if name is None else (find_benchmark(name),)


def _of_benchmarks(
    check: Callable[[Benchmark, DataFolder], Finding], name: str | None
) -> Iterator[Finding]:
    """Check the data of one benchmark, or of all, without downloading any."""
    for benchmark in _chosen(name):
        try:
            yield check(benchmark, locate(benchmark))
        except HKCantoError as error:
            first, *others = str(error).split("\n")
            yield Finding(False, f"{benchmark.title}: {first}", others)


def _loaded(benchmark: Benchmark, folder: DataFolder) -> Finding:
    """Load all tasks of a benchmark from the data that exists."""
    from ..describing import quietly
    from ..tasks import load_task

    try:
        with quietly(
            HKCANTO_OFFLINE="1"
        ):  # the findings say what the warnings would say
            allowed = folder.kind != "own"
            loaded = [
                load_task(task.name, allow_absent=allowed) for task in benchmark.tasks
            ]
    except NetworkUnavailable:
        text = f"{benchmark.title}: not downloaded yet, or not completely, in {folder.root}"
        good = False if forbidden() else None  # a run downloads it if it may
        return Finding(good, text, command=_fetch(benchmark, folder))
    items, asked, present, details = 0, 0, 0, list[str]()
    for task in loaded:
        items, asked = items + len(task.samples), asked + len(task.asked)
        present += len({sample.subject for sample in task.samples})
        details += (f"{task.task.definition.name}: {line}" for line in task.differences)
    whole = present == asked or folder.kind == "sample"
    subjects = "" if present == asked else f", {present} of {asked} subjects"
    text = f"{benchmark.title}: {items:,} items{subjects}, in {folder.root} ({folder.kind})"
    return Finding(
        whole and not details, text, details, "" if whole else _fetch(benchmark, folder)
    )


def _compared(benchmark: Benchmark, folder: DataFolder) -> Finding:
    """Compare every file of a benchmark's data with the record."""
    problems = folder.verify()
    if not problems:
        state = (
            "are as recorded"
            if folder.recorded
            else "look like data (no checksums recorded)"
        )
        count = len(folder.files())
        return Finding(
            True, f"{benchmark.title}: {count} files {state}, in {folder.root}"
        )
    kinds = Counter(problem.kind for problem in problems)
    counted = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    details = [
        f"{problem.kind} {problem.file}: {problem.detail}" for problem in problems
    ]
    text = f"{benchmark.title}: {counted}, in {folder.root}"
    return Finding(False, text, details, _fetch(benchmark, folder))


def _fetch(benchmark: Benchmark, folder: DataFolder) -> str:
    unset = "unset HKCANTO_DATA_DIR; " if folder.kind == "local" else ""
    return f"{unset}hkcanto data fetch {benchmark.name}"


def _harness(package: str) -> Finding:
    """Import a harness with our adapter, and check whether it finds our tasks by name."""
    version, extra = _version(package), package.removesuffix("-ai")
    install = f"pip install --upgrade 'hkcanto[{extra}]'"
    if version is None:
        return Finding(None, f"{package} is not installed: {install}")
    if why := why_not(_IMPORTS[package]):
        text = f"{package} {version} cannot run our tasks: an import fails: {why}"
        return Finding(False, text, command=install)
    if package == "inspect-ai":
        there, fix = (
            "hkcanto" in importlib.metadata.entry_points(group="inspect_ai").names,
            install,
        )
    else:
        there = import_module("hkcanto_lm_eval._autoload").is_installed()
        fix = 'lm_eval --include_path "$(hkcanto path)"'
    if there:
        return Finding(True, f"{package} finds our tasks by name")
    off = package == "lm-eval" and bool(os.environ.get("HKCANTO_AUTOLOAD"))
    why = "HKCANTO_AUTOLOAD switches this off" if off else "install hkcanto again"
    text = f"{package} does not find our tasks by name: {why}"
    return Finding(None if off else False, text, command=fix)


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
    lines = [line for line in run.stderr.splitlines() if line.strip()]
    return (
        lines[-1].strip()
        if lines
        else f"it ends the interpreter with status {run.returncode}"
    )


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _print(findings: Sequence[Finding], *, all_of_it: bool = False) -> None:
    """Print findings, with the beginning of their first details or with all of these."""
    marks = {True: ("✓ ", "green"), False: ("✗ ", "red"), None: ("· ", "dim")}
    few, length = (None, None) if all_of_it else (1, _FEW)
    for finding in findings:
        print_row(Text(*marks[finding.good]), finding.text)
        for line in finding.details[:few]:
            print_line(Text(f"    {line[:length]}", style="dim"))
        if few and len(finding.details) > few:
            print_line(
                Text(f"    … and {len(finding.details) - few} more", style="dim")
            )
    for command in dict.fromkeys(
        finding.command for finding in findings if finding.command
    ):
        print_line(Text.assemble(("next: ", "bold"), command))
