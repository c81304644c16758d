"""Patterns that a TOML file names, each compiled on first use."""

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path


class Patterns(dict[str, re.Pattern[str]]):
    """The compiled patterns of a table of texts, by name."""

    def __init__(
        self,
        texts: Mapping[str, str],
        compiled: Callable[[str], re.Pattern[str]],
    ):
        super().__init__()
        self._texts, self._compiled = texts, compiled

    def __missing__(
        self,
        name: str,
    ) -> re.Pattern[str]:
        self[name] = self._compiled(self._texts[name])
        return self[name]


def read_patterns(
    path: Path,
    flags: re.RegexFlag,
) -> Patterns:
    """Read a file of patterns; `{name}` is replaced by an earlier one.

    Args:
        path: A TOML file; each value is a text, or a list of texts that are joined.
        flags: The flags to compile with.

    Returns:
        The patterns by name.
    """
    texts: dict[str, str] = {}
    for name, parts in tomllib.loads(path.read_text("utf-8")).items():
        text = "".join(parts)
        for earlier, pattern in texts.items():
            text = text.replace(f"{{{earlier}}}", pattern)
        texts[name] = text
    return Patterns(texts, lambda text: re.compile(text, flags))
