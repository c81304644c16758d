"""Agreement of judge and people, against published values, hand calculation and libraries."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hkcanto_metrics.agreement import (
    Correlation,
    agreement,
    corrected_mean,
    correlation,
    krippendorff_alpha,
    read_human_scores,
)

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): four observers, 12 units.
_ = None
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]
UNITS = [
    [float(v) for v in unit if v is not None] for unit in zip(*OBSERVERS, strict=True)
]


def test_alpha_is_krippendorffs_on_his_example_with_missing_data() -> None:
    assert krippendorff_alpha(UNITS) == pytest.approx(0.849, abs=5e-4)


def test_alpha_is_krippendorffs_on_his_binary_example() -> None:
    meg, owen = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert krippendorff_alpha(zip(meg, owen, strict=True)) == pytest.approx(
        0.095, abs=5e-4
    )


units = st.lists(
    st.lists(st.sampled_from([1.0, 3.0, 5.0]), min_size=2, max_size=5),
    min_size=2,
    max_size=12,
)


@pytest.mark.slow
@settings(deadline=None)  # the first example imports Inspect
@given(units=units.filter(lambda u: len({v for scores in u for v in scores}) > 1))
def test_alpha_is_inspects(units: list[list[float]]) -> None:
    scorer = pytest.importorskip("inspect_ai.scorer")
    theirs = scorer.krippendorff_alpha(level="interval")(
        [scorer.SampleScore(score=scorer.Score(value=scores)) for scores in units]
    )
    assert krippendorff_alpha(units) == pytest.approx(theirs, abs=1e-9)


def test_alpha_is_undefined_without_pairs_or_without_differences() -> None:
    for units in [[], [[5.0]], [[5.0], [3.0]], [[3.0, 3.0], [3.0, 3.0]]]:
        assert math.isnan(krippendorff_alpha(units)), units


def test_coefficients_of_a_small_example() -> None:
    judge = {
        "fluency": {"a": 5.0, "b": 3.0, "c": 3.0, "d": 1.0, "not scored by people": 5.0}
    }
    people = {
        "fluency": {"a": [5.0], "b": [5.0], "c": [3.0], "d": [1.0], "not judged": [1.0]}
    }
    [row] = agreement(judge, people)
    assert (row.criterion, row.items) == ("fluency", 4)
    assert row.pearson == pytest.approx(8 / math.sqrt(8 * 11))
    assert row.spearman == pytest.approx(3.75 / 4.5)
    assert row.kendall == pytest.approx(4 / math.sqrt(5 * 5))
    assert row.alpha == pytest.approx(1 - 4 / (8 * 19.5 / 7))
    assert math.isnan(row.human_alpha)


def test_a_judge_that_is_one_point_too_lenient_correlates_but_does_not_agree() -> None:
    people = {"x": {str(i): [float(i), float(i)] for i in range(5)}}
    [lenient] = agreement({"x": {str(i): i + 1.0 for i in range(5)}}, people)
    [same] = agreement({"x": {str(i): float(i) for i in range(5)}}, people)
    assert (lenient.pearson, lenient.spearman, lenient.kendall) == pytest.approx(
        (1, 1, 1)
    )
    assert lenient.alpha == pytest.approx(1 - 5 / 25)
    assert same.alpha == lenient.human_alpha == 1


def test_a_judge_that_always_says_the_same_has_no_correlation() -> None:
    same = dict.fromkeys("abcdef", 0.1)  # whose mean is not exactly 0.1
    [row] = agreement({"x": same}, {"x": {name: [at] for at, name in enumerate(same)}})
    assert math.isnan(row.pearson)
    assert all(map(math.isnan, row.intervals["pearson"]))
    [row] = agreement({"x": {"a": 5.0, "b": 5.0}}, {"x": {"a": [1.0], "b": [5.0]}})
    assert all(map(math.isnan, (row.pearson, row.spearman, row.kendall)))
    assert all(map(math.isnan, row.intervals["pearson"]))
    assert row.alpha == pytest.approx(1 - 16 / (4 * 4))


def test_one_item_has_no_correlation() -> None:
    [row] = agreement({"x": {"a": 5.0}}, {"x": {"a": [5.0]}})
    assert math.isnan(row.pearson)


def test_scores_of_different_items_do_not_compare() -> None:
    with pytest.raises(ValueError, match="no item in common"):
        agreement({"x": {"task/1": 5.0}}, {"x": {"1": [5.0]}})


def test_a_criterion_must_be_judged() -> None:
    with pytest.raises(ValueError, match="did not score 'tone'; it scored fluency"):
        agreement({"fluency": {"a": 5.0}}, {"tone": {"a": [5.0]}})


def csv_file(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "people.csv"
    path.write_text(text, encoding)
    return path


def test_a_row_is_an_item_and_a_person(tmp_path: Path) -> None:
    for encoding in ["utf-8", "utf-8-sig"]:
        text = "id,person,fluency,coherence,comment\na,甲,5,3,好\na,乙,3,,\n"
        text += ", \n\nb,甲,1, 5 ,\n,,,,,,\n"  # with blank rows of any length
        assert read_human_scores(
            csv_file(tmp_path, text, encoding), ["fluency", "coherence"]
        ) == {
            "fluency": {"a": [5, 3], "b": [1]},
            "coherence": {"a": [3], "b": [5]},
        }, encoding


def test_a_score_is_a_number(tmp_path: Path) -> None:
    for cell in ["five", "nan", "inf", "5分"]:
        path = csv_file(tmp_path, f"id,fluency\na,5\nb,{cell}\n")
        with pytest.raises(
            ValueError, match=f"line 3: 'fluency': '{cell}' is not a number"
        ):
            read_human_scores(path, ["fluency"])


def test_the_header_names_the_items_and_a_criterion(tmp_path: Path) -> None:
    for text in ["", "item,fluency\na,5\n", "id,flu\na,5\n"]:
        with pytest.raises(
            ValueError, match="must have 'id' and at least one of fluency"
        ):
            read_human_scores(csv_file(tmp_path, text), ["fluency"])


# A judge's mean, corrected by people's scores.

PEOPLE = [0.9, 0.4, 0.7, 0.2, 0.8, 0.5]
JUDGE = [0.8, 0.5, 0.9, 0.4, 0.9, 0.4]
UNSEEN = [0.7, 0.6, 0.9, 0.3, 0.8, 0.5, 0.95, 0.4, 0.85]


def test_the_corrected_mean_is_that_of_the_authors_package() -> None:
    """The values of ppi_py 0.2.3's ppi_mean_pointestimate, tuned and untuned."""
    assert corrected_mean(PEOPLE, JUDGE, UNSEEN).value == pytest.approx(0.59223301)
    assert corrected_mean(PEOPLE, JUDGE, UNSEEN, weight=1).value == pytest.approx(0.6)


def test_the_interval_adds_both_variances() -> None:
    made = corrected_mean([1, 2, 3], [0, 0, 0], [0, 2, 0, 2], weight=1)
    # Three errors 1, 2, 3 have variance 1, four errors 0, 2, 0, 2 have 1; t of 2 is 4.303.
    assert made.value == pytest.approx(2 + 1)
    assert made.high - made.value == pytest.approx(
        4.3027 * math.sqrt(1 / 3 + 1 / 4), abs=1e-3
    )


def test_without_more_judged_items_it_is_the_mean_of_the_people() -> None:
    made = corrected_mean(PEOPLE, JUDGE)
    expected = stats.ttest_1samp(PEOPLE, 0).confidence_interval()
    assert (made.low, made.high) == pytest.approx((expected.low, expected.high))


def test_a_judge_that_says_nothing_is_not_heeded() -> None:
    alone = corrected_mean(PEOPLE, JUDGE).value
    assert corrected_mean(PEOPLE, [0.5] * 6, [0.5] * 9).value == alone
    assert corrected_mean(PEOPLE, [1 - x for x in PEOPLE], UNSEEN).value == alone


def test_one_item_has_no_interval() -> None:
    made = corrected_mean([0.5], [0.7], UNSEEN)
    assert made.value == 0.5
    assert math.isnan(made.low)


def test_each_item_has_both_scores() -> None:
    with pytest.raises(ValueError, match="1 human scores and 2 of the judge"):
        corrected_mean([0.5], [0.5, 0.6])


@pytest.mark.slow
def test_the_interval_covers_what_people_would_say() -> None:
    """A lenient judge, skewed scores: 95 % of intervals, less 3 standard errors of 1,000 runs."""
    for labelled in [30, 120]:
        for binary in [False, True]:
            generator = np.random.default_rng(7)
            covered, narrower, biased = [], [], []
            for _ in range(1000):
                true = generator.beta(4, 1.5, size=labelled + 500)
                judge = np.clip(
                    0.8 * true + 0.25 + generator.normal(0, 0.1, true.shape), 0, 1
                )
                expected = 4 / 5.5
                if binary:
                    true, expected = (
                        (true > 0.7).astype(float),
                        stats.beta(4, 1.5).sf(0.7),
                    )
                people, rest = true[:labelled], judge[labelled:]
                made = corrected_mean(people, judge[:labelled], rest)
                alone = corrected_mean(people, judge[:labelled])
                covered.append(made.low <= expected <= made.high)
                narrower.append((made.high - made.low) / (alone.high - alone.low))
                biased.append(abs(rest.mean() - expected) > 0.03)
            assert np.mean(covered) > 0.95 - 3 * math.sqrt(0.95 * 0.05 / 1000), (
                labelled,
                binary,
            )
            assert np.mean(narrower) < (0.9 if binary else 0.75), (labelled, binary)
            assert np.mean(biased) > 0.9, (labelled, binary)


def test_people_correct_the_judge_on_the_items_that_they_did_not_score() -> None:
    judge = {str(i): value for i, value in enumerate([*JUDGE, *UNSEEN])}
    [row] = agreement({"x": judge}, {"x": {str(i): [v] for i, v in enumerate(PEOPLE)}})
    assert row.bias.value == pytest.approx(0.4 / 6)
    assert row.corrected.value == pytest.approx(0.59223301)


# Intervals of correlations.


def interval(kind: Correlation, x: list[float], y: list[float]) -> tuple[float, float]:
    made = correlation(kind, x, y)
    return made.low, made.high


def jackknife(kind: str, x: list[float], y: list[float]) -> tuple[float, float]:
    """Student's interval on Fisher's transformation, computed item by item with scipy."""
    compute = {
        "pearson": stats.pearsonr,
        "spearman": stats.spearmanr,
        "kendall": stats.kendalltau,
    }
    of = compute[kind]
    without = [
        math.atanh(of(x[:i] + x[i + 1 :], y[:i] + y[i + 1 :]).statistic)
        for i in range(len(x))
    ]
    squares = [(each - np.mean(without)) ** 2 for each in without]
    if kind == "pearson":
        squares.append(max(squares))
    error = math.sqrt((len(x) - 1) * np.mean(squares))
    center, reach = (
        math.atanh(of(x, y).statistic),
        stats.t.ppf(0.975, len(x) - 1) * error,
    )
    return math.tanh(center - reach), math.tanh(center + reach)


def test_the_interval_of_a_correlation_is_that_of_a_jackknife() -> None:
    for kind in ["pearson", "spearman", "kendall"]:
        x, y = [1.0, 2, 2, 3, 5, 4, 4, 5, 1], [2.0, 1, 3, 3, 4, 5, 3, 5, 1]
        assert interval(kind, x, y) == pytest.approx(jackknife(kind, x, y)), kind


def test_the_interval_of_a_correlation_that_hangs_on_an_item_says_nothing() -> None:
    for kind in ["pearson", "spearman", "kendall"]:
        assert interval(kind, [1, 2, 3, 4, 5, 9], [1, 2, 3, 4, 5, 0]) == (-1, 1), kind
        assert interval(kind, [1, 1, 1, 1, 5], [1, 2, 3, 2, 5]) == (-1, 1), kind
        assert all(map(math.isnan, interval(kind, [1, 2, 3, 4], [1, 2, 4, 3]))), kind
        assert all(map(math.isnan, interval(kind, [1] * 6, [1, 2, 3, 4, 5, 6]))), kind


@pytest.mark.slow
@pytest.mark.parametrize("items", [30, 100])
@pytest.mark.parametrize("kind", ["pearson", "kendall"])
@pytest.mark.parametrize("ties", [False, True])
def test_a_correlation_is_covered_with_outliers_and_ties(
    ties: bool, kind: Correlation, items: int
) -> None:
    """Fisher's own interval covers Pearson's in 65 to 75 %, and Kendall's with ties in 89 %."""

    def draw(count: int) -> tuple[list[float], list[float]]:
        one, other = generator.normal(size=(2, count))
        both = np.array([one, 0.8 * one + 0.6 * other])
        made = (
            np.digitize(both, [-1.5, -0.7, 0.2, 1]) * 1.0
            if ties
            else both / tail(count)
        )
        return made[0].tolist(), made[1].tolist()

    def tail(count: int) -> np.ndarray:
        return np.sqrt(generator.chisquare(3, count) / 3)

    generator = np.random.default_rng(items)
    compute = {"pearson": stats.pearsonr, "kendall": stats.kendalltau}[kind]
    truth = compute(*draw(100_000)).statistic
    held = []
    for _ in range(600):
        low, high = interval(kind, *draw(items))
        held.append(low <= truth <= high)
    assert np.mean(held) > 0.93 - 2 * math.sqrt(0.95 * 0.05 / 600)


def test_an_estimated_weight_costs_a_degree_of_freedom() -> None:
    people, judge = np.array(PEOPLE), np.array(JUDGE)
    everything = np.concatenate([judge, UNSEEN])
    # PPI++ (arXiv 2311.01453), the weight with the least variance.
    shared = np.cov(people, judge, bias=True)[0, 1]
    weight = shared / (everything.var(ddof=1) * (1 + len(people) / len(UNSEEN)))
    assert 0 < weight < 1
    errors = people - weight * judge
    squared = ((errors - errors.mean()) ** 2).sum() / (6 - 2) / 6
    squared += weight**2 * np.var(UNSEEN) / len(UNSEEN)
    reach = stats.t.ppf(0.975, 6 - 2) * math.sqrt(
        squared
    )  # six pairs, a mean and a weight
    made = corrected_mean(PEOPLE, JUDGE, UNSEEN)
    assert made.high - made.value == pytest.approx(reach)


@pytest.mark.parametrize(
    ("human", "judge"), [([], []), ([1.0], [1.0, 0.5]), ([1.0], [])]
)
def test_a_corrected_mean_needs_pairs(human: list[float], judge: list[float]) -> None:
    message = f"{len(human)} human scores and {len(judge)} of the judge: give pairs"
    with pytest.raises(ValueError, match=message):
        corrected_mean(human, judge, [0.5])
