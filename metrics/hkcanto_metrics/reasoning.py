"""Take reasoning and answer out of whatever a harness, a trainer or a file hands over.

Models mark reasoning, tool calls and turns in many ways; `reasoning.toml` lists the marks with the
chat templates that they are from. Every metric reads a response through `split_reasoning`.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from hkcanto_metrics.patterns import Patterns

Span = tuple[int, int]
Parts = Sequence[str | Mapping[str, Any]]

_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
# The number of signs that are looked at; a text with more is a loop.
_MOST_SIGNS = 20_000
_MOST_TAGS = 50  # tags around the answer that are looked at


def _either(*tables: str) -> re.Pattern[str]:
    """The marks of tables as one pattern; a group's name has the table, the key and the row."""
    groups = []
    for table in tables:
        for number, row in enumerate(_DATA[table]):
            for key in ("opening", "closing", "mark"):
                if key in row:
                    groups.append(f"(?P<{table}_{key}_{number}>{row[key]})")
    return re.compile("|".join(groups))


_REASONING_MARK = _either("reasoning")
_TURN_MARK = _either("call", "end", "token")
_TAG = _either("answer")
# Every mark begins with one of these.
_SIGN = re.compile(r"[<◁](?=[|｜/\w])|\[(?=[|/A-Zeu])|](?=~)|Here (?=are my|is my)")
_SIGN_BEGINNINGS = ("<", "◁", "[", "]", "Here ")
_CALL_ENDS = [re.compile(row.get("until", r"\Z")) for row in _DATA["call"]]
_WORDS = Patterns(_DATA["words"], re.compile)
_CHANNELS = Patterns(_DATA["channels"], re.compile)
_INSIDE = re.compile(
    rf"{_REASONING_MARK.pattern}|<\|(?:channel|start|constrain)\|>\s*\w+(?: to=\w+)?|<\|\w+\|>"
)
_CHANNEL_NAMES = re.compile(
    r"\A\s*(?i:analysis|commentary)|(?i:assistant(?:final|commentary))\Z"
)

_LAST_TAG = re.compile(
    rf"(?:{_REASONING_MARK.pattern}|(?:{_CHANNELS['reasoning'].pattern})(?:<\|message\|>)?"
    r"|<\|start\|>assistant)\s*\Z"
)


@dataclass(frozen=True, slots=True)
class Reasoned:
    """A response split into reasoning and answer.

    Attributes:
        answer: The text outside of the reasoning, without special tokens, tool calls and tags
            around the answer; otherwise unchanged.
        reasoning: The text of the reasoning, without the tags around it.
        finished: Whether the reasoning has an end. If not, the model ran out of tokens, and any
            answer text was written before the reasoning.
        spans: The places of the answer's parts in the response: start and end (exclusive).
        tagged: The answer with its tags, such as ``<answer>``, and with the text around them.
    """

    answer: str
    reasoning: str
    finished: bool
    spans: tuple[tuple[int, int], ...]
    tagged: str


def split_reasoning(
    text: str | Parts | None,
    reasoning: str = "",
) -> Reasoned:
    """Split a response into its reasoning and its answer.

    The answer is valid Unicode without special tokens, without tool calls and without the text of
    another turn. If tags such as ``<answer>`` say where it is, it is the text in the last of them.
    The marks of all known chat templates are listed in ``reasoning.toml``; Harmony's
    channels are also known without their special tokens (``analysis…assistantfinal…``). A closing
    mark without an opening one ends reasoning that began in the prompt, as with many chat
    templates.

    Args:
        text: A model's response: a text, a list of its parts, as some servers send it, or None.
        reasoning: Reasoning that the server returned separately. It is put before any reasoning in
            the text, and counts as finished if there is an answer.

    Returns:
        Answer and reasoning. After 20,000 signs that may begin a mark, nothing is read as one.

    Examples:
        >>> split_reasoning("<think>nei5 or lei5?</think>nei5 hou2<|im_end|>").answer
        'nei5 hou2'
        >>> split_reasoning("analysisIs it A?").finished
        False
        >>> split_reasoning("It is by the harbour: <answer>C</answer>").answer
        'C'
    """
    if not isinstance(text, str):
        thoughts, text = joined_parts(text or ())
        reasoning += thoughts
    text = valid(text)
    outer, finished = _spans(text)
    turn = _own_spans(text, outer)
    spans = _spans_in_tags(text, turn)
    answer = _joined(text, spans)
    if reasoning:
        finished = finished and bool(answer.strip())
    whole = (0, len(text))
    inside = _joined(text, _cut(whole, outer))
    return Reasoned(
        answer=answer,
        reasoning=valid(reasoning) + _without_marks(inside),
        finished=finished,
        spans=tuple(spans),
        tagged=_joined(text, turn),
    )


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


def _texts(
    part: Mapping[str, Any],
    keys: Sequence[str],
) -> Iterator[str]:
    """The texts of a part of a response under the first of the keys that has one."""
    values = map(part.get, keys)
    value = next(filter(None, values), "")
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


def ends_in_reasoning(
    prompt: str,
    response: str,
    limit: int | None = None,
) -> bool:
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
    spans, finished = _spans(response)
    return finished and spans == [(0, len(response))]


def may_reason(
    template: str,
    prompt: str,
) -> bool:
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
        or _CHANNELS["reasoning"].search(template)
        or "enable_thinking" in template
    ):
        return False
    last = _LAST_TAG.search(prompt[-60:])
    return last is None or not _closes(last)


def _closes(mark: re.Match[str]) -> bool:
    """Whether a mark ends reasoning."""
    return "closing" in str(mark.lastgroup)


def _row(mark: re.Match[str]) -> int:
    """The number of a mark's row in its table."""
    _, _, row = str(mark.lastgroup).rpartition("_")
    return int(row)


def _joined(
    text: str,
    spans: Iterable[Span],
) -> str:
    return "".join(text[start:end] for start, end in spans)


def _without_marks(reasoning: str) -> str:
    """Reasoning without the marks around and between its parts."""
    marks = [mark.span() for mark in _marks(_INSIDE, reasoning)]
    parts = _cut((0, len(reasoning)), marks)
    return _CHANNEL_NAMES.sub("", _joined(reasoning, parts))


def _spans(text: str) -> tuple[list[Span], bool]:
    """The spans outside of the reasoning, and whether the reasoning has an end."""
    has_tokens = "<|" in text  # fast, and false for most texts
    for name in ("final", "final_skipped") if has_tokens else ("final_skipped",):
        start = 0
        for final in _CHANNELS[name].finditer(text):
            start = final.end()
        if start:
            end = _CHANNELS["end"].search(text, start)
            stop = end.start() if end else len(text)
            return [(start, stop)], True
    is_channel = has_tokens and _CHANNELS["reasoning"].search(text)
    if is_channel or _CHANNELS["reasoning_skipped"].match(text):
        return [], False
    return _spans_outside_marks(text)


def _marks(
    pattern: re.Pattern[str],
    text: str,
    start: int = 0,
    end: int | None = None,
) -> Iterator[re.Match[str]]:
    """The marks between two places of a text."""
    if not any(beginning in text for beginning in _SIGN_BEGINNINGS):
        return  # many times faster than the pattern
    place = start
    stop = len(text) if end is None else end
    signs = _SIGN.finditer(text, start, stop)
    for sign in islice(signs, _MOST_SIGNS):
        if sign.start() < place:
            continue
        if mark := pattern.match(
            text,
            sign.start(),
            stop,
        ):
            yield mark
            place = mark.end()


def _spans_outside_marks(text: str) -> tuple[list[Span], bool]:
    spans: list[Span] = []
    start = 0
    opening = None
    for mark in _marks(_REASONING_MARK, text):
        if opening:
            if _closes(mark) and _row(mark) == _row(opening):
                start = mark.end()
                opening = None
        elif _closes(mark):  # reasoning that began in the prompt
            spans.clear()
            start = mark.end()
        else:
            spans.append((start, mark.start()))
            opening = mark
    if not opening:
        return [*spans, (start, len(text))], True
    return spans, False


def _own_spans(
    text: str,
    spans: list[Span],
) -> list[Span]:
    """The spans without special tokens and tool calls, up to the end of the first turn."""
    first = spans[0][0] if spans else 0
    if _WORDS["bare_call"].match(text, first):
        return []
    own: list[Span] = []
    has_text = False
    for part, ends_turn in chain.from_iterable(_parts(text, span) for span in spans):
        own.append(part)
        has_text = has_text or bool(text[slice(*part)].strip())
        if ends_turn and has_text:
            break
    filled = [span for span in own if span[0] < span[1]]
    return filled or own[-1:]


def _parts(
    text: str,
    span: Span,
) -> Iterator[tuple[Span, bool]]:
    """The parts of a span between special tokens and calls, and whether a turn may end there."""
    place, end = span
    for mark in _marks(_TURN_MARK, text, *span):
        if mark.start() < place:  # in a call
            continue
        table, _, _ = str(mark.lastgroup).partition("_")
        yield (place, mark.start()), table == "end"
        place = mark.end()
        if table == "call":
            closing = _CALL_ENDS[_row(mark)].search(text, place, end)
            place = closing.end() if closing else end
    yield (place, end), False


def _spans_in_tags(
    text: str,
    spans: list[Span],
) -> list[Span]:
    """The spans of the text in the last tags around an answer; without tags, all spans."""
    tags: list[re.Match[str]] = []
    for start, end in spans[-_MOST_TAGS:]:
        tags += _marks(
            _TAG,
            text,
            start,
            end,
        )
    if not tags or len(tags) > _MOST_TAGS:  # more are a loop
        return spans
    content = _content(
        text,
        tags,
        spans[-1][1],
    )
    begin, end = content or (0, len(text))
    gaps = [(0, begin), *[tag.span() for tag in tags], (end, len(text))]
    parts: list[Span] = []
    for span in spans:
        parts += _cut(span, gaps)
    return parts or spans[-1:]


def _cut(
    span: Span,
    gaps: list[Span],
) -> Iterator[Span]:
    """The parts of a span outside of some gaps, which are in order."""
    start, end = span
    for gap_start, gap_end in gaps:
        stop = min(gap_start, end)
        if start < stop:
            yield start, stop
        start = max(start, gap_end)
    if start < end:
        yield start, end


def _content(
    text: str,
    tags: list[re.Match[str]],
    end: int,
) -> Span | None:
    """The place of the text in the last tags, or in several with nothing between them."""
    content = None
    closed = 0
    for tag, following in zip(tags, [*tags[1:], None], strict=True):
        if _closes(tag) or (following and not _closes(following)):
            continue
        stop = following.start() if following else end
        if not text[tag.end() : stop].strip():
            continue
        start = tag.end()
        beside = text[closed : tag.start()]
        if content and not beside.strip():
            start = content[0]
        content = (start, stop)
        closed = following.end() if following else end
    if content and _WORDS["retraction"].search(
        text,
        closed,
        end,
    ):
        return None
    return content
