"""What a report calls each model: short, the same for all tasks, and never two alike."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .runs import Model

_HARNESS = {"lm-eval": "lm-eval", "inspect": "Inspect"}


@dataclass(frozen=True, slots=True)
class Origin:
    """One model in one of the arguments: what a label stands for."""

    model: Model
    argument: int  # its place among all
    path: Path
    name: str  # that the user gave the argument; empty without one


def labels(conditions: Mapping[Origin, set[Hashable]]) -> dict[Origin, str]:
    """Return a label for each model of each argument.

    It is the user's name for the argument, or the end of the model's name. Where that would be the
    same for two under one condition, what tells them apart is added: the harness, the model's whole
    name, the folder, the settings; and if there is nothing, a number.
    """
    names = {origin: origin.name or _short(origin.model.name) for origin in conditions}
    remarks: dict[Origin, list[str]] = {origin: [] for origin in conditions}

    def made() -> dict[Origin, str]:
        return {o: f"{n} ({', '.join(remarks[o])})" if remarks[o] else n for o, n in names.items()}

    for told in (_harnesses, _names, _folders, _settings, _numbers):
        for alike in [*_clashes(made(), conditions)]:
            differing = told(alike)
            if len(set(differing)) > 1:
                for origin, text in zip(alike, differing, strict=True):
                    if told is _names:
                        names[origin] = text
                    else:
                        remarks[origin].append(text)
    return made()


def _clashes(
    made: Mapping[Origin, str], conditions: Mapping[Origin, set[Hashable]]
) -> Iterator[Sequence[Origin]]:
    """Find those with the same label that share a condition with another."""
    clashing: dict[str, list[Origin]] = defaultdict(list)
    for one, label in made.items():
        others = (other for other in made if made[other] == label and other is not one)
        if any(conditions[one] & conditions[other] for other in others):
            clashing[label].append(one)
    yield from clashing.values()


def _short(name: str) -> str:
    return name.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or name


def _harnesses(alike: Sequence[Origin]) -> list[str]:
    return [_HARNESS[origin.model.harness] for origin in alike]


def _names(alike: Sequence[Origin]) -> list[str]:
    whole = [origin.model.name for origin in alike]
    return [f"{o.name} {_short(w)}" if o.name else w for o, w in zip(alike, whole, strict=True)]


def _folders(alike: Sequence[Origin]) -> list[str]:
    """The part of each argument's path that differs: `base` of `runs/base/logs`."""
    parts = [origin.path.absolute().parts for origin in alike]
    start = _shared(parts)
    end = _shared([path[start:][::-1] for path in parts])
    return ["/".join(path[start : len(path) - end]) or path[-1] for path in parts]


def _shared(sequences: Sequence[Sequence[str]]) -> int:
    """Return how many of their first parts are equal."""
    columns = enumerate(zip(*sequences, strict=False))
    return next((i for i, each in columns if len(set(each)) > 1), min(map(len, sequences)))


def _settings(alike: Sequence[Origin]) -> list[str]:
    shared = set.intersection(*(set(origin.model.settings) for origin in alike))
    own = ([each for each in origin.model.settings if each not in shared] for origin in alike)
    return [", ".join(f"{name}={value}" for name, value in each) or "plain" for each in own]


def _numbers(alike: Sequence[Origin]) -> list[str]:
    return [f"#{number}" for number, _ in enumerate(alike, 1)]
