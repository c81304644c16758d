"""The first lines of a report: which model leads and how surely, then warnings."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..runs import Run, SkippedLog
from ..statistics.intervals import CONFIDENCE
from ..statistics.paired import adjusted, headline_effect, points_of
from ..statistics.selection import Selection, selection
from .blocks import Note, column_of
from .presentation import figure_title, headline, side_by_side, task_title
from .renderers.formatting import interval_text, value_text
from .standings import Beside, Standing, why_incomparable
from .trust import doubts

_SAMPLE = (
    "The sample data is for trying things out: its figures cannot be compared with any others, "
    "least of all with published results."
)
_NAMED = 4
_MEANT = {
    "limit": "run with --limit, on a part of the items",
    "unchecked": "not checked against the harness",
    "unlike the harness": "figures that differ from the harness's",
}


class _Contest(NamedTuple):
    """A task that several models ran under one condition, and the best model."""

    title: str
    found: Selection
    stands_apart: bool  # whether the best is significantly better than each other model

    @property
    def is_shared(self) -> bool:
        """Whether another model has the same figure as the best."""
        return any(abs(each) < 1e-12 for each in self.found.differences.values())


def answer(
    runs: Sequence[Run], beside: Sequence[Beside], skipped: Sequence[SkippedLog] = ()
) -> list[Note]:
    """Return the sentence to read first, and warnings about what it leaves out.

    Two models are compared on each task as in `hkcanto compare`, with p-values adjusted for the
    number of tasks (Holm). With more than two, the best is compared with all others, with intervals
    that hold in 95 % for all tasks at once (Bonferroni; `selection` over the models of a task). A
    single model is ranked among the papers' models.

    Args:
        runs: Runs of any models and tasks.
        beside: The runs' ranks in the papers' tables.
        skipped: Logs that were not read.
    """
    labels = list(dict.fromkeys(run.label for run in runs))
    groups = [group for group in side_by_side(runs) if len(group.runs) > 1]
    confidence = 1 - (1 - CONFIDENCE) / max(1, len(groups))
    chosen = [selection(tuple(group.runs), confidence) for group in groups]
    brief = len({group.runs[0].definition.title for group in groups}) == len(groups)
    known = [
        (group.runs[0].definition.title if brief else group.title, each)
        for group, each in zip(groups, chosen, strict=True)
        if each and each.differences
    ]
    apart = [not each.ties for _, each in known]
    if len(labels) == 2:
        pairs = [(each.best, *each.differences) for _, each in known]
        effects = adjusted([headline_effect(one, other) for one, other in pairs])
        apart = [(e.p_value if e.p_by_holm is None else e.p_by_holm) < 0.05 for e in effects]
    found = [_Contest(*each, sure) for each, sure in zip(known, apart, strict=True)]
    if not runs:
        said = "There is no run to report on."
    elif len(labels) == 1:
        said = _of_one(runs, beside)
    elif not found:
        why = "no two of them have complete runs on the same items" if groups else (
            "no two models ran the same task under the same condition"
        )  # fmt: skip
        said = f"Nothing is comparable between these {len(labels)} models: {why}."
    elif len(found) == 1:
        said = _of_a_task(found[0])
    else:
        said = _of_two(labels, found) if len(labels) == 2 else _of_many(found)
    if found and (rest := len(side_by_side(runs)) - len(found)):
        said += f" {_tasks(rest)} more {'has' if rest == 1 else 'have'} no two comparable runs."
    warnings = [*_warnings(runs, skipped), *_not_compared(chosen)]
    return [Note(said, "verdict"), *(Note(text, "warning") for text in warnings)]


def _of_a_task(contest: _Contest) -> str:
    """Say who leads on the only task, and how many others it beats significantly."""
    best, differences = contest.found.best, contest.found.differences
    figure = headline(best)
    second = min(differences, key=lambda run: abs(differences[run]))
    other, unit = headline(second), column_of(best.headline).unit
    shown = [f"{value_text(each, unit)}{' %' * (unit == 'percent')}" for each in (figure, other)]
    lower = "" if best.headline.higher_is_better else ", where lower is better"
    title = f"{figure_title(best, best.headline)}{lower}"
    if contest.is_shared:
        both = f"{best.label} and {second.label}"
        return f"{both} are equal on {contest.title}: {title}, {shown[0]}."
    said = (
        f"{best.label} leads on {contest.title} with {shown[0]} against {second.label}'s "
        f"{shown[1]} ({title})"
    )
    if len(differences) == 1:
        how = "is more than chance" if contest.stands_apart else "may be chance"
        return f"{said}: the difference of {_points(best, differences[second])} {how}."
    apart = len(differences) - len(contest.found.ties)
    said += f"; it is ahead of {apart or 'none'} of the {len(differences)} others"
    return f"{said} by more than chance."


def _of_two(labels: Sequence[str], found: Sequence[_Contest]) -> str:
    leads = Counter(dict.fromkeys(labels, 0))
    leads.update(each.found.best.label for each in found if not each.is_shared)
    (first, most), (second, fewer) = leads.most_common()
    equal = len(found) - most - fewer
    said = f"{first} leads on {most} of {_tasks(len(found))}"
    if most == fewer:
        said = f"{first} and {second} lead on {most} each of {_tasks(len(found))}"
    elif fewer:
        said += f", {second} on {fewer}"
    said += f", and they are equal on {equal}" if equal and equal < len(found) else ""
    if equal == len(found):
        return f"{first} and {second} are equal on each of {_tasks(equal)}."
    apart = [each for each in found if each.stands_apart]
    apart.sort(key=lambda each: (each.found.best.label != first, -_size(each)))
    if not apart:
        return f"{said}; no difference is more than chance{_sure(found)}."
    names = [_difference(each, first if most > fewer else "") for each in apart]
    are = "difference is" if len(apart) == 1 else "differences are"
    return f"{said}; {len(apart)} {are} more than chance{_sure(found)}: {_listed(names)}."


def _of_many(found: Sequence[_Contest]) -> str:
    leads = Counter(each.found.best.label for each in found if not each.is_shared)
    (first, most), *others = leads.most_common() or [("None", len(found))]
    said = f"{first} has the best figure on {most} of {_tasks(len(found))}"
    if others:
        said += f", {_listed([f'{label} on {count}' for label, count in others])}"
    if shared := sum(each.is_shared for each in found):
        said += f"; on {shared} it is shared"
    apart = [each for each in found if each.stands_apart]
    if not apart:
        return (
            f"{said}. On no task is the best ahead of all others by more than chance{_sure(found)}."
        )
    names = [
        each.title + f" ({each.found.best.label})" * (each.found.best.label != first)
        for each in apart
    ]
    on = f"on {len(apart)}{_sure(found)}"
    return f"{said}. The best is ahead of all others by more than chance {on}: {_listed(names)}."


def _of_one(runs: Sequence[Run], beside: Sequence[Beside]) -> str:
    """Say how the only model ranks among the papers' models."""
    label, of = runs[0].label, dict[Run, Standing]()
    for each in (each for table in beside for own in table.runs.values() for each in own.values()):
        own = next((run for run in runs if each.is_headline_of(run)), None)
        if own and each.ranks:
            of.setdefault(own, each)
    if len(runs) == 1:
        run, found = runs[0], headline(runs[0])
        unit = column_of(run.headline).unit
        shown = " ".join(filter(None, (value_text(found, unit), interval_text(found, unit))))
        title = figure_title(run, run.headline)
        lower = "" if run.headline.higher_is_better else ", lower is better"
        shown += " %" * (unit == "percent")
        said = f"{label} has {shown} on {task_title(run)} ({title}{lower})"
        if run not in of:
            return f"{said}. {_unranked(runs, beside)}"
        return f"{said}: rank {of[run].rank} of {of[run].of} in {of[run].table.source}."
    if not of:
        return f"{label} ran {_tasks(len(runs))}. {_unranked(runs, beside)}"
    places = sorted(of.items(), key=lambda pair: (pair[1].ranks or (0,))[0] / pair[1].of)
    names = [f"{run.definition.title} {each.rank} of {each.of}" for run, each in places]
    on = f"on {len(of)} of {_tasks(len(runs))}"
    return f"{label} has a rank among published models {on}: {_listed(names)}."


def _unranked(runs: Sequence[Run], beside: Sequence[Beside]) -> str:
    """Say why a model has no rank: doubts about its figures, or else why no table has them."""
    own = [each for table in beside for columns in table.runs.values() for each in columns.values()]
    notes = list(dict.fromkeys(each.figure.note for each in own if each.figure.note))
    why = notes[0] if notes else "the papers have no figure of the whole task"
    if not own:
        reasons = {why_incomparable(run) for run in runs} - {""}
        said = reasons.pop() if len(reasons) == 1 else "“How this was made” says why."
        return f"No published figure is comparable. {said}"
    return f"It has no rank among published models: {why}."


def _warnings(runs: Sequence[Run], skipped: Sequence[SkippedLog]) -> Iterator[str]:
    if any(run.is_sample for run in runs):
        yield _SAMPLE
    of = defaultdict[str, list[Run]](list)
    for run in runs:
        for doubt in doubts(run):
            if not run.is_sample or doubt != "sample data":
                of[doubt].append(run)
    if of:
        told = (
            _MEANT.get(doubt, doubt) + f" ({_who(own, runs)})" * (len(runs) > 1)
            for doubt, own in of.items()
        )
        yield f"Not to be taken at face value: {'; '.join(told)}."
    if skipped:
        many = "1 log was" if len(skipped) == 1 else f"{len(skipped)} logs were"
        yield f"{many} not read, or not in full: see “How this was made”."


def _not_compared(chosen: Sequence[Selection | None]) -> Iterator[str]:
    left_out = [run for each in chosen if each for run in each.left_out]
    if left_out:
        yield f"Left out of the comparison (unfinished, or on other items): {_who(left_out)}."


def _who(own: Sequence[Run], among: Sequence[Run] = ()) -> str:
    """Name runs: a few by model and task, many by their number."""
    if len(own) == len(among):
        return "all runs"
    if len(own) <= _NAMED:
        return ", ".join(f"{run.label} on {run.definition.title}" for run in own)
    labels = {run.label for run in own}
    return f"{len(own)} runs" + (f" of {labels.pop()}" if len(labels) == 1 else "")


def _size(contest: _Contest) -> float:
    return max(abs(each) for each in contest.found.differences.values())


def _difference(contest: _Contest, leader: str) -> str:
    """Return a task with its difference, and with the better model unless that leads overall."""
    best, (change,) = contest.found.best, contest.found.differences.values()
    named = [] if best.label == leader else [best.label]
    lower = [] if best.headline.higher_is_better else ["lower is better"]
    return f"{contest.title} ({', '.join([*named, _points(best, change), *lower])})"


def _points(run: Run, change: float) -> str:
    return f"{change * points_of(run.headline):+.1f} points".replace("-", "−")


def _sure(found: Sequence[_Contest]) -> str:
    return f" (95 % for all {_tasks(len(found))} at once)"


def _tasks(count: int) -> str:
    return f"{count} task{'s' * (count != 1)}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    named = [*names[:_NAMED], f"{more} more"] if more > 1 else [*names]
    return " and ".join(filter(None, [", ".join(named[:-1]), *named[-1:]]))
