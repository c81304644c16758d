"""Translation scores equal those of their libraries, and behave as documented."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from time import process_time

import numpy as np
import opencc
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from hkcanto_metrics.translation import (
    RATES,
    SCORES,
    score_translation,
    sentence_scores,
    sufficient_statistics,
    translation_signatures,
)

SOURCE_ROOT = Path(__file__).parents[2] / "metrics"

# Cantonese, with a translation into Mandarin of varying quality beside a reference.
PAIRS = [
    ("他今天没有空，明天再来。", "他今天没空，明天才来。"),
    ("這個問題很難說。", "这个问题很难说。"),
    ("我食咗飯喇", "我吃过饭了"),
    (
        "他在 IFC 的 Apple Store 买了 2 部 iPhone 15。",
        "他在IFC的苹果店买了两部 iphone 15。",
    ),
    ("", "什么都没有"),
    ("啊啊啊啊啊啊啊啊啊啊啊啊啊啊啊啊啊啊啊啊", "啊，真的吗？"),
    ("𨋢坏了", "电梯坏了"),
    ("一", "一"),
    ("  天气  很好 \n 我们走吧", "天气很好，我们走吧"),
]
HYPOTHESES = [hypothesis for hypothesis, _ in PAIRS]
REFERENCES = [reference for _, reference in PAIRS]
ENGLISH = [
    (
        "He isn't free today; he'll come tomorrow.",
        "He is not free today. He will come tomorrow.",
    ),
    ("The cats SAT on the mat!", "The cat sat on the mat."),
    ("佢今日唔得閒", "He is not free today."),
]


class Characters:
    """Tokenizer for rouge-score: each character except white space."""

    def tokenize(self, text: str) -> list[str]:
        return [character for character in text.lower() if not character.isspace()]


class Thirteen:
    """Tokenizer for rouge-score: sacreBLEU's 13a."""

    def tokenize(self, text: str) -> list[str]:
        tokenizer = sacrebleu.metrics.BLEU(tokenize="13a").tokenizer
        return str(tokenizer(text.lower())).split()


class NoWordNet:
    """An empty WordNet."""

    def synsets(self, word: str) -> list[object]:  # noqa: ARG002
        return []


def nltk_meteor(hypothesis: str, reference: str) -> float:
    from nltk.translate.meteor_score import meteor_score

    tokens = Characters().tokenize
    return float(
        meteor_score([tokens(reference)], tokens(hypothesis), wordnet=NoWordNet())
    )


# --- values worked by hand


def test_scores_of_a_sentence_worked_by_hand() -> None:
    """我食飯 against 我食咗飯: 3 of 3 characters found, in two runs; 1 of 2 bigrams; no trigram."""
    scores = sentence_scores("我食飯", "我食咗飯")
    # P = (1, 1/2, 1/4 smoothed up to order 3 as 1/(2·1)), brevity penalty e^(1 - 4/3).
    assert scores["bleu"] == pytest.approx(
        100 * (1 * 0.5 * 0.5) ** (1 / 3) * np.exp(-1 / 3)
    )
    assert scores["bleu_2"] == pytest.approx(
        100 * (1 * 0.5) ** (1 / 2) * np.exp(-1 / 3)
    )
    # P = (1 + 1/2 + 0)/3 = 1/2, R = (3/4 + 1/3 + 0)/3 = 13/36, F2 = 5PR/(4P + R) = 13/34.
    assert scores["chrf"] == pytest.approx(100 * 13 / 34)
    # P = 1, R = 3/4, F = PR/(0.9P + 0.1R) = 10/13; 2 chunks of 3 matches: 1 - (2/3)³/2 = 23/27.
    assert scores["meteor"] == pytest.approx(100 * 10 / 13 * 23 / 27)
    # 2 · 3 / (3 + 4)
    assert scores["rouge_l"] == pytest.approx(100 * 6 / 7)


def test_a_transposition_worked_by_hand() -> None:
    """飯食 against 食飯: both characters, in two chunks of one; one in common order."""
    scores = sentence_scores("飯食", "食飯")
    assert scores["meteor"] == pytest.approx(50)
    assert scores["rouge_l"] == pytest.approx(50)


def test_corpus_bleu_pools_the_counts_of_the_sentences() -> None:
    # Alone, 一二三 has no 4-gram, and its corpus BLEU would be 0; pooled, all n-grams are right.
    assert score_translation(["一二三"], ["一二三"])["bleu"] == 0
    assert score_translation(["一二三", "四五六七"], ["一二三", "四五六七"])[
        "bleu"
    ] == (pytest.approx(100))


def test_mean_is_that_of_the_three_scores_in_the_paper() -> None:
    scores = score_translation(HYPOTHESES, REFERENCES)
    for suffix in ("", "_normalized"):
        three = [scores[name + suffix] for name in ("bleu", "meteor", "rouge_l")]
        assert scores[f"mean{suffix}"] == pytest.approx(sum(three) / 3)


# --- the libraries' own values


def assert_corpus_scores_are_sacrebleus(
    hypotheses: list[str],
    references: list[str],
    language: str,
    suffix: str,
    **scored: float,
) -> None:
    tokenize = {"zh": "zh", "en": "13a"}[language]
    bleu = sacrebleu.corpus_bleu(
        hypotheses, [references], tokenize=tokenize, force=True
    ).score
    chrf = sacrebleu.corpus_chrf(hypotheses, [references]).score
    pairs = sacrebleu.metrics.BLEU(tokenize=tokenize, max_ngram_order=2, force=True)
    bleu_2 = pairs.corpus_score(hypotheses, [references]).score
    assert scored[f"bleu{suffix}"] == pytest.approx(bleu, abs=5e-5)
    assert scored[f"bleu_2{suffix}"] == pytest.approx(bleu_2, abs=5e-5)
    assert scored[f"chrf{suffix}"] == pytest.approx(chrf, abs=5e-5)


def test_chinese_corpus_scores_equal_sacrebleus() -> None:
    scores = score_translation(HYPOTHESES, REFERENCES)
    assert 0 < scores["bleu"] < 100
    assert_corpus_scores_are_sacrebleus(HYPOTHESES, REFERENCES, "zh", "", **scores)


def test_normalized_scores_are_those_of_the_simplified_texts() -> None:
    simplify = opencc.OpenCC("t2s").convert
    scores = score_translation(HYPOTHESES, REFERENCES)
    assert scores["bleu_normalized"] > scores["bleu"]
    assert_corpus_scores_are_sacrebleus(
        list(map(simplify, HYPOTHESES)), REFERENCES, "zh", "_normalized", **scores
    )


def test_english_corpus_scores_equal_sacrebleus() -> None:
    hypotheses, references = (list(side) for side in zip(*ENGLISH, strict=True))
    scores = score_translation(hypotheses, references, language="en")
    assert 0 < scores["bleu"] < 100
    assert_corpus_scores_are_sacrebleus(hypotheses, references, "en", "", **scores)


def test_sentence_scores_equal_sacrebleus() -> None:
    for hypothesis, reference in PAIRS:
        scores = sentence_scores(hypothesis, reference)
        bleu = sacrebleu.sentence_bleu(hypothesis, [reference], tokenize="zh")
        chrf = sacrebleu.sentence_chrf(hypothesis, [reference])
        assert scores["bleu"] == pytest.approx(bleu.score, abs=5e-5), (
            hypothesis,
            reference,
        )
        assert scores["chrf"] == pytest.approx(chrf.score, abs=5e-5), (
            hypothesis,
            reference,
        )


CHARACTERS = "我你佢唔係 ab。"


@given(
    st.lists(
        st.tuples(st.text(CHARACTERS), st.text(CHARACTERS).filter(str.strip)),
        min_size=1,
    )
)
@settings(max_examples=50, deadline=None)
def test_any_corpus_equals_the_libraries(pairs: list[tuple[str, str]]) -> None:
    hypotheses, references = (list(side) for side in zip(*pairs, strict=True))
    scores = score_translation(hypotheses, references)
    assert_corpus_scores_are_sacrebleus(hypotheses, references, "zh", "", **scores)
    rouge = RougeScorer(["rougeL"], tokenizer=Characters())
    rouge_l = [
        rouge.score(reference, output)["rougeL"].fmeasure for output, reference in pairs
    ]
    assert scores["rouge_l"] == pytest.approx(100 * float(np.mean(rouge_l)))
    meteor = [nltk_meteor(*pair) for pair in pairs]
    assert scores["meteor"] == pytest.approx(100 * float(np.mean(meteor)))


def test_meteor_equals_nltks_on_characters() -> None:
    for hypothesis, reference in PAIRS:
        scores = sentence_scores(hypothesis, reference)
        assert scores["meteor"] == pytest.approx(
            100 * nltk_meteor(hypothesis, reference)
        ), (
            hypothesis,
            reference,
        )


def test_rouge_l_equals_rouge_score() -> None:
    for language, tokenizer, pairs in [
        ("zh", Characters(), PAIRS),
        ("en", Thirteen(), ENGLISH),
    ]:
        rouge = RougeScorer(["rougeL"], tokenizer=tokenizer)
        for hypothesis, reference in pairs:
            expected = rouge.score(reference, hypothesis)["rougeL"].fmeasure
            scores = sentence_scores(hypothesis, reference, language)  # type: ignore[arg-type]
            assert scores["rouge_l"] == pytest.approx(100 * expected), hypothesis


def test_english_meteor_matches_stems() -> None:
    assert sentence_scores("two dogs", "two dog", "en")["meteor"] == pytest.approx(
        100 * 15 / 16
    )


def test_signatures_are_sacrebleus_own() -> None:
    for language, tokenize in (("zh", "zh"), ("en", "13a")):
        signatures = translation_signatures(language)  # type: ignore[arg-type]
        for name, metric in (
            ("bleu", sacrebleu.metrics.BLEU(tokenize=tokenize)),
            ("chrf", sacrebleu.metrics.CHRF()),
        ):
            metric.corpus_score(["x"], [["x"]])
            assert signatures[name] == str(metric.get_signature())
        assert signatures["bleu_2"] == f"order:2|{signatures['bleu']}"
        assert signatures["mean"] == "bleu+meteor+rouge_l"
        assert "wordnet:none" in signatures["meteor"]
    assert "tok:char" in translation_signatures("zh")["rouge_l"]


# --- properties of the scores


def test_references_score_at_the_top() -> None:
    scores = score_translation(REFERENCES, REFERENCES, sources=HYPOTHESES)
    for name in ("bleu", "chrf", "rouge_l"):
        assert scores[name] == scores[f"{name}_normalized"] == pytest.approx(100)
    # 100 - 50/m³ for m characters: 一 loses half, the other sentences little.
    lengths = [len("".join(reference.split())) for reference in REFERENCES]
    assert scores["meteor"] == pytest.approx(
        np.mean([100 - 50 / m**3 for m in lengths])
    )
    assert scores["wrong_script"] == scores["empty"] == scores["copied_source"] == 0


def test_perfect_mandarin_in_the_wrong_script_scores_zero_raw_and_full_normalized() -> (
    None
):
    # No character is the same in both scripts.
    references = ["这个问题还没说对", "谁认识开车门", "让时间过"]
    hypotheses = ["這個問題還沒說對", "誰認識開車門", "讓時間過"]
    scores = score_translation(hypotheses, references)
    assert [scores[name] for name in SCORES] == [0] * len(SCORES)
    assert scores["bleu_normalized"] == pytest.approx(100)
    assert scores["chrf_normalized"] == pytest.approx(100)
    assert scores["mean_normalized"] > 99
    assert scores["wrong_script"] == 1


def test_the_region_of_traditional_script_does_not_matter_when_normalized() -> None:
    for conversion in ["s2t", "s2tw", "s2hk"]:
        references = [
            "他在里面看着台湾的面线，群众说为什么",
            "卫生间里脱发的老板启动机床，决定吃药",
        ]
        hypotheses = list(map(opencc.OpenCC(conversion).convert, references))
        assert score_translation(hypotheses, references)[
            "bleu_normalized"
        ] == pytest.approx(100), conversion


def test_normalizing_does_not_forgive_another_word() -> None:
    scores = score_translation(["我坐計程車返屋企"], ["我坐的士返屋企"])
    assert scores["rouge_l_normalized"] == scores["rouge_l"] < 100


def test_wrong_script_is_judged_against_the_references() -> None:
    traditional, simplified = "佢講嘅嘢", "他说的东西"
    hypotheses = [traditional, simplified, "你好", "", "OK"]
    against = {
        "hant": score_translation(hypotheses, [traditional] * 5)["wrong_script"],
        "hans": score_translation(hypotheses, [simplified] * 5)["wrong_script"],
    }
    assert against == {"hant": 0.2, "hans": 0.2}


def test_each_output_is_compared_with_the_script_of_its_own_reference() -> None:
    simplified, traditional = "他说的东西", "佢講嘅嘢"
    references = [simplified, traditional, traditional]
    assert score_translation(references, references)["wrong_script"] == 0
    swapped = [traditional, simplified, traditional]
    assert score_translation(swapped, references)["wrong_script"] == pytest.approx(
        2 / 3
    )


def test_references_that_do_not_tell_the_script_allow_both() -> None:
    assert score_translation(["你说", "你說"], ["你好", "你好"])["wrong_script"] == 0


def test_a_few_stray_characters_are_not_the_wrong_script() -> None:
    scores = score_translation(["這個問題很难說對"], ["這個問題很難說對"])
    assert scores["wrong_script"] == 0


def test_chinese_is_the_wrong_script_for_english() -> None:
    hypotheses = ["佢今日唔得閒", "He likes 蛋撻.", "", "123"]
    scores = score_translation(hypotheses, ["He is not free."] * 4, language="en")
    assert scores["wrong_script"] == 0.25


def test_empty_outputs_are_counted_and_score_zero() -> None:
    scores = score_translation(["", " \n", "你好"], ["你好"] * 3)
    assert scores["empty"] == pytest.approx(2 / 3)
    assert scores["rouge_l"] == pytest.approx(100 / 3)
    assert score_translation([""], ["你好"]) == {
        **dict.fromkeys(SCORES, 0),
        **dict.fromkeys((f"{name}_normalized" for name in SCORES), 0),
        "wrong_script": 0,
        "empty": 1,
    }


def test_copies_of_the_source_are_counted() -> None:
    for output, is_copy in [
        ("佢今日唔得閒。", True),
        ("佢今日唔得闲", True),  # another script, another punctuation
        ("佢今天唔得閒。", False),
        ("", False),
    ]:
        scores = score_translation(
            [output], ["他今天没空。"], sources=["佢今日唔得閒。"]
        )
        assert scores["copied_source"] == is_copy, (output, is_copy)


def test_punctuation_alone_is_not_a_copy() -> None:
    assert score_translation(["……"], ["你好"], sources=["？"])["copied_source"] == 0


def test_an_output_that_must_equal_its_source_is_not_a_copy() -> None:
    assert (
        score_translation(["你好！"], ["你好！"], sources=["你好！"])["copied_source"]
        == 0
    )


def test_all_figures_are_there_in_one_order() -> None:
    names = [*SCORES, *(f"{name}_normalized" for name in SCORES)]
    assert list(score_translation(["a"], ["a"])) == [*names, *RATES[:2]]
    assert list(score_translation(["a"], ["a"], sources=["a"])) == [*names, *RATES]
    assert list(score_translation(["a"], ["a"], language="en")) == [*names, *RATES[:2]]
    assert list(sentence_scores("a", "a")) == names


def test_each_score_rises_when_an_error_is_mended() -> None:
    worse, better = "佢琴日冇返公司開會", "佢琴日冇返學校開會"
    reference = "佢尋日冇返學校開會"
    before, after = (
        sentence_scores(worse, reference),
        sentence_scores(better, reference),
    )
    assert all(after[name] > before[name] for name in before)


def test_input_that_cannot_be_scored_is_refused() -> None:
    for call, message in [
        (lambda: score_translation([], []), "list is empty"),
        (lambda: score_translation(["a"], ["a", "b"]), "1 hypotheses but 2 references"),
        (
            lambda: score_translation(["a"], ["a"], sources=[]),
            "1 hypotheses but 0 sources",
        ),
        (lambda: score_translation(["a", "b"], ["a", " "]), "reference 1 is empty"),
        (lambda: score_translation(["a"], ["a"], language="yue"), "'yue'"),  # type: ignore[arg-type]
        (lambda: sentence_scores("a", ""), "reference 0 is empty"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()


# --- confidence intervals


def noisy(reference: str, rng: random.Random) -> str:
    return "".join(rng.choice("啲嘅喺") if rng.random() < 0.3 else c for c in reference)


# --- the terms of a figure


def test_summed_statistics_give_the_score_of_any_part_of_a_corpus() -> None:
    for suffix in ["", "_normalized"]:
        for name in SCORES:
            rows, score = sufficient_statistics(name + suffix, HYPOTHESES, REFERENCES)
            assert len(rows) == len(HYPOTHESES), (suffix, name)
            for part in (slice(None), slice(3, 6), slice(0, 1)):
                expected = score_translation(HYPOTHESES[part], REFERENCES[part])
                assert score(rows[part].sum(axis=0)) == pytest.approx(
                    expected[name + suffix]
                ), (
                    suffix,
                    name,
                )


def test_statistics_of_an_unknown_score_are_refused() -> None:
    with pytest.raises(ValueError, match="'comet'"):
        sufficient_statistics("comet", ["a"], ["a"])


# --- time and network


@pytest.mark.slow
def test_two_thousand_pairs_are_scored_in_twenty_seconds() -> None:
    rng = random.Random(0)
    letters = [chr(code) for code in range(0x4E00, 0x5200)]
    references = ["".join(rng.choices(letters, k=58)) for _ in range(2000)]
    hypotheses = [noisy(reference, rng) for reference in references]
    start = process_time()
    score_translation(hypotheses, references, sources=references)
    assert process_time() - start < 20


def test_a_runaway_output_is_scored_in_time() -> None:
    start = process_time()
    score_translation(["食飯" * 20_000], ["我哋而家去食飯"])
    assert process_time() - start < 10


OFFLINE = """
import json, socket
def refuse(*arguments, **options):
    raise AssertionError("no network")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from dataclasses import astuple
from pathlib import Path
import evaluate, hkcanto_metrics
folder = Path(hkcanto_metrics.__file__).parent / "evaluate_modules" / "hkcanto_translation"
metric = evaluate.load(str(folder))
scores = metric.compute(
    predictions=["我食飯", "He"], references=["我食咗飯", "She"], sources=["我食飯", "He"]
)
english = metric.compute(predictions=["two dogs"], references=["two dog"], language="en")
print(json.dumps([scores, english]))
"""


@pytest.mark.slow
def test_the_evaluate_module_scores_without_network_or_downloads(
    tmp_path: Path,
) -> None:
    pytest.importorskip("evaluate")
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE],
        cwd=tmp_path,
        env={
            **{
                name: value for name, value in os.environ.items() if name != "NLTK_DATA"
            },
            "HOME": str(tmp_path),
            "HF_HOME": str(tmp_path / "hf"),
            "HF_HUB_OFFLINE": "1",
            "PYTHONPATH": os.pathsep.join(
                [str(SOURCE_ROOT), os.environ.get("PYTHONPATH", "")]
            ),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    scores, english = json.loads(done.stdout.splitlines()[-1])
    # The first pair is worked by hand above; in the second, 'he' is a subsequence of 'she'.
    assert scores["rouge_l"] == pytest.approx(100 * (6 / 7 + 4 / 5) / 2)
    assert scores["copied_source"] == 1
    assert english["meteor"] == pytest.approx(100 * 15 / 16)
    assert not list(tmp_path.glob("**/nltk_data"))


# --- the real pairs


def real_pairs(direction: str) -> tuple[list[str], list[str]]:
    file = (
        Path(os.environ["HKCANTO_DATA_DIR"])
        / "hkmmlu"
        / "translation"
        / f"{direction}.jsonl"
    )
    pairs = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return [pair["input"] for pair in pairs], [pair["output"] for pair in pairs]


@pytest.mark.realdata
def test_real_references_score_at_the_top_and_copies_of_the_source_far_below() -> None:
    for direction in ["can2man", "man2can"]:
        sources, references = real_pairs(direction)
        top = score_translation(references, references, sources=sources)
        copies = score_translation(sources, references, sources=sources)
        for name in SCORES:
            for figure in (name, f"{name}_normalized"):
                assert top[figure] > 99.9, direction
                assert copies[figure] < 75, direction
        assert [top[name] for name in RATES] == [0, 0, 0], direction
        assert copies["copied_source"] > 0.95, direction
        assert copies["wrong_script"] > 0.95, direction
        assert_corpus_scores_are_sacrebleus(sources, references, "zh", "", **copies)


@pytest.mark.realdata
def test_real_mandarin_in_traditional_script_loses_raw_and_keeps_normalized() -> None:
    """A quarter of the characters differ between the scripts, which halves BLEU."""
    for conversion in ["s2t", "s2tw", "s2hk"]:
        _, references = real_pairs("can2man")
        hypotheses = list(map(opencc.OpenCC(conversion).convert, references))
        scores = score_translation(hypotheses, references)
        assert scores["bleu"] < 50, conversion
        assert scores["chrf"] < 50, conversion
        assert scores["wrong_script"] > 0.95, conversion
        for name in SCORES:
            assert scores[f"{name}_normalized"] > 99.9, conversion
