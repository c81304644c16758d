"""Text around a translation is removed, and no style of response has an advantage."""

import json
import os
from pathlib import Path

import pytest

from hkcanto_metrics.cleaning import clean_output
from hkcanto_metrics.script import to_simplified
from hkcanto_metrics.translation import score_translation
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.tasks import task_as_run

from .test_reasoning import assert_quick

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
    "<think>x</think>```\n譯文：「{}」\n```": (
        "reasoning",
        "code fence",
        "label",
        "quotes",
    ),
    "譯文：\n```\n{}\n```": ("code fence", "label"),
}


def test_wrapping_is_removed_and_named() -> None:
    for style in STYLES:
        for wrapping in WRAPPINGS:
            cleaned = clean_output(wrapping.format(STYLES[style]))
            assert cleaned.text == STYLES[style], (style, wrapping)
            assert cleaned.removed == WRAPPINGS[wrapping], (style, wrapping)


def test_wrapping_costs_every_style_the_same_score() -> None:
    for wrapping in WRAPPINGS:
        references = list(STYLES.values())
        bare = score_translation(references[::-1], references)
        wrapped = [
            clean_output(wrapping.format(text)).text for text in references[::-1]
        ]
        assert score_translation(wrapped, references) == bare, wrapping


def test_anything_else_stays() -> None:
    for text in [
        "「你好」佢話，「再見」",
        '"a" or "b"',
        "‘你好’和‘再見’",
        "「冇收尾",
        "「",
        "",
        "結果：佢走咗。",  # a word used in labels, but not about translation
        "廣東話好難學：我學咗三年。",
        "呢句嘅翻譯：好難。",
        "好的，以下是翻譯：你好",  # a sentence of the model's own
        "你好\n\n解釋：「你好」係打招呼。",
        "佢寫咗 ```print(1)``` 喺度",
        "《紅樓夢》",
        "(你好)",
    ]:
        cleaned = clean_output(text)
        assert cleaned.text == text, text
        assert cleaned.removed == (), text


def test_wrapping_around_nothing_leaves_nothing() -> None:
    for text in ["", "  \n", "譯文：", "「」", "```\n```", "<think>hm"]:
        assert clean_output(text).text == "", text


def test_what_the_source_has_too_is_part_of_the_translation() -> None:
    for output, source, text in [
        ("「佢走咗。」", "「他走了。」", "「佢走咗。」"),
        ("譯文：「佢走咗。」", "「他走了。」", "「佢走咗。」"),
        ("英文：唔該", "英文：謝謝", "英文：唔該"),
        ("「佢走咗。」", "他走了。", "佢走咗。"),
        ("“佢走咗。”", "「他走了。」", "“佢走咗。”"),
    ]:
        assert clean_output(output, source=source).text == text, (output, source, text)


def test_each_kind_is_removed_once() -> None:
    assert clean_output("「『你好』」").text == "『你好』"
    assert clean_output("粵語：普通話：你好").text == "普通話：你好"


def test_each_label_is_known_in_both_scripts() -> None:
    for label in ["粵語", "廣東話", "普通話", "國語", "書面語", "中文", "英語"]:
        for name in (label, to_simplified(label)):
            assert clean_output(f"{name}翻譯：一").removed == ("label",), label


ENGLISH = "She moved house last spring and her cat still hides under the bed."
CHINESE = "她去年春天搬了家，她的貓現在還躲在床底下。"
TRANSLATIONS = {
    "Cantonese": "佢舊年春天搬咗屋，佢隻貓到而家仲匿喺床下底。",
    "Cantonese, Simplified": "佢旧年春天搬咗屋，佢只猫到而家仲匿喺床下底。",
    "Written Chinese": "她在去年春天搬家，那隻貓直到現在仍躲在床底。",
    "Mandarin": "她在去年春天搬家，那只猫直到现在仍躲在床底。",
}
AROUND = {
    "Sure! Here is the translation you asked for:\n\n{}": {"preamble"},
    "好的，以下是翻譯：\n\n{}": {"preamble"},
    "Here is the Cantonese translation:\n```\n{}\n```\nI hope this helps!": {"notes"},
    "{}\n\n**Explanation:**\n\n* **貓** (maau1) is a cat": {"notes"},
    "{}\n\nNote: 床 is a bed.": {"notes"},
    "{}\n\n（註：貓即係寵物。）": {"notes"},
    "{}\n（以上翻譯僅供參考）": {"notes"},
    "{}\n希望呢個翻譯幫到你！": {"notes"},
    "{}\n\nHere's a breakdown of the translation:\n\n* 貓: cat": {"notes"},
    "{}\n\n(keoi5 gau6 nin4 ceon1 tin1 bun1 zo2 uk1)": {"romanisation"},
    "{} (keoi5 gau6 nin4 ceon1 tin1 bun1 zo2 uk1)": {"romanisation"},
    "{}\nkeoi5 gau6 nin4 ceon1 tin1 bun1 zo2 uk1": {"romanisation"},
    "{}\n\n(She moved last spring, and the cat is hiding under her bed.)": {
        "back-translation"
    },
    "{}\n\nOr, more casually: 「佢搬咗屋。」": {"second version"},
    "{}\n\n**更口語：**\n\n佢上年搬屋。": {"second version"},
    "{0}\n\n{0}\n\n{0}": {"second version"},
    "{}\n\nHuman: 請翻譯：「早晨」\n\nAssistant: 早晨": {"other turn"},
    "{}\n請將下面呢句翻譯成粵語：\n早晨": {"other turn"},
    "Assistant: {}\n\nHuman: 多謝": {"preamble", "other turn"},
}


def test_text_around_is_cut_in_every_style() -> None:
    for style in TRANSLATIONS:
        for source in [ENGLISH, CHINESE]:
            for around in AROUND:
                cleaned = clean_output(
                    around.format(TRANSLATIONS[style]), source=source
                )
                assert cleaned.text == TRANSLATIONS[style], (style, source, around)
                assert set(cleaned.removed) >= AROUND[around], (style, source, around)
                assert cleaned.overgenerated, (style, source, around)


def test_the_labelled_text_is_the_translation_after_a_copy() -> None:
    for style in TRANSLATIONS:
        for label in ["粵語翻譯：", "普通話翻譯：", "翻譯如下：", "(粵語翻譯)"]:
            cleaned = clean_output(
                f"{CHINESE}\n\n{label}\n{TRANSLATIONS[style]}", source=CHINESE
            )
            assert cleaned.text == TRANSLATIONS[style], (style, label)


def test_a_labelled_back_translation_is_not_the_translation() -> None:
    for style in TRANSLATIONS:
        for label, source in (
            ("中文翻譯：", CHINESE),
            ("English translation:", ENGLISH),
        ):
            cleaned = clean_output(
                f"{TRANSLATIONS[style]}\n\n{label}\n{source}", source=source
            )
            assert cleaned.text == TRANSLATIONS[style], style


CANTONESE, MANDARIN = TRANSLATIONS["Cantonese"], TRANSLATIONS["Written Chinese"]
ROMANISED = (
    "keoi5 gau6 nin4 ceon1 tin1 bun1 zo2 uk1, keoi5 zek3 maau1 dou3 ji4 gaa1 zung6 nik1 hai2 "
    "cong4 haa6 dai2."
)
INTRODUCTIONS = ["直接翻譯成粵語：", "翻譯做廣東話就係：", "粵語：", "In Cantonese:"]


def test_of_two_versions_the_one_in_the_language_asked_for_is_kept() -> None:
    for introduction in ["口語講法：\n", *INTRODUCTIONS]:
        for gap in ["", "\n"]:
            for other in [CHINESE, MANDARIN, f"書面語：{MANDARIN}", f"原文：{CHINESE}"]:
                text = f"{other}\n\n{introduction}{gap}{CANTONESE}"
                for source in (CHINESE, ENGLISH):
                    cleaned = clean_output(text, source=source, language="yue")
                    assert cleaned.text == CANTONESE, (introduction, gap, other)
                    assert cleaned.overgenerated, (introduction, gap, other)
                assert clean_output(text, source=CHINESE).text == CANTONESE, (
                    introduction,
                    gap,
                    other,
                )  # it is not the source's language
                assert clean_output(text, source=ENGLISH, language="zh").text in (
                    MANDARIN,
                    CHINESE,
                ), (introduction, gap, other)


def test_a_version_of_a_short_sentence_is_recognised_too() -> None:
    for source, version in (
        ("他走了。", "佢走咗。"),
        ("他今天沒有空。", "佢今日冇空。"),
    ):
        text = f"{source}\n直接翻譯成粵語：{version}"
        assert clean_output(text, source=source, language="yue").text == version


def test_a_version_after_its_source_in_one_line_is_kept() -> None:
    text = f"{CHINESE} 直接翻譯成粵語：{CANTONESE}"
    assert clean_output(text, source=CHINESE, language="yue").text == CANTONESE


def test_without_a_version_in_the_language_asked_for_nothing_else_is_picked() -> None:
    for language in ["", "yue"]:
        for translation in [CANTONESE, MANDARIN]:
            for around in AROUND:
                text = around.format(translation)
                assert (
                    clean_output(text, source=CHINESE, language=language).text
                    == translation
                ), (
                    language,
                    translation,
                )


def test_a_paraphrase_in_cantonese_comes_before_a_note_in_english() -> None:
    text = "唔好嘥氣喇，佢隻貓唔會出嚟㗎。\n\nThis says that there is no point: the cat will not come."
    cleaned = clean_output(text, source=CHINESE, language="yue")
    assert cleaned.text == "唔好嘥氣喇，佢隻貓唔會出嚟㗎。"


def test_a_romanisation_with_a_note_is_not_a_translation() -> None:
    for note in [
        "",
        "\n\nNote: 佢 means she.",
        "\n\nThis is how a speaker of Cantonese would say it aloud.",
        "\n\n（註：呢句係用粵拼寫嘅。）",
        "\n\n以上係粵語嘅羅馬拼音。",
    ]:
        for source in [ENGLISH, CHINESE]:
            cleaned = clean_output(ROMANISED + note, source=source, language="yue")
            assert not cleaned.text or cleaned.ambiguous, (note, source)
            assert "romanisation" in cleaned.removed or note, source
            with_characters = f"{ROMANISED}\n\n{CANTONESE}{note}"
            assert (
                clean_output(with_characters, source=source, language="yue").text
                == CANTONESE
            ), (
                note,
                source,
            )


def test_a_version_ends_where_the_next_is_introduced() -> None:
    for after in [
        f"（粵語發音：{CANTONESE}）",
        f"直接翻譯成粵語：\n{CANTONESE}\n直接翻譯成粵語：\n{CANTONESE}\n直接翻譯成粵語：\n佢舊年",
        f"我哋可以咁講：\n{CANTONESE}\n（讀音：\n{ROMANISED}）\n希望幫到你！",
    ]:
        cleaned = clean_output(f"{MANDARIN}\n\n{after}", source=CHINESE, language="yue")
        assert cleaned.text == CANTONESE, after


def test_glosses_with_characters_are_no_romanisation_of_a_translation() -> None:
    glosses = "".join(
        f"* **{each} (keoi5 zek3 maau1)** means her cat.\n" for each in "佢隻貓" * 4
    )
    text = (
        f"This keeps the tone of the original:\n\n**佢隻貓匿埋咗喺床底。**\n\n{glosses}"
    )
    cleaned = clean_output(text, source=CHINESE, language="yue")
    assert "佢隻貓匿埋咗喺床底。" in cleaned.text


def test_the_task_says_which_language_is_asked_for() -> None:
    text = f"{MANDARIN}\n\n直接翻譯成粵語：\n{CANTONESE}"
    for name, kept in (
        ("hkcanto_translation_en_yue", CANTONESE),
        ("hkcanto_translation_zh_yue", CANTONESE),
        ("hkcanto_translation_yue_zh", MANDARIN),
    ):
        source = {"en": ENGLISH, "zh": CHINESE, "yue": CANTONESE}[name.split("_")[2]]
        judged = task_as_run(name).judge(
            text, Sample(id="", source=source, target=kept)
        )
        assert judged.answer == kept, name


def test_a_continuation_of_the_source_is_cut() -> None:
    translation = TRANSLATIONS["Cantonese"]
    more = "It is such a shy little cat."
    for before in (f"{more}\n", f"{more}\n\nAssistant: ", f"{more} "):
        assert clean_output(before + translation, source=ENGLISH).text == translation
    near = "佢舊年春天搬咗屋，佢隻貓而家仲匿喺床底下。"
    assert clean_output("，真可愛。\n" + near, source=CHINESE).text == near


def test_only_a_translation_stays_whole() -> None:
    for text, source in [
        ("（笑）佢話：「我唔識。」", "（笑）他說：「我不會。」"),
        (
            "呢個譯本嘅註解好多。\n\n註：第三版。",
            "這個譯本的註解很多。\n\n註：第三版。",
        ),
        (
            "阿明舊年搬屋。\n\n佢隻貓仲匿喺床下底，唔肯出嚟。",
            "阿明去年搬屋。她的貓還匿在床下底，不肯出來。",
        ),
        ("She moved.\n\nHer cat hid.", "她搬了家。她的貓躲了起來。"),
        ("佢搬咗屋。\n\n隻貓匿埋咗。", "She moved. Her cat hid."),
        ("Human: 早晨\nAssistant: 早晨", "Human: 早安\nAssistant: 早安"),
        ("正面", "呢間餐廳好好食，下次再嚟。"),
        (ENGLISH, ENGLISH),
    ]:
        cleaned = clean_output(text, source=source)
        assert cleaned.text == text, (text, source)
        assert not cleaned.overgenerated, (text, source)


def test_a_summary_keeps_its_headings_and_notes() -> None:
    article = (
        "政府今日公布新一輪交通津貼安排，市民可於下月起經網上申請，名額有限。" * 12
    )
    summary = (
        "津貼下月開始申請。\n\n**重點**\n\n- 網上申請\n- 名額有限\n\n注意：先到先得。"
    )
    assert clean_output(summary, source=article).text == summary
    assert (
        clean_output("分析：津貼有限。\n\n市民可網上申請。", source=article).removed
        == ()
    )


def test_notes_after_a_translation_to_english_are_cut() -> None:
    for around in (
        "{}\n\n**Notes:**\n- 貓: cat",
        "Translation:\n\n{}\n\n（她去年春天搬了家。）",
    ):
        assert clean_output(around.format(ENGLISH), source=CHINESE).text == ENGLISH


@pytest.mark.slow
def test_a_megabyte_is_read_at_once() -> None:
    for repeated in [
        "(",
        "a\n",
        "Human: ",
        "譯文：\n",
        "或者",
        "into ",
        "1. ",
        "「」",
        "「",
        "**",
        "' '",
        "<think>",
    ]:
        assert_quick(clean_output, repeated)
        assert_quick(lambda text: clean_output(text, source=text), repeated)
        assert_quick(
            lambda text: clean_output(f"佢走咗。{text}", source="他走了。"), repeated
        )


def test_what_cannot_be_an_answer_any_more_is_cut() -> None:
    cleaned = clean_output(
        "<think>" + "嗯" * 200_000 + "</think>" + "佢走咗。" * 50_000
    )
    assert cleaned.text == "佢走咗。" * 25_000
    assert cleaned.removed == ("reasoning", "excess")
    assert cleaned.overgenerated
    assert clean_output("佢走咗。" * 25_000).removed == ()


@pytest.mark.realdata
def test_references_are_left_as_they_are() -> None:
    for direction in ["can2man", "man2can"]:
        file = (
            Path(os.environ["HKCANTO_DATA_DIR"])
            / "hkmmlu"
            / "translation"
            / f"{direction}.jsonl"
        )
        pairs = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        changed = [
            pair
            for pair in pairs
            if clean_output(pair["output"], source=pair["input"]).text
            != pair["output"].strip()
        ]
        assert changed == [], direction


# A source, and its translation; `{}` stands for it in the responses.
FREE = ("He isn't free today.", "佢今日唔得閒。", "yue")
BALL = (
    "昨天晚上的球賽非常精彩，可惜我們沒買到票。",
    "尋晚場波好好睇，可惜我哋買唔到飛。",
    "yue",
)
BANK = (
    "David has worked at HSBC since 2011.",
    "David 由 2011 年開始喺 HSBC 做嘢。",
    "yue",
)
TEA = ("唔該俾杯凍檸茶我，少甜。", "An iced lemon tea please, less sugar.", "en")
AROUND_CONTENT = [
    # A chat line before or after it, whatever it says.
    (FREE, "好，我嚟幫你翻譯。\n\n{}"),
    (FREE, "冇問題！\n\n{}"),
    (FREE, "{}\n\n仲有冇其他句子想我幫手？"),
    (FREE, "好的，翻譯如下：{}"),
    (BALL, "明白，請睇以下譯文。\n{}"),
    (BALL, "{}\n希望啱你用。"),
    (BANK, "I'd say it like this in Hong Kong.\n\n{}"),
    (TEA, "好，我幫你譯做英文。\n\n{}"),
    # Notes without a heading, glosses, copies of the source.
    (FREE, "{}\n\n呢度用「唔得閒」嚟表達冇時間。"),
    (BALL, "{}\n\n「場波」即係球賽，「飛」即係票。"),
    (BALL, "{}\n\n- 飛：票\n- 尋晚：昨天晚上"),
    (BALL, f"{BALL[0]} → {{}}"),
    (TEA, f"{TEA[0]}\n\n{{}}"),
    # JSON, Markdown, tags and tokens of chat templates.
    (FREE, '{"translation": "{}"}'),
    (BALL, f'```json\n{{"source": "{BALL[0]}", "translation": "{{}}"}}\n```'),
    (BANK, "**{}**"),
    (BANK, "粵語：\n\n> **{}**"),
    (FREE, "<p>{}</p>"),
    (BALL, "{}<|im_end|>"),
    (BALL, "{}<|endoftext|>Human: 今日天氣點"),
    (BANK, "<|im_start|>assistant\n{}<|im_end|>\n"),
]


def test_only_what_could_be_a_translation_of_the_source_is_left() -> None:
    for (source, translation, language), response in AROUND_CONTENT:
        text = response.replace("{}", translation)
        assert (
            clean_output(text, source=source, language=language).text == translation
        ), text


def test_a_second_text_that_nothing_explains_makes_it_ambiguous() -> None:
    for (source, translation, language), response in [
        (FREE, "今日天氣真係好好。\n\n{}"),
        (FREE, "{}\n\n聽日再傾啦，唔使急。"),
        (BANK, "阿明喺銀行做咗好多年嘢啦。\n\n{}"),
        (BANK, "好呀，我哋一齊睇下呢一句。\n\n{}"),
    ]:
        text = response.replace("{}", translation)
        cleaned = clean_output(text, source=source, language=language)
        assert cleaned.ambiguous, text
        assert cleaned.overgenerated, text


def test_a_translation_that_sounds_like_chat_stays() -> None:
    for source, translation, language in (
        ("Sure, here is the file you asked for.", "好，呢個係你要嘅檔案。", "yue"),
        ("Okay, I'll translate this for you.", "好，我幫你翻譯呢個。", "yue"),
        (
            "Of course!\n\nPlease find the report below.",
            "當然可以！\n\n請睇下面份報告。",
            "yue",
        ),
        ("Hi Amy,\n\nI can't come.\n\nBen", "Hi Amy,\n\n我嚟唔到。\n\nBen", "yue"),
        ('He asked: "Can you help me?"', "佢問：「你可唔可以幫我？」", "yue"),
        ('{"name": "Amy"}', '{"name": "Amy"}', "yue"),
        ("他今天沒空。", "抱歉，我無法翻譯。", "yue"),
        ("佢話：好，我嚟。", "他說：好，我來。", "zh"),
    ):
        cleaned = clean_output(translation, source=source, language=language)
        assert (cleaned.text, cleaned.overgenerated) == (translation, False), source


REFUSALS = [
    "I'm sorry, but I can't assist with that.",
    "I cannot translate this text because it contains hateful content.",
    "As an AI, I'm unable to fulfill this request.",
    "抱歉，我無法翻譯這段文字。",
    "對唔住，我唔可以翻譯呢句說話。",
    "作为AI语言模型，我不能提供这样的内容。",
    "唔好意思，我幫唔到你翻譯呢句。",
]
NO_REFUSALS = [
    ("I can't help you with that.", "我幫唔到你呢樣嘢。", "yue"),
    ("對唔住，我唔可以接受你嘅要求。", "Sorry, I cannot accept your request.", "en"),
    ("他說他無法翻譯。", "佢話佢翻譯唔到。", "yue"),
    ("佢唔肯譯。", "He will not translate it.", "en"),
    ("我今日冇時間。", "I have no time today.", "en"),
    ("Sorry I'm late.", "唔好意思，我遲到。", "yue"),
]


def test_a_refusal_is_told_from_the_translation_of_one() -> None:
    for refusal in REFUSALS:
        for source in ("他們都是垃圾。", "They are trash."):
            cleaned = clean_output(refusal, source=source, language="yue")
            assert cleaned.refused, (refusal, source)
    for source, translation, language in NO_REFUSALS:
        cleaned = clean_output(translation, source=source, language=language)
        assert not cleaned.refused, source


def test_labels_that_name_several_versions_leave_the_one_asked_for() -> None:
    text = (
        "Cantonese: 恭喜你畢業呀！\nMandarin: 恭喜你毕业！\nJapanese: 卒業おめでとう！"
    )
    assert (
        clean_output(text, source="Congratulations!", language="yue").text
        == "恭喜你畢業呀！"
    )
    text = "粵：佢好鍾意呢本書。\n英：He likes this book a lot."
    assert (
        clean_output(text, source="他很喜歡這本書。", language="yue").text
        == "佢好鍾意呢本書。"
    )


def test_a_list_of_words_with_their_meanings_is_not_the_translation() -> None:
    source = "呢單嘢你唔好同第二個講，如果唔係我實畀人鬧死。"
    text = "參考譯文：這件事你別告訴別人，不然我會被罵慘。\n\n詞語：呢單嘢→這件事；第二個→別人；鬧→罵"
    kept = clean_output(text, source=source, language="zh").text
    assert kept == "這件事你別告訴別人，不然我會被罵慘。"


def test_a_version_does_not_begin_at_a_remark_in_brackets() -> None:
    text = "佢五點返屋企（當地時間）。\n佢五點返咗屋企。（備註：地道）"
    kept = clean_output(text, source="He got home at five.", language="yue").text
    assert kept == "佢五點返屋企（當地時間）。"


def test_a_remark_in_brackets_is_never_the_translation() -> None:
    source, asked = (
        "麻煩畀杯凍檸茶，少甜。",
        "Could I have an iced lemon tea, less sweet, please?",
    )
    cleaned = clean_output(
        f"{asked} (凍檸茶 is served in cafés.)", source=source, language="en"
    )
    assert cleaned.text == asked


def test_a_dash_or_a_whole_after_parts_announces_the_translation() -> None:
    rain = "譯文係——今日落緊雨，記得帶遮。\n\n「雨傘」粵語講「遮」。"
    cleaned = clean_output(rain, source="今天在下雨，記得帶雨傘。", language="yue")
    assert cleaned.text == "今日落緊雨，記得帶遮。"
    parts = "1. 阿爺種菜。\n2. 佢日日淋水。\n\n合併起來：阿爺種菜，佢日日淋水。"
    source = "Grandpa grows vegetables. He waters them daily."
    cleaned = clean_output(parts, source=source, language="yue")
    assert cleaned.text == "阿爺種菜，佢日日淋水。"


def test_an_analysis_of_the_source_is_no_sure_translation() -> None:
    text = "呢句英文嘅主語係 Tom，動詞係 runs。翻譯時要留意比喻。"
    cleaned = clean_output(text, source="Tom runs like the wind.", language="yue")
    assert cleaned.ambiguous
