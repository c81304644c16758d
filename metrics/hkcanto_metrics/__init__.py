"""Metrics for Cantonese: Jyutping conversion and answer extraction, without any harness.

>>> from hkcanto_metrics import score_jyutping
>>> score_jyutping("nei5 hou2", "(nei5|lei5) hou2").cer
0.0
"""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

# Public name → its module, as the stub has it for type checkers.
_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_HOME = {name: home for home, name in re.findall(r"from (\S+) import (\w+)", _STUB)}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    """Import a metric when it is first asked for, so that none pays for another's libraries."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
