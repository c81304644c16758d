"""The kind `multi_answer` in both harnesses: rows with several right options."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log
from typer.testing import CliRunner

from hkcanto import tasks
from hkcanto_metrics.choice import ChoiceSetReading
from hkcanto_tasks import catalogue, fingerprints, load_task, read_runs
from hkcanto_tasks.cli import app
from hkcanto_tasks.errors import CatalogueError, DataCorrupt, OptionError
from hkcanto_tasks.kinds import multi_answer

from .lm_eval.evaluating import evaluate, table
from .reports.harness_runs import (
    AnsweringLM,
    answering_model,
    figures_alike,
    run_inspect,
    run_lm_eval,
)

DECLARED = """
name = "all"
title = "All that apply"
[data]
[prompts.plain]
system = "{all_that_apply}\\n"
question = "{question}\\n{options}\\n答案："
example_separator = "\\n\\n"
stop = ["\\n\\n題目："]
scaffold = "最後一行寫「答案：」。"
[[tasks]]
name = "all"
title = "All that apply"
kind = "multi_answer"
files = { test = "test.json", dev = "test.json" }
MORE
"""
ROWS = [
    {"question": "邊啲係離島？", "choices": ["旺角", "長洲", "坪洲", "沙田"], "answer": "BC"},
    {"question": "邊啲係水果？", "choices": ["橙", "薯仔", "梨"], "answer": "A, C"},
    {"question": "邊啲係雙數？", "choices": ["二", "三", "四", "六"], "answer": ["A", "C", "D"]},
    {"question": "邊啲識飛？", "choices": ["麻雀", "企鵝", "鴕鳥", "烏鴉"], "answer": "A、D"},
    {"question": "邊啲係星期？", "choices": ["二", "三", "九"], "answer": "A and B"},
    {"question": "邊啲係貓科？", "choices": ["獅子", "狼", "馬", "老虎"], "answer": "D"},
]
EXACT, F1, UNPARSED = "exact_match", "f1", "unparsed_rate"
# A word of the question → an answer, the letters read, exact match and F1 by hand.
ANSWERS = {
    "離島": ("答案係B同C。", "BC", 1, 1),
    "水果": ("<think>橙、梨？</think>A\nB\nC", "ABC", 0, 2 * 2 / (3 + 2)),
    "雙數": ("A啱，B唔啱，C啱。", "AC", 0, 2 * 2 / (2 + 3)),
    "識飛": ("我唔知。", "", 0, 0),
    "星期": ("除咗C都啱。", "AB", 1, 1),
    "貓科": ("B、C", "BC", 0, 0),
}
FIGURES = {EXACT: 2 / 6, F1: (1 + 0.8 + 0.8 + 0 + 1 + 0) / 6, UNPARSED: 1 / 6}

Declare = Callable[..., Path]


def answer(prompt: str) -> str:
    last = prompt.rpartition("邊啲")[2]
    (found,) = [each for word, (each, *_) in ANSWERS.items() if word in last]
    return found


@pytest.fixture
def everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Declare:
    """Return a function that declares the task `all` with some rows."""
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path / "all"))

    def declare(more: str = "", *rows: dict[str, Any]) -> Path:
        catalogue._catalogue.cache_clear()
        folder = tmp_path / "all"
        folder.mkdir(exist_ok=True)
        (folder / "benchmark.toml").write_text(DECLARED.replace("MORE", more), "utf-8")
        content = json.dumps(rows or ROWS, ensure_ascii=False)
        (folder / "test.json").write_text(content, "utf-8")
        return folder

    return declare


@pytest.fixture
def logs(everything: Declare, tmp_path: Path) -> Path:
    """The logs of both harnesses with the answers above."""
    everything()
    run_lm_eval(tmp_path / "logs", "all", model=AnsweringLM(answer))
    run_inspect(tmp_path / "logs", tasks.run(task="all"), answering_model(answer))
    return tmp_path / "logs"


# ---------------------------------------------------------------------- in the harnesses


def test_lm_eval_has_the_figures_made_by_hand(everything: Declare) -> None:
    everything()
    results = evaluate("all", model=AnsweringLM(answer))
    assert {name: results["results"]["all"][f"{name},none"] for name in FIGURES} == pytest.approx(
        FIGURES, abs=1e-12
    )
    shown = {row.metric: row.value for row in table(results) if row.task == "all"}
    assert {name: float(shown[name]) for name in FIGURES} == pytest.approx(FIGURES, abs=5e-5)


def test_both_harnesses_ask_and_judge_alike(logs: Path) -> None:
    assert figures_alike(logs) == pytest.approx(FIGURES, abs=1e-12)
    (file,) = logs.rglob("*.eval")
    for sample in read_eval_log(str(file)).samples:
        asked = "".join(message.text for message in sample.input)
        assert asked.startswith("正確選項可能多過一個，請揀晒所有啱嘅選項。\n邊啲")
        judgement = sample.scores["judged"].metadata["judgement"]
        (expected,) = [each for word, each in ANSWERS.items() if word in asked]
        assert judgement.get("answer", "") == expected[1]
        assert judgement["values"][EXACT] == expected[2]
        assert judgement["values"][F1] == pytest.approx(expected[3])


def test_reports_and_comparisons_have_its_figures(logs: Path) -> None:
    runs = read_runs([logs])
    assert sorted(run.harness for run in runs) == ["inspect", "lm-eval"]
    for run in runs:
        assert run.is_of_harness
        assert {name: run.value(name).value for name in FIGURES} == pytest.approx(FIGURES)
    printed = CliRunner().invoke(app, ["report", str(logs), "--format", "md"])
    assert printed.exit_code == 0, printed.output
    assert "Exact match" in printed.output
    files = [str(each) for pattern in ("*.eval", "results_*") for each in logs.rglob(pattern)]
    compared = CliRunner().invoke(app, ["compare", *files, "--format", "md"])
    assert "exact_match" in compared.output.lower().replace(" ", "_"), compared.output


@pytest.mark.parametrize("multiturn", [False, True])
def test_worked_examples_show_all_letters_in_both_harnesses(
    everything: Declare, tmp_path: Path, multiturn: bool
) -> None:
    everything("examples_from_test = 2")
    loaded = load_task("all", shots=2)
    (asked,) = [loaded.prompt(each).text() for each in loaded.samples if "貓科" in each.question]
    assert asked == (
        "正確選項可能多過一個，請揀晒所有啱嘅選項。\n"
        "邊啲係離島？\nA. 旺角\nB. 長洲\nC. 坪洲\nD. 沙田\n答案：BC\n\n"
        "邊啲係水果？\nA. 橙\nB. 薯仔\nC. 梨\n答案：AC\n\n"
        "邊啲係貓科？\nA. 獅子\nB. 狼\nC. 馬\nD. 老虎\n答案："
    )
    options = {"shots": 2, "multiturn": multiturn}
    file = run_lm_eval(tmp_path / "runs", "all", model=AnsweringLM(answer), metadata=options)
    run_inspect(tmp_path / "runs", tasks.run(task="all", **options), answering_model(answer))
    one, other = read_runs([tmp_path / "runs"])
    assert file.exists()
    assert one.signature == other.signature
    assert one.value(F1).value == other.value(F1).value == pytest.approx((0.8 + 0 + 1 + 0) / 4)


# ---------------------------------------------------------------------- reading rows

OPTIONS = {"question": "邊啲係離島？", "choices": ["旺角", "長洲", "坪洲"]}


@pytest.mark.parametrize(
    ("cell", "more"),
    [
        ("BC", ""),
        ("B,C", ""),
        ("b、c", ""),
        ("B and C", ""),
        ("(B)(C)", ""),
        ("B. 長洲; C. 坪洲", ""),
        (["C", "B"], ""),
        ('["B", "C"]', ""),
        ([1, 2], 'answer = "index"'),
        ("1,2", 'answer = "index"'),
        ([2, 3], 'answer = "number"'),
        ("2;3", 'answer = "number"'),
        (["長洲", "坪洲"], ""),
        ("長洲；坪洲", ""),
        ("長洲|坪洲", 'answer = "text"'),
        ([0, 1, 1], 'answer = "one_hot"'),
        ("[0, 1, 1]", 'answer = "one_hot"'),
        ("both", 'answers = { both = "BC" }'),
        (["y", "z"], 'answers = { y = "B", z = "C" }'),
    ],
)
def test_a_cell_names_several_options(everything: Declare, cell: Any, more: str) -> None:
    everything(more, {**OPTIONS, "answer": cell})
    (sample,) = load_task("all").samples
    assert (sample.choices, sample.target) == (("旺角", "長洲", "坪洲", None), "BC")


def test_marks_beside_their_options_as_in_truthfulqa(everything: Declare) -> None:
    row = {
        "question": "邊個講得啱？",
        "mc1_targets": {"choices": ["一", "二"], "labels": [1, 0]},
        "mc2_targets": {"choices": ["一", "二", "三"], "labels": [1, 0, 1]},
    }
    everything(
        'columns = { options = "mc2_targets", answer = "mc2_targets" }\nanswer = "one_hot"', row
    )
    (sample,) = load_task("all").samples
    assert (sample.choices[:3], sample.target) == (("一", "二", "三"), "AC")


@pytest.mark.parametrize(
    ("cell", "more", "says"),
    [
        ("BD", "", "an answer that is none of its options A, B, C"),
        ([], "", "no answer in a column answer"),
        ("", "", "no answer in a column answer"),
        (["B", None], "", "entries that are not texts in the list of the column 'answer'"),
        (["B", {"x": 1}], "", "entries that are not texts"),
        ([0, 0, 0], 'answer = "one_hot"', "no option that the column 'answer' marks right"),
        ([0, 1], 'answer = "one_hot"', "2 marks in the column 'answer' for 3 options"),
        ("長洲；南丫島", "", "an answer that is none of its options"),
        ("B. 長洲，C. 坪洲", "", "whose letter is followed by a text other than the option"),
        ("some", 'answers = { both = "BC" }', "not among `answers`: both"),
    ],
)
def test_a_row_that_names_no_options_is_an_error(
    everything: Declare, cell: Any, more: str, says: str
) -> None:
    everything(more, {**OPTIONS, "answer": cell})
    done = CliRunner().invoke(app, ["show", "all"])
    assert done.exit_code == 1
    output = " ".join(done.output.split())
    assert "test.json, row 1 has" in output
    assert says in output


def test_numbers_that_may_be_from_0_or_1_are_not_guessed(everything: Declare) -> None:
    everything("", {**OPTIONS, "answer": [1, 2]})
    with pytest.raises(DataCorrupt, match='declare in the entry which it is: answer = "index"'):
        load_task("all")


def test_several_right_options_are_refused_where_one_is_asked_for(everything: Declare) -> None:
    folder = everything('answers = { both = "BC" }', {**OPTIONS, "answer": "both"})
    file = folder / "benchmark.toml"
    file.write_text(
        file.read_text("utf-8")
        .replace('"multi_answer"', '"multiple_choice"')
        .replace("{all_that_apply}", ""),
        "utf-8",
    )
    catalogue._catalogue.cache_clear()
    with pytest.raises(DataCorrupt, match='2 right options: declare kind = "multi_answer"'):
        load_task("all")


def test_right_options_that_always_come_first_are_said(everything: Declare) -> None:
    """As in TruthfulQA, where each row has the true options before the false ones."""
    rows = [
        {**OPTIONS, "question": f"第{n}條？", "answer": "AB" if n % 2 else "A"} for n in range(12)
    ]
    everything("", *rows)
    said = "the right options come before the others in every row"
    assert load_task("all").remark == f" ({said})"
    assert said in " ".join(CliRunner().invoke(app, ["show", "all"]).output.split())
    everything("shuffle_options = 3", *rows)
    loaded = load_task("all")
    assert loaded.remark == ""
    for each in loaded.samples:
        right = {each.choices["ABC".index(letter)] for letter in each.target}
        assert right in ({"旺角"}, {"旺角", "長洲"})


# ---------------------------------------------------------------------- refusals and signatures


def test_a_letter_alone_is_not_all_that_apply(everything: Declare) -> None:
    everything('variants = [{ suffix = "mc", scoring = "loglikelihood" }]')
    with pytest.raises(CatalogueError, match=r"'all' has a variant 'mc' by log-likelihood"):
        catalogue.find_task("all")


def test_a_second_look_for_one_letter_is_refused(everything: Declare) -> None:
    everything()
    with pytest.raises(OptionError, match="multiple choice with one right option"):
        tasks.run(task="all", reread=True)


@pytest.mark.parametrize(
    ("language", "says"),
    [("yue", "揀晒所有啱嘅"), ("zh", "選出所有正確的"), ("en", "Choose all that apply")],
)
def test_the_sentence_is_in_the_language_of_the_task(
    everything: Declare, language: str, says: str
) -> None:
    everything(f'language = "{language}"')
    loaded = load_task("all")
    assert says in loaded.prompt(loaded.samples[0]).text()
    simplified = load_task("all", script="sc")
    assert ("选项" in simplified.prompt(simplified.samples[0]).text()) == (language != "en")


def test_how_sets_are_read_is_signed(everything: Declare, monkeypatch: pytest.MonkeyPatch) -> None:
    everything()

    def signed() -> dict[str, str]:
        fingerprints._known.clear()
        parts = load_task("all").signature.split("|")
        return dict(part.split(":", 1) for part in parts if ":" in part)

    before = signed()
    read = multi_answer.read_choice_set

    def without_all(text: str, *args: Any) -> ChoiceSetReading:
        found = read(text, *args)
        return ChoiceSetReading(None, "none") if found.reason == "all" else found

    monkeypatch.setattr(multi_answer, "read_choice_set", without_all)
    after = signed()
    assert before["read"] != after["read"]
    assert before["sent"] == after["sent"]
