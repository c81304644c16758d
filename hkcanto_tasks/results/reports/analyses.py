"""The sections behind the first table: subjects, reading problems, and all figures."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np

from ...adapters.second_look import LONGEST_RESPONSE, PROMPT_LENGTH
from ...figures import Figure
from ..frames import JUDGED
from ..runs import Run
from ..statistics.estimates import estimate, mean_estimate
from ..statistics.intervals import Estimate
from ..statistics.matching import points_of
from .blocks import Note, Section, TableBlock, TableColumn, Value, table
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
    "Many responses end at the length limit, so answers may be missing: {}. Raise the limit "
    "(lm-eval: --gen_kwargs max_gen_toks=…, Inspect: --max-tokens …); for a reasoning model set "
    "the task's option reasoning=true."
)
_UNREAD = (
    "No answer could be read from many responses, which count as wrong: {}. Look at some in the "
    "log (inspect view; lm-eval: samples_….jsonl). If they are cut off, raise the length limit; "
    "otherwise try worked examples or +scaffold for all models, or let a model read the letters "
    "of multiple choice (hkcanto rescore LOGS --reader MODEL -o FOLDER), which sends, for these "
    "runs and at one token a character, {}."
)
_UNJUDGED = (
    "Many answers got no level of their rubric and do not count in the headline: {}. Judge them "
    "again if the judge failed (hkcanto rescore LOGS --grader MODEL -o FOLDER)."
)
_READING = (
    "Generated responses only, as shares of all; blank where nothing was logged. If the shares of "
    "unread responses differ, figures differ in more than knowledge."
)
_COUNTS = {
    "answers": TableColumn("Answers", "count"),
    "prompt_tokens": TableColumn(
        "Prompt tokens", "count", "Including those from a prefix cache."
    ),
    "cached_tokens": TableColumn(
        "Cached tokens", "count", "Prompt tokens from a prefix cache."
    ),
    "answer_tokens": TableColumn("Answer tokens", "count", "Including reasoning."),
    "reasoning_tokens": TableColumn(
        "Reasoning tokens", "count", "Part of the answer tokens."
    ),
    "judge_tokens": TableColumn(
        "Judge tokens", "count", "A judge's prompts and answers."
    ),
    "dollars": TableColumn(
        "Cost in $", "number", "With judges, at the prices of --model-cost-config."
    ),
    "seconds": TableColumn("Seconds", "number"),
}
_USAGE = (
    "Tokens are the provider's count, which lm-eval does not log. Seconds depend on the machine "
    "and its other load, and on the number of concurrent requests."
)


def sections(runs: Sequence[Run]) -> list[Section]:
    """Return the sections of subjects, reading problems, all figures, and tokens and time."""
    groups, of_accuracy = (
        side_by_side(runs),
        [run for run in runs if estimate(run, "acc")],
    )
    generated = [
        run for run in chain(*groups) if run.kind.is_generative and run.items.ids
    ]
    problems = [*_problems(generated)]
    used = [run for run in runs if len(run.usage.known) > 1]
    counts = [(column, attrgetter(f"usage.{name}")) for name, column in _COUNTS.items()]
    usage = table("usage", "Tokens and time", used, [MODEL, TASK, *counts], _USAGE)
    return [
        Section("Subjects", [*map(_subjects, side_by_side(of_accuracy))], "subjects"),
        Section(
            "Reading problems",
            [*problems, _reading(generated)],
            "reading",
            bool(problems),
        ),
        Section("All figures", [*map(_figures, groups)], "figures"),
        Section("Tokens and time", [usage], "usage"),
    ]


def _problems(runs: Sequence[Run]) -> Iterator[Note]:
    for text, most, rate_of in (
        (_CUT, _MANY_TRUNCATED, _truncated),
        (_UNREAD, MANY_UNREAD, _unread),
        (_UNJUDGED, MANY_UNREAD, lambda run: estimate(run, "unjudged_rate")),
    ):
        rates = [
            (run, rate) for run in runs if (rate := rate_of(run)) and rate.value > most
        ]
        many = "; ".join(f"{run_title(run)} {rate.value:.1%}" for run, rate in rates)
        if many:
            yield Note(
                text.format(many, _second_look([run for run, _ in rates])), "warning"
            )


def _second_look(runs: Sequence[Run]) -> str:
    """Return how many requests a second look sends for runs with one right letter."""
    tokens = list[int]()
    for of in (run.items for run in runs if not getattr(run.kind, "SEVERAL", True)):
        unread = np.greater(of.values.get("unparsed_rate", 0), 0) & (
            of.response_lengths > 0
        )
        responses = np.minimum(of.response_lengths, LONGEST_RESPONSE)
        lengths = PROMPT_LENGTH + of.question_lengths + responses
        tokens += lengths[unread].tolist()
    return f"{len(tokens):,} requests of {sum(tokens):,} tokens together"


def _unread(run: Run) -> Estimate | None:
    return estimate(run, "unparsed_rate") or estimate(run, "invalid_rate")


def _truncated(run: Run) -> Estimate | None:
    known = ~np.isnan(run.items.truncated)
    if not known.any():
        return None
    return mean_estimate(run.items.truncated[known], run.items.clusters[known])


def _reading(runs: Sequence[Run]) -> TableBlock:
    """Return how many responses could not be read and why, and their mean tokens."""

    def share(reason: str, run: Run) -> float | None:
        return [*run.items.reasons].count(reason) / len(run.items) or None

    def tokens(run: Run) -> float | None:
        known = run.items.output_tokens[~np.isnan(run.items.output_tokens)]
        return float(known.mean()) if len(known) else None

    reasons = sorted(
        {why for run in runs for why in run.items.reasons if why[:5] == "none:"}
    )
    columns: list[FigureColumn] = [
        *(MODEL, TASK),
        (
            TableColumn(
                "Unread", "percent", "No answer could be read; they count as wrong."
            ),
            _unread,
        ),
        (
            TableColumn(
                "Truncated", "percent", "Ended at the length limit, if logged."
            ),
            _truncated,
        ),
        *(
            (TableColumn(why[6:].capitalize(), "percent"), partial(share, why))
            for why in reasons
        ),
        (
            TableColumn("Output tokens", "number", "Mean per response, if logged."),
            tokens,
        ),
    ]
    return table("reading", "Responses", runs, columns, _READING)


def _subjects(runs: Sequence[Run]) -> TableBlock:
    """Return averages, categories and subjects; no rows if there is only one subject."""
    some, few = runs[0], len(runs) <= 2
    present = {subject.name for run in runs for subject in run.subjects}
    subjects = [
        subject for subject in some.kind.task.subjects if subject.name in present
    ]
    rows: list[tuple[Any, ...]] = [
        (figure.title, None, *(estimate(run, figure.name) for run in runs))
        for figure in some.kind.figures
        if figure.averages == "acc" and figure.part not in present
    ]
    for subject in subjects if len(subjects) > 1 else ():
        values = [estimate(run, "acc", (subject.name,)) for run in runs]
        rows.append((subject.title, subject.chinese or None, *values))
    rows = [row for row in rows if any(row[2:])]
    columns: list[tuple[TableColumn, Callable[[Any], Any]]] = [
        (TableColumn("Part"), itemgetter(0)),
        (TableColumn("In Chinese"), itemgetter(1)),
        (
            TableColumn("Items", "count"),
            lambda row: max(value.items for value in row[2:] if value),
        ),
        *(
            (
                TableColumn(run.label, "percent", drawn=few, brief=not few),
                itemgetter(at),
            )
            for at, run in enumerate(runs, 2)
        ),
    ]
    about = f"The headline is {measure_title(some, some.headline)}. Subjects also differ by chance."
    listed = rows if len(subjects) > 1 or len(rows) > 2 else []
    return table(
        _name("subjects", some), task_title(some), listed, columns, about, kind="other"
    )


def _figures(runs: Sequence[Run]) -> TableBlock:
    """Return every figure of a task and its judges, on all items; no rows if it has only one."""
    some = runs[0]
    known = [
        *(figure for figure in some.kind.figures if not figure.part),
        *JUDGED.values(),
    ]
    rows = [
        figure for figure in known if any(estimate(run, figure.name) for run in runs)
    ]

    def value(run: Run, figure: Figure) -> Estimate | None:
        found = estimate(run, figure.name)
        return found and found.times(points_of(figure))

    columns: list[tuple[TableColumn, Callable[[Figure], Value]]] = [
        (TableColumn("Figure"), partial(figure_title, some)),
        *((TableColumn(run.label, "score"), partial(value, run)) for run in runs),
        (TableColumn("Meaning"), attrgetter("help")),
    ]
    listed, about = rows if len(rows) > 1 else [], "Shares and rates are in %."
    return table(
        _name("figures", some), task_title(some), listed, columns, about, kind="other"
    )


def _name(what: str, run: Run) -> str:
    return short_name(what, run.task, run.condition, "sample" if run.is_sample else "")
