"""The overview: a row for each evaluation, and what a reader must know before reading it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from hkcanto_tasks.corpus_figures import Pair
from hkcanto_tasks.reports.analyses import ANALYSES, analyses, overview
from hkcanto_tasks.reports.blocks import Chart, Note, Section, Table

from .building import evaluation


def table_of(sections: Sequence[Section], name: str) -> Table:
    blocks = [block for section in sections for block in section.blocks]
    return next(block for block in blocks if isinstance(block, Table) and block.name == name)


def notes_of(sections: Sequence[Section]) -> list[Note]:
    blocks = [block for section in sections for block in section.blocks]
    return [block for block in blocks if isinstance(block, Note)]


def column(table: Table, name: str) -> list[object]:
    place = [column.name for column in table.columns].index(name)
    return [row.cells[place].value for row in table.rows]


CULTURAL = ["food", "food", "food", "food", "local_knowledge"]


def test_the_headline_is_averaged_as_the_paper_averages_it() -> None:
    # Cultural: the mean over subjects, (1/4 + 1/1) / 2; law: over questions, 2/5.
    cultural = evaluation("hkcanto_cultural", {"acc": [1, 0, 0, 0, 1]}, subjects=CULTURAL)
    law = evaluation("hkcanto_law", {"acc": [1, 0, 0, 0, 1]})

    table = table_of(overview.sections([cultural, law]), "overview")

    assert column(table, "Result") == [pytest.approx(0.625), pytest.approx(0.4)]
    assert column(table, "Measure") == ["Accuracy, mean over subjects", "Accuracy"]


def test_a_score_of_a_corpus_stands_among_percentages() -> None:
    pairs = [Pair("我哋去飲茶", "我哋去飲茶", "We go for dim sum.")] * 3
    perfect = evaluation("hkcanto_translation_en_yue", {}, pairs=pairs)

    table = table_of(overview.sections([perfect]), "overview")

    assert column(table, "Result") == [pytest.approx(1.0)]  # chrF 100


def test_models_under_one_condition_stand_together() -> None:
    runs = [
        evaluation("hkcanto_law", {"acc": [1]}, label="a"),
        evaluation("hkcanto_law_mc", {"acc": [1]}, label="a"),
        evaluation("hkcanto_law", {"acc": [0]}, label="b"),
    ]

    table = table_of(overview.sections(runs), "overview")

    assert column(table, "Model") == ["a", "b", "a"]
    assert column(table, "Condition") == ["5-shot", "5-shot", "log-likelihood, 5-shot"]


def test_equal_figures_are_counted_and_others_named() -> None:
    run = evaluation("hkcanto_cultural", {"acc": [1, 0, 0, 0, 1]}, subjects=CULTURAL, label="model")
    right = {((), "acc"): 0.4, ((), "acc_macro"): 0.625, (("food",), "acc"): 0.25}

    (agreed,) = [note for note in _said(replace(run, reported=right)) if "equal" in note.text]
    (differs,) = [
        note
        for note in _said(replace(run, reported={**right, (("local_knowledge",), "acc"): 0.5}))
        if "differ" in note.text
    ]

    assert (agreed.level, agreed.text[:17]) == ("info", "3 figures equal t")
    assert differs.level == "warning"
    assert "Accuracy of local_knowledge is 1 here, 0.5 in lm-eval" in differs.text


def test_a_difference_in_the_tenth_digit_is_one_of_rounding() -> None:
    run = evaluation("hkcanto_law", {"acc": [1, 0]})

    assert _said(replace(run, reported={((), "acc"): 0.5 + 1e-8}))[-1].level == "warning"
    assert _said(replace(run, reported={((), "acc"): 0.5 + 1e-10}))[-1].level == "info"


def test_figures_of_categories_are_checked_too() -> None:
    run = evaluation("hkmmlu", {"acc": [1, 0, 0]}, subjects=["dentistry", "dentistry", "hk_law"])

    notes = _said(replace(run, reported={((), "acc_stem"): 0.5}))

    assert notes[-1].text.startswith("1 figures equal")


def test_sample_data_and_parts_are_warned_of() -> None:
    sample = evaluation("hkcanto_law", {"acc": [1]}, data="sample")
    part = evaluation("hkcanto_law", {"acc": [1, 0]})

    (of_sample, _) = _said(sample)
    (of_part, _) = _said(part)

    assert "comparable with nothing" in of_sample.text
    # The paper counts 424 questions; the 15 other subjects are missing.
    assert "2 of 424 items (15 subjects are missing)" in of_part.text
    assert {of_sample.level, of_part.level} == {"warning"}


def test_what_is_to_know_of_a_run_is_said() -> None:
    run = replace(evaluation("hkcanto_law", {"acc": [1]}), notes=("judged by a person",))

    assert any("judged by a person" in note.text for note in _said(run))


def test_a_chart_is_drawn_only_of_several_tasks() -> None:
    law = evaluation("hkcanto_law", {"acc": [1, 0]})
    phonology = evaluation("hkcanto_phonology", {"acc": [1, 0]})

    def charts(*runs: object) -> list[Chart]:
        (section,) = overview.sections(runs)  # type: ignore[arg-type]
        return [block for block in section.blocks if isinstance(block, Chart)]

    assert charts(law) == []
    (chart,) = charts(law, phonology)
    assert chart.spec["width"] == "container"


def test_nothing_is_said_of_nothing() -> None:
    for module in _own():
        assert list(module.sections([])) == []


def test_names_are_unique_and_rows_as_wide_as_their_table() -> None:
    def runs(options: dict[str, str], task: str, shots: int) -> list[object]:
        subjects = ["dentistry", "hk_law", "physics"] * 10
        values = {"acc": [1.0, 0.0] * 15, "unparsed_rate": [0.0, 1.0] * 15}
        return [
            replace(
                evaluation(
                    task,
                    values,
                    subjects=subjects,
                    ids=[f"hkmmlu/{i}" for i in range(30)],
                    label=label,
                    shots=shots,
                    question_lengths=list(range(30)),
                    parts=[("hkdse",)] * 30,
                ),
                options=options,
            )
            for label in ("a", "b")
        ]

    paper = {"prompt": "paper", "script": "tc"}
    evaluations = [
        *runs(paper, "hkmmlu", 0),
        *runs(paper, "hkmmlu", 1),
        *runs({"prompt": "yue", "script": "tc"}, "hkmmlu", 0),
        *runs({"prompt": "yue+scaffold", "script": "tc"}, "hkmmlu", 0),
        *runs(paper, "hkmmlu_mc", 0),
        *runs({"prompt": "paper", "script": "sc"}, "hkmmlu_sc", 0),
        *runs({"prompt": "paper", "script": "tc", "cot": "yes"}, "hkmmlu_cot", 0),
    ]
    sections = [part for module in _own() for part in module.sections(evaluations)]
    tables = [block for part in sections for block in part.blocks if isinstance(block, Table)]

    assert len({section.name for section in sections}) == len(sections)
    assert len({table.name for table in tables}) == len(tables)
    assert {len(table.columns) == len(row.cells) for table in tables for row in table.rows} == {
        True
    }


def _said(run: object) -> list[Note]:
    return notes_of(overview.sections([run]))  # type: ignore[list-item]


def _own() -> list[object]:
    own = ("overview", "subjects", "conditions", "lengths", "extraction", "items")
    return [module for name, module in zip(ANALYSES, analyses(), strict=True) if name in own]
