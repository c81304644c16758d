"""The items of `judged_cases` through lm-eval: judgements use all fields of an item."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

import hkcanto_lm_eval.before_model
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.tasks import LoadedTask, load_task

from ..cases import named
from ..judged_cases import EXAMPLES, JUDGED_CASES, JudgedCase
from ..reports.harness_runs import AnsweringLM
from .evaluating import evaluate


def test_a_response_is_judged_with_the_whole_item(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for case in JUDGED_CASES:
        with named(case):
            monkeypatch.setenv("HKCANTO_BENCHMARKS", str(EXAMPLES))

            def load(
                *arguments: Any, case: JudgedCase = case, **more: Any
            ) -> LoadedTask:
                return replace(load_task(*arguments, **more), samples=[case.sample])

            monkeypatch.setattr(hkcanto_lm_eval.before_model, "load_task", load)
            results = evaluate(
                case.task, model=AnsweringLM(lambda _, case=case: case.response)
            )
            (logged,) = results["samples"][case.task]
            judgement = logged["doc"]["judgement"]
            values = {name: judgement["values"][name] for name in case.values}
            assert values == pytest.approx(case.values)
            assert judgement.get("answer", "") == case.answer
            for name, weight in case.weights.items():
                assert judgement["weights"][name] == weight
            assert msgspec.convert(logged["doc"], Sample) == case.sample
            for name, value in case.values.items():
                if name in logged:  # also in the printed table
                    assert logged[name] == pytest.approx(value)
