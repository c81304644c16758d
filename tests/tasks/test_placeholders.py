"""Placeholders in prompts: what fills them, and declarations that nothing can fill."""

import re
import time

import pytest
from typer.testing import CliRunner

from hkcanto_tasks import catalogue
from hkcanto_tasks.benchmark_files import read_benchmark
from hkcanto_tasks.cli import app
from hkcanto_tasks.errors import CatalogueError, DataCorrupt

from ..answering import AnsweringLM
from ..lm_eval.evaluating import evaluate
from .quiz import Quiz, items, prompts

ROW = {
    "passage": "全部人都返咗。",
    "question": "邊個返咗？",
    "A": "冇人",
    "B": "阿明",
    "answer": "B",
}
AB = 'letters = "AB"'


def test_any_column_fills_a_placeholder_of_its_name_or_a_declared_one(
    quiz: Quiz,
) -> None:
    story = f'{AB}\ncolumns = {{ story = ["text", "Passage"] }}'
    for question, more in (("{passage}", AB), ("{Passage}", AB), ("{story}", story)):
        quiz(more, ROW, question=question + "\n{question}")
        assert prompts() == ["全部人都返咗。\n邊個返咗？"]


def test_a_blank_cell_of_one_of_several_columns_is_shown_blank(quiz: Quiz) -> None:
    more = f'{AB}\ncolumns = {{ hint = ["hint", "note"] }}'
    for name in ("hint", "note"):
        quiz(more, {**ROW, name: ""}, question="[{hint}]{question}")
        assert prompts() == ["[]邊個返咗？"]


def test_every_text_of_a_prompt_is_filled_for_its_row(quiz: Quiz) -> None:
    second = {**ROW, "passage": "冇人返。", "task": "揀一個"}
    quiz(
        AB,
        {**ROW, "task": "答問題"},
        second,
        question="{passage}{question}",
        system="{task}：",
        texts='example = "{number}. {passage}"\nanswer_separator = "="',
    )
    shown = "1. 全部人都返咗。=B\n\n2. 冇人返。=B\n\n"
    assert prompts(shots=2) == [
        f"答問題：{shown}全部人都返咗。邊個返咗？",
        f"揀一個：{shown}冇人返。邊個返咗？",
    ]


def test_an_instruction_of_other_kinds_shows_a_column_too(quiz: Quiz) -> None:
    row = {"question": "幾多？", "answer": "7", "task": "計一計"}
    quiz("", row, question="{question}", system="{task}：{{x}}", kind="number")
    assert prompts() == ["計一計：{x}幾多？"]


def test_every_kind_shows_a_column(quiz: Quiz) -> None:
    for kind, row, question, more in (
        ("number", {"question": "幾多？", "answer": "7"}, "{question}", ""),
        ("label", {"text": "正。", "label": "好"}, "{source}", 'labels = ["好", "差"]'),
        ("summarization", {"text": "一段文字。"}, "{source}", ""),
    ):
        quiz(
            more,
            {**row, "passage": "有七個。"},
            kind=kind,
            question="{passage}|" + question,
        )
        assert prompts(shots=0)[0].startswith("有七個。|"), kind


def test_both_harnesses_ask_with_the_column(quiz: Quiz) -> None:
    from hkcanto import tasks

    rows = [{**ROW, "task": "答"}, {**ROW, "task": "揀", "passage": "冇人。"}]
    quiz(AB, *rows, question="{passage}\n{question}\n{options}", system="{task}。")
    in_lm_eval = evaluate("quiz", model=AnsweringLM())
    asked = {
        sample["doc"]["id"]: sample["arguments"][0][0]
        for sample in in_lm_eval["samples"]["quiz"]
    }
    assert asked["quiz/2"] == "揀。冇人。\n邊個返咗？\nA. 冇人\nB. 阿明"
    dataset = tasks.run(task="quiz").dataset
    assert {
        each.id: "".join(part.text for part in each.input) for each in dataset
    } == asked


def test_a_passage_belongs_to_its_item(quiz: Quiz) -> None:
    quiz(AB, {**ROW, "短文": "學習"}, question="{短文}{question}")
    assert prompts(script="sc") == ["学习边个返咗？"]
    quiz(AB, ROW, question="{passage}\n{question}")
    assert items()[0].text == "全部人都返咗。\n邊個返咗？\n冇人\n阿明"


def test_braces_can_be_meant_and_are_never_looked_up_twice(quiz: Quiz) -> None:
    row = {**ROW, "passage": "{question} {{x}}"}
    quiz(AB, row, question='{passage} \\boxed{{A}} { } {"x": 1}')
    assert prompts() == ['{question} {{x}} \\boxed{A} { } {"x": 1}']


def test_a_row_without_the_column_is_named(quiz: Quiz) -> None:
    bare = {key: cell for key, cell in ROW.items() if key != "passage"}
    quiz(AB, ROW, bare, question="{passage}\n{question}")
    with pytest.raises(
        DataCorrupt, match=r"row 2 has no text in a column passage.* as \{passage\}"
    ):
        items()
    quiz(AB, {**ROW, "passage": ["一", "二"]}, question="{passage}\n{question}")
    with pytest.raises(
        DataCorrupt,
        match=r"a list or object .* \{passage\} in passage: .* passage\.0",
    ):
        items()


def test_a_placeholder_that_nothing_fills_is_an_error_before_any_run(
    quiz: Quiz,
) -> None:
    declared = f'{AB}\ncolumns = {{ story = "pasage" }}'
    for question, texts, more, says in (
        (
            "{pasage}{question}",
            "",
            AB,
            r"\{pasage\}.* \{question\}.*Did you mean \{passage\}",
        ),
        ("{stem.__class__}{pasage}", "", AB, r"\{pasage\}"),
        ("{answer}", "", AB, r"\{answer\}"),
        ("{number}", "", AB, r"\{number\}"),
        ("{sentence}", "", AB, r"\{sentence\}"),
        ("{story}", "", declared, r"\{story\}.*none is called pasage"),
        ("{question}", 'example = "{nothing}"', AB, r"\{nothing\}"),
        ("{question}", 'example = "{question} {answer}"', AB, r"\{answer\}"),
    ):
        quiz(more, ROW, question=question, texts=texts)
        with pytest.raises(
            CatalogueError, match=rf"\[prompts.plain\] has the placeholder {says}"
        ):
            items()


def test_a_placeholder_in_a_text_that_is_not_used_is_not_refused(quiz: Quiz) -> None:
    unused = 'question_cot = "{nothing}"\nexample_cot = "{nothing}"'
    quiz(AB, ROW, question="{question}", texts=unused)
    assert items()
    alone = f'{AB}\nfiles = {{ test = "test.json" }}'
    quiz(alone, ROW, question="{question}", texts='example = "{nothing}"')
    assert items()


@pytest.mark.parametrize(
    "path", ["", "*.json", "a/**/test.json", "{split}.json", "{stem}{stem}"]
)
def test_a_path_that_can_match_nothing_is_refused(quiz: Quiz, path: str) -> None:
    for files in (
        f'{{ test = "{path}" }}',
        f'{{ test = "test.json", dev = ["x.json", "{path}"] }}',
    ):
        file = quiz(f"{AB}\nfiles = {files}", ROW) / "benchmark.toml"
        with pytest.raises(
            CatalogueError, match=f"'quiz' has the path '{re.escape(path)}'"
        ):
            read_benchmark(file)


def test_an_open_question_in_a_list_is_found(quiz: Quiz) -> None:
    for key, value in (
        ("ignored", '["a", "?"]'),
        ("table", '["?"]'),
        ("rubric", '{ x = ["?"] }'),
        ("columns", '{ "提示" = "?" }'),
    ):
        file = quiz(f"{AB}\n{key} = {value}", ROW) / "benchmark.toml"
        name = {"rubric": "x", "columns": "提示"}.get(key, key)
        with pytest.raises(CatalogueError, match=rf'open questions, "\?": {name}\.'):
            read_benchmark(file)


def test_a_column_that_the_kind_would_shadow_is_refused(quiz: Quiz) -> None:
    quiz(AB, {**ROW, "title": "一個故事"}, question="{title}{question}")
    with pytest.raises(
        CatalogueError, match=r"fills itself, but .* has a column 'title'"
    ):
        items()


def test_a_declared_column_that_no_template_shows_is_an_error(quiz: Quiz) -> None:
    quiz(f'{AB}\ncolumns = {{ story = "passage" }}', ROW, question="{question}")
    with pytest.raises(
        CatalogueError,
        match=r"column for 'story'.* no prompt has a placeholder \{story",
    ):
        items()


def test_a_type_that_never_ends_or_is_no_expression_is_an_error(quiz: Quiz) -> None:
    row = {**ROW, "question": "a" * 5000 + "！"}
    quiz(f'{AB}\ntypes = {{ endless = "(a|a)*$", other = "b" }}', row)
    begun = time.perf_counter()
    with pytest.raises(
        CatalogueError, match=r"'quiz' has the type 'endless'.*\(a\|a\).* row 1"
    ):
        items()
    assert time.perf_counter() - begun < 60
    quiz(f'{AB}\ntypes = {{ broken = "(a" }}', ROW)
    with pytest.raises(
        CatalogueError, match=r"type 'broken': the regular expression '\(a' is not"
    ):
        items()


def test_a_question_has_every_type_that_matches_it(quiz: Quiz) -> None:
    quiz(f'{AB}\ntypes = {{ who = "邊個", rest = "去|返", other = "點解" }}', ROW)
    assert items()[0].parts == ("who", "rest")


def test_a_type_without_an_expression_has_the_questions_of_no_other(quiz: Quiz) -> None:
    types = 'types = { written = "", who = "邊個", when = "幾時" }'
    quiz(f"{AB}\n{types}", ROW, {**ROW, "question": "何人？"})
    assert sorted(item.parts for item in items()) == [("who",), ("written",)]


def test_an_unknown_key_is_refused_with_its_place(quiz: Quiz) -> None:
    for table, key, says in (
        (
            '[hub]\nrepo_id = "a/b"',
            'revison = "v1"',
            r"hub has an unknown key revison",
        ),
        ("[data]", 'pth = "x"', r"data has an unknown key pth"),
        ("[data]", 'commit = "x"', r"data has an unknown key commit"),
        ("[data]\n[prompts.b]", 'qestion = "x"', "unknown key qestion"),
        ("[data]\n[reasoning]", 'repo = "x"', "reasoning has an unknown key repo"),
    ):
        path = quiz(AB, ROW) / "benchmark.toml"
        text = path.read_text("utf-8").replace(
            '[data]\npath = "data"', f"{table}\n{key}"
        )
        path.write_text(text, encoding="utf-8")
        catalogue._catalogue.cache_clear()
        output = CliRunner().invoke(app, ["show", "quiz"])
        assert output.exit_code == 1
        assert re.search(says, " ".join(output.output.split()))
        with pytest.raises(CatalogueError, match=says):
            read_benchmark(path)
