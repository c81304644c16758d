"""Removal of a model's reasoning, so that only the answer it gives is scored."""

from __future__ import annotations

import re

# The name first: a flood of "<" is passed over at the speed of a search for a letter.
_TAG = re.compile(r"(think|thinking|reasoning|thought)\s*+>", re.IGNORECASE)


def strip_reasoning(text: str) -> str:
    """Remove the reasoning blocks that "thinking" models write before they answer.

    Known tags are ``think``, ``thinking``, ``reasoning`` and ``thought``, in any case. A closing
    tag with nothing open removes all text before it, because many chat templates put the opening
    tag in the prompt. An opening tag that is never closed removes all text after it: the model ran
    out of tokens while it reasoned, and gave no answer.

    Args:
        text: A model's response.

    Returns:
        The text outside of the blocks, otherwise unchanged. The time is linear in the length.

    >>> strip_reasoning("<think>nei5 or lei5?</think>nei5 hou2")
    'nei5 hou2'
    """
    kept: list[str] = []
    position, opened = 0, ""
    for tag in _TAG.finditer(text):
        name, start = tag[1].lower(), tag.start()
        closes = text[start - 2 : start] == "</"
        if not closes and text[start - 1 : start] != "<":
            continue
        if opened:
            if closes and name == opened:
                position, opened = tag.end(), ""
        elif closes:
            kept.clear()
            position = tag.end()
        else:
            kept.append(text[position : start - 1])
            opened = name
    if not opened:
        kept.append(text[position:])
    return "".join(kept)
