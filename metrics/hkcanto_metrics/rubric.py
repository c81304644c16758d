"""Score a summary from its rubric points (HKCanto-Eval, Appendix G.1)."""

from collections.abc import Mapping
from statistics import fmean

from hkcanto_metrics.fluency import length_penalty

CRITERIA = ("relevance", "accuracy", "fluency", "coherence")
PASS = 5
MINOR_VIOLATION = 3
COMPLETE_FAILURE = 1
POINTS = (PASS, MINOR_VIOLATION, COMPLETE_FAILURE)
LONGEST_SUMMARY = 500


def summary_score(points: Mapping[str, float], n_characters: int) -> float:
    """Return a summary's score: its points as a share of the maximum, times the length penalty.

    Args:
        points: For each of `CRITERIA`, the points of the rater or the mean of several, from 1 to 5.
        n_characters: Length of the summary. More than 500 characters are penalised.

    Returns:
        The score, from 0 to 1. The lowest points are 1 of 5, so a score below 0.2 is due to the
        length penalty. An empty summary, which the rubric does not cover, scores 0.

    Raises:
        ValueError: A criterion is missing or unknown, or its points are not from 1 to 5.

    Examples:
        >>> summary_score({"relevance": 5, "accuracy": 3, "fluency": 5, "coherence": 5}, 200)
        0.9
    """
    if set(points) != set(CRITERIA):
        raise ValueError(
            f"points are for {', '.join(points)}; they must be for {CRITERIA}"
        )
    for criterion, value in points.items():
        if not COMPLETE_FAILURE <= value <= PASS:
            raise ValueError(f"{criterion}: {value} points; the rubric has 5, 3 and 1")
    if not n_characters:
        return 0.0
    share = fmean(points.values()) / PASS
    return share * length_penalty(n_characters, LONGEST_SUMMARY)
