"""docs/examples/yue_benchmark scores the responses of a clone; here, a made-up one with our rows."""

import csv
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from .scripts import REPOSITORY, load_script

EXAMPLE = REPOSITORY / "docs" / "examples" / "yue_benchmark"
score = load_script("docs/examples/yue_benchmark/score.py")

# Another rule than the authors': the last letter, or C.
LETTERS = """
def extract_answer(prediction, choices, prompt):
    assert prompt.splitlines()[0] == "A. " + choices[0]
    letters = [letter for letter in prediction if letter in "ABCD"]
    return letters[-1] if letters else "C"
"""
NUMBERS = """
class GSM8KEvaluator:
    def extract_answers(self, text):
        return [text.split()[0], text.split()[-1]]

    def is_equal(self, number, target):
        return number == target
"""
# The targets of our rows: B, D, A and C; B, A and C; 31, 10 and 7,500.
FILES: dict[str, Any] = {
    "CMMLU/CMMLU-yue/predictions/one_CMMLU-arts_cantonese_0shot.json": ["B", "D", "B"],
    "CMMLU/CMMLU-yue/predictions/one_CMMLU-high_school_geography_cantonese_0shot.json": [
        "答案係C"
    ],
    "ARC_c/ARC_c-yue/gpt-3.5-turbo-instruct_ARC-c_cantonese_0shot.json": [
        "B",
        "A",
        "C",
    ],
    "ARC_c/ARC_c-yue/two1_5-7b-hf_ARC-c_cantonese_0shot.json": [
        "A. 由杯入面滲出嚟？唔係。答案係B",
        "(A)",
        "我唔知",
    ],
    "GSM8K/GSM8K-yue/predictions/one_gsm8k_cantonese_0shot.json": [
        "31",
        "答案：10。第 2 步",
        "7,500",
    ],
    "Translation/prediction/one/en-yue_0shot.json": {
        str(place): {"prediction": [text]} for place, text in enumerate("一二三四五六")
    },
    "ARC_c/ARC_c-en/one_ARC-c_english_0shot.json": ["not Cantonese"],
}
PUBLISHED = {
    "CMMLU/CMMLU-yue/evaluation/cmmlu_yue_results.csv": [
        "one,CMMLU-arts,cantonese,0shot,0.6667",
        "one_CMMLU-high_school,geography,cantonese,0shot,0.0",
    ],
    "ARC_c/ARC-eval/arc_cantonese_results.csv": [
        "two1_5-7b-hf,ARC-c,cantonese,0shot,0.3333"
    ],
}
EVALUATIONS = {
    "CMMLU/CMMLU-yue/evaluation": LETTERS,
    "ARC_c/ARC-eval": LETTERS,
    "GSM8K/GSM8K-eval": NUMBERS,
}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the script filled."""
    folder = tmp_path_factory.mktemp("yue")
    results = folder / "yue_benchmark" / "results&src"
    for name, responses in FILES.items():
        rows = responses
        if isinstance(responses, list):
            rows = [{"llm_output": response} for response in responses]
        write(results / name, json.dumps(rows))
    for name, lines in PUBLISHED.items():
        header = "Model Name,Dataset,Language,Shot Type,Accuracy"
        write(results / name, "\n".join([header, *lines]))
    for name, code in EVALUATIONS.items():
        write(results / name / "Evaluation.py", code)
    done = subprocess.run(
        [sys.executable, EXAMPLE / "score.py", "yue_benchmark", "scored"],
        cwd=folder,
        env={**os.environ, "HKCANTO_DATA": "sample"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "scored"


def test_each_model_has_its_accuracy_by_each_rule(scored: Path) -> None:
    with (scored / "scores.csv").open(encoding="utf-8", newline="") as file:
        rows = {(row["task"], row["model"]): row for row in csv.DictReader(file)}
    columns = (
        "items",
        "ours",
        "unread",
        "published",
        "authors_code",
        "first_or_last",
        "flexible_extract",
    )
    found = {key: [row[column] for column in columns] for key, row in rows.items()}
    third, two_thirds = "0.33333", "0.66667"
    assert found == {
        # lm-eval's rule reads no letter that stands alone.
        ("yue_benchmark_mmlu", "one"): [
            "4",
            "0.75",
            "0.0",
            "0.50002",
            "0.75",
            "0.75",
            "0.0",
        ],
        ("yue_benchmark_arc_c", "ChatGPT"): [
            "3",
            "1.0",
            "0.0",
            "",
            "1.0",
            "1.0",
            "0.0",
        ],
        ("yue_benchmark_arc_c", "two1.5-7b"): [
            "3",
            two_thirds,
            third,
            third[:-1],
            "1.0",
            third,
            third,
        ],
        ("yue_benchmark_gsm8k", "one"): [
            "3",
            "1.0",
            "0.0",
            "",
            third,
            two_thirds,
            two_thirds,
        ],
    }


def test_intervals_are_wilsons(scored: Path) -> None:
    """As statsmodels gives them for 2 of 3: 0.2077 and 0.9385."""
    (row,) = [
        row
        for row in score.read_scores(scored / "scores.csv")
        if row["model"] == "two1.5-7b"
    ]
    assert row["ours_low"] == pytest.approx(0.2077, abs=1e-4)
    assert row["ours_high"] == pytest.approx(0.9385, abs=1e-4)


def test_a_report_reads_the_logs(scored: Path) -> None:
    from hkcanto_tasks import read_runs

    runs = read_runs(scored / "logs" / "0shot")
    assert {(run.task, run.label) for run in runs} == {
        ("yue_benchmark_mmlu", "one"),
        ("yue_benchmark_arc_c", "ChatGPT"),
        ("yue_benchmark_arc_c", "two1.5-7b"),
        ("yue_benchmark_gsm8k", "one"),
        ("yue_benchmark_trans_en_yue", "one"),
    }


def row(**scores: Any) -> Mapping[str, Any]:
    return {
        "task": "yue_benchmark_arc_c",
        "shots": 0.0,
        "ours": 0.5,
        "ours_low": 0.4,
        "ours_high": 0.6,
        "unread": 0.0,
        **dict.fromkeys(score.RULES),
        **scores,
    }


def test_the_tables_show_points_gained_and_lost() -> None:
    rows = [
        row(
            model="low",
            ours=0.25,
            published=0.26,
            first_or_last=0.2,
            unread=0.125,
            authors_code=0.25,
            flexible_extract=0.0,
        ),
        row(
            model="high",
            published=None,
            first_or_last=0.51,
            authors_code=0.25,
            flexible_extract=0.5,
        ),
    ]
    models, tasks = score.tables(rows).split("\n\n")
    assert models.splitlines()[2:] == [
        "| high | 50.0 (40.0 to 60.0) | 0.0 | – | −25.0 | +1.0 | 0.0 |",
        "| low | 25.0 (40.0 to 60.0) | 12.5 | +1.0 | 0.0 | −5.0 | −25.0 |",
    ]
    assert tasks.splitlines()[2:] == [
        "| `yue_benchmark_arc_c`, 0 | 2 | +1.0 (+1.0 to +1.0) | −12.5 (−25.0 to 0.0) "
        "| −2.0 (−5.0 to +1.0) | −12.5 (−25.0 to 0.0) |"
    ]


def test_the_readme_has_the_tables_of_the_scores() -> None:
    text = (EXAMPLE / "README.md").read_text("utf-8")
    models, tasks = score.tables(score.read_scores(EXAMPLE / "scores.csv")).split(
        "\n\n"
    )
    assert models in text
    assert tasks in text


def test_a_clone_of_another_name_is_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLE / "score.py", tmp_path / "clone", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "is not named yue_benchmark" in done.stderr
