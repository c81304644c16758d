"""Public sets run by their names, without a setting, and say where they are from."""

import json
import re
from pathlib import Path

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
