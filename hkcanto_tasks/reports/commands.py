"""The commands that read results: `hkcanto report` and `hkcanto compare`."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import Progress

from ..console import err, errors_without_traceback, out
from ..errors import OptionError

if TYPE_CHECKING:
    from .blocks import Report


class Format(StrEnum):
    """What a report can be written as; all but `github` are also endings of files."""

    html, md, github, json, csv = "html", "md", "github", "json", "csv"


def _option(text: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, **more)


_RUNS = typer.Argument(
    help="Logs or folders of logs, of lm-eval (--output_path with --log_samples) and of Inspect, "
    "mixed freely. NAME=PATH gives a run a name of your own.",
    show_default=False,
)
_ITEMS = _option("Also show questions, answers and responses. Such a report must not be published.")
_BEST = (
    "Print a line for each task, separated by tabs: the best run, its figure, the runs not told "
    "apart from it (by commas), the task, its condition."
)
_TOKENS = _option("Count lengths in tokens of this tokenizer (hub id, folder or file).")
_DELTA = "Tolerance δ in points: exit status 1 unless B is at most this much worse than A."
Output = Annotated[
    Path | None, _option("File to write, such as report.html; else the terminal.", "-o", "--output")
]
FormatOption = Annotated[
    Format | None,
    _option("By default what the file's name ends in; github: for a PR.", "--format"),
]
_Full = Annotated[bool, _option("Print everything on the terminal, uncut.", "--full")]


def report(
    runs: Annotated[list[str] | None, _RUNS] = None,
    output: Output = None,
    format: FormatOption = None,  # noqa: A002
    with_items: Annotated[bool, _ITEMS] = False,
    tokenizer: Annotated[str | None, _TOKENS] = None,
    title: Annotated[str, _option("Its title; else the models' names.")] = "",
    full: _Full = False,
    best: Annotated[bool, _option(_BEST, "--best")] = False,
    example: Annotated[bool, _option("Report two engines on sample data.", "--example")] = False,
) -> None:
    """Show results next to the published ones, with intervals, by subject, and what went wrong.

    hkcanto report runs/ -o report.html
    hkcanto report runs/ --best
    """
    if best and (example or output or format):
        raise typer.BadParameter("--best is printed alone; JSON has it as `best`.")
    if example == bool(runs):
        raise typer.BadParameter("give the logs to read, or --example for a report to look at.")
    with errors_without_traceback():
        output = output or (Path("hkcanto-example.html") if example else None)
        kind = format_of(output, format)
        if example:
            from ..example import run_example

            runs = [str(run_example(lambda line: err.print(line, highlight=False)))]
        from ..logs import read_runs
        from .report import build_report

        options: dict[str, Any] = {"texts": with_items}
        if tokenizer is not None:
            from ..fertility.report import load_tokenizer

            unit = f"tokens of {Path(tokenizer).name}"
            count = load_tokenizer(tokenizer)
            options |= {"length": lambda text: count([text])[0], "length_unit": unit}
        with progress() as advance:
            read = read_runs(runs or [], progress=advance, **options)
        if best:
            from .analyses.curves import best_records

            for each in best_records(read.runs):
                shown = (each["label"], repr(each["figure"].value), ",".join(each["ties"]))
                typer.echo("\t".join([*shown, each["task"], each["condition"]]))
            return
        made = build_report(read.runs, read.skipped, title)
        write(made, output, kind, full=full)


def compare(
    runs: Annotated[list[str], _RUNS],
    metric: Annotated[str | None, _option("Compare this figure, not the headline.")] = None,
    gate: Annotated[float | None, _option(_DELTA, min=0, max=100)] = None,
    seed: Annotated[int, _option("Of the resampling.", min=0)] = 1234,
    resamples: Annotated[int, _option("Number of resamples.", min=100)] = 10_000,
    output: Output = None,
    format: FormatOption = None,  # noqa: A002
    full: _Full = False,
) -> None:
    """Compare two runs item by item, or several pairwise; --gate makes it a release test.

    hkcanto compare runs/base runs/tuned --gate 2.0

    Exit status: 0; 1 if a gate is not passed; 2 if runs cannot be compared, or with --gate if some
    task, figure or log is missing.
    """
    with errors_without_traceback(status=2):
        kind = format_of(output, format)
        from .verdicts import compare_runs

        options: dict[str, Any] = {"metric": metric, "gate": gate, "seed": seed}
        with progress() as advance:
            made, status = compare_runs(runs, resamples=resamples, progress=advance, **options)
        write(made, output, kind, full=full)
    raise typer.Exit(status)


def write(made: "Report", output: Path | None, kind: Format | None, *, full: bool = False) -> None:
    """Write a report to a file, or print it; a reader who stops early changes no exit status."""
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
    with out.capture() as shown:
        if output is not None or kind is None:
            show(made, out, full=full)
    try:
        typer.echo(shown.get() or text, nl=not shown.get(), color=True)
        if output is not None:
            typer.echo(f"Written: {output} ({len(text.encode()) / 1e6:.1f} MB)", err=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def format_of(output: Path | None, chosen: Format | None) -> Format | None:
    """Return the form to write in: the one asked for, or what the file's name ends in."""
    if chosen or output is None:
        return chosen
    endings = {f".{form}": form for form in Format if form is not Format.github}
    if output.suffix.lower() not in endings:
        known = ", ".join(endings)
        raise OptionError(f"{output}: a name ends in {known}, or say which with --format.")
    return endings[output.suffix.lower()]


@contextmanager
def progress(what: str = "Reading logs") -> Iterator[Callable[[int, int], None]]:
    """Show a bar on standard error, and give a function that moves it: done, of how many."""
    with Progress(console=err, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
