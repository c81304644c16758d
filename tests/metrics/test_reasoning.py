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
    "MedGemma": ("<unused94>thought\n", "<unused95>"),
    "Hunyuan": ("<think:opensource>\n", "</think:opensource>\n"),
    "MiniMax M3": ("<mm:think>", "</mm:think>"),
    "K2-V3": ("<ifm|think_fast>\n", "</ifm|think_fast>"),
    "Kimi K3": ("<|open|>think<|sep|>", "<|close|>think<|sep|><|open|>response<|sep|>"),
    "Inkling": (
        "<|message_model|><|content_thinking|>",
        "<|end_message|><|message_model|><|content_text|>",
    ),
    "Muse Glimmer": (
        "<|start|>assistant to=self<|message|>",
        "<|eom|><|start|>assistant to=user<|message|>",
    ),
    "LongCat": ("<longcat_think>\n", "</longcat_think>\n"),
    "Cohere": ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    "Solar": ("<|think|>", "<|end|><|begin|>assistant<|content|>"),
    "Apertus": ("<|inner_prefix|>", "<|inner_suffix|>"),
    "Apriel": ("Here are my reasoning steps:\n", "\n[BEGIN FINAL RESPONSE]\n"),
    "Granite": ("Here is my thought process:", "Here is my response:"),
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


def test_special_tokens_are_no_part_of_the_answer() -> None:
    for response in [
        "B<|im_end|>",
        "B<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n答案係A。",
        "<|start_header_id|>assistant<|end_header_id|>B",
        "B</s>",
        "<s>B</s>C",
        "B<｜end▁of▁sentence｜><｜User｜>A?",
        "<start_of_turn>model\nB<end_of_turn>\n<start_of_turn>user\nA?",
        "<|turn>model\nB<turn|>",
        "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>B<|END_OF_TURN_TOKEN|>",
        "<|START_RESPONSE|>B<|END_RESPONSE|>",
        "]~b]ai\nB[e~[",
        "[|assistant|]B[|endofturn|]",
        "<|im_end|>\n<|im_start|>assistant\nB<|im_end|>",
        "B<|endoftext|>Human: A?",
        "B<|flush|>",
        "<|START_TEXT|>B<|END_TEXT|>",
        "<|open|>response<|sep|>B<|close|>response<|sep|><|close|>message<|sep|><|end_of_msg|>",
        "<|message_model|><|content_text|>B<|end_message|><|content_model_end_sampling|>",
        "B<|message_sep|>",
        "B[EOS]",
    ]:
        assert strip_reasoning(response).strip() == "B", response


def test_a_call_of_a_tool_is_no_part_of_the_answer() -> None:
    arguments = '{"name": "search", "arguments": {"q": "答案A"}}'
    for call in [
        f"<tool_call>\n{arguments}\n</tool_call>",
        f"<tool_call>\n{arguments}",
        f"[TOOL_CALLS][{arguments}]",
        '[TOOL_CALLS]search[ARGS]{"q": "A"}',
        f"<|python_tag|>{arguments}<|eom_id|>",
        f"<function=search>{arguments}</function>",
        f"<｜tool▁calls▁begin｜>{arguments}<｜tool▁calls▁end｜>",
        f"<|START_ACTION|>[{arguments}]<|END_ACTION|>",
        f"<minimax:tool_call>{arguments}</minimax:tool_call>",
        f"<|tool_call>{arguments}<tool_call|>",
        f"<TOOLCALL>[{arguments}]</TOOLCALL>",
        f"<ifm|tool_calls>{arguments}</ifm|tool_calls>",
        f"<dots_function_call>{arguments}</dots_function_call>",
        f'<function name="search">{arguments}</function>',
        f"<｜tool_calls_begin｜>{arguments}<｜tool_calls_end｜>",
        f"<|open|>tools<|sep|>{arguments}<|close|>tools<|sep|>",
        f"<|tool_call_start|>{arguments}<|tool_call_end|>",
        f"<|function_call|>{arguments}<|message_sep|>",
        f"<|tool_call_begin|>functions.search:0{arguments}<|tool_call_end|>",
    ]:
        assert strip_reasoning(call).strip() == "", call
        assert strip_reasoning("B" + call).strip() == "B", call
    for call in [arguments, f"[{arguments}]", f"```json\n{arguments}\n```"]:
        assert strip_reasoning(call) == "", call
    assert strip_reasoning('{"name": "陳大文", "age": 3}') != ""


def test_a_response_may_be_a_list_of_parts() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "A?"}]}
    text = {"type": "text", "text": "B"}
    for parts in [
        [thinking, text],
        [{"type": "reasoning", "reasoning": "A?"}, text],
        [{"role": "assistant", "reasoning_content": "A?", "content": [text]}],
        [thinking, {"type": "tool_use", "input": {"text": "C"}}, "B"],
    ]:
        found = split_reasoning(parts)
        assert (found.answer, found.reasoning, found.finished) == ("B", "A?", True)
    assert split_reasoning(None).answer == split_reasoning([]).answer == ""
    assert not split_reasoning([thinking]).finished
    assert strip_reasoning("a\ud800b") == "a\ufffdb"


def test_tags_say_where_the_answer_is() -> None:
    for response, answer in [
        ("<answer>B</answer>", "B"),
        ("A is tempting.\n<Answer>\nB\n</Answer>\nBecause of C.", "\nB\n"),
        ("<think>A?</think>\n\n<response>\nB\n</response>\n", "\nB\n"),
        ("<solution>B</solution>", "B"),
        ("<output>B", "B"),  # a stop sequence cut the end
        ("B</answer>", "B"),  # the prompt has the beginning
        ("I answer in <answer> tags: <answer>B</answer>", "B"),
        ("<answer>A</answer> No.\n<answer>B</answer>", "B"),
        ("<answer>A</answer>\n<answer>B</answer>", "A\nB"),
        ("<答案>B</答案>", "B"),
        ("B is right. <answer></answer>", "B is right. "),
        ("<answer>A</answer> Wait, it is B.", "A Wait, it is B."),
        ("<response><answer>B<|im_end|></answer></response>", "B"),
        ("<tool_call><answer>A</answer></tool_call>B", "B"),
    ]:
        found = split_reasoning(response)
        assert found.answer == answer, response
        parts = [response[slice(*span)] for span in found.spans]
        assert "".join(parts) == answer
    assert split_reasoning("So: <answer>B</answer>").tagged == "So: <answer>B</answer>"


def test_steps_that_words_announce_are_reasoning_even_if_they_conclude() -> None:
    for heading in ("Here are my reasoning steps:", "Here is my thought process:"):
        for end in ["", "\nSo the answer is B.", "\n\nB"]:
            found = split_reasoning(f"{heading}\n1. A is too small.{end}")
            assert (found.answer, found.finished) == ("", False), end


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
        for opening in ["", "<think>"]:
            assert_quick(split_reasoning, repeated, opening)


def test_many_signs_without_tags_do_not_hide_the_answer() -> None:
    thought = "[1] a < b ◁ c > d\n" * 10_000
    assert strip_reasoning(f"<think>{thought}</think>B") == "B"


def test_after_too_many_signs_nothing_is_a_tag() -> None:
    loop = "<a" * 20_000
    assert strip_reasoning(f"B{loop}<think>") == f"B{loop}<think>"
    assert strip_reasoning(f"B{loop[2:]}<think>") == f"B{loop[2:]}"
