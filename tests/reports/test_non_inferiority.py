"""The gate, against Clopper and Pearson, splines, and the definition of its bound."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import BSpline
from scipy.stats import beta

from hkcanto_tasks import non_inferiority
from hkcanto_tasks.results.statistics.intervals import loss_bound

loss = st.floats(0, 1).map(lambda value: round(value, 3))
pairs = st.lists(st.tuples(loss, loss), min_size=1, max_size=40)


def bound(a: object, b: object, **how: object) -> float:
    return non_inferiority(a, b, delta=0.02, **how).bound


# --- the bound


@given(st.integers(1, 400), st.data())
@settings(max_examples=40, deadline=None)
def test_of_zeros_and_ones_it_is_clopper_and_pearsons(items: int, data: st.DataObject):
    lost = data.draw(st.integers(0, items - 1))
    differences = np.repeat([1.0, 0.0], [lost, items - lost])
    found = loss_bound(differences, np.ones(items))
    assert found == pytest.approx(beta.ppf(0.95, lost + 1, items - lost), abs=1e-8)


def test_it_is_the_quantile_of_a_spline():
    for items in [1, 2, 5, 12]:
        differences = np.random.default_rng(items).uniform(-1, 1, items)
        knots = np.sort(np.append(differences, 1))
        integral = BSpline.basis_element(knots, extrapolate=False).antiderivative()
        below = integral(loss_bound(differences, np.ones(items))) - integral(knots[0])
        assert below / (integral(knots[-1]) - integral(knots[0])) == pytest.approx(
            0.95, abs=1e-8
        ), items


def test_it_is_the_quantile_of_weighted_means_with_the_heaviest_unit_lost_once_more():
    rng = np.random.default_rng(0)
    differences, weights = (
        rng.normal(0.02, 0.2, 30),
        rng.integers(3, 40, 30).astype(float),
    )
    drawn = rng.exponential(size=(200_000, 31)) * np.append(weights, 60)
    means = drawn @ np.append(differences, 1) / drawn.sum(axis=1)
    found = loss_bound(differences, weights, largest=60)
    assert (means < found).mean() == pytest.approx(
        0.95, abs=4 * np.sqrt(0.95 * 0.05 / 200_000)
    )


def test_with_many_items_it_is_a_normal_bound():
    differences = np.random.default_rng(0).normal(0, 0.1, 20_000)
    normal = differences.mean() + 1.6449 * differences.std() / np.sqrt(20_000)
    assert loss_bound(differences, np.ones(20_000)) == pytest.approx(normal, abs=1.5e-4)


def test_a_run_that_loses_everything_is_bounded_by_everything():
    assert bound([0] * 10, [1] * 10) == 1
    assert -1 < bound([1] * 10, [0] * 10) < 0


@given(pairs, st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_order_of_the_items_does_not_matter(
    sides: list[tuple[float, float]], random: object
):
    mixed = random.sample(sides, len(sides))
    assert bound(*zip(*mixed, strict=True)) == pytest.approx(
        bound(*zip(*sides, strict=True)), abs=1e-9
    )


@pytest.mark.slow
@given(pairs, st.data())
@settings(max_examples=150, deadline=None)
def test_no_item_lowers_the_bound_by_being_worse(
    sides: list[tuple[float, float]], data: st.DataObject
):
    a, b = (np.array(side) for side in zip(*sides, strict=True))
    clusters = data.draw(st.none() | st.just([place // 3 for place in range(len(a))]))
    weights = data.draw(st.none() | st.just([1 + place % 4 for place in range(len(a))]))
    how = {"clusters": clusters, "weights": weights, "largest": 12}
    before = bound(a, b, **how)
    place = data.draw(st.integers(0, len(a) - 1))
    if data.draw(st.booleans()):
        b[place] = data.draw(st.floats(b[place], 1))
    else:
        a[place] = data.draw(st.floats(0, a[place]))
    assert bound(a, b, **how) >= before - 1e-9


def test_one_item_worse_does_not_let_a_run_pass():
    # A bootstrap would apply a rule of three only to an equal run.
    a = np.full(145, 0.3)
    b = a.copy()
    b[7] += 0.05
    equal, worse = (non_inferiority(a, side, delta=0.02) for side in (a, b))
    assert not equal.passed
    assert not worse.passed
    assert equal.bound == pytest.approx(1 - 0.05 ** (1 / 145))
    assert worse.bound > equal.bound


# --- units


def test_epochs_that_are_equal_count_once():
    a, b = [0, 1, 0, 0, 1], [1, 1, 0, 0, 0]
    clusters = np.tile(range(5), 10)
    assert bound(a * 10, b * 10, clusters=clusters) == pytest.approx(bound(a, b))


def test_clusters_are_means_weighted_by_their_size():
    # By hand: a cluster of 3 items that loses 1 / 3, and one of 1 item that loses 1.
    found = bound([0, 0, 0, 0], [1, 0, 0, 1], clusters=[7, 7, 7, 2], largest=3)
    assert found == pytest.approx(
        loss_bound(np.array([1 / 3, 1]), np.array([3.0, 1.0]))
    )
    weighted = bound([0, 0], [1 / 3, 1], weights=[3, 1], largest=3)
    assert found == pytest.approx(weighted)


def test_the_unit_of_the_weights_does_not_matter():
    a, b, weights = [0.1, 0.2, 0], [0, 0.5, 0.2], np.array([4, 8, 19])
    found = bound(a, b, weights=weights, largest=38)
    assert found == pytest.approx(bound(a, b, weights=weights / 60, largest=38 / 60))


# --- how many items


def test_equal_runs_need_the_rule_of_three():
    for delta, items in [(0.01, 299), (0.02, 149), (0.05, 59), (0.1, 29)]:
        few, enough = (
            non_inferiority([0] * n, [0] * n, delta=delta) for n in (items - 1, items)
        )
        assert not few.passed, (delta, items)
        assert few.needed_items == items, (delta, items)
        assert enough.passed, (delta, items)
        assert enough.needed_items is None, (delta, items)


def test_weights_and_clusters_need_more_items():
    weights = np.tile([10, 40], 20)
    found = non_inferiority([0] * 40, [0] * 40, delta=0.02, weights=weights, largest=40)
    # By hand: P(W (1 - δ) E₀ > δ Σ wᵢ Eᵢ) = Π 1 / (1 + δ wᵢ / (W (1 - δ))) = 0.05.
    each = np.log1p(0.02 / 0.98 * np.array([0.25, 1])).mean()
    assert found.needed_items == np.ceil(np.log(20) / each)
    epochs = non_inferiority(
        [0] * 40, [0] * 40, delta=0.02, clusters=np.arange(40) // 4
    )
    assert epochs.needed_items == pytest.approx(4 * np.log(0.05) / np.log(0.98), abs=1)


def test_no_tolerance_can_be_passed_by_equal_runs_only_if_there_is_some():
    found = non_inferiority([0, 1], [0, 1], delta=0)
    assert (found.passed, found.needed_items) == (False, None)
    assert non_inferiority([1] * 9, [0] * 9, delta=0).passed
    assert non_inferiority([0], [0], delta=1).needed_items is None


# --- refusals


def test_invalid_losses_are_refused():
    for a, b, how in [
        ([], [], {}),
        ([0], [0, 1], {}),
        ([0], [1.2], {}),
        ([-0.1], [0], {}),
        ([float("nan")], [0], {}),
        ([0], [0], {"weights": [0]}),
        ([0], [0], {"weights": [1, 1]}),
        ([0], [0], {"delta": 2}),
        ([0, 0], [0, 0], {"weights": [1, 2]}),
        ([0, 0, 0], [0, 0, 0], {"clusters": [1, 1, 2]}),
    ]:
        with pytest.raises(ValueError, match=r"must be|Give `largest`"):
            non_inferiority(a, b, **{"delta": 0.02, **how})
