"""`compare --dress` pairs the items of two tasks that ask the same in another language or script."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hkcanto_tasks import load_task
from hkcanto_tasks.cli import app
from hkcanto_tasks.errors import ComparisonError
from hkcanto_tasks.results.reports import dress
from hkcanto_tasks.results.reports.dress import compare_dresses
from hkcanto_tasks.results.runs import Run
from hkcanto_tasks.results.statistics.matching import match_dresses

from .building import a_run
from .harness_runs import AnsweringLM, run_lm_eval

YUE, EN = "hkcanto_mmlu_yue", "hkcanto_mmlu_en"
TASKS = (YUE, EN)
FIRST = [1, 1, 1, 1, 1, 1, 1, 1, 0, 0]
SECOND = [1, 0, 0, 0, 0, 0, 0, 0, 1, 0]  # loses 7, wins 1


def run_of(
    task: str, values: list[int], label: str = "model", golds: list[int] | None = None
) -> Run:
    ids = [f"{task}/anatomy/{number}" for number in range(len(values))]
    subjects = ["anatomy"] * len(values)
    return a_run(
        task,
        {"acc": values},
        label=label,
        subjects=subjects,
        ids=ids,
        golds=golds or [*range(len(values))],
    )


def test_a_change_of_language_is_tested_on_the_same_items() -> None:
    items, keys = match_dresses(run_of(YUE, FIRST), run_of(EN, SECOND), "acc")
    effect = items.effect()
    assert keys[:2] == ["anatomy/0", "anatomy/1"]
    assert (effect.a, effect.b) == (0.8, 0.2)
    assert (effect.wins, effect.losses, effect.ties) == (1, 7, 2)
    # McNemar's exact test: 2 · (1 + 8) / 2**8
    assert effect.p_value == pytest.approx(2 * 9 / 256)


def test_items_with_another_right_answer_are_left_out_and_too_many_refused() -> None:
    golds = [*range(39), 99]
    first, second = run_of(YUE, [1] * 40), run_of(EN, [1] * 40, golds=golds)
    assert len(match_dresses(first, second, "acc")[1]) == 39
    other = run_of(EN, [1] * 40, golds=[99] * 40)
    with pytest.raises(ComparisonError, match="do not ask the same items: of 40"):
        match_dresses(first, other, "acc")
    with pytest.raises(ComparisonError, match="do not ask the same items: of 0"):
        match_dresses(first, a_run(EN, {"acc": [1]}, ids=[f"{EN}/x/9"]), "acc")


def test_the_changes_of_two_models_are_compared_on_the_items_of_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    even = [1, 1, 1, 1, 1, 1, 1, 1, 0, 0]
    runs = [
        run_of(YUE, FIRST, "a"),
        run_of(EN, SECOND, "a"),
        run_of(YUE, even, "b"),
        run_of(EN, even, "b"),
    ]

    class Read:
        def __init__(self) -> None:
            self.runs = runs

    monkeypatch.setattr(dress, "read_runs", lambda _: Read())
    report = compare_dresses(["x"], TASKS, metric="acc")
    tables = {block.name: block for _, block in report.blocks if hasattr(block, "rows")}
    (row,) = tables["drops"].rows
    assert row.values[0] == "b against a"
    # b changes by 0, a by -60 points
    assert row.values[1].value == pytest.approx(60)
    assert row.values[1].low > 0
    # The record has the interval and p-value of the table: two models share the error.
    for model, record in zip(
        tables["dress"].rows, report.records["dresses"], strict=True
    ):
        assert record["p_adjusted"] == min(1, 2 * record["p_value"])
        assert record["difference"]["low"] * 100 == pytest.approx(
            next(value for value in model.values if hasattr(value, "low")).low
        )


def test_the_command_reads_the_logs_of_one_model(tmp_path: Path) -> None:
    right = {}
    for name in ("hkmmlu", "hkmmlu_sc"):
        loaded = load_task(name)
        for sample in loaded.samples:
            answer = sample.target if name == "hkmmlu" else "A"
            right[loaded.prompt(sample).text()] = answer
    run_lm_eval(tmp_path, "hkmmlu", "hkmmlu_sc", model=AnsweringLM(right.__getitem__))
    done = CliRunner().invoke(
        app, ["compare", str(tmp_path), "--dress", "hkmmlu,hkmmlu_sc"]
    )
    assert done.exit_code == 0, done.output
    text = " ".join(done.output.split())
    assert "hkmmlu_sc is worse than hkmmlu on" in text
    alone = CliRunner().invoke(
        app, ["compare", str(tmp_path), "--dress", "hkmmlu,tmmluplus_gen"]
    )
    assert alone.exit_code == 2
    says = "no model has runs of both hkmmlu and tmmluplus_gen. There are runs of hkmmlu, hkmmlu_sc"
    assert says in " ".join(alone.output.split())
