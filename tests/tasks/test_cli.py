"""The hkcanto command, as a user types it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hkcanto_lm_eval import task_path
from hkcanto_tasks.cli import app


def hkcanto(*arguments: str, status: int = 0) -> str:
    """Run the command on a wide terminal; returns what it printed."""
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})
    assert result.exit_code == status, result.output
    return result.output


def test_without_arguments_it_explains_itself() -> None:
    output = CliRunner().invoke(app, []).output
    for command in ("list", "doctor", "data", "path"):
        assert command in output


def test_list_names_every_task_in_both_harnesses_with_its_size() -> None:
    output = hkcanto("list")
    for text in ("hkcanto_g2p", "hkcanto/g2p", "26,368", "20,118", "14,042", "粵拼轉寫", "_cot"):
        assert text in output


def test_path_is_what_include_path_wants() -> None:
    assert hkcanto("path").strip() == task_path()
    assert Path(hkcanto("path", "evaluate").strip(), "hkcanto_jyutping").is_dir()
    assert "evaluate" in hkcanto("path", "lmeval", status=2)


def test_doctor_finds_harnesses_registration_and_data() -> None:
    output = hkcanto("doctor")
    for text in ("lm-eval", "inspect-ai", "autoload is on", "entry point", "sample"):
        assert text in output


def test_doctor_says_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HKCANTO_DATA")
    monkeypatch.setenv("HKCANTO_DATA_DIR", "/does/not/exist")
    assert "/does/not/exist is not a folder" in " ".join(hkcanto("doctor", status=1).split())


def test_data_path_and_verify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HKCANTO_DATA")
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path))
    (tmp_path / "hkeval2025/mmlu/dev").mkdir(parents=True)
    (tmp_path / "hkeval2025/mmlu/dev/anatomy_dev.csv").write_text(
        "version https://git-lfs.github.com/spec/v1\n", encoding="utf-8"
    )
    assert hkcanto("data", "path", "hkcanto").strip() == str(tmp_path / "hkeval2025")
    output = " ".join(hkcanto("data", "verify", "hkcanto", status=1).split())
    assert "missing" in output
    assert "Git LFS pointer" in output


def test_fetching_without_a_network_says_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HKCANTO_DATA")
    monkeypatch.setenv("HKCANTO_CACHE", str(tmp_path))
    monkeypatch.setenv("HKCANTO_OFFLINE", "1")
    output = hkcanto("data", "fetch", "hkcanto", status=1)
    assert "NetworkUnavailable" in output
    assert "HKCANTO_DATA_DIR" in output
    assert "Traceback" not in output


def test_an_unknown_benchmark_lists_the_known_ones() -> None:
    assert "hkmmlu" in hkcanto("data", "path", "hkmlu", status=1)


def test_a_log_that_is_not_there_is_named_without_a_traceback() -> None:
    output = hkcanto("agreement", "nowhere.eval", "people.csv", status=2)
    assert "nowhere.eval" in output
    assert "Traceback" not in output


@pytest.mark.realdata
def test_the_real_release_verifies() -> None:
    assert "files are as recorded" in hkcanto("data", "verify", "hkcanto")
