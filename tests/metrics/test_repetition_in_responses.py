"""Whatever a response repeats, every reader takes time in proportion to its length."""

from collections.abc import Callable
from time import process_time

import pytest

from hkcanto_metrics import read_choice, read_choice_set, read_label
from hkcanto_metrics.number import read_number

ISLANDS = {"A": "大嶼山", "B": "南丫島", "C": "長洲", "D": "坪洲"}
READERS: dict[str, Callable[[str], object]] = {
    "a letter": lambda text: read_choice(text, ISLANDS, "邊個最細？"),
    "a value": lambda text: read_choice(text, dict(zip("ABC", "567", strict=True))),
    "statements": lambda text: read_choice(text, {"A": "①②", "B": "①③"}),
    "a set": lambda text: read_choice_set(text, ISLANDS, "邊啲啱？"),
    "a label": lambda text: read_label(text, {"positive": ["正面"], "negative": []}),
    "a number": lambda text: read_number(text, "How many apples are left?"),
}
UNITS = (
    *"*()[]{}<`_$~。.…?!=+-/%|#\n\t 1千一十負第選錯啱都最①✓❌é係即半又成度",
    *("**", "()", "a\n", "A\n", "「」", "或者", "A ", "A、", "答案", "答案：", "1. "),
    *("1,", "1 ", "* ", "不是", "not ", "n't ", "- ", "####", "\\boxed{", "[ ]", "= "),
    *("[x] A ", "\n\n", "1=", "1+", "1/", "第一", "first ", "the ", "Option ", "選項"),
    *(
        "因為",
        "所以",
        "so ",
        "if ",
        "如果",
        "等等",
        "Wait, ",
        "唔係，",
        "A. x\n",
        "A: ",
    ),
    *("A 10% ", "(A)", "ABCD", "positive ", "正面", "zz1zz", "①②", "ii, ", "x=", "x "),
    *('{"answer":"A"}', '"answer": ', "■ A", "\\frac12", "問題：", "Question: ", "a, "),
    *(
        "1 to 2 ",
        "and ",
        "or ",
        "is ",
        "答：",
        "其餘",
        "other ",
        "1余",
        "分之",
        "1 plus ",
    ),
    *("one hundred ", "twenty-", "thousand ", "前兩個", "the latter ", "not call it "),
)
LENGTH = 20_000
SECONDS = 4.0  # a second at most today; a backtracking pattern takes minutes


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_a_response_that_repeats_something_is_read_in_time(name: str) -> None:
    for unit in UNITS:
        loop = unit * (LENGTH // len(unit))
        for text in (loop, f"答案：A\n{loop}", f"{loop}\n答案：A"):
            start = process_time()
            READERS[name](text)
            assert process_time() - start < SECONDS, (unit, text[:10])
