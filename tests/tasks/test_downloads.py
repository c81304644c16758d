"""Files of a GitHub release are downloaded once and completely; failures are quick and clear."""

import base64
import hashlib
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hkcanto_tasks.data.fetch import DataFolder
from hkcanto_tasks.data.locating import locate
from hkcanto_tasks.data.releases import GitHubRelease
from hkcanto_tasks.declarations import Benchmark
from hkcanto_tasks.errors import (
    DataCorrupt,
    DataNotFound,
    HKCantoError,
    NetworkUnavailable,
)

from .declaring import declare, fetched
from .web_server import Answer, WebServer

NEW, OLD = "b" * 40, "0" * 40
FILES = {
    "dev/x.csv": "q,a,b,A\n",
    "test/x.csv": "問題,a,b,B\n" * 1000,
    "test/y.csv": "q,None,NA,A\n",
}
ANSWERS = '{"Jyutping": "nei5 hou2"}\n'
GOLD = f"/someone/release/{OLD}/data/answers.json"

PATIENCE = 5.0
"""Seconds within which a user must be told that there is no network."""


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def address(file: str) -> str:
    return f"/someone/release/{NEW}/data/{file}"


@pytest.fixture
def release(tmp_path: Path, server: WebServer) -> Benchmark:
    """A release on the server: three files, and answers that only an older commit has."""
    lines = [f"{file} {sha256(text)}" for file, text in FILES.items()]
    gold = f"test/gold.json {sha256(ANSWERS)} {OLD}:data/answers.json"
    server.answers |= {
        address(file): Answer(text.encode()) for file, text in FILES.items()
    }
    server.answers[GOLD] = Answer(ANSWERS.encode())
    published = GitHubRelease("someone/release", NEW, prefix="data/")
    return declare(tmp_path / "home", published, checksums="\n".join([*lines, gold]))


@pytest.fixture
def folder(cache: Path, release: Benchmark) -> DataFolder:
    """The release, for downloading into an empty cache."""
    assert not cache.exists()
    return locate(release)


def in_another_process(release: Benchmark) -> subprocess.Popen[str]:
    """Fetch the whole release in a separate process."""
    program = (
        "import pathlib\n"
        "from hkcanto_tasks.benchmark_files import read_benchmark\n"
        "from hkcanto_tasks.data.locating import locate\n"
        f"locate(read_benchmark(pathlib.Path({release.home!r}, 'benchmark.toml'))).fetch()"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_only_the_file_asked_for_is_downloaded(
    folder: DataFolder, server: WebServer
) -> None:
    assert fetched(folder, "test/x.csv").read_bytes() == FILES["test/x.csv"].encode()
    assert server.requests == {f"GET {address('test/x.csv')}": 1}
    assert folder.files() == ["test/x.csv"]


def test_what_is_there_is_not_downloaded_again(
    folder: DataFolder, server: WebServer
) -> None:
    folder.fetch(["dev/x.csv", "test/x.csv"])
    folder.fetch()
    folder.fetch()
    assert len(server.requests) == 4
    assert set(server.requests.values()) == {1}


def test_the_whole_release_verifies(folder: DataFolder) -> None:
    assert {problem.kind for problem in folder.verify()} == {"missing"}
    folder.fetch()
    assert folder.verify() == []


def test_a_file_may_come_from_a_commit_of_its_own(
    folder: DataFolder, server: WebServer
) -> None:
    assert fetched(folder, "test/gold.json").read_text() == ANSWERS
    assert server.requests == {f"GET {GOLD}": 1}
    assert folder.revision("test/gold.json") == "0000000"
    assert folder.revision("test/gold.json", "dev/x.csv") == "0000000+bbbbbbb"


def test_a_failed_file_leaves_the_others_for_the_next_run(
    folder: DataFolder, server: WebServer
) -> None:
    right = server.answers.pop(address("test/y.csv"))
    with pytest.raises(DataNotFound):
        folder.fetch()
    kept = folder.files()
    server.answers[address("test/y.csv")] = right
    server.requests.clear()
    folder.fetch()
    assert "test/y.csv" not in kept
    assert set(server.requests) & {f"GET {address(file)}" for file in kept} == set()
    assert folder.verify() == []


def test_a_file_altered_in_the_cache_is_downloaded_again(folder: DataFolder) -> None:
    fetched(folder, "dev/x.csv").write_text("q,a,b,B\n")
    assert fetched(folder, "dev/x.csv").read_text() == FILES["dev/x.csv"]


def test_a_bad_answer_is_an_error_that_leaves_nothing(
    folder: DataFolder, cache: Path, server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hkcanto_tasks.data.fetch._WAITS", (0, 0))
    wrong = "q,a,b,B\n"
    for answer, error, complaint in (
        (Answer(b"q,a,b,A\n", announced=9), NetworkUnavailable, "broken|incomplete"),
        (Answer(wrong.encode()), DataCorrupt, f"hash is {sha256(wrong)}, expected"),
        (Answer(wrong.encode()), DataCorrupt, sha256(FILES["dev/x.csv"])),
        (Answer(b""), DataCorrupt, "it is empty"),
        (
            Answer(b"version https://git-lfs.github.com/spec/v1\n"),
            DataCorrupt,
            "LFS pointer",
        ),
        (Answer(b"<html>Please log in</html>"), DataCorrupt, "HTML page"),
        (Answer(status=302, headers={"Location": "/login"}), DataNotFound, "HTTP 404"),
        (Answer(status=404), DataNotFound, r"(?s)HTTP 404.*HKCANTO_GITHUB_ENDPOINT"),
        (Answer(status=403), NetworkUnavailable, "403.*HF_TOKEN"),
        (Answer(status=429), NetworkUnavailable, "429"),
        (Answer(status=500), NetworkUnavailable, "500"),
    ):
        server.answers[address("dev/x.csv")] = answer
        with pytest.raises(error, match=f"(?i){complaint}") as raised:
            fetched(folder, "dev/x.csv")
        assert server.url in str(raised.value)
        left = [
            path for path in cache.rglob("*") if path.is_file() and path.name != ".lock"
        ]
        assert left == [], complaint


def test_a_file_may_come_from_elsewhere(folder: DataFolder, server: WebServer) -> None:
    server.answers["/storage"] = server.answers[address("dev/x.csv")]
    server.answers[address("dev/x.csv")] = Answer(
        status=302, headers={"Location": "/storage"}
    )
    assert fetched(folder, "dev/x.csv").read_text() == FILES["dev/x.csv"]


def test_a_busy_server_is_asked_again(
    folder: DataFolder,
    server: WebServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("hkcanto_tasks.data.fetch._WAITS", (0.1, 0.2))
    busy = [Answer(status=429), Answer(status=503)]
    server.answers[address("dev/x.csv")] = Answer(
        FILES["dev/x.csv"].encode(), first=busy
    )
    start = time.monotonic()
    assert fetched(folder, "dev/x.csv").is_file()
    assert time.monotonic() - start >= 0.3
    assert "is busy (HTTP 503); asking again in 0.2 s" in caplog.text
    server.answers[address("test/x.csv")] = Answer(status=503)
    with pytest.raises(NetworkUnavailable, match="503"):
        fetched(folder, "test/x.csv")
    assert server.requests[f"GET {address('test/x.csv')}"] == 3


def test_an_unknown_file_is_an_error_without_a_request(
    folder: DataFolder, server: WebServer
) -> None:
    with pytest.raises(
        DataNotFound, match=r"no file 'test/z.csv'.*Did you mean test/y.csv"
    ):
        fetched(folder, "test/z.csv")
    assert not server.requests


def test_a_refused_connection_says_at_once_what_to_set(
    folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setenv("HKCANTO_GITHUB_ENDPOINT", f"http://127.0.0.1:{port}")
    start = time.monotonic()
    with pytest.raises(NetworkUnavailable, match=f"127.0.0.1:{port}") as raised:
        folder.fetch()
    assert time.monotonic() - start < PATIENCE
    for remedy in (
        "HKCANTO_DATA_DIR=<dir>",
        "<dir>/release",
        "HKCANTO_DATA=sample",
        "HKCANTO_GITHUB_ENDPOINT=<url>",
        "HTTPS_PROXY=<url>",
    ):
        assert remedy in str(raised.value)


def test_a_server_that_falls_silent_or_trickles_is_given_up(
    folder: DataFolder, server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hkcanto_tasks.data.fetch._TIMEOUT", (0.5, 0.2))
    server.answers[address("test/x.csv")] = Answer(
        FILES["test/x.csv"].encode(), hangs=True
    )
    start = time.monotonic()
    with pytest.raises(NetworkUnavailable, match=r"(?i)timed out"):
        folder.fetch()
    monkeypatch.setattr("hkcanto_tasks.data.fetch._GRACE", 0.3)
    server.answers[address("test/x.csv")] = Answer(
        FILES["test/x.csv"].encode(), drips=True
    )
    with pytest.raises(
        NetworkUnavailable, match="it was too slow: nothing was complete in 0 s"
    ):
        folder.fetch()
    assert (
        time.monotonic() - start < PATIENCE
    )  # that file takes 320 s, and no byte too long
    assert "test/x.csv" not in folder.files()


def test_offline_means_no_request(
    folder: DataFolder, server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.fetch(["dev/x.csv"])
    server.requests.clear()
    for variable, value in (  # in any case, as huggingface_hub reads its own
        ("HKCANTO_OFFLINE", "1"),
        ("HF_HUB_OFFLINE", "1"),
        ("HF_HUB_OFFLINE", "true"),
        ("HF_HUB_OFFLINE", "Yes"),
    ):
        with monkeypatch.context() as offline:
            offline.setenv(variable, value)
            assert fetched(folder, "dev/x.csv").is_file()
            with pytest.raises(
                NetworkUnavailable, match=f"{variable} forbids it, and test/y.csv"
            ):
                fetched(folder, "test/y.csv")
    assert not server.requests


def test_a_cache_that_cannot_be_written_is_named(
    release: Benchmark, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not cache.exists()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HKCANTO_CACHE", str(tmp_path / "file"))
    with pytest.raises(DataNotFound, match="Set HKCANTO_CACHE"):
        locate(release).fetch()


def test_a_complete_cache_is_not_written_to(folder: DataFolder, cache: Path) -> None:
    folder.fetch()
    (cache / "release/.lock").unlink(missing_ok=True)
    folder.fetch()
    assert not (cache / "release/.lock").exists()


def test_a_bar_is_drawn_when_asked_for_or_at_a_terminal(
    folder: DataFolder, capfd: pytest.CaptureFixture[str]
) -> None:
    for file, asked, drawn in (("dev/x.csv", False, 0), (None, True, 1)):
        folder.fetch(file and [file], progress=asked)
        assert capfd.readouterr().err.count("Downloading release: 100%") == drawn


@pytest.mark.slow
def test_processes_that_start_together_download_each_file_once(
    folder: DataFolder, release: Benchmark, server: WebServer
) -> None:
    processes = [in_another_process(release) for _ in range(4)]
    for process in processes:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    assert len(server.requests) == 4
    assert set(server.requests.values()) == {1}
    assert folder.verify() == []


def test_a_link_out_of_the_cache_is_not_followed(
    folder: DataFolder, cache: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (cache / "release/bbbbbbb").mkdir(parents=True)
    (cache / "release/bbbbbbb/test").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(
        DataCorrupt, match=r"a path outside: 'test/x.csv'.*a link that leads out"
    ):
        fetched(folder, "test/x.csv")
    assert not [*(tmp_path / "elsewhere").iterdir()]


def test_a_cache_that_others_can_change_is_refused(
    release: Benchmark, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cache / "release").mkdir(parents=True)
    for place in (cache, cache / "release"):
        place.chmod(0o777)
        unsafe = (
            rf"{place} is not safe: another user may .*drwxrwxrwx.*Set HKCANTO_CACHE"
        )
        with pytest.raises(DataNotFound, match=unsafe):
            locate(release)
        place.chmod(0o755)
    locate(release).fetch()
    monkeypatch.setattr("os.getuid", lambda: cache.parent.stat().st_uid + 1)
    with pytest.raises(
        DataNotFound, match=f"{cache} is not safe.*its owner is .*Set HKCANTO_CACHE"
    ):
        locate(release)


def test_what_the_cache_is_made_of_is_ours_alone(
    folder: DataFolder, cache: Path
) -> None:
    before = os.umask(0)
    try:
        folder.fetch()
    finally:
        os.umask(before)
    assert not (cache.stat().st_mode | (cache / "release").stat().st_mode) & 0o022
    folder.fetch()


def test_no_message_shows_the_password_of_a_mirror(
    folder: DataFolder,
    server: WebServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("hkcanto_tasks.data.fetch._WAITS", (0,))
    mirror = server.url.replace("//", "//reader:hush%40hush@") + "/"
    monkeypatch.setenv("HKCANTO_GITHUB_ENDPOINT", mirror)
    folder.fetch(["test/x.csv"])
    assert server.authorizations == {
        f"Basic {base64.b64encode(b'reader:hush@hush').decode()}"
    }
    answers = [Answer(status=status) for status in (401, 403, 404, 429, 500)]
    answers += [Answer(b"q,a,b,A\n", announced=9), Answer(b"q,a,b,B\n"), None]
    for answer in answers:
        server.answers[address("dev/x.csv")] = answer or Answer()
        if not answer:
            server.close()
        with pytest.raises(HKCantoError) as raised:
            fetched(folder, "dev/x.csv")
        error: BaseException | None = raised.value
        while error:  # a program may also print the cause
            assert "hush" not in f"{error} {error!r}"
            error = error.__cause__
    assert "hush" not in caplog.text
