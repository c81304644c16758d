"""Model labels are short, and distinct for models in the same condition."""

import shutil
from pathlib import Path
from typing import Literal

import pytest

from hkcanto_tasks import read_runs
from hkcanto_tasks.results.logs.joining import Origin, labels

Harness = Literal["lm-eval", "inspect"]


def origin(
    model: str,
    path: str = "runs",
    name: str = "",
    harness: Harness = "lm-eval",
    **settings: str,
) -> Origin:
    argument = sum(map(ord, path))
    return Origin(harness, model, tuple(sorted(settings.items())), argument, Path(path), name)


def labelled(*origins: Origin, condition: str = "hkmmlu") -> list[str]:
    made = labels({each: {condition} for each in origins})
    return [made[each] for each in origins]


def test_a_model_is_called_by_the_end_of_its_name() -> None:
    assert labelled(origin("org/base-7b"), origin("/models/tuned/")) == ["base-7b", "tuned"]


def test_a_users_name_counts() -> None:
    named = [origin("m", "a", name="before"), origin("m", "b", name="after")]
    assert labelled(*named) == ["before", "after"]


def test_two_models_in_one_named_folder_keep_their_own_names_beside_it() -> None:
    named = [origin("org/m7", name="mine"), origin("org/m13", name="mine")]
    assert labelled(*named) == ["mine (org/m7)", "mine (org/m13)"]


def test_models_of_two_owners_have_their_whole_names() -> None:
    assert labelled(origin("a/chat"), origin("b/chat")) == ["chat (a/chat)", "chat (b/chat)"]


def test_one_model_in_two_folders_is_told_apart_by_what_differs_in_the_path() -> None:
    runs = [origin("./out", "runs/base/logs"), origin("./out", "runs/tuned/logs")]
    assert labelled(*runs) == ["out (base)", "out (tuned)"]


def test_one_model_in_one_folder_is_told_apart_by_its_settings() -> None:
    runs = [origin("org/m", dtype="bfloat16"), origin("org/m", dtype="bfloat16", load_in_4bit="1")]
    assert labelled(*runs) == ["m (plain)", "m (load_in_4bit=1)"]


def test_one_model_in_both_harnesses_is_told_apart_by_the_harness() -> None:
    runs = [origin("m", dtype="x"), origin("hf/m", harness="inspect")]
    assert labelled(*runs) == ["m (lm-eval)", "m (Inspect)"]


def test_both_harnesses_in_two_folders() -> None:
    runs = [
        origin(model, path, harness=harness)
        for path in ("runs/base", "runs/tuned")
        for model, harness in (("m", "lm-eval"), ("hf/m", "inspect"))
    ]
    assert labelled(*runs) == [
        "m (lm-eval, base)",
        "m (Inspect, base)",
        "m (lm-eval, tuned)",
        "m (Inspect, tuned)",
    ]


def test_models_in_different_tables_keep_short_names() -> None:
    one, other = origin("a/chat"), origin("b/chat")
    assert labels({one: {"hkmmlu"}, other: {"hkcanto_g2p"}}) == {one: "chat", other: "chat"}


def test_labels_of_real_logs(tmp_path: Path, lm_eval_logs: Path, inspect_logs: Path) -> None:
    shutil.copytree(lm_eval_logs / "pycantonese", tmp_path / "base")
    shutil.copytree(lm_eval_logs / "pycantonese", tmp_path / "tuned")

    def of_g2p(*arguments: str | Path) -> list[str]:
        runs = read_runs(arguments)
        return [each.label for each in runs if each.task == "hkcanto_g2p"]

    assert of_g2p(lm_eval_logs) == ["pycantonese"]
    assert of_g2p(lm_eval_logs, inspect_logs) == ["pycantonese (lm-eval)", "pycantonese (Inspect)"]
    assert of_g2p(tmp_path / "base", tmp_path / "tuned") == [
        "pycantonese (base)",
        "pycantonese (tuned)",
    ]
    assert of_g2p(f"old={tmp_path / 'base'}", f"new={tmp_path / 'tuned'}") == ["old", "new"]
    # In one folder, they are two copies of a run.
    assert of_g2p(tmp_path) == ["pycantonese"]


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
