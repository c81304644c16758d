"""The command `hkcanto estimate`."""

from typing import Annotated

import typer

from ..console import errors_without_traceback
from . import output as shared

_TASKS = typer.Argument(help="Tasks or benchmarks (hkcanto list).", show_default=False)
_TOKENIZER = "A tokenizer.json, its folder, a hub id, or tiktoken:NAME; else by characters."
_FROM = (
    "Log or folder of logs of a quick look (--limit), for the tokens and seconds it took; may be "
    "repeated. Without tasks, of the tasks that it has."
)
_Speed = Annotated[
    float | None, typer.Option(help="Tokens a second, of prompts and answers.", min=0.001)
]
_Price = Annotated[float | None, typer.Option(help="Of a million tokens.", min=0)]


def estimate(
    tasks: Annotated[list[str] | None, _TASKS] = None,
    logs: Annotated[list[str] | None, shared.option(_FROM, "--from")] = None,
    tokenizer: Annotated[str | None, typer.Option(help=_TOKENIZER)] = None,
    speed: _Speed = None,
    price_in: _Price = None,
    price_out: _Price = None,
    output: shared.Output = None,
    format: shared.FormatOption = None,  # noqa: A002
) -> None:
    """Estimate a run before it is made: requests, tokens, what a prefix cache serves, time, cost.

    hkcanto estimate hkmmlu --tokenizer Qwen/Qwen3-8B --speed 20000 --price-in 0.5 --price-out 1.5
    hkcanto estimate hkmmlu --from logs/
    """
    with errors_without_traceback():
        if (price_in is None) != (price_out is None):
            raise typer.BadParameter("give both prices, --price-in and --price-out, or none.")
        if not tasks and not logs:
            raise typer.BadParameter("give tasks or benchmarks (hkcanto list), or --from LOG.")
        kind = shared.format_of(output, format)
        prices = None if price_in is None or price_out is None else (price_in, price_out)
        if logs:
            from ..planning.measured import report as measured

            made = measured(tasks, logs, tokenizer, speed, prices)
        else:
            from ..planning.requests import report

            made = report(tasks, tokenizer, speed, prices)
        shared.write(made, output, kind, full=True)
