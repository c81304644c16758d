"""The commands `hkcanto doctor`, and `hkcanto data fetch`, `verify` and `path`."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from ..catalogue import benchmarks, find_benchmark
from ..console import Command, Json, echo, out, print_error, print_json, print_line, print_row
from ..data.locating import locate
from ..declarations import Benchmark
from ..errors import HKCantoError, NetworkUnavailable
from .output import argument

if TYPE_CHECKING:
    from ..doctor import Finding

Name = Annotated[str | None, argument("One benchmark; by default all.", "BENCHMARK")]
_FEW = 160  # characters of a detail, unless all are wanted


def doctor(benchmark: Name = None, as_json: Json = False) -> None:
    """Check versions, harnesses and data; exit status 1 if something is wrong."""
    from ..doctor import data, harnesses, installed, outside

    wanted = chosen(benchmark)
    findings = [*harnesses(), *map(data, wanted), *(outside() if benchmark is None else ())]
    if as_json:
        print_json({"versions": installed(), "findings": [asdict(each) for each in findings]})
    else:
        present = [f"{name} {version}" for name, version in installed().items() if version]
        absent = [f"without {name}" for name, version in installed().items() if not version]
        print_row(Text(), Text(" · ".join(present + absent), style="dim"))
        print_findings(findings, all_of_it=benchmark is not None)
    if any(each.good is False for each in findings):
        raise typer.Exit(1)


def print_findings(findings: Sequence["Finding"], *, all_of_it: bool = False) -> None:
    """Print findings, in about 20 lines unless all details are wanted."""
    marks = {True: ("✓ ", "green"), False: ("✗ ", "red"), None: ("· ", "dim")}
    room = 1 if sum(bool(each.details) for each in findings) > 2 else 4
    for finding in findings:
        print_row(Text(*marks[finding.good]), finding.text)
        for line in finding.details if all_of_it else finding.details[:room]:
            detail = Text(f"    {line}", style="dim")
            if not all_of_it:
                detail.truncate(out.width if out.is_terminal else _FEW, overflow="ellipsis")
            print_line(detail)
        hidden = len(finding.details) - room
        if hidden > 0 and not all_of_it:
            print_line(Text(f"    … and {hidden} more", style="dim"))
    for command in dict.fromkeys(each.command for each in findings if each.command):
        print_line(Text.assemble(("next: ", "bold"), command))


def chosen(name: str | None) -> tuple[Benchmark, ...]:
    """Return the benchmark of this name; without a name, all benchmarks."""
    return benchmarks() if name is None else (find_benchmark(name),)


# ---------------------------------------------------------------------- hkcanto data

data = typer.Typer(help="Download, check and locate the benchmarks' data.", no_args_is_help=True)


@data.command(cls=Command)
def fetch(benchmark: Name = None) -> None:
    """Download the pinned release into the cache, if it is not there."""

    def fetched(benchmark: Benchmark) -> None:
        folder = locate(benchmark)
        folder.fetch(progress=True)
        print_line(f"{benchmark.title}: {len(folder.files())} files in {folder.root}")

    _for_each(benchmark, fetched)


@data.command(cls=Command)
def verify(benchmark: Name = None) -> None:
    """Compare every file with its checksum; exit status 1 if one differs."""
    from ..doctor import files

    findings = [*map(files, chosen(benchmark))]
    print_findings(findings)
    if any(each.good is False for each in findings):
        raise typer.Exit(1)


@data.command(cls=Command)
def path(benchmark: Name = None) -> None:
    """Print the folder of a benchmark's data."""
    _for_each(benchmark, lambda benchmark: echo(locate(benchmark).root))


def _for_each(name: str | None, do: Callable[[Benchmark], None]) -> None:
    """Call a function for one benchmark or for all; a failure does not stop the others.

    Without a network, stop at the first benchmark that needs it.
    """
    failed = False
    for benchmark in chosen(name):
        try:
            do(benchmark)
        except NetworkUnavailable:
            raise
        except HKCantoError as error:
            print_error(error)
            failed = True
    if failed:
        raise typer.Exit(1)
