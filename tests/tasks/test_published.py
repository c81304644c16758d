"""The package has the papers' tables as printed, and refuses a wrong data file."""

import shutil
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from hkcanto_tasks.catalogue import BENCHMARKS, find_task
from hkcanto_tasks.errors import CatalogueError
from hkcanto_tasks.results.published import (
    PublishedTable,
    published_tables,
    read_tables,
    tables_of,
)


def table(name: str) -> PublishedTable:
    return next(table for table in published_tables() if table.name == name)


ROWS = {
    "hkcanto_1": 24,
    "hkcanto_2": 24,
    "hkcanto_3": 24,
    "hkcanto_7": 25,
    "hkcanto_8": 24,
    "hkmmlu_1": 21,
    "hkmmlu_2": 21,
    "hkmmlu_3": 21,
    "hkmmlu_4": 2,
    **{f"hkmmlu_8_{shots}shot": 20 for shots in range(6)},
    "hkmmlu_9": 21,
    "hkmmlu_10": 21,
    "hkmmlu_11": 21,
    "hkmmlu_cantonese_llm_lab": 11,
    "tmmluplus_2": 14,
    "tmmluplus_3": 6,
    "tmmluplus_4": 6,
    "tmmluplus_5": 3,
    "tmmluplus_6": 15,
    "tmmluplus_11": 4,
}


def test_every_table_of_scores_is_there_with_all_of_its_rows() -> None:
    assert {table.name: len(table.rows) for table in published_tables()} == ROWS


# Typed from the papers: first row, one in the middle, last rows, people, and random answers.
def test_scores_are_those_of_the_paper() -> None:
    for name, row, percentages in [
        (
            "hkcanto_1",
            "Claude 3.5 Sonnet",
            [85.0, 81.5, 75.1, 75.2, 71.7, 75.0, 80.1, 75.8],
        ),
        ("hkcanto_1", "Yi 1.5 9B", [70.9, 60.8, 59.2, 63.3, 48.7, 57.3, 65.0, 57.5]),
        ("hkcanto_1", "Qwen2 72B", [82.9, 78.3, 74.7, 76.3, 72.9, 77.7, 78.8, 76.3]),
        ("hkcanto_1", "Random", [25.0, 25.5, 22.9, 24.6, 29.8, 28.1, 23.9, 27.0]),
        ("hkcanto_2", "Claude 3.5 Sonnet", [28.0, 64.0, 16.0, 50.0, 76.9, 59.3, 89.2]),
        ("hkcanto_2", "GPT4o", [56.0, 96.0, 28.0, 50.0, 65.4, 63.0, 89.6]),
        ("hkcanto_2", "Qwen2 72B", [12.0, 28.0, 16.0, 50.0, 76.9, 48.1, 83.5]),
        ("hkcanto_2", "Random/Control", [16.0, 28.0, 24.0, 30.0, 11.5, 27.8, 76.8]),
        ("hkcanto_7", "Claude 3.5 Sonnet", [74.1, 80.4, 70.5, 85.7, 64.3, 75.0]),
        ("hkcanto_7", "SenseChat", [87.0, None, 79.6, 78.6, 64.3, 77.4]),
        ("hkcanto_7", "Random", [35.2, 21.4, 27.3, 31.4, 25.0, 28.1]),
        ("hkcanto_7", "Human", [81.7, 73.4, 85.8, 83.9, 53.0, 75.6]),
        ("hkcanto_8", "Claude 3.5 Sonnet", [96.2, 91.9, 92.7, 76.0]),
        ("hkcanto_8", "Yi 1.5 6B", [62.9, 56.7, 42.5, 64.3]),
        ("hkcanto_8", "Control", [99.1, 99.1, None, None]),
        (
            "hkmmlu_1",
            "DeepSeek-V3",
            [74.8, 74.0, 74.5, 74.1, 73.4, 70.8, 76.0, 75.9, 74.7, 74.1],
        ),
        (
            "hkmmlu_1",
            "Llama-3.1-70B-Instruct",
            [58.7, 56.9, 60.5, 60.1, 59.4, 56.7, 59.1, 56.8, 55.9, 53.9],
        ),
        (
            "hkmmlu_1",
            "Yi-1.5-34B-Chat",
            [None, 59.7, 56.2, 55.4, 58.7, 56.3, 64.7, 64.5, 60.7, 60.3],
        ),
        (
            "hkmmlu_1",
            "Avg.",
            [57.0, 56.7, 54.9, 55.5, 55.5, 54.2, 59.4, 59.1, 56.9, 56.6],
        ),
        (
            "hkmmlu_3",
            "DeepSeek-V3",
            [
                *(74.9, 74.1, 75.8, 74.5, 78.1, 81.0, 73.5, 74.3),
                *(75.6, 76.0, 72.9, 74.3, 74.8, 71.8, 72.9),
            ],
        ),
        (
            "hkmmlu_3",
            "Mistral-Large-Instruct",
            [
                *(60.0, 58.7, 49.3, 63.8, 59.2, 51.7, 58.2, 56.3),
                *(50.8, 59.5, 59.9, 48.1, 58.4, 58.6, 47.2),
            ],
        ),
        (
            "hkmmlu_3",
            "Avg.",
            [
                *(57.0, 54.4, 53.9, 54.9, 55.8, 55.3, 55.6, 54.1),
                *(53.9, 59.3, 54.3, 53.8, 56.9, 53.4, 52.5),
            ],
        ),
        ("hkmmlu_4", "DeepSeek-V3", [57.0, 59.2, 56.2]),
        ("hkmmlu_4", "Human", [57.9, 63.4, 55.9]),
        ("hkmmlu_8_0shot", "DeepSeek-V3", [74.5, 73.5, 76.0, 74.8, 74.9]),
        ("hkmmlu_8_0shot", "Mistral-Large-Instruct", [63.8, 58.2, 59.5, 58.4, 60.0]),
        ("hkmmlu_8_1shot", "Llama-3.1-70B-Instruct", [59.7, 57.3, 58.5, 56.7, 58.1]),
        (
            "hkmmlu_8_2shot",
            "Llama-3-Taiwan-70B-Instruct",
            [72.9, 67.8, 65.6, 63.7, 67.3],
        ),
        (
            "hkmmlu_8_3shot",
            "Llama-3-Taiwan-70B-Instruct",
            [71.8, 67.0, 64.5, 65.0, 66.8],
        ),
        ("hkmmlu_8_4shot", "Llama-3-8B-Instruct", [32.4, 42.0, 53.3, 50.1, 45.4]),
        ("hkmmlu_8_5shot", "Claude 3.7 Sonnet", [46.3, 49.6, 48.4, 45.2, 47.4]),
        ("hkmmlu_8_5shot", "Mistral-Small-Instruct", [None] * 5),
        ("hkmmlu_8_5shot", "Yi-1.5-34B-Chat", [56.6, 59.5, 65.9, 60.8, 61.3]),
        (
            "hkmmlu_10",
            "DeepSeek-V3",
            [74.5, 73.5, 76.0, 74.8, 81.6, 83.0, 85.1, 85.5, 79.9, 81.5, 68.5, 71.7],
        ),
        (
            "hkmmlu_10",
            "Avg.",
            [54.9, 55.6, 59.3, 56.9, 61.8, 66.1, 67.2, 71.0, 57.1, 61.6, 48.4, 53.5],
        ),
        ("hkmmlu_11", "DeepSeek-V3", [75.1, 74.6]),
        ("hkmmlu_11", "Llama-3-Taiwan-70B-Instruct", [63.7, 61.7]),
        ("hkmmlu_11", "Yi-1.5-9B-Chat", [55.4, None]),
        ("hkmmlu_11", "Avg.", [57.7, 57.4]),
        ("tmmluplus_2", "Random", [25.0] * 10),
        (
            "tmmluplus_2",
            "GPT-4",
            [60.4, 66.0, 67.4, 74.9, 56.0, 63.6, 57.6, 65.3, 60.3, 67.5],
        ),
        (
            "tmmluplus_2",
            "Taiwan-LLaMA-7B",
            [15.0, 7.7, 16.2, 4.5, 15.0, 3.2, 16.2, 5.1, 15.6, 5.1],
        ),
        ("tmmluplus_3", "Human", [62.9, 72.1, 69.5, 68.5, 68.2]),
        ("tmmluplus_3", "GPT-turbo-3.5", [43.6, 43.8, 31.5, 40.3, 29.8]),
        (
            "tmmluplus_4",
            "gpt-3.5-turbo",
            [42.1, 41.6, 46.3, 46.7, 37.6, 36.7, 41.7, 42.0, 41.9, 41.8],
        ),
        (
            "tmmluplus_4",
            "Taiwan-LLM-7B",
            [14.3, 15.0, 16.4, 16.2, 16.6, 15.0, 16.2, 16.2, 15.9, 15.6],
        ),
        ("tmmluplus_5", "Gemini-pro", [46.4, 52.2, 41.4, 45.2, 46.3]),
        ("tmmluplus_5", "gpt-3.5-turbo", [30.2, 33.0, 27.2, 29.6, 30.0]),
    ]:
        values = table(name).row(row).values.values()
        assert [
            None if value is None else round(value * 100, 4) for value in values
        ] == percentages, (name, row, percentages)


def test_levenshtein_is_not_a_percentage_in_the_paper() -> None:
    for row, error_rate, levenshtein in [
        ("Claude 3.5 Sonnet", 0.079, 0.018),
        ("GPT4o", 0.054, 0.009),
        ("Qwen2 72B", 0.740, 0.268),
        ("Rule Based", 0.008, 0.001),
    ]:
        assert [*table("hkcanto_3").row(row).values.values()] == [
            error_rate,
            levenshtein,
        ], (
            row,
            error_rate,
            levenshtein,
        )


def test_translation_scores_stay_on_the_papers_scale() -> None:
    for row, scores in [
        ("DeepSeek-V3", [57.4, 41.9, 79.0, 67.1, 80.2, 69.4, 72.2, 59.5]),
        (
            "Llama-3-Taiwan-70B-Instruct",
            [48.2, 45.1, 72.6, 69.8, 74.0, 71.4, 64.9, 62.1],
        ),
        ("Yi-1.5-9B-Chat", [42.1, 7.6, None, 29.3, 71.4, 36.3, 61.1, 24.4]),
        ("Yi-1.5-34B-Chat", [33.0, 12.2, 50.4, 37.5, 51.2, 43.2, 44.9, 31.0]),
        ("Avg.", [43.6, 18.6, 68.8, 42.9, 70.9, 47.9, 61.1, 36.5]),
    ]:
        assert [*table("hkmmlu_2").row(row).values.values()] == scores, (row, scores)


def test_fertility_is_in_tokens_per_character() -> None:
    scores = table("tmmluplus_6")
    assert scores.row("Yi-6B-Chat").values["Fertility"] == 1.49
    assert scores.row("Atom-7B").values == {
        "STEM": 0.056,
        "Other": 0.1184,
        "Soc. Sci.": 0.1357,
        "Humanities": 0.0771,
        "Average": 0.0968,
        "Fertility": 1.97,
    }


def test_table_11_of_tmmluplus_has_each_subject_of_the_catalogue_once() -> None:
    columns = table("tmmluplus_11").columns
    catalogue = {subject.name for subject in find_task("tmmluplus_gen").subjects}
    assert len(columns) == 66
    assert {column.subject for column in columns} == catalogue


def test_table_11_of_tmmluplus_is_read_by_model() -> None:
    scores = table("tmmluplus_11")
    assert [row.model for row in scores.rows] == [
        "GPT-4",
        "Qwen-14B",
        "Qwen-72B",
        "Gemini-pro",
    ]
    assert scores.row("GPT-4").values["Engineering Math"] == 0.4757
    assert scores.row("Qwen-72B").values["Psychology Disorders"] == 0.7882
    assert scores.row("Gemini-pro").values["taiwanese hokkien"] == 0.3488


def test_rows_of_people_and_of_random_answers_say_so() -> None:
    kinds = {
        (table.name, row.model): row.kind
        for table in published_tables()
        for row in table.rows
        if row.kind != "model"
    }
    averages = {
        (f"hkmmlu_{number}", "Avg."): "average" for number in (1, 2, 3, 9, 10, 11)
    }
    assert kinds == averages | {
        ("hkcanto_1", "Random"): "random",
        ("hkcanto_2", "Random/Control"): "random",
        ("hkcanto_3", "Rule Based"): "rule_based",
        ("hkcanto_7", "Random"): "random",
        ("hkcanto_7", "Human"): "human",
        ("hkcanto_8", "Control"): "control",
        ("hkmmlu_4", "Human"): "human",
        ("tmmluplus_2", "Random"): "random",
        ("tmmluplus_3", "Human"): "human",
    }


# ---------------------------------------------------------------- consistency with the papers


def off(
    scores: PublishedTable, whole: str, parts: list[str], tolerance: float = 0.1
) -> dict[str, float]:
    """Return the rows whose average is not the mean of its parts, with that mean in percent."""
    found = {}
    scale = 100 if scores.column(whole).unit == "percent" else 1
    for row in scores.rows:
        values = [row.values[part] for part in parts]
        average = row.values[whole]
        if average is None or None in values:
            continue
        mean = fmean(value for value in values if value is not None) * scale
        if abs(mean - average * scale) > tolerance + 1e-6:
            found[row.model] = round(mean, 2)
    return found


def test_averages_of_hkcanto_table_1_are_means_of_its_columns() -> None:
    scores = table("hkcanto_1")
    assert not off(scores, "Average EN", list(scores.column("Average EN").mean_of))
    columns = list(scores.column("Average ZH/YUE").mean_of)
    assert off(scores, "Average ZH/YUE", columns) == {"SenseChat": 72.62}
    # The model refused one of the five cultural subjects. Its five-shot figure is the mean of the
    # other four, but in the average that subject counts as 0.
    others = fmean([0.870, 0.0, 0.796, 0.786, 0.643])
    average = fmean([0.701, 0.756, 0.674, others])
    assert scores.row("SenseChat").values["Average ZH/YUE"] == pytest.approx(
        average, abs=0.001
    )


def test_averages_of_the_cultural_questions_are_means_of_the_five_subjects() -> None:
    scores = table("hkcanto_7")
    assert not off(scores, "Average", [column.name for column in scores.columns[:5]])


def test_cultural_averages_are_the_same_in_both_tables_that_have_them() -> None:
    averages = {row.model: row.values["Average"] for row in table("hkcanto_7").rows}
    for row in table("hkcanto_1").rows:
        assert row.values["Cultural 5-shot"] == averages[row.model]


def test_nlp_averages_are_means_of_the_four_columns_of_table_8() -> None:
    averages = {row.model: row.values["NLP Average"] for row in table("hkcanto_2").rows}
    for row in table("hkcanto_8").rows:
        parts = [value for value in row.values.values() if value is not None]
        if row.kind == "model":
            assert fmean(parts) == pytest.approx(averages[row.model], abs=0.00101), (
                row.model
            )


CATEGORIES = ["STEM", "Soc. Sci.", "Humanities", "Other"]


# The rows named here are inconsistent in the paper itself.
def test_averages_of_tmmluplus_are_means_of_the_four_categories() -> None:
    for name, suffix, inconsistent in [
        ("tmmluplus_2", " 0-shot", {}),
        ("tmmluplus_2", " 5-shot", {"Qwen-7B": 42.75}),
        ("tmmluplus_3", "", {"Qwen-72B": 61.62, "GPT-turbo-3.5": 39.8}),
        ("tmmluplus_4", " Simplified", {}),
        ("tmmluplus_4", " Traditional", {}),
        ("tmmluplus_5", "", {}),
        ("tmmluplus_6", "", {}),
    ]:
        parts = [f"{category}{suffix}" for category in CATEGORIES]
        assert off(table(name), f"Average{suffix}", parts) == inconsistent, (
            name,
            suffix,
            inconsistent,
        )


def test_traditional_scores_of_tmmluplus_table_4_are_the_zero_shot_ones_of_table_2() -> (
    None
):
    names = {"gpt-3.5-turbo": "GPT-turbo-3.5", "Taiwan-LLM-13B": "Taiwan-LLaMA-13B"}
    names["Taiwan-LLM-7B"] = "Taiwan-LLaMA-7B"
    for row in table("tmmluplus_4").rows:
        other = table("tmmluplus_2").row(names.get(row.model, row.model))
        for category in [*CATEGORIES, "Average"]:
            assert (
                row.values[f"{category} Traditional"]
                == other.values[f"{category} 0-shot"]
            )


def test_categories_of_tmmluplus_table_2_are_means_of_the_subjects_of_table_11() -> (
    None
):
    by_subject = table("tmmluplus_11")
    category_of = {s.name: s.category for s in find_task("tmmluplus_gen").subjects}
    titles = {
        "stem": "STEM",
        "social_sciences": "Soc. Sci.",
        "humanities": "Humanities",
    }
    distances = {}
    for row in by_subject.rows:
        for category, title in {**titles, "other": "Other"}.items():
            mean = fmean(
                row.values[column.name] or 0
                for column in by_subject.columns
                if category_of[column.subject] == category
            )
            published = table("tmmluplus_2").row(row.model).values[f"{title} 0-shot"]
            distances[row.model, title] = abs(mean - (published or 0))
    assert {key: value for key, value in distances.items() if value > 0.001} == {}


def test_direct_answers_of_hkmmlu_table_3_are_the_traditional_ones_of_table_1() -> None:
    differences = {
        (row.model, category): round(abs(direct - other) * 100, 1)
        for row in table("hkmmlu_1").rows
        for category in ["Avg.", *CATEGORIES]
        if (other := row.values[f"{category} TC"]) is not None
        and (direct := table("hkmmlu_3").row(row.model).values[f"{category} DA"])
        is not None
    }
    assert {key: value for key, value in differences.items() if value > 0.2} == {
        ("Llama-3.1-70B-Instruct", "Humanities"): 0.3,
        ("Qwen2.5-3B-Instruct", "Humanities"): 0.3,
    }


def test_hkmmlu_repeats_its_direct_answers_in_three_tables() -> None:
    for row in table("hkmmlu_3").rows:
        if row.kind != "model":
            continue
        few_shot = table("hkmmlu_8_0shot").row(row.model).values
        compared = table("hkmmlu_10").row(row.model).values
        for category in CATEGORIES:
            assert row.values[f"{category} DA"] == few_shot[category], row.model
            assert row.values[f"{category} DA"] == compared[f"HKMMLU {category}"], (
                row.model
            )
        assert row.values["Avg. DA"] == few_shot["Avg."], row.model


# Table 5's test questions: its counts without five worked examples a subject.
TABLE_5 = np.array([6068, 4754, 8814, 6732])


def printed_averages() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The category scores of Tables 1, 3 and 8, and the averages printed beside them."""
    forms = [
        ("hkmmlu_1", " TC"),
        ("hkmmlu_1", " SC"),
        ("hkmmlu_3", " 0-CoT"),
        ("hkmmlu_3", " 1-CoT"),
    ]
    forms += [(f"hkmmlu_8_{shots}shot", "") for shots in range(6)]
    rows = [
        [row.values[f"{column}{suffix}"] for column in [*CATEGORIES, "Avg."]]
        for name, suffix in forms
        for row in table(name).rows
        if row.kind == "model"
    ]
    cells = np.array([row for row in rows if None not in row], float) * 100
    return cells[:, :4], cells[:, 4]


def test_hkmmlus_averages_fit_other_categories_than_those_of_table_5() -> None:
    parts, averages = printed_averages()
    assert len(averages) == 198
    off_by = abs(parts @ TABLE_5 / 26368 - averages)
    assert np.mean(off_by > 0.1 + 1e-9) == pytest.approx(0.44, abs=0.005)
    assert off_by.max() == pytest.approx(0.41, abs=0.005)
    # The sizes are fitted freely, except that they add up to all questions.
    design, rest = parts[:, :3] - parts[:, 3:], averages - parts[:, 3]
    shares = np.linalg.lstsq(design, rest, rcond=None)[0]
    residuals = design @ shares - rest
    variance = residuals @ residuals / (len(rest) - 3)
    errors = 26368 * np.sqrt(np.diag(variance * np.linalg.inv(design.T @ design)))
    stem, social, humanities = 26368 * shares
    assert abs(stem - 6068) < 2 * errors[0]
    assert abs(humanities - 8814) < 2 * errors[2]
    assert social == pytest.approx(5509, abs=1)
    assert social - 4754 > 15 * errors[1]
    assert np.sqrt(np.mean(residuals**2)) == pytest.approx(0.034, abs=0.001)


def test_hkmmlus_table_9_fits_if_some_750_questions_are_social_sciences() -> None:
    forms = [
        ("DA", "hkmmlu_3", " DA"),
        ("1s", "hkmmlu_8_1shot", ""),
        ("1s-cot", "hkmmlu_3", " 1-CoT"),
    ]
    for moved, missed in [(0, 36), (755, 0)]:
        sizes = TABLE_5[1:] + np.array([moved, 0, -moved])
        off_by = []
        for row in table("hkmmlu_9").rows:
            for column, other, suffix in forms if row.kind == "model" else ():
                values = table(other).row(row.model).values
                mean = sum(
                    np.array([values[f"{c}{suffix}"] for c in CATEGORIES[1:]], float)
                    * sizes
                )
                off_by.append(
                    abs(mean / sizes.sum() - (row.values[f"Non-STEM {column}"] or 0))
                )
        assert len(off_by) == 60
        assert sum(each > 0.001 for each in off_by) == missed


def test_fertility_correlates_with_accuracy_as_table_6_says_and_not_the_text() -> None:
    rows = [row.values for row in table("tmmluplus_6").rows]
    pairs = np.array([[row["Average"], row["Fertility"]] for row in rows], float)
    assert np.corrcoef(pairs.T)[0, 1] == pytest.approx(-0.694, abs=0.0005)


def test_scores_that_measure_something_else_have_no_rank_and_say_why() -> None:
    for name, row, column, note in [
        ("tmmluplus_2", "Qwen-7B", "Average 5-shot", "42.8 from its four categories"),
        ("hkcanto_7", "SenseChat", "Average", "mean of 4 of the 5 subjects"),
        ("hkcanto_1", "SenseChat", "Cultural 5-shot", "mean of 4 of the 5 subjects"),
        ("tmmluplus_11", "Gemini-pro", "music", "no share of the test questions"),
    ]:
        found = table(name).row(row)
        assert (found.notes[column], column in found.scores) == (note, False)
    assert "Average 0-shot" in table("tmmluplus_2").row("Qwen-7B").scores
    human = table("hkcanto_7").row("Human")
    assert human.notes == {
        "Average": "questions under 40 % were excluded, so this is too high"
    }
    assert (
        "95 % interval 55.5 to 60.2" in table("hkmmlu_4").row("Human").notes["Average"]
    )


def test_scores_without_a_rank_in_table_11_are_no_shares_of_the_test_questions() -> (
    None
):
    sizes = {
        subject.name: subject.rows for subject in find_task("tmmluplus_gen").subjects
    }
    scores = table("tmmluplus_11")
    for row in scores.rows:
        unlike = [
            column.name
            for column in scores.columns
            if not any(
                abs(right / sizes[column.subject] - (row.values[column.name] or 0))
                < 0.000051
                for right in range(sizes[column.subject] + 1)
            )
        ]
        assert sorted(unlike) == sorted(row.notes), row.model
        assert len(unlike) == (19 if row.model == "Gemini-pro" else 0)


def test_later_results_are_never_ranked() -> None:
    later = table("hkmmlu_cantonese_llm_lab")
    assert later.source.startswith("Lam810/cantonese-llm-lab at commit 1aefd6b")
    assert all(column.unmeasured for column in later.columns)
    assert later.row("CantoneseLLMChat-v1.0-7B").values == {
        "Accuracy": 0.5897,
        "HK": 0.6243,
        "HKDSE": 0.5204,
        "Unread": 0.0,
    }


def test_averages_of_translation_are_means_of_the_three_scores() -> None:
    for direction in ["C to M", "M to C"]:
        parts = [f"{metric} {direction}" for metric in ("BLEU", "METEOR", "ROUGE-L")]
        assert not off(table("hkmmlu_2"), f"Avg. {direction}", parts), direction


def test_ranks_that_hkmmlu_states_of_translation_hold() -> None:
    rows = [row for row in table("hkmmlu_2").rows if row.kind == "model"]

    def best(column: str) -> list[str]:
        scored = [row for row in rows if row.values[column] is not None]
        return [
            row.model
            for row in sorted(scored, key=lambda row: -(row.values[column] or 0))
        ]

    assert best("Avg. C to M")[:2] == ["DeepSeek-V3", "GPT-4o"]
    assert best("Avg. M to C")[:2] == ["Llama-3-Taiwan-70B-Instruct", "DeepSeek-V3"]
    gaps = {
        row.model: to_mandarin - to_cantonese
        for row in rows
        if (to_mandarin := row.values["Avg. C to M"]) is not None
        and (to_cantonese := row.values["Avg. M to C"]) is not None
    }
    smallest = sorted(gaps, key=lambda model: gaps[model])[:2]
    assert smallest == ["Llama-3-Taiwan-70B-Instruct", "Llama-3-Taiwan-8B-Instruct"]


def test_cells_that_cannot_be_read_are_missing() -> None:
    for name, missing in [
        ("hkcanto_7", 1),
        ("hkcanto_8", 2),
        ("hkmmlu_1", 1),
        ("hkmmlu_2", 4 * 8 + 1),
        ("hkmmlu_8_5shot", 5),
        ("hkmmlu_11", 8),
    ]:
        values = [value for row in table(name).rows for value in row.values.values()]
        assert values.count(None) == missing, (name, missing)


def test_no_other_table_misses_a_cell() -> None:
    gaps = {
        table.name
        for table in published_tables()
        for row in table.rows
        if None in row.values.values()
    }
    few_shot = {"hkmmlu_8_5shot"}
    assert gaps == {"hkcanto_7", "hkcanto_8", "hkmmlu_1", "hkmmlu_2", "hkmmlu_11"} | (
        few_shot
    )


# ---------------------------------------------------------------- finding and checking


def test_tables_of_a_task_are_those_with_a_column_for_it() -> None:
    assert [table.name for table in tables_of("hkcanto_cultural")] == [
        "hkcanto_1",
        "hkcanto_7",
    ]
    assert [table.name for table in tables_of("hkmmlu_cot_1shot")] == [
        "hkmmlu_3",
        "hkmmlu_9",
    ]
    assert tables_of("hkmmlu_mc") == ()


Edit = Callable[[Path], None]


def replaced(file: str, old: str, new: str) -> Edit:
    def edit(folder: Path) -> None:
        text = (folder / file).read_text("utf-8")
        assert old in text
        (folder / file).write_text(text.replace(old, new, 1), "utf-8")

    return edit


WRONG = [
    (
        replaced(
            "tables.toml",
            'row = "SenseChat", columns = ["Average"]',
            'row = "SenseChat", columns = ["All"]',
        ),
        r"table 7: notes or means name columns that do not exist: \['All'\]",
    ),
    (
        replaced("7.csv", "81.7", "817"),
        r"table 7: 7.csv, row 'Human', column 'Food Culture': '817' is not a number",
    ),
    (
        replaced("7.csv", "81.7", "8l.7"),
        r"row 'Human', column 'Food Culture': '8l.7' is not a number from 0 to 100",
    ),
    (
        replaced("7.csv", "Human,81.7", "Human"),
        r"table 7: 7.csv, row 26 \(\['Human'\]\): it has 6 cells, .* header has 7",
    ),
    (
        replaced("7.csv", "Human,", "Random,"),
        r"table 7: 7.csv, row 'Random' occurs twice",
    ),
    (
        replaced("7.csv", "Life in HK", "Life"),
        r"table 7: 7.csv: its columns are .*'Life'.* are declared",
    ),
    (
        replaced("tables.toml", 'Human = "human"', 'People = "human"'),
        r"table 7: kinds or notes name rows that 7.csv does not have: \['People'\]",
    ),
    (
        replaced("tables.toml", 'subject = "food"', 'subject = "drink"'),
        r"tables.toml, table 7: column 'Food Culture' is restricted to .*'drink'",
    ),
    (
        replaced("tables.toml", '"hkcanto_mmlu_en"', '"hkcanto_mmlu_fr"'),
        r"table 1: column 'MMLU EN' has tasks that do not exist: \['hkcanto_mmlu_fr'\]",
    ),
    (
        replaced("tables.toml", '"acc_homophone"', '"acc_homonym"'),
        r"table 2: column 'Homophone' has a metric 'acc_homonym' that hkcanto_phonology has",
    ),
    (
        replaced("tables.toml", 'metric = "cer_published"', 'shot = "cer_published"'),
        r"tables.toml: tables no. \d+, columns no. \d+ has an unknown key shot",
    ),
    (
        replaced("tables.toml", 'headline = "CER"', 'headline = "WER"'),
        r"table 3: there is no column 'WER' for its headline",
    ),
]


def test_a_wrong_file_is_refused_by_name_and_place(tmp_path: Path) -> None:
    for place, (edit, message) in enumerate(WRONG):
        folder = tmp_path / str(place)
        shutil.copytree(BENCHMARKS / "hkcanto" / "published", folder)
        edit(folder)
        with pytest.raises(CatalogueError, match=message):
            read_tables(folder / "tables.toml")


def test_a_bleu_that_is_declared_as_a_share_is_refused(tmp_path: Path) -> None:
    shutil.copytree(BENCHMARKS / "hkmmlu" / "published", tmp_path, dirs_exist_ok=True)
    replaced("tables.toml", 'metric = "bleu", unit = "score"', 'metric = "bleu"')(
        tmp_path
    )
    with pytest.raises(CatalogueError, match=r"'BLEU C to M' has the unit 'percent'"):
        read_tables(tmp_path / "tables.toml")
