"""Cantonese grapheme-to-phoneme scores as a Hugging Face `evaluate` module."""

from hkcanto_metrics import pool_jyutping, score_jyutping
from hkcanto_metrics.evaluate_modules import base


class HKCantoJyutping(base.Metric):
    """Error rates of Jyutping against gold strings with alternatives: "(ze2|ze5) jung2 pou5".

    They are the two figures of HKCanto-Eval, and character, syllable, tone, onset, nucleus and coda
    error rates.
    """

    CITATION = "Cheng et al. (2025), https://doi.org/10.18653/v1/2025.conll-1.1"

    def _compute(
        self, predictions: list[str], references: list[str]
    ) -> dict[str, float]:
        """Score with `score_jyutping` and pool with `pool_jyutping`.

        Args:
            predictions: the models' responses, one string per sentence.
            references: the gold strings, one per sentence.

        Returns:
            A dictionary of corpus figures; see `hkcanto_metrics.pool_jyutping`. 0 is perfect.
        """
        return pool_jyutping(map(score_jyutping, predictions, references))
