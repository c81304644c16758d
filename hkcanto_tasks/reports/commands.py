"""The commands that read results: `hkcanto report`, `hkcanto compare`, `hkcanto fertility`."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress

from ..console import err, errors_without_traceback, out
from ..errors import OptionError
from .blocks import Report


class Format(StrEnum):
    """What a report can be written as; all but `github` are also endings of files."""

    html, md, github, json, csv = "html", "md", "github", "json", "csv"


_RUNS = typer.Argument(
    help="Logs or folders of logs, of lm-eval (--output_path with --log_samples) and of Inspect, "
    "mixed freely. NAME=PATH gives a run a name of your own.",
    show_default=False,
)
_Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="File to write, such as report.html; else the terminal."),
]
_Format = Annotated[
    Format | None,
    typer.Option("--format", help="By default what the file's name ends in; github: for a PR."),
]
_Full = Annotated[bool, typer.Option("--full", help="Print everything on the terminal, uncut.")]


def report(
    runs: Annotated[list[str] | None, _RUNS] = None,
    output: _Output = None,
    format: _Format = None,  # noqa: A002
    with_items: Annotated[
        bool,
        typer.Option(
            help="Also show questions, answers and responses. Such a report must not be published."
        ),
    ] = False,
    tokenizer: Annotated[
        str | None,
        typer.Option(help="Count lengths in tokens of this tokenizer (hub id, folder or file)."),
    ] = None,
    title: Annotated[str, typer.Option(help="Its title; else the models' names.")] = "",
    full: _Full = False,
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

        options: dict[str, Any] = {"texts": with_items}
        if tokenizer is not None:
            from .fertility import load_tokenizer

            unit = f"tokens of {Path(tokenizer).name}"
            options |= {"length": load_tokenizer(tokenizer), "length_unit": unit}
        with _progress() as advance:
            read = read_runs(runs or [], progress=advance, **options)
        made = build_report(read.evaluations, read.skipped, title)
        write(made, output, kind, full=full)


def compare(
    runs: Annotated[list[str], _RUNS],
    metric: Annotated[
        str | None, typer.Option(help="Compare this figure instead of each task's headline.")
    ] = None,
    gate: Annotated[
        float | None,
        typer.Option(
            help="Tolerance δ in points: exit status 1 unless B is at most this much worse than A.",
            min=0,
            max=100,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the resampling.", min=0)] = 1234,
    resamples: Annotated[int, typer.Option(help="Number of resamples.", min=100)] = 10_000,
    output: _Output = None,
    format: _Format = None,  # noqa: A002
    full: _Full = False,
) -> None:
    """Compare two runs item by item, or several pairwise; --gate makes it a release test.

    hkcanto compare runs/base runs/tuned --gate 2.0

    Exit status: 0; 1 if a gate is not passed; 2 if runs cannot be compared, or with --gate if some
    task, figure or log is missing.
    """
    with errors_without_traceback(status=2):
        kind = _format(output, format)
        from .comparing import compare_runs

        with _progress() as advance:
            made, status = compare_runs(
                runs, metric=metric, gate=gate, seed=seed, resamples=resamples, progress=advance
            )
        write(made, output, kind, full=full)
    raise typer.Exit(status)


def fertility(
    tokenizers: Annotated[
        list[str],
        typer.Argument(
            help="Hub ids, folders, tokenizer.json files, or tiktoken:o200k_base. NAME=TOKENIZER "
            "gives one a name.",
            show_default=False,
        ),
    ],
    benchmark: Annotated[
        list[str] | None, typer.Option(help="Only this benchmark or task; may be repeated.")
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
        from .report import report_of

        loaded = {}
        for tokenizer in tokenizers:
            name, named, path = tokenizer.partition("=")
            path = path if named else tokenizer
            loaded[name if named else Path(path).name] = counting.load_tokenizer(path)
        sections = counting.sections(counting.fertility(loaded, benchmark))
        write(report_of(sections, f"Fertility of {', '.join(loaded)}"), output, kind)


def write(made: Report, output: Path | None, kind: Format | None, *, full: bool = False) -> None:
    """Write a report to a file, or print it.

    Args:
        made: The report.
        output: The file; nothing half-written is left there.
        kind: In which form; None for the terminal's.
        full: Whether the terminal shows all of it.
    """
    from .renderers import render
    from .renderers.terminal import show

    text = "" if kind is None else render(made, kind.value)
    if output is not None:
        partial = output.with_name(f".{output.name}.partial")
        try:
            partial.write_text(text, encoding="utf-8")
            partial.replace(output)
        finally:
            partial.unlink(missing_ok=True)
    with _whoever_reads():
        if output is None and kind is not None:
            typer.echo(text)
            return
        with out.capture() as shown:
            show(made, out, full=full)
        sys.stdout.write(shown.get())
        sys.stdout.flush()
        if output is not None:
            typer.echo(f"Written: {output} ({len(text.encode()) / 1e6:.1f} MB)", err=True)


@contextmanager
def _whoever_reads() -> Iterator[None]:
    """Go on where whoever reads the output stops early, as `head` does: the exit status stands."""
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _format(output: Path | None, chosen: Format | None) -> Format | None:
    """Return the form to write in: the one asked for, or what the file's name ends in."""
    if chosen or output is None:
        return chosen
    endings = {f".{form}": form for form in Format if form is not Format.github}
    endings[".htm"] = Format.html
    if output.suffix.lower() not in endings:
        known = ", ".join(endings)
        raise OptionError(f"{output}: a name ends in {known}, or say which with --format.")
    return endings[output.suffix.lower()]


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """Show a bar on standard error, and give a function that moves it: done, of how many."""
    with Progress(console=err, transient=True) as bar:
        task = bar.add_task("Reading logs", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
