"""Comparisons for people to read: a verdict in words, tables, and the gate above all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import combinations
from math import floor, log10
from operator import itemgetter
from typing import Any

from .blocks import Block, Column, Note, Section, Table, Unit, Value, table
from .comparison import Comparison, Effect
from .evaluations import Evaluation
from .figures import Figure
from .presentation import condition_title, short_name

_HELP = {
    "Difference": "The second minus the first, with 95 % interval.",
    "W/L/T": "Items on which the second wins, loses and ties.",
    "p": "How likely such a difference is if there is none.",
    "p by Holm": "The same, adjusted for the number of parts, subjects or pairs.",
    "p by bootstrap": "The same as sacreBLEU computes it from the resamples.",
    "Loses at most": "Points. At a δ of as many the verdict flips.",
    "δ": "Points that it may lose.",
    "Needed": "Items it takes for a run to pass that equals the first one in every item.",
    "Projected": "Items it takes to pass if further ones turn out as these did.",
}


def sections(compared: Sequence[Comparison]) -> Sequence[Section]:
    """Return what the comparisons on a task show; the subjects, which are many, in a second one.

    Args:
        compared: That of two evaluations, or those of several pairwise.
    """
    first = compared[0]
    evaluations = list(dict.fromkeys(side for one in compared for side in (one.a, one.b)))
    names, task = _names(evaluations), first.a.named.entry.title
    remarks = _remarks(compared, evaluations, names)
    words = [word for side in evaluations for word in (side.task, side.condition)]
    if len(compared) > 1:
        name = short_name("pairwise", *words[:2], first.metric.name)
        pairs = [(" against ".join(_names([one.b, one.a])), one.overall) for one in compared]
        listed = _effects(first, f"{name}_list", "Pair by pair", pairs, ["First", "Second"])
        blocks: list[Block] = [*remarks, _matrix(compared, names, f"{name}_matrix"), listed]
        title = f"{task}: {len(names)} evaluations pairwise"
        return [Section(title, blocks, name.replace("_", "-"), is_summary=True)]
    name = short_name("compare", *words, first.metric.name)
    title, short = f"{task}: {' against '.join(reversed(names))}", name.replace("_", "-")
    titles = {own.name: own.title for own in first.a.named.subjects}
    titles |= {own.name: own.title for own in first.a.figures.values()}
    parts = {name: [(titles[one.name], one) for one in own] for name, own in first.parts.items()}
    subjects = parts.pop("subjects", [])
    rows = [("All items", first.overall), *(row for own in parts.values() for row in own)]
    made = _effects(first, name, first.metric.title, rows, names)
    found = [Section(title, [Note(verdict(first)), *remarks, made], short, is_summary=True)]
    if subjects:
        table = _effects(first, f"{name}_subjects", "Subjects", subjects, names)
        found.append(Section(f"{title}, by subject", [table], f"{short}-subjects"))
    return found


def verdict(comparison: Comparison) -> str:
    """Say in a sentence how B compares with A; the interval is that of B minus A."""
    name_a, name_b = _names([comparison.a, comparison.b])
    effect, metric = comparison.overall, comparison.metric
    change = effect.difference.value * comparison.points
    size = f"{abs(change):.1f}" if abs(change) >= 0.1 else f"{abs(change):.1g}"
    better = "better" if (change > 0) == metric.higher_is_better else "worse"
    said = f"{size} points {better} than" if change else "as good as"
    lower = "" if metric.higher_is_better else "lower is better; "
    significant = "significant" if effect.is_significant else "not significant"
    adjusted = "" if effect.p_by_holm is None else f", by Holm {_p(effect.p_by_holm)}"
    return (
        f"{name_b} is {said} {name_a} in {metric.title} ({lower}{_span(comparison)}), "
        f"{significant}: {effect.test} {_p(effect.p_value)}{adjusted}; it wins "
        f"{effect.wins:,} items, loses {effect.losses:,}, ties {effect.ties:,}."
    )


def gate_of(
    compared: Sequence[Comparison], delta: float, left_out: Sequence[str]
) -> tuple[Mapping[str, Any], Section]:
    """Return the verdict of a gate on all tasks, for programs and as the section to read first.

    Args:
        compared: All comparisons; those with a gate count.
        delta: The tolerance in points.
        left_out: What was not compared, without which no gate is passed.
    """
    gated = [(one, one.gate) for one in compared if one.gate is not None]
    tasks = [
        {
            "task": one.a.named.entry.name,
            "title": one.a.named.entry.title,
            "metric": one.metric.name,
            "compared": " against ".join(_names([one.b, one.a])),
            "verdict": "passed" if gate.passed else "not passed",
            "delta": delta,
            **asdict(gate),
        }
        for one, gate in gated
    ]
    failed = sum(not gate.passed for _, gate in gated)
    method = "; ".join(dict.fromkeys(gate.method for _, gate in gated))
    text = f"Gate passed: it loses less than δ = {delta:g} points in every test below."
    if left_out:
        text = f"Gate open: {len(left_out)} things were not compared, see below."
    if failed:
        text = f"Gate not passed: it may lose δ = {delta:g} points or more in {failed} tests below."
    record = {
        "verdict": "not passed" if failed else "incomplete" if left_out else "passed",
        "delta": delta,
        "bound": max((gate.bound for _, gate in gated), default=None),
        "method": method,
        "tasks": tasks,
        "not_compared": left_out,
    }
    columns: list[tuple[str, Unit]] = [("Task", "text"), ("Gate", "text")]
    columns += [("Loses at most", "number"), ("δ", "number"), ("Needed", "count")]
    columns += [("Projected", "count"), ("Compared", "text"), ("Method", "text")]
    keys = ("title", "verdict", "bound", "delta", "needed_items", "projected_items")
    rows = [[task[key] for key in (*keys, "compared", "method")] for task in tasks]
    made = _table("gate", "Non-inferiority, task by task", columns, rows)
    text += f" The bounds are one-sided, 95 %: {method}." if method else ""
    note = Note(text, "warning" if failed or left_out else "info")
    return record, Section("Gate", [note, made], "gate", is_summary=True)


def _p(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"


def _span(comparison: Comparison) -> str:
    """Return the interval, with as many digits as it takes not to read as zero."""
    found = comparison.overall.difference
    if found.low is None or found.high is None:
        return "without an interval"
    ends = [end * comparison.points for end in (found.low, found.high)]
    largest = max(map(abs, ends))
    digits = max(1, -floor(log10(largest))) if largest else 1
    low, high = (f"{end:+z.{digits}f}".replace("-", "−") for end in ends)
    return f"95 % {low} to {high}"


def _names(evaluations: Sequence[Evaluation]) -> list[str]:
    """Return names that tell the evaluations apart."""
    labels = [side.label for side in evaluations]
    conditions = [f"{side.label} ({condition_title(side)})" for side in evaluations]
    numbers = [f"{label} ({place})" for place, label in enumerate(labels, 1)]
    return next((n for n in (labels, conditions) if len(set(n)) == len(n)), numbers)


def _remarks(
    compared: Sequence[Comparison], evaluations: Sequence[Evaluation], names: Sequence[str]
) -> Sequence[Note]:
    """Say what else the evaluations differ in, and what makes their figures less than they seem."""

    first, unscored = evaluations[0], max(one.unscored for one in compared)
    how = [f"{side.task}, {condition_title(side)}, {side.harness}" for side in evaluations]
    named = "; ".join(f"{name}: {own}" for name, own in zip(names, how, strict=True))
    remarks = [
        (
            len({side.named.variant.scoring for side in evaluations}) > 1,
            "Log-likelihood of the letters is compared with generated answers. These are two "
            "measures, which may rank the same models differently: the difference is not one of "
            "the models alone.",
        ),
        (
            all(side.is_local for side in evaluations),
            "They ran on files of your own, not on the release; that these are the same was "
            "checked by the questions' lengths only.",
        ),
        (first.is_sample, "This is the sample data: its figures mean nothing elsewhere."),
        (
            not (first.is_sample or first.complete),
            f"Only {len(set(first.items.ids)):,} of the task's items were run.",
        ),
        (unscored > 0, f"{unscored:,} items are left out, because a run has no value for them."),
    ]
    said = [f"The difference is also one of the conditions. {named}."] * (len(set(how)) > 1)
    said += dict.fromkeys(note for side in evaluations for note in side.notes)
    return [Note(text, "warning") for holds, text in remarks if holds] + list(map(Note, said))


def _effects(
    of: Comparison,
    name: str,
    title: str,
    effects: Sequence[tuple[str, Effect]],
    names: Sequence[str],
) -> Table:
    """Return a table of effects; what is compared comes first, for it must fit a terminal."""
    change, own = _units(of)
    columns: list[tuple[str, Unit]] = [("Part", "text"), ("Difference", change), ("W/L/T", "text")]
    columns += [("p", "p"), ("p by Holm", "p"), ("p by bootstrap", "p")]
    columns += [*((name, own) for name in names), ("Test", "text")]
    rows = [
        (
            *(part, effect.difference, f"{effect.wins:,}/{effect.losses:,}/{effect.ties:,}"),
            *(effect.p_value, effect.p_by_holm, effect.p_by_bootstrap),
            *(effect.a, effect.b, effect.test),
        )
        for part, effect in effects
    ]
    way = "Higher" if of.metric.higher_is_better else "Lower"
    drawn = "Difference" if len(effects) > 1 else ""
    return _table(name, title, columns, rows, f"{way} is better.", drawn)


def _matrix(compared: Sequence[Comparison], names: Sequence[str], name: str) -> Table:
    """Return a table with the difference of each row's model minus each column's."""
    cells: dict[tuple[int, int], Figure] = {}
    for (i, j), one in zip(combinations(range(len(names)), 2), compared, strict=True):
        note = "significant" if one.overall.is_significant else ""
        cells[j, i] = there = replace(one.overall.difference, note=note)
        low, high = (None if end is None else -end for end in (there.high, there.low))
        cells[i, j] = Figure(-there.value, low, high, there.items, note)
    places = range(len(names))
    rows = [(names[row], *(cells.get((row, column)) for column in places)) for row in places]
    columns: list[tuple[str, Unit]] = [("Model", "text")]
    columns += [(name, _units(compared[0])[0]) for name in names]
    way = "higher" if compared[0].metric.higher_is_better else "lower"
    caption = (
        f"The model of the row minus that of the column, with 95 % interval; {way} is better. "
        "Significant: p < 0.05 by Holm over the pairs."
    )
    return _table(name, compared[0].metric.title, columns, rows, caption)


def _table(
    name: str,
    title: str,
    columns: Sequence[tuple[str, Unit]],
    rows: Sequence[Sequence[Value]],
    caption: str = "",
    drawn: str = "",
) -> Table:
    of = [
        (Column(heading, unit, _HELP.get(heading, ""), drawn=heading == drawn), itemgetter(place))
        for place, (heading, unit) in enumerate(columns)
    ]
    return table(name, title, rows, of, caption)


def _units(of: Comparison) -> tuple[Unit, Unit]:
    """Return the units of a difference and of a figure."""
    return ("score_points", "score") if of.metric.unit == "score" else ("points", "percent")
