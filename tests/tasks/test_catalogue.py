"""The catalogue refuses wrong declarations, and names the place of the error."""

from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hkcanto_tasks import catalogue, kinds, load_task
from hkcanto_tasks.benchmark_files import read_benchmark
from hkcanto_tasks.catalogue import (
    BENCHMARKS,
    benchmarks,
    find_task,
    left_out,
    named_tasks,
)
from hkcanto_tasks.cli import app
from hkcanto_tasks.declarations import DEFINITIONS
from hkcanto_tasks.errors import CatalogueError
from hkcanto_tasks.kinds import find_kind
from hkcanto_tasks.kinds.multiple_choice import MultipleChoice
from hkcanto_tasks.results.published import published_tables
from hkcanto_tasks.tasks import task_as_run

from .quiz import Quiz

TEXT = (BENCHMARKS / "hkcanto" / "benchmark.toml").read_text("utf-8")


def read(folder: Path, text: str) -> None:
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    read_benchmark(folder / "mine.toml")


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("*/benchmark.toml")), ids=str)
def test_our_files_are_right_for_their_kinds(path: Path) -> None:
    """The catalogue reads them without the kinds, for speed."""
    assert read_benchmark(path) == read_benchmark(path, with_kinds=False)


def test_our_kinds_have_the_records_that_the_catalogue_takes_for_them() -> None:
    ours = {
        entry.name
        for entry in entry_points(group="hkcanto.kinds")
        if entry.value.startswith("hkcanto_tasks.")
    }
    assert ours == {*DEFINITIONS}
    for name, record in DEFINITIONS.items():
        assert find_kind(name).Definition is record, name


WRONG = (
    ('kind = "g2p"', 'kinds = "g2p"', "kinds"),
    (
        "shots = 5",
        "shots = -1",
        r"shots has to be at least 0 \(it is -1\)",
    ),
    ("shots = 5", 'shots = "5"', r"shots is a text"),
    ('commit = "', 'comit = "', "comit|commit"),
    ("test = ", "val = ", "split 'test'"),
    (
        'prompts = { paper = "g2p", release = "g2p_release" }',
        'prompts = { yue = "g2p" }',
        "no prompt 'paper'",
    ),
    (
        "version = 2",
        "version = 0",
        "task 'hkcanto_g2p': version has to be at least 1 .it is 0.",
    ),
    ("[github]", "[hub]\nrepo_id = 'a/b'\n[github]", r"exactly one of \[github\]"),
    (
        'headline = "acc"',
        'headline = "acc_category_macro"',
        "subject 'abstract_algebra' has none",
    ),
    ('stem = "anatomy"', 'stem = "astronomy"', "stem 'astronomy'"),
    ('["hkcanto_mmlu_en"]', '["hkcanto_mmlu_fr"]', "'hkcanto_mmlu_fr'"),
    ('name = "hkcanto"', "name = ", "Invalid value"),
)


def test_a_wrong_entry_is_named(tmp_path: Path) -> None:
    for old, new, says in WRONG:
        assert old in TEXT, old
        with pytest.raises(CatalogueError, match=f"(?s)mine.toml.*({says})"):
            read(tmp_path, TEXT.replace(old, new, 1))


FAULTY = """
name = "mine"
titel = "Mine"
title = "Mine"
[data]
[prompts.plain]
qestion = "{question}"
question = "{question}\\n{options}"
[[tasks]]
name = "first"
title = "Quiz"
kind = "multiple_choice"
files = { test = "quiz.csv" }
shots = "5"
labels = ["a", "b"]
[[tasks]]
name = "second"
title = "Quiz"
kind = "label"
files = { val = "quiz.csv" }
labels = ["a", "a"]
"""
PROBLEMS = [
    "it has an unknown key titel (Did you mean title?)",
    "prompts.plain has an unknown key qestion (Did you mean question?)",
    "task 'first': shots is a text (\"5\"), not a whole number",
    "task 'first': has a field 'labels'; its kind 'multiple_choice' has examples, question,",
    "task 'second' names no file for the split 'test'",
    "task 'second' has files of a split 'val'",
]


def test_all_problems_are_told_once_in_the_order_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "benchmark.toml").write_text(FAULTY, encoding="utf-8")
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))
    with pytest.raises(CatalogueError) as refused:
        load_task("first")
    shown = CliRunner().invoke(app, ["show", "second"]).output
    for text in (str(refused.value), shown):
        text = " ".join(text.split())
        assert f"{tmp_path}/benchmark.toml has 6 problems:" in text
        places = [text.index(problem) for problem in PROBLEMS]
        assert places == sorted(places)
        assert [text.count(problem) for problem in PROBLEMS] == [1] * 6
    assert caplog.messages == []  # the error has said it
    assert "hkmmlu" in named_tasks()
    (warning,) = caplog.messages  # now nothing else says it
    assert all(problem in warning for problem in PROBLEMS)


# A value of a task in `MINE`, and what is said of it.
FAULTS = [
    ("shots = true", "shots is true or false (true), not a whole number"),
    (
        "subjects = [{ stem = 'a', rows = 'many' }]",
        'subjects no. 1, rows is a text ("many"), not',
    ),
    ("answer = 'hk'", "answer cannot be 'hk'"),
    (
        "columns = { question = [1] }",
        "columns, one of its values, no. 1 is a whole number, not a text",
    ),
    ("table = 'acc'", 'table is a text ("acc"), not a list'),
    ("version = 0", "version has to be at least 1 (it is 0)"),
]


@pytest.mark.parametrize(("line", "says"), FAULTS)
def test_a_person_reads_no_wording_of_the_library_that_found_a_fault(
    line: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "benchmark.toml").write_text(MINE + line, encoding="utf-8")
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))
    done = CliRunner().invoke(app, ["show", "my_quiz"], env={"COLUMNS": "200"})
    assert done.exit_code == 1
    text = " ".join(done.output.split())
    assert f"{tmp_path}/benchmark.toml: task 'my_quiz': " in text
    assert says in text
    assert "`" not in text.replace("`hkcanto list`", "")
    assert "$" not in text
    assert "Expected" not in text


def test_problems_that_only_a_kind_finds_are_told_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = MINE + 'headline = "bleu"\ntable = ["accc"]\ncolumns = { tale = "x" }\n'
    (tmp_path / "benchmark.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))
    with pytest.raises(CatalogueError, match=r"(?s)tale.*headline.*in its table"):
        load_task("my_quiz")


def test_two_tasks_of_one_name_are_refused(tmp_path: Path) -> None:
    text = TEXT.replace('name = "hkcanto_dse_en"', 'name = "hkcanto_dse_zh"')
    with pytest.raises(CatalogueError, match="two tasks are called 'hkcanto_dse_zh"):
        read(tmp_path, text)


def test_an_unknown_task_gets_a_suggestion() -> None:
    with pytest.raises(CatalogueError, match="hkcanto_g2p"):
        find_task("hkcanto_gtp")


MINE = """
name = "mine"
title = "Mine"
[data]
[prompts.plain]
question = "{question}\\n{options}"
[[tasks]]
name = "my_quiz"
title = "Quiz"
kind = "multiple_choice"
files = { test = "quiz.csv" }
"""


def test_a_kind_or_headline_that_does_not_exist_is_named_when_the_task_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))
    for old, new, says in (
        (
            '"multiple_choice"',
            '"multiple_chioce"',
            "no kind 'multiple_chioce'; there are .*number",
        ),
        (
            "files =",
            'headline = "bleu"\nfiles =',
            "'my_quiz' has the headline 'bleu'.*acc",
        ),
        (
            "files =",
            'table = ["accc"]\nfiles =',
            "'my_quiz' has 'accc' in its table.*acc",
        ),
    ):
        assert old in MINE
        (tmp_path / "benchmark.toml").write_text(
            MINE.replace(old, new), encoding="utf-8"
        )
        catalogue._catalogue.cache_clear()
        with pytest.raises(CatalogueError, match=says):
            load_task("my_quiz")


def test_a_name_of_ours_stays_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ours = named_tasks()
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))
    for old, name in (
        ('name = "mine"', "hkmmlu"),
        ('name = "my_quiz"', "hkcanto_law"),
        ('name = "my_quiz"', "hkmmlu_translation_zh_yue"),
        ('name = "my_quiz"', "hkcanto"),
        ('name = "mine"', "hkcanto_g2p"),
        ('name = "mine"', "hkcanto_academic_professional_zh"),
    ):
        text = MINE.replace(old, f'name = "{name}"')
        (tmp_path / "benchmark.toml").write_text(text, encoding="utf-8")
        catalogue._catalogue.cache_clear()
        caplog.clear()
        assert named_tasks() == ours
        (said,) = caplog.messages
        assert f"{tmp_path}/benchmark.toml: {name!r} is taken by " in said


def test_an_average_over_items_needs_their_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))
    second = MINE[MINE.index("[[tasks]]") :].replace("my_quiz", "other_quiz")
    average = '[[averages]]\nname = "both"\ntitle = "Both"\ncolumns = {}\n'

    def write(columns: str) -> None:
        text = MINE + second + average.format(columns)
        (tmp_path / "benchmark.toml").write_text(text, encoding="utf-8")
        catalogue._catalogue.cache_clear()

    write('[["my_quiz", "other_quiz"]]')
    with pytest.raises(CatalogueError, match=r"weighs 'my_quiz' by its items.*`rows`"):
        load_task("my_quiz")
    write('[["my_quiz"], ["other_quiz"]]')
    (both,) = catalogue.find_benchmark("mine").averages
    assert [catalogue.share(both, name) for name in ("my_quiz", "other_quiz")] == [
        1 / 2,
        1 / 2,
    ]


def declared(folder: Path, name: str, text: str = MINE) -> Path:
    """Write a benchmark whose names have a given prefix."""
    (folder / name).mkdir(parents=True)
    text = text.replace('"mine"', f'"{name}"').replace("my_quiz", f"{name}_quiz")
    (folder / name / "benchmark.toml").write_text(text, encoding="utf-8")
    rows = "question,A,B,C,D,answer\n邊度有電車？,大澳,中環,青衣,西貢,B\n"
    (folder / name / "quiz.csv").write_text(rows, encoding="utf-8")
    return folder


BROKEN = {
    "no TOML": "name = ",
    "a field lacks": 'name = "bad"',
    "an unknown key": MINE + "shotz = 1\n",
    "no such kind": MINE.replace("multiple_choice", "multiple_chioce"),
    "no such headline": MINE + 'headline = "bleu"\n',
    "another's name": MINE.replace("my_quiz", "hkmmlu"),
    "too deep": "x = " + "[" * 100_000,
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_broken_benchmark_stops_only_itself(
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    ours = named_tasks()
    for name in ("a_good", "z_good"):
        declared(tmp_path / "all", name)
    (tmp_path / "all" / "bad").mkdir()
    (tmp_path / "all" / "bad" / "benchmark.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv(
        "HKCANTO_BENCHMARKS", f"{tmp_path / 'nowhere'}:{tmp_path / 'all'}"
    )
    assert [*named_tasks()] == [*ours, "a_good_quiz", "z_good_quiz"]
    for name in ("a_good_quiz", "z_good_quiz"):
        assert [sample.target for sample in load_task(name).samples] == ["B"]
    assert f"{tmp_path}/nowhere has no benchmark.toml" in caplog.messages[0]
    assert "bad" in caplog.messages[1]
    assert len(caplog.messages) == 2, "each is said once"
    with pytest.raises(CatalogueError) as unknown:
        find_task("bad_quiz")
    for reason in left_out():
        assert reason in str(unknown.value)


def test_of_two_benchmarks_with_one_name_the_later_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = declared(tmp_path / "1", "quiz"), declared(tmp_path / "2", "quiz")
    for order in ((first, second), (second, first)):
        monkeypatch.setenv("HKCANTO_BENCHMARKS", ":".join(map(str, order)))
        assert find_task("quiz_quiz").benchmark.home == str(order[0] / "quiz")
        (said,) = left_out()
        assert said.startswith(
            f"{order[1]}/quiz/benchmark.toml: 'quiz' is taken by {order[0]}"
        )


def test_a_folder_may_be_named_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = declared(tmp_path, "quiz")
    monkeypatch.setenv(
        "HKCANTO_BENCHMARKS", f"{folder}:{folder}/quiz:{folder}/../{folder.name}"
    )
    assert "quiz_quiz" in named_tasks()
    assert left_out() == ()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xff", " cannot be read"),
        (b"paper = 5\n", ": paper is a whole number (5), not a text. Fix this entry"),
    ],
)
def test_broken_published_tables_leave_out_only_their_own(
    content: bytes,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    before = published_tables()
    (declared(tmp_path, "quiz") / "quiz" / "published").mkdir()
    (tmp_path / "quiz" / "published" / "tables.toml").write_bytes(content)
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))
    assert published_tables() == before
    assert f"published/tables.toml{says}" in caplog.text


def test_every_entry_has_a_chinese_title_and_a_source() -> None:
    for benchmark in benchmarks():
        assert benchmark.paper
        for task in benchmark.tasks:
            assert any("一" <= c <= "鿿" for c in task.chinese)
            assert task.specified or benchmark.tasks == (
                task,
            )  # its paper is of it alone


def test_up_to_six_subjects_have_figures_of_their_own(quiz: Quiz) -> None:
    for count, own in ((1, 0), (2, 2), (6, 6), (7, 0)):
        names = [f"s{number}" for number in range(count)]
        subjects = ", ".join(f'{{ name = "{name}" }}' for name in names)
        quiz(f'files = {{ test = "{{stem}}.json" }}\nsubjects = [{subjects}]')
        figures = {figure.name for figure in task_as_run("quiz").figures}
        assert len(figures.intersection(f"acc_{name}" for name in names)) == own, count


class AnotherKind(MultipleChoice):
    """A kind of another package."""


def test_a_kind_of_another_package_never_replaces_ours(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    theirs = f"{__name__}:AnotherKind"
    ours = "hkcanto_tasks.kinds.multiple_choice:MultipleChoice"
    declared = EntryPoints(
        EntryPoint(name, value, "hkcanto.kinds")
        for name, value in (
            ("multiple_choice", theirs),
            ("multiple_choice", ours),
            ("theirs", theirs),
            ("wrong", "pathlib:Path"),
        )
    )
    monkeypatch.setattr(kinds, "entry_points", lambda **_: declared)
    find = find_kind.__wrapped__
    assert find("multiple_choice") is MultipleChoice
    (warning,) = caplog.messages
    assert warning.startswith(
        f"The kind multiple_choice = {theirs} is left out: {ours}"
    )
    assert find("theirs") is AnotherKind
    with pytest.raises(CatalogueError, match="not derived from hkcanto_tasks"):
        find("wrong")
    with pytest.raises(CatalogueError, match="no kind 'their'; there are multiple"):
        find("their")


BENCHMARK_FOLDER = "/does/not/exist"


def benchmark_folder() -> Path:
    return Path("/is/not/there/either")


def test_the_folder_of_a_package_is_named_with_its_entry_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ("BENCHMARK_FOLDER", "benchmark_folder")
    declared = [
        EntryPoint(name, f"{__name__}:{name}", "hkcanto.benchmarks") for name in names
    ]
    monkeypatch.setattr(catalogue, "entry_points", lambda **_: declared)
    broken: list[str] = []
    assert catalogue._files_from_outside("", broken) == []
    text, function = broken
    assert "/does/not/exist has no benchmark.toml" in text
    assert f"the entry point {__name__}:BENCHMARK_FOLDER" in text
    assert "/is/not/there/either has no benchmark.toml" in function
    assert f"the entry point {__name__}:benchmark_folder" in function


def test_without_names_the_tasks_of_our_benchmarks_are_chosen_and_no_public_set() -> (
    None
):
    ours = [
        task.name for benchmark in catalogue.benchmarks() for task in benchmark.tasks
    ]
    assert [task.name for task in catalogue.chosen_tasks(None)] == ours
    assert [task.name for task in catalogue.chosen_tasks([])] == ours
    sets = {benchmark.name for benchmark in catalogue.benchmarks(with_sets=True)}
    others = sets - {benchmark.name for benchmark in catalogue.benchmarks()}
    assert others
    name = sorted(others)[0]
    chosen = catalogue.chosen_tasks([name, "hkcanto_g2p", name])
    assert chosen[-1].name == "hkcanto_g2p"
    assert {task.benchmark.name for task in chosen[:-1]} == {name}
