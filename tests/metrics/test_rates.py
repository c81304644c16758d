"""Rates are plain numbers that can still be pooled after passing through a harness."""

import copy
import json
import pickle

import jiwer
import pytest

from hkcanto_metrics.rates import Rate, pool_rates


def test_a_rate_is_its_quotient_and_keeps_both_counts() -> None:
    rate = Rate.of(3, 4)
    assert rate == 0.75
    assert (rate.errors, rate.total) == (3, 4)


def test_a_rate_may_exceed_one() -> None:
    assert Rate.of(5, 2) == 2.5


def test_without_a_reference_the_rate_is_the_number_of_errors_as_in_jiwer() -> None:
    assert Rate.of(3, 0) == jiwer.cer("", "abc")
    assert Rate.of(0, 0) == jiwer.cer("", "")


def test_pickling_keeps_the_counts() -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        rate = pickle.loads(pickle.dumps(Rate.of(1, 3), protocol))
        assert (rate, rate.errors, rate.total) == (1 / 3, 1, 3), protocol


def test_copying_keeps_the_counts() -> None:
    assert copy.deepcopy([Rate.of(1, 3)])[0].total == 3


def test_json_shows_a_plain_number() -> None:
    assert json.dumps({"ser": Rate.of(1, 4)}) == '{"ser": 0.25}'


def test_pooling_sums_errors_and_lengths() -> None:
    assert pool_rates([Rate.of(1, 10), Rate.of(1, 2)]) == pytest.approx(2 / 12)


def test_pooling_falls_back_to_the_mean_when_counts_are_lost() -> None:
    assert pool_rates([Rate.of(1, 10), 0.5]) == pytest.approx(0.3)


def test_nothing_to_pool_is_an_error() -> None:
    with pytest.raises(ValueError, match="no rates to pool"):
        pool_rates([])
