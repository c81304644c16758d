"""The prompts of HKCanto-IF: each can be followed, asks for what is checked, and is distinct.

hkcanto_if_answers.jsonl has an answer to each, written by hand.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from rapidfuzz import fuzz

from hkcanto_metrics.constraints import VERIFIERS, Constraint, follows, read_constraints
from hkcanto_metrics.language import identify_language

from ..scripts import REPOSITORY
from .constraint_answers import answers_to

FOLDER = REPOSITORY / "docs" / "examples" / "hkcanto_if"
LANGUAGES = {"yue": "cantonese", "zh": "written_chinese"}


def rows_of(path: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


PROMPTS = rows_of(FOLDER / "data" / "prompts.jsonl")
ANSWERS = rows_of(REPOSITORY / "tests" / "metrics" / "hkcanto_if_answers.jsonl")
WRITTEN = {row["id"]: row["answer"] for row in ANSWERS}


def test_there_are_as_many_prompts_as_the_issue_asks_for() -> None:
    assert [row["id"] for row in PROMPTS] == [f"if-{n:03}" for n in range(1, 151)]
    assert Counter(row["language"] for row in PROMPTS) == {"yue": 100, "zh": 50}
    by_topic = Counter(row["topic"] for row in PROMPTS)
    assert len(by_topic) == 20
    assert {*by_topic.values()} <= {7, 8}
    assert {len(row["constraints"]) for row in PROMPTS} == {1, 2, 3}


def test_every_verifier_is_asked_for_and_none_too_often() -> None:
    prompts = Counter(
        name for row in PROMPTS for name in {each["name"] for each in row["constraints"]}
    )
    assert prompts.keys() == VERIFIERS.keys()
    assert max(prompts.values()) <= 0.12 * len(PROMPTS)


def test_no_two_prompts_are_alike() -> None:
    texts = [row["prompt"] for row in PROMPTS]
    alike = [
        (one, other)
        for n, one in enumerate(texts)
        for other in texts[:n]
        if fuzz.ratio(one, other) > 60
    ]
    assert alike == []
    asked = Counter(json.dumps(row["constraints"], ensure_ascii=False) for row in PROMPTS)
    assert max(asked.values()) <= 2  # nor do many have the same constraints


def test_a_prompt_is_in_its_language_and_in_traditional_characters() -> None:
    for row in PROMPTS:
        assert row.keys() == {"id", "language", "topic", "prompt", "constraints"}
        assert identify_language(row["prompt"]).language == LANGUAGES[row["language"]], row["id"]
        assert follows(row["prompt"], Constraint("script", {"script": "traditional"})), row["id"]


def asked() -> Iterator[tuple[str, str, Constraint]]:
    """The constraints of all prompts, each with the prompt's id and text."""
    for row in PROMPTS:
        for constraint in read_constraints(row["constraints"]):
            yield row["id"], row["prompt"], constraint


def test_a_written_answer_follows_all_constraints_of_a_prompt_together() -> None:
    assert [(n, each) for n, _, each in asked() if not follows(WRITTEN[n], each)] == []


def test_each_constraint_of_a_prompt_can_be_followed_and_missed() -> None:
    for _, _, constraint in asked():
        for seed in range(3):
            right, wrong = answers_to(constraint, seed)
            assert follows(right, constraint), (constraint, right)
            assert not follows(wrong, constraint), (constraint, wrong)


IN_CHINESE = dict(enumerate("一兩三四五六七八九十", 1)) | {
    12: "十二",
    50: "五十",
    60: "六十",
    20: "二十",
    120: "一百二十",
}
TEXTS = {"word", "words", "text", "phrases", "keys", "mark", "marks"}
BOUNDS = {
    "exactly": "",
    "at_least": "最少|至少|[一四0]\\s?至\\s?[三六2]",
    "at_most": "最多|唔好多過|不可?多於|不超過|限|[一四0]\\s?至\\s?[三六2]",
}


def test_a_prompt_says_every_text_and_number_that_is_checked() -> None:
    for where, prompt, constraint in asked():
        said = prompt.replace("感嘆號", "！")
        for name, value in constraint.args.items():
            if name in TEXTS:
                texts = value if isinstance(value, list) else [value]
                assert [text for text in texts if text not in said] == [], (where, constraint)
            elif name in BOUNDS and value == 0:
                assert re.search("唔好|不", said), (where, constraint)
            elif name in BOUNDS:
                assert str(value) in said or IN_CHINESE[value] in said, (where, constraint)
                assert re.search(BOUNDS[name], said), (where, constraint)
