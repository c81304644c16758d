"""Reading the logs of both harnesses: common contents, and peculiarities of each."""

import hashlib
import json
import math
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from hkcanto import tasks
from hkcanto_tasks import __version__, read_runs
from hkcanto_tasks.catalogue import known_signature
from hkcanto_tasks.cli import app
from hkcanto_tasks.errors import LogError
from hkcanto_tasks.judgements import Judgement
from hkcanto_tasks.results.logs.items import ItemRows, LoggedItem
from hkcanto_tasks.results.runs import Items, Run
from hkcanto_tasks.results.statistics.estimates import (
    estimate,
    harness_agreement,
    mean_estimate,
)
from hkcanto_tasks.results.statistics.paired import compare
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.signing import signature_of
from hkcanto_tasks.tasks import load_task, task_as_run

from .harness_runs import AnsweringLM, run_inspect, run_lm_eval

BOTH = ["hkcanto_g2p", "hkcanto_cultural", "hkcanto_translation_zh_yue", "hkmmlu"]


@pytest.fixture(scope="module")
def in_lm_eval(lm_eval_logs: Path) -> dict[str, Run]:
    return by_task(read_runs([lm_eval_logs], texts=True))


@pytest.fixture(scope="module")
def in_inspect(inspect_logs: Path) -> dict[str, Run]:
    return by_task(read_runs([inspect_logs], texts=True))


def by_task(runs: Sequence[Run]) -> dict[str, Run]:
    found = {each.task: each for each in runs}
    assert len(found) == len(runs)
    return found


def test_both_harnesses_are_read_alike(
    in_lm_eval: dict[str, Run], in_inspect: dict[str, Run]
) -> None:
    for task in BOTH:
        same_items(in_lm_eval[task], in_inspect[task])


def same_items(one: Run, other: Run) -> None:
    assert (one.harness, other.harness) == ("lm-eval", "inspect")
    for name in ("task", "shots", "options", "data", "signature", "figures"):
        assert getattr(one, name) == getattr(other, name), name
    for name in ("ids", "subjects", "parts", "reasons", "pairs"):
        assert getattr(one.items, name) == getattr(other.items, name), name
    for name in ("question_lengths", "golds"):
        assert (
            getattr(one.items, name).tolist() == getattr(other.items, name).tolist()
        ), name
    alike = [
        np.equal.outer(side.items.clusters, side.items.clusters)
        for side in (one, other)
    ]
    assert (alike[0] == alike[1]).all()
    for name, values in one.items.values.items():
        other_values = other.items.values[name].tolist()
        assert values.tolist() == pytest.approx(other_values, nan_ok=True), name
    for name, weights in one.items.weights.items():
        assert weights.tolist() == other.items.weights[name].tolist(), name
    responses = [(text.response, text.answer, text.target) for text in one.items.texts]
    assert responses == [
        (text.response, text.answer, text.target) for text in other.items.texts
    ]


def test_figures_of_the_items_are_those_that_the_harness_reports(
    in_lm_eval: dict[str, Run], in_inspect: dict[str, Run]
) -> None:
    runs = [*in_lm_eval.values(), *in_inspect.values()]
    assert {run.task for run in runs} >= {*BOTH, "tmmluplus_gen_mc", "tmmluplus_gen"}
    for run in runs:
        assert not harness_agreement(run).different
        assert ((), run.headline.name) in run.reported
        for (subjects, name), reported in run.reported.items():
            assert subjects == ()
            computed = estimate(run, name)
            assert computed is not None, name
            assert computed.value == pytest.approx(reported), name


def test_the_figures_of_the_harness_are_read_by_name(
    lm_eval_logs: Path, in_lm_eval: dict[str, Run]
) -> None:
    (rows,) = [
        json.loads(file.read_text("utf-8"))["results"]
        for file in lm_eval_logs.rglob("results_*.json")
        if "pycantonese" not in str(file)
    ]
    reported = in_lm_eval["hkmmlu"].reported
    for name in ("acc", "acc_stem", "acc_hk_specific", "unparsed_rate"):
        assert reported[(), name] == rows["hkmmlu"][f"{name},none"]
    assert reported.keys() == {
        ((), each.name) for each in in_lm_eval["hkmmlu"].kind.table
    }
    of_tmmluplus = in_lm_eval["tmmluplus_gen_mc"].reported
    headline = rows["tmmluplus_gen_mc"]["acc_category_macro,none"]
    assert of_tmmluplus[(), "acc_category_macro"] == headline
    # The row with the paper's name is the same figure.
    assert rows["tmmluplus_gen_mc"]["Mean over categories,none"] == headline
    assert not any("Table" in name for _, name in of_tmmluplus)


def test_the_items_of_a_task_are_sorted_by_subject_and_number(
    in_lm_eval: dict[str, Run],
) -> None:
    run = in_lm_eval["hkmmlu"]
    order = [subject.name for subject in run.kind.task.subjects]
    samples = sorted(
        load_task("hkmmlu").samples,
        key=lambda each: (order.index(each.subject), int(each.id.rpartition("/")[2])),
    )
    assert [*run.items.ids] == [sample.id for sample in samples]
    assert [*run.items.subjects] == [sample.subject for sample in samples]
    assert [*run.items.parts] == [sample.parts for sample in samples]
    asked = [(sample.question, *filter(None, sample.choices)) for sample in samples]
    lengths = [len("\n".join(texts)) for texts in asked]
    assert run.items.question_lengths.tolist() == lengths
    assert run.options == {"prompt": "paper", "script": "tc"}
    version = str(run.kind.task.definition.version)
    assert (run.data, run.signature.version) == ("sample", version)
    assert run.signature.text.startswith(
        "hkmmlu|shots:0|turns:single|prompt:paper|script:tc|data:sample|"
    )
    assert not run.complete


def test_examples_may_be_turns_of_their_own(tmp_path: Path) -> None:
    run_inspect(tmp_path, tasks.cultural(subjects="food", multiturn=True))
    (run,) = read_runs([tmp_path])
    questions = {
        each.id: each.text for each in load_task("hkcanto_cultural", ["food"]).samples
    }
    lengths = [len(questions[name]) for name in run.items.ids]
    assert run.items.question_lengths.tolist() == lengths
    assert run.options["turns"] == "multi"
    assert "|turns:multi|" in run.signature.text


def test_epochs_are_items_of_one_cluster(in_inspect: dict[str, Run]) -> None:
    items = in_inspect["tmmluplus_gen"].items
    assert len(items) == 2 * len(load_task("tmmluplus_gen").samples)
    assert len(set(items.ids)) == len(set(items.clusters.tolist())) == len(items) / 2


def test_tokens_endings_and_refusals_are_those_of_the_responses(
    in_inspect: dict[str, Run],
) -> None:
    items = in_inspect["hkmmlu"].items
    seen = set()
    for place, text in enumerate(items.texts):
        response = text.response
        assert items.truncated[place] == response.startswith("<think>未諗完")
        assert (items.reasons[place] == "none: refusal") == response.startswith(
            ("對唔住", "唔知")
        ), response
        assert items.output_tokens[place] == 7
        seen.add(response[:8])
    assert len(seen) >= 5


def test_lm_eval_says_nothing_of_tokens_and_of_truncation_only_what_shows(
    in_lm_eval: dict[str, Run],
) -> None:
    items = in_lm_eval["hkmmlu"].items
    assert np.isnan(items.output_tokens).all()
    unclosed = [text.response.startswith("<think>未諗完") for text in items.texts]
    assert any(unclosed)
    assert np.array_equal(items.truncated == 1, unclosed)
    assert np.isnan(items.truncated[~np.array(unclosed)]).all()


def test_the_letter_of_a_log_likelihood_task_is_the_likeliest(
    lm_eval_logs: Path, in_lm_eval: dict[str, Run]
) -> None:
    items = in_lm_eval["tmmluplus_gen_mc"].items
    responses = {
        id_: text.response for id_, text in zip(items.ids, items.texts, strict=True)
    }
    (file,) = lm_eval_logs.rglob("samples_tmmluplus_*.jsonl")
    lines = [json.loads(line) for line in file.open(encoding="utf-8")]
    assert len(lines) == len(responses)
    for line in lines:
        likelihoods = [float(likelihood) for likelihood, _ in line["filtered_resps"]]
        letter = "ABCD"[int(np.argmax(likelihoods))]
        assert responses[line["doc"]["id"]] == letter
        assert (letter == line["target"]) == (line["acc"] == 1)


def columns(task: str, *rows: tuple[str, str, str, dict[str, float], str]) -> Items:
    """Items of rows: subject, question, response, values and reasoning."""
    of = task_as_run(task)
    found = ItemRows(of, texts=False)
    for place, (subject, question, response, values, reasoning) in enumerate(rows):
        sample = Sample(id=f"{place}", subject=subject, question=question, target="B")
        judged = of.judge(response, sample, reasoning)
        judged = replace(judged, values=values or judged.values)
        found.add(LoggedItem(sample, judged, response))
    return found.items()


def test_chance_is_one_of_the_options_that_an_item_has() -> None:
    of = task_as_run("hkmmlu")
    found = ItemRows(of)
    for options in (("甲", "乙", "丙", "丁"), ("甲", "乙", None, None)):
        item = Sample(id=f"{options}", subject="hk_law", choices=options, target="A")
        found.add(LoggedItem(item, of.judge("A", item), "A"))
    assert sorted(found.items().values["chance"]) == [1 / 4, 1 / 2]


def test_questions_on_one_passage_are_one_cluster() -> None:
    passage = "讀" * 120
    questions = (
        *(f"{passage}\n一？", f"{passage}\n二？", "短", "短", "短咗"),
        *(
            f"34-35為題組 ◎ {passage}【題組】34. 一？",
            f"34-35為題組 ◎ {passage}【題組】35. 二？",
        ),
    )
    found = columns("hkmmlu", *(("hk_law", each, "A", {}, "") for each in questions))
    assert found.clusters.tolist() == [0, 0, 1, 1, 2, 3, 3]


def test_an_instruction_in_front_of_many_questions_is_no_passage() -> None:
    """As in MMLU: all 895 questions of `moral_scenarios` begin with the same 170 characters."""
    scenarios = "For which of these two scenarios did I do something wrong?" * 3
    asked = [f"{scenarios} Scenario 1 | {n}\nScenario 2 | {n}{n}" for n in range(30)]
    formulas = [f"{scenarios}\n{n}" for n in range(21)]
    rows = [("hk_law", each, "A", {}, "") for each in asked + formulas]
    assert len(set(columns("hkmmlu", *rows).clusters.tolist())) == 51


@pytest.mark.realdata
def test_the_passages_of_mmlu() -> None:
    """Counted by reading: MMLU's three subjects of history have most passages."""
    samples = load_task("hkcanto_mmlu_en").samples
    passages = Counter((item.subject, item.passage) for item in samples if item.passage)
    shared = {key: count for key, count in passages.items() if count > 1}
    assert (len(shared), sum(shared.values()), max(shared.values())) == (199, 627, 9)
    assert "moral_scenarios" not in {subject for subject, _ in shared}
    # 41.1 % of 14,042 independent questions: a half width of 0.81 points.
    rows = ItemRows(task_as_run("hkcanto_mmlu_en"))
    for number, item in enumerate(samples):
        correct = {"acc": float(number % 1000 < 411), "unparsed_rate": 0.0}
        rows.add(LoggedItem(item, Judgement(correct, answer="A"), "A"))
    items = rows.items()
    figure = mean_estimate(items.values["acc"], items.clusters)
    assert (figure.high - figure.low) / 2 == pytest.approx(0.0081, abs=0.0003)


def test_equal_questions_of_two_subjects_are_independent() -> None:
    rows = [(subject, "？", "A", {}, "") for subject in ("dentistry", "hk_law")]
    assert columns("hkmmlu", *rows).clusters.tolist() == [0, 1]


def test_a_metric_that_only_some_items_have_is_nan_for_the_others() -> None:
    values = columns(
        "hkmmlu",
        ("hk_law", "?", "A", {"acc": 1.0, "unparsed_rate": 0.0}, ""),
        ("hk_law", "?", "A", {"acc": math.nan, "judged_score": 0.5}, ""),
    ).values
    assert values["judged_score"].tolist() == pytest.approx([np.nan, 0.5], nan_ok=True)
    assert values["acc"].tolist() == pytest.approx([1.0, np.nan], nan_ok=True)


def test_one_condition_has_one_name_however_it_was_asked_for() -> None:
    for name, options, task in (
        ("hkcanto_cultural", {"shots": 0}, "hkcanto_cultural_0shot"),
        ("hkcanto_cultural", {"shots": 3}, "hkcanto_cultural"),
        ("hkmmlu_cot", {"shots": 1}, "hkmmlu_cot_1shot"),
        ("hkmmlu", {"script": "sc"}, "hkmmlu_sc"),
        ("hkmmlu_hk_law_mc", {}, "hkmmlu_mc"),
        ("hkmmlu_cot", {"script": "sc"}, "hkmmlu_cot"),
    ):
        signature = signature_of(task_as_run(name, **options), "sample")
        assert signature.task == task
        assert known_signature(signature.text) == signature
    with pytest.raises(LogError, match="of another version of hkcanto"):
        known_signature(
            "hkmmlu-hk-law|shots:0|data:sample|sent:a1|read:b2|metric:generative|v:1|pkg:0.1.0"
        )


def signed(logs: Path, folder: Path, old: str, new: str) -> Path:
    """Copy a log of lm-eval and change its signature."""
    shutil.copytree(logs / "pycantonese", folder)
    (results,) = folder.glob("results_*.json")
    text = results.read_text("utf-8")
    assert old in text
    results.write_text(text.replace(old, new), "utf-8")
    return folder


def test_another_version_of_the_package_makes_no_difference(
    tmp_path: Path, lm_eval_logs: Path
) -> None:
    folder = signed(lm_eval_logs, tmp_path / "one", f"|pkg:{__version__}", "|pkg:9.9.9")
    one, other = read_runs([folder, lm_eval_logs / "pycantonese"])
    assert one.signature.text.endswith("|v:2|pkg:9.9.9")
    assert one.comparable_as == other.comparable_as
    assert compare(one, other, resamples=100).overall.ties == 60


def test_another_version_of_the_task_is_another_run(
    tmp_path: Path, lm_eval_logs: Path
) -> None:
    signed(lm_eval_logs, tmp_path / "old", "|v:2|", "|v:3|")
    shutil.copytree(lm_eval_logs / "pycantonese", tmp_path / "new")
    read = read_runs([tmp_path])
    assert sorted(each.signature.version for each in read) == ["2", "3"]
    assert not read.skipped
    assert len({each.comparable_as for each in read}) == 2


def test_texts_are_kept_only_if_asked_for(
    lm_eval_logs: Path, inspect_logs: Path
) -> None:
    for run in read_runs([lm_eval_logs, inspect_logs]):
        assert not run.items.texts


def test_prompts_are_whole(
    in_lm_eval: dict[str, Run], in_inspect: dict[str, Run]
) -> None:
    loaded = load_task("hkcanto_cultural")
    sample = next(
        sample for sample in loaded.samples if sample.id == "hkcanto_cultural/food/1"
    )
    prompt = loaded.prompt(sample)
    assert in_lm_eval["hkcanto_cultural"].items.texts[0].prompt == prompt.text()
    messages = [f"[{role}]\n{content}" for role, content in prompt.messages()]
    assert in_inspect["hkcanto_cultural"].items.texts[0].prompt == "\n\n".join(messages)


def test_progress_is_told_by_log(inspect_logs: Path) -> None:
    told: list[tuple[int, int]] = []
    read_runs([inspect_logs], progress=lambda done, total: told.append((done, total)))
    assert told == [(number, 5) for number in range(1, 6)]


def test_a_run_of_some_subjects_gives_way_to_one_of_all(
    tmp_path: Path, lm_eval_logs: Path
) -> None:
    (results,) = [
        file for file in lm_eval_logs.rglob("results_*") if "pycan" not in str(file)
    ]
    shutil.copytree(results.parent, tmp_path / "first")
    run_lm_eval(tmp_path / "later", "hkmmlu_hk_law", model=AnsweringLM(lambda _: "B"))
    read = read_runs([tmp_path])
    run = by_task(read)["hkmmlu"]
    assert run.reported[(), "acc"] == pytest.approx(run.items.values["acc"].mean())
    assert len(run.items) == len(load_task("hkmmlu").samples)
    (skipped,) = read.skipped
    assert skipped.reason.startswith("hkmmlu: results_")
    assert (
        "counts, which has its items, too, and is larger; to keep both, name them"
        in skipped.reason
    )
    assert (
        len(read_runs([tmp_path / "first", f"law={tmp_path / 'later'}"]))
        == len(read) + 1
    )


def test_of_several_filters_the_first_ones_figures_count(tmp_path: Path) -> None:
    log = run_lm_eval(
        tmp_path, "hkcanto_law", model=AnsweringLM(lambda _: "A"), limit=4
    )
    content = json.loads(log.read_text("utf-8"))
    figures = content["results"]["hkcanto_law"]
    assert figures["acc,none"] != 0.123
    figures["acc,another"] = 0.123
    log.write_text(json.dumps(content), "utf-8")
    (run,) = read_runs(log)
    assert run.reported[(), "acc"] == figures["acc,none"]
    assert harness_agreement(run).different == []


def test_runs_of_single_subjects_are_one_run(
    tmp_path: Path, in_lm_eval: dict[str, Run]
) -> None:
    """As written by an array of jobs on a cluster."""
    for subject in in_lm_eval["hkcanto_cultural"].subjects:
        run_lm_eval(tmp_path / subject.name, f"hkcanto_cultural_{subject.name}")
    (joined,) = read_runs([tmp_path])
    whole = in_lm_eval["hkcanto_cultural"]
    assert (joined.task, joined.signature) == (whole.task, whole.signature)
    assert [*joined.items.ids] == [*whole.items.ids]
    assert joined.reported[("food",), "acc"] == whole.reported[(), "acc_food"]
    for name in whole.figures:
        assert estimate(joined, name) == estimate(whole, name), name


def test_a_part_of_a_task_is_read(tmp_path: Path, in_lm_eval: dict[str, Run]) -> None:
    run_lm_eval(tmp_path, "hkmmlu_stem")
    (part,) = read_runs([tmp_path])
    assert part.task == "hkmmlu"
    whole = in_lm_eval["hkmmlu"]
    assert {subject.category for subject in part.subjects} == {"stem"}
    assert part.reported[(), "acc"] == whole.reported[(), "acc_stem"]
    assert estimate(part, "acc") == estimate(whole, "acc_stem")


def test_the_subjects_that_were_asked_for_are_read(tmp_path: Path) -> None:
    run_inspect(tmp_path, tasks.cultural(subjects="food,life_in_hk"))
    (run,) = read_runs([tmp_path])
    assert [subject.name for subject in run.subjects] == ["food", "life_in_hk"]
    found = estimate(run, "acc_macro")
    assert found is not None
    assert found.value == pytest.approx(run.reported[(), "acc_macro"])


@pytest.mark.slow
def test_several_tasks_in_one_log_are_several_runs(
    tmp_path: Path, in_inspect: dict[str, Run]
) -> None:
    run_inspect(tmp_path, tasks.hkcanto())
    found = by_task(read_runs([tmp_path]))
    assert len(found) == 9
    alone, together = in_inspect["hkcanto_cultural"], found["hkcanto_cultural"]
    assert together.signature == alone.signature
    assert sorted(together.items.ids) == sorted(alone.items.ids)
    # A log of several tasks has the number of all their items only.
    assert (together.available, alone.available) == (0, len(alone.items))
    assert estimate(together, "acc_macro") == estimate(alone, "acc_macro")
    assert together.reported == {((), "acc_macro"): alone.reported[(), "acc_macro"]}
    zero_shot = found["hkcanto_cultural_0shot"]
    assert zero_shot.shots == 0
    assert sorted(zero_shot.items.ids) == sorted(alone.items.ids)


def test_two_conditions_in_one_folder_are_told_by_place_and_source(
    tmp_path: Path,
) -> None:
    logs = [
        run_inspect(tmp_path, tasks.cultural(subjects="food", shots=n)) for n in (0, 1)
    ]
    read = read_runs([tmp_path])
    assert [run.argument for run in read] == [0, 0]
    assert {each.shots: each.sources for each in read} == {
        0: (logs[0],),
        1: (logs[1],),
    }
    assert len({each.comparable_as for each in read}) == 2


def test_a_log_that_is_given_twice_has_the_place_of_the_first(
    lm_eval_logs: Path,
) -> None:
    (log,) = lm_eval_logs.glob("pycantonese/results_*.json")
    read = read_runs([log, log])
    assert [run.argument for run in read] == [0]
    (skipped,) = read.skipped
    assert skipped.path == log
    assert skipped.reason == f"it was already read from {log}"


def test_a_file_that_is_not_a_log_is_refused_with_advice(
    tmp_path: Path, lm_eval_logs: Path
) -> None:
    with pytest.raises(LogError, match="runs/tuned does not exist"):
        read_runs(["runs/tuned"])
    with pytest.raises(LogError, match=r"a folder of logs.*--log_samples"):
        read_runs([tmp_path])
    (tmp_path / "notes.txt").write_text("score: 3")
    with pytest.raises(LogError, match=r"notes\.txt is not a log"):
        read_runs([tmp_path / "notes.txt"])
    samples = next(lm_eval_logs.rglob("samples_*.jsonl"))
    with pytest.raises(LogError, match=r"Give the results_….json"):
        read_runs([samples])
    (results,) = lm_eval_logs.glob("pycantonese/results_*.json")
    shutil.copy(results, tmp_path)
    with pytest.raises(
        LogError,
        match="run lm_eval with --log_samples and do not rename files: hkcanto_g2p",
    ):
        read_runs([tmp_path])


def test_runs_print_as_a_table(lm_eval_logs: Path) -> None:
    """One line for each run: model, task, headline, items, status."""
    runs = read_runs(lm_eval_logs)
    heading, *lines = str(runs).splitlines()
    assert heading.split() == ["model", "task", "headline", "items", "status"]
    assert len(lines) == len(runs) == 5
    (of_g2p,) = (line for line in lines if "hkcanto_g2p" in line)
    assert of_g2p.split() == (
        [
            "pycantonese",
            "hkcanto_g2p,",
            "5-shot",
            "cer_published",
            "24.6%",
            "60",
            "finished",
        ]
    )


def test_what_was_sent_is_one_record_of_both_harnesses(tmp_path: Path) -> None:
    run_inspect(
        tmp_path / "inspect",
        tasks.hkmmlu(),
        limit=2,
        epochs=2,
        max_tokens=9,
        seed=7,
        stop_seqs=["完"],
        system_message="你係專家。",
        reasoning_effort="low",
    )
    (run,) = read_runs(tmp_path / "inspect")
    sent = run.sent
    assert (sent.max_tokens, sent.seed, sent.stop, sent.repeats) == (9, 7, ("完",), 2)
    assert sent.reasoning_effort == "low"
    assert sent.system == hashlib.sha256("你係專家。".encode()).hexdigest()[:7]
    assert "system instruction" in " ".join(run.notes)
    run_lm_eval(
        tmp_path / "lm_eval",
        "hkmmlu",
        limit=2,
        gen_kwargs="temperature=0.5,do_sample=True",
    )
    (run,) = read_runs(tmp_path / "lm_eval")
    assert (run.sent.temperature, run.sent.max_tokens) == (0.5, 32)
    assert run.sent.stop == ("\n\n問題: ",)
    assert run.decoding == "temperature 0.5"
    # Rescored logs keep it.
    done = CliRunner().invoke(
        app, ["rescore", str(tmp_path), "-o", str(tmp_path / "new")]
    )
    assert done.exit_code == 0, done.output
    again = {each.harness: each.sent for each in read_runs(tmp_path / "new")}
    assert again == {"inspect": sent, "lm-eval": run.sent}
