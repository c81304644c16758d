"""The tasks follow Inspect's conventions: importable from the package, and found in its folder."""

import subprocess
import sys
from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval

import hkcanto

from ..unwatched import UNWATCHED


def test_a_task_of_the_package_is_evaluated_as_by_its_name(tmp_path: Path) -> None:
    from hkcanto import g2p

    def scores(task: object) -> dict[str, float]:
        (log,) = inspect_eval(
            task,
            model="hkcanto/pycantonese",
            limit=3,
            log_dir=str(tmp_path),
            **UNWATCHED,
        )
        assert (log.status, log.eval.task) == ("success", "hkcanto/g2p")
        (judged,) = log.results.scores
        return {name: metric.value for name, metric in judged.metrics.items()}

    assert scores(g2p()) == scores("hkcanto/g2p")


def test_a_name_that_the_package_lacks_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'hkcanto' has no attribute 'mmmlu'"):
        hkcanto.mmmlu  # noqa: B018
    with pytest.raises(ImportError, match="mmmlu"):
        from hkcanto import mmmlu  # noqa: F401


@pytest.mark.slow
def test_inspect_lists_the_tasks_in_the_folder() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "inspect_ai", "list", "tasks"],
        cwd=Path(hkcanto.__path__[0]),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [f"tasks.py@{name}" for name in hkcanto.__all__]
