"""Models as judges: the rubrics of HKCanto-Eval, for `--model-role grader=…`."""

from .agreement import judge_agreement, judged_run, marked_errors_task
from .summarization import judged_summary
from .translation import judged_translation

__all__ = [
    "judge_agreement",
    "judged_run",
    "judged_summary",
    "judged_translation",
    "marked_errors_task",
]
