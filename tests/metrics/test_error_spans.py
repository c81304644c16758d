"""Formula (1) of HKCanto-Eval, Appendix F.1, on examples worked by hand."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hkcanto_metrics.error_spans import (
    ERROR_CATEGORIES,
    ErrorSpan,
    locate,
    translation_accuracy,
)

TEN = "佢哋聽日去戲院睇戲。"


def wrong(start: int, end: int) -> ErrorSpan:
    return ErrorSpan("Mistranslation", start, end)


def added(start: int, end: int) -> ErrorSpan:
    return ErrorSpan("Additional words", start, end)


def omitted(start: int, end: int) -> ErrorSpan:
    return ErrorSpan("Omission", start, end)


def accuracy(
    target: str, in_target: list[ErrorSpan], in_source: Sequence[ErrorSpan] = ()
) -> float:
    return translation_accuracy(target, in_target, in_source).value


def test_the_categories_are_the_papers_twelve() -> None:
    assert ERROR_CATEGORIES == (
        "Additional words",
        "Collocation",
        "Inconsistent Terminology",
        "Literal Translation",
        "Mistranslation",
        "Mixed up Cantonese-Mandarin",
        "Orthography",
        "Omission",
        "Register Issues",
        "Ungrammatical",
        "Unintelligibility",
        "Unnatural Code-mixing",
    )


def test_a_translation_without_errors_scores_one() -> None:
    assert accuracy(TEN, []) == 1


def test_an_error_costs_its_share_of_the_characters() -> None:
    for length in range(1, 11):
        assert accuracy(TEN, [wrong(0, length)]) == pytest.approx(1 - length / 10), (
            length
        )


def test_an_omission_lengthens_the_denominator() -> None:
    for length in [1, 3, 10]:
        assert accuracy(TEN, [], [omitted(2, 2 + length)]) == pytest.approx(
            10 / (10 + length)
        ), length


def test_every_term_counts() -> None:
    scored = translation_accuracy(TEN, [wrong(0, 2), added(5, 7)], [omitted(0, 6)])
    assert (scored.target_length, scored.target_errors, scored.source_errors) == (
        10,
        4,
        6,
    )
    assert scored.value == pytest.approx((10 - 4) / (10 + 6))


def test_overlapping_spans_count_once() -> None:
    assert accuracy(TEN, [wrong(0, 4), wrong(2, 6), wrong(3, 4)]) == pytest.approx(0.4)
    assert accuracy(TEN, [], [omitted(0, 4), omitted(2, 6)]) == pytest.approx(10 / 16)


def test_additional_words_of_half_the_output_are_errors() -> None:
    assert accuracy(TEN, [added(5, 10)]) == pytest.approx(0.5)


def test_additional_words_of_more_than_half_of_the_output_are_removed_first() -> None:
    scored = translation_accuracy(TEN, [added(4, 10), wrong(0, 1)], [omitted(0, 1)])
    assert (scored.removed, scored.target_length) == (6, 4)
    assert scored.value == pytest.approx((4 - 1) / (4 + 1))


def test_several_additional_words_are_over_generation_together() -> None:
    assert accuracy(TEN, [added(4, 7), added(6, 10)]) == 1


def test_other_errors_in_removed_words_are_removed_with_them() -> None:
    assert accuracy(TEN, [added(4, 10), wrong(3, 6)]) == pytest.approx(3 / 4)


def test_other_errors_are_not_over_generation() -> None:
    assert accuracy(TEN, [wrong(0, 9)]) == pytest.approx(0.1)


def test_an_empty_translation_scores_zero() -> None:
    assert accuracy("", []) == 0
    assert accuracy("", [], [omitted(0, 10)]) == 0


def test_a_translation_that_is_additional_from_end_to_end_scores_zero() -> None:
    assert accuracy(TEN, [added(0, 10)]) == 0


def test_characters_outside_the_basic_plane_are_one_character() -> None:
    assert accuracy("𠮩𠹌咗", [wrong(0, 1)]) == pytest.approx(2 / 3)


def spans(category: str) -> st.SearchStrategy[list[ErrorSpan]]:
    places = st.tuples(st.integers(0, 9), st.integers(1, 10)).filter(
        lambda p: p[0] < p[1]
    )
    return st.lists(places.map(lambda p: ErrorSpan(category, *p)), max_size=5)  # type: ignore[arg-type]


@given(spans("Ungrammatical"), spans("Omission"), spans("Collocation"))
def test_more_errors_never_raise_the_score(
    few: list[ErrorSpan], source: list[ErrorSpan], more: list[ErrorSpan]
) -> None:
    before, after = accuracy(TEN, few, source), accuracy(TEN, few + more, source)
    assert 0 <= after <= before <= 1
    assert accuracy(TEN, [*few, *few], source) == before
    assert accuracy(TEN, few[::-1], source[::-1]) == before


def test_an_omission_belongs_to_the_source_and_the_rest_to_the_target() -> None:
    with pytest.raises(ValueError, match="an omission is labelled in the source"):
        translation_accuracy(TEN, [omitted(0, 1)])
    with pytest.raises(ValueError, match="only an omission"):
        translation_accuracy(TEN, [], [wrong(0, 1)])


def test_a_span_ends_in_the_text() -> None:
    with pytest.raises(ValueError, match="10 characters"):
        translation_accuracy(TEN, [wrong(5, 11)])


def test_a_span_has_at_least_one_character() -> None:
    for place in [(3, 3), (4, 2), (-1, 2)]:
        with pytest.raises(ValueError, match="empty or begins before"):
            wrong(*place)


def test_an_unknown_category_is_refused() -> None:
    with pytest.raises(ValueError, match="'Typo' is not an error category"):
        ErrorSpan("Typo", 0, 1)  # type: ignore[arg-type]


def test_a_quotation_is_found_where_it_stands() -> None:
    assert locate(TEN, "戲") == (5, 6)
    assert locate(TEN, "戲", occurrence=2) == (8, 9)
    assert locate(TEN, TEN) == (0, 10)


def test_places_of_a_quotation_do_not_overlap() -> None:
    assert locate("哈哈哈哈", "哈哈", occurrence=2) == (2, 4)


def test_a_quotation_that_is_not_there_is_refused() -> None:
    for quotation, occurrence, problem in [
        ("電影", 1, "occurs 0 times"),
        ("戲", 3, "occurs 2 times, so there is no 3"),
        ("戏", 1, "occurs 0 times"),
        ("", 1, "occurs 0 times"),
        ("戲", 0, "count from 1"),
    ]:
        with pytest.raises(ValueError, match=problem):
            locate(TEN, quotation, occurrence)


def test_words_are_removed_if_they_are_more_than_half_of_the_translation() -> None:
    # Five of ten characters stay, and are errors; six are removed, and of the other four none is.
    half = translation_accuracy(TEN, [added(5, 10)], [])
    assert (half.removed, half.target_errors, half.target_length) == (0, 5, 10)
    more = translation_accuracy(TEN, [added(4, 10)], [])
    assert (more.removed, more.target_errors, more.target_length) == (6, 0, 4)
