"""Assemble a report from runs and analyses."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from ... import __version__
from ...catalogue import benchmarks
from ..runs import Run, SkippedLog
from .analyses import (
    conditions,
    constraints,
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
from .frames import figure_rows
from .overview import (
    first_sections,
    last_section,
    published_sections,
    run_records,
)
from .presentation import side_by_side
from .standings import standings

_ANALYSES = (
    *(subjects, conditions, lengths, reasoning, jyutping, writing, constraints, extraction, items),
)
_SHOWN = 4  # labels in a title
_COVERED = (
    "Intervals and p-values cover only the sampling of items, not other prompts, seeds or decoding "
    "settings: run those too."
)


def build_report(
    runs: Sequence[Run], skipped: Sequence[SkippedLog] = (), title: str = ""
) -> Report:
    """Return the report of some runs; the default title names the models."""
    frame = partial(figure_rows, runs)
    runs = curves.ordered(runs)
    beside, kept = standings(runs), curves.outstanding(runs)
    beside_kept = beside if len(kept) == len(runs) else standings(kept)
    sections = [
        *first_sections(runs, kept, beside_kept, skipped),
        *curves.sections(runs),
        *published_sections(beside_kept, len(side_by_side(kept))),
        *(section for part in _ANALYSES for section in part.sections(kept)),
        last_section(runs, beside, skipped),
    ]
    best = curves.best_records([run for run in runs if curves.checkpoint(run)])
    records = {"runs": run_records(runs, beside), "best": best}
    labels = list(dict.fromkeys(run.label for run in runs))
    more = f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else ""
    title = title or ", ".join(labels[:_SHOWN]) + more
    return report_of(sections, title, footer_of(runs), records, frame)


def report_of(
    sections: Sequence[Section],
    title: str,
    footer: Sequence[str] = (),
    records: dict[str, Any] | None = None,
    frame: Callable[[], Iterable[Mapping[str, Any]]] | None = None,
) -> Report:
    """Return a report of the given sections, dated now."""
    now = datetime.now().astimezone()
    return Report(title, now, __version__, sections, footer, records or {}, frame)


def footer_of(runs: Sequence[Run]) -> Sequence[str]:
    """Return the footer: the scope of intervals, and the papers and terms of the benchmarks run."""
    used = {run.setup.task.benchmark.name for run in runs}
    own = [benchmark for benchmark in benchmarks() if benchmark.name in used]
    return [_COVERED, *(f"{each.title}: {each.paper}. {each.terms}" for each in own)]
