"""Reasoning is removed, and the answer is left."""

from collections.abc import Callable
from time import process_time

import pytest

from hkcanto_metrics.reasoning import opens_reasoning, split_reasoning, strip_reasoning


def test_only_the_answer_is_left() -> None:
    for response, answer in [
        ("nei5 hou2", "nei5 hou2"),
        ("<think>lei5?</think>nei5 hou2", "nei5 hou2"),
        ("<Thinking>a\nb</THINKING>\nnei5", "\nnei5"),
        ("<reasoning>x</reasoning>nei5 <thought>y</thought>hou2", "nei5 hou2"),
        ("the template opened the block</think>nei5", "nei5"),
        ("nei5 <think>ran out of tokens", "nei5 "),
        ("<think>I write <think> and </thought> here</think>nei5", "nei5"),
        ("<think>outer<think>inner</think>outer</think>nei5", "nei5"),
        ("a < b, <thinker> and I think so", "a < b, <thinker> and I think so"),
        ("<think></think>", ""),
    ]:
        assert strip_reasoning(response) == answer, (response, answer)


THOUGHT = "我哋諗下先。首先睇下選項A，再睇下B。\nThe answer is C? 唔係。\n"
# Wrapping → its opening, and the text between it and the answer. If the opening is empty, the chat
# template puts it into the prompt.
WRAPPINGS = {
    "think": ("<think>\n", "</think>\n\n"),
    "thinking": ("<thinking>", "</thinking>"),
    "reasoning": ("<reasoning>", "</reasoning>"),
    "seed": ("<seed:think>", "</seed:think>"),
    "Magistral": ("[THINK]", "[/THINK]"),
    "Kimi": ("◁think▷", "◁/think▷"),
    "OpenThinker": ("<|begin_of_thought|>\n", "\n<|end_of_thought|>\n\n"),
    "Gemma": ("<|channel>thought\n", "<channel|>"),
    "Harmony": (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
    "Harmony with a format": (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>",
    ),
    "Harmony, tokens skipped": ("analysis", "assistantfinal"),
}


def test_every_wrapping_is_separated_from_the_answer() -> None:
    for wrapping in WRAPPINGS:
        opening, closing = WRAPPINGS[wrapping]
        for began in (opening, ""):
            found = split_reasoning(f"{began}{THOUGHT}{closing}答案係B。")
            assert (found.answer.strip(), found.finished) == ("答案係B。", True), (
                wrapping
            )
            assert found.reasoning.strip() == THOUGHT.strip(), wrapping


def test_reasoning_that_is_cut_off_leaves_no_answer() -> None:
    for wrapping in WRAPPINGS:
        opening, _ = WRAPPINGS[wrapping]
        for length in (1, 7, len(THOUGHT)):
            found = split_reasoning(opening + THOUGHT[:length])
            assert (found.answer, found.finished) == ("", False), wrapping


def test_two_steps_of_harmony_end_in_the_last() -> None:
    text = (
        "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary<|message|>b"
        "<|end|><|start|>assistant<|channel|>final<|message|>佢係我朋友。<|return|>"
    )
    assert strip_reasoning(text) == "佢係我朋友。"
    assert (
        strip_reasoning("analysisWe thinkassistantcommentarybassistantfinalnei5")
        == "nei5"
    )


def test_a_name_whose_tokens_were_skipped_is_not_guessed() -> None:
    found = split_reasoning("thought\n首先睇下A。答案係B。")
    assert (found.answer, found.finished) == ("", False)


def test_an_answer_that_only_speaks_of_it_stays() -> None:
    for answer in [
        "analysis of the text: B",
        "Analysis shows B",
        "The final answer is B",
        "thought: B",
        "[B]",
    ]:
        found = split_reasoning(answer)
        assert (found.answer, found.reasoning, found.finished) == (answer, "", True), (
            answer
        )


def test_the_spans_are_those_of_the_answer() -> None:
    text = "nei5 [THINK]y[/THINK]hou2 <think>z</think>maa3"
    found = split_reasoning(text)
    assert "".join(text[start:end] for start, end in found.spans) == found.answer
    assert found.answer == "nei5 hou2 maa3"
    assert found.reasoning == "yz"


def test_a_prompt_that_opens_it_is_known() -> None:
    for wrapping in [name for name in WRAPPINGS if "skipped" not in name]:
        opening, closing = WRAPPINGS[wrapping]
        assert opens_reasoning(f"問題\n<assistant>{opening}"), wrapping
        assert opens_reasoning(f"問題\n<assistant>{opening.strip()} \n\n"), wrapping
        assert not opens_reasoning(f"問題\n<assistant>{opening}{closing}"), wrapping
        assert not opens_reasoning(f"{opening}問題\n答案："), wrapping


def test_a_prompt_of_harmony_that_ends_in_the_role_opens_it() -> None:
    assert opens_reasoning("<|start|>user<|message|>問題<|end|><|start|>assistant")


def assert_quick(
    read: Callable[[str], object], repeated: str, opening: str = ""
) -> None:
    """A megabyte of one sign takes 50 ms if nothing else runs; the bound is ten times this."""
    text = opening + repeated * (1_000_000 // len(repeated))
    start = process_time()
    read(text)
    assert process_time() - start < 5


TAGS = (
    "<|channel|>|assistantfinal|[THINK]|<think>|</think>|<think></think>|<think>x</thought>|<think "
    "|</|<|[|◁think▷|<seed:think>|thought|\n"
)


@pytest.mark.slow
def test_a_megabyte_of_tags_is_read_at_once() -> None:
    for repeated in [*TAGS.split("|"), "<|x|>"]:
        for read in [strip_reasoning, split_reasoning]:
            for opening in ["", "<think>"]:
                assert_quick(read, repeated, opening)


def test_many_signs_without_tags_do_not_hide_the_answer() -> None:
    thought = "[1] a < b ◁ c > d\n" * 10_000
    assert strip_reasoning(f"<think>{thought}</think>B") == "B"


def test_after_too_many_signs_nothing_is_a_tag() -> None:
    loop = "<" * 20_000
    assert strip_reasoning(f"B{loop}<think>") == f"B{loop}<think>"
    assert strip_reasoning(f"B{loop[2:]}<think>") == f"B{loop[2:]}"
