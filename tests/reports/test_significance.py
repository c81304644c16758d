"""Paired statistics, against published examples, scipy, statsmodels and sacreBLEU."""

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.significance import PairedTest
from scipy.optimize import minimize_scalar
from scipy.stats import binomtest, norm, permutation_test, t
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from hkcanto_metrics.labels import label_statistics
from hkcanto_metrics.translation import sufficient_statistics
from hkcanto_tasks.figures import sum_clusters
from hkcanto_tasks.results.statistics import intervals
from hkcanto_tasks.results.statistics.estimates import (
    corpus_estimate,
    macro_f1_estimate,
    mean_estimate,
    rate_estimate,
)
from hkcanto_tasks.results.statistics.intervals import (
    Estimate,
    agreeing,
    is_above,
    mcnemar_p_value,
    paired_accuracy_interval,
    paired_mean_interval,
    randomization_p_value,
    ratio,
)

# Complete response before and after consolidation therapy (Cavo et al., 2012), as in Fagerland,
# Lydersen and Laake (2017), "Statistical Analysis of Contingency Tables", chapter 8.
CAVO = {"losses": 6, "wins": 16, "items": 161}
# Airway hyper-responsiveness before and after transplantation (Bentur et al., 2009), as in
# Fagerland, Lydersen and Laake (2014), "Recommended tests and confidence intervals for paired
# binomial proportions".
BENTUR = {"losses": 1, "wins": 7, "items": 21}
# Darwin's maize: crossed minus self-fertilised plants, in eighths of an inch.
DARWIN = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48], float)

TAILS = (0.025, 0.975)


def means(*values: object) -> np.ndarray:
    """Rows whose ratio of sums is the mean of the values."""
    return np.column_stack([np.asarray(values[0], float), np.ones(len(values[0]))])


# --- McNemar


def test_mcnemar_equals_the_published_p_value():
    assert mcnemar_p_value(CAVO["wins"], CAVO["losses"]) == pytest.approx(
        0.052479, abs=5e-7
    )


@given(st.integers(0, 300), st.integers(0, 300))
@settings(max_examples=50, deadline=None)
def test_mcnemar_equals_statsmodels(wins: int, losses: int):
    expected = (
        mcnemar([[10, losses], [wins, 5]], exact=True).pvalue if wins + losses else 1
    )
    assert mcnemar_p_value(wins, losses) == pytest.approx(expected)


@given(st.integers(0, 20_000), st.integers(0, 20_000))
def test_mcnemar_equals_scipys_binomial_test(wins: int, losses: int):
    expected = binomtest(wins, wins + losses, 0.5).pvalue if wins + losses else 1
    # Below this, scipy's value is 0 for some numbers.
    assert mcnemar_p_value(wins, losses) == pytest.approx(
        expected, rel=1e-9, abs=1e-250
    )


# --- exchanging the models


def test_fishers_test_of_darwins_maize_is_exact():
    # Fisher (1935), "The Design of Experiments", section 21: of 2¹⁵ = 32,768 ways to give signs to
    # the differences, 1,726 give a total as large as Darwin's 314, in either direction.
    assert DARWIN.sum() == 314
    p = randomization_p_value(
        means(DARWIN), means(0 * DARWIN), ratio, resamples=2**15, seed=0
    )
    assert p == 1726 / 32768


def test_drawing_exchanges_comes_close_to_all_of_them():
    p = randomization_p_value(
        means(DARWIN), means(0 * DARWIN), ratio, resamples=2**14, seed=0
    )
    assert p == pytest.approx(1726 / 32768, abs=4 * np.sqrt(0.05 * 0.95 / 2**14))


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=8))
@settings(max_examples=50, deadline=None)
def test_a_mean_is_tested_as_scipy_does(differences: list[int]):
    values = np.array(differences, float)
    if np.any(values):
        expected = permutation_test(
            (values,), np.mean, permutation_type="samples", n_resamples=np.inf
        ).pvalue
    else:
        expected = 1
    found = randomization_p_value(
        means(values), means(0 * values), ratio, resamples=512, seed=0
    )
    assert found == pytest.approx(expected)


def test_right_and_wrong_answers_are_tested_as_mcnemar_does():
    a, b = means([1] * 8 + [0] * 2 + [1] * 30), means([0] * 8 + [1] * 2 + [1] * 30)
    p = randomization_p_value(a, b, ratio, resamples=1024, seed=0)
    assert p == pytest.approx(mcnemar_p_value(2, 8))


def test_rates_are_tested_with_their_lengths():
    # Worked by hand: 1/2 and 0/1 errors against 0/2 and 1/1. The observed rates are 1/3 and 1/3, so
    # every exchange is at least as far apart.
    a, b = np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[0.0, 2.0], [1.0, 1.0]])
    assert randomization_p_value(a, b, ratio, resamples=100, seed=0) == 1
    # 2/2 and 1/1 against 0/2 and 0/1 are 1 apart, like 2 of 4 exchanges; the others are 1/3 apart.
    a, b = np.array([[2.0, 2.0], [1.0, 1.0]]), np.array([[0.0, 2.0], [0.0, 1.0]])
    assert randomization_p_value(a, b, ratio, resamples=100, seed=0) == 0.5


# --- bootstrap


def answers(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Right and wrong answers of two models, B a little better."""
    rng = np.random.default_rng(seed)
    hard = rng.random(count)
    return tuple(
        (hard + 0.2 * rng.normal(size=count) < level).astype(float)
        for level in (0.6, 0.63)
    )


def test_resampling_in_batches_changes_nothing(monkeypatch: pytest.MonkeyPatch):
    a, b = (means(DARWIN), means(0 * DARWIN))
    p = randomization_p_value(a, b, ratio, resamples=200, seed=3)
    monkeypatch.setattr(intervals, "_BATCH_NUMBERS", 1)
    assert randomization_p_value(a, b, ratio, resamples=200, seed=3) == p


@given(
    st.lists(
        st.tuples(st.sampled_from([0, 0.5, 1]), st.sampled_from([0, 1])), min_size=1
    ),
    st.integers(0, 99),
)
@settings(max_examples=50, deadline=None)
def test_exchanging_the_models_changes_no_p_value(
    pairs: list[tuple[float, int]], seed: int
):
    a, b = (means(side) for side in zip(*pairs, strict=True))
    p_values = [
        randomization_p_value(*sides, ratio, resamples=50, seed=seed)
        for sides in ((a, b), (b, a))
    ]
    assert p_values[0] == p_values[1]


def test_equal_runs_have_no_evidence():
    a = means(answers(100)[0])
    assert randomization_p_value(a, a, ratio, resamples=200, seed=0) == 1


# --- clusters


def test_equal_epochs_count_once():
    a, b = answers(150)
    items = np.arange(150)
    four = [sum_clusters(means(np.tile(side, 4)), np.tile(items, 4)) for side in (a, b)]
    p_values = [
        randomization_p_value(*sides, ratio, resamples=300, seed=5)
        for sides in ((means(a), means(b)), four)
    ]
    assert p_values[0] == p_values[1]


def test_clusters_of_unequal_size_keep_the_mean_over_items():
    a = sum_clusters(means([1, 0, 0, 1, 1]), np.array([3, 3, 3, 1, 2]))
    assert a.tolist() == [[1, 3], [1, 1], [1, 1]]
    assert ratio(a.sum(axis=0, keepdims=True))[0] == pytest.approx(3 / 5)


# --- translations, as in sacreBLEU


def translations(count: int) -> tuple[list[str], list[str], list[str]]:
    """References and the outputs of two systems, all of them different."""
    rng = np.random.default_rng(11)
    letters = np.array(list("我你佢唔係有冇去嚟食飲講聽睇行企坐瞓"))
    references = ["".join(rng.choice(letters, 24)) for _ in range(count)]

    def system(errors: float) -> list[str]:
        return [
            "".join(
                rng.choice(letters) if rng.random() < errors else c for c in reference
            )
            for reference in references
        ]

    return references, system(0.32), system(0.28)


@pytest.mark.parametrize("name", ["bleu", "chrf"])
def test_corpus_figures_have_sacrebleus_p_values(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    references, one, other = translations(96)
    metric = {
        "bleu": sacrebleu.metrics.BLEU(tokenize="zh"),
        "chrf": sacrebleu.metrics.CHRF(),
    }[name]
    paired = PairedTest(
        [("one", one), ("other", other)],
        {name: metric},
        [references],
        "ar",
        n_samples=400,
    )
    expected = next(found for key, found in paired()[1].items() if key != "System")[
        1
    ].p_value
    rows, score = zip(
        *(sufficient_statistics(name, side, references) for side in (one, other)),
        strict=True,
    )

    def statistic(sums: np.ndarray) -> np.ndarray:
        return np.array([score[0](row) for row in sums])

    found = randomization_p_value(*rows, statistic, resamples=400, seed=12345)
    assert 1 / 401 < found < 0.5
    assert found == pytest.approx(expected)


# --- intervals of differences of accuracies


def test_the_interval_ends_where_tangos_published_one_does():
    for table, high in [(CAVO, 0.1240), (BENTUR, 0.517)]:
        assert paired_accuracy_interval(**table) == pytest.approx(
            (0, high), abs=5e-4
        ), (
            table,
            high,
        )
        mirrored = {**table, "losses": table["wins"], "wins": table["losses"]}
        assert paired_accuracy_interval(**mirrored) == pytest.approx(
            (-high, 0), abs=5e-4
        ), (
            table,
            high,
        )


def test_equal_answers_are_not_proven_equal():
    # z² / (n + z²): Tango's equation with no discordant pair.
    z = norm.ppf(0.975)
    end = z**2 / (100 + z**2)
    assert paired_accuracy_interval(0, 0, 100) == pytest.approx((-end, end))
    assert paired_accuracy_interval(10, 0, 10)[1] == pytest.approx(1)


def score_statistic(losses: int, wins: int, items: int, loss: float) -> float:
    """Tango's score, with numerical restricted maximum likelihood."""

    def minus_likelihood(only_b: float) -> float:
        counts = (losses, only_b + loss), (wins, only_b), (items - losses - wins, None)
        agree = 1 - loss - 2 * only_b
        return -sum(
            count * np.log(max(agree if share is None else share, 1e-300))
            for count, share in counts
            if count
        )

    limits = (max(0.0, -loss), (1 - loss) / 2)
    only_b = minimize_scalar(
        minus_likelihood, bounds=limits, method="bounded", options={"xatol": 1e-12}
    ).x
    variance = (2 * only_b + loss - loss**2) / items
    return ((losses - wins) / items - loss) / np.sqrt(variance)


@given(st.integers(0, 20), st.integers(0, 20), st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_the_interval_ends_where_the_score_test_stops_rejecting(
    losses: int, wins: int, agree: int
):
    items = losses + wins + agree
    low, high = paired_accuracy_interval(wins, losses, items)
    z = norm.ppf(0.975)
    if low:
        assert score_statistic(losses, wins, items, -low) == pytest.approx(-z, abs=2e-3)
    if high:
        assert score_statistic(wins, losses, items, high) == pytest.approx(-z, abs=2e-3)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 400))
@settings(deadline=None)
def test_the_interval_and_mcnemars_test_agree(losses: int, wins: int, agree: int):
    items = losses + wins + agree + 1
    low, high = paired_accuracy_interval(wins, losses, items)
    assert -1 <= low <= (wins - losses) / items <= high <= 1
    assert (
        (low < 0 < high or 0 in (low, high))
        if mcnemar_p_value(wins, losses) > 0.05
        else (low >= 0 or high <= 0)
    )


# --- intervals of differences of means


def test_the_interval_of_a_mean_is_students_with_one_more_value():
    # By hand for Darwin's maize: the mean, and the t distribution with 14 degrees of freedom. The
    # most distant pair is 87.93 eighths below the mean of 20.93.
    squares = ((DARWIN - DARWIN.mean()) ** 2).sum() + (67 + DARWIN.mean()) ** 2
    reach = t.ppf(0.975, 14) * np.sqrt(squares / (14 * 16))
    expected = DARWIN.mean() - reach, DARWIN.mean() + reach
    found = paired_mean_interval(DARWIN, largest=1000)
    assert found == pytest.approx(expected)
    # It contains Student's own interval: Fisher's 0.003 to 41.86 eighths, for p = 0.0497.
    assert found[0] < 0.003 < 41.86 < found[1]


def test_equal_runs_have_the_interval_of_the_rule_of_three():
    end = 1 - 0.025 ** (1 / 40)
    assert paired_mean_interval([0.0] * 40) == pytest.approx((-end, end))
    assert paired_mean_interval([0.0] * 40, largest=100) == pytest.approx(
        (-100 * end, 100 * end)
    )
    epochs = paired_mean_interval([0.0] * 400, np.repeat(range(40), 10))
    assert epochs == pytest.approx((-end, end))


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=5), st.integers(0, 50))
@settings(max_examples=30, deadline=None)
def test_so_few_differing_items_never_exclude_no_difference(
    values: list[float], equal: int
):
    # No exact test rejects, either: 2 / 2⁵ > 0.05.
    low, high = paired_mean_interval(values + [0.0] * equal)
    assert low <= 0 <= high


def test_six_differing_items_have_students_interval():
    # 2 / 2⁶ < 0.05. The mean is 0, the squares sum to 6 · 0.25, and one more is added:
    # √(1.75 / (7 · 9)) is 1 / 6.
    six = [0.5, -0.5] * 3
    reach = t.ppf(0.975, 7) / 6
    assert paired_mean_interval([*six, 0, 0]) == pytest.approx((-reach, reach))


def test_runs_that_differ_by_the_same_everywhere_have_a_width():
    low, high = paired_mean_interval([0.2] * 50)
    assert low < 0.2 < high


def test_a_single_cluster_says_nearly_nothing():
    low, high = paired_mean_interval([0.1, 0.3, 0.2] * 9, [1] * 27)
    assert low < -0.9
    assert high > 0.95


def test_at_another_confidence_the_intervals_are_as_wide_as_their_quantiles():
    # Tango's score at its ends is the quantile; the rule of three is 1 - (α/2)^(1/n).
    low, high = paired_accuracy_interval(0, 0, 100, 0.995)
    z = norm.ppf(0.9975)
    assert high == -low == pytest.approx(z**2 / (100 + z**2))
    low, high = paired_mean_interval([0.0] * 40, confidence=0.995)
    assert high == -low == pytest.approx(1 - 0.0025 ** (1 / 40))
    differences = DARWIN / 1000
    narrow = paired_mean_interval(differences)
    wide = paired_mean_interval(differences, confidence=0.99)
    ratio_of_t = t.ppf(0.995, 14) / t.ppf(0.975, 14)
    assert (wide[1] - wide[0]) / (narrow[1] - narrow[0]) == pytest.approx(ratio_of_t)


def test_an_interval_agrees_with_its_p_value():
    for ends, p_value, difference, expected in [
        ((0.1, 0.4), 0.2, 0.3, (0, 0.4)),
        ((-0.4, -0.1), 0.05, -0.3, (-0.4, 0)),
        ((-0.1, 0.4), 0.01, 0.2, (0, 0.4)),
        ((-0.4, 0.1), 0.01, -0.2, (-0.4, 0)),
        ((0.1, 0.4), 0.01, 0.2, (0.1, 0.4)),
    ]:
        assert agreeing(ends, p_value, difference) == expected, (
            ends,
            p_value,
            difference,
            expected,
        )


def test_weights_are_as_many_items():
    values, counts = (
        np.array([0.1, -0.2, 0.4, 0, 0.3, -0.1, 0.2]),
        [1, 2, 3, 4, 5, 6, 7],
    )
    clusters = np.repeat(range(7), counts)
    assert paired_mean_interval(values, weights=counts) == pytest.approx(
        paired_mean_interval(np.repeat(values, counts), clusters)
    )


# --- intervals of pooled rates and corpus figures


def rate(
    errors: object, lengths: object, clusters: object = None
) -> tuple[float, float]:
    errors, lengths = (np.asarray(side, float) for side in (errors, lengths))
    clusters = np.arange(len(errors)) if clusters is None else np.asarray(clusters)
    found = rate_estimate(errors / lengths, lengths, clusters)
    return found.low, found.high


def test_a_rate_of_items_of_equal_length_is_their_mean():
    values = np.array([0.0, 0.2, 0.0, 0.5, 0.1, 0.0, 0.3, 1.0])
    mean = mean_estimate(values, np.arange(8))
    assert rate(values * 7, [7] * 8) == pytest.approx((mean.low, mean.high))


def test_a_rate_of_all_or_none_has_an_interval_of_some_width():
    # Wilson's for 30 draws, of a rate of either sense: 1 / (1 + 1.96² / 30).
    assert rate([4] * 30, [4] * 30) == pytest.approx((0.8865, 1), abs=1e-4)
    assert rate([0] * 30, [4] * 30) == pytest.approx((0, 0.1135), abs=1e-4)
    epochs = rate([4] * 300, [4] * 300, np.repeat(range(30), 10))
    assert epochs == pytest.approx((0.8865, 1), abs=1e-4)


def test_an_interval_of_a_rate_is_mirrored_if_errors_and_hits_are_exchanged():
    rng = np.random.default_rng(3)
    lengths = rng.integers(1, 40, 30)
    errors = rng.binomial(lengths, 0.1)
    low, high = rate(errors, lengths)
    assert rate(lengths - errors, lengths) == pytest.approx((1 - high, 1 - low))
    assert 0 < low < errors.sum() / lengths.sum() < high


def test_rates_above_one_are_possible_if_an_item_has_one():
    assert rate([9, 1, 8], [10, 10, 10])[1] <= 1
    low, high = rate([12, 15, 11, 13] * 5, [10] * 20)
    assert 1 < low < 1.275 < high <= 1.5
    assert rate([3], [10]) == (None, None)


def test_the_interval_of_a_corpus_figure_that_is_a_mean_is_that_of_the_mean():
    rng = np.random.default_rng(5)
    scores = np.round(rng.random(17) * 100)
    mean = mean_estimate(scores / 100, np.arange(17))
    found = corpus_estimate(means(scores), ratio, 17)
    assert (found.low, found.high) == pytest.approx((100 * mean.low, 100 * mean.high))


def test_macro_f1_of_a_label_without_items_is_open_to_both_sides():
    # "a" is right 8 times of 8: Wilson's [0.6756, 1], as F1 [0.8064, 1]. "b" has no item: [0, 1].
    rows, _ = label_statistics(["a"] * 8, ["a"] * 8, ["a", "b"])
    found = macro_f1_estimate(rows, 8)
    assert found.value == 0.5
    assert found.high == 1
    assert found.low == pytest.approx(0.5 - 2**0.5 * (1 - 0.8064) / 2, abs=1e-3)


def test_macro_f1_of_equal_epochs_is_as_wide_as_of_one():
    # "a" is right 6 times of 7, "b" once of 2. By hand: Wilson's ends of these shares, as F1.
    rows, _ = label_statistics([*"aaaaaaba"], [*"aaaaaabb"], ["a", "b"])
    shares = np.array(
        [proportion_confint(*of, method="wilson") for of in ((6, 7), (1, 2))]
    )
    f1 = np.array([[12 / 13], [2 / 3]])
    squares = (2 * shares / (1 + shares) - f1) ** 2
    below, above = np.sqrt(2 * squares.sum(axis=0)) / 2
    expected = f1.mean() - below, min(1, f1.mean() + above)
    for epochs in (1, 2, 5):
        found = macro_f1_estimate(rows * epochs, 8 * epochs)
        assert (found.low, found.high) == pytest.approx(expected), epochs


def test_each_figure_is_above_another_by_its_own_side_of_the_interval() -> None:
    # Newcombe's method 10 by hand: 0.8 reaches 0.1 down and 0.15 up, 0.66 reaches 0.26 down and
    # 0.04 up. √(0.1² + 0.04²) = 0.108 < 0.14, and √(0.15² + 0.26²) = 0.300 > 0.14.
    assert is_above(Estimate(0.8, 0.7, 0.95, 50), Estimate(0.66, 0.4, 0.7, 50))
    # The other sides are short: √(0.2² + 0.14²) = 0.244 > 0.14, and √(0.05² + 0.04²) = 0.064.
    assert not is_above(Estimate(0.8, 0.6, 0.85, 50), Estimate(0.66, 0.62, 0.8, 50))
