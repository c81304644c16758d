"""The catalogue refuses data files that are wrong, and says where."""

from pathlib import Path

import pytest

from hkcanto_tasks.catalogue import BENCHMARKS, benchmarks, find_task, read_benchmark
from hkcanto_tasks.errors import CatalogueError

TEXT = (BENCHMARKS / "hkcanto_eval.toml").read_text("utf-8")


def read(folder: Path, text: str) -> None:
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    read_benchmark(folder / "mine.toml")


def test_the_original_is_accepted(tmp_path: Path) -> None:
    read(tmp_path, TEXT)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('kind = "g2p"', 'kind = "g3p"', "kind 'g3p'"),
        ('kind = "g2p"', 'kinds = "g2p"', "kinds"),
        ("shots = 5", "shots = -1", r"tasks\[0\].shots"),
        ("shots = 5", 'shots = "5"', r"tasks\[0\].shots"),
        ("[prompts.g2p]", "[prompts.g2q]", "prompt 'g2p'"),
        ('headline = "cer_published"', 'headline = "wer"', "'wer'"),
        ('commit = "', 'comit = "', "comit|commit"),
        ('dev = "phonetics', 'val = "phonetics', "split 'dev'"),
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


def test_an_unknown_task_lists_the_known_ones() -> None:
    with pytest.raises(CatalogueError, match="hkcanto_g2p"):
        find_task("hkcanto_gtp")


def test_every_entry_has_a_chinese_title_and_a_source() -> None:
    for benchmark in benchmarks():
        for task in benchmark.tasks:
            assert any("一" <= c <= "鿿" for c in task.chinese)
            assert task.source
