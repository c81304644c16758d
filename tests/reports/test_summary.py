"""The first section of a report: who leads significantly, one line of warnings, one table."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from statsmodels.stats.multitest import multipletests

from hkcanto_tasks.results.reports.blocks import Note, TableBlock
from hkcanto_tasks.results.reports.presentation import doubts
from hkcanto_tasks.results.reports.summary import best_records, build_report
from hkcanto_tasks.results.runs import Run, SkippedLog
from hkcanto_tasks.results.statistics.estimates import estimate
from hkcanto_tasks.results.statistics.selection import selection

from .building import a_run, tables
from .whole import whole

TASKS = (
    *("hkcanto_law", "hkcanto_law_mc", "hkcanto_phonology", "hkcanto_dse_zh"),
    *(
        "hkcanto_professional_zh",
        "hkcanto_professional_en",
        "hkmmlu_mc",
        "tmmluplus_gen_mc",
    ),
)


def said(*runs: Run) -> str:
    """The verdict."""
    answer = build_report(runs).answer
    return " ".join(note.text for note in answer if note.level == "verdict")


def said_of(label: str, *runs: Run) -> str:
    """The answer to a question such as “How certain”."""
    (text,) = (note.text for note in build_report(runs).answer if note.label == label)
    return text


def notes(*runs: Run) -> list[str]:
    """The notes of the first section."""
    blocks = build_report(runs).sections[0].blocks
    return [block.text for block in blocks if isinstance(block, Note)]


def next_step(*runs: Run) -> str:
    answer = build_report(runs).answer
    (note,) = [note for note in answer if note.level == "next"]
    return f"{note.text} {note.command}"


def warned(*runs: Run, skipped: Sequence[SkippedLog] = ()) -> str:
    answer = build_report(runs, skipped).answer
    return " · ".join(note.text for note in answer if note.level == "warning")


def checked(run: Run) -> Run:
    """Return a run without caveats, except those that a test adds."""
    found = estimate(run, run.headline.name)
    assert found
    return replace(run, reported={((), run.headline.name): found.value})


def pair(task: str, wins: int, losses: int, items: int = 100) -> list[Run]:
    """Return two runs: only b is right on some items, only a on others, both on the rest."""
    a = [0.0] * wins + [1.0] * (items - wins)
    b = [1.0] * wins + [0.0] * losses + [1.0] * (items - wins - losses)
    return [
        a_run(task, {"acc": each}, label=label) for label, each in (("a", a), ("b", b))
    ]


def shares(task: str, **of: int) -> list[Run]:
    return [
        a_run(task, {"acc": [1.0] * right + [0.0] * (200 - right)}, label=label)
        for label, right in of.items()
    ]


# ---------------------------------------------------------------- two models


def test_on_a_single_task_two_models_are_compared_by_mcnemar() -> None:
    # 2 · P(X ≤ 4 of 19) = 0.019; 2 · P(X ≤ 5 of 18) = 0.096.
    text = said(*pair("hkcanto_law", 15, 4))
    assert text.startswith(
        "b is better than a on Hong Kong law, 5-shot. +11.0 points for b: Accuracy 96.0 against "
        "85.0. 95 % [+"
    )
    assert text.endswith("p = 0.019 (exact McNemar); 15 items won, 4 lost, 81 tied.")
    assert said(*pair("hkcanto_law", 13, 5)).startswith(
        "No difference is shown between b and a on"
    )


def test_several_tasks_share_the_error_of_five_percent() -> None:
    # 21 to 4 is p = 0.0009, times 8 below 5 %; 15 to 4 is 0.019, times 7 above.
    runs = [
        run
        for place, task in enumerate(TASKS)
        for run in pair(task, *((21, 4) if place == 0 else (15, 4)))
    ]
    assert said_of("Who leads", *runs) == "b leads a on each of 8 tasks."
    assert said_of("How certain", *runs) == (
        "Certain on 1 of 8 tasks, each time for b (95 %, all tasks together)."
    )
    # These runs have one subject each, so that there is nothing more to see.
    assert next_step(*runs) == (
        "Keep it as a page: hkcanto compare LOGS -o report.html"
    )
    divided = [whole("hkcanto_law", share, label=str(share)) for share in (0.4, 0.9)]
    assert next_step(*divided) == (
        "See the gains and losses subject by subject: hkcanto compare LOGS --full"
    )
    # Without the first pair, no difference is certain.
    assert next_step(*runs[2:]) == (
        "See how many items would show such differences: hkcanto plan LOGS"
    )
    rows = tables(runs)["pairs"]
    assert [row["Certain"] for row in rows] == ["yes", *["no"] * 7]
    p_values = [2 * 12_650 / 2**25] + [0.0192] * 7  # only their order matters here
    assert (multipletests(p_values, method="bonferroni")[1] < 0.05).tolist() == [
        True
    ] + [False] * 7


def test_three_models_share_the_error_of_five_percent_between_tasks() -> None:
    # 13 to 4 is z = 9 / √17 = 2.18, p = 0.029: enough for one task, and not for two.
    law = [*pair("hkcanto_law", 13, 4)]
    law.append(replace(law[0], label="c", model="c"))
    assert said(*law) == (
        "The best of 3 models on Hong Kong law, 5-shot: b. Next is a. +9.0 points: b 96.0 against a "
        "87.0. Certainly better than 2 of the 2 others (95 %, all pairs)."
    )
    phonology = [*pair("hkcanto_phonology", 3, 3)]
    phonology.append(replace(phonology[0], label="c", model="c"))
    assert said_of("How certain", *law, *phonology).startswith(
        "Not certain: no task shows a difference between b and a (95 %"
    )


def test_a_gain_is_positive_where_lower_is_better_too() -> None:
    runs = [
        a_run("hkcanto_g2p", {"cer_published": [error] * 100}, label=label)
        for label, error in (("a", 0.9), ("b", 0.1))
    ]
    runs += pair("hkcanto_law", 3, 40)
    assert said_of("Who leads", *runs) == (
        "b leads a on 1 of 2 tasks, and is behind on 1."
    )
    assert said_of("By how much", *runs) == (
        "The largest difference is that on Jyutping grapheme-to-phoneme: b +80.0 points."
    )
    assert said_of("How certain", *runs) == (
        "Certain on 2 of 2 tasks (95 %, all tasks together): b 1, a 1."
    )
    gains = {row["Task"]: row["Gain"] for row in tables(runs)["pairs"]}
    assert gains == {
        "Jyutping grapheme-to-phoneme, 5-shot": pytest.approx(80),
        "Hong Kong law, 5-shot": pytest.approx(-37),
    }


def test_the_surest_difference_is_the_first_row_and_tasks_of_one_model_the_last() -> (
    None
):
    alone = whole("hkcanto_cultural", label="a")
    runs = [*pair("hkcanto_law", 5, 4), *pair("hkcanto_phonology", 30, 0), alone]
    rows = tables(runs)["pairs"]
    assert [row["Task"].split(",")[0] for row in rows] == [
        *("Phonological knowledge", "Hong Kong law", "Hong Kong culture")
    ]
    assert (rows[2]["a"], rows[2]["b"], rows[2]["Gain"]) == (
        pytest.approx(50),
        None,
        None,
    )
    # Table 7's best model has 77.7 %.
    assert rows[2]["Best published"] == pytest.approx(77.7)
    # B wins 5 and loses 4 of 100, and wins 30 of 100.
    assert notes(*runs)[:3] == [
        "b leads a on each of 2 tasks.",
        "b +15.5 points in the mean of the 2 tasks: 98.0 against 82.5 (95 % [+10.2, +21.5]).",
        "Certain on 1 of 2 tasks, each time for b (95 %, all tasks together). Could be "
        "chance: Hong Kong law +1.0.",
    ]


@pytest.mark.parametrize("wins", [5, 12, 15, 16, 17, 21])
def test_the_mark_the_interval_and_the_best_are_one_computation(wins: int) -> None:
    """With 4 losses and three tasks, McNemar's p is below 0.05 / 3 from 16 wins on (0.012)."""
    runs = [
        *pair("hkcanto_law", wins, 4),
        *pair("hkcanto_phonology", 5, 4),
        *pair("hkcanto_dse_zh", 3, 3),
    ]
    made = build_report(runs)
    blocks = made.sections[0].blocks
    table = next(block for block in blocks if isinstance(block, TableBlock))
    row = next(row.values for row in table.rows if "law" in str(row.values[0]))
    gain, mark = row[3], row[4]
    is_certain = wins >= 16
    assert (mark == "yes") == is_certain
    assert (gain.low > 0) == is_certain
    assert ("Certain on 1 of 3 tasks" in said(*runs)) == is_certain
    best = next(record for record in best_records(runs) if "law" in record["task"])
    assert (best["ties"] == []) == is_certain
    alone = next(
        record for record in best_records(runs, alone=True) if "law" in record["task"]
    )
    assert (alone["ties"] == []) == (wins >= 15)  # 0.019


def test_equal_models_lead_nowhere() -> None:
    runs = [*pair("hkcanto_law", 0, 0), *pair("hkcanto_phonology", 5, 5)]
    assert said_of("Who leads", *runs) == "b and a are equal on each of 2 tasks."
    assert said_of("How certain", *runs) == (
        "Certain on none of the 2 tasks: each difference could be chance (95 %, all tasks together)."
    )


def test_models_with_nothing_in_common_are_not_compared() -> None:
    text = said(whole("hkcanto_law", label="a"), whole("hkcanto_cultural", label="b"))
    assert text.startswith(
        "Nothing is comparable between these 2 models: no two have complete"
    )
    cancelled = [replace(run, status="cancelled") for run in pair("hkcanto_law", 5, 1)]
    assert said(*cancelled).startswith("Nothing is comparable between these 2 models")
    assert said() == "There is no run to report on."


# ---------------------------------------------------------------- many models, one model


def test_many_models_are_sorted_by_their_mean_rank_and_tie_or_lead() -> None:
    runs = [
        *shares("hkcanto_law", b=60, c=50, a=180),
        *shares("hkcanto_phonology", b=149, c=50, a=150),
        *shares("hkcanto_dse_zh", b=60, c=150, a=50),
    ]
    # On the third task, b is right 10 times where a is not.
    # a is first, first and third; b second, second and second; c third, third and first.
    assert notes(*runs)[:4] == [
        "a is the first of 3 models: mean rank 1.7 over 3 tasks. Next is b with 2.0.",
        # 90, 75 and 25; 30, 74.5 and 30.
        "+18.5 points in the mean of 3 tasks: a 63.3, b 44.8.",
        # a wins law and loses the third task to both of the others.
        "Not certain: a is certainly better than b on 1 of 3 tasks, and certainly worse on 1 (95 %, "
        "all pairs and tasks together). Not certainly behind a: c.",
        "On 2 of the 3 tasks one model is certainly better than all others. a: Hong Kong law 90.0; "
        "c: HKDSE, in Chinese 75.0.",
    ]
    models = tables(runs)["models"]
    # Certainly best, perhaps best, certainly behind: a wins law, c wins dse, a and b tie.
    assert [[*row.values()] for row in models] == [
        ["a", pytest.approx(5 / 3), pytest.approx(190 / 3), 1, 1, 1],
        ["b", 2, pytest.approx(134.5 / 3), 0, 1, 2],
        ["c", pytest.approx(7 / 3), pytest.approx(125 / 3), 1, 0, 2],
    ]
    rows = tables(runs)["matrix"]
    assert [(row["Model"], row["Mean rank"]) for row in rows[:3]] == [
        ("a", pytest.approx(5 / 3)),
        ("b", 2),
        ("c", pytest.approx(7 / 3)),
    ]
    matrix = next(
        block
        for block in build_report(runs).sections[0].blocks
        if isinstance(block, TableBlock) and block.name == "matrix"
    )
    ties = [
        [getattr(value, "note", "") for value in row.values[2:]]
        for row in matrix.rows[:3]
    ]
    assert [["≈" in note for note in row] for row in ties] == [
        [False, False, False],
        [False, True, False],
        [False, False, False],
    ]


def test_one_task_says_how_many_others_the_best_is_ahead_of() -> None:
    assert said(*shares("hkcanto_law", a=180, b=179, c=50)) == (
        "The best of 3 models on Hong Kong law, 5-shot: a. Next is b. +0.5 points: a 90.0 against b "
        "89.5. Certainly better than 1 of the 2 others (95 %, all pairs). Not certainly better than "
        "b (0.5 points behind)."
    )
    tie = said(*shares("hkcanto_law", a=180, b=180, c=180))
    assert tie == (
        "The best of 3 models on Hong Kong law, 5-shot: a and b and c. 0.0 points: a 90.0 against b "
        "90.0."
    )
    equal = said(*shares("hkcanto_law", a=180, b=180, c=50))
    assert equal.startswith(
        "The best of 3 models on Hong Kong law, 5-shot: a and b. Next is c."
    )
    assert "Certainly better than 1 of the 1 others (95 %" in equal


def test_a_selection_at_higher_confidence_tells_fewer_apart() -> None:
    runs = tuple(pair("hkcanto_law", 15, 4))
    alone, among_eight = selection(runs), selection(runs, 8)
    assert alone
    assert among_eight
    assert (len(alone.ties), len(among_eight.ties)) == (0, 1)
    assert [*alone.differences.values()] == pytest.approx([0.11])


def test_one_model_is_put_among_the_published_ones() -> None:
    # 15 to 20 of 23 by hand in `test_standings`.
    both = whole("hkcanto_cultural"), whole("hkcanto_law")
    text = said(*both)
    assert text.startswith("mine has 50.0 [43.5, 56.5] on Hong Kong culture, 5-shot (")
    assert "(Accuracy, mean over subjects): rank 14–21 of 23 ‡. mine has " in text
    assert text.endswith(
        "(Accuracy); no rank: no published score of the same task and setup."
    )
    rows = tables(both)["tasks"]
    assert [(row["Score"], row["Rank"]) for row in rows] == [
        (pytest.approx(50), "14–21 of 23 ‡"),
        (pytest.approx(50, abs=0.2), None),
    ]
    (one,) = [
        block
        for block in build_report(both).sections[0].blocks
        if isinstance(block, TableBlock) and block.name == "tasks"
    ]
    assert "of the published ones allow. ‡ The paper" in one.caption


def test_one_model_says_where_it_is_certainly_the_best_and_where_not() -> None:
    # Table 7's best model has 77.7 % in cultural questions, Table 1's 81.5 % in Cantonese MMLU.
    cultural = a_run("hkcanto_cultural", {"acc": [1.0] * 252}, label="mine")
    text = notes(cultural, whole("hkcanto_mmlu_yue"), whole("hkcanto_law"))
    assert text[:4] == [
        "mine's ranks among published models: 1 of 23 ‡ on Hong Kong culture, 5-shot; 22 of 24 ‡ on "
        "MMLU in Cantonese, 5-shot.",
        "From the best published: +22.3 points on Hong Kong culture, 5-shot (Qwen2 72B 77.7); −31.5 "
        "points on MMLU in Cantonese, 5-shot (Claude 3.5 Sonnet 81.5).",
        "95 % for each rank; a range is all places that the intervals allow.",
        "1 of 3 tasks: no published score of the same task and setup.",
    ]
    law = [whole("hkcanto_law", shots=shots) for shots in (0, 1, 5)]
    assert notes(*law)[0] == (
        "3 of 3 tasks: no published score of the same task and setup."
    )


# ---------------------------------------------------------------- warnings


def test_each_warning_names_its_runs() -> None:
    runs = [replace(checked(run), limited=True) for run in pair("hkcanto_law", 30, 0)]
    assert warned(*runs) == "run with --limit: all 2 runs"
    unread = a_run(
        "hkcanto_law", {"acc": [1.0] * 10, "unparsed_rate": [1.0] * 3 + [0.0] * 7}
    )
    text = (
        "unread answers: model on Hong Kong law, 5-shot 30 % · "
        "not all items: model on Hong Kong law, 5-shot"
    )
    assert warned(checked(unread)) == text
    assert warned(checked(whole("hkcanto_cultural"))) == ""
    log = SkippedLog(Path("broken.eval"), "It is no log.")
    text = warned(checked(whole("hkcanto_cultural")), skipped=[log])
    assert text == "logs left out or read in part: 1 (“How this was made”)"


def test_a_cancelled_or_limited_run_is_left_out() -> None:
    a, b = pair("hkcanto_law", 30, 0)
    short = replace(a_run("hkcanto_law", {"acc": [1.0] * 50}, label="c"), limited=True)
    cancelled = replace(
        a_run("hkcanto_law", {"acc": [1.0] * 100}, label="d"), status="cancelled"
    )
    text = warned(*map(checked, (a, b, short, cancelled)))
    assert "cancelled: d on Hong Kong law, 5-shot" in text
    assert "run with --limit: c on Hong Kong law, 5-shot" in text
    assert "runs not compared, as unfinished or on other items: 2" in text


def test_a_limited_model_has_no_rank_and_does_not_lead() -> None:
    runs = [
        run
        for task in ("hkcanto_law", "hkcanto_phonology")
        for run in shares(task, a=60, b=40, c=20)
    ]
    runs += [
        replace(a_run(each, {"acc": [1.0] * 3}, label="d"), limited=True)
        for each in ("hkcanto_law", "hkcanto_phonology")
    ]
    said, *_, matrix = build_report([*map(checked, runs)]).sections[0].blocks
    assert isinstance(said, Note)
    assert said.text == (
        "a is the first of 3 models: mean rank 1.0 over 2 tasks. Next is b with 2.0."
    )
    assert isinstance(matrix, TableBlock)
    assert [row.values[:2] for row in matrix.rows[:4]] == [
        ["a", 1],
        ["b", 2],
        ["c", 3],
        ["d", None],
    ]


def test_without_a_shared_task_or_with_equal_ranks_no_model_leads_alone() -> None:
    apart = [
        *shares("hkcanto_law", a=60, b=40),
        *shares("hkcanto_phonology", b=20, c=30),
    ]
    said = build_report([*map(checked, apart)]).sections[0].blocks[0]
    assert isinstance(said, Note)
    assert said.text.startswith("No task was run in full by all models")
    even = [
        *shares("hkcanto_law", a=60, b=40, c=20),
        *shares("hkcanto_phonology", a=40, b=60, c=20),
    ]
    said = build_report([*map(checked, even)]).sections[0].blocks[0]
    assert isinstance(said, Note)
    assert said.text.startswith(
        "a and b share the first place of 3 models: mean rank 1.5 over 2 tasks."
    )


def test_no_model_leads_if_only_one_is_compared_on_every_task() -> None:
    law = shares("hkcanto_law", a=60, b=40, c=20)
    phonology = shares("hkcanto_phonology", a=60, b=40, c=20)
    cancelled = [replace(run, status="cancelled") for run in (law[0], phonology[1])]
    runs = [cancelled[0], *law[1:], phonology[0], cancelled[1], phonology[2]]
    first = build_report([*map(checked, runs)]).sections[0].blocks[0]
    assert isinstance(first, Note)
    assert first.text.startswith(
        "No model leads: only c can be compared on every task."
    )


def test_a_cell_says_what_is_wrong_with_its_run_alone() -> None:
    a, b, c = map(checked, shares("hkcanto_law", a=100, b=180, c=20))
    runs = [
        replace(a, status="cancelled"),
        replace(b, limited=True),
        c,
        *shares("hkmmlu", c=9),
    ]
    matrix = build_report(runs).sections[0].blocks[-1]
    assert isinstance(matrix, TableBlock)
    place = [column.title for column in matrix.columns].index("Hong Kong law")
    notes = {
        row.values[0]: getattr(row.values[place], "note", "") for row in matrix.rows
    }
    assert "cancelled" in notes["a"]
    assert "limit" in notes["b"]
    assert "limit" not in notes["c"]


def test_there_are_at_most_eight_sections() -> None:
    runs = [whole(task, label=label) for task in TASKS[:2] for label in "abc"]
    sections = build_report(runs).sections
    assert len(sections) <= 8
    assert [section.name for section in sections if section.is_summary] == ["results"]


def test_the_figure_on_the_answered_stands_beside_one_with_cut_off_answers() -> None:
    """Of 100 answers, 60 are right, 37 wrong and 3 cut off: 60.0, and 60 of 97 is 61.9."""
    values = {"acc": [1.0] * 60 + [0.0] * 40, "unparsed_rate": [0.0] * 97 + [1.0] * 3}
    for cut, doubt in ((3, "3 % cut off, 61.9 on the answered"), (2, "")):
        run = a_run(
            "hkcanto_law",
            values,
            reasons=["letter"] * 97
            + ["none: cut off"] * cut
            + ["none: empty"] * (3 - cut),
            truncated=[0.0] * 97 + [1.0] * cut + [0.0] * (3 - cut),
        )
        cut_off = [text for text in doubts(run) if "cut off" in text]
        assert cut_off == [doubt] * bool(doubt)
