"""Model labels are short, and distinct for models in the same condition."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from hkcanto_tasks import read_runs
from hkcanto_tasks.results.logs import labelled
from hkcanto_tasks.results.runs import Run, Sent

from ..cases import another_run
from .building import a_run

Harness = Literal["lm-eval", "inspect"]


def origin(
    model: str,
    path: str = "runs",
    name: str = "",
    harness: Harness = "lm-eval",
    task: str = "hkmmlu",
    **settings: str,
) -> tuple[Run, Path]:
    run = replace(a_run(task, {"acc": [1.0]}), model=model, name=name, harness=harness)
    return replace(run, settings=tuple(sorted(settings.items()))), Path(path)


def labels(*origins: tuple[Run, Path]) -> list[str]:
    paths = [*dict.fromkeys(path for _, path in origins)]
    runs = [replace(run, argument=paths.index(path)) for run, path in origins]
    return [run.label for run in labelled(runs, paths)]


def test_labels_are_short_and_differ_in_what_differs() -> None:
    # The end of the model's name, or the user's name for the argument
    assert labels(origin("org/base-7b"), origin("/models/tuned/")) == [
        "base-7b",
        "tuned",
    ]
    named = [origin("m", "a", name="before"), origin("m", "b", name="after")]
    assert labels(*named) == ["before", "after"]
    named = [origin("org/m7", name="mine"), origin("org/m13", name="mine")]
    assert labels(*named) == ["mine (org/m7)", "mine (org/m13)"]
    assert labels(origin("a/chat"), origin("b/chat")) == [
        "chat (a/chat)",
        "chat (b/chat)",
    ]
    # The part of the path, a number, or the harness
    runs = [origin("./out", "runs/base/logs"), origin("./out", "runs/tuned/logs")]
    assert labels(*runs) == ["out (base)", "out (tuned)"]
    runs = [
        origin("org/m", dtype="bfloat16"),
        origin("org/m", dtype="bfloat16", load_in_4bit="1"),
    ]
    assert labels(*runs) == ["m (#1)", "m (#2)"]
    runs = [origin("m", dtype="x"), origin("hf/m", harness="inspect")]
    assert labels(*runs) == ["m (lm-eval)", "m (Inspect)"]
    runs = [
        origin(model, path, harness=harness)
        for path in ("runs/base", "runs/tuned")
        for model, harness in (("m", "lm-eval"), ("hf/m", "inspect"))
    ]
    assert labels(*runs) == [
        "m (lm-eval, base)",
        "m (Inspect, base)",
        "m (lm-eval, tuned)",
        "m (Inspect, tuned)",
    ]
    # Models under different conditions are in different tables.
    assert labels(origin("a/chat"), origin("b/chat", task="hkcanto_law")) == [
        "chat",
        "chat",
    ]


def test_labels_of_real_logs(
    tmp_path: Path, lm_eval_logs: Path, inspect_logs: Path
) -> None:
    shutil.copytree(lm_eval_logs / "pycantonese", tmp_path / "base")
    another_run(lm_eval_logs / "pycantonese", tmp_path / "tuned")

    def of_g2p(*arguments: str | Path) -> list[str]:
        runs = read_runs(arguments)
        return [each.label for each in runs if each.task == "hkcanto_g2p"]

    assert of_g2p(lm_eval_logs) == ["pycantonese"]
    assert of_g2p(lm_eval_logs, inspect_logs) == [
        "pycantonese (lm-eval)",
        "pycantonese (Inspect)",
    ]
    assert of_g2p(tmp_path / "base", tmp_path / "tuned") == [
        "pycantonese (base)",
        "pycantonese (tuned)",
    ]
    assert of_g2p(f"old={tmp_path / 'base'}", f"new={tmp_path / 'tuned'}") == [
        "old",
        "new",
    ]
    # In one folder, they are two copies of a run.
    assert of_g2p(tmp_path) == ["pycantonese"]


def test_runs_of_one_model_under_one_condition_have_labels_of_their_own() -> None:
    # A table of models and tasks has one place for a label and a task.
    once, path = origin("org/m")
    four = replace(once, sent=Sent(repeats=4, temperature=0.7))
    other_task = replace(origin("org/m", task="hkcanto_law")[0], sent=four.sent)
    assert labels((once, path), (four, path), (other_task, path)) == [
        "m",
        "m (temperature 0.7, repeats 4)",
        "m",
    ]


def test_a_folder_with_an_equals_sign_in_its_name_is_a_folder(
    tmp_path: Path, lm_eval_logs: Path
) -> None:
    folder = tmp_path / "lr=1e-5"
    shutil.copytree(lm_eval_logs / "pycantonese", folder)
    (run,) = read_runs([folder])
    assert run.label == "pycantonese"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        (run,) = read_runs(["best=lr=1e-5"])
    assert run.label == "best"


def test_a_log_that_two_arguments_lead_to_is_read_once(lm_eval_logs: Path) -> None:
    read = read_runs([lm_eval_logs, lm_eval_logs / "pycantonese"])
    assert [each.label for each in read].count("pycantonese") == 1
    (skipped,) = read.skipped
    assert "was already read from" in skipped.reason
