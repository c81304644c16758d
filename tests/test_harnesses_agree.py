"""The same answers get the same scores in both harnesses, item by item."""

from typing import Any

import pytest


def test_a_rule_engine_scores_alike(lm_eval_sample_run: Any, inspect_sample_run: Any) -> None:
    in_lm_eval = {sample["doc"]["id"]: sample for sample in lm_eval_sample_run.samples}
    in_inspect = {sample.id: sample for sample in inspect_sample_run.log.samples}
    assert in_lm_eval.keys() == in_inspect.keys()
    for id_, sample in in_inspect.items():
        for name, value in sample.scores["judged"].value.items():
            assert value == pytest.approx(in_lm_eval[id_][name]), (id_, name)


def test_the_prompts_are_the_same_text(lm_eval_sample_run: Any, inspect_sample_run: Any) -> None:
    in_lm_eval = {
        sample["doc"]["id"]: sample["arguments"]["gen_args_0"]["arg_0"]
        for sample in lm_eval_sample_run.samples
    }
    for sample in inspect_sample_run.log.samples:
        assert "".join(message.text for message in sample.input) == in_lm_eval[sample.id]


def test_the_aggregates_are_the_same(lm_eval_sample_run: Any, inspect_sample_run: Any) -> None:
    in_lm_eval = lm_eval_sample_run.results["results"]["hkcanto_g2p"]
    for score in inspect_sample_run.log.results.scores:
        metrics = score.metrics
        value = metrics["mean" if "mean" in metrics else "hkcanto/rate"].value
        assert value == pytest.approx(in_lm_eval[f"{score.name},none"]), score.name
