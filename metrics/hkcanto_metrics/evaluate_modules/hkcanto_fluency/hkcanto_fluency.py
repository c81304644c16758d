"""Whether texts are in Cantonese as a Hugging Face `evaluate` module."""

import datasets
import evaluate

from hkcanto_metrics.cleaning import clean_output
from hkcanto_metrics.fluency import cantonese_fluency, pool_fluency

_DESCRIPTION = """\
Share of texts that are Cantonese rather than Standard Written Chinese, by the word features of
cantonesedetect, with script, degenerate repetition and length beside it.
"""

_CITATION = """\
@inproceedings{lau-etal-2024-extraction,
    title = {The Extraction and Fine-grained Classification of Written Cantonese Materials through
        Linguistic Feature Detection},
    author = {Lau, Chaak-ming and Lau, Mingfei and To, Ann Wai Huen},
    booktitle = {Proceedings of the 2nd Workshop on Resources and Technologies for Indigenous,
        Endangered and Lesser-resourced Languages in Eurasia (EURALI)},
    year = {2024},
    pages = {24--29},
    url = {https://aclanthology.org/2024.eurali-1.4/}
}
"""

_INPUTS = """\
Args:
    predictions: the models' responses, one string per text.
    max_characters: number of characters from which a summary is penalised; None for no limit.
Returns:
    A dictionary of corpus figures; see `hkcanto_metrics.fluency.pool_fluency`.
"""


class HKCantoFluency(evaluate.Metric):  # type: ignore[misc]  # evaluate has no types
    """Judges with `cantonese_fluency` and pools with `pool_fluency`."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": datasets.Value("string")}),
        )

    def _compute(
        self, predictions: list[str], max_characters: int | None = None
    ) -> dict[str, float]:
        texts = (clean_output(response).text for response in predictions)
        return pool_fluency(cantonese_fluency(t, max_characters=max_characters) for t in texts)
