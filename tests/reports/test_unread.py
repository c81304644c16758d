"""`hkcanto report --unread`: the responses that could not be read, by reason."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from typer.testing import CliRunner, Result

from hkcanto_tasks.cli import app
from hkcanto_tasks.results import logs
from hkcanto_tasks.results.frames import Runs
from hkcanto_tasks.results.reports.unread import unread_responses
from hkcanto_tasks.results.runs import ItemText, Run

from .building import a_run

REASONS = [
    "none: refusal",
    "none: several",
    "none: refusal",
    "stated",
    "",
    "none: several",
]
RESPONSES = ["Sorry.", "A or B", "I  cannot.", "B", " \n", "C, D\nor E"]


def unread(reasons: Sequence[str] = REASONS) -> Run:
    """A run of six answers, of which the fourth was read."""
    run = a_run("hkcanto_law", {"acc": [0] * 6, "unparsed_rate": [1, 1, 1, 0, 1, 1]})
    texts = [ItemText("?", response, "", "A") for response in RESPONSES]
    ids = ("a", "b", "c", "d", "e", "f")
    return replace(run, items=replace(run.items, ids=ids, texts=texts, reasons=reasons))


def test_responses_are_grouped_by_reason_the_most_frequent_first() -> None:
    run = unread([*REASONS[:5], "none: refusal"])
    refused, several, unknown = unread_responses(run)
    assert (refused.reason, refused.number) == ("refusal", 3)
    assert refused.examples == [
        ("a", "Sorry."),
        ("c", "I  cannot."),
        ("f", "C, D\nor E"),
    ]
    assert (several.reason, several.number) == ("several", 1)
    assert (unknown.reason, unknown.examples) == ("unread", [("e", " \n")])


def test_a_reason_has_three_examples_and_a_log_may_lack_reasons() -> None:
    (group,) = unread_responses(unread(()))
    assert (group.reason, group.number) == ("unread", 5)
    assert [item for item, _ in group.examples] == ["a", "b", "c"]


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> Result:
    """The printed list of the run above and of one with a long response."""
    run = unread()
    long = ItemText("?", "很" * 5000 + "長。", "", "A")
    texts = [long, *run.items.texts[1:]]
    second = replace(run, label="second", items=replace(run.items, texts=texts))
    monkeypatch.setattr(logs, "read_runs", lambda *_, **__: Runs([run, second], ()))
    return CliRunner().invoke(app, ["report", "any.json", "--unread"])


def test_the_command_prints_each_response_in_a_line(report: Result) -> None:
    lines = report.stdout.splitlines()
    assert lines[:8] == [
        "model on hkcanto_law: refusal, 2 responses",
        "  a: Sorry.",
        "  c: I cannot.",
        "model on hkcanto_law: several, 2 responses",
        "  b: A or B",
        "  f: C, D or E",
        "model on hkcanto_law: unread, 1 responses",
        "  e: (empty)",
    ]
    assert lines[8] == "second on hkcanto_law: refusal, 2 responses"


def test_of_a_long_response_the_end_is_shown(report: Result) -> None:
    (line,) = [line for line in report.stdout.splitlines() if "很" in line]
    assert line.startswith("  a: … 很")
    assert line.endswith("很長。")
    assert len(line) < 1000
