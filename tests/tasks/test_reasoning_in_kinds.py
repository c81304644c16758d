"""In every kind of task, the reading of an answer does not depend on its reasoning's format."""

from hkcanto_tasks import load_task

from ..metrics.test_reasoning import THOUGHT, WRAPPINGS

ANSWERS = {
    "hkmmlu": "答案係B。",
    "hkmmlu_cot": "首先睇下。答案：B",
    "hkcanto_g2p": "nei5 hou2",
    "hkcanto_translation_zh_yue": "佢今日唔得閒。",
    "hkcanto_summarization": "佢話今日唔得閒，聽日先嚟。",
    "hkcanto_sentiment": "Positive",
    "hkcanto_fluency": "佢今日唔得閒，聽日先嚟。",
}


def test_a_response_is_read_without_its_reasoning() -> None:
    for task, answer in ANSWERS.items():
        loaded = load_task(task)
        sample, kind = loaded.samples[0], loaded.kind
        plain, nothing = kind.judge(answer, sample), kind.judge("", sample)
        for wrapping, (opening, closing) in WRAPPINGS.items():
            case = f"{task}, {wrapping}"
            for began in (opening, ""):
                wrapped = kind.judge(f"{began}{THOUGHT}{closing}{answer}", sample)
                assert (wrapped.values, wrapped.answer) == (
                    plain.values,
                    plain.answer,
                ), case
                assert wrapped.details == plain.details, case
            cut_off = kind.judge(opening + THOUGHT, sample)
            assert (cut_off.values, cut_off.answer) == (
                nothing.values,
                nothing.answer,
            ), case
            assert cut_off.reason == "none: cut off", case


def test_an_answer_before_reasoning_that_was_cut_off_is_read() -> None:
    loaded = load_task("hkmmlu")
    judgement = loaded.kind.judge("答案：B\n<think>再諗下先", loaded.samples[0])
    assert (judgement.answer, judgement.reason) == ("B", "stated")
