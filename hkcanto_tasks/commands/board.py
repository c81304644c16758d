"""The command `hkcanto board`."""

from pathlib import Path
from typing import Annotated

import typer

from ..console import echo, errors_without_traceback
from ..errors import on_disk
from .output import option

_RESULTS = typer.Argument(
    metavar="RESULTS",
    help="Folders of records (hkcanto publish --to eee) and of logs. NAME=PATH names the model of "
    "the logs. Without RESULTS the leaderboard has the papers' scores.",
    show_default=False,
)
_CHECK = "Only list results that would be left out; exit status 1 if there are any."


def board(
    results: Annotated[list[str] | None, _RESULTS] = None,
    output: Annotated[Path, option("Folder for the site.", "-o", "--output", metavar="DIR")] = Path(
        "site"
    ),
    check: Annotated[bool, option(_CHECK, "--check")] = False,
    title: Annotated[str, option("Title of the site.", metavar="TEXT")] = "Cantonese board",
) -> None:
    """Build a static leaderboard of many models, with the papers' scores.

    hkcanto board results/ -o site

    Untrusted results are left out, with reasons.
    """
    with errors_without_traceback():
        from ..results.board.pages import pages, reasons
        from ..results.board.records import read_results

        read = read_results(results or [])
        for reason, paths in reasons(read.refused):
            echo(f"not on the board ({len(paths)}): {reason}", to_err=True)
            for path in paths if check else paths[:3]:
                echo(f"  {path}", to_err=True)
        names = {each.model for each in read.results}
        count = f"{len(read.results)} results of {len(names)} models"
        if check:
            echo(f"{count} are right, {len(read.refused)} files or runs are not.")
            raise typer.Exit(bool(read.refused))
        from ..results.publishing.writing import write

        written = pages(read, title)
        with on_disk(output, "written", "Give a folder that you can write to."):
            write(written, output)
    size = sum(len(text.encode()) for text in written.values()) / 1e6
    echo(f"{count}, {len(written)} files ({size:.1f} MB): {output / 'index.html'}")
