"""Read CulturalBench-Easy, whose questions are on 45 regions."""

import csv


def rows(folder, split):
    """Yield the rows on Hong Kong; the only split is the test split."""
    with (folder / "CulturalBench-Easy.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file) if split == "test" else ():
            if row["country"] == "Hong Kong":
                yield {"id": row["question_idx"], **row}
