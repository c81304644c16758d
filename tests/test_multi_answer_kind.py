"""The kind `multi_answer` in both harnesses: rows with several right options."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log
from typer.testing import CliRunner

import hkcanto_metrics
from hkcanto import tasks
from hkcanto_metrics.choice import ChoiceSetReading
from hkcanto_tasks import catalogue, load_task, read_runs, signing
from hkcanto_tasks.cli import app
from hkcanto_tasks.errors import CatalogueError, DataCorrupt, OptionError
from hkcanto_tasks.results.statistics.estimates import harness_agreement, value_of

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
columns = { options = "choices" }
files = { test = "test.json", dev = "test.json" }
MORE
"""
ROWS = [
    {
        "question": "邊啲係離島？",
        "choices": ["旺角", "長洲", "坪洲", "沙田"],
        "answer": "BC",
    },
    {"question": "邊啲係水果？", "choices": ["橙", "薯仔", "梨"], "answer": "A, C"},
    {
        "question": "邊啲係雙數？",
        "choices": ["二", "三", "四", "六"],
        "answer": ["A", "C", "D"],
    },
    {
        "question": "邊啲識飛？",
        "choices": ["麻雀", "企鵝", "鴕鳥", "烏鴉"],
        "answer": "A、D",
    },
    {"question": "邊啲係星期？", "choices": ["二", "三", "九"], "answer": "A, B"},
    {
        "question": "邊啲係貓科？",
        "choices": ["獅子", "狼", "馬", "老虎"],
        "answer": "D",
    },
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


def test_an_answer_has_room_for_reasoning_and_for_its_prompts_own_limit(
    everything: Declare,
) -> None:
    everything()
    assert load_task("all").kind.max_tokens == 256
    assert load_task("all", reasoning=True).kind.max_tokens == 32_768
    text = DECLARED.replace("[[tasks]]", "tokens = 600\n[[tasks]]")
    (everything() / "benchmark.toml").write_text(text.replace("MORE", ""), "utf-8")
    assert load_task("all").kind.max_tokens == 600


# ---------------------------------------------------------------------- in the harnesses


def test_lm_eval_has_the_figures_made_by_hand(everything: Declare) -> None:
    everything()
    results = evaluate("all", model=AnsweringLM(answer))
    assert {
        name: results["results"]["all"][f"{name},none"] for name in FIGURES
    } == pytest.approx(FIGURES, abs=1e-12)
    shown = {row.metric: row.value for row in table(results) if row.task == "all"}
    assert {name: float(shown[name]) for name in FIGURES} == pytest.approx(
        FIGURES, abs=5e-5
    )


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
        assert not harness_agreement(run).different
        assert {name: value_of(run, name).value for name in FIGURES} == pytest.approx(
            FIGURES
        )
    printed = CliRunner().invoke(app, ["report", str(logs), "--format", "md"])
    assert printed.exit_code == 0, printed.output
    assert "Exact match" in printed.output
    files = [
        str(each) for pattern in ("*.eval", "results_*") for each in logs.rglob(pattern)
    ]
    compared = CliRunner().invoke(app, ["compare", *files, "--format", "md"])
    assert "exact_match" in compared.output.lower().replace(" ", "_"), compared.output


@pytest.mark.parametrize("multiturn", [False, True])
def test_worked_examples_show_all_letters_in_both_harnesses(
    everything: Declare, tmp_path: Path, multiturn: bool
) -> None:
    everything("examples_from_test = 2")
    loaded = load_task("all", shots=2)
    (asked,) = [
        loaded.prompt(each).text() for each in loaded.samples if "貓科" in each.question
    ]
    assert asked == (
        "正確選項可能多過一個，請揀晒所有啱嘅選項。\n"
        "邊啲係離島？\nA. 旺角\nB. 長洲\nC. 坪洲\nD. 沙田\n答案：BC\n\n"
        "邊啲係水果？\nA. 橙\nB. 薯仔\nC. 梨\n答案：AC\n\n"
        "邊啲係貓科？\nA. 獅子\nB. 狼\nC. 馬\nD. 老虎\n答案："
    )
    options = {"shots": 2, "multiturn": multiturn}
    file = run_lm_eval(
        tmp_path / "runs", "all", model=AnsweringLM(answer), metadata=options
    )
    run_inspect(
        tmp_path / "runs", tasks.run(task="all", **options), answering_model(answer)
    )
    one, other = read_runs([tmp_path / "runs"])
    assert file.exists()
    assert one.signature == other.signature
    assert (
        value_of(one, F1).value
        == value_of(other, F1).value
        == pytest.approx((0.8 + 0 + 1 + 0) / 4)
    )


# ---------------------------------------------------------------------- reading rows

OPTIONS = {"question": "邊啲係離島？", "choices": ["旺角", "長洲", "坪洲"]}


def test_several_options_are_named_as_declared(everything: Declare) -> None:
    for cell, more in (
        ("BC", ""),
        ([1, 2], 'answer = "index"'),
        ("長洲；坪洲", 'answer = "text"'),
        ("both", 'answers = { both = "BC" }'),
    ):
        everything(more, {**OPTIONS, "answer": cell})
        (sample,) = load_task("all").samples
        assert (sample.choices, sample.target) == (
            ("旺角", "長洲", "坪洲", None),
            "BC",
        ), cell


def test_several_right_options_are_refused_where_one_is_asked_for(
    everything: Declare,
) -> None:
    folder = everything('answers = { both = "BC" }', {**OPTIONS, "answer": "both"})
    file = folder / "benchmark.toml"
    file.write_text(
        file.read_text("utf-8")
        .replace('"multi_answer"', '"multiple_choice"')
        .replace("{all_that_apply}", ""),
        "utf-8",
    )
    catalogue._catalogue.cache_clear()
    with pytest.raises(
        DataCorrupt, match='several right options: declare kind = "multi_answer"'
    ):
        load_task("all")


def test_right_options_that_always_come_first_are_said(everything: Declare) -> None:
    """As in TruthfulQA, where each row has the true options before the false ones."""
    rows = [
        {**OPTIONS, "question": f"第{n}條？", "answer": "AB" if n % 2 else "A"}
        for n in range(12)
    ]
    everything("", *rows)
    said = "the right options come before the others in every row"
    assert load_task("all").remark == f" ({said})"
    everything("shuffle_options = 3", *rows)
    loaded = load_task("all")
    assert loaded.remark == ""
    for each in loaded.samples:
        right = {each.choices["ABC".index(letter)] for letter in each.target}
        assert right in ({"旺角"}, {"旺角", "長洲"})


# ---------------------------------------------------------------------- refusals and signatures


def test_a_letter_alone_is_not_all_that_apply(everything: Declare) -> None:
    everything('variants = [{ suffix = "mc", scoring = "loglikelihood" }]')
    with pytest.raises(CatalogueError, match=r"'all' has a variant 'mc' with scoring"):
        catalogue.find_task("all")


def test_a_second_look_for_one_letter_is_refused(everything: Declare) -> None:
    everything()
    with pytest.raises(OptionError, match="multiple choice with one right option"):
        tasks.run(task="all", reread=True)


def test_the_sentence_is_in_the_language_of_the_task(everything: Declare) -> None:
    for language, says in (
        ("yue", "揀晒所有啱嘅"),
        ("zh", "選出所有正確的"),
        ("en", "Choose all that apply"),
    ):
        everything(f'language = "{language}"')
        loaded = load_task("all")
        assert says in loaded.prompt(loaded.samples[0]).text()
        simplified = load_task("all", script="sc")
        assert ("选项" in simplified.prompt(simplified.samples[0]).text()) == (
            language != "en"
        )


def test_how_sets_are_read_is_signed(
    everything: Declare, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything()

    def signed() -> dict[str, str]:
        signing._fingerprints.clear()
        parts = load_task("all").signature.split("|")
        return dict(part.split(":", 1) for part in parts if ":" in part)

    before = signed()
    read = hkcanto_metrics.read_choice_set

    def without_all(text: str, *args: Any) -> ChoiceSetReading:
        found = read(text, *args)
        return ChoiceSetReading(None, "none") if found.reason == "all" else found

    monkeypatch.setattr(hkcanto_metrics, "read_choice_set", without_all)
    after = signed()
    assert before["read"] != after["read"]
    assert before["sent"] == after["sent"]
