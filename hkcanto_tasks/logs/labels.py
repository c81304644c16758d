"""What a report calls each model: short, the same for all tasks, and never two alike."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import chain
from os.path import commonprefix
from pathlib import Path
from typing import NamedTuple

_HARNESS = {"lm-eval": "lm-eval", "inspect": "Inspect"}


class Origin(NamedTuple):
    """One model in one of the arguments: what a label stands for."""

    harness: str
    model: str
    settings: tuple[tuple[str, str], ...]
    argument: int  # its place among all
    path: Path
    name: str  # that the user gave the argument; empty without one


def labels(conditions: Mapping[Origin, set[Hashable]]) -> dict[Origin, str]:
    """Return a label for each model of each argument, which was run under some conditions.

    It is the user's name for the argument, or the end of the model's name; in parentheses is what
    tells those apart that would be called the same under one condition.
    """
    remarks: dict[Origin, list[str]] = {origin: [] for origin in conditions}

    def label(origin: Origin) -> str:
        name = origin.name or re.split(r"[/\\]", origin.model.rstrip("/\\"))[-1]
        return f"{name} ({', '.join(remarks[origin])})" if remarks[origin] else name

    for tell in _TELL:
        by_label: dict[str, list[Origin]] = defaultdict(list)
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


def _folders(alike: Sequence[Origin]) -> list[str]:
    """The part of each argument's path that differs: `base` of `runs/base/logs`."""
    parts = [origin.path.absolute().parts for origin in alike]
    start = len(commonprefix(parts))  # noqa: RUF071  (of tuples)
    end = len(commonprefix([path[start:][::-1] for path in parts]))  # noqa: RUF071
    return ["/".join(path[start : len(path) - end]) or path[-1] for path in parts]


def _settings(alike: Sequence[Origin]) -> list[str]:
    shared = set.intersection(*(set(origin.settings) for origin in alike))
    own = ([each for each in origin.settings if each not in shared] for origin in alike)
    return [", ".join(f"{name}={value}" for name, value in each) or "plain" for each in own]


_TELL: tuple[Callable[[Sequence[Origin]], list[str]], ...] = (
    lambda alike: [_HARNESS[origin.harness] for origin in alike],
    lambda alike: [origin.model for origin in alike],
    _folders,
    _settings,
    lambda alike: [f"#{number}" for number in range(1, len(alike) + 1)],
)
