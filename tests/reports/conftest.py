"""Logs of the real harnesses on the sample data, with the same answers in both."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="session")
def lm_eval_logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """lm-eval on g2p, HKMMLU, culture and translation, and on TMMLU+ by log-likelihood."""
    from .harness_runs import run_lm_eval

    folder = tmp_path_factory.mktemp("lm_eval_logs")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HKCANTO_DATA_DIR", raising=False)
        patch.setenv("HKCANTO_DATA", "sample")
        run_lm_eval(
            folder, "hkcanto_g2p", model="hkcanto-g2p", model_args="engine=pycantonese"
        )
        tasks = (
            "hkmmlu",
            "hkcanto_cultural",
            "hkcanto_translation_zh_yue",
            "tmmluplus_gen_mc",
        )
        run_lm_eval(folder, *tasks)
    return folder


@pytest.fixture(scope="session")
def inspect_logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Inspect on g2p, HKMMLU, translation, on culture as `.json`, on TMMLU+ in two epochs."""
    from hkcanto import tasks

    from .harness_runs import run_inspect

    folder = tmp_path_factory.mktemp("inspect_logs")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HKCANTO_DATA_DIR", raising=False)
        patch.setenv("HKCANTO_DATA", "sample")
        run_inspect(folder, tasks.g2p(), model="hkcanto/pycantonese")
        run_inspect(folder, tasks.hkmmlu())
        run_inspect(folder, tasks.translation())
        run_inspect(folder, tasks.cultural(), log_format="json")
        run_inspect(folder, tasks.tmmluplus(shots=2), epochs=2)
    return folder
