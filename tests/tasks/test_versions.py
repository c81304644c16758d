"""A task's version is raised with every change of its prompts, of what is read, or of its averages.

`pinned_versions.json` holds a hash of these for each version. After raising a `version` in a
`benchmark.toml`, write it anew: `python -m tests.tasks.test_versions`.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from hkcanto_metrics.choice import ChoiceReading
from hkcanto_tasks.catalogue import BENCHMARKS, TaskEntry, named_tasks, read_benchmark
from hkcanto_tasks.kinds import multiple_choice
from hkcanto_tasks.task import LoadedTask, condition, load_task

PINNED = Path(__file__).with_name("pinned_versions.json")
ENTRIES = {
    entry.name: entry
    for path in sorted(BENCHMARKS.glob("*/benchmark.toml"))
    for entry in read_benchmark(path).tasks
}
# What models write, in our own words: that one of these is read in another way is a new version.
RESPONSES = [
    *(
        "",
        " ",
        "B",
        " C",
        "D.",
        "(A)",
        "Ｂ",
        "**C**",
        "b) 因為佢大啲",
        "答案：D",
        "答案係B。",
        "選C",
    ),
    *("The answer is A.", "答案不是A，是B。", "我諗係A……等等，唔啱，應該係C。", "A定係B？好難講。"),
    *(
        "A. 一\nB. 二\nC. 三\nD. 四",
        "\\boxed{B}",
        "<think>可能係A</think>C",
        "<think>可能係A",
        "唔知",
    ),
    *(
        "我唔可以答呢條問題。",
        "Positive",
        "唔係正面，係負面。",
        "Positive, Negative or Neutral",
        "中性",
    ),
    *("nei5 hou2", "Nei5 Hou2!", "nei5hou2", "gam1 jat6 tin1 hei3 hou2 hou2", "zip3 lik6", "你好"),
    *(
        "譯文：佢今日唔得閒。",
        "「佢今日唔得閒。」",
        "他今天沒有空。",
        "He is busy today.",
        "```\n得\n```",
    ),
    *(
        "哈哈" * 40,
        "我哋一齊去街市買餸，佢話啲菜好新鮮。",
        "我们一起去市场买菜。",
        "所以總共係 18 個。",
        "#### 7",
    ),
]


@pytest.mark.parametrize("name", ENTRIES)
def test_what_a_version_stands_for_does_not_change(name: str) -> None:
    pinned, entry = json.loads(PINNED.read_text("utf-8")), ENTRIES[name]
    known = pinned.get(name, {"version": 0, "hash": ""})
    changed = fingerprint(entry) != known["hash"]
    assert not (changed and entry.version == known["version"]), (
        f"{name} is not what its version {entry.version} was: prompts, stop texts, what is read of"
        " a response, or averages. Take the change back, or raise `version` in its benchmark.toml."
    )
    assert (entry.version, changed) == (known["version"], False), (
        f"the new version of {name} is not pinned yet: `python -m tests.tasks.test_versions`."
    )


def test_a_change_of_prompt_stop_text_or_length_is_seen() -> None:
    ways = [{}, {"prompt": "zh"}, {"script": "sc"}, {"reasoning": True}, {"cot": True}]
    seen = [json.dumps(described(load_task("hkmmlu", **options))) for options in ways]
    assert len(set(seen)) == len(ways)


def test_a_change_of_what_is_read_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    before = described(load_task("hkmmlu"))
    monkeypatch.setattr(multiple_choice, "read_choice", lambda *_: ChoiceReading("A", "bare"))
    after = described(load_task("hkmmlu"))
    assert {key for key in before if before[key] != after[key]} == {"read"}


def fingerprint(entry: TaskEntry) -> str:
    """Hash what a task asks and reads, in every variant and with every prompt, on the sample."""
    found = [
        described(load_task(task.name, **({"prompt": prompt} if prompt != "paper" else {})))
        for task in named_tasks().values()
        if task.entry == entry and task.scope == "task"
        for prompt in prompts(entry)
    ]
    return hashlib.sha256(json.dumps(found, ensure_ascii=False).encode()).hexdigest()[:16]


def prompts(entry: TaskEntry) -> Iterator[str]:
    for prompt in entry.prompts:
        yield prompt
        if entry.kind == "multiple_choice":
            yield f"{prompt}+scaffold"


def described(loaded: LoadedTask) -> dict[str, Any]:
    how, shots = loaded.condition, min(loaded.task.shots, *map(len, loaded.examples.values()))
    samples = sorted(loaded.samples, key=lambda sample: sample.id)
    return {
        "prompts": [
            [each.id, loaded.prompt(each, count).text(), each.target]
            for each in samples
            for count in dict.fromkeys([0, shots])
        ],
        "stop": how.stop,
        "max_tokens": how.max_tokens,
        "read": [
            {
                name: round(value, 6)
                for name, value in how.judge(
                    response, each.target, each.choices, each.source
                ).values.items()
            }
            for each in samples[:2]
            for response in RESPONSES
        ],
        "figures": [
            [figure.name, figure.averages, figure.over, figure.part, figure.pooled]
            for figure in condition(loaded.task.name).figures  # whatever the sample has of them
        ],
    }


def pin() -> None:
    """Write the hashes of all versions; one whose hash changed without it is refused."""
    known = json.loads(PINNED.read_text("utf-8")) if PINNED.is_file() else {}
    made = {}
    with patch.dict(os.environ, HKCANTO_DATA="sample"):
        for name, entry in ENTRIES.items():
            made[name] = {"version": entry.version, "hash": fingerprint(entry)}
            old = known.get(name, {})
            if made[name] != old and entry.version == old.get("version"):
                raise SystemExit(f"{name} has changed: raise its `version` first.")
    PINNED.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    pin()
