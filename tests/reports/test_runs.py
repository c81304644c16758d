"""Made-up runs: their completeness, and the names of their conditions."""

from dataclasses import replace
from datetime import timedelta

import numpy as np

from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.results.logs.joining import joined_runs
from hkcanto_tasks.results.runs import Items, SkippedLog, once_a_run

from .building import a_run, changed

DAY = timedelta(days=1)


def _run(task, count, **options):
    made = a_run(task, {"acc": [1] * count})
    return changed(made, options={**made.options, **options})


def test_a_run_of_all_items_is_complete():
    assert _run("hkcanto_orthography", 100).complete
    assert not _run("hkcanto_orthography", 99).complete


def test_the_worked_examples_of_sentiment_are_not_missed():
    # 1,200 and 399 rows, the first of each being the example (HKCanto-Eval's release).
    made = a_run(
        "hkcanto_sentiment",
        {"acc": [1] * 1597},
        subjects=["openrice"] * 1199 + ["facebook"] * 398,
    )
    assert made.complete


def test_a_part_is_complete_without_the_worked_examples():
    # All of openrice's 1,199 scored rows, and one too few of facebook's 398.
    made = a_run(
        "hkcanto_sentiment",
        {"acc": [1] * 1596},
        subjects=["openrice"] * 1199 + ["facebook"] * 397,
    )
    assert not made.complete
    assert made.is_complete("openrice")
    assert not made.is_complete("facebook")


def test_a_sample_of_the_size_asked_for_is_complete():
    assert _run("hkmmlu_translation_yue_zh", 2000, size="2000").complete
    assert not _run("hkmmlu_translation_yue_zh", 1999, size="2000").complete


def test_epochs_of_an_item_count_once():
    made = a_run("hkcanto_orthography", {"acc": [1] * 100}, ids=["one"] * 100)
    assert not made.complete


def test_the_condition_names_what_is_not_the_default():
    assert _run("hkcanto_orthography", 1).condition == "5-shot"
    assert _run("hkcanto_orthography", 1, prompt="yue+scaffold").condition == (
        "5-shot, prompt:yue+scaffold"
    )


def test_items_of_subjects_are_found():
    made = a_run("hkcanto_sentiment", {"acc": [1, 1, 0]}, subjects=["a", "b", "a"])
    assert made.items.subject_mask(["a", "z"]).tolist() == [True, False, True]


def test_clusters_stay_apart_when_runs_are_joined():
    # Four questions on two passages, and two on two others.
    values = {"acc": [1, 0, 1, 0]}
    first = a_run("hkcanto_orthography", values, clusters=[0, 0, 1, 1]).items
    other = a_run("hkcanto_orthography", {"acc": [1, 1]}, clusters=[0, 1]).items
    joined = Items.joined([first, other]).clusters.tolist()
    assert len(set(joined)) == 4


def test_only_pinned_data_is_trusted():
    made = _run("hkcanto_law", 1)
    assert made.trusted_data
    for data in ("", "sample", "local-1a2b3c4", "b047f9f+local-mixed"):
        assert not changed(made, data=data).trusted_data


def test_the_larger_run_goes_before_a_part_of_it_even_if_it_did_not_finish():
    first, second, *_ = find_task("hkcanto_law").subjects
    finished = a_run("hkcanto_law", {"acc": [1]}, subjects=[first.name])
    larger = a_run("hkcanto_law", {"acc": [1, 1]}, subjects=[first.name, second.name])
    for status in ("success", "cancelled"):
        skipped = list[SkippedLog]()
        (kept,) = joined_runs([replace(larger, status=status), finished], skipped)
        assert kept.items is larger.items
        assert kept.status == status
        assert len(skipped) == 1
    again = replace(larger, status="cancelled", created=larger.created + DAY)
    (kept,) = joined_runs([larger, again], [])
    assert kept.status == "success"


def test_a_copy_has_the_log_the_model_the_signature_the_items_and_the_values():
    nan = float("nan")
    run = replace(a_run("hkmmlu", {"acc": [1, 0], "judged": [1, nan]}), log_id="5bKc")
    values, right = run.items.values, np.array([1.0, 1])
    assert run.is_copy_of(replace(run, label="copy", settings=()))
    for other in (
        replace(run, log_id="7xYz"),
        replace(run, model="another"),
        changed(run, version="99"),
        replace(run, items=replace(run.items, ids=("a", "b"))),
        replace(run, items=replace(run.items, values={**values, "acc": right})),
        replace(run, items=replace(run.items, values={"acc": values["acc"]})),
    ):
        assert not run.is_copy_of(other)
    unknown = replace(run, log_id="")
    assert not unknown.is_copy_of(unknown)


def test_parts_of_unequal_epochs_contradict_each_other_unless_one_was_stopped():
    first, second, *_ = (subject.name for subject in find_task("hkcanto_law").subjects)
    twice = a_run("hkcanto_law", {"acc": [1, 1]}, subjects=[first] * 2, ids=["a", "a"])
    once = a_run("hkcanto_law", {"acc": [1]}, subjects=[second], ids=["b"])
    (whole,) = joined_runs([twice, once], [])
    assert whole.contradictions == (
        "a occurs 2 times, but b once: each item has one vote",
    )
    (stopped,) = joined_runs([twice, replace(once, status="cancelled")], [])
    assert stopped.contradictions == ()


def test_what_is_computed_once_a_run_is_not_computed_again_for_thousands_of_runs():
    computed = []

    @once_a_run
    def counted(run, name, subjects=None):
        computed.append((run, name, subjects))
        return len(computed)

    one = a_run("hkcanto_orthography", {"acc": [1]})
    runs = [replace(one) for _ in range(5_000)]
    first = [counted(run, "acc") for run in runs]
    assert [counted(run, "acc") for run in runs] == first == [*range(1, 5_001)]
    assert counted(runs[0], "acc", ("law",)) == 5_001
    assert counted(runs[0], "acc", subjects=("law",)) == 5_002  # is computed alike
    assert len(computed) == 5_002
