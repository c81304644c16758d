"""The command `hkcanto agreement`."""

from pathlib import Path
from typing import Annotated

import typer

from ..console import errors_without_traceback
from ..reports import commands


def agreement(
    log: Annotated[Path, typer.Argument(exists=True, help="An Inspect log with a judge's scores.")],
    people: Annotated[
        Path,
        typer.Argument(exists=True, help="A CSV of people's scores: id, a column per criterion."),
    ],
    output: commands.Output = None,
    format: commands.FormatOption = None,  # noqa: A002
) -> None:
    """Compare a judge's scores with people's: correlations, alpha, bias, a corrected mean.

    hkcanto agreement logs/….eval people.csv
    """
    with errors_without_traceback():
        kind = commands.format_of(output, format)
        from ..agreement import agreement_report

        commands.write(agreement_report(log, people), output, kind)
