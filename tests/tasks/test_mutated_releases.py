"""What the fuzz of releases found: read as something else, and refused now or set aside."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hkcanto_tasks import load_task
from hkcanto_tasks.errors import CatalogueError, DataCorrupt, DataNotFound

from .test_first_contact import COLUMNS, LAW, Folder, as_csv, folder
from .test_options_in_files import Quiz, many, quiz, read

__all__ = ["folder", "quiz"]

OTHERS = [(f"第{n}題？", "甲", "乙", "丙", "丁", "D") for n in range(20)]
SENTIMENT = [json.dumps({"text": f"第{n}間好正。", "sentiment": "Positive"}) for n in range(9)]
FUZZ = Path(__file__).parents[2] / "performance" / "fuzz_releases.py"


def test_a_row_without_a_question_is_set_aside(folder: Folder) -> None:
    folder({"test/hk_law.csv": as_csv([*OTHERS * 5, ("", *LAW[1:])])})
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
def test_shards_of_which_one_lacks_or_is_there_twice_are_refused(
    folder: Folder, names: tuple[str, str]
) -> None:
    delimiter = {name: "\t" if name.endswith("tsv") else "," for name in names}
    folder({f"test/{name}": as_csv(OTHERS, delimiter=delimiter[name]) for name in names})
    with pytest.raises(
        DataNotFound, match=r"2 of the [1-3] parts of test/hk_law-.*one lacks or is there twice"
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
def test_an_option_column_that_is_called_otherwise_in_one_shard_is_not_dropped(
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
    with pytest.raises(DataCorrupt, match=r"hk_law\.csv.*(cannot be told|no row of the file has)"):
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
