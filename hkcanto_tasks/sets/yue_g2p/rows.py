"""Read yue-g2p-benchmark: line 7 of a `.lb` file answers line 7 of its `.sent` file."""

from collections.abc import Iterator
from pathlib import Path


def rows(folder: Path, split: str) -> Iterator[dict[str, object]]:
    """Yield the rows of the test split, which is the only one."""
    for file in sorted(folder.glob("*.sent")) if split == "test" else ():
        sentences = file.read_text("utf-8").splitlines()
        answers = file.with_suffix(".lb").read_text("utf-8").splitlines()
        for number, pair in enumerate(zip(sentences, answers, strict=True), start=1):
            yield {
                "subject": file.stem,
                "id": number,
                "question": pair[0],
                "answer": pair[1],
            }
