"""The command `hkcanto report`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import echo, err
from .output import LOGS, FormatOption, Full, Output, format_of, option, progress, write

if TYPE_CHECKING:
    from ..results.runs import Run

_BEST = (
    "Print the best run of each task, one a line, tab-separated: run, score, runs not "
    "significantly worse, task, condition, expected overstatement of the score if all runs were "
    "equal."
)


def report(
    runs: Annotated[list[str] | None, LOGS] = None,
    output: Output = None,
    format: FormatOption = None,  # noqa: A002
    title: Annotated[
        str, option("Title; by default the models' names.", metavar="TEXT")
    ] = "",
    full: Full = False,
    best: Annotated[bool, option(_BEST, "--best")] = False,
    example: Annotated[
        bool, option("Report two engines on sample data.", "--example")
    ] = False,
) -> None:
    """Show results beside published scores, with intervals and warnings.

    hkcanto report runs/ -o report.html
    hkcanto report runs/ --best
    """
    if best and any((example, output, format)):
        raise typer.BadParameter(
            "--best has no --example, -o or --format; JSON has it as `best`."
        )
    if example == bool(runs):
        raise typer.BadParameter(
            "give the logs to read, or --example for an example report."
        )
    if example and output is None:
        output = Path("hkcanto-example.html")
    form = format_of(output, format)
    if example:
        from ..results.example import run_example

        runs = [str(run_example(lambda line: err.print(line, highlight=False)))]
    from ..results.logs import read_runs
    from ..results.reports.summary import build_report

    with progress() as advance:
        read = read_runs(runs or [], progress=advance)
    if best:
        _print_best(read.runs)
        return
    summary = build_report(read.runs, read.skipped, title)
    if form == "csv":  # CSV has only figures
        for log in read.skipped:
            echo(f"Not read: {log.path}: {log.reason}", to_err=True)
    write(summary, output, form, full=full)


def _print_best(runs: "Sequence[Run]") -> None:
    """Print the best run of each task in a line, tab-separated."""
    from ..results.reports.summary import best_records

    for record in best_records(runs):
        cells = (
            record["label"],
            repr(record["figure"].value),
            ",".join(record["ties"]),
            record["task"],
            record["condition"],
            repr(record["overstated"]),
        )
        echo("\t".join(cells))
        for reason in record["left_out"].values():
            err.print(f"Not compared: {reason}", highlight=False, markup=False)
