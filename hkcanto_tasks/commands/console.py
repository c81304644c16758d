"""Consoles, printing and error handling of the commands."""

import io
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from ..errors import DataNotFound, HKCantoError, PathNotFound
from ..printable import printable


class _SafeConsole(Console):
    """A console that escapes control characters, since names in logs and benchmarks are untrusted.

    Rich's own control sequences, such as colours, are not part of a segment's text.
    """

    def render(
        self,
        renderable: Any,
        options: Any = None,
    ) -> Iterable[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text), style, control)


class _PlainHelp:
    """A command whose `--help` leaves out the Python types of switches and arguments."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
            elif parameter.param_type_name == "argument":
                parameter.display_type_rich = lambda **_: None  # since typer 0.25
        return parameters


class Command(_PlainHelp, TyperCommand):
    """A command of `hkcanto`."""


class Group(_PlainHelp, TyperGroup):
    """A group of commands under one name, such as `hkcanto data`."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; characters that the output's encoding lacks are printed as escapes."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        with errors_without_traceback():
            return super().invoke(ctx)


out = _SafeConsole()
err = _SafeConsole(stderr=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for a script.")]


@contextmanager
def errors_without_traceback(status: int = 1) -> Iterator[None]:
    """End the command with a message, not a traceback, after an error of hkcanto or the system.

    Args:
        status: The exit status after an error.
    """
    try:
        yield
    except BrokenPipeError:  # `hkcanto … | head`: the library ends the command
        raise
    except (HKCantoError, OSError) as error:
        if isinstance(error, OSError):
            with suppress(OSError):  # drop the rest of the output to a full disk
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            error = DataNotFound(
                f"{error.filename or 'the output'} cannot be read or written: "
                f"{error.strerror or error}. Make room, or correct the name."
            )
        print_error(error)
        # As for a wrong option or argument, in every command.
        raise typer.Exit(2 if isinstance(error, PathNotFound) else status) from error


def echo(text: object, *, to_err: bool = False) -> None:
    """Print a text: unchanged to a pipe or file, but made printable on a terminal."""
    stream = sys.stderr if to_err else sys.stdout
    typer.echo(printable(str(text)) if stream.isatty() else text, err=to_err)


def print_error(error: HKCantoError) -> None:
    """Print an error of hkcanto."""
    text = f"[red]{type(error).__name__}:[/red] {escape(str(error))}"
    err.print(text, soft_wrap=not err.is_terminal)


def print_json(record: object) -> None:
    """Print a record as JSON."""
    echo(json.dumps(record, ensure_ascii=False, indent=2))


def print_row(head: Text, text: Text | str) -> None:
    """Print a line with a head; a terminal wraps the text beside the head."""
    if isinstance(text, str):
        text = Text(text)
    if not out.is_terminal:
        print_line(head + text)
        return
    row = Table.grid()
    row.add_column(width=head.cell_len, no_wrap=True)
    row.add_column(overflow="fold")
    row.add_row(head, text)
    out.print(row)


def print_line(text: Text | str = "") -> None:
    """Print a line without wrapping or markup, so that names and commands can be copied."""
    out.print(
        text,
        soft_wrap=True,
        markup=False,
        highlight=False,
        emoji=False,
    )
