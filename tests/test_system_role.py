"""The instruction reaches models whose chat template has no system role (Gemma 2, Mistral 7B)."""

import json
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import jinja2
import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import resolve_sample_attachments
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from lm_eval.utils import warning_once

from hkcanto import tasks
from hkcanto_tasks import load_task, read_runs

from .answering import AnsweringLM
from .lm_eval.evaluating import evaluate, first_prompt

TURNS = (
    "{% for message in messages %}[{{ message.role }}]{{ message.content }}{% endfor %}"
)
REFUSING = (
    "{% if messages[0].role == 'system' %}"
    "{{ raise_exception('System role not supported') }}{% endif %}" + TURNS
)
DROPPING = (
    "{% for message in messages if message.role != 'system' %}"
    "[{{ message.role }}]{{ message.content }}{% endfor %}"
)
LAW = "The following are multiple choice questions (with answers) about"


class Tokenizer:
    """Renders a chat template, as that of Transformers does."""

    def __init__(self, template: str) -> None:
        self.chat_template = template

    def apply_chat_template(self, messages: Sequence[Any], **_: Any) -> str:
        def fail(why: str) -> None:
            raise jinja2.TemplateError(why)

        template = jinja2.Environment().from_string(self.chat_template)
        return template.render(messages=messages, raise_exception=fail)


class TemplateLM(AnsweringLM):
    """Renders chats as lm-eval's `hf` and `vllm` do: a refused system message is dropped."""

    def __init__(self, template: str) -> None:
        super().__init__()
        self.tokenizer = Tokenizer(template)

    def apply_chat_template(
        self, chat_history: Sequence[dict[str, str]], **_: Any
    ) -> str:
        try:
            return self.tokenizer.apply_chat_template(chat_history)
        except jinja2.TemplateError:
            others = [turn for turn in chat_history if turn["role"] != "system"]
            return self.tokenizer.apply_chat_template(others)

    def chat_template(self, *_: Any) -> str:
        return self.tokenizer.chat_template


def run_lm_eval(template: str, task: str, **options: Any) -> tuple[str, str, Any]:
    """Return the first prompt, the signature and the hashes of the first request."""
    results = evaluate(
        task,
        model=TemplateLM(template),
        apply_chat_template=True,
        limit=1,
        bootstrap_iters=0,
        **options,
    )
    signature = results["configs"][task]["metadata"]["signature"]
    requested = results["samples"][task][0]["doc"]["requested"]
    return first_prompt(results, task), signature, requested


@pytest.mark.parametrize("template", [REFUSING, DROPPING])
def test_lm_eval_puts_the_instruction_into_the_users_message(
    template: str, caplog: pytest.LogCaptureFixture
) -> None:
    warning_once.cache_clear()
    prompt, signature, (sent, catalogue) = run_lm_eval(template, "hkmmlu_hk_law")
    loaded = load_task("hkmmlu_hk_law")
    assert prompt == "[user]" + loaded.prompt(loaded.samples[0]).text()
    assert "請只輸出A/B/C/D選項字母" in prompt  # as in Figure 10
    assert "|no_system:yes|" in signature
    assert sent == catalogue
    assert "The chat template has no system role" in caplog.text
    assert "removing the system role" not in caplog.text


def test_a_template_with_a_system_role_is_sent_one() -> None:
    prompt, signature, (sent, catalogue) = run_lm_eval(TURNS, "hkmmlu_hk_law")
    assert prompt.startswith("[system]")
    assert "no_system" not in signature
    assert sent == catalogue


def test_lm_eval_adds_a_system_instruction_of_the_user_too() -> None:
    options = {"system_instruction": "Be brief."}
    prompt, _, (sent, catalogue) = run_lm_eval(REFUSING, "hkcanto_law", **options)
    assert prompt.startswith("[user]Be brief.\n\n")
    assert LAW in prompt
    assert sent != catalogue


def test_worked_examples_in_turns_keep_their_turns() -> None:
    prompt, *_ = run_lm_eval(
        REFUSING, "hkcanto_g2p", metadata={"multiturn": True}, num_fewshot=2
    )
    task = load_task("hkcanto_g2p", multiturn=True, no_system=True)
    loaded = task.at(shots=2, multiturn=True)
    turns = loaded.prompt(loaded.samples[0]).messages(multiturn=True, no_system=True)
    assert prompt == "".join(f"[{role}]{text}" for role, text in turns)
    assert [role for role, _ in turns] == ["user", "assistant"] * 2 + ["user"]


def sent_messages(sample: Any) -> list[Any]:
    events = resolve_sample_attachments(sample).events
    return next(event.input for event in events if event.event == "model")


def run_inspect(template: str, folder: Path, **options: Any) -> Any:
    def answer(*_: Any) -> ModelOutput:
        output = ModelOutput.from_content("mockllm/model", "A")
        # Otherwise mockllm fetches a tokenizer to count tokens.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    model = get_model("mockllm/model", memoize=False, custom_outputs=answer)
    vars(model.api)["tokenizer"] = Tokenizer(template)
    (log,) = inspect_eval(
        tasks.law(**options),
        model=model,
        limit=1,
        log_dir=str(folder),
        display="none",
    )
    assert log.status == "success", log.error
    return log


@pytest.mark.parametrize("template", [REFUSING, DROPPING])
def test_inspect_sends_what_lm_eval_sends(template: str, tmp_path: Path) -> None:
    log = run_inspect(template, tmp_path)
    sample = log.samples[0]
    (message,) = sent_messages(sample)
    prompt, *_ = run_lm_eval(template, "hkcanto_law")
    assert f"[{message.role}]{message.text}" == prompt
    (run,) = read_runs(tmp_path)
    assert run.options["no_system"] == "yes"
    assert not run.departure
    assert "no_system:yes" in run.condition


def test_inspect_keeps_the_turns_of_worked_examples(tmp_path: Path) -> None:
    log = run_inspect(REFUSING, tmp_path, multiturn=True, shots=2)
    messages = sent_messages(log.samples[0])
    task = load_task("hkcanto_law").at(shots=2, multiturn=True)
    sample = next(
        item for item in task.samples if item.id == log.samples[0].metadata["id"]
    )
    turns = task.prompt(sample).messages(multiturn=True, no_system=True)
    assert [(message.role, message.text) for message in messages] == [*turns]
    assert [role for role, _ in turns] == ["user", "assistant"] * 2 + ["user"]


def test_a_run_without_a_system_role_is_compared_with_one_that_has_it(
    tmp_path: Path,
) -> None:
    for name, template in (("without", REFUSING), ("with", TURNS)):
        run_inspect(template, tmp_path / name)
    (without,) = read_runs(tmp_path / "without")
    (with_role,) = read_runs(tmp_path / "with")
    assert without.comparable_as == with_role.comparable_as
    assert not without.differs(with_role)


# ------------------------------------------------------------------ a server cannot be asked


class _Server:
    """Answers requests with a system message as a vLLM server of Gemma 2 does."""

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if body["messages"][0]["role"] == "system":
            return 400, {"error": {"message": "System role not supported", "code": 400}}
        message = {"role": "assistant", "content": "A"}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return 200, {"id": "1", "model": "gemma", "object": "chat.completion",
                     "created": 1, "choices": [choice], "usage": usage}  # fmt: skip


@pytest.fixture(scope="module")
def refusing_server() -> Iterator[str]:
    import threading
    from http.server import ThreadingHTTPServer

    answers = _Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, content = answers.answer(body)
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()


def test_lm_eval_explains_a_servers_refusal(
    refusing_server: str, caplog: pytest.LogCaptureFixture
) -> None:
    arguments = {
        "model": "local-chat-completions",
        "model_args": f"model=gemma,base_url={refusing_server}/chat/completions,max_retries=1",
        "apply_chat_template": True,
        "limit": 1,
        "bootstrap_iters": 0,
    }
    with pytest.raises(Exception, match="400"):
        evaluate("hkcanto_law", **arguments)
    assert """message: --metadata '{"no_system": true}'.""" in caplog.text
    results = evaluate("hkcanto_law", **arguments, metadata={"no_system": True})
    assert results["results"]["hkcanto_law"]["sample_len"] == 1


def test_inspect_explains_a_servers_refusal(
    refusing_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    options: dict[str, Any] = {
        "model": "openai-api/local/gemma",
        "model_base_url": refusing_server,
        "limit": 1,
        "log_dir": str(tmp_path),
        "display": "none",
    }
    (log,) = inspect_eval(tasks.law(), **options)
    assert log.status == "error"
    message = log.error.message.replace("\\", "")
    assert "user's message: -T no_system=true." in message
    assert "System role not supported" in message
    (log,) = inspect_eval(tasks.law(no_system=True), **options)
    assert log.status == "success"


# ------------------------------------------------------------------ Transformers' own tokenizers


@pytest.fixture(scope="module")
def model_without_system_role(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch", reason="needs the extra e2e")
    from . import tiny_model

    return tiny_model.make(tmp_path_factory.mktemp("model"), REFUSING)


@pytest.mark.e2e
@pytest.mark.slow
def test_the_instruction_reaches_models_of_transformers(
    model_without_system_role: Path,
    lm_eval_cli: Callable[..., Any],
    inspect_cli: Callable[..., Any],
) -> None:
    run = lm_eval_cli(
        *("--model", "hf", "--model_args", f"pretrained={model_without_system_role}"),
        *("--apply_chat_template", "--limit", "2"),
        task="hkcanto_law",
    )
    loaded = load_task("hkcanto_law")
    text = loaded.prompt(loaded.samples[0]).text()
    assert run.samples[0]["arguments"]["gen_args_0"]["arg_0"] == f"[user]{text}"
    assert "user's message begins with the instruction" in " ".join(run.table.split())
    run = inspect_cli(
        *("--model", f"hf/{model_without_system_role}", "--limit", "1"),
        task="hkcanto/law",
    )
    (message,) = sent_messages(run.log.samples[0])
    assert (message.role, message.text) == ("user", text)
