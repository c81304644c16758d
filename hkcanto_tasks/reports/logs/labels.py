"""What a report calls each model: short, the same for all tasks, and never two alike."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .runs import Model

_HARNESS = {"lm-eval": "lm-eval", "inspect": "Inspect"}


@dataclass(frozen=True, slots=True)
class Origin:
    """One model in one of the arguments: what a label stands for.

    Attributes:
        model: The model.
        argument: The argument's place among all.
        path: The argument's path.
        name: The name that the user gave the argument; empty without one.
    """

    model: Model
    argument: int
    path: Path
    name: str


def labels(conditions: Mapping[Origin, set[Hashable]]) -> dict[Origin, str]:
    """Return a label for each model of each argument.

    It is the user's name for the argument, or the end of the model's name. Where that would be the
    same for two under one condition, what tells them apart is added: the model's whole name, the
    harness, the folder, the settings; and if there is nothing, a number.

    Args:
        conditions: Under which conditions each was run.
    """
    names = {origin: origin.name or _short(origin.model.name) for origin in conditions}
    remarks: dict[Origin, list[str]] = {origin: [] for origin in conditions}

    def clashes() -> list[list[Origin]]:
        return _clashes(_joined(names, remarks), conditions)

    def tell_apart(remark_on: Callable[[Sequence[Origin]], Sequence[str]]) -> None:
        for alike in clashes():
            added = remark_on(alike)
            if len(set(added)) > 1:
                for origin, remark in zip(alike, added, strict=True):
                    remarks[origin].append(remark)

    tell_apart(_harnesses)
    for alike in clashes():
        if len({origin.model.name for origin in alike}) > 1:
            for origin in alike:
                whole = origin.model.name
                names[origin] = f"{origin.name} {_short(whole)}" if origin.name else whole
    tell_apart(_folders)
    tell_apart(_settings)
    tell_apart(lambda alike: [f"#{number}" for number, _ in enumerate(alike, 1)])
    return _joined(names, remarks)


def _clashes(
    made: Mapping[Origin, str], conditions: Mapping[Origin, set[Hashable]]
) -> list[list[Origin]]:
    """Return those with the same label that share a condition with another."""
    by_label: dict[str, list[Origin]] = defaultdict(list)
    for origin, label in made.items():
        by_label[label].append(origin)
    clashes = []
    for alike in by_label.values():
        clashing = [
            origin
            for origin in alike
            if any(
                other is not origin and conditions[other] & conditions[origin] for other in alike
            )
        ]
        if clashing:
            clashes.append(clashing)
    return clashes


def _joined(made: Mapping[Origin, str], remarks: Mapping[Origin, list[str]]) -> dict[Origin, str]:
    return {
        origin: f"{label} ({', '.join(remarks[origin])})" if remarks[origin] else label
        for origin, label in made.items()
    }


def _short(name: str) -> str:
    return name.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or name


def _harnesses(alike: Sequence[Origin]) -> list[str]:
    return [_HARNESS[origin.model.harness] for origin in alike]


def _folders(alike: Sequence[Origin]) -> list[str]:
    """The part of each argument's path that differs: `base` of `runs/base/logs`."""
    parts = [origin.path.absolute().parts for origin in alike]
    start = _shared(parts)
    end = _shared([path[start:][::-1] for path in parts])
    return [
        "/".join(path[start : len(path) - end]) or origin.path.absolute().name
        for path, origin in zip(parts, alike, strict=True)
    ]


def _shared(sequences: Sequence[Sequence[str]]) -> int:
    columns = enumerate(zip(*sequences, strict=False))
    shortest = min(len(sequence) for sequence in sequences)
    return next((place for place, column in columns if len(set(column)) > 1), shortest)


def _settings(alike: Sequence[Origin]) -> list[str]:
    shared = set.intersection(*(set(origin.model.settings) for origin in alike))
    return [
        ", ".join(
            f"{name}={value}"
            for name, value in origin.model.settings
            if (name, value) not in shared
        )
        or "plain"
        for origin in alike
    ]
