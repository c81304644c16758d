"""Results by category, subset and subject."""

from collections.abc import Sequence

import pytest

from hkcanto_tasks.reports.blocks import Table, Value
from hkcanto_tasks.reports.intervals import Estimate
from hkcanto_tasks.runs import Run

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

    # Wilson's interval of 3 successes in 4, worked with z = 1.96: (3 + 1.92) / (4 + 3.84) ± …
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


def test_the_accuracies_of_the_models_are_drawn() -> None:
    for found in tables(hkmmlu("a", [1, 1, 0, 1]), hkmmlu("b", [0, 0, 0, 1])).values():
        assert [column.title for column in found.columns if column.drawn] == ["a", "b"]


def test_tasks_without_right_and_wrong_have_no_section() -> None:
    run = a_run("hkcanto_g2p", {"cer_published": [0.5, 0.0]})

    assert list(sections("subjects", [run])) == []
