"""Read NTREX-128: line 7 of a file translates line 7 of the others."""

from collections.abc import Iterator
from pathlib import Path

_ENGLISH = "src.eng"
_CANTONESE = "ref.yue"
_TAIWAN = "ref.zho-TW"
_Rows = Iterator[dict[str, str]]


def english_cantonese(folder: Path, split: str) -> _Rows:
    """Yield the rows from English to Cantonese."""
    return _rows(
        folder,
        split,
        _ENGLISH,
        _CANTONESE,
    )


def cantonese_english(folder: Path, split: str) -> _Rows:
    """Yield the rows from Cantonese to English."""
    return _rows(
        folder,
        split,
        _CANTONESE,
        _ENGLISH,
    )


def english_taiwan(folder: Path, split: str) -> _Rows:
    """Yield the rows from English to the Chinese of Taiwan."""
    return _rows(
        folder,
        split,
        _ENGLISH,
        _TAIWAN,
    )


def _rows(
    folder: Path,
    split: str,
    source: str,
    target: str,
) -> _Rows:
    if split != "test":
        return
    sides = [
        (folder / f"newstest2019-{side}.txt").read_text("utf-8").splitlines()
        for side in (source, target)
    ]
    for texts in zip(*sides, strict=True):
        yield {"source": texts[0], "target": texts[1]}
