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
    from hkcanto_metrics.number import extract_number
    from hkcanto_metrics.translation import score_translation

__all__ = [
    "ChoiceReading",
    "Fluency",
    "JyutpingScore",
    "cantonese_fluency",
    "clean_output",
    "extract_choice",
    "extract_number",
    "pool_fluency",
    "pool_jyutping",
    "read_choice",
    "score_jyutping",
    "score_translation",
]

_HOME = {
    "ChoiceReading": "choice",
    "Fluency": "fluency",
    "JyutpingScore": "g2p",
    "cantonese_fluency": "fluency",
    "clean_output": "cleaning",
    "extract_choice": "choice",
    "extract_number": "number",
    "pool_fluency": "fluency",
    "pool_jyutping": "g2p",
    "read_choice": "choice",
    "score_jyutping": "g2p",
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
