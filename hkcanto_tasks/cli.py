"""The `hkcanto` command: what there is, where its data is, and whether an installation works."""

import json
import platform
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from . import __version__
from .agreement.command import agreement
from .catalogue import Benchmark, benchmarks, find_benchmark
from .commands.plan import plan
from .commands.publish import publish
from .console import errors_without_traceback, out
from .contamination.command import contamination
from .data.locating import locate
from .errors import OptionError
from .fertility.command import fertility
from .reports import commands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .describing import Description
    from .doctor import Finding

app = typer.Typer(
    help="HKCanto-Eval, HKMMLU and TMMLU+ for lm-evaluation-harness and Inspect.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    epilog="The evaluations run in the harnesses: lm_eval --tasks hkcanto_g2p, "
    "inspect eval hkcanto/g2p.",
)
data = typer.Typer(help="Fetch, check and find the benchmarks' data.", no_args_is_help=True)
app.add_typer(data, name="data")
_PANELS: dict[str, tuple[Callable[..., None], ...]] = {
    "Before a run": (plan, fertility, contamination),
    "Read results": (commands.report, commands.compare, agreement, publish),
}
for panel, of_panel in _PANELS.items():
    for command in of_panel:
        app.command(rich_help_panel=panel)(command)

_Name = Annotated[str | None, typer.Argument(help="A benchmark; without one, all of them.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON, for a script.")]


@app.command(name="list")
def list_(
    text: Annotated[
        str, typer.Argument(metavar="[FILTER]", help="A part of a name, title or benchmark.")
    ] = "",
    as_json: _Json = False,
) -> None:
    """List the tasks, one a line, by their names in both harnesses."""
    from .describing import lines, matching, more_names, record

    width = out.width if out.is_terminal else None
    with errors_without_traceback():
        found = matching(text)
    if as_json:
        _print_json([record(task) for _, tasks in found for task in tasks])
        return
    for benchmark, tasks in found:
        _line(Text(benchmark.title, style="bold"))
        head, *rows = lines(tasks, width)
        _line(Text(head, style="dim"))
        for row in rows:
            _line(Text(row))
        for row in more_names(tasks, width):
            _line(Text(row, style="dim"))
        _line()
    if len({task.scope for _, tasks in found for task in tasks} - {"task"}) == 0:
        _line("hkcanto show TASK tells the rest. A subject is a task, too: <task>_<subject>.")


@app.command()
def show(
    task: Annotated[str, typer.Argument(help="A name in lm-eval or Inspect: hkcanto/mmlu.")],
    shots: Annotated[int | None, typer.Option(min=0, help="Worked examples.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-T", metavar="NAME=VALUE", help="As in inspect eval."),
    ] = None,
    as_json: _Json = False,
) -> None:
    """Show a task: commands, prompt, figures, options and signature."""
    from .describing import describe

    with errors_without_traceback():
        described = describe(task, dict(map(_option, option or ())), shots)
        if as_json:
            _print_json(described.record())
        else:
            _show(described)


@app.command()
def path(
    what: Annotated[str, typer.Argument(help="lm-eval, outside, inspect or evaluate.")] = "lm-eval",
) -> None:
    """Print the folder of our task files: lm_eval --include_path "$(hkcanto path)".

    `outside` is that of the tasks without a file there, such as those of HKCANTO_BENCHMARKS.
    """
    import hkcanto
    import hkcanto_lm_eval
    import hkcanto_metrics

    folders = {
        "lm-eval": Path(hkcanto_lm_eval.task_path()),
        "inspect": Path(hkcanto.__path__[0]),
        "evaluate": Path(hkcanto_metrics.__path__[0]) / "evaluate_modules",
    }
    if what == "outside":
        from hkcanto_lm_eval.generate import write_others

        with errors_without_traceback():
            folders[what] = write_others()
    if what not in folders:
        raise typer.BadParameter(f"{what!r}: there are {', '.join(folders)}, outside.")
    typer.echo(folders[what])


@app.command()
def doctor(benchmark: _Name = None, as_json: _Json = False) -> None:
    """Show versions, harnesses and data; exit status 1 if something is amiss."""
    from .doctor import data, harnesses, installed, versions

    with errors_without_traceback():
        chosen = _chosen(benchmark)
    found = [*harnesses(), *map(data, chosen)]
    if as_json:
        _print_json({"versions": installed(), "findings": [asdict(each) for each in found]})
    else:
        _row(Text(), Text(versions(), style="dim"))
        _print_findings(found, all_of_it=benchmark is not None)
    if any(each.good is False for each in found):
        raise typer.Exit(1)


@data.command()
def fetch(benchmark: _Name = None) -> None:
    """Download the pinned release into the cache; what is there already is not fetched again."""
    with errors_without_traceback():
        for found in _chosen(benchmark):
            folder = locate(found)
            folder.fetch(progress=True)
            _line(f"{found.title}: {len(folder.files())} files in {folder.root}")
            if moved := folder.moved():
                _line(Text(moved, style="yellow"))


@data.command()
def verify(benchmark: _Name = None) -> None:
    """Compare every file with its recorded checksum; exit status 1 if one differs."""
    from .doctor import files

    with errors_without_traceback():
        found = [files(each) for each in _chosen(benchmark)]
    _print_findings(found)
    if any(each.good is False for each in found):
        raise typer.Exit(1)


def _print_findings(found: "Sequence[Finding]", *, all_of_it: bool = False) -> None:
    """Print what was found, in about 20 lines if it is not for one thing."""
    from .doctor import shortened

    marks = {True: ("✓ ", "green"), False: ("✗ ", "red"), None: ("· ", "dim")}
    troubled = [each for each in found if each.details]
    room = 1 if len(troubled) > 2 else 4
    for each in found:
        _row(Text(*marks[each.good]), each.text)
        shown = each.details if all_of_it else [shortened(line) for line in each.details[:room]]
        for line in shown:
            detail = Text(f"    {line}", style="dim")
            if all_of_it or not out.is_terminal:
                _line(detail)
            else:
                out.print(detail, no_wrap=True, overflow="ellipsis")
        if hidden := len(each.details) - len(shown):
            _line(Text(f"    … and {hidden} more", style="dim"))
    for command in dict.fromkeys(each.command for each in found if each.command):
        _line(Text.assemble(("next: ", "bold"), command))


@data.command(name="path")
def data_path(benchmark: _Name = None) -> None:
    """Print where a benchmark's data is, or would be after `hkcanto data fetch`."""
    with errors_without_traceback():
        for found in _chosen(benchmark):
            typer.echo(locate(found).root)


def _option(text: str) -> tuple[str, str]:
    name, given, value = text.partition("=")
    if not given:
        raise OptionError(f"-T {text}: an option is given as name=value, such as -T prompt=yue.")
    return name, value


def _show(described: "Description") -> None:
    from .describing import NOT_IN_INSPECT, UNITS, WAYS

    _line(Text(described.task.name, style="bold"))
    _line(described.title)
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
            _line(Text.assemble(head, "\n" * too_long, fact))
        elif fact:
            _row(head, fact)
    _line()
    _line(Text("Prompt", style="bold"))
    _line(Text(described.from_data, style="dim"))
    for line in described.prompt.split("\n") if described.prompt else ():
        _row(Text("│ ", style="dim"), line)
    _line()
    _line(Text("Figures, the headline first", style="bold"))
    figures = _grid()
    for metric in described.figures:
        figures.add_row(
            Text(metric.name),
            Text(f"{WAYS[metric.higher_is_better]} {UNITS[metric.unit]}", style="dim"),
            Text(f"{metric.title}. {described.meaning(metric)}"),
        )
    out.print(figures)
    _line()
    _line(
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
        _line()
        _line(Text("Subjects", style="bold"))
        out.print(Text(" ".join(subject.name for subject in described.task.subjects)))


def _print_json(record: object) -> None:
    typer.echo(json.dumps(record, ensure_ascii=False, indent=2))


def _row(head: Text, text: Text | str) -> None:
    """Print a line, which a terminal folds beside its head."""
    text = Text(text) if isinstance(text, str) else text
    if not out.is_terminal:
        _line(head + text)
        return
    row = Table.grid()
    row.add_column(width=head.cell_len, no_wrap=True)
    row.add_column(overflow="fold")
    row.add_row(head, text)
    out.print(row)


def _line(text: Text | str = "") -> None:
    """Print a line as it is: names and commands in it can be copied."""
    out.print(text, soft_wrap=True, markup=False, highlight=False, emoji=False)


def _grid() -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def _chosen(name: str | None) -> tuple[Benchmark, ...]:
    return benchmarks() if name is None else (find_benchmark(name),)


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"hkcanto {__version__} (Python {platform.python_version()})")
        raise typer.Exit
