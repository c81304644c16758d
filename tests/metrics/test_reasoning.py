"""What is removed as reasoning, and what is left as the answer."""

from time import perf_counter

import pytest

from hkcanto_metrics.reasoning import strip_reasoning


@pytest.mark.parametrize(
    ("response", "answer"),
    [
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
    ],
)
def test_only_the_answer_is_left(response: str, answer: str) -> None:
    assert strip_reasoning(response) == answer


@pytest.mark.parametrize(
    "repeated", ["<think>", "</think>", "<think></think>", "<think>x</thought>", "<think ", "</"]
)
def test_a_megabyte_of_tags_takes_linear_time(repeated: str) -> None:
    text = repeated * (1_000_000 // len(repeated))
    start = perf_counter()
    strip_reasoning(text)
    assert perf_counter() - start < 1  # quadratic time would be minutes
