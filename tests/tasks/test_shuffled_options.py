"""A right option that is always in one place is said, and a declared shuffle moves it."""

import logging

import pytest

from hkcanto_tasks import load_task
from hkcanto_tasks.printable import warn_once
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.tasks import task_as_run

from ..answering import AnsweringLM
from ..lm_eval.evaluating import evaluate
from .quiz import Quiz, items

FIRST = [
    {
        "question": f"{number} 個人去邊？",
        "A": "中環",
        "B": "旺角",
        "C": "沙田",
        "answer": "A",
    }
    for number in range(24)
]
LETTERS = 'letters = "ABC"'


def test_a_right_option_in_one_place_is_said_everywhere(
    quiz: Quiz, caplog: pytest.LogCaptureFixture
) -> None:
    from hkcanto import tasks

    warn_once.cache_clear()
    quiz(LETTERS, *FIRST)
    said = "the right option is A in every row"
    with caplog.at_level(logging.WARNING, "hkcanto"):
        assert load_task("quiz").remark == f" ({said})"
        load_task("quiz")
    # The first load may warn of other things, such as a variable that nothing reads.
    (message,) = [text for text in caplog.messages if said in text]
    assert message.startswith(
        f"quiz: {said}: declare shuffle_options = 1 in its entry, in "
    )
    assert (
        said in evaluate("quiz", model=AnsweringLM())["configs"]["quiz"]["task_alias"]
    )
    assert said in tasks.run(task="quiz").display_name


def test_few_rows_or_other_places_say_nothing(quiz: Quiz) -> None:
    for rows in (FIRST[:9], [*FIRST, {**FIRST[0], "question": "？", "answer": "B"}]):
        quiz(LETTERS, *rows)
        assert load_task("quiz").remark == ""


def test_a_declared_shuffle_moves_options_and_answers_together(quiz: Quiz) -> None:
    quiz(LETTERS, *FIRST)
    before = load_task("quiz", shots=2)
    quiz(f"{LETTERS}\nshuffle_options = 5", *FIRST)
    loaded, samples = load_task("quiz", shots=2), items()
    assert loaded.remark == ""
    assert {sample.target for sample in samples} == {*"ABC"}
    for sample in samples:
        assert sample.choices["ABC".index(sample.target)] == "中環"
        assert sorted(map(str, sample.choices)) == sorted(["中環", "旺角", "沙田"])
    assert items() == samples
    assert "|shuffle_options:5|" in loaded.signature
    assert "shuffle_options" not in before.signature
    assert (
        loaded.signature.partition("|sent:")[2]
        != before.signature.partition("|sent:")[2]
    )
    quiz(f"{LETTERS}\nshuffle_options = 6", *FIRST)
    assert items() != samples


def test_worked_examples_are_shuffled_with_their_answers_in_both_harnesses(
    quiz: Quiz,
) -> None:
    from hkcanto import tasks

    quiz(f"{LETTERS}\nshuffle_options = 5", *FIRST)
    examples = load_task("quiz", shots=5).prompt_examples("")
    assert len({example.answer for example in examples}) > 1
    for example in examples:
        assert f"{example.answer}. 中環" in example.question
        assert example.sample is not None
        assert example.sample.target == example.answer
    found = evaluate("quiz", model=AnsweringLM())["samples"]["quiz"]
    asked = {
        each["doc"]["id"]: (each["arguments"][0][0], each["target"]) for each in found
    }
    assert {
        each.id: ("".join(part.text for part in each.input), each.target)
        for each in tasks.run(task="quiz").dataset
    } == asked


def test_a_question_has_the_same_order_in_every_language() -> None:
    # Otherwise, a difference between languages would also be one of positions.
    orders = []
    for language in ("yue", "en"):
        name = f"hkcanto_mmlu_{language}"
        kind = task_as_run(name, shuffle_choices=3)
        rows = [
            Sample(
                id=f"{name}/anatomy/{number}",
                subject="anatomy",
                choices=("first", "second", "third", "fourth"),
                target="A",
            )
            for number in range(20)
        ]
        orders.append([sample.choices for sample in kind.scored(rows)])
    assert orders[0] == orders[1]
    assert len({*orders[0]}) > 10  # of 24 orders
