"""The report's section on answer extraction."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from hkcanto_tasks.results.reports.blocks import Block, Note, Table, Value
from hkcanto_tasks.results.runs import Run
from hkcanto_tasks.results.statistics.intervals import Estimate

from .building import a_run, sections


def blocks(*runs: Run) -> Sequence[Block]:
    (section,) = sections("extraction", runs)
    return section.blocks


def values(table: Block, row: int = 0) -> dict[str, object]:
    assert isinstance(table, Table)
    return {
        column.title: number(value)
        for column, value in zip(table.columns, table.rows[row].values, strict=True)
    }


def number(value: Value) -> object:
    return value.value if isinstance(value, Estimate) else value


def law(count: int = 100, unparsed: int = 0, truncated: int = 0, **more: object) -> Run:
    return a_run(
        "hkcanto_law",
        {"acc": [0.0] * count, "unparsed_rate": [1.0] * unparsed + [0.0] * (count - unparsed)},
        truncated=[1.0] * truncated + [0.0] * (count - truncated),
        **more,  # type: ignore[arg-type]
    )


def warnings(*runs: Run) -> list[str]:
    return [block.text for block in blocks(*runs) if isinstance(block, Note)]


def test_each_share_is_of_all_responses() -> None:
    run = law(
        4,
        unparsed=2,
        truncated=1,
        response_lengths=[0, 2, 4, 10],
        reasoning_lengths=[0, 0, 100, 300],
        output_tokens=[np.nan, 1, 2, 6],
    )

    found = values(blocks(run)[0])

    assert found["Unparsed"] == 0.5
    assert (found["Truncated"], found["Empty"]) == (0.25, 0.25)
    assert found["Mean length"] == 4.0
    assert found["Mean reasoning"] == 200.0
    assert found["Output tokens"] == 3.0


def test_what_a_harness_does_not_log_is_missing() -> None:
    found = values(blocks(a_run("hkcanto_g2p", {"cer_published": [0.0]}))[0])

    assert not {"Unparsed", "Truncated", "Mean reasoning", "Output tokens"} & found.keys()


def test_why_no_answer_was_read_is_a_share_of_all_responses() -> None:
    run, other = law(4, unparsed=3), law(1)
    reasons = ["none: undecided", "none: refusal", "last", "none: refusal"]
    run = replace(run, items=replace(run.items, reasons=reasons))

    table = blocks(run, other)[1]

    assert isinstance(table, Table)
    assert len(table.rows) == 1
    assert list(values(table).items())[2:] == [("Refusal", 0.5), ("Undecided", 0.25)]


@pytest.mark.parametrize(("unparsed", "warned"), [(2, False), (3, True)])
def test_more_than_two_percent_unparsed_is_warned_of(unparsed: int, warned: bool) -> None:
    assert any("No answer could be read" in text for text in warnings(law(unparsed=unparsed))) == (
        warned
    )


@pytest.mark.parametrize(("truncated", "warned"), [(1, False), (2, True)])
def test_more_than_one_percent_truncated_is_warned_of(truncated: int, warned: bool) -> None:
    found = warnings(law(truncated=truncated))

    assert any("length limit" in text and "2.0%" in text for text in found) == warned


def test_the_five_worst_subjects_are_named() -> None:
    names = ["dentistry", "physics", "hk_law", "optometry", "mechanical", "pharmacy", "hk_music"]
    unread = [0, 1, 2, 3, 4, 5, 6]
    run = a_run(
        "hkmmlu",
        {"unparsed_rate": [float(place < bad) for bad in unread for place in range(10)]},
        subjects=[name for name in names for _ in range(10)],
    )

    (found,) = warnings(run)

    worst = "Hong Kong Music 60%, Pharmacy 50%, Mechanical 40%, Optometry 30%, Hong Kong Law 20%"
    assert f"model on HKMMLU, 0-shot 30.0% (most in {worst})" in found


def test_log_likelihood_writes_nothing_that_could_be_unparsed() -> None:
    likelihood = a_run("hkcanto_law_mc", {"acc": [1.0]})

    (table,) = blocks(law(1), likelihood)

    assert isinstance(table, Table)
    assert len(table.rows) == 1
    assert list(sections("extraction", [likelihood])) == []
