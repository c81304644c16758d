"""Analyses: subjects, conditions, reading problems, translations, fluency, reasoning."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from hkcanto_tasks.figures import Pair
from hkcanto_tasks.results.runs import Run
from hkcanto_tasks.results.statistics.intervals import paired_mean_interval
from hkcanto_tasks.results.statistics.paired import match

from .building import a_run, changed, notes, tables

PAPER = {"prompt": "paper", "script": "tc"}


def hkmmlu(acc: Sequence[float], label: str = "a", task: str = "hkmmlu", **more: object) -> Run:
    names = ["dentistry", "dentistry", "hkdse_physics", "hk_law"]
    sets: list[tuple[str, ...]] = [(), (), ("hkdse",), ("hk_specific",)]
    ids = [f"hkmmlu/{place}" for place in range(4)]
    return a_run(task, {"acc": acc}, subjects=names, parts=sets, label=label, ids=ids, **more)  # type: ignore[arg-type]


# ---------------------------------------------------------------- subjects


def test_averages_categories_and_subjects_stand_side_by_side() -> None:
    found = tables([hkmmlu([1, 1, 0, 1]), hkmmlu([0, 0, 0, 1], "b")])
    rows = {row["Part"]: row for row in found["subjects_hkmmlu_0_shot"]}
    assert {name: row["a"] for name, row in rows.items()} == {
        "Accuracy": pytest.approx(3 / 4),
        "Mean over subjects": pytest.approx(2 / 3),
        "STEM": pytest.approx(2 / 3),
        "Humanities": 1.0,
        "HKDSE": 0.0,
        "Hong Kong-specific": 1.0,
        "Dentistry": 1.0,
        "HKDSE Physics": 0.0,
        "Hong Kong Law": 1.0,
    }
    assert (rows["STEM"]["b"], rows["STEM"]["Items"]) == (0.0, 3)
    assert rows["Dentistry"]["In Chinese"]


def test_tmmluplus_averages_a_category_over_its_subjects() -> None:
    names = ["physics", "physics", "physics", "physics", "organic_chemistry", "accounting"]
    run = a_run("tmmluplus_gen", {"acc": [1, 0, 0, 0, 1, 1]}, subjects=names)
    rows = {row["Part"]: row["model"] for row in tables([run])["subjects_tmmluplus_gen_0_shot"]}
    assert rows["STEM"] == pytest.approx((1 / 4 + 1) / 2)
    assert rows["Mean over categories"] == pytest.approx(((1 / 4 + 1) / 2 + 1) / 2)


def test_two_models_are_compared_on_each_subject_from_gain_to_loss() -> None:
    names = ["dentistry"] * 20 + ["physics"] * 20
    # Only b is right on 10 of dentistry, only a on 3 of physics: 2 / 2¹⁰ and 2 / 2³.
    a = [0.0] * 10 + [1.0] * 30
    b = [1.0] * 20 + [0.0] * 3 + [1.0] * 17
    runs = [
        a_run("hkmmlu", {"acc": acc}, subjects=names, label=label)
        for label, acc in (("a", a), ("b", b))
    ]
    rows = tables(runs)["subject_differences_hkmmlu_0_shot"]
    assert [(row["Part"], row["Gain"]) for row in rows] == [
        ("Dentistry", pytest.approx(50)),
        ("Physics", pytest.approx(-15)),
    ]
    adjusted = multipletests([2 / 2**10, 2 / 2**3], method="holm")[1]
    assert [row["p by Holm"] for row in rows] == pytest.approx(list(adjusted))


def test_a_task_without_subjects_has_no_such_table() -> None:
    found = tables([a_run("hkcanto_g2p", {"cer_published": [0.1]})])
    assert not any(name.startswith("subjects") for name in found)


# ---------------------------------------------------------------- conditions


def test_conditions_are_compared_with_the_plainest_one_on_common_items() -> None:
    chain = {**PAPER, "cot": "yes"}
    runs = [
        changed(hkmmlu([1, 1, 1, 1], task="hkmmlu_cot", shots=0), options=chain),
        changed(hkmmlu([1, 0, 0, 0], shots=0), options=PAPER),
        changed(
            hkmmlu([0, 0, 0, 0], task="hkmmlu_sc"), options={"prompt": "paper", "script": "sc"}
        ),
    ]
    ((name, rows),) = [
        each for each in tables(runs).items() if each[0].startswith("conditions_hkmmlu")
    ]
    assert name == "conditions_hkmmlu_ba2a58b"
    assert [(row["Gain"], row["Pairs"]) for row in rows] == [
        (None, None),
        (pytest.approx(-25), 4),
        (pytest.approx(75), 4),
    ]
    assert "chain of thought" in rows[2]["Condition"]


def test_two_protocols_have_no_difference_and_a_warning() -> None:
    runs = [a_run("hkcanto_law", {"acc": [1, 0]}), a_run("hkcanto_law_mc", {"acc": [1, 1]})]
    rows = tables(runs)["conditions_hkcanto_law_ba2a58b"]
    assert [row.get("Gain") for row in rows] == [None, None]
    assert any("never compare a figure of one" in text for text in notes(runs))
    assert not any("never compare a figure of one" in text for text in notes(runs[:1]))


def test_only_common_items_count_and_those_on_one_passage_count_as_one() -> None:
    drawing = {"seed": 1, "resamples": 200}

    def difference(a: Run, b: Run):
        return match(a, b, None, drawing, common=True).effect().difference

    ids = [f"law/{place}" for place in range(40)]
    short = a_run("hkcanto_law", {"acc": [1, 1, 1]}, ids=ids[:3])
    found = difference(short, a_run("hkcanto_law", {"acc": [0] * 5}, ids=ids[:5]))
    assert (found.value, found.items) == (-1, 3)
    clusters = [place // 2 for place in range(40)]
    before = a_run("hkcanto_law", {"acc": [0] * 40}, clusters=clusters, ids=ids)
    found = difference(before, a_run("hkcanto_law", {"acc": [1, 1, 0, 0] * 10}, ids=ids))
    ends = paired_mean_interval([1.0, 0.0] * 10)
    assert (found.low, found.high) == (
        pytest.approx(ends[0], abs=1e-3),
        pytest.approx(ends[1], abs=1e-3),
    )


# ---------------------------------------------------------------- reading


def law(count: int = 100, unparsed: int = 0, truncated: int = 0, **more: object) -> Run:
    return a_run(
        "hkcanto_law",
        {"acc": [0.0] * count, "unparsed_rate": [1.0] * unparsed + [0.0] * (count - unparsed)},
        truncated=[1.0] * truncated + [0.0] * (count - truncated),
        **more,  # type: ignore[arg-type]
    )


def test_each_share_is_of_all_responses() -> None:
    more = {
        "response_lengths": [0, 2, 4, 10],
        "reasoning_lengths": [0, 0, 100, 300],
        "output_tokens": [np.nan, 1, 2, 6],
    }
    (row,) = tables([law(4, unparsed=2, truncated=1, **more)])["extraction"]
    assert (row["Unparsed"], row["Truncated"], row["Empty"]) == (0.5, 0.25, 0.25)
    assert (row["Mean length"], row["Mean reasoning"], row["Output tokens"]) == (4, 200, 3)
    (row,) = tables([a_run("hkcanto_g2p", {"cer_published": [0.0]})])["extraction"]
    assert not {"Unparsed", "Truncated", "Mean reasoning", "Output tokens"} & row.keys()


def test_why_no_answer_was_read_is_a_share_of_all_responses() -> None:
    run = law(4, unparsed=3)
    reasons = ["none: undecided", "none: refusal", "last", "none: refusal"]
    run = replace(run, items=replace(run.items, reasons=reasons))
    (row,) = tables([run, law(1)])["unread_reasons"]
    assert (row["Refusal"], row["Undecided"]) == (0.5, 0.25)


def test_many_unread_or_cut_responses_are_warned_of() -> None:
    for run, text, warned in (
        (law(unparsed=2), "No answer could be read", False),
        (law(unparsed=3), "No answer could be read", True),
        (law(truncated=1), "length limit", False),
        (law(truncated=2), "Hong Kong law, 5-shot 2.0%", True),
    ):
        assert any(text in note for note in notes([run])) == warned, text


def test_log_likelihood_writes_nothing_that_could_be_unparsed() -> None:
    assert len(tables([law(1), a_run("hkcanto_law_mc", {"acc": [1.0]})])["extraction"]) == 1


# ---------------------------------------------------------------- texts

WRONG_SCRIPT = Pair("开车唔好饮酒", "開車唔好飲酒", "不要酒後駕車")


def translated(pairs: Sequence[Pair], task: str = "hkmmlu_translation_zh_yue", **values: object):
    return a_run(task, {"empty": [0.0] * len(pairs), **values}, pairs=pairs)  # type: ignore[dict-item]


def test_the_wrong_script_shows_in_the_raw_score_alone() -> None:
    (row,) = tables([translated([WRONG_SCRIPT])])["translation"]
    assert row["chrF, one script"] == pytest.approx(100)
    assert row["ROUGE-L, one script"] == pytest.approx(100)
    assert row["chrF"] < 50
    assert row["ROUGE-L"] == pytest.approx(50)  # three of six characters are alike


def test_faults_are_shares_of_the_outputs() -> None:
    right = Pair("唔好飲酒", "唔好飲酒", "不要飲酒")
    run = translated([right, WRONG_SCRIPT], wrong_script=[0.0, 1.0], copied_source=[0.0, 0.0])
    (row,) = tables([run])["translation"]
    assert (row["Wrong script"], row["Copied source"]) == (0.5, 0)


def test_a_judges_figures_are_shown_where_there_was_a_judge() -> None:
    judged = translated(
        [WRONG_SCRIPT] * 2,
        judged_accuracy=[0.8, float("nan")],
        judge_failure_rate=[0.0, 0.5],
        Omission=[0.0, 1.0],
    )
    (row,) = tables([judged, translated([WRONG_SCRIPT])])["judged"]
    assert row["Judged accuracy"] == pytest.approx(0.8)  # an unscored item is not 0
    assert (row["Failed judgements"], row["Omission"]) == (0.25, 0.5)
    assert "Orthography" not in row


def test_every_task_that_asks_for_cantonese_has_a_row() -> None:
    runs = [
        a_run("hkcanto_fluency", {"fluent": [1, 1, 0, 1]}),
        a_run("hkcanto_summarization", {"fluent": [0, 1], "length_penalty": [1, 0.8]}),
        a_run("hkcanto_law", {"acc": [1]}),
    ]
    rows = tables(runs)["fluency"]
    assert [row["Fluent Cantonese"] for row in rows] == [0.75, 0.5]
    assert [row["Length penalty"] for row in rows] == [None, pytest.approx(0.9)]
    # 3 of 3 words and 0 of 1 make 3 of 4; the mean of the texts' shares would be a half.
    pooled = a_run(
        "hkcanto_fluency",
        {"fluent": [1, 0], "cantonese_ratio": [1, 0]},
        weights={"cantonese_ratio": [3, 1]},
    )
    assert tables([pooled])["fluency"][0]["Cantonese features"] == 0.75


def test_languages_of_reasoning_and_accuracy_by_them() -> None:
    """Six of ten blocks are Cantonese, and five of these are right; the other four are wrong."""
    cantonese, right = [1.0] * 6 + [0.0] * 4, [1.0] * 5 + [0.0] * 5
    values = {
        "acc": right,
        "acc_reasoning_cantonese": right,
        "reasoning_finished": [1.0] * 9 + [0.0],
        "reasoning_cantonese": cantonese,
        "reasoning_english": [1 - each for each in cantonese],
        "answer_cantonese": [1.0] * 8 + [0.0] * 2,
    }
    found = tables([a_run("hkcanto_law", values)])
    (languages,), (accuracy,) = found["reasoning_language"], found["reasoning_accuracy"]
    assert languages["Items"] == 10
    assert languages["Reasoning finished"] == 0.9
    assert 0.6 in languages.values()
    assert (accuracy["Accuracy"], accuracy["Right by Cantonese reasoning"]) == (0.5, 0.5)
    assert accuracy["Accuracy, Cantonese reasoning"] == pytest.approx(5 / 6)
    assert accuracy["Accuracy, other reasoning"] == 0
    assert 0.8 in found["answer_language"][0].values()
