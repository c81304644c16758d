"""The comparison of two models, task by task, for `hkcanto report` and `hkcanto compare`."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain, compress
from operator import itemgetter
from typing import Any, NamedTuple

from ...errors import ComparisonError, OptionError
from ...figures import Figure
from ..frames import Runs, effect_rows
from ..logs import read_runs
from ..runs import Run
from ..statistics.intervals import CONFIDENCE, WIDE, Estimate
from ..statistics.paired import RESAMPLES, SEED, Comparison, Effect, adjusted, pairwise, points_of
from .blocks import Block, Column, Note, Report, Section, Table, Unit, Value, report_of, table
from .presentation import (
    condition_title,
    figure_title,
    footer_of,
    headline,
    headline_title,
    short_name,
    task_title,
)

TWO_MEASURES = (
    "Generation scores the letter that a model writes; log-likelihood scores the letter that it "
    "finds likeliest. These are two measures, which rank models differently: never compare a "
    "figure of one with a figure of the other. Log-likelihood is wrong for a model that opens "
    "with a reasoning block, since its first token is not a letter."
)
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
_ADVICE = (
    "Give the logs of two runs with a task in common, each by name: hkcanto compare a=LOG b=LOG"
)
_EDITED = {
    "requests": "One was sent requests that are not the catalogue's, or both were sent different "
    "ones: by another solver, an edited task or file, or a system message",
    "sent": "Their requests differ: the prompt, worked examples, stop texts or token limit was "
    "edited between the runs",
    "read": "Their answers were read differently: the rules were edited between the runs",
}
"""The warning if two setups differ only in a hash."""
_GATE = {
    "title": Column("Task"),
    "figure": Column("Figure", beneath=True),
    "verdict": Column("Gate"),
    "bound": Column("Loses at most", "number", "In points. The gate passes if δ is larger."),
    "needed_items": Column("Needed", "count", "Items for a run equal to the first to pass."),
    "compared": Column("Compared"),
    "method": Column("Method"),
}
"""The columns of the gate's table, by the keys of its records."""
_GAIN = f"By how much the second is better, in points, with 95 % interval: {WIDE}."
_SURE = "✓ if the difference is significant: 95 % for all tasks together (Holm)."
_NAMED = 3  # tests or tasks that are named; more are counted


class Pair(NamedTuple):
    """Two runs of a task, or one without a partner. Only comparable runs have an effect."""

    runs: Sequence[Run | None]
    figure: Figure
    effect: Effect | None
    best: float | None = None  # the best published score

    @property
    def run(self) -> Run:
        """One of the runs, whose task both have."""
        return next(run for run in self.runs if run)

    @property
    def points(self) -> int:
        """The number of points in one unit of the figure."""
        return points_of(self.figure)

    @property
    def gain(self) -> Estimate | None:
        """By how much the second run is better, in points."""
        if self.effect is None:
            return None
        up = self.figure.higher_is_better
        return self.effect.difference.times(self.points if up else -self.points)

    @property
    def is_sure(self) -> bool:
        """Whether the difference is significant, for all tasks together."""
        if self.effect is None:
            return False
        p_value, by_holm = self.effect.p_value, self.effect.p_by_holm
        return (p_value if by_holm is None else by_holm) < 0.05

    def score(self, place: int) -> float | None:
        """Return the figure of one of the runs, from 0 to 100."""
        if self.effect is not None:
            return (self.effect.a, self.effect.b)[place] * self.points
        run = self.runs[place]
        found = headline(run) if run else None
        return found.value * self.points if found else None


def pairs_blocks(pairs: Sequence[Pair], names: Sequence[str]) -> list[Block]:
    """Return the verdict on two models, if they are comparable, and a row for each of their tasks.

    The surest differences are first. P-values are adjusted for the number of tasks.
    """
    effects = iter(adjusted([pair.effect for pair in pairs if pair.effect]))
    pairs = [pair._replace(effect=pair.effect and next(effects)) for pair in pairs]

    def place(pair: Pair) -> tuple[bool, float, float]:
        if pair.effect is None or pair.gain is None:
            return True, 0.0, 0.0
        return False, pair.effect.p_value, -abs(pair.gain.value)

    def figure(pair: Pair) -> str:
        is_headline = pair.figure == pair.run.headline
        return headline_title(pair.run) if is_headline else figure_title(pair.run, pair.figure)

    columns: list[tuple[Column, Callable[[Pair], Value]]] = [
        (Column("Task"), lambda pair: task_title(pair.run)),
        (Column(names[0], "score"), lambda pair: pair.score(0)),
        (Column(names[1], "score"), lambda pair: pair.score(1)),
        (Column("Gain", "score_points", _GAIN, drawn=True), lambda pair: pair.gain),
        (Column("Sure", help=_SURE), lambda pair: "✓" if pair.is_sure else None),
        (Column("Best published", "score"), lambda pair: pair.best),
        (Column("Figure", beneath=True), figure),
    ]
    caption = f"A gain is positive if {names[1]} is better."
    made = table("pairs", "Task by task", sorted(pairs, key=place), columns, caption)
    known = [(pair, pair.gain.value) for pair in pairs if pair.gain]
    return [Note(_sentence(known, names), "verdict"), made] if known else [made]


def _sentence(known: Sequence[tuple[Pair, float]], names: Sequence[str]) -> str:
    """Say which of two models leads on how many tasks, and where significantly."""
    if len(known) == 1:
        return verdict(known[0][0], names)
    leads = Counter(dict.fromkeys(names, 0))
    leads.update(names[gain > 0] for _, gain in known if abs(gain) > 1e-9)
    (first, most), (second, fewer) = leads.most_common()
    equal = len(known) - most - fewer
    said = f"{names[0]} and {names[1]} are equal on all {equal} tasks"
    if most:
        said = f"{first} leads on {most} of {len(known)} tasks"
        said += f", {second} on {fewer}" if fewer else ""
        said += f", and they are equal on {equal}" if equal else ""
    scope = f"all {len(known)} tasks together, 95 %"
    whose = [f"{name} " if fewer else "" for name in names]
    sure = [
        f"{pair.run.definition.title} ({whose[gain > 0]}by {_digits(abs(gain))} points)"
        for pair, gain in known
        if pair.is_sure
    ]
    if not sure:
        return f"{said}. No difference is significant ({scope})."
    if len(sure) == 1:
        return f"{said}. The only significant difference is on {sure[0]} ({scope})."
    count = "All" if len(sure) == len(known) else f"{len(sure)}"
    return f"{said}. {count} differences are significant ({scope}), such as {_listed(sure)}."


def verdict(pair: Pair, names: Sequence[str]) -> str:
    """Say in a sentence how the second run of a pair compares with the first."""
    effect, gain, task, (first, second) = pair.effect, pair.gain, task_title(pair.run), names
    if effect is None or gain is None:
        return f"{second} and {first} are not comparable on {task}."
    before, after = (_digits(value * pair.points) for value in (effect.a, effect.b))
    figure = f"{figure_title(pair.run, pair.figure)} {after} against {before}"
    figure += "" if pair.figure.higher_is_better else ", lower is better"
    span = "without an interval"
    if gain.low is not None and gain.high is not None:
        span = f"95 % {_signed(gain.low)} to {_signed(gain.high)}"
    p_value = "p < 0.001" if effect.p_value < 0.001 else f"p = {effect.p_value:.2g}"
    if effect.p_value < 0.05:
        better = "better" if gain.value > 0 else "worse"
        said = f"{second} is {_digits(abs(gain.value))} points {better} than {first} on {task}"
        said += f": {figure}; gain {span}, significant"
    else:
        said = f"No difference shown between {second} and {first} on {task}"
        said += f": {figure}; gain {_signed(gain.value)} points, {span}"
    items = "item" if effect.wins == 1 else "items"
    return (
        f"{said} ({effect.test}, {p_value}). {second} wins {effect.wins:,} {items}, "
        f"loses {effect.losses:,}, ties {effect.ties:,}."
    )


def effects_table(
    figure: Figure, name: str, title: str, rows: Sequence[tuple[str, Effect]], sides: Sequence[str]
) -> Table:
    """Return a table of effects, each with the name of its part, for two runs or pairs of runs."""
    unit: Unit = "score" if figure.unit == "score" else "percent"
    gain = Column("Gain", "score_points", _GAIN, drawn=len(rows) > 1)
    columns: list[tuple[Column, Callable[[tuple[str, Effect]], Value]]] = [
        (Column("Part"), itemgetter(0)),
        (gain, lambda row: Pair((), figure, row[1]).gain),
        (Column("Won/lost/tied"), lambda row: f"{row[1].wins:,}/{row[1].losses:,}/{row[1].ties:,}"),
        (Column("p", "p", "Two-sided, unadjusted."), lambda row: row[1].p_value),
        (Column("p by Holm", "p", "Adjusted for several tests."), lambda row: row[1].p_by_holm),
        (Column(sides[0], unit), lambda row: row[1].a),
        (Column(sides[1], unit), lambda row: row[1].b),
        (Column("Test"), lambda row: row[1].test),
    ]
    return table(name, title, rows, columns)


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
    groups, left_out, several = _groups(read)
    if 1 < candidates < several:
        raise OptionError(f"{several} candidates are compared, not {candidates}.")
    left_out += [f"{log.path}: {log.reason}." for log in read.skipped]
    confidence = 1 - (1 - CONFIDENCE) / (look[1] * candidates)
    options: dict[str, Any] = {"metric": metric, "seed": seed, "resamples": resamples}
    options |= {"confidence": confidence, "allowed": allowed}
    compared, refused = list[Sequence[Comparison]](), list[str]()
    for with_first, group in groups:
        known = [*group[0].figures]
        if metric not in (None, *known):
            why = f"it has no figure {metric!r}; its figures are {', '.join(known)}."
            left_out.append(f"{task_title(group[0])}: {why}")
            continue
        try:
            compared.append(pairwise(group, gate=gate if with_first else None, **options))
        except ComparisonError as error:
            refused.append(str(error))
    not_compared = [*refused, *left_out]
    if not compared:
        advice = [] if refused else [_ADVICE]
        raise ComparisonError("\n".join(["nothing to compare.", *not_compared, *advice]))
    made, every = [*sections(compared, not_compared)], [*chain.from_iterable(compared)]
    status = 2 if refused or (left_out and gate is not None) else 0
    records: dict[str, Any] = {"gate": None, "comparisons": [*map(_record, every)]}
    if gate is not None:
        records["gate"], first = gate_of(every, gate, not_compared, look, candidates)
        made.insert(0, first)
        status = 1 if records["gate"]["verdict"] == "not passed" else status
    title = " against ".join(reversed(list(dict.fromkeys(run.label for run in read.runs))))
    how = f"{_INTERVALS} Random numbers: seed {seed}, {resamples:,} resamples or exchanges."
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
        one, runs = group[0], chain(*((pair.a, pair.b) for pair in group))
        sides = list(dict.fromkeys(runs))
        for note in _remarks(group, sides):
            if note.level == "warning":
                warned[note.text].append(task_title(one.a))
            else:
                details.append(note)
        words = [word for run in (one.a, one.b) for word in (run.task, run.condition)]
        name = short_name("compare", *words, one.figure.name)
        title = f"{task_title(one.a)}: {figure_title(one.a, one.figure)}"
        if in_pairs:
            names, rows, title = _names(sides), _parts(one), f"{title} by part"
        else:
            called = dict(zip(sides, _names(sides), strict=True))
            rows = [(f"{called[pair.b]} against {called[pair.a]}", pair.overall) for pair in group]
            name, names, title = f"{name}_pairwise", ["First", "Second"], f"{title}, pairwise"
        details += [effects_table(one.figure, name, title, rows, names)] if rows else []
    first: list[Block] = [
        Note(text if len(tasks) == len(compared) else f"{'; '.join(tasks)}: {text}", "warning")
        for text, tasks in warned.items()
    ]
    if not_compared:
        first.append(Note(f"{len(not_compared)} not compared: see below.", "warning"))
    if in_pairs:
        pairs = [Pair((one.a, one.b), one.figure, one.overall) for one in every]
        # One model under two conditions has other names in each task.
        couples = {tuple(_names([one.a, one.b])) for one in every}
        names = [*couples.pop()] if len(couples) == 1 else ["First", "Second"]
        said, made = pairs_blocks(pairs, names)
        yield Section("Results", [said, *first, made], "results", is_summary=True)
        if details:
            yield Section("Parts and subjects", details, "parts", is_summary=len(every) == 1)
    else:
        yield Section("Results", [*first, *details], "results", is_summary=True)
    if not_compared:
        notes = [Note(line, "warning") for line in not_compared]
        yield Section("Not compared", notes, "not-compared", is_summary=True)


def _parts(one: Comparison) -> list[tuple[str, Effect]]:
    """Return the effects on averages, on categories, and on subjects from the largest gain."""
    titles = {subject.name: subject.title for subject in one.a.setup.task.subjects}
    titles |= {figure.name: figure.title for figure in one.a.figures.values()}
    sign, parts = -1 if one.figure.higher_is_better else 1, dict(one.parts)
    by_gain = sorted(parts.pop("subjects", ()), key=lambda effect: sign * effect.difference.value)
    return [(titles[effect.name], effect) for effect in chain(*parts.values(), by_gain)]


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
    tasks, sides = list[dict[str, Any]](), set[tuple[str, ...]]()
    for one in compared:
        if one.gate is None:
            continue
        cut_off = " (each answer's cut off at 1)" if one.figure.unlimited else ""
        task = {"task": one.a.definition.name, "title": one.a.definition.title}
        task |= {"metric": one.figure.name, "figure": figure_title(one.a, one.figure) + cut_off}
        sides.add(names := tuple(_names([one.b, one.a])))
        task |= {"compared": " against ".join(names)}
        result = "passed" if one.gate.passed else "not passed"
        outcome = {"differences": [*one.a.differs(one.b)], "verdict": result, "delta": delta}
        tasks.append({**task, **outcome, **asdict(one.gate)})
    failed = [task for task in tasks if not task["passed"]]
    tests = dict.fromkeys(f"{task['figure']} of {task['title']}" for task in failed or tasks)
    named, less = _listed([*tests]), f"δ = {delta:g} points"
    second, first = next(iter(sides)) if len(sides) == 1 else ("a run", "the first")
    bound = max((task["bound"] for task in tasks), default=None)
    if failed:
        result = "not passed"
        text = f"Gate not passed: {second} may be {less} or more worse than {first} in {named}"
        text += f" (at most {bound:.3g} points)."
    elif left_out:
        result, text = "incomplete", f"Gate incomplete: {len(left_out)} not compared, see below."
    else:
        result = "passed"
        text = f"Gate passed: {second} is less than {less} worse than {first} in {named}."
    method = "; ".join(dict.fromkeys(task["method"] for task in tasks))
    remarks = []
    few = [f"{t['needed_items']:,} items of {t['title']}" for t in failed if t["needed_items"]]
    if few:
        takes = _listed([*dict.fromkeys(few)])
        remarks.append(f"With so few items, not even an equal run passes; it needs about {takes}.")
    if tasks:
        each = " in each" if len(tasks) > 1 else ""
        sure = f"{100 * tasks[0]['confidence']:.6g} % confidence{each}"
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
    # With one pair of runs, the verdict names them.
    shown = (key for key in _GATE if key != "compared" or len(sides) > 1)
    columns = [(_GATE[key], itemgetter(key)) for key in shown]
    blocks: list[Block] = [Note(text, "verdict")]
    if remarks:
        blocks.append(Note(" ".join(remarks), "info" if result == "passed" else "warning"))
    blocks += [table("gate", "Non-inferiority, task by task", tasks, columns)] if tasks else []
    record = {"verdict": result, "delta": delta, "bound": bound, "method": method}
    record |= {"look": look, "candidates": candidates, "tasks": tasks, "not_compared": left_out}
    return record, Section("Gate", blocks, "gate", is_summary=True)


def _groups(read: Runs) -> tuple[list[tuple[bool, list[Run]]], list[str], int]:
    """Group runs to compare with each other: the same task under the same condition.

    The sides are the arguments, or the models if an argument has several. If each of two sides has
    a task only once, the conditions may differ: chain of thought can be compared with direct
    answers.

    Returns:
        The groups, each with whether it has a run of the first side; messages about runs left out;
        and the number of candidates for the first side's place.
    """
    found = list(zip(read.places, read.runs, strict=True))
    several = len({(place, run.comparable_as) for place, run in found}) < len(found)
    by_label = several or len({*read.places}) == 1
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
            if groups[task if only else run.comparable_as].setdefault(place, run) is not run:
                left_out.append(f"{_called(run)}: another log has it too. Name each: NAME=PATH.")
    for group in groups.values():
        if others := [side[0].label for place, side in enumerate(sides) if place not in group]:
            who = "; ".join(map(_called, group.values()))
            left_out.append(f"{who}: no partner in {', '.join(others)}.")
    kept = [(0 in group, [*group.values()]) for group in groups.values() if len(group) > 1]
    return kept, left_out, len(sides) - 1


def _called(run: Run) -> str:
    return f"{run.label}, {task_title(run)}"


def _record(one: Comparison) -> Mapping[str, Any]:
    """Return a comparison as a record, its effects by name."""
    names = ("label", "task", "condition", "data")
    a, b = ({name: getattr(side, name) for name in names} for side in (one.a, one.b))
    parts = {part: {effect.name: effect for effect in of} for part, of in one.parts.items()}
    figure = {"metric": one.figure.name, "unit": one.figure.unit, "a": a, "b": b}
    effects = {"unscored": one.unscored, "effects": {"all": one.overall, **parts}}
    return {"task": one.a.definition.name, **figure, **effects}


def _digits(points: float, sign: str = "") -> str:
    """Return points with enough digits that they do not read as zero."""
    return f"{points:{sign}.1f}" if abs(points) >= 0.1 or not points else f"{points:{sign}.1g}"


def _signed(points: float) -> str:
    return _digits(points, "+z").replace("-", "−")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return "; ".join(names if more < 1 else [*names[:_NAMED], f"{more} more"])


def _names(runs: Sequence[Run]) -> list[str]:
    """Return names that distinguish the runs."""
    labels = [side.label for side in runs]
    conditions = [f"{side.label} ({condition_title(side)})" for side in runs]
    numbers = [f"{label} ({place})" for place, label in enumerate(labels, 1)]
    return next((n for n in (labels, conditions) if len(set(n)) == len(n)), numbers)


def _remarks(compared: Sequence[Comparison], sides: Sequence[Run]) -> Sequence[Note]:
    """Return warnings and notes: other differences of the runs, and limits of their figures."""
    first, unscored, names = sides[0], max(one.unscored for one in compared), _names(sides)
    few = f"Only {len(set(first.items.ids)):,} of the task's items were run."
    warnings = {
        TWO_MEASURES: len({side.setup.task.variant.scoring for side in sides}) > 1,
        _OWN_FILES: first.is_local,
        "This is the sample data: its figures mean nothing elsewhere.": first.is_sample,
        few: not (first.is_sample or first.complete),
        _ASKED: not all(side.signature.prompt_known for side in sides),
        f"{unscored:,} items are left out, because a run has no value for them.": unscored > 0,
    }
    notes = [note for side in sides for note in side.notes]
    conditions = [f"{side.task}, {condition_title(side)}" for side in sides]
    for remark, how in (
        ("The conditions also differ: ", conditions),
        ("They were run by different harnesses: ", [side.harness for side in sides]),
    ):
        if len(set(how)) > 1:
            notes.append(remark + "; ".join(map("{}: {}".format, names, how)) + ".")
    for side in sides[1:]:
        unlike = {
            name: f"{name} {one or 'none'} against {other}"
            for name, (one, other) in first.differs(side).items()
        }
        for name in _EDITED.keys() & unlike.keys():
            warnings[f"{_EDITED[name]} ({unlike[name]})."] = True
        sent = [unlike[name] for name in first.sent.differs(side.sent) if name in unlike]
        if sent:
            warnings[f"They were not sent with the same settings: {'; '.join(sent)}."] = True
    shown = [Note(text, "warning") for text, holds in warnings.items() if holds]
    return [*shown, *map(Note, dict.fromkeys(notes))]
