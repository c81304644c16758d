"""Translation, summarisation, sentiment and fluency: prompts, and judgements of answers."""

import csv
import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from cantonesedetect import CantoneseDetector
from hypothesis import given
from hypothesis import strategies as st

from hkcanto_metrics.fluency import cantonese_fluency
from hkcanto_metrics.translation import score_translation
from hkcanto_tasks import load_task
from hkcanto_tasks.catalogue import BENCHMARKS, find_task
from hkcanto_tasks.errors import DataCorrupt, OptionError
from hkcanto_tasks.samples import Sample
from hkcanto_tasks.tasks import task_as_run

DIRECTIONS = ("yue_en", "en_yue", "yue_zh", "zh_yue")
HKMMLU = ("hkmmlu_translation_yue_zh", "hkmmlu_translation_zh_yue")
PAIRS = [
    (f"佢哋第{n}日先至返嚟，我喺度等到攰晒。", f"他们第{n}天才回来，我在这里等得很累。")
    for n in range(40)
]

Layout = Callable[[str, list[tuple[str, str]]], None]


def text(task: str, shots: int) -> str:
    loaded = load_task(task)
    return loaded.at(shots=shots).prompt(loaded.samples[0]).text()


def pairs(name: str) -> list[tuple[str, str]]:
    loaded = load_task(name)
    subjects = [subject.name for subject in loaded.task.subjects]
    examples = [example for subject in subjects for example in loaded.examples(subject)]
    return [(example.question, example.answer) for example in examples]


@pytest.fixture
def hkmmlu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """A data folder in which a test lays out HKMMLU's translations."""
    monkeypatch.delenv("HKCANTO_DATA")
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path))

    def write(
        file: str, rows: list[tuple[str, str]], columns: str = "input,output"
    ) -> None:
        path = tmp_path / "hkmmlu" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        names = columns.split(",")
        objects = [dict(zip(names, row, strict=True)) for row in rows]
        if path.suffix == ".csv":
            with path.open("w", encoding="utf-8", newline="") as stream:
                csv.writer(stream).writerows([names, *rows])
        elif path.suffix == ".json":
            path.write_text(json.dumps(objects, ensure_ascii=False), encoding="utf-8")
        else:
            lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in objects)
            path.write_text("".join(lines), encoding="utf-8")

    return write


# ------------------------------------------------------------------------------------- prompts


def test_the_three_shot_prompt_into_cantonese_is_the_papers() -> None:
    loaded = load_task("hkcanto_translation_zh_yue")
    first = loaded.samples[0]
    (one, two, three) = loaded.examples("")
    sources = [
        example.question.partition("書面語：")[2] for example in (one, two, three)
    ]
    # Appendix F, with (e.g. n) and (Text to translate) filled in.
    assert loaded.at(shots=3).prompt(first).text() == (
        "參考以下例子，將以下繁體中文句子翻譯成香港的廣東話：\n"
        "\n"
        f"例子1：中文書面語：{sources[0]} 廣東話：{one.answer}\n"
        "\n"
        f"例子2：中文書面語：{sources[1]} 廣東話：{two.answer}\n"
        "\n"
        f"例子3：中文書面語：{sources[2]} 廣東話：{three.answer}\n"
        "\n"
        "請翻譯以下文本：\n"
        f"{first.source}\n"
        "\n"
        "確保翻譯準確自然，並符合香港的廣東話語法及表達方式\n"
        "\n"
        "只需回覆翻譯部份，不需要解釋"
    )
    assert sources[0] == "她常常說要減肥，但每次經過那間餅店都忍不住進去買東西吃。"


def test_the_three_shot_prompt_into_english_is_the_papers() -> None:
    loaded = load_task("hkcanto_translation_yue_en")
    first = loaded.samples[0]
    (one, two, three) = loaded.examples("")
    sources = [
        example.question.partition("Cantonese: ")[2] for example in (one, two, three)
    ]
    assert loaded.at(shots=3).prompt(first).text() == (
        "Translate the following Cantonese text into English, referring to the examples below:\n"
        "\n"
        f"Example 1: Cantonese: {sources[0]} English: {one.answer}\n"
        f"Example 2: Cantonese: {sources[1]} English: {two.answer}\n"
        f"Example 3: Cantonese: {sources[2]} English: {three.answer}\n"
        "\n"
        "Text to Translate:\n"
        f"{first.source}\n"
        "\n"
        "Ensure the translation is accurate and natural, preserving the original meaning and using "
        "concise and fluent English expression.\n"
        "ONLY RETURN THE TRANSLATION.\n"
        "DO NOT EXPLAIN."
    )


def test_without_examples_only_they_and_the_words_about_them_are_gone() -> None:
    for direction in DIRECTIONS:
        task = f"hkcanto_translation_{direction}"
        assert find_task(f"{task}_0shot").shots == 0
        plain, worked = text(task, 0), text(task, 3)
        assert "例子" not in plain
        assert "xample" not in plain
        question = "Text to Translate:" if direction == "yue_en" else "請翻譯以下文本："
        assert plain.partition(question)[2] == worked.partition(question)[2] != ""
        opening = worked.partition("\n")[0]
        for reference in ("參考以下例子，", ", referring to the examples below"):
            opening = opening.replace(reference, "")
        assert plain.partition("\n")[0] == opening


def test_each_prompt_names_its_own_languages() -> None:
    for direction, source, target in (
        ("yue_en", "Cantonese text", "into English"),
        ("en_yue", "英文句子", "成香港的廣東話"),
        ("yue_zh", "廣東話句子", "成繁體中文書面語"),
        ("zh_yue", "繁體中文句子", "成香港的廣東話"),
    ):
        for shots in (0, 3):
            opening = text(f"hkcanto_translation_{direction}", shots).partition("\n")[0]
            assert source in opening.partition(target)[0], (direction, shots)
            assert target in opening, (direction, shots)


def test_worked_examples_are_the_train_rows_in_order() -> None:
    for direction in DIRECTIONS:
        stem = find_task(f"hkcanto_translation_{direction}").subjects[0].stem
        path = BENCHMARKS / f"hkcanto/sample/canto-nlp/{stem}_train.json"
        rows = [json.loads(line) for line in path.open(encoding="utf-8")]
        shown = pairs(f"hkcanto_translation_{direction}")
        assert [answer for _, answer in shown] == [row["TargetText"] for row in rows]
        for number, (row, (question, _)) in enumerate(
            zip(rows, shown, strict=True), start=1
        ):
            assert str(number) in question
            assert question.endswith(row["SourceText"])


def test_hkmmlu_asks_as_in_figures_12_and_20() -> None:
    for task, asked in (
        # The text under the other caption of Figure 12; Figure 20 has it with the right example.
        (
            HKMMLU[0],
            "请你将以下嘅粤语翻成普通话。直接输出译咗嘅句子,唔使解释或者其他批注。\n",
        ),
        (
            HKMMLU[1],
            "请将以下普通话翻译为粤语白话文。直接输出翻译过的句子,不需要解释或其他注释。\n",
        ),
    ):
        loaded = load_task(task)
        first = loaded.samples[0]
        assert (
            loaded.at(shots=0).prompt(first).text()
            == f"{asked}問題: {first.source}\n答案:"
        )


def test_hkmmlu_has_no_worked_examples() -> None:
    loaded = load_task(HKMMLU[0])
    with pytest.raises(OptionError, match="shots=1, but there are no worked examples"):
        loaded.at(shots=1).prompt(loaded.samples[0])


def test_the_summarisation_prompt_is_the_papers() -> None:
    loaded = load_task("hkcanto_summarization")
    first = loaded.samples[0]
    assert loaded.at(shots=0).prompt(first).text() == (
        "我哋會提供一段用廣東話寫成嘅文本。請你將文本概括成200字嘅廣東話，保留核心訊息同主題，"
        "確保內容準確、行文流暢連貫，並且忠於原意。\n\n"
        f"文本（原文）：{first.source}\n\n"
        "預期輸出："
    )


def test_braces_in_a_text_stay_as_they_are(hkmmlu: Layout) -> None:
    hkmmlu(
        "can2man.jsonl", [("佢話{source}同{0}係乜嘢？", "他说{source}和{0}是什么？")]
    )
    assert "問題: 佢話{source}同{0}係乜嘢？\n" in text(HKMMLU[0], 0)


def test_a_reasoning_model_gets_room_and_no_stop_text() -> None:
    for name in (
        "hkcanto_sentiment",
        "hkcanto_translation_yue_en",
        "hkcanto_summarization",
    ):
        plain, reasoning = load_task(name).kind, load_task(name, reasoning=True).kind
        assert plain.stop
        assert not reasoning.stop
        assert reasoning.max_tokens > plain.max_tokens + 4096


def test_a_base_model_that_runs_on_is_judged_by_its_first_answer() -> None:
    how = load_task("hkcanto_translation_zh_yue").kind
    ran_on = "部機壞咗。\n\n例子4：中文書面語：天氣很好。 廣東話：天氣好好。"
    assert (
        how.judge(
            ran_on, Sample(id="", target="部機壞咗。", source="機器壞了。")
        ).answer
        == "部機壞咗。"
    )
    how = load_task("hkcanto_sentiment").kind
    assert (
        how.judge(
            "Negative\n\nInput: 好正\n\nSentiment: Positive",
            Sample(id="", target="Negative"),
        ).values["acc"]
        == 1
    )


# ---------------------------------------------------------------------------------- directions


def cantonese(texts: list[str]) -> float:
    judge = CantoneseDetector().judge
    return fmean(judge(text) == "cantonese" for text in texts)


def test_the_cantonese_side_is_the_one_that_the_name_says() -> None:
    for name in (
        *(f"hkcanto_translation_{direction}" for direction in DIRECTIONS),
        *HKMMLU,
    ):
        samples = load_task(name).samples
        texts = (
            [sample.source for sample in samples],
            [sample.target for sample in samples],
        )
        ours, other = texts if "translation_yue" in name else reversed(texts)
        assert (cantonese(ours), cantonese(other)) == (1, 0), name


@pytest.mark.realdata
def test_real_pairs_of_hkmmlu_go_in_the_direction_of_the_name() -> None:
    for name in HKMMLU:
        samples = load_task(name).samples
        texts = (
            [sample.source for sample in samples],
            [sample.target for sample in samples],
        )
        ours, other = texts if "translation_yue" in name else reversed(texts)
        assert cantonese(ours) > 0.7, name
        assert cantonese(other) < 0.1, name


def test_interchanged_files_are_refused(hkmmlu: Layout) -> None:
    hkmmlu("translation/man2can.jsonl", PAIRS)
    with pytest.raises(
        DataCorrupt, match=r"into Cantonese, but of the first 40 rows 40 sources"
    ):
        load_task(HKMMLU[1])
    hkmmlu("translation/can2man.jsonl", [(mandarin, yue) for yue, mandarin in PAIRS])
    with pytest.raises(DataCorrupt, match="swapped"):
        load_task(HKMMLU[0])


# --------------------------------------------------------------------------------------- files


def test_declared_files_and_columns_are_read(hkmmlu: Layout, tmp_path: Path) -> None:
    for file, columns in (
        ("translation/can2man.jsonl", "input,output"),
        ("Can2Man.jsonl", "source,target"),
        ("translation/Can2Man.csv", "Input,Output"),
    ):
        hkmmlu(file, PAIRS, columns)
        samples = load_task(HKMMLU[0]).samples
        by_row = sorted(samples, key=lambda sample: int(sample.id.rpartition("/")[2]))
        assert [(sample.source, sample.target) for sample in by_row] == PAIRS, file
        (tmp_path / "hkmmlu" / file).unlink()


def test_a_row_without_both_texts_is_set_aside(tmp_path: Path, hkmmlu: Layout) -> None:
    hkmmlu("can2man.jsonl", PAIRS)
    path = tmp_path / "hkmmlu/can2man.jsonl"
    good = [json.dumps({"input": yue, "output": mandarin}) for yue, mandarin in PAIRS]
    found = "no text for the target: .* targettext.*, found the columns input, answer"
    for row, message in (
        ({"input": "好攰", "answer": "很累"}, found),
        ({"input": "好攰", "output": " "}, "no text for the target"),
        ({"prompt": "好攰", "output": "很累"}, "no text for the source"),
    ):
        path.write_text("\n".join([*good, json.dumps(row)]), encoding="utf-8")
        loaded = load_task(HKMMLU[0])
        assert len(loaded.samples) == len(PAIRS)
        assert "-1rows|" in loaded.at(shots=0).signature
        path.write_text("\n".join([*good, *[json.dumps(row)] * 2]), encoding="utf-8")
        with pytest.raises(DataCorrupt, match=f"row 41.*{message}"):
            load_task(HKMMLU[0])
    path.write_text(json.dumps(row), encoding="utf-8")  # no row is left
    with pytest.raises(DataCorrupt, match="row 1 has no text for the source"):
        load_task(HKMMLU[0])


@pytest.fixture
def canto_nlp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """HKCanto-Eval's folder of these tasks, in a data folder of its own."""
    monkeypatch.delenv("HKCANTO_DATA")
    monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path))
    folder = tmp_path / "hkeval2025/canto-nlp"
    folder.mkdir(parents=True)
    return folder


def test_a_repeated_number_is_refused(canto_nlp: Path) -> None:
    row = {"#": 4, "SourceText": "好攰呀", "TargetText": "很累啊"}
    path = canto_nlp / "yue_zh_test.json"
    path.write_text(f"{json.dumps(row)}\n{json.dumps(row)}\n", encoding="utf-8")
    with pytest.raises(
        DataCorrupt, match=r"yue_zh_test\.json: .* occur more than once"
    ):
        load_task("hkcanto_translation_yue_zh")


def test_rows_without_a_sentiment_are_refused(canto_nlp: Path) -> None:
    path = canto_nlp / "sentiment_facebook.json"
    good = {"text": "好嬲", "sentiment": "Negative"}
    undeclared = r"a label .'Good'. that is not declared; declared are Positive"
    for row, message in (
        ({"text": " ", "sentiment": "Neutral"}, "row 2 has no text"),
        ({"text": "好正", "sentiment": "Good"}, undeclared),
    ):
        path.write_text("\n".join(map(json.dumps, [good, row, row])), encoding="utf-8")
        with pytest.raises(DataCorrupt, match=message):
            load_task("hkcanto_sentiment")


# --------------------------------------------------------------------- the sample of the pairs


def numbers(name: str, **options: Any) -> list[int]:
    return [
        int(sample.id.rpartition("/")[2])
        for sample in load_task(name, **options).samples
    ]


def test_smaller_samples_are_parts_of_larger_ones_in_the_same_order(
    hkmmlu: Layout,
) -> None:
    hkmmlu("can2man.jsonl", PAIRS)
    five, twenty = numbers(HKMMLU[0], size=5), numbers(HKMMLU[0], size=20)
    assert len(five) == 5
    assert len(twenty) == 20
    assert set(five) < set(twenty)
    whole = numbers(HKMMLU[0], size=0)
    assert sorted(whole) == list(range(1, 41))
    assert twenty == [number for number in whole if number in twenty]


def test_both_directions_draw_the_same_sentences(hkmmlu: Layout) -> None:
    hkmmlu("can2man.jsonl", PAIRS)
    hkmmlu("man2can.jsonl", [(mandarin, yue) for yue, mandarin in PAIRS])
    assert set(numbers(HKMMLU[0], size=10)) == set(numbers(HKMMLU[1], size=10))


def test_another_seed_is_another_sample(hkmmlu: Layout) -> None:
    hkmmlu("can2man.jsonl", PAIRS)
    drawn = numbers(HKMMLU[0], size=10)
    assert drawn == numbers(HKMMLU[0], size=10, sample_seed=0)
    assert drawn != numbers(HKMMLU[0], size=10, sample_seed=1)


def test_two_thousand_pairs_by_default(hkmmlu: Layout) -> None:
    hkmmlu("can2man.jsonl", PAIRS * 51)
    assert len(numbers(HKMMLU[0])) == 2000
    assert len(numbers(HKMMLU[0], size=0)) == 2040


def test_the_signature_tells_the_sample_from_the_full_set() -> None:
    sample = load_task(HKMMLU[0]).at(shots=0).signature
    full = load_task(HKMMLU[0], size=0).at(shots=0).signature
    assert "size:2000" in sample
    assert "size" not in full


# ---------------------------------------------------------------------------------- judgements


def translated(response: str, target: str, source: str) -> Any:
    how = task_as_run("hkcanto_translation_yue_zh")
    return how.judge(response, Sample(id="", target=target, source=source))


def test_text_around_a_translation_is_counted_but_not_scored() -> None:
    source = "我哋聽日出發，你都一齊嚟啦。"
    plain = translated("我們明天出發，你也一起來吧。", "我們明天出發。", source)
    around = "Here is the translation:\n\n{}\n\nNote: 「啦」 is a particle that softens a request."
    talkative = translated(around.format(plain.answer), "我們明天出發。", source)
    assert talkative.answer == plain.answer
    assert (plain.values["overgenerated"], talkative.values["overgenerated"]) == (0, 1)
    assert "notes" in talkative.details["removed"]


def test_a_good_translation_has_no_fault() -> None:
    judgement = translated("我們明天出發。", "我們明天出發。", "我哋聽日出發。")
    assert not any(judgement.values.values())
    assert {*judgement.values} == {
        "empty",
        "overgenerated",
        "wrong_script",
        "copied_source",
        "refusal_rate",
    }
    assert judgement.answer == "我們明天出發。"


FAULTS = (
    ("", "我們明天出發。", "我哋聽日出發。", "empty"),
    ("```\n```", "我們明天出發。", "我哋聽日出發。", "empty"),
    ("<think>譯成書面語……", "我們明天出發。", "我哋聽日出發。", "empty"),
    ("我哋聽日出發", "我們明天出發。", "我哋聽日出發。", "copied_source"),
    ("我哋听日出发。", "我們明天出發。", "我哋聽日出發。", "copied_source"),
    ("We leave tomorrow", "我哋聽日出發。", "We leave tomorrow.", "copied_source"),
    ("抱歉，我無法翻譯這句話。", "我們明天出發。", "我哋聽日出發。", "refusal_rate"),
    ("我們明天出發。", "我们明天出发。", "我哋聽日出發。", "wrong_script"),
    ("我们明天出发。", "我們明天出發。", "我哋聽日出發。", "wrong_script"),
    ("我們明天出發。", "We leave tomorrow.", "我哋聽日出發。", "wrong_script"),
)


def test_faults_of_a_translation() -> None:
    for response, target, source, fault in FAULTS:
        assert translated(response, target, source).values[fault] == 1, (
            response,
            fault,
        )


def test_a_refusal_is_scored_as_no_text() -> None:
    refused = translated("I can't translate this.", "我們明天出發。", "我哋聽日出發。")
    assert refused.answer == ""
    assert (refused.values["refusal_rate"], refused.values["empty"]) == (1, 0)
    talk = Sample(id="", source="我哋街市好有人情味，個個都識得打招呼。")
    summary = task_as_run("hkcanto_summarization").judge(
        "對唔住，我冇辦法總結呢段文字。", talk
    )
    assert (summary.values["refusal_rate"], summary.values["fluent"]) == (1, 0)
    assert summary.values["empty"] == 0


def test_quotation_marks_around_a_text_go_though_its_prompt_has_them() -> None:
    prompt = Sample(id="", source="「寫一句」")
    written = task_as_run("hkcanto_fluency").judge("「今日好熱。」", prompt)
    assert written.answer == "今日好熱。"


def test_a_sentence_equal_in_both_languages_is_not_a_copy() -> None:
    assert translated("天氣好。", "天氣好。", "天氣好。").values["copied_source"] == 0


def test_the_script_of_a_reference_that_tells_none_is_not_held_against_anyone() -> None:
    for response in ("你好，老师。", "你好，老師。"):
        assert translated(response, "你好。", "你好呀。").values["wrong_script"] == 0


def test_what_surrounds_a_translation_is_removed_and_named() -> None:
    judgement = translated(
        "譯文：「我們明天出發。」", "我們明天出發。", "我哋聽日出發。"
    )
    assert judgement.answer == "我們明天出發。"
    assert judgement.details["removed"] == "label, quotes"
    assert "label, quotes" in judgement.explanation


def test_the_means_of_the_faults_are_the_corpus_rates() -> None:
    for name in (
        *(f"hkcanto_translation_{direction}" for direction in DIRECTIONS),
        *HKMMLU,
    ):
        loaded = load_task(name)
        sources = [sample.source for sample in loaded.samples]
        targets = [sample.target for sample in loaded.samples]
        for responses in (targets, sources, [""] * len(sources)):
            judged = [*map(loaded.kind.judge, responses, loaded.samples)]
            corpus = score_translation(
                [judgement.answer for judgement in judged],
                targets,
                sources=sources,
                language="en" if loaded.task.definition.language == "en" else "zh",
            )
            for fault in ("empty", "wrong_script", "copied_source"):
                mean = fmean(judgement.values[fault] for judgement in judged)
                assert mean == pytest.approx(corpus[fault]), (name, fault)
            assert (corpus["chrf"] == pytest.approx(100)) == (responses is targets), (
                name
            )


def test_references_in_cantonese_are_fluent_and_written_chinese_is_not() -> None:
    written = {
        sample.target for sample in load_task("hkcanto_translation_yue_zh").samples
    }
    for direction in ("en_yue", "zh_yue"):
        loaded = load_task(f"hkcanto_translation_{direction}")
        for sample in loaded.samples:
            judged = loaded.kind.judge(sample.target, sample)
            assert judged.values["fluent"] == judged.values["cantonese_ratio"] == 1
        asked = Sample(id="", target="佢哋返咗嚟。", source="They came back.")
        for text_ in written:
            judged = loaded.kind.judge(text_, asked)
            assert judged.values["fluent"] == 0, text_
            assert "Words of Written Chinese" in judged.explanation


def test_cantonese_is_asked_of_translations_into_cantonese_only() -> None:
    reported = {
        name: "fluent" in [figure.name for figure in task_as_run(name).figures]
        for name in [*(f"hkcanto_translation_{d}" for d in DIRECTIONS), *HKMMLU]
    }
    assert [name for name, fluent in reported.items() if fluent] == [
        "hkcanto_translation_en_yue",
        "hkcanto_translation_zh_yue",
        "hkmmlu_translation_zh_yue",
    ]


@given(response=st.text(max_size=60), source=st.text(max_size=20))
def test_any_response_gets_a_value_for_every_metric_of_an_item(
    response: str, source: str
) -> None:
    for name in (
        *(
            "hkcanto_translation_yue_zh",
            "hkcanto_translation_zh_yue",
            "hkcanto_summarization",
        ),
        *("hkcanto_fluency", "hkcanto_sentiment"),
    ):
        kind = task_as_run(name)
        judgement = kind.judge(
            response, Sample(id="", target="我哋聽日出發。", source=source)
        )
        of_items = {
            figure.averages for figure in kind.figures if figure.form != "corpus"
        }
        of_reasoning = {name for name in of_items if "reasoning" in name}
        assert judgement.values.keys() == of_items - of_reasoning
        assert judgement.weights.keys() == {
            figure.name for figure in kind.figures if figure.form == "rate"
        }


# ----------------------------------------------------------------------------- summaries, answers


def test_a_summary_is_penalised_for_more_than_500_characters() -> None:
    how = load_task("hkcanto_summarization").kind
    judged = [
        how.judge("佢" * n, Sample(id="", target="", source="原文")).values
        for n in (200, 500, 600, 1200)
    ]
    assert [values["n_characters"] for values in judged] == [200, 500, 600, 1200]
    # "reducing the score proportionally to the excess length" (G.1): 100 over 500 makes 0.8.
    assert [values["length_penalty"] for values in judged] == pytest.approx(
        [1, 1, 0.8, 0]
    )


def test_a_summary_with_one_word_of_written_chinese_fails_by_appendix_g() -> None:
    """這, 的 and 了 fail a text there; `fluent` allows one feature in ten."""
    kind = task_as_run("hkcanto_summarization")
    item = Sample(id="", source="街市有人情味。")
    cantonese = (
        "佢哋話街市嘅嘢好食，啲人又好，所以佢成日去嗰度買嘢，仲成日同啲檔主傾偈。"
    )
    for text, fluent, published in [
        (cantonese, 1, 1),
        (f"{cantonese}佢食了飯。", 1, 0),
        (f"{cantonese}這個好。", 1, 0),
        (f"{cantonese}佢的檔。", 1, 0),
        ("他們說這裏的東西好吃。", 0, 0),
    ]:
        values = kind.judge(text, item).values
        assert (values["fluent"], values["fluent_published"]) == (fluent, published), (
            text
        )


def test_a_summary_in_written_chinese_fails() -> None:
    how = load_task("hkcanto_summarization").kind
    written = how.judge(
        "這篇文章說的是街市的人情味，他們都記得熟客的喜好。",
        Sample(id="", target="", source="原文"),
    )
    spoken = how.judge(
        "呢篇文講街市嘅人情味，檔主個個都記得啲熟客鍾意乜嘢。",
        Sample(id="", target="", source="原文"),
    )
    assert (written.values["fluent"], spoken.values["fluent"]) == (0, 1)


FLUENT: tuple[tuple[str, dict[str, float]], ...] = (
    ("早啲瞓，唔好攞住部電話上牀。", {"fluent": 1, "degenerate": 0, "empty": 0}),
    ("早点睡，不要拿着手机上床。他们都说这样好。", {"fluent": 0, "empty": 0}),
    ("早啲瞓啦，" * 20, {"fluent": 0, "degenerate": 1}),
    ("You should sleep early.", {"fluent": 0, "empty": 0}),
    ("", {"fluent": 0, "empty": 1, "n_characters": 0}),
)


def test_an_answer_is_fluent_if_it_is_cantonese() -> None:
    kind = load_task("hkcanto_fluency").kind
    for answer, expected in FLUENT:
        values = kind.judge(answer, Sample(id="", target="")).values
        assert {name: values[name] for name in expected} == expected, answer


def test_cantonese_in_simplified_script_is_reported_as_such() -> None:
    values = (
        load_task("hkcanto_fluency")
        .kind.judge("你应该早啲瞓，唔好睇电话。", Sample(id="", target=""))
        .values
    )
    assert values["fluent"] == 1
    assert values["simplified_ratio"] == 1


# ------------------------------------------------------------------------------------ sentiment


LABELS: tuple[tuple[str, str | None], ...] = (
    ("Positive", "Positive"),
    ("**Negative**", "Negative"),
    ("neutral.", "Neutral"),
    ("Sentiment: Neutral", "Neutral"),
    ("The text expresses a negative sentiment.", "Negative"),
    ("正面", "Positive"),
    ("情感係負面。", "Negative"),
    ("负面", "Negative"),
    ("中性 (Neutral)", "Neutral"),
    ("非常負面", "Negative"),
    ("唔係正面，係負面。", "Negative"),
    ("This is not positive; it is negative.", "Negative"),
    ("Negative. There are no positive words in it.", "Negative"),
    ("The food is positive, but the service is negative. Overall: Neutral", "Neutral"),
    ("Neutral\nNeutral\nNeutral", "Neutral"),
    ("<think>Positive? No, the service…</think>Negative", "Negative"),
    # none
    ("", None),
    ("Mixed", None),
    ("A", None),
    ("不是負面", None),
    ("It is not negative.", None),
    ("Let's be positively clear.", None),
    ("<think>It must be positive", None),
    # several
    ("Positive/Negative/Neutral", None),
    ("Positive, Negative or Neutral", None),
    ("正面、負面定係中性", None),
    ("Positive or Neutral", None),
    ("neutral to negative", None),
    ("Positive\nNegative", None),
)


def test_the_label_that_a_response_settles_on() -> None:
    kind = load_task("hkcanto_sentiment").kind
    for (response, label), target in product(
        LABELS, ("Positive", "Negative", "Neutral")
    ):
        judged = kind.judge(response, Sample(id="", target=target))
        assert judged.values == {
            "acc": label == target,
            "unparsed_rate": label is None,
        }, response
        assert judged.answer == (label or ""), response


def test_the_first_row_is_the_example_and_is_not_scored() -> None:
    loaded = load_task("hkcanto_sentiment")
    for source in ("openrice", "facebook"):
        (example,) = loaded.examples(source)
        samples = [sample for sample in loaded.samples if sample.subject == source]
        assert len(samples) == 8
        assert example.question not in [
            loaded.kind.prompt(sample).question for sample in samples
        ]
        prompt = loaded.at(shots=1).prompt(samples[0]).text()
        # The release's prompt; the paper prints none.
        assert prompt == (
            "Follow the given examples and analyze the sentiment of the Cantonese text. You should "
            "only return the answer: Positive, Negative or Neutral.\n\n"
            f"{example.question} {example.answer}\n\nInput: {samples[0].source}\n\nSentiment:"
        )


# ----------------------------------------------------------------------------- our own questions


def test_our_questions_are_there_wherever_other_data_comes_from(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for data in ("sample", "release", "folder"):
        monkeypatch.setenv("HKCANTO_DATA", "release" if data == "folder" else data)
        if data == "folder":
            monkeypatch.setenv("HKCANTO_DATA_DIR", str(tmp_path))
        loaded = load_task("hkcanto_fluency")
        assert len(loaded.samples) >= 60
        assert loaded.revision != "sample"
        assert not loaded.revision.startswith("local")


def test_our_questions_are_cantonese_and_different() -> None:
    samples = load_task("hkcanto_fluency").samples
    judge = CantoneseDetector().judge
    assert {str(judge(sample.source)) for sample in samples} == {"cantonese"}
    assert all(
        cantonese_fluency(sample.source).simplified_ratio == 0 for sample in samples
    )
    assert len({sample.source for sample in samples}) == len(samples)


def test_our_questions_are_of_many_sorts() -> None:
    samples = load_task("hkcanto_fluency").samples
    categories = {sample.category for sample in samples}
    assert len(categories) >= 10
    assert all(
        sample.id.startswith(f"hkcanto_fluency/{sample.category}_")
        for sample in samples
    )
    assert all(10 <= len(sample.source) <= 40 for sample in samples)


def test_our_questions_ask_for_cantonese() -> None:
    assert "廣東話" in text("hkcanto_fluency", 0).partition("\n")[0]


# ----------------------------------------------------------------------------------- real data


@pytest.mark.realdata
def test_the_real_data_has_the_papers_numbers() -> None:
    for name, items, examples in (
        *((f"hkcanto_translation_{direction}", 17, 3) for direction in DIRECTIONS),
        ("hkcanto_summarization", 20, 0),
        ("hkcanto_sentiment_openrice", 1199, 1),
        ("hkcanto_sentiment_facebook", 398, 1),
        (HKMMLU[0], 100, 0),
        (HKMMLU[1], 100, 0),
    ):
        loaded = load_task(name)
        assert len(loaded.samples) == items, name
        assert (
            sum(len(loaded.examples(each.name)) for each in loaded.task.subjects)
            == examples
        )
        assert len({sample.id for sample in loaded.samples}) == items, name


@pytest.mark.realdata
def test_the_papers_own_example_is_a_train_row() -> None:
    shown = pairs("hkcanto_translation_zh_yue")
    # Appendix F prints this sentence as one of the few-shot examples.
    printed = "打工打到只剩下半條命，把自己身體弄成這樣，賺了的錢也不夠你去看醫生。"
    assert any(question.endswith(printed) for question, _ in shown)
