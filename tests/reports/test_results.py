"""The first and the last part of a report: each run's results, and the methods."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hkcanto_tasks.figures import Pair
from hkcanto_tasks.results.reports.blocks import (
    Note,
    Section,
    TableBlock,
    TableRow,
    Value,
)
from hkcanto_tasks.results.reports.renderers import render
from hkcanto_tasks.results.reports.summary import build_report
from hkcanto_tasks.results.runs import Run, Sent, SkippedLog
from hkcanto_tasks.results.statistics.intervals import Estimate

from .building import a_run, changed, sections
from .whole import whole

CULTURAL = ["food", "food", "food", "food", "local_knowledge"]


def first(*runs: Run) -> Section:
    return sections("results", runs)[0]


def tables(section: Section) -> list[TableBlock]:
    return [block for block in section.blocks if isinstance(block, TableBlock)]


def at_a_glance(*runs: Run) -> TableBlock:
    (found,) = (
        each
        for section in build_report(runs).sections
        for each in tables(section)
        if each.name == "runs"
    )
    return found


def plot(*runs: Run) -> TableBlock:
    return next(iter(papers(*runs).values()))


def notes(section: Section, level: str) -> list[str]:
    found = [block for block in section.blocks if isinstance(block, Note)]
    return [note.text for note in found if note.level == level]


def papers(*runs: Run) -> dict[str, TableBlock]:
    found = [
        table for section in sections("published", runs) for table in tables(section)
    ]
    return {table.name.replace("_", "-"): table for table in found}


def column(table: TableBlock, title: str) -> list[Value]:
    place = [column.title for column in table.columns].index(title)
    return [row.values[place] for row in table.rows]


def value(table: TableBlock, name: str, title: str) -> Value:
    place = [column.title for column in table.columns].index(title)
    return row(table, name).values[place]


def row(table: TableBlock, name: str) -> TableRow:
    return next(row for row in table.rows if row.values[0] == name)


def numbers(values: Sequence[Value]) -> list[float]:
    return [value.value for value in values if isinstance(value, Estimate)]


def said(*runs: Run, skipped: Sequence[SkippedLog] = ()) -> list[str]:
    """Return the remarks of the last section."""
    section = build_report(runs, skipped).sections[-1]
    return [block.text for block in section.blocks if isinstance(block, Note)]


def about(word: str, *runs: Run) -> str:
    (found,) = [text for text in said(*runs) if word in text]
    return found


# ---------------------------------------------------------------- each run at a glance


def test_the_headline_is_averaged_as_the_paper_averages_it() -> None:
    # Cultural: the mean over subjects, (1/4 + 1/1) / 2; law: over questions, 2/5.
    cultural = a_run("hkcanto_cultural", {"acc": [1, 0, 0, 0, 1]}, subjects=CULTURAL)
    law = a_run("hkcanto_law", {"acc": [1, 0, 0, 0, 1]})
    table = at_a_glance(cultural, law)
    assert numbers(column(table, "Score")) == pytest.approx([62.5, 40])


def test_the_first_table_says_which_figure_it_has_and_where_lower_is_better() -> None:
    made = first(
        whole("hkcanto_g2p", 0.1, metric="cer_published"), whole("hkcanto_cultural")
    )
    assert column(tables(made)[0], "Figure") == [
        *("CER as published (lower is better)", "Accuracy, mean over subjects")
    ]


def test_shares_and_scores_of_a_corpus_are_from_0_to_100() -> None:
    pairs = [Pair("我哋去飲茶", "我哋去飲茶", "We go for dim sum.")] * 3
    perfect = a_run("hkcanto_translation_en_yue", {}, pairs=pairs)
    both = at_a_glance(perfect, a_run("hkcanto_law", {"acc": [1, 0]}))
    assert numbers(column(both, "Score")) == pytest.approx([100, 50])


def test_the_rank_of_a_run_is_that_in_the_papers_headline() -> None:
    table = at_a_glance(
        whole("hkcanto_cultural"), a_run("hkcanto_law", {"acc": [1, 0]})
    )
    # 50 ± 6.2 % among 22 models; worked by hand in `test_standings`.
    assert column(table, "Rank") == ["14–21 of 23 ‡", None]


def phonology() -> Run:
    """Half of all questions are right, including 50 of the 60 on homophones."""
    parts = [("homophone",)] * 60 + [("rhyme",)] * 40
    return a_run("hkcanto_phonology", {"acc": [1] * 50 + [0] * 50}, parts=parts)


@pytest.mark.parametrize(
    "made", [phonology(), whole("hkcanto_cultural", subjects=["food"])]
)
def test_a_rank_in_another_figure_than_the_headline_is_not_beside_it(made: Run) -> None:
    # Ranks of 24 in Homophone and in Food Culture: neither is the row's figure.
    assert any(
        each["ranks"] for each in build_report([made]).records["runs"][0]["standings"]
    )
    assert "Rank" not in [column.title for column in at_a_glance(made).columns]


def test_a_report_without_a_rank_has_no_column_of_ranks() -> None:
    table = at_a_glance(a_run("hkcanto_law", {"acc": [1, 0]}))
    assert "Rank" not in [column.title for column in table.columns]


def test_sample_data_is_warned_of_first() -> None:
    warnings = notes(
        first(a_run("hkcanto_law", {"acc": [1]}, data="sample")), "warning"
    )
    assert any(text.startswith("sample data: ") for text in warnings)


# ---------------------------------------------------------------- trust


RIGHT = {((), "acc"): 0.4, ((), "acc_macro"): 0.625, (("food",), "acc"): 0.25}


def cultural(**values: Sequence[float]) -> Run:
    values = {"acc": [1, 0, 0, 0, 1], **values}
    return a_run("hkcanto_cultural", values, subjects=CULTURAL)


def test_the_doubts_about_a_run_are_named() -> None:
    unread = {"acc": [1] * 40, "unparsed_rate": [1] + [0] * 39}
    few = {
        "acc": [1] * 50,
        "unparsed_rate": [1] + [0] * 49,
    }  # 1 of 50 is not more than 2 %
    other = RIGHT | {((), "acc"): 0.5, ((), "acc_macro"): 0.5}
    for made, doubts in (
        (whole("hkcanto_cultural"), "unchecked"),
        (replace(cultural(), reported=RIGHT), "not all items"),
        (replace(cultural(), reported=other), "unlike the harness; not all items"),
        (a_run("hkcanto_law", few), "unchecked; not all items"),
        (a_run("hkcanto_law", unread), "unchecked; not all items; 2 % unread"),
        (whole("hkcanto_cultural", data="local-1a2b3c4"), "unchecked; own data"),
        (whole("hkcanto_cultural", data="sample"), "unchecked; sample data"),
        (
            replace(cultural(), reported=RIGHT, sent=Sent(temperature=0.7)),
            "not all items; temperature 0.7",
        ),
        (replace(cultural(), reported=RIGHT, sent=Sent(top_k=1)), "not all items"),
        (
            replace(cultural(), reported=RIGHT, sent=Sent()),
            "not all items; decoding unknown",
        ),
    ):
        assert column(at_a_glance(made), "Doubts") == [doubts]


def test_epochs_of_an_item_count_once() -> None:
    run = whole("hkcanto_cultural")
    twice = a_run(
        "hkcanto_cultural",
        {"acc": [*run.items.values["acc"]] * 2},
        subjects=[*run.items.subjects] * 2,
        ids=[*run.items.ids] * 2,
    )
    (record,) = build_report([twice]).records["runs"]
    assert "not all items" not in record["doubts"]


def test_a_difference_in_the_tenth_digit_is_one_of_rounding() -> None:
    run = a_run("hkcanto_law", {"acc": [1, 0]})
    doubts = [
        str(
            column(
                at_a_glance(replace(run, reported={((), "acc"): 0.5 + by})), "Doubts"
            )[0]
        )
        for by in (1e-8, 1e-10)
    ]
    assert ["unlike the harness" in text for text in doubts] == [True, False]


# ---------------------------------------------------------------- the papers' models


def test_a_run_stands_in_the_plot_where_its_score_puts_it() -> None:
    table = plot(whole("hkcanto_cultural"))
    names = column(table, "Model")
    # Half of each subject's questions are right: between 50.7 and 42.7 under Average.
    place = names.index("mine")
    assert names[place - 1 : place + 2] == ["Yi 1.5 6B", "mine", "Mistral Nemo 12B"]
    assert names[0] == "Qwen2 72B"
    assert len(names) == 25 + 1
    kinds = {
        name: row(table, name).kind for name in ("mine", "GPT4o", "Human", "Random")
    }
    assert list(kinds.values()) == ["run", "published", "human", "random"]
    assert [each.title for each in table.columns][:3] == [
        "Model",
        "Rank",
        "Food Culture",
    ]
    assert [each.title for each in table.columns if each.drawn] == ["Average"]


def test_models_have_a_rank_runs_a_range_of_them_and_people_none() -> None:
    table = plot(whole("hkcanto_cultural"))
    ranks = {
        name: value(table, name, "Rank")
        for name in ("Mistral Nemo 12B", "mine", "Human")
    }
    assert ranks == {
        "Mistral Nemo 12B": "20",
        "mine": "14–21 of 23 ‡",
        "Human": None,
    }


def test_remarks_on_published_scores_are_shown_with_them() -> None:
    table = plot(whole("hkcanto_cultural"))
    for name, rank, note in [
        ("SenseChat", None, "mean of 4 of the 5 subjects"),
        ("Human", None, "questions under 40 % were excluded, so this is too high"),
    ]:
        shown = value(table, name, "Average")
        assert isinstance(shown, Estimate)
        assert (value(table, name, "Rank"), shown.note) == (rank, note)


def test_the_fewest_errors_come_first() -> None:
    table = plot(whole("hkcanto_g2p", 0.1, metric="cer_published"))
    assert column(table, "Model")[:4] == [
        "Rule Based",
        "GPT4o",
        "Claude 3.5 Sonnet",
        "mine",
    ]
    assert "lower is better" in table.caption
    assert table.columns[2].lower_is_better is True


def test_a_run_without_a_rank_says_why_and_one_without_a_figure_comes_last() -> None:
    runs = [
        whole("hkcanto_cultural", subjects=["food"], label="part"),
        whole("hkcanto_cultural", data="local-1a2b3c4", label="local"),
        whole("hkcanto_cultural", label="whole"),
    ]
    notes = {}
    part, local, complete = runs
    for run, own in (
        (part, (part, complete)),
        (local, (local,)),
        (complete, (complete,)),
    ):
        table, name = plot(*own), run.label
        of = value(table, name, "Average")
        assert isinstance(of, Estimate)
        assert not of.note  # once in the row
        notes[name] = value(table, name, "Rank")
    assert notes == {
        "part": "not all items",
        "local": "unknown data",
        "whole": "14–21 of 23 ‡",
    }
    # Llama-3-8B-Instruct is one of the models without translation scores in the paper.
    missing = a_run(
        "hkmmlu_translation_yue_zh", {}, pairs=[Pair("他在這裡", "他在这里", "")]
    )
    ends = plot(missing).rows[-4:]
    place = [each.drawn for each in plot(missing).columns].index(True)
    assert all(each.values[place] is None for each in ends)


def test_published_tables_are_open_beside_one_task_and_folded_beside_several() -> None:
    (section,) = sections("published", [whole("hkmmlu")])
    assert section.is_summary
    assert [
        (table.name, [each.title for each in table.columns if each.drawn])
        for table in tables(section)
    ] == [
        ("published_hkmmlu_1", ["Avg. TC"]),
        ("published_hkmmlu_9", ["Non-STEM DA"]),
        ("published_hkmmlu_11", ["TC"]),
    ]
    runs = [
        whole("hkcanto_cultural"),
        whole("hkcanto_g2p", 0.1, metric="cer_published"),
    ]
    (section,) = sections("published", runs)
    assert not section.is_summary
    assert [table.name for table in tables(section)] == [
        "published_hkcanto_3",
        "published_hkcanto_7",
    ]


def test_figures_of_a_corpus_keep_their_scale_beside_the_papers() -> None:
    sentence = "我們去了海邊看日落啊"
    pairs = [Pair(sentence, sentence, "我哋去咗海邊睇日落啊")] * 3
    made = a_run("hkmmlu_translation_yue_zh", {}, label="mine", pairs=pairs)
    table = papers(made)["published-hkmmlu-2"]
    assert numbers([value(table, "mine", "Avg. C to M")]) == pytest.approx([299.95 / 3])
    assert value(table, "DeepSeek-V3", "Avg. C to M") == 72.2
    units = {each.title: each.unit for each in table.columns}
    assert units["BLEU C to M"] == "score"


def test_nothing_to_compare_gives_no_published_section() -> None:
    assert papers(a_run("hkcanto_law", {"acc": [1, 0]})) == {}
    assert papers() == {}


# ---------------------------------------------------------------- methods


def test_signatures_are_in_a_table() -> None:
    run = replace(whole("hkcanto_cultural"), model="org/mine")
    (table,) = tables(build_report([run]).sections[-1])
    shown = [
        column(table, title)[0] for title in ("Model", "Called", "Harness", "Run on")
    ]
    assert shown == ["mine", "org/mine", "lm-eval", "2026-11-01 00:00"]
    assert column(table, "Signature") == [run.signature.text]


def test_equal_figures_are_counted_and_others_named() -> None:
    agreed = said(replace(cultural(), reported=RIGHT))
    assert agreed[0] == "3 figures equal those of the harnesses."
    assert not any(" here, " in text for text in agreed)
    reported = {**RIGHT, (("local_knowledge",), "acc"): 0.5}
    differs = about(" here, ", replace(cultural(), reported=reported))
    assert "acc of local_knowledge is 1 here, 0.5 in lm-eval" in differs


def test_of_many_figures_that_differ_four_are_named() -> None:
    subjects = [subject.name for subject in whole("hkcanto_cultural").subjects]
    run = a_run("hkcanto_cultural", {"acc": [1] * 5}, subjects=subjects)
    found = said(replace(run, reported={((name,), "acc"): 0.0 for name in subjects}))
    assert sum(" here, " in text for text in found) == 4


def test_figures_of_categories_are_checked_too() -> None:
    run = a_run(
        "hkmmlu", {"acc": [1, 0, 0]}, subjects=["dentistry", "dentistry", "hk_law"]
    )
    checked = said(replace(run, reported={((), "acc_stem"): 0.5}))
    assert checked[0].startswith("1 figures equal")


def test_a_part_says_what_it_lacks_but_the_sample_data_is_one() -> None:
    part = about("lacks", a_run("hkcanto_law", {"acc": [1, 0]}))
    assert part.endswith("lacks 15 of the 16 subjects.")
    sample = said(a_run("hkcanto_law", {"acc": [1, 0]}, data="sample"))
    assert not any("lacks" in text for text in sample)


def test_what_is_to_know_of_a_run_is_said() -> None:
    run = replace(a_run("hkcanto_law", {"acc": [1]}), notes=("judged by a person",))
    assert "judged by a person" in about("judged", run)


def test_the_papers_protocols_are_said_once() -> None:
    runs = [whole("hkcanto_cultural", label=label) for label in "ab"]
    assert "People answered the questions without examples" in about(
        "Table 7: Five-shot", *runs
    )
    report = build_report(runs)
    texts = [
        block.text
        for section in report.sections
        for block in section.blocks
        if isinstance(block, Note)
    ]
    assert sum("without examples" in text for text in texts) == 1


def test_options_that_differ_from_the_paper_are_in_the_rows_name() -> None:
    made = whole("hkcanto_cultural", prompt="yue")
    assert row(plot(made), "mine prompt:yue").kind == "run"


def test_what_is_in_no_published_table_says_why_by_reason() -> None:
    runs = [
        whole("hkcanto_law", label="a"),
        whole("hkcanto_law", label="b"),
        whole("hkmmlu_mc", label="a"),
    ]
    pools, likelihood = [text for text in said(*runs) if text.startswith("Not beside")]
    assert pools.startswith(
        "Not beside published figures: a on hkcanto_law, b on hkcanto_law. "
    )
    assert "Academic & Professional ZH: it pools several tasks" in pools
    assert "a on hkmmlu_mc. The letters were scored by log-likelihood" in likelihood


def test_logs_that_were_not_read_are_listed_without_whole_paths_and_in_the_summary() -> (
    None
):
    run = a_run("hkcanto_law", {"acc": [1]})
    log = SkippedLog(Path("/home/someone/logs/run/broken.eval"), "It is no log.")
    made = build_report([run], [log]).sections[-1]
    _, table = tables(made)
    assert [row.values for row in table.rows] == [["run/broken.eval", "It is no log."]]
    assert made.is_summary
    assert not build_report([run]).sections[-1].is_summary


# ---------------------------------------------------------------- the report as a whole


def document(*runs: Run) -> Any:
    return json.loads(render(build_report(runs), "json"))


def test_json_has_a_record_for_each_run() -> None:
    run = replace(whole("hkcanto_cultural"), reported={((), "acc_macro"): 0.5})
    (found,) = document(run)["runs"]
    assert {
        name: found[name] for name in ("label", "harness", "task", "condition")
    } == {
        "label": "mine",
        "harness": "lm-eval",
        "task": "hkcanto_cultural",
        "condition": "5-shot",
    }
    assert found["signature"] == run.signature.text
    assert found["created"] == "2026-11-01T00:00:00+00:00"
    assert found["figure"]["value"] == pytest.approx(0.5)
    assert found["figure"]["low"] < 0.5 < found["figure"]["high"]
    assert found["figure"]["items"] == 252
    assert (found["doubts"], found["unread"]) == ([], None)


def test_json_has_the_places_of_a_run_with_the_papers_headline_first() -> None:
    (found,) = document(whole("hkcanto_cultural"))["runs"]
    headline, *others = found["standings"]
    assert (headline["table"], headline["column"]) == ("hkcanto_7", "Average")
    assert (headline["ranks"], headline["of"]) == ([14, 21], 23)
    assert headline["followed"] == "appendices"
    assert headline["figure"]["value"] == pytest.approx(0.5)
    assert [each["column"] for each in others][:2] == [
        "Food Culture",
        "History & Landmarks",
    ]
    assert len(others) == 5


def test_json_says_what_the_harness_reported_otherwise_and_why_there_is_no_rank() -> (
    None
):
    run = replace(whole("hkcanto_cultural"), reported={((), "acc_macro"): 0.6})
    (found,) = document(run)["runs"]
    assert found["doubts"] == ["unlike the harness"]
    assert found["standings"][0]["ranks"] is None
    assert found["standings"][0]["figure"]["note"] == "unlike the harness's figure"


def test_a_report_is_named_after_its_models() -> None:
    runs = [a_run("hkcanto_law", {"acc": [1]}, label=label) for label in "abcdef"]
    assert build_report(runs[:1]).title == "a"
    assert build_report([*runs, runs[0]]).title == "6 models"
    assert build_report(runs, title="Six").title == "Six"


def test_the_footer_names_the_papers_of_what_was_run() -> None:
    covered, line = build_report([a_run("hkcanto_law", {"acc": [1]})]).footer
    assert "only the sampling of items" in covered
    assert "HKCanto-Eval" in line
    assert "HKMMLU" not in line


def test_names_are_unique_and_rows_as_wide_as_their_table() -> None:
    def runs(options: dict[str, str], task: str, shots: int) -> list[Run]:
        subjects = ["dentistry", "hk_law", "physics"] * 10
        values = {"acc": [1.0, 0.0] * 15, "unparsed_rate": [0.0, 1.0] * 15}
        return [
            changed(
                a_run(
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
    made = build_report(
        [
            *runs(paper, "hkmmlu", 0),
            *runs(paper, "hkmmlu", 1),
            *runs({"prompt": "yue", "script": "tc"}, "hkmmlu", 0),
            *runs({"prompt": "yue+scaffold", "script": "tc"}, "hkmmlu", 0),
            *runs(paper, "hkmmlu_mc", 0),
            *runs({"prompt": "paper", "script": "sc"}, "hkmmlu_sc", 0),
            *runs({"prompt": "paper", "script": "tc", "cot": "yes"}, "hkmmlu_cot", 0),
        ],
        [SkippedLog(Path("a/b"), "no log")],
    )
    found = [table for section in made.sections for table in tables(section)]
    assert len({section.name for section in made.sections}) == len(made.sections)
    assert len({table.name for table in found}) == len(found) > 8
    assert all(
        len(table.columns) == len(row.values) for table in found for row in table.rows
    )


def test_a_report_of_nothing_can_be_made() -> None:
    made = build_report([])
    assert [section.name for section in made.sections] == ["results", "made"]
    assert document()["runs"] == []
