"""Metrics for Cantonese, such as Jyutping scores and answer extraction; they need no harness.

>>> from hkcanto_metrics import score_jyutping
>>> score_jyutping("nei5 hou2", "(nei5|lei5) hou2").cer
0.0
"""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

# The stub lists the public names for type checkers and for us.
_STUB = Path(__file__).with_suffix(".pyi").read_text("utf-8")
_HOME = {
    name: module
    for module, name in re.findall(r"^from (\S+) import[\s(]+(\w+)", _STUB, re.M)
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    """Import a metric on first use, so that using one does not load the libraries of the others."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
