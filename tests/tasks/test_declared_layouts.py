"""The layouts of public data sets are declared, by paths, numbers and labels, without a reader."""

import gzip
import json
from typing import Any

import pytest

from hkcanto_tasks import describe, load_task
from hkcanto_tasks.data.tables import Row
from hkcanto_tasks.errors import (
    CatalogueError,
    DataCorrupt,
    DataNotFound,
    OptionError,
)

from .quiz import Quiz, as_csv, items, prompts, read

TEXTS = ("旺角", "灣仔", "沙田", "元朗")
PLAIN = {"question": "邊度喺新界東？", "answer": "C"}
EXPECTED = (PLAIN["question"], TEXTS, "C")
TEST = 'files = "test.json"\n'


# ---------------------------------------------------------------------- paths


def test_a_path_leads_into_a_cell_in_prompts_columns_and_options(quiz: Quiz) -> None:
    row = {
        "about": {"Place": ["香港", "九龍"]},
        "q": {"stem": PLAIN["question"]},
        "choices": [*TEXTS],
        "gold": ["C"],
    }
    options = ", ".join(f'"choices.{number}"' for number in range(4))
    for declared in ('"choices"', f"[{options}]"):
        quiz(
            f'columns = {{ question = "q.stem", options = {declared}, answer = "gold.0" }}',
            row,
            question="{about.place.1}：{question}",
        )
        assert read() == [EXPECTED]
        assert prompts() == [f"九龍：{PLAIN['question']}"]
    (folder := quiz("")).joinpath("data/test.jsonl").write_text(json.dumps(row))
    quiz(
        'files = "test.jsonl"\n'
        'columns = { question = "q.stem", options = "choices", answer = "gold.0" }',
        question="{about.place.0}：{question}",
    )
    assert folder.is_dir()
    assert prompts() == [f"香港：{PLAIN['question']}"]


def test_a_path_that_leads_nowhere_is_refused(quiz: Quiz) -> None:
    row = {**PLAIN, **dict(zip("ABCD", TEXTS, strict=True)), "about": {"place": []}}
    quiz("", row, question="{about.place.0}{question}")
    with pytest.raises(Exception, match=r"\{about\.place\.0\}, but nothing fills it"):
        items()
    second = {**row, "about": {"place": ["香港"]}}
    quiz("", second, row, question="{about.place.0}{question}")
    with pytest.raises(DataCorrupt, match=r"row 2 has no text in a column about"):
        items()


# ---------------------------------------------------------------------- options

ARC = {"text": [*TEXTS], "label": ["A", "B", "C", "D"]}
RECORDS = [{"key": key, "text": text} for key, text in zip("ABCD", TEXTS, strict=True)]


@pytest.mark.parametrize(
    ("row", "declared"),
    [
        ({"choices": ARC}, 'columns = { options = "choices.text" }'),
        ({"choices": RECORDS}, 'columns = { options = "choices.text" }'),
        ({"choices": dict(zip("abcd", TEXTS, strict=True))}, 'columns = { options = "choices" }'),
        (
            {"choices": {"label": [*"1234"], "text": [*TEXTS]}, "answer": "3"},
            'columns = { options = "choices.text", labels = "choices.label" }\nanswer = "label"',
        ),
        (
            {"choices": dict(zip("甲乙丙丁", TEXTS, strict=True)), "answer": "丙"},
            'columns = { options = "choices" }\nanswer = "label"',
        ),
        (
            {"mc1": {"choices": [*TEXTS], "labels": [0, 0, 1, 0]}},
            'columns = { options = "mc1.choices", answer = "mc1.labels" }\nanswer = "flags"\n'
            'ignored = ["answer"]',
        ),
    ],
)  # fmt: skip
def test_the_hubs_layouts_of_options_are_declared(
    quiz: Quiz, row: dict[str, Any], declared: str
) -> None:
    quiz(declared, {**PLAIN, **row})
    assert read() == [EXPECTED]
    assert not load_task("quiz").differences


def test_a_label_names_its_own_option_in_any_order(quiz: Quiz) -> None:
    turned = [*reversed(RECORDS)]
    plain = 'columns = { options = "choices.text" }'
    quiz(plain, {**PLAIN, "choices": turned})
    with pytest.raises(DataCorrupt, match=r'labels = "choices\.key"'):
        items()
    quiz(
        'columns = { options = "choices.text", labels = "choices.key" }\nanswer = "label"',
        {**PLAIN, "choices": turned},
    )
    assert read() == [(PLAIN["question"], TEXTS[::-1], "B")]


def test_labels_and_flags_that_do_not_fit_are_refused(quiz: Quiz) -> None:
    by_label = 'columns = { options = "choices.text", labels = "choices.label" }\nanswer = "label"'
    flags = 'columns = { options = "choices.text", answer = "flags" }\nanswer = "flags"'
    for declared, row, says in (
        (by_label, {"choices": {**ARC, "label": ["A", "B", "C", "C"]}}, "no label"),
        (by_label, {"choices": {**ARC, "label": ["A", "B"]}}, "no label"),
        (by_label, {"choices": ARC, "answer": "E"}, "names none of"),
        (flags, {"choices": ARC, "flags": [1, 1, 0, 0]}, "multi_answer"),
        (flags, {"choices": ARC, "flags": [0, 1]}, "no list of a 0 or 1"),
        (flags, {"choices": ARC, "flags": [0, 2, 0, 0]}, "no list of a 0 or 1"),
        (flags, {"choices": ARC, "flags": [0, 0, 0, 0]}, "no answer"),
        ('columns = { options = "choices" }', {"choices": RECORDS}, "choices.text"),
    ):
        quiz(declared, {**PLAIN, **row})
        with pytest.raises(DataCorrupt, match=says):
            items()


# ---------------------------------------------------------------------- rows


def test_an_object_of_rows_by_key_and_nested_rows_are_declared(quiz: Quiz) -> None:
    options = dict(zip("ABCD", TEXTS, strict=True))
    asked = {**PLAIN, **options}
    for rows, content in (
        ("*", {"q1": asked}),
        ("data.*", {"version": "1", "data": {"q1": asked}}),
        ("*", {"q1": [asked]}),
    ):
        quiz(f'{TEST}rows = "{rows}"\nignored = ["key"]', question="{key}：{question}")
        quiz(
            f'{TEST}rows = "{rows}"',
            question="{key}：{question}",
            files={"data/test.json": json.dumps(content)},
        )
        assert prompts() == [f"q1：{PLAIN['question']}"]
        assert load_task("quiz").differences == []
    passages = [{"text": "一段。", "qas": [asked, {**asked, "answer": "A"}]}]
    nested = {"data": [{"theme": "新界", "paragraphs": passages}]}
    quiz(
        f'{TEST}rows = "data.*.paragraphs.*.qas"',
        question="{theme}：{text}{question}",
        files={"data/test.json": json.dumps(nested)},
    )
    assert prompts() == [f"新界：一段。{PLAIN['question']}"] * 2
    assert [item.target for item in items()] == ["C", "A"]
    # A row has the cells of the entries above it, but not the entry that holds the rows.
    assert not load_task("quiz").differences
    by_key = {"data": [{"theme": "新界", "qas": {"q1": asked}}]}
    quiz(
        f'{TEST}rows = "data.*.qas.*"',
        question="{theme}：{key}：{question}",
        files={"data/test.json": json.dumps(by_key)},
    )
    assert prompts() == [f"新界：q1：{PLAIN['question']}"]
    lines = "\n".join(json.dumps(passage) for passage in passages)
    quiz(
        'files = "test.jsonl"\nrows = "*.qas"',
        question="{text}{question}",
        files={"data/test.jsonl": lines},
    )
    assert prompts() == [f"一段。{PLAIN['question']}"] * 2
    quiz(f'{TEST}rows = "data"', files={"data/test.json": json.dumps({"data": asked})})
    with pytest.raises(DataCorrupt, match=r'JSON dict.*"\*" is every entry'):
        items()


def test_rows_are_chosen_by_a_column_with_a_capital(quiz: Quiz) -> None:
    options = dict(zip("ABCD", TEXTS, strict=True))
    rows = [{**PLAIN, **options, "Region": name} for name in ("HK", "TW")]
    rows[1] |= {"answer": "A"}
    quiz('where = { Region = "HK" }\nignored = ["Region"]', *rows)
    assert read() == [EXPECTED]


def test_examples_from_the_test_file_are_not_scored_too(quiz: Quiz) -> None:
    options = dict(zip("ABCD", TEXTS, strict=True))
    rows = [{**PLAIN, **options, "question": f"第{n}條？"} for n in range(4)]
    quiz(f"{TEST}examples_from_test = 2", *rows)
    assert {item.question for item in items()} == {"第2條？", "第3條？"}
    loaded = load_task("quiz", shots=3)
    with pytest.raises(OptionError, match="there are 2 worked examples"):
        loaded.prompt(loaded.samples[0])


def test_a_file_with_another_ending_is_read_as_json_or_with_its_delimiter(
    quiz: Quiz,
) -> None:
    row = {**PLAIN, **dict(zip("ABCD", TEXTS, strict=True))}
    table = "\n".join("\t".join(line) for line in (row.keys(), row.values()))
    for content, more in (
        (json.dumps(row), ""),
        (json.dumps([row]), ""),
        (table, 'delimiter = "\\t"'),
    ):
        quiz(f'files = "test.txt"\n{more}', files={"data/test.txt": content})
        assert read() == [EXPECTED], content
    quiz('files = "test.txt"', files={"data/test.txt": table})
    with pytest.raises(DataCorrupt, match="Declare its delimiter, or write a reader"):
        items()


def test_a_compressed_file_is_read_in_a_folder_as_on_the_hub(quiz: Quiz) -> None:
    options = dict(zip("ABCD", TEXTS, strict=True))
    line = json.dumps({**PLAIN, **options}).encode()
    folder = quiz('files = "test.jsonl.gz"')
    file = folder / "data/test.jsonl.gz"
    file.write_bytes(gzip.compress(line))
    assert read() == [EXPECTED]
    file.write_bytes(gzip.compress(line)[:-9])
    with pytest.raises(DataCorrupt, match="not a complete gzip file"):
        items()
    quiz('files = "test.tsv.gz"')
    table = (
        "\t".join(("question", *"ABCD", "answer"))
        + "\n"
        + "\t".join((PLAIN["question"], *TEXTS, "C"))
    )
    (folder / "data/test.tsv.gz").write_bytes(gzip.compress(table.encode()))
    assert read() == [EXPECTED]


def test_a_label_keeps_the_id_that_its_row_has(quiz: Quiz) -> None:
    quiz(
        'columns = { id = "uid" }\nlabels = ["好", "差"]',
        {"uid": "r7", "text": "正。", "label": "好"},
        kind="label",
        question="{source}",
    )
    assert [item.id for item in items()] == ["quiz/r7"]
    assert not load_task("quiz").differences


def test_a_task_may_be_declared_among_its_variants(quiz: Quiz) -> None:
    row = {**PLAIN, **dict(zip("ABCD", TEXTS, strict=True))}
    quiz('variants = [{}, { suffix = "mc", scoring = "loglikelihood" }]', row)
    assert load_task("quiz").task.variant.scoring == "generative"
    assert load_task("quiz_mc").task.variant.scoring == "loglikelihood"


# ---------------------------------------------------------------------- no header row

ROWS = [(PLAIN["question"], *TEXTS, "C"), ("邊度最南？", *TEXTS, "B")]


@pytest.mark.parametrize(
    "columns",
    [
        "",
        'question = "1"',
        'answer = "6"',
        'question = "1", answer = "6"',
        'question = "1", options = ["2", "3", "4", "5"], answer = "6"',
    ],
)
def test_columns_without_a_header_are_called_by_their_numbers(
    quiz: Quiz, columns: str
) -> None:
    quiz(
        f'files = "test.csv"\nheader = false\ncolumns = {{ {columns} }}',
        files={"data/test.csv": as_csv(ROWS)},
    )
    assert read() == [EXPECTED, ("邊度最南？", TEXTS, "B")]


def test_numbers_name_the_columns_of_any_order_and_width(quiz: Quiz) -> None:
    turned = [(row[5], "x", *row[1:5], row[0]) for row in ROWS]
    quiz(
        'files = "test.csv"\nheader = false\nignored = ["2"]\n'
        'columns = { question = "7", options = ["3", "4", "5", "6"], answer = "1" }',
        files={"data/test.csv": as_csv(turned)},
        question="{7}\n{options}",
    )
    assert read() == [EXPECTED, ("邊度最南？", TEXTS, "B")]
    assert not load_task("quiz").differences
    swapped = [(row[5], *row[1:5], row[0]) for row in ROWS]
    quiz(
        'files = "test.csv"\nheader = false\ncolumns = { question = "6", answer = "1" }',
        files={"data/test.csv": as_csv(swapped)},
    )
    assert read() == [EXPECTED, ("邊度最南？", TEXTS, "B")]
    quiz('files = "test.csv"\nheader = false', files={"data/test.csv": as_csv(turned)})
    with pytest.raises(DataCorrupt, match=r"columns 1, 2, 3, 4, 5, 6, 7 \(declare"):
        items()


@pytest.mark.parametrize(
    "columns", ["", 'columns = { sentence = "1", jyutping = "2" }']
)
def test_a_list_of_words_and_readings_is_declared(quiz: Quiz, columns: str) -> None:
    quiz(
        f'files = "test.tsv"\nheader = false\n{columns}',
        kind="g2p",
        question="{sentence}",
        files={"data/test.tsv": "你好\tnei5 hou2\n早晨\tzou2 san4\n"},
    )
    assert [(item.id, item.source, item.target) for item in items()] == [
        ("quiz/1", "你好", "nei5 hou2"),
        ("quiz/2", "早晨", "zou2 san4"),
    ]


def test_a_row_says_whether_it_has_a_cell_at_a_path() -> None:
    row = Row(1, {"a": {"b": None}, "c.d": "7"})
    assert [row.has(name) for name in ("a.b", "a.c", "c.d", "c")] == [
        True,
        False,
        True,
        False,
    ]


# ---------------------------------------------------------------------- what is refused

OPTIONS = dict(zip("ABCD", TEXTS, strict=True))


@pytest.mark.parametrize(
    "picture",
    [
        {"bytes": None, "path": "q1.png"},
        [{"src": "https://example.org/a.JPG?x=1"}],
        "data:image/png;base64,iVBOR",
        "images/1.png",
        "clip.wav",
        {"array": [0.1, 0.2], "sampling_rate": 16000},
    ],
)
def test_a_question_on_a_picture_is_refused_unless_it_is_ignored(
    quiz: Quiz, picture: Any
) -> None:
    plain = {**PLAIN, **OPTIONS, "image": None}
    quiz("", plain, {**plain, "image": picture})
    with pytest.raises(CatalogueError, match=r"'image', which holds an image.*ignored"):
        items()
    quiz('ignored = ["image"]', plain, {**plain, "image": picture})
    assert len(items()) == 2
    quiz("", {**plain, "image": "see 1.png and 2.png"})
    assert len(items()) == 1


def test_bytes_of_a_parquet_file_are_refused(quiz: Quiz) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = quiz('files = "test.parquet"')
    (folder / "data").mkdir(exist_ok=True)
    row = {**PLAIN, **OPTIONS, "audio": b"RIFF"}
    parquet.write_table(pyarrow.Table.from_pylist([row]), folder / "data/test.parquet")
    with pytest.raises(CatalogueError, match="'audio', which holds"):
        items()


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("big5hkscs", "BIG5-HKSCS"),
        ("gb18030", "GB18030"),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16LE"),
        ("utf-16-be", "UTF-16BE"),
    ],
)
def test_another_encoding_is_named_with_the_command_that_converts_it(
    quiz: Quiz, encoding: str, name: str
) -> None:
    text = as_csv(
        [*ROWS, ("嗰間餐廳喺邊度？", *TEXTS, "A")], ("question", *"ABCD", "answer")
    )
    if encoding == "gb18030":
        text = text.replace("嗰", "那").replace("邊", "边")
    folder = quiz('files = "test.csv"')
    (folder / "data/test.csv").write_bytes(text.encode(encoding))
    with pytest.raises(DataCorrupt, match=f"is in {name}, not UTF-8.*iconv -f {name} "):
        items()
    damaged = text.encode()[:-60] + b"\xff" + text.encode()[-60:]
    (folder / "data/test.csv").write_bytes(damaged)
    with pytest.raises(DataCorrupt, match="is not UTF-8: byte 0x"):
        items()


def test_a_list_of_turns_is_refused_as_such(quiz: Quiz) -> None:
    quiz("", {**OPTIONS, "question": ["一？", "二？"], "answer": "A"})
    with pytest.raises(DataCorrupt, match=r"several turns cannot be declared"):
        items()


def test_a_text_before_the_answer_in_every_row_is_removed(quiz: Quiz) -> None:
    row = {"question": "借咗幾多？", "gold": {"text": "回答：21萬元"}}
    columns = 'columns = { answer = "gold.text" }\n'
    declared = f'{columns}prefixes = {{ answer = "回答：" }}'
    quiz(declared, row, kind="short_answer", question="{question}")
    assert items()[0].target == '["21萬元"]'
    signed = load_task("quiz").signature
    quiz(columns, row, kind="short_answer", question="{question}")
    assert items()[0].target == '["回答：21萬元"]'
    assert load_task("quiz").signature != signed
    other = {**row, "gold": {"text": "21萬元"}}
    quiz(declared, other, kind="short_answer", question="{question}")
    with pytest.raises(DataCorrupt, match="row 1 has no '回答：' before its answer"):
        items()
    quiz('prefixes = { answer = "答案：" }', {**PLAIN, **OPTIONS, "answer": "答案：C"})
    assert read() == [EXPECTED]


def test_a_list_of_answers_or_labels_is_refused_with_the_path_to_one(
    quiz: Quiz,
) -> None:
    quiz("", {**PLAIN, **OPTIONS, "answer": ["C"]})
    with pytest.raises(DataCorrupt, match=r"for the answer in answer: .* answer\.0"):
        items()
    quiz('columns = { answer = "answer.0" }', {**PLAIN, **OPTIONS, "answer": ["C"]})
    assert read() == [EXPECTED]
    labels = 'labels = ["新界", "港島"]\n'
    quiz(labels, {"text": "沙田", "label": ["新界"]}, kind="label", question="{source}")
    with pytest.raises(DataCorrupt, match=r"for the label in label: .* label\.0"):
        items()


def test_a_quotation_mark_does_not_hide_the_rows_up_to_the_next(quiz: Quiz) -> None:
    more = 'files = "test.tsv"\nlabels = ["好", "差"]\n'
    rows = 'label\ttext\n好\t"正！\n差\t伏中之伏"\n好\t掂\n'
    declared = {
        "kind": "label",
        "question": "{source}",
        "files": {"data/test.tsv": rows},
    }
    quiz(more, **declared)
    with pytest.raises(DataCorrupt, match=r"row 2 has a stray .* quotes = false"):
        items()
    quiz(f"{more}quotes = false\n", **declared)
    assert [item.source for item in items()] == ['"正！', '伏中之伏"', "掂"]


def test_a_value_that_no_row_has_is_no_missing_file(quiz: Quiz) -> None:
    quiz('where = { region = "HKG" }', {**PLAIN, **OPTIONS, "region": "HK"})
    with pytest.raises(DataNotFound, match=r"`where` in .* names a value that no row"):
        items()


def test_the_language_of_translations_into_cantonese_needs_no_entry(quiz: Quiz) -> None:
    row = {"source": "他們還沒有來。", "target": "佢哋仲未嚟㗎。"}
    quiz("", row, kind="translation_to_cantonese", question="{source}")
    assert load_task("quiz").kind.language == "yue"
    quiz("", row, kind="translation", question="{source}")
    with pytest.raises(DataCorrupt, match=r"or its `language`, .* is not declared"):
        items()


def test_a_file_of_another_name_is_not_mapped_to_nothing(quiz: Quiz) -> None:
    quiz('files = "{stem}_test.json"', files={"data/a_test.json": "[]"})
    with pytest.raises(DataNotFound) as error:
        items()
    assert "HKCANTO_ALIASES" not in str(error.value)


def test_show_counts_the_items_of_a_benchmarks_own_data(quiz: Quiz) -> None:
    quiz("", {**PLAIN, **OPTIONS}, {**PLAIN, **OPTIONS})
    assert describe("quiz").facts["items"] == "2"
