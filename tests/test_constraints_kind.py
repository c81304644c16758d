"""The kind `constraints` in both harnesses: docs/examples/constraints, and made-up prompts."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hkcanto import tasks
from hkcanto_metrics.constraints import VERIFIERS, Constraint, follows
from hkcanto_metrics.constraints.reading import words_of
from hkcanto_tasks import load_task, read_runs, signing
from hkcanto_tasks.catalogue import SETS, find_task
from hkcanto_tasks.cli import app
from hkcanto_tasks.describing import matching, record
from hkcanto_tasks.errors import DataCorrupt, OptionError
from hkcanto_tasks.kinds import constraints
from hkcanto_tasks.kinds.g2p_engines import find_engine
from hkcanto_tasks.printable import warn_once
from hkcanto_tasks.results.statistics.estimates import harness_agreement, value_of
from hkcanto_tasks.samples import Sample
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

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"
TASK = "constraints_example"
STRICT, LOOSE = "prompt_level_strict_acc", "prompt_level_loose_acc"
POOLED, POOLED_LOOSE = "inst_level_strict_acc", "inst_level_loose_acc"

# A word of the prompt → an answer; the comments count the followed ones of 11 constraints.
ANSWERS = {
    "維修": "<think>四十個字。</think>今晚部𨋢要維修，唔該大家行樓梯喇。",  # 2 of 2
    "大棠": "好呀：\n1. 水\n2. 帽\n3. 相機",  # 1 of 1
    "茶餐廳": '好：\n{"名": "常餐", "價錢": 42}',  # 0 of 1; loosely 1, without the first line
    "上水": "搭東鐵綫去金鐘再轉車，唔好搭的士。仲有冇嘢想知？",  # the second of 2
    "退款": " \n",  # 0 of 3
    "對聯": "春到書香滿\n花開月色新",  # 2 of 2
}
# Prompts: 3 of 6, loosely 4. Constraints: 2 + 1 + 0 + 1 + 0 + 2 = 6 of 11, loosely 7.
FIGURES = {
    STRICT: 3 / 6,
    POOLED: 6 / 11,
    LOOSE: 4 / 6,
    POOLED_LOOSE: 7 / 11,
    "empty": 1 / 6,
}


answer = by_word(ANSWERS.items())


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> None:
    """The benchmark of the example."""
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(EXAMPLES))


@pytest.fixture
def logs(example: None, tmp_path: Path) -> Path:
    """The logs of both harnesses with the answers above."""
    del example
    run_lm_eval(tmp_path / "logs", TASK, model=AnsweringLM(answer))
    run_inspect(tmp_path / "logs", tasks.run(task=TASK), answering_model(answer))
    return tmp_path / "logs"


# ---------------------------------------------------------------------- in the harnesses


@pytest.mark.usefixtures("example")
def test_the_prompt_is_all_that_is_sent() -> None:
    rows = map(
        json.loads, (EXAMPLES / "constraints/prompts.jsonl").open(encoding="utf-8")
    )
    loaded = load_task(TASK)
    sent = {sample.id: loaded.prompt(sample).messages() for sample in loaded.samples}
    assert sent == {
        f"{TASK}/{row['language']}/{row['id']}": [("user", row["prompt"])]
        for row in rows
    }
    assert loaded.kind.stop == ()


@pytest.mark.usefixtures("example")
def test_lm_eval_has_the_figures_made_by_hand() -> None:
    results = evaluate(TASK, model=AnsweringLM(answer))
    assert {
        name: results["results"][TASK][f"{name},none"] for name in FIGURES
    } == pytest.approx(FIGURES, abs=1e-12)
    shown = {row.metric: row.value for row in table(results) if row.task == TASK}
    assert {name: float(shown[name]) for name in FIGURES} == pytest.approx(
        FIGURES, abs=5e-5
    )


def test_both_harnesses_ask_and_judge_alike(logs: Path) -> None:
    assert figures_alike(logs) == pytest.approx(FIGURES, abs=1e-12)


def test_a_judgement_says_which_were_not_followed(logs: Path) -> None:
    (rows,) = logs.rglob("samples_*.jsonl")
    docs = [json.loads(line)["doc"] for line in rows.open(encoding="utf-8")]
    assert {
        doc["id"].rpartition("/")[2]: doc["judgement"]["reason"] for doc in docs
    } == {
        "lift": "all followed",
        "picnic": "all followed",
        "menu": "not followed: 1. json_object (but loosely)",
        "taxi": "not followed: 1. avoids",
        "refund": "none: empty",
        "couplet": "all followed",
    }


def test_figures_agree_with_the_harnesses(logs: Path) -> None:
    runs = read_runs([logs])
    for run in runs:
        assert not harness_agreement(run).different
        assert {name: value_of(run, name).value for name in FIGURES} == pytest.approx(
            FIGURES
        )


def test_two_constraints_of_one_name_are_two() -> None:
    words = [{"name": "uses_all", "args": {"words": [word]}} for word in "水火水"]
    sample = Sample(id="", target=json.dumps(words))
    kind = constraints.Constraints.__new__(constraints.Constraints)
    judged = kind.score("水。", sample)
    assert judged.reason == "not followed: 2. uses_all"


@pytest.mark.usefixtures("example")
def test_answers_written_for_hkcanto_if_follow_all_in_both_harnesses(
    tmp_path: Path,
) -> None:
    def read(path: Path) -> list[dict[str, Any]]:
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]

    prompts = {
        row["prompt"]: row["id"] for row in read(SETS / "hkcanto_if/data/prompts.jsonl")
    }
    written = read(Path(__file__).parent / "metrics/hkcanto_if_answers.jsonl")
    answers = {row["id"]: row["answer"] for row in written}

    def say(prompt: str) -> str:
        return answers[prompts[prompt]]

    run_lm_eval(tmp_path, "hkcanto_if", model=AnsweringLM(say))
    run_inspect(tmp_path, tasks.run(task="hkcanto_if"), answering_model(say))
    runs = read_runs(tmp_path)
    assert sorted(run.harness for run in runs) == ["inspect", "lm-eval"]
    for run in runs:
        assert len(run.items) == 150
        for name in (STRICT, LOOSE, POOLED, POOLED_LOOSE):
            found = value_of(run, name)
            assert found is not None
            assert found.value == 1


@pytest.mark.usefixtures("example")
def test_reasoning_follows_nothing_and_its_language_is_known() -> None:
    loaded = load_task(TASK)
    (picnic,) = [each for each in loaded.samples if "大棠" in each.question]
    cut = loaded.kind.judge(
        "<think>佢哋話要帶三樣嘢，我諗緊寫啲咩好。\n1. 水\n2. 帽\n3. 相機", picnic
    )
    assert (cut.values[POOLED], cut.values[POOLED_LOOSE], cut.reason) == (
        0,
        0,
        "none: cut off",
    )
    assert cut.reasoning is not None
    assert cut.reasoning.language == "cantonese"


@pytest.mark.usefixtures("example")
def test_there_are_no_worked_examples() -> None:
    with pytest.raises(OptionError, match="there are no worked examples"):
        tasks.run(task=TASK, shots=1)


# ---------------------------------------------------------------------- reading rows

DECLARED = """
name = "asked"
title = "Asked"
{release}
[prompts.plain]
question = "{{prompt}}"
[[tasks]]
name = "asked"
title = "Asked"
kind = "constraints"
files = {{ test = "{file}" }}
"""


@pytest.fixture
def asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str], Path]:
    """Return a function that makes a file of prompts the benchmark `asked`."""

    def declare(file: str, content: str) -> Path:
        (tmp_path / "benchmark.toml").write_text(
            DECLARED.format(release="[data]", file=file), "utf-8"
        )
        (tmp_path / file).write_text(content, "utf-8")
        monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))
        return tmp_path / file

    return declare


ROW = '{"prompt": "寫一句。", "constraints": [{"name": "sentences", "args": {"exactly": 1}}]}\n'


def wrong(constraints_: Any) -> str:
    return ROW + json.dumps(
        {"prompt": "寫。", "constraints": constraints_}, ensure_ascii=False
    )


WRONG = {
    wrong([{"name": "sentence"}]): "no constraint is named 'sentence'; give sentences",
    wrong(
        [{"name": "sentences"}]
    ): "no bound is given; it takes exactly, about, or at_least and at_most",
    wrong([{"name": "sentences", "exactly": 1}]): "no. 1 has an unknown key exactly",
    wrong(
        [{"name": "lines", "args": {"at_least": 3, "at_most": 2}}]
    ): "more than at_most 2",
    wrong([{"name": "quoted", "args": {"mark": "「」"}}]): "it takes marks",
    wrong([]): "give a list of one or more",
    wrong("quoted"): "give a list",
    wrong({"name": "quoted"}): "give a list of one or more",
    wrong(None): "give a list of one or more",
    ROW + '{"prompt": "寫。"}': "Correct the row; it has the columns prompt",
}


def test_a_wrong_constraint_is_an_error_that_names_file_row_and_what_fits(
    asked: Callable[[str, str], Path],
) -> None:
    for content, says in WRONG.items():
        file = asked("prompts.jsonl", content)
        with pytest.raises(DataCorrupt) as raised:
            load_task("asked")
        assert f"{file}, row 2" in str(raised.value), content
        assert says in str(raised.value), content


def test_a_row_may_have_an_id_and_a_category(asked: Callable[[str, str], Path]) -> None:
    named = ROW.replace('"prompt"', '"id": "n7", "category": "form", "prompt"')
    asked("rows.jsonl", ROW + named)
    samples = load_task("asked").samples
    assert {(sample.id.rpartition("/")[2], sample.category) for sample in samples} == {
        ("1", ""),
        ("n7", "form"),
    }


def test_a_csv_file_has_them_as_json(asked: Callable[[str, str], Path]) -> None:
    cell = '"[{""name"": ""uses_all"", ""args"": {""words"": [""茶"", ""飯""]}}]"'
    asked("prompts.csv", f"prompt,constraints\n食乜好？,{cell}\n")
    (sample,) = load_task("asked").samples
    assert json.loads(sample.target) == [
        {"name": "uses_all", "args": {"words": ["茶", "飯"]}}
    ]
    judged = load_task("asked").kind.judge("飲茶。", sample)
    assert judged.values[STRICT] == 0


def test_a_file_of_ifeval_loads_as_it_is(asked: Callable[[str, str], Path]) -> None:
    row = {
        "key": 1000,
        "prompt": "講兩次茶。",
        "instruction_id_list": ["keywords:frequency"],
    }
    arguments = [{"keyword": "茶", "frequency": 2, "relation": "at least"}]
    asked("prompts.jsonl", json.dumps(row | {"kwargs": arguments}))
    loaded = load_task("asked")
    assert "no prompt shows the columns key:" in loaded.differences[0]
    (sample,) = loaded.samples
    assert json.loads(sample.target) == [
        {"name": "occurrences", "args": {"word": "茶", "at_least": 2}}
    ]
    asked(
        "prompts.jsonl",
        json.dumps(row | {"instruction_id_list": ["a:b"], "kwargs": [{}]}),
    )
    with pytest.raises(
        DataCorrupt, match="row 1: no instruction is named 'a:b'; give keywords"
    ):
        load_task("asked")


def test_rows_of_ifeval_in_an_unknown_language_are_left_out_with_a_count(
    asked: Callable[[str, str], Path],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked_in = ["language:response_language"]
    rows = [
        {"prompt": "寫。", "instruction_id_list": asked_in, "kwargs": [{"language": language}]}
        for language in ("en", "xx", "de", "xx")
    ]  # fmt: skip
    asked("prompts.jsonl", "\n".join(map(json.dumps, rows)))
    warn_once.cache_clear()
    loaded = load_task("asked")
    says = "2 rows are left out, which cannot be scored: the language 'xx' (2)"
    assert len(loaded.samples) == 2  # English, and German by py3langid
    assert loaded.differences[0] == says
    assert says in caplog.text
    assert loaded.revision.endswith("-2rows")
    monkeypatch.setattr(
        constraints, "find_spec", lambda name: name != "py3langid" or None
    )
    loaded = load_task("asked")
    says = (
        "3 rows are left out, which cannot be scored: the language 'xx' (2), "
        "the language 'de' (pip install 'hkcanto[languages]') (1)"
    )
    assert len(loaded.samples) == 1
    assert loaded.differences[0] == says
    assert loaded.revision.endswith("-3rows")


def test_a_wrong_constraint_in_a_release_is_not_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One unreadable row in 200 is accepted, but no wrong constraint is."""
    (tmp_path / "own").mkdir()
    hub = '[hub]\nrepo_id = "someone/asked"'
    declared = DECLARED.format(release=hub, file="test.jsonl")
    (tmp_path / "own" / "benchmark.toml").write_text(declared, "utf-8")
    (tmp_path / "asked").mkdir()
    rows = [ROW.replace("一句", f"第{n}句") for n in range(199)]
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path / "own"))
    monkeypatch.delenv("HKCANTO_DATA", raising=False)
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path))
    file = tmp_path / "asked" / "test.jsonl"
    file.write_text("".join([*rows, "no JSON\n"]), "utf-8")
    assert len(load_task("asked").samples) == 199
    bad = '{"prompt": "寫。", "constraints": [{"name": "sentences"}]}\n'
    file.write_text("".join([*rows, bad]), "utf-8")
    with pytest.raises(
        DataCorrupt, match=r"row 200: no\. 1: constraint 'sentences': no bound is given"
    ):
        load_task("asked")


@pytest.mark.usefixtures("example")
def test_training_on_equal_constraints_is_not_contamination(tmp_path: Path) -> None:
    """Only the prompt identifies an item: others may ask for two lines in the same words."""
    rows = (EXAMPLES / "constraints/prompts.jsonl").read_text("utf-8").splitlines()
    for field, found in (("constraints", 0), ("prompt", 1)):
        lines = [json.dumps({"text": str(json.loads(row)[field])}) for row in rows]
        (tmp_path / "training.jsonl").write_text("\n".join(lines), "utf-8")
        command = [
            "contamination",
            str(tmp_path / "training.jsonl"),
            "--benchmark",
            TASK,
        ]
        assert CliRunner().invoke(app, command).exit_code == found


# ---------------------------------------------------------------------- the signature


@pytest.mark.slow
@pytest.mark.usefixtures("example")
def test_a_change_in_a_verifiers_behaviour_changes_the_signature(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind = task_as_run(TASK)
    before = kind.further_readings()
    for name, of_name in VERIFIERS.items():

        def one_more(answer: str, of: Any = of_name, **args: Any) -> Any:
            found = of.function(answer, **args)
            return (
                [each + 1 for each in found] if isinstance(found, list) else found + 1
            )

        otherwise: dict[str, Callable[..., Any]] = {
            "always": lambda *_, **__: True,
            "never": lambda *_, **__: False,
            **({} if of_name.least is None else {"one more": one_more}),
        }
        for what, function in otherwise.items():
            with monkeypatch.context() as patch:
                patch.setitem(VERIFIERS, name, replace(of_name, function=function))
                assert kind.further_readings() != before, (name, what)


@pytest.mark.usefixtures("example")
def test_further_readings_are_in_the_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    _, before = signing.fingerprints(task_as_run(TASK))
    monkeypatch.setattr(signing, "_fingerprints", {})
    monkeypatch.setattr(
        constraints.Constraints, "further_readings", lambda _: ["another"]
    )
    assert signing.fingerprints(task_as_run(TASK))[1] != before


def test_the_answers_in_the_signature_are_right_and_wrong_as_they_were_made() -> None:
    file = Path(constraints.__file__).with_name("constraint_answers.json")
    answers = json.loads(file.read_text("utf-8"))
    assert answers.keys() == VERIFIERS.keys()
    for name, of_verifier in answers.items():
        for each in of_verifier:
            asked = Constraint(name, each["args"])
            assert all(follows(text, asked) for text in each["right"]), (name, each)
            assert not any(follows(text, asked) for text in each["wrong"]), (name, each)


def test_without_pycantonese_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pycantonese", None)
    install = r"pip install 'hkcanto\[g2p\]'"
    with pytest.raises(OptionError, match=install):
        task_as_run("hkcanto_if")
    with pytest.raises(OptionError, match=install):
        find_engine("pycantonese")("你好")
    with pytest.raises(ImportError, match=install):
        words_of("我哋去旺角")
    assert "hkcanto_if" in [task.name for task in matching("hkcanto_if")]
    assert record(find_task("hkcanto_if"))["items"] > 0
