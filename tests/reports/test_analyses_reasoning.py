"""The language of reasoning, from a model's output through both harnesses to a report."""

import json
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from hkcanto import tasks
from hkcanto_tasks import read_runs
from hkcanto_tasks.results.runs import Run
from hkcanto_tasks.results.statistics.estimates import estimate
from hkcanto_tasks.tasks import task_as_run

from ..lm_eval.evaluating import evaluate, table
from .building import a_run
from .harness_runs import AnsweringLM, answering_model, run_inspect, run_lm_eval

SAID = {
    "cantonese": "佢問緊邊個城市有電車，我哋諗下先。",
    "written_chinese": "這道題目問的是哪一個城市有電車。",
    "simplified_mandarin": "这道题目问的是哪一个城市有电车。",
    "english": "The question is which of the cities has trams.",
    "other": "この問題は電車がある町についてです。",
    "mixed": "佢問緊邊個城市有電車。I think that it is one of the four.",
    "none": "A > B > C",
}
FORMS = [
    *(f"<think>{said}</think>{{}}" for said in SAID.values()),
    f"<think>{SAID['english']}",
    "<think>\n\n</think>{}",
    "答案係{}。",
]


def form(prompt: str) -> int:
    """The form of the answer to a prompt; it depends only on the prompt's words."""
    return crc32("".join(prompt.split()).encode()) % len(FORMS)


def answer(prompt: str) -> str:
    return FORMS[form(prompt)].format("ABCD"[crc32(prompt[-40:].encode()) % 4])


def read(folder: Path) -> Run:
    (run,) = read_runs([folder], texts=True)
    return run


@pytest.mark.slow
def test_both_harnesses_log_it_and_reports_read_it(tmp_path: Path) -> None:
    options = {"metadata": {"reasoning": True}}
    run_lm_eval(tmp_path / "a", "hkmmlu", model=AnsweringLM(answer), **options)
    run_inspect(tmp_path / "b", tasks.hkmmlu(reasoning=True), answering_model(answer))
    seen = set()
    for run in (read(tmp_path / "a"), read(tmp_path / "b")):
        values = run.items.values
        for place, text in enumerate(run.items.texts):
            (language,) = [
                name for name, said in SAID.items() if said in text.response
            ] or [""]
            for name in SAID:
                value = values[f"reasoning_{name}"][place]
                assert np.isnan(value) if not language else value == (name == language)
            finished = values["reasoning_finished"][place]
            assert (
                np.isnan(finished)
                if not language
                else finished == ("</think>" in text.response)
            )
            if language == "cantonese":
                right = values["acc_reasoning_cantonese"][place]
                assert right == (text.answer == text.target)
            seen.add((run.harness, language))
    assert len(seen) == 2 * len(["", *SAID])


def test_the_record_is_in_the_samples_and_no_row_is_in_the_tables(
    tmp_path: Path,
) -> None:
    results = evaluate("hkcanto_law", model=AnsweringLM(lambda _: FORMS[0].format("A")))
    plain = evaluate("hkcanto_law", model=AnsweringLM(lambda _: "A"))
    names = [[row.metric for row in table(each)] for each in (results, plain)]
    assert names[0] == names[1]
    expected = {
        "language": "cantonese",
        "shares": {"cantonese": 1.0},
        "finished": 1.0,
        "cantonese_share": 1.0,
        "script": "hant",
        "n_characters": len(SAID["cantonese"]),
    }
    for sample in results["samples"]["hkcanto_law"]:
        assert sample["doc"]["judgement"]["reasoning"] == expected
    for sample in plain["samples"]["hkcanto_law"]:
        assert "reasoning" not in sample["doc"]["judgement"]
    model = answering_model(lambda _: FORMS[0].format("A"))
    log = run_inspect(tmp_path, tasks.law(), model, log_format="json")
    logged = json.loads(log.read_text("utf-8"))
    for each in logged["samples"]:
        assert (
            each["scores"]["judged"]["metadata"]["judgement"]["reasoning"] == expected
        )
    (scores,) = logged["results"]["scores"]
    assert not any("reasoning" in name for name in scores["metrics"])


def test_reasoning_that_inspect_has_apart(tmp_path: Path) -> None:
    from inspect_ai.model import (
        ChatMessageAssistant,
        ContentReasoning,
        ContentText,
        ModelOutput,
        ModelUsage,
        get_model,
    )

    own = [
        [ContentReasoning(reasoning=SAID["cantonese"]), ContentText(text="A")],
        [ContentReasoning(reasoning=SAID["english"]), ContentText(text="")],
        [ContentReasoning(reasoning="c2VjcmV0", redacted=True, summary=SAID["other"])],
        [ContentReasoning(reasoning="c2VjcmV0", redacted=True), ContentText(text="A")],
    ]
    outputs = [
        ModelOutput.from_message(
            ChatMessageAssistant(content=parts), stop_reason="stop"
        )
        for parts in own
    ]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=5, output_tokens=7, total_tokens=12)
    model = get_model("mockllm/apart", custom_outputs=outputs, memoize=False)
    run_inspect(tmp_path, tasks.law(), model, limit=4, max_samples=1)
    values = read(tmp_path).items.values
    languages = [
        values[f"reasoning_{name}"] for name in ("cantonese", "english", "other")
    ]
    assert [int(np.nansum(each)) for each in languages] == [1, 1, 1]
    assert np.sort(values["reasoning_finished"])[:3].tolist() == [0.0, 0.0, 1.0]
    assert np.isnan(values["reasoning_finished"]).sum() == 1


# ------------------------------------------------------------------ the section


def made(languages: dict[str, int], right: int, **answers: int) -> Run:
    """An evaluation with these numbers of blocks in each language; the first ones are right."""
    listed = [name for name, count in languages.items() for _ in range(count)]
    acc = [1.0] * right + [0.0] * (len(listed) - right)
    cantonese = [float(name == "cantonese") for name in listed]
    values = {
        "acc": acc,
        "acc_reasoning_cantonese": [a * c for a, c in zip(acc, cantonese, strict=True)],
        "reasoning_finished": [1.0] * (len(listed) - 1) + [0.0],
        **{
            f"reasoning_{name}": [float(each == name) for each in listed]
            for name in SAID
        },
    }
    for name, count in answers.items():
        values[f"answer_{name}"] = [1.0] * count + [0.0] * (len(listed) - count)
    return a_run("hkcanto_law", values)


def test_wilsons_interval() -> None:
    """For 10 of 20: 0.299 to 0.701 (Newcombe 1998, method 3)."""
    found = estimate(made({"cantonese": 10, "english": 10}, 0), "reasoning_cantonese")
    assert found is not None
    assert (found.low, found.high) == (
        pytest.approx(0.299, abs=5e-4),
        pytest.approx(0.701, abs=5e-4),
    )


@pytest.mark.parametrize(
    ("task", "has"), [("hkmmlu", 3), ("hkcanto_g2p", 2), ("hkmmlu_mc", 0)]
)
def test_the_figures_are_those_of_every_kind_that_writes(task: str, has: int) -> None:
    own = [each for each in task_as_run(task).figures if "reasoning" in each.name]
    assert len(own) == has
    assert not {*own} & {*task_as_run(task).table}
