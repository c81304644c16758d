"""A page of real runs, of the tiny model and rule engines in both harnesses, in a real browser."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hkcanto_tasks.cli import app
from hkcanto_tasks.results.example import run_example

from ..reports.browser import Browser, chromium

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.browser]


@pytest.fixture(scope="module")
def engines(lean_path: str) -> Path:
    """Both rule engines on the sample data, one in each harness."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", lean_path)
        return run_example()


@pytest.fixture(scope="module")
def page(
    engines: Path,
    lm_eval_logs_of_model: Path,
    inspect_logs_of_model: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    output = tmp_path_factory.mktemp("report") / "report.html"
    runs = (str(engines), str(lm_eval_logs_of_model), str(inspect_logs_of_model))
    done = CliRunner().invoke(app, ["report", *runs, "-o", str(output)])
    assert done.exit_code == 0, done.output
    return output


@pytest.fixture(scope="module")
def browser(page: Path) -> Iterator[Browser]:
    with chromium() as started:
        started.open(page)
        yield started


def test_every_figure_equals_that_of_the_harness(page: Path) -> None:
    text = page.read_text("utf-8")
    (equal,) = re.findall(r"([\d,]+) figures equal those of the harnesses", text)
    assert int(equal.replace(",", "")) > 60
    assert "unlike the harness" not in text


def test_the_page_loads_without_complaint_or_request(
    browser: Browser, page: Path
) -> None:
    assert browser.complaints() == []
    assert browser.requests() == {page.as_uri()}


def test_plots_are_drawn(browser: Browser) -> None:
    assert len(browser.all("td.plot")) >= 5
    assert len(browser.all("td.plot circle")) >= 5


def test_the_results_can_be_sorted(browser: Browser) -> None:
    browser.run(
        "for (const each of document.querySelectorAll('details')) each.open = true"
    )
    heading = browser.find("#table-runs thead th:nth-child(1)")
    heading.find_element("css selector", "button").click()
    assert heading.get_attribute("aria-sort") in ("ascending", "descending")
    names = browser.texts("#table-runs tbody tr th > bdi")
    assert len(names) > 2
    assert names == sorted(names, key=str.casefold)


def test_a_phone_is_wide_enough(browser: Browser, page: Path) -> None:
    browser.open(page, width=320)
    assert browser.run("return document.scrollingElement.scrollWidth") == 320
    assert browser.complaints() == []
