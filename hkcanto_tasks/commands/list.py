"""The command `hkcanto list`."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from ..console import Json, echo, errors_without_traceback, out, print_json, print_line

if TYPE_CHECKING:
    from ..declarations import Benchmark, TaskVariant

_PIPED = ("name", "inspect", "items", "shots", "title")


def list_(
    text: Annotated[
        str, typer.Argument(metavar="FILTER", help="A part of a name, title or benchmark.")
    ] = "",
    as_json: Json = False,
) -> None:
    """List the tasks by their names in both harnesses.

    A pipe or file gets one task a line, tab-separated: name in lm-eval,
    name in Inspect, items, shots and title.
    """
    from ..catalogue import left_out
    from ..describing import matching, record

    with errors_without_traceback():
        found = matching(text)
    if as_json:
        print_json([record(task) for task in found])
        return
    if out.is_terminal:
        for benchmark, tasks in groupby(found, attrgetter("benchmark")):
            _print(benchmark, [*tasks])
        print_line("Variants: _cot: chain of thought; _sc: Simplified script;")
        print_line("_0shot: no worked examples; _mc: likelihoods of the letters;")
        print_line("_bpc: bits per character of the right answer.")
        print_line("`hkcanto show TASK` shows one. A subject is a task too: <task>_<subject>.")
    else:
        for task in found:
            listed = record(task)
            echo("\t".join(str(listed[key]) for key in _PIPED))
    if lacking := len(left_out()):
        what = "benchmark is" if lacking == 1 else "benchmarks are"
        echo(f"{lacking} {what} left out: `hkcanto doctor` says why.", to_err=True)


def _print(benchmark: "Benchmark", tasks: Sequence["TaskVariant"]) -> None:
    """Print the tasks of a benchmark, then the names of their variants and groups."""
    from ..describing import record

    listed = [record(task) for task in tasks]
    print_line(Text(benchmark.title, style="bold"))
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("in lm-eval and Inspect", no_wrap=True)
    table.add_column("items", justify="right", no_wrap=True)
    table.add_column("shots", justify="right", no_wrap=True)
    table.add_column("title")
    for task in listed:
        names = Text.assemble(task["name"], (f"\n  {task['inspect']}", "dim"))
        table.add_row(names, str(task["items"] or ""), str(task["shots"]), Text(task["title"]))
    out.print(table)
    groups = [benchmark.name] if benchmark.averages else []
    groups += [average.name for average in benchmark.averages if len(average.columns) == 1]
    variants = [name for task in listed for name in task["variants"]]
    for label, further in (("variants", variants), ("groups", groups)):
        if further:
            out.print(Text(f"{label}: {' '.join(further)}", style="dim"))
    print_line()
