"""The comparison of two models, task by task, for `hkcanto report` and `hkcanto compare`."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain
from math import inf
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from ...errors import ComparisonError, OptionError
from ...figures import Figure
from ..frames import Runs, effect_rows
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
from .blocks import (
    Block,
    Note,
    Report,
    Section,
    TableBlock,
    TableColumn,
    Value,
    report_of,
    table,
    units_of,
)
from .presentation import (
    condition_title,
    figure_title,
    footer_of,
    measure_title,
    run_title,
    short_name,
    task_title,
)
from .renderers.formatting import interval_text, listed, value_text

_TWO_MEASURES = (
    "Generation scores the letter that a model writes, log-likelihood the likeliest letter (wrong "
    "for a model that reasons first): two measures, which rank models differently."
)
_HOW = (
    "Intervals of differences: Tango's for right and wrong answers and for means over subjects, "
    "Student's t for the others. Random numbers: seed {}, {:,} exchanges."
)
_OWN_FILES = (
    "They ran on your own files: only the questions' lengths show that these are equal."
)
_ASKED = "For some, neither the prompt nor the decoding was logged: that may be the difference."
NOTHING = (
    "Nothing is comparable between these {} models: no two have complete runs of a task under the "
    "same condition on the same items."
)
_ADVICE = "Give the logs of two runs with a task in common by name: hkcanto compare a=LOG b=LOG"
_EDITED = {
    "requests": " (not the catalogue's requests: another solver, edited task or system message)",
    "sent": " (the prompt, worked examples, stop texts or token limit was edited)",
    "read": " (the rules for reading answers were edited)",
}
"""The cause if two setups differ only in a hash."""
_GATE = {
    "title": TableColumn("Task"),
    "figure": TableColumn("Figure", beneath=True),
    "verdict": TableColumn("Gate"),
    "bound": TableColumn(
        "Loses at most", "number", "In points. The gate passes if δ is larger."
    ),
    "needed_items": TableColumn(
        "Needed", "count", "Items for a run equal to the first to pass."
    ),
    "compared": TableColumn("Compared"),
    "method": TableColumn("Method"),
}
"""The columns of the gate's table, by the keys of its records."""
_SIDES = ("First", "Second")
_GAIN = f"By how much the second is better, in points, with 95 % interval: {WIDE}."
_SURE = "✓ if the difference is significant: 95 % for all tasks together (Holm)."


class RunPair(NamedTuple):
    """Two runs of a task, or of a part of it. Only comparable runs have an effect."""

    title: str  # of the task or part
    figure: Figure
    effect: Effect | None
    measure: str = ""  # title of the figure, if the rows of a table have several
    scores: Sequence[float | None] = ()  # of each run, from 0 to 100
    best: float | None = None  # the best published score

    @property
    def gain(self) -> Estimate | None:
        """By how much the second run is better, in points."""
        up = 1 if self.figure.higher_is_better else -1
        return (
            self.effect.difference.times(up * points_of(self.figure))
            if self.effect
            else None
        )

    @property
    def p_value(self) -> float:
        """The p-value, adjusted if there are several tests; infinite without a test."""
        return (self.effect.p_by_holm or self.effect.p_value) if self.effect else inf


def pair_of(one: Comparison, best: float | None = None) -> RunPair:
    """Return two runs that were compared, with the best published score."""
    points, effect = points_of(one.figure), one.overall
    scores, measure = (
        (points * effect.a, points * effect.b),
        measure_title(one.a, one.figure),
    )
    return RunPair(task_title(one.a), one.figure, effect, measure, scores, best)


def pairs_blocks(
    pairs: Sequence[RunPair], names: Sequence[str]
) -> tuple[Note, TableBlock]:
    """Return the verdict on two models, and a row for each of their tasks.

    The surest differences are first. P-values are adjusted for the number of tasks.
    """
    effects = iter(adjusted([pair.effect for pair in pairs if pair.effect]))
    pairs = [pair._replace(effect=pair.effect and next(effects)) for pair in pairs]
    known = [(pair, pair.gain.value) for pair in pairs if pair.gain]
    behind, ahead = (sum(sign * gain > 1e-9 for _, gain in known) for sign in (-1, 1))
    sure = [(pair.title, gain) for pair, gain in known if pair.p_value < 0.05]
    gains = listed(
        f"{title} {value_text(gain, 'score_points')} points" for title, gain in sure
    )
    said = (
        f"{names[1]} leads on {ahead} of {len(known)} tasks, {names[0]} on {behind}. Significant "
        f"gains of {names[1]} (all tasks together, 95 %): {gains or 'none'}."
    )
    if len(known) < 2:
        said = verdict(known[0][0] if known else pairs[0], names)
    pairs.sort(key=lambda pair: -abs(pair.gain.value) if pair.gain else 0)
    pairs.sort(key=lambda pair: pair.effect.p_value if pair.effect else inf)
    columns: list[tuple[TableColumn, Callable[[RunPair], Value]]] = [
        (TableColumn("Task"), attrgetter("title")),
        (TableColumn(names[0], "score"), lambda pair: pair.scores[0]),
        (TableColumn(names[1], "score"), lambda pair: pair.scores[1]),
        (TableColumn("Gain", "score_points", _GAIN, drawn=True), attrgetter("gain")),
        (
            TableColumn("Sure", help=_SURE),
            lambda pair: "✓" if pair.p_value < 0.05 else None,
        ),
        (TableColumn("Best published", "score"), attrgetter("best")),
        (TableColumn("Figure", beneath=True), attrgetter("measure")),
    ]
    caption = f"A gain is positive if {names[1]} is better."
    return Note(said, "verdict"), table(
        "pairs", "Task by task", pairs, columns, caption
    )


def verdict(pair: RunPair, names: Sequence[str]) -> str:
    """Say in a sentence how the second run of a pair compares with the first."""
    (first, second), effect, gain = names, pair.effect, pair.gain
    if effect is None or gain is None:
        return NOTHING.format(2)
    said = f"No difference shown between {second} and {first}"
    if pair.p_value < 0.05:
        said = f"{second} is {'better' if gain.value > 0 else 'worse'} than {first}"
    unit, points = units_of(pair.figure)
    in_points = " points" if points == "score_points" else ""
    p_text = "p < 0.001" if pair.p_value < 0.001 else f"p = {pair.p_value:.2g}"
    return (
        f"{said} on {pair.title}: {pair.measure} {value_text(effect.b, unit)} against "
        f"{value_text(effect.a, unit)}, gain {value_text(gain, points)}{in_points}, 95 % "
        f"{interval_text(gain, points)} ({effect.test}, {p_text}). {second} wins "
        f"{effect.wins:,} items, loses {effect.losses:,}, ties {effect.ties:,}."
    )


def effects_table(
    name: str, title: str, pairs: Sequence[RunPair], sides: Sequence[str]
) -> TableBlock:
    """Return a table of effects on one figure, for two runs or pairs of runs."""
    unit, points = units_of(pairs[0].figure) if pairs else ("percent", "score_points")
    won = "{0.wins:,}/{0.losses:,}/{0.ties:,}"
    columns: list[tuple[TableColumn, Callable[[Any], Value]]] = [
        (TableColumn("Part"), attrgetter("title")),
        (TableColumn("Gain", points, _GAIN, drawn=len(pairs) > 1), attrgetter("gain")),
        (TableColumn("Won/lost/tied"), lambda pair: won.format(pair.effect)),
        (TableColumn("p", "p", "Two-sided, unadjusted."), attrgetter("effect.p_value")),
        (
            TableColumn("p by Holm", "p", "Adjusted for several tests."),
            attrgetter("effect.p_by_holm"),
        ),
        (TableColumn(sides[0], unit), attrgetter("effect.a")),
        (TableColumn(sides[1], unit), attrgetter("effect.b")),
        (TableColumn("Test"), attrgetter("effect.test")),
        (TableColumn("Figure", beneath=True), lambda pair: pair.measure or None),
    ]
    return table(name, title, pairs, columns)


def compare_runs(
    runs: Sequence[str],
    *,
    metric: str | None = None,
    gate: float | None = None,
    look: str = "1/1",
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
        look: Number of this look at growing runs and number of planned looks, such as `2/4`. The
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
    at, _, looks = look.partition("/")
    if not re.fullmatch(r"[1-9]\d?/[1-9]\d?", look) or int(at) > int(looks):
        raise OptionError(f"--look {look}: give it as 2/4, the second of four.")
    read = read_runs(runs, progress=progress)
    groups, left_out, several = _groups(read)
    if 1 < candidates < several:
        raise OptionError(f"{several} candidates are compared, not {candidates}.")
    left_out += [f"{log.path}: {log.reason}." for log in read.skipped]
    confidence = 1 - (1 - CONFIDENCE) / (int(looks) * candidates)
    options: dict[str, Any] = {"metric": metric, "seed": seed, "resamples": resamples}
    options |= {"confidence": confidence, "allowed": allowed}
    compared, refused = list[Sequence[Comparison]](), list[str]()
    for with_first, group in groups:
        try:
            compared.append(
                pairwise(group, gate=gate if with_first else None, **options)
            )
        except ComparisonError as error:
            lacks = metric not in (None, *group[0].figures)
            (left_out if lacks else refused).append(str(error))
    not_compared = [*refused, *left_out]
    if not compared:
        advice = [] if refused else [_ADVICE]
        raise ComparisonError(
            "\n".join(["nothing to compare.", *not_compared, *advice])
        )
    made, every = [*sections(compared, not_compared)], [*chain.from_iterable(compared)]
    status = 2 if refused or (left_out and gate is not None) else 0
    records: dict[str, Any] = {"gate": None, "comparisons": [*map(_record, every)]}
    if gate is not None:
        records["gate"], first = gate_of(every, gate, not_compared, look, candidates)
        made.insert(0, first)
        status = 1 if records["gate"]["verdict"] == "not passed" else status
    title = " against ".join(
        reversed(list(dict.fromkeys(run.label for run in read.runs)))
    )
    how = _HOW.format(seed, resamples)
    frame = partial(effect_rows, every, gate)
    return report_of(made, title, [*footer_of(read.runs), how], records, frame), status


def sections(
    compared: Sequence[Sequence[Comparison]], not_compared: Sequence[str]
) -> Iterator[Section]:
    """Yield the table of tasks if there are two models, and each task's pairs or parts."""
    every = [*chain.from_iterable(compared)]
    in_pairs = len(every) == len(compared)
    details, warned = list[Block](), defaultdict[str, list[str]](list)
    for group in compared:
        one, sides = (
            group[0],
            [*dict.fromkeys(side for pair in group for side in (pair.a, pair.b))],
        )
        for text in _warnings(group, sides):
            warned[text].append(task_title(one.a))
        details += map(
            Note, dict.fromkeys(note for side in sides for note in side.notes)
        )
        words = [word for run in (one.a, one.b) for word in (run.task, run.condition)]
        name = short_name("compare", *words, one.figure.name)
        title = f"{task_title(one.a)}: {figure_title(one.a, one.figure)}"
        if in_pairs:
            details.append(
                effects_table(name, f"{title} by part", _parts(one), _names(sides))
            )
        else:
            called = dict(zip(sides, _names(sides), strict=True))
            rows = [
                RunPair(
                    f"{called[pair.b]} against {called[pair.a]}",
                    pair.figure,
                    pair.overall,
                )
                for pair in group
            ]
            name, title = f"{name}_pairwise", f"{title}, pairwise"
            details.append(effects_table(name, title, rows, _SIDES))
    first = [
        Note(f"{listed(tasks)}: {text}", "warning") for text, tasks in warned.items()
    ]
    if not_compared:
        first.append(Note(f"{len(not_compared)} not compared: see below.", "warning"))
    if in_pairs:
        # One model under two conditions has other names in each task.
        couples = {tuple(_names([one.a, one.b])) for one in every}
        names = couples.pop() if len(couples) == 1 else _SIDES
        said, made = pairs_blocks([*map(pair_of, every)], names)
        yield Section("Results", [said, *first, made], "results", is_summary=True)
        yield Section(
            "Parts and subjects", details, "parts", is_summary=len(every) == 1
        )
    else:
        yield Section("Results", [*first, *details], "results", is_summary=True)
    notes = [Note(line, "warning") for line in not_compared]
    yield Section("Not compared", notes, "not-compared", is_summary=True)


def _parts(one: Comparison) -> list[RunPair]:
    """Return the effects on averages, on categories, and on subjects."""
    titles = {subject.name: subject.title for subject in one.a.kind.task.subjects}
    titles |= {figure.name: figure.title for figure in one.a.figures.values()}
    effects = chain.from_iterable(one.parts.values())
    return [RunPair(titles[effect.name], one.figure, effect) for effect in effects]


def gate_of(
    compared: Sequence[Comparison],
    delta: float,
    left_out: Sequence[str],
    look: str = "1/1",
    candidates: int = 1,
) -> tuple[Mapping[str, Any], Section]:
    """Return the verdict of a gate on all tasks, as a record and as the section to read first.

    The gate passes if each comparison passes with a tolerance of `delta` points and nothing is left
    out.
    """
    tasks = list[dict[str, Any]]()
    for one in compared:
        if one.gate is None:
            continue
        task: dict[str, Any] = {
            "task": one.a.definition.name,
            "title": one.a.definition.title,
        }
        cut_off = " (each answer's cut off at 1)" if one.figure.unlimited else ""
        task |= {
            "metric": one.figure.name,
            "figure": figure_title(one.a, one.figure) + cut_off,
        }
        task |= {"compared": " against ".join(_names([one.b, one.a]))}
        task |= {"differences": [*one.a.differs(one.b)]}
        task |= {
            "verdict": "passed" if one.gate.passed else "not passed",
            "delta": delta,
        }
        tasks.append(task | asdict(one.gate))
    failed = [task for task in tasks if not task["passed"]]
    result = "not passed" if failed else "incomplete" if left_out else "passed"
    who = listed(task["compared"] for task in failed or tasks)
    named = listed(f"{task['figure']} of {task['title']}" for task in failed or tasks)
    bound = max((task["bound"] for task in tasks), default=None)
    text = f"Gate incomplete: {len(left_out)} not compared, see below."
    if result != "incomplete":
        text = f"Gate {result} ({who}): δ is {delta:g} points, and the loss is at most {bound:.3g} "
        text += f"points in {named}."
    method = "; ".join(dict.fromkeys(task["method"] for task in tasks))
    needed = (
        (task["needed_items"], task["title"]) for task in failed if task["needed_items"]
    )
    few = listed(f"{items:,} items of {title}" for items, title in needed)
    sure = max((task["confidence"] for task in tasks), default=CONFIDENCE)
    level = f"{100 * sure:.6g} % confidence (look {look}, candidates: {candidates})"
    most = max(Counter(task["task"] for task in tasks).values(), default=0)
    unlike = dict.fromkeys(name for task in tasks for name in task["differences"])
    remarks = {
        f"With so few items, not even an equal run passes; it needs about {few}.": few,
        f"The bounds are one-sided, each with {level}: {method}.": tasks,
        f"To choose one of them by this gate, give --candidates {most}.": candidates
        == 1
        < most,
        f"They differ in {', '.join(unlike)}, as allowed.": unlike,
    }
    remark = " ".join(text for text, holds in remarks.items() if holds)
    columns = [(column, itemgetter(key)) for key, column in _GATE.items()]
    blocks: list[Block] = [
        Note(text, "verdict"),
        Note(remark, "info" if result == "passed" else "warning"),
        table("gate", "Non-inferiority, task by task", tasks, columns),
    ]
    record = {"verdict": result, "delta": delta, "bound": bound, "method": method}
    record |= {"look": [*map(int, look.split("/"))], "candidates": candidates}
    record |= {"tasks": tasks, "not_compared": left_out}
    return record, Section(
        "Gate", blocks if tasks else blocks[:1], "gate", is_summary=True
    )


def _groups(read: Runs) -> tuple[list[tuple[bool, list[Run]]], list[str], int]:
    """Group runs to compare with each other: the same task under the same condition.

    The sides are the arguments, or the models if an argument has several. If each of two sides has
    a task only once, the conditions may differ: chain of thought can be compared with direct
    answers.

    Returns:
        The groups, each with whether it has a run of the first side; messages about runs left out;
        and the number of candidates for the first side's place.
    """
    found = [(run.argument, run) for run in read.runs]
    several = len({(place, run.comparable_as) for place, run in found}) < len(found)
    by_label = several or len({place for place, _ in found}) == 1
    by_side: dict[tuple[int, str], list[Run]] = defaultdict(list)
    for place, run in found:
        by_side[place, run.label if by_label else ""].append(run)
    sides = [*by_side.values()]
    counts = [Counter(run.definition.name for run in side) for side in sides]
    groups: dict[Hashable, dict[int, Run]] = defaultdict(dict)
    left_out: list[str] = []
    for place, side in enumerate(sides):
        for run in side:
            task = run.definition.name
            only = len(sides) == 2 and all(of_side[task] == 1 for of_side in counts)
            if (
                groups[task if only else run.comparable_as].setdefault(place, run)
                is not run
            ):
                left_out.append(
                    f"{run_title(run)}: another log has it too. Name each: NAME=PATH."
                )
    for group in groups.values():
        if others := [
            side[0].label for place, side in enumerate(sides) if place not in group
        ]:
            who = "; ".join(map(run_title, group.values()))
            left_out.append(f"{who}: no partner in {', '.join(others)}.")
    kept = [
        (0 in group, [*group.values()]) for group in groups.values() if len(group) > 1
    ]
    return kept, left_out, len(sides) - 1


def _record(one: Comparison) -> Mapping[str, Any]:
    """Return a comparison as a record, its effects by name."""
    names = ("label", "task", "condition", "data")
    a, b = ({name: getattr(side, name) for name in names} for side in (one.a, one.b))
    parts = {
        part: {effect.name: effect for effect in of} for part, of in one.parts.items()
    }
    figure = {"metric": one.figure.name, "unit": one.figure.unit, "a": a, "b": b}
    effects = {"unscored": one.unscored, "effects": {"all": one.overall, **parts}}
    return {"task": one.a.definition.name, **figure, **effects}


def _names(runs: Sequence[Run]) -> list[str]:
    """Return names that distinguish the runs."""
    labels = [side.label for side in runs]
    conditions = [f"{side.label} ({condition_title(side)})" for side in runs]
    numbers = [f"{label} ({place})" for place, label in enumerate(labels, 1)]
    return next((n for n in (labels, conditions) if len(set(n)) == len(n)), numbers)


def _warnings(compared: Sequence[Comparison], sides: Sequence[Run]) -> Iterator[str]:
    """Yield other differences of the runs, and limits of their figures."""
    first, unscored, names = (
        sides[0],
        max(one.unscored for one in compared),
        _names(sides),
    )
    is_part = not (first.is_sample or first.complete)
    warnings = {
        _TWO_MEASURES: len({side.kind.task.variant.scoring for side in sides}) > 1,
        _OWN_FILES: first.is_local,
        "This is the sample data: its figures mean nothing elsewhere.": first.is_sample,
        f"Only {len(set(first.items.ids)):,} of the task's items were run.": is_part,
        _ASKED: not all(side.signature.prompt_known for side in sides),
        f"{unscored:,} items are left out, because a run has no value for them.": unscored
        > 0,
    }
    yield from (text for text, holds in warnings.items() if holds)
    for name, side in zip(names[1:], sides[1:], strict=True):
        settings = {"harness": (first.harness, side.harness), **first.differs(side)}
        if unlike := [
            f"{part} {one or 'none'} against {other or 'none'}{_EDITED.get(part, '')}"
            for part, (one, other) in settings.items()
            if one != other
        ]:
            yield f"{names[0]} and {name} also differ in {'; '.join(unlike)}."
