"""Numbers that decide something: each is tested at its limit and just beyond it."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.commands.report import _print_unread
from hkcanto_tasks.errors import ComparisonError
from hkcanto_tasks.results.reports.gate import _points
from hkcanto_tasks.results.reports.one_model import _notes_on_one, _TaskRow
from hkcanto_tasks.results.runs import ItemText, Passage, Run, Sent, clusters_of
from hkcanto_tasks.results.statistics.estimates import harness_agreement
from hkcanto_tasks.results.statistics.intervals import Estimate
from hkcanto_tasks.results.statistics.matching import match_dresses
from hkcanto_tasks.results.statistics.validity import unread_run
from hkcanto_tasks.signatures import UNKNOWN, subset_of

from .building import a_run, changed, notes

# ---------------------------------------------------------------------- runs and items


def answering(checksums: Sequence[int], label: str) -> Run:
    """Return a run with a long response to each item."""
    run = a_run("hkcanto_law", {"acc": [1.0] * len(checksums)}, label=label)
    return replace(run, items=replace(run.items, long_responses=checksums))


@pytest.mark.parametrize(
    ("count", "equal", "is_told"),
    [(4, 4, False), (5, 5, True), (20, 19, False), (20, 20, True), (100, 96, True)],
)
def test_more_than_95_percent_of_five_long_responses_are_too_many_equal_ones(
    count: int, equal: int, is_told: bool
) -> None:
    ours = answering(range(1, count + 1), "base")
    others = [*range(1, equal + 1), *range(1_000, 1_000 + count - equal)]
    text = ours.shares_responses(answering(others, "tuned"))
    assert bool(text) == is_told
    if is_told:
        assert text.startswith(f"{equal} of {count} longer responses are equal")


def test_a_response_that_only_one_run_has_is_not_equal() -> None:
    ours = answering([1, 2, 3, 4, 5, 6], "base")
    assert ours.shares_responses(answering([1, 2, 3, 4, 5, 0], "tuned")) == ""
    # Short responses have no checksum, and do not count.
    ours = answering([1, 2, 3, 4, 5, 0], "base")
    assert ours.shares_responses(answering([1, 2, 3, 4, 5, 0], "tuned"))


@pytest.mark.parametrize(("count", "clusters"), [(20, 1), (21, 21)])
def test_more_than_20_questions_after_one_beginning_share_no_passage(
    count: int, clusters: int
) -> None:
    ids = [f"item {number}" for number in range(count)]
    passages = [Passage(7, number) for number in range(count)]
    found = clusters_of(ids, ["law"] * count, passages)
    assert len({*found.tolist()}) == clusters
    # An item's epochs are one question.
    twice = clusters_of(ids * 2, ["law"] * 2 * count, passages * 2)
    assert len({*twice.tolist()}) == clusters


def test_six_subjects_are_named_in_a_signature_and_seven_are_counted() -> None:
    task = find_task("hkmmlu")
    # No set of the release has these.
    chosen = task.subjects[::2]
    names = [subject.name for subject in chosen]
    assert subset_of(replace(task, subjects=chosen[:6])) == "+".join(names[:6])
    digest = sha256("+".join(names[:7]).encode()).hexdigest()
    assert subset_of(replace(task, subjects=chosen[:7])) == f"7-{digest[:7]}"


def test_settings_are_compared_only_if_both_prompts_are_known() -> None:
    greedy = a_run("hkcanto_law", {"acc": [1.0]}, label="base")
    warm = replace(greedy, label="tuned", sent=Sent(temperature=0.7))
    assert "temperature" in greedy.differs(warm)
    unknown = changed(warm, sent=UNKNOWN)
    for first, second in ((greedy, unknown), (unknown, greedy)):
        differences = first.differs(second)
        assert "temperature" not in differences
        assert differences == first.signature.differs(second.signature)


# ---------------------------------------------------------------------- verdicts


def unread(count: int, cut_off: int) -> Run:
    """Return a run of 100 answers of which some are unread, and some of these are cut off."""
    first = (np.arange(100) < count).astype(float)
    run = a_run("hkcanto_law", {"acc": 1 - first, "unparsed_rate": first})
    truncated = (np.arange(100) < cut_off).astype(float)
    reasons = ["none: several" if flag else "stated" for flag in first]
    items = replace(run.items, truncated=truncated, reasons=reasons)
    return replace(run, items=items)


def test_there_is_no_verdict_on_more_than_a_tenth_of_unread_answers() -> None:
    assert unread_run(unread(10, 0)) is None
    told = unread_run(unread(11, 0))
    assert told is not None
    assert (told.number, told.total) == (11, 100)


@pytest.mark.parametrize(("cut_off", "is_cause"), [(10, False), (11, True)])
def test_the_cause_is_that_of_more_than_half_of_the_unread_answers(
    cut_off: int, is_cause: bool
) -> None:
    told = unread_run(unread(20, cut_off))
    assert told is not None
    assert ("token limit" in told.cause) == is_cause


@pytest.mark.parametrize(
    ("points", "delta", "text"),
    [
        (2.0, 2.0, "2.0"),
        (1.96, 2.0, "1.96"),
        (2.04, 2.0, "2.04"),
        (1.94, 2.0, "1.9"),
        (1.9996, 2.0, "1.9996"),
        (1.999996, 2.0, "2.00000"),
        (-0.04, 0.0, "−0.04"),
    ],
)
def test_points_have_as_many_digits_as_show_their_side_of_the_tolerance(
    points: float, delta: float, text: str
) -> None:
    assert _points(points, delta) == text


def dresses(same: int, count: int = 20) -> tuple[Run, Run]:
    """Return runs on the same items in two languages; some have the same right answer."""
    runs = []
    for task in ("hkcanto_mmlu_yue", "hkcanto_mmlu_en"):
        ids = [f"{task}/anatomy/{number}" for number in range(count)]
        golds = [0] * count
        if task.endswith("en"):
            golds = [0] * same + [1] * (count - same)
        values = {"acc": [1.0] * count}
        subjects = ["anatomy"] * count
        runs.append(a_run(task, values, ids=ids, subjects=subjects, golds=golds))
    first, second = runs
    return first, second


def test_nineteen_of_twenty_right_answers_are_equal_in_two_dresses() -> None:
    paired, ids = match_dresses(*dresses(19), None)
    assert paired.questions == len(ids) == 19
    with pytest.raises(ComparisonError, match="of 20 with one id, 18 have the same"):
        match_dresses(*dresses(18), None)


# ---------------------------------------------------------------------- what is shown


def test_four_figures_that_the_harness_has_otherwise_are_named() -> None:
    names = [subject.name for subject in find_task("hkmmlu").subjects[:6]]
    run = a_run("hkmmlu", {"acc": [1.0] * 6}, subjects=names)
    reported = {((name,), "acc"): 0.25 for name in names}
    run = replace(run, reported={**reported, ((), "acc"): 1.0})
    assert harness_agreement(run).equal == 1
    assert len(harness_agreement(run).different) == 6
    told = [note for note in notes([run]) if "Was the log edited" in note]
    assert len(told) == 4
    assert f"acc of {names[0]} is 1 here, 0.25 in lm-eval" in told[0]


def rows(count: int, reasons: Sequence[str]) -> list[_TaskRow]:
    """Return tasks with a rank, and a task for each reason why it has none."""
    score = Estimate(50.0, 45.0, 55.0, 100)
    ranked = [
        _TaskRow(f"Task {number}", score, "2 of 9", "", None, "Accuracy")
        for number in range(count)
    ]
    return ranked + [
        _TaskRow("Other", score, None, reason, None, "Accuracy") for reason in reasons
    ]


def test_the_scores_of_two_tasks_are_sentences_and_three_tasks_have_ranks() -> None:
    labels = [note.label for note in _notes_on_one("mine", rows(2, ()))]
    assert labels == ["Score", "Score", "What next"]
    labels = [note.label for note in _notes_on_one("mine", rows(3, ()))]
    assert labels == ["Its place", "By how much", "How certain", "What next"]


def test_the_three_commonest_reasons_for_no_rank_are_given() -> None:
    told = _notes_on_one("mine", rows(1, "abcaad"))
    texts = [note.text for note in told if note.label == "No rank"]
    assert texts == ["3 of 7 tasks: a.", "1 of 7 tasks: b.", "1 of 7 tasks: c."]


@pytest.mark.parametrize("count", [300, 301])
def test_of_an_unread_response_the_last_300_characters_are_printed(
    count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    response = "b" + "a" * (count - 1)
    run = a_run("hkcanto_law", {"acc": [0.0], "unparsed_rate": [1.0]}, ids=["one"])
    texts = [ItemText("?", response, "", "A")]
    reasons = ["none: several"]
    _print_unread(
        [replace(run, items=replace(run.items, texts=texts, reasons=reasons))]
    )
    shown = response if count == 300 else f"… {'a' * 300}"
    assert f"  one: {shown}\n" in capsys.readouterr().out
