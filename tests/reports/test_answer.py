"""The first lines of a report: who leads significantly over all tasks, and the caveats."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from hkcanto_tasks.results.reports.answer import answer
from hkcanto_tasks.results.reports.blocks import Estimate, Note, Table
from hkcanto_tasks.results.reports.report import build_report
from hkcanto_tasks.results.reports.verdicts import first_section
from hkcanto_tasks.results.runs import Run, SkippedLog
from hkcanto_tasks.results.statistics.estimates import value_of
from hkcanto_tasks.results.statistics.paired import pairwise
from hkcanto_tasks.results.statistics.selection import selection

from .building import a_run
from .whole import whole

TASKS = (
    *("hkcanto_law", "hkcanto_law_mc", "hkcanto_phonology", "hkcanto_dse_zh"),
    *("hkcanto_professional_zh", "hkcanto_professional_en", "hkmmlu_mc", "tmmluplus_gen_mc"),
)


def said(*runs: Run, skipped: Sequence[SkippedLog] = ()) -> str:
    return build_report(runs, skipped).answer[0].text


def warned(*runs: Run, skipped: Sequence[SkippedLog] = ()) -> str:
    _, *notes = build_report(runs, skipped).answer
    assert {note.level for note in notes} <= {"warning"}
    return " ".join(note.text for note in notes)


def checked(run: Run) -> Run:
    """Return a run without caveats, except those that a test adds."""
    name = run.headline.name
    found = value_of(run, name)
    assert found
    return replace(run, reported={((), name): found.value})


def pair(task: str, wins: int, losses: int, items: int = 100) -> list[Run]:
    """Return two runs: only b is right on some items, only a on others, both on the rest."""
    a = [0.0] * wins + [1.0] * (items - wins)
    b = [1.0] * wins + [0.0] * losses + [1.0] * (items - wins - losses)
    return [a_run(task, {"acc": each}, label=label) for label, each in (("a", a), ("b", b))]


def test_on_a_single_task_two_models_are_compared_as_by_mcnemar() -> None:
    # z = (15 - 4) / √19 = 2.52 exceeds 1.96; (13 - 5) / √18 = 1.89 does not.
    assert "the difference of +11.0 points is more than chance" in said(*pair("hkcanto_law", 15, 4))
    assert "the difference of +8.0 points may be chance" in said(*pair("hkcanto_law", 13, 5))


def test_the_confidence_holds_for_all_tasks_at_once() -> None:
    # With 8 tasks, each is tested at 5 % / 8, or z = 2.73: 2.52 is now chance, 17 / √25 is not.
    clear, *others = [pair(task, 21, 4) if place == 0 else pair(task, 15, 4)
                      for place, task in enumerate(TASKS)]  # fmt: skip
    text = said(*clear, *(run for both in others for run in both))
    assert text == (
        "b leads on 8 of 8 tasks; 1 difference is more than chance (95 % for all 8 tasks at once): "
        "Hong Kong law, 5-shot (+17.0 points)."
    )


def test_a_selection_at_higher_confidence_tells_fewer_apart() -> None:
    runs = tuple(pair("hkcanto_law", 15, 4))
    alone, among_eight = selection(runs), selection(runs, 1 - 0.05 / 8)
    assert alone
    assert among_eight
    assert (len(alone.ties), len(among_eight.ties)) == (0, 1)
    assert [*alone.differences.values()] == pytest.approx([0.11])


def test_for_two_models_it_says_who_leads_where_and_which_way_is_better() -> None:
    errors = [[0.9] * 100, [0.1] * 100]
    g2p = [
        a_run("hkcanto_g2p", {"cer_published": each}, label=label)
        for label, each in zip("ab", errors, strict=True)
    ]
    text = said(*g2p, *pair("hkcanto_law", 3, 40))
    assert text.startswith("a and b lead on 1 each of 2 tasks; 2 differences are more than chance")
    assert "Hong Kong law (a, +37.0 points)" in text
    assert "Jyutping grapheme-to-phoneme (b, −80.0 points, lower is better)" in text


def test_equal_models_lead_nowhere() -> None:
    text = said(*pair("hkcanto_law", 0, 0), *pair("hkcanto_phonology", 5, 5))
    assert text == "a and b are equal on each of 2 tasks."
    assert "b leads on 1 of 2 tasks, and they are equal on 1" in said(
        *pair("hkcanto_law", 0, 0), *pair("hkcanto_phonology", 30, 0)
    )


def test_for_more_models_it_says_who_is_best_on_how_many_tasks_and_where_significantly() -> None:
    def shares(task: str, **of: int) -> list[Run]:
        return [
            a_run(task, {"acc": [1.0] * right + [0.0] * (200 - right)}, label=label)
            for label, right in of.items()
        ]

    runs = [
        *shares("hkcanto_law", a=180, b=60, c=50),
        *shares("hkcanto_phonology", a=150, b=149, c=50),
        *shares("hkcanto_dse_zh", a=50, b=60, c=150),
    ]
    assert said(*runs) == (
        "a has the best figure on 2 of 3 tasks, c on 1. The best is ahead of all others by more "
        "than chance on 2 (95 % for all 3 tasks at once): Hong Kong law and "
        "Hong Kong Diploma of Secondary Education, in Chinese (c)."
    )


def test_one_model_is_put_among_the_published_ones() -> None:
    # 16 to 21 of 24 by hand in `test_standings`.
    alone = said(whole("hkcanto_cultural"))
    assert alone.startswith("mine has 50.0 [")
    assert alone.endswith(
        "] % on Hong Kong cultural questions, 5-shot (Accuracy, mean over subjects): rank 16–21 "
        "of 24 in HKCanto-Eval (Cheng et al., 2025), Table 7."
    )
    both = said(whole("hkcanto_cultural"), whole("hkcanto_law"))
    assert both == (
        "mine has a rank among published models on 1 of 2 tasks: Hong Kong cultural questions "
        "16–21 of 24."
    )


def test_one_model_without_a_place_says_why() -> None:
    part = whole("hkcanto_cultural", subjects=["food"])
    assert said(part).endswith("It has no rank among published models: not all items.")
    likelihood = said(whole("hkmmlu_mc"))
    assert "No published figure is comparable. The letters were scored by log-like" in likelihood


def test_models_with_nothing_in_common_are_not_compared() -> None:
    text = said(whole("hkcanto_law", label="a"), whole("hkcanto_cultural", label="b"))
    assert text.startswith("Nothing is comparable between these 2 models: no two models ran the")
    a, b = pair("hkcanto_law", 5, 1)
    cancelled = [replace(a, status="cancelled"), replace(b, status="cancelled")]
    assert "no two of them have complete runs on the same items" in said(*cancelled)
    assert said() == "There is no run to report on."


def test_tasks_that_one_model_ran_alone_are_counted_apart() -> None:
    alone = whole("hkcanto_cultural", label="a")
    text = said(*pair("hkcanto_law", 30, 0), *pair("hkcanto_phonology", 30, 0), alone)
    assert text.startswith("b leads on 2 of 2 tasks;")
    assert text.endswith("1 task more has no two comparable runs.")


def test_a_cancelled_or_limited_run_is_left_out_and_named() -> None:
    a, b = pair("hkcanto_law", 30, 0)
    short = replace(a_run("hkcanto_law", {"acc": [1.0] * 50}, label="c"), limited=True)
    cancelled = replace(a_run("hkcanto_law", {"acc": [1.0] * 100}, label="d"), status="cancelled")
    text = warned(*map(checked, (a, b, short, cancelled)))
    assert "cancelled (d on Hong Kong law)" in text
    assert "on a part of the items (c on Hong Kong law)" in text
    left_out = "(unfinished, or on other items): d on Hong Kong law, c on Hong Kong law."
    assert left_out in text


def test_what_is_not_to_be_trusted_is_said_of_all_runs_at_once() -> None:
    runs = [replace(checked(run), limited=True) for run in pair("hkcanto_law", 30, 0)]
    assert (
        warned(*runs)
        == "Not to be taken at face value: run with --limit, on a part of the items (all runs)."
    )
    unread = a_run("hkcanto_law", {"acc": [1.0] * 10, "unparsed_rate": [1.0] * 3 + [0.0] * 7})
    assert warned(checked(unread)) == "Not to be taken at face value: not all items; 30% unread."
    assert warned(checked(whole("hkcanto_cultural"))) == ""


def test_logs_that_were_not_read_are_said_first() -> None:
    log = SkippedLog(Path("broken.eval"), "It is no log.")
    assert "1 log was not read, or not in full" in warned(whole("hkcanto_cultural"), skipped=[log])


def test_a_cell_of_the_matrix_says_what_is_wrong_with_its_run() -> None:
    a, b = map(checked, pair("hkcanto_law", 30, 0))
    runs = [replace(a, status="cancelled"), replace(b, limited=True), checked(whole("hkmmlu"))]
    matrix = next(
        block
        for block in build_report(runs).sections[0].blocks
        if isinstance(block, Table) and block.name == "matrix"
    )
    notes = {
        row.values[0]: [each.note for each in row.values if isinstance(each, Estimate)]
        for row in matrix.rows
    }
    assert notes["a"] == ["cancelled"]
    assert notes["b"] == ["limit"]
    assert notes["mine"] == [""]


def test_a_report_and_a_comparison_say_more_than_chance_of_the_same_tasks() -> None:
    # Exact McNemar: 20 to 0 is p < 0.001, and 10 to 2 is 2 · (1 + 12 + 66) / 2¹² = 0.039. Holm over
    # two tasks leaves the larger one as it is; Bonferroni would make it 0.077.
    runs = []
    for task, wins, losses in (("hkcanto_law", 20, 0), ("hkcanto_phonology", 10, 2)):
        before = [0.0] * wins + [1.0] * losses + [1.0] * 20
        after = [1.0] * wins + [0.0] * losses + [1.0] * 20
        runs += [a_run(task, {"acc": before}, label="a"), a_run(task, {"acc": after}, label="b")]
    compared = [*pairwise(runs[:2]), *pairwise(runs[2:])]
    (first,) = first_section(compared)
    for note in (first.blocks[0], answer(runs, [])[0]):
        assert isinstance(note, Note)
        assert "2 differences are more than chance" in note.text
