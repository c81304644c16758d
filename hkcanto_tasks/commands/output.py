"""Options and output shared by the commands."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer
from rich.progress import Progress

from ..errors import OptionError, on_disk
from .console import echo, err, out

if TYPE_CHECKING:
    from ..results.reports.blocks import Report

Format = Literal["html", "md", "json", "csv", "github"]
"""The formats of a report; all except `github` are also endings of files."""


def option(text: str, *names: str, **more: Any) -> Any:
    """Return an option of a command, with its help."""
    return typer.Option(*names, help=text, **more)


def argument(text: str, metavar: str | None = None, **more: Any) -> Any:
    """Return an argument of a command, with its help; a default is not shown."""
    return typer.Argument(help=text, metavar=metavar, **{"show_default": False, **more})


_LOGS = "Logs of lm-eval (--log_samples) and Inspect, or folders. NAME=PATH names the model."
LOGS = argument(_LOGS, "LOGS")
_OUTPUT = "Write to this file, such as report.html."
_FORMAT = "html, md, json, csv, or github (a pull request comment); by default by the file's name."
Output = Annotated[Path | None, option(_OUTPUT, "-o", "--output", metavar="FILE")]
FormatOption = Annotated[Format | None, option(_FORMAT, "--format", metavar="FORMAT")]
Full = Annotated[
    bool, option("Print everything, with no row or column left out.", "--full")
]


def write(
    made: "Report", output: Path | None, kind: Format | None, *, full: bool = False
) -> None:
    """Print a report, or write it to a file and print a short version.

    A reader that closes the pipe early does not change the exit status.

    Raises:
        OptionError: The folder is missing, or a folder is in the file's place.
        DataNotFound: The file cannot be written.
    """
    from ..results.reports.renderers import render
    from ..results.reports.renderers.terminal import show, show_note

    text = "" if kind is None else render(made, kind)
    if output is not None:
        if output.is_dir() or not output.parent.is_dir():
            what = f"{output} is a folder, or there is no folder {output.parent}"
            raise OptionError(f"{what}. Give a file in a folder that exists.")
        write_files({output.name: text}, output.parent)  # a link is replaced
    with out.capture() as shown:
        if output is not None:
            for note in made.answer:
                show_note(note, out)
        elif kind is None:
            show(made, out, full=full)
    try:
        # The console made it printable, and added colours.
        typer.echo(shown.get(), nl=False, color=True)
        if output is not None:
            echo(f"Written: {output} ({len(text.encode()) / 1e3:,.0f} kB)", to_err=True)
        elif kind is not None:
            echo(text)
            for warning in (
                made.warnings if kind == "csv" else ()
            ):  # CSV has only figures
                echo(f"Warning: {warning}", to_err=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_files(files: Mapping[str, str], folder: Path) -> None:
    """Write files into a folder: all of them, or none if the disk is full.

    A process that is killed leaves each file whole, old or new. Links in the folder are not
    followed.

    Args:
        files: Path in the folder (with `/`) → text.
        folder: Created if it does not exist.

    Raises:
        OptionError: A folder within it is a link.
        DataNotFound: The operating system refuses.
    """
    with on_disk(
        folder, "written", "Give a folder that you can write to and that has room."
    ):
        root = folder.resolve()
        for path in files:
            parent = (root / path).parent
            if parent != parent.resolve():
                what = f"{parent} is in a link, and links are not followed"
                raise OptionError(f"{what}. Give a folder.")
        root.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".publish-", dir=root) as drafts:
            for path, text in files.items():
                draft = Path(drafts, path)
                draft.parent.mkdir(parents=True, exist_ok=True)
                draft.write_text(text, encoding="utf-8")
            for path in files:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                Path(drafts, path).replace(root / path)


def format_of(output: Path | None, chosen: Format | None) -> Format | None:
    """Return the format to write: the chosen one, or the one of the file's ending."""
    if chosen or output is None:
        return chosen
    endings: dict[str, Format] = {f".{form}": form for form in get_args(Format)[:-1]}
    if form := endings.get(output.suffix.lower()):
        return form
    raise OptionError(
        f"{output}: end the name in {', '.join(endings)}, or choose a --format."
    )


@contextmanager
def progress(what: str = "Reading logs") -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on stderr, and yield a function that sets it: done, total."""
    with Progress(console=err, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
