"""Loops are detected, and the repeated share of a text is measured."""

from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from hkcanto_metrics.repetition import is_degenerate, repeated_share


@given(st.text("好味", max_size=60))
def test_the_share_counts_the_10_grams_that_occur_earlier(text: str) -> None:
    starts = range(len(text) - 9)
    repeated = sum(text.find(text[i : i + 10]) < i for i in starts)
    assert repeated_share(text) == repeated / (len(starts) or 1)


def test_white_space_does_not_make_a_text_repetitive() -> None:
    assert (
        repeated_share("一二三四\n" + " " * 100 + "五六七" + "\t" * 100 + "八九十") == 0
    )


def test_a_loop_is_degenerate_from_ten_repeated_n_grams_on() -> None:
    # 20 characters have 11 10-grams.
    assert is_degenerate("好" * 20)
    assert not is_degenerate("好" * 19)


def test_a_loop_is_degenerate_from_three_tenths_of_the_text_on() -> None:
    # Each 好 after the tenth repeats a 10-gram; the others occur once.
    prose = "".join(map(chr, range(0x4E00, 0x4E00 + 70)))
    assert repeated_share(prose + "好" * 39) == 0.29
    assert not is_degenerate(prose + "好" * 39)
    assert repeated_share(prose + "好" * 41) > 0.3
    assert is_degenerate(prose + "好" * 41)


def test_a_megabyte_takes_linear_time() -> None:
    for unit in ["好", "我唔知。", "a", "\n"]:
        text = unit * (1_000_000 // len(unit))
        start = process_time()
        is_degenerate(text)
        assert process_time() - start < 5, unit  # quadratic time would take hours
