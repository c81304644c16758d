"""A real model through both harnesses' command lines, on real questions where they are."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log

from .conftest import run

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

# The model writes Jyutping for some sentences only; the fifth is the first of them.
ITEMS, TOKENS = 5, 48


@dataclass(frozen=True)
class Runs:
    """What both harnesses logged of a task."""

    task: str
    lm_eval: dict[str, dict[str, Any]]
    inspect: list[Any]


def judged(sample: dict[str, Any]) -> dict[str, float]:
    """The values of all metrics of a sample of lm-eval."""
    values: dict[str, float] = sample["doc"]["judgement"]["values"]
    return values


@pytest.fixture(scope="module")
def logs(model: Path, lean_path: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the logs of both harnesses, one item at a time: padding tips near-ties."""
    folder = tmp_path_factory.mktemp("small_model")
    run(
        *("lm_eval", "--tasks", "hkcanto_g2p,hkcanto_phonology", "--limit", str(ITEMS)),
        *("--model", "hf", "--model_args", f"pretrained={model},dtype=float32"),
        *(
            "--device",
            "cpu",
            "--batch_size",
            "1",
            "--gen_kwargs",
            f"max_gen_toks={TOKENS}",
        ),
        *("--output_path", "out", "--log_samples"),
        cwd=folder,
        PYTHONPATH=lean_path,
    )
    run(
        *(
            "inspect_ai",
            "eval",
            "hkcanto/g2p",
            "hkcanto/phonology",
            "--limit",
            str(ITEMS),
        ),
        *(
            "--model",
            f"hf/{model}",
            "-M",
            f"model_path={model}",
            "-M",
            "do_sample=false",
        ),
        *("-M", "dtype=float32", "-M", "batch_size=1", "-M", "device=cpu"),
        *("--max-tokens", str(TOKENS), "--log-dir", "logs", "--display", "plain"),
        cwd=folder,
    )
    return folder


@pytest.fixture(params=["hkcanto_g2p", "hkcanto_phonology"])
def runs(request: pytest.FixtureRequest, logs: Path) -> Runs:
    task = request.param
    (file,) = logs.glob(f"out/**/samples_{task}_*.jsonl")
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    name = task.replace("_", "/", 1)
    read = map(read_eval_log, list_eval_logs(str(logs / "logs")))
    (log,) = (each for each in read if each.eval.task == name)
    return Runs(task, {row["doc"]["id"]: row for row in rows}, log.samples or [])


def test_the_model_gets_the_same_prompt_in_both_harnesses(runs: Runs) -> None:
    assert len(runs.inspect) == len(runs.lm_eval) == ITEMS
    for sample in runs.inspect:
        sent = runs.lm_eval[sample.id]["arguments"]["gen_args_0"]["arg_0"]
        assert "".join(message.text for message in sample.input) == sent


def test_the_model_gets_the_same_scores_in_both_harnesses(runs: Runs) -> None:
    for sample in runs.inspect:
        for name, value in sample.scores["judged"].value.items():
            expected = pytest.approx(judged(runs.lm_eval[sample.id])[name])
            assert value == expected, (sample.id, name, sample.output.completion)


def test_some_responses_can_be_read(runs: Runs) -> None:
    measure = "invalid_rate" if "g2p" in runs.task else "unparsed_rate"
    assert any(judged(sample)[measure] == 0 for sample in runs.lm_eval.values())
