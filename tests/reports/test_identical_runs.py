"""A run against a copy of itself is never worse, whatever the kind of task."""

import json
import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.cli import app

from ..cases import another_run
from .harness_runs import AnsweringLM, run_lm_eval

DECLARED = """
name = "own"
title = "Own"
[data]
[prompts.plain]
question = "{question}\\n{options}"
[prompts.asked]
question = "{question}"
[[tasks]]
name = "own_multi_answer"
title = "Several answers"
kind = "multi_answer"
columns = { options = "choices" }
files = "test.jsonl"
prompts = { paper = "plain" }
[[tasks]]
name = "own_math"
title = "Mathematics"
kind = "math"
files = "test.jsonl"
prompts = { paper = "asked" }
"""
ROWS = [
    {"question": "一加一？", "choices": ["二", "2", "三"], "answer": "AB"},
    {"question": "三減一？", "choices": ["二", "2", "五"], "answer": "AB"},
]
# A task of each kind, and of each way to ask, with the one answer of the model to all its prompts.
ANSWERS = {
    "hkmmlu": "A",
    "tmmluplus_gen_mc": "",  # by log-likelihood
    "hkcanto_g2p": "nei5 hou2",
    "hkcanto_translation_yue_en": "It will rain tomorrow.",
    "hkcanto_translation_zh_yue": "佢話聽日會落雨。",
    "hkcanto_summarization": "佢話聽日會落雨，記得帶遮。",
    "hkcanto_fluency": "佢話聽日會落雨，記得帶遮。",
    "hkcanto_sentiment": "正面",
    "cmath": "12",
    "drcd": "香港",
    "hkcanto_if": "好呀，多謝你。",
    "beaver_zh_hk": "好呀，多謝你。",
    "own_multi_answer": "A, B",
    "own_math": "2",
}
WITHOUT_VERDICT = {"beaver_zh_hk"}  # no judge has read the answers


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Declare tasks of the kinds that no set of the package has."""
    home = tmp_path / "own"
    home.mkdir()
    (home / "benchmark.toml").write_text(DECLARED, "utf-8")
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS]
    (home / "test.jsonl").write_text("".join(lines), "utf-8")
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(home))
    monkeypatch.setenv("HKCANTO_DATA", "sample")
    monkeypatch.delenv("HKCANTO_DATA_DIR", raising=False)


def test_every_kind_has_a_task_here() -> None:
    kinds = {find_task(task).definition.kind for task in ANSWERS}
    assert kinds == {declared.name for declared in entry_points(group="hkcanto.kinds")}


@pytest.mark.parametrize("task", ANSWERS)
def test_a_copy_of_a_run_is_never_worse(task: str, tmp_path: Path) -> None:
    answer = ANSWERS[task]
    run_lm_eval(tmp_path / "base", task, model=AnsweringLM(lambda _: answer))
    copy = another_run(tmp_path / "base", tmp_path / "copy")
    for gate in ((), ("--gate", "0"), ("--gate", "2")):
        arguments = ["compare", str(tmp_path / "base"), str(copy), *gate]
        done = CliRunner().invoke(
            app, [*arguments, "--resamples", "100"], env={"COLUMNS": "200"}
        )
        allowed = (0, 3) if task not in WITHOUT_VERDICT else (0, 2)
        assert done.exit_code in allowed, done.output
        said = " ".join(done.output.split())
        assert not re.search("(is|are) worse|not passed|Failed:|(?<!Who )leads", said)
