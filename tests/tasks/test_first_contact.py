"""A release loads in any usual layout, and a bad row costs only that row."""

import csv
import io
import json
import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from hkcanto_tasks import load_task
from hkcanto_tasks.catalogue import find_task
from hkcanto_tasks.data.stems import match_stems, words
from hkcanto_tasks.errors import DataCorrupt, DataNotFound, OptionError

COLUMNS = ("Question", "A", "B", "C", "D", "Answer")
LAW = ("邊個部門負責草擬法例？", "律政司", "廉政公署", "申訴專員公署", "審計署", "A")
MUSIC = ("邊個詞人人稱「詞神」？", "None", "NA", "007", "0.10", "C")
LONG = ("第一行\n第二行？", "甲, 乙", '丙 "丁"', "戊", "己", "D")
ROWS = {"hk_law": [LAW, LONG], "hk_music": [MUSIC, LAW]}

Folder = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """Return a function that writes files into the data folder of HKMMLU."""
    monkeypatch.delenv("HKCANTO_DATA")
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path))

    def write(files: dict[str, str | bytes], benchmark: str = "hkmmlu") -> Path:
        for name, content in files.items():
            path = tmp_path / benchmark / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path / benchmark

    return write


def as_csv(
    rows: Iterable[Iterable[str]], header: Iterable[str] = COLUMNS, delimiter: str = ","
) -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter).writerows([header, *rows])
    return file.getvalue()


def as_records(rows: Iterable[Iterable[str]], **more: str) -> list[dict[str, str]]:
    return [{**dict(zip(COLUMNS, row, strict=True)), **more} for row in rows]


def as_jsonl(rows: Iterable[Iterable[str]], **more: str) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in as_records(rows, **more))


def as_parquet(records: list[dict[str, Any]]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(records), file)
    return file.getvalue()


def each(form: Callable[..., str | bytes], name: str) -> dict[str, str | bytes]:
    """A file for each subject and split, named by the template `name`."""
    return {
        name.format(stem=stem, split=split): form(rows)
        for stem, rows in ROWS.items()
        for split in ("dev", "test")
    }


def by_subject(*, column: str = "subject", **names: str) -> list[dict[str, str]]:
    return [
        record
        for stem, rows in ROWS.items()
        for record in as_records(rows, **{column: names.get(stem, stem)})
    ]


def card(configs: dict[str, dict[str, str]]) -> str:
    lines = ["---", "configs:"]
    for name, splits in configs.items():
        lines += [f"- config_name: {name}", "  data_files:"]
        for split, path in splits.items():
            lines += [f"  - split: {split}", f"    path: {path}"]
    return "\n".join([*lines, "---", "# Questions", ""])


def in_other_order(rows: Iterable[Iterable[str]]) -> str:
    records = as_records(rows)
    order = ["d", "ANSWER", "b", "a", "Source", "question", "c"]
    cells = [
        [{k.lower(): v for k, v in row.items()}.get(c.lower(), "x") for c in order]
        for row in records
    ]
    return as_csv(cells, order)


def with_index(rows: Iterable[Iterable[str]]) -> str:
    return as_csv([[str(n), *row] for n, row in enumerate(rows)], ["", *COLUMNS])


def with_blank_lines(rows: Iterable[Iterable[str]]) -> str:
    header, *lines = as_csv(rows).split("\r\n")
    return "\ufeff" + "\r\n".join(["", header, "", *lines[:-1], ",,,,,", " ,,"])


def listed(rows: Iterable[Iterable[str]]) -> bytes:
    """The form of many data sets on the hub: a list of choices, and an index."""
    return as_parquet(
        [
            {"question": row[0], "choices": list(row[1:5]), "answer": "ABCD".index(row[5])}
            for row in map(tuple, rows)
        ]
    )


LAYOUTS: dict[str, dict[str, str | bytes]] = {
    "split/stem.csv": each(as_csv, "{split}/{stem}.csv"),
    "stem_split.csv": each(as_csv, "data/{stem}_{split}.csv"),
    "split_stem.csv": each(as_csv, "{split}-{stem}.csv"),
    "split/stem_split.csv": each(as_csv, "data/{split}/{stem}_{split}.csv"),
    "stem/split.csv": each(as_csv, "{stem}/{split}.csv"),
    "a folder of its own": each(as_csv, "HKMMLU/data/{split}/{stem}.csv"),
    "the benchmark's name in front": each(as_csv, "hkmmlu_{stem}_{split}.csv"),
    "JSON lines": each(as_jsonl, "{split}/{stem}.jsonl"),
    "JSON": each(lambda rows: json.dumps(as_records(rows)), "{split}/{stem}.json"),
    "Parquet": each(
        lambda rows: as_parquet(as_records(rows)), "{stem}/{split}-00000-of-00001.parquet"
    ),
    "tabs": each(lambda rows: as_csv(rows, delimiter="\t"), "{split}/{stem}.tsv"),
    "columns in any case and order": each(in_other_order, "{split}/{stem}.csv"),
    "an index column": each(with_index, "{split}/{stem}.csv"),
    "blank lines": each(with_blank_lines, "{split}/{stem}.csv"),
    "a list of choices": each(listed, "{stem}/{split}.parquet"),
    "a subject column": {"test.parquet": as_parquet(by_subject())},
    "a subject column in Chinese": {
        "hkmmlu/test.jsonl": "\n".join(
            json.dumps(row)
            for row in by_subject(column="科目", hk_law="香港法律", hk_music="香港音樂")
        )
    },
    "a subject column of titles": {
        "test.json": json.dumps(by_subject(hk_law="Hong Kong Law", hk_music="Hong Kong music"))
    },
    "a card": {
        "README.md": card(
            {stem: {"dev": f"d/{n}.csv", "test": f"t/{n}.csv"} for n, stem in enumerate(ROWS)}
        ),
        **{f"{s}/{n}.csv": as_csv(rows) for n, rows in enumerate(ROWS.values()) for s in "dt"},
    },
    "a card that calls a single split train": {
        "README.md": card({stem: {"train": f"all/{n}.parquet"} for n, stem in enumerate(ROWS)}),
        **{
            f"all/{n}.parquet": as_parquet(as_records(rows))
            for n, rows in enumerate(ROWS.values())
        },
    },
    "a card without files": {
        "README.md": "---\nlicense: mit\n---\n",
        **each(as_csv, "{split}/{stem}.csv"),
    },
    "a card that is wrong": {
        "README.md": "---\nconfigs:\n- config_name: [\n---\n",
        **each(as_csv, "{split}/{stem}.csv"),
    },
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_release_loads_in_this_layout(folder: Folder, layout: str) -> None:
    folder(LAYOUTS[layout])
    loaded = load_task("hkmmlu")
    assert {subject.name for subject in loaded.task.subjects} == {*ROWS}
    found = {sample.id: sample for sample in loaded.samples}
    assert len(found) == 4
    music = next(each for each in found.values() if "詞人" in each.question)
    assert (music.subject, music.choices, music.target) == ("hk_music", MUSIC[1:5], "C")
    quoted = next(each for each in found.values() if "第一行" in each.question)
    assert (quoted.subject, quoted.choices, quoted.target) == ("hk_law", LONG[1:5], "D")
    assert loaded.remark == " (2 of 66 subjects)"


@pytest.mark.parametrize("answer", ["C", " c ", "Ｃ", "C.", "C. 007", "（C）", "C：007", "007"])
def test_an_answer_is_read_in_this_form(folder: Folder, answer: str) -> None:
    folder({"test/hk_music.csv": as_csv([(*MUSIC[:5], answer)])})
    (sample,) = load_task("hkmmlu_hk_music").samples
    assert sample.target == "C"


def targets(task: str) -> list[str]:
    """The right letters in the order of the file."""
    samples = load_task(task).samples
    return [each.target for each in sorted(samples, key=lambda each: int(each.id.split("/")[-1]))]


@pytest.mark.parametrize(
    ("answers", "letters"),
    [
        ("0123", "ABCD"),  # counted from 0, because there is a 0
        ("1234", "ABCD"),  # counted from 1, because there is a 4
        ("２０", "CA"),
        (("2.0", "0.0"), "CA"),  # a blank turns a column of numbers into this
        ("A3", None),
        ("12", None),
        ("4444", "DDDD"),
        (("None", "007"), "AC"),
        (("C", "007"), "CC"),
    ],
)
def test_how_answers_name_options_is_decided_for_the_whole_file(
    folder: Folder, answers: Iterable[str], letters: str | None
) -> None:
    folder({"test/hk_music.csv": as_csv([(*MUSIC[:5], answer) for answer in answers])})
    if letters:
        assert targets("hkmmlu_hk_music") == [*letters]
    else:
        with pytest.raises(DataCorrupt, match=r"hk_music\.csv"):
            load_task("hkmmlu_hk_music")


def test_what_the_rows_of_one_subject_leave_open_the_others_tell(folder: Folder) -> None:
    open_rows = [(*LAW[:5], answer) for answer in "1223"]
    folder({"test/hk_law.csv": as_csv(open_rows)})
    with pytest.raises(DataCorrupt, match=r"index from 0 or as its number from 1.*answer = \"ind"):
        load_task("hkmmlu_hk_law")
    folder({"test/hk_music.csv": as_csv([(*MUSIC[:5], answer) for answer in "14"])})
    assert targets("hkmmlu_hk_law") == [*"ABBC"]
    folder({"test/hk_music.csv": as_csv([(*MUSIC[:5], answer) for answer in "10"])})
    assert targets("hkmmlu_hk_law") == [*"BCCD"]


YEARS = ("3", "1", "4", "2")


def test_the_text_of_a_number_is_not_taken_for_its_place(folder: Folder) -> None:
    years = [("第幾次？", *YEARS, answer) for answer in "1232"]
    folder({"test/hk_law.csv": as_csv(years)})
    with pytest.raises(DataCorrupt, match=r"read in 3 ways.*number from 1 or as its text"):
        load_task("hkmmlu_hk_law")
    folder({"test/hk_law.csv": as_csv([*years, (*LAW[:5], LAW[2])])})
    assert targets("hkmmlu_hk_law") == [*"BDAD", "B"]


NAMES = [
    ("OptionA", "OptionB", "OptionC", "OptionD"),
    ("option_a", "option_b", "option_c", "option_d"),
    ("選項A", "選項B", "選項C", "選項D"),
    ("Choice 1", "Choice 2", "Choice 3", "Choice 4"),
    ("option0", "option1", "option2", "option3"),
    ("(A)", "(B)", "(C)", "(D)"),
    ("選項甲", "選項乙", "選項丙", "選項丁"),
]


@pytest.mark.parametrize("names", NAMES)
def test_option_columns_are_recognised_by_these_names(
    folder: Folder, names: tuple[str, ...]
) -> None:
    folder({"test/hk_law.csv": as_csv([LAW, LONG], ("question", *names, "answer"))})
    samples = load_task("hkmmlu_hk_law").samples
    assert {sample.choices for sample in samples} == {LAW[1:5], LONG[1:5]}


@pytest.mark.parametrize(
    "names",
    [
        ("OptionA", "B", "C", "D"),
        ("A", "B", "選項C", "選項D"),
        ("A", "B", "X", "D"),
        ("A", "B", "C", "last"),
        ("first", "B", "C", "D"),
        ("option_a", "option_b", "c", "d"),
    ],
)
def test_a_gap_in_the_option_columns_is_an_error_about_the_file(
    folder: Folder, names: tuple[str, ...]
) -> None:
    rows = [(*row[:5], "ABCD"[n % 4]) for n, row in enumerate(MANY)]
    content = as_csv(rows, ("Question", *names, "Answer"))
    folder({"test/hk_law.csv": content, "test/hk_music.csv": as_csv(MANY * 100)})
    with pytest.raises(
        DataCorrupt, match=r"hk_law\.csv(: it is unclear which columns are|, row 5 has an)"
    ):
        load_task("hkmmlu")


# ------------------------------------------------------------------------------- translation

PAIR = ("佢哋啱啱返咗屋企，仲未食飯。", "他们刚刚回家，还没有吃饭。")


@pytest.mark.parametrize(
    "name", ["can2man", "yue_zh", "Cantonese-to-Mandarin", "translation/canto2mando_test", "yue2zh"]
)
@pytest.mark.parametrize(
    "columns",
    [("input", "output"), ("source", "target"), ("Cantonese", "Mandarin"), ("yue", "zh")],
)
@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_translation_files_are_recognised_by_these_names(
    folder: Folder, name: str, columns: tuple[str, str], ending: str
) -> None:
    if ending == "csv":
        content = as_csv([PAIR], columns)
    else:
        content = json.dumps(dict(zip(columns, PAIR, strict=True)))
    folder({f"{name}.{ending}": content, "test/hk_law.csv": as_csv([LAW])})
    (sample,) = load_task("hkmmlu_translation_yue_zh").samples
    assert (sample.source, sample.target) == PAIR
    with pytest.raises(DataNotFound, match="no test file of hkmmlu_translation_zh_yue"):
        load_task("hkmmlu_translation_zh_yue")


@pytest.mark.parametrize("name", ["man2can", "zh_yue", "mandarin_to_cantonese", "普譯粵"])
def test_the_other_direction_is_distinguished(folder: Folder, name: str) -> None:
    record = json.dumps({"input": PAIR[1], "output": PAIR[0]})
    folder({f"{name}.jsonl": record, "can2man.jsonl": json.dumps({"yue": PAIR[0], "zh": PAIR[1]})})
    for task, (source, target) in {"zh_yue": PAIR[::-1], "yue_zh": PAIR}.items():
        (sample,) = load_task(f"hkmmlu_translation_{task}").samples
        assert (sample.source, sample.target) == (source, target)


def test_one_file_with_a_column_for_each_language_is_both_directions(folder: Folder) -> None:
    folder({"translation/test.jsonl": json.dumps({"Cantonese": PAIR[0], "Mandarin": PAIR[1]})})
    for task, (source, target) in {"zh_yue": PAIR[::-1], "yue_zh": PAIR}.items():
        (sample,) = load_task(f"hkmmlu_translation_{task}").samples
        assert (sample.source, sample.target) == (source, target)


# ------------------------------------------------------------------------------- stems

SUBJECTS = find_task("hkmmlu").subjects


def matched(*stems: str, **rows: int) -> dict[str, str]:
    found = match_stems(stems, SUBJECTS, "hkmmlu", lambda stem: rows.get(stem, -1))
    return {stem: subject.name for stem, subject in found.items()}


@pytest.mark.parametrize(
    ("stem", "subject"),
    [
        ("hk_film_television", "hk_film_and_television"),
        ("hkdse_physics", "hkdse_physics"),
        ("HKDSE_ICT", "hkdse_information_and_communication_technology"),
        ("Hong Kong Current Affair", "hk_current_affairs"),
        ("hongkong-party-politics", "hk_party_politics"),
        ("culture_world_chinese", "chinese_and_world_culture"),
        ("HK_human_behaviour", "human_behavior"),
        ("香港民生", "hk_livelihood"),
        ("mechanical_engineering", "mechanical"),
    ],
)
def test_a_stem_is_matched_by_name_alias_or_words(stem: str, subject: str) -> None:
    assert matched(stem) == {stem: subject}


def test_what_two_subjects_could_be_is_not_guessed() -> None:
    assert matched("hk_geography", "geography_of_somewhere", "hk") == {}


def test_what_is_left_is_matched_by_the_published_number_of_rows() -> None:
    # Published: hk_celebrity 1262; cultural_commonsense and chinese_and_world_geography 159 both.
    assert matched("stars", "wisdom", "x", stars=1262, wisdom=159, x=7) == {"stars": "hk_celebrity"}


def test_words_that_tell_nothing_apart_are_left_out() -> None:
    assert words("HKMMLU-yue2zh translation", "hkmmlu") == ("yue", "zh")


def test_what_stays_unmatched_is_one_error_that_shows_how_to_map_it(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder({"test/hk_law.csv": as_csv([LAW]), "test/songs.csv": as_csv([MUSIC])})
    with pytest.raises(DataNotFound) as raised:
        load_task("hkmmlu")
    message = str(raised.value)
    assert "65 subjects have no file, and 1 files belong to no known subject" in message
    assert "hk_music" in message
    assert "files: songs" in message
    assert "HKCANTO_ALIASES='songs=" in message
    assert len(load_task("hkmmlu_hk_law").samples) == 1  # only the requested subjects
    monkeypatch.setenv("HKCANTO_ALIASES", "songs=hk_music")
    assert {sample.subject for sample in load_task("hkmmlu").samples} == {"hk_law", "hk_music"}


def test_a_file_may_map_the_stems(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder({"test/songs.csv": as_csv([MUSIC])})
    (tmp_path / "aliases").write_text("# mine\nsongs = hk_music\n", encoding="utf-8")
    monkeypatch.setenv("HKCANTO_ALIASES", str(tmp_path / "aliases"))
    assert load_task("hkmmlu_hk_music").samples
    monkeypatch.setenv("HKCANTO_ALIASES", str(tmp_path / "nothing"))
    with pytest.raises(DataNotFound, match="neither stem=subject"):
        load_task("hkmmlu_hk_music")


# ------------------------------------------------------------------------------- bad rows

MANY = [(f"第{n}題：{LAW[0]}", *LAW[1:]) for n in range(200)]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("壞題,甲,乙,丙,丁,E", "an answer that is none of its options"),
        ("壞題,甲,乙,丙,丁,", "no answer"),
        ("壞題,甲,乙,A", "4 cells instead of 6"),
        ('"壞"題,甲,乙,丙,丁,A', "a stray or missing quote"),
        ('"壞題,甲,乙,丙,丁,A', "a stray or missing quote"),
    ],
)
def test_a_bad_row_costs_a_row(
    folder: Folder, caplog: pytest.LogCaptureFixture, row: str, reason: str
) -> None:
    header, *lines = as_csv(MANY).splitlines()
    whole = load(folder, "\r\n".join([header, *lines, ""]))
    loaded = load(folder, "\r\n".join([header, *lines[:99], row, *lines[99:], ""]))
    assert len(loaded.samples) == 200
    assert {sample.question for sample in loaded.samples} == {
        sample.question for sample in whole.samples
    }
    assert "|data:local-" in loaded.at(shots=0).signature
    assert "-1rows|" in loaded.at(shots=0).signature
    assert "1 unreadable rows were set aside" in caplog.text
    from hkcanto_tasks.catalogue import find_benchmark
    from hkcanto_tasks.doctor import data

    details = " ".join(data(find_benchmark("hkmmlu")).details)
    assert f"hk_law.csv, row 101: {reason}" in details
    assert "壞題" not in details


def load(folder: Folder, content: str) -> Any:
    folder({"test/hk_law.csv": content})
    return load_task("hkmmlu_hk_law")


def test_ids_do_not_move_when_a_row_is_bad(folder: Folder) -> None:
    rows = [list(row) for row in MANY]
    rows[50][5] = "E"
    loaded = load(folder, as_csv(rows))
    numbers = sorted(int(sample.id.rpartition("/")[2]) for sample in loaded.samples)
    assert numbers == [n for n in range(1, 201) if n != 51]


def test_more_than_one_in_a_hundred_is_an_error(folder: Folder) -> None:
    rows = [list(row) for row in MANY]
    for n in (3, 50):
        rows[n][5] = "E"
    assert len(load(folder, as_csv(rows)).samples) == 198
    rows[70][5] = "E"
    with pytest.raises(DataCorrupt, match=r"3 of 200 rows cannot be read, more than 1%") as raised:
        load(folder, as_csv(rows))
    assert "row 5: an answer" in str(raised.value)


@pytest.mark.parametrize("split", ["test", "dev"])
def test_a_bad_row_does_not_affect_other_subjects(folder: Folder, split: str) -> None:
    bad = [(*LAW[:5], "E")] * 5
    folder({"test/hk_law.csv": as_csv(MANY), "test/hk_music.csv": as_csv([MUSIC]),
            f"{split}/hk_law.csv": as_csv(bad)})  # fmt: skip
    assert len(load_task("hkmmlu_hk_music").samples) == 1
    if split == "dev":
        assert len(load_task("hkmmlu_hk_law").samples) == 200
        with pytest.raises(DataCorrupt, match=r"dev/hk_law\.csv"):
            load_task("hkmmlu_hk_law").at(shots=1).shots("hk_law")
    else:
        with pytest.raises(DataCorrupt, match=r"5 of 5 rows cannot be read"):
            load_task("hkmmlu")


def test_a_blank_right_option_is_kept_with_a_warning(
    folder: Folder, caplog: pytest.LogCaptureFixture
) -> None:
    loaded = load(folder, as_csv([("哪個？", "甲", " ", "", "丁", "B")]))
    (sample,) = loaded.samples
    assert sample.choices == ("甲", " ", None, "丁")
    assert "B.  \nD. 丁" in loaded.setup.turn(sample)
    assert "the right option is blank" in caplog.text


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "Git LFS pointer"),
        (as_csv(MANY)[:-9], "truncated"),
        (as_csv([*MANY, LONG])[:-20], "truncated"),
        (as_csv(MANY).replace("律政司", "律\0政司", 1), "NUL character"),
        (as_csv([("a", "b")] * 9, ("name", "value")), "9 of 9 rows cannot be read.*no column"),
        (as_csv(MANY, MANY[0]), "199|200 of 20. rows cannot be read"),
        ("", "empty"),
        ("<!DOCTYPE html><html></html>", "HTML page"),
    ],
)
def test_a_file_that_is_not_data_is_an_error(folder: Folder, content: str, complaint: str) -> None:
    with pytest.raises(DataCorrupt, match=rf"(?s)hk_law.*({complaint})"):
        load(folder, content)


def test_a_file_without_a_header_and_with_a_cell_too_many_is_an_error(folder: Folder) -> None:
    rows = [[*row[:5], "A", row[5]] for row in MANY]
    content = as_csv(rows[1:], rows[0])
    folder({"cultural/test/food_test.csv": content}, "hkeval2025")
    with pytest.raises(DataCorrupt, match=r"200 of 200 rows .* 7 cells instead of 6"):
        load_task("hkcanto_cultural_food")


# ------------------------------------------------------------------------------- examples


def test_no_dev_file_is_needed_for_0_shots_and_its_absence_is_said(folder: Folder) -> None:
    folder({"test/hk_law.csv": as_csv([LAW])})
    loaded = load_task("hkmmlu_hk_law")
    assert loaded.at(shots=0).prompt(loaded.samples[0]).text()
    with pytest.raises(OptionError, match=r"hk_law: shots=1.* no dev file for it\. Ask for 0"):
        loaded.at(shots=1).prompt(loaded.samples[0])


def test_a_chain_of_thought_takes_the_papers_example_if_the_release_has_no_reasoning(
    folder: Folder,
) -> None:
    folder({"test/hk_law.csv": as_csv([LAW]), "dev/hk_law.csv": as_csv([LONG])})
    loaded = load_task("hkmmlu_cot_1shot")
    text = loaded.at(shots=1).prompt(loaded.samples[0]).text()
    assert "問題: 《英皇制誥》作爲香港殖民地時期的憲制性文件" in text
    assert "正確答案是選項A。\n答案: A" in text
    assert "|rationale:paper|" in loaded.at(shots=1).signature
    assert "rationale:" not in loaded.at(shots=0).signature


def test_a_chain_of_thought_takes_the_releases_reasoning_if_there_is_any(folder: Folder) -> None:
    folder({
        "test/hk_law.csv": as_csv([LAW]),
        "dev/hk_law.csv": as_csv([(*LONG, "因為己。")], (*COLUMNS, "解析")),
    })  # fmt: skip
    loaded = load_task("hkmmlu_cot_1shot")
    assert "推理: 因為己。\n答案: D" in loaded.at(shots=1).prompt(loaded.samples[0]).text()
    assert "|rationale:release|" in loaded.at(shots=1).signature


@pytest.mark.parametrize("column", ["explanation", "Reasoning", "rationale", "解析"])
def test_tmmluplus_takes_the_reasoning_from_its_second_data_set(
    folder: Folder, column: str
) -> None:
    folder(
        {"data/physics_test.csv": as_csv([LAW]), "data/physics_dev.csv": as_csv([LONG])},
        "tmmluplus",
    )
    explained = [(*row, f"因為{n}。") for n, row in enumerate([LONG] * 5)]
    folder({"data/physics_dev.csv": as_csv(explained, (*COLUMNS, column))}, "tmmluplus_cot")
    loaded = load_task("tmmluplus_gen_cot")
    text = loaded.at(shots=5).prompt(loaded.samples[0]).text()
    assert text.count("讓我們一步一步思考，因為") == 5
    assert "|rationale:tmmluplus_cot@local-" in loaded.at(shots=5).signature


def test_tmmluplus_without_reasoning_anywhere_is_refused(folder: Folder) -> None:
    folder(
        {"data/physics_test.csv": as_csv([LAW]), "data/physics_dev.csv": as_csv([LONG])},
        "tmmluplus",
    )
    loaded = load_task("tmmluplus_gen_cot")
    assert loaded.at(shots=0).prompt(loaded.samples[0]).text()
    with pytest.raises(OptionError, match=r"(?s)ikala/tmmluplus_cot cannot be used.*fewshot 0"):
        loaded.at(shots=5).prompt(loaded.samples[0])


# ------------------------------------------------------------------------------- counts


def test_a_few_rows_more_in_a_subject_are_no_matter_if_the_total_is_right(
    folder: Folder, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    counts = {subject.name: subject.rows for subject in SUBJECTS}
    counts["hk_film_and_television"] += 7
    counts["hk_music"] -= 4
    counts["hk_law"] -= 3
    folder(
        {
            f"test/{stem}.csv": as_csv(([LAW, LONG] * count)[:count])
            for stem, count in counts.items()
        }
    )
    loaded = load_task("hkmmlu")
    assert len(loaded.samples) == 26_368
    assert loaded.remark == ""
    assert "not comparable" not in caplog.text
    assert "3 have another number of items" in caplog.text


def test_the_warning_is_one_line(folder: Folder, caplog: pytest.LogCaptureFixture) -> None:
    folder({"test/hk_law.csv": as_csv([LAW])})
    load_task("hkmmlu")
    (record,) = caplog.records
    message = record.getMessage()
    assert "65 of 66 subjects are missing, 1 have another number of items" in message
    assert "not comparable with published scores" in message
    assert "hkcanto doctor" in message
    assert "\n" not in message


def test_the_papers_chinese_names_are_kept() -> None:
    names = {subject.name: subject.chinese for subject in find_task("tmmluplus_gen").subjects}
    assert names["tve_design"] == "統測_設計"
