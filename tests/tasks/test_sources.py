"""Environment variables choose the source of data; local folders are checked by checksum."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from hkcanto_tasks.benchmark_files import read_benchmark
from hkcanto_tasks.catalogue import find_benchmark
from hkcanto_tasks.data.fetch import HubFolder, Problem
from hkcanto_tasks.data.locating import locate
from hkcanto_tasks.data.releases import (
    GitHubRelease,
    HubDataset,
    RecordedFile,
    read_registry,
)
from hkcanto_tasks.declarations import Benchmark
from hkcanto_tasks.errors import CatalogueError, DataNotFound, HKCantoError

from .declaring import OWN, declare, fetched

NEW, OLD = "b" * 40, "0" * 40


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".csv").write_text(text, encoding="utf-8")


def on_github(home: Path, folder: str = "release") -> Benchmark:
    checksums = (
        f"# A release\ndev/q.csv {sha256('q,A')}\n"
        f"test/a.csv {sha256('a,B')} {OLD}:data/answers.csv\n"
    )
    release = GitHubRelease("someone/release", NEW, prefix="data/")
    return declare(home, release, folder=folder, checksums=checksums)


@pytest.fixture
def release(tmp_path: Path) -> Benchmark:
    """A release of two files, with answers from an older commit."""
    return on_github(tmp_path / "home")


@pytest.fixture
def questions(tmp_path: Path) -> Benchmark:
    """A hub data set without recorded checksums."""
    return declare(
        tmp_path / "other", HubDataset("someone/questions"), folder="questions"
    )


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`HKCANTO_DATA_DIR`, with the complete release in its folder."""
    folder = tmp_path / "data"
    write(folder / "release", dev__q="q,A", test__a="a,B")
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(folder))
    monkeypatch.delenv("HKCANTO_DATA")
    return folder


def test_a_local_folder_is_used_as_it_is(local: Path, release: Benchmark) -> None:
    found = locate(release)
    assert found.kind == "local"
    assert fetched(found, "dev/q.csv") == local / "release/dev/q.csv"
    assert found.files() == ["dev/q.csv", "test/a.csv"]


def test_a_git_clone_is_a_local_folder_too(local: Path, tmp_path: Path) -> None:
    write(local / "clone/data", dev__q="q,A", test__a="a,B")
    found = locate(on_github(tmp_path / "home", folder="clone"))
    assert fetched(found, "dev/q.csv") == local / "clone/data/dev/q.csv"
    assert found.verify() == []


def test_a_hub_data_set_keeps_its_data_folder(
    local: Path, questions: Benchmark
) -> None:
    write(local / "questions", data__q_dev="q,A")
    assert locate(questions).files() == ["data/q_dev.csv"]


def test_the_sample_wins_over_a_local_folder(
    local: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(local / "hkeval2025", dev__q="q,A")
    monkeypatch.setenv("HKCANTO_DATA", "sample")
    found = locate(find_benchmark("hkcanto"))
    assert found.kind == "sample"
    assert found.revision() == "sample"
    assert local not in found.root.parents


def test_the_sample_is_data_and_has_nothing_to_compare_with() -> None:
    found = locate(find_benchmark("hkcanto"))
    assert found.files()
    assert found.verify() == []


def test_a_benchmark_without_a_sample_says_what_to_unset(release: Benchmark) -> None:
    with pytest.raises(
        DataNotFound, match=r"release has no sample.*Unset HKCANTO_DATA"
    ):
        locate(release)


def test_without_a_choice_data_is_downloaded_to_the_cache(cache: Path) -> None:
    found = locate(find_benchmark("hkcanto"))
    assert found.kind == "cache"
    assert found.root == cache / "hkeval2025/ba2a58b"


@pytest.mark.usefixtures("cache")
def test_an_empty_choice_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HKCANTO_DATA", "")
    monkeypatch.setenv("HKCANTO_DATA_DIR", "")
    assert locate(find_benchmark("hkcanto")).kind == "cache"


@pytest.mark.usefixtures("cache")
def test_the_cache_is_in_the_users_cache_folder_by_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HKCANTO_CACHE")
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / name)
    assert locate(find_benchmark("hkmmlu")).root.parent == tmp_path / "hkcanto/hkmmlu"


def test_an_unknown_choice_names_the_known_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HKCANTO_DATA", "smaple")
    with pytest.raises(DataNotFound, match=r"'smaple' is unknown.*'sample'.*'release'"):
        locate(find_benchmark("hkmmlu"))


def test_a_folder_that_does_not_exist_names_those_that_do(local: Path) -> None:
    (local / ".git").mkdir()
    with pytest.raises(DataNotFound, match=r"has no folder 'hkmmlu', only release\."):
        locate(find_benchmark("hkmmlu"))


def test_a_data_dir_that_does_not_exist_is_named(
    local: Path, release: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(local / "nowhere"))
    with pytest.raises(
        DataNotFound, match=r"HKCANTO_DATA_DIR=.*nowhere is not a folder"
    ):
        locate(release)


def test_a_recorded_file_that_lacks_says_how_to_get_it(
    local: Path, release: Benchmark
) -> None:
    (local / "release/test/a.csv").unlink()
    found = locate(release)
    with pytest.raises(DataNotFound, match=f"git show {OLD}:data/answers.csv"):
        fetched(found, "test/a.csv")
    with pytest.raises(DataNotFound, match=r"release/test/a.csv does not exist"):
        found.fetch()


@pytest.mark.usefixtures("local")
def test_a_misspelt_file_is_an_error(release: Benchmark) -> None:
    with pytest.raises(DataNotFound, match=r"no file 'dev/qq.csv'"):
        fetched(locate(release), "dev/qq.csv")


@pytest.mark.usefixtures("local")
def test_a_revision_is_the_commit_that_a_file_comes_from(release: Benchmark) -> None:
    found = locate(release)
    assert found.revision("dev/q.csv") == "bbbbbbb"
    assert found.revision("test/a.csv") == "0000000"
    assert found.revision("dev/q.csv", "test/a.csv") == "0000000+bbbbbbb"
    assert found.revision() == "0000000+bbbbbbb"


def listed(**files: str) -> str:
    """The first digits of what `sha256sum FILES | sha256sum` prints."""
    lines = (
        f"{sha256(text)}  {name.replace('__', '/')}.csv\n"
        for name, text in files.items()
    )
    return sha256("".join(lines))[:7]


def test_a_changed_file_has_its_own_sha256_as_revision(
    local: Path, release: Benchmark
) -> None:
    write(local / "release", dev__q="q,C")
    found = locate(release)
    assert found.revision("dev/q.csv") == f"local-{listed(dev__q='q,C')}"
    assert found.revision() == f"0000000+local-{listed(dev__q='q,C')}"


def test_a_recorded_file_in_the_place_of_another_is_not_the_recorded_one(
    local: Path, release: Benchmark
) -> None:
    write(local / "release", dev__q="a,B", test__a="q,A")
    assert locate(release).revision() == f"local-{listed(dev__q='a,B', test__a='q,A')}"
    write(local / "release", test__more="a,B")
    assert (
        locate(release).revision("test/more.csv") == f"local-{listed(test__more='a,B')}"
    )


def test_the_revision_of_unrecorded_files_tells_any_change(
    local: Path, questions: Benchmark
) -> None:
    write(local / "questions", a="1,A", b="2,B")
    found = locate(questions)
    before = found.revision("a.csv", "b.csv")
    assert (
        before
        == found.revision("b.csv", "a.csv")
        == f"local-{listed(a='1,A', b='2,B')}"
    )
    for changed in (
        {"a": "1,A", "b": "2,C"},
        {"a": "2,B", "b": "1,A"},
    ):  # the second: exchanged
        write(local / "questions", **changed)
        assert (
            found.revision("a.csv", "b.csv") == f"local-{listed(**changed)}" != before
        )


def test_a_revision_that_is_not_used_is_said(
    local: Path,
    questions: Benchmark,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    write(local / "questions", a="1,A")
    monkeypatch.setenv("HKCANTO_REVISION_QUESTIONS", "v2")
    for _ in range(2):
        locate(questions)
    (message,) = [line for line in caplog.messages if "has no effect" in line]
    assert message.startswith(
        "HKCANTO_REVISION_QUESTIONS=v2 has no effect: HKCANTO_DATA_DIR="
    )


def test_a_folder_that_no_variable_can_mean_is_an_error(
    local: Path, questions: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "long" * 100
    for variable in ("HKCANTO_DATA_DIR", "HKCANTO_CACHE"):
        for value in ("~nobody-has-this-name/x", str(local / long)):
            monkeypatch.setenv(variable, value)
            with pytest.raises(DataNotFound, match=variable):
                locate(questions).fetch()
        monkeypatch.delenv(variable)
    monkeypatch.setenv("HKCANTO_CACHE", str(local / "cache"))
    monkeypatch.setenv("HKCANTO_REVISION_QUESTIONS", long)
    with pytest.raises(HKCantoError, match="HKCANTO_REVISION_QUESTIONS"):
        locate(questions)


def test_the_complete_release_has_no_problem(local: Path, release: Benchmark) -> None:
    (local / "release/.DS_Store").write_text("")
    assert locate(release).verify() == []


def test_missing_changed_and_extra_files_are_problems(
    local: Path, release: Benchmark
) -> None:
    write(local / "release", test__a="a,C", test__notes="mine")
    (local / "release/dev/q.csv").unlink()
    problems = locate(release).verify()
    assert [(problem.file, problem.kind) for problem in problems] == [
        ("dev/q.csv", "missing"),
        ("test/a.csv", "changed"),
        ("test/notes.csv", "extra"),
    ]
    assert sha256("a,C") in problems[1].detail
    assert sha256("a,B") in problems[1].detail


def test_pointer_files_are_called_that(local: Path, release: Benchmark) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
    write(local / "release", dev__q=pointer)
    (problem,) = locate(release).verify()
    assert problem.kind == "changed"
    assert "git lfs pull" in problem.detail


def test_without_recorded_checksums_only_unreadable_files_are_a_problem(
    local: Path, questions: Benchmark
) -> None:
    write(local / "questions", a="1,A", b="<html></html>")
    (problem,) = locate(questions).verify()
    assert (problem.file, problem.kind) == ("b.csv", "unreadable")


def test_a_registry_is_poochs_with_an_origin_as_git_writes_it(tmp_path: Path) -> None:
    registry = tmp_path / "r.sha256"
    registry.write_text(
        f"# c\n\nx.csv {'1' * 64}\ny%20z.csv {'2' * 64} {OLD}:old/y.csv\n"
    )
    assert read_registry(registry, commit=NEW, prefix="data/") == {
        "x.csv": RecordedFile("1" * 64, NEW, "data/x.csv"),
        "y z.csv": RecordedFile("2" * 64, OLD, "old/y.csv"),
    }


def test_a_registry_line_that_is_wrong_is_named(tmp_path: Path) -> None:
    registry = tmp_path / "r.sha256"
    for line in (
        "y.csv",
        "y.csv 12345",
        f"x.csv {'2' * 64}",
        f"y.csv {'2' * 64} https://a/b",
    ):
        registry.write_text(f"x.csv {'1' * 64}\n{line}\n")
        with pytest.raises(CatalogueError, match=r"r\.sha256: line 2"):
            read_registry(registry, commit=NEW)


def test_local_data_needs_no_download_library() -> None:
    program = (
        "import os, sys; os.environ['HKCANTO_DATA'] = 'sample'\n"
        "from hkcanto_tasks import load_task\n"
        "load_task('hkmmlu')\n"
        "print({'pooch', 'requests', 'huggingface_hub', 'filelock', 'tqdm'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


@pytest.mark.realdata
def test_the_real_release_is_complete_and_unaltered() -> None:
    found = locate(find_benchmark("hkcanto"))
    assert found.verify() == list[Problem]()
    assert (
        found.revision("phonetics-g2p/test/zh_to_jyutping_test_gold.json") == "b047f9f"
    )
    assert found.revision("mmlu/test/anatomy_test.csv") == "ba2a58b"


# ------------------------------------------------------------------------- names outside the folder


OUTSIDE = [
    "../../x.csv",
    "/x.csv",
    "a/../../x.csv",
    "C:x.csv",
    "C:/x.csv",
    "..\\x.csv",
    "x\0.csv",
    "long" * 64 + ".csv",
]


def test_a_checksum_of_a_file_outside_is_refused(tmp_path: Path) -> None:
    registry = tmp_path / "r.sha256"
    for name in OUTSIDE:
        quoted = name.replace("\0", "%00").replace("..", "%2E%2E", 1)
        registry.write_text(f"x.csv {'1' * 64}\n{quoted} {'2' * 64}\n")
        outside = r"r\.sha256: line 2 names a path outside"
        with pytest.raises(CatalogueError, match=outside) as raised:
            read_registry(registry, commit=NEW)
        assert repr(name) in str(raised.value)


@pytest.mark.usefixtures("cache")
def test_a_folder_outside_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    toml = tmp_path / "home/benchmark.toml"
    for folder in ("", str(tmp_path / "data")):
        monkeypatch.setenv("HKCANTO_DATA_DIR", folder)
        for name in ("../../x", "/tmp", "a/../..", "C:x"):
            benchmark = on_github(tmp_path / "home", folder=name)
            outside = f"{toml}: folder names a path outside: '{name}'"
            with pytest.raises(CatalogueError, match=outside):
                locate(benchmark)


@pytest.mark.parametrize(
    ("release", "entry"),
    [
        (GitHubRelease("someone/release", NEW, prefix="../../"), "prefix"),
        (GitHubRelease("someone/release", "../../x", prefix="data/"), "commit"),
    ],
)
def test_other_entries_that_lead_outside_are_refused(
    cache: Path, monkeypatch: pytest.MonkeyPatch, release: GitHubRelease, entry: str
) -> None:
    benchmark = declare(cache.parent / "home", release, checksums=f"x.csv {'1' * 64}")
    if entry == "prefix":
        (cache.parent / "data/release").mkdir(parents=True)
        monkeypatch.setenv("HKCANTO_DATA_DIR", str(cache.parent / "data"))
    with pytest.raises(
        CatalogueError, match=rf"benchmark\.toml: {entry} names a path outside"
    ):
        locate(benchmark)


def test_own_data_outside_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere/questions").mkdir(parents=True)
    home = tmp_path / "home"
    home.mkdir()
    (home / "link").symlink_to(tmp_path / "elsewhere")
    for name in (*OUTSIDE, "..", "link/questions"):
        toml = OWN.replace("PATH", json.dumps(name))
        (home / "benchmark.toml").write_text(toml, encoding="utf-8")
        with pytest.raises(
            CatalogueError, match=r"benchmark\.toml: path of \[data\] names a path"
        ):
            locate(read_benchmark(home / "benchmark.toml"))


def test_own_data_inside_is_taken(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "here").symlink_to("a")
    (tmp_path / "benchmark.toml").write_text(
        OWN.replace("PATH", '"./here/b"'), encoding="utf-8"
    )
    found = locate(read_benchmark(tmp_path / "benchmark.toml"))
    assert (found.kind, found.root) == ("own", tmp_path / "here/b")


@pytest.mark.parametrize("link", ["test.csv", "more"])
def test_a_link_out_of_a_benchmarks_own_folder_is_not_followed(
    tmp_path: Path, link: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "test.csv").write_text(
        "question,A,B,answer\n?,1,2,A\n", encoding="utf-8"
    )
    home = tmp_path / "home"
    home.mkdir()
    (home / "benchmark.toml").write_text(OWN.replace("PATH", '"."'), encoding="utf-8")
    (home / link).symlink_to(
        elsewhere / "test.csv" if link == "test.csv" else elsewhere
    )
    with pytest.raises(
        DataNotFound, match=f"own folder names a path outside: '{link}'"
    ):
        locate(read_benchmark(home / "benchmark.toml")).files()


def test_the_users_own_links_are_followed(
    local: Path, tmp_path: Path, release: Benchmark
) -> None:
    (local / "release").rename(tmp_path / "elsewhere")
    (local / "release").symlink_to(tmp_path / "elsewhere")
    assert locate(release).verify() == []


def test_the_hub_is_asked_in_one_order_for_each_path_that_nothing_else_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With another order, the cache would hold the data of another request.
    monkeypatch.delenv("HKCANTO_DATA")
    monkeypatch.setenv("HKCANTO_CACHE", str(tmp_path))
    benchmark = find_benchmark("hkmmlu")
    narrow = HubDataset("someone/hkmmlu", allow=("README.md", "*.csv"))
    folder = locate(msgspec.structs.replace(benchmark, hub=narrow))
    assert isinstance(folder, HubFolder)
    assert folder._allow == (
        "README.md",
        "*.csv",
        "**.jsonl",
        "*/dev/0000.parquet",
        "*/test/0000.parquet",
    )
