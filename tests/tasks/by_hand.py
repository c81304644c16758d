"""The papers' averages, computed from the items with plain means."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean


@dataclass(frozen=True)
class Item:
    """An answered question: its score, and the averages that include it.

    Attributes:
        value: 1 for right, 0 for wrong.
        subject: Its subject.
        category: Its subject's category.
        parts: The sets that it belongs to.
    """

    value: float
    subject: str
    category: str = ""
    parts: tuple[str, ...] = ()


def micro(items: Iterable[Item]) -> float:
    """Every question has the same weight."""
    return fmean(item.value for item in items)


def macro(items: Iterable[Item]) -> float:
    """Every subject has the same weight: HKCanto-Eval's Tables 7 and 8."""
    by_subject: dict[str, list[float]] = defaultdict(list)
    for item in items:
        by_subject[item.subject].append(item.value)
    return fmean(map(fmean, by_subject.values()))


def average_of_averages(items: Iterable[Item]) -> float:
    """Every category has the same weight, and so has every subject in it: TMMLU+'s Table 2."""
    by_category: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        by_category[item.category].append(item)
    return fmean(map(macro, by_category.values()))


def of_part(items: Iterable[Item], part: str) -> float:
    """Every question of a category, set or type has the same weight: HKMMLU, HKCanto-Eval."""
    return fmean(item.value for item in items if part in item.parts)


def of_subjects(items: Iterable[Item], category: str) -> float:
    """Every subject of a category has the same weight: a term of TMMLU+'s average."""
    return macro(item for item in items if item.category == category)
