"""The report's analysis of Jyutping: confusions counted by hand on short alignments."""

from collections import Counter
from dataclasses import replace

import pytest

from hkcanto_metrics.g2p import pool_jyutping, score_jyutping
from hkcanto_tasks.figures import Pair
from hkcanto_tasks.results.reports.analyses import (
    Pairs,
    aligned_pairs,
    confusions,
    lazy_sounds,
)
from hkcanto_tasks.results.reports.blocks import Section, Table
from hkcanto_tasks.results.runs import Run
from hkcanto_tasks.results.statistics.intervals import Estimate
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.tasks import task_as_run

from .building import a_run, sections

GOLD = ["nei5 hou2 maa3", "ngo5 (hou2|hou3) gwok3", "sap6 app"]


def run(responses: list[str], gold: list[str] = GOLD, label: str = "model") -> Run:
    how = task_as_run("hkcanto_g2p")
    judgements = [
        how.judge(response, Sample(id="", target=target))
        for response, target in zip(responses, gold, strict=True)
    ]
    made = a_run(
        "hkcanto_g2p",
        {name: [each.values[name] for each in judgements] for name in judgements[0].values},
        weights={
            name: [each.weights[name] for each in judgements] for name in judgements[0].weights
        },
        label=label,
    )
    read = [Pair(each.answer, answer, "") for each, answer in zip(judgements, gold, strict=True)]
    return replace(made, items=replace(made.items, pairs=read))


def table(section: Section, title: str) -> list[list[object]]:
    (found,) = [b for b in section.blocks if isinstance(b, Table) and b.title.startswith(title)]
    assert all(len(row.values) == len(found.columns) for row in found.rows)
    return [
        [value.value if isinstance(value, Estimate) else value for value in row.values]
        for row in found.rows
    ]


def counted(pairs: Pairs, part: str) -> dict[tuple[str | None, str | None], int]:
    return {(gold, read): times for gold, read, times, _ in confusions(pairs, part)}


def test_syllables_are_counted_beside_those_of_the_variant_that_fits():
    pairs = aligned_pairs(run(["nei5 hou2 maa1", "ngo5 hou3 gwok3", "sap6 app"]))
    assert pairs == {
        ("nei5", "nei5"): 1,
        ("hou2", "hou2"): 1,
        ("maa3", "maa1"): 1,
        ("ngo5", "ngo5"): 1,
        ("hou3", "hou3"): 1,
        ("gwok3", "gwok3"): 1,
        ("sap6", "sap6"): 1,
        ("app", "app"): 1,
    }


def test_tones_dropped_and_added_are_confusions_of_their_own():
    pairs = Counter(
        {
            ("nei5", "nei2"): 3,
            ("hou2", None): 2,
            (None, "aa3"): 1,
            ("sap6", "sap"): 1,
            ("app", "a"): 9,
        }
    )
    assert counted(pairs, "tone") == {
        ("5", "2"): 3,
        ("2", None): 2,
        (None, "3"): 1,
        ("6", "unreadable"): 1,
        ("a foreign word", "unreadable"): 9,
    }


def test_a_share_is_of_the_syllables_that_were_read():
    pairs = Counter({("ngo5", "o5"): 2, ("nei5", "lei5"): 1, ("hou2", None): 4, (None, "hou2"): 4})
    assert [each for each in confusions(pairs, "onset") if each[0] and each[1]] == [
        ("ng", "∅", 2, 2),
        ("n", "l", 1, 1),
    ]
    assert confusions(pairs + Counter({("haa6", "aa6"): 1}), "onset")[-1] == ("h", "∅", 1, 1)


def test_a_word_other_than_jyutping_is_wrong_in_every_part_unless_gold():
    pairs = Counter({("hou2", "hao2"): 1, ("app", "app"): 1, ("app", "ipad"): 1})
    for part in ("onset", "nucleus", "coda"):
        assert sum(n for gold, read, n, _ in confusions(pairs, part) if gold != read) == 2


def test_confusions_add_up_to_the_error_rates():
    for part in ["onset", "nucleus", "coda", "tone"]:
        responses = ["lei5 hau2 maa", "o4 hou3 gok3 aa3", "hao6 ipad"]
        pooled = pool_jyutping(map(score_jyutping, responses, GOLD))
        found = [each for each in confusions(aligned_pairs(run(responses)), part) if each[0]]
        assert all(read for _, read, _, _ in found)  # none was dropped, part
        wrong = sum(times for gold, read, times, _ in found if gold != read)
        assert wrong / sum(times for _, _, times, _ in found) == pooled[f"{part}_error_rate"], part


def test_lazy_sounds_are_named():
    for gold, read, change in [
        ("nei5", "lei5", "n- → l-"),
        ("ngo5", "o5", "ng- → ∅-"),
        ("oi3", "ngoi3", "∅- → ng- (hypercorrect)"),
        ("gwok3", "gok3", "gw- → g- before o"),
        ("ng5", "m5", "ng → m, syllabic"),
        ("saang1", "saan1", "-ng → -n"),
        ("bak1", "bat1", "-k → -t"),
    ]:
        found = lazy_sounds(Counter({(gold, read): 3}))
        assert [(name, *counts) for name, _, *counts in found] == [(change, 3, 3, 1)], (
            gold,
            read,
            change,
        )


def test_a_lazy_sound_is_a_share_of_the_places_where_it_can_happen():
    pairs = Counter(
        {("nei5", "lei5"): 1, ("nei5", "nei5"): 2, ("naam4", "haam4"): 1, ("lei5", None): 5}
    )
    assert list(lazy_sounds(pairs)) == [("n- → l-", "你 nei5 → lei5", 1, 4, 1 / 4)]


def test_a_syllabic_nasal_has_no_place_for_an_onset():
    (found,) = lazy_sounds(Counter({("m4", "m4"): 7, ("oi3", "ngoi3"): 1}))
    assert found[2:] == (1, 1, 1)


def test_the_section_has_the_figures_of_the_paper_and_of_the_field():
    # The tone of one of eight gold syllables is wrong; the published figure is the mean of 1/3, 0
    # and 0.
    (section,) = sections("answers", [run(["nei5 hou2 maa1", "ngo5 hou2 gwok3", "sap6 app"])])
    (figures,) = table(section, "Jyutping")
    assert figures[2] == pytest.approx(1 / 9)
    assert figures[5:7] == [1 / 8, 1 / 8]
    assert figures[7:] == [0, 0, 0, 0]


def test_models_under_one_condition_share_a_section():
    good = run(["nei5 hou2 maa3", "ngo5 hou2 gwok3", "sap6 app"], label="good")
    bad = run(["nei5 maa2", "o5 hou2 gwok3 aa3", ""], label="bad")
    (section,) = sections("answers", [good, bad])
    assert table(section, "Most frequent confusions") == [
        ["bad", "tone", "3", "2", 1, 2, 1 / 2],
        ["bad", "onset", "ng", "∅", 1, 1, 1],
        ["bad", "syllable", "maa3", "maa2", 1, 1, 1],
        ["bad", "syllable", "ngo5", "o5", 1, 1, 1],
    ]
    assert table(section, "Lazy sounds 懶音") == [["bad", "ng- → ∅-", "我 ngo5 → o5", 1, 1, 1]]


def test_tones_that_merge_in_hong_kong_are_said_to():
    (section,) = sections("answers", [run(["nei2"], ["nei5"])])
    (found,) = [b for b in section.blocks if isinstance(b, Table) and "confusions" in b.title]
    assert found.rows[0].values[1:] == ["tone", "5", "2", 1, 1, 1]
    assert "Tones 2 and 5" in found.caption
    assert "merging in Hong Kong" in found.caption


def test_at_most_five_of_each_part_are_listed():
    gold = [f"{onset}aa1" for onset in "bpmfdt"]
    (section,) = sections("answers", [run([" ".join(["laa1"] * 6)], [" ".join(gold)])])
    rows = table(section, "Most frequent confusions")
    assert [row[1] for row in rows] == ["onset"] * 5 + ["syllable"] * 5


def test_no_sentence_and_no_gold_string_is_in_the_section():
    (section,) = sections("answers", [run(["nei5 hou2 maa1", "ngo5 hou2 gok3", "sap6"])])
    shown = repr(section)
    assert "gwok3" in shown
    for text in (*GOLD, "nei5 hou2", "nei5 hou2 maa1"):
        assert text not in shown


def test_a_runaway_syllable_is_cut():
    (section,) = sections("answers", [run(["a" * 100_000 + "1"], ["hou2"])])
    assert len(repr(section.blocks)) < 60_000


def test_the_tone_map_has_the_share_of_each_row():
    responses = ["nei5 hou2 maa1"] * 3 + ["nei5 hou2 maa3 aa4"]
    (section,) = sections("answers", [run(responses, GOLD[:1] * 4)])
    assert table(section, "Tones") == [
        ["model", "2", 0, 1, 0, 0, 0, 0, 0, 0, 4],
        ["model", "3", 0.75, 0, 0.25, 0, 0, 0, 0, 0, 4],
        ["model", "5", 0, 0, 0, 0, 1, 0, 0, 0, 4],
        ["model", "added", 0, 0, 0, 1, 0, 0, 0, 0, 1],
    ]
    (found,) = [b for b in section.blocks if isinstance(b, Table) and b.title.startswith("Tones")]
    assert sum(column.shaded for column in found.columns) == 8
