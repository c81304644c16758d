"""If a report cannot be written, a message says so: no traceback and no half-written file."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hkcanto_tasks.cli import app
from hkcanto_tasks.kinds import g2p_engines
from hkcanto_tasks.tasks import load_task

from .harness_runs import AnsweringLM, run_lm_eval


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HKCANTO_DATA", "sample")
        assert load_task("hkcanto_g2p").samples
        convert = g2p_engines.find_engine("pycantonese")
        model = AnsweringLM(lambda prompt: convert(g2p_engines.sentence_of(prompt)))
        run_lm_eval(folder, "hkcanto_g2p", model=model, limit=5)
    return folder


def report(logs: Path, output: Path) -> str:
    done = CliRunner().invoke(app, ["report", str(logs), "-o", str(output)])
    assert "Traceback" not in done.output
    assert not isinstance(done.exception, OSError)
    assert done.exit_code == (0 if output.is_file() else 1), done.output
    return " ".join(done.output.split())


def test_a_folder_that_is_not_there_is_named(logs: Path, tmp_path: Path) -> None:
    assert "no folder" in report(logs, tmp_path / "no" / "such" / "x.html")
    assert not (tmp_path / "no").exists()


def test_a_folder_in_the_place_of_the_file_is_named(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "x.html").mkdir()
    assert "is a folder" in report(logs, tmp_path / "x.html")


def test_a_link_is_replaced_and_not_followed(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("mine", "utf-8")
    (tmp_path / "x.html").symlink_to(tmp_path / "precious.txt")
    report(logs, tmp_path / "x.html")
    assert (tmp_path / "precious.txt").read_text("utf-8") == "mine"
    assert not (tmp_path / "x.html").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "precious.txt",
        "x.html",
    ]


@pytest.mark.parametrize("form", ["html", "md", "json", "csv"])
def test_with_a_file_the_sentence_its_warnings_and_the_place_are_printed_and_no_table(
    logs: Path, tmp_path: Path, form: str
) -> None:
    output = tmp_path / f"x.{form}"
    done = CliRunner().invoke(
        app, ["report", str(logs), "-o", str(output)], env={"COLUMNS": "80"}
    )
    assert done.exit_code == 0, done.output
    assert len(done.output.splitlines()) <= 12
    said = " ".join(done.output.split())
    assert "Jyutping grapheme-to-phoneme, 5-shot, sample data" in said
    assert "lower is better" in said
    assert "Warning: sample data: " in said
    assert f"Written: {output}" in said.replace("\n", "")
    assert "Signature" not in said


def test_a_plan_in_a_file_is_not_printed_as_well(tmp_path: Path) -> None:
    output = tmp_path / "plan.md"
    done = CliRunner().invoke(app, ["plan", "--discordance", "29.3", "-o", str(output)])
    assert done.exit_code == 0, done.output
    assert len(done.output.splitlines()) <= 12
    assert "Written: " in done.output
    assert len(output.read_text("utf-8").splitlines()) > 12


def test_at_80_columns_the_summary_has_the_task_and_which_way_is_better(
    logs: Path,
) -> None:
    done = CliRunner().invoke(app, ["report", str(logs)], env={"COLUMNS": "80"})
    table = done.stdout[done.stdout.index("Task by task") :]
    said = " ".join(table.split())
    assert "Jyutping grapheme-to-phoneme" in said
    assert "(lower is better)" in said
