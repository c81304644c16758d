"""Tokenizer fertility, on tokenizers whose fertility can be worked out by hand."""

import builtins
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

from hkcanto_tasks.cli import app
from hkcanto_tasks.errors import CatalogueError, NetworkUnavailable, OptionError
from hkcanto_tasks.loading import load_task
from hkcanto_tasks.results.fertility.report import (
    FertilityRow,
    fertility,
    load_tokenizer,
    sections,
)
from hkcanto_tasks.results.reports.blocks import Section, Table

tokenizers = pytest.importorskip("tokenizers")


@pytest.fixture
def bytes_file(tmp_path: Path) -> Path:
    """A byte-level tokenizer without merges: a token for each byte in UTF-8."""
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    made = tokenizers.Tokenizer(
        tokenizers.models.BPE(vocab={each: i for i, each in enumerate(alphabet)}, merges=[])
    )
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.add_special_tokens(["<s>"])
    start = [("<s>", made.token_to_id("<s>"))]
    made.post_processor = tokenizers.processors.TemplateProcessing("<s> $A", special_tokens=start)
    made.enable_truncation(max_length=8)
    made.enable_padding()
    path = tmp_path / "bytes" / "tokenizer.json"
    path.parent.mkdir()
    made.save(str(path))
    return path


def by_characters(texts):
    return [len(text) for text in texts]


def row(**changes) -> FertilityRow:
    """800 tokens for 1,000 characters, 400 of them Chinese."""
    made = FertilityRow("mine", "tmmluplus", "tmmluplus_gen", "rev", 10, 1000, 400, 800, 100)
    return replace(made, **changes)


def table(section: Section, name: str) -> Table:
    (found,) = [b for b in section.blocks if isinstance(b, Table) and b.name == name]
    assert all(len(each.values) == len(found.columns) for each in found.rows)
    return found


def test_a_byte_tokenizer_needs_three_tokens_for_a_chinese_character(bytes_file: Path):
    count = load_tokenizer(str(bytes_file))
    assert count(["廣東話"]) == [9]
    assert count(["abc"]) == [3]
    assert count([""]) == [0]


def test_neither_special_tokens_nor_truncation_nor_padding_count(bytes_file: Path):
    count = load_tokenizer(str(bytes_file))
    assert count(["a" * 50, "b"]) == [50, 1]


def test_a_folder_with_a_tokenizer_is_a_tokenizer(bytes_file: Path):
    assert load_tokenizer(str(bytes_file.parent))(["話"]) == [3]


def test_a_lone_surrogate_is_counted_as_the_question_mark_that_replaces_it(bytes_file: Path):
    assert load_tokenizer(str(bytes_file))(["a\ud800b"]) == [3]


def test_fertility_is_all_tokens_over_all_characters(bytes_file: Path):
    loaded = load_task("tmmluplus_gen")
    questions = [loaded.setup.turn(sample) for sample in loaded.samples]
    (found,) = fertility({"bytes": load_tokenizer(str(bytes_file))}, ["tmmluplus"])
    assert found.questions == len(questions)
    assert found.characters == sum(len(text) for text in questions)
    assert found.tokens == sum(len(text.encode()) for text in questions)
    assert found.fertility == found.tokens / found.characters
    assert found.data == "sample"


def test_the_options_are_counted_and_the_instruction_is_not():
    seen: list[str] = []

    def count(texts):
        seen.extend(texts)
        return by_characters(texts)

    fertility({"any": count}, ["tmmluplus"])
    loaded = load_task("tmmluplus_gen")
    sample = loaded.samples[0]
    (text,) = [text for text in seen if text == loaded.setup.turn(sample)]
    assert all(choice in text for choice in sample.choices)
    assert "考試單選題" not in "".join(seen)


def test_characters_written_in_bytes_are_split(bytes_file: Path):
    (bytes_row,) = fertility({"bytes": load_tokenizer(str(bytes_file))}, ["tmmluplus"])
    (whole,) = fertility({"characters": by_characters}, ["tmmluplus"])
    assert bytes_row.split_share == 1
    assert whole.split_share == 0


def test_a_blank_that_a_tokenizer_puts_in_front_splits_no_character():
    def with_blank(texts):  # like SentencePiece at the start of a text
        return [len(text) + 1 for text in texts]

    (found,) = fertility({"blank": with_blank}, ["tmmluplus"])
    assert found.split_share == 0


def test_every_task_of_every_benchmark_has_a_row_for_each_tokenizer():
    characters = by_characters
    rows = fertility({"a": characters, "b": characters})
    tasks = {each.task for each in rows}
    assert {
        "hkmmlu",
        "tmmluplus_gen",
        "hkcanto_mmlu_yue",
        "hkcanto_g2p",
        "hkcanto_fluency",
    } <= tasks
    assert len(rows) == 2 * len(tasks)
    assert all(each.fertility == 1 for each in rows)


def test_a_task_can_be_named_instead_of_a_benchmark():
    (found,) = fertility({"c": by_characters}, ["hkcanto_law"])
    assert (found.benchmark, found.task) == ("hkcanto", "hkcanto_law")


def test_an_unknown_benchmark_is_refused():
    with pytest.raises(CatalogueError, match="nonsense"):
        fertility({"c": by_characters}, ["nonsense"])


def test_a_file_that_is_not_there_is_said_to_be():
    with pytest.raises(OptionError, match="it does not exist"):
        load_tokenizer("none/tokenizer.json")


def test_a_file_that_is_not_a_tokenizer_is_named(tmp_path: Path):
    path = tmp_path / "tokenizer.json"
    path.write_text("{}")
    with pytest.raises(OptionError, match=r"tokenizer\.json is not a tokenizer"):
        load_tokenizer(str(path))


def test_a_folder_without_a_tokenizer_file_says_how_to_make_one(tmp_path: Path):
    with pytest.raises(OptionError, match=r"tokenizer\.json in it\..*save_pretrained"):
        load_tokenizer(str(tmp_path))


def test_without_a_network_the_hub_says_what_to_set(monkeypatch: pytest.MonkeyPatch):
    def offline(*_: object, **__: object):
        raise OSError("We couldn't connect\nto it")

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", offline)
    with pytest.raises(NetworkUnavailable, match=r"some/model .*connect to it.*HF_ENDPOINT"):
        load_tokenizer("some/model")


def test_a_name_that_the_hub_cannot_have_is_said_to_be_wrong():
    with pytest.raises(NetworkUnavailable, match=r"no such model .*correct the name"):
        load_tokenizer("no such model")


def on_the_hub(monkeypatch: pytest.MonkeyPatch, files: list[str], path: Path):
    found = SimpleNamespace(siblings=[SimpleNamespace(rfilename=name) for name in files])
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", lambda *_, **__: found)
    monkeypatch.setattr("huggingface_hub.hf_hub_download", lambda *_: str(path))


def test_a_model_of_the_hub_is_downloaded(bytes_file: Path, monkeypatch: pytest.MonkeyPatch):
    on_the_hub(monkeypatch, ["config.json", "tokenizer.json"], bytes_file)
    assert load_tokenizer("some/model")(["話"]) == [3]


def test_a_model_without_a_tokenizer_file_says_how_to_make_one(
    bytes_file: Path, monkeypatch: pytest.MonkeyPatch
):
    on_the_hub(monkeypatch, ["spiece.model"], bytes_file)
    with pytest.raises(OptionError, match=r"some/model: .*save_pretrained"):
        load_tokenizer("some/model")


def test_a_model_in_the_cache_needs_no_network(bytes_file: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda *_: str(bytes_file))
    assert load_tokenizer("some/model")(["話"]) == [3]


@pytest.mark.parametrize(
    ("name", "package"),
    [("tiktoken:o200k_base", "tiktoken"), ("some/model", "tokenizers"), ("", "tokenizers")],
)
def test_a_missing_package_is_named(
    name: str, package: str, bytes_file: Path, monkeypatch: pytest.MonkeyPatch
):
    found = builtins.__import__

    def without(module: str, *rest: object, **more: object):
        if module == package:
            raise ImportError(name=module)
        return found(module, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(OptionError, match=f"pip install {package}"):
        load_tokenizer(name or str(bytes_file))


def test_an_unknown_encoding_of_tiktoken_is_refused_with_those_that_exist():
    pytest.importorskip("tiktoken")
    with pytest.raises(OptionError, match="o200k_base"):
        load_tokenizer("tiktoken:o300k")


def test_the_table_has_a_row_for_each_tokenizer():
    (section,) = sections([row(), row(tokenizer="bytes", tokens=2200, split=400)])
    assert [list(each.values) for each in table(section, "fertility").rows] == [
        ["mine", "TMMLU+", 0.8, 0.25, 800, 1000, 10, "rev"],
        ["bytes", "TMMLU+", 2.2, 1, 2200, 1000, 10, "rev"],
    ]


def test_a_benchmark_is_a_row_of_the_summary_and_its_tasks_are_in_another_section():
    law = row(benchmark="hkcanto", task="hkcanto_law")
    fluency = replace(law, task="hkcanto_fluency", questions=5, tokens=100, characters=200, split=0)
    summary, tasks = sections([law, row(), fluency])
    assert summary.is_summary
    assert not tasks.is_summary
    # 900 tokens for 1,200 characters; 100 of 800 Chinese characters are split.
    assert [list(each.values) for each in table(summary, "fertility").rows] == [
        ["mine", "HKCanto-Eval", 0.75, 0.125, 900, 1200, 15, "rev"],
        ["mine", "TMMLU+", 0.8, 0.25, 800, 1000, 10, "rev"],
    ]
    assert len(table(tasks, "fertility_tasks").rows) == 3


def test_a_task_that_is_named_twice_is_counted_once():
    rows = fertility({"c": by_characters}, ["hkcanto_law", "hkcanto_law"])
    assert len(rows) == 1


def test_without_rows_there_is_nothing_to_say():
    assert sections([]) == []


def test_a_tokenizer_counts_as_transformers_does(tiny_model: Path):
    transformers = pytest.importorskip("transformers")
    text = "問題：香港嘅茶餐廳幾時開始有？\nA. 1950 年代\nB. Tuesday"
    ids = transformers.AutoTokenizer.from_pretrained(tiny_model)(text, add_special_tokens=False)
    assert load_tokenizer(str(tiny_model))([text]) == [len(ids["input_ids"])]


def test_the_command_prints_a_screen_and_all_in_full(bytes_file: Path):
    command = ["fertility", *(f"{name}={bytes_file}" for name in "abc")]
    few, all_of_it = (
        CliRunner().invoke(app, [*command, *more], env={"COLUMNS": "80"})
        for more in ([], ["--full"])
    )
    assert (few.exit_code, all_of_it.exit_code) == (0, 0)
    assert len(few.output.splitlines()) <= 50
    assert "Not shown: By task. All of it: --full" in few.output
    assert "By task ─" in all_of_it.output
    assert max(map(cell_len, few.output.splitlines())) <= 80
