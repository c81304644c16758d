"""Proposals for a `benchmark.toml`, with the questions that only a person can answer."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .columns import Column, called
from .tables import Group


@dataclass(frozen=True)
class Doubt:
    """A question to the user that only a person can answer.

    Attributes:
        question: The question, with the findings behind it.
        choices: Lines for the task's entry, which does not load until it has one of them.
    """

    question: str
    choices: Sequence[str] = ()


@dataclass(frozen=True)
class Proposal:
    """A task that was recognised in some rows.

    Attributes:
        kind: Its kind.
        columns: Role of a cell → its column.
        fields: Further keys of its entry.
        prompt: The texts of its prompt.
        suffix: The end of its name, if the same rows make several tasks.
        title: The end of its title in that case.
        doubts: The open questions.
        own: Further columns that the kind reads, besides those in `columns`.
    """

    kind: str
    columns: Mapping[str, str | Sequence[str]]
    prompt: Mapping[str, Any]
    fields: Mapping[str, Any] = field(default_factory=dict)
    suffix: str = ""
    title: str = ""
    doubts: Sequence[Doubt] = ()
    own: Iterable[str] = ()

    @property
    def used(self) -> set[str]:
        """The columns that it reads."""
        given = (each if not isinstance(each, str) else [each] for each in self.columns.values())
        return {*self.own, *(name for names in given for name in names)}


class Unrecognised(ValueError):  # noqa: N818
    """The rows have a known form that cannot be declared; the message says why."""


_FILLED = (
    *("question", "options", "sentence", "source", "prompt", "text", "cue", "scaffold", "zero"),
    *("subject", "title", "chinese", "number", "reasoning", "answer"),
)


def placeholder(column: str) -> str:
    """Return a column's placeholder: its name, unless that has spaces or another meaning.

    Examples:
        >>> placeholder("passage 1"), placeholder("title")
        ('passage_1', 'of_row_title')
    """
    plain = re.sub(r"\W+", "_", column).strip("_") or "column"
    return f"of_row_{plain}" if plain in _FILLED else plain


def question_column(columns: Sequence[Column], group: Group) -> tuple[Column, Sequence[Doubt]]:
    """Return the column of the question, and the doubts about it.

    Args:
        columns: The candidates.
        group: The rows that have them.

    Raises:
        Unrecognised: None of the columns has texts.
    """
    if not group.header:
        return group.columns[0], ()
    odd = ("id", "model")
    texts = [each for each in columns if each.texts and not any(map(each.is_called, odd))]
    usual = [*called(texts, "question"), *called(texts, "text")]
    whole = [each for each in usual if each.is_whole] or usual
    if whole:
        first = whole[0]
        rivals = [f'"{e.name}"' for e in called(texts, "question") if e is not first and e.is_whole]
        listed = " or ".join(rivals)
        ask = f'Is the question in "{first.name}", not in {listed}?'
        return first, [Doubt(ask)] if rivals and first.is_called("question") else ()
    texts = [each for each in texts if not each.is_called("aside")]
    if not texts:
        raise Unrecognised("it has no column with a question.")
    longest = max(texts, key=lambda each: each.length)
    shown = next(iter(longest.counts))[:30]
    return longest, [Doubt(f'Is "{longest.name}" the question? Its first text is "{shown}".')]


PROMPTS: Mapping[str, Mapping[str, Any]] = {
    "multiple_choice": {
        "system": "請揀出正確答案，淨係寫答案嘅字母。\n\n",
        "question": "{question}\n{options}\n答案：",
    },
    "multi_answer": {
        "system": "以下題目可能有多過一個正確答案，請寫出所有正確答案嘅字母。\n\n",
        "question": "{question}\n{options}\n答案：",
    },
    "number": {"question": "問題：{question}\n請逐步計算，喺最後一行寫「答案：」同埋個數字。\n"},
    "translation": {"question": "將下面嘅{}翻譯做{}，淨係寫譯文。\n\n{{source}}\n"},
    "g2p": {"question": "將下面嘅句子寫成粵拼，淨係寫粵拼。\n\n{sentence}\n"},
    "short_answer": {"question": "{question}\n淨係寫答案，唔使解釋。\n答案："},
    "prompt": {"question": "{prompt}"},
}
"""The prompts of new declarations, by kind. We wrote them; a paper may have others."""
