"""The results section of a model card, in Markdown: figures with intervals and signatures."""

from collections.abc import Callable, Sequence

from ...describing import WAYS
from ...figures import Figure
from ..reports.blocks import Column, Section, Value, column_of, table
from ..reports.presentation import TASK, FigureColumn, figure_title, usage_table
from ..reports.renderers import render
from ..reports.renderers.formatting import heading, interval_text, value_text
from ..reports.report import footer_of, report_of
from ..runs import Run
from ..statistics.estimates import estimate
from ..statistics.intervals import Estimate
from .runs import Publication, Publisher, folder_of

_Line = tuple[Run, Column, Figure, Estimate]


def publication(runs: Sequence[Run], by: Publisher) -> Publication:
    """Return a text for each model's card, with the figures that the harnesses print."""
    files, submit = dict[str, str](), list[str]()
    for model in dict.fromkeys(run.model for run in runs):
        own = [run for run in runs if run.model == model]
        titles = dict.fromkeys(run.setup.task.benchmark.title for run in own)
        sections = [_section(title, own) for title in titles]
        footer = [f"Run by {by.name}." if by.name else "", by.url, *footer_of(own)]
        path = f"{folder_of(own[0])}/card.md"
        files[path] = render(report_of(sections, "Run", list(filter(None, footer))), "github")
        submit.append(f"put {{folder}}/{path} into the README.md of {model}")
    return Publication(files, submit)


def _section(title: str, runs: Sequence[Run]) -> Section:
    """Return the figures and signatures of the runs on a benchmark."""
    runs = [run for run in runs if run.setup.task.benchmark.title == title]
    lines = [
        (run, column_of(figure, figure_title(run, figure)), figure, found)
        for run in runs
        for figure in run.setup.table
        if (found := estimate(run, figure.name))
    ]
    of_figures: list[tuple[Column, Callable[[_Line], Value]]] = [
        (TASK[0], lambda line: TASK[1](line[0])),
        (Column("Figure"), lambda line: f"{heading(line[1])} {WAYS[line[2].higher_is_better]}"),
        (Column("Value", "number"), lambda line: value_text(line[3], line[1].unit)),
        (Column("95 % interval", "number"), lambda line: interval_text(line[3], line[1].unit)),
        (Column("Items", "count"), lambda line: line[3].items),
    ]
    of_runs: list[FigureColumn] = [
        TASK,
        (Column("Harness"), lambda run: run.harness),
        (Column("Run on"), lambda run: f"{run.created:%Y-%m-%d}"),
        (Column("Signature"), lambda run: run.signature.text),
    ]
    ways = "↑: higher is better; ↓: lower is."
    alike = "Compare numbers only if their signatures match (ignoring pkg)."
    results = table("results", "Figures", lines, of_figures, ways, kind=lambda _: "other")
    signed = table("signatures", "Signatures", runs, of_runs, alike, kind=lambda _: "other")
    blocks = [results, signed, *usage_table(runs, "other")]
    return Section(title, blocks, "evaluation", is_summary=True)
