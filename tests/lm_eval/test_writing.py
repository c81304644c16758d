"""Translation, summaries, sentiment and fluency through lm-eval's evaluator."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import pytest
from lm_eval.api.instance import Instance

from hkcanto_metrics import score_translation
from hkcanto_metrics.translation import Language

from ..answering import AnsweringLM
from ..cases import named
from .evaluating import evaluate, first_prompt

CANTONESE = "hkcanto_translation_zh_yue"


class WritingLM(AnsweringLM):
    """Answers with the item's reference, its source, or a fixed text."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what

    def generate_until(
        self, requests: list[Instance], disable_tqdm: bool = False
    ) -> list[str]:
        del disable_tqdm
        return [self.write(request.doc) for request in requests]

    def write(self, doc: dict[str, Any]) -> str:
        if self.what == "reference":
            return str(doc["target"])
        return str(doc["source"]) if self.what == "source" else self.what


@dataclass(frozen=True)
class Run:
    """The results of a run of one task.

    Attributes:
        row: The figures of lm-eval's table.
        items: The figures of an item → their means over the logged samples.
        pairs: The pairs in those samples from which corpus figures are computed.
    """

    row: dict[str, float]
    items: dict[str, float]
    pairs: list[list[str]]


def run(task: str, what: str, **options: Any) -> Run:
    results = evaluate(task, model=WritingLM(what), **options)
    samples = results["samples"][task]
    of_items = [sample["doc"]["judgement"]["values"] for sample in samples]
    return Run(
        {
            name.removesuffix(",none"): value
            for name, value in results["results"][task].items()
            if name.endswith(",none") and isinstance(value, float)
        },
        {name: fmean(values[name] for values in of_items) for name in of_items[0]},
        [list(sample["chrf"]) for sample in samples if "chrf" in sample],
    )


def row(task: str, what: str, **options: Any) -> dict[str, float]:
    return run(task, what, **options).row


def scored(pairs: list[list[str]], task: str) -> Mapping[str, float]:
    hypotheses, references, sources = zip(*pairs, strict=True)
    language: Language = "en" if task.endswith("_en") else "zh"
    return score_translation(hypotheses, references, language=language, sources=sources)


TRANSLATIONS = [
    *(f"hkcanto_translation_{way}" for way in ("yue_en", "en_yue", "yue_zh", "zh_yue")),
    *("hkmmlu_translation_yue_zh", "hkmmlu_translation_zh_yue"),
]


def test_references_score_at_the_top_and_copies_do_not() -> None:
    for task in TRANSLATIONS:
        with named(task):
            best, copied = run(task, "reference"), run(task, "source")
            for name in ("chrf", "chrf_normalized"):
                assert best.row[name] == pytest.approx(100)
                assert copied.row[name] < 80
            if task.startswith("hkmmlu"):
                for name in ("bleu", "rouge_l"):
                    assert best.row[name] == pytest.approx(100)
                    assert copied.row[name] < 80
                assert best.row["mean"] > 99.9
            assert best.row["wrong_script"] == 0
            assert (
                best.items["empty"],
                best.items["wrong_script"],
                best.items["copied_source"],
            ) == (0,) * 3
            assert copied.items["copied_source"] == 1


def test_the_samples_are_enough_for_every_figure_of_the_corpus() -> None:
    """This includes figures that no table has, such as HKCanto-Eval's BLEU."""
    for task in TRANSLATIONS:
        with named(task):
            done = run(task, "佢話聽日會落雨，記得帶遮。")
            expected = scored(done.pairs, task)
            shown = done.row.keys() & expected.keys() - {"wrong_script"}
            assert shown >= {"chrf", "chrf_normalized"}
            for name in shown:
                assert done.row[name] == pytest.approx(expected[name])
            for name in ("empty", "wrong_script", "copied_source"):
                assert done.items[name] == pytest.approx(expected[name])
            best = scored(run(task, "reference").pairs, task)
            assert [
                best[name] for name in ("bleu", "rouge_l", "bleu_normalized")
            ] == pytest.approx([100] * 3)


def test_the_other_language_given_as_cantonese_is_not_fluent() -> None:
    for task in [CANTONESE, "hkmmlu_translation_zh_yue"]:
        with named(task):
            assert row(task, "reference")["fluent"] == 1
            assert row(task, "source")["fluent"] < 0.5


def test_the_three_shot_prompt_is_the_papers() -> None:
    prompt = first_prompt(
        evaluate(CANTONESE, model=WritingLM("source"), limit=1), CANTONESE
    )
    assert prompt.startswith(
        "參考以下例子，將以下繁體中文句子翻譯成香港的廣東話：\n\n例子1：中文書面語："
    )
    assert prompt.count(" 廣東話：") == 3
    assert prompt.endswith(
        "並符合香港的廣東話語法及表達方式\n\n只需回覆翻譯部份，不需要解釋"
    )


def test_each_direction_of_hkmmlu_has_its_own_prompt_and_languages() -> None:
    """Figure 12 has its captions swapped; here, prompts and data must agree."""
    for task, asked, word in (
        ("hkmmlu_translation_yue_zh", "请你将以下嘅粤语翻成普通话。", "我哋"),
        ("hkmmlu_translation_zh_yue", "请将以下普通话翻译为粤语白话文。", "我们"),
    ):
        samples = evaluate(task, model=WritingLM("source"))["samples"][task]
        prompts = [sample["arguments"][0][0] for sample in samples]
        assert all(prompt.startswith(asked) for prompt in prompts)
        assert word in "".join(prompts)


def test_sentiment_averages_its_two_sources() -> None:
    results = evaluate("hkcanto_sentiment", model=WritingLM("Positive"))
    by_source = {
        source: fmean(
            sample["acc"]
            for sample in results["samples"]["hkcanto_sentiment"]
            if sample["doc"]["subject"] == source
        )
        for source in ("openrice", "facebook")
    }
    row = results["results"]["hkcanto_sentiment"]
    for source, accuracy in by_source.items():
        assert row[f"acc_{source},none"] == pytest.approx(accuracy, abs=1e-12)
    assert row["acc_macro,none"] == pytest.approx(fmean(by_source.values()), abs=1e-12)
    assert row["Sentiment (Table 8),none"] == row["acc_macro,none"]


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
    got = row(
        "hkcanto_summarization",
        "呢篇文講街坊點樣自己整返壞咗嘅嘢，慳錢之餘又識多咗朋友。",
    )
    assert got["length_penalty"] == 1
    assert got["fluent"] == 1
