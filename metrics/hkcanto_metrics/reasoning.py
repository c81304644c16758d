"""Removal of a model's reasoning, so that only the answer it gives is scored."""

from __future__ import annotations

import re

_TAG = re.compile(r"<(/?)(think|thinking|reasoning|thought)\s*>", re.IGNORECASE)


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
    position = 0
    while tag := _TAG.search(text, position):
        is_closing, name = tag.groups()
        if is_closing:
            kept.clear()
            position = tag.end()
            continue
        kept.append(text[position : tag.start()])
        end = _closing_tag(name.lower()).search(text, tag.end())
        if end is None:
            return "".join(kept)
        position = end.end()
    kept.append(text[position:])
    return "".join(kept)


def _closing_tag(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}\s*>", re.IGNORECASE)
