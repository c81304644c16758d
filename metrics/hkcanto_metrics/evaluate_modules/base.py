"""The base class of our Hugging Face `evaluate` modules."""

import inspect
from typing import Any, ClassVar

import datasets
import evaluate


class Metric(evaluate.Metric):  # type: ignore[misc]  # evaluate has no types
    """A metric whose docstring describes it and whose `_compute` documents its arguments.

    Attributes:
        CITATION: The paper that it follows.
        COLUMNS: Names of the columns of text that it takes.
    """

    CITATION: ClassVar[str]
    COLUMNS: ClassVar[tuple[str, ...]] = ("predictions", "references")
    _compute: Any

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=inspect.getdoc(self),
            citation=self.CITATION,
            inputs_description=inspect.getdoc(self._compute),
            features=datasets.Features(
                {name: datasets.Value("string") for name in self.COLUMNS}
            ),
        )
