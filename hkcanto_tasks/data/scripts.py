"""Detect the script or language of a release's files, from their names and their text."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from hkcanto_metrics.script import count_scripts, is_han

from .tables import Record

TITLES = {"tc": "Traditional", "sc": "Simplified", "en": "English", "zh": "Chinese", "": "unknown"}

_CODES = {
    **dict.fromkeys(("tc", "cht", "hant", "zhhk", "zhtw", "zhhant", "繁", "繁體", "繁体"), "tc"),
    **dict.fromkeys(("sc", "chs", "hans", "zhcn", "zhhans", "cn", "简", "简体", "簡體"), "sc"),
    **dict.fromkeys(("en", "eng", "英文", "英語"), "en"),
    **dict.fromkeys(("zh", "中文"), "zh"),
}
# These words may also begin the name of a subject, as in `traditional_chinese_medicine`.
_WORDS = {
    **dict.fromkeys(("traditional", "trad"), "tc"),
    **dict.fromkeys(("simplified", "simp"), "sc"),
    "english": "en",
    "chinese": "zh",
}
_FEW, _SHARE = 3, 0.8
_ROWS = 30


@lru_cache(4096)
def script_named(name: str) -> tuple[str, str]:
    """Split a name into the script and the rest.

    Args:
        name: The name of a file, folder or configuration.

    Returns:
        The rest, and `tc`, `sc`, `en`, `zh` (Chinese of either script), or an empty text.

    Examples:
        >>> script_named("hk_law_zh-CN"), script_named("Traditional Chinese")
        (('hk_law', 'sc'), ('', 'tc'))
    """
    text = unicodedata.normalize("NFKC", name).lower()
    text = re.sub(r"(?<![a-z])zh[\W_]?(cn|hk|tw|hans|hant|sg)(?![a-z])", r"zh\1", text)
    text = text.replace("zhsg", "zhcn").replace("體中文", "體").replace("体中文", "体")
    parts = [part for part in re.split(r"([\W_]+)", text) if part]
    found = ""

    def take(place: int, known: dict[str, str]) -> bool:
        nonlocal found
        script = known.get(parts[place]) if parts else None
        if script is None or (found and script not in ("zh", found) and found != "zh"):
            return False
        found = script if found in ("", "zh") else found
        del parts[place]
        while parts and re.fullmatch(r"[\W_]+", parts[place]):
            del parts[place]
        return True

    while take(-1, _CODES | _WORDS):
        pass
    while take(0, _CODES) or (found and found != "zh" and take(0, {"chinese": "zh"})):
        pass
    if len(parts) == 1 and take(0, _WORDS):
        pass
    return ("".join(parts), found) if found else (name, "")


def script_of_folders(folders: Iterable[str]) -> str:
    """Return the script of the innermost folder that names one; `zh` only if none says more."""
    found = [script for each in folders if (script := script_named(each)[1])]
    return next((each for each in reversed(found) if each != "zh"), "zh" if found else "")


def script_in_text(records: list[Record]) -> str:
    """Return the script of a sample of rows.

    Returns:
        `tc` or `sc` if most of the characters that differ between the scripts, and at least three,
        are in that script; `en` if no character is Chinese; else an empty text.
    """
    step = max(1, len(records) // _ROWS)
    cells = (cell for record in records[::step][:_ROWS] for cell in record.cells.values())
    text = " ".join(str(cell) for cell in cells if isinstance(cell, str | list | dict))
    traditional, simplified = count_scripts(text)
    total = traditional + simplified
    if total >= _FEW and max(traditional, simplified) >= _SHARE * total:
        return "sc" if simplified > traditional else "tc"
    return "" if total or any(map(is_han, text)) else "en"


def script_of(text: str) -> str:
    """Return the script of a question: `tc`, `sc`, `both`, or an empty text if it is unclear.

    Examples:
        >>> [script_of(text) for text in ("邊個部門？", "边个部门？", "邊個部门？", "1 + 1 = ?")]
        ['tc', 'sc', 'both', '']
    """
    traditional, simplified = count_scripts(text)
    if max(traditional, simplified) < _SHARE * (traditional + simplified):
        return "both"
    return "" if not traditional + simplified else "sc" if simplified > traditional else "tc"
