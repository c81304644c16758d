"""Summarisation: a long Cantonese text in, a summary of about 200 characters out.

In HKCanto-Eval (Appendix G), people score relevance, accuracy, fluency and coherence, without a
reference. This kind scores only what needs no human reader: fluency by the words used, and length.
"""

from typing import ClassVar

from ..figures import figures
from . import base, writing


class Summarization(writing.WritingInCantonese):
    """Texts to sum up. Column: `text`.

    Examples:
        >>> from hkcanto_tasks.samples import Sample
        >>> from hkcanto_tasks.tasks import task_as_run
        >>> talk = Sample(id="", source="我哋街市……")
        >>> judged = task_as_run("hkcanto_summarization").judge("佢話街市有人情味。", talk)
        >>> judged.values["length_penalty"]
        1.0
    """

    FIGURES = figures(
        *("fluent", "fluent_published", "cantonese_ratio", "degenerate"),
        *("length_penalty", "n_characters", "empty", "overgenerated", "refusal_rate"),
    )
    COLUMNS: ClassVar = {"text": ("text",)}
    TEXTS: ClassVar = {"text": "source"}
    Options = base.PromptOptions
    TOKENS = 1024  # the release's limit
    MAX_CHARACTERS = 500  # the paper asks for 200, and lowers the score above 500
