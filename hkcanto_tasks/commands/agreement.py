"""The command `hkcanto agreement`."""

from pathlib import Path
from typing import Annotated

import typer

from ..console import errors_without_traceback
from . import output as shared


def agreement(
    log: Annotated[Path, typer.Argument(exists=True, help="A log with a judge's scores.")],
    people: Annotated[
        Path,
        typer.Argument(exists=True, help="A CSV of people's scores: id, and level or criteria."),
    ],
    output: shared.Output = None,
    format: shared.FormatOption = None,  # noqa: A002
) -> None:
    """Compare a judge's scores with people's: correlations, alpha, bias, corrected mean.

    hkcanto agreement logs/….eval people.csv
    """
    with errors_without_traceback():
        kind = shared.format_of(output, format)
        from ..results.agreement import agreement_report

        shared.write(agreement_report(log, people), output, kind)
