"""Compatibility with lm-eval 0.4 and 0.5; this module can be removed together with 0.4.

0.5 has a class for each type of request, loads rows on first use, makes a list of requests for each
document, and scores with `Scorer` objects.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from lm_eval.api import task as api
from lm_eval.api.metrics import mean, mean_stderr

try:
    from lm_eval.scorers import MetricKey, Scorer
except ImportError:  # 0.4
    Scorer = object


class _Scorer(Scorer):  # type: ignore[misc]
    """0.5's scorer with the task's own aggregations; standard errors only for means, as in 0.4.

    0.5 would draw 100,000 bootstrap samples of every other figure, including BLEU.
    """

    def aggregate(
        self,
        docs: Mapping[int, Any],
        **kwargs: Any,
    ) -> Any:
        """Return figure → value and standard error, and the number of documents."""
        figures, count = super().aggregate(docs, **{**kwargs, "bootstrap_iters": 0})
        if not kwargs["bootstrap_iters"]:
            return figures, count
        for name, aggregation in kwargs["aggregation_overrides"].items():
            values = [doc[name] for doc in docs.values() if name in doc]
            if aggregation is mean and len(values) > 1:
                error = str(MetricKey(name, self.name, is_stderr=True))
                figures[error] = mean_stderr(values)
        return figures, count


class Task(api.ConfigurableTask):  # type: ignore[misc]
    """`ConfigurableTask`, with the same interface in both generations."""

    def _build_scorers(self) -> list[Any]:
        """Return 0.5's scorers without metrics, so that the task's own aggregations are used."""
        scorers = []
        for settings in self.config.filter_list:
            name = settings["name"]
            filters = _Scorer._build_filter(name, settings)
            scorers.append(_Scorer(name=name, filter=filters))
        return scorers


@cache
def class_for(task: Any, output_type: str) -> Any:
    """Return the task class for a type of request; in 0.4 the class is the same for all."""
    if Scorer is object:
        return task
    return type(task.__name__, (task, api.Task._registry[output_type]), {})
