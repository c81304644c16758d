"""Calibrate ``cantonese_fluency``: ``python performance/calibrate_fluency.py DATA``.

DATA is a folder like HKCANTO_DATA_DIR, with ``hkmmlu`` and ``hkeval2025``. The pairs are the
sentences of HKMMLU's and HKCanto-Eval's translation tasks, Cantonese and Written Chinese. Written
Chinese in Simplified script is converted, so that the script does not give it away.

The threshold is the strictest of those with the best balanced accuracy, because the rubric fails
any word of Written Chinese. For choosing it, HKCanto-Eval's long Cantonese texts count as
Cantonese. The accuracy is measured on random halves of the pairs, each time with the threshold
chosen on the other half and half of the long texts; translations of one sentence stay in one half.
"""

import csv
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import TypeVar

from cantonesedetect import CantoneseDetector

from hkcanto_metrics.fluency import MIN_CANTONESE_RATIO, Fluency, cantonese_fluency
from hkcanto_metrics.repetition import repeated_share
from hkcanto_metrics.script import is_han, to_simplified, to_traditional

THRESHOLDS = [percent / 100 for percent in range(50, 101, 5)]

T = TypeVar("T")
Pair = tuple[str, str]
"""Cantonese and Written Chinese."""


def read_json(path: Path) -> list[dict[str, str]]:
    """Read a file with one JSON object a line."""
    return [
        json.loads(line)
        for line in path.read_text("utf-8").splitlines()
        if line.strip()
    ]


def read_pairs(data: Path) -> list[list[Pair]]:
    """Read the pairs, grouped by the Written Chinese sentence."""
    pairs = [
        (row["input"], row["output"])
        for row in read_json(data / "hkmmlu/translation/can2man.jsonl")
    ]
    for split in ("train", "test"):
        folder = data / "hkeval2025/canto-nlp"
        rows = read_json(folder / f"yue_zh_{split}.json")
        pairs += [(row["SourceText"], row["TargetText"]) for row in rows]
        rows = read_json(folder / f"zh_yue_{split}.json")
        pairs += [(row["TargetText"], row["SourceText"]) for row in rows]
    groups = defaultdict(list)
    for cantonese, written_chinese in pairs:
        groups[written_chinese].append((cantonese, to_traditional(written_chinese)))
    return list(groups.values())


def read_long_texts(data: Path) -> list[str]:
    """Read the articles and talks that are to be summarised, all in Cantonese."""
    path = data / "hkeval2025/canto-nlp/summarization.json"
    texts: list[str] = json.loads(path.read_text("utf-8"))
    return texts


def read_questions(data: Path, *patterns: str) -> list[str]:
    """Read the questions of HKCanto-Eval's multiple-choice tests."""
    paths = [
        path
        for pattern in patterns
        for path in sorted(data.glob(f"hkeval2025/{pattern}"))
    ]
    rows = [
        row for path in paths for row in csv.reader(path.open(encoding="utf-8-sig"))
    ]
    return [row[0] for row in rows if any(map(is_han, row[0]))]


def halves(items: Sequence[T], seed: int) -> tuple[list[T], list[T]]:
    """Split at random into the half for choosing the threshold, and the held-out half."""
    shuffled = random.Random(seed).sample(items, len(items))
    return shuffled[: len(items) // 2], shuffled[len(items) // 2 :]


judge = cache(cantonese_fluency)


def ours(text: str) -> bool:
    """The metric as shipped."""
    return judge(text).passed


def at(threshold: float) -> Callable[[str], bool]:
    """The metric with another threshold."""

    def passes(text: str) -> bool:
        fluency: Fluency = judge(text)
        features = fluency.label != "none" and not fluency.degenerate
        return features and (
            not fluency.swc_terms or fluency.cantonese_ratio >= threshold
        )

    return passes


@cache
def plain_label(text: str) -> bool:
    """The detector with its defaults."""
    return str(CantoneseDetector().judge(text)) == "cantonese"


def balanced_accuracy(
    passes: Callable[[str], bool],
    groups: Iterable[list[Pair]],
    cantonese: Iterable[str] = (),
) -> float:
    """Mean of the shares of Cantonese that passes and of Written Chinese that fails."""
    pairs = [pair for group in groups for pair in group]
    passed = fmean(passes(text) for text in (*(text for text, _ in pairs), *cantonese))
    return (passed + fmean(not passes(text) for _, text in pairs)) / 2


def choose_threshold(groups: list[list[Pair]], long_texts: list[str]) -> float:
    """The strictest of the thresholds with the best balanced accuracy."""
    return max(
        THRESHOLDS,
        key=lambda threshold: (
            balanced_accuracy(at(threshold), groups, long_texts),
            threshold,
        ),
    )


def held_out_accuracies(
    groups: list[list[Pair]], long_texts: list[str], splits: int = 300
) -> dict[str, list[float]]:
    """Balanced accuracy on the held-out half of each split."""
    accuracies = defaultdict(list)
    for seed in range(splits):
        known, held_out = halves(groups, seed)
        threshold = choose_threshold(known, halves(long_texts, seed)[0])
        accuracies["plain label"].append(balanced_accuracy(plain_label, held_out))
        accuracies["cantonese_fluency"].append(
            balanced_accuracy(at(threshold), held_out)
        )
        accuracies["threshold"].append(threshold)
    return accuracies


def neutral_by_length(texts: Iterable[str]) -> str:
    """Share of texts without a feature, by number of Chinese characters."""
    neutral = defaultdict(list)
    for text in texts:
        length = sum(map(is_han, text))
        start = next(start for start in (40, 30, 20, 10, 0) if length >= start)
        neutral[start].append(judge(text).cantonese_ratio.total == 0)
    return ", ".join(
        f"{k}+: {fmean(v):.1%} of {len(v)}" for k, v in sorted(neutral.items())
    )


def main(data: Path) -> None:
    """Print the figures."""
    groups, long_texts = read_pairs(data), read_long_texts(data)
    print(
        f"{sum(map(len, groups))} pairs of {len(groups)} sentences, {len(long_texts)} long texts"
    )
    print(f"threshold by all of them {choose_threshold(groups, long_texts)}, ", end="")
    print(f"shipped {MIN_CANTONESE_RATIO}")
    accuracies = held_out_accuracies(groups, long_texts)
    print(f"{len(accuracies['threshold'])} splits into halves:")
    print(
        f"  thresholds chosen, and how often: {dict(Counter(accuracies.pop('threshold')))}"
    )
    for name, values in accuracies.items():
        print(f"  {name}, balanced accuracy held out: ", end="")
        print(
            f"mean {fmean(values):.2%}, least {min(values):.2%}, first split {values[0]:.2%}"
        )

    simplified = [
        [(to_simplified(a), to_simplified(b)) for a, b in group] for group in groups
    ]
    for name, passes in (("plain label", plain_label), ("cantonese_fluency", ours)):
        print(f"{name}:")
        print(
            f"  balanced accuracy on all pairs {balanced_accuracy(passes, groups):.2%}, ",
            end="",
        )
        print(f"in Simplified script {balanced_accuracy(passes, simplified):.2%}")
        print(
            f"  long texts that pass: {sum(map(passes, long_texts))} of {len(long_texts)}"
        )

    cantonese = read_questions(data, "canto-mmlu/test/*.csv")
    written_chinese = read_questions(
        data, "dse/test/*_zh_*.csv", "professional/test/*_zh_*.csv"
    )
    print("questions, labelled by their file, not by reading:")
    for name, passes in (("plain label", plain_label), ("cantonese_fluency", ours)):
        right = fmean(map(passes, cantonese)), 1 - fmean(map(passes, written_chinese))
        print(f"  {name}: {right[0]:.1%} of {len(cantonese)} Cantonese pass, ", end="")
        print(
            f"{right[1]:.1%} of {len(written_chinese)} Written Chinese fail, ", end=""
        )
        print(f"balanced {fmean(right):.1%}")
    print(f"  neutral by length, Cantonese: {neutral_by_length(cantonese)}")
    print(f"  neutral by length, Written Chinese: {neutral_by_length(written_chinese)}")

    folder = data / "hkeval2025/canto-nlp"
    prose = [
        row["text"]
        for path in folder.glob("sentiment_*.json")
        for row in read_json(path)
    ]
    shares = sorted(map(repeated_share, prose + long_texts), reverse=True)
    print(f"repeated_share of {len(shares)} real texts, highest: ", end="")
    print(", ".join(f"{share:.2f}" for share in shares[:5]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
