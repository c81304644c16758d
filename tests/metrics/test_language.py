"""The language of texts and of models' reasoning.

`reasoning_traces.jsonl`: traces written and labelled for these tests.
"""

import json
from collections import Counter
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from hkcanto_metrics.language import Language, identify_language, score_reasoning
from hkcanto_tasks.catalogue import find_benchmark
from hkcanto_tasks.figures import LANGUAGES

from .test_reasoning import WRAPPINGS

TRACES = [
    json.loads(line)
    for line in Path(__file__)
    .with_name("reasoning_traces.jsonl")
    .read_text("utf-8")
    .splitlines()
]
CANTONESE = "佢問緊邊個城市有電車，我諗應該係香港。"  # 17 Chinese characters
ENGLISH = "They ask which of the cities has trams, and we think that it is Hong Kong."  # 16 words
WRITTEN = "這是他們的問題。"  # 7 Chinese characters


def test_98_percent_of_the_traces_are_told() -> None:
    wrong = [
        each
        for each in TRACES
        if identify_language(each["trace"]).language != each["language"]
    ]
    assert len(wrong) <= 0.02 * len(TRACES), wrong


def test_the_traces_are_in_every_language() -> None:
    counts = Counter(trace["language"] for trace in TRACES)
    assert counts.keys() == set(LANGUAGES) == set(get_args(Language))
    assert min(counts.values()) >= 9


def test_texts_of_others() -> None:
    """The sample translations that ship in the package, Cantonese and Simplified Mandarin."""
    for reads in ["input", "output"]:
        folder = Path(find_benchmark("hkmmlu").home, "sample/translation")
        for name, languages in (
            ("can2man", {"input": "cantonese", "output": "simplified_mandarin"}),
            ("man2can", {"input": "simplified_mandarin", "output": "cantonese"}),
        ):
            lines = (folder / f"{name}.jsonl").read_text("utf-8").splitlines()
            texts = [msgspec.json.decode(line)[reads] for line in lines]
            found = [identify_language(text).language for text in texts]
            assert found.count(languages[reads]) >= len(texts) - 1, reads
            assert identify_language("\n".join(texts)).language == languages[reads], (
                reads
            )


# ------------------------------------------------------------------ text that does not decide


def test_what_is_not_the_models_own_prose_does_not_decide() -> None:
    for own in [CANTONESE, ENGLISH]:
        for beside in [
            "「呢句係人哋講嘅，唔係我講嘅」",
            "“這是他們的問題，不是我們的問題”",
            '"Which of these is the one that they asked for?"',
            "> 這是他們在書裏看到的，不是我們寫的。",
            "題目：他們是在哪一天去的？請選出最合適的答案。",
            "Question: Which of the cities is the one that has the oldest trams in the world?",
            "他們是在哪一天去的？",
            "Which of them has the oldest trams in the world?",
            "A. 他們在這裏的時候\nB. 他們不在這裏的時候",
            "他們是在哪一天去的：\n(A) 這是第一天\n(B) 那是第二天\n(C) 都不是",
            "A. They are the ones that went.\nB. They are not the ones that went.",
            "```python\nif x is not None and y in (1, 2):\n    print('this is the one')\n```",
            "`for each in the_list if it is not there`",
            r"$\text{the area of this is what we have}$",
            r"\[ x = \frac{a}{b} \text{ if it is so} \]",
            "x^2 + 2x = 8",
            "nei5 hou2, gwong2 dung1 waa2",
            "lim sin(x) / x = 1",
        ]:
            expected = "cantonese" if own == CANTONESE else "english"
            assert identify_language(f"{own}\n{beside}\n{own}").language == expected, (
                own,
                beside,
            )


def test_after_a_colon_another_language_is_spoken_about() -> None:
    for own, language in [
        ("原句嘅意思係：他昨天沒有去那裏。所以我改做口語。", "cantonese"),
        (
            "The sentence means: 佢尋日冇去嗰度。 So it is about the day before.",
            "english",
        ),
        (
            "佢嘅英文係：The day before, they did not go there. 咁就改好咗。",
            "cantonese",
        ),
    ]:
        assert identify_language(own).language == language, (own, language)


def test_quotations_count_where_there_is_nothing_else() -> None:
    assert identify_language(f"「{CANTONESE}」").language == "cantonese"
    assert identify_language("佢哋去咗邊？").language == "cantonese"


def test_no_prose() -> None:
    for text in ["", " \n", "B", "(A) 7", "x = 2 → B", "nei5 hou2", "答：B", "🙂"]:
        found = identify_language(text)
        assert (found.language, found.shares) == ("none", {}), text


# ------------------------------------------------------------------ shares, scripts, features


def test_a_sentence_is_in_the_language_of_its_grammar() -> None:
    for text, language in [
        ("呢個 function 嘅 output 係 None。", "cantonese"),
        ("我哋 check 咗個 email 先 confirm 個 booking。", "cantonese"),
        ("這個 function 的 output 是 None。", "written_chinese"),
        ("这个 function 的 output 是 None。", "simplified_mandarin"),
        ("The word 唔該 is what you say when they help you.", "english"),
    ]:
        assert identify_language(text).language == language, (text, language)


def test_as_many_features_of_cantonese_as_of_written_chinese_are_cantonese() -> None:
    assert identify_language("我哋很開心。").language == "cantonese"


@pytest.mark.parametrize(
    "text",
    [
        "Gestern war das Wetter in den Bergen so schlecht wie noch nie.",
        "Hom nay troi mua nen chung toi khong di choi duoc.",
        "Vandaag is het weer in de bergen mooi en warm.",
        "gam jat tin hei hou jit, ngo dei heoi jau seoi",
        "qwer tyui asdf ghjk zxcv bnm",
    ],
)
def test_latin_letters_without_english_words_are_not_english(text: str) -> None:
    assert identify_language(text).language == "other"


def test_a_name_alone_is_not_in_another_language() -> None:
    assert identify_language("Victoria Peak").language == "english"


def test_a_language_has_85_percent_or_the_text_is_mixed() -> None:
    """17 characters of Cantonese and 3 of Written Chinese are 85 %; 16 and 3 are less."""
    found = identify_language(f"{CANTONESE}\n這是的")
    assert found.shares == {
        "cantonese": pytest.approx(0.85),
        "written_chinese": pytest.approx(0.15),
    }
    assert found.language == "cantonese"
    assert (
        identify_language(f"{CANTONESE.replace('我', '')}\n這是的").language == "mixed"
    )


def test_a_word_of_english_counts_as_one_and_a_half_characters() -> None:
    """16 words and 17 characters: 24 of 41."""
    shares = identify_language(f"{ENGLISH}\n{CANTONESE}").shares
    assert shares == {
        "english": pytest.approx(24 / 41),
        "cantonese": pytest.approx(17 / 41),
    }


def test_what_tells_neither_goes_with_its_neighbours() -> None:
    neutral = "首任行政長官上任於一九九七年。"
    assert identify_language(f"{CANTONESE}{neutral}").shares == {"cantonese": 1.0}
    assert identify_language(f"{WRITTEN}{neutral}").shares == {"written_chinese": 1.0}
    assert identify_language(neutral).language == "written_chinese"


def test_scripts() -> None:
    for text, language, script in [
        ("佢哋話呢個選項唔啱。", "cantonese", "hant"),
        ("佢哋话呢个选项唔啱，应该系第二个。", "cantonese", "hans"),
        ("这个选项不对，应该选第二个。", "simplified_mandarin", "hans"),
        ("這個選項不對，應該選第二個。", "written_chinese", "hant"),
        (
            "這個選項不對，應該選第二個。這個說法不對。这个选项不对，应该选第二个。",
            "mixed",
            "mixed",
        ),
        (ENGLISH, "english", "none"),
        ("それは学校の問題ですから、答えはわかりません。", "other", "none"),
    ]:
        found = identify_language(text)
        assert (found.language, found.script) == (language, script), (
            text,
            language,
            script,
        )


def test_the_share_of_features_and_the_length() -> None:
    """Cantonese 佢, 哋, 嘅; Written Chinese 的; 8 characters other than spaces."""
    found = identify_language("佢哋嘅書 的封面。")
    assert (found.cantonese_share, found.n_characters) == (0.75, 8)


# ------------------------------------------------------------------ reasoning


def test_reasoning_in_every_wrapping() -> None:
    for wrapping in WRAPPINGS:
        opening, closing = WRAPPINGS[wrapping]
        found = score_reasoning(f"{opening}{CANTONESE}{closing}The answer is B.")
        assert (found.language, found.cantonese, found.finished) == (
            "cantonese",
            1.0,
            1.0,
        ), wrapping
        assert (found.script, found.n_characters) == ("hant", len(CANTONESE)), wrapping


def test_reasoning() -> None:
    for response, finished, cantonese in [
        (f"<think>{CANTONESE}", 0.0, 1.0),
        (f"<think>{ENGLISH}</think>{CANTONESE}", 1.0, 0.0),
        ("<think>x = 2</think>B", 1.0, 0.0),
        ("<think>\n\n</think>B", None, None),
        (CANTONESE, None, None),
        ("", None, None),
    ]:
        found = score_reasoning(response)
        assert (found.finished, found.cantonese) == (finished, cantonese), (
            response,
            finished,
            cantonese,
        )


def test_reasoning_in_a_field_of_its_own() -> None:
    for response, finished in [("B", 1.0), (" ", 0.0)]:
        found = score_reasoning(response, CANTONESE)
        assert (found.language, found.finished) == ("cantonese", finished), (
            response,
            finished,
        )


# ------------------------------------------------------------------ questions, other varieties


def test_questions_count_where_nothing_else_shows_the_language() -> None:
    for text in (
        "你食咗飯未？一齊去飲茶啦！",
        "點解佢成日遲到嘅？",
        "今晚食咩好？火鍋或者薄餅。",
        "幾多錢呀？十蚊。",
    ):
        assert identify_language(text).language == "cantonese", text
    assert identify_language("為什麼他們還沒來？等一下。").language == "written_chinese"


def test_other_varieties_of_chinese_are_other_languages() -> None:
    for text in (
        "侬今朝到啥地方去白相？",  # Wu
        "𠊎今晡日愛轉屋下食飯。",  # Hakka
        "阮兜佇台南，逐家攏真好客。",  # Southern Min
        "吾日三省吾身，不亦說乎？",  # Classical Chinese
    ):
        assert identify_language(text).language == "other", text


def test_a_word_that_another_variety_has_too_does_not_decide() -> None:
    for text in (
        "佢姓阮，喺伊利沙伯醫院做嘢。",
        "心不在焉嘅，佢唔知聽緊乜。",
        "於是乎我哋走咗。",
    ):
        assert identify_language(text).language == "cantonese", text


@pytest.mark.parametrize(
    "text",
    [
        "ngo ting yat heui hoi wui, nei lai m lai",
        "dou ze saai nei bong ngo do maai fan lei",
        "wo ming tian yao qu xue xiao shang ke, me too ke yi",
        "do you, so me: nei hou ngo dou hou",
    ],
)
def test_romanised_chinese_is_not_english(text: str) -> None:
    assert identify_language(text).language == "other"


@pytest.mark.parametrize(
    "code",
    [
        "while (x > 0 && y < 10) { x -= 1; y += 2; }",
        "git add . && git commit -m 'update it' && git push for us",
        "SELECT id FROM users WHERE age > 18 AND city = 'HK' ORDER BY id;",
        '{"name": "tram", "for": ["all", "of", "us"], "is": true}',
        "class Point:\n    def at(self):\n        return self.x if self.x is not None else self.y",
    ],
)
def test_code_is_not_prose(code: str) -> None:
    assert identify_language(code).language == "none"
    assert identify_language(f"{code}\n佢哋返咗屋企。").language == "cantonese"


@pytest.mark.parametrize(
    "text",
    [
        "We can go to bed now if you like.",
        "He put it in a box and took it far away.",
        "The answer is B because 3 + 4 = 7.",
        "So the first option is right, thus \\\\boxed{B}",
    ],
)
def test_short_words_and_formulas_do_not_hide_english(text: str) -> None:
    assert identify_language(text).language == "english"


def test_what_a_browser_does_not_show_is_not_prose() -> None:
    for hidden in (
        "<!-- 佢哋返咗屋企，仲未食飯。 -->",
        "<div hidden>佢哋返咗屋企，仲未食飯。</div>",
        '<p style="display: none">佢哋返咗屋企，仲未食飯。</p>',
    ):
        text = f"{hidden}The library closes at six on public holidays."
        assert identify_language(text).language == "english", text


def test_a_word_may_begin_with_a_digit() -> None:
    assert identify_language("收費5蚊。").language == "cantonese"
