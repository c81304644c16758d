"""Shards, parts, smoke runs, second tries and epochs in one folder, counted by hand."""

import json
import re
import shutil
import zlib
from collections.abc import Callable, Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hkcanto import tasks
from hkcanto_tasks import load_task, read_runs
from hkcanto_tasks.cli import app
from hkcanto_tasks.errors import LogError
from hkcanto_tasks.results.statistics.estimates import estimate, harness_agreement

from .harness_runs import (
    AnsweringLM,
    answer,
    answering_model,
    read_answer,
    run_inspect,
    run_lm_eval,
)
from .test_logs_damaged import rezipped

ITEMS = 43  # of HKMMLU's sample data
LAW = "hk_law"
WARM = {"do_sample": True, "temperature": 0.7}


def mostly_read(prompt: str) -> str:
    """Return an answer that is read, but for too few to withhold a verdict."""
    return "唔知" if zlib.crc32(prompt.encode()) % 17 == 0 else read_answer(prompt)


def another(prompt: str) -> str:
    return "B" if answer(prompt) == "A" else "A"


def failing(prompt: str) -> str:
    if "ABCD"[len(prompt) % 4] == "A":
        raise RuntimeError("no answer")
    return answer(prompt)


def ids() -> list[str]:
    return [sample.id for sample in load_task("hkmmlu").samples]


def inspect_pieces(folder: Path) -> dict[str, Path]:
    """Logs of Inspect, the oldest first."""
    names = ids()
    others = {sample.subject for sample in load_task("hkmmlu").samples} - {LAW}
    # Name → the answers, the subjects and the options of a run.
    runs: dict[str, tuple[Callable[[str], str], str, Mapping[str, Any]]] = {
        "old": (answer, "", {}),
        "whole": (answer, "", {}),
        "even": (answer, "", {"sample_id": names[::2]}),
        "odd": (answer, "", {"sample_id": names[1::2]}),
        "first": (answer, "", {"limit": (0, 20)}),
        "second": (answer, "", {"limit": (20, ITEMS)}),
        "middle": (answer, "", {"limit": (10, 30)}),
        "middle_other": (another, "", {"limit": (10, 30)}),
        "law": (answer, LAW, {}),
        "others": (answer, ",".join(sorted(others)), {}),
        "epochs": (answer, "", {"epochs": 2}),
        "epochs_even": (answer, "", {"epochs": 2, "sample_id": names[::2]}),
        "epochs_odd": (answer, "", {"epochs": 2, "sample_id": names[1::2]}),
        "failed": (failing, "", {"fail_on_error": False}),
        "other": (another, "", {}),
        "smoke": (answer, "", {"limit": 5}),
        "smoke_other": (another, "", {"limit": 5}),
        # The mock model logs requests without a temperature.
        "smoke_warm": (another, "", {"limit": 5, "temperature": 0.7}),
    }
    logs: dict[str, Path] = {}
    for name, (reply, subjects, options) in runs.items():
        task = tasks.hkmmlu(subjects=subjects or None)
        model = answering_model(reply)
        logs[name] = run_inspect(folder / name, task, model, **options)
    logs["cancelled"] = cancelled(
        logs["whole"], folder / "cancelled.eval", {*names[:12]}
    )
    return logs


def cancelled(log: Path, path: Path, kept: Collection[str]) -> Path:
    """The log of a run that was cancelled when it had some of its items."""

    def change(name: str, data: bytes) -> bytes | None:
        if name == "header.json":
            header = json.loads(data) | {"status": "cancelled", "results": None}
            return json.dumps(header).encode()
        is_left_out = name.startswith("samples/") and json.loads(data)["id"] not in kept
        return None if is_left_out else data

    shutil.copy(log, path)
    rezipped(path, change)
    return path


def lm_eval_pieces(folder: Path) -> dict[str, Path]:
    """Folders with a log of lm-eval each, the oldest first."""
    runs: dict[str, tuple[Callable[[str], str], str, Mapping[str, Any]]] = {
        "whole": (mostly_read, "hkmmlu", {}),
        "first": (mostly_read, "hkmmlu", {"samples": {"hkmmlu": [*range(20)]}}),
        "second": (mostly_read, "hkmmlu", {"samples": {"hkmmlu": [*range(20, ITEMS)]}}),
        "middle": (mostly_read, "hkmmlu", {"samples": {"hkmmlu": [*range(10, 30)]}}),
        "middle_other": (another, "hkmmlu", {"samples": {"hkmmlu": [*range(10, 30)]}}),
        "law": (mostly_read, f"hkmmlu_{LAW}", {}),
        "smoke": (mostly_read, "hkmmlu", {"limit": 5}),
        "smoke_other": (another, "hkmmlu", {"limit": 5}),
        "smoke_warm": (another, "hkmmlu", {"limit": 5, "gen_kwargs": WARM}),
        "other": (another, "hkmmlu", {}),
    }
    logs: dict[str, Path] = {}
    for name, (reply, task, options) in runs.items():
        logs[name] = folder / name
        run_lm_eval(logs[name], task, model=AnsweringLM(reply), **options)
    return logs


Pieces = Callable[[str], Mapping[str, Path]]


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> Pieces:
    """The logs of a harness by name, made when they are needed."""
    makers = {"inspect": inspect_pieces, "lm-eval": lm_eval_pieces}

    @cache
    def logs(harness: str) -> Mapping[str, Path]:
        return makers[harness](tmp_path_factory.mktemp(harness))

    return logs


def gathered(logs: Mapping[str, Path], names: str, folder: Path) -> Path:
    """A folder with these logs, as a user has them."""
    for name in names.split():
        target = folder / name
        if logs[name].is_dir():
            shutil.copytree(logs[name], target)
        else:
            target.mkdir(parents=True)
            shutil.copy(logs[name], target / f"{name}.eval")
    return folder


def right(log: Path) -> dict[str, list[float]]:
    """The values of each item of one log, by its epochs."""
    (run,) = read_runs(log)
    values: dict[str, list[float]] = {}
    for item, value in zip(run.items.ids, run.items.values["acc"], strict=True):
        values.setdefault(item, []).append(float(value))
    return values


HARNESSES = ["lm-eval", pytest.param("inspect", marks=pytest.mark.slow)]
LIMITED = ("smoke", "even", "odd", "first", "second", "middle")
MIXTURES = [
    # harness, logs in the folder, logs whose items count, number left out, how the run ended
    ("inspect", "even odd", "even odd", 0, "success"),
    ("inspect", "first second", "first second", 0, "success"),
    ("inspect", "even odd smoke", "even odd", 1, "success"),
    ("inspect", "even odd smoke_other", "even odd", 1, "success"),
    ("inspect", "whole smoke", "whole", 1, "success"),
    ("inspect", "whole smoke_other", "whole", 1, "success"),
    ("inspect", "whole even odd", "whole", 2, "success"),
    ("inspect", "old whole", "whole", 1, "success"),
    ("inspect", "old other", "other", 1, "success"),
    ("inspect", "first middle", "first middle", 0, "success"),
    ("inspect", "first middle second", "first middle second", 0, "success"),
    ("inspect", "even", "even", 0, "success"),
    ("inspect", "smoke", "smoke", 0, "success"),
    ("inspect", "law others", "law others", 0, "success"),
    ("inspect", "law smoke", "law smoke", 0, "success"),
    ("inspect", "law whole", "whole", 1, "success"),
    ("inspect", "law even odd", "even odd", 1, "success"),
    ("inspect", "cancelled whole", "whole", 1, "success"),
    ("inspect", "cancelled smoke", "cancelled", 1, "cancelled"),
    ("inspect", "cancelled second", "cancelled second", 0, "cancelled"),
    ("inspect", "cancelled first second", "first second", 1, "success"),
    ("inspect", "epochs smoke", None, 0, ""),
    ("inspect", "whole smoke_warm", None, 0, ""),
    ("inspect", "epochs_even epochs_odd", "epochs_even epochs_odd", 0, "success"),
    ("inspect", "failed whole", "whole", 1, "success"),
    ("inspect", "failed smoke", "failed smoke", 0, "incomplete"),
    ("lm-eval", "first second", "first second", 0, "success"),
    ("lm-eval", "first second smoke", "first second", 1, "success"),
    ("lm-eval", "whole smoke_other", "whole", 1, "success"),
    ("lm-eval", "whole smoke_warm", None, 0, ""),
    ("lm-eval", "first middle", "first middle", 0, "success"),
    ("lm-eval", "law first second", "first second", 1, "success"),
    ("lm-eval", "law smoke", "law smoke", 0, "success"),
    ("lm-eval", "smoke second", "smoke second", 0, "success"),
]


@pytest.mark.parametrize(
    ("harness", "names", "counted", "left_out", "status"),
    [
        pytest.param(*mixture, marks=[pytest.mark.slow] * (mixture[0] == "inspect"))
        for mixture in MIXTURES
    ],
)
def test_a_folder_is_counted_as_by_hand(
    harness: str,
    names: str,
    counted: str | None,
    left_out: int,
    status: str,
    pieces: Pieces,
    tmp_path: Path,
) -> None:
    logs = pieces(harness)
    read = read_runs(gathered(logs, names, tmp_path))
    if counted is None:  # other settings were sent
        assert len(read) == len(names.split())
        return
    (run,) = read
    by_hand: dict[str, list[float]] = {}
    for name in counted.split():
        by_hand |= right(logs[name])
    every_value = [value for values in by_hand.values() for value in values]
    assert {*run.items.ids} == by_hand.keys()
    assert len(run.items) == len(every_value)
    figure = estimate(run, "acc")
    assert figure is not None
    assert figure.value == pytest.approx(sum(every_value) / len(every_value))
    assert len(read.skipped) == left_out
    assert all(log.is_superseded for log in read.skipped)
    assert run.status == status
    is_whole = len(by_hand) == ITEMS
    assert run.limited == (
        not is_whole and any(name in LIMITED for name in counted.split())
    )
    assert not harness_agreement(run).different
    assert harness_agreement(run).equal or counted == "cancelled"


@pytest.mark.parametrize(
    ("harness", "names", "counted"),
    [
        pytest.param(*mixture[:3], marks=[pytest.mark.slow] * (mixture[0] == "inspect"))
        for mixture in MIXTURES
        if mixture[1] != "old other"  # the rival's own log
    ],
)
def test_a_comparison_has_the_difference_counted_by_hand_or_is_refused(
    harness: str,
    names: str,
    counted: str | None,
    pieces: Pieces,
    tmp_path: Path,
) -> None:
    logs = pieces(harness)
    arguments = [f"a={gathered(logs, names, tmp_path)}", f"b={logs['other']}"]
    compared = CliRunner().invoke(app, ["compare", *arguments, "--format", "json"])
    by_hand: dict[str, list[float]] = {}
    for name in (counted or "").split():
        by_hand |= right(logs[name])
    values = [value for values in by_hand.values() for value in values]
    if len(values) != ITEMS:  # the rival has all items, once
        assert compared.exit_code == 2
        assert re.search(
            r"differ in items: \d+ items|first are not a random part", compared.output
        )
        return
    rivals = [value for (value,) in right(logs["other"]).values()]
    (comparison,) = json.loads(compared.stdout)["comparisons"]
    difference = comparison["effects"]["all"]["difference"]
    assert difference["items"] == ITEMS
    expected = (sum(rivals) - sum(values)) / ITEMS
    assert difference["value"] == pytest.approx(expected)


@pytest.mark.parametrize("harness", HARNESSES)
def test_parts_are_equal_to_the_whole_run(
    harness: str, pieces: Pieces, tmp_path: Path
) -> None:
    (joined,) = read_runs(gathered(pieces(harness), "first second", tmp_path / "parts"))
    assert joined.items.values["unparsed_rate"].any()
    (whole,) = read_runs(gathered(pieces(harness), "whole", tmp_path / "whole"))
    assert joined.comparable_as == whole.comparable_as
    assert [*joined.items.ids] == [*whole.items.ids]
    assert joined.items.clusters.tolist() == whole.items.clusters.tolist()
    assert joined.available == whole.available == ITEMS
    for name in whole.figures:
        assert estimate(joined, name) == estimate(whole, name), name


@pytest.mark.parametrize("harness", HARNESSES)
def test_parts_that_disagree_are_refused_by_name(
    harness: str, pieces: Pieces, tmp_path: Path
) -> None:
    folder = gathered(pieces(harness), "first middle_other", tmp_path)
    with pytest.raises(LogError, match=r"share 10 items and differ on \d of them"):
        read_runs(folder)
    named = [f"{name}={folder / name}" for name in ("first", "middle_other")]
    assert len(read_runs(named)) == 2


def test_a_smoke_run_is_named_in_the_first_lines_and_stops_no_gate(
    pieces: Pieces, tmp_path: Path
) -> None:
    folder = gathered(pieces("lm-eval"), "whole smoke_other", tmp_path / "base")
    shown = CliRunner().invoke(app, ["report", str(folder), "--format", "md"])
    first = shown.stdout.partition("|")[0]
    assert "logs left out for larger or newer ones of their items: 1" in first
    assert re.search(r"hkmmlu: \S+ counts, which has its items, too", shown.stdout)
    tuned = gathered(pieces("lm-eval"), "first second", tmp_path / "tuned")
    arguments = ["compare", f"a={folder}", f"b={tuned}", "--gate", "50"]
    gate = CliRunner().invoke(app, arguments)
    assert gate.exit_code == 0, gate.output
