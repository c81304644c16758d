"""Results by category, subset and subject."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from statsmodels.stats.multitest import multipletests

from hkcanto_tasks.results.reports.blocks import Note, Table, Value
from hkcanto_tasks.results.runs import Run
from hkcanto_tasks.results.statistics.intervals import Estimate

from .building import a_run, sections


def tables(*runs: Run) -> dict[str, Table]:
    (section,) = sections("subjects", runs)
    found = [block for block in section.blocks if isinstance(block, Table)]
    return {table.name.split("_")[0]: table for table in found}


def figures(table: Table, model: str) -> dict[object, object]:
    place = [column.title for column in table.columns].index(model)
    return {row.values[0]: number(row.values[place]) for row in table.rows}


def number(value: Value) -> object:
    return value.value if isinstance(value, Estimate) else value


def hkmmlu(label: str, acc: Sequence[float], task: str = "hkmmlu") -> Run:
    names = ["dentistry", "dentistry", "hkdse_physics", "hk_law"]
    sets: list[tuple[str, ...]] = [(), (), ("hkdse",), ("hk_specific",)]
    return a_run(task, {"acc": acc}, subjects=names, parts=sets, label=label)


def test_categories_and_subsets_of_all_models_stand_side_by_side() -> None:
    found = tables(hkmmlu("a", [1, 1, 0, 1]), hkmmlu("b", [0, 0, 0, 1]))["categories"]

    assert figures(found, "a") == {
        "All questions": pytest.approx(3 / 4),
        "Mean over subjects": pytest.approx(2 / 3),
        "STEM": pytest.approx(2 / 3),
        "Humanities": 1.0,
        "HKDSE": 0.0,
        "Hong Kong-specific": 1.0,
    }
    assert figures(found, "b")["STEM"] == 0.0
    assert figures(found, "Items")["STEM"] == 3


def test_intervals_are_wilsons() -> None:
    found = tables(hkmmlu("a", [1, 1, 0, 1]))["categories"]

    # Wilson's interval for 3 of 4, with z = 1.96: (3 + 1.92) / (4 + 3.84) ± …
    whole = found.rows[0].values[2]
    assert isinstance(whole, Estimate)
    assert (whole.low, whole.high) == (
        pytest.approx(0.3006, abs=1e-4),
        pytest.approx(0.9544, abs=1e-4),
    )


def test_tmmluplus_averages_a_category_over_its_subjects() -> None:
    run = a_run(
        "tmmluplus_gen",
        {"acc": [1, 0, 0, 0, 1, 1]},
        subjects=["physics", "physics", "physics", "physics", "organic_chemistry", "accounting"],
    )
    (section,) = sections("subjects", [run])
    found = figures(section.blocks[0], "model")  # type: ignore[arg-type]

    assert found["STEM"] == pytest.approx((1 / 4 + 1) / 2)
    assert found["Mean over categories"] == pytest.approx(((1 / 4 + 1) / 2 + 1) / 2)


def test_each_subject_has_both_names_and_its_number_of_items() -> None:
    found = tables(hkmmlu("a", [1, 0, 0, 1]))["subjects"]

    assert [[number(value) for value in row.values] for row in found.rows] == [
        ["Dentistry", "牙醫學", "STEM", 2, 0.5],
        ["HKDSE Physics", "香港中學文憑考試物理", "STEM", 1, 0.0],
        ["Hong Kong Law", "香港法律", "Humanities", 1, 1.0],
    ]


def test_types_of_question_are_shown_for_a_task_of_one_subject() -> None:
    sets = [("homophone",), ("rhyme",), ("tone", "misc"), ("couplet", "misc")]
    run = a_run("hkcanto_phonology", {"acc": [1, 0, 1, 0]}, parts=sets)

    found = tables(run)

    assert list(found) == ["categories"]
    assert figures(found["categories"], "model") == {
        "All questions": 0.5,
        "Homophone": 1.0,
        "Rhyme": 0.0,
        "Tone": 1.0,
        "Couplet": 0.0,
        "Miscellaneous": 0.5,
    }


def test_a_model_without_a_subject_has_an_empty_cell() -> None:
    part = a_run("hkmmlu", {"acc": [1]}, subjects=["dentistry"], label="b")

    found = figures(tables(hkmmlu("a", [1, 1, 1, 1]), part)["subjects"], "b")

    assert found == {"Dentistry": 1.0, "HKDSE Physics": None, "Hong Kong Law": None}


def test_the_accuracies_of_two_models_are_drawn() -> None:
    found = tables(hkmmlu("a", [1, 1, 0, 1]), hkmmlu("b", [0, 0, 0, 1]))
    for name in ("categories", "subjects"):
        assert [column.title for column in found[name].columns if column.drawn] == ["a", "b"]


def test_three_models_are_a_plot_for_each_category_and_a_map_from_chance() -> None:
    runs = [hkmmlu(label, [1, 1, 0, 1]) for label in "abc"]
    found = tables(*runs)
    assert list(found) == ["categories", "subjects"]
    assert found["categories"].panels
    # Questions with four options: one in four guesses is right.
    scales = [column.scale for column in found["subjects"].columns]
    assert scales == [None] * 4 + [(0.25, 1.0)] * 3


def by_subject(values: Mapping[str, Sequence[float]], label: str, **more: Any) -> Run:
    names = [name for name, own in values.items() for _ in own]
    acc = [value for own in values.values() for value in own]
    return a_run("hkmmlu", {"acc": acc}, subjects=names, label=label, **more)


WRONG = {"dentistry": [0] * 8, "hkdse_physics": [1] * 3, "hk_law": [0, 1, 1, 0]}
BETTER = {"dentistry": [1] * 8, "hkdse_physics": [0] * 3, "hk_law": [0, 1, 1, 1]}


def test_two_models_are_compared_on_each_subject_from_gain_to_loss() -> None:
    (found,) = (
        block
        for block in sections("subjects", [by_subject(WRONG, "a"), by_subject(BETTER, "b")])[
            0
        ].blocks
        if isinstance(block, Table) and block.name.startswith("subject_differences")
    )
    # McNemar's test for 8, 1 and 3 pairs that all favour one model: 2 / 2⁸, 1 and 2 / 2³.
    p_values = [2 / 2**8, 1, 2 / 2**3]
    holm = multipletests(p_values, method="holm")[1]
    assert figures(found, "Difference") == {
        "Dentistry": 1.0,
        "Hong Kong Law": 0.25,
        "HKDSE Physics": -1.0,
    }
    assert list(figures(found, "Difference")) == ["Dentistry", "Hong Kong Law", "HKDSE Physics"]
    assert list(figures(found, "p").values()) == pytest.approx(p_values)
    assert list(figures(found, "p by Holm").values()) == pytest.approx(list(holm))


def test_models_on_other_items_are_not_compared_by_subject_and_it_is_said_why() -> None:
    other = by_subject(BETTER, "b", ids=[f"hkmmlu/other/{i}" for i in range(15)])
    (section,) = sections("subjects", [by_subject(WRONG, "a"), other])
    (note,) = (block for block in section.blocks if isinstance(block, Note))
    assert note.text.startswith("The differences by subject are not shown: ")
    assert "15 items are only in a" in note.text
    assert "subject" not in tables(by_subject(WRONG, "a"), other)


def test_tasks_without_right_and_wrong_have_no_section() -> None:
    run = a_run("hkcanto_g2p", {"cer_published": [0.5, 0.0]})

    assert list(sections("subjects", [run])) == []
