"""Extract the label that a model gives a text, and compute macro-F1 over labels.

A label is recognised by its declared words: the label itself and its synonyms. The longest word
wins, so `not_entailment` does not count as `entailment`. A negated word is not an answer; if there
are only two labels, it means the other one. A list of all labels in a row repeats the question and
is ignored. If several labels are left, the response is read as a choice among options
(`hkcanto_metrics.choice`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from hkcanto_metrics.choice import read_choice
from hkcanto_metrics.choice_statements import IGNORED, Statements
from hkcanto_metrics.decision_words import SAYS
from hkcanto_metrics.option_grammar import options_of
from hkcanto_metrics.response_text import Response, normalize_response, own_answer
from hkcanto_metrics.script import (
    CJK,
    TO_HALF_WIDTH,
    WORD_SEPARATOR,
    fold_script,
    same_word,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OPTION_LETTERS = "ABCDEFGHIJ"

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

_LONGEST_NEGATION = 60
_DEGREE = (
    r"(?:[太多大咁好很夠够必能會会係是]|完全|一定|必然|必定|可以|屬於?|属于?|構成|构成|算是?|存在"
    r"|任何|明顯|明显)"
)
_NEGATION = re.compile(
    r"(?:\b(?:not|never|no|cannot|without|(?:is|are|was|do|does|did|can|could)n['’]t)\b"
    r"|唔係|唔算|不是|不算|並非|并非|[邊哪怎點边点][會会](?:係|是)|非(?!常))"
    r"\s*(?:(?:an?|the)\s)?(?:\w+ )?$"
    r"|(?:\bnot|n['’]t) (?:call|consider|label|classify|describe|mark|rate|deem|say|think)"
    r" (?:\w+ ){1,2}(?:(?:as|is|to be|was) )?(?:(?:an?|the) )?$"
    rf"|(?:[唔不未]|(?<!有)(?:[無无冇沒没]|沒有|没有)){_DEGREE}*\s*$"
    r"|\b(?:non|not)[-_]$",
    re.IGNORECASE,
)
# Nouns after a label that do not change it: "a negative review".
_KINDS = re.compile(
    rf"({_CODE_PATTERN}) ?(?:[嘅的之類类]|(?:情感|情緒|情绪|評論|评论|評價|评价|態度|态度)"
    r"|言論|言论|(?:意見|意见|傾向|倾向|語氣|语气|類別|类别|關係|关系)"
    r"|\b(?:sentiments?|reviews?|tones?|comments?|class|category|labels?|stance)\b"
    r"|\b(?:opinions?|attitudes?)\b)+",
    re.IGNORECASE,
)
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
# "It certainly does", "so it isn't": the answer to a question with "yes" or "no".
_AUXILIARY = re.compile(
    r"(?:\A|[,.;:!?\n]) *(?:(?:so|and|but|thus|hence|therefore|then|i think|i believe),? )*"
    r"(?:it|he|she|they|this|that|there|one|we|you|i) (?:\w+ly |indeed |sure )?"
    r"(?:is|are|was|were|do|does|did|can|could|will|would|has|have|had)"
    r"(?P<denied>n['’]t| not)?\s*[.!]*\s*\Z",
    re.IGNORECASE,
)
# A label with its probability, and words for the one of two labels that was not named.
_SHARE = re.compile(
    rf"{_CODE_PATTERN}\W{{1,4}}(?:(?P<part>[01]?\.\d+)|(?P<percent>\d{{1,3}}(?:\.\d+)?) ?%)"
)
_OTHER = re.compile(
    r"\bthe other (?:one|label|class)\b|另外?[一嗰那]個|另外?[一那]个", re.I
)
# Nothing is chosen.
_UNCHOSEN = re.compile(
    r"\b(?:won['’]t|will not|refuse to|can['’]t) (?:force|pick|choose|commit|settle)\b"
    r"|\beither (?:one|label|way)\b[^\n]*\Z|[唔不](?:會|会|想|能)?[揀拣選选]",
    re.IGNORECASE,
)
# After a first sentence that is only a label, these announce another one.
_REVISION = re.compile(
    r"\b(?:answer|label|overall|conclusion|wait|actually|sorry|correction|mistake|however|but)\b"
    r"|\bso\b|答案|总|综合|结论|因此|所以|等等|更正|不对|不过|但",
    re.IGNORECASE,
)
_ALL = 1.05  # a sum of rounded probabilities
_BRIEF = 200  # characters: a longer text ends in "he was" because it breaks off
_UNFINISHED = 3  # characters of a sentence that breaks off
_PART = re.compile(
    r"\b(?:first|second|latter|former|other) (?:half|part|sentence)|\b(?:opening|beginning|start"
    r"|ending)\b|on the one hand|[前後后上下]半|[開开][頭头]|[結结]尾|一方面",
    re.IGNORECASE,
)
# The label that the writer gave before: "I change my answer from positive to negative".
_OLD_LABEL = re.compile(
    r"((?:\bmy (?:answer|label|choice|rating|verdict|classification|judge?ment|mind)"
    r"|答案|标签|分类|判断|评级|选择)) ?(?:\bfrom|由|从) ?"
    rf"{_CODE_PATTERN}(?=,? *(?:to\b|改|变|转|更正))",
    re.IGNORECASE,
)
_JOIN = r"[/／|｜,，、]|\b(?:or|and)\b|或者?|還是|还是|定係|定|同埋|同|和"
# A space belongs to the join before it: two ways to read it, in a run of joins, take forever.
_BETWEEN_LABELS = rf"\s*(?:(?:{_JOIN})\s*)+"

_OR_AFTER_LABEL = re.compile(
    rf"(?:{_CODE_PATTERN} *(?:,? *\b(?:n?or)\b|或者?) *)+\Z", re.I
)

# "Nothing positive or negative about it" gives neither label.
_NONE_OF = re.compile(
    rf"(?:\b(?:nothing|neither|no)\b|[既都]?(?:[冇没無无]有?)(?:[乜什甚]么?|任何)?) *{_CODE_PATTERN}"
    rf"(?:\s*(?:(?:nor|and nothing|and no|也?[没冇無无]有?|也不|{_JOIN})\s*)+{_CODE_PATTERN})+",
    re.IGNORECASE,
)

# Labels that are called wrong in other words than a negation: "X and Y are out", 「唔關X事」.
_LISTED_LABELS = rf"{_CODE_PATTERN}(?:{_BETWEEN_LABELS}{_CODE_PATTERN})*"
_REJECTION = re.compile(
    rf"{_LISTED_LABELS}[\"'”’」 ]*(?:\b(?:(?:can|could|should|must) (?:both |all )?be|is|are)"
    r" (?:both |all |also |therefore |thus |clearly )?"
    r"(?:(?:ruled )?out|excluded|eliminated|irrelevant|inapplicable|not applicable)"
    r"|\b(?:do|does)(?:n['’]t| not) (?:really )?(?:apply|fit|hold|match|work)"
    r"|[都亦也就]?(?:可以?|要|應該?|应该?)?(?:被|先)?(?:排除|剔除|[唔不]適用|[唔不]适用))"
    r"(?= here\b|\s*(?:[,，.。;；!！\n]|\Z))"
    rf"|[唔不][關关]\s*{_LISTED_LABELS}\s*[嘅的]?事"
    rf"|[同與与和跟]\s*{_LISTED_LABELS}\s*(?:[都亦也]|完全|絕對|绝对|並|并)*"
    r"(?:[無无]|[冇沒没]有?)(?:任何|乜嘢?|[什甚]麼|什么)?[關关]"
    r"|(?:排除[咗了]?|\b(?:nothing to do with|rul(?:e|es|ed|ing) out)(?: the)?)[\"'“‘「 ]*"
    rf"{_LISTED_LABELS}",
    re.IGNORECASE,
)
# A line or field with the answer, and one with its reason, which may name other labels.
_LABELLED_ANSWER = (
    r"(?:\A|[\n{])[^\w\n]{,9}(?:[a-z]+ )?(?:label|sentiment|category|class(?:ification)?|answer|verdict"
    r"|stance|topic|polarity|prediction|relation|tone|result|output|标[签记注]|类[别型]|[分归]类"
    r"|答案|情[感绪]|立场|判[断定]|结[果论]|主题|态度|倾向|极性|关系)(?:结果|标签)?[^\w\n:=]{,5}[:=]"
    rf"\W{{,9}}{_CODE_PATTERN}"
)
_ANSWER_WITH_REASON = re.compile(
    rf"{_LABELLED_ANSWER}[^\w\n]{{,9}}[\n,;.。]\W{{,9}}"
    r"(?:(?:(?:short|brief|my|the) )?(?:reason(?:ing|s)?|explanations?|rationale|justification"
    r"|why|because|analysis|evidence|comments?|notes?)\b|理[由据]|原因|解[释析说]|因为|分析"
    r"|说明|[依根]据|备[注考]|点解|思路)[^\w\n]{,5}[:=]",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"\b(?:wait|actually,|sorry|correction|my mistake|on second thought)\b|等等|更正|我?[搞看睇]错",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class LabelReading:
    """The label read from a response, and why.

    Attributes:
        label: The label, or `None`.
        reason: How it was read: ``named`` (the only label named), ``settled`` (chosen among
            several) or ``eliminated`` (all others are denied); or ``none: `` followed by
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
    coded = _coded(answer, labels)
    named = _named_labels(_NONE_OF.sub(" ", coded) if len(names) > 2 else coded)
    if not named:
        left = {*range(len(names))} - _denied_labels(coded)
        if len(left) == 1 and len(names) > 2:
            return LabelReading(names[left.pop()], "eliminated")
        if is_translated:
            return _read_auxiliary(answer, names)
        shown = tuple((name, *words) for name, words in labels.items())
        return _read(answer, _translated(shown), True)
    if len(names) > 2:
        coded = _NONE_OF.sub(" ", coded)
    if len(named) > 1:
        return _read_several(coded, names)
    return _read_one(
        answer,
        coded,
        names,
        named.pop(),
    )


def _coded(answer: str, labels: Mapping[str, Sequence[str]]) -> str:
    """An answer with codes for the labels, without old labels and lists of all of them."""
    coder = _coder(tuple((name, *words) for name, words in labels.items()))
    coded = _REJECTION.sub(_as_denial, coder(answer))
    if len(labels) == 2:
        coded = _without_denials(coded)
    return _without_lists(_OLD_LABEL.sub(r"\1", coded), len(labels))


def _as_denial(rejection: re.Match[str]) -> str:
    """Words that reject labels, as a negation before each of them."""
    labels = re.findall(_CODE_PATTERN, rejection[0])
    return "".join(f" not {_CODE.format(label)}," for label in labels)


def _read_one(
    answer: str,
    coded: str,
    names: Sequence[str],
    label: int,
) -> LabelReading:
    """Read the only label that a text names; of two, the response may mean the other one."""
    if len(names) == 2 and _OTHER.search(answer):
        return LabelReading(names[1 - label], "eliminated")
    if _is_disowned(coded, len(names)) or _breaks_off(coded):
        return LabelReading(None, "none: no label")
    return LabelReading(names[label], "named")


def _read_several(coded: str, names: Sequence[str]) -> LabelReading:
    """Read the label that a text settles on, of several that it names."""
    if _UNCHOSEN.search(coded):
        return LabelReading(None, "none: several")
    settled = _likeliest(coded)
    if settled is None:
        settled = _label_with_reason(coded)
    if settled is None:
        settled = _first_sentence(coded)
    if settled is None:
        settled = _settled_label(coded, len(names))
    if settled is None:
        return LabelReading(None, "none: several")
    return LabelReading(names[settled], "settled")


def _likeliest(coded: str) -> int | None:
    """The label with the highest probability, if several have one."""
    shares = {}
    for match in _SHARE.finditer(coded):
        percent = match["percent"]
        shares[int(match[1])] = (
            float(percent) / 100 if percent else float(match["part"])
        )
    if len(shares) < 2 or sum(shares.values()) > _ALL:
        return None
    label = max(shares, key=shares.__getitem__)
    is_one = [*shares.values()].count(shares[label]) == 1
    return label if is_one else None


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


def _breaks_off(coded: str) -> bool:
    """Whether a text describes its parts, and ends in the middle of a sentence without a label."""
    sentences = re.split(r"(?<=[.。!?！？\n])\s*", coded.strip())
    last = sentences[-1]
    if len(last) <= _UNFINISHED or not last[-1].isalnum():
        return False
    if re.search(rf"{_CODE_PATTERN}\W*\Z", last):
        return False
    return any(_PART.search(sentence) for sentence in sentences if "zz" in sentence)


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


def _denied_labels(coded: str) -> set[int]:
    """Return the positions of the labels that a text denies, alone or with others."""
    denied = set()
    for none in _NONE_OF.finditer(coded):
        denied |= {*map(int, re.findall(_CODE_PATTERN, none[0]))}
    for match in re.finditer(_CODE_PATTERN, coded):
        if _denial(coded, 0, match.start()):
            denied.add(int(match[1]))
    return denied


def _first_sentence(coded: str) -> int | None:
    """Return the label that is a first sentence of its own, if nothing below revises it.

    Another label in a sentence of its own would be a second answer.
    """
    first = re.match(rf"\W*{_CODE_PATTERN}\s*[.。!！\n]", coded)
    if not first or _REVISION.search(fold_script(coded), first.end()):
        return None
    below = re.split("[.。!！\n]", coded[first.end() :])
    if any(re.fullmatch(rf"\W*{_CODE_PATTERN}\W*", text) for text in below):
        return None
    return int(first[1])


def _label_with_reason(coded: str) -> int | None:
    """Return the label of a labelled answer above its labelled reason: "Label: X⏎Reason: not Y"."""
    text = fold_script(coded.translate(TO_HALF_WIDTH))
    answer = _ANSWER_WITH_REASON.search(text)
    if not answer or _TAKEN_BACK.search(text, answer.end()):
        return None
    given = {*re.findall(_LABELLED_ANSWER, text, re.IGNORECASE)}
    return int(answer[1]) if len(given) == 1 else None


def _read_auxiliary(answer: str, names: Sequence[str]) -> LabelReading:
    """Read an answer with an auxiliary verb, if the labels are yes and no."""
    by_name = {name.lower(): name for name in names}
    said = _AUXILIARY.search(answer) if len(answer) <= _BRIEF else None
    if not said or by_name.keys() != {"yes", "no"}:
        return LabelReading(None, "none: no label")
    label = by_name["no" if said["denied"] else "yes"]
    return LabelReading(label, "named")


def _options(count: int) -> dict[str, str]:
    """The codes of the labels, as options of a question."""
    letters = _OPTION_LETTERS[:count]
    return {letter: _CODE.format(label) for label, letter in enumerate(letters)}


def _settled_label(
    coded: str,
    count: int,
) -> int | None:
    """Return the position of the label that a text chooses among several."""
    if count > len(_OPTION_LETTERS):
        return None
    choice = read_choice(_KINDS.sub(r"\1", coded), _options(count)).letter
    return None if choice is None else _OPTION_LETTERS.index(choice)


def _is_disowned(
    coded: str,
    count: int,
) -> bool:
    """Whether a text names labels only as somebody else's view, or as a first thought."""
    if count > len(_OPTION_LETTERS):
        return False
    shown = options_of(tuple(_options(count).items()))
    text = normalize_response(Response(_KINDS.sub(r"\1", coded), range(len(coded))))
    return all(
        mention.stance == IGNORED for mention in Statements(text, shown).mentions
    )


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
        for match in pattern.finditer(fold_script(text.translate(TO_HALF_WIDTH))):
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
        after = f"{after}(?!{SAYS['determiner'].pattern})"
    return f"{before}{pattern}{after}"


def _denial(
    coded: str,
    start: int,
    end: int,
) -> re.Match[str] | None:
    """Return the negation that ends a part of a text, before a label or labels joined by "or"."""
    near = max(start, end - _LONGEST_NEGATION)
    joined = _OR_AFTER_LABEL.search(coded, near, end)
    if joined:
        end = joined.start()
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
