"""A made-up report with every kind of block, and with texts of a hostile model."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from math import nan

from hkcanto_tasks.results.reports.blocks import (
    Block,
    DisplayUnit,
    Note,
    Report,
    Section,
    TableBlock,
    TableColumn,
    TableRow,
    Value,
)
from hkcanto_tasks.results.statistics.intervals import Estimate

HOSTILE = (
    "</td></table></script><script>window.pwned=1;alert(1)</script>"
    "<img src=x onerror=window.pwned=1> {{ 7*7 }} {% raw %} &amp; "
    "\u202eover\u202c \x00 \ud800 \x1b[31mred\x1b[0m [bold]markup[/bold] | `code` *x*\n=1+1"
)

MODELS = (
    "gemma-3-270m",
    "Qwen2.5-7B-Instruct",
    "Llama-3.1-8B",
    "粵語大模型-7B",
    "DeepSeek-V3",
)


def report(*sections: Section, title: str = "粵語 evaluation of two models") -> Report:
    created = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    footer = ["HKCanto-Eval: Cheng et al. (2025).", "HKMMLU: Cao et al. (2025)."]
    return Report(title, created, "0.1.0", sections, footer)


def section(*blocks: Block, name: str = "overview", is_summary: bool = True) -> Section:
    return Section(name.capitalize(), blocks, name, is_summary)


def scores() -> TableBlock:
    """A leaderboard: the user's run among published, human and random rows."""
    own = [
        Estimate(0.523, 0.4911, 0.5539, 1_024, "one subject is missing"),
        Estimate(0.125, 0.11, 0.14, 1_024),
        Estimate(-0.225, -0.25, -0.2, 1_024),
    ]
    values: Sequence[Sequence[Value]] = [
        ["Claude 3.7", 0.667, 0.081, -0.081, 26_368, "2", "paper"],
        ["GPT-4o", 0.748, 0.092, 0.0, 26_368, "1", "paper"],
        ["粵語大模型-7B", *own, 1_024, "3–4", "hkmmlu|shots:5|v:0.1.0"],
        ["Human", 0.8, None, 0.052, None, None, ""],
        ["Chance", 0.25, nan, -0.498, 26_368, None, ""],
    ]
    kinds = ("published", "published", "run", "human", "random")
    return TableBlock(
        "scores",
        "Accuracy on HKMMLU 香港大規模多任務語言理解",
        [
            TableColumn("Model"),
            TableColumn(
                "Accuracy", "percent", "Share of questions answered correctly.", False
            ),
            TableColumn(
                "CER",
                "percent",
                "Share of characters that are wrong.",
                lower_is_better=True,
            ),
            TableColumn("To GPT-4o", "points"),
            TableColumn("Items", "count"),
            TableColumn("Rank"),
            TableColumn("Signature"),
        ],
        [TableRow(own, kind) for own, kind in zip(values, kinds, strict=True)],
        "The papers' rows are quoted; yours are computed from its log.",
    )


def subjects(count: int = 66, models: int = 5) -> TableBlock:
    """A long table: an accuracy for each of many subjects and several models."""
    chance = random.Random(5)
    rows = []
    for place in range(count):
        values = [chance.uniform(0.2, 0.9) for _ in range(models)]
        figures = [Estimate(value, value - 0.05, value + 0.05, 400) for value in values]
        rows.append(TableRow([f"Subject {place} 科目{place}", *figures]))
    named = [TableColumn(name, "percent") for name in MODELS[:models]]
    columns = [TableColumn("Subject"), *named]
    return TableBlock(
        "by_subject", "Accuracy by subject", columns, rows, "Wilson's intervals."
    )


def dots(unit: DisplayUnit = "percent", label: str = "粵語大模型-7B") -> TableBlock:
    """A table with a plot of two series; GPT-4o's first value has no interval."""
    rows = [
        TableRow(["STEM", Estimate(0.41, 0.35, 0.47, 90), 0.71]),
        TableRow(
            [
                "Humanities 人文",
                Estimate(0.62, 0.55, 0.68, 90),
                Estimate(0.75, 0.7, 0.8, 90),
            ]
        ),
        TableRow(
            ["Law", Estimate(-0.05 if unit == "points" else 0.3, None, None, 1), None]
        ),
    ]
    columns = [TableColumn("Category"), TableColumn("Items", "count")]
    columns += [TableColumn(name, unit, drawn=True) for name in (label, "GPT-4o")]
    rows = [TableRow([row.values[0], 90, *row.values[1:]]) for row in rows]
    return TableBlock(
        "dots", "Accuracy by category", columns, rows, "GPT-4o leads in both."
    )


def rich_report() -> Report:
    """Every kind of block, in a page as large as HKMMLU's with five models."""
    warning = Note("Sample data: these figures are comparable with nothing.", "warning")
    return report(
        section(warning, scores(), dots(), Note("Intervals are of 95 %.")),
        section(subjects(), name="subjects", is_summary=False),
    )


def hostile_report() -> Report:
    """The same hostile text in every place for a text."""
    hostile: Sequence[Value] = [
        HOSTILE,
        HOSTILE,
        Estimate(0.5, 0.4, 0.6, 9, HOSTILE),
        HOSTILE,
    ]
    table = TableBlock(
        "hostile_table",
        HOSTILE,
        [
            TableColumn(HOSTILE, help=HOSTILE),
            TableColumn("beneath", beneath=True),
            TableColumn("value", "percent", drawn=True),
            TableColumn("text"),
            TableColumn("more"),
        ],
        [
            TableRow([*hostile, f"{HOSTILE} · {HOSTILE}"], "run"),
            TableRow(["=cmd()", None, -0.5, "@x", "✓ all"], "published"),
        ],
        HOSTILE,
    )
    blocks = (table, dots(label=HOSTILE), Note(HOSTILE), Note(HOSTILE, "warning"))
    made = report(Section(HOSTILE, blocks, "hostile", is_summary=True), title=HOSTILE)
    return Report(made.title, made.created, made.version, made.sections, [HOSTILE])
