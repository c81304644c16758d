"""Reports on a benchmark from outside the package: sums, whose answers are numbers."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from hkcanto import tasks
from hkcanto_tasks import read_runs
from hkcanto_tasks.results.published import published_tables, tables_of
from hkcanto_tasks.results.reports.blocks import Estimate, Note, Section, TableBlock
from hkcanto_tasks.results.reports.standings import chance
from hkcanto_tasks.results.reports.summary import build_report
from hkcanto_tasks.results.runs import Run
from hkcanto_tasks.results.statistics.paired import compare

from .harness_runs import AnsweringLM, answering_model, run_inspect, run_lm_eval

FILES = {
    "benchmark.toml": """
name = "sums"
title = "Sums"
[data]
[prompts.plain]
question = "{question}="
[[tasks]]
name = "sums"
title = "Sums"
kind = "number"
files = { test = "{stem}.csv" }
subjects = [{ name = "easy" }, { name = "hard" }]
""",
    "easy.csv": "question,answer\n1+1,2\n2+2,4\n3+1,4\n",
    "hard.csv": "question,answer\n12*12,144\n",
    "published/tables.toml": """
benchmark = "sums"
paper = "Sums (2026)"
[[tables]]
number = 1
title = "Accuracy on sums"
headline = "All"
columns = [
  { name = "All", tasks = ["sums"] },
  { name = "Mean", tasks = ["sums"], metric = "acc_macro" },
]
""",
    "published/1.csv": "Model,All,Mean\nAbacus,75.0,50.0\nFingers,25.0,20.0\n",
}


@pytest.fixture
def benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in FILES.items():
        path = tmp_path / "benchmarks" / "sums" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path / "benchmarks"))


@pytest.fixture
def runs(benchmark: None, tmp_path: Path) -> Sequence[Run]:
    """A model that answers 4 to every question, in both harnesses."""
    del benchmark
    four = AnsweringLM(lambda _: "4")
    run_lm_eval(tmp_path / "logs", "sums", model=four)
    run_inspect(
        tmp_path / "logs", tasks.run(task="sums"), answering_model(lambda _: "4")
    )
    read = read_runs([tmp_path / "logs"])
    assert not read.skipped
    return read


def found(sections: Sequence[Section], name: str) -> dict[object, dict[str, object]]:
    """A table, by name: row name → heading → value."""
    (table,) = (
        block
        for section in sections
        for block in section.blocks
        if isinstance(block, TableBlock) and block.name == name
    )
    headings = [column.title for column in table.columns]
    rows = [
        [value.value if isinstance(value, Estimate) else value for value in row.values]
        for row in table.rows
    ]
    return {row[0]: dict(zip(headings, row, strict=True)) for row in rows}


def test_both_harnesses_are_read(runs: Sequence[Run]) -> None:
    one, other = runs
    assert {one.harness, other.harness} == {"lm-eval", "inspect"}
    assert one.comparable_as == other.comparable_as
    # No number of questions is declared, so the existing ones count.
    assert one.complete
    assert compare(one, other, resamples=100).overall.ties == 4


@pytest.mark.usefixtures("benchmark")
def test_a_part_of_it_is_known_as_one_and_has_no_rank(tmp_path: Path) -> None:
    four = AnsweringLM(lambda _: "4")
    run_lm_eval(tmp_path / "logs", "sums", model=four, limit=2)
    run_inspect(
        tmp_path / "logs",
        tasks.run(task="sums"),
        answering_model(lambda _: "4"),
        limit=2,
    )
    parts = read_runs([tmp_path / "logs"])
    assert {part.harness for part in parts} == {"lm-eval", "inspect"}
    assert [(part.limited, part.complete) for part in parts] == [(True, False)] * 2
    # Their number is not declared, but the logs have four.
    assert [part.expected for part in parts] == [4] * 2
    scores = found(build_report(parts).sections, "published_sums_1")
    assert [scores[part.label]["Rank"] for part in parts] == ["not all items"] * 2


def test_it_is_in_every_part_of_a_report(runs: Sequence[Run]) -> None:
    sections = build_report(runs).sections
    for row in found(sections, "runs").values():
        assert row["Score"] == 50
        assert "unread" not in str(row.get("Doubts"))
    label = runs[0].label
    parts = found(sections, "subjects_sums_0_shot")
    assert [row[label] for row in parts.values()] == [
        *(0.5, pytest.approx(1 / 3), pytest.approx(2 / 3), 0)
    ]
    notes = [
        block.text
        for part in sections
        for block in part.blocks
        if isinstance(block, Note)
    ]
    # In both harnesses: accuracy, its mean over subjects, each subject's, and unparsed_rate.
    assert "10 figures equal those of the harnesses." in notes


def test_a_run_is_ranked_in_its_benchmarks_own_tables(runs: Sequence[Run]) -> None:
    scores = found(build_report(runs).sections, "published_sums_1")
    assert list(scores) == ["Abacus", *(run.label for run in runs), "Fingers"]
    for run in runs:
        # Wilson's interval for 2 of 4 is 15 to 85 %: from above Abacus to below Fingers.
        assert scores[run.label]["Rank"] == "1–3 of 3"
        assert scores[run.label]["Mean"] == pytest.approx(1 / 3)


@pytest.mark.usefixtures("benchmark")
def test_its_tables_are_found() -> None:
    assert [table.name for table in tables_of("sums_easy")] == ["sums_1"]
    assert "hkcanto_1" in {table.name for table in published_tables()}


def test_ours_are_there_without_it() -> None:
    assert "sums_1" not in {table.name for table in published_tables()}


def test_chance_is_the_mean_over_items_of_one_in_their_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of four letters, two questions have two options; the prompt has braces that stay."""
    home = tmp_path / "few"
    home.mkdir()
    (home / "benchmark.toml").write_text(
        """
name = "few"
title = "Few"
[data]
[prompts.plain]
question = '''{question}
{options}
\\boxed{{}}'''
[[tasks]]
name = "few"
title = "Few"
kind = "multiple_choice"
blank_options = "absent"
files = { test = "few.csv" }
""",
        "utf-8",
    )
    rows = [
        "question,A,B,C,D,answer",
        "一？,甲,乙,,,A",
        "二？,甲,乙,,,B",
        "三？,甲,乙,丙,丁,D",
    ]
    (home / "few.csv").write_text("\n".join(rows), "utf-8")
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(home))
    asked: list[str] = []
    for name, letter in (("a", "A"), ("b", "B")):
        model = AnsweringLM(
            lambda prompt, letter=letter: asked.append(prompt) or letter
        )
        run_lm_eval(tmp_path / name, "few", model=model)
    assert {prompt.splitlines()[-1] for prompt in asked} == {r"\boxed{}"}
    made = read_runs([f"{name}={tmp_path / name}" for name in "ab"])
    assert chance(made[0]) == pytest.approx((1 / 2 + 1 / 2 + 1 / 4) / 3)
