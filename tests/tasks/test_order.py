"""Items are ordered so that the first ones are always a fair sample, for `--limit`."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hkcanto_tasks import load_task
from hkcanto_tasks.catalogue import benchmarks, named_tasks
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.tasks import stratified

TASKS = [entry.name for benchmark in benchmarks() for entry in benchmark.tasks]


def furthest_off(samples: Sequence[Sample]) -> float:
    """The largest difference, in items, between a subject's count and its share in any prefix."""
    sizes = Counter(sample.subject for sample in samples)
    seen: Counter[str] = Counter()
    furthest = 0.0
    for length, sample in enumerate(samples, start=1):
        seen[sample.subject] += 1
        shares = (
            abs(seen[name] - length * size / len(samples))
            for name, size in sizes.items()
        )
        furthest = max(furthest, *shares)
    return furthest


def test_every_beginning_has_each_subject_in_proportion() -> None:
    for task in TASKS:
        assert furthest_off(load_task(task).samples) < 1, task


@pytest.mark.realdata
def test_so_has_every_beginning_of_the_release() -> None:
    for task in TASKS:
        assert furthest_off(load_task(task).samples) < 1, task


@given(st.lists(st.sampled_from([0, 1, 1, 1, 2, 3, 5, 40]), min_size=1, max_size=15))
def test_whatever_the_sizes_of_the_subjects(sizes: list[int]) -> None:
    items = [
        [Sample(id=f"{name}/{number}", subject=str(name)) for number in range(size)]
        for name, size in enumerate(sizes)
    ]
    ordered = stratified(items)
    assert Counter(ordered) == Counter(
        sample for of_subject in items for sample in of_subject
    )
    assert not ordered or furthest_off(ordered) < 1


def test_the_order_stays_so_that_a_limit_means_the_same_items() -> None:
    # The last turn of the k-th of n items among all N is ⌈k N / n⌉: 2, 4, 5, 7 and 8 for five of
    # eight, 4 and 8 for two. Of two with the last turn 4, the one earlier in its subject is next.
    items = [
        [Sample(id=f"{name}/{number}", subject=name) for number in range(size)]
        for name, size in (("a", 1), ("b", 2), ("c", 5))
    ]
    assert "".join(sample.subject for sample in stratified(items)) == "cbcccabc"


def test_a_subject_is_not_in_the_order_of_its_file() -> None:
    """Some files go from easy to hard, or from one topic to the next."""
    for task in ("hkmmlu", "hkcanto_fluency"):
        keys = [
            sample.id
            for sample in load_task(task).samples
            if sample.subject in ("", "hk_law")
        ]
        assert keys != sorted(keys, key=lambda key: (len(key), key)), task


def test_the_order_is_the_same_for_every_variant_and_option() -> None:
    order = [sample.id for sample in load_task("hkmmlu").samples]
    for name, options in (
        ("hkmmlu_cot", {}),
        ("hkmmlu_mc", {}),
        ("hkmmlu_sc", {}),
        ("hkmmlu", {"prompt": "yue+scaffold", "shuffle_choices": 3}),
    ):
        assert [sample.id for sample in load_task(name, **options).samples] == order


def test_ids_are_the_rows_of_the_files() -> None:
    """The order does not affect ids: those of a subject run from 1 without a gap."""
    for name, task in named_tasks().items():
        if task.scope == "task" and task.definition.kind == "multiple_choice":
            loaded = load_task(name)
            for subject in loaded.task.subjects:
                numbers = [
                    int(sample.id.rpartition("/")[2])
                    for sample in loaded.samples
                    if sample.subject == subject.name
                ]
                assert sorted(numbers) == list(range(1, len(numbers) + 1))
