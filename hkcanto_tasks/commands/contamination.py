"""The command `hkcanto contamination`."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import DataCorrupt
from .console import errors_without_traceback
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

_FILES = "JSON Lines with any fields, JSON, Parquet or plain text; also .gz and .zst."
_BENCHMARK = option("Only this benchmark or task; may be repeated.", metavar="NAME")


def contamination(
    files: Annotated[
        list[Path],
        argument(
            _FILES,
            "FILES",
            exists=True,
            dir_okay=False,
        ),
    ],
    benchmark: Annotated[list[str] | None, _BENCHMARK] = None,
    output: Output = None,
    format: FormatOption = None,  # noqa: A002
    full: Full = False,
) -> None:
    """Find benchmark items in training files, in either script.

    hkcanto contamination sft.jsonl corpus/*.txt.gz

    Exit status: 0 if no item is found, 1 if one is, 2 if a file or the
    data cannot be read.
    """
    with errors_without_traceback(status=2):
        form = format_of(output, format)
        from ..results.contamination import report as report_on

        try:
            with progress("Searching"):
                report, is_contaminated = report_on(files, benchmark)
        # Otherwise the exit status would be that of contaminated files.
        except MemoryError as error:
            raise DataCorrupt(
                "Out of memory; not all files were searched. Split .json files into .jsonl, which "
                "are read line by line, or give fewer files at once."
            ) from error
        write(
            report,
            output,
            form,
            full=full,
        )
    raise typer.Exit(int(is_contaminated))
