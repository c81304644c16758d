"""The command `hkcanto plan`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ..console import errors_without_traceback
from ..reports import commands


def _option(text: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, **more)


_RUNS = typer.Argument(
    help="Logs of two runs, as in hkcanto compare: what they disagree on is what is planned with.",
    show_default=False,
)
_DISCORDANCE = "Assume that so many % of the questions are right in exactly one of the two runs."
_DEVIATION = "Assume so many points of standard deviation of the differences; for other figures."
_RESPONSES = "Real models' answers: a .csv or .csv.gz (docs/planning.md) of many models."
_Full = Annotated[bool, _option("Print everything on the terminal, uncut.", "--full")]
_SIZES = (100, 250, 500, 1_000, 2_000)


def plan(
    runs: Annotated[list[str] | None, _RUNS] = None,
    discordance: Annotated[float | None, _option(_DISCORDANCE, min=0, max=100)] = None,
    sd: Annotated[float | None, _option(_DEVIATION, min=0, max=100)] = None,
    responses: Annotated[Path | None, _option(_RESPONSES)] = None,
    items: Annotated[
        list[int] | None, _option("A number of questions; may be repeated.", min=1)
    ] = None,
    gate: Annotated[
        list[float] | None,
        _option("Points of difference, or tolerance δ (2); may be repeated.", max=100),
    ] = None,
    loss: Annotated[
        float, _option("Points that the second run truly loses.", min=-100, max=100)
    ] = 0.0,
    benchmark: Annotated[
        list[str] | None, _option("Only this benchmark or task; may be repeated.")
    ] = None,
    metric: Annotated[str | None, _option("This figure of the runs, not the headline.")] = None,
    output: commands.Output = None,
    format: commands.FormatOption = None,  # noqa: A002
    full: _Full = False,
) -> None:
    """Plan how many questions are enough to see a difference, or to pass a gate.

    hkcanto plan --discordance 29.3 --gate 2 --loss 0.46
    """
    given = [runs or None, discordance, sd, responses]
    if sum(each is not None for each in given) != 1:
        raise typer.BadParameter(
            "give one of these: the logs of two runs, --discordance, --sd, --responses."
        )
    with errors_without_traceback():
        kind = commands.format_of(output, format)
        from ..reports.estimates import Estimate
        from . import observed, power
        from .report import build, catalogue

        about = ""
        if runs:
            parts = observed.of_runs(runs, metric)
            title = ", ".join(dict.fromkeys(part.of for part in parts))
            about = "Intervals of 95 %, from what the runs disagree on; items of the whole task."
        elif responses:
            parts = observed.of_responses(responses)
            title = f"models as in {responses.name}"
            about = "Medians over the pairs of models; the intervals hold the middle 80 % of them."
        elif discordance is not None:
            spread = power.of_discordance(Estimate(discordance / 100, None, None, 0))
            parts = [observed.Part("any", 0, spread)]
            title = f"a discordance of {discordance:g} %"
        else:
            parts = [observed.Part("any", 0, power.of_deviation((sd or 0.0) / 100))]
            title = f"differences with a standard deviation of {sd:g} points"
        others = [] if runs else catalogue(parts[0].spread, benchmark or ())
        made = build(
            parts,
            others,
            title=f"Plan for {title}",
            about=about,
            sizes=items or (() if runs else _SIZES),
            gates=gate or (2.0,),
            loss=loss,
        )
        commands.write(made, output, kind, full=full)
