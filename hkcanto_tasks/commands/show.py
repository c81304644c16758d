"""The command `hkcanto show`."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from ..console import Json, errors_without_traceback, out, print_json, print_line, print_row
from ..errors import OptionError

if TYPE_CHECKING:
    from ..describing import Description


def show(
    task: Annotated[str, typer.Argument(help="A name in lm-eval or Inspect: hkcanto/mmlu.")],
    shots: Annotated[int | None, typer.Option(min=0, help="Worked examples.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-T", metavar="NAME=VALUE", help="As in inspect eval."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a task: commands, prompt, figures, options and signature."""
    from ..describing import describe

    with errors_without_traceback():
        described = describe(task, dict(map(_option, option or ())), shots)
        if as_json:
            print_json(described.record())
        else:
            _show(described)


def _show(described: "Description") -> None:
    from ..describing import NOT_IN_INSPECT, UNITS, WAYS

    print_line(Text(described.task.name, style="bold"))
    print_line(described.title)
    facts = {
        "benchmark": described.task.benchmark.title,
        "from": described.origin,
        "lm-eval": described.lm_eval,
        "Inspect": described.inspect or NOT_IN_INSPECT,
        "questions": f"{described.questions:,}" if described.questions else "",
        "version": str(described.task.definition.version),
        "signature": described.signature,
        "kind": described.kind,
        "scoring": described.scoring,
        "response": described.limits and f"ends {described.limits}",
        "variants": " ".join(each.name for each in described.variants),
    }
    indent = max(map(len, facts)) + 2
    for name, fact in facts.items():
        head = Text(f"{name:{indent}}", style="dim")
        if name in ("lm-eval", "Inspect"):  # commands, to be copied
            too_long = out.is_terminal and indent + len(fact) > out.width
            print_line(Text.assemble(head, "\n" * too_long, fact))
        elif fact:
            print_row(head, fact)
    print_line()
    print_line(Text("Prompt", style="bold"))
    print_line(Text(described.from_data, style="dim"))
    for line in described.prompt.split("\n") if described.prompt else ():
        print_row(Text("│ ", style="dim"), line)
    print_line()
    print_line(Text("Figures, the headline first", style="bold"))
    figures = _grid()
    for metric in described.figures:
        figures.add_row(
            Text(metric.name),
            Text(f"{WAYS[metric.higher_is_better]} {UNITS[metric.unit]}", style="dim"),
            Text(f"{metric.title}. {described.meaning(metric)}"),
        )
    out.print(figures)
    print_line()
    print_line(
        Text("Options: --metadata '{\"name\": value}' in lm-eval, -T name=value in Inspect", "bold")
    )
    options = _grid()
    for each in described.options:
        options.add_row(
            Text(each.name),
            Text(f"default {each.default}", style="dim"),
            Text(f"{each.help.replace('`', '')} Values: {each.values}.".strip()),
        )
    out.print(options)
    if len(described.task.subjects) > 1:
        print_line()
        print_line(Text("Subjects", style="bold"))
        out.print(Text(" ".join(subject.name for subject in described.task.subjects)))


def _grid() -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def _option(text: str) -> tuple[str, str]:
    name, given, value = text.partition("=")
    if not given:
        raise OptionError(f"-T {text}: an option is given as name=value, such as -T prompt=yue.")
    return name, value
