"""A report made by hand, with every kind of block and with what a hostile model might write."""

import random
from datetime import UTC, datetime

from hkcanto_tasks.reports.blocks import (
    Cell,
    Chart,
    Column,
    ItemRow,
    ItemView,
    Note,
    Report,
    Row,
    Section,
    Table,
)

HOSTILE = (
    "</td></table></script><script>window.pwned=1;alert(1)</script>"
    "<img src=x onerror=window.pwned=1> {{ 7*7 }} {% raw %} &amp; "
    "\u202eover\u202c \x00 \ud800 \x1b[31mred\x1b[0m [bold]markup[/bold] | `code` *x*\n=1+1"
)

MODELS = ("gemma-3-270m", "Qwen2.5-7B-Instruct", "Llama-3.1-8B", "粵語大模型-7B", "DeepSeek-V3")


def report(*sections: Section, title: str = "粵語 evaluation of two models") -> Report:
    created = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    footer = ["HKCanto-Eval: Cheng et al. (2025).", "HKMMLU: Cao et al. (2025)."]
    return Report(title, created, "0.1.0", sections, footer)


def section(*blocks: Table | Chart | Note | ItemView, name: str = "overview") -> Section:
    return Section(name.capitalize(), blocks, name, is_summary=True)


def scores() -> Table:
    """A leaderboard: a run of the user among published, human and random rows."""
    return Table(
        "Accuracy on HKMMLU 香港大規模多任務語言理解",
        [
            Column("Model"),
            Column("Accuracy", "percent", "Share of questions answered correctly."),
            Column("CER", "percent", "Share of characters that are wrong.", lower_is_better=True),
            Column("To GPT-4o", "points"),
            Column("Items", "count"),
            Column("Rank", "rank"),
            Column("Signature"),
        ],
        [
            Row(
                [
                    Cell("Claude 3.7"),
                    Cell(0.667),
                    Cell(0.081),
                    Cell(-0.081),
                    Cell(26_368),
                    Cell(2),
                    Cell("paper"),
                ],
                "published",
            ),
            Row(
                [
                    Cell("GPT-4o"),
                    Cell(0.748),
                    Cell(0.092),
                    Cell(0.0),
                    Cell(26_368),
                    Cell(1),
                    Cell("paper"),
                ],
                "published",
            ),
            Row(
                [
                    Cell("粵語大模型-7B"),
                    Cell(0.523, 0.4911, 0.5539, note="One subject is missing."),
                    Cell(0.125, 0.11, 0.14),
                    Cell(-0.225, -0.25, -0.2),
                    Cell(1_024),
                    Cell(3),
                    Cell("hkmmlu|shots:5|v:0.1.0"),
                ],
                "run",
            ),
            Row(
                [
                    Cell("Human"),
                    Cell(0.8),
                    Cell(None),
                    Cell(0.052),
                    Cell(None),
                    Cell(None),
                    Cell(""),
                ],
                "human",
            ),
            Row(
                [
                    Cell("Chance"),
                    Cell(0.25),
                    Cell(float("nan")),
                    Cell(-0.498),
                    Cell(26_368),
                    Cell(None),
                    Cell(""),
                ],
                "random",
            ),
        ],
        "The papers' rows are quoted; yours are computed from its log.",
        "scores",
    )


def subjects(count: int = 66, models: int = 5) -> Table:
    """A long table: an accuracy for each of many subjects and several models."""
    chance = random.Random(5)
    rows = []
    for place in range(count):
        values = [chance.uniform(0.2, 0.9) for _ in range(models)]
        cells = [Cell(value, value - 0.05, value + 0.05) for value in values]
        rows.append(Row([Cell(f"Subject {place} 科目{place}"), *cells]))
    columns = [Column("Subject"), *(Column(name, "percent") for name in MODELS[:models])]
    return Table("Accuracy by subject", columns, rows, "Wilson's intervals.", "subjects")


def heat_map() -> Chart:
    import altair

    table = subjects()
    values = [
        {"subject": row.cells[0].value, "model": column.name, "accuracy": cell.value}
        for row in table.rows
        for column, cell in list(zip(table.columns, row.cells, strict=True))[1:]
    ]
    chart = (
        altair.Chart(altair.InlineData(values=values))
        .mark_rect()
        .encode(
            x=altair.X("model:N", title=None),
            y=altair.Y("subject:N", title=None, sort=None),
            color=altair.Color("accuracy:Q", title="Accuracy"),
            tooltip=["subject:N", "model:N", altair.Tooltip("accuracy:Q", format=".1%")],
        )
        .properties(height=altair.Step(15))
    )
    return Chart("Subjects and models", chart.to_dict(), "Dark cells are subjects done well.")


def bars(label: str = "粵語大模型-7B") -> Chart:
    import altair

    values = [
        {"category": "STEM", "model": label, "value": 0.41, "low": 0.35, "high": 0.47},
        {"category": "Humanities 人文", "model": label, "value": 0.62, "low": 0.55, "high": 0.68},
        {"category": "STEM", "model": "GPT-4o", "value": 0.71, "low": 0.66, "high": 0.76},
        {"category": "Humanities 人文", "model": "GPT-4o", "value": 0.75, "low": 0.7, "high": 0.8},
    ]
    base = altair.Chart(altair.InlineData(values=values)).encode(
        y=altair.Y("category:N", title=None), yOffset="model:N"
    )
    bar = base.mark_bar().encode(
        x=altair.X("value:Q", title="Accuracy", axis=altair.Axis(format="%")),
        color=altair.Color("model:N", title=None, legend=altair.Legend(orient="top")),
        tooltip=["category:N", "model:N", altair.Tooltip("value:Q", format=".1%")],
    )
    span = base.mark_rule().encode(x="low:Q", x2="high:Q")
    return Chart(
        "Accuracy by category",
        altair.layer(bar, span).to_dict(),
        "GPT-4o leads in both categories, more so in STEM.",
    )


def items(count: int = 120, text: str = "香港嘅首都係邊度？") -> ItemView:
    return ItemView(
        [
            ItemRow(
                model=MODELS[place % 2],
                task="hkmmlu",
                item=f"hkmmlu/hk_law/{place}",
                subject=f"hk_law_{place % 3}",
                prompt=f"Question {place}: {text}",
                response=f"Answer {place}: {text}",
                answer="A",
                target="B" if place % 3 else "A",
                correct=place % 3 == 0,
            )
            for place in range(count)
        ],
        left_out=7,
    )


def rich_report() -> Report:
    """Every kind of block, in a page as large as HKMMLU's with five models."""
    warning = Note("Sample data: these figures are comparable with nothing.", "warning")
    return report(
        section(warning, scores(), bars(), Note("Intervals are of 95 %.")),
        section(subjects(), heat_map(), name="subjects"),
    )


def hostile_report() -> Report:
    """The same hostile text wherever a text can stand."""
    table = Table(
        HOSTILE,
        [Column(HOSTILE, help=HOSTILE), Column("value", "percent"), Column("text")],
        [
            Row([Cell(HOSTILE, note=HOSTILE), Cell(0.5, 0.4, 0.6, HOSTILE), Cell(HOSTILE)], "run"),
            Row([Cell("=cmd()"), Cell(-0.5), Cell("@x")], "published"),
        ],
        HOSTILE,
        "hostile",
    )
    view = items(3, HOSTILE)
    blocks = (table, bars(HOSTILE), Note(HOSTILE), Note(HOSTILE, "warning"), view)
    made = report(Section(HOSTILE, blocks, "hostile", is_summary=True), title=HOSTILE)
    return Report(made.title, made.created, made.version, made.sections, [HOSTILE])
