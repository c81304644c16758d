"""Verifiers accept right answers, and refuse wrong ones, including near misses."""

import inspect
import json
import pickle
import re
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import opencc
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hkcanto_metrics import constraint_reward
from hkcanto_metrics.constraints import (
    VERIFIERS,
    Constraint,
    Followed,
    check_constraints,
    follows,
    follows_loosely,
    pool_constraints,
    read_constraints,
    read_ifeval,
)
from hkcanto_metrics.rewards import cantonese_reward, multiply_rewards

from .constraint_answers import answers_to, constraints_of


def holds(name: str, answer: str, **args: Any) -> bool:
    return follows(answer, Constraint(name, args))


# Every verifier -----------------------------------------------------------------------------------


def test_there_are_as_many_as_asked_for_and_each_has_a_topic() -> None:
    assert len(VERIFIERS) >= 52
    topics = ["Length", "Words", "Form", "Language and script", "Sound"]
    assert [*dict.fromkeys(each.topic for each in VERIFIERS.values())] == topics


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**16))
def test_a_right_answer_follows_and_a_wrong_one_does_not(
    data: st.DataObject, seed: int
) -> None:
    for name in VERIFIERS:
        constraint = data.draw(constraints_of(name))
        right, wrong = answers_to(constraint, seed)
        assert follows(right, constraint), (constraint, right)
        assert follows(f"<think>{wrong}</think>\n{right}\n", constraint), (
            constraint,
            right,
        )
        assert not follows(wrong, constraint), (constraint, wrong)


@settings(max_examples=10, deadline=None)
@given(
    data=st.data(),
    response=st.text('我唔知OK1。！？「」，\n *#-|[]{}"<\u0301😀…', max_size=40),
)
def test_any_response_is_judged_and_what_follows_strictly_follows_loosely(
    data: st.DataObject, response: str
) -> None:
    for name in VERIFIERS:
        constraint = data.draw(constraints_of(name))
        assert follows_loosely(response, constraint) >= follows(response, constraint)


@settings(max_examples=2, deadline=None)
@given(data=st.data())
def test_an_empty_response_never_follows(data: st.DataObject) -> None:
    for name in VERIFIERS:
        constraint = data.draw(constraints_of(name))
        for empty in ("", " \n", "<think>我諗緊", "<think>好</think>\n", "\u3000"):
            assert not follows(empty, constraint), constraint
            assert not follows_loosely(empty, constraint), constraint


def test_each_says_what_it_is_in_a_line_and_what_its_arguments_are() -> None:
    for name, verifier in VERIFIERS.items():
        assert 10 < len(verifier.description) < 100, name
        assert verifier.description.endswith("."), name
        doc = inspect.getdoc(verifier.function) or ""
        for argument in verifier.arguments:
            assert re.search(rf"^    {argument}: ", doc, re.MULTILINE), (name, argument)


def test_each_has_two_traps_by_a_writer_who_did_not_write_it() -> None:
    """One answer that follows although it looks wrong, and one that looks right."""
    path = Path(__file__).with_name("constraint_traps.jsonl")
    traps = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for trap in traps:
        assert holds(trap["name"], trap["answer"], **trap["args"]) == trap["follows"], (
            trap
        )
    assert {*VERIFIERS} == {each["name"] for each in traps if each["follows"]}
    assert {*VERIFIERS} == {each["name"] for each in traps if not each["follows"]}


# Traps: length ------------------------------------------------------------------------------------


def test_characters_are_what_a_reader_counts() -> None:
    for answer, units, han, everything in [
        ("𨋢嗰啲人", 4, 4, 4),  # Extension B
        ("二〇二六年", 5, 5, 5),
        ("葛\U000e0100城", 2, 2, 2),  # a variation selector
        ("e\u0301 好", 2, 1, 2),
        ("ＯＫ！好", 2, 1, 4),
        ("$8,999.50 蚊", 2, 1, 10),
        ("**好**", 1, 1, 5),
        ("👨‍👩‍👧好", 1, 1, 2),
    ]:
        for counting, n in (("units", units), ("han", han), ("all", everything)):
            assert holds("characters", answer, counting=counting, exactly=n), counting


def test_sentences_are_counted_with_their_quotations() -> None:
    for answer, n in [
        ("佢話：「係咩？真㗎？」", 1),
        ("「好呀！」佢話。", 1),
        ("「好呀！」「唔好！」", 2),
        ("我……我唔知……", 1),
        ("咩話？！！真㗎!?", 2),
        ("（笑。）好呀。", 1),
        ("升咗 3.5%。好！", 2),
        ("我見到Mr. Chan。", 1),
        ("P.S. 佢嚟咗。", 1),
        ("See you. 好開心！", 2),
        ("去 openrice.com 睇下。", 1),
        ("1. 買餸\n2. 煮飯", 2),
        ("# 標題\n內文。", 2),
        ("好👍！", 1),
        ("……", 0),
        ("未完嘅一句", 1),
    ]:
        assert VERIFIERS["sentences"].function(answer) == n, answer


def test_lines_are_those_with_text() -> None:
    assert holds("lines", "```\n一\n```\n\n---\n**\n二", exactly=2)
    assert holds("paragraphs", "一\n \n二\n三", exactly=2)
    assert holds("title", "《一》\r\n二\r\n")
    assert holds("title", "寫好咗：\n《一》\n二")
    assert not holds("title", "一\n《二》")
    assert holds("paragraphs", "一\n二\n三", exactly=3)


def test_every_line_has_to_fit_not_one() -> None:
    assert not holds("characters_per_line", "一二三四五\n一二三四", exactly=5)
    assert holds(
        "characters_per_verse",
        "春眠不覺曉，處處聞啼鳥。\n夜來風雨聲，花落知多少。",
        exactly=5,
    )
    assert holds(
        "verses", "春眠不覺曉，處處聞啼鳥。\n夜來風雨聲，花落知多少。", exactly=4
    )


# Traps: words -------------------------------------------------------------------------------------


def test_exactly_once_is_not_at_least_once() -> None:
    assert holds("occurrences", "飲奶茶，又飲奶茶", word="奶茶", at_least=1)
    assert not holds("occurrences", "飲奶茶，又飲奶茶", word="奶茶", exactly=1)
    assert not holds("occurrences", "飲咖啡", word="奶茶", exactly=1)


def test_words_are_counted_without_overlap() -> None:
    assert holds("occurrences", "哈哈哈", word="哈哈", exactly=1)
    assert holds("occurrences", "哈哈哈哈", word="哈哈", exactly=2)


def test_a_longer_word_counts_unless_it_is_an_exception() -> None:
    assert not holds("avoids", "搭的士", words=["的"])
    assert holds("avoids", "搭的士去目的地", words=["的"], not_in=["的士", "目的"])
    assert not holds("avoids", "搭的士是快的", words=["的"], not_in=["的士"])
    with pytest.raises(
        ValueError, match=r"exception \['巴士'\] does not contain the word"
    ):
        Constraint("avoids", {"words": ["的"], "not_in": ["巴士"]})


def test_latin_words_are_whole_and_width_and_case_do_not_matter() -> None:
    assert holds("avoids", "It will rain", words=["AI"])
    assert not holds("avoids", "用ＡＩ寫", words=["AI"])
    assert not holds("avoids", "用ai寫", words=["AI"])
    assert not holds("ends_with", "a textbook", text="book")
    assert holds("avoids", "13 個", words=["3"])
    assert not holds("occurrences", "电车", word="電車", at_least=1)  # another script


def test_a_word_twice_is_one_different_word() -> None:
    assert holds("different_words", "茶，茶，茶", words=["茶", "咖啡"], exactly=1)
    assert not holds("uses_all", "茶，茶", words=["茶", "咖啡"])


def test_marks_around_do_not_matter_at_the_ends() -> None:
    assert holds("starts_with", "**「早晨」**，各位", text="早晨")
    assert holds("starts_with", "「早晨」，各位", text="「早晨」")
    assert holds("ends_with", "多謝！🙏", text="多謝！🙏")
    assert holds("ends_with", "好，多謝！！🙏", text="多謝")
    assert not holds("ends_with", "多謝你", text="多謝")


def test_one_of_is_the_whole_answer() -> None:
    assert not holds("one_of", "贊成或者反對", phrases=["贊成", "反對"])
    assert not holds("one_of", "贊成，我好贊成", phrases=["贊成"])
    assert holds("one_of", "贊成。", phrases=["贊成", "反對"])


def test_an_acrostic_has_as_many_lines_and_no_more() -> None:
    assert not holds("acrostic", "香\n港\n好", text="香港")
    assert not holds("acrostic", "香香\n好", text="香港")
    assert holds("acrostic", "- **香**江夜\n- 港燈明", text="香港")


def test_a_postscript_comes_after_something_and_says_something() -> None:
    assert holds("postscript", "多謝\n**又及**：帶遮", mark="又及")
    assert not holds("postscript", "我想講 P.S. 係咩", mark="P.S.")


# Traps: form --------------------------------------------------------------------------------------


def test_json_is_all_of_the_answer_or_in_a_fence() -> None:
    for answer, is_object in [
        ('{"a": 1}', True),
        ('```json\n{"a": 1}\n```', True),
        ('```\n{"a": 1}\n```', True),
        ('以下係：\n```json\n{"a": 1}\n```', False),
        ('{"a": NaN}', False),
        ("{'a': 1}", False),
        ('[{"a": 1}]', False),
        ('{"b": 1}', False),
        ('{"a": 1', False),
        ("[" * 100_000, False),
    ]:
        assert holds("json_object", answer, keys=["a"]) == is_object, answer


def test_other_keys_are_only_refused_where_asked() -> None:
    assert holds("json_object", '{"a": 1, "b": 2}', keys=["a"])
    assert not holds("json_object", '{"a": 1, "b": 2}', keys=["a"], only=True)


def test_items_are_distinguished_from_lookalikes() -> None:
    for answer, bullets, numbered in [
        ("* 一\n* 二", 2, 0),
        ("**一**\n**二**", 0, 0),
        ("-5 度\n- 凍", 1, 0),
        ("---\n- 一\n---", 1, 0),
        ("1. 一\n1. 二", 0, 1),
        ("１．一\n２．二", 0, 2),
        ("① 一\n② 二", 0, 2),
        ("一、甲\n二、乙", 0, 2),
        ("1. 甲\n   - 子\n2. 乙\n   - 子", 2, 2),
        ("3.5 公里", 0, 0),
        ("2026. 完", 0, 0),
        ("1:30 出發", 0, 0),
        ("1. 甲\n3. 丙", 0, 1),
    ]:
        assert VERIFIERS["bullet_items"].function(answer) == bullets, answer
        assert VERIFIERS["numbered_items"].function(answer) == numbered, answer


def test_no_list_is_not_a_list_of_at_most_three() -> None:
    for name in ["bullet_items", "numbered_items", "table_rows", "json_items"]:
        assert not holds(name, "冇嘢講", at_most=3), name
        with pytest.raises(
            ValueError, match=r"exactly has to be at least 1 \(it is 0\)"
        ):
            Constraint(name, {"exactly": 0})


def test_a_table_has_a_rule_and_equal_rows() -> None:
    assert not holds("table_rows", "| 菜 | 價 |\n| 魚 | 58 |", at_least=1)
    assert not holds("table_rows", "|菜|價|\n|---|---|\n|魚|", at_least=1)
    assert holds("table_rows", "菜 | 價\n--|:-:\n魚 \\| 肉 | 58", exactly=1, columns=2)


def test_punctuation_is_not_what_is_in_a_number_or_a_word() -> None:
    assert holds("punctuation", "3.5 公里 9:30 don't e-mail 50% #茶 8,999", exactly=0)
    assert holds("punctuation", "好，好,好！", marks="，", exactly=2)  # either width
    assert not holds("punctuation", "好…", exactly=0)


def test_quotation_marks_are_one_pair() -> None:
    assert holds("quoted", "「佢話「好」喎」")
    assert not holds("quoted", "「好」，「唔好」")
    assert not holds("quoted", '"好"同"唔好"', marks='""')


def test_emoji_are_counted_as_seen() -> None:
    assert holds("emoji", "1 ★ :) © # ™ ✓", exactly=0)
    assert holds("emoji", "🇭🇰🇭🇰", exactly=2)
    assert holds("emoji", "❤☀️", exactly=2)
    assert holds("emoji", "‼️▶️☎⁉️©️", exactly=5)
    assert holds("emoji", "☎\ufe0e‼©▶", exactly=0)  # as text


def test_a_hashtag_has_a_letter_and_may_follow_another() -> None:
    assert holds("hashtags", "#香港#美食 ＃深水埗 #2026香港", exactly=4)
    assert holds("hashtags", "排名 #1，C# 同 F#，&#39; a.html#top `#茶`", exactly=0)
    assert holds("hashtags", "好好食#香港", exactly=1)


def test_bold_is_not_a_blank_to_fill_in_nor_code() -> None:
    assert holds("bold", "姓名：____ 電話：____", exactly=0)
    assert holds("bold", "**重要**：__必看__", exactly=2)
    assert holds("bold", "2 ** 3 ** 4，`**x**`", exactly=0)


def test_a_comment_in_code_is_no_heading() -> None:
    assert holds("headings", "# 做法\n```python\n# 註解\n```", exactly=1)


def test_a_link_and_a_check_box_are_no_place_to_fill_in() -> None:
    text = "- [ ] 買餸\n- [x] 煮飯\n[食譜](https://example.org)"
    assert holds("placeholders", text, exactly=0)


def test_two_versions_differ() -> None:
    assert holds("parts", "早晨\n******\n你好", mark="******", exactly=2)
    assert not holds("parts", "早晨\n******\n早晨", mark="******", exactly=2)
    assert not holds("parts", "早晨\n******\n******\n你好", mark="******", exactly=2)
    assert holds("parts", "早晨\n******\n你好\n******", mark="******", exactly=2)
    assert holds("parts", "|一|二|\n|---|---|\n---\n你好", mark="---", exactly=2)
    assert holds("parts", "***早晨***呀\n***\n你好", mark="***", exactly=2)


# Traps: language and script -----------------------------------------------------------------------


def test_traditional_only_does_not_refuse_what_both_scripts_have() -> None:
    for text in [
        *(
            "里",
            "皇后",
            "後面",
            "台灣",
            "干涉",
            "面積",
            "山谷",
            "只有",
            "下降",
            "了解",
            "人云亦云",
        ),
        *(
            "范先生",
            "姜太公",
            "郁",
            "仆街",
            "拮据",
            "嚇吓人",
            "豆豉蒸排骨",
            "喺嗰度",
            "𨋢",
            "冇",
        ),
        *(
            "够鐘",
            "却",
            "猪油渣",
            "烟",
            "凉茶",
            "胡",
            "幾",
            "涂先生",
            "卜卦",
            "周末",
            "志氣",
            "尸位",
        ),
    ]:
        assert holds("script", text, script="traditional"), text


def test_simplified_only_does_not_refuse_what_has_no_other_form_in_use() -> None:
    for text in ["嗰度入咗𨋢", "拚命捱", "里面", "乾坤", "咁样", "瞓觉", "一只狗"]:
        assert holds("script", text, script="simplified"), text


def test_traditional_only_refuses_each_simplification() -> None:
    for character in "说这为们车东业个国学义书见长门马鱼鸟龙":
        assert not holds("script", f"你好{character}", script="traditional"), character
        assert not holds("script", f"「{character}」", script="traditional"), (
            character
        )  # quotations count
        assert holds("script", f"你好 `{character}`", script="traditional"), (
            character
        )  # code does not


def test_real_sentences_are_not_refused_in_their_script() -> None:
    """Common Voice's sentences; five have characters such as 权 and 戯."""
    path = files("pycantonese") / "data" / "common_voice" / "sents.json"
    real = [
        text
        for text in json.loads(path.read_text("utf-8"))
        if re.search("[一-鿿]", text)
    ]
    traditional, simplified = (
        Constraint("script", {"script": script})
        for script in ("traditional", "simplified")
    )
    refused = [text for text in real if not follows(text, traditional)]
    assert len(refused) <= 5 < 9000 < len(real), refused
    convert = opencc.OpenCC("hk2s").convert
    assert [text for text in map(convert, real) if not follows(text, simplified)] == []
    changed = [text for text in real if sum(map(str.__ne__, text, convert(text))) > 2]
    passed = [text for text in map(convert, changed) if follows(text, traditional)]
    assert len(passed) < 0.005 * len(changed), passed


def test_neither_script_is_one_without_chinese() -> None:
    assert not holds("script", "OK!", script="traditional")


def test_numerals_are_distinguished_from_words_with_numerals() -> None:
    assert holds("numerals", "萬一落雨，一齊喺 3 號出口等，千萬唔好走", form="arabic")
    assert not holds("numerals", "3 個人食兩碗飯", form="arabic")
    assert holds("numerals", "十分好食，第二個食 3 碗", form="arabic")
    assert not holds("numerals", "3 個人等咗二十分鐘", form="arabic")
    assert holds(
        "numerals", "1. 二十蚊\n2. 三百蚊", form="chinese"
    )  # the list has digits
    assert not holds("numerals", "２０ 蚊", form="chinese")
    assert not holds("numerals", "冇數字", form="chinese")


def test_a_chinese_number_is_several_numerals_or_one_before_a_measure() -> None:
    for number in (
        *(
            "三天",
            "九折",
            "百元",
            "二十",
            "三百蚊",
            "十五號",
            "兩個",
            "七點",
            "一九九七",
            "百分之五",
        ),
        *("十分鐘", "四人", "八成", "萬元", "兩三次", "十二", "廿蚊", "六公里", "五度"),
    ):
        assert not holds("numerals", f"3 日後有{number}。", form="arabic"), number
        assert holds("numerals", f"有{number}。", form="chinese"), number
    for word in (
        *(
            "一齊",
            "統一",
            "變化萬千",
            "萬一",
            "千萬唔好",
            "第三日",
            "十分",
            "七上八落",
            "四川",
            "九龍",
        ),
        *(
            "三文治",
            "一個",
            "三心兩意",
            "五花八門",
            "第十二屆",
            "千層糕",
            "百度",
            "七七八八",
            "八達通",
        ),
    ):
        assert holds("numerals", f"3 日後{word}。", form="arabic"), word
    for word in ("一齊", "統一", "變化萬千", "萬一"):
        assert not holds("numerals", f"我哋{word}。", form="chinese"), word


def test_invisible_and_alike_characters_are_read_as_what_they_look_like() -> None:
    for text in ("投\u200b訴", "投\u2060訴", "投\u00ad訴", "投\ufeff訴", "投\u202d訴"):
        assert not holds("avoids", text, words=["投訴"]), text
    assert not holds("avoids", "落⾬", words=["雨"])
    assert not holds("avoids", "用 \u0410I 寫", words=["AI"])  # a Cyrillic А
    for text in ("𝐡𝐞𝐥𝐥𝐨", "ｈｅｌｌｏ", "ⓗⓔⓛⓛⓞ", "ℎ𝑒𝑙𝑙𝑜", "he\u200bllo"):
        assert not holds("avoids", text, words=["hello"]), text
        assert holds("latin_words", text, exactly=1), text
        assert holds("characters", text, counting="units", exactly=1), text
    assert holds("avoids", "投\n訴", words=["投訴"])
    assert holds("uses_all", "AI 同茶", words=["ＡＩ", "⾬"]) == holds(
        "uses_all", "雨", words=["AI"]
    )
    assert holds("only_jyutping", "nei⁵ hou²")
    assert holds("emoji", "👨‍👩‍👧 ① 🏴󠁧󠁢󠁥󠁮󠁧󠁿", exactly=2)  # joiners and tags of emoji stay
    assert holds("numbered_items", "① 一\n② 二", exactly=2)
    assert holds("punctuation_width", "好，買！", width="full")
    assert not holds("punctuation_width", "好，買！", width="half")
    with_marks = [{"name": "avoids", "args": {"words": ["投訴"]}}]
    assert constraint_reward(["投\u200b訴", "讚"], [with_marks] * 2) == [0.0, 1.0]


def test_code_mixing_is_in_a_sentence() -> None:
    assert holds("code_mixed_sentences", "Hello. 早晨。", exactly=0)
    assert holds("latin_words", "Ａ餐", exactly=1)
    assert holds("latin_words", "３個", exactly=0)


# Traps: sound -------------------------------------------------------------------------------------


def test_a_word_is_latin_if_all_its_letters_look_latin() -> None:
    for text, words in [
        ("俄文「Спасибо」即係多謝", 0),  # п and и are only Cyrillic
        ("希臘文 Ευχαριστώ 都係", 0),
        ("用 \u0421\u041e\u0420 寫", 1),  # reads as COP
        ("個 w\u043erd 混咗", 1),
    ]:
        assert holds("latin_words", text, exactly=words), text
    assert holds("letters", "Спасибо", letter="c", exactly=0)
    assert holds("latin_percent", "Спасибо", exactly=0)


def test_a_character_of_several_readings_fits_with_any() -> None:
    for end in ("teng1", "ting1"):  # 聽 rhymes with 頸 geng2, and with 星 sing1
        assert holds("rhyme", "我聽\n" + {"teng1": "條頸", "ting1": "星星"}[end])
    assert holds("tones", "女", pattern="5")
    assert holds("tones", "女", pattern="2")
    assert not holds("tones", "女", pattern="1")


def test_lines_without_chinese_characters_are_no_couplet() -> None:
    assert holds("equal_lines", "春眠不覺曉\n處處聞啼鳥")
    assert not holds("equal_lines", "good morning\ngood night")


def test_an_entering_tone_is_oblique_though_it_is_tone_one() -> None:
    assert holds("tones", "一七八", pattern="仄仄仄")  # jat1 cat1 baat3
    assert not holds("tones", "一", pattern="平")
    assert holds("tones", "天人", pattern="平平")  # tin1 jan4


def test_particles_are_those_of_hong_kong() -> None:
    for particle in "添先㖭噶㖞嚹啦㗎喎":
        assert holds("final_particles", f"我食咗飯{particle}！"), particle
    assert not holds("final_particles", "我食咗飯。")


def test_a_character_rhymes_in_any_of_its_readings() -> None:
    assert holds("rhyme", "去行\n好撐")  # haang4 (also hang4, hong4), caang1
    assert holds("rhyme", "銀行\n江旁")  # hong4, pong4


def test_a_rhyme_has_nucleus_and_coda_and_another_character() -> None:
    assert not holds("rhyme", "山\n三")  # saan1, saam1
    assert not holds("rhyme", "新\n山")  # san1, saan1
    assert not holds("rhyme", "好呀\n係呀\n真呀")
    assert holds("rhyme", "說話要大聲\n唔好咁夜瞓醒\n天青", scheme="A-A")
    with pytest.raises(ValueError, match=r"scheme has to match .*; it takes scheme"):
        Constraint("rhyme", {"scheme": "ABC"})


def test_simplified_characters_are_read_too() -> None:
    assert holds("tones", "广东话", pattern="212")  # gwong2 dung1 waa2


# Declaring ----------------------------------------------------------------------------------------


def test_a_constraint_that_no_answer_could_follow_is_refused() -> None:
    for name, args, says in [
        ("charcters", {}, "no constraint is named 'charcters'; give characters"),
        (3, {}, "no constraint is named 3"),
        ([], {}, r"no constraint is named \[\]"),
        ("lines", {1: 2}, "constraint 'lines': "),
        (
            "lines",
            {"min": 1},
            "unknown key min; it takes exactly, about, or at_least and at_most",
        ),
        ("lines", {}, "no bound is given"),
        ("lines", {"exactly": 1.5}, r"exactly is a number \(1.5\), not a whole number"),
        ("lines", {"exactly": True}, r"exactly is true or false \(true\)"),
        ("lines", {"exactly": "1"}, "exactly is a text"),
        ("lines", {"exactly": 0}, r"exactly has to be at least 1 \(it is 0\)"),
        ("lines", {"at_least": 3, "at_most": 2}, "at_least 3 is more than at_most 2"),
        ("lines", {"exactly": 2, "at_most": 2}, "exactly goes with no other bound"),
        ("emoji", {"at_least": 0}, "at_least 0 is followed by every answer"),
        (
            "avoids",
            {"words": "的"},
            r'words is a text \("的"\), not a list; it takes words \(list of texts\)',
        ),
        ("avoids", {"words": []}, "words has to have at least 1 entries"),
        ("avoids", {"words": [" "]}, "words no. 1 has to match"),
        ("avoids", {}, "it lacks words"),
        ("script", {"script": "hant"}, "script cannot be 'hant'"),
        (
            "different_words",
            {"words": ["茶"], "exactly": 2},
            "2 different words of 1 are",
        ),
        ("word_in_sentence", {"word": "茶", "sentence": 0}, "0 does not exist"),
        ("tones", {"pattern": "7"}, "pattern has to match"),
        ("acrostic", {"text": "AB"}, "text has to match"),
        ("quoted", [], "args is \\[\\]; give a mapping"),
    ]:
        with pytest.raises(ValueError, match=says):
            Constraint(name, args)


def test_a_cell_that_is_none_is_not_given() -> None:
    given = Constraint(
        "lines", {"exactly": np.int64(2), "at_least": None, "word": None}
    )
    assert given == Constraint("lines", {"exactly": 2})
    assert Constraint("avoids", {"words": np.array(["的"])}).args == {"words": ["的"]}


def test_rows_that_are_no_constraints_are_refused() -> None:
    for rows, says in [
        ("[", "truncated; give a list of one or more"),
        ("{}", "it is an object, not a list; give a list of one or more"),
        ([], "at least 1 entries; give a list of one or more"),
        (
            ["lines"],
            r"no. 1 is a text, not an object; give a list of one or more mappings with name and args",
        ),
        ([{"name": "quoted", "exactly": 1}], "no. 1 has an unknown key exactly"),
        ([{"args": {}}], "no. 1 lacks name"),
    ]:
        with pytest.raises(ValueError, match=says):
            read_constraints(rows)


# Strict and loose ---------------------------------------------------------------------------------

TWO_LINES = Constraint("lines", {"exactly": 2})


def test_loose_is_without_the_first_the_last_or_both_lines() -> None:
    for response, is_loose in [
        ("一\n二\n三", True),  # without the first or the last line
        ("一\n二\n三\n四", True),  # without both
        ("一\n二\n三\n四\n五", False),
        ("一", False),
    ]:
        assert not follows(response, TWO_LINES), response
        assert follows_loosely(response, TWO_LINES) == is_loose, response


def test_loose_is_without_asterisks_too_and_in_every_combination() -> None:
    asked = Constraint("characters", {"counting": "all", "exactly": 2})
    for response in (
        "**好呀**",
        "答：\n**好呀**",
        "**好呀**\n多謝晒",
        "答：\n**好呀**\n多謝晒",
    ):
        assert not follows(response, asked)
        assert follows_loosely(response, asked)
    assert not follows_loosely("答：\n好呀！\n多謝晒", asked)


def test_the_four_figures_are_those_of_ifeval() -> None:
    # Strictly one of three prompts and three of five instructions; loosely two and four.
    results = [
        Followed((True, True), (True, True)),
        Followed((True, False), (True, False)),
        Followed((False,), (True,)),
    ]
    assert pool_constraints(results) == pytest.approx(
        {
            "prompt_level_strict_acc": 1 / 3,
            "inst_level_strict_acc": 3 / 5,
            "prompt_level_loose_acc": 2 / 3,
            "inst_level_loose_acc": 4 / 5,
        }
    )
    with pytest.raises(ValueError, match="no results to pool"):
        pool_constraints([])
    with pytest.raises(ValueError, match="no constraints"):
        check_constraints("好", [])


# As a reward --------------------------------------------------------------------------------------

ASKED = [
    {"name": "lines", "args": {"exactly": 1}},
    {"name": "avoids", "args": {"words": ["的"]}},
]


def test_a_reward_is_the_share_of_constraints_followed() -> None:
    texts = ["好", "的", "好\n的", "", "<think>的\n</think>好"]
    assert constraint_reward(texts, [ASKED] * 5) == [1.0, 0.5, 0.0, 0.0, 1.0]
    assert constraint_reward(["好\n的"], [ASKED], loose=True) == [1.0]
    assert constraint_reward(["好", "好"], [None, ASKED]) == [None, 1.0]
    messages = [[{"role": "assistant", "content": "的"}]]
    assert constraint_reward(messages, [json.dumps(ASKED)]) == [0.5]
    assert constraint_reward(pd.Series(["好"]), pd.Series([np.array(ASKED)])) == [1.0]


def test_an_error_of_a_reward_names_the_row() -> None:
    with pytest.raises(
        ValueError,
        match=r"constraint_reward, row 1: no\. 1: no constraint is named 'line'",
    ):
        constraint_reward(["好", "好"], [ASKED, [{"name": "line"}]])
    with pytest.raises(
        ValueError, match=r"constraint_reward, row 0: .* give a list of one or"
    ):
        constraint_reward(["好"], [[]])


def test_a_keyword_alone_earns_unless_the_reward_is_multiplied() -> None:
    asked = [[{"name": "uses_all", "args": {"words": ["叮叮"]}}]] * 2
    texts = ["叮叮", "我哋搭叮叮去中環啦。"]
    assert constraint_reward(texts, asked) == [1.0, 1.0]
    both = pickle.loads(
        pickle.dumps(multiply_rewards(constraint_reward, cantonese_reward))
    )
    assert both(texts, constraints=asked) == [0.0, 1.0]


def test_a_constraint_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(TWO_LINES)) == TWO_LINES


# IFEval's files -----------------------------------------------------------------------------------

# Rows in the form of IFEval's input_data.jsonl: an answer that follows each instruction, and one
# that does not.
INSTRUCTIONS: list[tuple[str, dict[str, Any], str, str]] = [
    ("keywords:existence", {"keywords": ["tram"]}, "The tram.", "The bus."),
    ("keywords:frequency", {"keyword": "tram", "frequency": 2, "relation": "at least"},
     "Tram, tram.", "Tram."),
    ("keywords:frequency", {"keyword": "tram", "frequency": 2, "relation": "less than"},
     "Tram.", "Tram, tram."),
    ("keywords:forbidden_words", {"forbidden_words": ["tram"]}, "The bus.", "The tram."),
    ("keywords:letter_frequency",
     {"letter": "a", "let_frequency": 3, "let_relation": "at least"}, "banana", "tram"),
    ("language:response_language", {"language": "en"}, "It is the tram.", "佢哋返咗屋企。"),
    ("language:response_language", {"language": "yue"}, "佢哋返咗屋企。", "他們回家了。"),
    ("length_constraints:number_sentences", {"num_sentences": 2, "relation": "at least"},
     "Good. Bad.", "Good."),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "A\n***\nB", "A"),
    ("length_constraints:number_words", {"num_words": 3, "relation": "less than"},
     "two words", "now three words"),
    ("length_constraints:nth_paragraph_first_word",
     {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "but"}, "A.\n\nBut no.", "A.\nBut"),
    ("detectable_content:number_placeholders", {"num_placeholders": 1}, "Dear [name]", "Dear all"),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "Hi\nP.S. Bye", "Hi"),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "* a\n* b", "* a"),
    ("detectable_format:constrained_response", {}, "My answer is yes.", "Yes."),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 1}, "**a**", "a"),
    ("detectable_format:multiple_sections",
     {"section_spliter": "Section", "num_sections": 2}, "Section 1\nSection 2", "Section 1"),
    ("detectable_format:json_format", {}, '{"a": 1}', "a: 1"),
    ("detectable_format:title", {}, "<<Poem>>\nwords", "Poem\nwords"),
    ("combination:two_responses", {}, "a\n******\nb", "a"),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Say hi."}, "Say hi. Hi.", "Hi."),
    ("startend:end_checker", {"end_phrase": "Any questions?"}, "Bye. Any questions?", "Bye."),
    ("startend:quotation", {}, '"Hi."', "Hi."),
    ("change_case:capital_word_frequency",
     {"capital_frequency": 2, "capital_relation": "at least"}, "TWO WORDS", "ONE word"),
    ("change_case:english_capital", {}, "THE TRAM IS OLD AND SLOW.", "The tram is old and slow."),
    ("change_case:english_lowercase", {}, "the tram is old and slow.", "The tram is old and slow."),
    ("punctuation:no_comma", {}, "Well done.", "Well, done."),
    ("punctuation:no_comma", {}, "It costs 12.5 dollars.", "It costs 12,500 dollars."),
    ("punctuation:no_comma", {}, "今日好熱。", "今日，好熱。"),
]  # fmt: skip


def test_the_files_of_ifeval_load_as_they_are() -> None:
    assert len({name for name, *_ in INSTRUCTIONS}) == 25
    none = {
        "num_sentences": None,
        "relation": None,
    }  # as `datasets` fills missing arguments
    for name, given_, right, wrong in INSTRUCTIONS:
        asked = read_ifeval([name], [none | given_])
        assert all(follows(right, each) for each in asked), (name, right)
        assert not all(follows(wrong, each) for each in asked), (name, wrong)
        columns: dict[str, Any] = {
            "instruction_id_list": [[name]],
            "kwargs": [[none | given_]],
        }
        assert constraint_reward([right], **columns) == [1.0]


def test_a_number_from_a_data_frame_may_be_a_float() -> None:
    (words,) = read_ifeval(["length_constraints:number_words"], [{"num_words": 2.0}])
    assert words.args == {"at_least": 2}


def test_another_language_is_identified_by_a_library() -> None:
    german = {"language": "de"}
    assert holds("language", "Gestern war das Wetter in den Bergen schlecht.", **german)
    assert not holds("language", "Yesterday the weather was bad.", **german)


def test_without_the_library_another_language_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "py3langid", None)
    with pytest.raises(
        ValueError, match=r"'de' needs py3langid: pip install 'hkcanto\[languages\]'"
    ):
        holds("language", "Guten Morgen!", language="de")


def test_an_unknown_instruction_or_argument_is_named() -> None:
    for ids, of_each, says in [
        (
            ["keywords:exist"],
            [{}],
            "no instruction is named 'keywords:exist'; give keywords:exi",
        ),
        (
            ["keywords:existence"],
            [{}],
            "'keywords:existence': constraint 'uses_all': it lacks words",
        ),
        (
            ["keywords:existence"],
            [{"keywords": []}],
            "'keywords:existence': constraint 'uses_all'",
        ),
        (
            ["language:response_language"],
            [{"language": "french"}],
            "the instruction 'language:response_language': constraint 'language': language has to match",
        ),
        (
            ["length_constraints:number_sentences"],
            [{"num_sentences": 2, "relation": "at most"}],
            "the relation is 'at most'; give 'at least' or 'less than'",
        ),
        (["startend:quotation"], [], "1 instructions have 0 kwargs"),
        ([], [], "0 instructions"),
    ]:
        with pytest.raises(ValueError, match=re.escape(says)):
            read_ifeval(ids, of_each)


def test_about_is_a_tenth_more_or_less() -> None:
    for n, fits in ((17, False), (18, True), (22, True), (23, False)):
        assert holds("characters", "茶" * n, about=20) == fits, n
    assert not holds("characters", "茶" * 6, about=5)
    with pytest.raises(ValueError, match="about goes with no other bound"):
        Constraint("characters", {"about": 5, "at_most": 9})


def test_traps_of_words_at_places() -> None:
    assert holds("distinct", "一去二三里，煙村四五家", unit="characters")
    assert not holds("distinct", "今日今日", unit="words")
    assert not holds("distinct", "- 山頂\n## 一\n- 山頂", unit="items")
    assert holds("distinct", "上晝\n- 山頂\n上晝\n- 中環", unit="items")
    assert not holds("each_sentence_starts_with", "我瞓。食。", words=["我"])
    assert not holds("ends_as_it_begins", "茶")  # it does not overlap
    assert holds("ends_as_it_begins", "Tea 好飲，要 tea!")
    assert not holds("word_at", "我聽日好攰", word="今日", place=2)
    assert not holds("word_at", "今", word="今日", place=-1)
    with pytest.raises(ValueError, match="0 does not exist"):
        Constraint("word_at", {"word": "茶", "place": 0})


def test_traps_of_data_formats() -> None:
    bomb = '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
    assert not holds("data_format", bomb, form="xml")
    assert not holds("data_format", "以下係：\n<a/>", form="xml")
    assert not holds("data_format", "就係咁。", form="yaml")
    assert not holds("data_format", "a,b\n1,2,3", form="csv")
    assert not holds("data_format", "一行,而已", form="csv")
    assert holds("data_format", 'a,b\n"1,2",3', form="csv")
    assert not holds("data_format", "菜\n魚", form="csv")
    assert not holds("data_format", 'a,b\n"1"2,3', form="csv")
    assert not holds("data_format", 'a,"b\nc"', form="csv")  # one row on two lines
    assert not holds("json_depth", "{" * 9, exactly=9)
    assert holds("json_depth", '{"a": {}, "b": [[1]]}', exactly=3)


def test_traps_of_lists_and_marks() -> None:
    assert not holds("only_list", "- 魚\n\n以上")
    assert not holds("only_list", "**魚**")
    assert holds("sub_items", "1. 甲\n   - 乙\n2. 丙", exactly=1)
    assert holds("sub_items", "- 甲\n- 乙", exactly=0)
    assert not holds("bullet_items", "• 魚\n• 菜", mark="-", exactly=2)
    assert not holds("quotations", "“好”「好」", marks="「」", exactly=2)
    assert not holds("placeholders", "[名]【日】", marks="【】", exactly=2)
    assert not holds("paragraphs", "一\n二", blank_lines=True, exactly=2)
    assert not holds("parts", "早晨***你好", mark="***", own_line=True, exactly=2)


def test_traps_of_letters_and_signs() -> None:
    assert holds("letters", "Ａ同a", letter="a", exactly=2)
    assert not holds("letter_case", "你好", case="lower")
    assert holds("capital_words", "MTR, Mtr, A", exactly=2)
    assert holds("latin_percent", "全部中文", exactly=0)
    assert holds("hashtags", "好飲！#coffee#tea", exactly=2)
    assert holds("bold", "用 snake__case__name", exactly=0)


def test_an_end_phrase_with_a_mark_may_have_marks_after_it() -> None:
    phrase = "Any other questions?"
    for answer in (f"好。{phrase}🙏", f"**{phrase}**", f"「{phrase}」", f"{phrase}！"):
        assert holds("ends_with", answer, text=phrase), answer
        assert holds("each_line_ends_with", answer, text=phrase), answer
    assert not holds("ends_with", "Any other questions", text=phrase)
    assert holds("starts_with", "**「早晨」**", text="「早晨」")
    assert holds("each_sentence_ends_with", "食啦！瞓啦！🙏", words=["啦！"])
    assert not holds("each_sentence_ends_with", "食啦！瞓啦。", words=["啦！"])


def test_ifeval_counts_single_asterisks_as_highlights() -> None:
    (highlights,) = read_ifeval(
        ["detectable_format:number_highlighted_sections"], [{"num_highlights": 3}]
    )
    assert follows("好*重要*，**必看**，***記住***", highlights)
    assert not follows("* 一\n* 二\n* *三*\n2 * 3 * 4，`*四*`，**五**", highlights)


def test_the_question_mark_of_an_address_asks_nothing() -> None:
    answer = "睇 https://example.org/a?q=1&page=2 就得。"
    assert VERIFIERS["sentences"].function(answer) == 1
    assert holds("sentences", "好?係?", exactly=2)


def test_keycaps_and_dots_mark_items_and_accents_may_be_decomposed() -> None:
    assert holds("numbered_items", "1️⃣ 魚\n2️⃣ 菜\n3\u20e3 肉", exactly=3)
    assert holds("bullet_items", "・魚\n･菜", exactly=2)
    assert holds("occurrences", "飲 cafe\u0301", word="caf\u00e9", exactly=1)
    assert holds("latin_words", "un cafe\u0301", exactly=2)


def test_rare_readings_do_not_rhyme() -> None:
    """心 is san1 in 2 of 896 words, and 地 is di4 in 2 of 876."""
    assert not holds("rhyme", "開心\n好人")
    assert not holds("rhyme", "土地\n我哋\n先知")
    assert holds("rhyme", "開心\n黃金")


def test_loosely_blank_lines_around_a_response_are_no_lines_of_it() -> None:
    assert follows_loosely("\n一\n二\n三\n四\n", TWO_LINES)
    assert not follows_loosely("\n一\n二\n三\n四\n五\n", TWO_LINES)


def test_loosely_the_first_line_may_go_alone_and_so_may_the_last() -> None:
    begins = Constraint("starts_with", {"text": "乙"})
    ends = Constraint("ends_with", {"text": "甲"})
    assert follows_loosely("甲\n乙", begins)
    assert follows_loosely("甲\n乙", ends)
    assert not follows_loosely("甲\n丙\n乙", begins)
    assert not follows_loosely("甲\n丙\n乙", ends)
