"""Checkpoints of training runs: their recognition and order, and the best one."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lm_eval.api.instance import Instance
from typer.testing import CliRunner, Result

from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.cli import app
from hkcanto_tasks.figures import Pair
from hkcanto_tasks.results.frames import checkpoint
from hkcanto_tasks.results.reports.presentation import headline
from hkcanto_tasks.results.reports.summary import best_records, build_report
from hkcanto_tasks.results.runs import Run
from hkcanto_tasks.results.statistics.selection import selection

from .building import a_run
from .harness_runs import AnsweringLM, run_lm_eval

ITEMS = 43  # of HKMMLU's sample data
RIGHT = {100: 10, 200: 20, 300: 26, 400: 30, 500: 29, 1000: 31}


class Learning(AnsweringLM):
    """A model that is right on this many items, including those that it learnt before."""

    def __init__(self, right: int) -> None:
        super().__init__()
        self.right = right

    def generate_until(
        self, requests: list[Instance], disable_tqdm: bool = False
    ) -> list[str]:
        del disable_tqdm
        known = sorted(request.doc["id"] for request in requests)[: self.right]
        return [
            target if request.doc["id"] in known else "B" if target == "A" else "A"
            for request in requests
            for target in [request.doc["target"]]
        ]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Path]:
    """Logs of six checkpoints, in a shell's order of their folders."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HKCANTO_DATA_DIR", raising=False)
        patch.setenv("HKCANTO_DATA", "sample")
        for step, right in RIGHT.items():
            run_lm_eval(folder / f"checkpoint-{step}", "hkmmlu", model=Learning(right))
    return sorted(folder.iterdir())


def report(*arguments: str | Path) -> Result:
    return CliRunner().invoke(
        app, ["report", *map(str, arguments)], env={"COLUMNS": "80"}
    )


def of_steps(
    scores: dict[int, Sequence[float]], task: str = "hkcanto_law", metric: str = "acc"
) -> list[Run]:
    return [
        a_run(task, {metric: own}, label=f"checkpoint-{step}")
        for step, own in scores.items()
    ]


def share(right: int, items: int = 40) -> list[float]:
    return [1.0] * right + [0.0] * (items - right)


# ---------------------------------------------------------------------- the commands


@pytest.mark.slow
def test_the_best_is_a_line_for_a_script(logs: Sequence[Path]) -> None:
    done = report(*logs, "--best")

    # Against 31 items, McNemar's z is √21 = 4.6 for 10 items, √11 = 3.3 for 20 and √5 = 2.2 for 26.
    # Tukey's range of six requires 4.03 / √2 = 2.85.
    label = "dummy (checkpoint-{})".format
    (line,) = done.stdout.splitlines()
    best, figure, ties, task, condition, overstated = line.split("\t")
    name = best.partition(" (")[0]
    assert best == f"{name} (checkpoint-1000)"
    assert float(figure) == pytest.approx(31 / ITEMS)
    assert ties.split(",") == [
        label(step).replace("dummy", name) for step in (300, 400, 500)
    ]
    assert (task, condition) == ("hkmmlu", "0-shot")
    assert 0 < float(overstated) < 0.1


@pytest.mark.slow
def test_json_has_the_best(logs: Sequence[Path]) -> None:
    made = json.loads(report(*logs, "--format", "json").stdout)

    (best,) = made["best"]
    assert (best["step"], best["task"]) == (1000, "hkmmlu")
    assert best["figure"]["value"] == pytest.approx(31 / ITEMS)
    assert len(best["ties"]) == 3
    assert best["picked_from"] == 6
    assert [run["label"].split("-")[-1] for run in made["runs"]] == [
        f"{step})" for step in sorted(RIGHT)
    ]


@pytest.mark.slow
def test_the_best_alone_takes_no_file(logs: Sequence[Path], tmp_path: Path) -> None:
    assert report(*logs, "--best", "-o", tmp_path / "r.json").exit_code == 2


# ---------------------------------------------------------------------- recognising checkpoints


@pytest.mark.parametrize(
    ("label", "model", "found"),
    [
        ("checkpoint-500", "runs/tuned/checkpoint-500", ("runs/tuned", 500)),
        ("checkpoint-500", "checkpoint-500", ("training run", 500)),
        (
            "checkpoint-500 (runs/A/checkpoint-500)",
            "runs/A/checkpoint-500",
            ("runs/A", 500),
        ),
        ("step_1000", "out/step_1000", ("out", 1000)),
        ("stage1-step1000-tokens4B", "stage1-step1000-tokens4B", ("stage1", 1000)),
        ("global_step_200", "m/global_step_200/", ("m", 200)),
        ("global_step200", "m/global_step200", ("m", 200)),
        ("iter_0001000", "m/iter_0001000", ("m", 1000)),
        ("pythia-1b (revision=step1000)", "EleutherAI/pythia-1b", ("pythia-1b", 1000)),
        (
            "pythia-1b@step143000",
            "EleutherAI/pythia-1b@step143000",
            ("pythia-1b", 143_000),
        ),
        ("mine@2000", "x", ("mine", 2000)),
        ("step-10k", "m/step-10k", ("m", 10_000)),
        ("step0", "m/step0", ("m", 0)),
        ("500", "m", ("m", 500)),
        ("Qwen3-8B", "Qwen/Qwen3-8B", None),
        ("step-3.5-flash", "stepfun-ai/step-3.5-flash", None),
        ("gpt-4-0613", "openai/gpt-4-0613", None),
    ],
)
def test_steps_are_read_from_names(
    label: str, model: str, found: tuple[str, int] | None
) -> None:
    run = replace(a_run("hkcanto_law", {"acc": [1.0]}), label=label, model=model)
    assert checkpoint(run) == found


def test_a_step_may_be_in_the_folder_alone() -> None:
    run = a_run("hkcanto_law", {"acc": [1.0]}, label="mine")
    run = replace(
        run, sources=(Path("logs/step-40/mine/results_2026-11-22T18-00.json"),)
    )
    assert checkpoint(run) == ("mine", 40)


def test_runs_are_put_in_the_order_of_training() -> None:
    given = of_steps({1000: [1.0], 500: [1.0]})
    base = a_run("hkcanto_law", {"acc": [1.0]}, label="base")
    made = build_report([*given, base])
    assert [run["label"] for run in made.records["runs"]] == [
        "base",
        "checkpoint-500",
        "checkpoint-1000",
    ]


# ---------------------------------------------------------------------- the best


def equal_runs(
    rng: np.random.Generator,
    task: str = "hkcanto_law",
    runs: int = 20,
    items: int = 150,
    **of: Any,
) -> list[Run]:
    """Checkpoints of equal true accuracy, on questions of different difficulty."""
    hard = rng.normal(size=of.pop("units", items))[
        np.asarray(of.get("clusters", range(items)))
    ]
    return [
        a_run(
            task,
            {"acc": (rng.normal(size=items) > hard).astype(float).tolist()},
            label=f"checkpoint-{step}",
            **of,
        )
        for step in range(runs)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["questions", "subjects", "clusters"])
def test_among_twenty_equal_checkpoints_one_is_called_different_in_five_percent(
    kind: str,
) -> None:
    rng, repeats, told, luck, said = np.random.default_rng(1), 200, 0, [], []
    of: dict[str, Any] = {"task": "hkcanto_law"}
    if kind == "subjects":
        names = [own.name for own in find_task("hkcanto_cultural").subjects]
        of = {
            "task": "hkcanto_cultural",
            "subjects": [names[place % 5] for place in range(100)],
        }
        of["subjects"] += [names[0]] * 50
    if kind == "clusters":
        of |= {"clusters": [place // 2 for place in range(150)], "units": 75}
    for _ in range(repeats):
        chosen = selection(tuple(equal_runs(rng, **of)))
        assert chosen is not None
        told += len(chosen.ties) < 19
        luck.append(headline(chosen.best).value - 0.5)
        said.append(chosen.overstated)

    # 5 % within two points, plus two standard errors of a share of 200.
    assert told / repeats < 0.05 + 0.02 + 2 * (0.05 * 0.95 / repeats) ** 0.5
    assert told > 0
    # By how much the best is too good; the report states this to within a tenth.
    assert np.mean(said) == pytest.approx(np.mean(luck), rel=0.1)


def test_the_best_of_two_is_told_apart_as_by_the_paired_test() -> None:
    # McNemar's z is 9 / √15 = 2.3 for 12 wins and 3 losses, and 7 / √15 = 1.8 for 11 and 4.
    for wins, ties in ((12, []), (11, ["checkpoint-1"])):
        losses = 15 - wins
        first = [1.0] * losses + [0.0] * wins + [1.0] * 25
        second = [0.0] * losses + [1.0] * wins + [1.0] * 25
        (best,) = best_records(of_steps({1: first, 2: second}))
        assert (best["label"], best["ties"]) == ("checkpoint-2", ties)


def test_two_runs_that_are_alike_have_the_interval_of_compare_and_no_luck() -> None:
    chosen = selection(tuple(of_steps({1: share(9), 2: share(9)})))
    assert chosen is not None
    (by,) = chosen.ties.values()
    # Tango's interval without discordant items ends at z² / (n + z²), with z² = 1.96² = 3.8415.
    end = 3.8415 / (40 + 3.8415)
    assert (by.low, by.high) == pytest.approx((-end, end), abs=1e-5)
    assert (by.value, chosen.overstated) == (0, 0)


def test_more_runs_that_are_alike_have_no_interval_and_no_luck() -> None:
    chosen = selection(tuple(of_steps({1: share(9), 2: share(9), 3: share(9)})))
    assert chosen is not None
    assert len(chosen.ties) == 2
    for by in chosen.ties.values():
        assert (by.value, by.low, by.high) == (0, None, None)
    assert chosen.overstated == 0


def test_a_checkpoint_on_other_items_is_left_out_and_named() -> None:
    few = a_run("hkcanto_law", {"acc": share(5, 5)}, label="checkpoint-9")
    (best,) = best_records([*of_steps({1: share(20), 2: share(22)}), few])
    assert (best["label"], best["picked_from"]) == ("checkpoint-2", 2)
    assert "differ in items" in best["left_out"]["checkpoint-9"]


def test_a_cancelled_checkpoint_is_not_the_best() -> None:
    runs = of_steps({1: share(20), 2: share(22), 3: share(39)})
    (best,) = best_records([*runs[:2], replace(runs[2], status="cancelled")])
    assert best["label"] == "checkpoint-2"
    assert ": cancelled, with 40 of 424 items" in best["left_out"]["checkpoint-3"]


def test_scores_of_a_corpus_are_compared_at_once() -> None:
    texts = [f"佢哋今日去咗第{place}間茶餐廳食飯" for place in range(30)]
    worse = [text[::-1] if place % 2 else text for place, text in enumerate(texts)]
    runs = [
        a_run(
            "hkmmlu_translation_yue_zh",
            {},
            label=f"checkpoint-{step}",
            pairs=[
                Pair(own, text, "") for own, text in zip(outputs, texts, strict=True)
            ],
        )
        for step, outputs in enumerate((worse, texts))
    ]
    (best,) = best_records(runs)
    assert (best["label"], best["ties"]) == ("checkpoint-1", [])


def test_of_errors_the_fewest_are_best() -> None:
    errors = {100: [0.8] * 30, 200: [0.5] * 30, 300: [0.2] * 30, 400: [0.3] * 30}
    weights = {"cer_published": [10.0] * 30}
    runs = [
        a_run(
            "hkcanto_g2p", {"cer_published": own}, label=f"step{step}", weights=weights
        )
        for step, own in errors.items()
    ]
    (best,) = build_report(runs).records["best"]
    assert best["label"] == "step300"
