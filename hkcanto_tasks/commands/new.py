"""The command `hkcanto new`."""

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from ..console import err, errors_without_traceback, print_line, print_row
from .output import option

if TYPE_CHECKING:
    from ..declaring.declaration import Declared


def new(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The benchmark's name: a to z, digits and _.")
    ],
    source: Annotated[
        str,
        option(
            "A file or folder, or owner/name on the hub, also with @revision.",
            "--from",
            metavar="FILE_OR_REPO",
        ),
    ],
    into: Annotated[
        Path, option("Make the benchmark's folder in this one.", "--into", metavar="FOLDER")
    ] = Path(),
    force: Annotated[bool, option("Replace files that are there.", "--force")] = False,
) -> None:
    """Write a first benchmark.toml from the rows of a data set, and ask about doubts."""
    from ..declaring.declaration import declare

    with errors_without_traceback():
        with err.status(f"Looking at {source}"):
            made = declare(name, source, into, force=force)
        _show(made)


def _show(made: "Declared") -> None:
    print_line(Text(f"Written: {made.folder / 'benchmark.toml'}", style="bold"))
    for line in (*made.recognised, *made.remarks):
        print_line(line)
    for doubt in made.doubts:
        print_row(Text("? ", style="yellow"), doubt.question)
    if made.problem:
        print_line()
        print_row(Text("It does not load yet: ", style="red"), made.problem)
    print_line()
    print_line(Text("Then type" if made.doubts or made.problem else "Next", style="bold"))
    for command in commands(made):
        print_line(command)


def commands(made: "Declared") -> list[str]:
    """Return the commands that check a new benchmark and run it in both harnesses."""
    task, folder = made.tasks[0], made.folder.resolve()
    there = os.environ.get("HKCANTO_BENCHMARKS", "")
    known = {Path(each).expanduser().resolve() for each in filter(None, there.split(os.pathsep))}
    more = f"{os.pathsep}$HKCANTO_BENCHMARKS" if there else ""
    named = f"export HKCANTO_BENCHMARKS={shlex.quote(str(folder))}{more}"
    return [
        *[named] * (not known & {folder, folder.parent}),
        f"hkcanto show {task}",
        f"lm_eval --model dummy --tasks {task} --limit 3",
        f"inspect eval hkcanto/run -T task={task} --model mockllm/model --limit 3",
    ]
