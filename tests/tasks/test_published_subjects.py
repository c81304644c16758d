"""The catalogue's subjects are those of the papers' tables and of the release.

`published/` holds the tables: HKMMLU's Table 5, TMMLU+'s Tables 7 to 10, HKCanto-Eval's Tables 4 to
6. Four rows of HKMMLU that run into each other in print are separated, and two slips are corrected:
娱 for 娛 in one Chinese name, and "Ice Humanities" for TMMLU+'s JCE Humanities. The data files are
read without the catalogue's own loader.
"""

import csv
import fnmatch
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from hkcanto_tasks.catalogue import BENCHMARKS
from hkcanto_tasks.data import tables
from hkcanto_tasks.tasks import load_task, task_as_run

FILES = ("hkcanto", "hkmmlu", "tmmluplus")


@dataclass(frozen=True)
class Row:
    """A row of a paper's table of subjects."""

    title: str
    chinese: str
    category: str
    questions: int
    hk_specific: bool


def table(name: str) -> list[Row]:
    path = Path(__file__).parent / "published" / f"{name}.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        return [
            Row(
                row["subject"],
                row["chinese"],
                row["category"],
                int(row["questions"]),
                row["hk_specific"] == "true",
            )
            for row in csv.DictReader(lines)
        ]


@cache
def benchmark(name: str) -> dict[str, Any]:
    return tomllib.loads((BENCHMARKS / name / "benchmark.toml").read_text("utf-8"))


def choice_tasks(*names: str) -> list[dict[str, Any]]:
    return [
        task
        for name in names
        for task in benchmark(name)["tasks"]
        if task["kind"] == "multiple_choice"
    ]


def task(name: str) -> dict[str, Any]:
    (found,) = (task for task in choice_tasks(*FILES) if task["name"] == name)
    return found


def totals(rows: list[Row]) -> dict[str, tuple[int, int]]:
    """Category → number of subjects, number of questions."""
    return {
        category: (
            sum(row.category == category for row in rows),
            sum(row.questions for row in rows if row.category == category),
        )
        for category in dict.fromkeys(row.category for row in rows)
    }


# --------------------------------------------------------------------------- HKMMLU


def test_hkmmlus_table_adds_up_to_the_papers_table_6() -> None:
    """Table 6 swaps the numbers of Humanities and Social Science."""
    rows = table("hkmmlu")
    assert totals(rows) == {
        "stem": (18, 6158),
        "social_sciences": (16, 4834),
        "humanities": (18, 8904),
        "other": (14, 6802),
    }
    assert sum(row.questions for row in rows) == 26_698
    assert sum(row.hk_specific for row in rows) == 23


def test_hkmmlu_has_the_subjects_of_table_5_and_no_other() -> None:
    assert [
        Row(
            subject["title"],
            subject["chinese"],
            subject["category"],
            subject["rows"] + 5,
            "hk_specific" in subject.get("groups", ()),
        )
        for subject in task("hkmmlu")["subjects"]
    ] == table("hkmmlu")


def test_hkmmlu_has_the_test_rows_that_public_code_counts() -> None:
    assert sum(subject["rows"] for subject in task("hkmmlu")["subjects"]) == 26_368


def test_hkmmlus_examinations_are_a_group() -> None:
    subjects = task("hkmmlu")["subjects"]
    examinations = [s["title"] for s in subjects if "hkdse" in s.get("groups", ())]
    assert len(examinations) == 9
    assert examinations == [
        s["title"] for s in subjects if s["title"].startswith("HKDSE")
    ]


def test_table_9_has_all_subjects_but_those_of_stem() -> None:
    rest = [
        s["rows"]
        for s in task("hkmmlu")["subjects"]
        if "non_stem" in s.get("groups", ())
    ]
    assert (len(rest), sum(rest)) == (66 - 18, 26_368 - 6_068)


def test_table_4_has_questions_in_cantonese_and_in_written_chinese() -> None:
    kind = task_as_run("hkmmlu")
    choices = {"a": "甲", "b": "乙", "c": "丙", "d": "丁", "answer": "A"}
    for question, language in [
        ("邊個係香港嘅行政長官？", "cantonese"),
        ("下列哪一項\n是香港的行政機關？", "written_chinese"),
        ("以下\n佢哋講嘅係乜？", "cantonese"),
        ("香港最大嘅公司是以下邊一間？", "cantonese"),
        ("以下邊一個港鐵站未開通？", "cantonese"),
        ("樹仁大學幾時成立？", "cantonese"),
        ("搶包山有幾多座包山？", "cantonese"),
        ("「陳浩南」係香港漫畫主角？", "cantonese"),
        ("去機場要攞護照？", "cantonese"),
        ("兩者有何關係？比例係數為何？", "written_chinese"),
        ("△OAB 為一等邊三角形，多邊區位是指？", "written_chinese"),
        ("港鐵奧運站位於哪裏？", "written_chinese"),
    ]:
        item = kind.row(tables.Row(1, {"question": question, **choices}))
        assert item.parts == (language,), question


def test_hkmmlus_stems_have_the_prefixes_of_the_release() -> None:
    for subject in task("hkmmlu")["subjects"]:
        marked = {"hk_specific", "hkdse"} & {*subject.get("groups", ())}
        expected = subject["title"].split()[0] if marked else ""
        prefix = {"Hong": "hk_", "HKDSE": "hkdse_", "": ""}[expected]
        assert re.match("hk_|hkdse_|", subject["stem"])[0] == prefix  # type: ignore[index]


# --------------------------------------------------------------------------- TMMLU+


def test_tmmlupluss_tables_add_up_to_the_papers_table_1() -> None:
    """The test, dev and validation rows of Table 1, summed."""
    assert totals(table("tmmluplus")) == {
        "stem": (14, 3458 + 70 + 385),
        "social_sciences": (18, 5958 + 90 + 665),
        "humanities": (7, 1763 + 35 + 197),
        "other": (27, 8939 + 135 + 995),
    }


def test_tmmluplus_has_the_subjects_of_tables_7_to_10_and_no_other() -> None:
    subjects = task("tmmluplus_gen")["subjects"]
    rows = table("tmmluplus")
    assert [(s["title"], s["chinese"], s["category"]) for s in subjects] == [
        (row.title, row.chinese, row.category) for row in rows
    ]
    for subject, row in zip(subjects, rows, strict=True):
        # Section 2.3: five dev and at least five validation questions in every subject.
        assert subject["rows"] <= row.questions - 5 - 5, subject["title"]


def test_tmmluplus_has_the_test_rows_of_table_1_in_every_category() -> None:
    rows: Counter[str] = Counter()
    for subject in task("tmmluplus_gen")["subjects"]:
        rows[subject["category"]] += subject["rows"]
    assert rows == {
        "stem": 3458,
        "social_sciences": 5958,
        "humanities": 1763,
        "other": 8939,
    }


def test_the_papers_percentages_are_fractions_of_the_test_rows() -> None:
    for stem, correct, percent in [
        # GPT-4 in Table 11: these percentages with two decimals fit fractions of few denominators.
        ("marketing_management", 72, 77.42),
        ("advance_chemistry", 66, 53.66),
        ("computer_science", 139, 79.89),
        ("basic_medical_science", 797, 83.54),
        ("insurance_studies", 433, 56.97),
    ]:
        (subject,) = (s for s in task("tmmluplus_gen")["subjects"] if s["stem"] == stem)
        assert round(100 * correct / subject["rows"], 2) == percent, (
            stem,
            correct,
            percent,
        )


def test_tmmlupluss_files_and_chinese_names_are_those_that_lm_eval_has() -> None:
    lm_eval = pytest.importorskip("lm_eval")
    path = Path(lm_eval.__file__).parent / "tasks" / "tmmluplus" / "subject.tsv"
    with path.open(encoding="utf-8", newline="") as lines:
        known = {
            row["subject"]: row["name"] for row in csv.DictReader(lines, delimiter="\t")
        }
    del known["linear_algebra"]  # in the release, not in the paper
    known["tve_design"] = known["tve_design"].replace(
        "＿", "_"
    )  # as the paper prints it
    assert {s["stem"]: s["chinese"] for s in task("tmmluplus_gen")["subjects"]} == known


# --------------------------------------------------------------------------- HKCanto-Eval

# Rows of Tables 4 to 6 → the subject's name in the task `hkcanto_<category>…`, or the common prefix
# of the subjects that the row pools.
TABLES_4_TO_6 = {
    "Biology": "bio",
    "Business, Accounting & Financial Studies": "bafs",
    "Chemistry": "chem",
    "Economics": "econ",
    "Geography": "geog",
    "Information & Comm. Tech.": "ict",
    "Mathematics": "math",
    "Physics": "phy",
    "Tourism & Hospitality Studies": "ths",
    "Estate Agent": "estate_agent",
    "Insurance Interm.": "insurance",
    "Leveraged FX": "forex",
    "Securities & Futures": "hksi_*",
    "MPF Interm.": "mpf",
    "Pleasure Vessel": "boat",
    "Salesperson": "estate_salespersons",
    "Taxi": "taxi",
    "HK Law": "*",
    "Basic Law": "basic_law",
    "History & Landmarks": "history_and_landmarks",
    "Food Culture": "food",
    "Lang. & Expressions": "language_and_expressions",
    "Life in HK": "life_in_hk",
    "Local Area Knowledge": "local_knowledge",
}
# The release and the paper differ in these numbers; the release has 57 + 5 rows and 362 + 10 × 5.
OTHER_NUMBERS = {"Tourism & Hospitality Studies": 62, "Securities & Futures": 412}


def by_table_row(category: str) -> Iterator[tuple[Row, list[dict[str, Any]]]]:
    """Rows of the paper's tables, and the subjects that each row covers."""
    name = {"dse": "hkcanto_dse_zh", "professional": "hkcanto_professional_zh"}.get(
        category, f"hkcanto_{category}"
    )
    rest = {subject["name"]: subject for subject in task(name)["subjects"]}
    rows = [row for row in table("hkcanto_eval") if row.category == category]
    for row in sorted(rows, key=lambda row: TABLES_4_TO_6[row.title] == "*"):
        wanted = TABLES_4_TO_6[row.title]
        yield row, [rest.pop(name) for name in fnmatch.filter(list(rest), wanted)]
    assert not rest, f"subjects of {name} that are in no table"


def test_tables_4_to_6_count_test_and_dev_rows() -> None:
    for category in ["dse", "professional", "cultural"]:
        for row, subjects in by_table_row(category):
            rows = sum(subject["rows"] + 5 for subject in subjects)
            assert rows == OTHER_NUMBERS.get(row.title, row.questions), row.title


def test_table_4_counts_the_test_rows_of_law_only() -> None:
    for row, subjects in by_table_row("law"):
        assert sum(subject["rows"] for subject in subjects) == row.questions, row.title


def test_english_has_all_chinese_subjects_except_two() -> None:
    for family, chinese_only in (("dse", {"ths"}), ("professional", {"taxi"})):
        chinese, english = (
            {
                s["name"]: (s["title"], s["rows"])
                for s in task(f"hkcanto_{family}_{end}")["subjects"]
            }
            for end in ("zh", "en")
        )
        assert english.items() < chinese.items()
        assert chinese.keys() - english.keys() == chinese_only


def test_mmlu_is_the_same_in_both_languages() -> None:
    cantonese, english = (
        task(f"hkcanto_mmlu_{language}") for language in ("yue", "en")
    )
    assert cantonese["subjects"] == english["subjects"]
    assert len(english["subjects"]) == 57
    assert sum(subject["rows"] for subject in english["subjects"]) == 14_042


HKCANTO = (
    "mmlu_yue",
    "mmlu_en",
    "dse_zh",
    "dse_en",
    "professional_zh",
    "professional_en",
)
HKCANTO += ("law", "cultural", "phonology", "orthography")


def read(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as lines:
        return list(csv.reader(lines))


@pytest.mark.realdata
@pytest.mark.parametrize("name", HKCANTO)
def test_every_subject_has_its_files_in_the_release(
    name: str, hkeval2025: Path
) -> None:
    entry = task(f"hkcanto_{name}")
    for subject in entry["subjects"]:
        dev, test = (
            read(hkeval2025 / entry["files"][split].format(stem=subject["stem"]))
            for split in ("dev", "test")
        )
        assert len(test) == subject["rows"], subject["stem"]
        assert len(dev) >= entry.get("dev_rows", 5), subject["stem"]
        cells = len(entry.get("letters", "ABCD")) + 2
        assert {len(row) for row in dev + test} == {cells}, subject["stem"]


@pytest.mark.realdata
def test_every_file_of_the_release_is_a_subjects(hkeval2025: Path) -> None:
    ours = Counter(
        entry["files"]["test"].format(stem=subject["stem"])
        for entry in choice_tasks("hkcanto")
        for subject in entry["subjects"]
    )
    theirs = (
        path.relative_to(hkeval2025).as_posix()
        for path in hkeval2025.glob("*/test/*.csv")
    )
    assert ours == Counter(path for path in theirs if not path.startswith("canto-nlp/"))


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "split"),
    [
        # Appendix E.1.
        ("phonology", {"homophone": 25, "rhyme": 25, "misc": 50}),
        # Appendix E.2 says 25; Table 2's percentages of visual similarity are multiples of 5.
        (
            "orthography",
            {"visual_similarity": 20, "cantonese_character": 26, "misc": 54},
        ),
    ],
)
def test_question_texts_tell_the_columns_of_table_2(
    name: str, split: dict[str, int], hkeval2025: Path
) -> None:
    entry = task(f"hkcanto_{name}")
    (subject,) = entry["subjects"]
    kinds = [
        [kind for kind, pattern in entry["types"].items() if re.search(pattern, row[0])]
        for row in read(
            hkeval2025 / entry["files"]["test"].format(stem=subject["stem"])
        )
    ]
    columns = [[kind for kind in found if kind in split] for found in kinds]
    assert all(len(found) == 1 for found in columns), (
        "a question of no column, or of several"
    )
    assert Counter(kind for (kind,) in columns) == split
    assert {*chain.from_iterable(kinds)} == entry["types"].keys(), (
        "a type without questions"
    )


# --------------------------------------------------------------------------- names and prompts


def test_names_and_stems_are_used_once() -> None:
    for entry in choice_tasks(*FILES):
        subjects = entry["subjects"]
        names = Counter(subject["name"] for subject in subjects)
        stems = Counter(
            s
            for subject in subjects
            for s in (subject["stem"], *subject.get("aliases", ()))
        )
        assert max(names.values()) == 1, names.most_common(3)
        assert max(stems.values()) == 1, stems.most_common(3)


def texts(template: dict[str, Any]) -> Iterator[str]:
    for key, value in template.items():
        yield from value if key.startswith("stop") else [value]


PROMPTS = {
    (entry["name"], language): (entry, benchmark(file)["prompts"][name])
    for file in FILES
    for entry in choice_tasks(file)
    for language, name in entry["prompts"].items()
}

# Placeholders that a prompt may have, by template key.
IN_FRONT = {
    "sentence",
    "subject",
    "chinese",
    "script_name",
    "title",
    "zero",
    "scaffold",
}
QUESTION = {"question", "options"}
OPEN = {
    "system": IN_FRONT,
    "chat_system": {"sentence"},
    "system_cot": IN_FRONT,
    "example": QUESTION,
    "example_cot": QUESTION,
    "question": QUESTION | {"cue"},
    "question_cot": QUESTION
    | {"chinese", "script_name", "scaffold"},  # Figure 22 has the instruction there
    "answer_cot": {"reasoning", "answer"},
}


def test_a_prompt_leaves_only_known_places_open() -> None:
    for key in PROMPTS:
        _, template = PROMPTS[key]
        for name, text in template.items():
            places = set(re.findall(r"\{(.*?)\}", str(text)))
            known = OPEN.get(name, set())
            scaffolds = (
                {"scaffold"} if name == "system" and "scaffold" in template else set()
            )
            assert scaffolds <= places <= known, name
            assert places == known or "scaffold" in known, name


def test_a_prompt_puts_the_question_and_its_options_before_the_answer() -> None:
    for key in PROMPTS:
        entry, template = PROMPTS[key]
        options = "\n".join(f"{letter}. …" for letter in entry.get("letters", "ABCD"))
        for name in ("example", "question"):
            if name in template:
                cue = template.get("cue", "")
                text = template[name].format(
                    question="幾點？", options=options, cue=cue
                )
                assert re.search(r"幾點？\nA\. …\n(.*\n)+(答案|Answer)[:：]$", text), (
                    name
                )


def test_a_scaffold_asks_for_an_answer_on_the_last_line() -> None:
    for key in PROMPTS:
        entry, template = PROMPTS[key]
        if key[1] == "release":  # it has no scaffold, which a user's +scaffold is told
            assert "scaffold" not in template
            continue
        english = key[1] == "en" or (
            key[1] == "paper" and entry["name"].startswith("hkcanto_")
        )
        line, form = (
            ("last line", '"Answer: X"') if english else ("最後一行", "「答案：X」")
        )
        assert line in template["scaffold"]
        assert form in template["scaffold"]


def test_the_grids_languages_are_not_mixed() -> None:
    """Function words of Written Chinese in Cantonese prompts, and of Cantonese in others."""
    for language, foreign in [
        ("yue", "的是在這那了沒們看"),
        ("zh", "嘅係喺呢嗰咗冇哋佢睇唔啲嘢"),
    ]:
        for (name, chosen), (entry, template) in PROMPTS.items():
            if chosen == language:
                prompt = "".join(
                    [*texts(template), entry.get("sentences", {}).get(language, "")]
                )
                assert not set(prompt) & set(foreign), name


def test_every_task_can_be_asked_in_both_chinese_languages() -> None:
    for entry in choice_tasks(*FILES):
        ours = entry["name"].startswith("hkcanto_")
        more = {"en", "release"} if ours else {"figure21", "figure22"}
        more = set() if entry["name"] == "tmmluplus_gen" else more
        assert entry["prompts"].keys() == {"paper", "zh", "yue"} | more, entry["name"]
        assert entry.get("sentences", {}).keys() in (
            {"zh", "yue", "en", "release"},
            set(),
        )


def test_figures_21_and_22_have_no_paragraph_on_hong_kong() -> None:
    figure21 = load_task("hkmmlu_cot", prompt="figure21")
    (_, instruction), (_, asked) = figure21.prompt(figure21.samples[0]).messages()
    title = figure21.kind.subject(figure21.samples[0].subject).chinese
    assert instruction == (
        f"作爲一個精通香港繁體字和{title}的專家,請完成以下繁體中文單選題。"
        "答题要求: 1.逐步分析並選出正確答案。2. 最後明確標示答案選項(A/B/C/D)。\n"
    )
    assert asked.startswith("問題: ")
    figure22 = load_task("hkmmlu_cot_1shot", prompt="figure22")
    ((role, text),) = figure22.prompt(figure22.samples[0]).messages()
    assert role == "user"
    example, instruction = text.split("\n\n作爲一個精通香港繁體字和")
    assert example.startswith("問題: ")
    assert "\n推理:" in example
    assert (
        "的專家,請參考上面的思考案例,完成以下繁體中文單選題。答题要求: 1. 逐步"
        in instruction
    )
    for prompt in ("paper", "figure21"):
        text = load_task("hkmmlu", prompt=prompt).prompt(figure21.samples[0]).text()
        assert ("珠江口" in text) == (prompt == "paper")
