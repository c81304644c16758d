"""`hkcanto plan`, against formulas, brute force, simulation and real models' answers."""

import csv
import gzip
import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.cli import app
from hkcanto_tasks.results.statistics import power
from hkcanto_tasks.results.statistics.intervals import loss_bound, mcnemar_p_value

from ..reports.harness_runs import AnsweringLM, answer, run_lm_eval

MAIN = "from hkcanto_tasks.cli import app; app()"
ANSWERS = (
    Path(os.environ.get("HKCANTO_DATA_DIR", ""))
    / "yue_benchmark/responses_by_model.csv.gz"
)


def hkcanto(*arguments: str | Path) -> Result:
    return CliRunner().invoke(
        app, ["plan", *map(str, arguments)], env={"COLUMNS": "200"}
    )


def tables(*arguments: str | Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of each table of a plan."""
    done = hkcanto(*arguments, "--format", "json")
    assert done.exit_code == 0, done.output
    return {
        name: table["rows"] for name, table in json.loads(done.stdout)["tables"].items()
    }


# ---------------------------------------------------------------------- formulas


def test_what_so_many_questions_show() -> None:
    # (1.96 + 0.8416) √(0.293 / n).
    expected = {250: 9.6, 660: 5.9, 2_000: 3.4, 26_368: 0.93}
    asked = [text for items in expected for text in ("--items", str(items))]
    rows = tables("hkcanto_law", "--discordance", "29.3", *asked)["shows"][
        : len(expected)
    ]
    shows = {row["items"]: row["shows"]["value"] for row in rows}
    assert shows == {
        items: pytest.approx(points, rel=0.006) for items, points in expected.items()
    }


def test_the_questions_of_the_benchmarks_are_those_of_the_catalogue() -> None:
    rows = {row["item_set"]: row for row in tables("--discordance", "29.3")["shows"]}
    assert rows["hkmmlu"]["items"] == 26_368
    assert rows["hkmmlu"]["shows"]["value"] == pytest.approx(0.93, rel=0.006)
    assert rows["hkmmlu_hk_specific"]["items"] < rows["hkmmlu"]["items"]
    assert rows["tmmluplus_gen"]["items"] == 20_118
    assert not {"hkcanto_g2p", "hkmmlu_translation_yue_zh"} & rows.keys()
    rates = {row["item_set"] for row in tables("--sd", "12")["shows"]}
    assert {"hkcanto_g2p", "hkmmlu_translation_yue_zh"} <= rates


def test_a_gate_at_a_loss_needs_more_questions() -> None:
    # ((1.645 + 0.8416) / (0.02 - 0.0046))² × 0.15 = 3,911; 7,639 with a discordance of 29.3 %.
    for share, needed in (("15", 3_911), ("29.3", 7_639)):
        gate = ("--discordance", share, "--gate", "2", "--loss", "0.46")
        (row,) = tables(*gate)["takes"]
        # Gaffke's bound, which also holds if losses are rare, needs a few more.
        assert needed < row["by_compare_gate"] < 1.05 * needed


def test_the_formula_of_miller() -> None:
    # Section 5: (1.96 + 0.8416)² (1 / 9) / 0.03².
    (row,) = tables("--sd", str(100 / 3), "--gate", "3")["takes"]
    assert row["to_show_it"]["value"] == 969


def test_a_gate_between_equal_runs_is_the_rule_of_three() -> None:
    # ln(0.05) / ln(1 - δ).
    rows = tables("--discordance", "0", "--gate", "1", "--gate", "2")["takes"]
    assert [row["by_compare_gate"] for row in rows] == [299, 149]
    (row,) = tables("--discordance", "0", "--gate", "2", "--loss", "1")["takes"]
    assert row.get("by_compare_gate") is None


def test_too_few_questions_show_nothing() -> None:
    rows = tables("hkcanto_law", "--discordance", "10", "--items", "20")["shows"]
    assert rows[0]["shows"] is None


# ---------------------------------------------------------------------- the headline's weights

SHARE, OPENRICE, FACEBOOK = 0.293, 1_199, 398  # one item each is a worked example


def test_a_mean_over_categories_shows_less_than_the_accuracy_of_as_many_questions() -> (
    None
):
    # TMMLU+: 66 subjects of different sizes in 4 categories. An item weighs 1 / (4 k n) if its
    # subject has n items and its category k subjects. The mean's variance is 0.293 times the sum of
    # the squared weights.
    subjects = find_task("tmmluplus_gen").subjects
    in_category = Counter(subject.category for subject in subjects)
    squares = sum(
        1 / (4 * in_category[each.category]) ** 2 / each.rows for each in subjects
    )
    found = tables("--discordance", "29.3", "tmmluplus_gen", "--items", "20118")
    plain, weighted = found["shows"]
    assert plain["items"] == weighted["items"] == 20_118
    assert plain["shows"]["value"] == pytest.approx(1.069, abs=5e-4)
    by_hand = 100 * (1.959964 + 0.841621) * (SHARE * squares) ** 0.5
    assert weighted["shows"]["value"] == pytest.approx(by_hand)
    assert weighted["shows"]["value"] == pytest.approx(1.549, abs=5e-4)


def test_so_small_a_difference_of_that_mean_is_shown_in_80_of_100() -> None:
    subjects, rng = find_task("tmmluplus_gen").subjects, np.random.default_rng(0)
    in_category = Counter(subject.category for subject in subjects)
    means, variances = np.zeros(4_000), np.zeros(4_000)
    for each in subjects:
        chances = [(SHARE + 0.01549) / 2, (SHARE - 0.01549) / 2, 1 - SHARE]
        wins, losses, _ = rng.multinomial(each.rows, chances, size=4_000).T
        weight = 1 / (4 * in_category[each.category] * each.rows)
        means += weight * (wins - losses)
        variances += weight**2 * (wins + losses)
    assert np.mean(abs(means) > 1.96 * variances**0.5) == pytest.approx(0.8, abs=0.02)


def test_a_mean_over_two_subjects_of_unlike_size() -> None:
    # Each weighs one half: √(1597 (1 / 4 / 1199 + 1 / 4 / 398)) = 1.156.
    factor = (1597 * (0.25 / OPENRICE + 0.25 / FACEBOOK)) ** 0.5
    assert factor == pytest.approx(1.156, abs=5e-4)
    found = tables("--discordance", "29.3", "hkcanto_sentiment", "--items", "1597")
    plain, weighted = found["shows"]
    assert weighted["shows"]["value"] == pytest.approx(factor * plain["shows"]["value"])
    assert weighted["sd"]["value"] == pytest.approx(100 * factor * SHARE**0.5)
    # A gate needs the square of this factor times the questions: 4,529 · 1.336.
    any_questions, of_task = found["takes"]
    assert of_task["existing"] == 1_597
    ratio = of_task["to_show_it"]["value"] / any_questions["to_show_it"]["value"]
    assert ratio == pytest.approx(factor**2, rel=1e-3)


@pytest.mark.slow
def test_a_gate_of_such_a_mean_has_the_power_that_was_promised() -> None:
    gate = ("--discordance", "29.3", "hkcanto_sentiment", "--gate", "4")
    _, of_task = tables(*gate)["takes"]
    items, rng = of_task["by_compare_gate"], np.random.default_rng(0)
    few = round(items * FACEBOOK / (OPENRICE + FACEBOOK))
    weights = np.repeat([0.5 / few, 0.5 / (items - few)], [few, items - few]) * items
    drawn = rng.choice(
        [-1.0, 0.0, 1.0], (300, items), p=[SHARE / 2, 1 - SHARE, SHARE / 2]
    )
    passed = np.mean([loss_bound(losses, weights) < 0.04 for losses in drawn])
    assert passed == pytest.approx(0.8, abs=0.08)


def test_looks_and_candidates_take_more_items() -> None:
    # ln(0.05 / 20) / ln(1 - δ).
    given = ("--discordance", "0", "--gate", "2", "--looks", "2", "--candidates", "10")
    (row,) = tables(*given)["takes"]
    assert row["by_compare_gate"] == np.ceil(np.log(0.05 / 20) / np.log(0.98))
    assert "99.75 % confidence" in hkcanto(*given).output


def test_a_plan_says_at_which_discordance_it_is() -> None:
    assert "Plan for a discordance of 29.3 %" in hkcanto("--discordance", "29.3").output


# ---------------------------------------------------------------------- spreads


def test_the_deviation_of_independent_differences_is_the_usual_one() -> None:
    losses = np.random.default_rng(0).normal(0.1, 0.2, 50)
    spread = power.spread_of_losses(losses, np.ones(50), np.arange(50), 50)
    assert spread.deviation.value == pytest.approx(losses.std(ddof=1))


def test_epochs_that_agree_say_no_more_than_one_and_others_do() -> None:
    rng = np.random.default_rng(0)
    once, places = rng.choice([-1.0, 0.0, 1.0], 60), np.repeat(np.arange(60), 4)
    alone = power.spread_of_losses(once, np.ones(60), np.arange(60), 60).deviation.value
    same = power.spread_of_losses(
        once[places], np.ones(240), places, 60
    ).deviation.value
    assert same == pytest.approx(alone)
    others = power.spread_of_losses(
        rng.permutation(once[places]), np.ones(240), places, 60
    )
    assert others.deviation.value == pytest.approx(alone / 2, rel=0.2)


def test_questions_on_one_passage_count_for_less() -> None:
    once, places = np.array([1.0, -1.0] * 20), np.repeat(np.arange(40), 5)
    spread = power.spread_of_losses(once[places], np.ones(200), places, 200)
    # A design effect of 5: the 200 items are worth 40.
    deviation = spread.deviation.value / np.sqrt(200)
    assert deviation == pytest.approx(once.std(ddof=1) / np.sqrt(40))


# ---------------------------------------------------------------------- promises are kept


@pytest.mark.slow
@pytest.mark.parametrize(
    ("share", "loss"), [(0.3, 0.0), (0.1, 0.01), (0.03, 0.0), (0.2, -0.02)]
)
def test_the_gate_of_compare_has_the_power_that_was_promised(
    share: float, loss: float
) -> None:
    given = (
        "--discordance",
        str(100 * share),
        "--loss",
        str(100 * loss),
        "--gate",
        "5",
    )
    ((row,), delta) = (tables(*given)["takes"], 0.05)
    items = row["by_compare_gate"]
    chances = [(share - loss) / 2, 1 - share, (share + loss) / 2]
    drawn = np.random.default_rng(0).multinomial(items, chances, size=300).astype(float)
    values, ones = np.array([-1.0, 0.0, 1.0]), np.ones(3)
    passed = np.mean([loss_bound(values, ones, copies=each) < delta for each in drawn])
    assert passed == pytest.approx(0.8, abs=0.08)


@pytest.mark.slow
def test_so_has_a_gate_of_error_rates() -> None:
    rng = np.random.default_rng(1)
    rates = np.where(rng.random(4000) < 0.3, rng.normal(0, 0.3, 4000), 0).clip(-1, 1)
    rates -= rates.mean()
    lengths = rng.integers(3, 40, 4000).astype(float)
    rates -= (rates @ lengths) / lengths.sum()
    items = power.items_for_bound(
        power.spread_of_losses(rates, lengths, np.arange(4000), 4000), 0.03
    )
    assert items
    passed = []
    for _ in range(150):
        places = rng.integers(4000, size=items)
        passed.append(loss_bound(rates[places], lengths[places]) < 0.03)
    assert np.mean(passed) == pytest.approx(0.8, abs=0.09)


# ---------------------------------------------------------------------- runs


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two models on sample data: one's letter depends on the prompt, the other always says A."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HKCANTO_DATA_DIR", raising=False)
        patch.setenv("HKCANTO_DATA", "sample")
        for name, model in {
            "a": AnsweringLM(answer),
            "b": AnsweringLM(lambda _: "A"),
        }.items():
            folder = tmp_path_factory.mktemp(name)
            run_lm_eval(
                folder, "hkcanto_law", "hkcanto_translation_zh_yue", model=model
            )
            found.append(f"{name}={folder}")
    return found


def test_two_runs_are_planned_with_as_they_are_compared(runs: list[str]) -> None:
    compared = CliRunner().invoke(app, ["compare", *runs, "--format", "json"])
    effects = [
        one["effects"]["all"] for one in json.loads(compared.stdout)["comparisons"]
    ]
    of_law = next(each for each in effects if each["test"] == "exact McNemar")
    differ, all_of_it = of_law["wins"] + of_law["losses"], of_law["difference"]["items"]
    found = tables(*runs)
    rows = {row["item_set"].split(":")[0]: row for row in found["shows"]}
    law = rows["hkcanto_law"]
    assert law["disagree"]["value"] == pytest.approx(differ / all_of_it)
    assert law["disagree"]["low"] < law["disagree"]["value"] < law["disagree"]["high"]
    assert law["items"] == 424  # the whole release, not the sample data
    ends = [
        100 * 2.8016 * (law["disagree"][end] / 424) ** 0.5 for end in ("low", "high")
    ]
    assert [law["shows"]["low"], law["shows"]["high"]] == pytest.approx(ends, rel=1e-3)
    # Sentence chrF has a standard deviation instead of a discordance.
    assert rows["hkcanto_translation_zh_yue"]["disagree"] is None
    assert rows["hkcanto_translation_zh_yue"]["sd"]["value"] > 0


def test_two_runs_are_planned_with_by_the_weights_of_their_headline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HKCANTO_DATA", "sample")
    right: list[dict[str, tuple[str, float]]] = []
    for name, model in {
        "a": AnsweringLM(answer),
        "b": AnsweringLM(lambda _: "A"),
    }.items():
        log = run_lm_eval(tmp_path / name, "hkcanto_cultural", model=model)
        (samples,) = log.parent.glob("samples_*.jsonl")
        docs = [
            json.loads(line)["doc"] for line in samples.read_text("utf-8").splitlines()
        ]
        acc = ((doc["subject"], doc["judgement"]["values"]["acc"]) for doc in docs)
        right.append(dict(zip((doc["id"] for doc in docs), acc, strict=True)))
    a, b = right
    sizes = Counter(subject for subject, _ in a.values())
    assert len({*sizes.values()}) > 1
    # The mean over the subjects: Σ w d, with the variance of a ratio of n sums.
    weights = np.array([1 / len(sizes) / sizes[subject] for subject, _ in a.values()])
    changes = np.array([b[name][1] - a[name][1] for name in a])
    residuals = weights * (changes - weights @ changes)
    count = len(changes)
    deviation = count * (residuals @ residuals / (count - 1)) ** 0.5
    rows = tables(tmp_path / "a", tmp_path / "b")["shows"]
    (cultural,) = (
        row for row in rows if row["item_set"].startswith("hkcanto_cultural: ")
    )
    assert cultural["sd"]["value"] == pytest.approx(100 * deviation)
    assert cultural["shows"]["value"] == pytest.approx(280.1585 * deviation / 252**0.5)
    assert cultural["disagree"]["value"] == pytest.approx(abs(changes).mean())
    rows = tables(tmp_path / "a", tmp_path / "b", "--metric", "acc")["shows"]
    assert rows[0]["shows"]["value"] == pytest.approx(
        280.1585 * (abs(changes).mean() / 252) ** 0.5
    )


def test_one_run_is_not_enough(runs: list[str]) -> None:
    done = hkcanto(runs[0])
    assert done.exit_code == 1
    assert "give the logs of two runs" in done.output
    assert "Traceback" not in done.output


# ---------------------------------------------------------------------- real models


@pytest.mark.realdata
@pytest.mark.skipif(
    not ANSWERS.exists(), reason="the real models' answers are not here"
)
def test_real_models_get_the_power_that_was_promised() -> None:
    rng = np.random.default_rng(0)
    right: dict[str, list[bool]] = {}
    with gzip.open(ANSWERS, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["shots"] == "5":
                right.setdefault(row["model"], []).append(row["letter"] == row["gold"])
    models, shown = [np.array(each) for each in right.values()], []
    while len(shown) < 60:
        a, b = rng.choice(len(models), 2, replace=False)
        change = models[b].astype(int) - models[a]
        difference, share = abs(change.mean()), (change != 0).mean()
        if 0.02 < difference < 0.2:
            # Real questions, drawn anew.
            items = power.items_to_show(share**0.5, difference)
            drawn = (rng.choice(change, items) for _ in range(100))
            tests = [
                mcnemar_p_value(int((x > 0).sum()), int((x < 0).sum())) for x in drawn
            ]
            shown.append(np.mean(np.array(tests) < 0.05))
    assert np.mean(shown) == pytest.approx(0.79, abs=0.025)


# ---------------------------------------------------------------------- the command


def test_what_cannot_be_planned_is_refused() -> None:
    for given, status, why in (
        ((), 2, "give one of these"),
        (("--sd", "3", "--discordance", "20"), 2, "give one of these"),
        (("a", "--sd", "3"), 1, "a"),
        (
            ("--discordance", "20", "--gate", "1", "--loss", "1"),
            1,
            "--gate 1 with --loss 1",
        ),
        (("hkmlu", "--discordance", "20"), 1, "Did you mean hkmmlu"),
        (
            ("hkcanto_law", "hkcanto_g2p", "--discordance", "20"),
            1,
            "other figures with --sd",
        ),
        (("hkmmlu", "tmmluplus_gen"), 2, "hkmmlu does not exist"),
    ):
        done = hkcanto(*given)
        assert done.exit_code == status, given
        assert why in " ".join(done.output.split()), given


def test_without_a_tolerance_the_plan_is_for_two_points() -> None:
    rows = tables("--discordance", "20")["takes"]
    assert [row["points"] for row in rows] == ["2"]
    rows = tables("--discordance", "20", "--gate", "1", "--gate", "3")["takes"]
    assert [row["points"] for row in rows] == ["1", "3"]


def test_a_page_has_a_picture(tmp_path: Path) -> None:
    page = tmp_path / "plan.html"
    assert hkcanto("--discordance", "29.3", "-o", page).exit_code == 0
    assert "<circle" in page.read_text("utf-8")
    assert [path.name for path in tmp_path.iterdir()] == [page.name]


@pytest.mark.slow
def test_what_the_document_shows_is_printed() -> None:
    text = (Path(__file__).parents[2] / "docs" / "planning.md").read_text("utf-8")
    shown = re.findall(
        r"<!-- run by: test_plan -->\n```bash\n(.*?)\n```\n\n```text\n(.*?)```",
        text,
        re.S,
    )
    assert len(shown) == 2
    for command, table in shown:
        done = subprocess.run(
            [sys.executable, "-c", MAIN, *shlex.split(command)[1:]],
            env={**os.environ, "COLUMNS": "80"},
            capture_output=True,
            text=True,
            check=True,
        )
        printed = [line.rstrip() for line in done.stdout.splitlines()]
        assert table in "\n".join([*printed, ""])


def test_a_discordance_below_one_per_cent_is_not_taken_for_a_share() -> None:
    done = CliRunner().invoke(app, ["plan", "--discordance", "0.3"])
    assert done.exit_code == 2
    assert "0.3 is 0.3 %" in " ".join(done.output.split())
