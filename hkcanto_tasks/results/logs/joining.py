"""Joining the logs of one model under one setup into one run, and labels for runs."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from itertools import chain
from os.path import commonprefix
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ...catalogue import find_task
from ...signatures import joined
from ..runs import Items, Run, Sent, SkippedLog, Usage

# Settings that change a model's speed but not its answers, and secrets. An access token
# (`hf_token`) is a secret, but a token of the model's vocabulary is a setting.
_OF_NO_MATTER = re.compile(
    r"api_key|secret|password|headers?$|(?<!bos|eos|pad)(?<!think_end)_token$|^token$|"
    r"url$|device|batch|concurrent|"
    r"max_(retries|connections)|timeout|parallel|gpu_memory|trust_remote_code",
    re.IGNORECASE,
)
_TYPES = {field.name: field.type for field in msgspec.structs.fields(Sent)}
_FIELDS = {"max_gen_toks": "max_tokens", "until": "stop", "stop_seqs": "stop"}

CHAT = "chat"
"""The template of a chat that the server formats. Its hash is unknown."""

WITH_SYSTEM = "with a system instruction of the user's in front"
"""The note of a run with a system instruction."""


def settings_of(given: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Return the settings that are set and can change a model's answers.

    Examples:
        >>> settings_of({"dtype": "bfloat16", "device": "cuda:1", "api_key": "sk", "peft": None})
        (('dtype', 'bfloat16'),)
    """
    return tuple(
        (name, str(value))
        for name, value in sorted(given.items())
        if value not in (None, "") and not _OF_NO_MATTER.search(name)
    )


def sent_of(given: Mapping[str, Any], **more: Any) -> Sent:
    """Return the record of what was sent, from the settings of generation in a log.

    Args:
        given: The settings, by their names in either harness.
        more: Further fields of the record.

    Examples:
        >>> sent_of({"do_sample": False, "max_gen_toks": 12, "until": "完", "n": 1}).stop
        ('完',)
    """
    known = {*_TYPES, *_FIELDS, "do_sample", "system_message"}
    further = {name: value for name, value in given.items() if name not in known}
    more = {"more": settings_of(further)} | more
    greedy = {"temperature": 0.0} if given.get("do_sample") is False else {}
    named = {_FIELDS.get(name, name): value for name, value in given.items() if value is not None}
    fields: dict[str, Any] = {}
    for name, value in (greedy | named | more).items():
        if name in _TYPES:
            listed = [value] if name == "stop" and isinstance(value, str) else value
            with suppress(msgspec.ValidationError):  # a setting of another form is unknown
                fields[name] = msgspec.convert(listed, _TYPES[name], strict=False)
    return Sent(**fields)


def hashed(text: object) -> str:
    """Return a short hash of a text that was sent with all prompts; empty if there was none."""
    return sha256(str(text).encode("utf-8", "replace")).hexdigest()[:7] if text else ""


def newest(runs: Sequence[Run]) -> tuple[list[list[Run]], list[SkippedLog]]:
    """Return the runs to join of each model and setup, and the logs left out.

    Of two runs that share a subject, one counts: the one that finished, then the one with more
    subjects, then the newer one.
    """

    def rank(run: Run) -> tuple[Any, ...]:
        size = len({*run.items.subjects})
        return not run.unfinished, size, run.created, str(run.sources[0])

    order, skipped = sorted(runs, key=rank), list[SkippedLog]()
    kept: dict[Hashable, list[Run]] = {_joined_by(run): [] for run in order}
    for run in reversed(order):
        parts = kept[_joined_by(run)]
        subjects = {*run.items.subjects}
        sharing = [part for part in parts if not subjects.isdisjoint(part.items.subjects)]
        if not sharing:
            parts.append(run)
            continue
        other = sharing[0].sources[0].name
        why = f"older run of the same task, {other} is newer"
        if run.unfinished and not sharing[0].unfinished:
            why = f"{run.unfinished}, {other} is complete"
        elif rank(run)[1] < rank(sharing[0])[1]:
            why = f"{other} has its subjects and more"
        advice = "to keep both, name them NAME=PATH"
        skipped.append(SkippedLog(run.sources[0], f"{run.task}: {why}; {advice}"))
    return list(kept.values()), skipped


def _joined_by(run: Run) -> Hashable:
    signature = run.signature
    whole = replace(signature.of_whole, data=signature.sort_of_data, package="")
    return run.harness, run.model, run.settings, whole


def join(parts: Sequence[Run]) -> Run:
    """Join runs of one model under one setup on different subjects; the result has no label."""
    signature = joined(run.signature for run in parts)
    rank = {each.name: place for place, each in enumerate(find_task(signature.task).subjects)}
    runs = sorted(parts, key=lambda run: rank[run.items.subjects[0]])
    items = Items.joined([run.items for run in runs])
    reported = dict(runs[0].reported)
    if len(runs) > 1:
        items = items.take(sorted(range(len(items)), key=lambda at: rank[items.subjects[at]]))
        reported = {
            (tuple(dict.fromkeys(run.items.subjects)), name): value
            for run in runs
            for (_, name), value in run.reported.items()
        }
    notes = dict.fromkeys(note for run in runs for note in run.notes)
    if unread := sum(map(int, re.findall(r"-(\d+)rows", signature.data))):
        notes[f"{unread} unreadable rows of its data set aside"] = None
    return replace(
        runs[0],
        signature=signature,
        created=max(run.created for run in runs),
        sources=tuple(dict.fromkeys(source for run in runs for source in run.sources)),
        items=items,
        reported=reported,
        notes=tuple(notes),
        limited=any(run.limited for run in runs),
        picked=any(run.picked for run in runs),
        available=sum(run.available for run in runs),
        status=next((run.status for run in runs if run.unfinished), "success"),
        version_of_harness="+".join(sorted({run.version_of_harness for run in runs})),
        usage=Usage.total([run.usage for run in runs]),
    )


# ---------------------------------------------------------------------- labels

_HARNESS = {"lm-eval": "lm-eval", "inspect": "Inspect", "other": "another tool"}


class LabelledModel(NamedTuple):
    """A model in an argument; each gets a label."""

    harness: str
    model: str
    settings: tuple[tuple[str, str], ...]
    argument: int  # its position among the arguments
    path: Path
    name: str  # the user's name for the argument; empty without one


def labels(conditions: Mapping[LabelledModel, set[Hashable]]) -> dict[LabelledModel, str]:
    """Return a label for each model of each argument, from the conditions of its runs.

    The label is the user's name for the argument, or the end of the model's name. If two models
    would have the same label under one condition, their difference follows in parentheses.
    """
    remarks: dict[LabelledModel, list[str]] = {origin: [] for origin in conditions}

    def label(origin: LabelledModel) -> str:
        name = origin.name or re.split(r"[/\\]", origin.model.rstrip("/\\"))[-1]
        return f"{name} ({', '.join(remarks[origin])})" if remarks[origin] else name

    for tell in _TELL:
        by_label: dict[str, list[LabelledModel]] = defaultdict(list)
        for origin in conditions:
            by_label[label(origin)].append(origin)
        for called in by_label.values():
            runs = Counter(chain.from_iterable(conditions[origin] for origin in called))
            alike = [o for o in called if any(runs[condition] > 1 for condition in conditions[o])]
            told = tell(alike) if alike else []
            if len(set(told)) > 1:
                for origin, text in zip(alike, told, strict=True):
                    remarks[origin].append(text)
    return {origin: label(origin) for origin in conditions}


def _folders(alike: Sequence[LabelledModel]) -> list[str]:
    """Return the part of each argument's path that differs, such as `base` in `runs/base/logs`."""
    parts = [origin.path.absolute().parts for origin in alike]
    start = len(commonprefix(parts))  # noqa: RUF071  (of tuples)
    end = len(commonprefix([path[start:][::-1] for path in parts]))  # noqa: RUF071
    return ["/".join(path[start : len(path) - end]) or path[-1] for path in parts]


_TELL: tuple[Callable[[Sequence[LabelledModel]], list[str]], ...] = (
    lambda alike: [_HARNESS[origin.harness] for origin in alike],
    lambda alike: [origin.model for origin in alike],
    _folders,
    lambda alike: [f"#{number}" for number in range(1, len(alike) + 1)],
)
