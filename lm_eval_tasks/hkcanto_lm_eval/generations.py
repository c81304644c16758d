"""Compatibility with lm-eval 0.4 and 0.5; this module can be removed together with 0.4.

0.5 has a class for each type of request, loads rows on first use, makes a list of requests for each
document, and scores with `Scorer` objects.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval.api import task as api
from lm_eval.api.metrics import mean, mean_stderr

try:
    from lm_eval.scorers import MetricKey, Scorer
except ImportError:  # 0.4
    Scorer = object
NEW = Scorer is not object


class _Scorer(Scorer):  # type: ignore[misc]
    """0.5's scorer with the task's own aggregations; standard errors only for means, as in 0.4.

    0.5 would draw 100,000 bootstrap samples of every other figure, including BLEU.
    """

    def aggregate(self, docs: Mapping[int, Any], **kwargs: Any) -> Any:
        """Return figure → value and standard error, and the number of documents."""
        found, count = super().aggregate(docs, **{**kwargs, "bootstrap_iters": 0})
        for name, how in (
            kwargs["aggregation_overrides"] if kwargs["bootstrap_iters"] else {}
        ).items():
            values = [each[name] for each in docs.values() if name in each]
            if how is mean and len(values) > 1:
                found[str(MetricKey(name, self.name, is_stderr=True))] = mean_stderr(values)
        return found, count


class Task(api.ConfigurableTask):  # type: ignore[misc]
    """`ConfigurableTask`, with the same interface in both generations."""

    def _build_scorers(self) -> list[Any]:
        """Return 0.5's scorers without metrics, so that the task's own aggregations are used."""
        return [
            _Scorer(name=each["name"], filter=_Scorer._build_filter(each["name"], each))
            for each in self.config.filter_list
        ]

    @property
    def predicts_only(self) -> bool:
        """Whether `--predict_only` asks for responses without scores."""
        if NEW:
            return bool(self._has_metric("bypass"))
        return "bypass" in self._metric_fn_list


_classes: dict[tuple[str, str], Any] = {}


def class_for(task: Any, output_type: str) -> Any:
    """Return the task class for a type of request; in 0.4 the class is the same for all."""
    if not NEW:
        return task
    key = task.__qualname__, output_type
    if key not in _classes:
        _classes[key] = type(task.__name__, (task, api.Task._registry[output_type]), {})
    return _classes[key]


def requests(made: Any) -> Sequence[Any]:
    """Return the requests of a document: 0.5 makes a list, 0.4 a single one if one is enough."""
    return made if isinstance(made, list) else [made]


def values(of_figures: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a document as lm-eval expects them: in 0.5 a list, one per repeat."""
    return {name: [value] for name, value in of_figures.items()} if NEW else of_figures
