"""Figures and their intervals, against textbook values and statsmodels."""

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import chi2, t
from statsmodels.stats.proportion import proportion_confint

from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.figures import ItemValue, Pair, figures, standard_error, value
from hkcanto_tasks.results.statistics.estimates import (
    Disagreement,
    HarnessAgreement,
    estimate,
    harness_agreement,
    mean_estimate,
)
from hkcanto_tasks.results.statistics.intervals import effective_draws

from .building import a_run

LAW = find_task("hkcanto_law").subjects
TMMLUPLUS = find_task("tmmluplus_gen").subjects


def test_an_accuracy_has_wilsons_interval():
    # Newcombe (1998), "Two-sided confidence intervals for the single proportion", Table I: 81/263.
    found = estimate(a_run("hkcanto_law", {"acc": [1] * 81 + [0] * 182}), "acc")
    assert (round(found.low, 4), round(found.high, 4)) == (0.2553, 0.3662)
    assert found.value == 81 / 263
    assert found.items == 263


def test_no_success_still_has_an_interval():
    # Newcombe (1998), Table I: 0/20.
    found = estimate(a_run("hkcanto_law", {"acc": [0] * 20}), "acc")
    assert (found.low, round(found.high, 4)) == (0, 0.1611)


def test_clustered_items_have_the_standard_error_that_statsmodels_computes():
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(12), 5)
    values = rng.normal(size=60) + np.repeat(rng.normal(size=12), 5)
    fit = sm.OLS(values, np.ones(60)).fit(
        cov_type="cluster", cov_kwds={"groups": clusters}
    )
    shares, largest = np.full(60, 1 / 60), 2 * np.abs(values).max()
    number, quantile = effective_draws(values / largest, shares, clusters, 1.0)
    assert number == pytest.approx((largest / fit.bse[0]) ** 2)
    assert quantile == pytest.approx(2.201, abs=5e-4)  # Student's t of 11


def test_four_equal_epochs_say_no_more_than_one():
    once = [1, 0, 1, 1, 0, 1, 0, 1, 1, 1]
    alone = mean_estimate(np.array(once, float), np.arange(10))
    four = mean_estimate(np.tile(np.array(once, float), 4), np.tile(np.arange(10), 4))
    assert four.value == alone.value
    assert (four.low, four.high) == pytest.approx((alone.low, alone.high))


def test_epochs_that_are_all_wrong_count_as_often_as_there_are_items():
    found = mean_estimate(np.zeros(80), np.tile(np.arange(20), 4))
    assert round(found.high, 4) == 0.1611  # as above, for 0/20


def test_few_passages_have_students_t_and_not_the_normal_quantile():
    # Four passages with 4, 3, 2 and 1 of 5 questions right: their mean of 0.5 has the variance
    # 0.2 / 3 / 4, like that of 15 draws. Wilson's interval with t of 3 degrees of freedom, 3.182.
    right = np.concatenate([[1.0] * n + [0.0] * (5 - n) for n in (4, 3, 2, 1)])
    found = mean_estimate(right, np.repeat(np.arange(4), 5))
    reach = (
        3.18245 * np.sqrt(0.25 / 15 + 3.18245**2 / (4 * 15**2)) / (1 + 3.18245**2 / 15)
    )
    assert (found.low, found.high) == pytest.approx(
        (0.5 - reach, 0.5 + reach), abs=1e-5
    )


def test_an_interval_of_scores_does_not_leave_their_range():
    # 27 of 30 judgements are at the limit of 5: the upper end is nearly certain, the lower is not.
    found = mean_estimate(np.array([5.0] * 27 + [4, 3, 4]), np.arange(30))
    assert found.low < 4.7 < found.value < found.high < 5
    assert mean_estimate(np.full(30, 5.0), np.arange(30)).low < 5


def test_the_standard_error_of_a_rate_is_that_of_a_ratio():
    # 3 errors in 20 characters: 0, 1 and 2 less 0.15 × 4, 6 and 10 are -0.6, 0.1 and 0.5.
    cer = a_run("hkcanto_g2p", {"cer": [0]}, weights={"cer": [1]}).figures["cer"]
    items = [ItemValue.of(errors / n, "", n) for errors, n in ((0, 4), (1, 6), (2, 10))]
    error = (3 / 2 * (0.36 + 0.01 + 0.25)) ** 0.5 / 20
    assert standard_error(cer, items) == pytest.approx(error)


def test_a_pooled_rate_is_errors_over_length_not_a_mean():
    found = estimate(
        a_run("hkcanto_g2p", {"cer": [0.5, 0.1]}, weights={"cer": [2, 10]}), "cer"
    )
    assert found.value == pytest.approx(2 / 12)


def test_the_interval_of_a_rate_is_that_of_a_weighted_mean():
    rates = {"cer": [0, 0, 0, 0.5]}
    found = estimate(a_run("hkcanto_g2p", rates, weights={"cer": [10] * 4}), "cer")
    mean = mean_estimate(np.array(rates["cer"]), np.arange(4))
    assert (found.low, found.high) == pytest.approx((mean.low, mean.high))
    assert 0 <= found.low < found.value == 0.125 < found.high <= 1


def test_a_share_of_all_words_has_an_interval_of_some_width():
    made = a_run(
        "hkcanto_fluency",
        {"cantonese_ratio": [1.0] * 9},
        weights={"cantonese_ratio": [5] * 9},
    )
    found = estimate(made, "cantonese_ratio")
    assert (found.value, found.high) == (1, 1)
    assert found.low == pytest.approx(9 / (9 + 1.959964**2))


def test_a_rate_of_empty_references_alone_has_no_interval():
    found = estimate(
        a_run("hkcanto_g2p", {"cer": [3, 0]}, weights={"cer": [0, 0]}), "cer"
    )
    assert (found.value, found.low, found.high) == (3, None, None)


def test_wilsons_interval_is_that_of_statsmodels():
    for right, count in [(0, 1), (1, 1), (7, 7), (4, 500), (4996, 5000)]:
        found = mean_estimate(
            np.repeat([1.0, 0.0], [right, count - right]), np.arange(count)
        )
        expected = proportion_confint(right, count, method="wilson")
        assert (found.low, found.high) == pytest.approx(expected, abs=1e-12), (
            right,
            count,
        )
        assert 0 <= found.low <= found.value <= found.high <= 1, (right, count)


def test_few_right_or_wrong_answers_have_the_modified_wilson_interval():
    for few, count in [(1, 20), (2, 100), (3, 500)]:
        end = chi2.ppf(0.05, 2 * few) / 2 / count
        other = proportion_confint(few, count, method="wilson")[1]
        values = np.repeat([1.0, 0.0], [few, count - few])
        right, wrong = (
            mean_estimate(each, np.arange(count)) for each in (values, 1 - values)
        )
        assert (right.low, right.high) == pytest.approx((end, other)), (few, count)
        assert (wrong.low, wrong.high) == pytest.approx((1 - other, 1 - end)), (
            few,
            count,
        )


def test_student_counts_the_passages_that_make_up_the_variance():
    # 39 passages with both answers right, one with one; another with binomial variance is added.
    right = np.append(np.ones(79), 0.0)
    found = mean_estimate(right, np.repeat(np.arange(40), 2))
    # One passage of 40 is half right. The squares around the mean are 39 times 0.0125² and once
    # 0.4875²; their mean is 0.006094, their standard deviation 0.037. The degrees of freedom are 80
    # times the square of the ratio of the two: 2.
    squares = np.array([0.0125**2] * 39 + [0.4875**2])
    freedom = 2 * 40 * squares.mean() ** 2 / squares.var()
    assert round(freedom, 1) == 2.2
    variance = (squares.sum() + 39 / 40 * 0.0125 * 0.9875) / (39 + 2 * 39 / 40) / 40
    draws, z = 0.0125 * 0.9875 / variance, t.ppf(0.975, freedom)
    reach = z * np.sqrt(0.0125 * 0.9875 / draws + z**2 / 4 / draws**2)
    low = (0.9875 + z**2 / 2 / draws - reach) / (1 + z**2 / draws)
    assert found.low == pytest.approx(low)


def test_figures_that_the_harness_reports_alike_agree():
    run = a_run(
        "hkcanto_law",
        {"acc": [1, 0, 0, 1]},
        subjects=[LAW[0].name] * 4,
    )
    subject = (LAW[0].name,)
    reported = {
        ((), "acc"): 0.5 + 1e-12,
        (subject, "acc"): 0.25,
        ((), "acc_macro"): float("nan"),
        ((), "judged_accuracy"): 1.0,  # no item has a value for it
    }
    found = harness_agreement(replace(run, reported=reported))
    assert found == HarnessAgreement(1, [Disagreement(subject, "acc", 0.5, 0.25)])


def test_a_harness_counts_the_errors_over_an_empty_reference_too():
    # 2 errors over nothing, 0.5 · 4 errors over 4, 0.25 · 4 over 4: 5 errors over 8.
    (rate,) = figures("ser")
    items = [ItemValue.of(*each) for each in ((2, "", 0), (0.5, "", 4), (0.25, "", 4))]
    assert value(rate, items) == 5 / 8
    assert value(rate, items[:1]) == 2


def test_a_rate_over_an_empty_reference_is_its_number_of_errors():
    found = estimate(
        a_run("hkcanto_g2p", {"cer": [3, 0]}, weights={"cer": [0, 6]}), "cer"
    )
    assert found.value == pytest.approx(3 / 6)


def test_macro_accuracy_counts_subjects_alike():
    run = a_run(
        "hkcanto_law",
        {"acc": [1, 1, 1, 0, 0]},
        subjects=[LAW[0].name] * 4 + [LAW[1].name],
    )
    assert estimate(run, "acc").value == pytest.approx(3 / 5)
    assert estimate(run, "acc_macro").value == pytest.approx((3 / 4 + 0) / 2)


def test_category_macro_is_the_mean_of_category_means_of_subject_means():
    # Two STEM subjects at 1.0 and 0.0, one Humanities subject at 1.0: (0.5 + 1.0) / 2.
    subjects = {s.category: s.name for s in TMMLUPLUS}
    stem = [s.name for s in TMMLUPLUS if s.category == "stem"][:2]
    humanities = subjects["humanities"]
    run = a_run(
        "tmmluplus_gen",
        {"acc": [1, 0, 0, 1, 1, 1]},
        subjects=[stem[0], stem[1], stem[1], humanities, humanities, humanities],
    )
    found = estimate(run, "acc_category_macro")
    assert found.value == pytest.approx(0.75)


def test_the_interval_of_a_macro_accuracy_is_that_of_independent_strata():
    # Standard error of the mean of two means: sqrt(p q / n + p q / n) / 2, here with n = 2,000.
    first, second = [1] * 1000 + [0] * 1000, [1] * 500 + [0] * 1500
    run = a_run(
        "hkcanto_law",
        {"acc": [*first, *second]},
        subjects=[LAW[0].name] * 2000 + [LAW[1].name] * 2000,
    )
    found = estimate(run, "acc_macro")
    error = (0.5 * 0.5 / 2000 + 0.25 * 0.75 / 2000) ** 0.5 / 2
    assert found.value == pytest.approx(0.375)
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.01)


def test_a_macro_accuracy_of_few_items_that_are_all_wrong_is_not_surely_0():
    run = a_run("hkcanto_law", {"acc": [0, 0]}, subjects=[LAW[0].name] * 2)
    found = estimate(run, "acc_macro")
    assert found.low == found.value == 0
    assert found.high == pytest.approx(estimate(run, "acc").high)


def test_tiny_subjects_that_are_all_right_do_not_make_a_mean_sure():
    # Ten of ten and 1,990 of 2,000: the first alone may lower a mean over both by 14 points.
    names = [LAW[0].name] * 10 + [LAW[1].name] * 2000
    run = a_run("hkcanto_law", {"acc": [1] * 2000 + [0] * 10}, subjects=names)
    found = estimate(run, "acc_macro")
    assert found.value == pytest.approx(0.9975)
    assert found.low < 0.97


def test_a_group_is_a_part_of_the_items():
    run = a_run(
        "hkmmlu",
        {"acc": [1, 0, 0]},
        parts=[("hk_specific",), ("hk_specific", "hkdse"), ()],
    )
    assert estimate(run, "acc_hk_specific").value == 0.5
    assert estimate(run, "acc_hkdse").value == 0
    assert estimate(run, "acc_rhyme") is None


def test_items_without_a_value_do_not_count():
    found = estimate(a_run("hkcanto_law", {"acc": [1, float("nan")]}), "acc")
    assert (found.value, found.items) == (1, 1)


def test_a_corpus_figure_is_sacrebleus():
    from sacrebleu import corpus_bleu

    pairs = [
        Pair("佢今日冇返學", "佢今日冇返學校", "他今天沒上學"),
        Pair("我哋去飲茶啦", "我哋去飲茶喇喂", "我們去喝茶吧"),
    ]
    found = estimate(a_run("hkcanto_translation_zh_yue", {}, pairs=pairs), "bleu")
    expected = corpus_bleu(
        [p[0] for p in pairs], [[p[1] for p in pairs]], tokenize="zh"
    ).score
    assert found.value == pytest.approx(expected)
    assert found.low <= found.value <= found.high


def test_a_part_of_the_items_can_be_asked_for():
    run = a_run(
        "hkcanto_sentiment", {"acc": [1, 0, 0, 0]}, subjects=["a", "a", "b", "c"]
    )
    assert estimate(run, "acc", ("a",)).value == 0.5
    assert estimate(run, "acc", ("z",)) is estimate(run, "acc", ()) is None


# ---------------------------------------------------------------- all items, from a part of them


def test_the_interval_of_a_figure_that_one_response_can_move_says_what_it_cannot_know():
    of = {"cer": [0.1] * 52, "tone_error_rate": [0.1] * 52, "cer_published": [0.1] * 52}
    lengths = {"cer": [10] * 52, "tone_error_rate": [10] * 52}
    run = a_run("hkcanto_g2p", of, weights=lengths)
    unseen = "knows of no runaway responses but those seen: up to 3 in n may be missing"
    assert unseen in estimate(run, "cer").note
    # Shares of aligned syllables and of gold ones are from 0 to 1.
    assert (
        estimate(run, "tone_error_rate").note
        == estimate(run, "cer_published").note
        == ""
    )
