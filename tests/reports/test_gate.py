"""The three answers of `hkcanto compare --gate`, by its exit status on the command line."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from hkcanto_tasks.cli import app
from hkcanto_tasks.figures import Pair
from hkcanto_tasks.results.frames import Runs
from hkcanto_tasks.results.reports import compare as comparing
from hkcanto_tasks.results.runs import Run

from .building import a_run

TEN_TASKS = (
    "hkcanto_law",
    "hkcanto_dse_zh",
    "hkcanto_dse_en",
    "hkcanto_professional_zh",
    "hkcanto_professional_en",
    "hkcanto_phonology",
    "hkcanto_orthography",
    "hkcanto_mmlu_yue",
    "hkcanto_mmlu_en",
    "hkmmlu",
)
DECLARED = """
name = "declared"
title = "Declared"
[data]
[prompts.reading]
question = "{sentence}"
[prompts.translation]
question = "{source}"
"""
RATE = """
[[tasks]]
name = "rate_0"
title = "rate_0"
kind = "g2p"
headline = "cer"
files = "test.jsonl"
prompts = { paper = "reading" }
"""
CORPUS = """
[[tasks]]
name = "corpus_0"
title = "corpus_0"
kind = "translation"
headline = "chrf"
metric = "corpus"
language = "yue"
files = "test.jsonl"
prompts = { paper = "translation" }
"""
Gate = Callable[..., Result]


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Return a function that gates made-up runs by the command line."""

    def call(base: Sequence[Run], tuned: Sequence[Run], *options: str) -> Result:
        sides = (("base", base), ("tuned", tuned))
        runs = [
            replace(run, argument=position, label=label)
            for position, (label, side) in enumerate(sides)
            for run in side
        ]
        monkeypatch.setattr(comparing, "read_runs", lambda *_, **__: Runs(runs, ()))
        arguments = ["compare", "base", "tuned", "--resamples", "100", *options]
        return CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})

    return call


def mean(share: float, items: int = 600, task: str = "hkcanto_law") -> Run:
    """Right answers to the first items."""
    right = np.arange(items) < round(share * items)
    return a_run(task, {"acc": right.astype(float)})


def rate(share: float, items: int = 600, task: str = "hkcanto_g2p") -> Run:
    """Error rates weighted by length; `share` of the items have no error."""
    errors = np.where(np.arange(items) < round(share * items), 0.0, 0.9)
    lengths = np.tile([4.0, 9.0, 20.0], items)[:items]
    shots = 5 if task == "hkcanto_g2p" else None
    return a_run(task, {"cer": errors}, weights={"cer": lengths}, shots=shots)


def corpus(
    share: float, items: int = 600, task: str = "hkmmlu_translation_zh_yue"
) -> Run:
    """Translations, of which `share` are equal to the reference and the others have nothing of it."""
    reference = "佢哋聽日會去邊度食飯"
    right = round(share * items)
    outputs = [reference] * right + ["天地玄黃宇宙洪荒"] * (items - right)
    pairs = [Pair(output, reference, "source") for output in outputs]
    return a_run(task, {}, pairs=pairs)


FORMS = {
    "mean": (mean, ()),
    "rate": (rate, ("--metric", "cer")),
    "corpus": (corpus, ()),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("base", "tuned", "items", "status", "answer"),
    [
        (0.8, 0.8, 600, 0, "Passed:"),
        (0.8, 0.5, 600, 1, "Failed:"),
        (0.8, 0.8, 20, 3, "Undecided, so do not release yet:"),
        (0.8, 0.775, 600, 3, "Undecided, so do not release yet:"),
    ],
)
def test_each_form_of_figure_has_three_answers(
    gate: Gate,
    form: str,
    base: float,
    tuned: float,
    items: int,
    status: int,
    answer: str,
) -> None:
    made, metric = FORMS[form]
    options = ("--gate", "2", *metric)
    done = gate([made(base, items)], [made(tuned, items)], *options)
    assert done.exit_code == status, done.output
    assert answer in done.output


def test_runs_that_differ_in_items_have_the_status_of_no_comparison(gate: Gate) -> None:
    assert gate([mean(0.8)], [mean(0.8, 599)], "--gate", "2").exit_code == 2


@pytest.mark.parametrize(
    ("losses", "small", "status"),
    [
        ((), (), 0),
        ((3,), (), 1),
        ((), (5,), 3),
        ((3,), (5,), 1),
    ],
)
def test_ten_tasks_pass_together_and_fail_by_one(
    gate: Gate, losses: Sequence[int], small: Sequence[int], status: int
) -> None:
    base = list[Run]()
    tuned = list[Run]()
    for position, task in enumerate(TEN_TASKS):
        items = 20 if position in small else 600
        base.append(mean(0.8, items, task))
        tuned.append(mean(0.5 if position in losses else 0.8, items, task))
    done = gate(base, tuned, "--gate", "2")
    assert done.exit_code == status, done.output
    # The output is longer than a screen, so that the verdict is repeated at its end.
    assert done.output.rsplit("\n\n", 1)[-1].startswith("Gate ")
    for position in losses:
        assert f"{base[position].definition.title} loses 30.0, at least" in done.output
    if not losses and small:
        assert "on 1 of 10 tasks (9 passed)" in done.output


@pytest.fixture
def declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Declare ten tasks with rates and ten with corpus figures."""
    tables = [DECLARED]
    for place in range(10):
        tables.append(RATE.replace("rate_0", f"rate_{place}"))
        tables.append(CORPUS.replace("corpus_0", f"corpus_{place}"))
    (tmp_path / "benchmark.toml").write_text("".join(tables), "utf-8")
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path))


RATES = [("rate", f"rate_{place}") for place in range(10)]
CORPORA = [("corpus", f"corpus_{place}") for place in range(10)]
MEANS = [("mean", task) for task in TEN_TASKS]
# The place of a task with another share of right answers or number of items, and the status.
CASES = [
    (None, 0.8, 600, 0),
    (9, 0.5, 600, 1),
    (9, 0.8, 20, 3),
    (9, 0.8, 599, 2),
]


@pytest.mark.usefixtures("declared")
@pytest.mark.parametrize(("place", "share", "items", "status"), CASES)
@pytest.mark.parametrize("tasks", [RATES, CORPORA, MEANS[:4] + RATES[:3] + CORPORA[:3]])
def test_ten_tasks_of_each_form_have_four_answers(
    gate: Gate,
    tasks: Sequence[tuple[str, str]],
    place: int | None,
    share: float,
    items: int,
    status: int,
) -> None:
    base = list[Run]()
    tuned = list[Run]()
    for position, (form, task) in enumerate(tasks):
        made, _ = FORMS[form]
        is_other = position == place
        few = 20 if is_other and items == 20 else 600
        base.append(made(0.8, few, task))
        tuned.append(made(share, items, task) if is_other else base[-1])
    done = gate(base, tuned, "--gate", "2")
    assert done.exit_code == status, done.output
    answers = ("Passed:", "Failed:", "", "Undecided, so do not release yet:")
    assert answers[status] in done.output


def test_ten_tasks_share_the_error_of_being_called_worse(gate: Gate) -> None:
    """A loss of 22 of 600 items is beyond 2 points at 97.5 %, but not at 99.75 %."""
    base = [mean(0.8, 600, task) for task in TEN_TASKS]
    tuned = [mean(0.8 - 22 / 600, 600, TEN_TASKS[0]), *base[1:]]
    assert gate(base[:1], tuned[:1], "--gate", "2").exit_code == 1
    assert gate(base, tuned, "--gate", "2").exit_code == 3


@pytest.mark.parametrize(("word", "status"), [("pass", 0), ("fail", 1)])
def test_a_ci_says_what_too_few_items_mean(gate: Gate, word: str, status: int) -> None:
    few = [mean(0.8, 20)]
    done = gate(few, few, "--gate", "2", "--undecided", word)
    assert done.exit_code == status
    assert "Undecided, so do not release yet:" in done.output
    worse = gate([mean(0.8)], [mean(0.5)], "--gate", "2", "--undecided", word)
    assert worse.exit_code == 1
    assert gate(few, few, "--undecided", word).exit_code == 2  # it needs a gate


def test_a_gate_on_one_of_the_tasks(gate: Gate) -> None:
    base = [mean(0.8), mean(0.8, 20, "hkcanto_phonology")]
    for task in ("hkcanto_law", "hkcanto_law,hkcanto_law"):
        assert gate(base, base, "--gate", "2", "--task", task).exit_code == 0
    assert gate(base, base, "--gate", "2", "--task", "hkcanto").exit_code == 3
    unknown = gate(base, base, "--task", "hkcanto_lwa")
    assert unknown.exit_code == 2
    assert "Did you mean hkcanto_law" in unknown.output
    absent = gate(base, base, "--task", "hkmmlu")
    assert absent.exit_code == 2
    assert "The logs have hkcanto_law, hkcanto_phonology." in absent.output


@pytest.mark.parametrize("items", [1, 5, 17, 60, 252])
def test_equal_runs_are_never_worse(gate: Gate, items: int) -> None:
    for made, metric in FORMS.values():
        for delta in ("0", "2"):
            run = [made(0.6, items)]
            done = gate(run, run, "--gate", delta, *metric)
            assert done.exit_code in (0, 3), done.output
            assert "points worse than base on " in " ".join(done.output.split())
            assert "Failed:" not in done.output


# --- no verdict on nothing


def empty(share: float, items: int = 600) -> Run:
    """Answers that are right, but for a share of empty ones."""
    is_empty = (np.arange(items) < round(share * items)).astype(float)
    reasons = ["none: empty" if unread else "bare" for unread in is_empty]
    values = {"acc": 1 - is_empty, "unparsed_rate": is_empty}
    return a_run("hkcanto_law", values, reasons=reasons)


def answered(items: int = 600) -> Run:
    return empty(0, items)


@pytest.mark.parametrize("share", [1, 0.5, 0.11])
@pytest.mark.parametrize("options", [(), ("--gate", "2")])
def test_a_run_whose_answers_could_not_be_read_gets_no_verdict(
    gate: Gate, share: float, options: Sequence[str]
) -> None:
    for sides in ((answered(), empty(share)), (empty(share), answered())):
        done = gate(sides[:1], sides[1:], *options)
        assert done.exit_code == 2, done.output
        text = " ".join(done.output.split())
        assert f"{round(600 * share)} of 600 answers of" in text
        assert "could not be read: no verdict. Likely cause: they are empty" in text
        assert "--unread" in text
        for word in (
            "is better than",
            "is worse than",
            "Passed:",
            "Failed:",
            "p =",
            "✓",
        ):
            assert word not in text


def test_candidates_share_the_error_of_being_called_worse_with_all_tasks(
    gate: Gate,
) -> None:
    tasks = ("hkcanto_law", "hkmmlu")
    sides = [[mean(0.5, task=task) for task in tasks] for _ in range(2)]
    options = ("--gate", "2", "--candidates", "3", "--format", "json")
    tests = json.loads(gate(*sides, *options).stdout)["gate"]["tasks"]
    # Three candidates, of which one is here, on two tasks are six chances to be called worse.
    assert [test["lower_confidence"] for test in tests] == [
        pytest.approx(1 - 0.025 / 6)
    ] * 2


def test_a_few_unread_answers_are_a_warning_and_not_a_reason(gate: Gate) -> None:
    few = empty(0.05)
    done = gate([few], [few], "--gate", "2")
    assert done.exit_code == 0
    text = " ".join(done.output.split())
    assert "Warning: unread answers: base on Hong Kong law, 5-shot 5 %; tuned" in text


def test_values_unlike_the_harness_s_are_a_warning_of_a_gate(gate: Gate) -> None:
    edited = replace(answered(), reported={((), "acc"): 0.25})
    done = gate([edited], [answered()], "--gate", "2")
    assert "unlike the harness: base on Hong Kong law" in " ".join(done.output.split())


def test_an_unread_rate_itself_can_be_gated(gate: Gate) -> None:
    metric = ("--metric", "unparsed_rate", "--gate", "2")
    assert gate([empty(0.5)], [empty(0.5)], *metric).exit_code == 0
    assert gate([empty(0.1)], [empty(0.5)], *metric).exit_code == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--any", "--task", "hkmmlu"), "--any compares all tasks"),
        (("--any", "--alone"), "--any compares all tasks"),
        (("--any", "--gate", "2"), "--any cannot be used with --gate"),
        (("--dress", "hkmmlu,hkcanto_law", "--any"), "--dress cannot be used"),
        (("--dress", "hkmmlu,hkcanto_law", "--alone"), "--dress cannot be used"),
        (
            ("--dress", "hkmmlu,hkcanto_law", "--task", "hkmmlu"),
            "--dress cannot be used",
        ),
        (("--dress", "hkmmlu,hkcanto_law", "--gate", "2"), "--dress cannot be used"),
        (("--undecided", "pass"), "--allow-differences need --gate"),
    ],
)
def test_options_that_contradict_each_other_are_refused_before_a_log_is_read(
    options: tuple[str, ...], said: str
) -> None:
    arguments = ["compare", "no-log", "nor-here", *options]
    refused = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
    assert refused.exit_code == 2
    assert said in " ".join(refused.output.split())


@pytest.mark.parametrize(
    "options", [("--any",), ("--task", "hkmmlu"), ("--dress", "hkmmlu,hkcanto_law")]
)
def test_an_option_alone_contradicts_nothing(options: tuple[str, ...]) -> None:
    arguments = ["compare", "no-log", "nor-here", *options]
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
    assert "no-log" in done.output  # which is all that is wrong
