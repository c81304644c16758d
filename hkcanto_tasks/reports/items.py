"""The items of an evaluation as columns: each is declared once, with how it is made of a row."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache, partial
from itertools import accumulate, chain
from math import nan
from operator import attrgetter
from typing import Annotated, Any, NamedTuple
from zlib import crc32

import msgspec
import numpy as np
from numpy.typing import NDArray

from ..corpus_figures import Pair

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_PASSAGE = 120  # Questions that have so many first characters in common are on one passage.
_MOST_NAMES = 64  # A hostile log may have another metric for each item.
_NO_PAIR = Pair("", "", "")


class Row(msgspec.Struct, gc=False):
    """One item of a log: what its columns are made of. See `Items` for what is of one name."""

    id: str
    subject: str
    question: str  # as rendered, without examples and system text
    response: str
    target: str
    values: Mapping[str, float | None]
    answer: str = ""  # what was read out of the response
    reason: str = ""
    reasoning: str = ""
    parts: tuple[str, ...] = ()
    weights: dict[str, float] = {}
    pair: Pair | None = None
    output_tokens: float = nan
    truncated: float = nan
    prompt: str = ""  # all that the model was given, if texts are asked for
    written: str = ""  # the response after its reasoning
    length: Callable[[str], int] = len


class ItemText(NamedTuple):
    """A prompt, the response, what was read out of it, and the gold answer, whole: to look at."""

    prompt: str
    response: str
    answer: str
    target: str


class _Column(NamedTuple):
    of: Callable[[Row], Any]
    made: Callable[[list[Any]], Any] = list
    only: str = ""  # What it must be asked for by: `corpus`, `texts`, or a kind of task.


def _codes(values: Sequence[Hashable]) -> tuple[list[Any], Ints]:
    """Return the values that there are, and the place of each among them."""
    places: dict[Hashable, int] = {}
    codes = [places.setdefault(value, len(places)) for value in values]
    return list(places), np.array(codes, np.int64)


def _by_name(found: Sequence[Mapping[str, float | None]], fill: float) -> dict[str, Floats]:
    names = [*dict.fromkeys(chain.from_iterable(found))][:_MOST_NAMES]
    return {name: np.array([own.get(name, fill) for own in found], np.float64) for name in names}


_floats = partial(np.array, dtype=np.float64)
_ints = partial(np.array, dtype=np.int64)
_same = lru_cache(maxsize=4096)(
    lambda value: value
)  # Thousands of items share the first of equals.


@dataclass(frozen=True, eq=False)
class Items:
    """The items of an evaluation, column by column: place `i` of every column is item `i`.

    Attributes:
        ids: Stable ids, such as `hkmmlu/hk_law/3`. An id occurs once per epoch.
        subjects: The subject's name; empty for a task without subjects.
        parts: The parts of the task that each belongs to, such as its category or `hk_specific`.
        values: Metric → the value that the harness logged for each item; NaN where it logged none.
            Corpus metrics and averages have no values here.
        weights: Pooled metric → the length of each item's reference.
        clusters: Items with the same number are not independent: epochs of one item, or questions
            on one passage.
        question_lengths: Length of the question with its options.
        golds: A checksum of the gold answer.
        response_lengths: Length of the response after its reasoning block.
        reasoning_lengths: Length of the reasoning block, or of the response in a chain of thought.
        output_tokens: Tokens that the model wrote, by the provider's count; NaN where not logged.
        truncated: 1 where the response ended at a limit of length, 0 where it did not, NaN where
            the harness does not say.
        reasons: How each response was read, or why not, such as `none: refusal`; empty where the
            kind of task does not say.
        pairs: Hypothesis, reference and source of each item, for corpus metrics; empty without.
        jyutping: What was read from the response and the gold answer, for Jyutping; empty without.
        texts: Prompts and responses; empty unless they were asked for.
    """

    ids: Annotated[Sequence[str], _Column(attrgetter("id"))]
    subjects: Annotated[Sequence[str], _Column(lambda row: _same(row.subject))]
    parts: Annotated[Sequence[tuple[str, ...]], _Column(lambda row: _same(row.parts))]
    values: Annotated[
        Mapping[str, Floats], _Column(attrgetter("values"), partial(_by_name, fill=nan))
    ]
    weights: Annotated[
        Mapping[str, Floats], _Column(attrgetter("weights"), partial(_by_name, fill=0.0))
    ]
    clusters: Annotated[
        Ints,
        _Column(
            lambda row: hash((row.subject, row.question[:_PASSAGE])), lambda found: _codes(found)[1]
        ),
    ]
    question_lengths: Annotated[Ints, _Column(lambda row: row.length(row.question), _ints)]
    golds: Annotated[Ints, _Column(lambda row: crc32(row.target.encode()), _ints)]
    response_lengths: Annotated[Ints, _Column(lambda row: row.length(row.written), _ints)]
    reasoning_lengths: Annotated[
        Ints, _Column(lambda row: row.length(row.reasoning) if row.reasoning else 0, _ints)
    ]
    output_tokens: Annotated[Floats, _Column(attrgetter("output_tokens"), _floats)]
    truncated: Annotated[Floats, _Column(attrgetter("truncated"), _floats)]
    reasons: Annotated[Sequence[str], _Column(lambda row: _same(row.reason))] = ()
    pairs: Annotated[Sequence[Pair], _Column(lambda row: row.pair or _NO_PAIR, only="corpus")] = ()
    jyutping: Annotated[
        Sequence[tuple[str, str]], _Column(lambda row: (row.answer, row.target), only="g2p")
    ] = ()
    texts: Annotated[
        Sequence[ItemText],
        _Column(lambda r: ItemText(r.prompt, r.response, r.answer, r.target), only="texts"),
    ] = ()

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def subject_codes(self) -> tuple[NDArray[np.str_], Ints]:
        """The subjects that there are, and the place of each item's among them."""
        known, codes = _codes(self.subjects)
        return np.array(known, np.str_), codes

    def of_subjects(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Return which items are of some subjects: a mask over the items."""
        known, codes = self.subject_codes
        return np.isin(known, list(names))[codes]

    @cached_property
    def _part_codes(self) -> tuple[list[tuple[str, ...]], Ints]:
        return _codes(self.parts)

    def of_part(self, name: str) -> NDArray[np.bool_]:
        """Return which items belong to a part, such as `hk_specific` or a subject: a mask."""
        known, codes = self._part_codes
        own = np.array([name in parts for parts in known], np.bool_)
        return own[codes] | self.of_subjects([name])


COLUMNS: Mapping[str, _Column] = {each.name: each.type.__metadata__[0] for each in fields(Items)}  # type: ignore[union-attr]
Columns = Mapping[str, list[Any]]
"""What some rows have in each column that is asked for, in their order."""


def joined(parts: Sequence[tuple[Columns, Collection[str]]], order: Sequence[str]) -> Items:
    """Return items by subject, each in the order of the ids: 9 before 10, epochs as they were.

    Args:
        parts: Columns, and of which subjects the rows count.
        order: That of the subjects.
    """
    rank = {name: place for place, name in enumerate(order)}
    starts = [0, *accumulate(len(columns["ids"]) for columns, _ in parts)]
    keys = sorted(
        (rank[subject], len(name), name, place)
        for start, (columns, counted) in zip(starts, parts, strict=False)
        for place, (subject, name) in enumerate(
            zip(columns["subjects"], columns["ids"], strict=True), start
        )
        if subject in counted
    )
    places = [place for *_, place in keys]
    made: dict[str, Any] = {}
    for name in parts[0][0]:
        whole = list(chain.from_iterable(columns[name] for columns, _ in parts))
        made[name] = COLUMNS[name].made([*map(whole.__getitem__, places)])
    return Items(**made)
