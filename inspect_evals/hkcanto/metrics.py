"""Inspect metrics: corpus rates, and the averages and subsets that the papers report."""

from collections import defaultdict
from statistics import fmean

from inspect_ai.scorer import Metric, SampleScore, metric

from hkcanto_metrics.translation import Language
from hkcanto_tasks.corpus import Pair, corpus_errors, corpus_scores


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


def _means(scores: list[SampleScore], key: str) -> dict[str, float]:
    """Mean over the samples of each value that their metadata has for a key, or of each in it."""
    groups: dict[str, list[float]] = defaultdict(list)
    for score in scores:
        value = (score.sample_metadata or {})[key]
        for name in value if isinstance(value, list) else [value]:
            groups[name].append(score.score.as_float())
    return {name: fmean(values) for name, values in groups.items()}


@metric(name="category_macro")
def category_macro() -> Metric:
    """Mean over categories of the mean over their subjects (TMMLU+, Table 2)."""

    def compute(scores: list[SampleScore]) -> float:
        of_subject = {
            (score.sample_metadata or {})["subject"]: (score.sample_metadata or {})["category"]
            for score in scores
        }
        categories: dict[str, list[float]] = defaultdict(list)
        for subject, value in _means(scores, "subject").items():
            categories[of_subject[subject]].append(value)
        return fmean(map(fmean, categories.values())) if categories else 0.0

    return compute


@metric(name="subject_macro")
def subject_macro() -> Metric:
    """Mean over subjects of their means (HKCanto-Eval's cultural average, Table 7)."""

    def compute(scores: list[SampleScore]) -> float:
        return fmean(_means(scores, "subject").values()) if scores else 0.0

    return compute


@metric(name="subset")
def subset_means() -> Metric:
    """Mean over each set of questions that the paper reports, such as `hk_specific`."""

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        return _means(scores, "groups")

    return compute


@metric(name="category")
def category_means() -> Metric:
    """Mean over the questions of each category."""

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        return _means(scores, "category")

    return compute


@metric(name="subject")
def subject_means() -> Metric:
    """Mean over the questions of each subject."""

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        return _means(scores, "subject")

    return compute


@metric(name="corpus")
def corpus_figures(names: list[str], language: Language) -> Metric:
    """Figures of the whole corpus, such as BLEU, with bootstrap standard errors.

    Args:
        names: Which of `hkcanto_metrics.score_translation`'s figures.
        language: By which units texts are compared.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        pairs = [
            Pair(**score.score.metadata["pair"])
            for score in scores
            if score.score.metadata and "pair" in score.score.metadata
        ]
        if not pairs:
            return {}
        values = corpus_scores(pairs, language)
        errors = corpus_errors(pairs, language)
        figures: dict[str, float] = {}
        for name in names:
            figures[name] = values[name]
            figures[f"{name}_stderr"] = errors[name].standard_error
        return figures

    return compute
