"""Comparisons of two runs: item by item, and refusals."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from sacrebleu.significance import PairedTest
from scipy.stats import norm
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from hkcanto_tasks.errors import ComparisonError, HKCantoError
from hkcanto_tasks.figures import Pair
from hkcanto_tasks.results.frames import Runs
from hkcanto_tasks.results.reports import compare as comparing
from hkcanto_tasks.results.reports.blocks import Note, Report, Section, TableBlock
from hkcanto_tasks.results.reports.gate import decide, gate_section, method_section
from hkcanto_tasks.results.reports.pairs import _test_text, pair_of
from hkcanto_tasks.results.reports.pairs import verdict as sentence_on
from hkcanto_tasks.results.runs import Run, SkippedLog
from hkcanto_tasks.results.statistics.estimates import estimate
from hkcanto_tasks.results.statistics.intervals import (
    agreeing,
    non_inferiority,
    paired_accuracy_interval,
    paired_mean_interval,
)
from hkcanto_tasks.results.statistics.matching import match
from hkcanto_tasks.results.statistics.paired import (
    Comparison,
    GateErrors,
    _corpus_bounds,
    compare,
    pairwise,
)
from hkcanto_tasks.results.statistics.selection import selection

from .beginning import beginning
from .building import a_run, changed

# Of 12 items, both have 4 right and 2 wrong; only A has 1 right, and only B has 5.
A = [1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0]
B = [1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1]
FAST = {"resamples": 200}


def law(values: Sequence[float], label: str = "model", **more: object) -> Run:
    """An evaluation of multiple choice in one subject."""
    return a_run("hkcanto_law", {"acc": values}, label=label, **more)


def sections(compared: Sequence[Comparison]) -> list[Section]:
    return [section for section in comparing.sections([compared], []) if section.blocks]


def verdict(found: Comparison) -> str:
    names = [run.label for run in (found.a, found.b)]
    if names[0] == names[1]:
        names = [f"{name} {place}" for place, name in enumerate(names, 1)]
    return sentence_on(pair_of(found), names)


def questions(count: int) -> list[str]:
    return [f"hkmmlu/hk_law/{i}" for i in range(count)]


def with_options(run: Run, **options: str) -> Run:
    return changed(run, options={**run.options, **options})


def test_a_part_without_items_cannot_be_compared():
    a, b = (a_run("hkmmlu", {"acc": [1] * 40}, label=label) for label in "ab")
    for more in ({}, {"gate": 5.0}):
        with pytest.raises(
            ComparisonError, match="no item has a value for acc_cantonese in both"
        ):
            compare(a, b, metric="acc_cantonese", **more, **FAST)


# --- right and wrong answers


def test_a_comparison_of_answers_worked_by_hand():
    found = compare(law(A, "old"), law(B, "new"), **FAST).overall
    assert (found.a, found.b) == (5 / 12, 9 / 12)
    assert found.difference.value == pytest.approx(4 / 12)
    assert (found.wins, found.losses, found.ties) == (5, 1, 6)
    # Of the 2⁶ ways to assign the 6 items, 7 on each side are at least as lopsided.
    assert found.p_value == pytest.approx(14 / 64)
    assert found.p_value == pytest.approx(mcnemar([[4, 1], [5, 2]], exact=True).pvalue)
    assert found.test == "exact McNemar"
    ends = found.difference.low, found.difference.high
    assert ends == pytest.approx(paired_accuracy_interval(5, 1, 12))


def test_items_are_matched_by_their_ids():
    ids = questions(12)
    order = np.random.default_rng(0).permutation(12)
    there = compare(law(A, ids=ids), law(B, ids=ids), **FAST)
    shuffled = law([B[i] for i in order], ids=[ids[i] for i in order])
    assert compare(law(A, ids=ids), shuffled, **FAST).overall == there.overall


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
@settings(max_examples=25, deadline=None)
def test_the_other_way_round_everything_is_negated(pairs: list[tuple[bool, bool]]):
    a, b = (law(side) for side in zip(*pairs, strict=True))
    there, back = compare(a, b, **FAST).overall, compare(b, a, **FAST).overall
    one, other = there.difference, back.difference
    assert one.value == -other.value
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-9)
    assert (there.wins, there.losses) == (back.losses, back.wins)
    assert there.p_value == back.p_value


def test_equal_runs_differ_in_nothing():
    found = compare(law(A, "old"), law(A, "new"), **FAST)
    assert found.overall.p_value == 1
    # Tango's, with no discordant item: ± z² / (n + z²).
    assert found.overall.difference.high == pytest.approx(
        3.8415 / (12 + 3.8415), abs=1e-4
    )
    assert verdict(found) == (
        "No difference is shown between new and old on Hong Kong law, 5-shot. 0.0 points for new: "
        "Accuracy 41.7 against 41.7. 95 % [−24.2, +24.2], p = 1 (exact McNemar); 0 items won, 0 "
        "lost, 12 tied."
    )


def test_the_interval_of_thousands_of_equal_answers_is_not_written_as_zero():
    run = law([1] * 20_000)
    assert "95 % [−0.02, +0.02], p" in verdict(compare(run, run, **FAST))


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=80))
@settings(max_examples=50, deadline=None)
def test_the_interval_and_mcnemars_test_agree(pairs: list[tuple[bool, bool]]):
    a, b = (law(side) for side in zip(*pairs, strict=True))
    found = compare(a, b, **FAST).overall
    spans_zero = found.difference.low <= 0 <= found.difference.high
    assert spans_zero == (found.p_value > 0.05)


def test_the_same_seed_gives_the_same_figures():
    rng = np.random.default_rng(0)
    runs = [a_run("hkcanto_g2p", {"cer_published": rng.random(60)}) for _ in range(2)]
    assert compare(*runs, **FAST).overall == compare(*runs, **FAST).overall
    assert compare(*runs, **FAST).overall != compare(*runs, **FAST, seed=5).overall


def test_epochs_are_matched_in_order_and_count_as_one_item():
    ids = questions(12)
    clusters = [*range(12)] * 4
    found = compare(
        *(law(side * 4, ids=ids * 4, clusters=clusters) for side in (A, B)), **FAST
    )
    effect = found.overall
    assert effect.p_value == pytest.approx(14 / 64)
    assert effect.test == "paired permutation"
    assert effect.difference.items == 48
    expected = paired_mean_interval(np.array(B) - np.array(A))
    assert (effect.difference.low, effect.difference.high) == pytest.approx(
        agreeing(expected, effect.p_value, 1)
    )


def test_the_gate_says_that_epochs_are_clusters():
    ids, clusters = questions(12), [*range(12)] * 4
    four = [law(side * 4, ids=ids * 4, clusters=clusters) for side in (A, B)]
    once = compare(law(A), law(B), **FAST, gate=5).gate
    found = compare(*four, **FAST, gate=5).gate
    assert found.method.endswith("12 clusters of items")
    assert found.bound == pytest.approx(once.bound)


def test_items_that_a_run_has_no_value_for_are_left_out_and_counted():
    found = compare(law([1, 0, np.nan, 1]), law([1, 1, 1, np.nan]), **FAST)
    assert found.overall.difference.items == 2
    assert found.unscored == 2
    assert any("2 items are left out" in note for note in notes(sections([found])))


def test_a_gate_is_not_passed_by_leaving_items_out():
    with pytest.raises(
        ComparisonError,
        match="2 items have a value of acc in only one of model and model",
    ):
        compare(law([1, 0, np.nan, 1]), law([1, 1, 1, np.nan]), **FAST, gate=90)
    both = law([1, 0, np.nan] * 20)  # items without a value in both runs do not count
    assert compare(both, both, **FAST, gate=20).gate.passed


# --- rates


def test_a_pooled_rate_is_summed_errors_over_summed_length_and_lower_is_better():
    lengths = [10, 30, 60]
    a, b = (
        a_run(
            "hkcanto_g2p",
            {"cer": rates},
            label=label,
            weights={"cer": lengths},
            shots=5,
        )
        for label, rates in (("old", [0.2, 0.1, 0.1]), ("new", [0.1, 0.1, 0.05]))
    )
    found = compare(a, b, metric="cer", **FAST)
    # 2 + 3 + 6 errors against 1 + 3 + 3, in 100 characters.
    assert (found.overall.a, found.overall.b) == pytest.approx((0.11, 0.07))
    assert (found.overall.wins, found.overall.losses, found.overall.ties) == (2, 0, 1)
    assert found.overall.p_value == 0.5  # 2 of the 2² exchanges
    assert (
        "+4.0 points for new: Character error rate (lower is better) 7.0 against 11.0."
        in verdict(found)
    )
    (table, *_) = tables(sections([found]))
    assert values(table, "Gain")[0].value == pytest.approx(4)


def test_a_pooled_rate_weighs_items_by_their_lengths():
    rng = np.random.default_rng(3)
    lengths, rates = rng.integers(1, 40, 80), rng.random((2, 80)) / 3
    a, b = (
        a_run("hkcanto_g2p", {"cer": own}, weights={"cer": lengths}, shots=5)
        for own in rates
    )
    found = compare(a, b, metric="cer", **FAST, gate=30)
    value = (rates[1] - rates[0]) @ lengths / lengths.sum()
    assert found.overall.difference.value == pytest.approx(value)
    ends = paired_mean_interval(rates[1] - rates[0], weights=lengths)
    ends = agreeing(ends, found.overall.p_value, value)
    assert (
        found.overall.difference.low,
        found.overall.difference.high,
    ) == pytest.approx(ends)
    largest = lengths.max()
    expected = non_inferiority(
        rates[0], rates[1], delta=0.3, weights=lengths, largest=largest
    )
    assert found.gate.bound == pytest.approx(100 * expected.bound)
    assert "weighted by length" in found.gate.method


def test_rates_above_one_cannot_hide_a_loss():
    """A loop of 20 times the length in 1 % of the answers is a loss of 20 points."""
    lengths = [10] * 60
    a = a_run("hkcanto_g2p", {"cer": [0.1] * 60}, weights={"cer": lengths}, shots=5)
    b = a_run(
        "hkcanto_g2p", {"cer": [0.1] * 59 + [20.0]}, weights={"cer": lengths}, shots=5
    )
    for sides in ((a, b), (b, a)):
        assert "1 items have a cer above 1" in refusal(*sides, metric="cer")
    # Without a loop in the sample, the gate says what it bounds.
    made = compare(a, a, metric="cer", **FAST, gate=50)
    (task,) = decide([made], 50, ()).tasks
    assert task.figure == "Character error rate (of at most 1 an answer)"
    assert "for rates of at most 1" in task.method


def test_the_headline_of_a_task_is_compared_without_being_asked_for():
    a, b = (a_run("hkcanto_g2p", {"cer_published": [x, 0.5]}) for x in (0.1, 0.4))
    found = compare(a, b, **FAST)
    assert found.figure.name == "cer_published"
    assert found.overall.losses == 1


# --- averages, categories, subjects


def several(
    task: str, label: str, seed: int, names: Sequence[str], **more: object
) -> Run:
    rng = np.random.default_rng(seed)
    subjects = [name for i, name in enumerate(names) for _ in range(20 + 10 * i)]
    values = (rng.random(len(subjects)) < 0.6).astype(float)
    entry = task.removesuffix("_cot").removesuffix("_mc").removesuffix("_sc")
    ids = [f"{entry}/{name}/{i}" for i, name in enumerate(subjects)]
    return a_run(task, {"acc": values}, label=label, subjects=subjects, ids=ids, **more)


def first_subjects(task: str, count: int) -> list[str]:
    """Names of subjects, from each category in turn."""
    from hkcanto_tasks.catalogue import find_task

    by_category: dict[str, list[str]] = {}
    for subject in find_task(task).subjects:
        by_category.setdefault(subject.category, []).append(subject.name)
    rounds = [names[i] for i in range(count) for names in by_category.values()]
    return rounds[:count]


def test_averages_are_those_of_the_report():
    for task in ["hkmmlu", "tmmluplus_gen"]:
        names = first_subjects(task, 6)
        a, b = several(task, "old", 0, names), several(task, "new", 1, names)
        found = compare(a, b, **FAST)
        averages = {effect.name: effect for effect in found.parts["averages"]}
        headline = "acc_category_macro" if task == "tmmluplus_gen" else "acc"
        assert {headline, *averages} == {"acc", "acc_macro", headline}, task
        for name, effect in averages.items():
            assert effect.a == pytest.approx(estimate(a, name).value)
            assert effect.b == pytest.approx(estimate(b, name).value)
            assert (
                effect.difference.low < effect.difference.value < effect.difference.high
            )
        assert found.overall.a == pytest.approx(estimate(a, headline).value), task
        assert [effect.name for effect in found.parts["subjects"]] == [
            s.name for s in a.subjects
        ], task
        for effect in found.parts["subjects"]:
            part = estimate(b, "acc", (effect.name,))
            assert effect.b == pytest.approx(part.value)
            assert effect.difference.items == part.items
        assert {"acc_STEM", "acc_stem"} & {
            effect.name for effect in found.parts["parts"]
        }, task
        for effect in found.parts["parts"]:
            assert effect.a == pytest.approx(estimate(a, effect.name).value)


def test_a_mean_over_subjects_has_the_interval_of_theory():
    names = first_subjects("hkmmlu", 6)
    a, b = several("hkmmlu", "old", 0, names), several("hkmmlu", "new", 1, names)
    (macro,) = compare(a, b, **FAST).parts["averages"]
    gain = b.items.values["acc"] - a.items.values["acc"]
    within = [gain[a.items.subject_mask([name])] for name in names]
    error = np.sqrt(sum(part.var() / len(part) for part in within)) / len(names)
    width = macro.difference.high - macro.difference.low
    assert width == pytest.approx(2 * 1.96 * error, rel=0.06)


def test_p_values_of_subjects_are_adjusted_for_their_number():
    names = first_subjects("hkmmlu", 6)
    a, b = several("hkmmlu", "old", 0, names), several("hkmmlu", "new", 1, names)
    found = compare(a, b, **FAST).parts["subjects"]
    alone = [
        mcnemar([[0, effect.losses], [effect.wins, 0]], exact=True).pvalue
        for effect in found
    ]
    assert [effect.p_value for effect in found] == pytest.approx(alone)
    expected = multipletests(alone, method="bonferroni")[1]
    assert [effect.p_adjusted for effect in found] == pytest.approx(list(expected))
    for effect in found:
        ends = paired_accuracy_interval(
            effect.wins, effect.losses, effect.difference.items, 1 - 0.05 / 6
        )
        assert (effect.difference.low, effect.difference.high) == pytest.approx(ends)


def test_further_sets_of_items_are_compared():
    names = first_subjects("hkmmlu", 2)
    a, b = several("hkmmlu", "old", 0, names), several("hkmmlu", "new", 1, names)
    sets = [("hk_specific",) if place % 2 else () for place in range(len(a.items))]
    a, b = (replace(run, items=replace(run.items, parts=sets)) for run in (a, b))
    parts = {effect.name: effect for effect in compare(a, b, **FAST).parts["parts"]}
    assert parts["acc_hk_specific"].difference.items == len(sets) // 2


# --- translations


def translations(errors: float, seed: int) -> list[Pair]:
    letters = np.array(list("我你佢唔係有冇去嚟食飲講聽睇行企坐瞓"))
    references = np.random.default_rng(0).choice(letters, (64, 20))
    rng = np.random.default_rng(seed)
    noise, other = rng.random(references.shape), rng.choice(letters, references.shape)
    outputs = np.where(noise < errors, other, references)
    return [
        Pair("".join(output), "".join(reference), "source")
        for output, reference in zip(outputs, references, strict=True)
    ]


def translated(errors: float, seed: int, label: str) -> Run:
    pairs = translations(errors, seed)
    ids = [f"hkmmlu_translation_zh_yue/{i:03}" for i in range(len(pairs))]
    return a_run("hkmmlu_translation_zh_yue", {}, label=label, pairs=pairs, ids=ids)


def test_a_corpus_figure_is_compared_as_sacrebleu_does(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SACREBLEU_SEED", "77")
    a, b = translated(0.32, 1, "old"), translated(0.28, 2, "new")
    found = compare(a, b, metric="bleu", seed=77, resamples=320).overall
    texts = [[pair.hypothesis for pair in side.items.pairs] for side in (a, b)]
    references = [pair.reference for pair in a.items.pairs]
    for effect, side in ((found.a, texts[0]), (found.b, texts[1])):
        score = sacrebleu.corpus_bleu(side, [references], tokenize="zh").score
        assert effect == pytest.approx(score)
    metric = sacrebleu.metrics.BLEU(tokenize="zh")
    systems = [("old", texts[0]), ("new", texts[1])]
    paired = PairedTest(systems, {"BLEU": metric}, [references], "ar", n_samples=320)
    assert found.p_value == pytest.approx(paired()[1]["BLEU"][1].p_value)
    assert 1 / 321 < found.p_value < 0.5
    assert found.test == "approximate randomisation"
    assert found.difference.items == 64


def test_the_mean_of_scores_is_the_headline_of_a_translation():
    a, b = translated(0.5, 1, "old"), translated(0.1, 2, "new")
    found = compare(a, b, **FAST, gate=1.0)
    assert found.figure.name == "mean"
    assert found.overall.b == pytest.approx(estimate(b, "mean").value)
    assert found.overall.p_value == pytest.approx(1 / 201)
    assert found.overall.wins > 60
    assert found.gate.passed
    assert -100 < found.gate.bound < -10
    assert "of sentence scores" in found.gate.method
    (table, *_) = tables(sections([found]))
    assert values(table, "new")[0] == pytest.approx(found.overall.b)


def test_equal_translations_have_the_interval_of_no_difference_in_so_many():
    run = translated(0.3, 1, "one")
    difference = compare(run, run, **FAST).overall.difference
    end = 100 * (1 - 0.025 ** (1 / 64))  # the rule of three
    assert (difference.low, difference.high) == pytest.approx((-end, end))


def test_the_gate_of_a_corpus_is_not_below_the_loss_of_the_figure():
    found = compare(
        translated(0.1, 1, "old"), translated(0.5, 2, "new"), **FAST, gate=1
    )
    assert found.gate.bound >= -found.overall.difference.value
    assert not found.gate.passed


def test_a_corpus_that_loses_more_than_its_items_passes_no_gate():
    # B has 60 short texts right that A has wrong, but not the one long text, which is most of the
    # corpus: the figure loses, although the items gain.
    long = "".join(map(chr, range(0x4E00, 0x4E00 + 900)))
    short = [chr(0x5E00 + place) * 3 for place in range(60)]
    old = [Pair(long, long, "s"), *(Pair("。", text, "s") for text in short)]
    new = [Pair("。", long, "s"), *(Pair(text, text, "s") for text in short)]
    a, b = (
        a_run("hkmmlu_translation_zh_yue", {}, label=label, pairs=pairs)
        for label, pairs in (("old", old), ("new", new))
    )
    found = compare(a, b, metric="chrf", **FAST, gate=5)
    assert found.overall.wins == 60
    assert found.overall.difference.value < -50
    assert found.gate.bound >= -found.overall.difference.value
    assert not found.gate.passed


def test_a_gain_in_a_corpus_that_one_long_text_decides_passes_no_gate():
    # No item loses, but nothing is known of other long texts, which would decide another corpus.
    long = "".join(map(chr, range(0x4E00, 0x4E00 + 900)))
    short = [Pair(chr(place) * 3, chr(place) * 3, "s") for place in range(1000, 1060)]
    a, b = (
        a_run(
            "hkmmlu_translation_zh_yue",
            {},
            label=label,
            pairs=[Pair(first, long, "s"), *short],
        )
        for label, first in (("old", "。"), ("new", long))
    )
    found = compare(a, b, metric="chrf", **FAST, gate=5)
    assert (found.overall.wins, found.overall.losses) == (1, 0)
    assert found.overall.difference.value > 50
    assert found.gate.bound > 50
    assert found.gate.lower < -found.overall.difference.value
    assert not found.gate.passed


def test_the_bounds_of_a_corpus_figure_where_lower_is_better_are_of_the_other_side():
    old, new = translated(0.1, 1, "old"), translated(0.5, 2, "new")
    better, worse = match(old, new, "chrf"), match(new, old, "chrf")
    lower_is_better = replace(better.figure, higher_is_better=False)
    turned = replace(better, figure=lower_is_better)
    errors = GateErrors()
    assert _corpus_bounds(turned, errors) == pytest.approx(
        _corpus_bounds(worse, errors)
    )


# --- the gate


def test_the_verdict_flips_exactly_at_the_bound():
    for metric in ["acc", "unparsed_rate"]:
        rng = np.random.default_rng(4)
        a, b = (
            a_run("hkcanto_law", {metric: (rng.random(400) < 0.5).astype(float)})
            for _ in range(2)
        )
        bound = compare(a, b, metric=metric, **FAST, gate=0).gate.bound
        below, above = bound - 1e-9, bound + 1e-9
        assert not compare(a, b, metric=metric, **FAST, gate=bound).gate.passed, metric
        assert not compare(a, b, metric=metric, **FAST, gate=below).gate.passed, metric
        assert compare(a, b, metric=metric, **FAST, gate=above).gate.passed, metric


def test_the_gate_knows_which_way_is_worse():
    better, worse = [1.0] * 90 + [0.0] * 10, [1.0] * 60 + [0.0] * 40
    for metric, sign in (("acc", 1), ("unparsed_rate", -1)):
        a = a_run("hkcanto_law", {metric: better})
        b = a_run("hkcanto_law", {metric: worse})
        bound = compare(a, b, metric=metric, **FAST, gate=5).gate.bound
        assert (bound > 30) if sign > 0 else (bound < -20)


def gaffkes_bound(
    losses_a: ArrayLike, losses_b: ArrayLike, confidence: float = 0.95
) -> float:
    """The largest plausible loss of B by drawing: Gaffke (2005), one more item loses everything."""
    differences = np.append(np.subtract(losses_b, losses_a), 1.0)
    draws = np.random.default_rng(3).exponential(size=(100_000, len(differences)))
    return float(np.quantile(draws @ differences / draws.sum(axis=1), confidence))


def test_the_gate_is_gaffkes_bound_of_the_loss():
    rng = np.random.default_rng(2)
    sides = rng.random((2, 60))
    a, b = (a_run("hkcanto_g2p", {"cer_published": side}) for side in sides)
    gate = compare(a, b, **FAST, gate=3).gate
    bound = gaffkes_bound(*sides)
    assert gate.bound == pytest.approx(100 * bound, abs=0.2)
    assert gate.passed == (bound < 0.03)
    assert gate.needed_items == 99  # ln 0.05 / ln 0.97


def test_the_gate_of_right_and_wrong_answers_is_on_wrong_ones():
    bound = gaffkes_bound(1 - np.array(A), 1 - np.array(B))
    gate = compare(law(A), law(B), **FAST, gate=2).gate
    assert gate.bound == pytest.approx(100 * bound, abs=0.2)
    # The least plausible loss is the largest plausible gain, here with a confidence of 97.5 %.
    gain = gaffkes_bound(1 - np.array(B), 1 - np.array(A), 0.975)
    assert gate.lower == pytest.approx(-100 * gain, abs=0.2)


def test_equal_runs_pass_no_tolerance_finer_than_their_number_of_items():
    for a in (
        a_run("hkcanto_g2p", {"cer_published": [0.1, 0.2, 0.3] * 20}),
        law([1, 0, 1] * 20),
    ):
        fine, coarse = (compare(a, a, **FAST, gate=gate).gate for gate in (2, 5))
        assert not fine.passed
        assert fine.needed_items == 149  # ln 0.05 / ln 0.98
        assert coarse.passed
        assert coarse.bound == pytest.approx(4.87, abs=0.01)  # 1-.05^(1/60)


def test_the_gate_is_read_first_and_its_method_on_request():
    compared = compare(law(A, "old"), law(B, "new"), **FAST, gate=2)
    gate = decide([compared], 2, [])
    *said, table = gate_section(gate).blocks
    assert [note.label for note in said] == [
        "Gate",
        "By how much",
        "How certain",
        "What next",
    ]
    assert said[0].text.startswith(
        "Undecided, so do not release yet: there are too few"
    )
    assert values(table, "Task", "Gate") == ["Hong Kong law", "undecided"]
    (gain,) = values(table, "Gain")
    assert gain.value == pytest.approx(100 / 3)  # B has 4 of 12 more right
    assert (gain.low, gain.high) == (-compared.gate.bound, -compared.gate.lower)
    assert not method_section(gate).is_summary
    (tests,) = tables([method_section(gate)])
    assert values(tests, "Method") == [compared.gate.method]
    assert (
        gate_section(decide([], 2, ["x"]))
        .blocks[0]
        .text.startswith("Without a verdict: x")
    )


# --- gates on a part of a task, and across setups


def limited(run: Run, **more: object) -> Run:
    return replace(run, limited=True, **more)


def refusal(a: Run, b: Run, **how: object) -> str:
    with pytest.raises(ComparisonError) as caught:
        compare(a, b, **FAST, gate=50, **how)
    return str(caught.value)


def test_a_part_of_a_task_does_not_bound_a_rate_or_passages():
    """A part of a task does not tell the task's longest item or largest passage."""
    rates = a_run(
        "hkcanto_g2p", {"cer": [0.1] * 60}, weights={"cer": [10] * 60}, shots=5
    )
    assert compare(rates, rates, metric="cer", **FAST, gate=50).gate.passed
    said = refusal(limited(rates), limited(rates), metric="cer")
    assert "the largest length of an item" in said
    assert "without a limit" in said
    passages = law([1] * 60, clusters=[place // 2 for place in range(60)])
    assert compare(passages, passages, **FAST, gate=50).gate.passed
    assert "number of questions on a passage" in refusal(
        limited(passages), limited(passages)
    )
    # An item's epochs are one cluster, too, but its size is known.
    epochs = law([1] * 60, clusters=[*range(30)] * 2, ids=questions(30) * 2)
    assert compare(limited(epochs), limited(epochs), **FAST, gate=50).gate.passed


def test_a_limit_by_subject_does_not_bound_the_accuracy_of_the_task():
    whole = limited(beginning("hkmmlu", 660))
    assert compare(whole, whole, **FAST, gate=50).gate.passed
    subjects = [each.name for each in whole.kind.task.subjects for _ in range(10)]
    alike = limited(a_run("hkmmlu", {"acc": [1] * 660}, subjects=subjects))
    assert "not in proportion to the sizes of the subjects" in refusal(alike, alike)
    assert compare(alike, alike, metric="acc_macro", **FAST, gate=50).gate.passed


def test_a_mean_over_subjects_is_not_bounded_without_some_of_them():
    few = limited(beginning("tmmluplus_gen", 30))
    assert "there is no item of" in refusal(few, few)
    enough = limited(beginning("tmmluplus_gen", 600))
    method = compare(enough, enough, **FAST, gate=50).gate.method
    assert method == "Gaffke's bound, weighted as the figure weighs items"


def test_items_of_an_unfinished_run_are_not_a_sample():
    stopped = replace(law([1] * 60), status="cancelled")
    assert "cancelled, with 60 of" in refusal(law([1] * 60), stopped)


def test_runs_under_two_setups_pass_no_gate_unless_the_difference_is_named(compared):
    a, edited = law([1] * 60, "a"), changed(law([1] * 60, "b"), sent="1a2b3c4")
    assert "the runs differ in sent, but a gate" in refusal(a, edited)
    b = with_options(
        changed(edited, shots=0), prompt="zh"
    )  # which explains the difference in sent
    with pytest.raises(ComparisonError) as caught:
        compared([a], [b], gate=50, allowed=["shots"])
    assert "the runs differ in prompt, but" in str(caught.value)
    assert "--allow-differences shots,prompt." in str(caught.value)
    made, status = compared([a], [b], gate=50, allowed=["shots", "prompt"])
    assert (status, made.records["gate"]["verdict"]) == (0, "passed")
    assert "They differ in shots, prompt, as allowed." in notes(made.sections[:1])


def test_a_verdict_names_each_task_with_its_loss_and_what_would_decide_it(compared):
    runs = [[law([1] * 60, label), g2p([0.5] * 30, label)] for label in "ab"]
    made, status = compared(*runs, gate=5)
    first, loss, certain, advice, *_ = notes(made.sections[:1])
    assert status == 3
    assert first == (
        "Undecided, so do not release yet: there are too few items to tell whether b is more than 5 "
        "points worse than a on 1 of 2 tasks (1 passed)."
    )
    # 1 - 0.05^(1/30) is 9.5 points.
    assert loss == "Jyutping grapheme-to-phoneme could lose up to 9.5."
    assert certain == (
        "Neither is certain: 95 % is needed to pass, and 97.5 % for all tasks together to fail."
    )
    # ln 0.05 / ln 0.95, rounded up; the whole task has 145.
    assert advice == (
        "Run more items; if both are equally good, so many pass: Jyutping "
        "grapheme-to-phoneme 59."
    )
    first, loss, certain, advice, *_ = notes(compared(*runs, gate=50)[0].sections[:1])
    assert certain == "95 % for each task (one-sided)."
    assert first == "Passed: b is less than 50 points worse than a on each of 2 tasks."
    assert loss == "In the worst case: Jyutping grapheme-to-phoneme loses at most 9.5."
    assert advice == "Release b, by this gate."


def test_a_task_that_is_too_small_for_a_tolerance_says_so(compared):
    runs = [[law([1] * 60, label), g2p([0.5] * 145, label)] for label in "ab"]
    made, _ = compared(*runs, gate=1)
    advice = [note.text for note in made.answer if note.level == "next"]
    # ln 0.05 / ln 0.99 is 299; 1 - 0.05^(1/145) is 2.04 points. Law has 424 items.
    assert advice == [
        "Run more items; if both are equally good, so many pass: Hong Kong law 299.",
        "Too small, even if all items are run: Jyutping "
        "grapheme-to-phoneme (1 points need 299 items; its 145 can decide 3 points). Plan the next "
        "gate:",
    ]


def test_more_candidates_than_declared_are_refused_and_undeclared_ones_are_noted(
    compared,
):
    runs = [[law([1] * 60, label)] for label in "abcd"]
    text = " ".join(notes(compared(*runs, gate=50)[0].sections[:1]))
    assert "give --candidates 3" in text
    with pytest.raises(HKCantoError, match="3 candidates are compared, not 2"):
        compared(*runs, gate=50, candidates=2)
    made, _ = compared(*runs, gate=50, candidates=10)
    assert "99.5 % confidence" in notes(made.sections[-1:])[0]


# --- refusals


def test_mismatched_items_are_refused_with_the_difference():
    ids = questions(12)
    a = law(A, "old", ids=ids)
    b = law([*B[:4], 1], "new", ids=[*ids[:4], "hkmmlu/hk_law/99"])
    with pytest.raises(ComparisonError) as caught:
        compare(a, b)
    said = str(caught.value)
    assert isinstance(caught.value, HKCantoError)
    assert "8 items are only in old (results.json), such as hkmmlu/hk_law/10, " in said
    assert (
        "1 items are only in new (results.json), such as hkmmlu/hk_law/99. Run both"
        in said
    )


def test_further_items_are_refused_in_logs_of_one_name():
    for order in [1, -1]:
        runs = [law(A, ids=questions(12)), law(A[:5], ids=questions(5))]
        with pytest.raises(ComparisonError, match="7 items are only in model"):
            compare(*runs[::order])


def test_another_version_of_the_task_is_refused():
    a, b = law(A, "old"), law(B, "new", version="2")
    with pytest.raises(
        ComparisonError, match=r"old .* has version 6, new .* has 2: run both"
    ):
        compare(a, b)
    assert a.comparable_as != b.comparable_as


def test_another_number_of_epochs_is_refused():
    with pytest.raises(ComparisonError, match="hkmmlu/hk_law/0 in epoch 2"):
        compare(law([1, 0], ids=questions(2)), law([1, 0, 1, 0], ids=questions(2) * 2))


def test_what_cannot_be_compared_is_refused():
    for b, metric, message in [
        (
            a_run("hkcanto_phonology", {"acc": A}),
            None,
            "has hkcanto_phonology: run both on the same task",
        ),
        (law(A, data="local-1234567"), None, "data ba2a58b, .* has local-1234567"),
        (
            law(A),
            "bleu",
            "not have the figure 'bleu'; choose one of acc, acc_macro, unparsed_rate",
        ),
        (law(A), "unparsed_rate", "no item has a value for unparsed_rate"),
        (law([np.nan] * 12), None, "no item has a value for acc"),
    ]:
        with pytest.raises(ComparisonError, match=message):
            compare(law(A), b, metric=metric)


def test_a_number_that_is_not_a_score_is_refused():
    run = law([200, 300])
    with pytest.raises(ComparisonError, match="acc is not a share"):
        compare(run, run)


def test_a_corpus_figure_needs_texts():
    run = a_run("hkmmlu_translation_zh_yue", {"empty": [0, 0]})
    with pytest.raises(ComparisonError, match="--log_samples"):
        compare(run, run)


# --- conditions


def test_conditions_may_differ_and_that_is_said():
    names = first_subjects("hkmmlu", 2)
    a, b = several("hkmmlu", "m", 0, names), several("hkmmlu_cot", "m", 1, names)
    said = notes(sections([compare(a, b, **FAST)]))
    assert any(
        "also differ in task hkmmlu against hkmmlu_cot; cot none against yes" in note
        for note in said
    )
    assert said[0].startswith(
        "No difference is shown between m (chain of thought, 0-shot"
    )


def test_another_harness_is_not_another_condition():
    run = law(A, "old")
    said = notes(
        sections([compare(run, replace(law(B, "new"), harness="inspect"), **FAST)])
    )
    assert any(
        "old and new also differ in harness lm-eval against inspect." in text
        for text in said
    )
    assert not any("conditions" in note for note in said)


def test_the_interval_of_an_average_agrees_with_its_test():
    names = first_subjects("hkmmlu", 6)
    for seed in range(1, 30):
        a, b = several("hkmmlu", "old", 0, names), several("hkmmlu", "new", seed, names)
        (macro,) = compare(a, b, **FAST).parts["averages"]
        spans_zero = macro.difference.low <= 0 <= macro.difference.high
        assert spans_zero or macro.p_value < 0.05


def test_log_likelihood_against_generation_is_warned_of():
    names = first_subjects("hkmmlu", 2)
    a, b = several("hkmmlu", "m", 0, names), several("hkmmlu_mc", "m", 1, names)
    (section, *_) = sections([compare(a, b, **FAST)])
    warnings = [
        b.text for b in section.blocks if isinstance(b, Note) and b.level == "warning"
    ]
    assert any("two measures" in text for text in warnings)


# --- several models


def test_several_models_are_compared_pairwise_and_adjusted_for_it():
    rng = np.random.default_rng(6)
    runs = [law((rng.random(80) < p).astype(float), f"m{p}") for p in (0.4, 0.6, 0.8)]
    found, _ = pairwise(runs, **FAST)
    assert [(one.a.label, one.b.label) for one in found] == [
        ("m0.4", "m0.6"),
        ("m0.4", "m0.8"),
        ("m0.6", "m0.8"),
    ]
    effects = [comparison.overall for comparison in found]
    overview, details = sections(found)
    assert not details.is_summary
    (matrix,) = tables([overview])
    assert [row.values[0] for row in matrix.rows[:3]] == ["m0.8", "m0.6", "m0.4"]
    (pairs,) = tables([details])
    assert [row.values[0] for row in pairs.rows] == [
        *("m0.6 against m0.4", "m0.8 against m0.4", "m0.8 against m0.6")
    ]
    shown = [values(pairs, "Gain", "p adjusted", row=place) for place in range(3)]
    assert [(gain.value, p) for gain, p in shown] == [
        (pytest.approx(100 * effect.difference.value), effect.p_adjusted)
        for effect in effects
    ]
    well_formed([overview, details])


def largest_of_all_exchanges(runs: Sequence[np.ndarray]) -> list[float]:
    """The largest difference of a pair in standard errors, under each exchange of signs."""
    centered = np.column_stack(runs) - np.mean(runs, axis=0)[:, None]
    pairs = [*combinations(range(len(runs)), 2)]
    errors = [np.sqrt(((centered[:, b] - centered[:, a]) ** 2).sum()) for a, b in pairs]
    largest = []
    for signs in product((-1, 1), repeat=len(centered)):
        sums = np.array(signs) @ centered
        moves = zip(pairs, errors, strict=True)
        largest.append(max(abs(sums[b] - sums[a]) / error for (a, b), error in moves))
    return largest


def test_pairs_of_several_models_are_tested_together_by_the_largest_difference():
    """As in Westfall and Young (1993), worked out for all exchanges of eleven items."""
    rights = [
        np.array([1.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        np.array([1.0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0]),
        np.array([1.0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
    ]
    runs = [law(right, f"m{place}") for place, right in enumerate(rights)]
    largest = np.array(largest_of_all_exchanges(rights))
    found = pairwise(runs, **FAST, tests=2)[0]
    race = selection(tuple(runs), 2)
    assert race
    for comparison, (a, b) in zip(found, combinations(rights, 2), strict=True):
        distance = abs((b - a).sum()) / np.sqrt(((b - a) ** 2).sum())
        effect = comparison.overall
        p_value = (largest > distance - 1e-9).mean()
        assert effect.p_adjusted == pytest.approx(min(1, 2 * p_value))
        interval = effect.difference
        assert (interval.low > 0) == effect.is_certain
        assert effect.is_certain == (comparison.a in race.ahead[comparison.b])
    assert [one.overall.is_certain for one in found] == [False, True, False]


@pytest.mark.parametrize("tests", [1, 3, 10])
def test_the_pairs_mark_what_the_best_run_is_ahead_of(tests: int):
    """Of four similar models, whichever way chance goes."""
    rng = np.random.default_rng(tests)
    for _ in range(6):
        shares = rng.uniform(0.4, 0.8, 4)
        runs = [
            law((rng.random(80) < share).astype(float), f"m{place}")
            for place, share in enumerate(shares)
        ]
        race = selection(tuple(runs), tests)
        assert race
        for comparison in pairwise(runs, **FAST, tests=tests)[0]:
            a, b, effect = comparison.a, comparison.b, comparison.overall
            apart = a in race.ahead[b] or b in race.ahead[a]
            assert effect.is_certain == apart
            low, high = effect.difference.low, effect.difference.high
            assert (low > 0 or high < 0) == apart
            if b is race.best and not apart:
                assert race.ties[a].low == pytest.approx(-high)


def test_equal_runs_among_several_have_the_interval_of_so_many_items():
    runs = [law(A, "a"), law(A, "b"), law([1 - right for right in A], "c")]
    effect = pairwise(runs, **FAST)[0][0].overall
    z = norm.ppf(1 - 0.05 / 3 / 2)
    assert effect.difference.high == pytest.approx(z**2 / (len(A) + z**2))
    assert not effect.is_certain


def test_the_gate_of_several_models_is_against_the_first():
    runs = [law(A, "base"), law(B, "one"), law(B, "two")]
    found, _ = pairwise(runs, **FAST, gate=2)
    gated = [(one.a.label, one.b.label) for one in found if one.gate is not None]
    assert gated == [("base", "one"), ("base", "two")]
    assert len(gate_section(decide(found, 2, [])).blocks[-1].rows) == 2


def test_a_run_that_no_gate_can_test_hides_no_failure_of_another():
    runs = [
        law([1] * 100, "base"),
        law([0] * 100, "worse"),
        changed(law([1] * 100, "shots"), shots=1),
    ]
    found, refused = pairwise(runs, **FAST, gate=2)
    assert decide(found, 2, refused).verdict == "worse"
    (reason,) = refused
    assert "shots against base: the runs differ in shots" in reason


@pytest.mark.parametrize("gate", [None, 5])
def test_no_model_is_better_on_a_figure_without_a_better_direction(gate: int | None):
    """Reasoning in Cantonese is neither good nor bad; once a gate took less of it for better."""
    a, b = (
        a_run("hkcanto_law", {"acc": A, "reasoning_cantonese": values})
        for values in ([1.0] * 12, [0.0] * 12)
    )
    with pytest.raises(ComparisonError, match="reasoning_cantonese is neither good"):
        compare(a, b, metric="reasoning_cantonese", gate=gate, **FAST)


# --- the tables


def notes(made: Sequence[Section]) -> list[str]:
    return [block.text for s in made for block in s.blocks if isinstance(block, Note)]


def tables(made: Sequence[Section]) -> list[TableBlock]:
    return [
        block
        for section in made
        for block in section.blocks
        if isinstance(block, TableBlock)
    ]


def values(table: TableBlock, *titles: str, row: int = 0) -> list[object]:
    places = [
        [column.title for column in table.columns].index(title) for title in titles
    ]
    return [table.rows[row].values[place] for place in places]


def well_formed(made: Sequence[Section]) -> None:
    found = tables(made)
    assert len({table.name for table in found}) == len(found)
    for table in found:
        assert table.name.replace("_", "a").isalnum()
        assert all(len(row.values) == len(table.columns) for row in table.rows)


def test_the_verdict_is_a_sentence():
    assert verdict(compare(law(A, "old"), law(B, "new"), **FAST)) == (
        "No difference is shown between new and old on Hong Kong law, 5-shot. +33.3 points for new: "
        "Accuracy 75.0 against 41.7. 95 % [−7.6, +63.9], p = 0.22 (exact McNemar); 5 items won, 1 "
        "lost, 6 tied."
    )
    worse = verdict(compare(law(B, "new"), law(A, "old"), **FAST))
    assert " −33.3 points for old:" in worse
    assert worse.endswith("1 items won, 5 lost, 6 tied.")


def test_several_tasks_begin_with_who_leads_and_where_it_is_sure(compared):
    """In law only B is right 11 times at 5 shots, only A once at 0; in Jyutping only B twice."""
    runs = [
        [
            law([0] * 11 + [1] * 9, "a"),
            g2p([1, 1, 1, 0], "a"),
            law([1, 1], "a", shots=0),
        ],
        [law([1] * 20, "b"), g2p([0, 0, 1, 0], "b"), law([0, 1], "b", shots=0)],
    ]
    first, *others = compared(*runs)[0].sections
    lead, amount, certain, *_, made = first.blocks
    assert (lead.level, first.is_summary) == ("verdict", True)
    assert lead.text == "b leads a on 2 of 3 tasks, and is behind on 1."
    # The means over law at 5 and at 0 shots would count its items twice.
    assert amount.text == (
        "The largest difference is that on Hong Kong law, 5-shot: b +55.0 points."
    )
    # McNemar's p is 2 / 2¹¹ and 1 for law, and 1 / 2 for Jyutping.
    assert certain.text == (
        "Certain on 1 of 3 tasks, each time for b (95 %, all tasks together). Could be "
        "chance: Jyutping grapheme-to-phoneme +50.0; Hong Kong law, 0-shot −50.0."
    )
    gains = [row.values[3] for row in made.rows]
    assert [gain.value for gain in gains] == pytest.approx([55, 50, -50])
    assert all(gain.low < gain.value < gain.high for gain in gains)
    assert values(made, "Certain", "a", "b") == ["yes", 45, 100]
    assert made.columns[3].drawn
    assert [section.name for section in others] == ["parts"]


def test_of_equally_sure_differences_the_largest_is_first(compared):
    # One item differs in each task, so McNemar's p is 1: B loses 1 of 2, and wins 1 of 10.
    runs = [
        [law([0] + [1] * 9, "a"), law([1, 1], "a", shots=0)],
        [law([1] * 10, "b"), law([0, 1], "b", shots=0)],
    ]
    first, *_ = compared(*runs)[0].sections
    gains = [row.values[3].value for row in first.blocks[-1].rows]
    assert gains == pytest.approx([-50, 10])


def test_the_first_verdict_is_followed_by_what_makes_it_less(compared):
    runs = [[limited(law(A, label)), g2p([0, 1, 1], label)] for label in "ab"]
    runs[0].append(law(A, "a", shots=0))
    first, *_ = compared(*runs)[0].sections
    warnings = [note for note in first.blocks[:-1] if note.level == "warning"]
    assert first.blocks[4:-1] == warnings
    assert [(note.level, note.text) for note in warnings] == [
        ("warning", "unchecked: all 4 runs"),
        ("warning", "Hong Kong law, 5-shot: Only 12 of the task's items were run."),
        (
            "warning",
            "Jyutping grapheme-to-phoneme, 5-shot: Only 3 of the task's items were run.",
        ),
        ("warning", "1 not compared: see below."),
    ]


def test_three_models_have_no_table_of_tasks(compared):
    runs = [[law(A, label), g2p([0, 1], label)] for label in "abc"]
    assert "pairs" not in [table.name for table in tables(compared(*runs)[0].sections)]
    assert "pairs" in [table.name for table in tables(compared(*runs[:2])[0].sections)]


def test_one_model_under_two_conditions_has_a_verdict_too(compared):
    runs = [
        [law([0] * 20, shots=0), g2p([1] * 20)],
        [law([1] * 20), changed(g2p([0] * 20), shots=0)],
    ]
    first, *_ = compared(*runs)[0].sections
    assert first.blocks[0].text == "Second leads First on each of 2 tasks."
    assert [column.title for column in first.blocks[-1].columns[1:3]] == [
        "First",
        "Second",
    ]


@pytest.mark.parametrize(
    ("p_value", "shown"),
    [(0.00099, "p < 0.001"), (0.001, "p = 0.001"), (0.0012, "p = 0.0012")],
)
def test_a_p_value_is_shown_down_to_a_thousandth(p_value: float, shown: str) -> None:
    effect = compare(law(A), law(B), **FAST).overall
    text = _test_text(replace(effect, p_value=p_value, p_adjusted=None), "[1, 2]")
    assert f"[1, 2], {shown} (" in text
    assert "5 items won, 1 lost, 6 tied." in text
    adjusted = _test_text(replace(effect, p_value=0.5, p_adjusted=p_value), "[1, 2]")
    assert f"{shown} (" in adjusted


def test_a_small_difference_is_not_called_none():
    a, b = law([1] * 500 + [0] * 4500), law([1] * 501 + [0] * 4499)
    assert "+0.02 points for model 2: " in verdict(compare(a, b, **FAST))


def test_the_second_table_has_every_part_and_subject():
    names = first_subjects("hkmmlu", 6)
    a, b = several("hkmmlu", "old", 0, names), several("hkmmlu", "new", 1, names)
    compared = compare(a, b, **FAST, gate=2)
    made = sections([compared])
    well_formed(made)
    assert [section.name for section in made] == ["results", "parts"]
    (table,) = tables(made[1:])
    assert [row.values[0] for row in table.rows][:5] == [
        *("Mean over subjects", "STEM", "Social sciences", "Humanities", "Other")
    ]
    assert len(table.rows) == 5 + 1 + 6  # with all that are not STEM
    for place, effect in enumerate(compared.parts["subjects"], 6):
        gain, p, counts = values(
            table, "Gain", "p adjusted", "Won/lost/tied", row=place
        )
        assert gain.value == pytest.approx(100 * effect.difference.value)
        assert p == effect.p_adjusted
        assert counts == f"{effect.wins}/{effect.losses}/{effect.ties}"


def test_two_runs_of_one_model_are_told_apart(compared):
    runs = [[law(A)], [replace(law(B), sources=(Path("other.json"),))]]
    text = compared(*runs)[0].sections[0].blocks[0].text
    assert text.startswith(
        "No difference is shown between model (2) and model (1) on Hong Kong law"
    )


def test_files_of_the_users_own_are_compared_if_their_questions_are_as_long():
    """lm-eval signs each subject's file, Inspect all of them together."""
    values = {"acc": [1, 0, 1]}
    a = a_run("hkcanto_law", values, data="local-mixed", question_lengths=[10, 20, 30])
    b = a_run(
        "hkcanto_law", values, data="local-1a2b3c4", question_lengths=[10, 20, 30]
    )
    assert compare(a, b).overall.ties == 3


def test_files_of_the_users_own_with_other_questions_are_refused():
    values = {"acc": [1, 0, 1]}
    a = a_run("hkcanto_law", values, data="local-mixed", question_lengths=[10, 20, 30])
    b = a_run("hkcanto_law", values, data="local-mixed", question_lengths=[10, 20, 31])
    with pytest.raises(
        ComparisonError, match="1 items differ in gold answer or length"
    ):
        compare(a, b)


# --- pairs of runs


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Report, int]]:
    """Compare made-up runs as `hkcanto compare` does."""

    def call(
        *runs: Sequence[Run], skipped: Sequence[SkippedLog] = (), **options: object
    ):
        read = Runs(
            [
                replace(one, argument=place)
                for place, run in enumerate(runs)
                for one in run
            ],
            skipped,
        )
        monkeypatch.setattr(comparing, "read_runs", lambda *_, **__: read)
        return comparing.compare_runs([], **FAST, **options)

    return call


def g2p(values: Sequence[float], label: str = "model") -> Run:
    return a_run("hkcanto_g2p", {"cer_published": values}, label=label)


def left_out(report: Report) -> str:
    return " ".join(
        notes([part for part in report.sections if part.name == "not-compared"])
    )


def test_runs_are_paired_by_task_and_condition(compared):
    made, status = compared(
        [law(A, "a"), g2p([0, 1], "a")],
        [g2p([1, 1], "b"), law(B, "b"), law(B, "b", shots=0)],
    )
    assert status == 0
    assert [one["task"] for one in made.records["comparisons"]] == [
        "hkcanto_law",
        "hkcanto_g2p",
    ]
    assert left_out(made) == "b on Hong Kong law, 0-shot: no partner in a."


def test_the_only_condition_of_a_task_is_paired_with_the_other_runs_only_one(compared):
    a, b = (
        a_run(task, {"acc": acc}, ids=questions(12))
        for task, acc in (("hkmmlu", A), ("hkmmlu_cot", B))
    )
    (one,) = compared([a], [b])[0].records["comparisons"]
    assert (one["a"]["task"], one["b"]["task"]) == ("hkmmlu", "hkmmlu_cot")
    with pytest.raises(ComparisonError, match="no partner"):
        compared([a], [b, with_options(a, prompt="yue")])


def test_two_prompts_in_one_run_must_be_named(compared):
    one = replace(law(A), sources=(Path("runs/x/results_1.json"),))
    other = replace(
        with_options(law(B), prompt="yue"), sources=(Path("runs/x/results_2.json"),)
    )
    with pytest.raises(ComparisonError) as caught:
        compared([one, other])
    assert "by name: hkcanto compare a=LOG b=LOG" in str(caught.value)


def test_two_logs_of_one_run_must_be_named(compared):
    made, status = compared([law(A, "a"), law(B, "a")], [law(B, "b")], gate=90)
    assert status == 2
    assert "a on Hong Kong law, 5-shot: another log has it too" in left_out(made)


def test_a_task_without_the_figure_is_named_and_no_gate_passes(compared):
    for figure in ["acc", "cer_published"]:
        runs = [[law(A, label), g2p([0, 0.5] * 40, label)] for label in "ab"]
        made, status = compared(*runs, metric=figure)
        assert status == 0, figure
        assert f"does not have the figure '{figure}'; choose one of " in left_out(
            made
        ), figure
        made, status = compared(*runs, metric=figure, gate=90)
        assert status == 2, figure
        assert made.records["gate"]["verdict"] == "incomplete", figure
        text = made.sections[0].blocks[0].text
        assert text.startswith("Without a verdict: hkcanto_"), figure


def test_none_of_three_runs_passes_a_gate_by_leaving_a_task_out(compared):
    for lacking in [0, 1, 2]:
        runs = [[law(A * 9, label), g2p([0, 0.5] * 40, label)] for label in "abc"]
        assert compared(*runs, gate=50)[1] == 0, lacking
        runs[lacking].pop()
        made, status = compared(*runs, gate=50)
        assert status == 2, lacking
        assert f"no partner in {'abc'[lacking]}." in left_out(made), lacking
        assert {one["compared"][2:] for one in made.records["gate"]["tasks"]} == {
            "against a"
        }, lacking


def test_folders_of_one_model_a_task_are_two_runs(compared):
    runs = [[law(A * 9, f"m{i}"), g2p([0, 0.5] * 40, f"engine{i}")] for i in (1, 2)]
    made, status = compared(*runs, gate=50)
    assert status == 0
    assert [one["compared"] for one in made.records["gate"]["tasks"]] == [
        *("m2 against m1", "engine2 against engine1")
    ]


def test_what_could_not_be_read_leaves_a_gate_open(compared):
    skipped = [SkippedLog(Path("broken.json"), "damaged")]
    assert compared([law(A, "a")], [law(A, "b")], skipped=skipped)[1] == 0
    made, status = compared([law(A, "a")], [law(A, "b")], skipped=skipped, gate=90)
    assert status == 2
    assert made.records["gate"]["not_compared"] == ["broken.json: damaged."]


def test_other_items_on_one_task_are_refused_by_name_and_the_rest_is_compared(compared):
    made, status = compared(
        [law(A, "a"), g2p([0, 1], "a")], [law(B[:5], "b"), g2p([0, 1], "b")], gate=99
    )
    assert status == 2
    assert "7 items are only in a" in left_out(made)
    assert [one["task"] for one in made.records["comparisons"]] == ["hkcanto_g2p"]


def test_the_records_are_for_programs(compared):
    names = first_subjects("hkmmlu", 6)
    a, b = several("hkmmlu", "old", 0, names), several("hkmmlu", "new", 1, names)
    made, status = compared([a], [b], gate=2)
    found = compare(a, b, **FAST, gate=2)
    (one,), gate = made.records["comparisons"], made.records["gate"]
    assert (one["a"]["label"], one["b"]["label"], one["metric"]) == (
        "old",
        "new",
        "acc",
    )
    assert one["effects"]["all"] == found.overall
    assert one["effects"]["averages"]["acc_macro"] == found.parts["averages"][0]
    assert list(one["effects"]["subjects"]) == [
        effect.name for effect in found.parts["subjects"]
    ]
    assert (gate["delta"], gate["bound"]) == (2, found.gate.bound)
    assert (gate["verdict"], status) == ("undecided", 3)
    (task,) = gate["tasks"]
    assert (task["task"], task["bound"], task["method"]) == (
        *("hkmmlu", found.gate.bound, found.gate.method),
    )
