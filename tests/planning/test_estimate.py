"""`hkcanto estimate`: a run's requests and tokens, against independent counts."""

import json
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hkcanto_tasks import load_task
from hkcanto_tasks.cli import app


def estimated(*arguments: str) -> dict[str, dict[str, Any]]:
    """Task → column → value, from the command's output."""
    done = CliRunner().invoke(app, ["estimate", *arguments, "--format", "json"])
    assert done.exit_code == 0, done.output
    return {
        row["task"]: row
        for row in json.loads(done.stdout)["tables"]["estimate"]["rows"]
    }


@pytest.fixture
def a_byte_a_token(tmp_path: Path) -> str:
    """A tokenizer with a token for each byte in UTF-8."""
    tokenizers = pytest.importorskip("tokenizers")
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    made = tokenizers.Tokenizer(
        tokenizers.models.BPE(
            vocab={each: i for i, each in enumerate(alphabet)}, merges=[]
        )
    )
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.save(str(tmp_path / "tokenizer.json"))
    return str(tmp_path / "tokenizer.json")


def test_requests_tokens_and_what_a_prefix_cache_serves(a_byte_a_token: str) -> None:
    row = estimated("hkcanto_law", "--tokenizer", a_byte_a_token)["hkcanto_law"]
    loaded = load_task("hkcanto_law")
    prompts = [loaded.prompt(sample).text() for sample in loaded.samples]
    assert row["requests"] == len(prompts)
    assert row["answer_limit"] == 32
    assert row["prompt_tokens"] == sum(len(text.encode()) for text in prompts)
    served = 0
    for at, text in enumerate(prompts):  # in the order of the requests

        def common(other: str, text: str = text) -> str:
            both = zip(text, other, strict=False)
            return "".join(
                a for a, _ in takewhile(lambda pair: pair[0] == pair[1], both)
            )

        served += max(
            (len(common(other).encode()) for other in prompts[:at]), default=0
        )
    assert row["cacheable"] == pytest.approx(served / row["prompt_tokens"])


def test_hours_and_cost_are_of_the_longest_answers() -> None:
    arguments = ("--speed", "100", "--price-in", "2", "--price-out", "10")
    row = estimated("hkmmlu_cot", *arguments)["hkmmlu_cot"]
    answers = row["requests"] * 1024
    assert row["hours_at_most"] == pytest.approx(
        (row["prompt_tokens"] + answers) / 360_000
    )
    cost = (row["prompt_tokens"] * 2 + answers * 10) / 1e6
    assert row["cost_at_most"] == pytest.approx(cost)


def test_a_log_likelihood_is_a_request_for_each_letter_and_no_answer() -> None:
    rows = estimated("hkcanto_law", "hkcanto_law_mc")
    letters = [
        sum(text is not None for text in s.choices)
        for s in load_task("hkcanto_law").samples
    ]
    assert rows["hkcanto_law_mc"]["requests"] == sum(letters)
    assert rows["hkcanto_law_mc"]["answer_limit"] == 0
    # A prompt is sent for each letter, but only once without a cache that has it.
    news = [row["prompt_tokens"] * (1 - row["cacheable"]) for row in rows.values()]
    assert news[0] == pytest.approx(news[1])
    assert rows["hkcanto_law_mc"]["cacheable"] > 3 / 4


def test_one_price_alone_is_refused() -> None:
    done = CliRunner().invoke(app, ["estimate", "hkcanto_law", "--price-in", "1"])
    assert done.exit_code == 2
    assert "give both prices" in done.output
