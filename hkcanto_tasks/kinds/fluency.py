"""Open-ended writing: an everyday question in Cantonese in, an answer in Cantonese out.

Our own benchmark: does a model answer in Cantonese at all when it is asked to, in Cantonese? The
content of answers is not judged. `hkcanto_metrics.cantonese_fluency` scores them.
"""

from typing import ClassVar

from ..figures import figures
from . import writing


class Fluency(writing.WritingInCantonese):
    """Questions to answer. Columns: `id`, `category`, `prompt`.

    Examples:
        >>> from hkcanto_tasks.samples import Sample
        >>> from hkcanto_tasks.tasks import task_as_run
        >>> asked = Sample(id="", source="點樣先瞓得好？")
        >>> task_as_run("hkcanto_fluency").judge("你可以試下早啲瞓。", asked).values["fluent"]
        1.0
    """

    FIGURES = figures(
        *writing.FLUENT, "simplified_ratio", "n_characters", "empty", "overgenerated"
    )
    COLUMNS: ClassVar = {
        "id": ("id",),
        "category": ("category",),
        "prompt": ("prompt",),
    }
    OPTIONAL = ()
    TEXTS: ClassVar = {"id": "id", "prompt": "source", "category": "category"}
    REWRITES = False
    TOKENS = 512
