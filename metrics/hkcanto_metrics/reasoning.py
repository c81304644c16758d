"""Take reasoning and answer out of whatever a harness, a trainer or a file hands over.

Models mark reasoning, tool calls and turns in many ways; `reasoning.toml` lists the marks with the
chat templates that they are from. Every metric reads a response through `split_reasoning`.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Span = tuple[int, int]
Parts = Sequence[str | Mapping[str, Any]]

_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
# The number of signs that are looked at; a response with more is in a loop.
_MOST_SIGNS = 20_000


def _alternatives(*marks: tuple[str, str]) -> str:
    """Marks as one pattern; the name of a group is what it marks and its row's number.

    Marks that begin alike are behind one look ahead, because loops of signs do occur.
    """
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name, pattern in marks:
        begin = next(filter(pattern.startswith, _BEGINNINGS))
        groups[_BEGINNINGS[begin]].append(f"(?P<{name}>{pattern})")
    return "|".join(
        f"(?={begin})(?:{'|'.join(patterns)})" for begin, patterns in groups.items()
    )


def _named_marks(table: str, key: str, name: str) -> Iterator[tuple[str, str]]:
    for number, row in enumerate(_DATA[table]):
        if key in row:
            yield f"{name}{number}", row[key]


# What patterns begin with → what is looked ahead for.
_BEGINNINGS = {
    "</": "</",
    r"<\|": "<[|｜]",
    "<[|｜]": "<[|｜]",
    "<": r"<\w",
    r"\[": r"\[",
    r"\]": r"\]~",
    "◁": "◁",
    "": "Here",
}
_REASONING_MARK = re.compile(
    _alternatives(
        *_named_marks("reasoning", "opening", "opening"),
        *_named_marks("reasoning", "closing", "closing"),
    )
)
_TURN_MARK = re.compile(
    _alternatives(
        *_named_marks("call", "opening", "opening"),
        *_named_marks("end", "mark", "end"),
        *_named_marks("token", "mark", "token"),
    )
)
_SIGN = re.compile(r"[<\[\]◁]")
_CALL_ENDS = [re.compile(row.get("closing", r"\Z")) for row in _DATA["call"]]
# A call without marks: JSON as Llama writes it, alone or in a code fence.
_BARE_CALL = re.compile(
    r'\s*+(?:```(?:json)?\s*+)?\[?\s*+\{\s*+(?:"(?:id|type)"\s*+:\s*+"[^"]{0,60}"\s*+,\s*+)*'
    r'"(?:name|function)"\s*+:\s*+(?:"[\w.-]{1,60}"\s*+,\s*+"(?:arguments|parameters)"|\{)'
)

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
    rf"{_REASONING_MARK.pattern}|<\|(?:channel|start|constrain)\|>\s*\w+|<\|\w+\|>"
    r"|\A\s*(?i:analysis|commentary)|(?i:assistant(?:final|commentary))\Z"
)

_LAST_TAG = re.compile(
    rf"(?:{_REASONING_MARK.pattern}|{_CHANNEL.pattern}(?:<\|message\|>)?|<\|start\|>assistant)"
    r"\s*\Z"
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


def split_reasoning(text: str | Parts | None, reasoning: str = "") -> Reasoned:
    """Split a response into its reasoning and its answer.

    The answer is valid Unicode without special tokens, without tool calls and without the text of
    another turn. The marks of all known chat templates are listed in ``reasoning.toml``; Harmony's
    channels are also known without their special tokens (``analysis…assistantfinal…``). A closing
    mark without an opening one ends reasoning that began in the prompt, as with many chat
    templates.

    Args:
        text: A model's response: a text, a list of its parts, as some servers send it, or None.
        reasoning: Reasoning that the server returned separately. It is put before any reasoning in
            the text, and counts as finished if there is an answer.

    Returns:
        Answer and reasoning. After 20,000 `<` signs, nothing is read as a mark.

    Examples:
        >>> split_reasoning("<think>nei5 or lei5?</think>nei5 hou2<|im_end|>").answer
        'nei5 hou2'
        >>> split_reasoning("analysisIs it A?").finished
        False
    """
    if not isinstance(text, str):
        thoughts, text = joined_parts(text or ())
        reasoning += thoughts
    text = valid(text)
    outer, finished = _spans(text)
    edges = [0, *(edge for span in outer for edge in span), len(text)]
    between = _joined(text, zip(edges[::2], edges[1::2], strict=True))
    searched = _searched(between)
    inside = _MARKS.sub("", searched) + between[len(searched) :]
    spans = _own_spans(text, outer)
    answer = _joined(text, spans)
    if reasoning:
        finished = finished and bool(answer.strip())
    return Reasoned(answer, valid(reasoning) + inside, finished, tuple(spans))


def strip_reasoning(text: str | Parts | None) -> str:
    """Return the answer of a response, see `split_reasoning`.

    Args:
        text: A model's response.

    Returns:
        The answer.

    Examples:
        >>> strip_reasoning("[THINK]C?[/THINK]B")
        'B'
    """
    return split_reasoning(text).answer


def without_tokens(text: str) -> str:
    """Return the first turn of a text, without special tokens and tool calls.

    Examples:
        >>> without_tokens("<|im_start|>assistant\\n好<|im_end|>\\n<|im_start|>user\\n再嚟")
        '\\n好'
    """
    return _joined(text, _own_spans(text, [(0, len(text))]))


def joined_parts(parts: Parts) -> tuple[str, str]:
    """Return the reasoning and the answer of a response that is a list of parts or messages.

    Calls of tools, images and other parts without text are left out.

    Examples:
        >>> thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "A?"}]}
        >>> joined_parts([thinking, {"type": "text", "text": "B"}])
        ('A?', 'B')
    """
    thoughts: list[str] = []
    texts: list[str] = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping):
            thoughts += _texts(part, _REASONING_KEYS)
            texts += _texts(part, ("text", "content"))
    return "".join(thoughts), "".join(texts)


def response_as_text(response: str | Parts | None) -> str:
    """Return a response as one text of valid Unicode, with its reasoning in ``<think>``.

    Examples:
        >>> response_as_text([{"type": "thinking", "thinking": "A?"}, {"text": "B"}])
        '<think>A?</think>B'
    """
    if isinstance(response, str):
        return valid(response)
    thoughts, text = joined_parts(response or ())
    return valid(f"<think>{thoughts}</think>{text}" if thoughts else text)


_REASONING_KEYS = ("thinking", "reasoning_content", "reasoning", "summary")


def _texts(part: Mapping[str, Any], keys: Sequence[str]) -> Iterator[str]:
    """The texts of a part of a response under the first of the keys that has one."""
    value = next(filter(None, map(part.get, keys)), "")
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        yield "".join(joined_parts(value))


def valid(text: str) -> str:
    r"""Return a text with U+FFFD for half of a surrogate pair, which UTF-8 cannot store.

    Examples:
        >>> valid("a\ud800b") + valid("\ud83d\ude00")
        'a\ufffdb😀'
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def opens_reasoning(prompt: str) -> bool:
    """Return whether a prompt ends with an open reasoning block, so the model must reason first.

    Args:
        prompt: The prompt as the model gets it, after its chat template.

    Examples:
        >>> opens_reasoning("…<|im_start|>assistant\\n<think>\\n")
        True
    """
    last = _LAST_TAG.search(prompt[-60:])
    return last is not None and not _closes(last)


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
        _REASONING_MARK.search(template)
        or _CHANNEL.search(template)
        or "enable_thinking" in template
    ):
        return False
    last = _LAST_TAG.search(prompt[-60:])
    return last is None or not _closes(last)


def _closes(mark: re.Match[str]) -> bool:
    """Whether a mark ends reasoning."""
    return (mark.lastgroup or "").startswith("closing")


def _joined(text: str, spans: Iterable[Span]) -> str:
    return "".join(text[start:end] for start, end in spans)


def _searched(text: str) -> str:
    """The part of a text that is searched for marks."""
    rest = text.split("<", _MOST_SIGNS)[_MOST_SIGNS:]
    return text[: -len(rest[0]) or None] if rest else text


def _spans(text: str) -> tuple[list[Span], bool]:
    """The spans outside of the reasoning, and whether the reasoning has an end."""
    if finals := [*_FINAL.finditer(text)] or [*_FINAL_SKIPPED.finditer(text)]:
        start = finals[-1].end()
        end = _END.search(text, start)
        return [(start, end.start() if end else len(text))], True
    if _CHANNEL.search(text) or _CHANNEL_SKIPPED.match(text):
        return [], False
    return _spans_outside_marks(text)


def _spans_outside_marks(text: str) -> tuple[list[Span], bool]:
    if not _SIGN.search(text) and "Here " not in text:
        return [(0, len(text))], True
    spans: list[Span] = []
    start = 0
    opened = ""  # the row of the open mark
    for mark in _REASONING_MARK.finditer(_searched(text)):
        row = str(mark.lastgroup).removeprefix("opening").removeprefix("closing")
        if opened:
            if _closes(mark) and row == opened:
                start = mark.end()
                opened = ""
        elif _closes(mark):  # reasoning that began in the prompt
            spans.clear()
            start = mark.end()
        else:
            spans.append((start, mark.start()))
            opened = row
    if not opened:
        spans.append((start, len(text)))
    return spans, not opened


def _own_spans(text: str, spans: list[Span]) -> list[Span]:
    """The spans without special tokens and tool calls, up to the end of the first turn."""
    searched = _searched(text)
    if _BARE_CALL.match(searched, spans[0][0] if spans else 0):
        return []
    if not _SIGN.search(text):  # like most texts
        return spans
    own: list[Span] = []
    has_text = False
    for start, end in spans:
        place = start
        while mark := _TURN_MARK.search(searched, place, end):
            group = str(mark.lastgroup)
            own.append((place, mark.start()))
            has_text = has_text or bool(text[place : mark.start()].strip())
            place = mark.end()
            if group.startswith("end") and has_text:
                return _without_empty(own)
            if group.startswith("opening"):
                closing = _CALL_ENDS[int(group.removeprefix("opening"))]
                closed = closing.search(searched, place, end)
                place = closed.end() if closed else end
        own.append((place, end))
        has_text = has_text or bool(text[place:end].strip())
    return _without_empty(own)


def _without_empty(spans: list[Span]) -> list[Span]:
    """The spans, without empty ones before the last."""
    return [span for span in spans[:-1] if span[0] < span[1]] + spans[-1:]
