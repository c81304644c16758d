"""Responses whose judgement depends on a field of the item, with values worked out by hand.

Both harnesses get each of them: an adapter that loses the field on the way gets another judgement.
The items are made up.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hkcanto_tasks.samples import Sample

EXAMPLES = Path(__file__).parents[1] / "hkcanto_tasks" / "sets"
"""Where the benchmark of `yue_benchmark_gsm8k` is declared, for `HKCANTO_BENCHMARKS`."""


@dataclass(frozen=True)
class JudgedCase:
    """A response to an item.

    Attributes:
        name: What the case shows.
        kind: The kind of its task.
        task: Its task.
        decisive: The field of the item, besides the gold answer, without which the judgement
            differs; empty if there is none.
        sample: The item.
        response: What the model wrote.
        values: Some figures of the item → their values, worked out by hand.
        answer: The answer read from the response.
        weights: Figure → length, for rates.
    """

    name: str
    kind: str
    task: str
    decisive: str
    sample: Sample
    response: str
    values: Mapping[str, float]
    answer: str
    weights: Mapping[str, float] = field(default_factory=dict)


_RIGHT, _WRONG = {"acc": 1.0, "unparsed_rate": 0.0}, {"acc": 0.0, "unparsed_rate": 0.0}

_TRAM = Sample(
    id="hkcanto_law/basic_law/901",
    subject="basic_law",
    question="香港島嘅電車喺邊度行？",
    choices=("大嶼山南面", "港島北岸", "西貢半島", "元朗平原"),
    target="B",
)
_NOT_AN_ISLAND = Sample(
    id="hkcanto_law/basic_law/902",
    subject="basic_law",
    question="以下邊個唔係離島？",
    choices=("長洲", "坪洲", "元朗", "南丫島"),
    target="C",
)
_APPLES = Sample(
    id="yue_benchmark_gsm8k/901",
    question="小明有 12 個蘋果，食咗 5 個，仲有幾多個？",
    target="7",
)
_HELLO = Sample(id="hkcanto_g2p/901", source="你好", target="(nei5|lei5) hou2")
_RAIN = Sample(
    id="hkcanto_translation_zh_yue/901",
    source="他說明天會下雨，記得帶傘。",
    target="佢話聽日會落雨，記得帶遮。",
)
_QUOTED = Sample(
    id="hkcanto_translation_zh_yue/902",
    source="「他不在家。」",
    target="「佢唔喺屋企。」",
)
_REVIEW = Sample(
    id="hkcanto_sentiment/openrice/901",
    subject="openrice",
    source="啲叉燒又凍又韌，等足半個鐘。",
    target="Negative",
)
_TALK = Sample(
    id="hkcanto_summarization/901",
    source="大家好，今日想講下街市。我細個成日跟阿嫲去買餸，啲檔主個個都識我。"
    "而家街市少咗人，不過人情味仲喺度。",
)
_SLEEP = Sample(id="hkcanto_fluency/901", category="health", source="點樣先瞓得好？")

JUDGED_CASES = (
    JudgedCase(
        "an option named by its text",
        "multiple_choice",
        "hkcanto_law",
        "choices",
        _TRAM,
        "答案係港島北岸。",
        _RIGHT,
        "B",
    ),
    JudgedCase(
        "the letter of another option",
        "multiple_choice",
        "hkcanto_law",
        "",
        _TRAM,
        "答案：C",
        _WRONG,
        "C",
    ),
    JudgedCase(
        "an option that is not so, to a question for what is not so",
        "multiple_choice",
        "hkcanto_law",
        "question",
        _NOT_AN_ISLAND,
        "C 唔係離島。",
        _RIGHT,
        "C",
    ),
    JudgedCase(
        "a result before the numbers of the question",
        "number",
        "yue_benchmark_gsm8k",
        "question",
        _APPLES,
        "仲有 7 個，因為 12 個減咗 5 個。",
        _RIGHT,
        "7",
    ),
    # `lei5` is a variant of the gold, so only the tone of one of two syllables differs: one of nine
    # characters. The published pair has 2 deletions and insertions in 9 + 9 characters.
    JudgedCase(
        "a variant of the gold, and a wrong tone",
        "g2p",
        "hkcanto_g2p",
        "",
        _HELLO,
        "lei5 hou3",
        {
            "cer_published": 1 / 2,
            "levenshtein_published": 2 / 18,
            "cer": 1 / 9,
            "ser": 1 / 2,
            "tone_error_rate": 1 / 2,
            "onset_error_rate": 0.0,
            "nucleus_error_rate": 0.0,
            "coda_error_rate": 0.0,
            "invalid_rate": 0.0,
        },
        "lei5 hou3",
        {"cer": 9, "ser": 2, "tone_error_rate": 2},
    ),
    JudgedCase(
        "the source before its translation",
        "translation",
        "hkcanto_translation_zh_yue",
        "source",
        _RAIN,
        "他說明天會下雨，記得帶傘。\n佢話聽日會落雨，記得帶遮。",
        {"fluent": 1.0, "overgenerated": 1.0, "copied_source": 0.0, "empty": 0.0},
        "佢話聽日會落雨，記得帶遮。",
    ),
    JudgedCase(
        "nothing but the source",
        "translation",
        "hkcanto_translation_zh_yue",
        "source",
        _RAIN,
        "他說明天會下雨，記得帶傘",
        {"copied_source": 1.0, "empty": 0.0, "wrong_script": 0.0, "overgenerated": 0.0},
        "他說明天會下雨，記得帶傘",
    ),
    JudgedCase(
        "a refusal to translate",
        "translation",
        "hkcanto_translation_zh_yue",
        "",
        _RAIN,
        "對唔住，我唔可以翻譯呢句說話。",
        {"refusal_rate": 1.0, "empty": 0.0, "fluent": 0.0},
        "",
    ),
    JudgedCase(
        "a translation in the other script",
        "translation",
        "hkcanto_translation_zh_yue",
        "",
        _RAIN,
        "佢话听日会落雨，记得带遮。",
        {"wrong_script": 1.0, "copied_source": 0.0, "empty": 0.0, "overgenerated": 0.0},
        "佢话听日会落雨，记得带遮。",
    ),
    JudgedCase(
        "quotation marks that the source has, too",
        "translation",
        "hkcanto_translation_zh_yue",
        "source",
        _QUOTED,
        "「佢唔喺屋企。」",
        {"copied_source": 0.0, "empty": 0.0, "overgenerated": 0.0},
        "「佢唔喺屋企。」",
    ),
    JudgedCase(
        "a label after another that is denied",
        "label",
        "hkcanto_sentiment",
        "",
        _REVIEW,
        "唔係正面，係負面。",
        _RIGHT,
        "Negative",
    ),
    JudgedCase(
        "a summary between a preamble and a note",
        "summarization",
        "hkcanto_summarization",
        "source",
        _TALK,
        "好的，以下是撮要：\n\n佢話街市少咗人，但人情味仲喺度。\n\n註：原文有五句。",
        {
            "fluent": 1.0,
            "overgenerated": 1.0,
            "empty": 0.0,
            "length_penalty": 1.0,
            "n_characters": 16.0,
        },
        "佢話街市少咗人，但人情味仲喺度。",
    ),
    JudgedCase(
        "an answer in quotation marks",
        "fluency",
        "hkcanto_fluency",
        "",
        _SLEEP,
        "「你可以試下早啲瞓。」",
        {"fluent": 1.0, "overgenerated": 0.0, "empty": 0.0, "n_characters": 9.0},
        "你可以試下早啲瞓。",
    ),
)
