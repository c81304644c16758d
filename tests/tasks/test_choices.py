"""Choices and answers are read as declared; an answer of another form is an error."""

from typing import Any

import pytest

from hkcanto_tasks.data.choices import ChoiceReader, choice_columns
from hkcanto_tasks.data.tables import Row, UnreadableRow
from hkcanto_tasks.declarations import ChoiceDefinition
from hkcanto_tasks.errors import CatalogueError, DataCorrupt

from .quiz import Quiz, items, read


def answered(cell: object, *, several: bool = False, **declared: Any) -> str:
    """The letters that an answer names among 大澳, 2, 中環."""
    definition = ChoiceDefinition(
        name="quiz", title="", kind="", letters="ABC", **declared
    )
    row = Row(1, {"a": "大澳", "b": "2", "c": "中環", "answer": cell}, "quiz.csv", 2)
    reader = ChoiceReader(definition, choice_columns(definition), several=several)
    return reader.right_letters(row, reader.choices(row))


def test_an_answer_names_an_option_in_the_declared_way_alone() -> None:
    for way, cell, letter in (
        ("letter", "B", "B"),
        ("letter", " b ", "B"),
        ("letter", "Ｂ", "B"),
        ("index", "2", "C"),
        ("index", 0, "A"),
        ("number", "2", "B"),
        ("number", 1, "A"),
        ("letter_or_number", "2", "B"),
        ("letter_or_number", "C", "C"),
        ("text", "2", "B"),
        ("text", "中環", "C"),
    ):
        assert answered(cell, answer=way) == letter, (way, cell)


def test_an_answer_of_another_form_is_an_error_that_names_the_declaration() -> None:
    for way, cell in (
        ("letter", "2"),
        ("letter", "D"),
        ("letter", "大澳"),
        ("letter", "A. 大澳"),
        ("letter", "Ď"),
        ("index", "3"),
        ("index", "B"),
        ("number", "0"),
        ("number", "4"),
        ("number", "大澳"),
        ("text", "B"),
        ("text", "大"),
    ):
        with pytest.raises(
            UnreadableRow, match=f"quiz.csv, row 2 .*answer = '{way}' is declared"
        ):
            answered(cell, answer=way)
    lacks = "no answer: expected one in a column answer"
    for cell, says in (("", lacks), (" ", lacks), (None, lacks), (["A"], "a list or")):
        with pytest.raises(UnreadableRow, match=says):
            answered(cell)


def test_declared_answers_come_first() -> None:
    assert answered("Ď", answers={"Ď": "C"}) == "C"
    assert answered("similar", answers={"similar": "A"}) == "A"
    assert answered("B", answers={"similar": "A"}) == "B"
    assert answered("B", answers={"A": "B", "B": "C"}) == "C"
    assert answered("AB", answers={"AB": "AC"}, several=True) == "AC"
    with pytest.raises(UnreadableRow, match="several right options"):
        answered("both", answers={"both": "AB"})


def test_several_answers_are_divided_as_declared() -> None:
    for way, cell, letters in (
        ("letter", "CA", "AC"),
        ("letter", "A, C", "AC"),
        ("letter", "b、c", "BC"),
        ("letter", "(B)(C)", "BC"),
        ("letter", ["C", "B"], "BC"),
        ("index", "0,2", "AC"),
        ("number", [1, 3], "AC"),
        ("text", "中環;大澳", "AC"),
    ):
        assert answered(cell, answer=way, several=True) == letters, (way, cell)
    assert answered("both", several=True, answers={"both": "AB"}) == "AB"
    assert answered(["y", "z"], several=True, answers={"y": "B", "z": "C"}) == "BC"
    for cell, says in (
        ("A, 中環", "names none of"),
        ("BD", "names none of"),
        ("B and C", "names none of"),
        ("some", "names none of"),
        ([1, 2], "names none of"),
        ("A-D", "names none of"),
        ("bad", "names none of"),
        ([], "no answer"),
        ("", "no answer"),
        (["B", None], "entries that are not texts"),
        (["B", {"x": 1}], "entries that are not texts"),
    ):
        with pytest.raises(UnreadableRow, match=says):
            answered(cell, several=True)
    with pytest.raises(UnreadableRow, match="names none of"):
        answered("大澳；南丫島", several=True, answer="text")
    for way, cell in (("number", "1.0"), ("index", "-1"), ("number", "1-3")):
        with pytest.raises(UnreadableRow, match=f"answer = '{way}' is declared"):
            answered(cell, several=True, answer=way)


def test_blank_options_are_shown_or_absent() -> None:
    row = Row(1, {"a": "甲", "b": " ", "c": "丙", "d": ""})
    shown = ChoiceReader(ChoiceDefinition(name="quiz", title="", kind=""), [*"abcd"])
    absent = ChoiceReader(
        ChoiceDefinition(name="quiz", title="", kind="", blank_options="absent"),
        [*"abcd"],
    )
    assert shown.choices(row) == ("甲", " ", "丙", "")
    assert absent.choices(row) == ("甲", None, "丙", None)
    short = Row(1, {"a": "甲", "b": "乙"})
    assert absent.choices(short) == ("甲", "乙", None, None)
    with pytest.raises(
        UnreadableRow,
        match="no text for its option 3 in a, b, c, d; found the columns a, b",
    ):
        shown.choices(short)
    for cell in (None, True, float("nan"), ["丁"], {"text": "丁"}):
        odd = Row(1, {"a": "甲", "b": "乙", "c": "丙", "d": cell})
        with pytest.raises(UnreadableRow, match="no text for its option 4"):
            shown.choices(odd)
        if cell is None or cell != cell:
            assert absent.choices(odd) == ("甲", "乙", "丙", None)
        else:
            with pytest.raises(UnreadableRow, match="no text for its option 4"):
                absent.choices(odd)
    with pytest.raises(UnreadableRow, match="fewer than two options"):
        absent.choices(Row(1, {"a": "甲", "b": ""}))


def test_options_in_one_declared_column_are_a_list_or_a_mapping(quiz: Quiz) -> None:
    rows = (
        {"question": "一？", "choices": ["甲", "007"], "answer": "B"},
        {"question": "二？", "choices": {"B": "乙", "A": "甲"}, "answer": "A"},
    )
    declared = 'letters = "AB"\ncolumns = { options = "choices" }'
    quiz(declared, *rows)
    assert read() == [("一？", ("甲", "007"), "B"), ("二？", ("甲", "乙"), "A")]
    for cell in (
        "甲;乙",
        '["甲"]',
        {"text": ["甲"], "label": ["A"]},
        [["甲"], ["乙"]],
        None,
    ):
        quiz(declared, {"question": "？", "choices": cell, "answer": "A"})
        with pytest.raises(DataCorrupt, match="neither a list of options"):
            items()
    quiz(declared, {"question": "？", "choices": ["甲", "乙", "丙"], "answer": "A"})
    with pytest.raises(
        DataCorrupt, match="3 options, but the task has only the letters AB"
    ):
        items()


def test_keys_of_a_readers_mapping_may_be_labels() -> None:
    """The kind's own column `choices` needs no declaration, for choices and labels alike."""
    definition = ChoiceDefinition(name="quiz", title="", kind="", answer="label")
    reader = ChoiceReader(definition, ["choices"])
    row = Row(1, {"choices": {"x": "甲", "y": "乙"}, "answer": "y"})
    choices = reader.choices(row)
    assert choices == ("甲", "乙", None, None)
    assert reader.right_letters(row, choices) == "B"


def test_columns_are_not_recognised_by_likeness(quiz: Quiz) -> None:
    lettered = {"question": "？", "A": "甲", "B": "乙"}
    for row in (
        {**lettered, "Answer Key": "A"},
        {**lettered, "label": "A"},
        {"問題": "？", "A": "甲", "B": "乙", "answer": "A"},
        {"question": "？", "option1": "甲", "option2": "乙", "answer": "A"},
        {"question": "？", "choices": ["甲", "乙"], "answer": "A"},
    ):
        quiz('letters = "AB"', row)
        with pytest.raises(DataCorrupt, match=r"row 1 has no .*found the columns"):
            items()


def test_labels_are_removed_only_where_declared(quiz: Quiz) -> None:
    row = {"question": "？", "A": "a. 甲", "B": "（2）乙", "answer": "A"}
    quiz('letters = "AB"', row)
    assert read() == [("？", ("a. 甲", "（2）乙"), "A")]
    quiz('letters = "AB"\noption_labels = "remove"', row)
    assert read() == [("？", ("甲", "乙"), "A")]
    absent = 'letters = "ABC"\noption_labels = "remove"\nblank_options = "absent"'
    quiz(absent, {**row, "C": "C. "})
    assert read() == [("？", ("甲", "乙", None), "A")]
    quiz('letters = "AB"\noption_labels = "remove"', {**row, "B": "C. 乙"})
    with pytest.raises(DataCorrupt, match="an option without the label B or 2"):
        items()


def test_a_question_may_be_the_same_for_every_row(quiz: Quiz) -> None:
    declared = 'question = "邊句通順？"\ncolumns = { options = ["s1", "s2"], answer = "label" }'
    quiz(f'{declared}\nanswer = "number"', {"s1": "好嘢", "s2": "嘢好", "label": 1})
    assert read() == [("邊句通順？", ("好嘢", "嘢好"), "A")]
    quiz('question = "{x}"', {"answer": "A"})
    with pytest.raises(
        CatalogueError, match="the same for every row: put it in a prompt"
    ):
        items()
