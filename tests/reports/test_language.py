"""Reports and comparisons in Chinese: the catalogue is whole, and nothing stays English."""

import ast
import importlib
import json
import pkgutil
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from itertools import chain
from pathlib import Path
from string import Formatter

import numpy as np
import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po
from rich.cells import cell_len
from rich.console import Console
from typer.testing import CliRunner

import hkcanto_metrics
import hkcanto_tasks
from hkcanto_tasks import messages
from hkcanto_tasks.catalogue import benchmarks
from hkcanto_tasks.cli import app
from hkcanto_tasks.messages import speaking, using
from hkcanto_tasks.results import logs, reports
from hkcanto_tasks.results.frames import JUDGED, Runs
from hkcanto_tasks.results.published import published_tables
from hkcanto_tasks.results.reports import any_logs, dress
from hkcanto_tasks.results.reports import compare as comparing
from hkcanto_tasks.results.reports.any_logs import (
    _UNKNOWN,
    AnyLog,
    AnyResponse,
    report_of_tests,
)
from hkcanto_tasks.results.reports.blocks import Report
from hkcanto_tasks.results.reports.renderers import render
from hkcanto_tasks.results.reports.renderers.language import translated
from hkcanto_tasks.results.reports.renderers.terminal import show
from hkcanto_tasks.results.reports.summary import build_report
from hkcanto_tasks.results.runs import Run
from hkcanto_tasks.results.statistics.matching import Resampling
from hkcanto_tasks.tasks import task_as_run

from ..scripts import load_script
from .browser import Browser, chromium
from .building import a_run, changed
from .many import TASKS, many
from .test_page import page_width
from .test_page_layout import FAULTS, HIDDEN, MODELS, TOUCHING, open_page
from .whole import whole

PACKAGE = Path(hkcanto_tasks.__file__).parent
METRICS = Path(hkcanto_metrics.__file__).parent
SOURCE = PACKAGE / "languages/zh_Hant/LC_MESSAGES/hkcanto.po"
NAMES = ["base", "tuned", *(f"model-{n}" for n in range(3, 9))]
ACCURATE = TASKS[:-1]


@cache
def catalogue() -> Catalog:
    with SOURCE.open("rb") as file:
        return read_po(file)


def entries() -> list[Message]:
    return [entry for entry in catalogue() if entry.id]


def both(text: str | Sequence[str]) -> list[str]:
    """Return a message's forms."""
    return [text] if isinstance(text, str) else list(text)


# ---------------------------------------------------------------- made-up reports


def unread(run: Run, share: float) -> Run:
    """Return a run of which a share of answers is unread, and as many are cut off."""
    count = len(run.items)
    first = (np.arange(count) < share * count).astype(float)
    values = {**run.items.values, "unparsed_rate": first}
    reasons = ["none: cut off" if flag else "" for flag in first]
    items = replace(run.items, values=values, reasons=reasons, truncated=first)
    return replace(run, items=items)


def sampled(runs: Sequence[Run]) -> list[Run]:
    return [changed(run, data="sample") for run in runs]


def compared(runs: Sequence[Run], **options: object) -> Report:
    """Return the comparison of runs, each model an argument."""
    names = [*dict.fromkeys(run.label for run in runs)]
    arguments = [replace(run, argument=names.index(run.label)) for run in runs]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparing, "read_runs", lambda *_, **__: Runs(arguments, ()))
        report, _ = comparing.compare_runs(names, resamples=100, **options)
    return report


def right(label: str, count: int, right: int, task: str = "hkcanto_law") -> Run:
    """Return a run of a task of which the first answers are right."""
    return a_run(task, {"acc": np.arange(count) < right}, label=label)


def reported() -> Iterator[Report]:
    for number in (1, 2, 3, 8):
        yield build_report(many(NAMES[:number], limit=5))
    yield build_report(many(NAMES[:2], TASKS[:1], 5))
    yield build_report(sampled(many(NAMES[:3], ["hkcanto_g2p"], 5)))
    yield build_report([unread(run, 0.3) for run in many(NAMES[:2], ACCURATE[:2], 5)])
    yield build_report([unread(run, 0.05) for run in many(NAMES[:1], ACCURATE, 5)])
    yield build_report([whole("hkmmlu", label="base"), whole("tmmluplus_gen")])
    yield build_report(
        [
            whole(task, 0.2 if task == "hkmmlu" else 0.99, label="base")
            for task in ACCURATE
        ]
    )
    yield build_report(
        [whole("hkmmlu", 0.5, label="base"), whole("hkmmlu", 0.9, label="tuned")]
    )
    yield build_report(
        [whole("hkmmlu_cot", label="base", prompt="yue"), whole("hkcanto_law", shots=0)]
    )


def comparisons() -> Iterator[Report]:
    yield compared(many(NAMES[:2], limit=5))
    yield compared(many(NAMES[:4], limit=5))
    yield compared(sampled(many(NAMES[:2], ["hkcanto_g2p"], 5)))
    base = right("base", 1000, 500)
    for score in (300, 490, 520, 700):
        yield compared([base, right("tuned", 1000, score)], gate=3.0)
    yield compared([right("base", 60, 30), right("tuned", 60, 29)], gate=1.0)
    yield compared(many(NAMES[:3], ACCURATE, 5), gate=2.0)
    yield compared(many(NAMES[:2], ACCURATE, 5), gate=90.0)
    yield compared([base, unread(right("tuned", 1000, 500), 0.3)], gate=2.0)
    tasks = [right(name, 1000, 500, "hkcanto_cultural") for name in ("base", "tuned")]
    yield compared(
        [base, right("tuned", 1000, 499), *tasks, right("base", 9, 3, "hkmmlu")]
    )
    other = changed(right("tuned", 1000, 450), shots=0)
    yield compared([base, other], allowed=["shots"])


def of_other_tasks() -> Report:
    """Return the comparison of two logs of a task that is not ours."""
    logs_of_task = []
    for score, prompt in ((1.0, "a"), (0.0, "b")):
        responses = [
            AnyResponse(
                str(n), f"text {n} {prompt * (n > 8)}", prompt, {"acc": n % 2 or score}
            )
            for n in range(9)
        ]
        responses.append(AnyResponse(prompt, prompt, prompt, {"acc": 1.0}))
        log = AnyLog("sums", Path(prompt), responses, {}, {"limit": prompt})
        logs_of_task.append({"sums": log, prompt: log})
    resampling = Resampling(1, 100)
    tests, warnings = any_logs.tests_of(*logs_of_task, None, resampling)
    title = messages.verbatim("sums")
    return report_of_tests(tests, NAMES[:2], [*warnings, _UNKNOWN], resampling, title)


def dressed() -> Report:
    """Return the comparison of two models on the same items in two languages."""
    runs = list[Run]()
    for place, name in enumerate(NAMES[:2]):
        for task, correct in (
            ("hkcanto_mmlu_yue", 30),
            ("hkcanto_mmlu_en", 50 + place),
        ):
            ids = [f"{task}/anatomy/{n}" for n in range(60)]
            values = {"acc": np.arange(60) < correct}
            subjects = ["anatomy"] * 60
            runs.append(a_run(task, values, label=name, ids=ids, subjects=subjects))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dress, "read_runs", lambda *_, **__: Runs(runs, ()))
        return dress.compare_dresses(NAMES[:2], ["hkcanto_mmlu_yue", "hkcanto_mmlu_en"])


@cache
def made() -> list[Report]:
    return [*reported(), *comparisons(), of_other_tasks(), dressed()]


# ---------------------------------------------------------------- the catalogue


class Recording(NullTranslations):
    """A catalogue that remembers the messages it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = set[str]()

    def gettext(self, message: str) -> str:
        self.asked.add(message)
        return message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:  # noqa: ARG002
        self.asked.add(msgid1)
        return msgid2


def test_every_message_of_a_report_is_in_the_catalogue() -> None:
    known = {both(entry.id)[0] for entry in entries()}
    missing = set[str]()
    for report in made():
        recording = Recording()
        with using(recording):
            shown = translated(report)
            show(shown, Console(width=80, quiet=True))
            for form in ("html", "md"):
                render(report, form)
        missing |= recording.asked - known
    assert missing == set()


def texts_of_code() -> set[str]:
    """Return the texts that the code and the declarations have."""
    texts = set[str]()
    for path in chain(PACKAGE.rglob("*.py"), METRICS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
                reason = node.value.removeprefix("none: ")
                texts |= {reason, reason.capitalize()}
    for module in pkgutil.walk_packages(reports.__path__, f"{reports.__name__}."):
        names = vars(importlib.import_module(module.name))
        texts.update(value for value in names.values() if isinstance(value, str))
    declared = tomllib.loads((PACKAGE / "figures.toml").read_text("utf-8"))
    known = [*JUDGED.values()]
    for benchmark in benchmarks():
        for task in benchmark.tasks:
            known += task_as_run(task.name).figures
    for figure in known:
        texts |= {figure.title, figure.title.lower(), figure.help}
    texts.update(entry["title"] for entry in declared.values())
    texts.update(entry["help"] for entry in declared.values())
    texts.update(benchmark.terms for benchmark in benchmarks())
    for table in published_tables():
        texts |= {table.title, table.protocol}
        for row in table.rows:
            texts |= {row.model, *row.notes.values()}
        for column in table.columns:
            texts |= {column.unmeasured, column.unranked, column.remark}
            texts.update([column.other.title] if column.other else [])
    return texts


def test_every_message_of_the_catalogue_is_in_the_code() -> None:
    texts = texts_of_code()
    unused = [entry.id for entry in entries() if not {*both(entry.id)} <= texts]
    assert unused == []
    assert not catalogue().obsolete


def places(text: str) -> set[tuple[str | None, str | None]]:
    return {
        (name, spec) for _, name, spec, _ in Formatter().parse(text) if name is not None
    }


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: both(entry.id)[0][:40])
def test_a_translation_is_whole_and_has_the_places_of_its_message(
    entry: Message,
) -> None:
    *_, message = both(entry.id)
    (chinese,) = both(entry.string)
    assert chinese.strip()
    assert not entry.fuzzy
    assert places(chinese) == places(message)
    assert not re.search("[一-鿿] ?[,;:?!]", chinese), "full-width marks after Chinese"
    assert not re.search("[一-鿿][A-Za-z]|[A-Za-z][一-鿿]", chinese), "no space"


def test_the_compiled_catalogue_is_fresh() -> None:
    generate = load_script("docs/generate.py")
    for path, compiled in generate.compiled_catalogues(PACKAGE / "languages").items():
        kept, made = (
            {key: text for key, text in GNUTranslations(file)._catalog.items() if key}
            for file in (BytesIO(path.read_bytes()), BytesIO(compiled))
        )
        assert kept == made, "run `python docs/generate.py`"


def test_a_name_of_a_benchmark_is_said_in_the_chosen_language() -> None:
    name = messages.named("Hong Kong law", "香港法律")
    assert name == "Hong Kong law"
    with speaking("zh-Hant"):
        assert messages.spoken(name) == "香港法律"
        assert messages.spoken("") == ""


# ---------------------------------------------------------------- the terminal

# Names, commands, options and units stay as they are.
STAYING = {
    *("HKMMLU", "TMMLU", "MMLU", "CER", "McNemar", "STEM", "shot", "pts"),
    *(
        "hkcanto",
        "report",
        "compare",
        "plan",
        "LOGS",
        "full",
        "gate",
        "html",
        "format",
        "md",
    ),
    *(
        "limit",
        "model",
        "base",
        "tuned",
        "task",
        "o",
        "kB",
        "unread",
        "acc",
        "candidates",
    ),
}


def printed(arguments: Sequence[str], runs: Sequence[Run], width: int = 80) -> str:
    """Return what a command prints on made-up runs, in a terminal of a width."""
    names = [*dict.fromkeys(run.label for run in runs)]
    sides = [replace(run, argument=names.index(run.label)) for run in runs]
    with pytest.MonkeyPatch.context() as patch:
        for module in (logs, comparing):
            patch.setattr(module, "read_runs", lambda *_, **__: Runs(sides, ()))
        done = CliRunner().invoke(
            app, [*arguments, *names], env={"COLUMNS": str(width)}
        )
    return done.output


def published_names() -> set[str]:
    rows = (row.model for table in published_tables() for row in table.rows)
    return {word for name in rows for word in re.findall("[A-Za-z]+", name)}


@pytest.mark.parametrize("models", [1, 2, 8])
@pytest.mark.parametrize(
    "command",
    [["report"], ["compare"], ["compare", "--gate", "2"], ["compare", "--gate", "60"]],
    ids=" ".join,
)
def test_a_terminal_has_no_english_sentence_and_no_line_beyond_its_edge(
    command: list[str], models: int
) -> None:
    if command[0] == "compare" and models == 1:
        pytest.skip("a comparison is of two models")
    runs = many(NAMES[:models], limit=5)
    text = printed([*command, "--language", "zh-Hant"], runs)
    words = {*re.findall("[A-Za-z]{2,}", text)}
    assert re.search("下一步|沒有結論", text)
    assert words - STAYING - published_names() == set()
    prose = [line for line in text.splitlines() if not line.startswith("  hkcanto")]
    assert [line for line in prose if cell_len(line.rstrip()) > 80] == []


def test_the_environment_chooses_the_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HKCANTO_LANGUAGE", "zh-Hant")
    assert "誰領先" in printed(["compare"], many(NAMES[:2], limit=5))


def test_no_line_begins_with_a_mark_that_ends_a_phrase() -> None:
    text = printed(["report", "--language", "zh-Hant"], many(NAMES, limit=5))
    assert [
        line for line in text.splitlines() if re.match("\\s*[，。；：、）」]", line)
    ] == []


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("command", ["report", "compare"])
def test_programs_read_the_same_in_each_language(command: str) -> None:
    runs = many(NAMES[:2], limit=5)
    for form in ("json", "csv"):
        documents = []
        for language in ("en", "zh-Hant"):
            options = [command, "--format", form, "--language", language]
            text = printed(options, runs)
            documents.append(re.sub('"created": "[^"]*"', "", text.split("Warning")[0]))
        assert json.dumps(documents[0]) == json.dumps(documents[1].split("注意")[0])


@pytest.mark.parametrize("form", ["md", "github", "html"])
def test_files_for_people_are_in_chinese(form: str) -> None:
    report = build_report(many(NAMES[:2], limit=5))
    with speaking("zh-Hant"):
        text = render(report, form)
    assert "誰領先" in text
    assert "Who leads" not in text
    if form == "html":
        assert '<html lang="zh-HK">' in text


# ---------------------------------------------------------------- the page


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.mark.browser
@pytest.mark.parametrize("width", [1440, 360])
@pytest.mark.parametrize("models", [2, 8])
def test_nothing_on_the_chinese_page_overlaps_or_is_clipped(
    browser: Browser, tmp_path: Path, models: int, width: int
) -> None:
    with speaking("zh-Hant"):
        text = render(build_report(many(MODELS[:models], limit=5)), "html")
    open_page(browser, text, tmp_path, width)
    assert browser.run(HIDDEN) == []
    assert browser.run(TOUCHING) == []
    assert browser.run(FAULTS) == []
    browser.find("#unfold").click()
    assert browser.run(FAULTS) == []
    assert page_width(browser) <= width
    assert browser.complaints() == []
