"""Extract the label that a model gives a text, and compute macro-F1 over labels.

A label is recognised by its declared words: the label itself and its synonyms. The longest word
wins, so `not_entailment` does not count as `entailment`. A negated word is not an answer; if there
are only two labels, it means the other one. A list of all labels in a row repeats the question and
is ignored, as is what only seems, or what others would say. If several labels are left, the one that
is announced counts, or else the last one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from hkcanto_metrics.response_text import own_answer
from hkcanto_metrics.script import (
    CJK,
    TO_HALF_WIDTH,
    WORD_SEPARATOR,
    fold_script,
    same_word,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The code that replaces a label's word. It has the same form for every label, so that a label's own
# text does not influence the reading.
_CODE = "zz{}zz"
_CODE_PATTERN = r"(?<![a-z])zz([0-9]+)zz(?![a-z])"

_HAS_CJK = re.compile(f"[{CJK}]").search
# A single character is part of many words: it counts as a label only by itself, or after a copula
# or a negation.
_BEFORE_CHARACTER = r"(?:(?<!\w)|(?<=答案)|(?<=[係是系為为唔不]))"
_AFTER_CHARACTER = r"(?:(?!\w)|(?=[嘅㗎的呀啊啦喇]))"
# Other words begin and end at a border: "3.5" is not in "13.5" or "3.55".
_BEFORE_LETTER = r"(?<![a-z\u00c0-\u024f])"
_AFTER_LETTER = r"(?![a-z\u00c0-\u024f])"
_BEFORE_DIGIT = r"(?<![0-9a-z])(?<![0-9]\.)"
_AFTER_DIGIT = r"(?![0-9a-z]|\.[0-9])"
# "No wings" is no answer.
_NO_DETERMINER = (
    r"(?! (?!(?:it|he|she|they|this|that|there|we|you|i|because|since|as|but|and|the|not)\b)"
    r"[a-z])"
)

_LONGEST_NEGATION = 60
_DEGREE = (
    r"(?:[太多大好很够必能会是系似算]|完全|一定|必然|可以|属于?|构成|算是?|存在|任何|明显|应该?"
    r"|归[入为]|[标判][做为作]?|当|选)"
)
_JOIN = r"[/|,、]|\b(?:n?or|and)\b|或者?|还是|定|同埋?|和|又?[唔不]"
# A space belongs to the join before it: two ways to read it, in a run of joins, take forever.
_BETWEEN_LABELS = rf"\s*(?:(?:{_JOIN})\s*)+"
_NEGATION = re.compile(
    r"(?:(?:\b(?:not|never|no|neither|nothing|cannot|without|(?:is|are|was|do|does|did|can)n['’]t)\b"
    r"|[唔不][系是算]|并非|[边哪怎点]会[系是]|非(?!常))\s*(?:(?:an?|the)\s)?(?:\w+ )?"
    r"|(?:\bnot|n['’]t) (?:call|consider|label|classify|describe) (?:\w+ ){1,2}(?:as )?(?:an? )?"
    rf"|(?:[唔不未]|(?<!有)(?:[无冇没]有?)){_DEGREE}*\s*|\b(?:non|not)[-_])"
    rf"(?:{_CODE_PATTERN}{_BETWEEN_LABELS})*$",
    re.IGNORECASE,
)
# What is no statement: how it seems, what it would be, what others say, what is ruled out.
_HEDGED = re.compile(
    r"\b(?:may|might|could|(?<!I )would|seem(?:s|ed)?|looks?|sounds?|at first|first thought|literally"
    r"|nothing to do|inclined|some|many|although|though|while|despite|rather than"
    r"|(?:is|are|ruled) out|irrelevant|possibl[ey])\b|(?:not|n['’]t) apply"
    r"|似乎|好似|睇落|乍|字面|表面|初|开头|一开始|有人|好多人|可能|虽然?|无关|没有任何关系|关.*事|排除"
)
# A question, another case, a part of the text, the label that is not named.
_OPEN = re.compile(
    r"\?\Z|如果|倘若|假如|前半|后半|一方面|另外"
    r"|\b(?:if|(?:first|second|latter) (?:half|part)|other one)\b",
    re.IGNORECASE,
)
# Another's words, unless they are only a label.
_QUOTED = re.compile(
    rf'(?:「|“|(?<!\w)")(?!\s*{_CODE_PATTERN}\s*[」”"])[^「」“”"\n]*[」”"]'
)
_PROBABILITY = re.compile(rf"{_CODE_PATTERN}\W{{1,4}}[\d.]+\s*(?:%|\Z|[\n,;])")
_CLAUSE = re.compile(r"[,;:]|\bbut\b|但[系是]?|不过")
_SENTENCE = re.compile(r"(?<=[.。!?\n])")
_TAKEN_BACK = re.compile(
    r"\b(?:wait|actually|sorry|correction|mistake|on (?:second thought|reflection))\b"
    r"|等等|更正|[搞看睇]错|再(?:睇|谂)",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(
    r"\b(?:so|thus|hence|therefore|overall|final|conclu(?:de|sion))\b|\bI(?:['’]d| would| will)?"
    r" (?:choose|label|classify)|答案|最[终后]|总[括体的]|整体|综合|结论|因此|所以|我会",
    re.IGNORECASE,
)
# A line or field with the answer.
_FIELD = re.compile(
    r"(?:\A|[\n{])[^\w\n]{,9}(?:[a-z]+ )?(?:label|sentiment|category|class(?:ification)?|answer|verdict"
    r"|stance|topic|polarity|relation(?:ship)?|result|标签|类[别型]|[分归]类|情[感绪]\w{,3}|立场|判[断定]"
    r"|结果|态度|倾向|关系|结论|conclusion)(?:结果|标签)?[^\w\n:=]{,5}[:=](?=[^\n]*\w)",
    re.IGNORECASE,
)
_BARE = re.compile(rf"\W*{_CODE_PATTERN}\W*(?:{_CODE_PATTERN}\W*)?")
# The same label in English and Chinese, for a response in the other language than the labels.
_TRANSLATIONS = [
    ["positive", "正面", "積極"],
    ["negative", "負面", "消極"],
    ["neutral", "中性", "中立"],
    ["entailment", "蘊含", "entail", "entails", "entailed"],
    ["contradiction", "矛盾", "contradict", "contradicts", "contradictory"],
    ["support", "支持", "supports", "supported", "supportive", "in favour"],
    ["oppose", "反對", "opposes", "opposed", "against"],
    ["agree", "同意", "agrees", "agreed"],
    ["disagree", "不同意", "disagrees", "disagreed"],
    ["true", "正確", "correct", "對"],
    ["false", "錯誤", "incorrect", "wrong", "錯"],
]


@dataclass(frozen=True, slots=True)
class LabelReading:
    """The label read from a response, and why.

    Attributes:
        label: The label, or `None`.
        reason: How it was read: ``named`` (the only label named), ``settled`` (announced, or the last
            of several) or ``eliminated`` (all others are denied); or ``none: `` followed by
            ``empty``, ``several`` or ``no label``.
    """

    label: str | None
    reason: str


def read_label(
    text: str,
    labels: Mapping[str, Sequence[str]],
) -> LabelReading:
    """Read the one label that a response settles on.

    Args:
        text: The model's response, without its reasoning block.
        labels: Label → other words for it. Case, script and word separators (a space, `_` or `-`)
            do not matter. Words in Latin letters match as whole words. Chinese words match
            anywhere, but a single character only by itself or after a copula.

    Returns:
        The reading. It has a label only if the response names exactly one, or settles on one of
        several. A letter alone is not a label.

    Raises:
        ValueError: There are fewer than two labels, or a word is blank or belongs to two labels.

    Examples:
        >>> read_label("唔係正面，係負面。", {"Positive": ["正面"], "Negative": ["負面"]}).label
        'Negative'
        >>> read_label("Not entailment.", {"entailment": [], "not_entailment": []}).label
        'not_entailment'
    """
    answer = own_answer(text)
    if answer is None or not answer.text.strip():
        return LabelReading(None, "none: empty")
    return _read(answer.text, labels)


def _read(
    answer: str,
    labels: Mapping[str, Sequence[str]],
    is_translated: bool = False,
) -> LabelReading:
    names = [*labels]
    shown = tuple((name, *words) for name, words in labels.items())
    coded = _coder(shown)(answer)
    coded = _without_lists(_QUOTED.sub(" (quoted) ", coded), len(names))
    if len(names) == 2:
        coded = _without_denials(coded)
    named = _named_labels(coded)
    mentions = {*map(int, re.findall(_CODE_PATTERN, coded))}
    left = {*range(len(names))} - mentions
    if not named and len(left) == 1:
        return LabelReading(names[left.pop()], "eliminated")
    if not named and not is_translated:
        return _read(answer, _translated(shown), True)
    if len(_PROBABILITY.findall(coded)) > 1:
        return LabelReading(None, "none: several")
    settled = _settled(_SENTENCE.split(coded))
    if settled is not None:
        reason = "named" if len(named) == 1 else "settled"
        return LabelReading(names[settled], reason)
    is_open = len(named) > 1
    return LabelReading(None, "none: several" if is_open else "none: no label")


def _firm_labels(sentence: str) -> set[int]:
    """The labels of a sentence without those denied, doubted or asked for."""
    clauses = _CLAUSE.split(sentence)
    firm = [clause for clause in clauses if not _HEDGED.search(clause)]
    return set().union(*map(_named_labels, [] if _OPEN.search(sentence) else firm))


def _settled(sentences: Iterable[str]) -> int | None:
    """Return the label that the last conclusion or answer gives, or else the last sentence.

    Two answers with different labels give none, unless a conclusion follows. So does an answer
    that is none of the labels.
    """
    answers: set[int] = set()
    last: set[int] = set()
    is_unknown = False
    for sentence in sentences:
        if _TAKEN_BACK.search(sentence):
            answers = last = set()
        labels = _firm_labels(sentence)
        is_answer = bool(_FIELD.search(sentence) or _BARE.fullmatch(sentence))
        is_unknown |= is_answer and not labels
        if labels and _concludes(sentence):
            answers = labels
        elif is_answer:
            answers = answers | labels
        else:
            last = labels or last
    decisive = last if not answers and not is_unknown else answers
    return decisive.pop() if len(decisive) == 1 else None


def _concludes(sentence: str) -> bool:
    """Whether a word of conclusion comes before the last label of a sentence."""
    *_, last = [0, *(code.start() for code in re.finditer(_CODE_PATTERN, sentence))]
    return bool(_CONCLUDES.search(sentence, 0, last))


@lru_cache(maxsize=256)
def _translated(labels: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    """The labels with the other language's words for them, unless another label has these."""
    own = {label: {*map(same_word, [label, *words])} for label, *words in labels}
    taken = set().union(*own.values())
    translated = {label: [*words] for label, *words in labels}
    for label, words in own.items():
        for row in _TRANSLATIONS:
            if not words.isdisjoint(map(same_word, row)):
                new = [word for word in row if same_word(word) not in taken]
                translated[label] += new
                taken.update(map(same_word, new))
    return translated


def _without_denials(coded: str) -> str:
    """Replace each denied label by the other one: of two, "not positive" means negative."""
    parts: list[str] = []
    end = 0
    for match in re.finditer(_CODE_PATTERN, coded):
        label = int(match[1])
        lead_end = match.start()
        denial = _denial(coded, end, lead_end)
        if denial:
            lead_end = denial.start()
            label = 1 - label
        parts += [coded[end:lead_end], " ", _CODE.format(label)]
        end = match.end()
    return "".join([*parts, coded[end:]])


def _named_labels(coded: str) -> set[int]:
    """Return the positions of the labels that a text names and does not deny."""
    named = set()
    for match in re.finditer(_CODE_PATTERN, coded):
        if not _denial(coded, 0, match.start()):
            named.add(int(match[1]))
    return named


def macro_f1(
    read: Sequence[str],
    gold: Sequence[str],
    labels: Sequence[str],
) -> float:
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
    read: Sequence[str],
    gold: Sequence[str],
    labels: Sequence[str],
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
    column = np.array([[label] for label in labels], dtype=object)
    is_read = column == np.array(read, dtype=object)
    is_gold = column == np.array(gold, dtype=object)
    rows = np.concatenate([is_read & is_gold, is_read, is_gold]).T.astype(float)

    def score(sums: NDArray[Any]) -> float:
        hits, read_counts, gold_counts = np.split(sums, 3)
        f1 = 2 * hits / np.maximum(read_counts + gold_counts, 1)
        return float(np.mean(f1))

    return rows, score


@lru_cache(maxsize=256)
def _coder(labels: Sequence[Sequence[str]]) -> Callable[[str], str]:
    """Return a function that replaces the words of labels in a text by codes."""
    label_of = _label_of_each_word(labels)
    pattern = _any_word(label_of)

    def coded(text: str) -> str:
        """Replace every word by the code of its label; a Chinese word's code gets spaces around."""
        parts: list[str] = []
        end = 0
        text = fold_script(text.translate(TO_HALF_WIDTH))
        for match in pattern.finditer(text):
            code = ""
            if not match["question"]:
                code = _CODE.format(label_of[same_word(match[0])])
            if _HAS_CJK(match[0]):
                code = f" {code} "
            parts += (text[end : match.start()], code)
            end = match.end()
        return "".join([*parts, text[end:]])

    return coded


def _label_of_each_word(labels: Sequence[Sequence[str]]) -> dict[str, int]:
    if len(labels) < 2:
        raise ValueError("give two labels or more")
    pairs = []
    for label, words in enumerate(labels):
        pairs += [(same_word(word), label) for word in words]
    label_of = dict(pairs)
    for word, label in pairs:
        if label_of[word] != label:
            raise ValueError(f"{word!r} is a word of two labels")
    for word in label_of:
        if not re.search(r"\w", word):
            raise ValueError("a word is blank")
    return label_of


def _any_word(words: Iterable[str]) -> re.Pattern[str]:
    # not_entailment does not count as entailment.
    longest_first = sorted(words, key=len, reverse=True)
    questions = []
    for word in longest_first:
        if re.fullmatch(f"[{CJK}]+", word):
            # 似唔似 ("similar or not") asks, so it is not a label.
            questions.append(f"(?:{word}|{word[0]})[唔不]{word}")
    question = "|".join(questions) or "(?!)"
    bordered = "|".join(map(_bordered, longest_first))
    return re.compile(f"(?P<question>{question})|{bordered}", re.IGNORECASE)


def _bordered(word: str) -> str:
    pattern = WORD_SEPARATOR.join(map(re.escape, word.split(" ")))
    if re.fullmatch(f"[{CJK}]", word):
        return f"{_BEFORE_CHARACTER}{pattern}{_AFTER_CHARACTER}"
    before = _BEFORE_LETTER if word[0].isalpha() else _BEFORE_DIGIT
    after = _AFTER_LETTER if word[-1].isalpha() else _AFTER_DIGIT
    if _HAS_CJK(word[0]):
        before = ""
    if _HAS_CJK(word[-1]):
        after = ""
    if word == "no":
        after += _NO_DETERMINER
    return f"{before}{pattern}{after}"


def _denial(
    coded: str,
    start: int,
    end: int,
) -> re.Match[str] | None:
    """Return the negation that ends a part of a text, before a label or labels joined by "or"."""
    return _NEGATION.search(coded, max(start, end - _LONGEST_NEGATION), end)


def _without_lists(
    coded: str,
    count: int,
) -> str:
    """Remove lists of all labels in a row: "Positive, Negative or Neutral"."""

    def kept(match: re.Match[str]) -> str:
        labels = {*re.findall(_CODE_PATTERN, match[0])}
        return match[0] if len(labels) < count else " "

    several = rf"{_CODE_PATTERN}(?:{_BETWEEN_LABELS}{_CODE_PATTERN}){{{count - 1}}}"
    return re.sub(
        several,
        kept,
        coded,
        flags=re.IGNORECASE,
    )
