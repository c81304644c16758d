"""The command `hkcanto compare`."""

import re
from typing import Annotated, Any

import typer

from ..console import errors_without_traceback
from .output import LOGS, FormatOption, Full, Output, format_of, option, progress, write

_DELTA = "Tolerance δ in points: exit status 1 unless B is at most this much worse than A."
_LOOK = "Which look at growing runs this is, of how many planned: 2/4. They share the error of 5 %."
_CANDIDATES = "Among how many runs the one that passes is chosen. They share the error of 5 %."
_ALLOWED = "What the runs may differ in under a gate: parts of the signature, as shots,prompt."


def compare(
    runs: Annotated[list[str], LOGS],
    metric: Annotated[str | None, option("Compare this figure, not the headline.")] = None,
    gate: Annotated[float | None, option(_DELTA, min=0, max=100)] = None,
    look: Annotated[str | None, option(_LOOK, metavar="K/N")] = None,
    candidates: Annotated[int | None, option(_CANDIDATES, min=1, max=1000)] = None,
    allow_differences: Annotated[str | None, option(_ALLOWED, metavar="NAME[,NAME]")] = None,
    seed: Annotated[int, option("Of the resampling.", min=0)] = 1234,
    resamples: Annotated[int, option("Number of resamples.", min=100)] = 10_000,
    output: Output = None,
    format: FormatOption = None,  # noqa: A002
    full: Full = False,
) -> None:
    """Compare two runs item by item, or several pairwise; --gate makes it a release test.

    hkcanto compare runs/base runs/tuned --gate 2.0

    Exit status: 0; 1 if a gate is not passed; 2 if runs cannot be compared, or with --gate if some
    task, figure or log is missing, or the runs differ in more than the model.
    """
    if gate is None and {look, candidates, allow_differences} != {None}:
        raise typer.BadParameter("--look, --candidates and --allow-differences need --gate.")
    if look and not re.fullmatch(r"[1-9]\d?/[1-9]\d?", look):
        raise typer.BadParameter(f"--look {look}: give it as 2/4, the second of four looks.")
    with errors_without_traceback(status=2):
        kind = format_of(output, format)
        from ..reports.verdicts import compare_runs

        at, _, planned = (look or "1/1").partition("/")
        options: dict[str, Any] = {"metric": metric, "gate": gate, "seed": seed}
        options |= {"look": (int(at), int(planned)), "candidates": candidates or 1}
        options["allowed"] = re.split(r"[\s,]+", allow_differences or "")
        with progress() as advance:
            made, status = compare_runs(runs, resamples=resamples, progress=advance, **options)
        write(made, output, kind, full=full)
    raise typer.Exit(status)
