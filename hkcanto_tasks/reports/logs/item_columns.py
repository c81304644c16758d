"""From the items of a log, one by one, to the columns of `Items`."""

import re
from collections.abc import Callable, Mapping, Sequence
from math import nan

import msgspec
import numpy as np
from numpy.typing import NDArray

from hkcanto_metrics.reasoning import strip_reasoning

from ...catalogue import NamedTask
from ...corpus import Pair
from ...kinds import kinds
from ..evaluations import Items, ItemText

Length = Callable[[str], int]

_TAG = re.compile(r"</?(?:think|thinking|reasoning|thought)\s*>", re.IGNORECASE)
_PASSAGE = 120
_END = "\uffff"  # no character: a response does not have it
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
        question: The question as rendered, without examples and system text.
        response: What the model wrote.
        target: The gold answer.
        values: Metric → the value that the harness logged.
        answer: What was read out of the response, where it is known.
        reasoning: Reasoning that the harness logged apart from the response.
        groups: Further sets of items that it belongs to.
        weights: Pooled metric → length of the reference.
        pair: What it gives to corpus metrics.
        output_tokens: Tokens that the model wrote.
        truncated: 1 or 0; NaN where the harness does not say.
        prompt: All that the model was given, if texts are asked for.
    """

    id: str
    question: str
    response: str
    target: str
    values: Mapping[str, float | None]
    answer: str = ""
    reasoning: str = ""
    groups: tuple[str, ...] = ()
    weights: Mapping[str, float] = msgspec.field(default_factory=dict)
    pair: Pair | None = None
    output_tokens: float = nan
    truncated: float = nan
    prompt: str = ""


class ItemColumns:
    """The items of one subject, added one by one.

    Args:
        task: The task, for the kind of its figures.
        subject: The subject's name.
        length: Of a text.
        texts: Whether to keep the texts.
    """

    def __init__(self, task: NamedTask, subject: str, length: Length, texts: bool) -> None:
        metrics = kinds()[task.entry.kind].METRICS
        self._subject = subject
        self._length = length
        self._cot = task.variant.cot
        self._values = {metric.name: list[float]() for metric in metrics if not metric.corpus}
        self._weights = {metric.name: list[float]() for metric in metrics if metric.pooled}
        self._pairs: list[Pair] | None = [] if any(metric.corpus for metric in metrics) else None
        self._jyutping: list[tuple[str, str]] | None = [] if task.entry.kind == "g2p" else None
        self._texts: list[ItemText] | None = [] if texts else None
        self._ids: list[str] = []
        self._groups: list[tuple[str, ...]] = []
        self._shared_groups: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._clusters: list[int] = []
        self._passages: dict[str, int] = {}
        self._question_lengths: list[int] = []
        self._response_lengths: list[int] = []
        self._reasoning_lengths: list[int] = []
        self._output_tokens: list[float] = []
        self._truncated: list[float] = []
        self._refused: list[bool] = []

    def add(self, row: Row) -> None:
        """Add an item."""
        answer, reasoning, open_ended = _split(row.response)
        reasoning = row.reasoning + reasoning
        if not reasoning and self._cot:
            reasoning = answer
        self._ids.append(row.id)
        self._groups.append(self._shared_groups.setdefault(row.groups, row.groups))
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
        self._response_lengths.append(length(answer))
        self._reasoning_lengths.append(length(reasoning) if reasoning else 0)
        self._output_tokens.append(row.output_tokens)
        self._truncated.append(1.0 if open_ended else row.truncated)
        unread = row.values.get("unparsed_rate", row.values.get("invalid_rate")) == 1
        self._refused.append(unread and _DECLINING.search(answer, 0, _LOOKED_AT) is not None)
        if self._pairs is not None:
            self._pairs.append(row.pair or Pair("", "", ""))
        if self._jyutping is not None:
            self._jyutping.append((row.answer, row.target))
        if self._texts is not None:
            self._texts.append(ItemText(row.prompt, row.response, row.answer, row.target))

    def items(self) -> Items:
        """Return the columns."""
        return Items(
            ids=self._ids,
            subjects=[self._subject] * len(self._ids),
            groups=self._groups,
            values={name: np.array(column) for name, column in self._values.items()},
            weights={name: np.array(column) for name, column in self._weights.items()},
            clusters=np.array(self._clusters, dtype=np.int64),
            question_lengths=np.array(self._question_lengths, dtype=np.int64),
            response_lengths=np.array(self._response_lengths, dtype=np.int64),
            reasoning_lengths=np.array(self._reasoning_lengths, dtype=np.int64),
            output_tokens=np.array(self._output_tokens, dtype=np.float64),
            truncated=np.array(self._truncated, dtype=np.float64),
            refused=np.array(self._refused, dtype=np.bool_),
            pairs=self._pairs or (),
            jyutping=self._jyutping or (),
            texts=self._texts or (),
        )


def joined(parts: Sequence[Items]) -> Items:
    """Return the items of several subjects as one table."""
    starts = np.cumsum([0, *(int(part.clusters.max(initial=-1)) + 1 for part in parts)])
    values = dict.fromkeys(name for part in parts for name in part.values)
    weights = dict.fromkeys(name for part in parts for name in part.weights)
    return Items(
        ids=[id_ for part in parts for id_ in part.ids],
        subjects=[subject for part in parts for subject in part.subjects],
        groups=[groups for part in parts for groups in part.groups],
        values={
            name: np.concatenate([_or_nan(part.values.get(name), len(part)) for part in parts])
            for name in values
        },
        weights={
            name: np.concatenate([_or_nan(part.weights.get(name), len(part)) for part in parts])
            for name in weights
        },
        clusters=np.concatenate(
            [part.clusters + start for part, start in zip(parts, starts, strict=False)]
        ),
        question_lengths=np.concatenate([part.question_lengths for part in parts]),
        response_lengths=np.concatenate([part.response_lengths for part in parts]),
        reasoning_lengths=np.concatenate([part.reasoning_lengths for part in parts]),
        output_tokens=np.concatenate([part.output_tokens for part in parts]),
        truncated=np.concatenate([part.truncated for part in parts]),
        refused=np.concatenate([part.refused for part in parts]),
        pairs=[pair for part in parts for pair in part.pairs],
        jyutping=[pair for part in parts for pair in part.jyutping],
        texts=[text for part in parts for text in part.texts],
    )


def _or_nan(column: NDArray[np.float64] | None, size: int) -> NDArray[np.float64]:
    return np.full(size, nan) if column is None else column


def _split(response: str) -> tuple[str, str, bool]:
    """Return the answer, the reasoning before it, and whether a reasoning block is left open."""
    if ">" not in response:
        return response, "", False
    answer = strip_reasoning(response + _END)
    is_open = not answer.endswith(_END)
    answer = answer.removesuffix(_END)
    if len(answer) == len(response):
        return answer, "", False
    if response.endswith(answer):
        block = response.removesuffix(answer)
    else:
        differing = (
            place for place, (a, b) in enumerate(zip(response, answer, strict=False)) if a != b
        )
        start = next(differing, len(answer))
        block = response[start : len(response) - len(answer) + start]
    return answer, _TAG.sub("", block), is_open
