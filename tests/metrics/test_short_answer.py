"""Short answers: the compared text, and exact match and F1 worked by hand."""

import re
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hkcanto_metrics.short_answer import answer_tokens, final_answer, score_short_answer


def test_exact_match_and_f1() -> None:
    for text, accepted, exact, f1 in [
        ("金鐘", ["金鐘"], 1, 1),
        ("「金　鐘」。", ["金鐘"], 1, 1),
        ("金鐘站", ["金鐘", "金鐘站"], 1, 1),
        ("The Peak Tram!", ["peak tram"], 1, 1),
        ("ＭＴＲ", ["mtr"], 1, 1),
        ("1,000", ["1000"], 1, 1),
        # F1 = 2PR / (P + R), which is 2 · shared / (tokens + tokens).
        ("金鐘站", ["金鐘"], 0, 4 / 5),
        ("lower peak tram", ["peak tram station"], 0, 4 / 6),
        ("搭 MTR 去金鐘", ["MTR 金鐘"], 0, 6 / 8),
        ("金金金", ["金鐘"], 0, 2 / 5),  # a token counts as often as both have it
        # Traps.
        ("三", ["3"], 0, 0),
        ("35", ["3.5"], 0, 0),
        ("1030", ["10:30"], 0, 0),
        ("12", ["1/2"], 0, 0),
        ("5", ["-5"], 0, 0),
        ("C", ["C++"], 0, 0),
        ("唔係中環，係金鐘", ["金鐘"], 0, 4 / 9),
        ("我唔可以答呢條問題。", ["金鐘"], 0, 0),
        ("", ["金鐘"], 0, 0),
        ("。", ["金鐘"], 0, 0),
        ("金钟", ["金鐘"], 0, 1 / 2),
        ("A", ["A"], 1, 1),  # an article is dropped if anything else is left
    ]:
        score = score_short_answer(text, accepted)
        assert score.exact_match == exact, (text, accepted, exact, f1)
        assert score.f1 == pytest.approx(f1), (text, accepted, exact, f1)


def test_scripts_are_folded_if_that_is_declared() -> None:
    for text, accepted in [("金钟", "金鐘"), ("金鐘", "金钟")]:
        score = score_short_answer(text, [accepted], fold_scripts=True)
        assert score.exact_match == 1


def test_the_compared_text_has_no_space_around_it() -> None:
    assert score_short_answer(" 金鐘\n", ["金鐘"]).answer == "金鐘"


def test_what_a_response_announces_is_its_answer() -> None:
    for text, answer in [
        ("先搭車，再行路。\n答案：金鐘", "金鐘"),
        ("答案係金鐘。因為近啲。", "金鐘"),
        ("**最終答案：** 金鐘\n\n希望幫到你", "金鐘"),
        ("答案：\n\n金鐘", "金鐘"),
        ("答：金鐘", "金鐘"),
        ("The answer is Mong Kok. It is busy.", "Mong Kok"),
        ("Answer: St. John's Cathedral", "St. John's Cathedral"),
        ("Final answer: J. K. Rowling", "J. K. Rowling"),
        ("9 × 2 = 18\n#### 18", "18"),
        (r"So it is \boxed{金鐘}.", "金鐘"),
        ("答案係中環。等等，唔啱。答案係金鐘。", "金鐘"),
        # Nothing is announced: the whole response is compared.
        ("唔係中環，係金鐘", "唔係中環，係金鐘"),
        ("我唔知道答案。", "我唔知道答案。"),
        ("答案唔係中環", "答案唔係中環"),
        ("金鐘\n因為近啲", "金鐘\n因為近啲"),
        ("答案：", "答案："),
        ("question-answering: no", "question-answering: no"),
    ]:
        assert final_answer(text) == answer, (text, answer)


def test_an_answer_without_a_token_is_an_error() -> None:
    for accepted in [[], [""], ["金鐘", "！"]]:
        with pytest.raises(ValueError, match=re.escape("has no letter or number")):
            score_short_answer("金鐘", accepted)


@given(st.text(max_size=200))
def test_a_text_matches_itself_and_shares_all_tokens(text: str) -> None:
    if answer_tokens(final_answer(text)):
        score = score_short_answer(text, [final_answer(text)])
        assert (score.exact_match, score.f1) == (1, 1)


@given(st.text(max_size=50), st.text(min_size=1, max_size=50).filter(answer_tokens))
def test_f1_is_from_0_to_1_and_at_least_exact_match(text: str, accepted: str) -> None:
    score = score_short_answer(text, [accepted])
    assert 0 <= score.exact_match <= score.f1 <= 1


@pytest.mark.slow
def test_a_loop_is_scored_in_time() -> None:
    start = process_time()
    for part in ["答案：金鐘。", "answer ", "####", "\\boxed{", "1,", "答案係"]:
        score_short_answer(part * 20_000, ["金鐘"])
    assert process_time() - start < 60  # seconds; a pattern that backtracks takes hours
