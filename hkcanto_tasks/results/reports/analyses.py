"""The sections behind the first table: subjects, reading problems, and all figures."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np

from ...figures import Figure
from ...kinds.multiple_choice import MultipleChoice
from ..frames import JUDGED
from ..runs import Run
from ..statistics.estimates import estimate, mean_estimate
from ..statistics.intervals import Estimate
from ..statistics.paired import points_of
from .blocks import Column, Note, Section, Table, Value, table
from .presentation import (
    MANY_UNREAD,
    MODEL,
    TASK,
    FigureColumn,
    figure_title,
    measure_title,
    run_title,
    short_name,
    side_by_side,
    task_title,
)

_MANY_TRUNCATED = 0.01
_CUT = (
    "Many responses end at the length limit, so answers may be missing: {}. Run with a higher "
    "limit (lm-eval: --gen_kwargs max_gen_toks=…, Inspect: --max-tokens …); for a reasoning model "
    "set the task's option reasoning=true."
)
_UNREAD = (
    "No answer could be read from many responses, which count as wrong: {}. Look at some in the "
    "log (inspect view; lm-eval: samples_….jsonl). If they are cut off, raise the length limit; if "
    "a model talks around the answer, try worked examples or +scaffold for all models."
)
_UNJUDGED = (
    "Many answers got no level of their rubric and do not count in the headline: {}. Judge them "
    "again if the judge failed (hkcanto rescore LOGS --grader MODEL -o FOLDER)."
)
_SECOND_LOOK = (
    "A second look at these responses, by a model that reads their letters (`hkcanto rescore LOGS "
    "--reader MODEL -o FOLDER`; Inspect: -T reread=true), would send, at one token a character: {}."
)
_MOST_UNREAD, _LONGEST, _PROMPT, _REPLY = 0.03, 4_000, 89, 16  # as `hkcanto.second_look` sends
_READING = (
    "Generated responses only, as shares of all; blank where nothing was logged. If the shares of "
    "unread responses differ, figures differ in more than knowledge."
)
_COUNTS = {
    "answers": Column("Answers", "count"),
    "prompt_tokens": Column("Prompt tokens", "count", "Including those from a prefix cache."),
    "cached_tokens": Column("Cached tokens", "count", "Prompt tokens from a prefix cache."),
    "answer_tokens": Column("Answer tokens", "count", "Including reasoning."),
    "reasoning_tokens": Column("Reasoning tokens", "count", "Part of the answer tokens."),
    "judge_tokens": Column("Judge tokens", "count", "A judge's prompts and answers."),
    "dollars": Column("Cost in $", "number", "With judges, at the prices of --model-cost-config."),
    "seconds": Column("Seconds", "number"),
}
_USAGE = (
    "Tokens are the provider's count, which lm-eval does not log. Seconds depend on the machine "
    "and its other load, and on the number of concurrent requests."
)


def sections(runs: Sequence[Run]) -> list[Section]:
    """Return the sections of subjects, reading problems, all figures, and tokens and time."""
    groups, of_subjects = side_by_side(runs), side_by_side(runs, "acc")
    every = chain.from_iterable(groups)
    generated = [run for run in every if run.setup.is_generative and run.items.ids]
    problems, cut = [*_problems(generated)], _CUT.partition("{")[0]
    is_cut = any(note.text.startswith(cut) for note in problems)
    used = [run for run in runs if len(run.usage.known) > 1]
    counts = [(column, attrgetter(f"usage.{name}")) for name, column in _COUNTS.items()]
    usage = table("usage", "Tokens and time", used, [MODEL, TASK, *counts], _USAGE)
    return [
        Section("Subjects", [*map(_subjects, of_subjects)], "subjects"),
        Section("Reading problems", [*problems, _reading(generated)], "reading", is_cut),
        Section("All figures", [*map(_figures, groups)], "figures"),
        Section("Tokens and time", [usage], "usage"),
    ]


def _problems(runs: Sequence[Run]) -> Iterator[Note]:
    for text, most, rate_of in (
        (_CUT, _MANY_TRUNCATED, _truncated),
        (_UNREAD, MANY_UNREAD, _unread),
        (_UNJUDGED, MANY_UNREAD, lambda run: estimate(run, "unjudged_rate")),
    ):
        rates = [(run_title(run), rate_of(run)) for run in runs]
        many = [f"{name} {rate.value:.1%}" for name, rate in rates if rate and rate.value > most]
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
        f"{run_title(run)} {count:,} requests, {read:,} tokens to read and "
        f"{_REPLY * count:,} to write"
    )


def _unread(run: Run) -> Estimate | None:
    return estimate(run, "unparsed_rate") or estimate(run, "invalid_rate")


def _truncated(run: Run) -> Estimate | None:
    known = ~np.isnan(run.items.truncated)
    if not known.any():
        return None
    return mean_estimate(run.items.truncated[known], run.items.clusters[known])


def _reading(runs: Sequence[Run]) -> Table:
    """Return how many responses could not be read and why, and how long they are."""

    def share(reason: str, run: Run) -> float | None:
        return [*run.items.reasons].count(reason) / len(run.items) or None

    def mean(name: str, least: float, run: Run) -> float | None:
        lengths = getattr(run.items, name)
        counted = lengths[lengths >= least]  # without NaN
        return float(counted.mean()) if len(counted) else None

    length = Column("Mean length", "number", "Characters of the response without reasoning.")
    reasoning = Column("Mean reasoning", "number", "Characters, over responses with reasoning.")
    tokens = Column("Output tokens", "number", "Mean per response, if logged.")
    reasons = sorted({why for run in runs for why in run.items.reasons if why[:5] == "none:"})
    columns: list[FigureColumn] = [
        *(MODEL, TASK),
        (Column("Unread", "percent", "No answer could be read; they count as wrong."), _unread),
        (Column("Truncated", "percent", "Ended at the length limit, if logged."), _truncated),
        *((Column(why[6:].capitalize(), "percent"), partial(share, why)) for why in reasons),
        (length, partial(mean, "response_lengths", 0)),
        (reasoning, partial(mean, "reasoning_lengths", 1)),
        (tokens, partial(mean, "output_tokens", 0)),
    ]
    return table("reading", "Responses", runs, columns, _READING)


def _subjects(runs: Sequence[Run]) -> Table:
    """Return averages, categories and subjects; no rows if there is only one subject."""
    some = runs[0]
    present = {subject.name for run in runs for subject in run.subjects}
    subjects = [subject for subject in some.setup.task.subjects if subject.name in present]
    rows: list[tuple[str, str | None, list[Estimate | None]]] = [
        (figure.title, None, [estimate(run, figure.name) for run in runs])
        for figure in some.setup.figures
        if figure.averages == "acc" and figure.part not in present
    ]
    for subject in subjects if len(subjects) > 1 else ():
        values = [estimate(run, "acc", (subject.name,)) for run in runs]
        rows.append((subject.title, subject.chinese or None, values))
    rows = [row for row in rows if any(row[2])]
    rows = rows if len(subjects) > 1 or len(rows) > 2 else []
    few = len(runs) <= 2
    columns: list[tuple[Column, Callable[[Any], Any]]] = [
        (Column("Part"), itemgetter(0)),
        (Column("In Chinese"), itemgetter(1)),
        (Column("Items", "count"), lambda row: max(value.items for value in row[2] if value)),
        *(
            (Column(run.label, "percent", drawn=few, brief=not few), lambda row, at=at: row[2][at])
            for at, run in enumerate(runs)
        ),
    ]
    caption = (
        f"The headline is {measure_title(some, some.headline)}. Subjects also differ by chance."
    )
    name = short_name("subjects", some.task, some.condition, "sample" if some.is_sample else "")
    return table(name, task_title(some), rows, columns, caption, kind="other")


def _figures(runs: Sequence[Run]) -> Table:
    """Return every figure of a task and its judges, on all items; no rows if it has only one."""
    some = runs[0]
    known = [*(figure for figure in some.setup.figures if not figure.part), *JUDGED.values()]
    rows = [figure for figure in known if any(estimate(run, figure.name) for run in runs)]

    def value(run: Run, figure: Figure) -> Estimate | None:
        found = estimate(run, figure.name)
        return found and found.times(points_of(figure))

    columns: list[tuple[Column, Callable[[Figure], Value]]] = [
        (Column("Figure"), lambda figure: figure_title(some, figure)),
        *((Column(run.label, "score"), partial(value, run)) for run in runs),
        (Column("Meaning"), lambda figure: figure.help),
    ]
    name, rows = (
        short_name("figures", some.task, some.condition, "sample" if some.is_sample else ""),
        rows if len(rows) > 1 else [],
    )
    about = "Shares and rates are in %."
    return table(name, task_title(some), rows, columns, about, kind="other")
