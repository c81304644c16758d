"""The command `hkcanto publish`."""

import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

import typer

from ..errors import OptionError
from .console import echo
from .output import argument, check_folder, option, progress, write_files

if TYPE_CHECKING:
    from ..results.frames import Runs
    from ..results.publishing.runs import Publication

Destination = Literal["eee", "hf", "card"]
"""Where results can go; each has a module in `publishing`."""

Relationship = Literal["first_party", "third_party", "collaborative", "other"]
"""How the evaluator relates to the model's developer, in the words of Every Eval Ever."""

_LOGS = "Logs, as for hkcanto report. ORGANISATION/NAME=PATH gives the model's name on the hub."
_TO = "eee: Every Eval Ever. hf: .eval_results of the model's repository. card: table for its card."
_YOURS = "How you relate to the developer, for eee: first_party, third_party, collaborative, other."
_SECRET_IN_QUERY = re.compile(
    r"(^|[&;])[\w-]*(key|token|secret|passw|sig)[\w-]*=", re.I
)
_AS = (
    "Name of the model that answered, for all runs: needed if the provider names another one than "
    "was asked."
)
_TASK = "Publish the runs of this task only, by its name in lm-eval. May be repeated."
_ITEMS = option("For eee: also write each item's value, without its texts.", "--items")


def publish(
    logs: Annotated[list[str], argument(_LOGS, "LOGS")],
    to: Annotated[Destination, option(_TO, metavar="FORM")],
    output: Annotated[
        Path,
        option(
            "Folder to write to.",
            "-o",
            "--output",
            metavar="DIR",
        ),
    ],
    by: Annotated[str, option("Who ran the models.", metavar="NAME")] = "",
    relationship: Annotated[
        Relationship | None, option(_YOURS, metavar="WHICH")
    ] = None,
    url: Annotated[
        str, option("Where the logs, or a report on them, are.", metavar="URL")
    ] = "",
    task: Annotated[list[str] | None, option(_TASK, metavar="TASK")] = None,
    items: Annotated[bool, _ITEMS] = False,
    published_as: Annotated[str, option(_AS, "--as", metavar="ORGANISATION/NAME")] = "",
) -> None:
    """Write checked results for leaderboards and model cards, without questions or answers.

    hkcanto publish runs/ --to card -o published

    Runs on sample or unknown data or on a part of a task, and figures
    that differ from the harness's, are named and not published; the
    exit status is then 1. Nothing is uploaded.
    """
    from ..results.publishing.runs import NotPublishable, Publisher, publishable_runs
    from ..results.reports.presentation import task_title

    _refuse_secrets(url)
    check_folder(output)
    read = _read_and_name_unread(logs)
    if items and to != "eee":
        raise OptionError(
            f"--to {to} has no values of items. Take --to eee, or no --items."
        )
    tasks = task or []
    with progress("Checking"):
        publishable, not_publishable = publishable_runs(read, tasks, published_as)
    refused = list[str]()
    for run, reason in not_publishable:
        refused.append(f"{run.label} on {task_title(run)}: {reason}")
    if not publishable:
        of_tasks = f" of {', '.join(tasks)}" if tasks else ""
        message = f"no run{of_tasks} can be published, so nothing was written:"
        raise NotPublishable("\n".join([message, *refused]))
    publisher = Publisher(by, relationship or "", url)
    settings = {"items": True} if items else {}
    destination = import_module(f"hkcanto_tasks.results.publishing.{to}")
    with progress("Writing"):
        publication = destination.publication(publishable, publisher, **settings)
    write_files(publication.files, output)
    _print_publication(publication, refused, output)
    raise typer.Exit(bool(refused))


def _read_and_name_unread(logs: Sequence[str]) -> "Runs":
    """Read runs, and print which logs could not be read."""
    from ..results.logs import read_runs

    with progress() as advance:
        runs = read_runs(logs, progress=advance)
    for log in runs.skipped:
        echo(f"not read: {log.path}: {log.reason}", to_err=True)
    return runs


def _refuse_secrets(url: str) -> None:
    """Refuse an address with a password or key, which would be published.

    Raises:
        OptionError: It has one.
    """
    parts = urlsplit(url)
    if parts.username or parts.password or _SECRET_IN_QUERY.search(parts.query):
        raise OptionError(
            "--url has a password or key, and would be published. Leave it out."
        )


def _print_publication(
    publication: "Publication",
    refused: Sequence[str],
    output: Path,
) -> None:
    """Print what was not published, the files, and the commands that submit them."""
    for reason in [*refused, *publication.left_out]:
        echo(f"not published: {reason}", to_err=True)
    for path in publication.files:
        echo(output / path)
    echo("\nNothing was uploaded. Check the files, then:")
    for command in publication.submit:
        echo(f"  {command.format(folder=quote(str(output)))}")
