"""The documents are true: pages are fresh, what a reader pastes runs and prints what is shown."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hkcanto_tasks import published
from hkcanto_tasks.catalogue import Benchmark, benchmarks, named_tasks
from hkcanto_tasks.describing import describe
from hkcanto_tasks.kinds import kind_names

from .scripts import REPOSITORY, load_script
from .test_outside_benchmark import PROVIDER, install

generate = load_script("docs/generate.py")
PAGES = REPOSITORY / "docs" / "tasks"
GUIDE = REPOSITORY / "docs" / "adding_a_benchmark.md"
AGAIN = "run `python docs/generate.py`"


def blocks(language: str) -> list[str]:
    """The code blocks of the guide."""
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE.read_text("utf-8"), re.M | re.S)


def shell(script: str, folder: Path, **env: str) -> str:
    """Run what a reader pastes; the commands of this environment are there."""
    done = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HKCANTO_CACHE": str(folder / "cache"),
            **env,
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


# ---------------------------------------------------------------------- pages


def test_the_pages_are_fresh() -> None:
    made = {f"{each.name}.md": generate.page(each) for each in benchmarks()}
    kept = {path.name: path.read_text("utf-8") for path in PAGES.iterdir()}
    assert kept.keys() == made.keys(), AGAIN
    for name, text in made.items():
        assert kept[name] == text, f"{name} is stale: {AGAIN}"


def test_the_pages_are_the_same_on_every_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HKCANTO_DATA", "release")
    monkeypatch.setenv("HKCANTO_DATA_DIR", "/nowhere")
    for benchmark in benchmarks():
        text = generate.page(benchmark)
        assert text == (PAGES / f"{benchmark.name}.md").read_text("utf-8")
        assert str(REPOSITORY) not in text
        assert not re.search(r"pkg:\d|data:\w", text)


def test_every_task_and_variant_has_its_place() -> None:
    for task in named_tasks().values():
        if task.scope == "task":
            text = (PAGES / f"{task.benchmark.name}.md").read_text("utf-8")
            assert re.search(rf"^##+ {task.name}$", text, re.M), task.name
            assert f"--tasks {task.name}`" in text


def test_a_page_of_another_benchmark_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(REPOSITORY / "docs" / "examples"))
    assert generate.main(tmp_path, ["yue_benchmark"]) == [tmp_path / "yue_benchmark.md"]
    assert "## yue_gsm8k" in (tmp_path / "yue_benchmark.md").read_text("utf-8")


@pytest.mark.parametrize(
    "name", [task.name for task in named_tasks().values() if task.scope == "task"]
)
def test_no_right_answer_is_told(name: str) -> None:
    described = describe(name)
    assert described.loaded is not None
    sample = described.loaded.samples[0]
    _, question, after = described.prompt.rpartition(sample.question)
    assert question
    assert after == ""
    if (
        len(sample.target) > 1 and described.task.entry.kind != "sentiment"
    ):  # which names its labels
        assert sample.target not in described.prompt


# ---------------------------------------------------------------------- the guide


def test_the_tables_of_fields_are_fresh() -> None:
    text = GUIDE.read_text("utf-8")
    assert generate.with_fields(text) == text, AGAIN
    assert re.findall(r"<!-- fields: (\w+) -->", text) == [*generate.field_records()]


# What no file declares: it is known from where the file is.
FILLED_IN = {(Benchmark, "home")} | {
    (published.PublishedTable, name) for name in ("name", "benchmark", "source", "rows")
}


def test_every_field_is_mentioned() -> None:
    text = GUIDE.read_text("utf-8")
    for record in (*generate.field_records().values(), published._File, published.PublishedTable):
        for name in getattr(record, "__struct_fields__", None) or record.__annotations__:
            if (record, name) not in FILLED_IN:
                assert f"| `{name}` | " in text, (record, name)
    for field in msgspec.structs.fields(published.PublishedTable):
        if (published.PublishedTable, field.name) in FILLED_IN:
            continue
        (row,) = [line for line in _rows_after(text, "`[[tables]]`:") if f"`{field.name}`" in line]
        assert ("| required |" in row) == field.required, row


def _rows_after(text: str, place: str) -> list[str]:
    return [line for line in text.partition(place)[2].split("\n\n")[1].splitlines() if line]


def test_every_kind_is_mentioned() -> None:
    text = " ".join(GUIDE.read_text("utf-8").split())
    assert f"`kind` is one of {', '.join(f'`{name}`' for name in kind_names())}, or" in text


def test_every_place_on_the_map_exists() -> None:
    table = GUIDE.read_text("utf-8").partition("| question | where |")[2]
    packages = ("hkcanto_tasks", "metrics", "lm_eval_tasks", "inspect_evals")
    roots = [REPOSITORY / name for name in packages]
    for name in re.findall(r"`([\w/.*]+(?:/|\.py|\.toml))`", table):
        there = [*REPOSITORY.glob(name), *(found for root in roots for found in root.rglob(name))]
        assert there, name


def test_pieces_of_a_declaration_are_read() -> None:
    whole = tomllib.loads(blocks("sh")[0].partition("<<'END'\n")[2].partition("\nEND")[0])
    pieces = [tomllib.loads(block) for block in blocks("toml")]
    assert len(pieces) > 5
    for piece in pieces:
        if "project" in piece:
            continue
        release = piece.keys() & {"github", "hub"}
        declared: dict[str, Any] = (
            {**{key: value for key, value in whole.items() if key != "data"}, **piece}
            if release
            else {**whole, "tasks": [{**whole["tasks"][0], **piece}]}
        )
        msgspec.convert(declared, Benchmark)


def test_what_a_stranger_pastes_runs_and_prints_what_is_shown(tmp_path: Path) -> None:
    declare, run, *_ = blocks("sh")
    listed, table, *_ = blocks("text")
    install(tmp_path, "letters_model", PROVIDER, inspect_ai="letters = letters_model")
    printed = shell(declare, tmp_path)
    for line in listed.splitlines():
        assert line in printed
    assert "│ 天星小輪由尖沙咀開去邊度？" in printed
    # Inspect's mock model would download a tokenizer.
    run = run.replace("mockllm/model", "letters/b --display plain")
    quiz = str(tmp_path / "my_benchmarks")
    printed = shell(run, tmp_path, HKCANTO_BENCHMARKS=quiz, PYTHONPATH=str(tmp_path))
    assert table in printed
    assert re.search(r"acc +0\.5", printed)


def test_a_package_brings_a_kind_and_a_benchmark(tmp_path: Path) -> None:
    kind, package = blocks("python")
    (declared,) = [block for block in blocks("toml") if "entry-points" in block]
    groups = tomllib.loads(declared)["project"]["entry-points"]
    folder = tmp_path / "my_benchmarks"
    (folder / "capitals").mkdir(parents=True)
    (folder / "__init__.py").write_text(package, encoding="utf-8")
    (folder / "short_answer.py").write_text(kind, encoding="utf-8")
    (folder / "capitals" / "benchmark.toml").write_text(
        'name = "capitals"\ntitle = "Capitals"\n[data]\n[prompts.plain]\n'
        'question = "{question}"\n[[tasks]]\nname = "capitals"\ntitle = "Capitals"\n'
        'kind = "short_answer"\nfiles = { test = "{stem}.csv" }\n'
        'subjects = [{ name = "europe" }, { name = "asia" }]\n',
        encoding="utf-8",
    )
    for name, row in {"europe": "法國嘅首都？,巴黎", "asia": "日本嘅首都？,東京"}.items():
        (folder / "capitals" / f"{name}.csv").write_text(f"question,answer\n{row}\n", "utf-8")
    lines = {
        group: "\n".join(f"{name} = {value}" for name, value in entries.items())
        for group, entries in groups.items()
    }
    install(tmp_path, "my_package", "", **lines)
    code = (
        "from hkcanto_tasks import load_task\n"
        "task = load_task('capitals')\n"
        "print(sorted((s.question, task.condition.judge('東京。', s.target).values['acc'])"
        " for s in task.samples))"
    )
    # Not HKCANTO_BENCHMARKS: the package is enough.
    printed = shell(f'python -c "{code}"', tmp_path, PYTHONPATH=str(tmp_path))
    assert printed.strip() == "[('日本嘅首都？', 1.0), ('法國嘅首都？', 0.0)]"
    printed = shell(
        "lm_eval --model dummy --tasks capitals; hkcanto list capitals",
        tmp_path,
        PYTHONPATH=str(tmp_path),
    )
    assert re.search(r"\|capitals *\| +1\|none +\| +0\|acc +\|↑ +\| +0\|", printed)
    assert re.search(r"\|acc_asia +\|↑ +\| +0\|", printed)
    assert "hkcanto/run -T task=capitals" in printed
