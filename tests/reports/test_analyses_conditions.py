"""One model under several conditions, item by item."""

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

import pytest

from hkcanto_tasks.corpus_figures import Pair
from hkcanto_tasks.reports.analyses import conditions
from hkcanto_tasks.reports.analyses.conditions import difference
from hkcanto_tasks.reports.blocks import Chart, Note, Table
from hkcanto_tasks.reports.evaluations import Evaluation

from .building import evaluation

PAPER = {"prompt": "paper", "script": "tc"}


def law(acc: Sequence[float], task: str = "hkcanto_law", **more: object) -> Evaluation:
    ids = [f"hkcanto_law/basic_law/{i}" for i in range(len(acc))]
    options = more.pop("options", PAPER)
    run = evaluation(task, {"acc": acc}, ids=ids, **more)  # type: ignore[arg-type]
    return replace(run, options=options)  # type: ignore[arg-type]


def hkmmlu(acc: Sequence[float], task: str = "hkmmlu", **more: object) -> Evaluation:
    names = ["dentistry", "dentistry", "hk_law", "hk_law"]
    return law(acc, task, subjects=names, **more)


def shown(*runs: Evaluation) -> list[Table]:
    return [
        block
        for section in conditions.sections(runs)
        for block in section.blocks
        if isinstance(block, Table)
    ]


def cells(table: Table, *names: str) -> list[tuple[object, ...]]:
    places = [[column.name for column in table.columns].index(name) for name in names]
    return [tuple(row.cells[place].value for place in places) for row in table.rows]


def test_a_difference_is_paired_by_item_and_not_by_place() -> None:
    before = law([1, 0, 0, 1])
    after = law([1, 1, 0, 1])
    backwards = replace(
        after,
        items=replace(
            after.items,
            ids=list(after.items.ids)[::-1],
            values={"acc": after.items.values["acc"][::-1]},
        ),
    )

    found = difference(before, backwards)

    # Changes 0, +1, 0, 0: mean 1/4, standard deviation 1/2, standard error 1/4.
    assert (found.value, found.pairs) == (pytest.approx(0.25), 4)
    assert found.low == pytest.approx(0.25 - 1.96 * 0.25, abs=1e-4)
    assert found.high == pytest.approx(0.25 + 1.96 * 0.25, abs=1e-4)


def test_items_on_one_passage_count_as_one() -> None:
    before = law([0, 0, 0, 0], clusters=[0, 0, 1, 1])

    found = difference(before, law([1, 1, 0, 0]))

    # Two passages that changed by 1 and 0: mean 1/2, standard error (1/√2)/√2 = 1/2.
    assert found.value == pytest.approx(0.5)
    assert found.high == pytest.approx(0.5 + 1.96 * 0.5, abs=1e-4)


def test_only_items_that_both_have_are_compared() -> None:
    before = law([1, 1, 1])
    after = law([0, 0, 0, 0, 0])

    assert difference(before, after).pairs == 3
    assert difference(before, law([1] * 2)).value == 0


def test_epochs_of_an_item_are_averaged_first() -> None:
    ids = ["hkcanto_law/basic_law/0"] * 2
    twice = replace(law([1, 0]), items=replace(law([1, 0]).items, ids=ids))

    found = difference(twice, law([1]))

    assert (found.value, found.pairs, found.low) == (0.5, 1, None)


def test_a_mean_over_subjects_changes_by_the_mean_of_their_changes() -> None:
    names = ["food", "food", "food", "local_knowledge"]
    before = law([0, 0, 0, 0], "hkcanto_cultural", subjects=names)
    after = law([1, 0, 0, 1], "hkcanto_cultural", subjects=names)

    found = difference(before, after)

    # (1/3 + 1) / 2; changes vary only in `food`: √(6/9) / (3·2), with 4 items for 3.
    assert found.value == pytest.approx(2 / 3)
    error = sqrt(4 / 3 * (6 / 9)) / 6
    assert found.high == pytest.approx(2 / 3 + 1.96 * error, abs=1e-4)


def test_a_corpus_figure_has_no_paired_interval() -> None:
    def translated(text: str) -> Evaluation:
        pairs = [Pair(text, "我食咗飯", "I have eaten.")]
        return evaluation("hkcanto_translation_en_yue", {}, pairs=pairs, ids=["t/1"])

    # chrF of 我食飯 against 我食咗飯 is 38.24, worked by hand in hkcanto_metrics.translation.
    found = difference(translated("我食飯"), translated("我食咗飯"))

    assert (found.value, found.low) == (pytest.approx(0.6176, abs=1e-4), None)


def test_traditional_against_simplified_by_category() -> None:
    table, by_category = shown(
        hkmmlu([0, 1, 0, 0], "hkmmlu_sc", options={"prompt": "paper", "script": "sc"}),
        hkmmlu([1, 1, 1, 0]),
    )

    columns = ("Condition", "Accuracy", "Difference", "STEM", "Humanities")
    assert cells(table, *columns) == [
        ("Traditional", 0.75, None, 1.0, 0.5),
        ("Simplified", 0.25, -0.5, 0.5, 0.0),
    ]
    assert cells(by_category, "STEM", "Humanities") == [(-0.5, -0.5)]


def test_chain_of_thought_is_compared_with_direct_answers_of_as_many_shots() -> None:
    chain = {**PAPER, "cot": "yes"}
    runs = [
        hkmmlu([1, 1, 0, 0], shots=5),
        hkmmlu([1, 0, 0, 0], shots=0),
        hkmmlu([1, 1, 1, 0], "hkmmlu_cot_1shot", shots=1, options=chain),
        hkmmlu([1, 1, 1, 1], "hkmmlu_cot", shots=0, options=chain),
    ]

    (table,) = [table for table in shown(*runs) if table.name == "hkmmlu_cot"]

    assert cells(table, "Condition", "Difference") == [
        ("direct, 0-shot", None),
        ("chain of thought, 0-shot", 0.75),
        ("chain of thought, 1-shot", 0.5),
    ]


def test_three_numbers_of_shots_make_a_line() -> None:
    runs = [law([1, 0], shots=shots) for shots in (5, 0, 1)]

    (section,) = conditions.sections(runs)
    table, chart = section.blocks

    assert isinstance(table, Table)
    assert isinstance(chart, Chart)
    assert cells(table, "Condition") == [("0-shot",), ("1-shot",), ("5-shot",)]
    assert chart.spec["layer"][1]["mark"]["type"] == "line"
    assert chart.spec["layer"][1]["encoding"]["x"]["sort"] == ["0-shot", "1-shot", "5-shot"]


def test_language_and_format_of_the_prompt_make_a_square() -> None:
    answers = {
        "zh": [1, 0, 0, 0],
        "zh+scaffold": [1, 1, 0, 0],
        "yue": [1, 1, 1, 0],
        "yue+scaffold": [1, 0, 0, 0],
    }
    runs = [law(acc, options={**PAPER, "prompt": prompt}) for prompt, acc in answers.items()]

    *_, square = shown(*runs)

    assert sorted(cells(square, "Language", "Strict", "Scaffold", "Scaffold − strict")) == [
        ("yue", 0.75, 0.25, -0.5),
        ("zh", 0.25, 0.5, 0.25),
    ]


def test_generation_and_log_likelihood_are_two_rankings() -> None:
    runs = [
        law([1, 1, 1, 0], label="talker"),
        law([1, 0, 0, 0], label="guesser"),
        law([1, 0, 0, 0], "hkcanto_law_mc", label="talker"),
        law([1, 1, 0, 0], "hkcanto_law_mc", label="guesser"),
    ]

    (section,) = conditions.sections(runs)
    table, note = section.blocks

    assert isinstance(table, Table)
    assert isinstance(note, Note)
    assert cells(table, "Model", "Rank by generation", "Rank by log-likelihood") == [
        ("talker", 1, 2),
        ("guesser", 2, 1),
    ]
    assert note.level == "warning"
    assert "talker > guesser by generation, guesser > talker by log-likelihood" in note.text


def test_the_order_of_options_is_a_condition() -> None:
    (table,) = shown(law([1, 1]), law([0, 1], options={**PAPER, "shuffle_choices": "1"}))

    assert cells(table, "Condition", "Difference") == [
        ("shuffle_choices:no", None),
        ("shuffle_choices:1", -0.5),
    ]


@pytest.mark.parametrize(
    "other",
    [
        law([1, 0], label="other", shots=0),
        law([1, 0], data="sample", shots=0),
        law([1, 0], "hkcanto_law_mc", shots=0),
    ],
    ids=["another model", "other data", "two differences"],
)
def test_what_differs_in_more_than_one_thing_is_not_compared(other: Evaluation) -> None:
    assert shown(law([1, 0]), other) == []
