"""Every release of lm-eval that we allow sends the same requests and prints the same figures."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hkcanto_tasks.results.logs import read_runs

from ..answering import AnsweringLM, answer
from ..recording import RecordingServer, recording
from .environments import (
    REPOSITORY,
    Environment,
    build_wheels,
    create_environment,
    install,
    unpack_lm_eval,
)
from .evaluating import evaluate

RELEASES = ("0.4.13", "0.5.0.dev1")
WITH_MODEL = f"""
import sys
import lm_eval.models
sys.path.append({str(REPOSITORY)!r})
from lm_eval.api.registry import register_model
from lm_eval.__main__ import cli_evaluate
from tests.answering import AnsweringLM
class Model(AnsweringLM):
    def __init__(self, **_):
        super().__init__()
register_model("answering")(Model)
cli_evaluate()
"""
TASKS = "hkcanto,hkmmlu,hkmmlu_mc,hkmmlu_by_subject,tmmluplus_gen_cot"


class Done(NamedTuple):
    table: list[str]
    results: dict[str, dict[str, Any]]
    samples: dict[str, list[dict[str, Any]]]
    folder: Path
    log: str


@pytest.fixture(scope="module")
def environment(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], Environment]:
    """Return a function from a release of lm-eval to an environment with it."""
    wheels = build_wheels(tmp_path_factory.mktemp("wheels"))
    plain = install(
        create_environment(tmp_path_factory.mktemp("all"), dependencies=True), *wheels
    )

    @cache
    def using(version: str) -> Environment:
        return plain.using(
            unpack_lm_eval(version, tmp_path_factory.mktemp("lm_eval"), tasks="arc")
        )

    return using


@pytest.fixture(scope="module")
def command(
    environment: Callable[[str], Environment], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Done]:
    """Return a function that runs a release's command line; it returns the output and logs."""

    @cache
    def run(version: str, *arguments: str) -> Done:
        for _ in range(
            2
        ):  # about once in twenty, the pre-release ends in a signal after its work
            folder = tmp_path_factory.mktemp("run")
            done = environment(version).start(
                *(
                    "-c",
                    WITH_MODEL,
                    *arguments,
                    "--log_samples",
                    "--output_path",
                    str(folder),
                ),
                HKCANTO_DATA="sample",
                HF_HUB_OFFLINE="1",
            )
            if done.returncode >= 0:
                break
        assert done.returncode == 0, done.stderr[-3000:]
        (file,) = folder.glob("*/results_*.json")
        results = json.loads(file.read_text("utf-8"))
        stamp = file.stem.removeprefix("results_")
        samples = {
            bare(name): [
                json.loads(line) for line in path.read_text("utf-8").splitlines()
            ]
            for name in results["configs"]
            if (path := file.with_name(f"samples_{name}_{stamp}.jsonl")).exists()
        }
        figures = {bare(name): numbers(row) for name, row in results["results"].items()}
        # 0.5 orders groups differently; a standard error of zero is 0 in one generation and 0.0000
        # in the other.
        rows = [
            line.split("|")[5:-1]
            for line in done.stdout.splitlines()
            if line[:1] == "|"
        ]
        table = sorted(
            "|".join(map(str.strip, row)).replace("|0.0000", "|0") for row in rows
        )
        return Done(table, figures, samples, folder, done.stderr)

    return run


def bare(name: str) -> str:
    """A task's name without the group name that 0.5 puts before it."""
    return name.rpartition("::")[2]


def numbers(row: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in row.items() if "," in key}


def requests_of(sample: dict[str, Any]) -> list[list[Any]]:
    """The arguments of a sample's requests: 0.4 names them, 0.5 does not."""
    arguments = sample["arguments"]
    if isinstance(arguments, dict):
        return [[*each.values()] for each in arguments.values()]
    found: list[list[Any]] = arguments
    return found


@pytest.mark.slow
@pytest.mark.parametrize("version", RELEASES[1:])
@pytest.mark.parametrize(
    "arguments",
    [
        ("--model", "answering", "--tasks", TASKS),
        (
            "--model",
            "answering",
            "--tasks",
            "hkmmlu,hkmmlu_mc",
            "--num_fewshot",
            "2",
            "--limit",
            "7",
        ),
    ],
    ids=["all tasks", "two examples"],
)
def test_requests_and_figures_are_those_of_the_oldest_release(
    command: Callable[..., Done], version: str, arguments: tuple[str, ...]
) -> None:
    oldest, other = command(RELEASES[0], *arguments), command(version, *arguments)
    assert oldest.results == other.results
    assert oldest.table == other.table
    assert oldest.samples.keys() == other.samples.keys()
    assert len(oldest.samples) == (2 if "--limit" in arguments else len(oldest.samples))
    for name, samples in oldest.samples.items():
        for one, two in zip(samples, other.samples[name], strict=True):
            assert one["doc"] == two["doc"]
            assert requests_of(one) == requests_of(two)


@pytest.mark.slow
def test_a_chat_gets_the_same_messages(command: Callable[..., Done]) -> None:
    asked: list[list[Any]] = []
    for release in RELEASES:
        with recording() as server:
            chat(command, release, server)
            asked.append(sorted(map(what_is_asked, server.requests)))
    assert len(asked[0]) == 14
    assert asked[1:] == asked[:1] * (len(RELEASES) - 1)


def chat(command: Callable[..., Done], version: str, server: RecordingServer) -> Done:
    model = f"model=sentence,base_url={server.url}/chat/completions,tokenized_requests=False"
    return command(
        *(version, "--model", "local-chat-completions", "--model_args", model),
        *("--tasks", "hkcanto_cultural", "--apply_chat_template", "--limit", "14"),
    )


def what_is_asked(body: dict[str, Any]) -> str:
    messages = [(each["role"], each["content"]) for each in body["messages"]]
    return json.dumps(
        [messages, *(body[key] for key in ("stop", "max_tokens", "temperature"))]
    )


@pytest.mark.slow
@pytest.mark.parametrize("version", [RELEASES[0], RELEASES[-1]])
def test_logs_are_read_with_their_prompts(
    command: Callable[..., Done], version: str
) -> None:
    done = command(version, "--model", "answering", "--tasks", TASKS)
    runs = {run.task: run for run in read_runs(done.folder, texts=True).runs}
    assert {"hkmmlu", "hkmmlu_mc", "tmmluplus_gen_cot", "hkcanto_g2p"} <= runs.keys()
    for task in ("hkmmlu", "hkmmlu_mc"):
        sent = [requests_of(sample)[0][0] for sample in done.samples[task]]
        assert sorted(text.prompt for text in runs[task].items.texts) == sorted(sent)


@pytest.mark.slow
def test_only_the_first_of_repeated_responses_is_scored(
    command: Callable[..., Done],
) -> None:
    """As lm-eval 0.4 does with its `repeats`; a message says so."""
    arguments = ("--model", "answering", "--tasks", "hkmmlu")
    once = command(RELEASES[-1], *arguments)
    twice = command(RELEASES[-1], *arguments, "--repeats", "2")
    assert once.results == twice.results
    assert "only the first of 2 responses" in twice.log


@pytest.mark.slow
def test_responses_alone_are_written_without_scores(
    command: Callable[..., Done],
) -> None:
    for version in (RELEASES[0], RELEASES[-1]):
        done = command(
            version, "--model", "answering", "--tasks", "hkmmlu", "--predict_only"
        )
        assert {*done.results["hkmmlu"]} == {"bypass,none", "bypass_stderr,none"}
        assert "judgement" not in done.samples["hkmmlu"][0]["doc"]


def test_responses_alone_are_not_judged_by_the_installed_release() -> None:
    results = evaluate("hkmmlu", model=AnsweringLM(), limit=2, predict_only=True)
    assert {*numbers(results["results"]["hkmmlu"])} == {
        "bypass,none",
        "bypass_stderr,none",
    }
    samples = results["samples"]["hkmmlu"]
    assert len(samples) == 2
    for sample in samples:
        ((prompt, _),) = requests_of(sample)
        assert sample["resps"] == [[answer(prompt)]]
        assert "judgement" not in sample["doc"]


LATE = WITH_MODEL.replace("super().__init__()", 'print("the model is loaded")')


@pytest.mark.slow
@pytest.mark.parametrize("version", [RELEASES[0], RELEASES[-1]])
@pytest.mark.parametrize(
    ("arguments", "data", "said"),
    [
        (
            ("--tasks", "hkmmlu"),
            "no/such/folder",
            "HKCANTO_DATA_DIR=no/such/folder is not",
        ),
        (("--tasks", "hkcanto", "--num_fewshot", "9"), "", "shots=9, but there are"),
        (
            ("--tasks", "hkmmlu", "--metadata", '{"promt": "yue"}'),
            "",
            "has no option 'promt'",
        ),
    ],
    ids=["no data", "too few examples", "unknown option"],
)
def test_what_is_missing_is_said_before_the_model_is_loaded(
    environment: Callable[[str], Environment],
    version: str,
    arguments: tuple[str, ...],
    data: str,
    said: str,
) -> None:
    where = {"HKCANTO_DATA_DIR": data} if data else {"HKCANTO_DATA": "sample"}
    command = ("-c", LATE, "--model", "answering", *arguments)
    done = environment(version).start(*command, HF_HUB_OFFLINE="1", **where)
    assert done.returncode != 0
    assert said in done.stderr
    assert "the model is loaded" not in done.stdout
