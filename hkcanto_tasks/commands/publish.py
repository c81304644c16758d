"""The command `hkcanto publish`."""

from enum import StrEnum
from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from ..console import echo, errors_without_traceback
from ..errors import OptionError, on_disk

_RUNS = typer.Argument(
    metavar="LOGS",
    help="Logs or folders of logs, as for hkcanto report. ORGANISATION/NAME=PATH gives the model's "
    "name on the hub.",
    show_default=False,
)
_TO = typer.Option(
    metavar="FORM",
    help="eee: Every Eval Ever. hf: .eval_results of the model's repository. card: a table for its "
    "card.",
)
_OUTPUT = typer.Option("-o", "--output", metavar="DIR", help="Folder to write to.")
_YOURS = typer.Option(
    metavar="WHICH",
    help="Your relationship to the models' developers, for eee: first_party, third_party, "
    "collaborative or other.",
)
_TASK = "Publish the runs of this task only, by its name in lm-eval. May be repeated."
_ITEMS = typer.Option("--items", help="For eee: also write each item's value, without its texts.")
_URL = typer.Option(metavar="URL", help="Where the logs, or a report on them, are.")


class Destination(StrEnum):
    """Where results can go; each has a module in `publishing`."""

    eee, hf, card = "eee", "hf", "card"


class Relationship(StrEnum):
    """How the evaluator relates to the model's developer, in the words of Every Eval Ever."""

    first_party, third_party = "first_party", "third_party"
    collaborative, other = "collaborative", "other"


def publish(
    runs: Annotated[list[str], _RUNS],
    to: Annotated[Destination, _TO],
    output: Annotated[Path, _OUTPUT],
    by: Annotated[str, typer.Option(metavar="NAME", help="Who ran the models.")] = "",
    relationship: Annotated[Relationship | None, _YOURS] = None,
    url: Annotated[str, _URL] = "",
    task: Annotated[list[str] | None, typer.Option(metavar="TASK", help=_TASK)] = None,
    items: Annotated[bool, _ITEMS] = False,
) -> None:
    """Write checked results for leaderboards and model cards, without questions or answers.

    hkcanto publish runs/ --to card -o published

    Runs on sample or unknown data or on a part of a task, and figures
    that differ from the harness's, are named and not published; the
    exit status is then 1. Nothing is uploaded.
    """
    with errors_without_traceback():
        from ..results.logs import read_runs
        from ..results.publishing.runs import Publication, Publisher, publishable
        from ..results.publishing.writing import write

        read = read_runs(runs)
        for log in read.skipped:
            echo(f"not read: {log.path}: {log.reason}", to_err=True)
        destination = import_module(f"hkcanto_tasks.results.publishing.{to.value}")
        who = Publisher(by, relationship or "", url)
        if items and to is not Destination.eee:
            raise OptionError(
                f"--to {to.value} has no values of items. Take --to eee, or no --items."
            )
        of_items = {"items": True} if items else {}
        runs_to_publish, refused = publishable(read, task or ())
        made: Publication = destination.publication(runs_to_publish, who, **of_items)
        with on_disk(output, "written", "Give a folder that you can write to."):
            write(made.files, output)
    for reason in refused:
        echo(f"not published: {reason}", to_err=True)
    for reason in made.left_out:
        echo(f"left out: {reason}", to_err=True)
    for path in made.files:
        echo(output / path)
    echo("\nNothing was uploaded. Check the files, then:")
    for line in made.submit:
        echo(f"  {line.format(folder=quote(str(output)))}")
    if refused:
        raise typer.Exit(1)
