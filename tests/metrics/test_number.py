"""The number that a response gives as its final answer."""

import inspect
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hkcanto_metrics import number_closings
from hkcanto_metrics.number import (
    equal_numbers,
    extract_number,
    parse_number,
    read_number,
)
from hkcanto_metrics.number_closings import CLOSING_RULES
from hkcanto_metrics.number_rules import NUMBER_RULES
from hkcanto_metrics.reasoning import split_reasoning

from .test_reasoning import assert_quick


def test_notations() -> None:
    for written, value in [
        ("3 又 1/2", "7/2"),
        ("18", "18"),
        ("18.", "18"),
        ("3.5", "3.5"),
        (".5", "1/2"),
        ("１８", "18"),
        ("３．５", "3.5"),
        ("1,200", "1200"),
        ("1,234,567.5", "1234567.5"),
        ("１，２００", "1200"),
        ("1 200", "1200"),
        ("1\u00a0200", "1200"),
        ("1\u202f200", "1200"),
        (r"1{,}200", "1200"),
        (r"1\,200", "1200"),
        ("$18", "18"),
        ("HK$1,200.50", "1200.5"),
        ("$1.45 million", "1450000"),
        ("-3", "-3"),
        ("−3 度", "-3"),
        ("–3", "-3"),
        ("－3", "-3"),
        ("-$5", "-5"),
        ("負3", "-3"),
        ("负十", "-10"),
        ("minus 3", "-3"),
        ("negative 3", "-3"),
        ("1/2", "1/2"),
        ("１／２", "1/2"),
        ("1 1/2", "3/2"),
        ("1 / 2", "1/2"),
        (r"\frac{1}{2}", "1/2"),
        (r"\dfrac{3}{4}", "3/4"),
        (r"\tfrac{3}{4}", "3/4"),
        ("½", "1/2"),
        ("2½", "5/2"),
        ("⅓", "1/3"),
        ("⅔", "2/3"),
        ("¼", "1/4"),
        ("1¾", "7/4"),
        ("¾", "3/4"),
        ("2⅕", "11/5"),
        ("⅚", "5/6"),
        ("3⅞", "31/8"),
        ("⅒", "1/10"),
        ("三分之二", "2/3"),
        ("5分之2", "2/5"),
        ("四分三", "3/4"),
        ("一又二分之一", "3/2"),
        ("半", "1/2"),
        ("一半", "1/2"),
        ("三個半", "7/2"),
        ("三年半", "7/2"),
        ("三日半", "7/2"),
        ("三天半", "7/2"),
        ("三元半", "7/2"),
        ("三蚊半", "7/2"),
        ("40%", "40"),
        ("４０％", "40"),
        (r"40\%", "40"),
        ("百分之四十", "40"),
        ("十二", "12"),
        ("二十", "20"),
        ("廿三", "23"),
        ("卅", "30"),
        ("兩百五十", "250"),
        ("两百五十", "250"),
        ("一百五", "150"),
        ("一百零五", "105"),
        ("一百〇五", "105"),
        ("一千二百三十", "1230"),
        ("一千零五十", "1050"),
        ("三萬五", "35000"),
        ("三萬兩千", "32000"),
        ("十二萬三千", "123000"),
        ("兩億", "200000000"),
        ("一萬億", "1000000000000"),
        ("3萬5千", "35000"),
        ("3 萬 5 千", "35000"),
        ("1.2 萬", "12000"),
        ("3千克", "3"),
        ("3 千米", "3"),
        ("3万", "30000"),
        ("5百", "500"),
        ("5千", "5000"),
        ("2十", "20"),
        ("1.5億", "150000000"),
        ("2萬3500", "23500"),
        ("二〇二四", "2024"),
        ("三點一四", "3.14"),
        ("九八七六五四三二一零", "9876543210"),
        ("三點九八七六五四三二一零", "3.987654321"),
    ]:
        assert extract_number(f"答案：{written}") == Fraction(value)


def test_chinese_digits() -> None:
    for value, digit in list(enumerate("零一二三四五六七八九")):
        assert extract_number(f"答案：{digit}") == value


def test_a_part_of_a_number_is_no_number() -> None:
    for written in [
        "三 萬 五 千",
        "1,5",
        "3.5.2",
        "3K",
        "3兆",
        "8 成",
        "5 呎 3 吋",
        "3至5",
        "3~5",
    ]:
        assert read_number(f"答案係 {written}").value is None, written


def test_a_unit_may_follow() -> None:
    for unit in ["蚊", "元", " dollars", "個", " 分鐘", "km", " km", "歲", "磅"]:
        reading = read_number(f"18{unit}")
        assert (reading.value, reading.reason, reading.evidence) == (18, "bare", (0, 2))


DECORATED = r"""
**18** *18* `18` _18_ ~18~ $18$ ¥18 £18 €18 (18) （18） 「18」 『18』 【18】 “18” "18" '18'
\(18\) \[18\] \text{18} \mathbf{18} 18\,元 18。 18! 18. 18%
"""


def test_decoration_is_not_read() -> None:
    for text in [*DECORATED.split(), r"18\ 元", r"18\; 元", "約 18 個"]:
        reading = read_number(f"{text}\n其中 5 個係紅色。")
        assert (reading.value, reading.reason) == (18, "bare")


def test_evidence_is_the_place_of_the_number_in_the_given_text() -> None:
    text = "１６－３－４＝９，\n**#### １，２００ 蚊**"
    reading = read_number(text)
    assert reading.evidence is not None
    assert text[slice(*reading.evidence)] == "１，２００"


def test_evidence_in_a_long_text() -> None:
    text = "佢逐日計。" * 5000 + "#### 18"
    reading = read_number(text)
    assert (reading.value, reading.evidence) == (18, (len(text) - 2, len(text)))


def test_marked() -> None:
    for text, value in [
        ("佢賺 9*2=18 蚊。####18", 18),
        ("佢賺 9*2=18 蚊。\n\n#### 18 蚊", 18),
        ("####\n18", 18),
        ("#### $18。多謝！", 18),
        ("#### 9*2=18", 18),
        ("#### 18####", 18),
        ("#### 18\n多謝你問我呢一條咁有趣嘅問題。佢有 5 個。", 18),
        ("#### 18。多謝你問我呢一條咁有趣嘅問題。佢有 5 個。", 18),
        ("#### 18 dollars. Thank you for asking. She has 5.", 18),
        ("#### 18 (of the several apples mentioned). She has 5.", 18),
        ("#### 18, as has been shown above. She has 5.", 18),
        ("#### 18! That was easy enough. She has 5.", 18),
        ("#### 18？\n其實係 5 個。", None),  # 18 or 5 could be it
        ("#### 十八蚊", 18),
        # a heading, not an announcement
        ("#### 18 個人分 9 個餅：\n每人有 9 ÷ 18 = 0.5 個。", Fraction(1, 2)),
        ("#### 3 個步驟：\n所以每人有 9 個。", 9),
        ("#### 1. 計總數\n3 + 4 = 7\n#### 2. 乘以 2\n7 × 2 = 14。", 14),
        ("#### 步驟一：計總數\n3 + 4 = 7。", 7),
        ("#### 所以佢有 18 個。", 18),
        ("#### 60 - 40 = 20 個\n\n#### 20 / 2 = 10 個\n\n#### 所以朝早賣 10 個。", 10),
        ("#### 佢每盒有 20 個。所以兩盒有 40 個。", 40),
        ("#### 4 年後佢 18 歲。", 18),
        ("####\n兩年前佢有 20 個。佢有幾多個？\n####", None),
        ("#### 3. 一盒有幾多個？", None),
        ("#### 3. 25 個", 25),
        # an expression with an unknown has no value, unless an equals sign follows
        ("####x - 48", None),
        ("####x -48", None),
        ("####48 - x", None),
        ("####2x+3", None),
        ("#### 3x = 75", 75),
        ("#### x - 48 = 12，即係 x = 60", 60),
        ("#### 60 km/h", 60),
        (r"\boxed{2\pi}", None),
        (r"\boxed{\sqrt{2}}", None),
        (r"\boxed{\sqrt{16} = 4}", 4),
        ("#### 一瓶半", Fraction(3, 2)),
        ("#### 兩公斤半", Fraction(5, 2)),
        ("#### 12 隻半年大嘅貓", 12),
        ("#### 零下 5 度", -5),
        ("💰 **HK$150.00**\n\n計法：200 × 0.8 − 10", 150),
        ("答案就係袋數乘以每袋嘅重量。\n\n✅ 佢有 **25** 個。", 25),
    ]:
        assert extract_number(text) == value


def test_what_the_question_gives_is_less_likely_the_result() -> None:
    for result in [
        "所以佢要買 18 盒先可以食 30 日。",
        "所以佢要 18 個人先可以整 30 個。",
        "所以佢用 18 蚊來買 30 個餅。",
        "所以佢要 18 隻才能生三十隻蛋。",
        "所以 30 日嘅費用係 18 蚊，每日 5 次。",
        "36 ÷ 2 = 18\n所以要 18 袋，餵 4 匹馬食 5 日。",
        "#### 30 日總共有 18 隻。",
        "答案：30 日有 18 隻。",
        "要幾多盒就係 36 ÷ 2 = 18 盒。",
        "36 ÷ 2 = 18。分畀兩個人，18 - 13 = 5 個。".partition("。")[0],
    ]:
        question = "佢有 4 匹馬，每日食 5 次，要食 30 日。要幾多盒？"
        assert extract_number(f"佢逐步計。\n{result}", question) == 18


def test_what_the_question_gives_may_be_the_result() -> None:
    for result in ["所以要 30 盒。", "#### 30", "答案係 30 盒，即係 5 打。", "30"]:
        assert (
            extract_number(f"佢逐步計。\n{result}", "佢買 30 盒，送 5 盒，再買 5 盒。")
            == 30
        )


def test_the_result_among_other_numbers() -> None:
    for result in [
        "所以佢每個月俾 18.00 蚊（約 20 蚊）。",
        "36 ÷ 2 = 18。所以有 18 隻，每籠 3 隻。",
        "33（紅色）+ 99（藍色）= 132，所以佢有 18 個。",
        "佢要 18 個鐘（36 ÷ 2 = 18 = 9 × 2）。",
        "所以佢有 18 個，食咗幾多唔知，剩返十多個。".partition("，")[0],
        "佢嘅體積係 6 × 3 = 18 吋^3。",
        "6 × 3 = 18 個，佢食咗六千多個。",
    ]:
        assert extract_number(f"佢逐步計。\n{result}") == 18


def test_an_empty_mark_leaves_the_last_result() -> None:
    reading = read_number("佢每日食 3 隻。所以佢賺 18 蚊。####")
    assert (reading.value, reading.reason) == (18, "last result")


def test_boxed() -> None:
    for text in [
        r"\boxed{18}",
        r"$$\boxed{18}$$",
        r"\boxed{18\text{ 元}}",
        r"\fbox{18}",
        r"佢賺 \boxed{9 \times 2 = 18} 蚊，三日後就有 54 蚊。",
    ]:
        reading = read_number(f"佢有 5 個朋友。{text}")
        assert (reading.value, reading.reason) == (18, "boxed")


def test_stated() -> None:
    for text in [
        "答案係 18。",
        "答案係18個，因為 9×2=18，而 18÷2=9。",
        "答案就係 18，跟住佢有 5 個。",
        "答案即是 18，跟住佢有 5 個。",
        "答案應該是 18，佢有 5 個。",
        "答案为 18，其中 5 個係紅色。",
        "答案是 18，其中 5 個係紅色。",
        "答案約 18，其中 5 個係紅色。",
        "答案係大約 18，其中 5 個係紅色。",
        "答案係百分之18，其中百分之 5 係紅色。",
        "答案係（18），其中 5 個係紅色。",
        "答案 ≈ 18，其中 5 個係紅色。",
        r"答案 \approx 18，其中 5 個係紅色。",
        "7 × 2 = 14\nAnswer: 18",
        "答案＝18，其中 5 個係紅色。",
        "答案＞ 18，其中 5 個係紅色。",
        "答案 = 18，其中 5 個係紅色。",
        "答案 → 18，其中 5 個係紅色。",
        "答案 -> 18，其中 5 個係紅色。",
        "答案 - 18，其中 5 個係紅色。",
        "答案：Mary 應該焗 18 盤。",
        "答案係 16 + 2 = 18。",
        "答案：一年後會有 18 隻。",
        "答案：三個禮拜後，佢高 18 吋。",
        "答：3 個盒嘅價錢係 $12+$6=$18。",
        "答：佢有 18 個。",
        "計完喇。答：佢有 18 個。",
        "計完喇\n答：佢有 18 個。",
        "答案：\n\n18",
        "答案：\n佢有 3 隻狗。\n每隻食 6 碗，所以要 18 碗。\n\n多謝 5 位。",
        "The answer is 18, because 9 of the 20 are left.",
        "The answer is about 18, as 5 are left.",
        "Answer: 18",
        "ANSWER: 18",
        "I asked 5 friends.\nFinal answer: she has 18 apples.",
    ]:
        reading = read_number(text)
        assert (reading.value, reading.reason) == (18, "stated")


def test_last_result() -> None:
    for text in [
        "所以總共係 18 個。",
        "因此佢要 18 蚊。",
        "佢每日食 3 隻，所以淨返 18 隻",
        "9 × 2 = 18",
        "16 - 7 = 9\n9 * 2 = 18",
        "= 18",
        "首先有 16 隻。\n每隻 9 / 0.5 = 18。希望幫到你！",
        "佢賺 18 蚊。希望幫到你😊",
        "佢賺 18 蚊。咁就計完。祝你有一個愉快嘅一天！",
        r"\[ 36 \div 2 = 18 \]",
        r"$36 \cdot 0.5 = 18$",
        r"佢有 $5$ 個朋友，共 \(2 \times 9 = 18\) 個。",
        "She has 5 friends. So she needs 18 cakes.",
        "1. 佢有 5 個。\n2. 所以佢有 18 個。",
        "佢有幾個。\n3) 佢共有十八個，即係 18 個。",
        "佢有 18 個。\n5. 佢好開心。",
        "佢有 18 個。\n**5.** 佢好開心。",
        "佢有 18 個。\n## 5. 佢好開心。",
        "佢有 18 個。\n(5) 佢好開心。",
        "佢有 18 個。\n5) **佢好開心。**",
        "佢有 18 個。\n5、佢好開心。",
        "個個都有。\n佢哋一齊有 18 個。",
    ]:
        assert extract_number(text) == 18


def test_chinese_numerals_count_in_a_conclusion() -> None:
    for conclusion in [
        "所以佢有",
        "因此有",
        "總共有",
        "一共有",
        "So ",
        "Thus ",
        "Hence ",
        "Therefore ",
    ]:
        assert extract_number(f"佢逐個計。{conclusion}十八個。") == 18
        assert extract_number("佢逐個計。祝你有十八個朋友。") is None


def test_a_conclusion_leaves_the_expression_before_it() -> None:
    for conclusion in ["所以", "因此", "so", "thus", "hence", "therefore"]:
        assert extract_number(f"9 ÷ 3 = 3，{conclusion} 18 個。") == 18


def test_an_announcement_reaches_to_the_end_of_its_sentence() -> None:
    for end in ["。", "！", "？", "!", "?", "；", ";", "\n", ". "]:
        for claim in ["答案唔難計", "答案唔係 3.5 蚊"]:
            assert extract_number(f"{claim}{end}佢有 5 個。\n總之係 18 個。") == 18


def test_signs_of_numbers() -> None:
    assert extract_number("3.5 個\n佢食咗 5 個。") == Fraction(7, 2)
    assert extract_number("所以溫度係-3度。") == -3
    assert extract_number("所以温度是-3度。") == -3
    assert extract_number("所以溫度為-3度。") == -3
    assert extract_number("答案：華氏-3度。") == -3


def test_idioms_with_one_are_not_numbers() -> None:
    for idiom in ["齊", "共", "定", "樣", "起", "直", "种", "些", "步"]:
        assert extract_number(f"答案係佢哋一{idiom}去。") is None


def test_no_number() -> None:
    for text in [
        "答案係第 3。",
        "佢喺第 3 日。",
        "步驟 3 啱。",
        "Step 3 is right.",
        "佢喺3號。",
        "She is 3rd in line.",
        "She is 1st in line.",
        "She is 2nd in line.",
        "She is 4th in line.",
        "答案係 x2 同 y。",
        "答案係 3:4。",
        "答案係 18-20。",
        "答案係 9 乘以 2。",
        "答案係 18 除以 9。",
        "答案係六千多蚊。",
        "答案係 9 × 2。",
        "答案係 9 * 2。",
        "答案係 13 - 4。",
        "答案係 20% × 50。",
        "答案係 5 -3。",
        "答案係 (5 + 5) -3。",
        "答案係 CEPA-3 型。",
        "答案係 150 蚊 / 5。",
        "答案係 9 × (2 + 3)。",
        "答案係 9 × -2。",
        "答案係 1/2/2024。",
        "答案係 1/2.5。",
        "答案係 9*2。",
        "答案係 9 + 2。",
        "答案係 2^9。",
        "答案係 9 ÷ 2。",
        "答案係 9 x 2。",
        "答案係 (9 + 5) / 2。",
        "答案唔係 18。",
        "答案不是 18。",
        "答案不系 18。",
        "The answer is not 18.",
        "答案係三四個。",
        "答案係 1/0。",
        "答案係 " + "1" * 50 + "。",
        "答案係咩？",
        "佢有幾多隻？",
        "佢有 5 隻狗，總共有多少隻腳。",
        "She has 5 dogs. How many legs are there.",
        "She has 5 dogs. How much is that.",
        "我唔知。",
    ]:
        reading = read_number(text)
        assert (reading.value, reading.reason, reading.evidence) == (
            None,
            "none: no number",
            None,
        )


def test_a_refusal_takes_no_earlier_number() -> None:
    for refusal in [
        "無法計算。",
        "計唔到。",
        "我唔知。",
        "我不知道。",
        "I cannot say.",
        "I can't say.",
        "I am unable.",
        "總數未知。",
        "題目沒有給出數量。",
        "我唔清楚。",
        "資料不足，計唔出。",
        "題目冇講明佢食咗幾多。",
        "佢食咗幾多，未能得知。",
        "難以確定總數。",
        "冇辦法計。",
        "需要更多資料。",
        "There is not enough information.",
        "More information is needed.",
        "請提供更多資訊。",
    ]:
        assert extract_number(f"佢有 5 隻狗。{refusal}") is None


def test_empty() -> None:
    for text in ["", " \n\t"]:
        assert read_number(text).reason == "none: empty"


def test_no_number_is_read_from_a_text_that_breaks_off() -> None:
    for text in [
        "佢有 16 隻。食咗 3 隻，所以淨返 13 隻，跟住佢",
        "佢有 16 隻，食咗 3 隻，所以淨返 13 隻，跟住佢要",
        "首先 16 - 3 = 13。\n然後 13 -",
        "首先 16 - 3 = 13。\n然後 13 ÷ 2 =",
        "首先 16 - 3 = 13。\n然後，",
        "首先 16 - 3 = 13。\n然後：",
        "佢有 13 個、",
        "首先 16 - 3 = 13。\n所以我哋要再計",
        "She has 16 eggs. She eats 3, so 13 are left, and then she",
    ]:
        reading = read_number(text)
        assert (reading.value, reading.reason) == (None, "none: cut off")


def test_a_short_text_without_a_last_full_stop_does_not_break_off() -> None:
    for text, value in [
        ("首先 16 - 3 = 13。跟住 13 - 4 = 9", 9),
        ("佢行咗 3 公里，再行 4 公里，所以係 7 公里", 7),
        ("一小時有 60 分鐘。所以係 90 分鐘", 90),
        ("He buys 3. So he has 12 apples", 12),
    ]:
        assert extract_number(text) == value
    assert read_number("佢行咗 3 公里。" * 40 + "佢行咗 4").reason == "none: cut off"


def test_a_number_that_nothing_tells_counts_only_if_it_is_the_only_new_one() -> None:
    for question, text, value in [
        ("7 日賺幾多？每日賺 300 蚊。", "每日賺 300 蚊。7 日賺 2100 蚊。", 2100),
        ("250 蚊打八折係幾多？", "250 蚊嘅八折係二百蚊。", 200),
        ("佢買 3 盒，每盒 6 個，有幾多個？", "3 盒每盒 6 個，有 18 個。", 18),
        # Several could be it: none is read.
        ("班入面女生有幾多人？", "女生有 18 人，男生有 22 人。", None),
        ("佢要俾幾多錢？", "要俾 200 蚊，慳咗 50 蚊。", None),
        ("How much does she spend?", "She spends $20, and she earns $50.", None),
        (
            "How many days?",
            "The job is worth 120 worker-days. It takes ten people twelve days.",
            None,
        ),
        ("佢幾多歲？", "佢 1998 年出世，今年 33 歲。", None),
        ("佢有幾多個？", "1. 佢有 5 個。\n2. 佢有 18 個。", None),
    ]:
        assert extract_number(text, question) == value, text


def test_a_calculation_tells_the_result_if_no_other_one_is_left_over() -> None:
    for text, value in [
        ("16 - 7 = 9\n9 * 2 = 18", 18),
        ("9 × 2 = 18，三日就有 54 個。", None),  # which of them?
        ("橙汁：3 × 200 = 600 毫升；\n水：2 × 200 = 400 毫升。", None),
        ("10 × 4 = 40\n重量大約係 10 ÷ 6 ≈ 1.67 公斤", None),
        ("2x + 4 = 30\nx = 13", 13),  # 30 is no result
        ("18 ÷ 1.5 = 12，所以係 12 段，每段 1.5 米。", 12),
        ("9 ÷ 2 = 4.5，所以叫 4.5 籠……唔係，要叫 5 籠。", None),
        ("24 ÷ 2 = 12，所以係 12 張。\n檢查：唔啱，計錯咗，24 × 2 = 48。", None),
    ]:
        assert extract_number(text) == value, text


def test_the_unit_that_is_asked_for_is_no_part_of_the_number() -> None:
    for question, text, value in [
        ("老年人有多少万人？", "老年人 = 750万 × 16% = 120万人", 120),
        ("老年人有多少人？", "老年人 = 750万 × 16% = 120万人", 1_200_000),
        (
            "A company made $7.5 million. How many dollars?",
            "So it made $9 million.",
            9_000_000,
        ),
    ]:
        assert extract_number(text, question) == value, text


def test_scientific_notation_is_one_number() -> None:
    assert [*map(extract_number, ["1.5e3", "2.5E-1", "答案係 3e2。"])] == [
        1500,
        Fraction(1, 4),
        300,
    ]


def test_a_marked_answer_counts_even_if_later_text_breaks_off() -> None:
    assert extract_number("#### 18\n\n你可以咁樣驗算：將 18 除以") == 18


def test_several_numbers_give_no_answer() -> None:
    for text in [
        "答案係 18 或 20。",
        "答案係 18 或者 20。",
        "答案係 18 個還是 20 個。",
        "答案係 18 定係 20。",
        "18 同 20",
        "18 同埋 20",
        "18 和 20",
        "18 與 20",
        "答案係 18 個、20 個。",
        "答案係 18 至 20。",
        "答案係18到20。",
        "#### 18 or 20",
        "可能係 18 個，亦可能係 20 個，視乎佢食咗邊啲。",
        "The answer is 18 apples and 20 oranges.",
        "18 to 20",
        "答案係 2 小時 30 分鐘。",
        "答案係 2 個鐘 30 分。",
        "答案係 3分2秒。",
        "It takes 2 hours, 30 minutes.",
        "It takes 2 hours 30 minutes.",
        "#### 18\n#### 20",
        "答案係 18。答案係 20。",
        r"\boxed{18} and \boxed{20}",
    ]:
        reading = read_number(text)
        assert (reading.value, reading.reason) == (None, "none: several")


def test_the_same_number_twice_is_one() -> None:
    assert extract_number("#### 18\n#### 18") == 18
    assert extract_number("答案係 0.5 或 1/2。") == Fraction(1, 2)


def test_a_revision_wins() -> None:
    for retraction in [
        "等等，",
        "唔好意思，",
        "更正：",
        "計錯咗，",
        "算錯了，",
        "唔對，",
        "不对，",
        "唔啱，",
        "Wait, ",
        "Actually, ",
        "Sorry, ",
        "Correction: ",
    ]:
        assert extract_number(f"#### 18\n{retraction}所以應該係 20 個。") == 20
        assert extract_number(f"#### 18\n{retraction}我再計過。") is None


def test_the_last_statement_wins() -> None:
    for text, value in [
        ("答案：18。再諗多一次，其實漏咗兩個，所以正確答案係 20。", 20),
        ("The answer is 18. I forgot two of them, so the final answer is 20.", 20),
        ("答案唔係 18，係 20。", 20),
    ]:
        assert extract_number(text) == value


def test_talk_after_the_answer_does_not_count() -> None:
    for talk in [
        "驗算：18 ÷ 2 = 9。",
        "檢查：18 ÷ 2 = 9。",
        "解釋：佢有 9 個，每個 2 蚊。",
        "解：佢有 9 個，每個 2 蚊。",
        "解法：佢有 9 個，每個 2 蚊。",
        "請注意：佢有 9 個，每個 2 蚊。",
        "Note: she has 9 of them.",
        "Check: 18 / 2 = 9.",
        "To check: 18 / 2 = 9.",
        "Verify: 18 / 2 = 9.",
        "Explanation: she has 9 of them.",
    ]:
        for answer in ["佢賺咗 9 × 2 = 18 蚊。", "所以佢有 18 蚊。"]:
            assert extract_number(f"{answer}\n{talk}") == 18


def test_what_only_an_explanation_says_is_not_read() -> None:
    assert extract_number("好。\n解釋：佢有 9 個，每個 2 蚊，9 × 2 = 18。") is None


def test_a_firm_answer_wins_over_what_follows() -> None:
    assert extract_number("#### 18\n\n佢每日食 3 隻，所以用咗 3 × 7 = 21 隻。") == 18
    assert extract_number("18\n\n佢每日食 3 隻，所以用咗 3 × 7 = 21 隻。") == 18


def test_no_number_is_read_from_a_question() -> None:
    assert extract_number("#### 18\n點解答案唔會係 20？") == 18


def test_the_next_question_does_not_count() -> None:
    for label in [
        "問題：",
        "题目：",
        "樣例：",
        "Question: ",
        "Question 2: ",
        "Q: ",
        "Problem 2: ",
        "User: ",
        "Human: ",
        "## 問題：",
        "<|im_start|>user ",
        "</s>",
        "請逐步思考，再答問題：",
    ]:
        assert extract_number(f"佢有 18 個。\n\n{label}佢再買 2 個。\n答案：20") == 18


def test_a_refusal_in_conclusion_takes_the_answer_back() -> None:
    for refusal in ["所以，我哋無法計算。", "因此冇辦法知道。", "So we cannot say."]:
        reading = read_number(f"答案：18 個\n\n每日食 3 隻。{refusal}")
        assert (reading.value, reading.reason) == (None, "none: no number")


def test_incidental_numbers_give_no_answer() -> None:
    for talk in [
        "希望呢個答案對你有一個幫助。",
        "呢個答案只係一個估計。",
        "答案分成兩部分。",
        "答案一樣。",
    ]:
        assert extract_number(f"所以總共有 18 個。\n{talk}") == 18


def test_one_may_be_the_answer() -> None:
    for text in ["答案係一個。", "答案：一個鐘", "答案接近一。", "#### 一"]:
        assert extract_number(text) == 1


def test_an_equation_that_is_marked_may_be_concluded_from() -> None:
    assert extract_number("#### 48 × 1.2 = 57.6\n人數係整數。\n所以有 58 個人。") == 58
    assert extract_number("#### 48 × 1.2 = 57.6") == Fraction("57.6")
    assert extract_number("#### 58\n所以每籠有 29 隻。") == 58
    text = "#### 9 × 2 = 18\n注意：每日食 3 隻，所以 7 日食 21 隻。"
    assert extract_number(text) == 18


def test_a_label_heads_all_of_its_paragraph() -> None:
    assert (
        extract_number(
            "答：佢用咗 216 蚊。每張飛要 216 ÷ 12 = 18 蚊。\n\n佢有 5 個朋友。"
        )
        == 18
    )
    assert extract_number("答：佢有 18 個。\n解釋：佢有 9 個，再買 9 個。") == 18
    assert extract_number("答案：18 個。每日食 3 個，所以食 6 日。") == 18
    assert (
        extract_number(
            "答：佢有 5 隻狗。佢有幾多隻貓？\n答：佢有 5 隻狗。佢有幾多隻貓？"
        )
        is None
    )


QUESTION = "佢有48個朋友，每人有2個橙。每個橙嘅價錢係3蚊。計算橙嘅總價錢。"


def test_a_repeated_question_gives_no_answer() -> None:
    for said in [QUESTION, f"問題：{QUESTION}", f"{QUESTION}\n####\n"]:
        assert extract_number(said, QUESTION) is None
        assert (
            extract_number(
                said.translate(str.maketrans("個總價錢計係", "个总价钱计系")), QUESTION
            )
            is None
        )
        assert extract_number(f"{said}\n佢有 96 個橙，所以係 288 蚊。", QUESTION) == 288
        prompt = f"請逐步思考。\n問題：{QUESTION}\n用粵語回答問題："
        assert extract_number(f"{said}\n{said}\n佢有48個朋友，每人有", prompt) is None


def test_an_answer_that_the_question_contains_is_one() -> None:
    assert extract_number("所以佢有48個朋友", QUESTION) == 48


def test_a_question_asked_after_the_mark_does_not_count() -> None:
    for cue in ["####", "答案："]:
        assert extract_number(f"#### 18\n\n咁賺幾多 %？\n賺 9 %。\n{cue} 9") == 18


def test_an_example_or_a_bare_question_gives_no_answer() -> None:
    assert (
        extract_number("樣例：\n問題：佢有幾多個？\n回應：有 18 個。####18\n\n樣例：\n")
        is None
    )
    assert extract_number("問題：佢有 5 隻狗，佢") is None
    assert extract_number("問題1：\n答案：\n問題2：\n答案：\n") is None


def test_the_question_may_come_first() -> None:
    assert (
        extract_number(
            "問題：佢有 5 個，每個 2 蚊，要幾多錢？\n回應：5 × 2 = 10 蚊。####10"
        )
        == 10
    )


def test_a_loop_is_read_once() -> None:
    text = "答案：\n佢要多 2 個。\n佢有 80+2=82 個。\n" * 5 + "答案：\n佢要多"
    assert extract_number(text) == 82
    assert extract_number("多謝。#### 18\n多謝。#### 18\n多謝。#### 1") == 18


def test_an_answer_cell() -> None:
    for cell, value in [
        ("18", "18"),
        (" 18\n", "18"),
        ("#### 18", "18"),
        ("佢賺 9*2=18。####18", "18"),
        ("1,200", "1200"),
        ("１，２００", "1200"),
        ("-10", "-10"),
        ("3.5", "3.5"),
        ("1/2", "1/2"),
        ("$18", "18"),
        ("40%", "40"),
    ]:
        assert parse_number(cell) == Fraction(value)


def test_cells_in_other_forms_are_not_answers() -> None:
    for cell in ["", "####", "18 個", "18 or 20", "9*2", "abc", "1/0", "18.", "1 2"]:
        assert parse_number(cell) is None


def test_equal_numbers() -> None:
    for response, answer, agree in [
        (None, "18", False),
        ("18", "18", True),
        ("18.00", "18", True),
        ("0.5", "1/2", True),
        ("18.01", "18", False),
        ("0.125", "1/8", True),
        ("0.13", "1/8", False),
        ("0.33", "1/3", True),
        ("0.333", "1/3", True),
        ("0.34", "1/3", False),
        ("0.3", "1/3", False),
        ("0.67", "2/3", True),
        ("0.66", "2/3", False),
        ("-0.67", "-2/3", True),
        ("3/10", "1/3", False),
        ("2/7", "1/3", False),
        ("0.4", "40", False),
    ]:
        value = None if response is None else Fraction(response)
        assert equal_numbers(value, Fraction(answer)) is agree


ODD_SIGNS = (
    "0129一二十百千萬億半½又分之點負.,，=+-*/^%x:# \n\t$()\\{}答案係或第。？所以等"
)
ODD_TEXT = (
    st.text()
    | st.text(ODD_SIGNS)
    | st.lists(st.sampled_from(["\\boxed{", "####", "1", " "])).map("".join)
)


@given(ODD_TEXT, ODD_TEXT)
@example(":\n\r", "")
def test_never_raises(text: str, question: str) -> None:
    reading = read_number(text, question)
    if reading.evidence:
        assert 0 <= reading.evidence[0] < reading.evidence[1] <= len(text)
    else:
        assert reading.value is None
    parse_number(text)


SIGNS = "1 萬 一 # $ * { . 1萬 答案1 ####1 1* 1/ 1= 一半 一又 ,000 所以1 1or 18。 \boxed{ \frac{1}{2}"


@pytest.mark.slow
def test_a_megabyte_is_read_at_once() -> None:
    for unit in [
        *SIGNS.split(),
        " ",
        "\n",
        "1 ",
        "等等\n1\n",
        "問題：\n",
        "答：\n",
        "驗算\n1\n",
        "(1",
    ]:
        assert_quick(lambda text: read_number(f"1{text}"), unit)
        assert_quick(lambda text: read_number(f"1{text}", text), unit)


def test_a_remark_or_another_case_is_no_result() -> None:
    for text, value in [
        ("(5 + 7) × 2 = 24 厘米。順帶一提，面積是 35 平方厘米。", 24),
        ("20 ÷ 40 = 50%。唔好用 30 做分母，嗰個係 66.7%。", 50),
        ("It was a leap year → 366 days instead of 365.", 366),
        ("48 ÷ 4 = 12\n\n所以佢今年 12 歲，媽媽大佢 30 年。", 12),
        ("因此，佢一日賺 $300。若以四日計算，共約 $1,200。", 300),
        ("題目無講佢有幾多粒，所以無法計算。如果佢有 12 粒，則剩 7 粒。", None),
        ("小華可能有 15 本，也可能有 20 本。", None),
        ("2 + 2 = 4。佢有 3 或者 4 個。", None),
        ("12 × 3 = 36。正方體的面積是 54。", None),
    ]:
        assert extract_number(text) == value, text


def test_a_duration_another_event_and_a_first_answer_are_no_results() -> None:
    asked = "In what year did Hong Kong return to China?"
    text = "It happened on 1 July 1997, after 156 years of British rule."
    assert extract_number(text, asked) == 1997
    text = "The line opened on 1 October 1979; another followed in 1982."
    assert extract_number(text, "In what year did the line open?") == 1979
    text = "First answer: 18 litres. Hmm, that's for 300 km. For 350 km it's 6 × 3.5 = 21 litres."
    assert extract_number(text, "How many litres for 350 km?") == 21
    assert (
        extract_number(
            "Roughly 7.5 million.", "How many people live there, in millions?"
        )
        == 7.5
    )
    assert (
        extract_number("Roughly 7.5 million.", "How many people live there?")
        == 7_500_000
    )
    assert extract_number("5 × 500 g = 2500 g, that is 2.5 kg.", "How many kg?") == 2.5


def test_kinds_of_statements_that_misled() -> None:
    girls = "女生有幾多人？"
    for text, question, value in [
        ("So it is 5 degrees below zero.", "What is the temperature?", -5),
        ("答案係 － 5 度", "氣溫係幾多度？", -5),
        ("答案係零度以下5度。", "氣溫係幾多度？", -5),
        ("It was 12°F below freezing.", "", None),
        ("女生佔 60%。", girls, None),
        ("答案：60%", girls, None),
        ("女生佔百分之 60。", girls, None),
        ("女生佔 60%。", "女生佔百分之幾？", 60),
        ("佢拎到 10% 折扣。", "折扣係幾多？", 10),
        ("女生 750 人（男生 500 人）", girls, 750),
        ("女生 750 人，佔 60%。", girls, 750),
        ("所以有 36 公升，即 36,000 毫升。", "可以裝幾多公升？", 36),
        ("所以女生佔六成半。", "女生佔幾多？", 65),
        ("六成半", "", None),
        ("#### 4個人\n每人 14 片\n#### 56 片\n所以 14 片", "每人食幾多片？", 14),
        ("答案：18。唔係，係 20。", "", 20),
        ("第一步：3 × 7 = 21。\n第二步：計算總數。", "", None),
        ("She eats 3 × 7 = 21 eggs.\nNext, subtract the rest.", "", None),
        ("設有 x 個，則 24 + x = 60。\n\n36 個", "有幾多個？", 36),
        ("####佢賣咗六隻狗。", "佢賣咗幾多隻狗？", 6),
        ("答案係超過 6 個鐘。", "要幾多個鐘？", None),
        ("She bought 12 apples and ate 3.", "How many apples has she left?", None),
        ("The result is 5 less than 20.", "", None),
        ("佢總共買咗 3 盒，用咗 45 蚊。", "佢總共用咗幾多錢？", 45),
        ("他用了 60 元買書，還剩一些。", "他還剩多少元？", None),
        ("He spent $60 and has some left.", "How much money is left?", None),
        ("女仔有 20 個。", "32 人有女仔，有幾多個男仔？", None),
        ("There are 300 girls.", "Of 480, 300 are girls. How many boys?", None),
        ("男仔佔 1 − 5/8 = 3/8。", "有幾多個男仔？", None),
        ("女生 65 人，男生 35 人。", "男生女生 100 人，女生有幾多人？", 65),
        (r"\boxed{\dfrac12}", "", Fraction(1, 2)),
        ("It makes 873 thousand masks.", "How many masks?", 873_000),
        ("全程 95 分鐘，即 1 小時 35 分。", "全程幾多分鐘？", 95),
        ("So she earns $40.50 by selling 54 cakes.", "How much?", 40.5),
        ("每組 18 蚊，有 4 組。\n\n埋單 54 蚊。", "要幾多錢？", 54),
        ("埋單 54 蚊。\n\n慳咗 18 蚊。", "要埋單幾多蚊？", None),
        ("每組 18 蚊，有 4 組。\n\n**總結：**\n總額 54 蚊。", "要幾多？", 54),
        ("<think>18?</think>19<|im_end|>", "", 19),
        ("So: <answer>18</answer>", "", 18),
    ]:
        assert extract_number(text, question) == value, text


def test_the_last_value_of_a_chain_is_the_result() -> None:
    for text, question, value in [
        ("5! = 5 × 4 × 3 × 2 × 1 = **120**", "What is 5 factorial?", 120),
        ("5! = 120種", "5本書有幾多種排法？", 120),
        ("4! + 1 = 24 + 1 = 25", "", 25),
        ("f(−2) = 2(−2)² − 3 = 2(4) − 3 = 8 − 3 = 5", "求 f(−2)。", 5),
        (
            "x = 10/3 = 3.3333..., which is 3.3 to one place",
            "Solve 3x = 10.",
            Fraction("3.3"),
        ),
        ("One has 6 sides, so three have 3 × 6 = 18 sides altogether.", "", 18),
        ("三個數係 21、23、25。最大嗰個係 25。", "最大的是多少？", 25),
        ("The numbers are 3, 5, 9. The largest is 9.", "What is the sum?", None),
    ]:
        assert extract_number(text, question) == value, text


def test_the_question_picks_the_quotient_or_the_remainder() -> None:
    shares = "23 ÷ 5 = 4……3，即係每人得4粒，淨返3粒。"
    for text, question, value in [
        ("365 ÷ 7 = 52 餘 1，因為 52 × 7 = 364，餘數就係1喇。", "餘數係幾多？", 1),
        ("365÷7=52……1", "365除以7的商是多少？", 52),
        ("365 ÷ 7 = 52 remainder 1", "What is the remainder?", 1),
        (shares, "每人得幾多粒？", 4),
        (shares, "會淨返幾多粒？", 3),
        ("50÷12=4……2", "要多少只船？", None),
    ]:
        assert extract_number(text, question) == value, text


def test_numbers_in_english_words() -> None:
    for text, question, value in [
        ("They need five.", "How many buses do they need?", 5),
        ("Fifteen.", "How many apples are left?", 15),
        ("So thirty-nine hours a week is what he works.", "How many hours?", 39),
        ("It needs seven and a half litres.", "How many litres?", 7.5),
        ("One thousand two hundred and five", "How many?", 1205),
        ("A hundred.", "How many?", 100),
        ("The answer is minus three.", "", -3),
        ("Three or four people.", "How many people?", None),
        ("Five million people.", "How many people?", None),
        ("There are two ways to solve this.", "How many apples?", None),
        ("Let's break it into four parts.", "How many apples?", None),
        ("One of them is left.", "How many apples are left?", None),
        ("佢今年九歲。", "佢幾歲？", 9),
        ("有三種可能。", "佢有幾多粒糖？", None),
    ]:
        assert extract_number(text, question) == value, text


def test_another_case_or_a_rebuttal_leaves_the_answer() -> None:
    price = "What's the price?"
    for text, question, value in [
        ("18 apples. Had she bought two bags, there'd be 28.", "How many apples?", 18),
        ("The bill is $690. A four-hour job would have come to $870.", price, 690),
        ("The price is $70. Some would say $100, but that ignores fees.", price, 70),
        ("Each angle is 60°. Not 90°, as is sometimes claimed.", "", 60),
        ("件衫賣$126。有人會話$120，但咁計唔啱。", "件衫幾錢？", 126),
        ("It's tempting to say $120. But 200 × 0.7 × 0.9 = 126.", price, 126),
        ("所以找返21蚊。佢俾張一百蚊紙就找返71蚊。", "找返幾多蚊？", 21),
        ("12 pages a day. She'd read 168 pages.", "How many pages in all?", 168),
        ("Some would say 20.", price, None),
        ("有人會話係20，但係錯嘅。", "剩返幾多？", None),
    ]:
        assert extract_number(text, question) == value, text


def test_the_noun_asked_for_picks_the_number() -> None:
    animals = "鸡兔同笼，有20个头，56条腿。"
    sweets = "Tom gets 24 and Amy gets 36."
    for text, question, value in [
        ("That makes 23 chickens and 12 rabbits.", "How many chickens?", 23),
        ("There are 23 chickens or 12 chickens.", "How many chickens?", None),
        ("There are 8 cats and 5 dogs.", "How many dogs are there?", 5),
        ("There are 8 cats and 5 dogs.", "How many cats and dogs?", None),
        ("兔有8只，鸡有12只。", f"{animals}问兔有多少只？", 8),
        ("兔有8只，鸡有12只。", f"{animals}问鸡有多少只？", 12),
        ("即係阿仔12歲，爸爸48歲。", "爸爸大過阿仔，阿仔幾歲？", 12),
        (sweets, "Tom and Amy share. How many does Amy get?", 36),
        (sweets, "Tom and Amy share. How much does Ben get?", None),
        (sweets, "How many do Tom and Amy get altogether?", None),
        ("男生有24人，女生有20人。", "男生比女生多几人？", None),
        ("It is 0.25 kg; in grams that's 250.", "What is it in grams?", 250),
        ("2x = 12，x = 6。检验：2×6+3=15。", "求x。", 6),
    ]:
        assert extract_number(text, question) == value, text


def test_no_crossing_of_a_body_and_a_closing_is_read_wrong() -> None:
    counts: Counter[bool] = Counter()
    path = Path(__file__).with_name("number_grid.json")
    for grid in json.loads(path.read_text("utf-8")):
        target = grid["target"] and Fraction(grid["target"])
        for body, closing in product(grid["bodies"], grid["closings"]):
            text = split_reasoning(f"{body}\n\n{closing}").answer
            value = extract_number(text, grid["question"])
            assert value in (target, None), text
            counts[value == target] += 1
    assert counts[False] <= counts.total() * 0.05


SWEETS = "小明有 24 粒糖，分俾 3 個朋友每人 5 粒，佢仲有幾多粒？"
EGGS = "Tom has 3 boxes with 12 eggs each. He breaks 4. How many eggs are left?"


@pytest.mark.parametrize(
    ("question", "response", "value"),
    [
        # What is left, where the question asks for it.
        (SWEETS, "3 個人就要 15 粒。24 粒減走 15 粒，小明手上仲有 9 粒糖。", 9),
        (SWEETS, "派走 15 粒之後，原本嗰 24 粒就剩低九粒。", 9),
        (SWEETS, "派之前有 24 粒，派完剩 9 粒，即係少咗 15 粒。", 9),
        (
            EGGS,
            "Three boxes make 36 eggs. Four of them are broken, which leaves Tom with 32.",
            32,
        ),
        (EGGS, "He will have either 30 or 32 eggs left.", None),
        # Words for the sign between two numbers; a reason before the result.
        ("How many more apples?", "45 minus 27 is 18.", 18),
        (EGGS, "I got 36. Since 4 broke, the number of eggs left is thirty-two.", 32),
        # A number in another unit than the one asked for; a time in two units.
        ("How many kilograms?", "You need 1500 grams. In kilograms, 1.5.", "1.5"),
        ("How many kilograms?", "You need 1,500 g of flour.", None),
        ("How many minutes does it take?", "It takes 2 hours and 30 minutes.", None),
        # A sum, its parts, and one part with a doubt about the other.
        ("How many points together?", "Lee scored 7, so together they scored 21.", 21),
        ("Sam scored 14. How many points together?", "Lee scored 7 and Sam 14.", None),
        (
            "How many legs?",
            "The dogs have 24 legs; I am not sure about the hens.",
            None,
        ),
        ("How many legs?", "The dogs have 24 and the hens 8, for a total of 32.", 32),
        ("現價幾多？", "加完係 120 元，減完就係 96 元。", 96),
        ("現價幾多？", "好多人會答 100，但其實係 96 元。", 96),
        ("How many centimetres is each?", "Dividing 300 cm by 5 gives 60 cm.", 60),
        # A denied number, and one given in the question with the unit asked for.
        ("How many goals did he score?", "He didn't score three.", None),
        ("How many goals?", "He didn't score three; he scored five.", 5),
        (
            "一架車每小時行 60 公里，行 90 分鐘行幾多公里？",
            "60 乘 1.5，所以行咗 90 公里。",
            90,
        ),
        # One of the numbers that the question gives, by its name.
        ("7、3、9、4、10 嘅中位數係幾多？", "中位數係9。", 9),
        ("7、3、9、4、10 嘅中位數係幾多？", "最大值係10。", None),
        ("What is the median of 3, 9 and 4?", "The median is **4**.", 4),
        (
            "What was the highest score out of 72, 91 and 65?",
            "The highest score was 91.",
            91,
        ),
        # All together, a difference, what is saved or done, where the question asks for another number.
        ("How many has Ben?", "Together they have 29.", None),
        ("How many have they together?", "Together they have 29.", 29),
        ("女生有幾多人？", "男生比女生多 4 人。", None),
        ("男生比女生多幾多人？", "男生比女生多 4 人。", 4),
        ("How much is the sale price?", "The discount is $20.", None),
        ("How much is the discount?", "The discount is $20.", 20),
        ("How many pages are left?", "He has read 120 pages.", None),
        # A total that is the sum of what comes before it.
        ("要俾幾多錢？", "兩本書係$60，加埋個袋$44，合共$104。", 104),
        ("要俾幾多錢？", "兩本書係$60，加埋個袋$44，合共$94。", None),
        ("俾 200 蚊，找返幾多錢？", "書$60，袋$44，合共$104。", None),
    ],
)
def test_a_number_is_read_in_the_relation_and_the_unit_asked_for(
    question: str, response: str, value: str | int | None
) -> None:
    expected = None if value is None else Fraction(value)
    assert extract_number(response, question) == expected


@pytest.mark.parametrize(
    ("question", "response", "value"),
    [
        # A number in another unit than the one asked for, wherever the question names it.
        ("How long is the rope in cm?", "The rope is 2.5 m long.", None),
        ("How long is the rope in cm?", "The rope is 2.5 m, so 250 cm.", 250),
        ("條繩有幾長？（厘米）", "條繩長 2.5 米。", None),
        ("桶水有幾重？以公斤計", "桶水重 900 克。", None),
        ("桶水有幾重？以公斤計", "桶水重 12 公斤。", 12),
        ("Price in dollars?", "It is 75 cents.", None),
        ("Volume of the box in cm³?", "It holds 3 L (3,000 cm³).", 3000),
        ("Area of the flat in m²?", "It is 40 m².", 40),
        ("What is the speed in km/h?", "It does 45 km/h.", 45),
        ("What time, on the 24-hour clock?", "At 4 p.m.", None),
        ("What time does it open?", "It opens at 4 p.m.", 4),
        ("有幾多人反對？（%）", "有六成人反對。", 60),
        # The question says what a minus sign means.
        ("Balance? (negative if overdrawn)", "He is overdrawn by $40.", -40),
        ("Balance? (negative if overdrawn)", "He has $40.", 40),
        ("佢仲有幾多錢？（負數表示欠錢）", "佢欠 120 蚊。", -120),
        ("How much does he owe?", "He owes $40.", 40),
        # A large number, a power, a mixed number, a tolerance.
        ("What is the debt in dollars?", "It is about $3.2 trillion.", 3.2e12),
        ("Distance in m?", "6 × 10^8 m", 6e8),
        ("What is the mass in kg?", r"$2.5\times10^{-3}$ kg", "1/400"),
        ("What is 9 ÷ 4?", r"$2\frac{1}{4}$", "9/4"),
        ("How old is the wood?", "1,600 ± 50 years", 1600),
        # What the question gives is the answer if nothing else is said of what it asks for.
        ("What's the slope of y = −3x + 4?", "The slope is -3.", -3),
        ("直線 y = 3x + 4 嘅斜率係幾多？", "斜率係 3。", 3),
        ("Tom has 16 eggs and sells 4. How many are left?", "Tom has 16 eggs.", None),
        ("What is the temperature?", "It's −5 °C.", -5),
        # None.
        ("How many goals did they score?", "None. Nobody came.", 0),
        ("剩返幾多粒糖？", "一粒都冇。", 0),
        ("佢講咗咩？", "一個都冇講。", None),
        ("How many apples are left?", "Zero", 0),
        # A remark in brackets, a label and what a word names.
        ("How many pens were left?", "There were 7 left. (10 minus 3.)", 7),
        ("What's the difference in goals?", "Reds 12, Blues 5, difference 7.", 7),
        ("相差幾多分？", "紅隊 12 分，藍隊 5 分，相差 7 分。", 7),
        ("How many apples are there?", "Tom has 3. Ann has 4.", None),
    ],
)
def test_units_signs_and_forms_that_the_question_settles(
    question: str, response: str, value: str | float | None
) -> None:
    expected = None if value is None else Fraction(value)
    assert extract_number(response, question) == expected


SHOP = "阿敏買咗 3 打雞蛋，每打 12 隻，煮咗 6 隻，仲有幾多隻？"


@pytest.mark.parametrize(
    ("question", "response", "value"),
    [
        # The response repeats the question first.
        (
            SHOP,
            f"問題：{SHOP}\n\n解：\n3 × 12 = 36 隻。\n36 − 6 = 30 隻。\n所以仲有 30 隻。",
            30,
        ),
        (SHOP, f"{SHOP}\n首先，3 × 12 = 36。\n所以仲有 36 − 6 = 30 隻。", 30),
        (
            SHOP,
            f"問題：{SHOP.replace('雞蛋', '蛋')}\n解法：36 − 6 = 30。所以仲有 30 隻。",
            30,
        ),
        (SHOP, "阿敏買咗 3 打雞蛋，每打 12 隻，煮咗 6 隻，仲有 30 隻。", 30),
        (SHOP, f"問題：{SHOP}\n", None),
        # Another question.
        (
            SHOP,
            "問題：阿明有 8 枝筆，送咗 2 枝，仲有幾多枝？\n答：8 − 2 = 6 枝。",
            None,
        ),
        # A number of the question announces a whole sentence, or is the first of a sum.
        (
            "每組 200 人，3 組共幾多人？",
            "#### 3 組，每組 200 人，所以總共有 600 人。",
            600,
        ),
        (
            "Tom has 52 pens and buys 28. How many?",
            "Answer: Tom has 52 pens. So he has 80.",
            80,
        ),
        ("一星期幾多杯？", "最終答案：20 杯/週（平日）+ 4 杯/週（週末）= 24 杯/週", 24),
        # Labels with an equals sign, or in one line.
        ("How many hens are there?", "Hens = 7\nGoats = 5\n", 7),
        ("What is the smaller number?", "Smaller: 12. Larger: 18.", 12),
        ("阿芳幾多歲？", "阿明：3 × 4 = 12\n阿芳：5 × 4 = 20\n\n兩個相差 8 歲。", 20),
        # What is wrong, more, or said by the way.
        (
            "How long, in minutes?",
            "The obvious answer is 90 minutes, but that's wrong.",
            None,
        ),
        (
            "What is its volume?",
            "Its volume is 80 litres, so it takes 20 litres more.",
            None,
        ),
        ("How much is it?", "It comes to $50, which, by the way, is about £5.", 50),
        (
            "幾多間？",
            "60 + 80 = 140。如果計埋星期日就有 180 間，不過題目只問兩日，所以係 140 間。",
            140,
        ),
        # A place in an order, where the question asks for one.
        ("小螞蟻第幾日爬到上去？", "頭 4 日爬到 4 米，所以係第 5 日。", 5),
        ("小螞蟻爬咗幾多米？", "第 5 日爬到上去，所以爬咗 7 米。", 7),
        # The result is what was taken away, too.
        (
            "有 30 份，食咗 15 份，仲有幾多份？",
            "食咗 15 份，所以仲有 30 − 15 = 15 份。",
            15,
        ),
        # The unit of a rate.
        ("行幾遠？", "距離 = 50公里/小時 × 4小時 = 200公里", 200),
        ("總重量係幾多？", "總重量係四百廿四磅。", 424),
        ("How many minutes?", "It takes 80 minutes, i.e. 1 hour 20 minutes.", 80),
    ],
)
def test_what_comes_before_or_beside_the_result_is_no_rival(
    question: str, response: str, value: int | None
) -> None:
    assert extract_number(response, question) == value


def examples(rule: Callable[..., object]) -> Iterator[tuple[str, str, Fraction | None]]:
    """The question, the response and the answer of each example of a rule."""
    _, _, lines = (inspect.getdoc(rule) or "").partition("Examples:\n")
    for line in lines.splitlines():
        example = re.fullmatch(r" +(?:\(([^)]*[？?])\) )?(.*) → (.+)", line)
        assert example
        question, response, answer = example.groups()
        value = None if answer == "none" else Fraction(answer)
        yield question or "", response.replace("⏎", "\n"), value


@pytest.mark.parametrize("rule", NUMBER_RULES, ids=lambda rule: rule.__name__)
def test_half_width_marks_are_read_as_full_width_ones(
    rule: Callable[..., object],
) -> None:
    half_width = str.maketrans("，、。：；！？（）「」", ',,.:;!?()""')
    for question, text, answer in examples(rule):
        asked = question.translate(half_width)
        assert extract_number(text.translate(half_width), asked) == answer


@pytest.mark.parametrize("rule", NUMBER_RULES, ids=lambda rule: rule.__name__)
def test_a_rule_reads_its_examples(
    rule: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def values() -> list[Fraction | None]:
        return [extract_number(text, question) for question, text, _ in examples(rule)]

    expected = [answer for _, _, answer in examples(rule)]
    assert expected
    assert values() == expected
    if rule in CLOSING_RULES:  # and no other rule does
        others = tuple(other for other in CLOSING_RULES if other is not rule)
        monkeypatch.setattr(number_closings, "CLOSING_RULES", others)
        assert values() != expected


@pytest.mark.parametrize(
    ("question", "response", "number"),
    [
        # A label in brackets names what is asked for.
        ("爸爸歲數係個仔嘅 4 倍，個仔幾歲？", "【個仔】10\n【爸爸】40", 10),
        ("爸爸歲數係個仔嘅 4 倍，爸爸幾歲？", "【爸爸】40\n【個仔】10", 40),
        # One share in several forms.
        ("What is the probability of red?", "P = 1/4 = 0.25 = 25%", Fraction(1, 4)),
        ("抽到紅波嘅機率係幾多？", "機率 = 2/8 = 0.25 = 25%。", Fraction(1, 4)),
        ("抽到紅波嘅機率係百分之幾？", "2/8 = 0.25 = 25%。", 25),
        ("What percent is red?", "2/8 = 1/4 = 25%", 25),
        # A response that puts several questions to itself.
        ("Divide 17 by 5: what remains?", "Q: Quotient?\nA: 3\nQ: Rest?\nA: 2", None),
        ("17 除以 5 嘅商係幾多？", "問：商？\n答：3\n問：餘數？\n答：2", None),
    ],
)
def test_labels_in_brackets_shares_and_own_questions(
    question: str, response: str, number: Fraction | int | None
) -> None:
    assert extract_number(response, question) == number
