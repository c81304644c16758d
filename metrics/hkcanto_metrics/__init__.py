"""Metrics for Cantonese, such as Jyutping scores and answer extraction; they need no harness.

>>> from hkcanto_metrics import score_jyutping
>>> score_jyutping("nei5 hou2", "(nei5|lei5) hou2").cer
0.0
"""

from importlib import import_module
from typing import Any

# Module → its public names. `__init__.pyi` has the same for type checkers.
_NAMES = {
    "choice": (
        "ChoiceReading",
        "ChoiceSetReading",
        "extract_choice",
        "extract_choice_set",
        "read_choice",
        "read_choice_set",
    ),
    "cleaning": ("clean_output",),
    "fluency": ("Fluency", "cantonese_fluency", "pool_fluency"),
    "g2p": ("JyutpingScore", "pool_jyutping", "score_jyutping"),
    "labels": ("macro_f1", "read_label"),
    "language": ("identify_language", "identify_reasoning", "score_reasoning"),
    "number": ("extract_number",),
    "rewards": (
        "cantonese_reward",
        "choice_reward",
        "constraint_reward",
        "format_reward",
        "jyutping_reward",
        "multiply_rewards",
        "reasoning_language_reward",
    ),
    "short_answer": ("score_short_answer",),
    "translation": ("score_translation",),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    """Import a metric on first use, so that using one does not load the libraries of the others."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
