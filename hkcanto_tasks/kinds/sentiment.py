"""Sentiment: a text in, `Positive`, `Negative` or `Neutral` out.

HKCanto-Eval, Appendix H. The release counts a response as right if the label occurs anywhere in it,
so that one which names all three always passes. Scored here is the label that it settles on; a
response with none or several is wrong, and counted in `unparsed_rate`.
"""

import re
from typing import ClassVar

import msgspec

from hkcanto_metrics.choice import extract_choice
from hkcanto_metrics.cleaning import Cleaned

from .. import setup
from ..catalogue import Subject
from ..data.tables import Record
from ..judgements import Judgement
from ..prompts import Example
from ..samples import Sample
from . import writing
from .multiple_choice import ACCURACY, UNPARSED, judge_reading

_LABELS = {"A": "Positive", "B": "Negative", "C": "Neutral"}
_CHINESE = {"正面": "Positive", "負面": "Negative", "负面": "Negative", "中性": "Neutral"}

_LABEL = r"(?<![a-z])(?:positive|negative|neutral)(?![a-z])"
_NOT = re.compile(
    r"(?:\b(?:not|never|no|isn['’]t|without)\b|唔係|唔算|不是|不算|並非|并非|非(?!常))"
    r"\s*(?:\w+ )?$",
    re.IGNORECASE,
)
_NEARBY = 40
_OR = r"\s*(?:[/|,，、]|\b(?:or|and)\b|或者?|還是|还是|定係|定|同埋|同|和)\s*"
# The question said again: "Positive, Negative or Neutral".
_ALL_THREE = re.compile(rf"{_LABEL}(?:{_OR})+{_LABEL}(?:{_OR})+{_LABEL}", re.IGNORECASE)


class Sentiment(writing.Writing):
    """Texts and their sentiment. Columns: `text`, `sentiment`."""

    FIGURES = (ACCURACY, UNPARSED)
    COLUMNS: ClassVar = {"text": ("text",), "sentiment": ("sentiment",)}
    REWRITES = False
    TOKENS = 16

    def row(self, record: Record) -> Sample:
        """Read a text and its sentiment."""
        text = record.text(self.columns("text"), "text")
        sentiment = record.find(self.columns("sentiment"))
        if sentiment not in _LABELS.values():
            raise record.problem(
                f"another sentiment than those expected: {', '.join(_LABELS.values())}"
            )
        return Sample(id=str(record.number), source=text, target=str(sentiment))

    def made_up(self) -> Sample:
        """Return an item with an answer of this form."""
        return msgspec.structs.replace(super().made_up(), target="Negative")

    def example(self, subject: Subject, row: Sample, number: int) -> Example | None:
        """Render a text with its label, as it is asked where the prompt has no other form."""
        return setup.Setup.example(self, subject, row, number)

    def judge_text(self, cleaned: Cleaned, sample: Sample) -> Judgement:
        """Judge a response against the label that people gave the text.

        Examples:
            >>> from hkcanto_tasks.setup import setup
            >>> review = Sample(id="", source="好難食。", target="Negative")
            >>> setup("hkcanto_sentiment").judge("唔係正面，係負面。", review).values
            {'acc': 1.0, 'unparsed_rate': 0.0}
        """
        return judge_reading("single label", _settled_label(cleaned.text), "", sample.target)


def _settled_label(text: str) -> str | None:
    for chinese, english in _CHINESE.items():
        text = text.replace(chinese, f" {english} ")
    text = _ALL_THREE.sub(" ", text)
    named = {
        label[0].capitalize()
        for label in re.finditer(_LABEL, text, re.IGNORECASE)
        if not _NOT.search(text[max(0, label.start() - _NEARBY) : label.start()])
    }
    if len(named) == 1:
        return named.pop()
    letter = extract_choice(text, _LABELS) if named else None
    return _LABELS[letter] if letter else None
