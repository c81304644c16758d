"""The command `hkcanto path`."""

from pathlib import Path
from typing import Annotated

import typer

from ..console import echo


def path(
    what: Annotated[
        str, typer.Argument(metavar="WHAT", help="lm-eval, inspect or evaluate.")
    ] = "lm-eval",
) -> None:
    """Print the folder of the task files: lm_eval --include_path "$(hkcanto path)"."""
    import hkcanto
    import hkcanto_lm_eval
    import hkcanto_metrics

    folders = {
        "lm-eval": Path(hkcanto_lm_eval.task_path()),
        "inspect": Path(hkcanto.__path__[0]),
        "evaluate": Path(hkcanto_metrics.__path__[0]) / "evaluate_modules",
    }
    if what not in folders:
        raise typer.BadParameter(f"{what!r}: there are {', '.join(folders)}.")
    echo(folders[what])
