"""N-gram search for benchmark items in other texts, in either script.

A text is cut into units: Chinese characters, with their script folded, and other words; blanks and
punctuation are dropped. An item is searched for by its n-grams of units (GPT-3: Brown and others
2020, appendix C), and is found where they cover most of it in one place (Llama 2: Touvron and
others 2023, appendix A.6). Memory depends on the items and on the longest text.
"""

import unicodedata
from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hkcanto_metrics.script import fold_script, is_han

N, SHARE, FEW = 8, 0.6, 12
"""Units in an n-gram; the share of an item that must be found; the number of units that must be
found, or all of a shorter item. docs/contamination.md gives the reasons."""

_COMMON = 4  # items of a task that may share an n-gram; one in more items is boilerplate
_GAP = 40  # most units between two n-grams of one place
_CODES, _LETTERS = 0x110000, 64  # code points; letters of a word that are compared
_NONE, _WORD, _HAN = 0, 1, 2

_Ints = NDArray[np.int64]
_Hashes = NDArray[np.uint64]
_RANDOM: _Hashes = np.random.default_rng(0).integers(1 << 63, size=_CODES, dtype=np.uint64)
_FACTORS: _Hashes = (
    np.random.default_rng(1).integers(1 << 63, size=_LETTERS, dtype=np.uint64) * 2 + 1
)
_kinds = np.full(_CODES, -1, np.int8)  # of each character, -1 until it is first seen
_values = np.zeros(_CODES, np.uint64)


class Item(NamedTuple):
    """An item with one of its texts to search for; at least `at_least` units must be found."""

    task: str
    id: str
    text: str
    at_least: int = 0


class Hit(NamedTuple):
    """An item that was found: the number of the text, the place in it, and the share found."""

    item: Item
    text: int
    place: int
    share: float


class Units(NamedTuple):
    """The units of some texts: each one's hash, its place in its text, and the text's number."""

    hashes: _Hashes
    places: _Ints
    texts: _Ints


def units(texts: Sequence[str]) -> Units:
    """Cut texts into units.

    Examples:
        >>> one, other = (units([text]).hashes.tolist() for text in ("裏面，OK！", "里面 ok"))
        >>> one == other, len(one)
        (True, 3)
    """
    starts = np.cumsum([0, *(len(text) + 1 for text in texts)])
    codes = np.frombuffer("\n".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    kinds = _kinds[codes]
    if (kinds < 0).any():
        _meet(np.unique(codes[kinds < 0]).tolist())
        kinds = _kinds[codes]
    word = kinds == _WORD
    begins = kinds == _HAN
    begins[:1] |= word[:1]
    begins[1:] |= word[1:] & ~word[:-1]
    kept = np.flatnonzero(kinds)
    first = np.flatnonzero(begins[kept])
    within = np.arange(len(kept)) - np.repeat(first, np.diff(first, append=len(kept)))
    values = _values[codes[kept]] * _FACTORS[np.minimum(within, _LETTERS - 1)]
    hashes = np.add.reduceat(values, first) if len(first) else values
    of = np.searchsorted(starts, kept[first], "right") - 1
    return Units(hashes, kept[first] - starts[of], of)


def _meet(codes: Sequence[int]) -> None:
    for code in codes:
        character = chr(code)
        folded = fold_script(unicodedata.normalize("NFKC", character).casefold())
        _values[code] = _RANDOM[ord(folded) if len(folded) == 1 else code]
        _kinds[code] = _HAN if is_han(character) else _WORD if character.isalnum() else _NONE


def _grams(of: Units) -> tuple[_Hashes, _Ints]:
    """Return the hashes of n-grams that do not cross texts, and the places of their first units."""
    count = max(len(of.hashes) - N + 1, 0)
    at = np.flatnonzero(of.texts[N - 1 :] == of.texts[:count])
    hashes = np.zeros(count, np.uint64)
    for place in range(N):
        hashes += of.hashes[place : place + count] * _FACTORS[place]
    return hashes[at], at


class Index:
    """An index of items by n-grams, without n-grams that occur in more than four items of a task.

    Examples:
        >>> index = Index([Item("t", "t/1", "香港嘅天星小輪由尖沙咀開去邊度？")])
        >>> [hit.item.id for hit in index.find(["問：香港嘅天星小轮，由尖沙咀开去边度 答：中環"])]
        ['t/1']
    """

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        of = units([item.text for item in items])
        keys, at = _grams(of)
        own = of.texts[at]
        of_task = keys + _numbers([item.task for item in items])[own]
        of_item = of_task + _numbers([item.id for item in items])[own] * _FACTORS[0]
        once = np.unique(of_item, return_index=True)[1]
        known, times = np.unique(of_task[once], return_counts=True)
        rare = np.flatnonzero(~np.isin(of_task, known[times > _COMMON]))
        keys, at, own = keys[rare], at[rare], own[rare]
        self._units = _covered(own, at, len(items))
        asked = np.maximum(np.minimum(self._units, FEW), [item.at_least for item in items])
        self._enough = np.maximum(SHARE * self._units, asked)
        order = np.argsort(keys, kind="stable")
        self._keys = keys[order]
        self._own, self._at = (each[order].astype(np.int32) for each in (own, at))
        # Most n-grams of a file are in no item; these bits of their hashes rule them out fast.
        self._shift = np.uint64(60 - len(keys).bit_length())
        self._likely = np.zeros(1 << (64 - int(self._shift)), np.bool_)
        self._likely[keys >> self._shift] = True

    @property
    def looked_for(self) -> Set[str]:
        """The ids of items that can be found; the others are too short, or all boilerplate."""
        enough = (self._units > 0) & (self._units >= self._enough)
        return {self.items[place].id for place in np.flatnonzero(enough).tolist()}

    def find(self, texts: Sequence[str]) -> Iterator[Hit]:
        """Find items in some texts, each item once in each place."""
        of = units(texts)
        hashes, at = _grams(of)
        likely = self._likely[hashes >> self._shift]
        hashes, at = hashes[likely], at[likely]
        left, right = (np.searchsorted(self._keys, hashes, side) for side in ("left", "right"))
        counts = right - left
        entries = np.arange(counts.sum()) + np.repeat(left - np.cumsum(counts) + counts, counts)
        at, own, places = np.repeat(at, counts), self._own[entries], self._at[entries]
        order = np.lexsort((at, own))
        at, own, places = at[order], own[order], places[order]
        begins = np.ones(len(at), np.bool_)
        begins[1:] = (np.diff(own) != 0) | (np.diff(of.texts[at]) != 0) | (np.diff(at) > _GAP)
        spots, first = np.cumsum(begins) - 1, np.flatnonzero(begins)
        order = np.lexsort((places, spots))
        covered = _covered(spots[order], places[order], len(first))
        own, at = own[first], at[first]
        for spot in np.flatnonzero(covered >= self._enough[own]):
            unit, item = at[spot], own[spot]
            share = float(covered[spot] / self._units[item])
            yield Hit(self.items[item], int(of.texts[unit]), int(of.places[unit]), share)


def _numbers(names: Sequence[str]) -> _Hashes:
    """Return a random number for each name; equal names have equal numbers."""
    return _RANDOM[np.unique(names, return_inverse=True)[1]]


def _covered(groups: _Ints, places: _Ints, count: int) -> _Ints:
    """Return the number of units that each group's n-grams cover, sorted by group and place."""
    steps = np.where(np.diff(groups, append=-1) != 0, N, np.diff(places, append=0))
    return np.bincount(groups, np.minimum(steps, N), count).astype(np.int64)
