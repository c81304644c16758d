"""The command `hkcanto estimate`."""

from typing import Annotated

import typer

from ..console import errors_without_traceback
from . import output as shared

_TASKS = typer.Argument(
    metavar="TASKS", help="Tasks or benchmarks; see hkcanto list.", show_default=False
)
_TOKENIZER = "Hub id, folder or tokenizer.json. Without one, tokens are guessed."
_FROM = (
    "Logs of a short run (--limit), to measure tokens and seconds instead of guessing; may be "
    "repeated. Without TASKS, estimate the tasks of these logs."
)
_Speed = Annotated[
    float | None,
    typer.Option(metavar="N", help="Tokens a second, prompts and answers.", min=0.001),
]
_PriceIn = Annotated[
    float | None, typer.Option(metavar="X", help="Price of a million prompt tokens.", min=0)
]
_PriceOut = Annotated[
    float | None, typer.Option(metavar="X", help="Price of a million answer tokens.", min=0)
]


def estimate(
    tasks: Annotated[list[str] | None, _TASKS] = None,
    logs: Annotated[list[str] | None, shared.option(_FROM, "--from", metavar="LOGS")] = None,
    tokenizer: Annotated[str | None, typer.Option(metavar="NAME", help=_TOKENIZER)] = None,
    speed: _Speed = None,
    price_in: _PriceIn = None,
    price_out: _PriceOut = None,
    output: shared.Output = None,
    format: shared.FormatOption = None,  # noqa: A002
) -> None:
    """Estimate requests, tokens, prefix cache hits, time and cost of a run.

    hkcanto estimate hkmmlu --tokenizer Qwen/Qwen3-8B --speed 20000
    hkcanto estimate hkmmlu --from logs/
    """
    with errors_without_traceback():
        if (price_in is None) != (price_out is None):
            raise typer.BadParameter("give both prices, --price-in and --price-out, or none.")
        if not tasks and not logs:
            raise typer.BadParameter("give tasks or benchmarks (hkcanto list), or --from LOG.")
        kind = shared.format_of(output, format)
        prices = None if price_in is None or price_out is None else (price_in, price_out)
        from ..results.planning.requests import report

        made = report(tasks, logs or (), tokenizer, speed, prices)
        shared.write(made, output, kind, full=True)
