"""Ranks among results with intervals: results that do not differ significantly share ranks."""

from collections.abc import Mapping
from typing import NamedTuple

from ..statistics.intervals import Estimate


class Rank(NamedTuple):
    """The best and the worst rank that a result can have, and the number of results."""

    best: int
    worst: int
    of: int

    @property
    def text(self) -> str:
        """The ranks as text.

        Examples:
            >>> Rank(2, 4, 9).text, Rank(1, 1, 9).text
            ('2–4', '1')
        """
        return str(self.best) if self.best == self.worst else f"{self.best}–{self.worst}"


def exact(score: float) -> Estimate:
    """Return a published score as an exact value."""
    return Estimate(score, score, score, 0)


def ranks(results: Mapping[str, Estimate], *, lower_is_better: bool) -> Mapping[str, Rank]:
    """Return the ranks of results on the same task under one condition.

    A result is ahead of another if the 95 % interval of their difference is above 0. The interval
    is Newcombe's (1998, method 10), from both intervals, as for independent samples. This is
    cautious, since the models answered the same items and their answers are correlated. The best
    rank counts the results ahead, the worst all that are not behind.

    Args:
        results: Model → its figure. Without an interval it never differs significantly.
        lower_is_better: Whether a lower figure is better.

    Examples:
        >>> made = {"a": Estimate(0.6, 0.55, 0.65, 9), "b": Estimate(0.58, 0.53, 0.63, 9),
        ...         "c": Estimate(0.4, 0.35, 0.45, 9)}
        >>> {name: rank.text for name, rank in ranks(made, lower_is_better=False).items()}
        {'a': '1–2', 'b': '1–2', 'c': '3'}
    """
    found = {}
    for name, own in results.items():
        others = [each for other, each in results.items() if other != name]
        ahead = sum(_ahead(each, own, lower_is_better) for each in others)
        behind = sum(_ahead(own, each, lower_is_better) for each in others)
        found[name] = Rank(1 + ahead, len(results) - behind, len(results))
    return found


def _ahead(one: Estimate, other: Estimate, lower_is_better: bool) -> bool:
    """Return whether one result is better than another by more than chance."""
    better, worse = (other, one) if lower_is_better else (one, other)
    if better.low is None or worse.high is None:
        return False
    difference = better.value - worse.value
    reach = ((better.value - better.low) ** 2 + (worse.high - worse.value) ** 2) ** 0.5
    return difference > 0 and difference > reach
