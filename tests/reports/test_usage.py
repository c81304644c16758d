"""Tokens and time of runs in reports: the logs' numbers, and the answers that they cover."""

import json
import shutil
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from hkcanto import tasks
from hkcanto_tasks.cli import app
from hkcanto_tasks.results.runs import Usage

from .harness_runs import AnsweringLM, answering_model, run_inspect, run_lm_eval


def reported(*logs: Path, form: str = "json") -> Any:
    done = CliRunner().invoke(app, ["report", *map(str, logs), "--format", form])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout) if form == "json" else done.stdout


def usage_of(*logs: Path) -> dict[str, Any]:
    """The entry of the only run in a JSON report."""
    (run,) = reported(*logs)["runs"]
    found: dict[str, Any] = run["usage"]
    return found


def edit(log: Path, change: Callable[[dict[str, Any]], None]) -> None:
    content = json.loads(log.read_text("utf-8"))
    change(content)
    log.write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture
def law(tmp_path: Path) -> Path:
    return run_inspect(
        tmp_path, tasks.run(task="hkcanto_law"), limit=2, log_format="json"
    )


def test_tokens_of_inspect_are_those_of_its_answers(tmp_path: Path) -> None:
    run_inspect(
        tmp_path, tasks.run(task="hkcanto_law"), limit=4, epochs=2, log_format="eval"
    )
    found = usage_of(tmp_path)
    assert found["answers"] == 8
    assert (found["prompt_tokens"], found["answer_tokens"]) == (8 * 5, 8 * 7)
    assert 0 < found["seconds"] < 60


def test_cost_and_tokens_of_a_provider(law: Path) -> None:
    log = law
    assert "dollars" not in usage_of(log)
    cache = {"input_tokens": 1, "output_tokens": 9, "total_tokens": 30}
    cache |= {
        "input_tokens_cache_read": 15,
        "input_tokens_cache_write": 5,
        "reasoning_tokens": 8,
        "total_cost": 0.25,
    }

    def served(content: dict[str, Any]) -> None:
        for sample in content["samples"]:
            sample["model_usage"] = {"mockllm/AnsweringLM": cache}

    edit(log, served)
    found = usage_of(log)
    assert found["prompt_tokens"] == 2 * (1 + 15 + 5)
    assert found["cached_tokens"] == 2 * 15
    assert (found["answer_tokens"], found["reasoning_tokens"]) == (2 * 9, 2 * 8)
    assert found["dollars"] == 0.5


def test_tokens_that_count_padding_are_unknown(law: Path) -> None:
    def by_transformers(content: dict[str, Any]) -> None:
        content["eval"]["model"] = "hf/small"

    known = usage_of(law)
    assert {"prompt_tokens", "answer_tokens"} <= known.keys()
    edit(law, by_transformers)
    padded = usage_of(law)
    assert padded["answers"] == 2
    assert not {"prompt_tokens", "answer_tokens"} & padded.keys()


def test_a_judge_has_its_own_tokens_even_if_it_is_the_same_model(
    tmp_path: Path,
) -> None:
    task = tasks.translation(judge=True)
    run_inspect(
        tmp_path, task, limit=2, model_roles={"grader": answering_model(lambda _: "{}")}
    )  # without success: it gives no labels, at twelve tokens each time
    found = usage_of(tmp_path)
    assert (found["prompt_tokens"], found["answer_tokens"]) == (2 * 5, 2 * 7)
    assert found["judge_tokens"] >= 2 * 12
    assert found["judge_tokens"] % 12 == 0


def test_time_is_that_in_which_some_sample_ran(tmp_path: Path) -> None:
    """Four samples at once, two of them short; a pause as before an `eval-retry`, and a fifth."""
    log = run_inspect(tmp_path, tasks.hkmmlu(), limit=5, log_format="json")
    start = datetime.fromisoformat("2026-11-01T12:00:00+00:00")

    def at(content: dict[str, Any]) -> None:
        spans = ((0, 10), (4, 16), (5, 6), (7, 8), (3600, 3605))
        for sample, (begin, end) in zip(content["samples"], spans, strict=True):
            sample["started_at"] = (start + timedelta(seconds=begin)).isoformat()
            sample["completed_at"] = (start + timedelta(seconds=end)).isoformat()

    edit(log, at)
    assert usage_of(log)["seconds"] == 16 + 5

    def unsaid(content: dict[str, Any]) -> None:
        del content["samples"][0]["started_at"]

    edit(log, unsaid)
    assert "seconds" not in usage_of(log)


def test_the_time_of_a_server_that_loads_with_the_first_request_is_unknown(
    law: Path,
) -> None:
    edit(law, lambda content: content["eval"].update(model="vllm/org/model"))
    assert "seconds" not in usage_of(law)
    edit(
        law,
        lambda content: content["eval"].update(
            model_base_url="http://localhost:8000/v1"
        ),
    )
    assert "seconds" in usage_of(law)


def test_the_time_of_cached_answers_is_unknown(law: Path) -> None:
    def cached(content: dict[str, Any]) -> None:
        content["samples"][0]["model_usage"] = {}

    edit(law, cached)
    found = usage_of(law)
    assert "seconds" not in found
    assert (found["prompt_tokens"], found["answer_tokens"]) == (2 * 5, 2 * 7)


def test_a_count_of_zero_is_left_out_of_a_log_and_an_unknown_one_of_a_sum() -> None:
    optional = ("cached_tokens", "reasoning_tokens", "judge_tokens")
    first = Usage(1, prompt_tokens=5, answer_tokens=7, dollars=0.5)
    more = dict.fromkeys(optional, 3)
    total = Usage.total([first, replace(first, **more, answer_tokens=None)])
    assert total.known == {
        "answers": 2,
        "prompt_tokens": 10,
        "dollars": 1.0,
        **dict.fromkeys(optional, 3),
    }


class Loading(AnsweringLM):
    """Takes a second to answer, in addition to its loading time."""

    def generate_until(self, *args: Any, **kwargs: Any) -> list[str]:
        time.sleep(1)
        return super().generate_until(*args, **kwargs)


@pytest.mark.slow
def test_lm_eval_logs_no_tokens_and_the_time_of_all_tasks(tmp_path: Path) -> None:
    run_lm_eval(
        tmp_path / "both", "hkcanto_law", "hkcanto_g2p", model=Loading(), limit=3
    )
    assert [run["usage"] for run in reported(tmp_path / "both")["runs"]] == [
        {"answers": 3}
    ] * 2
    run_lm_eval(tmp_path / "one", "hkcanto_law", model=Loading(), limit=3)
    found = usage_of(tmp_path / "one")
    assert found.keys() == {"answers", "seconds"}
    assert 1 <= found["seconds"] < 30


def test_runs_in_parts_add_up(tmp_path: Path) -> None:
    run_inspect(tmp_path / "stem", tasks.hkmmlu(subjects="stem"))
    run_inspect(
        tmp_path / "other", tasks.hkmmlu(subjects="other,humanities,social_sciences")
    )
    found = usage_of(tmp_path)
    assert found["answers"] == 43
    assert (found["prompt_tokens"], found["answer_tokens"]) == (43 * 5, 43 * 7)
    parts = [usage_of(tmp_path / name)["seconds"] for name in ("stem", "other")]
    assert found["seconds"] == pytest.approx(sum(parts), abs=0.002)


def test_a_log_whose_samples_say_nothing_has_no_figures_made_up(law: Path) -> None:
    log = law

    def as_before(content: dict[str, Any]) -> None:
        for sample in content["samples"]:
            for name in ("model_usage", "role_usage", "started_at", "completed_at"):
                sample.pop(name, None)
            sample["output"].pop("usage", None)

    edit(log, as_before)
    assert usage_of(log) == {"answers": 2}
    assert "usage" not in reported(log)["tables"]


def test_answers_that_are_scored_again_keep_what_they_took(tmp_path: Path) -> None:
    log = run_inspect(tmp_path / "logs", tasks.hkmmlu(), limit=3)
    before = usage_of(log)
    done = CliRunner().invoke(app, ["rescore", str(log), "-o", str(tmp_path / "again")])
    assert done.exit_code == 0, done.output
    shutil.rmtree(tmp_path / "logs")
    assert usage_of(tmp_path / "again") == before
