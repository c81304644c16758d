"""Simulate how often a gate gives the wrong answer, for each form of figure and for ten tasks.

Run it as `HKCANTO_DATA=sample python performance/simulate_answers.py [--repeats 1000]` (about twenty
minutes). It promises that a run that loses δ passes in at most 5 % of cases, and that a run that
loses at most δ is called worse in at most 2.5 %. Its results are in docs/methods.md.

Items are drawn from a population of two runs' answers. In one, the second run loses points, and δ is
this loss. The other has equal runs: it has each pair of answers in both orders, and δ is 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from measuring import arguments
from rich.console import Console
from rich.table import Table

from hkcanto_tasks import load_task
from hkcanto_tasks.figures import (
    Figure,
    Pair,
    corpus_rows,
    corpus_scores,
    declared_figures,
)
from hkcanto_tasks.results.statistics.intervals import WORSE_CONFIDENCE, non_inferiority
from hkcanto_tasks.results.statistics.matching import Paired, Resampling
from hkcanto_tasks.results.statistics.paired import GateErrors, gate_test

SIZES = (17, 60, 145, 600)
POPULATION = 4_000
TASKS = 10

Rng = np.random.Generator
Floats = np.ndarray


def paired(
    figure: Figure, a: Floats, b: Floats, losses: Floats, **more: object
) -> Paired:
    """Return the answers of two runs to independent items."""
    count = len(a)
    return Paired(
        figure,
        positions=np.arange(count),
        ids=np.arange(count).astype(str),
        a=a,
        b=b,
        losses=losses,
        subjects=np.full(count, ""),
        clusters=np.arange(count),
        resampling=Resampling(),
        **more,
    )


# ---------------------------------------------------------------------- populations


def right_or_wrong(rng: Rng, discordance: float) -> Paired:
    """Answers of which a share is right in only one run, in three of five cases the first."""
    figure = declared_figures()["acc"]
    drawn = rng.random(POPULATION)
    alike = drawn > discordance + (1 - discordance) / 2
    first = alike | (drawn < 0.6 * discordance)
    second = alike | ((drawn >= 0.6 * discordance) & (drawn < discordance))
    values = np.column_stack([first, second]).astype(float)
    ones = np.ones(POPULATION)
    sides = [np.column_stack([side, ones]) for side in values.T]
    return paired(figure, *sides, 1 - values)


def rates(rng: Rng, name: str) -> Paired:
    """Error rates of sentences of 3 to 40 syllables; the second run fails on one in twenty."""
    figure = declared_figures()[name]
    lengths = np.minimum(40.0, 2 + rng.geometric(1 / 12, POPULATION))
    first = rng.beta(1, 9, POPULATION)
    second = np.where(rng.random(POPULATION) < 0.05, 1.0, rng.beta(1, 9, POPULATION))
    losses = np.column_stack([first, second])
    weights = lengths if figure.form == "rate" else np.ones(POPULATION)
    sides = [np.column_stack([side * weights, weights]) for side in losses.T]
    return paired(figure, *sides, losses)


def translations(rng: Rng, name: str) -> Paired:
    """Translations with wrong characters; the second run's long ones are worse."""
    figure = declared_figures()[name]
    samples = load_task("hkcanto_translation_zh_yue").samples
    targets = [sample.target for sample in samples]
    letters = [*"".join(targets)]
    sides: list[list[Pair]] = [[], []]
    for number in range(POPULATION // 10):
        target = targets[number % len(targets)] * int(rng.integers(1, 4))
        share = rng.beta(2, 5)
        for side, pairs in enumerate(sides):
            wrong = share + side * 0.15 * (len(target) > 40)
            spoiled = rng.random(len(target)) < wrong
            output = "".join(
                str(rng.choice(letters)) if bad else letter
                for bad, letter in zip(spoiled, target, strict=True)
            )
            pairs.append(Pair(output, target, ""))
    rows = [corpus_rows(figure, pairs, "zh") for pairs in sides]
    losses = [1 - np.array(corpus_scores(figure, pairs, "zh")) for pairs in sides]
    losses = [np.clip(side, 0, 1) for side in losses]
    (a, statistic), (b, _) = rows
    return paired(figure, a, b, np.column_stack(losses), statistic=statistic)


POPULATIONS: dict[str, Callable[[Rng], Paired]] = {
    "right or wrong, discordance 5 %": lambda rng: right_or_wrong(rng, 0.05),
    "right or wrong, discordance 30 %": lambda rng: right_or_wrong(rng, 0.3),
    "mean of error rates": lambda rng: rates(rng, "cer_published"),
    "rate pooled over lengths": lambda rng: rates(rng, "cer"),
    "BLEU": lambda rng: translations(rng, "bleu"),
    "chrF": lambda rng: translations(rng, "chrf"),
}


def equal(population: Paired) -> Paired:
    """Return each pair of answers in both orders, so that the runs are equal."""
    return replace(
        population,
        a=np.concatenate([population.a, population.b]),
        b=np.concatenate([population.b, population.a]),
        losses=np.concatenate([population.losses, population.losses[:, ::-1]]),
        **{
            name: np.tile(getattr(population, name), 2)
            for name in ("positions", "ids", "subjects", "clusters")
        },
    )


def loss(population: Paired) -> float:
    """Return the loss of the second run, in points."""
    a, b = population.figures()
    sign = 1 if population.figure.higher_is_better else -1
    points = 1 if population.figure.unit == "score" else 100
    return points * sign * (a - b)


# ---------------------------------------------------------------------- answers


def answers(
    rng: Rng, population: Paired, items: int, delta: float, errors: GateErrors
) -> str:
    """Draw items, and return the gate's answer."""
    drawn = population.where(rng.integers(len(population.a), size=items))
    independent = np.arange(items)
    drawn = replace(drawn, clusters=independent, ids=independent.astype(str))
    largest = float(population.sizes.max())
    return gate_test(drawn, delta, errors, largest).answer


def shares(
    population: Paired, items: int, delta: float, repeats: int
) -> tuple[float, float, float]:
    """Return in which percentage of cases a gate passes, calls a run worse, and is undecided."""
    rng = np.random.default_rng(items)
    errors = GateErrors()
    given = [answers(rng, population, items, delta, errors) for _ in range(repeats)]
    counts = [given.count(answer) for answer in ("passed", "worse", "undecided")]
    passed, worse, undecided = (100 * count / repeats for count in counts)
    return passed, worse, undecided


@cache
def answer_to(counts: tuple[int, int], items: int, delta: float, tests: int) -> str:
    """Return the answer on right and wrong answers, by the numbers of items won and lost."""
    won, lost = counts
    a = np.repeat([1.0, 0.0, 0.0], [won, lost, items - won - lost])
    b = np.repeat([0.0, 1.0, 0.0], [won, lost, items - won - lost])
    worse_confidence = 1 - (1 - WORSE_CONFIDENCE) / tests
    return non_inferiority(
        a, b, delta=delta / 100, worse_confidence=worse_confidence
    ).answer


def counts_of(rng: Rng, population: Paired, items: int) -> tuple[int, int]:
    """Draw items; return how many the second run wins and loses."""
    drawn = population.losses[rng.integers(len(population.losses), size=items)]
    change = drawn[:, 1] - drawn[:, 0]
    return int((change < 0).sum()), int((change > 0).sum())


def ten_tasks(
    populations: Sequence[Paired], items: int, delta: float, repeats: int
) -> tuple[float, float]:
    """Return in which percentage of cases all tasks pass, and in which at least one is worse."""
    rng = np.random.default_rng(items)
    tests = len(populations)
    passed = 0
    worse = 0
    for _ in range(repeats):
        given = [
            answer_to(counts_of(rng, each, items), items, delta, tests)
            for each in populations
        ]
        passed += all(answer == "passed" for answer in given)
        worse += "worse" in given
    return 100 * passed / repeats, 100 * worse / repeats


def main() -> None:
    """Print the tables."""
    repeats = arguments(__doc__, repeats=1000).repeats
    console = Console(width=100)
    for title, column, of_equal in (
        (
            "The run loses δ: passed (at most 5 %) and worse (at most 2.5 %)",
            (0, 1),
            False,
        ),
        ("The runs are equal, δ = 0: worse (at most 2.5 %)", (1,), True),
    ):
        table = Table("Figure", "δ", *map(str, SIZES), title=title)
        for name, made in POPULATIONS.items():
            population = made(np.random.default_rng(1))
            if of_equal:
                population = equal(population)
            delta = max(0.0, loss(population))
            cells = []
            for items in SIZES:
                found = shares(population, items, delta, repeats)
                cells.append("; ".join(f"{found[place]:.1f}" for place in column))
            table.add_row(name, f"{delta:.2f}", *cells)
        console.print(table)

    losing = right_or_wrong(np.random.default_rng(1), 0.3)
    same = equal(losing)
    delta = loss(losing)
    table = Table(
        "Ten tasks", "answer", *map(str, SIZES), title="Ten tasks, discordance 30 %"
    )
    for name, populations, tolerance in (
        ("one loses δ, nine are equal", [losing, *[same] * (TASKS - 1)], delta),
        ("all lose δ", [losing] * TASKS, delta),
        ("all are equal, δ = 0", [same] * TASKS, 0.0),
    ):
        found = [ten_tasks(populations, n, tolerance, 2 * repeats) for n in SIZES]
        for place, answer in enumerate(("passed", "worse")):
            table.add_row(name, answer, *(f"{share[place]:.1f}" for share in found))
    console.print(table)


if __name__ == "__main__":
    main()
