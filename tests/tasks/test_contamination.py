"""Benchmark items planted in training files are found, and nothing else is."""

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hkcanto_metrics.script import to_simplified
from hkcanto_tasks.catalogue import benchmarks
from hkcanto_tasks.cli import app
from hkcanto_tasks.results.contamination import FEW, Index, Item, items_of, units
from hkcanto_tasks.tasks import load_task

TASK = "hkcanto_mmlu_yue"
CLEAN = [
    "今日天氣幾好，我哋成班人一齊去咗西貢行山，行到腳都軟晒。",
    "Permission is hereby granted, free of charge, to any person who has a copy of this software.",
]


def check(*arguments: str | Path) -> Result:
    return CliRunner().invoke(
        app, ["contamination", *map(str, arguments)], env={"COLUMNS": "80"}
    )


def tables(done: Result) -> dict[str, list[dict[str, object]]]:
    made = json.loads(done.stdout)["tables"]
    return {name: table["rows"] for name, table in made.items()}


def written(path: Path, lines: list[object]) -> Path:
    path.write_text(
        "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )
    return path


# ---------------------------------------------------------------------- units


def test_a_unit_is_a_chinese_character_or_another_word() -> None:
    assert units("一，三 GPT4o係乜？") == ["一", "三", "gpt4o", "系", "乜"]
    for one, other in (
        ("這裏嘅軟件", "这里嘅软件"),
        ("看著這裡", "看着這裏"),
        ("ＨＫＵ 2024", "hku 2024"),
        ("「你好」，世界！", "你好世界"),
        ("don't stop", "DON T\nSTOP"),
    ):
        assert units(one) == units(other), one
    different = ["香港大學", "香大港學", "香港大", "tab", "bat", "ta b"]
    assert len({tuple(units(text)) for text in different}) == len(different)


# ---------------------------------------------------------------------- the index

QUESTION = "香港嘅天星小輪每日由尖沙咀碼頭開去港島邊一個碼頭？"  # 24 units
OPTIONS = "\nA. 中環\nB. 灣仔\nC. 柴灣"


def test_of_a_short_text_twelve_units_are_needed() -> None:
    text = "香港仔避風塘有幾多隻舢舨仔呀"  # 14 units, of which 60 % are 9
    index = Index([Item("t", "t/1", text)])
    found = {n: len([*index.find([(1, text[:n])])]) for n in (9, 11, 12, 14)}
    assert found == {9: 0, 11: 0, 12: 1, 14: 1}


def asked(question: str) -> tuple[Item, Item]:
    """The texts that are searched for a question: the whole item, and the question alone."""
    return Item("t", "t/1", question + OPTIONS), Item("t", "t/1", question, FEW)


def found(text: str, *items: Item) -> list[float]:
    """The largest share found of each item."""
    shares: dict[str, float] = {}
    index = Index(items or asked(QUESTION))
    for each in (CLEAN[0], text):
        for item, _, share in index.find([(1, each)]):
            shares[item.id] = max(round(share, 3), shares.get(item.id, 0))
    return list(shares.values())


def test_a_question_is_found() -> None:
    for text in (
        QUESTION + OPTIONS,
        QUESTION,
        "問：" + to_simplified(QUESTION) + " 答：A",
        QUESTION.replace("，", " ").replace("？", "……"),
        f"<|user|>{QUESTION}\n(1) 柴灣 (2) 中環 (3) 灣仔<|assistant|>中環",
    ):
        assert found(text) == [1.0], text


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
    assert [*index.find([(1, QUESTION[:12])]), *index.find([(1, QUESTION[12:])])] == []


def test_every_item_of_the_sample_is_found_in_the_other_script() -> None:
    for task in (
        TASK,
        "hkcanto_law",
        "hkmmlu",
        "hkcanto_translation_zh_yue",
        "hkcanto_g2p",
    ):
        index = Index(items_of(task)[0])
        for sample in load_task(task).samples:
            text = to_simplified(sample.source or sample.text).replace("，", "")
            if sample.id in index.looked_for:
                lines = [(1, text), (2, CLEAN[0] * 3), (3, sample.target)]
                assert sample.id in {hit.id for hit, *_ in index.find(lines)}, sample.id


def test_the_gold_translation_is_looked_for_as_well() -> None:
    sample = load_task("hkcanto_translation_zh_yue").samples[0]
    index = Index(items_of("hkcanto_translation_zh_yue")[0])
    assert [hit.id for hit, *_ in index.find([(1, sample.target)])] == [sample.id]


# ---------------------------------------------------------------------- files


def chat(text: str) -> object:
    return {
        "messages": [
            {"role": "user", "content": text},
            {"role": "assistant", "content": "B"},
        ]
    }


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
    "a.json": lambda path, texts: path.write_text(
        json.dumps([chat(text) for text in texts])
    ),
    "a.csv": _csv,
    "a.txt": lambda path, texts: path.write_text("\n".join(texts), encoding="utf-8"),
    "a.parquet": _parquet,
    "a.jsonl.gz": _packed,
    "a.jsonl.zst": _packed,
}


def test_an_item_is_found_in_every_kind_of_file(tmp_path: Path) -> None:
    sample = next(each for each in load_task(TASK).samples if len(each.text) > 60)
    for name, write in FORMS.items():
        write(tmp_path / name, [CLEAN[0], sample.text, CLEAN[1]])
    done = check(
        *(tmp_path / name for name in FORMS), "--benchmark", TASK, "--format", "json"
    )

    assert done.exit_code == 1, done.output
    # CSV is read as plain text, in which the header is a line.
    lines = {Path(str(row["file"])).name: row["line"] for row in tables(done)["lines"]}
    assert lines == {**dict.fromkeys(FORMS, 2), "a.csv": 3}
    assert {(row["item"], row["share"]) for row in tables(done)["lines"]} == {
        (sample.id, 1)
    }
    assert sample.text[:20] not in done.stdout


def test_an_item_over_several_lines_of_a_long_text_is_found_once(
    tmp_path: Path,
) -> None:
    sample = load_task("hkcanto_law").samples[0]
    filler = "".join(
        f"line {place} of a text about nothing\n" for place in range(4_000)
    )
    file = tmp_path / "a.txt"
    file.write_text(filler + sample.text + "\n" + filler, encoding="utf-8")
    done = check(file, "--benchmark", "hkcanto_law", "--format", "json")
    (line,) = tables(done)["lines"]
    assert (line["item"], line["line"]) == (sample.id, 4_001)


def a_question() -> str:
    return next(each.text for each in load_task(TASK).samples if len(each.text) > 60)


JSON = ("--benchmark", TASK, "--format", "json")


def test_what_only_python_writes_is_json(tmp_path: Path) -> None:
    line = json.dumps({"score": float("nan"), "text": a_question() + "\ud83d"})
    (tmp_path / "a.jsonl").write_text(line + "\n\n", encoding="utf-8")
    assert [
        row["line"] for row in tables(check(tmp_path / "a.jsonl", *JSON))["lines"]
    ] == [1]


def test_maps_and_bytes_of_parquet_are_read(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    samples = [each for each in load_task(TASK).samples if len(each.text) > 60][:3]
    one, two, three = (each.text for each in samples)
    columns = {
        "map": pyarrow.array(
            [[("k", one)], [], []], pyarrow.map_(pyarrow.string(), pyarrow.string())
        ),
        "binary": pyarrow.array(
            [None, two.encode(), b"\xff\xd8\x00"], pyarrow.binary()
        ),
        "list": pyarrow.array([[], [], [{"a": three}]]),
    }
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    done = check(tmp_path / "a.parquet", *JSON)
    where = {row["item"]: row["line"] for row in tables(done)["lines"]}
    assert where == {sample.id: line for line, sample in enumerate(samples, 1)}


# ---------------------------------------------------------------------- the command


def test_clean_files_end_with_status_0(tmp_path: Path) -> None:
    done = check(
        written(tmp_path / "a.jsonl", [{"text": text} for text in CLEAN * 100])
    )
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


def test_what_cannot_be_read_ends_with_status_2(tmp_path: Path) -> None:
    for name, content, said in (
        ("none.jsonl", None, "does not exist"),
        ("a.jsonl.gz", b"not packed", "a.jsonl.gz cannot be read (BadGzipFile"),
        ("a.jsonl", b'"one"\n{broken', "a.jsonl cannot be read (JSONDecodeError"),
        ("a.json", b"[1, 2", "a.json cannot be read"),
        ("a.parquet", b"no", "a.parquet cannot be read"),
    ):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        done = check(tmp_path / name, "--benchmark", "hkcanto_law")
        assert done.exit_code == 2, name
        assert said in " ".join(done.output.split()), name


def test_benchmarks_without_data_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HKCANTO_DATA")
    monkeypatch.setenv("HKCANTO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HKCANTO_OFFLINE", "1")
    file = written(tmp_path / "a.jsonl", CLEAN)  # type: ignore[arg-type]
    done = check(file)
    # The fluency questions are ours and part of the package.
    assert done.exit_code == 0
    assert "Not searched for, because its data is not here: HKMMLU" in " ".join(
        done.stdout.split()
    )
    assert check(file, "--benchmark", "hkmmlu").exit_code == 2
