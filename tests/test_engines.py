"""The claims of docs/engines.md about lm-eval's and Inspect's own engines."""

import os
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hkcanto_tasks.cli import app
from hkcanto_tasks.results.logs import read_runs
from hkcanto_tasks.results.logs.items import settings_of

from .conftest import run
from .lm_eval.evaluating import evaluate
from .recording import RecordingServer, recording
from .reports.harness_runs import run_lm_eval
from .scripts import REPOSITORY

ENGINES = REPOSITORY / "docs" / "engines.md"


@pytest.fixture
def server() -> Iterator[RecordingServer]:
    with recording() as running:
        yield running


# --------------------------------------------------------------- think_end_token of lm-eval


def ask(server: RecordingServer, folder: Path, form: str, more: str = "") -> list[Any]:
    """Run HKMMLU on a chat server through lm-eval; return what was read of the responses."""
    run_lm_eval(
        folder,
        "hkmmlu",
        model="local-chat-completions",
        model_args=f"model={form},base_url={server.url}/chat/completions{more}",
        apply_chat_template=True,
        metadata={"reasoning": True},
        limit=4,
    )
    (found,) = read_runs([folder], texts=True)
    return [(text.answer, text.response) for text in found.items.texts]


def test_think_end_token_removes_the_reasoning_and_reports_say_so(
    server: RecordingServer, tmp_path: Path
) -> None:
    whole = ask(server, tmp_path / "logs/whole", "think")
    cut = ask(server, tmp_path / "logs/cut", "think", ",think_end_token=</think>")
    assert [answer for answer, _ in cut] == [answer for answer, _ in whole]
    assert all("<think>" in response for _, response in whole)
    assert not any("think" in response for _, response in cut)
    runs = {
        dict(each.settings).get("think_end_token"): each
        for each in read_runs([tmp_path])
    }
    assert set(runs) == {None, "</think>"}  # both runs are kept
    assert not runs[None].notes
    (note,) = runs["</think>"].notes
    assert (
        note == "lm-eval removed the reasoning up to </think>: its language is unknown"
    )
    known = {
        key: "reasoning_cantonese" in each.items.values for key, each in runs.items()
    }
    assert known == {None: True, "</think>": False}, known
    shown = CliRunner().invoke(app, ["report", str(tmp_path), "--format", "md"])
    printed = shown.output.replace("\\", "")  # Markdown's escapes
    assert note in printed


def test_reasoning_that_has_no_end_is_left_as_it_is(
    server: RecordingServer, tmp_path: Path
) -> None:
    said = ask(server, tmp_path, "unclosed", ",think_end_token=</think>")
    assert all(
        answer == "" and response.startswith("<think>") for answer, response in said
    )


@pytest.mark.parametrize("name", ["add_bos_token", "think_end_token"])
def test_a_token_of_the_vocabulary_is_a_setting(name: str) -> None:
    assert settings_of({name: "x"}) == ((name, "x"),)


@pytest.mark.parametrize("name", ["hf_token", "auth_token", "token", "backend_token"])
def test_a_token_that_opens_a_door_is_nobodys_business(name: str) -> None:
    assert settings_of({name: "x"}) == ()


# --------------------------------------------------------------- enable_thinking


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "closed"),
    [
        ("enable_thinking=False", True),
        ("enable_thinking=True,think_end_token=", False),
        ("enable_thinking=True,think_end_token=</think>", False),
    ],
)
def test_enable_thinking_reaches_the_template(
    thinking_model: Path, arguments: str, closed: bool
) -> None:
    results = evaluate(
        "hkcanto_law",
        model="hf",
        model_args=f"pretrained={thinking_model},{arguments}",
        device="cpu",
        apply_chat_template=True,
        gen_kwargs="max_gen_toks=4",
        limit=1,
    )
    (sample,) = results["samples"]["hkcanto_law"]
    assert sample["arguments"][0][0].endswith("</think>\n\n") == closed


@pytest.mark.slow
def test_lm_eval_wants_to_know_how_thinking_ends(thinking_model: Path) -> None:
    """If lm-eval no longer requires it, docs/engines.md can drop the advice to leave it empty."""
    with pytest.raises(ValueError, match="think_end_token is required"):
        evaluate(
            "hkcanto_law",
            model="hf",
            model_args=f"pretrained={thinking_model},enable_thinking=True",
            device="cpu",
            apply_chat_template=True,
            limit=1,
        )


# --------------------------------------------------------------- one server, several clients


class WaitingServer(RecordingServer):
    """Answers no request until clients of both harnesses have sent one."""

    def __init__(self) -> None:
        super().__init__()
        self.both = threading.Barrier(2, timeout=300)
        self._asked: set[bool] = set()
        self._lock = threading.Lock()

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        of_lm_eval = "seed" in body
        with self._lock:
            is_first = of_lm_eval not in self._asked
            self._asked.add(of_lm_eval)
        if is_first:
            self.both.wait()
        return super().answer(body)


@pytest.mark.slow
def test_clients_of_one_server_run_at_the_same_time_and_have_one_report(
    tmp_path: Path,
) -> None:
    page = ENGINES.read_text("utf-8")
    (recipe,) = re.findall(r"^```bash\n(model=.*?)^```$", page, re.M | re.S)
    server = WaitingServer()
    recipe = recipe.replace("Qwen/Qwen3-8B", "letters").replace(
        "http://localhost:8000/v1", server.url
    )
    commands = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    try:
        run("bash", "-e", "-c", recipe, cwd=tmp_path, env={"PATH": commands})
    finally:
        server.close()
    assert (tmp_path / "report.html").stat().st_size
    runs = {each.task: each for each in read_runs([tmp_path / "logs"])}
    assert {name: each.harness for name, each in runs.items()} == {
        "hkmmlu": "lm-eval",
        "tmmluplus_gen": "lm-eval",
        "hkcanto_g2p": "inspect",
    }
    with recording() as own:
        alone = evaluate(
            "hkmmlu",
            model="local-chat-completions",
            model_args=f"model=letters,base_url={own.url}/chat/completions",
            apply_chat_template=True,
        )
    assert (
        runs["hkmmlu"].items.values["acc"].mean()
        == alone["results"]["hkmmlu"]["acc,none"]
    )
