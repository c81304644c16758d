"""The `hkcanto` command: what there is, where its data is, and whether an installation works."""

import importlib.metadata
import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from . import __version__
from .catalogue import Benchmark, benchmarks, find_benchmark
from .console import errors_without_traceback, out
from .data.locating import locate
from .errors import HKCantoError, OptionError
from .reports import commands

if TYPE_CHECKING:
    from .describing import Description

app = typer.Typer(
    help="HKCanto-Eval, HKMMLU and TMMLU+ for lm-evaluation-harness and Inspect.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    epilog="The evaluations run in the harnesses: lm_eval --tasks hkcanto_g2p, "
    "inspect eval hkcanto/g2p.",
)
data = typer.Typer(help="Fetch, check and find the benchmarks' data.", no_args_is_help=True)
app.add_typer(data, name="data")
for command in (commands.report, commands.compare, commands.fertility):
    app.command(rich_help_panel="Read results")(command)

_Name = Annotated[str | None, typer.Argument(help="A benchmark; without one, all of them.")]


@app.command(name="list")
def list_(
    text: Annotated[
        str, typer.Argument(metavar="[FILTER]", help="A part of a name, title or benchmark.")
    ] = "",
) -> None:
    """List the tasks, one a line, by their names in both harnesses."""
    from .describing import lines, matching, more_names

    width = out.width if out.is_terminal else None
    with errors_without_traceback():
        found = matching(text)
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
) -> None:
    """Show a task: commands, prompt, figures, options and signature."""
    from .describing import describe

    with errors_without_traceback():
        _show(describe(task, dict(map(_option, option or ())), shots))


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
def doctor() -> None:
    """Show versions, harnesses, registration and data; exit status 1 if something is amiss."""
    versions = _table("Versions", "Package", "Installed", "Needed for")
    for package, purpose in _PACKAGES.items():
        versions.add_row(package, _version(package) or "[yellow]not installed[/yellow]", purpose)
    out.print(versions)

    healthy = True
    harnesses = _table("Harnesses", "Harness", "State")
    for name, state, good in (_lm_eval_state(), _inspect_state()):
        harnesses.add_row(name, state if good else f"[red]{escape(state)}[/red]")
        healthy = healthy and good
    out.print(harnesses)

    problems: list[str] = []
    found = _table("Data", "Benchmark", "From", "Folder", "Files")
    with errors_without_traceback():
        every = benchmarks()
    for benchmark in every:
        try:
            folder = locate(benchmark)
            files = folder.files()
            counted = f"{len(files)}"
            if folder.recorded and folder.kind != "sample":
                counted = f"{len(folder.recorded.keys() & files)} of {len(folder.recorded)}"
            found.add_row(benchmark.title, folder.kind, str(folder.root), counted)
        except HKCantoError as error:
            problems.append(f"[red]{benchmark.title}:[/red] {escape(str(error))}")
            found.add_row(benchmark.title, "[red]not found[/red]", "", "")
    out.print(found)
    for problem in problems:
        out.print(problem, soft_wrap=True)
    if problems or not healthy:
        raise typer.Exit(1)


@app.command()
def agreement(
    log: Annotated[Path, typer.Argument(exists=True, help="An Inspect log with a judge's scores.")],
    human: Annotated[
        Path, typer.Argument(exists=True, help="CSV: id, and a column per criterion.")
    ],
) -> None:
    """Compare a judge's scores with people's: correlations and Krippendorff's alpha."""
    from hkcanto.judges import judge_agreement

    with errors_without_traceback():
        rows = judge_agreement(log, human)
    columns = ("Criterion", "Items", "Pearson", "Spearman", "Kendall", "Alpha", "People's alpha")
    table = _table("Agreement of the judge with people", *columns)
    for row in rows:
        values = (row.pearson, row.spearman, row.kendall, row.alpha, row.human_alpha)
        shown = ("–" if value is None else f"{value:.3f}" for value in values)
        table.add_row(row.criterion, str(row.items), *shown)
    out.print(table)


@data.command()
def fetch(benchmark: _Name = None) -> None:
    """Download the pinned release into the cache; what is there already is not fetched again."""
    with errors_without_traceback():
        for found in _chosen(benchmark):
            folder = locate(found)
            folder.fetch(progress=True)
            out.print(f"{found.title}: {len(folder.files())} files in {folder.root}")


@data.command()
def verify(benchmark: _Name = None) -> None:
    """Compare every file with its recorded checksum; exit status 1 if one differs."""
    amiss = False
    with errors_without_traceback():
        for found in _chosen(benchmark):
            folder = locate(found)
            problems = folder.verify()
            amiss = amiss or bool(problems)
            if not problems:
                out.print(f"{found.title}: {len(folder.files())} files are as recorded.")
                continue
            table = _table(f"{found.title} in {folder.root}", "File", "Problem", "Detail")
            for problem in problems:
                table.add_row(problem.file, problem.kind, problem.detail)
            out.print(table)
    if amiss:
        raise typer.Exit(1)


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
        "version": str(described.task.entry.version),
        "signature": described.signature,
        "kind": described.kind,
        "scoring": described.scoring,
        "a response ends": described.limits,
        "variants": " ".join(each.name for each in described.variants),
    }
    indent = max(map(len, facts)) + 2
    for name, fact in facts.items():
        if name in ("lm-eval", "Inspect", "signature"):
            _line(Text.assemble((f"{name:{indent}}", "dim"), fact))
        elif fact:
            row = Table.grid()
            row.add_column(width=indent, no_wrap=True)
            row.add_row(Text(name, style="dim"), Text(fact))
            out.print(row)
    _line()
    _line(Text("Prompt", style="bold"))
    _line(Text(described.from_data, style="dim"))
    for line in described.prompt.split("\n") if described.prompt else ():
        _line(Text.assemble(("│ ", "dim"), line))
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


def _line(text: Text | str = "") -> None:
    """Print a line as it is: names and commands in it can be copied."""
    out.print(text, soft_wrap=True, markup=False, highlight=False, emoji=False)


def _grid() -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


_PACKAGES = {
    "hkcanto": "",
    "lm-eval": "lm_eval --tasks hkcanto_g2p",
    "inspect-ai": "inspect eval hkcanto/g2p",
    "pycantonese": "Jyutping, rule-based engine",
    "ToJyutping": "rule-based engine (extra g2p)",
    "evaluate": "metrics as Hugging Face modules",
    "torch": "--model hf",
    "transformers": "--model hf",
    "vllm": "--model vllm (extra vllm)",
}


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        justify: Literal["left", "right"] = "right" if column in _NUMBERS else "left"
        table.add_column(column, overflow="fold", justify=justify)
    return table


_NUMBERS = {"Files", "Items", "Pearson", "Spearman", "Kendall", "Alpha", "People's alpha"}


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _lm_eval_state() -> tuple[str, str, bool]:
    if _version("lm-eval") is None:
        return "lm-eval", "not installed: pip install 'hkcanto[lm-eval]'", True
    if os.environ.get("HKCANTO_AUTOLOAD", "").strip().lower() in {"0", "false", "no", "off"}:
        state = 'autoload is off (HKCANTO_AUTOLOAD): use lm_eval --include_path "$(hkcanto path)"'
        return "lm-eval", state, True
    if any(hasattr(finder, "hkcanto_autoload") for finder in sys.meta_path):
        return "lm-eval", "finds our tasks by name (autoload is on)", True
    return (
        "lm-eval",
        "does not find our tasks by name: hkcanto.pth was not read in this environment. Install "
        'with pip, or use lm_eval --include_path "$(hkcanto path)"',
        False,
    )


def _inspect_state() -> tuple[str, str, bool]:
    if _version("inspect-ai") is None:
        return "inspect", "not installed: pip install 'hkcanto[inspect]'", True
    declared = importlib.metadata.entry_points(group="inspect_ai")
    if "hkcanto" in declared.names:
        return "inspect", "finds our tasks by name (entry point)", True
    return "inspect", "our entry point is missing: install hkcanto again with pip", False


def _chosen(name: str | None) -> tuple[Benchmark, ...]:
    return benchmarks() if name is None else (find_benchmark(name),)


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"hkcanto {__version__} (Python {platform.python_version()})")
        raise typer.Exit
