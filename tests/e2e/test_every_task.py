"""A model of Transformers runs every kind of task, two items each, through both command lines."""

import json
from pathlib import Path

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log

from hkcanto_tasks.catalogue import find_task

from .conftest import INSPECT, LM_EVAL

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_every_kind_of_task_in_lm_eval(lm_eval_logs_of_model: Path) -> None:
    (written,) = lm_eval_logs_of_model.glob("out/**/results_*.json")
    results = json.loads(written.read_text("utf-8"))
    for task in LM_EVAL:
        signature = results["configs"][task]["metadata"]["signature"]
        named = find_task(task)
        assert signature.startswith(f"{named.whole}|".replace("_", "-"))
        assert ("|subjects:" in signature) == (named.scope != "task")
        assert any(key.endswith(",none") for key in results["results"][task])


def test_every_kind_of_task_in_inspect(inspect_logs_of_model: Path) -> None:
    logs = [
        read_eval_log(info)
        for info in list_eval_logs(str(inspect_logs_of_model / "logs"))
    ]
    assert {log.eval.task.removeprefix("hkcanto/") for log in logs} == set(INSPECT)
    for log in logs:
        assert log.status == "success"
        assert len(log.samples or []) == 2
