"""`hkcanto compare`: which evaluations of some logs are compared with which, as a report."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from ..errors import ComparisonError
from .blocks import Note, Report, Section
from .comparison import RESAMPLES, SEED, Comparison, compare, pairwise
from .comparison_blocks import gate_of, sections
from .evaluations import Evaluation
from .logs import read_runs
from .presentation import task_title
from .report import footer_of, report_of

_INTERVALS = (
    "Intervals of differences are Tango's for right and wrong answers, put together from those of "
    "the subjects for means over them (MOVER), of a bootstrap for figures of a corpus, and else "
    "Student's of the items' differences."
)


def compare_runs(
    runs: Sequence[str],
    *,
    metric: str | None = None,
    gate: float | None = None,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Report, int]:
    """Read runs and compare their models: two with each other, more of them pairwise.

    Args:
        runs: Logs or folders of logs, each perhaps as NAME=PATH; gates test against the first.
        metric: As in `compare`, as are gate, seed and resamples.
        gate: See there.
        seed: See there.
        resamples: See there.
        progress: Called with how many logs are read, and of how many.

    Returns:
        The report, and the exit status: 1 if a gate is not passed; else 2 if a comparison was
        refused, or a gate left anything untested: a task without partner or figure, an unread log.

    Raises:
        LogError: Nothing could be read.
        ComparisonError: Nothing could be compared.
    """
    read = read_runs(runs, progress=progress)
    sides = _sides(list(zip(read.places, read.evaluations, strict=True)))
    groups, left_out = _groups(sides)
    left_out += [f"{log.path}: {log.reason}." for log in read.skipped]
    options: dict[str, Any] = {"metric": metric, "seed": seed, "resamples": resamples}
    found: list[Sequence[Comparison]] = []
    refused: list[str] = []
    for group in groups:
        known = [figure.name for figure in group[0].metrics]
        if metric not in (None, *known):
            what = f"no figure {metric!r}, but {', '.join(known)}"
            left_out.append(f"{task_title(group[0])}: it has {what}.")
            continue
        try:
            options["gate"] = gate if group[0] in sides[0] else None
            one = compare(*group, **options) if len(group) == 2 else None
            found.append([one] if one else pairwise(group, **options))
        except ComparisonError as error:
            refused.append(str(error))
    if not found:
        reasons = [*refused, *left_out] if refused else [*left_out, _advice(sides)]
        raise ComparisonError("\n".join(["nothing to compare.", *reasons]))
    made = [section for compared in found for section in sections(compared)]
    every = [one for compared in found for one in compared]
    if not_compared := [*refused, *left_out]:
        notes = [Note(line, "warning") for line in not_compared]
        made.append(Section("Not compared", notes, "not-compared", is_summary=True))
    status = 2 if refused or (left_out and gate is not None) else 0
    records: dict[str, Any] = {"gate": None, "comparisons": [_record(one) for one in every]}
    if gate is not None:
        records["gate"], first = gate_of(every, gate, not_compared)
        made.insert(0, first)
        status = 1 if records["gate"]["verdict"] == "not passed" else status
    title = " against ".join(reversed(list(dict.fromkeys(e.label for e in read.evaluations))))
    how = f"{_INTERVALS} Random numbers: seed {seed}, {resamples:,} resamples or exchanges."
    return report_of(made, title, [*footer_of(read.evaluations), how], records), status


def _sides(found: Sequence[tuple[int, Evaluation]]) -> Sequence[Sequence[Evaluation]]:
    """Return what is compared: the arguments, or the models if one has several of them."""
    several = len({(place, one.comparable_as) for place, one in found}) < len(found)
    by_label = several or len({place for place, _ in found}) == 1
    sides: dict[tuple[int, str], list[Evaluation]] = defaultdict(list)
    for place, one in found:
        sides[place, one.label if by_label else ""].append(one)
    return list(sides.values())


def _groups(
    sides: Sequence[Sequence[Evaluation]],
) -> tuple[Sequence[Sequence[Evaluation]], list[str]]:
    """Return which evaluations are compared with each other, and what is left out, in words.

    They are those of the same task under the same condition; of what is left of two runs, the only
    ones of a task, so that a run with chain of thought can be compared with one without.
    """
    alike: dict[Hashable, dict[int, Evaluation]] = defaultdict(dict)
    left_out: list[str] = []
    for place, side in enumerate(sides):
        for one in side:
            if alike[one.comparable_as].setdefault(place, one) is not one:
                left_out.append(f"{_said(one)}: another log of this run has it too. Name each.")
    alone: dict[str, list[dict[int, Evaluation]]] = defaultdict(list)
    for own in alike.values():
        if len(own) == 1 and len(sides) == 2:
            alone[next(iter(own.values())).named.entry.name].append(own)
    for first, *rest in alone.values():
        if len(rest) == 1 and first.keys() != rest[0].keys():
            first.update(rest[0])
            rest[0].clear()
    for own in filter(None, alike.values()):
        others = [side[0].label for place, side in enumerate(sides) if place not in own]
        if others and len(sides) > 1:
            who = "; ".join(map(_said, own.values()))
            left_out.append(f"{who}: no partner in {', '.join(others)}.")
    return [[own[i] for i in sorted(own)] for own in alike.values() if len(own) > 1], left_out


def _advice(sides: Sequence[Sequence[Evaluation]]) -> str:
    """Say how to name two runs: logs of each side, or two of the only one."""
    several = [*(side[0] for side in sides), *sides[0][1:]]
    paths = [*dict.fromkeys(str(one.sources[0]) for one in several), "ANOTHER_LOG"]
    named = " ".join(f"{name}={path}" for name, path in zip("ab", paths, strict=False))
    return f"Give the logs of two runs with a task in common, each by name: hkcanto compare {named}"


def _said(evaluation: Evaluation) -> str:
    return f"{evaluation.label}, {task_title(evaluation)}"


def _record(one: Comparison) -> Mapping[str, Any]:
    """Return a comparison for programs, its effects by name."""
    names = ("label", "task", "condition", "data")
    a, b = ({name: getattr(side, name) for name in names} for side in (one.a, one.b))
    parts = {part: {each.name: each for each in own} for part, own in one.parts.items()}
    of = {"task": one.a.named.entry.name, "metric": one.metric.name, "unit": one.metric.unit}
    return {
        **of,
        "a": a,
        "b": b,
        "unscored": one.unscored,
        "effects": {"all": one.overall, **parts},
    }
