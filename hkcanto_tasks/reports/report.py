"""Assemble a report: evaluations, and what there is to say of them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from .. import __version__
from ..catalogue import benchmarks
from ..runs import Run, SkippedLog
from .analyses import (
    conditions,
    curves,
    extraction,
    items,
    jyutping,
    lengths,
    reasoning,
    subjects,
    writing,
)
from .blocks import Report, Section
from .overview import first_section, last_section, published_sections, run_records
from .standings import standings

_ANALYSES = (subjects, conditions, lengths, reasoning, jyutping, writing, extraction, items)
_SHOWN = 4  # labels in a title


def build_report(
    evaluations: Sequence[Run], skipped: Sequence[SkippedLog] = (), title: str = ""
) -> Report:
    """Return the report of some evaluations; without a title it is named after the models."""
    evaluations = curves.ordered(evaluations)
    beside, kept = standings(evaluations), curves.outstanding(evaluations)
    beside_kept = beside if len(kept) == len(evaluations) else standings(kept)
    sections = [
        first_section(kept, beside_kept),
        *curves.sections(evaluations),
        *published_sections(beside_kept),
        *(section for part in _ANALYSES for section in part.sections(kept)),
        last_section(evaluations, beside, skipped),
    ]
    best = curves.best_records([run for run in evaluations if curves.checkpoint(run)])
    records = {"runs": run_records(evaluations, beside), "best": best}
    labels = list(dict.fromkeys(evaluation.label for evaluation in evaluations))
    more = f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else ""
    title = title or ", ".join(labels[:_SHOWN]) + more
    return report_of(sections, title, footer_of(evaluations), records)


def report_of(
    sections: Sequence[Section],
    title: str,
    footer: Sequence[str] = (),
    records: dict[str, Any] | None = None,
) -> Report:
    """Return a report of sections, made now by this version."""
    now = datetime.now().astimezone()
    return Report(title, now, __version__, sections, footer, records or {})


def footer_of(evaluations: Sequence[Run]) -> Sequence[str]:
    """Return the papers and the terms of the benchmarks that were run."""
    used = {evaluation.setup.task.benchmark.name for evaluation in evaluations}
    run = [benchmark for benchmark in benchmarks() if benchmark.name in used]
    return [f"{each.title}: {each.paper}. {each.terms}" for each in run]
