"""Models as judges: the rubrics of HKCanto-Eval, for `--model-role grader=…`."""

from .summarization import judged_summary
from .translation import judged_translation

__all__ = ["judged_summary", "judged_translation"]
