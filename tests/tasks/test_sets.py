"""Public sets run by their names, without a setting, and say where they are from."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
from typer.testing import CliRunner

from hkcanto_tasks import catalogue, load_task
from hkcanto_tasks.benchmark_files import read_benchmark
from hkcanto_tasks.catalogue import (
    SETS,
    benchmarks,
    find_benchmark,
    find_task,
    named_tasks,
)
from hkcanto_tasks.cli import app
from hkcanto_tasks.data.fetch import HubFolder
from hkcanto_tasks.tasks import LoadedTask

NAMES = sorted(path.parent.name for path in SETS.glob("*/benchmark.toml"))


def hkcanto(*arguments: str) -> str:
    done = CliRunner().invoke(app, [*arguments], env={"COLUMNS": "120"})
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("name", NAMES)
def test_a_set_is_declared_with_licence_source_and_kinds_that_fit(name: str) -> None:
    declared = read_benchmark(SETS / name / "benchmark.toml")
    assert declared.name == find_benchmark(declared.name).name
    assert declared.terms
    assert re.fullmatch(r"(\d{4}-\d\d-\d\d)?", declared.checked)
    assert Path(declared.home, "sample").is_dir() or declared.data
    for task in declared.tasks:
        assert find_task(task.name).definition == task


def test_sets_are_found_but_only_listed_if_asked_for() -> None:
    assert "yue_benchmark_mmlu" not in named_tasks()
    assert "yue_benchmark" not in [benchmark.name for benchmark in benchmarks()]
    assert load_task("yue_benchmark_mmlu").samples
    assert "yue_benchmark" not in hkcanto("list")
    listed = json.loads(hkcanto("list", "--all", "--json"))
    known = {task["name"]: task for task in listed}
    yue = known["yue_benchmark_mmlu"]
    assert (yue["items"], yue["terms"]) == (3721, "MIT licence.")
    assert yue["published"] == "github.com/jiangjyjy/Yue-Benchmark, 675254d"
    assert "on 2026-" in yue["checked"]
    assert "floating" in known["gsm8k_cantonese"]["published"]
    assert known["global_piqa_yue"]["checked"].startswith("not yet")
    assert "published" not in known["hkmmlu"]
    assert "yue_benchmark_gsm8k" in hkcanto("list", "yue_benchmark")
    assert "MIT licence." in hkcanto("show", "yue_benchmark_arc_c")


def test_a_users_own_benchmark_takes_the_place_of_a_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (SETS / "cmath/benchmark.toml").read_text("utf-8")
    (tmp_path / "benchmark.toml").write_text(text.replace('"CMATH"', '"Mine"'), "utf-8")
    (tmp_path / "checksums.sha256").write_bytes(
        (SETS / "cmath/checksums.sha256").read_bytes()
    )
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))
    assert find_task("cmath").benchmark.title == "Mine"
    assert catalogue.left_out() == ()


def test_no_set_takes_a_name_that_lm_eval_has() -> None:
    tasks = pytest.importorskip("lm_eval.tasks")
    folder = Path(tasks.__file__).parent
    theirs = re.findall(
        r"^(?:task|group|tag): *[\"']?(\w+)",
        "\n".join(file.read_text("utf-8") for file in folder.rglob("*.y*ml")),
        re.MULTILINE,
    )
    assert "cmmlu" in theirs
    assert (named_tasks(with_sets=True).keys() - named_tasks().keys()).isdisjoint(
        theirs
    )


def test_lm_eval_and_inspect_find_a_set_by_name() -> None:
    from hkcanto import tasks
    from hkcanto_lm_eval.index import configurations

    configured = configurations(find_benchmark("yue_benchmark"))
    assert {"yue_benchmark_mmlu", "yue_benchmark_mmlu_arts"} <= configured.keys()
    assert tasks.run(task="cmath").dataset.samples


def test_data_without_a_pin_is_called_floating_beside_every_score(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    loaded = load_task("gsm8k_cantonese")
    benchmark = loaded.task.benchmark
    assert benchmark.hub
    for pin, floats in (("", True), ("0" * 40, False)):
        monkeypatch.setenv("HKCANTO_REVISION_GSM8K_CANTONESE", pin)
        folder = HubFolder("gsm8k_cantonese", tmp_path, benchmark.hub)
        monkeypatch.setattr(loaded.release, "folder", folder)
        monkeypatch.setattr(loaded.release, "revision", lambda _: "1234567")
        at = LoadedTask(loaded.kind, loaded.samples, loaded.release, asked=loaded.asked)
        assert ("|data:floating-1234567|" in at.signature) == floats
        assert ("floating data" in at.remark) == floats


def rows_of(
    reader: str, folder: Path, files: Mapping[str, str], split: str = "test"
) -> list[dict[str, Any]]:
    """The rows that a set's own reader yields of some files, e.g. that of `ntrex:english_taiwan`."""
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    home, _, function = reader.partition(":")
    read = run_path(str(SETS / home / "rows.py"))[function]
    return [*read(folder, split)]


CANTONMT = {"test/yue.txt": "早晨\n飲茶\n", "test/en.txt": "Good morning\nHave tea\n"}
NTREX = {
    "newstest2019-src.eng.txt": "Good morning\nHave tea\n",
    "newstest2019-ref.yue.txt": "早晨\n飲茶\n",
    "newstest2019-ref.zho-TW.txt": "早安\n喝茶\n",
}
ENGLISH, CANTONESE, TAIWAN = (
    ("Good morning", "Have tea"),
    ("早晨", "飲茶"),
    ("早安", "喝茶"),
)


@pytest.mark.parametrize(
    ("reader", "files", "sources", "targets"),
    [
        ("cantonmt:cantonese_english", CANTONMT, CANTONESE, ENGLISH),
        ("cantonmt:english_cantonese", CANTONMT, ENGLISH, CANTONESE),
        ("ntrex:cantonese_english", NTREX, CANTONESE, ENGLISH),
        ("ntrex:english_cantonese", NTREX, ENGLISH, CANTONESE),
        ("ntrex:english_taiwan", NTREX, ENGLISH, TAIWAN),
    ],
)
def test_a_line_is_translated_by_the_same_line_of_the_other_file(
    tmp_path: Path,
    reader: str,
    files: Mapping[str, str],
    sources: tuple[str, str],
    targets: tuple[str, str],
) -> None:
    first, second = rows_of(reader, tmp_path, files)
    assert first == {"source": sources[0], "target": targets[0]}
    assert second == {"source": sources[1], "target": targets[1]}
    assert rows_of(reader, tmp_path, files, "dev") == []
    english = next(name for name in files if name.endswith(("en.txt", "eng.txt")))
    with pytest.raises(ValueError, match="argument 2 is"):
        rows_of(reader, tmp_path, {**files, english: "Good morning\n"})


def test_a_sentence_of_g2p_has_the_line_of_its_own_jyutping(tmp_path: Path) -> None:
    text = "搭電車\ndaap3 din6 ce1\n\n落雨\nlok6 jyu5\n"
    files = {"jyutping_sentences.txt": text}
    assert rows_of("to_jyutping_tests:rows", tmp_path, files) == [
        {"sentence": "搭電車", "jyutping": "daap3 din6 ce1"},
        {"sentence": "落雨", "jyutping": "lok6 jyu5"},
    ]
    assert rows_of("to_jyutping_tests:rows", tmp_path, files, "dev") == []


def test_a_marked_character_has_the_line_of_its_own_reading(tmp_path: Path) -> None:
    files = {
        "b.sent": "▁行▁山\n銀▁行▁\n",
        "b.lb": "haang4\nhong4\n",
        "a.sent": "▁重▁慶\n",
        "a.lb": "cung4\n",
    }
    assert rows_of("yue_g2p:rows", tmp_path, files) == [
        {"subject": "a", "id": 1, "question": "▁重▁慶", "answer": "cung4"},
        {"subject": "b", "id": 1, "question": "▁行▁山", "answer": "haang4"},
        {"subject": "b", "id": 2, "question": "銀▁行▁", "answer": "hong4"},
    ]
    assert rows_of("yue_g2p:rows", tmp_path, files, "dev") == []
    with pytest.raises(ValueError, match="shorter"):
        rows_of("yue_g2p:rows", tmp_path, {**files, "b.lb": "haang4\n"})
