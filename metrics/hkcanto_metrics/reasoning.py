"""A model's reasoning told from its answer, in whatever wrapping it comes."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Each written as the tag that it means, in as many characters.
_TAGS = {
    wrapping: f"{tag[:-1]}{' ' * (len(wrapping) - len(tag))}>"
    for opening, closing in (
        ("[THINK]", "[/THINK]"),
        ("◁think▷", "◁/think▷"),
        ("<seed:think>", "</seed:think>"),
        ("<|begin_of_thought|>", "<|end_of_thought|>"),
        ("<|channel>thought", "<channel|>"),
    )
    for wrapping, tag in ((opening, "<think>"), (closing, "</think>"))
}
# The name first: a flood of "<" is passed over at the speed of a search for a letter.
_TAG = re.compile(r"(think|thinking|reasoning|thought)\s*+>", re.IGNORECASE)

# Harmony: its channels with their tokens, and as they look when these are skipped.
_FINAL = re.compile(r"<\|channel\|>\s*final\b[^<]{0,40}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>")
_FINAL_SKIPPED = "assistantfinal"
_CHANNEL = re.compile(r"<\|channel\|>\s*(?:analysis|commentary)")
_CHANNEL_SKIPPED = re.compile(
    r"\s*(?:analysis|commentary)(?=[A-Z\u2e80-\u9fff\uff00-\uffef\U00020000-\U0003ffff])"
)
_END = re.compile(r"<\|(?:end|return|call|start)\|>")
# Gemma's channel when its tokens are skipped: nothing tells where the answer begins.
_NAME_ALONE = re.compile(r"\s*thought\n")

_MARKS = re.compile(
    "|".join(
        [
            *map(re.escape, _TAGS),
            r"</?(?:think|thinking|reasoning|thought)\s*+>",
            r"<\|(?:channel|start|constrain)\|>\s*\w+",
            r"<\|\w+\|>",
            r"\A\s*(?:analysis|commentary)",
            r"assistant(?:final|commentary)\Z",
        ]
    ),
    re.IGNORECASE,
)

# What there is none of in most responses.
_ANY = re.compile(r"[<\[◁]|assistantfinal|\A\s*(?:analysis|commentary|thought\n)")

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


def split_reasoning(text: str) -> Reasoned:
    """Tell the reasoning that "thinking" models write from the answer that they give.

    Known are ``<think>``, ``<thinking>``, ``<reasoning>``, ``<thought>`` and ``<seed:think>`` in
    any case, ``[THINK]``, ``◁think▷``, ``<|begin_of_thought|>``, Gemma's ``<|channel>thought`` and
    Harmony's channels, the latter also as they look without their special tokens
    (``analysis…assistantfinal…``). A closing tag with nothing open ends a reasoning that began in
    the prompt, as many chat templates have it.

    Args:
        text: A model's response.

    Returns:
        Answer and reasoning. The time is linear in the length.

    >>> split_reasoning("<think>nei5 or lei5?</think>nei5 hou2").answer
    'nei5 hou2'
    >>> split_reasoning("analysisIs it A?").finished
    False
    """
    if not _ANY.search(text):
        return Reasoned(text, "", True, ((0, len(text)),))
    harmony = _harmony(text)
    if harmony is not None:
        spans, finished = harmony
    elif _NAME_ALONE.match(text):
        spans, finished = [], False
    else:
        spans, finished = _tagged(text)
    answer = "".join(text[start:end] for start, end in spans)
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    reasoning = "".join(text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True))
    return Reasoned(answer, _MARKS.sub("", reasoning), finished, tuple(spans))


def strip_reasoning(text: str) -> str:
    """Return the answer alone, see `split_reasoning`.

    Args:
        text: A model's response.

    >>> strip_reasoning("[THINK]C?[/THINK]B")
    'B'
    """
    return split_reasoning(text).answer


def opens_reasoning(prompt: str) -> bool:
    """Whether a prompt ends where a model begins to reason, so that it cannot answer at once.

    Args:
        prompt: As the model gets it, after its chat template.

    >>> opens_reasoning("…<|im_start|>assistant\\n<think>\\n")
    True
    """
    return bool(_OPEN.search(prompt[-60:]))


def _harmony(text: str) -> tuple[list[tuple[int, int]], bool] | None:
    """The final channel's span, and whether there is one; None for other wrappings."""
    start = -1
    for final in _FINAL.finditer(text):
        start = final.end()
    if start < 0 and (skipped := text.rfind(_FINAL_SKIPPED)) >= 0:
        start = skipped + len(_FINAL_SKIPPED)
    if start >= 0:
        end = _END.search(text, start)
        return [(start, end.start() if end else len(text))], True
    if _CHANNEL.search(text) or _CHANNEL_SKIPPED.match(text):
        return [], False
    return None


def _tagged(text: str) -> tuple[list[tuple[int, int]], bool]:
    """The spans outside of tags, and whether the last tag opened is closed."""
    for wrapping, alike in _TAGS.items():
        text = text.replace(wrapping, alike)
    spans: list[tuple[int, int]] = []
    position, opened = 0, ""
    for tag in _TAG.finditer(text):
        name, start = tag[1].lower(), tag.start()
        if text.endswith("seed:", 0, start):
            start -= len("seed:")
        closes = text[start - 2 : start] == "</"
        if not closes and text[start - 1 : start] != "<":
            continue
        if opened:
            if closes and name == opened:
                position, opened = tag.end(), ""
        elif closes:
            spans.clear()
            position = tag.end()
        else:
            spans.append((position, start - 1))
            opened = name
    if not opened:
        spans.append((position, len(text)))
    return spans, not opened
