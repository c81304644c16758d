"""The command `hkcanto plan`."""

from pathlib import Path
from typing import Annotated

import typer

from ..console import errors_without_traceback
from . import output as shared
from .output import option

_RUNS = typer.Argument(
    metavar="LOGS|TASKS",
    help="Logs of two runs, to plan from their disagreement. Or benchmarks and tasks, with "
    "--discordance or --sd.",
    show_default=False,
)
_DISCORDANCE = "Assume that on this share of the items one run is right and the other wrong."
_DEVIATION = (
    "Assume this standard deviation of the differences, for figures that are not shares of right "
    "answers."
)
_Percent = Annotated[float | None, option(_DISCORDANCE, metavar="%", min=0, max=100)]
_Points = Annotated[float | None, option(_DEVIATION, metavar="POINTS", min=0, max=100)]
_Items = option("Number of items; may be repeated.", metavar="N", min=1)
_GATES = "Difference or tolerance δ in points; may be repeated. Default: 2."
_Gates = Annotated[list[float] | None, option(_GATES, metavar="POINTS", max=100)]
_Loss = option("Points that the second run truly loses.", metavar="POINTS", min=-100, max=100)
_LOOKS = "Looks at a growing run; together they have an error of 5 %."
_CANDIDATES = "Candidates; together they have an error of 5 %, too."
_Metric = option("Plan for this figure instead of the headline.", metavar="FIGURE")
_SIZES = (100, 250, 500, 1_000, 2_000)


def plan(
    runs: Annotated[list[str] | None, _RUNS] = None,
    discordance: _Percent = None,
    sd: _Points = None,
    items: Annotated[list[int] | None, _Items] = None,
    gate: _Gates = None,
    loss: Annotated[float, _Loss] = 0.0,
    looks: Annotated[int, option(_LOOKS, metavar="N", min=1, max=99)] = 1,
    candidates: Annotated[int, option(_CANDIDATES, metavar="N", min=1, max=1000)] = 1,
    metric: Annotated[str | None, _Metric] = None,
    output: shared.Output = None,
    format: shared.FormatOption = None,  # noqa: A002
    full: shared.Full = False,
) -> None:
    """Plan how many items are needed to show a difference or pass a gate.

    hkcanto plan hkmmlu --discordance 29.3 --gate 2 --loss 0.46
    """
    with errors_without_traceback():
        from ..catalogue import benchmarks, named_tasks

        known, given = {*named_tasks(), *(each.name for each in benchmarks())}, runs or []
        are_tasks = known.issuperset(given) and not any(Path(name).exists() for name in given)
        assumed = [each for each in (discordance, sd) if each is not None]
        if len(assumed) > 1 or (not assumed and are_tasks):
            raise typer.BadParameter(
                "give one of these: the logs of two runs; or --discordance or --sd, alone or with "
                "names of benchmarks and tasks (hkcanto list)."
            )
        kind = shared.format_of(output, format)
        from ..results.planning import power, report
        from ..results.statistics.intervals import Estimate

        if not assumed:
            parts, others, title = report.of_runs(given, metric), [], "Plan from two runs"
            about = "95 % intervals, from the runs' disagreement; items of the whole task."
        else:
            if discordance is not None:
                spread = power.of_discordance(Estimate(discordance / 100, None, None, 0))
                title = f"Plan for a discordance of {discordance:g} %"
                about = (
                    f"At a discordance of {discordance:g} %. At d %, the differences are "
                    f"√(d / {discordance:g}) times as large."
                )
            else:
                spread = power.of_deviation(assumed[0] / 100)
                title = f"Plan for differences with a standard deviation of {sd:g} points"
                about = ""
            parts, others = [report.Part("any", None, spread)], [*report.catalogue(spread, given)]
            if given:
                parts, others = [*parts, *others], []
        made = report.build(
            parts,
            others,
            title=title,
            about=about,
            sizes=items or (_SIZES if assumed else ()),
            gates=gate or (2.0,),
            loss=loss,
            shared_by=looks * candidates,
        )
        shared.write(made, output, kind, full=full)
