"""The command `hkcanto path`."""

from importlib.resources import files
from typing import Annotated

import typer

from ..console import echo
from .output import argument

_FOLDERS = {
    "lm-eval": ("hkcanto_lm_eval", "tasks"),
    "inspect": ("hkcanto", ""),
    "evaluate": ("hkcanto_metrics", "evaluate_modules"),
}
_WHAT = argument("lm-eval, inspect or evaluate.", "WHAT", show_default=True)


def path(what: Annotated[str, _WHAT] = "lm-eval") -> None:
    """Print the folder of the task files: lm_eval --include_path "$(hkcanto path)"."""
    if what not in _FOLDERS:
        raise typer.BadParameter(f"{what!r}: there are {', '.join(_FOLDERS)}.")
    package, folder = _FOLDERS[what]
    echo(files(package) / folder)
