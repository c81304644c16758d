"""Runs stand beside the papers' rows on the same measure only, with rank and distances."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from statsmodels.stats.proportion import proportion_confint

from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.corpus_figures import Pair
from hkcanto_tasks.reports.analyses.against_published import sections
from hkcanto_tasks.reports.blocks import Block, Cell, Chart, Note, Row, Section, Table
from hkcanto_tasks.reports.evaluations import Evaluation

from .building import evaluation


def run(
    task: str,
    share: float | Mapping[str, float] = 0.5,
    *,
    label: str = "mine",
    metric: str = "acc",
    subjects: Sequence[str] | None = None,
    shots: int | None = None,
    data: str = "ba2a58b",
    **options: str,
) -> Evaluation:
    """Return an evaluation of whole subjects; `share` of the items of each are right."""
    values, names = [], []
    for subject in find_task(task).subjects:
        if subjects is None or subject.name in subjects:
            right = round(
                (share if isinstance(share, float) else share[subject.name]) * subject.rows
            )
            values += [1.0] * right + [0.0] * (subject.rows - right)
            names += [subject.name] * subject.rows
    made = evaluation(task, {metric: values}, label=label, subjects=names, shots=shots, data=data)
    return replace(made, options={**made.options, **options})


def section(found: Sequence[Section], name: str) -> Section:
    return next(section for section in found if section.name == name)


def tables(found: Section) -> list[Table]:
    return [block for block in found.blocks if isinstance(block, Table)]


def notes(blocks: Sequence[Block]) -> list[Note]:
    return [block for block in blocks if isinstance(block, Note)]


def row(table: Table, name: str) -> Row:
    return next(row for row in table.rows if row.cells[0].value == name)


def cell(table: Table, name: str, column: str) -> Cell:
    place = [column.name for column in table.columns].index(column)
    return row(table, name).cells[place]


def left_out(*evaluations: Evaluation) -> str:
    (note,) = notes(section(sections(evaluations), "published-not-compared").blocks)
    return note.text


# ---------------------------------------------------------------- place among the paper's rows


def test_a_run_stands_where_its_score_puts_it() -> None:
    scores, _ = tables(section(sections([run("hkcanto_cultural")]), "published-hkcanto-7"))
    names = [row.cells[0].value for row in scores.rows]
    place = names.index("mine")
    # Half of each subject's questions: between 50.7 and 42.7 under Average.
    assert names[place - 1 : place + 2] == ["Yi 1.5 6B", "mine", "Mistral Nemo 12B"]
    assert len(scores.rows) == 25 + 1
    assert row(scores, "mine").kind == "run"


def test_ranks_count_models_but_not_people_or_random_answers() -> None:
    scores, _ = tables(section(sections([run("hkcanto_cultural")]), "published-hkcanto-7"))
    # 20 of the 23 models are better than 50 %; people, with 75.6, are not among them.
    assert cell(scores, "mine", "Rank").value == 21
    assert cell(scores, "Mistral Nemo 12B", "Rank").value == 22
    assert cell(scores, "Human", "Rank").value is None
    assert cell(scores, "Random", "Rank").value is None
    assert (row(scores, "Human").kind, row(scores, "Random").kind) == ("human", "random")


def test_distances_are_in_points_to_the_best_model_to_people_and_to_random_answers() -> None:
    _, distances = tables(section(sections([run("hkcanto_cultural")]), "published-hkcanto-7"))
    assert cell(distances, "mine", "Rank").value == 21
    # 50.0 − 77.7, 50.0 − 75.6 and 50.0 − 28.1.
    expected = {"the best model, Qwen2 72B": -0.277, "Human": -0.256, "Random": 0.219}
    for name, points in expected.items():
        found = cell(distances, "mine", f"To {name}")
        assert found.value == pytest.approx(points, abs=1e-9)
        assert found.low is not None
        assert found.low < points < (found.high or -1)


def test_equal_scores_share_a_rank() -> None:
    # 27/54, 28/56, … of every subject, twice.
    runs = [run("hkcanto_cultural", label="a"), run("hkcanto_cultural", label="b")]
    scores, _ = tables(section(sections(runs), "published-hkcanto-7"))
    ranks = [cell(scores, name, "Rank").value for name in ("a", "b", "Mistral Nemo 12B")]
    assert ranks == [21, 21, 23]


def test_the_fewest_errors_are_the_best() -> None:
    made = run("hkcanto_g2p", 0.1, metric="cer_published")  # 14 of 145: between 7.9 and 12.0 %
    scores, distances = tables(section(sections([made]), "published-hkcanto-3"))
    assert [row.cells[0].value for row in scores.rows[:4]] == [
        "Rule Based",
        "GPT4o",
        "Claude 3.5 Sonnet",
        "mine",
    ]
    assert cell(scores, "mine", "Rank").value == 3
    to_best = cell(distances, "mine", "To the best model, GPT4o").value
    assert to_best == pytest.approx(14 / 145 - 0.054)
    assert cell(scores, "mine", "Levenshtein").value is None


def test_subjects_stand_beside_those_of_the_paper() -> None:
    made = run("tmmluplus_gen", subjects=["economics", "physics"])
    (by_subject,) = tables(section(sections([made]), "published-tmmluplus-11"))
    assert len(by_subject.rows) == 66
    assert cell(by_subject, "economics", "GPT-4").value == 0.6845
    # Wilson for 196 of 393.
    low, high = proportion_confint(196, 393, method="wilson")
    found = cell(by_subject, "economics", "mine")
    assert (found.value, found.low, found.high) == pytest.approx((196 / 393, low, high))
    assert found.note == ""
    assert cell(by_subject, "trade", "mine").value is None


def test_a_category_alone_has_a_rank_in_its_column() -> None:
    stem = [s.name for s in find_task("hkmmlu").subjects if s.category == "stem"]
    scores, _ = tables(section(sections([run("hkmmlu", subjects=stem)]), "published-hkmmlu-1"))
    # Half right. Better are 12 under STEM TC: 74.5, 75.0, 74.3, 55.6, 60.5, 73.5, 59.6, 63.8, 55.9,
    # 63.8, 71.9 and 56.2.
    assert cell(scores, "mine", "Rank").value == 13
    assert cell(scores, "mine", "STEM TC").note == ""
    assert cell(scores, "mine", "Avg. TC").note == "not all items"
    assert cell(scores, "mine", "Other TC").value is None


def test_translation_keeps_its_scale_and_differs_in_points() -> None:
    # Ten characters each, without error: BLEU and ROUGE-L 100, METEOR 100 − 50 / 10³ = 99.95.
    sentence = "我們去了海邊看日落啊"
    pairs = [Pair(sentence, sentence, "我哋去咗海邊睇日落啊")] * 3
    made = evaluation("hkmmlu_translation_yue_zh", {}, label="mine", pairs=pairs)
    scores, distances = tables(section(sections([made]), "published-hkmmlu-2"))
    assert cell(scores, "mine", "Avg. C to M").value == pytest.approx(299.95 / 3)
    assert cell(scores, "DeepSeek-V3", "Avg. C to M").value == 72.2
    to_best = cell(distances, "mine", "To the best model, DeepSeek-V3").value
    assert to_best == pytest.approx((299.95 / 3 - 72.2) / 100)


# ---------------------------------------------------------------- figures of several tasks


ENGLISH = ["hkcanto_mmlu_en", "hkcanto_dse_en", "hkcanto_professional_en"]


def questions(task: str) -> int:
    return sum(subject.rows for subject in find_task(task).subjects)


def test_questions_of_several_tasks_are_pooled() -> None:
    runs = [run("hkcanto_dse_en", 1.0), run("hkcanto_professional_en", 0.0)]
    scores, _ = tables(section(sections(runs), "published-hkcanto-1"))
    found = cell(scores, "mine", "Academic & Professional EN")
    right = questions("hkcanto_dse_en")
    total = right + questions("hkcanto_professional_en")
    low, high = proportion_confint(right, total, method="wilson")
    assert (found.value, found.low, found.high) == pytest.approx((right / total, low, high))


def test_an_average_is_of_columns_and_its_interval_of_independent_ones() -> None:
    scores, _ = tables(section(sections([run(task) for task in ENGLISH]), "published-hkcanto-1"))
    columns = ("MMLU EN", "Academic & Professional EN")
    parts = [cell(scores, "mine", column) for column in columns]
    found = cell(scores, "mine", "Average EN")
    assert found.value == pytest.approx(sum(float(str(part.value)) for part in parts) / 2)
    halves = [((part.high or 0) - (part.low or 0)) / 2 for part in parts]
    half = ((found.high or 0) - (found.low or 0)) / 2
    assert half == pytest.approx((halves[0] ** 2 + halves[1] ** 2) ** 0.5 / 2)


def test_an_average_without_all_of_its_parts_is_missing() -> None:
    runs = [run(task) for task in (*ENGLISH[:2], "hkcanto_cultural_0shot")]
    scores, _ = tables(section(sections(runs), "published-hkcanto-1"))
    assert cell(scores, "mine", "MMLU EN").value == pytest.approx(0.5, abs=0.001)
    assert cell(scores, "mine", "Cultural 0-shot").value == 0.5
    for column in ("Academic & Professional EN", "Average EN", "Average ZH/YUE"):
        assert cell(scores, "mine", column).value is None


def test_a_part_of_a_pooled_column_alone_is_left_out_and_says_what_it_lacks() -> None:
    assert left_out(run("hkcanto_dse_en")).endswith(
        "Academic & Professional EN, pools it with hkcanto_professional_en."
    )


def test_two_models_do_not_complete_each_others_rows() -> None:
    runs = [run("hkcanto_dse_en", label="a"), run("hkcanto_professional_en", label="b")]
    assert [section.name for section in sections(runs)] == ["published-not-compared"]


# ---------------------------------------------------------------- the same measure only


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (run("hkmmlu", data="sample"), "sample data are comparable with nothing"),
        (run("hkmmlu_mc"), "ranked by log-likelihood"),
        (run("hkmmlu", shots=7), "no figure of it under this condition (7-shot)"),
        (run("tmmluplus_gen_cot", shots=0), "no figure of it under this condition"),
        (run("hkcanto_cultural", cot="yes"), "under this condition (5-shot, cot:yes)"),
    ],
)
def test_another_measure_is_in_no_table_and_the_report_says_why(
    made: Evaluation, reason: str
) -> None:
    assert [section.name for section in sections([made])] == ["published-not-compared"]
    assert reason in left_out(made)


def test_few_shots_stand_in_their_own_table() -> None:
    found = sections([run("hkmmlu", shots=3)])
    assert [section.name for section in found] == ["published-hkmmlu-8-3shot"]


def test_scripts_stand_in_their_own_columns() -> None:
    runs = [run("hkmmlu", 0.5), run("hkmmlu_sc", 0.4)]
    scores, _ = tables(section(sections(runs), "published-hkmmlu-1"))
    assert cell(scores, "mine", "Avg. TC").value == pytest.approx(0.5, abs=0.001)
    assert cell(scores, "mine", "Avg. SC").value == pytest.approx(0.4, abs=0.001)


def test_chains_of_thought_stand_beside_chains_of_thought() -> None:
    found = sections([run("hkmmlu_cot"), run("hkmmlu", 0.25)])
    scores, _ = tables(section(found, "published-hkmmlu-3"))
    assert cell(scores, "mine", "Avg. 0-CoT").value == pytest.approx(0.5, abs=0.001)
    assert cell(scores, "mine", "Avg. DA").value == pytest.approx(0.25, abs=0.001)
    assert cell(scores, "mine", "Avg. 1-CoT").value is None


def test_direct_answers_alone_show_no_table_that_repeats_another() -> None:
    names = [section.name for section in sections([run("hkmmlu")])]
    assert names == ["published-hkmmlu-1", "published-hkmmlu-11"]


def test_what_people_judged_is_no_measure_of_ours() -> None:
    made = evaluation("hkcanto_translation_yue_en", {"empty": [0.0]}, label="mine")
    assert "people marked the errors in the translations" in left_out(made)
    assert "judged_accuracy" in left_out(made)


# ---------------------------------------------------------------- what differs from the paper


def protocol(made: Evaluation, name: str) -> Note:
    (note,) = (
        note for note in notes(section(sections([made]), name).blocks) if "mine" in note.text
    )
    return note


def test_a_run_as_in_the_paper_says_so_with_its_signature() -> None:
    note = protocol(run("hkcanto_cultural"), "published-hkcanto-7")
    assert note.level == "info"
    assert "the paper's options" in note.text
    assert "hkcanto-cultural|shots:5|data:ba2a58b|v:1|pkg:0.1.0" in note.text


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (run("hkcanto_cultural", prompt="yue"), "its prompt is yue instead of the paper's"),
        (run("hkcanto_cultural", shuffle_choices="7"), "its options are shuffled (seed 7)"),
        (run("hkcanto_cultural", reasoning="yes"), "it had room for a reasoning block"),
        (run("hkcanto_cultural", data="local-1a2b3c4"), "is no known release (local-1a2b3c4)"),
        (
            run("hkcanto_cultural", subjects=["food", "life_in_hk"]),
            "hkcanto_cultural has 124 of 252 items",
        ),
        (replace(run("hkcanto_cultural"), notes=("judged by no one",)), "judged by no one"),
    ],
)
def test_what_differs_from_the_paper_is_said(made: Evaluation, said: str) -> None:
    note = protocol(made, "published-hkcanto-7")
    assert note.level == "warning"
    assert said in note.text


def test_the_release_examples_of_g2p_are_said() -> None:
    made = run("hkcanto_g2p", 0.1, metric="cer_published", examples="release")
    note = protocol(made, "published-hkcanto-3")
    assert "its worked examples are those of the release" in note.text


def test_a_run_with_an_option_of_its_own_is_a_row_of_its_own() -> None:
    runs = [run("hkcanto_cultural"), run("hkcanto_cultural", 0.25, prompt="yue")]
    scores, _ = tables(section(sections(runs), "published-hkcanto-7"))
    assert cell(scores, "mine", "Average").value == 0.5
    assert cell(scores, "mine prompt:yue", "Average").value == pytest.approx(0.25, abs=0.01)


def test_an_incomplete_run_is_shown_without_a_rank() -> None:
    made = evaluation(
        "hkcanto_cultural", {"acc": [1, 1, 1, 0, 1]}, label="mine", subjects=["food"] * 5
    )
    scores, distances = tables(section(sections([made]), "published-hkcanto-7"))
    assert cell(scores, "mine", "Food Culture").value == 0.8
    assert cell(scores, "mine", "Food Culture").note == "not all items"
    for table in (scores, distances):
        assert cell(table, "mine", "Rank") == Cell(None, note="not all items")
    assert cell(scores, "Qwen2 72B", "Rank").value == 1


def test_the_tables_own_protocol_is_said() -> None:
    made = evaluation(
        "hkmmlu_translation_yue_zh", {}, label="mine", pairs=[Pair("他在這裡", "他在这里", "")]
    )
    said = [note.text for note in notes(section(sections([made]), "published-hkmmlu-2").blocks)]
    assert any("does not say how BLEU, METEOR and ROUGE-L divide Chinese" in text for text in said)


# ---------------------------------------------------------------- the chart, and nothing to say


def test_the_chart_marks_the_run_and_draws_people_and_random_answers_as_lines() -> None:
    found = section(sections([run("hkcanto_cultural")]), "published-hkcanto-7")
    (drawn,) = (block for block in found.blocks if isinstance(block, Chart))
    data = drawn.spec["datasets"].values()
    dots = {datum["name"]: datum for values in data for datum in values if "whose" in datum}
    lines = {datum["name"] for values in data for datum in values if "whose" not in datum}
    assert len(dots) == 23 + 1
    assert dots["mine"]["whose"] == "this report"
    assert dots["mine"]["low"] < 0.5 < dots["mine"]["high"]
    assert dots["GPT4o"]["whose"] == "the paper"
    assert lines == {"Human", "Random"}
    assert "Human" in drawn.description


def test_nothing_to_compare_gives_no_section() -> None:
    assert not sections([])
