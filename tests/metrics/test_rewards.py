"""Rewards equal the evaluation's scores, and have the signature that trainers call."""

import asyncio
import base64
import gzip
import json
import multiprocessing
import os
import pickle
import re
import runpy
import sys
import tomllib
from collections.abc import Callable, Iterator
from itertools import product as every
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jiwer
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hkcanto_metrics import rewards
from hkcanto_metrics.fluency import cantonese_fluency
from hkcanto_metrics.language import identify_language, score_reasoning
from hkcanto_metrics.rewards import (
    cantonese_reward,
    choice_reward,
    constraint_reward,
    format_reward,
    jyutping_reward,
    multiply_rewards,
    reasoning_language_reward,
)
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.tasks import task_as_run

from ..inspect.test_g2p import variants
from ..scripts import load_script

ISLANDS = {"A": "大嶼山", "B": "南丫島", "C": "長洲", "D": "坪洲"}
GOLD = "nei5 (hou2|hou3) aa3"

# Without stop texts, as for a response with a reasoning block.
MULTIPLE_CHOICE = task_as_run("hkmmlu", reasoning=True)
JYUTPING = task_as_run("hkcanto_g2p", reasoning=True)
FLUENCY = task_as_run("hkcanto_fluency", reasoning=True)


def evaluated(text: str, options: dict[str, str], gold: str) -> float:
    """The evaluation's score of a response to a multiple-choice question."""
    choices = [options.get(letter) for letter in "ABCD"]
    return MULTIPLE_CHOICE.judge(
        text, Sample(id="", target=gold, choices=tuple(choices))
    ).values["acc"]


# A reward is the evaluation's score ---------------------------------------------------------------

pieces = st.sampled_from(
    [*("<think>", "</think>", "analysis", "assistantfinal", "[THINK]", "B", "答案：C。"),
     *("南丫島", "nei5 hou2 aa3", "hou3", "譯文：", "佢哋返咗屋企。", "他們", "「", "」"),
     *(" ", "\n", "\0", "x" * 60)]
)  # fmt: skip
responses = st.lists(pieces, max_size=12).map("".join)


@settings(max_examples=300, deadline=None)
@given(responses)
@example("<think>A?</think>analysisIs it B?")
@example("nei5 hou2 aa3 " * 10_000)
def test_a_reward_is_the_score_of_any_response(text: str) -> None:
    letters = choice_reward([text] * 4, answer=[*"ABCD"], options=[ISLANDS] * 4)
    assert letters == [evaluated(text, ISLANDS, letter) for letter in "ABCD"]
    if len(re.findall("[a-z][1-6]", text)) < 3:  # the last complete answer counts
        judged = JYUTPING.judge(text, Sample(id="", target=GOLD)).values
        assert jyutping_reward([text], [GOLD]) == [max(0.0, 1 - judged["ser"])]


@settings(max_examples=300, deadline=None)
@given(responses)
@example(
    "譯文：analysis佢哋返咗屋企。"
)  # a label in front of reasoning that does not end
def test_what_earns_as_cantonese_is_fluent_and_what_earns_as_reasoning_is_cantonese(
    text: str,
) -> None:
    (reward,) = cantonese_reward([text])
    judged = FLUENCY.judge(text, Sample(id="", target="")).values
    assert reward < 1 or judged["fluent"]
    assert cantonese_reward([text], script="hant") == [
        reward
    ]  # there is no Simplified text
    (reward,) = reasoning_language_reward([text], min_characters=0)
    reasoned = score_reasoning(text)
    assert reward < 1 or (reasoned.cantonese, reasoned.finished) == (1.0, 1.0)


def real_folder() -> Path:
    return Path(os.environ["HKCANTO_DATA_DIR"]).parent / "conformance"


def real_outputs() -> Iterator[dict[str, Any]]:
    with gzip.open(
        real_folder() / "real_outputs_unlabelled.jsonl.gz", "rt", encoding="utf-8"
    ) as lines:
        yield from map(json.loads, lines)


@pytest.mark.realdata
@pytest.mark.slow
def test_a_reward_is_the_score_of_every_real_output() -> None:
    rows = list(real_outputs())
    columns = {
        name: [row[name] for row in rows] for name in ("text", "gold", "options")
    }
    found = choice_reward(
        columns["text"], answer=columns["gold"], options=columns["options"]
    )
    assert found == [
        evaluated(row["text"], row["options"], row["gold"]) for row in rows
    ]
    assert 0.3 < sum(filter(None, found)) / len(found) < 0.9
    rewarded = zip(cantonese_reward(columns["text"]), rows, strict=True)
    earned = [row["text"] for reward, row in rewarded if reward == 1]
    fluent = [
        FLUENCY.judge(text, Sample(id="", target="")).values["fluent"]
        for text in earned
    ]
    assert sum(fluent) > 0.99 * len(fluent) > 0  # a reward ignores what the options say


@pytest.mark.realdata
@pytest.mark.slow
def test_a_reward_is_the_score_of_every_real_sentence() -> None:
    from pycantonese import characters_to_jyutping

    from hkcanto_tasks import load_task

    samples = load_task("hkcanto_g2p").samples
    said = [
        " ".join(
            filter(
                None, (reading for _, reading in characters_to_jyutping(each.source))
            )
        )
        for each in samples
    ]
    # jiwer's word errors against the closest reading that the target accepts.
    expected = [
        max(
            0.0,
            1 - min(jiwer.wer(variant, text) for variant in variants(sample.target)),
        )
        for text, sample in zip(said, samples, strict=True)
    ]
    rewards_earned = jyutping_reward(said, [each.target for each in samples])
    assert rewards_earned == pytest.approx(expected)
    assert len({*expected}) > 20


# Worked by hand -----------------------------------------------------------------------------------


def test_a_letter_is_read_with_its_question() -> None:
    asked = {"answer": ["B"], "options": [["旺角", "灣仔"]]}
    assert choice_reward(["B 唔啱。"], **asked, question=["以下邊個說法不正確？"]) == [
        1.0
    ]
    assert choice_reward(["B 唔啱。"], **asked) == [0.0]


def test_a_wrong_tone_counts_as_much_as_is_said() -> None:
    for text, weight, reward in [
        ("gam1 jat6 tin1 hei3", 1.0, 1.0),
        ("gam1 jat6 tin1", 1.0, 3 / 4),  # one syllable of four is missing
        ("gam1 jat6 tin1 hei2", 1.0, 3 / 4),  # one tone of four is wrong
        ("gam1 jat6 tin1 hei2", 0.5, 7 / 8),
        ("gam1 jat6 tin1 hei2", 0.0, 1.0),
        ("gam1 jat6 din1 hei2", 0.0, 3 / 4),  # the onset still counts
        ("gam1 jat6 din2 hei3", 0.0, 3 / 4),  # the tone does not count again
        ("aa1 " * 9, 1.0, 0.0),  # nine errors in four syllables
        ("今日天氣", 1.0, 0.0),
    ]:
        assert jyutping_reward([text], ["gam1 jat6 tin1 hei3"], tone_weight=weight) == [
            pytest.approx(reward)
        ], text


def test_a_form_has_reasoning_and_an_answer_of_a_pattern() -> None:
    for text, reward in [
        ("<think>係B。</think>答案：B", 1.0),
        ("係B。</think>\n答案：B", 1.0),  # a chat template opened the block
        ("<think>係B。</think>", 0.0),
        ("<think>係B。", 0.0),
        ("<think> </think>答案：B", 0.0),
        ("答案：B", 0.0),
        ("<think>係B。</think>應該係B。", 0.0),
    ]:
        assert format_reward([text], pattern="答案：[A-D]") == [reward], text


def test_reasoning_in_another_language_or_none_is_not_rewarded() -> None:
    texts = [
        "<think>佢問緊邊個城市，應該係香港。</think>B",
        "<think>The city is here.</think>B",
        "B",
    ]
    assert reasoning_language_reward(texts) == [1.0, 0.0, 0.0]
    assert reasoning_language_reward(["<think>佢問緊邊個城市，應該係香港。"]) == [0.0]


# Attempts to game them ----------------------------------------------------------------------------

docs = load_script("docs/generate.py")
TRAM = {
    "question": ["電車公司嘅綽號係咩？"],
    "options": [["叮叮", "豬籠車", "水翼船", "纜車"]],
}


def test_a_game_earns_at_most_half_unless_the_table_says_why() -> None:
    for game, earns in docs.games():
        assert earns <= 0.5 or len(game["note"]) > 20, game


NEUTRAL = [
    "今日天氣晴朗",
    "市民外出活動",
    "公園遊人眾多",
    "街道人車爭路",
    "商場生意暢旺",
    "餐廳座無虛席",
    "碼頭大排長龍",
    "沙灘人頭湧湧",
]
CANTONESE = [
    "佢哋成日都搭電車返屋企",
    "我琴晚冇瞓所以而家好攰",
    "嗰間茶餐廳嘅奶茶好好飲",
    "你聽日得唔得閒同我去行街",
    "阿媽叫我買啲餸返去煮飯",
    "個天黑晒應該就嚟落雨喇",
]
OTHERS = {
    "Written Chinese": [
        "他們經常乘坐電車回家",
        "我昨晚沒有睡所以現在很累",
        "那間茶餐廳的奶茶很好喝",
        "你明天有沒有空和我去逛街",
        "媽媽叫我買些菜回去做飯",
        "天都黑了應該快要下雨了",
    ],
    "English": [
        "They always take the tram to go home",
        "I did not sleep so I am tired now",
        "The milk tea at that cafe is very nice",
        "Are you free to go shopping with me",
        "My mother told me to buy some food",
        "It is dark and it should be raining soon",
    ],
    "Japanese": [
        "彼らはいつも電車で家に帰ります",
        "昨夜は寝ていないのでとても疲れています",
        "あの店のミルクティーはとても美味しいです",
        "明日一緒に買い物に行けますか",
        "母が野菜を買って料理しなさいと言いました",
        "空が暗くなったのでもうすぐ雨が降ります",
    ],
}


@pytest.mark.parametrize("reward", [cantonese_reward, reasoning_language_reward])
def test_each_sentence_or_clause_in_cantonese_earns_more(
    reward: Callable[..., Any],
) -> None:
    for (name, other), between, is_last in every(
        OTHERS.items(), "。，\n", (False, True)
    ):
        texts = []
        for k in range(7):
            said = [*CANTONESE[:k], *other[k:]]
            texts.append(between.join(said[::-1] if is_last else said) + "。")
        if reward is reasoning_language_reward:
            texts = [f"<think>{each}</think>A" for each in texts]
        earned = reward(texts)
        assert earned == sorted({*earned}), (
            name,
            between,
            earned,
        )  # rising, all different
        assert (earned[0], earned[-1]) == (0.0, 1.0), (name, between, earned)
        assert max(abs(earned[k] - k / 6) for k in range(7)) < 0.15, (
            name,
            between,
            earned,
        )
        squared = reward(texts, exponent=2)
        assert squared == pytest.approx([each**2 for each in earned])


def test_each_word_in_cantonese_earns_no_less() -> None:
    cantonese = [
        "佢哋",
        "唔",
        "鍾意",
        "嗰啲",
        "人",
        "嘅",
        "嘢",
        "，",
        "成日",
        "喺度",
        "鬧交",
        "㗎",
    ]
    written = [
        "他們",
        "不",
        "喜歡",
        "那些",
        "人",
        "的",
        "東西",
        "，",
        "總是",
        "在這裏",
        "吵架",
        "的",
    ]
    texts = ["".join((*cantonese[:k], *written[k:])) for k in range(13)]
    earned = cantonese_reward(texts)
    assert earned == sorted(earned), earned
    assert (earned[0], earned[-1]) == (0.0, 1.0)
    assert len({*earned}) >= 7, earned


WRITTEN = (
    "這輛電車的外號是叮叮，因為它行駛的時候會發出這樣的聲音。他們認為這個答案是正確的。"
)


def test_written_chinese_earns_nothing_wherever_it_is_hidden() -> None:
    """Only what is in the prompt may be quoted."""
    own = "佢哋成日都搭電車返屋企。"
    for form in (
        *(
            "{0}\n```\n{1}\n```",
            "{0}`{1}`",
            "{0}「{1}」",
            "{0}『{1}』",
            "{0}“{1}”",
            '{0}"{1}"',
        ),
        *(
            "{0}\nA. {1}\nB. {1}",
            "{0}\n> {1}",
            "{0}佢話：{1}",
            "{0}<!-- {1} -->",
            "{0}$${1}$$",
        ),
        *("{1}\n{0}", "{0}《{1}》", "{0}[{1}]", "{0}'{1}'"),
    ):
        text = form.format(own, WRITTEN)
        thought = f"<think>{text}</think>A"
        for earned in (
            *cantonese_reward([text]),
            *reasoning_language_reward([thought]),
        ):
            assert (earned or 0) < 0.35, text
    own = f"佢問「{WRITTEN}」係咩意思，即係話架車個花名。"
    assert reasoning_language_reward([f"<think>{own}</think>A"], [WRITTEN]) == [1.0]


def test_what_looks_like_other_letters_is_judged_as_letters() -> None:
    for english in (
        "Ｔｈｅ　ｔｒａｍ　ｉｓ　ｏｌｄ　ａｎｄ　ｉｔ　ｉｓ　ｓｌｏｗ",
        "𝐓𝐡𝐞 𝐭𝐫𝐚𝐦 𝐢𝐬 𝐨𝐥𝐝 𝐚𝐧𝐝 𝐢𝐭 𝐢𝐬 𝐬𝐥𝐨𝐰",
    ):
        (earned,) = cantonese_reward([f"佢哋返咗屋企。{english}。"])
        assert earned == pytest.approx(6 / (6 + 1.5 * 8))


def test_text_before_the_reasoning_counts_as_reasoning() -> None:
    thought = "<think>佢問緊邊個城市，應該係香港。</think>A"
    (earned,) = reasoning_language_reward(
        [f"The tram is old and it is slow, but so am I. {thought}"]
    )
    assert 0 < (earned or 0) < 0.6
    assert reasoning_language_reward(
        ["佢哋返咗屋企，仲未食飯喎。<think>OK</think>A"]
    ) == [0.0]


def test_repeated_clauses_earn_as_if_written_once() -> None:
    once = "琴晚我同阿媽去咗旺角行街，買咗對波鞋返嚟。"
    for times in (1, 2):
        assert cantonese_reward([once * times])[0] <= 1 / times  # type: ignore[operator]
    alike = "我覺得電車好得意㗎。我覺得電車真係好得意㗎。我都覺得電車好得意㗎。"
    assert cantonese_reward([alike])[0] <= 0.5  # type: ignore[operator]


def test_a_row_is_rewarded_in_its_language() -> None:
    english = "<think>The tram is old and it is slow, but it is cheap.</think>A"
    cantonese = "<think>佢問緊邊個城市，應該係香港。</think>A"
    columns = {"language": ["en", "yue", None, "zh", "English"]}
    texts = [english, cantonese, cantonese, cantonese, cantonese]
    assert reasoning_language_reward(texts, **columns) == [1.0, 1.0, 1.0, 0.0, 0.0]
    said = ["佢哋返咗屋企。"] * 5
    assert cantonese_reward(said, **columns) == [None, 1.0, 1.0, None, None]
    with pytest.raises(
        ValueError, match="row 0: the language is 'fr'; give yue, zh, en, canto"
    ):
        reasoning_language_reward([english], language=["fr"])


def test_honest_completions_earn_all() -> None:
    path = Path(__file__).with_name("honest_completions.jsonl")
    less = []
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        columns = {name: [row[name]] for name in ("question", "options") if name in row}
        if getattr(rewards, row["reward"])([row["text"]], **columns) != [1.0]:
            less.append(row["text"])
    assert less == []


PROSE = tomllib.loads(Path(__file__).with_name("reward_texts.toml").read_text("utf-8"))


@pytest.mark.parametrize("kind", PROSE["honest"])
def test_honest_prose_of_any_kind_earns_all(kind: str) -> None:
    texts = PROSE["honest"][kind]
    assert cantonese_reward(texts) == [1.0] * len(texts)


@pytest.mark.parametrize("kind", PROSE["tricks"])
def test_text_without_the_shape_of_cantonese_prose_earns_at_most_half(
    kind: str,
) -> None:
    texts = PROSE["tricks"][kind]
    for text, earned in zip(texts, cantonese_reward(texts), strict=True):
        assert (earned or 0) <= 0.5, text


def test_an_argument_may_end_in_a_part_of_an_option() -> None:
    columns = {"options": [["佢行車嗰陣會叮叮聲", "佢好似一個豬籠"]]}
    text = "因為個司機會踩個腳掣打鐘，搞到成條街都係叮叮聲。"
    assert cantonese_reward([text], **columns) == [1.0]
    assert cantonese_reward(["我揀佢行車嗰陣會叮叮聲。"], **columns) == [0.0]


def test_an_echo_of_the_question_earns_nothing_and_a_discussion_of_it_does() -> None:
    question = ["介紹一間你最鍾意去嘅茶餐廳同埋佢有乜嘢好食。"]
    echo = (
        "好呀，你想我介紹一間你最鍾意去嘅茶餐廳同埋佢有乜嘢好食，"
        "咁我就介紹一間我最鍾意去嘅茶餐廳同埋佢有乜嘢好食喇。"
    )
    assert cantonese_reward([echo], question) == [0.0]
    in_other_order = (
        "你想知間茶餐廳有乜嘢好食，仲想我介紹一間，因為你最鍾意去嘅茶餐廳。"
        "即係我介紹一間，又係你最鍾意去嘅茶餐廳同埋佢有乜嘢好食。"
    )
    assert cantonese_reward([in_other_order], question) == [0.0]
    answer = "最鍾意去嘅茶餐廳喺我屋企樓下，個西多士炸到金黃色，食落外脆內軟。"
    assert cantonese_reward([answer], question) == [1.0]


def test_the_games_that_succeed_are_counted_on_the_page() -> None:
    text = (Path(__file__).parents[2] / "docs" / "rewards.md").read_text("utf-8")
    games = docs.games()
    assert "Of 140 completions" in text
    assert len(games) == 140
    assert "five earn more than 0.5" in text
    assert sum(earns > 0.5 for _, earns in games) == 5


def test_an_answer_earns_by_what_it_says_itself() -> None:
    for text, reward in [
        ("係叮叮，因為電車行嗰陣會叮叮聲㗎。", 1.0),
        ("電車公司嘅綽號係叮叮，因為佢行嗰陣會響。\n答案：A", 1.0),
        ("A。因為佢響鐘嘅聲係噉。", 1.0),
        ("電車公司嘅綽號係叮叮。", 0.0),
        ("电车公司嘅绰号系叮叮。", 0.0),  # a quotation, although in Simplified script
        ("綽號梗係叮叮啦。", 0.0),
        # Besides a sentence of 6 characters, 9 neutral ones and 6 more earn reward.
        ("佢哋返咗屋企。今日天氣晴朗，市民外出活動，公園遊人眾多，街道擠擁。", 21 / 28),
        # Besides a clause of 6 characters, three times as many neutral ones and 12 more do.
        (f"佢哋返咗屋企，{'，'.join(NEUTRAL)}。", (6 * 4 + 12) / 54),
        (
            "佢哋成日都搭車返屋企。是。",
            0.75,
        ),  # 佢, 哋, 屋企 against 是: not fluent, so 3 of 4
    ]:
        assert cantonese_reward([text], **TRAM) == [pytest.approx(reward)], text


def test_a_row_without_a_question_or_options_quotes_nothing() -> None:
    texts = ["電車公司嘅綽號係叮叮。"] * 2
    columns: dict[str, Any] = {"question": [*TRAM["question"], None]}
    assert cantonese_reward(texts, **columns, options=[*TRAM["options"], np.nan]) == [
        0.0,
        1.0,
    ]


def test_the_least_length_is_in_different_characters_without_particles() -> None:
    for characters in [5, 6]:
        texts = ["佢哋返屋企㗎喎。", "佢哋佢哋返屋企屋企啦。"]
        assert (
            cantonese_reward(texts, min_characters=characters)
            == [float(characters == 5)] * 2
        ), characters
        thoughts = [f"<think>{text}</think>A" for text in texts]
        found = reasoning_language_reward(thoughts, min_characters=characters)
        assert found == [float(characters == 5)] * 2, characters


def test_a_copied_question_is_not_rewarded_as_reasoning() -> None:
    texts = [
        "<think>{}</think>A".format(TRAM["question"][0] + more)
        for more in ("", "諗下先")
    ]
    assert reasoning_language_reward(
        texts, **(TRAM | {k: v * 2 for k, v in TRAM.items()})
    ) == [
        0,
        0,
    ]
    texts = ["<think>佢問電車公司嘅綽號，我記得大家都叫佢做叮叮。</think>A"]
    assert reasoning_language_reward(texts, **TRAM) == [1.0]


def test_the_last_complete_jyutping_counts_and_alternatives_earn_nothing() -> None:
    for text, reward in [
        ("nei5 hou3，唔係，係 nei5 hou2", 1.0),
        ("nei5 hou2，唔係，係 nei5 hou3", 0.5),
        ("nei5 hou2\n\n你 = nei5，好 = hou2", 1.0),
        ("你 (nei5) 好 (hou2)", 1.0),  # no stretch is complete
        ("nei5\nhou2", 1.0),
        ("nei5 (hou2|hou3)", 0.0),
        ("nei5 hou2|hou3", 0.0),
        ("{nei5,lei5} hou2", 0.0),
        ("nei5 or lei5 hou2", 0.0),
        ("nei5 hou2 (hou3)", 0.0),
        ("nei5 hou2 / hou3", 0.0),
        ("/nei5 hou2/", 1.0),
        ("nei5 hou2 nei5 hou2", 0.0),  # two errors in two syllables
    ]:
        assert jyutping_reward([text], ["nei5 hou2"]) == [reward], text


def test_a_stretch_as_long_as_the_shortest_variant_is_complete() -> None:
    gold = "m4 (hai6|hai6 aa3)"
    for text, reward in [
        ("你：nei5。唔係：m4 hai6", 1.0),
        ("你：nei5。唔係呀：m4 hai6 aa3", 1.0),
        ("唔：m4。係：hai5", 0.5),  # no stretch is complete
    ]:
        assert jyutping_reward([text], [gold]) == [reward], text


def test_a_loop_of_few_characters_earns_nothing() -> None:
    for loop in [
        "係唔想諗都唔想諗唔駛諗都唔駛唔想諗都唔駛",
        "佢哋嘅佢哋嘅咁佢哋嘅佢咁佢哋嘅佢哋嘅咁佢",
        "我鍾意我唔鍾意我鍾意我唔鍾意佢鍾意我唔鍾意我，佢唔鍾意。",
    ]:
        assert cantonese_reward([loop]) == [0.0], loop


def test_a_short_sentence_in_cantonese_earns_all() -> None:
    for sentence in [
        *("今日落雨唔想出街", "我唔知佢去咗邊", "部電腦壞咗要攞去整", "琴晚瞓得好差"),
        *("我想買多兩本簿", "今日個天好靚", "個老細成日鬧人", "你幫我拎住先"),
        *("尖沙咀成日都好多人", "等埋我先好走", "今朝凍到震", "阿妹畫畫好叻"),
        *("出面好嘈，閂窗啦", "架車泊喺邊度", "佢笑到碌地", "條河好大到好似好大好大咁"),
    ]:
        assert cantonese_reward([sentence]) == [1.0], sentence


@pytest.mark.realdata
def test_real_sentences_in_cantonese_earn_all() -> None:
    with gzip.open(
        real_folder() / "real_translations.jsonl.gz", "rt", encoding="utf-8"
    ) as lines:
        texts = {json.loads(line)["reference"] for line in lines}
    sentences = sorted(
        {each.strip() for text in texts for each in re.split("(?<=[。！？])", text)}
    )
    fluent = [each for each in sentences if cantonese_fluency(each).passed]
    told = [each for each in fluent if identify_language(each).cantonese_share]
    assert len(told) > 1900
    assert cantonese_reward(told).count(1.0) > 0.985 * len(told)
    assert cantonese_reward(fluent).count(1.0) > 0.9 * len(fluent)


# As trainers call them ----------------------------------------------------------------------------


def test_completions_are_texts_or_messages() -> None:
    for completion in [
        "<think>C？</think>B",
        [{"role": "assistant", "content": "<think>C？</think>B"}],
        [
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "<think>C？</think>B"}],
            }
        ],
        [{"role": "assistant", "reasoning_content": "C？", "content": "B"}],
        [
            {"role": "assistant", "content": "C"},
            {"role": "tool", "content": "…"},
            {"role": "assistant", "thinking": "C？", "content": "B"},
        ],
    ]:
        assert choice_reward([completion], answer=["B"], options=[ISLANDS]) == [1.0], (
            completion
        )
        if "C？" in str(completion):
            assert format_reward([completion]) == [1.0], completion


def test_nothing_is_rewarded_with_nothing() -> None:
    for completion in ["", [], [{"role": "assistant", "content": None}]]:
        assert choice_reward([completion], answer=["A"], options=[ISLANDS]) == [0.0], (
            completion
        )
        assert jyutping_reward([completion], ["nei5"]) == [0.0], completion
        for reward in (cantonese_reward, format_reward, reasoning_language_reward):
            assert reward([completion]) == [0.0], completion


def test_options_are_a_list_or_a_mapping() -> None:
    for answer, options in [
        ("B", ISLANDS),
        ("B", [*ISLANDS.values()]),
        (1, [*ISLANDS.values()]),
        ("B", {**ISLANDS, "E": None}),  # as `datasets` fills missing keys
    ]:
        assert choice_reward(["我揀南丫島。"], answer=[answer], options=[options]) == [
            1.0
        ], answer
        assert choice_reward(["我揀南丫島。"], answer=[answer], choices=[options]) == [
            1.0
        ], answer


def test_an_answer_that_is_no_option_is_refused() -> None:
    for answer in ["E", 4, -1, ""]:
        with pytest.raises(ValueError, match="is not one of the options A, B, C, D"):
            choice_reward(["B"], answer=[answer], options=[ISLANDS])


def test_a_weight_of_tones_outside_of_its_range_is_refused() -> None:
    with pytest.raises(ValueError, match="tone_weight is 2"):
        jyutping_reward(["nei5"], ["nei5"], tone_weight=2)


def test_an_error_names_the_reward_and_the_row() -> None:
    calls: dict[str, Callable[[], Any]] = {
        "choice_reward, row 1: the answer 'E' is not one of the options A, B, C, D": lambda: (
            choice_reward(["A", "B"], answer=["A", "E"], options=[ISLANDS] * 2)
        ),
        "choice_reward, row 0: the answer True is not one": lambda: choice_reward(
            ["A"], answer=[True], options=[ISLANDS]
        ),
        "choice_reward, row 0: the answer 1.5 is not one": lambda: choice_reward(
            ["A"], answer=[1.5], options=[ISLANDS]
        ),
        "choice_reward, row 0: the answer ['B'] ": lambda: choice_reward(
            ["A"], answer=[["B"]], options=[ISLANDS]
        ),
        "choice_reward, row 0: the answer 'B' is not one of the options (none)": lambda: (
            choice_reward(["A"], answer=["B"])
        ),
        # Each character would be an option.
        "choice_reward, row 0: the options are '大嶼山'": lambda: choice_reward(
            ["A"], answer=["A"], options=["大嶼山"]
        ),
        # The eleventh would be left out.
        "choice_reward, row 0: the options are ['x', ": lambda: choice_reward(
            ["A"], answer=["A"], options=[["x"] * 11]
        ),
        "choice_reward, row 0: the option 3 is not a text": lambda: choice_reward(
            ["A"], answer=["A"], options=[[3, 4]]
        ),
        "choice_reward: answer is ['A']; give a list with one entry": lambda: (
            choice_reward(["A", "B"], answer=["A"], options=[ISLANDS] * 2)
        ),
        "choice_reward: answer is 'AB'; give a list": lambda: choice_reward(
            ["A", "B"], answer="AB", options=[ISLANDS] * 2
        ),
        "jyutping_reward, row 1: ": lambda: jyutping_reward(
            ["nei5"] * 2, ["nei5", "(nei5"]
        ),
        "jyutping_reward, row 1: the gold string is 5": lambda: jyutping_reward(
            ["nei5"] * 2,
            ["nei5", 5],  # type: ignore[list-item]
        ),
        "jyutping_reward: tone_weight is nan": lambda: jyutping_reward(
            ["nei5"], ["nei5"], tone_weight=float("nan")
        ),
        "cantonese_reward: script is ['hant']": lambda: cantonese_reward(
            ["你好"],
            script=["hant"],  # type: ignore[arg-type]
        ),
        "cantonese_reward: completions is '你好'; give a list": lambda: (
            cantonese_reward("你好")
        ),
        "cantonese_reward, row 1: the completion is 5": lambda: cantonese_reward(
            ["你好", 5]  # type: ignore[list-item]
        ),
        "cantonese_reward: min_characters is -1": lambda: cantonese_reward(
            ["A"], min_characters=-1
        ),
        "reasoning_language_reward: min_characters is 1.5": lambda: (
            reasoning_language_reward(
                ["A"],
                min_characters=1.5,  # type: ignore[arg-type]
            )
        ),
        "cantonese_reward, row 0: the question is ['?']": lambda: cantonese_reward(
            ["A"],
            question=[["?"]],  # type: ignore[list-item]
        ),
        "format_reward: pattern is '('": lambda: format_reward(["B"], pattern="("),
        "format_reward, row 0: the message is 'B'": lambda: format_reward([["B"]]),  # type: ignore[list-item]
        "reasoning_language_reward, row 0: a part of the message is 5": lambda: (
            reasoning_language_reward([[{"role": "assistant", "content": [5]}]])
        ),
        "multiply_rewards: give at least one": multiply_rewards,
    }
    for message, call in calls.items():
        with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
            call()


def test_a_product_says_which_of_its_rewards_failed() -> None:
    both = multiply_rewards(format_reward, choice_reward)
    with pytest.raises(ValueError, match=r"^choice_reward, row 0: the answer 'E'"):
        both(["A"], answer=["E"], options=[ISLANDS])

    def short(completions: list[str], **_: object) -> list[float | None]:
        del completions
        return [1.0]

    with pytest.raises(
        ValueError, match=r"^format_reward_x_short: 2 completions, but \[2, 1\] rewards"
    ):
        multiply_rewards(format_reward, short)(["A", "B"])


TEXTS = ["我揀南丫島。", "我揀南丫島。", "nei5 hou2"]
LISTED = [*ISLANDS.values()]


def test_columns_may_be_of_numpy_or_pandas() -> None:
    for answer, options in [
        (np.array(["B", "A", None], object), np.array([LISTED, LISTED, None], object)),
        (
            np.array(["B", "A", None], object),
            [np.array(LISTED), np.array(LISTED, object), None],
        ),
        ([np.str_("B"), np.str_("A"), np.nan], [LISTED, LISTED, np.nan]),
        ([np.int64(1), np.uint8(0), None], [ISLANDS, ISLANDS, None]),
        (np.array([1.0, 0.0, np.nan]), [ISLANDS, ISLANDS, None]),
        (pd.Series([1, 0, None], index=[7, 5, 3]), pd.Series([LISTED, LISTED, None])),
        (pd.Series([1, 0, None], dtype="Int64"), pd.Series([ISLANDS, ISLANDS, None])),
        (
            pd.Series(["B", "A", None], dtype="string"),
            pd.Series([ISLANDS, ISLANDS, None]),
        ),
    ]:
        assert choice_reward(TEXTS, answer=answer, options=options) == [
            1.0,
            0.0,
            None,
        ], answer
        assert choice_reward(np.array(TEXTS), answer, choices=options) == [
            1.0,
            0.0,
            None,
        ], answer
        assert choice_reward(pd.Series(TEXTS), answer, options) == [1.0, 0.0, None], (
            answer
        )


def test_completions_may_be_of_numpy() -> None:
    parts = np.array([{"type": "text", "text": "nei5 hou2"}], object)
    messages = np.array([{"role": "assistant", "content": parts}], object)
    gold = np.array(["nei5 hou2"] * 2)
    assert jyutping_reward([messages, np.str_("nei5")], gold) == [1.0, 0.5]


def test_a_row_may_have_its_options_in_either_column() -> None:
    columns: dict[str, Any] = {"options": [LISTED, None], "choices": [None, ISLANDS]}
    assert choice_reward(["B", "B"], answer=["B", "B"], **columns) == [1.0, 1.0]


def half(completions: list[str], **_: object) -> list[float | None]:
    """A user's own reward."""
    return [0.5] * len(completions)


def test_a_reward_can_be_pickled() -> None:
    for reward in [
        *(cantonese_reward, choice_reward, format_reward, jyutping_reward),
        *(reasoning_language_reward, multiply_rewards(choice_reward, half)),
        multiply_rewards(multiply_rewards(choice_reward, cantonese_reward), half),
    ]:
        texts = ["答案係B。", "<think>佢問緊邊個城市，應該係香港。</think>B"]
        columns = {
            "answer": ["B", 1],
            "options": [LISTED] * 2,
            "jyutping": ["nei5", "hou2"],
        }
        copied = pickle.loads(pickle.dumps(reward))
        assert copied.__name__ == reward.__name__, reward
        assert copied(texts, **columns) == reward(texts, **columns), reward


def test_a_reward_runs_in_another_process() -> None:
    product = multiply_rewards(choice_reward, cantonese_reward)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for reward in (choice_reward, product):
            columns = {"answer": ["B"], "options": [LISTED]}
            assert pool.apply(
                reward, (["我揀B，因為嗰度好多人去行山。"],), columns
            ) == [1.0]


def test_a_row_of_another_task_has_no_reward() -> None:
    columns = {
        "answer": ["B", None],
        "options": [ISLANDS, None],
        "jyutping": [None, "nei5"],
        "prompts": ["?", "?"],
        "completion_ids": [[1], [2]],
        "trainer_state": object(),
        "log_extra": print,
    }
    texts = ["答案係B，嗰度有好多人行山。", "nei5"]
    assert choice_reward(completions=texts, **columns) == [1.0, None]  # type: ignore[arg-type]
    assert jyutping_reward(completions=texts, **columns) == [None, 1.0]  # type: ignore[arg-type]
    both = multiply_rewards(choice_reward, cantonese_reward)
    assert both(completions=texts, **columns) == [1.0, None]


def test_a_product_is_that_of_all_and_named_after_them() -> None:
    rewards_of_texts: list[Callable[..., Any]] = [format_reward, half, cantonese_reward]
    for count in (1, 2, 3):
        for some in every(rewards_of_texts, repeat=count):
            texts = ["<think>好。</think>你可以試下早啲瞓。", "他們"]
            expected = [1.0, 1.0]
            for reward in some:
                found = reward(texts)
                expected = [a * b for a, b in zip(expected, found, strict=True)]
            assert multiply_rewards(*some)(texts) == expected
    assert multiply_rewards(format_reward, half).__name__ == "format_reward_x_half"


def test_they_are_exported() -> None:
    import hkcanto_metrics

    for name in (
        "choice_reward",
        "jyutping_reward",
        "cantonese_reward",
        "multiply_rewards",
    ):
        assert getattr(hkcanto_metrics, name) is getattr(rewards, name)


# The examples of docs/rewards.md -----------------------------------------------------------------

BLOCKS = re.findall(
    r"^```python\n(.*?)^```$",
    (Path(__file__).parents[2] / "docs" / "rewards.md").read_text("utf-8"),
    re.M | re.S,
)


def run_block(place: int) -> dict[str, Any]:
    found: dict[str, Any] = {"__name__": "pasted"}
    exec(BLOCKS[place], found)
    return found


@pytest.mark.e2e
def test_the_example_for_trl_rewards_each_row_by_its_task() -> None:
    pytest.importorskip("trl", reason="needs the extra e2e")
    pasted = run_block(0)
    rows = pasted["questions"]
    columns = {
        name: [row[name] for row in rows] for name in rows[0] if name != "prompt"
    }
    texts = [
        "答案係A，因為佢行嗰陣會響叮叮聲，所以香港人就咁叫佢㗎。",
        "ting1 jat6 lok6 jyu4",
    ]
    found = [
        reward(prompts=[], completions=texts, **columns) for reward in pasted["rewards"]
    ]
    assert found == [[1.0, None], [None, 0.875]]
    compile(BLOCKS[1], "docs/rewards.md", "exec")


def test_the_example_for_verifiers_rewards_a_reply(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Task(SimpleNamespace):
        def __class_getitem__(cls, _: type) -> type:
            return cls

    names = {
        "TaskData": SimpleNamespace,
        "Task": Task,
        "Trace": object,
        "reward": lambda f: f,
    }
    interface = SimpleNamespace(**names)
    monkeypatch.setitem(sys.modules, "verifiers", SimpleNamespace(v1=interface))
    monkeypatch.setitem(sys.modules, "verifiers.v1", interface)
    pasted = run_block(2)
    data = pasted["QuestionData"](answer="B", options=[*ISLANDS.values()])
    reply = SimpleNamespace(last_reply="<think>？</think>我揀B。")
    assert asyncio.run(pasted["Question"](data=data).letter(reply)) == 1.0


def test_the_environment_for_verifiers_rewards_letter_and_language(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a stand-in for verifiers; its README says with which version we ran it."""

    class Generic(SimpleNamespace):
        def __init__(self, *values: Any, **named: Any) -> None:
            super().__init__(**named, data=values[0] if values else None)

        def __class_getitem__(cls, _: Any) -> type:
            return cls

    def reward(function: Any = None, **_: Any) -> Any:
        return function or (lambda each: each)

    interface = SimpleNamespace(TaskData=SimpleNamespace, Task=Generic, Taskset=Generic)
    interface.Trace, interface.reward = SimpleNamespace, reward
    monkeypatch.setitem(sys.modules, "verifiers", SimpleNamespace(v1=interface))
    monkeypatch.setitem(sys.modules, "verifiers.v1", interface)
    examples = Path(__file__).parents[2] / "docs" / "examples"
    monkeypatch.syspath_prepend(examples / "verifiers")
    from hkcanto_reasoning import ReasoningTaskset

    tasks = [*ReasoningTaskset(config=SimpleNamespace(task=None)).load()]
    assert [each.data.language for each in tasks] == ["yue", "zh", "en"]
    assert tasks[0].data.prompt.startswith("電車嘅花名係咩？\nA. 叮叮\nB. 豬籠車")
    for task, content, letter, language in [
        (
            tasks[0],
            "<think>我記得架車行嗰陣會響鐘，所以大家都咁叫。</think>A",
            1.0,
            1.0,
        ),
        (tasks[0], "<think>It is old and it makes a sound.</think>B", 0.0, 0.0),
        (tasks[1], "<think>只有牠有翅膀，所以我們選擇這個。</think>B", 1.0, 1.0),
        (tasks[2], "<think>There are seven of them in it.</think>C", 1.0, 1.0),
    ]:
        message = SimpleNamespace(
            model_dump=lambda content=content: {"content": content}
        )
        trace = SimpleNamespace(assistant_messages=[message])
        assert asyncio.run(task.letter(trace)) == letter, content
        assert asyncio.run(task.language(trace)) == language, content


def test_the_server_for_nemo_gym_rewards_the_letter_and_the_language(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With stand-ins for NeMo Gym's classes; its README says what we ran with the real ones."""

    class Record(SimpleNamespace):
        def model_dump(self) -> dict[str, Any]:
            return vars(self)

    names = ("BaseVerifyRequest", "BaseVerifyResponse", "SimpleResourcesServer")
    server = SimpleNamespace(**dict.fromkeys(names, Record))
    monkeypatch.setitem(sys.modules, "nemo_gym", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "nemo_gym.base_resources_server", server)
    folder = Path(docs.__file__).parent / "examples" / "nemo_gym"
    app = runpy.run_path(str(folder / "app.py"))
    rows = [json.loads(line) for line in (folder / "data" / "example.jsonl").open("rb")]
    thought = "架車行嗰陣會叮叮聲噉響，所以人哋咁叫佢。"
    for row, reasoning, text, reward in [
        (rows[0], [thought], "A", 1.5),
        (rows[0], [], f"<think>{thought}</think>A", 1.5),
        (rows[0], ["The tram rings its bell."], "A", 1.0),
        (rows[0], ["The tram rings its bell."], "B", 0.0),
        (rows[1], ["水牛和山羊都不會飛，只有麻雀有翅膀。"], "B", 1.5),
        (rows[2], ["A week has seven days."], "C", 1.5),
        (rows[2], [], "C", 1.0),
    ]:
        parts = [SimpleNamespace(text=each) for each in reasoning]
        items = [
            SimpleNamespace(type="message"),
            SimpleNamespace(type="reasoning", summary=parts, content=None),
        ]
        if row is rows[2]:  # vLLM's form
            items[1] = SimpleNamespace(type="reasoning", summary=[], content=parts)
        body = Record(**row, response=SimpleNamespace(output=items, output_text=text))
        earned = asyncio.run(app["ReasoningServer"]().verify(body))
        assert earned.reward == reward, (row["language"], text)


def test_a_missing_syllable_is_no_wrong_tone() -> None:
    assert jyutping_reward([""], ["1 nei5"], tone_weight=0.5) == [0.0]


def test_a_trainer_may_ask_for_tags_around_the_answer() -> None:
    for tag in ("answer", "response", "solution", "output"):
        completion = f"<think>係B。</think><{tag}>B</{tag}>"
        pattern = f"<{tag}>[A-D]</{tag}>"
        assert format_reward([completion], pattern=pattern) == [1.0], tag
        assert choice_reward([completion], answer=["B"], options=[ISLANDS]) == [1.0]
        words = f"<{tag}>{GOLD.replace('(hou2|hou3)', 'hou2')}</{tag}>"
        assert jyutping_reward([words], [GOLD]) == [1.0], tag


# Misuse ------------------------------------------------------------------------------------------

FROM_TRL: dict[str, Any] = {
    "prompts": ["？"],
    "completion_ids": [[1]],
    "trainer_state": object(),
    "log_extra": print,
    "log_metric": print,
    "environments": None,
    "question_id": [7],
    "source": ["forum"],
}


def test_a_missing_column_or_an_unknown_setting_is_an_error() -> None:
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (choice_reward, {"options": [LISTED]}, "give a column answer"),
        (
            choice_reward,
            {"answers": ["B"], "options": [LISTED]},
            "columns are answers, prompts",
        ),
        (jyutping_reward, {"gold": ["nei5"]}, "give a column jyutping"),
        (constraint_reward, {}, "give a column constraints or instruction_id_list"),
        (cantonese_reward, {"exponant": 2}, "exponant=2 is not one of its arguments"),
        (cantonese_reward, {"questions": ["？"]}, "rename the column questions to"),
        (cantonese_reward, {"Options": [LISTED]}, "rename the column Options to"),
        (reasoning_language_reward, {"languages": ["en"]}, "rename the column lang"),
        (cantonese_reward, {"langauge": ["en"]}, "rename the column langauge to"),
        (constraint_reward, {"constraints": ["[]"], "loose": "no"}, "loose is 'no'"),
        (format_reward, {"patern": "B"}, "patern='B' is not one of its arguments"),
    ]
    for reward, columns, message in cases:
        for function in (reward, multiply_rewards(reward)):
            with pytest.raises(ValueError, match=f"{reward.__name__}: .*{message}"):
                function(completions=["B"], **columns, **FROM_TRL)


def test_rewards_and_completions_of_a_wrong_type_are_errors() -> None:
    with pytest.raises(ValueError, match="give at least one reward function"):
        multiply_rewards("choice_reward")  # type: ignore[arg-type]
    wrong: dict[str, Any] = {
        "completions is None; give a list": None,
        "row 0: the content is 3; give a text": [[{"role": "assistant", "content": 3}]],
    }
    for message, completions in wrong.items():
        with pytest.raises(ValueError, match=f"cantonese_reward.* {message}"):
            cantonese_reward(completions)


def test_columns_and_objects_of_the_trainer_are_ignored() -> None:
    assert cantonese_reward(["佢哋返咗屋企。"], **FROM_TRL) == [1.0]
    columns: dict[str, Any] = {"answer": ["B"], "options": [LISTED], "choice": ["？"]}
    assert choice_reward(["B"], **columns, **FROM_TRL) == [1.0]


def test_options_have_letters() -> None:
    for keys in ("ab", (1, 2), ("text", "label")):
        options: Any = [dict(zip(keys, LISTED, strict=False))]
        with pytest.raises(ValueError, match="row 0: an option has the letter"):
            choice_reward(["B"], ["B"], options)


def test_the_last_message_of_the_assistant_counts() -> None:
    right: dict[str, Any] = {"role": "assistant", "content": "B"}
    wrong = {"role": "user", "content": "A"}
    for messages in ([right, wrong], [wrong, right], [right, wrong, wrong]):
        assert choice_reward([messages], ["B"], [LISTED]) == [1.0]
    with pytest.raises(
        ValueError, match=r"row 0: no message .* has the role assistant"
    ):
        cantonese_reward([[wrong]])


def test_what_nobody_sees_is_no_answer() -> None:
    for hidden in ("\u200b", "\u2060\ufeff", "<answer>\u200b</answer>"):
        assert format_reward([f"<think>係B。</think>{hidden}"]) == [0.0], hidden
        assert format_reward([f"<think>{hidden[:1]}</think>"]) == [0.0], hidden
    assert format_reward(["<think>\u200b</think>B", "<think>好</think>？"]) == [
        0.0,
        1.0,
    ]
    for comment in ("<!-- nei5 hou2 -->", "<!--\nnei5 hou2", "<!-- x -->"):
        assert jyutping_reward([comment], ["nei5 hou2"]) == [0.0], comment
        assert jyutping_reward([f"nei5 hou2 {comment}"], ["nei5 hou2"]) == [1.0]


def test_jyutping_may_be_a_value_in_json() -> None:
    for answer in (
        '{"jyutping": "nei5 hou2"}',
        '```json\n{\n  "text": "你好",\n  "jyutping": "nei5 hou2"\n}\n```',
    ):
        assert jyutping_reward([answer], ["nei5 hou2"]) == [1.0], answer
    assert jyutping_reward(["{nei5, hou2}"], ["nei5 hou2"]) == [0.0]


def test_letters_weigh_as_words_however_they_are_joined() -> None:
    words = ("The tram rings its bell when it comes and people like it " * 2).split()
    cantonese = "佢哋成日都搭電車返屋企食飯。"
    titles = "".join(map(str.title, words))
    encoded = base64.b64encode(" ".join(words).encode()).decode()
    for joined in ("_".join(words), "%20".join(words), "".join(words), titles, encoded):
        assert cantonese_reward([cantonese + joined])[0] < 0.5, joined  # type: ignore[operator]
    for honest in (
        "詳情可以去 https://www.hongkongtramways.com/en/schedules-fares.html 睇下。",
        "你可以用 getElementsByClassName 攞晒啲元素返嚟睇下。",
        "你咁樣寫就得：\n```python\nx = calculate_total_price_with_discount(y)\n```",
    ):
        assert cantonese_reward([cantonese + honest]) == [1.0], honest


def test_english_reasoning_after_a_cantonese_sentence_reduces_the_reward() -> None:
    thought = "佢問緊邊個城市，應該係香港。"
    rest = (
        "It asks about the city. It must be Hong Kong because it has trams, so it is B."
    )
    earned = reasoning_language_reward(
        [f"<think>{thought}</think>{text}" for text in (rest, "B")],
        options=[["澳門", "香港"]] * 2,
    )
    assert earned[0] < 0.5
    assert earned[1] == 1.0


def test_english_options_copied_as_reasoning_earn_nothing() -> None:
    options = ["Ding Ding, after its bell", "The Peak Tram of the island"]
    copied = "A. Ding Ding, after its bell\nB. The Peak Tram of the island"
    own = "The tram has this nickname because of the sound of its bell, so it is A."
    earned = reasoning_language_reward(
        [f"<think>{text}</think>A" for text in (copied, own)],
        options=[options] * 2,
        language=["en"] * 2,
    )
    assert earned == [0.0, 1.0]


@pytest.mark.parametrize(
    "padding",
    [
        "4d616e792070656f706c652062656c69657665207468617420746865",
        "TWFueSBwZW9wbGUgYmVsaWV2ZSB0aGF0IHRoZSBjb21wYW55IGxpZWQ=",
        "zuo2tian1 wo3men5 qu4le5 gong1yuan2 feichang2 kaixin1",
        "ㄗㄨㄛˊㄊㄧㄢㄨㄛˇㄇㄣ˙ㄑㄩˋㄌㄜ˙ㄍㄨㄥㄩㄢˊ",
        "".join(chr(0x3400 + 11 * number) for number in range(400)),
    ],
)
def test_codes_and_rare_characters_count_against_cantonese(padding: str) -> None:
    (earned,) = cantonese_reward([f"佢哋返咗屋企。{padding}"])
    assert earned is not None
    assert earned <= 0.5
