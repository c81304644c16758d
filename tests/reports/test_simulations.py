"""Coverage of intervals and error rates of gates, by enumeration and simulation.

`performance/simulate_intervals.py` and `simulate_gates.py` do more of the same, and compare it with
other methods.
"""

import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from hkcanto_tasks.results.statistics.estimates import mean_estimate, rate_estimate
from hkcanto_tasks.results.statistics.intervals import (
    loss_bound,
    non_inferiority,
    paired_accuracy_interval,
    paired_mean_interval,
)

from ..scripts import load_script

SIZES = (30, 78, 500)
ENUMERATED = [30, *(pytest.param(size, marks=pytest.mark.slow) for size in SIZES[1:])]
REPEATS = 1000
# Three standard errors of a share of 95 % in this many repeats are 2 points.
ERROR = 3 * np.sqrt(0.95 * 0.05 / REPEATS)

Numbers = np.ndarray
ANSWERS = (
    Path(os.environ.get("HKCANTO_DATA_DIR", ""))
    / "yue_benchmark/responses_by_model.csv.gz"
)


def covers(interval: tuple[float, float], truth: float) -> bool:
    return interval[0] - 1e-9 <= truth <= interval[1] + 1e-9


def tables(items: int, wins: float, losses: float) -> Iterator[tuple[int, int, float]]:
    """All likely numbers of wins and losses, with their probabilities."""
    grid = [(i, j) for i in range(items + 1) for j in range(items + 1 - i)]
    counts = np.column_stack([grid, items - np.sum(grid, axis=1)])
    chances = multinomial.pmf(counts, items, [wins, losses, 1 - wins - losses])
    for (i, j), chance in zip(grid, chances, strict=True):
        if chance > 1e-6:
            yield i, j, chance


# --- intervals


@pytest.mark.parametrize("items", ENUMERATED)
@pytest.mark.parametrize(
    ("wins", "losses"),
    [
        pytest.param(0.20, 0.15, id="accuracies 50 and 55 %"),
        pytest.param(0.12, 0.08, id="accuracies 75 and 79 %"),
        pytest.param(0.05, 0.02, id="accuracies 92 and 95 %"),
    ],
)
def test_differences_of_accuracies_are_covered(items: int, wins: float, losses: float):
    # By enumeration. With 30 items and 95 %, two discordant items are expected: too few for any
    # interval to err as often as it may.
    held = sum(
        chance
        for i, j, chance in tables(items, wins, losses)
        if covers(paired_accuracy_interval(i, j, items), wins - losses)
    )
    assert 0.945 < held < (0.97 if items * (wins + losses) > 4 else 1)


@pytest.mark.parametrize("items", ENUMERATED)
def test_equal_accuracies_are_covered_at_least_as_often_as_the_exact_test_says(
    items: int,
):
    for share in (0.02, 0.05, 0.15):
        held = sum(
            chance
            for i, j, chance in tables(items, share, share)
            if covers(paired_accuracy_interval(i, j, items), 0)
        )
        assert held > 0.95


def normal(rng: np.random.Generator, items: int) -> Numbers:
    return rng.normal(0.01, 0.1, items)


def heavy_tailed(rng: np.random.Generator, items: int) -> Numbers:
    return 0.005 + 0.08 * rng.standard_t(4, items)


def skewed(rng: np.random.Generator, items: int) -> Numbers:
    return rng.exponential(0.1, items)


def sparse(rng: np.random.Generator, items: int) -> Numbers:
    return np.where(rng.random(items) < 0.1, rng.uniform(-0.3, 0.5, items), 0)


@pytest.mark.slow
@pytest.mark.parametrize("items", SIZES)
@pytest.mark.parametrize(
    ("draw", "truth"),
    [(normal, 0.01), (heavy_tailed, 0.005), (skewed, 0.1), (sparse, 0.01)],
)
def test_mean_differences_are_covered(
    draw: Callable[[np.random.Generator, int], Numbers], truth: float, items: int
):
    rng = np.random.default_rng(items)
    held = np.mean(
        [covers(paired_mean_interval(draw(rng, items)), truth) for _ in range(REPEATS)]
    )
    # If three of 30 items differ, the interval always holds.
    most = 1 if draw is sparse and items < 78 else 0.97
    assert 0.95 - ERROR < held < most + ERROR


def sentences(
    rng: np.random.Generator, items: int, rate: float
) -> tuple[Numbers, Numbers]:
    """Errors and lengths of sentences of 3 to 40 syllables, some harder than others."""
    lengths = np.minimum(40, 2 + rng.geometric(1 / 12, items))
    spread = 1 / 0.05 - 1  # an intraclass correlation of 0.05
    hardness = rng.beta(rate * spread, (1 - rate) * spread, items)
    return rng.binomial(lengths, hardness).astype(float), lengths.astype(float)


@pytest.mark.slow
@pytest.mark.parametrize("items", SIZES)
@pytest.mark.parametrize("rate", [0.02, 0.05, 0.12, 0.25])
def test_pooled_rates_are_covered(rate: float, items: int):
    rng = np.random.default_rng(items)
    held = 0
    for _ in range(REPEATS):
        errors, lengths = sentences(rng, items, rate)
        found = rate_estimate(errors / lengths, lengths, np.arange(items))
        held += covers((found.low, found.high), rate)
    few = items * rate < 1
    assert 0.95 - ERROR < held / REPEATS < (1 if few else 0.97 + ERROR)


@pytest.mark.slow
@pytest.mark.parametrize("items", SIZES)
def test_differences_of_pooled_rates_are_covered(items: int):
    rng = np.random.default_rng(items)
    held = 0
    for _ in range(REPEATS):
        lengths = np.minimum(40, 2 + rng.geometric(1 / 12, items))
        hardness = rng.beta(0.06 * 19, 0.94 * 19, items)
        a, b = rng.binomial(lengths, hardness), rng.binomial(lengths, 0.7 * hardness)
        found = paired_mean_interval((b - a) / lengths, weights=lengths)
        held += covers(found, -0.3 * 0.06)
    assert 0.95 - ERROR < held / REPEATS < 0.97 + ERROR


@pytest.mark.slow
@pytest.mark.parametrize(("questions", "epochs"), [(20, 10), (78, 4)])
def test_epochs_are_covered(questions: int, epochs: int):
    rng = np.random.default_rng(questions)
    clusters = np.repeat(np.arange(questions), epochs)
    held = 0
    for _ in range(REPEATS):
        easy = rng.beta(2, 1, questions)
        shares = np.repeat(easy, epochs), np.repeat(easy * 0.9, epochs)
        a, b = (rng.random(len(clusters)) < share for share in shares)
        held += covers(
            paired_mean_interval(b.astype(float) - a, clusters), -0.1 * 2 / 3
        )
    assert 0.95 - ERROR < held / REPEATS < 0.97 + ERROR


# --- means over subjects, clusters, limits

STUDY = load_script("performance/simulate_intervals.py")
FEW = 800  # repeats


def held(draw: Callable[..., object], *of: object) -> float:
    """How often the present interval covers in the study's draws."""
    rng = np.random.default_rng(7)
    return float(np.mean([np.ravel(draw(rng, *of))[-1] for _ in range(FEW)]))


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, 0.7, 0.9, 0.97])
@pytest.mark.parametrize("sizes", STUDY.SUBJECTS)
def test_means_over_subjects_are_covered(sizes: str, share: float):
    assert 0.925 < held(STUDY.of_subjects, STUDY.SUBJECTS[sizes], share) < 0.99


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [*STUDY.SUBJECTS][:3])
def test_means_over_subjects_are_covered_at_99_percent(sizes: str):
    # Not for 100 items, with one expected wrong: plain accuracy has 92 % there, too.
    assert 0.925 < held(STUDY.of_subjects, STUDY.SUBJECTS[sizes], 0.99) < 0.99


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, 0.7, 0.9, 0.97])
@pytest.mark.parametrize("sizes", STUDY.SUBJECTS)
def test_differences_of_means_over_subjects_are_covered(sizes: str, share: float):
    found = held(STUDY.of_paired_subjects, STUDY.SUBJECTS[sizes], share)
    few = STUDY.SUBJECTS[sizes].sum() * (1 - share) * 0.5 < 20  # differing items
    assert 0.925 < found <= (1 if few else 0.98)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, 0.7, 0.9])
@pytest.mark.parametrize("count", [8, 12, 20])
def test_means_over_few_passages_are_covered(count: int, share: float):
    assert 0.925 < held(STUDY.passages, count, share) <= 0.995


@pytest.mark.slow
@pytest.mark.parametrize("items", [20, 30, 60, 145, 500])
def test_means_near_a_limit_are_covered(items: int):
    assert 0.915 < held(STUDY.at_limit, items, 0.92) < 0.985


@pytest.mark.slow
@pytest.mark.parametrize("items", [78, 145, 500])
def test_rates_with_loops_are_covered_if_a_loop_was_seen(items: int):
    rng = np.random.default_rng(7)
    drawn = [STUDY.with_loops(rng, items, 0.02) for _ in range(FEW)]
    covered, seen, both = np.mean(drawn, axis=0)
    assert both / seen > 0.9
    assert covered < 0.96  # because an unseen loop is unknown


@pytest.mark.slow
@pytest.mark.parametrize(("items", "share"), [(30, 0.9), (60, 0.9), (120, 0.95)])
def test_what_people_would_say_is_covered_near_a_limit(items: int, share: float):
    # A normal interval, or Student's on all items, covers in 88 to 90 % with 30 items.
    assert 0.915 < held(STUDY.of_people, items, share) < 0.985


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "most", "share", "correlation"),
    [(8, 9, 0.6, 0.3), (14, 6, 0.8, 0.1), (30, 12, 0.9, 0.4), (40, 10, 0.97, 0.6)],
)
def test_uneven_passages_are_covered(
    count: int, most: int, share: float, correlation: float
):
    # With Student's t on all passages, coverage of the last two is 92 % and 84 to 86 %.
    assert (
        0.925 < held(STUDY.of_uneven_passages, count, most, share, correlation) < 0.99
    )


@pytest.mark.parametrize(("few", "items"), [(1, 100), (1, 50), (2, 100)])
def test_a_share_of_which_few_are_wrong_is_covered(few: int, items: int):
    # By enumeration. Wilson's interval holds in 91 to 92 % if one wrong answer is expected.
    found = 0.0
    for wrong in range(12):
        made = mean_estimate(
            np.repeat([0.0, 1.0], [wrong, items - wrong]), np.arange(items)
        )
        own = covers((made.low, made.high), 1 - few / items)
        found += own * binom.pmf(wrong, items, few / items)
    assert 0.93 < found < 0.99


# --- all items, from a part of them


# --- the best of several runs

BEST = load_script("performance/simulate_best.py")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runs", "items", "correlation"), [(20, 150, 0.0), (5, 424, 0.8)]
)
def test_equal_runs_are_seldom_called_different_from_the_best(
    runs: int, items: int, correlation: float
):
    naive, told, covered, luck, said = BEST.choice(
        items, np.full(runs, 0.6), correlation, 300
    )
    assert naive > 15  # for McNemar's test between the best and each other run
    assert told < 5 + 100 * 3 * np.sqrt(0.05 * 0.95 / 300)
    assert covered > 95 - 100 * 3 * np.sqrt(0.05 * 0.95 / 300)
    assert said == pytest.approx(luck, abs=0.5)


# --- gates

GATES = load_script("performance/simulate_gates.py")


@cache
def passes(values: tuple[float, ...], counts: tuple[int, ...], delta: float) -> bool:
    differences = np.repeat(values, counts)
    return (
        differences.mean() < delta
        and loss_bound(differences, 1 + 0 * differences) < delta
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("items", "delta"), [(20, 0.2), (30, 0.1), (60, 0.1), (100, 0.05), (160, 0.02)]
)
def test_an_inferior_accuracy_seldom_passes(items: int, delta: float):
    # By enumeration, on the boundary: Tango's bound lets 6.0 % pass.
    for wins in (0, 0.01, 0.03, 0.1, 0.2, 0.35):
        passed = sum(
            chance
            for i, j, chance in tables(items, wins, wins + delta)
            if passes((-1.0, 0.0, 1.0), (i, items - i - j, j), delta)
        )
        assert passed < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("items", [78, 145, 500])
@pytest.mark.parametrize("delta", [0.02, 0.05])
@pytest.mark.parametrize("loss", [0.3, 0.5, 1])
def test_rare_large_losses_seldom_pass(items: int, delta: float, loss: float):
    # On the boundary: mostly a little noise. A bootstrap lets up to 44 % pass.
    rng = np.random.default_rng(items)
    chances = [0.5 * (1 - delta / loss), 0.5 * (1 - delta / loss), delta / loss]
    counts = rng.multinomial(items, chances, size=REPEATS)
    passed = np.mean(
        [passes((-0.01, 0.01, loss), tuple(each), delta) for each in counts.tolist()]
    )
    assert passed < 0.055


@pytest.mark.slow
@pytest.mark.parametrize(("questions", "delta"), [(20, 0.2), (78, 0.05)])
def test_inferior_epochs_seldom_pass(questions: int, delta: float):
    # On the boundary: a lost question is lost in all epochs, because epochs are not independent.
    rng = np.random.default_rng(questions)
    lost = rng.binomial(questions, delta, size=REPEATS)
    passed = np.mean(
        [passes((0.0, 1.0), (questions - k, k), delta) for k in lost.tolist()]
    )
    assert passed < 0.055


# The share and the weight of rare, heavy units, which lose everything with some chance.
@pytest.mark.slow
@pytest.mark.parametrize("items", [78, 500])
@pytest.mark.parametrize(("share", "heavy"), [(0.02, 20.0), (0.005, 50.0), (0.2, 4.0)])
def test_losses_in_heavy_units_seldom_pass(share: float, heavy: float, items: int):
    # On the boundary. With the sample's largest weight as the bound, up to 60 % would pass.
    rng, passed, delta = np.random.default_rng(items), 0, 0.05
    chance = delta * (1 - share + share * heavy) / (share * heavy)
    for _ in range(REPEATS):
        weights = np.where(rng.random(items) < share, heavy, 1.0)
        lost = (weights > 1) & (rng.random(items) < chance)
        how = {"weights": weights, "largest": heavy}
        passed += non_inferiority(np.zeros(items), lost, delta=delta, **how).passed
    assert passed / REPEATS < 0.055


# A part of a task whose headline is a mean over subjects of different sizes.
@pytest.mark.slow
@pytest.mark.parametrize(
    "sizes", [(3, 97), (40, 60, 400), (8, 8, 8, 200), (5,) * 12 + (240,)]
)
@pytest.mark.parametrize("in_small", [True, False])
def test_losses_in_some_subjects_seldom_pass(sizes: tuple[int, ...], in_small: bool):
    # On the boundary: the small subjects lose, or all of them but the largest one win and lose.
    rng, passed, delta = np.random.default_rng(sum(sizes)), 0, 0.05
    subjects = np.repeat(np.arange(len(sizes)), sizes)
    weights = 1 / np.array(sizes)[subjects]
    losing = (subjects == np.argmax(sizes)) != in_small
    chance = delta * weights.sum() / weights[losing].sum()
    assert chance < 1
    for _ in range(REPEATS):
        noise = rng.choice([-1.0, 0.0, 1.0], len(subjects), p=[0.05, 0.9, 0.05])
        changes = np.where(losing, rng.random(len(subjects)) < chance, noise)
        sides = np.maximum(0, -changes), np.maximum(0, changes)
        how = {"weights": weights, "largest": weights.max()}
        passed += non_inferiority(*sides, delta=delta, **how).passed
    assert passed / REPEATS < 0.055


@pytest.mark.slow
@pytest.mark.parametrize("looks", [4, 8])
def test_looks_that_share_the_error_seldom_pass_one_by_one(looks: int):
    # On the boundary: if the looks did not share the error, 12 and 17 % would pass at some look.
    rng, passed, delta = np.random.default_rng(looks), 0, 0.05
    for _ in range(REPEATS):
        drawn = rng.multinomial(800 // looks, [0.1, 0.75, 0.15], size=looks).cumsum(
            axis=0
        )
        passed += any(
            (own[2] - own[0]) / own.sum() < delta
            and loss_bound(np.array([-1.0, 0, 1]), np.ones(3), 1 - 0.05 / looks, own)
            < delta
            for own in drawn.astype(float)
        )
    assert passed / REPEATS < 0.055


@pytest.mark.slow
@pytest.mark.parametrize("candidates", [2, 10])
def test_candidates_that_share_the_error_seldom_pass_one_by_one(candidates: int):
    # On the boundary: if the candidates did not share the error, one would pass in 9 and 23 %.
    assert GATES.by_candidates(candidates, 500, shared=False) > 0.06
    assert GATES.by_candidates(candidates, 500, shared=True) < 0.055


@pytest.mark.slow
@pytest.mark.parametrize("items", [30, 78, 145, 500, 3000])
@pytest.mark.parametrize("name", GATES.WEIGHTS)
def test_a_gate_seldom_errs_whatever_the_weights(name: str, items: int):
    for which in GATES.PATTERNS:
        _, passed = GATES.by_weight(name, which, items, 0.05, 200)
        assert passed < 0.055 + 2 * np.sqrt(0.05 * 0.95 / 200)


@pytest.mark.slow
def test_inferior_rates_of_sentences_of_unequal_length_seldom_pass():
    # Any long sentence may be lost completely; the bound is on the pooled rate.
    rng = np.random.default_rng(1)
    passed, delta, repeats = 0, 0.05, 400
    for _ in range(repeats):
        lengths = rng.choice([3.0, 10.0, 40.0], size=145)
        lost = (lengths == 40) & (rng.random(145) < delta * (3 + 10 + 40) / 40)
        passed += loss_bound(lost.astype(float), lengths, largest=40) < delta
    assert passed / repeats < 0.055
