"""Completions rewarded per second on one core: `python performance/bench_rewards.py [OUTPUTS]`.

OUTPUTS: gzipped lines with `text`, `options` and `gold`. By default, the responses with an answer
in tests/metrics/choice_cases.jsonl are used. Sentences in Jyutping are made up: half of them have
no variants, the others up to nine. Times are processor times, each the best of five.
"""

import gzip
import json
import random
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench_jyutping import answer, response, sentence
from measuring import arguments, seconds

from hkcanto_metrics import (
    cantonese_reward,
    choice_reward,
    constraint_reward,
    jyutping_reward,
)

# The verses rhyme.
VERSE = "夜晚行過碼頭邊\n海風吹得好自然\n抬頭望到月光先\n記得舊年嗰一天\n"
TESTS = Path(__file__).parents[1] / "tests" / "metrics"
CASES = TESTS / "choice_cases.jsonl"
# Texts in Cantonese; several of them in any order are a long one.
PROSE = tomllib.loads((TESTS / "reward_texts.toml").read_text("utf-8"))["honest"]


def show(title: str, reward: Callable[..., object], *columns: Sequence[Any]) -> None:
    """Print how many completions a second are rewarded."""
    took, count = seconds(reward, *columns, repeats=5, of=min), len(columns[0])
    print(f"{count / took:>10,.0f} a second  {reward.__name__}: {count:,} {title}")


def main() -> None:
    """Print a line for each reward and kind of completion."""
    outputs = arguments(__doc__, {"outputs": None}).outputs
    if outputs:
        with gzip.open(outputs, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
    else:
        cases = map(json.loads, CASES.read_text("utf-8").splitlines())
        rows = [{**case, "gold": case["answer"]} for case in cases if case["answer"]]
    gold, options, text = (
        [row[key] for row in rows] for key in ("gold", "options", "text")
    )
    show("letters alone", choice_reward, gold, gold, options)
    for most in (20, 200, 1_000_000):
        short = [row for row in rows if len(row["text"]) <= most]
        columns = [[row[key] for row in short] for key in ("text", "gold", "options")]
        show(f"responses of up to {most:,} characters", choice_reward, *columns)
    show("responses", cantonese_reward, text)
    rng = random.Random(0)
    prose = [text for texts in PROSE.values() for text in texts]
    long = ["".join(rng.sample(prose, len(prose)))[:481] for _ in range(100)]
    show("texts of 481 characters", cantonese_reward, long)
    rhyme = [[{"name": "rhyme"}]] * 100
    show("answers of 20 verses that rhyme", constraint_reward, [VERSE * 5] * 100, rhyme)

    rng = random.Random(0)
    golds = [
        sentence(rng, rng.randint(5, 25), rng.choice([0, 0, 0, 1, 1, 2]))
        for _ in range(1000)
    ]
    said, jyutping = (
        [response(rng, each) for each in golds],
        [answer(each) for each in golds],
    )
    show("sentences", jyutping_reward, said, jyutping)


if __name__ == "__main__":
    main()
