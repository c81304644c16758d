"""A killed run can be resumed with the same figures, as docs/running.md says."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log

from hkcanto_tasks import load_task

from .lm_eval.evaluating import evaluate
from .recording import RecordingServer, recording
from .reports.harness_runs import AnsweringLM

COUNT = 43  # HKMMLU's sample data
MOST_REPEATED = 0.02


def start(folder: Path, *command: str) -> subprocess.Popen[bytes]:
    env = {
        **os.environ,
        "HKCANTO_DATA": "sample",
        "OPENAI_API_KEY": "-",
        "LOCAL_API_KEY": "-",
    }
    env.pop("HKCANTO_DATA_DIR", None)
    log = (folder / "log.txt").open("ab")
    return subprocess.Popen(
        [sys.executable, "-m", *command], cwd=folder, env=env, stdout=log, stderr=log
    )


def kill_at_half(process: subprocess.Popen[bytes], server: RecordingServer) -> None:
    while len(server.requests) < COUNT // 2:
        assert process.poll() is None, "it ended before half of its requests"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()


def finish(process: subprocess.Popen[bytes], folder: Path) -> None:
    assert process.wait(timeout=300) == 0, (folder / "log.txt").read_text("utf-8")[
        -3000:
    ]


def repeated(server: RecordingServer) -> int:
    asked = Counter(
        json.dumps(each.get("prompt") or each["messages"]) for each in server.requests
    )
    assert len(asked) == COUNT
    return len(server.requests) - COUNT


@pytest.mark.slow
@pytest.mark.usefixtures("lean_lm_eval")
def test_lm_eval_takes_up_a_run_from_its_cache(tmp_path: Path) -> None:
    def command(server: RecordingServer, *more: str) -> list[str]:
        model = (
            f"model=letters,base_url={server.url}/completions,tokenized_requests=False"
        )
        tokenizer = "tokenizer_backend=None"
        given = [
            "lm_eval",
            "--model",
            "local-completions",
            "--model_args",
            f"{model},{tokenizer}",
        ]
        return [*given, "--tasks", "hkmmlu", "--output_path", "out", *more]

    def figures(folder: Path) -> Any:
        (results,) = folder.glob("out/**/results_*.json")
        return json.loads(results.read_text("utf-8"))["results"]["hkmmlu"]

    whole, halved = tmp_path / "whole", tmp_path / "halved"
    for folder in (whole, halved):
        folder.mkdir()
    with recording() as server:
        finish(start(whole, *command(server)), whole)
    with recording() as server:
        kill_at_half(
            start(halved, *command(server, "--use_cache", "cache/run")), server
        )
        finish(start(halved, *command(server, "--use_cache", "cache/run")), halved)
        assert repeated(server) <= max(1, MOST_REPEATED * COUNT)
    assert figures(halved) == figures(whole)


@pytest.mark.slow
def test_inspect_takes_up_a_run_from_its_log(tmp_path: Path) -> None:
    def command(server: RecordingServer) -> list[str]:
        model = ["--model", "openai-api/local/letters", "--model-base-url", server.url]
        return ["inspect_ai", "eval", "hkcanto/hkmmlu", *model, "--log-dir", "logs",
                "--log-buffer", "1", "--max-connections", "1", "--display", "plain"]  # fmt: skip

    def figures(path: Path) -> dict[str, float]:
        log = read_eval_log(str(path), header_only=True)
        assert log.status == "success"
        assert log.results is not None
        return {
            name: each.value for name, each in log.results.scores[0].metrics.items()
        }

    whole, halved = tmp_path / "whole", tmp_path / "halved"
    for folder in (whole, halved):
        folder.mkdir()
    with recording() as server:
        finish(start(whole, *command(server)), whole)
    with recording() as server:
        kill_at_half(start(halved, *command(server)), server)
        (log,) = halved.glob("logs/*.eval")
        again = [
            "inspect_ai",
            "eval-retry",
            str(log),
            "--log-dir",
            "logs",
            "--display",
            "plain",
        ]
        finish(start(halved, *again), halved)
        assert repeated(server) <= max(1, MOST_REPEATED * COUNT)
    (one,) = whole.glob("logs/*.eval")
    (two,) = set(halved.glob("logs/*.eval")) - {log}
    assert figures(two) == figures(one)


def test_a_response_in_lm_evals_cache_is_not_asked_for_again(tmp_path: Path) -> None:
    asked: list[str] = []

    def reply(prompt: str) -> str:
        asked.append(prompt)
        return "答案：A"

    def figures(items: int) -> Any:
        cache = str(tmp_path / "run")
        model = AnsweringLM(reply)
        done = evaluate("hkmmlu", model=model, limit=items, use_cache=cache)
        return done["results"]["hkmmlu"]["acc,none"]

    figures(2)
    assert len(asked) == 2
    resumed = figures(6)
    assert len(asked) == len(set(asked)) == 6
    targets = [each.target for each in load_task("hkmmlu").samples]
    assert resumed == pytest.approx(targets[:6].count("A") / 6)
