"""`hkcanto new` declares a benchmark from its rows, and asks where it is unsure.

A declaration is checked by loading it: the questions, options and answers must be those that the
test wrote into the files.
"""

import csv
import io
import json
import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log
from typer.testing import CliRunner

from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.cli import app
from hkcanto_tasks.errors import DataCorrupt
from hkcanto_tasks.loading import load_task

from ..test_outside_benchmark import PROVIDER, install
from .test_cli import in_terminal
from .test_first_contact import as_parquet
from .test_hub_downloads import FIRST, publish
from .web_server import WebServer

QUIZ = [
    ("香港嘅區旗上面有乜嘢花？", ("洋紫荊", "牡丹", "玫瑰", "菊花"), 0),
    ("天星小輪由尖沙咀開去邊度？", ("大澳", "中環", "長洲", "赤柱"), 1),
    ("邊條係電車路線？", ("屯門", "元朗", "跑馬地", "西貢"), 2),
    ("邊樣係早餐？", ("月餅", "湯圓", "臘鴨", "餐蛋麵"), 3),
    ("邊樣係飲品？", ("魚蛋", "鴛鴦", "腸粉", "燒賣"), 1),
]
LETTERED = [[question, *options, "ABCD"[right]] for question, options, right in QUIZ]
HEADER = ["question", "A", "B", "C", "D", "answer"]
RIGHT = {(question, options, "ABCD"[right]) for question, options, right in QUIZ}

New = Callable[..., str]


def as_csv(header: Sequence[str], rows: Sequence[Sequence[object]], delimiter: str = ",") -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter).writerows([header, *rows] if header else rows)
    return file.getvalue()


@pytest.fixture
def new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> New:
    """Return a function that writes files, declares them as `quiz`, and returns the output.

    The benchmark is then in the catalogue. `--from` is the only file, or the files' folder.
    """
    monkeypatch.chdir(tmp_path)

    def declare(
        files: Mapping[str, str | bytes], *arguments: str, status: int = 0, source: str = ""
    ) -> str:
        for name, content in files.items():
            path = tmp_path / "given" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        source = source or str(Path("given", *files) if len(files) == 1 else "given")
        given = ["new", "quiz", "--from", source, *arguments]
        result = CliRunner().invoke(app, given, env={"COLUMNS": "1000"})
        assert result.exit_code == status, result.output
        monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path / "quiz"))
        return " ".join(result.output.split())

    return declare


def declared() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(Path("quiz", "benchmark.toml").read_text("utf-8"))
    return found


def comments() -> str:
    lines = Path("quiz", "benchmark.toml").read_text("utf-8").splitlines()
    return "\n".join(line for line in lines if line.startswith("#"))


def questions() -> set[tuple[str, tuple[str | None, ...], str]]:
    return {(each.question, each.choices, each.target) for each in load_task("quiz").samples}


def put(answer: str, folder: str = "quiz") -> None:
    """Answer the questions of a declaration by adding lines to the task's entry."""
    path = Path(folder, "benchmark.toml")
    path.write_text(f"{path.read_text('utf-8')}{answer}\n", encoding="utf-8")
    os.environ["HKCANTO_BENCHMARKS"] += os.pathsep  # this makes it another catalogue


# ---------------------------------------------------------------------- recognised forms


def listed(**more: Callable[[int], object]) -> list[dict[str, Any]]:
    return [
        {"stem": question, "options": options, **{name: of(right) for name, of in more.items()}}
        for question, options, right in QUIZ
    ]


@pytest.mark.parametrize(
    ("file", "content", "answer"),
    [
        ("q.csv", as_csv(HEADER, LETTERED), "letter"),
        ("q.tsv", as_csv(HEADER, LETTERED, "\t"), "letter"),
        ("q.csv", as_csv(["", *map(str.upper, HEADER)], [[7, *r] for r in LETTERED]), "letter"),
        ("q.csv", as_csv(["題目", "甲", "乙", "丙", "丁", "正確答案"], LETTERED), "letter"),
        ("q.csv", as_csv([*HEADER[::-1]], [row[::-1] for row in LETTERED]), "letter"),
        (
            "q.csv",
            as_csv(
                ["id", "question", *(f"option_{n}" for n in range(4)), "gold_index"],
                [[i, q, *o, right] for i, (q, o, right) in enumerate(QUIZ)],
            ),
            "index",
        ),
        ("q.json", json.dumps(listed(answer=lambda right: right + 1)), "number"),
        ("q.json", json.dumps({"about": "x", "rows": listed(gold=lambda right: right)}), "index"),
        (
            "q.jsonl",
            "\n".join(
                json.dumps({"query": q, "choices": dict(zip("ABCD", o, strict=True)), "key": o[r]})
                for q, o, r in QUIZ
            ),
            "text",
        ),
        ("q.parquet", as_parquet(listed(label=lambda right: "ABCD"[right])), "letter"),
    ],
    ids=["csv", "tsv", "id", "chinese", "reversed", "index", "number", "nested", "text", "parquet"],
)
def test_a_file_of_questions_runs_as_it_is(
    new: New, file: str, content: str | bytes, answer: str
) -> None:
    printed = new({file: content})
    assert "multiple_choice, 5 rows" in printed
    assert "It does not load" not in printed
    assert questions() == RIGHT
    assert declared()["tasks"][0]["answer"] == answer


def test_rows_without_a_header_are_not_taken_for_one(new: New) -> None:
    new({"q.csv": as_csv([], LETTERED)})
    assert declared()["tasks"][0]["header"] is False
    assert questions() == RIGHT


def test_a_blank_option_is_none(new: New) -> None:
    new({"q.csv": as_csv(HEADER, [*LETTERED, ["三揀一？", "一", "二", "三", "", "C"]])})
    assert ("三揀一？", ("一", "二", "三", None), "C") in questions()


def test_files_of_subjects_with_worked_examples(new: New) -> None:
    files = {}
    for name, rows in (("food", LETTERED[:2]), ("hk_law", LETTERED[2:])):
        files[f"test/{name}.csv"] = as_csv(HEADER, rows)
        files[f"dev/{name}.csv"] = as_csv(HEADER, [[f"例 {name}", *rows[0][1:]]])
    new(files)
    assert questions() == RIGHT
    assert [each.question for each in load_task("quiz_food").samples] != []
    shown = load_task("quiz_hk_law", shots=1)
    assert "例 hk_law" in shown.prompt(shown.samples[0]).text()


def test_a_column_of_subjects(new: New) -> None:
    rows = [[*row, "法律" if place % 2 else "飲食"] for place, row in enumerate(LETTERED)]
    new({"q.csv": as_csv([*HEADER, "subject"], rows)})
    subjects = [(each.name, each.chinese) for each in find_task("quiz").subjects]
    assert subjects == [("s1", "法律"), ("s2", "飲食")]
    assert {each.question for each in load_task("quiz_s1").samples} == {QUIZ[1][0], QUIZ[3][0]}


def test_a_member_of_an_archive(new: New) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("data/test.csv", as_csv(HEADER, LETTERED))
    new({"q.zip": packed.getvalue()})
    assert questions() == RIGHT


def test_a_passage_is_shown_before_its_question(new: New) -> None:
    rows = [[f"文章 {place}", *row] for place, row in enumerate(LETTERED)]
    new({"q.csv": as_csv(["Reading passage", *HEADER], rows)})
    loaded = load_task("quiz")
    first = min(loaded.samples, key=lambda each: each.id)
    assert "文章 0\n\n香港嘅區旗上面有乜嘢花？" in loaded.prompt(first).text()


def test_solutions_with_numbers(new: New) -> None:
    rows = [["三加五？", "3+5=8\n#### 8"], ["一千八百？", "#### 1,800"]]
    new({"q.csv": as_csv(["question", "answer"], rows)})
    assert {each.target for each in load_task("quiz").samples} == {"8", "1,800"}


PAIRS = [
    ("你食咗飯未呀？", "Have you eaten yet?"),
    ("佢哋聽日唔得閒。", "They are not free tomorrow."),
    ("呢度啲嘢好平。", "The things here are cheap."),
]


def test_a_translation_is_asked_in_both_directions(new: New) -> None:
    new({"q.csv": as_csv(["yue", "en"], PAIRS)})
    back, into = load_task("quiz_yue_en"), load_task("quiz_en_yue")
    assert {(each.source, each.target) for each in back.samples} == {*PAIRS}
    assert {(each.target, each.source) for each in into.samples} == {*PAIRS}
    assert into.task.definition.kind == "translation_to_cantonese"


def test_a_column_that_is_called_by_another_language_is_asked_about(new: New) -> None:
    """Yue-TRANS has Written Chinese in a column `en`."""
    texts = ["你們吃飯了沒有？", "他們明天沒有空。", "這裏的東西很便宜。"]
    rows = [[yue, text] for (yue, _), text in zip(PAIRS, texts, strict=True)]
    printed = new({"q.csv": as_csv(["yue", "en"], rows)})
    assert 'Is "en" Written Chinese' in printed
    assert load_task("quiz_zh_yue").task.definition.language == "yue"


def test_several_sorts_of_files_are_several_tasks(new: New) -> None:
    printed = new(
        {
            "mmlu/q.csv": as_csv(HEADER, LETTERED),
            "sums/q.csv": as_csv(["question", "answer"], [["三加五？", "8"], ["一加一？", "2"]]),
            "odd/q.csv": as_csv(["x", "y"], [["甲", "乙"]]),
        }
    )
    assert [task["name"] for task in declared()["tasks"]] == ["quiz_mmlu", "quiz_sums"]
    assert "Left out: odd/q.csv: no kind of task was recognised" in printed
    assert len(load_task("quiz_sums").samples) == 2


def test_subjects_that_are_named_as_their_files_are_found_by_pattern(new: New) -> None:
    new({f"test/{name}.csv": as_csv(HEADER, LETTERED) for name in ("food", "hk_law")})
    (task,) = declared()["tasks"]
    assert task["files"] == {"test": "test/*.csv"}
    assert "subjects" not in task
    assert [each.name for each in find_task("quiz").subjects] == ["food", "hk_law"]


def test_a_pattern_that_finds_another_file_is_not_used(new: New) -> None:
    files = {f"test/{name}.csv": as_csv(HEADER, LETTERED) for name in ("food", "hk_law")}
    new({**files, "test/readme.csv": as_csv(["x", "y"], [["甲", "乙"]])})
    (task,) = declared()["tasks"]
    assert [each["name"] for each in task["subjects"]] == ["food", "hk_law"]
    assert len(load_task("quiz").samples) == 2 * len(QUIZ)


def test_keys_lead_to_the_rows_of_a_json_file(new: New) -> None:
    rows = listed(answer=lambda right: "ABCD"[right])
    new({"q.json": json.dumps({"about": ["甲"], "data": {"count": 5, "items": rows}})})
    assert declared()["tasks"][0]["rows"] == "data.items"
    assert questions() == RIGHT


def test_two_lists_of_rows_are_not_chosen_between(new: New) -> None:
    rows = listed(answer=lambda right: "ABCD"[right])
    people = [{"name": "甲"}, {"name": "乙"}]
    printed = new({"q.json": json.dumps({"a": {"by": people, "n": 1}, "b": {"q": rows}})}, status=1)
    assert "q.json" in printed
    assert not Path("quiz").exists()


def test_the_labels_of_options_are_taken_off(new: New) -> None:
    rows = [
        [q, *(f"{x}. {y}" for x, y in zip("ABCD", o, strict=True)), "ABCD"[right]]
        for q, o, right in QUIZ
    ]
    new({"q.csv": as_csv(HEADER, rows)})
    assert declared()["tasks"][0]["option_labels"] == "remove"
    assert questions() == RIGHT


@pytest.mark.parametrize("way", ["one_hot", "index"])
def test_options_whose_right_one_is_always_the_first_are_shuffled(new: New, way: str) -> None:
    rows: list[dict[str, Any]] = []
    for question, options, right in QUIZ:
        ordered = [options[right], *(each for each in options if each != options[right])]
        marks = {each: int(each == options[right]) for each in ordered}
        row = {"mc1_targets": marks} if way == "one_hot" else {"choices": ordered, "answer": 0}
        rows.append({"question": question, **row})
    printed = new({"q.json": json.dumps(rows)})
    (task,) = declared()["tasks"]
    assert (task["answer"], task["shuffle_options"]) == (way, 1)
    assert "Is that right?" in printed or "Is it right that every answer is A?" in printed
    found = {(q, choices["ABCD".index(right)]) for q, choices, right in questions()}
    assert found == {(question, options[right]) for question, options, right in QUIZ}


def test_labels_are_declared_in_the_words_of_the_file(new: New) -> None:
    texts = ["好正", "好差", "麻麻地", "一流", "失望", "普通", "難食", "讚"]
    labels = ["Positive", "Negative", "Neutral", "Positive", "Negative", "Neutral"]
    rows = list(zip(texts, [*labels, "Negative", "Positive"], strict=True))
    new({"q.csv": as_csv(["text", "sentiment"], rows)})
    (task,) = declared()["tasks"]
    assert (task["kind"], {*task["labels"]}) == ("label", {*labels})
    assert {(each.source, each.target) for each in load_task("quiz").samples} == {*rows}


def test_codes_of_labels_are_asked_about_and_do_not_run(new: New) -> None:
    texts = ["好正嘅蝦餃", "好差嘅服務", "一流環境", "失望嘅甜品"]
    printed = new({"q.csv": as_csv(["text", "label"], [*zip(texts, "1010", strict=True)])})
    assert 'What do the values of "label" mean' in printed
    assert "It does not load yet" in printed
    put('labels = { "好" = { data = "1" }, "差" = { data = "0" } }')
    assert {each.target for each in load_task("quiz").samples} == {"好", "差"}


def test_accepted_answers_of_a_passage(new: New) -> None:
    rows = [
        {"context": f"{town}有個碼頭。", "question": f"{number}號碼頭喺邊？"}
        | {"answers": {"text": [town, f"{town}區"], "answer_start": [0, 0]}}
        for number, town in enumerate(("中環", "灣仔", "紅磡"))
    ]
    new({"q.json": json.dumps(rows)})
    assert declared()["tasks"][0]["kind"] == "short_answer"
    loaded = load_task("quiz")
    assert {each.target for each in loaded.samples} == {
        json.dumps([town, f"{town}區"], ensure_ascii=False, separators=(",", ":"))
        for town in ("中環", "灣仔", "紅磡")
    }
    shown = [loaded.prompt(each).text() for each in loaded.samples]
    assert all("有個碼頭。" in each and "號碼頭喺邊？" in each for each in shown)


def test_several_right_options(new: New) -> None:
    answers = ["AB", "C", "AD", "BCD", "B"]
    rows = [[*row[:-1], answer] for row, answer in zip(LETTERED, answers, strict=True)]
    new({"q.csv": as_csv(HEADER, rows)})
    assert declared()["tasks"][0]["kind"] == "multi_answer"
    assert sorted(each.target for each in load_task("quiz").samples) == sorted(answers)


def test_requests_without_answers_need_a_rubric(new: New) -> None:
    rows = [{"prompt": f"寫一封信畀{each}"} for each in ("阿媽", "老師", "業主")]
    printed = new({"q.json": json.dumps(rows)})
    assert "What is a good answer?" in printed
    assert "It does not load yet" in printed
    assert "[tasks.rubric]" in comments()


# ---------------------------------------------------------------------- questions to the user


def test_an_answer_that_can_be_read_in_two_ways_is_asked_and_does_not_run(new: New) -> None:
    rows = [[question, *options, right] for question, options, right in QUIZ if 0 < right < 3]
    printed = new({"q.csv": as_csv(HEADER, rows)})
    assert 'Is "answer" its number from 1 or its index from 0?' in printed
    assert "1 (2) and 2 (1)" in printed
    assert "It does not load yet" in printed
    with pytest.raises(DataCorrupt, match="can be read in 2 ways"):
        load_task("quiz")
    assert '# answer = "index"' in comments()
    put('answer = "index"')
    assert questions() == {each for each in RIGHT if each[2] in "BC"}


def test_a_label_may_be_of_something_else(new: New) -> None:
    rows = [[question, *options, right] for question, options, right in QUIZ]
    printed = new({"q.csv": as_csv([*HEADER[:-1], "label"], rows)})
    assert 'Is "label" the answer? It has the values 1 (2), 0 (1), 2 (1) and 3 (1).' in printed
    assert '# ? Is "label" the answer?' in comments()
    assert questions() == RIGHT


def test_what_a_model_said_is_not_the_answer(new: New) -> None:
    rows = [[*row[:-1], "A", row[-1], "B"] for row in LETTERED]
    new({"q.csv": as_csv([*HEADER[:-1], "prediction", "answer", "gpt4_answer"], rows)})
    assert questions() == RIGHT


def test_two_columns_that_may_be_the_answer_are_asked_about(new: New) -> None:
    rows = [[*row, "D"] for row in LETTERED]
    printed = new({"q.csv": as_csv([*HEADER, "correct_option"], rows)})
    assert 'Is "answer" the answer?' in printed
    assert 'It could also be "correct_option".' in printed


def test_a_right_answer_that_is_always_the_first_option_is_said(new: New) -> None:
    rows = [[q, o[right], *(each for each in o if each != o[right])] for q, o, right in QUIZ]
    header = ["question", "correct_answer", "distractor1", "distractor2", "distractor3"]
    printed = new({"q.csv": as_csv(header, rows)})
    assert "The right option is always the first, A" in printed
    assert declared()["tasks"][0]["shuffle_options"] == 1
    assert {choices["ABCD".index(right)] for _, choices, right in questions()} == {
        options[right] for _, options, right in QUIZ
    }


def test_columns_that_no_prompt_shows_are_asked_about(new: New) -> None:
    rows = [[*row, f"睇圖 {place} 先答"] for place, row in enumerate(LETTERED)]
    printed = new({"q.csv": as_csv([*HEADER, "hint"], rows)})
    assert 'Does a model need "hint" to answer?' in printed


def test_a_lone_train_split_is_asked_about(new: New) -> None:
    printed = new({"train.csv": as_csv(HEADER, LETTERED)})
    assert 'There is no split "test". Should "train" be used instead?' in printed
    assert questions() == RIGHT


# ---------------------------------------------------------------------- places of rows


def test_a_file_in_the_folder_is_not_copied(new: New, tmp_path: Path) -> None:
    (tmp_path / "quiz").mkdir()
    (tmp_path / "quiz" / "q.csv").write_text(as_csv(HEADER, LETTERED), "utf-8")
    printed = new({}, source="quiz/q.csv")
    assert "Copied" not in printed
    assert questions() == RIGHT
    assert sorted(each.name for each in Path("quiz").iterdir()) == ["benchmark.toml", "q.csv"]


@pytest.mark.parametrize(
    "source", ["someone/questions", "https://huggingface.co/datasets/someone/questions"]
)
def test_a_hub_data_set_is_pinned(new: New, cache: Path, server: WebServer, source: str) -> None:
    publish(server, FIRST, {"README.md": "# Q", "test.csv": as_csv(HEADER, LETTERED)})
    printed = new({}, source=source)
    assert declared()["hub"] == {"repo_id": "someone/questions", "revision": FIRST}
    assert "It does not load" not in printed
    assert questions() == RIGHT
    assert load_task("quiz").revision == FIRST[:7]
    assert cache.is_dir()


def test_items_of_a_release_are_shown_only_on_a_terminal(
    new: New, cache: Path, server: WebServer
) -> None:
    publish(server, FIRST, {"test.csv": as_csv(HEADER, LETTERED)}, "me/quiz")
    new({}, source="me/quiz")
    piped = CliRunner().invoke(app, ["show", "quiz"]).output
    assert not any(question in piped for question, _, _ in QUIZ)
    assert "shown on a terminal only" in " ".join(piped.split())
    seen = "\n".join(in_terminal(100, "show", "quiz"))
    assert sum(question in seen for question, _, _ in QUIZ) == 3
    assert "do not publish" in seen
    assert cache.is_dir()


def test_show_has_the_first_three_items_of_own_data_with_their_answers(new: New) -> None:
    new({"q.csv": as_csv(HEADER, LETTERED)})
    shown = CliRunner().invoke(app, ["show", "quiz"]).output
    expected = [
        f"│ {each.question}\n" + "".join(f"│ {k}. {c}\n" for k, c in zip("ABCD", each.choices))  # noqa: B905
        for each in load_task("quiz").samples[:3]
    ]
    assert all(each in shown for each in expected)
    assert [line[2:] for line in shown.splitlines() if line.startswith("→")] == [
        each.target for each in load_task("quiz").samples[:3]
    ]


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("files", "source", "message"),
    [
        ({"q.csv": "question,answer\n"}, "", "given/q.csv has no rows."),
        ({"q.csv": ""}, "", "it is empty"),
        ({"q.xlsx": "PK"}, "", "is not in a known format: .csv, .tsv"),
        ({"a.txt": "x", "b.md": "y"}, "", "has no file in a known format"),
        ({}, "given/none.csv", "given/none.csv does not exist"),
        ({}, "no such thing", "nor the name of a repository"),
        ({"q.csv": as_csv(["x", "y"], [["甲", "乙"]])}, "", "x (1 texts), y (1 texts)"),
        (
            {"q.csv": as_csv(HEADER[:-1], [row[:-1] for row in LETTERED])},
            "",
            "it has options (a, b, c, d), but no column names one of them in every row",
        ),
    ],
)
def test_what_cannot_be_declared_is_an_error_and_leaves_nothing(
    new: New, files: dict[str, str], source: str, message: str
) -> None:
    assert message in new(files, source=source, status=1)
    assert not Path("quiz").exists()
    assert not [*Path().glob(".new-*")]


def test_a_data_set_that_is_not_there(new: New, cache: Path, server: WebServer) -> None:
    printed = new({}, source="someone/absent", status=1)
    assert "someone/absent" in printed
    assert "is not on the server, or not public (HTTP 404)" in printed
    assert not Path("quiz").exists()
    assert not (cache / "registry").exists()
    assert sum(server.requests.values()) == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("My Quiz", "'My Quiz' cannot be the name of a task"),
        ("hkmmlu", "'hkmmlu' is taken by"),
        ("hkcanto_law", "'hkcanto_law' is taken by"),
        ("mmlu", "'mmlu' is a task of lm-eval"),
    ],
)
def test_a_name_that_cannot_be_used(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text(as_csv(HEADER, LETTERED), "utf-8")
    given = ["new", name, "--from", str(tmp_path / "q.csv"), "--into", str(tmp_path)]
    result = CliRunner().invoke(app, given, env={"COLUMNS": "1000"})
    assert result.exit_code == 1
    assert message in result.output


def test_nothing_is_replaced_without_force(new: New) -> None:
    file = {"q.csv": as_csv(HEADER, LETTERED)}
    new(file)
    put("# mine")
    assert "benchmark.toml exists" in new(file, status=1)
    assert "# mine" in comments()
    new(file, "--force")
    assert "# mine" not in comments()
    Path("quiz", "benchmark.toml").unlink()
    Path("quiz", "q.csv").write_text("mine", "utf-8")
    assert "quiz/q.csv exists and differs" in new(file, status=1)
    assert Path("quiz", "q.csv").read_text("utf-8") == "mine"
    assert not Path("quiz", "benchmark.toml").exists()


def test_a_file_that_cannot_be_written_leaves_nothing(
    new: New, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    printed = new({"q.csv": as_csv(HEADER, LETTERED)}, status=1)
    assert "cannot be written: No space left on device" in printed
    assert sorted(each.name for each in Path().iterdir()) == ["given"]


# ---------------------------------------------------------------------- a new user's steps


def five_commands(folder: Path) -> list[str]:
    """The commands that the guide gives a new user, run in a folder."""
    guide = Path(__file__).parents[2] / "docs" / "adding_a_benchmark.md"
    block = guide.read_text("utf-8").partition("```sh\n")[2].partition("```")[0]
    return block.replace("$PWD", str(folder)).splitlines()


def test_the_guide_has_the_commands_that_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HKCANTO_BENCHMARKS", raising=False)
    Path("questions.csv").write_text(as_csv(HEADER, LETTERED), "utf-8")
    first, *others = five_commands(tmp_path)
    printed = CliRunner().invoke(app, first.split()[1:]).output
    assert printed.partition("Next\n")[2].splitlines() == others


def test_commands_keep_the_benchmarks_that_are_there(
    new: New, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = {"q.csv": as_csv(HEADER, LETTERED)}
    monkeypatch.setenv("HKCANTO_BENCHMARKS", "/elsewhere")
    assert f"export HKCANTO_BENCHMARKS={tmp_path}/quiz:$HKCANTO_BENCHMARKS" in new(file)
    assert "export" not in new(file, "--force")  # it exists by now


@pytest.mark.slow
def test_from_a_file_to_a_run_in_both_harnesses(tmp_path: Path) -> None:
    (tmp_path / "questions.csv").write_text(as_csv(HEADER, LETTERED), "utf-8")
    install(tmp_path, "letters_model", PROVIDER, inspect_ai="letters = letters_model")
    # Inspect's mock model would download a tokenizer.
    script = "\n".join(five_commands(tmp_path)).replace("mockllm/model", "letters/b")
    done = subprocess.run(
        ["bash", "-ec", f"{script} --display plain"],
        cwd=tmp_path,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
            "COLUMNS": "200",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert done.stdout.count("→ ") == 3
    assert "|my_quiz|" in done.stdout
    (file,) = tmp_path.glob("logs/*.eval")
    log = read_eval_log(str(file))
    assert log.status == "success"
    assert log.results is not None
    assert log.results.total_samples == 3
    assert log.results.scores[0].metrics["unparsed_rate"].value == 0
