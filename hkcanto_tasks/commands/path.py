"""The command `hkcanto path`."""

from importlib.resources import files
from typing import Annotated, Literal

from .console import echo
from .output import argument

_FOLDERS = {
    "lm-eval": ("hkcanto_lm_eval", "tasks"),
    "inspect": ("hkcanto", ""),
    "evaluate": ("hkcanto_metrics", "evaluate_modules"),
}
_WHAT = argument("lm-eval, inspect or evaluate.", "WHAT", show_default=True)


def path(
    what: Annotated[Literal["lm-eval", "inspect", "evaluate"], _WHAT] = "lm-eval",
) -> None:
    """Print the folder of the task files: lm_eval --include_path "$(hkcanto path)"."""
    package, folder = _FOLDERS[what]
    echo(files(package) / folder)
