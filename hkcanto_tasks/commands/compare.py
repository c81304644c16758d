"""The command `hkcanto compare`."""

from typing import Annotated, Any

import typer

from ..console import errors_without_traceback
from .output import LOGS, FormatOption, Full, Output, format_of, option, progress, write

_DELTA = "Tolerance δ in points: exit status 1 unless B is at most this much worse than A."


def compare(
    runs: Annotated[list[str], LOGS],
    metric: Annotated[str | None, option("Compare this figure, not the headline.")] = None,
    gate: Annotated[float | None, option(_DELTA, min=0, max=100)] = None,
    seed: Annotated[int, option("Of the resampling.", min=0)] = 1234,
    resamples: Annotated[int, option("Number of resamples.", min=100)] = 10_000,
    output: Output = None,
    format: FormatOption = None,  # noqa: A002
    full: Full = False,
) -> None:
    """Compare two runs item by item, or several pairwise; --gate makes it a release test.

    hkcanto compare runs/base runs/tuned --gate 2.0

    Exit status: 0; 1 if a gate is not passed; 2 if runs cannot be compared, or with --gate if some
    task, figure or log is missing.
    """
    with errors_without_traceback(status=2):
        kind = format_of(output, format)
        from ..reports.verdicts import compare_runs

        options: dict[str, Any] = {"metric": metric, "gate": gate, "seed": seed}
        with progress() as advance:
            made, status = compare_runs(runs, resamples=resamples, progress=advance, **options)
        write(made, output, kind, full=full)
    raise typer.Exit(status)
