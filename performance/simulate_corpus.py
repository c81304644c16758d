"""Simulate the coverage of intervals of corpus figures, macro-F1 and rates near 0 and 1.

Run it as `HKCANTO_DATA=sample python performance/simulate_corpus.py [--repeats 1000]` (about five
minutes). *Before* is the percentile bootstrap of 300 resamples; for rates, the jackknife on the
logarithm. The target is 93 % or more.
"""

import argparse
from collections.abc import Callable, Sequence

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import stats

from hkcanto_metrics.labels import label_statistics
from hkcanto_metrics.translation import Language, sufficient_statistics
from hkcanto_tasks import load_task
from hkcanto_tasks.figures import pseudo_values
from hkcanto_tasks.results.statistics.estimates import (
    corpus_estimate,
    macro_f1_estimate,
    rate_estimate,
)
from hkcanto_tasks.results.statistics.intervals import (
    Estimate,
    is_above,
    paired_mean_interval,
    published_estimate,
)

Ends = tuple[float, float]
Statistic = Callable[[np.ndarray], np.ndarray]
TEXTS: tuple[tuple[Language, str], ...] = (
    ("zh", "hkcanto_translation_zh_yue"),
    ("en", "hkcanto_translation_yue_en"),
)
QUALITIES = {
    "poor": (0.6, 6),
    "fair": (0.3, 3),
    "good": (0.1, 2),
    "mostly perfect": (0.03, 1),
}
"""Mean share of wrong words in a sentence, and how alike the sentences are (a beta's size)."""
LABELS = {
    "3 labels, a third each": (0.34, 0.33, 0.33),
    "3 labels, one 3 %": (0.6, 0.37, 0.03),
    "2 labels, one 3 %": (0.97, 0.03),
    "3 labels, one 1 %": (0.69, 0.3, 0.01),
    "4 labels, 90, 5, 3, 2 %": (0.9, 0.05, 0.03, 0.02),
    "10 labels, 30 to 3 %": (0.3, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05, 0.04, 0.03, 0.03),
}
POPULATION = 600


def translated(
    rng: np.random.Generator, words: Sequence[str], share: float
) -> list[str]:
    """A translation in which a share of the words is wrong, left out or repeated."""
    made = []
    for word, drawn in zip(words, rng.random(len(words)), strict=True):
        if drawn >= share / 4:
            made.append(str(rng.choice(words)) if drawn < share else word)
        if rng.random() < share / 5:
            made.append(word)
    return made or [words[0]]


def population(
    rng: np.random.Generator, language: Language, task: str, quality: str
) -> tuple[list[str], list[str], list[str]]:
    """Two models' translations of many sentences, and the references."""
    between = " " if language == "en" else ""
    golds = [sample.target for sample in load_task(task).samples]
    golds = [golds[place % len(golds)] for place in range(POPULATION)]
    mean, size = QUALITIES[quality]
    shares = rng.beta(mean * size, (1 - mean) * size, POPULATION)
    sides = [
        [
            between.join(
                translated(rng, gold.split() if between else list(gold), share)
            )
            for gold, share in zip(golds, factor * shares, strict=True)
        ]
        for factor in (1, 0.8)
    ]
    return sides[0], sides[1], golds


def bootstrap(rng: np.random.Generator, rows: np.ndarray, statistic: Statistic) -> Ends:
    """The percentile bootstrap."""
    counts = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=300)
    low, high = np.quantile(statistic(counts @ rows), [0.025, 0.975])
    return float(low), float(high)


def ends_of(found: Estimate) -> Ends:
    """The ends of an estimate; anything is possible without an interval."""
    if found.low is None or found.high is None:
        return -np.inf, np.inf
    return found.low, found.high


def covers(ends: Ends, truth: float) -> bool:
    """Whether an interval holds the truth."""
    return ends[0] - 1e-9 <= truth <= ends[1] + 1e-9


def texts(rng: np.random.Generator, repeats: int) -> Table:
    """Coverage of figures of texts, and of the difference of two models."""
    table = Table(
        "Figure", "items", "before", "now", "difference", title="Coverage in %"
    )
    for language, task in TEXTS:
        for quality in QUALITIES:
            one, other, golds = population(rng, language, task, quality)
            for name in ("chrf", "bleu", "rouge_l"):
                rows, score = sufficient_statistics(name, one, golds, language=language)
                rows_b, _ = sufficient_statistics(name, other, golds, language=language)

                def statistic(
                    sums: np.ndarray, score: Callable[..., float] = score
                ) -> np.ndarray:
                    return np.array([*map(score, sums)])

                truth = score(rows.sum(axis=0))
                change = score(rows_b.sum(axis=0)) - truth
                for items in (17, 30, 100):
                    held = []
                    for _ in range(repeats if items < 100 else max(1, repeats // 4)):
                        drawn = rng.integers(len(rows), size=items)
                        a, b = rows[drawn], rows_b[drawn]
                        moves = pseudo_values(b, statistic) - pseudo_values(
                            a, statistic
                        )
                        own = [
                            float(statistic(each.sum(axis=0)[None])[0])
                            for each in (a, b)
                        ]
                        moves += own[1] - own[0] - moves.mean()
                        most = max(100.0, float(np.abs(moves).max()))
                        held.append(
                            (
                                covers(bootstrap(rng, a, statistic), truth),
                                covers(
                                    ends_of(corpus_estimate(a, statistic, items)), truth
                                ),
                                covers(
                                    paired_mean_interval(moves, largest=most), change
                                ),
                            )
                        )
                    shown = [f"{each:.1f}" for each in 100 * np.mean(held, axis=0)]
                    title = f"{name} of {truth:.0f}, {language}, {quality}"
                    table.add_row(title, str(items), *shown)
    return table


def labels(rng: np.random.Generator, repeats: int) -> Table:
    """Coverage of macro-F1, with rare labels."""
    table = Table("Macro-F1", "right", "items", "before", "now", title="Coverage in %")
    for title, shares in LABELS.items():
        count, given = len(shares), np.array(shares)
        names = [str(place) for place in range(count)]
        for right in (0.6, 0.85, 0.97):
            chances = np.zeros((count, count + 1))
            for label in range(count):
                others = given * (np.arange(count) != label)
                chances[label, :count] = (1 - right) * 0.9 * others / others.sum()
                chances[label, label], chances[label, count] = right, (1 - right) * 0.1
            chances *= given[:, None]
            cells = [(gold, read) for gold in range(count) for read in range(count + 1)]
            rows, score = label_statistics(
                [[*names, ""][read] for _, read in cells],
                [names[gold] for gold, _ in cells],
                names,
            )

            def statistic(
                sums: np.ndarray, score: Callable[..., float] = score
            ) -> np.ndarray:
                return np.array([*map(score, sums)])

            truth = float(statistic((chances.ravel() @ rows * 1e9)[None])[0])
            for items in (50, 100, 300):
                held = []
                for _ in range(repeats):
                    own = rows[rng.choice(len(cells), size=items, p=chances.ravel())]
                    held.append(
                        (
                            covers(bootstrap(rng, own, statistic), truth),
                            covers(ends_of(macro_f1_estimate(own, items)), truth),
                        )
                    )
                before, now = 100 * np.mean(held, axis=0)
                table.add_row(
                    title, f"{right:.0%}", str(items), f"{before:.1f}", f"{now:.1f}"
                )
    return table


def on_the_logarithm(errors: np.ndarray, lengths: np.ndarray) -> Ends:
    """The interval of a rate by the jackknife on its logarithm, with an added unit."""
    rate, count = errors.sum() / lengths.sum(), len(errors)
    moves = (errors - rate * lengths) / (lengths.sum() - lengths)
    variance = ((moves**2).sum() + (moves**2).max()) * (count - 1) / (count + 1)
    if not rate:
        return 0.0, 1.0
    factor = float(
        np.exp(min(700.0, stats.t.ppf(0.975, count - 1) * variance**0.5 / rate))
    )
    return rate / factor, min(1.0, rate * factor)


def rates(rng: np.random.Generator, repeats: int) -> Table:
    """Coverage of pooled rates, such as the constraints followed or words typical of Cantonese."""
    table = Table("Rate", "items", "before", "now", title="Coverage in %")
    sizes: dict[str, Callable[[int], np.ndarray]] = {
        "syllables of a sentence": lambda n: np.minimum(
            40, 2 + rng.geometric(1 / 12, n)
        ),
        "1 to 3 constraints": lambda n: rng.integers(1, 4, n),
        "0 to many words": lambda n: rng.negative_binomial(1, 0.15, n),
    }
    for title, draw in sizes.items():
        for rate in (0.02, 0.5, 0.9, 0.98):
            for items in (15, 30, 78, 145):
                held = []
                for _ in range(repeats):
                    lengths = draw(items)
                    chances = rng.beta(4 * rate, 4 * (1 - rate), items)  # alike by 0.2
                    errors = rng.binomial(lengths, chances).astype(float)
                    if lengths.any():
                        own = errors / np.maximum(1, lengths)
                        now = rate_estimate(
                            own, lengths.astype(float), np.arange(items)
                        )
                        before = on_the_logarithm(errors, lengths)
                        held.append((covers(before, rate), covers(ends_of(now), rate)))
                shown = [f"{each:.1f}" for each in 100 * np.mean(held, axis=0)]
                table.add_row(f"{rate:.0%} of {title}", str(items), *shown)
    return table


def published(rng: np.random.Generator, repeats: int) -> Table:
    """How often a run is rightly not called different from an equal model of a paper."""
    from hkcanto_tasks.figures import figures

    table = Table(
        "Against a published share", "items", "before", "now", title="Right in %"
    )
    (acc,) = figures("acc")
    for share in (0.5, 0.8, 0.95):
        for items in (54, 252, 1000):
            held = []
            for _ in range(repeats):
                easy = rng.beta(
                    2 * share, 2 * (1 - share), items
                )  # two models, the same items
                a, b = (
                    published_estimate(
                        float((rng.random(items) < easy).mean()), items, acc
                    )
                    for _ in range(2)
                )
                told = is_above(a, b) or is_above(b, a)
                held.append((covers(ends_of(a), b.value), not told))
            before, now = 100 * np.mean(held, axis=0)
            table.add_row(f"{share:.0%}", str(items), f"{before:.1f}", f"{now:.1f}")
    return table


def main() -> None:
    """Print a table for each kind of figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000)
    repeats, rng = parser.parse_args().repeats, np.random.default_rng(0)
    for study in (published, rates, labels, texts):
        Console().print(study(rng, repeats))


if __name__ == "__main__":
    main()
