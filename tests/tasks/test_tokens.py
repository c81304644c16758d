"""Tokenizers for counting, on tokenizers whose counts can be worked out by hand."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from hkcanto_tasks.errors import NetworkUnavailable, OptionError
from hkcanto_tasks.results.tokens import load_tokenizer

tokenizers = pytest.importorskip("tokenizers")


@pytest.fixture
def bytes_file(tmp_path: Path) -> Path:
    """A byte-level tokenizer without merges: a token for each byte in UTF-8."""
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    made = tokenizers.Tokenizer(
        tokenizers.models.BPE(
            vocab={each: i for i, each in enumerate(alphabet)}, merges=[]
        )
    )
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.add_special_tokens(["<s>"])
    start = [("<s>", made.token_to_id("<s>"))]
    made.post_processor = tokenizers.processors.TemplateProcessing(
        "<s> $A", special_tokens=start
    )
    made.enable_truncation(max_length=8)
    made.enable_padding()
    path = tmp_path / "bytes" / "tokenizer.json"
    path.parent.mkdir()
    made.save(str(path))
    return path


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


def test_a_lone_surrogate_is_counted_as_the_question_mark_that_replaces_it(
    bytes_file: Path,
):
    assert load_tokenizer(str(bytes_file))(["a\ud800b"]) == [3]


def test_a_file_that_is_not_there_is_said_to_be():
    with pytest.raises(OptionError, match="does not exist"):
        load_tokenizer("none/tokenizer.json")


def test_a_file_that_is_not_a_tokenizer_is_named(tmp_path: Path):
    path = tmp_path / "tokenizer.json"
    path.write_text("{}")
    with pytest.raises(OptionError, match=r"tokenizer\.json is not a tokenizer"):
        load_tokenizer(str(path))


def test_a_folder_without_a_tokenizer_file_says_how_to_make_one(tmp_path: Path):
    with pytest.raises(OptionError, match=r"tokenizer\.json\..*save_pretrained"):
        load_tokenizer(str(tmp_path))


def test_without_a_network_the_hub_says_what_to_set(monkeypatch: pytest.MonkeyPatch):
    def offline(*_: object, **__: object):
        raise OSError("We couldn't connect\nto it")

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", offline)
    with pytest.raises(
        NetworkUnavailable, match=r"some/model .*connect to it.*HF_ENDPOINT"
    ):
        load_tokenizer("some/model")


def test_a_name_that_the_hub_cannot_have_is_said_to_be_wrong():
    with pytest.raises(NetworkUnavailable, match=r"no such model .*correct the name"):
        load_tokenizer("no such model")


def on_the_hub(monkeypatch: pytest.MonkeyPatch, files: list[str], path: Path):
    found = SimpleNamespace(
        siblings=[SimpleNamespace(rfilename=name) for name in files]
    )
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", lambda *_, **__: found)
    monkeypatch.setattr("huggingface_hub.hf_hub_download", lambda *_: str(path))


def test_a_model_of_the_hub_is_downloaded(
    bytes_file: Path, monkeypatch: pytest.MonkeyPatch
):
    on_the_hub(monkeypatch, ["config.json", "tokenizer.json"], bytes_file)
    assert load_tokenizer("some/model")(["話"]) == [3]


def test_a_model_without_a_tokenizer_file_says_how_to_make_one(
    bytes_file: Path, monkeypatch: pytest.MonkeyPatch
):
    on_the_hub(monkeypatch, ["spiece.model"], bytes_file)
    with pytest.raises(OptionError, match=r"some/model .*save_pretrained"):
        load_tokenizer("some/model")


def test_a_model_in_the_cache_needs_no_network(
    bytes_file: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(
        "huggingface_hub.try_to_load_from_cache", lambda *_: str(bytes_file)
    )
    assert load_tokenizer("some/model")(["話"]) == [3]


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(OptionError, match="pip install tokenizers"):
        load_tokenizer("some/model")


def test_a_tokenizer_counts_as_transformers_does(tiny_model: Path):
    transformers = pytest.importorskip("transformers")
    text = "問題：香港嘅茶餐廳幾時開始有？\nA. 1950 年代\nB. Tuesday"
    ids = transformers.AutoTokenizer.from_pretrained(tiny_model)(
        text, add_special_tokens=False
    )
    assert load_tokenizer(str(tiny_model))([text]) == [len(ids["input_ids"])]
