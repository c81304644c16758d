"""Requests have temperature 0 unless the user set one, and one system message."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.model import GenerateConfig, Model, ModelOutput, ModelUsage, get_model

from hkcanto import scorers, solvers, tasks
from hkcanto_tasks import read_runs

from ..cases import named
from ..recording import RecordingServer, recording, text_of
from ..unwatched import UNWATCHED


@pytest.fixture(scope="module")
def server() -> Iterator[RecordingServer]:
    with recording() as running:
        yield running


@pytest.fixture
def asked(
    server: RecordingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[list[dict[str, Any]], Any]]:
    """Return a function that runs a task in this process; it returns the requests and the run."""
    monkeypatch.setenv("LOCAL_API_KEY", "none")

    def ask(task: str, model: Any = "openai-api/local/letters", **more: Any) -> Any:
        server.requests.clear()
        logs = tmp_path / str(len(list(tmp_path.iterdir())))
        inspect_eval(
            tasks.run(task=task),
            model=model,
            model_base_url=server.url,
            limit=2,
            log_dir=str(logs),
            **UNWATCHED,
            **more,
        )
        (run,) = read_runs(logs).runs
        return sorted(
            server.requests, key=lambda body: text_of(body["messages"][-1])
        ), run

    return ask


def test_the_users_temperature_wins_and_the_log_says_what_was_sent(
    asked: Callable[..., Any],
) -> None:
    for more, temperature, said in [
        ({}, 0, "greedy"),
        ({"temperature": 0.7}, 0.7, "temperature 0.7"),
        ({"temperature": 0}, 0, "greedy"),
    ]:
        with named(more, temperature, said):
            requests, run = asked("hkmmlu", **more)
            assert [body["temperature"] for body in requests] == [temperature] * 2
            assert run.generation["temperature"] == temperature
            assert run.decoding == said


def test_a_model_of_nnterp_which_refuses_a_temperature_of_0_takes_the_likeliest_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[GenerateConfig] = []

    def answer(
        messages: Any, tools: Any, choice: Any, config: GenerateConfig
    ) -> ModelOutput:
        del messages, tools, choice
        sent.append(config)
        return ModelOutput.from_content("x", "A")

    monkeypatch.setattr(Model, "__str__", lambda _: "nnterp/gpt2")
    for temperature, expected in [(None, (None, 1)), (0.7, (0.7, None))]:
        model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
        more = {"temperature": temperature} if temperature else {}
        task, logs = tasks.run(task="hkmmlu"), str(tmp_path)
        inspect_eval(task, model=model, limit=1, log_dir=logs, **UNWATCHED, **more)
        assert (sent[-1].temperature, sent[-1].top_k) == expected


def test_transformers_sample_only_at_a_temperature(tmp_path: Path) -> None:
    """Its provider refuses a temperature of 0; greedy is `do_sample=False`."""
    for temperature, samples in [(None, False), (0.0, False), (0.7, True)]:
        model = get_model("mockllm/model", custom_outputs=usable, memoize=False)
        model.api.do_sample = None
        more = {} if temperature is None else {"temperature": temperature}
        task, logs = tasks.run(task="hkmmlu"), str(tmp_path)
        inspect_eval(task, model=model, limit=1, log_dir=logs, **UNWATCHED, **more)
        assert model.api.do_sample is samples


def usable(*_: Any) -> ModelOutput:
    output = ModelOutput.from_content("x", "A")
    output.usage = ModelUsage()  # otherwise, Inspect downloads a tokenizer to count
    return output


def test_the_temperature_of_a_model_made_in_python_is_sent_unless_the_run_has_one(
    asked: Callable[..., Any], server: RecordingServer
) -> None:
    config = GenerateConfig(temperature=0.3)
    model = get_model("openai-api/local/letters", base_url=server.url, config=config)
    # As in Inspect itself, an argument of the run goes before the model's own setting.
    for more, temperature in [({}, 0.3), ({"temperature": 0.7}, 0.7)]:
        requests, run = asked("hkmmlu", model, **more)
        assert [body["temperature"] for body in requests] == [temperature] * 2
        assert run.generation["temperature"] == temperature


def test_a_model_that_takes_no_temperature_is_not_called_greedy(
    asked: Callable[..., Any], server: RecordingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    of_server = server.answer
    monkeypatch.setattr(
        server, "answer", lambda body: of_server({**body, "model": "letters"})
    )
    requests, run = asked("hkmmlu", "openai/o3", model_args={"responses_api": False})
    assert requests
    assert not any("temperature" in body for body in requests)
    assert run.decoding == "decoding unknown"


def test_a_users_system_message_is_in_front_of_the_tasks_own(
    asked: Callable[..., Any],
) -> None:
    for task, roles in [
        ("hkcanto_cultural", ["system", "user"]),
        ("hkmmlu", ["system", "user"]),
    ]:
        with named(task, roles):
            requests, run = asked(task, system_message="Be brief.")
            plain, _ = asked(task)
            for body, without in zip(requests, plain, strict=True):
                first, *rest = body["messages"]
                own = [each for each in without["messages"] if each["role"] == "system"]
                expected = "\n\n".join(["Be brief.", *map(text_of, own)])
                assert (first["role"], text_of(first)) == ("system", expected)
                assert rest == without["messages"][len(own) :]
                assert [each["role"] for each in body["messages"]] == roles
            assert any("system instruction" in note for note in run.notes)


def test_transformers_decode_greedily(
    inspect_cli: Callable[..., Any], tiny_model: Path
) -> None:
    """The provider refuses temperature 0; by default, it samples."""
    answers = []
    for more in (["--seed", "1"], ["--seed", "2", "--temperature", "0"]):
        run = inspect_cli(
            *("--model", f"hf/{tiny_model}", "--limit", "3", *more),
            task="hkcanto/law",
        )
        assert run.log.status == "success", run.log.error
        answers.append(
            {sample.id: sample.output.completion for sample in run.log.samples}
        )
    assert answers[0] == answers[1]
    assert any(answers[0].values())


@pytest.mark.parametrize(("cut", "warns"), [(15, False), (16, True)])
def test_a_run_warns_early_if_half_of_its_responses_are_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut: int, warns: bool
) -> None:
    numbers = count()
    warnings: list[str] = []
    monkeypatch.setattr(scorers._log, "warning", warnings.append)

    def respond(*_: Any) -> ModelOutput:
        is_cut = next(numbers) < cut
        text, stop = ("<think>諗緊", "max_tokens") if is_cut else ("A", "stop")
        output = ModelOutput.from_content("x", text, stop)
        output.usage = ModelUsage()  # otherwise, Inspect downloads a tokenizer to count
        return output

    model = get_model("mockllm/model", custom_outputs=respond, memoize=False)
    task, logs = tasks.run(task="hkmmlu"), str(tmp_path)
    inspect_eval(
        task, model=model, limit=33, log_dir=logs, max_connections=1, **UNWATCHED
    )
    said = [text for text in warnings if "16 of 32 responses were cut off" in text]
    assert bool(said) is warns, warnings


@pytest.mark.parametrize(
    ("said", "stop", "reason"),
    [
        ("等我諗下。答案係A。不過都要睇下選項B，因為", "max_tokens", "none: cut off"),
        ("等我諗下。答案係A。</think>B", "max_tokens", "bare"),
        ("等我諗下。答案係A。", "stop", "stated"),
    ],
)
def test_an_answer_inside_a_block_that_the_template_opened_is_none(
    tmp_path: Path, said: str, stop: Any, reason: str
) -> None:
    output = ModelOutput.from_content("m", said, stop)
    output.usage = ModelUsage()  # otherwise, Inspect downloads a tokenizer to count
    model = get_model("mockllm/model", custom_outputs=[output])
    model.api.tokenizer = OpensReasoning()  # like Inspect's `hf` provider
    (log,) = inspect_eval(
        tasks.run(task="hkmmlu"),
        model=model,
        limit=1,
        log_dir=str(tmp_path),
        **UNWATCHED,
    )
    (sample,) = log.samples
    (score,) = sample.scores.values()
    assert score.metadata["judgement"]["reason"] == reason
    (run,) = read_runs(tmp_path).runs
    assert [*run.items.reasons] == [reason]


@pytest.mark.parametrize(("reasoning", "warnings"), [(False, 1), (True, 0)])
def test_a_limit_without_room_for_reasoning_is_warned_of_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reasoning: bool, warnings: int
) -> None:
    said: list[str] = []
    monkeypatch.setattr(solvers._log, "warning", said.append)
    output = ModelOutput.from_content("m", "A")
    output.usage = ModelUsage()  # otherwise, Inspect downloads a tokenizer to count
    model = get_model("mockllm/model", custom_outputs=[output] * 3, memoize=False)
    model.api.tokenizer = OpensReasoning()
    inspect_eval(
        tasks.hkmmlu(reasoning=reasoning),
        model=model,
        limit=3,
        log_dir=str(tmp_path),
        **UNWATCHED,
    )
    found = [text for text in said if "the chat template has a reasoning block" in text]
    assert len(found) == warnings
    assert all(text.startswith("hkmmlu: ") and "-T reasoning" in text for text in found)


class OpensReasoning:
    chat_template = "a template with <think>"

    def apply_chat_template(self, *_: Any, **__: Any) -> str:
        return "<user>?<assistant><think>\n"
