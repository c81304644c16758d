"""Signal and noise of training curves, worked by hand."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from hkcanto_metrics.training_signal import signal_of


def test_of_several_runs_the_signal_is_between_their_last_checkpoints() -> None:
    found = signal_of([[0.1, 0.2, 0.3, 0.5], [0.1, 0.1, 0.7, 0.9]])

    # The last two checkpoints of each run: means 0.4 and 0.8; standard deviations 0.1 and 0.1.
    assert found.last == pytest.approx(0.6)
    assert found.signal == pytest.approx(0.4 / 0.6)
    assert found.noise == pytest.approx((0.1 / 0.4 + 0.1 / 0.8) / 2)


def test_a_noise_is_of_five_checkpoints_at_most() -> None:
    curve = [*np.linspace(0.1, 0.4, 15), 0.5, 0.6, 0.5, 0.6, 0.5]
    found = signal_of([curve])
    assert found.noise == pytest.approx(np.std(curve[-5:]) / np.mean(curve[-5:]))


def test_the_rise_is_spearmans_with_ties() -> None:
    drawn = np.random.default_rng(3).integers(0, 8, (20, 12)).astype(float)
    for own in drawn:
        expected = spearmanr(range(12), own).statistic
        assert signal_of([own]).rise == pytest.approx(expected)
        assert signal_of([own], lower_is_better=True).rise == pytest.approx(-expected)


def test_a_flat_curve_has_neither_signal_nor_noise() -> None:
    assert signal_of([[0.3] * 8])[1:] == (0, 0, 0, 0)
