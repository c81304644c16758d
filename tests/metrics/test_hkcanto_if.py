"""The prompts of HKCanto-IF: each can be followed, asks for what is checked, and is distinct.

hkcanto_if_answers.jsonl has an answer to each, written by hand.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rapidfuzz import fuzz

from hkcanto_metrics.constraints import VERIFIERS, Constraint, follows, read_constraints
from hkcanto_metrics.language import identify_language
from hkcanto_tasks import load_task

from ..reports.building import a_run, notes, tables
from ..scripts import REPOSITORY
from .constraint_answers import answers_to

FOLDER = REPOSITORY / "hkcanto_tasks" / "sets" / "hkcanto_if"
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
    assert {len(row["constraints"]) for row in PROMPTS} == {1, 2, 3, 4}


def test_every_verifier_is_asked_for_and_none_too_often() -> None:
    prompts = Counter(
        name
        for row in PROMPTS
        for name in {each["name"] for each in row["constraints"]}
    )
    later = "each_sentence_starts_with ends_as_it_begins word_at sub_items json_depth data_format"
    later += " letters capital_words letter_case latin_percent"
    assert {*prompts} == VERIFIERS.keys() - {*later.split()}
    assert max(prompts.values()) <= 0.2 * len(PROMPTS)


def test_no_two_prompts_are_alike() -> None:
    texts = [row["prompt"] for row in PROMPTS]
    alike = [
        (one, other)
        for n, one in enumerate(texts)
        for other in texts[:n]
        if fuzz.ratio(one, other) > 60
    ]
    assert alike == []
    asked = Counter(
        json.dumps(row["constraints"], ensure_ascii=False) for row in PROMPTS
    )
    assert max(asked.values()) <= 2  # nor do many have the same constraints


def test_a_prompt_is_in_its_language_and_in_traditional_characters() -> None:
    for row in PROMPTS:
        assert row.keys() == {"id", "language", "topic", "prompt", "constraints"}
        assert (
            identify_language(row["prompt"]).language == LANGUAGES[row["language"]]
        ), row["id"]
        assert follows(
            row["prompt"], Constraint("script", {"script": "traditional"})
        ), row["id"]


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
    "at_least": r"最少|至少|\w\s?至\s?\w",
    "at_most": r"最多|唔好多過|不可?多於|不超過|限|\w\s?至\s?\w",
}


def test_a_prompt_says_every_text_and_number_that_is_checked() -> None:
    for where, prompt, constraint in asked():
        said = prompt.replace("感嘆號", "！").replace("[ ]", "[]")
        for name, value in constraint.args.items():
            if name in TEXTS:
                texts = value if isinstance(value, list) else [value]
                assert [text for text in texts if text not in said] == [], (
                    where,
                    constraint,
                )
            elif name in BOUNDS and value == 0:
                assert re.search("唔好|不", said), (where, constraint)
            elif name in BOUNDS:
                assert str(value) in said or IN_CHINESE[value] in said, (
                    where,
                    constraint,
                )
                assert re.search(BOUNDS[name], said), (where, constraint)


REFUSALS = {
    "yue": ["對唔住，我幫唔到你。", "唔好意思，我冇辦法處理呢個要求。"],
    "zh": ["對不起，我無法協助你。", "抱歉，我不能處理這個要求。"],
}
ENGLISH_REFUSAL = "I'm sorry, but I can't help with that."
SENTENCE = (
    "大家好，多謝你問我，不過呢件事我要諗清楚先答到你，遲啲再同你講啦，你覺得好唔好呀？"
)
WANTED = {"text", "word", "words", "phrases", "keys", "mark"}


def floor(answer: Callable[[dict[str, Any]], str]) -> float:
    """The share of prompts whose constraints an answer follows that does not read the request."""
    followed = (
        all(follows(answer(row), each) for each in read_constraints(row["constraints"]))
        for row in PROMPTS
    )
    return sum(followed) / len(PROMPTS)


def wanted(row: dict[str, Any]) -> str:
    """The words that a prompt asks for, and nothing else."""
    texts: list[str] = []
    for each in row["constraints"]:
        for name, value in each.get("args", {}).items():
            if name in WANTED and each["name"] != "avoids":
                texts += value if isinstance(value, list) else [value]
    return "，".join(texts)


def test_an_answer_that_does_not_read_the_request_earns_what_the_readme_says() -> None:
    floors = {
        "a refusal": max(
            floor(lambda row, n=n: REFUSALS[row["language"]][n]) for n in (0, 1)
        ),  # type: ignore[misc]
        "a refusal in English": floor(lambda _: ENGLISH_REFUSAL),
        "the same sentence in Cantonese": floor(lambda _: SENTENCE),
        "the prompt itself": floor(lambda row: row["prompt"]),
        "only the words that the prompt asks for": floor(wanted),
    }
    assert max(floors.values()) <= 0.04
    readme = (REPOSITORY / "docs/examples/hkcanto_if/README.md").read_text("utf-8")
    for answer, share in floors.items():
        assert f"| {answer} | {100 * share:.1f} % |" in readme, (answer, share)
    published = (FOLDER / "published" / "1.csv").read_text("utf-8").splitlines()[1:]
    shown = [float(line.rpartition(",")[2]) for line in published]
    assert shown == [round(100 * share, 1) for share in floors.values()]


def test_a_report_shows_the_floors_beside_a_model_and_gives_no_rank(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(FOLDER))
    ids = [f"hkcanto_if/{row['language']}/{row['id']}" for row in PROMPTS]
    subjects = [row["language"] for row in PROMPTS]
    values = {"prompt_level_strict_acc": [1.0] * 75 + [0.0] * 75}
    (data,) = re.findall(r"\|data:([^|]+)", load_task("hkcanto_if").signature)
    run = a_run("hkcanto_if", values, subjects=subjects, ids=ids, data=data)
    (rows,) = [
        rows for name, rows in tables([run]).items() if name.startswith("published")
    ]
    assert [(row["Model"], row["Prompts followed"]) for row in rows] == [
        ("model", 0.5),
        ("The same sentence in Cantonese", 0.04),
        ("A refusal in English", 0.02),
        ("The prompt's own words", 0.02),
        ("A refusal", 0.0),
        ("The prompt itself", 0.0),
    ]
    assert [row["Rank"] for row in rows] == [
        "its table has no models",
        *[None] * 5,
    ]
    (verdict,) = [note for note in notes([run]) if "HKCanto-IF" in note][:1]
    assert verdict.endswith("no rank: its table has no models.")
