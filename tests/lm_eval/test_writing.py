"""Translation, summaries, sentiment and fluency through lm-eval's evaluator."""

from typing import Any

import pytest
from lm_eval.api.instance import Instance

from hkcanto_metrics import score_translation

from ..answering import AnsweringLM
from .evaluating import evaluate, first_prompt

CANTONESE = "hkcanto_translation_zh_yue"


class WritingLM(AnsweringLM):
    """Answers with something of the item itself: its reference, its source, or a fixed text."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        del disable_tqdm
        return [self.write(request.doc) for request in requests]

    def write(self, doc: dict[str, Any]) -> str:
        if self.what == "reference":
            return str(doc["target"])
        return str(doc["choices"][0]) if self.what == "source" else self.what


def row(task: str, what: str, **options: Any) -> dict[str, float]:
    results = evaluate(task, model=WritingLM(what), **options)
    return {
        name.removesuffix(",none"): value
        for name, value in results["results"][task].items()
        if name.endswith(",none") and isinstance(value, float)
    }


@pytest.mark.parametrize(
    "task",
    [
        *(f"hkcanto_translation_{way}" for way in ("yue_en", "en_yue", "yue_zh", "zh_yue")),
        *("hkmmlu_translation_yue_zh", "hkmmlu_translation_zh_yue"),
    ],
)
def test_references_score_at_the_top_and_copies_do_not(task: str) -> None:
    best, copied = row(task, "reference"), row(task, "source")
    for name in ("bleu", "chrf", "rouge_l", "bleu_normalized"):
        assert best[name] == pytest.approx(100)
        assert copied[name] < 80
    assert best["mean"] > 99.9
    assert (best["empty"], best["wrong_script"], best["copied_source"]) == (0, 0, 0)
    assert copied["copied_source"] == 1


@pytest.mark.parametrize("task", [CANTONESE, "hkmmlu_translation_zh_yue"])
def test_the_other_language_given_as_cantonese_is_not_fluent(task: str) -> None:
    assert row(task, "reference")["fluent"] == 1
    assert row(task, "source")["fluent"] < 0.5


def test_corpus_figures_are_those_of_all_pairs() -> None:
    results = evaluate(CANTONESE, model=WritingLM("佢話聽日會落雨，記得帶遮。"))
    pairs = [
        (sample["filtered_resps"][0], sample["target"]) for sample in results["samples"][CANTONESE]
    ]
    hypotheses, references = zip(*pairs, strict=True)
    expected = score_translation(hypotheses, references)
    for name in ("bleu", "chrf", "meteor", "rouge_l", "mean", "chrf_normalized"):
        assert results["results"][CANTONESE][f"{name},none"] == pytest.approx(expected[name])


def test_the_three_shot_prompt_is_the_papers() -> None:
    prompt = first_prompt(evaluate(CANTONESE, model=WritingLM("source"), limit=1), CANTONESE)
    assert prompt.startswith(
        "參考以下例子，將以下繁體中文句子翻譯成香港的廣東話：\n\n例子1：中文書面語："
    )
    assert prompt.count(" 廣東話：") == 3
    assert prompt.endswith("並符合香港的廣東話語法及表達方式\n\n只需回覆翻譯部份，不需要解釋")


def test_each_direction_of_hkmmlu_has_its_own_prompt_and_languages() -> None:
    """Figure 12 has its captions swapped: here the texts and the data must agree."""
    to_mandarin = evaluate("hkmmlu_translation_yue_zh", model=WritingLM("source"), limit=1)
    to_cantonese = evaluate("hkmmlu_translation_zh_yue", model=WritingLM("source"), limit=1)
    first = first_prompt(to_mandarin, "hkmmlu_translation_yue_zh")
    second = first_prompt(to_cantonese, "hkmmlu_translation_zh_yue")
    assert first.startswith("请你将以下嘅粤语翻成普通话。")
    assert second.startswith("请将以下普通话翻译为粤语白话文。")
    assert "我哋" in first
    assert "我们" in second


def test_sentiment_averages_its_two_sources() -> None:
    results = evaluate("hkcanto_sentiment", model=WritingLM("Positive"))
    parts = [
        results["results"][f"hkcanto_sentiment_{source}"]["acc,none"]
        for source in ("openrice", "facebook")
    ]
    average = results["results"]["hkcanto_sentiment"]["acc_macro,none"]
    assert average == pytest.approx(sum(parts) / 2)


def test_an_output_that_names_every_label_is_unparsed() -> None:
    got = row("hkcanto_sentiment_facebook", "Positive, Negative or Neutral")
    assert (got["acc"], got["unparsed_rate"]) == (0, 1)


def test_fluency_tells_cantonese_from_written_chinese_and_from_loops() -> None:
    good = row("hkcanto_fluency", "我哋放工之後會去街市買餸，返到屋企先煮飯。")
    written = row("hkcanto_fluency", "這是我們今天的晚飯，他們還沒有來。")
    loop = row("hkcanto_fluency", "我哋去食飯啦，" * 60)
    assert (good["fluent"], written["fluent"], loop["fluent"]) == (1, 0, 0)
    assert loop["degenerate"] == 1


def test_a_long_summary_is_penalised() -> None:
    got = row("hkcanto_summarization", "呢篇文講街坊點樣自己整返壞咗嘅嘢，慳錢之餘又識多咗朋友。")
    assert got["length_penalty"] == 1
    assert got["fluent"] == 1
