"""The items of one task, as a log is read: each column is declared once, with how it is made."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain
from math import nan
from operator import attrgetter
from typing import Any, NamedTuple
from zlib import crc32

import msgspec
import numpy as np

from hkcanto_metrics.reasoning import split_reasoning

from ...catalogue import find_task
from ...corpus_figures import Pair
from ...kinds import find_kind
from ...reasoning import reasoning_values
from ...records import Reasoning
from ..items import Floats, Items, ItemText, codes
from .decoding import Unusable

Length = Callable[[str], int]

_PASSAGE = 120  # Questions that have so many first characters in common are on one passage.
_MOST_NAMES = 64  # A hostile log may have another metric for each item.
_SHORT = 100  # Characters: shorter responses are often the same.
_split_short = lru_cache(maxsize=4096)(split_reasoning)


class Row(msgspec.Struct, gc=False):
    """One item of a log: what its columns are made of."""

    id: str
    subject: str
    question: str  # as rendered, without examples and system text
    response: str
    target: str
    values: Mapping[str, float | None]
    answer: str = ""  # what was read out of the response
    reason: str = ""
    reasoning: str = ""
    judged: Reasoning | None = None  # the reasoning's language
    parts: tuple[str, ...] = ()
    weights: Mapping[str, float] = {}
    pair: Pair | None = None
    output_tokens: float = nan
    truncated: float = nan
    prompt: str = ""  # all that the model was given, if texts are asked for
    written: str = ""  # the response after its reasoning
    length: Length = len


class _Column(NamedTuple):
    of: Callable[[Row], Any]
    made: Callable[[Sequence[Any]], Any] = list
    only: str = ""  # What it must be asked for by: `corpus`, `texts`, or a kind of task.


def _by_name(found: Sequence[Mapping[str, float | None]], fill: float) -> dict[str, Floats]:
    names = [*dict.fromkeys(chain.from_iterable(found))][:_MOST_NAMES]
    return {name: np.array([own.get(name, fill) for own in found], np.float64) for name in names}


_floats, _ints = partial(np.array, dtype=np.float64), partial(np.array, dtype=np.int64)
_same = lru_cache(maxsize=4096)(lambda one: one)  # Thousands of items share the first of equals.
_COLUMNS = {
    "ids": _Column(attrgetter("id")),
    "subjects": _Column(lambda row: _same(row.subject)),
    "parts": _Column(lambda row: _same(row.parts)),
    "values": _Column(attrgetter("values"), partial(_by_name, fill=nan)),
    "weights": _Column(attrgetter("weights"), partial(_by_name, fill=0.0)),
    "clusters": _Column(
        lambda row: hash((row.subject, row.question[:_PASSAGE])), lambda found: codes(found)[1]
    ),
    "question_lengths": _Column(lambda row: row.length(row.question), _ints),
    "golds": _Column(lambda row: crc32(row.target.encode()), _ints),
    "response_lengths": _Column(lambda row: row.length(row.written), _ints),
    "reasoning_lengths": _Column(
        lambda row: row.length(row.reasoning) if row.reasoning else 0, _ints
    ),
    "output_tokens": _Column(attrgetter("output_tokens"), _floats),
    "truncated": _Column(attrgetter("truncated"), _floats),
    "reasons": _Column(lambda row: _same(row.reason)),
    "pairs": _Column(lambda row: row.pair or Pair("", "", ""), only="corpus"),
    "jyutping": _Column(lambda row: (row.answer, row.target), only="g2p"),
    "texts": _Column(
        lambda row: ItemText(row.prompt, row.response, row.answer, row.target), only="texts"
    ),
}


class TaskItems:
    """The items of a task, added one by one; `texts` are kept, lengths are by `length`."""

    def __init__(self, task: str, length: Length, texts: bool) -> None:
        self.task = find_task(task)
        kind = self.task.definition.kind
        corpus = any(metric.corpus for metric in find_kind(kind).METRICS)
        asked = {"", kind, "corpus" * corpus, "texts" * texts}
        self.columns = {name: own for name, own in _COLUMNS.items() if own.only in asked}
        self.rows: list[tuple[Any, ...]] = []  # id, subject, and what else is in the columns
        self._length = length
        self._known = {subject.name for subject in self.task.definition.subjects}

    def add(self, row: Row) -> None:
        """Add an item; Unusable if the catalogue does not have its subject."""
        if row.subject not in self._known:
            what = f"subject {row.subject!r} of {self.task.name}"
            raise Unusable(f"the catalogue of this version has no {what}")
        found = (_split_short if len(row.response) < _SHORT else split_reasoning)(row.response)
        row.written, row.length = found.answer, self._length
        row.reasoning += found.reasoning
        if not row.reasoning and self.task.variant.cot:
            row.reasoning = row.written
        if row.judged:
            row.values = {**row.values, **reasoning_values(row.judged, row.values)}
        if not found.finished:
            row.truncated = 1.0
        self.rows.append(tuple([column.of(row) for column in self.columns.values()]))

    def sorted(self, rows: Iterable[tuple[Any, ...]], order: Sequence[str]) -> Items:
        """Return some rows by subject, each in the order of the ids: 9 before 10, epochs as is."""
        rank = {name: place for place, name in enumerate(order)}
        kept = sorted(rows, key=lambda row: (rank[row[1]], len(row[0]), row[0]))
        made = zip(self.columns.items(), zip(*kept, strict=True), strict=True)
        return Items(**{name: column.made(values) for (name, column), values in made})
