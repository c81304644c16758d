"""The command `hkcanto list`."""

from typing import Annotated

import typer
from rich.text import Text

from ..console import Json, errors_without_traceback, out, print_json, print_line


def list_(
    text: Annotated[
        str, typer.Argument(metavar="[FILTER]", help="A part of a name, title or benchmark.")
    ] = "",
    as_json: Json = False,
) -> None:
    """List the tasks, one a line, by their names in both harnesses."""
    from ..describing import lines, matching, more_names, record

    width = out.width if out.is_terminal else None
    with errors_without_traceback():
        found = matching(text)
    if as_json:
        print_json([record(task) for _, tasks in found for task in tasks])
        return
    for benchmark, tasks in found:
        print_line(Text(benchmark.title, style="bold"))
        head, *rows = lines(tasks, width)
        print_line(Text(head, style="dim"))
        for row in rows:
            print_line(Text(row))
        for row in more_names(tasks, width):
            print_line(Text(row, style="dim"))
        print_line()
    if len({task.scope for _, tasks in found for task in tasks} - {"task"}) == 0:
        print_line("hkcanto show TASK tells the rest. A subject is a task, too: <task>_<subject>.")
