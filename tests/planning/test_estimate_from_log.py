"""`hkcanto estimate --from`: a full run, estimated from the log of a quick look."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hkcanto_tasks import load_task, read_runs
from hkcanto_tasks.cli import app

from ..reports.harness_runs import (
    AnsweringLM,
    answering_model,
    run_inspect,
    run_lm_eval,
)


def command(*arguments: str | Path) -> Result:
    return CliRunner().invoke(
        app, ["estimate", *map(str, arguments), "--format", "json"]
    )


def estimated(*arguments: str | Path) -> tuple[dict[str, Any], list[str]]:
    """The only row, and the warnings."""
    done = command(*arguments)
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout)
    (row,) = made["tables"]["estimate"]["rows"]
    return row, [note["text"] for note in made["notes"]]


def refusal(*arguments: str | Path, status: int = 1) -> str:
    done = command(*arguments)
    assert done.exit_code == status
    return " ".join(done.stderr.split())


class Slow(AnsweringLM):
    """A model for lm-eval that takes one second for all answers, each of eight letters."""

    def __init__(self) -> None:
        super().__init__(lambda _: "ABCDABCD")

    def generate_until(self, *args: Any, **kwargs: Any) -> list[str]:
        time.sleep(1)
        return super().generate_until(*args, **kwargs)


def counting(per_character: float = 1.0, **more: Any) -> Any:
    """A model for Inspect that reports prompt tokens in proportion to characters."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def respond(messages: list[Any], *_: Any) -> ModelOutput:
        output = ModelOutput.from_content("counting", "A")
        size = round(per_character * sum(len(each.text) for each in messages))
        output.usage = ModelUsage(
            input_tokens=size, output_tokens=7, total_tokens=size + 7, **more
        )
        return output

    return get_model("mockllm/counting", custom_outputs=respond, memoize=False)


def edit(log: Path, change: Callable[[dict[str, Any]], None]) -> None:
    results = json.loads(log.read_text("utf-8"))
    change(results)
    log.write_text(json.dumps(results), encoding="utf-8")


def test_tokens_of_the_whole_are_those_of_its_own_prompts(tmp_path: Path) -> None:
    from hkcanto import tasks

    run_inspect(tmp_path, tasks.hkmmlu(), model=counting(), limit=8)
    prices = ("--price-in", "2", "--price-out", "10")
    row, _ = estimated("hkmmlu", "--from", tmp_path, *prices)
    samples = load_task("hkmmlu").samples
    texts = [load_task("hkmmlu").prompt(sample).text() for sample in samples]
    assert row["from"] == f"8 of {len(samples)}"
    assert row["requests"] == len(samples)
    # The others are counted at the eight prompts' rate, which is within 2 % of that of all.
    assert row["prompt_tokens"] == pytest.approx(sum(map(len, texts)), rel=0.02)
    assert row["answer_tokens"]["value"] == pytest.approx(7 * len(samples))
    low, high = row["answer_tokens"]["low"], row["answer_tokens"]["high"]
    assert low <= 7 * len(samples) <= high <= 12 * len(samples)
    assert row["cost"] == pytest.approx(
        (row["prompt_tokens"] * 2 + 7 * len(samples) * 10) / 1e6
    )


def test_a_chat_template_counts_in_proportion(tmp_path: Path) -> None:
    from hkcanto import tasks

    for name, rate in (("one", 1.0), ("two", 2.0)):
        run_inspect(tmp_path / name, tasks.hkmmlu(), model=counting(rate), limit=8)
    one, two = (
        estimated("hkmmlu", "--from", tmp_path / name)[0] for name in ("one", "two")
    )
    assert two["prompt_tokens"] == pytest.approx(2 * one["prompt_tokens"])


@pytest.mark.slow
def test_lm_eval_logs_no_tokens_and_its_texts_are_counted(tmp_path: Path) -> None:
    log = run_lm_eval(tmp_path, "hkmmlu", model=Slow(), limit=8)
    row, warnings = estimated("hkmmlu", "--from", log)
    plain, _ = estimated(
        "hkmmlu_sc", "--from", run_lm_eval(tmp_path / "sc", "hkmmlu_sc")
    )
    assert plain["from"] == "43 of 43"
    assert plain["answer_tokens"]["low"] is None  # nothing is left to estimate
    done = CliRunner().invoke(app, ["estimate", "hkmmlu", "--format", "json"])
    rows = json.loads(done.stdout)["tables"]["estimate"]["rows"]
    (counted,) = (each for each in rows if each["task"] == "hkmmlu")
    assert row["prompt_tokens"] == pytest.approx(counted["prompt_tokens"], rel=0.01)
    assert row["answer_tokens"]["value"] == 43 * 2  # eight letters count as two tokens
    # A second for 8 answers is 5.4 s for 43, without the time for loading.
    assert row["hours"] * 3600 == pytest.approx(43 / 8, rel=0.2)
    assert [each for each in warnings if "no token counts" in each]
    assert not [each for each in warnings if "loading" in each]


def test_time_of_several_tasks_is_that_of_none(tmp_path: Path) -> None:
    run_lm_eval(tmp_path, "hkmmlu", "hkcanto_law", limit=4)
    done = command("--from", tmp_path)
    made = json.loads(done.stdout)
    rows = made["tables"]["estimate"]["rows"]
    assert [row["task"] for row in rows] == ["hkcanto_law", "hkmmlu"]
    assert not any(row.get("hours") for row in rows)
    row, _ = estimated("hkmmlu", "--from", tmp_path, "--speed", "10")
    tokens = row["prompt_tokens"] + row["answer_tokens"]["value"]
    assert row["hours"] == pytest.approx(tokens / 36000)


def test_answers_from_a_cache_took_no_time(tmp_path: Path) -> None:
    log = run_lm_eval(tmp_path / "lm_eval", "hkmmlu", limit=4)
    edit(log, lambda results: results["config"].update(use_cache="cache.db"))
    assert "hours" not in estimated("hkmmlu", "--from", log)[0]


def test_inspects_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hkcanto import tasks

    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("first", "again"):
        run_inspect(
            tmp_path / name, tasks.hkmmlu(), model=counting(), limit=4, cache=True
        )
    first, _ = estimated("hkmmlu", "--from", tmp_path / "first")
    again, _ = estimated("hkmmlu", "--from", tmp_path / "again")
    assert first["hours"] > 0
    assert "hours" not in again
    assert again["prompt_tokens"] == first["prompt_tokens"]


def test_another_setup_is_named_and_estimated(tmp_path: Path) -> None:
    from hkcanto import tasks

    run_inspect(tmp_path, tasks.law(shots=1, reasoning=True), model=counting(), limit=4)
    row, _ = estimated("hkcanto_law", "--from", tmp_path)
    assert row["condition"] == "1-shot, reasoning:yes"
    one_shot = load_task("hkcanto_law", shots=1)
    characters = sum(len(one_shot.prompt(sample).text()) for sample in one_shot.samples)
    assert row["prompt_tokens"] == pytest.approx(characters, rel=0.05)


def test_another_task_is_refused(tmp_path: Path) -> None:
    log = run_lm_eval(tmp_path, "hkmmlu_cot", limit=4)
    assert "no log of hkcanto_law in" in refusal("hkcanto_law", "--from", log)
    assert "only of hkmmlu_cot" in refusal("hkmmlu_mc", "--from", log)


def test_a_part_of_a_task_does_not_estimate_the_whole(tmp_path: Path) -> None:
    log = run_lm_eval(tmp_path / "part", "hkmmlu_stem")
    assert "is not representative of hkmmlu" in refusal("hkmmlu", "--from", log)
    row, _ = estimated("hkmmlu_stem", "--from", log)
    assert row["from"].split(" of ")[0] == row["from"].split(" of ")[1]
    whole = run_lm_eval(tmp_path / "whole", "hkmmlu", limit=20)
    assert "more subjects, or on other data" in refusal("hkmmlu_stem", "--from", whole)


def test_other_data_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = run_lm_eval(tmp_path, "hkmmlu", limit=4)

    def released(results: dict[str, Any]) -> None:
        metadata = results["configs"]["hkmmlu"]["metadata"]
        metadata["signature"] = metadata["signature"].replace(
            "data:sample", "data:1a2b3c4"
        )

    edit(log, released)
    monkeypatch.setenv("HKCANTO_DATA", "sample")
    assert "is on data '1a2b3c4', but the data here is 'sample'" in refusal(
        "hkmmlu", "--from", log
    )


def test_a_cancelled_log_is_said_to_be_one(tmp_path: Path) -> None:
    from hkcanto import tasks

    log = run_inspect(
        tmp_path, tasks.law(), model=counting(), limit=6, log_format="json"
    )
    edit(log, lambda found: (found.update(status="cancelled"), found["samples"].pop()))
    row, warnings = estimated("hkcanto_law", "--from", log)
    assert row["from"].startswith("5 of ")
    assert any("cancelled" in each and "not a random part" in each for each in warnings)


def test_answers_without_a_count_are_counted(tmp_path: Path) -> None:
    from hkcanto import tasks

    run_inspect(tmp_path, tasks.g2p(), model="hkcanto/pycantonese")
    _, warnings = estimated("hkcanto_g2p", "--from", tmp_path)
    assert any("its texts are counted" in each for each in warnings)


def test_neither_tasks_nor_a_log(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["estimate"])
    assert done.exit_code == 2
    assert "--from LOG" in done.output
    assert "does not exist" in refusal(
        "hkmmlu", "--from", tmp_path / "nothing", status=2
    )


def test_log_likelihoods_are_asked_once_for_each_letter(tmp_path: Path) -> None:
    log = run_lm_eval(tmp_path, "hkcanto_law_mc", limit=4)
    row, _ = estimated("hkcanto_law_mc", "--from", log)
    done = CliRunner().invoke(app, ["estimate", "hkcanto_law_mc", "--format", "json"])
    (counted,) = json.loads(done.stdout)["tables"]["estimate"]["rows"]
    assert row["requests"] == counted["requests"]
    assert row["prompt_tokens"] == pytest.approx(counted["prompt_tokens"])
    assert row["answer_tokens"]["value"] == 0
    assert row["answer_tokens"]["low"] is row["answer_tokens"]["high"] is None


def test_a_whole_run_leaves_no_tokens_to_estimate(tmp_path: Path) -> None:
    from hkcanto import tasks

    log = run_inspect(tmp_path, tasks.law(), model=counting())
    row, _ = estimated("hkcanto_law", "--from", log)
    items = len(load_task("hkcanto_law").samples)
    assert row["from"] == f"{items} of {items}"
    tokens = row["answer_tokens"]
    assert tokens["value"] == pytest.approx(7 * items)
    assert tokens["low"] is tokens["high"] is None


def test_models_are_rows_of_their_own(tmp_path: Path) -> None:
    from hkcanto import tasks

    run_inspect(tmp_path, tasks.law(), model=counting(), limit=4)
    run_inspect(tmp_path, tasks.law(), model=answering_model(), limit=4)
    rows = json.loads(command("hkcanto_law", "--from", tmp_path).stdout)["tables"][
        "estimate"
    ]
    # Two logs of the same second are ordered by their random names.
    assert sorted(row["model"] for row in rows["rows"]) == ["AnsweringLM", "counting"]


def test_a_judges_tokens_are_those_of_all_items(tmp_path: Path) -> None:
    from hkcanto import tasks

    judge = answering_model(lambda _: "{}")
    task = tasks.translation(judge=True)
    run_inspect(tmp_path, task, limit=2, model_roles={"grader": judge})
    (log,) = tmp_path.rglob("*.eval")
    row, _ = estimated("hkcanto_translation_zh_yue", "--from", log)
    (used,) = read_runs(log)
    items = len(load_task("hkcanto_translation_zh_yue").samples)
    assert items > 2
    assert row["judge_tokens"] == pytest.approx(used.usage.judge_tokens / 2 * items)
