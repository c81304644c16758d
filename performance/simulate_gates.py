"""Simulate how often a gate passes a run that loses exactly the tolerance; it promises at most 5 %.

Run it as `python performance/simulate_gates.py [--repeats 1000]` (about ten minutes). Its results
are in docs/methods.md:

* units of unequal weight, drawn at random, by the largest weight of the sample and of the task;
* subjects that count alike, in complete runs and with `--limit`, losing in the smallest ones, in
  the largest, or everywhere;
* several looks at growing runs, and the choice among several candidates.
"""

import argparse
from collections.abc import Callable
from functools import cache

import numpy as np
from rich.console import Console
from rich.table import Table

from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.figures import subject_weights
from hkcanto_tasks.results.statistics.intervals import _tail, loss_bound

SIZES = (30, 78, 145, 500, 3000)
Rng = np.random.Generator
Floats = np.ndarray


# ---------------------------------------------------------------------- weights


def lengths(rng: Rng, items: int) -> Floats:
    """Sentences of 3 to 40 syllables."""
    return np.minimum(40.0, 2 + rng.geometric(1 / 12, items))


def passages(rng: Rng, items: int) -> Floats:
    """Passages of one question in two of three cases, otherwise of two to eight."""
    return np.where(rng.random(items) < 2 / 3, 1.0, rng.integers(2, 9, items))


def rare(rng: Rng, items: int) -> Floats:
    """One unit of 50 is a cluster of 20."""
    return np.where(rng.random(items) < 0.02, 20.0, 1.0)


def rarer(rng: Rng, items: int) -> Floats:
    """One unit of 200 is a cluster of 50."""
    return np.where(rng.random(items) < 0.005, 50.0, 1.0)


WEIGHTS: dict[str, tuple[Callable[[Rng, int], Floats], float]] = {
    "sentences": (lengths, 40.0),
    "passages of 1 to 8": (passages, 8.0),
    "1 of 50 weighs 20": (rare, 20.0),
    "1 of 200 weighs 50": (rarer, 50.0),
}


PATTERNS = ("heavy", "others", "all")


def passes(lost: Floats, weights: Floats, largest: float, delta: float) -> bool:
    """Whether `loss_bound` is below δ; one point of its curve is enough to decide this."""
    if weights @ lost >= delta * weights.sum() or (1 - delta) ** len(lost) > 0.05:
        return False  # no bound is below the loss itself, or below that of as many equal answers
    kinds, places = np.unique(lost + 1j * weights, return_inverse=True)
    counts = np.append(1.0, np.bincount(places))
    terms = np.append(largest * (1 - delta), kinds.imag * (kinds.real - delta))
    return _tail(terms, counts) < 0.05


def by_weight(
    name: str, which: str, items: int, delta: float, repeats: int
) -> tuple[float, float]:
    """Return how often a gate is passed, by the largest weight of the sample and of the task.

    The heaviest units, or all others, or all units lose everything just often enough for a loss of
    δ; the rest win one item in 20 and lose one in 20.
    """
    draw, largest = WEIGHTS[name]
    rng = np.random.default_rng(items)
    population = draw(rng, 1_000_000)
    chance = (
        delta
        * population.sum()
        / population[losing(population == largest, which)].sum()
    )
    if chance > 1 or (1 - delta) ** items > 0.05:
        return 0.0, 0.0
    passed = np.zeros(2)
    for _ in range(repeats):
        own = draw(rng, items)
        noise = rng.choice([-1.0, 0, 1], items, p=[0.05, 0.9, 0.05])
        lost = np.where(
            losing(own == largest, which), rng.random(items) < chance, noise
        )
        passed += [
            passes(lost, own, heaviest, delta) for heaviest in (own.max(), largest)
        ]
    sample, task = passed / repeats
    return sample, task


def losing(heavy: Floats, which: str) -> Floats:
    """Return which units lose more than they win."""
    return {"heavy": heavy, "others": ~heavy, "all": heavy | True}[which]


# ---------------------------------------------------------------------- subjects

STRATA = {
    "cultural": (find_task("hkcanto_cultural"), "subjects"),
    "sentiment": (find_task("hkcanto_sentiment"), "subjects"),
    "TMMLU+": (find_task("tmmluplus_gen"), "categories"),
}


def of_strata(name: str) -> tuple[Floats, Floats]:
    """Return the sizes of the subjects and their weights in the headline."""
    if name == "3 and 997":
        return np.array([3, 997]), np.array([0.5, 0.5])
    task, over = STRATA[name]
    sizes = {each.name: each.rows for each in task.subjects}
    categories = {each.name: each.category for each in task.subjects}
    weights = subject_weights(over, sizes, categories)
    return np.array([*sizes.values()]), np.array(
        [weights[own] * sizes[own] for own in sizes]
    )


def by_subject(name: str, which: str, items: int, delta: float, repeats: int) -> float:
    """Return how often a gate on a mean over subjects is passed with this number of items.

    The smallest half of the subjects (whose items weigh most), or the others, or all lose
    everything just often enough for a loss of δ; the rest win and lose one item in ten each.
    """
    sizes, shares = of_strata(name)
    counts = np.floor(sizes * items / sizes.sum() + 0.5).astype(int)
    if not counts.all() or items > sizes.sum():
        return np.nan
    small = np.isin(
        np.arange(len(sizes)), np.argsort(sizes, kind="stable")[: len(sizes) // 2]
    )
    lose = losing(small, which)
    chance = delta / shares[lose].sum()
    strata = np.repeat(np.arange(len(sizes)), counts)
    weights, rng = (shares / counts)[strata], np.random.default_rng(items)
    passed = 0
    for _ in range(repeats):
        noise = rng.choice([-1.0, 0, 1], len(strata), p=[0.1, 0.8, 0.1])
        lost = np.where(lose[strata], rng.random(len(strata)) < chance, noise)
        passed += passes(lost, weights, weights.max(), delta)
    return passed / repeats


# ---------------------------------------------------------------------- looks, candidates, tasks


@cache
def answers_pass(wins: int, losses: int, items: int, confidence: float) -> bool:
    """Whether answers pass a gate of 2 points."""
    if (losses - wins) / items >= 0.02:
        return False
    counts = np.array([wins, items - wins - losses, losses], float)
    return loss_bound(np.array([-1.0, 0.0, 1.0]), np.ones(3), confidence, counts) < 0.02


def by_looks(looks: int, repeats: int, *, shared: bool) -> float:
    """Return how often a run at the boundary of 2 points passes at any of equally spaced looks."""
    rng, confidence = np.random.default_rng(looks), 1 - 0.05 / (looks if shared else 1)
    each, passed = 2400 // looks, 0
    for _ in range(repeats):
        drawn = rng.multinomial(each, [0.1, 0.78, 0.12], size=looks).cumsum(axis=0)
        passed += any(
            answers_pass(wins, losses, wins + ties + losses, confidence)
            for wins, ties, losses in drawn.tolist()
        )
    return passed / repeats


def by_candidates(candidates: int, repeats: int, *, shared: bool) -> float:
    """Return how often any of several candidates passes, if all of them lose exactly 2 points.

    Given an item's easiness, the answers of the base and of each candidate are independent.
    """
    rng, passed, items = np.random.default_rng(candidates), 0, 1000
    confidence = 1 - 0.05 / (candidates if shared else 1)
    for _ in range(repeats):
        easy = rng.beta(2, 1, items)
        base = rng.random(items) < easy
        others = rng.random((candidates, items)) < easy * (
            1 - 0.02 * 1.5
        )  # the mean of easy is ⅔
        wins, losses = (others & ~base).sum(axis=1), (~others & base).sum(axis=1)
        passed += any(
            answers_pass(won, lost, items, confidence)
            for won, lost in zip(wins.tolist(), losses.tolist(), strict=True)
        )
    return passed / repeats


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000)
    repeats, console = parser.parse_args().repeats, Console(width=100)
    made = Table("", "number", "each at 95 %", "shared", title="Passed, in %")
    for name, count, passed in (
        *(("looks", count, by_looks) for count in (2, 4, 8)),
        *(("candidates", count, by_candidates) for count in (2, 10)),
    ):
        alone, shared = (
            passed(count, 4 * repeats, shared=each) for each in (False, True)
        )
        made.add_row(name, str(count), f"{100 * alone:.1f}", f"{100 * shared:.1f}")
    console.print(made)
    cells = [(delta, which) for delta in (0.05, 0.1) for which in PATTERNS]
    made = Table("Weights", "", *map(str, SIZES), title="Passed at most, in %")
    for name in WEIGHTS:
        found = [
            [by_weight(name, which, items, delta, repeats) for delta, which in cells]
            for items in SIZES
        ]
        worst = 100 * np.max(found, axis=1).T
        for title, row in zip(
            ("sample's largest", "task's largest"), worst, strict=True
        ):
            made.add_row(name, title, *(f"{each:.1f}" for each in row))
    console.print(made)
    made = Table(
        "Subjects", *map(str, SIZES), "all items", title="Passed at most, in %"
    )
    for name in (*STRATA, "3 and 997"):
        sizes = (*SIZES, int(of_strata(name)[0].sum()))
        found = [
            [by_subject(name, which, items, delta, repeats) for delta, which in cells]
            for items in sizes
        ]
        worst = (
            f"{each:.1f}" if each == each else ""
            for each in 100 * np.max(found, axis=1)
        )
        made.add_row(name, *worst)
    console.print(made)


if __name__ == "__main__":
    main()
