"""How often intervals cover and gates let a worse run pass.

Run it as `python performance/simulate_intervals.py [--repeats 2000]` (about ten minutes).

Percentile bootstraps and normal intervals are set beside what `hkcanto_tasks.reports` computes. The
target is 93 to 97 % (5 % at most for a gate).
"""

import argparse
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

from hkcanto_tasks.reports.intervals import (
    loss_bound,
    paired_accuracy_interval,
    paired_mean_interval,
    ratio_interval,
)

SIZES = (30, 60, 78, 145, 500)
Ends = tuple[float, float]
Draw = Callable[[np.random.Generator, int], np.ndarray]

DIFFERENCES: dict[str, tuple[Draw, float]] = {
    "normal": (lambda rng, n: rng.normal(0.01, 0.1, n), 0.01),
    "heavy-tailed": (lambda rng, n: 0.005 + 0.08 * rng.standard_t(4, n), 0.005),
    "skewed": (lambda rng, n: rng.exponential(0.1, n), 0.1),
    "1 in 10 differs": (
        lambda rng, n: np.where(rng.random(n) < 0.1, rng.uniform(-0.3, 0.5, n), 0),
        0.01,
    ),
    "3 % lose 0.5 to 1": (
        lambda rng, n: np.where(
            rng.random(n) < 0.03, rng.uniform(0.5, 1, n), rng.normal(0, 0.01, n)
        ),
        0.0225,
    ),
}


def percentile(rng: np.random.Generator, rows: np.ndarray, tail: float = 0.025) -> Ends:
    """Percentiles of a bootstrap of the ratio of two sums."""
    weights = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=500)
    sums = weights @ rows
    low, high = np.quantile(sums[:, 0] / sums[:, 1], [tail, 1 - tail])
    return float(low), float(high)


def normal(errors: np.ndarray, lengths: np.ndarray) -> Ends:
    """The linearised normal interval of a pooled rate."""
    rate, count = errors.sum() / lengths.sum(), len(errors)
    residuals = errors - rate * lengths
    error = np.sqrt((residuals**2).sum() * count / (count - 1)) / lengths.sum()
    return max(0.0, rate - 1.96 * error), rate + 1.96 * error


def covers(ends: Ends, truth: float) -> bool:
    """Whether an interval holds the truth."""
    return ends[0] - 1e-9 <= truth <= ends[1] + 1e-9


def main() -> None:
    """Print a table of how often each interval covers, and one of how often each gate errs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2000)
    repeats = parser.parse_args().repeats
    rng = np.random.default_rng(0)
    coverage = Table("Interval", "items", "before", "now", title="Coverage in %")

    def add(name: str, items: int, held: list[tuple[bool, bool]]) -> None:
        before, now = 100 * np.mean(held, axis=0)
        coverage.add_row(name, str(items), f"{before:.1f}", f"{now:.1f}")

    for wins, losses in ((0.2, 0.15), (0.12, 0.08), (0.05, 0.02), (0.02, 0.01)):
        for items in SIZES:
            held = []
            for up, down, same in rng.multinomial(
                items, [wins, losses, 1 - wins - losses], size=repeats
            ).tolist():
                values = np.repeat([1.0, -1.0, 0.0], [up, down, same])
                old = percentile(rng, np.column_stack([values, np.ones(items)]))
                new = paired_accuracy_interval(up, down, items)
                held.append((covers(old, wins - losses), covers(new, wins - losses)))
            add(f"accuracies, {wins:.0%} won, {losses:.0%} lost", items, held)
    for name, (draw, truth) in DIFFERENCES.items():
        for items in SIZES:
            held = []
            for _ in range(repeats):
                values = draw(rng, items)
                old = percentile(rng, np.column_stack([values, np.ones(items)]))
                held.append((covers(old, truth), covers(paired_mean_interval(values), truth)))
            add(f"mean differences, {name}", items, held)
    for correlation in (0.05, 0.2):
        for rate in (0.02, 0.05, 0.12, 0.25):
            for items in SIZES:
                held = []
                for _ in range(repeats):
                    lengths = np.minimum(40, 2 + rng.geometric(1 / 12, items))
                    spread = 1 / correlation - 1
                    hardness = rng.beta(rate * spread, (1 - rate) * spread, items)
                    errors = rng.binomial(lengths, hardness)
                    old, new = normal(errors, lengths), ratio_interval(errors, lengths)
                    held.append((covers(old, rate), covers(new, rate)))
                add(f"rate of {rate:.0%}, correlation {correlation}", items, held)
    gates = Table("Loss", "δ", "items", "before", "now", title="Passed on the boundary, in %")
    for loss in (0.3, 0.5, 1):
        for delta in (0.02, 0.05):
            for items in (78, 145, 500):
                passed = []
                noise = 0.5 * (1 - delta / loss)
                for counts in rng.multinomial(
                    items, [noise, noise, delta / loss], size=repeats
                ).tolist():
                    values = np.repeat([-0.01, 0.01, loss], counts)
                    old = percentile(rng, np.column_stack([values, np.ones(items)]), 0.05)[1]
                    passed.append((old < delta, loss_bound(values, np.ones(items)) < delta))
                before, now = 100 * np.mean(passed, axis=0)
                gates.add_row(str(loss), str(delta), str(items), f"{before:.1f}", f"{now:.1f}")
    Console().print(coverage, gates)


if __name__ == "__main__":
    main()
