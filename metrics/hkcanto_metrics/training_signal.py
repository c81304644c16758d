"""Measure how well a figure distinguishes the checkpoints of training runs.

Signal and noise follow Heineman and others (2025), "Signal and Noise: A Framework for Reducing
Uncertainty in Language Model Evaluation"; ``rise`` is the monotonicity of FineWeb2's task selection
(Penedo and others 2025, A.5.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

_LAST = 5  # checkpoints, as in the paper's code for small models


class Signal(NamedTuple):
    """How well a figure distinguishes checkpoints.

    Attributes:
        last: Mean over the runs' last checkpoints: the last five, or half of them if there are
            fewer than ten.
        rise: Spearman's correlation of improvement with the training step, from -1 to 1; mean over
            runs.
        signal: Largest difference between the runs' last checkpoints, over their mean; for a single
            run, the difference between its last and its first checkpoints.
        noise: Standard deviation of the last checkpoints over their mean, from 0; mean over runs.
        ratio: Signal over noise; infinite without noise, 0 without signal.
    """

    last: float
    rise: float
    signal: float
    noise: float
    ratio: float


def signal_of(curves: Sequence[ArrayLike], *, lower_is_better: bool = False) -> Signal:
    """Measure how well a figure distinguishes the checkpoints of training runs.

    Args:
        curves: For each run, the values of the figure at four or more steps, from 0 up.
        lower_is_better: Whether the figure falls when a model gets better.

    Returns:
        Signal, noise and the other terms.

    Examples:
        >>> made = signal_of([[0.2, 0.4, 0.5, 0.7]])  # (0.6 - 0.3) / 0.45, and 0.1 / 0.6
        >>> [round(value, 3) for value in made]
        [0.6, 1.0, 0.667, 0.167, 4.0]
    """
    scores = [np.asarray(curve, np.float64) for curve in curves]
    last = [own[-min(_LAST, len(own) // 2) :] for own in scores]
    means = [own.mean() for own in last]
    compared = means if len(means) > 1 else [*means, scores[0][: len(last[0])].mean()]
    rise = float(np.mean([_spearman(own) for own in scores])) * (-1 if lower_is_better else 1)
    signal = float(np.ptp(compared) / (np.mean(compared) or 1))
    noise = float(np.mean([own.std() / (own.mean() or 1) for own in last]))
    ratio = signal / noise if noise else np.inf if signal else 0.0
    return Signal(float(np.mean(means)), rise, signal, noise, ratio)


def _spearman(scores: NDArray[np.float64]) -> float:
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return float(np.corrcoef(np.arange(len(ranks)), ranks)[0, 1]) if len(counts) > 1 else 0.0
