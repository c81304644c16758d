"""The command `hkcanto show`."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

from rich.table import Column, Table
from rich.text import Text

from ..errors import OptionError
from . import output as shared
from .console import Json, out, print_json, print_line, print_row

if TYPE_CHECKING:
    from ..describing import Description

GridRow = tuple[str, str, str]
"""A name, what it is in short, and its effect."""

_TASK = shared.argument("A task, by its name in lm-eval or Inspect.")
_OPTION = shared.option(
    "As in inspect eval.",
    "--option",
    "-T",
    metavar="NAME=VALUE",
)


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

    description = describe(task, _options(option or ()), shots)
    if as_json:
        print_json(description.record())
    else:
        _print_description(description)


def _options(texts: Iterable[str]) -> dict[str, str]:
    """Parse the options that are given as `name=value`."""
    options = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise OptionError(
                f"-T {text}: an option is given as name=value: -T prompt=yue."
            )
        options[name] = value
    return options


def _print_description(description: "Description") -> None:
    task = description.task
    print_line(Text(task.name, style="bold"))
    print_line(description.title)
    _print_facts(description)
    _print_heading("Prompt")
    print_line(Text(description.origin, style="dim"))
    for line in description.prompt.splitlines():
        print_row(Text("│ ", style="dim"), line)
    if description.answer:
        print_row(Text("→ ", style="green"), description.answer)
    _print_heading("Figures, the headline first")
    _print_grid(_figure_rows(description))
    _print_heading(
        "Options: --metadata '{\"name\": value}' in lm-eval, -T name=value in Inspect"
    )
    _print_grid(_option_rows(description))
    if len(task.subjects) > 1:
        _print_heading("Subjects")
        out.print(Text(" ".join(subject.name for subject in task.subjects)))


def _print_facts(description: "Description") -> None:
    indent = max(map(len, description.facts)) + 2
    for label, fact in description.facts.items():
        head = Text(f"{label:{indent}}", style="dim")
        if label in description.commands:  # to be copied
            print_line(Text.assemble(head, fact))
        else:
            print_row(head, fact)


def _figure_rows(description: "Description") -> Iterator[GridRow]:
    from ..describing import UNITS, WAYS

    for figure in description.figures:
        direction_and_range = f"{WAYS[figure.higher_is_better]} {UNITS[figure.unit]}"
        yield figure.name, direction_and_range, f"{figure.title}. {figure.help}"


def _option_rows(description: "Description") -> Iterator[GridRow]:
    for name, values, default, effect in description.options:
        text = f"{effect.replace('`', '')} Values: {values}.".strip()
        yield name, f"default {default}", text


def _print_heading(title: str) -> None:
    print_line()
    print_line(Text(title, style="bold"))


def _print_grid(rows: Iterable[GridRow]) -> None:
    grid = Table.grid(
        Column(no_wrap=True), Column(no_wrap=True, style="dim"), padding=(0, 2)
    )
    grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*map(Text, row))
    if grid.row_count:
        out.print(grid)
