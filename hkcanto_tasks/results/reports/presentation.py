"""Titles of tasks, conditions and figures, checks of runs, and columns that tables share."""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace

from ...figures import Figure
from ..runs import UNREAD, Run
from ..statistics.estimates import estimate, harness_agreement
from ..statistics.intervals import Estimate
from .blocks import TableColumn, Value

_COVERED = "Intervals and p-values cover only the sampling of items, not prompt, seed and decoding."
MANY_UNREAD = 0.02
"""Share of unread responses above which a figure is doubtful."""

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
    words = {
        "chain of thought": variant.cot,
        "Simplified script": variant.script == "sc",
        "log-likelihood": variant.scoring == "loglikelihood",
    }
    return ", ".join([*(word for word, holds in words.items() if holds), run.condition])


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
    found = estimate(run, run.headline.name)
    return replace(found, note=run.unfinished) if found and run.unfinished else found


def unread_of(run: Run) -> Estimate | None:
    """Return the share of responses from which no answer could be read; None without any."""
    name = next((name for name in UNREAD if name in run.items.values), None)
    return estimate(run, name) if name else None


def doubts(run: Run) -> Sequence[str]:
    """Return the doubts about a run's figures, short enough for a table cell."""
    checked = harness_agreement(run)
    lacks = (
        len({*run.items.ids}) != run.expected
        and run.trusted_data
        and not run.unfinished
    )
    share = unread.value if (unread := unread_of(run)) else 0.0
    decoding = run.decoding if run.kind.is_generative else ""
    prompt_known = run.signature.prompt_known
    texts = {
        "unlike the harness": bool(checked.different),
        "unchecked": not (checked.equal or checked.different),
        "prompt and decoding unknown": not prompt_known,
        run.departure: bool(run.departure),
        " ".join(name for name, _ in run.sent.more): bool(run.sent.more),
        run.unfinished: bool(run.unfinished),
        "own data"
        if run.is_local
        else f"{run.data or 'unknown'} data": not run.trusted_data,
        "run with --limit" if run.limited else "not all items": lacks,
        f"{share:.0%} unread": share > MANY_UNREAD,
        decoding: prompt_known and decoding not in ("", "greedy"),
    }
    return [text for text, holds in texts.items() if holds]


def footer_of(runs: Sequence[Run]) -> Sequence[str]:
    """Return the footer: the scope of intervals, and the papers and terms of the benchmarks run."""
    used = {run.kind.task.benchmark.name: run.kind.task.benchmark for run in runs}
    ends = [
        f"{of.title}: {of.paper.removeprefix(f'{of.title}: ')}. {of.terms}"
        for of in used.values()
    ]
    return [_COVERED, *ends]
