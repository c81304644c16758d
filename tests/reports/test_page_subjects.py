"""The pages of `report` and `compare` in a browser: subjects, categories, verdicts."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from hkcanto_tasks.cli import app
from hkcanto_tasks.results import logs
from hkcanto_tasks.results.reports import verdicts
from hkcanto_tasks.results.reports.blocks import Column, Row, Table
from hkcanto_tasks.results.reports.renderers import render
from hkcanto_tasks.results.runs import Run
from hkcanto_tasks.results.statistics.intervals import Estimate

from .browser import Browser, chromium
from .many import many
from .sample_report import report, section
from .test_page import boxes, page_width, place

pytestmark = pytest.mark.browser

Opened = Callable[..., Browser]
NAMES = ["gemma-3-270m", "Qwen2.5-7B-Instruct", "粵語大模型-7B", "Llama-3.1-8B"]
NAMES += [f"made-up-model-{place}" for place in range(5, 17)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def opened(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opened:
    """Return a function that calls a command on runs and opens the written page."""

    def call(command: str, runs: Sequence[Run], width: int = 1440, *options: str) -> Browser:
        labels = [*dict.fromkeys(run.label for run in runs)]
        places = [labels.index(run.label) for run in runs]
        read = SimpleNamespace(runs=runs, places=places, skipped=[])
        for module in (logs, verdicts):
            monkeypatch.setattr(module, "read_runs", lambda *_, **__: read)
        page = tmp_path / "page.html"
        done = CliRunner().invoke(app, [command, "logs", "-o", str(page), *options])
        assert done.exit_code in (0, 1), done.output
        browser.open(page, width, height=900)
        return browser

    return call


@pytest.fixture(scope="module")
def sixteen() -> list[Run]:
    return many(NAMES, ["hkmmlu"], limit=20)


# ---------------------------------------------------------------- a heat map of subjects

MAP = ".table:has(.scaled)"


@pytest.mark.parametrize("count", [3, 16])
def test_sixty_six_subjects_of_many_models_are_one_screen(
    opened: Opened, sixteen: Sequence[Run], count: int
) -> None:
    browser = opened("report", sixteen[:count])
    (table,) = boxes(browser, f"#subjects-hkmmlu-0-shot {MAP} table :is(thead, tbody)")[:1]
    rows = boxes(browser, f"#subjects-hkmmlu-0-shot {MAP} tbody tr")
    assert len(rows) == 66
    assert rows[-1]["bottom"] - table["top"] <= 900
    assert len(browser.all(f"{MAP} td.scaled")) == 66 * count
    clipped = (
        f"return [...document.querySelectorAll('{MAP}, {MAP} :is(td, th)')]"
        ".filter(e => e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1)"
        ".map(e => e.textContent)"
    )
    assert browser.run(clipped) == []


def test_a_map_of_few_subjects_of_sixteen_models_is_not_wider_than_the_screen(
    opened: Opened,
) -> None:
    browser = opened("report", many(NAMES, ["hkcanto_cultural"]))
    (found,) = boxes(browser, "#table-subjects_hkcanto_cultural_5_shot table")
    (room,) = boxes(browser, "#table-subjects_hkcanto_cultural_5_shot")
    assert found["right"] <= room["right"] + 1


def test_numbers_of_the_map_are_read_without_a_lens(opened: Opened, sixteen: Sequence[Run]) -> None:
    browser = opened("report", sixteen)
    size = (
        f"return parseFloat(getComputedStyle(document.querySelector('{MAP} td.scaled')).fontSize)"
    )
    assert browser.run(size) >= 10


def test_a_cell_of_the_map_is_coloured_from_chance_and_has_its_interval_on_hover(
    opened: Opened, sixteen: Sequence[Run]
) -> None:
    browser = opened("report", sixteen)
    cells = browser.run(
        f"return [...document.querySelectorAll('{MAP} td.scaled')]"
        ".map(e => [e.textContent, Number(e.dataset.value), e.title, e.className])"
    )
    for text, value, interval, classes in cells:
        assert text == f"{100 * value:.1f}"
        low, high = map(float, interval.strip("[] †").split(", "))
        assert low - 0.05 <= 100 * value <= high + 0.05
        # Twenty steps from 25 % up: questions have four options.
        step = max(0.0, (value - 0.25) / 0.75 * 20)
        assert abs(int(classes.split(" s")[-1]) - step) <= 0.5


def test_on_paper_neither_map_nor_plots_are_wider_than_the_page(
    opened: Opened, sixteen: Sequence[Run]
) -> None:
    browser = opened("report", sixteen)
    browser.resize(1032)  # A4 landscape within margins of 12 mm
    browser.prefer("light", "print")
    (room,) = boxes(browser, "#subjects-hkmmlu-0-shot")
    for found in boxes(browser, "#subjects-hkmmlu-0-shot table"):
        assert found["right"] <= room["right"] + 1


@pytest.mark.parametrize("width", [360, 768])
def test_on_a_narrow_screen_nothing_but_the_map_itself_scrolls_sideways(
    opened: Opened, sixteen: Sequence[Run], width: int
) -> None:
    assert page_width(opened("report", sixteen, width)) <= width


# ---------------------------------------------------------------- a small plot for each category


@pytest.mark.parametrize("width", [360, 768, 1440])
def test_each_category_is_a_small_plot_of_all_models(
    opened: Opened, sixteen: Sequence[Run], width: int
) -> None:
    browser = opened("report", sixteen, width)
    panels = browser.run(
        """return [...document.querySelectorAll('.panels table')].map(table => {
          const box = e => e.getBoundingClientRect();
          const middle = e => (box(e).left + box(e).right) / 2;
          const height = e => (box(e).top + box(e).bottom) / 2;
          return {
            name: table.caption.querySelector('b').textContent,
            ticks: [...table.querySelectorAll('tfoot text')].map(e => [+e.textContent, middle(e)]),
            dots: [...table.querySelectorAll('circle')].map(e => [middle(e), height(e)]),
            rows: [...table.tBodies[0].rows].map(row => [
              +row.cells[1].textContent, height(row), row.cells[1].title]),
            cut: [...table.querySelectorAll('th')].filter(e =>
              e.scrollWidth > e.clientWidth).map(e => e.textContent),
            outside: [...table.querySelectorAll('circle, .span, td.number')].filter(e =>
              box(e).left < box(table).left - 1 || box(e).right > box(table).right + 1).length,
          }})"""
    )
    assert [panel["name"] for panel in panels] == [
        *("All questions", "Mean over subjects", "STEM", "Social sciences", "Humanities", "Other"),
        *("HKDSE", "Hong Kong-specific"),
    ]
    for panel in panels:
        assert (panel["outside"], panel["cut"]) == (0, [])
        assert len(panel["dots"]) == len(panel["rows"]) == 16
        (first, start), *_, (last, end) = panel["ticks"]
        for (x, y), (value, height, interval) in zip(panel["dots"], panel["rows"], strict=True):
            # The number has one decimal.
            expected = start + (value - first) / (last - first) * (end - start)
            assert x == pytest.approx(expected, abs=1)
            assert y == pytest.approx(height, abs=1)
            assert interval.startswith("[")


def test_all_small_plots_have_one_axis(opened: Opened, sixteen: Sequence[Run]) -> None:
    browser = opened("report", sixteen)
    axes = browser.run(
        "return [...document.querySelectorAll('.panels tfoot')].map(e => e.textContent.trim())"
    )
    assert len(set(axes)) == 1


@pytest.mark.parametrize("count", [1, 2])
def test_one_or_two_models_are_dots_beside_their_numbers(
    opened: Opened, sixteen: Sequence[Run], count: int
) -> None:
    browser = opened("report", sixteen[:count])
    assert not browser.all(f".panels, {MAP}")
    assert len(browser.all("#table-subjects_hkmmlu_0_shot circle")) == 66 * count


def test_the_differences_of_two_models_are_one_screen_from_best_to_worst(
    opened: Opened, sixteen: Sequence[Run]
) -> None:
    browser = opened("report", sixteen[:2])
    own = "#table-subject_differences_hkmmlu_0_shot"
    rows, dots = boxes(browser, f"{own} tbody tr"), boxes(browser, f"{own} circle")
    assert len(rows) == len(dots) == 66
    assert rows[-1]["bottom"] - rows[0]["top"] <= 900
    places = [dot["x"] for dot in dots]
    assert places == sorted(places, reverse=True)


# ---------------------------------------------------------------- comparisons


@pytest.mark.parametrize("options", [(), ("--gate", "2")])
@pytest.mark.parametrize("width", [360, 1440])
def test_the_verdict_is_first_and_the_warnings_after_it_are_smaller(
    opened: Opened, width: int, options: Sequence[str]
) -> None:
    runs = many(NAMES[:2], ["hkcanto_cultural"], limit=3)
    browser = opened("compare", runs, width, *options)
    notes = browser.run(
        """return [...document.querySelectorAll('main > section:first-child > *')].map(e =>
          [e.className, parseFloat(getComputedStyle(e).fontSize), e.getBoundingClientRect().top])
          .slice(1)"""
    )
    (first, size, top), *others = notes
    assert first == "note verdict"
    warnings = [own for own in others if "warning" in own[0]]
    assert warnings
    assert all(own < size and at > top for _, own, at in warnings)
    assert size > browser.run("return parseFloat(getComputedStyle(document.body).fontSize)")
    assert page_width(browser) <= width


def test_several_tasks_have_one_verdict_first(opened: Opened) -> None:
    runs = many(NAMES[:2], ["hkcanto_cultural", "hkcanto_law"])
    browser = opened("compare", runs)
    (said,) = browser.texts("section.first .verdict")
    assert said.startswith("Qwen2.5-7B-Instruct leads on ")
    assert " of 2 tasks, gemma-3-270m " in said
    assert len(browser.all("section.first tbody tr")) == 2


# ---------------------------------------------------------------- the range of an axis


def differences(*rows: tuple[float, float, float]) -> Table:
    """Differences in points with their intervals."""
    made = [
        Row([str(place), Estimate(value / 100, low / 100, high / 100, 9)])
        for place, (value, low, high) in enumerate(rows)
    ]
    return Table("d", "D", [Column("Part"), Column("Difference", "points", drawn=True)], made)


def drawn(browser: Browser, tmp_path: Path, table: Table, width: int = 1280) -> None:
    page = tmp_path / "table.html"
    page.write_text(render(report(section(table)), "html"), encoding="utf-8")
    browser.open(page, width)


def test_an_axis_is_as_long_as_what_is_on_it(browser: Browser, tmp_path: Path) -> None:
    drawn(browser, tmp_path, differences((3, -47, 55)))
    assert browser.texts("thead .plot text") == ["−25", "0", "+25", "+50"]
    (line,), (svg, *_) = boxes(browser, "tbody .span"), boxes(browser, "tbody .plot svg")
    assert line["right"] - line["left"] >= 0.85 * (svg["right"] - svg["left"])


@pytest.mark.parametrize("width", [320, 1280])
def test_a_far_out_interval_ends_in_an_arrow_and_squeezes_no_other(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    """The lower ends have quartiles −3 and 0, the upper ones 5 and 8: 90 is an outlier."""
    own = [(2, -2, 6), (3, 0, 8), (1, -3, 5), (4, 0, 8), (0, -5, 5), (10, -70, 90)]
    drawn(browser, tmp_path, differences(*own), width)
    lines, dots = boxes(browser, "tbody .span"), boxes(browser, "tbody circle")
    cells = boxes(browser, "tbody td.plot")
    for (value, low, high), line, dot in zip(own, lines, dots, strict=True):
        assert dot["x"] == pytest.approx(place(browser, value, "0", "+5"), abs=1)
        if low > -70:
            assert line["left"] == pytest.approx(place(browser, low, "0", "+5"), abs=1.5)
            assert line["right"] == pytest.approx(place(browser, high, "0", "+5"), abs=1.5)
    assert browser.texts("tbody .beyond") == ["‹", "›"]
    for arrow in boxes(browser, "tbody .beyond"):
        assert cells[-1]["left"] <= arrow["left"] <= arrow["right"] <= cells[-1]["right"]
    assert lines[-1]["left"] < min(line["left"] for line in lines[:-1]) - 2
    # The text gives what the plot leaves out.
    assert "[−70.0, +90.0]" in browser.texts("tbody tr:last-child td.number")[0].replace("\n", " ")


def test_a_dot_is_on_the_axis_however_far_out_it_is(browser: Browser, tmp_path: Path) -> None:
    own = [(1, 0, 2), (2, 1, 3), (1, 0, 2), (2, 1, 3), (60, 59, 61)]
    drawn(browser, tmp_path, differences(*own))
    (cell, *_) = boxes(browser, "tbody td.plot")
    for dot, (value, *_) in zip(boxes(browser, "tbody circle"), own, strict=True):
        assert dot["x"] == pytest.approx(place(browser, value, "0", "+50"), abs=1)
        assert cell["left"] <= dot["left"] <= dot["right"] <= cell["right"]
