"""The kind `math` in both harnesses: formulas in LaTeX."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hkcanto import tasks
from hkcanto_tasks import load_task
from hkcanto_tasks.cli import app
from hkcanto_tasks.errors import CatalogueError, DataCorrupt

from .answering import by_word
from .reports.harness_runs import (
    AnsweringLM,
    answering_model,
    figures_alike,
    run_inspect,
    run_lm_eval,
)

DECLARED = """
name = "algebra"
title = "Algebra"
[data]
[prompts.plain]
question = "{question}\\n"
example_separator = "\\n\\n"
[[tasks]]
name = "algebra"
title = "Algebra"
kind = "math"
files = { test = "test.json" }
"""
# Question, target, answer, right.
ROWS = (
    ("擲一個公平銀仔，出公嘅機會係幾多？", r"$\frac{1}{2}$", r"答案係 $0.5$。", 1),
    ("解 $2x<4$。", "x<2", r"\boxed{x>2}", 0),
    ("3 − 3½ = ?", r"先計整數。\boxed{-\frac12}", r"So it is \boxed{\frac{1}{2}}.", 0),
    ("12 嘅平方根係幾多？", r"2\sqrt{3}", "答案：√12", 1),
    ("解 $x^2=4$。", r"x=\pm 2", "首先兩邊開方，$x=2$，然後", None),
)

Declare = Callable[..., Path]


@pytest.fixture
def declare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Declare:
    """Return a function that declares the task `algebra`, of this or another kind."""

    def declare(answers: Any = None, kind: str = "math") -> Path:
        home = tmp_path / f"algebra{len([*tmp_path.iterdir()])}"
        home.mkdir()
        text = DECLARED.replace('"math"', f'"{kind}"')
        (home / "benchmark.toml").write_text(text, "utf-8")
        rows = [{"question": row[0], "answer": row[1]} for row in ROWS]
        if answers is not None:
            rows = [{"question": "？", "answer": each} for each in answers]
        (home / "test.json").write_text(json.dumps(rows), "utf-8")
        monkeypatch.setenv("HKCANTO_BENCHMARKS", str(home))
        return home

    return declare


answer = by_word((row[0], row[2]) for row in ROWS)


def test_both_harnesses_judge_alike(declare: Declare, tmp_path: Path) -> None:
    declare()
    run_lm_eval(tmp_path / "logs", "algebra", model=AnsweringLM(answer))
    run_inspect(tmp_path / "logs", tasks.run(task="algebra"), answering_model(answer))
    expected = {"acc": 2 / 5, "unparsed_rate": 1 / 5}
    assert figures_alike(tmp_path / "logs") == pytest.approx(expected, abs=1e-12)


def test_each_answer_is_judged_by_hand(declare: Declare) -> None:
    declare()
    loaded = load_task("algebra")
    samples = {sample.question: sample for sample in loaded.samples}
    assert samples[ROWS[2][0]].target == r"-\frac12"
    for question, _, said, right in ROWS:
        values = loaded.kind.judge(said, samples[question]).values
        assert values == {
            "acc": float(right == 1),
            "unparsed_rate": float(right is None),
        }, said


def test_an_answer_that_is_no_formula_names_its_row(declare: Declare) -> None:
    for wrong in ("雙數", r"A\cup B", r"\angle ABC", "$x=1$ or $x=2$", ""):
        declare(["1", wrong])
        with pytest.raises(
            DataCorrupt, match="row 2 has an answer that Math-Verify cannot read"
        ):
            load_task("algebra")


def test_short_answers_refuse_formulas(declare: Declare) -> None:
    for formula in (r"\frac12", "$x$", "x<2", "A∪B", "-x", "x^{2}", "√2"):
        declare([["金鐘", formula]], "short_answer")
        with pytest.raises(
            DataCorrupt, match=r'row 1 has a formula as its answer.* "math"'
        ):
            load_task("algebra")
    declare(
        ["C++", "-5", "3/2", "5*", "A-1", "$5", "50%", "A & B", "兩-三"], "short_answer"
    )
    assert len(load_task("algebra").samples) == 9


def test_without_math_verify_the_kind_says_what_to_install(
    declare: Declare, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare()
    monkeypatch.setitem(sys.modules, "math_verify", None)
    with pytest.raises(CatalogueError, match=r"pip install 'hkcanto\[math\]'"):
        load_task("algebra")


def test_new_writes_a_benchmark_of_this_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "rows.csv"
    source.write_text("question,answer\n1/2+1/2=?,$1$\n", "utf-8")
    made = CliRunner().invoke(
        app, ["new", "sums", "--kind", "math", "--from", str(source)]
    )
    assert made.exit_code == 0, made.output
    assert r"\\boxed{…}" in (tmp_path / "sums" / "benchmark.toml").read_text("utf-8")
