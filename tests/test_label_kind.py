"""The kind `label` in both harnesses: labels declared in a `benchmark.toml`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log
from typer.testing import CliRunner

from hkcanto import tasks
from hkcanto_tasks import catalogue, load_task, read_runs, signing
from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.cli import app
from hkcanto_tasks.errors import HKCantoError
from hkcanto_tasks.results.reports.summary import build_report
from hkcanto_tasks.results.statistics.estimates import value_of
from hkcanto_tasks.results.statistics.matching import Resampling, match
from hkcanto_tasks.tasks import task_as_run

from .answering import by_word
from .lm_eval.evaluating import evaluate, table
from .reports.harness_runs import (
    AnsweringLM,
    answering_model,
    figures_alike,
    run_inspect,
    run_lm_eval,
)

DECLARED = """
name = "labels"
title = "Labels"
[data]
[prompts.plain]
system = "前提係咪蘊含假設？答「蘊含」或者「唔蘊含」。\\n\\n"
question = "前提：{premise}\\n假設：{hypothesis}\\n答案："
example_separator = "\\n\\n"
[[tasks]]
name = "nli"
title = "Inference"
kind = "label"
files = { test = "test.jsonl", dev = "dev.jsonl" }
"""
LABELS = (
    'labels = { "蘊含" = { data = "entailment", words = ["entailment"] }, '
    '"唔蘊含" = { data = ["not_entailment", 0], words = ["not_entailment", "不蘊含"] } }\n'
)
# In canto-nlu's layout, written for this test: premise, hypothesis, label, answer.
ROWS = (
    ("阿明飲咗三杯茶。", "阿明飲過嘢。", "entailment", "蘊含"),
    (
        "阿玲琴日去咗大澳。",
        "阿玲去過離島。",
        "entailment",
        "<think>大澳喺邊？</think>entailment",
    ),
    ("隻貓瞓緊覺。", "隻貓好肚餓。", "not_entailment", "唔係蘊含關係。"),
    ("佢搭巴士返工。", "佢有車牌。", 0, "not_entailment"),
    ("今晚落大雨。", "今晚會凍。", "not_entailment", "蘊含"),
    ("間舖執咗。", "間舖以前開過。", "entailment", "我唔肯定。"),
)
# By hand. Right: 4 of 6. 蘊含: P = 2/3, R = 2/3, F1 = 2/3; 唔蘊含: P = 2/2, R = 2/3, F1 = 4/5.
FIGURES = {"acc": 4 / 6, "macro_f1": (2 / 3 + 4 / 5) / 2, "unparsed_rate": 1 / 6}

Declare = Callable[..., Path]


def rows(*of: tuple[str, str, Any, str]) -> str:
    return "".join(
        json.dumps({"id": "x", "premise": one, "hypothesis": two, "label": label})
        + "\n"
        for one, two, label, _ in of
    )


@pytest.fixture
def declare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Declare:
    """Return a function that declares the task `nli`, with other labels, text or rows."""

    def declare(
        labels: str = LABELS, text: str = DECLARED, test: str = rows(*ROWS)
    ) -> Path:
        home = tmp_path / f"labels{len([*tmp_path.iterdir()])}"
        home.mkdir()
        (home / "benchmark.toml").write_text(text + labels, "utf-8")
        (home / "test.jsonl").write_text(test, "utf-8")
        (home / "dev.jsonl").write_text(rows(*ROWS[2:4]), "utf-8")
        monkeypatch.setenv("HKCANTO_BENCHMARKS", str(home))
        return home

    return declare


answer = by_word((premise, each) for premise, _, _, each in ROWS)


def refused() -> str:
    """Why the task cannot be loaded."""
    catalogue._catalogue.cache_clear()
    with pytest.raises(HKCantoError) as raised:
        load_task("nli")
    return str(raised.value)


# ---------------------------------------------------------------------- in the harnesses


def test_both_harnesses_ask_and_judge_alike(declare: Declare, tmp_path: Path) -> None:
    declare()
    run_lm_eval(tmp_path / "logs", "nli", model=AnsweringLM(answer))
    file = run_inspect(
        tmp_path / "logs", tasks.run(task="nli"), answering_model(answer)
    )
    assert figures_alike(tmp_path / "logs") == pytest.approx(FIGURES, abs=1e-12)
    assert (
        "metric_signatures" not in read_eval_log(str(file)).eval.metadata
    )  # only for BLEU etc.
    shown = {
        row.metric: row.value
        for row in table(evaluate("nli", model=AnsweringLM(answer)))
    }
    assert float(shown["macro_f1"]) == pytest.approx(FIGURES["macro_f1"], abs=5e-5)


def test_a_report_has_the_figures_with_intervals(
    declare: Declare, tmp_path: Path
) -> None:
    declare()
    run_lm_eval(tmp_path / "a", "nli", model=AnsweringLM(answer))
    run_inspect(
        tmp_path / "a", tasks.run(task="nli"), answering_model(lambda _: "蘊含")
    )
    first, second = sorted(
        read_runs([tmp_path / "a"]), key=lambda run: run.harness != "lm-eval"
    )
    found = value_of(first, "macro_f1")
    assert found is not None
    assert found.value == pytest.approx(FIGURES["macro_f1"])
    assert found.low < found.value < found.high
    # 蘊含: P = 3/6, R = 1, F1 = 2/3; 唔蘊含 is never read.
    assert value_of(second, "macro_f1").value == pytest.approx((2 / 3 + 0) / 2)
    assert "Translation" not in [
        each.title for each in build_report([first, second]).sections
    ]
    effect = match(first, second, "macro_f1", Resampling(0, 200)).effect()
    assert effect.difference.value == pytest.approx(1 / 3 - FIGURES["macro_f1"])
    printed = CliRunner().invoke(app, ["report", str(tmp_path / "a"), "--format", "md"])
    assert printed.exit_code == 0, printed.output


def test_a_label_that_no_item_has_is_named_beside_macro_f1(
    declare: Declare, tmp_path: Path
) -> None:
    never = LABELS.replace(
        "labels = {", 'labels = { "矛盾" = { data = "contradiction" },'
    )
    declare(never)
    run_lm_eval(tmp_path / "a", "nli", model=AnsweringLM(answer))
    printed = CliRunner().invoke(
        app, ["report", str(tmp_path / "a"), "--format", "json"]
    )
    assert "no item has the label 矛盾, whose F1 counts as 0" in printed.stdout
    found = value_of(read_runs([tmp_path / "a"])[0], "macro_f1")
    # Of three labels, a negated one means neither of the others: 唔蘊含 has P = 1 and R = 1/3.
    assert found.value == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)
    assert found.high > found.value + 1 / 3  # the label's own F1 may be anything


def test_macro_f1_has_no_gate(declare: Declare, tmp_path: Path) -> None:
    declare()
    all_read = by_word(
        (premise, "蘊含" if each == "我唔肯定。" else each)
        for premise, _, _, each in ROWS
    )
    for folder in ("a", "b"):
        run_lm_eval(tmp_path / folder, "nli", model=AnsweringLM(all_read))
    command = [
        "compare",
        str(tmp_path / "a"),
        str(tmp_path / "b"),
        "--metric",
        "macro_f1",
    ]
    said = CliRunner().invoke(app, [*command, "--gate", "5"]).output
    assert "macro_f1 has no bound" in " ".join(said.split())
    assert "passed" not in said


def test_a_headline_of_macro_f1_has_an_error(declare: Declare, tmp_path: Path) -> None:
    declare(LABELS + 'headline = "macro_f1"\n')
    log = read_eval_log(
        str(run_inspect(tmp_path, tasks.run(task="nli"), answering_model(answer)))
    )
    (judged,) = log.results.scores
    names = [*judged.metrics]
    assert names[:2] == ["macro_f1", "macro_f1_stderr"]
    assert judged.metrics["macro_f1"].value == pytest.approx(FIGURES["macro_f1"])
    assert 0 < judged.metrics["macro_f1_stderr"].value < 0.5


def test_a_worked_example_answers_with_the_label_and_not_the_datas_name(
    declare: Declare,
) -> None:
    declare()
    loaded = load_task("nli", shots=2)
    prompt = loaded.prompt(loaded.samples[0]).text()
    assert "假設：隻貓好肚餓。\n答案：唔蘊含\n\n" in prompt
    assert "not_entailment" not in prompt


# ---------------------------------------------------------------------- declaring


def test_a_list_of_labels_is_enough(declare: Declare) -> None:
    declare('labels = ["entailment", "not_entailment"]\n', test=rows(*ROWS[:3]))
    targets = {each.id: each.target for each in load_task("nli").samples}
    assert [*map(targets.get, ("nli/1", "nli/2", "nli/3"))] == [
        "entailment",
        "entailment",
        "not_entailment",
    ]


WRONG = {
    "": 'has no labels: declare them, as in `labels = { Positive = ["正面"]',
    'labels = ["a"]\n': "labels that cannot be distinguished: give two labels or more",
    'labels = ["a", "b", "a"]\n': "names a label twice",
    'labels = { a = ["x"], b = ["x"] }\n': "'x' is a word of two labels",
    'labels = { a = { data = 1 }, b = { data = "1" } }\n': "the data's '1' for both 'a' and 'b'",
    "labels = { a = { date = 1 }, b = [] }\n": "has an unknown key date",
}


def test_wrong_labels_are_an_error_that_names_the_entry(declare: Declare) -> None:
    for labels, message in WRONG.items():
        home = declare(labels)
        said = refused()
        assert message in said, labels
        assert f"{home}/benchmark.toml" in said, labels


def test_a_row_with_another_label_is_named(declare: Declare) -> None:
    declared = "row 1 has a label ('neutral') that is not declared; declared are entailment, not_ent"
    for label, message in (
        ("neutral", declared),
        (True, "a label ('true')"),
        (
            None,
            "row 1 has no label: expected one in a column label, found the columns id, premise",
        ),
        (["entailment"], "row 1 has a list or object in place of a text"),
    ):
        declare(test=rows(("一。", "二。", label, "")))
        assert message in refused(), label


def test_other_kinds_have_no_labels(declare: Declare) -> None:
    declare(text=DECLARED.replace('"label"', '"multiple_choice"'))
    assert "a field 'labels'" in refused()


def test_log_likelihood_of_letters_is_not_for_labels(declare: Declare) -> None:
    declare(LABELS + 'variants = [{ suffix = "mc", scoring = "loglikelihood" }]\n')
    assert "a variant 'mc' with scoring = 'loglikelihood'" in refused()


def test_there_is_room_for_the_longest_label(declare: Declare) -> None:
    declare()
    assert (
        task_as_run("nli").max_tokens
        == task_as_run("hkcanto_sentiment").max_tokens
        == 16
    )
    declare('labels = ["not_entailment", "entailment"]\n')
    assert task_as_run("nli").max_tokens == 28


# ---------------------------------------------------------------------- the signature


def test_other_labels_are_another_reading(declare: Declare) -> None:
    declare()
    _, before = signing.fingerprints(task_as_run("nli"))
    for other in (
        LABELS.replace(', "不蘊含"', ""),
        LABELS.replace("0]", "2]"),
        'labels = ["entailment", "not_entailment"]\n',
    ):
        declare(other)
        assert signing.fingerprints(task_as_run("nli"))[1] != before, other


def test_a_change_in_reading_changes_the_signature(
    declare: Declare, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hkcanto_metrics import labels as reader

    declare()
    _, before = signing.fingerprints(task_as_run("nli"))
    monkeypatch.setattr(signing, "_fingerprints", {})
    monkeypatch.setattr(reader, "_denial", lambda *_: None)
    assert signing.fingerprints(task_as_run("nli"))[1] != before


# ---------------------------------------------------------------------- sentiment


def test_sentiment_is_a_declaration_of_it() -> None:
    declared = find_task("hkcanto_sentiment").definition
    assert declared.kind == "label"
    assert declared.labels == {
        "Positive": ("正面",),
        "Negative": ("負面",),
        "Neutral": ("中性",),
    }


def test_what_wraps_a_label_is_no_part_of_it(declare: Declare) -> None:
    declare()
    loaded = load_task("nli")
    sample = next(item for item in loaded.samples if item.target == "蘊含")
    noted = "譯文：蘊含\n註：唔蘊含"
    assert loaded.kind.judge(noted, sample).values["acc"] == 1
