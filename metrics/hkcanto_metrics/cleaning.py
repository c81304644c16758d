"""Removal of what models put around a translation, before it is scored.

Only wrapping is removed, by rules that know nothing of the words inside, so that no style, script
or language gains by it; what was removed is reported.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hkcanto_metrics.reasoning import strip_reasoning
from hkcanto_metrics.script import fold_script


@dataclass(frozen=True)
class Cleaned:
    """A response without its wrapping.

    Attributes:
        text: The rest, without white space around it; may be empty.
        removed: What was removed, in this order: any of ``reasoning``, ``code fence``, ``label``
            and ``quotes``, each at most once.
    """

    text: str
    removed: tuple[str, ...] = ()


def clean_output(text: str, *, source: str = "") -> Cleaned:
    """Remove reasoning, a code fence, a label and quotation marks from around a translation.

    A label names the result or its language and ends in a colon, or stands in 【】: ``譯文：``,
    ``普通话翻译:``, ``**Cantonese:**``. Quotation marks are removed where one pair encloses all of
    the text. Sentences around the translation, such as explanations, stay: they are the model's.

    Args:
        text: A model's response.
        source: The text to be translated. A kind of wrapping that it has itself is part of the
            translation, and is kept.

    Returns:
        The text without its wrapping, and the names of what was removed.

    >>> clean_output("譯文：「佢今日唔得閒。」")
    Cleaned(text='佢今日唔得閒。', removed=('label', 'quotes'))
    >>> clean_output("「佢今日唔得閒。」", source="「他今天沒空。」").removed
    ()
    """
    kept = text.strip()
    removed: set[str] = set()
    candidates = _WRAPPINGS.keys() - (clean_output(source).removed if source else ())
    while wrapping := _outermost(kept, candidates - removed):
        removed.add(wrapping)
        kept = _WRAPPINGS[wrapping](kept).strip()
    return Cleaned(kept, tuple(name for name in _WRAPPINGS if name in removed))


def _outermost(text: str, candidates: set[str]) -> str | None:
    """Find the wrapping that is around the text, if one of the candidates is."""
    for name, remove in _WRAPPINGS.items():
        if name in candidates and remove(text) != text:
            return name
    return None


_FENCED = re.compile(r"```(?:[^\s`]*\n)?((?:(?!```).)*)(?:```)?", re.DOTALL)


def _without_fence(text: str) -> str:
    # Not closed where the model ran out of tokens.
    fenced = _FENCED.fullmatch(text)
    return fenced[1] if fenced else text


# Looked up in text folded to Simplified script. What names one variety of Chinese has a counterpart
# for the others, in each of the languages: no style is cleaned more than another.
_NAMES = (
    "粤语|广东话|白话文?|口语|普通话|国语|书面语|中文|汉语|英文|英语"
    "|cantonese|mandarin|chinese|english|翻译|译[文本句]?|translat(?:ion|ed)"
)
_QUALIFIERS = (
    "香港|标准|现代|书面|简体|繁体|[成为做的嘅]|结果|版本?"
    "|the|hong kong|standard|modern|written|spoken|traditional|simplified|text|sentence|version"
)
_WORDS = rf"(?:(?:{_NAMES}|{_QUALIFIERS}) ?)*"
_LABEL = re.compile(
    rf"[#*\s]*(【\**)?{_WORDS}(?:{_NAMES}) ?{_WORDS}(?(1)\**】[:：]?|\**[:：])\**", re.IGNORECASE
)
_LONGEST_LABEL = 60


def _without_label(text: str) -> str:
    label = _LABEL.match(fold_script(text[:_LONGEST_LABEL]))
    return text[label.end() :] if label else text


_QUOTES = {"「": "」", "『": "』", "“": "”", "‘": "’", '"': '"', "'": "'", "＂": "＂", "«": "»"}


_APOSTROPHE = re.compile("(?<=[a-z])['’](?=[a-z])", re.IGNORECASE)


def _without_quotes(text: str) -> str:
    """Remove quotation marks if the first is closed by the last character, and not before."""
    opening, closing = text[:1], _QUOTES.get(text[:1])
    if closing is None or len(text) < 2 or text[-1] != closing:
        return text
    marks = _APOSTROPHE.sub("", text[1:-1])
    open_marks = 1
    for character in marks:
        # Closing first: the two are the same character in straight quotation marks.
        if character == closing:
            open_marks -= 1
        elif character == opening:
            open_marks += 1
        if open_marks == 0:
            return text
    return text[1:-1] if open_marks == 1 else text


_WRAPPINGS = {
    "reasoning": strip_reasoning,
    "code fence": _without_fence,
    "label": _without_label,
    "quotes": _without_quotes,
}
