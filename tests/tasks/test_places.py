"""Placeholders in prompts: the columns that fill them, and columns that no prompt may show."""

import json
import logging
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hkcanto_tasks import catalogue
from hkcanto_tasks.catalogue import find_task, named_tasks, read_benchmark
from hkcanto_tasks.cli import app
from hkcanto_tasks.data import locating
from hkcanto_tasks.data.release_files import report
from hkcanto_tasks.errors import CatalogueError, DataCorrupt
from hkcanto_tasks.loading import LoadedTask, load_task

from ..answering import AnsweringLM
from ..lm_eval.evaluating import evaluate

DECLARED = """
name = "logic"
title = "Logic"
[data]
[prompts.plain]
system = {system}
question = {question}
{texts}
[[tasks]]
name = "logic"
title = "Logic"
kind = "{kind}"
files = {{ test = "test.json", dev = "dev.json" }}
{more}
"""
ROW = {
    "passage": "全部人都返咗。",
    "question": "邊個返咗？",
    "A": "冇人",
    "B": "阿明",
    "answer": "B",
}
OPTIONS = 'letters = "AB"'
LABELS = 'labels = ["Positive", "Negative"]'

Declare = Callable[..., None]


@pytest.fixture
def logic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Declare:
    """Return a function that declares a task `logic`, and writes its rows."""
    report.cache_clear()
    monkeypatch.setenv("HKCANTO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))

    def declare(
        question: str,
        *rows: dict[str, Any],
        more: str = OPTIONS,
        system: str = "",
        texts: str = "",
        kind: str = "multiple_choice",
    ) -> None:
        catalogue._catalogue.cache_clear()
        text = DECLARED.format(
            question=json.dumps(question), system=json.dumps(system), **locals_of(more, texts, kind)
        )
        (tmp_path / "benchmark.toml").write_text(text, encoding="utf-8")
        for name in ("test", "dev"):
            (tmp_path / f"{name}.json").write_text(json.dumps(rows or [ROW]), encoding="utf-8")

    return declare


def locals_of(more: str, texts: str, kind: str) -> dict[str, str]:
    return {"more": more, "texts": texts, "kind": kind}


def prompt(loaded: LoadedTask, place: int = 0) -> str:
    ordered = sorted(loaded.samples, key=lambda sample: sample.id)
    return loaded.prompt(ordered[place]).text()


# ---------------------------------------------------------------------- a column in a template


@pytest.mark.parametrize(
    ("question", "more"),
    [
        ("{passage}\n{question}", OPTIONS),
        ("{Passage}\n{question}", OPTIONS),
        ("{story}\n{question}", f'{OPTIONS}\ncolumns = {{ story = ["text", "Passage"] }}'),
    ],
)
def test_any_column_is_a_place(logic: Declare, question: str, more: str) -> None:
    logic(question, more=more)
    assert prompt(load_task("logic")) == "全部人都返咗。\n邊個返咗？"


def test_a_column_is_a_place_in_every_text_of_a_prompt(logic: Declare) -> None:
    second = {**ROW, "passage": "冇人返。", "task": "揀一個"}
    logic(
        "{passage}{question}",
        {**ROW, "task": "答問題"},
        second,
        system="{task}：",
        texts='example = "{number}. {passage}"\nanswer_separator = "="',
    )
    loaded = load_task("logic", shots=2)
    shown = "1. 全部人都返咗。=B\n\n2. 冇人返。=B\n\n"
    assert prompt(loaded) == f"答問題：{shown}全部人都返咗。邊個返咗？"
    assert prompt(loaded, 1) == f"揀一個：{shown}冇人返。邊個返咗？"


@pytest.mark.parametrize(
    ("kind", "row", "question"),
    [
        ("number", {"question": "幾多？", "answer": "7", "passage": "有七個。"}, "{question}"),
        ("label", {"text": "正。", "sentiment": "Positive", "passage": "有七個。"}, "{source}"),
        ("summarization", {"text": "一段文字。", "passage": "有七個。"}, "{source}"),
    ],
)
def test_every_kind_shows_a_column(
    logic: Declare, kind: str, row: dict[str, str], question: str
) -> None:
    logic(f"{{passage}}|{question}", row, kind=kind, more=LABELS if kind == "label" else "")
    assert prompt(load_task("logic", shots=0)).startswith("有七個。|")


def test_both_harnesses_ask_with_the_column(logic: Declare) -> None:
    from hkcanto import tasks

    rows = [{**ROW, "task": "答"}, {**ROW, "task": "揀", "passage": "冇人。"}]
    logic("{passage}\n{question}\n{options}", *rows, system="{task}。")
    in_lm_eval = evaluate("logic", model=AnsweringLM())
    asked = {
        sample["doc"]["id"]: sample["arguments"][0][0] for sample in in_lm_eval["samples"]["logic"]
    }
    assert asked["logic/2"] == "揀。冇人。\n邊個返咗？\nA. 冇人\nB. 阿明"
    dataset = tasks.run(task="logic").dataset
    assert {each.id: "".join(part.text for part in each.input) for each in dataset} == asked


def test_a_passage_is_converted_with_its_question(logic: Declare) -> None:
    logic("{短文}{question}", {**ROW, "短文": "學習"})
    assert prompt(load_task("logic", script="sc")) == "学习边个返咗？"
    logic("{題材}{question}", {**ROW, "題材": "學習"})
    assert prompt(load_task("logic", script="sc")) == "学习边个返咗？"


def test_a_passage_is_a_part_of_what_is_looked_for_in_training_data(logic: Declare) -> None:
    logic("{passage}\n{question}")
    (sample,) = load_task("logic").samples
    assert sample.text == "全部人都返咗。\n邊個返咗？\n冇人\n阿明"


def test_braces_can_be_meant_and_are_never_looked_up_twice(logic: Declare) -> None:
    logic('{passage} \\boxed{{A}} { } {"x": 1}', {**ROW, "passage": "{question} {{x}}"})
    assert prompt(load_task("logic")) == '{question} {{x}} \\boxed{A} { } {"x": 1}'


def test_a_row_without_the_column_is_named(logic: Declare) -> None:
    bare = {key: cell for key, cell in ROW.items() if key != "passage"}
    logic("{passage}\n{question}", ROW, bare)
    with pytest.raises(DataCorrupt, match=r"row 2 has no column 'passage'.* as \{passage\}"):
        load_task("logic")
    logic("{passage}\n{question}", {**ROW, "passage": ["一", "二"]})
    with pytest.raises(DataCorrupt, match=r"row 1 has no text in 'passage'"):
        load_task("logic")


# ---------------------------------------------------------------------- unfilled placeholders


@pytest.mark.parametrize(
    ("question", "more", "says"),
    [
        ("{pasage}{question}", OPTIONS, r"\{pasage\}.* \{question\}.*Did you mean \{passage\}"),
        ("{stem.__class__}{pasage}", OPTIONS, r"\{pasage\}"),
        ("{answer}", OPTIONS, r"\{answer\}.*reads the column 'answer'"),
        ("{a}", OPTIONS, r"\{a\}.*reads the column 'a'"),
        ("{number}", OPTIONS, r"\{number\}"),
        ("{sentence}", OPTIONS, r"\{sentence\}"),
        (
            "{story}",
            f'{OPTIONS}\ncolumns = {{ story = "pasage" }}',
            r"\{story\}.*No column is called pasage, as declared",
        ),
    ],
)
def test_a_place_that_nothing_fills_is_an_error(
    logic: Declare, question: str, more: str, says: str
) -> None:
    logic(question, more=more)
    with pytest.raises(
        CatalogueError, match=rf"\[prompts.plain\] has the placeholder {says}"
    ) as error:
        load_task("logic")
    assert "passage, question, a, b, answer" in str(error.value)
    shown = CliRunner().invoke(app, ["show", "logic"])
    assert shown.exit_code == 1
    assert "[prompts.plain]" in shown.output


def test_places_of_worked_examples_are_looked_at_before_a_run(logic: Declare) -> None:
    logic("{question}", texts='example = "{nothing}"')
    with pytest.raises(CatalogueError, match=r"\{nothing\}"):
        load_task("logic")


def test_an_option_column_of_another_name_is_not_shown_by_it(logic: Declare) -> None:
    row = {"question": "?", "optionA": "一", "optionB": "二", "answer": "A"}
    logic("{optionA}", row)
    with pytest.raises(CatalogueError, match="reads the column 'optiona'"):
        load_task("logic", shuffle_choices=1)


def test_a_declared_column_that_no_template_shows_is_an_error(logic: Declare) -> None:
    logic("{question}", more=f'{OPTIONS}\ncolumns = {{ story = "passage" }}')
    with pytest.raises(
        CatalogueError, match=r"column for 'story'.* no prompt has a placeholder \{story"
    ):
        load_task("logic")


# ---------------------------------------------------------------------- hidden columns


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "hkcanto"]


@pytest.mark.parametrize(
    "column", ["passage", "Context", "背景資料", "Reading_Passage", "article1"]
)
def test_context_that_the_prompt_lacks_is_said(
    logic: Declare, caplog: pytest.LogCaptureFixture, column: str
) -> None:
    row = {key: cell for key, cell in ROW.items() if key != "passage"}
    logic("{question}\n{options}", {**row, column: "全部人都返咗。"})
    with caplog.at_level(logging.WARNING, "hkcanto"):
        for _ in range(2):
            assert load_task("logic").unshown == [column.lower()]
    (said,) = warnings(caplog)
    assert f"{{{column.lower()}}}" in said
    for command in (["show", "logic"], ["doctor", "logic"]):
        output = " ".join(CliRunner().invoke(app, command).output.split())
        assert "lacks columns that look like context" in output
        assert f"{{{column.lower()}}}" in output


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("context", []),
        ("passage_id", "p7"),
        ("context", ""),
        ("background_colour", "red"),
        ("source", "書"),
    ],
)
def test_other_columns_are_not_context(
    logic: Declare, caplog: pytest.LogCaptureFixture, column: str, cell: object
) -> None:
    row = {key: text for key, text in ROW.items() if key != "passage"}
    logic("{question}\n{options}", {**row, column: cell})
    with caplog.at_level(logging.WARNING, "hkcanto"):
        assert load_task("logic").unshown == []
    assert warnings(caplog) == []


def test_a_column_called_as_a_place_of_worked_examples_is_no_place_of_a_prompt(
    logic: Declare,
) -> None:
    rows = [{"text": "一。"}, {"text": "二。", "answer": "x", "reasoning": "y"}]
    logic("{source}", *rows, kind="summarization", more="")
    assert [sample.cells for sample in load_task("logic").samples] == [{}, {}]
    declared = 'columns = { answer = "answer" }'
    logic("{source}", *rows, kind="summarization", more=declared)
    with pytest.raises(CatalogueError, match="column for 'answer'"):
        load_task("logic")


def test_context_in_paragraphs_is_said(logic: Declare) -> None:
    logic("{question}\n{options}", {**ROW, "passage": ["一段", "兩段"]})
    assert load_task("logic").unshown == ["passage"]


def test_what_a_kind_reads_is_shown(logic: Declare) -> None:
    logic("{source}", {"text": "好正。", "sentiment": "Positive"}, kind="label", more=LABELS)
    assert load_task("logic").unshown == []


@pytest.mark.realdata
def test_our_own_benchmarks_show_all_of_their_context(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("HKCANTO_DATA", raising=False)
    monkeypatch.delenv("HKCANTO_BENCHMARKS", raising=False)
    ours = [each.name for each in named_tasks().values() if each.scope == "task"]
    bases = [name for name in ours if not find_task(name).variant.suffix]
    assert len(bases) > 15
    assert {name: load_task(name).unshown for name in bases if load_task(name).unshown} == {}


# ---------------------------------------------------------------------- permitted declarations


def test_a_path_takes_the_subject_and_nothing_more(logic: Declare, tmp_path: Path) -> None:
    for bad in ("{stem.__class__}.json", "{stem!r}.json", "{x}.json", "{{stem}}.json", "{.json"):
        logic("{question}")
        path = tmp_path / "benchmark.toml"
        text = path.read_text("utf-8").replace('test = "test.json"', f'test = "{bad}"')
        path.write_text(text, encoding="utf-8")
        with pytest.raises(CatalogueError, match="in a path; the only placeholder in paths is"):
            read_benchmark(path)


def test_a_type_that_never_ends_is_an_error_in_time(logic: Declare) -> None:
    row = {**ROW, "question": "a" * 5000 + "！"}
    logic("{question}", row, more=f'{OPTIONS}\ntypes = {{ endless = "(a|a)*$", other = "b" }}')
    begun = time.perf_counter()
    with pytest.raises(CatalogueError, match=r"'logic', type 'endless'.*\(a\|a\).* question 1"):
        load_task("logic")
    assert time.perf_counter() - begun < 60


def test_a_type_that_is_not_an_expression_is_an_error(logic: Declare) -> None:
    logic("{question}", more=f'{OPTIONS}\ntypes = {{ broken = "(a" }}')
    with pytest.raises(CatalogueError, match=r"type 'broken': the regular expression '\(a' is not"):
        load_task("logic")


@pytest.mark.parametrize(
    ("table", "key", "says"),
    [
        ('[hub]\nrepo_id = "a/b"', 'revison = "v1"', r"`revison`.*\$.hub.*did you mean `revision`"),
        ("[data]", 'pth = "x"', r"`pth`.*did you mean `path`"),
        ("[data]", 'commit = "x"', r"`commit`.*there are path"),
        (
            '[github]\nrepository = "a/b"\ncommit = "c"',
            'perfix = "x"',
            r"`perfix`.*did you mean `prefix`",
        ),
        ("[data]\n[prompts.b]", 'qestion = "x"', r"`qestion`.*did you mean `question`"),
        ("[data]\n[reasoning]", 'repo = "x"', r"`repo`.*did you mean `repo_id`"),
    ],
)
def test_an_unknown_key_is_refused_with_what_it_may_mean(
    logic: Declare, tmp_path: Path, table: str, key: str, says: str
) -> None:
    logic("{question}")
    path = tmp_path / "benchmark.toml"
    text = path.read_text("utf-8").replace("[data]", f"{table}\n{key}")
    path.write_text(text, encoding="utf-8")
    output = CliRunner().invoke(app, ["show", "logic"])
    assert output.exit_code == 1
    assert re.search(says, " ".join(output.output.split()))
    with pytest.raises(CatalogueError, match=says):
        read_benchmark(path)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ('sentences = { yeu = "x" }', "a sentence for prompt 'yeu'; it has \\['paper'\\]"),
        ('types = { a = "x" }\ncoarse = { all = ["a", "b"] }', "the type 'b' in 'all'"),
        ('subjects = [{ name = "", stm = "x" }]', "did you mean `stem`"),
        ('variants = [{ suffx = "x" }]', "did you mean `suffix`"),
    ],
)
def test_names_in_a_task_that_lead_nowhere_are_refused(
    logic: Declare, tmp_path: Path, more: str, says: str
) -> None:
    logic("{question}", more=more)
    with pytest.raises(CatalogueError, match=says):
        read_benchmark(tmp_path / "benchmark.toml")


def test_files_of_an_unknown_split_are_refused(logic: Declare, tmp_path: Path) -> None:
    logic("{question}")
    path = tmp_path / "benchmark.toml"
    path.write_text(path.read_text("utf-8").replace("dev =", "dve ="), encoding="utf-8")
    with pytest.raises(CatalogueError, match="a split 'dve'; there are test, dev and val"):
        read_benchmark(path)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("HKCANTO_DATADIR", "HKCANTO_DATA_DIR"),
        ("HKCANTO_REVISION_HKMLU", "HKCANTO_REVISION_HKMMLU"),
    ],
)
def test_a_misspelt_variable_is_said(
    logic: Declare,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    name: str,
    meant: str,
) -> None:
    logic("{passage}{question}")
    locating._warn_of_unknown.cache_clear()
    monkeypatch.setenv(name, "x")
    with caplog.at_level(logging.WARNING, "hkcanto"):
        load_task("logic")
        load_task("logic")
    assert warnings(caplog) == [f"{name} is set, but nothing reads it. Did you mean {meant}?"]
