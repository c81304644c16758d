"""The command `hkcanto board`."""

from pathlib import Path
from typing import Annotated

import typer

from .console import echo
from .output import argument, option, write_files

_RESULTS = (
    "Folders of records (hkcanto publish --to eee) and of logs. NAME=PATH names the model of the "
    "logs. Without RESULTS the leaderboard has the papers' scores."
)
_CHECK = "Only list results that would be left out; exit status 1 if there are any."
_FOLDER = option("Folder for the site.", "-o", "--output", metavar="DIR")


def board(
    results: Annotated[list[str] | None, argument(_RESULTS, "RESULTS")] = None,
    output: Annotated[Path, _FOLDER] = Path("site"),
    check: Annotated[bool, option(_CHECK, "--check")] = False,
    title: Annotated[
        str, option("Title of the site.", metavar="TEXT")
    ] = "Cantonese board",
) -> None:
    """Build a static leaderboard of many models, with the papers' scores.

    hkcanto board results/ -o site

    Untrusted results are left out, with reasons.
    """
    from ..results.board.folders import read_results
    from ..results.board.pages import pages

    right, refused = read_results(results or [])
    for reason, paths in refused.items():
        echo(f"not on the board ({len(paths)}): {reason}", to_err=True)
        for path in paths if check else paths[:3]:
            echo(f"  {path}", to_err=True)
    count = f"{len(right)} results of {len({each.model for each in right})} models"
    if check:
        echo(
            f"{count} are right, {sum(map(len, refused.values()))} files or runs are not."
        )
        raise typer.Exit(bool(refused))
    written = pages(right, refused, title)
    write_files(written, output)
    size = sum(len(text.encode()) for text in written.values()) / 1e6
    echo(f"{count}, {len(written)} files ({size:.1f} MB): {output / 'index.html'}")
