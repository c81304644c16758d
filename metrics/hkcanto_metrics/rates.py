"""Error rates that keep their counts, and estimates with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean


@dataclass(frozen=True, slots=True)
class RateEstimate:
    """A figure with its confidence interval.

    Attributes:
        value: The figure.
        low: Lower end of the interval, 95 % by default; NaN if there are too few items.
        high: Upper end; NaN if there are too few items.
        standard_error: Standard error of the figure; NaN if it is unknown.
    """

    value: float
    low: float
    high: float
    standard_error: float = math.nan


class Rate(float):
    """An error rate of one item: a plain number that also knows its numerator and denominator.

    A corpus rate is summed errors over summed length, not the mean of the items' rates. Evaluation
    harnesses pass only the items' values to their aggregation functions, so the two counts travel
    inside the value. They survive pickling; in JSON the rate is an ordinary number.

    Attributes:
        errors: Number of errors.
        total: Number of units that could be wrong, such as the characters of the reference.

    Examples:
        >>> Rate.of(1, 4), Rate.of(1, 4).total
        (0.25, 4)
    """

    errors: int
    total: int

    @classmethod
    def of(
        cls,
        errors: int,
        total: int,
    ) -> Rate:
        """Make a rate from its counts.

        Args:
            errors: Number of errors, from 0 up; may exceed ``total`` where insertions are errors.
            total: Length of the reference, from 0 up.

        Returns:
            errors / total. If total is 0, the number of errors, as in jiwer.
        """
        rate = cls(errors / (total or 1))
        rate.errors = errors
        rate.total = total
        return rate


def pool_rates(rates: Iterable[float]) -> float:
    """Pool the items' rates into one corpus rate.

    Args:
        rates: The items' rates.

    Returns:
        Summed errors over summed totals. If any item is a plain float, which has lost its counts
        (for example because it was read from a log), the mean of all values.

    Raises:
        ValueError: There is nothing to pool.

    Examples:
        >>> pool_rates([Rate.of(1, 10), Rate.of(1, 2)])  # 2 errors in 12; the mean would be 0.3
        0.16666666666666666
    """
    items = list(rates)
    if not items:
        raise ValueError("no rates to pool: the list is empty; score at least one item")
    errors = total = 0
    for rate in items:
        if not isinstance(rate, Rate):
            return fmean(items)
        errors += rate.errors
        total += rate.total
    return float(Rate.of(errors, total))
