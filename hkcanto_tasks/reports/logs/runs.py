"""Runs, each out of one log, and how those of one condition are joined to an evaluation."""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Literal

from ...catalogue import find_task
from ...signatures import Signature, joined
from ..evaluations import Evaluation, SkippedLog
from .task_items import TaskItems

# What changes how fast a model runs, but not what it answers; and what is nobody's business.
_OF_NO_MATTER = re.compile(
    r"api_key|secret|password|headers?$|_token$|^token$|url$|device|batch|concurrent|"
    r"max_(retries|connections)|timeout|parallel|gpu_memory|trust_remote_code",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Model:
    """What was run: its settings can tell two runs of it apart, such as precision or template."""

    harness: Literal["lm-eval", "inspect"]
    name: str  # as the harness has it
    settings: tuple[tuple[str, str], ...] = ()


def settings_of(given: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Return the settings that can change what a model answers, those that are set.

    Examples:
        >>> settings_of({"dtype": "bfloat16", "device": "cuda:1", "api_key": "sk", "peft": None})
        (('dtype', 'bfloat16'),)
    """
    return tuple(
        (name, str(value))
        for name, value in sorted(given.items())
        if value not in (None, "") and not _OF_NO_MATTER.search(name)
    )


@dataclass(frozen=True, eq=False)
class Run:
    """One model under one condition, out of one log: on all subjects, or on some of them."""

    model: Model
    signature: Signature  # of the whole task
    created: datetime
    source: Path
    items: TaskItems
    reported: Mapping[str, float]  # what the harness says of all of these, by figure
    notes: tuple[str, ...]
    limited: bool  # whether the harness was asked for some of the items

    @cached_property
    def subjects(self) -> Sequence[str]:
        """The subjects of which it has items."""
        return list(dict.fromkeys(subject for _, subject, *_ in self.items.rows))

    @property
    def evaluation(self) -> Hashable:
        """What it has in common with the other runs of its evaluation."""
        return self.model, replace(self.signature, data=self.signature.sort_of_data, package="")


Parts = Mapping[str, Run]
"""The runs that make an evaluation: subject → where its items are."""


def newest(runs: Sequence[Run]) -> tuple[list[Parts], list[SkippedLog]]:
    """Return the newest runs of each model, condition and subject, and the logs with older ones."""
    latest: dict[Hashable, dict[str, Run]] = defaultdict(dict)
    for run in sorted(runs, key=lambda run: (run.created, run.source.name)):
        latest[run.evaluation] |= dict.fromkeys(run.subjects, run)
    skipped = []
    for run in runs:
        parts = latest[run.evaluation]
        newer = Counter(parts[subject].source for subject in run.subjects)
        for source, count in newer.items():
            if source != run.source:
                what = f"{run.signature.task}{f' ({count} subjects)' if count > 1 else ''}"
                why = f"{source.name} is newer; to have both, name them NAME=PATH"
                skipped.append(SkippedLog(run.source, f"{what}: older run of the same, {why}"))
    return list(latest.values()), skipped


def evaluation(parts: Parts, length_unit: str) -> Evaluation:
    """Join runs of one model under one condition; they have no label yet."""
    signature = joined(run.signature for run in parts.values())
    order = [each.name for each in find_task(signature.task).subjects if each.name in parts]
    runs = list(dict.fromkeys(parts[subject] for subject in order))
    counted = {run: [each for each in order if parts[each] is run] for run in runs}
    rows = (row for run in runs for row in run.items.rows if parts[row[1]] is run)
    notes = dict.fromkeys(note for run in runs for note in run.notes)
    if unread := sum(map(int, re.findall(r"-(\d+)rows", signature.data))):
        notes[f"{unread} unreadable rows of its data set aside"] = None
    return Evaluation(
        label="",
        model=runs[0].model.name,
        harness=runs[0].model.harness,
        task=signature.task,
        shots=signature.shots,
        options=dict(signature.options),
        data=signature.data,
        version=signature.version,
        signature=signature.text,
        created=max(run.created for run in runs),
        sources=tuple(dict.fromkeys(run.source for run in runs)),
        items=runs[0].items.sorted(rows, order),
        reported={
            (() if len(own) == len(parts) else tuple(own), name): value
            for run, own in counted.items()
            if len(own) == len(run.subjects)
            for name, value in run.reported.items()
        },
        notes=tuple(notes),
        length_unit=length_unit,
        limited=any(run.limited for run in runs),
    )
