"""The command `hkcanto publish`."""

import shutil
import tempfile
from collections.abc import Mapping
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from ..console import err, errors_without_traceback, out
from ..errors import on_disk

if TYPE_CHECKING:
    from .runs import Publication


class Destination(StrEnum):
    """Where results can go; a module of this package for each."""

    eee, hf, card, github = "eee", "hf", "card", "github"


class Relationship(StrEnum):
    """What who ran a model is to its developer, in the words of Every Eval Ever."""

    first_party, third_party = "first_party", "third_party"
    collaborative, other = "collaborative", "other"


def publish(
    runs: Annotated[
        list[str],
        typer.Argument(
            help="Logs or folders of logs, as for report. ORGANISATION/NAME=PATH gives the model's "
            "name on the hub.",
            show_default=False,
        ),
    ],
    to: Annotated[
        Destination,
        typer.Option(
            help="eee: Every Eval Ever. hf: .eval_results of the model's repository. card: a table "
            "for its card. github: a comment for a pull request."
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write to.")],
    by: Annotated[str, typer.Option(help="Who ran the models.")] = "",
    relationship: Annotated[
        Relationship | None, typer.Option(help="Yours to the models' developers; for eee.")
    ] = None,
    url: Annotated[str, typer.Option(help="Where the logs or a report of them are.")] = "",
) -> None:
    """Write results as others collect them: checked, and without questions. Uploads nothing.

    hkcanto publish runs/ --to card -o published

    Sample data, unknown data, parts of a task, and figures unlike the harness's are refused.
    """
    with errors_without_traceback():
        from ..logs import read_runs
        from .runs import Publisher, publishable

        read = read_runs(runs)
        for log in read.skipped:
            err.print(f"not read: {log.path}: {log.reason}", soft_wrap=True, markup=False)
        who = Publisher(by, relationship or "", url)
        destination = import_module(f".{to.value}", __package__)
        made: Publication = destination.publication(publishable(read), who)
        with on_disk(output, "written", "Give a folder that you can write to."):
            write(made.files, output)
    for reason in made.left_out:
        err.print(f"left out: {reason}", soft_wrap=True, markup=False)
    for path in made.files:
        out.print(output / path, soft_wrap=True, markup=False, highlight=False)
    out.print("\nNothing was uploaded. Look at them, then:")
    for line in made.submit:
        text = f"  {line.format(folder=quote(str(output)))}"
        out.print(text, soft_wrap=True, markup=False, highlight=False)


def write(files: Mapping[str, str], folder: Path) -> None:
    """Write files into a folder: all of them, or none."""
    folder.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=".publish-", dir=folder))
    try:
        for path, text in files.items():
            (partial / path).parent.mkdir(parents=True, exist_ok=True)
            (partial / path).write_text(text, encoding="utf-8")
        for path in files:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (partial / path).replace(folder / path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
