"""Cut-off, hostile and old logs, and those of other tasks: one line each, no traceback."""

import json
import re
import resource
import shutil
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from hkcanto import tasks
from hkcanto_tasks import read_runs
from hkcanto_tasks.cli import app
from hkcanto_tasks.errors import LogError
from hkcanto_tasks.results.frames import Runs
from hkcanto_tasks.results.runs import Run

from ..cases import another_run
from .harness_runs import answer, answering_model, read_answer, run_inspect, run_lm_eval


@pytest.fixture
def lm_eval_g2p(tmp_path: Path, lm_eval_logs: Path) -> Path:
    """A folder with a log of lm-eval, to be damaged."""
    folder = tmp_path / "damaged"
    shutil.copytree(lm_eval_logs / "pycantonese", folder)
    return folder


@pytest.fixture
def inspect_g2p(tmp_path: Path, inspect_logs: Path) -> Path:
    """A folder with a log of Inspect, to be damaged."""
    folder = tmp_path / "damaged"
    folder.mkdir()
    (log,) = inspect_logs.glob("*_g2p_*.eval")
    shutil.copy(log, folder / "log.eval")
    return folder


@pytest.fixture
def beside(inspect_logs: Path) -> Callable[[Path], Runs]:
    """Read a folder together with a good log."""
    (good,) = inspect_logs.glob("*_hkmmlu_*.eval")

    def read(folder: Path) -> Runs:
        found = read_runs([folder, good])
        assert [each.task for each in found] == ["hkmmlu"]
        return found

    return read


def only_reason(read: Runs) -> str:
    (skipped,) = read.skipped
    assert "\n" not in skipped.reason
    return skipped.reason


def rewritten(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a JSON file."""
    content = json.loads(path.read_text("utf-8"))
    change(content)
    path.write_text(json.dumps(content), "utf-8")


def results_of(folder: Path) -> Path:
    (path,) = folder.glob("results_*.json")
    return path


def samples_of(folder: Path) -> Path:
    (path,) = folder.glob("samples_*.jsonl")
    return path


def rezipped(
    log: Path, change: Callable[[str, bytes], bytes | None], method: int = 8
) -> None:
    """Rewrite an archive; `change` returns the new content of each member."""
    import zipfile_zstd  # noqa: F401

    with zipfile.ZipFile(log) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(log, "w", method) as archive:
        for name, data in members.items():
            if (changed := change(name, data)) is not None:
                archive.writestr(name, changed)


Beside = Callable[[Path], Runs]


def test_results_that_are_cut_off(lm_eval_g2p: Path, beside: Beside) -> None:
    results = results_of(lm_eval_g2p)
    data = results.read_bytes()
    for kept in (0, 1, 200, len(data) // 2, len(data) - 9):
        results.write_bytes(data[:kept])
        assert "cut off or damaged" in only_reason(beside(lm_eval_g2p)), kept


def test_samples_that_are_cut_off(lm_eval_g2p: Path, beside: Beside) -> None:
    samples = samples_of(lm_eval_g2p)
    lines = samples.read_bytes().splitlines(keepends=True)
    for whole in (12, 59):  # in a line
        samples.write_bytes(b"".join(lines[:whole]) + lines[whole][:90])
        read = read_runs([lm_eval_g2p])
        pattern = (
            rf"line {whole + 1}: cut off or damaged.*; it has {whole} of 60 samples"
        )
        assert re.fullmatch(pattern, only_reason(read)), whole
        assert [len(each.items) for each in read] == [whole]
        assert not read[0].complete
    samples.write_bytes(b"".join(lines[:40]))
    read = read_runs([lm_eval_g2p])
    assert only_reason(read) == "it has 40 of 60 samples: it is cut off"
    assert [len(each.items) for each in read] == [40]
    samples.write_bytes(b"")
    assert only_reason(beside(lm_eval_g2p)) == "it has 0 of 60 samples: it is cut off"


def test_a_bad_name_of_a_task_does_not_cost_the_others(lm_eval_g2p: Path) -> None:
    def change(log: dict[str, Any]) -> None:
        log["configs"] = {"../g2p": log["configs"]["hkcanto_g2p"], **log["configs"]}

    rewritten(results_of(lm_eval_g2p), change)
    read = read_runs([lm_eval_g2p])
    assert [len(each.items) for each in read] == [60]
    assert only_reason(read).startswith("../g2p: cut off or damaged: Invalid name")


@pytest.mark.parametrize("counts", [{}, {"effective": None, "original": 60}])
def test_a_task_without_its_number_of_samples_does_not_cost_the_others(
    counts: dict[str, Any], lm_eval_g2p: Path
) -> None:
    def change(log: dict[str, Any]) -> None:
        log["configs"]["other"] = log["configs"]["hkcanto_g2p"]
        log["n-samples"]["other"] = counts

    rewritten(results_of(lm_eval_g2p), change)
    read = read_runs([lm_eval_g2p])
    assert [len(each.items) for each in read] == [60]
    assert only_reason(read).startswith("other: cut off or damaged")


def test_a_bad_sample_does_not_cost_the_others(lm_eval_g2p: Path) -> None:
    samples = samples_of(lm_eval_g2p)
    first, second, third, *others = samples.read_bytes().splitlines(keepends=True)
    second = b"[]\n"
    third = third.replace(b'"subject": ""', b'"subject": "opera"')
    samples.write_bytes(b"".join([first, second, third, *others]))
    read = read_runs([lm_eval_g2p])
    assert re.fullmatch(
        "line 2: not in a format that this version knows.*; it has 58 of 60 samples",
        only_reason(read),
    )
    assert [len(each.items) for each in read] == [58]


def test_results_and_samples_without_each_other(
    lm_eval_g2p: Path, beside: Beside
) -> None:
    samples = samples_of(lm_eval_g2p)
    moved = samples.rename(lm_eval_g2p.parent / samples.name)
    assert "run lm_eval with --log_samples" in only_reason(beside(lm_eval_g2p))
    moved.rename(samples)
    results_of(lm_eval_g2p).unlink()
    with pytest.raises(
        LogError, match=r"a folder of logs\. Give the results_….json of lm-eval"
    ):
        read_runs(lm_eval_g2p)


def test_other_tasks_of_lm_eval(lm_eval_g2p: Path, beside: Beside) -> None:
    others = {"arc_easy": {"dataset_path": "allenai/ai2_arc"}}
    rewritten(results_of(lm_eval_g2p), lambda log: log["configs"].update(others))
    read = read_runs([lm_eval_g2p])
    assert [each.task for each in read] == ["hkcanto_g2p"]
    assert only_reason(read) == "not tasks of hkcanto: arc_easy"
    rewritten(results_of(lm_eval_g2p), lambda log: log.update(configs=others))
    assert only_reason(beside(lm_eval_g2p)) == "not tasks of hkcanto: arc_easy"


def test_signatures_of_another_kind(lm_eval_g2p: Path, beside: Beside) -> None:
    parts = (
        "shots:5|examples:paper|data:sample|sent:a1|read:b2|metric:published|v:0.1.0"
    )
    for signature, why in (
        (None, "no signature"),
        ("", "of another version of hkcanto"),
        ("hkcanto-g2p", "of another version of hkcanto"),
        ("hkcanto-g2p|shots:many|data:x", "of another version of hkcanto"),
        ("||||", "of another version of hkcanto"),
        (f"hkcanto-g2p|{parts}", "of another version of hkcanto"),
        (f"hkcanto-opera|{parts}|pkg:1", "has no task 'hkcanto_opera'"),
    ):
        metadata = {"signature": signature}
        rewritten(
            results_of(lm_eval_g2p),
            lambda log, new=metadata: log["configs"]["hkcanto_g2p"].update(
                metadata=new
            ),
        )
        assert why in only_reason(beside(lm_eval_g2p)), signature


def test_results_in_an_unknown_form(lm_eval_g2p: Path, beside: Beside) -> None:
    for text in (
        "[]",
        "{}",
        '{"results": [], "configs": {}}',
        '{"results": {}, "configs": 3}',
    ):
        results_of(lm_eval_g2p).write_text(text)
        assert "not in a format that this version knows" in only_reason(
            beside(lm_eval_g2p)
        ), text


def test_samples_in_an_unknown_form(lm_eval_g2p: Path, beside: Beside) -> None:
    samples_of(lm_eval_g2p).write_text('{"doc": {"text": "?"}, "filtered_resps": []}\n')
    assert "line 1: not in a form" in only_reason(beside(lm_eval_g2p))


def test_a_run_of_lm_eval_without_scores(lm_eval_g2p: Path, beside: Beside) -> None:
    samples = samples_of(lm_eval_g2p)
    lines = [json.loads(line) for line in samples.open(encoding="utf-8")]
    for line in lines:
        del line["doc"]["judgement"]
    samples.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "--predict_only" in only_reason(beside(lm_eval_g2p))


def test_a_log_without_scores_names_the_way_on(tmp_path: Path) -> None:
    task = "hkcanto_phonology"
    run_inspect(tmp_path / "a", tasks.phonology(), limit=2, score=False)
    run_lm_eval(tmp_path / "b", task, limit=2, predict_only=True)
    for folder in (tmp_path / "a", tmp_path / "b"):
        with pytest.raises(LogError, match="hkcanto rescore LOG -o FOLDER"):
            read_runs(folder)
        rescored = tmp_path / f"{folder.name}-again"
        done = CliRunner().invoke(app, ["rescore", str(folder), "-o", str(rescored)])
        assert done.exit_code == 0, done.output
        assert len(read_runs(rescored)[0].items) == 2
    run_inspect(tmp_path / "c", tasks.phonology(), limit=2, log_samples=False)
    with pytest.raises(LogError, match="responses are lost: run it again"):
        read_runs(tmp_path / "c")


def test_nesting_without_end(lm_eval_g2p: Path, beside: Beside) -> None:
    results_of(lm_eval_g2p).write_text('{"results": {"a": {"b": ' + "[" * 100_000)
    assert "cut off or damaged: " in only_reason(beside(lm_eval_g2p))


def test_hostile_responses_are_read(lm_eval_g2p: Path) -> None:
    hostile = [
        "\ud800 hou2",
        "nei5 \x00 hou2",
        "a" * 1_000_000,
        "</table><script>",
        "\u202enei5",
    ]
    samples = samples_of(lm_eval_g2p)
    lines = [json.loads(line) for line in samples.open(encoding="utf-8")]
    lines.sort(key=lambda line: int(line["doc"]["id"].rpartition("/")[2]))
    for line, response in zip(lines, hostile, strict=False):
        line |= {"filtered_resps": [response], "resps": [[response]]}
        line["doc"]["judgement"]["values"]["cer"] = float("nan")
    samples.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    (run,) = read_runs([lm_eval_g2p], texts=True)
    responses = [text.response for text in run.items.texts[:5]]
    assert responses == ["\ufffd hou2", *hostile[1:]]
    assert len(run.items) == 60
    # A lone surrogate, which is not valid UTF-8, but which Python can be made to write.
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    samples.write_bytes(text.encode("utf-8", "surrogatepass"))
    (run,) = read_runs([lm_eval_g2p], texts=True)
    assert len(run.items) == 60
    "".join(text.response for text in run.items.texts).encode()


def test_a_results_file_with_another_name(lm_eval_g2p: Path) -> None:
    results = results_of(lm_eval_g2p).rename(lm_eval_g2p / "g2p.json")
    with pytest.raises(
        LogError, match=r"no samples_…_g2p\.jsonl; .*do not rename files"
    ):
        read_runs([results])


def test_archives_that_are_cut_off(inspect_g2p: Path, beside: Beside) -> None:
    log = inspect_g2p / "log.eval"
    data = log.read_bytes()
    for kept in (0, 100, len(data) // 2, len(data) - 9):
        log.write_bytes(data[:kept])
        assert "not a complete zip archive" in only_reason(beside(inspect_g2p)), kept


def test_archives_with_damage_inside(inspect_g2p: Path) -> None:
    log = inspect_g2p / "log.eval"
    data = bytearray(log.read_bytes())
    start = len(data) // 4
    data[start : start + 2000] = bytes(2000)
    log.write_bytes(data)
    read = read_runs([inspect_g2p])
    (run,) = read
    count = len(run.items)
    assert 40 < count < 60
    assert re.fullmatch(
        rf"samples/\S+: .*damaged.*; it has {count} of 60 samples", only_reason(read)
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, 93])
def test_a_sample_of_gigabytes_is_left_out(method: int, inspect_g2p: Path) -> None:
    """A zip bomb: a member of a small archive unpacks to more than the memory."""
    log, bomb = inspect_g2p / "log.eval", b"\0" * (80 << 20)
    rezipped(
        log,
        lambda name, data: bomb if name.endswith("/1_epoch_1.json") else data,
        method,
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    read = read_runs([inspect_g2p])
    assert [len(each.items) for each in read] == [59]
    assert re.fullmatch(
        r"samples/\S+: larger than 64 MB when unpacked; it has 59 of 60 samples",
        only_reason(read),
    )
    # The same bomb, with a false size in the archive's directory.
    data = bytearray(log.read_bytes())
    size = struct.pack("<I", len(bomb))
    assert data.count(size) == 2
    log.write_bytes(data.replace(size, struct.pack("<I", 1000)))
    assert re.fullmatch(
        r"samples/\S+: damaged: its size differs from the archive.s entry; it has 59 of 60 samples",
        only_reason(read_runs([inspect_g2p])),
    )
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024


def test_a_json_log_with_nan_and_a_bad_sample(
    tmp_path: Path, inspect_logs: Path
) -> None:
    (log,) = inspect_logs.glob("*_cultural_*.json")
    (whole,) = read_runs([log])
    content = json.loads(log.read_text("utf-8"))
    judged = content["samples"][0]["scores"]["judged"]["metadata"]["judgement"]
    judged["values"]["acc"] = float("nan")
    content["samples"][1] = {"id": 3}
    content["samples"][2]["output"]["usage"] = {"output_tokens": "many"}
    content["samples"][3]["scores"]["judged"]["metadata"]["requested"] = "aa"
    (tmp_path / "log.json").write_text(json.dumps(content), "utf-8")
    read = read_runs([tmp_path])
    (run,) = read
    assert len(run.items) == len(whole.items) - 3
    assert np.isnan(run.items.values["acc"]).sum() == 1
    assert only_reason(read).startswith(
        "sample 2: not in a format that this version knows"
    )


def test_archives_of_something_else(inspect_g2p: Path, beside: Beside) -> None:
    rezipped(
        inspect_g2p / "log.eval", lambda name, data: data if "samples" in name else None
    )
    assert "not a log of Inspect" in only_reason(beside(inspect_g2p))


def test_archives_of_older_versions_are_deflated(inspect_g2p: Path) -> None:
    (before,) = read_runs([inspect_g2p])
    rezipped(inspect_g2p / "log.eval", lambda _, data: data)
    (after,) = read_runs([inspect_g2p])
    assert after.items.values["cer"].tolist() == before.items.values["cer"].tolist()


def test_other_tasks_of_inspect(inspect_g2p: Path, beside: Beside) -> None:
    def change(name: str, data: bytes) -> bytes:
        if name != "header.json":
            return data
        header = json.loads(data)
        header["eval"] |= {"task": "inspect_evals/gpqa", "metadata": None}
        return json.dumps(header).encode()

    rezipped(inspect_g2p / "log.eval", change)
    assert (
        only_reason(beside(inspect_g2p)) == "not a task of hkcanto: inspect_evals/gpqa"
    )


def test_inspect_logs_without_a_signature(inspect_g2p: Path, beside: Beside) -> None:
    def change(name: str, data: bytes) -> bytes:
        return data.replace(b'"signature"', b'"was"') if name == "header.json" else data

    rezipped(inspect_g2p / "log.eval", change)
    assert "no signature" in only_reason(beside(inspect_g2p))


def test_a_run_of_inspect_that_has_just_begun(
    inspect_g2p: Path, beside: Beside
) -> None:
    rezipped(
        inspect_g2p / "log.eval",
        lambda name, data: data if name == "_journal/start.json" else None,
    )
    assert only_reason(beside(inspect_g2p)) == (
        "no sample with a score; the run ended as 'started'"
    )


def test_a_run_of_inspect_that_was_interrupted_has_what_it_has(
    inspect_g2p: Path,
) -> None:
    def change(name: str, data: bytes) -> bytes | None:
        is_end = name in ("header.json", "summaries.json", "reductions.json")
        return None if is_end or name.endswith("0_epoch_1.json") else data

    rezipped(inspect_g2p / "log.eval", change)
    (run,) = read_runs([inspect_g2p])
    assert len(run.items) == 54
    assert (run.status, run.notes) == ("started", ())
    assert not run.reported
    assert (run.status, run.unfinished, run.complete) == (
        "started",
        "not finished",
        False,
    )


def ended(log: Path, status: str, kept: int = 10_000, **header: Any) -> Path:
    """Cut an Inspect log as if `inspect eval` had been interrupted after some items."""

    def change(name: str, data: bytes) -> bytes | None:
        if name == "header.json":
            return json.dumps(json.loads(data) | {"status": status, **header}).encode()
        return None if name.startswith("samples/") and next(places) >= kept else data

    places = iter(range(100_000))
    rezipped(log, change)
    return log


@pytest.fixture
def law(tmp_path: Path) -> Path:
    """A log of Inspect on two subjects."""
    folder = tmp_path / "law"
    model = answering_model(read_answer)
    run_inspect(folder, tasks.hkmmlu(subjects="hk_law,dentistry"), model)
    return next(folder.glob("*.eval"))


def test_an_interrupted_run_is_called_so_and_neither_compared_nor_planned_with(
    law: Path, tmp_path: Path
) -> None:
    whole = shutil.copy(law, tmp_path / "whole.eval")
    for status, said in (("error", "ended on an error"), ("started", "not finished")):
        ended(law, status, 5)
        assert read_runs([law])[0].unfinished == said
    ended(law, "cancelled")
    made = CliRunner().invoke(app, ["report", str(law), "--format", "json"])
    (run,) = json.loads(made.stdout)["runs"]
    assert run["status"] == "cancelled"
    shown = CliRunner().invoke(app, ["report", str(law), "--format", "md"])
    assert "(cancelled)" in shown.stdout
    for command in (["compare"], ["compare", "--gate", "50"], ["plan"]):
        done = CliRunner().invoke(app, [*command, f"a={whole}", f"b={law}"])
        assert done.exit_code == (1 if command == ["plan"] else 2)
        assert re.search(
            r"b on hkmmlu .+: cancelled, with 5 of", " ".join(done.output.split())
        )
    best = CliRunner().invoke(app, ["report", f"a={whole}", f"b={law}", "--best"])
    assert best.stdout.startswith("a\t")
    assert ": cancelled, with 5 of" in " ".join(best.stderr.split())


def test_a_task_without_a_best_run_says_why(law: Path, tmp_path: Path) -> None:
    unread = run_inspect(
        tmp_path / "unread",
        tasks.hkmmlu(subjects="hk_law,dentistry"),
        answering_model(lambda _: "唔知"),
    )
    ended(law, "cancelled", 5)
    best = CliRunner().invoke(app, ["report", f"a={unread}", f"b={law}", "--best"])
    assert best.stdout == ""
    said = " ".join(best.stderr.split())
    assert re.search(r"(\d+) of \1 answers of a on HKMMLU could not be read", said)
    assert ": cancelled, with 5 of" in said
    assert said.count("Not compared: ") == 2


def test_a_run_cancelled_in_its_second_epoch_has_all_items_and_is_not_whole(
    law: Path,
) -> None:
    ended(law, "cancelled")
    (run,) = read_runs([law])
    assert len(run.items) == len(set(run.items.ids))
    assert not run.complete


def test_an_interrupted_run_gives_way_to_an_older_whole_one(law: Path) -> None:
    later = law.with_name("later.eval")
    shutil.copy(law, later)

    def change(name: str, data: bytes) -> bytes:
        if name != "header.json":
            return data
        header = json.loads(data)
        header["eval"]["created"] = "2099-01-01T00:00:00+00:00"
        return json.dumps(header).encode()

    rezipped(later, change)
    assert [path.name for run in read_runs([law.parent]) for path in run.sources] == [
        "later.eval"
    ]
    ended(later, "cancelled", 5)
    read = read_runs([law.parent])
    assert [path.name for run in read for path in run.sources] == [law.name]
    assert f"{law.name} counts, which has its items, too" in only_reason(read)


def test_samples_that_a_person_invalidated_are_a_reason(law: Path) -> None:
    ended(law, "success", invalidated=True)
    assert read_runs([law])[0].unfinished == "invalidated"


def test_a_gate_is_not_passed_by_leaving_out_failed_items(lm_eval_g2p: Path) -> None:
    samples = samples_of(lm_eval_g2p)
    samples.write_bytes(samples.read_bytes()[: int(0.9 * samples.stat().st_size)])
    other = another_run(lm_eval_g2p, lm_eval_g2p.with_name("other"))
    named = [f"a={lm_eval_g2p}", f"b={other}"]
    assert CliRunner().invoke(app, ["compare", *named]).exit_code == 0
    done = CliRunner().invoke(app, ["compare", *named, "--gate", "50"])
    assert done.exit_code == 2
    assert "items failed, and a gate cannot pass" in " ".join(done.output.split())


def test_items_with_errors_are_left_out_and_counted(tmp_path: Path) -> None:
    from .harness_runs import answering_model

    def failing(prompt: str) -> str:
        if "食水" in prompt:
            raise ValueError("out of quota")
        return answer(prompt)

    task = tasks.hkmmlu(subjects="hk_law,dentistry")
    run_inspect(tmp_path, task, model=answering_model(failing), fail_on_error=False)
    (run,) = read_runs([tmp_path])
    total = len(task.dataset)
    missing = total - len(run.items)
    assert missing == sum("食水" in str(sample.input) for sample in task.dataset) > 0
    assert run.notes == (
        f"{missing} of {total} items have no score, because of errors",
    )


def test_the_models_that_answered_one_log_are_named(law: Path) -> None:
    def change(name: str, data: bytes) -> bytes:
        if not name.startswith("samples/"):
            return data
        sample = json.loads(data)
        sample["output"]["model"] = next(models)
        return json.dumps(sample).encode()

    models = iter(["org/b", "", "org/a", *["org/b"] * 1_000])
    rezipped(law, change)
    assert "answered by org/a, org/b" in read_runs([law])[0].notes
    models = iter(["", *["org/b"] * 1_000])
    rezipped(law, change)
    assert not any("answered by" in note for note in read_runs([law])[0].notes)


def test_a_limit_of_tokens_is_truncation(tmp_path: Path) -> None:
    from .harness_runs import answering_model

    model = answering_model(lambda _: "B", stop_reason="max_tokens")
    run_inspect(tmp_path, tasks.hkmmlu(subjects="hk_law"), model=model)
    (run,) = read_runs([tmp_path])
    assert set(run.items.truncated) == {1.0}


def test_a_judges_scores_are_read(tmp_path: Path) -> None:
    run = judged(tmp_path, lambda code: json.dumps({"code": code, "errors": []}))
    assert set(run.items.values["judged_accuracy"]) == {1.0}
    assert run.reported[(), "judged_accuracy"] == 1.0


def test_a_judge_that_fails_leaves_the_other_scores(tmp_path: Path) -> None:
    run = judged(tmp_path, lambda _: "唔識答")
    assert np.isnan(run.items.values["judged_accuracy"]).all()
    assert set(run.items.values["judge_failure_rate"]) == {1.0}
    assert set(run.items.values["empty"]) == {0.0}
    assert ((), "chrf") in run.reported


def judged(folder: Path, verdict: Callable[[str], str]) -> Run:
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def grade(messages: list[Any], *_: Any) -> ModelOutput:
        code = re.search(
            r"\b[0-9a-f]{16}\b", "".join(message.text for message in messages)
        )
        assert code
        output = ModelOutput.from_content("grader", verdict(code[0]))
        output.usage = ModelUsage()
        return output

    grader = get_model("mockllm/grader", custom_outputs=grade, memoize=False)
    run_inspect(folder, tasks.translation(judge=True), model_roles={"grader": grader})
    (run,) = read_runs([folder])
    assert run.notes == ("judged by mockllm/grader, prompts:3",)
    return run
