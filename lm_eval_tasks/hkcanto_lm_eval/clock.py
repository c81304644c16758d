"""How long the model takes for a run."""

from time import perf_counter


class ModelClock:
    """A clock that runs from the last request that lm-eval builds to the first response it reads.

    lm-eval builds the requests task by task, sends those of all tasks together, and then reads the
    responses task by task. So all tasks of a process share one clock, `MODEL_CLOCK`. The time that
    lm-eval itself reports includes loading the model.

    Examples:
        >>> clock = ModelClock()
        >>> clock.start()
        >>> clock.stop() == clock.stop()
        True
    """

    def __init__(self) -> None:
        self._started = 0.0
        self._stopped: float | None = None

    def start(self) -> None:
        """Start the clock; every task does this when its requests are built."""
        self._started = perf_counter()
        self._stopped = None

    def stop(self) -> float:
        """Stop the clock if it runs, and return the seconds since its start."""
        if self._stopped is None:
            self._stopped = perf_counter()
        return self._stopped - self._started


MODEL_CLOCK = ModelClock()
