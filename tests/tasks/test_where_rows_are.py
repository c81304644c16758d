"""Declared places of rows in files; rows that would be misread are refused."""

import gzip
import io
import json
import logging
import zipfile
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from typer.testing import CliRunner

from hkcanto import tasks
from hkcanto_tasks import load_task
from hkcanto_tasks.catalogue import left_out, named_tasks
from hkcanto_tasks.cli import app
from hkcanto_tasks.data.release_files import report
from hkcanto_tasks.errors import CatalogueError, DataCorrupt, DataNotFound

from ..answering import AnsweringLM, answer
from ..lm_eval.evaluating import evaluate
from .test_hub_downloads import FIRST, publish
from .web_server import Answer, WebServer

TASK = """
name = "quiz"
title = "Quiz"
{release}
[prompts.plain]
question = "{question}"
[[tasks]]
name = "quiz"
title = "Quiz"
kind = "{kind}"
{more}
"""
CHOICE = "{question}\\n{options}\\n答案："
OWN = "[data]"
GITHUB = f'[github]\nrepository = "someone/quiz"\ncommit = "{"1" * 40}"\nprefix = "data/"'
HUB = '[hub]\nrepo_id = "someone/quiz"'

Files = Mapping[str, str | bytes]
Declare = Callable[..., Path]


def rows(*questions: str) -> list[dict[str, str]]:
    """Questions with two options; the right answer is always B."""
    return [{"question": each, "A": "唔係", "B": "係", "answer": "B"} for each in questions]


LAW, FOOD = rows("法律係咩？", "邊個寫法律？"), rows("蛋撻有蛋？")
TOWNS = ["旺角喺邊？", "灣仔喺邊？", "大澳喺邊？"]


def as_csv(items: list[dict[str, str]], delimiter: str = ",") -> str:
    lines = [[*items[0]], *([*each.values()] for each in items)]
    return "".join(delimiter.join(line) + "\n" for line in lines)


def as_arrow(items: list[dict[str, str]], *, stream: bool) -> bytes:
    table, sink = pyarrow.Table.from_pylist(items), pyarrow.BufferOutputStream()
    make = pyarrow.ipc.new_stream if stream else pyarrow.ipc.new_file
    with make(sink, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=1):
            writer.write_batch(batch)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def as_parquet(items: list[dict[str, str]]) -> bytes:
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(items), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def as_zip(files: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def write(folder: Path, files: Files) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.fixture
def declare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Declare:
    """Return a function that declares a benchmark with one task, and writes its files."""
    report.cache_clear()

    def made(
        more: str,
        files: Files,
        *,
        release: str = OWN,
        kind: str = "multiple_choice",
        question: str = CHOICE,
    ) -> Path:
        home = tmp_path / "benchmarks" / "quiz"
        text = TASK
        for key, value in (("release", release), ("kind", kind), ("more", more)):
            text = text.replace(f"{{{key}}}", value)
        text = text.replace("{question}", question, 1)
        if kind == "multiple_choice":
            text += 'letters = "AB"\n'
        write(home, {"benchmark.toml": text})
        monkeypatch.setenv("HKCANTO_BENCHMARKS", str(home))
        place = home if release == OWN else tmp_path / "data" / "quiz"
        if release != OWN:
            monkeypatch.delenv("HKCANTO_DATA", raising=False)
            monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path / "data"))
        write(place, files)
        if release == GITHUB:
            lines = [f"{name} {sha256(_bytes(text)).hexdigest()}\n" for name, text in files.items()]
            write(home, {"checksums.sha256": "".join(lines)})
        return place

    return made


def _bytes(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode()


def asked(task: str = "quiz") -> list[str]:
    return sorted(sample.question for sample in load_task(task).samples)


def texts(items: list[dict[str, str]]) -> list[str]:
    return sorted(each["question"] for each in items)


def quiz_tasks() -> list[str]:
    return [name for name in named_tasks() if name.startswith("quiz")]


# ---------------------------------------------------------------------- keys of JSON

NESTED = json.dumps({"metadata": {"count": 2}, "quiz": {"v1.0": {"questions": LAW}}})


@pytest.mark.parametrize("name", ["all.json", "all.json.gz", "all"])
def test_keys_lead_to_the_rows_of_a_json_file(declare: Declare, name: str) -> None:
    content = gzip.compress(NESTED.encode()) if name.endswith("gz") else NESTED
    declare(f'files = "{name}"\nrows = "quiz.v1.0.questions"', {name: content})
    assert asked() == texts(LAW)


def test_below_the_keys_may_be_lists_by_subject(declare: Declare) -> None:
    content = json.dumps({"about": "…", "items": {"law": LAW, "food": FOOD}})
    subjects = 'subjects = [{ name = "law" }, { name = "food" }]'
    declare(f'files = "all.json"\nrows = "items"\n{subjects}', {"all.json": content})
    assert asked("quiz_law") == texts(LAW)
    assert asked("quiz_food") == texts(FOOD)


@pytest.mark.parametrize(
    ("keys", "file", "content", "says"),
    [
        ("quiz.items", "all.json", NESTED, r"all\.json: rows = .* no 'items': quiz has .*v1\.0"),
        ("items", "all.json", NESTED, r"no 'items': the file has the keys metadata, quiz"),
        ("metadata.count", "all.json", NESTED, r"all\.json: .*does not lead to rows"),
        ("metadata.count.x", "all.json", NESTED, r"no 'x': metadata\.count has a int"),
        ("metadata", "all.json", NESTED, r"an object with count"),
        ("questions", "all.json", '{"questions": [[1]]}', r"does not lead to rows"),
        ("questions", "all.json", NESTED[:-9], r"all\.json, read with rows = .* breaks off"),
        ("questions", "all.csv", as_csv(LAW), r"all\.csv: rows = .*a \.csv file"),
        ("questions", "all.jsonl", json.dumps(LAW[0]), r"all\.jsonl: rows = .*a \.jsonl file"),
    ],
)
def test_keys_that_lead_to_no_rows_are_refused(
    declare: Declare, keys: str, file: str, content: str, says: str
) -> None:
    declare(f'files = "{file}"\nrows = "{keys}"', {file: content})
    with pytest.raises(DataCorrupt, match=says):
        load_task("quiz")


def test_an_object_without_declared_keys_says_what_to_declare(declare: Declare) -> None:
    declare('files = "all.json"', {"all.json": json.dumps({"meta": 1, "items": LAW})})
    with pytest.raises(DataCorrupt, match=r'with meta, items, .*rows = "…"'):
        load_task("quiz")


# ---------------------------------------------------------------------- parallel lines

LINES = 'files.test = { source = "dev.yue", target = "dev.zho" }'
YUE, ZHO = "佢喺度食飯。\n\n我\u2028哋走啦。\n", "他在這裏吃飯。\n\n我們走吧。\n"
TRANSLATION = {"kind": "translation", "question": "{source}"}


def test_lines_of_two_files_belong_together(declare: Declare) -> None:
    declare(LINES, {"dev.yue": YUE, "dev.zho": ZHO.replace("\n", "\r\n")}, **TRANSLATION)
    samples = {each.id: (each.source, each.target) for each in load_task("quiz").samples}
    assert samples == {
        "quiz/1": ("佢喺度食飯。", "他在這裏吃飯。"),
        "quiz/3": ("我\u2028哋走啦。", "我們走吧。"),
    }


def test_lines_of_every_subject_by_pattern(declare: Declare) -> None:
    files = {"data/news.yue": "一\n", "data/news.zho": "1\n"}
    files |= {"data/talk.yue.gz": gzip.compress("二\n三\n".encode()), "data/talk.zho": "2\n3\n"}
    files |= {"data/talk.pos": "x\n"}
    lines = 'files.test = { source = "data/*.yue", target = "data/*.zho" }'
    declare(lines, {**files, "old.yue": "〇\n"}, **TRANSLATION)
    assert [each.target for each in load_task("quiz_news").samples] == ["1"]
    assert sorted(each.source for each in load_task("quiz_talk").samples) == ["三", "二"]


@pytest.mark.parametrize(
    ("zho", "says"),
    [
        (ZHO + "多咗一行。\n", r"dev\.yue has 3 lines and .*dev\.zho has 4 lines"),
        ("他在這裏吃飯。\n\n", r"dev\.yue has 3 lines and .*dev\.zho has 1 lines"),
        ("\n\n我們走吧。\n", r"dev\.zho, row 1 has a blank line"),
        ("他在\r這裏吃飯。\n\n我們走吧。\n", r"dev\.zho: line 1 has a carriage return"),
        ("<!DOCTYPE html>\n\n\n", r"dev\.zho: it is an HTML page"),
        ("", r"dev\.zho: it is empty"),
    ],
)
def test_lines_that_do_not_belong_together_are_refused(
    declare: Declare, zho: str, says: str
) -> None:
    declare(LINES, {"dev.yue": YUE, "dev.zho": zho}, **TRANSLATION)
    with pytest.raises(DataCorrupt, match=says):
        load_task("quiz")


def test_without_one_of_the_files_there_are_no_rows(declare: Declare) -> None:
    declare(LINES, {"dev.yue": YUE}, **TRANSLATION)
    with pytest.raises(DataNotFound, match=r"expected dev\.yue with dev\.zho"):
        load_task("quiz")


def test_text_without_a_column_is_refused(declare: Declare) -> None:
    declare('files = "dev.yue"', {"dev.yue": YUE}, **TRANSLATION)
    with pytest.raises(DataCorrupt, match=r'files = { test = { question = "dev\.yue" } }'):
        load_task("quiz")


# ---------------------------------------------------------------------- archives and Arrow


@pytest.mark.parametrize("release", [OWN, GITHUB, HUB])
def test_members_of_an_archive_are_subjects_by_pattern(declare: Declare, release: str) -> None:
    packed = as_zip({"test/law.csv": as_csv(LAW), "test/food.csv": as_csv(FOOD), "x.csv": "x\n"})
    declare('files = "data.zip/test/*.csv"', {"data.zip": packed}, release=release)
    assert quiz_tasks() == ["quiz", "quiz_food", "quiz_law"]
    assert asked("quiz_food") == texts(FOOD)
    assert asked() == texts(LAW + FOOD)


def test_a_member_that_is_not_in_the_archive_is_refused(declare: Declare) -> None:
    packed = as_zip({"test/law.csv": as_csv(LAW)})
    declare('files = "data.zip/test/food.csv"', {"data.zip": packed})
    with pytest.raises(DataNotFound, match=r"expected data\.zip/test/food\.csv"):
        load_task("quiz")


@pytest.mark.parametrize("stream", [True, False])
def test_arrow_files_are_read(declare: Declare, stream: bool) -> None:
    declare('files = "test.arrow"', {"test.arrow": as_arrow(LAW, stream=stream)})
    assert asked() == texts(LAW)


@pytest.mark.parametrize("stream", [True, False])
def test_an_arrow_file_that_breaks_off_between_rows_is_refused(
    declare: Declare, stream: bool
) -> None:
    """Arrow itself reads such a stream without an error, as one with fewer rows."""
    cut = as_arrow(LAW, stream=False)[:-20]
    if stream:
        table, sink = pyarrow.Table.from_pylist(LAW), io.BytesIO()
        with pyarrow.ipc.new_stream(sink, table.schema) as writer:
            writer.write_batch(table.to_batches(max_chunksize=1)[0])
            cut = sink.getvalue()
        assert pyarrow.ipc.open_stream(cut).read_all().num_rows == 1
    declare('files = "test.arrow"', {"test.arrow": cut})
    with pytest.raises(DataCorrupt, match=r"test\.arrow is not a complete Arrow file"):
        load_task("quiz")


def test_what_datasets_saves_to_a_disk_is_read(declare: Declare, tmp_path: Path) -> None:
    from datasets import Dataset, DatasetDict

    saved = tmp_path / "saved"
    splits = DatasetDict({"test": Dataset.from_list(LAW), "train": Dataset.from_list(FOOD)})
    splits.save_to_disk(saved, num_shards={"test": 2, "train": 1})
    files = {
        path.relative_to(saved).as_posix(): path.read_bytes()
        for path in saved.rglob("*")
        if path.is_file()
    }
    declare('files = { test = "test/data.arrow", dev = "train/data.arrow" }', files)
    assert asked() == texts(LAW)
    declared = load_task("quiz", shots=1)
    assert FOOD[0]["question"] in declared.prompt(declared.samples[0]).text()
    (path,) = Path(declare("", {}), "test").glob("data-00001*")
    path.unlink()
    declare('files = "test/data.arrow"', {})
    with pytest.raises(DataNotFound, match=r"1 of the 2 parts of test/data-00000-of-00002\.arrow"):
        load_task("quiz")


def test_shards_of_a_declared_file_are_that_file(declare: Declare) -> None:
    shards = {f"q/law-0000{i}-of-00002.parquet": as_parquet([LAW[i]]) for i in (0, 1)}
    declare('files = "q/*.parquet"', shards, release=GITHUB)
    assert quiz_tasks() == ["quiz", "quiz_law"]
    assert asked() == texts(LAW)


# ---------------------------------------------------------------------- cells of a CSV file

QUOTED = 'question|A|B|answer\n"法律"係咩？|"唔係|係|B\n'


def test_a_delimiter_and_cells_without_quotes_are_declared(declare: Declare) -> None:
    declare('files = "test.csv"\ndelimiter = "|"\nquotes = false', {"test.csv": QUOTED})
    (sample,) = load_task("quiz").samples
    assert (sample.question, sample.choices[0]) == ('"法律"係咩？', '"唔係')


def test_cells_with_other_quotes_than_declared_are_refused(declare: Declare) -> None:
    declare('files = "test.csv"\ndelimiter = "|"', {"test.csv": QUOTED})
    with pytest.raises(DataCorrupt, match=r"test\.csv, row 2.* has a stray or missing quote"):
        load_task("quiz")


# ---------------------------------------------------------------------- a hub data set

CARD = """---
configs:
- config_name: yue_hant
  data_files:
  - split: train
    path: yue/data.csv
- config_name: zho_hant
  data_files:
  - split: train
    path: zho/train.csv
  - split: hard
    path: zho/hard.csv
---
"""
CONFIGURED = {
    "README.md": CARD,
    "yue/data.csv": as_csv(rows("粵語？")),
    "zho/train.csv": as_csv(rows("中文？")),
    "zho/hard.csv": as_csv(rows("好難？")),
}


@pytest.mark.parametrize(
    ("more", "question"),
    [
        ('config = "yue_hant"\nsplits = { test = "train" }', "粵語？"),
        ('config = "zho_hant"\nsplits = { test = "hard", dev = "train" }', "好難？"),
        ('config = "zho"\nsplits = { test = "train" }', "中文？"),
    ],
)
def test_a_configuration_and_its_splits_go_by_name(
    declare: Declare, more: str, question: str
) -> None:
    files = CONFIGURED if "_hant" in more else {"zho/train.csv": CONFIGURED["zho/train.csv"]}
    declare(more, files, release=HUB)
    assert asked() == [question]


def test_a_data_set_of_one_file_has_the_split_train(declare: Declare) -> None:
    declare('splits = { test = "train" }', {"data.jsonl": json.dumps(LAW[0])}, release=HUB)
    assert asked() == texts(LAW[:1])


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ('config = "yue"', r"configuration 'yue_hans'.*yue_hant, zho_hant; folders: yue, zho"),
        ("", r"several configurations; there are yue_hant, zho_hant"),
        ('config = "yue_hant"', r"no split 'test' in 'yue_hant'; there are train"),
    ],
)
def test_a_name_that_is_not_there_is_refused_with_those_that_are(
    declare: Declare, more: str, says: str
) -> None:
    more = more.replace('"yue"', '"yue_hans"')
    declare(f'{more}\nsplits = {{ test = "test" }}', CONFIGURED, release=HUB)
    with pytest.raises(DataNotFound, match=says):
        load_task("quiz")


def test_the_only_split_is_taken_as_the_test_and_that_is_said(
    declare: Declare, caplog: pytest.LogCaptureFixture
) -> None:
    declare('config = "yue_hant"', CONFIGURED, release=HUB)
    with caplog.at_level(logging.WARNING, "hkcanto"):
        assert asked() == ["粵語？"]
    assert "the only split, 'train', was taken as the test split" in caplog.text


def test_a_configuration_may_be_of_odd_csv_files(declare: Declare) -> None:
    files = {"q/test.csv": as_csv(LAW, "|"), "q/train.csv": as_csv(FOOD, "|"), "README.md": "q"}
    declare('config = "q"\ndelimiter = "|"', files, release=HUB)
    assert asked() == texts(LAW)


def test_subjects_may_be_the_configurations(declare: Declare) -> None:
    subjects = 'subjects = [{ name = "yue", stem = "yue_hant" }, { name = "zho_hant" }]'
    declare(f'{subjects}\nsplits = {{ test = "train" }}', CONFIGURED, release=HUB)
    assert asked("quiz_yue") == ["粵語？"]
    assert asked("quiz_zho_hant") == ["中文？"]


def test_a_split_without_a_declaration_is_asked_for(declare: Declare) -> None:
    declare("", {"train.csv": as_csv(LAW)}, release=HUB)
    with pytest.raises(DataNotFound, match=r"splits = { test = .* It has train\.csv"):
        load_task("quiz")


# ---------------------------------------------------------------------- subjects by pattern

BY_NAME = {
    "dev/Hong Kong-Law.csv": as_csv(FOOD),
    "test/Hong Kong-Law.csv": as_csv(LAW),
    "test/arts.csv": as_csv(rows(TOWNS[0])),
    "test/art.csv": as_csv(rows(TOWNS[1])),
    "test/all.csv": as_csv(rows(TOWNS[2])),
    "old/test/maths.csv": as_csv(FOOD),
}
PATTERNS = 'files = { test = "test/*.csv", dev = "dev/*.csv" }'
SUBJECTS = ["quiz", "quiz_all", "quiz_art", "quiz_arts", "quiz_hong_kong_law"]


@pytest.mark.parametrize("release", [OWN, HUB])
def test_what_a_pattern_matches_are_the_subjects(declare: Declare, release: str) -> None:
    declare(PATTERNS, BY_NAME, release=release)
    assert sorted(quiz_tasks()) == SUBJECTS
    assert asked("quiz_hong_kong_law") == texts(LAW)
    for name, question in zip(("arts", "art", "all"), TOWNS, strict=True):
        assert asked(f"quiz_{name}") == [question]
    loaded = load_task("quiz", shots=1, subjects="hong_kong_law")
    assert FOOD[0]["question"] in loaded.prompt(loaded.samples[0]).text()
    assert loaded.task.subjects[0].title == "Hong kong law"


def test_a_list_of_checksums_says_the_subjects_before_any_download(
    declare: Declare, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names = {name.replace("Hong Kong-Law", "hong-kong-law"): BY_NAME[name] for name in BY_NAME}
    declare(PATTERNS, names, release=GITHUB)
    monkeypatch.delenv("HKCANTO_DATA_DIR")
    monkeypatch.setenv("HKCANTO_CACHE", str(tmp_path / "nothing"))
    assert sorted(quiz_tasks()) == SUBJECTS


def test_more_is_said_of_some_of_the_subjects(declare: Declare) -> None:
    said = 'subjects = [{ name = "law", stem = "Hong Kong-Law", category = "society" }]'
    declare(f"{PATTERNS}\n{said}", BY_NAME)
    assert asked("quiz_law") == asked("quiz_society") == texts(LAW)
    assert asked() == sorted([*texts(LAW), *TOWNS])


@pytest.mark.parametrize(
    ("more", "files", "says"),
    [
        (PATTERNS, {"test/Art.csv": "x"}, r"test/art\.csv .*'art'.*as does test/Art\.csv"),
        (PATTERNS, {"test/法律.csv": "x"}, r"test/法律\.csv gives its subject the name ''.*stem"),
        (f'{PATTERNS}\nsubjects = [{{ name = "x" }}]', {}, r"stem 'x', and no file .* that name"),
        (
            f'{PATTERNS}\nvariants = [{{ suffix = "art" }}]',
            {},
            r"names of its files, two .*quiz_art'",
        ),
        ('files = "*/*.csv"', {}, r"two placeholders in the path '\*/\*\.csv'"),
        ('files = { test = "{stem}.csv", dev = "*.csv" }', {}, r"has \* in files\.dev"),
        ('files = { test = "test/[a-z]{x}.csv" }', {}, r"'{x}' in a path"),
        ('files = { test = "" }', {}, r"no path in files\.test, or an empty one"),
        ("files = { test = {} }", {}, r"no path in files\.test"),
        ('files = { tset = "a.csv" }', {}, r"no file for the split 'test'"),
        ('files = "a.csv"\nconfig = "yue"', {}, r"`config`.*`files`, too"),
        ('files = "a.csv"\nsplits = { test = "train" }', {}, r"`splits`.*`files`, too"),
        ('splits = { test = "train" }', {}, r"`splits`.*no \[hub\] data set"),
        ('rows = "x"\nfiles = { test = { question = "a.txt" } }', {}, r"`rows`.*files\.test"),
        (f'{PATTERNS}\nsubjects = [{{ name = "", rows = 7 }}]', {}, r"a subject without a name"),
        ('files = "a.csv"\ndelimiter = "||"', {}, r"delimiter '\|\|'; it is one character"),
    ],
)
def test_a_declaration_that_says_two_things_is_refused(
    declare: Declare, more: str, files: Files, says: str
) -> None:
    declare(more, {**BY_NAME, **files})
    assert "quiz/benchmark.toml: " in "".join(left_out())
    with pytest.raises(CatalogueError, match=says):
        load_task("quiz")


def test_a_file_without_a_subject_is_named(declare: Declare) -> None:
    declare(f'{PATTERNS}\nextra_stems = ["all", "Hong Kong-Law"]', BY_NAME)
    assert sorted(quiz_tasks()) == ["quiz", "quiz_art", "quiz_arts"]
    assert asked() == sorted(TOWNS[:2])


def test_a_pattern_without_a_file_is_refused(declare: Declare) -> None:
    declare('files = "tests/*.csv"', BY_NAME)
    with pytest.raises(DataNotFound, match=r"expected tests/\*\.csv.* It has .*csv"):
        load_task("quiz")


@pytest.fixture
def downloading(
    declare: Declare, cache: Path, server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hub data set with subjects by pattern, not yet downloaded."""
    assert not cache.exists()
    declare(PATTERNS, {}, release=HUB)
    publish(server, FIRST, BY_NAME, "someone/quiz")
    monkeypatch.delenv("HKCANTO_DATA_DIR")


@pytest.mark.usefixtures("downloading")
def test_subjects_of_a_hub_data_set_are_known_after_its_download() -> None:
    run = CliRunner()
    assert quiz_tasks() == ["quiz"]
    listed = " ".join(run.invoke(app, ["list", "quiz"]).output.split())
    assert "quiz: its subjects are the names of its files (test/*.csv)" in listed
    assert "`hkcanto data fetch quiz`" in listed
    assert "its subjects are the names" in run.invoke(app, ["doctor", "quiz"]).output
    with pytest.raises(CatalogueError, match="is a subject that is not known yet"):
        load_task("quiz_arts")
    loaded = load_task("quiz")
    assert len(loaded.task.subjects) == 4
    assert sorted(quiz_tasks()) == SUBJECTS
    assert asked("quiz_arts") == [TOWNS[0]]
    assert "its subjects" not in run.invoke(app, ["list", "quiz"]).output


@pytest.mark.usefixtures("downloading")
def test_lm_eval_downloads_a_hub_data_set_and_knows_its_subjects() -> None:
    results = evaluate("quiz", model=AnsweringLM())
    again = evaluate("quiz", model=AnsweringLM())
    assert results["results"]["quiz"] == again["results"]["quiz"]
    assert len(results["samples"]["quiz"]) == 5


@pytest.mark.usefixtures("downloading")
def test_a_report_without_the_data_says_why_it_knows_no_subjects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_inspect("quiz", tmp_path / "logs")
    monkeypatch.setenv("HKCANTO_CACHE", str(tmp_path / "elsewhere"))
    said = CliRunner().invoke(app, ["report", str(tmp_path / "logs")]).output
    assert "known after `hkcanto data fetch quiz`" in " ".join(said.split())


@pytest.mark.usefixtures("downloading")
def test_text_files_of_a_hub_data_set_are_downloaded(declare: Declare, server: WebServer) -> None:
    declare(LINES, {}, release=HUB, **TRANSLATION)
    publish(server, FIRST, {"dev.yue": YUE, "dev.zho": ZHO, "a.bin": "x"}, "someone/quiz")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HKCANTO_DATA_DIR")
        assert len(load_task("quiz").samples) == 2
    assert not any("a.bin" in each for each in server.requests)


@pytest.mark.usefixtures("downloading")
def test_shards_of_a_hub_data_set_are_downloaded(declare: Declare, server: WebServer) -> None:
    declare('files = "q/law.arrow"', {}, release=HUB)
    shards = {f"q/law-0000{i}-of-00002.arrow": as_arrow([LAW[i]], stream=i == 0) for i in range(2)}
    publish(server, FIRST, {**shards, "q/cache.arrow": "x"}, "someone/quiz")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HKCANTO_DATA_DIR")
        assert asked() == texts(LAW)
    assert not any("cache.arrow" in each for each in server.requests)


def test_a_github_release_is_downloaded_by_its_archives_and_shards(
    declare: Declare, cache: Path, server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: dict[str, str | bytes] = {
        "data.zip": as_zip({"test/law.csv": as_csv(LAW), "test/food.csv": as_csv(FOOD)}),
        "other.zip": as_zip({"x.csv": "x\n"}),
    }
    declare('files = "data.zip/test/*.csv"', files, release=GITHUB)
    monkeypatch.delenv("HKCANTO_DATA_DIR")
    for name, content in files.items():
        server.answers[f"/someone/quiz/{'1' * 40}/data/{name}"] = Answer(_bytes(content))
    assert quiz_tasks() == ["quiz"]
    assert asked() == texts(LAW + FOOD)
    assert quiz_tasks() == ["quiz", "quiz_food", "quiz_law"]
    assert not list(cache.rglob("other.zip"))


# ---------------------------------------------------------------------- both harnesses


def in_inspect(task: str, folder: Path) -> dict[str, tuple[str, float]]:
    def reply(messages: list[Any], *_: Any) -> ModelOutput:
        text = answer("".join(message.text for message in messages))
        output = ModelOutput.from_content("mockllm", text)
        output.usage = ModelUsage()  # without it, Inspect counts tokens with a download
        return output

    model = get_model("mockllm/model", custom_outputs=reply)
    (log,) = inspect_eval(tasks.run(task=task), model=model, log_dir=str(folder), display="none")
    assert log.status == "success", log.error
    return {
        each.id: ("".join(m.text for m in each.input), each.scores["judged"].value["acc"])
        for each in log.samples
    }


ZIPPED = {"all.zip": as_zip({"q/law.json": json.dumps({"meta": 1, "items": LAW})})}
ARROW = {"law.arrow": as_arrow(LAW, stream=True)}
SAID = {name: "".join(f"{each[name]}\n" for each in LAW) for name in LAW[0]}


@pytest.mark.parametrize(
    ("more", "files", "release", "task", "count"),
    [
        (PATTERNS, BY_NAME, OWN, "quiz", 5),
        (PATTERNS, BY_NAME, HUB, "quiz_hong_kong_law", 2),
        ('files = "all.zip/q/*.json"\nrows = "items"', ZIPPED, GITHUB, "quiz_law", 2),
        ('files = "law.arrow"', ARROW, OWN, "quiz", 2),
        (f"files.test = {json.dumps({k: k for k in SAID}).replace(':', ' =')}", SAID, OWN, "", 2),
        ('config = "yue_hant"\nsplits = { test = "train" }', CONFIGURED, HUB, "quiz", 1),
    ],
)
def test_both_harnesses_ask_and_score_alike(
    declare: Declare,
    more: str,
    files: Files,
    release: str,
    task: str,
    count: int,
    tmp_path: Path,
) -> None:
    declare(more, files, release=release)
    name = task or "quiz"
    found = evaluate(name, model=AnsweringLM())["samples"][name]
    ours = {each["doc"]["id"]: (each["arguments"][0][0], each["acc"]) for each in found}
    assert len(ours) == count
    assert in_inspect(name, tmp_path / "logs") == ours


def test_show_prints_the_prompt_of_a_declared_file(declare: Declare) -> None:
    declare(PATTERNS, BY_NAME)
    shown = CliRunner().invoke(app, ["show", "quiz_arts"]).output
    assert TOWNS[0] in shown


def test_show_says_the_key_and_the_file_that_are_wrong(declare: Declare) -> None:
    declare('files = "all.json"\nrows = "items"', {"all.json": NESTED})
    run = CliRunner().invoke(app, ["show", "quiz"])
    said = " ".join(run.output.split())
    assert run.exit_code == 1
    assert (
        "all.json: rows = \"items\" finds no 'items': the file has the keys metadata, quiz" in said
    )
