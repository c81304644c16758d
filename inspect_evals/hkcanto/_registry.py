"""What Inspect finds through our entry point."""

from hkcanto_tasks.errors import without_traceback

from .judges import judged_summary, judged_translation
from .metrics import figures, table
from .models import rule_based
from .scorers import judged
from .tasks import (
    cultural,
    dse,
    fluency,
    g2p,
    hkcanto,
    hkmmlu,
    hkmmlu_translation,
    law,
    marked_errors,
    mmlu,
    orthography,
    phonology,
    professional,
    run,
    sentiment,
    summarization,
    tmmluplus,
    translation,
)

__all__ = [
    "cultural",
    "dse",
    "figures",
    "fluency",
    "g2p",
    "hkcanto",
    "hkmmlu",
    "hkmmlu_translation",
    "judged",
    "judged_summary",
    "judged_translation",
    "law",
    "marked_errors",
    "mmlu",
    "orthography",
    "phonology",
    "professional",
    "rule_based",
    "run",
    "sentiment",
    "summarization",
    "table",
    "tmmluplus",
    "translation",
]

without_traceback()
