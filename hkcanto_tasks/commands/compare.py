"""The command `hkcanto compare`."""

import re
from collections.abc import Sequence
from typing import Annotated, Literal

import typer

from .console import errors_without_traceback
from .output import (
    ALONE,
    LOGS,
    FormatOption,
    Full,
    LanguageOption,
    Output,
    format_of,
    option,
    progress,
    write,
)

_DELTA = "Tolerance in points: test whether B is less than this much worse than A."
_UNDECIDED = (
    "pass or fail: exit with 0 or 1, not 3, if there are too few items to tell."
)
_TASKS = "Compare only this task or benchmark; may be repeated, or a,b."
_MODELS = "Compare only this model; may be repeated. The first is the baseline."
_LOOK = "Look K of N planned looks at growing runs; together they have an error of 5 %."
_CANDIDATES = (
    "Candidates that the gate chooses from; together they have an error of 5 %."
)
_ANY = (
    "The two logs are of tasks that are not ours: items are matched by text; no ranks."
)
_DRESS = (
    "Compare a model on two tasks with the same items, in another language or script."
)
_ALLOWED = "Signature parts or settings that may differ under a gate, such as shots,temperature."
_METRIC = option("Compare this figure instead of the headline.", metavar="FIGURE")


def compare(
    logs: Annotated[list[str], LOGS],
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
    undecided: Annotated[
        Literal["pass", "fail"] | None, option(_UNDECIDED, metavar="ANSWER")
    ] = None,
    task: Annotated[list[str] | None, option(_TASKS, metavar="TASK")] = None,
    model: Annotated[list[str] | None, option(_MODELS, metavar="MODEL")] = None,
    alone: Annotated[bool, option(ALONE, "--alone")] = False,
    any_task: Annotated[bool, option(_ANY, "--any")] = False,
    dress: Annotated[str | None, option(_DRESS, metavar="TASK,TASK")] = None,
    allow_differences: Annotated[str | None, option(_ALLOWED, metavar="NAME,…")] = None,
    seed: Annotated[int, option("Seed of the resampling.", metavar="N", min=0)] = 1234,
    resamples: Annotated[
        int,
        option(
            "Number of resamples.",
            metavar="N",
            min=100,
            max=1_000_000,
        ),
    ] = 10_000,
    output: Output = None,
    format: FormatOption = None,  # noqa: A002
    full: Full = False,
    language: LanguageOption = "en",  # noqa: ARG001
) -> None:
    """Compare two runs item by item, or several in pairs; --gate tests a release.

    hkcanto compare runs/base runs/tuned --gate 2.0

    Exit status: 0 on success, with --gate if it passed; 1 if B is worse by
    more than the tolerance; 2 if runs cannot be compared, or with --gate
    differ in more than the model or lack a task; 3 if there are too few
    items to tell (--undecided).
    """
    options_of_gate = (look, candidates, undecided, allow_differences)
    _refuse_contradictions(
        gate,
        options_of_gate,
        any_task,
        [task, model, alone],
        dress,
    )
    status = 0
    resampling: dict[str, int] = {"seed": seed, "resamples": resamples}
    with errors_without_traceback(status=2):
        form = format_of(output, format)
        with progress() as advance:
            if dress:
                from ..results.reports.dress import compare_dresses

                report = compare_dresses(
                    logs,
                    dress.split(","),
                    metric,
                    **resampling,
                )
            elif any_task:
                from ..results.reports.any_logs import compare_any

                report = compare_any(logs, metric=metric, **resampling)
            else:
                from ..results.reports.compare import compare_runs

                report, status = compare_runs(
                    logs,
                    metric=metric,
                    gate=gate,
                    look=look or "1/1",
                    candidates=candidates or 1,
                    undecided=undecided,
                    alone=alone,
                    tasks=_names(task),
                    models=model or (),
                    allowed=re.findall(r"[^\s,]+", allow_differences or ""),
                    progress=advance,
                    **resampling,
                )
        choice = _choice(task, model)
        write(
            report,
            output,
            form,
            full=full,
            logs=logs,
            choice=choice,
        )
    raise typer.Exit(status)


def _names(options: Sequence[str] | None) -> list[str]:
    """Return the names in options that may be repeated, or be lists with commas."""
    return [name for text in options or () for name in text.split(",")]


def _choice(tasks: Sequence[str] | None, models: Sequence[str] | None) -> list[str]:
    """Return the options that choose the same tasks and two models in another command."""
    choice = [f"--task={name}" for name in tasks or ()]
    if models and len(models) == 2:
        choice += [f"--model={name}" for name in models]
    return choice


def _refuse_contradictions(
    gate: float | None,
    options_of_gate: Sequence[object],
    any_task: bool,
    choices: Sequence[list[str] | bool | None],
    dress: str | None,
) -> None:
    """Refuse options that cannot be used together."""
    if gate is None and any(value is not None for value in options_of_gate):
        raise typer.BadParameter(
            "--look, --candidates, --undecided and --allow-differences need --gate."
        )
    if any_task and any(choices):
        raise typer.BadParameter(
            "--any compares all tasks of two logs: no --task, no --model, no --alone."
        )
    if any_task and gate is not None:
        raise typer.BadParameter(
            "--any cannot be used with --gate: the figures of unknown items have no bounds."
        )
    if dress and (any_task or any(choices) or gate is not None):
        raise typer.BadParameter(
            "--dress cannot be used with --any, --task, --model, --alone or --gate."
        )
