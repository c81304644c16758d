"""The number that a question asks for: its unit, bounds and kind."""

import re
from collections.abc import Set
from dataclasses import dataclass, replace
from fractions import Fraction

from hkcanto_metrics.numerals import SAYS, value_of

_LINE = 60  # characters after "how many" that may name what is counted
_END = 60  # characters of a question that may ask for a sum
# The units of each quantity, in all their spellings.
_UNITS = (
    ("kilograms?|kilos?|kgs?|公斤|千克", "grams?|g|克", "milligrams?|mg|毫克"),
    (
        "kilomet(?:er|re)s?|km|公里|千米",
        "met(?:er|re)s?|m|公尺|米",
        "centimet(?:er|re)s?|cm|厘米|公分",
    ),
    (
        "lit(?:er|re)s?|l|公?升",
        "millilit(?:er|re)s?|ml|毫升",
        "cm(?:3|³|\\^3)|cubic cent[a-z]+|立方厘米",
        "m(?:3|³|\\^3)|cubic met[a-z]+|立方米",
    ),
    ("hours?|hrs?|个?小时|个?钟头?", "minutes?|mins?|分钟", "seconds?|secs?|秒钟?"),
    ("dollars?|[元蚊]", "cents?|仙"),
    ("24[- ]hour|24小时", "p\\.?m(?![a-z])"),
)
_UNIT_END = "(?![a-z/0-9²³^])"
_NOUN = re.compile(
    "[\u4e00-\u9fff](?![的嘅咗了有系是为个到能会得去来过用着紧多少需要])[\u4e00-\u9fff]"
)


@dataclass(frozen=True, slots=True)
class Units:
    """The unit that a question asks for, and others of the same quantity, after a number."""

    asked: re.Pattern[str]
    others: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Asked:
    """The kind of answer that a question asks for.

    Attributes:
        given: the numbers that it mentions.
        text: the question.
        before: what it says before 幾多 or "how many", such as 女生有.
        after: what it says after it, such as a unit.
        is_count: whether it asks for a number of things, and not for a share.
        is_share: whether it asks for a share.
        things: the English words after "how many".
        clause: the words that ask for it.
        ending: its end.
        is_signed: whether it says which case is negative.
        is_total: whether it asks for a sum.
        is_left: whether it asks for what is left.
        is_future: whether it asks for what will be.
        units: the unit that it asks for, and the other ones of the same quantity.
    """

    given: Set[Fraction]
    text: str
    before: str = ""
    after: str = ""
    is_count: bool = False
    is_share: bool = False
    is_total: bool = False
    is_left: bool = False
    is_future: bool = False
    units: Units | None = None
    things: str = ""
    clause: str = ""
    ending: str = ""
    is_signed: bool = False

    @property
    def is_ordinal(self) -> bool:
        """Whether it asks for a place in an order."""
        return bool(SAYS["asks_ordinal"].search(self.clause))

    def names_other(
        self,
        before: str,
        after: str,
    ) -> bool:
        """Whether a number is said of 女生 where the question asks for 男生."""
        words = without_blanks(before)
        said = words[-2:]
        if _NOUN.fullmatch(said) and said in self.text:
            for wanted in (self.before[-2:], self.after[1:3]):
                is_noun = _NOUN.fullmatch(wanted)
                is_like = is_noun and wanted[1] == said[1]
                if is_like and wanted not in words:
                    return True
        noun = SAYS["noun"].match(after)
        if not (noun and self.things) or noun["noun"] in self.things:
            return False
        return f" {noun['noun']}" in self.text


def asked_for(question: str) -> Asked:
    """Return what a normalised question says of its answer."""
    values = map(value_of, SAYS["number"].finditer(question))
    closing = question.strip().rpartition("\n")[2][-_LINE:]
    closing = re.split("[。;?!]|[.] ", closing.strip(" ?。."))[-1]
    clauses = closing.split(",")
    asked = Asked(
        {value for value in values if value is not None},
        question,
        clause=next(filter(SAYS["gap"].search, clauses), clauses[-1]),
        ending=closing,
        is_signed=bool(SAYS["negative_case"].search(question)),
    )
    gaps = [*SAYS["gap"].finditer(question)]
    named = SAYS["unit_at_end"].search(question)
    if gaps:
        return _with_gap(asked, gaps[-1], named)
    if not named:
        return asked
    is_share = bool(SAYS["share"].search(named[0]))
    return replace(asked, is_share=is_share, units=_units_from(named["unit"]))


def _with_gap(
    asked: Asked,
    gap: re.Match[str],
    named: re.Match[str] | None,
) -> Asked:
    """What a question asks for with "how many"."""
    is_share = bool(SAYS["share"].search(gap[0] + (named[0] if named else "")))
    is_count = bool(SAYS["count"].search(gap[0])) and not is_share
    things = asked.text[gap.start("after") :]
    is_counted = "many" in gap[0] and not SAYS["auxiliary"].match(things)
    ending = asked.text[gap.start() :][:_LINE]
    return replace(
        asked,
        before=without_blanks(gap["before"]),
        after=without_blanks(gap["after"]),
        is_count=is_count,
        is_share=is_share,
        is_total=bool(SAYS["total"].search(asked.text[-_END:])),
        is_left=bool(SAYS["left"].search(ending)),
        is_future=bool(SAYS["future"].search(asked.clause)),
        units=_units_from(named["unit"] if named else things),
        things=things[:_LINE] if is_counted else "",
    )


def _units_from(text: str) -> Units | None:
    """The unit that a text begins with, if it is a known one, and the other ones."""
    for units in _UNITS:
        for unit in units:
            if re.match(rf"\s*个?(?:{unit}){_UNIT_END}", text, re.IGNORECASE):
                others = "|".join(other for other in units if other != unit)
                return Units(_after_number(unit), _after_number(others))
    return None


def _after_number(units: str) -> re.Pattern[str]:
    """The pattern of units after a number."""
    return re.compile(rf"\s*(?:{units}){_UNIT_END}", re.IGNORECASE)


def alike_length(
    first: str,
    second: str,
) -> int:
    """Return the number of characters at the beginning that two texts share."""
    length = 0
    for character, other in zip(
        first,
        second,
        strict=False,
    ):
        if character != other:
            break
        length += 1
    return length


def without_blanks(text: str) -> str:
    """Return text near a number without blanks, and without the verb or 約 that it may have."""
    return SAYS["blank"].sub("", text)
