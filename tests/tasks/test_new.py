"""`hkcanto new` writes what a file states, and asks everything else."""

import csv
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from hkcanto_tasks import catalogue, load_task
from hkcanto_tasks.benchmark_files import read_benchmark
from hkcanto_tasks.cli import app
from hkcanto_tasks.errors import CatalogueError
from hkcanto_tasks.kinds import find_kind

New = Callable[..., Result]


@pytest.fixture
def new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> New:
    """Return a function that runs `hkcanto new my_quiz`, from a CSV file with one row."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))

    def run(kind: str, row: Mapping[str, str] | None = None, *more: str) -> Result:
        catalogue._catalogue.cache_clear()
        source = []
        if row is not None:
            with Path("rows.csv").open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, row)
                writer.writeheader()
                writer.writerow(row)
            source = ["--from", "rows.csv"]
        return CliRunner().invoke(
            app, ["new", "my_quiz", "--kind", kind, *source, *more]
        )

    return run


CHOICE = {
    "question": "邊個？",
    "A": "甲",
    "B": "乙",
    "C": "丙",
    "D": "丁",
    "answer": "B",
}


def test_an_exact_file_leaves_only_the_form_of_its_answers_open(new: New) -> None:
    done = new("multiple_choice", CHOICE)
    assert done.exit_code == 0
    assert [line for line in done.output.splitlines() if line.startswith("? ")] == [
        '? answer = "?"  # the letter, index (from 0), number (from 1), text or label of the '
        "option; or flags"
    ]
    file = Path("my_quiz/benchmark.toml")
    with pytest.raises(CatalogueError, match=r'open questions, "\?": answer'):
        read_benchmark(file)
    file.write_text(
        file.read_text("utf-8").replace('answer = "?"', 'answer = "letter"'), "utf-8"
    )
    (sample,) = load_task("my_quiz").samples
    assert (sample.question, sample.choices, sample.target) == (
        "邊個？",
        (*"甲乙丙丁",),
        "B",
    )


def test_a_column_needs_no_entry_only_with_its_exact_name(new: New) -> None:
    chinese = {"題目": "？", "A": "甲", "B": "乙", "答案": "A"}
    for kind, row, expected in (
        ("multiple_choice", chinese, 'columns = { question = "?", answer = "?" }'),
        ("multiple_choice", chinese, 'letters = "AB"'),
        ("multiple_choice", {**CHOICE, "key": "7"}, "columns = {"),
        (
            "multiple_choice",
            {"Q": "？", "key": "2"},
            'question = "?", answer = "?", options = "?"',
        ),
        (
            "multiple_choice",
            {"question": "？", "choices": "x", "gold": "1"},
            'answer = "?", options = "?"',
        ),
        (
            "number",
            {"question": "？", "key": "3", "id": "4"},
            'columns = { answer = "?" }',
        ),
        ("number", {"question": "？", "Answer": "3"}, "columns = {"),
        ("label", {"sentence": "？", "label": "0"}, 'columns = { text = "?" }'),
        ("translation", {"source": "x", "output": "y"}, 'columns = { target = "?" }'),
    ):
        new(kind, row, "--force")
        text = Path("my_quiz/benchmark.toml").read_text("utf-8")
        assert (expected in text) == (expected != "columns = {"), (kind, row)


def test_a_template_of_every_kind_asks_and_never_loads_unanswered(new: New) -> None:
    for kind in catalogue_kinds():
        done = new(kind, None, "--force")
        assert done.exit_code == 0, kind
        with pytest.raises(CatalogueError, match="open questions"):
            read_benchmark(Path("my_quiz/benchmark.toml"))
        text = Path("my_quiz/benchmark.toml").read_text("utf-8")
        answered = text.replace('"?"', '"en"') if kind == "translation" else text
        assert f'kind = "{kind}"' in answered


def catalogue_kinds() -> list[str]:
    names = sorted(entry_points(group="hkcanto.kinds").names)
    return [name for name in names if find_kind(name)]


def test_mistakes_are_said(new: New) -> None:
    for arguments, says in (
        (("number_choice", CHOICE), "no kind 'number_choice'"),
        (("multiple_choice", None, "--from", "nothing.csv"), "nothing.csv"),
        (("multiple_choice", None, "--from", "notes.txt"), "Declare its delimiter"),
    ):
        Path("notes.txt").write_text("x", "utf-8")
        done = new(*arguments)
        assert done.exit_code == 1
        assert says in " ".join(done.output.split())
        assert not Path("my_quiz").exists()
    assert new("number", None).exit_code == 0
    again = new("number", None)
    assert again.exit_code == 1
    assert "--force" in again.output


def test_what_it_prints_runs_in_both_harnesses(new: New) -> None:
    done = new("multiple_choice", CHOICE)
    commands = done.output.partition("then type\n")[2].splitlines()
    assert [command.split()[0] for command in commands] == [
        "export",
        "hkcanto",
        "lm_eval",
        "inspect",
    ]


ITEM = ("邊個最高？", "獅子山", "大帽山", "太平山", "鳳凰山", "B")
BIG5 = ",".join((*CHOICE, "\n邊個？", *"甲乙丙丁", "B")).encode("big5hkscs")


@pytest.mark.parametrize(
    ("name", "content", "kind", "says"),
    [
        ("a.csv", ",".join(ITEM), "multiple_choice", 'header = "?"'),
        ("b.tsv", "你好\tnei5 hou2\n早晨\tzou2 san4", "g2p", 'header = "?"'),
        ("c.csv", "question;A;B;answer\n邊個？;甲;乙;A", "multiple_choice", 'delimiter = "?"'),
        ("d.json", '{"data": {"items": [{"question": "？"}]}}', "number", 'rows = "?"'),
        ("e.json", '{"q1": {"question": "？"}, "q2": {}}', "number", "Keys: q1, q2"),
        ("f.jsonl", '{"q": {"stem": "？"}, "key": [1]}', "number", "q.stem, key (a list)"),
        ("k.jsonl", '{"question": {"stem": "？", "all": [{"text": "甲"}]}, "answer": null}',
         "multiple_choice", 'question.stem, question.all.text, answer'),
        ("l.jsonl", '{"question": {"stem": "？"}, "A": "甲", "B": "乙", "answer": null}',
         "multiple_choice", 'columns = { question = "?", answer = "?" }'),
        ("m.jsonl", '{"prompt": "？"}', "fluency", 'id = "?", category = "?"'),
        ("g.json", '[{"question": "？", "image": "1.png"}]', "number", "column image holds"),
        ("n.csv", "question,answer,photo\n？,7,x\n？,8,2.png", "number", "column photo holds"),
        ("h.csv", "question,answer\n？,7\n？,8,9\n？,9", "number", "1 rows cannot be read"),
        ("i.json", '[{"question": "？", "answer": 1}, {"question": "？"}]', "number",
         "Only 1 of 2 rows have the column answer"),
        ("j.csv", BIG5, "multiple_choice", "is in BIG5-HKSCS, not UTF-8"),
    ],
)  # fmt: skip
def test_it_is_silent_about_nothing_that_a_file_leaves_open(
    new: New, name: str, content: str | bytes, kind: str, says: str
) -> None:
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    done = new(kind, None, "--from", name)
    file = Path("my_quiz/benchmark.toml")
    written = file.read_text("utf-8") if file.exists() else ""
    assert says in " ".join((done.output + written).split())


def test_what_it_asks_of_a_file_without_a_header_loads_when_answered(new: New) -> None:
    Path("a.csv").write_text("\n".join([",".join(ITEM)] * 2), "utf-8")
    new("multiple_choice", None, "--from", "a.csv")
    file = Path("my_quiz/benchmark.toml")
    text = file.read_text("utf-8").replace('answer = "?"  #', 'answer = "letter"  #')
    text = text.replace('header = "?"', "header = false")
    columns = 'question = "1", answer = "6", options = ["2", "3", "4", "5"]'
    text = text.replace('question = "?", answer = "?", options = "?"', columns)
    file.write_text(text, "utf-8")
    catalogue._catalogue.cache_clear()
    samples = load_task("my_quiz").samples
    assert [(sample.question, sample.target) for sample in samples] == [
        (ITEM[0], "B")
    ] * 2
