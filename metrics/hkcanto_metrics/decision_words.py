"""Compile the patterns of `decision_words.toml`: the words by which a response states a choice."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from hkcanto_metrics.script import fold_script

_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a form in which `{name}` stands for a class of words."""
    for name, members in reversed(_DATA["words"].items()):
        english = [f"«{'|'.join(members['english'])}»"] if "english" in members else []
        either = "|".join([*members.get("chinese", []), *english])
        pattern = pattern.replace(f"{{{name}}}", f"(?:{either})")
    pattern = pattern.replace("«", r"(?<![a-z])(?:").replace("»", r")(?![a-z])")
    return re.compile(fold_script(pattern), re.IGNORECASE)


SAYS = {name: _compiled("".join(parts)) for name, parts in _DATA["forms"].items()}
# A response may name an option that is one of these words by any other word of the same row.
SAME = [{fold_script(word) for word in row} for row in _DATA["same"]["rows"]]
PLACES: dict[str, int] = _DATA["places"]
