"""Benchmark files are read as they are, and what only looks like one is refused."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hkcanto_tasks.errors import DataCorrupt
from hkcanto_tasks.readers import read_csv, read_json_lines, read_json_list

POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
    "size 12345\n"
)
HTML = "\n<!DOCTYPE HTML>\n<html><head><title>403 Forbidden</title></head></html>\n"

READERS: dict[str, Callable[[Path], object]] = {
    "CSV": lambda path: read_csv(path, header=False),
    "JSON lines": read_json_lines,
    "JSON list": read_json_list,
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "subject_test.csv"


def test_cells_that_data_frames_corrupt_stay_as_written(file: Path) -> None:
    file.write_text("None,NA,0.10,007, 1e3 ,TRUE,,nan\n", encoding="utf-8")
    assert read_csv(file, header=False).rows == [
        ("None", "NA", "0.10", "007", " 1e3 ", "TRUE", "", "nan")
    ]


def test_line_breaks_commas_and_quotes_inside_quotes_are_kept(file: Path) -> None:
    file.write_bytes('"第一行\r\n第二行","a, ""b""",A\r\n題二,c,B\r\n'.encode())
    assert read_csv(file, header=False).rows == [
        ("第一行\r\n第二行", 'a, "b"', "A"),
        ("題二", "c", "B"),
    ]


def test_a_byte_order_mark_is_no_part_of_the_first_cell(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbfQuestion,Answer\n1+1,2\n")
    assert read_csv(file, header=True).columns == ("Question", "Answer")


def test_blank_lines_at_the_end_are_no_rows(file: Path) -> None:
    file.write_text("q,A\n\n\n", encoding="utf-8")
    assert read_csv(file, header=False).rows == [("q", "A")]


def test_a_header_gives_the_columns_and_counts_as_row_1(file: Path) -> None:
    file.write_text("Question,Answer\nq1,A\nq2,B\n", encoding="utf-8")
    table = read_csv(file, header=True)
    assert table.columns == ("Question", "Answer")
    assert table.rows == [("q1", "A"), ("q2", "B")]
    assert table.row_number(1) == 3
    assert read_csv(file, header=False).row_number(1) == 2


def test_a_column_named_twice_is_refused(file: Path) -> None:
    file.write_text("A,B,A\n1,2,3\n", encoding="utf-8")
    with pytest.raises(DataCorrupt, match="column twice"):
        read_csv(file, header=True)


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(st.text(), min_size=width, max_size=width).map(tuple), min_size=1
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
    assert read_csv(file, header=False).rows == rows


def test_json_lines_keep_separators_that_python_takes_for_line_ends(file: Path) -> None:
    file.write_bytes('{"text": "一\u2028二\u0085三"}\r\n{"text": "四"}\r\n\r\n'.encode())
    assert read_json_lines(file) == [{"text": "一\u2028二\u0085三"}, {"text": "四"}]


def test_a_json_list_is_read_in_order(file: Path) -> None:
    file.write_text('["二",\n "一\\n一"]\n', encoding="utf-8")
    assert read_json_list(file) == ["二", "一\n一"]


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
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
    ],
    ids=["pointer", "HTML", "HTML after a mark", "empty", "blank", "Big5", "UTF-16"],
)
def test_what_is_no_data_is_refused_with_the_file_and_the_remedy(
    file: Path, read: Callable[[Path], object], content: bytes, complaint: str
) -> None:
    file.write_bytes(content)
    with pytest.raises(DataCorrupt, match=complaint) as raised:
        read(file)
    assert str(file) in str(raised.value)


def test_the_line_of_the_bad_byte_is_named(file: Path) -> None:
    file.write_bytes(b"q,A\nq,B\nq\xff,C\n")
    with pytest.raises(DataCorrupt, match="line 3 is not UTF-8: byte 0xff at offset 9"):
        read_csv(file, header=False)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("q,a,b,A\nq,a,A\n", r"row 2 has 3 cells and row 1 has 4"),
        ('"two\nlines",a\nq,b,c\n', r"row 2 has 3 cells"),
        ("q,A\n\nq,B\n", r"row 2 has 0 cells"),
        ('q,A\n"broken off, B\n', r"row 2 \(line 2\) is not valid CSV.*truncated"),
        ('q,A\n"quote" inside,B\n', r"row 2 \(line 2\) is not valid CSV"),
    ],
    ids=["short row", "long row", "blank line", "cut inside quotes", "text after quotes"],
)
def test_rows_that_do_not_fit_are_refused_by_number(
    file: Path, content: str, complaint: str
) -> None:
    file.write_text(content, encoding="utf-8")
    with pytest.raises(DataCorrupt, match=complaint):
        read_csv(file, header=False)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('{"a": 1}\n{"a": 2, "b', "row 2 is not the JSON expected here: .*truncated"),
        ('{"a": 1}\n[2]\n', "row 2 is not the JSON expected here: .*array"),
        ('{"a": 1}\n\n{"a": 3}\n', "row 2 is not"),
        ('{"a": NaN}\n', "row 1 is not"),
    ],
    ids=["cut off", "not an object", "blank line", "not JSON"],
)
def test_json_rows_that_do_not_fit_are_refused_by_number(
    file: Path, content: str, complaint: str
) -> None:
    file.write_text(content, encoding="utf-8")
    with pytest.raises(DataCorrupt, match=complaint):
        read_json_lines(file)


@pytest.mark.parametrize("content", ['["a", "b', '{"a": 1}', '["a", 2]'])
def test_a_json_list_that_is_cut_off_or_of_other_things_is_refused(
    file: Path, content: str
) -> None:
    file.write_text(content, encoding="utf-8")
    with pytest.raises(DataCorrupt, match="is not the JSON expected here"):
        read_json_list(file)


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
    tables = [
        read_csv(path, header=False) for path in sorted((hkeval2025 / family / "test").glob("*"))
    ]
    assert sum(len(table.rows) for table in tables) == rows
    assert {len(row) for table in tables for row in table.rows} == {options + 2}


@pytest.mark.realdata
def test_every_cell_of_the_release_is_what_pandas_reads_as_text(hkeval2025: Path) -> None:
    pandas = pytest.importorskip("pandas")
    for path in hkeval2025.rglob("*.csv"):
        frame = pandas.read_csv(
            path, header=None, dtype=str, keep_default_na=False, encoding="utf-8"
        )
        expected = list(frame.itertuples(index=False, name=None))
        assert read_csv(path, header=False).rows == expected, path


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
    assert len(read_json_lines(hkeval2025 / file)) == rows


@pytest.mark.realdata
def test_the_summaries_of_the_release_are_one_list_of_20(hkeval2025: Path) -> None:
    assert len(read_json_list(hkeval2025 / "canto-nlp/summarization.json")) == 20
