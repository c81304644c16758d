"""lm-eval runs no code for benchmarks from outside that try to name some, and writes nothing.

The code is a module on the path, `planted`, which writes a file when it is imported.
"""

import json
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from lm_eval.tasks import TaskManager

from hkcanto_lm_eval import task_path

from ..answering import AnsweringLM
from ..cases import named
from .evaluating import evaluate

# Everything that YAML 1.1, Python or an editor treats as a line end.
BREAKS = (
    "\n",
    "\r",
    "\r\n",
    "\v",
    "\f",
    "\x1c",
    "\x1d",
    "\x1e",
    "\x85",
    "\u2028",
    "\u2029",
)
PAYLOADS = (
    "process_results: !function planted.run",
    "x: !!python/object/apply:planted.run []",
    "include: planted.yaml",
    "{{ cycler.__init__.__globals__['__builtins__'].__import__('planted') }}",
    "{% for x in ().__class__.__base__.__subclasses__() %}{% endfor %}",
    "__import__('planted')",
    "'\"]}, *__import__('planted')",
)
HOSTILE = "".join(f"{end}{payload}" for payload in PAYLOADS for end in BREAKS)
PLACES = {
    "title": "Quiz",
    "system": "",
    "answer_separator": "",
    "example_separator": "\n\n",
    "stop": "\n",
    "question": "{question}\n{options}\n答案：",
    "task_title": "Quiz",
    "chinese": "測驗",
    "sentence": "",
    "printed": "",
    "subject_title": "Food",
    "subject_chinese": "",
    "shown": "food",
}
CELLS = ("question", "A", "B", "C", "D")

Declare = Callable[..., Path]


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that exists once the code has run."""
    ran, code = tmp_path / "ran", tmp_path / "code"
    code.mkdir()
    source = f"from pathlib import Path\nPath({str(ran)!r}).touch()\ndef run(*_):\n    return {{}}\n"
    (code / "planted.py").write_text(source, "utf-8")
    (code / "planted.yaml").write_text(
        "process_results: !function planted.run\n", "utf-8"
    )
    monkeypatch.syspath_prepend(str(code))
    monkeypatch.delitem(sys.modules, "planted", raising=False)
    monkeypatch.chdir(code)
    return ran


@pytest.fixture
def quiz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Declare:
    """Return a function that declares a benchmark with one question and the given texts."""

    number = count()

    def declare(cells: str = "", **texts: str) -> Path:
        folder = tmp_path / f"benchmarks_{next(number)}" / "quiz"
        (folder / "sample").mkdir(parents=True)
        # A JSON string is a TOML string, except for control characters escaped in two words.
        toml = {name: json.dumps(text) for name, text in {**PLACES, **texts}.items()}
        (folder / "benchmark.toml").write_text(
            f"""
name = "quiz"
title = {toml["title"]}
[data]
[prompts.plain]
system = {toml["system"]}
question = {toml["question"]}
answer_separator = {toml["answer_separator"]}
example_separator = {toml["example_separator"]}
stop = [{toml["stop"]}]
[[tasks]]
name = "quiz"
title = {toml["task_title"]}
chinese = {toml["chinese"]}
sentence = {toml["sentence"]}
printed = {toml["printed"]}
kind = "multiple_choice"
shots = 1
files = {{ dev = "sample/{{stem}}_dev.csv", test = "sample/{{stem}}_test.csv" }}
variants = [{{ suffix = "mc", scoring = "loglikelihood" }}]
[[tasks.subjects]]
name = "food"
title = {toml["subject_title"]}
chinese = {toml["subject_chinese"]}
stem = "a"
shown = {toml["shown"]}
[[tasks.subjects]]
name = "law"
stem = "b"
""",
            encoding="utf-8",
        )
        quoted = ",".join(
            '"' + (cell + cells).replace('"', '""') + '"' for cell in CELLS
        )
        for stem in "ab":
            for split in ("dev", "test"):
                rows = f"question,A,B,C,D,answer\n{quoted},B\n"
                (folder / f"sample/{stem}_{split}.csv").write_text(
                    rows, "utf-8", newline=""
                )
        monkeypatch.setenv("HKCANTO_BENCHMARKS", str(folder.parent))
        return folder

    return declare


@pytest.mark.slow
def test_a_cell_runs_nothing_and_is_sent_as_it_is(quiz: Declare, planted: Path) -> None:
    for task, text in [
        *(("quiz", end + PAYLOADS[0]) for end in BREAKS),
        *((task, HOSTILE) for task in ("quiz", "quiz_mc", "quiz_by_subject")),
    ]:
        with named(task, text):
            quiz(text)
            results = evaluate(task, model=AnsweringLM())
            assert not planted.exists()
            of = "quiz_food" if task == "quiz_by_subject" else task
            prompt = results["samples"][of][0]["arguments"][0][0]
            assert (
                prompt.count("question" + text) == 2
            )  # the worked example's and its own
            assert prompt.count(". D" + text) == 2


@pytest.mark.slow
def test_a_declaration_runs_nothing(quiz: Declare, planted: Path) -> None:
    for text in ["\u2028" + PAYLOADS[0], HOSTILE]:
        for place in PLACES:
            with named(text, place):
                quiz(
                    **{
                        place: PLACES[place]
                        + text.replace("{", "{{").replace("}", "}}")
                    }
                )
                try:
                    evaluate("quiz", "quiz_mc", "quiz_food", model=AnsweringLM())
                finally:
                    assert not planted.exists()


def test_a_name_with_a_line_break_is_refused(
    quiz: Declare, planted: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for was in ['[[tasks]]\nname = "quiz"', 'suffix = "mc"', 'name = "law"']:
        with named(was):
            toml = quiz() / "benchmark.toml"
            text = toml.read_text("utf-8")
            assert text.count(was) == 1
            toml.write_text(
                text.replace(was, was[:-1] + json.dumps(HOSTILE)[1:]), "utf-8"
            )
            there = TaskManager(
                include_path=task_path(), include_defaults=False
            ).all_tasks
            assert "quiz" not in there
            assert f"{toml}: task " in caplog.text
            assert " has to match " in caplog.text
            assert not planted.exists()


def test_no_file_is_written_for_them(
    quiz: Declare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiz()
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "HKCANTO_CACHE"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setattr("tempfile.tempdir", None)
    manager = TaskManager(include_path=task_path(), include_defaults=False)
    manager.load(["quiz", "quiz_by_subject"])
    assert not [*home.iterdir()]


def test_a_task_of_the_users_folder_goes_before_one_from_outside(
    quiz: Declare, tmp_path: Path
) -> None:
    quiz()
    (tmp_path / "mine.yaml").write_text("task: quiz\ndataset_path: none\n", "utf-8")
    folders = [task_path(), str(tmp_path)]
    entry = TaskManager(include_path=folders, include_defaults=False).task_index["quiz"]
    assert Path(entry.yaml_path) == tmp_path / "mine.yaml"
