"""Time identify_language on traces of a thousand characters, and on hostile ones of 200,000.

.venv/bin/python performance/bench_language.py
"""

import json
import random
from pathlib import Path

from measuring import seconds

from hkcanto_metrics.language import identify_language

LENGTH, COUNT, LONG = 1_000, 300, 200_000
HOSTILE = (
    "香",
    "唔係",
    "題目：",
    "A) y。\n",
    "\\[",
    "「",
    '"',
    "？",
    "a. ",
    "> \n",
    "\n",
    "```",
    "係: ",
)


def main() -> None:
    """Print traces a second, and seconds for each hostile text."""
    file = Path(__file__).parents[1] / "tests/metrics/reasoning_traces.jsonl"
    traces = [
        json.loads(line)["trace"] for line in file.read_text("utf-8").splitlines()
    ]
    shuffled = random.Random(1)
    texts = []
    for _ in range(COUNT):
        joined = "\n".join(shuffled.choices(traces, k=30))
        texts.append(joined[:LENGTH])
    for _ in range(2):  # the first fills the tables of characters
        elapsed = seconds(lambda: [identify_language(text) for text in texts])
    print(f"{COUNT / elapsed:,.0f} traces of {LENGTH:,} characters a second")
    for text in HOSTILE:
        took = seconds(identify_language, (text * LONG)[:LONG])
        print(f"{took:6.3f} s  {LONG:,} characters of {text!r}")


if __name__ == "__main__":
    main()
