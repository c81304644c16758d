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
from hkcanto_tasks.contamination.ngrams import Index, Item, units
from hkcanto_tasks.contamination.report import items_of
from hkcanto_tasks.contamination.training_files import read
from hkcanto_tasks.loading import load_task

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
def test_script_case_width_and_punctuation_are_no_difference(one: str, other: str) -> None:
    assert units([one]).hashes.tolist() == units([other]).hashes.tolist()


def test_order_and_letters_are() -> None:
    different = ["香港大學", "香大港學", "香港大", "tab", "bat", "ta b"]
    assert len({tuple(units([text]).hashes.tolist()) for text in different}) == len(different)


# ---------------------------------------------------------------------- the index

QUESTION = "香港嘅天星小輪每日由尖沙咀碼頭開去港島邊一個碼頭？"  # 24 units
OPTIONS = "\nA. 中環\nB. 灣仔\nC. 柴灣"


def found(text: str, *items: Item) -> list[float]:
    given = items or (Item("t", "t/1", QUESTION + OPTIONS, len(QUESTION)),)
    return [round(hit.share, 3) for hit in Index(given).find([CLEAN[0], text])]


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
    # Unit 12 of 24 is another: the n-grams before it cover 11 units, those behind it 12.
    assert found(QUESTION[:11] + "火" + QUESTION[12:]) == [round(23 / 24, 3)]


def test_a_part_of_less_than_three_fifths_is_not_found() -> None:
    assert found(QUESTION[:15]) == [0.625]  # of 24
    assert found(QUESTION[:14]) == []


def test_parts_that_are_far_apart_are_not_one_place() -> None:
    assert found(QUESTION[:12] + CLEAN[0] * 3 + QUESTION[12:]) == []


def test_a_short_question_is_found_with_its_options_only() -> None:
    short = "邊個係首都城市呀？"  # 8 units
    item = Item("t", "t/1", short + OPTIONS, len(short))
    assert found(short + OPTIONS, item) == [1.0]
    assert found(short, item) == []


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
            text = to_simplified(sample.source or sample.question).replace("，", "")
            if sample.id in index.looked_for:
                assert sample.id in {hit.item.id for hit in index.find([text])}, sample.id


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
    sample = next(each for each in load_task(TASK).samples if len(each.question) > 60)
    FORMS[name](tmp_path / name, [CLEAN[0], sample.question, CLEAN[1]])
    done = check(tmp_path / name, "--benchmark", TASK, "--format", "json")

    assert done.exit_code == 1, done.output
    (line,) = tables(done)["lines"]
    # In CSV the header is a line.
    assert (line["item"], line["line"]) == (sample.id, 3 if name == "a.csv" else 2)
    assert line["share"] == 1
    assert sample.question[:20] not in done.stdout


def test_texts_are_shown_when_asked_for(tmp_path: Path) -> None:
    sample = load_task(TASK).samples[0]
    file = written(tmp_path / "a.jsonl", [sample.question])
    made = json.loads(check(file, "--with-items", "--format", "json").stdout)
    assert sample.question.strip()[:20] in made["tables"]["lines"]["rows"][0]["text"]
    assert any("Do not publish" in note["text"] for note in made["notes"])


def test_an_item_that_is_cut_by_a_block_of_a_long_text_is_found_once(tmp_path: Path) -> None:
    sample = load_task("hkcanto_law").samples[0]
    filler = "".join(f"line {place} of a text about nothing\n" for place in range(40_000))
    for before in ((1 << 20) - 20, 1 << 20, (1 << 20) - 3000):
        text = filler[:before].rpartition("\n")[0] + "\n"
        file = tmp_path / "a.txt"
        file.write_text(text + sample.question + "\n" + filler, encoding="utf-8")
        done = check(file, "--benchmark", "hkcanto_law", "--format", "json")
        (line,) = tables(done)["lines"]
        assert (line["item"], line["line"]) == (sample.id, text.count("\n") + 1)


def test_a_line_that_is_no_json_is_a_text(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"a": "b"}\n{broken ' + QUESTION + "\n", encoding="utf-8")
    assert [part.text.strip() for part in read(tmp_path / "a.jsonl")] == [
        "b",
        "{broken " + QUESTION,
    ]


# ---------------------------------------------------------------------- the command


def test_clean_files_end_with_status_0(tmp_path: Path) -> None:
    done = check(written(tmp_path / "a.jsonl", [{"text": text} for text in CLEAN * 100]))
    assert done.exit_code == 0
    assert "sample data" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_all_tasks_are_counted(tmp_path: Path) -> None:
    law = load_task("hkcanto_law").samples
    file = written(tmp_path / "a.jsonl", [each.question for each in law[:3]] * 2)
    rows = tables(check(file, "--format", "json"))["contamination"]

    assert {row["task"] for row in rows} == {
        task.name for benchmark in benchmarks() for task in benchmark.tasks
    }
    assert rows[0]["task"] == "hkcanto_law"  # those with something first
    assert (rows[0]["items"], rows[0]["found"]) == (len(law), 3)
    assert rows[0]["share"] == pytest.approx(3 / len(law))
    assert sum(row["found"] for row in rows[1:]) == 0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", None, "a.jsonl cannot be read: No such file"),
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
    # The questions on fluency are ours, and in the package.
    assert done.exit_code == 0
    assert "Not looked for, as no data is here: HKMMLU" in " ".join(done.stdout.split())
    assert check(file, "--benchmark", "hkmmlu").exit_code == 2
