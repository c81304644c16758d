"""Answer extraction: the responses that are empty, cut off or unread, and why."""

from collections.abc import Callable, Sequence
from functools import partial
from heapq import nlargest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runs import Items, Run
from ...statistics.estimates import estimate, mean_estimate
from ...statistics.intervals import Estimate
from ..blocks import Block, Column, Note, Section, section, table
from ..presentation import MODEL, TASK, FigureColumn, in_order, task_title

_MANY_UNREAD, _MANY_TRUNCATED, _WORST = 0.02, 0.01, 5
_CUT = (
    "Many responses end at the length limit, so their answers may be missing: {}. Run again with a "
    "higher limit (lm-eval: --gen_kwargs max_gen_toks=…, Inspect: --max-tokens …); for a reasoning "
    "model set the task's option reasoning=true."
)
_UNREAD = (
    "No answer could be read from many responses, which count as wrong: {}. Look at some of them "
    "(hkcanto report --with-items). If they are cut off, raise the length limit; if a model talks "
    "around the answer, try worked examples or +scaffold, with the same setup for all models."
)
_UNJUDGED = (
    "Many answers got no level of their rubric and do not count in the headline: {}. If the judge "
    "failed, judge again (hkcanto rescore LOGS --grader MODEL -o FOLDER); if answers are empty or "
    "cut off, the headline covers only the others."
)
_RESPONSES = (
    "Generated responses only; blank where nothing was logged. If the shares of unparsed responses "
    "differ, figures differ in more than knowledge."
)
_REASONS = (
    "Share of all responses. Empty, cut off, refused and undecided responses are the model's own. "
    "If many have several answers or none of the options, look at some of them (--with-items), and "
    "report what was misread."
)


def sections(runs: Sequence[Run]) -> Sequence[Section]:
    """Return a section on the responses of all runs that have responses."""
    runs = [run for run in in_order(runs) if run.setup.is_generative and run.items.ids]
    reasons = sorted({each for run in runs for each in run.items.reasons if each[:5] == "none:"})
    unread = [run for run in runs if {*reasons} & {*run.items.reasons}]
    blocks: list[Block] = [
        table("extraction", "Responses", runs, _COLUMNS, _RESPONSES),
        table(
            "unread_reasons",
            "Why no answer was read",
            unread,
            [MODEL, TASK, *map(_reason, reasons)],
            _REASONS,
        ),
    ]
    for text, most, rate in (
        (_CUT, _MANY_TRUNCATED, _truncated),
        (_UNREAD, _MANY_UNREAD, _unread),
        (_UNJUDGED, _MANY_UNREAD, partial(estimate, name="unjudged_rate")),
    ):
        if many := [_said(run, of, rate) for run in runs if (of := rate(run)) and of.value > most]:
            blocks.append(Note(text.format("; ".join(many)), "warning"))
    return section("Extraction health", blocks, "extraction")


def _said(run: Run, whole: Estimate, rate: Callable[..., Estimate | None]) -> str:
    """Say which share of a run's responses is affected, and in which subjects most."""
    found = {
        each.title: rate(run, where=run.items.of_subjects([each.name])) for each in run.subjects
    }
    worst = nlargest(_WORST, ((of.value, title) for title, of in found.items() if of and of.value))
    most = ", ".join(f"{title} {share:.0%}" for share, title in worst)
    where = f" (most in {most})" if len(run.subjects) > 1 else ""
    return f"{run.label} on {task_title(run)} {whole.value:.1%}{where}"


def _reason(reason: str) -> FigureColumn:
    column = Column(reason.removeprefix("none: ").capitalize(), "percent", lower_is_better=True)
    return column, lambda run: [*run.items.reasons].count(reason) / len(run.items)


def _unread(run: Run, where: NDArray[np.bool_] | None = None) -> Estimate | None:
    return estimate(run, "unparsed_rate", where) or estimate(run, "invalid_rate", where)


def _truncated(run: Run, where: NDArray[np.bool_] | None = None) -> Estimate | None:
    own = ~np.isnan(run.items.truncated) & (True if where is None else where)
    return mean_estimate(run.items.truncated[own], run.items.clusters[own]) if own.any() else None


def _length(title: str, help_: str, of: Callable[[Items], NDArray[Any]]) -> FigureColumn:
    column = Column(title, "number", help_)
    return column, lambda run: float(of(run.items).mean()) if len(of(run.items)) else None


_EMPTY = Column("Empty", "percent", "Responses without any text.", True)
_COLUMNS: list[FigureColumn] = [
    MODEL,
    TASK,
    (Column("Unparsed", "percent", "No answer could be read; they count as wrong.", True), _unread),
    (Column("Truncated", "percent", "Ended at the length limit, if logged.", True), _truncated),
    (
        _EMPTY,
        lambda run: mean_estimate(1.0 * (run.items.response_lengths == 0), run.items.clusters),
    ),
    _length("Mean length", "The response without reasoning.", lambda of: of.response_lengths),
    _length(
        "Mean reasoning",
        "Over responses with reasoning.",
        lambda of: of.reasoning_lengths[of.reasoning_lengths > 0],
    ),
    (Column("Unit", help="The unit of the two lengths."), lambda run: run.length_unit),
    _length(
        "Output tokens",
        "Mean per response, if logged.",
        lambda of: of.output_tokens[~np.isnan(of.output_tokens)],
    ),
]
