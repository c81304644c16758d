"""docs/examples/sinitic reads people's marks and compares judges with them."""

import json
import math
import os
import re
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from inspect_ai import eval as inspect_eval

from hkcanto.judges import judged_translation
from hkcanto_metrics.error_spans import ERROR_CATEGORIES, ErrorSpan

from ..cases import named
from ..scripts import REPOSITORY, load_script
from ..unwatched import UNWATCHED
from .test_judges import TRANSLATION, code_of, error, labels, model, run, says


@pytest.fixture(autouse=True)
def example_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the example's folder first on the import path, as Python does for a script."""
    monkeypatch.syspath_prepend(REPOSITORY / "docs" / "examples" / "sinitic")


@pytest.fixture
def errors() -> ModuleType:
    """The example's reader."""
    return load_script("docs/examples/sinitic/marked_errors.py")


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
    texts = {
        "src": "He goes to the cinema & eats.",
        "mt": mt,
        "ref": "佢去戲院睇戲同食飯。",
    }
    return {
        "id": number,
        **texts,
        "annotations": {"annotatedSpans": list(marks)},
        **more,
    }


def file(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "cantonese.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows), "utf-8")
    return path


def test_errors_have_their_positions_in_the_translation(
    tmp_path: Path, errors: ModuleType
) -> None:
    """The annotator's text is 佢去[戲院],睇戲[，] 食飯[。]; positions refer to this text."""
    marks = [
        mark("食飯", 9, "Mistranslation", "Major"),
        mark("，", 7, "Typography"),
        mark("戲院", 2, "Omission", "Major"),
        mark(",", 4, "Typography"),
        mark("。", 11, "Typography"),
    ]
    [made] = errors.read_marked(file(tmp_path, row(0, *marks)))
    assert [(each.category, each.start, each.end) for each in made.spans] == [
        ("Orthography", 2, 3),
        ("Mistranslation", 6, 8),
    ]
    assert made.left_out == 2
    assert made.categories == {"Orthography", "Mistranslation", "Omission"}
    assert made.penalty == pytest.approx(5 + 5 + 3 * 0.1)
    # (8 - 3) / (8 + 2 · 29 / 10), with 5.8 characters of the source as 6.
    assert made.accuracy == pytest.approx(5 / 14)
    assert [of(made) for of in errors.TARGETS.values()] == pytest.approx(
        [5 / 14, -10.3 / 29, -10.3 / 8]
    )


def test_a_place_that_is_off_is_the_nearest_one(
    tmp_path: Path, errors: ModuleType
) -> None:
    marks = [mark("戲", 9, "Mistranslation"), mark("戲", 0, "Mistranslation")]
    [made] = errors.read_marked(file(tmp_path, row(0, *marks, mt="戲一二三四五六七戲")))
    assert sorted(each.start for each in made.spans) == [0, 8]


def test_both_sets_of_error_categories_map_to_common_ones(errors: ModuleType) -> None:
    assert {errors.common(each) for each in ERROR_CATEGORIES} == set(errors.CATEGORIES)


def test_a_few_useless_marks_are_left_out_and_many_are_an_error(
    tmp_path: Path, errors: ModuleType
) -> None:
    good = [row(number, *[mark("佢", 0, "Grammar")] * 10) for number in range(20)]
    [*_, made] = errors.read_marked(
        file(tmp_path, *good, row(20, {"error_severity": "Major"}))
    )
    assert made.penalty == 0
    bad = [mark("佢", 0, "Tone"), mark("佢", 0, "Grammar", "Critical")]
    with pytest.raises(ValueError, match=r"2 of 2 marks lack .*Minor, Major"):
        errors.read_marked(file(tmp_path, row(0, *bad)))


def test_a_file_in_another_format_is_refused(
    tmp_path: Path, errors: ModuleType
) -> None:
    for rows, message in [
        ([row(0), row(0)], "the id 0 occurs more than once"),
        ([row(0, annotations={})], "no list annotatedSpans"),
        ([row(0, mt="")], "src, mt and ref must have a text"),
    ]:
        with named(rows, message), pytest.raises(ValueError, match=message):
            errors.read_marked(file(tmp_path, *rows))


def test_a_file_must_be_there(tmp_path: Path, errors: ModuleType) -> None:
    with pytest.raises(FileNotFoundError):
        errors.read_marked(tmp_path / "nowhere.jsonl")


@pytest.mark.realdata
def test_nearly_all_marks_of_the_release_have_their_place(errors: ModuleType) -> None:
    path = Path(os.environ["HKCANTO_DATA_DIR"]) / "sinitic_mt_error" / "cantonese.jsonl"
    marked = errors.read_marked(path)
    assert len(marked) == 1402
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    listed = [each for row in rows for each in row["annotations"]["annotatedSpans"]]
    elsewhere = [
        each for each in listed if each.get("error_type") in {"Omission", "Typography"}
    ]
    placed = sum(each.category != "Orthography" for one in marked for each in one.spans)
    spelling = sum(each.get("error_type") == "Spelling" for each in listed)
    assert placed > 0.98 * (len(listed) - len(elsewhere) - spelling)


# People marked 0, 1, 2, … of eight characters, and the judge one less.
ROWS = [
    row(
        n,
        mark("一二三四五六七八"[:n], 0, "Mistranslation"),
        mt="一二三四五六七八",
        src="x" * 10 * n,
    )
    for n in range(1, 8)
]


def finds(messages: list[Any], _: Any) -> str:
    """Mark one character less than people, in other words; omit something in the first."""
    prompt = messages[0].text
    length = len(re.findall("x{10,}", prompt)[0]) // 10
    found = (
        [error("一二三四五六七八"[: length - 1], "Register Issues")]
        if length > 1
        else []
    )
    found += [error("x", "Omission")] if length == 1 else []
    return json.dumps({"code": code_of(prompt), **labels(*found)})


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    return file(tmp_path, *ROWS)


@pytest.fixture
def log(marked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(REPOSITORY)
    (log,) = inspect_eval(
        "docs/examples/sinitic/task.py",
        task_args={"path": str(marked), "judgements": 2},
        model="none",
        model_roles={"grader": model(finds)},
        log_dir=str(tmp_path / "own"),
        **UNWATCHED,
    )
    assert log.status == "success", log.error
    return log


def compared(folder: Path, *arguments: Any) -> Any:
    """The tables that the script writes, by name."""
    script = load_script("docs/examples/sinitic/compare.py")
    script.main([*map(str, arguments), "--json", str(folder / "made.json")])
    return json.loads((folder / "made.json").read_text("utf-8"))


def test_a_judge_is_compared_with_people_and_with_metrics(
    log: Any, marked: Path, tmp_path: Path
) -> None:
    tables = compared(tmp_path, marked, log.location)
    ranks = tables["ranks"]
    assert [each["judge or metric"] for each in ranks][:3] == [
        "Judge mockllm/model",
        "bleu",
        "bleu_2",
    ]
    # People's accuracies are 7/8, 6/8 … 1/8, the judge's 8/9, 7/8, … 2/8: the same order.
    assert ranks[0]["spearman, accuracy"]["value"] == pytest.approx(1)
    assert ranks[0]["kendall, accuracy"]["value"] == pytest.approx(1)
    whole, *thirds = tables["bias_1"]
    assert whole["bias"]["value"] == pytest.approx((8 / 9 - 7 / 8 + 6 / 8) / 7)
    assert [each["segments"] for each in thirds] == [3, 2, 2]
    assert thirds[1]["bias"]["value"] == pytest.approx(1 / 8)


def test_the_errors_that_it_finds_are_compared_by_category(
    log: Any, marked: Path, tmp_path: Path
) -> None:
    spans = {
        each["category"]: each
        for each in compared(tmp_path, marked, log.location)["spans_1"]
    }
    found = spans["Mistranslation"]
    # The judge marked 21 of the 28 characters, and 6 of the 7 spans and segments.
    assert found["F1, characters"]["value"] == pytest.approx(2 * 21 / (28 + 21))
    assert found["F1, spans"]["value"] == pytest.approx(2 * 6 / (7 + 6))
    assert found["F1, segments"]["value"] == pytest.approx(2 * 6 / (7 + 6))
    assert found["people"] == 1
    assert found["judge"] == pytest.approx(6 / 7)
    assert spans["Omission"]["F1, segments"]["value"] == 0
    assert spans["Omission"]["F1, characters"] is None
    assert spans["All"]["F1, segments"]["value"] == 1


def test_a_segment_that_is_judged_four_times_counts_once(
    log: Any, marked: Path
) -> None:
    script = load_script("docs/examples/sinitic/compare.py")
    twice, people = script.judged_run(log.location), script.read_marked(marked)
    four, once = (
        replace(
            twice,
            samples={
                name: replace(each, judgements=each.judgements[:1] * count)
                for name, each in twice.samples.items()
            },
        )
        for count in (4, 1)
    )
    # As text, since an unknown standard error is NaN, which equals nothing.
    assert repr(script.spans(four, people)) == repr(script.spans(once, people))


def test_another_log_of_the_same_judge_is_corrected(
    log: Any, marked: Path, tmp_path: Path
) -> None:
    """The judge gives it 1, and its bias is known from the translations that people marked."""
    grader = says(labels())
    other = run(
        judged_translation("en_yue", 1), grader, tmp_path / "other", *[TRANSLATION] * 2
    )
    for sample in other.samples:  # ids like a benchmark's, not the file's
        sample.id = f"hkcanto_translation_en_yue/{sample.id}"
    from inspect_ai.log import write_eval_log

    write_eval_log(other, other.location)
    tables = compared(tmp_path, marked, log.location, other.location)
    [row] = tables["corrected"]
    assert row["judged"] == 1
    assert row["corrected"]["value"] == pytest.approx(1 - (8 / 9 - 7 / 8 + 6 / 8) / 7)
    with pytest.raises(SystemExit, match="no log has judgements"):
        compared(tmp_path, marked, other.location)


def test_a_log_of_other_translations_by_these_ids_is_refused(
    marked: Path, tmp_path: Path
) -> None:
    log = run(
        judged_translation("en_yue", 1), says(labels()), tmp_path, *[TRANSLATION] * 3
    )
    with pytest.raises(SystemExit, match="another translation under the id 1"):
        compared(tmp_path, marked, log.location)


def test_without_a_log_the_metrics_are_compared(marked: Path, tmp_path: Path) -> None:
    tables = compared(tmp_path, marked)
    assert list(tables) == ["ranks"]
    assert [each["judge or metric"] for each in tables["ranks"]] == [
        *("bleu", "bleu_2", "chrf", "meteor", "rouge_l", "mean"),
    ]


@pytest.mark.slow
def test_f1_of_spans_is_covered_by_a_bootstrap_of_segments() -> None:
    # Four equal judgements of a segment; taken as independent, intervals cover in 70 to 82 %.
    script, rng = (
        load_script("docs/examples/sinitic/compare.py"),
        np.random.default_rng(3),
    )
    held = []
    for _ in range(200):
        marked = rng.poisson(1.5, 60)
        shared = rng.binomial(marked, 0.6)
        found = shared + rng.poisson(0.75, 60)  # 0.6 and 0.5 for each mark
        rows = 4 * np.column_stack([shared, found, marked])
        made = script._f1([script.Overlap(*row) for row in rows.tolist()])
        held.append(made.low <= 2 * 0.6 / (1 + 0.6 + 0.5) <= made.high)
    assert 0.95 - 3 * math.sqrt(0.95 * 0.05 / 200) < np.mean(held) < 0.99


def spans(*places: tuple[int, int]) -> list[ErrorSpan]:
    return [ErrorSpan("Mistranslation", *place) for place in places]


def test_annotations_are_compared_by_characters_and_by_spans_that_touch() -> None:
    script = load_script("docs/examples/sinitic/compare.py")
    judge, people = spans((0, 3), (2, 4)), spans((3, 6), (8, 9))
    assert script.overlap_of_characters(judge, people) == script.Overlap(1, 4, 4)
    long, short = spans((0, 6)), spans((0, 2), (4, 6))
    assert script.overlap_of_spans(long, short) == script.Overlap(1, 1, 2)
    assert script.overlap_of_spans(short, long) == script.Overlap(1, 2, 1)
    assert script.overlap_of_spans(spans((0, 2)), spans((2, 4))).shared == 0
    assert (
        script.overlap_of_spans(spans((0, 2), (1, 6)), spans((4, 5), (0, 1))).shared
        == 2
    )
