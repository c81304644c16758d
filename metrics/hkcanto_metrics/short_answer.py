"""Short answers against accepted ones: normalised exact match, and F1 over tokens.

As SQuAD (Rajpurkar et al. 2016) scores answers in English, and CMRC 2018 and DRCD in Chinese: a Han
character is a token, of other scripts a word is. There is no figure for an answer that contains the
right one, which "唔係中環，係金鐘" does for both.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hkcanto_metrics.script import fold_script

_HALF = 10_000  # characters at each end of a longer text
_GROUPS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_ARTICLES = re.compile(r"(?<!\w)(?:an?|the)(?!\w)")
_HAN = r"\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = re.compile(rf"[{_HAN}]|[^\s{_HAN}]+")

# What announces the final answer: a mark, or words for it at the beginning of a line or after a
# conclusion, with a colon or a copula.
_CUE = re.compile(
    r"(?i)####+[ \t]*"
    r"|(?:最終|最终|最後|最后|正確|正确|(?<![a-z])final[ ]|(?<![a-z])correct[ ])?"
    r"(?:答案|(?<![a-z])answer(?![a-z])|(?<=\n)答(?=[:：])|\A答(?=[:：]))"
    r"[*_ \t]*(?:[:：]|(?:應該|应该|就)?(?:係|是|為|为)[:：]?|is(?![a-z])[:：]?)[*_ \t]*"
)
_BOXED = re.compile(r"\\f?box(?:ed)?\{(?:\\text\{)?([^{}]*)\}")
_BLANK = re.compile(r"\s*")
# An abbreviation has a point, too: St. John, J. K. Rowling.
_SENTENCE_END = re.compile(
    r"[。！？!?\n]|(?<![A-Z])(?<!\b[A-Z][a-z])(?<!\bMrs)(?<!\bProf)\.(?=\s+[A-Z])"
)


@dataclass(frozen=True, slots=True)
class ShortAnswerScore:
    """How a short answer compares with the accepted ones.

    Attributes:
        exact_match: 1 if it equals one of them after normalisation, else 0.
        f1: The best F1 over the tokens that it shares with one of them.
        answer: What was compared.
    """

    exact_match: float
    f1: float
    answer: str


def score_short_answer(
    text: str, accepted: Sequence[str], *, fold_scripts: bool = False
) -> ShortAnswerScore:
    """Score what a model answered, `final_answer` of what it wrote, against accepted answers.

    Args:
        text: What the model wrote, without its reasoning block.
        accepted: The answers, each right.
        fold_scripts: Whether the same answer in the other Chinese script is right.

    Raises:
        ValueError: There is no answer, or one that has no token (see `answer_tokens`).

    Examples:
        >>> score_short_answer("答案：金鐘。", ["金鐘站", "金鐘"]).exact_match
        1.0
        >>> round(score_short_answer("係金鐘", ["金鐘"]).f1, 2)  # P = 2/3, R = 1
        0.8
    """
    said = final_answer(text if len(text) <= 2 * _HALF else text[:_HALF] + text[-_HALF:])
    tokens = answer_tokens(said, fold_scripts=fold_scripts)
    right = [answer_tokens(each, fold_scripts=fold_scripts) for each in accepted]
    if not right or not all(right):
        raise ValueError("an accepted answer is missing, or has no letter or number in it")
    return ShortAnswerScore(
        float(tokens in right), max(_f1(tokens, each) for each in right), said.strip()
    )


def final_answer(text: str) -> str:
    r"""Return what a response announces as its answer; all of it, if it announces none.

    Announced is what follows "答案：", "答案係", "The answer is", "####", up to the end of the
    sentence or the line, or on the next line; and what is in `\boxed{…}`. The last of them counts.

    Examples:
        >>> final_answer("由中環行過去。\n答案：金鐘。因為近啲。")
        '金鐘'
        >>> final_answer("唔係中環，係金鐘")
        '唔係中環，係金鐘'
    """
    marks = sorted([*_CUE.finditer(text), *_BOXED.finditer(text)], key=re.Match.start)
    for mark in reversed(marks):
        if mark.re is _BOXED:
            return mark[1]
        begin = _BLANK.match(text, mark.end())
        start = begin.end() if begin else mark.end()
        end = _SENTENCE_END.search(text, start)
        if said := text[start : end.start() if end else len(text)].strip():
            return said
    return text


def answer_tokens(text: str, *, fold_scripts: bool = False) -> list[str]:
    """Return the tokens by which a short answer is compared.

    Text is brought to NFKC and lower case. Punctuation and symbols go, and with them the commas
    that group digits. A mark between two digits stays (3.5, 10:30, 1/2), as do a minus in front of
    a number and the signs of C++ and C#. "A", "an" and "the" go, unless nothing else is left. 三
    and 3 are not equal, nor are the Traditional and the Simplified form, unless these are folded.

    Args:
        text: An answer.
        fold_scripts: Whether characters are compared without regard to their script.

    Examples:
        >>> answer_tokens("The MTR 金鐘站！"), answer_tokens("1,000.5")
        (['mtr', '金', '鐘', '站'], ['1000.5'])
    """
    plain = unicodedata.normalize("NFKC", text).lower()
    plain = _GROUPS.sub("", fold_script(plain) if fold_scripts else plain)
    kept = "".join(_kept(plain, at) for at in range(len(plain)))
    return _TOKEN.findall(_ARTICLES.sub(" ", kept)) or _TOKEN.findall(kept)


def _kept(text: str, at: int) -> str:
    """A character of an answer, or what it becomes."""
    own, before, after = text[at], text[max(0, at - 1) : at], text[at + 1 : at + 2]
    category = unicodedata.category(own)
    if own.isspace() or category[0] == "Z":
        return " "
    if category[0] == "C" or 0xFE00 <= ord(own) <= 0xFE0F:
        return ""
    if category[0] not in "PS":
        return own
    is_inside = before.isdecimal() and after.isdecimal()
    is_minus = own in "-−" and after.isdecimal() and not before.isalnum()
    is_of_name = own in "+#" and bool(re.search(r"(?<![a-z])[a-z]\+?$", text[max(0, at - 3) : at]))
    if is_minus:
        return "-"
    return own if is_inside or is_of_name else ""


def _f1(said: Sequence[str], right: Sequence[str]) -> float:
    shared = (Counter(said) & Counter(right)).total()
    return 2 * shared / (len(said) + len(right)) if shared else 0.0
