"""Number of Jyutping sentences scored per second: `python performance/bench_jyutping.py`.

A gold string may have 256 variants. Real sentences have few; the last rows are for a thousand
sentences like them.
"""

import random

from measuring import seconds

from hkcanto_metrics import score_jyutping

ONSETS = ["", "b", "d", "g", "gw", "h", "j", "k", "l", "m", "n", "ng", "s", "z"]
FINALS = ["aa", "aai", "ang", "au", "ei", "i", "it", "o", "ong", "ou", "u", "yun"]


def syllable(rng: random.Random) -> str:
    """Something like Jyutping."""
    return rng.choice(ONSETS) + rng.choice(FINALS) + rng.choice("123456")


def sentence(rng: random.Random, syllables: int, groups: int) -> list[list[str]]:
    """The options in each place: three in the places of the groups, one elsewhere."""
    places = set(rng.sample(range(syllables), groups))
    return [
        [syllable(rng) for _ in range(3 if i in places else 1)]
        for i in range(syllables)
    ]


def response(rng: random.Random, gold: list[list[str]]) -> str:
    """One of the variants, with one syllable in ten replaced."""
    return " ".join(
        syllable(rng) if rng.random() < 0.1 else rng.choice(options) for options in gold
    )


def answer(gold: list[list[str]]) -> str:
    """The gold string."""
    return " ".join(f"({'|'.join(o)})" if len(o) > 1 else o[0] for o in gold)


def main() -> None:
    """Print one row per kind of sentence, and one for many sentences like the real ones."""
    rng = random.Random(0)
    score_jyutping("nei5", "nei5")  # imports the libraries
    print(f"{'syllables':>9} {'variants':>8} {'response':>12} {'scores/s':>9}")
    for syllables, groups in [(20, 0), (20, 2), (20, 5), (40, 5)]:
        gold = sentence(rng, syllables, groups)
        text = response(rng, gold)
        for case in (text, (text + " ") * (1_000_000 // len(text))):
            repeats = 7 if case is text else 1
            took = seconds(score_jyutping, case, answer(gold), repeats=repeats)
            size = f"{len(case):,} B"
            print(f"{syllables:9} {3**groups:8} {size:>12} {1 / took:9,.1f}")

    golds = [
        sentence(rng, rng.randint(5, 25), rng.choice([0, 0, 0, 1, 1, 2]))
        for _ in range(1000)
    ]
    pairs = [(response(rng, gold), answer(gold)) for gold in golds]
    for kind in ("first", "again"):
        rate = len(pairs) / seconds(lambda: [score_jyutping(*pair) for pair in pairs])
        print(
            f"1,000 sentences of 5 to 25 syllables, 0 to 2 groups, {kind}: {rate:,.0f} a second"
        )


if __name__ == "__main__":
    main()
