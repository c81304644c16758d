"""Cantonese passes, Written Chinese fails, and other texts are judged as documented.

The sentences are in fluency_sentences.toml.
"""

import os
import random
import tomllib
from pathlib import Path
from time import process_time
from types import ModuleType

import opencc
import pycantonese
import pytest
from cantonesedetect import CantoneseDetector

from hkcanto_metrics.fluency import (
    MIN_CANTONESE_RATIO,
    Term,
    cantonese_fluency,
    length_penalty,
    pool_fluency,
)
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.tasks import task_as_run

from ..scripts import load_script, printed_figures

SENTENCES = tomllib.loads(
    Path(__file__).with_name("fluency_sentences.toml").read_text(encoding="utf-8")
)
LOOPS = [beginning + unit * times for beginning, unit, times in SENTENCES["degenerate"]]
to_simplified = opencc.OpenCC("t2s").convert


def test_cantonese_passes() -> None:
    for text in [
        *SENTENCES["colloquial"],
        *SENTENCES["classifier"],
        *SENTENCES["formal"],
        *SENTENCES["quoted_mandarin"],
        *SENTENCES["code_mixing"],
        *SENTENCES["simplified"],
        *SENTENCES["repetitive"],
    ]:
        assert cantonese_fluency(text).passed, text


def test_cantonese_passes_in_simplified_script_too() -> None:
    for text in SENTENCES["colloquial"] + SENTENCES["formal"]:
        assert cantonese_fluency(to_simplified(text)).passed, text


def test_written_chinese_fails_in_either_script_and_its_words_are_shown() -> None:
    for text in SENTENCES["written_chinese"]:
        for script in [str, to_simplified]:
            text = script(text)
            fluency = cantonese_fluency(text)
            assert not fluency.passed, (text, script)
            assert fluency.label == "swc", (text, script)
            assert fluency.cantonese_ratio == 0, (text, script)
            assert fluency.swc_terms, (text, script)
            assert [text[start:end] for _, start, end in fluency.swc_terms] == [
                term for term, _, _ in fluency.swc_terms
            ], (text, script)


def test_script_is_reported_apart() -> None:
    for text in SENTENCES["simplified"]:
        assert cantonese_fluency(text).simplified_ratio >= 0.5, text


def test_without_chinese_characters_nothing_passes() -> None:
    for text in SENTENCES["empty"]:
        fluency = cantonese_fluency(text)
        assert not fluency.passed, text
        assert fluency.label == "none", text
        assert fluency.cantonese_ratio == 0, text


def test_a_text_in_another_language_fails_whatever_it_names() -> None:
    for text in [
        "The tram is called 叮叮 after its bell. It has run since 1904, and people love it.",
        "Le tramway est surnommé 叮叮.",
        "電車は叮叮と呼ばれています。とても便利です。",
        "전차는 叮叮 이라고 불립니다.",
        "A：叮叮",
        "Din6 ce1 ge3 faa1 meng2 hai6 叮叮",
        "侬讲啥物事？",
        "𠊎等天光日愛去街路。",
        "遐的物件傷貴，阮買袂起。",
        "有朋自遠方來，不亦樂乎？",
    ]:
        assert not cantonese_fluency(text).passed, text
        assert (
            task_as_run("hkcanto_fluency")
            .judge(text, Sample(id="", source="？"))
            .values["fluent"]
            == 0
        ), text


def test_a_loop_is_degenerate_and_fails() -> None:
    for text in LOOPS:
        fluency = cantonese_fluency(text)
        assert fluency.degenerate, text
        assert not fluency.passed, text


def test_repetition_for_effect_is_not_degenerate() -> None:
    for text in SENTENCES["repetitive"]:
        assert not cantonese_fluency(text).degenerate, text


def test_a_short_text_fails_for_a_cantonese_word_that_looks_like_written_chinese() -> (
    None
):
    for text in SENTENCES["cantonese_that_fails"]:
        assert not cantonese_fluency(text).passed, text


def test_written_chinese_without_a_feature_passes_as_neutral() -> None:
    for text in SENTENCES["written_chinese_that_passes"]:
        fluency = cantonese_fluency(text)
        assert fluency.passed, text
        assert fluency.label == "neutral", text


def test_a_text_may_have_one_written_word_for_nine_cantonese_ones() -> None:
    # Each character of the first part is one feature of Cantonese; 他 is one of Written Chinese.
    assert cantonese_fluency("佢哋喺嘅咗啲冇嘢嚟，他").cantonese_ratio == 0.9
    assert cantonese_fluency("佢哋喺嘅咗啲冇嘢嚟，他").passed
    assert not cantonese_fluency("佢哋喺嘅咗啲冇嘢，他").passed


def test_words_of_written_chinese_are_found_at_their_places() -> None:
    for text, terms in [
        ("他們剛回家。", [("他", 0, 1)]),
        ("佢话这是佢的", [("这", 2, 3), ("是", 3, 4), ("的", 5, 6)]),
        ("「他的」係邊個的？", [("的", 7, 8)]),
        ("OK，那就這樣吧", [("那", 3, 4), ("這", 5, 6), ("吧", 7, 8)]),
        ("我有一點兒嘢，而已。", [("點兒", 3, 5), ("而已", 7, 9)]),
        ("其他目的、是非、小說同埋些少現在存在嘅關係", []),
    ]:
        assert cantonese_fluency(text).swc_terms == tuple(
            Term(*term) for term in terms
        ), (
            text,
            terms,
        )


def test_without_quotations_label_and_counts_are_the_detectors_own() -> None:
    kinds = ("colloquial", "formal", "written_chinese", "code_mixing")
    for text in (text for kind in kinds for text in SENTENCES[kind]):
        label, features = CantoneseDetector(get_analysis=True).judge(text)
        (segment,) = features.document_segments_features
        # The detector subtracts a Cantonese feature for 關係, although it did not count one, and
        # counts 些少 as Written Chinese.
        n_cantonese = segment.canto_feature_count + len(segment.canto_exclude)
        n_swc = segment.swc_feature_count - text.count("些少")
        fluency = cantonese_fluency(text)
        assert fluency.label == label, text
        assert (fluency.cantonese_ratio.errors, len(fluency.swc_terms)) == (
            n_cantonese,
            n_swc,
        ), text


def test_a_quotation_counts_only_if_it_is_all_there_is() -> None:
    for quotation in [
        "「是的」",
        "『是的』",
        "“是的”",
        '"是的"',
        "《是的》",
        "【是的】",
    ]:
        assert cantonese_fluency(f"佢話{quotation}。").swc_terms == (), quotation
        assert [
            term for term, _, _ in cantonese_fluency(f"{quotation}。").swc_terms
        ] == [
            "是",
            "的",
        ], quotation


def test_a_quotation_mark_alone_hides_nothing() -> None:
    for text in ["「這是我的", "這是我的」", '"這是\n我的"']:
        assert len(cantonese_fluency(f"佢話{text}").swc_terms) == 3, text


def test_each_excess_character_of_a_summary_costs_the_same() -> None:
    for n_characters, max_characters, factor in [
        (0, 500, 1),
        (500, 500, 1),
        (501, 500, 0.998),
        (750, 500, 0.5),
        (1000, 500, 0),
        (300, 200, 0.5),
    ]:
        assert length_penalty(n_characters, max_characters) == pytest.approx(factor), (
            n_characters,
            max_characters,
            factor,
        )


def test_white_space_has_no_length() -> None:
    fluency = cantonese_fluency("佢\n 返 咗\t屋企　", max_characters=4)
    assert fluency.n_characters == 5
    assert fluency.length_penalty == 0.75


def test_without_a_limit_length_costs_nothing_and_it_never_fails_a_text() -> None:
    text = "".join(SENTENCES["colloquial"] + SENTENCES["formal"])
    assert cantonese_fluency(text).length_penalty == 1
    assert cantonese_fluency(text, max_characters=10).length_penalty == 0
    assert cantonese_fluency(text, max_characters=10).passed


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="max_characters is 0"):
        cantonese_fluency("佢", max_characters=0)


def test_a_corpus_pools_counts_and_averages_the_rest() -> None:
    texts = ["佢哋返咗屋企。", "他们回家了。", "開會。", "OK", "好" * 100]
    figures = pool_fluency(cantonese_fluency(text, max_characters=50) for text in texts)
    assert figures == {
        "passed": 2 / 5,
        "cantonese_ratio": 4 / 6,  # 佢, 哋, 咗, 屋企 against 他, 了
        "simplified_ratio": 1 / 5,
        "degenerate": 1 / 5,
        "length_penalty": 4 / 5,
        "n_characters": (7 + 6 + 3 + 2 + 100) / 5,
        "label_cantonese": 1 / 5,
        "label_mixed": 0,
        "label_neutral": 2 / 5,
        "label_swc": 1 / 5,
        "label_none": 1 / 5,
    }


def test_an_empty_corpus_is_an_error() -> None:
    with pytest.raises(ValueError, match="no judgements to pool"):
        pool_fluency([])


@pytest.mark.slow
def test_recorded_speech_passes() -> None:
    tokens = (utterance.tokens for utterance in pycantonese.hkcancor().utterances())
    spoken = ["".join(token.word for token in words if token.word) for words in tokens]
    judged = [cantonese_fluency(text) for text in spoken]
    chinese = [fluency.passed for fluency in judged if fluency.label != "none"]
    assert len(chinese) > 10_000
    assert sum(chinese) > 0.99 * len(chinese)


def test_a_long_text_takes_linear_time() -> None:
    for unit in ["佢哋嘅", "他的這", "「", '"他', "“他”", "关系", "a", "關係"]:
        text = unit * (100_000 // len(unit))
        start = process_time()
        cantonese_fluency(text)
        # A third of a second; quadratic time would take minutes.
        assert process_time() - start < 5, unit


@pytest.mark.slow
def test_a_megabyte_of_different_characters_takes_linear_time() -> None:
    rng = random.Random(0)
    text = "".join(chr(rng.randrange(0x4E00, 0x9FFF)) for _ in range(1_000_000))
    start = process_time()
    cantonese_fluency(text)
    assert process_time() - start < 20


@pytest.fixture(scope="session")
def calibration() -> ModuleType:
    """The script that sets the threshold."""
    return load_script("performance/calibrate_fluency.py")


@pytest.mark.realdata
def test_held_out_real_pairs_are_distinguished(
    calibration: ModuleType,
) -> None:
    data = Path(os.environ["HKCANTO_DATA_DIR"])
    pairs, long_texts = calibration.read_pairs(data), calibration.read_long_texts(data)
    accuracies = calibration.held_out_accuracies(pairs, long_texts, splits=20)
    assert min(accuracies["cantonese_fluency"]) >= 0.97


@pytest.mark.realdata
def test_the_threshold_is_the_one_that_the_pairs_lead_to(
    calibration: ModuleType,
) -> None:
    data = Path(os.environ["HKCANTO_DATA_DIR"])
    pairs, long_texts = calibration.read_pairs(data), calibration.read_long_texts(data)
    assert calibration.choose_threshold(pairs, long_texts) == MIN_CANTONESE_RATIO


@pytest.mark.realdata
def test_articles_and_talks_in_cantonese_pass(calibration: ModuleType) -> None:
    texts = calibration.read_long_texts(Path(os.environ["HKCANTO_DATA_DIR"]))
    assert len(texts) == 20
    assert all(cantonese_fluency(text).passed for text in texts)


LOAD_AND_COMPUTE = """
import json
from pathlib import Path
import evaluate, hkcanto_metrics
folder = Path(hkcanto_metrics.__file__).parent / "evaluate_modules" / "hkcanto_fluency"
metric = evaluate.load(str(folder))
responses = ["<think>這是的</think>佢哋返咗屋企。", "譯文：「他們回家了。」"]
print(json.dumps(metric.compute(predictions=responses, max_characters=6)))
"""


@pytest.mark.slow
def test_the_evaluate_module_cleans_judges_and_pools(tmp_path: Path) -> None:
    pytest.importorskip("evaluate")
    figures = printed_figures(LOAD_AND_COMPUTE, tmp_path)
    assert figures["passed"] == figures["label_swc"] == 0.5
    assert figures["length_penalty"] == pytest.approx((5 / 6 + 1) / 2)
