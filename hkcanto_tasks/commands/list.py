"""The command `hkcanto list`."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Annotated

import typer
from rich.cells import cell_len, set_cell_size
from rich.text import Text

from ..console import Json, errors_without_traceback, out, print_json, print_line

if TYPE_CHECKING:
    from ..catalogue import TaskVariant

_UNLIMITED = 1_000_000  # columns, where the output is no terminal
_SHORTEST_TITLE = 12
_IS = "benchmark from outside cannot be read and is"


def list_(
    text: Annotated[
        str, typer.Argument(metavar="[FILTER]", help="A part of a name, title or benchmark.")
    ] = "",
    as_json: Json = False,
) -> None:
    """List the tasks, one a line, by their names in both harnesses."""
    from ..catalogue import left_out, unknown_subjects
    from ..describing import matching, record

    width = out.width if out.is_terminal else _UNLIMITED
    with errors_without_traceback():
        found = matching(text)
    if as_json:
        print_json([record(task) for task in found])
        return
    for benchmark, tasks in groupby(found, key=attrgetter("benchmark")):
        print_line(Text(benchmark.title, style="bold"))
        for line in lines([*tasks], width):
            print_line(line)
        for lacking in unknown_subjects(benchmark):
            print_line(lacking)
        print_line()
    if all(task.scope == "task" for task in found):
        print_line("hkcanto show TASK tells the rest. A subject is a task, too: <task>_<subject>.")
    if broken := len(left_out()):
        are = "benchmarks from outside cannot be read and are" if broken > 1 else _IS
        print_line(f"{broken} {are} left out: hkcanto doctor says why.")


def lines(tasks: Sequence["TaskVariant"], width: int) -> Iterator[Text]:
    """Lay out tasks of a benchmark, one a line; then the names of their variants and groups.

    Args:
        tasks: The tasks.
        width: Of the terminal, in columns: titles are shortened to fit, or left out. Names are
            never broken.

    Examples:
        >>> from hkcanto_tasks.catalogue import find_task
        >>> for line in lines([find_task("hkcanto_g2p"), find_task("hkcanto_law")], 60):
        ...     print(line)
        lm-eval     Inspect     items shots
        hkcanto_g2p hkcanto/g2p   145     5  Jyutping grapheme-to-p…
        hkcanto_law hkcanto/law   424     5  Hong Kong law 香港法律
        variants  hkcanto_law_mc
    """
    from ..describing import inspect_name, questions_of, short_title, variants_of

    names = [("lm-eval", "Inspect"), *((task.name, inspect_name(task)) for task in tasks)]
    first, second = (max(map(len, column)) for column in zip(*names, strict=True))
    used = first + 1 + second + len(" items shots")
    shots, room = "n" if used > width else "shots", width - used - 2
    yield Text(f"{'lm-eval':{first}} {'Inspect':{second}} items {shots}", style="dim")
    for task, (ours, theirs) in zip(tasks, names[1:], strict=True):
        title = short_title(task)
        if cell_len(title) > room:
            title = f"{set_cell_size(title, room - 1).rstrip()}…" * (room >= _SHORTEST_TITLE)
        counts = f"{questions_of(task) or '':>5} {task.shots:>{len(shots)}}"
        yield Text(f"{ours:{first}} {theirs:{second}} {counts}  {title}".rstrip())
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
