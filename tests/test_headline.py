"""The headline is one number: in both harnesses' logs, the report, compare, the frame and publish.

Each task here has a headline that is no plain accuracy, on subjects of unlike size. The expected
value is worked out from the items, in this file, by the paper's rule.
"""

import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from inspect_ai.log import read_eval_log
from typer.testing import CliRunner

from hkcanto import tasks
from hkcanto_tasks import read_runs
from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.cli import app

from .reports.harness_runs import AnsweringLM, answering_model, run_inspect, run_lm_eval

pytestmark = [pytest.mark.slow, pytest.mark.realdata]

LABELS = ("Positive", "Negative", "Neutral")


def answer(prompt: str) -> str:
    """Answer well in some subjects and badly in others, so that the averages differ."""
    number = zlib.crc32(prompt.encode())
    return LABELS[number % 3] if "Sentiment:" in prompt else "ABCD"[number % 4]


def mean_of_subjects(task: str, values: Iterable[tuple[str, float]]) -> float:
    """HKCanto-Eval, Table 7 and Table 8: every subject counts once."""
    del task
    return fmean(map(fmean, grouped(values).values()))


def mean_of_categories(task: str, values: Iterable[tuple[str, float]]) -> float:
    """TMMLU+, Section 3.2: accuracy by subject, mean over a category's, mean over the four."""
    of = {each.name: each.category for each in find_task(task).definition.subjects}
    subjects = {name: fmean(own) for name, own in grouped(values).items()}
    return fmean(map(fmean, grouped((of[name], own) for name, own in subjects.items()).values()))


def grouped(values: Iterable[tuple[str, float]]) -> dict[str, list[float]]:
    found = defaultdict(list)
    for name, value in values:
        found[name].append(value)
    return found


@pytest.mark.parametrize(
    ("task", "rule"),
    [
        ("hkcanto_cultural", mean_of_subjects),
        ("hkcanto_sentiment", mean_of_subjects),
        ("tmmluplus_gen", mean_of_categories),
    ],
)
def test_the_headline_is_the_same_number_everywhere(
    task: str, rule: Callable[[str, Any], float], tmp_path: Path
) -> None:
    limit = 300 if task == "tmmluplus_gen" else None
    lm_eval, inspect = tmp_path / "lm", tmp_path / "in"
    results = run_lm_eval(lm_eval, task, model=AnsweringLM(answer), limit=limit)
    log = run_inspect(inspect, tasks.run(task=task), answering_model(answer), limit=limit)

    logged = read_eval_log(str(log))
    items = [
        (sample.metadata["subject"], sample.scores["judged"].value["acc"])
        for sample in logged.samples
    ]
    assert len(set(map(len, grouped(items).values()))) > 1  # subjects of unlike size
    expected = rule(task, items)
    assert expected != pytest.approx(fmean(value for _, value in items), abs=1e-4)

    found = {}
    (judged,) = logged.results.scores
    headline = next(iter(judged.metrics))
    found["Inspect's log"] = judged.metrics[headline].value
    document = json.loads(results.read_text("utf-8"))["results"][task]
    found["lm-eval's table"] = document[f"{headline},none"]

    frame = read_runs([f"a={lm_eval}", f"b={inspect}"]).to_frame()
    for model, own in frame[frame.headline].groupby("model"):
        assert [*own.figure] == [headline]
        found[f"frame of {model}"] = own.value.item()
    report = run_json("report", f"a={lm_eval}", f"b={inspect}")
    for run in report["runs"]:
        found[f"report of {run['label']}"] = run["figure"]["value"]
    compared = run_json("compare", f"a={lm_eval}", f"b={inspect}", "--gate", "5")
    (comparison,) = compared["comparisons"]
    assert comparison["metric"] == headline
    found["compare, a"] = comparison["effects"]["all"]["a"]
    found["compare, b"] = comparison["effects"]["all"]["b"]
    assert [each["metric"] for each in compared["gate"]["tasks"]] == [headline]
    if limit is None:
        card = CliRunner().invoke(
            app, ["publish", f"org/a={lm_eval}", "--to", "eee", "-o", str(tmp_path / "out"),
                  "--by", "us", "--relationship", "other"],
        )  # fmt: skip
        assert card.exit_code == 0, card.output
        (record,) = (tmp_path / "out").rglob("*.json")
        for entry in json.loads(record.read_text("utf-8"))["evaluation_results"]:
            if entry["metric_config"]["additional_details"]["headline"] == "yes":
                found["publish"] = entry["score_details"]["score"]
        # A record has ten digits.
        assert found.pop("publish") == pytest.approx(expected, abs=1e-9)
    for where, value in found.items():
        assert value == pytest.approx(expected, abs=1e-12), where


def run_json(*arguments: str) -> Any:
    done = CliRunner().invoke(app, [*arguments, "--format", "json"])
    assert done.exit_code in (0, 1, 2), done.output
    return json.loads(done.stdout)


def test_a_gate_tests_the_headline_and_not_plain_accuracy(tmp_path: Path) -> None:
    """B answers the questions of the largest subjects better, and those of small ones worse."""
    sizes = defaultdict(int)
    for sample in tasks.run(task="hkcanto_cultural").dataset:
        sizes[sample.metadata["subject"]] += 1
    smallest = min(sizes, key=sizes.__getitem__)
    dataset = tasks.run(task="hkcanto_cultural").dataset
    target = {"".join(m.text for m in each.input): each for each in dataset}

    def base(prompt: str) -> str:
        each = target[prompt]
        return each.target if zlib.crc32(each.id.encode()) % 4 else "D"

    def tuned(prompt: str) -> str:
        each = target[prompt]
        return "唔知" if each.metadata["subject"] == smallest else each.target

    for name, model in (("base", base), ("tuned", tuned)):
        run_inspect(tmp_path / name, tasks.run(task="hkcanto_cultural"), answering_model(model))
    compared = run_json("compare", str(tmp_path / "base"), str(tmp_path / "tuned"), "--gate", "1")
    effects = compared["comparisons"][0]["effects"]
    plain = effects["averages"]["acc"]
    assert plain["b"] - plain["a"] != pytest.approx(
        effects["all"]["b"] - effects["all"]["a"], abs=0.005
    )
    (gate,) = compared["gate"]["tasks"]
    assert gate["metric"] == "acc_macro"
    assert gate["bound"] >= 100 * (effects["all"]["a"] - effects["all"]["b"])
