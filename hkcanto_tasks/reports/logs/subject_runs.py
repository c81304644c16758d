"""Runs of one subject each, and how they are joined to evaluations."""

import re
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from ...catalogue import find_task
from ..evaluations import Evaluation, Items, SkippedLog
from .item_columns import joined
from .signatures import Signature, joined_data, sort_of_data

Reported = Mapping[tuple[str, str], float]


# What changes how fast a model runs, but not what it answers; and what is nobody's business.
_SETTINGS_OF_NO_MATTER = re.compile(
    r".*(?:api_key|secret|password|headers?)|(?:hf_|auth_|access_)?token|(?:base_)?url|"
    r"device|(?:max_)?batch_size|num_concurrent|max_(?:retries|connections)|(?:attempt_)?timeout|"
    r"trust_remote_code|parallelize|gpu_memory_utilization|(?:tensor|data|pipeline)_parallel_size",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Model:
    """What was run.

    Attributes:
        harness: Which harness ran it.
        name: What the harness calls it.
        settings: What else can tell two runs of it apart, such as its precision or chat template.
    """

    harness: Literal["lm-eval", "inspect"]
    name: str
    settings: tuple[tuple[str, str], ...] = ()


def settings_of(given: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Return the settings that can change what a model answers, those that are set.

    Example:
        >>> settings_of({"dtype": "bfloat16", "device": "cuda:1", "api_key": "sk", "peft": None})
        (('dtype', 'bfloat16'),)
    """
    return tuple(
        (name, str(value))
        for name, value in sorted(given.items())
        if value not in (None, "") and not _SETTINGS_OF_NO_MATTER.fullmatch(name)
    )


@dataclass(frozen=True, eq=False)
class SubjectRun:
    """One model on one subject, out of one log.

    Attributes:
        model: The model.
        signature: How it was run, of the whole task.
        subject: The subject's name; empty for a task without subjects.
        created: When it was run.
        source: The log.
        items: What the model did.
        reported: The harness's figures of the subject.
        notes: What a reader should know.
        siblings: How many subjects of the same task the log has.
        reported_of_all: The harness's figures of all of these.
    """

    model: Model
    signature: Signature
    subject: str
    created: datetime
    source: Path
    items: Items
    reported: Reported
    notes: tuple[str, ...]
    siblings: int
    reported_of_all: Reported

    @property
    def evaluation(self) -> Hashable:
        """What it has in common with the other subjects of its evaluation."""
        of_all = replace(self.signature, data=sort_of_data(self.signature.data))
        return self.model, of_all


def newest(runs: Sequence[SubjectRun]) -> tuple[list[SubjectRun], list[SkippedLog]]:
    """Return the newest run of each model, condition and subject, and the logs with older ones."""
    latest: dict[Hashable, SubjectRun] = {}
    for run in sorted(runs, key=lambda run: (run.created, run.source.name)):
        latest[run.evaluation, run.subject] = run
    kept: list[SubjectRun] = []
    older: dict[tuple[Path, Path, str], int] = defaultdict(int)
    for run in runs:
        newer = latest[run.evaluation, run.subject]
        if newer is run:
            kept.append(run)
        else:
            older[run.source, newer.source, run.signature.task] += 1
    skipped = [
        SkippedLog(
            old,
            f"{task}{f' ({count} subjects)' if count > 1 else ''}: older run of the same, "
            f"{new.name} is newer; to have both, name them NAME=PATH",
        )
        for (old, new, task), count in older.items()
    ]
    return kept, skipped


def condition(runs: Sequence[SubjectRun]) -> Hashable:
    """Return what the runs of one evaluation share with those of other models beside it."""
    first = runs[0].signature
    data = joined_data(run.signature.data for run in runs)
    return first.task, first.shots, first.options, data


def evaluation(runs: Sequence[SubjectRun], label: str, length_unit: str) -> Evaluation:
    """Join runs of one model under one condition.

    Args:
        runs: At least one; of each subject at most one.
        label: What a report calls the model.
        length_unit: What the lengths count.
    """
    first = runs[0]
    order = [subject.name for subject in find_task(first.signature.task).subjects]
    runs = sorted(runs, key=lambda run: order.index(run.subject))
    signature = replace(first.signature, data=joined_data(run.signature.data for run in runs))
    sources = dict.fromkeys(run.source for run in runs)
    reported: dict[tuple[str, str], float] = {}
    if len(sources) == 1 and len(runs) == first.siblings:
        reported |= first.reported_of_all
    for run in runs:
        reported |= run.reported
    return Evaluation(
        label=label,
        model=first.model.name,
        harness=first.model.harness,
        task=signature.task,
        shots=signature.shots,
        options=dict(signature.options),
        data=signature.data,
        signature=signature.text,
        created=max(run.created for run in runs),
        sources=tuple(sources),
        items=joined([run.items for run in runs]),
        reported=reported,
        notes=tuple(dict.fromkeys(note for run in runs for note in run.notes)),
        length_unit=length_unit,
    )
