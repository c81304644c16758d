"""Each column of a report's tables: its unit, direction, place on the page, and explanation."""

from typing import NamedTuple

import pytest

from hkcanto_tasks.results.reports.blocks import TableBlock, TableColumn
from hkcanto_tasks.results.reports.summary import build_report
from hkcanto_tasks.results.runs import Run

from .many import many
from .whole import whole

FLAGS = ("drawn", "beneath", "brief", "strip")
TASKS = ("hkmmlu", "hkcanto_law", "hkcanto_g2p")


class Look(NamedTuple):
    """How a column is shown: its unit, the beginning of its explanation, and what else it has."""

    unit: str = "text"
    help: str = ""
    others: tuple[str, ...] = ()


TEXT = Look()
RUNS = {
    "Model": TEXT,
    "Task and condition": TEXT,
    "Score": Look("score", "From 0 to 100. With 95 % interval"),
    "Rank": Look("text", "Rank among the paper's models"),
    "Doubts": Look("text", "Failed checks"),
    "Called": TEXT,
    "Harness": TEXT,
    "Run on": TEXT,
    "Signature": TEXT,
}
READING = {
    "Model": TEXT,
    "Task and condition": TEXT,
    "Unread": Look("percent", "No answer could be read"),
}
HKMMLU_11 = {
    "Model": TEXT,
    "Rank": Look("text", "Rank among the paper's models", ("under: by TC",)),
    "TC": Look("percent", "Of hkmmlu, hk_specific.", ("higher", "drawn")),
    "SC": Look("percent", "Of hkmmlu_sc, hk_specific.", ("higher",)),
}
HKCANTO_3 = {
    "Model": TEXT,
    "Rank": Look("text", "Rank among the paper's models", ("under: by CER",)),
    "CER": Look("percent", "Of hkcanto_g2p.", ("lower", "drawn")),
    "Levenshtein": Look("percent", "Of hkcanto_g2p.", ("lower",)),
}
SHARED = {
    "runs": RUNS,
    "reading": READING,
    "published_hkmmlu_11": HKMMLU_11,
    "published_hkcanto_3": HKCANTO_3,
}
ACCURACY = "Share of questions answered correctly."


def parts(*models: str, place: str) -> dict[str, Look]:
    """Return the columns of a table of subjects."""
    shares = dict.fromkeys(models, Look("percent", "", (place,)))
    return {"Part": TEXT, "In Chinese": TEXT, "Items": Look("count"), **shares}


def figures(*models: str) -> dict[str, Look]:
    """Return the columns of a table of figures."""
    scores = dict.fromkeys(models, Look("score"))
    return {"Figure": TEXT, **scores, "Meaning": TEXT}


EXPECTED = {
    ("base",): {
        "tasks": {
            "Task": TEXT,
            "Score": Look("score", "From 0 to 100. With 95 % interval", ("drawn",)),
            "Rank": Look("text", "Rank among the paper's models"),
            "Best published": Look("score", "", ("drawn",)),
            "Figure": Look("text", "", ("beneath",)),
            "Best published by": Look("text", "", ("beneath",)),
        },
        "subjects_hkmmlu_0_shot": parts("base", place="drawn"),
        "figures_hkmmlu_0_shot": figures("base"),
    },
    ("base", "tuned"): {
        "pairs": {
            "Task": TEXT,
            "base": Look("score"),
            "tuned": Look("score"),
            "Gain": Look("score_points", "By how much the second is better", ("drawn",)),
            "Certain": Look("text", "Yes if the interval excludes 0"),
            "Best published": Look("score"),
            "Figure": Look("text", "", ("beneath",)),
        },
        "subjects_hkmmlu_0_shot": parts("base", "tuned", place="drawn"),
        "figures_hkmmlu_0_shot": figures("base", "tuned"),
    },
    ("base", "tuned", "third"): {
        "models": {
            "Model": TEXT,
            "Mean rank": Look("score", "", ("lower",)),
            "Mean accuracy": Look("score"),
            "Certainly best": Look("count", "Tasks on which it is certainly better than all"),
            "Perhaps best": Look("count", "Tasks on which neither it nor another"),
            "Certainly behind": Look("count", "Tasks on which it is certainly worse"),
        },
        "matrix": {
            "Model": TEXT,
            "Mean rank": Look("score", "Over the tasks that all models have", ("lower",)),
            "HKMMLU": Look(
                "percent",
                ACCURACY,
                ("higher", "strip", "under: Accuracy ↑, 0-shot, 330 items"),
            ),
            "Hong Kong law": Look(
                "percent",
                ACCURACY,
                ("higher", "strip", "under: Accuracy ↑, 5-shot, 80 items"),
            ),
            "Jyutping grapheme-to-phoneme": Look(
                "percent",
                "CER of the paper's Table 3",
                ("lower", "strip", "under: CER as published ↓, 5-shot, 5 items"),
            ),
        },
        "subjects_hkmmlu_0_shot": parts("base", "tuned", "third", place="brief"),
        "figures_hkmmlu_0_shot": figures("base", "tuned", "third"),
    },
}  # fmt: skip


def others(column: TableColumn) -> tuple[str, ...]:
    """Return a column's direction, its places on the page, and the text under its title."""
    direction = {True: ("lower",), False: ("higher",), None: ()}
    flags = [flag for flag in FLAGS if getattr(column, flag)]
    under = [f"under: {column.under}"] if column.under else []
    return (*direction[column.lower_is_better], *flags, *under)


def tables_of(runs: list[Run]) -> dict[str, TableBlock]:
    """Return the tables of a report by their names."""
    tables = dict[str, TableBlock]()
    for section in build_report(runs).sections:
        for block in section.blocks:
            if isinstance(block, TableBlock):
                tables[block.name] = block
    return tables


def check(table: TableBlock, expected: dict[str, Look]) -> None:
    """Check the columns of a table."""
    assert [column.title for column in table.columns] == [*expected], table.name
    for column in table.columns:
        look = expected[column.title]
        place = (table.name, column.title)
        assert column.unit == look.unit, place
        assert column.help.startswith(look.help), place
        assert bool(column.help) == bool(look.help), place
        assert others(column) == look.others, place
    assert table.turnable == (table.name == "matrix"), table.name


def without_rank(columns: dict[str, Look]) -> dict[str, Look]:
    return {title: look for title, look in columns.items() if title != "Rank"}


@pytest.mark.parametrize("models", EXPECTED, ids=len)
def test_each_column_says_what_it_has_and_has_its_place(
    models: tuple[str, ...],
) -> None:
    tables = tables_of(many(models, TASKS, limit=5))
    for name, expected in (SHARED | EXPECTED[models]).items():
        # A run of a part of a task has no rank.
        is_ranked = name.startswith("published")
        check(tables[name], expected if is_ranked else without_rank(expected))


def test_ranks_of_a_run_have_a_column_with_their_meaning() -> None:
    tables = tables_of([whole("hkcanto_cultural", label="base")])
    check(tables["tasks"], EXPECTED["base",]["tasks"])
    check(tables["runs"], RUNS)
