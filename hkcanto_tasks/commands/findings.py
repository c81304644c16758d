"""Findings on the benchmarks' data, and how they are printed."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated

from rich.text import Text

from ..errors import HKCantoError, NetworkUnavailable
from ..printable import quietly
from .console import print_line, print_row
from .output import argument

if TYPE_CHECKING:
    from ..data.fetch import DataFolder
    from ..declarations import Benchmark
    from ..tasks import LoadedTask

BenchmarkName = Annotated[
    str | None, argument("One benchmark; by default all.", "BENCHMARK")
]
_LONGEST_DETAIL = 160  # characters, unless all details are shown
_MARKS = {True: ("✓ ", "green"), False: ("✗ ", "red"), None: ("· ", "dim")}


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


Check = Callable[["Benchmark", "DataFolder"], Finding]


def print_findings(findings: Sequence[Finding], *, full: bool) -> None:
    """Print findings, with all of their details or with the beginning of the first."""
    for finding in findings:
        print_row(Text(*_MARKS[finding.good]), finding.text)
        details = finding.details
        if not full:
            details = [
                shorten(detail, _LONGEST_DETAIL, placeholder=" …")
                for detail in details[:1]
            ]
        for detail in details:
            print_line(Text(f"    {detail}", style="dim"))
        hidden = len(finding.details) - len(details)
        if hidden:
            print_line(Text(f"    … and {hidden} more", style="dim"))
    commands = [finding.command for finding in findings if finding.command]
    for command in dict.fromkeys(commands):
        print_line(Text.assemble(("next: ", "bold"), command))


# ---------------------------------------------------------------------- checks of data


def chosen_benchmarks(name: str | None) -> "tuple[Benchmark, ...]":
    """Return the benchmark of this name; all benchmarks without one."""
    from ..catalogue import benchmarks, find_benchmark

    return benchmarks() if name is None else (find_benchmark(name),)


def data_findings(check: Check, name: str | None) -> Iterator[Finding]:
    """Check the data of one benchmark, or of all, without downloading any."""
    from ..data.locating import locate

    for benchmark in chosen_benchmarks(name):
        try:
            yield check(benchmark, locate(benchmark))
        except HKCantoError as error:
            first, *others = str(error).split("\n")
            yield Finding(False, f"{benchmark.title}: {first}", others)


@contextmanager
def _offline() -> Iterator[None]:
    """Forbid downloads."""
    before = os.environ.get("HKCANTO_OFFLINE")
    os.environ["HKCANTO_OFFLINE"] = "1"
    try:
        yield
    finally:
        del os.environ["HKCANTO_OFFLINE"]
        if before is not None:
            os.environ["HKCANTO_OFFLINE"] = before


def check_loading(benchmark: "Benchmark", folder: "DataFolder") -> Finding:
    """Load all tasks of a benchmark from the data that exists."""
    from ..data.fetch import forbidden
    from ..tasks import load_task

    loaded = []
    try:
        # The findings say what the warnings would say.
        with quietly(), _offline():
            for task in benchmark.tasks:
                loaded.append(load_task(task.name, allow_absent=folder.kind != "own"))
    except NetworkUnavailable:
        text = (
            f"{benchmark.title}: not downloaded yet, or only in part, in {folder.root}"
        )
        good = False if forbidden() else None  # a run downloads it if it may
        return Finding(good, text, command=_fetch_command(benchmark, folder))
    return _finding_of_loaded(benchmark, folder, loaded)


def _finding_of_loaded(
    benchmark: "Benchmark",
    folder: "DataFolder",
    loaded: "Sequence[LoadedTask]",
) -> Finding:
    """Say how many items and subjects a benchmark's tasks have, and how they differ."""
    details = [*chain.from_iterable(map(_named_differences, loaded))]
    count = f"{sum(len(loaded_task.samples) for loaded_task in loaded):,} items"
    # As in the details, a task's only subject is none.
    divided = [loaded_task for loaded_task in loaded if len(loaded_task.asked) > 1]
    subjects = sum(len(loaded_task.asked) for loaded_task in divided)
    present = sum(map(_subjects_with_items, divided))
    if present != subjects:
        count += f", {present} of {subjects} subjects"
    is_complete = folder.kind == "sample" or all(map(_has_all_subjects, loaded))
    return Finding(
        good=is_complete and not details,
        text=f"{benchmark.title}: {count}, in {folder.root} ({folder.kind})",
        details=details,
        command="" if is_complete else _fetch_command(benchmark, folder),
    )


def _named_differences(loaded: "LoadedTask") -> Iterator[str]:
    """Yield how a task's data differs from the published, with the task's name."""
    for difference in loaded.differences:
        yield f"{loaded.task.definition.name}: {difference}"


def _has_all_subjects(loaded: "LoadedTask") -> bool:
    return _subjects_with_items(loaded) == len(loaded.asked)


def _subjects_with_items(loaded: "LoadedTask") -> int:
    return len({sample.subject for sample in loaded.samples})


def check_files(benchmark: "Benchmark", folder: "DataFolder") -> Finding:
    """Compare every file of a benchmark's data with the record."""
    problems = folder.verify()
    if not problems:
        state = "look like data (no checksums recorded)"
        if folder.recorded:
            state = "are as recorded"
        files = f"{len(folder.files())} files {state}"
        return Finding(True, f"{benchmark.title}: {files}, in {folder.root}")
    kinds = Counter(problem.kind for problem in problems)
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    return Finding(
        good=False,
        text=f"{benchmark.title}: {counts}, in {folder.root}",
        details=[
            f"{problem.kind} {problem.file}: {problem.detail}" for problem in problems
        ],
        command=_fetch_command(benchmark, folder),
    )


def _fetch_command(benchmark: "Benchmark", folder: "DataFolder") -> str:
    command = f"hkcanto data fetch {benchmark.name}"
    if folder.kind == "local":
        return f"unset HKCANTO_DATA_DIR; {command}"
    return command
