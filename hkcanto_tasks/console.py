"""What the commands print to, and how they end when something is wrong."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from .errors import HKCantoError

out = Console()
err = Console(stderr=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for a script.")]


@contextmanager
def errors_without_traceback(status: int = 1) -> Iterator[None]:
    """End the command with a message instead of a traceback where hkcanto refuses to go on.

    Args:
        status: The exit status then.
    """
    try:
        yield
    except HKCantoError as error:
        print_error(error)
        raise typer.Exit(status) from error


def print_error(error: HKCantoError) -> None:
    """Print why hkcanto refuses to go on."""
    said = f"[red]{type(error).__name__}:[/red] {escape(str(error))}"
    err.print(said, soft_wrap=not err.is_terminal)


def print_json(record: object) -> None:
    """Print a record as JSON."""
    typer.echo(json.dumps(record, ensure_ascii=False, indent=2))


def print_row(head: Text, text: Text | str) -> None:
    """Print a line, which a terminal folds beside its head."""
    text = Text(text) if isinstance(text, str) else text
    if not out.is_terminal:
        print_line(head + text)
        return
    row = Table.grid()
    row.add_column(width=head.cell_len, no_wrap=True)
    row.add_column(overflow="fold")
    row.add_row(head, text)
    out.print(row)


def print_line(text: Text | str = "") -> None:
    """Print a line as it is: names and commands in it can be copied."""
    out.print(text, soft_wrap=True, markup=False, highlight=False, emoji=False)
