"""From the items of a log, one by one, to the columns of `Items`."""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from math import nan
from typing import Any
from zlib import crc32

import msgspec
import numpy as np

from hkcanto_metrics.reasoning import split_reasoning

from ...catalogue import NamedTask
from ...corpus_figures import Pair
from ...kinds import find_kind
from ..evaluations import Items, ItemText
from .decoding import Unusable

Length = Callable[[str], int]

_PASSAGE = 120
_UNABLE = "無法|无法|冇辦法|沒辦法|没办法|沒有辦法|唔可以|不可以|唔能夠|不能|未能|唔到"
_DECLINING = re.compile(
    r"(?:抱歉|對唔住|對不起|对不起|唔好意思|不好意思|sorry)[^。！？!?\n]{0,60}?"
    rf"(?:{_UNABLE}|cannot|can['’]?t|unable|not able)"
    r"|我(?:係|是|只是|只係)?[^。！？\n]{0,6}(?:無法|无法|不能|唔可以|唔能夠)"
    r"(?:回答|提供|協助|协助|幫|帮|判斷|判断)"
    r"|\bI(?: am|['’]m) sorry\b"
    r"|\bI (?:cannot|can['’]?t|am unable|am not able|won['’]t)\b"
    r"|\bAs an? (?:AI|artificial intelligence|language model)\b"
    r"|作[為为](?:一[個个])?\s*(?:AI|人工智[能慧]|[語语]言模型)",
    re.IGNORECASE,
)
_LOOKED_AT = 500


class Row(msgspec.Struct, frozen=True, gc=False):
    """One item of a log.

    Attributes:
        id: Its stable id.
        subject: Its subject's name.
        question: The question as rendered, without examples and system text.
        response: What the model wrote.
        target: The gold answer.
        values: Metric → the value that the harness logged.
        answer: What was read out of the response.
        reason: How it was read, or why not: `none: several`.
        reasoning: Reasoning that the harness logged apart from the response.
        parts: The parts of the task that it belongs to.
        weights: Pooled metric → length of the reference.
        pair: What it gives to corpus metrics.
        output_tokens: Tokens that the model wrote.
        truncated: 1 or 0; NaN where the harness does not say.
        prompt: All that the model was given, if texts are asked for.
    """

    id: str
    subject: str
    question: str
    response: str
    target: str
    values: Mapping[str, float | None]
    answer: str = ""
    reason: str = ""
    reasoning: str = ""
    parts: tuple[str, ...] = ()
    weights: Mapping[str, float] = msgspec.field(default_factory=dict)
    pair: Pair | None = None
    output_tokens: float = nan
    truncated: float = nan
    prompt: str = ""


class TaskItems:
    """The items of a task, added one by one.

    Args:
        task: The task.
        length: Of a text.
        texts: Whether to keep the texts.
    """

    def __init__(self, task: NamedTask, length: Length, texts: bool) -> None:
        self._task, self._length, self._texts = task, length, texts
        self._known = {subject.name for subject in task.entry.subjects}
        self._columns: dict[str, _Columns] = {}

    def add(self, row: Row) -> None:
        """Add an item.

        Raises:
            Unusable: The catalogue does not have its subject.
        """
        columns = self._columns.get(row.subject)
        if columns is None:
            if row.subject not in self._known:
                raise Unusable(
                    f"the catalogue of this version has no subject {row.subject!r} of "
                    f"{self._task.name}"
                )
            columns = _Columns(self._task, row.subject, self._length, self._texts)
            self._columns[row.subject] = columns
        columns.add(row)

    def by_subject(self) -> dict[str, Items]:
        """Return the items of each subject."""
        return {subject: columns.items() for subject, columns in self._columns.items()}


class _Columns:
    """The items of one subject."""

    def __init__(self, task: NamedTask, subject: str, length: Length, texts: bool) -> None:
        metrics = find_kind(task.entry.kind).METRICS
        self._subject = subject
        self._length = length
        self._cot = task.variant.cot
        self._values = {metric.name: list[float]() for metric in metrics if not metric.corpus}
        self._weights = {metric.name: list[float]() for metric in metrics if metric.pooled}
        self._pairs: list[Pair] | None = [] if any(metric.corpus for metric in metrics) else None
        self._jyutping: list[tuple[str, str]] | None = [] if task.entry.kind == "g2p" else None
        self._texts: list[ItemText] | None = [] if texts else None
        self._ids: list[str] = []
        self._parts: list[tuple[str, ...]] = []
        self._shared_parts: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._clusters: list[int] = []
        self._passages: dict[str, int] = {}
        self._question_lengths: list[int] = []
        self._golds: list[int] = []
        self._response_lengths: list[int] = []
        self._reasoning_lengths: list[int] = []
        self._output_tokens: list[float] = []
        self._truncated: list[float] = []
        self._refused: list[bool] = []
        self._reasons: list[str] = []

    def add(self, row: Row) -> None:
        found = split_reasoning(row.response)
        answer, reasoning = found.answer, row.reasoning + found.reasoning
        if not reasoning and self._cot:
            reasoning = answer
        self._ids.append(row.id)
        self._parts.append(self._shared_parts.setdefault(row.parts, row.parts))
        for name in row.values.keys() - self._values.keys():  # a judge's
            self._values[name] = [nan] * (len(self._ids) - 1)
        for name, column in self._values.items():
            value = row.values.get(name)
            column.append(nan if value is None else value)
        for name, column in self._weights.items():
            column.append(row.weights.get(name, 0.0))
        passage = row.question[:_PASSAGE]
        self._clusters.append(self._passages.setdefault(passage, len(self._passages)))
        length = self._length
        self._question_lengths.append(length(row.question))
        self._golds.append(crc32(row.target.encode()))
        self._response_lengths.append(length(answer))
        self._reasoning_lengths.append(length(reasoning) if reasoning else 0)
        self._output_tokens.append(row.output_tokens)
        self._truncated.append(row.truncated if found.finished else 1.0)
        unread = row.values.get("unparsed_rate", row.values.get("invalid_rate")) == 1
        self._refused.append(unread and _DECLINING.search(answer, 0, _LOOKED_AT) is not None)
        self._reasons.append(sys.intern(row.reason))
        if self._pairs is not None:
            self._pairs.append(row.pair or Pair("", "", ""))
        if self._jyutping is not None:
            self._jyutping.append((row.answer, row.target))
        if self._texts is not None:
            self._texts.append(ItemText(row.prompt, row.response, row.answer, row.target))

    def items(self) -> Items:
        return Items(
            ids=self._ids,
            subjects=[self._subject] * len(self._ids),
            parts=self._parts,
            values={name: np.array(column) for name, column in self._values.items()},
            weights={name: np.array(column) for name, column in self._weights.items()},
            clusters=np.array(self._clusters, dtype=np.int64),
            question_lengths=np.array(self._question_lengths, dtype=np.int64),
            golds=np.array(self._golds, dtype=np.int64),
            response_lengths=np.array(self._response_lengths, dtype=np.int64),
            reasoning_lengths=np.array(self._reasoning_lengths, dtype=np.int64),
            output_tokens=np.array(self._output_tokens, dtype=np.float64),
            truncated=np.array(self._truncated, dtype=np.float64),
            refused=np.array(self._refused, dtype=np.bool_),
            reasons=self._reasons,
            pairs=self._pairs or (),
            jyutping=self._jyutping or (),
            texts=self._texts or (),
        )


def joined(parts: Sequence[Items]) -> Items:
    """Return the items of several subjects as one table: subject by subject, each by id.

    A log has them in the order in which they were run.
    """
    orders = [_order(part.ids) for part in parts]
    starts = np.cumsum([0, *(int(part.clusters.max(initial=-1)) + 1 for part in parts)])

    def column(name: str) -> Any:
        columns = [getattr(part, name) for part in parts]
        if isinstance(columns[0], Mapping):
            names = dict.fromkeys(name for own in columns for name in own)
            return {
                name: np.concatenate(
                    [
                        own[name][order] if name in own else np.full(len(order), nan)
                        for own, order in zip(columns, orders, strict=True)
                    ]
                )
                for name in names
            }
        if isinstance(columns[0], np.ndarray):
            return np.concatenate([own[order] for own, order in zip(columns, orders, strict=True)])
        return [
            own[place] for own, order in zip(columns, orders, strict=True) if own for place in order
        ]

    made = {field.name: column(field.name) for field in fields(Items)}
    sizes = [len(part) for part in parts]
    return Items(**made | {"clusters": made["clusters"] + np.repeat(starts[:-1], sizes)})


def _order(ids: Sequence[str]) -> list[int]:
    """Return the places in the order of the ids: 9 before 10, epochs of one item as they were."""
    return sorted(range(len(ids)), key=lambda place: (len(ids[place]), ids[place]))
