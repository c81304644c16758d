"""The sections behind the first table: subjects, reading problems, and all figures."""

from collections.abc import (
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from ...adapters.second_look import LONGEST_RESPONSE, PROMPT_LENGTH
from ...figures import Figure
from ...messages import joined, named, say, verbatim
from ..frames import JUDGED
from ..runs import Run
from ..statistics.estimates import estimate
from ..statistics.intervals import Estimate
from ..statistics.matching import points_of
from .blocks import (
    Note,
    Section,
    TableBlock,
    TableColumn,
    Value,
    table,
)
from .presentation import (
    MANY_TRUNCATED,
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
    truncated_of,
)

_CUT = (
    "Many responses end at the length limit, so answers may be missing: {runs}. Raise the limit "
    "(lm-eval: --gen_kwargs max_gen_toks=…, Inspect: --max-tokens …); for a reasoning model set "
    "the task's option reasoning=true."
)
_UNREAD = (
    "No answer could be read from many responses, which count as wrong: {runs}. Look at some in the "
    "log (inspect view; lm-eval: samples_….jsonl). If they are cut off, raise the length limit; "
    "otherwise try worked examples or +scaffold for all models, or let a model read the letters "
    "of multiple choice (hkcanto rescore LOGS --reader MODEL -o FOLDER), which sends, for these "
    "runs and at one token a character, {requests:,} requests of {tokens:,} tokens together."
)
_EMPTY = (
    "Empty responses, which count as wrong: {runs}. Failed requests? lm-eval logs an error of the "
    "server, such as a rate limit or an error in a body with status 200, as an empty response. "
    "Run these items again."
)
_UNJUDGED = (
    "Many answers got no level of their rubric and do not count in the headline: {runs}. Judge them "
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
    groups = side_by_side(runs)
    of_accuracy = side_by_side([run for run in runs if estimate(run, "acc")])
    generated = [
        run for run in chain(*groups) if run.kind.is_generative and run.items.ids
    ]
    problems = [*_problems(generated)]
    responses = _responses_table(generated)
    return [
        Section("Subjects", [*map(_subjects_table, of_accuracy)], "subjects"),
        Section(
            "Reading problems",
            [*problems, responses],
            "reading",
            is_summary=bool(problems),
        ),
        Section("All figures", [*map(_figures_table, groups)], "figures"),
        Section("Tokens and time", [_usage_table(runs)], "usage"),
    ]


def _usage_table(runs: Sequence[Run]) -> TableBlock:
    """Return the tokens, cost and time of the runs that logged them."""
    used = [run for run in runs if len(run.usage.known) > 1]
    columns = [MODEL, TASK]
    for name, column in _COUNTS.items():
        columns.append((column, attrgetter(f"usage.{name}")))
    return table(
        "usage",
        "Tokens and time",
        used,
        columns,
        _USAGE,
    )


def _problems(runs: Sequence[Run]) -> Iterator[Note]:
    """Warn of responses that are cut off, unread, or not judged."""
    truncated = _above(MANY_TRUNCATED, truncated_of, runs)
    unread = _above(MANY_UNREAD, _unread, runs)
    unjudged = _above(MANY_UNREAD, _unjudged, runs)
    empty = [run for run in runs if _empty(run) > MANY_UNREAD * len(run.items)]
    # Empty responses explain the unread ones of a run.
    for run in empty:
        if unread.get(run, 1) * len(run.items) - _empty(run) <= MANY_UNREAD * len(
            run.items
        ):
            unread.pop(run, None)
    if empty:
        counts = [
            say(
                "{run} {number:,} of {total:,}",
                run=run_title(run),
                number=_empty(run),
                total=len(run.items),
            )
            for run in empty
        ]
        yield Note(say(_EMPTY, runs=joined("; ", counts)), "warning")
    if truncated:
        yield Note(say(_CUT, runs=_rates(truncated)), "warning")
    if unread:
        lengths = _second_look([*unread])
        text = say(
            _UNREAD, runs=_rates(unread), requests=len(lengths), tokens=sum(lengths)
        )
        yield Note(text, "warning")
    if unjudged:
        yield Note(say(_UNJUDGED, runs=_rates(unjudged)), "warning")


def _above(
    limit: float,
    rate_of: Callable[[Run], Estimate | None],
    runs: Sequence[Run],
) -> dict[Run, float]:
    """Return the runs with a rate above a limit, and their rates."""
    rates = dict[Run, float]()
    for run in runs:
        rate = rate_of(run)
        if rate and rate.value > limit:
            rates[run] = rate.value
    return rates


def _rates(rates: Mapping[Run, float]) -> str:
    return joined(
        "; ",
        (
            say("{run} {share} %", run=run_title(run), share=f"{100 * rate:.1f}")
            for run, rate in rates.items()
        ),
    )


def _second_look(runs: Sequence[Run]) -> list[int]:
    """Return the lengths, in tokens, of a second look's requests for runs with one right letter."""
    tokens = list[int]()
    for run in runs:
        if getattr(run.kind, "SEVERAL", True):
            continue
        items = run.items
        is_unread = np.greater(items.values.get("unparsed_rate", 0), 0)
        is_unread &= items.response_lengths > 0
        responses = np.minimum(items.response_lengths, LONGEST_RESPONSE)
        lengths = PROMPT_LENGTH + items.question_lengths + responses
        tokens += lengths[is_unread].tolist()
    return tokens


def _empty(run: Run) -> int:
    """Return the number of lm-eval's responses without any text, not even reasoning."""
    items = run.items
    if run.harness != "lm-eval" or not run.kind.is_generative:
        return 0
    has_reasoning = ~np.isnan(items.values.get("reasoning_finished", np.nan))
    return int(((items.response_lengths == 0) & ~has_reasoning).sum())


def _unjudged(run: Run) -> Estimate | None:
    return estimate(run, "unjudged_rate")


def _unread(run: Run) -> Estimate | None:
    return estimate(run, "unparsed_rate") or estimate(run, "invalid_rate")


def _output_tokens(run: Run) -> float | None:
    """Return the mean of a response's tokens; None if not logged."""
    known = run.items.output_tokens[~np.isnan(run.items.output_tokens)]
    return float(known.mean()) if len(known) else None


def _share_of(reason: str, run: Run) -> float | None:
    """Return the share of responses that are unread for a reason; None without any."""
    return [*run.items.reasons].count(reason) / len(run.items) or None


def _responses_table(runs: Sequence[Run]) -> TableBlock:
    """Return how many responses could not be read and why, and their mean tokens."""
    unread = "No answer could be read; they count as wrong."
    truncated = "Ended at the length limit, if logged."
    tokens = "Mean per response, if logged."
    columns: list[FigureColumn] = [
        MODEL,
        TASK,
        (TableColumn("Unread", "percent", unread), _unread),
        (TableColumn("Truncated", "percent", truncated), truncated_of),
    ]
    reasons = {*chain.from_iterable(run.items.reasons for run in runs)}
    for reason in sorted(reasons):
        if reason.startswith("none:"):
            title = reason.removeprefix("none:")[1:].capitalize()
            share = partial(_share_of, reason)
            columns.append((TableColumn(title, "percent"), share))
    columns.append((TableColumn("Output tokens", "number", tokens), _output_tokens))
    return table(
        "reading",
        "Responses",
        runs,
        columns,
        _READING,
    )


class _Part(NamedTuple):
    """An average, a category or a subject, with its accuracy in each run."""

    title: str
    chinese: str | None
    values: Sequence[Estimate | None]

    @property
    def items(self) -> int:
        """The largest number of items of a run."""
        return max(value.items for value in self.values if value)


def _value(position: int, part: _Part) -> Estimate | None:
    return part.values[position]


def _subjects_table(runs: Sequence[Run]) -> TableBlock:
    """Return averages, categories and subjects; no rows if there is only one subject."""
    first = runs[0]
    averages = _averages(runs)
    subjects = _subjects(runs)
    rows = [*averages, *subjects] if len(subjects) > 1 else averages
    rows = [part for part in rows if any(part.values)]
    columns: list[tuple[TableColumn, Callable[[_Part], Value]]] = [
        (TableColumn("Part"), attrgetter("title")),
        (TableColumn("In Chinese"), attrgetter("chinese")),
        (TableColumn("Items", "count"), attrgetter("items")),
    ]
    # The intervals of more runs would hide each other.
    drawn = len(runs) <= 2
    for position, run in enumerate(runs):
        column = TableColumn(
            verbatim(run.label),
            "percent",
            drawn=drawn,
            brief=not drawn,
        )
        columns.append((column, partial(_value, position)))
    headline = measure_title(first, first.headline)
    is_of_one = len(subjects) < 2 and len(rows) < 3
    return table(
        _name("subjects", first),
        task_title(first),
        [] if is_of_one else rows,
        columns,
        say(
            "The headline is {figure}. Subjects also differ by chance.", figure=headline
        ),
        kind="other",
    )


def _present(runs: Sequence[Run]) -> set[str]:
    """Return the names of the subjects that some run has."""
    return {subject.name for run in runs for subject in run.subjects}


def _averages(runs: Sequence[Run]) -> list[_Part]:
    """Return the averages of accuracy, without those of a part that is a subject."""
    present = _present(runs)
    return [
        _Part(say(figure.title), None, [estimate(run, figure.name) for run in runs])
        for figure in runs[0].kind.figures
        if figure.averages == "acc" and figure.part not in present
    ]


def _subjects(runs: Sequence[Run]) -> list[_Part]:
    """Return the subjects that some run has, in the task's order."""
    present = _present(runs)
    parts = list[_Part]()
    for subject in runs[0].kind.task.subjects:
        if subject.name in present:
            values = [estimate(run, "acc", (subject.name,)) for run in runs]
            title = named(subject.title, subject.chinese)
            other = named(subject.chinese, subject.title) or None
            parts.append(_Part(title, other, values))
    return parts


def _figures_table(runs: Sequence[Run]) -> TableBlock:
    """Return every figure of a task and its judges, on all items; no rows if it has only one."""
    first = runs[0]
    figures = [figure for figure in first.kind.figures if not figure.part]
    figures += JUDGED.values()
    rows = [
        figure for figure in figures if any(estimate(run, figure.name) for run in runs)
    ]
    columns: list[tuple[TableColumn, Callable[[Figure], Value]]] = [
        (TableColumn("Figure"), partial(figure_title, first)),
        *(
            (TableColumn(verbatim(run.label), "score"), partial(_in_points, run))
            for run in runs
        ),
        (TableColumn("Meaning"), lambda figure: say(figure.help)),
    ]
    return table(
        _name("figures", first),
        task_title(first),
        rows if len(rows) > 1 else [],
        columns,
        "Shares and rates are in %.",
        kind="other",
    )


def _in_points(run: Run, figure: Figure) -> Estimate | None:
    """Return a figure of a run, from 0 to 100 if it is a share or a rate."""
    value = estimate(run, figure.name)
    return value and value.times(points_of(figure))


def _name(prefix: str, run: Run) -> str:
    suffix = "sample" if run.is_sample else ""
    return short_name(
        prefix,
        run.task,
        run.condition,
        suffix,
    )
