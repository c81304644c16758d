"""Hand-written responses to "choose all that apply", labelled by careful reading."""

import json
from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hkcanto_metrics.choice import extract_choice_set, read_choice_set

LETTERS = "ABCDE"
ISLANDS = dict(zip(LETTERS, ["長洲", "旺角", "南丫島", "坪洲", "沙田"], strict=True))
CASES = [
    json.loads(line)
    for line in Path(__file__)
    .with_name("choice_set_cases.jsonl")
    .open(encoding="utf-8")
]


def test_a_response_is_read_as_a_careful_reader_reads_it_or_not_at_all() -> None:
    right, misread = 0, []
    for case in CASES:
        options = dict(zip(LETTERS, case["options"], strict=False))
        found = extract_choice_set(case["response"], options)
        right += found == case["read"]
        if found not in (case["read"], None):
            misread.append(case["response"])
    assert len(misread) <= 3
    assert right >= 0.75 * len(CASES)


SOME = st.sets(st.sampled_from(LETTERS), min_size=1, max_size=4).map(sorted)
FORMS = {
    "options": lambda chosen: f"I'd go with options {' & '.join(chosen)}.",
    "ampersands": lambda chosen: f"I'd choose {' & '.join(chosen)}.",
    "bare": lambda chosen: "".join(chosen),
    "commas": ", ".join,
    "stated": lambda chosen: f"答案：{'、'.join(chosen)}",
    "stated in English": lambda chosen: f"The answer is {' and '.join(chosen)}.",
    "bold": lambda chosen: f"**{', '.join(chosen)}**",
    "boxed": lambda chosen: f"\\boxed{{{','.join(chosen)}}}",
    "with a reason": lambda chosen: f"我揀{'同'.join(chosen)}，因為佢哋都係島。",
    "with texts": lambda chosen: (
        f"答案：{'、'.join(f'{x}. {ISLANDS[x]}' for x in chosen)}"
    ),
    "texts": lambda chosen: "、".join(ISLANDS[x] for x in chosen),
    "a list": lambda chosen: (
        "答案：\n" + "\n".join(f"- {x}. {ISLANDS[x]}" for x in chosen)
    ),
    "one by one": lambda chosen: "".join(
        f"{x}. {ISLANDS[x]}：{'啱 ✓' if x in chosen else '錯 ✗'}\n" for x in LETTERS
    ),
    "JSON": json.dumps,
    "after thinking": lambda chosen: f"<think>A定E好呢？</think>{'、'.join(chosen)}",
    "all but": lambda chosen: (
        "除咗" + "同".join(sorted({*LETTERS} - {*chosen})) + "之外都係島。"
    ),
}


@pytest.mark.parametrize("form", FORMS)
@given(chosen=SOME)
@settings(max_examples=30, deadline=None)
def test_any_set_is_read_in_every_form(form: str, chosen: list[str]) -> None:
    assert extract_choice_set(FORMS[form](chosen), ISLANDS) == "".join(chosen)


def test_no_decision_is_never_a_set() -> None:
    for response in [
        "A或者C",
        "A or C",
        "A定C呢？",
        "應該係A同B，亦可能係C。",
        "唔太清楚，可能係A又可能係D。",
        "以上皆非。",
        "冇一個啱。",
        "唔係個個都啱。",
        "<think>A、C",
        "F",
        "",
        "……",
    ]:
        reading = read_choice_set(response, ISLANDS)
        assert reading.letters is None
        assert reading.reason.startswith("none: ")


def test_an_option_that_says_all_of_the_above_is_that_option() -> None:
    options = {"A": "長洲", "B": "坪洲", "C": "以上皆是"}
    assert extract_choice_set("以上皆是", options) == "C"
    assert extract_choice_set("C. 以上皆是", options) == "C"


@given(st.text(alphabet="ABCDEK，、。同唔係除咗都全部啱錯or and\n:()✓✗", max_size=80))
@settings(max_examples=300, deadline=None)
def test_whatever_is_read_is_of_the_options_and_in_order(text: str) -> None:
    letters = extract_choice_set(text, ISLANDS)
    assert letters is None or (
        letters and [*letters] == sorted({*letters} & {*LETTERS})
    )


def test_long_responses_are_read_in_time() -> None:
    for piece in ["A、", "A,,,", "除咗A", "全部", "A. 長洲\n", "(", "all except "]:
        begun = perf_counter()
        read_choice_set(piece * 20_000 + "x", ISLANDS)
        assert perf_counter() - begun < 3


def test_exceptions_are_left_out() -> None:
    for response, letters in [
        ("B、D 以外都啱。", "ACE"),
        ("D 之外全部啱。", "ABCE"),
        ("除B外，其餘皆正確。", "ACDE"),
        ("撇除 B 之後全部都啱。", "ACDE"),
        ("B 和 D 除外。", "ACE"),
        ("Everything except B and D.", "ACE"),
        ("Only B is wrong.", "ACDE"),
        ("A and C. B is in Kowloon, D is small.", "AC"),
        ("除咗 A 之外，C 都啱。", None),  # besides A, or all but A?
    ]:
        assert extract_choice_set(response, ISLANDS) == letters


def test_small_letters_are_letters_where_there_are_no_capital_ones() -> None:
    for response, letters in [
        ("It is a nice day.", None),
    ]:
        assert extract_choice_set(response, ISLANDS) == letters


def test_a_set_that_is_corrected_or_not_settled_is_unread() -> None:
    options = {"A": "貓", "B": "狗", "C": "魚", "D": "牛"}
    for text in (
        "答案：B、C\n\n再睇清楚，D 都要計。",
        "Nothing else applies apart from A.",
        "請選出所有正確答案。",
    ):
        assert extract_choice_set(text, options) is None, text
    assert extract_choice_set("魚沒有腳。除咗 C 之外全部都啱。", options) == "ABD"
    assert extract_choice_set("A、B 同 D 都啱，C 唔啱。", options) == "ABD"


def test_what_is_called_wrong_or_merely_named_is_not_in_a_set() -> None:
    stations = {"A": "太子", "B": "油麻地", "C": "樂富", "D": "金鐘"}
    assert extract_choice_set("首先要睇下邊幾個站有多過一條綫，太子", stations) is None
    text = "**Correct:** A (太子) and D (金鐘)\n\n**Incorrect:** B (油麻地), C (樂富)"
    assert extract_choice_set(text, stations) in ("AD", None)
    islands = {"A": "橋咀洲", "B": "東平洲", "C": "太平山", "D": "荔枝窩"}
    assert extract_choice_set("橋咀洲同東平洲係，荔枝窩淨係條村，唔計。", islands) in (
        "AB",
        None,
    )


def test_a_list_ends_before_a_remark_on_another_option_or_a_wish() -> None:
    paper = {"A": "報紙", "B": "用過嘅紙巾", "C": "雜誌", "D": "辦公室紙"}
    text = "答案係A、C同D；用過嘅紙巾(B)有污漬，唔可以回收。"
    assert extract_choice_set(text, paper) == "ACD"
    assert (
        extract_choice_set(
            "### 答案\n- **A**\n- **B**\n- **D**\n\n如有不適，請求醫。", paper
        )
        == "ABD"
    )


def test_what_the_rest_is_and_what_is_not_sure() -> None:
    islands = dict(zip("ABCD", ["長洲", "南丫島", "旺角", "坪洲"], strict=True))
    for response, letters in [
        ("四個選項入面得旺角唔係島，所以揀晒其餘三個。", "ABD"),
        ("B is a fish and D is a bird, so the remaining three are the answer.", None),
        ("A 同 B 啱，D 就唔太肯定。", None),
        ("Not all of the options apply: D does not.", None),
    ]:
        assert extract_choice_set(response, islands) == letters, response


SOME_ANIMALS = ["lion", "tiger", "whale", "penguin"]
VALUES = ["1", "2", "3", "4"]
STEMS = ["甲", "乙", "丙", "丁"]


@pytest.mark.parametrize(
    ("response", "options", "question", "letters"),
    [
        # A range in words; a dash may also join two.
        ("B–D", SOME_ANIMALS, "", None),
        ("I changed my answer from A to C.", SOME_ANIMALS, "", None),
        ("The middle two.", VALUES[:3], "", None),
        # Texts with articles, particles or no blank around them.
        ("The lion, the tiger and the whale.", SOME_ANIMALS, "", "ABC"),
        ("獅子、老虎同鯨魚都係。", ["獅子", "老虎", "鯨魚", "企鵝"], "", "ABC"),
        ("甲、丙正確。", STEMS, "", "AC"),
        ("A甲、B乙都係天干。", STEMS, "", None),
        # Below a heading that denies, or in the sentence after an enumeration.
        ("唔好揀：B、D。揀：A、C。", SOME_ANIMALS, "", "AC"),
        ("唔識飛嘅係 B 同 C。", SOME_ANIMALS, "邊啲識飛？", None),
        ("AC, because B flies and D swims.", SOME_ANIMALS, "Which run?", "AC"),
        ("A and B are right. At first I also considered C.", SOME_ANIMALS, "", "AB"),
        # What the question asks for is restated.
        ("唔啱嘅係 B 同 D。", SOME_ANIMALS, "邊啲唔啱？", "BD"),
        # All, and solutions of an equation.
        ("Every option is correct.", SOME_ANIMALS, "", "ABCD"),
        ("Not every option is correct.", SOME_ANIMALS, "", None),
        ("1 or 2", VALUES, "", None),
    ],
)
def test_ranges_headings_and_texts(
    response: str, options: list[str], question: str, letters: str | None
) -> None:
    shown = dict(zip("ABCD", options, strict=False))
    assert extract_choice_set(response, shown, question) == letters


FERRY = {"A": "大嶼山", "B": "南丫島", "C": "長洲", "D": "坪洲"}
PIERS = {"A": "Lantau", "B": "Lamma", "C": "Cheung Chau", "D": "Peng Chau"}


@pytest.mark.parametrize(
    ("options", "response", "letters"),
    [
        # The rest, by a count or as what is kept.
        (FERRY, "B 唔係。其餘三個保留。", "ACD"),
        # A verdict or a check box for each text.
        (PIERS, "- [x] Lantau\n- [ ] Lamma\n- [x] Cheung Chau\n- [ ] Peng Chau", "AC"),
        (FERRY, "☑ 大嶼山\n☐ 南丫島\n☑ 長洲\n☐ 坪洲", "AC"),
        (PIERS, "Lantau: yes. Lamma: no. Cheung Chau: yes. Peng Chau: never.", "AC"),
        # A correction, and a remark on the order.
        (FERRY, "漏咗坪洲，應該係 A、C、D 先齊。", "ACD"),
        (FERRY, "C、A（次序不拘）。B 係半島。", "AC"),
    ],
)
def test_the_rest_and_each_verdict_are_read(
    options: dict[str, str], response: str, letters: str
) -> None:
    question = "Which of these have at least one beach?"
    assert extract_choice_set(response, options, question) == letters


WORDS = {"A": "beginning", "B": "untill", "C": "weird", "D": "wich"}


@pytest.mark.parametrize(
    ("response", "letters"),
    [
        ("Selected: (none). Choices: A, B, C and D.", None),
        ("No response given. The options were A, B and C.", None),
        ("選項：A、C", "AC"),
        ("AB啱嗎？唔啱。咁CD呢？都唔啱。", None),
    ],
)
def test_options_that_are_shown_asked_about_or_left(
    response: str, letters: str | None
) -> None:
    assert extract_choice_set(response, WORDS) == letters
