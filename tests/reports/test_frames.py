"""CSV and `to_frame`: one row per figure, one type per column, and the log's numbers."""

import io
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import jsonschema
import pandas as pd
import pytest
from inspect_ai.log import read_eval_log
from typer.testing import CliRunner, Result

from hkcanto import tasks
from hkcanto_tasks import read_runs
from hkcanto_tasks.cli import app
from hkcanto_tasks.results.frames import Runs
from hkcanto_tasks.results.reports import renderers
from hkcanto_tasks.results.runs import SkippedLog

from ..scripts import REPOSITORY
from .building import a_run
from .harness_runs import answer, answering_model, run_inspect

COLUMNS = [
    *(
        "model",
        "task",
        "setup",
        "figure",
        "subject",
        "value",
        "low",
        "high",
        "n",
        "unit",
    ),
    *("direction", "signature", "headline", "status", "step", "note"),
]
NUMBERS = ["value", "low", "high", "n", "step"]
MULTIPLE_CHOICE = {
    "acc": ("share", "higher"),
    "unparsed_rate": ("share", "lower"),
    "reasoning_cantonese": ("share", "neither"),
}


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two models on HKMMLU in eight subjects, and both engines on Jyutping."""
    folder = tmp_path_factory.mktemp("frames")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HKCANTO_DATA_DIR", raising=False)
        patch.setenv("HKCANTO_DATA", "sample")
        for name, read in (
            ("checkpoint-1000", answer),
            ("checkpoint-2000", lambda _: "答案：A"),
        ):
            run_inspect(folder / name, tasks.hkmmlu(), answering_model(read))
            engine = "pycantonese" if read is answer else "tojyutping"
            run_inspect(folder / name, tasks.g2p(), f"hkcanto/{engine}")
    return folder / "checkpoint-1000", folder / "checkpoint-2000"


def hkcanto(*arguments: str | Path) -> Result:
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert done.exit_code in (0, 2), done.output
    return done


def table(*arguments: str | Path) -> pd.DataFrame:
    """The CSV that a command prints, read with pandas."""
    return pd.read_csv(io.StringIO(hkcanto(*arguments, "--format", "csv").stdout))


def logged(folder: Path, task: str = "hkmmlu") -> Mapping[str, Sequence[float]]:
    """Subject → the items' scores in Inspect's log, 1 for a right answer."""
    (path,) = folder.glob(f"*_{task}_*.eval")
    found: dict[str, list[float]] = defaultdict(list)
    for sample in read_eval_log(str(path)).samples or ():
        found[sample.metadata["subject"]].append(
            (sample.scores or {})["judged"].value["acc"]
        )
    return found


# ---------------------------------------------------------------------- runs


def test_a_report_as_csv_has_a_row_for_each_figure(
    logs: tuple[Path, Path], tmp_path: Path
) -> None:
    path = tmp_path / "x.csv"
    hkcanto("report", f"a={logs[0]}", f"b={logs[1]}", "-o", path)
    read = pd.read_csv(path)
    assert [*read.columns] == COLUMNS
    for name in COLUMNS:
        assert pd.api.types.is_numeric_dtype(read[name]) == (
            name in (*NUMBERS, "headline")
        ), name
    assert pd.api.types.is_float_dtype(read.value)
    assert read.headline.dtype == bool
    key = ["model", "task", "setup", "figure", "subject"]
    assert not read.duplicated(key).any()
    # For each model, the headlines of HKMMLU and of Jyutping.
    assert sorted(read[read.headline].figure) == [
        "acc",
        "acc",
        "cer_published",
        "cer_published",
    ]
    wide = read[read.headline].pivot_table(
        index="model", columns="task", values="value"
    )
    assert wide.shape == (2, 2)


def test_its_values_are_those_of_the_log(logs: tuple[Path, Path]) -> None:
    read = table("report", f"a={logs[0]}", f"b={logs[1]}")
    read = read[read.task == "hkmmlu"]
    for model, folder in zip("ab", logs, strict=True):
        of_log = logged(folder)
        assert len(of_log) == 8
        own = read[(read.model == model) & (read.figure == "acc")]
        (whole,) = own[own.subject.isna()].itertuples()
        every = [value for values in of_log.values() for value in values]
        assert (whole.value, whole.n) == (pytest.approx(fmean(every)), len(every))
        by_subject = own[own.subject.notna()].set_index("subject")
        assert by_subject.n.to_dict() == {
            name: len(values) for name, values in of_log.items()
        }
        expected = {
            name: pytest.approx(fmean(values)) for name, values in of_log.items()
        }
        assert by_subject.value.to_dict() == expected
        assert not by_subject.headline.any()
        assert (own.low <= own.value).all()
        assert (own.value <= own.high).all()
    found = {row.figure: (row.unit, row.direction) for row in read.itertuples()}
    assert found.items() >= MULTIPLE_CHOICE.items()
    # Only the whole task has a mean over subjects.
    assert read[read.figure == "acc_macro"].subject.isna().all()
    assert read.signature.str.contains("data:sample").all()


def test_the_frame_is_the_csv(logs: tuple[Path, Path], tmp_path: Path) -> None:
    path, named = tmp_path / "x.csv", [f"a={logs[0]}", f"b={logs[1]}"]
    hkcanto("report", *named, "-o", path)
    frame = read_runs(named).to_frame()
    pd.testing.assert_frame_equal(
        pd.read_csv(path), frame, check_dtype=False, rtol=1e-15
    )
    assert frame.dtypes[NUMBERS].map(lambda kind: kind.kind).tolist() == [*"fffii"]


def test_a_checkpoint_has_its_step(logs: tuple[Path, Path]) -> None:
    read = table("report", f"tuned@1000={logs[0]}", f"tuned@2k={logs[1]}")
    assert read[read.headline].groupby("step").size().to_dict() == {1000: 2, 2000: 2}
    runs = [a_run("hkcanto_law", {"acc": [1.0]}, label="model-4000")]
    assert Runs(runs).to_frame().step.isna().all()


def test_a_figure_of_a_judge_is_in_the_frame() -> None:
    values = {"acc": [1.0, 0.0], "judged_score": [0.75, 0.25], "fluency": [5.0, 3.0]}
    run = a_run("hkcanto_summarization", values)
    frame = Runs([run]).to_frame().set_index("figure")
    assert frame.value[["judged_score", "fluency"]].tolist() == [0.5, 4.0]
    assert frame.direction[["judged_score", "fluency"]].tolist() == ["higher", "higher"]
    assert frame.unit[["judged_score", "fluency"]].tolist() == ["share", "count"]


def test_a_remark_stays_with_its_figure() -> None:
    # No interval of such a rate accounts for loops that did not occur.
    run = a_run("hkcanto_g2p", {"cer": [0.1] * 9}, weights={"cer": [10.0] * 9})
    (row,) = Runs([run]).to_frame().itertuples()
    assert "runaway" in row.note


def test_what_csv_cannot_say_is_said_beside_it(
    logs: tuple[Path, Path], tmp_path: Path
) -> None:
    for path in logs[0].glob("*.eval"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "broken.eval").write_bytes(b"PK")
    done = hkcanto("report", tmp_path, "--format", "csv")
    assert "broken.eval" in done.stderr
    assert "sample data" in done.stderr
    assert "Warning" not in done.stdout
    assert "broken" not in done.stdout


# ---------------------------------------------------------------------- comparisons


def test_a_comparison_as_csv_has_a_row_for_each_effect(logs: tuple[Path, Path]) -> None:
    read = table("compare", f"a={logs[0]}", f"b={logs[1]}")
    assert [*read.columns[:12]] == COLUMNS[:12]
    assert {*read.model, *read.baseline} == {"a", "b"}
    read = read[read.task == "hkmmlu"]
    a, b = map(logged, logs)
    own = read[read.figure == "acc"]
    by_subject = own[own.subject.notna()].set_index("subject")
    assert {*by_subject.index} == {*a}
    for name, row in by_subject.iterrows():
        change = fmean(b[name]) - fmean(a[name])
        assert row.value == pytest.approx(change)
        assert row.model_value - row.baseline_value == pytest.approx(change)
        pairs = list(zip(a[name], b[name], strict=True))
        counts = [sum(y > x for x, y in pairs), sum(y < x for x, y in pairs)]
        assert [row.wins, row.losses] == counts
    (whole,) = own[own.subject.isna()].itertuples()
    assert whole.headline
    assert not own[own.subject.notna()].headline.any()
    assert whole.ties == whole.n - whole.wins - whole.losses
    assert "gate_passed" not in read


def test_a_gate_is_in_the_row_of_its_figure(logs: tuple[Path, Path]) -> None:
    named = [f"a={logs[0]}", f"b={logs[1]}", "--gate", "5", "--format"]
    done = CliRunner().invoke(app, ["compare", *named, "csv"])
    read = pd.read_csv(io.StringIO(done.stdout))
    gated = read[read.gate_passed.notna()]
    # HKMMLU's answers are mostly unread, so it has no verdict.
    assert gated.figure.tolist() == ["cer_published"]
    assert (
        read[read.gate_passed.isna() & read.headline]
        .note.str.contains("no verdict")
        .all()
    )
    assert (gated.gate_delta == 5).all()
    assert (gated.gate_passed.astype(bool) == (gated.gate_bound < 5)).all()
    assert done.exit_code == 2


def test_a_part_is_not_taken_for_its_figure(logs: tuple[Path, Path]) -> None:
    read = table(
        "compare", f"a={logs[0]}", f"b={logs[1]}", "--metric", "acc_hk_specific"
    )
    assert {*read.figure} == {"acc_hk_specific"}
    assert not read.headline.any()


# ---------------------------------------------------------------------- without runs


def test_other_reports_have_one_type_a_column() -> None:
    for arguments in (
        (
            "plan",
            "hkcanto_law",
            "hkcanto_dse_zh",
            "--discordance",
            "20",
            "--gate",
            "2.5",
        ),
        ("estimate", "hkcanto_law", "hkcanto_orthography"),
    ):
        read = table(*arguments)
        assert read.columns[0] == "table"
        for name in read.columns:
            is_number = pd.api.types.is_numeric_dtype(read[name])
            assert is_number == (name not in {"table", "item_set", "task"}), name


def test_a_plan_says_of_what_its_points_are() -> None:
    read = table(
        "plan", "hkcanto_law", "--discordance", "0", "--gate", "2", "--gate", "2.5"
    )
    takes = read[read.table == "takes"].set_index(["item_set", "points"])
    # If no question differs: ln(0.05) / ln(1 - δ), rounded up.
    assert takes.by_compare_gate.to_dict() == {
        ("any", 2.0): 149,
        ("any", 2.5): 119,
        ("hkcanto_law", 2.0): 149,
        ("hkcanto_law", 2.5): 119,
    }


# ---------------------------------------------------------------------- JSON


def closed(schema: Any) -> Any:
    """The schema with only the documented keys: any other key is an error."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(each) for key, each in schema.items()}
    if "properties" in schema and "additionalProperties" not in schema:
        made["additionalProperties"] = False
    return made


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft202012Validator:
    path = Path(renderers.__file__).with_name("report.schema.json")
    written = json.loads(path.read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(written)
    return jsonschema.Draft202012Validator(closed(written))


def test_json_is_as_its_schema_says(
    logs: tuple[Path, Path], schema: jsonschema.Draft202012Validator
) -> None:
    for arguments in (
        ("report", "100=0", "200=1"),
        ("compare", "a=0", "b=1"),
        (
            "compare",
            "a=0",
            "b=1",
            "c=0",
            "--gate",
            "100",
            "--candidates",
            "2",
            "--look",
            "1/2",
        ),
        ("plan", "0", "1"),
        ("plan", "hkcanto_law", "hkcanto_dse_zh", "--discordance", "20"),
        ("estimate", "hkcanto_law"),
    ):
        given = []
        for each in arguments:
            name, equals, place = each.rpartition("=")
            given.append(
                f"{name}{equals}{logs[int(place)]}" if place in ("0", "1") else each
            )
        done = CliRunner().invoke(app, [*given, "--format", "json"])
        document = json.loads(
            done.stdout
        )  # also for a gate that is failed or incomplete
        schema.validate(document)
        assert document["tables"], arguments


def test_the_schema_refuses_other_data_than_reports(
    logs: tuple[Path, Path], schema: jsonschema.Draft202012Validator
) -> None:
    document = json.loads(hkcanto("report", logs[0], "--format", "json").stdout)
    for change in (
        {"format_version": 1},
        {"runs": [{**document["runs"][0], "figure": 0.5}]},
        {"runs": [{**document["runs"][0], "unknown": 1}]},
        {"tables": {"t": {**document["tables"]["runs"], "rows": [{"kind": "mine"}]}}},
    ):
        assert not schema.is_valid(document | change), change


def test_the_schema_is_where_the_documentation_says() -> None:
    path = "hkcanto_tasks/results/reports/renderers/report.schema.json"
    assert path in (REPOSITORY / "docs" / "reports.md").read_text("utf-8")
    assert (REPOSITORY / path).is_file()


def test_runs_are_shown_as_a_table() -> None:
    acc = a_run("hkcanto_law", {"acc": [1, 0, 0, 0] * 300}, label="a-longer-name")
    rate = a_run("hkcanto_g2p", {"cer_published": [0.25]}, label="b", shots=5)
    stopped = replace(rate, status="cancelled")
    lines = repr(Runs([acc, stopped], ())).splitlines()
    header, first, second = (re.split(" {2,}", line) for line in lines)
    assert header == ["model", "task", "headline", "items", "status"]
    assert first[:1] + first[2:] == ["a-longer-name", "acc 25.0%", "1,200", "finished"]
    assert first[1].startswith("hkcanto_law, ")
    assert second[::2] == ["b", "cer_published 25.0%", "cancelled"]
    starts = [
        line.index(cells[1])
        for line, cells in zip(lines, (header, first, second), strict=True)
    ]
    assert starts == [len("a-longer-name  ")] * 3
    both = repr(Runs([acc], (SkippedLog(Path("x.json"), "broken"),))).splitlines()
    assert both[-1] == "left out or read in part: 1 (see .skipped)"
