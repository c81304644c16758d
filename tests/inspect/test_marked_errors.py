"""A judge on translations in which people marked the errors, from the file to the command."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from typer.testing import CliRunner

from hkcanto.judges import judged_translation
from hkcanto.tasks import marked_errors
from hkcanto_tasks.cli import app

from ..tasks.test_human_errors import file, mark, row
from .test_judges import TRANSLATION, code_of, error, labels, model, run, says

# Of eight characters, people marked 0, 1, 2, … and the judge the same less one.
ROWS = [
    row(
        n,
        mark("一二三四五六七八"[:n], 0, "Mistranslation"),
        mt="一二三四五六七八",
        src="x" * 10 * n,
    )
    for n in range(1, 8)
]


def finds(messages: list[Any], _: Any) -> str:
    """Mark one character less than people, in other words; of the first, leave something out."""
    prompt = messages[0].text
    length = len(re.findall("x{10,}", prompt)[0]) // 10
    found = [error("一二三四五六七八"[: length - 1], "Register Issues")] if length > 1 else []
    found += [error("x", "Omission")] if length == 1 else []
    return json.dumps({"code": code_of(prompt), **labels(*found)})


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    return file(tmp_path, *ROWS)


@pytest.fixture
def log(marked: Path, tmp_path: Path) -> Any:
    (log,) = inspect_eval(
        marked_errors(str(marked), judgements=2),
        model="none",
        model_roles={"grader": model(finds)},
        log_dir=str(tmp_path / "own"),
        display="none",
    )
    assert log.status == "success", log.error
    return log


def agreement(folder: Path, *arguments: Any, status: int = 0) -> Any:
    """The tables of the command, by name, as records; with another status what it printed."""
    made = folder / "made.json"
    command = ["agreement", *map(str, arguments), "-o", str(made)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == status, done.output
    if status:
        return " ".join(done.output.split())
    tables = json.loads(made.read_text("utf-8"))["tables"]
    return {name: table["rows"] for name, table in tables.items()}


def test_a_judge_is_compared_with_people_and_with_metrics(
    log: Any, marked: Path, tmp_path: Path
) -> None:
    tables = agreement(tmp_path, "--sinitic", marked, log.location)
    ranks = tables["ranks"]
    assert [each["judge_or_metric"] for each in ranks][:3] == [
        "Judge mockllm/model",
        "BLEU",
        "BLEU-2",
    ]
    # By accuracy of people 7/8, 6/8 … 1/8, by the judge 8/9, 7/8, … 2/8: the same order.
    assert ranks[0]["spearman_accuracy"]["value"] == pytest.approx(1)
    assert ranks[0]["kendall_accuracy"]["value"] == pytest.approx(1)
    whole, *thirds = tables["bias_1"]
    assert whole["bias"]["value"] == pytest.approx((8 / 9 - 7 / 8 + 6 / 8) / 7)
    assert [each["segments"] for each in thirds] == [3, 2, 2]
    assert thirds[1]["bias"]["value"] == pytest.approx(1 / 8)


def test_the_errors_that_it_finds_are_compared_by_category(
    log: Any, marked: Path, tmp_path: Path
) -> None:
    spans = {
        each["category"]: each
        for each in agreement(tmp_path, "--sinitic", marked, log.location)["spans_1"]
    }
    found = spans["Mistranslation"]
    # Of 28 characters the judge has 21; of 7 spans and segments 6.
    assert found["f1_characters"]["value"] == pytest.approx(2 * 21 / (28 + 21))
    assert found["f1_spans"]["value"] == pytest.approx(2 * 6 / (7 + 6))
    assert found["f1_segments"]["value"] == pytest.approx(2 * 6 / (7 + 6))
    assert found["people"] == 1
    assert found["judge"] == pytest.approx(6 / 7)
    assert spans["Omission"]["f1_segments"]["value"] == 0
    assert spans["Omission"]["f1_characters"] is None
    assert spans["All"]["f1_segments"]["value"] == 1


def test_another_log_of_the_same_judge_is_corrected(log: Any, marked: Path, tmp_path: Path) -> None:
    """The judge gives it 1; on what people marked its bias is known."""
    grader = says(labels())
    other = run(judged_translation("en_yue", 1), grader, tmp_path / "other", *[TRANSLATION] * 2)
    for sample in other.samples:  # ids as a benchmark's: not those of the file
        sample.id = f"hkcanto_translation_en_yue/{sample.id}"
    from inspect_ai.log import write_eval_log

    write_eval_log(other, other.location)
    tables = agreement(tmp_path, "--sinitic", marked, log.location, other.location)
    [row] = tables["corrected"]
    assert row["judged"] == 1
    assert row["corrected"]["value"] == pytest.approx(1 - (8 / 9 - 7 / 8 + 6 / 8) / 7)
    assert "No log has judgements" in agreement(
        tmp_path, "--sinitic", marked, other.location, status=1
    )


def test_a_log_of_other_translations_by_these_ids_is_refused(marked: Path, tmp_path: Path) -> None:
    log = run(judged_translation("en_yue", 1), says(labels()), tmp_path, *[TRANSLATION] * 3)
    said = agreement(tmp_path, "--sinitic", marked, log.location, status=1)
    assert "another translation under the id 1" in said


def test_without_a_log_the_metrics_are_compared(marked: Path, tmp_path: Path) -> None:
    tables = agreement(tmp_path, "--sinitic", marked)
    assert list(tables) == ["ranks"]
    assert [each["judge_or_metric"] for each in tables["ranks"]] == [
        *("BLEU", "BLEU-2", "chrF", "METEOR", "ROUGE-L", "Mean"),
    ]


def test_scores_in_a_csv_file_correct_the_rest_of_the_log(log: Any, tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("id,judged_accuracy\n1,0.875\n2,0.75\n3,0.625\n4,0.5\n", "utf-8")
    [found] = agreement(tmp_path, log.location, people)["agreement"]
    assert found["items"] == 4
    assert found["bias"]["value"] == pytest.approx((8 / 9 - 7 / 8 + 3 / 8) / 4)
    assert found["corrected_mean"]["low"] < 0.5 < found["corrected_mean"]["high"]


def test_a_log_without_a_judge_and_a_missing_csv_are_one_line(log: Any, tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("id,tone\n1,1\n", "utf-8")
    assert "must have 'id'" in agreement(tmp_path, log.location, people, status=1)
    assert "give a log and a CSV" in agreement(tmp_path, log.location, status=2)
