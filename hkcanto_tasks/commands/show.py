"""The command `hkcanto show`."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Column, Table
from rich.text import Text

from ..console import (
    Json,
    errors_without_traceback,
    out,
    print_json,
    print_line,
    print_row,
)
from ..errors import OptionError

if TYPE_CHECKING:
    from ..describing import Description, FirstItems


def show(
    task: Annotated[str, typer.Argument(help="A name in lm-eval or Inspect: hkcanto/mmlu.")],
    shots: Annotated[int | None, typer.Option(metavar="N", min=0, help="Worked examples.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-T", metavar="NAME=VALUE", help="As in inspect eval."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a task: commands, prompt, figures, options and signature."""
    from ..describing import describe, first_items

    with errors_without_traceback():
        described = describe(task, dict(map(_option, option or ())), shots)
        if as_json:
            print_json(described.record())
        else:
            _show(described, first_items(described))


def _show(of: "Description", first: "FirstItems") -> None:
    from ..describing import UNITS, WAYS

    print_line(Text(of.task.name, style="bold"))
    print_line(of.title)
    indent = max(map(len, of.facts)) + 2
    for label, fact in of.facts.items():
        head = Text(f"{label:{indent}}", style="dim")
        if label in of.commands:  # to be copied
            too_long = out.is_terminal and indent + len(fact) > out.width
            print_line(Text.assemble(head, "\n" if too_long else "", fact))
        else:
            print_row(head, fact)
    if first.items and (out.is_terminal or not first.downloaded):
        _show_items(first)
    else:
        _section("Prompt")
        print_line(Text(of.origin, style="dim"))
        _quote(of.prompt)
        if first.items:
            there = "The first items of the downloaded release are shown on a terminal only."
            print_line(Text(there, style="dim"))
        elif first.why:
            print_row(Text(), Text(first.why, style="yellow"))
    figures = (
        (one.name, f"{WAYS[one.higher_is_better]} {UNITS[one.unit]}", f"{one.title}. {one.help}")
        for one in of.figures
    )
    _section("Figures, the headline first", figures)
    options = (
        (name, f"default {default}", f"{does.replace('`', '')} Values: {values}.".strip())
        for name, values, default, does in of.options
    )
    title = "Options: --metadata '{\"name\": value}' in lm-eval, -T name=value in Inspect"
    _section(title, options)
    if len(of.task.subjects) > 1:
        _section("Subjects")
        out.print(Text(" ".join(subject.name for subject in of.task.subjects)))


def _show_items(first: "FirstItems") -> None:
    _section(f"The first {len(first.items)} items, as they are sent")
    if first.downloaded:
        print_line(Text("From the release that you downloaded: do not publish.", style="dim"))
    for name, prompt, answer in first.items:
        print_line(Text(name, style="dim"))
        _quote(prompt)
        print_row(Text("→ ", style="green"), answer or "no right answer: a judge decides")


def _quote(text: str) -> None:
    for line in text.split("\n") if text else ():
        print_row(Text("│ ", style="dim"), line)


def _section(title: str, rows: Iterable[tuple[str, str, str]] = ()) -> None:
    print_line()
    print_line(Text(title, style="bold"))
    grid = Table.grid(Column(no_wrap=True), Column(no_wrap=True, style="dim"), padding=(0, 2))
    grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*map(Text, row))
    if grid.row_count:
        out.print(grid)


def _option(text: str) -> tuple[str, str]:
    name, given, value = text.partition("=")
    if not given:
        raise OptionError(f"-T {text}: an option is given as name=value, such as -T prompt=yue.")
    return name, value
