"""Inspect's own readers of logs find our figures, scores and metadata."""

import json
from pathlib import Path

import pytest
from inspect_ai.analysis import evals_df, samples_df

from hkcanto import tasks

from ..conftest import InspectRun
from .test_second_look import run


@pytest.fixture(scope="module")
def folder(inspect_sample_run: InspectRun) -> Path:
    return Path(inspect_sample_run.log.location).parent


def test_a_row_of_an_evaluation_has_the_headline_and_every_figure(
    folder: Path, inspect_sample_run: InspectRun
) -> None:
    frame = evals_df(str(folder))
    (judged,) = inspect_sample_run.log.results.scores
    assert frame["score_headline_value"][0] == judged.metrics["cer_published"].value
    for name, metric in judged.metrics.items():
        assert frame[f"score_judged_{name}"][0] == metric.value


def test_a_row_of_a_sample_has_its_scores_and_metadata(folder: Path) -> None:
    frame = samples_df(str(folder))
    assert len(frame) == 60
    assert set(json.loads(frame["score_judged"][0])) >= {
        "cer_published",
        "cer",
        "invalid_rate",
    }
    assert frame["metadata_subject"].tolist() == [""] * 60
    assert frame["id"][0].startswith("hkcanto_g2p/")


def test_a_run_of_this_process_has_the_headline_and_its_scores(tmp_path: Path) -> None:
    task = tasks.run(task="hkcanto_law", shots=0)
    run(task, tmp_path, lambda _: "A", limit=4)
    samples = samples_df(str(tmp_path))
    targets = [each.metadata["target"] for each in task.dataset][:4]
    right = targets.count("A") / 4
    assert 0 < right < 1
    (row,) = evals_df(str(tmp_path)).to_dict("records")
    assert row["score_headline_value"] == row["score_judged_acc"] == right
    assert sorted(samples["id"]) == sorted(each.id for each in task.dataset[:4])
    values = [json.loads(each)["acc"] for each in samples["score_judged"]]
    assert sum(values) == 4 * right
