"""What Inspect finds through our entry point."""

from .judges import judged_summary, judged_translation
from .metrics import (
    category_macro,
    category_means,
    corpus_figures,
    pooled_rate,
    pooled_stderr,
    subject_macro,
    subject_means,
    subset_means,
)
from .models import rule_based
from .scorers import judged
from .tasks import (
    cultural,
    dse,
    fluency,
    g2p,
    hkmmlu,
    hkmmlu_translation,
    law,
    mmlu,
    orthography,
    phonology,
    professional,
    sentiment,
    summarization,
    tmmluplus,
    translation,
)

__all__ = [
    "category_macro",
    "category_means",
    "corpus_figures",
    "cultural",
    "dse",
    "fluency",
    "g2p",
    "hkmmlu",
    "hkmmlu_translation",
    "judged",
    "judged_summary",
    "judged_translation",
    "law",
    "mmlu",
    "orthography",
    "phonology",
    "pooled_rate",
    "pooled_stderr",
    "professional",
    "rule_based",
    "sentiment",
    "subject_macro",
    "subject_means",
    "subset_means",
    "summarization",
    "tmmluplus",
    "translation",
]
