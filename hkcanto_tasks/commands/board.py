"""The command `hkcanto board`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from .console import echo
from .output import argument, check_folder, option, progress, write_files

_RESULTS = (
    "Folders of records (hkcanto publish --to eee) and of logs. NAME=PATH names the model of the "
    "logs. Without RESULTS the leaderboard has the papers' scores."
)
_CHECK = "Only list results that would be left out; exit status 1 if there are any."
_MOST_EXAMPLES = 3  # of a reason
_FOLDER = option(
    "Folder for the site.",
    "-o",
    "--output",
    metavar="DIR",
)


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

    if not check:
        check_folder(output)
    with progress("Reading results"):
        accepted, refused = read_results(results or [])
    _print_refused(refused, all_paths=check)
    models = {result.model for result in accepted}
    count = f"{len(accepted)} results of {len(models)} models"
    if check:
        wrong = sum(map(len, refused.values()))
        echo(f"{count} are right, {wrong} files or runs are not.")
        raise typer.Exit(bool(refused))
    with progress("Writing"):
        site = pages(accepted, refused, title)
    write_files(site, output)
    megabytes = sum(len(text.encode()) for text in site.values()) / 1e6
    echo(f"{count}, {len(site)} files ({megabytes:.1f} MB): {output / 'index.html'}")


def _print_refused(
    refused: Mapping[str, Sequence[object]],
    *,
    all_paths: bool,
) -> None:
    """Print each reason for which results are left out, with some or all of their files."""
    for reason, paths in refused.items():
        echo(f"not on the board ({len(paths)}): {reason}", to_err=True)
        named = paths if all_paths else paths[:_MOST_EXAMPLES]
        for path in named:
            echo(f"  {path}", to_err=True)
