"""What each format makes of a report; `test_page.py` looks at the page in a browser."""

import csv
import io
import json
import re
import sys
from html.parser import HTMLParser

import pytest
from rich.console import Console

from hkcanto_tasks.errors import OptionError
from hkcanto_tasks.reports.blocks import Cell, Chart, Column, Note, Report, Row, Table, Unit
from hkcanto_tasks.reports.renderers import Format, page, render
from hkcanto_tasks.reports.renderers.formatting import (
    heading,
    interval_text,
    printable,
    shown,
    value_text,
)
from hkcanto_tasks.reports.renderers.terminal import show

from .sample_report import (
    HOSTILE,
    bars,
    hostile_report,
    items,
    report,
    rich_report,
    scores,
    section,
    subjects,
)


def printed(made: Report, width: int = 120, *, full: bool = False, **options: bool) -> str:
    console = Console(file=io.StringIO(), width=width, **options)
    show(made, console, full=full)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def lines(made: Report) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(render(made, "csv"))))


# Values


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.5, "percent", "50.0"),
        (1 / 3, "percent", "33.3"),
        (1.0, "percent", "100.0"),
        (-0.0001, "percent", "0.0"),
        (0.5, "points", "+50.0"),
        (-0.0214, "points", "−2.1"),
        (0.00001, "points", "0.0"),
        (52.814, "number", "52.81"),
        (52.8, "number", "52.80"),
        (0.0123449, "number", "0.01234"),
        (12345.6, "number", "12,346"),
        (0, "number", "0"),
        (26_368, "count", "26,368"),
        (3, "rank", "3"),
        (None, "percent", "–"),
        (float("nan"), "number", "–"),
        (float("inf"), "number", "∞"),
        ("not run", "percent", "not run"),
        (7, "text", "7"),
        ("two\nlines", "text", "two lines"),
    ],
)
def test_a_value_is_shown_in_the_unit_of_its_column(
    value: str | float | None, unit: Unit, text: str
) -> None:
    assert value_text(Cell(value), Column("x", unit)) == text


def test_an_interval_is_shown_in_the_same_unit_if_it_has_both_ends() -> None:
    assert interval_text(Cell(0.5, 0.44, 0.56), Column("x", "percent")) == "[44.0, 56.0]"
    assert interval_text(Cell(0.0, -0.01, 0.01), Column("x", "points")) == "[−1.0, +1.0]"
    assert interval_text(Cell(0.5, 0.44, float("nan")), Column("x", "percent")) == ""


def test_a_heading_names_its_unit_once() -> None:
    assert heading(Column("Accuracy", "percent")) == "Accuracy %"
    assert heading(Column("Share in %", "percent")) == "Share in %"
    assert heading(Column("Loss", "points")) == "Loss pts"


def test_the_best_is_looked_for_among_models_and_in_the_columns_own_direction() -> None:
    view = shown(scores())
    best = {
        (row.cells[0].text, name)
        for row in view.rows
        for name, cell in zip(view.headings, row.cells, strict=True)
        if cell.best
    }
    # The human's 80.0 is higher than GPT-4o's 74.8, but is no model's.
    assert best == {("GPT-4o", "Accuracy %"), ("Claude 3.7", "CER %")}


def test_there_is_no_best_without_a_rival() -> None:
    one = Row([Cell("a"), Cell(0.5)], "run")
    columns = [Column("Model"), Column("acc", "percent")]
    alone = Table("T", columns, [one])
    equal = Table("T", columns, [one, Row([Cell("b"), Cell(0.5)], "run")])
    in_parts = Table("T", columns, [one, Row([Cell("a"), Cell(0.6)], "run")])
    for table in (alone, equal, in_parts):
        assert not any(cell.best for row in shown(table).rows for cell in row.cells)


def test_rows_say_whose_they_are_where_their_names_do_not_and_where_there_are_several_kinds() -> (
    None
):
    marks = {row.cells[0].text: row.mark for row in shown(scores()).rows}
    assert marks["粵語大模型-7B"] == "this run"
    assert (marks["Human"], marks["Chance"], marks["GPT-4o"]) == ("", "random", "")
    only_runs = Table("T", [Column("Model")], [Row([Cell("a")], "run")])
    assert shown(only_runs).rows[0].mark == ""


def test_equal_notes_share_a_letter() -> None:
    noted = [Row([Cell("a", note="x")]), Row([Cell("b", note="y")]), Row([Cell("c", note="x")])]
    view = shown(Table("T", [Column("Model")], noted))
    assert [row.cells[0].marker for row in view.rows] == ["a", "b", "a"]
    assert view.notes == [("a", "x"), ("b", "y")]


def test_after_z_notes_are_lettered_with_two() -> None:
    noted = [Row([Cell(place, note=f"note {place}")]) for place in range(28)]
    markers = [row.cells[0].marker for row in shown(Table("T", [Column("n")], noted)).rows]
    assert markers[25:] == ["z", "aa", "ab"]


# Hostile text


@pytest.mark.parametrize("format", ["html", "md", "json", "csv"])
def test_every_format_can_be_written_as_utf_8(format: Format) -> None:  # noqa: A002
    assert render(hostile_report(), format).encode("utf-8")


@pytest.mark.parametrize("format", ["html", "md"])
def test_what_acts_instead_of_showing_is_made_visible(format: Format) -> None:  # noqa: A002
    text = render(hostile_report(), format)
    assert not set("\x00\x1b\u202e\u202c") & set(text)
    assert "␛[31m" in text.replace("\\", "")
    assert "␀" in text


def test_tabs_and_line_feeds_are_text_and_other_controls_are_pictures() -> None:
    assert printable("a\tb\nc\r\nd\re") == "a\tb\nc\nd\ne"
    assert printable("\x07\x7f\x9b\u2067\ud83d") == "␇␡\ufffd\ufffd\ufffd"
    assert printable("粵語 𠮷 😀 עברית") == "粵語 𠮷 😀 עברית"


class Elements(HTMLParser):
    """What elements an HTML parser sees, and the executable scripts among them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.handlers: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


def test_hostile_text_adds_no_element_to_the_page() -> None:
    found = Elements(render(hostile_report(), "html"))
    assert found.tags.count("script") == 4
    assert found.tags.count("table") == 1
    assert "img" not in found.tags
    assert found.handlers == []


def test_data_in_the_page_cannot_end_its_script_element() -> None:
    chart = Chart("T", {"data": {"values": [{"x": "</script>\u2028<!--<script>&"}]}}, "d")
    html = render(report(section(chart)), "html")
    assert r"\u003c/script\u003e\u2028\u003c!--\u003cscript\u003e\u0026" in html


def test_markdown_cannot_be_broken_out_of_by_pipes_lines_or_html() -> None:
    text = render(hostile_report(), "md")
    assert "<script" not in text.replace("\\<", "")
    table = [line for line in text.splitlines() if line.startswith("|")]
    pipes = {line.replace("\\|", "").count("|") for line in table}
    # Three columns in the table, eight in the answers.
    assert pipes == {4, 9}


def test_the_terminal_gets_no_escape_sequence_and_no_markup_of_the_models() -> None:
    text = printed(hostile_report(), 200)
    assert "\x1b" not in text
    assert "[bold]markup[/bold]" in text


@pytest.mark.parametrize("start", "=+-@\t\r")
def test_a_text_that_a_spreadsheet_would_run_is_quoted(start: str) -> None:
    table = Table("T", [Column("Model"), Column("x")], [Row([Cell("a"), Cell(f"{start}1+1")])])
    (line,) = lines(report(section(table)))
    assert line["value"] == f"'{start}1+1".replace("\r", "\n")


def test_a_negative_number_is_not_quoted() -> None:
    assert [line["value"] for line in lines(hostile_report()) if line["unit"] == "percent"] == [
        "0.5",
        "-0.5",
    ]


# Formats


def test_csv_has_a_value_a_line_as_it_was_computed() -> None:
    found = [line for line in lines(rich_report()) if line["table"] == "scores"]
    # Five rows of six values, after the column that names the row.
    assert len(found) == 30
    assert found[12] == {
        "section": "overview",
        "table": "scores",
        "position": "3",
        "row": "粵語大模型-7B",
        "row_kind": "run",
        "column": "Accuracy",
        "value": "0.523",
        "low": "0.4911",
        "high": "0.5539",
        "unit": "percent",
        "note": "One subject is missing.",
    }
    assert [line["value"] for line in found if line["column"] == "CER"][3:] == ["", ""]


def test_csv_has_the_answers_and_the_notes_too() -> None:
    found = lines(report(section(Note("Careful.", "warning"), items(2))))
    assert (found[0]["column"], found[0]["value"]) == ("warning", "Careful.")
    second = {line["column"]: line["value"] for line in found if line["position"] == "2"}
    assert second["target"] == "B"
    assert second["correct"] == "no"


def test_json_has_the_blocks_as_they_are() -> None:
    document = json.loads(render(rich_report(), "json"))
    assert document["format_version"] == 1
    assert document["created"] == "2026-01-02T03:04:00+00:00"
    note, table, chart, _ = document["sections"][0]["blocks"]
    assert note == {"type": "note", "text": rich_report().sections[0].blocks[0].text} | {
        "level": "warning"
    }
    assert table["type"] == "table"
    assert table["rows"][2]["kind"] == "run"
    assert table["rows"][2]["cells"][1]["low"] == 0.4911
    assert chart["spec"]["layer"]


def test_json_writes_a_figure_that_is_not_a_number_as_null() -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    text = render(report(section(scores())), "json")
    document = json.loads(text, parse_constant=refuse)
    assert document["sections"][0]["blocks"][0]["rows"][4]["cells"][2]["value"] is None


def test_markdown_has_tables_as_github_reads_them() -> None:
    text = render(rich_report(), "md").splitlines()
    start = next(place for place, line in enumerate(text) if line.startswith("| Model"))
    assert text[start : start + 5] == [
        "| Model | Accuracy % | CER % | To GPT-4o pts | Items | Rank | Signature |",
        "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
        "| Claude 3.7 | 66.7 | **8.1** | −8.1 | 26,368 | 2 | paper |",
        "| GPT-4o | **74.8** | 9.2 | 0.0 | 26,368 | 1 | paper |",
        "| **粵語大模型-7B** (this run) | 52.3 \\[49.1, 55.4\\]<sup>a</sup> | "
        "12.5 \\[11.0, 14.0\\] | −22.5 \\[−25.0, −20.0\\] | 1,024 | 3 | "
        "hkmmlu\\|shots:5\\|v:0.1.0 |",
    ]
    assert "<sup>a</sup> One subject is missing." in text
    assert "> **Warning.** Sample data: these figures are comparable with nothing." in text


def test_markdown_shows_the_beginning_of_a_long_response() -> None:
    text = render(report(section(items(1, "x" * 1_000_000))), "md")
    assert len(text) < 2_000
    assert "more characters" in text


# Terminal


def test_the_terminal_shows_figures_with_intervals_where_there_is_room() -> None:
    text = printed(rich_report(), 160)
    assert "52.3 (a) [49.1, 55.4]" in text
    assert "(a) One subject is missing." in text
    assert "Warning: Sample data" in text
    assert "Chart: Accuracy by category. GPT-4o leads" in text


def test_a_narrow_terminal_loses_intervals_first_then_columns_and_says_so() -> None:
    medium = printed(report(section(scores())), 110)
    assert "52.3" in medium
    assert "49.1" not in medium
    assert "Signature" in medium
    narrow = printed(report(section(scores())), 60)
    assert "Claude 3.7" in narrow
    assert "Signature" not in narrow
    assert "… 1 more column: -o report.html or --format md" in narrow


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    from rich.cells import cell_len

    for made in (rich_report(), hostile_report()):
        assert max(map(cell_len, printed(made, width).splitlines())) <= width


def test_columns_stand_under_each_other_where_names_are_chinese() -> None:
    from rich.cells import cell_len

    text = printed(report(section(scores())), 160).splitlines()
    found = [line for line in text if "26,368" in line or "1,024" in line]
    ends = {
        cell_len(line[: line.index(count) + len(count)])
        for line in found
        for count in ("26,368", "1,024")
        if count in line
    }
    assert len(found) == 4
    assert len(ends) == 1


def test_a_long_table_is_cut_unless_asked_for_but_never_the_users_own_row() -> None:
    table = subjects()
    own = Row([Cell("mine"), *table.rows[0].cells[1:]], "run")
    made = report(section(Table(table.title, table.columns, [*table.rows, own])))
    short = printed(made, 160)
    assert "Subject 19 " in short
    assert "Subject 20 " not in short
    assert "mine" in short
    assert "… 46 more rows" in short
    full = printed(made, 160, full=True)
    assert "Subject 65 " in full
    assert "more rows" not in full


def test_answers_are_counted_on_the_terminal_and_not_shown() -> None:
    text = printed(report(section(items(5))))
    assert "12 answers: read them with -o report.html" in text
    assert "香港嘅首都" not in text


# What is not installed


@pytest.mark.parametrize("package", ["jinja2", "vl_convert"])
def test_a_page_without_its_packages_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    page._template.cache_clear()
    page._vega.cache_clear()
    chart = bars()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(OptionError, match=r'pip install "hkcanto\[report\]"'):
        render(report(section(chart)), "html")


def test_tables_on_the_terminal_and_in_text_need_no_extra_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for package in ("jinja2", "markupsafe", "vl_convert", "altair"):
        monkeypatch.setitem(sys.modules, package, None)
    made = report(section(scores(), Note(HOSTILE)))
    assert printed(made)
    assert [render(made, "md"), render(made, "json"), render(made, "csv")]


@pytest.mark.parametrize("width", range(50, 140, 3))
def test_the_terminal_never_shows_a_part_of_a_number(width: int) -> None:
    """Columns that there is no room for are left out whole."""
    columns = [
        Column("Model"),
        Column("Task and its condition"),
        Column("Condition"),
        *(Column(f"Figure {letter}", "count") for letter in "abcdef"),
    ]
    cells = [Cell("tojyutping"), Cell("grapheme-to-phoneme 粵拼轉寫"), Cell("5-shot")]
    row = Row([*cells, *(Cell(1_234_500 + number) for number in range(6))])
    made = report(section(Table("Counts", columns, [row], name="counts")))
    shown = re.findall(r"(?<!\S)1[\d,]*(?![\d,]| more)", printed(made, width))
    assert set(shown) <= {f"1,234,50{number}" for number in range(6)}
    assert all(len(line) <= width for line in printed(made, width).splitlines())


@pytest.mark.parametrize("width", range(60, 120, 2))
def test_the_terminal_never_cuts_the_heading_of_a_number(width: int) -> None:
    names = {"Model": "tojyutping", "Task": "Jyutping grapheme-to-phoneme 粵拼轉寫"}
    names |= {"Condition": "5-shot", "Measure": "CER as published (lower is better)"}
    columns = [*map(Column, names), Column("Result", "percent"), Column("Items", "count")]
    columns += [Column("Unparsed", "percent"), Column("Data")]
    values = [Cell(0.1123, 0.05, 0.174), Cell(60, note="not all"), Cell(0.0, 0, 0.06)]
    row = Row([*map(Cell, names.values()), *values, Cell("sample")], "run")
    text = printed(report(section(Table("Results", columns, [row], name="results"))), width)
    assert set(re.findall(r"Unpars\w*", text)) <= {"Unparsed"}
    assert not re.search(r"(?<!\S)0\.?(?!\S)", text)
