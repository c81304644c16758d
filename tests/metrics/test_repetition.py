"""Loops are detected, and the repeated share of a text is measured."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hkcanto_metrics.repetition import is_degenerate, repeated_share


@given(st.text("好味呀", max_size=60), st.integers(1, 12))
def test_the_share_counts_the_n_grams_that_occur_earlier(text: str, n: int) -> None:
    starts = range(len(text) - n + 1)
    repeated = sum(text.find(text[i : i + n]) < i for i in starts)
    assert repeated_share(text, n) == repeated / (len(starts) or 1)


def test_white_space_does_not_make_a_text_repetitive() -> None:
    assert repeated_share("一\n" + " " * 100 + "二" + "\t" * 100 + "三", n=2) == 0


def test_n_grams_need_a_length() -> None:
    with pytest.raises(ValueError, match="0 characters"):
        repeated_share("好", n=0)


def test_a_loop_is_degenerate_from_ten_repeated_n_grams_on() -> None:
    # 20 characters have 11 10-grams.
    assert is_degenerate("好" * 20)
    assert not is_degenerate("好" * 19)


def test_a_loop_is_degenerate_from_three_tenths_of_the_text_on() -> None:
    # Each 好 after the tenth repeats a 10-gram; the others occur once.
    prose = "".join(map(chr, range(0x4E00, 0x4E00 + 70)))
    assert repeated_share(prose + "好" * 39, n=10) == 0.29
    assert not is_degenerate(prose + "好" * 39)
    assert repeated_share(prose + "好" * 41, n=10) > 0.3
    assert is_degenerate(prose + "好" * 41)


def test_a_megabyte_takes_linear_time() -> None:
    for unit in ["好", "我唔知。", "a", "\n"]:
        text = unit * (1_000_000 // len(unit))
        start = process_time()
        is_degenerate(text)
        assert process_time() - start < 5, unit  # quadratic time would take hours
