"""The command `hkcanto agreement`."""

from pathlib import Path
from typing import Annotated

import typer

from ..console import errors_without_traceback
from ..errors import LogError
from ..reports import commands


def agreement(
    logs: Annotated[
        list[Path] | None,
        typer.Argument(
            exists=True,
            help="An Inspect log with a judge's scores, and a CSV of people's: id, and a column "
            "per criterion. With --sinitic, logs alone, or nothing.",
            show_default=False,
        ),
    ] = None,
    sinitic: Annotated[
        Path | None,
        typer.Option(help="SiniticMTError's cantonese.jsonl: translations with errors marked."),
    ] = None,
    output: commands.Output = None,
    format: commands.FormatOption = None,  # noqa: A002
) -> None:
    """Compare a judge's scores with people's: correlations, bias, errors found, a corrected mean.

    hkcanto agreement logs/….eval people.csv
    hkcanto agreement --sinitic cantonese.jsonl logs/….eval
    """
    paths = logs or []
    if sinitic is None and len(paths) != 2:
        raise typer.BadParameter("give a log and a CSV of people's scores, or --sinitic FILE.")
    with errors_without_traceback():
        kind = commands.format_of(output, format)
        from .report import of_marked, of_scores

        if paths:
            from hkcanto.judges import judge_agreement, judged_run
        try:
            if sinitic is not None:
                made = of_marked(sinitic, [judged_run(path) for path in paths])
            else:
                made = of_scores(judge_agreement(paths[0], paths[1]))
        except ValueError as error:
            raise LogError(str(error)) from error
        commands.write(made, output, kind)
