"""The G2P prompt is the paper's, in every form in which it is sent to models."""

from itertools import product
from pathlib import Path

import pytest

from hkcanto_tasks import load_task
from hkcanto_tasks.errors import DataCorrupt, OptionError
from hkcanto_tasks.kinds.g2p_engines import find_engine, sentence_of

# Appendix E.3: the sentence, and the first worked example without its printed line break.
SENTENCE = (
    "You are an expert in Cantonese linguistics. Please convert the given Cantonese sentence into "
    "Jyutping romanisation. You can ignore all punctuation marks, and normalise all numerals and "
    "English loanwords into Cantonese pronunciation. Do not include any further explanation.\n"
)
FIRST = (
    "Example 1\n今日天氣好好，不如出去散步？\n"
    "gam1 jat6 tin1 hei3 hou2 hou2 bat1 jyu4 ceot1 heoi3 saan3 bou6\n\n"
)


def test_zero_shot_is_the_sentence_and_the_text_to_convert() -> None:
    task = load_task("hkcanto_g2p")
    sample = task.samples[0]
    assert (
        task.at(shots=0).prompt(sample).text()
        == SENTENCE + f"Text to Convert: \n{sample.source}\n"
    )


def test_five_shots_number_the_papers_examples() -> None:
    task = load_task("hkcanto_g2p")
    text = task.at(shots=5).prompt(task.samples[0]).text()
    assert text.startswith(SENTENCE + FIRST + "Example 2\n")
    assert text.count("Example ") == 5
    assert (
        "學而時習之，不亦說乎\nhok6 ji4 si4 zaap6 zi1 bat1 jik6 jyut6 fu4\n\nText to"
        in text
    )


def test_chat_messages_hold_the_same_text_as_the_plain_prompt() -> None:
    task = load_task("hkcanto_g2p")
    prompt = task.at(shots=5).prompt(task.samples[0])
    system, user = prompt.messages()
    assert (system[0], user[0]) == ("system", "user")
    assert system[1] + user[1] == prompt.text()


def test_multiturn_messages_alternate() -> None:
    task = load_task("hkcanto_g2p")
    messages = task.at(shots=2).prompt(task.samples[0]).messages(multiturn=True)
    assert messages[1] == ("user", "Example 1\n今日天氣好好，不如出去散步？")
    assert [role for role, _ in messages[1:]] == [
        *("user", "assistant", "user", "assistant", "user")
    ]


def test_more_shots_than_examples_are_refused() -> None:
    task = load_task("hkcanto_g2p")
    for shots in (-1, 6):
        with pytest.raises(OptionError, match="0 to 5"):
            task.at(shots=shots).prompt(task.samples[0])


def test_an_unknown_source_of_examples_is_refused() -> None:
    with pytest.raises(OptionError, match="examples: paper or release"):
        load_task("hkcanto_g2p", examples="papr")


def test_an_engine_finds_the_sentence_in_the_prompt() -> None:
    task = load_task("hkcanto_g2p")
    for shots, sample in product((0, 5), task.samples):
        prompt = task.at(shots=shots).prompt(sample)
        assert sentence_of(prompt.text()) == sample.source
        assert sentence_of(prompt.messages(multiturn=True)[-1][1]) == sample.source


def test_an_engine_refuses_another_tasks_prompt() -> None:
    with pytest.raises(OptionError, match="answers only hkcanto_g2p"):
        sentence_of("Question: 1 + 1?\nAnswer:")


def test_an_unknown_engine_lists_the_known_ones() -> None:
    with pytest.raises(OptionError, match="pycantonese, tojyutping"):
        find_engine("pinyin")


@pytest.mark.realdata
def test_the_real_release_loads_whole() -> None:
    task = load_task("hkcanto_g2p", examples="release")
    assert len(task.samples) == 145
    assert len(task.examples("")) == 5
    assert task.revision == "b047f9f+ba2a58b"  # the test file's, the worked examples'


GOOD = '{"#": 7, "Honzi": "早晨", "Jyutping": "zou2 san4"}\n'


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A release with one sentence in each split; return its test file."""
    folder = tmp_path / "hkeval2025/phonetics-g2p"
    test = folder / "test/zh_to_jyutping_test_gold.json"
    for path in (folder / "dev/zh_to_jyutping_dev.json", test):
        path.parent.mkdir(parents=True)
        path.write_text(GOOD, encoding="utf-8")
    monkeypatch.delenv("HKCANTO_DATA")
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path))
    return test


def test_a_row_that_is_wrong_is_named(release: Path) -> None:
    for text, says in (
        ('{"#": 1, "Honzi": "早晨"}', "row 1 has no text for the jyutping"),
        (
            '{"#": 1, "Honzi": "早晨", "Jyutping": "zou2 (san4|san2"}',
            "row 1 .* malformed",
        ),
        ('{"Honzi": "早晨", "Jyutping": "zou2 san4"}', "row 1 has no number"),
        (GOOD * 2, "numbers 7 occur"),
    ):
        release.write_text(text, encoding="utf-8")
        with pytest.raises(DataCorrupt, match=f"zh_to_jyutping_test_gold.json.*{says}"):
            load_task("hkcanto_g2p")


def test_a_release_of_another_size_is_reported(
    release: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert len(load_task("hkcanto_g2p").samples) == 1
    assert "unpublished numbers of items in 1 subject" in caplog.text
    assert release.exists()
