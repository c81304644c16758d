"""The kind `g2p` in both harnesses: how the error rates of sentences are pooled."""

import json
from collections.abc import Iterable
from pathlib import Path

import jiwer
import pytest

from hkcanto import tasks
from hkcanto_metrics.g2p import score_jyutping
from hkcanto_metrics.jyutping import parse_answer
from hkcanto_tasks import read_runs
from hkcanto_tasks.errors import HKCantoError
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.tasks import load_task, task_as_run

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


def declare(
    folder: Path, monkeypatch: pytest.MonkeyPatch, pairs: Iterable[tuple[str, str]]
) -> None:
    """Declare a benchmark of sentences with their Jyutping."""
    home = folder / "readings"
    home.mkdir()
    (home / "benchmark.toml").write_text(DECLARED, "utf-8")
    rows = [
        {"number": number, "sentence": sentence, "jyutping": target}
        for number, (sentence, target) in enumerate(pairs, start=1)
    ]
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    (home / "test.jsonl").write_text("".join(lines), "utf-8")
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(home))


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    declare(tmp_path, monkeypatch, ((sentence, target) for sentence, target, _ in ROWS))
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


WRITTEN = (
    ("nei5 hou2, zou2 san4!", "nei5 hou2, zou2 san4!"),
    ("Hoeng1 gong2", "Hoeng1 gong2"),
    ("sei3-sap6", "sei3-sap6"),
    ("nei⁵", "nei⁵"),
    ("nei5hou2", "nei5hou2"),
    ("nei5  hou2？", "nei5 hou2"),
    ("(ze2 | ze5) jan4", "ze5 jan4"),
    ("(ng)aam1", "aam1"),
    ("ＮＥＩ５ (ge3)", "nei5"),
)


def test_every_gold_string_that_loads_can_be_won(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is written, an echo of these got a published CER of 0.33 to 1."""
    golds = [(f"第{n}句", gold) for n, (gold, _) in enumerate(WRITTEN)]
    declare(tmp_path, monkeypatch, golds)
    answer = by_word((f"第{n}句", text) for n, (_, text) in enumerate(WRITTEN))
    run_lm_eval(tmp_path / "logs", "readings", model=AnsweringLM(answer))
    run_inspect(tmp_path / "logs", tasks.run(task="readings"), answering_model(answer))
    runs = read_runs(tmp_path / "logs")
    assert {run.harness for run in runs} == {"lm-eval", "inspect"}
    for run in runs:
        for name in ("cer_published", "levenshtein_published", "cer", "ser"):
            assert not run.items.values[name].any(), (run.harness, name)


@pytest.mark.parametrize(
    "gold", ["T seot1", "ze2/ze5", "nei5 hou2 7", "(nei5, lei5)", "nei 5", "hóu2", "好"]
)
def test_gold_that_no_response_could_match_is_refused(
    gold: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(tmp_path, monkeypatch, [("你好", "nei5 hou2"), ("乜", gold)])
    with pytest.raises(HKCantoError, match=r"Jyutping that is malformed.*\(ze2\|ze5\)"):
        load_task("readings")


@pytest.mark.realdata
def test_the_releases_gold_strings_stay_as_written() -> None:
    samples = {item.id: item.target for item in load_task("hkcanto_g2p").samples}
    # Two of 145 have an untoned alternative, or one that is optional: the release's scorer gives
    # no response a CER of 0.
    lowest = [
        min(
            score_jyutping(" ".join(each), gold).cer_published
            for each in parse_answer(gold)
        )
        for gold in samples.values()
    ]
    assert sorted(round(value, 3) for value in lowest)[-3:] == [0.0, 0.034, 0.333]


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
