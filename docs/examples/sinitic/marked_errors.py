"""Translations in which people marked the errors: SiniticMTError's `cantonese.jsonl`.

In the data set of Liu et al. (LREC 2026, arXiv 2509.20557), native speakers marked the errors of
NLLB-200 on FLORES+. If words were omitted, they inserted them into the translation, and the file's
positions refer to the text with these insertions. This module converts them to positions in the
original translation.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import msgspec

from hkcanto_metrics.error_spans import (
    OMISSION,
    ErrorCategory,
    ErrorSpan,
    translation_accuracy,
)

MISTRANSLATION: ErrorCategory = "Mistranslation"
TYPES: Mapping[str, ErrorCategory] = {
    "Addition": "Additional words",
    "Grammar": "Ungrammatical",
    "Mistranslation": MISTRANSLATION,
    "Omission": OMISSION,
    "Spelling": "Orthography",
    "Typography": "Orthography",
    "Unintelligible": "Unintelligibility",
    "Untranslated": "Unnatural Code-mixing",
}
CATEGORIES = tuple(dict.fromkeys(TYPES.values()))
"""The categories that this data set and HKCanto-Eval have in common."""

WEIGHTS = {"Minor": 1.0, "Major": 5.0}
PUNCTUATION = 0.1
MOST_UNUSABLE = 0.01


class Row(msgspec.Struct):
    """A line of the file."""

    id: int | str
    src: str
    mt: str
    ref: str
    annotations: dict[str, Any]


class Mark(msgspec.Struct):
    """An error as recorded in the file."""

    error_text_segment: str
    start_index: int
    error_type: str
    error_severity: Literal["Minor", "Major"]

    @property
    def penalty(self) -> float:
        """Its weight in MQM (Freitag et al. 2021, "Experts, Errors, and Context")."""
        minor = self.error_severity == "Minor" and self.error_type == "Typography"
        return PUNCTUATION if minor else WEIGHTS[self.error_severity]


@dataclass(frozen=True, slots=True)
class MarkedTranslation:
    """A translation and the errors that people marked in it.

    Attributes:
        id: Its number in the file.
        source: The text that was translated.
        translation: The machine's translation.
        reference: A person's translation.
        spans: The errors in the translation, in HKCanto-Eval's categories.
        categories: The categories of all errors, including omissions.
        left_out: Number of characters that people inserted because the translation omits them.
        penalty: The sum of the errors' weights in MQM.
    """

    id: str
    source: str
    translation: str
    reference: str
    spans: tuple[ErrorSpan, ...]
    categories: frozenset[ErrorCategory]
    left_out: int
    penalty: float

    @property
    def accuracy(self) -> float:
        """Formula (1) of HKCanto-Eval, Appendix F.1, from 0 to 1.

        The formula counts omissions in characters of the source. So the number of characters that
        people inserted is multiplied by the ratio of the lengths of source and reference.
        """
        terms = translation_accuracy(self.translation, self.spans)
        omitted = self.left_out * len(self.source) / len(self.reference)
        return replace(terms, source_errors=round(omitted)).value


TARGETS: Mapping[str, Callable[[MarkedTranslation], float]] = {
    "accuracy": lambda each: each.accuracy,
    "penalty per source character": lambda each: -each.penalty / len(each.source),
    "penalty per output character": lambda each: -each.penalty / len(each.translation),
}
"""Name → a score from the errors that people marked; higher is better. There are several, because
errors can be counted in more than one way."""


def common(category: ErrorCategory) -> ErrorCategory:
    """Map a category of HKCanto-Eval to one of `CATEGORIES`.

    Categories that this data set lacks become mistranslations, because its annotators mark Mandarin
    words, register and odd collocations as mistranslations.
    """
    return category if category in CATEGORIES else MISTRANSLATION


def read_marked(path: Path) -> list[MarkedTranslation]:
    """Read a file of SiniticMTError: `id`, `src`, `mt`, `ref` and `annotations` in each line.

    Marks without a text, type or severity are left out.

    Raises:
        OSError: The file cannot be read.
        ValueError: A row lacks a field, an id occurs twice, or more than one mark in a hundred
            cannot be used.
    """
    made, usable, unusable = dict[str, MarkedTranslation](), 0, 0
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        where = f"{path}, line {number}"
        try:
            row = msgspec.json.decode(line, type=Row)
        except msgspec.DecodeError as error:
            raise ValueError(f"{where}: {error}") from error
        listed = row.annotations.get("annotatedSpans")
        if not isinstance(listed, list):
            raise ValueError(f"{where}: no list annotatedSpans in its annotations")
        if not (row.src and row.mt and row.ref):
            raise ValueError(f"{where}: src, mt and ref must have a text")
        if str(row.id) in made:
            raise ValueError(f"{where}: the id {row.id} occurs more than once")
        marks = []
        for each in listed:
            try:
                mark = msgspec.convert(each, Mark)
            except msgspec.ValidationError:
                continue
            if mark.error_text_segment and mark.error_type in TYPES:
                marks.append(mark)
        usable, unusable = usable + len(marks), unusable + len(listed) - len(marks)
        made[str(row.id)] = _marked(row, marks)
    if unusable > MOST_UNUSABLE * (usable + unusable):
        raise ValueError(
            f"{path}: {unusable} of {usable + unusable} marks lack a text, start_index, error_type "
            f"({', '.join(TYPES)}) or error_severity ({', '.join(WEIGHTS)})"
        )
    return list(made.values())


def _marked(row: Row, marks: Sequence[Mark]) -> MarkedTranslation:
    spans, written_in, left_out = list[ErrorSpan](), 0, 0
    for mark in sorted(marks, key=lambda mark: mark.start_index):
        text, expected = mark.error_text_segment, mark.start_index - written_in
        starts = (at for at in range(len(row.mt)) if row.mt.startswith(text, at))
        start = min(starts, key=lambda at, to=expected: abs(at - to), default=-1)
        missing = mark.error_type == "Typography" and start != expected
        if mark.error_type == "Omission" or missing:
            written_in += len(text)
            left_out += len(text) * (not missing)
        elif start >= 0:
            spans.append(ErrorSpan(TYPES[mark.error_type], start, start + len(text)))
            written_in = mark.start_index - start
    return MarkedTranslation(
        id=str(row.id),
        source=row.src,
        translation=row.mt,
        reference=row.ref,
        spans=tuple(spans),
        categories=frozenset(TYPES[mark.error_type] for mark in marks),
        left_out=left_out,
        penalty=sum(mark.penalty for mark in marks),
    )
