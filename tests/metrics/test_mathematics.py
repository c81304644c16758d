"""Formulas: what is read of 68 responses written for this, and traps of comparison."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hkcanto_metrics.mathematics import equal_formulas, read_formula

CASES = Path(__file__).with_name("mathematics_cases.jsonl")


def test_no_answer_is_read_wrongly_and_few_are_unread() -> None:
    found: Counter[str] = Counter()
    for line in CASES.read_text("utf-8").splitlines():
        case = json.loads(line)
        equal = equal_formulas(read_formula(case["response"]), case["gold"])
        assert equal in (None, bool(case["right"])), case
        found["unread" if equal is None else "read"] += 1
    assert found["unread"] <= 8, found


def test_only_a_formula_that_is_given_as_the_answer_is_read() -> None:
    for response, formula in [
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"所以係 $3$，\boxed{\text{x}=\{1,2\}}", r"\text{x}=\{1,2\}"),
        (r"答案：\(x^2\)。", "x^2"),
        ("答案：√12", r"\sqrt{12}"),
        ("７", "7"),
        ("$5$，因為 $2+3=5$。", ""),
        ("可能係 $5$", ""),
        ("答案：唔係 $5$", ""),
        ("答案：$5$ 或 6", ""),
        ("答案：$x$、$y$", ""),
        ("The answer is probably five.", ""),
        ("答案：五", ""),
        (r"答案：$\angle ABC$", ""),
        ("", ""),
    ]:
        assert read_formula(response) == formula, response


def test_different_units_are_not_compared() -> None:
    for said, gold, equal in [
        (r"12\text{ cm}", r"12\,\mathrm{cm}", True),
        ("12", r"12\text{ cm}", True),
        (r"12\text{ cm}", "12", True),
        ("12 m", r"12\text{ cm}", None),
        (r"12\text{ cm}", r"12\text{ cm}^2", None),
        (r"13\text{ cm}", r"12\text{ cm}", False),
        (r"2x\text{ m}", r"2x\text{ m}", True),
        ("2y", "2x", False),
    ]:
        assert equal_formulas(said, gold) is equal, (said, gold)


@pytest.mark.slow
def test_a_comparison_without_an_end_is_given_up() -> None:
    assert equal_formulas("9^{9^{9^9}}", "5") is None


def test_a_thread_can_compare() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(equal_formulas, r"\frac12", "0.5").result() is True
