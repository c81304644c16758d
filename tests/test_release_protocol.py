"""`prompt=release` asks and reads as HKCanto-Eval's code does, in both harnesses.

The expected texts are those of `scripts/benchmark_tasks.py` and `scripts/eval.py` at commit
ba2a58b, filled by hand with sample items.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hkcanto import tasks
from hkcanto_tasks import load_task
from hkcanto_tasks.benchmark_files import read_benchmark
from hkcanto_tasks.cli import app
from hkcanto_tasks.errors import CatalogueError
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.tasks import task_as_run

from .answering import AnsweringLM
from .lm_eval.evaluating import evaluate
from .test_chat import ChattingLM

ASKED = "Follow the given examples and answer the question. "
ABOUT = "The following are multiple choice questions (with answers) about "
LETTER = "you should only return the answer: A, B, C, or D."
SENTENCES = {
    "mmlu_yue": LETTER,
    "dse_en": f"the question is about Hong Kong DSE. {LETTER}",
    "law": f"the question is about Hong Kong law. {LETTER}",
    "professional_zh": f"the question is about professional knowledge in Hong Kong. {LETTER}",
    "cultural": "the question is about Hong Kong. Only return the answer: A, B, C, or D. "
    "DO NOT EXPLAIN.",
    "phonology": "you should only return the answer: A, B, C, D, or E.",
    "orthography": "you should only return the answer: A, B, C, D, or E.",
}


def first_messages(name: str, **options: Any) -> list[tuple[str, str]]:
    loaded = load_task(name, prompt="release", **options)
    return loaded.prompt(loaded.samples[0]).messages()


def test_models_behind_an_api_get_the_sentence_as_system_message_and_others_none() -> (
    None
):
    for name, sentence in SENTENCES.items():
        loaded = load_task(f"hkcanto_{name}", prompt="release")
        prompt = loaded.prompt(loaded.samples[0])
        (role, text), (_, asked) = prompt.messages()
        assert (role, text) == ("system", ASKED + sentence)
        assert asked == prompt.text()
        assert asked.startswith(ABOUT)
        assert asked.endswith("\nAnswer:")
        assert loaded.kind.max_tokens == 3
        assert loaded.kind.sent_stop(chat=True) == ("\\n",)  # a backslash and an n
    (_, (_, asked)) = first_messages("hkcanto_cultural_0shot")
    assert asked.startswith(f"{ABOUT}food. DO NOT EXPLAIN.\n\n街邊小食")


def test_the_first_character_is_the_answer() -> None:
    question = Sample(id="", choices=("甲", "乙", "丙", "丁"), target="B")
    release = task_as_run("hkcanto_cultural", prompt="release")
    for response, right, unread in [
        ("B", 1, 0),
        (" b.", 1, 0),
        ("\n\nB", 1, 0),
        ("A or B", 0, 0),
        ("答案係B", 0, 1),
        ("", 0, 1),
    ]:
        values = release.judge(response, question).values
        assert values == {"acc": right, "unparsed_rate": unread}, response
    assert task_as_run("hkcanto_cultural").judge("答案係B", question).values["acc"] == 1


def test_other_tasks_are_one_user_message() -> None:
    (message,) = first_messages("hkcanto_sentiment")
    begin = (
        "Follow the given examples and analyze the sentiment of the Cantonese text. You should "
        "only return the answer: Positive, Negative or Neutral.\n\nInput: "
    )
    assert message[0] == "user"
    assert message[1].startswith(begin)
    assert message[1].count("\n\nInput: ") == message[1].count("\n\nSentiment:") == 2
    assert message[1].endswith("\n\nSentiment:")
    sentiment = task_as_run("hkcanto_sentiment", prompt="release")
    assert sentiment.max_tokens == 4
    several = Sample(id="", source="麻麻。", target="Neutral")
    assert sentiment.judge("Positive, Negative or Neutral", several).values["acc"] == 1
    assert (
        task_as_run("hkcanto_sentiment")
        .judge("Positive or Neutral", several)
        .values["acc"]
        == 0
    )

    (message,) = first_messages("hkcanto_summarization")
    begin = (
        "我哋會提供一段用廣東話寫成嘅文本。請你將文本概括成200字嘅廣東話，保留核心訊息同主題，確保內容準確、"
        "行文流暢連貫，並且忠於原意。\n\n## 文本（原文）：\n大家好"
    )
    assert message[1].startswith(begin)
    assert message[1].endswith("\n\n## 預期輸出：\n")

    (message,) = first_messages("hkcanto_g2p", shots=2)
    assert "and normalize all numerals" in message[1]
    # The dev file's first sentence, not the paper's 今日天氣好好.
    assert "explanation.\nExample 1\n我覺得你要早啲瞓覺。\nngo5 gok3" in message[1]
    assert "\n\nText to Convert: \n" in message[1]

    for shots in (0, 3):
        (message,) = first_messages("hkcanto_translation_yue_zh", shots=shots)
        assert message[0] == "user"


def test_both_harnesses_send_chats_and_texts_alike() -> None:
    for name, multiturn in [
        ("hkcanto_cultural", False),
        ("hkcanto_cultural", True),
        ("hkcanto_cultural_0shot", False),
        ("hkcanto_sentiment", False),
    ]:
        options = {"prompt": "release", "multiturn": multiturn}
        chat = evaluate(
            name,
            model=ChattingLM(),
            apply_chat_template=True,
            limit=1,
            bootstrap_iters=0,
            metadata=options,
        )
        (sample,) = chat["samples"][name]
        sent = [
            (each["role"], each["content"])
            for each in json.loads(sample["arguments"][0][0])
        ]
        made = tasks.run(name, **options)
        asked = made.dataset[0].input
        assert not isinstance(asked, str)
        assert sent == [(each.role, each.text) for each in asked], (name, multiturn)
        assert made.metadata
        signature = chat["configs"][name]["metadata"]["signature"]
        assert signature == made.metadata["signature"]
        plain = evaluate(
            name, model=AnsweringLM(), limit=1, bootstrap_iters=0, metadata=options
        )
        (sample,) = plain["samples"][name]
        loaded = load_task(name, prompt="release")
        assert sample["arguments"][0][0] == loaded.prompt(loaded.samples[0]).text()


def test_the_command_that_shows_a_prompt_says_what_only_a_chat_gets() -> None:
    done = CliRunner().invoke(app, ["show", "hkcanto_law", "-T", "prompt=release"])
    shown = " ".join(done.output.split())
    assert f"its system message is “{ASKED}{SENTENCES['law']}”" in shown
    assert ABOUT in shown


def test_a_way_of_reading_that_the_kind_does_not_have_is_refused(
    tmp_path: Path,
) -> None:
    file = tmp_path / "benchmark.toml"
    file.write_text(
        """
name = "readings"
title = "Readings"
[data]
[prompts.g2p]
question = "{sentence}"
reads = "occurs"
[[tasks]]
name = "readings"
title = "Readings"
kind = "g2p"
files = "test.jsonl"
""",
        "utf-8",
    )
    with pytest.raises(CatalogueError, match="prompt 'g2p' with reads = 'occurs'"):
        read_benchmark(file)
