"""The report of `hkcanto compare`: runs of two models with each other, of more pairwise."""

import re
from collections import Counter, defaultdict
from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain, combinations
from typing import Any, NamedTuple

from ...catalogue import chosen_tasks, named_tasks
from ...errors import ComparisonError, OptionError
from ...messages import joined, named, say, verbatim
from ..audit import misjudged
from ..frames import effect_rows
from ..logs import read_runs
from ..runs import Run, SkippedLog
from ..statistics.intervals import CONFIDENCE, WORSE_CONFIDENCE
from ..statistics.matching import RESAMPLES, SEED
from ..statistics.paired import Comparison, GateErrors, pairwise
from ..statistics.validity import no_verdict
from .blocks import (
    Block,
    Note,
    Report,
    Section,
    TableBlock,
    report_of,
)
from .gate import Gate, Undecided, decide, gate_section, method_section
from .many_models import overview_of_runs
from .pairs import (
    RunPair,
    effects_table,
    pair_of,
    pairs_blocks,
)
from .presentation import (
    distinct_names,
    figure_title,
    footer_of,
    run_title,
    short_name,
    task_title,
    warning_lines,
)
from .renderers.formatting import listed

_TWO_MEASURES = (
    "Generation scores the letter that a model writes, log-likelihood the likeliest letter (wrong "
    "for a model that reasons first): two measures, which rank models differently."
)
_METHOD = (
    "Intervals of differences: Tango's for right and wrong answers and for means over subjects, "
    "Student's t for the others; of more than two models, by the largest difference (max-t); all "
    "tasks share the error of 5 % (Bonferroni). Random numbers: "
    "seed {seed}, {resamples:,} exchanges."
)
_OWN_FILES = (
    "They ran on your own files: only the questions' lengths show that these are equal."
)
_UNKNOWN_PROMPT = "For some, neither the prompt nor the decoding was logged: that may be the difference."
_ADVICE = "Give the logs of two runs with a task in common by name: hkcanto compare a=LOG b=LOG"
_EDITED = {
    "requests": "not the catalogue's requests: another solver, edited task or system message",
    "sent": "the prompt, worked examples, stop texts or token limit was edited",
    "read": "the rules for reading answers were edited",
}
"""The cause if two setups differ only in a hash."""
_SIDES = (say("First"), say("Second"))
_SAID = (
    "run with --limit",
    "not all items",
    "own data",
    "sample data",
    "prompt and decoding unknown",
)
"""Doubts for which a comparison has a sentence of its own."""


class _Group(NamedTuple):
    """Runs to compare with each other, and whether one of them is of the first side."""

    runs: Sequence[Run]
    has_first: bool


@dataclass
class _Outcome:
    """What came of comparing runs.

    Attributes:
        left_out: Why logs and runs have no part in any comparison.
        refused: Why groups of runs could not be compared.
        compared: The comparisons of each group.
    """

    left_out: list[str]
    refused: list[str] = field(default_factory=list)
    compared: list[Sequence[Comparison]] = field(default_factory=list)

    @property
    def comparisons(self) -> list[Comparison]:
        """All comparisons."""
        return [*chain.from_iterable(self.compared)]

    @property
    def unread(self) -> list[str]:
        """Why some comparisons have no verdict."""
        return _unread(self.comparisons)

    @property
    def not_compared(self) -> list[str]:
        """Why groups, logs and runs were not compared, each reason once."""
        return [*self.refused, *dict.fromkeys(self.left_out)]


def compare_runs(
    logs: Sequence[str],
    *,
    metric: str | None = None,
    gate: float | None = None,
    look: str = "1/1",
    candidates: int = 1,
    undecided: Undecided | None = None,
    allowed: Collection[str] = (),
    tasks: Sequence[str] = (),
    models: Sequence[str] = (),
    alone: bool = False,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Report, int]:
    """Read runs and compare their models: two with each other, more than two pairwise.

    Args:
        logs: Logs or folders of logs, optionally as NAME=PATH; gates test against the first.
        metric: As in `statistics.paired.compare`; so are gate, allowed, seed and resamples.
        look: Number of this look at growing runs and number of planned looks, such as `2/4`. The
            looks share the gate's 5 % error equally, which keeps it at 5 % at most (Bonferroni).
        candidates: The number of runs that the winner is chosen from; they share the 5 % error too.
        undecided: The answer of the exit status if a gate has too few items to decide.
        alone: Whether each task's differences have the 5 % error to themselves.
        tasks: Names of tasks, or of groups of tasks, to compare; by default all.
        models: Names of models to compare, the baseline first; by default all.
        progress: Called with the number of logs read so far and the total.

    Returns:
        The report, and the exit status: that of the gate (`Gate.status`), which is 2 if something
        was left untested (a task without a partner or figure, or an unread log). Without a gate it
        is 2 if a comparison was refused or lacks a verdict, and 0 otherwise.

    Raises:
        HKCantoError: Nothing could be read (`LogError`) or compared (`ComparisonError`), or there
            are more candidates or looks than declared (`OptionError`).
    """
    looks = _planned_looks(look)
    read = read_runs(logs, progress=progress)
    chosen = _of_models(_of_tasks(read.runs, tasks), models)
    sides = _sides(chosen)
    if 1 < candidates < len(sides) - 1:
        raise OptionError(
            f"{len(sides) - 1} candidates are compared, not {candidates}."
        )
    groups, left_out = _groups(sides)
    outcome = _Outcome([*left_out, *_unread_logs(read.skipped)])
    tests = 1 if alone else len(groups)
    _compare_groups(
        groups,
        outcome,
        gate,
        metric=metric,
        errors=_gate_errors(groups, looks, candidates),
        tests=tests,
        allowed=allowed,
        seed=seed,
        resamples=resamples,
    )
    if gate is not None:
        outcome.left_out += _untrusted(groups)
    if not outcome.compared:
        raise _nothing_to_compare(outcome)
    comparisons = outcome.comparisons
    decision = None
    if gate is not None:
        decision = _decision(
            outcome,
            gate,
            look,
            candidates,
        )
    blocks = sections(
        outcome.compared,
        outcome.not_compared,
        decision,
        is_of_headlines=metric is None,
        tests=tests,
    )
    method = say(_METHOD, seed=seed, resamples=resamples)
    records = {
        "gate": decision and asdict(decision),
        "comparisons": [*map(_record, comparisons)],
    }
    report = report_of(
        [*blocks],
        title=_title(chosen),
        footer=[*footer_of(chosen), method],
        records=records,
        frame=partial(effect_rows, comparisons, gate),
    )
    if decision is not None:
        return report, decision.status(undecided)
    return report, 2 if outcome.refused or outcome.unread else 0


def _decision(
    outcome: _Outcome,
    gate: float,
    look: str,
    candidates: int,
) -> Gate:
    """Return the verdict of a gate on what could be compared, and on what could not."""
    failures = [*outcome.unread, *outcome.not_compared]
    return decide(
        outcome.comparisons,
        gate,
        failures,
        look,
        candidates,
    )


def _unread_logs(skipped: Sequence[SkippedLog]) -> list[str]:
    """Return which logs could not be read, and why."""
    return [
        say("{log}: {reason}.", log=log.path, reason=log.reason)
        for log in skipped
        if not log.is_superseded
    ]


def _unread(comparisons: Iterable[Comparison]) -> list[str]:
    """Return why some runs get no verdict."""
    runs = chain.from_iterable(comparison.unread for comparison in comparisons)
    return no_verdict(dict.fromkeys(runs))


def _untrusted(groups: Sequence[_Group]) -> Iterator[str]:
    """Yield why runs cannot be trusted, with which no gate can pass."""
    for runs, _ in groups:
        for run in runs:
            for text in run.contradictions:
                yield say("{run}: {note}.", run=run_title(run), note=text)
            if text := misjudged(run):
                yield say("{run}: {note}", run=run_title(run), note=text)
        for text in _shared_responses(runs):
            yield say("{run}: {note}", run=task_title(runs[0]), note=text)


def _shared_responses(runs: Sequence[Run]) -> Iterator[str]:
    """Yield which runs of other models may have the same responses."""
    for a, b in combinations(runs, 2):
        if text := a.shares_responses(b):
            names = joined(" and ", distinct_names([a, b]))
            yield say("{run}: {note}.", run=names, note=text)


def _nothing_to_compare(outcome: _Outcome) -> ComparisonError:
    lines = ["nothing to compare.", *outcome.not_compared]
    if not outcome.refused:
        lines.append(_ADVICE)
    return ComparisonError("\n".join(lines))


def _gate_errors(
    groups: Sequence[_Group],
    looks: int,
    candidates: int,
) -> GateErrors:
    """Return the confidence of the bounds of each gated pair.

    Looks and candidates share both errors. All tasks have to pass, so they do not share the error
    of passing; but one is enough to fail, so they share that of being called worse.
    """
    gated = [len(group.runs) - 1 for group in groups if group.has_first]
    pairs = max(sum(gated), candidates * len(gated), 1)
    return GateErrors(
        1 - (1 - CONFIDENCE) / (looks * candidates),
        1 - (1 - WORSE_CONFIDENCE) / (looks * pairs),
    )


def _of_models(runs: Sequence[Run], names: Sequence[str]) -> Sequence[Run]:
    """Return the runs of models with these names, in the order of the names; or all without names.

    Raises:
        OptionError: A name has no run.
    """
    if not names:
        return runs
    labels = [*dict.fromkeys(run.label for run in runs)]
    for name in names:
        if name not in labels:
            raise OptionError(
                f"--model {name}: no log has it. The logs have {listed(labels, ', ')}."
            )
    chosen = [run for run in runs if run.label in names]
    return sorted(chosen, key=lambda run: names.index(run.label))


def _of_tasks(runs: Sequence[Run], names: Sequence[str]) -> Sequence[Run]:
    """Return the runs of tasks with these names, or all without names.

    A task's name means all of its variants, a benchmark's all of its tasks.
    """
    if not names:
        return runs
    chosen = set[Run]()
    for name in names:
        tasks = _task_names(name)
        members = [run for run in runs if tasks & {run.task, run.definition.name}]
        if not members:
            known = listed(sorted({run.task for run in runs}), ", ")
            raise OptionError(f"--task {name}: no log has it. The logs have {known}.")
        chosen.update(members)
    return [run for run in runs if run in chosen]


def _task_names(name: str) -> set[str]:
    """Return the task of a name, or the tasks of a benchmark of that name."""
    if name in named_tasks(with_sets=True):
        return {name}
    return {task.name for task in chosen_tasks([name])}


def _compare_groups(
    groups: Sequence[_Group],
    outcome: _Outcome,
    gate: float | None,
    metric: str | None,
    **options: Any,
) -> None:
    """Compare the runs of each group, and add what came of it to the outcome."""
    for runs, has_first in groups:
        comparisons, reasons = pairwise(
            runs,
            gate=gate if has_first else None,
            metric=metric,
            **options,
        )
        if comparisons:
            outcome.compared.append(comparisons)
        if metric is None or any(metric in run.figures for run in runs):
            outcome.refused += reasons
        else:
            outcome.left_out += reasons


def _title(runs: Sequence[Run]) -> str:
    labels = [*dict.fromkeys(run.label for run in runs)]
    if len(labels) > 2:
        return say("{number} models compared", number=len(labels))
    return joined(" against ", reversed(labels))


def _planned_looks(look: str) -> int:
    """Return the number of planned looks."""
    match = re.fullmatch(r"([1-9]\d?)/([1-9]\d?)", look)
    if match is None or int(match[1]) > int(match[2]):
        raise OptionError(f"--look {look}: give it as 2/4, the second of four.")
    return int(match[2])


# ---------------------------------------------------------------------- groups


def _sides(runs: Sequence[Run]) -> list[list[Run]]:
    """Return the runs of each side.

    A side is an argument. If there is only one, or one has a task twice under one condition, each
    model of an argument is a side.
    """
    slots = {(run.argument, run.comparable_as) for run in runs}
    is_one_argument = len({run.argument for run in runs}) == 1
    by_label = len(slots) < len(runs) or is_one_argument
    sides = defaultdict[tuple[int, str], list[Run]](list)
    for run in runs:
        sides[run.argument, run.label if by_label else ""].append(run)
    return [*sides.values()]


def _groups(sides: Sequence[Sequence[Run]]) -> tuple[list[_Group], list[str]]:
    """Group runs to compare with each other, and say which runs are left out.

    They have the same task and condition. If each of two sides has a task only once, the conditions
    may differ: chain of thought can be compared with direct answers.
    """
    single = _single_tasks(sides)
    by_key = defaultdict[Hashable, dict[int, Run]](dict)
    left_out = list[str]()
    for position, side in enumerate(sides):
        for run in side:
            task = run.definition.name
            group = by_key[task if task in single else run.comparable_as]
            if position in group:
                text = "{run}: another log has it too. Name each: NAME=PATH."
                left_out.append(say(text, run=run_title(run)))
            else:
                group[position] = run
    groups = list[_Group]()
    for group in by_key.values():
        left_out += _without_partner(group, sides)
        if len(group) > 1:
            groups.append(_Group([*group.values()], has_first=0 in group))
    return groups, left_out


def _without_partner(
    group: Mapping[int, Run],
    sides: Sequence[Sequence[Run]],
) -> Iterator[str]:
    """Say which sides lack the task of a group of runs."""
    others = [side[0].label for n, side in enumerate(sides) if n not in group]
    if others:
        yield say(
            "{runs}: no partner in {models}.",
            runs=joined("; ", map(run_title, group.values())),
            models=joined(", ", others),
        )


def _single_tasks(sides: Sequence[Sequence[Run]]) -> set[str]:
    """Return the tasks that each of two sides has once; none if there are more sides."""
    if len(sides) != 2:
        return set()
    first, second = (Counter(run.definition.name for run in side) for side in sides)
    return {task for task in first if first[task] == second[task] == 1}


# ---------------------------------------------------------------------- sections


def sections(
    compared: Sequence[Sequence[Comparison]],
    not_compared: Sequence[str],
    gate: Gate | None = None,
    *,
    is_of_headlines: bool = True,
    tests: int = 1,
) -> Iterator[Section]:
    """Yield the verdict with the table of tasks and models, and each task's pairs or parts.

    So many `tests` share the error of 5 %. With a gate, only its verdict, intervals and next steps
    are in the summary.
    """
    comparisons = [*chain.from_iterable(compared)]
    is_of_two = len(comparisons) == len(compared)
    warnings = _warning_notes(compared, not_compared)
    details = [*chain.from_iterable(_details(group, is_of_two) for group in compared)]
    following: Section | None = None
    if is_of_two:
        notes, tables = _overview_of_two(comparisons)
        following = Section("Parts and subjects", details, "parts")
    elif is_of_headlines:
        notes, tables = overview_of_runs(_runs(comparisons), tests)
        following = Section("Pairs", details, "pairs")
    else:
        notes, tables = [], details
    if gate is None:
        results = [*notes, *warnings, *tables]
        yield Section(
            "Results",
            results,
            "results",
            is_summary=True,
        )
    else:
        yield gate_section(gate, [*warnings, *_run_notes(comparisons)])
        notes = [note for note in notes if note.level != "next"]
        yield Section("Results without the gate", [*notes, *tables], "results")
    if following:
        yield following
    yield _left_out_section(comparisons, not_compared)
    if gate is not None:
        yield method_section(gate)


def _overview_of_two(
    comparisons: Sequence[Comparison],
) -> tuple[Sequence[Note], Sequence[Block]]:
    """Return the verdict on two models, and the table of their tasks."""
    pairs = [pair_of(comparison) for comparison in comparisons]
    notes, pairs_table = pairs_blocks(pairs, _common_names(comparisons))
    return notes, [pairs_table]


def _left_out_section(
    comparisons: Sequence[Comparison],
    not_compared: Sequence[str],
) -> Section:
    """Return why runs are not compared; the verdict says it of a single comparison."""
    unread = _unread(comparisons) if len(comparisons) > 1 else []
    reasons = [Note(line, "warning") for line in (*unread, *not_compared)]
    return Section(
        "Not compared",
        reasons,
        "not-compared",
        is_summary=True,
    )


def _details(group: Sequence[Comparison], is_of_two: bool) -> Iterator[Block]:
    """Yield the notes on a task's runs, and the table of its parts or pairs."""
    yield from _run_notes(group)
    if any(comparison.unread for comparison in group):
        return
    yield _parts_table(group[0]) if is_of_two else _pairwise_table(group)


def _run_notes(group: Sequence[Comparison]) -> Iterator[Note]:
    """Yield each note on the runs of some comparisons once."""
    notes = chain.from_iterable(run.notes for run in _runs(group))
    yield from map(Note, map(verbatim, dict.fromkeys(notes)))


def _runs(group: Sequence[Comparison]) -> list[Run]:
    """Return the runs of some comparisons."""
    sides = ((comparison.a, comparison.b) for comparison in group)
    return [*dict.fromkeys(chain.from_iterable(sides))]


def _common_names(comparisons: Sequence[Comparison]) -> Sequence[str]:
    """Return the names of the two models if each comparison has the same ones, or else `_SIDES`."""
    # One model under two conditions has other names in each task.
    couples = {tuple(distinct_names([pair.a, pair.b])) for pair in comparisons}
    return couples.pop() if len(couples) == 1 else _SIDES


def _parts_table(comparison: Comparison) -> TableBlock:
    """Return the effects on averages, on categories, and on subjects."""
    a = comparison.a
    titles = {
        subject.name: named(subject.title, subject.chinese)
        for subject in a.kind.task.subjects
    }
    titles |= {figure.name: say(figure.title) for figure in a.figures.values()}
    effects = chain.from_iterable(comparison.parts.values())
    return effects_table(
        _table_name(comparison),
        say("{title} by part", title=_table_title(comparison)),
        [RunPair(titles[effect.name], comparison.figure, effect) for effect in effects],
        distinct_names([a, comparison.b]),
    )


def _pairwise_table(group: Sequence[Comparison]) -> TableBlock:
    """Return the effects of each run of a task on each later one."""
    runs = _runs(group)
    names = dict(zip(runs, distinct_names(runs), strict=True))
    pairs = [
        RunPair(
            say("{model} against {other}", model=names[pair.b], other=names[pair.a]),
            pair.figure,
            pair.overall,
        )
        for pair in group
    ]
    name = f"{_table_name(group[0])}_pairwise"
    title = say("{title}, pairwise", title=_table_title(group[0]))
    return effects_table(
        name,
        title,
        pairs,
        _SIDES,
    )


def _table_name(comparison: Comparison) -> str:
    a, b = comparison.a, comparison.b
    runs = (a.task, a.condition, b.task, b.condition)
    return short_name("compare", *runs, comparison.figure.name)


def _table_title(comparison: Comparison) -> str:
    figure = figure_title(comparison.a, comparison.figure)
    return say("{task}: {figure}", task=task_title(comparison.a), figure=figure)


def _record(comparison: Comparison) -> Mapping[str, Any]:
    """Return a comparison as a record, its effects by name."""
    effects: dict[str, Any] = {"all": comparison.overall}
    for part, listed_effects in comparison.parts.items():
        effects[part] = {effect.name: effect for effect in listed_effects}
    return {
        "task": comparison.a.definition.name,
        "metric": comparison.figure.name,
        "unit": comparison.figure.unit,
        "a": _side_record(comparison.a),
        "b": _side_record(comparison.b),
        "unscored": comparison.unscored,
        "no_verdict": no_verdict(comparison.unread),
        "effects": effects,
    }


def _side_record(run: Run) -> dict[str, Any]:
    names = ("label", "task", "condition", "data")
    return {name: getattr(run, name) for name in names}


# ---------------------------------------------------------------------- warnings


def _warning_notes(
    compared: Sequence[Sequence[Comparison]], not_compared: Sequence[str]
) -> list[Note]:
    """Return each warning with the tasks that it concerns."""
    tasks = defaultdict[str, list[str]](list)
    for group in compared:
        runs = _runs(group)
        for text in chain(_limits(group, runs), _differences(runs)):
            tasks[text].append(task_title(runs[0]))
    everyone = [run for group in compared for run in _runs(group)]
    notes = [Note(text, "warning") for text in warning_lines(everyone, _SAID)]
    for text, titles in tasks.items():
        warning = say("{tasks}: {warning}", tasks=listed(titles), warning=text)
        notes.append(Note(warning, "warning"))
    if not_compared:
        text = say("{number} not compared: see below.", number=len(not_compared))
        notes.append(Note(text, "warning"))
    return notes


def _limits(group: Sequence[Comparison], runs: Sequence[Run]) -> Iterator[str]:
    """Say what limits the figures of a group of runs."""
    first = runs[0]
    if len({run.kind.task.variant.scoring for run in runs}) > 1:
        yield say(_TWO_MEASURES)
    if first.is_local:
        yield say(_OWN_FILES)
    if first.is_sample:
        yield say("This is the sample data: its figures mean nothing elsewhere.")
    elif not first.complete:
        yield say(
            "Only {number:,} of the task's items were run.",
            number=len(set(first.items.ids)),
        )
    if not all(run.signature.prompt_known for run in runs):
        yield say(_UNKNOWN_PROMPT)
    yield from _shared_responses(runs)
    for run in runs:
        for note in filter(None, (*run.contradictions, run.other_model)):
            yield say("{run}: {note}.", run=run.label, note=note)
    unscored = max(comparison.unscored for comparison in group)
    if unscored:
        yield say(
            "{number:,} items are left out, because a run has no value for them.",
            number=unscored,
        )


def _differences(runs: Sequence[Run]) -> Iterator[str]:
    """Say how each later run's settings differ from those of the first."""
    first, *later = runs
    first_name, *names = distinct_names(runs)
    for name, run in zip(names, later, strict=True):
        settings = {"harness": (first.harness, run.harness), **first.differs(run)}
        unlike = [_unlike(part, *values) for part, values in settings.items()]
        differing = [text for text in unlike if text]
        if differing:
            yield say(
                "{model} and {other} also differ in {settings}.",
                model=first_name,
                other=name,
                settings=joined("; ", differing),
            )


def _unlike(
    part: str,
    first: str,
    second: str,
) -> str:
    """Return both values of a setting, with the cause if they are hashes; empty if equal."""
    if first == second:
        return ""
    none = say("none")
    places = {"part": part, "value": first or none, "other": second or none}
    if part in _EDITED:
        return say(
            "{part} {value} against {other} ({cause})",
            cause=say(_EDITED[part]),
            **places,
        )
    return say("{part} {value} against {other}", **places)
