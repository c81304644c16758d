"""A mistake in `-T` is named, with the options that exist."""

import asyncio
import logging
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Target

from hkcanto import _registry, scorers, tasks
from hkcanto_tasks.errors import CatalogueError, OptionError

from ..cases import named


def inspect(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command on two items of the sample data."""
    common = ("--model", "hkcanto/pycantonese", "--limit", "2", "--display", "plain")
    return subprocess.run(
        [sys.executable, "-m", "inspect_ai", "eval", *arguments, *common],
        cwd=folder,
        env={**os.environ, "HKCANTO_DATA": "sample", "COLUMNS": "160"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
def test_the_command_refuses_an_unknown_option_and_names_the_known_ones(
    tmp_path: Path,
) -> None:
    for task in [("hkcanto/g2p",), ("hkcanto/run", "-T", "task=hkcanto_g2p")]:
        with named(task):
            done = inspect(tmp_path, *task, "-T", "shotz=3")
            said = " ".join((done.stdout + done.stderr).split())
            assert done.returncode != 0
            assert "hkcanto_g2p has no option 'shotz'. Did you mean shots?" in said
            for known in (
                "subjects",
                "multiturn",
                "reasoning: true or false",
                "examples: paper or release",
            ):
                assert known in said
            assert not list(tmp_path.glob("logs/*.eval"))


def test_an_unknown_option_of_any_task_is_refused() -> None:
    for task, options, near in [
        (tasks.g2p, {"exampels": "release"}, "examples"),
        (tasks.hkmmlu, {"subject": "hk_law"}, "subjects"),
        (tasks.law, {"shuffle": 3}, "shuffle_choices"),
        (tasks.translation, {"shotz": 3}, "shots"),
        (tasks.hkmmlu_translation, {"sample_sead": 3}, "sample_seed"),
        (tasks.sentiment, {"multi_turn": True}, "multiturn"),
        (tasks.hkcanto, {"promt": "zh"}, "prompt"),
        (tasks.run, {"task": "hkcanto_law", "promt": "zh"}, "prompt"),
    ]:
        with (
            named(task, options, near),
            pytest.raises(OptionError, match=f"has no option .* Did you mean {near}?"),
        ):
            task(**options)


def test_a_table_and_a_task_without_a_judge_have_no_option_for_one() -> None:
    for task in (tasks.hkcanto, tasks.g2p):
        for judge in (True, False):
            with pytest.raises(OptionError, match="has no option 'judge'"):
                task(judge=judge)


def test_a_value_that_cannot_be_lists_those_that_can() -> None:
    for task, options, says in [
        (tasks.g2p, {"examples": "papr"}, "examples: paper or release"),
        (tasks.g2p, {"shots": 6}, "shots=6, but there are 5 worked examples"),
        (tasks.hkmmlu, {"prompt": "fr"}, r"prompt='fr'.*zh, zh\+scaffold"),
        (
            tasks.hkmmlu,
            {"subjects": "hk_law,dentist"},
            r"no subjects \['dentist'\].* dentistry",
        ),
    ]:
        with named(task, options, says), pytest.raises(OptionError, match=says):
            task(**options)


def test_a_task_that_does_not_exist_gets_a_suggestion() -> None:
    with pytest.raises(CatalogueError, match="Did you mean hkcanto_g2p"):
        tasks.run("hkcanto_gtp")


def test_log_likelihood_is_sent_to_lm_eval() -> None:
    with pytest.raises(OptionError, match=r"run it in lm-eval, or hkmmlu here"):
        tasks.run("hkmmlu_mc")


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("inspect eval hkcanto/hkmmllu", "No task hkcanto/hkmmllu. Did you mean"),
        ("inspect eval hkcanto/hkcanto_law", "Did you mean hkcanto/law?"),
        ("inspect eval hkcanto/law hkcanto/g2q", "No task hkcanto/g2q."),
        ("inspect eval hkcanto/run -T task=x", ""),
        ("inspect eval hkcanto/law --model hkcanto/pycantonese", ""),
        ("inspect eval hkcanto/law", ""),
        ("inspect eval my/hkmmllu", ""),
        ("my_program.py eval hkcanto/hkmmllu", ""),
    ],
)
def test_an_unknown_task_in_inspects_command_has_a_suggestion(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    command: str,
    says: str,
) -> None:
    monkeypatch.setattr(sys, "argv", command.split())
    with caplog.at_level(logging.WARNING, "hkcanto"):
        _registry._hint_at_unknown_tasks()
    assert says in caplog.text
    assert len(caplog.messages) == bool(says)


def test_a_command_without_our_tasks_does_not_read_the_catalogue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read(**_: object) -> None:
        pytest.fail("the catalogue was read")

    monkeypatch.setattr(_registry, "named_tasks", read)
    for command in ("inspect eval gsm8k", "python train.py hkcanto/law"):
        monkeypatch.setattr(sys, "argv", command.split())
        _registry._hint_at_unknown_tasks()


LAW = {
    "id": "hkcanto_law/law/1",
    "choices": ["a fine", "prison"],
    "target": "B",
    "subject": "law",
}


def judgement(scorer: Any, response: str, **metadata: Any) -> Any:
    """The values of one response, without a run."""
    state: Any = SimpleNamespace(
        metadata={**LAW, **metadata},
        messages=[],
        output=ModelOutput.from_content("model", response),
        epoch=1,
    )
    return asyncio.run(scorer(state, Target("B"))).value


def test_a_scorer_of_one_task_needs_no_name_in_the_sample() -> None:
    one = scorers.judged("hkcanto_law", {"shots": 0})
    assert judgement(one, "B") == {"acc": 1, "unparsed_rate": 0}
    assert judgement(one, "A", task="hkcanto_g2p")["acc"] == 0


def test_a_scorer_of_several_tasks_or_of_none_takes_the_samples_own() -> None:
    several = scorers.judged(["hkcanto_g2p", "hkcanto_law"])
    assert judgement(several, "B", task="hkcanto_law")["acc"] == 1
    with pytest.raises(KeyError):
        judgement(several, "B", task="hkmmlu", options={})
    unnamed = scorers.judged()
    assert judgement(unnamed, "B", task="hkcanto_law", options={"shots": 0})["acc"] == 1
