"""N-grams of benchmark items, to be found in other texts, in either script.

A text becomes units: each Chinese character, its script folded, and each other word; blanks and
punctuation go. An item is looked for by its n-grams of units (GPT-3: Brown and others 2020,
appendix C), and found where they cover most of it in one place (Llama 2: Touvron and others 2023,
appendix A.6). Memory is bounded by the items, and by the longest text.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hkcanto_metrics.script import fold_script, is_han

N, SHARE = 8, 0.6
"""Units of an n-gram, and how much of an item must be found; docs/contamination.md says why."""

_FEW = 12  # units that must be found, or all of a shorter item; never fewer of a question alone
_COMMON = 4  # items of a task that may share an n-gram; one of more is a formula
_GAP = 40  # units between two n-grams of one place
_CODES, _BASE = 0x110000, 0x9E3779B97F4A7C15
_NONE, _WORD, _HAN = 0, 1, 2

_Ints = NDArray[np.int64]
_Hashes = NDArray[np.uint64]
_RANDOM: _Hashes = np.random.default_rng(0).integers(1 << 63, size=_CODES, dtype=np.uint64)
_kinds = np.full(_CODES, -1, np.int8)  # of each character that was met
_values = np.zeros(_CODES, np.uint64)


@dataclass(frozen=True, slots=True)
class Item:
    """An item, and what to look for of it: a text, and how many characters of it are enough."""

    task: str
    id: str
    text: str
    body: int = 0


class Hit(NamedTuple):
    """An item that was found: in which of the texts looked at, where in it, and how much of it."""

    item: Item
    text: int
    place: int
    share: float


class Units(NamedTuple):
    """The units of some texts: their hashes, where they begin in their text, and which text."""

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
    values = _values[codes[kept]] * _powers(_BASE - 2, 64)[np.minimum(within, 63)]
    hashes = np.add.reduceat(values, first) if len(first) else values
    of = np.searchsorted(starts, kept[first], "right") - 1
    return Units(hashes, kept[first] - starts[of], of)


def _meet(codes: Sequence[int]) -> None:
    for code in codes:
        character = chr(code)
        folded = fold_script(unicodedata.normalize("NFKC", character).casefold())
        _values[code] = _RANDOM[ord(folded) if len(folded) == 1 else code]
        _kinds[code] = _HAN if is_han(character) else _WORD if character.isalnum() else _NONE


@cache
def _all_powers(base: int, size: int) -> _Hashes:
    factors = np.full(size, base, np.uint64)
    factors[0] = 1
    return np.cumprod(factors)


def _powers(base: int, count: int) -> _Hashes:
    """Return the powers of a number modulo 2⁶⁴, from 0 up."""
    return _all_powers(base, 1 << max(count - 1, 1).bit_length())[:count]


def _grams(of: Units) -> tuple[_Hashes, _Ints]:
    """Return the hashes of the n-grams within one text, and the places of their first units."""
    count = len(of.hashes) - N + 1
    if count < 1:
        return of.hashes[:0], of.texts[:0]
    sums = np.zeros(len(of.hashes) + 1, np.uint64)
    np.cumsum(of.hashes * _powers(_BASE, len(of.hashes)), out=sums[1:])
    hashes = (sums[N:] - sums[:-N]) * _powers(pow(_BASE, -1, 1 << 64), count)
    at = np.flatnonzero(of.texts[N - 1 :] == of.texts[:count])
    return hashes[at], at


class Index:
    """N-grams of items, to be found in other texts; those of more than four items of a task do not
    count.

    Examples:
        >>> index = Index([Item("t", "t/1", "香港嘅天星小輪由尖沙咀開去邊度？")])
        >>> [hit.item.id for hit in index.find(["問：香港嘅天星小轮，由尖沙咀开去边度 答：中環"])]
        ['t/1']
    """

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        of = units([item.text for item in items])
        sizes = np.bincount(of.texts, minlength=len(items))
        limits = np.array([item.body for item in items], np.int64)
        in_body = np.bincount(of.texts, of.places < limits[of.texts], len(items))
        self._bodies = in_body.astype(np.int64)
        keys, at = _grams(of)
        own = of.texts[at]
        names = ([item.task for item in items], [item.id for item in items])
        rare = _rare(keys, *(np.unique(each, return_inverse=True)[1][own] for each in names))
        keys, own, places = keys[rare], own[rare], (at - (np.cumsum(sizes) - sizes)[own])[rare]
        covered = _covered(own, places, self._bodies[own])
        self._whole, self._body = (np.bincount(own, each, len(items)) for each in covered)
        order = np.argsort(keys, kind="stable")
        self._keys = keys[order]
        self._own, self._places = (each[order].astype(np.int32) for each in (own, places))
        # Most n-grams of a file are in no item, which these bits of their hashes tell at once.
        self._shift = np.uint64(60 - len(keys).bit_length())
        self._likely = np.zeros(1 << (64 - int(self._shift)), np.bool_)
        self._likely[keys >> self._shift] = True

    @cached_property
    def looked_for(self) -> AbstractSet[str]:
        """The ids of the items that can be found: others are too short, or all formula."""
        return {self.items[place].id for place in np.flatnonzero(self._whole).tolist()}

    def find(self, texts: Sequence[str]) -> Iterator[Hit]:
        """Find the items that stand in some texts, once in each place."""
        of = units(texts)
        hashes, at = _grams(of)
        likely = self._likely[hashes >> self._shift]
        hashes, at = hashes[likely], at[likely]
        left, right = (np.searchsorted(self._keys, hashes, side) for side in ("left", "right"))
        counts = right - left
        entries = np.arange(counts.sum()) + np.repeat(left - np.cumsum(counts) + counts, counts)
        at, own, places = np.repeat(at, counts), self._own[entries], self._places[entries]
        order = np.lexsort((at, own))
        at, own, places = at[order], own[order], places[order]
        begins = np.ones(len(at), np.bool_)
        begins[1:] = (np.diff(own) != 0) | (np.diff(of.texts[at]) != 0) | (np.diff(at) > _GAP)
        spots, first = np.cumsum(begins) - 1, np.flatnonzero(begins)
        order = np.lexsort((places, spots))
        covered = _covered(spots[order], places[order], self._bodies[own[order]])
        whole, body = (np.bincount(spots[order], each, len(first)) for each in covered)
        own, at = own[first], at[first]
        of_whole, of_body = self._whole[own], self._body[own]
        alone = body >= np.maximum(SHARE * of_body, _FEW)
        found = alone | (whole >= np.maximum(SHARE * of_whole, np.minimum(of_whole, _FEW)))
        shares = np.where(alone, body, whole) / np.where(alone, of_body, of_whole)
        for spot in np.flatnonzero(found):
            unit, item = at[spot], self.items[own[spot]]
            yield Hit(item, int(of.texts[unit]), int(of.places[unit]), float(shares[spot]))


def _rare(keys: _Hashes, tasks: _Ints, items: _Ints) -> NDArray[np.bool_]:
    """Return which n-grams few items of their task have."""
    order = np.lexsort((items, tasks, keys))
    of_task = np.ones(len(order), np.bool_)
    of_task[1:] = (np.diff(keys[order]) != 0) | (np.diff(tasks[order]) != 0)
    of_item = of_task.copy()
    of_item[1:] |= np.diff(items[order]) != 0
    groups = np.cumsum(of_task) - 1
    rare = np.empty(len(order), np.bool_)
    rare[order] = np.bincount(groups, of_item)[groups] <= _COMMON
    return rare


def _covered(groups: _Ints, places: _Ints, bodies: _Ints) -> tuple[_Ints, _Ints]:
    """Return how many units each n-gram adds to its group, and how many of the body.

    They must be in the order of groups and places.
    """
    steps = np.where(np.diff(groups, append=-1) != 0, N, np.diff(places, append=0))
    whole = np.minimum(steps, N)
    return whole, np.clip(bodies - places, 0, whole)
