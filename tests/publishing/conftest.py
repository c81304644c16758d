"""Logs of the real harnesses on an outside benchmark of eight questions."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from ..reports.harness_runs import (
    AnsweringLM,
    answering_model,
    run_inspect,
    run_lm_eval,
)
from ..tasks.declaring import QUIZ

SECRET = "紅磡站幾時開通"  # no published file may contain this
LETTERS = "AABAACAD"  # A is right for five of the eight questions
STEM = "quiz", "{stem}"


def declare(
    folder: Path, published: str, subjects: Mapping[str, str] | None = None
) -> Path:
    """Declare the benchmark in its own folder, with data published in the given way.

    If there are subjects (name → right letters), the headline is the mean over them.
    """
    folder.mkdir()
    text = (
        QUIZ.replace("[data]", published)
        + f'files = {{ test = "{STEM[bool(subjects)]}.jsonl" }}\n'
    )
    if subjects:
        listed = ", ".join(
            f'{{ name = "{each}", stem = "{each}" }}' for each in subjects
        )
        text += f'headline = "acc_macro"\nsubjects = [{listed}]\n'
    (folder / "benchmark.toml").write_text(text, encoding="utf-8")
    for name, letters in (subjects or {"quiz": LETTERS}).items():
        rows = [
            {
                "question": f"{SECRET}{n}",
                **dict.fromkeys("ABCD", f"{SECRET}選項"),
                "answer": letter,
            }
            for n, letter in enumerate(letters)
        ]
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def quiz_logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that always says A, in both harnesses; `limited` is lm-eval on three questions."""
    from hkcanto import tasks

    folder = tmp_path_factory.mktemp("quiz")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HKCANTO_DATA_DIR", raising=False)
        patch.setenv("HKCANTO_DATA", "")
        patch.setenv("HKCANTO_BENCHMARKS", str(declare(folder / "declared", "[data]")))
        for name, options in {"lm_eval": {}, "limited": {"limit": 3}}.items():
            model = AnsweringLM(lambda _: "A")
            log = run_lm_eval(folder / name, "quiz", model=model, **options)
            rename(log)
        for name, form in {"inspect": "eval", "inspect_json": "json"}.items():
            always, task = answering_model(lambda _: "A"), tasks.run(task="quiz")
            run_inspect(folder / name, task, model=always, log_format=form)
    return folder


def rename(log: Path, name: str = "org/model-7b", **arguments: str) -> None:
    """Change the model's name in lm-eval's results."""
    results = json.loads(log.read_text("utf-8"))
    results["model_name"] = name
    results["config"] |= {
        "model": "hf",
        "model_args": {"pretrained": name, **arguments},
    }
    log.write_text(json.dumps(results), encoding="utf-8")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The benchmark as a data set on the Hugging Face hub."""
    home = declare(tmp_path / "hub", '[hub]\nrepo_id = "org/quiz"')
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(home))


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The benchmark as one with its data in its own folder."""
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(declare(tmp_path / "own", "[data]")))
