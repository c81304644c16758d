"""Declarations of questions, options and answers in benchmarks from outside."""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hkcanto_tasks import catalogue, load_task, loading
from hkcanto_tasks.cli import app
from hkcanto_tasks.errors import CatalogueError, DataCorrupt
from hkcanto_tasks.loading import LoadedTask
from hkcanto_tasks.samples import Sample

from ..answering import AnsweringLM
from ..lm_eval.evaluating import evaluate

DECLARED = """
name = "quiz"
title = "Quiz"
[data]
[prompts.plain]
system = {system}
question = {question}
[[tasks]]
name = "quiz"
title = "Quiz"
kind = "{kind}"
files = {{ test = "test.json", dev = "test.json" }}
{more}
"""
PLAIN = "{question}\n{options}"
Quiz = Callable[..., Path]


@pytest.fixture
def quiz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Quiz:
    """Return a function that declares a benchmark `quiz`, and writes its rows."""
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))

    def declare(
        more: str,
        *rows: dict[str, Any],
        question: str = PLAIN,
        system: str = "",
        kind: str = "multiple_choice",
    ) -> Path:
        catalogue._catalogue.cache_clear()
        text = DECLARED.format(
            question=json.dumps(question), system=json.dumps(system), kind=kind, more=more
        )
        (tmp_path / "benchmark.toml").write_text(text, encoding="utf-8")
        (tmp_path / "test.json").write_text(json.dumps(rows, ensure_ascii=False), "utf-8")
        return tmp_path

    return declare


def ordered() -> tuple[LoadedTask, list[Sample]]:
    loaded = load_task("quiz", shots=0)
    return loaded, sorted(loaded.samples, key=lambda sample: int(sample.id.rpartition("/")[2]))


def shown() -> list[str]:
    loaded, samples = ordered()
    return [loaded.prompt(each).text() for each in samples]


def targets() -> str:
    return "".join(each.target for each in ordered()[1])


# ---------------------------------------------------------------------- paths into a cell

FERRY = {
    "question": "Which is an island?",
    "question_yue": "邊個係島？",
    "choices": {"A": "Mong Kok", "B": "Cheung Chau"},
    "choices_yue": {"A": "旺角", "B": "長洲"},
    "about": {"place": ["香港", "離島"], "Level": 3},
    "correct_answer": "B",
}


def test_questions_and_options_may_be_those_of_another_language(quiz: Quiz) -> None:
    quiz('columns = { question = "question_yue", options = "choices_yue" }', FERRY)
    assert shown() == ["邊個係島？\nA. 旺角\nB. 長洲"]
    assert targets() == "B"


def test_a_place_is_a_path_into_a_cell_of_the_row(quiz: Quiz) -> None:
    quiz(
        'columns = { where = "about.place.1", options = "choices_yue" }',
        FERRY,
        {**FERRY, "about": json.dumps({"place": ["香港", "旺角"], "level": 4})},
        question="{where} {about.level} {choices.A} {question}",
        system="{about.place.0}：",
    )
    assert shown() == [
        "香港：離島 3 Mong Kok Which is an island?",
        "香港：旺角 4 Mong Kok Which is an island?",
    ]


def test_options_and_answers_may_be_anywhere_in_a_row(quiz: Quiz) -> None:
    row = {"q": {"text": "邊個係島？", "options": ["旺角", "長洲"], "gold": {"index": 1}}}
    declared = 'question = "q.text", options = "q.options", answer = "q.gold.index"'
    quiz(f'columns = {{ {declared} }}\nanswer = "index"', row)
    assert shown() == ["邊個係島？\nA. 旺角\nB. 長洲"]
    assert targets() == "B"


@pytest.mark.parametrize(
    ("about", "says"),
    [
        ({"place": ["香港"]}, "row 2 has no column 'about.place.1', which the prompt shows"),
        ({"place": [1, 2], "Place": [3, 4]}, "row 2 has no column 'about.place.1'"),
        ({"place": [1, [2]]}, "row 2 has no text in 'about.place.1'"),
        ("離島", "row 2 has no column 'about.place.1'"),
    ],
)
def test_a_path_that_leads_nowhere_is_an_error(quiz: Quiz, about: Any, says: str) -> None:
    columns = 'columns = { options = "choices" }'
    quiz(columns, FERRY, {**FERRY, "about": about}, question="{about.place.1}{question}")
    with pytest.raises(DataCorrupt, match=rf"test\.json, {says}"):
        load_task("quiz")


def test_an_option_is_shown_alone_as_it_is_shuffled(quiz: Quiz) -> None:
    quiz(
        'columns = { options = "choices" }',
        *[FERRY] * 2,
        question="1) {option_A} 2) {option_B}{option_C}",
    )
    assert shown()[0] == "1) Mong Kok 2) Cheung Chau"
    loaded = load_task("quiz", shuffle_choices=1)
    for each in loaded.samples:
        assert loaded.setup.turn(each) == f"1) {each.choices[0]} 2) {each.choices[1]}"


def test_a_path_into_the_column_of_the_options_is_refused(quiz: Quiz) -> None:
    """The prompt would show them in the release's order instead of the shuffled one."""
    quiz('columns = { options = "choices" }', FERRY, question="{choices.A}")
    with pytest.raises(CatalogueError, match=r"\{choices\.A\}.*reads the column 'choices\.a'"):
        load_task("quiz")


# ---------------------------------------------------------------------- the same for all rows

SENTENCES = [
    {"sentence": "我哋去街。", "label": 1},
    {"sentence": "街去我哋。", "label": 0},
    {"sentence": "佢好高。", "label": 1},
]
JUDGED = 'question = "呢句通唔通順？"\noptions = ["唔通順", "通順"]'


@pytest.mark.parametrize(
    ("answer", "labels"),
    [
        ('answer = "index"', [1, 0, 1]),
        ('answer = "number"', [2, 1, 2]),
        ('answer = "text"', ["通順", "唔通順", "通順"]),
        ("", ["通順", "唔通順", "通順"]),
        ("", ["B", "A", "B"]),
        ('answers = { 1 = "B", 0 = "A" }', [1, 0, 1]),
        ('answers = { 1 = "B", 0 = "A" }', [1.0, 0.0, 1.0]),
        ('answers = { true = "B", false = "A" }', [True, False, True]),
        ('answers = { acceptable = "B", not = "A" }', ["acceptable", "not", "acceptable"]),
        ('answer = "one_hot"', [[0, 1], [1, 0], [0, 1]]),
    ],
)
def test_question_and_options_are_the_same_for_all_rows(
    quiz: Quiz, answer: str, labels: list[Any]
) -> None:
    rows = [{**row, "label": label} for row, label in zip(SENTENCES, labels, strict=True)]
    quiz(f"{JUDGED}\n{answer}", *rows, question="{sentence}\n{question}\n{options}")
    assert shown()[0] == "我哋去街。\n呢句通唔通順？\nA. 唔通順\nB. 通順"
    assert targets() == "BAB"


@pytest.mark.parametrize(
    "declared", ['options = ["甲", "乙"]', 'columns = { options = ["sentence", "other"] }']
)
def test_chance_is_one_in_as_many_options_as_are_declared(quiz: Quiz, declared: str) -> None:
    row = {"question": "?", "sentence": "甲", "other": "乙", "answer": "A"}
    folder = quiz(declared, row)
    (task,) = catalogue.read_benchmark(folder / "benchmark.toml").tasks
    assert task.letters == "AB"


def test_columns_called_as_options_are_places_where_all_rows_have_the_same(quiz: Quiz) -> None:
    row = {"a": "佢開緊會。", "b": "佢開咗燈。", "word": "開", "label": "different"}
    declared = 'options = ["同", "唔同"]\nanswers = { same = "A", different = "B" }'
    quiz(f'{declared}\nquestion = "意思同唔同？"', row, question="{word}：{a}{b}{question}")
    assert shown() == ["開：佢開緊會。佢開咗燈。意思同唔同？"]
    assert targets() == "B"


@pytest.mark.parametrize("labels", [(1, 0, 1), (1, 2, 1), (1, 1, 1)])
def test_what_numbers_mean_is_not_guessed_where_all_rows_have_the_same(
    quiz: Quiz, labels: tuple[int, ...]
) -> None:
    rows = [{**row, "label": label} for row, label in zip(SENTENCES, labels, strict=True)]
    quiz(JUDGED, *rows, question="{sentence}\n{question}")
    says = r"test\.json: the column label .* answer = \"index\" .* \"number\" .* answers = "
    with pytest.raises(DataCorrupt, match=says):
        load_task("quiz")


def test_a_cell_without_a_declared_answer_is_an_error(quiz: Quiz) -> None:
    quiz(f'{JUDGED}\nanswers = {{ 1 = "B" }}', *SENTENCES, question="{sentence}\n{question}")
    says = "test.json, row 2 has a cell in the column 'label' that is not among `answers`: 1."
    done = CliRunner().invoke(app, ["show", "quiz"])
    assert done.exit_code == 1
    assert says in " ".join(done.output.split())


def test_a_question_of_the_rows_is_not_left_out_unsaid(quiz: Quiz) -> None:
    quiz(
        'question = "邊個啱？"\noptions = ["甲", "乙"]',
        {"question": "邊個係天干？", "answer": "A"},
    )
    with pytest.raises(CatalogueError, match=r"\{question\}.*fills itself.*a column 'question'"):
        load_task("quiz")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ('question = "?"\ncolumns = { question = "q" }', "same question for every row, and a col"),
        ('options = ["甲", "乙"]\ncolumns = { options = "q" }', "same options for every row, and"),
        ('question = "{target}係咩？"', r"has \{target\} in its question"),
        ('options = ["甲"]', "has 1 options for every row; its letters ABCD take 2 to 4"),
        ('options = ["甲", "乙", "丙"]\nletters = "AB"', "has 3 options .* AB take 2 to 2"),
        ('options = ["甲", "甲"]', "has '甲' among the options of every row"),
        ('options = ["甲", " "]', "has ' ' among the options of every row"),
        ('answer = "text"\nanswers = { a = "A" }', "both answer and answers"),
        ('options = ["甲", "乙"]\nanswers = { a = "C" }', "the answers 'a' → 'C'; .* letters AB"),
        ('answers = { a = "a" }', r"tasks\[0\]\.answers"),
        ('answer = "onehot"', "'onehot'"),
        ('option_labels = "yes"', "'yes'"),
        ("shuffle_options = -1", "shuffle_options"),
    ],
)
def test_declarations_that_cannot_be_meant_are_refused(quiz: Quiz, more: str, says: str) -> None:
    folder = quiz(more, FERRY)
    with pytest.raises(CatalogueError, match=says):
        catalogue.read_benchmark(folder / "benchmark.toml")


@pytest.mark.parametrize(
    "more", ['question = "?"', 'options = ["甲", "乙"]', "shuffle_options = 1"]
)
def test_a_kind_without_options_does_not_take_them(quiz: Quiz, more: str) -> None:
    quiz(more, {"question": "幾多？", "answer": "7"}, kind="number")
    with pytest.raises(CatalogueError, match=f"a field '{more.partition(' ')[0]}'.*'number'"):
        load_task("quiz")


# ---------------------------------------------------------------------- marks: one-hot

ISLANDS = ["旺角", "長洲", "沙田"]
MARKED = [
    ({"x": {"choices": ISLANDS, "labels": [0, 1, 0]}}, 'options = "x", answer = "x"'),
    (
        {"x": {"choices": ISLANDS, "labels": [0, 1, 0]}},
        'options = "x.choices", answer = "x.labels"',
    ),
    ({"x": {"旺角": 0, "長洲": 1, "沙田": 0}}, 'options = "x", answer = "x"'),
    (
        {"x": [{"text": text, "correct": text == "長洲"} for text in ISLANDS]},
        'options = "x", answer = "x"',
    ),
    (
        {"x": [{"text": text, "label": int(text == "長洲")} for text in ISLANDS]},
        'options = "x", answer = "x"',
    ),
    ({"choices": ISLANDS, "labels": [0, 1, 0]}, 'options = "choices", answer = "labels"'),
    ({"choices": ISLANDS, "labels": "[0, 1.0, 0]"}, 'options = "choices", answer = "labels"'),
    ({"s0": "旺角", "s1": "長洲", "s2": "沙田", "y": [0, 1, 0]}, 'options = ["s0", "s1", "s2"], '
     'answer = "y"'),
    (
        {"x": dict(zip("CAB", ("沙田", "旺角", "長洲"), strict=True)), "y": [0, 0, 1]},
        'options = "x", answer = "y"',
    ),
]  # fmt: skip


@pytest.mark.parametrize(("row", "columns"), MARKED[:-1])
def test_the_right_option_is_the_marked_one(quiz: Quiz, row: dict[str, Any], columns: str) -> None:
    quiz(f'columns = {{ {columns} }}\nanswer = "one_hot"', {"question": "邊個係島？", **row})
    assert shown() == ["邊個係島？\nA. 旺角\nB. 長洲\nC. 沙田"]
    assert targets() == "B"


def test_marks_have_no_order_beside_an_object_that_has_none(quiz: Quiz) -> None:
    row, columns = MARKED[-1]
    quiz(f'columns = {{ {columns} }}\nanswer = "one_hot"', {"question": "邊個係島？", **row})
    with pytest.raises(DataCorrupt, match="row 1 has an answer that is none of its options"):
        load_task("quiz")


@pytest.mark.parametrize(
    ("marks", "says"),
    [
        ([1, 0], "2 marks in the column 'y' for 3 options"),
        ([0, 0, 0], "no option that the column 'y' marks right"),
        ([1, 1, 0], '2 right options: declare kind = "multi_answer" for several'),
        ([0, 2, 0], "no list in the column 'y' with 1 for a right option and 0 for another"),
        ("B", "no list in the column 'y'"),
        (None, "no list in the column 'y'"),
    ],
)
def test_marks_that_name_no_single_option_are_refused(quiz: Quiz, marks: Any, says: str) -> None:
    row = {"question": "邊個係島？", "x": ISLANDS, "y": marks}
    quiz('columns = { options = "x", answer = "y" }\nanswer = "one_hot"', row)
    with pytest.raises(DataCorrupt, match=rf"test\.json, row 1 has {says}"):
        load_task("quiz")


def test_marks_that_are_not_declared_are_an_error_that_says_so(quiz: Quiz) -> None:
    quiz('columns = { options = "x" }', {"question": "?", "x": ISLANDS, "answer": [0, 1, 0]})
    with pytest.raises(DataCorrupt, match=r'a list in the column .* declare answer = "one_hot"'):
        load_task("quiz")


# ---------------------------------------------------------------------- an option's own label


def lettered(*options: str) -> dict[str, str]:
    return {"question": "邊個係島？", **dict(zip("ABC", options, strict=True)), "answer": "B"}


REMOVE = 'letters = "ABC"\noption_labels = "remove"'


@pytest.mark.parametrize(
    "options",
    [
        ("A. 旺角", "B. 長洲", "C. 沙田"),
        ("(A) 旺角", "(B)長洲", "（C）沙田"),
        ("Ａ．旺角", "Ｂ．長洲", "Ｃ．沙田"),
        ("a) 旺角", "b) 長洲", "c) 沙田"),
        ("1. 旺角", "2. 長洲", "3. 沙田"),
        ("0: 旺角", "1: 長洲", "2: 沙田"),
        ("甲、旺角", "乙、長洲", "丙、沙田"),
        ("旺角", "長洲", "沙田"),
    ],
)
def test_a_label_is_taken_off_where_it_is_declared(quiz: Quiz, options: tuple[str, ...]) -> None:
    quiz(REMOVE, lettered(*options))
    assert shown() == ["邊個係島？\nA. 旺角\nB. 長洲\nC. 沙田"]
    quiz('letters = "ABC"', lettered(*options))
    assert shown() == [f"邊個係島？\nA. {options[0]}\nB. {options[1]}\nC. {options[2]}"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            ("B. 旺角", "A. 長洲", "C. 沙田"),
            "begin with B, A, C, which do not fit their positions",
        ),
        (("A. 旺角", "2. 長洲", "C. 沙田"), "begin with A, 2, C, which do not"),
        (("A. 旺角", "長洲", "C. 沙田"), "with a label of their own, and others without one"),
    ],
)
def test_a_label_of_another_place_is_refused(
    quiz: Quiz, options: tuple[str, ...], says: str
) -> None:
    quiz(REMOVE, lettered(*options))
    with pytest.raises(DataCorrupt, match=rf"test\.json, row 1 has options .*{says}"):
        load_task("quiz")


def test_a_leading_number_is_not_a_label(quiz: Quiz) -> None:
    quiz(REMOVE, lettered("1.5 米", "2.5 米", "3.5 米"))
    assert shown() == ["邊個係島？\nA. 1.5 米\nB. 2.5 米\nC. 3.5 米"]


# ---------------------------------------------------------------------- a fixed place of the answer

FIRST = [
    {"question": f"{number} 個人去邊？", "A": "中環", "B": "旺角", "C": "沙田", "answer": "A"}
    for number in range(24)
]
LETTERS = 'letters = "ABC"'


def test_a_right_option_in_one_place_is_said_everywhere(
    quiz: Quiz, caplog: pytest.LogCaptureFixture
) -> None:
    from hkcanto import tasks

    loading._warn.cache_clear()
    quiz(LETTERS, *FIRST)
    said = "the right option is A in every row"
    with caplog.at_level(logging.WARNING, "hkcanto"):
        assert load_task("quiz").remark == f" ({said})"
        load_task("quiz")
    assert [each.getMessage() for each in caplog.records].count(
        f"quiz: {said}. Declare shuffle_options = 1 in its entry."
    ) == 1
    for command in (["show", "quiz"], ["doctor", "quiz"]):
        assert said in " ".join(CliRunner().invoke(app, command).output.split()), command
    assert said in evaluate("quiz", model=AnsweringLM())["configs"]["quiz"]["task_alias"]
    assert said in tasks.run(task="quiz").display_name


@pytest.mark.parametrize(
    "rows", [FIRST[:9], [*FIRST, {**FIRST[0], "question": "?", "answer": "B"}]]
)
def test_few_rows_or_other_places_say_nothing(quiz: Quiz, rows: list[dict[str, str]]) -> None:
    quiz(LETTERS, *rows)
    assert load_task("quiz").remark == ""


def test_a_declared_shuffle_moves_options_and_answers_together(quiz: Quiz) -> None:
    quiz(LETTERS, *FIRST)
    before = load_task("quiz", shots=2)
    quiz(f"{LETTERS}\nshuffle_options = 5", *FIRST)
    loaded, samples = ordered()
    assert loaded.remark == ""
    assert {each.target for each in samples} == {*"ABC"}
    for each in samples:
        assert each.choices["ABC".index(each.target)] == "中環"
        assert sorted(map(str, each.choices)) == sorted(["中環", "旺角", "沙田"])
    assert ordered()[1] == samples
    assert "|shuffle_options:5|" in loaded.signature
    assert "shuffle_options" not in before.signature
    assert loaded.signature.partition("|sent:")[2] != before.signature.partition("|sent:")[2]
    quiz(f"{LETTERS}\nshuffle_options = 6", *FIRST)
    assert ordered()[1] != samples


def test_worked_examples_are_shuffled_with_their_answers(quiz: Quiz) -> None:
    quiz(f"{LETTERS}\nshuffle_options = 5", *FIRST)
    loaded = load_task("quiz", shots=5)
    examples = loaded.shots("")
    assert len({each.answer for each in examples}) > 1
    for each in examples:
        assert f"{each.answer}. 中環" in each.question
        assert each.sample is not None
        assert each.sample.target == each.answer


def test_both_harnesses_show_the_same_shuffled_options(quiz: Quiz) -> None:
    from hkcanto import tasks

    quiz(f"{LETTERS}\nshuffle_options = 5", *FIRST)
    found = evaluate("quiz", model=AnsweringLM())["samples"]["quiz"]
    asked = {each["doc"]["id"]: (each["arguments"][0][0], each["target"]) for each in found}
    assert {
        each.id: ("".join(part.text for part in each.input), each.target)
        for each in tasks.run(task="quiz").dataset
    } == asked
