"""The command `hkcanto report`."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..messages import say, spoken
from .console import echo, err
from .output import (
    ALONE,
    LOGS,
    FormatOption,
    Full,
    LanguageOption,
    Output,
    format_of,
    option,
    progress,
    write,
)

_UNREAD = "Print responses that could not be read, with the reason: three of each run and reason."
_LONGEST = 300  # characters of a response

if TYPE_CHECKING:
    from ..results.runs import Run, SkippedLog

_BEST = (
    "Print the best run of each task, one a line, tab-separated: run, score, runs not "
    "significantly worse, task, condition, expected overstatement of the score if all runs were "
    "equal."
)


def report(
    logs: Annotated[list[str] | None, LOGS] = None,
    output: Output = None,
    format: FormatOption = None,  # noqa: A002
    title: Annotated[
        str, option("Title; by default the models' names.", metavar="TEXT")
    ] = "",
    full: Full = False,
    language: LanguageOption = "en",  # noqa: ARG001
    best: Annotated[bool, option(_BEST, "--best")] = False,
    alone: Annotated[bool, option(ALONE, "--alone")] = False,
    unread: Annotated[bool, option(_UNREAD, "--unread")] = False,
    example: Annotated[
        bool, option("Report two engines on sample data.", "--example")
    ] = False,
) -> None:
    """Show results beside published scores, with intervals and warnings.

    hkcanto report runs/ -o report.html
    hkcanto report runs/ --best
    """
    has_output = bool(example or output or format)
    _refuse_contradictions(
        logs,
        example,
        has_output,
        [best, unread],
    )
    if example:
        output = output or Path("hkcanto-example.html")
    form = format_of(output, format)
    if example:
        from ..results.example import run_example

        logs = [str(run_example(lambda line: err.print(line, highlight=False)))]
    from ..results.logs import read_runs
    from ..results.reports.summary import build_report

    with progress() as advance:
        read = read_runs(logs or [], texts=unread, progress=advance)
    if unread:
        _print_unread(read.runs)
    elif best:
        _print_best(read.runs, alone=alone)
    else:
        with progress("Computing"):
            summary = build_report(
                read.runs,
                read.skipped,
                title,
                alone=alone,
            )
        write(
            summary,
            output,
            form,
            full=full,
            logs=logs or (),
        )
        if form == "csv":  # CSV has only figures
            _print_skipped(read.skipped)


def _print_skipped(logs: Sequence["SkippedLog"]) -> None:
    """Print which logs could not be read, and why."""
    for log in logs:
        text = say("Not read: {log}: {reason}", log=log.path, reason=log.reason)
        echo(spoken(text), to_err=True)


def _refuse_contradictions(
    logs: list[str] | None,
    example: bool,
    has_output: bool,
    lists: Sequence[bool],
) -> None:
    """Refuse options that cannot be used together."""
    if any(lists) and (has_output or all(lists)):
        raise typer.BadParameter(
            "--best and --unread have no --example, -o or --format; JSON has `best`."
        )
    if example == bool(logs):
        raise typer.BadParameter(
            "give the logs to read, or --example for an example report."
        )


def _print_unread(runs: "Sequence[Run]") -> None:
    """Print the ends of some responses that could not be read, in groups of one reason."""
    from ..results.reports.unread import unread_responses

    for run in runs:
        for group in unread_responses(run):
            title = say(
                "{model} on {task}: {reason}, {number:,} responses",
                model=run.label,
                task=run.task,
                reason=say(group.reason),
                number=group.number,
            )
            echo(spoken(title))
            for item_id, response in group.examples:
                text = " ".join(response.split())
                shown = f"… {text[-_LONGEST:]}" if len(text) > _LONGEST else text
                echo(f"  {item_id}: {shown or spoken('(empty)')}")


def _print_best(runs: "Sequence[Run]", *, alone: bool) -> None:
    """Print the best run of each task in a line, tab-separated."""
    from ..results.reports.summary import best_records, why_no_best

    for record in best_records(runs, alone=alone):
        cells = (
            record["label"],
            repr(record["figure"].value),
            ",".join(record["ties"]),
            record["task"],
            record["condition"],
            repr(record["overstated"]),
        )
        echo("\t".join(cells))
        _print_left_out(record["left_out"].values())
    _print_left_out(why_no_best(runs))


def _print_left_out(reasons: Iterable[str]) -> None:
    for reason in reasons:
        err.print(f"Not compared: {reason}", highlight=False, markup=False)
