"""Score short answers against accepted ones: normalised exact match, and F1 over tokens.

This follows SQuAD (Rajpurkar et al. 2016) for English, and CMRC 2018 and DRCD for Chinese: each Han
character is a token; in other scripts each word is. There is no "contains the right answer" figure,
because "唔係中環，係金鐘" contains both places.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from operator import methodcaller

import regex

from hkcanto_metrics.reasoning import strip_reasoning
from hkcanto_metrics.script import CJK, fold_script

_LONGEST_END = 10_000  # characters at each end of a longer text
_GROUPING_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_ARTICLES = re.compile(r"(?<!\w)(?:an?|the)(?!\w)")
_MINUS = regex.compile(r"(?<![\p{L}\p{N}])[-−](?=\d)")
# Invisible characters, and marks except between digits, a minus sign, and the signs of C++ and C#.
_REMOVED = regex.compile(
    r"(?![\s\x1c-\x1f])[\p{C}\ufe00-\ufe0f]|(?!(?<=\d).(?=\d)|(?<![\p{L}\p{N}])-(?=\d)"
    r"|(?<=(?<![a-z])[a-z]\+?)[+#])[\p{P}\p{S}]"
)
_TOKEN = re.compile(rf"[{CJK}]|[^\s{CJK}]+")

# Announcements of the final answer: a mark, or a phrase at the beginning of a line or after a
# conclusion, with a colon or a copula.
_ANNOUNCEMENT = re.compile(
    r"(?i)####+[ \t]*|(?:最終|最终|最後|最后|正確|正确|(?<![a-z])final[ ]|(?<![a-z])correct[ ])?"
    r"(?:答案|(?<![a-z])answer(?![a-z])|(?<=\n)答(?=[:：])|\A答(?=[:：]))"
    r"[*_ \t]*(?:[:：]|(?:應該|应该|就)?(?:係|是|為|为)[:：]?|is(?![a-z])[:：]?)[*_ \t]*"
)
_BOXED = regex.compile(r"\\f?box(?:ed)?\s*\{((?:[^{}]++|\{(?1)\})*+)\}")
_ONLY_TEXT = re.compile(r"\A\s*\\text\{([^{}]*)\}\s*\Z")
# A full stop may belong to an abbreviation: St. John, J. K. Rowling.
_SENTENCE_END = re.compile(
    r"[。！？!?\n]|(?<![A-Z])(?<!\b[A-Z][a-z])(?<!\bMrs)(?<!\bProf)\.(?=\s+[A-Z])"
)


@dataclass(frozen=True, slots=True)
class ShortAnswerScore:
    """How a short answer compares with the accepted ones.

    Attributes:
        exact_match: 1 if it equals one of them after normalisation, otherwise 0.
        f1: The best token F1 with any of them, from 0 to 1.
        answer: The text that was compared.
    """

    exact_match: float
    f1: float
    answer: str


def score_short_answer(
    text: str,
    accepted: Sequence[str],
    *,
    fold_scripts: bool = False,
) -> ShortAnswerScore:
    """Score the `final_answer` of a response against the accepted answers.

    Args:
        text: The model's response.
        accepted: The accepted answers; any of them is right.
        fold_scripts: Whether the same answer in the other Chinese script is right, too.

    Returns:
        Exact match, F1, and the text that was compared.

    Raises:
        ValueError: An accepted answer is missing, or has no token (see `answer_tokens`).

    Examples:
        >>> score_short_answer("答案：金鐘。", ["金鐘站", "金鐘"]).exact_match
        1.0
        >>> round(score_short_answer("係金鐘", ["金鐘"]).f1, 2)  # P = 2/3, R = 1
        0.8
    """
    text = strip_reasoning(text)
    # The answer is at an end, and the patterns are slow on very long texts.
    if len(text) > 2 * _LONGEST_END:
        text = text[:_LONGEST_END] + text[-_LONGEST_END:]
    answer = final_answer(text)
    tokens = answer_tokens(answer, fold_scripts=fold_scripts)
    right = [answer_tokens(target, fold_scripts=fold_scripts) for target in accepted]
    if not right or not all(right):
        raise ValueError(
            "an accepted answer is missing, or has no letter or number in it"
        )
    exact_match = float(tokens in right)
    f1 = max(_token_f1(tokens, target) for target in right)
    return ShortAnswerScore(exact_match, f1, answer.strip())


def _token_f1(tokens: list[str], target: list[str]) -> float:
    shared = Counter(tokens) & Counter(target)
    return 2 * shared.total() / (len(tokens) + len(target))


def final_answer(text: str) -> str:
    r"""Return the answer that a response announces, or the whole response if it announces none.

    The answer is the text after "答案：", "答案係", "The answer is" or "####", up to the end of the
    sentence or the line, or on the next line; or the content of `\boxed{…}`. The last one counts.

    Examples:
        >>> final_answer("由中環行過去。\n答案：金鐘。因為近啲。")
        '金鐘'
        >>> final_answer("唔係中環，係金鐘")
        '唔係中環，係金鐘'
    """
    announcements = [*_ANNOUNCEMENT.finditer(text), *_BOXED.finditer(text)]
    for match in sorted(announcements, key=methodcaller("start"), reverse=True):
        if match.re is _BOXED:
            return _ONLY_TEXT.sub(r"\1", match[1])
        rest = text[match.end() :].lstrip()
        sentence = _SENTENCE_END.split(rest, maxsplit=1)[0].strip()
        if sentence:
            return sentence
    return text


def answer_tokens(
    text: str,
    *,
    fold_scripts: bool = False,
) -> list[str]:
    """Split a short answer into the tokens by which it is compared.

    The text is normalised to NFKC and lower case. Punctuation and symbols are removed, including
    commas that group digits. A mark between two digits stays (3.5, 10:30, 1/2), as do a minus sign
    before a number and the signs of C++ and C#. "A", "an" and "the" are removed, unless nothing
    else is left. 三 and 3 are not equal, nor are Traditional and Simplified forms, unless folded.

    Args:
        text: An answer.
        fold_scripts: Whether to ignore the difference between Traditional and Simplified script.

    Returns:
        The tokens, in order.

    Examples:
        >>> answer_tokens("The MTR 金鐘站！"), answer_tokens("1,000.5")
        (['mtr', '金', '鐘', '站'], ['1000.5'])
    """
    plain = unicodedata.normalize("NFKC", text).lower()
    if fold_scripts:
        plain = fold_script(plain)
    plain = _MINUS.sub("-", _GROUPING_COMMA.sub("", plain))
    plain = _REMOVED.sub("", plain)
    tokens = _TOKEN.findall(_ARTICLES.sub(" ", plain))
    return tokens or _TOKEN.findall(plain)
