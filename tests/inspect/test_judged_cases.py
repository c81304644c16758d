"""Made-up items through Inspect: judgements use all fields of an item, and every item has the
paper's weight in the headline.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import Any

import msgspec
import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from hkcanto import building, tasks
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.tasks import LoadedTask, load_task, task_as_run

from ..cases import named
from ..judged_cases import EXAMPLES, JUDGED_CASES
from ..unwatched import UNWATCHED

EXACT = 1e-12

Judge = Callable[..., Any]


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Judge:
    """Return a function that runs a task on our own samples, with the same response to all."""
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(EXAMPLES))
    monkeypatch.setenv("HKCANTO_CACHE", str(tmp_path / "cache"))

    def run(task: str, samples: Sequence[Sample], response: str, **options: Any) -> Any:
        def load(*arguments: Any, **more: Any) -> LoadedTask:
            return replace(load_task(*arguments, **more), samples=samples)

        def respond(*_: Any) -> ModelOutput:
            output = ModelOutput.from_content("mockllm", response)
            output.usage = (
                ModelUsage()
            )  # without it, Inspect counts tokens with a download
            return output

        monkeypatch.setattr(building, "load_task", load)
        (log,) = inspect_eval(
            tasks.run(task=task, **options),
            model=get_model("mockllm/model", custom_outputs=respond),
            log_dir=str(tmp_path),
            **UNWATCHED,
        )
        assert log.status == "success", log.error
        return log

    return run


def test_a_response_is_judged_with_the_whole_item(judge: Judge) -> None:
    for case in JUDGED_CASES:
        with named(case):
            (sample,) = judge(case.task, [case.sample], case.response).samples
            score = sample.scores["judged"]
            assert {name: score.value[name] for name in case.values} == pytest.approx(
                case.values
            )
            assert score.answer == case.answer
            judgement = score.metadata["judgement"]
            assert (judgement["values"], judgement.get("answer", "")) == (
                score.value,
                case.answer,
            )
            for name, weight in case.weights.items():
                assert judgement["weights"][name] == weight
            assert msgspec.convert(sample.metadata, Sample) == case.sample
            own = {*msgspec.structs.asdict(case.sample)}
            assert sample.metadata.keys() - own == {
                "task",
                "options",
                "fingerprint",
                "request",
            }
            assert sample.metadata["task"] == case.task
            assert re.fullmatch("[0-9a-f]{8}", sample.metadata["fingerprint"])
            assert (sample.id, sample.target) == (case.sample.id, case.sample.target)


def test_without_the_decisive_field_the_judgement_would_be_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for case in [case for case in JUDGED_CASES if case.decisive]:
        with named(case):
            monkeypatch.setenv("HKCANTO_BENCHMARKS", str(EXAMPLES))
            lost: Any = () if case.decisive == "choices" else ""
            sample = msgspec.structs.replace(case.sample, **{case.decisive: lost})
            found = task_as_run(case.task).judge(case.response, sample)
            values = {name: found.values[name] for name in case.values}
            assert (values, found.answer) != (case.values, case.answer)


def items(
    task: str, subject: str, right: int, wrong: int, answers: Sequence[str] = "AB"
) -> list[Sample]:
    """Return items of a subject: the answer is the first of two options, and in some it is not."""
    targets = [answers[0]] * right + [answers[1]] * wrong
    category = task_as_run(task).subject(subject).category
    return [
        Sample(
            id=f"{task}/{subject}/{number}",
            subject=subject,
            category=category,
            parts=(category,) if category else (),
            question="邊個啱？",
            choices=("甲", "乙", "丙", "丁"),
            source="幾好食。",
            target=target,
        )
        for number, target in enumerate(targets, start=1)
    ]


def check_headline(
    log: Any, name: str, expected: float, micro: float
) -> dict[str, float]:
    """Check the headline, which differs from a mean with equal weights for all questions."""
    (judged,) = log.results.scores
    figures = {name: metric.value for name, metric in judged.metrics.items()}
    assert log.results.headline.metric == name
    assert [*figures][:2] == [name, f"{name}_stderr"]
    assert figures[name] == pytest.approx(expected, abs=EXACT)
    assert figures["acc"] == pytest.approx(micro, abs=EXACT)
    assert abs(expected - micro) > 0.01
    return figures


def test_the_headline_of_culture_is_the_mean_over_subjects_of_unlike_size(
    judge: Judge,
) -> None:
    task = "hkcanto_cultural"
    asked = [
        *items(task, "food", 3, 1),
        *items(task, "life_in_hk", 1, 1),
        *items(task, "local_knowledge", 0, 1),
    ]
    log = judge(task, asked, "A")
    figures = check_headline(log, "acc_macro", (3 / 4 + 1 / 2 + 0) / 3, micro=4 / 7)
    # Variances: 1/4 for three of four right, 1/2 for one of two; a single item adds nothing.
    error = sqrt((1 / 4 / 4 + 1 / 2 / 2) / 9)
    assert figures["acc_macro_stderr"] == pytest.approx(error, abs=EXACT)


def test_the_headline_of_sentiment_is_the_mean_over_both_sources(judge: Judge) -> None:
    task, labels = "hkcanto_sentiment", ("Positive", "Negative")
    asked = [
        *items(task, "openrice", 1, 2, labels),
        *items(task, "facebook", 1, 0, labels),
    ]
    log = judge(task, asked, "Positive")
    check_headline(log, "acc_macro", (1 / 3 + 1) / 2, micro=2 / 4)


SOCIAL_SCIENCES = (("economics", 1, 1), ("geography_of_taiwan", 1, 0))


def test_the_headline_of_tmmluplus_is_the_mean_over_categories_of_those_over_subjects(
    judge: Judge,
) -> None:
    task = "tmmluplus_gen"
    counts = (*SOCIAL_SCIENCES, ("logic_reasoning", 1, 3))
    asked = [item for each in counts for item in items(task, *each)]
    log = judge(task, asked, "A")
    expected = ((1 / 2 + 1) / 2 + 1 / 4) / 2
    figures = check_headline(log, "acc_category_macro", expected, micro=3 / 7)
    assert figures["acc_social_sciences"] == pytest.approx(3 / 4, abs=EXACT)
    assert figures["acc_other"] == pytest.approx(1 / 4, abs=EXACT)


def test_the_headline_of_a_category_is_the_mean_over_its_subjects(judge: Judge) -> None:
    for name, options in [
        ("tmmluplus_gen_social_sciences", {}),
        ("tmmluplus_gen", {"subjects": "social_sciences"}),
    ]:
        with named(name, options):
            asked = [
                item
                for counts in SOCIAL_SCIENCES
                for item in items("tmmluplus_gen", *counts)
            ]
            log = judge(name, asked, "A", **options)
            check_headline(log, "acc_macro", (1 / 2 + 1) / 2, micro=2 / 3)
