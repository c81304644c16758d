"""Inspect metrics of rates whose corpus value is summed errors over summed reference length."""

from inspect_ai.scorer import Metric, SampleScore, metric


def _rates_and_weights(scores: list[SampleScore], name: str) -> tuple[list[float], list[float]]:
    rates = [score.score.as_float() for score in scores]
    weights = [float((score.score.metadata or {})["weights"][name]) for score in scores]
    return rates, weights


@metric(name="rate")
def pooled_rate(name: str) -> Metric:
    """Errors of the whole corpus over its reference length.

    Args:
        name: Which of the score's weights holds the reference length.
    """

    def compute(scores: list[SampleScore]) -> float:
        rates, weights = _rates_and_weights(scores, name)
        total = sum(weights)
        if not total:
            return 0.0
        return sum(rate * weight for rate, weight in zip(rates, weights, strict=True)) / total

    return compute


@metric(name="stderr")
def pooled_stderr(name: str) -> Metric:
    """Standard error of `pooled_rate`, by linearising the ratio (Cochran 1977, section 6.4).

    Args:
        name: Which of the score's weights holds the reference length.
    """

    def compute(scores: list[SampleScore]) -> float:
        rates, weights = _rates_and_weights(scores, name)
        count, total = len(rates), sum(weights)
        if count < 2 or not total:
            return 0.0
        pooled = sum(rate * weight for rate, weight in zip(rates, weights, strict=True)) / total
        squares = sum(
            ((rate - pooled) * weight) ** 2 for rate, weight in zip(rates, weights, strict=True)
        )
        return float((squares * count / (count - 1)) ** 0.5 / total)

    return compute
