"""`hkcanto rescore` scores our logs and other tools' answers again, without a model."""

import json
import re
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from hkcanto_tasks import read_runs
from hkcanto_tasks.cli import app
from hkcanto_tasks.results.audit import misjudged
from hkcanto_tasks.results.runs import Run
from hkcanto_tasks.tasks import load_task

from .harness_runs import (
    AnsweringLM,
    answer,
    answering_model,
    read_answer,
    run_inspect,
    run_lm_eval,
)


def hkcanto(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": "200"})


def rescored(*arguments: str | Path, to: Path) -> str:
    """Rescore, and return the output."""
    done = hkcanto("rescore", *arguments, "-o", to)
    assert done.exit_code == 0, done.output
    return done.output


def refused(*arguments: str | Path, to: Path) -> str:
    """Check that a rescoring is refused and writes nothing; return the one-line reason."""
    done = hkcanto("rescore", *arguments, "-o", to)
    assert done.exit_code in (1, 2), done.output
    assert "Traceback" not in done.output
    assert not to.exists()
    return " ".join(done.output.split())


def judged(folder: Path) -> dict[tuple[str, str], list[Any]]:
    """The judgements in lm-eval's samples in a folder: (task, item) → one for each epoch."""
    found: dict[tuple[str, str], list[Any]] = {}
    for file in folder.rglob("samples_*.jsonl"):
        task = file.stem.removeprefix("samples_").rpartition("_")[0]
        for line in file.open(encoding="utf-8"):
            doc = json.loads(line)["doc"]
            found.setdefault((task, doc["id"]), []).append(doc["judgement"])
    return found


def figures(folder: Path) -> dict[tuple[str, str], float]:
    frame = read_runs(folder).to_frame()
    return {(row.task, row.figure): row.value for row in frame.itertuples()}


def write_jsonl(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, "utf-8")
    return path


@pytest.fixture
def law() -> list[dict[str, Any]]:
    """A user's answers to the sample data's law questions; every first one is right."""
    return [
        {
            "question": sample.question,
            "response": sample.target if place % 2 == 0 else "唔知",
            **dict(zip("ABCD", sample.choices, strict=False)),
        }
        for place, sample in enumerate(load_task("hkcanto_law").samples)
    ]


# ---------------------------------------------------------------------- our logs


def test_logs_of_lm_eval_come_out_as_they_were(
    lm_eval_logs: Path, tmp_path: Path
) -> None:
    said = rescored(lm_eval_logs, to=tmp_path / "again")
    before, after = judged(lm_eval_logs), judged(tmp_path / "again")
    assert len(before) > 150
    assert after == before
    assert figures(tmp_path / "again") == pytest.approx(
        figures(lm_eval_logs), nan_ok=True
    )
    assert len(re.findall(r" → .*, 0 read otherwise", said)) == 5


@pytest.mark.slow
def test_logs_of_inspect_come_out_as_they_were(
    inspect_logs: Path, tmp_path: Path
) -> None:
    from inspect_ai.log import list_eval_logs, read_eval_log

    rescored(inspect_logs, to=tmp_path / "again")
    before: dict[tuple[str, str], list[Any]] = {}
    for info in list_eval_logs(str(inspect_logs)):
        log = read_eval_log(info)
        for sample in log.samples or []:
            task = log.eval.metadata["signature"].partition("|")[0].replace("-", "_")
            score = sample.scores["judged"]
            before.setdefault((task, str(sample.id)), []).append(
                score.metadata["judgement"]
            )
    after = judged(tmp_path / "again")
    assert len(before) > 150
    assert after == before
    assert figures(tmp_path / "again") == pytest.approx(
        figures(inspect_logs), nan_ok=True
    )


def test_what_a_log_says_of_a_run_stays(inspect_logs: Path, tmp_path: Path) -> None:
    rescored(inspect_logs, to=tmp_path / "again")
    rescored(tmp_path / "again", to=tmp_path / "twice")
    first, second, third = (
        {run.task: run for run in read_runs(folder)}
        for folder in (inspect_logs, tmp_path / "again", tmp_path / "twice")
    )
    names = (
        "harness",
        "model",
        "created",
        "limited",
        "available",
        "backend",
        "generation",
    )

    def about(run: Run) -> list[Any]:
        known = [
            getattr(run, name) for name in (*names, "version_of_harness", "status")
        ]
        return [*known, run.items.ids, run.items.output_tokens.tolist()]

    assert {task: about(run) for task, run in first.items()} == {
        task: about(run) for task, run in second.items()
    }
    assert all(run.options["rescored"] for run in second.values())
    assert {task: run.signature.text for task, run in second.items()} == {
        task: run.signature.text for task, run in third.items()
    }


def test_reasoning_that_a_server_hands_over_apart(tmp_path: Path) -> None:
    from inspect_ai.model import (
        ChatCompletionChoice,
        ChatMessageAssistant,
        ContentReasoning,
        ContentText,
        ModelOutput,
        ModelUsage,
        get_model,
    )

    from hkcanto import tasks

    def respond(messages: list[Any], *_: Any) -> ModelOutput:
        text = answer("".join(message.text for message in messages))
        thoughts = ("諗下先，係咪佢呢？", "係。")
        content = [
            *(ContentReasoning(reasoning=own) for own in thoughts),
            ContentText(text=text),
        ]
        choice = ChatCompletionChoice(
            message=ChatMessageAssistant(content=content), stop_reason="max_tokens"
        )
        usage = ModelUsage(input_tokens=5, output_tokens=7, total_tokens=12)
        return ModelOutput(model="m", choices=[choice], usage=usage)

    model = get_model("mockllm/m", custom_outputs=respond, memoize=False)
    log = run_inspect(
        tmp_path / "log", tasks.run(task="hkcanto_law", reasoning=True), model=model
    )
    rescored(log, to=tmp_path / "again")
    rescored(tmp_path / "again", to=tmp_path / "twice")
    runs = [read_runs(tmp_path / name)[0] for name in ("log", "again", "twice")]
    for run in runs[1:]:
        assert {name: repr(own.tolist()) for name, own in run.items.values.items()} == {
            name: repr(own.tolist()) for name, own in runs[0].items.values.items()
        }
        assert run.items.truncated.tolist() == runs[0].items.truncated.tolist()
    assert runs[1].options["reasoning"] == "yes"


def test_an_old_reading_is_read_anew_and_the_change_is_said(tmp_path: Path) -> None:
    """As if logged by a version that read B whenever it read anything."""
    run_lm_eval(tmp_path / "old", "hkcanto_law")
    (samples,) = (tmp_path / "old").rglob("samples_*.jsonl")
    lines = [json.loads(line) for line in samples.open(encoding="utf-8")]
    truth = [line["doc"]["judgement"] for line in lines]
    changed = 0
    for line in lines:
        own = line["doc"]["judgement"]
        if own.get("answer", "B") != "B":
            acc = float(line["doc"]["target"] == "B")
            values = {**own["values"], "acc": acc}
            line["doc"]["judgement"] = {**own, "answer": "B", "values": values}
            changed += 1
    old = sum(line["doc"]["judgement"]["values"]["acc"] for line in lines) / len(lines)
    write_jsonl(samples, lines)
    (results,) = (tmp_path / "old").rglob("results_*.json")
    signature = json.loads(results.read_text("utf-8"))["configs"]["hkcanto_law"][
        "metadata"
    ]
    was = re.search(r"read:(\w+)\|.*\|v:(\d+)", signature["signature"])
    assert was
    older = results.read_text("utf-8").replace(f"read:{was[1]}", "read:0000000")
    results.write_text(re.sub(rf"\|v:{was[2]}\|", "|v:0|", older), "utf-8")

    said = rescored(tmp_path / "old", to=tmp_path / "new")
    assert changed > 3
    assert f"{changed} read otherwise" in said
    assert f"{100 * old:.2f} %" in said
    assert f"version 0 of the task is now {was[2]}" in said
    assert [own for each in judged(tmp_path / "new").values() for own in each] == truth
    (run,) = read_runs(tmp_path / "new")
    assert (run.signature.read, run.signature.version) == (was[1], was[2])


def test_a_run_without_scores_is_scored(tmp_path: Path) -> None:
    for folder, more in (("scored", {}), ("predicted", {"predict_only": True})):
        run_lm_eval(tmp_path / folder, "hkcanto_law", **more)
    told = hkcanto("report", tmp_path / "predicted")
    assert "hkcanto rescore" in " ".join(told.output.split())
    rescored(tmp_path / "predicted", to=tmp_path / "again")
    assert judged(tmp_path / "again") == judged(tmp_path / "scored")


def test_a_run_of_inspect_without_scores_is_scored(tmp_path: Path) -> None:
    from hkcanto import tasks

    for folder, score in (("scored", True), ("unscored", False)):
        log = run_inspect(tmp_path / folder, tasks.run(task="hkcanto_law"), score=score)
        rescored(log, to=tmp_path / f"{folder}-again")
    assert judged(tmp_path / "unscored-again") == judged(tmp_path / "scored-again")
    assert len(judged(tmp_path / "unscored-again")) == 11


def test_a_run_with_a_second_look_is_scored_again(tmp_path: Path) -> None:
    from hkcanto import tasks

    reader = answering_model(lambda _: "B")
    task = tasks.law(shots=0, reread=True)
    run_inspect(tmp_path / "log", task, model_roles={"reader": reader})
    rescored(tmp_path / "log", to=tmp_path / "again")
    before, after = (read_runs(tmp_path / name)[0] for name in ("log", "again"))
    assert after.options["reread"] == "yes"
    assert after.items.values["acc"].tolist() == before.items.values["acc"].tolist()


def test_a_limited_run_stays_one_and_a_broken_log_costs_only_itself(
    tmp_path: Path,
) -> None:
    run_lm_eval(tmp_path / "runs", "hkcanto_law", limit=3)
    (tmp_path / "runs/broken.eval").write_bytes(b"PK")
    said = rescored(tmp_path / "runs", to=tmp_path / "again")
    assert "Left out" in said
    assert "broken.eval" in said
    (run,) = read_runs(tmp_path / "again")
    assert (run.limited, run.complete, len(run.items)) == (True, False, 3)


def test_a_log_and_its_rescored_one_are_two_rows_of_a_report(tmp_path: Path) -> None:
    run_lm_eval(tmp_path / "runs", "hkcanto_law", model=AnsweringLM(read_answer))
    rescored(tmp_path / "runs", to=tmp_path / "runs")
    runs = read_runs(tmp_path / "runs")
    assert len({run.label for run in runs}) == 2
    done = hkcanto("report", tmp_path / "runs", "--format", "md")
    assert "rescored:" in done.stdout
    assert "was scored again by hkcanto" in done.stdout
    # The setup is the same, so a gate is allowed.
    second, first = (
        run.sources[0]
        for run in sorted(runs, key=lambda run: "rescored" not in run.options)
    )
    gate = hkcanto("compare", f"a={first}", f"b={second}", "--gate", "50")
    assert gate.exit_code == 0, gate.output
    text = second.read_text("utf-8")
    refusal = hkcanto("rescore", second, "-o", tmp_path / "runs")
    assert refusal.exit_code == 1
    assert "would be replaced" in refusal.output
    assert second.read_text("utf-8") == text


# ---------------------------------------------------------------------- answers from other tools


def test_answers_by_question_are_scored_as_a_run_scores_them(
    law: list[dict[str, Any]], tmp_path: Path
) -> None:
    for row in law:  # still the same question in full width and with spaces
        row["question"] = f"  {unicodedata.normalize('NFKC', row['question'])} \n"
    file = write_jsonl(tmp_path / "gpt.jsonl", law)
    rescored(file, "--task", "hkcanto_law", to=tmp_path / "new")
    (run,) = read_runs(tmp_path / "new")
    right = {
        row["doc"]["id"]: row["doc"]["judgement"]["values"]["acc"]
        for path in (tmp_path / "new").rglob("samples_*")
        for row in map(json.loads, path.open(encoding="utf-8"))
    }
    samples = load_task("hkcanto_law").samples
    assert right == {
        each.id: float(place % 2 == 0) for place, each in enumerate(samples)
    }
    assert run.model == "gpt"
    assert run.counts.total() == len(samples)
    assert not run.limited


def test_answers_of_a_log_are_judged_alike_as_a_file(
    lm_eval_logs: Path, tmp_path: Path
) -> None:
    """By id and question."""
    for task in ("hkmmlu", "hkcanto_g2p", "hkcanto_translation_zh_yue"):
        (samples,) = lm_eval_logs.rglob(f"samples_{task}_2*.jsonl")
        lines = [json.loads(line) for line in samples.open(encoding="utf-8")]
        docs = [(line["doc"], line["filtered_resps"][0]) for line in lines]
        named = [
            {
                "question": doc["question"] or doc["source"],
                "id": doc["id"],
                "response": response,
            }
            for doc, response in docs
        ]
        expected = {(task, doc["id"]): [doc["judgement"]] for doc, _ in docs}
        file = write_jsonl(tmp_path / f"{task}.jsonl", named)
        rescored(file, "--task", task, to=tmp_path / task)
        assert judged(tmp_path / task) == expected, task


def test_what_nobody_logged_is_unknown_and_has_no_rank(
    law: list[dict[str, Any]], tmp_path: Path
) -> None:
    file = write_jsonl(tmp_path / "gpt.jsonl", law)
    for folder in ("a", "b"):
        model = ("--model", f"org/{folder}")
        rescored(file, "--task", "hkcanto_law", *model, to=tmp_path / folder)
    (run,) = read_runs(tmp_path / "a")
    parts = {
        "shots": "unknown",
        "sent": "unknown",
        "prompt": "unknown",
        "decoding": "unknown",
    }
    assert parts.items() <= run.signature.parts.items()
    made = json.loads(hkcanto("report", tmp_path / "a", "--format", "json").stdout)
    assert all(not each["standings"] for each in made["runs"])
    text = hkcanto("report", tmp_path / "a", "--format", "md").stdout
    assert "prompt and decoding unknown" in text
    compared = hkcanto("compare", tmp_path / "a", tmp_path / "b", "--format", "md")
    assert "neither the prompt nor the decoding was logged" in compared.stdout
    gate = hkcanto("compare", tmp_path / "a", tmp_path / "b", "--gate", "50")
    assert gate.exit_code == 2
    assert "shots" in gate.output


@pytest.mark.realdata
def test_answers_to_the_release_have_no_rank_either(tmp_path: Path) -> None:
    rows: list[Mapping[str, Any]] = [
        {"id": each.id, "response": each.target}
        for each in load_task("hkcanto_g2p").samples
    ]
    file = write_jsonl(tmp_path / "best.jsonl", rows)
    rescored(file, "--task", "hkcanto_g2p", to=tmp_path / "new")
    (run,) = read_runs(tmp_path / "new")
    assert (run.complete, run.trusted_data) == (True, True)
    made = json.loads(hkcanto("report", tmp_path / "new", "--format", "json").stdout)
    assert [each["standings"] for each in made["runs"]] == [[]]
    told = hkcanto("report", tmp_path / "new", "--format", "md").stdout
    assert "The prompts were not logged" in told
    named = f"org/best={tmp_path / 'new'}"
    done = hkcanto("publish", "--to", "card", named, "-o", tmp_path / "published")
    assert done.exit_code == 1
    assert "its prompts were not logged" in " ".join(done.output.split())
    assert not (tmp_path / "published").exists()


def shown(choices: Sequence[str | None], mark: str = ". ") -> str:
    return "".join(
        f"\n{a}{mark}{text}" for a, text in zip("ABCD", choices, strict=False)
    )


FORMS: Sequence[tuple[Callable[[Any, str], dict[str, Any]], str]] = (
    (lambda s, r: {"id": s.id, "response": r}, ""),
    (lambda s, r: {"qid": s.id, "output": r}, "response=output,id=qid"),
    (
        lambda s, r: {
            "custom_id": s.id,
            "body": {"choices": [{"message": {"content": r}}]},
        },
        "id=custom_id,response=body.choices.0.message.content",
    ),
    (lambda s, r: {"question": s.question + shown(s.choices), "response": r}, ""),
    (lambda s, r: {"question": s.question + shown(s.choices, "、"), "response": r}, ""),
    (lambda s, r: {"question": s.question, "choices": [*s.choices], "response": r}, ""),
    (lambda s, r: {"id": s.id, "choices": [*s.choices], "response": r}, ""),
    (
        lambda s, r: {"question": s.question + shown(s.choices), "llm_output": r},
        "response=llm_output",  # twinkle-eval
    ),
    (
        lambda s, r: {"input": s.question + shown(s.choices, "："), "out": r},
        "question=input,response=out",
    ),
)


def test_columns_can_be_declared(tmp_path: Path) -> None:
    samples = load_task("hkcanto_law").samples
    for place, (form, columns) in enumerate(FORMS):
        rows = [form(sample, f"答案：{sample.target}") for sample in samples]
        file = write_jsonl(tmp_path / f"{place}.jsonl", rows)
        folder = tmp_path / str(place)
        rescored(file, "--task", "hkcanto_law", "--columns", columns, to=folder)
        (run,) = read_runs(folder)
        assert run.items.values["acc"].tolist() == [1.0] * len(samples), rows[0]


# ---------------------------------------------------------------------- what a file does not say


def test_ids_that_count_from_another_number_are_refused(tmp_path: Path) -> None:
    """All but one of each subject would be the item beside their own."""
    samples = load_task("hkcanto_cultural").samples
    for step in (-1, 1):
        rows = []
        for sample in samples:
            subject, _, number = sample.id.rpartition("/")
            rows.append(
                {"id": f"{subject}/{int(number) + step}", "response": sample.target}
            )
        file = write_jsonl(tmp_path / "a.jsonl", rows)
        said = refused(file, "--task", "hkcanto_cultural", to=tmp_path / "new")
        assert "match no item of hkcanto_cultural" in said
        assert "no items have its id 'hkcanto_cultural/" in said


def test_options_in_another_order_beside_an_id_are_refused(tmp_path: Path) -> None:
    rows = [
        {"id": each.id, "choices": [*reversed(each.choices)], "response": each.target}
        for each in load_task("hkcanto_law").samples
    ]
    said = refused(
        write_jsonl(tmp_path / "a.jsonl", rows),
        "--task",
        "hkcanto_law",
        to=tmp_path / "new",
    )
    assert "no items have its id 'hkcanto_law/" in said


def test_failed_requests_and_cut_off_answers_are_counted_and_said(
    tmp_path: Path,
) -> None:
    """As a batch API writes them."""
    samples = load_task("hkcanto_law").samples
    rows: list[dict[str, Any]] = []
    for place, sample in enumerate(samples):
        choice = {"message": {"content": sample.target}, "finish_reason": "stop"}
        if place in (3, 4):
            choice = {"message": {"content": "我諗"}, "finish_reason": "length"}
        response: Any = {"status_code": 200, "body": {"choices": [choice]}}
        rows.append({"custom_id": sample.id, "response": response, "error": None})
    # 400 is the lowest status of a failed request, which may come with a text.
    refusal = {"choices": [{"message": {"content": samples[0].target}}]}
    rows[0] |= {"response": {"status_code": 400, "body": refusal}}
    rows[1] |= {"response": None, "error": {"code": "expired"}}
    rows[2] |= {"error": {"code": "retried"}}  # and answered
    rows[5]["response"]["body"]["choices"][0]["message"]["content"] = " \n"
    columns = "id=custom_id,response=response.body.choices.0.message.content"
    given = ("--task", "hkcanto_law", "--columns", columns)
    file = write_jsonl(tmp_path / "batch.jsonl", rows)
    said = rescored(file, *given, to=tmp_path / "new")
    assert "2 requests failed (status 400: 1, error: 1) and are left out" in said
    assert "2 answers were cut off at the token limit (finish_reason)" in said
    assert "1 answers are empty" in said
    (run,) = read_runs(tmp_path / "new")
    assert (len(run.items), run.status, run.unfinished) == (
        9,
        "incomplete",
        "items failed",
    )
    assert sorted(run.items.truncated.tolist()) == [0.0] * 7 + [1.0] * 2
    assert run.items.values["acc"].sum() == 6
    rows[0] = {"custom_id": samples[0].id, "response": {"status_code": 500}}
    write_jsonl(file, rows[:2])
    # Nothing else is left, not even a column of responses.
    assert "has no response" in refused(file, *given, to=tmp_path / "none")


def test_options_in_another_order_are_another_question(
    law: list[dict[str, Any]], tmp_path: Path
) -> None:
    for row in law:
        row["A"], row["B"] = row["B"], row["A"]
    file = write_jsonl(tmp_path / "shuffled.jsonl", law)
    said = refused(file, "--task", "hkcanto_law", to=tmp_path / "new")
    assert "11 of 11 answers match no item" in said


def test_questions_of_another_script_or_task_are_refused(tmp_path: Path) -> None:
    rows = [
        {"question": each.question, "response": each.target, "id": each.id}
        for each in load_task("hkmmlu_sc").samples
    ]
    file = write_jsonl(tmp_path / "sc.jsonl", rows)
    for task in ("hkmmlu", "hkcanto_law"):
        said = refused(file, "--task", task, to=tmp_path / "new")
        assert f"match no item of {task} (data sample)" in said
    rescored(file, "--task", "hkmmlu_sc", to=tmp_path / "new")


def test_one_answer_without_an_item_is_refused_and_named(tmp_path: Path) -> None:
    samples = load_task("hkcanto_g2p").samples
    rows = [{"id": each.id, "response": each.target} for each in samples]
    stray = {"id": "hkcanto_g2p/none", "response": "hou2"}
    file = write_jsonl(tmp_path / "a.jsonl", [*rows, stray])
    said = refused(file, "--task", "hkcanto_g2p", to=tmp_path / "new")
    assert "1 of 61 answers match no item of hkcanto_g2p (data sample)" in said
    assert "line 61: no items have its id 'hkcanto_g2p/none'" in said


def test_items_with_one_question_are_identified_by_their_options(
    tmp_path: Path,
) -> None:
    from hkcanto_tasks.errors import LogError
    from hkcanto_tasks.results.rescoring.answers import Answer
    from hkcanto_tasks.results.rescoring.matching import matched_answers

    loaded = load_task("hkcanto_law")
    one, other, *_ = loaded.samples
    alike = msgspec.structs.replace(other, question=one.question)
    two = replace(loaded, samples=[one, alike])

    def item(**answer: Any) -> str:
        ((_, sample),) = matched_answers(tmp_path, [Answer(1, **answer)], two)
        return sample.id

    choices = dict(zip("ABCD", other.choices, strict=False))
    assert item(question=one.question + shown(other.choices)) == other.id
    assert item(question=one.question, choices=choices) == other.id
    assert item(question=one.question, id=one.id) == one.id
    for given, why in (
        ({"question": one.question}, "2 items have its id '', question"),
        ({"question": "邊個錯？", "id": one.id}, "no items have its id"),
        ({"question": one.question, "choices": {"A": "甲"}}, "no items have its id"),
    ):
        with pytest.raises(LogError, match=why):
            item(**given)


def test_absent_answers_are_empty_and_two_to_an_item_are_refused(
    law: list[dict[str, Any]], tmp_path: Path
) -> None:
    law[0]["response"], law[1] = (
        None,
        {k: v for k, v in law[1].items() if k != "response"},
    )
    file = write_jsonl(tmp_path / "a.jsonl", law)
    said = rescored(file, "--task", "hkcanto_law", to=tmp_path / "new")
    assert "2 answers are empty" in said
    assert "of the task's" not in said
    (run,) = read_runs(tmp_path / "new")
    assert len(run.items) == len(law)
    assert run.items.reasons.count("none: empty") == 2
    write_jsonl(file, [*law, law[0]])
    said = refused(file, "--task", "hkcanto_law", to=tmp_path / "odd")
    assert f"lines 1 and {len(law) + 1} both answer" in said


def test_a_part_of_a_task_is_one_and_no_beginning_unless_it_is(tmp_path: Path) -> None:
    samples = load_task("hkmmlu").samples
    for name, part, picked in (
        ("first", samples[:20], False),
        ("last", samples[-20:], True),
        ("mixed", [*samples[:19], samples[-1]], True),  # one of them is enough
    ):
        rows: list[Mapping[str, Any]] = [
            {"id": each.id, "response": "A"} for each in part
        ]
        file = write_jsonl(tmp_path / f"{name}.jsonl", rows)
        said = rescored(file, "--task", "hkmmlu", to=tmp_path / name)
        assert f"it has 20 of the task's {len(samples)} items" in said
        (run,) = read_runs(tmp_path / name)
        assert (run.limited, run.picked, run.complete) == (True, picked, False)


def test_what_cannot_be_scored_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    for text, more, why in (
        ('{"id": "hkcanto_law/a/1", "response": "A"}', [], "Give --task NAME"),
        (
            '{"id": "hkcanto_law/a/1", "response": "A"}',
            ["--task", "hkcanto_lawn"],
            "hkcanto_law",
        ),
        (
            '{"id": "x", "output": "A"}',
            ["--task", "hkcanto_law"],
            "its columns are id, output",
        ),
        (
            '{"n": 1, "response": "A"}',
            ["--task", "hkcanto_law"],
            "no items have its id '', question ''",
        ),
        ("not json", ["--task", "hkcanto_law"], "line 1: it is not JSONL"),
        ("", ["--task", "hkcanto_law"], "its columns are none"),
        ('{"id": "x", "response": "A"}', ["--columns", "answer=b"], "give WHAT=COLUMN"),
        (
            '{"id": "x", "response": "A"}',
            ["--task", "hkcanto_law_mc"],
            "--task hkcanto_law",
        ),
        (
            '{"id": "x", "response": {"A": 1}}',
            ["--task", "hkcanto_law"],
            "its response is a dict",
        ),
    ):
        file.write_text(text)
        assert why in refused(file, *more, to=tmp_path / "new"), text
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.csv").write_text("id,response\n")
    for path, why in (
        ("none", "does not exist"),
        ("empty", "contains nothing to score"),
        ("a.csv", "contains nothing to score"),
    ):
        assert why in refused(tmp_path / path, to=tmp_path / "new")


# ---------------------------------------------------------------------- a model as the reader


def test_a_reader_reads_what_the_rules_leave_unread(
    law: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six of eleven answers are letters, all right; the model reads B in the other five."""
    reader = answering_model(lambda _: "B）")
    monkeypatch.setattr("hkcanto.model_calls.get_model", lambda _: reader)
    file = write_jsonl(tmp_path / "a.jsonl", law)
    task = ("--task", "hkcanto_law")
    said = rescored(file, *task, "--reader", "mockllm/reader", to=tmp_path / "new")
    targets = [sample.target for sample in load_task("hkcanto_law").samples]
    right = 6 + targets[1::2].count("B")
    assert "mockllm/reader read 5 of 5 answers that the rules left unread" in said
    (run,) = read_runs(tmp_path / "new")
    assert run.items.values["acc"].sum() == 6
    assert run.items.values["acc_reread"].sum() == right
    shares = {name: run.items.values[name].sum() for name in ("read", "forced", "none")}
    assert shares == {"read": 6, "forced": 5, "none": 0}


def test_an_answer_that_the_reader_cannot_be_asked_about_has_no_second_look(
    law: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = count()

    def say(_: str) -> str:
        if next(calls) == 0:
            raise ConnectionResetError  # without a text
        return "B）"

    reader = answering_model(say)
    monkeypatch.setattr("hkcanto.model_calls.get_model", lambda _: reader)
    file = write_jsonl(tmp_path / "a.jsonl", law)
    task = ("--task", "hkcanto_law")
    said = rescored(file, *task, "--reader", "mockllm/reader", to=tmp_path / "new")
    assert "read 4 of 5 answers that the rules left unread; 1 could not be" in said
    (run,) = read_runs(tmp_path / "new")
    for name in ("acc_reread", "read", "forced", "none"):
        assert np.isnan(run.items.values[name]).sum() == 1


def test_a_terminal_shows_how_many_answers_the_reader_has_read(
    law: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Console(file=StringIO(), force_terminal=True, width=80)
    monkeypatch.setattr("hkcanto_tasks.commands.output.err", screen)
    reader = answering_model(lambda _: "B）")
    monkeypatch.setattr("hkcanto.model_calls.get_model", lambda _: reader)
    file = write_jsonl(tmp_path / "a.jsonl", law)
    options = ("--task", "hkcanto_law", "--reader", "mockllm/reader")
    rescored(file, *options, to=tmp_path / "new")
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.file.getvalue())
    assert re.search("Asking mockllm/reader .* 100%", shown)


def test_a_reader_that_cannot_be_asked(
    law: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for task, reader, why in (
        ("hkcanto_law", "nobody/knows", "cannot be called"),
        ("hkcanto_g2p", "mockllm/model", "is only for multiple choice"),
    ):
        rows = [{"id": each.id, "response": "唔知"} for each in load_task(task).samples]
        file = write_jsonl(tmp_path / f"{task}.jsonl", rows)
        assert why in refused(
            file, "--task", task, "--reader", reader, to=tmp_path / "new"
        )
    monkeypatch.setitem(sys.modules, "hkcanto.model_calls", None)
    file = write_jsonl(tmp_path / "a.jsonl", law)
    options = ("--task", "hkcanto_law", "--reader", "openai/gpt-4o")
    assert "pip install 'hkcanto[inspect]'" in refused(
        file, *options, to=tmp_path / "new"
    )


def test_an_answer_to_another_prompt_does_not_end_with_its_first_line(
    tmp_path: Path,
) -> None:
    """A prompt of another tool may let the model give its reasons first."""
    response = "香港嘅法庭分幾級。\n\n所以答案係{}。"
    samples = load_task("hkcanto_law").samples
    answers = [
        {"id": sample.id, "response": response.format(sample.target)}
        for sample in samples
    ]
    file = write_jsonl(tmp_path / "reasons.jsonl", answers)
    rescored(file, "--task", "hkcanto_law", to=tmp_path / "once")
    rescored(tmp_path / "once", to=tmp_path / "twice")
    for folder in ("once", "twice"):
        (run,) = read_runs(tmp_path / folder)
        assert run.items.values["acc"].mean() == 1, folder
        assert not misjudged(run), folder
