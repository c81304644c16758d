"""Read CantonMT's test set: line 7 of a file translates line 7 of the other."""

from collections.abc import Iterator
from pathlib import Path

_Rows = Iterator[dict[str, str]]


def cantonese_english(folder: Path, split: str) -> _Rows:
    """Yield the rows from Cantonese to English."""
    return _rows(
        folder,
        split,
        "yue",
        "en",
    )


def english_cantonese(folder: Path, split: str) -> _Rows:
    """Yield the rows from English to Cantonese."""
    return _rows(
        folder,
        split,
        "en",
        "yue",
    )


def _rows(
    folder: Path,
    split: str,
    source: str,
    target: str,
) -> _Rows:
    if split != "test":
        return
    sources = (folder / f"test/{source}.txt").read_text("utf-8").splitlines()
    targets = (folder / f"test/{target}.txt").read_text("utf-8").splitlines()
    for pair in zip(sources, targets, strict=True):
        yield {"source": pair[0], "target": pair[1]}
