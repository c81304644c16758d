"""The command `hkcanto new`."""

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ..console import errors_without_traceback, print_line, print_row
from .output import option


def new(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The benchmark's name: a to z, digits and _.")
    ],
    kind: Annotated[
        str, option("The kind of task, such as multiple_choice.", "--kind", metavar="KIND")
    ],
    source: Annotated[
        Path | None,
        option("A file with the rows, which is copied.", "--from", metavar="FILE"),
    ] = None,
    into: Annotated[
        Path, option("Make the benchmark's folder in this one.", "--into", metavar="FOLDER")
    ] = Path(),
    force: Annotated[bool, option("Replace a benchmark.toml that is there.", "--force")] = False,
) -> None:
    """Write a commented benchmark.toml, with "?" for everything that the file does not state."""
    from ..new import draft

    with errors_without_traceback():
        columns, questions = draft(name, kind, source, into, force=force)
    print_line(Text(f"Written: {into / name / 'benchmark.toml'}", style="bold"))
    if columns:
        print_line(f"The file's columns: {', '.join(columns)}")
    for question in questions:
        print_row(Text("? ", style="yellow"), question)
    print_line()
    print_line(Text("Answer these, then type" if questions else "Next", style="bold"))
    for command in commands(name, into / name):
        print_line(command)


def commands(task: str, folder: Path) -> list[str]:
    """Return the commands that check a new benchmark and run it in both harnesses."""
    folder = folder.resolve()
    there = os.environ.get("HKCANTO_BENCHMARKS", "")
    known = {Path(name).expanduser().resolve() for name in filter(None, there.split(os.pathsep))}
    lines = [
        f"hkcanto show {task}",
        f"lm_eval --model dummy --tasks {task} --limit 3",
        f"inspect eval hkcanto/run -T task={task} --model mockllm/model --limit 3",
    ]
    if not known & {folder, folder.parent}:
        more = f"{os.pathsep}$HKCANTO_BENCHMARKS" if there else ""
        lines.insert(0, f"export HKCANTO_BENCHMARKS={shlex.quote(str(folder))}{more}")
    return lines
