"""Short answers, as in cloze tests and reading comprehension: a question in, a short text out.

The figures are those of SQuAD, CMRC 2018 and DRCD, computed by `hkcanto_metrics.short_answer`.
"""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from hkcanto_metrics.short_answer import answer_tokens, score_short_answer

from ..data.tables import Row, as_text
from ..declarations import ShortAnswerDefinition
from ..figures import figures
from ..judgements import Judgement
from ..samples import Sample
from . import base

_PROBES = ("金钟", "3.5", "35", "三點五", "Answer: 金鐘", "唔係金鐘，係中環", "金 鐘。")
# LaTeX, and signs of mathematics that a comparison of words ignores.
_FORMULA = re.compile(
    r"\\[a-zA-Z]+|\$.+\$|[\^_]\{|[<>±÷∪∩≤≥≠√∞∈⊂]|^\s*[-−]\s*[A-Za-z]\b"
)


class ShortAnswer(base.Kind):
    """Questions with a short text for an answer. Columns: `question`, `answer`.

    An answer cell has one text, or several accepted texts: as a list (also as a JSON text), in one
    of SQuAD's forms `{"text": [...]}` and `[{"text": ...}]`, or separated by the task's
    `alternatives`. If a response announces its answer ("答案：…"), only that part is compared with
    them; otherwise, the whole response is.
    """

    FIGURES = figures("exact_match", "f1", "empty")
    COLUMNS: ClassVar = {"question": ("question",), "answer": ("answer",)}
    Definition = ShortAnswerDefinition
    VALUES: ClassVar = {"question": "question"}
    TOKENS = 256
    TARGET = '["18 個", "你好", "the B"]'

    definition: ShortAnswerDefinition

    def row(self, row: Row) -> Sample:
        """Read a question and its accepted answers."""
        question = row.text(self.columns("question"), "question")
        columns = self.columns("answer")
        answers = _texts(self._entries(row, row.find(columns)))
        if not answers or not all(map(answer_tokens, answers)):
            what = "answer, a text or a list of texts, each with a letter or number"
            raise row.lacks(what, "answer", columns)
        if any(map(_FORMULA.search, answers)):
            raise row.problem(
                "a formula as its answer; short answers are compared by their words, so x<2 would "
                'equal x>2. Declare kind = "math"'
            )
        accepted = [text.strip() for text in dict.fromkeys(answers)]
        target = msgspec.json.encode(accepted).decode()
        return Sample(
            id=str(row.number),
            question=question,
            target=target,
        )

    def _entries(
        self,
        row: Row,
        cell: object,
    ) -> object:
        """Divide the text of an answer cell into its entries, if it has several."""
        if not isinstance(cell, str):
            return cell
        separator = self.definition.alternatives
        if separator:
            return cell.split(separator)
        text = cell.strip()
        if not (text.startswith("[") and text.endswith("]")):
            return cell
        try:
            return msgspec.json.decode(cell, type=list[str | int | float])
        except msgspec.MsgspecError:
            raise row.problem(
                "an answer in brackets that is not a JSON list of texts: write "
                '["金鐘", "金鐘站"], or as JSON ["[1]"] if the brackets are part of it'
            ) from None

    def answer(self, row: Sample) -> str:
        """Return the first accepted answer."""
        return _accepted(row)[0]

    def score(
        self,
        answer: str,
        sample: Sample,
    ) -> Judgement:
        """Compare an answer with the accepted ones.

        Examples:
            >>> from hkcanto_metrics import score_short_answer
            >>> score_short_answer("答案係金鐘。", ["金鐘"]).exact_match
            1.0
        """
        accepted = _accepted(sample)
        fold_scripts = self.definition.fold_scripts
        score = score_short_answer(answer, accepted, fold_scripts=fold_scripts)
        is_empty = not answer.strip()
        return Judgement(
            values={
                "exact_match": score.exact_match,
                "f1": score.f1,
                "empty": float(is_empty),
            },
            answer=score.answer,
            reason="none: empty" if is_empty else "",
            explanation=f"{score.answer!r} was compared; accepted is {' or '.join(accepted)}.",
        )

    def further_readings(self) -> list[Any]:
        """Return the scores of answers that differ from the target in script, marks or numerals."""
        separator = self.definition.alternatives
        sample = Sample(id="", target='["金鐘", "3.5"]')
        values = [self.score(text, sample).values for text in _PROBES]
        return [separator, *values] if separator else values


def _texts(entries: object) -> list[str]:
    """Return the texts of an answer cell, in one of SQuAD's forms or a list; "" for others."""
    if isinstance(entries, Mapping):
        entries = entries.get("text")
    texts: list[str] = []
    for entry in entries if isinstance(entries, list | tuple) else [entries]:
        text = entry.get("text") if isinstance(entry, Mapping) else entry
        texts.append(as_text(text) or "")
    return texts


def _accepted(sample: Sample) -> list[str]:
    return msgspec.json.decode(sample.target, type=list[str])
