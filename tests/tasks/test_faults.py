"""Faulty servers, disks and files: one line says what is wrong, where, and what to do."""

import builtins
import errno
import hashlib
import io
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hkcanto_tasks import load_task
from hkcanto_tasks.catalogue import find_benchmark
from hkcanto_tasks.cli import app
from hkcanto_tasks.data.locating import locate
from hkcanto_tasks.data.releases import GitHubRelease
from hkcanto_tasks.errors import DataCorrupt, DataNotFound

from ..cases import named
from .declaring import declare
from .rows import LAW, MUSIC, as_csv
from .test_hub_downloads import FIRST, publish
from .web_server import Answer, WebServer

COMMIT = "b" * 40
FILES = {f"test/{name}.csv": f"問題,甲,乙,{name}\n" * 40 for name in "vwxyz"}
SECRET = "呢條係問題嚟㗎"
"""Secrets that no message may show."""


def address(file: str) -> str:
    return f"/someone/release/{COMMIT}/data/{file}"


@pytest.fixture(autouse=True)
def release(cache: Path, server: WebServer, tmp_path: Path, monkeypatch: Any) -> Path:
    """A release on GitHub, and HKMMLU on a hub; return the cache folder of the former."""
    lines = (
        f"{file} {hashlib.sha256(text.encode()).hexdigest()}"
        for file, text in FILES.items()
    )
    server.answers |= {
        address(file): Answer(text.encode()) for file, text in FILES.items()
    }
    published = GitHubRelease("someone/release", COMMIT, prefix="data/")
    declare(tmp_path / "home", published, checksums="\n".join(lines))
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path / "home"))
    publish(server, FIRST, {"test/hk_law.csv": as_csv([LAW])}, "chuxuecao/HKMMLU")
    return cache / "release"


def fetch(benchmark: str = "release", status: int = 0) -> str:
    """Run `hkcanto data fetch`; return its output, which never has a traceback."""
    result = CliRunner().invoke(
        app, ["data", "fetch", benchmark], env={"COLUMNS": "200"}
    )
    assert isinstance(result.exception, SystemExit | None), repr(result.exception)
    assert result.exit_code == status, result.output
    assert "Traceback" not in result.output
    return without_bar(result.output)


def without_bar(output: str) -> str:
    """The output of a command without its progress bar."""
    lines = re.sub(r"[\r\n]Downloading [^\]]*\]", "", output).splitlines()
    return "\n".join(line for line in lines if line.strip())


def refused(benchmark: str = "release") -> str:
    """Fetch what cannot be fetched; return the one-line message."""
    (line,) = fetch(benchmark, 1).splitlines()
    return line


def left(release: Path) -> list[str]:
    """The contents of the cache, except the lock and complete files."""
    return [
        str(path.relative_to(release))
        for path in release.rglob("*")
        if path.is_file() and path.name != ".lock" and path.parent.name != "test"
    ]


# ------------------------------------------------------------------------------- servers


@pytest.mark.slow
def test_waiting_for_another_process_is_announced(
    release: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("hkcanto_tasks.data.fetch._SILENT_WAIT", 0.3)
    release.mkdir(parents=True)
    program = (
        "import sys, time, filelock\n"
        "with filelock.FileLock(sys.argv[1]):\n    print(flush=True); time.sleep(1.5)"
    )
    command = [sys.executable, "-c", program, str(release / ".lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        assert other.stdout
        other.stdout.readline()
        assert "5 files" in fetch()
    (message,) = (
        each.getMessage() for each in caplog.records if each.name == "hkcanto"
    )
    assert f"it holds {release / '.lock'}. If that process has ended" in message
    assert "\n" not in message


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", ["release", "hkmmlu"])
def test_what_a_killed_process_left_is_removed(
    server: WebServer, cache: Path, benchmark: str
) -> None:
    ats = (
        address("test/x.csv"),
        f"/datasets/chuxuecao/HKMMLU/resolve/{FIRST}/test/hk_law.csv",
    )
    whole = {at: server.answers[at] for at in ats}
    server.answers |= {at: replace(answer, hangs=True) for at, answer in whole.items()}
    command = [sys.executable, "-m", "hkcanto_tasks", "data", "fetch", benchmark]
    if not Path(sys.modules["hkcanto_tasks"].__path__[0], "__main__.py").exists():
        command[1:3] = ["-c", "from hkcanto_tasks.cli import app; app()"]
    other = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    assert server.hanging.wait(30)
    other.send_signal(signal.SIGKILL)
    other.wait()
    assert [*(cache / benchmark / ".partial").iterdir()]
    server.answers |= whole
    fetch(benchmark)
    assert {path.name for path in (cache / benchmark).iterdir() if path.is_dir()} == {
        "bbbbbbb" if benchmark == "release" else FIRST
    }


# ------------------------------------------------------------------------------- the cache


def in_the_way(path: Path, what: str) -> None:
    """Replace a file or folder by something else."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if what == "folder":
        (path / "in it").mkdir(parents=True)
    elif what == "pipe":
        os.mkfifo(path)
    elif what == "link to nothing":
        path.symlink_to("nowhere")
    else:
        path.write_text("x", encoding="utf-8")


def test_what_is_in_the_way_in_the_cache_is_named(release: Path) -> None:
    for place, what in (
        ("bbbbbbb/test/x.csv", "folder"),
        ("bbbbbbb/test", "file"),
        ("bbbbbbb/test", "link to nothing"),
        ("bbbbbbb", "file"),
        (".partial", "file"),
        (".lock", "folder"),
        (".", "file"),
    ):
        in_the_way(release / place, what)
        line = refused()
        assert line.startswith(f"DataNotFound: {release / place}")
        assert "Set HKCANTO_CACHE to a folder that you can write to" in line
        kept = (
            [] if place == "." else left(release)
        )  # a thread may still write to .partial
        if (place, what) == ("bbbbbbb/test/x.csv", "folder"):
            assert not [name for name in kept if not name.startswith(".partial")]
        while (
            release.exists()
        ):  # the thread's file may come after the others were removed
            release.unlink() if place == "." else shutil.rmtree(
                release, ignore_errors=True
            )


def test_what_can_be_replaced_in_the_cache_is(release: Path) -> None:
    for what in ("pipe", "link to nothing", "file"):
        in_the_way(release / "bbbbbbb/test/x.csv", what)
        assert "5 files" in fetch()
        assert (release / "bbbbbbb/test/x.csv").read_text() == FILES["test/x.csv"]
        (release / "bbbbbbb/test/x.csv").unlink()


def whole_cache(server: WebServer) -> None:
    fetch()
    fetch("hkmmlu")
    server.requests.clear()


def test_a_registry_that_was_cut_is_said(cache: Path, server: WebServer) -> None:
    whole_cache(server)
    (registry,) = (cache / "hkmmlu").glob("registry.*")
    whole = registry.read_bytes()
    for keep in (0, 1, 30, 60, 100, 140, -1):
        registry.write_bytes(whole[:keep])
        line = refused("hkmmlu")
        assert line.startswith(
            f"DataCorrupt: {registry} is truncated or damaged. Delete it"
        ), keep
    registry.unlink()
    assert "1 files" in fetch("hkmmlu")


CUT = [
    b"",
    b"\n\n",
    b"test/x.csv 0123",
    b"\xff\xfe\0",
    b"# 2 files\nx.csv " + b"0" * 64 + b"\n",
]


def test_a_catalogues_registry_that_was_cut_is_said(tmp_path: Path) -> None:
    from hkcanto_tasks.data.releases import recorded_files

    for content in CUT:
        recorded_files.cache_clear()
        (tmp_path / "home/checksums.sha256").write_bytes(content)
        line = refused()
        assert line.startswith(
            f"CatalogueError: {tmp_path / 'home/checksums.sha256'}"
        ), content
    recorded_files.cache_clear()


def broken(function: Callable[..., Any], name: str, code: int) -> Callable[..., Any]:
    """The same function, but it fails at one path."""

    def fails(path: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(path, int) and str(path).endswith(name):
            raise OSError(code, os.strerror(code), str(path))
        return function(path, *args, **kwargs)

    return fails


def break_at(
    monkeypatch: pytest.MonkeyPatch, name: str, code: int = errno.EACCES
) -> None:
    """Fail to open a file or list a folder, as for a user without permission."""
    monkeypatch.setattr("io.open", broken(io.open, name, code))
    monkeypatch.setattr("os.scandir", broken(os.scandir, name, code))


def test_what_cannot_be_read_in_the_cache_is_said(
    release: Path, server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole_cache(server)
    for name, code in (("x.csv", errno.EACCES), ("x.csv", errno.EIO)):
        with monkeypatch.context() as broken_disk:
            break_at(broken_disk, name, code)
            line = refused()
        path = release / "bbbbbbb/test/x.csv"
        assert line.startswith(
            f"DataNotFound: {path} cannot be read: {os.strerror(code)}. Make"
        )
    for name in ("test", "bbbbbbb"):
        with monkeypatch.context() as broken_disk:
            break_at(broken_disk, name)
            line = refused()
        assert line.startswith(f"DataNotFound: {release}/bbbbbbb")
        assert "cannot be read: Permission denied" in line


def test_a_full_disk_is_said_and_nothing_is_left(
    release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = builtins.open

    def full(path: Any, *args: Any, **options: Any) -> Any:
        return opened(
            "/dev/full" if ".partial" in str(path) else path, *args, **options
        )

    monkeypatch.setattr("builtins.open", full)
    line = refused()
    assert line.startswith(
        f"DataNotFound: {release} cannot be written: No space left on device."
    )
    assert (
        "Set HKCANTO_CACHE to a folder that you can write to, free disk space" in line
    )
    assert not left(release)


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", ["release", "hkmmlu"])
def test_a_limit_on_the_size_of_files_is_said(cache: Path, benchmark: str) -> None:
    program = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))\n"
        "from hkcanto_tasks.cli import app; app()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "data", "fetch", benchmark],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "COLUMNS": "200", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 1
    (line,) = without_bar(done.stderr).splitlines()
    assert (
        f"{cache / benchmark} cannot be written: File too large. Set HKCANTO_CACHE"
        in line
    )
    assert not left(cache / benchmark)


# ------------------------------------------------------------------------------- a folder of data


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test files of HKMMLU, with two subjects."""
    monkeypatch.delenv("HKCANTO_DATA", raising=False)
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path / "data"))
    folder = tmp_path / "data/hkmmlu/test"
    folder.mkdir(parents=True)
    (folder / "hk_law.csv").write_text(as_csv([LAW]))
    (folder / "hk_music.csv").write_text(as_csv([MUSIC]))
    return folder


def loading(task: str = "hkmmlu_hk_law") -> str:
    """The one-line message of loading a task."""
    with pytest.raises((DataNotFound, DataCorrupt)) as raised:
        load_task(task)
    assert SECRET not in str(raised.value)
    return str(raised.value)


def test_a_path_without_a_file_is_reported(folder: Path) -> None:
    path = folder / "hk_law.csv"
    path.unlink()
    said = "is a folder, pipe or broken link where a file belongs"
    for what in ("pipe", "link to nothing"):
        in_the_way(path, what)
        assert loading() == f"{path} {said}. Put the data file in its place."
        assert len(load_task("hkmmlu_hk_music").samples) == 1
        problems = locate(find_benchmark("hkmmlu")).verify()
        assert said in " ".join(problem.detail for problem in problems)
        path.unlink()


def test_a_file_that_cannot_be_read_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_at(monkeypatch, "hk_law.csv")
    assert loading().startswith(
        f"{folder / 'hk_law.csv'} cannot be read: Permission denied. Make"
    )


def test_a_folder_that_cannot_be_read_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_at(monkeypatch, "hkmmlu/test")
    assert loading().startswith(
        f"{folder} cannot be read: Permission denied. Make it readable"
    )


def test_a_folder_that_cannot_be_entered_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.stat", broken(os.stat, "hkmmlu", errno.EACCES))
    assert loading().startswith(
        f"{folder.parent} cannot be read: Permission denied. Correct"
    )


def test_a_linked_folder_is_followed_and_a_loop_is_not(
    folder: Path, tmp_path: Path
) -> None:
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere/back").symlink_to(tmp_path / "elsewhere")
    (folder.parent / "up").symlink_to(folder.parent)
    (folder.parent / "itself").symlink_to("itself")
    for name, other in (("one", "two"), ("two", "one")):
        (folder.parent / name).mkdir()
        (folder.parent / name / "other").symlink_to(folder.parent / other)
    assert len(load_task("hkmmlu").samples) == 2


@pytest.mark.slow
def test_a_command_ends_in_a_message_whatever_it_prints_to_or_is_given() -> None:
    program = [sys.executable, "-c", "from hkcanto_tasks.cli import app; app()"]
    name = "x" * 300
    for arguments, status, more in (
        (["list"], 1, {}),
        (["compare", "a=.", "b=."], 2, {}),
        (["report", name], 1, {}),
        (["board", name, "-o", "board"], 1, {}),
        (["report", "~nobodyelse/x"], 2, {}),
        (["estimate", "hkmmlu"], 1, {"HKCANTO_ALIASES": "~nobodyelse/x"}),
    ):
        with named(arguments):
            with Path("/dev/full").open("w", encoding="utf-8") as full:
                done = subprocess.run(
                    [*program, *arguments],
                    stdout=full,
                    stderr=subprocess.PIPE,
                    text=True,
                    timeout=120,
                    check=False,
                    env={**os.environ, **more},
                )
            assert done.returncode == status
            assert "Traceback" not in done.stderr
            assert re.search(r"(DataNotFound|LogError|PathNotFound): \S+", done.stderr)


def test_text_that_an_encoding_lacks_is_printed_as_escapes() -> None:
    program = [sys.executable, "-c", "from hkcanto_tasks.cli import app; app()", "list"]
    env = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(
        program, capture_output=True, env=env, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert rb"\u7cb5\u62fc" in done.stdout  # 粵拼
