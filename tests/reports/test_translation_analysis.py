"""The report's translation section: raw and normalised figures, faults, a judge's figures."""

import pytest

from hkcanto_tasks.figures import Pair
from hkcanto_tasks.results.reports.blocks import Note, Section, Table
from hkcanto_tasks.results.runs import Run
from hkcanto_tasks.results.statistics.intervals import Estimate

from .building import a_run, sections

TASK = "hkmmlu_translation_yue_zh"
REFERENCE = "他说这里没有人"
RIGHT_SCRIPT = Pair(REFERENCE, REFERENCE, "佢話呢度冇人")
WRONG_SCRIPT = Pair("他說這裡沒有人", REFERENCE, "佢話呢度冇人")


def run(pairs: list[Pair], task: str = TASK, **values: list[float]) -> Run:
    return a_run(task, {"empty": [0.0] * len(pairs), **values}, pairs=pairs)


def tables(section: Section) -> dict[str, list[dict[str, object]]]:
    return {
        block.name: [
            {
                column.title: value.value if isinstance(value, Estimate) else value
                for column, value in zip(block.columns, row.values, strict=True)
            }
            for row in block.rows
        ]
        for block in section.blocks
        if isinstance(block, Table)
    }


def test_the_gap_is_what_the_wrong_script_costs():
    # 3 of 7 characters are equal in both scripts; after folding, all are.
    (section,) = sections("translation", [run([WRONG_SCRIPT])])
    scores = {row["Figure"]: row for row in tables(section)[f"translation_{TASK}_0_shot"]}
    assert scores["ROUGE-L"]["Raw"] == pytest.approx(300 / 7)
    assert scores["ROUGE-L"]["Normalised"] == pytest.approx(100)
    assert scores["ROUGE-L"]["Gap"] == pytest.approx(400 / 7)


def test_the_right_script_has_no_gap():
    (section,) = sections("translation", [run([RIGHT_SCRIPT])])
    for row in tables(section)[f"translation_{TASK}_0_shot"]:
        assert row["Gap"] == 0


def test_every_figure_is_there_in_both_forms():
    (section,) = sections("translation", [run([WRONG_SCRIPT])])
    rows = tables(section)[f"translation_{TASK}_0_shot"]
    assert [row["Figure"] for row in rows] == [
        "BLEU",
        "BLEU-2",
        "chrF",
        "METEOR",
        "ROUGE-L",
        "Mean",
    ]
    mean = (rows[0]["Raw"] + rows[3]["Raw"] + rows[4]["Raw"]) / 3
    assert rows[5]["Raw"] == pytest.approx(mean)


def test_faults_are_shares_of_the_outputs():
    made = run([RIGHT_SCRIPT, WRONG_SCRIPT], wrong_script=[0.0, 1.0], copied_source=[0.0, 0.0])
    (section,) = sections("translation", [made])
    (faults,) = tables(section)["translation_faults"]
    assert faults["Wrong script"] == 0.5
    assert faults["Copied source"] == faults["Empty"] == 0
    assert "Fluent Cantonese" not in faults


def test_into_cantonese_fluency_stands_beside_the_faults():
    pair = Pair("佢係我朋友", "佢係我嘅朋友", "他是我的朋友")
    runs = [run([pair, pair], "hkcanto_translation_zh_yue", fluent=[1.0, 0.0])]
    (section,) = sections("translation", runs)
    (faults,) = tables(section)["translation_faults"]
    assert faults["Fluent Cantonese"] == 0.5


@pytest.mark.parametrize(
    ("task", "warned"),
    [("hkcanto_translation_yue_zh", True), ("hkcanto_translation_yue_en", False)],
)
def test_bleu_is_called_a_diagnostic_where_chinese_is_written(task: str, warned: bool):
    (section,) = sections("translation", [run([Pair("a b c d", "a b c d", "…")], task)])
    warnings = [b for b in section.blocks if isinstance(b, Note) and b.level == "warning"]
    assert bool(warnings) == warned
    assert all("Appendix F" in note.text for note in warnings)


def test_each_direction_and_condition_has_its_own_table():
    (section,) = sections(
        "translation",
        [
            run([RIGHT_SCRIPT], "hkcanto_translation_yue_zh"),
            run([RIGHT_SCRIPT], "hkcanto_translation_yue_zh_0shot"),
            run([RIGHT_SCRIPT], "hkmmlu_translation_yue_zh"),
        ],
    )
    scores = [name for name in tables(section) if name != "translation_faults"]
    assert len(scores) == 3


def test_raw_and_normalised_are_drawn_as_scores():
    (section,) = sections("translation", [run([WRONG_SCRIPT])])
    (scores,) = [
        b for b in section.blocks if isinstance(b, Table) and b.rows[0].values[1] == "BLEU"
    ]
    drawn = {column.title: column.unit for column in scores.columns if column.drawn}
    assert drawn == {"Raw": "score", "Normalised": "score"}


def test_a_judges_figures_are_shown_where_there_was_a_judge():
    judged = run(
        [RIGHT_SCRIPT, WRONG_SCRIPT],
        judged_accuracy=[1.0, 0.5],
        judge_failure_rate=[0.0, 0.5],
        Omission=[0.0, 1.0],
    )
    (section,) = sections("translation", [judged, run([RIGHT_SCRIPT])])
    (row,) = tables(section)["translation_judged"]
    assert row["Judged accuracy"] == 0.75
    assert row["Failed judgements"] == 0.25
    assert row["Omission"] == 0.5
    assert "Orthography" not in row


def test_an_unscored_item_is_not_zero():
    judged = run([RIGHT_SCRIPT, WRONG_SCRIPT], judged_accuracy=[0.8, float("nan")])
    (section,) = sections("translation", [judged])
    (row,) = tables(section)["translation_judged"]
    assert row["Judged accuracy"] == pytest.approx(0.8)


def test_without_pairs_there_are_faults_but_no_scores():
    (section,) = sections("translation", [a_run(TASK, {"empty": [1.0, 0.0]})])
    assert list(tables(section)) == ["translation_faults"]


def test_other_tasks_have_nothing_to_say():
    assert sections("translation", [a_run("hkcanto_law", {"acc": [1]})]) == []
