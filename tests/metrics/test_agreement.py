"""Agreement of judge and people: published values, values worked by hand, another library's."""

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hkcanto_metrics.agreement import Level, agreement, krippendorff_alpha, read_human_scores

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): four observers, 12 units.
_ = None
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]
UNITS = [[float(v) for v in unit if v is not None] for unit in zip(*OBSERVERS, strict=True)]


@pytest.mark.parametrize(("level", "published"), [("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_is_krippendorffs_on_his_example_with_missing_data(
    level: Level, published: float
) -> None:
    assert krippendorff_alpha(UNITS, level) == pytest.approx(published, abs=5e-4)


@pytest.mark.parametrize("level", ["ordinal", "interval"])
def test_alpha_is_krippendorffs_on_his_binary_example(level: Level) -> None:
    meg, owen = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    alpha = krippendorff_alpha(zip(meg, owen, strict=True), level)
    assert alpha == pytest.approx(0.095, abs=5e-4)


units = st.lists(
    st.lists(st.sampled_from([1.0, 3.0, 5.0]), min_size=2, max_size=5), min_size=2, max_size=12
)


@pytest.mark.parametrize("level", ["ordinal", "interval"])
@settings(deadline=None)  # the first example imports Inspect
@given(units=units.filter(lambda u: len({v for scores in u for v in scores}) > 1))
def test_alpha_is_inspects(level: Level, units: list[list[float]]) -> None:
    scorer = pytest.importorskip("inspect_ai.scorer")
    theirs = scorer.krippendorff_alpha(level=level)(
        [scorer.SampleScore(score=scorer.Score(value=scores)) for scores in units]
    )
    assert krippendorff_alpha(units, level) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("level", ["ordinal", "interval"])
def test_ordinal_alpha_asks_for_the_order_only(level: Level) -> None:
    stretched = [[10.0**score for score in unit] for unit in UNITS]
    same = krippendorff_alpha(UNITS, level) == pytest.approx(krippendorff_alpha(stretched, level))
    assert same == (level == "ordinal")


@pytest.mark.parametrize("units", [[], [[5.0]], [[5.0], [3.0]], [[3.0, 3.0], [3.0, 3.0]]])
def test_alpha_is_undefined_without_pairs_or_without_differences(units: list[list[float]]) -> None:
    assert math.isnan(krippendorff_alpha(units))


def test_coefficients_of_a_small_example() -> None:
    judge = {"fluency": {"a": 5.0, "b": 3.0, "c": 3.0, "d": 1.0, "not scored by people": 5.0}}
    people = {"fluency": {"a": [5.0], "b": [5.0], "c": [3.0], "d": [1.0], "not judged": [1.0]}}
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
    assert (lenient.pearson, lenient.spearman, lenient.kendall) == pytest.approx((1, 1, 1))
    assert lenient.alpha == pytest.approx(1 - 5 / 25)
    assert same.alpha == lenient.human_alpha == 1


def test_a_judge_that_always_says_the_same_has_no_correlation() -> None:
    [row] = agreement({"x": {"a": 5.0, "b": 5.0}}, {"x": {"a": [1.0], "b": [5.0]}})
    assert all(map(math.isnan, (row.pearson, row.spearman, row.kendall)))
    assert row.alpha == pytest.approx(1 - 16 / (4 * 4))


def test_one_item_is_no_correlation() -> None:
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


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_row_is_an_item_and_a_person(tmp_path: Path, encoding: str) -> None:
    text = "id,person,fluency,coherence,comment\na,甲,5,3,好\na,乙,3,,\nb,甲,1, 5 ,\n"
    assert read_human_scores(csv_file(tmp_path, text, encoding), ["fluency", "coherence"]) == {
        "fluency": {"a": [5, 3], "b": [1]},
        "coherence": {"a": [3], "b": [5]},
    }


@pytest.mark.parametrize("cell", ["five", "nan", "inf", "5分"])
def test_a_score_is_a_number(tmp_path: Path, cell: str) -> None:
    path = csv_file(tmp_path, f"id,fluency\na,5\nb,{cell}\n")
    with pytest.raises(ValueError, match=f"line 3, 'fluency': '{cell}' is no number"):
        read_human_scores(path, ["fluency"])


@pytest.mark.parametrize("text", ["", "item,fluency\na,5\n", "id,flu\na,5\n"])
def test_the_header_names_the_items_and_a_criterion(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match="must have 'id' and at least one of fluency"):
        read_human_scores(csv_file(tmp_path, text), ["fluency"])
