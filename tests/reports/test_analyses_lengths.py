"""Accuracy by length."""

from dataclasses import replace
from itertools import pairwise
from sys import maxsize

import numpy as np
import pytest

from hkcanto_tasks.results.reports.analyses.lengths import cut
from hkcanto_tasks.results.reports.blocks import Table
from hkcanto_tasks.results.runs import Run
from hkcanto_tasks.results.statistics.intervals import Estimate

from .building import a_run, sections


def shown(*runs: Run) -> list[Table]:
    return [
        block
        for section in sections("lengths", runs)
        for block in section.blocks
        if isinstance(block, Table)
    ]


def rows(table: Table) -> list[list[object]]:
    return [
        [value.value if isinstance(value, Estimate) else value for value in row.values]
        for row in table.rows
    ]


def test_characters_are_cut_into_bins_of_equal_counts() -> None:
    run = a_run(
        "hkcanto_law",
        {"acc": [1.0] * 10 + [0.0] * 5 + [1.0] * 5},
        question_lengths=[*range(1, 11), *range(31, 41)],
    )

    (table,) = shown(run)

    assert table.columns[0].title == "Question length in characters"
    assert rows(table) == [["1–30", 1.0, 10], ["31 or more", 0.5, 10]]


def test_tokens_are_cut_in_the_papers_steps() -> None:
    run = a_run(
        "hkcanto_law",
        {"acc": [1.0] * 10 + [0.0] * 10},
        question_lengths=[199] * 10 + [200] * 10,
    )

    (table,) = shown(replace(run, length_unit="tokens of gpt2"))

    assert rows(table) == [["0–199", 1.0, 10], ["200 or more", 0.0, 10]]


def test_intervals_are_wilsons() -> None:
    run = a_run("hkcanto_law", {"acc": [1.0] * 10 + [0.0] * 10}, question_lengths=range(1, 21))

    (table,) = shown(run)

    # Wilson for 10 of 10: from 10 / (10 + 3.8415) to 1.
    first = table.rows[0].values[1]
    assert isinstance(first, Estimate)
    assert (first.low, first.high) == (pytest.approx(10 / 13.8415, abs=1e-4), pytest.approx(1.0))


def test_small_steps_are_joined_to_a_neighbour() -> None:
    sizes = np.repeat([100, 300, 500, 700, 900], [10, 3, 8, 10, 9])

    # 3 + 8 make eleven; the nine at the end are added to the step before.
    assert cut(sizes, in_steps=True) == [range(200), range(200, 600), range(600, maxsize)]


def test_every_length_is_in_exactly_one_bin() -> None:
    drawn = np.random.default_rng(1).lognormal(4, 1, 500).astype(np.int64)

    for bins in (cut(drawn, in_steps=False), cut(drawn, in_steps=True)):
        counts = [sum(length in part for length in drawn.tolist()) for part in bins]
        assert sum(counts) == 500
        assert min(counts) >= 10
        assert all(one.stop == other.start for one, other in pairwise(bins))


def test_bins_are_about_eight_of_about_as_many_items() -> None:
    bins = cut(np.arange(1, 801), in_steps=False)

    assert [part.start for part in bins] == [1, 101, 201, 301, 401, 501, 601, 701]


def test_many_items_of_one_length_stay_together() -> None:
    assert cut(np.repeat([5, 6], [60, 20]), in_steps=False) == [range(5, 6), range(6, maxsize)]


def test_reasoning_is_shown_where_there_is_some() -> None:
    acc = {"acc": [1.0] * 10 + [0.0] * 10 + [1.0] * 5}
    reasoning = [50] * 10 + [600] * 10 + [0] * 5
    run = a_run("hkmmlu_cot", acc, subjects=["dentistry"] * 25, reasoning_lengths=reasoning)

    (table,) = shown(run)  # all questions are equally long, so there is nothing to show

    assert table.columns[0].title == "Reasoning length in characters"
    assert rows(table) == [["50–599", 1.0, 10], ["600 or more", 0.0, 10]]


def test_a_model_with_few_items_in_a_bin_has_no_figure_there() -> None:
    acc = {"acc": [1.0] * 20}
    even = a_run("hkcanto_law", acc, label="a", reasoning_lengths=[10] * 10 + [90] * 10)
    terse = a_run("hkcanto_law", acc, label="b", reasoning_lengths=[10] * 17 + [90] * 3)

    (table,) = shown(even, terse)

    assert rows(table) == [["10–89", 1.0, 10, 1.0, 17], ["90 or more", 1.0, 10, None, 3]]


def test_people_are_not_shown_lengths() -> None:
    run = a_run("hkcanto_law", {"acc": [1.0] * 40}, question_lengths=range(80, 120))
    (section,) = sections("lengths", [run])

    assert all(isinstance(block, Table) and block.data_only for block in section.blocks)
    assert [row[0] for row in rows(*shown(run))] == ["80–89", "90–99", "100–109", "110 or more"]


def test_too_few_items_say_nothing_about_length() -> None:
    run = a_run("hkcanto_law", {"acc": [1.0] * 15}, question_lengths=range(15))

    assert list(sections("lengths", [run])) == []
