"""The command `hkcanto plan`."""

from pathlib import Path
from typing import Annotated

import typer

from ..console import errors_without_traceback
from . import output as shared

_RUNS = typer.Argument(
    metavar="LOGS|TASKS",
    help="Logs of two runs, to plan from their disagreement. Or benchmarks and tasks, with one of "
    "--discordance, --sd and --responses; they are also planned together.",
    show_default=False,
)
_DISCORDANCE = "Assume that on this share of the items one run is right and the other wrong."
_DEVIATION = (
    "Assume this standard deviation of the differences, for figures that are not shares of right "
    "answers."
)
_RESPONSES = "Answers of many real models, as .csv or .csv.gz; see docs/planning.md."
_GATES = "Difference or tolerance δ in points; may be repeated. Default: 2."
_Percent = Annotated[float | None, typer.Option(metavar="%", help=_DISCORDANCE, min=0, max=100)]
_Points = Annotated[float | None, typer.Option(metavar="POINTS", help=_DEVIATION, min=0, max=100)]
_Items = typer.Option(metavar="N", help="Number of items; may be repeated.", min=1)
_Loss = typer.Option(
    metavar="POINTS", help="Points that the second run truly loses.", min=-100, max=100
)
_Looks = typer.Option(
    metavar="N", help="Looks at a growing run; together they have an error of 5 %.", min=1, max=99
)
_Candidates = typer.Option(
    metavar="N", help="Candidates; together they have an error of 5 %, too.", min=1, max=1000
)
_Benchmark = typer.Option(metavar="NAME", help="Only this benchmark or task; may be repeated.")
_Metric = typer.Option(metavar="FIGURE", help="Plan for this figure instead of the headline.")
_SIZES = (100, 250, 500, 1_000, 2_000)


def plan(
    runs: Annotated[list[str] | None, _RUNS] = None,
    discordance: _Percent = None,
    sd: _Points = None,
    responses: Annotated[Path | None, typer.Option(metavar="FILE", help=_RESPONSES)] = None,
    items: Annotated[list[int] | None, _Items] = None,
    gate: Annotated[
        list[float] | None, typer.Option(metavar="POINTS", help=_GATES, max=100)
    ] = None,
    loss: Annotated[float, _Loss] = 0.0,
    looks: Annotated[int, _Looks] = 1,
    candidates: Annotated[int, _Candidates] = 1,
    benchmark: Annotated[list[str] | None, _Benchmark] = None,
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
        unknown = [name for name in given if name not in known]
        assumed = sum(each is not None for each in (discordance, sd, responses))
        of_logs = not assumed and bool(unknown or any(Path(name).exists() for name in given))
        if not of_logs and (assumed != 1 or unknown):
            raise typer.BadParameter(
                "give one of these: the logs of two runs; or --discordance, --sd or --responses, "
                "alone or with names of benchmarks and tasks (hkcanto list)."
            )
        kind = shared.format_of(output, format)
        from ..results.planning import observed, power
        from ..results.planning.report import build, catalogue
        from ..results.statistics.intervals import Estimate

        about = ""
        if of_logs:
            parts = observed.of_runs(given, metric)
            title = ", ".join(dict.fromkeys(part.of for part in parts))
            about = "95 % intervals, from the runs' disagreement; items of the whole task."
        elif responses:
            parts = observed.of_responses(responses)
            title = f"models as in {responses.name}"
            about = "Medians over the pairs of models; the intervals hold the middle 80 % of them."
        elif discordance is not None:
            spread = power.of_discordance(Estimate(discordance / 100, None, None, 0))
            parts = [observed.Part("any", 0, spread)]
            title = f"a discordance of {discordance:g} %"
            about = (
                f"At a discordance of {discordance:g} %. At d %, the differences are "
                f"√(d / {discordance:g}) times as large."
            )
        else:
            parts = [observed.Part("any", 0, power.of_deviation((sd or 0.0) / 100))]
            title = f"differences with a standard deviation of {sd:g} points"
        names = [*given, *(benchmark or ())]
        others = [] if of_logs else catalogue(parts[0].spread, names)
        made = build(
            parts,
            others,
            title=f"Plan for {title}",
            about=about,
            sizes=items or (() if of_logs else _SIZES),
            gates=gate or (2.0,),
            loss=loss,
            shared_by=looks * candidates,
            gates_of_others=bool(names),
        )
        shared.write(made, output, kind, full=full)
