"""Split a model's reasoning from its answer, in any of the formats that models use."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_TAG = re.compile(
    r"</?(?i:seed:)?((?i:think|thinking|reasoning|thought))\s*+>|\[/?THINK\]|◁/?think▷"
    r"|<\|(?:begin|end)_of_thought\|>|<\|channel>thought|<channel\|>"
)
_CLOSING = ("</", "[/", "◁/", "<|end", "<channel")
# The number of `<` signs that are looked at; a response with more is in a loop.
_MOST_SIGNS = 20_000

# Harmony: its channels with their special tokens, and as they look without them.
_FINAL = re.compile(
    r"<\|channel\|>\s*final\b[^<]{0,40}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>"
)
_FINAL_SKIPPED = re.compile("assistantfinal")
_CHANNEL = re.compile(r"<\|channel\|>\s*(?:analysis|commentary)")
# Gemma's format does not mark where the answer begins.
_CHANNEL_SKIPPED = re.compile(
    r"\s*(?:(?:analysis|commentary)(?=[A-Z\u2e80-\u9fff\uff00-\uffef\U00020000-\U0003ffff])"
    r"|thought\n)"
)
_END = re.compile(r"<\|(?:end|return|call|start)\|>")

_MARKS = re.compile(
    rf"{_TAG.pattern}|<\|(?:channel|start|constrain)\|>\s*\w+|<\|\w+\|>"
    r"|\A\s*(?i:analysis|commentary)|(?i:assistant(?:final|commentary))\Z"
)

_LAST_TAG = re.compile(
    rf"(?:{_TAG.pattern}|{_CHANNEL.pattern}(?:<\|message\|>)?|<\|start\|>assistant)\s*\Z"
)


@dataclass(frozen=True, slots=True)
class Reasoned:
    """A response split into reasoning and answer.

    Attributes:
        answer: The text outside of the reasoning, otherwise unchanged.
        reasoning: The text of the reasoning, without the tags around it.
        finished: Whether the reasoning has an end. If not, the model ran out of tokens, and any
            answer text was written before the reasoning.
        spans: The places of the answer's parts in the response: start and end (exclusive).
    """

    answer: str
    reasoning: str
    finished: bool
    spans: tuple[tuple[int, int], ...]


def split_reasoning(text: str, reasoning: str = "") -> Reasoned:
    """Split a response of a "thinking" model into its reasoning and its answer.

    Supported formats: ``<think>``, ``<thinking>``, ``<reasoning>``, ``<thought>`` and
    ``<seed:think>`` in any case, ``[THINK]``, ``◁think▷``, ``<|begin_of_thought|>``, Gemma's
    ``<|channel>thought`` and Harmony's channels, the latter also without their special tokens
    (``analysis…assistantfinal…``). A closing tag without an opening one ends reasoning that began
    in the prompt, as with many chat templates.

    Args:
        text: A model's response.
        reasoning: Reasoning that the server returned separately. It is put before any reasoning in
            the text, and counts as finished if there is an answer.

    Returns:
        Answer and reasoning. After 20,000 `<` signs, nothing is read as a tag.

    Examples:
        >>> split_reasoning("<think>nei5 or lei5?</think>nei5 hou2").answer
        'nei5 hou2'
        >>> split_reasoning("analysisIs it A?").finished
        False
    """
    spans, finished = _spans(text)
    answer = _joined(text, spans)
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    between = _joined(text, zip(edges[::2], edges[1::2], strict=True))
    searched = _searched(between)
    inside = _MARKS.sub("", searched) + between[len(searched) :]
    if reasoning:
        finished = finished and bool(answer.strip())
    return Reasoned(answer, reasoning + inside, finished, tuple(spans))


def strip_reasoning(text: str) -> str:
    """Return a response without its reasoning, see `split_reasoning`.

    Args:
        text: A model's response.

    Returns:
        The answer.

    Examples:
        >>> strip_reasoning("[THINK]C?[/THINK]B")
        'B'
    """
    return _joined(text, _spans(text)[0])


def opens_reasoning(prompt: str) -> bool:
    """Return whether a prompt ends with an open reasoning block, so the model must reason first.

    Args:
        prompt: The prompt as the model gets it, after its chat template.

    Examples:
        >>> opens_reasoning("…<|im_start|>assistant\\n<think>\\n")
        True
    """
    last = _LAST_TAG.search(prompt[-60:])
    return last is not None and not last[0].startswith(_CLOSING)


def ends_in_reasoning(prompt: str, response: str, limit: int | None = None) -> bool:
    """Return whether a response is all reasoning: the prompt opens a block that it does not close.

    Args:
        prompt: The prompt as the model gets it, after its chat template.
        response: The response to it.
        limit: The token limit of the response. A response too short to have reached it ended by
            itself, and is an answer. None if the response is known to have been cut off.

    Examples:
        >>> ends_in_reasoning("…<think>\\n", "A? Or is it B, because", 8)
        True
        >>> ends_in_reasoning("…<think>\\n", "A", 8)
        False
    """
    # No token is less than a byte.
    at_limit = limit is None or len(response.encode()) >= limit
    if not at_limit or not opens_reasoning(prompt):
        return False
    return _spans(response) == ([(0, len(response))], True)


def may_reason(template: str, prompt: str) -> bool:
    """Return whether a chat template has a reasoning block that the prompt does not already close.

    Args:
        template: The chat template, in Jinja.
        prompt: A prompt rendered with the template.

    Examples:
        >>> template = "…{% if enable_thinking is false %}<think></think>{% endif %}"
        >>> may_reason(template, "assistant:"), may_reason(template, "assistant:<think></think>")
        (True, False)
    """
    if not (
        _TAG.search(template)
        or _CHANNEL.search(template)
        or "enable_thinking" in template
    ):
        return False
    last = _LAST_TAG.search(prompt[-60:])
    return last is None or not last[0].startswith(_CLOSING)


def _joined(text: str, spans: Iterable[tuple[int, int]]) -> str:
    return "".join(text[start:end] for start, end in spans)


def _searched(text: str) -> str:
    """The part of a text that is searched for tags."""
    rest = text.split("<", _MOST_SIGNS)[_MOST_SIGNS:]
    return text[: -len(rest[0]) or None] if rest else text


def _spans(text: str) -> tuple[list[tuple[int, int]], bool]:
    """The answer's spans, and whether the reasoning has an end."""
    if finals := [*_FINAL.finditer(text)] or [*_FINAL_SKIPPED.finditer(text)]:
        start = finals[-1].end()
        end = _END.search(text, start)
        return [(start, end.start() if end else len(text))], True
    if _CHANNEL.search(text) or _CHANNEL_SKIPPED.match(text):
        return [], False
    return _spans_outside_tags(text)


def _spans_outside_tags(text: str) -> tuple[list[tuple[int, int]], bool]:
    spans: list[tuple[int, int]] = []
    start = 0
    opened = ""  # the name of the open tag
    for tag in _TAG.finditer(_searched(text)):
        closes = tag[0].startswith(_CLOSING)
        name = (tag[1] or "think").lower()
        if opened:
            if closes and name == opened:
                start = tag.end()
                opened = ""
        elif closes:  # reasoning that began in the prompt
            spans.clear()
            start = tag.end()
        else:
            spans.append((start, tag.start()))
            opened = name
    if not opened:
        spans.append((start, len(text)))
    return spans, not opened
