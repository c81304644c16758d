"""Runs, each out of one log, and how those of one condition are joined to an evaluation."""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from ...catalogue import find_task
from ..evaluations import Evaluation, Items, SkippedLog
from . import signatures
from .item_columns import joined
from .signatures import Signature, sort_of_data

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
class Run:
    """One model under one condition, out of one log: on all subjects, or on some of them.

    Attributes:
        model: The model.
        signature: How it was run, of the whole task.
        created: When it was run.
        source: The log.
        items: Subject → what the model did.
        reported: Figure → what the harness reports of all of these.
        notes: What a reader should know.
    """

    model: Model
    signature: Signature
    created: datetime
    source: Path
    items: Mapping[str, Items]
    reported: Mapping[str, float]
    notes: tuple[str, ...]

    @property
    def evaluation(self) -> Hashable:
        """What it has in common with the other runs of its evaluation."""
        data = sort_of_data(self.signature.data)
        return self.model, replace(self.signature, data=data, package="")


Parts = Mapping[str, Run]
"""The runs that make an evaluation: subject → where its items are, in the catalogue's order."""


def newest(runs: Sequence[Run]) -> tuple[list[Parts], list[SkippedLog]]:
    """Return the newest runs of each model, condition and subject, and the logs with older ones."""
    latest: dict[Hashable, dict[str, Run]] = defaultdict(dict)
    for run in sorted(runs, key=lambda run: (run.created, run.source.name)):
        latest[run.evaluation] |= dict.fromkeys(run.items, run)
    older = Counter(
        (run.source, newer.source, run.signature.task)
        for run in runs
        for subject in run.items
        if (newer := latest[run.evaluation][subject]).source != run.source
    )
    skipped = [
        SkippedLog(
            old,
            f"{task}{f' ({count} subjects)' if count > 1 else ''}: older run of the same, "
            f"{new.name} is newer; to have both, name them NAME=PATH",
        )
        for (old, new, task), count in older.items()
    ]
    return [_in_order(parts) for parts in latest.values()], skipped


def _in_order(parts: Parts) -> Parts:
    task = next(iter(parts.values())).signature.task
    order = (subject.name for subject in find_task(task).subjects)
    return {subject: parts[subject] for subject in order if subject in parts}


def condition(parts: Parts) -> Hashable:
    """Return what an evaluation shares with those of other models beside it."""
    return replace(signatures.joined(run.signature for run in parts.values()), package="")


def evaluation(parts: Parts, label: str, length_unit: str) -> Evaluation:
    """Join runs of one model under one condition.

    Args:
        parts: At least one.
        label: What a report calls the model.
        length_unit: What the lengths count.
    """
    runs = list(dict.fromkeys(parts.values()))
    whole = [run for run in runs if all(parts[subject] is run for subject in run.items)]
    signature = signatures.joined(run.signature for run in runs)
    return Evaluation(
        label=label,
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
        items=joined([run.items[subject] for subject, run in parts.items()]),
        reported={
            (() if len(run.items) == len(parts) else tuple(run.items), name): value
            for run in whole
            for name, value in run.reported.items()
        },
        notes=(
            *dict.fromkeys(note for run in runs for note in run.notes),
            *signatures.remarks(signature.data),
        ),
        length_unit=length_unit,
    )
