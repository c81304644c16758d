"""Options and output shared by the commands."""

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer
from rich.progress import Progress

from ..errors import DataNotFound, OptionError, on_disk
from ..messages import Language, say, speaking, spoken
from .console import echo, err, out

if TYPE_CHECKING:
    from ..results.reports.blocks import Report

_REMEDY = "Give a folder that you can write to and that has room."
Format = Literal["html", "md", "json", "csv", "github"]
"""The formats of a report; all except `github` are also endings of files."""


def option(
    text: str,
    *names: str,
    **settings: Any,
) -> Any:
    """Return an option of a command, with its help."""
    return typer.Option(*names, help=text, **settings)


def argument(
    text: str,
    metavar: str | None = None,
    **settings: Any,
) -> Any:
    """Return an argument of a command, with its help; a default is not shown."""
    settings = {"show_default": False, **settings}
    return typer.Argument(help=text, metavar=metavar, **settings)


_LOGS = "Logs of lm-eval (--log_samples) and Inspect, or folders. NAME=PATH names the model."
LOGS = argument(_LOGS, "LOGS")
ALONE = "Give each task an error of 5 %; by default, all tasks share it."
_OUTPUT = "Write to this file, such as report.html."
_FORMAT = "html, md, json, csv, or github (a pull request comment); by default by the file's name."
Output = Annotated[
    Path | None,
    option(
        _OUTPUT,
        "-o",
        "--output",
        metavar="FILE",
    ),
]
FormatOption = Annotated[Format | None, option(_FORMAT, "--format", metavar="FORMAT")]
_LANGUAGE = "en or zh-Hant, for the terminal, pages and Markdown."


def _speak(context: typer.Context, language: Language) -> Language:
    """Take messages from the catalogue of a language until the command ends."""
    return context.with_resource(speaking(language))


LanguageOption = Annotated[
    Language,
    option(
        _LANGUAGE,
        "--language",
        envvar="HKCANTO_LANGUAGE",
        metavar="LANGUAGE",
        callback=_speak,
    ),
]
"""An option that has its effect when it is read."""
Full = Annotated[
    bool, option("Print everything, with no row or column left out.", "--full")
]


def write(
    report: "Report",
    output: Path | None,
    form: Format | None,
    *,
    full: bool = False,
    logs: Sequence[str] = (),
    choice: Sequence[str] = (),
) -> None:
    """Print a report, or write it to a file and print a short version.

    On the terminal, the commands to paste have the logs that the user gave, and those that compare
    the user's choice among them. A reader that closes the pipe early does not change the exit status.

    Raises:
        DataNotFound: The file cannot be written.
    """
    from ..results.reports.renderers import render
    from ..results.reports.renderers.language import translated

    text = "" if form is None else render(report, form)
    report = _with_logs(report, logs, choice)
    if output is not None:
        write_files({output.name: text}, output.parent)  # a link is replaced
    try:
        report = translated(report)
        if output is not None:
            _print_answer(report)
            kilobytes = len(text.encode()) / 1e3
            written = say(
                "Written: {file} ({size:,.0f} kB)", file=output, size=kilobytes
            )
            echo(spoken(written), to_err=True)
        elif form is not None:
            echo(text)
            if form == "csv":  # CSV has only figures
                for warning in report.warnings:
                    text = say("Warning: {warning}", warning=warning)
                    echo(spoken(text), to_err=True)
        else:
            _print_report(report, full=full)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _with_logs(
    report: "Report", logs: Sequence[str], choice: Sequence[str]
) -> "Report":
    """Return a report whose commands have the user's logs and choice."""
    from ..results.reports.blocks import Block, Note

    if not logs:
        return report
    sections = []
    for section in report.sections:
        blocks = list[Block]()
        for block in section.blocks:
            if isinstance(block, Note) and block.command:
                chosen = ["compare", "LOGS", *map(shlex.quote, choice)]
                command = block.command.replace("compare LOGS", " ".join(chosen))
                command = command.replace("LOGS", shlex.join(logs))
                block = replace(block, command=command)
            blocks.append(block)
        sections.append(replace(section, blocks=blocks))
    return replace(report, sections=sections)


def _print_answer(report: "Report", *, verdict_only: bool = False) -> None:
    """Print the notes that answer the user's question, or the verdict and the next step alone."""
    from ..results.reports.renderers.terminal import show_note

    with out.capture() as shown:
        for note in report.answer:
            if note.level in ("verdict", "next") or not verdict_only:
                show_note(note, out)
    _echo_rendered(shown.get())


def _print_report(report: "Report", *, full: bool) -> None:
    from ..results.reports.renderers.terminal import show

    with out.capture() as shown:
        show(report, out, full=full)
    text = shown.get()
    _echo_rendered(text)
    if text.count("\n") > out.height:  # the beginning is out of sight
        _echo_rendered("\n")
        _print_answer(report, verdict_only=True)


def _echo_rendered(text: str) -> None:
    """Print a text that the console made printable and coloured."""
    typer.echo(text, nl=False, color=True)


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
    with on_disk(folder, "written", _REMEDY):
        root = folder.resolve()
        for path in files:
            parent = (root / path).parent
            if parent != parent.resolve():
                raise OptionError(
                    f"{parent} is in a link, and links are not followed. Give a folder."
                )
        root.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".publish-", dir=root) as drafts:
            # A full disk shows while the drafts are written, before any file is replaced.
            for path, text in files.items():
                draft = Path(drafts, path)
                draft.parent.mkdir(parents=True, exist_ok=True)
                draft.write_text(text, encoding="utf-8")
            for path in files:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                Path(drafts, path).replace(root / path)


def format_of(output: Path | None, chosen: Format | None) -> Format | None:
    """Return the format to write: the chosen one, or the one of the file's ending.

    Raises:
        OptionError: The ending is unknown, the folder is missing, or a folder is in the file's place.
        DataNotFound: The folder cannot be written to.
    """
    if output is None:
        return chosen
    if output.is_dir() or not output.parent.is_dir():
        raise OptionError(
            f"{output} is a folder, or there is no folder {output.parent}. "
            "Give a file in a folder that exists."
        )
    check_folder(output.parent)
    if chosen:
        return chosen
    endings: dict[str, Format] = {f".{form}": form for form in get_args(Format)[:-1]}
    form = endings.get(output.suffix.lower())
    if form is None:
        raise OptionError(
            f"{output}: end the name in {', '.join(endings)}, or choose a --format."
        )
    return form


def check_folder(folder: Path) -> None:
    """Check before the work that files can be written into a folder, which may not exist yet.

    Raises:
        DataNotFound: They cannot.
    """
    existing = folder.resolve()
    while not existing.exists():
        existing = existing.parent
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise DataNotFound(
            f"nothing can be written to {folder}: {existing} is a file, or not yours to write to. "
            f"{_REMEDY}"
        )


@contextmanager
def progress(label: str = "Reading logs") -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on stderr if it is a terminal.

    Yield a function that sets it: done, total. Until it is called, the bar has no end.
    """
    is_hidden = not err.is_terminal
    with Progress(console=err, transient=True, disable=is_hidden) as bar:
        task = bar.add_task(spoken(label), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
