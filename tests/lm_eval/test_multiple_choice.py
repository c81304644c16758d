"""Multiple choice through lm-eval's evaluator, and its groups recomputed by hand."""

import json
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from hkcanto_lm_eval import generate, task_path
from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.errors import OptionError

from ..answering import AnsweringLM
from .evaluating import evaluate, first_prompt

Items = dict[str, list[float]]


@pytest.fixture(scope="module")
def groups() -> dict[str, Any]:
    """Every family on the sample data, answered with letters of all sorts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HKCANTO_DATA", "sample")
        tasks = ("hkmmlu", "tmmluplus_gen", "hkcanto_cultural", "hkcanto_law", "hkcanto_phonology")
        return evaluate(*tasks, model=AnsweringLM())


def items(results: dict[str, Any], family: str, metric: str = "acc") -> Items:
    """Subject → the figure of each of its items, from the samples that lm-eval logs."""
    return {
        task: [sample[metric] for sample in samples]
        for task, samples in results["samples"].items()
        if find_task(task).entry.name == family and samples
    }


def test_the_sample_subjects_differ_in_size_and_in_score(groups: dict[str, Any]) -> None:
    by_subject = items(groups, "hkmmlu")
    assert len(by_subject) >= 6
    assert len({len(values) for values in by_subject.values()}) >= 3
    assert len({fmean(values) for values in by_subject.values()}) >= 3


@pytest.mark.parametrize("family", ["hkmmlu", "tmmluplus_gen", "hkcanto_cultural", "hkcanto_law"])
def test_micro_and_macro_averages_are_those_of_the_items(
    groups: dict[str, Any], family: str
) -> None:
    by_subject = items(groups, family)
    row = groups["results"][family]
    every = [value for values in by_subject.values() for value in values]
    assert row["acc,none"] == pytest.approx(fmean(every))
    assert row["acc_macro,none"] == pytest.approx(fmean(map(fmean, by_subject.values())))


def test_the_average_of_averages_of_tmmluplus(groups: dict[str, Any]) -> None:
    categories: dict[str, list[float]] = defaultdict(list)
    for task, values in items(groups, "tmmluplus_gen").items():
        categories[find_task(task).subjects[0].category].append(fmean(values))
    assert len(categories) == 4
    expected = fmean(map(fmean, categories.values()))
    row = groups["results"]["tmmluplus_gen"]
    assert row["acc_category_macro,none"] == pytest.approx(expected)
    assert row["acc_category_macro,none"] != pytest.approx(row["acc_macro,none"])


@pytest.mark.parametrize("subset", ["hk_specific", "hkdse"])
def test_the_hong_kong_subsets_of_hkmmlu(groups: dict[str, Any], subset: str) -> None:
    values = [
        value
        for task, of_task in items(groups, "hkmmlu").items()
        if subset in find_task(task).subjects[0].groups
        for value in of_task
    ]
    row = groups["results"]["hkmmlu"]
    assert row[f"acc_{subset},none"] == pytest.approx(fmean(values))


def test_question_types_are_reported_apart(groups: dict[str, Any]) -> None:
    samples = groups["samples"]["hkcanto_phonology"]
    row = groups["results"]["hkcanto_phonology"]
    for kind in ("homophone", "rhyme", "misc", "couplet"):
        values = [sample["acc"] for sample in samples if kind in sample["doc"]["groups"]]
        assert row[f"acc_{kind},none"] == pytest.approx(fmean(values))


def test_unparsed_answers_are_wrong_and_counted(groups: dict[str, Any]) -> None:
    samples = [s for of_task in groups["samples"].values() for s in of_task]
    assert any(s["filtered_resps"][0] == "唔知" for s in samples)
    for sample in samples:
        # The stand-in also answers C or D to questions of two options.
        offered = any(letter in sample["filtered_resps"][0] for letter in sample["doc"]["letters"])
        assert sample["unparsed_rate"] == float(not offered), sample["filtered_resps"]
        assert offered or sample["acc"] == 0.0


@pytest.mark.realdata
def test_the_averages_of_table_1_are_those_of_its_columns() -> None:
    tasks = ["hkcanto_dse_en", "hkcanto_professional_en"]
    results = evaluate("hkcanto", model=AnsweringLM(), limit=None, bootstrap_iters=0)
    pooled = [v for name in tasks for values in items(results, name).values() for v in values]
    mmlu = [v for values in items(results, "hkcanto_mmlu_en").values() for v in values]
    row = results["results"]["hkcanto"]
    assert row["academic_professional_en,none"] == pytest.approx(fmean(pooled))
    assert row["average_en,none"] == pytest.approx((fmean(mmlu) + fmean(pooled)) / 2)
    chinese = ["hkcanto_dse_zh", "hkcanto_professional_zh", "hkcanto_law"]
    columns = [
        fmean(v for values in items(results, "hkcanto_mmlu_yue").values() for v in values),
        fmean(v for name in chinese for values in items(results, name).values() for v in values),
        *(
            fmean(
                fmean(s["acc"] for s in samples)
                for task, samples in results["samples"].items()
                if find_task(task).entry.name == "hkcanto_cultural"
                and find_task(task).variant.suffix == suffix
            )
            for suffix in ("", "0shot")
        ),
    ]
    assert row["average_zh_yue,none"] == pytest.approx(fmean(columns))


def test_log_likelihood_takes_the_likeliest_letter() -> None:
    results = evaluate("hkcanto_phonology_mc", model=AnsweringLM())
    for sample in results["samples"]["hkcanto_phonology_mc"]:
        assert [argument[1] for argument in sample["arguments"]] == [" A", " B", " C", " D", " E"]
        likelihoods = [float(response[0]) for response in sample["filtered_resps"]]
        likeliest = "ABCDE"[likelihoods.index(max(likelihoods))]
        assert sample["acc"] == float(likeliest == sample["target"])
    assert "metric:loglikelihood" in signature(results, "hkcanto_phonology_mc")


class OpensReasoning(AnsweringLM):
    def apply_chat_template(self, chat_history: list[dict[str, str]], **_: Any) -> str:
        return "".join(message["content"] for message in chat_history) + "<assistant>\n<think>\n"

    def chat_template(self, *_: Any, **__: Any) -> str:
        return "opens a reasoning block"


def test_log_likelihood_behind_an_opened_reasoning_block_is_refused() -> None:
    with pytest.raises(OptionError, match="open reasoning block"):
        evaluate("hkcanto_phonology_mc", model=OpensReasoning(), apply_chat_template=True)
    evaluate("hkcanto_phonology", model=OpensReasoning(), apply_chat_template=True, limit=1)


def signature(results: dict[str, Any], task: str) -> str:
    text = results["configs"][task]["metadata"]["signature"]
    assert isinstance(text, str)
    return text


def test_metadata_chooses_the_cell_of_the_prompt_grid() -> None:
    metadata = {"prompt": "yue+scaffold", "shuffle_choices": 5}
    results = evaluate("hkmmlu_dentistry", model=AnsweringLM(), metadata=metadata, limit=1)
    assert "請喺最後一行寫「答案：X」" in first_prompt(results, "hkmmlu_dentistry")
    made = signature(results, "hkmmlu_dentistry")
    assert "|prompt:yue+scaffold|script:tc|shuffle_choices:5|" in made


def test_few_shots_come_from_the_dev_file() -> None:
    results = evaluate("hkmmlu_dentistry", model=AnsweringLM(), num_fewshot=3, limit=1)
    assert first_prompt(results, "hkmmlu_dentistry").count("答案: ") == 3


def test_direct_answers_stop_at_the_line_and_chains_of_thought_have_room() -> None:
    results = evaluate("hkmmlu_dentistry", "hkmmlu_dentistry_cot", model=AnsweringLM(), limit=1)
    direct = results["configs"]["hkmmlu_dentistry"]["generation_kwargs"]
    chain = results["configs"]["hkmmlu_dentistry_cot"]["generation_kwargs"]
    assert (direct["until"], direct["max_gen_toks"]) == (["\n"], 16)
    assert chain["max_gen_toks"] >= 1024


def test_the_task_files_are_those_of_the_catalogue() -> None:
    folder = Path(task_path())
    there = {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in folder.glob("*/*")
        if path.suffix in (".py", ".yaml")
    }
    assert there == generate.files(), "run `python -m hkcanto_lm_eval.generate`"


def test_awkward_options_survive_the_trip(groups: dict[str, Any]) -> None:
    docs = [s["doc"] for of_task in groups["samples"].values() for s in of_task]
    options = {option for doc in docs for option in doc["choices"]}
    assert {"None", "NA", "0.10", "007"} & options
    assert {len(doc["letters"]) for doc in docs} >= {2, 3, 4, 5}


def test_items_are_logged_with_stable_ids(groups: dict[str, Any]) -> None:
    ids = [s["doc"]["id"] for of_task in groups["samples"].values() for s in of_task]
    assert len(set(ids)) == len(ids)
    assert "hkcanto_law/basic_law/1" in ids
    assert json.dumps(ids)
