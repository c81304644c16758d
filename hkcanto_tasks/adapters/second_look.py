"""The request of a second look: a model says which option an unread response chose.

The Inspect adapter sends it. The workbench reports how many tokens that would take.
"""

from ..prompts import fill

PROMPT = """\
下面有一條選擇題，同埋一個人對佢嘅回應。

題目：
{question}
{options}

回應：
{response}

呢個回應揀咗邊一個選項？只可以答一個字母。如果佢一個都冇揀，或者揀咗多過一個，就答 none。
所以答案係（"""

PROMPT_LENGTH = len(fill(PROMPT, {"question": "", "options": "", "response": ""}))
"""Characters of the prompt without the question and the response."""

LONGEST_RESPONSE = 4_000
"""Characters of a response that are shown, from its end."""

SHARES = ("read", "forced", "none")
"""Figures: the shares of responses read by the rules, by the second look, and by neither."""

ACCURACY = "acc_reread"
"""Figure: the accuracy with the letters that the rules and the second look read."""
