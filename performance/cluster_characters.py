"""Make word_order.toml: `python performance/cluster_characters.py TEXTS OUTPUT`.

TEXTS: a text in Cantonese a line; ours are HKCanCor's utterances and the Cantonese of
Yue-Benchmark. By default, the honest texts of the tests, and no output. The exchange algorithm
(Kneser and Ney 1993) puts each character into the class that makes its neighbours likeliest, until
few characters move.
"""

import re
import tomllib
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
from measuring import arguments

from hkcanto_metrics.script import HAN

N_CLASSES = 63
N_CHARACTERS = 1498
N_ROUNDS = 8
BORDER = "^"
OTHER = "?"
VARIANTS = dict(zip("俾既黎依啦𡃉唸", "畀嘅嚟呢喇㗎諗", strict=True))
TESTS = Path(__file__).parents[1] / "tests" / "metrics" / "reward_texts.toml"


def n_log_n(counts: np.ndarray) -> np.ndarray:
    """Return n log n of each count."""
    return counts * np.log(np.maximum(counts, 1))


class Classes:
    """Characters in classes, and how often a character of one class follows one of another."""

    def __init__(self, text: str, n_classes: int) -> None:
        """Count neighbours; the border is alone in the first class."""
        frequent = Counter(re.findall(f"[{HAN}]", text)).most_common(N_CHARACTERS)
        self.characters = [BORDER, OTHER, *(character for character, _ in frequent)]
        numbers = {character: n for n, character in enumerate(self.characters)}
        signs = [numbers.get(character, 1) for character in text]
        self.neighbours = np.zeros((len(numbers), len(numbers)))
        for pair, count in Counter(pairwise(signs)).items():
            self.neighbours[pair] = count
        self.classes = np.arange(len(numbers)) % (n_classes - 1) + 1
        self.classes[:2] = 0, 1
        self.members = np.eye(n_classes)[self.classes]
        self.counts = self.members.T @ self.neighbours @ self.members

    def move(self, character: int) -> bool:
        """Put a character into its likeliest class; whether that is another one."""
        old = self.classes[character]
        self.members[character] = 0
        after = self.neighbours[character] @ self.members
        before = self.neighbours[:, character] @ self.members
        doubled = self.neighbours[character, character]
        counts = self.counts
        counts[old] -= after
        counts[:, old] -= before
        counts[old, old] -= doubled
        gain = (n_log_n(counts + after) - n_log_n(counts)).sum(axis=1)
        gain += (n_log_n(counts.T + before) - n_log_n(counts.T)).sum(axis=1)
        for sums, more in ((counts.sum(1), after.sum()), (counts.sum(0), before.sum())):
            gain -= n_log_n(sums + more) - n_log_n(sums)
        best = 1 + int(gain[1:].argmax())
        self.classes[character] = best
        self.members[character, best] = 1
        counts[best] += after
        counts[:, best] += before
        counts[best, best] += doubled
        return best != old

    def rarity(self) -> np.ndarray:
        """Return how many times e-fold rarer than by chance a class follows another, up to 3."""
        counts = self.counts
        expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
        rarity = -np.log((counts + 0.5) / (expected + 0.5))
        return np.clip(rarity, 0, 3).round().astype(int)


def main() -> None:
    """Divide the characters, and write the classes."""
    given = arguments(__doc__, {"texts": None, "output": None})
    if given.texts:
        text = Path(given.texts).read_text("utf-8")
    else:
        texts = tomllib.loads(TESTS.read_text("utf-8"))["honest"].values()
        text = "\n".join("\n".join(kind) for kind in texts)
    for variant, character in VARIANTS.items():
        text = text.replace(variant, character)
    model = Classes(re.sub(f"[^{HAN}]+", BORDER, f"\n{text}\n"), N_CLASSES)
    for number in range(N_ROUNDS):
        moved = sum(map(model.move, range(2, len(model.characters))))
        print(f"round {number + 1}: {moved} characters moved")
        if moved < len(model.characters) / 100:
            break
    lines = ["classes = ["]
    for number in range(N_CLASSES):
        members = np.flatnonzero(model.classes == number)
        characters = "".join(model.characters[member] for member in members)
        for variant, character in VARIANTS.items():
            characters = characters.replace(character, character + variant)
        lines.append(f'  "{characters.strip(BORDER + OTHER)}",')
    lines += ["]", "rarity = ["]
    lines += [f'  "{"".join(map(str, row))}",' for row in model.rarity()]
    if given.output:
        Path(given.output).write_text("\n".join([*lines, "]", ""]), "utf-8")


if __name__ == "__main__":
    main()
