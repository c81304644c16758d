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


# Whole layouts: {S} is the source, {T} its translation, {A} another one.
LAYOUTS = [
    "| Original | Translation |\n|---|---|\n| {S} | {T} |",
    "| 原文 | 譯文 |\n| --- | --- |\n| {S} | {T} |\n\n希望幫到你！",
    "「{S}」嘅翻譯係「{T}」。",
    'The translation of "{S}" is "{T}".',
    "{S}\n→ {T}",
    "「{S}」→「{T}」",
    "Q: {S}\nA: {T}",
    "Source: {S}\nTarget: {T}",
    "輸入：{S}\n輸出：{T}",
    "原文：\n{S}\n\n翻譯：\n**{T}**",
    "<b>譯文：</b>{T}",
    "Sure! **{T}**",
    "Draft: {A}\n\nFinal: {T}",
    "初稿：{A}\n\n定稿：{T}",
    "1. {T}\n2. {A}",
    "Option 1: {T}\nOption 2: {A}",
    "版本一：\n{T}\n\n版本二：\n{A}",
    "{T}\n\nYou could also say:\n\n{A}",
    "{T}\n\n如果想正式啲，可以講：\n「{A}」",
    "To translate this, we keep the tone of the original.\n\n{T}",
    "> {T}\n\n希望呢個翻譯合你心意！",
]
ALTERNATIVES = [
    "走之前記得閂好啲窗，今晚或者會落雨。",
    "聽日再見。",
    "We dined in Mong Kok last night, then went home.",
]


def test_a_layout_leaves_the_translation() -> None:
    for (source, language, translation), other in zip(
        TRANSLATIONS, ALTERNATIVES, strict=True
    ):
        for layout in LAYOUTS:
            text = layout.format(S=source, T=translation, A=other)
            cleaned = clean_output(text, source=source, language=language)
            assert cleaned.text == translation, text


def test_both_scripts_leave_the_first() -> None:
    for text in (
        "繁體：聽日見。\n簡體：听日见。",
        "聽日見。\n\n(Simplified: 听日见。)",
    ):
        cleaned = clean_output(text, source="See you tomorrow.", language="yue")
        assert (cleaned.text, cleaned.ambiguous) == ("聽日見。", False)
    for text in (
        "简体：听日见。\n繁體：聽日見。",
        "【簡體】听日见。\n【繁體】聽日見。",
    ):
        cleaned = clean_output(text, source="See you tomorrow.", language="yue")
        assert cleaned.text in ("听日见。", "聽日見。"), text
        assert not cleaned.ambiguous, text


def test_a_second_line_about_words_in_a_story_stays() -> None:
    for source, translation in [
        ("He said no.\nThose words made her cry.", "佢話唔好。\n呢句話令佢喊咗。"),
        ("他走了。\n這句話她記了一世。", "佢走咗。\n呢句話佢記咗一世。"),
    ]:
        cleaned = clean_output(translation, source=source, language="yue")
        assert (cleaned.text, cleaned.removed) == (translation, ())


STINGY = (
    "He is so stingy that he never buys anyone a drink.",
    "佢孤寒到從來唔請人飲嘢。",
    "佢好慳，從來冇請過人飲嘢。",
)


def test_a_head_a_draft_and_a_remark_are_taken_off_and_equals_are_ambiguous() -> None:
    source, translation, other = STINGY
    one = [
        "You can say: {T}",
        "Here you go: {T}",
        "整句：{T}",
        "建議採用（1）：{T}",
        "修訂後：{T}",
        "First I thought of {A}, but that's stiff. My final translation: {T}",
        "初稿：{A} 修訂後：{T}",
        "第一稿：{A}\n第二稿（採用）：{T}",
        "stingy: 孤寒\na drink: 飲嘢\n\n{T}",
        "{T} Note that 孤寒 has nothing to do with the cold.",
        "{T} 這裡用了口語。",
    ]
    equal = [
        "1. {T}\n2. {A}",
        "「{T}」或者「{A}」",
        "If you talk to a friend: {T} If you talk to a boss: {A}",
        "Option 1: {T}\nOption 2: {A}",
    ]
    for layout in [*one, *equal]:
        text = layout.format(T=translation, A=other)
        cleaned = clean_output(text, source=source, language="yue")
        expected = (translation, layout in equal)
        assert (cleaned.text, cleaned.ambiguous) == expected, text


def test_a_sentence_that_quotes_the_translation_is_ambiguous() -> None:
    for text in [
        'This sentence means "He was late because the bus broke down." in English.',
        '"He was late because the bus broke down." is what the sentence means.',
    ]:
        cleaned = clean_output(text, source="佢遲到，因為架巴士壞咗。", language="en")
        assert cleaned.ambiguous, text


def test_a_colon_of_the_translation_stays() -> None:
    for source, translation in [
        ("He said he was tired.", "佢話：我好攰。"),
        ("Dear Mr Chan,\nThank you for your letter.", "陳生：\n多謝你封信。"),
        ("We won three to one.", "我哋 3：1 贏咗。"),
        ("There are three colours, red, blue and green.", "有三種顏色：紅、藍同綠。"),
    ]:
        cleaned = clean_output(translation, source=source, language="yue")
        assert (cleaned.text, cleaned.ambiguous) == (translation, False), source


def test_refusals_and_questions_back_are_told_from_translations() -> None:
    for text in [
        "I'd prefer not to translate offensive language.",
        "抱歉，這個請求我無法處理。",
        "Could you provide more context, please?",
        "The sentence seems cut off; would you send the whole?",
        "對唔住，呢段文字我唔識譯。",
        "呢個內容我處理唔到。",
        "恕難從命。",
        "伺服器繁忙，請稍候再試。",
        "Our system is overloaded. Please try again later.",
        "請問你要口語版定書面版？",
        "Please specify which dialect you need.",
        "我唔知點譯。",
        "呢句太難，我譯唔嚟。",
        "Connection error.",
        "What kind of Cantonese would you like?",
    ]:
        assert clean_output(text, source=STINGY[0], language="yue").refused, text
    for source, translation in [
        ("Could you send me the whole file?", "可唔可以send成個檔案畀我？"),
        ("我無法處理這個請求。", "我處理唔到呢個請求。"),
        ("I'm sorry, but I can't come tonight.", "對唔住，我今晚嚟唔到。"),
        ("Sorry, I must decline.", "唔好意思，恕難從命。"),
        ("The system is busy. Try again later.", "系統繁忙，請稍後再試。"),
        ("I don't know how to answer this.", "呢條問題我唔識答。"),
        ("I don't know how to answer this question.", "我唔識回答呢個問題。"),
        ("I'm not sure how to get there.", "我唔知點去嗰度。"),
        ("呢邊有兩種裝修，你鍾意邊種？", "Which style of decoration do you like?"),
    ]:
        assert not clean_output(translation, source=source, language="yue").refused


def test_marks_alone_and_words_about_the_source_are_no_translation() -> None:
    source = "佢執咗間房先出街。"
    for text in ("…", "——", "**"):
        assert not clean_output(text, source=source, language="en").text
    assert clean_output("…", source="……", language="en").text == "…"
    for text in (
        "The sentence uses the verb 執, which can mean to pick up.",
        "執 (zap1) means to tidy a place.",
        "呢句係粵語，意思係有人執好間房先出街。",
    ):
        assert clean_output(text, source=source, language="en").ambiguous, text
    for text in ("「執」解作收拾。", "意思係執好間房先出街。"):
        assert clean_output(text, source=source, language="en").ambiguous, text
    source = "This word means a lot to me."
    assert not clean_output("呢個字對我好有意思。", source=source).ambiguous


def test_only_the_label_before_a_head_of_the_source_is_cut() -> None:
    source, translation = "Correction: we meet at three.", "更正：三點開會。"
    for text in (
        "以下係粵語翻譯：\n\n{}",
        "粵語：{}",
        "{}\n\n**Explanation:** It is short.",
    ):
        cleaned = clean_output(text.format(translation), source=source, language="yue")
        assert cleaned.text == translation, text


def test_an_announcement_is_cut_though_the_source_has_a_colon() -> None:
    source, translation = "He told me: never give up.", "佢同我講，永遠唔好放棄。"
    for head in ("好的，翻譯如下：", "Answer: ", "最終版本："):
        cleaned = clean_output(head + translation, source=source, language="yue")
        assert cleaned.text == translation, head


def test_a_title_goes_with_its_list() -> None:
    source, translation = "佢每朝返工前都跑步。", "He runs every day before work."
    items = "- 每朝: every morning\n- 返工: go to work"
    for title in ("**Word list**", "### Sentence structure", "**Say it yourself**"):
        text = f"{translation}\n\n{title}\n{items}"
        assert clean_output(text, source=source, language="en").text == translation
    text = f"{translation}\n\n**The end**\n\nEverybody cheers."
    source = f"{source}\n\n完。\n\n個個都拍手。"
    assert clean_output(text, source=source, language="en").text == text


# Honest translations that have a mark of something else: a word of courtesy, a note, an option, a
# name before speech, a number, brackets, words about language, a question, several lines.
HONEST = [
    ("Perhaps one day you will thank me.", "或者有一日你會多謝我。"),
    ("佢哋去咗東京、大阪同京都玩。", "Or Osaka, they said, or Kyoto and Tokyo."),
    ("Beware: the floor is wet.", "注意：地下好濕。"),
    ("冇錯！佢就係嗰個人。", "Yes! He is the man."),
    ("當然，冇人會信佢講嘅嘢。", "Of course. Nobody will believe what he says."),
    (
        'Uncle Bob said "Dinner first. Then homework."',
        "Uncle Bob話：「食飯先。跟住做功課。」",
    ),
    ("Two to three million people came.", "有2、300萬人嚟咗。"),
    ("佢想做其中一個「兄弟」。", "He wants to be one of the boys (or girls)."),
    (
        "Writing is often harder than speaking. That is true of letters.",
        "書面語通常難過口語。寫信就係咁。",
    ),
    (
        "聽日我哋去行山，你有冇興趣一齊去？",
        "We are going hiking tomorrow. Would you like to join us?",
    ),
    ("I'm sorry, I can't help you with that.", "唔好意思，呢樣嘢我幫唔到你。"),
    (
        "There are many things to buy before we leave for the trip.",
        "出發之前。有好多嘢需要買。",
    ),
    (
        "He said: stay here and wait for me until noon.",
        "佢話：「留喺度，等我到晏晝。\n」",
    ),
    (
        "The hens lay eggs in the morning. They also keep the garden free of slugs.",
        "啲雞乸朝早生蛋。\n佢哋仲會食晒花園啲蛞蝓。",
    ),
    (
        "雨這麼大還開得這麼快，你以為自己是賽車手嗎？",
        "落咁大雨仲揸咁快，\n你當自己係車手呀？",
    ),
    (
        "Both brothers agreed in the end although it took them all night to decide.",
        "最後。兩兄弟都制。兩個都傾咗成晚先至決定到。",
    ),
]


HONEST += [
    ("梗係啦！我一早就同你講咗。", "Of course! I told you long ago."),
    ("傻啦！使乜多謝。", "Of course! No need to thank me."),
    ("Sure! Let me get my coat first.", "冇問題！等我攞件褸先。"),
    (
        "Paragraph one: He leaves.\n\nParagraph two: He comes home.",
        "第一段:佢出門口。\n\n第二段:佢返屋企。",
    ),
    ("First: wash your hands.\n\nSecond: dry them.", "第一:洗手。\n\n第二:抹乾。"),
    ("Q: When do you get off work?\nA: At six.", "問:你幾時放工?\n答:六點。"),
    ("問：你幾時放工？\n答：六點。", "Question: When do you finish?\nAnswer: At six."),
    ("Correction: the meeting is at three.", "更正：三點開會。"),
    ("答：我唔知道呢件事。", "Answer: I do not know about this."),
    ("我嘅建議係：早啲瞓。", "My suggestion is this: go to bed early."),
    ("The following rules apply. Do not smoke.", "以下規則適用。唔准食煙。"),
    ("This is what he said.", "呢個係佢講嘅嘢。"),
]


def test_nothing_is_cut_from_an_honest_translation() -> None:
    for source, translation in HONEST:
        language = "en" if translation.isascii() else "yue"
        cleaned = clean_output(translation, source=source, language=language)
        assert (cleaned.text, cleaned.removed) == (translation, ()), source
        assert not cleaned.ambiguous, source


def test_a_translation_with_words_of_its_frame_is_found() -> None:
    source, translation = (
        "I'm sorry, I can't help you with that.",
        "唔好意思，呢樣嘢我幫唔到你。",
    )
    for layout in [
        "The translation is:\n\n{}",
        '{}\n\nNote: "唔好意思" is polite.',
        "{}\n\nWould you like me to explain it?",
        "{}\n\n(Sorry, I can't help you with this.)",
    ]:
        cleaned = clean_output(
            layout.format(translation), source=source, language="yue"
        )
        assert (cleaned.text, cleaned.refused) == (translation, False), layout


def test_the_translation_that_a_model_prefers_is_kept() -> None:
    source, translation, other = STINGY
    for layout in [
        "1. {A}\n2. {T}\n\nI'd recommend option 2:\n{T}",
        "{A}\n\nOn second thought, a better version is:\n\n{T}",
        '{T}\n\nAlternatively, you could say "{A}".',
        "{T}\n\n如果想再口語啲，可以講「{A}」。",
        "{T}\n\n| Word | Meaning |\n|---|---|\n| 孤寒 | stingy |",
        '"stingy" becomes "孤寒".\n\nSo the full sentence is:\n\n{T}',
    ]:
        text = layout.format(T=translation, A=other)
        cleaned = clean_output(text, source=source, language="yue")
        assert (cleaned.text, cleaned.ambiguous) == (translation, False), text


def test_a_copy_of_the_source_is_not_the_translation() -> None:
    source, translation = (
        "他昨天晚上喝多了，今天早上起不來。",
        "佢琴晚飲大咗，今朝起唔到身。",
    )
    for layout in ["{S}\n\n{T}", "{S}\n\n↓\n\n{T}"]:
        text = layout.format(S=source, T=translation)
        cleaned = clean_output(text, source=source, language="yue")
        assert (cleaned.text, cleaned.ambiguous) == (translation, False)


def test_lines_that_nothing_tells_apart_are_ambiguous() -> None:
    source = (
        "The hens lay eggs in the morning. They also keep the garden free of slugs."
    )
    translation = "啲雞乸朝早生蛋。佢哋仲會食晒花園啲蛞蝓。"
    joke = "從前有個財主，屋企有座金山。\n佢日日淨係食白粥。\n隔籬屋都笑佢。"
    cleaned = clean_output(f"{translation}\n{joke}", source=source, language="yue")
    assert cleaned.text.startswith(translation)
    assert cleaned.ambiguous


def test_a_translation_in_the_language_asked_for_is_not_replaced_by_a_later_one() -> (
    None
):
    source, translation, other = STINGY
    for layout in ["{T}\n\n(Cantonese:\n\n{A})", "{T}\n\nCantonese:\n{A}"]:
        text = layout.format(T=translation, A=other)
        cleaned = clean_output(text, source=source, language="yue")
        assert cleaned.text == translation, text


def test_a_line_that_goes_on_with_the_source_makes_it_ambiguous() -> None:
    source = "我小時候，祖母常常給我講一個關於老虎的故事，我到現在還記得。"
    translation = "我細個嗰陣，嫲嫲成日同我講一個關於老虎嘅故事，我到而家仲記得。故事入面隻老虎好怕貓。"
    text = f"故事入面的老虎好怕貓。\n{translation}"
    assert clean_output(text, source=source, language="yue").ambiguous


def test_a_translation_that_changes_little_is_no_copy_of_the_source() -> None:
    source = "兩兄弟以前是同一間公司的股東，後來公司倒閉了，大家各奔前程。"
    near = "兩兄弟以前係同一間公司嘅股東，後來公司倒閉咗，大家各奔前程。"
    other = "佢哋兩兄弟曾經一齊做股東，間公司執咗笠之後就各行各路。"
    text = f"{near}\n\nCantonese:\n{other}"
    cleaned = clean_output(text, source=source, language="yue")
    assert (cleaned.text, cleaned.ambiguous) == (near, True)


@pytest.mark.parametrize(
    ("source", "language", "response"),
    [
        ("How are you?", "yue", "There are two ways:\n1. 你點呀？\n2. 你點呀今日？"),
        ("Sorry.", "yue", "You can say 對唔住 or 唔好意思."),
        ("I miss you.", "yue", 'Two options: "我掛住你" / "我好掛住你"'),
        ("不用谢。", "yue", "可以講「唔使客氣」或者「唔使唔該」。"),
        ("Go away!", "yue", "Casual: 走啦！\nPolite: 請你離開。"),
        ("Go away!", "yue", "口語：走啦！\n禮貌：請你離開。"),
        ("唔該晒。", "en", 'Either "Thanks a lot" or "Thank you so much" would do.'),
        ("佢話佢知。", "en", "The pronoun 佢 can be he or she, and"),
    ],
)
def test_two_equal_translations_and_words_about_the_source_are_ambiguous(
    source: str, language: str, response: str
) -> None:
    assert clean_output(response, source=source, language=language).ambiguous


@pytest.mark.parametrize(
    ("source", "language", "response"),
    [
        ("[audio]", "yue", "I can't see any text. Could you please send the sentence?"),
        ("（空）", "zh", "抱歉，我没有看到要翻译的句子。"),
        (
            "(image)",
            "en",
            "There is no text to translate. Please provide the sentence.",
        ),
    ],
)
def test_nothing_to_translate_is_a_refusal(
    source: str, language: str, response: str
) -> None:
    assert clean_output(response, source=source, language=language).refused


def test_an_announcement_that_nothing_follows_leaves_nothing() -> None:
    source = "The shop closes at nine."
    for response in ("Here is the Cantonese translation:", "好的，翻譯如下："):
        assert clean_output(response, source=source, language="yue").text == ""
    own = clean_output("以下是結果：", source="Here are the results:", language="zh")
    assert own.text == "以下是結果："


@pytest.mark.parametrize(
    ("source", "response", "text"),
    [
        ("I am free today.", "我今日得閒。😊", "我今日得閒。"),
        ("I am free today.", "😊 我今日得閒。 👍🏻", "我今日得閒。"),
        ("I am free today. 😊", "我今日得閒。😊", "我今日得閒。😊"),
        (
            "孩子們在家吃飯。",
            "細路喺屋企食飯。唔啱，要加「緊」：細路喺屋企食緊飯。",
            "細路喺屋企食緊飯。",
        ),
        (
            "孩子們在家吃飯。",
            "細路喺屋企食飯。等等，應該係：細路喺屋企食緊飯。",
            "細路喺屋企食緊飯。",
        ),
        ("“Up” or “down”?", "「上」或「下」？", "「上」或「下」？"),
        ("You can't see me.", "你睇唔到我。", "你睇唔到我。"),
    ],
)
def test_emoji_and_what_is_corrected_are_no_part_of_a_translation(
    source: str, response: str, text: str
) -> None:
    cleaned = clean_output(response, source=source, language="yue")
    assert (cleaned.text, cleaned.ambiguous, cleaned.refused) == (text, False, False)


@pytest.mark.parametrize(
    ("source", "language", "layout", "translation"),
    [
        (
            *STINGY[:1],
            "yue",
            '<translation lang="yue">{T}</translation>\n<notes>孤寒 = stingy</notes>',
            "",
        ),
        (*STINGY[:1], "yue", '<output id="1">\n{T}\n</output>\n\n<note>孤寒</note>', ""),
        (*STINGY[:1], "yue", '<p lang="yue">{T}</p>', ""),
        ("他昨天沒來。", "yue", "<zh>他昨天沒來。</zh>\n<yue>{T}</yue>", "佢琴日冇嚟。"),
        ("佢琴日冇嚟。", "en", "<yue>佢琴日冇嚟。</yue><en>{T}</en>", "He didn't come yesterday."),
        ("佢琴日冇嚟。", "en", "Here you go — {T}", "He didn't come yesterday."),
        ("佢琴日冇嚟。", "en", "Sure! Here it is - {T}", "He didn't come yesterday."),
        ("He didn't come.", "yue", "好嘅——{T}", "佢冇嚟。"),
        ("He didn't come.", "yue", "譯文如下——\n{T}\n——以上。", "佢冇嚟。"),
        ("He didn't come.", "yue", "{T}\n（完）", "佢冇嚟。"),
        ("He didn't come.", "yue", "{T}\n\n— End of translation —", "佢冇嚟。"),
        ("He didn't come.", "yue", "{T}\n祝您生活愉快！", "佢冇嚟。"),
        ("佢琴日冇嚟。", "en", "{T} Have a nice day!", "He didn't come yesterday."),
        ("佢琴日冇嚟。", "en", "{T}\n\nThank you for using this.", "He didn't come."),
        ("佢琴日冇嚟。", "en", "En: {T}\nYue: 佢琴日冇嚟。\nZh: 他昨天没来。", "He didn't come."),
        ("佢琴日冇嚟。", "en", "- YUE: 佢琴日冇嚟。\n- EN: {T}", "He didn't come yesterday."),
        ("佢琴日冇嚟。", "en", "Phrase: 佢琴日冇嚟。\nTone: casual\nFinal → {T}", "He didn't come."),
        ("He didn't come.", "yue", "語域：口語\n直譯：他沒有來到。\n最終：{T}", "佢冇嚟。"),
        ("Sure, I will come.", "yue", "{T}", "當然——我會嚟。"),
        ("Here you go, sir.", "yue", "{T}", "畀你——先生。"),
        ("Thank you. Have a nice day!", "yue", "{T}", "多謝。\n祝你有愉快嘅一日！"),
        ("帶埋筆。以上。", "en", "{T}", "Bring pens.\nThe end."),
        ("Type <en> here.", "yue", "{T}", "喺呢度打 <en>。"),
    ],
)  # fmt: skip
def test_tags_dashes_wishes_and_fields_are_no_part_of_a_translation(
    source: str, language: str, layout: str, translation: str
) -> None:
    translation = translation or STINGY[1]
    cleaned = clean_output(
        layout.format(T=translation), source=source, language=language
    )
    assert (cleaned.text, cleaned.ambiguous, cleaned.refused) == (
        translation,
        False,
        False,
    )


@pytest.mark.parametrize(
    "response",
    [
        "抱歉，呢句有問題，恕我無法翻譯。如果你想改寫，我樂意提供協助。",
        "I can't translate this because it is insulting. If you like, I can help.",
        "對唔住，我唔可以翻譯呢句，因為有攻擊性。不過我可以幫你寫一句禮貌嘅說話。",
        "I'm not able to translate that.\n\nHowever, I would be glad to help you talk to him.",
        "Could you tell me who he is? I need to know that before I can translate the sentence.",
        "請問呢句喺邊度見到？我要知道先可以翻譯。",
        "请问这句话出自哪里？我需要知道才能翻译。",
    ],
)
def test_a_refusal_with_an_offer_is_no_translation(response: str) -> None:
    assert clean_output(response, source=STINGY[0], language="yue").refused


def test_a_translation_that_offers_or_asks_itself_is_no_refusal() -> None:
    for source, translation in [
        ("If you like, I can help.", "如果你想，我可以幫手。"),
        ("I need to know before I can translate it. Is it old?", "我要知道先可以翻譯。係咪舊嘅？"),
        ("Could you tell me who he is?", "可唔可以話我知佢係邊個？"),
    ]:  # fmt: skip
        assert not clean_output(translation, source=source, language="yue").refused
