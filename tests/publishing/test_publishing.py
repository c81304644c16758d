"""`hkcanto publish`, on logs of the real harnesses."""

import json
import os
import re
import shutil
from collections.abc import Callable
from math import nan
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import parse_eval_result_entries
from statsmodels.stats.proportion import proportion_confint
from typer.testing import CliRunner, Result

from hkcanto_tasks.cli import app
from hkcanto_tasks.results.publishing.eee import _items

from ..cases import another_run
from ..reports.building import a_run
from ..reports.harness_runs import (
    AnsweringLM,
    answering_model,
    run_inspect,
    run_lm_eval,
)
from .conftest import LETTERS, SECRET, declare, rename

DESTINATIONS = ("eee", "hf", "card")
RIGHT = LETTERS.count("A")
WHO = (
    "--by",
    "A Lab",
    "--relationship",
    "third_party",
    "--url",
    "https://example.org/logs",
)
SIGNATURE = "quiz|shots:0"
PLACES = """
name = "places"
title = "Places"
[data]
[prompts.plain]
question = "{question}"
[[tasks]]
name = "places"
title = "Places"
kind = "short_answer"
headline = "f1"
files = "test.jsonl"
"""
TRANSLATION = """
name = "notes"
title = "Notes"
[data]
[prompts.plain]
question = "翻譯：\\n{source}"
[[tasks]]
name = "notes"
title = "Notes"
kind = "translation"
language = "zh"
headline = "bleu"
files = "test.jsonl"
"""

READING = """
name = "reading"
title = "Reading"
[data]
[prompts.plain]
question = "寫粵拼：\\n{sentence}"
[[tasks]]
name = "reading"
title = "Reading"
kind = "g2p"
headline = "ser"
files = "test.jsonl"
"""


def publish(to: str, folder: Path, *arguments: str | Path) -> Result:
    command = ["publish", *map(str, arguments), "--to", to, "-o", str(folder)]
    return CliRunner().invoke(app, command, env={"COLUMNS": "200"})


def published(to: str, folder: Path, *arguments: str | Path) -> dict[str, str]:
    """The written files, by their path in the folder."""
    done = publish(to, folder, *arguments)
    assert done.exit_code == 0, done.output
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in files}


def refused(folder: Path, *arguments: str | Path, to: str = "eee") -> str:
    """Return the message for runs that must not be published; check that nothing is written."""
    done = publish(to, folder, *arguments)
    assert done.exit_code == 1, done.output
    assert not folder.exists()
    assert "Traceback" not in done.output
    return " ".join(done.output.split())


@pytest.fixture
def log(quiz_logs: Path, tmp_path: Path) -> Path:
    """A copy of lm-eval's results with its samples, for tests to change."""
    shutil.copytree(quiz_logs / "lm_eval", tmp_path / "log")
    (found,) = (tmp_path / "log").rglob("results_*.json")
    return found


# ---------------------------------------------------------------------- written files


@pytest.mark.usefixtures("hub")
def test_a_record_names_each_figure(quiz_logs: Path, tmp_path: Path) -> None:
    files = published("eee", tmp_path / "out", quiz_logs / "lm_eval", *WHO)
    ((path, text),) = files.items()
    assert path.startswith("data/quiz/org/model-7b/")
    record = json.loads(text)
    results = {
        result["metric_config"]["additional_details"]["name"]: result
        for result in record["evaluation_results"]
    }
    assert list(results) == ["acc", "unparsed_rate"]
    metric, score = results["acc"]["metric_config"], results["acc"]["score_details"]
    assert metric["metric_id"] == "accuracy"
    assert metric["metric_unit"] == "proportion"
    assert (metric["min_score"], metric["max_score"], metric["lower_is_better"]) == (
        0,
        1,
        False,
    )
    assert metric["additional_details"]["signature"].startswith(SIGNATURE)
    assert score["score"] == RIGHT / len(LETTERS)
    wilson = proportion_confint(RIGHT, len(LETTERS), method="wilson")
    interval = score["uncertainty"]["confidence_interval"]
    assert (interval["lower"], interval["upper"]) == pytest.approx(wilson, abs=1e-9)
    assert score["uncertainty"]["num_samples"] == len(LETTERS)
    assert results["unparsed_rate"]["metric_config"]["lower_is_better"] is True
    assert results["acc"]["source_data"]["hf_repo"] == "org/quiz"
    assert results["acc"]["generation_config"]["generation_args"]["temperature"] == 0
    assert record["source_metadata"]["source_organization_name"] == "A Lab"
    model = record["model_info"]
    assert (model["id"], model["developer"]) == ("org/model-7b", "org")
    assert model["inference_engine"] == {"name": "transformers"}


@pytest.mark.usefixtures("hub")
def test_the_harness_is_named_with_its_version(quiz_logs: Path, tmp_path: Path) -> None:
    import inspect_ai
    import lm_eval

    runs = (quiz_logs / "lm_eval", f"org/model-7b={quiz_logs / 'inspect'}")
    files = published("eee", tmp_path / "out", *runs, *WHO)
    found = {
        json.loads(text)["eval_library"]["name"]: json.loads(text)
        for text in files.values()
    }
    versions = {
        name: record["eval_library"]["version"] for name, record in found.items()
    }
    assert versions == {
        "lm_eval": lm_eval.__version__,
        "inspect_ai": inspect_ai.__version__,
    }
    scores = [
        record["evaluation_results"][0]["score_details"] for record in found.values()
    ]
    assert scores[0] == scores[1]


@pytest.mark.usefixtures("hub")
def test_tokens_and_time_of_a_run(quiz_logs: Path, tmp_path: Path) -> None:
    log = f"org/model-7b={quiz_logs / 'inspect'}"
    ((_, text),) = published("eee", tmp_path / "eee", log, *WHO).items()
    details = json.loads(text)["eval_library"]["additional_details"]
    tokens = {
        name: details[name] for name in ("answers", "prompt_tokens", "answer_tokens")
    }
    # Five and seven for each answer; the schema allows only texts here.
    assert tokens == {"answers": "8", "prompt_tokens": "40", "answer_tokens": "56"}
    assert float(details["seconds"]) > 0
    card = published("card", tmp_path / "card", log, *WHO)["org/model-7b/card.md"]
    assert "answers: 8, prompt_tokens: 40, answer_tokens: 56" in card


@pytest.mark.usefixtures("hub")
def test_publishing_again_replaces_the_record(quiz_logs: Path, tmp_path: Path) -> None:
    first = published("eee", tmp_path / "out", quiz_logs / "lm_eval", *WHO)
    assert [*published("eee", tmp_path / "out", quiz_logs / "lm_eval", *WHO)] == [
        *first
    ]


@pytest.mark.usefixtures("hub")
def test_results_of_a_hub_data_set(quiz_logs: Path, tmp_path: Path) -> None:
    files = published("hf", tmp_path / "out", quiz_logs / "lm_eval", *WHO)
    text = files["org/model-7b/.eval_results/quiz_0_shot.yaml"]
    assert text.startswith("- dataset:\n")  # in the hub's own order of keys
    (entry,) = parse_eval_result_entries(yaml.safe_load(text))
    assert (entry.dataset_id, entry.task_id) == ("org/quiz", "quiz")
    assert entry.value == 100 * RIGHT / len(LETTERS)
    assert (entry.source_name, entry.source_url) == (
        "A Lab",
        "https://example.org/logs",
    )
    assert entry.verify_token is None
    assert SIGNATURE in (entry.notes or "")
    assert "[30.6, 86.3]" in (entry.notes or "")  # Wilson's interval for 5 of 8


@pytest.mark.usefixtures("hub")
def test_a_publisher_without_a_link_is_no_source(
    quiz_logs: Path, tmp_path: Path
) -> None:
    # The hub refuses a source's name without its address.
    log = quiz_logs / "lm_eval"
    ((_, text),) = published("hf", tmp_path / "out", log, "--by", "A Lab").items()
    (entry,) = parse_eval_result_entries(yaml.safe_load(text))
    assert (entry.source_name, entry.source_url) == (None, None)


@pytest.mark.usefixtures("own")
def test_a_benchmark_that_is_not_on_the_hub_is_left_out(
    quiz_logs: Path, tmp_path: Path
) -> None:
    said = refused(tmp_path / "out", quiz_logs / "lm_eval", to="hf")
    assert "Quiz is not a data set on the Hugging Face hub" in said


@pytest.mark.usefixtures("own")
def test_a_table_for_the_card_of_each_model(quiz_logs: Path, tmp_path: Path) -> None:
    runs = (quiz_logs / "lm_eval", f"org/other={quiz_logs / 'inspect'}")
    files = published("card", tmp_path / "out", *runs, *WHO)
    assert [*files] == ["org/model-7b/card.md", "org/other/card.md"]
    text = files["org/model-7b/card.md"]
    assert r"| Quiz, 0-shot | Accuracy % ↑ | 62.5 | \[30.6, 86.3\] | 8 |" in text
    assert r"quiz\|shots:0\|" in text
    assert "Run by A Lab." in text


@pytest.mark.usefixtures("hub")
def test_no_question_and_nothing_of_the_machine(log: Path, tmp_path: Path) -> None:
    results = json.loads(log.read_text("utf-8"))
    results["system_instruction"] = results["chat_template"] = "alice's secret"
    results["pretty_env_info"] = "Hostname: alice-gpu-17"
    log.write_text(json.dumps(results), encoding="utf-8")
    private = {
        "pretrained": "/home/alice/models/model-7b",
        "tokenizer": "/home/alice/tokenizer",
        "revision": "./alice/checkpoint",
        "base_url": "http://alice-gpu-17:8000/v1",
        "dtype": "bfloat16",
    }
    rename(log, private.pop("pretrained"), **private)
    for to in DESTINATIONS:
        files = published(to, tmp_path / to, f"org/model-7b={log.parent}", *WHO)
        text = "\n".join([*files, *files.values()])
        for leak in (SECRET, "alice", "/home", str(tmp_path)):
            assert leak not in text, (to, leak)
        assert "bfloat16" in text or to != "eee"


@pytest.mark.usefixtures("own")
def test_it_ends_with_the_command_that_submits(quiz_logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "two words"
    done = publish("eee", folder, quiz_logs / "lm_eval", *WHO)
    assert f"hf upload evaleval/EEE_datastore '{folder}'/data data" in done.output


def test_the_headline_is_that_of_the_log_and_of_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A mean over two subjects of different sizes: A is right for 5 of 8 and for 1 of 4.
    subjects = {"food": "BACD", "law": LETTERS}
    monkeypatch.setenv(
        "HKCANTO_BENCHMARKS", str(declare(tmp_path / "own", "[data]", subjects))
    )
    monkeypatch.setenv("HKCANTO_DATA", "")
    log = run_lm_eval(tmp_path / "log", "quiz", model=AnsweringLM(lambda _: "A"))
    rename(log)
    on_the_hub = declare(tmp_path / "hub", '[hub]\nrepo_id = "org/quiz"', subjects)
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(on_the_hub))
    reported = json.loads(log.read_text("utf-8"))["results"]["quiz"]["acc_macro,none"]
    assert reported == (5 / 8 + 1 / 4) / 2
    arguments = ["report", str(log.parent), "--format", "json"]
    (run,) = json.loads(CliRunner().invoke(app, arguments).stdout)["runs"]
    assert run["figure"]["value"] == reported

    ((_, text),) = published("eee", tmp_path / "eee", log.parent, *WHO).items()
    first, *others = json.loads(text)["evaluation_results"]
    assert first["metric_config"]["additional_details"]["name"] == "acc_macro"
    assert first["metric_config"]["additional_details"]["headline"] == "yes"
    assert first["score_details"]["score"] == reported
    flags = {each["metric_config"]["additional_details"]["headline"] for each in others}
    assert flags == {"no"}
    ((_, text),) = published("hf", tmp_path / "hf", log.parent, *WHO).items()
    assert parse_eval_result_entries(yaml.safe_load(text))[0].value == 43.75
    ((_, text),) = published("card", tmp_path / "card", log.parent).items()
    rows = [
        line
        for line in text.splitlines()
        if line.startswith("| Quiz, 0-shot | Accuracy")
    ]
    assert "mean over subjects % ↑ | 43.8 |" in rows[0]


# ---------------------------------------------------------------------- refusals


def test_sample_data(tmp_path: Path) -> None:
    run_lm_eval(tmp_path / "log", "hkcanto_g2p", model="hkcanto-g2p", limit=2)
    said = refused(tmp_path / "out", tmp_path / "log")
    assert (
        "Jyutping grapheme-to-phoneme, 5-shot, sample data: sample data, whose figures"
        in said
    )


@pytest.mark.usefixtures("own")
def test_a_part_of_the_items(quiz_logs: Path, tmp_path: Path) -> None:
    said = refused(tmp_path / "out", quiz_logs / "limited")
    assert "no run can be published, so nothing was written" in said
    assert "not the whole task, with 3 of 8 items" in said


@pytest.mark.usefixtures("own")
def test_what_can_be_published_is_written_and_the_rest_is_named(
    quiz_logs: Path, tmp_path: Path
) -> None:
    whole = f"org/model-7b={quiz_logs / 'inspect'}"
    both = (quiz_logs / "limited", whole, *WHO)
    done = publish("eee", tmp_path / "out", *both)
    said = " ".join(done.output.split())
    assert done.exit_code == 1
    assert len([*tmp_path.glob("out/**/*.json")]) == 1, done.output
    assert said.count("not published: ") == 1
    assert "not the whole task, with 3 of 8 items" in said
    said = refused(tmp_path / "no", *both, "--task", "hkmmlu")
    assert "no run of hkmmlu can be published, so nothing was written" in said
    alone = (whole, *WHO, "--task", "quiz")
    assert len(published("eee", tmp_path / "one", *alone)) == 1


def edited(change: Callable[[dict[str, Any]], None], log: Path) -> Path:
    results = json.loads(log.read_text("utf-8"))
    change(results)
    log.write_text(json.dumps(results), encoding="utf-8")
    return log


def other_accuracy(results: dict[str, Any]) -> None:
    results["results"]["quiz"]["acc,none"] = 0.75


def no_figures(results: dict[str, Any]) -> None:
    results["results"]["quiz"] = {}


def local_data(results: dict[str, Any]) -> None:
    about = results["configs"]["quiz"]["metadata"]
    about["signature"] = about["signature"].replace("|data:", "|data:local-")


@pytest.mark.usefixtures("own")
def test_figures_that_cannot_be_relied_on(log: Path, tmp_path: Path) -> None:
    text = log.read_text("utf-8")
    for change, why in (
        (other_accuracy, "acc is 0.625 here, 0.75 in lm-eval"),
        (no_figures, "no figures of lm-eval to check against"),
        (local_data, "is not a published revision"),
    ):
        assert why in refused(tmp_path / "out", edited(change, log).parent), why
        log.write_text(text, encoding="utf-8")


@pytest.mark.usefixtures("own")
def test_items_other_than_the_catalogues(log: Path, tmp_path: Path) -> None:
    """A log edited so that all of it, and its figures, agree with each other."""
    (samples,) = log.parent.glob("samples_*.jsonl")
    text, whole = log.read_text("utf-8"), samples.read_text("utf-8")

    def target(line: dict[str, Any]) -> None:
        line["doc"]["target"] = "A"
        line["doc"]["judgement"]["values"]["acc"] = 1.0

    def value(line: dict[str, Any]) -> None:
        line["doc"]["judgement"]["values"]["acc"] = 1.0

    def question(line: dict[str, Any]) -> None:
        line["doc"]["question"] += "？"

    for change, figure, why in (
        (target, 0.75, "quiz/3 has another question or answer than the data"),
        (value, 0.75, "quiz/3 has other values in the log than its answer gives"),
        (question, 0.625, "quiz/3 has another question or answer than the data"),
    ):
        lines = [json.loads(line) for line in whole.splitlines()]
        change(next(line for line in lines if line["doc"]["target"] == "B"))
        samples.write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")

        def same(results: dict[str, Any], figure: float = figure) -> None:
            results["results"]["quiz"]["acc,none"] = figure

        assert why in refused(tmp_path / "out", edited(same, log).parent), why
        log.write_text(text, encoding="utf-8")


@pytest.mark.usefixtures("own")
def test_items_that_occur_twice_are_called_so(log: Path, tmp_path: Path) -> None:
    (samples,) = log.parent.glob("samples_*.jsonl")
    samples.write_text(2 * samples.read_text("utf-8"), "utf-8")

    def twice(results: dict[str, Any]) -> None:
        results["n-samples"]["quiz"]["effective"] *= 2

    said = refused(tmp_path / "out", edited(twice, log).parent)
    assert "items occur twice, with 8 of 8 items" in said


@pytest.mark.usefixtures("own")
def test_a_second_entry_with_the_same_signature_is_judged_by_its_own_answers(
    log: Path, tmp_path: Path
) -> None:
    (samples,) = log.parent.glob("samples_*.jsonl")
    lines = [json.loads(line) for line in samples.read_text("utf-8").splitlines()]
    next(line for line in lines if line["doc"]["target"] == "B")["doc"]["judgement"][
        "values"
    ] = {"acc": 1.0}
    other = samples.with_name(samples.name.replace("samples_quiz_", "samples_zz_"))
    other.write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")

    def twice(results: dict[str, Any]) -> None:
        for part in ("configs", "n-samples", "results"):
            results[part]["zz"] = dict(results[part]["quiz"])
        results["results"]["zz"]["acc,none"] = 0.75

    why = "quiz/3 has other values in the log than its answer gives"
    assert why in refused(tmp_path / "out", edited(twice, log).parent)


@pytest.mark.usefixtures("own")
def test_models_whose_name_would_mislead(log: Path, tmp_path: Path) -> None:
    # lm-eval itself gives an adapter as the model's name.
    adapter = {"pretrained": "org/model-7b", "peft": "org/lora"}
    for name, arguments, why in (
        (
            "/home/alice/model",
            {},
            "is not a model name, or is a folder on your machine",
        ),
        (r"C:\models\model", {}, "is not a model name"),
        ("C:/models", {}, "is not a model name"),
        ("./out/checkpoint-300", {}, "is not a model name"),
        ("runs/tuned/checkpoint-300", {}, "is not a model name"),
        ("оrg/model", {}, "is not a model name"),  # a Cyrillic о
        (
            "org/model-7b",
            {"peft": "org/lora"},
            "not name all its weights, like an adapter (peft)",
        ),
        ("org/lora", adapter, "not name all its weights"),
        ("model-7b", {}, "results are filed under a model's ORGANISATION/NAME"),
    ):
        rename(log, name, **arguments)
        assert why in refused(tmp_path / "out", log.parent, *WHO), name
    assert published("eee", tmp_path / "named", f"org/tuned={log.parent}", *WHO)


@pytest.mark.usefixtures("own")
def test_two_runs_under_one_name(quiz_logs: Path, log: Path, tmp_path: Path) -> None:
    later = another_run(log.parent, tmp_path / "later")
    said = refused(tmp_path / "out", quiz_logs / "lm_eval", later)
    assert "1 more of org/model-7b under the same condition in lm-eval" in said
    # lm-eval may log an unset argument; it names no other weights.
    rename(log)
    rename(next(later.rglob("results_*.json")), peft="None")
    runs = [f"org/tuned={folder}" for folder in (log.parent, later)]
    assert "1 more of org/tuned" in refused(tmp_path / "out", *runs)


@pytest.mark.usefixtures("hub")
def test_a_models_page_has_place_for_one_result(
    quiz_logs: Path, tmp_path: Path
) -> None:
    runs = (quiz_logs / "lm_eval", f"org/model-7b={quiz_logs / 'inspect'}")
    assert "two results of quiz" in refused(tmp_path / "out", *runs, to="hf")


@pytest.mark.usefixtures("own")
def test_a_record_without_a_publisher(quiz_logs: Path, tmp_path: Path) -> None:
    assert "give --by NAME" in refused(tmp_path / "out", quiz_logs / "lm_eval")


@pytest.mark.usefixtures("own")
def test_a_file_in_the_way(quiz_logs: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    done = publish("card", tmp_path / "out", quiz_logs / "lm_eval")
    assert done.exit_code == 1
    assert "Give a folder that you can write to" in done.output
    assert (tmp_path / "out").read_text() == "mine"


@pytest.mark.usefixtures("own")
def test_nothing_is_left_of_what_cannot_be_written_whole(
    quiz_logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_text

    def full(path: Path, *arguments: Any, **options: Any) -> int:
        if "other" in path.parts:
            raise OSError(28, "No space left on device")
        return write(path, *arguments, **options)

    monkeypatch.setattr(Path, "write_text", full)
    runs = (quiz_logs / "lm_eval", f"org/other={quiz_logs / 'inspect'}")
    done = publish("card", tmp_path / "out", *runs)
    assert done.exit_code == 1
    assert "No space left on device" in done.output
    assert [*(tmp_path / "out").iterdir()] == []


# ---------------------------------------------------------------------- files in their place


def texts(folder: Path) -> dict[str, str]:
    """The contents of a folder."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in files}


@pytest.mark.usefixtures("own")
def test_several_organisations_come_at_once_and_other_files_stay(
    quiz_logs: Path, tmp_path: Path
) -> None:
    runs = (quiz_logs / "lm_eval", f"lab/other={quiz_logs / 'inspect'}")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "comment.md").write_text("mine")
    for _ in range(2):
        found = published("card", tmp_path / "out", *runs)
        assert [*found] == ["comment.md", "lab/other/card.md", "org/model-7b/card.md"]
    assert [*tmp_path.rglob(".publish-*")] == []


@pytest.mark.usefixtures("own")
def test_links_are_not_followed(quiz_logs: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "card.md").write_text("mine")
    (tmp_path / "out" / "org" / "model-7b").mkdir(parents=True)
    link = tmp_path / "out" / "org" / "model-7b" / "card.md"
    link.symlink_to(tmp_path / "elsewhere" / "card.md")
    assert publish("card", tmp_path / "out", quiz_logs / "lm_eval").exit_code == 0
    assert not link.is_symlink()
    shutil.rmtree(tmp_path / "out" / "org")
    (tmp_path / "out" / "org").symlink_to(tmp_path / "elsewhere")
    done = publish("card", tmp_path / "out", quiz_logs / "lm_eval")
    assert done.exit_code == 1
    assert "is in a link, and links are not followed" in " ".join(done.output.split())
    assert texts(tmp_path / "elsewhere") == {"card.md": "mine"}


# ---------------------------------------------------------------------- the real release


@pytest.mark.realdata
def test_records_of_the_release_pass_the_schema(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schemas = (
        Path(os.environ["HKCANTO_DATA_DIR"]).parent / "schemas" / "every_eval_ever"
    )
    if not schemas.is_dir():
        pytest.skip(f"needs the schema of Every Eval Ever in {schemas}")
    from hkcanto import tasks

    schema = json.loads((schemas / "eval.schema.json").read_text("utf-8"))
    log = run_lm_eval(
        tmp_path / "lm_eval",
        "hkcanto_g2p",
        model="hkcanto-g2p",
        model_args="engine=pycantonese",
    )
    run_inspect(tmp_path / "inspect", tasks.g2p(), model="hkcanto/pycantonese")
    answering = answering_model(lambda _: "佢話聽日會落雨，記得帶遮。")
    run_inspect(
        tmp_path / "writer", tasks.translation(direction="zh_yue"), model=answering
    )
    runs = [f"org/engine={tmp_path / name}" for name in ("lm_eval", "inspect")]
    runs.append(f"org/writer={tmp_path / 'writer'}")
    files = published("eee", tmp_path / "out", *runs, *WHO)
    records = [json.loads(text) for text in files.values()]
    for record in records:
        jsonschema.Draft7Validator(schema).validate(record)
        for result in record["evaluation_results"]:
            metric, score = result["metric_config"], result["score_details"]["score"]
            assert metric["min_score"] <= score <= float(metric["max_score"])
            assert metric["metric_id"]
            assert metric["additional_details"]["signature"]
    (of_lm_eval,) = (
        each for each in records if each["eval_library"]["name"] == "lm_eval"
    )
    reported = json.loads(log.read_text("utf-8"))["results"]["hkcanto_g2p"]
    scores = {
        result["metric_config"]["additional_details"]["name"]: result["score_details"][
            "score"
        ]
        for result in of_lm_eval["evaluation_results"]
    }
    assert len(scores) == 9
    for name in (
        "cer_published",
        "levenshtein_published",
        "cer",
        "ser",
        "tone_error_rate",
    ):
        assert scores[name] == pytest.approx(reported[f"{name},none"], abs=1e-9)
    for text in files.values():
        for file in tmp_path.rglob("samples_*.jsonl"):
            for line in file.read_text("utf-8").splitlines():
                doc = json.loads(line)["doc"]
                asked = [
                    doc[name]
                    for name in ("question", "passage", "source")
                    if doc.get(name)
                ]
                assert asked
                assert not any(each in text for each in (*asked, doc["target"]))


@pytest.mark.usefixtures("own")
def test_other_requests_than_the_catalogues_are_not_published(
    log: Path, tmp_path: Path
) -> None:
    (samples,) = log.parent.glob("samples_*.jsonl")
    lines = [json.loads(line) for line in samples.read_text("utf-8").splitlines()]
    lines[0]["doc"]["requested"][0] = "0000000"
    samples.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    assert "other prompt: the catalogue's task sends something else" in refused(
        tmp_path / "out", log.parent
    )


@pytest.fixture
def run_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, list[dict[str, Any]], dict[str, str]], Path]:
    """Return a function that runs a benchmark, and then has it on the hub.

    It takes the declaration, the rows, and the answers by the last line of the prompt.
    """

    def run(
        declared: str,
        rows: list[dict[str, Any]],
        answers: dict[str, str],
        **options: Any,
    ) -> Path:
        monkeypatch.setenv("HKCANTO_DATA", "")
        on_hub = declared.replace("[data]", '[hub]\nrepo_id = "org/set"')
        for name, text in (("here", declared), ("hub", on_hub)):
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / "benchmark.toml").write_text(text, "utf-8")
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (tmp_path / "here" / "test.jsonl").write_text(lines, "utf-8")
        monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path / "here"))
        model = AnsweringLM(lambda prompt: answers[prompt.splitlines()[-1]])
        (name,) = re.findall(r'^name = "(\w+)"', declared, re.MULTILINE)[:1]
        log = run_lm_eval(tmp_path / "log", name, model=model, **options)
        rename(log)
        monkeypatch.setenv("HKCANTO_BENCHMARKS", str(tmp_path / "hub"))
        return log

    return run


def hub_value(folder: Path, log: Path) -> float:
    """Return the published headline of a log."""
    ((_, page),) = published("hf", folder, log.parent, *WHO).items()
    (entry,) = parse_eval_result_entries(yaml.safe_load(page))
    return float(entry.value)


def test_bleu_is_published_on_its_own_scale(
    run_of: Callable[..., Path], tmp_path: Path
) -> None:
    lines = ["佢今日唔得閒。", "聽日落唔落雨？", "條魚好新鮮。"]
    targets = ["他今天沒有空。", "明天會不會下雨？", "這條魚很新鮮。"]
    rows = [
        {"number": number, "source": line, "target": target}
        for number, (line, target) in enumerate(zip(lines, targets, strict=True), 1)
    ]
    answers = dict(zip(lines, ["他今天沒空。", *targets[1:]], strict=True))
    log = run_of(TRANSLATION, rows, answers)
    reported = json.loads(log.read_text("utf-8"))["results"]["notes"]["bleu,none"]
    assert 25 < reported < 100
    assert hub_value(tmp_path / "out", log) == pytest.approx(reported, abs=0.01)


def test_an_error_rate_is_published_in_per_cent(
    run_of: Callable[..., Path], tmp_path: Path
) -> None:
    rows = [
        {"number": 1, "sentence": "你好", "jyutping": "nei5 hou2"},
        {"number": 2, "sentence": "早晨", "jyutping": "zou2 san4"},
    ]
    answers = {"你好": "nei5 hou2", "早晨": "zou2 san1"}
    # One of four syllables is wrong.
    assert hub_value(tmp_path / "out", run_of(READING, rows, answers)) == 25


def test_only_a_perfect_answer_is_published_as_correct(
    run_of: Callable[..., Path], tmp_path: Path
) -> None:
    rows = [
        {"question": "＿＿站有得轉車。", "answer": "金鐘"},
        {"question": "＿＿係花都。", "answer": "巴黎"},
        {"question": "＿＿係香港最高嘅山。", "answer": "大帽山"},
    ]
    # F1 by hand: 1, 2 · 1 / (2 + 2), 0.
    questions = [row["question"] for row in rows]
    answers = dict(zip(questions, ["金鐘", "巴士", "獅子"], strict=True))
    log = run_of(PLACES, rows, answers, metadata={"reasoning": True})
    files = published("eee", tmp_path / "out", log.parent, *WHO, "--items")
    ((_, text),) = [file for file in files.items() if "sample_id" not in file[1]]
    (*_, evaluation) = json.loads(text)["evaluation_results"]
    assert evaluation["generation_config"]["generation_args"]["reasoning"] is True
    lines = next(text for path, text in files.items() if "sample_id" in text)
    evaluations = [json.loads(line)["evaluation"] for line in lines.splitlines()]
    scores = sorted((item["score"], item["is_correct"]) for item in evaluations)
    assert scores == [(0.0, False), (0.5, False), (1.0, True)]


def test_items_have_their_value_and_none_of_their_texts() -> None:
    values = {"acc": [1.0, nan, 0.0]}
    subjects = ["hk_law", "hk_law", "economics"]
    run = a_run("hkmmlu", values, ids=["a", "b", "c"], subjects=subjects, label="org/m")
    result = {"evaluation_name": "hkmmlu", "evaluation_result_id": "r1"}
    record = {"evaluation_id": "e1", "evaluation_results": [result, {"other": 1}]}
    lines = [json.loads(line) for line in _items(run, record).splitlines()]
    # The second has no value.
    assert [line["sample_id"] for line in lines] == ["a", "c"]
    assert [line["evaluation"] for line in lines] == [
        {"score": 1.0, "is_correct": True},
        {"score": 0.0, "is_correct": False},
    ]
    assert [line["metadata"]["subject"] for line in lines] == ["hk_law", "economics"]
    for line in lines:
        assert line["evaluation_id"] == "e1"
        assert line["evaluation_result_id"] == "r1"
        assert line["evaluation_name"] == "hkmmlu"
        assert line["model_id"] == "org/m"
        assert line["interaction_type"] == "single_turn"
        assert (line["input"]["reference"], line["output"]["raw"]) == ([], [])
