"""The sample data of the writing tasks has the releases' layout and the right languages."""

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rapidfuzz import fuzz, process

from hkcanto_metrics.fluency import cantonese_fluency
from hkcanto_metrics.script import is_han, script_of
from hkcanto_tasks.catalogue import BENCHMARKS

NLP = BENCHMARKS / "hkcanto/sample/canto-nlp"
HKMMLU = BENCHMARKS / "hkmmlu/sample/translation"
DIRECTIONS = ("yue_eng", "eng_yue", "yue_zh", "zh_yue")
COLUMNS = ["#", "SourceL", "TargetL", "SourceText", "TargetText"]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def translations(direction: str) -> list[dict[str, Any]]:
    return lines(NLP / f"{direction}_train.json") + lines(
        NLP / f"{direction}_test.json"
    )


def articles() -> list[str]:
    texts: list[str] = json.loads((NLP / "summarization.json").read_text("utf-8"))
    return texts


def reviews(source: str) -> list[dict[str, str]]:
    return lines(NLP / f"sentiment_{source}.json")


SENTENCES: dict[str, set[str]] = {"yue": set(), "zh": set(), "eng": set()}
for direction in DIRECTIONS:
    for row in translations(direction):
        SENTENCES[row["SourceL"]].add(row["SourceText"])
        SENTENCES[row["TargetL"]].add(row["TargetText"])
HKMMLU_PAIRS = [
    (row["input"], row["output"]) for row in lines(HKMMLU / "can2man.jsonl")
]
EVERY_TEXT = [
    *(text for texts in SENTENCES.values() for text in texts),
    *(text for pair in HKMMLU_PAIRS for text in pair),
    *articles(),
    *(row["text"] for source in ("openrice", "facebook") for row in reviews(source)),
]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_six_sentences_to_translate_and_three_worked_ones(direction: str) -> None:
    source, target = direction.split("_")
    rows = translations(direction)
    assert len(lines(NLP / f"{direction}_train.json")) == 3
    assert len(lines(NLP / f"{direction}_test.json")) == 6
    assert all(list(row) == COLUMNS for row in rows)
    assert {(row["SourceL"], row["TargetL"]) for row in rows} == {(source, target)}


def test_numbers_are_unique_over_all_directions_as_in_the_release() -> None:
    numbers = [row["#"] for direction in DIRECTIONS for row in translations(direction)]
    assert len(set(numbers)) == len(numbers) == 36


def test_nine_sentences_in_three_languages() -> None:
    assert {language: len(texts) for language, texts in SENTENCES.items()} == {
        "yue": 9,
        "zh": 9,
        "eng": 9,
    }


def test_back_and_forth_is_the_same_sentence() -> None:
    for there, back in (("yue_eng", "eng_yue"), ("yue_zh", "zh_yue")):
        forward = [
            (row["SourceText"], row["TargetText"]) for row in translations(there)
        ]
        assert forward == [
            (row["TargetText"], row["SourceText"]) for row in translations(back)
        ]


def test_the_cantonese_is_fluent_and_the_written_chinese_is_not() -> None:
    cantonese = SENTENCES["yue"] | {yue for yue, _ in HKMMLU_PAIRS}
    written = SENTENCES["zh"] | {mandarin for _, mandarin in HKMMLU_PAIRS}
    assert [
        text for text in cantonese if cantonese_fluency(text).label != "cantonese"
    ] == []
    assert [text for text in cantonese if not cantonese_fluency(text).passed] == []
    assert [text for text in written if cantonese_fluency(text).passed] == []


def test_each_side_is_in_its_script() -> None:
    assert {script_of(text) for text in SENTENCES["yue"] | SENTENCES["zh"]} == {"hant"}
    assert {script_of(yue) for yue, _ in HKMMLU_PAIRS} <= {"hant", "none"}
    assert {script_of(mandarin) for _, mandarin in HKMMLU_PAIRS} == {"hans"}
    assert not any(map(is_han, "".join(SENTENCES["eng"])))


def test_twelve_pairs_of_hkmmlu_in_both_directions() -> None:
    assert len(HKMMLU_PAIRS) == 12
    back = [(row["output"], row["input"]) for row in lines(HKMMLU / "man2can.jsonl")]
    assert back == HKMMLU_PAIRS


def test_three_cantonese_texts_to_summarise() -> None:
    assert len(articles()) == 3
    assert all(300 <= len(text) <= 600 for text in articles())
    assert all(cantonese_fluency(text).label == "cantonese" for text in articles())


@pytest.mark.parametrize(
    ("source", "shortest", "longest"), [("openrice", 60, 440), ("facebook", 12, 60)]
)
def test_nine_texts_with_three_sentiments(
    source: str, shortest: int, longest: int
) -> None:
    rows = reviews(source)
    assert all(list(row) == ["text", "sentiment"] for row in rows)
    assert Counter(row["sentiment"] for row in rows) == {
        "Positive": 3,
        "Negative": 3,
        "Neutral": 3,
    }
    assert rows[0]["sentiment"] == "Negative"  # the worked example, also in the release
    assert all(shortest <= len(row["text"]) <= longest for row in rows)
    assert all(cantonese_fluency(row["text"]).passed for row in rows)


@pytest.mark.realdata
def test_the_files_are_named_as_in_the_release_and_have_its_columns() -> None:
    release = Path(os.environ["HKCANTO_DATA_DIR"]) / "hkeval2025/canto-nlp"
    assert {path.name for path in NLP.iterdir()} == {
        path.name for path in release.iterdir()
    }
    for path in NLP.iterdir():
        if path.name != "summarization.json":
            (first, *_), (ours, *_) = lines(release / path.name), lines(path)
            assert list(ours) == list(first)


@pytest.mark.realdata
def test_no_text_is_taken_from_a_release() -> None:
    root = Path(os.environ["HKCANTO_DATA_DIR"])
    published: set[str] = set()
    for path in [
        *root.glob("hkeval2025/canto-nlp/*"),
        *root.glob("hkmmlu/translation/*"),
    ]:
        content = path.read_text("utf-8")
        rows = (
            json.loads(content)
            if content.startswith("[")
            else map(json.loads, content.splitlines())
        )
        for row in rows:
            texts = [row] if isinstance(row, str) else row.values()
            published.update(
                sentence
                for text in texts
                if isinstance(text, str)
                for sentence in re.split(r"[。！？\n]", text)
                if len(sentence) >= 8
            )
    assert len(published) > 5000
    for text in EVERY_TEXT:
        for sentence in re.split(r"[。！？\n]", text):
            if len(sentence) >= 8:
                match = process.extractOne(
                    sentence, published, scorer=fuzz.ratio, score_cutoff=65
                )
                assert match is None, (sentence, match)
