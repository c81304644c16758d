"""Compare our answer extraction with others: `python performance/compare_extractors.py LABELLED`.

LABELLED has one response a line, with `text`, `options` (letter to text), `answer` (a letter or
null) and optionally `question`, which only ours reads, and `sure`; responses that are not sure are
left out. The extractors of lm-eval and Inspect are called if these are installed. The others are
reimplemented here from their sources, condensed but with the same results; `docs/extraction.md`
gives the versions.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

from hkcanto_metrics import extract_choice

Rule = Callable[[str, Mapping[str, str]], str | None]

# lm-eval's mmlu_flan_cot_zeroshot, its two filters.
STRICT_MATCH = (
    r"((?<=The answer is )(.*)(?=.)|(?<=answer is )(.*)(?=.)"
    r"|(?<=The answer: )(.*)(?=.)|(?<=The final answer: )(.*)(?=.))"
)
FLEXIBLE_EXTRACT = r"(\([A-Z]\))"
# simple-evals, common.py, and its way of asking for the Chinese words for "answer".
SIMPLE_EVALS = r"(?i)Answer[ \t]*:[ \t]*\$?([A-D])\$?"
SIMPLE_EVALS_WORDS = r"(?i)(?:Answer\s*:|答案\s*[：:]|答\s*[：:]|答[复曰]\s*：|回答\s*[：:])[ \t]*([A-D])"


def first(
    patterns: Sequence[str], take: int, text: str, options: Mapping[str, str]
) -> str | None:
    """The first match, or with `take` -1 the last, of the first pattern that matches."""
    letters = "".join(options)
    for pattern in patterns:
        one = pattern.replace("(X)", f"([{letters}])").replace("[^X]", f"[^{letters}]")
        if found := re.findall(one, text.strip(), re.DOTALL):
            return str(found[take]).upper()
    return None


def simple_evals_multilingual(text: str, options: Mapping[str, str]) -> str | None:
    """simple-evals, which first removes markup and converts full-width letters."""
    plain = re.sub(r"\*\*|\\(?:boxed|text|mathrm|mathbf)|[${}\\]", "", text)
    return first(
        [SIMPLE_EVALS_WORDS],
        0,
        plain.translate(str.maketrans("ＡＢＣＤ", "ABCD")),
        options,
    )


def evalscope(marker: str, text: str, options: Mapping[str, str]) -> str | None:
    """The label after the last marker, or else the last capital letter of the text."""
    for found in reversed(list(re.finditer(rf"{marker}\s*[:：]\s*\**\s*", text))):
        label = re.match(
            r"[\s$\\({（\[【a-z]*?([A-J]+)(?![A-Za-z])", text[found.end() :]
        )
        if label and set(label[1]) <= set(options):
            return label[1] if len(label[1]) == 1 else None
    capitals = [character for character in text if character.isupper()]
    return capitals[-1] if capitals and capitals[-1] in options else None


def lighteval(is_chinese: bool, text: str, options: Mapping[str, str]) -> str | None:
    """LightEval's index extraction without an anchor: the rightmost match of the best pattern."""
    letters = "".join(options)
    word, stop, comma, colon, space = (
        ("答案", "。", "，", "：", "") if is_chinese else ("answer", *".,: ")
    )
    one = rf"(?P<x>[{letters}]|\([{letters}]\))"
    after = rf"(?:\*\*)?(?:[{stop}.]|[{comma},]|\s?[{colon}:]|{space}|$)"
    alone = rf"(?:^|{space})(?:\*\*)?{one}{after}"
    final = [rf"(?i:final answer.{{0,100}}?)\s+is:?\s*{one}"]
    for pattern in (
        *([] if is_chinese else final),
        rf"(?i:{word})\s?[{colon}:].{{0,50}}?{alone}",
        rf"(?i:{word}).{{0,50}}?{alone}",
        rf"^(?:\*\*)?{one}{after}",
        rf"\n(?:\*\*)?{one}{after}",
        alone,
        one,
    ):
        if found := max(
            re.finditer(pattern, text), key=lambda match: match.end(), default=None
        ):
            return found["x"].strip("()")
    return None


def lm_eval_filter(
    is_flexible: bool, texts: Sequence[str], options: Sequence[Mapping[str, str]]
) -> list[str | None]:
    """lm-eval's own filters. It compares the result with "(B)"; a letter in any shape counts."""
    from lm_eval.filters.extraction import MultiChoiceRegexFilter, RegexFilter

    responses = [[text] for text in texts]
    documents = [{"choices": list(shown.values())} for shown in options]
    if is_flexible:
        filters = MultiChoiceRegexFilter(FLEXIBLE_EXTRACT, -1, "", True, True)
    else:
        filters = RegexFilter(STRICT_MATCH, 0, "")
    found = [result[0] for result in filters.apply(responses, documents)]
    labels = [re.fullmatch(r"\(?([A-J])\)?[.]?", text.strip()) for text in found]
    return [label[1] if label else None for label in labels]


def inspect_choice(text: str, options: Mapping[str, str]) -> str | None:
    """Inspect's parser for the `choice` scorer."""
    from inspect_ai.solver._multiple_choice import parse_answers

    state = SimpleNamespace(
        output=SimpleNamespace(completion=text), choices=list(options)
    )
    found = parse_answers(state, False)  # type: ignore[arg-type]
    return min(found) if len(found) == 1 else None


RULES: dict[str, Rule] = {
    "first option letter in the text": partial(first, ["(X)"], 0),
    "simple-evals, English": partial(first, [SIMPLE_EVALS], 0),
    "simple-evals, multilingual": simple_evals_multilingual,
    "evalscope, English": partial(evalscope, "(?i:ANSWER)"),
    "evalscope, Chinese": partial(evalscope, "答案"),
    "lighteval, English": partial(lighteval, False),
    "lighteval, Chinese": partial(lighteval, True),
}


def counts(
    read: Sequence[str | None], answers: Sequence[str | None]
) -> tuple[int, int, int]:
    """Count responses read right, read as a wrong letter, and left unread despite a letter."""
    pairs = list(zip(read, answers, strict=True))
    right = sum(letter == answer for letter, answer in pairs)
    wrong = sum(letter is not None and letter != answer for letter, answer in pairs)
    return right, wrong, len(pairs) - right - wrong


def main(path: Path) -> None:
    """Print the table."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    rows = [row for row in rows if row.get("sure", True)]
    texts, options = [row["text"] for row in rows], [row["options"] for row in rows]
    readings: dict[str, list[str | None]] = {}
    if find_spec("lm_eval"):
        readings["lm-eval strict-match"] = lm_eval_filter(False, texts, options)
        readings["lm-eval flexible-extract"] = lm_eval_filter(True, texts, options)
    if find_spec("inspect_ai"):
        readings["Inspect choice"] = [
            inspect_choice(*r) for r in zip(texts, options, strict=True)
        ]
    for name, rule in RULES.items():
        readings[name] = [rule(*row) for row in zip(texts, options, strict=True)]
    readings["`extract_choice`"] = [
        extract_choice(row["text"], row["options"], row.get("question", ""))
        for row in rows
    ]
    print(
        f"| {len(rows)} responses | right | wrong letter | left unread |\n|---|---|---|---|"
    )
    answers = [row["answer"] for row in rows]
    for name, read in sorted(
        readings.items(), key=lambda item: counts(item[1], answers)[0]
    ):
        right, wrong, unread = counts(read, answers)
        print(f"| {name} | {right} ({right / len(rows):.0%}) | {wrong} | {unread} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
