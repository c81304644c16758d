"""`hkcanto compare A B --any` on logs of plain tasks of both harnesses, which are not ours."""

import csv
import io
import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from statsmodels.stats.contingency_tables import mcnemar
from typer.testing import CliRunner

from hkcanto_tasks.cli import app
from hkcanto_tasks.results.reports.any_logs import AnyLog, AnyResponse, numbers_of

from .harness_runs import AnsweringLM, answering_model, run_inspect, run_lm_eval

COUNT = 40
YAML = """
task: sums
custom_dataset: !function data.rows
test_split: test
output_type: generate_until
doc_to_text: "{{question}}="
doc_to_target: "{{answer}}"
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
  - metric: bleu
"""
DATA = f"""
def rows(**_):
    from datasets import Dataset, DatasetDict
    made = [{{"question": f"{{n}}+1", "answer": str(n + 1)}} for n in range({COUNT})]
    return DatasetDict(test=Dataset.from_list(made))
"""


def right_below(limit: int, other: int = 0) -> Callable[[str], str]:
    """A model that adds numbers below a limit, and those from another one on."""

    def answer(prompt: str) -> str:
        number = int(prompt.rpartition("+")[0].rpartition(".")[2])
        return str(number + 1) if number < limit or number >= other > 0 else "?"

    return answer


def hkcanto(*arguments: Any) -> Any:
    return CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": "200"})


def compared(*arguments: Any) -> dict[str, Any]:
    done = hkcanto("compare", *arguments, "--any", "--format", "json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture
def sums(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that runs the task `sums` of lm-eval."""
    home = tmp_path / "yaml"
    home.mkdir()
    (home / "sums.yaml").write_text(YAML, "utf-8")
    (home / "data.py").write_text(DATA, "utf-8")

    def run(name: str, answer: Callable[[str], str], **options: Any) -> Path:
        model = AnsweringLM(answer)
        return run_lm_eval(
            tmp_path / name, "sums", model=model, include_path=[str(home)], **options
        )

    return run


def inspect_log(folder: Path, answer: Callable[[str], str], **options: Any) -> Path:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample
    from inspect_ai.scorer import exact

    rows = [Sample(input=f"{n}+1=", target=str(n + 1), id=n + 1) for n in range(COUNT)]
    task = Task(dataset=rows, scorer=options.pop("scorer", exact()), name="sums")
    return run_inspect(folder, task, answering_model(answer), **options)


def test_two_logs_of_a_task_of_lm_eval(sums: Callable[..., Path]) -> None:
    old, new = sums("old", right_below(20)), sums("new", right_below(10, 25))
    # Both have 0 to 9 right; only the old has 10 to 19, only the new 25 to 39.
    made = compared(f"old={old}", f"new={new}")
    (one,) = made["comparisons"]
    assert (one["task"], one["figure"], one["items"]) == (
        "sums",
        "exact_match,none",
        COUNT,
    )
    assert (one["wins"], one["losses"], one["test"]) == (15, 10, "exact McNemar")
    assert (one["a"], one["b"]) == (20 / COUNT, 25 / COUNT)
    assert one["p_value"] == pytest.approx(
        mcnemar([[10, 10], [15, 5]], exact=True).pvalue
    )
    assert one["gain"]["low"] < 5 / COUNT < one["gain"]["high"]
    said = hkcanto("compare", f"old={old}", f"new={new}", "--any").stdout
    assert (
        "No difference is shown between new and old on sums. +12.5 points for new: exact_match,none 62.5"
        in " ".join(said.split())
    )
    assert "not tasks of hkcanto" in " ".join(said.split())
    assert "Rank" not in said
    said = hkcanto("compare", f"x={old}", f"x={new}", "--any").stdout
    assert "between x (2) and x (1) on sums" in " ".join(said.split())
    table = ("compare", f"old={old}", f"new={new}", "--any", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(hkcanto(*table).stdout))
    assert (row["task"], row["items"], row["wins"]) == ("sums", str(COUNT), "15")
    assert float(row["gain"]) == 5 / COUNT
    ends = (float(row["gain_low"]), float(row["gain_high"]))
    assert ends == (one["gain"]["low"], one["gain"]["high"])


def test_what_differs_and_what_cannot_be_tested_is_said(
    sums: Callable[..., Path],
) -> None:
    old = sums("old", right_below(20))
    shots = {
        "num_fewshot": 0,
        "system_instruction": "Add.",
        "apply_chat_template": False,
    }
    new = sums("new", right_below(30), gen_kwargs="temperature=1", limit=30, **shots)
    text = " ".join(hkcanto("compare", old, new, "--any").stdout.split())
    assert "10 responses are to items of only one log" in text
    assert "the logs also differ in" in text
    assert "generation_kwargs" in text
    assert "system_instruction_sha" in text
    refused = hkcanto("compare", old, new, "--any", "--metric", "bleu,none")
    assert refused.exit_code == 2  # BLEU has no value of an item
    assert "no figure 'bleu,none' of items in both logs" in " ".join(
        refused.output.split()
    )
    assert hkcanto("compare", old, new, "--any", "--gate", "2").exit_code == 2


def test_items_with_other_texts_and_the_same_ids_are_matched_by_id(
    sums: Callable[..., Path],
) -> None:
    old, new = sums("old", right_below(20)), sums("new", right_below(30))
    for samples in new.parent.glob("samples_*.jsonl"):
        samples.write_text(samples.read_text("utf-8").replace('+1"', ' + 1"'), "utf-8")
    said = " ".join(hkcanto("compare", old, new, "--any").output.split())
    assert "matched by id; 40 of 40 texts differ between the logs" in said


def test_a_figure_that_is_not_the_mean_of_its_items_is_refused(
    sums: Callable[..., Path],
) -> None:
    old, new = sums("old", right_below(20)), sums("new", right_below(30))
    text = new.read_text("utf-8").replace(
        '"exact_match,none": 0.75', '"exact_match,none": 0.8'
    )
    new.write_text(text, "utf-8")
    refused = hkcanto("compare", old, new, "--any")
    assert refused.exit_code == 2
    assert "the mean of its items is 0.75" in " ".join(refused.output.split())


def test_two_logs_of_a_task_of_inspect_with_epochs(tmp_path: Path) -> None:
    logs = [
        inspect_log(tmp_path / name, right_below(limit), epochs=2)
        for name, limit in (("old", 10), ("new", 30))
    ]
    (one,) = compared(f"old={logs[0]}", f"new={logs[1]}")["comparisons"]
    assert (one["figure"], one["items"], one["test"]) == (
        "exact",
        COUNT,
        "paired permutation",
    )
    assert (one["a"], one["b"], one["p_value"] < 0.001) == (
        10 / COUNT,
        30 / COUNT,
        True,
    )
    # Two equal epochs of an item are one draw: the interval is that of 40 items, not of 80.
    assert 0.3 < one["gain"]["low"] < 0.5 < one["gain"]["high"] < 0.7


def test_the_first_scorer_in_a_log_is_tested_by_default(tmp_path: Path) -> None:
    from inspect_ai.scorer import exact, f1, includes, match

    scorer = [includes(), exact(), match(), f1()]
    logs = [
        inspect_log(tmp_path / name, right_below(limit), scorer=scorer)
        for name, limit in (("old", 10), ("new", 30))
    ]
    (one,) = compared(f"old={logs[0]}", f"new={logs[1]}")["comparisons"]
    assert one["figure"] == "includes"


def test_other_logs_are_refused(
    sums: Callable[..., Path], tmp_path: Path, lm_eval_logs: Path
) -> None:
    old = sums("old", right_below(20))
    other = inspect_log(tmp_path / "inspect", right_below(20))
    for logs, why in (
        ((old,), "--any compares two logs"),
        ((old, other), "no figure '' of items in both logs"),
        ((old, lm_eval_logs), "leave out --any"),
        ((old, tmp_path / "yaml"), "has no log of lm-eval or Inspect"),
    ):
        done = hkcanto("compare", *logs, "--any")
        assert done.exit_code == 2, why
        assert why in " ".join(done.output.split()), done.output


def test_a_file_that_cannot_be_read_does_not_cost_the_logs_beside_it(
    sums: Callable[..., Path],
) -> None:
    old, new = sums("old", right_below(20)), sums("new", right_below(30))
    bad = new.with_name("cut_off.eval")
    bad.write_bytes(b"PK")
    said = " ".join(hkcanto("compare", old.parent, new.parent, "--any").output.split())
    assert "cut_off.eval is left out: not a complete zip archive" in said
    assert "+25.0 points for " in said
    done = hkcanto("compare", old, bad, "--any")
    assert done.exit_code == 2
    assert "not a complete zip archive" in " ".join(done.output.split())


def test_a_share_stays_in_points_beside_a_figure_of_another_unit(
    sums: Callable[..., Path], tmp_path: Path
) -> None:
    """A second task whose values are a thousand times as large is made from the first's log."""
    for name, limit in (("a", 20), ("b", 30)):
        folder = sums(name, right_below(limit)).parent
        results = json.loads(next(folder.glob("results_*.json")).read_text("utf-8"))
        results["results"]["words"] = dict(results["results"]["sums"])
        results["results"]["words"]["exact_match,none"] *= 1000
        for key in ("configs", "versions", "n-shot", "higher_is_better", "n-samples"):
            results[key]["words"] = results[key]["sums"]
        (samples,) = folder.glob("samples_sums_*.jsonl")
        made = [json.loads(line) for line in samples.read_text("utf-8").splitlines()]
        made = [{**row, "exact_match": 1000 * row["exact_match"]} for row in made]
        other = samples.with_name(samples.name.replace("_sums_", "_words_"))
        other.write_text("".join(json.dumps(row) + "\n" for row in made), "utf-8")
        next(folder.glob("results_*.json")).write_text(json.dumps(results), "utf-8")
    said = " ".join(
        hkcanto("compare", tmp_path / "a", tmp_path / "b", "--any").output.split()
    )
    assert "+25.0 points for " in said
    assert " 250.0 for " in said


def test_items_of_only_one_log_are_counted_on_both_sides(
    sums: Callable[..., Path],
) -> None:
    few = sums("few", right_below(30), limit=25)
    many = sums("many", right_below(20))
    for logs in ((few, many), (many, few)):
        (compared_task,) = compared(*logs)["comparisons"]
        assert compared_task["items"] == 25
        said = " ".join(hkcanto("compare", *logs, "--any").output.split())
        assert "15 responses are to items of only one log" in said


def test_one_log_twice_is_named(sums: Callable[..., Path], tmp_path: Path) -> None:
    old = sums("old", right_below(20))
    shutil.copytree(old.parent, tmp_path / "copy")
    for new in (old, tmp_path / "copy" / old.name):
        done = hkcanto("compare", f"a={old}", f"b={new}", "--any")
        assert "both are the same log, or copies of it" in " ".join(done.output.split())


def test_thinking_in_only_one_log_is_named(
    sums: Callable[..., Path], tmp_path: Path
) -> None:
    old = sums("old", right_below(20))
    shutil.copytree(sums("new", right_below(25)).parent, tmp_path / "thinks")
    (new,) = (tmp_path / "thinks").glob("results_*.json")
    results = json.loads(new.read_text("utf-8"))
    results["config"]["model_args"] = {"enable_thinking": True}
    new.write_text(json.dumps(results), "utf-8")
    said = " ".join(hkcanto("compare", old, new, "--any").output.split())
    assert "the logs also differ in enable_thinking" in said


def test_a_figure_that_a_response_lacks_is_not_a_number() -> None:
    responses = [
        AnyResponse("1", "?", "", {"acc,none": 1.0}),
        AnyResponse("2", "!", "", {"acc,none": 0.0, "f1,none": 0.5}),
    ]
    log = AnyLog("sums", Path(), responses, {}, {}, {"acc": True, "loss": False})
    assert log.figures == ["acc,none", "f1,none"]
    assert log.values("acc,none") == [1.0, 0.0]
    assert log.values("f1,none") == pytest.approx([math.nan, 0.5], nan_ok=True)
    higher = [log.is_higher_better(name) for name in ("acc,none", "loss", "f1,none")]
    assert higher == [True, False, None]


def test_numbers_and_inspects_grades_have_a_value() -> None:
    values = {
        "correct": "C",
        "incorrect": "I",
        "partial": "P",
        "no answer": "N",
        "share": 0.25,
        "count": 3,
        "flag": True,
        "text": "yes",
        "nothing": None,
        "list": [1],
    }
    numbers = numbers_of(values)
    assert numbers == {
        "correct": 1.0,
        "incorrect": 0.0,
        "partial": 0.5,
        "no answer": 0.0,
        "share": 0.25,
        "count": 3.0,
        "flag": 1.0,
    }
    assert {type(number) for number in numbers.values()} == {float}
