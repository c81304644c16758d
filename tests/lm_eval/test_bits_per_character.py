"""`_bpc` variants through lm-eval's command, with a model that gives every byte three bits."""

import json
import subprocess
import sys
from math import log
from pathlib import Path
from typing import Any

import pytest
from lm_eval.api.instance import Instance

from hkcanto_tasks import load_task, read_runs

from ..answering import AnsweringLM
from .evaluating import evaluate

THREE_BITS = """
import math
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model
from hkcanto_lm_eval._autoload import install

@register_model("three-bits")
class ThreeBits(LM):
    tokenizer_name = "three-bits"

    def __init__(self, **_):
        super().__init__()

    def loglikelihood(self, requests, **_):
        return [(-3 * math.log(2) * len(each.args[1].encode()), False) for each in requests]

    generate_until = loglikelihood_rolling = None

install()
from lm_eval.__main__ import cli_evaluate
cli_evaluate()
"""


DECLARED = """
name = "readings"
title = "Readings"
[data]
[prompts.plain]
question = "{sentence}\\n"
[[tasks]]
name = "readings"
title = "Readings"
kind = "g2p"
files = "test.csv"
variants = [ { suffix = "bpc", scoring = "loglikelihood" } ]
"""


@pytest.mark.slow
def test_bits_of_the_right_answers_are_pooled_over_their_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HKCANTO_DATA", "sample")
    names = ("hkcanto_g2p_bpc", "hkcanto_translation_zh_yue_bpc")
    arguments = ["--model", "three-bits", "--tasks", ",".join(names), "--log_samples"]
    command = [
        sys.executable,
        "-c",
        THREE_BITS,
        *arguments,
        "--output_path",
        str(tmp_path),
    ]
    subprocess.run(command, check=True, capture_output=True)
    (file,) = tmp_path.rglob("results_*.json")
    results = json.loads(file.read_text("utf-8"))["results"]
    targets = [sample.target for sample in load_task(names[1]).samples]
    size = sum(len(target.encode()) for target in targets)
    expected = {
        names[0]: 3.0,
        names[1]: 3 * size / sum(map(len, targets)),
    }  # Jyutping is ASCII
    frame = read_runs(tmp_path).to_frame()
    assert dict(zip(frame["task"], frame["value"], strict=True)) == pytest.approx(
        expected
    )
    for name, value in expected.items():
        assert results[name]["bits_per_character,none"] == pytest.approx(
            value, abs=1e-12
        ), name


class EightBits(AnsweringLM):
    """Gives every answer eight bits, whatever its length."""

    def loglikelihood(
        self, requests: list[Instance], **_: Any
    ) -> list[tuple[float, bool]]:
        return [(-8 * log(2), False) for _ in requests]


def test_bits_are_pooled_and_long_answers_weigh_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "benchmark.toml").write_text(DECLARED, "utf-8")
    rows = "number,sentence,jyutping\n1,你,nei5\n2,今日,gam1 jat6\n"
    (tmp_path / "test.csv").write_text(rows, "utf-8")
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))
    results = evaluate("readings_bpc", model=EightBits())["results"]["readings_bpc"]
    # 16 bits of 4 + 9 characters, and not the mean of 8/4 and 8/9.
    assert results["bits_per_character,none"] == pytest.approx(16 / 13)
