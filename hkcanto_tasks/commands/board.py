"""The command `hkcanto board`."""

from pathlib import Path
from typing import Annotated

import typer

from ..console import echo, errors_without_traceback
from ..errors import on_disk
from .output import option, progress

_RESULTS = typer.Argument(
    help="Folders of records (hkcanto publish --to eee) and logs, mixed freely. NAME=PATH names "
    "the model of the logs in it. Without any, the board has the papers' tables.",
    show_default=False,
)
_CHECK = "Write nothing; list what would not be on the board, and fail if there is anything."


def board(
    results: Annotated[list[str] | None, _RESULTS] = None,
    output: Annotated[Path, option("Folder to write the site to.", "-o", "--output")] = Path(
        "site"
    ),
    check: Annotated[bool, option(_CHECK, "--check")] = False,
    title: Annotated[str, option("Its title.")] = "Cantonese board",
    url: Annotated[str, option("The address that the site will have; for its feed.")] = "",
) -> None:
    """Make a site over many models and dates, beside the papers' models: no server, no network.

    hkcanto board results/ -o site

    What cannot be trusted is not on it, and a page says why. A `models.toml` in a folder of results
    gives sizes, open or closed, and links.
    """
    with errors_without_traceback():
        from ..board.models import read_models
        from ..board.reading import read_results
        from ..board.standing import board_of

        given = results or []
        with progress() as advance:
            read = read_results(given, advance)
        models = {name: entry for each in given for name, entry in read_models(Path(each)).items()}
        for each in read.refused:
            echo(f"not on the board: {each.path}: {each.reason}", to_err=True)
        count = (
            f"{len(read.records)} results of {len({each.model for each in read.records})} models"
        )
        if check:
            echo(f"{count} are right, {len(read.refused)} files or runs are not.")
            raise typer.Exit(bool(read.refused))
        made = board_of(read, models)
        from ..board.site import files
        from ..publishing.writing import write

        written = files(made, title, url)
        with on_disk(output, "written", "Give a folder that you can write to."):
            write(written, output)
    size = sum(len(text.encode()) for text in written.values()) / 1e6
    echo(f"{count}, {len(written)} files ({size:.1f} MB): {output / 'index.html'}")
