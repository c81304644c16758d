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

from ...figures import Figure
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
    title = f"{run.definition.title}, {condition_title(run)}"
    return f"{title}, sample data" if run.is_sample else title


def run_title(run: Run) -> str:
    """Return the names of a run's model and task."""
    return f"{run.label} on {task_title(run)}"


def distinct_names(runs: Sequence[Run]) -> list[str]:
    """Return names that distinguish the runs: labels, with conditions or numbers if need be."""
    labels = [run.label for run in runs]
    if len(set(labels)) == len(runs):
        return labels
    conditions = [f"{run.label} ({condition_title(run)})" for run in runs]
    if len(set(conditions)) == len(runs):
        return conditions
    return [f"{label} ({number})" for number, label in enumerate(labels, 1)]


TASK: FigureColumn = (TableColumn("Task and condition"), task_title)


def condition_title(run: Run) -> str:
    """Return the condition, with the options that a variant's name implies besides its shots."""
    variant = run.kind.task.variant
    words = list[str]()
    if variant.cot:
        words.append("chain of thought")
    if variant.script == "sc":
        words.append("Simplified script")
    if variant.scoring == "loglikelihood":
        words.append("log-likelihood")
    return ", ".join([*words, run.condition])


def figure_title(run: Run, figure: Figure) -> str:
    """Return the title of a figure of a run, with the figure that it averages."""
    if figure.averages == figure.name:
        return figure.title
    title = figure.title if figure.part else figure.title.lower()
    return f"{run.figures[figure.averages].title}, {title}"


def measure_title(run: Run, figure: Figure) -> str:
    """Return the title of a figure of a run, with a remark if lower is better."""
    title = figure_title(run, figure)
    return title if figure.higher_is_better else f"{title} (lower is better)"


def headline(run: Run) -> Estimate | None:
    """Return the value of the headline; its note says if the run was interrupted."""
    value = estimate(run, run.headline.name)
    if value and run.unfinished:
        return replace(value, note=run.unfinished)
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
    shares = [f"{100 * unread.value:.0f} % unread"] if unread and is_unread else []
    return [*_setup_doubts(run), *_result_doubts(run), *shares]


def warning_lines(runs: Sequence[Run], known: Collection[str] = ()) -> list[str]:
    """Return one line for each sort of doubt, with the runs that it concerns, the largest first.

    Args:
        runs: The runs.
        known: Doubts that are said in another place.
    """
    shares = defaultdict[str, list[tuple[float, str]]](list)
    concerned = defaultdict[str, list[str]](list)
    for run in runs:
        for text, share in _shares(run):
            shares[text].append((share, run_title(run)))
        for doubt in chain(_setup_doubts(run), _result_doubts(run)):
            if doubt not in known:
                concerned[doubt].append(run_title(run))
    lines = list[str]()
    for text, amounts in shares.items():
        amounts.sort(key=lambda amount: -amount[0])
        named = listed(f"{title} {100 * share:.0f} %" for share, title in amounts)
        lines.append(f"{text}: {named}")
    for doubt, titles in sorted(concerned.items(), key=lambda entry: -len(entry[1])):
        every = (
            f"all {len(titles)} runs"
            if len(titles) == len(runs) > 1
            else listed(titles)
        )
        lines.append(f"{doubt}: {every}")
    return lines


def _shares(run: Run) -> Iterator[tuple[str, float]]:
    """Yield the shares of answers that are unread or cut off, if they are above the limits."""
    unread = unread_of(run)
    if unread and unread.value > MANY_UNREAD:
        yield "unread answers", unread.value
    truncated = truncated_of(run)
    if truncated and truncated.value > MANY_TRUNCATED:
        yield "answers cut off at the token limit", truncated.value


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
        yield "unlike the harness"
    elif not checked.equal:
        yield "unchecked"
    if not run.signature.prompt_known:
        yield "prompt and decoding unknown"
    if run.contradictions:
        yield "contradicts itself"
    if run.other_model:
        yield "another model answered"
    if run.departure:
        yield run.departure
    if run.sent.more:
        yield " ".join(name for name, _ in run.sent.more)


def _result_doubts(run: Run) -> Iterator[str]:
    """Yield what is doubtful about a run's items, responses and decoding."""
    if run.unfinished:
        yield run.unfinished
    if not run.trusted_data:
        yield "own data" if run.is_local else f"{run.data or 'unknown'} data"
    elif len({*run.items.ids}) != run.expected and not run.unfinished:
        yield "run with --limit" if run.limited else "not all items"
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
        yield f"{100 * share:.0f} % cut off, {points:.1f} on the answered"


def footer_of(runs: Sequence[Run]) -> Sequence[str]:
    """Return the footer: the scope of intervals, and the papers and terms of the benchmarks run."""
    used = {run.kind.task.benchmark.name: run.kind.task.benchmark for run in runs}
    lines = [_COVERED]
    for benchmark in used.values():
        paper = benchmark.paper.removeprefix(f"{benchmark.title}: ")
        lines.append(f"{benchmark.title}: {paper}. {benchmark.terms}")
    return lines
