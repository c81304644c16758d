"""Extract the label that a model gives a text, and compute macro-F1 over labels.

A label is recognised by its declared words: the label itself and its synonyms. The longest word
wins, so `not_entailment` does not count as `entailment`. A negated word is not an answer; if there
are only two labels, it means the other one. A list of all labels in a row repeats the question and
is ignored. If several labels are left, the response is read as a choice among options
(`hkcanto_metrics.choice`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from hkcanto_metrics.choice import read_choice
from hkcanto_metrics.script import TO_HALF_WIDTH, fold_script

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LETTERS = "ABCDEFGHIJ"

# The code that replaces a label's word. It has the same form for every label, so that a label's own
# text does not influence the reading.
_CODE = "zz{}zz"
_CODED = r"(?<![a-z])zz([0-9]+)zz(?![a-z])"

_HAN = r"\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAS_HAN = re.compile(f"[{_HAN}]").search
_SEPARATOR = r"[\s_\\-]+"
# A single character is part of many words: it counts as a label only by itself, or after a copula
# or a negation.
_ALONE = (
    r"(?:(?<!\w)|(?<=答案)|(?<=[係是系為为唔不]))",
    r"(?:(?!\w)|(?=[嘅㗎的呀啊啦喇]))",
)

_NEARBY = 60
_DEGREE = (
    r"(?:[太多大咁好很夠够必能會会係是]|完全|一定|必然|必定|可以|屬於?|属于?|構成|构成|算是?|存在"
    r"|任何|明顯|明显)"
)
_NOT = re.compile(
    r"(?:\b(?:not|never|no|cannot|without|(?:is|are|was|do|does|did|can|could)n['’]t)\b"
    r"|唔係|唔算|不是|不算|並非|并非|非(?!常))\s*(?:(?:an?|the)\s)?(?:\w+ )?$"
    rf"|(?:[唔不未]|(?<!有)(?:[無无冇沒没]|沒有|没有)){_DEGREE}*\s*$"
    r"|\b(?:non|not)[-_]$",
    re.IGNORECASE,
)
_OR = r"\s*(?:[/／|｜,，、]|\b(?:or|and)\b|或者?|還是|还是|定係|定|同埋|同|和)\s*"


@dataclass(frozen=True, slots=True)
class LabelReading:
    """The label read from a response, and why.

    Attributes:
        label: The label, or `None`.
        reason: How it was read: ``named`` (the only label named) or ``settled`` (chosen among
            several); or ``none: `` followed by ``empty``, ``several`` or ``no label``.
    """

    label: str | None
    reason: str


def read_label(text: str, labels: Mapping[str, Sequence[str]]) -> LabelReading:
    """Read the one label that a response settles on.

    Args:
        text: The model's response, without its reasoning block.
        labels: Label → other words for it. Case, script and word separators (a space, `_` or `-`)
            do not matter. Words in Latin letters match as whole words. Chinese words match
            anywhere, but a single character only by itself or after a copula.

    Returns:
        The reading. It has a label only if the response names exactly one, or settles on one of
        several. A letter alone is not a label; if several labels are named, "B" means the second
        declared one.

    Raises:
        ValueError: There are fewer than two labels, or a word is blank or belongs to two labels.

    Examples:
        >>> read_label("唔係正面，係負面。", {"Positive": ["正面"], "Negative": ["負面"]}).label
        'Negative'
        >>> read_label("Not entailment.", {"entailment": [], "not_entailment": []}).label
        'not_entailment'
    """
    if not text.strip():
        return LabelReading(None, "none: empty")
    names = [*labels]
    coder = _coder(tuple((name, *words) for name, words in labels.items()))
    coded = _without_lists(coder(text), len(names))
    named: set[int] = set()
    for match in re.finditer(_CODED, coded):
        if not _is_denied(coded, match.start()):
            named.add(int(match[1]))
        elif len(names) == 2:
            named.add(1 - int(match[1]))
    if not named:
        return LabelReading(None, "none: no label")
    if len(named) == 1:
        return LabelReading(names[named.pop()], "named")
    options = {
        letter: _CODE.format(at) for at, letter in enumerate(_LETTERS[: len(names)])
    }
    letter = read_choice(coded, options).letter if len(names) <= len(_LETTERS) else None
    if letter is None:
        return LabelReading(None, "none: several")
    return LabelReading(names[_LETTERS.index(letter)], "settled")


def macro_f1(read: Sequence[str], gold: Sequence[str], labels: Sequence[str]) -> float:
    """Return the mean over labels of their F1, as scikit-learn's `f1_score(average="macro")`.

    Args:
        read: The label read from each response; an empty text if none was read.
        gold: The right label of each item, in the same order.
        labels: All labels. A label that is neither right nor read for any item has an F1 of 0.

    Returns:
        Macro-F1, from 0 to 1.

    Raises:
        ValueError: There is nothing to score, or the lengths differ.

    Examples:
        >>> macro_f1(["a", "b", ""], ["a", "a", "b"], ["a", "b"])
        0.3333333333333333
    """
    rows, score = label_statistics(read, gold, labels)
    return score(rows.sum(axis=0))


def label_statistics(
    read: Sequence[str], gold: Sequence[str], labels: Sequence[str]
) -> tuple[NDArray[Any], Callable[[NDArray[Any]], float]]:
    """Count the terms of macro-F1 for each item, for tests that resample or exchange items.

    Args:
        read: As in `macro_f1`.
        gold: As in `macro_f1`.
        labels: As in `macro_f1`.

    Returns:
        A row of counts for each item, and a function that computes macro-F1 from the summed rows
        of any items.

    Raises:
        ValueError: As in `macro_f1`.

    Examples:
        >>> rows, score = label_statistics(["a", "b"], ["a", "a"], ["a", "b"])
        >>> score(rows[0]), round(score(rows.sum(axis=0)), 3)
        (0.5, 0.333)
    """
    import numpy as np

    if len(read) != len(gold) or not gold:
        raise ValueError(
            f"{len(read)} labels read but {len(gold)} right ones: give pairs"
        )
    places = np.array([[label] for label in labels], dtype=object)
    is_read, is_gold = (
        places == np.array(given, dtype=object) for given in (read, gold)
    )
    rows = np.concatenate([is_read & is_gold, is_read, is_gold]).T.astype(float)

    def score(sums: NDArray[Any]) -> float:
        both, of_read, of_gold = np.split(sums, 3)
        return float(np.mean(2 * both / np.maximum(of_read + of_gold, 1)))

    return rows, score


def same_word(word: str) -> str:
    """Return the normalised form in which words of labels are compared.

    Examples:
        >>> same_word("Not-Entailment") == same_word("not entailment"), same_word("負面")
        (True, '负面')
    """
    plain = fold_script(word.translate(TO_HALF_WIDTH)).strip().lower()
    return re.sub(_SEPARATOR, " ", plain)


@lru_cache(maxsize=256)
def _coder(labels: Sequence[Sequence[str]]) -> Callable[[str], str]:
    """Return a function that replaces the words of labels in a text by codes."""
    named = [(same_word(word), at) for at, words in enumerate(labels) for word in words]
    label_of = dict(named)
    problems = [
        f"{word!r} is a word of two labels"
        for word, at in named
        if label_of[word] != at
    ]
    problems += ["a word is blank" for word in label_of if not re.search(r"\w", word)]
    if len(labels) < 2 or problems:
        raise ValueError("give two labels or more" if len(labels) < 2 else problems[0])
    longest = sorted(label_of, key=len, reverse=True)
    # 似唔似 ("similar or not") asks; it is no label.
    han = [word for word in longest if re.fullmatch(f"[{_HAN}]+", word)]
    questions = "|".join(f"(?:{word}|{word[:1]})[唔不]{word}" for word in han) or "(?!)"
    words = "|".join(map(_bordered, longest))
    pattern = re.compile(f"(?P<asked>{questions})|{words}", re.IGNORECASE)

    def coded(text: str) -> str:
        """Replace every word by the code of its label; a Chinese word's code gets spaces around."""
        parts: list[str] = []
        end = 0
        for match in pattern.finditer(fold_script(text.translate(TO_HALF_WIDTH))):
            code = "" if match["asked"] else _CODE.format(label_of[same_word(match[0])])
            parts += (
                text[end : match.start()],
                f" {code} " if _HAS_HAN(match[0]) else code,
            )
            end = match.end()
        return "".join([*parts, text[end:]])

    return coded


def _bordered(word: str) -> str:
    pattern = _SEPARATOR.join(map(re.escape, word.split(" ")))
    if re.fullmatch(f"[{_HAN}]", word):
        return pattern.join(_ALONE)
    first, last = word[0], word[-1]
    before = (
        r"(?<![a-z\u00c0-\u024f])" if first.isalpha() else r"(?<![0-9a-z])(?<![0-9]\.)"
    )
    after = r"(?![a-z\u00c0-\u024f])" if last.isalpha() else r"(?![0-9a-z]|\.[0-9])"
    return (
        f"{'' if _HAS_HAN(first) else before}{pattern}{'' if _HAS_HAN(last) else after}"
    )


def _is_denied(coded: str, start: int) -> bool:
    return bool(_NOT.search(coded[max(0, start - _NEARBY) : start]))


def _without_lists(coded: str, count: int) -> str:
    """Remove lists of all labels in a row: "Positive, Negative or Neutral"."""

    def kept(match: re.Match[str]) -> str:
        is_all = len({*re.findall(_CODED, match[0])}) == count
        # "not similar, different" names one label.
        is_one = count == 2 and _is_denied(coded, match.start())
        return " " if is_all and not is_one else match[0]

    several = rf"{_CODED}(?:(?:{_OR})+{_CODED}){{{count - 1}}}"
    return re.sub(several, kept, coded, flags=re.IGNORECASE)
