"""The command `hkcanto plan`."""

from typing import Annotated

import typer

from .output import (
    FormatOption,
    Full,
    Output,
    argument,
    format_of,
    option,
    progress,
    write,
)

_LOGS = "Logs of two runs, to plan from their disagreement. Or tasks, with --discordance or --sd."
_DISCORDANCE = (
    "Assume that on this share of the items one run is right and the other wrong."
)
_DEVIATION = "Assume this standard deviation of the differences, for figures other than accuracies."
_ITEMS = option("Number of items; may be repeated.", metavar="N", min=1)
_GATES = "Difference or tolerance δ in points; may be repeated. Default: 2."
_LOSS = option(
    "Points that the second run truly loses.",
    metavar="POINTS",
    min=-100,
    max=100,
)
_LOOKS = "Looks at a growing run; together they have an error of 5 %."
_CANDIDATES = "Candidates; together they have an error of 5 %, too."
_METRIC = option("Plan for this figure instead of the headline.", metavar="FIGURE")


def plan(
    logs_or_tasks: Annotated[list[str] | None, argument(_LOGS, "LOGS|TASKS")] = None,
    discordance: Annotated[
        float | None,
        option(
            _DISCORDANCE,
            metavar="%",
            min=0,
            max=100,
        ),
    ] = None,
    sd: Annotated[
        float | None,
        option(
            _DEVIATION,
            metavar="POINTS",
            min=0,
            max=100,
        ),
    ] = None,
    items: Annotated[list[int] | None, _ITEMS] = None,
    gate: Annotated[
        list[float] | None, option(_GATES, metavar="POINTS", max=100)
    ] = None,
    loss: Annotated[float, _LOSS] = 0.0,
    looks: Annotated[
        int,
        option(
            _LOOKS,
            metavar="N",
            min=1,
            max=99,
        ),
    ] = 1,
    candidates: Annotated[
        int,
        option(
            _CANDIDATES,
            metavar="N",
            min=1,
            max=1000,
        ),
    ] = 1,
    metric: Annotated[str | None, _METRIC] = None,
    output: Output = None,
    format: FormatOption = None,  # noqa: A002
    full: Full = False,
) -> None:
    """Plan how many items are needed to show a difference or pass a gate.

    hkcanto plan hkmmlu --discordance 29.3 --gate 2 --loss 0.46
    """
    is_assumed = discordance is not None or sd is not None
    are_both_assumed = discordance is not None and sd is not None
    if are_both_assumed or not (is_assumed or logs_or_tasks):
        raise typer.BadParameter(
            "give one of these: the logs of two runs; or --discordance or --sd, alone or with "
            "names of benchmarks and tasks (hkcanto list)."
        )
    if discordance is not None and 0 < discordance < 1:
        raise typer.BadParameter(
            f"--discordance is in per cent: {discordance:g} is {discordance:g} %. Give 30 for three "
            "items in ten; below 1, give the logs of two runs."
        )
    form = format_of(output, format)
    from ..results.planning.report import (
        PlannedTests,
        plan_from_assumption,
        plan_from_runs,
    )

    names = logs_or_tasks or []
    sizes = items or ()
    tests = PlannedTests(gate or (2.0,), loss, shared_by=looks * candidates)
    with progress("Planning"):
        if is_assumed:
            report = plan_from_assumption(
                names,
                discordance,
                sd,
                sizes,
                tests,
            )
        else:
            report = plan_from_runs(
                names,
                metric,
                sizes,
                tests,
            )
    write(
        report,
        output,
        form,
        full=full,
    )
