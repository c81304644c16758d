"""The multiple-choice sample data has the releases' layouts, right answers and awkward cells."""

import csv
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pycantonese
import pytest

from hkcanto_tasks.catalogue import BENCHMARKS

# A release's folder → the folder of its sample data.
SAMPLES = {
    "hkeval2025": BENCHMARKS / "hkcanto/sample",
    "hkmmlu": BENCHMARKS / "hkmmlu/sample",
    "tmmluplus": BENCHMARKS / "tmmluplus/sample",
}
FAMILIES = [
    "hkeval2025/mmlu",
    "hkeval2025/canto-mmlu",
    "hkeval2025/dse",
    "hkeval2025/professional",
    "hkeval2025/hk-law",
    "hkeval2025/cultural",
    "hkeval2025/linguistic_knowledge",
    "hkmmlu",
    "tmmluplus",
]
MISTYPED = {"Ď": "D", "Ｂ": "B"}
ODD_ONE_OUT = (
    "Three of the four characters below share a common phonological feature in Cantonese, and one"
    " does not. Which one is the odd one?"
)


@dataclass(frozen=True)
class Row:
    """A question of the sample data: its options without blank cells, and its label unchanged."""

    file: str
    question: str
    options: dict[str, str]
    label: str
    explanation: str

    @property
    def gold(self) -> str:
        return MISTYPED.get(self.label, self.label)


@dataclass(frozen=True)
class Table:
    """A file of a release or of the sample data."""

    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]


def table(file: str, release: Path | None = None) -> Table:
    """A file of ours or of a release, by its path in the data folder, read with the csv module."""
    folder, _, rest = file.partition("/")
    path = release / file if release else SAMPLES[folder] / rest
    with path.open(encoding="utf-8-sig", newline="") as lines:
        rows = [tuple(row) for row in csv.reader(lines, strict=True) if row]
    return Table((), rows) if folder == "hkeval2025" else Table(rows[0], rows[1:])


def cells_per_row(file: str) -> int:
    return 7 if "linguistic_knowledge" in file else 6


def rows_of(file: str) -> list[Row]:
    letters = "ABCDE"[: cells_per_row(file) - 2]
    rows = []
    for question, *rest in table(file).rows:
        options = {
            letter: text for letter, text in zip(letters, rest, strict=False) if text
        }
        label, *explanation = rest[len(letters) :]
        rows.append(Row(file, question, options, label, "".join(explanation)))
    return rows


def bare(text: str) -> str:
    """The text in lower case, without punctuation and blanks."""
    return re.sub(r"[\W_]+", "", text).lower()


FILES = sorted(
    f"{folder}/{path.relative_to(sample).as_posix()}"
    for folder, sample in SAMPLES.items()
    for path in sample.rglob("*.csv")
)
ROWS = {file: rows_of(file) for file in FILES}
EVERY_ROW = [row for rows in ROWS.values() for row in rows]
EXPLAINED = [row for row in EVERY_ROW if re.search("tmmluplus.*_dev", row.file)]


def split_of(file: str) -> str:
    found = re.search(r"\b(dev|val|test)/|_(dev|val|test)\.csv$", file)
    assert found, file
    return found[1] or found[2]


def test_a_file_has_the_columns_of_its_release() -> None:
    for file in FILES:
        read = table(file)
        if file.startswith("hkeval2025"):
            assert {len(row) for row in read.rows} == {cells_per_row(file)}, file
        elif file.startswith("hkmmlu"):
            assert read.columns == ("Question", "A", "B", "C", "D", "Answer"), file
        else:
            last = ("explanation",) if split_of(file) == "dev" else ()
            assert read.columns == ("question", "A", "B", "C", "D", "answer", *last), (
                file
            )


def test_every_subject_has_all_splits_of_the_release() -> None:
    for family in FAMILIES:
        subjects: dict[str, list[str]] = {}
        for file in FILES:
            if file.startswith(f"{family}/"):
                stem = re.sub("_(dev|val|test)$", "", Path(file).stem)
                subjects.setdefault(stem, []).append(split_of(file))
        splits = ["dev", "test", "val"] if family == "tmmluplus" else ["dev", "test"]
        assert subjects, family
        for stem, found in subjects.items():
            assert sorted(found) == splits, (family, stem)


def test_there_are_examples_for_five_shots_and_one_law_file_has_a_sixth() -> None:
    for file in FILES:
        if split_of(file) == "dev":
            count = 6 if file.endswith("landlord_tenant_dev.csv") else 5
            assert len(ROWS[file]) == count, file


def test_subjects_differ_in_size_so_that_averages_over_questions_and_subjects_differ() -> (
    None
):
    for family in FAMILIES:
        sizes = {
            len(rows)
            for file, rows in ROWS.items()
            if file.startswith(f"{family}/") and split_of(file) == "test"
        }
        assert len(sizes) > 1 or "linguistic" in family, family


def test_no_question_is_asked_twice() -> None:
    counts = Counter(bare(row.question) for row in EVERY_ROW)
    assert [question for question, count in counts.items() if count > 1] == []


def test_options_differ_and_the_label_names_one_of_them() -> None:
    for row in EVERY_ROW:
        assert len(set(row.options.values())) == len(row.options), row
        assert row.gold in row.options, row
        assert "".join(row.options) in {"AB", "ABC", "ABCD", "ABCDE"}, f"a gap: {row}"


def test_no_letter_is_right_too_often() -> None:
    for family in ("", *FAMILIES):
        golds = Counter(row.gold for row in EVERY_ROW if row.file.startswith(family))
        assert max(golds.values()) <= 0.4 * golds.total(), (family, golds)
        assert set("ABCD") <= set(golds), family


def test_a_translation_has_the_same_answers() -> None:
    for folder, one, other in (
        ("hkeval2025/mmlu", "hkeval2025/mmlu", "hkeval2025/canto-mmlu"),
        ("hkeval2025/dse", "_en_", "_zh_"),
        ("hkeval2025/professional", "_en_", "_zh_"),
    ):
        originals = [file for file in FILES if file.startswith(folder) and one in file]
        assert originals, folder
        for file in originals:
            translated = ROWS[file.replace(one, other)]
            assert [row.gold for row in ROWS[file]] == [
                row.gold for row in translated
            ], file


def test_an_explanation_is_whole_sentences_that_leave_the_letter_to_the_prompt() -> (
    None
):
    assert EXPLAINED
    for row in EXPLAINED:
        assert row.explanation.endswith("。"), row
        assert "答案" not in row.explanation, row


def option(text: str) -> Callable[[Row], bool]:
    return lambda row: text in row.options.values()


def inside_an_option(text: str) -> Callable[[Row], bool]:
    return lambda row: any(text in value for value in row.options.values())


def one_option_contains_another(row: Row) -> bool:
    texts = row.options.values()
    return any(text != longer and text in longer for text in texts for longer in texts)


AWKWARD: dict[str, tuple[str, Callable[[Row], bool]]] = {
    "option None": ("mmlu/test/astronomy", option("None")),
    "option NA": ("mmlu/test/global_facts", option("NA")),
    "option 007": ("mmlu/test/global_facts", option("007")),
    "option 0.10": ("tmmluplus/data/physics_test", option("0.10")),
    "line breaks in a question": (
        "dse/dev/bio_zh",
        lambda row: row.question.count("\n") > 2,
    ),
    "backslash and n, not a line break": (
        "linguistic_knowledge/test/phonology",
        lambda row: R"` \n" in row.question,
    ),
    "LaTeX in question and options": (
        "dse/test/math_en",
        lambda row: R"\sqrt" in row.question and R"\sqrt" in row.options["A"],
    ),
    "letter in options: A型血": ("dse/test/bio_zh", inside_an_option("A型血")),
    "letter in options: Plan B": ("professional/test/boat_zh", option("Plan B")),
    "letter in options: Vitamin C": ("cultural/test/food", option("Vitamin C")),
    "label Ď": ("dse/test/bio_zh", lambda row: row.label == "Ď"),
    "full-width label": (
        "hkmmlu/test/hk_transportation",
        lambda row: row.label == "Ｂ",
    ),
    "comma and quotes": ("cultural/test/langauge", inside_an_option('"Dating", as')),
    "option inside another": (
        "hkmmlu/test/hk_transportation",
        one_option_contains_another,
    ),
    "none of the above (Chinese)": ("hkmmlu/test/economics", option("以上皆非")),
    "none of the above (English)": (
        "linguistic_knowledge/test",
        option("None of the above"),
    ),
    "two options": ("hkmmlu/test/hkdse_mathematics", lambda row: len(row.options) == 2),
    "three options": ("hkmmlu/test/dentistry", lambda row: len(row.options) == 3),
}


def test_awkward_cells_are_there() -> None:
    for name, (place, found) in AWKWARD.items():
        assert any(found(row) for row in EVERY_ROW if place in row.file), name


def test_the_readme_lists_the_awkward_cells() -> None:
    text = (BENCHMARKS / "SAMPLES.md").read_text("utf-8")
    for name in AWKWARD:
        assert f"| {name} |" in text, name


# The kinds of questions in HKCanto-Eval, Appendices E.1 and E.2; `*` marks the character or word
# that is asked about. In the release, some have a line break, or \ and n, before the last line.
CANTONESE = " in Cantonese?"
FRAMES = {
    "homophone": "Which of the following character is a homophone of `*`" + CANTONESE,
    "rhyme": "Which of the following character rhymes with the character `*`"
    + CANTONESE,
    "reading": "Which of the following character best represents the sound of `*` in the word `*`"
    + CANTONESE,
    "tones": "Which of the following words have the nearest tone or pitch pattern with `*`"
    + CANTONESE,
    "poem": "In the following poem ```*``` \\nWhat are last words of the rhyming lines if recited"
    + CANTONESE,
    "odd one out": ODD_ONE_OUT,
    "couplet": "This is a line of a couplet (對聯): `*`*Which of the following is a correct"
    " description of the line, according to its Cantonese pronunciation?",
    "look-alike": "Select the character that is visually similar to `*` in the Hong Kong context.",
    "Cantonese character": "Consider this Cantonese sentence `*`. Choose one character below"
    " that is the most widely-accepted way to represent the missing word.",
    "calculation": "What character do you get by *?",
    "radical": "What is the radical of the character `*`",
    "radical and its name": "What is the radical of the character `*` and how is it called"
    + CANTONESE,
    "structure": "What is the best description of the character structure of `*`?",
}
LINGUISTIC = [row for row in EVERY_ROW if "linguistic_knowledge" in row.file]


def kind_of(question: str) -> tuple[str, list[str]]:
    """The kind of a linguistic question, and the character or word that it asks about."""
    matches = {
        kind: list(found.groups())
        for kind, frame in FRAMES.items()
        if (
            found := re.fullmatch(
                re.escape(frame).replace(r"\*", "(.+)"), question, re.DOTALL
            )
        )
    }
    (match,) = matches.items()
    return match


def test_every_kind_of_linguistic_question_is_there() -> None:
    tested = {
        kind_of(row.question)[0] for row in LINGUISTIC if split_of(row.file) == "test"
    }
    assert tested == set(FRAMES)


def readings(character: str) -> set[str]:
    """All readings of a character in ToJyutping's word list, including rare ones."""
    import ToJyutping

    ((_, found),) = ToJyutping.get_jyutping_candidates(character)
    return set(found)


def spoken(text: str) -> list[Any]:
    """The syllables of a text as ToJyutping reads it, parsed by PyCantonese."""
    import ToJyutping

    said = (jyutping for _, jyutping in ToJyutping.get_jyutping_list(text) if jyutping)
    return [
        syllable
        for jyutping in said
        for syllable in pycantonese.parse_jyutping(jyutping)
    ]


def rime(syllable: Any) -> str:
    return f"{syllable.nucleus}{syllable.coda}"


def rimes(character: str) -> set[str]:
    return {
        rime(pycantonese.parse_jyutping(reading)[0]) for reading in readings(character)
    }


def tones(text: str) -> list[str]:
    return [syllable.tone for syllable in spoken(text)]


def rhyming_words(poem: str) -> str:
    lines = [bare(line) for line in poem.split("\n")]
    ends = [rime(spoken(line)[-1]) for line in lines]
    pairs = zip(lines, ends, strict=True)
    return "".join(line[-1] for line, end in pairs if ends.count(end) > 1)


def odd_ones(characters: Iterable[str]) -> set[str]:
    """The characters whose onset, nucleus, coda or tone differs from that of all others."""
    sounds = {character: spoken(character)[0] for character in characters}
    odd = set()
    for part in ("onset", "nucleus", "coda", "tone"):
        values = Counter(getattr(sound, part) for sound in sounds.values())
        if values.most_common(1)[0][1] == 3:
            odd |= {
                name
                for name, sound in sounds.items()
                if values[getattr(sound, part)] == 1
            }
    return odd


def couplet(line: str) -> str:
    """平 is tone 1 or 4 without a final stop; the first line of a couplet ends in 仄."""
    classes = "".join(
        "平" if sound.tone in "14" and sound.coda not in tuple("ptk") else "仄"
        for sound in spoken(line)
    )
    return f"{'上聯' if classes[-1] == '仄' else '下聯'}、{classes}"


def fits(kind: str, about: list[str], text: str, texts: list[str]) -> bool:
    """Whether this option answers the question, judged by its sound."""
    match kind:
        case "homophone" | "reading":
            (sound,) = (
                said
                for character, said in zip(about[-1], spoken(about[-1]), strict=True)
                if character == about[0]
            )
            return str(sound) in readings(text)
        case "rhyme":
            return rime(spoken(about[0])[0]) in rimes(text)
        case "tones":
            return tones(text) == tones(about[0])
        case "poem":
            return text == rhyming_words(about[0])
        case "odd one out":
            return text in odd_ones(texts)
        case _:
            return text == couplet(about[0])


def test_the_sounds_decide_for_the_labelled_option_and_no_other() -> None:
    pytest.importorskip("ToJyutping")
    for row in LINGUISTIC:
        if "phonology" not in row.file:
            continue
        kind, about = kind_of(row.question)
        texts = {letter: text for letter, text in row.options.items() if letter != "E"}
        every = list(texts.values())
        fitting = [
            letter for letter, text in texts.items() if fits(kind, about, text, every)
        ]
        assert (fitting or ["E"]) == [row.gold], row.question


def files_of(family: str, release: Path) -> list[str]:
    paths = sorted((release / family).rglob("*.csv"))
    return [path.relative_to(release).as_posix() for path in paths]


@pytest.mark.realdata
def test_the_subjects_are_files_of_the_release() -> None:
    release = Path(os.environ["HKCANTO_DATA_DIR"])
    ours = [file for file in FILES if file.startswith("hkeval2025")]
    assert [file for file in ours if not (release / file).exists()] == []


@pytest.mark.realdata
def test_the_columns_are_those_of_the_release() -> None:
    release = Path(os.environ["HKCANTO_DATA_DIR"])
    every = [
        (family, file) for family in FAMILIES for file in files_of(family, release)
    ]
    assert {family for family, _ in every} == {*FAMILIES}
    for family, file in every:
        sample = {
            split_of(name): name for name in FILES if name.startswith(f"{family}/")
        }
        ours, theirs = table(sample[split_of(file)]), table(file, release)
        # Only some copies of TMMLU+ have explanations in the dev split.
        assert ours.columns[: len(theirs.columns)] == theirs.columns, file
        explained = len(ours.columns) - len(theirs.columns)
        assert len(ours.rows[0]) - explained == len(theirs.rows[0]), file


@pytest.mark.realdata
def test_no_question_is_one_of_the_benchmarks() -> None:
    release = Path(os.environ["HKCANTO_DATA_DIR"])
    real = [
        row
        for family in FAMILIES
        for file in files_of(family, release)
        for row in table(file, release).rows
    ]
    assert len(real) > 30_000

    def identity(question: str, options: Iterable[str]) -> str:
        # All odd-one-out questions have the same text; only their characters differ.
        return bare(
            question + "".join(options) if question == ODD_ONE_OUT else question
        )

    theirs = {identity(question, rest[:4]) for question, *rest in real}
    ours = {identity(row.question, list(row.options.values())[:4]) for row in EVERY_ROW}
    assert ours & theirs == set()
