"""`hkcanto rescore LOGS --any` on multiple-choice logs of other tasks of both harnesses."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hkcanto_tasks.cli import app
from hkcanto_tasks.errors import LogError
from hkcanto_tasks.results.reports.any_rescored import (
    _item_of_sample,
    _mostly_usable,
    letter_of,
)

from .harness_runs import AnsweringLM, answering_model, run_inspect, run_lm_eval

COUNT = 40
RIGHT = "ABCD"
PRO = """
task: pro
custom_dataset: !function data.rows
test_split: test
output_type: generate_until
doc_to_text: "Q{{number}}: {{question}}"
doc_to_target: answer
filter_list:
  - name: custom-extract
    filter:
      - function: regex
        regex_pattern: 'answer is \\(?([ABCDEFGHIJ])\\)?'
      - function: take_first
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
"""
DATA = f"""
def rows(**_):
    from datasets import Dataset, DatasetDict
    made = [
        {{
            "number": n,
            "question": "Which port lies furthest south?",
            "options": ["Aberdeen", "Bristol", "Cardiff", "Dover"],
            "answer": "ABCD"[n % 4],
        }}
        for n in range({COUNT})
    ]
    return DatasetDict(test=Dataset.from_list(made))
"""
# Number of an item → the response; of all others: the harness and we read the right letter.
RESPONSES: dict[int, str | None] = {
    0: "**A**",  # unread by the harness, right
    1: "The answer: **B**",  # unread by the harness, right
    2: "Some say the answer is A. But no: it is C.",  # misread, right
    3: "The answer is D, I thought at first. No, the answer is A.",  # misread, wrong
    4: "<think>Is it A? Or",  # cut off
    5: "I'm sorry, but I can't help with that.",  # refused
    6: "",  # empty
    7: "Hard to say.",  # undecided
}


def respond(prompt: str) -> str:
    match = re.search(r"Q(\d+):", prompt)
    assert match
    number = int(match[1])
    if number in RESPONSES:
        return RESPONSES[number] or ""
    return f"The answer is {RIGHT[number % 4]}."


def hkcanto(*arguments: Any) -> Any:
    return CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": "200"})


def report(*arguments: Any, folder: Path) -> dict[str, Any]:
    file = folder / "report.json"
    done = hkcanto("rescore", *arguments, "--any", "-o", file)
    assert done.exit_code == 0, done.output
    content: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return content


def fates(content: dict[str, Any]) -> dict[str, Any]:
    (row,) = content["tables"]["fates"]["rows"]
    return row


@pytest.fixture
def pro(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that runs a task in the form of MMLU-Pro in lm-eval."""
    home = tmp_path / "yaml"
    home.mkdir()
    (home / "data.py").write_text(DATA, "utf-8")

    def run(name: str, yaml: str = PRO, **options: Any) -> Path:
        (home / "pro.yaml").write_text(yaml, "utf-8")
        model = AnsweringLM(respond)
        return run_lm_eval(
            tmp_path / name, "pro", model=model, include_path=[str(home)], **options
        )

    return run


def test_points_lost_to_reading_are_counted(
    pro: Callable[..., Path], tmp_path: Path
) -> None:
    content = report(pro("logs").parent.parent, folder=tmp_path)
    (comparison,) = content["comparisons"]
    # By hand: the harness gives no point for items 0 to 7 but 3; we give one for 0, 1 and 2.
    assert comparison["a"] == pytest.approx((COUNT - 7) / COUNT)
    assert comparison["b"] == pytest.approx((COUNT - 5) / COUNT)
    assert (comparison["wins"], comparison["losses"]) == (3, 1)
    counts = {key: value for key, value in fates(content).items() if value}
    assert counts == {
        "kind": "run",
        "task": "pro",
        "items": COUNT,
        "misread": 2,
        "unread_by_harness": 2,
        "cut_off": 1,
        "refused": 1,
        "empty": 1,
        "undecided": 1,
    }


def test_responses_are_shown(pro: Callable[..., Path]) -> None:
    done = hkcanto("rescore", pro("logs"), "--any", "--show", "3")
    assert done.exit_code == 0, done.output
    text = " ".join(done.stdout.split())
    assert (
        "read again is better than as logged on pro" in text or "No difference" in text
    )
    assert "target C, harness read 'A', we read C" in text
    assert len(re.findall(r"harness read", text)) == 3


def test_choices_that_are_not_known_by_name_are_declared(
    pro: Callable[..., Path], tmp_path: Path
) -> None:
    log = pro("logs")
    for samples in log.parent.glob("samples_*"):
        text = samples.read_text("utf-8")
        samples.write_text(text.replace('"options": [', '"alternatives": ['), "utf-8")
    done = hkcanto("rescore", log, "--any")
    assert done.exit_code == 1
    assert "--choices COLUMN --answer COLUMN" in done.output
    declared = ("--choices", "alternatives", "--answer", "answer")
    assert fates(report(log, *declared, folder=tmp_path))["misread"] == 2
    wrong = hkcanto("rescore", log, "--any", *declared[:2], "--answer", "number")
    assert wrong.exit_code == 1


def test_logs_of_inspect_say_all(tmp_path: Path) -> None:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample
    from inspect_ai.scorer import choice
    from inspect_ai.solver import multiple_choice

    rows = [
        Sample(
            id=number + 1,
            input=f"Q{number}: Which port lies furthest south?",
            choices=["Aberdeen", "Bristol", "Cardiff", "Dover"],
            target=RIGHT[number % 4],
        )
        for number in range(COUNT)
    ]
    task = Task(dataset=rows, solver=multiple_choice(), scorer=choice(), name="ports")

    def answer(prompt: str) -> str:
        return respond(prompt).replace("The answer is", "ANSWER:")

    log = run_inspect(tmp_path / "logs", task, model=answering_model(answer))
    content = report(log, folder=tmp_path)
    (comparison,) = content["comparisons"]
    assert comparison["b"] == pytest.approx((COUNT - 5) / COUNT)
    counts = fates(content)
    assert counts["refused"] == counts["empty"] == counts["undecided"] == 1
    assert comparison["a"] < comparison["b"]
    assert "left out" not in json.dumps(content)


def sample(**changes: Any) -> dict[str, Any]:
    """A sample of Inspect whose right answer is B, and B was chosen."""
    response = {"message": {"content": "ANSWER: B"}, "stop_reason": "stop"}
    whole = {
        "id": 7,
        "input": [{"role": "system", "content": "!"}, {"role": "user", "content": "?"}],
        "choices": ["甲", "乙"],
        "target": "B",
        "output": {"choices": [response]},
        "scores": {"choice": {"value": "C", "answer": "B"}, "other": {"value": "I"}},
    }
    return whole | changes


def test_a_sample_of_inspect_is_an_item_with_what_its_scorer_read() -> None:
    item = _item_of_sample(sample())
    assert item is not None
    assert (item.id, item.question, item.target) == ("7", "?", "B")
    assert item.options == {"A": "甲", "B": "乙"}
    assert (item.response, item.is_cut) == ("ANSWER: B", False)
    assert (item.logged, item.harness_answer) == (1, "B")
    unscored = _item_of_sample(sample(input="？", scores=None))
    assert unscored is not None
    assert unscored.question == "？"
    assert (unscored.logged, unscored.harness_answer) == (None, "")


@pytest.mark.parametrize(
    ("output", "response", "is_cut"),
    [
        ({"message": {"content": "B"}, "stop_reason": "max_tokens"}, "B", True),
        ({"message": {"content": "B"}, "stop_reason": "model_length"}, "B", True),
        ({"message": {"content": None}}, "", False),
        ({"message": {}}, "", False),
        ({"stop_reason": "stop"}, "", False),
        (None, None, False),
    ],
)
def test_a_response_of_inspect_may_be_cut_off_empty_or_missing(
    output: dict[str, Any] | None, response: str | None, is_cut: bool
) -> None:
    item = _item_of_sample(sample(output={"choices": [output] if output else []}))
    assert item is not None
    assert (item.response, item.is_cut) == (response, is_cut)
    failed = _item_of_sample(sample(error={"message": "timeout"}))
    assert failed is not None
    assert failed.response is None


@pytest.mark.parametrize(
    "changes",
    [
        {"choices": None},
        {"choices": [], "target": "A"},
        {"target": "E"},
        {"target": "丙"},
        {"choices": [str(number) for number in range(11)]},  # letters end at J
    ],
)
def test_a_sample_without_choices_and_one_of_them_right_is_no_item(
    changes: dict[str, Any],
) -> None:
    assert _item_of_sample(sample(**changes)) is None


def test_other_logs_are_refused_by_name(
    pro: Callable[..., Path], lm_eval_logs: Path
) -> None:
    head = PRO.partition("filter_list")[0].replace("generate_until", "multiple_choice")
    likelihoods = f"{head}doc_to_choice: options\nmetric_list:\n  - metric: acc\n"
    likelihoods = likelihoods.replace("target: answer", 'target: "{{number % 4}}"')
    for log, message in (
        (lm_eval_logs, "leave out --any"),
        (pro("a", likelihoods), "pro compares log-likelihoods: there is no text"),
        (pro("b", PRO + "repeats: 2\n"), "several responses"),
    ):
        done = hkcanto("rescore", log, "--any")
        assert done.exit_code == 1, done.output
        assert message in " ".join(done.output.split())


def test_letters_are_found_by_name_alone() -> None:
    options = {"A": "3", "B": "0", "C": "b"}
    for value, letter in (
        ("b", ""),  # the letter B, and the text of C
        ("(a)", "A"),
        ("3", "A"),
        (1, "B"),
        (0, ""),  # the first, or the text of B
        ("D", ""),
        (None, ""),
        ("AB", ""),
    ):
        assert letter_of(value, options) == letter, value


# Columns of released data sets, in the form in which lm-eval's own tasks log them. B is right.
_TEXTS = ["Aberdeen", "Bristol", "Cardiff", "Dover"]
_LABELLED = {"text": _TEXTS, "label": ["A", "B", "C", "D"]}
_ENDINGS = {f"ending{number}": text for number, text in enumerate(_TEXTS)}
_NUMBERED = {f"choice{number}": text for number, text in enumerate(_TEXTS, 1)}
FORMATS: dict[str, tuple[dict[str, Any], Any, tuple[str, ...]]] = {
    "ARC": ({"choices": _LABELLED, "answerKey": "B"}, "B", ()),
    "MMLU": ({"choices": _TEXTS, "answer": 1}, 1, ()),
    "C-Eval": ({**dict(zip("ABCD", _TEXTS, strict=True)), "answer": "B"}, "B", ()),
    "GPQA": ({**_NUMBERED, "answer": "(B)"}, "(B)", ()),
    "MedQA": (
        {**_ENDINGS, "label": 1},
        1,
        ("--choices", ",".join(_ENDINGS), "--answer", "label"),
    ),
}


@pytest.mark.parametrize("form", FORMATS)
def test_logs_of_other_tasks_in_their_own_form(form: str, tmp_path: Path) -> None:
    columns, target, declared = FORMATS[form]
    responses = ["B", "**B**", "The answer is C.", "Not A. It is B."]
    samples = [
        {
            "doc_id": number,
            "doc": {"question": f"Port {number}?", **columns},
            "target": target,
            "arguments": {"gen_args_0": {"arg_0": f"Port {number}?", "arg_1": {}}},
            "resps": [[response]],
            "filtered_resps": [response[:1]],
            "filter": "none",
            "metrics": ["exact_match"],
            "exact_match": float(response[:1] == "B"),
        }
        for number, response in enumerate(responses)
    ]
    results = {
        "results": {form: {"exact_match,none": 1 / 4}},
        "configs": {form: {"task": form, "output_type": "generate_until"}},
        "n-samples": {form: {"original": 4, "effective": 4}},
        "config": {"model": "hf"},
        "higher_is_better": {form: {"exact_match": True}},
        "model_name": "small",
        "date": 1.0,
    }
    (tmp_path / "results_2026.json").write_text(json.dumps(results), "utf-8")
    lines = "\n".join(map(json.dumps, samples))
    (tmp_path / f"samples_{form}_2026.jsonl").write_text(lines, "utf-8")
    content = report(tmp_path, *declared, folder=tmp_path)
    (comparison,) = content["comparisons"]
    assert (comparison["a"], comparison["b"]) == (1 / 4, 3 / 4)
    assert fates(content)["unread_by_harness"] == 2


@pytest.mark.parametrize(("unusable", "refused"), [(0, 0), (5, 0), (6, 1), (100, 1)])
def test_five_in_a_hundred_items_may_be_unusable(unusable: int, refused: int) -> None:
    options = {"choices": ["Aberdeen", "Bristol"], "target": "B", "input": "?"}
    item = _item_of_sample({**options, "id": 1, "epoch": 1, "scores": {}})
    items = [None] * unusable + [item] * (100 - unusable)
    if refused:
        with pytest.raises(LogError, match=f"^{unusable} of 100 items .*; so declare"):
            _mostly_usable(items, "; so declare them")
    else:
        assert _mostly_usable(items, "") == items


def test_a_log_without_items_is_refused() -> None:
    with pytest.raises(LogError, match="0 of 0 items"):
        _mostly_usable([], "")
