"""The score of a summary (HKCanto-Eval, Appendix G.1), worked by hand."""

import pytest

from hkcanto_metrics.rubric import CRITERIA, summary_score


def points(*values: float) -> dict[str, float]:
    return dict(zip(CRITERIA, values, strict=True))


@pytest.mark.parametrize(
    ("given", "share"),
    [
        ((5, 5, 5, 5), 1),
        ((1, 1, 1, 1), 4 / 20),
        ((5, 3, 1, 5), 14 / 20),
        ((4, 4.5, 3, 5), 16.5 / 20),
    ],
)
def test_the_score_is_the_share_of_the_points(
    given: tuple[float, ...], share: float
) -> None:
    assert summary_score(points(*given), 200) == pytest.approx(share)


def test_the_excess_over_500_characters_is_taken_off() -> None:
    for length, factor in [
        (1, 1),
        (500, 1),
        (501, 0.998),
        (750, 0.5),
        (1000, 0),
        (9000, 0),
    ]:
        assert summary_score(points(5, 5, 3, 3), length) == pytest.approx(
            0.8 * factor
        ), (
            length,
            factor,
        )


def test_an_empty_summary_scores_zero() -> None:
    assert summary_score(points(1, 1, 1, 1), 0) == 0


def test_every_criterion_is_needed() -> None:
    with pytest.raises(ValueError, match="must be for"):
        summary_score({"relevance": 5}, 200)


def test_points_are_on_the_scale() -> None:
    for value in [0, 6, float("nan")]:
        with pytest.raises(ValueError, match="the rubric has 5, 3 and 1"):
            summary_score(points(5, value, 5, 5), 200)
