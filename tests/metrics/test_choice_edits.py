"""Edits that change nothing for a reader change nothing for the reader of letters.

100 ordinary responses about three questions, each edited in 26 ways.
"""

import re
from collections.abc import Callable
from itertools import product

import pytest

from hkcanto_metrics.choice import extract_choice
from hkcanto_metrics.script import fold_script

FERRY = {"A": "巴士", "B": "電車", "C": "渡輪", "D": "纜車"}
AIR = {"A": "Oxygen", "B": "Carbon dioxide", "C": "Nitrogen", "D": "Argon"}
NOVEL = {"A": "施耐庵", "B": "羅貫中", "C": "曹雪芹", "D": "吳承恩"}

# The letter is C in all of them.
RESPONSES: list[tuple[dict[str, str], str]] = [
    *product(
        [FERRY],
        [
            "C",
            "C. 渡輪",
            "C：渡輪",
            "答案：C",
            "答案係C。",
            "答案係 C. 渡輪。",
            "正確答案係C，因為渡輪喺海上行。",
            "我揀C。",
            "應該係C，渡輪。",
            "選C，因為巴士同電車都喺路面行。",
            "渡輪。",
            "答案係渡輪。",
            "C 係啱嘅。",
            "C啱，其他都唔喺海上行。",
            "A、B、D都唔係，所以係C。",
            "巴士同電車喺路面行，纜車喺空中行，所以揀C。",
            "A. 巴士喺路面行。\nB. 電車喺路軌行。\nC. 渡輪喺海上行。\nD. 纜車喺空中行。\n\n所以答案係C。",
            "A 錯，B 錯，C 啱，D 錯。",
            "渡輪喺海上行，其他三種都唔係。\n\n答案：C",
            "我諗係C，因為只有渡輪要落海。",
            "呢題好易，C。",
            "題目問海上交通工具，淨係渡輪符合，所以選C。",
            "最初以為係A，但係巴士唔會落海，所以係C。",
            "C\n\n渡輪喺維港行走。",
            "C。渡輪係水上交通工具。",
            "首先，巴士同電車都係陸上交通工具。其次，纜車喺空中行。因此，答案係C。",
            "梗係C。",
            "第三個選項啱。",
            "正確選項：C",
            "綜合分析，C最啱。",
            "答案就係C，即係渡輪。",
            "D係纜車，唔啱。C先啱。",
            "唔係A，係C。",
            "C（渡輪）",
        ],
    ),
    *product(
        [AIR],
        [
            "C",
            "C. Nitrogen",
            "C) Nitrogen",
            "(C) Nitrogen",
            "Answer: C",
            "The answer is C.",
            "The answer is C. Nitrogen.",
            "The correct answer is C.",
            "The correct answer is C, nitrogen, which makes up 78% of the air.",
            "I would choose C.",
            "Nitrogen.",
            "The answer is nitrogen.",
            "Option C is correct.",
            "C is correct, because nitrogen makes up 78% of the air.",
            "A, B and D are less common, so the answer is C.",
            "Dry air is 78% nitrogen and 21% oxygen.\n\nAnswer: C",
            "Oxygen is only 21%, so it is not A. The answer is C.",
            "A. Oxygen: 21%.\nB. Carbon dioxide: 0.04%.\nC. Nitrogen: 78%.\nD. Argon: 0.9%.\n\nIt is C.",
            "At first I thought of A, but oxygen is only 21%. So C.",
            "Therefore, C is the right choice.",
            "Nitrogen makes up most of the air, so option C.",
            "So the correct option is C.",
            "I'd go with C.",
            "It's C.",
            "C\n\nNitrogen makes up 78% of the air.",
            "Let's think step by step. Oxygen is 21%. Nitrogen is 78%. So the answer is C.",
            "Final answer: C",
            "That leaves C.",
            "My answer is C.",
            "The best choice is C, since nitrogen is the most common gas.",
            "C: Nitrogen",
            "The answer must be C.",
            "Thus, the answer is (C).",
        ],
    ),
    *product(
        [NOVEL],
        [
            "C",
            "C、曹雪芹",
            "C．曹雪芹",
            "答案是C。",
            "答案：C。曹雪芹",
            "正確答案是C。",
            "正確答案為（C）。",
            "故選C。",
            "因此選C。",
            "本題選C。",
            "我選擇C。",
            "應選C。",
            "選項C正確。",
            "C選項正確，其餘錯誤。",
            "綜上所述，答案是C。",
            "《紅樓夢》的作者是曹雪芹，所以選C。",
            "作者是曹雪芹。",
            "曹雪芹",
            "A是《水滸傳》的作者，B是《三國演義》的作者，D是《西遊記》的作者，故選C。",
            "施耐庵寫《水滸傳》，羅貫中寫《三國演義》，所以答案是C。",
            "解析：曹雪芹著《紅樓夢》。\n答案：C",
            "答案：C\n解析：曹雪芹著《紅樓夢》。",
            "A錯誤，B錯誤，C正確，D錯誤。",
            "由此可知，C為正確答案。",
            "正解是C。",
            "所以，正確的選項是C。",
            "選C。理由：曹雪芹是《紅樓夢》的作者。",
            "根據文學常識，答案為C（曹雪芹）。",
            "可以排除A、B、D，因此答案是C。",
            "不是A，也不是B，而是C。",
            "最終答案：C",
            "這道題的答案是C。",
            "C項符合題意。",
        ],
    ),
]


def in_full_width(text: str) -> str:
    """Latin letters and digits in full width, as Chinese input methods write them."""
    return re.sub("[A-D](?![A-Za-z])", lambda m: chr(ord(m[0]) + 0xFEE0), text)


EDITS: dict[str, Callable[[str], str]] = {
    "bold": lambda text: f"**{text}**",
    "bold letters": lambda text: re.sub("(?<![A-Za-z])C(?![A-Za-z])", "**C**", text),
    "code fence": lambda text: f"```\n{text}\n```",
    "quotes": lambda text: f'"{text}"',
    "corner brackets": lambda text: f"「{text}」",
    "spaces around": lambda text: f"  {text}   ",
    "line breaks around": lambda text: f"\n\n{text}\n\n",
    "full width": in_full_width,
    "simplified": fold_script,
    "emoji before": lambda text: f"😊 {text}",
    "emoji after": lambda text: f"{text} 👍",
    "courtesy before": lambda text: f"好的！\n\n{text}",
    "courtesy in English before": lambda text: f"Sure!\n\n{text}",
    "courtesy after": lambda text: f"{text}\n\n希望幫到你！",
    "courtesy in English after": lambda text: f"{text}\n\nHope this helps!",
    "offer after": lambda text: f"{text}\n\n如果仲有問題，隨時問我。",
    "heading": lambda text: f"## 答案\n\n{text}",
    "list mark": lambda text: f"- {text}",
    "paragraph": lambda text: f"<p>{text}</p>",
    "lower case answer": lambda text: text.replace("Answer", "answer"),
    "carriage returns": lambda text: text.replace("\n", "\r\n") + "\r\n",
    "zero-width": lambda text: "\u200b" + text.replace("C", "\u200bC"),
    "end of turn": lambda text: f"{text}<|im_end|>",
    "another end of turn": lambda text: f"{text}<end_of_turn>\n",
    "no full stop": lambda text: text.rstrip("。."),
    "byte order mark": lambda text: f"\ufeff{text}",
    "half-width signs": lambda text: text.replace("，", ",").replace("：", ":"),
}


@pytest.mark.parametrize(
    "share", [pytest.param(1, marks=pytest.mark.slow, id="all"), 5]
)
def test_a_harmless_edit_changes_no_letter(share: int) -> None:
    assert len(RESPONSES) == 100
    misread = []
    unread = []
    for number, (edit, case) in enumerate(product(EDITS.items(), RESPONSES)):
        if number % share:
            continue
        name, change = edit
        options, text = case
        letter = extract_choice(change(text), options)
        if letter is None:
            unread.append((name, text))
        elif letter != "C":
            misread.append((name, text))
    assert misread == []
    assert len(unread) <= 5, unread
