"""A signature changes with every edit of prompts or answer reading, declared or in code."""

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import hkcanto_metrics
from hkcanto import tasks
from hkcanto_metrics.choice import ChoiceReading
from hkcanto_tasks import signing
from hkcanto_tasks.cli import app
from hkcanto_tasks.kinds import base, multiple_choice
from hkcanto_tasks.signatures import joined, parse_signature
from hkcanto_tasks.signing import signature_of
from hkcanto_tasks.tasks import load_task, task_as_run

from ..reports.harness_runs import answering_model, run_inspect

DECLARED = """
name = "quiz"
title = "Quiz"
[data]
[prompts.plain]
system = "Answer.\\n"
question = "{question}\\n{options}\\n答案："
stop = ["\\n\\n"]
scaffold = "最後一行寫「答案：」。"
[[tasks]]
name = "quiz"
title = "Quiz"
kind = "multiple_choice"
files = { test = "quiz.csv", dev = "dev.csv" }
"""
ROWS = "question,A,B,C,D,answer,question_en\n" + "".join(
    f"第{place}條？,甲,乙,丙,丁,{answer},Number {place}?\n"
    for place, answer in enumerate("ABCDABCD", start=1)
)
SENT = {
    "the system text": ("Answer.", "Answer now."),
    "the question": ("答案：", "答："),
    "the order of its parts": (r"{question}\n{options}", r"{options}\n{question}"),
    "a stop text": (r'["\n\n"]', r'["\n\n\n"]'),
    "the column that is asked": (
        "[[tasks]]",
        '[[tasks]]\ncolumns = { question = "question_en" }',
    ),
    "whether a blank option is one": (
        "[[tasks]]",
        '[[tasks]]\nblank_options = "absent"',
    ),
}


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signing, "_fingerprints", {})


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Return a function that replaces the benchmark by an edited copy."""
    made = iter(range(100))

    def declare(old: str = "", new: str = "") -> None:
        assert old in DECLARED
        folder = tmp_path / f"benchmark{next(made)}"
        folder.mkdir()
        (folder / "benchmark.toml").write_text(DECLARED.replace(old, new, 1), "utf-8")
        for name in ("quiz.csv", "dev.csv"):
            (folder / name).write_text(ROWS, "utf-8")
        monkeypatch.setenv("HKCANTO_BENCHMARKS", str(folder))
        monkeypatch.setenv("HKCANTO_DATA", "release")

    return declare


def hashes(text: str) -> dict[str, str]:
    return dict(re.findall(r"\|(sent|read):([0-9a-f]{7})(?=\|)", text))


def test_an_edit_of_what_is_sent_is_signed(own: Callable[..., None]) -> None:
    own()
    before = hashes(load_task("quiz").signature)
    for edited, change in SENT.items():
        own(*change)
        after = hashes(load_task("quiz").signature)
        assert before.keys() == after.keys() == {"sent", "read"}
        assert before["sent"] != after["sent"], edited


def test_another_file_of_worked_examples_is_other_data(
    own: Callable[..., None],
) -> None:
    made = []
    for edit in ((), ("dev.csv", "quiz.csv")):
        own(*edit)
        loaded = load_task("quiz", shots=1)
        loaded.prompt(loaded.samples[0])
        made.append(loaded.signature.partition("|data:")[2].partition("|")[0])
    assert made[0] != made[1]


def test_what_nobody_is_asked_is_not_signed(own: Callable[..., None]) -> None:
    own()
    before = hashes(load_task("quiz").signature)
    own('title = "Quiz"\nkind', 'title = "Questions"\nspecified = "page 3"\nkind')
    assert hashes(load_task("quiz").signature) == before


def test_an_edit_of_another_prompt_leaves_the_others_as_they_are(
    own: Callable[..., None],
) -> None:
    other = "{question}\\n{options}"
    two = f'[prompts.other]\nquestion = "{other}"\n[[tasks]]'
    named = '\nprompts = { paper = "plain", zh = "other" }'
    own("[[tasks]]", two + named)
    before = [
        hashes(load_task("quiz", prompt=name).signature) for name in ("paper", "zh")
    ]
    own("[[tasks]]", two.replace(other, other + "!") + named)
    after = [
        hashes(load_task("quiz", prompt=name).signature) for name in ("paper", "zh")
    ]
    assert before[0] == after[0]
    assert before[1]["sent"] != after[1]["sent"]


def test_a_signature_does_not_depend_on_the_subjects_asked_first() -> None:
    signed = []
    for first in ({"subjects": "food"}, {}):
        signing._fingerprints.clear()
        signature_of(task_as_run("hkcanto_cultural", **first), "")
        signed.append(hashes(signature_of(task_as_run("hkcanto_cultural"), "").text))
    assert signed[0] == signed[1]


def test_examples_in_turns_of_their_own_are_sent_otherwise() -> None:
    sent = []
    for options in ({}, {"multiturn": True}, {"shots": 0}):
        kind = task_as_run("hkcanto_cultural", **options)
        sent.append(signing.fingerprints(kind).sent)
    assert len({*sent}) == 3


def test_examples_that_no_prompt_shows_do_not_name_the_data(
    own: Callable[..., None],
) -> None:
    made = []
    for rows in (ROWS, ROWS.replace("甲", "金")):
        own()
        Path(os.environ["HKCANTO_BENCHMARKS"], "dev.csv").write_text(rows, "utf-8")
        made.append([load_task("quiz", shots=shots).revision for shots in (0, 1)])
    assert made[0][0] == made[1][0]
    assert made[0][1] != made[1][1]


def test_an_edit_of_how_it_is_read_is_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    before = hashes(signature_of(task_as_run("hkmmlu"), "").text)
    signing._fingerprints.clear()
    monkeypatch.setattr(
        hkcanto_metrics, "read_choice", lambda *_: ChoiceReading("A", "bare")
    )
    after = hashes(signature_of(task_as_run("hkmmlu"), "").text)
    assert (before["sent"], before["read"] != after["read"]) == (after["sent"], True)


def test_the_room_for_reasoning_the_colon_rule_and_opencc_are_signed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def signed(**options: object) -> dict[str, str]:
        signing._fingerprints.clear()
        return hashes(signature_of(task_as_run("hkmmlu", **options), "").text)

    reasoning, direct, simplified = (
        signed(reasoning=True),
        signed(),
        signed(script="sc"),
    )
    monkeypatch.setattr(base, "REASONING_TOKENS", 8191)
    assert signed(reasoning=True)["sent"] != reasoning["sent"]
    assert signed() == direct
    monkeypatch.setattr(multiple_choice, "_GOES_ON", (":", "："))
    assert signed()["read"] != direct["read"]
    for other in ("t2s", "tw2s", "tw2sp"):
        import opencc

        convert = opencc.OpenCC(other).convert
        monkeypatch.setattr(
            multiple_choice, "_to_simplified", lambda convert=convert: convert
        )
        assert signed(script="sc")["sent"] != simplified["sent"], other


def test_compare_says_what_was_edited_between_two_runs(
    own: Callable[..., None], tmp_path: Path
) -> None:
    for name, edit in (("a", ()), ("b", ()), ("c", SENT["the question"])):
        own(*edit)
        # Every answer is read, so there is a verdict.
        run_inspect(
            tmp_path / name, tasks.run(task="quiz"), answering_model(lambda _: "A")
        )
    same, edited = (
        " ".join(CliRunner().invoke(app, ["compare", *map(str, pair)]).output.split())
        for pair in ((tmp_path / "a", tmp_path / "b"), (tmp_path / "a", tmp_path / "c"))
    )
    assert "0 items won, 0 lost" in same
    assert "differ in sent" not in same
    assert (
        "(the prompt, worked examples, stop texts or token limit was edited)" in edited
    )
    first, second = re.search(r"sent (\w{7}) against (\w{7}) \(", edited).groups()
    assert first != second


def test_options_explain_a_difference_and_are_named_instead_of_the_hash() -> None:
    one, other = (
        signature_of(task_as_run("hkmmlu", **own), "") for own in ({}, {"prompt": "zh"})
    )
    assert one.sent != other.sent
    assert one.differs(other) == {"prompt": ("paper", "zh")}
    assert one.differs(one) == {}


def test_parts_on_two_local_sets_are_on_mixed_data() -> None:
    signature = parse_signature(
        "hkmmlu|shots:0|data:local-aaaaaaa|sent:a|read:b|metric:m|v:1|pkg:1"
    )
    other = replace(signature, data="local-bbbbbbb")
    assert joined([signature, signature]).data == "local-aaaaaaa"
    assert joined([signature, other]).data == "local-mixed"
    assert (
        joined([other, replace(signature, data="ba2a58b")]).data
        == "ba2a58b+local-bbbbbbb"
    )
