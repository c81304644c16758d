"""Measure what each rule for reading answers is worth: `python performance/rule_value.py LABELLED`.

LABELLED has one response a line, with `text`, `answer` (null for "none"), and for a letter or a set
`options` (letter to text), optionally `question`; a line without options is a number. Each rule is
switched off in turn. It is worth having if responses that its author had not seen are read right
because of it, and none is read wrongly.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console
from rich.table import Table

from hkcanto_metrics import (
    choice_rules,
    choice_set_rules,
    choice_statements,
    extract_choice,
    extract_choice_set,
    extract_number,
    number_closings,
)

LISTS = (
    (choice_statements, "STANCE_RULES"),
    (choice_rules, "LETTER_RULES"),
    (choice_set_rules, "SET_RULES"),
    (number_closings, "CLOSING_RULES"),
)
RIGHT, UNREAD, WRONG = "right", "unread", "wrong"


def outcome(row: Mapping[str, Any]) -> str:
    """Return how a response is read: right, not at all, or wrongly."""
    text, answer = row["text"], row["answer"]
    question = row.get("question", "")
    if "options" not in row:
        read = extract_number(text, question)
        answer = answer and Fraction(answer)
    elif row.get("several"):
        read = extract_choice_set(text, row["options"], question)
    else:
        read = extract_choice(text, row["options"], question)
    if read == answer:
        return RIGHT
    return UNREAD if read is None else WRONG


@contextmanager
def without(module: ModuleType, name: str, rule: object) -> Iterator[None]:
    """Leave a rule out of its list."""
    rules = getattr(module, name)
    setattr(module, name, tuple(other for other in rules if other is not rule))
    try:
        yield
    finally:
        setattr(module, name, rules)


def main() -> None:
    """Print how many responses each rule reads right, and how many it reads wrongly."""
    lines = Path(sys.argv[1]).read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    usual = [outcome(row) for row in rows]
    table = Table("rule", "right by it", "unread by it", "wrong by it")
    for module, name in LISTS:
        for rule in getattr(module, name):
            with without(module, name, rule):
                bare = [outcome(row) for row in rows]
            pairs = zip(usual, bare, strict=True)
            changed = Counter(with_it for with_it, other in pairs if with_it != other)
            counts = [str(changed[each]) for each in (RIGHT, UNREAD, WRONG)]
            table.add_row(rule.__name__, *counts)
    console = Console()
    console.print(table)
    totals = Counter(usual)
    console.print(
        ", ".join(f"{each} {totals[each]}" for each in (RIGHT, UNREAD, WRONG))
    )


if __name__ == "__main__":
    main()
