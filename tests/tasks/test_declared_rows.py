"""Files are found and read as a benchmark declares them; all others are refused, with reasons."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hkcanto_metrics.script import to_simplified
from hkcanto_tasks import load_task
from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.data.checks import refuse_odd
from hkcanto_tasks.data.tables import read_table
from hkcanto_tasks.errors import (
    CatalogueError,
    DataCorrupt,
    DataNotFound,
    HKCantoError,
    OptionError,
)
from hkcanto_tasks.loading import ScoredRows, is_comparable
from hkcanto_tasks.printable import warn_once
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.tasks import LoadedTask

from .quiz import Quiz, as_csv, items, read

HEADER = ("Question", "A", "B", "C", "D", "Answer")
LAW = ("香港邊個部門負責檢控？", "律政司", "運輸署", "食環署", "衞生署", "A")
MUSIC = ("邊隊係香港樂隊？", "007", "NA", "None", "Beyond", "D")
MANY = [(f"第{n}題：{LAW[0]}", *LAW[1:]) for n in range(200)]
Folder = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """Return a function that writes a release into a folder for HKCANTO_DATA_DIR."""
    warn_once.cache_clear()
    monkeypatch.delenv("HKCANTO_DATA")
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path))

    def write(files: dict[str, str | bytes], release: str = "hkmmlu") -> Path:
        for name, content in files.items():
            path = tmp_path / release / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path / release

    return write


def load(folder: Folder, content: str | bytes, **options: Any) -> LoadedTask:
    """HKMMLU's law, from one file."""
    folder({"test/hk_law.csv": content})
    return load_task("hkmmlu_hk_law", **options)


# ---------------------------------------------------------------------- what is taken


def test_what_the_release_may_have_is_taken(folder: Folder) -> None:
    plain = as_csv([LAW, MUSIC], HEADER)
    expected = {(LAW[0], LAW[1:5], "A"), (MUSIC[0], MUSIC[1:5], "D")}
    for content in (
        plain,
        plain.replace("Question", "QUESTION", 1).replace("Answer", "answer", 1),
        "\ufeff" + plain,
        plain + "\r\n\r\n",
        plain.replace("\r\n", "\n"),
        plain.replace(LAW[0], LAW[0][:3] + "\n" + LAW[0][3:]),
        plain.replace('"A"', '"a"'),
    ):
        found = load(folder, content).samples
        assert {
            (s.question.replace("\n", ""), s.choices, s.target) for s in found
        } == expected


def test_a_file_may_be_in_any_folder_above_a_declared_one(folder: Folder) -> None:
    folder({"v1/data/test/hk_law.csv": as_csv([LAW], HEADER)})
    assert load_task("hkmmlu_hk_law").samples


def test_the_hubs_own_parquet_conversion_is_the_other_declared_form(
    folder: Folder,
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = folder({}) / "hkmmlu/hk_law/test/0000.parquet"
    path.parent.mkdir(parents=True)
    rows = [
        dict(zip(HEADER, row, strict=True))
        for row in (LAW, (*LAW[:3], None, None, "A"))
    ]
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    path.parents[2].replace(path.parents[3] / "found")
    (path.parents[3] / "found/hk_law").replace(path.parents[3] / "hk_law")
    choices = {sample.choices for sample in load_task("hkmmlu_hk_law").samples}
    assert choices == {LAW[1:5], ("律政司", "運輸署", None, None)}


def test_an_alias_is_declared_in_the_catalogue_or_by_the_user(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder({"test/human_behaviour.csv": as_csv([LAW], HEADER)})
    assert load_task("hkmmlu_human_behavior").samples
    folder({"test/songs.csv": as_csv([MUSIC], HEADER)})
    with pytest.raises(
        DataNotFound, match=r"(?s)files: songs.*HKCANTO_ALIASES='songs=hk_music"
    ):
        load_task("hkmmlu_hk_music")
    monkeypatch.setenv(
        "HKCANTO_ALIASES", "tunes=hk_music, airs=hk_music\nsongs=hk_music\n"
    )
    assert load_task("hkmmlu_hk_music").samples
    folder({"test/hk_law.csv": as_csv([LAW], HEADER)})
    monkeypatch.setenv("HKCANTO_ALIASES", "hk_law=a_subject_of_another_benchmark")
    assert load_task("hkmmlu_hk_law").samples
    monkeypatch.setenv("HKCANTO_ALIASES", "hk_law=hk_music")
    with pytest.raises(DataNotFound, match=r"'hk_law' is already the file of 'hk_law'"):
        load_task("hkmmlu_hk_music")
    monkeypatch.setenv("HKCANTO_ALIASES", "songs=hk_music,hk_music")
    with pytest.raises(DataNotFound, match=r"'hk_music'. Write it as stem=subject"):
        load_task("hkmmlu_hk_music")


# ---------------------------------------------------------------------- what is refused


def test_a_layout_that_is_not_declared_is_refused_with_the_expected_and_the_found(
    folder: Folder,
) -> None:
    for name in (
        "hk_law.csv",
        "data/hk_law_test.csv",
        "hk_law/test.csv",
        "test/hk_law.json",
        "test/Hong Kong Law.csv",
        "test/HK_LAW.csv",
        "test/hk_law.csv.gz",
        "test.csv",
    ):
        path = folder({name: as_csv([LAW], HEADER)}) / name
        with pytest.raises(DataNotFound) as refused:
            load_task("hkmmlu_hk_law")
        message = str(refused.value)
        assert "test/hk_law.csv" in message or "**/test/{stem}.csv" in message, name
        assert Path(name).name in message or Path(name).stem in message, name
        assert "reader" in message or "HKCANTO_ALIASES" in message, name
        path.unlink()


def test_a_file_that_is_not_data_is_refused(folder: Folder) -> None:
    for content, complaint in (
        (
            "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
            "Git LFS pointer",
        ),
        ("<!DOCTYPE html><html></html>", "HTML page"),
        ("", "empty"),
        (as_csv(MANY, HEADER).encode("utf-16"), "not UTF-8"),
        (as_csv(MANY, HEADER).encode("big5", "replace"), "not UTF-8"),
        (as_csv(MANY, HEADER)[:-9], "truncated"),
        (as_csv(MANY, HEADER).replace("律政司", "律\0政司", 1), "NUL character"),
        (
            as_csv([("a", "b")] * 9, ("name", "value")),
            "9 of 9 rows cannot be read.*no text for",
        ),
        (as_csv(MANY), "rows cannot be read"),
        (
            as_csv(MANY, ("question", "A", "B", "C", "D", "E", "answer")),
            "cells instead of 7",
        ),
        (as_csv(MANY, ("question", "A", "B", "C", "D", "a")), "column twice"),
        (as_csv([(*row[:5], "0") for row in MANY], HEADER), "names none of"),
        (as_csv([(*row[:5], row[1]) for row in MANY], HEADER), "names none of"),
        (as_csv(MANY, HEADER).replace("律", "\ufffd"), None),
        (
            as_csv([(f"{n}\ufffd\ufffd", *LAW[1:]) for n in range(200)], HEADER),
            "wrong encoding",
        ),
        (
            as_csv([(f"Who {n}?", "x", "y", "z", "w", "A") for n in range(20)], HEADER),
            "no Chinese",
        ),
        (to_simplified(as_csv(MANY, HEADER)), "Simplified"),
        (as_csv(MANY[:20] * 3, HEADER), "same questions several times"),
        (as_csv(MANY[:20] * 2, HEADER), "same questions several times"),
        (as_csv([*MANY, *[(*row[:5], "B") for row in MANY]], HEADER), "other answers"),
    ):
        if complaint is None:
            assert load(folder, content).samples
            continue
        with pytest.raises(DataCorrupt, match=rf"(?s)hk_law.*({complaint})"):
            load(folder, content)


def test_two_files_for_a_subject_are_refused_even_if_they_are_equal(
    folder: Folder,
) -> None:
    content = as_csv([LAW], HEADER)
    folder({"tc/test/hk_law.csv": content, "sc/test/hk_law.csv": content})
    with pytest.raises(
        DataCorrupt, match=r"2 files for the test rows of hk_law: .*sc/test/hk_law"
    ):
        load_task("hkmmlu_hk_law")


def test_another_language_in_the_place_of_a_task_is_refused(folder: Folder) -> None:
    english = as_csv([(f"Who is {n}?", "x", "y", "z", "w", "A") for n in range(20)])
    folder({"canto-mmlu/test/anatomy_test.csv": english}, "hkeval2025")
    with pytest.raises(DataCorrupt, match="no Chinese character"):
        load_task("hkcanto_mmlu_yue_anatomy")


def test_a_declaration_that_leads_nowhere_is_refused(quiz: Quiz) -> None:
    for more, says in (
        ("files = { dve = 'a.csv' }", "no file for the split 'test'"),
        (
            "files = { test = 'a.csv', train = 'b.csv' }",
            "a split 'train'; there are test and dev",
        ),
        ("files = 'a.csv'\nreader = 'rows.py:rows'", "files and reader"),
        (
            "files = 'a.csv'\nsubjects = [{ name = 'a' }, { name = 'b' }]",
            "several subjects in one",
        ),
        ("files = 'a.csv'\nconfig = 'x'", "files and config or splits"),
        ("splits = { test = 'train' }", r"for a \[hub\] data set"),
        ("files = 'a.csv'\nsentences = { yeu = 'x' }", r"'yeu'; it has \['paper'\]"),
        (
            "files = 'a.csv'\nanswer = 'one_hot'",
            r"answer cannot be 'one_hot'.*has all keys and their values",
        ),
        ("files = 'a.csv'\nanswers = { x = 'F' }", "its letters are ABCD"),
        (
            "files = 'a.csv'\nsubjects = [{ name = '', stm = 'x' }]",
            "subjects no. 1 has an unknown key stm",
        ),
        ("reader = 'rows.txt:rows'", "reader"),
    ):
        with pytest.raises(CatalogueError, match=says):
            items_of(quiz, more)


def items_of(quiz: Quiz, more: str) -> None:
    from hkcanto_tasks.benchmark_files import read_benchmark

    read_benchmark(quiz(more) / "benchmark.toml")


# ---------------------------------------------------------------------- bad rows


def test_a_bad_row_costs_a_row_and_is_signed(
    folder: Folder, caplog: pytest.LogCaptureFixture
) -> None:
    header, *lines = as_csv(MANY, HEADER).splitlines()
    for row, reason in (
        ("壞題,甲,乙,丙,丁,E", "an answer 'E' that names none of"),
        ("壞題,甲,乙,丙,丁,", "no answer"),
        ("壞題,甲,乙,A", "4 cells instead of 6"),
        ('"壞"題,甲,乙,丙,丁,A', "a stray or missing quote"),
    ):
        loaded = load(folder, "\r\n".join([header, *lines[:99], row, *lines[99:], ""]))
        assert {item.question for item in loaded.samples} == {row[0] for row in MANY}
        assert "-1rows|" in loaded.signature
        (bad,) = loaded.bad
        assert bad.where.endswith("hk_law.csv, row 101")
        assert reason in bad.what
        assert "壞題" not in str(bad)
    assert "1 unreadable rows were set aside" in caplog.text
    numbers = sorted(int(item.id.rpartition("/")[2]) for item in loaded.samples)
    assert len(numbers) == 200
    assert 100 not in numbers  # ids are the places in the file


def test_more_than_one_bad_row_in_a_hundred_is_an_error(folder: Folder) -> None:
    rows = [list(row) for row in MANY]
    rows[3][5] = rows[50][5] = "E"
    assert len(load(folder, as_csv(rows, HEADER)).samples) == 198
    rows[70][5] = "E"
    with pytest.raises(
        DataCorrupt, match=r"(?s)3 of 200 rows .* more than 2.*row 5 has an answer"
    ):
        load(folder, as_csv(rows, HEADER))


def test_a_bad_file_of_examples_costs_only_the_runs_that_show_it(
    folder: Folder,
) -> None:
    folder({"dev/hk_law.csv": as_csv([(*LAW[:5], "E")] * 5, HEADER)})
    loaded = load(folder, as_csv(MANY, HEADER))
    assert len(loaded.samples) == 200
    with pytest.raises(DataCorrupt, match=r"dev/hk_law\.csv"):
        loaded.at(shots=1).prompt_examples("hk_law")


# ---------------------------------------------------------------------- examples and counts


def test_no_dev_file_is_needed_for_0_shots_and_its_absence_is_said(
    folder: Folder,
) -> None:
    loaded = load(folder, as_csv([LAW], HEADER))
    assert loaded.prompt(loaded.samples[0]).text()
    with pytest.raises(
        OptionError, match=r"hk_law: shots=1.* no dev file for it\. Ask for 0"
    ):
        loaded.at(shots=1).prompt(loaded.samples[0])


def test_the_data_is_named_by_every_file_that_was_read(folder: Folder) -> None:
    def data(shots: int) -> str:
        loaded = load(folder, as_csv([LAW], HEADER)).at(shots=shots)
        return loaded.signature.partition("|data:")[2].partition("|")[0]

    folder({"dev/hk_law.csv": as_csv([MUSIC], HEADER)})
    without, before = data(0), data(1)
    folder({"dev/hk_law.csv": as_csv([(*MUSIC[:5], "A")], HEADER)})
    assert data(0) == without
    assert data(1) != before
    assert without != before


def test_examples_of_the_paper_leave_the_file_of_examples_out_of_the_datas_name(
    folder: Folder,
) -> None:
    def data(**options: str) -> str:
        return load_task("hkcanto_g2p", **options).revision

    def write(split: str, end: str, number: int, text: str, jyutping: str) -> None:
        row = {"#": number, "Honzi": text, "Jyutping": jyutping}
        name = f"phonetics-g2p/{split}/zh_to_jyutping_{end}.json"
        folder({name: json.dumps(row)}, "hkeval2025")

    write("test", "test_gold", 1, "早晨", "zou2 san4")
    write("dev", "dev", 2, "你好", "nei5 hou2")
    of_paper, of_release = data(), data(examples="release")
    write("dev", "dev", 2, "多謝", "do1 ze6")
    assert data() == of_paper
    assert data(examples="release") != of_release


def test_a_subject_short_of_many_rows_is_not_comparable_though_the_total_is_right() -> (
    None
):
    subjects = find_task("hkmmlu").subjects[:3]
    for changes, comparable in (((-8, 3, 5), True), ((-15, 5, 10), False)):
        counts = {
            subject: subject.rows + change
            for subject, change in zip(subjects, changes, strict=True)
        }
        rows = ScoredRows(counts=counts)
        assert is_comparable(subjects, rows) is comparable, changes


def test_a_chain_of_thought_takes_reasoning_where_there_is_any(folder: Folder) -> None:
    folder({"dev/hk_law.csv": as_csv([MUSIC], HEADER)})
    load(folder, as_csv([LAW], HEADER))
    loaded = load_task("hkmmlu_cot_1shot")
    text = loaded.prompt(loaded.samples[0]).text()
    assert (
        "問題: 《英皇制誥》作爲香港殖民地時期的憲制性文件" in text
    )  # Figure 22's example
    assert "|rationale:paper|" in loaded.signature
    folder({"dev/hk_law.csv": as_csv([(*MUSIC, "因為係。")], (*HEADER, "解析"))})
    loaded = load_task("hkmmlu_cot_1shot")
    assert "推理: 因為係。\n答案: D" in loaded.prompt(loaded.samples[0]).text()
    assert "|rationale:release|" in loaded.signature


def test_tmmluplus_takes_its_reasoning_from_the_second_data_set(folder: Folder) -> None:
    files = {"data/physics_test.csv": as_csv([LAW], HEADER)}
    files["data/physics_dev.csv"] = as_csv([MUSIC], HEADER)
    folder(files, "tmmluplus")
    loaded = load_task("tmmluplus_gen_cot")
    with pytest.raises(
        OptionError, match=r"(?s)ikala/tmmluplus_cot cannot be used.*fewshot 0"
    ):
        loaded.prompt(loaded.samples[0])
    explained = [(*MUSIC, f"因為{n}。") for n in range(5)]
    folder(
        {"data/physics_dev.csv": as_csv(explained, (*HEADER, "rationale"))},
        "tmmluplus_cot",
    )
    loaded = load_task("tmmluplus_gen_cot")
    assert (
        loaded.prompt(loaded.samples[0]).text().count("讓我們一步一步思考，因為") == 5
    )
    assert "|rationale:tmmluplus_cot@local-" in loaded.signature


def test_missing_subjects_and_other_counts_are_said_once_in_one_line(
    folder: Folder, caplog: pytest.LogCaptureFixture
) -> None:
    load(folder, as_csv([LAW], HEADER))
    caplog.clear()
    for _ in range(2):
        loaded = load_task("hkmmlu")
    (record,) = caplog.records
    message = record.getMessage()
    assert "65 of 66 subjects are missing: " in message
    assert (
        "…; unpublished numbers of items in 1 subject: hk_law 1 (paper: 407), in "
        in message
    )
    assert "not comparable with published scores" in message
    assert "\n" not in message
    assert loaded.remark == " (1 of 66 subjects)"
    assert loaded.differences[0].count(",") == 64  # the doctor shows them all


def test_columns_that_nothing_shows_are_said(
    quiz: Quiz, caplog: pytest.LogCaptureFixture
) -> None:
    warn_once.cache_clear()
    row = {
        "question": "邊個？",
        "A": "甲",
        "B": "乙",
        "answer": "A",
        "passage": "一段。",
    }
    quiz('letters = "AB"', row)
    (line,) = load_task("quiz").differences
    assert "no prompt shows the columns passage" in caplog.text
    assert line.startswith("no prompt shows the columns passage: name those")
    quiz('letters = "AB"', row, question="{passage}{question}\n{options}")
    assert load_task("quiz").differences == []
    year = {"Year": "2026", "year of birth": "1999"}
    quiz('letters = "AB"\nignored = ["Year", "passage"]', row | year)
    (line,) = load_task("quiz").differences
    assert line.startswith("no prompt shows the columns year of birth: name those")


# ---------------------------------------------------------------------- formats


def test_formats_are_declared(quiz: Quiz) -> None:
    expected = [("一？", ("甲", '"乙"'), "B")]
    declared = 'letters = "AB"'
    tsv = 'question\tA\tB\tanswer\n一？\t甲\t"乙"\tB\n'
    quiz(f'{declared}\nfiles = "a.tsv"\nquotes = false', files={"data/a.tsv": tsv})
    assert read() == expected
    odd = "question;A;B;answer\n一？;甲;'\"乙\"';B\n".replace("'", "")
    quiz(
        f'{declared}\nfiles = "a.csv"\nquotes = false\ndelimiter = ";"',
        files={"data/a.csv": odd},
    )
    assert read() == expected
    bare = '一？,甲,"""乙""",B\n'
    quiz(f'{declared}\nfiles = "a.csv"\nheader = false', files={"data/a.csv": bare})
    assert read() == expected
    nested = '{"data": {"items": [{"question": "一？", "A": "甲", "B": "\\"乙\\"", "answer": "B"}]}}'
    quiz(
        f'{declared}\nfiles = "a.json"\nrows = "data.items"',
        files={"data/a.json": nested},
    )
    assert read() == expected
    quiz(
        f'{declared}\nfiles = "a.json"\nrows = "data.rows"',
        files={"data/a.json": nested},
    )
    with pytest.raises(DataCorrupt, match="finds no 'rows'; there is items"):
        read()


def test_subjects_may_be_named_by_a_column(quiz: Quiz) -> None:
    rows = [
        {"question": f"{n}？", "A": "甲", "B": "乙", "answer": "A", "topic": topic}
        for n, topic in enumerate(("法律", "law", "food"))
    ]
    subjects = 'subjects = [{ name = "law", aliases = ["法律"] }, { name = "food" }]'
    declared = f'letters = "AB"\ncolumns = {{ subject = "topic" }}\n{subjects}'
    quiz(declared, *rows)
    assert [(item.subject, item.id) for item in items()] == [
        ("food", "quiz/food/3"),
        ("law", "quiz/law/1"),
        ("law", "quiz/law/2"),
    ]
    quiz(declared, *rows, {**rows[0], "topic": "sport"})
    with pytest.raises(
        DataCorrupt, match=r"row 4 belongs to the subject 'sport'.*not declare"
    ):
        items()


# ---------------------------------------------------------------------- readers

READERS = {
    "C-Eval: a folder a split, the answer and an explanation beside lettered options": (
        'letters = "ABCD"\nsubjects = [{ name = "law" }]',
        {"data/val/law_val.csv": "id,question,A,B,C,D,answer\n0,問？,甲,乙,丙,丁,C\n"},
        '''
import csv
def rows(folder, split):
    for file in folder.glob("val/*_val.csv") if split == "test" else ():
        for row in csv.DictReader(file.open(encoding="utf-8")):
            choices = [row.pop(letter) for letter in "ABCD"]
            yield {**row, "subject": file.stem[:-4], "choices": choices}
''',
        [("quiz/law/0", "問？", ("甲", "乙", "丙", "丁"), "C")],
    ),
    "ARC: labels and texts, with numbers for some labels": (
        'letters = "AB"',
        {"data/a.jsonl": '{"q": "問？", "c": {"text": ["甲", "乙"], "label": [1, 2]}, "key": 2}\n'},
        '''
import json
def rows(folder, split):
    for line in (folder / "a.jsonl").open(encoding="utf-8") if split == "test" else ():
        row = json.loads(line)
        texts, labels = row["c"]["text"], row["c"]["label"]
        answer = "AB"[labels.index(row["key"])]
        yield {"question": row["q"], "choices": texts, "answer": answer}
''',
        [("quiz/1", "問？", ("甲", "乙"), "B")],
    ),
    "answers in another file, by id": (
        'letters = "AB"',
        {"data/q.json": '[{"id": "x7", "question": "問？", "options": ["甲", "乙"]}]',
         "data/a.json": '{"x7": "B"}'},
        '''
import json
def rows(folder, split):
    answers = json.loads((folder / "a.json").read_text("utf-8"))
    for row in json.loads((folder / "q.json").read_text("utf-8")) if split == "test" else ():
        yield {**row, "choices": row.pop("options"), "answer": answers[row["id"]]}
''',
        [("quiz/x7", "問？", ("甲", "乙"), "B")],
    ),
    "arrays without keys": (
        'letters = "AB"',
        {"data/a.json": '[["問？", "甲", "乙", 1]]'},
        '''
import json
def rows(folder, split):
    for question, *choices, right in json.loads((folder / "a.json").read_text("utf-8")):
        yield {"question": question, "choices": choices, "answer": "AB"[right]}
''',
        [("quiz/1", "問？", ("甲", "乙"), "B")],
    ),
}  # fmt: skip


def test_what_cannot_be_declared_is_a_reader_of_at_most_ten_lines(quiz: Quiz) -> None:
    for name, (declared, files, reader, expected) in READERS.items():
        assert len(reader.strip().splitlines()) <= 10, name
        quiz(f'{declared}\nreader = "rows.py:rows"', files={**files, "rows.py": reader})
        found = [
            (item.id, item.question, item.choices, item.target) for item in items()
        ]
        assert found == expected, name


def test_a_reader_of_squads_nested_form_shows_the_passage(quiz: Quiz) -> None:
    squad = (
        '{"data": [{"paragraphs": [{"context": "大澳喺大嶼山。", "qas": '
        '[{"id": "q1", "question": "大澳喺邊？", "answers": [{"text": "大嶼山"}]}]}]}]}'
    )
    reader = """
import json
def rows(folder, split):
    articles = json.loads((folder / "a.json").read_text("utf-8"))["data"]
    for passage in (each for article in articles for each in article["paragraphs"]):
        for item in passage["qas"]:
            answers = [answer["text"] for answer in item["answers"]]
            yield {**item, "context": passage["context"], "answer": answers, "answers": ""}
"""
    assert len(reader.strip().splitlines()) <= 10
    quiz(
        'reader = "rows.py:rows"',
        kind="short_answer",
        question="{context}\n{question}",
        files={"data/a.json": squad, "rows.py": reader},
    )
    (item,) = items()
    assert (item.id, item.target) == ("quiz/q1", '["大嶼山"]')
    assert load_task("quiz").prompt(item).text() == "大澳喺大嶼山。\n大澳喺邊？"


def test_a_readers_source_is_signed_and_its_errors_name_it(quiz: Quiz) -> None:
    row = '{"question": "問？", "choices": ["甲", "乙"], "answer": "A"}'
    source = (
        f"def rows(folder, split):\n    return [{row}] if split == 'test' else []\n"
    )
    declared = 'letters = "AB"\nreader = "rows.py:rows"'
    quiz(declared, files={"rows.py": source})
    signature = load_task("quiz").signature
    quiz(declared, files={"rows.py": source + "# edited\n"})
    assert load_task("quiz").signature != signature
    for wrong, says in (
        (
            "def rows(folder, split):\n    return 1 / 0\n",
            "fails on the test rows.*division",
        ),
        ("def other(folder, split):\n    return []\n", "no attribute 'rows'"),
        ("def rows(folder, split):\n    return [7]\n", "a int in place of an object"),
    ):
        quiz(declared, files={"rows.py": wrong})
        with pytest.raises(HKCantoError, match=says):
            items()
    quiz('letters = "AB"\nreader = "../rows.py:rows"')
    with pytest.raises(CatalogueError):
        items()
    quiz('letters = "AB"\nreader = "other.py:rows"')
    with pytest.raises(CatalogueError, match=r"does not exist\. Write it"):
        items()


def test_a_file_with_thousands_of_broken_rows_is_read_at_once(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n" + 'x"y",1\n"x"y,2\n' * 10_000, "utf-8")
    before = time.process_time()
    assert len(read_table(tmp_path / "rows.csv").bad) > 1_000
    assert (
        time.process_time() - before < 5
    )  # 0.4 s; reading again from the start took 6.6


@pytest.mark.parametrize(("rows", "every"), [(60, 2), (80, 2), (100, 2), (80, 4)])
def test_rows_in_the_other_script_are_found_wherever_they_are(
    rows: int, every: int
) -> None:
    texts = ["這個國家的經濟發展與對外貿易關係", "这个国家的经济发展与对外贸易关系"]
    samples = [
        Sample(
            id=str(at),
            question=f"{texts[at % every == 1]}{at}",
            choices=(f"{at}",),
            target="A",
        )
        for at in range(rows)
    ]
    with pytest.raises(
        DataCorrupt, match="in Simplified script; Traditional is declared"
    ):
        refuse_odd(samples, find_task("hkmmlu").definition, "x.csv")


def test_an_answer_by_text_names_no_option_if_two_are_alike(quiz: Quiz) -> None:
    row = {"question": "邊個？", "A": "甲", "B": "乙", "C": "甲", "answer": "甲"}
    quiz('letters = "ABC"\nanswer = "text"', row)
    with pytest.raises(HKCantoError, match="an answer that names none of A, B, C"):
        items()
    quiz('letters = "ABC"\nanswer = "text"', {**row, "answer": "乙"})
    assert [item.target for item in items()] == ["B"]


def test_white_space_around_a_subject_is_no_part_of_its_name(quiz: Quiz) -> None:
    row = {
        "question": "幾時？",
        "A": "甲",
        "B": "乙",
        "answer": "A",
        "topic": " law\u3000",
    }
    subjects = 'subjects = [{ name = "law" }, { name = "food" }]'
    quiz(f'letters = "AB"\ncolumns = {{ subject = "topic" }}\n{subjects}', row)
    assert [item.subject for item in items()] == ["law"]


def test_a_last_row_that_is_cut_off_is_a_truncated_file(folder: Folder) -> None:
    whole = as_csv([LAW, LAW], HEADER)
    for cut in ("香港邊個部門負責檢控？,律政司", '"香港邊個部門負責檢控？","律政司"'):
        with pytest.raises(DataCorrupt, match="truncated"):
            load(folder, whole + cut)


def test_a_short_last_row_with_a_line_end_is_one_bad_row(folder: Folder) -> None:
    loaded = load(
        folder, as_csv([LAW, LAW], HEADER) + "香港邊個部門負責檢控？,律政司\r\n"
    )
    assert len(loaded.samples) == 2
    (bad,) = loaded.bad
    assert bad.what == f"2 cells instead of {len(HEADER)}"


def test_an_item_without_a_reference_is_named(quiz: Quiz) -> None:
    row = {"source": "你好。", "target": " "}
    quiz('language = "zh"\ncolumns = { source = "source", target = "target" }', row,
         kind="translation", question="{source}")  # fmt: skip
    with pytest.raises(HKCantoError, match=r"row 1 has no text for the target"):
        items()
