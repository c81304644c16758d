"""Scores of responses against gold strings with alternatives."""

import json
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields
from fractions import Fraction
from itertools import chain, product
from pathlib import Path
from time import process_time

import jiwer
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Indel

from hkcanto_metrics import pool_jyutping, score_jyutping
from hkcanto_metrics.jyutping import MalformedAnswer, parse_syllable

# Worked values of the release's scorer; the last two are corrected, see `score_jyutping`.
PUBLISHED = [
    ("nei5 hou2", "nei5 hou2", 0.0, 0.0),
    ("nei5hou2", "nei5 hou2", 0.0, 0.0),
    ("ze5 jung2 pou5", "(ze2|ze5) jung2 pou5", 0.0, 0.0),
    ("jung2 pou5", "(ze2|ze5) jung2 pou5", 1.0, 0.16666666666666663),
    ("Gam1 jat6, tin1 hei3!", "gam1 jat6 tin1 hei3", 0.0, 0.0),
    ("gam1 jat6 tin1", "gam1 jat6 tin1 hei3", 0.25, 0.1515151515151515),
    ("lei4 nei1 dou6", "(lai4|lei4) (ni1|nei1) dou6", 0.0, 0.0),
    ("ngo5 ng4 zi1 aa3", "ngo5 m4 zi1", 0.33333333333333337, 0.2592592592592593),
    ("jyu2", "jyu4", 1.0, 0.25),
    ("今日天氣", "gam1 jat6 tin1 hei3", 1.0, 1.0),
    ("", "gam1 jat6 tin1 hei3", 1.0, 1.0),
]


def test_published_figures_are_those_of_the_release() -> None:
    for response, answer, cer, levenshtein in PUBLISHED:
        score = score_jyutping(response, answer)
        assert (score.cer_published, score.levenshtein_published) == (
            cer,
            levenshtein,
        ), (
            response,
            answer,
            cer,
            levenshtein,
        )


def test_published_figures_keep_optional_parts_and_double_blanks_as_they_are_written() -> (
    None
):
    # The release reads "(ng)aam1" as one literal syllable, and an empty one between two blanks.
    assert score_jyutping("ngaam1 hou2", "(ng)aam1 hou2").cer_published == 0.5
    assert score_jyutping("nei5 hou2", "nei5  hou2").cer_published == pytest.approx(
        2 / 3
    )


SYLLABLES = ["nei5", "lei5", "hou2", "hou3", "aa3", "ngo5", "m4"]
options = st.lists(st.lists(st.sampled_from(SYLLABLES), min_size=1, max_size=2).map(" ".join),
                   min_size=1, max_size=3)  # fmt: skip
golds = st.lists(options, min_size=1, max_size=4)
sentences = st.lists(st.sampled_from([*SYLLABLES, "hao3", "menu"]), max_size=7).map(
    " ".join
)
short_golds = st.lists(options, min_size=1, max_size=2)
short_sentences = st.lists(st.sampled_from([*SYLLABLES, "hao3"]), max_size=4).map(
    " ".join
)


def gold_string(gold: list[list[str]]) -> str:
    return " ".join(f"({'|'.join(o)})" if len(o) > 1 else o[0] for o in gold)


def alignments(
    gold: list[str], got: list[str]
) -> Iterator[list[tuple[str | None, str | None]]]:
    """All alignments of two sentences."""
    if not gold and not got:
        yield []
    for i, j in [(1, 1), (1, 0), (0, 1)]:
        if i <= len(gold) and j <= len(got):
            pair = gold[0] if i else None, got[0] if j else None
            yield from ([pair, *rest] for rest in alignments(gold[i:], got[j:]))


def cost(alignment: Iterable[tuple[str | None, str | None]]) -> tuple[int, int]:
    """The number of errors, and of components that differ in the pairs."""
    wrong = [(gold, got) for gold, got in alignment if gold != got]
    pairs = [(gold, got) for gold, got in wrong if gold is not None and got is not None]
    parts = chain.from_iterable(
        zip(*map(parse_syllable, pair), strict=True) for pair in pairs
    )
    return len(wrong), sum(a is None or a != b for a, b in parts)


@settings(max_examples=50, deadline=None)
@given(golds, sentences)
def test_scores_are_those_of_the_best_of_all_variants(
    gold: list[list[str]], response: str
) -> None:
    score = score_jyutping(response, gold_string(gold))
    variants = [" ".join(parts) for parts in product(*gold)]
    nearest = max(variants, key=lambda v: Indel.normalized_similarity(v, response))
    assert score.published_variant == nearest
    assert score.levenshtein_published == 1 - Indel.normalized_similarity(
        nearest, response
    )
    assert score.cer == min(jiwer.cer(v, score.extracted) for v in variants)
    assert score.ser == min(jiwer.wer(v, score.extracted) for v in variants)
    assert score.variant in variants


@settings(max_examples=50, deadline=None)
@given(short_golds, short_sentences)
def test_the_variant_and_its_alignment_are_those_of_the_nearest_sounds(
    gold: list[list[str]], response: str
) -> None:
    score = score_jyutping(response, gold_string(gold))
    got = score.extracted.split()
    variants = [" ".join(parts).split() for parts in product(*gold)]
    least = {v: min(map(cost, alignments(list(v), got))) for v in map(tuple, variants)}
    rate = {
        v: (Fraction(errors, len(v)), parts) for v, (errors, parts) in least.items()
    }
    nearest = min(rate, key=rate.__getitem__)
    assert score.variant == " ".join(nearest)
    assert cost(score.alignment) == least[nearest]
    assert [g for g, _ in score.alignment if g is not None] == list(nearest)
    assert [g for _, g in score.alignment if g is not None] == got


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(sentences, st.lists(st.sampled_from(SYLLABLES), min_size=1)),
        min_size=1,
    )
)
def test_corpus_error_rates_are_those_of_jiwer(
    corpus: list[tuple[str, list[str]]],
) -> None:
    references = [" ".join(gold) for _, gold in corpus]
    scores = [
        score_jyutping(text, gold)
        for (text, _), gold in zip(corpus, references, strict=True)
    ]
    hypotheses = [score.extracted for score in scores]
    pooled = pool_jyutping(scores)
    assert pooled["cer"] == pytest.approx(jiwer.cer(references, hypotheses))
    assert pooled["ser"] == pytest.approx(jiwer.wer(references, hypotheses))


def test_an_introduction_counts_in_the_published_figures_only() -> None:
    score = score_jyutping("Sure! The Jyutping is: nei5 hou2", "nei5 hou2")
    assert score.extracted == "nei5 hou2"
    assert (score.cer, score.ser, score.problem) == (0, 0, "")
    assert score.cer_published == 1


def test_a_syllable_without_a_tone_costs_its_tone_wherever_it_is() -> None:
    score = score_jyutping("gwong dung1 waa2", "gwong2 dung1 waa2")
    assert (score.cer.errors, score.cer.total) == (1, len("gwong2 dung1 waa2"))
    assert (score.tone_error_rate.errors, score.onset_error_rate.errors) == (1, 0)


def test_superscript_tones_are_tones_in_every_figure() -> None:
    score = score_jyutping("nei⁵ ｈｏｕ²", "nei5 hou2")
    assert (score.cer_published, score.levenshtein_published, score.ser) == (0, 0, 0)
    assert score.valid_share == 1


def test_reasoning_is_not_scored() -> None:
    score = score_jyutping("<think>lei5 hou2? No.</think>nei5 hou2", "nei5 hou2")
    assert (score.cer_published, score.ser) == (0, 0)


def test_optional_parts_and_alternatives_of_several_syllables_are_accepted() -> None:
    answer = "(ng)aam1 (toi2 toi2|toi4 toi4) (men1 niu2|menu)"
    assert score_jyutping("aam1 toi4 toi4 menu", answer).ser == 0
    assert score_jyutping("ngaam1 toi2 toi2 men1 niu2", answer).cer == 0


def test_error_rates_exceed_one_when_too_much_is_written() -> None:
    score = score_jyutping("nei5 hou2 aa3 maa3", "nei5")
    assert (score.ser, score.ser.errors, score.ser.total) == (3, 3, 1)
    assert score.cer == len(" hou2 aa3 maa3") / len("nei5")


def test_components_are_counted_on_aligned_syllables() -> None:
    # nei5~lei5 differ in the onset, gwong2~gong3 in onset and tone, waa6 is missing.
    score = score_jyutping("lei5 gong3", "nei5 gwong2 waa6")
    assert score.alignment == (("nei5", "lei5"), ("gwong2", "gong3"), ("waa6", None))
    assert score.tone_error_rate.total == 2
    assert (score.onset_error_rate.errors, score.onset_error_rate.total) == (2, 2)
    assert (score.tone_error_rate.errors, score.tone_error_rate.total) == (1, 2)
    assert score.nucleus_error_rate == score.coda_error_rate == 0
    assert score.ser == 1


def test_a_missing_tone_is_a_tone_error_and_a_strange_syllable_an_error_of_its_letters() -> (
    None
):
    score = score_jyutping("nei5 hou hao3", "nei5 hou2 hou3")
    assert score.tone_error_rate.errors == 1
    assert score.onset_error_rate.errors == score.coda_error_rate.errors == 1


def test_among_equal_syllable_error_rates_the_nearest_sounds_are_aligned() -> None:
    score = score_jyutping("dung2", "gwong2 dung1")
    assert score.alignment == (("gwong2", None), ("dung1", "dung2"))
    assert score_jyutping("lei5 hou2", "(ngo4|nei5) hou2").variant == "nei5 hou2"


def test_among_equally_near_variants_the_first_is_taken() -> None:
    assert score_jyutping("lei5 hou2", "(nei5|mei5) hou2").variant == "nei5 hou2"


def test_a_response_without_valid_jyutping_is_wrong_and_says_why() -> None:
    for response, problem in [
        ("", "empty response"),
        (" \n", "empty response"),
        (
            "<think>nei5 hou2",
            "only reasoning; the token limit may have cut off the answer",
        ),
        ("我唔知", "no Jyutping: a syllable with a tone digit is missing"),
        ("hao3 zhi1", "no valid Jyutping: PyCantonese accepts 0 of 2 syllables"),
    ]:
        score = score_jyutping(response, "nei5 hou2")
        assert (score.valid, score.valid_share, score.problem) == (False, 0, problem), (
            response,
            problem,
        )
        assert score.ser == score.onset_error_rate == 1, (response, problem)


def test_a_response_that_aligns_nothing_has_every_tone_wrong() -> None:
    tones = score_jyutping("", "nei5 hou2 aa3").tone_error_rate
    assert (tones, tones.errors, tones.total) == (1, 3, 3)


def test_pinyin_is_only_partly_valid() -> None:
    score = score_jyutping("ni3 hao3", "nei5 hou2")
    assert (score.valid, score.valid_share) == (True, 0.5)


def test_a_run_away_response_is_named() -> None:
    assert score_jyutping("nei5 hou2 " * 52, "nei5 hou2").problem == (
        "response is 52 times as long as the reference"
    )


def test_pooling_averages_the_published_pair_and_sums_the_rest() -> None:
    scores = [score_jyutping("nei5", "nei5 hou2 aa3 maa3"), score_jyutping("", "hou2")]
    pooled = pool_jyutping(scores)
    assert pooled["cer_published"] == (0.75 + 1) / 2
    assert pooled["ser"] == (3 + 1) / (4 + 1)
    assert pooled["tone_error_rate"] == (0 + 1) / (1 + 1)
    assert pooled["invalid_rate"] == 0.5


def test_nothing_to_pool_is_an_error() -> None:
    with pytest.raises(ValueError, match="no rates to pool"):
        pool_jyutping([])


def test_a_malformed_gold_string_is_an_error() -> None:
    with pytest.raises(MalformedAnswer, match="is unmatched"):
        score_jyutping("nei5", "(nei5|lei5")


def test_a_score_survives_pickling_with_its_counts() -> None:
    score = score_jyutping("nei5 hou3", "nei5 hou2")
    copy = pickle.loads(pickle.dumps(score))
    assert all(getattr(copy, f.name) == getattr(score, f.name) for f in fields(score))
    assert copy.ser.total == 2


def test_a_long_sentence_with_the_most_variants_is_scored_at_once() -> None:
    groups = [("lai4", "lei4"), ("ni1", "nei1"), ("dou6", "dou3"), ("aa3", "aa1")]
    answer = " ".join(f"({'|'.join(group)})" for group in groups * 2) + " hou2" * 32
    response = (
        " ".join(group[i % 3 % 2] for i, group in enumerate(groups * 2)) + " hou2" * 32
    )
    start = process_time()
    score = score_jyutping(response, answer)
    assert score.cer_published == score.cer == score.ser == 0
    assert score.variant == response
    assert score_jyutping("", answer).ser.errors == 40
    assert score_jyutping("sik6 " * 4_000, answer).ser.errors == 4_000
    assert process_time() - start < 4


def random_letters() -> str:
    return "".join(random.Random(0).choices("abcdeghijklmnopstuwz123456 ", k=1_000_000))


@pytest.mark.parametrize(
    "response",
    [
        pytest.param("nei5 hou2 " * 100_000, id="repetition"),
        pytest.param(random_letters(), id="random letters"),
        pytest.param("a" * 999_999 + "1", id="one long word"),
        pytest.param("a" * 1_000_000, id="one long word without a tone"),
        pytest.param(
            "nei5" + "\u0345\u0301\u0323\u0334" * 120_000, id="combining marks"
        ),
        pytest.param("<think>" * 140_000, id="reasoning tags"),
    ],
)
def test_a_megabyte_of_response_is_scored_in_seconds(response: str) -> None:
    start = process_time()
    score = score_jyutping(response, "(nei5|lei5) (hou2 hou2|hou3) (ng)aam1")
    assert process_time() - start < 20
    assert score.problem or score.ser == pytest.approx(2 / 3)


def test_importing_the_package_imports_no_library() -> None:
    code = (
        "import sys, hkcanto_metrics\n"
        "print([m for m in ('jiwer', 'numpy', 'rapidfuzz', 'pycantonese') if m in sys.modules])\n"
        "hkcanto_metrics.score_jyutping('nei5', 'nei5')\n"
        "print('rapidfuzz' in sys.modules, 'pycantonese' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:2] == ["[]", "True False"]


def test_an_unknown_metric_is_an_attribute_error() -> None:
    import hkcanto_metrics

    with pytest.raises(AttributeError, match="no attribute 'score_pinyin'"):
        hkcanto_metrics.score_pinyin  # noqa: B018


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("engine", "cer", "levenshtein"),
    [("pycantonese", 0.228714, 0.065845), ("tojyutping", 0.054876, 0.007916)],
)
def test_rule_based_conversion_of_the_real_sentences_gives_the_release_figures(
    engine: str, cer: float, levenshtein: float
) -> None:
    if engine == "pycantonese":
        from pycantonese import characters_to_jyutping as convert
    else:
        convert = pytest.importorskip("ToJyutping").get_jyutping_list
    folder = Path(os.environ["HKCANTO_DATA_DIR"], "hkeval2025", "phonetics-g2p", "test")
    lines = (folder / "zh_to_jyutping_test_gold.json").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == 145
    scores = [
        score_jyutping(
            " ".join(j for _, j in convert(row["Honzi"]) if j), row["Jyutping"]
        )
        for row in rows
    ]
    pooled = pool_jyutping(scores)
    assert round(pooled["cer_published"], 6) == cer
    assert round(pooled["levenshtein_published"], 6) == levenshtein
    assert pooled["ser"] == pytest.approx(
        jiwer.wer([s.variant for s in scores], [s.extracted for s in scores])
    )
    syllables = chain.from_iterable(score.extracted.split() for score in scores)
    assert sum(1 for _ in syllables) > 2000
