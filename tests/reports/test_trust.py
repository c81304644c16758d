"""Comparisons and reports say what cannot be trusted, and lose no log in silence."""

import json
import shutil
import zipfile
import zlib
from collections.abc import Callable
from copy import copy as copy_of
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Epochs
from typer.testing import CliRunner, Result

from hkcanto import tasks
from hkcanto_tasks import load_task, read_runs
from hkcanto_tasks.cli import app
from hkcanto_tasks.data.rows import _data_files
from hkcanto_tasks.errors import OptionError

from ..publishing.conftest import rename
from ..tasks.declaring import QUIZ
from .harness_runs import AnsweringLM, answering_model, run_inspect, run_lm_eval

TASK = "hkcanto_translation_zh_yue"


def hkcanto(*arguments: str | Path) -> Result:
    command = [*map(str, arguments)]
    return CliRunner().invoke(app, command, env={"COLUMNS": "200"})


def translation(prompt: str) -> str:
    """A text of more than twenty characters that depends on the prompt."""
    return (
        f"佢話聽日會落雨，記得帶遮，唔好行咁快，第 {zlib.crc32(prompt.encode())} 句。"
    )


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results file of a model that wrote translations."""
    folder = tmp_path_factory.mktemp("small")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HKCANTO_DATA", "sample")
        log = run_lm_eval(folder, TASK, model=AnsweringLM(translation))
    rename(log, "acme/small")
    return log


def copy(log: Path, folder: Path, **config: str) -> Path:
    """Return a copy of a log as that of another model, with other settings of lm-eval."""
    shutil.copytree(log.parent, folder)
    results = folder / log.name
    rename(results, f"acme/{folder.name}")
    text = json.loads(results.read_text("utf-8"))
    text["config"] |= config
    text["date"] += 60
    results.write_text(json.dumps(text), "utf-8")
    return results


def test_a_second_model_that_was_never_called(small: Path, tmp_path: Path) -> None:
    large = copy(small, tmp_path / "large")
    items = len(read_runs(small).runs[0].items)
    done = hkcanto("compare", small, large, "--gate", "5")
    text = " ".join(done.output.split())
    assert f"{items} of {items} longer responses are equal" in text
    assert done.exit_code == 2, done.output
    done = hkcanto("compare", small, large)
    assert "longer responses are equal" in " ".join(done.output.split())[:1500]
    assert done.exit_code == 0


def test_two_models_that_shared_a_cache(small: Path, tmp_path: Path) -> None:
    runs = [copy(small, tmp_path / name, use_cache="cache.db") for name in ("a", "b")]
    for samples in (tmp_path / "b").glob("samples_*"):
        samples.write_text(samples.read_text("utf-8").replace("遮", "傘"), "utf-8")
    done = hkcanto("compare", *runs, "--gate", "5")
    assert "both used lm-eval's cache cache.db" in " ".join(done.output.split())
    assert done.exit_code == 2, done.output


def test_a_run_compared_with_itself_is_no_surprise(small: Path, tmp_path: Path) -> None:
    shutil.copytree(small.parent, tmp_path / "again")
    results = tmp_path / "again" / small.name
    text = json.loads(results.read_text("utf-8"))
    text["date"] += 60
    results.write_text(json.dumps(text), "utf-8")
    done = hkcanto("compare", f"a={small}", f"b={results}")
    assert "are equal to the last character" not in " ".join(done.output.split())


def test_a_log_that_contradicts_itself_passes_no_gate(
    small: Path, tmp_path: Path
) -> None:
    other = copy(small, tmp_path / "other")
    results = json.loads(other.read_text("utf-8"))
    results["configs"][TASK]["num_fewshot"] = 1
    other.write_text(json.dumps(results), "utf-8")
    for command in (("report", other), ("compare", small, other, "--gate", "5")):
        done = hkcanto(*command, "--full")
        said = " ".join(done.output.split())
        assert "its signature is not that of its task and options: shots:" in said
    assert done.exit_code == 2


# ---------------------------------------------------------------------- folders


def test_a_link_to_another_folder_is_named(small: Path, tmp_path: Path) -> None:
    shutil.copytree(small.parent, tmp_path / "runs" / "first")
    copy(small, tmp_path / "second")
    (tmp_path / "runs" / "second").symlink_to(tmp_path / "second")
    (tmp_path / "runs" / "latest").symlink_to(tmp_path / "runs" / "first")
    runs = read_runs(tmp_path / "runs")
    assert len(runs) == 1
    ((path, why, *_),) = runs.skipped
    assert path == tmp_path / "runs" / "second"
    assert "a link to another folder is not followed" in why


def test_a_folder_that_cannot_be_searched_is_named(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    shutil.copytree(small.parent, tmp_path / "runs" / "first")
    closed = tmp_path / "runs" / "closed"
    closed.mkdir()
    scandir = os.scandir

    def refusing(path: str) -> object:
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    ((path, why, *_),) = read_runs(tmp_path / "runs").skipped
    assert path == closed
    assert "cannot be read" in why


def test_drafts_of_what_is_published_are_not_logs(small: Path, tmp_path: Path) -> None:
    shutil.copytree(small.parent, tmp_path / "runs" / "first")
    copy(small, tmp_path / "runs" / ".publish-x1" / "draft")
    runs = read_runs(tmp_path / "runs")
    assert [run.model for run in runs] == ["acme/small"]
    assert not runs.skipped


# ---------------------------------------------------------------------- answers of other tools


@pytest.mark.parametrize("encoding", ["big5hkscs", "cp950", "gb18030", "gbk", "utf-16"])
def test_answers_in_another_encoding_are_named_or_decoded(
    encoding: str, tmp_path: Path
) -> None:
    rows = [
        {"id": sample.id, "response": f"答案係{sample.target}。"}
        for sample in load_task("hkmmlu", "hk_law").samples
    ]
    file = tmp_path / "answers.jsonl"
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    encoded = "gb18030" if encoding == "gbk" else encoding
    file.write_bytes(text.encode(encoded))
    command = ("rescore", file, "--task", "hkmmlu", "-o", tmp_path / "out")
    done = hkcanto(*command)
    said = " ".join(done.output.split())
    assert done.exit_code == 1
    assert "answers.jsonl, line 1: byte 0x" in said
    assert "--encoding" in said
    done = hkcanto(*command, "--encoding", encoding)
    assert done.exit_code == 0, done.output
    assert "Accuracy 100.00 %" in " ".join(done.output.split())
    assert (
        "--encoding nope is unknown" in hkcanto(*command, "--encoding", "nope").output
    )


def test_no_version_of_datasets_that_runs_scripts_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets

    script = tmp_path / "cfg" / "cfg.py"
    script.parent.mkdir()
    script.write_text("raise SystemExit('it ran')")
    monkeypatch.setattr(datasets, "__version__", "2.18.0")
    with pytest.raises(OptionError, match=r"datasets 2.18.0 would run scripts"):
        _data_files(tmp_path, "cfg")


# ---------------------------------------------------------------------- logs of Inspect


@pytest.fixture
def law(tmp_path: Path) -> Path:
    """A log of four items in two epochs, in JSON; the model says A."""
    return run_inspect(
        tmp_path / "law",
        tasks.hkmmlu(subjects="hk_law"),
        model=answering_model(lambda _: "A"),
        log_format="json",
        limit=4,
        epochs=Epochs(2, "max"),
    )


def rewritten(log: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    text = json.loads(log.read_text("utf-8"))
    change(text)
    log.write_text(json.dumps(text), "utf-8")
    return log


def test_figures_of_another_reducer_are_not_compared_with_means(law: Path) -> None:
    said = " ".join(hkcanto("report", law, "--full").output.split())
    assert "of the reducer max; these are means over epochs" in said
    assert "Was the log edited" not in said


def test_edited_scores_are_shown_and_not_published(law: Path) -> None:
    def edit(log: dict[str, Any]) -> None:
        for sample in log["samples"]:
            score = sample["scores"]["judged"]
            score["history"] = [{"value": score["value"]}, {"value": {"acc": 1.0}}]
            score["value"] = {**score["value"], "acc": 1.0}

    (run,) = read_runs(rewritten(law, edit)).runs
    assert set(run.items.values["acc"].tolist()) == {1.0}
    assert "8 scores were edited by hand" in " ".join(run.notes)


def test_a_log_without_our_scores_says_why(law: Path) -> None:
    def other_scorer(log: dict[str, Any]) -> None:
        for sample in log["samples"]:
            sample["scores"] = {"match": {"value": "C"}}

    def no_samples(log: dict[str, Any]) -> None:
        log["samples"] = None

    said = " ".join(hkcanto("report", rewritten(law, other_scorer)).output.split())
    assert "no sample with a score of 'judged', only of match: " in said
    said = " ".join(hkcanto("report", rewritten(law, no_samples)).output.split())
    assert "no samples (--no-log-samples?)" in said


def test_entries_of_an_archive_that_share_bytes(tmp_path: Path) -> None:
    log = run_inspect(tmp_path, tasks.phonology(), limit=2)
    bomb = tmp_path / "bomb.eval"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("samples/0.json", " " * 1_000_000)
        for number in range(1, 1_000):
            member = copy_of(archive.filelist[-1])
            member.filename = f"samples/{number}.json"
            archive.filelist.append(member)
    runs = read_runs([log, bomb])
    ((_, why, *_),) = runs.skipped
    assert "shares bytes with another entry" in why


def test_a_reader_that_ends_the_process_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "quiz"
    home.mkdir()
    text = QUIZ + 'reader = "rows.py:rows"\n'
    (home / "benchmark.toml").write_text(text, "utf-8")
    reader = "import sys\n\n\ndef rows(folder, split):\n    sys.exit(0)\n"
    (home / "rows.py").write_text(reader, "utf-8")
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(home))
    done = hkcanto("estimate", "quiz")
    assert done.exit_code == 1
    assert "SystemExit" in done.output


# ---------------------------------------------------------------------- the last rules


def test_a_value_that_no_share_has_is_named(law: Path) -> None:
    def five(log: dict[str, Any]) -> None:
        judged = log["samples"][0]["scores"]["judged"]["metadata"]["judgement"]
        judged["values"]["acc"] = 5.0

    runs = read_runs(rewritten(law, five))
    assert len(runs.runs[0].items) == 7
    ((_, why, *_),) = runs.skipped
    assert "acc is 5, but a share is from 0 to 1" in why


def test_tools_are_a_setting_that_was_sent(law: Path) -> None:
    def tools(log: dict[str, Any]) -> None:
        for sample in log["samples"]:
            for event in sample["events"]:
                if event["event"] == "model":
                    event["tools"] = [{"name": "search"}]

    (plain,) = read_runs(law).runs
    assert not dict(plain.sent.more)
    (run,) = read_runs(rewritten(law, tools)).runs
    assert "tools" in dict(run.sent.more)
    assert "tools" in plain.differs(run)


def test_resamples_have_a_largest_number(law: Path) -> None:
    done = hkcanto("compare", law, law, "--resamples", str(10**12))
    assert done.exit_code == 2
    assert "--resamples" in done.output


def test_models_of_one_second_have_the_order_of_their_names(
    law: Path, tmp_path: Path
) -> None:
    text = json.loads(law.read_text("utf-8"))
    folder = tmp_path / "at once"
    folder.mkdir()
    for file, model in {"1.json": "b", "2.json": "a"}.items():
        text["eval"] |= {"model": f"mockllm/{model}", "eval_id": model}
        (folder / file).write_text(json.dumps(text), "utf-8")
    assert [run.model for run in read_runs(folder).runs] == ["mockllm/a", "mockllm/b"]
