"""The commands `hkcanto data fetch`, `verify` and `path`."""

from collections.abc import Callable

import typer
from rich.text import Text

from ..console import Command, echo, print_error, print_line
from ..data.locating import locate
from ..declarations import Benchmark
from ..errors import HKCantoError, NetworkUnavailable
from .doctor import Name, chosen, print_findings

data = typer.Typer(help="Download, check and locate the benchmarks' data.", no_args_is_help=True)


@data.command(cls=Command)
def fetch(benchmark: Name = None) -> None:
    """Download the pinned release into the cache, if it is not there."""

    def fetched(benchmark: Benchmark) -> None:
        folder = locate(benchmark)
        folder.fetch(progress=True)
        print_line(f"{benchmark.title}: {len(folder.files())} files in {folder.root}")
        if moved := folder.moved():
            print_line(Text(moved, style="yellow"))

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
