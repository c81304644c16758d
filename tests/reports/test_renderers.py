"""The output of a report in each format; `test_page.py` looks at the page in a browser."""

import csv
import io
import json
import re
import sys
from html.parser import HTMLParser

import pytest
from rich.console import Console

from hkcanto_tasks.errors import OptionError
from hkcanto_tasks.messages import say, speaking, spoken
from hkcanto_tasks.printable import printable
from hkcanto_tasks.results.reports.blocks import (
    Note,
    Report,
    Section,
    TableBlock,
    TableColumn,
    TableRow,
)
from hkcanto_tasks.results.reports.blocks import table as table_of
from hkcanto_tasks.results.reports.renderers import render
from hkcanto_tasks.results.reports.renderers.formatting import (
    heading,
    interval_text,
    listed,
    shown,
    value_text,
)
from hkcanto_tasks.results.reports.renderers.language import translated
from hkcanto_tasks.results.reports.renderers.plots import (
    Mark,
    _axis,
    _ticks,
    plot,
    strips,
)
from hkcanto_tasks.results.reports.renderers.terminal import _Prose, show
from hkcanto_tasks.results.statistics.intervals import UNSEEN, Estimate

from .sample_report import (
    HOSTILE,
    hostile_report,
    report,
    rich_report,
    scores,
    section,
    subjects,
)


def printed(
    made: Report, width: int = 120, *, full: bool = False, **options: bool
) -> str:
    console = Console(file=io.StringIO(), width=width, **options)
    show(made, console, full=full)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def lines(made: Report) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(render(made, "csv"))))


# Values


def test_a_value_is_shown_in_the_unit_of_its_column() -> None:
    for value, unit, text in [
        (0.5, "percent", "50.0"),
        (1 / 3, "percent", "33.3"),
        (1.0, "percent", "100.0"),
        (-0.0001, "percent", "0.0"),
        (0.5, "points", "+50.0"),
        (-0.0214, "points", "−2.1"),
        (0.00001, "points", "+0.001"),
        (0.000001, "points", "0.0"),
        (1.26, "score_points", "+1.3"),
        (52.84, "score", "52.8"),
        (0.0004, "p", "< 0.001"),
        (0.0456, "p", "0.046"),
        (52.814, "number", "52.81"),
        (52.8, "number", "52.80"),
        (0.0123449, "number", "0.01234"),
        (12345.6, "number", "12,346"),
        (0, "number", "0"),
        (26_368, "count", "26,368"),
        (1_234_567.8, "number", "1,234,568"),
        (Estimate(0.5, 0.4, 0.6, 9), "percent", "50.0"),
        (None, "percent", "–"),
        (float("nan"), "number", "–"),
        (float("inf"), "number", "∞"),
        ("not run", "percent", "not run"),
        ("two\nlines", "text", "two lines"),
        ("", "text", "–"),
    ]:
        assert value_text(value, unit) == text, (value, unit, text)


def test_an_interval_is_shown_in_the_same_unit_if_it_has_both_ends() -> None:
    assert interval_text(Estimate(0.5, 0.44, 0.56, 9), "percent") == "[44.0, 56.0]"
    assert interval_text(Estimate(0.0, -0.01, 0.01, 9), "points") == "[−1.0, +1.0]"
    assert interval_text(Estimate(0.5, 0.44, float("nan"), 9), "percent") == ""
    assert interval_text(Estimate(0.5, None, None, 1), "percent") == ""
    assert interval_text(0.5, "percent") == ""


def test_a_heading_names_its_unit_once() -> None:
    assert heading(TableColumn("Accuracy", "percent")) == "Accuracy %"
    assert heading(TableColumn("Share in %", "percent")) == "Share in %"
    assert heading(TableColumn("Loss", "points")) == "Loss pts"
    assert heading(TableColumn("BLEU", "score_points")) == "BLEU pts"


def test_the_best_is_looked_for_among_models_and_in_the_columns_own_direction() -> None:
    table = scores()
    best = {
        (row.cells[0].text, heading(column))
        for row in shown(table)
        for column, cell in zip(table.columns, row.cells, strict=True)
        if cell.best
    }
    # The human row's 80.0 is higher than GPT-4o's 74.8, but it is not a model.
    assert best == {("GPT-4o", "Accuracy %"), ("Claude 3.7", "CER %")}


def test_there_is_no_best_without_a_rival() -> None:
    one = TableRow(["a", 0.5], "run")
    columns = [
        TableColumn("Model"),
        TableColumn("acc", "percent", lower_is_better=False),
    ]
    alone = TableBlock("t", "T", columns, [one])
    equal = TableBlock("t", "T", columns, [one, TableRow(["b", 0.5], "run")])
    in_parts = TableBlock("t", "T", columns, [one, TableRow(["a", 0.6], "run")])
    neither = TableBlock(
        "t",
        "T",
        [TableColumn("Model"), TableColumn("n")],
        [one, TableRow(["b", 0.6], "run")],
    )
    for table in (alone, equal, in_parts, neither):
        assert not any(cell.best for row in shown(table) for cell in row.cells)


def test_rows_have_a_kind_where_there_are_several() -> None:
    kinds = {row.cells[0].text: row.kind for row in shown(scores())}
    assert (kinds["粵語大模型-7B (this run)"], kinds["Chance"]) == ("run", "random")
    only_runs = TableBlock("t", "T", [TableColumn("Model")], [TableRow(["a"], "run")])
    assert (shown(only_runs)[0].kind, shown(only_runs)[0].cells[0].text) == (
        "other",
        "a",
    )


def test_beside_published_rows_a_run_says_what_it_is_in_every_format() -> None:
    made = rich_report()
    for text in (printed(made, 160), render(made, "md"), render(made, "html")):
        assert text.count("(this run)") == 1


def test_columns_without_values_are_left_out_except_the_first() -> None:
    columns = [
        (TableColumn("x"), str),
        (TableColumn("y"), lambda _: None),
        (TableColumn("z"), lambda n: n or None),
    ]
    made = table_of("t", "T", [0, 1], columns)
    assert [column.title for column in made.columns] == ["x", "z"]
    assert [list(row.values) for row in made.rows] == [["0", None], ["1", 1]]
    assert [column.title for column in table_of("t", "T", [], columns).columns] == ["x"]


def test_keys_for_programs_are_words() -> None:
    titles = ("p adjusted", "Δ % (of all)", "粵語", "—")
    assert [TableColumn(title).key for title in titles] == [
        "p_adjusted",
        "δ_of_all",
        "粵語",
        "value",
    ]


# Hostile text


def test_every_format_can_be_written_as_utf_8() -> None:
    for form in ["html", "md", "github", "json", "csv"]:
        assert render(hostile_report(), form).encode("utf-8"), form


def test_what_acts_instead_of_showing_is_made_visible() -> None:
    for form in ["html", "md"]:
        text = render(hostile_report(), form)
        assert not set("\x00\x1b\u202e\u202c") & set(text), form
        assert "␛[31m" in text.replace("\\", ""), form
        assert "␀" in text, form


def test_tabs_and_line_feeds_are_text_and_other_controls_are_pictures() -> None:
    assert printable("a\tb\nc\r\nd\re") == "a\tb\nc\nd\ne"
    assert printable("\x07\x7f\x9b\u2067\ud83d") == "␇␡\ufffd\ufffd\ufffd"
    assert printable("粵語 𠮷 😀 עברית") == "粵語 𠮷 😀 עברית"


class Elements(HTMLParser):
    """The elements that an HTML parser sees, and the executable scripts among them."""

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
    # The page's own script; two tables, and one element per text.
    assert found.tags.count("script") == 1
    assert found.tags.count("table") == 2
    assert "img" not in found.tags
    assert found.handlers == []


def test_markdown_cannot_be_broken_out_of_by_pipes_lines_or_html() -> None:
    text = render(hostile_report(), "md")
    assert "<script" not in text.replace("\\<", "")
    table = [line for line in text.splitlines() if line.startswith("|")]
    pipes = {line.replace("\\|", "").count("|") for line in table}
    # Five columns in the first table, four in the plot's.
    assert pipes == {6, 5}


def test_the_terminal_gets_no_escape_sequence_and_no_markup_of_the_models() -> None:
    text = printed(hostile_report(), 200)
    assert "\x1b" not in text
    assert "[bold]markup[/bold]" in text


def test_a_text_that_a_spreadsheet_would_run_is_quoted() -> None:
    for start in "=+-@\t\r":
        columns = [TableColumn("Model"), TableColumn("x")]
        table = TableBlock("t", "T", columns, [TableRow(["a", f"{start}1+1"])])
        (line,) = lines(report(section(table)))
        assert line["x"] == f"'{start}1+1".replace("\r", "\n"), start


def test_a_negative_number_is_not_quoted() -> None:
    found = [
        line for line in lines(hostile_report()) if line["table"] == "hostile_table"
    ]
    assert [line["value"] for line in found] == ["0.5", "-0.5"]


# Formats


def test_csv_of_tables_has_a_column_a_figure_as_it_was_computed() -> None:
    found = [line for line in lines(rich_report()) if line["table"] == "scores"]
    assert len(found) == 5
    own = {name: value for name, value in found[2].items() if value}
    assert own == {
        "table": "scores",
        "model": "粵語大模型-7B",
        "items": "1024",
        "rank": "3–4",
        "accuracy": "0.523",
        "accuracy_low": "0.4911",
        "accuracy_high": "0.5539",
        "accuracy_note": "one subject is missing",
        "cer": "0.125",
        "cer_low": "0.11",
        "cer_high": "0.14",
        "to_gpt_4o": "-0.225",
        "to_gpt_4o_low": "-0.25",
        "to_gpt_4o_high": "-0.2",
        "signature": "hkmmlu|shots:5|v:0.1.0",
    }
    assert [line["cer"] for line in found[3:]] == ["", ""]  # None and NaN


def test_json_has_the_tables_by_name_with_their_columns_keys() -> None:
    document = json.loads(render(rich_report(), "json"))
    assert document["format_version"] == 3
    assert document["created"] == "2026-01-02T03:04:00+00:00"
    assert list(document["tables"]) == ["scores", "dots", "by_subject"]
    scores = document["tables"]["scores"]
    assert (scores["section"], scores["caption"][:15]) == (
        "overview",
        "The papers' row",
    )
    assert scores["rows"][0] == {
        "kind": "published",
        "model": "Claude 3.7",
        "accuracy": 0.667,
        "cer": 0.081,
        "to_gpt_4o": -0.081,
        "items": 26_368,
        "rank": "2",
        "signature": "paper",
    }
    own = {"value": 0.523, "low": 0.4911, "high": 0.5539, "items": 1024}
    assert scores["rows"][2]["accuracy"] == own | {"note": "one subject is missing"}


def test_json_has_columns_of_one_name_apart() -> None:
    columns = [TableColumn("Model"), TableColumn("x %"), TableColumn("X")]
    made = report(section(TableBlock("t", "T", columns, [TableRow(["a", 1, 2])])))
    (row,) = json.loads(render(made, "json"))["tables"]["t"]["rows"]
    assert sorted(row.values(), key=str) == [1, 2, "a", "other"]


def test_json_has_the_notes_and_the_reports_own_records() -> None:
    made = report(section(Note("Careful.", "warning")))
    made = Report(
        made.title,
        made.created,
        "1",
        made.sections,
        (),
        {"gate": Estimate(0.5, 0, 1, 2)},
    )
    document = json.loads(render(made, "json"))
    assert document["notes"] == [
        {
            "section": "overview",
            "level": "warning",
            "label": "",
            "text": "Careful.",
            "command": "",
        }
    ]
    assert document["gate"] == {
        "value": 0.5,
        "low": 0,
        "high": 1,
        "items": 2,
        "note": "",
    }


def test_json_writes_a_figure_that_is_not_a_number_as_null() -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    text = render(report(section(scores())), "json")
    document = json.loads(text, parse_constant=refuse)
    assert document["tables"]["scores"]["rows"][4]["cer"] is None


def test_markdown_has_tables_as_github_reads_them() -> None:
    text = render(rich_report(), "md").splitlines()
    start = next(place for place, line in enumerate(text) if line.startswith("| Model"))
    assert text[start : start + 5] == [
        "| Model | Accuracy % | CER % | To GPT-4o pts | Items | Rank | Signature |",
        "| --- | ---: | ---: | ---: | ---: | --- | --- |",
        "| Claude 3.7 | 66.7 | **8.1** | −8.1 | 26,368 | 2 | paper |",
        "| GPT-4o | **74.8** | 9.2 | 0.0 | 26,368 | 1 | paper |",
        "| **粵語大模型-7B (this run)** | 52.3 \\[49.1, 55.4\\] (one subject is missing) | "
        "12.5 \\[11.0, 14.0\\] | −22.5 \\[−25.0, −20.0\\] | 1,024 | 3–4 | "
        "hkmmlu\\|shots:5\\|v:0.1.0 |",
    ]
    assert "- *CER*: Share of characters that are wrong." in text
    assert (
        "> **Warning.** Sample data: these figures are comparable with nothing." in text
    )


def test_in_a_pull_request_all_but_the_summary_is_folded() -> None:
    text = render(rich_report(), "github")
    summary, folded = text.split("<details><summary>Subjects</summary>\n\n")
    assert "### Overview" in summary
    assert "GPT-4o | **74.8**" in summary
    assert "<details>" not in summary + folded
    # A blank line on both sides, or GitHub reads the table as text.
    table, rest = folded.split("\n\n</details>\n\n")
    assert "| Subject 65 科目65 |" in table
    assert rest.startswith("---\n\nHKCanto-Eval")
    assert text.startswith("## 粵語")
    assert "<details>" not in render(rich_report(), "md")


def test_a_folded_sections_title_cannot_break_out_of_its_summary() -> None:
    made = report(Section(HOSTILE, [Note("x")], "hostile"))
    (line,) = [
        line for line in render(made, "github").splitlines() if "<summary>" in line
    ]
    assert line.count("<") - line.count("\\<") == 3
    assert line.endswith("</summary>")


# Terminal


def test_the_terminal_shows_figures_with_intervals_and_remarks_where_there_is_room() -> (
    None
):
    text = printed(rich_report(), 160)
    assert "52.3 [49.1, 55.4]" in text
    assert re.search(r"\(one subject is +\n +missing\)", text)
    assert "Warning: Sample data" in text
    assert "Signature" in text
    assert "left out" not in text


def test_names_of_models_are_broken_after_hyphens_and_nowhere_else() -> None:
    names = ("Qwen2.5-7B-Instruct", "tojyutping", "DeepSeek-V3")
    columns = [TableColumn("Task"), *(TableColumn(name, "percent") for name in names)]
    table = TableBlock("t", "T", columns, [TableRow(["law", 0.5, 0.6, 0.7], "run")])
    words = printed(report(section(table)), 80).split()
    for part in ("Qwen2.5-", "7B-", "Instruct", "tojyutping", "DeepSeek-", "V3"):
        assert part in words


def test_a_narrow_terminal_loses_the_last_columns_and_says_so() -> None:
    medium = printed(report(section(scores())), 100)
    assert "[−25.0, −20.0]" in medium
    assert medium.count("Signature") == 1
    assert "… columns left out: Signature (-o report.html or --format md)" in medium
    narrow = printed(report(section(scores())), 60)
    assert "Claude 3.7" in narrow
    assert "12.5 [11.0, 14.0]" in narrow
    assert "[−25.0, −20.0]" not in narrow
    assert "… columns left out: " in narrow


def test_the_terminal_shows_the_summary_and_names_the_rest_unless_asked_for_all() -> (
    None
):
    short = printed(rich_report(), 160)
    assert "Subject 0" not in short
    assert "Not shown: Subjects. All of it: --full, -o report.html" in short
    assert "Share of characters that are wrong." not in short
    full = printed(rich_report(), 160, full=True)
    assert "Subject 65" in full
    assert "Not shown" not in full
    assert "CER: Share of characters that are wrong." in full


def test_no_line_is_wider_than_the_terminal() -> None:
    for width in [40, 80, 120]:
        from rich.cells import cell_len

        for made in (rich_report(), hostile_report()):
            assert max(map(cell_len, printed(made, width).splitlines())) <= width


def test_columns_are_aligned_with_chinese_names() -> None:
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
    own = TableRow(["mine", *table.rows[0].values[1:]], "run")
    made = report(section(TableBlock("t", "T", table.columns, [*table.rows, own])))
    short = printed(made, 160)
    assert "Subject 19 " in short
    assert "Subject 20 " not in short
    assert "mine" in short
    assert "… rows left out: 46 (-o" in short
    full = printed(made, 160, full=True)
    assert "Subject 65 " in full
    assert "rows left out" not in full


# Missing packages


def test_a_page_without_its_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(
        sys.modules, "hkcanto_tasks.results.reports.renderers.page", raising=False
    )
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(OptionError, match=r'pip install "hkcanto\[report\]"'):
        render(report(section(scores())), "html")


def test_tables_on_the_terminal_and_in_text_need_no_extra_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for package in ("jinja2", "markupsafe"):
        monkeypatch.setitem(sys.modules, package, None)
    made = report(section(scores(), Note(HOSTILE)))
    assert printed(made)
    assert all(render(made, form) for form in ("md", "github", "json", "csv"))


def test_the_terminal_never_shows_a_part_of_a_number() -> None:
    """Columns without room are left out completely."""
    for width in range(40, 161, 3):
        columns = [
            TableColumn("Model"),
            TableColumn("Task and its condition"),
            TableColumn("Condition"),
            *(TableColumn(f"Figure {letter}", "count") for letter in "abcdef"),
        ]
        texts = ["tojyutping", "grapheme-to-phoneme 粵拼轉寫", "5-shot"]
        row = TableRow([*texts, *(1_234_500 + number for number in range(6))])
        made = report(section(TableBlock("counts", "Counts", columns, [row])))
        text = re.sub("left out: .*", "", printed(made, width))
        shown = re.findall(r"(?<!\S)1[\d,]*(?![\d,])", text)
        assert set(shown) <= {f"1,234,50{number}" for number in range(6)}, width
        assert shown or width < 60, width
        assert all(len(line) <= width for line in printed(made, width).splitlines()), (
            width
        )


def test_the_terminal_never_cuts_the_heading_of_a_number() -> None:
    for width in range(60, 120, 2):
        names = {"Model": "tojyutping", "Task": "Jyutping grapheme-to-phoneme 粵拼轉寫"}
        names |= {
            "Condition": "5-shot",
            "Measure": "CER as published (lower is better)",
        }
        columns = [
            *map(TableColumn, names),
            TableColumn("Result", "percent"),
            TableColumn("Items", "count"),
        ]
        columns += [TableColumn("Unparsed", "percent"), TableColumn("Data")]
        values = [
            Estimate(0.1123, 0.05, 0.174, 60),
            60,
            Estimate(0.0, 0, 0.06, 60, "not all"),
        ]
        row = TableRow([*names.values(), *values, "sample"], "run")
        text = printed(
            report(section(TableBlock("results", "Results", columns, [row]))), width
        )
        assert set(re.findall(r"Unpars\w*", text)) <= {"Unparsed"}, width
        assert not re.search(r"(?<!\S)0\.?(?!\S)", text), width


# Models and tasks


def models_and_tasks(models: int) -> TableBlock:
    """A matrix of four tasks; one is an error rate, and one has scores up to 100."""
    unread = Estimate(0.5, 0.45, 0.55, 400, "30% unread")
    columns = [
        TableColumn("Model"),
        TableColumn("Mean rank", "score", "", True),
        TableColumn("HKMMLU", "percent", "", False, under="Accuracy ↑, 0-shot"),
        TableColumn("Hong Kong law", "percent", "", False, under="Accuracy ↑, 5-shot"),
        TableColumn("Jyutping", "percent", "", True, under="CER ↓, 5-shot"),
        TableColumn("Translation", "score", "", False, under="BLEU ↑, 0-shot"),
    ]
    rows = [
        TableRow(
            [f"model-{n}", models - n, unread, 0.6 + n / 100, 0.3 - n / 100, 20.0 + n],
            "run",
        )
        for n in reversed(range(models))
    ]
    rows += [TableRow(["Best published", None, 0.8, None, 0.05, 40.0], "best")]
    rows += [TableRow(["Chance", None, 0.25, 0.25, None, None], "random")]
    return TableBlock("matrix", "Models and tasks", columns, rows, "", turnable=True)


@pytest.mark.parametrize("models", [1, 3, 16])
def test_no_task_and_no_direction_is_ever_dropped_on_a_terminal(models: int) -> None:
    for width in (40, 80, 200):
        text = printed(report(section(models_and_tasks(models))), width)
        flat = " ".join(text.split())
        assert max(map(len, text.splitlines())) <= width
        for word in ("HKMMLU", "Jyutping", "Translation", "law", "CER", "BLEU"):
            assert word in flat
        assert text.count("↑") >= 3
        assert text.count("↓") >= 1
        # The best models are named, with all of their scores.
        assert "model-" + str(models - 1) in flat
        assert f"{30 - (models - 1):.1f}" in text
        assert f"{20 + (models - 1):.1f}" in text
        if width == 200:
            assert all(f"model-{n}" in flat for n in range(min(models, 12)))


def test_the_best_of_a_matrix_is_the_best_run_though_a_published_one_is_better() -> (
    None
):
    cells = {row.cells[0].text: row.cells for row in shown(models_and_tasks(3))}
    assert [cell.best for cell in cells["model-2"]] == [
        False,
        True,
        False,
        True,
        True,
        True,
    ]
    assert not any(cell.best for cell in cells["Best published"])


def test_a_verdict_is_bold_and_a_report_answers_with_it_and_its_warnings() -> None:
    notes = [
        Note("Read me.", "verdict"),
        Note("Careful.", "warning"),
        Note("An aside."),
    ]
    made = report(section(*notes), section(Note("Other."), name="second"))
    assert [note.text for note in made.answer] == ["Read me.", "Careful."]
    assert "**Read me.**" in render(made, "md")
    plain = report(
        section(Note("First."), Note("Second.")), section(Note("x"), name="second")
    )
    assert [note.text for note in plain.answer] == ["First."]
    assert report(section(scores())).answer == []


def test_an_unseen_loop_is_marked_beside_another_remark() -> None:
    both = Estimate(0.1, 0.05, 0.2, 9, f"limit; {UNSEEN}")
    table = TableBlock(
        "t",
        "T",
        [TableColumn("Model"), TableColumn("CER", "percent")],
        [TableRow(["a", both], "run")],
    )
    (row,) = shown(table)
    assert (row.cells[1].interval, row.cells[1].note) == ("[5.0, 20.0] †", "limit")


def test_a_terminal_has_a_row_a_task_and_markdown_a_row_a_model() -> None:
    turned = printed(report(section(models_and_tasks(4))), 80)
    (row,) = (line for line in turned.splitlines() if line.startswith("Jyutping"))
    assert row.split() == ["Jyutping", "%", "27.0*", "28.0", "29.0", "30.0", "5.0", "–"]
    below = turned.splitlines()[turned.splitlines().index(row) + 1]
    assert below.strip() == "CER ↓, 5-shot"
    text = render(report(section(models_and_tasks(4))), "md")
    assert "| Model | Mean rank | HKMMLU %<br>Accuracy ↑, 0-shot |" in text


# Plots


def test_cells_of_a_column_are_drawn_on_one_axis_with_the_better_further_right() -> (
    None
):
    made = TableBlock(
        "matrix",
        "Models and tasks",
        [
            TableColumn("Model"),
            TableColumn("CER", "percent", lower_is_better=True, strip=True),
            TableColumn("Items", "count"),
        ],
        [
            TableRow(["a", Estimate(0.2, 0.1, 0.3, 9, "≈"), 9], "run"),
            TableRow(["b", Estimate(0.5, 0.4, 0.6, 9, "≈; 6 % unread"), 9], "run"),
            TableRow(["c", None, None], "run"),
            TableRow(["Best published", 0.1, None], "best"),
            TableRow(["Chance", 0.99, None], "random"),
        ],
    )
    (position,) = strips(made)
    plotted = strips(made)[position]
    # The axis is from 0.6 at 6 % of the width to 0.1 at 94 %.
    line = Mark(None, 94.0)
    first = Mark(0, 76.4, low=94.0, high=58.8)
    second = Mark(0, 23.6, low=41.2, high=6.0, pale=True)
    assert plotted.rows == [[line, first], [line, second], [], [], []]


def test_numbers_without_intervals_are_lines_beside_those_with_intervals() -> None:
    columns = [
        TableColumn("Task"),
        TableColumn("Score", "score", drawn=True),
        TableColumn("Best published", "score", drawn=True),
    ]
    rows = [
        TableRow(["Law", Estimate(40.0, 20.0, 60.0, 9), 100.0]),
        TableRow(["Culture", None, 0.0]),
    ]
    plotted = plot(TableBlock("tasks", "Task by task", columns, rows))
    assert plotted is not None
    assert plotted.series == [1]
    # From 0 at 6 % of the width to 100 at 94 %.
    dot = Mark(0, 41.2, low=23.6, high=58.8)
    assert plotted.rows == [[Mark(None, 94.0), dot], [Mark(None, 6.0)]]


def test_a_difference_that_may_be_chance_is_pale() -> None:
    columns = [TableColumn("Task"), TableColumn("Gain", "points", drawn=True)]
    gains = [
        (0.1, 0.05, 0.2),
        (0.1, -0.05, 0.2),
        (-0.1, -0.2, -0.05),
        (0.1, 0.0, 0.2),
        (-0.1, -0.2, 0.0),
    ]
    rows = [TableRow(["Law", Estimate(*gain, 9)]) for gain in gains]
    plotted = plot(TableBlock("pairs", "Task by task", columns, rows))
    assert plotted is not None
    pale = [mark.pale for (mark,) in plotted.rows]
    assert pale == [False, True, False, True, True]


def test_a_share_that_may_be_zero_or_a_gain_without_interval_is_not_pale() -> None:
    share = [TableColumn("Task"), TableColumn("Unread", "percent", drawn=True)]
    plotted = plot(
        TableBlock("unread", "", share, [TableRow(["Law", Estimate(0.1, 0.0, 0.2, 9)])])
    )
    assert plotted is not None
    assert [mark.pale for (mark,) in plotted.rows] == [False]
    gain = [TableColumn("Task"), TableColumn("Gain", "points", drawn=True)]
    for low, high in ((None, None), (-0.1, None), (None, 0.3)):
        row = TableRow(["Law", Estimate(0.1, low, high, 9)])
        plotted = plot(TableBlock("pairs", "", gain, [row]))
        assert plotted is not None
        assert [mark.pale for (mark,) in plotted.rows] == [False]


def test_a_page_of_a_matrix_has_ties_doubts_and_the_task_in_each_cell() -> None:
    column = TableColumn("Law", "percent", "", False, under="5-shot", strip=True)
    rows = [
        TableRow(["a", Estimate(0.7, 0.6, 0.8, 9)], "run"),
        TableRow(["b", Estimate(0.6, 0.5, 0.7, 9, "≈; 6 % unread")], "run"),
        TableRow(["c", Estimate(0.2, 0.1, 0.3, 9)], "run"),
    ]
    made = TableBlock("matrix", "Models", [TableColumn("Model"), column], rows)
    text = render(report(section(made)), "html")
    cells = re.findall(
        r'<td class="strip([^"]*)" data-label="Law %" title="(.*?)"', text
    )
    assert cells == [
        (" tied", "[60.0, 80.0]"),
        (" tied pale", "[50.0, 70.0]; 6 % unread"),
        ("", "[10.0, 30.0]"),
    ]
    assert "style=" not in text  # the policy forbids it


def test_an_axis_ends_at_its_numbers_and_has_equal_ones_in_its_middle() -> None:
    assert _axis([3.0, 1.0, 2.0]) == (1.0, 3.0)
    assert _axis([4.0, 4.0]) == (2.0, 6.0)
    assert _axis([-4.0]) == (-6.0, -2.0)
    assert _axis([0.0]) == (-0.5, 0.5)


def test_an_axis_has_three_ticks_or_a_few_more_at_round_numbers() -> None:
    assert _ticks(0, 100) == [0, 50, 100]
    assert _ticks(0, 60) == [0, 25, 50]
    assert _ticks(0, 30) == [0, 10, 20, 30]


def test_of_more_than_five_names_four_are_shown_and_the_rest_counted() -> None:
    assert listed("abcde") == "a; b; c; d; e"
    assert listed("abcdeab") == "a; b; c; d; e", "each name once"
    assert listed("abcdef") == "a; b; c; d; 2 more"
    assert listed("abcdefg", ", ") == "a, b, c, d, 3 more"


def test_a_command_is_one_line_however_narrow_the_output_is() -> None:
    command = f"hkcanto compare {'base=' * 20} tuned"
    made = report(section(Note("Do this.", "next", "What next", command)))
    for width in (40, 80):
        assert f"  {command}\n" in printed(made, width)


def test_messages_in_cells_and_notes_of_figures_are_translated_and_data_is_not() -> (
    None
):
    table = TableBlock(
        "t",
        "Task by task",
        [TableColumn("Model", help="Number of models", under=say("Chance"))],
        [TableRow([say("Chance")], "run"), TableRow(["Chance"], "run")],
    )
    with speaking("zh-Hant"):
        (block,) = translated(report(section(table))).sections[0].blocks
        assert isinstance(block, TableBlock)
        chance, data = (row.values[0] for row in block.rows)
        assert (chance, data) == (spoken(say("Chance")), "Chance")
        assert chance != data
        assert block.columns[0].title == spoken("Model") != "Model"
        assert block.columns[0].under == chance


def test_a_column_is_as_narrow_as_its_longest_word_without_the_space_after_it() -> None:
    measured = Console(width=80).measure(_Prose("longest short"))
    assert (measured.minimum, measured.maximum) == (7, 13)
    # Chinese breaks after each character, but not before a mark.
    assert Console(width=80).measure(_Prose("粵語，中文")).minimum == 4
