"""The command `hkcanto list`."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any

from rich.table import Table
from rich.text import Text

from .console import Json, echo, out, print_json, print_line, print_row
from .output import argument, option

if TYPE_CHECKING:
    from ..declarations import Benchmark

_FILTER = argument("A part of a name, title or benchmark.", "FILTER")
_ALL = option("Also list the public sets that run by their names.", "--all")
_PIPED = ("name", "inspect", "items", "shots", "title")
_LEGEND = (
    "Variants: _cot: chain of thought; _sc: Simplified script;",
    "_0shot: no worked examples; _mc: likelihoods of the letters;",
    "_bpc: bits per character of the right answer.",
    "`hkcanto show TASK` shows one. A subject is a task too: <task>_<subject>.",
    "`hkcanto list --all` has public sets too; `hkcanto data fetch NAME` gets one.",
)


def list_(
    text: Annotated[str, _FILTER] = "",
    with_sets: Annotated[bool, _ALL] = False,
    as_json: Json = False,
) -> None:
    """List the tasks by their names in both harnesses.

    A pipe or file gets one task a line, tab-separated: name in lm-eval,
    name in Inspect, items, shots and title.
    """
    from ..describing import matching, origin, record

    tasks = matching(text, with_sets=with_sets)
    if as_json:
        print_json([record(task) for task in tasks])
    elif out.is_terminal:
        for benchmark, benchmark_tasks in groupby(tasks, attrgetter("benchmark")):
            about = origin(benchmark)
            _print_benchmark(benchmark, map(record, benchmark_tasks), about)
        for line in _LEGEND:
            print_line(line)
    else:
        for listed in map(record, tasks):
            echo("\t".join(str(listed[key]) for key in _PIPED))


def _print_benchmark(
    benchmark: "Benchmark",
    tasks: Iterable[Mapping[str, Any]],
    about: Mapping[str, str],
) -> None:
    """Print the tasks of a benchmark, then the names of their variants and groups.

    Args:
        benchmark: The benchmark.
        tasks: The records of its tasks.
        about: Label → what is known of a public set.
    """
    table = Table(
        box=None,
        padding=(0, 1, 0, 0),
        header_style="dim",
    )
    table.add_column("in lm-eval and Inspect", no_wrap=True)
    table.add_column("items", justify="right", no_wrap=True)
    table.add_column("shots", justify="right", no_wrap=True)
    table.add_column("title")
    variants = list[str]()
    for task in tasks:
        names = Text.assemble(task["name"], (f"\n  {task['inspect']}", "dim"))
        items = str(task["items"] or "")
        table.add_row(
            names,
            items,
            str(task["shots"]),
            Text(task["title"]),
        )
        variants += task["variants"]
    print_line(Text.assemble((benchmark.title, "bold"), f" ({benchmark.name})"))
    out.print(table)
    for label, known in about.items():
        print_row(Text(f"{label}: ", style="dim"), known)
    _print_names("variants", variants)
    _print_names("groups", _groups(benchmark))
    print_line()


def _groups(benchmark: "Benchmark") -> list[str]:
    """Return the names of a benchmark's groups in lm-eval."""
    if not benchmark.averages:
        return []
    groups = [benchmark.name]
    for average in benchmark.averages:
        if len(average.columns) == 1:
            groups.append(average.name)
    return groups


def _print_names(label: str, names: Sequence[str]) -> None:
    if names:
        out.print(Text(f"{label}: {' '.join(names)}", style="dim"))
