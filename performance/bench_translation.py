"""Processor time of scoring 2,000 translations: `python performance/bench_translation.py [N]`.

The references are utterances of HKCanCor (from PyCantonese), joined to the average length of
HKMMLU's sentences; the hypotheses have one character in five replaced. The target is 20 s for
everything on one core.

    python performance/bench_translation.py 2000 --profile  # where the time goes
"""

import cProfile
import pstats
import random
from collections.abc import Callable

import pycantonese
from measuring import arguments, seconds

from hkcanto_metrics.cleaning import clean_output
from hkcanto_metrics.translation import (
    score_translation,
    sentence_scores,
)

CHARACTERS = 58


def references(count: int) -> list[str]:
    """Cantonese sentences of the usual length."""
    text = "".join(pycantonese.hkcancor().characters())
    return [
        text[start : start + CHARACTERS]
        for start in range(0, count * CHARACTERS, CHARACTERS)
    ]


def hypothesis(rng: random.Random, reference: str) -> str:
    """Something like a translation."""
    return "".join(
        rng.choice(reference) if rng.random() < 0.2 else c for c in reference
    )


def main() -> None:
    """Print one row per step."""
    given = arguments(__doc__, {"count": 2000}, profile=False)
    rng = random.Random(0)
    expected = references(given.count)
    outputs = [hypothesis(rng, reference) for reference in expected]
    pairs = list(zip(outputs, expected, strict=True))
    first = seconds(lambda: sentence_scores("你好", "你好"))
    print(f"{'importing the libraries':32}{first:7.2f} s")
    steps: dict[str, Callable[[], object]] = {
        "clean_output": lambda: [clean_output(text, source=text) for text in outputs],
        "score_translation": lambda: score_translation(
            outputs, expected, sources=expected
        ),
        "sentence_scores, each pair": lambda: [
            sentence_scores(*pair) for pair in pairs
        ],
    }
    profile = cProfile.Profile()
    total = first
    for name, work in steps.items():
        if given.profile:
            work = lambda run=work: profile.runcall(run)  # noqa: E731
        took = seconds(work)
        total += took
        print(f"{name:32}{took:7.2f} s")
    print(f"{f'all of {len(pairs):,} pairs':32}{total:7.2f} s")
    if given.profile:
        pstats.Stats(profile).sort_stats("tottime").print_stats(15)


if __name__ == "__main__":
    main()
