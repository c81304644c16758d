"""Summarisation: a long Cantonese text in, the same in about 200 characters out.

HKCanto-Eval (Appendix G) has people score relevance, accuracy, fluency and coherence; there is no
reference. Scored here is what needs no reader: fluency by the words used, and the length.
"""

from typing import ClassVar

from hkcanto_metrics.cleaning import Cleaned
from hkcanto_metrics.fluency import cantonese_fluency

from ..data.tables import Record
from ..records import Figure, Judgement, Sample
from . import writing
from .writing import Passage

# The paper asks for 200 characters, and subtracts from the score above 500.
_MAX_CHARACTERS = 500


class Summarization(writing.Writing[Passage]):
    """Texts to sum up. Column: `text`."""

    METRICS = (
        *writing.FLUENCY_METRICS,
        Figure(
            "length_penalty",
            "Length penalty",
            "share",
            True,
            "Mean factor by which summaries of more than 500 characters lose; 1 for none.",
        ),
        writing.LENGTH,
        writing.EMPTY,
        writing.OVERGENERATED,
    )
    COLUMNS: ClassVar = {"text": ("text",)}
    # The release's figure.
    TOKENS = 1024

    def row(self, record: Record) -> Passage:
        """Read a text."""
        return Passage(record.number, record.text(self.columns("text"), "text"))

    def judge(self, cleaned: Cleaned, sample: Sample) -> Judgement:
        """Judge the language and the length of a summary, not whether it is a good one.

        Examples:
            >>> from hkcanto_tasks.task import condition
            >>> how = condition("hkcanto_summarization")
            >>> how.judge("佢話街市最緊要有人情味。", "").values["length_penalty"]
            1.0
        """
        fluency = cantonese_fluency(cleaned.text, max_characters=_MAX_CHARACTERS)
        return writing.judge_cantonese(
            cleaned,
            sample,
            fluency,
            {"length_penalty": fluency.length_penalty},
            f"\n\n{fluency.n_characters} characters; length penalty {fluency.length_penalty:.3f}.",
        )
