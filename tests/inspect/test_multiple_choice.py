"""Multiple choice in Inspect: lm-eval's letters, item by item, and the papers' averages."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai import eval_set
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from hkcanto import tasks
from hkcanto_tasks.catalogue import benchmarks, find_task

from ..answering import AnsweringLM, answer
from ..cases import named
from ..lm_eval.evaluating import evaluate
from ..tasks import by_hand
from ..tasks.by_hand import Item
from ..tasks.small_release import write_hkeval2025
from ..unwatched import UNWATCHED

EXACT = 1e-12
TABLE_1 = (
    *(
        "hkcanto_mmlu_en",
        "hkcanto_dse_en",
        "hkcanto_professional_en",
        "hkcanto_mmlu_yue",
    ),
    *("hkcanto_dse_zh", "hkcanto_professional_zh", "hkcanto_law", "hkcanto_cultural"),
    "hkcanto_cultural_0shot",
)


def answering_model(letters: str = "ABCD") -> Any:
    def respond(messages: list[Any], *_: Any) -> ModelOutput:
        text = answer("".join(message.text for message in messages), letters)
        output = ModelOutput.from_content("mockllm", text)
        output.usage = ModelUsage()
        return output

    return get_model("mockllm/model", custom_outputs=respond)


def run(task: Any, folder: Path, **options: Any) -> Any:
    (log,) = inspect_eval(
        task, model=answering_model(), log_dir=str(folder), **UNWATCHED, **options
    )
    assert log.status == "success", log.error
    return log


def figures(log: Any) -> dict[str, float]:
    (judged,) = log.results.scores
    return {name: metric.value for name, metric in judged.metrics.items()}


def items(log: Any, *names: str) -> list[Item]:
    """The answered questions of a log, of all or some of its tasks."""
    return [
        Item(
            sample.scores["judged"].value["acc"],
            sample.metadata["subject"],
            sample.metadata["category"],
            tuple(sample.metadata["parts"]),
        )
        for sample in log.samples
        if not names or sample.metadata["task"] in names
    ]


@pytest.fixture(scope="module")
def log_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Any], Any]:
    """Return a function that runs a task on the sample data, once."""
    folder = tmp_path_factory.mktemp("logs")

    @cache
    def log(task: Any) -> Any:
        return run(task(), folder)

    return log


@pytest.mark.slow
def test_letters_scores_and_figures_are_lm_evals(tmp_path: Path) -> None:
    for inspect_task, lm_eval_task in [
        (tasks.hkmmlu, "hkmmlu"),
        (tasks.tmmluplus, "tmmluplus_gen"),
        (tasks.cultural, "hkcanto_cultural"),
        (tasks.mmlu, "hkcanto_mmlu_yue"),
        (tasks.phonology, "hkcanto_phonology"),
    ]:
        with named(inspect_task, lm_eval_task):
            log = run(inspect_task(), tmp_path)
            results = evaluate(lm_eval_task, model=AnsweringLM())
            in_lm_eval = {
                sample["doc"]["id"]: sample
                for sample in results["samples"][lm_eval_task]
            }
            assert {sample.id for sample in log.samples} == in_lm_eval.keys()
            for sample in log.samples:
                score = sample.scores["judged"]
                logged = in_lm_eval[sample.id]
                assert score.value == logged["doc"]["judgement"]["values"], sample.id
                assert score.value["acc"] == logged["acc"]
                assert score.value["unparsed_rate"] == logged["unparsed_rate"]
            row = results["results"][lm_eval_task]
            headline, error, *others = figures(log)
            assert error == f"{headline}_stderr"
            for name in (headline, *others):
                assert figures(log)[name] == pytest.approx(
                    row[f"{name},none"], abs=EXACT
                ), name


def test_micro_and_macro_averages_are_those_of_the_items(
    log_of: Callable[[Any], Any],
) -> None:
    for task in [tasks.hkmmlu, tasks.tmmluplus, tasks.cultural]:
        with named(task):
            reported, of_task = figures(log_of(task)), items(log_of(task))
            assert len({item.subject for item in of_task}) >= 5
            assert reported["acc"] == pytest.approx(by_hand.micro(of_task), abs=EXACT)
            assert reported["acc_macro"] == pytest.approx(
                by_hand.macro(of_task), abs=EXACT
            )
            assert reported["acc"] != pytest.approx(reported["acc_macro"], abs=EXACT)


def test_tmmluplus_has_the_average_of_averages_as_its_headline(
    log_of: Callable[[Any], Any],
) -> None:
    log = log_of(tasks.tmmluplus)
    expected = by_hand.average_of_averages(items(log))
    assert figures(log)["acc_category_macro"] == pytest.approx(expected, abs=EXACT)
    assert log.results.headline.metric == "acc_category_macro"
    assert next(iter(figures(log))) == "acc_category_macro"


def test_parts_are_averages_over_questions_or_for_tmmluplus_over_subjects(
    log_of: Callable[[Any], Any],
) -> None:
    for task, parts in [
        (
            tasks.hkmmlu,
            ("stem", "social_sciences", "humanities", "other", "hk_specific", "hkdse"),
        ),
        (tasks.tmmluplus, ("stem", "social_sciences", "humanities", "other")),
        (tasks.phonology, ("homophone", "rhyme", "misc")),
        (
            tasks.cultural,
            (
                *(
                    "food",
                    "history_and_landmarks",
                    "language_and_expressions",
                    "life_in_hk",
                ),
                "local_knowledge",
            ),
        ),
    ]:
        with named(task, parts):
            reported, of_task = figures(log_of(task)), items(log_of(task))
            of_part = (
                by_hand.of_subjects if task is tasks.tmmluplus else by_hand.of_part
            )
            for part in parts:
                assert reported[f"acc_{part}"] == pytest.approx(
                    of_part(of_task, part), abs=EXACT
                ), part


@pytest.mark.slow
def test_the_log_has_at_most_ten_figures_and_an_error(tmp_path: Path) -> None:
    for task in [
        tasks.hkmmlu,
        tasks.tmmluplus,
        tasks.cultural,
        tasks.phonology,
        tasks.hkcanto,
    ]:
        with named(task):
            names = [
                name
                for name in figures(run(task(), tmp_path))
                if not name.endswith("_stderr")
            ]
            assert len(names) <= 10
            assert names[0] != "unparsed_rate"


@pytest.mark.slow
def test_table_1_is_that_of_its_columns_and_lm_evals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_hkeval2025(tmp_path)
    monkeypatch.delenv("HKCANTO_DATA")
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path))
    log = run(tasks.hkcanto(), tmp_path)
    check_averages(log)
    check_lm_eval(log, evaluate("hkcanto", model=AnsweringLM()))
    signatures = log.eval.metadata["signatures"]
    assert signatures.keys() == {*TABLE_1}
    assert signatures["hkcanto_cultural_0shot"].startswith(
        "hkcanto-cultural-0shot|shots:0|"
    )
    assert signatures["hkcanto_cultural"].startswith("hkcanto-cultural|shots:5|")


def check_averages(log: Any) -> None:
    """Every figure equals the one worked out by hand from the samples."""
    pooled = {
        "en": by_hand.micro(items(log, "hkcanto_dse_en", "hkcanto_professional_en")),
        "zh": by_hand.micro(
            items(log, "hkcanto_dse_zh", "hkcanto_professional_zh", "hkcanto_law")
        ),
    }
    columns = {
        "hkcanto_mmlu_en": by_hand.micro(items(log, "hkcanto_mmlu_en")),
        "hkcanto_mmlu_yue": by_hand.micro(items(log, "hkcanto_mmlu_yue")),
        "hkcanto_cultural": by_hand.macro(items(log, "hkcanto_cultural")),
        "hkcanto_cultural_0shot": by_hand.macro(items(log, "hkcanto_cultural_0shot")),
    }
    by_pool = {
        f"hkcanto_academic_professional_{name}": value for name, value in pooled.items()
    }
    english = fmean([columns["hkcanto_mmlu_en"], pooled["en"]])
    others = [value for name, value in columns.items() if name != "hkcanto_mmlu_en"]
    chinese = fmean([*others, pooled["zh"]])
    expected = {**columns, **by_pool, "average_en": english, "average_zh_yue": chinese}
    assert len({round(value, 6) for value in expected.values()}) == len(expected)
    reported = figures(log)
    assert reported.keys() == expected.keys() | {"unparsed_rate"}
    for name, value in expected.items():
        assert reported[name] == pytest.approx(value, abs=EXACT), name


def check_lm_eval(log: Any, results: dict[str, Any]) -> None:
    """lm-eval's group has the same items with the same scores, and the same averages."""
    in_lm_eval = {
        f"{task}{sample['doc']['id'].removeprefix(find_task(task).definition.name)}": sample[
            "acc"
        ]
        for task in TABLE_1
        for sample in results["samples"][task]
    }
    assert {s.id: s.scores["judged"].value["acc"] for s in log.samples} == in_lm_eval
    reported, rows = figures(log), results["results"]
    for name in ("average_en", "average_zh_yue"):
        assert reported[name] == pytest.approx(
            rows["hkcanto"][f"{name},none"], abs=EXACT
        )
    for language in ("en", "zh"):
        name = f"hkcanto_academic_professional_{language}"
        assert reported[name] == pytest.approx(rows[name]["acc,none"], abs=EXACT)


@pytest.mark.slow
def test_conditions_of_one_task_are_told_apart(tmp_path: Path) -> None:
    log = run(tasks.hkcanto(), tmp_path)
    assert len({sample.id for sample in log.samples}) == len(log.samples)
    by_task = {
        name: {
            sample.id: sample
            for sample in log.samples
            if sample.metadata["task"] == name
        }
        for name in ("hkcanto_cultural", "hkcanto_cultural_0shot")
    }
    worked, plain = by_task.values()
    assert [key.partition("/")[2] for key in sorted(worked)] == [
        key.partition("/")[2] for key in sorted(plain)
    ]
    for key, sample in plain.items():
        other = worked[key.replace("_0shot", "")]
        assert sample.input[-1].text != other.input[-1].text
        assert other.input[-1].text.endswith(sample.input[-1].text)


def test_subjects_shots_and_chain_of_thought_reach_the_prompt(tmp_path: Path) -> None:
    log = run(
        tasks.hkmmlu(subjects="hk_law,dentistry", shots=1, cot=True, script="sc"),
        tmp_path,
    )
    assert {sample.metadata["subject"] for sample in log.samples} == {
        "hk_law",
        "dentistry",
    }
    assert log.eval.metadata["signature"].startswith("hkmmlu-cot-1shot|shots:1|")
    text = "".join(message.text for message in log.samples[0].input)
    assert "逐步分析并选出正确答案" in text


def test_a_chain_of_thought_has_its_own_number_of_worked_examples() -> None:
    """TMMLU+ shows five of them with a chain of thought, and none without."""
    for task in (tasks.tmmluplus(cot=True), tasks.run(task="tmmluplus_gen_cot")):
        assert task.metadata["signature"].startswith("tmmluplus-gen-cot|shots:5|")
    assert tasks.tmmluplus().metadata["signature"].startswith("tmmluplus-gen|shots:0|")


def test_languages_limit_and_epochs(tmp_path: Path) -> None:
    log = run(tasks.dse(language="en", prompt="en"), tmp_path, limit=3, epochs=2)
    assert len(log.samples) == 6
    assert log.eval.metadata["signature"].startswith(
        "hkcanto-dse-en|shots:5|turns:single|prompt:en|"
    )


def test_shuffled_choices_are_scored_where_they_went(tmp_path: Path) -> None:
    log = run(tasks.law(shuffle_choices=11), tmp_path)
    for sample in log.samples:
        letter = sample.scores["judged"].answer
        assert sample.scores["judged"].value["acc"] == float(letter == sample.target)


def test_an_eval_set_is_taken_up_again(tmp_path: Path) -> None:
    for _ in range(2):
        done, logs = eval_set(
            [tasks.law()],
            str(tmp_path),
            model=answering_model(),
            **UNWATCHED,
            limit=2,
        )
        assert done
        assert len(logs) == 1


def test_every_family_has_its_task() -> None:
    names = {entry.inspect for benchmark in benchmarks() for entry in benchmark.tasks}
    assert len(names) > 10
    assert names <= set(vars(tasks))


def test_a_log_names_the_task_as_its_data_set() -> None:
    assert tasks.law().dataset.name == "hkcanto_law"
    assert tasks.hkmmlu(cot=True).dataset.name == "hkmmlu_cot"
