"""What is removed around a translation, and that no style gains by it."""

import json
import os
from pathlib import Path
from time import perf_counter

import pytest

from hkcanto_metrics.cleaning import clean_output
from hkcanto_metrics.script import to_simplified
from hkcanto_metrics.translation import score_translation

STYLES = {
    "Cantonese": "佢今日唔得閒，聽日先至嚟。",
    "Cantonese, Simplified": "佢今日唔得闲，听日先至嚟。",
    "Written Chinese": "他今天沒有空，明天才來。",
    "Mandarin": "他今天没有空，明天才来。",
    "English": "He isn't free today; he'll come tomorrow.",
}
WRAPPINGS = {
    "{}": (),
    "  {}\n\n": (),
    "<think>嗯…… well</think>\n{}": ("reasoning",),
    "```\n{}\n```": ("code fence",),
    "```text\n{}\n```": ("code fence",),
    "```\n{}": ("code fence",),
    "譯文：{}": ("label",),
    "译文：\n{}": ("label",),
    "翻譯結果：{}": ("label",),
    "**翻译**：{}": ("label",),
    "**Translation:** {}": ("label",),
    "Cantonese: {}": ("label",),
    "Mandarin translation: {}": ("label",),
    "廣東話：{}": ("label",),
    "粤语翻译:{}": ("label",),
    "普通話：{}": ("label",),
    "书面语版本：{}": ("label",),
    "翻譯成繁體中文：{}": ("label",),
    "【英文翻譯】{}": ("label",),
    "「{}」": ("quotes",),
    "“{}”": ("quotes",),
    '"{}"': ("quotes",),
    "'{}'": ("quotes",),
    "<think>x</think>```\n譯文：「{}」\n```": ("reasoning", "code fence", "label", "quotes"),
    "譯文：\n```\n{}\n```": ("code fence", "label"),
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_wrapping_is_removed_and_named(wrapping: str, style: str) -> None:
    cleaned = clean_output(wrapping.format(STYLES[style]))
    assert cleaned.text == STYLES[style]
    assert cleaned.removed == WRAPPINGS[wrapping]


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_wrapping_costs_every_style_the_same_score(wrapping: str) -> None:
    references = list(STYLES.values())
    bare = score_translation(references[::-1], references)
    wrapped = [clean_output(wrapping.format(text)).text for text in references[::-1]]
    assert score_translation(wrapped, references) == bare


@pytest.mark.parametrize(
    "text",
    [
        "「你好」佢話，「再見」",
        '"a" or "b"',
        "‘你好’和‘再見’",
        "「冇收尾",
        "「",
        "",
        "結果：佢走咗。",  # a word of labels that says nothing about translation
        "廣東話好難學：我學咗三年。",
        "呢句嘅翻譯：好難。",
        "好的，以下是翻譯：你好",  # a sentence of the model's own
        "你好\n\n解釋：「你好」係打招呼。",
        "佢寫咗 ```print(1)``` 喺度",
        "《紅樓夢》",
        "**你好**",
        "(你好)",
    ],
)
def test_anything_else_stays(text: str) -> None:
    cleaned = clean_output(text)
    assert cleaned.text == text
    assert cleaned.removed == ()


@pytest.mark.parametrize("text", ["", "  \n", "譯文：", "「」", "```\n```", "<think>hm"])
def test_wrapping_around_nothing_leaves_nothing(text: str) -> None:
    assert clean_output(text).text == ""


@pytest.mark.parametrize(
    ("output", "source", "text"),
    [
        ("「佢走咗。」", "「他走了。」", "「佢走咗。」"),
        ("譯文：「佢走咗。」", "「他走了。」", "「佢走咗。」"),
        ("英文：唔該", "英文：謝謝", "英文：唔該"),
        ("「佢走咗。」", "他走了。", "佢走咗。"),
        ("“佢走咗。”", "「他走了。」", "“佢走咗。”"),
    ],
)
def test_what_the_source_has_too_is_part_of_the_translation(
    output: str, source: str, text: str
) -> None:
    assert clean_output(output, source=source).text == text


def test_each_kind_is_removed_once() -> None:
    assert clean_output("「『你好』」").text == "『你好』"
    assert clean_output("粵語：普通話：你好").text == "普通話：你好"


@pytest.mark.parametrize("label", ["粵語", "廣東話", "普通話", "國語", "書面語", "中文", "英語"])
def test_each_label_is_known_in_both_scripts(label: str) -> None:
    for name in (label, to_simplified(label)):
        assert clean_output(f"{name}翻譯：一").removed == ("label",)


@pytest.mark.parametrize("repeated", ["「」", "```", "譯文", "**", "' '", "<think>", "「"])
def test_a_megabyte_takes_linear_time(repeated: str) -> None:
    text = repeated * (1_000_000 // len(repeated))
    start = perf_counter()
    clean_output(text, source=text)
    assert perf_counter() - start < 5


@pytest.mark.realdata
@pytest.mark.parametrize("direction", ["can2man", "man2can"])
def test_references_are_left_as_they_are(direction: str) -> None:
    file = Path(os.environ["HKCANTO_DATA_DIR"]) / "hkmmlu" / "translation" / f"{direction}.jsonl"
    pairs = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    changed = [
        pair
        for pair in pairs
        if clean_output(pair["output"], source=pair["input"]).text != pair["output"].strip()
    ]
    assert changed == []
