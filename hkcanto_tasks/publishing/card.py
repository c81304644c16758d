"""A part of a model card: the figures of a model, with intervals and signatures, in Markdown."""

from collections import defaultdict
from collections.abc import Sequence

from ..describing import WAYS
from ..figures import Figure
from ..reports.blocks import Column, Section, Value, column_of, table
from ..reports.estimates import Estimate, estimate
from ..reports.presentation import figure_title, task_title
from ..reports.renderers import render
from ..reports.renderers.formatting import heading, interval_text, value_text
from ..reports.report import footer_of, report_of
from ..runs import Run
from .runs import Publication, PublishedRun, Publisher

_Line = tuple[Run, Figure, Estimate]


def publication(runs: Sequence[PublishedRun], by: Publisher) -> Publication:
    """Return a text for the card of each model, with the figures that the harnesses print."""
    files, submit = dict[str, str](), list[str]()
    for model in dict.fromkeys(each.model for each in runs):
        own = [each for each in runs if each.model == model]
        path = f"{own[0].folder}/card.md"
        files[path] = _text([each.evaluation for each in own], by)
        submit.append(f"put {{folder}}/{path} into the README.md of {model}")
    return Publication(files, submit)


def _text(runs: Sequence[Run], by: Publisher) -> str:
    benchmarks = defaultdict[str, list[Run]](list)
    for run in runs:
        benchmarks[run.setup.task.benchmark.title].append(run)
    sections = [_section(title, own) for title, own in benchmarks.items()]
    footer = [f"Run by {by.name}." if by.name else "", by.url, *footer_of(runs)]
    return render(report_of(sections, "Run", list(filter(None, footer))), "github")


def _section(title: str, runs: Sequence[Run]) -> Section:
    lines = [
        (run, metric, found)
        for run in runs
        for metric in run.setup.table
        if (found := estimate(run, metric.name))
    ]
    results = table(
        "results",
        "Figures",
        lines,
        [
            (Column("Task and condition"), lambda line: task_title(line[0])),
            (Column("Figure"), _name),
            (Column("Value", "number"), lambda line: value_text(line[2], column_of(line[1]).unit)),
            (
                Column("95 % interval", "number"),
                lambda line: interval_text(line[2], column_of(line[1]).unit),
            ),
            (Column("Items", "count"), lambda line: line[2].items),
        ],
        "↑: higher is better; ↓: lower is.",
        kind=lambda _: "other",
    )
    signatures = table(
        "signatures",
        "Signatures",
        runs,
        [
            (Column("Task and condition"), task_title),
            (Column("Harness"), lambda run: run.harness),
            (Column("Run on"), lambda run: f"{run.created:%Y-%m-%d}"),
            (Column("Signature"), lambda run: run.signature.text),
        ],
        "Only numbers with one signature are comparable, but for pkg.",
        kind=lambda _: "other",
    )
    return Section(title, [results, signatures], "evaluation", is_summary=True)


def _name(line: _Line) -> Value:
    run, metric, _ = line
    title = heading(column_of(metric, figure_title(run, metric)))
    return f"{title} {WAYS[metric.higher_is_better]}"
