"""The score of a summary from its rubric (HKCanto-Eval, Appendix G.1)."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from hkcanto_metrics.fluency import length_penalty

CRITERIA = ("relevance", "accuracy", "fluency", "coherence")
PASS, MINOR_VIOLATION, COMPLETE_FAILURE = POINTS = (5, 3, 1)
LONGEST_SUMMARY = 500


def summary_score(points: Mapping[str, float], n_characters: int) -> float:
    """Return a summary's score: its points as a share of those it could have, less for length.

    Args:
        points: For each of `CRITERIA` the raters' points or their mean, from 1 to 5.
        n_characters: Length of the summary. More than 500 are penalised.

    Returns:
        The score, from 0 to 1. The rubric starts at 1 point of 5, so that only the length penalty
        goes below 0.2; an empty summary, of which the rubric says nothing, scores 0.

    Raises:
        ValueError: A criterion is missing or unknown, or its points are not from 1 to 5.

    Examples:
        >>> summary_score({"relevance": 5, "accuracy": 3, "fluency": 5, "coherence": 5}, 200)
        0.9
    """
    if set(points) != set(CRITERIA):
        raise ValueError(f"points are for {', '.join(points)}; they must be for {CRITERIA}")
    for criterion, value in points.items():
        if not COMPLETE_FAILURE <= value <= PASS:
            raise ValueError(f"{criterion}: {value} points; the rubric has 5, 3 and 1")
    if not n_characters:
        return 0.0
    return fmean(points.values()) / PASS * length_penalty(n_characters, LONGEST_SUMMARY)
