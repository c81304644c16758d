"""Metrics for Cantonese: Jyutping conversion and answer extraction, without any harness.

>>> from hkcanto_metrics import score_jyutping
>>> score_jyutping("nei5 hou2", "(nei5|lei5) hou2").cer
0.0
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hkcanto_metrics.choice import extract_choice
    from hkcanto_metrics.g2p import JyutpingScore, pool_jyutping, score_jyutping

__all__ = ["JyutpingScore", "extract_choice", "pool_jyutping", "score_jyutping"]

_HOME = {
    "JyutpingScore": "g2p",
    "extract_choice": "choice",
    "pool_jyutping": "g2p",
    "score_jyutping": "g2p",
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
