"""The page of a report in a real browser: it draws, sorts, fits and keeps hostile text harmless."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from hkcanto_tasks.reports.blocks import Note, Report
from hkcanto_tasks.reports.renderers import render
from hkcanto_tasks.reports.renderers.page import TEXT_LIMIT

from .browser import Browser, chromium
from .sample_report import (
    HOSTILE,
    bars,
    heat_map,
    hostile_report,
    items,
    report,
    rich_report,
    scores,
    section,
    subjects,
)

pytestmark = pytest.mark.browser

Opened = Callable[..., Browser]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Opened:
    """Return a function that renders a report and opens it from the disk."""

    def open_page(made: Report, width: int = 1280, scheme: str = "light") -> Browser:
        page = tmp_path / "report.html"
        page.write_text(render(made, "html"), encoding="utf-8")
        browser.open(page, width, scheme)
        return browser

    return open_page


def models(browser: Browser) -> list[str]:
    return browser.texts("tbody th bdi")


def test_a_page_loads_without_a_word_in_the_console_and_asks_the_network_for_nothing(
    opened: Opened, tmp_path: Path
) -> None:
    browser = opened(rich_report())
    assert browser.complaints() == []
    assert browser.requests() == {(tmp_path / "report.html").as_uri()}


def test_every_chart_is_drawn_with_a_mark_for_every_value(opened: Opened) -> None:
    browser = opened(report(section(bars(), heat_map())))
    assert len(browser.all("figure svg")) == 2
    # Four bars, and 66 subjects × 5 models; a bar's path is in the group of its mark.
    assert len(browser.all("figure:nth-of-type(1) .mark-rect.role-mark path")) == 4
    assert len(browser.all("figure:nth-of-type(2) .mark-rect.role-mark path")) == 66 * 5


def test_a_chart_can_be_saved_as_a_picture(opened: Opened) -> None:
    browser = opened(report(section(bars())))
    browser.run(
        "window.saved = [];"
        "HTMLAnchorElement.prototype.click = function () {"
        "  window.saved.push([this.download, this.href.split(/[:,;]/)[0]]) }"
    )
    for button in browser.all("figcaption button"):
        button.click()
    browser.wait("return window.saved.length === 2")
    names = sorted(name for name, _ in browser.run("return window.saved"))
    assert names == ["Accuracy by category.png", "Accuracy by category.svg"]
    assert browser.complaints() == []


def test_a_page_without_charts_carries_no_chart_library() -> None:
    without = render(report(section(scores())), "html")
    assert len(without) < 100_000 < len(render(report(section(bars())), "html"))


def test_the_page_of_66_subjects_and_five_models_stays_under_two_megabytes() -> None:
    assert len(render(rich_report(), "html").encode()) < 2_000_000


def test_a_column_of_figures_sorts_from_the_best_then_the_worst_then_as_it_was(
    opened: Opened,
) -> None:
    browser = opened(report(section(scores())))
    as_it_was = ["Claude 3.7", "GPT-4o", "粵語大模型-7B", "Human", "Chance"]
    assert models(browser) == as_it_was
    header = browser.all("thead th")[1]
    header.find_element("tag name", "button").click()
    assert header.get_attribute("aria-sort") == "descending"
    assert models(browser) == ["Human", "GPT-4o", "Claude 3.7", "粵語大模型-7B", "Chance"]
    header.find_element("tag name", "button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    assert models(browser) == ["Chance", "粵語大模型-7B", "Claude 3.7", "GPT-4o", "Human"]
    header.find_element("tag name", "button").click()
    assert header.get_attribute("aria-sort") is None
    assert models(browser) == as_it_was


def test_missing_figures_come_last_in_both_orders_and_equals_keep_their_order(
    opened: Opened,
) -> None:
    browser = opened(report(section(scores())))
    # Lower is better: 8.1, 9.2, 12.5, then the human and the random row, which have none.
    button = browser.all("thead th")[2].find_element("tag name", "button")
    button.click()
    ascending = ["Claude 3.7", "GPT-4o", "粵語大模型-7B", "Human", "Chance"]
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


def test_a_long_table_can_be_filtered_and_a_short_one_needs_no_filter(opened: Opened) -> None:
    browser = opened(report(section(scores(), subjects())))
    (field,) = browser.all(".filter input")
    field.send_keys("科目6")
    shown = "return [...document.querySelectorAll('.long tbody tr')].filter(r => !r.hidden).length"
    # 6, and 60 to 65.
    browser.wait(f"{shown} === 7")
    assert browser.find(".filter output").text == "7 of 66 rows"


@pytest.mark.parametrize("made", [rich_report, hostile_report])
def test_nothing_but_tables_and_charts_scrolls_sideways_on_a_phone(
    opened: Opened, made: Callable[[], Report]
) -> None:
    browser = opened(made(), width=320)
    assert browser.run("return document.scrollingElement.scrollWidth") <= 320
    for svg in browser.all("figure svg"):
        assert svg.size["width"] <= 320


def test_the_first_column_stays_in_view_while_a_table_scrolls(opened: Opened) -> None:
    browser = opened(report(section(subjects())), width=320)
    place = "return arguments[0].getBoundingClientRect().left"
    name = browser.find("tbody th")
    before = browser.run(place, name)
    browser.run("document.querySelector('.table').scrollLeft = 200")
    assert browser.run("return document.querySelector('.table').scrollLeft") == 200
    assert browser.run(place, name) == before


def test_the_page_and_its_charts_follow_the_readers_colour_scheme(opened: Opened) -> None:
    browser = opened(report(section(bars())))
    background = "return getComputedStyle(document.body).backgroundColor"
    axis = "return document.querySelector('figure svg .role-axis-label text').getAttribute('fill')"
    light = browser.run(background), browser.run(axis)
    browser.prefer("dark")
    browser.wait(lambda: browser.run(axis) != light[1])
    dark = browser.run(background), browser.run(axis)
    assert light[0] != dark[0]
    browser.find("#theme").click()
    browser.wait(lambda: browser.run(axis) == light[1])
    assert (browser.run(background), browser.run(axis)) == light
    assert browser.complaints() == []


def test_charts_are_drawn_anew_at_a_new_width(opened: Opened) -> None:
    browser = opened(report(section(bars())))
    assert browser.find("figure svg").size["width"] > 320
    browser.resize(320)
    browser.wait("return document.querySelector('figure svg').getBoundingClientRect().width < 320")


def test_hostile_text_neither_runs_nor_becomes_part_of_the_page(
    opened: Opened, tmp_path: Path
) -> None:
    browser = opened(hostile_report())
    for details in browser.all(".items details"):
        details.click()
    assert browser.run("return typeof window.pwned") == "undefined"
    assert browser.all("img") == []
    scripts = browser.run("return [...document.scripts].map(s => s.type)")
    # One chart and one view of answers, as data; then the library and the page's own script.
    assert scripts == ["application/json", "application/json", "", ""]
    assert browser.find("h1").text.startswith("</td></table></script><script>window.pwned=1")
    assert "{{ 7*7 }}" in browser.find("h1").text
    assert "<script>window.pwned=1" in browser.find(".items pre").text
    assert browser.complaints() == []
    assert browser.requests() == {(tmp_path / "report.html").as_uri()}


def test_the_policy_would_stop_a_script_even_if_escaping_failed(
    opened: Opened, browser: Browser, tmp_path: Path
) -> None:
    opened(report(section(scores())))
    page = tmp_path / "report.html"
    injected = "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 2'>"
    page.write_text(page.read_text("utf-8").replace("<main", f"{injected}<main"), "utf-8")
    browser.open(page)
    assert browser.run("return typeof window.pwned") == "undefined"
    assert any("Content Security Policy" in line for line in browser.complaints())


def test_answers_are_filtered_searched_and_turned_over_fifty_at_a_time(opened: Opened) -> None:
    browser = opened(report(section(items(120))))
    count, pages = ".items .filter output", ".pages span"
    rows = ".items tbody tr:not(.texts)"
    assert browser.find(count).text == "120 of 120 answers"
    assert len(browser.all(rows)) == 50
    browser.all(".pages button")[1].click()
    assert browser.find(pages).text == "51–100 of 120"
    # By hand: items 0, 3, 6, … are right, 80 of 120 wrong; every other one is the first model's.
    *_, correctness = selects = browser.all(".items select")
    Select(correctness).select_by_visible_text("wrong")
    assert browser.find(count).text == "80 of 120 answers"
    assert browser.find(pages).text == "1–50 of 80"
    Select(selects[0]).select_by_index(1)
    assert browser.find(count).text == "40 of 120 answers"
    browser.find(".items input").send_keys("question 118:")
    browser.wait(lambda: browser.find(count).text == "1 of 120 answers")
    assert browser.texts(f"{rows} th") == ["hkmmlu/hk_law/118"]
    assert browser.texts(f"{rows} td")[-1] == "✗ wrong"


def test_the_texts_of_an_answer_enter_the_page_when_they_are_opened(opened: Opened) -> None:
    browser = opened(report(section(items(1))))
    assert browser.all(".items pre") == []
    response, prompt = browser.all(".items summary")
    prompt.click()
    browser.wait("return document.querySelector('.items pre')")
    assert browser.texts(".items pre") == ["Question 0: 香港嘅首都係邊度？"]
    assert browser.find(".items pre").get_attribute("lang") == "zh-HK"
    response.click()
    browser.wait("return document.querySelectorAll('.items pre').length === 2")


def test_a_line_of_a_megabyte_is_cut_and_wrapped(opened: Opened) -> None:
    browser = opened(report(section(items(1, "x" * 1_000_000))), width=320)
    browser.find(".items summary").click()
    browser.wait("return document.querySelector('.items pre')")
    text = browser.run("return document.querySelector('.items pre').textContent")
    left_out = len("Answer 0: ") + 1_000_000 - TEXT_LIMIT
    assert text.endswith(f"x… ({left_out:,} more characters)")
    assert browser.run("return document.scrollingElement.scrollWidth") <= 320


def test_a_page_with_answers_says_first_that_it_must_not_be_published(opened: Opened) -> None:
    browser = opened(report(section(items(1))))
    assert browser.find("section > h2 + aside").text.startswith("Warning. Do not publish")


def test_the_page_is_built_for_screen_readers(opened: Opened) -> None:
    browser = opened(hostile_report())
    assert browser.find("html").get_attribute("lang") == "en"
    levels = [int(heading.tag_name[1]) for heading in browser.all("h1, h2, h3, h4, h5, h6")]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for table in browser.all("table"):
        assert table.find_elements("css selector", "caption")
        assert not table.find_elements("css selector", "th:not([scope])")
    for field in browser.all("input, select"):
        assert browser.run("return arguments[0].labels.length", field) == 1
    for control in browser.all("button, summary, a"):
        assert browser.run("return arguments[0].textContent.trim()", control)
    ids = browser.run("return [...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    refer = "[aria-labelledby], [aria-describedby]"
    for element in browser.all(refer):
        for attribute in ("aria-labelledby", "aria-describedby"):
            assert (element.get_attribute(attribute) or ids[0]) in ids
    (drawing,) = browser.all("[role=img]")
    described = drawing.get_attribute("aria-describedby")
    assert browser.find(f"#{described}").text == "GPT-4o leads in both categories, more so in STEM."


def test_chinese_is_marked_as_such_for_fonts_and_voices(opened: Opened) -> None:
    browser = opened(report(section(scores())))
    names = browser.all("tbody th bdi")
    languages = {name.text: name.get_attribute("lang") for name in names}
    assert languages["粵語大模型-7B"] == "zh-HK"
    assert not languages["GPT-4o"]


def test_contents_lead_to_the_sections_and_fold_away_on_a_phone(opened: Opened) -> None:
    made = report(section(scores()), section(Note("A remark."), name="remarks"))
    browser = opened(made, width=320)
    assert not browser.find("nav a").is_displayed()
    browser.find("nav summary").click()
    browser.all("nav a")[1].click()
    assert browser.driver.current_url.endswith("#remarks")
    assert opened(made).find("nav a").is_displayed()


def test_without_javascript_tables_and_notes_are_still_there(
    browser: Browser, opened: Opened
) -> None:
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        opened(report(section(Note(HOSTILE), scores())))
        assert len(browser.all("tbody tr")) == 5
        assert "window.pwned" in browser.find("aside").text
        assert not browser.find("#theme").is_displayed()
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
