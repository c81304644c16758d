"""The command `hkcanto estimate`."""

from typing import Annotated

import typer

from .output import FormatOption, Output, argument, format_of, option, progress, write

_TASKS = argument("Tasks or benchmarks; see hkcanto list.", "TASKS")
_FROM = (
    "Logs of a short run (--limit), to measure tokens and seconds instead of guessing; may be "
    "repeated. Without TASKS, estimate the tasks of these logs."
)
_TOKENIZER = "Hub id, folder or tokenizer.json. Without one, tokens are guessed."
_SPEED = option("Tokens a second, prompts and answers.", metavar="N", min=0.001)
_PRICE_IN = option("Price of a million prompt tokens.", metavar="X", min=0)
_PRICE_OUT = option("Price of a million answer tokens.", metavar="X", min=0)


def estimate(
    tasks: Annotated[list[str] | None, _TASKS] = None,
    logs: Annotated[list[str] | None, option(_FROM, "--from", metavar="LOGS")] = None,
    tokenizer: Annotated[str | None, option(_TOKENIZER, metavar="NAME")] = None,
    speed: Annotated[float | None, _SPEED] = None,
    price_in: Annotated[float | None, _PRICE_IN] = None,
    price_out: Annotated[float | None, _PRICE_OUT] = None,
    output: Output = None,
    format: FormatOption = None,  # noqa: A002
) -> None:
    """Estimate requests, tokens, prefix cache hits, time and cost of a run.

    hkcanto estimate hkmmlu --tokenizer Qwen/Qwen3-8B --speed 20000
    hkcanto estimate hkmmlu --from logs/
    """
    if (price_in is None) != (price_out is None):
        raise typer.BadParameter(
            "give both prices, --price-in and --price-out, or none."
        )
    if not tasks and not logs:
        raise typer.BadParameter(
            "give tasks or benchmarks (hkcanto list), or --from LOG."
        )
    form = format_of(output, format)
    from ..results.planning.requests import report as report_on

    prices = None
    if price_in is not None and price_out is not None:
        prices = (price_in, price_out)
    with progress("Estimating"):
        report = report_on(
            tasks,
            logs or (),
            tokenizer,
            speed,
            prices,
        )
    write(
        report,
        output,
        form,
        full=True,
    )
