"""Our options share a mapping with lm-eval's model arguments; errors name a mistyped one."""

import json
import os
import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lm_eval.tasks import TaskManager

from hkcanto_lm_eval import before_model, task_path
from hkcanto_lm_eval.config import seed_sent
from hkcanto_tasks import load_task
from hkcanto_tasks.errors import CatalogueError, OptionError

from ..cases import named
from .evaluating import evaluate, first_prompt

G2P = "hkcanto_g2p"


def lm_eval(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command on two items of the sample data."""
    command = (
        "-m",
        "lm_eval",
        "--model",
        "hkcanto-g2p",
        "--tasks",
        G2P,
        "--limit",
        "2",
    )
    return subprocess.run(
        [sys.executable, *command, *arguments],
        env={**os.environ, "HKCANTO_DATA": "sample", "COLUMNS": "160"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def on_the_command_line(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["lm_eval", "--tasks", G2P, *arguments])


@pytest.mark.slow
@pytest.mark.usefixtures("lean_lm_eval")
def test_the_command_refuses_an_unknown_option_and_names_the_known_ones() -> None:
    done = lm_eval("--metadata", '{"exampels": "release"}')
    assert done.returncode != 0
    assert "hkcanto_g2p has no option 'exampels'. Did you mean examples?" in done.stderr
    for known in (
        "shots",
        "subjects",
        "reasoning: true or false",
        "examples: paper or release",
    ):
        assert known in done.stderr
    assert "|hkcanto_g2p" not in done.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("lean_lm_eval")
def test_the_command_takes_arguments_of_the_model_that_look_like_options() -> None:
    done = lm_eval(
        *("--model_args", "engine=pycantonese,example=3,pretrained=x,seed=7"),
        *("--metadata", '{"examples": "release", "shots": 1}'),
    )
    assert done.returncode == 0, done.stderr
    assert "|hkcanto_g2p (sample data)" in done.stdout


def test_every_key_in_metadata_must_be_an_option(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for given in [
        ("--metadata", '{"max_lenght": 8}'),
        ('--metadata={"max_lenght": 8}',),
        ("--metadata", "max_lenght=8"),
        ("--metadata", "examples=release", "max_lenght=8"),
        ("--metadata", "examples=release,max_lenght=8"),
    ]:
        with named(given):
            on_the_command_line(monkeypatch, *given, "--limit", "1")
            with pytest.raises(
                OptionError, match="hkcanto_g2p has no option 'max_lenght'"
            ):
                evaluate(G2P, limit=1, metadata={"max_lenght": 8})


def test_arguments_of_the_model_are_not_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for given in [
        ("--model_args", "pretrained=x,max_length=8,shot=3"),
        ("--model_args", "pretrained=x", "max_length=8", "shot=3"),
        ('--model_args={"pretrained": "x", "max_length": 8, "shot": 3}',),
        ("-a", "pretrained=x,max_length=8,shot=3"),
    ]:
        with named(given):
            on_the_command_line(monkeypatch, *given)
            metadata = {"pretrained": "x", "max_length": 8, "shot": 3, "shots": 2}
            results = evaluate(G2P, limit=1, metadata=metadata)
            assert first_prompt(results, G2P).count("Example ") == 2


def test_of_the_users_seeds_the_one_for_sampling_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As lm-eval reads them: one for all, or random, numpy, torch and the choice of examples.
    chat = ("--model", "local-chat-completions")
    for given, sent in [
        ((), {"seed": None}),
        (("--seed", "42"), {"seed": 42}),
        (("--seed", "1,2,3"), {"seed": 3}),
        (("--seed", "1,2,3,4"), {"seed": 3}),
        (("--seed", "1,2,None,4"), {"seed": None}),
        (("--seed", "42", "--gen_kwargs", "seed=7"), {}),
        (("--seed", "42", "--model_args", "model=x,seed=7"), {}),
        (("--seed", "42", "--model", "dummy"), {}),
    ]:
        with named(given):
            on_the_command_line(monkeypatch, *chat, *given)
            assert seed_sent() == sent


def test_settings_of_a_file_are_the_commands(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "run.yaml"
    for settings, arguments, sent in [
        ({}, (), {"seed": None}),
        ({"seed": 42}, (), {"seed": 42}),
        ({"seed": [1, 2, 3, 4]}, (), {"seed": 3}),
        ({"seed": 42}, ("--seed", "43"), {"seed": 43}),
        ({"seed": 42, "gen_kwargs": {"seed": 7}}, (), {}),
        ({"seed": 42, "model_args": {"model": "x", "seed": 7}}, (), {}),
        ({"seed": 42, "model_args": "model=x,seed=7"}, (), {}),
    ]:
        with named(settings, arguments):
            model = {"model": "local-chat-completions"}
            file.write_text(json.dumps(model | settings), "utf-8")
            on_the_command_line(monkeypatch, "--config", str(file), *arguments)
            assert seed_sent() == sent
    slip = {"metadata": {"exampels": "published"}, "model_args": {"shot": 3}}
    file.write_text(json.dumps(slip), "utf-8")
    on_the_command_line(monkeypatch, "-C", str(file))
    evaluate(G2P, limit=1, metadata={"shot": 3})
    with pytest.raises(OptionError, match="exampels"):
        evaluate(G2P, limit=1, metadata=slip["metadata"])


def test_a_slip_of_a_caller_in_python_is_refused() -> None:
    for slip in ["exampels", "example", "Examples", "shot", "subject", "reasonning"]:
        with (
            named(slip),
            pytest.raises(OptionError, match=f"has no option '{slip}'. Did you mean "),
        ):
            evaluate(G2P, limit=1, metadata={slip: "1"})


def test_a_value_that_cannot_be_lists_those_that_can() -> None:
    for task, metadata, says in [
        (G2P, {"examples": "papr"}, "examples: paper or release"),
        (G2P, {"shots": "many"}, "shots='many' is not a number"),
        ("hkmmlu", {"prompt": "fr"}, r"prompt='fr'.*zh, zh\+scaffold"),
        ("hkmmlu", {"script": "hk"}, "script: sc or tc"),
        ("hkmmlu", {"shuffle_choices": -1}, "shuffle_choices"),
        (
            "hkmmlu",
            {"subjects": "dentist"},
            r"no subjects \['dentist'\].*Did you mean dentistry",
        ),
        ("hkmmlu_translation_yue_zh", {"size": "all"}, "size: a number from 0"),
    ]:
        with named(task, metadata, says), pytest.raises(OptionError, match=says):
            evaluate(task, limit=1, metadata=metadata)


def test_a_task_that_was_checked_before_the_model_is_not_loaded_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loads: list[str] = []

    def load(name: str, **options: Any) -> Any:
        loads.append(name)
        return load_task(name, **options)

    monkeypatch.setattr(before_model, "load_task", load)
    manager = TaskManager(include_path=[task_path()], include_defaults=False)
    names = manager.match_tasks(["hkmmlu", "hkmmlu_cot"])
    assert loads == ["hkmmlu", "hkmmlu_cot"]
    manager.load(names)
    assert loads == ["hkmmlu", "hkmmlu_cot"]


def test_the_examples_of_a_command_are_looked_for_unless_the_task_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # lm-eval keeps an explicit 0, whatever --num_fewshot says.
    on_the_command_line(monkeypatch, "--num_fewshot", "50")
    manager = TaskManager(include_path=[task_path()], include_defaults=False)
    assert manager.match_tasks(["hkcanto_cultural_0shot"])
    with pytest.raises(OptionError, match="shots=50, but there are"):
        manager.match_tasks(["hkcanto_cultural"])


def test_a_file_is_opened_once_a_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its hash, for the signature, is of the bytes that were read."""
    file = tmp_path / "hkmmlu" / "test" / "hk_law.csv"
    file.parent.mkdir(parents=True)
    file.write_text("Question,A,B,C,D,Answer\n題,甲,乙,丙,丁,A\n", "utf-8")
    listed = f"{sha256(file.read_bytes()).hexdigest()}  test/hk_law.csv\n"
    monkeypatch.delenv("HKCANTO_DATA")
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path))
    opened = []

    def read(path: Path) -> bytes:
        opened.append(path.name)
        return path.read_bytes()

    monkeypatch.setattr("hkcanto_tasks.data.rows.read_bytes", read)
    monkeypatch.setattr(
        "hkcanto_tasks.data.fetch.digest", lambda path: opened.append(path.name)
    )
    signature = load_task("hkmmlu").signature
    assert f"|data:local-{sha256(listed.encode()).hexdigest()[:7]}|" in signature
    assert opened == ["hk_law.csv"]


def entry(path: Path | None, task: object) -> Any:
    return SimpleNamespace(yaml_path=path, cfg={"task": task})


INDEX = {
    "hkmmlu": entry(Path(task_path()) / "hkmmlu.yaml", "hkmmlu"),
    "hkcanto": entry(None, ["hkmmlu", {"task": "hkcanto_law"}, "gsm8k"]),
    "hkcanto_law": entry(Path(task_path()) / "law.yaml", "hkcanto_law"),
    "gsm8k": entry(Path("/lm_eval/tasks/gsm8k.yaml"), "gsm8k"),
    "gsm8ks": entry(None, ["gsm8k"]),
    "untold": SimpleNamespace(yaml_path=None, cfg=None),
}


def test_the_members_of_a_group_are_ours_by_their_files() -> None:
    for name, ours in {
        "hkmmlu": ["hkmmlu"],
        "hkcanto": ["hkmmlu", "hkcanto_law"],
        "gsm8k": [],
        "gsm8ks": [],
        "untold": [],
    }.items():
        assert [*before_model._tasks_in(INDEX[name], INDEX)] == ours, name


@pytest.mark.parametrize(
    ("program", "asked", "similar"),
    [
        ("lm_eval", "hkmmllu", "hkmmlu"),
        ("lm_eval", "hkcantoo", "hkcanto"),
        ("lm_eval", "gsm9k", None),
        ("lm_eval", "quite-another", None),
        ("lm_eval", "hkmmlu_folder", None),
        ("my_program.py", "hkmmllu", None),
    ],
)
def test_the_task_of_ours_that_an_unknown_name_may_mean_is_named(
    program: str,
    asked: str,
    similar: str | None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hkmmlu_folder").mkdir()  # which lm-eval would read tasks from
    monkeypatch.setattr(sys, "argv", [program])
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    manager = SimpleNamespace(_index=INDEX, all_tasks=[*INDEX])
    if similar is None:
        before_model.suggest(manager, [asked])
        return
    means = f"lm-eval has no task {asked!r}. Did you mean {similar}?"
    with pytest.raises(CatalogueError, match=re.escape(means)):
        before_model.suggest(manager, ["quite-another", asked])
