"""A thinking template with too small an answer limit is reported before the first request."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from .answering import AnsweringLM
from .lm_eval.evaluating import evaluate

SAID = "hkcanto_law: the chat template has a reasoning block, but a response may have only 32 tokens."


@pytest.mark.parametrize(
    ("arguments", "more", "said"),
    [((), "", True), (("--metadata", '{"reasoning": true}'), "", False),
     ((), ",enable_thinking=False", False)],
)  # fmt: skip
def test_lm_eval_says_so_before_the_first_request(
    lm_eval_cli: Callable[..., Any],
    thinking_model: Path,
    arguments: tuple[str, ...],
    more: str,
    said: bool,
) -> None:
    run = lm_eval_cli(
        *("--model", "hf", "--model_args", f"pretrained={thinking_model}{more}"),
        "--apply_chat_template",
        *("--limit", "2", "--gen_kwargs", "max_gen_toks=12", *arguments),
        task="hkcanto_law",
    )
    table = "".join(run.table.split())  # the log breaks lines
    assert ("".join(SAID.split()) in table) == said
    if said:
        assert """runwith--metadata'{"reasoning":true}'""" in table
        assert table.index("".join(SAID.split())) < table.index(
            "Runninggenerate_untilrequests"
        )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), True),
        (("-T", "reasoning=true"), False),
        (("-M", "enable_thinking=false"), False),
    ],
)
def test_inspect_says_so_before_the_first_request(
    inspect_cli: Callable[..., Any],
    thinking_model: Path,
    arguments: tuple[str, ...],
    said: bool,
) -> None:
    run = inspect_cli(
        *(
            "--model",
            f"hf/{thinking_model}",
            "--limit",
            "2",
            "--max-tokens",
            "12",
            *arguments,
        ),
        task="hkcanto/law",
    )
    output = "".join(run.output.split())
    logged = [
        e.message.message
        for s in run.log.samples
        for e in s.events
        if e.event == "logger"
    ]
    own = [message for message in logged if SAID in message]
    assert bool(own) == said, (output, logged)
    if said:
        assert "run with -T reasoning=true" in own[0]
        assert len(own) == 1


def test_a_model_without_such_a_template_is_not_warned_of(
    inspect_cli: Callable[..., Any], tiny_model: Path
) -> None:
    run = inspect_cli("--model", f"hf/{tiny_model}", "--limit", "1", task="hkcanto/law")
    assert "reasoning block" not in run.output


class Thinking(AnsweringLM):
    """Has a chat template that opens a block of reasoning."""

    tokenizer = SimpleNamespace(
        chat_template="{{ messages[-1].content }}<think>\n"
        "{% if enable_thinking is false %}</think>{% endif %}"
    )

    def apply_chat_template(self, chat_history: list[dict[str, str]], **_: Any) -> str:
        return chat_history[-1]["content"] + "<think>\n"

    def chat_template(self, *_: Any) -> str:
        return self.tokenizer.chat_template


@pytest.mark.parametrize(
    ("metadata", "said"), [({}, True), ({"reasoning": True}, False)]
)
def test_a_template_of_any_model_is_looked_at(
    caplog: pytest.LogCaptureFixture, metadata: dict[str, bool], said: bool
) -> None:
    evaluate(
        "hkcanto_law",
        model=Thinking(),
        apply_chat_template=True,
        gen_kwargs="max_gen_toks=12",
        limit=1,
        metadata=metadata,
    )
    assert (
        "hkcanto_law: the chat template has a reasoning block" in caplog.text
    ) == said


@pytest.mark.parametrize(
    ("context", "gen_kwargs", "limit"),
    [
        (None, "", 32768),
        (131072, "", 32768),
        (32768, "", 24576),
        (8192, "", 4096),
        (8192, "max_gen_toks=8000", 8000),
    ],
)
def test_reasoning_has_as_much_room_as_the_context_leaves(
    context: int | None,
    gen_kwargs: str,
    limit: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Thinking, "max_length", context, raising=False)
    results = evaluate(
        "hkcanto_law",
        model=Thinking(),
        apply_chat_template=True,
        gen_kwargs=gen_kwargs or None,
        limit=1,
        metadata={"reasoning": True},
    )
    settings = results["configs"]["hkcanto_law"]["generation_kwargs"]
    assert settings["max_gen_toks"] == limit
    (sample,) = results["samples"]["hkcanto_law"]
    assert sample["arguments"][0][1]["max_gen_toks"] == limit
