"""Join the logs of one run: subjects, shards, parts and second tries."""

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from math import isnan
from typing import Any

from ...catalogue import find_task, named_tasks
from ...signatures import Signature, joined
from ..runs import Items, Reported, Run, SkippedLog, Usage, clusters_of
from .checking import uneven_votes

_KEEP_BOTH = "to keep both, name them NAME=PATH"


def joined_runs(runs: Sequence[Run], skipped: list[SkippedLog]) -> list[Run]:
    """Return the runs of each model and setup, joined, in the catalogue's order.

    Runs on different items are parts of one run. If a larger run has all items of another, the
    smaller one is added to `skipped`; of two with the same items, so is the unfinished or older
    one. Runs that share some items are joined if they have the same values there. Otherwise all
    of that model and setup are left out, because nothing says which one counts.
    """

    def rank(run: Run) -> tuple[Any, ...]:
        # Inspect runs several models at once, and names their logs at random.
        name = run.model, str(run.sources[0])
        return len(run.items), not run.unfinished, run.created, name

    groups: dict[Hashable, list[Run]] = {}
    for run in sorted(runs, key=rank, reverse=True):
        groups.setdefault(_joined_as(run), []).append(run)
    joined_groups: list[Run] = []
    # A report lists models in this order.
    for group in reversed(groups.values()):
        merge = _Merge()
        for run in group:
            merge.add(run)
        if merge.conflict:
            skipped += [SkippedLog(run.sources[0], merge.conflict) for run in group]
        else:
            skipped += merge.superseded
            joined_groups.append(merge.run())
    order = [*named_tasks(with_sets=True)]
    return sorted(joined_groups, key=lambda run: order.index(run.task))


def _joined_as(run: Run) -> Hashable:
    """Return a key of model and setup, equal for runs on different items."""
    signature = replace(
        run.signature.with_option("subjects", ""),
        data=run.signature.sort_of_data,
        package="",
    )
    return run.harness, run.model, run.settings, run.sent, signature


class _Merge:
    """The runs of one model and setup, added from the largest to the smallest.

    Attributes:
        parts: The runs that count.
        superseded: The logs whose items other runs have, too.
        conflict: Why the runs cannot be joined; empty if they can.
    """

    def __init__(self) -> None:
        self.parts: list[Run] = []
        self.superseded: list[SkippedLog] = []
        self.conflict = ""
        self._new_items: list[Items] = []
        self._part_of: dict[str, int] = {}  # item → the part whose value counts

    def add(self, run: Run) -> None:
        """Add a run that is not larger than those before."""
        positions = run.items.positions
        shared = [item for item in positions if item in self._part_of]
        if shared and len(shared) == len(positions):
            self._supersede(run, self.parts[self._part_of[shared[0]]])
            return
        if differing := [item for item in shared if not self._agrees(run, item)]:
            other = self.parts[self._part_of[differing[0]]]
            self.conflict = (
                f"{run.task}: {run.sources[0].name} and {other.sources[0].name} share "
                f"{len(shared)} items and differ on {len(differing)} of them; give only one "
                f"of them, or {_KEEP_BOTH}"
            )
        new = [item for item in positions if item not in self._part_of]
        items = run.items
        if shared:
            items = items.taken([positions[item] for item in new])
        self._part_of |= dict.fromkeys(new, len(self.parts))
        self.parts.append(run)
        self._new_items.append(items)

    def _supersede(
        self,
        run: Run,
        other: Run,
    ) -> None:
        reason = "has its items, too, and is larger"
        if len(run.items) == len(other.items):
            reason = "has the same items and is finished or newer"
        log = other.sources[0].name
        cause = f"{run.task}: {log} counts, which {reason}; {_KEEP_BOTH}"
        self.superseded.append(SkippedLog(run.sources[0], cause, is_superseded=True))

    def _agrees(
        self,
        run: Run,
        item: str,
    ) -> bool:
        """Return whether a run has the values of an item that count."""
        other = self.parts[self._part_of[item]]
        values = _values_of(run.items, item)
        return values == _values_of(other.items, item)

    def run(self) -> Run:
        """Return the joined run; it has no label."""
        signature = joined(run.signature for run in self.parts)
        order = [subject.name for subject in find_task(signature.task).subjects]

        def by_subject(part: tuple[Run, Items]) -> int:
            return order.index(part[1].subjects[0])

        ordered = sorted(zip(self.parts, self._new_items, strict=True), key=by_subject)
        runs = [run for run, _ in ordered]
        shares_subjects = _share_subjects(runs)
        items = Items.joined([items for _, items in ordered])
        if shares_subjects:
            items = _in_order(items, order)
        whole = replace(
            runs[0],
            signature=signature,
            items=items,
            reported={} if shares_subjects else _joined_reported(runs),
            parts=runs if shares_subjects else (),
            notes=(*_joined_notes(runs, signature), *self._notes()),
            contradictions=_joined_contradictions(runs, items),
            **_joined_record(runs),
        )
        return _completed(whole) if shares_subjects else whole

    def _notes(self) -> Iterable[str]:
        """Yield the logs that are left out, for readers of the joined run."""
        if self.superseded:
            names = ", ".join(log.path.name for log in self.superseded)
            yield f"left out, because larger or newer logs have their items: {names}"


def _joined_record(runs: Sequence[Run]) -> dict[str, Any]:
    """Return the fields about how several runs were made."""
    sources = chain.from_iterable(run.sources for run in runs)
    versions = sorted({run.version_of_harness for run in runs})
    return {
        "created": max(run.created for run in runs),
        "sources": tuple(dict.fromkeys(sources)),
        "limited": any(run.limited for run in runs),
        "picked": any(run.picked for run in runs),
        "available": _available(runs),
        "status": _joined_status(runs),
        "version_of_harness": "+".join(versions),
        "usage": Usage.total([run.usage for run in runs]),
        "other_model": next(filter(None, (run.other_model for run in runs)), ""),
    }


def _joined_contradictions(runs: Sequence[Run], items: Items) -> tuple[str, ...]:
    found = [*chain.from_iterable(run.contradictions for run in runs)]
    if len(runs) > 1 and _joined_status(runs) == "success":
        found.append(uneven_votes(items.ids))
    return tuple(dict.fromkeys(filter(None, found)))


def _values_of(items: Items, item: str) -> dict[str, float]:
    """Return the known values of an item."""
    position = items.positions[item]
    values: dict[str, float] = {}
    for name, column in items.values.items():
        if not isnan(column[position]):
            values[name] = float(column[position])
    return values


def _share_subjects(runs: Sequence[Run]) -> bool:
    subjects = [*chain.from_iterable({*run.items.subjects} for run in runs)]
    return len(subjects) > len({*subjects})


def _in_order(items: Items, subjects: Sequence[str]) -> Items:
    """Return items in the order in which one log has them."""

    def place(position: int) -> tuple[int, int, str]:
        item = items.ids[position]
        return subjects.index(items.subjects[position]), len(item), item

    ordered = items.taken(sorted(range(len(items)), key=place))
    clusters = clusters_of(ordered.ids, ordered.subjects, ordered.passages)
    return replace(ordered, clusters=clusters)


def _available(runs: Sequence[Run]) -> int:
    """Return the number of items in the data of all runs; parts of the same data count once."""
    sizes: dict[str, int] = {}
    for run in runs:
        subjects = dict(run.signature.options).get("subjects", "")
        sizes[subjects] = max(run.available, sizes.get(subjects, 0))
    return sizes.get("") or sum(sizes.values())


def _completed(run: Run) -> Run:
    """Return a run as finished if its parts have all items together, whatever each one lacks."""
    count = (run.available or run.expected) * run.sent.repeats
    if len(run.items) < count or run.status == "invalidated":
        return run
    return replace(
        run,
        status="success",
        limited=False,
        picked=False,
    )


def _joined_status(runs: Sequence[Run]) -> str:
    for run in runs:
        if run.unfinished:
            return run.status
    return "success"


def _joined_reported(runs: Sequence[Run]) -> Reported:
    """Return the harness's figures; those of several runs with their subjects."""
    if len(runs) == 1:
        return runs[0].reported
    reported: Reported = {}
    for run in runs:
        subjects = tuple(dict.fromkeys(run.items.subjects))
        for (_, figure), value in run.reported.items():
            reported[subjects, figure] = value
    return reported


def _joined_notes(
    runs: Sequence[Run],
    signature: Signature,
) -> tuple[str, ...]:
    notes = [*chain.from_iterable(run.notes for run in runs)]
    unread = sum(map(int, re.findall(r"-(\d+)rows", signature.data)))
    if unread:
        notes.append(f"{unread} unreadable rows of its data set aside")
    return tuple(dict.fromkeys(notes))
