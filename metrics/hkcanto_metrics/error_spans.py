"""Translation accuracy from labelled error spans (HKCanto-Eval, Appendix F.1).

Annotators (people or a model) mark the errors in a translation. The score is the share of its
characters that are not marked, with the omitted characters of the source added to the denominator.
"""

import re
import reprlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

ErrorCategory = Literal[
    "Additional words",
    "Collocation",
    "Inconsistent Terminology",
    "Literal Translation",
    "Mistranslation",
    "Mixed up Cantonese-Mandarin",
    "Orthography",
    "Omission",
    "Register Issues",
    "Ungrammatical",
    "Unintelligibility",
    "Unnatural Code-mixing",
]
ERROR_CATEGORIES: tuple[ErrorCategory, ...] = get_args(ErrorCategory)

OMISSION: ErrorCategory = "Omission"


@dataclass(frozen=True, slots=True)
class ErrorSpan:
    """A stretch of text that is labelled with an error.

    An omission is marked in the source text, every other category in the translation.

    Attributes:
        category: One of the paper's twelve categories, `ERROR_CATEGORIES`.
        start: Position of the first character, from 0.
        end: Position after the last character, greater than ``start``.
    """

    category: ErrorCategory
    start: int
    end: int

    def __post_init__(self) -> None:
        if self.category not in ERROR_CATEGORIES:
            known = ", ".join(ERROR_CATEGORIES)
            raise ValueError(
                f"{self.category!r} is not an error category; use one of {known}"
            )
        if not 0 <= self.start < self.end:
            raise ValueError(
                f"the span {self.start}:{self.end} is empty or begins before the text"
            )


@dataclass(frozen=True, slots=True)
class TranslationAccuracy:
    """The terms of formula (1) of HKCanto-Eval, Appendix F.1, all in characters.

    Attributes:
        target_length: Length of the translation, without the ``removed`` characters.
        target_errors: Labelled characters of the translation, each counted once.
        source_errors: Characters of the source that are labelled as omitted, each counted once.
        removed: Over-generated characters, which were removed before counting.
    """

    target_length: int
    target_errors: int
    source_errors: int
    removed: int

    @property
    def value(self) -> float:
        """The accuracy, from 0 to 1; 0 where nothing is left to score."""
        if not self.target_length:
            return 0.0
        correct = self.target_length - self.target_errors
        return correct / (self.target_length + self.source_errors)


def translation_accuracy(
    target: str,
    target_spans: Iterable[ErrorSpan] = (),
    source_spans: Iterable[ErrorSpan] = (),
) -> TranslationAccuracy:
    """Score a translation by formula (1) of HKCanto-Eval, Appendix F.1.

    accuracy = (target length - labelled in target) / (target length + labelled in source), in
    characters. Overlapping spans count once. If additional words are more than half of the
    translation, because the model repeated itself or went on writing, they are removed first: they
    count neither as length nor as errors.

    Args:
        target: The translation; every character of it counts, including blanks.
        target_spans: The errors in it, of any category except `OMISSION`.
        source_spans: The omissions, as positions in the source text.

    Returns:
        The formula's terms, and its value; an empty translation scores 0.

    Raises:
        ValueError: A span is on the wrong side or ends after the translation.

    Examples:
        >>> wrong = ErrorSpan("Mistranslation", 0, 2)
        >>> omitted = ErrorSpan("Omission", 4, 7)
        >>> translation_accuracy("佢哋聽日去睇戲", [wrong], [omitted]).value
        0.5
    """
    in_target = list(target_spans)
    in_source = list(source_spans)
    _check_sides(len(target), in_target, in_source)
    additional = _positions(
        span for span in in_target if span.category == "Additional words"
    )
    # The paper removes what a model went on to write, which would swamp the errors.
    is_overgenerated = 2 * len(additional) > len(target)
    removed = additional if is_overgenerated else set()
    wrong = _positions(in_target) - removed
    omitted = _positions(in_source)
    length = len(target) - len(removed)
    return TranslationAccuracy(
        length,
        len(wrong),
        len(omitted),
        len(removed),
    )


def _check_sides(
    target_length: int,
    target_spans: Iterable[ErrorSpan],
    source_spans: Iterable[ErrorSpan],
) -> None:
    for span in target_spans:
        if span.category == OMISSION:
            raise ValueError(
                f"{span}: an omission is labelled in the source, not in the target"
            )
        if span.end > target_length:
            raise ValueError(
                f"{span} ends after the target, which has {target_length} characters"
            )
    for span in source_spans:
        if span.category != OMISSION:
            raise ValueError(f"{span}: only an omission is labelled in the source")


def locate(
    text: str,
    quotation: str,
    occurrence: int = 1,
) -> tuple[int, int]:
    """Find a quotation in a text by exact match.

    Args:
        text: The text that is quoted.
        quotation: The part quoted.
        occurrence: Which occurrence is meant, from 1; occurrences do not overlap.

    Returns:
        The positions of its first character and after its last one.

    Raises:
        ValueError: The quotation is empty, or the text has fewer occurrences.

    Examples:
        >>> locate("好食好食", "好食", occurrence=2)
        (2, 4)
    """
    spans = []
    if quotation:
        for match in re.finditer(re.escape(quotation), text):
            spans.append(match.span())
    if not 1 <= occurrence <= len(spans):
        count = f"{reprlib.repr(quotation)} occurs {len(spans)} times"
        raise ValueError(f"{count}, so there is no {occurrence}. They count from 1.")
    return spans[occurrence - 1]


def _positions(spans: Iterable[ErrorSpan]) -> set[int]:
    positions: set[int] = set()
    for span in spans:
        positions.update(range(span.start, span.end))
    return positions
