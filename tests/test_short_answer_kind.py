"""The kind `short_answer` in both harnesses: a cloze test."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hkcanto import tasks
from hkcanto_tasks import load_task, read_runs, signing
from hkcanto_tasks.cli import app
from hkcanto_tasks.errors import CatalogueError, DataCorrupt
from hkcanto_tasks.results.statistics.estimates import value_of
from hkcanto_tasks.tasks import task_as_run

from .answering import by_word
from .reports.harness_runs import (
    AnsweringLM,
    answering_model,
    figures_alike,
    run_inspect,
    run_lm_eval,
)

DECLARED = """
name = "cloze"
title = "Cloze"
[data]
[prompts.plain]
system = "填返個空格。\\n\\n"
question = "{question}\\n答案："
example_separator = "\\n\\n"
[[tasks]]
name = "cloze"
title = "Cloze"
kind = "short_answer"
files = { test = "test.json", dev = "dev.json" }
columns = { answer = ["blank", "answer"] }
"""
# Question, accepted answers, answer. Figures by hand: F1 = 2 · shared / (all tokens).
ROWS: tuple[tuple[str, Any, str, float, float], ...] = (
    ("由＿＿搭船去中環。", "尖沙咀", "<think>佐敦？</think>答案：「尖沙咀」。", 1, 1),
    ("坐＿＿上山頂。", ["纜車", "peak tram"], "The Peak Tram", 1, 1),
    ("一個星期有＿＿日。", '["7", "七"]', "七日", 0, 2 / 3),
    ("金＿＿站有得轉車。", "鐘", "钟", 0, 0),
    ("＿＿係香港最高嘅山。", "大帽山", "唔係獅子山，係大帽山。", 0, 2 * 3 / (9 + 3)),
    ("叮叮即係＿＿。", "電車", "", 0, 0),
)
FIGURES = {
    "exact_match": 2 / 6,
    "f1": (1 + 1 + 2 / 3 + 1 / 2) / 6,
    "empty": 1 / 6,
}

Declare = Callable[..., Path]


@pytest.fixture
def declare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Declare:
    """Return a function that declares the task `cloze`, with more fields or other answers."""

    def declare(more: str = "", answers: Any = None) -> Path:
        home = tmp_path / f"cloze{len([*tmp_path.iterdir()])}"
        home.mkdir()
        (home / "benchmark.toml").write_text(DECLARED + more, "utf-8")
        test = [{"question": row[0], "blank": row[1]} for row in ROWS]
        if answers is not None:
            test = [{"question": "＿＿？", "blank": answers}]
        dev = [{"question": "＿＿係花都。", "blank": ["巴黎", "Paris"]}]
        (home / "test.json").write_text(json.dumps(test), "utf-8")
        (home / "dev.json").write_text(json.dumps(dev), "utf-8")
        monkeypatch.setenv("HKCANTO_BENCHMARKS", str(home))
        return home

    return declare


answer = by_word((row[0], row[2]) for row in ROWS)


def test_both_harnesses_ask_and_judge_alike(declare: Declare, tmp_path: Path) -> None:
    declare()
    run_lm_eval(tmp_path / "logs", "cloze", model=AnsweringLM(answer))
    run_inspect(tmp_path / "logs", tasks.run(task="cloze"), answering_model(answer))
    assert figures_alike(tmp_path / "logs") == pytest.approx(FIGURES, abs=1e-12)


def test_a_report_has_the_harnesses_figures(declare: Declare, tmp_path: Path) -> None:
    declare()
    run_lm_eval(tmp_path / "logs", "cloze", model=AnsweringLM(answer))
    run_inspect(tmp_path / "logs", tasks.run(task="cloze"), answering_model(answer))
    runs = read_runs([tmp_path / "logs"])
    assert len(runs) == 2
    for run in runs:
        assert {name: value_of(run, name).value for name in FIGURES} == pytest.approx(
            FIGURES
        )
    printed = CliRunner().invoke(
        app, ["report", str(tmp_path / "logs"), "--format", "md"]
    )
    assert printed.exit_code == 0, printed.output
    assert "Exact match" in printed.output


def test_an_answer_is_scored_by_hand(declare: Declare) -> None:
    declare()
    loaded = load_task("cloze")
    samples = {sample.question: sample for sample in loaded.samples}
    for question, _, said, *scores in ROWS:
        values = loaded.kind.judge(said, samples[question]).values
        assert [values["exact_match"], values["f1"]] == pytest.approx(scores), question
        assert values["empty"] == (said == ""), question


def test_a_worked_example_answers_with_the_first_accepted_answer(
    declare: Declare,
) -> None:
    declare()
    loaded = load_task("cloze", shots=1)
    prompt = loaded.prompt(loaded.samples[0]).text()
    assert prompt.startswith("填返個空格。\n\n＿＿係花都。\n答案：巴黎\n\n")


def test_accepted_answers_are_a_text_a_list_or_json(declare: Declare) -> None:
    for answers, accepted in (
        ("七", ["七"]),
        (7, ["7"]),
        (["七", 7, "七"], ["七", "7"]),
        ('["七", 7]', ["七", "7"]),
        ({"text": ["七"], "answer_start": [3]}, ["七"]),  # SQuAD, DRCD, CMRC
        ("[七", ["[七"]),
    ):
        declare(answers=answers)
        (sample,) = load_task("cloze").samples
        assert json.loads(sample.target) == accepted, answers


def test_a_row_without_an_answer_is_named(declare: Declare) -> None:
    for answers, message in (
        ("", "row 1 has no answer, a text or a list of texts"),
        ([], "row 1 has no answer"),
        (
            ["七", "！"],
            "each with a letter or number: expected one in a column blank or answer",
        ),
        (["七", None], "row 1 has no answer"),
        ("['七', '7']", "in brackets that is not a JSON list of texts: write"),
        ({"answer": "七"}, "row 1 has no answer"),
    ):
        declare(answers=answers)
        with pytest.raises(DataCorrupt, match=message):
            load_task("cloze")


def test_scripts_are_folded_only_if_declared(declare: Declare) -> None:
    values = {}
    for more in ("", "fold_scripts = true\n"):
        declare(more)
        loaded = load_task("cloze")
        (sample,) = [each for each in loaded.samples if "金＿＿" in each.question]
        values[more] = loaded.kind.judge("钟", sample).values["exact_match"]
        values[f"read {more}"] = signing.fingerprints(task_as_run("cloze"))[1]
    assert values[""] == 0
    assert values["fold_scripts = true\n"] == 1
    assert values["read "] != values["read fold_scripts = true\n"]


def test_alternatives_in_one_cell_are_each_right_and_not_both_at_once(
    declare: Declare,
) -> None:
    read = {}
    for more in ("", 'alternatives = "/"\n'):
        declare(more, answers="ni1/ nei1")
        loaded = load_task("cloze")
        (sample,) = loaded.samples
        said = ("ni1", "答案：nei1。", "ni1/nei1", "nei", "nei4")
        right = [loaded.kind.judge(each, sample).values["exact_match"] for each in said]
        assert right == ([1, 1, 0, 0, 0] if more else [0, 0, 0, 0, 0]), more
        read[more] = signing.fingerprints(task_as_run("cloze"))[1]
    assert len({*read.values()}) == 2


def test_an_empty_alternative_is_an_error_that_names_the_row(declare: Declare) -> None:
    declare('alternatives = "/"\n', answers="ni1/")
    with pytest.raises(DataCorrupt, match="row 1 has no answer"):
        load_task("cloze")


def test_alternatives_are_of_no_other_kind(declare: Declare) -> None:
    home = declare('alternatives = "/"\n')
    file = home / "benchmark.toml"
    file.write_text(
        file.read_text("utf-8").replace('"short_answer"', '"number"'), "utf-8"
    )
    with pytest.raises(CatalogueError, match="a field 'alternatives'"):
        load_task("cloze")
