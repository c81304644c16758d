"""Cantonese grapheme-to-phoneme scores as a Hugging Face `evaluate` module."""

import datasets
import evaluate

from hkcanto_metrics import pool_jyutping, score_jyutping

_DESCRIPTION = """\
Error rates of Jyutping against gold strings with alternatives such as "(ze2|ze5) jung2 pou5":
the two figures of HKCanto-Eval, and character, syllable, tone, onset, nucleus and coda error rates.
"""

_CITATION = """\
@misc{cheng-etal-hkcanto-eval,
    title = {HKCanto-Eval: A Benchmark for Evaluating Cantonese Language Understanding and
        Cultural Comprehension in LLMs},
    author = {Cheng, Tsz Chung and Cheng, Chung Shing and Lau, Chaak Ming and Lam, Eugene Tin-Ho
        and Wong, Chun Yat and Yu, Hoi On and Chong, Cheuk Hei}
}
"""

_INPUTS = """\
Args:
    predictions: the models' responses, one string per sentence.
    references: the gold strings, one per sentence.
Returns:
    A dictionary of corpus figures; see `hkcanto_metrics.pool_jyutping`. 0 is perfect.
"""


class HKCantoJyutping(evaluate.Metric):  # type: ignore[misc]  # evaluate has no types
    """Scores with `score_jyutping` and pools with `pool_jyutping`."""

    def _info(self) -> evaluate.MetricInfo:
        features = {name: datasets.Value("string") for name in ("predictions", "references")}
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(features),
        )

    def _compute(self, predictions: list[str], references: list[str]) -> dict[str, float]:
        pairs = zip(predictions, references, strict=True)
        return pool_jyutping(score_jyutping(response, answer) for response, answer in pairs)
