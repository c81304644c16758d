"""The report's answers for people to read."""

from dataclasses import replace

from hkcanto_tasks.figures import Pair
from hkcanto_tasks.results.reports.blocks import ItemView
from hkcanto_tasks.results.runs import ItemText, Run

from .building import a_run, sections


def with_texts(run: Run) -> Run:
    texts = [ItemText(f"prompt {i}", f"response {i}", "A", "B") for i in range(len(run.items))]
    return replace(run, items=replace(run.items, texts=texts))


def view(*runs: Run) -> ItemView:
    (section,) = sections("items", runs)
    (found,) = [block for block in section.blocks if isinstance(block, ItemView)]
    return found


def test_items_are_shown_only_if_they_were_asked_for() -> None:
    assert list(sections("items", [a_run("hkcanto_law", {"acc": [0.0]})])) == []


def test_answers_are_shown_with_their_texts_and_the_wrong_ones_first() -> None:
    run = a_run("hkmmlu", {"acc": [1.0, 0.0]}, subjects=["dentistry", "hk_law"], ids=["a", "b"])

    run = replace(run, items=replace(run.items, reasons=["stated", "none: several"]))

    row, right = view(with_texts(run)).rows

    assert (row["item"], row["subject"], row["prompt"]) == ("b", "Hong Kong Law", "prompt 1")
    assert (row["response"], row["answer"], row["target"]) == ("response 1", "A", "B")
    assert (row["reason"], row["score"]) == ("none: several", 0.0)
    assert row["task"] == "HKMMLU, 0-shot"
    assert (right["item"], right["reason"], right["score"]) == ("a", "stated", 1.0)


def test_two_hundred_of_many_are_drawn_by_lot_and_shown_in_order() -> None:
    many = with_texts(a_run("hkcanto_law", {"acc": [0.0] * 399}))

    found = view(many)

    places = [int(row["prompt"].removeprefix("prompt ")) for row in found.rows]
    assert len(places) == 200
    assert places == sorted(places)
    assert 80 < sum(place < 200 for place in places) < 120
    assert found.left_out == 199
    assert view(many) == found


def test_each_model_has_room_of_its_own() -> None:
    runs = [
        with_texts(a_run("hkcanto_law", {"acc": [0.0] * 201}, label=label)) for label in ("a", "b")
    ]

    found = view(*runs)

    assert [row["model"] for row in found.rows] == ["a"] * 200 + ["b"] * 200
    assert found.left_out == 2


def test_the_worst_come_first_if_answers_are_not_right_or_wrong() -> None:
    g2p = with_texts(a_run("hkcanto_g2p", {"cer_published": [0.1, 0.0, 0.9, 0.5]}))

    assert [row["prompt"] for row in view(g2p).rows] == [
        *("prompt 2", "prompt 3", "prompt 0", "prompt 1")
    ]


def test_items_on_which_runs_differ_are_shown_of_every_run() -> None:
    # Both get the first 300 wrong and the last 300 right, except for one of each.
    a, b = [0.0] * 300 + [1.0] * 300, [0.0] * 300 + [1.0] * 300
    a[150], b[450] = 1.0, 0.0
    runs = [a_run("hkmmlu", {"acc": acc}, label=label) for label, acc in (("a", a), ("b", b))]

    rows = view(*map(with_texts, runs)).rows

    of_a, of_b = ([row for row in rows if row["model"] == model] for model in ("a", "b"))
    assert [row["item"] for row in of_a] == [row["item"] for row in of_b]
    assert [(row["prompt"], row["score"]) for row in of_a[:2]] == [
        ("prompt 150", 1),
        ("prompt 450", 1),
    ]
    assert [(row["prompt"], row["score"]) for row in of_b[:2]] == [
        ("prompt 150", 0),
        ("prompt 450", 0),
    ]
    assert {row["score"] for row in rows if row["prompt"] not in ("prompt 150", "prompt 450")} == {
        0
    }


def test_an_unscored_answer_has_no_score_and_is_last() -> None:
    run = a_run("hkcanto_law", {"acc": [float("nan"), 1.0]})

    assert [row["score"] for row in view(with_texts(run)).rows] == [1.0, None]


def test_translations_are_ordered_by_their_own_score() -> None:
    pairs = [
        Pair("我食飯", "我食咗飯", "I have eaten."),
        Pair("我食咗飯", "我食咗飯", "I have eaten."),
        Pair("", "我食咗飯", "I have eaten."),
    ]
    run = a_run("hkcanto_translation_en_yue", {"empty": [0, 0, 1]}, pairs=pairs)

    assert [row["prompt"] for row in view(with_texts(run)).rows] == [
        "prompt 2",
        "prompt 0",
        "prompt 1",
    ]
