"""The sections behind the first table: subjects, reading problems, and all figures."""

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from ...figures import Figure
from ...kinds.multiple_choice import MultipleChoice
from ..runs import Run
from ..statistics.estimates import estimate, mean_estimate
from ..statistics.intervals import Estimate
from .blocks import Column, Note, Section, Table, Value, section, table
from .frames import JUDGED
from .presentation import (
    MANY_UNREAD,
    MODEL,
    TASK,
    FigureColumn,
    SideBySide,
    figure_title,
    headline_title,
    side_by_side,
    task_title,
)

_MANY_TRUNCATED = 0.01
_CUT = (
    "Many responses end at the length limit, so their answers may be missing: {}. Run again with a "
    "higher limit (lm-eval: --gen_kwargs max_gen_toks=…, Inspect: --max-tokens …); for a reasoning "
    "model set the task's option reasoning=true."
)
_UNREAD = (
    "No answer could be read from many responses, which count as wrong: {}. Look at some of them "
    "in the log (inspect view; lm-eval: samples_….jsonl). If they are cut off, raise the length "
    "limit; if a model talks around the answer, try worked examples or +scaffold, with the same "
    "setup for all models."
)
_UNJUDGED = (
    "Many answers got no level of their rubric and do not count in the headline: {}. If the judge "
    "failed, judge again (hkcanto rescore LOGS --grader MODEL -o FOLDER); if answers are empty or "
    "cut off, the headline covers only the others."
)
_SECOND_LOOK = (
    "A second look at these responses, by a model that reads their letters (`hkcanto rescore LOGS "
    "--reader MODEL -o FOLDER`; Inspect: -T reread=true), would send, at one token a character: {}."
)
_MOST_UNREAD, _LONGEST, _PROMPT, _REPLY = 0.03, 4_000, 89, 16  # as `hkcanto.second_look` sends
_READING = (
    "Generated responses only, as shares of all responses; blank where nothing was logged. If the "
    "shares of unread responses differ, figures differ in more than knowledge."
)


def sections(runs: Sequence[Run]) -> list[Section]:
    """Return the sections of subjects, of reading problems, and of all figures."""
    groups = side_by_side(runs)
    generated = [
        run for group in groups for run in group.runs if run.setup.is_generative and run.items.ids
    ]
    subjects = [_subjects(group) for group in side_by_side(runs, "acc")]
    problems, cut = [*_problems(generated)], _CUT.partition("{")[0]
    is_cut = any(note.text.startswith(cut) for note in problems)
    return [
        *section("Subjects", subjects, "subjects"),
        *section(
            "Reading problems", [*problems, _reading(generated)], "reading", is_summary=is_cut
        ),
        *section("All figures", map(_figures, groups), "figures"),
    ]


def _problems(runs: Sequence[Run]) -> Iterator[Note]:
    for text, most, rate in (
        (_CUT, _MANY_TRUNCATED, _truncated),
        (_UNREAD, MANY_UNREAD, _unread),
        (_UNJUDGED, MANY_UNREAD, _unjudged),
    ):
        many = [
            f"{run.label} on {task_title(run)} {share.value:.1%}"
            for run in runs
            if (share := rate(run)) and share.value > most
        ]
        if many:
            yield Note(text.format("; ".join(many)), "warning")
    if costs := [*filter(None, map(_second_look, runs))]:
        yield Note(_SECOND_LOOK.format("; ".join(costs)), "warning")


def _second_look(run: Run) -> str:
    """Return the requests and tokens of a second look; empty if few are unread or none can be."""
    items, rates = run.items, run.items.values.get("unparsed_rate")
    if rates is None or not isinstance(run.setup, MultipleChoice) or run.setup.SEVERAL:
        return ""
    asked = (rates > 0) & (items.response_lengths > 0)
    if rates.mean() <= _MOST_UNREAD or not asked.any():
        return ""
    lengths = items.question_lengths + np.minimum(items.response_lengths, _LONGEST) + _PROMPT
    count, read = int(asked.sum()), int(lengths[asked].sum())
    return (
        f"{run.label} on {task_title(run)} {count:,} requests, {read:,} tokens to read and "
        f"{_REPLY * count:,} to write"
    )


def _unread(run: Run) -> Estimate | None:
    return estimate(run, "unparsed_rate") or estimate(run, "invalid_rate")


def _unjudged(run: Run) -> Estimate | None:
    return estimate(run, "unjudged_rate")


def _truncated(run: Run) -> Estimate | None:
    known = ~np.isnan(run.items.truncated)
    if not known.any():
        return None
    return mean_estimate(run.items.truncated[known], run.items.clusters[known])


def _reading(runs: Sequence[Run]) -> Table:
    """Return how many responses could not be read and why, and how long they are."""
    reasons = sorted({each for run in runs for each in run.items.reasons if each[:5] == "none:"})

    def share(reason: str) -> Callable[[Run], float | None]:
        return lambda run: [*run.items.reasons].count(reason) / len(run.items) or None

    def mean(values: np.ndarray[Any, Any]) -> float | None:
        return float(values.mean()) if len(values) else None

    columns: list[FigureColumn] = [
        MODEL,
        TASK,
        (Column("Unread", "percent", "No answer could be read; they count as wrong."), _unread),
        (Column("Truncated", "percent", "Ended at the length limit, if logged."), _truncated),
        *((Column(each[6:].capitalize(), "percent"), share(each)) for each in reasons),
        (
            Column("Mean length", "number", "Characters of the response without reasoning."),
            lambda run: mean(run.items.response_lengths),
        ),
        (
            Column("Mean reasoning", "number", "Characters, over responses with reasoning."),
            lambda run: mean(run.items.reasoning_lengths[run.items.reasoning_lengths > 0]),
        ),
        (
            Column("Output tokens", "number", "Mean per response, if logged."),
            lambda run: mean(run.items.output_tokens[~np.isnan(run.items.output_tokens)]),
        ),
    ]
    return table("reading", "Responses", runs, columns, _READING)


def _subjects(group: SideBySide[Run]) -> Table:
    """Return averages, categories and subjects; no rows if there is only one subject."""
    runs, some = group.runs, group.runs[0]
    present = {subject.name for run in runs for subject in run.subjects}
    subjects = [each for each in some.setup.task.subjects if each.name in present]
    named = {subject.name for subject in subjects}
    rows: list[tuple[str, str | None, Sequence[Estimate | None]]] = [
        (figure.title, None, values)
        for figure in some.setup.figures
        if figure.averages == "acc" and figure.part not in named
        if any(values := [estimate(run, figure.name) for run in runs])
    ]
    if len(subjects) > 1:
        rows += [
            (
                subject.title,
                subject.chinese or None,
                [estimate(run, "acc", run.items.of_subjects([subject.name])) for run in runs],
            )
            for subject in subjects
        ]
    elif len(rows) < 3:
        rows = []
    few = len(runs) <= 2
    columns: list[tuple[Column, Callable[[Any], Any]]] = [
        (Column("Part"), itemgetter(0)),
        (Column("In Chinese"), itemgetter(1)),
        (Column("Items", "count"), lambda row: max(each.items for each in row[2] if each)),
        *(
            (Column(run.label, "percent", drawn=few, brief=not few), lambda row, at=at: row[2][at])
            for at, run in enumerate(runs)
        ),
    ]
    caption = f"The headline is {headline_title(some)}. Subjects also differ by chance."
    name = f"subjects_{group.name}"
    return table(name, group.title, rows, columns, caption, kind=lambda _: "other")


def _figures(group: SideBySide[Run]) -> Table:
    """Return every figure of a task and its judges, on all items; no rows if it has only one."""
    some = group.runs[0]
    known = [*(each for each in some.setup.figures if not each.part), *JUDGED.values()]
    rows = [each for each in known if any(estimate(run, each.name) for run in group.runs)]

    def value(run: Run) -> Callable[[Figure], Value]:
        def of(figure: Figure) -> Estimate | None:
            found = estimate(run, figure.name)
            return found and found.times(100 if figure.unit in ("share", "rate") else 1)

        return of

    columns: list[tuple[Column, Callable[[Figure], Value]]] = [
        (Column("Figure"), lambda figure: figure_title(some, figure)),
        *((Column(run.label, "score"), value(run)) for run in group.runs),
        (Column("Meaning"), lambda figure: figure.help),
    ]
    caption = "Shares and rates are in %."
    name = f"figures_{group.name}"
    return table(
        name, group.title, rows if len(rows) > 1 else [], columns, caption, kind=lambda _: "other"
    )
