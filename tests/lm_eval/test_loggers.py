"""lm-eval sends the same figures to experiment trackers as it prints."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ..conftest import LmEvalRun

ENGINE = ("--model", "hkcanto-g2p", "--model_args", "engine=pycantonese")


@pytest.mark.slow
def test_trackio_gets_the_figures_and_the_samples(
    lm_eval_cli: Callable[..., LmEvalRun], tmp_path: Path
) -> None:
    run = lm_eval_cli(
        *ENGINE, "--trackio_args", "project=hkcanto", TRACKIO_DIR=str(tmp_path)
    )
    with closing(sqlite3.connect(tmp_path / "hkcanto.db")) as database:
        logged = [
            json.loads(row[0])
            for row in database.execute("select metrics from metrics")
        ]
        traces = database.execute("select count(*) from traces").fetchone()[0]
    figures = run.results["results"]["hkcanto_g2p"]
    assert logged[0]["hkcanto_g2p/cer_published"] == figures["cer_published,none"]
    assert logged[0]["hkcanto_g2p/cer"] == figures["cer,none"]
    assert traces == len(run.samples) == 60


@pytest.mark.slow
def test_weights_and_biases_gets_the_figures(
    lm_eval_cli: Callable[..., LmEvalRun], tmp_path: Path
) -> None:
    run = lm_eval_cli(
        *ENGINE, "--wandb_args", "project=hkcanto,mode=offline", WANDB_DIR=str(tmp_path)
    )
    (record,) = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    written = record.read_bytes()
    for metric in ("cer_published", "cer"):
        assert f"hkcanto_g2p/{metric}".encode() in written
        assert (
            repr(run.results["results"]["hkcanto_g2p"][f"{metric},none"]).encode()
            in written
        )
