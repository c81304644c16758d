"""The commands, on logs of the real harnesses."""

import csv
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hkcanto_tasks.cli import app

from .harness_runs import run_lm_eval

HEADINGS = ("Overview", "By subject: HKMMLU", "Extraction health", "Translation")


def unwrapped(done: Result) -> str:
    """What was printed, without the terminal's line ends."""
    return " ".join(done.stdout.split())


def hkcanto(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": "200"})


@pytest.fixture(scope="session")
def other_engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """lm-eval on g2p with the other rule-based engine, which makes fewer errors."""
    folder = tmp_path_factory.mktemp("other_engine")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HKCANTO_DATA_DIR", raising=False)
        patch.setenv("HKCANTO_DATA", "sample")
        run_lm_eval(folder, "hkcanto_g2p", model="hkcanto-g2p", model_args="engine=tojyutping")
    return folder


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("engine")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HKCANTO_DATA_DIR", raising=False)
        patch.setenv("HKCANTO_DATA", "sample")
        run_lm_eval(folder, "hkcanto_g2p", model="hkcanto-g2p", model_args="engine=pycantonese")
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
        titles = [section["title"] for section in json.loads(text)["sections"]]
        assert all(any(heading in title for title in titles) for heading in HEADINGS)
    elif form == "csv":
        sections = {row["section"] for row in csv.DictReader(text.splitlines())}
        assert sections >= {"overview", "extraction", "translation"}
    else:
        assert all(re.search(f"^## .*{heading}", text, re.MULTILINE) for heading in HEADINGS)
    assert [path.name for path in tmp_path.iterdir()] == [output.name]


def test_every_figure_is_the_harnesses_own(lm_eval_logs: Path, inspect_logs: Path) -> None:
    done = hkcanto("report", lm_eval_logs, inspect_logs, "--format", "md")
    (checked,) = re.findall(r"(\d+) figures equal those that the harnesses report", done.stdout)
    # In both harnesses 6 of g2p, 9 of HKMMLU, 8 of culture, 4 of translation, 8 of TMMLU+.
    assert int(checked) == 70
    assert "figures differ" not in done.stdout


def test_without_a_file_the_summary_is_printed(engine: Path) -> None:
    done = hkcanto("report", f"mine={engine}")
    assert done.exit_code == 0
    assert "mine" in done.stdout
    assert "--full" in done.stdout
    assert "Confusion" not in done.stdout


def test_items_are_shown_only_if_they_are_asked_for(engine: Path) -> None:
    prompt = "Please convert the given Cantonese sentence"
    assert prompt not in hkcanto("report", engine, "--format", "json").stdout
    shown = hkcanto("report", engine, "--format", "json", "--with-items").stdout
    assert prompt in shown
    assert "Do not publish it" in shown


def test_lengths_are_counted_in_tokens_of_a_tokenizer(lm_eval_logs: Path, tmp_path: Path) -> None:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.decoder = decoders.Fuse()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    done = hkcanto(
        *("report", lm_eval_logs, "--format", "md"),
        *("--tokenizer", tmp_path / "tokenizer.json"),
    )
    assert done.exit_code == 0, done.output
    assert "tokens of tokenizer.json" in done.stdout


def test_a_report_needs_runs_or_the_example() -> None:
    assert hkcanto("report").exit_code == 2
    assert hkcanto("report", "runs", "--example").exit_code == 2


def test_a_missing_path_is_one_line(tmp_path: Path) -> None:
    done = hkcanto("report", tmp_path / "nowhere")
    assert done.exit_code == 1
    assert "does not exist" in done.output
    assert "Traceback" not in done.output


def test_an_unknown_ending_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    done = hkcanto("report", tmp_path, "-o", tmp_path / "report.pdf")
    assert done.exit_code == 1
    assert ".html" in done.output


def test_a_file_that_cannot_be_written_leaves_nothing(engine: Path, tmp_path: Path) -> None:
    done = hkcanto("report", engine, "-o", tmp_path / "missing" / "report.md")
    assert done.exit_code == 1
    assert "Traceback" not in done.output
    assert list(tmp_path.iterdir()) == []


def test_two_runs_are_compared(engine: Path, other_engine: Path) -> None:
    done = hkcanto("compare", engine, other_engine)
    assert done.exit_code == 0, done.output
    assert "tojyutping against pycantonese" in done.stdout
    assert "paired permutation" in done.stdout


def test_a_gate_says_yes_and_no_by_its_exit_status(engine: Path, other_engine: Path) -> None:
    """ToJyutping makes 13 points fewer errors than PyCantonese on the sample sentences."""
    assert hkcanto("compare", engine, other_engine, "--gate", "2").exit_code == 0
    failed = hkcanto("compare", other_engine, engine, "--gate", "2")
    assert failed.exit_code == 1
    assert "the verdict flips at" in unwrapped(failed)


def test_the_verdict_flips_where_it_is_said_to(engine: Path, other_engine: Path) -> None:
    failed = unwrapped(hkcanto("compare", other_engine, engine, "--gate", "2"))
    flip = float(re.search(r"flips at δ = (\d+\.\d+)", failed)[1])
    assert hkcanto("compare", other_engine, engine, "--gate", flip - 0.02).exit_code == 1
    assert hkcanto("compare", other_engine, engine, "--gate", flip + 0.02).exit_code == 0


def test_runs_without_a_task_in_common_are_refused(engine: Path, tmp_path: Path) -> None:
    run_lm_eval(tmp_path, "hkcanto_cultural")
    done = hkcanto("compare", engine, tmp_path)
    assert done.exit_code == 2
    assert "nothing to compare" in done.output


def test_a_gate_is_not_passed_by_leaving_tasks_out(lm_eval_logs: Path, engine: Path) -> None:
    """The first run has HKMMLU, translation and more; the second only g2p."""
    assert hkcanto("compare", lm_eval_logs, engine).exit_code == 0
    assert hkcanto("compare", lm_eval_logs, engine, "--gate", "50").exit_code == 2


def test_runs_of_different_items_are_refused_unless_unpaired(engine: Path, tmp_path: Path) -> None:
    run_lm_eval(
        tmp_path, "hkcanto_g2p", model="hkcanto-g2p", model_args="engine=tojyutping", limit=40
    )
    done = hkcanto("compare", engine, tmp_path)
    assert done.exit_code == 2
    assert "20 items are only in" in done.output
    unpaired = hkcanto("compare", engine, tmp_path, "--no-paired")
    assert unpaired.exit_code == 0, unpaired.output
    assert "not matched" in unpaired.stdout


def test_three_runs_are_compared_pairwise(
    engine: Path, other_engine: Path, inspect_logs: Path
) -> None:
    done = hkcanto("compare", f"a={engine}", f"b={other_engine}", f"c={inspect_logs}")
    assert done.exit_code == 0, done.output
    assert "b against a" in done.stdout
    assert "c against b" in done.stdout


def test_fertility_of_a_tokenizer_with_a_token_a_character(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    done = hkcanto(
        *("fertility", f"each={tmp_path / 'tokenizer.json'}", "--benchmark", "tmmluplus"),
        *("--format", "json"),
    )
    assert done.exit_code == 0, done.output
    (table,) = (
        block
        for section in json.loads(done.stdout)["sections"]
        for block in section["blocks"]
        if block.get("type") == "table" or "columns" in block
    )
    names = [column["name"] for column in table["columns"]]
    cell = table["rows"][0]["cells"][names.index("Tokens per character")]
    assert cell["value"] == pytest.approx(1, abs=0.05)  # line ends are no tokens
