"""Correlate figures of translation with the errors that people marked.

    python docs/examples/sinitic/rank_figures.py FILE

FILE is SiniticMTError's `cantonese.jsonl` (see README.md). One half of its translations is for
choosing figures. The other half is used once, to report the figures in `REPORTED`. Neighbours may
be from one article, so blocks of ten neighbours stay in one half. `docs/methods.md` has
the table.
"""

import random
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np
from marked_errors import TARGETS, MarkedTranslation, read_marked
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from scipy import stats

from hkcanto_metrics.script import fold_script
from hkcanto_metrics.translation import sentence_scores

Floats = NDArray[np.float64]
Score = Callable[[str, str], float]

BLOCK, SEED, RESAMPLES, SHOWN = 10, 0, 1000, 12
REPORTED = (
    "bleu_2",
    "chrF nc2",
    "bleu",
    "chrf",
    "meteor",
    "rouge_l",
    "mean",
    "length ratio",
)


def width(text: str) -> str:
    """Convert full-width punctuation to half-width."""
    return unicodedata.normalize("NFKC", text.replace("。", ".").replace("、", ","))


def bare(text: str) -> str:
    """Remove punctuation and blanks."""
    return "".join(each for each in text if unicodedata.category(each)[0] not in "PZ")


FOLDS: dict[str, Callable[[str], str]] = {
    "": str,
    ", one script": fold_script,
    ", one width": width,
    ", no punctuation": bare,
}


def families() -> dict[str, Score]:
    """Lexical figures from other packages."""

    def of(metric: BLEU | CHRF | TER, sign: int = 1) -> Score:
        return lambda output, reference: (
            sign * metric.sentence_score(output, [reference]).score
        )

    orders = [*product(range(1, 7), [2]), *product(range(1, 4), [1, 3])]
    chrf = {
        f"chrF nc{nc}" + f" beta{beta}" * (beta != 2): of(
            CHRF(char_order=nc, beta=beta)
        )
        for nc, beta in orders
    }
    bleu = {
        f"BLEU n{order}": of(
            BLEU(tokenize="zh", effective_order=True, max_ngram_order=order)
        )
        for order in range(1, 5)
    }
    return {
        **chrf,
        **bleu,
        "-TER": of(TER(normalized=True, asian_support=True), -1),
        "-CER": lambda output, reference: (
            -Levenshtein.distance(output, reference) / len(reference)
        ),
        "Levenshtein similarity": Levenshtein.normalized_similarity,
        "length ratio": lambda output, reference: len(output) / len(reference),
    }


def candidates(marked: Sequence[MarkedTranslation]) -> dict[str, Floats]:
    """Every figure of every translation; names in lower case are figures of `sentence_scores`."""
    pairs = [(each.translation, each.reference) for each in marked]
    ours = [sentence_scores(*pair) for pair in pairs]
    found = {name: np.array([scores[name] for scores in ours]) for name in ours[0]}
    for (fold_name, fold), (name, score) in product(FOLDS.items(), families().items()):
        folded = [(fold(output), fold(reference)) for output, reference in pairs]
        found[name + fold_name] = np.array([score(*pair) for pair in folded])
    return found


def spearman(values: Floats, targets: Mapping[str, Floats]) -> list[float]:
    """Spearman's correlation with each target, and their mean."""
    each = [
        float(stats.spearmanr(values, target).statistic) for target in targets.values()
    ]
    return [*each, float(np.mean(each))]


def intervals(
    of: Callable[[NDArray[np.int64]], Sequence[float]], size: int
) -> list[str]:
    """Percentile intervals of figures over resampled translations."""
    generator = np.random.default_rng(SEED)
    drawn = [of(generator.integers(size, size=size)) for _ in range(RESAMPLES)]
    return [
        f"[{low:.3f}, {high:.3f}]"
        for low, high in np.quantile(drawn, [0.025, 0.975], 0).T
    ]


def main(path: Path) -> None:
    """Print both tables."""
    marked = read_marked(path)
    blocks = sorted({int(each.id) // BLOCK for each in marked})
    chosen = set(random.Random(SEED).sample(blocks, len(blocks) // 2))
    to_choose = np.array([int(each.id) // BLOCK in chosen for each in marked])
    figures = candidates(marked)
    targets = {
        name: np.array([of(each) for each in marked]) for name, of in TARGETS.items()
    }

    print(
        f"To choose on, n = {to_choose.sum()}: Spearman with {'; '.join(targets)}; mean"
    )
    half = {name: target[to_choose] for name, target in targets.items()}
    ranked = sorted(
        ((spearman(values[to_choose], half), name) for name, values in figures.items()),
        key=lambda row: -row[0][-1],
    )
    for place, (row, name) in enumerate(ranked, 1):
        if place <= SHOWN or name in REPORTED:
            print(f"{place:4} {name:32}", *(f"{value:7.3f}" for value in row))

    print(
        f"\nHeld out, n = {(~to_choose).sum()}: Spearman, Kendall; less Spearman of chrf"
    )
    half = {name: target[~to_choose] for name, target in targets.items()}
    base = figures["chrf"][~to_choose]
    for name in REPORTED:
        values = figures[name][~to_choose]

        def resampled(drawn: NDArray[np.int64], values: Floats = values) -> list[float]:
            drawn_targets = {name: target[drawn] for name, target in half.items()}
            own = spearman(values[drawn], drawn_targets)
            less = np.subtract(own, spearman(base[drawn], drawn_targets))
            return [*own, *less]

        ends = intervals(resampled, len(values))
        row, other = spearman(values, half), spearman(base, half)
        kendall = [
            float(stats.kendalltau(values, target).statistic)
            for target in half.values()
        ]
        print(name)
        for place, target in enumerate([*half, "mean"]):
            tau = f"{kendall[place]:.3f}" if target in half else "     "
            less = f"{row[place] - other[place]:+.3f} {ends[len(row) + place]}"
            print(f"    {target:28} {row[place]:.3f} {ends[place]} {tau}  {less}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
