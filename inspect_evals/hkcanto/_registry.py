"""What Inspect finds through our entry point."""

from .metrics import (
    category_macro,
    category_means,
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
    g2p,
    hkmmlu,
    law,
    mmlu,
    orthography,
    phonology,
    professional,
    tmmluplus,
)

__all__ = [
    "category_macro",
    "category_means",
    "cultural",
    "dse",
    "g2p",
    "hkmmlu",
    "judged",
    "law",
    "mmlu",
    "orthography",
    "phonology",
    "pooled_rate",
    "pooled_stderr",
    "professional",
    "rule_based",
    "subject_macro",
    "subject_means",
    "subset_means",
    "tmmluplus",
]
