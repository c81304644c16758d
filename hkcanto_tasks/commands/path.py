"""The command `hkcanto path`."""

from pathlib import Path
from typing import Annotated

import typer

from ..console import echo, errors_without_traceback


def path(
    what: Annotated[str, typer.Argument(help="lm-eval, outside, inspect or evaluate.")] = "lm-eval",
) -> None:
    """Print the folder of our task files: lm_eval --include_path "$(hkcanto path)".

    `outside` is that of the tasks without a file there, such as those of HKCANTO_BENCHMARKS.
    """
    import hkcanto
    import hkcanto_lm_eval
    import hkcanto_metrics

    folders = {
        "lm-eval": Path(hkcanto_lm_eval.task_path()),
        "inspect": Path(hkcanto.__path__[0]),
        "evaluate": Path(hkcanto_metrics.__path__[0]) / "evaluate_modules",
    }
    if what == "outside":
        from hkcanto_lm_eval.generate import write_others

        with errors_without_traceback():
            folders[what] = write_others()
    if what not in folders:
        raise typer.BadParameter(f"{what!r}: there are {', '.join(folders)}, outside.")
    echo(folders[what])
