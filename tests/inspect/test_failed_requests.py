"""Requests that fail before one succeeds leave no trace in what was sent."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.model import ModelAPI, get_model
from tenacity import wait_none

from hkcanto import tasks
from hkcanto_tasks import read_runs

from ..recording import FAILURES, RecordingServer, recording

ITEMS = 2


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ModelAPI, "retry_wait", lambda _: wait_none())


def run(server: RecordingServer, model: str, folder: Path, **options: Any) -> Any:
    """The log of a run, and the run as it is read."""
    (log,) = inspect_eval(
        tasks.hkmmlu(),
        model=get_model(
            f"openai-api/local/{model}",
            base_url=server.url,
            api_key="-",
            memoize=False,
            max_retries=0,
        ),
        limit=ITEMS,
        display="none",
        log_dir=str(folder),
        **options,
    )
    assert log.status == "success", log.error
    (read,) = read_runs(folder)
    return log, read


def failed_calls(log: Any) -> int:
    events = [event for sample in log.samples for event in sample.events]
    return sum(bool(getattr(event, "error", None)) for event in events)


@pytest.mark.parametrize("failure", FAILURES)
def test_a_run_that_met_failures_is_the_catalogues(
    failure: str, tmp_path: Path
) -> None:
    with recording() as server:
        log, read = run(server, failure, tmp_path, retry_on_error=2)
    assert len(server.requests) == 2 * ITEMS
    assert failed_calls(log) or any(sample.error_retries for sample in log.samples)
    assert not read.departure
    assert (read.status, len(read.items)) == ("success", ITEMS)


def test_a_run_from_inspects_cache_is_the_catalogues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    with recording() as server:
        _, first = run(server, "letters", tmp_path / "first", cache=True)
        _, second = run(server, "letters", tmp_path / "second", cache=True)
    assert len(server.requests) == ITEMS
    assert not first.departure
    assert not second.departure
    assert first.sent == second.sent
    assert first.comparable_as == second.comparable_as
