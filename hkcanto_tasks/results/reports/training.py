"""Checkpoints of training runs: curves, the best checkpoint, and subjects that carry signal."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from hkcanto_metrics.training_signal import signal_of

from ..runs import Run
from ..statistics.estimates import estimate
from ..statistics.intervals import Estimate
from ..statistics.paired import points_of
from ..statistics.selection import Selection, selection
from .blocks import (
    Block,
    Column,
    Note,
    Row,
    Section,
    Table,
    column_of,
    section,
)
from .frames import checkpoint
from .presentation import (
    SideBySide,
    headline,
    headline_column,
    headline_title,
    side_by_side,
)

_FEWEST = 4  # steps of a curve
_RISES, _TELLS = 0.5, 2.0
_SOURCES = (
    "Signal and noise: Heineman and others (2025), “Signal and Noise”; rise and chance: Penedo and "
    "others (2025), “FineWeb2”, A.5.1."
)
_VERDICT = (
    "✓ for a rise of 0.5, signal twice the noise, and a last interval above chance. Flat curves "
    "can pass the first two checks by chance: with independent noise 6 % of curves with 6 steps "
    "and 1 % of those with 20 do, and up to 26 % if the noise carries over from step to step."
)
_Curves = Mapping[str, Mapping[int, Run]]
"""Training run → step → its run, for training runs with enough steps."""


def ordered(runs: Sequence[Run]) -> Sequence[Run]:
    """Return runs in the order of training: those that are not checkpoints first, then by step."""
    of = {run: checkpoint(run) or ("", 0) for run in runs}
    names = list(dict.fromkeys(["", *(name for name, _ in of.values())]))
    return sorted(runs, key=lambda run: (names.index(of[run][0]), of[run][1]))


def outstanding(runs: Sequence[Run]) -> Sequence[Run]:
    """Return runs with only the best and the last checkpoint of each training run."""
    curves = [own for group in side_by_side(runs) for own in _curves(group).values()]
    left_out = {run for own in curves for run in own.values()}
    for own in curves:
        found = selection(tuple(own.values()))
        left_out -= {own[max(own)], *([found.best] if found else ())}
    return [run for run in runs if run not in left_out]


def best_records(runs: Sequence[Run]) -> Sequence[Mapping[str, Any]]:
    """Return the best run of each task under each condition, as records."""
    found = []
    for group in side_by_side(runs):
        if chosen := selection(tuple(group.runs)):
            best = chosen.best
            record: dict[str, Any] = {
                **{name: getattr(best, name) for name in ("task", "condition", "label")},
                "step": (checkpoint(best) or ("", None))[1],
                "figure": headline(best),
                "picked_from": chosen.picked_from,
                "overstated": chosen.overstated,
                "ties": [run.label for run in chosen.ties],
                "left_out": {run.label: why for run, why in chosen.left_out.items()},
            }
            found.append(record)
    return found


def _curves(group: SideBySide[Run]) -> _Curves:
    found: dict[str, dict[int, Run]] = defaultdict(dict)
    for run in group.runs:
        if (of := checkpoint(run)) and headline(run) and not run.interruption:
            found[of[0]][of[1]] = run
    return {name: dict(sorted(of.items())) for name, of in found.items() if len(of) >= _FEWEST}


def sections(runs: Sequence[Run]) -> tuple[Sequence[Section], Sequence[Table]]:
    """Return a section on training curves and best checkpoints, and the signal of subjects."""
    blocks, tables = list[Block](), list[Table]()
    for group in side_by_side(runs):
        if curves := _curves(group):
            signals = _signals(group, curves)
            blocks.append(_curve(group, curves))
            if found := selection(tuple(run for of in curves.values() for run in of.values())):
                blocks += _best_table(group, found)
            subjects = [row.values for row in signals.rows[1:]]
            clear = [str(values[0]) for values in subjects if "✗" not in str(values[-1])]
            if subjects:
                said = f"{len(clear)} of {len(subjects)} subjects carry signal at this size"
                blocks.append(Note(": ".join(filter(None, [said, ", ".join(clear)])) + "."))
            tables.append(signals)
    blocks.append(
        Note("The rest of this report covers each training run's best and last checkpoint only.")
    )
    return section("Training curves", blocks, "curves", is_summary=True), tables


def _curve(group: SideBySide[Run], curves: _Curves) -> Table:
    some, steps = group.runs[0], sorted({step for of in curves.values() for step in of})
    columns = [Column("Step", "count")]
    columns += [column_of(some.headline, name, drawn=True) for name in curves]
    rows = [
        Row([step, *(headline(of[step]) if step in of else None for of in curves.values())], "run")
        for step in steps
    ]
    name, title = f"curve_{group.name}", f"{group.title}: {headline_title(some)}"
    caption = "By training step, with 95 % intervals."
    return Table(name, title, columns, rows, caption, curve=True)


def _best_table(group: SideBySide[Run], found: Selection) -> Sequence[Block]:
    best = found.best
    by = Column("To the best", "score_points" if best.headline.unit == "score" else "points")
    rows = [Row([run.label, headline(run), found.ties.get(run)]) for run in (best, *found.ties)]
    title = f"Best of {group.title}, and those not significantly different"
    caption = (
        f"Paired by item, with intervals that hold in 95 % for all differences of the "
        f"{found.picked_from} checkpoints at once."
    )
    columns = [Column("Checkpoint"), headline_column(best), by]
    blocks: list[Block] = [Table(f"best_{group.name}", title, columns, rows, caption)]
    if found.ties:
        by_luck = found.overstated * points_of(best.headline)
        blocks.append(
            Note(
                f"{best.label} was picked by this figure out of {found.picked_from}. If these "
                f"{len(rows)} are truly equal, the picking alone makes it {by_luck:.1f} points too "
                "good on average. Its interval and its rank do not account for that: measure it on "
                "other items or tasks before you publish it.",
                "warning",
            )
        )
    return [*blocks, *(Note(f"Not compared: {why}") for why in found.left_out.values())]


def _signals(group: SideBySide[Run], curves: _Curves) -> Table:
    """Return the signal of the headline, and of each subject if there are several."""
    some, figure = group.runs[0], group.runs[0].headline
    is_choice = some.definition.kind == "multiple_choice"
    chance = 1 / len(some.definition.letters) if is_choice else 0.0
    parts: dict[str, Callable[[Run], Estimate | None]] = {"All questions": headline}
    for subject in some.subjects if len(some.subjects) > 1 else ():
        parts[subject.title] = partial(_of_subject, subject.name)
    rows = []
    for title, of in parts.items():
        known = [[each for run in own.values() if (each := of(run))] for own in curves.values()]
        if min(map(len, known)) >= _FEWEST:
            values = [[each.value for each in own] for own in known]
            own = signal_of(values, lower_is_better=figure.higher_is_better is False)
            holds = {"rises": own.rise >= _RISES, "above noise": own.ratio >= _TELLS}
            if is_choice:
                holds["above chance"] = max(own[-1].low or 0 for own in known) > chance
            verdict = (f"{'✓' if good else '✗'} {text}" for text, good in holds.items())
            rows.append(Row([title, *own, " · ".join(verdict)]))
    between = "the training runs" if len(curves) > 1 else "first and last checkpoints"
    last = "Mean of the last five checkpoints, or half of all."
    columns = [
        Column("Part"),
        Column("Last", column_of(figure).unit, last),
        Column("Rise", "number", "Spearman's correlation of improvement with the step."),
        Column("Signal", "percent", f"Difference between {between}, over their mean."),
        Column("Noise", "percent", "Standard deviation of the last checkpoints, over their mean."),
        Column("Signal to noise", "number"),
        Column("Verdict", help=_VERDICT),
    ]
    return Table(f"signal_{group.name}", f"Signal: {group.title}", columns, rows, _SOURCES)


def _of_subject(name: str, run: Run) -> Estimate | None:
    return estimate(run, run.headline.averages, run.items.of_subjects([name]))
