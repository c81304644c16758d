"""Runs that share no items: intervals against statsmodels."""

import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

from hkcanto_tasks.errors import ComparisonError
from hkcanto_tasks.reports.figures import figure
from hkcanto_tasks.reports.independent import compare_independent, difference

from .building import evaluation


@pytest.mark.parametrize(("right_a", "n_a", "right_b", "n_b"), [(48, 80, 56, 70), (0, 20, 3, 30)])
def test_the_interval_of_two_shares_is_newcombes(right_a, n_a, right_b, n_b):
    a = figure(evaluation("hkcanto_law", {"acc": [1] * right_a + [0] * (n_a - right_a)}), "acc")
    b = figure(evaluation("hkcanto_law", {"acc": [1] * right_b + [0] * (n_b - right_b)}), "acc")
    expected = confint_proportions_2indep(right_b, n_b, right_a, n_a, method="newcomb")
    found = difference(a, b)
    assert (found.low, found.high) == pytest.approx(expected)


def test_runs_of_different_size_are_compared():
    a = evaluation("hkcanto_law", {"acc": [1, 0, 0, 0]}, label="base")
    b = evaluation("hkcanto_law", {"acc": [1, 1]}, label="tuned")
    (row,) = compare_independent(a, b, "acc").blocks[1].rows
    assert [cell.value for cell in row.cells] == ["All items", 0.25, 1.0, 0.75]


def test_different_tasks_are_refused():
    with pytest.raises(ComparisonError, match="different tasks"):
        compare_independent(
            evaluation("hkcanto_law", {"acc": [1]}), evaluation("hkmmlu", {"acc": [1]})
        )
