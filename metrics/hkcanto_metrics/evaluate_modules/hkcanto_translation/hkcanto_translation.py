"""Automatic scores of Cantonese translation as a Hugging Face `evaluate` module."""

from typing import Any

from hkcanto_metrics.evaluate_modules import base
from hkcanto_metrics.translation import score_translation


class HKCantoTranslation(base.Metric):
    """BLEU, chrF, METEOR and ROUGE-L of translations to and from Cantonese.

    They are given raw and with both sides folded to one script, with the shares of outputs that are
    in the wrong script, empty or a copy of the source.
    """

    CITATION = "Cao et al. (2025), https://arxiv.org/abs/2505.02177"

    def _compute(
        self,
        predictions: list[str],
        references: list[str],
        **options: Any,
    ) -> dict[str, float]:
        """Score with `score_translation`.

        Args:
            predictions: the translations, one string per sentence.
            references: the reference translations, one per sentence.
            sources: what was translated, one per sentence; only for `copied_source`.
            language: of the references, `zh` (Cantonese and Written Chinese; default) or `en`.

        Returns:
            A dictionary of corpus figures; see `hkcanto_metrics.translation.score_translation`.
        """
        return score_translation(predictions, references, **options)
