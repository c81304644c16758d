"""The command `hkcanto fertility`."""

from typing import Annotated

import typer

from ..console import errors_without_traceback
from . import output as shared


def fertility(
    tokenizers: Annotated[
        list[str],
        typer.Argument(
            metavar="TOKENIZERS",
            help="Hub ids, folders, tokenizer.json files, or tiktoken:o200k_base. NAME=TOKENIZER "
            "names one.",
            show_default=False,
        ),
    ],
    benchmark: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this benchmark or task; may be repeated."),
    ] = None,
    output: shared.Output = None,
    format: shared.FormatOption = None,  # noqa: A002
    full: Annotated[bool, typer.Option("--full", help="Also print a row for each task.")] = False,
) -> None:
    """Count tokens per character of each benchmark's items.

    hkcanto fertility Qwen/Qwen3-8B tiktoken:o200k_base
    """
    with errors_without_traceback():
        kind = shared.format_of(output, format)
        from ..results.fertility.report import report

        shared.write(report(tokenizers, benchmark), output, kind, full=full)
