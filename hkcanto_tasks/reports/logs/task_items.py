"""The items of one task, as a log is read."""

from collections.abc import Callable
from functools import lru_cache

from hkcanto_metrics.reasoning import split_reasoning

from ...catalogue import find_task
from ...kinds import find_kind
from ..items import COLUMNS, Columns, Row
from .decoding import Unusable

Length = Callable[[str], int]


_SHORT = 100  # Characters: shorter responses are often the same.
_split_short = lru_cache(maxsize=4096)(split_reasoning)
_AT_ONCE = 256  # Rows that wait with their texts: columns are made faster of many.


class TaskItems:
    """The items of a task, added one by one; `texts` are kept, lengths are by `length`."""

    def __init__(self, task: str, length: Length, texts: bool) -> None:
        self.task = find_task(task)
        kind = self.task.entry.kind
        corpus = any(metric.corpus for metric in find_kind(kind).METRICS)
        asked = {"", kind, "corpus" * corpus, "texts" * texts}
        self._columns: Columns = {name: [] for name, own in COLUMNS.items() if own.only in asked}
        self._waiting: list[Row] = []
        self._length = length
        self._known = {subject.name for subject in self.task.entry.subjects}

    def __len__(self) -> int:
        return len(self._columns["ids"]) + len(self._waiting)

    def add(self, row: Row) -> None:
        """Add an item; Unusable if the catalogue does not have its subject."""
        if row.subject not in self._known:
            name = self.task.name
            raise Unusable(
                f"the catalogue of this version has no subject {row.subject!r} of {name}"
            )
        found = (_split_short if len(row.response) < _SHORT else split_reasoning)(row.response)
        row.written, row.length = found.answer, self._length
        row.reasoning += found.reasoning
        if not row.reasoning and self.task.variant.cot:
            row.reasoning = row.written
        if not found.finished:
            row.truncated = 1.0
        self._waiting.append(row)
        if len(self._waiting) == _AT_ONCE:
            self.columns()

    def columns(self) -> Columns:
        """Return all that were added, in this order."""
        for name, column in self._columns.items():
            column += map(COLUMNS[name].of, self._waiting)
        self._waiting.clear()
        return self._columns
