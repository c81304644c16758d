"""The command `hkcanto compare`."""

import re
from typing import Annotated

import typer

from .console import errors_without_traceback
from .output import LOGS, FormatOption, Full, Output, format_of, option, progress, write

_DELTA = (
    "Tolerance in points: exit status 1 unless B is at most this much worse than A."
)
_LOOK = "Look K of N planned looks at growing runs; together they have an error of 5 %."
_CANDIDATES = (
    "Candidates that the gate chooses from; together they have an error of 5 %."
)
_ANY = (
    "The two logs are of tasks that are not ours: items are matched by text; no ranks."
)
_ALLOWED = "Signature parts or settings that may differ under a gate, such as shots,temperature."
_METRIC = option("Compare this figure instead of the headline.", metavar="FIGURE")


def compare(
    runs: Annotated[list[str], LOGS],
    metric: Annotated[str | None, _METRIC] = None,
    gate: Annotated[
        float | None,
        option(
            _DELTA,
            metavar="POINTS",
            min=0,
            max=100,
        ),
    ] = None,
    look: Annotated[str | None, option(_LOOK, metavar="K/N")] = None,
    candidates: Annotated[
        int | None,
        option(
            _CANDIDATES,
            metavar="N",
            min=1,
            max=1000,
        ),
    ] = None,
    any_task: Annotated[bool, option(_ANY, "--any")] = False,
    allow_differences: Annotated[str | None, option(_ALLOWED, metavar="NAME,…")] = None,
    seed: Annotated[int, option("Seed of the resampling.", metavar="N", min=0)] = 1234,
    resamples: Annotated[
        int, option("Number of resamples.", metavar="N", min=100)
    ] = 10_000,
    output: Output = None,
    format: FormatOption = None,  # noqa: A002
    full: Full = False,
) -> None:
    """Compare two runs item by item, or several in pairs; --gate tests a release.

    hkcanto compare runs/base runs/tuned --gate 2.0

    Exit status: 0 on success; 1 if a gate is not passed; 2 if runs cannot
    be compared. With --gate also 2 if a task, figure or log is missing, or
    if the runs differ in more than the model.
    """
    options_of_gate = (look, candidates, allow_differences)
    if gate is None and options_of_gate != (None, None, None):
        raise typer.BadParameter(
            "--look, --candidates and --allow-differences need --gate."
        )
    if any_task and gate is not None:
        raise typer.BadParameter(
            "--any cannot be used with --gate: the figures of unknown items have no bounds."
        )
    status = 0
    with errors_without_traceback(status=2):
        form = format_of(output, format)
        if any_task:
            from ..results.reports.any_logs import compare_any

            report = compare_any(
                runs,
                metric=metric,
                seed=seed,
                resamples=resamples,
            )
        else:
            from ..results.reports.compare import compare_runs

            with progress() as advance:
                report, status = compare_runs(
                    runs,
                    metric=metric,
                    gate=gate,
                    look=look or "1/1",
                    candidates=candidates or 1,
                    allowed=re.split(r"[\s,]+", allow_differences or ""),
                    seed=seed,
                    resamples=resamples,
                    progress=advance,
                )
        write(report, output, form, full=full)
    raise typer.Exit(status)
