"""The command `hkcanto doctor`."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from ..console import (
    Json,
    errors_without_traceback,
    out,
    print_json,
    print_line,
    print_row,
)
from .data import Name, chosen

if TYPE_CHECKING:
    from ..doctor import Finding


def doctor(benchmark: Name = None, as_json: Json = False) -> None:
    """Check versions, harnesses and data; exit status 1 if something is wrong."""
    from ..doctor import data, harnesses, installed, outside, versions

    with errors_without_traceback():
        wanted = chosen(benchmark)
    found = [*harnesses(), *map(data, wanted), *(outside() if benchmark is None else ())]
    if as_json:
        print_json({"versions": installed(), "findings": [asdict(each) for each in found]})
    else:
        print_row(Text(), Text(versions(), style="dim"))
        print_findings(found, all_of_it=benchmark is not None)
    if any(each.good is False for each in found):
        raise typer.Exit(1)


def print_findings(found: Sequence["Finding"], *, all_of_it: bool = False) -> None:
    """Print findings, in about 20 lines unless all details are wanted."""
    from ..doctor import shortened

    marks = {True: ("✓ ", "green"), False: ("✗ ", "red"), None: ("· ", "dim")}
    troubled = [each for each in found if each.details]
    room = 1 if len(troubled) > 2 else 4
    for each in found:
        print_row(Text(*marks[each.good]), each.text)
        shown = each.details if all_of_it else [shortened(line) for line in each.details[:room]]
        for line in shown:
            detail = Text(f"    {line}", style="dim")
            if all_of_it or not out.is_terminal:
                print_line(detail)
            else:
                out.print(detail, no_wrap=True, overflow="ellipsis")
        if hidden := len(each.details) - len(shown):
            print_line(Text(f"    … and {hidden} more", style="dim"))
    for command in dict.fromkeys(each.command for each in found if each.command):
        print_line(Text.assemble(("next: ", "bold"), command))
