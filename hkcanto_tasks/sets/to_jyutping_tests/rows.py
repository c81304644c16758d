"""Read to-jyutping-tests: a sentence, the line of its Jyutping, and an empty line."""

from collections.abc import Iterator
from pathlib import Path


def rows(folder: Path, split: str) -> Iterator[dict[str, str]]:
    """Yield a row for each sentence; there are no worked examples."""
    if split != "test":
        return
    text = (folder / "jyutping_sentences.txt").read_text("utf-8")
    for block in text.strip().split("\n\n"):
        sentence, jyutping = block.split("\n")
        yield {"sentence": sentence, "jyutping": jyutping}
