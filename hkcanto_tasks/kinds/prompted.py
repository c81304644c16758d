"""The common base of kinds that show a request as it is and have no right answer to show."""

from typing import Any, ClassVar

from ..data.tables import Row, as_text
from ..samples import Sample
from . import base


class Prompted(base.Kind):
    """Requests. Columns: `prompt`; optional: `id`, `category`."""

    COLUMNS: ClassVar = {
        "id": ("id",),
        "category": ("category",),
        "prompt": ("prompt",),
    }
    VALUES: ClassVar = {"prompt": "question"}
    # A cut-off answer may fail although the whole answer would pass. IFEval in lm-eval has 1,280
    # tokens, and a Chinese character may take two.
    TOKENS = 2048

    def row(self, row: Row) -> Sample:
        """Read a request."""
        return Sample(
            id=as_text(row.find(self.columns("id"))) or str(row.number),
            question=row.text(self.columns("prompt"), "prompt"),
            category=as_text(row.find(self.columns("category"))) or "",
        )

    def example(self, *_: Any) -> None:
        """Return None: there is no right answer to show."""
