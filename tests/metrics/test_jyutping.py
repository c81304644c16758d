"""How gold strings and responses are read."""

import pickle
import time
from itertools import product
from string import ascii_lowercase
from time import process_time

import pytest

from hkcanto_metrics.jyutping import (
    MalformedAnswer,
    Syllable,
    extract_jyutping,
    fold,
    is_valid,
    normalize_as_published,
    parse_answer,
    parse_syllable,
    published_variants,
)


def test_a_gold_string_lists_its_variants() -> None:
    for answer, variants in [
        ("nei5  hou2 ", ["nei5 hou2"]),
        ("(ze2|ze5) pou5", ["ze2 pou5", "ze5 pou5"]),
        ("(ng)aam1", ["ngaam1", "aam1"]),
        ("(toi2 toi2|toi4 toi4) aa3", ["toi2 toi2 aa3", "toi4 toi4 aa3"]),
        ("(men1 niu2|menu) aa3", ["men1 niu2 aa3", "menu aa3"]),
        ("(gaak|gaap3) aa3", ["gaak aa3", "gaap3 aa3"]),
        ("l(ei4|ai4) dou6", ["lei4 dou6", "lai4 dou6"]),
        ("(n|l)(ei|i)5", ["nei5", "ni5", "lei5", "li5"]),
        ("(n|l)ei5 (hou2|ou2)", ["nei5 hou2", "nei5 ou2", "lei5 hou2", "lei5 ou2"]),
        ("nei5hou2", ["nei5 hou2"]),
        ("nei5 (hou2) aa3", ["nei5 hou2 aa3", "nei5 aa3"]),
        ("(nei5|nei5) hou2", ["nei5 hou2"]),
        ("Ｎｅｉ５　（ｈｏｕ２｜hou3）", ["nei5 hou2", "nei5 hou3"]),
    ]:
        assert [" ".join(variant) for variant in parse_answer(answer)] == variants, (
            answer,
            variants,
        )


def test_the_release_expands_only_parentheses_with_a_bar_and_keeps_blanks() -> None:
    assert published_variants("(ng)aam1  (ze2|ze5)aa3") == (
        "(ng)aam1  ze2aa3",
        "(ng)aam1  ze5aa3",
    )


def test_up_to_256_variants_of_a_sentence_are_compared() -> None:
    assert len(parse_answer("(nei5|lei5) " * 8)) == 2**8


def test_a_malformed_gold_string_is_refused_with_text_and_place() -> None:
    for answer, position, problem in [
        ("nei5 (hou2|hou3", 6, "'(' is unmatched"),
        ("nei5 (hou2", 6, "'(' is unmatched"),
        ("nei5) hou2", 5, "')' is unmatched"),
        ("nei5|lei5", 5, "'|' is unmatched"),
        ("nei5 (hou2|(hou3|hou4))", 6, "'(' is unmatched"),
        ("nei5 (|hou2)", 6, "empty alternative"),
        ("nei5 (hou2| )", 6, "empty alternative"),
        ("nei5 ()", 6, "empty alternative"),
        ("aa1 " + "(n|l)" * 9 + "5", 1, "512 variants; expected at most 256"),
        ("(ni1|nei1) " * 40, 1, "1,099,511,627,776 variants; expected at most 256"),
        ("", 1, "no syllable"),
        ("你好", 1, "no syllable"),
        ("(aa3)", 1, "only optional ones"),
    ]:
        with pytest.raises(MalformedAnswer) as error:
            parse_answer(answer)
        message = str(error.value)
        assert f"malformed answer {answer!r}, at character {position}: " in message, (
            answer,
            position,
            problem,
        )
        assert problem in message, (answer, position, problem)
        assert "expected" in message, (answer, position, problem)
        assert str(pickle.loads(pickle.dumps(error.value))) == message, (
            answer,
            position,
            problem,
        )


def test_jyutping_is_taken_out_of_a_response() -> None:
    for response, jyutping in [
        ("nei5 hou2", "nei5 hou2"),
        ("Nei5hou2!", "nei5 hou2"),
        ("Sure! The Jyutping is: nei5 hou2", "nei5 hou2"),
        ("Here you are:\n\n**nei5 hou2**\n\nHope this helps!", "nei5 hou2"),
        ("nei5\nhou2", "nei5 hou2"),
        ("nei⁵ ｈｏｕ２", "nei5 hou2"),
        ("nei5 ok hou2", "nei5 ok hou2"),
        ("gwong dung1 waa2", "gwong dung1 waa2"),  # no tone, but a syllable
        ("hao0 nei5", "hao nei5"),
        ("The Jyutping: m goi1", "m goi1"),
        ("nei5 (you) hou2 [good]（好）", "nei5 hou2"),
        ("你(nei5)好(hou2)", "nei5 hou2"),
        ("(ng)aam1 hou2", "aam1 hou2"),
        ("nei5 hou7", "nei5 hou"),
        ("你好", ""),
        ("nǐ hǎo", ""),
        ("nei hou", ""),
        ("", ""),
    ]:
        assert extract_jyutping(response) == jyutping, (response, jyutping)


def test_a_note_a_list_and_a_second_version_are_not_scored() -> None:
    reading = "nei5 hou2 aa3"
    for response in [
        "nei5 hou2 aa3\n\nNote that hou2 has the second tone.",
        "Answer: nei5 hou2 aa3.\n\n(Alternative: lei5 hou2 aa3)",
        "粵拼：nei5 hou2 aa3（你好呀）。「你」又讀 lei5。",
        "你好呀 → nei5 hou2 aa3\n\n解釋：\n- 你 nei5：you\n- 好 hou2：good",
        "Note that 你 is nei5.\n\nnei5 hou2 aa3",
        "Pinyin: ni3 hao3 a1\nJyutping: nei5 hou2 aa3",
        "正式：nei5 hou2 aa3\n懶音：lei5 ou2 aa3",
        "你 nei5\n好 hou2\n呀 aa3\n\n整句：nei5 hou2 aa3",
        "1. nei5\n2. hou2\n3. aa3",
        "nei5 hou2 aa3 means hello",
        "nei$^5$ hou$^{2}$ aa$^3$",
        "$nei^5\\ hou^2\\ aa^3$",
        "nei<sup>5</sup> hou<sup>2</sup> aa<sup>3</sup>",
        "nei 5 hou 2 aa 3",
    ]:
        assert extract_jyutping(response) == reading, response


def test_the_release_normalizes_responses_in_its_own_way() -> None:
    for response, normalized in [
        ("Gam1 jat6, tin1 hei3!", "gam1 jat6 tin1 hei3"),
        ("nei5hou2", "nei5 hou2"),
        ("nei5 \n\t hou2", "nei5 hou2"),
        ("nei  hou7", "nei  hou"),
        ("The answer: nei5", "the answer  nei5"),
        ("你好", ""),
    ]:
        assert normalize_as_published(response) == normalized, (response, normalized)


def test_a_syllable_shows_the_components_that_can_be_read() -> None:
    for token, syllable in [
        ("gwong2", ("gw", "o", "ng", "2")),
        ("m4", ("", "m", "", "4")),
        ("jyu4", ("j", "yu", "", "4")),
        ("hao3", (None, None, None, "3")),
        ("nei", ("n", "e", "i", None)),
        ("menu", (None, None, None, None)),
        ("5", (None, None, None, "5")),
        ("nei⁵", ("n", "e", "i", "5")),
    ]:
        assert parse_syllable(token) == Syllable(*syllable), (token, syllable)


def test_syllables_are_parsed_as_by_pycantonese() -> None:
    import pycantonese

    def parsed(token: str) -> Syllable:
        try:
            (syllable,) = pycantonese.parse_jyutping(token)
        except ValueError:
            return Syllable(None, None, None, token[-1])
        return Syllable(syllable.onset, syllable.nucleus, syllable.coda, syllable.tone)

    onsets = ["", *ascii_lowercase, "ng", "gw", "kw", "zh"]
    nuclei = ["a", "aa", "e", "i", "o", "oe", "eo", "u", "yu", "m", "n", "ng", "ao"]
    codas = ["", *"iumnptkrh", "ng"]
    tokens = ["".join(parts) + "3" for parts in product(onsets, nuclei, codas)]
    assert {token: parse_syllable(token) for token in tokens} == {
        token: parsed(token) for token in tokens
    }
    assert 1_500 < sum(map(is_valid, {*tokens})) < len({*tokens})


def test_long_runs_of_letters_and_combining_marks_are_read_in_linear_time() -> None:
    start = process_time()
    assert not is_valid("a" * 1_000_000 + "1")
    assert len(fold("\u0345\u0301\u0323\u0334" * 100_000)) == 400_000
    assert process_time() - start < 5  # PyCantonese and NFKC would take minutes


def test_the_reading_of_the_sentence_is_scored_not_what_is_beside_it() -> None:
    reading = "keoi5 gam1 jat6 hou2 hoi1 sam1"
    for before in ("", "「佢今日好開心」嘅粵拼係：", "原文：佢今日好開心\n拼音："):
        for after in (
            "",
            "\n\nSome speakers say: heoi5 gam1 jat6 hou2 hoi1 sam1",
            "\n\nAlternative: heoi5 gam1 jat6 hou2 hoi1 sam1",
            "\n\n解釋：\n1. 開心：hoi1 sam1",
            "\n\n- 佢: keoi5 (he/she)",
        ):
            assert extract_jyutping(before + reading + after) == reading, after
    # A later reading counts only if it is more than twice as long.
    assert extract_jyutping("nei5 hou2\n\nnei5 hou2 maa3 aa3") == ""
    longer = "nei5 hou2 maa3 aa3 maa1"
    assert extract_jyutping(f"nei5 hou2\n\n{longer}") == longer
    text = "拼音：ni3 hao3 ma5\n粵拼：nei5 hou2 maa3"
    assert extract_jyutping(text) == "nei5 hou2 maa3"


def test_a_correction_is_the_reading_and_single_characters_are_none() -> None:
    for response, reading in [
        (
            "I first typed nei5 hou3 aa3, but the tone was wrong. Correct: nei5 hou2 aa3",
            "nei5 hou2 aa3",
        ),
        ("初稿：nei5 hou3 aa3\n更正：nei5 hou2 aa3", "nei5 hou2 aa3"),
        ("今：gam1\n日：jat6", "gam1 jat6"),
        ("答案係 nei5 hou2", "nei5 hou2"),
    ]:
        assert extract_jyutping(response) == reading, response


def test_the_last_of_several_tries_is_read_if_words_say_so() -> None:
    for text in [
        "nei5 hou3 maa1\n\nThe corrected version is nei5 hou2 maa3",
        "nei5 hou3 maa1\n\nWait, that's wrong. The correct Jyutping is:\nnei5 hou2 maa3",
        "nei5 hou3 maa1\n\n改為：nei5 hou2 maa3",
        "Version 1 (draft): nei5 hou3 maa1\nVersion 2 (final): nei5 hou2 maa3",
    ]:
        assert extract_jyutping(text) == "nei5 hou2 maa3", text
    for text in [
        "Draft 1: nei5 hou3 maa1\nDraft 2: nei5 hou2 maa3",
        "第一稿：nei5 hou3 maa1\n第二稿：nei5 hou2 maa3",
        "Attempt 1: nei5 hou3 maa1\nAttempt 2: nei5 hou2 maa3",
        "nei5 hou3 maa1\n\nnei5 hou2 maa3",
    ]:
        assert extract_jyutping(text) == "", text


def test_the_first_of_two_readings_in_a_line_is_read() -> None:
    for joint in (" or ", " 或者 "):
        text = f"nei5 hou2 maa3{joint}lei5 hou2 maa3"
        assert extract_jyutping(text) == "nei5 hou2 maa3"
    # A slash may stand for a blank or for "or".
    assert extract_jyutping("nei5 hou2 / lei5 hou2") == ""


def test_readings_none_of_which_is_chosen_are_no_reading() -> None:
    for text, reading in [
        ("Either zoeng2 or coeng4 is fine.", ""),
        ("長 has two readings: zoeng2 and coeng4.", ""),
        ("「長」有兩個讀音：zoeng2 同 coeng4。", ""),
        ("長 has two readings, but here it is coeng4.", "coeng4"),
        ("Either way, the Jyutping is nei5 hou2.", "nei5 hou2"),
        ("nei5 hou2\n\nNote: 長 has two readings: zoeng2, coeng4.", "nei5 hou2"),
        ("zoeng2 or coeng4", "zoeng2"),
    ]:
        assert extract_jyutping(text) == reading, text


def test_a_list_of_all_syllables_in_brackets_is_a_remark() -> None:
    for text in ("sik6 faan6 (食 sik6, 飯 faan6)", "sik6 faan6（食＝sik6；飯＝faan6）"):
        assert extract_jyutping(text) == "sik6 faan6", text


def test_readings_of_some_words_are_not_the_sentence() -> None:
    for text in [
        "The important words are: 開心 (hoi1 sam1).",
        "唔難讀，只標難字：開心（hoi1 sam1）",
        "I'll only give the difficult words: hoi1 sam1 (開心)",
    ]:
        assert extract_jyutping(text) == "", text
    text = "ngo5 hou2 hoi1 sam1\n\nKey words:\n- 開心: hoi1 sam1"
    assert extract_jyutping(text) == "ngo5 hou2 hoi1 sam1"


def test_a_remark_and_words_before_the_full_sentence_are_no_reading() -> None:
    for text in (
        "nei5 hou2 maa3 (好 is hou2)",
        "nei5 hou2（「好」讀 hou2）maa3",
        "nei5 hou2 means hello, so the full sentence is: nei5 hou2 maa3",
        "「你好」讀 nei5 hou2，所以全句讀 nei5 hou2 maa3",
        "hou2 means good, so we get: nei5 hou2 maa3",
    ):
        assert extract_jyutping(text) == "nei5 hou2 maa3", text
    # Each character in brackets with its reading is no remark.
    assert extract_jyutping("(你 nei5)(好 hou2)") == "nei5 hou2"


def test_a_loop_of_marks_after_the_reading_takes_linear_time() -> None:
    start = time.process_time()
    for unit in ("*", "「」", "佢 "):
        text = "nei5 hou2 " + unit * (20_000 // len(unit))
        assert extract_jyutping(text) == "nei5 hou2"
    assert time.process_time() - start < 3


def test_a_numbered_list_is_one_reading_and_remarks_on_it_are_none() -> None:
    for text, reading in [
        ("逐字注音：\n1. 飲 → jam2\n2. 茶 → caa4", "jam2 caa4"),
        (
            "飲茶嘅粵拼係 jam2 caa4，聽落似英文 yum cha。「飲」單獨讀係 jam2。",
            "jam2 caa4",
        ),
        ("粵拼用數字表示聲調，例如 fan1、fan2。", ""),
        ("可以讀 jam2 caa4，亦可以讀 jam2 caa1，兩個讀法都通行。", ""),
    ]:
        assert extract_jyutping(text) == reading, text


def test_a_reading_that_is_warned_of_is_not_the_answer() -> None:
    reading = "jam1 ngok6"
    for text in [
        "「音樂」讀 jam1 ngok6，「樂」唔好讀成 lok6。",
        "jam1 ngok6，唔讀 jam1 lok6",
        "唔係 jam1 lok6 ❌\njam1 ngok6 ✅",
        "✗ jam1 lok6\n✓ jam1 ngok6",
        "jam1 lok6 (wrong)\njam1 ngok6 (right)",
        "jam1 ngok6. Don't read 樂 as lok6.",
        "Not jam1 lok6 but jam1 ngok6.",
        "It is jam1 ngok6, not jam1 lok6.",
        "不是 jam1 lok6，而是 jam1 ngok6。",
        "好多人會讀 jam1 lok6（快樂嗰個樂），但呢度應該讀 jam1 ngok6。",
        "Some people say jam1 lok6, but the Jyutping is jam1 ngok6.",
    ]:
        assert extract_jyutping(text) == reading, text
    # The sentence itself may say 唔係 or 唔讀.
    assert extract_jyutping("我唔係 ngo5 m4 hai6") == "ngo5 m4 hai6"
    assert extract_jyutping("唔好讀 m4 hou2 duk6") == "m4 hou2 duk6"
    assert extract_jyutping("呢個唔係拼音：nei5 hou2") == "nei5 hou2"


def test_what_a_discussion_of_readings_concludes_is_the_answer() -> None:
    for text in [
        "「樂」有兩個常見讀音：lok6（快樂）同 ngok6（音樂）。所以成個詞讀 jam1 ngok6。",
        "「樂」字：快樂讀 lok6，音樂讀 ngok6，樂山讀 ngaau6。本題：jam1 ngok6",
        "「樂」可讀 lok6 或 ngok6，這裏指音樂，因此讀 jam1 ngok6。",
        "樂 can be read lok6 or ngok6; here it is jam1 ngok6.",
        "樂 can be read as lok6 or ngok6, so the word is jam1 ngok6.",
        "「樂」可以讀 lok6 同 ngok6，呢個詞讀 jam1 ngok6。",
    ]:
        assert extract_jyutping(text) == "jam1 ngok6", text
    assert extract_jyutping("This can be read nei5 hou2 maa3") == "nei5 hou2 maa3"
    # A sentence may have 都 … 得 or 兩個 … 都得 itself.
    for sentence in ("朋友都話我好唱得，", "我哋兩個去都得。"):
        assert extract_jyutping(f"{sentence} nei5 hou2 maa3") == "nei5 hou2 maa3"
    # 呢個 with its reading beside it is part of the sentence.
    beside = "我 ngo5 鍾意 zung1 ji3，呢個 ni1 go3 人 jan4"
    assert extract_jyutping(beside) == "ngo5 zung1 ji3 ni1 go3 jan4"


def test_a_loop_of_syllables_or_warnings_takes_linear_time() -> None:
    start = time.process_time()
    for unit in ("hou2", "not hou2 ", "\n❌", "唔好讀成"):
        extract_jyutping("nei5 hou2 " + unit * (20_000 // len(unit)))
    assert time.process_time() - start < 3
