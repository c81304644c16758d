"""Runs of the real harnesses in this process; they write the logs that a user would have."""

import json
import zlib
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker

from ..lm_eval.evaluating import evaluate
from ..unwatched import UNWATCHED

Answer = Callable[[str], str]

FORMS = (
    "{}",
    "答案：{}",
    "<think>諗下先。</think>{}",
    "<think>未諗完，{}",
    "唔知",
    "對唔住，我無法回答呢條問題。",
)
TRANSLATIONS = (
    "佢話聽日會落雨，記得帶遮。",
    "洗衣機又壞咗，師傅話整番好過買新嘅。",
    "他說明天會下雨，記得帶傘。",
)


def answer(prompt: str) -> str:
    """Return an answer that depends only on the prompt."""
    number = zlib.crc32(prompt.encode())
    if "翻譯" in prompt:
        return TRANSLATIONS[number % len(TRANSLATIONS)]
    return FORMS[number // 7 % len(FORMS)].format("ABCD"[number % 4])


def read_answer(prompt: str) -> str:
    """Return an answer with a letter that is read, always the same for a prompt."""
    number = zlib.crc32(prompt.encode())
    return FORMS[number // 7 % 3].format("ABCD"[number % 4])


class AnsweringLM(LM):  # type: ignore[misc]
    """A model for lm-eval that gives scripted answers, and prefers some letter."""

    tokenizer_name = "answering"

    def __init__(self, answer: Answer = answer) -> None:
        super().__init__()
        self.answer = answer

    def generate_until(
        self, requests: list[Instance], disable_tqdm: bool = False
    ) -> list[str]:
        del disable_tqdm
        return [self.answer(request.args[0]) for request in requests]

    def loglikelihood(
        self, requests: list[Instance], **_: Any
    ) -> list[tuple[float, bool]]:
        return [
            (-float(zlib.crc32(str(request.args).encode())), False)
            for request in requests
        ]

    def loglikelihood_rolling(self, *_: Any, **__: Any) -> list[float]:
        raise NotImplementedError


def run_lm_eval(folder: Path, *tasks: str, model: Any = None, **options: Any) -> Path:
    """Run tasks as `lm_eval --output_path --log_samples` does; returns the results file."""
    tracker = EvaluationTracker(output_path=str(folder))
    results = evaluate(
        *tasks,
        model=model or AnsweringLM(),
        evaluation_tracker=tracker,
        log_samples=True,
        **options,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results, samples)
    for task in results["configs"]:
        tracker.save_results_samples(task, samples[task])
    (file,) = folder.rglob(f"results_{tracker.date_id}.json")
    return file


def answering_model(answer: Answer = answer, stop_reason: str = "stop") -> Any:
    """Return a model for Inspect that gives scripted answers, each of seven tokens."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def respond(messages: list[Any], *_: Any) -> ModelOutput:
        text = answer("".join(message.text for message in messages))
        output = ModelOutput.from_content("answering", text, stop_reason=stop_reason)
        # Without usage Inspect counts tokens with an encoding that it would have to download.
        output.usage = ModelUsage(input_tokens=5, output_tokens=7, total_tokens=12)
        return output

    return get_model("mockllm/AnsweringLM", custom_outputs=respond, memoize=False)


_IDS = count(1)


def run_inspect(folder: Path, task: Any, model: Any = None, **options: Any) -> Path:
    """Run a task as `inspect eval` does; returns the log."""
    from inspect_ai import eval as inspect_eval

    # Logs of the same second are ordered by their names, which end in this id.
    with patch("inspect_ai._eval.loader.uuid", lambda: f"{next(_IDS):022d}"):
        (log,) = inspect_eval(
            task,
            model=model or answering_model(),
            log_dir=str(folder),
            **{**UNWATCHED, **options},
        )
    return Path(log.location.removeprefix("file://"))


def figures_alike(logs: Path) -> dict[str, float]:
    """Check that both harnesses ask and judge a task alike; return its figures, in order.

    Args:
        logs: A folder with one log from each harness.
    """
    from inspect_ai.log import read_eval_log

    (file,), (samples,), (results,) = (
        [*logs.rglob(name)] for name in ("*.eval", "samples_*.jsonl", "results_*.json")
    )
    in_lm_eval = {
        row["doc"]["id"]: row for row in map(json.loads, samples.open(encoding="utf-8"))
    }
    log = read_eval_log(str(file))
    assert {sample.id for sample in log.samples} == in_lm_eval.keys()
    for sample in log.samples:
        row = in_lm_eval[sample.id]
        prompt = row["arguments"]["gen_args_0"]["arg_0"]
        assert "".join(message.text for message in sample.input) == prompt
        judgement = sample.scores["judged"].metadata["judgement"]
        assert judgement == row["doc"]["judgement"], sample.id
    (judged,) = log.results.scores
    (of_task,) = json.loads(results.read_text("utf-8"))["results"].values()
    found = {name: metric.value for name, metric in judged.metrics.items()}
    error = next(name for name in found if name.endswith("_stderr"))
    assert found.pop(error) > 0
    assert found == pytest.approx(
        {name: of_task[f"{name},none"] for name in found}, abs=1e-12
    )
    return found
