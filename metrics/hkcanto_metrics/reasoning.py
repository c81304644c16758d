"""A model's reasoning told from its answer, in whatever wrapping it comes."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TAG = re.compile(
    r"</?(?i:seed:)?((?i:think|thinking|reasoning|thought))\s*+>|\[/?THINK\]|◁/?think▷"
    r"|<\|(?:begin|end)_of_thought\|>|<\|channel>thought|<channel\|>"
)
_CLOSING = ("</", "[/", "◁/", "<|end", "<channel")
# How many signs that may begin a tag are looked at: who writes more of them is in a loop.
_READ = 20_000

# Harmony: its channels with their tokens, and as they look when these are skipped.
_FINAL = re.compile(r"<\|channel\|>\s*final\b[^<]{0,40}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>")
_FINAL_SKIPPED = re.compile("assistantfinal")
_CHANNEL = re.compile(r"<\|channel\|>\s*(?:analysis|commentary)")
# After Gemma's, nothing tells where the answer begins.
_CHANNEL_SKIPPED = re.compile(
    r"\s*(?:(?:analysis|commentary)(?=[A-Z\u2e80-\u9fff\uff00-\uffef\U00020000-\U0003ffff])"
    r"|thought\n)"
)
_END = re.compile(r"<\|(?:end|return|call|start)\|>")

_MARKS = re.compile(rf"{_TAG.pattern}|<\|(?:channel|start|constrain)\|>\s*\w+|<\|\w+\|>")
_SKIPPED_START = re.compile(r"\s*(?:analysis|commentary)", re.IGNORECASE)
_SKIPPED_END = re.compile(r"assistant(?:final|commentary)\Z", re.IGNORECASE)

# What there is none of in most responses.
_SIGNS = ("<", "[", "◁", _FINAL_SKIPPED.pattern)
_START = re.compile(r"\s*(?:analysis|commentary|thought\n)")

_OPEN = re.compile(
    r"(?:<(?:seed:)?(?:think|thinking|reasoning|thought)>|\[THINK\]|◁think▷|<\|begin_of_thought\|>"
    r"|<\|channel>thought|<\|channel\|>\s*(?:analysis|commentary)(?:<\|message\|>)?"
    r"|<\|start\|>assistant)\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Reasoned:
    """A response in its two parts.

    Attributes:
        answer: The text outside of the reasoning, otherwise unchanged.
        reasoning: The text inside, without the marks around it.
        finished: Whether the reasoning has an end. If not, the model ran out of tokens, and what
            there is of an answer was written before it.
        spans: The places of the answer's parts in the response: first character and the one after
            the last.
    """

    answer: str
    reasoning: str
    finished: bool
    spans: tuple[tuple[int, int], ...]


def split_reasoning(text: str, reasoning: str = "") -> Reasoned:
    """Tell the reasoning that "thinking" models write from the answer that they give.

    Known are ``<think>``, ``<thinking>``, ``<reasoning>``, ``<thought>`` and ``<seed:think>`` in
    any case, ``[THINK]``, ``◁think▷``, ``<|begin_of_thought|>``, Gemma's ``<|channel>thought`` and
    Harmony's channels, the latter also as they look without their special tokens
    (``analysis…assistantfinal…``). A closing tag with nothing open ends a reasoning that began in
    the prompt, as many chat templates have it.

    Args:
        text: A model's response.
        reasoning: Reasoning that the server handed over apart. It comes before that in the text,
            and has an end if there is an answer.

    Returns:
        Answer and reasoning. After 20,000 signs `<`, nothing is read as a tag.

    Examples:
        >>> split_reasoning("<think>nei5 or lei5?</think>nei5 hou2").answer
        'nei5 hou2'
        >>> split_reasoning("analysisIs it A?").finished
        False
    """
    spans, finished = _spans(text)
    if spans == [(0, len(text))]:
        answer, inside = text, ""
    else:
        answer = _joined(text, spans)
        edges = [0, *(edge for span in spans for edge in span), len(text)]
        between = list(zip(edges[::2], edges[1::2], strict=True))
        inside = _without_marks(_joined(text, between))
    if reasoning:
        finished = finished and bool(answer.strip())
    return Reasoned(answer, reasoning + inside, finished, tuple(spans))


def strip_reasoning(text: str) -> str:
    """Return the answer alone, see `split_reasoning`.

    Args:
        text: A model's response.

    Examples:
        >>> strip_reasoning("[THINK]C?[/THINK]B")
        'B'
    """
    return _joined(text, _spans(text)[0])


def opens_reasoning(prompt: str) -> bool:
    """Whether a prompt ends where a model begins to reason, so that it cannot answer at once.

    Args:
        prompt: As the model gets it, after its chat template.

    Examples:
        >>> opens_reasoning("…<|im_start|>assistant\\n<think>\\n")
        True
    """
    return bool(_OPEN.search(prompt[-60:]))


def ends_in_reasoning(prompt: str, response: str, limit: int | None = None) -> bool:
    """Whether a response is all reasoning: its prompt opens a block that it does not close.

    Args:
        prompt: As the model gets it, after its chat template.
        response: What the model wrote behind it.
        limit: Of the response, in tokens. One too short to have been cut off there ended by itself,
            and is an answer. None if it is known to have been cut off.

    Examples:
        >>> ends_in_reasoning("…<think>\\n", "A? Or is it B, because", 8)
        True
        >>> ends_in_reasoning("…<think>\\n", "A", 8)
        False
    """
    at_limit = limit is None or len(response.encode()) >= limit  # no token is less than a byte
    return at_limit and opens_reasoning(prompt) and _spans(response) == ([(0, len(response))], True)


def may_reason(template: str, prompt: str) -> bool:
    """Whether a chat template has a block of reasoning that its prompt has not closed already.

    Args:
        template: The chat template, as Jinja.
        prompt: What it makes of a chat.

    Examples:
        >>> template = "…{% if enable_thinking is false %}<think></think>{% endif %}"
        >>> may_reason(template, "assistant:"), may_reason(template, "assistant:<think></think>")
        (True, False)
    """
    if not (_TAG.search(template) or _CHANNEL.search(template) or "enable_thinking" in template):
        return False
    last = max(_TAG.finditer(prompt[-60:]), key=re.Match.end, default=None)
    closed = last and last[0].startswith(_CLOSING) and not prompt[-60:][last.end() :].strip()
    return not closed


def _joined(text: str, spans: list[tuple[int, int]]) -> str:
    return "".join(text[start:end] for start, end in spans)


def _without_marks(reasoning: str) -> str:
    if skipped := _SKIPPED_START.match(reasoning):
        reasoning = reasoning[skipped.end() :]
    if skipped := _SKIPPED_END.search(reasoning, len(reasoning) - 20):
        reasoning = reasoning[: skipped.start()]
    read = _read(reasoning)
    return _MARKS.sub("", read, count=_READ) + reasoning[len(read) :]


def _read(text: str) -> str:
    """The part of a text that is looked at for tags."""
    rest = text.split("<", _READ)[_READ:]
    return text[: -len(rest[0]) or None] if rest else text


def _spans(text: str) -> tuple[list[tuple[int, int]], bool]:
    """The answer's spans, and whether the reasoning has an end."""
    if not (any(sign in text for sign in _SIGNS) or _START.match(text)):
        return [(0, len(text))], True
    return _harmony(text) or _tagged(text)


def _harmony(text: str) -> tuple[list[tuple[int, int]], bool] | None:
    """The final channel's span, and whether there is one; None without channels."""
    if finals := [*_FINAL.finditer(text)] or [*_FINAL_SKIPPED.finditer(text)]:
        start = finals[-1].end()
        end = _END.search(text, start)
        return [(start, end.start() if end else len(text))], True
    return ([], False) if _CHANNEL.search(text) or _CHANNEL_SKIPPED.match(text) else None


def _tagged(text: str) -> tuple[list[tuple[int, int]], bool]:
    """The spans outside of tags, and whether the last tag opened is closed."""
    spans: list[tuple[int, int]] = []
    position, opened = 0, ""
    for tag in _TAG.finditer(_read(text)):
        closes, name = tag[0].startswith(_CLOSING), (tag[1] or "think").lower()
        if opened:
            if closes and name == opened:
                position, opened = tag.end(), ""
        elif closes:
            spans.clear()
            position = tag.end()
        else:
            spans.append((position, tag.start()))
            opened = name
    if not opened:
        spans.append((position, len(text)))
    return spans, not opened
