"""The command `hkcanto list`."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Annotated

import typer
from rich.cells import cell_len, set_cell_size
from rich.text import Text

from ..console import (
    Json,
    echo,
    errors_without_traceback,
    out,
    print_json,
    print_line,
)

if TYPE_CHECKING:
    from ..declarations import TaskVariant

_PIPED = ("name", "inspect", "items", "shots", "title")
_SHORTEST_TITLE = 24
_IS = "benchmark cannot be read and is"


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
    for task in () if out.is_terminal else found:
        listed = record(task)
        echo("\t".join(str("" if listed[key] is None else listed[key]) for key in _PIPED))
    for benchmark, tasks in groupby(found if out.is_terminal else (), attrgetter("benchmark")):
        print_line(Text(benchmark.title, style="bold"))
        for line in lines([*tasks], out.width):
            print_line(line)
        print_line()
    if out.is_terminal and all(task.scope == "task" for task in found):
        print_line("`hkcanto show TASK` shows one. A subject is a task too: <task>_<subject>.")
    if lacking := len(left_out()):
        are = "benchmarks cannot be read and are" if lacking > 1 else _IS
        echo(f"{lacking} {are} left out: `hkcanto doctor` says why.", to_err=True)


def lines(tasks: Sequence["TaskVariant"], width: int) -> Iterator[Text]:
    """Lay out the tasks of a benchmark, then the names of their variants and groups.

    Args:
        tasks: The tasks.
        width: Width of the terminal, in columns. If a line has no room for titles, Inspect's name
            goes on its own line. Names are never broken; long titles are cut.

    Examples:
        >>> from hkcanto_tasks.catalogue import find_task
        >>> for line in lines([find_task("hkcanto_g2p"), find_task("hkcanto_law")], 70):
        ...     print(line)
        lm-eval     Inspect     items shots
        hkcanto_g2p hkcanto/g2p   145     5  Jyutping grapheme-to-phoneme 粵…
        hkcanto_law hkcanto/law   424     5  Hong Kong law 香港法律
        variants  hkcanto_law_mc
        >>> for line in lines([find_task("hkcanto_law")], 50):
        ...     print(line)
        lm-eval     items shots
        hkcanto_law   424     5  Hong Kong law 香港法律
          hkcanto/law
        variants  hkcanto_law_mc
    """
    from ..describing import inspect_name, items_of_run, short_title, variants_of

    inspect_names = [inspect_name(task) for task in tasks]
    first = max(len("lm-eval"), *(len(task.name) for task in tasks))
    second = max(len("Inspect"), *map(len, inspect_names)) + 1
    counts = len(" items shots  ")
    beside = width - first - second - counts >= _SHORTEST_TITLE
    room = width - first - counts - (second if beside else 0)
    head = f"{' Inspect':{second}}" if beside else ""
    yield Text(f"{'lm-eval':{first}}{head} items shots", style="dim")
    for task, theirs in zip(tasks, inspect_names, strict=True):
        title = short_title(task)
        if cell_len(title) > room:
            title = f"{set_cell_size(title, room - 1).rstrip()}…" if room > 1 else ""
        name = f"{task.name:{first}}" + (f" {theirs:{second - 1}}" if beside else "")
        yield Text(f"{name} {items_of_run(task) or '':>5} {task.shots:>5}  {title}".rstrip())
        if not beside and theirs:
            yield Text(f"  {theirs}", style="dim")
    whole = [task.definition for task in tasks if task.scope == "task"]
    variants = [variant for definition in whole for variant in variants_of(definition)]
    variants.sort(key=lambda task: task.definition.variants.index(task.variant))
    benchmark, groups = tasks[0].benchmark, []
    if benchmark.averages and len(whole) == len(benchmark.tasks):
        of_group = (each.name for each in benchmark.averages if len(each.columns) == 1)
        groups = [benchmark.name, *of_group]
    for label, listed in (("variants", [task.name for task in variants]), ("groups", groups)):
        folded = TextWrapper(width, f"{label:10}", " " * 10, break_long_words=False)
        yield from (Text(line, style="dim") for line in folded.wrap(" ".join(listed)))
