"""In every kind of task, the reading of an answer does not depend on its reasoning's format."""

import pytest

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


@pytest.mark.parametrize("task", ANSWERS)
@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_a_response_is_read_without_its_reasoning(task: str, wrapping: str) -> None:
    loaded = load_task(task)
    sample, how = loaded.samples[0], loaded.kind
    opening, closing = WRAPPINGS[wrapping]
    plain = how.judge(ANSWERS[task], sample)
    for began in (opening, ""):
        wrapped = how.judge(f"{began}{THOUGHT}{closing}{ANSWERS[task]}", sample)
        assert (wrapped.values, wrapped.answer) == (plain.values, plain.answer)
        assert wrapped.answer == plain.answer
        assert wrapped.details == plain.details
    nothing = how.judge("", sample)
    cut_off = how.judge(opening + THOUGHT, sample)
    assert (cut_off.values, cut_off.answer) == (nothing.values, nothing.answer)
    assert cut_off.reason == "none: cut off"
