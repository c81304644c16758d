"""A hub data set is downloaded as one complete commit, here from a server like the hub."""

import hashlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import pytest
from typer.testing import CliRunner

from hkcanto_tasks import load_task
from hkcanto_tasks.catalogue import find_benchmark
from hkcanto_tasks.cli import app
from hkcanto_tasks.data.fetch import DataFolder
from hkcanto_tasks.data.locating import locate
from hkcanto_tasks.data.releases import HubDataset
from hkcanto_tasks.errors import (
    DataCorrupt,
    DataNotFound,
    HKCantoError,
    NetworkUnavailable,
)

from .declaring import declare, fetched
from .rows import COLUMNS, LAW, MUSIC, as_csv
from .web_server import Answer, WebServer

FIRST, SECOND = "1" * 40, "2" * 40
FILES = {
    "README.md": "# Questions\n",
    "test/hk law.csv": "Question,A,B,Answer\n題,甲,乙,A\n",
    "test/logic.csv": "Question,A,B,Answer\n題,None,NA,B\n",
    "translation/can2man.jsonl": '{"input": "我哋", "output": "我们"}\n',
}
DATASET = HubDataset("someone/questions", allow=("*.csv", "*.jsonl"))
DATA = ["test/hk law.csv", "test/logic.csv", "translation/can2man.jsonl"]


def at(release: HubDataset = DATASET) -> DataFolder:
    """The data folder of a benchmark that is published on the hub."""
    with TemporaryDirectory() as home:
        return locate(declare(Path(home), release, folder="questions"))


def publish(
    server: WebServer,
    commit: str,
    files: Mapping[str, str | bytes],
    repo: str = "someone/questions",
    *tags: str,
) -> None:
    """Make a commit the head of the data set's default branch, and the target of tags."""
    api, pages = f"/api/datasets/{repo}", f"/datasets/{repo}"
    contents = {
        path: text.encode() if isinstance(text, str) else text
        for path, text in files.items()
    }
    siblings = [
        {"rfilename": path, "size": len(content), "blobId": blob_id(content)}
        for path, content in contents.items()
    ]
    info = {"id": repo, "sha": commit, "siblings": siblings}
    for address in (api, *(f"{api}/revision/{name}" for name in (commit, *tags))):
        server.answers[address] = Answer(
            json.dumps(info).encode(), headers={"Content-Type": "application/json"}
        )
    for path, content in contents.items():
        server.answers[f"{pages}/resolve/{commit}/{quote(path)}"] = Answer(
            content, headers={"X-Repo-Commit": commit, "ETag": f'"{blob_id(content)}"'}
        )


def blob_id(content: bytes) -> str:
    """The git blob id of a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@pytest.fixture(autouse=True)
def hub(cache: Path, server: WebServer) -> None:
    """An empty cache and a hub with one commit."""
    assert not cache.exists()
    publish(server, FIRST, FILES)


def test_the_files_allowed_are_downloaded_as_they_are() -> None:
    folder = at()
    folder.fetch()
    assert folder.files() == DATA
    assert [fetched(folder, file).read_text("utf-8") for file in DATA] == [
        FILES[f] for f in DATA
    ]
    assert folder.verify() == []
    assert folder.revision("test/logic.csv") == folder.revision() == FIRST[:7]


def test_a_file_that_a_task_declares_is_downloaded_too(server: WebServer) -> None:
    publish(server, SECOND, {**FILES, "test/x.csv": "question,A,B,answer\n"})
    folder = at(HubDataset("someone/questions", allow=("*.jsonl",)))
    folder.fetch()
    assert folder.files() == ["test/x.csv", "translation/can2man.jsonl"]


def test_later_runs_use_the_commit_of_the_first_without_asking(
    server: WebServer,
) -> None:
    at().fetch()
    publish(server, SECOND, {"test/logic.csv": "Question,A,B,Answer\n"})
    server.requests.clear()
    later = at()
    assert (
        fetched(later, "test/logic.csv").read_text("utf-8") == FILES["test/logic.csv"]
    )
    assert later.revision() == FIRST[:7]
    assert not server.requests


def test_a_revision_asked_for_is_the_one_downloaded(server: WebServer) -> None:
    publish(server, SECOND, {"test/logic.csv": "Question,A,B,Answer\n"})
    folder = at(HubDataset("someone/questions", revision=FIRST))
    assert folder.revision("test/logic.csv") == FIRST[:7]
    assert (
        fetched(folder, "test/logic.csv").read_text("utf-8") == FILES["test/logic.csv"]
    )


def test_another_request_does_not_get_what_this_one_downloaded(
    server: WebServer,
) -> None:
    at().fetch()
    publish(server, SECOND, FILES)
    wider = at(HubDataset("someone/questions"))
    wider.fetch()
    assert wider.files() == ["README.md", *DATA]
    assert wider.revision() == SECOND[:7]


def test_a_file_altered_in_the_cache_is_downloaded_again() -> None:
    folder = at()
    fetched(folder, "test/logic.csv").write_text("altered")
    assert [problem.kind for problem in folder.verify()] == ["changed"]
    assert (
        fetched(folder, "test/logic.csv").read_text("utf-8") == FILES["test/logic.csv"]
    )


def test_before_the_download_everything_is_missing(server: WebServer) -> None:
    (problem,) = at().verify()
    assert problem.kind == "missing"
    assert not server.requests


def test_an_unknown_file_is_an_error() -> None:
    with pytest.raises(DataNotFound, match=r"no file 'test/logics.csv'"):
        fetched(at(), "test/logics.csv")


def test_a_download_that_fails_half_way_does_not_count(server: WebServer) -> None:
    address = f"/datasets/someone/questions/resolve/{FIRST}/test/logic.csv"
    right = server.answers[address]
    server.answers[address] = Answer(status=403)
    folder = at()
    with pytest.raises(NetworkUnavailable, match="HF_ENDPOINT=<url>"):
        folder.fetch()
    assert [problem.kind for problem in folder.verify()] == ["missing"]
    server.answers[address] = right
    server.requests.clear()
    folder.fetch()
    assert folder.verify() == []
    assert server.requests[f"GET {address}"] == 1


def test_a_data_set_that_does_not_exist_says_so(server: WebServer) -> None:
    server.answers["/api/datasets/someone/nothing"] = Answer(
        status=401, headers={"X-Error-Code": "RepoNotFound"}
    )
    with pytest.raises(
        DataNotFound, match=r"datasets/someone/nothing is missing on the server.*401"
    ):
        at(HubDataset("someone/nothing")).fetch()


def test_a_data_set_without_the_files_wanted_says_so() -> None:
    with pytest.raises(
        DataNotFound, match=rf"at {FIRST} has no file that matches \*\.parquet"
    ):
        at(HubDataset("someone/questions", allow=("*.parquet",))).fetch()


def test_a_refused_connection_says_at_once_what_to_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{port}")
    start = time.monotonic()
    with pytest.raises(NetworkUnavailable, match="HKCANTO_DATA=sample"):
        at().fetch()
    assert time.monotonic() - start < 5


def test_a_hub_that_falls_silent_or_trickles_is_given_up(
    server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hkcanto_tasks.data.fetch._TIMEOUT", (0.5, 0.3))
    monkeypatch.setattr("hkcanto_tasks.data.fetch._GRACE", 0.5)
    info = server.answers["/api/datasets/someone/questions"]
    file = f"/datasets/someone/questions/resolve/{FIRST}/test/logic.csv"
    start = time.monotonic()
    for place, fault, complaint in (
        (
            "/api/datasets/someone/questions",
            replace(info, hangs=True),
            "timeout|timed out",
        ),
        ("/api/datasets/someone/questions", replace(info, drips=True), "too slow"),
        (file, replace(server.answers[file], drips=True), "too slow"),
    ):
        right = server.answers[place]
        server.answers[place] = fault
        with pytest.raises(NetworkUnavailable, match=f"(?i){complaint}"):
            at().fetch()
        server.answers[place] = right
    assert time.monotonic() - start < 5
    monkeypatch.setattr("hkcanto_tasks.data.fetch._GRACE", 20)
    at().fetch()


@pytest.mark.parametrize("place", ["the list of files", "a file"])
def test_a_hub_that_never_ends_is_given_up_by_the_command(
    place: str, server: WebServer, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hkcanto_tasks.data.fetch._GRACE", 0.5)
    publish(server, FIRST, {"README.md": "# HKMMLU\n"}, "chuxuecao/HKMMLU")
    addresses = {
        "the list of files": "/api/datasets/chuxuecao/HKMMLU",
        "a file": f"/datasets/chuxuecao/HKMMLU/resolve/{FIRST}/README.md",
    }
    server.answers[addresses[place]] = Answer(endless=True)
    start = time.monotonic()
    done = CliRunner().invoke(app, ["data", "fetch", "hkmmlu"])
    assert time.monotonic() - start < 5
    assert done.exit_code == 1
    assert "it was too slow: nothing was complete in" in " ".join(done.output.split())
    assert not [path for path in cache.rglob("*.md") if path.is_file()]


def test_a_busy_hub_is_asked_again(
    server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hkcanto_tasks.data.fetch._WAITS", (0, 0))
    place = "/api/datasets/someone/questions"
    server.answers[place] = replace(
        server.answers[place], first=[Answer(status=429)] * 2
    )
    at().fetch()
    assert server.requests[f"GET {place}"] == 3


def test_offline_means_no_request(
    server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(NetworkUnavailable, match="HF_HUB_OFFLINE forbids it"):
        at().fetch()
    assert not server.requests
    monkeypatch.delenv("HF_HUB_OFFLINE")
    at().fetch()
    server.requests.clear()
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert fetched(at(), "test/logic.csv").is_file()
    assert not server.requests


@pytest.mark.slow
def test_processes_that_start_together_download_each_file_once(
    server: WebServer, tmp_path: Path
) -> None:
    benchmark = declare(tmp_path / "home", DATASET, folder="questions")
    program = (
        "import pathlib\n"
        "from hkcanto_tasks.benchmark_files import read_benchmark\n"
        "from hkcanto_tasks.data.locating import locate\n"
        f"locate(read_benchmark(pathlib.Path({benchmark.home!r}, 'benchmark.toml'))).fetch()"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program], stderr=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    for process in processes:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    gets = {
        request: n
        for request, n in server.requests.items()
        if request.startswith("GET /data")
    }
    assert len(gets) == len(DATA)
    assert set(gets.values()) == {1}
    assert at().verify() == []


def announce(server: WebServer, **entry: object) -> None:
    """Make the hub give other metadata for the file test/logic.csv."""
    at = "/api/datasets/someone/questions"
    info = json.loads(server.answers[at].body)
    of_file = next(
        each for each in info["siblings"] if each["rfilename"] == "test/logic.csv"
    )
    of_file |= entry
    server.answers[at] = Answer(json.dumps(info).encode())


LOGIC = FILES["test/logic.csv"].encode()
SHA256 = hashlib.sha256(LOGIC).hexdigest()


def test_a_file_that_is_not_what_the_hub_announced_is_refused(
    server: WebServer, cache: Path
) -> None:
    lfs = {"sha256": "0" * 64, "size": len(LOGIC), "pointerSize": 130}
    for announced, complaint in (
        ({"blobId": "0" * 40}, f"hash is {blob_id(LOGIC)}, expected {'0' * 40}"),
        ({"lfs": lfs}, f"hash is {SHA256}, expected {'0' * 64}"),
    ):
        announce(server, **announced)
        with pytest.raises(DataCorrupt, match=complaint):
            at().fetch()
        assert not [*cache.rglob("logic.csv"), *cache.rglob("registry*")]


@pytest.mark.parametrize(
    "announced",
    [
        # The blob of a large file is the pointer to it.
        {
            "blobId": "0" * 40,
            "lfs": {"sha256": SHA256, "size": len(LOGIC), "pointerSize": 130},
        },
        {"blobId": None, "size": None},  # a mirror that gives only names
    ],
)
def test_what_is_as_announced_is_taken_and_recorded(
    server: WebServer, announced: Mapping[str, object]
) -> None:
    announce(server, **announced)
    folder = at()
    folder.fetch()
    assert folder.recorded["test/logic.csv"].sha256 == SHA256
    assert folder.verify() == []


def test_names_that_lead_elsewhere_are_refused(server: WebServer, cache: Path) -> None:
    for name in ("../../../evil.csv", "half\ud800.csv", "long" * 99 + ".csv"):
        announce(server, rfilename=name)
        with pytest.raises(
            DataCorrupt, match="list of files of someone/questions names a path"
        ):
            at().fetch()
        publish(server, FIRST, FILES)
    assert not [request for request in server.requests if "resolve" in request]
    assert not [*cache.parent.rglob("evil.csv")]


def test_a_commit_asked_for_must_be_the_one_that_comes(server: WebServer) -> None:
    publish(server, SECOND, FILES, "someone/questions", FIRST)
    folder = at(HubDataset("someone/questions", revision=FIRST))
    with pytest.raises(
        DataCorrupt, match=f"answers with commit {SECOND}, not with the requested one"
    ):
        folder.fetch()
    assert [problem.kind for problem in folder.verify()] == ["missing"]
    assert not [request for request in server.requests if "resolve" in request]


def test_a_gated_data_set_needs_a_token(server: WebServer) -> None:
    for status in (401, 403):
        server.answers["/api/datasets/someone/questions"] = Answer(status=status)
        with pytest.raises(HKCantoError, match=f"(?s){status}.*HF_TOKEN"):
            at().fetch()


def test_no_message_shows_the_password_of_a_hub(
    server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", server.url.replace("//", "//reader:hush@"))
    server.answers["/api/datasets/someone/page"] = Answer(b"<html>Log in</html>")
    server.answers["/api/datasets/someone/other"] = Answer(b'{"id": "x", "sha": "1"}')
    for name in ("page", "other", "missing"):
        with pytest.raises(HKCantoError, match=f"datasets/someone/{name}") as raised:
            at(HubDataset(f"someone/{name}")).fetch()
        assert "hush" not in f"{raised.value} {raised.value.__cause__!r}"
    at().fetch()


# ------------------------------------------------------------------- HKMMLU and TMMLU+ themselves


def test_hkmmlu_is_downloaded_and_read(server: WebServer) -> None:
    files = {
        f"test/{stem}.csv": as_csv([LAW, MUSIC]) for stem in ("hk_law", "hk_music")
    }
    publish(server, FIRST, files, "chuxuecao/HKMMLU")
    loaded = load_task("hkmmlu")
    assert (
        sorted(sample.subject for sample in loaded.samples)
        == ["hk_law"] * 2 + ["hk_music"] * 2
    )
    assert f"|data:{FIRST[:7]}|" in loaded.at(shots=0).signature


def test_tmmluplus_is_the_tag_of_the_paper_unless_another_is_asked_for(
    server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(
        server,
        FIRST,
        {"data/physics_test.csv": as_csv([LAW])},
        "ikala/tmmluplus",
        "v1.0",
    )
    publish(
        server,
        SECOND,
        {"data/physics_test.csv": as_csv([MUSIC])},
        "ikala/tmmluplus",
        "v1.1",
    )
    for revision, commit in (
        ("", FIRST),
        ("v1.1", SECOND),
        (SECOND[:7], SECOND),
        ("", FIRST),
    ):
        publish(
            server, commit, FILES, "ikala/other", revision
        )  # also a commit's first digits
        server.answers[f"/api/datasets/ikala/tmmluplus/revision/{SECOND[:7]}"] = (
            server.answers["/api/datasets/ikala/tmmluplus/revision/v1.1"]
        )
        monkeypatch.setenv("HKCANTO_REVISION_TMMLUPLUS", revision)
        assert (
            f"|data:{commit[:7]}|" in load_task("tmmluplus_gen").at(shots=0).signature
        )


def test_the_data_stays_when_its_tag_moves(server: WebServer) -> None:
    publish(
        server,
        FIRST,
        {"data/physics_test.csv": as_csv([LAW])},
        "ikala/tmmluplus",
        "v1.0",
    )
    locate(find_benchmark("tmmluplus")).fetch()
    publish(
        server,
        SECOND,
        {"data/physics_test.csv": as_csv([MUSIC])},
        "ikala/tmmluplus",
        "v1.0",
    )
    assert f"|data:{FIRST[:7]}|" in load_task("tmmluplus_gen").at(shots=0).signature


def test_the_reasoning_of_tmmluplus_is_downloaded_when_it_is_needed(
    server: WebServer,
) -> None:
    files = {
        "data/physics_test.csv": as_csv([LAW]),
        "data/physics_dev.csv": as_csv([LAW] * 5),
    }
    publish(server, FIRST, files, "ikala/tmmluplus", "v1.0")
    explained = as_csv([(*LAW, "因為甲。")] * 5, (*COLUMNS, "explanation"))
    publish(server, SECOND, {"data/physics_dev.csv": explained}, "ikala/tmmluplus_cot")
    loaded = load_task("tmmluplus_gen_cot")
    loaded.at(shots=0).prompt(loaded.samples[0])
    assert not any("tmmluplus_cot" in request for request in server.requests)
    assert "因為甲。" in loaded.at(shots=5).prompt(loaded.samples[0]).text()
    assert (
        f"|rationale:tmmluplus_cot@{SECOND[:7]}|data:{FIRST[:7]}|"
        in loaded.at(shots=5).signature
    )
