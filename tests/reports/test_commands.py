"""`report`, `compare` and the related commands, on logs of the real harnesses."""

import csv
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hkcanto_tasks.cli import app
from hkcanto_tasks.commands import output
from hkcanto_tasks.results.reports.blocks import Note, Section, report_of

from ..cases import another_run
from .harness_runs import run_lm_eval

HEADINGS = ("Results", "Subjects", "Reading problems", "How this was made")

MAIN = "from hkcanto_tasks.cli import app; app()"


def unwrapped(done: Result) -> str:
    """The printed text, without the terminal's line breaks."""
    return " ".join(done.stdout.split())


def unwrapped_error(done: Result) -> str:
    return " ".join(done.output.split())


def hkcanto(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": "200"})


@pytest.fixture(scope="session")
def other_engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """lm-eval on g2p with the other rule-based engine, which makes fewer errors."""
    folder = tmp_path_factory.mktemp("other_engine")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HKCANTO_DATA_DIR", raising=False)
        patch.setenv("HKCANTO_DATA", "sample")
        run_lm_eval(
            folder, "hkcanto_g2p", model="hkcanto-g2p", model_args="engine=tojyutping"
        )
    return folder


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("engine")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HKCANTO_DATA_DIR", raising=False)
        patch.setenv("HKCANTO_DATA", "sample")
        run_lm_eval(
            folder, "hkcanto_g2p", model="hkcanto-g2p", model_args="engine=pycantonese"
        )
    return folder


@pytest.mark.parametrize("form", ["html", "md", "json", "csv"])
def test_a_report_of_both_harnesses_in_each_form(
    form: str, lm_eval_logs: Path, inspect_logs: Path, tmp_path: Path
) -> None:
    output = tmp_path / f"report.{form}"
    done = hkcanto("report", lm_eval_logs, inspect_logs, "-o", output)
    assert done.exit_code == 0, done.output
    text = output.read_text("utf-8")
    if form == "html":
        assert all(heading in text for heading in HEADINGS)
    elif form == "json":
        sections = {table["section"] for table in json.loads(text)["tables"].values()}
        assert sections >= {"results", "subjects", "reading", "figures", "made"}
    elif form == "csv":
        figures = {row["figure"] for row in csv.DictReader(text.splitlines())}
        assert figures >= {"cer_published", "acc", "unparsed_rate", "bleu"}
    else:
        assert all(
            re.search(f"^## .*{heading}", text, re.MULTILINE) for heading in HEADINGS
        )
    assert [path.name for path in tmp_path.iterdir()] == [output.name]


def test_every_figure_is_the_harnesses_own(
    lm_eval_logs: Path, inspect_logs: Path
) -> None:
    done = hkcanto("report", lm_eval_logs, inspect_logs, "--format", "md")
    (checked,) = re.findall(r"(\d+) figures equal those of the harnesses", done.stdout)
    # In both harnesses: 6 figures of g2p, 9 of HKMMLU, 8 of culture, 5 of translation, 8 of TMMLU+.
    assert int(checked) == 70
    assert "differ from the harness" not in done.stdout


def test_without_a_file_the_summary_is_printed(engine: Path) -> None:
    done = hkcanto("report", f"mine={engine}")
    assert done.exit_code == 0
    assert "mine" in done.stdout
    assert "--full" in done.stdout


def test_two_models_are_a_row_a_task_at_80_columns(
    lm_eval_logs: Path, inspect_logs: Path
) -> None:
    runs = (f"a={lm_eval_logs}", f"b={inspect_logs}")
    done = CliRunner().invoke(app, ["report", *runs], env={"COLUMNS": "80"})
    assert done.exit_code == 0, done.output
    table = done.stdout[
        done.stdout.index("Task by task") : done.stdout.index("Not shown")
    ]
    said = " ".join(table.split())
    for task in ("HKMMLU", "Jyutping grapheme-to-phoneme", "Translation"):
        assert task in said
    assert "CER as published (lower is better)" in said
    assert "sample data" in said
    # A command to paste is one line, however long the paths are.
    lines = [line for line in done.stdout.splitlines() if "  hkcanto " not in line]
    assert max(map(len, lines)) <= 80
    assert f" {shlex.join(runs)}" in done.stdout


def test_a_comparison_in_a_file_prints_its_verdict_alone(
    engine: Path, other_engine: Path, tmp_path: Path
) -> None:
    done = hkcanto("compare", engine, other_engine, "-o", tmp_path / "x.html")
    assert done.exit_code == 0, done.output
    assert "tojyutping" in done.output
    assert "Written: " in done.output
    assert len(done.output.splitlines()) <= 12
    assert "W/L/T" not in done.output


def test_a_report_needs_runs_or_the_example() -> None:
    assert hkcanto("report").exit_code == 2
    assert hkcanto("report", "runs", "--example").exit_code == 2


@pytest.mark.slow
def test_the_example_runs_nothing_from_the_current_folder(tmp_path: Path) -> None:
    for module in (
        "lm_eval",
        "inspect_ai",
        "numpy",
        "sitecustomize",
        "pycantonese",
        "logging",
    ):
        ran = f"open({str(tmp_path / 'ran')!r}, 'a').write({module!r})\n"
        (tmp_path / f"{module}.py").write_text(ran, "utf-8")
    # Inspect reads `.env`; this one would make it run another model.
    (tmp_path / ".env").write_text(
        "INSPECT_EVAL_LIMIT=1\nHKCANTO_DATA_DIR=nowhere\n", "utf-8"
    )
    (tmp_path / "hkcanto").mkdir()
    (tmp_path / "hkcanto" / "g2p").write_text("", "utf-8")
    # -P leaves the current folder off the path, as for an installed script.
    done = subprocess.run(
        [sys.executable, "-P", "-c", MAIN, "report", "--example", "-o", "made.md"],
        cwd=tmp_path,
        env={**os.environ, "HKCANTO_BENCHMARKS": "", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "ran").exists()
    text = (tmp_path / "made.md").read_text("utf-8")
    assert "pycantonese" in text
    assert "tojyutping" in text


def test_a_missing_path_is_one_line(tmp_path: Path) -> None:
    done = hkcanto("report", tmp_path / "nowhere")
    assert done.exit_code == 2
    assert "does not exist" in done.output
    assert "Traceback" not in done.output


def test_an_unknown_ending_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    done = hkcanto("report", tmp_path, "-o", tmp_path / "report.pdf")
    assert done.exit_code == 1
    assert ".html" in done.output


def test_a_file_that_cannot_be_written_leaves_nothing(
    engine: Path, tmp_path: Path
) -> None:
    (tmp_path / "a_file").touch()
    done = hkcanto("report", engine, "-o", tmp_path / "a_file" / "report.md")
    assert done.exit_code == 1
    assert "Traceback" not in done.output
    assert [each.name for each in tmp_path.iterdir()] == ["a_file"]


def test_two_runs_are_compared(engine: Path, other_engine: Path) -> None:
    done = hkcanto("compare", engine, other_engine)
    assert done.exit_code == 0, done.output
    assert "tojyutping against pycantonese" in done.stdout
    assert "paired permutation" in unwrapped(done)


def test_a_gate_says_yes_and_no_by_its_exit_status(
    engine: Path, other_engine: Path
) -> None:
    """ToJyutping makes 13 points fewer errors than PyCantonese on the sample sentences."""
    assert hkcanto("compare", engine, other_engine, "--gate", "2").exit_code == 0
    failed = hkcanto("compare", other_engine, engine, "--gate", "2")
    assert failed.exit_code == 1
    assert "Failed: pycantonese is more than 2 points worse" in unwrapped(failed)


def test_the_verdict_flips_where_it_is_said_to(
    engine: Path, other_engine: Path
) -> None:
    done = hkcanto("compare", other_engine, engine, "--gate", "2", "--format", "json")
    gate = json.loads(done.stdout)["gate"]
    assert (gate["verdict"], gate["delta"]) == ("worse", 2)
    lower = gate["tasks"][0]["lower"]
    for delta, status in ((lower - 0.01, 1), (lower + 0.01, 3)):
        done = hkcanto("compare", other_engine, engine, "--gate", delta)
        assert done.exit_code == status
    assert (
        hkcanto(
            "compare", other_engine, engine, "--gate", gate["bound"] - 0.01
        ).exit_code
        == 3
    )
    assert (
        hkcanto(
            "compare", other_engine, engine, "--gate", gate["bound"] + 0.01
        ).exit_code
        == 0
    )


@pytest.mark.parametrize(
    ("shared", "among"),
    [
        ((), 1),
        (("--look", "2/4"), 4),
        (("--candidates", "10"), 10),
        (("--look", "4/4", "--candidates", "2"), 8),
    ],
)
def test_looks_and_candidates_share_the_error_of_a_gate(
    shared: tuple[str, ...], among: int, engine: Path, tmp_path: Path
) -> None:
    """The bound for an equal run of n items is 1 - error^(1/n)."""
    equal = another_run(engine, tmp_path / "equal")
    arguments = ("compare", f"a={engine}", f"b={equal}", "--gate", "50", *shared)
    done = hkcanto(*arguments)
    assert done.exit_code == 0, done.output
    shown = unwrapped(hkcanto(*arguments, "--full"))
    assert f"{100 - 5 / among:.6g} % confidence" in shown
    gate = json.loads(hkcanto(*arguments, "--format", "json").stdout)["gate"]
    assert gate["bound"] == pytest.approx(100 * (1 - (0.05 / among) ** (1 / 60)))
    assert gate["tasks"][0]["confidence"] == pytest.approx(1 - 0.05 / among)


@pytest.mark.parametrize(
    "given",
    [
        ("--look", "2/4"),
        ("--candidates", "2"),
        ("--allow-differences", "shots"),
        ("--gate", "2", "--look", "5/4"),
        ("--gate", "2", "--look", "0/4"),
        ("--gate", "2", "--look", "second"),
    ],
)
def test_options_of_a_gate_that_make_no_sense_are_refused(
    given: tuple[str, ...], engine: Path, other_engine: Path
) -> None:
    done = hkcanto("compare", engine, other_engine, *given)
    assert done.exit_code == 2
    assert "Traceback" not in done.output
    assert any(word in done.output for word in ("need --gate", "the second of four"))


def test_no_gate_is_passed_across_setups_unless_it_is_said(
    engine: Path, tmp_path: Path
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HKCANTO_DATA_DIR", raising=False)
        patch.setenv("HKCANTO_DATA", "sample")
        how = {"model": "hkcanto-g2p", "model_args": "engine=pycantonese"}
        run_lm_eval(tmp_path, "hkcanto_g2p", num_fewshot=0, **how)
    arguments = ("compare", f"base={engine}", f"tuned={tmp_path}")
    assert hkcanto(*arguments).exit_code == 0
    refused = hkcanto(*arguments, "--gate", "50")
    assert refused.exit_code == 2
    (allowed,) = re.findall(r"--allow-differences ([\w,]+)", unwrapped_error(refused))
    assert "shots" in allowed.split(",")
    done = hkcanto(*arguments, "--gate", "50", "--allow-differences", allowed)
    assert done.exit_code == 0, done.output
    assert "They differ in shots" in unwrapped(done)


def test_intervals_of_error_rates_say_that_unseen_loops_are_not_in_them(
    engine: Path, other_engine: Path
) -> None:
    told = "† The interval knows of no runaway responses but those seen: up to 3 in n may be"
    done = hkcanto("compare", engine, other_engine, "--metric", "cer")
    assert told in unwrapped(done)
    assert re.search(r"Jyutping .*\] †", done.stdout)
    # Every gold syllable counts once in the headline, whatever the response's length.
    assert "†" not in hkcanto("compare", engine, other_engine).stdout
    made = hkcanto("report", engine, "--full")
    assert told in unwrapped(made)
    assert re.search(r"\d\] †", made.stdout)
    rows = json.loads(hkcanto("report", engine, "--format", "json").stdout)["tables"]
    notes = [
        value["note"]
        for of in rows.values()
        for row in of["rows"]
        for value in row.values()
        if isinstance(value, dict)
    ]
    assert any("no runaway responses but those seen" in note for note in notes)


def test_a_limited_run_passes_no_gate_on_a_rate_by_length(tmp_path: Path) -> None:
    for engine in ("pycantonese", "tojyutping"):
        args = f"engine={engine}"
        run_lm_eval(
            tmp_path / engine,
            "hkcanto_g2p",
            model="hkcanto-g2p",
            model_args=args,
            limit=40,
        )
    arguments = (
        "compare",
        tmp_path / "pycantonese",
        tmp_path / "tojyutping",
        "--gate",
        "90",
    )
    assert hkcanto(*arguments).exit_code == 0  # every sentence counts alike
    done = hkcanto(*arguments, "--metric", "cer")
    assert done.exit_code == 2
    assert "the largest length of an item" in unwrapped_error(done)


def test_a_gate_above_all_points_is_refused(engine: Path, other_engine: Path) -> None:
    assert hkcanto("compare", engine, other_engine, "--gate", "101").exit_code == 2


def test_json_has_the_effects_and_the_gate_by_name(
    engine: Path, other_engine: Path
) -> None:
    named = (f"old={engine}", f"new={other_engine}")
    made = json.loads(
        hkcanto("compare", *named, "--gate", "2", "--format", "json").stdout
    )
    (one,), gate = made["comparisons"], made["gate"]
    assert (one["task"], one["a"]["label"], one["b"]["label"]) == (
        "hkcanto_g2p",
        "old",
        "new",
    )
    effect = one["effects"]["all"]
    assert effect["difference"]["value"] == pytest.approx(effect["b"] - effect["a"])
    assert effect["wins"] > effect["losses"]
    (task,) = gate["tasks"]
    assert (gate["verdict"], task["verdict"], task["task"]) == (
        "passed",
        "passed",
        "hkcanto_g2p",
    )
    assert task["bound"] == gate["bound"] < 2
    assert task["method"] == gate["method"]
    assert (
        json.loads(hkcanto("compare", *named, "--format", "json").stdout)["gate"]
        is None
    )


def test_markdown_for_a_pull_request_has_the_gate_first(
    lm_eval_logs: Path, inspect_logs: Path
) -> None:
    gate = ("--gate", "5", "--allow-differences", "stop,template")
    done = hkcanto("compare", lm_eval_logs, inspect_logs, *gate, "--format", "github")
    text = done.stdout
    headings = re.findall("^#+ (.*)$", text, re.MULTILINE)
    assert headings[1] == "Gate"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("order", "status"),
    [((0, 1), 0), ((1, 0), 1), ((0, 0), 2)],
    ids=["passed", "not", "refused"],
)
@pytest.mark.parametrize("form", [(), ("--format", "md"), ("-o", "report.md")])
def test_the_exit_status_does_not_depend_on_the_reader_of_the_pipe(
    engine: Path,
    other_engine: Path,
    order: tuple[int, int],
    status: int,
    form: tuple[str, ...],
    tmp_path: Path,
) -> None:
    """As in `hkcanto compare … | head -0`: the reader exits before anything is written."""
    runs = [str((engine, other_engine)[place]) for place in order]
    command = [sys.executable, "-c", MAIN, "compare", *runs, "--gate", "2", *form]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            command, stdout=writing, stderr=subprocess.PIPE, cwd=tmp_path, check=False
        )
    finally:
        os.close(writing)
    assert done.returncode == status, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert b"Broken" not in done.stderr
    assert (tmp_path / "report.md").exists() == ("-o" in form and status < 2)


@pytest.mark.slow
def test_the_status_is_that_of_the_gate_behind_a_pipe(
    engine: Path, other_engine: Path
) -> None:
    compare = f"{sys.executable} -c '{MAIN}' compare --full --gate 2"
    script = f"{compare} {other_engine} {engine} | head -n 1; exit ${{PIPESTATUS[0]}}"
    assert subprocess.run(["bash", "-c", script], check=False).returncode == 1


def test_a_repeated_verdict_is_printed_as_the_rest_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rich ends a command with status 1 at a closed pipe, so nothing is printed through it."""
    printed: list[str] = []
    monkeypatch.setattr(output, "_echo_rendered", printed.append)
    monkeypatch.setattr(output.out, "height", 1)
    verdict = Section("Results", [Note("B leads.", "verdict")], "results", True)
    output.write(report_of([verdict], "A report"), None, None)
    assert "".join(printed).count("B leads.") == 2
    assert capsys.readouterr().out == ""


def test_a_narrow_terminal_keeps_the_interval_and_who_wins(
    engine: Path, other_engine: Path
) -> None:
    arguments = ["compare", str(engine), str(other_engine)]
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "80"})
    rows = [line for line in done.stdout.splitlines() if line.startswith("Jyutping")]
    assert any(re.search(r"\+\d+\.\d \[\+\d+\.\d, \+\d+\.\d\]", row) for row in rows), (
        rows
    )


def test_the_same_log_twice_is_refused_with_advice(engine: Path) -> None:
    done = hkcanto("compare", engine, engine)
    assert done.exit_code == 2
    assert "by name: hkcanto compare a=LOG b=LOG" in " ".join(done.output.split())


def test_two_conditions_in_one_folder_must_be_named(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HKCANTO_DATA_DIR", raising=False)
        patch.setenv("HKCANTO_DATA", "sample")
        files = [
            run_lm_eval(tmp_path, "hkcanto_law", num_fewshot=shots) for shots in (0, 1)
        ]
    done = hkcanto("compare", tmp_path)
    assert done.exit_code == 2
    assert "hkcanto compare a=LOG b=LOG" in " ".join(done.output.split())
    # The mock model's answers cannot be read, so the comparison has no verdict.
    named = hkcanto("compare", f"a={files[0]}", f"b={files[1]}")
    assert named.exit_code == 2
    assert "could not be read: no verdict" in unwrapped(named)


def test_a_figure_that_a_task_lacks_is_named_and_leaves_the_gate_open(
    lm_eval_logs: Path, inspect_logs: Path
) -> None:
    arguments = ("compare", lm_eval_logs, inspect_logs, "--metric", "cer_published")
    assert hkcanto(*arguments).exit_code == 0
    done = hkcanto(*arguments, "--gate", "50", "--allow-differences", "stop,template")
    assert done.exit_code == 2
    assert "hkmmlu does not have the figure 'cer_published'" in unwrapped(done)


def test_runs_without_a_task_in_common_are_refused(
    engine: Path, tmp_path: Path
) -> None:
    run_lm_eval(tmp_path, "hkcanto_cultural")
    done = hkcanto("compare", engine, tmp_path)
    assert done.exit_code == 2
    assert "nothing to compare" in done.output


def test_a_gate_is_not_passed_by_leaving_tasks_out(
    lm_eval_logs: Path, engine: Path
) -> None:
    """The first run has HKMMLU, translation and more; the second only g2p."""
    assert hkcanto("compare", lm_eval_logs, engine).exit_code == 0
    assert hkcanto("compare", lm_eval_logs, engine, "--gate", "50").exit_code == 2


def test_runs_of_different_items_are_refused(engine: Path, tmp_path: Path) -> None:
    run_lm_eval(
        tmp_path,
        "hkcanto_g2p",
        model="hkcanto-g2p",
        model_args="engine=tojyutping",
        limit=40,
    )
    done = hkcanto("compare", engine, tmp_path)
    assert done.exit_code == 2
    assert "20 items are only in" in done.output


def test_three_runs_are_one_table_and_their_pairs_on_request(
    engine: Path, other_engine: Path, inspect_logs: Path
) -> None:
    done = hkcanto("compare", f"a={engine}", f"b={other_engine}", f"c={inspect_logs}")
    assert done.exit_code == 0, done.output
    assert "3 models compared" in done.stdout
    assert "b against a" not in done.stdout
    every = hkcanto(
        "compare", f"a={engine}", f"b={other_engine}", f"c={inspect_logs}", "--full"
    )
    assert "b against a" in every.stdout
    assert "c against b" in every.stdout
