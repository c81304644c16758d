"""Equal tasks have equal signatures, however they were requested."""

import logging
import re
from typing import Any

import pytest

from hkcanto_tasks import catalogue, tasks
from hkcanto_tasks.declarations import Benchmark
from hkcanto_tasks.describing import describe
from hkcanto_tasks.errors import DataNotFound, OptionError
from hkcanto_tasks.printable import warn_once
from hkcanto_tasks.signing import signature_of
from hkcanto_tasks.tasks import load_task, task_as_run

from .quiz import Quiz


def signed(name: str, **asked: object) -> str:
    return signature_of(task_as_run(name, **asked), "data").text


EQUAL: tuple[tuple[tuple[str, dict[str, Any]], tuple[str, dict[str, Any]]], ...] = (
    (("hkmmlu", {"cot": True}), ("hkmmlu_cot", {})),
    (("hkmmlu", {"cot": "true", "shots": "1"}), ("hkmmlu_cot_1shot", {})),
    (("hkmmlu", {"cot": True, "script": "sc"}), ("hkmmlu_cot", {"script": "sc"})),
    (("hkmmlu_sc", {"cot": True}), ("hkmmlu_cot", {"script": "sc"})),
    (("hkmmlu_cot", {"cot": False}), ("hkmmlu", {})),
    (("tmmluplus_gen", {"cot": True}), ("tmmluplus_gen_cot", {})),
    (("hkcanto_cultural", {"shots": 0}), ("hkcanto_cultural_0shot", {})),
    (("hkcanto_cultural_0shot", {"shots": 2}), ("hkcanto_cultural", {"shots": 2})),
    (("hkcanto_cultural_food", {}), ("hkcanto_cultural", {"subjects": "food"})),
    (("hkmmlu_stem", {}), ("hkmmlu", {"subjects": ["stem"]})),
    (("hkmmlu", {"multiturn": True}), ("hkmmlu", {})),  # without examples, no turns
    (("hkmmlu_hk_law", {"cot": True}), ("hkmmlu_cot", {"subjects": "hk_law"})),
)


def test_equal_requests_are_signed_equally() -> None:
    for (one, options), (other, others) in EQUAL:
        assert signed(one, **options) == signed(other, **others), (one, options)


def test_a_run_on_some_subjects_is_not_signed_as_the_whole() -> None:
    every, food = (
        signed("hkcanto_cultural"),
        signed("hkcanto_cultural", subjects="food"),
    )
    assert "subjects:" not in every
    assert food.replace("|subjects:food", "") == every
    two = signed("hkmmlu", subjects="dentistry,hk_law")
    assert "|subjects:hk_law+dentistry|" in two or "|subjects:dentistry+hk_law|" in two
    assert two == signed("hkmmlu", subjects=["hk_law", "dentistry"])


def test_up_to_six_subjects_are_signed_by_name() -> None:
    names = ["hk_law", "hk_music", "hk_society", "hk_history", "hk_education"]
    names.append("hk_literature")
    (part,) = re.findall(r"\|subjects:([^|]+)", signed("hkmmlu", subjects=names))
    assert {*part.split("+")} == {*names}
    seven = signed("hkmmlu", subjects=[*names, "dentistry"])
    assert re.search(r"\|subjects:7-[0-9a-f]{7}\|", seven)


def test_subjects_that_the_data_lacks_are_signed_if_they_were_asked_for(
    quiz: Quiz,
) -> None:
    # The log's number of items and the title say what is missing; the signature, what was asked.
    row = '[{"question": "邊個？", "A": "甲", "B": "乙", "answer": "A"}]'
    quiz(
        'letters = "AB"\nfiles = { test = "{stem}.json" }\n'
        'subjects = [{ name = "food" }, { name = "law" }, { name = "sport" }]',
        files={"data/food.json": row, "data/law.json": row},
    )
    assert "subjects:" not in load_task("quiz").signature
    two = load_task("quiz", "food,sport")
    assert [subject.name for subject in two.task.subjects] == ["food"]
    assert "|subjects:food+sport|" in two.signature


def test_a_chain_of_thought_has_the_number_of_examples_that_its_variant_has() -> None:
    assert task_as_run("tmmluplus_gen").shots == 0
    assert (
        task_as_run("tmmluplus_gen", cot=True).shots
        == task_as_run("tmmluplus_gen_cot").shots
        == 5
    )


def test_a_misspelt_variable_is_named_and_no_known_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    warn_once.cache_clear()
    monkeypatch.setenv("HKCANTO_REVISION_TMMLUPLUS", "v1.0")
    monkeypatch.setenv("HKCANTO_REVISION_TMMLUPLUS_COT", "main")
    monkeypatch.setenv("HKCANTO_REVISION_GSM8K_CANTONESE", "main")  # of a public set
    monkeypatch.setenv("HKCANTO_TEST_ANYTHING", "1")
    monkeypatch.setenv("HKCANTO_REVISION_TMMLUPLUSS", "v1.0")
    monkeypatch.setenv("HKCANTO_LANGUAGE", "zh-Hant")
    monkeypatch.setenv("ANOTHER_PACKAGES", "1")
    with caplog.at_level(logging.WARNING, "hkcanto"):
        load_task("hkcanto_g2p")
    named = [text for text in caplog.messages if "nothing reads it" in text]
    (warning,) = [text for text in named if "TMMLUPLUS" in text]
    assert warning.startswith("HKCANTO_REVISION_TMMLUPLUSS is set, but nothing reads")
    assert "HKCANTO_REVISION_TMMLUPLUS?" in warning
    known = ("TEST_", "PACKAGES", "GSM8K", "LANGUAGE is")
    assert not [text for text in named if any(name in text for name in known)]


def test_a_task_of_ours_is_loaded_and_shown_without_reading_the_public_sets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HKCANTO_LANGUAGE", "zh-Hant")
    monkeypatch.setenv("HKCANTO_TEST_BROWSER", "chromium")
    monkeypatch.setattr(catalogue, "_sets", lambda _: pytest.fail("they are read"))
    shown = describe("hkcanto/mmlu", {"language": "en"}, shots=2)
    assert shown.task.name == "hkcanto_mmlu_en"
    assert load_task("hkcanto_g2p").samples


def test_reasoning_is_looked_for_in_its_own_data_set_alone(
    quiz: Quiz, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"question": str(n), "A": "甲", "B": "乙", "answer": "A"} for n in range(9)]
    file = quiz('letters = "AB"', *rows) / "benchmark.toml"
    reasoning = '[reasoning]\nrepo_id = "someone/reasons"\n[prompts.plain]'
    text = file.read_text("utf-8").replace("[prompts.plain]", reasoning)
    cot = 'question_cot = "{question}"\n[[tasks]]'
    file.write_text(text.replace("[[tasks]]", cot), "utf-8")
    catalogue._catalogue.cache_clear()
    asked: list[Benchmark] = []

    def locate(benchmark: Benchmark) -> None:
        asked.append(benchmark)
        raise DataNotFound("no reasons here")

    loaded = load_task("quiz", cot=True, shots=2)
    monkeypatch.setattr(tasks, "locate", locate)
    with pytest.raises(OptionError, match=r"(?s)someone/reasons.*no reasons here"):
        loaded.prompt_examples("")
    (benchmark,) = asked
    assert benchmark.hub
    assert benchmark.hub.repo_id == "someone/reasons"
    assert benchmark.data is benchmark.github is None  # the quiz is in its own folder
    assert benchmark.folder == "reasons"
