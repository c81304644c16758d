"""Faults found by fuzzing releases: rows once misread are now refused or set aside."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hkcanto_tasks import load_task
from hkcanto_tasks.errors import CatalogueError, DataCorrupt, DataNotFound

from .test_first_contact import COLUMNS, LAW, Folder, as_csv, as_parquet, as_records, folder
from .test_options_in_files import Quiz, many, quiz, read

__all__ = ["folder", "quiz"]

OTHERS = [(f"第{n}題？", "甲", "乙", "丙", "丁", "D") for n in range(20)]
SENTIMENT = [json.dumps({"text": f"第{n}間好正。", "sentiment": "Positive"}) for n in range(9)]
FUZZ = Path(__file__).parents[2] / "performance" / "fuzz_releases.py"


def test_a_row_without_a_question_is_set_aside(folder: Folder) -> None:
    rows = [(f"{n}：{row[0]}", *row[1:]) for n in range(5) for row in OTHERS]
    folder({"test/hk_law.csv": as_csv([*rows, ("", *LAW[1:])])})
    loaded = load_task("hkmmlu_hk_law")
    assert len(loaded.samples) == 100
    assert loaded.revision.endswith("-1rows")


def test_a_models_answers_are_not_read_for_a_declared_file_that_lacks(folder: Folder) -> None:
    rows = as_csv([LAW] * 5, COLUMNS[1:])
    folder({"outputs/gpt-4o/hk-law/test/basic_law_test.csv": rows}, "hkeval2025")
    with pytest.raises(DataCorrupt, match="model's answers"):
        load_task("hkcanto_law", "basic_law")


def test_a_declared_file_is_still_read_in_a_folder_that_names_no_model(folder: Folder) -> None:
    rows = as_csv(OTHERS[1:], OTHERS[0])
    folder({"copy/hk-law/test/basic_law_test.csv": rows}, "hkeval2025")
    assert len(load_task("hkcanto_law", "basic_law").samples) == 20


@pytest.mark.parametrize(
    "names",
    [
        ("hk_law-part0.csv", "hk_law-part2.csv"),
        ("hk_law-part2.csv", "hk_law-part3.csv"),
        ("hk_law-00000-of-00003.csv", "hk_law-00001-of-00003.csv"),
        ("hk_law-part0.csv", "hk_law-part0.tsv"),
    ],
)
def test_missing_and_duplicate_shards_are_refused(folder: Folder, names: tuple[str, str]) -> None:
    delimiter = {name: "\t" if name.endswith("tsv") else "," for name in names}
    folder({f"test/{name}": as_csv(OTHERS, delimiter=delimiter[name]) for name in names})
    with pytest.raises(
        DataNotFound, match=r"2 of the [1-3] parts of test/hk_law-.*one is missing or occurs twice"
    ):
        load_task("hkmmlu_hk_law")


@pytest.mark.parametrize("name", ["facebook-part0", "facebook.part0_tc"])
def test_one_shard_is_not_taken_for_a_declared_file(folder: Folder, name: str) -> None:
    folder({f"canto-nlp/sentiment_{name}.json": "\n".join(SENTIMENT)}, "hkeval2025")
    with pytest.raises(DataNotFound, match=name.removesuffix("_tc")):
        load_task("hkcanto_sentiment", "facebook")


def test_shards_in_two_scripts_are_refused(folder: Folder) -> None:
    traditional = [("邊個部門負責草擬法例？", "律政司", "廉政公署", "審計署", "衞生署", "A")] * 6
    simplified = [("边个部门负责草拟法例？", "律政司", "廉政公署", "审计署", "卫生署", "A")] * 2
    folder({"test/hk_law-part0.csv": as_csv(traditional),
            "test/hk_law-part1.csv": as_csv(simplified)})  # fmt: skip
    with pytest.raises(DataCorrupt, match="not in the same script"):
        load_task("hkmmlu_hk_law")


@pytest.mark.parametrize(("old", "new"), [("B", "乙"), ("A", "opt0"), ("D", "丁"), ("C", "x")])
def test_an_option_column_with_another_name_in_one_shard_is_not_dropped(
    folder: Folder, old: str, new: str
) -> None:
    renamed = [new if name == old else name for name in COLUMNS]
    folder({"test/hk_law-part0.csv": as_csv(OTHERS),
            "test/hk_law-part1.csv": as_csv(OTHERS, renamed)})  # fmt: skip
    with pytest.raises(DataCorrupt, match=r"hk_law-part\d\.csv"):
        load_task("hkmmlu_hk_law")


@pytest.mark.parametrize(("last", "answer"), [("4", "A"), ("4", "D"), ("Z", "D")])
def test_the_last_option_is_not_dropped_with_its_column(
    folder: Folder, last: str, answer: str
) -> None:
    rows = [(f"第{n}題？", "甲", "乙", "丙", "丁", answer if n == 7 else "A") for n in range(40)]
    folder({"test/hk_law.csv": as_csv(rows, [*COLUMNS[:4], last, "Answer"])})
    with pytest.raises(
        DataCorrupt, match=r"hk_law\.csv.*(it is unclear which|no row of the file has)"
    ):
        load_task("hkmmlu_hk_law")


@pytest.mark.parametrize("answer", ["4", "丁"])
def test_answers_declared_as_letters_are_letters(quiz: Quiz, answer: str) -> None:
    options = {"A": "1", "B": "2", "C": "3", "D": answer, "E": "6"}
    row = {"question": "6 減 2？", **options, "answer": answer}
    quiz('answer = "letter"\nletters = "ABCDE"', json.dumps([row]))
    with pytest.raises(DataCorrupt, match="none of its options"):
        load_task("quiz")


def test_a_declared_number_that_is_also_another_options_label_is_refused(quiz: Quiz) -> None:
    shuffled = [{"label": "1", "text": "大澳"}, {"label": "3", "text": "沙田"},
                {"label": "2", "text": "中環"}]  # fmt: skip
    quiz('answer = "number"', many((shuffled, "2")))
    with pytest.raises(DataCorrupt, match="none of its options"):
        load_task("quiz")


def test_numbers_in_front_of_options_are_their_labels(quiz: Quiz) -> None:
    shuffled = ["2. 中環", "1. 大澳", "3. 沙田"]
    assert read(quiz, many((shuffled, "2"))) == [("中環",), ("大澳", "中環", "沙田", None)]


def test_decimal_numbers_are_no_labels(quiz: Quiz) -> None:
    right, shown = read(quiz, many((["2.5", "1.5", "3.5"], "A")))
    assert (right, shown) == (("2.5",), ("2.5", "1.5", "3.5", None))


def test_an_empty_list_of_columns_is_refused_by_file_and_entry(quiz: Quiz) -> None:
    quiz("columns = { answer = [] }", many((["甲", "乙"], "A")))
    with pytest.raises(CatalogueError, match=r"benchmark\.toml.*columns"):
        load_task("quiz")


@pytest.mark.slow
@pytest.mark.skipif(not FUZZ.exists(), reason="the source distribution has no performance/")
def test_mutated_releases_give_the_same_rows_or_an_error() -> None:
    command = [sys.executable, str(FUZZ), "--count", "200", "--seed", "23", "--processes", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 violations" in done.stdout


# ------------------------------------------------------------------------------- by hand

# Twenty-four questions with different options; and the same with other answers.
PIERS = [
    (
        f"第{n}題：邊度有渡輪碼頭？",
        *(f"{place}{n}" for place in ("大澳", "中環", "沙田", "元朗")),
        letter,
    )
    for n, letter in enumerate("ABCD" * 6)
]
OTHERWISE = [(*row[:5], "BCDA"["ABCD".index(row[5])]) for row in PIERS]
ENGLISH = [(f"Question {n}: where is the pier?", *row[1:]) for n, row in enumerate(PIERS)]
AS_LATIN = as_csv(PIERS).encode().decode("latin-1")
AS_BIG5 = as_csv(PIERS).encode("big5hkscs").decode("utf-8", errors="replace")
TWICE = [
    json.dumps(row)[:-1] + f', "Answer": "{other[5]}"}}'
    for row, other in zip(as_records(PIERS), OTHERWISE, strict=True)
]
UNORDERED = [
    {"question": row[0], "options": dict(zip("DCBA", row[4:0:-1], strict=True)),
     "answer": "ABCD".index(row[5])}
    for row in PIERS
]  # fmt: skip
REFUSED: dict[str, tuple[dict[str, str | bytes], str]] = {
    "UTF-8 read as Latin-1": ({"test/hk_law.csv": AS_LATIN}, "no text contains .* 24 of 24 rows"),
    "Big5 read as UTF-8": ({"test/hk_law.csv": AS_BIG5}, "no text contains .* 24 of 24 rows"),
    "another language": ({"test/hk_law.csv": as_csv(ENGLISH)}, "no Chinese character in any quest"),
    "question marks": (
        {"test/hk_law.csv": as_csv([(f"{n}??", *"1234", "A") for n in range(24)])},
        "no Chinese character in any question",
    ),
    "a Chinese question beside an English one": (
        {"test/hk_law.csv": as_csv(
            [(row[0], *other) for row, other in zip(ENGLISH, PIERS, strict=True)],
            ("question", "question_zh", *COLUMNS[1:]),
        )},
        "no Chinese character in any question",
    ),
    "answers of two sorts, row by row": (
        {"test/hk_law.csv": as_csv(PIERS + OTHERWISE)},
        "asks the same questions several times: 48 rows with other answers of 48",
    ),
    "all rows twice": (
        {"test/hk_law.csv": as_csv(PIERS * 2)},
        "asks the same questions several times: 24 repeated rows of 48",
    ),
    "parts that overlap": (
        {
            "test/hk_law-00000-of-00002.csv": as_csv(PIERS[:14]),
            "test/hk_law-00001-of-00002.csv": as_csv(PIERS[10:]),
        },
        r"00001-of-00002\.csv: 4 of its 14 rows are also in another part",
    ),
    "a key twice": ({"test/hk_law.jsonl": "\n".join(TWICE)}, "an object that names Answer twice"),
    "a key twice, in a list": (
        {"test/hk_law.json": f"[{','.join(TWICE)}]"}, "an object that names Answer twice"
    ),
    "a label that is another answer": (
        {"test/hk_law.csv": as_csv(
            [(*row, other[5]) for row, other in zip(PIERS, OTHERWISE, strict=True)],
            (*COLUMNS, "label"),
        )},
        "the columns answer and label name different options",
    ),
    "a column that names a model": (
        {"test/hk_law.csv": as_csv([(*row, "gpt-4o") for row in OTHERWISE], (*COLUMNS, "model"))},
        "has a column 'model': its answers may be a model's",
    ),
    "an index into an object": (
        {"test/hk_law.json": json.dumps(UNORDERED)}, "an answer that is none of its options"
    ),
    "splits in words that are unknown": (
        {"hk_law.csv": as_csv(
            [(*row, "測試" if n > 4 else "開發") for n, row in enumerate(PIERS)],
            (*COLUMNS, "split"),
        )},
        "the column split of hk_law.csv has '測試', '開發'",
    ),
    "rows of another split, by a column": (
        {"test/hk_law.csv": as_csv([(*row, "train") for row in PIERS], (*COLUMNS, "split"))},
        r"test/hk_law\.csv is test by its name, but train by its column split",
    ),
    "a second header in another order": (
        {"test/hk_law.csv": as_csv([("question", *"BACD", "answer"), *PIERS])},
        "names the columns in another order than they are read in",
    ),
    "a part without an option": (
        {
            "test/hk_law-00000-of-00002.csv": as_csv(PIERS[:12]),
            "test/hk_law-00001-of-00002.csv": as_csv(
                [(*row[:3], *row[4:]) for row in PIERS[12:]], (*COLUMNS[:3], *COLUMNS[4:])
            ),
        },
        "has no column for some option",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", REFUSED)
def test_what_would_be_other_rows_is_refused(folder: Folder, fault: str) -> None:
    files, message = REFUSED[fault]
    folder(files)
    with pytest.raises(DataCorrupt, match=message):
        load_task("hkmmlu_hk_law")


@pytest.mark.parametrize("column", ["split", "set", "Partition"])
def test_a_column_of_splits_may_be_called_anything(folder: Folder, column: str) -> None:
    rows = [(*row, "Test" if n > 4 else "Train") for n, row in enumerate(PIERS)]
    folder({"hk_law.csv": as_csv(rows, (*COLUMNS, column))})
    loaded = load_task("hkmmlu_hk_law")
    assert {each.question for each in loaded.samples} == {row[0] for row in PIERS[5:]}
    assert len(loaded.examples("hk_law")) == 5


def test_nan_is_not_an_option(folder: Folder) -> None:
    rows = [
        {"question": row[0], **{letter: n + place / 2 for place, letter in enumerate("ABCD")},
         "answer": row[5]}
        for n, row in enumerate(PIERS)
    ]  # fmt: skip
    rows[2]["C"] = float("nan")  # the right one
    folder({"test/hk_law.parquet": as_parquet(rows)})
    loaded = load_task("hkmmlu_hk_law")
    assert {each.question for each in loaded.samples} == {
        row[0] for row in PIERS if row != PIERS[2]
    }
    assert loaded.revision.endswith("-1rows")
