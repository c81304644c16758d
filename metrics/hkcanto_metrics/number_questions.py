"""The number that a question asks for: its unit, its kind and the words around it."""

import re
from collections.abc import Set
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile

from hkcanto_metrics.numerals import SAYS, value_of

_LINE = 60  # characters that may ask
# The units of each quantity, in all their spellings.
_UNITS = (
    ("kilograms?|kilos?|kgs?|公斤|千克", "grams?|g|克", "milligrams?|mg|毫克"),
    (
        "kilomet(?:er|re)s?|km|公里|千米",
        "met(?:er|re)s?|m|公尺|米",
        "centimet(?:er|re)s?|cm|厘米|公分",
    ),
    ("lit(?:er|re)s?|l|公?升", "millilit(?:er|re)s?|ml|毫升"),
    ("hours?|hrs?|个?小时|个?钟头?", "minutes?|mins?|分钟?", "seconds?|secs?|秒钟?"),
    ("dollars?|[元蚊]", "cents?|仙"),
    ("24[- ]hour|24小时", "p\\.?m(?![a-z])"),
)
_SCALES = {
    "千": 10**3,
    "万": 10**4,
    "亿": 10**8,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
}
_UNIT_END = "(?![a-z/0-9²³^])"


@dataclass(frozen=True, slots=True)
class Asked:
    """The kind of answer that a question asks for.

    Attributes:
        given: the numbers that it mentions.
        text: the question.
        before: what it says before 幾多 or "how many", such as 女生有.
        after: what it says after it, such as a unit.
        unit: the first character or word of it, such as 個 or "pens".
        clause: the clause that asks.
        is_count: whether it asks for a number of things.
        is_share: whether it asks for a share.
        is_fraction: whether it asks for a share, but for no percentage.
        other_units: the units of the quantity that it asks for, without the one it names.
        scale: the power of ten that it counts in, as in "how many million".
    """

    given: Set[Fraction | None]
    text: str
    before: str
    after: str
    unit: str
    clause: str
    is_count: bool
    is_share: bool
    is_fraction: bool
    other_units: re.Pattern[str] | None
    scale: tuple[str, int] | None


def asked_for(question: str) -> Asked:
    """Return what a normalised question says of its answer."""
    closing = question.strip(" \n?。.")[-_LINE:]
    clauses = re.split(r"[\n。,;?!]|[.] ", closing)
    clause = next(filter(SAYS["gap"].search, clauses), clauses[-1])
    gap = [None, *SAYS["gap"].finditer(question)][-1]
    named = SAYS["unit_at_end"].search(question)
    unit = named["unit"] if named else question[gap.start("after") :] if gap else ""
    is_share = bool(SAYS["share"].search(gap[0] + unit if gap else clause))
    is_count = bool(gap and SAYS["count"].search(gap[0]))
    is_fraction = bool(SAYS["fraction"].search(question))
    counted = SAYS["asked_scale"].search(question)
    return Asked(
        given={*map(value_of, SAYS["number"].finditer(question))},
        text=question,
        before=without_blanks(gap["before"] if gap else "").removesuffix("百分之"),
        after=without_blanks(gap["after"] if gap else ""),
        unit=_unit_in(gap["after"] if gap else ""),
        clause=clause,
        is_count=is_count and not is_share,
        is_share=is_share,
        is_fraction=is_fraction and not SAYS["percentage"].search(question),
        other_units=_other_units(unit),
        scale=(counted["scale"], _SCALES[counted["scale"]]) if counted else None,
    )


def _unit_in(after: str) -> str:
    """The word that follows 幾多 or "how many", by its beginning; 個 also for nouns."""
    word = re.match(r"\s*(?:([\u4e00-\u9fff])|([a-z]{3,}))", after.lower())
    return (word[1] or word[2][:4]) if word else ""


def _other_units(text: str) -> re.Pattern[str] | None:
    """The pattern of other units than the one that a text begins with, after a number."""
    for units in _UNITS:
        for unit in units:
            if re.match(rf"\s*个?(?:{unit}){_UNIT_END}", text, re.IGNORECASE):
                others = "|".join(other for other in units if other != unit)
                return re.compile(rf"\s*(?:{others}){_UNIT_END}", re.IGNORECASE)
    return None


def without_blanks(text: str) -> str:
    """Return text near a number without blanks, and without the verb or 約 that it may have."""
    return SAYS["blank"].sub("", text).removeprefix("个")


def alike_length(first: str, second: str) -> int:
    """Return the number of characters at the beginning that two texts share."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return len([*pairs])
