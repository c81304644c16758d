"""Forms of options in benchmarks from outside; ambiguous ones are refused."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hkcanto_tasks import load_task
from hkcanto_tasks.errors import CatalogueError, DataCorrupt, HKCantoError

from .declaring import QUIZ

OPTIONS = ["大澳", "中環", "沙田"]
Quiz = Callable[..., Path]


@pytest.fixture
def quiz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Quiz:
    """Return a function that declares a benchmark with one file of questions."""

    def declare(more: str, content: str, file: str = "test.json") -> Path:
        folder = tmp_path / "quiz"
        folder.mkdir()
        text = f'{QUIZ}files = {{ test = "{file}" }}\n{more}\n'
        (folder / "benchmark.toml").write_text(text, encoding="utf-8")
        (folder / file).write_text(content, encoding="utf-8")
        monkeypatch.setenv("HKCANTO_BENCHMARKS", str(folder))
        return folder

    return declare


def rows(options: Any, answer: Any) -> str:
    return json.dumps([{"question": "邊度有電車？", "choices": options, "answer": answer}])


IN_ONE_COLUMN = 'columns = { options = "choices" }'


@pytest.mark.parametrize(
    ("options", "answer", "how"),
    [
        (OPTIONS, "B", "letter"),
        (OPTIONS, " b. ", "letter"),
        (OPTIONS, 1, "index"),
        (OPTIONS, "1", "index"),
        (OPTIONS, 2, "number"),
        (OPTIONS, "中環", "text"),
        (dict(zip("ABC", OPTIONS, strict=True)), "B", "letter"),
        (dict(zip("bca", ["中環", "沙田", "大澳"], strict=True)), "B", "letter"),
        (dict(zip("ABC", OPTIONS, strict=True)), "中環", "text"),
        ({"text": OPTIONS, "label": ["A", "B", "C"]}, "B", "letter"),
        (json.dumps(OPTIONS), "B", "letter"),
        (json.dumps(dict(zip("ABC", OPTIONS, strict=True))), "B", "letter"),
    ],
)
def test_options_in_one_column_and_answers_in_four_ways(
    quiz: Quiz, options: Any, answer: Any, how: str
) -> None:
    quiz(f'{IN_ONE_COLUMN}\nanswer = "{how}"', rows(options, answer))
    loaded = load_task("quiz")
    (sample,) = loaded.samples
    assert sample.choices == (*OPTIONS, None)
    assert sample.target == "B"
    assert loaded.setup.turn(sample) == "邊度有電車？\nA. 大澳\nB. 中環\nC. 沙田\n答案："


def test_options_in_a_cell_of_a_csv_file_are_json(quiz: Quiz) -> None:
    cell = json.dumps(OPTIONS, ensure_ascii=False).replace('"', '""')
    content = f'question,choices,answer\n邊度有電車？,"{cell}",B\n'
    quiz(IN_ONE_COLUMN, content, "test.csv")
    loaded = load_task("quiz")
    (sample,) = loaded.samples
    assert sample.choices == (*OPTIONS, None)


@pytest.mark.parametrize("count", range(2, 11))
def test_two_to_ten_options_are_read_each_under_its_letter(quiz: Quiz, count: int) -> None:
    letters = "ABCDEFGHIJ"
    options = [f"選項{letter}" for letter in letters[:count]]
    quiz(f'{IN_ONE_COLUMN}\nletters = "{letters}"', rows(options, letters[count - 1]))
    loaded = load_task("quiz")
    (sample,) = loaded.samples
    last = letters[count - 1]
    assert f"\n{last}. 選項{last}\n" in loaded.setup.turn(sample)
    for letter in letters[:count]:
        judged = loaded.setup.judge(letter, sample)
        assert judged.values == {"acc": float(letter == last), "unparsed_rate": 0.0}


def in_a_list(count: int) -> list[str]:
    return [f"選項{number}" for number in range(count)]


def in_a_mapping(count: int) -> dict[str, str]:
    return {letter: f"選項{letter}" for letter in "ABCDEFGHIJKLM"[:count]}


@pytest.mark.parametrize("options", [in_a_list, in_a_mapping])
@pytest.mark.parametrize(("letters", "count"), [("ABCD", 5), ("ABCDEFGHIJ", 11)])
def test_more_options_than_letters_are_refused(
    quiz: Quiz, options: Callable[[int], Any], letters: str, count: int
) -> None:
    quiz(f'{IN_ONE_COLUMN}\nletters = "{letters}"', rows(options(count), "A"))
    with pytest.raises(DataCorrupt, match=rf"test\.json, row 1 has .*{letters}"):
        load_task("quiz")


def test_a_column_of_a_letter_that_the_task_does_not_have_is_refused(quiz: Quiz) -> None:
    header = "question,A,B,C,D,E,answer\n"
    folder = quiz("", f"{header}邊度有電車？,大澳,中環,沙田,赤柱,,B\n", "test.csv")
    loaded = load_task("quiz")
    (sample,) = loaded.samples
    assert sample.choices == ("大澳", "中環", "沙田", "赤柱")
    full = f"{header}邊度有電車？,大澳,中環,沙田,赤柱,屯門,B\n"
    (folder / "test.csv").write_text(full, encoding="utf-8")
    with pytest.raises(DataCorrupt, match=r"test\.csv, row 2 has 5 options, .* ABCD"):
        load_task("quiz")


def test_a_mapping_may_leave_letters_out(quiz: Quiz) -> None:
    quiz(IN_ONE_COLUMN, rows({"A": "大澳", "D": "中環"}, "D"))
    loaded = load_task("quiz")
    (sample,) = loaded.samples
    assert sample.choices == ("大澳", None, None, "中環")
    assert loaded.setup.turn(sample) == "邊度有電車？\nA. 大澳\nD. 中環\n答案："


def test_more_than_ten_letters_are_refused_by_file_and_entry(quiz: Quiz) -> None:
    quiz('letters = "ABCDEFGHIJK"', rows(in_a_list(11), "K"))
    with pytest.raises(CatalogueError, match=r"benchmark\.toml: .*\$\.tasks\[0\]\.letters"):
        load_task("quiz")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ('colums = { options = "choices" }', r"unknown field `colums`.*tasks\[0\]"),
        ('answer = "letters"', r"'letters'.*tasks\[0\]\.answer"),
        ('subjects = [{ nmae = "law" }]', r"tasks\[0\]\.subjects\[0\]"),
        ('subjects = [{ name = "law" }, { name = "law" }]', "two tasks are called 'quiz_law'"),
        ('columns = { otpions = "choices" }', "'quiz'.*'otpions'"),
    ],
)
def test_a_key_or_value_that_means_nothing_is_refused_by_file_and_entry(
    quiz: Quiz, more: str, says: str
) -> None:
    folder = quiz(more, rows(OPTIONS, "B"))
    with pytest.raises(CatalogueError, match=says) as raised:
        load_task("quiz")
    assert str(folder / "benchmark.toml") in str(raised.value)


@pytest.mark.parametrize(
    ("how", "answer"),
    [
        ("letter", "D"),
        ("index", 3),
        ("number", 0),
        ("text", "旺角"),
        ("letter", ""),
        ("index", "B"),
    ],
)
def test_an_answer_that_is_no_option_is_refused(quiz: Quiz, how: str, answer: Any) -> None:
    quiz(f'{IN_ONE_COLUMN}\nanswer = "{how}"', rows(OPTIONS, answer))
    with pytest.raises(DataCorrupt, match=rf"test\.json, row 1 has (an|no) answer .*({how})?"):
        load_task("quiz")


@pytest.mark.parametrize("options", ["A. 大澳 B. 中環", 7, None, {"1": "大澳", "2": "中環"}])
def test_anything_but_a_list_of_options_is_refused(quiz: Quiz, options: Any) -> None:
    quiz(IN_ONE_COLUMN, rows(options, "A"))
    with pytest.raises(HKCantoError, match=r"test\.json, row 1 has "):
        load_task("quiz")


def test_two_options_that_read_alike_cannot_be_answered_by_text(quiz: Quiz) -> None:
    quiz(f'{IN_ONE_COLUMN}\nanswer = "text"', rows(["中環", "中環", "沙田"], "中環"))
    with pytest.raises(DataCorrupt, match="row 1 has an answer"):
        load_task("quiz")


def many(*rows: tuple[Any, Any], column: str = "answer") -> str:
    return json.dumps(
        [{"question": f"第{n}題", "choices": own, column: answer} for n, (own, answer) in
         enumerate(rows)]
    )  # fmt: skip


def read(quiz: Quiz, content: str, more: str = "") -> list[tuple[str | None, ...]]:
    """Without a declaration, return the right options' texts, and then those of the first row."""
    quiz(more, content)
    samples = sorted(load_task("quiz").samples, key=lambda each: each.question)
    right = tuple(each.choices["ABCD".index(each.target)] for each in samples)
    return [right, samples[0].choices]


ORDERED = ("大澳", "中環", "沙田", None)


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        ({"label": ["1", "2", "3"], "text": OPTIONS}, "2"),
        ({"label": [1, 2, 3], "text": OPTIONS}, 2),
        ({"label": ["0", "1", "2"], "text": OPTIONS}, "1"),
        ({"label": ["B", "A", "C"], "text": ["中環", "大澳", "沙田"]}, "B"),
        ({"label": ["B", "A", "C"], "text": ["中環", "大澳", "沙田"]}, "中環"),
        ([{"label": "B", "text": "中環"}, {"label": "A", "text": "大澳"},
          {"label": "C", "text": "沙田"}], "B"),
        ([{"key": "3", "content": "沙田"}, {"key": "1", "content": "大澳"},
          {"key": "2", "content": "中環"}], "2"),
        ([{"B": "中環"}, {"A": "大澳"}, {"C": "沙田"}], "B"),
        ([{"A": None, "B": "中環", "C": None}, {"A": "大澳", "B": None, "C": None},
          {"A": None, "B": None, "C": "沙田"}], "B"),  # as Parquet fills missing keys
        ({"1": "大澳", "2": "中環", "3": "沙田"}, 2),
        (["B. 中環", "A. 大澳", "C. 沙田"], "B"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("column", ["answer", "answerKey", "answer_idx"])
def test_options_are_read_by_their_own_labels(
    quiz: Quiz, options: Any, answer: Any, column: str
) -> None:
    assert read(quiz, many((options, answer), column=column)) == [("中環",), ORDERED]


@pytest.mark.parametrize("names", [("choices", "labels"), ("choices.text", "choices.label")])
def test_labels_may_have_a_column_of_their_own(quiz: Quiz, names: tuple[str, str]) -> None:
    row = {"question": "第0題", names[0]: ["中環", "大澳", "沙田"], names[1]: ["B", "A", "C"]}
    assert read(quiz, json.dumps([{**row, "answer": "B"}])) == [("中環",), ORDERED]


def test_labels_may_differ_by_row_as_in_arc(quiz: Quiz) -> None:
    numbered = {"label": ["1", "2", "3"], "text": OPTIONS}
    lettered = {"label": ["A", "B", "C"], "text": OPTIONS}
    right, _ = read(quiz, many((numbered, "1"), (lettered, "C"), (numbered, "3")))
    assert right == ("大澳", "沙田", "沙田")


def test_an_index_is_into_the_releases_list_and_not_into_the_sorted_one(quiz: Quiz) -> None:
    shuffled = {"label": ["B", "A", "C"], "text": ["中環", "大澳", "沙田"]}
    assert read(quiz, many((shuffled, 0), (shuffled, 1))) == [("中環", "大澳"), ORDERED]


def test_two_answer_columns_must_agree(quiz: Quiz) -> None:
    rows = [{"question": f"第{n}題", "options": dict(zip("ABC", OPTIONS, strict=True)),
             "answer": text, "answer_idx": letter}
            for n, (text, letter) in enumerate(zip(OPTIONS, "ABC", strict=True))]  # fmt: skip
    assert read(quiz, json.dumps(rows))[0] == (*OPTIONS,)
    rows[0]["answer_idx"] = "B"
    quiz_folder = Path(os.environ["HKCANTO_BENCHMARKS"])
    (quiz_folder / "test.json").write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(DataCorrupt, match="the columns answer and answer_idx name different"):
        load_task("quiz")


@pytest.mark.parametrize(
    "options",
    [
        {"label": ["A", "A", "C"], "text": OPTIONS},
        {"label": ["A", "B"], "text": OPTIONS},
        {"label": ["x", "y", "z"], "text": OPTIONS},
        [["大澳"], ["中環"]],
    ],
)
def test_labels_that_tell_nothing_are_refused(quiz: Quiz, options: Any) -> None:
    quiz("", many((options, "A")))
    with pytest.raises(DataCorrupt, match=r"test\.json, row 1 has "):
        load_task("quiz")


@pytest.mark.parametrize("options", [[2.0, 3.0, 4.0, 5.0], ["02", "03", "04", "05"], [2, 3, 4, 5]])
@pytest.mark.parametrize("form", [int, float])
def test_a_number_is_the_text_of_an_option_in_whatever_form(
    quiz: Quiz, options: list[Any], form: Callable[[int], Any]
) -> None:
    """2 + 2 = 4 is the third option; taken as a number from 1, 4 means the fourth option, 5."""
    content = many(*((options, form(answer)) for answer in (2, 3, 4)))
    quiz("", content)
    with pytest.raises(DataCorrupt, match="as its number from 1 or as its text"):
        load_task("quiz")


def test_a_number_declared_as_text_is_found_in_another_form(quiz: Quiz) -> None:
    content = many(*(([2.0, 3.0, 4.0, 5.0], answer) for answer in (2, 3, 4)))
    assert read(quiz, content, 'answer = "text"')[0] == ("2.0", "3.0", "4.0")
