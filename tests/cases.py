"""Many cases in one test, and logs that stand for other runs."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def named(*names: object) -> Iterator[None]:
    """Name the case in the report of a failure."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"case: {', '.join(map(repr, names))}")
        raise


def another_run(log: Path, place: Path) -> Path:
    """Copy a folder of lm-eval logs as those of later runs: copies of one log are one run."""
    shutil.copytree(log, place)
    for file in place.rglob("results_*.json"):
        results = json.loads(file.read_text("utf-8"))
        file.write_text(json.dumps(results | {"date": results["date"] + 1}), "utf-8")
    return place
