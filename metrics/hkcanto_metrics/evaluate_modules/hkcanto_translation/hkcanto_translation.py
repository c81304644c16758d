"""Automatic scores of Cantonese translation as a Hugging Face `evaluate` module."""

from collections.abc import Sequence

import datasets
import evaluate

from hkcanto_metrics.translation import Language, score_translation

_DESCRIPTION = """\
BLEU, chrF, METEOR and ROUGE-L of translations between Cantonese, Written Chinese and English, raw
and with both sides folded to one script, and the shares of outputs that are in the wrong script,
empty or a copy of the source.
"""

_CITATION = """\
@misc{cao-etal-hkmmlu,
    title = {Measuring Hong Kong Massive Multi-Task Language Understanding},
    author = {Cao, Chuxue and Zhu, Zhenghao and Zhu, Junqi and Lu, Guoying and Peng, Siyu and
        Dai, Juntao and Shi, Weijie and Han, Sirui and Guo, Yike},
    year = {2025}
}
"""

_INPUTS = """\
Args:
    predictions: the translations, one string per sentence.
    references: the reference translations, one per sentence.
    sources: what was translated, one per sentence; only for `copied_source`.
    language: of the references, `zh` (Cantonese and Written Chinese; default) or `en`.
Returns:
    A dictionary of corpus figures; see `hkcanto_metrics.translation.score_translation`.
"""


class HKCantoTranslation(evaluate.Metric):  # type: ignore[misc]  # evaluate has no types
    """Scores with `score_translation`."""

    def _info(self) -> evaluate.MetricInfo:
        features = {name: datasets.Value("string") for name in ("predictions", "references")}
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(features),
        )

    def _compute(
        self,
        predictions: list[str],
        references: list[str],
        sources: Sequence[str] | None = None,
        language: Language = "zh",
    ) -> dict[str, float]:
        return score_translation(predictions, references, language=language, sources=sources)
