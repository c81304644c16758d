"""What the commands print to, and how they end when something is wrong."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from .errors import HKCantoError
from .printable import printable


class _SafeConsole(Console):
    """A console whose texts cannot act on the terminal: names in logs and benchmarks are foreign.

    What rich itself sends, such as colours, is no text of a segment.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text), style, control)


class _PlainHelp:
    """A command whose `--help` gives no Python types for switches and arguments."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for each in parameters:
            if getattr(each, "is_flag", False):
                each.metavar = ""
            elif each.param_type_name == "argument":
                each.display_type_rich = lambda **_: None  # since typer 0.25
        return parameters


class Command(_PlainHelp, TyperCommand):
    """A command of `hkcanto`."""


class Group(_PlainHelp, TyperGroup):
    """Several commands under one name, such as `hkcanto data`."""


out = _SafeConsole()
err = _SafeConsole(stderr=True)

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


def echo(text: object, *, to_err: bool = False) -> None:
    """Print a text for scripts: as it is into a pipe or a file, and printable on a terminal."""
    stream = sys.stderr if to_err else sys.stdout
    typer.echo(printable(str(text)) if stream.isatty() else text, err=to_err)


def print_error(error: HKCantoError) -> None:
    """Print why hkcanto refuses to go on."""
    said = f"[red]{type(error).__name__}:[/red] {escape(str(error))}"
    err.print(said, soft_wrap=not err.is_terminal)


def print_json(record: object) -> None:
    """Print a record as JSON."""
    echo(json.dumps(record, ensure_ascii=False, indent=2))


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
