"""Multiple choice in Inspect: the letters of lm-eval, item by item, and the papers' averages."""

from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai import eval_set
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from hkcanto import tasks
from hkcanto_tasks.catalogue import find_task

from ..answering import AnsweringLM, answer
from ..lm_eval.evaluating import evaluate


def answering_model(letters: str = "ABCD") -> Any:
    def respond(messages: list[Any], *_: Any) -> ModelOutput:
        text = answer("".join(message.text for message in messages), letters)
        output = ModelOutput.from_content("mockllm", text)
        output.usage = ModelUsage()
        return output

    return get_model("mockllm/model", custom_outputs=respond)


def run(task: Any, folder: Path, **options: Any) -> Any:
    (log,) = inspect_eval(
        task, model=answering_model(), log_dir=str(folder), display="none", **options
    )
    assert log.status == "success", log.error
    return log


def metrics(log: Any, score: str = "acc") -> dict[str, float]:
    (found,) = [entry for entry in log.results.scores if entry.name == score]
    return {name: metric.value for name, metric in found.metrics.items()}


@pytest.mark.parametrize(
    ("inspect_task", "lm_eval_task"),
    [
        (tasks.hkmmlu, "hkmmlu"),
        (tasks.tmmluplus, "tmmluplus_gen"),
        (tasks.cultural, "hkcanto_cultural"),
        (tasks.mmlu, "hkcanto_mmlu_yue"),
    ],
)
def test_letters_and_scores_are_lm_evals(
    inspect_task: Any, lm_eval_task: str, tmp_path: Path
) -> None:
    log = run(inspect_task(), tmp_path)
    results = evaluate(lm_eval_task, model=AnsweringLM())
    in_lm_eval = {s["doc"]["id"]: s for of_task in results["samples"].values() for s in of_task}
    assert {sample.id for sample in log.samples} == in_lm_eval.keys()
    for sample in log.samples:
        score = sample.scores["judged"]
        assert score.value["acc"] == in_lm_eval[sample.id]["acc"], sample.id
        assert score.value["unparsed_rate"] == in_lm_eval[sample.id]["unparsed_rate"]
    row = results["results"][lm_eval_task]
    assert metrics(log)["mean"] == pytest.approx(row["acc,none"])


def test_tmmluplus_has_the_average_of_averages_as_its_headline(tmp_path: Path) -> None:
    log = run(tasks.tmmluplus(), tmp_path)
    subjects: dict[tuple[str, str], list[float]] = defaultdict(list)
    for sample in log.samples:
        place = (sample.metadata["category"], sample.metadata["subject"])
        subjects[place].append(sample.scores["judged"].value["acc"])
    categories: dict[str, list[float]] = defaultdict(list)
    for (category, _), values in subjects.items():
        categories[category].append(fmean(values))
    expected = fmean(map(fmean, categories.values()))
    assert metrics(log)["hkcanto/category_macro"] == pytest.approx(expected)
    assert log.results.headline.metric == "hkcanto/category_macro"


def test_the_log_has_every_category_subject_and_subset(tmp_path: Path) -> None:
    log = run(tasks.hkmmlu(), tmp_path)
    names = " ".join(metrics(log))
    for part in ("stem", "humanities", "hk_law", "hk_specific", "hkdse", "macro"):
        assert part in names


def test_subjects_shots_and_chain_of_thought_reach_the_prompt(tmp_path: Path) -> None:
    log = run(tasks.hkmmlu(subjects="hk_law,dentistry", shots=1, cot=True, script="sc"), tmp_path)
    assert {sample.metadata["subject"] for sample in log.samples} == {"hk_law", "dentistry"}
    assert log.eval.metadata["signature"].startswith("hkmmlu-cot|shots:1|")
    text = "".join(message.text for message in log.samples[0].input)
    assert "逐步分析并选出正确答案" in text


def test_languages_limit_and_epochs(tmp_path: Path) -> None:
    log = run(tasks.dse(language="en", prompt="en"), tmp_path, limit=3, epochs=2)
    assert len(log.samples) == 6
    assert log.eval.metadata["signature"].startswith("hkcanto-dse-en|shots:5|prompt:en|")


def test_shuffled_choices_are_scored_where_they_went(tmp_path: Path) -> None:
    log = run(tasks.law(shuffle_choices=11), tmp_path)
    for sample in log.samples:
        letter = sample.scores["judged"].answer
        assert sample.scores["judged"].value["acc"] == float(letter == sample.target)


def test_an_eval_set_is_taken_up_again(tmp_path: Path) -> None:
    for _ in range(2):
        done, logs = eval_set(
            [tasks.law()], str(tmp_path), model=answering_model(), display="none", limit=2
        )
        assert done
        assert len(logs) == 1


def test_every_family_has_its_task() -> None:
    names = {
        entry.inspect for name in ("hkcanto_law", "hkmmlu") for entry in [find_task(name).entry]
    }
    assert names <= set(vars(tasks))
