"""Translations in which people marked the errors, in the layout of SiniticMTError.

Liu et al. (LREC 2026, arXiv 2509.20557) had native speakers mark what NLLB-200 made of FLORES+. The
file is the user's: it has no licence. Its annotators wrote what a translation lacks into it, and
their places count in the text that came of it; here, errors stand where they do in the translation.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec

from hkcanto_metrics.error_spans import (
    OMISSION,
    ErrorCategory,
    ErrorSpan,
    translation_accuracy,
)

from ..data.tables import Record, read_table
from ..errors import DataCorrupt

_MISTRANSLATION: ErrorCategory = "Mistranslation"
_TYPES: Mapping[str, ErrorCategory] = {
    "Addition": "Additional words",
    "Grammar": "Ungrammatical",
    "Mistranslation": _MISTRANSLATION,
    "Omission": OMISSION,
    "Spelling": "Orthography",
    "Typography": "Orthography",
    "Unintelligible": "Unintelligibility",
    "Untranslated": "Unnatural Code-mixing",
}
CATEGORIES = tuple(dict.fromkeys(_TYPES.values()))
"""What these people and HKCanto-Eval's annotators can both tell apart."""

_WEIGHTS = {"Minor": 1.0, "Major": 5.0}
_PUNCTUATION = 0.1
_MOST_UNREADABLE = 0.01


class _Mark(msgspec.Struct):
    error_text_segment: str
    start_index: int
    error_type: str
    error_severity: Literal["Minor", "Major"]

    @property
    def penalty(self) -> float:
        minor = self.error_severity == "Minor" and self.error_type == "Typography"
        return _PUNCTUATION if minor else _WEIGHTS[self.error_severity]


@dataclass(frozen=True, slots=True)
class MarkedTranslation:
    """A translation and what people marked in it.

    Attributes:
        id: Its number in the file.
        source: What was translated.
        translation: The machine's.
        reference: A person's.
        spans: The errors that stand in the translation, in the paper's categories.
        categories: Those of all errors, of what is missing, too.
        left_out: Characters that people wrote in as omitted.
        penalty: Errors by their weights in MQM (Freitag et al. 2021, "Experts, Errors, and
            Context"): 5 for a major one, 1 for a minor one, 0.1 for minor punctuation.
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

        It counts an omission in characters of the source, of which what people wrote in has as many
        for each of its own as the source has for each of the reference.
        """
        terms = translation_accuracy(self.translation, self.spans)
        omitted = self.left_out * len(self.source) / len(self.reference)
        return replace(terms, source_errors=round(omitted)).value


TARGETS: Mapping[str, Callable[[MarkedTranslation], float]] = {
    "accuracy": lambda each: each.accuracy,
    "penalty per source character": lambda each: -each.penalty / len(each.source),
    "penalty per output character": lambda each: -each.penalty / len(each.translation),
}
"""What people's errors come to, better is more; no way of counting them is the only one."""


@dataclass(frozen=True, slots=True)
class JudgedTranslation:
    """What a judge made of a translation.

    Attributes:
        text: The translation as the judge saw it.
        accuracy: The mean of its judgements by formula (1), from 0 to 1.
        judgements: For each, the errors: omissions stand in the source, the others in `text`.
    """

    text: str
    accuracy: float
    judgements: tuple[tuple[ErrorSpan, ...], ...]


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """What one judge made of the translations in a log, by the ids of its samples."""

    model: str
    judge: str
    samples: Mapping[str, JudgedTranslation]


def common(category: ErrorCategory) -> ErrorCategory:
    """Return which of `CATEGORIES` one of the paper's twelve belongs to.

    People here call Mandarin words, register and odd collocations mistranslations.

    Examples:
        >>> common("Mixed up Cantonese-Mandarin"), common("Orthography")
        ('Mistranslation', 'Orthography')
    """
    return category if category in CATEGORIES else _MISTRANSLATION


def read_marked(path: Path) -> list[MarkedTranslation]:
    """Read a file of SiniticMTError: `id`, `src`, `mt`, `ref` and `annotations` in each line.

    Marks without a text, type or severity are left out.

    Raises:
        DataNotFound: There is no such file.
        DataCorrupt: A row lacks something, an id occurs twice, or one mark in a hundred is useless.
    """
    table = read_table(path)
    for problem in table.bad:
        raise problem
    marks = [_marks(record) for record in table.records]
    total, unusable = sum(len(found) for found, _ in marks), sum(lost for _, lost in marks)
    if unusable > _MOST_UNREADABLE * (total + unusable):
        raise DataCorrupt(
            f"{path}: {unusable} of {total + unusable} marks lack a text, start_index, error_type "
            f"({', '.join(_TYPES)}) or error_severity (Minor, Major). Correct the file."
        )
    made = [
        _marked(*pair) for pair in zip(table.records, (found for found, _ in marks), strict=True)
    ]
    if len({each.id for each in made}) < len(made):
        raise DataCorrupt(f"{path}: an id occurs more than once. Correct the file.")
    return made


def _marks(record: Record) -> tuple[list[_Mark], int]:
    """Return the marks of a row, and how many cannot be used."""
    annotations = record.find(["annotations"])
    listed = annotations.get("annotatedSpans") if isinstance(annotations, dict) else None
    if not isinstance(listed, list):
        raise record.problem("no list annotatedSpans in its annotations")
    found = []
    for each in listed:
        try:
            mark = msgspec.convert(each, _Mark)
        except msgspec.ValidationError:
            continue
        if mark.error_text_segment and mark.error_type in _TYPES:
            found.append(mark)
    return found, len(listed) - len(found)


def _marked(record: Record, marks: Sequence[_Mark]) -> MarkedTranslation:
    translation = record.text(["mt"], "translation")
    spans, written_in, left_out = list[ErrorSpan](), 0, 0
    for mark in sorted(marks, key=lambda mark: mark.start_index):
        text, expected = mark.error_text_segment, mark.start_index - written_in
        start = _nearest(translation, text, expected)
        missing = mark.error_type == "Typography" and start != expected
        if mark.error_type == "Omission" or missing:
            written_in += len(text)
            left_out += len(text) * (not missing)
        elif start >= 0:
            spans.append(ErrorSpan(_TYPES[mark.error_type], start, start + len(text)))
            written_in = mark.start_index - start
    return MarkedTranslation(
        id=record.text(["id"], "id"),
        source=record.text(["src"], "source"),
        translation=translation,
        reference=record.text(["ref"], "reference"),
        spans=tuple(spans),
        categories=frozenset(_TYPES[mark.error_type] for mark in marks),
        left_out=left_out,
        penalty=sum(mark.penalty for mark in marks),
    )


def _nearest(text: str, part: str, place: int) -> int:
    """Return the start of a part that is nearest to a place; -1 if the text does not have it."""
    starts = (at for at in range(len(text)) if text.startswith(part, at))
    return min(starts, key=lambda at: abs(at - place), default=-1)
