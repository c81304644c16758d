"""The command `hkcanto show`."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from rich.table import Column, Table
from rich.text import Text

from ..errors import OptionError
from . import output as shared
from .console import Json, out, print_json, print_line, print_row

if TYPE_CHECKING:
    from ..describing import Description

_TASK = shared.argument("A task, by its name in lm-eval or Inspect.")
_OPTION = shared.option("As in inspect eval.", "--option", "-T", metavar="NAME=VALUE")


def show(
    task: Annotated[str, _TASK],
    shots: Annotated[
        int | None, shared.option("Worked examples.", metavar="N", min=0)
    ] = None,
    option: Annotated[list[str] | None, _OPTION] = None,
    as_json: Json = False,
) -> None:
    """Show a task: commands, prompt, figures, options and signature."""
    from ..describing import describe

    given = {}
    for text in option or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise OptionError(
                f"-T {text}: an option is given as name=value: -T prompt=yue."
            )
        given[name] = value
    described = describe(task, given, shots)
    print_json(described.record()) if as_json else _show(described)


def _show(of: "Description") -> None:
    from ..describing import UNITS, WAYS

    print_line(Text(of.task.name, style="bold"))
    print_line(of.title)
    indent = max(map(len, of.facts)) + 2
    for label, fact in of.facts.items():
        head = Text(f"{label:{indent}}", style="dim")
        if label in of.commands:  # to be copied
            print_line(Text.assemble(head, fact))
        else:
            print_row(head, fact)
    _section("Prompt")
    print_line(Text(of.origin, style="dim"))
    for line in of.prompt.splitlines():
        print_row(Text("│ ", style="dim"), line)
    if of.answer:
        print_row(Text("→ ", style="green"), of.answer)
    figures = (
        (
            one.name,
            f"{WAYS[one.higher_is_better]} {UNITS[one.unit]}",
            f"{one.title}. {one.help}",
        )
        for one in of.figures
    )
    _section("Figures, the headline first", figures)
    options = (
        (
            name,
            f"default {default}",
            f"{does.replace('`', '')} Values: {values}.".strip(),
        )
        for name, values, default, does in of.options
    )
    title = (
        "Options: --metadata '{\"name\": value}' in lm-eval, -T name=value in Inspect"
    )
    _section(title, options)
    if len(of.task.subjects) > 1:
        _section("Subjects")
        out.print(Text(" ".join(subject.name for subject in of.task.subjects)))


def _section(title: str, rows: Iterable[tuple[str, str, str]] = ()) -> None:
    print_line()
    print_line(Text(title, style="bold"))
    grid = Table.grid(
        Column(no_wrap=True), Column(no_wrap=True, style="dim"), padding=(0, 2)
    )
    grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*map(Text, row))
    if grid.row_count:
        out.print(grid)
