"""The example repository for a board, and the board of the documentation."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from hkcanto_tasks.tasks import task_as_run

from ..scripts import REPOSITORY
from ..test_docs import shell
from .conftest import Board, made_records
from .reading import rows

EXAMPLE = REPOSITORY / "docs" / "examples" / "board"


def steps() -> dict[str, str]:
    """Return the shell steps of the workflow by their names."""
    text = (EXAMPLE / ".github" / "workflows" / "board.yml").read_text("utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    return {
        each["name"]: each["run"] for each in jobs["build"]["steps"] if "run" in each
    }


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the repository."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "copy"))


def contribute(repository: Path, score: float | None = None) -> None:
    """Add a record; its headline may contradict its parts."""
    made = made_records.record(task_as_run("hkcanto_cultural"), "org/model-7b", 0.6)
    if score is not None:
        made["evaluation_results"][0]["score_details"]["score"] = score
    (repository / "results" / "record.json").write_text(
        json.dumps(made), encoding="utf-8"
    )


@pytest.mark.slow
def test_the_workflow_builds_what_was_contributed(copy: Path) -> None:
    contribute(copy)
    named = steps()
    assert [*named] == ["Install", "Check", "Build"]
    assert named["Install"] == (
        'pip install "hkcanto[report] @ git+https://github.com/hkcanto/hkcanto"'
    )
    assert "1 results of 1 models are right" in shell(named["Check"], copy)
    shell(named["Build"], copy)
    home = (copy / "site" / "index.html").read_text("utf-8")
    assert {"org/model-7b", "GPT4o"} <= {*rows(home)}


@pytest.mark.slow
def test_the_workflow_stops_at_a_wrong_record(copy: Path) -> None:
    contribute(copy, 1.2)
    with pytest.raises(AssertionError, match=r"acc_macro is 1.2, but a share"):
        shell(steps()["Check"], copy)


def test_the_form_asks_for_what_a_record_needs() -> None:
    text = (EXAMPLE / ".github" / "ISSUE_TEMPLATE" / "result.yml").read_text("utf-8")
    fields = {each["id"]: each for each in yaml.safe_load(text)["body"]}
    from typing import get_args

    from hkcanto_tasks.commands.publish import Relationship

    assert fields["relationship"]["attributes"]["options"] == [*get_args(Relationship)]
    assert fields["record"]["validations"]["required"]


def test_the_records_of_the_documentation_are_right(board: Board) -> None:
    made = board(REPOSITORY / "docs" / "leaderboard")
    assert "2 results of 2 models" in made.output
    assert "not on the board" not in made.output
    table = rows(made.page("tasks/hkcanto_g2p.html"))
    # From docs/results.md, measured in both harnesses.
    shown = {name: cells[1].split()[0] for name, cells in table.items() if "/" in name}
    assert shown == {"CanCLID/ToJyutping": "5.5", "jacksonllee/pycantonese": "22.9"}


def test_git_ignores_nothing_of_the_example() -> None:
    done = subprocess.run(
        ["git", "check-ignore", *map(str, EXAMPLE.rglob("*"))],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == ""
