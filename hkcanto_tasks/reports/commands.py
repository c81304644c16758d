"""The commands that read results: `hkcanto report`, `hkcanto compare`, `hkcanto fertility`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..console import err, errors_without_traceback, out
from ..errors import OptionError
from .blocks import Report


class Format(StrEnum):
    """What a report can be written as."""

    html = "html"
    md = "md"
    json = "json"
    csv = "csv"


_Runs = Annotated[
    list[str],
    typer.Argument(
        help="Logs or folders of logs, of lm-eval (--output_path with --log_samples) and of "
        "Inspect, mixed freely. NAME=PATH gives a run a name of your own.",
        show_default=False,
    ),
]
_Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="File to write, such as report.html; else the terminal."),
]
_Format = Annotated[
    Format | None, typer.Option("--format", help="By default what the file's name ends in.")
]
_Tokenizer = Annotated[
    str | None,
    typer.Option(help="Count lengths in tokens of this tokenizer (hub id, folder or file)."),
]


def report(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            help="Logs or folders of logs, of lm-eval (--output_path with --log_samples) and of "
            "Inspect, mixed freely. NAME=PATH gives a run a name of your own.",
            show_default=False,
        ),
    ] = None,
    output: _Output = None,
    format: _Format = None,  # noqa: A002
    with_items: Annotated[
        bool,
        typer.Option(
            help="Also show questions, answers and responses. Such a report must not be published."
        ),
    ] = False,
    tokenizer: _Tokenizer = None,
    title: Annotated[str, typer.Option(help="Its title; else the models' names.")] = "",
    full: Annotated[
        bool, typer.Option("--full", help="Print long tables whole on the terminal.")
    ] = False,
    example: Annotated[
        bool, typer.Option(help="Make a report of two rule-based engines on the sample data.")
    ] = False,
) -> None:
    """Show results next to the published ones, with intervals, by subject, and what went wrong.

    hkcanto report runs/ -o report.html
    """
    if example == bool(runs):
        raise typer.BadParameter("give the logs to read, or --example for a report to look at.")
    with errors_without_traceback():
        output = output or (Path("hkcanto-example.html") if example else None)
        kind = _format(output, format)
        if example:
            from .example import run_example

            runs = [str(run_example(lambda line: err.print(line, highlight=False)))]
        from .logs import read_runs
        from .report import build_report

        length, unit = _length(tokenizer)
        with _progress("Reading logs") as advance:
            read = read_runs(
                runs or [], texts=with_items, length=length, length_unit=unit, progress=advance
            )
        made = build_report(read.evaluations, read.skipped, title)
        write(made, output, kind, full=full)


def compare(
    runs: _Runs,
    metric: Annotated[
        str | None, typer.Option(help="Compare this figure instead of each task's headline.")
    ] = None,
    gate: Annotated[
        float | None,
        typer.Option(
            help="Tolerance δ in points: exit status 1 unless B is at most this much worse than A.",
            min=0,
        ),
    ] = None,
    paired: Annotated[
        bool,
        typer.Option(
            help="Match items by id. --no-paired takes the runs as independent samples, for runs "
            "that do not have the same items."
        ),
    ] = True,
    seed: Annotated[int, typer.Option(help="Of the resampling.", min=0)] = 1234,
    resamples: Annotated[int, typer.Option(help="Number of resamples.", min=100)] = 10_000,
    output: _Output = None,
    format: _Format = None,  # noqa: A002
) -> None:
    """Compare two runs item by item, or several pairwise; --gate makes it a release test.

    hkcanto compare runs/base runs/tuned --gate 2.0

    Exit status: 0; 1 if a gate is not passed; 2 if runs cannot be compared, or with --gate if some
    task or log is missing.
    """
    if gate is not None and not paired:
        raise typer.BadParameter("--gate compares item by item: leave --no-paired out.")
    with errors_without_traceback(status=2):
        kind = _format(output, format)
        from .comparing import compare_runs

        with _progress("Reading logs") as advance:
            made = compare_runs(
                runs,
                metric=metric,
                gate=gate,
                paired=paired,
                seed=seed,
                resamples=resamples,
                progress=advance,
            )
        write(made.report, output, kind)
    if not made.passed:
        raise typer.Exit(1)
    if not made.complete:
        raise typer.Exit(2)


def fertility(
    tokenizers: Annotated[
        list[str],
        typer.Argument(
            help="Hub ids, folders, tokenizer.json files, or tiktoken:o200k_base. NAME=TOKENIZER "
            "gives one a name; that of a run in --runs shows its accuracy beside it.",
            show_default=False,
        ),
    ],
    benchmark: Annotated[
        list[str] | None, typer.Option(help="Only this benchmark or task; may be repeated.")
    ] = None,
    runs: Annotated[
        list[str] | None, typer.Option(help="Logs, to show accuracy against fertility.")
    ] = None,
    output: _Output = None,
    format: _Format = None,  # noqa: A002
) -> None:
    """Count tokens per character of each benchmark's questions, for one tokenizer or several.

    hkcanto fertility Qwen/Qwen3-8B tiktoken:o200k_base
    """
    with errors_without_traceback():
        kind = _format(output, format)
        from . import fertility as counting
        from .logs import read_runs
        from .report import report_of

        named = dict(_named(tokenizer) for tokenizer in tokenizers)
        loaded = {name: counting.load_tokenizer(path) for name, path in named.items()}
        rows = counting.fertility(loaded, benchmark)
        evaluations = read_runs(runs).evaluations if runs else []
        sections = counting.sections(rows, evaluations)
        write(report_of(sections, f"Fertility of {', '.join(loaded)}"), output, kind)


def _named(argument: str) -> tuple[str, str]:
    """Split NAME=TOKENIZER; without a name, the tokenizer's last part is its name."""
    name, given, path = argument.partition("=")
    return (name, path) if given else (Path(argument).name, argument)


def write(made: Report, output: Path | None, kind: Format | None, *, full: bool = False) -> None:
    """Write a report to a file, or print it.

    Args:
        made: The report.
        output: The file; nothing half-written is left there.
        kind: In which form; None for the terminal's.
        full: Whether the terminal shows long tables whole.
    """
    from .renderers import render
    from .renderers.terminal import show

    if output is None and kind is None:
        show(made, out, full=full)
        return
    assert kind is not None
    text = render(made, kind.value)
    if output is None:
        typer.echo(text)
        return
    partial = output.with_name(f".{output.name}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(output)
    finally:
        partial.unlink(missing_ok=True)
    show(made, out, full=full)
    err.print(f"Written: {output} ({len(text.encode()) / 1e6:.1f} MB)", highlight=False)


def _format(output: Path | None, chosen: Format | None) -> Format | None:
    """Return the form to write in: the one asked for, or what the file's name ends in."""
    if chosen or output is None:
        return chosen
    endings = {".html": Format.html, ".htm": Format.html, ".md": Format.md}
    endings |= {".json": Format.json, ".csv": Format.csv}
    if output.suffix.lower() not in endings:
        raise OptionError(
            f"{output}: a name ends in {', '.join(endings)}, or say which with --format."
        )
    return endings[output.suffix.lower()]


def _length(tokenizer: str | None) -> tuple[Callable[[str], int], str]:
    if tokenizer is None:
        return len, "characters"
    from .fertility import load_tokenizer

    return load_tokenizer(tokenizer), f"tokens of {Path(tokenizer).name}"


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on standard error, and give a function that moves it: done, of how many."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
