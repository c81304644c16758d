"""The pages of a board in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.support.ui import Select

from ..reports.browser import Browser, chromium
from .conftest import Board, Results, made_records

pytestmark = pytest.mark.browser

PAGES = ("index.html", "tasks/hkmmlu.html", "models/org--tuned-7b.html", "papers/hkmmlu_1.html")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def site(results: Results, board: Board) -> Path:
    """A board of six models, two of them checkpoints."""
    for place, model in enumerate([*made_records.names(5), "org/tuned-7b@step2000"]):
        for task in ("hkcanto_cultural", "hkmmlu"):
            results.add(model, task, 0.3 + place / 10, day=41 * place)
    return board(results.folder).site


def shown(browser: Browser) -> list[str]:
    """Return the names of the rows that are shown."""
    names: list[str] = browser.run(
        "return [...document.querySelectorAll('#table-matrix tbody tr')]"
        ".filter(row => row.offsetParent).map(row => row.cells[0].innerText.split('\\n')[0])"
    )
    return names


def choose(browser: Browser, label: str, value: str) -> None:
    (element,) = [
        each.find_element("css selector", "select")
        for each in browser.all(".filter label")
        if each.text.startswith(label)
    ]
    Select(element).select_by_visible_text(value)


def test_pages_load_nothing_say_nothing_and_fit_a_phone(browser: Browser, site: Path) -> None:
    for path in PAGES:
        for scheme in ("light", "dark"):
            browser.open(site / path, 360, scheme, 740)
            assert browser.complaints() == []
            assert browser.requests() == {(site / path).as_uri()}
            width = browser.run("return document.scrollingElement.scrollWidth")
            assert width <= 360, (path, width)


def test_dark_is_dark_on_every_page(browser: Browser, site: Path) -> None:
    script = "return getComputedStyle(document.body).backgroundColor"
    for path in PAGES:
        browser.open(site / path, scheme="light")
        light = browser.run(script)
        browser.prefer("dark")
        assert browser.run(script) != light


def test_models_are_filtered_by_size_weights_and_month(browser: Browser, site: Path) -> None:
    browser.open(site / "index.html")
    assert "org/model-2-7b" in shown(browser)
    choose(browser, "Size", "up to 3B")
    small = shown(browser)
    assert "org/model-0-270m" in small
    assert "Gemma 2 2B" in small
    assert "org/model-2-7b" not in small
    choose(browser, "Weights", "closed")
    assert [name for name in shown(browser) if "/" in name] == ["org/model-1-1.5b"]
    choose(browser, "Size", "all")
    choose(browser, "Weights", "all")
    choose(browser, "Run in", "2026-03")
    assert [name for name in shown(browser) if "/" in name] == ["org/model-2-7b"]


def test_a_benchmark_has_its_columns_and_models(browser: Browser, site: Path) -> None:
    browser.open(site / "index.html")
    choose(browser, "Benchmark", "TMMLU+")
    heads = [text for text in browser.texts("#table-matrix thead th") if text]
    assert any("TMMLU+" in text for text in heads)
    assert not any("HKMMLU" in text for text in heads)
    assert not [name for name in shown(browser) if "/" in name]
    assert shown(browser)


def test_a_reader_gets_from_the_board_to_a_model_and_a_task_and_back(
    browser: Browser, site: Path
) -> None:
    browser.open(site / "index.html")
    browser.run("document.querySelector('#table-matrix tr.run th a').click()")
    assert browser.find("h1").text == "org/tuned-7b"
    browser.run("document.querySelector('#table-results tbody a').click()")
    browser.wait("return location.pathname.includes('/tasks/')")
    browser.find(".site a").click()
    browser.wait("return location.pathname.endsWith('/index.html')")
    browser.run("document.querySelector('th[data-group] a.to').click()")
    browser.wait("return /tasks|papers/.test(location.pathname)")


def test_columns_sort_by_keyboard_though_their_headings_have_links(
    browser: Browser, site: Path
) -> None:
    browser.open(site / "index.html")
    script = (
        "const head = [...document.querySelectorAll('#table-matrix th[data-group]')]"
        ".find(each => each.innerText.includes('cultural') && each.innerText.includes('5-shot'));"
        "const button = head.querySelector('button'); button.focus(); button.click();"
        "return [head.getAttribute('aria-sort'), document.activeElement === button]"
    )
    assert browser.run(script) == ["descending", True]
    assert shown(browser)[0] == "org/tuned-7b@step2000"


def test_print_has_no_links_to_other_pages(browser: Browser, site: Path) -> None:
    browser.open(site / "index.html")
    browser.prefer("light", "print")
    hidden = (
        "return [...document.querySelectorAll('.site, .to, .filter')].every(e => !e.offsetParent)"
    )
    assert browser.run(hidden)
    browser.prefer("light")
