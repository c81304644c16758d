"""Each rule reads its own examples, and they show what it is for: without it, one reads otherwise.

A rule's docstring has its examples, about four islands. The grids cross ways to reason with ways
to conclude: the answer of each crossing is known.
"""

import inspect
import json
import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from hkcanto_metrics import choice_rules, choice_set_rules, choice_statements
from hkcanto_metrics.choice import read_choice, read_choice_set
from hkcanto_metrics.labels import read_label

ISLANDS = {"A": "大嶼山", "B": "南丫島", "C": "長洲", "D": "坪洲"}
LISTS = [
    (choice_statements, "STANCE_RULES"),
    (choice_rules, "LETTER_RULES"),
    (choice_set_rules, "SET_RULES"),
]
RULES = [
    pytest.param(module, name, rule, id=rule.__name__)
    for module, name in LISTS
    for rule in getattr(module, name)
]
GRIDS = json.loads(
    Path(__file__).with_name("choice_grids.json").read_text(encoding="utf-8")
)
PROSE = Path(__file__).with_name("choice_prose.jsonl")


def examples(rule: Callable[..., Any]) -> Iterator[tuple[str, str, str | None]]:
    """The question, the response and the answer of each example of a rule."""
    _, _, lines = (inspect.getdoc(rule) or "").partition("Examples:\n")
    for line in lines.splitlines():
        question, text, answer = re.fullmatch(
            r" +(?:\(([^)]*[？?])\) )?(.*) → (\w+)", line
        ).groups()  # type: ignore[union-attr]
        text = text.replace("⏎", "\n")
        yield question or "", text, None if answer == "none" else answer


def read(name: str, rule: Callable[..., Any]) -> list[Any]:
    """What is read from a rule's examples, and why."""
    if name == "SET_RULES":
        return [read_choice_set(t, ISLANDS, q) for q, t, _ in examples(rule)]
    return [read_choice(t, ISLANDS, q) for q, t, _ in examples(rule)]


@pytest.mark.parametrize(("module", "name", "rule"), RULES)
def test_a_rule_reads_its_examples_and_no_other_rule_does(
    module: Any, name: str, rule: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [answer for _, _, answer in examples(rule)]
    assert expected
    readings = read(name, rule)
    letters = "letters" if name == "SET_RULES" else "letter"
    assert [getattr(reading, letters) for reading in readings] == expected
    others = tuple(other for other in getattr(module, name) if other is not rule)
    monkeypatch.setattr(module, name, others)
    assert read(name, rule) != readings


HALF_WIDTH = str.maketrans("，、。：；！？（）「」", ',,.:;!?()""')


@pytest.mark.parametrize(("name", "rule"), [rule.values[1:] for rule in RULES])
def test_half_width_marks_are_read_as_full_width_ones_or_not_at_all(
    name: str, rule: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    letters = "letters" if name == "SET_RULES" else "letter"
    full = [getattr(reading, letters) for reading in read(name, rule)]
    rows = [
        (question.translate(HALF_WIDTH), text.translate(HALF_WIDTH), answer)
        for question, text, answer in examples(rule)
    ]
    monkeypatch.setitem(globals(), "examples", lambda _: rows)
    for reading, letter in zip(read(name, rule), full, strict=True):
        assert getattr(reading, letters) in (letter, None)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("我揀 C.B係大島.", "C"),
        ("答案係 C.長洲.", "C"),  # a letter with its text
        ("A,B,D都唔啱.", "C"),
        ("A,B都有可能.", None),
        ("錯誤嘅係 A,B,D.", "C"),
    ],
)
def test_a_half_width_mark_beside_a_letter(text: str, answer: str | None) -> None:
    assert read_choice(text, ISLANDS).letter == answer


def crossings(grid: dict[str, Any], share: int) -> Iterator[str]:
    """The responses of a grid; of a share of 4, every fourth."""
    pairs = product(enumerate(grid["bodies"]), enumerate(grid["closings"]))
    for (row, body), (column, closing) in pairs:
        if (row + column) % share == 0:
            yield body + grid.get("joint", "\n\n" if body else "") + closing


def read_crossing(grid: dict[str, Any], text: str) -> str | None:
    """What is read from a response of a grid."""
    if grid["kind"] == "label":
        return read_label(text, grid["labels"]).label
    if grid["kind"] == "set":
        return read_choice_set(text, grid["options"], grid["question"]).letters
    return read_choice(text, grid["options"], grid["question"]).letter


@pytest.mark.parametrize(
    "share", [pytest.param(1, marks=pytest.mark.slow, id="all"), 4]
)
@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: grid["name"])
def test_the_closing_decides_whatever_the_body_weighs(
    grid: dict[str, Any], share: int
) -> None:
    unread = total = 0
    for text in crossings(grid, share):
        answer = read_crossing(grid, text)
        assert answer in (grid["target"], None), text
        unread += answer is None and grid["target"] is not None
        total += 1
    assert unread <= 0.18 * total


def test_hard_prose_is_read_as_a_careful_reader_reads_it_or_not_at_all() -> None:
    unread = total = 0
    for line in PROSE.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        options = dict(zip("ABCD", case["options"], strict=False))
        if case["several"]:
            read = read_choice_set(case["text"], options, case["question"]).letters
        else:
            read = read_choice(case["text"], options, case["question"]).letter
        assert read in (case["answer"], None), case["text"]
        unread += read is None and case["answer"] is not None
        total += 1
    assert unread <= 0.25 * total
