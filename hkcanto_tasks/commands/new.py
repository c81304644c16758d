"""The command `hkcanto new`."""

import os
import shlex
from pathlib import Path
from typing import Annotated

from rich.text import Text

from ..console import print_line, print_row
from .output import argument, option

_KIND = option("The kind of task, such as multiple_choice.", "--kind", metavar="KIND")
_FROM = option("A file with the rows, which is copied.", "--from", metavar="FILE")
_INTO = option("Make the benchmark's folder in this one.", "--into", metavar="FOLDER")
_FORCE = option("Replace a benchmark.toml that is there.", "--force")


def new(
    name: Annotated[str, argument("The benchmark's name: a to z, digits and _.", "NAME")],
    kind: Annotated[str, _KIND],
    source: Annotated[Path | None, _FROM] = None,
    into: Annotated[Path, _INTO] = Path(),
    force: Annotated[bool, _FORCE] = False,
) -> None:
    """Write a commented benchmark.toml, with "?" for everything that the file does not state."""
    from ..new import draft

    columns, questions = draft(name, kind, source, into, force=force)
    print_line(Text(f"Written: {into / name / 'benchmark.toml'}", style="bold"))
    if columns:
        print_line(f"The file's columns: {', '.join(columns)}")
    for question in questions:
        print_row(Text("? ", style="yellow"), question)
    print_line()
    print_line(Text("Answer these, then type" if questions else "Next", style="bold"))
    folder, there = (into / name).resolve(), os.environ.get("HKCANTO_BENCHMARKS", "")
    known = {Path(place).expanduser().resolve() for place in there.split(os.pathsep) if place}
    if not known & {folder, folder.parent}:
        more = f"{os.pathsep}$HKCANTO_BENCHMARKS" if there else ""
        print_line(f"export HKCANTO_BENCHMARKS={shlex.quote(str(folder))}{more}")
    print_line(f"hkcanto show {name}")
    print_line(f"lm_eval --model dummy --tasks {name} --limit 3")
    print_line(f"inspect eval hkcanto/run -T task={name} --model mockllm/model --limit 3")
