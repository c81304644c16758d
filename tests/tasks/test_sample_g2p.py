"""The Jyutping sample data is well formed, and its audit against two G2P engines is complete."""

import json
import os
import re
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pycantonese
import pytest

from hkcanto_tasks.catalogue import BENCHMARKS

G2P = BENCHMARKS / "hkcanto/sample/phonetics-g2p"
FIELDS = ["#", "split", "text", "ours", "pycantonese", "tojyutping", "reason"]
ENGINES = {"pycantonese": "5.0.0", "tojyutping": "3.2.0"}


def json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


ROWS = {
    "dev": json_lines(G2P / "dev/zh_to_jyutping_dev.json"),
    "test": json_lines(G2P / "test/zh_to_jyutping_test_gold.json"),
}
EVERY_ROW = [(split, row) for split, rows in ROWS.items() for row in rows]
ONLY_CHINESE = [
    case for case in EVERY_ROW if not re.search("[0-9A-Za-z]", case[1]["Honzi"])
]
DECISIONS: list[dict[str, Any]] = json.loads(
    (G2P / "decisions.json").read_text("utf-8")
)


def bare(text: str) -> str:
    """The text without punctuation and blanks."""
    return re.sub(r"[\W_]+", "", text)


def first_variant(gold: str) -> str:
    return re.sub(r"\(([^|]+)[^)]+\)", r"\1", gold)


def spoken(pairs: Iterable[tuple[str, str | None]]) -> str:
    """An engine's output as one string; characters that it cannot pronounce stay as written."""
    said = (
        f" {says} " if says else re.sub(r"[\W_]", " ", text) for text, says in pairs
    )
    return " ".join("".join(said).split())


def read_aloud(engine: str, sentence: str) -> str:
    if engine == "pycantonese":
        return spoken(pycantonese.characters_to_jyutping(sentence))
    import ToJyutping

    return spoken(ToJyutping.get_jyutping_list(sentence))


def accepts(gold: str, jyutping: str) -> bool:
    """Whether a variant equals this string; ``(a|b)`` has the same meaning in a regex."""
    return re.fullmatch(gold, jyutping) is not None


def test_ids_count_up_from_one_and_no_sentence_occurs_twice() -> None:
    assert len(ROWS["dev"]) == 5
    assert len(ROWS["test"]) >= 40
    for rows in ROWS.values():
        assert [row["#"] for row in rows] == list(range(1, len(rows) + 1))
    sentences = [bare(row["Honzi"]) for rows in ROWS.values() for row in rows]
    assert len(set(sentences)) == len(sentences)


def test_a_row_has_the_fields_and_the_notation_of_the_release() -> None:
    variants = r"\([a-z1-6 ]+(\|[a-z1-6 ]+)+\)"
    notation = rf"([a-z]+[1-6]|{variants})( [a-z]+[1-6]| {variants})*"
    for split, row in EVERY_ROW:
        assert list(row) == ["#", "Honzi", "Jyutping"], (split, row)
        assert re.fullmatch(notation, row["Jyutping"]), (split, row)
        for syllable in re.split(r"[ ()|]+", row["Jyutping"].strip("()")):
            (parsed,) = pycantonese.parse_jyutping(syllable)
            assert str(parsed) == syllable, (split, row)


def test_every_character_has_one_syllable() -> None:
    for split, row in ONLY_CHINESE:
        assert len(first_variant(row["Jyutping"]).split()) == len(bare(row["Honzi"])), (
            split,
            row,
        )
        for group in re.findall(r"\(([^)]+)\)", row["Jyutping"]):
            assert " " not in group, (split, row)


def test_the_table_in_the_readme_describes_every_sentence() -> None:
    text = (BENCHMARKS / "SAMPLES.md").read_text("utf-8")
    entry = r"^\| (dev|test) (\d+) \| (yue|zh) \| (formal|neutral|informal) \| .+ \|$"
    table = re.findall(entry, text, re.MULTILINE)
    assert [(split, int(number)) for split, number, *_ in table] == [
        (split, row["#"]) for split in ("test", "dev") for row in ROWS[split]
    ]
    described = [kinds for split, _, *kinds in table if split == "test"]
    assert {language for language, _ in described} == {"yue", "zh"}
    assert {register for _, register in described} == {"formal", "neutral", "informal"}


def test_decisions_name_a_row_and_a_reason() -> None:
    for decision in DECISIONS:
        row = ROWS[decision["split"]][decision["#"] - 1]
        assert list(decision) == FIELDS
        assert decision["text"] in row["Honzi"], decision
        assert decision["ours"] in row["Jyutping"], decision
        assert decision["reason"], decision
        assert decision["pycantonese"] or decision["tojyutping"], (
            f"nobody disagrees: {decision}"
        )


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_decisions_explain_every_difference_from_an_engine(engine: str) -> None:
    """The engine's output must be acceptable after our decisions replace its readings."""
    try:
        installed = version(engine)
    except PackageNotFoundError:
        installed = "none"
    if installed != ENGINES[engine]:
        pytest.skip(
            f"the audit is of {engine} {ENGINES[engine]}, installed is {installed}"
        )
    for split, row in EVERY_ROW:
        corrected, rest = "", f" {read_aloud(engine, row['Honzi'])} "
        for decision in DECISIONS:
            theirs, ours = decision[engine], decision["ours"]
            if (decision["split"], decision["#"]) != (
                split,
                row["#"],
            ) or theirs is None:
                continue
            assert not accepts(ours, theirs), (
                f"stale, the sample accepts it: {decision}"
            )
            before, found, after = rest.partition(f" {theirs} ")
            assert found, f"stale, {engine} no longer says it: {decision}"
            corrected, rest = f"{corrected}{before} {first_variant(ours)}", f" {after}"
        said = (corrected + rest).strip()
        assert accepts(row["Jyutping"], said), (
            f"a difference has no decision: {split} {row}"
        )


@pytest.mark.realdata
def test_no_sentence_is_one_of_the_benchmark() -> None:
    release = Path(os.environ["HKCANTO_DATA_DIR"], "hkeval2025/phonetics-g2p")
    rows = [row for file in release.glob("*/*.json") for row in json_lines(file)]
    benchmark = {bare(row["Honzi"]) for row in rows}
    assert len(benchmark) >= 145
    assert not benchmark & {
        bare(row["Honzi"]) for rows in ROWS.values() for row in rows
    }
