"""Benchmark files are read unchanged, and files that only look like one are refused."""

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from string import ascii_lowercase

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hkcanto_tasks.data.tables import Row, read_table
from hkcanto_tasks.errors import DataCorrupt

POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
    "size 12345\n"
)
HTML = "\n<!DOCTYPE HTML>\n<html><head><title>403 Forbidden</title></head></html>\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "subject_test.csv"


def read_records(path: Path, columns: Sequence[str] = ()) -> list[Row]:
    """The rows of a file without bad rows."""
    table = read_table(path, columns)
    assert table.bad == []
    return table.records


def headerless(path: Path, width: int) -> list[tuple[object, ...]]:
    """The rows of a CSV file without a header row."""
    return [tuple(row.cells.values()) for row in read_records(path, ascii_lowercase[:width])]


def test_cells_that_data_frames_corrupt_stay_as_written(file: Path) -> None:
    file.write_text("None,NA,0.10,007, 1e3 ,TRUE,,nan\n", encoding="utf-8")
    assert headerless(file, 8) == [("None", "NA", "0.10", "007", " 1e3 ", "TRUE", "", "nan")]


def test_line_breaks_commas_and_quotes_inside_quotes_are_kept(file: Path) -> None:
    file.write_bytes('"第一行\r\n第二行","a, ""b""",A\r\n題二,c,B\r\n'.encode())
    assert headerless(file, 3) == [
        ("第一行\r\n第二行", 'a, "b"', "A"),
        ("題二", "c", "B"),
    ]


def test_a_byte_order_mark_is_not_part_of_the_first_cell(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbfQuestion,Answer\n1+1,2\n")
    assert [row.cells for row in read_records(file)] == [{"question": "1+1", "answer": "2"}]


def test_blank_lines_at_the_end_are_no_rows(file: Path) -> None:
    file.write_text("q,A\n\n\n", encoding="utf-8")
    assert headerless(file, 2) == [("q", "A")]


def test_a_header_gives_the_columns_in_lower_case_and_counts_as_row_1(file: Path) -> None:
    file.write_text("Question, Answer\nq1,A\nq2,B\n", encoding="utf-8")
    assert read_records(file) == [
        Row(1, f"{file}, row 2", {"question": "q1", "answer": "A"}),
        Row(2, f"{file}, row 3", {"question": "q2", "answer": "B"}),
    ]


def test_without_a_header_the_first_row_is_data(file: Path) -> None:
    file.write_text("q1,A\nq2,B\n", encoding="utf-8")
    assert read_records(file, ["question", "answer"]) == [
        Row(1, f"{file}, row 1", {"question": "q1", "answer": "A"}),
        Row(2, f"{file}, row 2", {"question": "q2", "answer": "B"}),
    ]


@pytest.mark.parametrize("header", ["A,B,A", "A,B,a", "A,B, A"])
def test_a_column_named_twice_is_refused(file: Path, header: str) -> None:
    file.write_text(f"{header}\n1,2,3\n", encoding="utf-8")
    with pytest.raises(DataCorrupt, match="column twice"):
        read_records(file)


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(
                st.text(st.characters(codec="utf-8", exclude_characters="\0")),
                min_size=width,
                max_size=width,
            ).map(tuple),
            min_size=1,
        )
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_whatever_the_csv_module_writes_is_read_back(
    file: Path, rows: list[tuple[str, ...]]
) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, quoting=csv.QUOTE_ALL).writerows(rows)
    file.write_bytes(written.getvalue().encode())
    expected = [row for row in rows if any(cell.strip() for cell in row)]
    if expected:  # a file with only blank rows counts as empty
        assert headerless(file, len(rows[0])) == expected


def test_json_lines_keep_separators_that_python_takes_for_line_ends(file: Path) -> None:
    file = file.with_suffix(".jsonl")
    file.write_bytes('{"text": "一\u2028二\u0085三"}\r\n{"text": "四"}\r\n\r\n'.encode())
    assert [row.cells["text"] for row in read_records(file)] == ["一\u2028二\u0085三", "四"]


@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_json_is_a_list_or_lines_whatever_the_file_is_called(file: Path, ending: str) -> None:
    file = file.with_suffix(ending)
    objects = ['{"Text": "二"}', '{"Text": "一\\n一"}']
    for content in (f"\n[{objects[0]},\n {objects[1]}]\n", "\n".join(objects)):
        file.write_text(content, encoding="utf-8")
        assert [row.cells for row in read_records(file)] == [{"text": "二"}, {"text": "一\n一"}]


def test_a_json_list_of_texts_is_a_column_of_that_name(file: Path) -> None:
    file = file.with_suffix(".json")
    file.write_text('["二",\n "一\\n一"]\n', encoding="utf-8")
    assert [row.cells for row in read_records(file)] == [{"text": "二"}, {"text": "一\n一"}]


def test_json_keeps_its_types(file: Path) -> None:
    file = file.with_suffix(".jsonl")
    file.write_text('{"#": 7, "options": ["007", 0.1], "none": null}\n', encoding="utf-8")
    (row,) = read_records(file)
    assert row.cells == {"#": 7, "options": ["007", 0.1], "none": None}


def test_two_keys_that_differ_in_case_alone_are_refused(file: Path) -> None:
    file = file.with_suffix(".jsonl")
    file.write_text('{"a": 1}\n{"a": 1, "A": 2}\n', encoding="utf-8")
    with pytest.raises(DataCorrupt, match="row 2: two of the columns a, A are alike"):
        read_records(file)


def test_a_parquet_file_is_read_with_its_types(file: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = file.with_suffix(".parquet")
    table = pyarrow.table({"Question": ["題"], "choices": [["007", "NA"]], "answer": [1]})
    parquet.write_table(table, file)
    assert [row.cells for row in read_records(file)] == [
        {"question": "題", "choices": ["007", "NA"], "answer": 1}
    ]
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(DataCorrupt, match="not a complete Parquet file"):
        read_records(file)


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".json"])
@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (POINTER.encode(), "Git LFS pointer.*git lfs pull"),
        (HTML.encode(), "HTML page.*proxy"),
        (b"\xef\xbb\xbf" + HTML.encode(), "HTML page"),
        (b"", "empty"),
        (b"\n \r\n" * 100, "empty"),
        ("題,甲,A\n".encode("big5"), r"line 1 is not UTF-8"),
        ("題,甲,A\n".encode("utf-16"), r"line 1 is not UTF-8"),
        (b"q,A\nq\0,B\n", r"line 2 has a NUL"),
    ],
    ids=["pointer", "HTML", "HTML after a mark", "empty", "blank", "Big5", "UTF-16", "NUL"],
)
def test_files_that_are_not_data_are_refused_with_the_file_and_the_remedy(
    file: Path, ending: str, content: bytes, complaint: str
) -> None:
    file = file.with_suffix(ending)
    file.write_bytes(content)
    with pytest.raises(DataCorrupt, match=complaint) as raised:
        read_records(file)
    assert str(file) in str(raised.value)


def test_the_line_of_the_bad_byte_is_named(file: Path) -> None:
    file.write_bytes(b"q,A\nq,B\nq\xff,C\n")
    with pytest.raises(DataCorrupt, match="line 3 is not UTF-8: byte 0xff at offset 9"):
        read_records(file)


@pytest.mark.parametrize(
    ("content", "bad", "left"),
    [
        ("h,i\nq,A\nq,a,A\nq,B\n", "row 3: 3 cells instead of 2", [1, 3]),
        ("h,i,j\nq,a,A\nq,A\nq,b,B\n", "row 3: 2 cells instead of 3", [1, 3]),
        ('h,i\nq,A\n"quote" inside,B\nq,B\n', "row 3: a stray or missing quote", [1, 3]),
        ('h,i\nq,A\n"open,B\nq,B\n"closed",C\n', "row 3: a stray or missing quote", [1, 3, 4]),
    ],
    ids=["long row", "short row", "text after quotes", "quotes not closed"],
)
def test_a_row_that_does_not_fit_is_set_aside(
    file: Path, content: str, bad: str, left: list[int]
) -> None:
    file.write_text(content, encoding="utf-8")
    table = read_table(file)
    assert [record.number for record in table.records] == left
    (row,) = table.bad
    assert f"{row.where}: {row.what}".startswith(f"{file}, {bad}")


@pytest.mark.parametrize(
    "content", ['q,A\n"broken off, B\n', "h,i,j\nq,b,B\nq,c", 'q,A\n"broken\noff'],
    ids=["cut inside quotes", "cut in a row", "cut inside lines"],
)  # fmt: skip
def test_a_file_that_breaks_off_is_refused(file: Path, content: str) -> None:
    file.write_text(content, encoding="utf-8")
    with pytest.raises(DataCorrupt, match=r"the last one, .*truncated"):
        read_table(file)


@pytest.mark.parametrize("blank", ["", ",", " , ", '""'])
def test_rows_of_blank_cells_are_no_rows(file: Path, blank: str) -> None:
    file.write_text(f"h,i\nq,A\n{blank}\nq,B\n{blank}", encoding="utf-8")
    assert [record.number for record in read_records(file)] == [1, 2]


@pytest.mark.parametrize(
    ("content", "bad"),
    [
        ('{"a": 1}\n[2]\n{"a": 3}\n', "row 2: no JSON object for one row: .*array"),
        ('{"a": NaN}\n{"a": 2}\n', "row 1: no JSON"),
    ],
    ids=["not an object", "not JSON"],
)
def test_a_line_that_is_not_a_row_is_set_aside(file: Path, content: str, bad: str) -> None:
    file = file.with_suffix(".jsonl")
    file.write_text(content, encoding="utf-8")
    table = read_table(file)
    (row,) = table.bad
    assert re.match(f".*{bad}", f"{row.where}: {row.what}")
    assert len(table.records) + 1 == content.count("\n")


def test_json_lines_that_break_off_are_refused(file: Path) -> None:
    file = file.with_suffix(".jsonl")
    file.write_text('{"a": 1}\n{"a": 2, "b', encoding="utf-8")
    with pytest.raises(DataCorrupt, match=r"row 2 breaks off: .*truncated.*fetch it again"):
        read_table(file)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('["a", "b', "breaks off: the file is truncated"),
        ('{"data": [\n {"a": 1},\n {"a"', "breaks off: the file is truncated"),
        ('["a", 2]', "is valid JSON, but rows are expected .*got `int`"),
        ('[["a"]]', "is valid JSON, but rows are expected .*got `array`"),
        ('["a" "b"]', "is not valid JSON: .*malformed"),
        ('{\n "license": "MIT",\n "rows": 3\n}', "one JSON object, with license, rows, but rows"),
        ('{\n "license": "MIT",\n "rows": 3\n}\n', "one JSON object, with license, rows, but rows"),
        ('{"error": "no such data set"}', "one JSON object, with error, but rows are expected"),
        ('"no such data set"', "one JSON str, but rows are expected"),
        ("{}", "one JSON object, with no keys"),
    ],
)
def test_json_without_a_list_of_rows_is_named_by_its_type(
    file: Path, content: str, says: str
) -> None:
    file = file.with_suffix(".json")
    file.write_text(content, encoding="utf-8")
    with pytest.raises(DataCorrupt, match=says) as refused:
        read_records(file)
    cut = "breaks off" in says
    assert ("truncated" in str(refused.value)) == cut
    assert ("fetch it again" in str(refused.value)) == (cut or "malformed" in says)


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".json", ".parquet"])
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (POINTER, "Git LFS pointer"),
        (HTML, "HTML page"),
        ('<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', "error page"),
    ],
)
def test_what_came_instead_of_data_is_named_in_every_format(
    tmp_path: Path, ending: str, content: str, says: str
) -> None:
    (tmp_path / f"a{ending}").write_text(content, encoding="utf-8")
    with pytest.raises(DataCorrupt, match=says):
        read_table(tmp_path / f"a{ending}")


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("family", "rows", "options"),
    [
        ("mmlu", 14_042, 4),
        ("canto-mmlu", 14_042, 4),
        ("dse", 797, 4),
        ("professional", 1_373, 4),
        ("hk-law", 424, 4),
        ("cultural", 252, 4),
        ("linguistic_knowledge", 200, 5),
    ],
)
def test_the_release_has_the_published_numbers_of_questions(
    hkeval2025: Path, family: str, rows: int, options: int
) -> None:
    columns = ("question", *"abcdefghij"[:options], "answer")
    files = sorted((hkeval2025 / family / "test").glob("*"))
    tables = [read_records(path, columns) for path in files]
    assert sum(map(len, tables)) == rows
    assert {len(row.cells) for table in tables for row in table} == {options + 2}


@pytest.mark.realdata
def test_every_cell_of_the_release_is_what_pandas_reads_as_text(hkeval2025: Path) -> None:
    pandas = pytest.importorskip("pandas")
    for path in hkeval2025.rglob("*.csv"):
        frame = pandas.read_csv(
            path, header=None, dtype=str, keep_default_na=False, encoding="utf-8"
        )
        expected = list(frame.itertuples(index=False, name=None))
        assert headerless(path, len(expected[0])) == expected, path


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("file", "rows"),
    [
        ("phonetics-g2p/dev/zh_to_jyutping_dev.json", 5),
        ("phonetics-g2p/test/zh_to_jyutping_test_gold.json", 145),
        ("canto-nlp/yue_eng_test.json", 17),
        ("canto-nlp/sentiment_facebook.json", 399),
        ("canto-nlp/sentiment_openrice.json", 1_200),
    ],
)
def test_the_json_lines_of_the_release_have_the_published_numbers(
    hkeval2025: Path, file: str, rows: int
) -> None:
    assert len(read_records(hkeval2025 / file)) == rows


@pytest.mark.realdata
def test_the_summaries_of_the_release_are_one_list_of_20(hkeval2025: Path) -> None:
    assert len(read_records(hkeval2025 / "canto-nlp/summarization.json")) == 20
