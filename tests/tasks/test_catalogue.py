"""The catalogue refuses data files that are wrong, and says where."""

from pathlib import Path

import pytest

from hkcanto_tasks import load_task
from hkcanto_tasks.catalogue import BENCHMARKS, benchmarks, find_task, named_tasks, read_benchmark
from hkcanto_tasks.errors import CatalogueError

TEXT = (BENCHMARKS / "hkcanto" / "benchmark.toml").read_text("utf-8")


def read(folder: Path, text: str) -> None:
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    read_benchmark(folder / "mine.toml")


def test_the_original_is_accepted(tmp_path: Path) -> None:
    read(tmp_path, TEXT)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('kind = "g2p"', 'kinds = "g2p"', "kinds"),
        ("shots = 5", "shots = -1", r"tasks\[0\].shots"),
        ("shots = 5", 'shots = "5"', r"tasks\[0\].shots"),
        ("[prompts.g2p]", "[prompts.g2q]", "prompt 'g2p'"),
        ('commit = "', 'comit = "', "comit|commit"),
        ("test = [", "val = [", "split 'test'"),
        ('prompts = { paper = "g2p" }', 'prompts = { yue = "g2p" }', "no prompt 'paper'"),
        ("version = 1", "version = 0", r"tasks\[0\].version"),
        ("[github]", "[hub]\nrepo_id = 'a/b'\n[github]", r"exactly one of \[github\]"),
        (
            'headline = "acc"',
            'headline = "acc_category_macro"',
            "subject 'abstract_algebra' has none",
        ),
        ('stem = "anatomy"', 'stem = "astronomy"', "stem 'astronomy'"),
        ('["hkcanto_mmlu_en"]', '["hkcanto_mmlu_fr"]', "'hkcanto_mmlu_fr'"),
        ('name = "hkcanto"', "name = ", "Invalid value"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert old in TEXT
    with pytest.raises(CatalogueError, match=f"mine.toml: .*({says})"):
        read(tmp_path, TEXT.replace(old, new, 1))


def test_two_tasks_of_one_name_are_refused(tmp_path: Path) -> None:
    text = TEXT.replace('name = "hkcanto_dse_en"', 'name = "hkcanto_dse_zh"')
    with pytest.raises(CatalogueError, match="two tasks are called 'hkcanto_dse_zh"):
        read(tmp_path, text)


def test_an_unknown_task_gets_a_suggestion() -> None:
    with pytest.raises(CatalogueError, match="hkcanto_g2p"):
        find_task("hkcanto_gtp")


MINE = """
name = "mine"
title = "Mine"
[data]
[prompts.plain]
question = "{question}\\n{options}"
[[tasks]]
name = "my_quiz"
title = "Quiz"
kind = "multiple_choice"
files = { test = "quiz.csv" }
"""


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"multiple_choice"', '"multiple_chioce"', "no kind 'multiple_chioce'; there are .*number"),
        ("files =", 'headline = "bleu"\nfiles =', "'my_quiz' has the headline 'bleu'.*acc"),
    ],
)
def test_a_kind_or_headline_that_does_not_exist_is_named_when_the_task_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, says: str
) -> None:
    assert old in MINE
    (tmp_path / "benchmark.toml").write_text(MINE.replace(old, new), encoding="utf-8")
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))
    with pytest.raises(CatalogueError, match=says):
        load_task("my_quiz")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('name = "mine"', 'name = "hkmmlu"', "two benchmarks of the catalogue are called 'hkmmlu'"),
        ('name = "my_quiz"', 'name = "hkcanto_law"', "two benchmarks .* have a task 'hkcanto_law'"),
    ],
)
def test_a_name_of_ours_cannot_be_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, says: str
) -> None:
    (tmp_path / "benchmark.toml").write_text(MINE.replace(old, new), encoding="utf-8")
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))
    with pytest.raises(CatalogueError, match=says):
        named_tasks()


def test_a_folder_without_a_benchmark_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))
    with pytest.raises(CatalogueError, match=f"{tmp_path} has no benchmark.toml"):
        named_tasks()


def test_every_entry_has_a_chinese_title_and_a_source() -> None:
    for benchmark in benchmarks():
        for task in benchmark.tasks:
            assert any("一" <= c <= "鿿" for c in task.chinese)
            assert task.specified
