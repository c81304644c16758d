"""What models say around a translation is taken off, crossed with what they translate."""

import pytest

from hkcanto_metrics import clean_output

TRANSLATIONS = [
    (
        "Remember to close the windows before you go home, because it may rain tonight.",
        "yue",
        "返屋企之前記得閂窗，因為今晚可能會落雨。",
    ),
    ("See you tomorrow.", "yue", "聽日見。"),
    (
        "我哋琴晚喺旺角食完飯先至返屋企。",
        "en",
        "We went home last night only after having dinner in Mong Kok.",
    ),
]
PREAMBLES = [
    "",
    "冇問題！",
    "收到！",
    "當然可以！",
    "好的！",
    "Certainly!",
    "Of course!",
    "Sure thing! I'd be happy to help.",
    "沒問題，翻譯如下：",
    "呢句可以咁講：",
    "Here is my translation of the sentence:",
    "You could say:",
]
TAILS = [
    "",
    "如果想要第二個語氣嘅版本，隨時同我講！",
    "仲有咩可以幫到你？",
    "歡迎繼續發問。",
    "Feel free to ask if you'd like a more casual version!",
    "Please let me know if you need further help.",
    "Is there anything else I can help you with?",
    "以上翻譯採用咗口語化嘅表達方式。",
    "This version sounds natural to Hong Kong speakers.",
    "**備註：**此句採用口語。",
    "**用詞解釋**\n1. 閂：關\n2. 窗：窗戶",
    "*(Note: this is colloquial.)*",
    "Key vocabulary:\n* 琴晚 – last night\n* 旺角 – Mong Kok",
]


@pytest.mark.parametrize(("source", "language", "translation"), TRANSLATIONS)
def test_the_frame_is_taken_off(source: str, language: str, translation: str) -> None:
    for preamble in PREAMBLES:
        for form in ["{}", "**{}**", "「{}」"]:
            for tail in TAILS:
                parts = [preamble, form.format(translation), tail]
                text = "\n\n".join(filter(None, parts))
                cleaned = clean_output(text, source=source, language=language)
                assert cleaned.text == translation, text


def test_what_the_source_says_itself_stays() -> None:
    for source, translation in [
        ("Sure!\nSee you there.", "好呀！\n到時見。"),
        ("He fell ill.\nLet me know if he calls.", "佢病咗。\n如果佢打嚟就話我知。"),
        ("Thank you!", "唔該！"),
        ("OK!", "好！"),
        (
            "If you come, I will be happy.\nI will cook.",
            "如果你嚟，我會好開心。\n我會煮飯。",
        ),
    ]:
        cleaned = clean_output(translation, source=source, language="yue")
        assert cleaned.text == translation, source


def test_a_loop_of_marks_is_cleaned() -> None:
    assert clean_output("* " * 5_000 + "好").removed
