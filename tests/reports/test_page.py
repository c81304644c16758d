"""A report's page in a real browser: plots, sorting, layout, and harmless hostile text."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from hkcanto_tasks.results.reports.blocks import (
    DisplayUnit,
    Note,
    Report,
    TableBlock,
    TableColumn,
    TableRow,
    report_of,
)
from hkcanto_tasks.results.reports.renderers import render
from hkcanto_tasks.results.statistics.intervals import Estimate

from .browser import Browser, chromium
from .building import sections
from .sample_report import (
    HOSTILE,
    dots,
    hostile_report,
    report,
    rich_report,
    scores,
    section,
    subjects,
)
from .whole import whole

pytestmark = pytest.mark.browser

Opened = Callable[..., Browser]
Box = dict[str, float]

RUN = "粵語大模型-7B (this run)"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Opened:
    """Return a function that renders a report and opens it from the disk."""

    def open_page(
        made: Report, width: int = 1280, scheme: str = "light", height: int = 800
    ) -> Browser:
        page = tmp_path / "report.html"
        page.write_text(render(made, "html"), encoding="utf-8")
        browser.open(page, width, scheme, height)
        return browser

    return open_page


def results(*tasks: str) -> Report:
    """The first lines of a report on three models' results in two real tasks."""
    runs = [
        whole(task, share, label=label)
        for task in tasks or ("hkcanto_cultural", "hkcanto_law")
        for label, share in (
            ("gemma-3-270m", 0.3),
            ("Qwen2.5-7B-Instruct", 0.5),
            ("粵語", 0.7),
        )
    ]
    shown = [*sections("results", runs), *sections("published", runs)]
    return report_of(shown, "Three models")


def models(browser: Browser) -> list[str]:
    return browser.texts("tbody th bdi")


def boxes(browser: Browser, selector: str) -> list[Box]:
    """Return the positions of elements in the window."""
    script = (
        "return [...document.querySelectorAll(arguments[0])].map(e => {"
        "  const b = e.getBoundingClientRect();"
        "  return {left: b.left, right: b.right, top: b.top, bottom: b.bottom,"
        "          x: (b.left + b.right) / 2}})"
    )
    found: list[Box] = browser.run(script, selector)
    return found


def contained(inner: Box, outer: Box) -> bool:
    """Return whether a box is within another, up to a pixel of rounding."""
    return (
        inner["left"] >= outer["left"] - 1
        and inner["right"] <= outer["right"] + 1
        and inner["top"] >= outer["top"] - 1
        and inner["bottom"] <= outer["bottom"] + 1
    )


def page_width(browser: Browser) -> Any:
    return browser.run("return document.scrollingElement.scrollWidth")


# ---------------------------------------------------------------- the page as a whole


def test_a_page_loads_without_a_word_in_the_console_and_asks_the_network_for_nothing(
    opened: Opened, tmp_path: Path
) -> None:
    browser = opened(rich_report())
    assert browser.complaints() == []
    assert browser.requests() == {(tmp_path / "report.html").as_uri()}


def test_a_page_of_66_subjects_and_five_models_takes_no_more_than_100_kilobytes() -> (
    None
):
    assert len(render(rich_report(), "html").encode()) < 100_000


@pytest.mark.parametrize("made", [rich_report, hostile_report, results])
def test_nothing_but_tables_scrolls_sideways_on_a_phone(
    opened: Opened, made: Callable[[], Report]
) -> None:
    assert page_width(opened(made(), width=320)) <= 320


def test_the_page_follows_the_readers_colour_scheme_until_a_button_says_otherwise(
    opened: Opened,
) -> None:
    browser = opened(report(section(dots())))
    script = (
        "return [getComputedStyle(document.body).backgroundColor,"
        " getComputedStyle(document.querySelector('tbody .dot')).fill]"
    )
    light = browser.run(script)
    browser.prefer("dark")
    dark = browser.run(script)
    assert all(before != after for before, after in zip(light, dark, strict=True))
    browser.wait(
        lambda: browser.find("#theme").text == "Light theme"
    )  # by an event, soon after
    browser.find("#theme").click()
    assert browser.run(script) == light
    assert browser.find("#theme").text == "Dark theme"
    assert browser.complaints() == []


def test_what_is_behind_the_first_section_is_folded_until_a_link_or_button_opens_it(
    opened: Opened,
) -> None:
    made = report(
        section(scores()),
        section(Note("A remark."), name="remarks", is_summary=False),
    )
    browser = opened(made)
    remark = browser.find("#remarks .note")
    assert not remark.is_displayed()
    browser.run("location.hash = '#remarks'")
    browser.wait(remark.is_displayed)
    for shown in (True, False):
        browser.find("#unfold").click()
        assert remark.is_displayed() == shown


def test_warnings_are_counted_and_folded_and_never_hidden_on_paper(
    opened: Opened,
) -> None:
    warnings = [Note(text, "warning") for text in ("Sample data.", "Unfinished.")]
    browser = opened(report(section(Note("A leads.", "verdict"), *warnings, scores())))
    assert browser.texts(".first > details > summary")[0] == "2 warnings"
    assert browser.find(".verdict").is_displayed()
    is_shown = "return document.querySelector('.warning').checkVisibility()"
    assert not browser.run(is_shown)
    browser.find(".warnings > summary").click()
    assert browser.texts(".warning") == ["Sample data.", "Unfinished."]
    browser.find(".warnings > summary").click()
    browser.prefer("light", "print")
    assert browser.run(is_shown)


def test_the_page_is_built_for_screen_readers(opened: Opened) -> None:
    browser = opened(hostile_report())
    assert browser.find("html").get_attribute("lang") == "en"
    levels = [
        int(heading.tag_name[1]) for heading in browser.all("h1, h2, h3, h4, h5, h6")
    ]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for table in browser.all("table"):
        assert table.find_elements("css selector", "caption")
        assert not table.find_elements("css selector", "th:not([scope], [aria-hidden])")
    for field in browser.all("input, select"):
        assert browser.run("return arguments[0].labels.length", field) == 1
    for control in browser.all("button, summary, a"):
        assert browser.run("return arguments[0].textContent.trim()", control)
    ids = browser.run("return [...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    for element in browser.all("[aria-labelledby]"):
        assert element.get_attribute("aria-labelledby") in ids


def test_a_table_may_be_called_as_its_section_is(opened: Opened) -> None:
    browser = opened(report(section(scores(), name="scores")))
    ids = browser.run("return [...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))


def test_chinese_is_marked_as_such_for_fonts_and_voices(opened: Opened) -> None:
    browser = opened(report(section(scores())))
    languages = {
        name.text: name.get_attribute("lang") for name in browser.all("tbody th bdi")
    }
    assert languages["粵語大模型-7B (this run)"] == "zh-HK"
    assert not languages["GPT-4o"]


def test_without_javascript_tables_plots_and_notes_are_still_there(
    browser: Browser, opened: Opened
) -> None:
    browser.driver.execute_cdp_cmd(
        "Emulation.setScriptExecutionDisabled", {"value": True}
    )
    try:
        opened(report(section(Note(HOSTILE), scores(), dots())))
        assert len(browser.all("tbody tr")) == 5 + 3
        assert len(browser.all("tbody circle")) == 5
        assert "window.pwned" in browser.find("aside").text
        assert not browser.find("#theme").is_displayed()
    finally:
        browser.driver.execute_cdp_cmd(
            "Emulation.setScriptExecutionDisabled", {"value": False}
        )


# ---------------------------------------------------------------- tables


def test_a_column_of_figures_sorts_from_the_best_then_the_worst_then_as_it_was(
    opened: Opened,
) -> None:
    browser = opened(report(section(scores())))
    as_it_was = ["Claude 3.7", "GPT-4o", RUN, "Human", "Chance"]
    assert models(browser) == as_it_was
    header = browser.all("thead th")[1]
    header.find_element("tag name", "button").click()
    assert header.get_attribute("aria-sort") == "descending"
    assert models(browser) == ["Human", "GPT-4o", "Claude 3.7", RUN, "Chance"]
    header.find_element("tag name", "button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    assert models(browser) == ["Chance", RUN, "Claude 3.7", "GPT-4o", "Human"]
    header.find_element("tag name", "button").click()
    assert header.get_attribute("aria-sort") is None
    assert models(browser) == as_it_was


def test_missing_figures_come_last_in_both_orders_and_equals_keep_their_order(
    opened: Opened,
) -> None:
    browser = opened(report(section(scores())))
    # Lower is better: 8.1, 9.2, 12.5, then the human and random rows, which have no value.
    button = browser.all("thead th")[2].find_element("tag name", "button")
    button.click()
    ascending = ["Claude 3.7", "GPT-4o", RUN, "Human", "Chance"]
    assert models(browser) == ascending
    button.click()
    assert models(browser) == [*reversed(ascending[:3]), "Human", "Chance"]


def test_tables_sort_by_the_keyboard_and_one_column_at_a_time(opened: Opened) -> None:
    browser = opened(report(section(scores())))
    model, accuracy, *_ = browser.all("thead th")
    accuracy.find_element("tag name", "button").click()
    model.find_element("tag name", "button").send_keys(Keys.ENTER)
    assert model.get_attribute("aria-sort") == "ascending"
    assert accuracy.get_attribute("aria-sort") is None
    assert models(browser)[:4] == ["Chance", "Claude 3.7", "GPT-4o", "Human"]
    model.find_element("tag name", "button").send_keys(Keys.SPACE)
    assert model.get_attribute("aria-sort") == "descending"


def test_a_plot_moves_with_its_row_and_cannot_be_sorted_by(opened: Opened) -> None:
    browser = opened(report(section(dots())))
    assert not browser.all("thead th.plot button")
    dots_of = (
        "return [...document.querySelectorAll('tbody tr')].map("
        "r => [r.cells[0].innerText, [...r.querySelectorAll('tbody circle')]"
        ".map(c => c.getAttribute('cx')).join()])"
    )
    before = dict(browser.run(dots_of))
    browser.all("thead th button")[0].click()
    after = browser.run(dots_of)
    assert [name for name, _ in after] == ["Humanities 人文", "Law", "STEM"]
    assert dict(after) == before


def test_a_long_table_can_be_filtered_and_a_short_one_needs_no_filter(
    opened: Opened,
) -> None:
    browser = opened(report(section(scores(), subjects())))
    (field,) = browser.all(".filter input")
    field.send_keys("科目6")
    shown = "return [...document.querySelectorAll('.long tbody tr')].filter(r => !r.hidden).length"
    # 6, and 60 to 65.
    browser.wait(f"{shown} === 7")
    assert browser.find(".filter output").text == "7 of 66 rows"


def test_the_first_column_stays_in_view_while_a_table_scrolls(opened: Opened) -> None:
    browser = opened(report(section(subjects())), width=320)
    (before,) = boxes(browser, "tbody tr:first-child th")
    browser.run("document.querySelector('.table').scrollLeft = 200")
    assert browser.run("return document.querySelector('.table').scrollLeft") == 200
    assert boxes(browser, "tbody tr:first-child th") == [before]


def test_the_headings_of_a_long_table_stay_in_view(opened: Opened) -> None:
    browser = opened(report(section(subjects())))
    browser.run("document.querySelector('.table').scrollTop = 500")
    (table,), (heading, *_) = boxes(browser, ".table"), boxes(browser, "thead th")
    assert heading["top"] == pytest.approx(table["top"], abs=1)


# ---------------------------------------------------------------- plots


def place(browser: Browser, value: float, first: str, second: str) -> float:
    """Return the position of a value, from the positions of two axis labels."""
    ticks = boxes(browser, "thead th.plot text")
    labels = dict(zip(browser.texts("thead th.plot text"), ticks, strict=True))
    low, high = (
        float(label.replace("−", "-").replace("+", "")) for label in (first, second)
    )
    start, end = labels[first]["x"], labels[second]["x"]
    return start + (value - low) / (high - low) * (end - start)


@pytest.mark.parametrize("width", [320, 1280])
def test_a_dot_for_every_value_stands_where_the_axis_says(
    opened: Opened, width: int
) -> None:
    browser = opened(report(section(dots())), width=width)
    # By row: both series, both series, and only one.
    values = [41, 71, 62, 75, 30]
    found = boxes(browser, "tbody circle")
    assert len(found) == len(values)
    for dot, value in zip(found, values, strict=True):
        assert dot["x"] == pytest.approx(place(browser, value, "40", "60"), abs=1)


def test_an_interval_is_a_line_from_end_to_end(opened: Opened) -> None:
    browser = opened(report(section(dots())))
    found = boxes(browser, "tbody line.span")
    expected = [(35, 47), (55, 68), (70, 80)]
    assert len(found) == len(expected)
    for line, ends in zip(found, expected, strict=True):
        for side, value in zip(("left", "right"), ends, strict=True):
            # A line's end adds at most half a stroke.
            assert line[side] == pytest.approx(
                place(browser, value, "40", "60"), abs=1.5
            )


def test_series_have_a_colour_each_and_a_key_of_it_in_their_headings(
    opened: Opened,
) -> None:
    browser = opened(report(section(dots())))
    colour = (
        "return [...document.querySelectorAll(arguments[0])]"
        ".map(e => getComputedStyle(e)[arguments[1]])"
    )
    first, second = browser.run(colour, "thead i", "backgroundColor")
    assert first != second
    assert browser.run(colour, "tbody circle", "fill") == [first, second] * 2 + [first]
    named = [heading.text for heading in browser.all("thead th:has(i)")]
    assert named == ["粵語大模型-7B %", "GPT-4o %"]


def test_one_series_alone_needs_no_key(opened: Opened) -> None:
    made = dots()
    alone = TableBlock(
        "one", "T", made.columns[:3], [TableRow(row.values[:3]) for row in made.rows]
    )
    browser = opened(report(section(alone)))
    assert len(browser.all("tbody circle")) == 3
    assert not browser.all("thead i")


def test_a_run_is_told_apart_from_the_papers_models(opened: Opened) -> None:
    columns = [TableColumn("Model"), TableColumn("Accuracy", "percent", drawn=True)]
    rows = [
        TableRow(["mine", 0.5], "run"),
        TableRow(["theirs", 0.4], "published"),
        TableRow(["all", 1], "human"),
    ]
    browser = opened(report(section(TableBlock("t", "T", columns, rows))))
    fill = "return [...document.querySelectorAll('tbody circle')].map(e => getComputedStyle(e).fill)"
    assert len(set(browser.run(fill))) == 3
    own, *others = (
        box["right"] - box["left"] for box in boxes(browser, "tbody circle")
    )
    assert own > max(others)


@pytest.mark.parametrize(("unit", "zero"), [("points", True), ("percent", False)])
def test_differences_have_a_line_where_there_is_none(
    opened: Opened, unit: DisplayUnit, zero: bool
) -> None:
    browser = opened(report(section(dots(unit))))
    lines = boxes(browser, "tbody line.zero")
    assert len(lines) == (3 if zero else 0)
    for line in lines:
        assert line["x"] == pytest.approx(place(browser, 0, "0", "+50"), abs=1)


@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.parametrize("unit", ["percent", "points", "p"])
def test_nothing_of_a_plot_is_outside_its_cell(
    opened: Opened, unit: DisplayUnit, width: int
) -> None:
    browser = opened(report(section(dots(unit))), width=width)
    cells = boxes(browser, "tbody td.plot")
    for row, cell in enumerate(cells, 1):
        drawn = f"tbody tr:nth-child({row}) td.plot svg :is(circle, line)"
        assert all(contained(each, cell) for each in boxes(browser, drawn))
    (heading,) = boxes(browser, "thead th.plot")
    assert all(
        contained(each, heading) for each in boxes(browser, "thead th.plot text")
    )


def test_labels_of_an_axis_do_not_run_into_each_other(opened: Opened) -> None:
    for unit in ("percent", "points", "p"):
        browser = opened(report(section(dots(unit))), width=320)
        labels = boxes(browser, "thead th.plot text")
        assert len(labels) >= 2
        assert all(left["right"] < right["left"] for left, right in pairwise(labels))


def test_what_is_drawn_is_hidden_from_screen_readers_which_have_the_figures(
    opened: Opened,
) -> None:
    browser = opened(report(section(dots())))
    drawn = "[...document.querySelectorAll('circle, line, svg text')]"
    assert browser.run(f"return {drawn}.every(e => e.closest('[aria-hidden=true]'))")
    assert browser.texts("tbody tr:nth-child(1) td.number") == [
        "90",
        "41.0 [35.0, 47.0]",
        "71.0",
    ]


@pytest.mark.parametrize("values", [[0.5], [0.5, 0.5], [0.0], [None, 0.3], [1e-9, 1e9]])
def test_any_numbers_can_be_drawn(
    opened: Opened, values: Sequence[float | None]
) -> None:
    odd = [*values, float("nan"), float("inf")]
    rows = [TableRow([str(place), value]) for place, value in enumerate(odd)]
    ends = Estimate(0.5, float("-inf"), float("nan"), 2)
    columns = [TableColumn("x"), TableColumn("y", "number", drawn=True)]
    browser = opened(
        report(
            section(TableBlock("t", "T", columns, [*rows, TableRow(["ends", ends])]))
        )
    )
    assert (
        len(browser.all("tbody circle"))
        == sum(value is not None for value in values) + 1
    )
    assert not browser.all("tbody line.span")
    assert browser.complaints() == []


def test_without_a_number_there_is_no_plot(opened: Opened) -> None:
    columns = [TableColumn("Model"), TableColumn("Score", "percent", drawn=True)]
    browser = opened(
        report(section(TableBlock("t", "T", columns, [TableRow(["a", None])])))
    )
    assert not browser.all(".plot")


# ---------------------------------------------------------------- the first view


@pytest.mark.parametrize("tasks", [(), ("hkcanto_cultural",)])
def test_no_table_of_the_first_section_scrolls_sideways_on_a_wide_screen(
    opened: Opened, tasks: Sequence[str]
) -> None:
    browser = opened(results(*tasks), 1440, height=900)
    script = (
        "return [...document.querySelectorAll('.first .table')]"
        ".map(e => e.scrollWidth - e.clientWidth)"
    )
    assert set(browser.run(script)) == {0}


# ---------------------------------------------------------------- print


def test_the_names_of_a_header_are_printed_again_on_every_page(opened: Opened) -> None:
    browser = opened(report(section(subjects())))
    browser.prefer("light", "print")
    # Chromium prints no button in a repeated header; with `contents`, it prints its text.
    shown = (
        "return [...document.querySelectorAll('thead button')]"
        ".map(each => getComputedStyle(each).display)"
    )
    assert set(browser.run(shown)) == {"contents"}


def test_on_paper_headings_keep_their_text_and_what_is_to_be_clicked_is_gone(
    opened: Opened,
) -> None:
    browser = opened(rich_report(), 1040)
    browser.prefer("light", "print")
    headings = browser.all("#table-scores thead th")
    assert [heading.text for heading in headings][:3] == [
        "Model",
        "Accuracy %",
        "CER %",
    ]
    for heading in headings:
        (button,) = heading.find_elements("css selector", "button")
        arrow = "return getComputedStyle(arguments[0], '::after').display"
        assert browser.run(arrow, button) == "none"
    for selector in ("nav", "#theme", ".filter", ".skip"):
        assert not any(element.is_displayed() for element in browser.all(selector))


@pytest.mark.parametrize("made", [rich_report, results, lambda: results("hkmmlu")])
def test_on_paper_no_table_is_wider_than_the_page(
    opened: Opened, made: Callable[[], Report]
) -> None:
    browser = opened(made(), 1040)
    browser.prefer("light", "print")
    (body,) = boxes(browser, "body")
    for table in boxes(browser, "table"):
        assert table["right"] <= body["right"] + 1


def test_on_paper_a_long_table_is_whole_and_black_on_white(opened: Opened) -> None:
    browser = opened(report(section(subjects())), 1040, "dark")
    browser.prefer("dark", "print")
    (table,), rows = boxes(browser, ".table"), boxes(browser, "tbody tr")
    assert all(contained(row, table) for row in rows)
    assert browser.run("return getComputedStyle(document.body).colorScheme") == "light"


# ---------------------------------------------------------------- hostile text


def test_hostile_text_neither_runs_nor_becomes_part_of_the_page(
    opened: Opened, tmp_path: Path
) -> None:
    browser = opened(hostile_report())
    assert browser.run("return typeof window.pwned") == "undefined"
    assert browser.all("img") == []
    assert browser.run("return document.scripts.length") == 1  # the page's own
    assert browser.find("h1").text.startswith(
        "</td></table></script><script>window.pwned=1"
    )
    assert "{{ 7*7 }}" in browser.find("h1").text
    assert browser.complaints() == []
    assert browser.requests() == {(tmp_path / "report.html").as_uri()}


def test_the_policy_would_stop_a_script_even_if_escaping_failed(
    opened: Opened, browser: Browser, tmp_path: Path
) -> None:
    opened(report(section(scores())))
    page = tmp_path / "report.html"
    injected = "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 2'>"
    page.write_text(
        page.read_text("utf-8").replace("<main", f"{injected}<main"), "utf-8"
    )
    browser.open(page)
    assert browser.run("return typeof window.pwned") == "undefined"
    assert any("Content Security Policy" in line for line in browser.complaints())
