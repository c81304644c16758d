"""The kind `g2p` in both harnesses: how the error rates of sentences are pooled."""

import json
from pathlib import Path

import jiwer
import pytest

from hkcanto import tasks
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.tasks import task_as_run

from .answering import by_word
from .reports.harness_runs import (
    AnsweringLM,
    answering_model,
    figures_alike,
    run_inspect,
    run_lm_eval,
)

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
files = "test.jsonl"
"""
# Sentence, target, response: a short one that is half wrong, a long one that is nearly right.
ROWS = (
    ("你好", "nei5 hou2", "lei5 hou2"),
    ("今日天氣好好", "gam1 jat6 tin1 hei3 hou2 hou2", "gam1 jat6 tin1 hei3 hou2 hou3"),
)


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "readings"
    home.mkdir()
    (home / "benchmark.toml").write_text(DECLARED, "utf-8")
    rows = [
        {"number": number, "sentence": sentence, "jyutping": target}
        for number, (sentence, target, _) in enumerate(ROWS, start=1)
    ]
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    (home / "test.jsonl").write_text("".join(lines), "utf-8")
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(home))
    answer = by_word((sentence, response) for sentence, _, response in ROWS)
    run_lm_eval(tmp_path / "logs", "readings", model=AnsweringLM(answer))
    run_inspect(tmp_path / "logs", tasks.run(task="readings"), answering_model(answer))
    return tmp_path / "logs"


def test_both_harnesses_pool_errors_over_all_sentences(logs: Path) -> None:
    figures = figures_alike(logs)
    targets = [target for _, target, _ in ROWS]
    responses = [response for _, _, response in ROWS]
    # 1 wrong of 9 characters, then 1 of 29: 2/38, and not the mean of 1/9 and 1/29.
    assert jiwer.cer(targets, responses) == pytest.approx(2 / 38)
    assert figures["cer"] == pytest.approx(2 / 38)
    assert figures["ser"] == pytest.approx(jiwer.wer(targets, responses))
    # One tone of eight aligned syllables is wrong: hou3 for hou2.
    assert figures["tone_error_rate"] == pytest.approx(1 / 8)


def test_a_rate_weighs_as_much_as_what_it_counts() -> None:
    target = "gam1 jat6 tin1 hei3"
    item = Sample(id="", source="今日天氣", target=target)
    # The last syllable is missing, and the second has another onset.
    judgement = task_as_run("hkcanto_g2p").judge("gam1 lat6 tin1", item)
    assert judgement.weights == {
        "cer": len(target),  # characters of the target, with blanks
        "ser": 4,  # syllables of the target
        "tone_error_rate": 3,  # syllables that have a partner
        "onset_error_rate": 3,
        "nucleus_error_rate": 3,
        "coda_error_rate": 3,
    }
    assert judgement.values["onset_error_rate"] == pytest.approx(1 / 3)
    assert judgement.values["tone_error_rate"] == 0
