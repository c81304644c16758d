"""Figures and their intervals, against textbook values and statsmodels."""

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.stats.proportion import proportion_confint

from hkcanto_tasks.corpus_figures import Pair
from hkcanto_tasks.reports.figures import Agreement, Disagreement, agreement, figure, mean_figure
from hkcanto_tasks.reports.intervals import ratio_interval

from .building import evaluation


def test_an_accuracy_has_wilsons_interval():
    # Newcombe (1998), "Two-sided confidence intervals for the single proportion", Table I: 81/263.
    found = figure(evaluation("hkcanto_law", {"acc": [1] * 81 + [0] * 182}), "acc")
    assert (round(found.low, 4), round(found.high, 4)) == (0.2553, 0.3662)
    assert found.value == 81 / 263
    assert found.items == 263


def test_no_success_still_has_an_interval():
    # Newcombe (1998), Table I: 0/20.
    found = figure(evaluation("hkcanto_law", {"acc": [0] * 20}), "acc")
    assert (found.low, round(found.high, 4)) == (0, 0.1611)


def test_clustered_items_have_the_standard_error_that_statsmodels_computes():
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(12), 5)
    values = rng.normal(size=60) + np.repeat(rng.normal(size=12), 5)
    fit = sm.OLS(values, np.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": clusters})
    found = mean_figure(values, clusters)
    assert found.high - found.value == pytest.approx(1.959963984540054 * fit.bse[0])


def test_four_equal_epochs_say_no_more_than_one():
    once = [1, 0, 1, 1, 0, 1, 0, 1, 1, 1]
    alone = mean_figure(np.array(once, float), np.arange(10))
    four = mean_figure(np.tile(np.array(once, float), 4), np.tile(np.arange(10), 4))
    assert four.value == alone.value
    # The clustered error has n/(n - 1) in it, so the interval is a little wider than Wilson's.
    assert four.high - four.low == pytest.approx(alone.high - alone.low, rel=0.06)
    assert four.high - four.low >= alone.high - alone.low


def test_epochs_that_are_all_wrong_count_as_often_as_there_are_items():
    found = mean_figure(np.zeros(80), np.tile(np.arange(20), 4))
    assert round(found.high, 4) == 0.1611  # 0/20, as above


def test_a_pooled_rate_is_errors_over_length_not_a_mean():
    found = figure(evaluation("hkcanto_g2p", {"cer": [0.5, 0.1]}, weights={"cer": [2, 10]}), "cer")
    assert found.value == pytest.approx(2 / 12)


def test_the_interval_of_a_rate_is_that_of_a_ratio_and_does_not_go_below_0():
    rates = {"cer": [0, 0, 0, 0.5]}
    found = figure(evaluation("hkcanto_g2p", rates, weights={"cer": [10] * 4}), "cer")
    assert (found.low, found.high) == ratio_interval([0, 0, 0, 5], [10] * 4)
    assert 0 <= found.low < found.value == 0.125 < found.high <= 1


def test_a_rate_of_empty_references_alone_has_no_interval():
    found = figure(evaluation("hkcanto_g2p", {"cer": [3, 0]}, weights={"cer": [0, 0]}), "cer")
    assert (found.value, found.low, found.high) == (3, None, None)


@pytest.mark.parametrize(("right", "count"), [(0, 1), (1, 1), (7, 7), (3, 500), (4999, 5000)])
def test_wilsons_interval_is_that_of_statsmodels(right, count):
    found = mean_figure(np.repeat([1.0, 0.0], [right, count - right]), np.arange(count))
    expected = proportion_confint(right, count, method="wilson")
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-12)
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_figures_that_the_harness_reports_alike_agree():
    run = evaluation("hkcanto_law", {"acc": [1, 0, 0, 1]}, subjects=[_law()[0].name] * 4)
    subject = (_law()[0].name,)
    reported = {
        ((), "acc"): 0.5 + 1e-12,
        (subject, "acc"): 0.25,
        ((), "acc_macro"): float("nan"),
        ((), "judged_accuracy"): 1.0,  # which no item has
    }
    found = agreement(replace(run, reported=reported))
    assert found == Agreement(1, [Disagreement(subject, "acc", 0.5, 0.25)])


def test_a_rate_over_an_empty_reference_is_its_number_of_errors():
    found = figure(evaluation("hkcanto_g2p", {"cer": [3, 0]}, weights={"cer": [0, 6]}), "cer")
    assert found.value == pytest.approx(3 / 6)


def test_macro_accuracy_counts_subjects_alike():
    run = evaluation(
        "hkcanto_law",
        {"acc": [1, 1, 1, 0, 0]},
        subjects=[_law()[0].name] * 4 + [_law()[1].name],
    )
    assert figure(run, "acc").value == pytest.approx(3 / 5)
    assert figure(run, "acc_macro").value == pytest.approx((3 / 4 + 0) / 2)


def test_category_macro_is_the_mean_of_category_means_of_subject_means():
    # Two STEM subjects at 1.0 and 0.0, one Humanities subject at 1.0: (0.5 + 1.0) / 2.
    subjects = {s.category: s.name for s in _tmmluplus()}
    stem = [s.name for s in _tmmluplus() if s.category == "stem"][:2]
    humanities = subjects["humanities"]
    run = evaluation(
        "tmmluplus_gen",
        {"acc": [1, 0, 0, 1, 1, 1]},
        subjects=[stem[0], stem[1], stem[1], humanities, humanities, humanities],
    )
    found = figure(run, "acc_category_macro")
    assert found.value == pytest.approx(0.75)


def test_the_interval_of_a_macro_accuracy_is_that_of_independent_strata():
    # Standard error of the mean of two means: sqrt(p q / n + p q / n) / 2, here with n = 2,000.
    first, second = [1] * 1000 + [0] * 1000, [1] * 500 + [0] * 1500
    run = evaluation(
        "hkcanto_law",
        {"acc": [*first, *second]},
        subjects=[_law()[0].name] * 2000 + [_law()[1].name] * 2000,
    )
    found = figure(run, "acc_macro")
    error = (0.5 * 0.5 / 2000 + 0.25 * 0.75 / 2000) ** 0.5 / 2
    assert found.value == pytest.approx(0.375)
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.01)


def test_a_macro_accuracy_of_few_items_that_are_all_wrong_is_not_surely_0():
    run = evaluation("hkcanto_law", {"acc": [0, 0]}, subjects=[_law()[0].name] * 2)
    found = figure(run, "acc_macro")
    assert found.low == found.value == 0
    assert found.high == pytest.approx(figure(run, "acc").high)


def test_a_group_is_a_part_of_the_items():
    run = evaluation(
        "hkmmlu", {"acc": [1, 0, 0]}, parts=[("hk_specific",), ("hk_specific", "hkdse"), ()]
    )
    assert figure(run, "acc_hk_specific").value == 0.5
    assert figure(run, "acc_hkdse").value == 0
    assert figure(run, "acc_rhyme") is None


def test_items_without_a_value_do_not_count():
    found = figure(evaluation("hkcanto_law", {"acc": [1, float("nan")]}), "acc")
    assert (found.value, found.items) == (1, 1)


def test_a_corpus_figure_is_sacrebleus():
    from sacrebleu import corpus_bleu

    pairs = [
        Pair("佢今日冇返學", "佢今日冇返學校", "他今天沒上學"),
        Pair("我哋去飲茶啦", "我哋去飲茶喇喂", "我們去喝茶吧"),
    ]
    found = figure(evaluation("hkcanto_translation_zh_yue", {}, pairs=pairs), "bleu")
    expected = corpus_bleu([p[0] for p in pairs], [[p[1] for p in pairs]], tokenize="zh").score
    assert found.value == pytest.approx(expected)
    assert found.low <= found.value <= found.high


def test_a_part_of_the_items_can_be_asked_for():
    run = evaluation("hkcanto_law", {"acc": [1, 0, 0, 0]})
    assert figure(run, "acc", np.array([True, True, False, False])).value == 0.5


def _law():
    from hkcanto_tasks.catalogue import find_task

    return find_task("hkcanto_law").subjects


def _tmmluplus():
    from hkcanto_tasks.catalogue import find_task

    return find_task("tmmluplus_gen").subjects
