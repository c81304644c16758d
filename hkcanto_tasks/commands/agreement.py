"""The command `hkcanto agreement`."""

from pathlib import Path
from typing import Annotated

from .output import FormatOption, Output, argument, format_of, progress, write

_PEOPLE = "A CSV of people's scores: id, and level or criteria."


def agreement(
    log: Annotated[Path, argument("A log with a judge's scores.", exists=True)],
    people: Annotated[Path, argument(_PEOPLE, exists=True)],
    output: Output = None,
    format: FormatOption = None,  # noqa: A002
) -> None:
    """Compare a judge's scores with people's: correlations, alpha, bias, corrected mean.

    hkcanto agreement logs/….eval people.csv
    """
    form = format_of(output, format)
    from ..results.agreement import agreement_report

    with progress("Resampling"):
        report = agreement_report(log, people)
    write(report, output, form)
