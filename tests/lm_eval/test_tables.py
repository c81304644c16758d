"""lm-eval prints one task per condition, few rows, the headline first, and no warning."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec
import pytest
from lm_eval.utils import make_table

from hkcanto_lm_eval.index import _groups_of_averages
from hkcanto_lm_eval.rows import has_all_subjects
from hkcanto_tasks.catalogue import find_benchmark, find_task
from hkcanto_tasks.tasks import task_as_run

from ..answering import AnsweringLM
from ..cases import named
from ..tasks import by_hand
from ..tasks.by_hand import Item
from .evaluating import Row, evaluate, table

CHOICE = [
    *("hkcanto_mmlu_yue", "hkcanto_mmlu_en", "hkcanto_dse_zh", "hkcanto_dse_en"),
    *(
        "hkcanto_professional_zh",
        "hkcanto_professional_en",
        "hkcanto_law",
        "hkcanto_cultural",
    ),
    *("hkcanto_cultural_0shot", "hkcanto_phonology", "hkcanto_orthography"),
    *("hkcanto_sentiment", "hkmmlu", "hkmmlu_cot", "hkmmlu_mc", "tmmluplus_gen"),
    *("tmmluplus_gen_cot", "tmmluplus_gen_mc"),
]
TABLE_1 = [
    *(
        "hkcanto_mmlu_en",
        "hkcanto_dse_en",
        "hkcanto_professional_en",
        "hkcanto_mmlu_yue",
    ),
    *("hkcanto_dse_zh", "hkcanto_professional_zh", "hkcanto_law", "hkcanto_cultural"),
    "hkcanto_cultural_0shot",
]


class Warnings(logging.Handler):
    """Collects lm-eval's warnings."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


@pytest.fixture(scope="module")
def whole() -> Iterator[tuple[dict[str, Any], list[str]]]:
    """All of HKCanto-Eval on the sample data: the results, and lm-eval's warnings."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HKCANTO_DATA", "sample")
        yield run_whole()


@pytest.fixture(scope="module")
def whole_release(real_release: None) -> tuple[dict[str, Any], list[str]]:
    """The same on the real release."""
    del real_release
    return run_whole(bootstrap_iters=0)


@pytest.fixture(scope="module")
def real_release() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HKCANTO_DATA", raising=False)
        yield


def run_whole(**options: Any) -> tuple[dict[str, Any], list[str]]:
    warnings = Warnings()
    logging.getLogger("lm_eval").addHandler(warnings)
    try:
        results = evaluate("hkcanto", model=AnsweringLM(), **options)
    finally:
        logging.getLogger("lm_eval").removeHandler(warnings)
    return results, warnings.said


def headline_rows(task: str) -> set[str]:
    """The names that a task's headline may have in the table."""
    kind = task_as_run(task)
    return {kind.table[0].name, kind.printed_name}


def check(rows: list[Row], tasks: list[str]) -> None:
    """Every row has an arrow, and the first one of each task is its headline."""
    assert {row.arrow for row in rows} == {"↑", "↓"}
    for task in tasks:
        first = next(row for row in rows if row.task == task)
        assert first.metric in headline_rows(task), task


def test_a_multiple_choice_benchmark_is_one_task_of_at_most_twelve_rows() -> None:
    results = evaluate(*CHOICE, model=AnsweringLM())
    assert set(results["samples"]) == set(CHOICE)
    assert not results.get("groups")
    rows = table(results)
    assert {row.task for row in rows} == set(CHOICE)
    for task in CHOICE:
        with named(task):
            assert len([row for row in rows if row.task == task]) <= 12
    check(rows, CHOICE)


@pytest.mark.realdata
def test_so_it_is_on_the_release() -> None:
    for task in ["hkmmlu", "tmmluplus_gen", "hkcanto_mmlu_yue"]:
        with named(task):
            results = evaluate(task, model=AnsweringLM(), bootstrap_iters=0)
            rows = table(results)
            assert len(rows) <= 12
            assert list(results["samples"]) == [task]
            check(rows, [task])


def test_all_of_hkcanto_eval_is_at_most_a_hundred_rows_without_a_warning(
    whole: tuple[dict[str, Any], list[str]],
) -> None:
    results, warnings = whole
    assert warnings == []
    rows = table(results)
    assert len(rows) <= 100
    check(rows, list(results["samples"]))


@pytest.mark.realdata
@pytest.mark.slow
def test_so_it_is_on_the_complete_release(
    whole_release: tuple[dict[str, Any], list[str]],
) -> None:
    results, warnings = whole_release
    assert warnings == []
    rows = table(results)
    assert len(rows) <= 100
    check(rows, list(results["samples"]))
    assert [row.metric for row in rows if row.task == "hkcanto"][:2] == [
        *("average_en", "average_zh_yue")
    ]


def items(results: dict[str, Any], *tasks: str) -> list[Item]:
    return [
        Item(sample["acc"], sample["doc"]["subject"])
        for task in tasks
        for sample in results["samples"][task]
    ]


@pytest.mark.realdata
@pytest.mark.slow
def test_the_averages_of_table_1_are_those_of_its_columns(
    whole_release: tuple[dict[str, Any], list[str]],
) -> None:
    results, _ = whole_release
    rows = results["results"]
    pooled = {
        "en": by_hand.micro(
            items(results, "hkcanto_dse_en", "hkcanto_professional_en")
        ),
        "zh": by_hand.micro(
            items(results, "hkcanto_dse_zh", "hkcanto_professional_zh", "hkcanto_law")
        ),
    }
    for language, expected in pooled.items():
        row = rows[f"hkcanto_academic_professional_{language}"]
        assert row["acc,none"] == pytest.approx(expected, abs=1e-12)
    english = fmean([by_hand.micro(items(results, "hkcanto_mmlu_en")), pooled["en"]])
    chinese = fmean(
        [
            by_hand.micro(items(results, "hkcanto_mmlu_yue")),
            pooled["zh"],
            by_hand.macro(items(results, "hkcanto_cultural")),
            by_hand.macro(items(results, "hkcanto_cultural_0shot")),
        ]
    )
    assert rows["hkcanto"]["average_en,none"] == pytest.approx(english, abs=1e-12)
    assert rows["hkcanto"]["average_zh_yue,none"] == pytest.approx(chinese, abs=1e-12)


def test_a_release_that_is_not_complete_has_no_average_of_table_1(
    whole: tuple[dict[str, Any], list[str]],
) -> None:
    results, _ = whole
    assert not any(
        name.startswith("average_") for name in results["results"].get("hkcanto", {})
    )
    assert set(results["samples"]) >= set(TABLE_1)


def test_what_is_missing_from_the_data_is_in_the_tasks_title() -> None:
    results = evaluate("hkmmlu", model=AnsweringLM(), limit=1)
    assert (
        results["results"]["hkmmlu"]["alias"]
        == "hkmmlu (8 of 66 subjects, sample data)"
    )


def test_a_group_has_a_row_for_each_subject_of_a_task() -> None:
    results = evaluate("hkmmlu_by_subject", model=AnsweringLM())
    present = [task for task, samples in results["samples"].items() if samples]
    assert {task.removeprefix("hkmmlu_") for task in present} == {
        *("dentistry", "economics", "hk_film_and_television", "hk_human_geography"),
        *("hk_law", "hk_transportation", "hkdse_mathematics", "logic_reasoning"),
    }
    for task in present:
        assert {item.subject for item in items(results, task)} == {
            task.removeprefix("hkmmlu_")
        }
    row = results["results"]["hkmmlu_by_subject"]
    expected = by_hand.micro(items(results, *present))
    assert row["acc,none"] == pytest.approx(expected, abs=1e-12)
    whole = evaluate("hkmmlu", model=AnsweringLM())["results"]["hkmmlu"]
    assert row["acc,none"] == pytest.approx(whole["acc,none"], abs=1e-12)


def test_tasks_and_groups_have_the_version_of_the_catalogue() -> None:
    results = evaluate("hkmmlu_by_subject", model=AnsweringLM(), limit=1)
    version = find_task("hkmmlu").definition.version
    assert {str(logged) for logged in results["versions"].values()} == {str(version)}
    printed = make_table(results).splitlines()
    for name in ("hkmmlu_by_subject", " - hkmmlu_economics"):
        (line,) = (line for line in printed if line.startswith(f"|{name} "))
        assert line.split("|")[2].strip() == str(version)


def test_a_group_of_averages_has_the_newest_version_of_its_tasks() -> None:
    benchmark = find_benchmark("hkcanto")
    first, *others = benchmark.tasks
    raised = msgspec.structs.replace(first, version=9)
    newer = msgspec.structs.replace(benchmark, tasks=(raised, *others))
    groups = [*_groups_of_averages(newer)]
    assert groups
    assert {group["metadata"]["version"] for group in groups} == {9}


def test_a_category_or_set_is_a_task_too() -> None:
    results = evaluate("hkmmlu_hk_specific", "hkmmlu_stem", model=AnsweringLM())
    specific = items(results, "hkmmlu_hk_specific")
    assert {item.subject for item in specific} == {
        *("hk_film_and_television", "hk_human_geography", "hk_law", "hk_transportation")
    }
    row = results["results"]["hkmmlu_hk_specific"]
    assert row["acc,none"] == pytest.approx(by_hand.micro(specific), abs=1e-12)
    docs = [sample["doc"] for sample in results["samples"]["hkmmlu_stem"]]
    assert {doc["category"] for doc in docs} == {"stem"}


def test_one_subject_of_a_variant_is_an_option() -> None:
    results = evaluate(
        "hkmmlu_cot", model=AnsweringLM(), metadata={"subjects": "dentistry,hk_law"}
    )
    samples = results["samples"]["hkmmlu_cot"]
    assert {sample["doc"]["subject"] for sample in samples} == {"dentistry", "hk_law"}
    expected = by_hand.macro(items(results, "hkmmlu_cot"))
    assert results["results"]["hkmmlu_cot"]["acc_macro,none"] == pytest.approx(
        expected, abs=1e-12
    )


MIX = """
name = "mix"
title = "Mix"
[data]
[prompts.plain]
question = "{question}\\n{options}\\n"
[[averages]]
name = "average_of_both"
title = "Average of both"
columns = [["mix_first"], ["mix_second"]]
[[tasks]]
name = "mix_first"
title = "First"
kind = "multiple_choice"
files = "{stem}.jsonl"
subjects = [{ name = "law", rows = 2 }, { name = "food", rows = 3 }]
[[tasks]]
name = "mix_second"
title = "Second"
kind = "multiple_choice"
files = "other/second.jsonl"
subjects = [{ name = "", rows = 4 }]
"""


def test_an_average_is_in_the_table_only_if_no_subject_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stem, count in (("law", 2), ("food", 3), ("other/second", 4)):
        rows = [
            {"question": f"{stem} {n}？", "A": "甲", "B": "乙", "C": "丙", "D": "丁"}
            for n in range(count)
        ]
        lines = [json.dumps({**row, "answer": "B"}) + "\n" for row in rows]
        (tmp_path / "other").mkdir(exist_ok=True)
        (tmp_path / f"{stem}.jsonl").write_text("".join(lines), "utf-8")
    (tmp_path / "benchmark.toml").write_text(MIX, "utf-8")
    monkeypatch.setenv("HKCANTO_DATA", "")
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))
    results = evaluate("mix", model=AnsweringLM())
    expected = fmean(
        by_hand.micro(items(results, task)) for task in ("mix_first", "mix_second")
    )
    assert results["results"]["mix"]["average_of_both,none"] == pytest.approx(expected)
    (tmp_path / "food.jsonl").unlink()
    results = evaluate("mix", model=AnsweringLM())
    assert results["results"]["mix_first"]["alias"].startswith("mix_first (1 of 2")
    assert "average_of_both,none" not in results["results"].get("mix", {})


@pytest.mark.parametrize(
    ("task", "options", "name"),
    [
        ("hkcanto_cultural", {}, "Average (Table 7)"),
        ("hkcanto_cultural", {"metadata": {"prompt": "release"}}, "Average (Table 7)"),
        ("hkcanto_cultural_0shot", {}, "Cultural 0-shot (Table 1)"),
        ("hkcanto_cultural", {"num_fewshot": 0}, "Cultural 0-shot (Table 1)"),
        ("hkcanto_cultural", {"num_fewshot": 3}, "Mean over subjects"),
        ("hkcanto_cultural", {"metadata": {"prompt": "yue"}}, "Mean over subjects"),
        ("hkcanto_cultural_mc", {}, "Mean over subjects"),
        ("tmmluplus_gen", {}, "Average (Table 2)"),
        ("tmmluplus_gen_cot", {"num_fewshot": 0}, "Mean over categories"),
        ("tmmluplus_gen_sc", {}, "Average Simplified (Table 4)"),
        ("tmmluplus_gen_mc", {}, "Mean over categories"),
    ],
)
def test_a_figure_has_a_tables_name_only_under_the_tables_condition(
    task: str, options: dict[str, Any], name: str
) -> None:
    results = evaluate(task, model=AnsweringLM(), limit=2, bootstrap_iters=0, **options)
    names = {row.partition(",")[0] for row in results["results"][task]}
    assert {row for row in names if row[0].isupper() and "_stderr" not in row} == {name}


@pytest.mark.parametrize("task", ["hkmmlu", "hkcanto_cultural_food"])
def test_a_subject_or_a_task_of_no_table_has_no_tables_name(task: str) -> None:
    results = evaluate(task, model=AnsweringLM(), limit=2, bootstrap_iters=0)
    assert not [row for row in results["results"][task] if row[0].isupper()]


@pytest.mark.parametrize(
    ("task", "has_all"),
    [
        ("hkmmlu_hk_law", True),
        ("hkmmlu", False),  # the sample data has 8 of its 66 subjects
        ("yue_g2p", True),
        ("cantonmt_yue_en", True),  # a reader's rows are not read for this
    ],
)
def test_a_file_for_each_subject_is_looked_for(task: str, has_all: bool) -> None:
    assert has_all_subjects(task) is has_all


def test_a_release_without_any_file_lacks_subjects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HKCANTO_DATA")
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path))
    assert has_all_subjects("hkmmlu_hk_law") is False
