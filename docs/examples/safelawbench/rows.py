"""Read SafeLawBench: a file for each split, with rows on Hong Kong and on Mainland China."""

import json


def rows(folder, split):
    """Yield the rows on Hong Kong."""
    for row in json.loads((folder / f"{split}.json").read_text("utf-8")):
        if row["region"] == "Hong Kong":
            yield row
