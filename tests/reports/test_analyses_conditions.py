"""One model under several conditions, item by item."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from hkcanto_tasks.figures import Pair
from hkcanto_tasks.results.reports.blocks import Note, Table
from hkcanto_tasks.results.runs import Run
from hkcanto_tasks.results.statistics.intervals import (
    Estimate,
    paired_accuracy_interval,
    paired_mean_interval,
)
from hkcanto_tasks.results.statistics.paired import compare, headline_difference

from .building import a_run, changed, sections

PAPER = {"prompt": "paper", "script": "tc"}


def law(acc: Sequence[float], task: str = "hkcanto_law", **more: object) -> Run:
    ids = [f"hkcanto_law/basic_law/{i}" for i in range(len(acc))]
    options = more.pop("options", PAPER)
    run = a_run(task, {"acc": acc}, ids=ids, **more)  # type: ignore[arg-type]
    return changed(run, options=options)  # type: ignore[arg-type]


def hkmmlu(acc: Sequence[float], task: str = "hkmmlu", **more: object) -> Run:
    names = ["dentistry", "dentistry", "hk_law", "hk_law"]
    return law(acc, task, subjects=names, **more)


def shown(*runs: Run) -> list[Table]:
    return [
        block
        for section in sections("conditions", runs)
        for block in section.blocks
        if isinstance(block, Table)
    ]


def cells(table: Table, *titles: str) -> list[tuple[object, ...]]:
    places = [[column.title for column in table.columns].index(title) for title in titles]
    return [
        tuple(value.value if isinstance(value, Estimate) else value for value in own)
        for own in ([row.values[place] for place in places] for row in table.rows)
    ]


def test_a_difference_is_that_of_a_comparison() -> None:
    before, after = law([1, 0, 0, 1] * 5), law([1, 1, 0, 1] * 5, options={**PAPER, "prompt": "yue"})
    backwards = replace(
        after,
        items=replace(
            after.items,
            ids=list(after.items.ids)[::-1],
            values={"acc": after.items.values["acc"][::-1]},
        ),
    )

    (table,) = shown(before, backwards)

    difference = compare(before, after).overall.difference
    assert table.rows[1].values[3] == difference
    assert (difference.low, difference.high) == pytest.approx(paired_accuracy_interval(5, 0, 20))


def test_items_on_one_passage_count_as_one() -> None:
    clusters = [place // 2 for place in range(40)]
    before, after = law([0] * 40, clusters=clusters), law([1, 1, 0, 0] * 10)

    found = headline_difference(before, after)

    assert found is not None
    assert found.value == pytest.approx(0.5)
    ends = paired_mean_interval([1.0, 0.0] * 10)
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-3)


def test_only_items_that_both_have_are_compared() -> None:
    found = headline_difference(law([1, 1, 1]), law([0, 0, 0, 0, 0]))

    assert found is not None
    assert (found.value, found.items) == (-1, 3)


def test_a_mean_over_subjects_changes_by_the_mean_of_their_changes() -> None:
    names = ["food", "food", "food", "local_knowledge"]
    before = law([0, 0, 0, 0], "hkcanto_cultural", subjects=names)
    after = law([1, 0, 0, 1], "hkcanto_cultural", subjects=names)

    found = headline_difference(before, after)

    assert found is not None
    assert found.value == pytest.approx(2 / 3)  # (1/3 + 1) / 2
    back = headline_difference(after, before)
    assert back is not None
    assert [found.low, found.high] == pytest.approx([-back.high, -back.low])
    assert -1 <= found.low < 0 < found.value < found.high <= 1  # four items show no difference


def test_a_corpus_figure_has_the_bootstraps_interval() -> None:
    def translated(text: str) -> Run:
        pairs = [Pair(text, "我食咗飯", "I have eaten."), Pair("好", "好", "Good.")] * 10
        ids = [f"t/{place}" for place in range(20)]
        return a_run("hkcanto_translation_en_yue", {}, pairs=pairs, ids=ids)

    found = headline_difference(translated("我食飯"), translated("我食咗飯"))

    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < found.value < found.high


def test_traditional_against_simplified() -> None:
    (table,) = shown(
        hkmmlu([0, 1, 0, 0], "hkmmlu_sc", options={"prompt": "paper", "script": "sc"}),
        hkmmlu([1, 1, 1, 0]),
    )

    assert cells(table, "Condition", "Accuracy", "Difference", "Pairs") == [
        ("Traditional", 0.75, None, None),
        ("Simplified", 0.25, -0.5, 4),
    ]
    assert [column.title for column in table.columns if column.drawn] == ["Accuracy"]


def test_chain_of_thought_is_compared_with_direct_answers_of_as_many_shots() -> None:
    chain = {**PAPER, "cot": "yes"}
    runs = [
        hkmmlu([1, 1, 0, 0], shots=5),
        hkmmlu([1, 0, 0, 0], shots=0),
        hkmmlu([1, 1, 1, 0], "hkmmlu_cot_1shot", shots=1, options=chain),
        hkmmlu([1, 1, 1, 1], "hkmmlu_cot", shots=0, options=chain),
    ]

    (table,) = [table for table in shown(*runs) if table.name == "hkmmlu_cot"]

    assert cells(table, "Condition", "Difference") == [
        ("direct, 0-shot", None),
        ("chain of thought, 0-shot", 0.75),
        ("chain of thought, 1-shot", 0.5),
    ]


def test_shots_are_in_order() -> None:
    (table,) = shown(*(law([1, 0], shots=shots) for shots in (5, 0, 1, 10)))

    assert cells(table, "Condition") == [("0-shot",), ("1-shot",), ("5-shot",), ("10-shot",)]


def test_what_two_contrasts_do_not_share_is_in_their_titles() -> None:
    prompts = [law([1, 0], options={**PAPER, "prompt": prompt}) for prompt in ("zh", "yue")]
    prompts += [changed(run, shots=0) for run in prompts]

    titles = [table.title for table in shown(*prompts) if "prompt of" not in table.title]

    assert len({table.name for table in shown(*prompts)}) == 4
    assert "Hong Kong law: number of worked examples, prompt:yue" in titles


def test_generation_and_log_likelihood_stand_side_by_side_with_a_warning() -> None:
    runs = [
        law([1, 1, 1, 0], label="talker"),
        law([1, 0, 0, 0], label="guesser"),
        law([1, 0, 0, 0], "hkcanto_law_mc", label="talker"),
        law([1, 1, 0, 0], "hkcanto_law_mc", label="guesser"),
    ]

    (section,) = sections("conditions", runs)
    table, note = section.blocks

    assert isinstance(table, Table)
    assert isinstance(note, Note)
    assert cells(table, "Model", "Condition", "Accuracy") == [
        ("talker", "generation", 0.75),
        ("talker", "log-likelihood", 0.25),
        ("guesser", "generation", 0.25),
        ("guesser", "log-likelihood", 0.5),
    ]
    assert "Difference" not in [column.title for column in table.columns]
    assert note.level == "warning"


def test_the_order_of_options_is_a_condition() -> None:
    (table,) = shown(law([1, 1]), law([0, 1], options={**PAPER, "shuffle_choices": "1"}))

    assert cells(table, "Condition", "Difference") == [
        ("shuffle_choices:no", None),
        ("shuffle_choices:1", -0.5),
    ]


@pytest.mark.parametrize(
    "other",
    [
        law([1, 0], label="other", shots=0),
        law([1, 0], data="sample", shots=0),
        law([1, 0], "hkcanto_law_mc", shots=0),
    ],
    ids=["another model", "other data", "two differences"],
)
def test_what_differs_in_more_than_one_thing_is_not_compared(other: Run) -> None:
    assert shown(law([1, 0]), other) == []
