"""The report's analysis of how Cantonese the texts are."""

import pytest

from hkcanto_tasks.results.reports.blocks import Section, Table
from hkcanto_tasks.results.statistics.intervals import Estimate

from .building import a_run, sections


def table(section: Section, name: str) -> list[dict[str, object]]:
    (found,) = [b for b in section.blocks if isinstance(b, Table) and b.name == name]
    return [
        {
            column.title: value.value if isinstance(value, Estimate) else value
            for column, value in zip(found.columns, row.values, strict=True)
        }
        for row in found.rows
    ]


def answers(label: str = "model", **values: list[float]):
    return a_run("hkcanto_fluency", {"fluent": [1, 1, 0, 1], **values}, label=label)


def test_every_task_that_asks_for_cantonese_has_a_row():
    (section,) = sections(
        "fluency",
        [
            answers(),
            a_run("hkcanto_summarization", {"fluent": [0, 1], "length_penalty": [1, 0.8]}),
            a_run("hkcanto_translation_en_yue", {"fluent": [0, 0]}),
            a_run("hkcanto_law", {"acc": [1]}),
        ],
    )
    rows = table(section, "fluency")
    assert [row["Fluent Cantonese"] for row in rows] == [0.75, 0.5, 0]
    assert [row["Length penalty"] for row in rows] == [None, pytest.approx(0.9), None]


def test_cantonese_words_are_pooled_over_the_texts():
    # 3 of 3 words and 0 of 1 make 3 of 4; the mean of the texts' shares would be a half.
    made = a_run(
        "hkcanto_fluency",
        {"fluent": [1, 0], "cantonese_ratio": [1, 0]},
        weights={"cantonese_ratio": [3, 1]},
    )
    (row,) = table(sections("fluency", [made])[0], "fluency")
    assert row["Cantonese features"] == 0.75


def test_figures_that_no_task_has_get_no_column():
    (row,) = table(sections("fluency", [answers()])[0], "fluency")
    assert "Simplified characters" not in row
    assert "Length penalty" not in row


def test_length_and_script_are_means():
    made = answers(n_characters=[10, 20, 30, 40], simplified_ratio=[0, 0, 0, 1])
    (row,) = table(sections("fluency", [made])[0], "fluency")
    assert row["Length"] == 25
    assert row["Simplified characters"] == 0.25


def test_the_share_of_cantonese_texts_is_drawn():
    (section,) = sections("fluency", [answers("a"), answers("b")])
    (found,) = section.blocks
    assert [column.title for column in found.columns if column.drawn] == ["Fluent Cantonese"]


def test_two_conditions_of_a_task_are_two_rows():
    other = a_run("hkcanto_fluency", {"fluent": [0, 0]}, data="sample")
    rows = table(sections("fluency", [answers(), other])[0], "fluency")
    assert len({row["Task and condition"] for row in rows}) == 2


def test_a_judges_points_are_shown_where_there_was_a_judge():
    judged = a_run(
        "hkcanto_summarization",
        {"fluent": [1, 1], "judged_score": [0.9, 0.5], "relevance": [5, 3], "accuracy": [5, 1]},
    )
    (row,) = table(sections("fluency", [judged])[0], "summaries_judged")
    assert row["Judged score"] == pytest.approx(0.7)
    assert (row["Relevance"], row["Accuracy"]) == (4, 3)


def test_other_tasks_have_nothing_to_say():
    assert sections("fluency", [a_run("hkcanto_law", {"acc": [1]})]) == []
