"""The command `hkcanto path`."""

from importlib.resources import files
from typing import Annotated

import typer

from ..console import echo

_FOLDERS = {
    "lm-eval": ("hkcanto_lm_eval", "tasks"),
    "inspect": ("hkcanto", ""),
    "evaluate": ("hkcanto_metrics", "evaluate_modules"),
}


def path(
    what: Annotated[
        str, typer.Argument(metavar="WHAT", help="lm-eval, inspect or evaluate.")
    ] = "lm-eval",
) -> None:
    """Print the folder of the task files: lm_eval --include_path "$(hkcanto path)"."""
    if what not in _FOLDERS:
        raise typer.BadParameter(f"{what!r}: there are {', '.join(_FOLDERS)}.")
    package, folder = _FOLDERS[what]
    echo(files(package) / folder)
