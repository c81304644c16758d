"""Multiple choice: the prompts, and the scores of answers."""

import csv
import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from hkcanto_tasks import load_task
from hkcanto_tasks.catalogue import named_tasks
from hkcanto_tasks.errors import OptionError
from hkcanto_tasks.samples import Sample

from .quiz import Quiz

# Appendices C and D. The MMLU sentence is from the release; the linguistic ones are in Appendix E.
SENTENCES = {
    "hkcanto_dse_zh": "Follow the given examples and answer the question. The question is about "
    "Hong Kong DSE. You should only return the answer: A, B, C, or D.",
    "hkcanto_professional_en": "Follow the given examples and answer the question. The question is "
    "about professional knowledge in Hong Kong. You should only return the answer: A, B, C, or D.",
    "hkcanto_law": "Follow the given examples and answer the question. The question is about Hong "
    "Kong law. You should only return the answer: A, B, C, or D.",
    "hkcanto_cultural": "Follow the given examples and answer the question. The question is about "
    "Hong Kong. Only return the answer: A, B, C, or D. DO NOT EXPLAIN.",
    "hkcanto_phonology": "You are a speaker of Cantonese from Hong Kong. Please answer these "
    "questions about the sounds of the language. Do not include any further explanation.",
    "hkcanto_mmlu_yue": "Follow the given examples and answer the question. you should only return "
    "the answer: A, B, C, or D.",
}
FOLDERS = {
    "hkcanto_dse_zh": "dse",
    "hkcanto_professional_en": "professional",
    "hkcanto_law": "hk-law",
    "hkcanto_cultural": "cultural",
    "hkcanto_phonology": "linguistic_knowledge",
    "hkcanto_mmlu_yue": "canto-mmlu",
}


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [row for row in csv.reader(file) if row]


def body(row: list[str], answer: str) -> str:
    options = (
        f"\n{letter}. {text}" for letter, text in zip("ABCDE", row[1:-1], strict=False)
    )
    return row[0] + "".join(options) + "\nAnswer:" + answer


def release_prompts(root: Path, stem: str, shots: int) -> Iterator[str]:
    """The release's prompt, as described by PROTOCOLS and its code."""
    shown = "geography" if stem == "local_knowledge" else stem.replace("_", " ")
    extra = "" if shots else " DO NOT EXPLAIN."
    head = f"The following are multiple choice questions (with answers) about {shown}.{extra}\n\n"
    dev = rows(root / "dev" / f"{stem}_dev.csv")[:shots]
    examples = "".join(body(row, f" {row[-1]}\n\n") for row in dev)
    for row in rows(root / "test" / f"{stem}_test.csv"):
        yield head + examples + body(row, "")


@pytest.mark.realdata
@pytest.mark.parametrize("shots", [0, 5])
@pytest.mark.parametrize("name", FOLDERS)
def test_prompts_are_the_papers_sentence_and_the_releases_body(
    name: str, shots: int
) -> None:
    root = Path(os.environ["HKCANTO_DATA_DIR"]) / "hkeval2025" / FOLDERS[name]
    task = load_task(name)
    expected = {
        "/".join(
            filter(None, (name, subject.name, str(row)))
        ): f"{SENTENCES[name]}\n\n{prompt}"
        for subject in task.task.subjects
        for row, prompt in enumerate(
            release_prompts(root, subject.stem, shots), start=1
        )
    }
    assert {
        s.id: task.at(shots=shots).prompt(s).text() for s in task.samples
    } == expected


def test_five_shots_take_the_first_five_of_six_rows() -> None:
    task = load_task("hkcanto_law_landlord_tenant")
    assert len(task.examples("landlord_tenant")) == 5


def write_hkmmlu(folder: Path, rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for split in ("dev", "test"):
        path = folder / "hkmmlu" / split / "dentistry.csv"
        path.parent.mkdir(parents=True)
        path.write_text("Question,A,B,C,D,Answer\n" + rows, encoding="utf-8")
    monkeypatch.delenv("HKCANTO_DATA")
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(folder))


def test_only_options_that_exist_are_shown_and_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_hkmmlu(
        tmp_path, "恒牙有幾多隻？,28,32,,,B\n乳牙呢？,,20,24,,B\n", monkeypatch
    )
    task = load_task("hkmmlu_dentistry")
    two, gap = sorted(task.samples, key=lambda sample: sample.id)
    assert two.choices == ("28", "32", None, None)
    assert "A. 28\nB. 32\n" in task.kind.prompt(two).question
    assert "C." not in task.kind.prompt(two).question
    assert "A." not in task.kind.prompt(gap).question
    assert task.kind.judge("D", two).values["unparsed_rate"] == 1.0
    assert task.kind.judge("B", two).values["acc"] == 1.0


def test_shuffling_moves_the_answer_with_its_option() -> None:
    plain, shuffled = load_task("hkmmlu"), load_task("hkmmlu", shuffle_choices=7)
    moved = 0
    for before, after in zip(plain.samples, shuffled.samples, strict=True):
        gold = before.choices["ABCD".index(before.target)]
        assert after.choices["ABCD".index(after.target)] == gold
        assert sorted(map(str, after.choices)) == sorted(map(str, before.choices))
        moved += before.target != after.target
    assert moved > len(plain.samples) / 3
    assert load_task("hkmmlu", shuffle_choices=7).samples == shuffled.samples


def test_simplified_script_reaches_every_part_of_the_prompt() -> None:
    import opencc

    task = load_task("hkmmlu_sc")
    text = task.at(shots=2).prompt(task.samples[0]).text()
    assert "香港特别行政区" in text
    assert opencc.OpenCC("hk2s").convert(text) == text


def test_the_prompt_grid_has_every_cell_and_says_so() -> None:
    for name in ("hkmmlu", "tmmluplus_gen", "hkcanto_dse_zh"):
        texts = set()
        for language, end in product(("zh", "yue", "paper"), ("", "+scaffold")):
            task = load_task(name, prompt=f"{language}{end}")
            texts.add(task.at(shots=0).prompt(task.samples[0]).text())
            assert f"|prompt:{language}{end}|" in task.at(shots=0).signature
        assert len(texts) == 6, name


def test_a_scaffold_asks_for_a_last_line_and_leaves_room_for_it() -> None:
    plain, scaffold = load_task("hkmmlu"), load_task("hkmmlu", prompt="zh+scaffold")
    assert "答案：X" in scaffold.at(shots=0).prompt(scaffold.samples[0]).text()
    assert not scaffold.kind.prompt(scaffold.samples[0]).question.endswith("答案：")
    assert plain.kind.stop == ("\n",)
    assert scaffold.kind.stop != ("\n",)
    assert scaffold.kind.max_tokens > plain.kind.max_tokens


def test_an_unknown_prompt_or_option_lists_the_known_ones() -> None:
    with pytest.raises(OptionError, match=r"zh, zh\+scaffold"):
        load_task("hkmmlu", prompt="fr")
    with pytest.raises(OptionError, match="shuffle_choices"):
        load_task("hkmmlu", shufle_choices=1)
    with pytest.raises(OptionError, match="dentistry"):
        load_task("hkmmlu", ["dentist"])


def test_options_may_be_given_as_texts() -> None:
    assert (
        load_task("hkmmlu", cot="true", shuffle_choices="3")
        .at(shots=0)
        .signature.count(":yes")
        == 1
    )


def test_a_chain_of_thought_is_read_at_its_end_and_a_truncated_one_is_not_guessed() -> (
    None
):
    how = load_task("hkmmlu_cot").kind
    choices = ("旺角", "灣仔", "北角", "紅磡")
    whole = "逐步分析：\nA 選項錯誤。\nB 選項喺灣仔。\n\n答案：C"
    assert how.judge(
        whole, Sample(id="", target="C", choices=tuple(choices))
    ).values == {
        "acc": 1.0,
        "unparsed_rate": 0.0,
    }
    assert how.judge(
        whole[:20], Sample(id="", target="A", choices=tuple(choices))
    ).values == {
        "acc": 0.0,
        "unparsed_rate": 1.0,
    }


def test_a_direct_answer_ends_at_its_line() -> None:
    how = load_task("hkmmlu").kind
    choices = ("旺角", "灣仔", "北角", "紅磡")
    response = "<think>可能係 D。\n</think>\n\nB\n\n問題: 下一題\n答案: D"
    assert (
        how.judge(response, Sample(id="", target="B", choices=tuple(choices))).values[
            "acc"
        ]
        == 1.0
    )


def test_a_line_that_ends_in_a_colon_goes_on() -> None:
    kind = load_task("hkmmlu").kind
    asked = Sample(id="", target="B", choices=("旺角", "灣仔", "北角", "紅磡"))
    for response in (
        "答案係：\n\nB. 灣仔",
        "回應：\nB",
        "**The answer is:**\n\nB. 灣仔\n\n因為D唔係",
    ):
        assert kind.judge(response, asked).values["acc"] == 1, response


def test_every_name_of_the_design_exists() -> None:
    names = named_tasks()
    for name in (
        *("hkcanto_mmlu_yue", "hkcanto_mmlu_en", "hkcanto_dse_zh", "hkcanto_dse_en"),
        *("hkcanto_professional_zh", "hkcanto_professional_en", "hkcanto_law"),
        *("hkcanto_cultural", "hkcanto_cultural_0shot", "hkcanto_phonology"),
        *(
            "hkcanto_orthography",
            "hkmmlu",
            "hkmmlu_cot",
            "hkmmlu_cot_1shot",
            "hkmmlu_sc",
        ),
        *("hkmmlu_mc", "hkmmlu_dentistry", "hkmmlu_dentistry_cot", "tmmluplus_gen"),
        *(
            "tmmluplus_gen_cot",
            "tmmluplus_gen_sc",
            "tmmluplus_gen_mc",
            "tmmluplus_gen_physics",
        ),
        *("hkcanto_cultural_food_0shot", "hkcanto_law_mc"),
    ):
        assert name in names
    assert not any(
        name.startswith("tmmluplus_") and "gen" not in name for name in names
    )


def test_the_length_of_a_response_is_all_of_it_but_its_reasoning() -> None:
    law = load_task("hkcanto_law").kind
    asked = Sample(id="", choices=("旺角", "灣仔", "沙田", "元朗"), target="B")
    for response, answer, length in (
        ("B", "B", 1),
        ("B\n因為佢喺灣仔。", "B", 9),  # the second line is not scored
        ("<think>旺角？唔係。</think>B。", "B", 2),
        ("", "", 0),
    ):
        judgement = law.judge(response, asked)
        assert (judgement.answer, judgement.length) == (answer, length), response


def test_each_example_of_a_chain_of_thought_needs_reasoning(quiz: Quiz) -> None:
    texts = (
        'question_cot = "{question}\\n{options}\\n諗下先。"\n'
        'answer_cot = "{reasoning}答案：{answer}"'
    )
    row = {"question": "邊個？", "A": "甲", "B": "乙", "answer": "A"}
    rows = [
        {**row, "question": f"{number}？", "explanation": f"因為{number}。"}
        for number in range(3)
    ]
    quiz('letters = "AB"', *rows, texts=texts)
    examples = load_task("quiz", cot=True, shots=2).prompt_examples("")
    assert [each.answer for each in examples] == ["因為0。答案：A", "因為1。答案：A"]
    rows[1]["explanation"] = " "
    quiz('letters = "AB"', *rows, texts=texts)
    with pytest.raises(OptionError, match="no reasoning for worked examples"):
        load_task("quiz", cot=True, shots=2).prompt_examples("")


def test_an_option_without_a_text_in_the_prompt_is_refused(quiz: Quiz) -> None:
    row = {"question": "?", **dict.fromkeys("ABCD", "?"), "answer": "A"}
    more = 'answer = "letter"'
    for texts, refused in (
        ("", True),
        ('question_cot = "Think: {question}{options}"', False),
        ('system_cot = "Think."', False),
    ):
        quiz(more, row, texts=texts)
        if refused:
            with pytest.raises(OptionError, match="its prompt has no text for cot"):
                load_task("quiz", cot=True)
        else:
            load_task("quiz", cot=True)
