"""Titles of tasks, conditions and figures, checks of runs, and columns that tables share."""

import re
from collections import defaultdict
from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Sequence,
)
from dataclasses import replace
from itertools import chain

import numpy as np

from ...declarations import TaskDefinition
from ...figures import Figure
from ...messages import joined, named, say
from ..runs import UNREAD, Run
from ..statistics.estimates import estimate, harness_agreement, mean_estimate
from ..statistics.intervals import Estimate
from ..statistics.matching import points_of
from .blocks import TableColumn, Value
from .renderers.formatting import listed

_COVERED = "Intervals and p-values cover only the sampling of items, not prompt, seed and decoding."
MANY_UNREAD = 0.02
"""Share of unread responses above which a figure is doubtful."""
MANY_TRUNCATED = 0.01
"""Share of cut-off responses above which a figure is doubtful."""

MANY_CUT = 0.02
"""Share of answers cut off at the token limit above which the figure on the others is shown."""

FigureColumn = tuple[TableColumn, Callable[[Run], Value]]
MODEL: FigureColumn = (TableColumn("Model"), lambda run: run.label)


def side_by_side(runs: Iterable[Run]) -> list[list[Run]]:
    """Group runs that differ only in the model: same task, shots, options and data."""
    groups: dict[Hashable, list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.comparable_as].append(run)
    return [*groups.values()]


def short_name(*parts: str) -> str:
    """Join texts into a name of letters, digits and `_`, such as `hkmmlu_0_shot_prompt_yue`."""
    return re.sub(r"[^A-Za-z0-9]+", "_", " ".join(parts)).strip("_")


def task_title(run: Run) -> str:
    """Return a task's title with its condition."""
    places = {
        "task": short_title(run.definition),
        "condition": condition_title(run),
    }
    if run.is_sample:
        return say("{task}, {condition}, sample data", **places)
    return say("{task}, {condition}", **places)


def short_title(definition: TaskDefinition) -> str:
    """Return a task's title without its condition."""
    return named(definition.title, definition.chinese)


def run_title(run: Run) -> str:
    """Return the names of a run's model and task."""
    return say("{model} on {task}", model=run.label, task=task_title(run))


def distinct_names(runs: Sequence[Run]) -> list[str]:
    """Return names that distinguish the runs: labels, with conditions or numbers if need be."""
    labels = [run.label for run in runs]
    if len(set(labels)) == len(runs):
        return labels
    conditions = [
        say("{model} ({condition})", model=run.label, condition=condition_title(run))
        for run in runs
    ]
    if len(set(conditions)) == len(runs):
        return conditions
    return [f"{label} ({number})" for number, label in enumerate(labels, 1)]


TASK: FigureColumn = (TableColumn("Task and condition"), task_title)


def condition_title(run: Run) -> str:
    """Return the condition, with the options that a variant's name implies besides its shots."""
    variant = run.kind.task.variant
    words = list[str]()
    if variant.cot:
        words.append(say("chain of thought"))
    if variant.script == "sc":
        words.append(say("Simplified script"))
    if variant.scoring == "loglikelihood":
        words.append(say("log-likelihood"))
    is_known = run.shots is not None
    words.append(run.condition if is_known else say(run.condition))
    return joined(", ", words)


def figure_title(run: Run, figure: Figure) -> str:
    """Return the title of a figure of a run, with the figure that it averages."""
    if figure.averages == figure.name:
        return say(figure.title)
    title = figure.title if figure.part else figure.title.lower()
    return say(
        "{figure}, {average}",
        figure=say(run.figures[figure.averages].title),
        average=say(title),
    )


def measure_title(run: Run, figure: Figure) -> str:
    """Return the title of a figure of a run, with a remark if lower is better."""
    title = figure_title(run, figure)
    if figure.higher_is_better:
        return title
    return say("{figure} (lower is better)", figure=title)


def headline(run: Run) -> Estimate | None:
    """Return the value of the headline; its note says if the run was interrupted."""
    value = estimate(run, run.headline.name)
    if value and run.unfinished:
        return replace(value, note=say(run.unfinished))
    return value


def unread_of(run: Run) -> Estimate | None:
    """Return the share of responses from which no answer could be read; None without any."""
    for name in UNREAD:
        if name in run.items.values:
            return estimate(run, name)
    return None


def doubts(run: Run) -> Sequence[str]:
    """Return the doubts about a run's figures, short enough for a table cell."""
    unread = unread_of(run)
    is_unread = unread and unread.value > MANY_UNREAD
    shares = list[str]()
    if unread and is_unread:
        shares.append(say("{share} % unread", share=f"{100 * unread.value:.0f}"))
    return [*_setup_doubts(run), *_result_doubts(run), *shares]


def warning_lines(runs: Sequence[Run], known: Collection[str] = ()) -> list[str]:
    """Return one line for each sort of doubt, with the runs that it concerns, the largest first.

    Args:
        runs: The runs.
        known: Doubts that are said in another place.
    """
    lines = [*_share_lines(runs)]
    concerned = defaultdict[str, list[str]](list)
    for run in runs:
        for doubt in chain(_setup_doubts(run), _result_doubts(run)):
            if doubt not in known:
                concerned[doubt].append(run_title(run))
    for doubt, titles in sorted(concerned.items(), key=lambda entry: -len(entry[1])):
        every = listed(titles)
        if len(titles) == len(runs) > 1:
            every = say("all {number} runs", number=len(titles))
        lines.append(say("{doubt}: {runs}", doubt=doubt, runs=every))
    return lines


def _share_lines(runs: Sequence[Run]) -> Iterator[str]:
    """Yield a line for each doubt about a share of the answers, the runs with the largest first."""
    shares = defaultdict[str, list[tuple[float, str]]](list)
    for run in runs:
        for doubt, share in _shares(run):
            shares[doubt].append((share, run_title(run)))
    for doubt, amounts in shares.items():
        amounts.sort(key=lambda amount: -amount[0])
        texts = list[str]()
        for share, title in amounts:
            percent = f"{100 * share:.0f}"
            texts.append(say("{run} {share} %", run=title, share=percent))
        yield say("{doubt}: {runs}", doubt=doubt, runs=listed(texts))


def _shares(run: Run) -> Iterator[tuple[str, float]]:
    """Yield the shares of answers that are unread or cut off, if they are above the limits."""
    unread = unread_of(run)
    if unread and unread.value > MANY_UNREAD:
        yield say("unread answers"), unread.value
    truncated = truncated_of(run)
    if truncated and truncated.value > MANY_TRUNCATED:
        yield say("answers cut off at the token limit"), truncated.value


def truncated_of(run: Run) -> Estimate | None:
    """Return the share of responses that ended at the token limit; None if not logged."""
    known = ~np.isnan(run.items.truncated)
    if not known.any():
        return None
    return mean_estimate(run.items.truncated[known], run.items.clusters[known])


def _setup_doubts(run: Run) -> Iterator[str]:
    """Yield how a run may differ from the catalogue's task."""
    checked = harness_agreement(run)
    if checked.different:
        yield say("unlike the harness")
    elif not checked.equal:
        yield say("unchecked")
    if not run.signature.prompt_known:
        yield say("prompt and decoding unknown")
    if run.contradictions:
        yield say("contradicts itself")
    if run.other_model:
        yield say("another model answered")
    if run.departure:
        yield say(run.departure)
    if run.sent.more:
        yield " ".join(name for name, _ in run.sent.more)


def _result_doubts(run: Run) -> Iterator[str]:
    """Yield what is doubtful about a run's items, responses and decoding."""
    if run.unfinished:
        yield say(run.unfinished)
    if run.is_local:
        yield say("own data")
    elif run.is_sample:
        yield say("sample data")
    elif not run.trusted_data:
        yield say("{revision} data", revision=run.data or say("unknown"))
    elif len({*run.items.ids}) != run.expected and not run.unfinished:
        yield say("run with --limit") if run.limited else say("not all items")
    yield from _cut_off(run)
    if (
        run.kind.is_generative
        and run.signature.prompt_known
        and run.decoding not in ("", "greedy")
    ):
        yield run.decoding


def _cut_off(run: Run) -> Iterator[str]:
    """Yield the share of answers that a token limit cut off, and the figure on the others."""
    if len(run.items.reasons) < len(run.items):
        return
    unread = [reason.startswith("none: ") for reason in run.items.reasons]
    cut = np.array(unread) & (run.items.truncated == 1)
    share = cut.mean()
    if not MANY_CUT < share < 1:
        return
    answered = replace(run, items=run.items.taken(np.flatnonzero(~cut).tolist()))
    figure = estimate(answered, run.headline.name)
    if figure:
        points = figure.value * points_of(run.headline)
        yield say(
            "{share} % cut off, {score} on the answered",
            share=f"{100 * share:.0f}",
            score=f"{points:.1f}",
        )


def footer_of(runs: Sequence[Run]) -> Sequence[str]:
    """Return the footer: the scope of intervals, and the papers and terms of the benchmarks run."""
    used = {run.kind.task.benchmark.name: run.kind.task.benchmark for run in runs}
    lines = [_COVERED]
    for benchmark in used.values():
        paper = benchmark.paper.removeprefix(f"{benchmark.title}: ")
        line = say(
            "{benchmark}: {paper}. {terms}",
            benchmark=benchmark.title,
            paper=paper,
            terms=say(benchmark.terms),
        )
        lines.append(line)
    return lines
