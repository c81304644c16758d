"""The command `hkcanto report`."""

from pathlib import Path
from typing import Annotated

import typer

from .console import echo, err
from .output import LOGS, FormatOption, Full, Output, format_of, option, progress, write

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
    if best and (example or output or format):
        raise typer.BadParameter(
            "--best has no --example, -o or --format; JSON has it as `best`."
        )
    if example == bool(runs):
        raise typer.BadParameter(
            "give the logs to read, or --example for an example report."
        )
    output = output or (Path("hkcanto-example.html") if example else None)
    kind = format_of(output, format)
    if example:
        from ..results.example import run_example

        runs = [str(run_example(lambda line: err.print(line, highlight=False)))]
    from ..results.logs import read_runs
    from ..results.reports.summary import best_records, build_report

    with progress() as advance:
        read = read_runs(runs or [], progress=advance)
    if best:
        for each in best_records(read.runs):
            shown = (each["label"], repr(each["figure"].value), ",".join(each["ties"]))
            of = (each["task"], each["condition"], repr(each["overstated"]))
            echo("\t".join([*shown, *of]))
            for why in each["left_out"].values():
                err.print(f"Not compared: {why}", highlight=False, markup=False)
        return
    made = build_report(read.runs, read.skipped, title)
    for log in read.skipped if kind == "csv" else ():  # CSV has only figures
        echo(f"Not read: {log.path}: {log.reason}", to_err=True)
    write(made, output, kind, full=full)
