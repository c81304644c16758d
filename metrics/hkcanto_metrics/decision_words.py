"""The patterns of the words by which a response decides, from `decision_words.toml`."""

import re
import tomllib
from pathlib import Path

from hkcanto_metrics.patterns import Patterns
from hkcanto_metrics.script import fold_script

AROUND = " \t\n.。,、;:!?()…~✓→"  # characters around an option that mean nothing
DATA = tomllib.loads(Path(__file__).with_name("decision_words.toml").read_text("utf-8"))


def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a form; `{name}` is replaced by a class of words."""
    for name, members in reversed(DATA["words"].items()):
        english = [f"«{'|'.join(members['english'])}»"] if "english" in members else []
        either = "|".join([*members.get("chinese", []), *english])
        pattern = pattern.replace(f"{{{name}}}", f"(?:{either})")
    pattern = pattern.replace("«", r"(?<![a-z])(?:").replace("»", r")(?![a-z])")
    return re.compile(fold_script(pattern), re.IGNORECASE)


SAYS = Patterns(
    {name: "".join(parts) for name, parts in DATA["forms"].items()}, _compiled
)
