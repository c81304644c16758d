"""Corrected files of a release are run by the option `data`, and never taken for the release's."""

import hashlib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hkcanto import tasks
from hkcanto_tasks import load_task, read_runs
from hkcanto_tasks.cli import app
from hkcanto_tasks.data import locating
from hkcanto_tasks.data.releases import RecordedFile
from hkcanto_tasks.errors import DataCorrupt, NetworkUnavailable
from hkcanto_tasks.signatures import parse_signature

from ..reports.harness_runs import (
    AnsweringLM,
    answering_model,
    read_answer,
    run_inspect,
    run_lm_eval,
)
from .small_release import write_hkeval2025

COMMIT = "5914df3dbbee841d3d5cb1dcbf46e456765e22ba"  # the tip of hk_law_fix
PET = "hkeval2025/hk-law/test/pet_test.csv"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:aca2db31\nsize 5125\n"


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for the release, whose law questions are those of no commit."""
    write_hkeval2025(tmp_path)
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def law_fix(release: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same stand-in, as if its law questions were those of the branch."""
    root = release / "hkeval2025"
    files = {
        str(path.relative_to(root)): RecordedFile(
            hashlib.sha256(path.read_bytes()).hexdigest(), COMMIT, path.name
        )
        for path in root.glob("hk-law/*/*.csv")
    }
    monkeypatch.setattr(locating, "read_registry", lambda *_, **__: files)
    return release


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (POINTER, "it is a Git LFS pointer"),
        ("q,1,2,3,4,A\n", "it is another version"),
        (None, "it does not exist"),
    ],
)
@pytest.mark.usefixtures("law_fix")
def test_other_files_are_refused_with_what_to_do(
    release: Path, content: str | None, what: str
) -> None:
    path = release / PET
    if content is None:
        path.unlink()
    else:
        path.write_text(content, "utf-8")
    remedy = rf"{what}\. .* git fetch origin {COMMIT} .* git lfs pull"
    with pytest.raises(DataCorrupt, match=remedy) as raised:
        load_task("hkcanto_law", data="law_fix")
    assert str(path) in str(raised.value)


@pytest.mark.usefixtures("release")
def test_the_release_is_not_taken_for_its_correction() -> None:
    with pytest.raises(DataCorrupt, match="is not the file of data=law_fix"):
        load_task("hkcanto_law", data="law_fix")


def test_without_a_copy_the_branch_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HKCANTO_DATA_DIR", raising=False)
    monkeypatch.delenv("HKCANTO_DATA", raising=False)
    monkeypatch.setenv("HKCANTO_CACHE", str(tmp_path))
    monkeypatch.setenv("HKCANTO_OFFLINE", "1")
    with pytest.raises(NetworkUnavailable, match="hk-law/"):
        load_task("hkcanto_law", data="law_fix")


@pytest.mark.usefixtures("law_fix")
def test_both_harnesses_run_it_and_a_report_says_which_data(
    tmp_path: Path,
) -> None:
    ours = parse_signature(load_task("hkcanto_law", data="law_fix").signature)
    assert ours.data == COMMIT[:7]
    log = tmp_path / "logs"
    model = AnsweringLM(read_answer)
    run_lm_eval(log, "hkcanto_law", model=model, metadata={"data": "law_fix"})
    run_inspect(log, tasks.law(data="law_fix"), answering_model(read_answer))
    runs = read_runs(log)
    assert [run.data for run in runs] == [COMMIT[:7]] * 2
    assert not any(run.outdated or run.trusted_data for run in runs)
    page = tmp_path / "report.md"
    assert CliRunner().invoke(app, ["report", str(log), "-o", str(page)]).exit_code == 0
    text = page.read_text("utf-8")
    assert f"{COMMIT[:7]} data" in text


def test_only_the_law_task_has_the_option() -> None:
    shown = CliRunner().invoke(app, ["show", "hkcanto_law", "-T", "data=law_fix"])
    assert shown.exit_code == 0, shown.output
    assert "release or law_fix" in shown.output
    odd = CliRunner().invoke(app, ["show", "hkcanto_law", "-T", "data=law"])
    assert "data is release or law_fix" in odd.output
    other = CliRunner().invoke(app, ["show", "hkmmlu", "-T", "data=law_fix"])
    assert other.exit_code
    assert "'data'" in other.output
