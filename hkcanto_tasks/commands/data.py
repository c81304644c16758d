"""The commands `hkcanto data fetch`, `verify` and `path`."""

from typing import TYPE_CHECKING

import typer

from .console import Command, echo, print_line
from .findings import (
    BenchmarkName,
    Finding,
    check_files,
    chosen_benchmarks,
    data_findings,
    print_findings,
)
from .output import progress

if TYPE_CHECKING:
    from ..data.fetch import DataFolder
    from ..declarations import Benchmark

data = typer.Typer(
    help="Download, check and locate the benchmarks' data.", no_args_is_help=True
)


@data.command(cls=Command)
def fetch(benchmark: BenchmarkName = None) -> None:
    """Download the pinned release into the cache, if it is not there."""
    from ..data.locating import locate

    for chosen in chosen_benchmarks(benchmark):
        folder = locate(chosen)
        folder.fetch(progress=True)
        print_line(f"{chosen.title}: {len(folder.files())} files in {folder.root}")


@data.command(cls=Command)
def verify(benchmark: BenchmarkName = None) -> None:
    """Compare every file with its checksum; exit status 1 if one differs."""
    with progress("Checking"):
        findings = [*data_findings(check_files, benchmark)]
    print_findings(findings, full=benchmark is not None)
    raise typer.Exit(any(finding.good is False for finding in findings))


@data.command(cls=Command)
def path(benchmark: BenchmarkName = None) -> None:
    """Print the folder of a benchmark's data."""
    findings = [*data_findings(_root, benchmark)]
    for finding in findings:
        text = "\n".join((finding.text, *finding.details))
        echo(text, to_err=not finding.good)
    raise typer.Exit(not all(finding.good for finding in findings))


def _root(_: "Benchmark", folder: "DataFolder") -> Finding:
    return Finding(True, str(folder.root))
