"""`hkcanto board`: its contents, what it refuses, and what a build changes."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

from hkcanto_tasks.cli import app
from hkcanto_tasks.results.board import reading as board_reading
from hkcanto_tasks.results.board.ranking import exact, ranks
from hkcanto_tasks.results.statistics.intervals import Estimate

from ..publishing.conftest import rename
from .conftest import Board, Results, made_records
from .reading import header, rows

Change = Callable[[dict[str, Any]], object]
WHO = ("--by", "A Lab", "--relationship", "third_party", "--url", "https://example.org/logs")


def entry(record: dict[str, Any], name: str = "") -> dict[str, Any]:
    """Return a figure of a record; by default its headline."""
    for each in record["evaluation_results"]:
        about = each["metric_config"]["additional_details"]
        if about["name"] == name or (not name and about["headline"] == "yes"):
            found: dict[str, Any] = each
            return found
    raise LookupError(name)


# ---------------------------------------------------------------------- a first board


def test_without_results_the_papers_rows_are_the_board(board: Board) -> None:
    made = board()
    assert made.status == 0
    home = made.page("index.html")
    place = next(
        at for at, text in enumerate(header(home, "matrix")) if "MMLU in Cantonese" in text
    )
    # HKCanto-Eval, Table 1: Claude 3.5 Sonnet has 81.5 in MMLU's Cantonese questions.
    assert rows(home, "matrix")["Claude 3.5 Sonnet"][place - 1] == "81.5"
    assert "2,796 scores" in made.page("papers/index.html")
    (gpt,) = [
        page for page in (made.site / "models").glob("gpt4o-*.html") if "mini" not in page.name
    ]
    published = rows(gpt.read_text("utf-8"), "published")
    assert published["HKCanto-Eval (Cheng et al., 2025), Table 7"] == ["Average", "77.2 %"]


def test_each_published_row_names_the_table_that_it_is_from(board: Board) -> None:
    page = board().page("tasks/hkcanto_g2p.html")
    table = rows(page, "contest_0")
    assert header(page, "contest_0")[:4][1:] == [
        "Rank",
        "CER as published (lower is better) %",
        "From",
    ]
    # Table 3: GPT-4o has 5.4 % and is the best model.
    assert table["GPT4o"][:3] == ["1", "5.4", "HKCanto-Eval (Cheng et al., 2025), Table 3"]


# ---------------------------------------------------------------------- records and logs


@pytest.fixture
def quiz(quiz_logs: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A folder with the logs of a model that has five of eight questions right."""
    request.getfixturevalue("hub")
    folder = tmp_path / "contributed"
    shutil.copytree(quiz_logs / "lm_eval", folder / "logs")
    return folder


def publish(folder: Path) -> Path:
    command = ["publish", str(folder / "logs"), "--to", "eee", "-o", str(folder), *WHO]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    (record,) = folder.glob("data/**/*.json")
    return record


def test_logs_are_on_the_board_with_the_figures_of_their_items(quiz: Path, board: Board) -> None:
    made = board(quiz)
    assert "1 results of 1 models" in made.output
    # 5 of 8; the interval is Wilson's.
    (cell,) = [
        text for text in rows(made.page("index.html"), "matrix")["org/model-7b"] if "62.5" in text
    ]
    assert cell.startswith("62.5")


def test_a_record_needs_no_items_and_names_who_ran_the_model(quiz: Path, board: Board) -> None:
    publish(quiz)
    shutil.rmtree(quiz / "logs")
    page = board(quiz).page("models/org--model-7b.html")
    assert (
        rows(page, "results")["quiz"][0].startswith("62.5")
        if "quiz" in rows(page, "results")
        else "62.5" in page
    )
    assert "A Lab (third party)" in page
    assert 'href="https://example.org/logs"' in page


def test_a_record_and_its_log_are_one_result(quiz: Path, board: Board) -> None:
    publish(quiz)
    made = board(quiz, "--check")
    assert made.status == 0, made.output
    assert "1 results of 1 models are right" in made.output


def test_a_record_unlike_its_log_is_refused(quiz: Path, board: Board) -> None:
    file = publish(quiz)
    record = json.loads(file.read_text("utf-8"))
    entry(record)["score_details"]["score"] = 0.75
    file.write_text(json.dumps(record), encoding="utf-8")
    made = board(quiz, "--check")
    assert made.status == 1
    assert "its figures differ from those of the log beside it" in made.output
    assert "62.5" in board(quiz).page("models/org--model-7b.html")


@pytest.mark.usefixtures("hub")
def test_a_part_of_a_task_is_refused_by_name(quiz_logs: Path, board: Board) -> None:
    made = board(quiz_logs / "limited", "--check")
    assert made.status == 1
    assert "results_" in made.output
    assert "it has only 3" in made.output


def test_items_are_read_once(quiz: Path, board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    first = board(quiz)

    def fail(*_: object) -> None:
        raise AssertionError("read again")

    with monkeypatch.context() as patch:
        patch.setattr(board_reading, "read_runs", fail)
        assert board(quiz, site="again").page("index.html") == first.page("index.html")
    (log,) = quiz.rglob("results_*.json")
    rename(log, "org/other-7b")
    assert "org--other-7b.html" in board(quiz).page("index.html")


# ---------------------------------------------------------------------- refusals


def of(name: str, **fields: Any) -> Change:
    """Return a change of a figure's details."""

    def change(record: dict[str, Any]) -> None:
        for each in record["evaluation_results"]:
            if each["metric_config"]["additional_details"]["name"] == name:
                each["score_details"].update(fields)

    return change


def signed(old: str, new: str) -> Change:
    """Return a change of the signatures."""

    def change(record: dict[str, Any]) -> None:
        for each in record["evaluation_results"]:
            details = each["metric_config"]["additional_details"]
            details["signature"] = re.sub(old, new, details["signature"])

    return change


def replaced(*path: str, by: object) -> Change:
    def change(record: dict[str, Any]) -> None:
        place = record
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = by

    return change


CONTRADICTIONS: dict[str, tuple[Change, str]] = {
    "twice": (
        lambda record: record["evaluation_results"].append(entry(record)),
        "it has acc_macro 2 times",
    ),
    "no headline": (
        lambda record: record["evaluation_results"].remove(entry(record)),
        "headline acc_macro is missing",
    ),
    "another headline": (
        lambda record: entry(record, "acc")["metric_config"]["additional_details"].update(
            headline="yes"
        ),
        "the headline of its task is acc_macro",
    ),
    "above all": (of("acc_macro", score=1.2), "acc_macro is 1.2, but a share is from 0 to 1"),
    "outside": (of("acc_macro", score=0.99), "outside its interval"),
    "not of its parts": (
        of("acc_macro", score=0.7, uncertainty={"num_samples": 252}),
        "acc_macro is 0.7, but the average of its parts is",
    ),
    "some items": (
        lambda record: [
            each["source_data"]["additional_details"].update(items="30")
            for each in record["evaluation_results"]
        ],
        "it has 30 of 252 items",
    ),
    "unknown figure": (
        lambda record: entry(record, "acc")["metric_config"]["additional_details"].update(
            name="brilliance"
        ),
        "no figure 'brilliance'",
    ),
    "direction": (
        lambda record: entry(record)["metric_config"].update(lower_is_better=True),
        "direction of acc_macro",
    ),
    "no signature": (signed(".*", ""), "its signature '' is of another version"),
    "unknown task": (signed("^[^|]*", "hkcanto-astrology"), "no task 'hkcanto_astrology'"),
    "unknown option": (signed(r"prompt:\w+", "prompt:mine"), "prompt='mine'; choose"),
    "another prompt": (signed(r"sent:\w+", "sent:0000000"), "not sent:0000000"),
    "to come": (signed(r"v:\d+", "v:99"), "it is of version 99 of hkcanto_cultural"),
    "sample": (signed(r"data:[^|]+", "data:sample"), "(sample) is not a published revision"),
    "own files": (signed(r"data:[^|]+", "data:local-1a2b3c4"), "is not a published revision"),
    "a part": (signed(r"prompt:", "subjects:food|prompt:"), "covers only some subjects"),
    "a path": (replaced("model_info", "id", by="/home/me/model"), "is not a model name"),
    "no time": (replaced("evaluation_timestamp", by="yesterday"), "is not a time"),
    "schema": (replaced("schema_version", by="9.1"), "its schema is '9.1'"),
    "form": (replaced("model_info", by=[]), "not in a format that this version knows"),
}


@pytest.mark.parametrize(("change", "why"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_a_record_that_contradicts_itself_is_not_on_the_board(
    results: Results, board: Board, change: Change, why: str
) -> None:
    results.add("org/right-7b")
    results.add("org/wrong-7b", change=change, name="wrong.json")
    made = board(results.folder)
    assert made.status == 0
    assert "not on the board: data/wrong.json: " in made.output
    assert why in made.output
    (reason,) = rows(made.page("absent.html"), "absent")["data/wrong.json"]
    assert why in reason
    assert "org/right-7b" in rows(made.page("index.html"), "matrix")
    assert "org--wrong" not in made.page("index.html")
    assert board(results.folder, "--check").status == 1


def test_a_record_as_published_is_right(results: Results, board: Board) -> None:
    results.add()
    made = board(results.folder, "--check")
    assert (made.status, made.site.exists()) == (0, False)
    assert "1 results of 1 models are right, 0 files" in made.output


def test_files_other_than_records_are_named(results: Results, board: Board) -> None:
    (results.folder / "broken.json").write_text('{"evaluation_results": [', encoding="utf-8")
    (results.folder / "other.json").write_text("{}", encoding="utf-8")
    (results.folder / ".hidden").mkdir()
    (results.folder / ".hidden" / "not_here.json").write_text("{}", encoding="utf-8")
    said = board(results.folder).output
    assert (
        "broken.json: not in a form" in said
        or "broken.json: cut off" in said
        or "broken.json: damaged" in said
    )
    assert "other.json: it is neither a log nor a record" in said
    assert "not_here" not in said


def test_two_records_of_a_run_that_differ_are_both_refused(results: Results, board: Board) -> None:
    results.add(skill=0.5, name="one.json")
    results.add(skill=0.6, name="two.json")
    said = board(results.folder, "--check").output
    assert "one.json: its figures differ from those of data/two.json" in said
    assert "two.json: its figures differ from those of data/one.json" in said


def test_a_path_that_is_not_there_is_a_message(board: Board) -> None:
    made = board("nowhere")
    assert made.status == 1
    assert "nowhere does not exist. Give a folder of results" in made.output


# ---------------------------------------------------------------------- columns, rows, ranks


def test_never_two_setups_in_one_column(results: Results, board: Board) -> None:
    results.add("org/a-7b", skill=0.4)
    results.add("org/b-7b", skill=0.5, shots=0)
    results.add("org/c-7b", skill=0.6, options={"prompt": "yue"})
    results.add("org/d-7b", skill=0.7, change=signed(r"v:\d+", "v:0"))
    home = board(results.folder).page("index.html")
    table, titles = rows(home, "matrix"), header(home, "matrix")[1:]
    own = {at for at, text in enumerate(titles) if "cultural" in text}
    models = ("org/a-7b", "org/b-7b", "org/c-7b", "org/d-7b")
    filled = [{at for at in own if table[name][at]} for name in models]
    assert all(len(each) == 1 for each in filled)
    assert len(set.union(*filled)) == 4
    assert len({titles[at] for at in set.union(*filled)}) == 4


def test_models_under_other_conditions_have_separate_rows(results: Results, board: Board) -> None:
    half = replaced("model_info", "additional_details", "dtype", by="float16")
    results.add(skill=0.5)
    results.add(skill=0.6, day=1, change=half)
    results.add("org/m@step", skill=0.6)
    table = rows(board(results.folder).page("index.html"), "matrix")
    assert {"org/model-7b (dtype bfloat16)", "org/model-7b (dtype float16)"} <= {*table}
    assert "org/m@step" in table


def test_a_newer_result_takes_the_place_of_an_older_one(results: Results, board: Board) -> None:
    results.add(skill=0.5, day=0)
    results.add(skill=0.7, day=30)
    made = board(results.folder)
    home = made.page("index.html")
    place = next(
        at
        for at, text in enumerate(header(home, "matrix"))
        if "5-shot" in text and "cultural" in text
    )
    assert float(rows(home, "matrix")["org/model-7b"][place - 1].split()[0]) > 60
    earlier = rows(made.page("models/org--model-7b.html"), "earlier")
    ((date, figure, *_),) = earlier.values()
    assert date == "2026-01-01"
    assert float(figure.split()[0]) < 60


def test_results_without_a_significant_difference_share_ranks() -> None:
    # b - a is 0.03, within sqrt(0.04² + 0.03²) = 0.05; c is behind both; d has no interval.
    found = ranks(
        {
            "a": Estimate(0.60, 0.56, 0.64, 500),
            "b": Estimate(0.63, 0.60, 0.66, 500),
            "c": Estimate(0.40, 0.36, 0.44, 500),
            "paper": exact(0.70),
        },
        lower_is_better=False,
    )
    assert {name: rank.text for name, rank in found.items()} == {
        "paper": "1",
        "a": "2–3",
        "b": "2–3",
        "c": "4",
    }
    unsure = ranks({"a": exact(0.2), "d": Estimate(0.9, None, None, 1)}, lower_is_better=True)
    assert [rank.text for rank in unsure.values()] == ["1–2", "1–2"]


def test_errors_are_ranked_the_other_way() -> None:
    found = ranks({"a": exact(0.2), "b": exact(0.1)}, lower_is_better=True)
    assert (found["a"].text, found["b"].text) == ("2", "1")


def test_ranks_include_the_papers_models(results: Results, board: Board) -> None:
    results.add("org/best-7b", skill=0.97)
    page = board(results.folder).page("tasks/hkcanto_cultural.html")
    table = rows(page, "contest_0")
    # The best model in Table 7 has 77.5 %.
    assert next(iter(table)) == "org/best-7b"
    assert table["org/best-7b"][0] == "1"
    assert len(table) == 1 + 23


# ---------------------------------------------------------------------- models


def test_of_a_training_run_the_last_step_is_compared(results: Results, board: Board) -> None:
    for step, skill in ((1000, 0.4), (2000, 0.7), (3000, 0.6)):
        results.add(f"org/tuned-7b@step{step}", skill=skill, day=step // 1000)
    made = board(results.folder)
    own = [name for name in rows(made.page("index.html"), "matrix") if "tuned" in name]
    assert own == ["org/tuned-7b@step3000"]
    page = made.page("models/org--tuned-7b.html")
    assert [*rows(page, "steps")] == ["1,000", "2,000", "3,000"]
    assert "<polyline" in page


def test_models_toml_says_what_names_do_not(results: Results, board: Board) -> None:
    results.add("org/secret")
    text = '["org/secret"]\nsize = "72B"\nopen = false\nlink = "https://example.org/secret"\n'
    (results.folder / "models.toml").write_text(text, encoding="utf-8")
    made = board(results.folder)
    (facets,) = re.findall(
        r"data-facets='([^']*)'><th[^>]*><a href=\"models/org--secret",
        made.page("index.html").replace("\n", ""),
    )
    assert json.loads(facets) == {"Size": "above 40B", "Weights": "closed", "Run in": "2026-01"}
    assert 'href="https://example.org/secret"' in made.page("models/org--secret.html")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('["a"]\nsise = "7B"', "unknown field `sise`"),
        ('["a"]\nlink = "javascript:alert(1)"', "$[...].link"),
        ("a =", "models.toml"),
    ],
)
def test_a_wrong_models_toml_is_a_message(
    results: Results, board: Board, text: str, why: str
) -> None:
    (results.folder / "models.toml").write_text(text, encoding="utf-8")
    made = board(results.folder)
    assert made.status == 1
    assert why in made.output


def test_only_web_addresses_become_links(results: Results, board: Board) -> None:
    details = {"logs": "javascript:alert(1)"}
    results.add(change=replaced("source_metadata", "additional_details", by=details))
    made = board(results.folder)
    assert all("javascript:" not in file.read_text("utf-8") for file in made.site.rglob("*.html"))


# ---------------------------------------------------------------------- the site


@pytest.fixture
def several(results: Results) -> Results:
    """Six models on three tasks, among them two checkpoints."""
    for place, model in enumerate([*made_records.names(5), "org/tuned-7b@step2000"]):
        for task in ("hkcanto_cultural", "hkcanto_g2p", "hkmmlu"):
            results.add(model, task, 0.3 + place / 10, day=place)
    return results


def test_every_link_leads_somewhere(several: Results, board: Board) -> None:
    (several.folder / "bad.json").write_text("{}", encoding="utf-8")
    site = board(several.folder).site
    for file in site.rglob("*.html"):
        text = file.read_text("utf-8")
        assert not re.search(r"https?://(?!www\.w3\.org)[^\"]*\.(js|css|png)", text)
        for href in re.findall(r'href="([^"]+)"', text):
            path, _, anchor = href.partition("#")
            target = (file.parent / path).resolve() if path else file
            assert target.is_file(), (file, href)
            if anchor and anchor != "content":
                assert f'id="{anchor}"' in target.read_text("utf-8"), (file, href)


def test_the_same_results_make_the_same_bytes(
    several: Results, board: Board, tmp_path: Path
) -> None:
    first = board(several.folder)
    moved = tmp_path / "elsewhere"
    for file in sorted(several.folder.rglob("*.json"), reverse=True):
        copy = moved / file.relative_to(several.folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)
    second = board(moved, site="second")
    files = sorted(path.relative_to(first.site) for path in first.site.rglob("*.*"))
    assert files == sorted(path.relative_to(second.site) for path in second.site.rglob("*.*"))
    for path in files:
        assert (first.site / path).read_bytes() == (second.site / path).read_bytes(), path


def test_a_model_of_another_task_changes_no_page_of_a_model(several: Results, board: Board) -> None:
    first = board(several.folder)
    several.add("org/new-7b", "hkcanto_law", day=0)
    second = board(several.folder, site="second")
    for name in ("models/org--model-1-1.5b.html", "tasks/hkcanto_g2p.html"):
        assert first.page(name) == second.page(name)


def test_the_feed_has_an_entry_for_each_addition(several: Results, board: Board) -> None:
    feed = ET.fromstring(board(several.folder, "--url", "https://example.org/b").page("feed.xml"))
    atom = "{http://www.w3.org/2005/Atom}"
    entries = feed.findall(f"{atom}entry")
    ids = [each.findtext(f"{atom}id") for each in entries]
    assert len({*ids}) == len(entries) == 6
    assert feed.findtext(f"{atom}updated") == entries[0].findtext(f"{atom}updated")
    assert entries[0].findtext(f"{atom}title") == "org/tuned-7b@step2000"
    link = entries[0].find(f"{atom}link")
    assert link is not None
    assert link.get("href") == "https://example.org/b/models/org--tuned-7b.html"
    assert "5-shot" in str(entries[0].findtext(f"{atom}summary"))


@pytest.mark.slow
def test_pages_of_forty_models_on_all_tasks_are_no_larger_than_400_kilobytes(
    tmp_path: Path, board: Board
) -> None:
    made_records.write(tmp_path / "many", 40)
    made = board(tmp_path / "many")
    assert "1800 results of 40 models" in made.output
    sizes = {file.name: file.stat().st_size for file in made.site.rglob("*.html")}
    assert max(sizes.values()) <= 400_000, sizes
