"""Releases with several candidate files for a subject: scripts, languages, models' answers."""

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hkcanto_tasks import load_task
from hkcanto_tasks.cli import app
from hkcanto_tasks.errors import DataCorrupt, DataNotFound, HKCantoError

from .test_first_contact import (
    COLUMNS,
    LAW,
    LONG,
    MANY,
    MUSIC,
    Folder,
    as_csv,
    as_jsonl,
    as_parquet,
    as_records,
    card,
    folder,
)

__all__ = ["folder"]

TC = [("邊個部門負責草擬法例？", "律政司", "廉政公署", "申訴專員公署", "審計署", "A")]
SC = [("边个部门负责草拟法例？", "律政司", "廉政公署", "申诉专员公署", "审计署", "A")]
TITLED = (*COLUMNS, "subject")
EN = [("Which department drafts the laws?", "Justice", "ICAC", "Ombudsman", "Audit", "A")]

PAIRS = [
    ("sc/test/hk_law.csv", "tc/test/hk_law.csv"),
    ("simplified/hk_law.csv", "traditional/hk_law.csv"),
    ("zh-cn/hk_law.csv", "zh-hk/hk_law.csv"),
    ("test/zh_CN/hk_law.csv", "test/zh_TW/hk_law.csv"),
    ("hans/hk_law/test.csv", "hant/hk_law/test.csv"),
    ("简体/hk_law_test.csv", "繁體/hk_law_test.csv"),
    ("简体中文/hk_law_test.csv", "繁體中文/hk_law_test.csv"),
    ("test/hk_law_sc.csv", "test/hk_law_tc.csv"),
    ("hk_law_test_sc.csv", "hk_law_test_tc.csv"),
    ("hk_law_sc_test.csv", "hk_law_tc_test.csv"),
    ("test/hk_law.zh-Hans.csv", "test/hk_law.zh-Hant.csv"),
    ("test_sc/hk_law.csv", "test_tc/hk_law.csv"),
    ("test/hk_law_sc.csv", "test/hk_law.csv"),
    ("chs.zip/hk_law.csv", "cht/hk_law.csv"),
]


def put(folder: Folder, files: dict[str, list[tuple[str, ...]]]) -> Path:
    """Write tables, also into zip files."""
    made: dict[str, str | bytes] = {}
    for name, rows in files.items():
        archive, inside, member = name.partition(".zip/")
        if inside:
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w") as opened:
                opened.writestr(member, as_csv(rows))
            made[f"{archive}.zip"] = packed.getvalue()
        else:
            made[name] = as_csv(rows)
    return folder(made)


def asked(task: str, **options: Any) -> str:
    (sample,) = load_task(task, **options).samples
    return sample.question


@pytest.mark.parametrize(("sc", "tc"), PAIRS)
def test_the_script_that_is_asked_for_is_taken(folder: Folder, sc: str, tc: str) -> None:
    put(folder, {sc: SC, tc: TC})
    assert asked("hkmmlu_hk_law") == TC[0][0]
    assert asked("hkmmlu_hk_law", script="sc") == SC[0][0]


@pytest.mark.parametrize("names", [("sc", "tc"), ("hk_law_sc", "hk_law_tc"), ("zh_cn", "zh_hk")])
def test_so_it_is_with_the_configurations_of_a_card(folder: Folder, names: tuple[str, str]) -> None:
    folder({"README.md": card({each: {"test": f"{n}/hk_law.csv"} for n, each in enumerate(names)}),
            "0/hk_law.csv": as_csv(SC), "1/hk_law.csv": as_csv(TC)})  # fmt: skip
    if "law" not in names[0]:  # each configuration has several subjects
        configs = {each: {"test": f"{n}/*.csv"} for n, each in enumerate(names)}
        folder({"0/hk_music.csv": as_csv(SC), "1/hk_music.csv": as_csv(TC),
                "README.md": card(configs)})  # fmt: skip
    assert asked("hkmmlu_hk_law") == TC[0][0]
    assert asked("hkmmlu_hk_law", script="sc") == SC[0][0]


def test_the_releases_own_simplified_script_is_not_converted_and_signed(folder: Folder) -> None:
    odd = [("这裡有甚么？", *SC[0][1:])] * 3 + SC * 3  # 裡 would be converted
    put(folder, {"sc/test/hk_law.csv": odd, "tc/test/hk_law.csv": TC * 6,
                 "sc/dev/hk_law.csv": odd[:1], "tc/dev/hk_law.csv": TC})  # fmt: skip
    loaded = load_task("hkmmlu_hk_law", script="sc").at(shots=1)
    assert any("裡" in sample.question for sample in loaded.samples)
    assert "裡" in loaded.shots("hk_law")[0].question
    assert "|script:sc-release|" in loaded.signature
    plain = load_task("hkmmlu_hk_law")
    assert {sample.question for sample in plain.samples} == {TC[0][0]}
    assert "|script:tc|" in plain.signature


def test_traditional_script_alone_is_converted(folder: Folder) -> None:
    put(folder, {"tc/hk_law.csv": TC})
    loaded = load_task("hkmmlu_hk_law", script="sc")
    assert loaded.samples[0].question == SC[0][0]
    assert "|script:sc|" in loaded.signature


@pytest.mark.parametrize("file", ["sc/hk_law.csv", "test/hk_law.csv", "hk_law_chs.csv"])
def test_simplified_script_alone_is_not_the_traditional_benchmark(
    folder: Folder, file: str
) -> None:
    put(folder, {file: SC * 9})
    with pytest.raises(DataNotFound, match=rf"only {file} \(Simplified\).*script=sc"):
        load_task("hkmmlu_hk_law")
    assert len(load_task("hkmmlu_hk_law", script="sc").samples) == 9


def test_a_name_that_contradicts_the_text_is_an_error(folder: Folder) -> None:
    put(folder, {"tc/hk_law.csv": SC * 9, "sc/hk_law.csv": TC * 9})
    with pytest.raises(DataCorrupt, match=r"is called .*, but its text is"):
        load_task("hkmmlu_hk_law")


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("en/hk_law.csv", "zh/hk_law.csv"),
        ("test/hk_law_en.csv", "test/hk_law_zh.csv"),
        ("test/hk_law_en.csv", "test/hk_law.csv"),
        ("English/hk_law.csv", "Chinese/hk_law.csv"),
    ],
)
def test_an_english_file_beside_a_chinese_one_is_not_taken(
    folder: Folder, english: str, chinese: str
) -> None:
    put(folder, {english: EN, chinese: TC})
    assert asked("hkmmlu_hk_law") == TC[0][0]


@pytest.mark.parametrize(("sc", "tc"), [("sc", "tc"), ("zh-CN", "zh-HK"), ("简体", "繁體")])
def test_a_column_may_name_the_script_of_each_row(folder: Folder, sc: str, tc: str) -> None:
    rows = [(*SC[0], sc), (*TC[0], tc)]
    folder({"test/hk_law.csv": as_csv(rows, (*COLUMNS, "lang"))})
    assert asked("hkmmlu_hk_law") == TC[0][0]
    assert asked("hkmmlu_hk_law", script="sc") == SC[0][0]


def test_one_json_may_have_both_scripts(folder: Folder) -> None:
    both = {"sc": as_records(SC), "tc": as_records(TC)}
    folder({"hk_law.json": json.dumps(both)})
    assert asked("hkmmlu_hk_law") == TC[0][0]
    assert asked("hkmmlu_hk_law", script="sc") == SC[0][0]


def test_the_command_line_names_both_files(folder: Folder) -> None:
    folder({"data/test/hk_law.csv": as_csv(MANY), "baselines/gpt-4o/hk_law.csv": as_csv(OTHER)})
    result = CliRunner().invoke(app, ["doctor", "hkmmlu"])
    said = " ".join(result.output.split())
    assert "data/test/hk_law.csv and baselines/gpt-4o/hk_law.csv" in said


# ------------------------------------------------------------------------------- candidates

OTHER = [(*row[:5], "B") for row in MANY]


@pytest.mark.parametrize(
    "file",
    [
        "baselines/gpt-4o/hk_law.csv",
        "predictions/hk_law.csv",
        "outputs/test/hk_law.csv",
        "results/hk_law_test.csv",
        "old/test/hk_law.csv",
        "hk_law.csv",
        "data/test/hk_law.tsv",
        "all.csv",
    ],
)
def test_two_candidates_for_one_subject_are_an_error_unless_equal(
    folder: Folder, file: str
) -> None:
    def form(rows: list[tuple[str, ...]]) -> str:
        if file == "all.csv":
            return as_csv([(*row, "hk_law") for row in rows], (*COLUMNS, "subject"))
        return as_csv(rows, delimiter="\t" if file.endswith("tsv") else ",")

    folder({"data/test/hk_law.csv": as_csv(MANY), file: form(OTHER)})
    with pytest.raises(HKCantoError) as raised:
        load_task("hkmmlu_hk_law")
    assert "data/test/hk_law.csv" in str(raised.value)
    assert file in str(raised.value)
    folder({file: form(MANY)})
    assert len(load_task("hkmmlu_hk_law").samples) == 200


@pytest.mark.parametrize("name", ["predictions/hk_law", "gpt-4o/hk_law", "test/hk_law_qwen2.5"])
def test_a_models_answers_alone_are_not_a_release(folder: Folder, name: str) -> None:
    folder({"data/test/hk_music.csv": as_csv([MUSIC]), f"{name}.csv": as_csv(OTHER)})
    with pytest.raises(DataCorrupt, match=rf"{name}\.csv.*a model's answers"):
        load_task("hkmmlu")


def test_shards_are_one_set(folder: Folder) -> None:
    folder({
        "test/hk_law-00000-of-00002.csv": as_csv(MANY[:90]),
        "test/hk_law-00001-of-00002.csv": as_csv(MANY[90:]),
        "test/hk_music/part-0.csv": as_csv(MANY[:3]),
        "test/hk_music/part-1.csv": as_csv(MANY[3:5]),
    })  # fmt: skip
    loaded = load_task("hkmmlu")
    assert len(loaded.samples) == 205


def test_a_shard_that_is_not_there_is_an_error(folder: Folder) -> None:
    folder({"test/hk_law-00000-of-00002.csv": as_csv(MANY[:90])})
    with pytest.raises(DataNotFound, match=r"1 of the 2 parts.*hk_law-00000-of-00002\.csv"):
        load_task("hkmmlu_hk_law")


# ------------------------------------------------------------------------------- layouts


def by_key(rows: dict[str, Any]) -> str:
    return json.dumps(rows, ensure_ascii=False, indent=2)


def zipped(files: dict[str, str | bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in files.items():
            opened.writestr(name, content)
        opened.writestr("__MACOSX/test/._hk_law.csv", "\0")
    return packed.getvalue()


BOTH = {"hk_law": [LAW, LONG], "hk_music": [MUSIC]}
LISTED = [
    {**record, "domain": "humanities", "task": "hkmmlu", "subset": stem}
    for stem, rows in BOTH.items()
    for record in as_records(rows)
]
LAYOUTS: dict[str, dict[str, str | bytes]] = {
    "the hub's conversion": {
        f"{stem}/{split}/0000.parquet": as_parquet(as_records(rows))
        for stem, rows in BOTH.items()
        for split in ("test", "dev")
    },
    "a subset column beside a constant one": {"test.json": json.dumps(LISTED)},
    "a category column beside a constant one": {
        "test.jsonl": "".join(
            as_jsonl(rows, subject="hkmmlu", category=stem) for stem, rows in BOTH.items()
        )
    },
    "a column of another name": {
        "default/test/0000.parquet": as_parquet(
            [{**row, "where": row["subset"], "subset": "x"} for row in LISTED]
        )
    },
    "one JSON by subject": {
        "test.json": by_key({stem: as_records(rows) for stem, rows in BOTH.items()})
    },
    "one JSON by subject and split": {
        "hkmmlu.json": by_key({
            stem: {"dev": as_records(rows[:1]), "test": as_records(rows)}
            for stem, rows in BOTH.items()
        })
    },
    "a JSON of each subject by split": {
        f"{stem}.json": by_key({"dev": as_records([LONG]), "test": as_records(rows)})
        for stem, rows in BOTH.items()
    },
    "a JSON with its rows under data": {
        f"test/{stem}.json": by_key({"version": "1", "data": as_records(rows)})
        for stem, rows in BOTH.items()
    },
    "a split column": {
        f"{stem}.csv": as_csv(
            [*((*row, "test") for row in rows), (*LONG, "dev")], (*COLUMNS, "split")
        )
        for stem, rows in BOTH.items()
    },
    "gzip": {
        f"test/{stem}.csv.gz": gzip.compress(as_csv(rows).encode()) for stem, rows in BOTH.items()
    },
    "zip": {
        "release.zip": zipped({f"test/{stem}.csv": as_csv(rows) for stem, rows in BOTH.items()})
    },
    "a zip of each subject": {
        f"{stem}.zip": zipped({"test.csv": as_csv(rows), "dev.csv": as_csv(rows)})
        for stem, rows in BOTH.items()
    },
    "a suffix tc": {f"test/{stem}_tc.csv": as_csv(rows) for stem, rows in BOTH.items()},
    "train beside dev": {
        f"{split}/{stem}.csv": as_csv(rows if split == "test" else [LAW] * len(split))
        for stem, rows in BOTH.items()
        for split in ("test", "train", "dev")
    },
    "a second header": {
        f"test/{stem}.csv": as_csv([("題目", "選項A", "選項B", "選項C", "選項D", "答案"), *rows])
        for stem, rows in BOTH.items()
    },
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_release_loads_in_this_layout(folder: Folder, layout: str) -> None:
    folder(LAYOUTS[layout])
    loaded = load_task("hkmmlu")
    found = sorted((each.subject, each.question, each.target) for each in loaded.samples)
    expected = [(stem, row[0], row[5]) for stem, rows in BOTH.items() for row in rows]
    assert found == sorted(expected)
    if layout in ("a split column", "a JSON of each subject by split", "train beside dev"):
        assert len(loaded.examples("hk_law")) == (3 if "train" in layout else 1)


def test_an_archive_that_unpacks_to_too_much_is_refused(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hkcanto_tasks.data.tables._MOST_UNPACKED", 1000)
    folder({"test/hk_law.csv.gz": gzip.compress(as_csv(MANY).encode())})
    with pytest.raises(DataCorrupt, match=r"hk_law\.csv\.gz has more than"):
        load_task("hkmmlu_hk_law")


@pytest.mark.parametrize("name", ["test/hk_law.csv.gz", "release.zip"])
def test_a_broken_archive_is_an_error(folder: Folder, name: str) -> None:
    folder({name: b"\x1f\x8b" + b"x" * 50})
    with pytest.raises(DataCorrupt, match=name):
        load_task("hkmmlu_hk_law")


def test_what_was_found_instead_is_said(folder: Folder) -> None:
    folder({"notes/readme.txt": "x", "test/hk_music.csv": as_csv([MUSIC])})
    with pytest.raises(DataNotFound, match=r"no test file of hkmmlu_hk_law.*test/hk_music\.csv"):
        load_task("hkmmlu_hk_law")


def test_an_answer_column_with_blanks_costs_the_rows_without_one(folder: Folder) -> None:
    rows = [(*row[:5], str(n % 4) + ".0") for n, row in enumerate(MANY)]
    rows[7] = (*rows[7][:5], "")
    folder({"test/hk_law.csv": as_csv(rows)})
    loaded = load_task("hkmmlu_hk_law")
    assert len(loaded.samples) == 199
    assert {each.target for each in loaded.samples} == {*"ABCD"}


# ------------------------------------------------------------------------------- rows


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        (COLUMNS, [*TC * 9, *SC * 9]),
        (COLUMNS, [*TC * 3, *SC * 6, *TC * 3]),
        ((COLUMNS[0], "Question_tc", *COLUMNS[1:]), [(SC[0][0], *TC[0])] * 9),
    ],
)
def test_rows_of_one_file_in_two_scripts_are_refused(
    folder: Folder, header: tuple[str, ...], rows: list[tuple[str, ...]]
) -> None:
    folder({"test/hk_law.csv": as_csv(rows, header)})
    with pytest.raises(DataCorrupt, match=r"test/hk_law\.csv has rows in two scripts.*[69] "):
        load_task("hkmmlu_hk_law")


def test_a_few_questions_about_simplified_characters_are_rows_like_others(folder: Folder) -> None:
    folder({"test/hk_law.csv": as_csv([*TC * 9, *SC])})
    assert len(load_task("hkmmlu_hk_law").samples) == 10


# ------------------------------------------------------------------------------- subjects


def test_a_subject_in_two_spellings_of_one_column_is_one_subject(folder: Folder) -> None:
    """The spellings are on different rows of one file; missing subjects are reported."""
    named = [(*MANY[0], "hk_law"), (*MANY[1], "Hong Kong Law"), (*MUSIC, "hk_music")]
    again = [(*MANY[2], "HK_LAW"), (*MANY[3], "香港法律"), (*MANY[4], "hk_law")]
    folder({"all.csv": as_csv([*named, *again], (*COLUMNS, "subject"))})
    loaded = load_task("hkmmlu")
    found = {(each.subject, each.question) for each in loaded.samples}
    assert found == {*(("hk_law", row[0]) for row in MANY[:5]), ("hk_music", MUSIC[0])}
    assert len(loaded.samples) == 6
    assert "(2 of 66 subjects)" in loaded.remark


def test_a_part_of_a_file_that_lacks_a_subject_does_not_give_it_another(folder: Folder) -> None:
    """Two files are divided by a column: subjects in neither are missing, despite similar names."""
    law = [(*row, "hk_law") for row in MANY[:9]]
    folder({
        "train.csv": as_csv([(*row, "Hong Kong Music") for row in (LONG, MUSIC)], TITLED),
        "test.csv": as_csv(law, TITLED),
    })  # fmt: skip
    loaded = load_task("hkmmlu")
    assert {each.subject for each in loaded.samples} == {"hk_law"}
    assert {each.question for each in loaded.samples} == {row[0] for row in MANY[:9]}
    with pytest.raises(DataNotFound, match=r"no test file of hkmmlu_hk_music.*train\.csv"):
        load_task("hkmmlu_hk_music")


def test_rows_of_another_subject_in_a_subjects_file_are_refused(folder: Folder) -> None:
    rows = [*((*row, "hk_law") for row in MANY[:9]), (*MUSIC, "香港音樂")]
    folder({"test/hk_law.csv": as_csv(rows, TITLED)})
    with pytest.raises(DataCorrupt, match=r"hk_law\.csv, row 11 belongs to '香港音樂'.*'hk_law'"):
        load_task("hkmmlu_hk_law")
