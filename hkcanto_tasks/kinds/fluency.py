"""Open-ended writing: an everyday question in Cantonese in, an answer in Cantonese out.

Our own benchmark: whether a model, asked in Cantonese to answer in Cantonese, writes Cantonese at
all. What it says is not judged. The score is `hkcanto_metrics.cantonese_fluency`.
"""

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from hkcanto_metrics.cleaning import Cleaned
from hkcanto_metrics.fluency import cantonese_fluency

from ..data.tables import Record
from ..errors import DataCorrupt
from ..records import Figure, Judgement, Sample
from . import writing
from .writing import Passage


class Fluency(writing.Writing[Passage]):
    """Questions to answer. Columns: `id`, `category`, `prompt`."""

    METRICS = (
        *writing.FLUENCY_METRICS,
        Figure(
            "simplified_ratio",
            "Simplified characters",
            "share",
            False,
            "Mean share of Simplified among the characters that differ between the scripts.",
        ),
        writing.LENGTH,
        writing.EMPTY,
        writing.OVERGENERATED,
    )
    COLUMNS: ClassVar = {"id": ("id",), "category": ("category",), "prompt": ("prompt",)}
    REWRITES = False
    TOKENS = 512

    def row(self, record: Record) -> Passage:
        """Read a question, its id, which never changes, and what it is about."""
        return Passage(
            record.text(self.columns("id"), "id"),
            record.text(self.columns("prompt"), "question"),
            category=record.text(self.columns("category"), "category"),
        )

    def check(self, rows: Sequence[Passage], file: str) -> None:
        """Refuse ids that are not all different."""
        ids = Counter(row.key for row in rows)
        if repeated := sorted(str(key) for key, count in ids.items() if count > 1):
            raise DataCorrupt(f"{file}: the ids {repeated} occur more than once. Rename one.")

    def judge(self, cleaned: Cleaned, sample: Sample) -> Judgement:
        """Judge how Cantonese an answer is, not whether it is a good one.

        Examples:
            >>> from hkcanto_tasks.task import condition
            >>> condition("hkcanto_fluency").judge("你可以試下早啲瞓。", "").values["fluent"]
            1.0
        """
        fluency = cantonese_fluency(cleaned.text)
        more = {"simplified_ratio": fluency.simplified_ratio}
        return writing.judge_cantonese(cleaned, sample, fluency, more)
