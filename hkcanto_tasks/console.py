"""What the commands print to, and how they end when something is wrong."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.markup import escape

from .errors import HKCantoError

out = Console()
err = Console(stderr=True)


@contextmanager
def errors_without_traceback(status: int = 1) -> Iterator[None]:
    """End the command with a message instead of a traceback where hkcanto refuses to go on.

    Args:
        status: The exit status then.
    """
    try:
        yield
    except HKCantoError as error:
        said = f"[red]{type(error).__name__}:[/red] {escape(str(error))}"
        err.print(said, soft_wrap=not err.is_terminal)
        raise typer.Exit(status) from error
