"""Both harnesses send chat models the same messages, and read the answers alike."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval

from hkcanto import tasks
from hkcanto_lm_eval import task
from hkcanto_tasks import load_task
from hkcanto_tasks.catalogue import find_benchmark, named_tasks

from .answering import AnsweringLM
from .lm_eval.evaluating import evaluate
from .recording import FORMS, RecordingServer, letter, recording, text_of

GENERATIVE = [
    name
    for name, task in named_tasks().items()
    if task.scope == "task" and task.variant.scoring == "generative"
]


class ChattingLM(AnsweringLM):
    """Gets chat messages as JSON."""

    def apply_chat_template(self, chat_history: list[dict[str, str]], **_: Any) -> str:
        return json.dumps(chat_history, ensure_ascii=False)

    def chat_template(self, *_: Any) -> str:
        return "JSON"


@pytest.mark.parametrize("multiturn", [None, True])
@pytest.mark.parametrize(
    "name",
    [
        name
        if name == "hkcanto_cultural"
        else pytest.param(name, marks=pytest.mark.slow)
        for name in GENERATIVE
    ],
)
def test_lm_eval_sends_the_messages_that_inspect_sends(
    name: str, multiturn: bool | None
) -> None:
    loaded = load_task(name)
    options = {} if multiturn is None else {"metadata": {"multiturn": multiturn}}
    results = evaluate(
        name,
        model=ChattingLM(),
        apply_chat_template=True,
        limit=5,
        bootstrap_iters=0,
        **options,
    )
    samples = {sample.id: sample for sample in loaded.samples}
    assert results["samples"][name]
    for sample in results["samples"][name]:
        prompt = loaded.at(shots=loaded.task.shots).prompt(samples[sample["doc"]["id"]])
        messages = prompt.messages(multiturn=bool(multiturn))
        sent = json.loads(sample["arguments"][0][0])
        assert sent == [{"role": role, "content": text} for role, text in messages]
    signature = results["configs"][name]["metadata"]["signature"]
    turns = "multi" if multiturn and loaded.task.shots else "single"
    assert f"|turns:{turns}|" in signature


# ------------------------------------------------------------------ by the command lines


@pytest.fixture(scope="module")
def server() -> Iterator[RecordingServer]:
    with recording() as running:
        yield running


Asked = tuple[list[dict[str, Any]], Any]


@pytest.fixture(scope="module")
def ask_lm_eval(
    server: RecordingServer, lm_eval_cli: Callable[..., Any]
) -> Callable[..., Asked]:
    """Return a function that runs `lm_eval` on the server; it returns requests and log."""

    def ask(task: str, model: str, *more: str) -> Asked:
        server.requests.clear()
        url = f"{server.url}/chat/completions"
        run = lm_eval_cli(
            *("--model", "local-chat-completions", "--apply_chat_template"),
            *("--model_args", f"model={model},base_url={url},num_concurrent=4"),
            *("--limit", "4", *more),
            task=task,
        )
        return list(server.requests), run

    return ask


@pytest.fixture(scope="module")
def ask_inspect(
    server: RecordingServer, inspect_cli: Callable[..., Any]
) -> Callable[..., Asked]:
    """Return a function that runs `inspect eval` on the server; it returns requests and log."""

    def ask(task: str, model: str, *more: str) -> Asked:
        server.requests.clear()
        run = inspect_cli(
            *("-T", f"task={task}", "--model", f"openai-api/local/{model}"),
            *("--model-base-url", server.url, "--limit", "4", *more),
            task="hkcanto/run",
            LOCAL_API_KEY="none",
        )
        return list(server.requests), run.log

    return ask


def messages_of(requests: list[dict[str, Any]]) -> list[list[tuple[str, str]]]:
    sent = [
        [(each["role"], text_of(each)) for each in body["messages"]]
        for body in requests
    ]
    return sorted(sent)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("of_lm_eval", "of_inspect", "turns"),
    [
        ([], [], 0),
        (["--fewshot_as_multiturn", "true"], ["-T", "multiturn=true"], 5),
        (["--system_instruction", "Be brief."], ["--system-message", "Be brief."], 0),
    ],
)
def test_the_command_lines_send_the_same_bytes(
    ask_lm_eval: Callable[..., Asked],
    ask_inspect: Callable[..., Asked],
    of_lm_eval: list[str],
    of_inspect: list[str],
    turns: int,
) -> None:
    task = "hkcanto_cultural"
    in_lm_eval, run = ask_lm_eval(task, "letters", *of_lm_eval)
    in_inspect, log = ask_inspect(task, "letters", *of_inspect)
    assert messages_of(in_lm_eval) == messages_of(in_inspect)
    assert {body["temperature"] for body in in_lm_eval + in_inspect} == {0}
    for messages in messages_of(in_lm_eval):
        assert [role for role, _ in messages].count("system") == 1
        assert sum(role == "assistant" for role, _ in messages) == turns
    signature = run.results["configs"][task]["metadata"]["signature"]
    assert signature == log.eval.metadata["signature"]
    assert ("|turns:multi|" in signature) == bool(turns)
    # lm-eval's default is turns, so a message says that ours differs.
    assert run.table.count("All worked examples are in one user message") == (not turns)


UNREAD = ("unclosed", "field-cut-off", "harmony-cut-off", "empty", "null-content")


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_answer_is_read_alike(
    server: RecordingServer,
    form: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    results = evaluate(
        "hkmmlu",
        model="local-chat-completions",
        model_args=f"model={form},base_url={server.url}/chat/completions",
        apply_chat_template=True,
        limit=4,
    )
    (log,) = inspect_eval(
        tasks.run(task="hkmmlu"),
        model=f"openai-api/local/{form}",
        model_base_url=server.url,
        limit=4,
        log_dir=str(tmp_path),
        display="none",
    )
    samples = results["samples"]["hkmmlu"]
    in_lm_eval = {
        each["doc"]["id"]: each["doc"]["judgement"].get("answer", "")
        for each in samples
    }
    in_inspect = {each.id: each.scores["judged"].answer for each in log.samples}
    assert in_lm_eval == in_inspect
    prompts = {
        each.id: "".join(message.text for message in each.input) for each in log.samples
    }
    expected = {
        id_: "" if form in UNREAD else letter(text) for id_, text in prompts.items()
    }
    assert in_inspect == expected
    assert results["results"]["hkmmlu"]["unparsed_rate,none"] == float(form in UNREAD)
    assert "All worked examples" not in caplog.text  # it has none


KINDS = {
    "hkmmlu": "acc",
    "hkmmlu_cot": "acc",
    "hkcanto_translation_zh_yue": "chrf",
    "hkcanto_summarization": "fluent",
    "hkcanto_sentiment": "acc_macro",
    "hkcanto_fluency": "fluent",
    "hkcanto_g2p": "cer_published",
}


@pytest.mark.slow
@pytest.mark.parametrize("task", KINDS)
def test_every_kind_of_task_runs_on_every_kind_of_server(
    server: RecordingServer, task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    plain = "tokenizer_backend=None,tokenized_requests=False"
    chatting: dict[str, Any] = {"apply_chat_template": True}
    results = [
        evaluate(
            task,
            model=api,
            model_args=f"model=sentence,base_url={url}",
            limit=3,
            **more,
        )
        for api, url, more in (
            ("local-chat-completions", f"{server.url}/chat/completions", chatting),
            ("local-completions", f"{server.url}/completions,{plain}", {}),
        )
    ]
    (log,) = inspect_eval(
        tasks.run(task=task),
        model="openai-api/local/sentence",
        model_base_url=server.url,
        limit=3,
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success", log.error
    chat, completions = (
        each["results"][task][f"{KINDS[task]},none"] for each in results
    )
    (judged,) = log.results.scores
    assert judged.metrics[KINDS[task]].value == pytest.approx(chat)
    assert 0 <= completions <= 100


@pytest.mark.slow
@pytest.mark.parametrize("form", ["breaks", "think"])
def test_a_completion_server_is_read_alike(server: RecordingServer, form: str) -> None:
    server.requests.clear()
    plain = "tokenizer_backend=None,tokenized_requests=False"
    results = evaluate(
        "hkmmlu",
        model="local-completions",
        model_args=f"model={form},base_url={server.url}/completions,{plain}",
        limit=4,
        metadata={"reasoning": True} if form == "think" else {},
    )
    assert len(server.requests) == 4
    assert all(isinstance(body["prompt"], (str, list)) for body in server.requests)
    assert results["results"]["hkmmlu"]["unparsed_rate,none"] == 0


@pytest.mark.slow
def test_log_likelihood_on_a_chat_server_is_refused_by_lm_eval_itself(
    ask_lm_eval: Callable[..., Asked],
) -> None:
    with pytest.raises(
        AssertionError, match=r"(?s)NotImplementedError.*[Ll]oglikelihood"
    ):
        ask_lm_eval("hkmmlu_mc", "letters")


# ------------------------------------------------------------------ caches, retries, failures


@pytest.mark.slow
def test_requests_are_not_cached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import lm_eval.caching.cache as cache

    monkeypatch.setattr(cache, "PATH", str(tmp_path / "cache"))
    evaluate("hkmmlu", model=AnsweringLM(), cache_requests=True, limit=6)
    assert not (tmp_path / "cache").exists()


class Broken(AnsweringLM):
    """Gives no text, or no number as a log-likelihood."""

    def generate_until(
        self, requests: list[Any], disable_tqdm: bool = False
    ) -> list[Any]:
        del disable_tqdm
        return [None] * len(requests)

    def loglikelihood(self, requests: list[Any], **_: Any) -> list[tuple[float, bool]]:
        return [(float("nan"), False)] * len(requests)


@pytest.mark.slow
@pytest.mark.parametrize("task", ["hkmmlu", "hkmmlu_mc", "hkcanto_sentiment"])
def test_nothing_and_no_number_are_unparsed(
    task: str, caplog: pytest.LogCaptureFixture
) -> None:
    figures = evaluate(task, model=Broken(), limit=4)["results"][task]
    assert (figures["acc,none"], figures["unparsed_rate,none"]) == (0.0, 1.0)
    assert ("NaN as a log-likelihood" in caplog.text) == (task == "hkmmlu_mc")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "figure", "value"),
    [("hkcanto_g2p", "invalid_rate", 1.0), ("hkmmlu_translation_zh_yue", "bleu", 0.0)],
)
def test_nothing_costs_no_run(task: str, figure: str, value: float) -> None:
    assert (
        evaluate(task, model=Broken(), limit=4)["results"][task][f"{figure},none"]
        == value
    )


@pytest.mark.slow
def test_a_retry_with_other_data_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspect_ai import eval_retry

    from hkcanto import models

    calls = 0
    sentence_of = models.sentence_of

    def until_the_third(text: str) -> str:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise RuntimeError("the server went away")
        return sentence_of(text)

    monkeypatch.setattr(models, "sentence_of", until_the_third)
    monkeypatch.setenv("HKCANTO_DATA", "sample")
    (log,) = inspect_eval(
        "hkcanto/g2p", model="hkcanto/pycantonese", limit=4, max_connections=1, max_samples=1,
        log_dir=str(tmp_path / "logs"), display="none",
    )  # fmt: skip
    assert log.status == "error"
    (again,) = eval_retry(log, log_dir=str(tmp_path / "again"), display="none")
    assert again.status == "success", again.error
    sample = Path(find_benchmark("hkcanto").home, "sample/phonetics-g2p")
    for split in ("dev", "test"):
        (file,) = (sample / split).glob("*.json")
        other = tmp_path / f"data/hkeval2025/phonetics-g2p/{split}/{file.name}"
        other.parent.mkdir(parents=True)
        other.write_text(file.read_text("utf-8").replace("go3", "go2"), "utf-8")
    monkeypatch.delenv("HKCANTO_DATA")
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path / "data"))
    (mixed,) = eval_retry(log, log_dir=str(tmp_path / "mixed"), display="none")
    assert mixed.status == "error"
    assert "different data, options or versions" in mixed.error.message


@pytest.mark.parametrize(
    ("asks", "is_chat", "shots", "flag", "turns", "told"),
    [
        (True, True, 5, False, False, True),
        (False, True, 5, False, False, False),
        (True, False, 5, False, False, False),
        (True, True, 0, False, False, False),
        (True, True, 5, True, True, False),
        (False, True, 5, True, False, False),
    ],
)
def test_turns_need_the_users_flag_and_their_absence_is_told(
    asks: bool,
    is_chat: bool,
    shots: int,
    flag: bool,
    turns: bool,
    told: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    monkeypatch.setattr(task, "warning_once", lambda _, text: said.append(text))
    without_option: Any = SimpleNamespace(_turns_option=None, _has_turns_flag=flag)
    ask = task.CatalogueTask._multiturn
    assert ask(without_option, asks, is_chat=is_chat, shots=shots) is turns
    assert [text for text in said if "metadata={'multiturn': True}" in text] == said
    assert bool(said) is told
    for option in (True, False):
        declared: Any = SimpleNamespace(_turns_option=option)
        assert ask(declared, asks, is_chat=is_chat, shots=shots) is option
