"""`hkcanto board`: its contents, what it refuses, and its tiers."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from statsmodels.stats.proportion import proportion_confint
from typer.testing import CliRunner

from hkcanto_tasks.catalogue import named_tasks
from hkcanto_tasks.cli import app
from hkcanto_tasks.results.board.folders import read_results
from hkcanto_tasks.results.board.pages import columns, tiers
from hkcanto_tasks.results.board.records import PublishedResult, read_record
from hkcanto_tasks.results.statistics.intervals import Estimate
from hkcanto_tasks.signing import signature_of
from hkcanto_tasks.tasks import task_as_run

from ..reports.browser import chromium
from .conftest import Board, Results, made_records
from .reading import header, rows

Change = Callable[[dict[str, Any]], object]
WHO = (
    "--by",
    "A Lab",
    "--relationship",
    "third_party",
    "--url",
    "https://example.org/logs",
)


def entry(record: dict[str, Any], name: str = "acc_macro") -> dict[str, Any]:
    """Return a figure of a record."""
    return next(
        each
        for each in record["evaluation_results"]
        if each["metric_config"]["additional_details"]["name"] == name
    )


def replaced(*path: str, by: object) -> Change:
    def change(record: dict[str, Any]) -> None:
        place = record
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = by

    return change


# ---------------------------------------------------------------------- a first board


def test_without_results_the_papers_scores_are_the_board(board: Board) -> None:
    made = board()
    assert made.status == 0
    # HKCanto-Eval, Table 1: Claude 3.5 Sonnet has 81.5 in MMLU's Cantonese questions; Table 3:
    # GPT-4o has 5.4 % and is the best model.
    page = made.page("tasks/hkcanto_mmlu_yue.html")
    assert rows(page)["Claude 3.5 Sonnet"][1].split()[0] == "81.5"
    assert "81.5" in " ".join(rows(made.page("index.html"))["Claude 3.5 Sonnet"])
    table = rows(made.page("tasks/hkcanto_g2p.html"))
    assert table["GPT4o"][0] == "1"
    assert table["GPT4o"][1].split()[0] == "5.4"
    assert table["GPT4o"][2] == "HKCanto-Eval (Cheng et al., 2025), Table 3"


def test_published_shares_tie_as_ours_do(board: Board) -> None:
    # 23 models on 252 questions were ranked 1 to 23. Wilson's interval for 77.2 % of them:
    low, high = proportion_confint(0.772 * 252, 252, method="wilson")
    found = [
        each
        for column in columns([])
        for each in column.results
        if each.kind.task.definition.name == "hkcanto_cultural"
        and each.headline.value == 0.772
    ]
    assert (found[0].headline.low, found[0].headline.high) == pytest.approx(
        (low, high), abs=1e-6
    )
    table = rows(board().page("tasks/hkcanto_cultural.html"))
    assert len({cells[0] for cells in table.values()}) < 8


def test_a_score_that_measures_something_else_is_not_on_the_board() -> None:
    # TMMLU+, Table 2, 5-shot: the average of Qwen-7B, 52.0, is not that of its categories.
    shown = {
        each.model
        for column in columns([])
        for each in column.results
        if (each.signature.task, each.signature.shots) == ("tmmluplus_gen", 5)
    }
    assert {"GPT-4", "Qwen-14B"} <= shown
    assert "Qwen-7B" not in shown


# ---------------------------------------------------------------------- records and logs


@pytest.fixture
def quiz(quiz_logs: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A folder with the logs of a model that has five of eight questions right."""
    request.getfixturevalue("hub")
    folder = tmp_path / "contributed"
    shutil.copytree(quiz_logs / "lm_eval", folder / "logs")
    return folder


def publish(folder: Path) -> None:
    command = ["publish", str(folder / "logs"), "--to", "eee", "-o", str(folder), *WHO]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output


def test_logs_a_record_with_its_logs_and_a_record_alone(
    quiz: Path, board: Board
) -> None:
    made = board(quiz)
    assert "1 results of 1 models" in made.output
    page = made.page("tasks/quiz.html")
    assert "Not compared" in page  # without the release
    assert "Self-reported" not in page
    assert (
        rows(page)["org/model-7b"][1] == "62.5 [30.6, 86.3]"
    )  # Wilson's interval of 5 of 8
    publish(quiz)
    made = board(quiz, "--check")
    assert (made.status, made.site.joinpath("tasks").exists()) == (0, True), made.output
    assert "1 results of 1 models are right" in made.output
    assert "Self-reported" not in board(quiz).page("tasks/quiz.html")
    shutil.rmtree(quiz / "logs")
    page = board(quiz).page("tasks/quiz.html")
    assert "Self-reported" in page
    assert "A Lab (third party)" in page
    assert 'href="https://example.org/logs"' in page
    assert rows(page)["org/model-7b"][1].startswith("62.5")


@pytest.mark.usefixtures("hub")
def test_a_part_of_a_task_is_refused_by_name(quiz_logs: Path, board: Board) -> None:
    made = board(quiz_logs / "limited", "--check")
    assert made.status == 1
    assert "results_" in made.output
    assert "not the whole task, with 3 of 8 items" in made.output


# ---------------------------------------------------------------------- refusals


def of(name: str, **fields: Any) -> Change:
    """Return a change of a figure's details."""
    return lambda record: entry(record, name)["score_details"].update(fields)


def signed(old: str, new: str) -> Change:
    """Return a change of the signatures."""

    def change(record: dict[str, Any]) -> None:
        for each in record["evaluation_results"]:
            details = each["metric_config"]["additional_details"]
            details["signature"] = re.sub(old, new, details["signature"])

    return change


def counted(items: str) -> Change:
    def change(record: dict[str, Any]) -> None:
        for each in record["evaluation_results"]:
            each["source_data"]["additional_details"].update(items=items)

    return change


WRONG: dict[str, tuple[Change, str]] = {
    "twice": (
        lambda record: record["evaluation_results"].append(entry(record)),
        "it has acc_macro 2 times",
    ),
    "no headline": (
        lambda record: record["evaluation_results"].remove(entry(record)),
        "headline acc_macro is missing",
    ),
    "above all": (
        of("acc_macro", score=1.2),
        "acc_macro is 1.2, but a share is from 0 to 1",
    ),
    "not k of n": (of("acc", score=0.6), "acc is 0.6, not a share of 252 items"),
    "more items": (
        of("acc", uncertainty={"num_samples": 100_000}),
        "acc has 100,000 items, but its task has 252",
    ),
    "more answers": (
        of("unparsed_rate", uncertainty={"num_samples": 253}),
        "unparsed_rate has 253 items, but its task has 252",
    ),
    "some items": (counted("30"), "it has 30 of 252 items"),
    "other digits": (counted("٢٥٢"), "it has ٢٥٢ of 252 items"),
    "unknown figure": (
        lambda record: entry(record, "acc")["metric_config"][
            "additional_details"
        ].update(name="brilliance"),
        "'brilliance' is not among",
    ),
    "no signature": (signed(".*", ""), "its signature '' is of another version"),
    "unknown task": (
        signed("^[^|]*", "hkcanto-astrology"),
        "no task 'hkcanto_astrology'",
    ),
    "unknown option": (signed(r"prompt:\w+", "prompt:mine"), "prompt='mine'; choose"),
    "another prompt": (signed(r"sent:\w+", "sent:0000000"), "sent:0000000, not sent:"),
    "to come": (signed(r"v:\d+", "v:99"), "it is of version 99 of hkcanto_cultural"),
    "former": (signed(r"v:\d+", "v:0"), "Score its log again"),
    "version in other digits": (signed(r"v:(\d)", "v:0\\1"), "it is of version 0"),
    "sample": (
        signed(r"data:[^|]+", "data:sample"),
        "(sample) is not a published revision",
    ),
    "own files": (
        signed(r"data:[^|]+", "data:local-1a2b3c4"),
        "is not a published revision",
    ),
    "a part": (
        signed(r"prompt:", "subjects:food|prompt:"),
        "covers only some subjects",
    ),
    "a path": (replaced("model_info", "id", by="/home/me/model"), "model_info.id"),
    "look-alike": (
        replaced("model_info", "id", by="оrg/model"),
        "model_info.id",
    ),  # Cyrillic о
    "no time": (
        replaced("evaluation_timestamp", by="yesterday"),
        "evaluation_timestamp",
    ),
    "time in other digits": (
        replaced("evaluation_timestamp", by="١٧٦٧٢٢٥٦٠٠"),
        "evaluation_timestamp",
    ),
    "to be run": (
        replaced("evaluation_timestamp", by="9999999999.0"),
        "its time is in the future",
    ),
    "schema": (replaced("schema_version", by="9.1"), "schema_version"),
    "form": (replaced("model_info", by=[]), "not in a format that this version knows"),
    "settings without end": (
        replaced(
            "model_info",
            "additional_details",
            by={f"s{n}": "x" for n in range(150_000)},
        ),
        "model_info.additional_details",
    ),
}


def test_a_record_that_is_wrong_is_not_on_the_board(
    results: Results, board: Board
) -> None:
    results.add("org/right-7b", name="right.json")
    for name, (change, _) in WRONG.items():
        results.add("org/wrong-7b", change=change, name=f"{name}.json")
    made = board(results.folder)
    assert made.status == 0
    assert [*rows(made.page("tasks/hkcanto_cultural.html"), "Self-reported")] == [
        "org/right-7b"
    ]
    refused = {
        path: reason
        for reason, paths in read_results([str(results.folder)])[1].items()
        for path in paths
    }
    assert len(refused) == len(WRONG)
    for name, (_, why) in WRONG.items():
        assert why in refused[f"data/{name}.json"], name
    check = board(results.folder, "--check")
    assert check.status == 1
    assert f"{len(WRONG)} files or runs are not" in check.output


def test_a_part_is_counted_by_the_published_rows_of_its_set(
    results: Results, board: Board
) -> None:
    # Of 26,698 questions, 14,797 are in the 23 subjects on Hong Kong.
    wrong = of("acc_hk_specific", score=0.5, uncertainty={"num_samples": 26_698})
    results.add(task="hkmmlu", change=wrong)
    why = "acc_hk_specific has 26,698 items, but its task has 14,797"
    assert why in board(results.folder).output


@pytest.mark.parametrize("part", [1.0, 0.0])
def test_a_part_has_no_more_right_or_wrong_answers_than_the_whole(
    part: float, results: Results, board: Board
) -> None:
    # Half of all 26,368 answers are right: neither all nor none of 14,797 can be.
    results.add(task="hkmmlu", skill=0.5)
    assert board(results.folder, "--check").status == 0
    wrong = of("acc_hk_specific", score=part)
    results.add("org/other", task="hkmmlu", skill=0.5, change=wrong)
    made = board(results.folder, "--check")
    assert made.status == 1
    said = r"it contradicts itself: acc is 0\.[45]\d+, but acc_hk_specific is [01] "
    assert re.search(said, " ".join(made.output.split()))


def test_all_of_a_part_may_be_right_although_other_answers_are_unread(
    results: Results, board: Board
) -> None:
    def change(record: dict[str, Any]) -> None:
        of("acc_food", score=1.0)(record)
        of("unparsed_rate", score=0.2)(record)

    results.add(skill=0.6, change=change)
    made = board(results.folder, "--check")
    assert made.status == 0, made.output


def test_a_record_of_a_rescored_log_is_kept_beside_the_log(
    quiz: Path, board: Board
) -> None:
    publish(quiz)
    (file,) = quiz.glob("data/**/*.json")
    record = json.loads(file.read_text("utf-8"))
    signed(r"\|data:", "|rescored:0.2.0|data:")(record)
    file.write_text(json.dumps(record), "utf-8")
    made = board(quiz)
    assert "2 results of 1 models" in made.output
    assert "Self-reported" in made.page("tasks/quiz.html")


def test_a_reason_is_given_once_with_its_files(results: Results, board: Board) -> None:
    for place in range(5):
        results.add(f"org/m-{place}", change=counted("30"), name=f"{place}.json")
    results.add("org/right-7b")
    made = board(results.folder)
    assert made.output.count("it has 30 of 252 items") == 1
    assert "not on the board (5): it has 30 of 252 items" in made.output
    assert "data/4.json" not in made.output
    assert "data/4.json" in made.page("index.html")
    assert "data/4.json" in board(results.folder, "--check").output


def test_reasons_and_their_files_are_on_the_standard_error(
    results: Results, tmp_path: Path
) -> None:
    results.add(change=counted("30"), name="wrong.json")
    command = ["board", str(results.folder), "-o", str(tmp_path / "site")]
    done = CliRunner().invoke(app, command)
    for part in ("not on the board (1): it has 30 of 252 items", "data/wrong.json"):
        assert part in done.stderr
        assert part not in done.stdout
    assert "0 results of 0 models" in done.stdout


def test_a_record_as_published_is_right(results: Results, board: Board) -> None:
    results.add()
    made = board(results.folder, "--check")
    assert (made.status, made.site.exists()) == (0, False)
    assert "1 results of 1 models are right, 0 files" in made.output


def test_files_other_than_records_are_named(results: Results, board: Board) -> None:
    (results.folder / "broken.json").write_text(
        '{"evaluation_results": [', encoding="utf-8"
    )
    (results.folder / "other.json").write_text("{}", encoding="utf-8")
    (results.folder / "deep.json").write_text(
        '{"evaluation_results": ' + "[" * 100_000, encoding="utf-8"
    )
    (results.folder / ".hidden").mkdir()
    (results.folder / ".hidden" / "not_here.json").write_text("{}", encoding="utf-8")
    said = board(results.folder).output
    for name in ("broken.json", "deep.json", "other.json"):
        assert name in said
    assert "damaged: Input data was truncated" in said
    assert "not in a format that this version knows" in said
    assert "not_here" not in said
    made = board("nowhere")
    assert made.status == 2
    assert "nowhere does not exist. Give a log or a folder of logs" in made.output


# ---------------------------------------------------------------------- columns and rows


def test_never_two_setups_in_one_column(results: Results, board: Board) -> None:
    results.add("org/a-7b", skill=0.4)
    results.add("org/b-7b", skill=0.5, shots=0)
    results.add("org/c-7b", skill=0.6, options={"prompt": "yue"})
    results.add("org/d-7b", skill=0.7, change=signed("data:[^|]+", "data:b047f9f"))
    made = board(results.folder)
    table = rows(made.page("index.html"))
    filled = [
        {place for place, text in enumerate(table[f"org/{name}-7b"]) if text}
        for name in "abcd"
    ]
    assert all(len(each) == 1 for each in filled)
    assert len(set.union(*filled)) == 4
    settings = re.findall(r"<h2>(.*?)</h2>", made.page("tasks/hkcanto_cultural.html"))
    assert len({*settings}) == len(settings) == 4


def test_a_papers_score_is_beside_the_papers_own_prompt_only(results: Results) -> None:
    results.add("org/a-7b", options={"prompt": "yue"})
    results.add("org/b-7b")
    found = columns(read_results([str(results.folder)])[0])
    beside = {
        each.model: any(other.standing == "published" for other in column.results)
        for column in found
        for each in column.results
    }
    assert (beside["org/a-7b"], beside["org/b-7b"]) == (False, True)


def test_what_differs_between_the_runs_of_a_model_is_in_its_name(
    results: Results, board: Board
) -> None:
    half = replaced("model_info", "additional_details", "dtype", by="float16")
    results.add(skill=0.5)
    results.add(skill=0.6, day=1, change=half)
    results.add("org/m@step", skill=0.6)
    table = rows(board(results.folder).page("index.html"))
    assert {"org/model-7b (dtype bfloat16)", "org/model-7b (dtype float16)"} <= {*table}
    assert "org/m@step" in table


def test_names_that_look_alike_name_each_other(results: Results, board: Board) -> None:
    for model in ("org/model-1o", "org/Model-lO", "org/other"):
        results.add(model, skill=0.5)
    table = rows(board(results.folder).page("index.html"))
    expected = {
        "org/model-1o (not org/Model-lO)",
        "org/Model-lO (not org/model-1o)",
        "org/other",
    }
    assert expected <= {*table}


def test_a_newer_result_of_the_same_publisher_replaces_an_older_one(
    results: Results, board: Board
) -> None:
    results.add(skill=0.5, day=0)
    results.add(skill=0.7, day=30)
    page = board(results.folder).page("tasks/hkcanto_cultural.html")
    assert float(rows(page, "Self-reported")["org/model-7b"][1].split()[0]) > 60
    other = replaced("source_metadata", "source_organization_name", by="Another Lab")
    results.add(skill=0.9, day=40, change=other)
    table = rows(board(results.folder).page("index.html"))
    both = {
        "org/model-7b (by Another Lab (other))",
        "org/model-7b (by Made-up results (other))",
    }
    assert both <= {*table}


def test_only_web_addresses_become_links(results: Results, board: Board) -> None:
    results.add(
        change=replaced(
            "source_metadata", "additional_details", by={"logs": "javascript:alert(1)"}
        )
    )
    made = board(results.folder)
    pages = [file.read_text("utf-8") for file in made.site.rglob("*.html")]
    assert any("model-7b" in page for page in pages)
    assert not any('href="javascript' in page for page in pages)


# ---------------------------------------------------------------------- tiers


def result(
    model: str, task: str, *interval: float, standing: Any = "checked"
) -> PublishedResult:
    kind = task_as_run(task)
    value, *ends = interval
    low, high = ends or (None, None)
    values = {kind.headline.name: Estimate(value, low, high, 500)}
    return PublishedResult(standing, model, kind, signature_of(kind, "release"), values)


def test_a_tier_ends_where_a_result_is_significantly_worse_than_its_best() -> None:
    # b - a is 0.03, within sqrt(0.03² + 0.04²) = 0.05; b - c is 0.06, beyond sqrt(0.03² + 0.03²);
    # d has no interval; nobody has e's logs.
    made = [
        result("a", "hkcanto_cultural", 0.60, 0.56, 0.64),
        result("b", "hkcanto_cultural", 0.63, 0.60, 0.66),
        result("c", "hkcanto_cultural", 0.57, 0.54, 0.60),
        result("d", "hkcanto_cultural", 0.90),
        result("e", "hkcanto_cultural", 0.99, 0.98, 1.0, standing="self-reported"),
        result("f", "hkcanto_cultural", 0.57, 0.54, 0.60, standing="self-reported"),
    ]
    found = {each.model: tier for each, tier in tiers(made).items()}
    assert found == {"a": 1, "b": 1, "c": 2, "e": 1, "f": 2}
    # An error rate is better if it is lower.
    rates = [
        result("g", "hkcanto_g2p", 0.2, 0.19, 0.21),
        result("h", "hkcanto_g2p", 0.1, 0.09, 0.11),
    ]
    assert [
        tier for _, tier in sorted((e.model, t) for e, t in tiers(rates).items())
    ] == [2, 1]


def test_intervals_of_a_record_are_ours() -> None:
    made = made_records.record(task_as_run("hkcanto_cultural"), "org/model", 0.6)
    ends = {"lower": 0.5999, "upper": 0.6001, "confidence_level": 0.95}
    for each in made["evaluation_results"]:
        each["score_details"]["uncertainty"]["confidence_interval"] = ends
    found = read_record(json.dumps(made).encode(), "x.json").values["acc"]
    low, high = proportion_confint(round(found.value * 252), 252, method="wilson")
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-6)


# ---------------------------------------------------------------------- the site


@pytest.fixture
def several(results: Results) -> Results:
    """Six models on three tasks."""
    for place, model in enumerate([*made_records.names(5), "org/tuned-7b@step2000"]):
        for task in ("hkcanto_cultural", "hkcanto_g2p", "hkmmlu"):
            results.add(model, task, 0.3 + place / 10, day=41 * place)
    return results


def test_every_link_leads_somewhere_and_equal_results_make_equal_bytes(
    several: Results, board: Board, tmp_path: Path
) -> None:
    (several.folder / "bad.json").write_text("{}", encoding="utf-8")
    first = board(several.folder)
    texts = {path: path.read_text("utf-8") for path in first.site.rglob("*.html")}
    for file, text in texts.items():
        for href in re.findall(r'href="([^"]+)"', text):
            assert (file.parent / href).resolve().is_file(), (file, href)
    for file in sorted(several.folder.rglob("*.json"), reverse=True):
        copy = tmp_path / "elsewhere" / file.relative_to(several.folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)
    second = board(tmp_path / "elsewhere", site="second")
    assert len([*second.site.rglob("*.html")]) == len(texts)
    for path, text in texts.items():
        assert second.page(str(path.relative_to(first.site))) == text, path


def test_a_heading_has_the_task_and_then_the_setup(
    several: Results, board: Board
) -> None:
    heads = header(board(several.folder).page("index.html"))
    assert heads[:2] == ["Model", "Jyutping grapheme-to-phoneme"]
    assert any(text.startswith("5-shot") and text.endswith("↑") for text in heads)


def test_the_first_tier_is_tinted_and_each_result_has_a_dot(
    several: Results, board: Board
) -> None:
    page = board(several.folder).page("tasks/hkcanto_g2p.html")
    headlines = re.findall(r'<td class="drawn( tied)?".*?</td>', page, re.S)
    tiers = re.findall(r"</th><td>(\d*)</td>", page)
    assert len(headlines) == len(tiers) > 5
    assert headlines == [" tied" if tier == "1" else "" for tier in tiers]
    assert page.count('<circle class="dot"') == len(headlines)


@pytest.mark.slow
def test_pages_of_forty_models_on_all_tasks_are_no_larger_than_400_kilobytes(
    tmp_path: Path, board: Board
) -> None:
    made_records.write(tmp_path / "many", 40)
    made = board(tmp_path / "many")
    assert "2000 results of 40 models" in made.output
    sizes = {file.name: file.stat().st_size for file in made.site.rglob("*.html")}
    assert max(sizes.values()) <= 400_000, sizes


@pytest.mark.browser
def test_the_pages_in_a_browser(several: Results, board: Board) -> None:
    site = board(several.folder).site
    script = (
        "return [...document.querySelectorAll('tbody tr:not(.kind)')]"
        ".filter(row => row.offsetParent).map(row => row.cells[0].innerText.trim())"
    )
    with chromium() as browser:
        for path in ("index.html", "tasks/hkmmlu.html"):
            browser.open(site / path, 360, "light", 740)
            assert browser.complaints() == []
            assert browser.requests() == {(site / path).as_uri()}
            assert browser.run("return document.scrollingElement.scrollWidth") <= 360, (
                path
            )
        browser.open(site / "index.html")
        assert browser.texts("section:not([hidden]) h2") == ["HKCanto-Eval"]
        assert "org/tuned-7b@step2000" in browser.run(script)
        choose = (
            "const s = document.querySelector('select'); s.value = '%s';"
            "s.dispatchEvent(new Event('change'))"
        )
        browser.run(choose % "tmmluplus")
        assert browser.texts("section:not([hidden]) h2") == ["TMMLU+"]
        assert not [name for name in browser.run(script) if "/" in name]
        browser.run(choose % "hkmmlu")
        browser.run(
            "document.querySelector('section:not([hidden]) thead button').click()"
        )
        assert browser.run(script)[0] == "org/tuned-7b@step2000"
        dark = "return getComputedStyle(document.body.parentElement).colorScheme"
        assert browser.run(dark) == "light dark"


def test_an_accuracy_on_fewer_items_than_its_task_has_is_refused(
    results: Results, board: Board
) -> None:
    def fewer(record: dict[str, Any]) -> None:
        entry(record)["score_details"]["uncertainty"]["num_samples"] = 250

    results.add(change=fewer)
    made = board(results.folder)
    assert "acc_macro has 250 items, but its task has 252" in made.output


def test_a_result_that_was_scored_again_stands_beside_the_first(
    results: Results, board: Board
) -> None:
    def again(record: dict[str, Any]) -> None:
        for result in record["evaluation_results"]:
            details = result["metric_config"]["additional_details"]
            details["signature"] = details["signature"].replace(
                "|data:", "|rescored:0.2.0|data:"
            )

    results.add()
    results.add(change=again)
    made = board(results.folder)
    assert "2 results of 1 models" in made.output


def test_columns_have_the_order_of_the_catalogue() -> None:
    tasks = [
        "hkcanto_law",
        "hkmmlu",
        "tmmluplus_gen",
        "hkcanto_cultural",
        "hkcanto_g2p",
    ]
    made = columns([result("m", task, 0.5, 0.4, 0.6) for task in tasks])
    found = [column.kind.task.name for column in made]
    assert {*tasks} <= {*found}
    catalogue = [*named_tasks(with_sets=True)]
    positions = [catalogue.index(column.kind.task.whole) for column in made]
    assert positions == sorted(positions)
    # Neither as given nor by their names.
    assert [name for name in found if name in tasks] not in (tasks, sorted(tasks))
