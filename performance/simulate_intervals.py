"""Simulate the coverage of intervals, and how often gates let a worse run pass.

Run it as `python performance/simulate_intervals.py [--repeats 2000]` (about ten minutes). With
`--answers responses_by_model.csv.gz` (real models' answers: model, subject, shots, item, gold,
letter) it measures how often the interval of a run with `--limit` covers the full run's score, and
whether a plan has the promised power; `--half 1` leaves out every second model, and `--half 2` the
others.

Percentile bootstraps and normal intervals are compared with those of `results.statistics`. The
target is 93 to 97 % (5 % at most for a gate).
"""

import argparse
import csv
import gzip
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from hkcanto_metrics.agreement import Correlation, corrected_mean
from hkcanto_metrics.agreement import correlation as correlation_of
from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.figures import Over, subject_weights
from hkcanto_tasks.results.statistics import power
from hkcanto_tasks.results.statistics.estimates import (
    mean_estimate,
    rate_estimate,
    weighted_estimate,
)
from hkcanto_tasks.results.statistics.intervals import (
    Estimate,
    effective_draws,
    loss_bound,
    mcnemar_p_value,
    paired_accuracy_interval,
    paired_mean_interval,
    tango_interval,
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


SUBJECTS: dict[str, np.ndarray] = {
    "65 of 20 to 90, one of 2,203": np.append(
        np.linspace(20, 90, 65).astype(int), 2203
    ),
    "20 of 10 to 2,203": np.geomspace(10, 2203, 20).astype(int),
    "16 of 15 to 64": np.linspace(15, 64, 16).astype(int),
    "10 of 10": np.full(10, 10),
}
"""Sizes of subjects: like TMMLU+ with a large one, from tiny to large, like the law exam, tiny."""


def mover(found: np.ndarray, means: np.ndarray) -> Ends:
    """Combine the intervals of subjects with equal weights (Zou, Huang and Zhang, 2009)."""
    below, above = np.linalg.norm(means[:, None] - found, axis=0) / len(means)
    return float(means.mean() - below), float(means.mean() + above)


def of_subjects(
    rng: np.random.Generator, sizes: np.ndarray, share: float
) -> tuple[bool, bool]:
    """Whether MOVER's interval and the present one cover a mean over subjects."""
    strata = np.repeat(np.arange(len(sizes)), sizes)
    right = (rng.random(len(strata)) < share).astype(float)
    hits = np.bincount(strata, right)
    own = np.transpose(proportion_confint(hits, sizes, method="wilson"))
    shares = (1 / len(sizes) / sizes)[strata]
    now = _ends(weighted_estimate(right, shares, np.arange(len(right)), strata))
    return covers(mover(own, hits / sizes), share), covers(now, share)


def of_paired_subjects(
    rng: np.random.Generator, sizes: np.ndarray, share: float
) -> bool:
    """Whether the present interval covers the difference of two models' means over subjects."""
    strata = np.repeat(np.arange(len(sizes)), sizes)
    draws, lost, won = rng.random(len(strata)), 0.2 * (1 - share), 0.3 * (1 - share)
    changes = (draws < won).astype(float) - (draws > 1 - lost)
    shares = (1 / sizes / len(sizes))[strata]
    up, down = float(shares @ (changes > 0)), float(shares @ (changes < 0))
    of = changes, shares, np.arange(len(changes)), up + down - (up - down) ** 2, strata
    return covers(tango_interval(up, down, effective_draws(*of)), won - lost)


def passages(rng: np.random.Generator, count: int, share: float) -> tuple[bool, bool]:
    """Whether Wilson's interval with z and the present one cover, on passages of five questions."""
    easy = rng.beta(
        4 * share, 4 * (1 - share), count
    )  # an intraclass correlation of 0.2
    clusters = np.repeat(np.arange(count), 5)
    right = (rng.random(5 * count) < easy[clusters]).astype(float)
    sums = np.bincount(clusters, right - right.mean())
    error = float((sums**2).sum() * count / (count - 1)) / len(right) ** 2
    mean = float(right.mean())
    draws = min(len(right), mean * (1 - mean) / error) if error else count
    old = proportion_confint(mean * draws, draws, method="wilson")
    return covers(old, share), covers(_ends(mean_estimate(right, clusters)), share)


def at_limit(rng: np.random.Generator, items: int, share: float) -> tuple[bool, bool]:
    """Whether the normal interval and the present one cover a mean with a share of ones.

    The other items are uniform from 0 to 1.
    """
    values = np.where(rng.random(items) < share, 1.0, rng.random(items))
    truth, now = (1 + share) / 2, mean_estimate(values, np.arange(items))
    return covers(normal(values, np.ones(items)), truth), covers(_ends(now), truth)


def with_loops(
    rng: np.random.Generator, items: int, share: float
) -> tuple[bool, bool, bool]:
    """For a rate with runaway responses: whether it is covered, one was seen, and both."""
    lengths = np.minimum(40, 2 + rng.geometric(1 / 12, items)).astype(float)
    errors = rng.binomial(lengths.astype(int), rng.beta(0.95, 18.05, items)).astype(
        float
    )
    loops = rng.random(items) < share
    errors[loops] = lengths[loops] * rng.uniform(5, 40, loops.sum())
    found = rate_estimate(errors / lengths, lengths, np.arange(items))
    held = covers(_ends(found), 0.05 * (1 - share) + 22.5 * share)
    return held, bool(loops.any()), held and bool(loops.any())


def heavy_tailed(rng: np.random.Generator, items: int) -> tuple[np.ndarray, np.ndarray]:
    """Two scores with Student's t distribution with three degrees of freedom, correlated by 0.8."""
    tail = np.sqrt(rng.chisquare(3, items) / 3)
    one, other = rng.normal(size=(2, items))
    return one / tail, (0.8 * one + 0.6 * other) / tail


def with_ties(rng: np.random.Generator, items: int) -> tuple[np.ndarray, np.ndarray]:
    """Two scores from 1 to 5, of two raters who tend to agree."""
    one, other = rng.normal(size=(2, items))
    scores = np.digitize([one, 0.8 * one + 0.6 * other], [-1.5, -0.7, 0.2, 1.0])
    return scores[0].astype(float), scores[1].astype(float)


def fisher(kind: Correlation, value: float, items: int) -> Ends:
    """Intervals by Fisher's transformation alone (Bonett and Wright, 2000)."""
    variance = {
        "pearson": 1 / (items - 3),
        "spearman": (1 + value**2 / 2) / (items - 3),
        "kendall": 0.437 / (items - 4),
    }[kind]
    low, high = np.tanh(np.arctanh(value) + np.array([-1.96, 1.96]) * np.sqrt(variance))
    return float(low), float(high)


CORRELATIONS: dict[Correlation, Callable[..., Any]] = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall": stats.kendalltau,
}


def of_people(rng: np.random.Generator, items: int, share: float) -> bool:
    """Whether a mean corrected by this many human verdicts is covered; most verdicts are 1."""
    good = (rng.random(items + 500) < share).astype(float)
    judge = np.clip(0.7 * good + 0.3 * rng.random(len(good)), 0, 1)
    found = corrected_mean(good[:items], judge[:items], judge[items:])
    return covers((found.low, found.high), share)


def further(rng: np.random.Generator, repeats: int) -> list[Table]:
    """Return tables of means near a limit, of rates with loops, and of agreement with people."""
    title = "Coverage in %"
    means = Table("Mean", "before", "now", title=title)
    kinds: list[tuple[str, Callable[[], bool | tuple[bool, bool]]]] = []
    for share in (0.5, 0.7, 0.9, 0.97, 0.99):
        for name, sizes in SUBJECTS.items():
            kinds.append(
                (f"{share:.0%}, {name}", partial(of_subjects, rng, sizes, share))
            )
            of_pairs = partial(of_paired_subjects, rng, sizes, share)
            kinds.append((f"difference at {share:.0%}, {name}", of_pairs))
    for count in (8, 12, 20):
        for share in (0.5, 0.7, 0.9):
            name = f"{share:.0%}, {count} passages"
            kinds.append((name, partial(passages, rng, count, share)))
    for items in (*SIZES, 20):
        name = f"92 % of {items} at the limit"
        kinds.append((name, partial(at_limit, rng, items, 0.92)))
    for name, held in kinds:
        shown = 100 * np.atleast_1d(np.mean([held() for _ in range(repeats)], axis=0))
        means.add_row(
            name, *[""] * (2 - len(shown)), *(f"{each:.1f}" for each in shown)
        )
    loops = Table("Loops", "items", "covered", "seen", "covered if seen", title=title)
    for share in (0.01, 0.02):
        for items in SIZES:
            both = np.mean(
                [with_loops(rng, items, share) for _ in range(repeats)], axis=0
            )
            shown = 100 * np.array([both[0], both[1], both[2] / both[1]])
            loops.add_row(
                f"{share:.0%}", str(items), *(f"{each:.1f}" for each in shown)
            )
    agreement = Table("Agreement", "items", "before", "now", title=title)
    for draw in (heavy_tailed, with_ties):
        every = draw(rng, 20_000)
        for kind, compute in CORRELATIONS.items():
            truth = float(compute(*every).statistic)
            for items in (30, 100, 300):
                pairs = [draw(rng, items) for _ in range(repeats // 4)]
                old = [fisher(kind, compute(*pair).statistic, items) for pair in pairs]
                made = [correlation_of(kind, *pair) for pair in pairs]
                new = [(each.low, each.high) for each in made]
                shown = [
                    100 * np.mean([covers(each, truth) for each in ends])
                    for ends in (old, new)
                ]
                name = f"{kind}, {draw.__name__.replace('_', ' ')}"
                agreement.add_row(name, str(items), *(f"{each:.1f}" for each in shown))
    for items in (30, 60, 120, 300):
        share = 100 * np.mean([of_people(rng, items, 0.9) for _ in range(repeats)])
        agreement.add_row(
            "people's mean, 90 % at the limit", str(items), "", f"{share:.1f}"
        )
    return [means, loops, agreement]


def subjects_of(name: str, over: Over) -> tuple[np.ndarray, np.ndarray]:
    """Return the sizes of a task's subjects and what each counts in a mean."""
    subjects = find_task(name).subjects
    sizes = {each.name: each.rows for each in subjects}
    of = subject_weights(over, sizes, {each.name: each.category for each in subjects})
    return np.array([*sizes.values()]), np.array(
        [of[own] * sizes[own] for own in sizes]
    )


def of_unlike_subjects(
    rng: np.random.Generator, sizes: np.ndarray, shares: np.ndarray, easy: np.ndarray
) -> tuple[bool, bool]:
    """Whether a mean over subjects of unequal difficulty is covered, and a difference."""
    strata = np.repeat(np.arange(len(sizes)), sizes)
    draws, changed = rng.random(len(strata)), 0.25 * (1 - easy)[strata]
    own, right = (shares / sizes)[strata], (draws < easy[strata]).astype(float)
    now = _ends(weighted_estimate(right, own, np.arange(len(right)), strata))
    changes = (draws < changed).astype(float) - (draws > 1 - 0.6 * changed)
    up, down = float(own @ (changes > 0)), float(own @ (changes < 0))
    of = changes, own, np.arange(len(changes)), up + down - (up - down) ** 2, strata
    ends = tango_interval(up, down, effective_draws(*of))
    return covers(now, float(shares @ easy)), covers(
        ends, float(0.1 * shares @ (1 - easy))
    )


def of_uneven_passages(
    rng: np.random.Generator, count: int, most: int, share: float, correlation: float
) -> bool:
    """Whether a mean over passages of 2 up to a maximum of questions is covered."""
    spread = 1 / correlation - 1
    easy = rng.beta(spread * share, spread * (1 - share), count)
    clusters = np.repeat(np.arange(count), rng.integers(2, most + 1, count))
    right = (rng.random(len(clusters)) < easy[clusters]).astype(float)
    return covers(_ends(mean_estimate(right, clusters)), share)


def of_scores(rng: np.random.Generator, items: int) -> bool:
    """Whether a mean is covered if 80 % of the items are 1, 5 % are 0 and the others between."""
    drawn = rng.random(items)
    values = np.where(drawn < 0.8, 1.0, np.where(drawn < 0.85, 0.0, rng.random(items)))
    return covers(_ends(mean_estimate(values, np.arange(items))), 0.875)


def held_out(rng: np.random.Generator, repeats: int) -> Table:
    """Return a table of held-out cells, which were fixed before their first run.

    Every subject has its own share of right answers. The standard deviation of the shares is 0.1
    if half of the answers are right.
    """
    table = Table("Mean, held out", "mean", "difference", title="Coverage in %")
    of: list[tuple[str, Over, float]] = [
        ("tmmluplus_gen", "categories", 0.85),
        ("tmmluplus_gen", "categories", 0.95),
        ("tmmluplus_gen", "categories", 0.985),
        ("hkcanto_cultural", "subjects", 0.8),
        ("hkcanto_sentiment", "subjects", 0.97),
        ("hkmmlu", "subjects", 0.7),
        ("hkmmlu", "subjects", 0.96),
        ("25 of 30", "subjects", 0.93),
    ]
    for name, over, share in of:
        alike = np.full(25, 30), np.full(25, 1 / 25)
        sizes, shares = alike if name == "25 of 30" else subjects_of(name, over)
        easy = rng.beta(24 * share, 24 * (1 - share), len(sizes))
        draw = partial(of_unlike_subjects, rng, sizes, shares, easy)
        shown = 100 * np.mean([draw() for _ in range(repeats)], axis=0)
        table.add_row(f"{share:.1%}, {name}", *(f"{each:.1f}" for each in shown))
    for count, most, share, correlation in (
        (8, 9, 0.6, 0.3),
        (14, 6, 0.8, 0.1),
        (30, 12, 0.9, 0.4),
    ):
        draw = partial(of_uneven_passages, rng, count, most, share, correlation)
        name = (
            f"{share:.0%}, {count} passages of 2 to {most}, correlation {correlation}"
        )
        table.add_row(name, f"{100 * np.mean([draw() for _ in range(repeats)]):.1f}")
    for items in (25, 50):
        found = np.mean([of_scores(rng, items) for _ in range(repeats)])
        table.add_row(f"80 % at 1, 5 % at 0, {items} items", f"{100 * found:.1f}")
    return table


def _ends(of: Estimate) -> Ends:
    return of.low or 0.0, 1.0 if of.high is None else of.high


def covers(ends: Ends, truth: float) -> bool:
    """Whether an interval holds the truth."""
    return ends[0] - 1e-9 <= truth <= ends[1] + 1e-9


def real_models(path: Path, half: int, repeats: int) -> None:
    """Print how often plans for real models' answers hold what they promise."""
    right: dict[tuple[str, str], list[bool]] = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            right[row["shots"], row["model"]].append(row["letter"] == row["gold"])
    names = sorted({model for _, model in right})
    chosen = {0: names, 1: names[::2], 2: names[1::2]}[half]
    runs = {key: np.array(own, int) for key, own in right.items() if key[1] in chosen}
    rng = np.random.default_rng(0)
    kinds = ("formula", "gate")
    promised: dict[str, list[float]] = {kind: [] for kind in kinds}
    pairs = [pair for pair in combinations(runs, 2) if pair[0][0] == pair[1][0]]
    for a, b in (pairs[place] for place in rng.permutation(len(pairs))[:200]):
        plans(promised, runs[b] - runs[a], repeats // 10, rng)
    table = Table(
        "Plan", "mean", "lowest", "highest", "pairs", title="Power in %, of 80 promised"
    )
    for kind, found in promised.items():
        shown = 100 * np.mean(found), 100 * np.min(found), 100 * np.max(found)
        table.add_row(kind, *(f"{each:.1f}" for each in shown), str(len(found)))
    Console().print(table)


def plans(
    promised: dict[str, list[float]],
    changes: np.ndarray,
    repeats: int,
    rng: np.random.Generator,
) -> None:
    """Measure the power of plans for two real runs, on answers drawn anew for each question."""
    changes = changes if changes.sum() >= 0 else -changes
    share, gain = float((changes != 0).mean()), float(changes.mean())
    wins = float((changes > 0).mean())

    def drawn(items: int, chances: list[float]) -> list[list[int]]:
        return rng.multinomial(
            items, [*chances, 1 - sum(chances)], size=repeats
        ).tolist()

    if gain > 0.01:
        items = power.items_to_show(share**0.5, gain)
        found = [
            mcnemar_p_value(*each[:2]) < 0.05
            for each in drawn(items, [wins, share - wins])
        ]
        promised["formula"].append(float(np.mean(found)))
    if gain > 0.05:
        return
    loss, delta = gain, gain + 0.02
    spread = power.spread_of_discordance(Estimate(share, None, None, 0))
    items = power.items_for_bound(spread, delta, loss) or 1
    counts = np.array(drawn(items, [share - wins, wins]), float)
    passed = [
        loss_bound(np.array([-1.0, 1.0, 0.0]), np.ones(3), copies=each) < delta
        for each in counts
    ]
    promised["gate"].append(float(np.mean(passed)))


def main() -> None:
    """Print a table of the intervals' coverage, and one of the gates' error rates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2000)
    parser.add_argument("--answers", type=Path)
    parser.add_argument(
        "--further", action="store_true", help="the last three tables alone"
    )
    parser.add_argument("--half", type=int, choices=(0, 1, 2), default=0)
    parser.add_argument(
        "--held-out", action="store_true", help="cells that nothing was tuned on"
    )
    given = parser.parse_args()
    repeats, rng = given.repeats, np.random.default_rng(0)
    if given.held_out:
        Console().print(held_out(rng, repeats))
        return
    if given.further:
        Console().print(*further(rng, repeats))
        return
    if given.answers:
        real_models(given.answers, given.half, repeats)
        return
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
                held.append(
                    (covers(old, truth), covers(paired_mean_interval(values), truth))
                )
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
                    new = rate_estimate(
                        errors / lengths, lengths.astype(float), np.arange(items)
                    )
                    old = normal(errors, lengths)
                    held.append((covers(old, rate), covers(_ends(new), rate)))
                add(f"rate of {rate:.0%}, correlation {correlation}", items, held)
    gates = Table(
        "Loss", "δ", "items", "before", "now", title="Passed on the boundary, in %"
    )
    for loss in (0.3, 0.5, 1):
        for delta in (0.02, 0.05):
            for items in (78, 145, 500):
                passed = []
                noise = 0.5 * (1 - delta / loss)
                for counts in rng.multinomial(
                    items, [noise, noise, delta / loss], size=repeats
                ).tolist():
                    values = np.repeat([-0.01, 0.01, loss], counts)
                    old = percentile(
                        rng, np.column_stack([values, np.ones(items)]), 0.05
                    )[1]
                    passed.append(
                        (old < delta, loss_bound(values, np.ones(items)) < delta)
                    )
                before, now = 100 * np.mean(passed, axis=0)
                gates.add_row(
                    str(loss), str(delta), str(items), f"{before:.1f}", f"{now:.1f}"
                )
    Console().print(coverage, gates, *further(rng, repeats))


if __name__ == "__main__":
    main()
