"""Translations in which people marked the errors: read from the layout of SiniticMTError."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hkcanto_metrics.error_spans import ERROR_CATEGORIES
from hkcanto_tasks.agreement.human_errors import CATEGORIES, TARGETS, common, read_marked
from hkcanto_tasks.errors import DataCorrupt, DataNotFound


def mark(text: str, start: int, kind: str, severity: str = "Minor") -> dict[str, Any]:
    return {
        "error_text_segment": text,
        "start_index": start,
        "end_index": start + len(text),
        "error_type": kind,
        "error_severity": severity,
    }


def row(
    number: int, *marks: dict[str, Any], mt: str = "佢去,睇戲 食飯", **more: Any
) -> dict[str, Any]:
    texts = {"src": "He goes to the cinema & eats.", "mt": mt, "ref": "佢去戲院睇戲同食飯。"}
    return {"id": number, **texts, "annotations": {"annotatedSpans": list(marks)}, **more}


def file(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "cantonese.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows), "utf-8")
    return path


def test_errors_stand_where_they_do_in_the_translation(tmp_path: Path) -> None:
    """佢去[戲院],睇戲[，] 食飯[。] is what the annotator made of it: places count in that."""
    marks = [
        mark("食飯", 9, "Mistranslation", "Major"),
        mark("，", 7, "Typography"),
        mark("戲院", 2, "Omission", "Major"),
        mark(",", 4, "Typography"),
        mark("。", 11, "Typography"),
    ]
    [made] = read_marked(file(tmp_path, row(0, *marks)))
    assert [(each.category, each.start, each.end) for each in made.spans] == [
        ("Orthography", 2, 3),
        ("Mistranslation", 6, 8),
    ]
    assert made.left_out == 2
    assert made.categories == {"Orthography", "Mistranslation", "Omission"}
    assert made.penalty == pytest.approx(5 + 5 + 3 * 0.1)
    # (8 - 3) / (8 + 2 · 29 / 10), with 5.8 characters of the source as 6.
    assert made.accuracy == pytest.approx(5 / 14)
    assert [of(made) for of in TARGETS.values()] == pytest.approx([5 / 14, -10.3 / 29, -10.3 / 8])


def test_a_place_that_is_off_is_the_nearest_one(tmp_path: Path) -> None:
    marks = [mark("戲", 9, "Mistranslation"), mark("戲", 0, "Mistranslation")]
    [made] = read_marked(file(tmp_path, row(0, *marks, mt="戲一二三四五六七戲")))
    assert sorted(each.start for each in made.spans) == [0, 8]


def test_the_papers_categories_and_theirs_have_common_ones() -> None:
    assert {common(each) for each in ERROR_CATEGORIES} == set(CATEGORIES)


def test_a_few_useless_marks_are_left_out_and_many_are_an_error(tmp_path: Path) -> None:
    good = [row(number, *[mark("佢", 0, "Grammar")] * 10) for number in range(20)]
    [*_, made] = read_marked(file(tmp_path, *good, row(20, {"error_severity": "Major"})))
    assert made.penalty == 0
    bad = [mark("佢", 0, "Tone"), mark("佢", 0, "Grammar", "Critical")]
    with pytest.raises(DataCorrupt, match=r"2 of 2 marks lack .*Minor, Major"):
        read_marked(file(tmp_path, row(0, *bad)))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([row(0), row(0)], "an id occurs more than once"),
        ([row(0, annotations={})], "no list annotatedSpans"),
        ([row(0, mt="")], "no text for the translation"),
    ],
)
def test_a_file_that_is_no_such_file_is_refused(
    tmp_path: Path, rows: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(DataCorrupt, match=message):
        read_marked(file(tmp_path, *rows))


def test_a_file_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(DataNotFound, match=r"nowhere\.jsonl"):
        read_marked(tmp_path / "nowhere.jsonl")


@pytest.mark.realdata
def test_nearly_all_marks_of_the_release_have_their_place() -> None:
    path = Path(os.environ["HKCANTO_DATA_DIR"]) / "sinitic_mt_error" / "cantonese.jsonl"
    marked = read_marked(path)
    assert len(marked) == 1402
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    listed = [each for row in rows for each in row["annotations"]["annotatedSpans"]]
    elsewhere = [each for each in listed if each.get("error_type") in {"Omission", "Typography"}]
    placed = sum(each.category != "Orthography" for one in marked for each in one.spans)
    spelling = sum(each.get("error_type") == "Spelling" for each in listed)
    assert placed > 0.98 * (len(listed) - len(elsewhere) - spelling)
