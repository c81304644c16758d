"""Translation, summaries, sentiment and fluency in Inspect, with and without a judge."""

import json
import re
from operator import mul
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import sacrebleu
from inspect_ai import eval as inspect_eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from hkcanto import tasks
from hkcanto_tasks.results.logs import read_runs
from hkcanto_tasks.results.statistics.estimates import harness_agreement

from ..cases import named
from ..lm_eval.evaluating import evaluate
from ..lm_eval.test_writing import WritingLM
from ..unwatched import UNWATCHED


def model(text: str, then: str = "") -> Any:
    """Return a model that answers with a text, or with others if asked the same again."""
    seen: set[str] = set()

    def respond(messages: list[Any], *_: Any) -> ModelOutput:
        question = messages[-1].text
        output = ModelOutput.from_content(
            "mockllm", then if then and question in seen else text
        )
        seen.add(question)
        output.usage = ModelUsage()
        return output

    return get_model("mockllm/model", custom_outputs=respond)


def run(task: Any, text: str, folder: Path, then: str = "", **options: Any) -> Any:
    answering = model(text, then)
    (log,) = inspect_eval(
        task, model=answering, log_dir=str(folder), **UNWATCHED, **options
    )
    assert log.status == "success", log.error
    return log


def figures(log: Any) -> dict[str, float]:
    """All figures: those of a task by name, those of a judge by `score/metric`."""
    return {
        name if score.name == "judged" else f"{score.name}/{name}": metric.value
        for score in log.results.scores
        for name, metric in score.metrics.items()
    }


def shown(results: Any, task: str) -> dict[str, float]:
    """The figures of lm-eval's table, without standard errors and repeated rows."""
    return {
        name.removesuffix(",none"): value
        for name, value in results["results"][task].items()
        if name.endswith(",none") and "_stderr" not in name and name[0].islower()
    }


TEXT = "佢話聽日會落雨，記得帶遮。"


def test_corpus_figures_are_lm_evals_and_have_errors(tmp_path: Path) -> None:
    for task, name in [
        (tasks.translation, "hkcanto_translation_zh_yue"),
        (tasks.hkmmlu_translation, "hkmmlu_translation_yue_zh"),
    ]:
        with named(task, name):
            log = run(task(), TEXT, tmp_path)
            assert "tok:zh" in log.eval.metadata["metric_signatures"]["bleu"]
            got = figures(log)
            expected = shown(evaluate(name, model=WritingLM(TEXT)), name)
            headline, error = [*got][:2]
            assert error == f"{headline}_stderr"
            assert got.pop(error) >= 0
            assert got == pytest.approx(expected)
            of_item = log.samples[0].scores["judged"].value
            assert {"empty", "wrong_script", "copied_source"} <= of_item.keys()


def test_corpus_figures_are_of_every_epoch(tmp_path: Path) -> None:
    task, bleu = tasks.hkmmlu_translation, sacrebleu.metrics.BLEU(tokenize="zh")
    once = run(task(), TEXT, tmp_path / "once")
    alike = figures(run(task(), TEXT, tmp_path / "alike", epochs=2))
    for name in ("chrf", "rouge_l", "meteor", "overgenerated"):
        assert alike[name] == pytest.approx(figures(once)[name])
    # Not 0.7 times as large, as if there were twice as many sentences.
    assert alike["mean_stderr"] == pytest.approx(figures(once)["mean_stderr"], rel=0.1)
    both = run(task(), TEXT, tmp_path / "other", then="落雨就帶遮。", epochs=2)
    responses = [sample.output.completion for sample in both.samples]
    assert len({*responses}) == 2
    expected = bleu.corpus_score(
        responses, [[sample.target for sample in both.samples]]
    ).score
    assert figures(both)["bleu"] == pytest.approx(expected)
    assert expected != pytest.approx(figures(once)["bleu"], abs=1e-4)
    (read,) = read_runs([tmp_path / "other"])
    checked = harness_agreement(read)
    assert checked.equal > 5
    assert not checked.different


def test_rates_pool_the_responses_of_every_epoch(tmp_path: Path) -> None:
    log = run(
        tasks.fluency(), TEXT, tmp_path, then="他們說佢唔喺度。", epochs=2, limit=3
    )
    scores = [sample.scores["judged"] for sample in log.samples]
    features = [
        score.metadata["judgement"]["weights"]["cantonese_ratio"] for score in scores
    ]
    ratios = [score.value["cantonese_ratio"] for score in scores]
    assert len({*features}) == len({*ratios}) == 2
    pooled = sum(map(mul, ratios, features)) / sum(features)
    assert pooled != pytest.approx(fmean(ratios), abs=0.01)
    assert figures(log)["cantonese_ratio"] == pytest.approx(pooled, abs=1e-12)
    (read,) = read_runs(tmp_path)
    assert not harness_agreement(read).different


def test_fluency_and_sentiment_are_lm_evals(tmp_path: Path) -> None:
    for task, name, text in (
        (tasks.fluency, "hkcanto_fluency", TEXT),
        (tasks.summarization, "hkcanto_summarization", TEXT),
        (tasks.sentiment, "hkcanto_sentiment", "Positive"),
    ):
        got = figures(run(task(), text, tmp_path))
        got.pop([*got][1])
        assert got == pytest.approx(shown(evaluate(name, model=WritingLM(text)), name))


def code(messages: list[Any]) -> str:
    """The code in the judge's prompt, which a judgement must repeat."""
    found = re.search(
        r"\b[0-9a-f]{16}\b", "".join(message.text for message in messages)
    )
    assert found, "the judge's prompt has no code"
    return found[0]


def test_a_judge_that_finds_nothing_gives_a_perfect_score(tmp_path: Path) -> None:
    def judge(messages: list[Any], *_: Any) -> ModelOutput:
        verdict = {"code": code(messages), "errors": []}
        output = ModelOutput.from_content("mockllm", json.dumps(verdict))
        output.usage = ModelUsage()
        return output

    grader = get_model("mockllm/grader", custom_outputs=judge)
    log = run(
        tasks.translation(direction="zh_yue", judge=True),
        TEXT,
        tmp_path,
        model_roles={"grader": grader},
        limit=2,
    )
    got = figures(log)
    assert got["judge_failure_rate/mean"] == 0, log.samples[0].scores
    assert got["judged_accuracy/mean"] == 1
    assert "chrf" in got


def test_a_judge_that_does_not_answer_is_a_judge_failure_not_a_bad_translation(
    tmp_path: Path,
) -> None:
    log = run(
        tasks.summarization(judge=True),
        TEXT,
        tmp_path,
        model_roles={"grader": model("I refuse.")},
        limit=1,
    )
    got = figures(log)
    assert got["judge_failure_rate/mean"] == 1
    assert got["fluent"] == 1


def test_a_judge_is_shown_the_text_that_the_other_figures_are_of(
    tmp_path: Path,
) -> None:
    """With room for reasoning, no stop text cuts off text like the next item."""
    for options, stops in [({}, True), ({"reasoning": True}, False)]:
        with named(options, stops):
            log = run(
                tasks.summarization(judge=True, **options),
                f"{TEXT}\n文本（原文）：係咁講。",
                tmp_path,
                model_roles={"grader": model("I refuse.")},
                limit=1,
            )
            scores = log.samples[0].scores
            assert scores["judged_summary"].answer == scores["judged"].answer
            assert (scores["judged"].answer == TEXT) == stops
