"""A task's version rises with every change to its prompts, its readings or its averages.

`pinned_versions.json` has a hash of these for each version. After raising a `version` in a
`benchmark.toml`, or adding a figure or a prompt, update it: `python -m tests.tasks.test_versions`.
A new figure or prompt does not raise the version, because the existing scores stay the same.
"""

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import hkcanto_metrics
from hkcanto_metrics.choice import ChoiceReading
from hkcanto_tasks.benchmark_files import read_benchmark
from hkcanto_tasks.catalogue import BENCHMARKS, named_tasks
from hkcanto_tasks.declarations import TaskDefinition
from hkcanto_tasks.kinds import base
from hkcanto_tasks.signing import fingerprints, probes
from hkcanto_tasks.tasks import LoadedTask, load_task, task_as_run

NEW: dict[str, Any] = {"version": 0, "pins": {}}
PINNED = Path(__file__).with_name("pinned_versions.json")
PINS: dict[str, Any] = json.loads(PINNED.read_text("utf-8"))
ENTRIES = {
    entry.name: entry
    for path in sorted(BENCHMARKS.glob("*/benchmark.toml"))
    for entry in read_benchmark(path).tasks
}


@pytest.mark.parametrize("name", ENTRIES)
def test_the_behaviour_behind_a_version_does_not_change(name: str) -> None:
    entry, known = ENTRIES[name], PINS.get(name, NEW)
    now = pins(entry)
    lost = changed(known["pins"], now)
    assert entry.version != known["version"] or not lost, (
        f"{name} is not what its version {entry.version} was: {', '.join(lost)}. Take the"
        " change back, or raise `version` in its benchmark.toml."
    )
    assert (entry.version, now) == (known["version"], known["pins"]), (
        f"{name} changed; run `python -m tests.tasks.test_versions` to pin it."
    )


def test_every_pinned_task_is_in_the_catalogue() -> None:
    assert PINS.keys() == ENTRIES.keys()


def test_a_change_of_prompt_stop_text_or_length_is_seen() -> None:
    ways = [{}, {"prompt": "zh"}, {"script": "sc"}, {"reasoning": True}, {"cot": True}]
    seen = [json.dumps(described(load_task("hkmmlu", **options))) for options in ways]
    assert len(set(seen)) == len(ways)


def test_a_change_of_what_is_read_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    before = described(load_task("hkmmlu"))
    monkeypatch.setattr(
        hkcanto_metrics, "read_choice", lambda *_: ChoiceReading("A", "bare")
    )
    after = described(load_task("hkmmlu"))
    assert "acc" in (lost := {name for name in before if before[name] != after[name]})
    assert "prompts" not in lost


def test_a_new_figure_raises_no_version_and_a_lost_one_does() -> None:
    assert changed({"acc": "1"}, {"acc": "1", "new": "2"}) == []
    assert changed({"acc": "1", "cer": "3"}, {"acc": "2"}) == ["acc", "cer"]


def changed(before: dict[str, str], after: dict[str, str]) -> list[str]:
    return [what for what, pin in before.items() if after.get(what) != pin]


def pins(entry: TaskDefinition) -> dict[str, str]:
    """Hash a task's prompts and each of its figures on the sample data, for every variant."""
    asked: list[tuple[str, dict[str, Any]]] = [
        (task.name, {"prompt": prompt} if prompt != "paper" else {})
        for task in named_tasks().values()
        if task.definition == entry and task.scope == "task"
        for prompt in prompts(entry)
    ]
    made: dict[str, list[object]] = defaultdict(list)
    with equal_responses_read_once():
        for name, options in asked:
            of = "".join(f"{prompt}: " for prompt in options.values())
            of += "bpc: " if name.endswith("_bpc") else ""  # newer than the other pins
            found = described(load_task(name, **options))
            kinds = [
                task_as_run(name, **options, reasoning=reasoning)
                for reasoning in (False, True)
            ]
            found["signature"] = list(map(fingerprints, kinds))
            for what, value in found.items():
                made[of + what].append([name, value])
    return {what: _hash(values) for what, values in made.items()}


# Where the kinds read a response; what is read depends on nothing but the arguments.
_READERS = ((base, "split_reasoning"), (hkcanto_metrics, "read_choice"))


@contextmanager
def equal_responses_read_once() -> Iterator[None]:
    """Remember what is read: HKMMLU has 50 variants, but few sets of options."""
    with ExitStack() as stack:
        for module, name in _READERS:
            remembered = Remembered(getattr(module, name))
            stack.enter_context(patch.object(module, name, remembered))
        yield


class Remembered:
    """A function that is called once for equal arguments."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.results: dict[Hashable, Any] = {}

    def __call__(self, *arguments: Any) -> Any:
        key = tuple(
            tuple(each.items()) if isinstance(each, Mapping) else each
            for each in arguments
        )
        if key not in self.results:
            self.results[key] = self.function(*arguments)
        return self.results[key]


def _hash(what: object) -> str:
    return hashlib.sha256(json.dumps(what, ensure_ascii=False).encode()).hexdigest()[
        :16
    ]


def prompts(entry: TaskDefinition) -> Iterator[str]:
    for prompt in entry.prompts:
        yield prompt
        templates = named_tasks()[entry.name].benchmark.prompts
        if (
            entry.kind == "multiple_choice"
            and templates[entry.prompts[prompt]].scaffold
        ):
            yield f"{prompt}+scaffold"


def described(loaded: LoadedTask) -> dict[str, Any]:
    """The prompts, and for each figure its definition and its values for the responses."""
    there = [len(loaded.examples(subject.name)) for subject in loaded.task.subjects]
    how, shots = loaded.kind, min(loaded.task.shots, *there)
    samples = sorted(loaded.samples, key=lambda sample: sample.id)
    asked = [
        [each.id, loaded.at(shots=count).prompt(each).text(), each.target]
        for each in samples
        for count in dict.fromkeys([0, shots])
    ]
    read = [
        how.judge(response, each).values
        for each in samples[:2]
        for response in probes()
    ]
    values = {
        name: [round(values[name], 6) if name in values else None for values in read]
        for name in dict.fromkeys(name for values in read for name in values)
    }
    figures = {
        figure.name: [figure.averages, figure.over, figure.part, figure.form == "rate"]
        for figure in task_as_run(
            loaded.task.name
        ).figures  # even if the sample data lacks some
    }
    return {"prompts": [asked, how.stop, how.max_tokens]} | {
        name: [figures.get(name), values.get(name)] for name in figures | values
    }


def pin() -> None:
    """Write the pins of all versions; refuse a change without a new version."""
    known = json.loads(PINNED.read_text("utf-8")) if PINNED.is_file() else {}
    made = {}
    with patch.dict(os.environ, HKCANTO_DATA="sample"):
        for name, entry in ENTRIES.items():
            made[name] = {"version": entry.version, "pins": pins(entry)}
            old = known.get(name, NEW)
            if entry.version == old["version"] and (
                lost := changed(old["pins"], pins(entry))
            ):
                raise SystemExit(
                    f"{name} has changed: {', '.join(lost)}. Raise its `version`."
                )
    PINNED.write_text(
        json.dumps(made, indent=1, sort_keys=True) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    pin()
