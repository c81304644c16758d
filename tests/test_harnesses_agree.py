"""The same answers get the same scores in both harnesses, item by item."""

from pathlib import Path
from typing import Any

import pytest

from hkcanto import tasks

from .answering import AnsweringLM
from .inspect.test_multiple_choice import run as run_in_inspect
from .lm_eval.evaluating import evaluate


@pytest.mark.slow
def test_a_rule_engine_scores_alike(
    lm_eval_sample_run: Any, inspect_sample_run: Any
) -> None:
    in_lm_eval = {sample["doc"]["id"]: sample for sample in lm_eval_sample_run.samples}
    in_inspect = {sample.id: sample for sample in inspect_sample_run.log.samples}
    assert in_lm_eval.keys() == in_inspect.keys()
    for id_, sample in in_inspect.items():
        score = sample.scores["judged"]
        judgement = in_lm_eval[id_]["doc"]["judgement"]
        assert score.value == judgement["values"], id_
        assert score.metadata["judgement"] == judgement, id_
        assert score.answer == judgement["answer"], id_


@pytest.mark.slow
def test_the_prompts_are_the_same_text(
    lm_eval_sample_run: Any, inspect_sample_run: Any
) -> None:
    in_lm_eval = {
        sample["doc"]["id"]: sample["arguments"]["gen_args_0"]["arg_0"]
        for sample in lm_eval_sample_run.samples
    }
    for sample in inspect_sample_run.log.samples:
        assert (
            "".join(message.text for message in sample.input) == in_lm_eval[sample.id]
        )


@pytest.mark.slow
def test_the_aggregates_are_the_same(
    lm_eval_sample_run: Any, inspect_sample_run: Any
) -> None:
    in_lm_eval = lm_eval_sample_run.results["results"]["hkcanto_g2p"]
    (judged,) = inspect_sample_run.log.results.scores
    in_inspect = {name: metric.value for name, metric in judged.metrics.items()}
    assert len(in_inspect) > 5
    error = in_inspect.pop("cer_published_stderr")
    assert error == pytest.approx(in_lm_eval["cer_published_stderr,none"])
    for name, value in in_inspect.items():
        assert value == pytest.approx(in_lm_eval[f"{name},none"], abs=1e-12), name


SLOW_CHOICE = [
    pytest.param(task, marks=pytest.mark.slow)
    for task in ("hkmmlu", "hkmmlu_cot", "tmmluplus_gen", "hkcanto_sentiment")
]
CHOICE = ["hkcanto_cultural", *SLOW_CHOICE]
SLOW_WRITING = [
    pytest.param(task, marks=pytest.mark.slow)
    for task in ("hkcanto_g2p", "hkcanto_translation_zh_yue")
]


def ids_in_lm_eval(task: str, **options: Any) -> list[str]:
    samples = evaluate(task, model=AnsweringLM(), **options)["samples"][task]
    return [sample["doc"]["id"] for sample in samples]


@pytest.mark.parametrize("task", [*CHOICE, *SLOW_WRITING])
def test_the_items_are_asked_in_the_same_order(task: str) -> None:
    in_inspect = [sample.id for sample in tasks.run(task=task).dataset]
    assert ids_in_lm_eval(task) == in_inspect


@pytest.mark.parametrize("task", CHOICE)
def test_a_limit_takes_the_same_items(task: str, tmp_path: Path) -> None:
    log = run_in_inspect(tasks.run(task=task), tmp_path, limit=20)
    in_inspect = {sample.id for sample in log.samples}
    assert len(in_inspect) == min(20, log.eval.dataset.samples)
    assert in_inspect == set(ids_in_lm_eval(task, limit=20))


@pytest.mark.slow
def test_the_prompts_of_every_subject_are_the_same_text(tmp_path: Path) -> None:
    """With worked examples, which are from the item's own subject in both."""
    task = tasks.run(task="tmmluplus_gen", shots=2)
    results = evaluate("tmmluplus_gen", model=AnsweringLM(), num_fewshot=2)
    in_lm_eval = {
        sample["doc"]["id"]: sample["arguments"][0][0]
        for sample in results["samples"]["tmmluplus_gen"]
    }
    in_inspect = {
        sample.id: "".join(message.text for message in sample.input)
        for sample in run_in_inspect(task, tmp_path).samples
    }
    assert in_inspect == in_lm_eval


@pytest.mark.slow
def test_a_version_is_that_of_the_task_in_both(
    lm_eval_sample_run: Any, inspect_sample_run: Any
) -> None:
    version = lm_eval_sample_run.results["versions"]["hkcanto_g2p"]
    signature = lm_eval_sample_run.results["configs"]["hkcanto_g2p"]["metadata"][
        "signature"
    ]
    assert inspect_sample_run.log.eval.task_version == version
    assert inspect_sample_run.log.eval.metadata["signature"] == signature
    assert f"|v:{version}|pkg:" in signature
