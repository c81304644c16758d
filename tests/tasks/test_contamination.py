"""Benchmark items planted in training files are found, and nothing else is."""

import csv
import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hkcanto_metrics.script import to_simplified
from hkcanto_tasks.catalogue import benchmarks
from hkcanto_tasks.cli import app
from hkcanto_tasks.loading import load_task
from hkcanto_tasks.results.contamination.ngrams import FEW, Index, Item, units
from hkcanto_tasks.results.contamination.report import items_of

TASK = "hkcanto_mmlu_yue"
CLEAN = [
    "今日天氣幾好，我哋成班人一齊去咗西貢行山，行到腳都軟晒。",
    "Permission is hereby granted, free of charge, to any person who has a copy of this software.",
]


def check(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["contamination", *map(str, arguments)], env={"COLUMNS": "80"})


def tables(done: Result) -> dict[str, list[dict[str, object]]]:
    made = json.loads(done.stdout)["tables"]
    return {name: table["rows"] for name, table in made.items()}


def written(path: Path, lines: list[object]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


# ---------------------------------------------------------------------- units


def test_a_unit_is_a_chinese_character_or_another_word() -> None:
    # 一 三 GPT4o 係 乜
    of = units(["一，三 GPT4o係乜？", "OK"])
    assert of.places.tolist() == [0, 2, 4, 9, 10, 0]
    assert of.texts.tolist() == [0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("這裏嘅軟件", "这里嘅软件"),
        ("看著這裡", "看着這裏"),
        ("ＨＫＵ 2024", "hku 2024"),
        ("「你好」，世界！", "你好世界"),
        ("don't stop", "DON T\nSTOP"),
    ],
)
def test_script_case_width_and_punctuation_are_ignored(one: str, other: str) -> None:
    assert units([one]).hashes.tolist() == units([other]).hashes.tolist()


def test_order_and_letters_are() -> None:
    different = ["香港大學", "香大港學", "香港大", "tab", "bat", "ta b"]
    assert len({tuple(units([text]).hashes.tolist()) for text in different}) == len(different)


# ---------------------------------------------------------------------- the index

QUESTION = "香港嘅天星小輪每日由尖沙咀碼頭開去港島邊一個碼頭？"  # 24 units
OPTIONS = "\nA. 中環\nB. 灣仔\nC. 柴灣"


def asked(question: str) -> tuple[Item, Item]:
    """The texts that are searched for a question: the whole item, and the question alone."""
    return Item("t", "t/1", question + OPTIONS), Item("t", "t/1", question, FEW)


def found(text: str, *items: Item) -> list[float]:
    """The largest share found of each item."""
    shares: dict[str, float] = {}
    for hit in Index(items or asked(QUESTION)).find([CLEAN[0], text]):
        shares[hit.item.id] = max(round(hit.share, 3), shares.get(hit.item.id, 0))
    return list(shares.values())


@pytest.mark.parametrize(
    "text",
    [
        QUESTION + OPTIONS,
        QUESTION,
        "問：" + to_simplified(QUESTION) + " 答：A",
        QUESTION.replace("，", " ").replace("？", "……"),
        f"<|user|>{QUESTION}\n(1) 柴灣 (2) 中環 (3) 灣仔<|assistant|>中環",
    ],
)
def test_a_question_is_found(text: str) -> None:
    assert found(text) == [1.0]


def test_the_share_is_that_of_units_in_common_n_grams() -> None:
    # Unit 12 of 24 differs: the n-grams before it cover 11 units, those after it 12.
    assert found(QUESTION[:11] + "火" + QUESTION[12:]) == [round(23 / 24, 3)]


def test_a_part_of_less_than_three_fifths_is_not_found() -> None:
    assert found(QUESTION[:15]) == [0.625]  # of 24
    assert found(QUESTION[:14]) == []


def test_parts_that_are_far_apart_are_not_one_place() -> None:
    assert found(QUESTION[:12] + CLEAN[0] * 3 + QUESTION[12:]) == []


def test_a_short_question_is_found_with_its_options_only() -> None:
    short = "邊個係首都城市呀？"  # 8 units
    assert found(short + OPTIONS, *asked(short)) == [1.0]
    assert found(short, *asked(short)) == []


def test_a_formula_of_a_task_does_not_count() -> None:
    formula = "以下邊一個講法最符合香港法例嘅規定同埋精神"
    ends = (
        "勞工假期點樣計算",
        "租客點樣退租先啱",
        "食肆點樣申請牌照",
        "車主點樣續領牌照",
        "學校點樣處理欺凌",
    )
    items = [Item("t", f"t/{end}", formula + end) for end in ends]
    assert found(formula, *items) == []
    assert len(found(formula + ends[0], *items)) == 1


def test_what_is_too_short_is_not_looked_for() -> None:
    index = Index([Item("t", "t/1", "香港首都"), Item("t", "t/2", QUESTION)])
    assert index.looked_for == {"t/2"}


def test_n_grams_do_not_reach_from_one_text_into_the_next() -> None:
    index = Index([Item("t", "t/1", QUESTION)])
    assert list(index.find([QUESTION[:12], QUESTION[12:]])) == []


def test_every_item_of_the_sample_is_found_in_the_other_script() -> None:
    for task in (TASK, "hkcanto_law", "hkmmlu", "hkcanto_translation_zh_yue", "hkcanto_g2p"):
        index = Index(items_of(task)[0])
        for sample in load_task(task).samples:
            text = to_simplified(sample.source or sample.text).replace("，", "")
            if sample.id in index.looked_for:
                assert sample.id in {hit.item.id for hit in index.find([text, sample.target])}, (
                    sample.id
                )


def test_the_gold_translation_is_looked_for_as_well() -> None:
    sample = load_task("hkcanto_translation_zh_yue").samples[0]
    index = Index(items_of("hkcanto_translation_zh_yue")[0])
    assert [hit.item.id for hit in index.find([sample.target])] == [sample.id]


# ---------------------------------------------------------------------- files


def chat(text: str) -> object:
    return {"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "B"}]}


def _parquet(path: Path, texts: list[str]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = [{"id": 1, **chat(text)} for text in texts]  # type: ignore[dict-item]
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)


def _csv(path: Path, texts: list[str]) -> None:
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([["id", "text"], *([1, text] for text in texts)])


def _packed(path: Path, texts: list[str]) -> None:
    import zstandard

    content = "\n".join(json.dumps({"a": [{"b": text}]}) for text in texts).encode()
    pack = gzip.compress if path.suffix == ".gz" else zstandard.compress
    path.write_bytes(pack(content))


FORMS: dict[str, Callable[[Path, list[str]], object]] = {
    "a.jsonl": lambda path, texts: written(path, [chat(text) for text in texts]),
    "a.json": lambda path, texts: path.write_text(json.dumps([chat(text) for text in texts])),
    "a.csv": _csv,
    "a.txt": lambda path, texts: path.write_text("\n".join(texts), encoding="utf-8"),
    "a.parquet": _parquet,
    "a.jsonl.gz": _packed,
    "a.jsonl.zst": _packed,
}


@pytest.mark.parametrize("name", FORMS)
def test_an_item_is_found_in_every_kind_of_file(name: str, tmp_path: Path) -> None:
    sample = next(each for each in load_task(TASK).samples if len(each.text) > 60)
    FORMS[name](tmp_path / name, [CLEAN[0], sample.text, CLEAN[1]])
    done = check(tmp_path / name, "--benchmark", TASK, "--format", "json")

    assert done.exit_code == 1, done.output
    (line,) = tables(done)["lines"]
    # In CSV, the header counts as a line.
    assert (line["item"], line["line"]) == (sample.id, 3 if name == "a.csv" else 2)
    assert line["share"] == 1
    assert sample.text[:20] not in done.stdout


def test_texts_are_shown_when_asked_for(tmp_path: Path) -> None:
    sample = load_task(TASK).samples[0]
    file = written(tmp_path / "a.jsonl", [sample.text])
    made = json.loads(check(file, "--with-items", "--format", "json").stdout)
    assert sample.text.strip()[:20] in made["tables"]["lines"]["rows"][0]["text"]
    assert any("Do not publish" in note["text"] for note in made["notes"])


def test_an_item_that_is_cut_by_a_block_of_a_long_text_is_found_once(tmp_path: Path) -> None:
    sample = load_task("hkcanto_law").samples[0]
    filler = "".join(f"line {place} of a text about nothing\n" for place in range(40_000))
    for before in ((1 << 20) - 20, 1 << 20, (1 << 20) - 3000):
        text = filler[:before].rpartition("\n")[0] + "\n"
        file = tmp_path / "a.txt"
        file.write_text(text + sample.text + "\n" + filler, encoding="utf-8")
        done = check(file, "--benchmark", "hkcanto_law", "--format", "json")
        (line,) = tables(done)["lines"]
        assert (line["item"], line["line"]) == (sample.id, text.count("\n") + 1)


def warned(done: Result) -> str:
    """The warnings of a report."""
    return "\n".join(note["text"] for note in json.loads(done.stdout)["notes"])


def lines_found(done: Result) -> list[object]:
    return [row["line"] for row in tables(done).get("lines", [])]


def a_question() -> str:
    return next(each.text for each in load_task(TASK).samples if len(each.text) > 60)


JSON = ("--benchmark", TASK, "--format", "json")


def test_a_line_that_is_not_json_is_a_text_and_is_named(tmp_path: Path) -> None:
    text = a_question().replace("\n", " ")
    lines = [json.dumps("b"), "{broken " + text, "", "[" * 100_000, json.dumps(text)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    done = check(tmp_path / "a.jsonl", *JSON)
    assert done.exit_code == 1, done.output
    assert lines_found(done) == [2, 5]
    assert "a.jsonl: lines read as plain text, not JSON: 2; the first is 2." in warned(done)


def test_what_only_python_writes_is_json(tmp_path: Path) -> None:
    line = json.dumps({"score": float("nan"), "text": a_question() + "\ud83d"})
    (tmp_path / "a.jsonl").write_text(line, encoding="utf-8")
    done = check(tmp_path / "a.jsonl", *JSON)
    assert lines_found(done) == [1]
    assert "not JSON" not in warned(done)


def test_a_row_that_is_damaged_costs_a_row(tmp_path: Path) -> None:
    rows = [a_question(), "x" * 5_000_000, a_question()]
    _csv(tmp_path / "a.csv", rows)
    done = check(tmp_path / "a.csv", *JSON)
    assert done.exit_code == 1, done.output
    assert len(lines_found(done)) == 2
    assert "a.csv: lines left out, longer than 4,194,304 characters: 1" in warned(done)
    text = 'id,text\n1,"' + "y\n" * 3_000_000 + '"\n2,"' + a_question() + '"\n'
    (tmp_path / "b.csv").write_text(text, encoding="utf-8")
    done = check(tmp_path / "b.csv", *JSON)
    assert len(lines_found(done)) == 1
    assert "b.csv: rows left out, damaged (field larger than" in warned(done)
    assert "the first is 2." in warned(done)


def test_maps_and_bytes_of_parquet_are_read(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    samples = [each for each in load_task(TASK).samples if len(each.text) > 60][:3]
    one, two, three = (each.text for each in samples)
    columns = {
        "map": pyarrow.array(
            [[("k", one)], [], []], pyarrow.map_(pyarrow.string(), pyarrow.string())
        ),
        "binary": pyarrow.array([None, two.encode(), b"\xff\xd8\x00"], pyarrow.binary()),
        "list": pyarrow.array([[], [], [{"a": three}]]),
    }
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    done = check(tmp_path / "a.parquet", *JSON)
    where = {row["item"]: row["line"] for row in tables(done)["lines"]}
    assert where == {sample.id: line for line, sample in enumerate(samples, 1)}


COMMAND = "import sys; from hkcanto_tasks.cli import app; app(['contamination', *sys.argv[1:]])"


def large(path: Path, text: str, megabytes: int, *after: str) -> None:
    """Write one line of many megabytes, compressed, and more lines after it."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        for part in (text, *["x" * 1_000_000] * megabytes, *after):
            file.write(part.encode())


@pytest.mark.slow
def test_a_line_of_500_megabytes_costs_bounded_memory(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl.gz"
    large(file, '{"text": "', 500, '"}\n', json.dumps(a_question()) + "\n")
    # Not getrusage: a process inherits its maximum from its parent.
    code = f"""import atexit, re
from pathlib import Path
peak = lambda: re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]
atexit.register(lambda: print(int(peak()) // 1024, file=sys.stderr))
{COMMAND}"""
    command = [sys.executable, "-c", code, file, *JSON]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "longer than 4,194,304 characters: 1; the first is 1" in done.stdout
    assert '"line": 2' in done.stdout
    assert int(done.stderr.split()[-1]) < 400  # MB; the line alone has 500


@pytest.mark.slow
def test_running_out_of_memory_is_not_contamination(tmp_path: Path) -> None:
    large(tmp_path / "a.json.gz", '["', 1500, '"]')
    code = f"""import resource
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
{COMMAND}"""
    command = [sys.executable, "-c", code, tmp_path / "a.json.gz", "--benchmark", TASK]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stdout
    assert "Out of memory" in done.stderr
    assert "Traceback" not in done.stderr


# ---------------------------------------------------------------------- the command


def test_clean_files_end_with_status_0(tmp_path: Path) -> None:
    done = check(written(tmp_path / "a.jsonl", [{"text": text} for text in CLEAN * 100]))
    assert done.exit_code == 0
    assert "sample data" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_all_tasks_are_counted(tmp_path: Path) -> None:
    law = load_task("hkcanto_law").samples
    file = written(tmp_path / "a.jsonl", [each.text for each in law[:3]] * 2)
    rows = tables(check(file, "--format", "json"))["contamination"]

    assert {row["task"] for row in rows} == {
        task.name for benchmark in benchmarks() for task in benchmark.tasks
    }
    assert rows[0]["task"] == "hkcanto_law"  # those with a match come first
    assert (rows[0]["items"], rows[0]["found"]) == (len(law), 3)
    assert rows[0]["share"] == pytest.approx(3 / len(law))
    assert sum(row["found"] for row in rows[1:]) == 0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", None, "does not exist"),
        ("a.jsonl.gz", b"not packed", "a.jsonl.gz cannot be read: Not a gzipped file"),
        ("a.json", b"[1, 2", "a.json cannot be read"),
        ("a.parquet", b"no", "a.parquet cannot be read"),
    ],
)
def test_what_cannot_be_read_ends_with_status_2(
    name: str, content: bytes | None, said: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = check(tmp_path / name, "--benchmark", "hkcanto_law")
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())


def test_benchmarks_without_data_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HKCANTO_DATA")
    monkeypatch.setenv("HKCANTO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HKCANTO_OFFLINE", "1")
    file = written(tmp_path / "a.jsonl", CLEAN)  # type: ignore[arg-type]
    done = check(file)
    # The fluency questions are ours and part of the package.
    assert done.exit_code == 0
    assert "Not searched for, because its data is not here: HKMMLU" in " ".join(done.stdout.split())
    assert check(file, "--benchmark", "hkmmlu").exit_code == 2
