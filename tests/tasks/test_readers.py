"""Benchmark files are read unchanged, and files that only look like one are refused."""

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from string import ascii_lowercase

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hkcanto_tasks.data.tables import ENDINGS, PLAIN, Row, read_table
from hkcanto_tasks.errors import DataCorrupt

POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
    "size 12345\n"
)
HTML = "\n<!DOCTYPE HTML>\n<html><head><title>403 Forbidden</title></head></html>\n"
XML = '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "subject_test.csv"


def read_rows(path: Path, columns: Sequence[str] = ()) -> list[Row]:
    """The rows of a file without bad rows."""
    table = read_table(path, columns)
    assert table.bad == []
    return table.rows


def headerless(path: Path, width: int) -> list[tuple[object, ...]]:
    """The rows of a CSV file without a header row."""
    return [
        tuple(row.cells.values()) for row in read_rows(path, ascii_lowercase[:width])
    ]


def test_cells_without_a_header_stay_as_written(file: Path) -> None:
    for content, rows in (
        (
            b"None,NA,0.10,007, 1e3 ,TRUE,,nan\n",
            [("None", "NA", "0.10", "007", " 1e3 ", "TRUE", "", "nan")],
        ),
        (
            '"第一行\r\n第二行","a, ""b""",A\r\n題二,c,B\r\n'.encode(),
            [("第一行\r\n第二行", 'a, "b"', "A"), ("題二", "c", "B")],
        ),
        (b"q,A\n\n\n", [("q", "A")]),
    ):
        file.write_bytes(content)
        assert headerless(file, len(rows[0])) == rows


def test_a_byte_order_mark_is_not_part_of_the_first_cell(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbfQuestion,Answer\n1+1,2\n")
    assert [row.cells for row in read_rows(file)] == [
        {"question": "1+1", "answer": "2"}
    ]


def test_a_header_counts_as_row_1_and_gives_the_columns_in_lower_case(
    file: Path,
) -> None:
    for header, columns, line in (
        ("Question, Answer\n", (), 2),
        ("", ("question", "answer"), 1),
    ):
        file.write_text(f"{header}q1,A\nq2,B\n", encoding="utf-8")
        rows = read_rows(file, columns)
        assert [row.cells for row in rows] == [
            {"question": "q1", "answer": "A"},
            {"question": "q2", "answer": "B"},
        ]
        assert [(row.number, row.where) for row in rows] == [
            (1, f"{file}, row {line}"),
            (2, f"{file}, row {line + 1}"),
        ]


def test_a_column_named_twice_is_refused(file: Path) -> None:
    for header in ("A,B,A", "A,B,a", "A,B, A"):
        file.write_text(f"{header}\n1,2,3\n", encoding="utf-8")
        with pytest.raises(DataCorrupt, match="column twice"):
            read_rows(file)


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


def test_json_is_read_with_its_types(file: Path) -> None:
    objects = ['{"Text": "二"}', '{"Text": "一\\n一"}']
    texts = [{"text": "二"}, {"text": "一\n一"}]
    for ending, content, expected in (
        (".jsonl", "\n".join(objects), texts),
        (".json", "\n".join(objects), texts),
        (".json", f"\n[{objects[0]},\n {objects[1]}]\n", texts),
        (".json", '["二",\n "一\\n一"]\n', texts),
        (
            ".jsonl",
            '{"text": "一\u2028二\u0085三"}\r\n{"text": "四"}\r\n\r\n',
            [{"text": "一\u2028二\u0085三"}, {"text": "四"}],
        ),
        (
            ".jsonl",
            '{"#": 7, "options": ["007", 0.1], "none": null}\n',
            [{"#": 7, "options": ["007", 0.1], "none": None}],
        ),
    ):
        file = file.with_suffix(ending)
        file.write_bytes(content.encode())
        assert [row.cells for row in read_rows(file)] == expected, content


def test_a_list_is_not_json_lines_whatever_the_file_is_called(file: Path) -> None:
    file = file.with_suffix(".jsonl")
    file.write_text('[{"Text": "二"},\n {"Text": "三"}]\n', encoding="utf-8")
    with pytest.raises(DataCorrupt, match="is not JSON Lines"):
        read_rows(file)


def test_two_keys_that_differ_in_case_alone_are_refused(file: Path) -> None:
    file = file.with_suffix(".jsonl")
    file.write_text('{"a": 1}\n{"a": 1, "A": 2}\n', encoding="utf-8")
    with pytest.raises(DataCorrupt, match="row 2: two of the columns a, A are alike"):
        read_rows(file)


def test_a_parquet_file_is_read_with_its_types(file: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = file.with_suffix(".parquet")
    table = pyarrow.table(
        {"Question": ["題"], "choices": [["007", "NA"]], "answer": [1]}
    )
    parquet.write_table(table, file)
    assert [row.cells for row in read_rows(file)] == [
        {"question": "題", "choices": ["007", "NA"], "answer": 1}
    ]
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(DataCorrupt, match="not a complete Parquet file"):
        read_rows(file)


def test_files_that_are_not_data_are_refused_with_the_file_and_the_remedy(
    file: Path,
) -> None:
    text = (".csv", ".jsonl", ".json")
    for content, endings, complaint in (
        (POINTER.encode(), ENDINGS, "Git LFS pointer.*git lfs pull"),
        (HTML.encode(), ENDINGS, "HTML page.*proxy"),
        (XML.encode(), ENDINGS, "error page"),
        (b"\xef\xbb\xbf" + HTML.encode(), text, "HTML page"),
        (b"", ENDINGS, "empty"),
        (b"\n \r\n" * 100, ENDINGS, "empty"),
        ("題,甲,A\n".encode("big5"), text, "in BIG5-HKSCS, not UTF-8.*iconv"),
        ("題,甲,A\n".encode("utf-16"), text, "in UTF-16, not UTF-8.*iconv"),
        (b"q,A\nq\0,B\n", text, "line 2 has a NUL"),
        (b"q,A\nq,B\nq\xff,C\n", text, "line 3 is not UTF-8: byte 0xff at offset 9"),
    ):
        for ending in endings:
            path = file.with_suffix(ending)
            path.write_bytes(content)
            with pytest.raises(DataCorrupt, match=complaint) as raised:
                read_rows(path)
            assert str(path) in str(raised.value)


def test_a_row_that_does_not_fit_is_set_aside(file: Path) -> None:
    for name, content, bad, left in (
        ("a.csv", "h,i\nq,A\nq,a,A\nq,B\n", "row 3: 3 cells instead of 2", [1, 3]),
        ("a.csv", "h,i,j\nq,a,A\nq,A\nq,b,B\n", "row 3: 2 cells instead of 3", [1, 3]),
        (
            "a.csv",
            'h,i\nq,A\n"quote" in,B\nq,B\n',
            "row 3: a stray or missing quote",
            [1, 3],
        ),
        (
            "a.csv",
            'h,i\nq,A\n"o,B\nq,B\n"x",C\n',
            "row 3: a stray or missing quote",
            [1, 3, 4],
        ),
        (
            "a.jsonl",
            '{"a": 1}\n[2]\n{"a": 3}\n',
            "row 2: a list in place of an object",
            [1, 3],
        ),
        ("a.jsonl", '{"a": 1}\n{"a": \n{"a": 3}\n', "row 2: no JSON object", [1, 3]),
        (
            "a.jsonl",
            '{"a": 1}\n{"a": 1, "a": 2}\n',
            "row 2: no JSON object.* names a twice",
            [1],
        ),
        (
            "a.jsonl",
            '{"a": 1}\n{"a": NaN}\n{"a": 3}\n',
            "row 2: no JSON object.*NaN",
            [1, 3],
        ),
        ("a.json", '[{"a": 1}, {"a": "x\\u0000"}]', "row 2: a NUL character", [1]),
    ):
        path = file.with_name(name)
        path.write_text(content, encoding="utf-8")
        table = read_table(path)
        assert [row.number for row in table.rows] == left, content
        (row,) = table.bad
        assert re.match(f"{re.escape(str(path))}, {bad}", f"{row.where}: {row.what}"), (
            content
        )


def test_a_file_that_breaks_off_is_refused(file: Path) -> None:
    for ending, content in (
        (".csv", 'q,A\n"broken off, B\n'),
        (".csv", "h,i,j\nq,b,B\nq,c"),
        (".csv", 'q,A\n"broken\noff'),
        (".jsonl", '{"a": 1}\n{"a": 2, "b'),
        (".json", '["a", "b'),
        (".json", '[{"a": 1},\n {"a"'),
    ):
        path = file.with_suffix(ending)
        path.write_text(content, encoding="utf-8")
        with pytest.raises(DataCorrupt, match=r"truncated.*etch it again"):
            read_table(path)


def test_rows_of_blank_cells_are_no_rows(file: Path) -> None:
    for blank in ("", ",", " , ", '""'):
        file.write_text(f"h,i\nq,A\n{blank}\nq,B\n{blank}", encoding="utf-8")
        assert [row.number for row in read_rows(file)] == [1, 2]


def test_json_that_is_no_list_of_rows_is_named_by_what_it_is(file: Path) -> None:
    file = file.with_suffix(".json")
    for content, rows, says in (
        ('["a" "b"]', "", "not valid JSON: .*Delete the file and fetch it again"),
        ('{\n "rows": 3\n}', "", "is not JSON Lines .*rows are expected here"),
        ('{"rows": 3}', "rows", "it is a JSON int, but rows are expected here"),
        ('{"data": {"a": 1}}', "data.items", "finds no 'items'; there is a"),
        ('[{"a": NaN}]', "", "not valid JSON: NaN, which is no JSON"),
        ('"no such data set"', "data", "finds no 'data'; there is str"),
    ):
        file.write_text(content, encoding="utf-8")
        with pytest.raises(DataCorrupt, match=says):
            read_table(file, form=msgspec.structs.replace(PLAIN, rows=rows))
    file.write_text('["a", 2]', encoding="utf-8")
    assert [row.where for row in read_table(file).bad] == [f"{file}, row 2"]


FAMILIES = {
    "mmlu": (14_042, 4),
    "canto-mmlu": (14_042, 4),
    "dse": (797, 4),
    "professional": (1_373, 4),
    "hk-law": (424, 4),
    "cultural": (252, 4),
    "linguistic_knowledge": (200, 5),
}
JSON = {
    "phonetics-g2p/dev/zh_to_jyutping_dev.json": 5,
    "phonetics-g2p/test/zh_to_jyutping_test_gold.json": 145,
    "canto-nlp/yue_eng_test.json": 17,
    "canto-nlp/sentiment_facebook.json": 399,
    "canto-nlp/sentiment_openrice.json": 1_200,
    "canto-nlp/summarization.json": 20,
}


@pytest.mark.realdata
def test_the_release_has_the_published_numbers_of_questions(hkeval2025: Path) -> None:
    for family, (rows, options) in FAMILIES.items():
        columns = ("question", *"abcdefghij"[:options], "answer")
        files = sorted((hkeval2025 / family / "test").glob("*"))
        tables = [read_rows(path, columns) for path in files]
        assert sum(map(len, tables)) == rows, family
        assert {len(row.cells) for table in tables for row in table} == {options + 2}, (
            family
        )
    for file, count in JSON.items():
        assert len(read_rows(hkeval2025 / file)) == count, file


@pytest.mark.realdata
def test_every_cell_of_the_release_is_what_pandas_reads_as_text(
    hkeval2025: Path,
) -> None:
    pandas = pytest.importorskip("pandas")
    for path in hkeval2025.rglob("*.csv"):
        frame = pandas.read_csv(
            path, header=None, dtype=str, keep_default_na=False, encoding="utf-8"
        )
        expected = list(frame.itertuples(index=False, name=None))
        assert headerless(path, len(expected[0])) == expected, path
