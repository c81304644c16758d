"""Extraction health: what became of the responses before they were scored."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..blocks import Block, Cell, Column, Note, Row, Section, Table
from ..evaluations import Evaluation
from ..figures import Figure, figure, mean_figure
from .presentation import cell, side_by_side, task_title

_UNREAD = ("unparsed_rate", "invalid_rate")
_MANY_UNREAD, _MANY_TRUNCATED = 0.02, 0.01
_WORST = 5
_NONE = "none: "
_REASONS = {
    "none: empty": "Nothing was written.",
    "none: cut off": "The response ended inside its reasoning or its working.",
    "none: refusal": "The response declines to answer.",
    "none: several": "Several answers are stated, and none of them is the last word.",
    "none: no option": "What is stated is none of the options.",
    "none: no number": "There is no number to be read.",
    "none: undecided": "The options are talked about, and none is chosen.",
}

_COLUMNS = (
    Column("Model"),
    Column("Task and condition"),
    Column(
        "Unparsed",
        "percent",
        help="Responses that no answer could be read from; they count as wrong.",
        lower_is_better=True,
    ),
    Column(
        "Truncated",
        "percent",
        help="Responses that ended at the limit of length, where the harness says so.",
        lower_is_better=True,
    ),
    Column("Refused", "percent", help="Responses that decline to answer.", lower_is_better=True),
    Column("Empty", "percent", help="Responses without any text.", lower_is_better=True),
    Column(
        "Mean length", "number", help="Of the response without its reasoning.", lower_is_better=None
    ),
    Column(
        "95th percentile", "number", help="One in twenty responses is longer.", lower_is_better=None
    ),
    Column(
        "Mean reasoning",
        "number",
        help="Mean length of the reasoning, where there is some.",
        lower_is_better=None,
    ),
    Column("Unit", help="What the three lengths count."),
    Column(
        "Mean output tokens",
        "number",
        help="By the provider's count, where it is logged.",
        lower_is_better=None,
    ),
)


def sections(evaluations: Sequence[Evaluation]) -> Sequence[Section]:
    """Return a section on the responses of all evaluations that have some."""
    ordered = [run for group in side_by_side(evaluations) for run in group.evaluations]
    written = [
        run for run in ordered if run.named.variant.scoring == "generative" and len(run.items)
    ]
    if not written:
        return []
    table = Table(
        "Responses",
        _COLUMNS,
        [_row(run) for run in written],
        "An empty field was not logged. Figures with different shares of unparsed responses differ "
        "in more than knowledge.",
        name="extraction",
    )
    blocks: list[Block] = [table, *_by_reason(written)]
    if len(written) < len(ordered):
        blocks.append(
            Note(
                f"Not in the table: {len(ordered) - len(written)} by log-likelihood, where nothing "
                "is written that could be unparsed."
            )
        )
    blocks += _warnings(written)
    return [Section("Extraction health", blocks, name="extraction")]


def _row(run: Evaluation) -> Row:
    items = run.items
    reasoned = items.reasoning_lengths[items.reasoning_lengths > 0]
    return Row(
        [
            Cell(run.label),
            Cell(task_title(run)),
            cell(_unread(run)),
            cell(_truncated(run)),
            cell(mean_figure(items.refused.astype(np.float64), items.clusters)),
            cell(mean_figure((items.response_lengths == 0).astype(np.float64), items.clusters)),
            Cell(float(items.response_lengths.mean())),
            Cell(float(np.percentile(items.response_lengths, 95))),
            Cell(float(reasoned.mean()) if len(reasoned) else None),
            Cell(run.length_unit),
            Cell(_mean_logged(items.output_tokens)),
        ],
        kind="run",
    )


def _by_reason(runs: Sequence[Evaluation]) -> list[Table]:
    """Say why answers could not be read: whether the model failed, or the reader."""
    counted = [
        (run, Counter(each for each in run.items.reasons if each.startswith(_NONE))) for run in runs
    ]
    found = [*dict.fromkeys(reason for reason in _REASONS for _, of in counted if of[reason])]
    others = {each for _, of in counted for each in of} - {*_REASONS}
    reasons = [*found, *sorted(others)]
    if not reasons:
        return []
    columns = [
        Column("Model"),
        Column("Task and condition"),
        *(
            Column(
                reason.removeprefix(_NONE).capitalize(),
                "percent",
                help=_REASONS.get(reason, ""),
                lower_is_better=True,
            )
            for reason in reasons
        ),
    ]
    rows = [
        Row(
            [
                Cell(run.label),
                Cell(task_title(run)),
                *(Cell(of[reason] / len(run.items)) for reason in reasons),
            ],
            kind="run",
        )
        for run, of in counted
        if of
    ]
    caption = (
        "Share of all responses. Empty, cut off, refused and undecided are the model's; where much "
        "is said and several answers or none of the options are found, look at some of them "
        "(--with-items), and report what was misread."
    )
    return [Table("Why no answer was read", columns, rows, caption, name="unread_reasons")]


def _unread(run: Evaluation) -> Figure | None:
    name = next((name for name in _UNREAD if name in run.items.values), None)
    return None if name is None else figure(run, name)


def _truncated(run: Evaluation) -> Figure | None:
    logged = ~np.isnan(run.items.truncated)
    if not logged.any():
        return None
    return mean_figure(run.items.truncated[logged], run.items.clusters[logged])


def _mean_logged(values: NDArray[np.float64]) -> float | None:
    logged = values[~np.isnan(values)]
    return float(logged.mean()) if len(logged) else None


def _warnings(runs: Sequence[Evaluation]) -> list[Block]:
    blocks: list[Block] = []
    if truncated := _above(runs, _truncated, _MANY_TRUNCATED):
        blocks.append(
            Note(
                "Many responses end at the limit of length, so that their answers may be missing: "
                f"{_listed(truncated)}. Run again with a higher limit (lm-eval: --gen_kwargs "
                "max_gen_toks=…, Inspect: --max-tokens …); for a reasoning model set the task's "
                "option reasoning=true.",
                "warning",
            )
        )
    if unread := _above(runs, _unread, _MANY_UNREAD):
        blocks.append(
            Note(
                "No answer could be read from many responses, which count as wrong: "
                f"{_listed(unread)}. Look at some of them before you compare models (hkcanto "
                "report --with-items). Where responses stop short, raise the limit of length; "
                "where a model talks around the answer, try more worked examples or a prompt with "
                "+scaffold, and run all models alike.",
                "warning",
            )
        )
        rows = [row for run, _ in unread if len(run.subjects) > 1 for row in _worst_subjects(run)]
        if rows:
            blocks.append(_worst_table(rows))
    return blocks


def _above(
    runs: Sequence[Evaluation], rate: Callable[[Evaluation], Figure | None], most: float
) -> list[tuple[Evaluation, Figure]]:
    rates = [(run, rate(run)) for run in runs]
    return [(run, found) for run, found in rates if found is not None and found.value > most]


def _listed(rates: Sequence[tuple[Evaluation, Figure]]) -> str:
    return "; ".join(f"{run.label} on {task_title(run)} {rate.value:.1%}" for run, rate in rates)


def _worst_table(rows: Sequence[Row]) -> Table:
    columns = [
        Column("Model"),
        Column("Task and condition"),
        Column("Subject"),
        Column("In Chinese"),
        Column("Items", "count"),
        Column("Unparsed", "percent", lower_is_better=True),
    ]
    caption = f"The {_WORST} worst subjects of each run with many unparsed responses."
    title = "Subjects with most unparsed responses"
    return Table(title, columns, rows, caption, name="unparsed_subjects")


def _worst_subjects(run: Evaluation) -> list[Row]:
    rates = []
    metric = next(metric for metric in _UNREAD if metric in run.items.values)
    for subject in run.subjects:
        found = figure(run, metric, run.items.of_subjects([subject.name]))
        if found is not None and found.value > 0:
            rates.append((subject, found))
    rates.sort(key=lambda rate: -rate[1].value)
    return [
        Row(
            [
                Cell(run.label),
                Cell(task_title(run)),
                Cell(subject.title),
                Cell(subject.chinese),
                Cell(found.items),
                cell(found),
            ]
        )
        for subject, found in rates[:_WORST]
    ]
