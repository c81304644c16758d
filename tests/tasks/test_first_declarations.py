"""First declarations of a benchmark: SQuAD's nested form, and twelve mistakes.

The error for each mistake names the key or column, the file, the row, and what would fit.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hkcanto_tasks import load_task
from hkcanto_tasks.cli import app
from hkcanto_tasks.errors import DataCorrupt

TOML = """
name = "quiz"
title = "Quiz"
[data]
[prompts.plain]
question = "{prompt}"
[[tasks]]
name = "quiz"
title = "Quiz"
{task}
"""
Declare = Callable[[str, str, Mapping[str, str]], Path]


@pytest.fixture
def declare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Declare:
    """Return a function that declares the task `quiz`: its prompt, its entry, its files."""

    def declare(prompt: str, task: str, files: Mapping[str, str]) -> Path:
        text = TOML.replace("{prompt}", prompt).replace("{task}", task)
        for name, content in {**files, "benchmark.toml": text}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content, "utf-8")
        monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))
        return tmp_path

    return declare


# ---------------------------------------------------------------------- lists in lists


def asked(question: str, *answers: str) -> dict[str, object]:
    said = [{"text": each, "answer_start": 0} for each in answers]
    return {"id": question, "question": question, "answers": said}


FERRY = {"context": "小輪由尖沙咀開。", "qas": [asked("由邊度開？", "尖沙咀", "尖咀")]}
HILL = {
    "context": "獅子山高 495 米。",
    "qas": [asked("幾高？", "495 米"), asked("咩山？", "獅子山")],
}
SQUAD = {
    "version": "1.1",
    "data": [{"title": "船", "paragraphs": [FERRY]}, {"title": "山", "paragraphs": [HILL]}],
}
QA = 'kind = "short_answer"\nfiles = "test.json"\nrows = "{rows}"'


def test_the_nested_form_of_squad_is_read(declare: Declare) -> None:
    task = QA.replace("{rows}", "data.paragraphs.qas")
    declare(
        "{context}{heading}{question}",
        f'{task}\ncolumns.heading = "title"',
        {"test.json": json.dumps(SQUAD)},
    )
    loaded = load_task("quiz")
    assert sorted(loaded.prompt(each).text() for each in loaded.samples) == [
        "小輪由尖沙咀開。船由邊度開？",
        "獅子山高 495 米。山咩山？",
        "獅子山高 495 米。山幾高？",
    ]
    (ferry,) = [each for each in loaded.samples if each.question == "由邊度開？"]
    assert loaded.setup.judge("尖咀", ferry).values["exact_match"] == 1
    assert loaded.setup.judge("中環", ferry).values["exact_match"] == 0


def test_a_row_keeps_its_own_cell(declare: Declare) -> None:
    own = {**asked("幾高？", "495 米"), "context": "自己嘅文。"}
    held = [{"paragraphs": [{"context": "外面嘅文。", "qas": [own]}]}]
    declare("{context}", QA.replace("{rows}", "paragraphs.qas"), {"test.json": json.dumps(held)})
    loaded = load_task("quiz")
    assert [loaded.prompt(each).text() for each in loaded.samples] == ["自己嘅文。"]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("data.paragraph.qas", r"no 'paragraph': data\[0\] has the keys title, paragraphs"),
        ("data.paragraphs.qa", r"no 'qa': data\[0\]\.paragraphs\[0\] has the keys context, qas"),
        ("data.paragraphs.qas.x.y", r"no 'x': data\[0\]\.paragraphs\[0\]\.qas\[0\] has the keys"),
        ("data.title", "does not lead to rows"),
    ],
)
def test_a_wrong_path_through_lists_is_named(declare: Declare, rows: str, says: str) -> None:
    declare("{question}", QA.replace("{rows}", rows), {"test.json": json.dumps(SQUAD)})
    with pytest.raises(DataCorrupt, match=says) as error:
        load_task("quiz")
    assert f'test.json: rows = "{rows}"' in str(error.value)


# ---------------------------------------------------------------------- mistakes

MARKED = 'kind = "multiple_choice"\nfiles = "test.jsonl"\nanswer = "index"'
LABEL = 'kind = "label"\nfiles = "dev.tsv"\n'
LISTED = [
    {"question": "邊個最高？", "options": ["甲", "乙"], "answer": 0},
    {"question": "邊個最矮？", "options": ["甲", "乙"], "answer": 1},
]
FILES = {
    "exam.csv": "題目,A,B,C,答案\n邊啲係島？,長洲,大澳,坪洲,AC\n邊啲係山？,獅子山,大帽山,中環,AB\n",
    "dev.tsv": "sentence1\tsentence2\tgold\n落雨\t天晴\tno\n落雨\t濕\tyes\n",
    "test.jsonl": "".join(json.dumps(each) + "\n" for each in LISTED),
    "one.yue": "早晨\n",
    "a.csv": "question,A,B,A,answer\n邊個？,甲,乙,丙,A\n",
    "far.jsonl": json.dumps({**LISTED[0], "answer": 2}) + "\n",
    "long.jsonl": json.dumps({**LISTED[0], "options": [*"甲乙丙丁戊"]}) + "\n",
}
RUBRIC = (
    'kind = "judged"\nfiles = "exam.csv"\ncolumns = { prompt = "題目" }\n[tasks.rubric]\n'
    'prompt = "{answer} {levels} {code}"\nhigher_is_better = true\n'
    'levels = [{ number = 1, name = "差" }, { number = 2, name = "好" }]'
)
MISTAKES = {
    "wrong kind": (
        'kind = "multiple_answer"\nfiles = "exam.csv"',
        ["benchmark.toml: task 'quiz': no kind 'multiple_answer'", "Did you mean 'multi_answer'?"],
    ),
    "labels as text": (
        LABEL + 'labels = "yes,no"',
        [
            "benchmark.toml: ",
            "`labels` takes: table: name → (list of texts or table)",
            "task 'quiz'",
        ],
    ),
    "unknown column": (
        LABEL + 'labels = ["yes", "no"]\ncolumns = { label = "golden" }',
        ["dev.tsv, row 2", "in a column golden", "gold", 'declare columns = { label = "…" }'],
    ),
    "missing file": (
        'kind = "multi_answer"\nfiles = "exams.csv"',
        ["no test file of quiz; expected exams.csv", "exam.csv", "Correct `files` in ", ".toml"],
    ),
    "missing file of lines": (
        'kind = "translation"\nfiles.test = { source = "one.yue", target = "one.zho" }',
        ["expected one.yue with one.zho (lacking)", "Correct `files` in "],
    ),
    "index out of range": (
        MARKED.replace("test.", "far."),
        ["far.jsonl, row 1", "none of its options A, B: '2'", "'answer' gives its index from 0"],
    ),
    "two files for one subject": (
        'kind = "multi_answer"\nfiles = "law*.csv"',
        ["benchmark.toml: task 'quiz': law_1.csv", "name '1', as does law-1.csv", 'stem = "_1"'],
    ),
    "options too long": (
        MARKED.replace("test.", "long."),
        ["long.jsonl, row 1 has 5 options", "ABCD", 'letters = "ABCDEFGHIJ"'],
    ),
    "rubric without passes": (
        RUBRIC,
        ["benchmark.toml: ", "`passes` - at", "`passes` takes: list of number", "task 'quiz'"],
    ),
    "unknown split": (
        'kind = "multi_answer"\nfiles = { train = "exam.csv" }',
        ["benchmark.toml: task 'quiz'", "'train'", "split 'test'", 'files = { test = "…" }'],
    ),
    "equal headings": (
        'kind = "multiple_choice"\nfiles = "a.csv"',
        ["a.csv: the header row", "columns 2 and 4 ('a', in any case)", "header = false"],
    ),
    "several right options": (
        'kind = "multiple_choice"\nletters = "ABC"\nfiles = "exam.csv"',
        ["exam.csv, row 2 has 2 right options", 'kind = "multi_answer"'],
    ),
    "no value of a key": (
        MARKED + '\noption_labels = "no"',
        ["option_labels`; `option_labels` takes: `shown`, `remove`. Fix task 'quiz'"],
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_names_its_place_and_what_would_fit(declare: Declare, mistake: str) -> None:
    task, says = MISTAKES[mistake]
    two = {"law_1.csv": "x\n", "law-1.csv": "x\n"} if "two" in mistake else {}
    place = "{source}" if "lines" in mistake else "{sentence1}" if "dev" in task else "{question}"
    home = declare("{prompt}" if "judged" in task else place, task, {**FILES, **two})
    shown = CliRunner().invoke(app, ["show", "quiz"], env={"COLUMNS": "1000"})
    assert shown.exit_code == 1
    said = " ".join(shown.output.split()).replace(f"{home}/", "")
    for each in says:
        assert each in said
    assert "Traceback" not in said


def test_a_placeholder_is_named_with_the_one_that_is_meant(declare: Declare) -> None:
    declare("{question}{optoins}", MARKED, FILES)
    shown = CliRunner().invoke(app, ["show", "quiz"], env={"COLUMNS": "1000"})
    assert "benchmark.toml: [prompts.plain] has the placeholder {optoins}" in shown.output
    assert "Did you mean {options}?" in shown.output


def test_a_task_of_a_skipped_benchmark_is_not_called_misspelt(declare: Declare) -> None:
    declare("{question}", 'kind = "quizz"\nfiles = "exam.csv"', FILES)
    shown = CliRunner().invoke(app, ["show", "quiz"], env={"COLUMNS": "1000"})
    assert "Did you mean hk" not in shown.output
