"""Huge and broken texts are scored quickly, and the figures are the same in every process."""

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from hkcanto_metrics.choice import read_choice
from hkcanto_metrics.cleaning import clean_output
from hkcanto_metrics.fluency import cantonese_fluency, pool_fluency
from hkcanto_metrics.g2p import pool_jyutping, score_jyutping
from hkcanto_metrics.jyutping import (
    MalformedAnswer,
    extract_jyutping,
    normalize_as_published,
    parse_answer,
)
from hkcanto_metrics.number import parse_number, read_number
from hkcanto_metrics.reasoning import split_reasoning
from hkcanto_metrics.repetition import is_degenerate
from hkcanto_metrics.script import fold_script, script_of, to_simplified, to_traditional
from hkcanto_metrics.translation import (
    LONGEST,
    _count,
    is_copy,
    is_wrong_script,
    score_translation,
    sentence_scores,
    sufficient_statistics,
)
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.tasks import task_as_run

SIZE = 200_000
SOURCE, REFERENCE = "他今天沒有空，明天才來。", "佢今日唔得閒，聽日先至嚟。"
ENGLISH = "He isn't free today; he'll come tomorrow."
GOLD = "keoi5 gam1 jat6 (m4|ng4) dak1 haan4 ting1 jat6 (sin1|sin3) (zi3|ci3) lei4"
ISLANDS = {"A": "大嶼山", "B": "南丫島", "C": "長洲", "D": "坪洲"}

_RANDOM = random.Random(0)
FLOODS = {
    repeated: repeated * (SIZE // len(repeated))
    for repeated in (
        *(
            "一",
            "嘅的",
            "他們的這",
            "𠮷",
            "答案",
            "(",
            "「」",
            "<think>",
            "a",
            "word ",
            "1",
            "\n",
            "。",
        ),
        *("nei5hou2", "a5", "😀", "👨‍👩‍👧 ", "\u0301", "e\u0301", "ﷺ", "\ud800", "\0"),
    )
} | {
    f"random {name}": "".join(map(chr, _RANDOM.choices(range(*codes), k=SIZE)))
    for name, codes in (
        ("ascii", (0x20, 0x7F)),
        ("han", (0x4E00, 0x9FFF)),
        ("any", (0x20, 0xD7FF)),
    )
}
SCORERS: dict[str, Callable[[str], object]] = {
    "sentence_scores": lambda text: sentence_scores(text, REFERENCE),
    "sentence_scores, English": lambda text: sentence_scores(text, ENGLISH, "en"),
    "sentence_scores, long reference": lambda text: sentence_scores(
        REFERENCE, f"一{text}"
    ),
    "score_translation": lambda text: score_translation(
        [text], [REFERENCE], sources=[SOURCE]
    ),
    "is_wrong_script": lambda text: is_wrong_script(text, REFERENCE),
    "is_copy": lambda text: is_copy(text, REFERENCE, SOURCE),
    "score_jyutping": lambda text: score_jyutping(text, GOLD),
    "extract_jyutping": extract_jyutping,
    "normalize_as_published": normalize_as_published,
    "cantonese_fluency": cantonese_fluency,
    "is_degenerate": is_degenerate,
    "scripts": lambda text: [
        convert(text)
        for convert in (fold_script, script_of, to_simplified, to_traditional)
    ],
    "clean_output": lambda text: clean_output(text, source=SOURCE),
    "read_number": lambda text: read_number(text, SOURCE),
    "parse_number": parse_number,
    "read_choice": lambda text: read_choice(text, ISLANDS),
    "split_reasoning": split_reasoning,
}


@pytest.fixture(scope="module", autouse=True)
def libraries() -> None:
    """Make the first call of each function, which loads libraries."""
    for score in SCORERS.values():
        score("佢今日唔得閒 nei5 hou2 <think>1</think>")
    sentence_scores("He", "She", "en")


@pytest.mark.slow
@pytest.mark.parametrize("scorer", SCORERS)
def test_a_flood_is_scored_in_a_second(scorer: str) -> None:
    score, seconds = SCORERS[scorer], dict[str, float]()
    for name, flood in FLOODS.items():
        _count.cache_clear()
        start = process_time()
        score(flood)
        seconds[name] = process_time() - start
    # Takes a second if nothing else runs; the limit of ten allows for a machine ten times slower.
    assert max(seconds.values()) < 10, max(seconds, key=seconds.__getitem__)
    assert sum(seconds.values()) < len(seconds) * 5


def test_what_goes_on_beyond_the_limit_costs_nothing() -> None:
    for repeated in ["答案", "(", "嘅的"]:
        seconds = []
        for size in (LONGEST, 100 * LONGEST):
            text = repeated * (size // len(repeated))
            _count.cache_clear()
            start = process_time()
            sentence_scores(text, REFERENCE)
            seconds.append(process_time() - start)
        assert seconds[1] < 10 * seconds[0] + 0.2, repeated  # a hundred times as long


# --- the scored part of a long text


def test_of_a_translation_ten_thousand_characters_are_scored() -> None:
    loop = "佢今日唔得閒。" * LONGEST
    assert sentence_scores(loop, REFERENCE) == sentence_scores(
        loop[:LONGEST], REFERENCE
    )
    assert sentence_scores(loop[:LONGEST], REFERENCE) != sentence_scores(
        loop[:9_000], REFERENCE
    )
    assert sentence_scores(loop, loop)["bleu"] == pytest.approx(100)
    blank = " " * LONGEST
    assert sentence_scores(blank + REFERENCE, blank + REFERENCE)["rouge_l"] == 100
    scores = score_translation([loop, "你好"], [REFERENCE, "你好"])
    assert scores == score_translation([loop[:LONGEST], "你好"], [REFERENCE, "你好"])


def test_a_judgement_says_what_part_of_a_translation_was_scored() -> None:
    for name in ["hkmmlu_translation_zh_yue", "hkmmlu_translation_yue_zh"]:
        how = task_as_run(name)
        for repeats, note in (
            (1_000, ""),
            (1_429, "the first 10,000 of 10,003 characters"),
        ):
            judgement = how.judge(
                "佢今日唔得閒，" * repeats,
                Sample(id="", target=REFERENCE, source=SOURCE),
            )
            assert judgement.details.get("scored", "") == note, name
            assert ("Scored: " in judgement.explanation) == bool(note), name
            assert note in judgement.explanation, name


def test_of_a_loop_the_first_words_of_written_chinese_are_named() -> None:
    how = task_as_run("hkmmlu_translation_zh_yue")
    explanation = how.judge(
        "他們的這" * 20_000, Sample(id="", target=REFERENCE, source=SOURCE)
    ).explanation
    assert " more.\n" in explanation
    assert len(explanation) < 30_000


def test_of_a_response_twenty_thousand_characters_of_jyutping_are_scored() -> None:
    loop = "nei5 " * 40_000
    score = score_jyutping(loop, GOLD)
    assert score.problem.endswith(
        "; only the first 20,000 of 200,000 characters are scored"
    )
    cut = score_jyutping(loop[:20_000], GOLD)
    assert (score.ser, score.cer, score.cer_published) == (
        cut.ser,
        cut.cer,
        cut.cer_published,
    )
    assert len(score.extracted.split()) == 4_000
    assert score_jyutping("<think>" + loop + "</think>nei5", "nei5").problem == ""


def test_a_gold_string_without_end_is_refused() -> None:
    for text in ("nei5 " * 40_000, "ﷺ" * SIZE, "(nei5|lei5) " * 20_000):
        start = process_time()
        with pytest.raises(
            MalformedAnswer, match="characters; expected a sentence"
        ) as raised:
            parse_answer(text)
        assert process_time() - start < 10
        assert len(str(raised.value)) < 300
    assert [len(variant) for variant in parse_answer("nei5 " * 2_000)] == [2_000]


# --- a string in place of a list


def test_a_string_is_not_accepted_as_a_corpus() -> None:
    with pytest.raises(
        TypeError, match="hypotheses is a string, 'a': pass a list of strings"
    ):
        score_translation("a", "b")
    with pytest.raises(TypeError, match="references is a string"):
        score_translation(["a"], "b")
    with pytest.raises(TypeError, match="sources is a string"):
        score_translation(["a"], ["b"], sources="c")


def test_a_string_has_no_statistics() -> None:
    with pytest.raises(TypeError, match="hypotheses is a string"):
        sufficient_statistics("bleu", "a", "b")


def test_texts_are_not_accepted_as_scores() -> None:
    for pool, scorer in [
        (pool_fluency, "cantonese_fluency"),
        (pool_jyutping, "score_jyutping"),
    ]:
        for texts in ("nei5", ["nei5 hou2", "佢"]):
            with pytest.raises(TypeError, match=f"pass the results of {scorer}"):
                pool(texts)


# --- mutated outputs

FUZZ = Path(__file__).parents[2] / "performance" / "fuzz.py"


@pytest.mark.slow
@pytest.mark.skipif(
    not FUZZ.exists(), reason="the source distribution has no performance/"
)
def test_mutated_outputs_have_the_same_figures_in_any_process_and_thread() -> None:
    cases = Path(__file__).parent / "choice_cases.jsonl"
    command = [
        sys.executable,
        str(FUZZ),
        str(cases),
        "--count",
        "2000",
        "--processes",
        "2",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 cases differ" in done.stdout
