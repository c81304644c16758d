"""The report of `hkcanto compare`: runs are compared in pairs, to see which model is better."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import compress
from operator import itemgetter
from typing import Any

from ...errors import ComparisonError, OptionError
from ..logs import read_runs
from ..runs import Run
from ..statistics.intervals import CONFIDENCE, WIDE, Estimate
from ..statistics.paired import (
    RESAMPLES,
    SEED,
    Comparison,
    Effect,
    adjusted,
    pairwise,
    points_of,
)
from .analyses.conditions import TWO_MEASURES
from .blocks import Block, Column, Note, Report, Section, Value, table
from .effects import by_size, effects_table
from .frames import effect_rows
from .presentation import condition_title, figure_title, short_name, task_title
from .report import footer_of, report_of

_INTERVALS = (
    "Intervals of differences: Tango's for right and wrong answers and for means over subjects, "
    "bootstrap for corpus figures, Student's t for the others."
)
_OWN_FILES = (
    "They ran on your own files, not on the release. Only the lengths of the questions were "
    "checked to see that both used the same files."
)
_ASKED = (
    "For some of these models neither the prompt nor the decoding was logged: the difference may "
    "also come from these."
)
_EDITED = {
    "sent": "Their requests differ: the prompt, worked examples, stop texts or token limit was "
    "edited between the runs",
    "read": "Their answers were read differently: the rules were edited between the runs",
}
"""The warning if two setups differ only in a hash."""
_GATE = {
    "title": Column("Task"),
    "figure": Column("Figure"),
    "verdict": Column("Gate"),
    "bound": Column("Loses at most", "number", "In points. The gate passes if δ is larger."),
    "needed_items": Column("Needed", "count", "Items for a run equal to the first to pass."),
    "compared": Column("Compared"),
    "method": Column("Method"),
}
"""The columns of the gate's table, by the keys of its records."""
_GAIN = Column(
    "Gain",
    "score_points",
    f"The second minus the first, or the reverse if lower is better; 95 % interval: {WIDE}.",
)
_NAMED = 5  # tests or tasks that are named; more are counted


def compare_runs(
    runs: Sequence[str],
    *,
    metric: str | None = None,
    gate: float | None = None,
    look: tuple[int, int] = (1, 1),
    candidates: int = 1,
    allowed: Collection[str] = (),
    seed: int = SEED,
    resamples: int = RESAMPLES,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Report, int]:
    """Read runs and compare their models: two with each other, more than two pairwise.

    Args:
        runs: Logs or folders of logs, optionally as NAME=PATH; gates test against the first.
        metric: As in `compare`, like gate, allowed, seed and resamples.
        look: Number of this look at growing runs and number of planned looks, such as (2, 4). The
            looks share the gate's 5 % error equally, which keeps it at 5 % at most (Bonferroni).
        candidates: The number of runs that the winner is chosen from; they share the 5 % error too.
        progress: Called with the number of logs read so far and the total.

    Returns:
        The report, and the exit status: 1 if a gate is not passed; else 2 if a comparison was
        refused, or if a gate left something untested (a task without a partner or figure, or an
        unread log); else 0.

    Raises:
        HKCantoError: Nothing could be read (`LogError`) or compared (`ComparisonError`), or there
            are more candidates or looks than declared (`OptionError`).
    """
    if not 1 <= look[0] <= look[1]:
        raise OptionError(f"look {look[0]}/{look[1]}: give it as 2/4, the second of four.")
    read = read_runs(runs, progress=progress)
    sides = _sides(list(zip(read.places, read.runs, strict=True)))
    if 1 < candidates < len(sides) - 1:
        raise OptionError(f"{len(sides) - 1} candidates are compared, not {candidates}.")
    tested = {"confidence": 1 - (1 - CONFIDENCE) / (look[1] * candidates), "allowed": allowed}
    options: dict[str, Any] = {"metric": metric, "seed": seed, "resamples": resamples, **tested}
    groups, left_out = _groups(sides)
    left_out += [f"{log.path}: {log.reason}." for log in read.skipped]
    found, refused = list[Sequence[Comparison]](), list[str]()
    for group in groups:
        known = [*group[0].figures]
        if metric not in (None, *known):
            told = f"it has no figure {metric!r}; its figures are {', '.join(known)}."
            left_out.append(f"{task_title(group[0])}: {told}")
            continue
        own = gate if group[0] in sides[0] else None
        try:
            found.append(pairwise(group, gate=own, **options))
        except ComparisonError as error:
            refused.append(str(error))
    not_compared = [*refused, *left_out]
    if not found:
        advice = [] if refused else [_advice(sides)]
        raise ComparisonError("\n".join(["nothing to compare.", *not_compared, *advice]))
    every = [one for compared in found for one in compared]
    made = [*first_section(every, not_compared), *(each for own in found for each in sections(own))]
    if not_compared:
        notes = [Note(line, "warning") for line in not_compared]
        made.append(Section("Not compared", notes, "not-compared", is_summary=True))
    status = 2 if refused or (left_out and gate is not None) else 0
    records: dict[str, Any] = {"gate": None, "comparisons": [_record(one) for one in every]}
    if gate is not None:
        records["gate"], first = gate_of(every, gate, not_compared, look, candidates)
        made.insert(0, first)
        status = 1 if records["gate"]["verdict"] == "not passed" else status
    title = " against ".join(reversed(list(dict.fromkeys(e.label for e in read.runs))))
    how = f"{_INTERVALS} Random numbers: seed {seed}, {resamples:,} resamples or exchanges."
    frame = partial(effect_rows, every, gate)
    return report_of(made, title, [*footer_of(read.runs), how], records, frame), status


def sections(compared: Sequence[Comparison]) -> Sequence[Section]:
    """Return the sections of a task: one comparison and its subjects, or a table of all pairs."""
    first = compared[0]
    sides = list(dict.fromkeys(side for one in compared for side in (one.a, one.b)))
    names, task = _names(sides), first.a.definition.title
    remarks = _remarks(compared, sides, names)
    words = [word for side in sides[:2] for word in (side.task, side.condition)]
    name = short_name("compare", *words, first.figure.name)
    if len(compared) > 1:
        name = f"{name}_pairwise"
        pairs = [(" against ".join(_names([one.b, one.a])), one.overall) for one in compared]
        of = figure_title(first.a, first.figure)
        made = effects_table(first.figure, name, of, pairs, ["First", "Second"])
        title = f"{task}: {len(names)} runs pairwise"
        return [Section(title, [*remarks, made], name.replace("_", "-"), is_summary=True)]
    title, short = f"{task}: {' against '.join(reversed(names))}", name.replace("_", "-")
    titles = {own.name: own.title for own in first.a.setup.task.subjects}
    titles |= {own.name: own.title for own in first.a.figures.values()}
    parts = {name: [(titles[one.name], one) for one in own] for name, own in first.parts.items()}
    subjects = parts.pop("subjects", [])
    rows = [("All items", first.overall), *(row for own in parts.values() for row in own)]
    made = effects_table(first.figure, name, figure_title(first.a, first.figure), rows, names)
    said = Note(verdict(first), "verdict")
    found = [Section(title, [said, *remarks, made], short, is_summary=True)]
    if subjects:
        rows = by_size(first.figure, subjects)
        made = effects_table(first.figure, f"{name}_subjects", "Subjects", rows, names)
        found.append(Section(f"{title}, by subject", [made], f"{short}-subjects"))
    return found


def first_section(every: Sequence[Comparison], not_compared: Sequence[str] = ()) -> list[Section]:
    """Return the summary of two models on several tasks: which leads, and where significantly."""
    pairs = {tuple(_names([one.a, one.b])) for one in every}
    if len(every) < 2 or len(pairs) > 1:
        return []
    (name_a, name_b), gains = pairs.pop(), [_gain(one) for one in every]
    effects = adjusted([one.overall for one in every])
    rows = [*zip(every, effects, gains, strict=True)]
    sure = [
        f"{task_title(one.b)} ({_signed(gain.value)} points)"
        for one, effect, gain in rows
        if (effect.p_by_holm or 0) < 0.05
    ]
    named = "; ".join(sure[:_NAMED]) + f"; {len(sure) - _NAMED} more" * (len(sure) > _NAMED)
    are = "1 difference is" if len(sure) == 1 else f"{len(sure) or 'no'} differences are"
    won, lost = (sum(sign * gain.value > 0 for gain in gains) for sign in (1, -1))
    what = "tasks" if len({one.b.task for one in every}) == len(every) else "comparisons"
    said = (
        f"{name_b} leads on {won} of {len(every)} {what}, {name_a} on {lost}; "
        f"{are} more than chance{': ' * bool(sure)}{named}."
    )
    columns: list[tuple[Column, Callable[[tuple[Comparison, Effect, Estimate]], Value]]] = [
        (Column("Task"), lambda row: task_title(row[0].b)),
        (replace(_GAIN, drawn=True), lambda row: row[2]),
        (Column("p by Holm", "p", "Adjusted for the tasks."), lambda row: row[1].p_by_holm),
        (Column(name_a, "score"), lambda row: row[1].a * points_of(row[0].figure)),
        (Column(name_b, "score"), lambda row: row[1].b * points_of(row[0].figure)),
        (Column("Figure"), lambda row: figure_title(row[0].a, row[0].figure)),
    ]
    warned = defaultdict[str, list[str]](list)
    for one in every:
        for remark in _remarks([one], [one.a, one.b], [name_a, name_b]):
            if remark.level == "warning":
                warned[remark.text].append(task_title(one.b))
    notes = [
        Note(text if len(own) == len(every) else f"{'; '.join(own)}: {text}", "warning")
        for text, own in warned.items()
    ]
    if not_compared:
        notes.append(Note(f"{len(not_compared)} more were not compared, see below.", "warning"))
    made = table("compare_tasks", "Task by task", rows, columns)
    blocks: list[Block] = [Note(said, "verdict"), *notes, made]
    return [Section("All tasks", blocks, "compare-tasks", is_summary=True)]


def _gain(one: Comparison) -> Estimate:
    """Return the gain of the second run in points."""
    found, points = one.overall.difference, points_of(one.figure)
    ends = [end if end is None else end * points for end in (found.low, found.high)]
    if one.figure.higher_is_better:
        return replace(found, value=found.value * points, low=ends[0], high=ends[1])
    low, high = (end if end is None else -end for end in reversed(ends))
    return replace(found, value=-found.value * points, low=low, high=high)


def verdict(comparison: Comparison) -> str:
    """Say in a sentence how B compares with A; the interval is that of B minus A."""
    name_a, name_b = _names([comparison.a, comparison.b])
    effect, figure = comparison.overall, comparison.figure
    difference, points = effect.difference, points_of(figure)
    title = figure_title(comparison.a, figure)
    change = difference.value * points
    better = "better" if (change > 0) == figure.higher_is_better else "worse"
    lower = "" if figure.higher_is_better else "lower is better; "
    signed, span = _signed(change), "without an interval"
    if difference.low is not None and difference.high is not None:
        ends = difference.low * points, difference.high * points
        span = "95 % " + " to ".join(map(_signed, ends))
    p_value = "p < 0.001" if effect.p_value < 0.001 else f"p = {effect.p_value:.2g}"
    tested = f"{effect.test} {p_value}"
    said = (
        f"{name_b} is {_digits(abs(change))} points {better} than {name_a} in {title} "
        f"({lower}{span}), significant: {tested}; it"
        if effect.p_value < 0.05
        else f"No difference shown between {name_b} and {name_a} in {title}: {signed} points "
        f"({lower}{span}), {tested}; {name_b}"
    )
    return (
        f"{said} wins {effect.wins:,} item{'s' * (effect.wins != 1)}, "
        f"loses {effect.losses:,}, ties {effect.ties:,}."
    )


def gate_of(
    compared: Sequence[Comparison],
    delta: float,
    left_out: Sequence[str],
    look: tuple[int, int] = (1, 1),
    candidates: int = 1,
) -> tuple[Mapping[str, Any], Section]:
    """Return the verdict of a gate on all tasks, as a record and as the section to read first.

    The gate passes if each comparison passes with a tolerance of `delta` points and nothing is left
    out.
    """
    tasks: list[dict[str, Any]] = [
        {
            "task": one.a.definition.name,
            "title": one.a.definition.title,
            "metric": one.figure.name,
            "figure": figure_title(one.a, one.figure),
            "compared": " against ".join(_names([one.b, one.a])),
            "differences": [*one.a.signature.differs(one.b.signature)],
            "verdict": "passed" if one.gate.passed else "not passed",
            "delta": delta,
            **asdict(one.gate),
        }
        for one in compared
        if one.gate is not None
    ]
    failed = [task for task in tasks if not task["passed"]]
    said = "not passed" if failed else "incomplete" if left_out else "passed"
    tests = list(dict.fromkeys(f"{each['figure']} of {each['title']}" for each in failed or tasks))
    named = "; ".join(tests[:_NAMED]) + f"; {len(tests) - _NAMED} more" * (len(tests) > _NAMED)
    few = [
        f"{each['needed_items']:,} items of {each['title']}"
        for each in failed
        if each["needed_items"]
    ]
    text = {
        "passed": f"passed: it loses less than δ = {delta:g} points in {named}.",
        "not passed": f"not passed: it may lose δ = {delta:g} points or more in {named}.",
        "incomplete": f"incomplete: {len(left_out)} things were not compared, see below.",
    }[said]
    method = "; ".join(dict.fromkeys(task["method"] for task in tasks))
    remarks = []
    if few:
        takes = "; ".join(dict.fromkeys(few))
        remarks.append(f"With so few items, not even an equal run passes; it needs about {takes}.")
    if tasks:
        sure = f"{100 * tasks[0]['confidence']:.6g} % confidence{' in each' * (len(tasks) > 1)}"
        remarks.append(f"The bounds are one-sided, with {sure}: {method}.")
    if look[1] * candidates > 1:
        shares = f"{look[1]} looks (this is number {look[0]})", f"{candidates} candidates"
        shared = " and ".join(compress(shares, (look[1] > 1, candidates > 1)))
        remarks.append(f"The error of 5 % is shared by {shared}.")
    most = max(Counter(task["task"] for task in tasks).values(), default=0)
    if candidates == 1 < most:
        remarks.append(f"To choose one of them by this gate, give --candidates {most}.")
    if unlike := dict.fromkeys(name for task in tasks for name in task["differences"]):
        remarks.append(f"They differ in {', '.join(unlike)}, as allowed.")
    columns = [(column, itemgetter(key)) for key, column in _GATE.items()]
    made = table("gate", "Non-inferiority, task by task", tasks, columns)
    notes = [Note(f"Gate {text}", "verdict")]
    if remarks:
        notes.append(Note(" ".join(remarks), "info" if said == "passed" else "warning"))
    bound = max((task["bound"] for task in tasks), default=None)
    record = {"verdict": said, "delta": delta, "bound": bound, "method": method}
    record |= {"look": look, "candidates": candidates, "tasks": tasks, "not_compared": left_out}
    return record, Section("Gate", [*notes, made], "gate", is_summary=True)


def _sides(found: Sequence[tuple[int, Run]]) -> Sequence[Sequence[Run]]:
    """Return the sides to compare: the arguments, or the models if an argument has several."""
    several = len({(place, one.comparable_as) for place, one in found}) < len(found)
    by_label = several or len({place for place, _ in found}) == 1
    sides: dict[tuple[int, str], list[Run]] = defaultdict(list)
    for place, one in found:
        sides[place, one.label if by_label else ""].append(one)
    return list(sides.values())


def _groups(sides: Sequence[Sequence[Run]]) -> tuple[Sequence[Sequence[Run]], list[str]]:
    """Return the groups of runs to compare with each other, and messages about runs left out.

    A group has the same task under the same condition. If each of two sides has a task only once,
    the conditions may differ: chain of thought can be compared with direct answers.
    """
    having = [Counter(one.definition.name for one in side) for side in sides]
    groups: dict[Hashable, dict[int, Run]] = defaultdict(dict)
    left_out: list[str] = []
    for place, side in enumerate(sides):
        for one in side:
            task = one.definition.name
            only = len(sides) == 2 and all(each[task] == 1 for each in having)
            key = task if only else one.comparable_as
            if groups[key].setdefault(place, one) is not one:
                left_out.append(f"{_said(one)}: another log has it too. Name each: NAME=PATH.")
    for own in groups.values():
        if others := [side[0].label for place, side in enumerate(sides) if place not in own]:
            who = "; ".join(map(_said, own.values()))
            left_out.append(f"{who}: no partner in {', '.join(others)}.")
    return [list(own.values()) for own in groups.values() if len(own) > 1], left_out


def _advice(sides: Sequence[Sequence[Run]]) -> str:
    """Return a command that names two logs: one from each side, or two from the only side."""
    several = [*(side[0] for side in sides), *sides[0][1:]]
    paths = [*dict.fromkeys(str(one.sources[0]) for one in several), "ANOTHER_LOG"]
    named = " ".join(f"{name}={path}" for name, path in zip("ab", paths, strict=False))
    return f"Give the logs of two runs with a task in common, each by name: hkcanto compare {named}"


def _said(run: Run) -> str:
    return f"{run.label}, {task_title(run)}"


def _record(one: Comparison) -> Mapping[str, Any]:
    """Return a comparison as a record, its effects by name."""
    names = ("label", "task", "condition", "data")
    a, b = ({name: getattr(side, name) for name in names} for side in (one.a, one.b))
    parts = {part: {each.name: each for each in own} for part, own in one.parts.items()}
    of = {"task": one.a.definition.name, "metric": one.figure.name, "unit": one.figure.unit}
    return of | {"a": a, "b": b, "unscored": one.unscored, "effects": {"all": one.overall, **parts}}


def _digits(points: float, sign: str = "") -> str:
    """Return points with enough digits that they do not read as zero."""
    return f"{points:{sign}.1f}" if abs(points) >= 0.1 or not points else f"{points:{sign}.1g}"


def _signed(points: float) -> str:
    return _digits(points, "+z").replace("-", "−")


def _names(runs: Sequence[Run]) -> list[str]:
    """Return names that distinguish the runs."""
    labels = [side.label for side in runs]
    conditions = [f"{side.label} ({condition_title(side)})" for side in runs]
    numbers = [f"{label} ({place})" for place, label in enumerate(labels, 1)]
    return next((n for n in (labels, conditions) if len(set(n)) == len(n)), numbers)


def _remarks(
    compared: Sequence[Comparison], sides: Sequence[Run], names: Sequence[str]
) -> Sequence[Note]:
    """Return warnings and notes: other differences of the runs, and limits of their figures."""
    first, unscored = sides[0], max(one.unscored for one in compared)
    few = f"Only {len(set(first.items.ids)):,} of the task's items were run."
    warnings = {
        TWO_MEASURES: len({side.setup.task.variant.scoring for side in sides}) > 1,
        _OWN_FILES: first.is_local,
        "This is the sample data: its figures mean nothing elsewhere.": first.is_sample,
        few: not (first.is_sample or first.complete),
        _ASKED: not all(side.signature.prompt_known for side in sides),
        f"{unscored:,} items are left out, because a run has no value for them.": unscored > 0,
    }
    said = [note for side in sides for note in side.notes]
    conditions = [f"{side.task}, {condition_title(side)}" for side in sides]
    for remark, how in (
        ("The conditions also differ: ", conditions),
        ("They were run by different harnesses: ", [side.harness for side in sides]),
    ):
        if len(set(how)) > 1:
            said.append(remark + "; ".join(map("{}: {}".format, names, how)) + ".")
    for side in sides[1:]:
        for name, both in first.signature.differs(side.signature).items():
            if what := _EDITED.get(name):
                warnings[f"{what} ({' against '.join(f'{name}:{each}' for each in both)})."] = True
    shown = [Note(text, "warning") for text, holds in warnings.items() if holds]
    return [*shown, *map(Note, dict.fromkeys(said))]
