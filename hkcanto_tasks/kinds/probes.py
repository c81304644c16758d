"""Made-up responses from which the hash of how answers are read is computed."""

PROBES = (
    *(
        "",
        " ",
        "B",
        " C",
        "D.",
        "(A)",
        "Ｂ",
        "**C**",
        "b) 因為佢大啲",
        "答案：D",
        "答案係B。",
        "選C",
    ),
    *("The answer is A.", "答案不是A，是B。", "我諗係A……等等，唔啱，應該係C。", "A定係B？好難講。"),
    *(
        "答案：\nB",
        "**Answer:**\nC",
        "我諗下：\n\nD\n因為",
        "\\boxed{B}",
        "唔知",
        "我唔可以答呢條問題。",
    ),
    *("A. 一\nB. 二\nC. 三\nD. 四", "<think>可能係A</think>C", "<think>可能係A"),
    *("Positive", "唔係正面，係負面。", "Positive, Negative or Neutral", "中性"),
    *("nei5 hou2", "Nei5 Hou2!", "nei5hou2", "gam1 jat6 tin1 hei3 hou2 hou2", "zip3 lik6", "你好"),
    *("譯文：佢今日唔得閒。", "「佢今日唔得閒。」", "他今天沒有空。", "He is busy today."),
    *("```\n得\n```", "哈哈" * 40, "我哋一齊去街市買餸，佢話啲菜好新鮮。", "我们一起去市场买菜。"),
    *("所以總共係 18 個。", "#### 7", "1,018.50", "十八", "12 - 5 = 7"),
)
"""Made-up responses for each form of answer that a task may ask for."""
