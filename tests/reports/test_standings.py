"""Runs are ranked among the papers' models only on the same measure, with a range of ranks."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.figures import Pair
from hkcanto_tasks.results.reports import standings as standing_module
from hkcanto_tasks.results.reports.standings import (
    Standing,
    TableWithRuns,
    best_published,
    departures,
    headline_column,
    rank_of,
    standings,
    why_left_out,
)
from hkcanto_tasks.results.runs import Run, Sent

from .beginning import beginning
from .building import a_run
from .whole import whole


def beside(name: str, *runs: Run) -> TableWithRuns:
    return next(each for each in standings(runs) if each.table.name == name)


def standing(name: str, column: str, *runs: Run, of: str = "mine") -> Standing:
    return beside(name, *runs).runs[of][column]


def names(*runs: Run) -> list[str]:
    return [each.table.name for each in standings(runs)]


def wilson(right: float, total: float) -> tuple[float, float]:
    low, high = proportion_confint(right, total, method="wilson")
    return float(low), float(high)


# ---------------------------------------------------------------- ranks


def test_a_run_has_the_best_and_the_worst_rank_that_its_interval_allows() -> None:
    found = standing("hkcanto_7", "Food Culture", whole("hkcanto_cultural"))
    # 27 of 54, like the paper's models: Newcombe's interval of the difference is above 0 for 74.1,
    # 81.5, 74.1, 75.9, 83.3, 87.0, 77.8, 74.1 and 75.9, but not for 64.8. People, with 81.7, are
    # not ranked.
    assert (found.figure.low, found.figure.high) == pytest.approx(wilson(27, 54))
    scores = [
        row.values["Food Culture"] for row in found.table.rows if row.kind == "model"
    ]
    ends = [
        confint_proportions_2indep(round(54 * score), 54, 27, 54, method="newcomb")
        for score in scores
    ]
    better, worse = sum(low > 0 for low, _ in ends), sum(high < 0 for _, high in ends)
    assert (better, worse) == (9, 2)
    assert found.ranks == (9 + 1, 24 - 2)
    assert found.rank_text.split(" ")[0] == "10–22"
    assert found.total == 23 + 1


def test_the_interval_of_a_mean_over_subjects_is_wilsons_of_fewer_items() -> None:
    found = standing("hkcanto_7", "Average", whole("hkcanto_cultural"))
    # Half of each subject is right; 20 items with this variance are added to its own.
    variances = (0.25 * (n + 20) / (n - 1 + 20) / n for n in (54, 56, 44, 70, 28))
    items = 0.25 / (sum(variances) / 25)
    low, high = wilson(items / 2, items)
    # [43.6, 56.4]: from below 57.3, which 15 models reach, to above 42.7; one of these has no rank.
    assert (found.figure.low, found.figure.high) == pytest.approx((low, high))
    assert found.ranks == (14, 21)


def test_the_fewest_errors_are_the_best() -> None:
    made = whole("hkcanto_g2p", 0.1, metric="cer_published")
    found = standing("hkcanto_3", "CER", made)
    # 14 of 145: [5.8, 15.6]. The best, 5.4, is [2.7, 10.4] on as many sentences: 4.3 below, which
    # is less than √(3.9² + 5.0²). The rule-based row, with 0.8, is not ranked.
    assert found.ranks == (1, 5)
    assert found.total == 23 + 1


def test_a_narrow_interval_leaves_one_rank() -> None:
    stem = [s.name for s in find_task("hkmmlu").subjects if s.category == "stem"]
    found = beside("hkmmlu_1", whole("hkmmlu", subjects=stem))
    own = found.runs["mine"]
    # Half of 6,068, ±1.3. Better are 12 under STEM TC: 74.5, 75.0, 74.3, 55.6, 60.5, 73.5,
    # 59.6, 63.8, 55.9, 63.8, 71.9 and 56.2; next is 47.2.
    assert (own["STEM TC"].ranks, own["STEM TC"].rank_text.split(" ")[0]) == (
        (13, 13),
        "13",
    )
    assert own["STEM TC"].total == 20 + 1
    assert found.headline.name == "STEM TC"
    assert "Other TC" not in own


def test_categories_that_are_not_those_of_the_papers_table_5_have_no_place() -> None:
    own = beside("hkmmlu_1", whole("hkmmlu")).runs["mine"]
    assert [*own] == ["Avg. TC", "STEM TC", "Humanities TC"]
    assert all(each.ranks for each in own.values())
    column = beside("hkmmlu_1", whole("hkmmlu")).table.column("Other TC")
    assert (
        "this column has other questions than the category in Table 5"
        in column.unmeasured
    )
    part = whole(
        "hkmmlu",
        subjects=[s.name for s in find_task("hkmmlu_social_sciences").subjects],
    )
    for table in standings([part]):
        (own,) = table.runs.values()
        assert not any(each.ranks for each in own.values())


def test_one_example_for_all_subjects_is_not_the_papers_one_shot_chain_of_thought() -> (
    None
):
    for rationale, ranked in [("release", True), ("paper", False)]:
        made = whole("hkmmlu_cot_1shot", rationale=rationale)
        for table, column in [
            ("hkmmlu_3", "Avg. 1-CoT"),
            ("hkmmlu_9", "Non-STEM 1s-cot"),
        ]:
            (found,) = [of[column] for of in beside(table, made).runs.values()]
            assert bool(found.ranks) == ranked, rationale
            assert found.figure.note == (
                "" if ranked else "one example for all subjects"
            )


def test_a_rank_says_which_of_the_papers_two_protocols_its_run_follows() -> None:
    paper = standing("hkcanto_7", "Average", whole("hkcanto_cultural"))
    assert (
        paper.protocol,
        standing("hkmmlu_1", "Avg. TC", whole("hkmmlu")).protocol,
    ) == (
        "appendices",
        "",
    )
    made = whole("hkcanto_cultural", prompt="release")
    (release,) = beside("hkcanto_7", made).runs.values()
    assert release["Average"].protocol == "release"


@pytest.mark.parametrize(
    ("task", "options", "reason"),
    [
        (
            "hkcanto_cultural",
            {"prompt": "yue"},
            "another prompt than the paper's (yue)",
        ),
        ("hkcanto_cultural", {"prompt": "zh"}, "another prompt than the paper's (zh)"),
        (
            "hkcanto_cultural",
            {"prompt": "paper+scaffold"},
            "another prompt than the paper's (paper+scaffold)",
        ),
        ("hkcanto_cultural", {"shuffle_choices": "7"}, "shuffled choices"),
        ("hkcanto_cultural", {"no_system": "yes"}, ""),
        ("hkcanto_cultural", {"reasoning": "yes"}, ""),
        ("hkmmlu_cot", {"prompt": "figure21"}, ""),
    ],
)
def test_a_run_that_asks_unlike_the_papers_has_no_rank(
    task: str, options: dict[str, str], reason: str
) -> None:
    column, table = "Average", "hkcanto_7"
    if task == "hkmmlu_cot":
        column, table = "Avg. 0-CoT", "hkmmlu_3"
    (row,) = beside(table, whole(task, **options)).runs.values()
    assert row[column].figure.note == reason
    assert bool(row[column].ranks) == (not reason)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"sent": Sent(temperature=0.7)}, "sampled at temperature 0.7"),
        ({"sent": Sent(temperature=0.1)}, ""),
        ({"sent": Sent()}, ""),
        ({"sent": Sent(), "settings": (("do_sample", "True"),)}, "sampled"),
        (
            {"sent": Sent(temperature=0.0, repeats=5, reducer="mode")},
            "the mode of 5 responses",
        ),
    ],
)
def test_a_run_that_decodes_unlike_the_papers_has_no_rank(
    changes: dict[str, Any], reason: str
) -> None:
    run = replace(whole("hkcanto_cultural"), **changes)
    found = standing("hkcanto_7", "Average", run)
    assert (found.figure.note, bool(found.ranks)) == (reason, not reason)


def test_questions_that_opencc_converts_have_no_rank_among_those_that_gpt_4o_rewrote() -> (
    None
):
    for table, column in (("hkmmlu_1", "Avg. SC"), ("hkmmlu_11", "SC")):
        found = standing(table, column, whole("hkmmlu_sc"))
        assert found.ranks is None
        assert "rewritten by GPT-4o (Figure 13)" in found.figure.note
    # TMMLU+'s paper did convert them with OpenCC (Section 3.5.1).
    assert standing(
        "tmmluplus_4", "Average Simplified", whole("tmmluplus_gen_sc")
    ).ranks


def sentiment(openrice: int, facebook: int) -> Run:
    """A run with so many right answers of 1,199 and 398."""
    values = [1.0] * openrice + [0.0] * (1199 - openrice)
    values += [1.0] * facebook + [0.0] * (398 - facebook)
    subjects = ["openrice"] * 1199 + ["facebook"] * 398
    return a_run("hkcanto_sentiment", {"acc": values}, label="mine", subjects=subjects)


def test_a_figure_whose_average_the_paper_does_not_state_shows_both_readings() -> None:
    # 959 of 1,199 and 318 of 398: 80.0 and 79.9, so 79.9 and, over all 1,597 items, 80.0.
    found = standing("hkcanto_8", "Sentiment", sentiment(959, 318))
    assert found.ranks
    assert found.other
    assert found.other.value == pytest.approx(1277 / 1597)
    assert found.shown.note == "our reading; as every item once: 80.0"
    # 1,007 and 270: 84.0 and 67.8, so 75.9 or 80.0, with other ranks.
    found = standing("hkcanto_8", "Sentiment", sentiment(1007, 270))
    assert found.figure.value == pytest.approx((1007 / 1199 + 270 / 398) / 2)
    assert found.ranks is None
    assert "depends on how the paper averages" in found.figure.note


def test_pooled_exams_are_shown_as_a_mean_of_the_three_too() -> None:
    runs = [
        whole("hkcanto_dse_zh", 0.55),
        whole("hkcanto_professional_zh", 0.7),
        whole("hkcanto_law", 0.84),
    ]
    found = standing("hkcanto_1", "Academic & Professional ZH", *runs)
    # 235 of 427, 490 of 699 (17 subjects rounded) and 356 of 424.
    assert found.other
    shares = [run.items.values["acc"].mean() for run in runs]
    assert found.other.value == pytest.approx(sum(shares) / 3)
    assert found.figure.value != pytest.approx(found.other.value, abs=1e-4)
    assert "our reading; as mean of the three exams: 69.7" in found.shown.note
    assert "hk_law_fix" in found.shown.note


def test_a_rank_in_translation_has_that_of_a_copy_beside_it() -> None:
    source = "佢哋喺香港住咗好耐，而家先至識得行去嗰間舖頭。"
    target = "他们在香港住了很久，现在才会走去那间店铺。"
    pairs = [Pair(source, target, source)] * 2000
    values = {"empty": [0.0] * 2000}
    run = a_run("hkmmlu_translation_yue_zh", values, label="mine", pairs=pairs)
    found = standing("hkmmlu_2", "Avg. C to M", run)
    scores = [row.scores["Avg. C to M"] for row in found.table.rows if row.scores]
    below = sum(score > found.figure.value for score in scores)
    assert found.copy_rank == 1 + below
    assert found.rank_text.endswith(f"(a copy: {1 + below})")
    unknown = replace(
        run, items=replace(run.items, pairs=[Pair("甲", "乙", "")] * 2000)
    )
    without = standing("hkmmlu_2", "Avg. C to M", unknown)
    assert without.ranks is None
    assert "a copy cannot be ranked beside it" in without.figure.note
    # A copy of nothing would count as a bad translation.
    one_unknown = [*pairs[1:], Pair(source, target, "")]
    partly = replace(run, items=replace(run.items, pairs=one_unknown))
    assert standing("hkmmlu_2", "Avg. C to M", partly).copy_rank is None


def test_a_copy_shares_the_better_rank_with_an_equal_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sentence = "我哋去咗海邊睇日落啊"
    pairs = [Pair(sentence, sentence, sentence)] * 3
    run = a_run("hkmmlu_translation_yue_zh", {}, label="mine", pairs=pairs)
    copied = standing("hkmmlu_2", "Avg. C to M", run).figure.value
    monkeypatch.setattr(standing_module, "_scores", lambda *_: [copied, copied, 0.0])
    assert standing("hkmmlu_2", "Avg. C to M", run).copy_rank == 1


def test_models_that_have_no_figure_in_a_column_do_not_count_in_it() -> None:
    # SenseChat's cell for History & Landmarks is N.A.
    assert (
        standing("hkcanto_7", "History & Landmarks", whole("hkcanto_cultural")).total
        == 22 + 1
    )


def test_the_best_of_all_is_first_and_the_worst_last() -> None:
    assert (
        standing(
            "hkcanto_7", "Average", whole("hkcanto_cultural", 1.0)
        ).rank_text.split(" ")[0]
        == "1"
    )
    assert (
        standing(
            "hkcanto_7", "Average", whole("hkcanto_cultural", 0.0)
        ).rank_text.split(" ")[0]
        == "23"
    )


def test_two_runs_do_not_count_in_each_others_ranks() -> None:
    runs = [whole("hkcanto_cultural", label=label) for label in "ab"]
    found = [standing("hkcanto_7", "Average", *runs, of=label) for label in "ab"]
    assert [(each.ranks, each.total) for each in found] == [((14, 21), 23)] * 2


def test_the_papers_models_share_the_better_rank_where_they_are_equal() -> None:
    table = beside("hkcanto_7", whole("hkcanto_cultural")).table
    average = table.column("Average")
    # 77.7, 77.2, 76.7, 75.2, twice 75.0, 73.8.
    ranks = {row.model: rank_of(row, table, average) for row in table.rows}
    assert ranks["Claude 3.5 Sonnet"] == ranks["Doubao Pro"] == 5
    assert ranks["Gemini 1.5 Pro"] == 7
    assert ranks["Human"] is ranks["Random"] is ranks["SenseChat"] is None
    assert (
        rank_of(table.row("SenseChat"), table, table.column("History & Landmarks"))
        is None
    )


def test_ranks_are_plain_numbers_for_programs() -> None:
    ranks = standing("hkcanto_7", "Average", whole("hkcanto_cultural")).ranks
    assert ranks
    assert [type(rank) for rank in ranks] == [int, int]


# ---------------------------------------------------------------- no rank


def part(task: str, *kept: str) -> Run:
    return whole(task, subjects=kept)


UNLIKE = replace(whole("hkcanto_cultural"), reported={((), "acc_macro"): 0.6})


def test_a_figure_that_cannot_be_relied_on_is_shown_without_a_rank() -> None:
    for made, reason in [
        (part("hkcanto_cultural", "food", "life_in_hk"), "not all items"),
        (whole("hkcanto_cultural", data="local-1a2b3c4"), "unknown data"),
        (whole("hkcanto_cultural", data=""), "unknown data"),
        (UNLIKE, "unlike the harness's figure"),
    ]:
        found = standing("hkcanto_7", "Average", made)
        assert found.figure.value == pytest.approx(0.5), (made, reason)
        assert (found.ranks, found.rank_text, found.figure.note) == (
            None,
            "",
            reason,
        ), (
            made,
            reason,
        )
        assert found.total == 22 + 1, (made, reason)


def test_a_figure_like_the_harnesss_has_a_rank() -> None:
    made = replace(whole("hkcanto_cultural"), reported={((), "acc_macro"): 0.5})
    found = standing("hkcanto_7", "Average", made)
    assert (found.ranks, found.figure.note) == ((14, 21), "")


def test_a_whole_subject_of_a_part_has_a_rank_of_its_own() -> None:
    made = part("hkcanto_cultural", "food", "life_in_hk")
    found = beside("hkcanto_7", made)
    assert found.runs["mine"]["Food Culture"].rank_text.split(" ")[0] == "10–22"
    assert "Local Area Knowledge" not in found.runs["mine"]
    assert found.headline.name == "Food Culture"


def test_a_whole_group_of_subjects_that_was_run_alone_has_its_rank() -> None:
    made, of = whole("hkmmlu_non_stem"), "mine subjects:non_stem"
    # HKMMLU, Table 9: 15 of 20 models have more than 50.7, which is GLM-4-9B's. With 20,300 items
    # each, the difference to that one has a standard error of 0.5 points.
    assert standing("hkmmlu_9", "Non-STEM DA", made, of=of).ranks == (16, 17)
    assert standing("hkmmlu_1", "Avg. TC", made, of=of).figure.note == "not all items"
    lacking = part("hkmmlu_non_stem", "economics", "marketing_management")
    assert (
        standing("hkmmlu_9", "Non-STEM DA", lacking, of=of).figure.note
        == "not all items"
    )
    hong_kong = whole("hkmmlu_hk_specific")
    assert standing("hkmmlu_11", "TC", hong_kong, of="mine subjects:hk_specific").ranks


def test_the_papers_headline_is_first_where_some_run_has_a_rank_in_it() -> None:
    runs = [part("hkcanto_cultural", "food"), whole("hkcanto_cultural", label="b")]
    assert beside("hkcanto_7", *runs).headline.name == "Average"


def test_five_items_of_a_subject_have_no_rank() -> None:
    made = a_run(
        "hkcanto_cultural",
        {"acc": [1, 1, 1, 0, 1]},
        label="mine",
        subjects=["food"] * 5,
    )
    found = beside("hkcanto_7", made)
    for column, value in (("Food Culture", 0.8), ("Average", 0.8)):
        own = found.runs["mine"][column]
        assert (own.figure.value, own.ranks) == (pytest.approx(value), None)
        assert own.figure.note == "not all items"
    assert found.headline.name == "Average"


@pytest.mark.parametrize(
    ("task", "left_out"),
    [("hkmmlu", 1), ("hkcanto_cultural", 50), ("tmmluplus_gen", 200)],
)
def test_a_run_with_a_limit_never_has_a_rank(task: str, left_out: int) -> None:
    # Except for a subject that it has completely; it lacks items of each task's largest subject.
    run = beginning(
        task, sum(subject.rows for subject in find_task(task).subjects) - left_out
    )
    found = [each for table in standings([run]) for each in table.runs["mine"].values()]
    assert found
    for standing in found:
        wanted = {standing.column.category, standing.column.subject} - {""}
        of = [
            subject
            for subject in run.kind.task.subjects
            if wanted.issubset(subject.sets)
        ]
        whole_subject = sum(name in {s.name for s in of} for name in run.items.subjects)
        if whole_subject < sum(subject.rows for subject in of):
            assert (standing.ranks, standing.figure.note) == (None, "not all items")
    assert all(not each.is_headline_of(run) or each.ranks is None for each in found)


def test_a_pool_or_an_average_with_a_part_of_a_task_has_no_rank() -> None:
    some = find_task("hkcanto_dse_en").subjects[0].name
    runs = [
        *(whole("hkcanto_mmlu_en"), whole("hkcanto_professional_en")),
        part("hkcanto_dse_en", some),
    ]
    own = beside("hkcanto_1", *runs).runs["mine"]
    assert own["MMLU EN"].ranks
    for column in ("Academic & Professional EN", "Average EN"):
        assert (own[column].ranks, own[column].figure.note) == (None, "not all items")


# ---------------------------------------------------------------- figures


def test_translation_keeps_its_scale() -> None:
    # Ten characters each, all right: BLEU and ROUGE-L are 100, METEOR is 100 − 50 / 10³ = 99.95.
    sentence = "我們去了海邊看日落啊"
    pairs = [Pair(sentence, sentence, "我哋去咗海邊睇日落啊")] * 3
    made = a_run("hkmmlu_translation_yue_zh", {}, label="mine", pairs=pairs)
    found = beside("hkmmlu_2", made)
    assert found.runs["mine"]["Avg. C to M"].figure.value == pytest.approx(299.95 / 3)
    assert found.table.row("DeepSeek-V3").values["Avg. C to M"] == 72.2


ENGLISH = ["hkcanto_mmlu_en", "hkcanto_dse_en", "hkcanto_professional_en"]


def questions(task: str) -> int:
    return sum(subject.rows for subject in find_task(task).subjects)


def test_questions_of_several_tasks_are_pooled() -> None:
    runs = [whole("hkcanto_dse_en", 1.0), whole("hkcanto_professional_en", 0.0)]
    found = standing("hkcanto_1", "Academic & Professional EN", *runs).figure
    right = questions("hkcanto_dse_en")
    total = right + questions("hkcanto_professional_en")
    assert (found.value, found.low, found.high) == pytest.approx(
        (right / total, *wilson(right, total))
    )
    assert found.items == total


def test_an_average_is_of_columns_and_its_interval_of_independent_ones() -> None:
    own = beside("hkcanto_1", *map(whole, ENGLISH)).runs["mine"]
    parts = [own[column].figure for column in ("MMLU EN", "Academic & Professional EN")]
    found = own["Average EN"].figure
    assert found.value == pytest.approx(sum(part.value for part in parts) / 2)
    halves = [((part.high or 0) - (part.low or 0)) / 2 for part in parts]
    half = ((found.high or 0) - (found.low or 0)) / 2
    assert half == pytest.approx((halves[0] ** 2 + halves[1] ** 2) ** 0.5 / 2)
    assert own["Average EN"].ranks


def test_an_average_without_all_of_its_parts_is_missing() -> None:
    runs = [whole(task) for task in (*ENGLISH[:2], "hkcanto_cultural_0shot")]
    own = beside("hkcanto_1", *runs).runs["mine"]
    assert own["MMLU EN"].figure.value == pytest.approx(0.5, abs=0.001)
    assert own["Cultural 0-shot"].figure.value == 0.5
    assert not {"Academic & Professional EN", "Average EN", "Average ZH/YUE"} & set(own)


def test_two_models_do_not_complete_each_others_rows() -> None:
    runs = [
        whole("hkcanto_dse_en", label="a"),
        whole("hkcanto_professional_en", label="b"),
    ]
    assert names(*runs) == []


def test_of_two_runs_the_whole_one_counts_then_the_later() -> None:
    first = whole("hkcanto_cultural")
    later = replace(
        whole("hkcanto_cultural", 0.25), created=first.created + timedelta(days=1)
    )
    some = replace(
        part("hkcanto_cultural", "food"), created=first.created + timedelta(days=2)
    )
    found = standing("hkcanto_7", "Average", some, later, first)
    assert found.runs == (later,)
    assert "another run of this model is shown" in why_left_out(first)


# ---------------------------------------------------------------- the same measure only


def test_another_measure_is_in_no_table_and_can_say_why() -> None:
    for made, reason in [
        (
            whole("hkmmlu", data="sample"),
            "sample data cannot be compared with any others",
        ),
        (whole("hkmmlu_mc"), "scored by log-likelihood"),
        (
            whole("hkmmlu", shots=7),
            "No paper measured it under this condition (7-shot)",
        ),
        (
            whole("tmmluplus_gen_cot", shots=0),
            "No paper measured it under this condition",
        ),
        (
            whole("hkcanto_cultural", cot="yes"),
            "under this condition (5-shot, cot:yes)",
        ),
        (whole("hkcanto_dse_en"), "Professional EN: it pools several tasks."),
        (
            a_run("hkcanto_translation_yue_en", {"empty": [0.0]}),
            "people marked the errors in the translations; judged_accuracy",
        ),
    ]:
        assert names(made) == [], (made, reason)
        assert reason in why_left_out(made), (made, reason)


def test_runs_stand_in_the_tables_of_their_own_condition() -> None:
    for runs, expected in [
        ([whole("hkmmlu", shots=3)], ["hkmmlu_8_3shot"]),
        # With direct answers only, no other table has more than these.
        ([whole("hkmmlu")], ["hkmmlu_1", "hkmmlu_9", "hkmmlu_11"]),
        ([whole("hkcanto_cultural")], ["hkcanto_7"]),
        ([], []),
    ]:
        assert names(*runs) == expected, (runs, expected)


def test_scripts_stand_in_their_own_columns() -> None:
    own = beside("hkmmlu_1", whole("hkmmlu", 0.5), whole("hkmmlu_sc", 0.4)).runs["mine"]
    assert own["Avg. TC"].figure.value == pytest.approx(0.5, abs=0.001)
    assert own["Avg. SC"].figure.value == pytest.approx(0.4, abs=0.001)


def test_chains_of_thought_stand_beside_chains_of_thought() -> None:
    own = beside("hkmmlu_3", whole("hkmmlu_cot"), whole("hkmmlu", 0.25)).runs["mine"]
    assert own["Avg. 0-CoT"].figure.value == pytest.approx(0.5, abs=0.001)
    assert own["Avg. DA"].figure.value == pytest.approx(0.25, abs=0.001)
    assert "Avg. 1-CoT" not in own


def test_an_option_that_is_not_the_papers_makes_a_row_of_its_own() -> None:
    runs = [whole("hkcanto_cultural"), whole("hkcanto_cultural", 0.25, prompt="yue")]
    assert [departures(run) for run in runs] == [[], ["prompt:yue"]]
    own = beside("hkcanto_7", *runs).runs
    assert own["mine"]["Average"].figure.value == 0.5
    assert own["mine prompt:yue"]["Average"].figure.value == pytest.approx(
        0.25, abs=0.01
    )


def test_a_headline_without_a_direction_has_no_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = a_run("hkcanto_summarization", {"n_characters": [9.0]})
    monkeypatch.setattr(Run, "headline", run.figures["n_characters"])
    assert headline_column(run).lower_is_better is None


def test_the_best_published_score_is_the_lowest_where_lower_is_better() -> None:
    # HKCanto-Eval, Table 3: GPT4o's CER of 5.4 % is the lowest of the models.
    best = best_published(whole("hkcanto_g2p", 0.1, metric="cer_published"))
    assert best is not None
    assert (best.score, best.model) == (pytest.approx(0.054), "GPT4o")
    # Table 1: no model has more than the 81.5 of Claude 3.5 Sonnet in Cantonese MMLU.
    best = best_published(whole("hkcanto_mmlu_yue"))
    assert best is not None
    assert best.score == pytest.approx(0.815)


def test_columns_on_the_same_items_add_their_widths_in_a_mean() -> None:
    tasks = ("hkcanto_mmlu_yue", "hkcanto_dse_zh", "hkcanto_professional_zh")
    cultural = [whole("hkcanto_cultural"), whole("hkcanto_cultural", shots=0)]
    runs = [*map(whole, tasks), whole("hkcanto_law"), *cultural]
    own = beside("hkcanto_1", *runs).runs["mine"]

    def half(column: str) -> float:
        figure = own[column].figure
        return ((figure.high or 0) - (figure.low or 0)) / 2

    # The two cultural columns are one set of questions, so their errors go together.
    together = half("Cultural 0-shot") + half("Cultural 5-shot")
    apart = (half("MMLU YUE"), half("Academic & Professional ZH"), together)
    assert half("Average ZH/YUE") == pytest.approx(
        sum(part**2 for part in apart) ** 0.5 / 4
    )
