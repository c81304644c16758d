"""`-T reread=true`: if the rules read no letter, a model reads it; the headline is unchanged."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.model import GenerateConfig, ModelOutput, ModelUsage, get_model

from hkcanto import model_calls, tasks
from hkcanto_tasks.adapters.model_calls import LoggedAnswer
from hkcanto_tasks.errors import OptionError
from hkcanto_tasks.results.logs import read_runs
from hkcanto_tasks.tasks import load_task

from ..unwatched import UNWATCHED

SECOND = "所以答案係（"
UNCLEAR = "呢條題目好有趣，要諗吓先。"


def model(reply: Any) -> Any:
    def respond(messages: list[Any], *_: Any) -> ModelOutput:
        output = ModelOutput.from_content("mockllm", reply(messages[-1].text))
        output.usage = ModelUsage()
        return output

    return get_model("mockllm/model", custom_outputs=respond)


def run(task: Any, folder: Path, reply: Any, **options: Any) -> Any:
    (log,) = inspect_eval(
        task, model(reply), log_dir=str(folder), **UNWATCHED, **options
    )
    assert log.status == "success", log.error
    return log


def metrics(log: Any) -> dict[str, float]:
    return {
        name: each.value
        for of in log.results.scores
        for name, each in of.metrics.items()
    }


def second(log: Any) -> dict[str, float]:
    names = ("read", "forced", "none", "acc_reread")
    found = {of.name: of.metrics for of in log.results.scores}
    return {name: found[name]["mean"].value for name in names}


@pytest.fixture(autouse=True)
def _sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HKCANTO_DATA", "sample")


def test_what_the_rules_leave_unread_is_asked_again_and_the_headline_stays(
    tmp_path: Path,
) -> None:
    samples = load_task("hkcanto_law", shots=0).samples
    stated, unread, unsaid = samples[0], samples[1], samples[2]
    replies = {
        stated.question: "A",
        unread.question: UNCLEAR,
        unsaid.question: UNCLEAR + "！",
    }
    asked: list[str] = []

    def reply(text: str) -> str:
        if SECOND in text:
            asked.append(text)
            return "none" if UNCLEAR + "！" in text else f"（{unread.target}）"
        return next(
            (said for question, said in replies.items() if question in text), "A"
        )

    plain = run(tasks.law(shots=0), tmp_path / "plain", reply)
    assert asked == []
    log = run(tasks.law(shots=0, reread=True), tmp_path / "reread", reply)
    assert len(asked) == 2
    assert all(text.endswith(SECOND) for text in asked)
    assert {f"A. {unread.choices[0]}" in text for text in asked} == {True, False}
    rules, count = metrics(plain), len(samples)
    assert metrics(log)["acc"] == rules["acc"]
    assert metrics(log)["unparsed_rate"] == pytest.approx(2 / count)
    right = sum(each.target == "A" for each in samples) - sum(
        each.target == "A" for each in (unread, unsaid)
    )
    assert second(log) == pytest.approx(
        {
            "read": 1 - 2 / count,
            "forced": 1 / count,
            "none": 1 / count,
            "acc_reread": (right + 1) / count,
        }
    )
    assert "|reread:yes|" in log.eval.metadata["signature"]
    assert "reread" not in plain.eval.metadata["signature"]
    (logged,) = read_runs(tmp_path / "reread")
    assert logged.options["reread"] == "yes"
    assert logged.condition.endswith("reread:yes")


def test_another_model_can_be_the_reader(tmp_path: Path) -> None:
    reader = model(lambda _: "B")
    log = run(
        tasks.law(shots=0, reread=True),
        tmp_path,
        lambda _: UNCLEAR,
        model_roles={"reader": reader},
    )
    right = sum(
        each.target == "B" for each in load_task("hkcanto_law", shots=0).samples
    )
    assert second(log)["forced"] == 1
    assert second(log)["acc_reread"] == pytest.approx(right / len(log.samples))
    assert metrics(log)["acc"] == 0


@pytest.mark.parametrize(("reasoning", "limit"), [(False, 16), (True, 32_768)])
def test_a_reader_that_reasons_has_room_for_it(
    tmp_path: Path, reasoning: bool, limit: int
) -> None:
    sent: list[int | None] = []

    def read(_: Any, tools: Any, choice: Any, config: GenerateConfig) -> ModelOutput:
        del tools, choice
        sent.append(config.max_tokens)
        output = ModelOutput.from_content("reader", "B")
        output.usage = ModelUsage()
        return output

    reader = get_model("mockllm/reader", custom_outputs=read)
    task = tasks.law(shots=0, reread=True, reasoning=reasoning)
    run(task, tmp_path, lambda _: UNCLEAR, model_roles={"reader": reader}, limit=1)
    assert sent == [limit]


@pytest.mark.parametrize(
    ("said", "letter"),
    [
        ("C", "C"),
        (" （B）", "B"),
        ("Ｄ）", "D"),
        ("**A**", "A"),
        ("<think>B?</think>C", "C"),
        ("none", ""),
        ("None", ""),
        ("E", ""),
        ("Because", ""),
        ("一個都冇揀，A 定 B 都唔係", ""),
        ("", ""),
    ],
)
def test_the_readers_answer_is_a_letter_at_its_start_or_nothing(
    tmp_path: Path, said: str, letter: str
) -> None:
    log = run(
        tasks.law(shots=0, reread=True),
        tmp_path,
        lambda text: said if SECOND in text else UNCLEAR,
        limit=1,
    )
    assert log.samples[0].scores["second_look"].answer == letter


def test_an_empty_response_is_not_shown_to_the_reader(tmp_path: Path) -> None:
    log = run(
        tasks.law(shots=0, reread=True),
        tmp_path,
        lambda text: "A" if SECOND in text else " ",
    )
    assert second(log)["none"] == 1


def test_all_of_table_1_can_be_read_again(tmp_path: Path) -> None:
    log = run(
        tasks.hkcanto(shots=0, reread=True),
        tmp_path,
        lambda text: "A" if SECOND in text else UNCLEAR,
        limit=20,
    )
    assert second(log)["forced"] == 1
    signatures = log.eval.metadata["signatures"].values()
    assert all("|reread:yes|" in each for each in signatures)


def test_other_tasks_have_no_letters_to_read_again() -> None:
    with pytest.raises(OptionError, match="multiple choice with one right option"):
        tasks.run(task="hkcanto_g2p", reread=True)


@pytest.mark.parametrize(
    ("error", "failure"),
    [(RuntimeError("too busy"), "too busy"), (RuntimeError(), "RuntimeError")],
)
def test_a_reader_that_fails_is_a_reply_with_the_reason(
    error: Exception, failure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(model_calls, "look_again", fail)
    loaded = load_task("hkcanto_law")
    answer = LoggedAnswer(loaded.kind, loaded.samples[0], "Hard to say.")
    steps: list[tuple[int, int]] = []
    replies = model_calls.read_letters(
        "mockllm/model", [answer] * 2, lambda *step: steps.append(step)
    )
    assert [(reply.letter, reply.failure) for reply in replies] == [("", failure)] * 2
    assert steps == [(1, 2), (2, 2)]
