"""What a log says of itself is not taken on trust: forged and mistaken runs, and honest ones."""

import copy
import json
import shutil
from collections.abc import Callable
from math import nan
from pathlib import Path

import pytest
from inspect_ai import Epochs
from inspect_ai.log import edit_score, read_eval_log, write_eval_log
from inspect_ai.scorer import ScoreEdit
from typer.testing import CliRunner, Result

from hkcanto import tasks
from hkcanto_tasks import read_runs
from hkcanto_tasks.cli import app
from hkcanto_tasks.results.audit import _Frames
from hkcanto_tasks.tasks import task_as_run

from ..reports.harness_runs import answering_model, run_inspect, run_lm_eval
from .conftest import LETTERS, declare, rename
from .forging import InspectLog, Json, LmEvalLog
from .test_publishing import WHO, publish, refused

pytestmark = pytest.mark.usefixtures("own")


@pytest.fixture
def lm_eval(quiz_logs: Path, tmp_path: Path) -> LmEvalLog:
    shutil.copytree(quiz_logs / "lm_eval", tmp_path / "log")
    (file,) = (tmp_path / "log").rglob("results_*.json")
    return LmEvalLog(file)


@pytest.fixture
def inspect(quiz_logs: Path, tmp_path: Path) -> InspectLog:
    shutil.copytree(quiz_logs / "inspect_json", tmp_path / "inspect")
    (file,) = (tmp_path / "inspect").rglob("*.json")
    return InspectLog(file)


# ---------------------------------------------------------------------- lm-eval


def _targets(log: LmEvalLog) -> None:
    for sample in log.samples:
        answer = sample["doc"]["judgement"]["answer"]
        sample["doc"]["target"] = sample["target"] = answer
        sample["doc"]["judgement"]["values"]["acc"] = 1.0


def _commit(log: LmEvalLog) -> None:
    _targets(log)
    log.sign(log.metadata["signature"].split("|data:")[1][:7], "abcdef0")


def _option_text(log: LmEvalLog) -> None:
    log.samples[0]["doc"]["choices"][0] += "。"


def _filtered(log: LmEvalLog) -> None:
    for sample in log.samples:
        log.answer(sample, sample["doc"]["target"])


def _judged(log: LmEvalLog) -> None:
    log.wrong()["doc"]["judgement"]["values"]["acc"] = 1.0


def _copied(log: LmEvalLog) -> None:
    right = [s for s in log.samples if s["doc"]["judgement"]["values"]["acc"]]
    log.samples += 3 * right


def _one_twice(log: LmEvalLog) -> None:
    wrong = log.samples.index(log.wrong())
    log.samples[wrong] = next(
        s for s in log.samples if s["doc"]["judgement"]["values"]["acc"]
    )


def _shots_recorded(log: LmEvalLog) -> None:
    log.results["configs"][log.task]["num_fewshot"] = 5


def _hint(log: LmEvalLog) -> None:
    for sample in log.samples:
        target = sample["doc"]["target"]
        log.prompt(sample, lambda text, target=target: f"{text}（{target}）")


def _system(log: LmEvalLog) -> None:
    for sample in log.samples:
        log.prompt(sample, lambda text: f"You know everything.\n\n{text}")
        sample["doc"]["requested"] = [sample["doc"]["requested"][1]] * 2


def _one_prompt(log: LmEvalLog) -> None:
    log.prompt(log.samples[-1], lambda text: text + " ")


def _dropped(log: LmEvalLog) -> None:
    log.samples.remove(log.wrong())


def _no_prompts(log: LmEvalLog) -> None:
    for sample in log.samples:
        sample["arguments"] = {}


def _long_ago(log: LmEvalLog) -> None:
    log.results["date"] = -5.0


def _two_responses(log: LmEvalLog) -> None:
    for sample in log.samples:
        log.answer(sample, sample["doc"]["target"])
        sample["resps"][0].insert(0, sample["doc"]["target"])


def _settings(log: LmEvalLog) -> None:
    for sample in log.samples[1:]:
        settings = sample["arguments"]["gen_args_0"]["arg_1"]
        settings |= {"do_sample": True, "temperature": 1.0}


def _rescored(log: LmEvalLog) -> None:
    log.sign("|data:", "|rescored:0.1|data:")


def _origin(log: LmEvalLog) -> None:
    names = ("model", "backend", "version_of_harness", "status")
    log.results["rescored"] = {
        **dict.fromkeys(names, "success"),
        "settings": [],
        "notes": [],
        **dict.fromkeys(("limited", "picked"), False),
        "harness": "lm-eval",
        "available": 8,
    }


def _signed(old: str, new: str) -> Callable[[LmEvalLog], None]:
    return lambda log: log.sign(old, new)


LM_EVAL = {
    "targets set to the answers": (_targets, "another question or answer"),
    "and a commit that nobody published": (_commit, "another question or answer"),
    "another text of an option": (_option_text, "another question or answer"),
    "answers set to the targets after the filters": (
        _filtered,
        "another response in one place",
    ),
    "a judgement": (_judged, "other values in the log than its answer gives"),
    "right items four times": (_copied, "occurs 4 times, but"),
    "a right item in place of a wrong one": (_one_twice, "occurs 2 times, but"),
    "shots that lm-eval recorded": (_shots_recorded, "shots:0, not shots:5"),
    "the answer in each prompt": (_hint, "another prompt than the catalogue's"),
    "a system message without its hashes": (_system, "another prompt than"),
    "a wrong item left out": (_dropped, "1 items of the data"),
    "no prompts": (_no_prompts, "another prompt than the catalogue's"),
    "a time before there were models": (_long_ago, "its time cannot be right: 1969"),
    "a judge": (_signed("|data:", "|judge:openai/x|data:"), "judge:openai/x, not"),
    "a source of reasoning": (_signed("|data:", "|rationale:paper|data:"), "rationale"),
    "one prompt of all": (_one_prompt, "another prompt than the catalogue's"),
    "more shots than there are": (_signed("shots:0", "shots:1000000000"), "worked ex"),
    "other shots": (_signed("shots:0", "shots:1"), "worked examples"),
    "an unknown part": (_signed("|data:", "|magic:yes|data:"), "no option 'magic'"),
    "a part twice": (_signed("|data:", "|data:x|data:"), "has a part twice"),
    "a prompt outside": (_signed("|data:", "|prompt:../../x|data:"), "prompt"),
    "another hash of what is sent": (_signed("|sent:", "|sent:f"), "sent:f"),
    "another hash of how it is read": (_signed("|read:", "|read:f"), "read:f"),
    "another metric": (_signed("|metric:g", "|metric:G"), "metric:Gen"),
    "a later version": (_signed("|v:", "|v:9"), "has version 9"),
    "a second response, the right one first": (_two_responses, "another response in"),
    "other settings after the first item": (_settings, "other settings than the items"),
    "rescored, without a record of it": (_rescored, "do not agree"),
    "rescored, by its record alone": (_origin, "do not agree"),
    "a name of data in another form": (_signed("|data:", "|data:../"), "not a publ"),
}


@pytest.mark.parametrize("way", LM_EVAL)
def test_forged_logs_of_lm_eval(way: str, lm_eval: LmEvalLog, tmp_path: Path) -> None:
    forge, why = LM_EVAL[way]
    forge(lm_eval)
    assert why in refused(tmp_path / "out", lm_eval.save(), *WHO)
    assert "org/model-7b" not in board_page(lm_eval.file.parent, tmp_path)


def board_page(logs: Path, tmp_path: Path) -> str:
    """The page of the quiz on a board of logs; empty without results."""
    shutil.rmtree(tmp_path / "site", ignore_errors=True)
    done = CliRunner().invoke(app, ["board", str(logs), "-o", str(tmp_path / "site")])
    assert done.exit_code == 0, done.output
    page = tmp_path / "site" / "tasks" / "quiz.html"
    return page.read_text("utf-8") if page.exists() else ""


def test_an_honest_log_is_checked(lm_eval: LmEvalLog, tmp_path: Path) -> None:
    assert "Checked" in board_page(lm_eval.save(), tmp_path)
    done = publish("eee", tmp_path / "out", lm_eval.file.parent, *WHO)
    assert done.exit_code == 0, done.output
    (file,) = (tmp_path / "out").rglob("*.json")
    assert '"compared_with_release": "compared"' in file.read_text("utf-8")
    assert done.stderr == ""


def test_without_the_release_a_log_is_not_compared(
    lm_eval: LmEvalLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = declare(tmp_path / "hub", '[hub]\nrepo_id = "org/quiz"')
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(home))
    monkeypatch.setenv("HKCANTO_DATA", "")
    page = board_page(lm_eval.save(), tmp_path)
    assert "Not compared" in page
    assert "Checked" not in page
    assert publish("eee", tmp_path / "out", lm_eval.file.parent, *WHO).exit_code == 0
    (file,) = (tmp_path / "out").rglob("*.json")
    assert '"compared_with_release": "not compared"' in file.read_text("utf-8")


# ---------------------------------------------------------------------- Inspect


def _inspect_epochs(log: InspectLog) -> None:
    right = [s for s in log.samples if log.judged(s)["value"]["acc"]]
    for epoch in (2, 3, 4):
        for sample in right:
            log.samples.append({**copy.deepcopy(sample), "epoch": epoch})
    log.log["eval"]["config"]["epochs"] = 4


def _same_epoch(log: InspectLog) -> None:
    log.samples += [s for s in log.samples if log.judged(s)["value"]["acc"]]


def _inspect_system(log: InspectLog) -> None:
    for sample in log.samples:
        system = {"role": "system", "content": "You know everything."}
        sample["messages"].insert(0, system)


def _inspect_input(log: InspectLog) -> None:
    for sample in log.samples:
        sample["input"][-1]["content"] += sample["target"]


def _inspect_targets(log: InspectLog) -> None:
    for sample in log.samples:
        sample["target"] = sample["metadata"]["target"] = log.judged(sample)["answer"]
        log.judged(sample)["value"]["acc"] = 1.0
        log.judged(sample)["metadata"]["judgement"]["values"]["acc"] = 1.0


def _inspect_answers(log: InspectLog) -> None:
    for sample in log.samples:
        target = sample["target"]
        sample["output"]["choices"][0]["message"]["content"] = target
        judged = log.judged(sample)
        judged |= {"answer": target, "value": {"acc": 1.0, "unparsed_rate": 0.0}}
        judged["metadata"]["judgement"] |= {"answer": target, "values": judged["value"]}


def _requests(sample: Json) -> list[Json]:
    return [event for event in sample["events"] if event["event"] == "model"]


def _event_response(log: InspectLog) -> None:
    for sample in log.samples:
        for event in _requests(sample):
            event["output"]["choices"][0]["message"]["content"] = "B"


def _event_model(log: InspectLog) -> None:
    for event in _requests(log.samples[-1]):
        event["output"]["model"] = "another"


def _event_settings(log: InspectLog) -> None:
    for event in _requests(log.samples[-1]):
        event["config"]["temperature"] = 1.0


def _invalidated(log: InspectLog) -> None:
    log.samples[0]["invalidation"] = {"author": "me", "reason": "wrong"}


def _inspect_options(log: InspectLog) -> None:
    for sample in log.samples:
        sample["metadata"]["options"]["cot"] = True


INSPECT = {
    "right items in more epochs": (_inspect_epochs, "occurs 4 times, but"),
    "right items twice in one epoch": (_same_epoch, "occurs 2 times, but"),
    "a system message": (_inspect_system, "another prompt than the catalogue's"),
    "the answer in the input": (_inspect_input, "another prompt than the catalogue's"),
    "targets set to the answers": (_inspect_targets, "another question or answer"),
    "answers set to the targets": (_inspect_answers, "another response in one place"),
    "another response in the event": (_event_response, "another response in one"),
    "another model in the event": (_event_model, "was answered by another and"),
    "another temperature in the event": (_event_settings, "with other settings than"),
    "an item that was invalidated": (_invalidated, "invalidated, with 8 of 8 items"),
    "options of its items": (_inspect_options, "its prompt has no text for cot=true"),
}


@pytest.mark.parametrize("way", INSPECT)
def test_forged_logs_of_inspect(way: str, inspect: InspectLog, tmp_path: Path) -> None:
    forge, why = INSPECT[way]
    forge(inspect)
    said = refused(tmp_path / "out", f"org/model-7b={inspect.save()}", *WHO)
    assert why in said


# ---------------------------------------------------------------------- honest changes of a log


WIDE = {"COLUMNS": "300"}


def edited(inspect: InspectLog, value: object, *, recomputed: bool = True) -> Path:
    """Return the log after Inspect's own edit of the score of an item with a wrong answer."""
    log = read_eval_log(str(inspect.file))
    edit_score(
        log,
        inspect.wrong()["id"],
        "judged",
        ScoreEdit(value=value, reason="wrong_gold"),  # type: ignore[arg-type]
        recompute_metrics=recomputed,
    )
    write_eval_log(log, str(inspect.file))
    return inspect.file


def report(log: Path) -> str:
    done = CliRunner().invoke(app, ["report", str(log), "--full"], env=WIDE)
    return " ".join(done.output.split())


def test_a_score_edited_in_inspect(inspect: InspectLog, tmp_path: Path) -> None:
    figures = [read_runs(inspect.file).runs[0].reported[(), "acc"]]
    log = edited(inspect, {"acc": 1.0, "unparsed_rate": 0.0})
    (run,) = read_runs(log).runs
    figures += [run.reported[(), "acc"], run.items.values["acc"].mean()]
    # Five answers of eight are right.
    assert figures == [0.625, 0.75, 0.75]
    said = report(log)
    assert "1 scores were edited by hand" in said
    assert "Was the log edited" not in said
    said = refused(tmp_path / "out", f"org/model-7b={log}", *WHO)
    assert "has a score that was edited by hand" in said


def test_an_item_excluded_in_inspect(inspect: InspectLog, tmp_path: Path) -> None:
    log = edited(inspect, nan)
    (run,) = read_runs(log).runs
    assert run.reported[(), "acc"] == pytest.approx(5 / 7)
    assert run.items.values["acc"].mean() == pytest.approx(5 / 7)
    said = report(log)
    assert "1 of 8 items are excluded from scoring (wrong_gold)" in said
    assert "Was the log edited" not in said
    said = refused(tmp_path / "out", f"org/model-7b={log}", *WHO)
    assert "items excluded from scoring, with 7 of 8 items" in said


def test_a_score_edited_to_a_number_names_the_values(inspect: InspectLog) -> None:
    said = report(edited(inspect, 1.0, recomputed=False))
    assert "its score was edited to 1.0, but it needs a value for each of acc" in said


# ---------------------------------------------------------------------- gates


def gate(before: Path, after: Path) -> Result:
    """Return the result of a gate that a run passes if its judgements are believed."""
    command = ["compare", f"a={before}", f"b={after}", "--gate", "99"]
    return CliRunner().invoke(app, command, env=WIDE)


@pytest.mark.parametrize("log", ["lm_eval", "inspect"])
def test_judgements_that_were_changed_with_the_figures_pass_no_gate(
    log: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    changed: LmEvalLog | InspectLog = request.getfixturevalue(log)
    before = tmp_path / "before"
    shutil.copytree(changed.file.parent, before)
    right = {"acc": 1.0, "unparsed_rate": 0.0}
    for sample in changed.samples:
        if isinstance(changed, InspectLog):
            judged = changed.judged(sample)
            judged["value"] = right
            judged["metadata"]["judgement"]["values"] = right
        else:
            sample["doc"]["judgement"]["values"] = right
            sample["acc"] = 1.0
    changed.save()
    done = gate(before, changed.file)
    said = " ".join(done.output.split())
    assert "Without a verdict" in said
    # Three of eight answers are wrong.
    assert (
        "has other values in the log than its answer gives, and so have 2 more" in said
    )
    assert done.exit_code == 2


def test_an_honest_run_passes_its_gate(lm_eval: LmEvalLog, tmp_path: Path) -> None:
    before = tmp_path / "before"
    shutil.copytree(lm_eval.file.parent, before)
    rename(before / lm_eval.file.name, "org/older-7b")
    done = gate(before, lm_eval.file)
    assert done.exit_code == 0, done.output


def test_scores_edited_in_inspect_are_named_beside_a_gate(
    inspect: InspectLog, tmp_path: Path
) -> None:
    before = tmp_path / "before"
    shutil.copytree(inspect.file.parent, before)
    done = gate(before, edited(inspect, {"acc": 1.0, "unparsed_rate": 0.0}))
    assert done.exit_code == 0
    assert "1 scores were edited by hand" in done.output


# ---------------------------------------------------------------------- reducers


@pytest.mark.parametrize("reducer", ["max", "median", "mode"])
def test_a_reducer_of_one_epoch_is_no_departure(
    reducer: str, inspect: InspectLog, tmp_path: Path
) -> None:
    for score in inspect.log["results"]["scores"]:
        score["reducer"] = reducer
    named = f"org/model-7b={inspect.save()}"
    assert publish("card", tmp_path / "out", named).exit_code == 0


@pytest.mark.parametrize("reducer", ["max", "pass_at_2"])
def test_figures_of_a_reducer_are_not_published(reducer: str, tmp_path: Path) -> None:
    log = run_inspect(
        tmp_path / "log",
        tasks.run(task="quiz"),
        model=answering_model(lambda _: "A"),
        epochs=Epochs(2, reducer),
    )
    said = report(log)
    assert f"Inspect's figures are of the reducer {reducer}; these are means" in said
    assert "Was the log edited" not in said
    said = refused(tmp_path / "out", f"org/model-7b={log}", *WHO)
    assert f"its log has figures of the reducer {reducer}, and these are means" in said


def _answered(inspect: InspectLog, *models: str) -> Path:
    for number, sample in enumerate(inspect.samples):
        sample["output"]["model"] = models[number % len(models)]
        for event in _requests(sample):
            event["output"]["model"] = sample["output"]["model"]
    inspect.log["eval"]["model"] = "openai/gpt-4o-mini"
    return inspect.save()


@pytest.mark.parametrize(
    ("models", "why"),
    [
        (("gpt-4o",), "openai/gpt-4o-mini was asked, but gpt-4o answered"),
        (("gpt-4o-mini", "gpt-4o-mini-x"), "answered by gpt-4o-mini, gpt-4o-mini-x"),
    ],
)
def test_another_model_answered(
    models: tuple[str, ...], why: str, inspect: InspectLog, tmp_path: Path
) -> None:
    log = f"openai/gpt-4o-mini={_answered(inspect, *models)}"
    assert why in refused(tmp_path / "out", log, *WHO)
    done = publish("eee", tmp_path / "out", log, *WHO, "--as", "openai/gpt-4o")
    assert done.exit_code == 0, done.output
    (file,) = (tmp_path / "out").rglob("*.json")
    assert json.loads(file.read_text("utf-8"))["model_info"]["id"] == "openai/gpt-4o"


def test_a_snapshot_is_the_model_that_was_asked(
    inspect: InspectLog, tmp_path: Path
) -> None:
    log = _answered(inspect, "gpt-4o-mini-2024-07-18")
    done = publish("card", tmp_path / "out", f"openai/gpt-4o-mini={log}")
    assert (done.exit_code, done.stderr) == (0, ""), done.output


def test_a_fingerprint_that_changes_during_a_run(
    inspect: InspectLog, tmp_path: Path
) -> None:
    for sample, mark in zip(inspect.samples, LETTERS, strict=True):
        event = next(e for e in sample["events"] if e["event"] == "model")
        event["call"] = {"response": {"system_fingerprint": f"fp_{mark}"}}
    log = _answered(inspect, "gpt-4o-mini")
    why = "the model changed during the run, by its system_fingerprint: fp_A, fp_B"
    assert why in refused(tmp_path / "out", f"openai/gpt-4o-mini={log}", *WHO)


# ---------------------------------------------------------------------- names


def test_two_models_under_one_name(
    quiz_logs: Path, lm_eval: LmEvalLog, tmp_path: Path
) -> None:
    results: Json = lm_eval.results
    results["model_name"] = "org/model-70b"
    results["config"]["model_args"] = {"pretrained": "org/model-70b"}
    lm_eval.results["date"] += 60
    lm_eval.save()
    shutil.copytree(quiz_logs / "lm_eval", lm_eval.file.parent / "first")
    said = refused(tmp_path / "out", f"acme/x={lm_eval.file.parent}", *WHO)
    assert "acme/x names 2 models: org/model-70b; org/model-7b" in said or (
        "acme/x names 2 models: org/model-7b; org/model-70b" in said
    )


def test_a_log_of_another_model_under_a_name(
    lm_eval: LmEvalLog, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    publish("card", tmp_path / "out", f"acme/x={lm_eval.file.parent}")
    assert "acme/x: its log names the model org/model-7b" in caplog.text
    caplog.clear()
    publish("card", tmp_path / "same", f"org/model-7b={lm_eval.file.parent}")
    assert caplog.text == ""


def test_a_blank_line_is_not_a_failed_item(lm_eval: LmEvalLog, tmp_path: Path) -> None:
    lm_eval.save()
    with lm_eval.samples_file.open("a") as file:
        file.write("\n\n")
    done = publish("card", tmp_path / "out", lm_eval.file.parent)
    assert (done.exit_code, done.stderr) == (0, ""), done.output


@pytest.mark.parametrize(
    "url", ["https://me:secret@example.org/logs", "https://example.org/?token=secret"]
)
def test_an_address_with_a_password(
    url: str, lm_eval: LmEvalLog, tmp_path: Path
) -> None:
    said = refused(tmp_path / "out", lm_eval.save(), *WHO[:-1], url)
    assert "--url has a password or key" in said
    assert "secret" not in said


def _to_come(results: Json) -> None:
    results["date"] = 4_102_444_800.0  # 2100


def test_a_log_of_the_year_2100(lm_eval: LmEvalLog, tmp_path: Path) -> None:
    _to_come(lm_eval.results)
    said = refused(tmp_path / "out", lm_eval.save(), *WHO)
    assert "its time is in the future: 2100-01-01" in said


def test_decoding_that_is_not_the_tasks(lm_eval: LmEvalLog, tmp_path: Path) -> None:
    for sample in lm_eval.samples:
        settings = sample["arguments"]["gen_args_0"]["arg_1"]
        settings |= {"do_sample": True, "temperature": 0.7, "max_gen_toks": 4096}
    lm_eval.save()
    assert publish("card", tmp_path / "out", lm_eval.file.parent).exit_code == 0
    (card,) = (tmp_path / "out").rglob("card.md")
    limit = task_as_run("quiz").max_tokens
    departure = f"temperature 0.7, at most 4,096 tokens, not {limit}"
    assert f"| Quiz, 0-shot, {departure} |" in card.read_text("utf-8")


@pytest.mark.parametrize(
    ("settings", "departure"),
    [
        ({"guided_choice": ["A", "B"]}, "with guided_choice"),
        ({"until": ["完"]}, "other stop texts"),
        ({"reasoning_effort": "high"}, "reasoning effort high"),
        ({"do_sample": True, "temperature": 0.7}, "temperature 0.7"),
    ],
)
def test_decoding_is_named_on_cards_and_boards(
    settings: Json, departure: str, lm_eval: LmEvalLog, tmp_path: Path
) -> None:
    assert departure not in board_page(lm_eval.save(), tmp_path)
    for sample in lm_eval.samples:
        sample["arguments"]["gen_args_0"]["arg_1"] |= settings
    log = lm_eval.save()
    assert publish("card", tmp_path / "out", log).exit_code == 0
    (card,) = (tmp_path / "out").rglob("card.md")
    assert f"| Quiz, 0-shot, {departure} |" in card.read_text("utf-8")
    assert publish("eee", tmp_path / "records", log, *WHO).exit_code == 0
    for folder, standing in ((log, "Checked"), (tmp_path / "records", "Self-reported")):
        page = board_page(folder, tmp_path)
        assert standing in page
        assert f"({departure})" in page


def test_decoding_that_was_not_logged_is_no_departure(
    inspect: InspectLog, tmp_path: Path
) -> None:
    # Such as that of a model that takes no temperature.
    plan = inspect.log["plan"]
    plan["config"].pop("temperature", None)
    for step in plan["steps"]:
        step["params"].pop("temperature", None)
    for sample in inspect.samples:
        for event in sample["events"]:
            if event["event"] == "model":
                event["config"].pop("temperature", None)
    named = f"org/model-7b={inspect.save()}"
    assert publish("card", tmp_path / "out", named).exit_code == 0
    (card,) = (tmp_path / "out").rglob("card.md")
    assert "| Quiz, 0-shot | Accuracy" in card.read_text("utf-8")


def test_a_record_that_its_items_contradict(lm_eval: LmEvalLog, tmp_path: Path) -> None:
    folder = tmp_path / "records"
    done = publish("eee", folder, lm_eval.save(), *WHO, "--items")
    assert done.exit_code == 0, done.output
    assert "Self-reported" in board_page(folder, tmp_path)
    (items,) = folder.rglob("*_samples.jsonl")
    text = items.read_text("utf-8")
    items.write_text(text.replace('"score": 1.0', '"score": 0.0'), "utf-8")
    assert "Self-reported" not in board_page(folder, tmp_path)


def test_a_record_with_more_answers_than_all(
    lm_eval: LmEvalLog, tmp_path: Path
) -> None:
    folder = tmp_path / "records"
    assert publish("eee", folder, lm_eval.save(), *WHO).exit_code == 0
    (file,) = folder.rglob("*.json")
    record = json.loads(file.read_text("utf-8"))
    unread = record["evaluation_results"][1]["score_details"]
    assert unread["score"] == 0
    unread["score"] = 0.5
    file.write_text(json.dumps(record), "utf-8")
    assert "Self-reported" not in board_page(folder, tmp_path)


@pytest.fixture
def likelihoods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LmEvalLog:
    home = declare(tmp_path / "with variants", "[data]")
    with (home / "benchmark.toml").open("a") as file:
        file.write('variants = [{ suffix = "mc", scoring = "loglikelihood" }]\n')
    monkeypatch.setenv("HKCANTO_BENCHMARKS", str(home))
    log = run_lm_eval(tmp_path / "likelihoods", "quiz_mc")
    rename(log)
    return LmEvalLog(log)


def test_likelihoods_are_published_and_scored_again(
    likelihoods: LmEvalLog, tmp_path: Path
) -> None:
    done = publish("card", tmp_path / "out", likelihoods.file)
    assert (done.exit_code, done.stderr) == (0, ""), done.output
    again = CliRunner().invoke(
        app, ["rescore", str(likelihoods.file), "-o", str(tmp_path / "again")]
    )
    assert again.exit_code == 0, again.output
    done = publish("card", tmp_path / "out2", tmp_path / "again")
    assert (done.exit_code, done.stderr) == (0, ""), done.output


def _without_likelihoods(log: LmEvalLog) -> None:
    for sample in log.samples:
        sample["resps"] = sample["filtered_resps"] = []
        log.answer(sample, sample["doc"]["target"])


def _exchanged(log: LmEvalLog) -> None:
    for sample in log.samples:
        first, second, *_ = sample["arguments"].values()
        first["arg_1"], second["arg_1"] = second["arg_1"], first["arg_1"]


@pytest.mark.parametrize(
    ("forge", "why"),
    [
        (_without_likelihoods, "has no log-likelihoods to check"),
        (_exchanged, "another prompt than the catalogue's"),
    ],
)
def test_forged_likelihoods(
    forge: Callable[[LmEvalLog], None],
    why: str,
    likelihoods: LmEvalLog,
    tmp_path: Path,
) -> None:
    forge(likelihoods)
    assert why in refused(tmp_path / "out", likelihoods.save(), *WHO)


def _signed_record(part: str) -> Callable[[Json], None]:
    def sign(record: Json) -> None:
        for entry in record["evaluation_results"]:
            details = entry["metric_config"]["additional_details"]
            old = details["signature"]
            details["signature"] = old.replace("|data:", f"|{part}|data:")

    return sign


@pytest.mark.parametrize("part", ["requests:abc1234", "yaml:abc1234", "rescored:9"])
def test_a_record_of_another_task(
    part: str, lm_eval: LmEvalLog, tmp_path: Path
) -> None:
    folder = tmp_path / "records"
    assert publish("eee", folder, lm_eval.save(), *WHO).exit_code == 0
    (file,) = folder.rglob("*.json")
    record = json.loads(file.read_text("utf-8"))
    _signed_record(part)(record)
    file.write_text(json.dumps(record), "utf-8")
    assert "Self-reported" not in board_page(folder, tmp_path)


def test_a_record_whose_items_are_a_part(lm_eval: LmEvalLog, tmp_path: Path) -> None:
    folder = tmp_path / "records"
    # Four of eight are right: so are two of the four that are left.
    for number, sample in enumerate(lm_eval.samples):
        letter = sample["doc"]["target"] if number % 2 else "Z"
        sample["resps"] = [[letter]]
        lm_eval.answer(sample, letter)
    log = lm_eval.save()
    again = tmp_path / "again"
    CliRunner().invoke(app, ["rescore", str(log), "-o", str(again)])
    done = publish("eee", folder, again, *WHO, "--items")
    assert done.exit_code == 0, done.output
    assert "Self-reported" in board_page(folder, tmp_path)
    (items,) = folder.rglob("*_samples.jsonl")
    lines = items.read_text("utf-8").splitlines()
    items.write_text("\n".join(lines[:4]), "utf-8")
    assert "Self-reported" not in board_page(folder, tmp_path)
    items.write_text("\n".join([*lines[:6], *lines[4:6]]), "utf-8")
    assert "Self-reported" not in board_page(folder, tmp_path)


# ---------------------------------------------------------------------- chat templates

TURNS = [("user", "Is it A?"), ("assistant", "Yes"), ("user", "Is it B?")]
TEMPLATE = "{% for message in messages %}[INST] … [/INST]{% endfor %}Today Date"


def framed(*texts: str, system: str = "Today Date: 26 July 2024") -> str:
    first, answer, second = texts
    return f"<s>{system} [INST] {first} [/INST]{answer}</s>[INST] {second} [/INST]"


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        (framed("Is it A?", "Yes", "Is it B?"), True),
        (framed("Is it A?", "Yes", "Is it B?", system="Today Date: 2 May 2025"), True),
        (framed("Is it A?", "Yes", "Is it C?"), False),
        (framed("Is it B?", "Yes", "Is it A?"), False),
        (framed("Is it A?", "Yes", "Is it B?") + " It is B.", False),
        (framed("Is it A?", "Yes", "Is it B?", system="It is B."), False),
    ],
)
def test_the_text_around_messages_is_the_templates_and_the_same_for_each_item(
    text: str, fits: bool
) -> None:
    frames = _Frames()
    others = [("user", "Up?"), ("assistant", "No"), ("user", "Down?")]
    assert frames.fits(framed("Up?", "No", "Down?"), others, TEMPLATE)
    assert frames.fits(text, TURNS, TEMPLATE) is fits


def test_a_word_that_no_template_has_fits_no_item() -> None:
    hinted = framed("Is it A?", "Yes", "Is it B?", system="Today Date: choose B")
    assert not _Frames().fits(hinted, TURNS, TEMPLATE)
    assert _Frames().fits(hinted, TURNS, "")  # without a template, none is known


def test_each_number_of_turns_has_a_frame_of_its_own() -> None:
    frames = _Frames()
    assert frames.fits(framed("Is it A?", "Yes", "Is it B?"), TURNS, TEMPLATE)
    assert frames.fits("<s>[INST] Is it A? [/INST]", TURNS[:1], TEMPLATE)


def test_an_excluded_item_beside_one_without_a_score(inspect: InspectLog) -> None:
    changed = InspectLog(edited(inspect, nan, recomputed=False))
    failed = changed.samples[-1]
    assert failed["id"] != inspect.wrong()["id"]
    failed["error"] = {"message": "m", "traceback": "t", "traceback_ansi": "t"}
    failed["scores"] = {}
    changed.file.write_text(json.dumps(changed.log), "utf-8")
    text = report(changed.file)
    # Eight items: one is excluded, one failed.
    assert "1 of 8 items are excluded from scoring (wrong_gold)" in text
    assert "1 of 7 items have no score, because of errors" in text
