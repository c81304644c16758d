"""What was sent is compared with the catalogue's requests, in both harnesses."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import (
    Generate,
    Solver,
    TaskState,
    chain_of_thought,
    generate,
    prompt_template,
    solver,
    system_message,
)
from typer.testing import CliRunner

from hkcanto import tasks
from hkcanto_lm_eval.task import CatalogueTask
from hkcanto_tasks import load_task, read_runs
from hkcanto_tasks.cli import app
from hkcanto_tasks.results.logs.items import settings_of
from hkcanto_tasks.results.reports.presentation import doubts

from ..cases import another_run, named
from ..recording import recording
from .harness_runs import (
    AnsweringLM,
    answering_model,
    read_answer,
    run_inspect,
    run_lm_eval,
)

TASK = "hkcanto_phonology"


class ChatLM(AnsweringLM):
    """A model for lm-eval with a chat template."""

    def apply_chat_template(
        self, chat_history: Any, add_generation_prompt: bool = True
    ) -> str:
        del add_generation_prompt
        return "".join(f"<{each['role']}>{each['content']}" for each in chat_history)

    def chat_template(self, chat_template: bool | str = False) -> str:
        del chat_template
        return "angles"


def other_prompt(log: Path) -> str:
    """The hash of the requests in a log's signature, if they are not the catalogue's."""
    (run,) = read_runs(log).runs
    found = run.options.get("requests", "")
    assert ("other prompt" in doubts(run)) == bool(found)
    return found


def hkcanto(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, [*map(str, arguments)])
    return done.exit_code, " ".join(done.output.split())


@solver
def asks_again() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state = await generate(state)
        state.messages = state.messages[:-1]
        return await generate(state)

    return solve


@solver
def hides_what_it_sent() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        messages = [*state.messages]
        state.user_prompt.text = f"{state.user_prompt.text}!"
        state = await generate(state)
        state.messages = [*messages, state.output.message]
        return state

    return solve


@solver
def asks_a_helper() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        await get_model(role="helper").generate("Which option is odd?")
        return await generate(state)

    return solve


@scorer(metrics=[])
def asks_the_model() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        del state, target
        await get_model().generate("Are you sure?")
        return Score(value={})

    return score


def asked_first(task: Task) -> None:
    """Have another scorer ask the model under test before ours."""
    task.scorer.insert(0, asks_the_model())


def changed(change: Callable[[Task], None]) -> Task:
    task = tasks.phonology()
    change(task)
    return task


def test_another_solver_or_data_set_in_inspect_is_another_prompt(
    tmp_path: Path,
) -> None:
    def edits_question(task: Task) -> None:
        for sample in task.dataset:
            sample.input[-1].text += "?"

    def edits_target(task: Task) -> None:
        for sample in task.dataset:
            sample.metadata["target"] = "A"

    def drops_metadata(task: Task) -> None:
        for sample in task.dataset:
            del sample.metadata["request"]

    for name, task, how in (
        ("none", tasks.phonology(), {}),
        ("generate", tasks.phonology(), {"solver": generate()}),
        ("thought", tasks.phonology(), {"solver": chain_of_thought()}),
        (
            "template",
            tasks.phonology(),
            {"solver": [prompt_template("{prompt}!"), generate()]},
        ),
        ("system", tasks.phonology(), {"solver": [system_message("Hi."), generate()]}),
        ("twice", tasks.phonology(), {"solver": asks_again()}),
        ("hidden", tasks.phonology(), {"solver": hides_what_it_sent()}),
        (
            "helper",
            tasks.phonology(),
            {"solver": asks_a_helper(), "model_roles": {"helper": answering_model()}},
        ),
        ("scorer", changed(asked_first), {}),
        ("flag", tasks.phonology(), {"system_message": "Hi."}),
        ("question", changed(edits_question), {}),
        ("target", changed(edits_target), {}),
        ("metadata", changed(drops_metadata), {}),
    ):
        with named(name):
            log = run_inspect(tmp_path / name, task, limit=2, **how)
            as_it_is = ("none", "generate", "helper", "scorer")
            assert bool(other_prompt(log)) == (name not in as_it_is)


def test_a_task_edited_in_python_or_yaml_in_lm_eval_is_another_prompt(
    tmp_path: Path,
) -> None:
    def edits_document(task: CatalogueTask) -> None:
        docs = task.dataset["test"]
        docs[0] = {**docs[0], "question": "Which one?"}

    def edits_text(task: CatalogueTask) -> None:
        task.set_config("doc_to_text", "Q: {{text}}")

    def edits_description(task: CatalogueTask) -> None:
        task.set_config("description", "Think hard. {{system}}")

    def edits_nothing(task: CatalogueTask) -> None:
        task.set_config("repeats", 1)

    for change in (edits_nothing, edits_document, edits_text, edits_description):
        for name in (TASK, "hkmmlu_mc"):
            with named(change, name):
                task = CatalogueTask({"task": name})
                change(task)
                log = run_lm_eval(tmp_path / f"{name}_{change.__name__}", task, limit=2)
                assert bool(other_prompt(log)) == (change is not edits_nothing)


def test_a_system_message_is_the_same_in_both_harnesses(tmp_path: Path) -> None:
    chat = {"model": ChatLM(read_answer), "apply_chat_template": True, "limit": 2}
    plain = run_lm_eval(tmp_path / "plain", TASK, **chat)
    assert not other_prompt(plain)
    own = run_lm_eval(tmp_path / "own", TASK, system_instruction="Hi.", **chat)
    theirs = run_inspect(
        tmp_path / "theirs", tasks.phonology(), limit=2, system_message="Hi."
    )
    assert other_prompt(own) == other_prompt(theirs) != ""
    status, said = hkcanto("compare", f"a={plain}", f"b={own}", "--gate", 100)
    assert status == 2
    assert "differ in requests, system" in said
    _, said = hkcanto("compare", f"a={plain}", f"b={own}")
    assert "not the catalogue's requests" in said
    # What is scored again keeps its mark.
    hkcanto("rescore", own, "-o", tmp_path / "again")
    assert other_prompt(tmp_path / "again") == other_prompt(own)


def test_a_gate_names_each_setting_that_was_sent_otherwise(tmp_path: Path) -> None:
    readable = {"model": AnsweringLM(read_answer), "limit": 4}
    base = run_lm_eval(tmp_path / "base", TASK, **readable)
    for name, how in (
        ("temperature", {"gen_kwargs": "temperature=1,do_sample=true"}),
        ("max_tokens", {"gen_kwargs": "max_gen_toks=1"}),
        ("stop", {"gen_kwargs": "until=X"}),
        ("stop,template", {"model": ChatLM(read_answer), "apply_chat_template": True}),
    ):
        with named(name):
            log = run_lm_eval(tmp_path / name, TASK, **{**readable, **how})
            _, said = hkcanto("compare", f"a={base}", f"b={log}")
            assert all(
                f"{each} " in said.partition("also differ in ")[2]
                for each in name.split(",")
            )
            status, said = hkcanto("compare", f"a={base}", f"b={log}", "--gate", 100)
            assert status == 2
            assert f"--allow-differences {name}." in said
            arguments = ("--gate", 100, "--allow-differences", name)
            status, said = hkcanto("compare", f"a={base}", f"b={log}", *arguments)
            assert status < 2, said
    again = [
        run_inspect(tmp_path / str(n), tasks.phonology(), limit=4, epochs=n)
        for n in (1, 2)
    ]
    first, second = (read_runs(log).runs[0] for log in again)
    assert first.differs(second)["repeats"] == ("1", "2")


def test_two_copies_of_a_log_are_one_run(tmp_path: Path) -> None:
    model = AnsweringLM(read_answer)
    log = run_lm_eval(tmp_path / "log", TASK, model=model, limit=4).parent
    another_run(log, tmp_path / "later")
    log.with_name("copy").mkdir()
    for file in log.iterdir():
        (tmp_path / "log" / "copy" / file.name).write_bytes(file.read_bytes())
    status, said = hkcanto("compare", f"a={log}", f"b={tmp_path / 'log' / 'copy'}")
    assert status == 2
    assert "it is a copy of" in said
    assert hkcanto("compare", f"a={log}", f"b={tmp_path / 'later'}")[0] == 0


def test_answers_that_may_be_another_models_are_noted(tmp_path: Path) -> None:
    for number, letter in enumerate("AB"):
        log = run_lm_eval(
            *(tmp_path / str(number), TASK),
            model=AnsweringLM(lambda _, letter=letter: letter),  # type: ignore[misc]
            limit=2,
            use_cache=str(tmp_path / "cache"),
        )
    (run,) = read_runs(log, texts=True).runs
    assert {text.response for text in run.items.texts} == {"A"}  # the other model's
    assert any("lm-eval's cache" in note for note in run.notes)


def test_half_a_surrogate_pair_in_an_answer_is_logged_and_scored(
    tmp_path: Path,
) -> None:
    def broken(_: str) -> str:
        return "係\ud800咯"

    for task in (TASK, "hkcanto_translation_yue_en"):
        with named(task):
            log = run_lm_eval(
                tmp_path / "lm_eval" / task, task, model=AnsweringLM(broken), limit=2
            )
            in_inspect = run_inspect(
                *(tmp_path / "inspect" / task, tasks.run(task=task)),
                model=answering_model(broken),
                limit=2,
            )
            for file in (log, in_inspect):
                (run,) = read_runs(file, texts=True).runs
                assert {text.response for text in run.items.texts} == {"係\ufffd咯"}
                assert not [each for each in doubts(run) if "harness" in each]


@pytest.mark.slow
@pytest.mark.usefixtures("lean_lm_eval")
def test_both_harnesses_send_the_users_seed_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    with recording() as server:
        chat = f"model=letters,base_url={server.url}/chat/completions"
        for number, (seed, sent) in enumerate([((), None), (("--seed", "42"), 42)]):
            with named(seed):
                of_lm_eval, of_inspect = (
                    tmp_path / f"l{number}",
                    tmp_path / f"i{number}",
                )
                for command in (
                    f"lm_eval --model local-chat-completions --model_args {chat} --tasks {TASK} "
                    f"--apply_chat_template --log_samples --output_path {of_lm_eval}",
                    f"inspect_ai eval hkcanto/phonology --model openai-api/local/letters "
                    f"--model-base-url {server.url} --display none --log-dir {of_inspect}",
                ):
                    arguments = [*command.split(), "--limit", "2", *seed]
                    subprocess.run(
                        [sys.executable, "-m", *arguments], check=True, cwd=tmp_path
                    )
                assert {body.get("seed") for body in server.requests} == {sent}
                server.requests.clear()
                for log in (of_lm_eval, of_inspect):
                    assert read_runs(log).runs[0].sent.seed == sent


@pytest.mark.slow
@pytest.mark.usefixtures("lean_lm_eval")
def test_settings_in_a_file_are_sent_and_recorded(tmp_path: Path) -> None:
    with recording() as server:
        settings = {
            "model": "local-chat-completions",
            "model_args": {
                "model": "letters",
                "base_url": f"{server.url}/chat/completions",
            },
            "tasks": [TASK],
            "limit": 2,
            "seed": 42,
            "apply_chat_template": True,
            "fewshot_as_multiturn": True,
            "log_samples": True,
            "output_path": str(tmp_path / "out"),
        }
        (tmp_path / "run.yaml").write_text(json.dumps(settings), "utf-8")
        command = [sys.executable, "-m", "lm_eval", "run", "--config", "run.yaml"]
        subprocess.run(command, check=True, cwd=tmp_path)
    assert {body["seed"] for body in server.requests} == {42}
    assert {len(body["messages"]) > 3 for body in server.requests} == {True}
    (run,) = read_runs(tmp_path / "out").runs
    assert run.sent.seed == 42
    assert run.options["turns"] == "multi"


def test_the_seed_that_lm_eval_itself_sends_is_recorded(tmp_path: Path) -> None:
    for arguments, seed in (("", 1234), (",seed=7", 7)):
        with named(arguments), recording() as server:
            log = run_lm_eval(
                tmp_path / str(seed),
                TASK,
                model="local-completions",
                model_args=f"model=letters,base_url={server.url}/completions,"
                f"tokenizer_backend=None,tokenized_requests=False{arguments}",
                limit=2,
            )
            assert {body["seed"] for body in server.requests} == {seed}
            assert read_runs(log).runs[0].sent.seed == seed


def test_answers_cut_at_the_limit_are_in_the_short_report(tmp_path: Path) -> None:
    for stop, holds in (("max_tokens", True), ("stop", False)):
        with named(stop):
            model = answering_model(lambda _: "呢條題目要諗下先", stop)
            log = run_inspect(tmp_path / stop, tasks.phonology(), model=model, limit=4)
            _, said = hkcanto("report", log)
            assert ("end at the length limit" in said) == holds


def test_padded_counts_of_inspects_hf_provider_are_no_estimate(tmp_path: Path) -> None:
    log = run_inspect(tmp_path, tasks.hkmmlu(), limit=8, log_format="json")
    made = json.loads(log.read_text("utf-8"))
    made["eval"]["model"] = "hf/a-model"
    log.write_text(json.dumps(made), "utf-8")
    status, said = hkcanto("estimate", "hkmmlu", "--from", log, "--format", "json")
    assert status == 0
    assert "has no token counts, so its texts are counted" in said
    _, plain = hkcanto("estimate", "hkmmlu", "--format", "json")
    rows = [
        json.loads(text[text.index("{") :])["tables"]["estimate"]["rows"]
        for text in (said, plain)
    ]
    by_text = next(row for row in rows[1] if row["task"] == "hkmmlu")["prompt_tokens"]
    assert rows[0][0]["prompt_tokens"] == pytest.approx(by_text, rel=0.01)
    assert len(load_task("hkmmlu").samples) > 8


def test_another_solver_is_a_setting_of_the_run(tmp_path: Path) -> None:
    ours, theirs = (
        run_inspect(tmp_path / name, tasks.phonology(), limit=2, **how)
        for name, how in (("ours", {}), ("theirs", {"solver": generate()}))
    )
    found = [
        dict(read_runs(log).runs[0].settings).get("solver") for log in (ours, theirs)
    ]
    assert found == [None, "generate"]
    labels = [run.label for run in read_runs(tmp_path).runs]
    assert len({*labels}) == 2  # neither hides the other


@solver
def answers_itself() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state = await generate(state)
        state.output = ModelOutput.from_content("m", state.metadata["target"])
        return state

    return solve


def test_answers_that_a_solver_or_a_task_class_wrote_are_not_the_models(
    tmp_path: Path,
) -> None:
    class Cheating(CatalogueTask):
        def apply_filters(self) -> Any:
            for each in self._instances:
                each.resps = ["A"]
            return super().apply_filters()

    log = run_inspect(
        tmp_path / "solver", tasks.phonology(), limit=2, solver=answers_itself()
    )
    (run,) = read_runs(log).runs
    assert run.departure == "other solver"
    assert "other solver" in doubts(run)
    (run,) = read_runs(
        run_lm_eval(tmp_path / "class", Cheating({"task": TASK}), limit=2)
    ).runs
    assert run.departure == "edited task"
    written = CatalogueTask({"task": "hkmmlu_mc", "output_type": "generate_until"})
    (run,) = read_runs(run_lm_eval(tmp_path / "type", written, limit=2)).runs
    assert run.departure == "edited task"


def test_parts_of_a_task_are_joined_only_if_they_were_sent_alike(
    tmp_path: Path,
) -> None:
    for subject, how in (("economics", {"epochs": 3}), ("logic_reasoning", {})):
        run_inspect(tmp_path, tasks.hkmmlu(subjects=subject), limit=2, **how)
    assert len(read_runs(tmp_path).runs) == 2


def test_one_name_for_several_models_is_noted(tmp_path: Path) -> None:
    run_lm_eval(tmp_path / "first", TASK, limit=2)
    run_inspect(tmp_path / "second", tasks.orthography(), limit=2)
    for run in read_runs(f"mine={tmp_path}").runs:
        assert any(
            note.startswith("mine is the label of several models: ")
            for note in run.notes
        )


def test_other_arguments_of_a_model_and_other_headers_are_a_difference(
    tmp_path: Path,
) -> None:
    one, other = (
        run_inspect(
            tmp_path / name,
            tasks.phonology(),
            limit=2,
            extra_headers={"X-Adapter": name},
        )
        for name in ("a", "b")
    )
    (first,), (second,) = (read_runs(log).runs for log in (one, other))
    assert "header hash" in first.differs(second)
    assert not any("X-Adapter" in value for _, value in first.settings)
    thinking = replace(first, settings=(("enable_thinking", "False"),))
    assert thinking.differs(first)["enable_thinking"] == ("False", "none")


def test_another_version_of_a_task_has_no_rank(tmp_path: Path) -> None:
    (run,) = read_runs(run_lm_eval(tmp_path, TASK, limit=2)).runs
    older = replace(run, signature=replace(run.signature, version="1"))
    assert not run.outdated
    assert "has version 1 of the task, not" in older.outdated


def test_nested_secrets_and_names_of_people_are_not_shown(tmp_path: Path) -> None:
    bodies = {
        "@alice": {"api_key": "sk-1", "user": "me-1", "top_k": 1},
        "@bob": {"auth": {"token": "sk-2", "who": ["me-2"]}, "top_k": 2},
    }
    logs = []
    for name, body in bodies.items():
        log = run_inspect(
            tmp_path / name[1:], tasks.phonology(), limit=2, extra_body=body
        )
        logs.append(f"{name}={log}")
    command = ["compare", *logs, "--format", "github"]
    text = CliRunner().invoke(app, command).output
    assert "top\\_k': 1" in text
    for secret in ("sk-1", "sk-2", "me-1", "me-2"):
        assert secret not in text
    assert "'user': '\\#" in text
    assert "alice" in text
    assert "@alice" not in text
    arguments = {"pretrained": "org/a", "extra_body": {"token": "sk-3", "seed": 7}}
    assert settings_of(arguments)[0] == ("extra_body", "{'seed': 7}")
