"""What is written for others is read by their own programs: Every Eval Ever, Inspect, the hub."""

import json
import os
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from hkcanto_tasks.results.board.records import read_results

from ..lm_eval.environments import pip
from .conftest import LETTERS, SECRET
from .test_publishing import WHO, publish, published

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def every_eval_ever(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package of Every Eval Ever 0.3.0; its `validate` runs on our oldest Python, too."""
    folder = tmp_path_factory.mktemp("every_eval_ever")
    options = ("-q", "--no-deps", "--only-binary=:all:", "--python-version=3.12", "-d", folder)
    pip("download", *options, "every-eval-ever==0.3.0")
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def validated(package: Path, folder: Path) -> str:
    """Run its validator as its documentation says; return what it printed."""
    command = (sys.executable, "-m", "every_eval_ever", "validate", "data/*/*/*/*.json*")
    environment = {**os.environ, "PYTHONPATH": str(package), "COLUMNS": "200"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return f"{done.returncode}\n{done.stdout}{done.stderr}"


@pytest.mark.usefixtures("hub")
def test_every_eval_ever_accepts_records_and_items(
    quiz_logs: Path, tmp_path: Path, every_eval_ever: Path
) -> None:
    out, runs = tmp_path / "out", (quiz_logs / "lm_eval", f"org/other={quiz_logs / 'inspect'}")
    files = published("eee", out, *runs, *WHO, "--items")
    assert validated(every_eval_ever, out).startswith("0\n")
    assert not any(SECRET in text for text in files.values())
    records = {path: json.loads(text) for path, text in files.items() if path.endswith(".json")}
    assert len(records) == 2
    for record in records.values():
        about = record["detailed_evaluation_results"]
        text = files[about["file_path"]]
        assert sha256(text.encode()).hexdigest() == about["checksum"]
        lines = [json.loads(line) for line in text.splitlines()]
        right = {line["sample_id"]: line["evaluation"]["is_correct"] for line in lines}
        assert right == {f"quiz/{n}": letter == "A" for n, letter in enumerate(LETTERS, 1)}
        named = {each["evaluation_result_id"] for each in record["evaluation_results"]}
        assert {line["evaluation_result_id"] for line in lines} <= named
    # The validator looks at the items: it refuses a file with a line too few.
    path = out / about["file_path"]
    path.write_text("".join(text.splitlines(keepends=True)[1:]), encoding="utf-8")
    assert not validated(every_eval_ever, out).startswith("0\n")
    path.write_text(text, encoding="utf-8")
    assert {result.kind for result in read_results([str(out)]).results} == {"self-reported"}


@pytest.mark.usefixtures("hub")
def test_only_every_eval_ever_has_items(quiz_logs: Path, tmp_path: Path) -> None:
    done = publish("card", tmp_path / "out", quiz_logs / "lm_eval", "--items")
    assert done.exit_code == 1
    assert "--to card has no values of items. Take --to eee, or no --items." in done.output
