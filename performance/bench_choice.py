"""Accuracy and time of reading a letter: `python performance/bench_choice.py [CASES]`.

Accuracy is measured on the labelled responses in tests/metrics/choice_cases.jsonl or in another
file of the same form, with `model` for `tag`; responses whose `sure` is false are left out. The
output gives calls per second on short answers, and seconds for a megabyte of one repeated text.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from statistics import median

from measuring import arguments, seconds

from hkcanto_metrics import extract_choice

TESTS = Path(__file__).parent.parent / "tests" / "metrics"
sys.path.insert(0, str(TESTS))
from test_choice import ISLANDS, REPEATED  # noqa: E402

SHORT = ("B", "答案：B", "B. 南丫島", "The answer is (B).", "我揀B，因為南丫島有風車。")


def accuracy(path: Path) -> None:
    """Print one row per tag: responses, share read right, letters read where there is none."""
    total, right, false_letters = Counter[str](), Counter[str](), Counter[str]()
    times = []
    for line in path.read_text("utf-8").splitlines():
        case = json.loads(line)
        if not case.get("sure", True):
            continue
        letter = extract_choice(case["text"], case["options"])
        times.append(seconds(extract_choice, case["text"], case["options"]))
        for tag in (case.get("tag") or case["model"], "all"):
            total[tag] += 1
            right[tag] += letter == case["answer"]
            false_letters[tag] += letter is not None and case["answer"] is None
    print(f"{'tag':<30} {'responses':>9} {'right':>8} {'false letters':>14}")
    for tag in sorted(total, key=lambda tag: (tag == "all", tag)):
        share = right[tag] / total[tag]
        print(f"{tag:<30} {total[tag]:>9} {share:>8.1%} {false_letters[tag]:>14}")
    print(f"median {1000 * median(times):.2f} ms, longest {1000 * max(times):.1f} ms\n")


def short_answers() -> None:
    """Print how many calls a second each short answer allows."""
    for text in SHORT:
        took = seconds(
            lambda text=text: [extract_choice(text, ISLANDS) for _ in range(2_000)]
        )
        print(f"{2_000 / took:>12,.0f} calls/s  {text}")


def megabytes() -> None:
    """Print the time of a megabyte of each repeated text, the longest first."""
    rows = []
    for repeated in REPEATED:
        text = repeated * (1_000_000 // len(repeated))
        rows.append(
            (seconds(extract_choice, text, ISLANDS, repeats=3, of=min), repeated)
        )
    for took, repeated in sorted(rows, reverse=True):
        print(f"{1000 * took:6.1f} ms  {repeated!r}")


if __name__ == "__main__":
    extract_choice("答案：B", ISLANDS)  # compiles the patterns
    accuracy(arguments(__doc__, {"cases": TESTS / "choice_cases.jsonl"}).cases)
    short_answers()
    megabytes()
