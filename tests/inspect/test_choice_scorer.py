"""`hkcanto/choice`: our answer extraction for a task that is not ours."""

import asyncio
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai import score as score_log
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Target, choice
from inspect_ai.solver import generate, multiple_choice

from hkcanto.scorers import choice as ours

from .test_second_look import run

SAID = {
    "largest": "It is Lantau, so the answer is A. B is smaller.",
    "唔係": "B 都係香港嘅。答案係（C）台灣。",
    "sum": "I cannot say.",
}


def quiz(*, letters: bool = True) -> Any:
    rows = [
        ("Which is the largest?", ["Lantau", "Lamma", "Cheung Chau"], "A"),
        ("邊個唔係香港嘅島？", ["大嶼山", "南丫島", "台灣"], "C"),
        ("What is the sum?", ["3", "4", "5"], "B" if letters else "4"),
    ]
    samples = [
        Sample(id=n, input=question, choices=options, target=target)
        for n, (question, options, target) in enumerate(rows)
    ]
    solver = multiple_choice() if letters else generate()
    return Task(dataset=MemoryDataset(samples), solver=solver, scorer=choice())


def reply(text: str) -> str:
    return next(said for word, said in SAID.items() if word in text)


def score(log: Any, *, bare: bool = False) -> Any:
    """Score a log again with `inspect score`, by our scorer or by those that the log names."""
    path = log.location.removeprefix("file://")
    how = (
        ("--action", "overwrite")
        if bare
        else ("--action", "append", "--scorer", "hkcanto/choice")
    )
    return subprocess.run(
        [sys.executable, "-m", "inspect_ai", "score", path, *how, "--overwrite"],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_a_log_of_another_task_is_scored(tmp_path: Path) -> None:
    log = run(quiz(), tmp_path, reply)
    done = score(log)
    assert done.returncode == 0, done.stderr
    again = read_eval_log(log.location)
    assert again.results is not None
    assert again.samples is not None
    of = {each.name: each for each in again.results.scores}
    assert of["hkcanto_choice"].metrics["accuracy"].value == pytest.approx(2 / 3)
    read = [each.scores["hkcanto_choice"] for each in again.samples if each.scores]
    assert [each.answer for each in read] == ["A", "C", ""]
    assert [each.value for each in read] == ["C", "C", "I"]


@pytest.mark.slow
def test_a_target_that_is_not_a_letter_is_reported(tmp_path: Path) -> None:
    log = run(quiz(letters=False), tmp_path, reply, fail_on_error=False, score=False)
    done = score(log)
    assert "sample 2 has 3 choices and the target '4'" in " ".join(
        (done.stdout + done.stderr).split()
    )


@pytest.mark.slow
def test_a_log_is_scored_again_by_the_same_scorer(tmp_path: Path) -> None:
    # Inspect's own scorer `choice` finds no letter in these responses.
    log = run(quiz(), tmp_path, reply, score=False)
    done = [score(log), *(score(log, bare=True) for _ in range(2))]
    assert [each.returncode for each in done] == [0, 0, 0]
    again = read_eval_log(log.location)
    assert again.results is not None
    of = {each.name: each.metrics["accuracy"].value for each in again.results.scores}
    assert of == {"choice": 0, "hkcanto_choice": pytest.approx(2 / 3)}


def test_a_run_is_scored_in_this_process(tmp_path: Path) -> None:
    log = score_log(run(quiz(), tmp_path, reply), ours(), action="append")
    of = {each.name: each.metrics["accuracy"].value for each in log.results.scores}
    # Inspect's own scorer finds no letter; ours finds A and C, and none in the last one.
    assert of == {"choice": 0, "hkcanto_choice": pytest.approx(2 / 3)}
    read = [each.scores["hkcanto_choice"] for each in log.samples]
    assert [each.answer for each in read] == ["A", "C", ""]
    assert [each.value for each in read] == ["C", "C", "I"]


def scored(response: str, options: list[str], target: str, question: str = "") -> Any:
    """The score of one response, without a run."""
    state: Any = SimpleNamespace(
        choices=[SimpleNamespace(value=text) for text in options],
        output=ModelOutput.from_content("model", response),
        input_text=question,
        sample_id=7,
    )
    return asyncio.run(ours()(state, Target(target)))


def test_a_question_for_what_is_wrong_turns_the_reading_round() -> None:
    options = ["Lantau is an island.", "Kowloon is an island."]
    asked = scored("B is wrong.", options, "B", "Which statement is false?")
    assert (asked.value, asked.answer) == ("C", "B")
    assert scored("B is wrong.", options, "B", "Which is true?").value == "I"


def test_reasoning_is_no_answer_and_nothing_read_has_a_reason() -> None:
    thought = scored("<think>Surely B.</think>A", ["3", "4"], "B")
    assert (thought.value, thought.answer, thought.reason) == ("I", "A", None)
    assert thought.explanation == "Read as A: bare."
    empty = scored("", ["3", "4"], "B")
    assert (empty.value, empty.answer, empty.reason) == ("I", "", "no_response")
    assert empty.explanation == "Read as no letter: none: empty."
    cut = scored("<think>Surely B. Or", ["3", "4"], "B")
    assert (cut.value, cut.answer, cut.reason) == ("I", "", "no_response")
    assert cut.explanation == "Read as no letter: none: cut off."


@pytest.mark.parametrize(
    ("options", "target"), [(["3"], "A"), ([], "A"), (["3", "4"], "C")]
)
def test_two_choices_and_a_letter_among_them_are_needed(
    options: list[str], target: str
) -> None:
    needed = f"sample 7 has {len(options)} choices and the target '{target}'"
    with pytest.raises(ValueError, match=needed):
        scored("A", options, target)
