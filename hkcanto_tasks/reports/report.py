"""Assemble a report: evaluations, and what the analyses make of them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from .. import __version__
from ..catalogue import benchmarks
from .analyses import analyses
from .blocks import Cell, Column, Note, Report, Row, Section, Table
from .evaluations import Evaluation, SkippedLog


def build_report(
    evaluations: Sequence[Evaluation], skipped: Sequence[SkippedLog] = (), title: str = ""
) -> Report:
    """Return the report of some evaluations.

    Args:
        evaluations: What was run.
        skipped: Logs that were not read.
        title: Its title; without one, the models' names.
    """
    sections = [section for part in analyses() for section in part.sections(evaluations)]
    if any(evaluation.items.texts for evaluation in evaluations):
        first = sections[0]
        sections[0] = replace(first, blocks=[_ITEMS_NOTICE, *first.blocks])
    if skipped:
        sections.append(_skipped(skipped))
    labels = list(dict.fromkeys(evaluation.label for evaluation in evaluations))
    return report_of(sections, title or _joined(labels), footer_of(evaluations))


_ITEMS_NOTICE = Note(
    "This report shows questions and gold answers of benchmarks. Do not publish it: what is "
    "published ends up in training data, and the data may not be passed on.",
    "warning",
)


def report_of(sections: Sequence[Section], title: str, footer: Sequence[str] = ()) -> Report:
    """Return a report of sections, made now by this version."""
    return Report(
        title=title,
        created=datetime.now().astimezone(),
        version=__version__,
        sections=sections,
        footer=footer,
    )


def _joined(labels: Sequence[str], shown: int = 4) -> str:
    more = f" and {len(labels) - shown} more" if len(labels) > shown else ""
    return ", ".join(labels[:shown]) + more


def _skipped(skipped: Sequence[SkippedLog]) -> Section:
    note = Note(f"{len(skipped)} logs were not read; nothing of them is in this report.", "warning")
    columns = [Column("File"), Column("Reason")]
    rows = [Row([Cell(_short(log.path)), Cell(log.reason)]) for log in skipped]
    table = Table("Logs that were not read", columns, rows, name="skipped")
    return Section("Skipped logs", [note, table], name="skipped", is_summary=True)


def _short(path: Path) -> str:
    """A log's folder and name: a report is passed on, and need not show whole paths."""
    return "/".join(path.parts[-2:])


def footer_of(evaluations: Sequence[Evaluation]) -> Sequence[str]:
    """Return the papers and the terms of the benchmarks that were run."""
    used = {evaluation.named.benchmark.name for evaluation in evaluations}
    return [
        f"{benchmark.title}: {benchmark.paper}. {benchmark.terms}"
        for benchmark in benchmarks()
        if benchmark.name in used
    ]
