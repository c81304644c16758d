"""The headline is the same in both harnesses' logs, reports, compare, frames and publish.

Each task here has a headline other than plain accuracy, on subjects of different sizes. This file
computes the expected value from the items by the paper's rule.
"""

import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from inspect_ai.log import read_eval_log
from typer.testing import CliRunner

from hkcanto import tasks
from hkcanto_tasks import read_runs
from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.cli import app

from .publishing.conftest import declare
from .reports.harness_runs import AnsweringLM, answering_model, run_inspect, run_lm_eval

LABELS = ("Positive", "Negative", "Neutral")


def answer(prompt: str) -> str:
    """Answer well in some subjects and badly in others, so that the averages differ."""
    number = zlib.crc32(prompt.encode())
    return LABELS[number % 3] if "Sentiment:" in prompt else "ABCD"[number % 4]


def mean_of_subjects(task: str, values: Iterable[tuple[str, float]]) -> float:
    """HKCanto-Eval, Tables 7 and 8: every subject has the same weight."""
    del task
    return fmean(map(fmean, grouped(values).values()))


def mean_of_categories(task: str, values: Iterable[tuple[str, float]]) -> float:
    """TMMLU+, Section 3.2: the mean over four categories of the means over their subjects."""
    of = {each.name: each.category for each in find_task(task).definition.subjects}
    subjects = {name: fmean(own) for name, own in grouped(values).items()}
    return fmean(
        map(fmean, grouped((of[name], own) for name, own in subjects.items()).values())
    )


def grouped(values: Iterable[tuple[str, float]]) -> dict[str, list[float]]:
    found = defaultdict(list)
    for name, value in values:
        found[name].append(value)
    return found


@pytest.mark.slow
@pytest.mark.realdata
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
    limit = (
        None if task == "hkcanto_cultural" else 400
    )  # a part of a task is not published
    lm_eval, inspect = tmp_path / "lm", tmp_path / "in"
    results = run_lm_eval(lm_eval, task, model=AnsweringLM(answer), limit=limit)
    log = run_inspect(
        inspect, tasks.run(task=task), answering_model(answer), limit=limit
    )

    logged = read_eval_log(str(log))
    items = [
        (sample.metadata["subject"], sample.scores["judged"].value["acc"])
        for sample in logged.samples
    ]
    assert (
        len(set(map(len, grouped(items).values()))) > 1
    )  # subjects of different sizes
    expected = rule(task, items)
    assert expected != pytest.approx(fmean(value for _, value in items), abs=1e-4)

    _, found = headline_everywhere(task, results, log)
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
        # A record has values with ten digits.
        assert found.pop("publish") == pytest.approx(expected, abs=1e-9)
    for where, value in found.items():
        assert value == pytest.approx(expected, abs=1e-12), where


def headline_everywhere(
    task: str, results: Path, log: Path
) -> tuple[str, dict[str, float]]:
    """Return the headline's name, and its value in each place, of a log of each harness."""
    lm_eval, inspect = results.parent, log.parent
    logged = read_eval_log(str(log))
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
    compared = run_json(
        "compare",
        f"a={lm_eval}",
        f"b={inspect}",
        "--gate",
        "5",
        "--allow-differences",
        "temperature,stop,template,max_tokens",
    )
    (comparison,) = compared["comparisons"]
    assert comparison["metric"] == headline
    found["compare, a"] = comparison["effects"]["all"]["a"]
    found["compare, b"] = comparison["effects"]["all"]["b"]
    assert [each["metric"] for each in compared["gate"]["tasks"]] == [headline]
    return headline, found


def run_json(*arguments: str) -> Any:
    done = CliRunner().invoke(app, [*arguments, "--format", "json"])
    assert done.exit_code in (0, 1, 3), done.output
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.realdata
def test_a_gate_tests_the_headline_and_not_plain_accuracy(tmp_path: Path) -> None:
    """B is better on the largest subjects, and worse on the small ones."""
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
        wrong = "B" if each.target == "A" else "A"
        return wrong if each.metadata["subject"] == smallest else each.target

    for name, model in (("base", base), ("tuned", tuned)):
        run_inspect(
            tmp_path / name, tasks.run(task="hkcanto_cultural"), answering_model(model)
        )
    compared = run_json(
        "compare", str(tmp_path / "base"), str(tmp_path / "tuned"), "--gate", "1"
    )
    effects = compared["comparisons"][0]["effects"]
    plain = effects["averages"]["acc"]
    assert plain["b"] - plain["a"] != pytest.approx(
        effects["all"]["b"] - effects["all"]["a"], abs=0.005
    )
    (gate,) = compared["gate"]["tasks"]
    assert gate["metric"] == "acc_macro"
    assert gate["bound"] >= 100 * (effects["all"]["a"] - effects["all"]["b"])


@pytest.mark.slow
@pytest.mark.realdata
def test_a_gate_on_tmmluplus_is_worked_out_here_from_the_items(tmp_path: Path) -> None:
    """The figure, its interval, its test and the gate's bound, by TMMLU+'s own weights."""

    def tuned(prompt: str) -> str:
        number = zlib.crc32(f"tuned {prompt}".encode())
        return "ABCD"[number % 4] if number % 100 < 30 else answer(prompt)

    values = []
    for name, model in (("base", answer), ("tuned", tuned)):
        task, how = tasks.run(task="tmmluplus_gen"), answering_model(model)
        logged = read_eval_log(str(run_inspect(tmp_path / name, task, how, limit=400)))
        values.append(
            {each.id: each.scores["judged"].value["acc"] for each in logged.samples}
        )
    subjects = {each.id: each.metadata["subject"] for each in logged.samples}
    category = {
        each.name: each.category for each in find_task("tmmluplus_gen").subjects
    }
    names = sorted(set(subjects.values()))
    sizes = Counter(subjects.values())
    of_category = Counter(category[name] for name in names)
    assert len(of_category) == 4
    share = {name: 1 / 4 / of_category[category[name]] for name in names}
    weights = np.array([share[name] / sizes[name] for name in subjects.values()])
    changes = np.array([values[1][item] - values[0][item] for item in subjects])
    strata = np.array([names.index(name) for name in subjects.values()])
    difference = float(weights @ changes)

    compared = run_json(
        "compare", str(tmp_path / "base"), str(tmp_path / "tuned"), "--gate", "8"
    )
    effect = compared["comparisons"][0]["effects"]["all"]
    assert effect["difference"]["value"] == pytest.approx(difference, abs=1e-12)

    # Variances of subjects, as if each had 20 more questions with the pooled variance.
    up, down = float(weights @ (changes > 0)), float(weights @ (changes < 0))
    variance = up + down - difference**2
    of_subjects = [changes[strata == place] for place in range(len(names))]
    spread = sum(
        share[name] * np.mean((own - difference) ** 2)
        for name, own in zip(names, of_subjects, strict=True)
    )
    common = (len(changes) * spread + variance) / (len(changes) + 1)
    error = sum(
        share[name] ** 2 / len(own) * (((own - own.mean()) ** 2).sum() + 20 * common)
        / (len(own) + 19)
        for name, own in zip(names, of_subjects, strict=True)
    )  # fmt: skip
    for end, sign in (
        (effect["difference"]["low"], -1),
        (effect["difference"]["high"], 1),
    ):
        assert tangos(up, down, variance / error, end) == pytest.approx(
            sign * 1.96, abs=2e-3
        )

    # Random signs of questions, and exponential weights with one more lost question.
    rng = np.random.default_rng(0)
    moved = np.abs(rng.choice([-1, 1], (20_000, len(changes))) @ (weights * changes))
    assert effect["p_value"] == pytest.approx(
        np.mean(moved >= abs(difference) - 1e-12), abs=0.02
    )
    drawn = rng.exponential(size=(20_000, len(changes) + 1)) * np.append(
        weights, weights.max()
    )
    lost = drawn @ np.append(-changes, 1) / drawn.sum(axis=1)
    (gate,) = compared["gate"]["tasks"]
    assert gate["metric"] == "acc_category_macro"
    assert gate["bound"] == pytest.approx(100 * np.quantile(lost, 0.95), abs=0.15)


def tangos(up: float, down: float, count: float, change: float) -> float:
    """Tango's (1998) score for a change in paired proportions, equations 4 and 9."""
    wins, losses, loss = up * count, down * count, -change
    linear = (2 * count + wins - losses) * loss - losses - wins
    root = np.sqrt(linear**2 - 8 * count * -wins * loss * (1 - loss))
    only_b = (root - linear) / (4 * count)
    return float(
        (losses - wins - count * loss)
        / np.sqrt(count * (2 * only_b + loss * (1 - loss)))
    )


def test_a_mean_of_subjects_worked_out_by_hand_is_the_same_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subjects = {"large": "AAABCDAA", "small": "BA", "none": "CDB"}
    home = declare(tmp_path / "declared", "[data]", subjects)
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(home))
    monkeypatch.setenv("HKCANTO_DATA", "")
    monkeypatch.delenv("HKCANTO_DATA_DIR", raising=False)
    results = run_lm_eval(tmp_path / "lm", "quiz", model=AnsweringLM(lambda _: "A"))
    always = answering_model(lambda _: "A")
    log = run_inspect(tmp_path / "in", tasks.run(task="quiz"), always)

    headline, found = headline_everywhere("quiz", results, log)
    assert headline == "acc_macro"
    # 5 of 8, 1 of 2, 0 of 3; the share of all 13 is 6/13.
    expected = (5 / 8 + 1 / 2 + 0) / 3
    assert len(found) == 8
    assert found == pytest.approx(dict.fromkeys(found, expected), abs=1e-12)
