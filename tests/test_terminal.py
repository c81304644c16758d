"""Control sequences in names from logs and benchmarks never reach the terminal."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from .tasks.test_cli import in_terminal

# Sets the window title, clears the screen (also with C1), and reverses the text direction.
HOSTILE = "x\x1b]0;owned\x07\x1b[2J\x9b2J\x7f\u202e\u2066y"
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
IN_TOML = json.dumps(HOSTILE).replace("\x7f", "\\u007f")

BENCHMARK = f"""
name = "sums"
title = {IN_TOML}
[data]
[prompts.plain]
question = {json.dumps(HOSTILE + " {question}=")}
[[tasks]]
name = "sums"
title = {IN_TOML}
kind = "number"
files = {{ test = "{{stem}}.csv" }}
subjects = [{{ name = "easy", title = {IN_TOML} }}]
"""


@pytest.fixture
def benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "benchmarks" / "sums"
    folder.mkdir(parents=True)
    (folder / "benchmark.toml").write_text(
        BENCHMARK.replace("\x7f", "\\u007f"), "utf-8"
    )
    (folder / "easy.csv").write_text("question,answer\n1+1,2\n", "utf-8")
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(folder.parent))
    monkeypatch.setenv("HKCANTO_CACHE", str(tmp_path / "cache"))
    return folder


def printed(*arguments: str, status: int = 0) -> str:
    """Check that output has no control characters except rich's own; return the text."""
    text = "\n".join(in_terminal(100, *arguments, status=status))
    text = re.sub(r"\x1b\[(\?25[lh]|[0-9]*[AKG])", "", text)
    assert not ACTING.search(text), text
    return text


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "sums"],
        pytest.param(["list", "sums"], marks=pytest.mark.slow),
        pytest.param(["show", "sums", "--json"], marks=pytest.mark.slow),
        pytest.param(["doctor", "sums"], marks=pytest.mark.slow),
    ],
)
@pytest.mark.usefixtures("benchmark")
def test_a_benchmark_from_outside_does_not_act_on_the_terminal(
    arguments: list[str],
) -> None:
    assert "]0;owned" in printed(*arguments)


def test_an_error_does_not_act_on_the_terminal(benchmark: Path) -> None:
    moved = benchmark.parent / HOSTILE
    benchmark.rename(moved)
    (moved / "easy.csv").write_text("question,answer\n", "utf-8")
    (moved / "benchmark.toml").write_text("name = 1\n", "utf-8")
    assert "]0;owned" in printed("show", "sums", status=1)


def test_a_file_that_is_declared_does_not_act_on_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{n}+1?,{n},{n + 1},{'AB'[n % 2]}\n" for n in range(4))
    (tmp_path / "q.csv").write_text(f"question,A,B,{HOSTILE}\n{rows}", "utf-8")
    printed("new", "quiz", "--kind", "multiple_choice", "--from", "q.csv")
    written = (tmp_path / "quiz" / "benchmark.toml").read_text("utf-8")
    assert "owned" in written
    assert not ACTING.search(written.replace("\n", ""))
    (tmp_path / HOSTILE).write_text("x", "utf-8")
    assert "owned" in printed(
        "new", "other", "--kind", "multiple_choice", "--from", HOSTILE, status=1
    )


@pytest.fixture
def logs(tmp_path: Path, inspect_g2p: Path) -> Iterator[Path]:
    """An Inspect log of a model with a hostile name, in a file with a hostile name."""
    folder = tmp_path / HOSTILE
    folder.mkdir()
    log = json.loads(inspect_g2p.read_text("utf-8"))
    log["eval"]["model"] = f"mock/{HOSTILE}"
    (folder / f"{HOSTILE}.json").write_text(json.dumps(log), "utf-8")
    (folder / f"{HOSTILE}.eval").write_bytes(b"no archive")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def inspect_g2p(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from hkcanto import tasks

    from .reports.harness_runs import run_inspect

    folder = tmp_path_factory.mktemp("logs")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HKCANTO_DATA_DIR", raising=False)
        patch.setenv("HKCANTO_DATA", "sample")
        run_inspect(folder, tasks.g2p(), model="hkcanto/pycantonese", log_format="json")
    (log,) = folder.glob("*.json")
    return log


@pytest.mark.slow
def test_a_log_does_not_act_on_the_terminal(logs: Path, inspect_g2p: Path) -> None:
    run, other = str(logs), f"{HOSTILE}={inspect_g2p}"
    for arguments in (
        ["report", run, "--full"],
        ["report", other, "--best"],
        ["report", run, "--format", "md"],
        ["report", run, "--format", "csv"],
        ["compare", run, other],
    ):
        assert "owned" in printed(*arguments), arguments
    assert "owned" in printed("report", str(logs / f"{HOSTILE}.eval"), status=1)
    assert "owned" in printed("agreement", str(logs / f"{HOSTILE}.eval"), run, status=1)
    assert "owned" in printed("agreement", str(logs / "none"), run, status=2)
