"""Simulate how often a checkpoint equal to the best is called different, and how lucky the best is.

Run it as `python performance/simulate_best.py [--repeats 2000]` (about ten minutes). Checkpoints
answer the same questions, some of which are harder, and the answers of neighbouring checkpoints are
correlated. The target is 5 % of simulations in which some equal run is called different.
"""

import argparse

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import norm

from hkcanto_tasks.results.statistics.intervals import mcnemar_p_value
from hkcanto_tasks.results.statistics.selection import all_pairs

FLAT, RISING = "flat", "rising"


def noise(
    rng: np.random.Generator, rows: int, runs: int, correlation: float
) -> np.ndarray:
    """Standard normal numbers; each run has this correlation with the run before it."""
    drawn = rng.normal(size=(rows, runs))
    for place in range(1, runs):
        own = np.sqrt(1 - correlation**2) * drawn[:, place]
        drawn[:, place] = correlation * drawn[:, place - 1] + own
    return drawn


def answers(
    rng: np.random.Generator, items: int, accuracies: np.ndarray, correlation: float
) -> np.ndarray:
    """Right and wrong answers, items × runs."""
    latent = noise(rng, items, len(accuracies), correlation) + rng.normal(
        size=(items, 1)
    )
    return (latent / np.sqrt(2) < norm.ppf(accuracies)).astype(float)


def choice(
    items: int, accuracies: np.ndarray, correlation: float, repeats: int
) -> list[float]:
    """Return figures in percent.

    How often McNemar's test, and ours, call some equal run different; how often all differences to
    the best are covered; and by how much the best is too high, in truth and as we report it.
    """
    rng, found = np.random.default_rng(0), []
    equal = accuracies == accuracies.max()
    for _ in range(repeats):
        right = answers(rng, items, accuracies, correlation)
        pairs, shares = all_pairs(right / items, draws=1_000), right.mean(axis=0)
        best = shares.argmax()
        wins = ((right[:, best, None] - right) > 0).sum(axis=0)
        losses = ((right[:, best, None] - right) < 0).sum(axis=0)
        naive = [
            mcnemar_p_value(*counts) < 0.05 for counts in zip(wins, losses, strict=True)
        ]
        reach, moves = pairs.critical * pairs.errors[best] + 1e-9, shares[best] - shares
        held = np.abs(moves - (accuracies[best] - accuracies)) <= reach
        lucky = pairs.figures[:, moves <= reach]
        said = (lucky.max(axis=1) - lucky.mean(axis=1)).mean()
        told = equal & (moves > reach)
        is_lost = bool((equal & np.array(naive)).any())
        row = (is_lost, told.any(), held.all(), shares[best] - accuracies[best], said)
        found.append(row)
    return list(100 * np.mean(found, axis=0))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2000)
    repeats = parser.parse_args().repeats
    titles = (
        "Runs",
        "Items",
        "Correlation",
        "McNemar",
        "all at once",
        "covered",
        "luck",
        "said",
    )
    table = Table(*titles, title="In %, and points")
    for runs, items, correlation, shape in (
        (20, 43, 0.0, FLAT),
        (20, 150, 0.0, FLAT),
        (20, 424, 0.0, FLAT),
        (20, 424, 0.8, FLAT),
        (20, 1500, 0.8, FLAT),
        (5, 424, 0.0, FLAT),
        (20, 424, 0.0, RISING),
    ):
        accuracies = np.full(runs, 0.6)
        if shape == RISING:
            accuracies[:-5] = np.linspace(0.3, 0.6, runs - 5, endpoint=False)
        shown = (
            f"{each:.1f}" for each in choice(items, accuracies, correlation, repeats)
        )
        table.add_row(f"{runs} {shape}", f"{items:,}", str(correlation), *shown)
    Console().print(table)


if __name__ == "__main__":
    main()
