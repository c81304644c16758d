"""What the report says of how Cantonese texts are."""

import pytest

from hkcanto_tasks.reports.analyses.fluency import sections
from hkcanto_tasks.reports.blocks import Chart, Section, Table

from .building import evaluation


def table(section: Section, name: str) -> list[dict[str, object]]:
    (found,) = [b for b in section.blocks if isinstance(b, Table) and b.name == name]
    return [
        dict(zip((c.name for c in found.columns), (c.value for c in row.cells), strict=True))
        for row in found.rows
    ]


def answers(label: str = "model", **values: list[float]):
    return evaluation("hkcanto_fluency", {"fluent": [1, 1, 0, 1], **values}, label=label)


def data_of(chart: Chart) -> list[dict[str, object]]:
    (values,) = chart.spec["datasets"].values()
    return values


def test_every_task_that_asks_for_cantonese_has_a_row():
    (section,) = sections(
        [
            answers(),
            evaluation("hkcanto_summarization", {"fluent": [0, 1], "length_penalty": [1, 0.8]}),
            evaluation("hkcanto_translation_en_yue", {"fluent": [0, 0]}),
            evaluation("hkcanto_law", {"acc": [1]}),
        ]
    )
    rows = table(section, "fluency")
    assert [row["Fluent Cantonese"] for row in rows] == [0.75, 0.5, 0]
    assert [row["Length penalty"] for row in rows] == [None, pytest.approx(0.9), None]


def test_cantonese_words_are_pooled_over_the_texts():
    # 3 of 3 words and 0 of 1: 3 of 4 in all, where the mean of the texts' shares is a half.
    made = evaluation(
        "hkcanto_fluency",
        {"fluent": [1, 0], "cantonese_ratio": [1, 0]},
        weights={"cantonese_ratio": [3, 1]},
    )
    (row,) = table(sections([made])[0], "fluency")
    assert row["Cantonese features"] == 0.75


def test_figures_that_no_task_has_get_no_column():
    (row,) = table(sections([answers()])[0], "fluency")
    assert "Simplified characters" not in row
    assert "Length penalty" not in row


def test_length_and_script_are_means():
    made = answers(n_characters=[10, 20, 30, 40], simplified_ratio=[0, 0, 0, 1])
    (row,) = table(sections([made])[0], "fluency")
    assert row["Length"] == 25
    assert row["Simplified characters"] == 0.25


def test_the_chart_has_a_mark_for_each_model_and_task():
    summaries = evaluation("hkcanto_summarization", {"fluent": [0, 1]}, label="b")
    (section,) = sections([answers("a"), answers("b"), summaries])
    (chart,) = [block for block in section.blocks if isinstance(block, Chart)]
    marks = [(v["row"], v["series"], v["value"]) for v in data_of(chart)]
    assert marks == [
        ("hkcanto_fluency", "a", 0.75),
        ("hkcanto_fluency", "b", 0.75),
        ("hkcanto_summarization", "b", 0.5),
    ]


def test_two_conditions_of_a_task_are_two_rows_of_the_chart():
    other = evaluation("hkcanto_fluency", {"fluent": [0, 0]}, data="sample")
    (section,) = sections([answers(), other])
    (chart,) = [block for block in section.blocks if isinstance(block, Chart)]
    assert len({value["row"] for value in data_of(chart)}) == 2


def test_a_judges_points_are_shown_where_there_was_a_judge():
    judged = evaluation(
        "hkcanto_summarization",
        {"fluent": [1, 1], "judged_score": [0.9, 0.5], "relevance": [5, 3], "accuracy": [5, 1]},
    )
    (row,) = table(sections([judged])[0], "summaries_judged")
    assert row["Judged score"] == pytest.approx(0.7)
    assert (row["Relevance"], row["Accuracy"]) == (4, 3)


def test_other_tasks_have_nothing_to_say():
    assert sections([evaluation("hkcanto_law", {"acc": [1]})]) == []
