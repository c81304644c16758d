"""Script is identified and converted one character at a time."""

import json
import os
from pathlib import Path

import opencc
import pycantonese
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hkcanto_metrics.script import (
    fold_script,
    is_han,
    script_of,
    simplified_share,
    to_simplified,
    to_traditional,
)

HAN = [chr(code) for code in (*range(0x3400, 0xA000), *range(0x20000, 0x2EBE1))]


def test_traditional_becomes_simplified() -> None:
    for traditional, simplified in [
        ("佢話嗰度有好多嘢食", "佢话𠮶度有好多嘢食"),
        ("衞生、溫習、說話", "卫生、温习、说话"),
        ("乾坤", "干坤"),  # OpenCC's phrases would keep 乾坤
        ("我鍾意 OpenCC 1.0！", "我钟意 OpenCC 1.0！"),
    ]:
        assert to_simplified(traditional) == simplified, (traditional, simplified)


def test_simplified_becomes_traditional() -> None:
    for simplified, traditional in [
        ("这个问题", "這個問題"),
        ("说脱", "説脱"),  # Hong Kong's standard forms
        ("头发", "頭發"),  # OpenCC's phrases would choose 頭髮
        ("食面", "食面"),
    ]:
        assert to_traditional(simplified) == traditional, (simplified, traditional)


def test_no_word_is_replaced_by_another_regions_word() -> None:
    for word, simplified in [
        ("軟體", "软体"),
        ("計程車", "计程车"),
        ("滑鼠", "滑鼠"),
        ("馬鈴薯", "马铃薯"),
        ("巴士", "巴士"),
    ]:
        # Not converted to the mainland's words 软件, 出租车, 鼠标, 土豆, 公交车.
        assert to_simplified(word) == simplified, (word, simplified)


@pytest.mark.parametrize("change", [to_simplified, to_traditional, fold_script])
@given(text=st.text())
def test_the_number_of_characters_stays(change: object, text: str) -> None:
    assert callable(change)
    assert len(change(text)) == len(text)


def test_other_characters_than_chinese_stay() -> None:
    for change in [to_simplified, to_traditional, fold_script]:
        text = "OK 123 ｶﾅ かな 한 ㄅ 😀 。，「」\ud800\n"
        assert callable(change), change
        assert change(text) == text, change


@pytest.mark.slow
def test_folding_a_folded_character_changes_nothing() -> None:
    assert [c for c in HAN if fold_script(fold_script(c)) != fold_script(c)] == []


@pytest.mark.slow
def test_folding_undoes_every_conversion_of_a_character() -> None:
    for conversion in ["s2t", "s2hk", "t2s", "hk2s", "t2hk"]:
        convert = opencc.OpenCC(conversion).convert
        assert [c for c in HAN if fold_script(convert(c)) != fold_script(c)] == [], (
            conversion
        )


def test_script_of_a_text() -> None:
    for text, script in [
        ("呢個係廣東話", "hant"),
        ("这是普通话", "hans"),
        ("这個", "mixed"),
        ("你好", "none"),
        ("Hello 123", "none"),
        ("", "none"),
        ("皇后大道", "none"),  # 后 is Simplified for 後, and Traditional for an empress
        ("台北", "none"),
        ("得閒睇吓啦，我喺恒生銀行", "hant"),
        ("乾坤", "none"),
        ("国会开会", "hans"),  # all are in Big5-HKSCS too
    ]:
        assert script_of(text) == script, (text, script)


def test_simplified_share_counts_only_characters_of_one_script() -> None:
    # 这, 个 Simplified; 個 Traditional; 好 either.
    assert simplified_share("这个個好好好") == pytest.approx(2 / 3)
    assert simplified_share("好好好") == 0.0


@pytest.mark.slow
def test_transcribed_hong_kong_cantonese_is_traditional() -> None:
    characters = pycantonese.hkcancor().characters()
    assert len(characters) > 100_000
    assert simplified_share("".join(characters)) < 0.001


def test_chinese_characters_are_recognised() -> None:
    for character in ["嘅", "𨋢", "豈"]:
        assert is_han(character), character


def test_other_characters_are_not_chinese() -> None:
    for character in ["a", "。", "あ", "한", "1", " "]:
        assert not is_han(character), character


@pytest.mark.realdata
def test_the_sides_of_hkmmlu_are_in_the_scripts_that_it_says() -> None:
    file = (
        Path(os.environ["HKCANTO_DATA_DIR"])
        / "hkmmlu"
        / "translation"
        / "can2man.jsonl"
    )
    pairs = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert {script_of(pair["input"]) for pair in pairs} <= {"hant", "none"}
    assert {script_of(pair["output"]) for pair in pairs} <= {"hans", "none"}
