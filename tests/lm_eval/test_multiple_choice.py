"""Multiple choice through lm-eval's evaluator, and its averages recomputed by hand."""

import csv
import json
import os
import re
from collections import defaultdict
from math import nan
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from hkcanto_lm_eval import generate, task_path
from hkcanto_tasks.catalogue import BENCHMARKS, find_task
from hkcanto_tasks.errors import OptionError
from hkcanto_tasks.prompts import until_stop
from hkcanto_tasks.tasks import load_task

from ..answering import AnsweringLM
from ..cases import named
from ..reports import harness_runs
from ..tasks import by_hand
from ..tasks.by_hand import Item
from ..tasks.quiz import Quiz
from ..tasks.quiz import quiz as quiz
from .evaluating import evaluate, first_prompt

EXACT = 1e-12
FAMILIES = (
    "hkmmlu",
    "tmmluplus_gen",
    "hkcanto_cultural",
    "hkcanto_law",
    "hkcanto_phonology",
)
HKMMLU_PARTS = (
    "stem",
    "social_sciences",
    "humanities",
    "other",
    "hk_specific",
    "hkdse",
)
TMMLUPLUS_PARTS = ("stem", "social_sciences", "humanities", "other")


def of_sample_data() -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HKCANTO_DATA", "sample")
        return evaluate(*FAMILIES, model=AnsweringLM())


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    """Every family on the sample data, answered with letters in all forms."""
    return of_sample_data()


@pytest.fixture(
    scope="module",
    params=["sample", pytest.param("release", marks=pytest.mark.realdata)],
)
def answered(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The same, and also on the real release."""
    if request.param == "sample":
        return of_sample_data()
    if not os.environ.get("HKCANTO_DATA_DIR"):
        pytest.skip("needs the real release: set HKCANTO_DATA_DIR")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HKCANTO_DATA", raising=False)
        return evaluate(*FAMILIES, model=AnsweringLM(), bootstrap_iters=0)


def items(results: dict[str, Any], task: str) -> list[Item]:
    """The answered questions of a task, from the samples that lm-eval logs."""
    docs = [(sample["acc"], sample["doc"]) for sample in results["samples"][task]]
    return [
        Item(acc, doc["subject"], doc["category"], tuple(doc["parts"]))
        for acc, doc in docs
    ]


def figures(results: dict[str, Any], task: str) -> dict[str, float]:
    return {
        name.removesuffix(",none"): value
        for name, value in results["results"][task].items()
        if name.endswith(",none") and not name.endswith("_stderr,none")
    }


def test_the_subjects_differ_in_size_and_in_score(answered: dict[str, Any]) -> None:
    by_subject: dict[str, list[float]] = defaultdict(list)
    for item in items(answered, "hkmmlu"):
        by_subject[item.subject].append(item.value)
    assert len(by_subject) >= 6
    assert len({len(values) for values in by_subject.values()}) >= 3
    assert len({fmean(values) for values in by_subject.values()}) >= 3


def test_micro_and_macro_averages_are_those_of_the_items(
    answered: dict[str, Any],
) -> None:
    for task in ["hkmmlu", "tmmluplus_gen", "hkcanto_cultural", "hkcanto_law"]:
        with named(task):
            row, of_task = figures(answered, task), items(answered, task)
            assert row["acc"] == pytest.approx(by_hand.micro(of_task), abs=EXACT)
            assert row["acc_macro"] == pytest.approx(by_hand.macro(of_task), abs=EXACT)
            assert row["acc"] != pytest.approx(row["acc_macro"], abs=EXACT)


def test_the_average_of_averages_of_tmmluplus(answered: dict[str, Any]) -> None:
    row, of_task = figures(answered, "tmmluplus_gen"), items(answered, "tmmluplus_gen")
    assert len({item.category for item in of_task}) == 4
    expected = by_hand.average_of_averages(of_task)
    assert row["acc_category_macro"] == pytest.approx(expected, abs=EXACT)
    columns = [row[f"acc_{category}"] for category in TMMLUPLUS_PARTS]
    assert row["acc_category_macro"] == pytest.approx(fmean(columns), abs=EXACT)
    assert row["Average (Table 2)"] == row["acc_category_macro"]
    assert row["acc_category_macro"] != pytest.approx(row["acc_macro"], abs=EXACT)


def test_categories_and_subsets_are_averages_over_questions_or_for_tmmluplus_over_subjects(
    answered: dict[str, Any],
) -> None:
    for task, parts, by_hand_of in [
        ("hkmmlu", HKMMLU_PARTS, by_hand.of_part),
        ("tmmluplus_gen", TMMLUPLUS_PARTS, by_hand.of_subjects),
    ]:
        with named(task, parts, by_hand_of):
            row, of_task = figures(answered, task), items(answered, task)
            shown = {
                name for name in row if name.startswith("acc_") and "macro" not in name
            }
            assert shown == {f"acc_{part}" for part in parts}
            for part in parts:
                expected = by_hand_of(of_task, part)
                assert row[f"acc_{part}"] == pytest.approx(expected, abs=EXACT), part


def test_the_cultural_average_is_the_mean_of_its_five_subjects(
    answered: dict[str, Any],
) -> None:
    row, of_task = (
        figures(answered, "hkcanto_cultural"),
        items(answered, "hkcanto_cultural"),
    )
    subjects = {item.subject for item in of_task}
    assert len(subjects) == 5
    accuracies = {
        subject: fmean(item.value for item in of_task if item.subject == subject)
        for subject in subjects
    }
    for subject, accuracy in accuracies.items():
        assert row[f"acc_{subject}"] == pytest.approx(accuracy, abs=EXACT)
    assert row["acc_macro"] == pytest.approx(fmean(accuracies.values()), abs=EXACT)
    assert row["Average (Table 7)"] == row["acc_macro"]


def test_question_types_are_reported_apart(answered: dict[str, Any]) -> None:
    row, of_task = (
        figures(answered, "hkcanto_phonology"),
        items(answered, "hkcanto_phonology"),
    )
    for kind in ("homophone", "rhyme", "misc"):
        expected = by_hand.of_part(of_task, kind)
        assert row[f"acc_{kind}"] == pytest.approx(expected, abs=EXACT)
    # The types that `misc` pools are only in the samples.
    assert any("couplet" in item.parts for item in of_task)


def test_an_item_has_no_value_in_a_part_that_it_does_not_belong_to(
    results: dict[str, Any],
) -> None:
    for sample in results["samples"]["hkmmlu"]:
        for part in HKMMLU_PARTS:
            belongs = part in sample["doc"]["parts"]
            assert sample[f"acc_{part}"] == (sample["acc"] if belongs else None)


def test_unparsed_answers_are_wrong_and_counted(results: dict[str, Any]) -> None:
    samples = [s for of_task in results["samples"].values() for s in of_task]
    assert any(s["filtered_resps"][0] == "唔知" for s in samples)
    for sample in samples:
        # The mock model also answers C or D to questions with two options.
        offered = any(
            letter in sample["filtered_resps"][0] for letter in sample["doc"]["letters"]
        )
        assert sample["unparsed_rate"] == float(not offered), sample["filtered_resps"]
        assert offered or sample["acc"] == 0.0


def test_log_likelihood_takes_the_likeliest_letter() -> None:
    results = evaluate("hkcanto_phonology_mc", model=AnsweringLM())
    for sample in results["samples"]["hkcanto_phonology_mc"]:
        assert [argument[1] for argument in sample["arguments"]] == [
            " A",
            " B",
            " C",
            " D",
            " E",
        ]
        likelihoods = [float(response[0]) for response in sample["filtered_resps"]]
        likeliest = "ABCDE"[likelihoods.index(max(likelihoods))]
        assert sample["acc"] == float(likeliest == sample["target"])
    assert "metric:loglikelihood" in signature(results, "hkcanto_phonology_mc")


class ChattingLM(AnsweringLM):
    def apply_chat_template(self, chat_history: list[dict[str, str]], **_: Any) -> str:
        return "".join(f"<{turn['role']}>{turn['content']}" for turn in chat_history)

    def chat_template(self, *_: Any, **__: Any) -> str:
        return "names the roles"


class OpensReasoning(AnsweringLM):
    def apply_chat_template(self, chat_history: list[dict[str, str]], **_: Any) -> str:
        return (
            "".join(message["content"] for message in chat_history)
            + "<assistant>\n<think>\n"
        )

    def chat_template(self, *_: Any, **__: Any) -> str:
        return "opens a reasoning block"


def test_log_likelihood_behind_an_opened_reasoning_block_is_refused() -> None:
    with pytest.raises(OptionError, match="opens a reasoning block"):
        evaluate(
            "hkcanto_phonology_mc", model=OpensReasoning(), apply_chat_template=True
        )
    evaluate(
        "hkcanto_phonology", model=OpensReasoning(), apply_chat_template=True, limit=1
    )


def test_log_likelihoods_of_the_catalogues_letters_are_its_requests() -> None:
    # A text needs a space before the letter; in a chat, the answer is a message of its own.
    for in_chat, letters in ((False, [" A", " B"]), (True, ["A", "B"])):
        found = evaluate(
            "hkcanto_phonology_mc",
            model=ChattingLM(),
            apply_chat_template=in_chat,
            limit=2,
        )
        for sample in found["samples"]["hkcanto_phonology_mc"]:
            assert [each[1] for each in sample["arguments"]][:2] == letters
            sent, catalogues = sample["doc"]["requested"]
            assert sent == catalogues


@pytest.mark.parametrize(
    ("response", "think_end_token", "reason"),
    [
        # Both name a letter, but the first is cut off inside the block that the template opened.
        ("等我諗下。答案係A。不過都要睇下選項B，因為", None, "none: cut off"),
        ("等我諗下。答案係A。</think>B", None, "bare"),
        (
            "B",
            None,
            "bare",
        ),  # too short to have reached the limit, so it ended without reasoning
        (
            "等我諗下。答案係A。不過都要睇下選項B，因為",
            "</think>",
            "stated",
        ),  # lm-eval stripped it
    ],
)
@pytest.mark.parametrize("cached", [False, True])
def test_an_answer_inside_a_block_that_the_template_opened_is_none(
    response: str,
    think_end_token: str | None,
    reason: str,
    cached: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = OpensReasoning()
    model.think_end_token = think_end_token
    model.generate_until = lambda requests, **_: [response] * len(requests)
    monkeypatch.setattr("lm_eval.caching.cache.PATH", str(tmp_path))
    options = {"cache_requests": True} if cached else {}
    for _ in range(1 + cached):
        results = evaluate(
            "hkmmlu", model=model, apply_chat_template=True, limit=2, **options
        )
    judged = [
        each["doc"]["judgement"]["reason"] for each in results["samples"]["hkmmlu"]
    ]
    assert judged == [reason] * 2


def signature(results: dict[str, Any], task: str) -> str:
    text = results["configs"][task]["metadata"]["signature"]
    assert isinstance(text, str)
    return text


def test_metadata_chooses_the_cell_of_the_prompt_grid() -> None:
    metadata = {"prompt": "yue+scaffold", "shuffle_choices": 5}
    results = evaluate(
        "hkmmlu_dentistry", model=AnsweringLM(), metadata=metadata, limit=1
    )
    assert "請喺最後一行寫「答案：X」" in first_prompt(results, "hkmmlu_dentistry")
    made = signature(results, "hkmmlu_dentistry")
    assert "|prompt:yue+scaffold|script:tc|shuffle_choices:5|" in made


def test_few_shots_come_from_the_dev_file() -> None:
    results = evaluate("hkmmlu_dentistry", model=AnsweringLM(), num_fewshot=3, limit=1)
    assert first_prompt(results, "hkmmlu_dentistry").count("答案: ") == 3


def dev_rows(stem: str) -> list[str]:
    """The questions of a dev file in the sample data, without the header."""
    with (BENCHMARKS / f"hkmmlu/sample/dev/{stem}.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        return [row[0] for row in csv.reader(file)][1:]


def test_worked_examples_are_of_the_items_own_subject() -> None:
    for shots in [1, 5]:
        for task in ["hkmmlu", "hkmmlu_mc"]:
            for multiturn in [False, True]:
                with named(shots, task, multiturn):
                    stems = {s.name: s.stem for s in find_task("hkmmlu").subjects}
                    options = (
                        {"apply_chat_template": True, "metadata": {"multiturn": True}}
                        if multiturn
                        else {}
                    )
                    results = evaluate(
                        task, model=ChattingLM(), num_fewshot=shots, **options
                    )
                    files = {
                        path.stem
                        for path in (BENCHMARKS / "hkmmlu/sample/dev").glob("*.csv")
                    }
                    seen = set()
                    for sample in results["samples"][task]:
                        own = stems[sample["doc"]["subject"]]
                        seen.add(own)
                        prompt = sample["arguments"][0][0]
                        for stem in files:
                            shown = [
                                question
                                for question in dev_rows(stem)
                                if question in prompt
                            ]
                            assert shown == (
                                dev_rows(stem)[:shots] if stem == own else []
                            ), (
                                stem,
                                own,
                            )
                    assert seen == files


def test_the_sentence_in_front_names_the_items_own_subject() -> None:
    chinese = {
        subject.name: subject.chinese for subject in find_task("tmmluplus_gen").subjects
    }
    samples = evaluate("tmmluplus_gen", model=AnsweringLM())["samples"]["tmmluplus_gen"]
    assert len({sample["doc"]["subject"] for sample in samples}) > 3
    for sample in samples:
        first, _, _ = sample["arguments"][0][0].partition("\n")
        assert first.startswith(
            f"以下是關於{chinese[sample['doc']['subject']]}考試單選題"
        )


def test_direct_answers_stop_at_the_line_and_chains_of_thought_have_room() -> None:
    results = evaluate("hkmmlu", "hkmmlu_cot", model=AnsweringLM(), limit=1)
    direct = results["configs"]["hkmmlu"]["generation_kwargs"]
    chain = results["configs"]["hkmmlu_cot"]["generation_kwargs"]
    assert (direct["until"], direct["max_gen_toks"]) == (["\n\n問題: "], 32)
    assert chain["max_gen_toks"] >= 1024


def test_an_answer_that_begins_with_line_breaks_is_not_cut_to_nothing() -> None:
    for options, stops_at_once in [
        ({}, False),
        ({"num_fewshot": 1}, True),
        ({"num_fewshot": 1, "apply_chat_template": True}, False),
    ]:
        with named(options, stops_at_once):
            model = LineBreaksFirst()
            results = evaluate("hkmmlu", model=model, limit=4, **options)
            # A line break ends the answer only if worked examples show the form in plain text.
            assert model.stops == {("\n",) if stops_at_once else ("\n\n問題: ",)}
            assert {*results["configs"]["hkmmlu"]["generation_kwargs"]["until"]} == {
                *next(iter(model.stops))
            }
            unparsed = results["results"]["hkmmlu"]["unparsed_rate,none"]
            assert unparsed == (1.0 if stops_at_once else 0.0)


class LineBreaksFirst(AnsweringLM):
    """Writes line breaks before a letter, and obeys stop texts as servers do."""

    def __init__(self) -> None:
        super().__init__()
        self.stops: set[tuple[str, ...]] = set()

    def generate_until(
        self, requests: list[Any], disable_tqdm: bool = False
    ) -> list[str]:
        del disable_tqdm
        self.stops |= {tuple(request.args[1]["until"]) for request in requests}
        return [
            until_stop("\n\nB\n\n因為", request.args[1]["until"])
            for request in requests
        ]

    def apply_chat_template(self, chat_history: list[dict[str, str]], **_: Any) -> str:
        return "".join(message["content"] for message in chat_history)

    def chat_template(self, *_: Any) -> str:
        return "plain"


def test_the_task_files_are_those_of_the_catalogue() -> None:
    folder = Path(task_path())
    there = {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in folder.glob("*/*")
        if path.suffix in (".py", ".yaml")
    }
    assert there == generate.files(), "run `python -m hkcanto_lm_eval.generate`"


def test_awkward_options_survive_the_trip(results: dict[str, Any]) -> None:
    docs = [s["doc"] for of_task in results["samples"].values() for s in of_task]
    options = {option for doc in docs for option in doc["choices"]}
    assert "0.10" in options  # not 0.1
    assert {len(doc["letters"]) for doc in docs} >= {2, 3, 4, 5}


def test_items_are_logged_with_stable_ids(results: dict[str, Any]) -> None:
    ids = [s["doc"]["id"] for of_task in results["samples"].values() for s in of_task]
    assert len(set(ids)) == len(ids)
    assert "hkcanto_law/basic_law/1" in ids
    assert json.dumps(ids)


def test_a_prompt_of_the_users_own_is_that_of_the_worked_examples_too(
    tmp_path: Path,
) -> None:
    (tmp_path / "task.py").write_text(
        "from hkcanto_lm_eval.task import CatalogueTask\n", "utf-8"
    )
    (tmp_path / "mine.yaml").write_text(
        "task: mine\nclass: !function task.CatalogueTask\ndataset_name: hkmmlu\n"
        "doc_to_text: 'Q: {{question}} ({{choices[0]}})'\nnum_fewshot: 2\n",
        "utf-8",
    )
    model = AnsweringLM()
    results = evaluate("mine", model=model, limit=1, include_path=[str(tmp_path)])
    prompt = first_prompt(results, "mine")
    (sample,) = results["samples"]["mine"]
    doc = sample["doc"]
    assert prompt.endswith(f"Q: {doc['question']} ({doc['choices'][0]})")
    assert prompt.count("Q: ") == 3
    assert prompt.count("()") == 0
    loaded = load_task("hkmmlu", shots=2)
    for example in loaded.prompt_examples(doc["subject"]):
        assert f"Q: {example.sample.question} ({example.sample.choices[0]})" in prompt
    signature = results["configs"]["mine"]["metadata"]["signature"]
    assert re.fullmatch(
        r"hkmmlu\|shots:2\|.*\|yaml:[0-9a-f]{7}\|data:sample\|.*", signature
    )
    # A changed name alone does not change the signature.
    (tmp_path / "mine.yaml").write_text(
        "task: mine\nclass: !function task.CatalogueTask\ndataset_name: hkmmlu\nnum_fewshot: 2\n"
        "task_alias: my own\n",
        "utf-8",
    )
    plain = evaluate("mine", model=model, limit=1, include_path=[str(tmp_path)])
    assert plain["configs"]["mine"]["metadata"]["signature"] == loaded.signature


def test_responses_cut_off_while_reasoning_are_said_if_more_than_one_in_twenty(
    quiz: Quiz, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [
        {"question": f"第{place}條？", "A": "甲", "B": "乙", "answer": "AB"[place % 2]}
        for place in range(10, 30)
    ]
    quiz('letters = "AB"\nfiles = { test = "test.json" }', *rows)
    for cut in (0, 1, 2):
        caplog.clear()
        asked = [f"第{place}條？" for place in range(10, 10 + cut)]

        def answer(prompt: str, asked: list[str] = asked) -> str:
            return "<think>諗緊" if any(each in prompt for each in asked) else "A"

        evaluate("quiz", model=harness_runs.AnsweringLM(answer))
        said = {each.message for each in caplog.records if "cut off" in each.message}
        if cut < 2:  # at most 5 %
            assert not said
        else:
            (line,) = said
            assert line.startswith("quiz: 2 of 20 responses were cut off at 32 tokens")


def test_a_log_likelihood_that_is_no_number_leaves_no_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(harness_runs.AnsweringLM):
        def loglikelihood(self, requests: list[Any], **_: Any) -> Any:
            return [(nan if n % 4 == 2 else -1.0, False) for n in range(len(requests))]

    results = evaluate("hkmmlu_mc", model=Broken(), limit=2)
    assert results["results"]["hkmmlu_mc"]["unparsed_rate,none"] == 1
    assert "hkmmlu_mc: NaN as a log-likelihood: no answer" in caplog.text
