"""Extraction health: what became of the responses before they were scored."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..blocks import Column, Note, Row, Section, Table, table
from ..evaluations import Evaluation, Items
from ..figures import Figure, Mask, figure, mean_figure
from ..presentation import MODEL, TASK, FigureColumn, side_by_side, task_title

_MANY_UNREAD, _MANY_TRUNCATED = 0.02, 0.01
_WORST = 5
_REASONS = {
    "none: empty": "Nothing was written.",
    "none: cut off": "The response ended inside its reasoning or its working.",
    "none: refusal": "The response declines to answer.",
    "none: several": "Several answers are stated, and none of them is the last word.",
    "none: no option": "What is stated is none of the options.",
    "none: no number": "There is no number to be read.",
    "none: undecided": "The options are talked about, and none is chosen.",
}
_ORDER = "".join(_REASONS)
_CUT = (
    "Many responses end at the limit of length, so that their answers may be missing: {}. Run "
    "again with a higher limit (lm-eval: --gen_kwargs max_gen_toks=…, Inspect: --max-tokens …); "
    "for a reasoning model set the task's option reasoning=true."
)
_UNREAD = (
    "No answer could be read from many responses, which count as wrong: {}. Look at some of them "
    "(hkcanto report --with-items). Where they stop short, raise the limit of length; where a "
    "model talks around the answer, try worked examples or +scaffold, and run all models alike."
)


def sections(evaluations: Sequence[Evaluation]) -> Sequence[Section]:
    """Return a section on the responses of all evaluations that have some."""
    ordered = [run for group in side_by_side(evaluations) for run in group.evaluations]
    runs = [run for run in ordered if run.named.variant.scoring == "generative" and run.items.ids]
    blocks = [each for each in _blocks(runs) if isinstance(each, Note) or each.rows]
    return [Section("Extraction health", blocks, "extraction")] if blocks else []


def _blocks(runs: Sequence[Evaluation]) -> Iterator[Table | Note]:
    yield table(
        "extraction",
        "Responses",
        runs,
        _COLUMNS,
        "Of what was written, not of log-likelihoods; what was not logged has no figure. Figures "
        "with different shares of unparsed responses differ in more than knowledge.",
    )
    found = {reason for run in runs for reason in run.items.reasons if reason[:5] == "none:"}
    yield table(
        "unread_reasons",
        "Why no answer was read",
        [run for run in runs if found.intersection(run.items.reasons)],
        [MODEL, TASK, *map(_reason, sorted(found, key=_ORDER.find))],
        "Share of all responses. Empty, cut off, refused and undecided are the model's; where much "
        "is said and several answers or none of the options are found, look at some of them "
        "(--with-items), and report what was misread.",
    )
    for text, most, rate in ((_CUT, _MANY_TRUNCATED, _truncated), (_UNREAD, _MANY_UNREAD, _unread)):
        many = {run: of for run in runs if (of := rate(run)) and of.value > most}
        listed = [f"{run.label} on {task_title(run)} {of.value:.1%}" for run, of in many.items()]
        if many:
            yield Note(text.format("; ".join(listed)), "warning")
    unread = [run for run in many if len(run.subjects) > 1]  # of the last rate
    texts = map(Column, ("Model", "Task and condition", "Subject", "In Chinese"))
    yield Table(
        "unparsed_subjects",
        "Subjects with most unparsed responses",
        [*texts, Column("Items", "count"), Column("Unparsed", "percent", _UNPARSED, True)],
        [row for run in unread for row in _worst(run)],
        f"The {_WORST} worst subjects of each run with many unparsed responses.",
    )


def _reason(reason: str) -> FigureColumn:
    title = reason.removeprefix("none: ").capitalize()
    column = Column(title, "percent", _REASONS.get(reason, ""), True)
    return column, lambda run: [*run.items.reasons].count(reason) / len(run.items)


def _worst(run: Evaluation) -> list[Row]:
    masks = ((subject, run.items.of_subjects([subject.name])) for subject in run.subjects)
    found = [(subject, of) for subject, mask in masks if (of := _unread(run, mask)) and of.value]
    return [
        Row([run.label, task_title(run), subject.title, subject.chinese, of.items, of])
        for subject, of in sorted(found, key=lambda each: -each[1].value)[:_WORST]
    ]


def _unread(run: Evaluation, where: Mask | None = None) -> Figure | None:
    return figure(run, "unparsed_rate", where) or figure(run, "invalid_rate", where)


def _truncated(run: Evaluation) -> Figure | None:
    logged = ~np.isnan(run.items.truncated)
    own = run.items.truncated[logged], run.items.clusters[logged]
    return mean_figure(*own) if logged.any() else None


def _long(title: str, help_: str, of: Callable[[Items], NDArray[Any]]) -> FigureColumn:
    column = Column(title, "number", help_)
    return column, lambda run: float(of(run.items).mean()) if len(of(run.items)) else None


_UNPARSED = "Responses that no answer could be read from; they count as wrong."
_ENDED = "Responses that ended at the limit of length, where the harness says so."
_LONG, _SOME = "Of the response without its reasoning.", "Where there is some."
_COUNTED = "Mean by the provider's count, where it is logged."
_COLUMNS: list[FigureColumn] = [
    MODEL,
    TASK,
    (Column("Unparsed", "percent", _UNPARSED, True), _unread),
    (Column("Truncated", "percent", _ENDED, True), _truncated),
    (
        Column("Empty", "percent", "Responses without any text.", True),
        lambda run: mean_figure(1.0 * (run.items.response_lengths == 0), run.items.clusters),
    ),
    _long("Mean length", _LONG, lambda of: of.response_lengths),
    _long("95th percentile", _LONG, lambda of: np.percentile(of.response_lengths, [95])),
    _long("Mean reasoning", _SOME, lambda of: of.reasoning_lengths[of.reasoning_lengths > 0]),
    (Column("Unit", help="What the three lengths count."), lambda run: run.length_unit),
    _long("Output tokens", _COUNTED, lambda of: of.output_tokens[~np.isnan(of.output_tokens)]),
]
