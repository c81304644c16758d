"""The layout of a report's page, with one to sixteen runs, at the widths of real screens."""

import base64
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from hkcanto_tasks.results.reports.renderers import render
from hkcanto_tasks.results.reports.summary import build_report

from .browser import Browser, chromium
from .many import TASKS, many
from .test_page import boxes, contained, page_width

pytestmark = pytest.mark.browser

SCREENS = {1440: 900, 1152: 800, 768: 1024, 360: 740}
LARGE = ("hkmmlu", "tmmluplus_gen")
MODELS = [
    "Qwen3-8B",
    "Qwen3-8B-tuned-canto",
    *(f"made-up-model-{n}" for n in range(3, 17)),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@cache
def html(models: int, limit: int, tasks: tuple[str, ...] = TASKS) -> str:
    """Return the page of models on tasks of three benchmarks.

    Without a limit, the large tasks have only a few items per subject, too, but claim to be whole.
    """
    names = MODELS[:models]
    if limit:
        runs = many(names, tasks, limit)
    else:
        runs = many(names, [each for each in tasks if each not in LARGE])
        large = many(names, [each for each in tasks if each in LARGE], 3)
        runs += [replace(run, limited=False) for run in large]
    return render(build_report(runs), "html")


def open_page(browser: Browser, text: str, folder: Path, width: int) -> None:
    page = folder / "report.html"
    page.write_text(text, "utf-8")
    browser.open(page, width, height=SCREENS[width])


FAULTS = """
const shown = (e) => e.checkVisibility() && e.getClientRects().length;
const all = (selector) => [...document.querySelectorAll(selector)].filter(shown);
const faults = [];
const say = (what, ...found) => faults.push(what + ': ' + found.map(
  (e) => `${e.tagName}.${e.className}#${e.id} ${e.textContent.trim().slice(0, 40)}`).join(' / '));
const blocks = all('h1, .made, nav, header > button, summary, .note, .table, .filter, dl');
blocks.forEach((a, place) => blocks.slice(place + 1).forEach((b) => {
  if (a.contains(b) || b.contains(a)) return;
  const [x, y] = [a.getBoundingClientRect(), b.getBoundingClientRect()];
  const across = x.left < y.right - 1 && y.left < x.right - 1;
  if (across && x.top < y.bottom - 1 && y.top < x.bottom - 1) say('overlap', a, b);
}));
for (const cell of all('.table :is(td, th), .note, h1')) {
  const range = document.createRange();
  range.selectNodeContents(cell);
  const [own, box] = [range.getBoundingClientRect(), cell.getBoundingClientRect()];
  const beside = own.left < box.left - 1 || own.right > box.right + 1;
  if (own.width && (beside || own.bottom > box.bottom + 1)) say('runs out of its cell', cell);
}
for (const box of all('body *:not(.skip, .first > h2, svg, svg *)')) {
  const { overflowX, overflowY } = getComputedStyle(box);
  const wide = overflowX === 'hidden' && box.scrollWidth > box.clientWidth + 1;
  if (wide || (overflowY === 'hidden' && box.scrollHeight > box.clientHeight + 1)) say('cut', box);
}
return faults.slice(0, 5);
"""


@pytest.mark.parametrize("width", SCREENS)
@pytest.mark.parametrize("limit", [0, 5])
@pytest.mark.parametrize("models", [1, 2, 16])
def test_nothing_overlaps_or_is_clipped_and_the_page_does_not_scroll_sideways(
    browser: Browser, tmp_path: Path, models: int, limit: int, width: int
) -> None:
    open_page(browser, html(models, limit), tmp_path, width)
    assert browser.run(FAULTS) == []
    assert page_width(browser) <= width
    browser.find("#unfold").click()
    assert browser.run(FAULTS) == []
    assert page_width(browser) <= width
    assert browser.complaints() == []


@pytest.mark.parametrize("width", SCREENS)
@pytest.mark.parametrize("limit", [0, 5])
@pytest.mark.parametrize(
    "task", ["hkcanto_cultural", "hkcanto_law", "hkcanto_g2p", "hkmmlu"]
)
def test_one_task_alone_is_laid_out_as_well(
    browser: Browser, tmp_path: Path, task: str, limit: int, width: int
) -> None:
    for models in (1, 2):
        open_page(browser, html(models, limit, (task,)), tmp_path, width)
        assert browser.run(FAULTS) == []
        assert page_width(browser) <= width


@pytest.mark.parametrize("width", [1440, 1152])
@pytest.mark.parametrize("models", [1, 2, 16])
def test_no_table_of_the_first_section_scrolls_sideways_on_a_wide_screen(
    browser: Browser, tmp_path: Path, models: int, width: int
) -> None:
    open_page(browser, html(models, 5), tmp_path, width)
    beyond = (
        "return [...document.querySelectorAll('.first .table')]"
        ".filter(e => e.scrollWidth > e.clientWidth).length"
    )
    assert browser.run(beyond) == 0


@pytest.mark.parametrize("width", [1440, 768, 360])
@pytest.mark.parametrize("models", [1, 2, 16])
def test_the_first_screen_answers(
    browser: Browser, tmp_path: Path, models: int, width: int
) -> None:
    open_page(browser, html(models, 5), tmp_path, width)
    screen = {"left": 0.0, "right": width, "top": 0.0, "bottom": SCREENS[width]}
    answers = boxes(browser, ".first .answer")
    assert len(answers) >= 3
    assert all(contained(answer, screen) for answer in answers)
    size = "return parseFloat(getComputedStyle(document.querySelector(arguments[0])).fontSize)"
    assert browser.run(size, ".first .verdict") > browser.run(size, ".first .warning")
    name = {1: "tasks", 2: "pairs"}.get(models, "matrix")
    (table,) = boxes(browser, f"#table-{name}")
    assert table["top"] < screen["bottom"] - 40
    if width == 1440:
        rows = boxes(browser, f"#table-{name} tbody tr{'.run' * (models == 16)}")
        assert len(rows) == (16 if models == 16 else 8)
        assert all(contained(row, screen) for row in rows)


def printed_pages(browser: Browser) -> int:
    options = {"preferCSSPageSize": True, "printBackground": True}
    made = browser.driver.execute_cdp_cmd("Page.printToPDF", options)
    return base64.b64decode(made["data"]).count(b"/Type /Page\n")


@pytest.mark.parametrize("limit", [0, 5])
def test_sixteen_models_make_a_short_page_a_small_file_and_few_printed_sheets(
    browser: Browser, tmp_path: Path, limit: int
) -> None:
    assert len(html(16, limit).encode()) <= 600_000
    open_page(browser, html(16, limit), tmp_path, 1440)
    assert browser.run("return document.documentElement.scrollHeight") <= 6_000
    assert 1 <= printed_pages(browser) <= 10


# ---------------------------------------------------------------- the picture

TEN = (*TASKS, "hkcanto_mmlu_yue", "hkcanto_dse_zh")
LONG_NAMES = [
    "Qwen/Qwen3-8B-Instruct-2507",
    "made-up-org/CantoneseLLMChat-v1.0-70B-preview",
    *MODELS[2:8],
]


SIXTEEN = (
    *TEN,
    "hkcanto_professional_zh",
    "hkcanto_cultural_0shot",
    "hkcanto_orthography",
    "hkcanto_mmlu_en",
    "hkcanto_dse_en",
    "hkmmlu_cot",
)


@cache
def picture(models: int, tasks: tuple[str, ...] = TEN) -> str:
    """Return the page of models on tasks, some with unread answers, without two of the runs."""
    runs = many(LONG_NAMES[:models], tasks, 5)
    for position in range(2, len(runs), 7):
        run = runs[position]
        unread = np.zeros(len(run.items))
        unread[: len(unread) // 10] = 1
        values = {**run.items.values, "unparsed_rate": unread}
        runs[position] = replace(run, items=replace(run.items, values=values))
    without = (19, 43) if models == 8 else ()
    runs = [run for position, run in enumerate(runs) if position not in without]
    return render(build_report(runs), "html")


# The visible texts of the first section, each with the box of its letters.
TEXTS = """
const texts = [];
const walker = document.createTreeWalker(document.querySelector('.first'), NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const parent = walker.currentNode.parentElement;
  const size = parseFloat(getComputedStyle(parent).fontSize);
  if (!walker.currentNode.data.trim() || !size || !parent.checkVisibility()) continue;
  if (parent.closest('h2')) continue;
  const range = document.createRange();
  range.selectNodeContents(walker.currentNode);
  texts.push([parent, [...range.getClientRects()]]);
}
"""
HIDDEN = f"""{TEXTS}
const wide = [...document.querySelectorAll('.first, .first *:not(svg, svg *, bdi, wbr)')].filter(
  (e) => e.checkVisibility() && e.clientWidth && e.scrollWidth > e.clientWidth && !e.closest('h2'));
const beyond = texts.filter(([_, boxes]) => boxes.some(
  (box) => box.left < 0 || box.right > innerWidth));
return [...wide, ...beyond.map(([e]) => e)].map((e) => e.outerHTML.slice(0, 90));
"""
TOUCHING = f"""{TEXTS}
const touching = [];
texts.forEach(([one, boxes], place) => texts.slice(place + 1).forEach(([other, others]) => {{
  if (boxes.some((a) => others.some((b) => a.left < b.right - 1 && b.left < a.right - 1
      && a.top < b.bottom - 2 && b.top < a.bottom - 2)))
    touching.push(`${{one.textContent}} / ${{other.textContent}}`);
}}));
return touching;
"""


@pytest.mark.parametrize("width", [1440, 768, 360])
@pytest.mark.parametrize("models", [1, 2, 8])
def test_every_text_of_the_picture_is_whole_and_touches_no_other(
    browser: Browser, tmp_path: Path, models: int, width: int
) -> None:
    open_page(browser, picture(models), tmp_path, width)
    assert page_width(browser) <= width
    assert browser.run(HIDDEN) == []
    assert browser.run(TOUCHING) == []


@pytest.mark.parametrize("width", [1440, 768])
def test_sixteen_tasks_have_room_beside_each_other(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    open_page(browser, picture(4, SIXTEEN), tmp_path, width)
    assert page_width(browser) <= width
    assert browser.run(HIDDEN) == []
    assert browser.run(TOUCHING) == []


# WCAG 2: the luminance of a colour, and the contrast of two.
CONTRAST = f"""{TEXTS}
const rgb = (colour) => colour.match(/[\\d.]+/g).map(Number);
const light = (colour) => rgb(colour).slice(0, 3).map((part) => part / 255).map(
  (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
).reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
const behind = (e) => {{
  const colour = getComputedStyle(e).backgroundColor;
  return rgb(colour)[3] === 0 ? behind(e.parentElement) : colour;
}};
const contrast = (one, other) => {{
  const [dark, bright] = [light(one), light(other)].sort((a, b) => a - b);
  return (bright + 0.05) / (dark + 0.05);
}};
const low = [];
for (const [e] of texts) {{
  const style = getComputedStyle(e);
  const colour = e instanceof SVGElement ? style.fill : style.color;
  if (contrast(colour, behind(e)) < 4.5) low.push(e.textContent);
}}
for (const e of document.querySelectorAll('.first td .dot, .first td .span, .first td .reference'))
  if (contrast(getComputedStyle(e).stroke, behind(e.closest('td'))) < 3) low.push(e.outerHTML);
return [texts.length > 20, low];
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("models", [1, 2, 8])
def test_texts_and_marks_have_enough_contrast(
    browser: Browser, tmp_path: Path, models: int, scheme: str
) -> None:
    open_page(browser, picture(models), tmp_path, 1440)
    browser.prefer(scheme)
    assert browser.run(CONTRAST) == [True, []]


@pytest.mark.parametrize("models", [1, 2, 8])
def test_ten_tasks_are_printed_on_at_most_two_sheets(
    browser: Browser, tmp_path: Path, models: int
) -> None:
    open_page(browser, picture(models), tmp_path, 1440)
    assert 1 <= printed_pages(browser) <= 2


def test_a_cell_has_its_interval_as_a_line_on_hover_and_for_screen_readers(
    browser: Browser, tmp_path: Path
) -> None:
    open_page(browser, picture(8), tmp_path, 1440)
    cell = browser.find("#table-matrix td.strip:has(.span)")
    title = cell.get_attribute("title") or ""
    low, high = map(float, title.split("]")[0].strip("[").split(", "))
    assert low < float(cell.text.split()[0]) < high
    drawing = cell.find_element("css selector", "svg")
    assert drawing.get_attribute("role") == "img"
    assert drawing.get_attribute("aria-label") == title
