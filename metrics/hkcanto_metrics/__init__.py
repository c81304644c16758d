"""Metrics for Cantonese: Jyutping conversion and answer extraction, without any harness.

>>> from hkcanto_metrics import score_jyutping
>>> score_jyutping("nei5 hou2", "(nei5|lei5) hou2").cer
0.0
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hkcanto_metrics.choice import ChoiceReading, extract_choice, read_choice
    from hkcanto_metrics.cleaning import clean_output
    from hkcanto_metrics.fluency import Fluency, cantonese_fluency, pool_fluency
    from hkcanto_metrics.g2p import JyutpingScore, pool_jyutping, score_jyutping
    from hkcanto_metrics.language import identify_language, score_reasoning
    from hkcanto_metrics.number import extract_number
    from hkcanto_metrics.rewards import (
        cantonese_reward,
        choice_reward,
        format_reward,
        jyutping_reward,
        product,
        reasoning_language_reward,
    )
    from hkcanto_metrics.translation import score_translation

__all__ = [
    "ChoiceReading",
    "Fluency",
    "JyutpingScore",
    "cantonese_fluency",
    "cantonese_reward",
    "choice_reward",
    "clean_output",
    "extract_choice",
    "extract_number",
    "format_reward",
    "identify_language",
    "jyutping_reward",
    "pool_fluency",
    "pool_jyutping",
    "product",
    "read_choice",
    "reasoning_language_reward",
    "score_jyutping",
    "score_reasoning",
    "score_translation",
]

_HOME = {
    "ChoiceReading": "choice",
    "Fluency": "fluency",
    "JyutpingScore": "g2p",
    "cantonese_fluency": "fluency",
    "cantonese_reward": "rewards",
    "choice_reward": "rewards",
    "clean_output": "cleaning",
    "extract_choice": "choice",
    "extract_number": "number",
    "format_reward": "rewards",
    "identify_language": "language",
    "jyutping_reward": "rewards",
    "pool_fluency": "fluency",
    "pool_jyutping": "g2p",
    "product": "rewards",
    "read_choice": "choice",
    "reasoning_language_reward": "rewards",
    "score_jyutping": "g2p",
    "score_reasoning": "language",
    "score_translation": "translation",
}


def __getattr__(name: str) -> Any:
    """Import a metric when it is first asked for, so that none pays for another's libraries."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
