"""Summarisation: a long Cantonese text in, the same in about 200 characters out.

HKCanto-Eval (Appendix G) has people score relevance, accuracy, fluency and coherence; there is no
reference. Scored here is what needs no reader: fluency by the words used, and the length.
"""

from typing import ClassVar

from hkcanto_metrics.cleaning import Cleaned
from hkcanto_metrics.fluency import cantonese_fluency

from ..data.tables import Record
from ..figures import Figure
from ..judgements import Judgement
from ..samples import Sample
from . import writing

# The paper asks for 200 characters, and subtracts from the score above 500.
_MAX_CHARACTERS = 500


class Summarization(writing.Writing):
    """Texts to sum up. Column: `text`."""

    FIGURES = (
        *writing.FLUENCY_FIGURES,
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

    def row(self, record: Record) -> Sample:
        """Read a text."""
        return Sample(id=str(record.number), source=record.text(self.columns("text"), "text"))

    def judge_text(self, cleaned: Cleaned, sample: Sample) -> Judgement:
        """Judge the language and the length of a summary, not whether it is a good one.

        Examples:
            >>> from hkcanto_tasks.setup import setup
            >>> talk = Sample(id="", source="我哋街市……")
            >>> judged = setup("hkcanto_summarization").judge("佢話街市有人情味。", talk)
            >>> judged.values["length_penalty"]
            1.0
        """
        del sample
        fluency = cantonese_fluency(cleaned.text, max_characters=_MAX_CHARACTERS)
        return writing.judge_cantonese(
            cleaned,
            fluency,
            {"length_penalty": fluency.length_penalty},
            f"\n\n{fluency.n_characters} characters; length penalty {fluency.length_penalty:.3f}.",
        )
