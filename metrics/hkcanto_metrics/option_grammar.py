"""Find where a response mentions the options of a question: by letter, by text, by position."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from hkcanto_metrics.decision_words import AROUND, DATA, SAYS
from hkcanto_metrics.option_texts import (
    EDGE,
    are_alike,
    distinct_forms,
    unit_of,
    value_of,
    values_of,
)
from hkcanto_metrics.response_text import READING, Response, normalize_response

_PLACES: dict[str, int] = DATA["places"]
LABEL = re.compile("zz[0-9]+zz")  # the code of a label, see `labels.py`
_NUMBERED = re.compile(r"\(\d\)|[①-⑨]")
_LETTER_UNIT = re.compile(r"\d ?[A-J]\Z")  # A, as the unit of a current, is a letter
GLOSS = re.compile(r" ?\([^()\n]*\)")  # a remark in brackets after an option
_MOST = 30  # mentions that are read at each end; a text with more is in a loop

# A letter's boundaries are written out, because a Chinese character next to it is a boundary, too.
# A to J are read even if there are fewer options: such a letter is an answer that names no option.
# `re` is fast on patterns that begin with a set of characters.
_LETTER = re.compile(
    r"[A-Ja-j](?<![0-9A-Za-z\\&'+°_∠△].)(?<![0-9A-Za-z]-.)(?<![A-Z]\..)(?<![^A-Z][A-Z]\(.)"
    r"(?<![^A-Z][A-Z]=.)(?<!\A[A-Z]=.)"
    r"(?:(?P<one>(?<=[A-J]))(?![0-9A-Za-z+#&°%'_]|-[0-9A-Za-z]|\. ?[A-Z]\.)"
    r"(?!" + SAYS["article"].pattern + r")"
    r"|(?<=[a-j])(?<![a-j][、,].)(?<![a-j][、,] .)(?=[)\s.。,;!]*$|(?<=\(.)\))"
    r"|(?<=[A-J])[A-J]{1,9}(?![0-9A-Za-z]))"
)
_NO_END = re.compile(r"(?<=[0-9A-Za-z])(?!s(?![a-z]))[0-9A-Za-z]|(?<=\d)[.,]\d")
_NO_START = re.compile(
    rf"{_NO_END.pattern}|(?<=[-._^])\d|(?<=[0-9A-Za-z][0-9A-Za-z]\))\d"
)
# A single Chinese character that is an option must be a word of its own.
_ONE = re.compile(
    rf"(?<![^\s{AROUND}=是为选答的指同在a-j]).(?:\)|{SAYS['closed'].pattern}"
    r"|(?=[都皆均]|正确|错误|有误))",
    re.I,
)


@dataclass(slots=True, eq=False)
class Mention:
    """One option, or several joined, at a place in the response, by letter or text or both.

    The reader adds the sentence around it and the stance of the response towards it there.
    """

    letters: frozenset[str]  # A to J; may include letters that are not options
    start: int
    end: int
    lettered: bool = True  # True for a position, too
    spelled: bool = False  # by its text
    sentence: tuple[int, int] = (0, 0)
    stance: int = 0

    @property
    def is_full(self) -> bool:
        """Whether the option is named by its letter and its text."""
        return self.lettered and self.spelled


class Options:
    """The options of one question, ready to be found in a response, and what the question asks.

    Attributes:
        texts: Letter → text.
        values: Number → letter, if all options are numbers.
        keep_readings: Whether the options are about pronunciation.
        denied: The question's text from the words that ask for an untrue option; "" if none do.
        asked: The question's text.
        names: Letters that name things in the question, if they are several.

    Examples:
        >>> options = Options((("A", "詩"), ("B", "史")), "邊個唔係？")
        >>> [mention.letters for mention in options.mentions("B.史")]
        [frozenset({'B'})]
    """

    def __init__(
        self,
        options: tuple[tuple[str, str], ...],
        question: str = "",
    ) -> None:
        asked = normalize_response(Response(question, ())).text
        texts = {
            letter: normalize_response(Response(text, ()), True).text
            for letter, text in options
        }
        self.asked = asked.lower()
        self.denied = _denial(asked).lower()
        names = {*SAYS["name"].findall(asked)}
        self.names = names if len(names) > 1 else set()  # one may be the article
        # Readings are the answer to a question about pronunciation, not an annotation.
        self.keep_readings = any(map(READING.search, texts.values()))
        self.texts = {
            letter: text.strip(EDGE).lower() or text for letter, text in texts.items()
        }
        self.values, self._unit = values_of(texts)
        self._forms = distinct_forms(texts)
        self._is_numbered = any(map(_NUMBERED.search, texts.values()))
        self._has_letter_units = any(map(_LETTER_UNIT.search, texts.values()))
        # The codes of labels count as letters.
        self._are_labels = all(map(LABEL.fullmatch, texts.values()))

    @cached_property
    def words(self) -> set[str]:
        """The question's words. Few responses need them, and a passage has many."""
        return words_of(self.asked)

    def mentions(
        self,
        text: str,
        several: bool = False,
    ) -> list[Mention]:
        """Every mention in a normalised text, in order, except those in mere lists of options.

        Options joined by "and", "或" and the like are one mention. If several options may be right,
        a list is a mere list only if it has all options.
        """
        found = [
            *self._by_text(text),
            *self._by_value(text),
            *self._by_letter(text),
            *self._by_position(text),
        ]
        found.sort(key=lambda mention: (mention.start, -mention.end))
        found = found[:_MOST] + found[_MOST:][-_MOST:]
        merged = _merged(text, found)
        least = len(self.texts) if several else 0
        joined = _joined(text, _without_lists(text, merged, least))
        if several or len(self.texts) == 2:
            return joined
        return [m for m in joined if not m.letters >= self.texts.keys()]

    def _by_text(self, text: str) -> Iterator[Mention]:
        lower = text.lower()
        for form, letter in self._forms:
            for start, end in _spans(form, lower):
                yield Mention(
                    frozenset(letter),
                    start,
                    end,
                    lettered=self._are_labels,
                    spelled=not self._are_labels,
                )

    def _by_value(self, text: str) -> Iterator[Mention]:
        """The options that are numbers, in any spelling of the number and its unit."""
        if not self.values:
            return
        for match in SAYS["quantity"].finditer(text):
            letter = self.values.get(value_of(match[1]))
            if letter and are_alike(self._unit, unit_of(match)):
                yield _spelled(letter, match)

    def _by_letter(self, text: str) -> Iterator[Mention]:
        for match in _LETTER.finditer(text):
            letters = frozenset(match[0].upper())
            before = text[max(0, match.start() - 14) : match.start()]
            is_unit = self._has_letter_units and re.search(r"\d[ (]*\Z", before)
            if is_unit or SAYS["no_option_before"].search(before):
                continue
            is_set = [*match[0].upper()] == sorted(letters & {*self.texts})
            if is_set or match["one"] is not None:
                yield Mention(letters, *match.span())

    def _by_position(self, text: str) -> Iterator[Mention]:
        if self._is_numbered:
            return
        letters = [*self.texts]
        for match in SAYS["position"].finditer(text):
            word = next(filter(None, match.groups())).lower()
            place = _PLACES[word] if word in _PLACES else int(value_of(word))
            is_number = (
                match["bare"] and "第" not in match[0] and self.values
            )  # 答案：3
            if place <= len(self.texts) and not is_number:
                yield Mention(frozenset(letters[place - 1]), *match.span())


def _spelled(
    letter: str,
    match: re.Match[str],
) -> Mention:
    """The mention of an option by its text."""
    return Mention(
        frozenset(letter),
        *match.span(),
        lettered=False,
        spelled=True,
    )


def _denial(asked: str) -> str:
    """A question's text from the last words that ask for an untrue option."""
    starts = [match.start() for match in SAYS["asks_not"].finditer(asked)]
    return asked[starts[-1] :] if starts else ""


def words_of(text: str) -> set[str]:
    """The beginnings of a text's words that mean something."""
    plain = SAYS["empty"].sub(" ", text.lower())
    return {word[1] or word[0] for word in SAYS["words"].finditer(plain)}


def _spans(
    words: str,
    text: str,
) -> Iterator[tuple[int, int]]:
    """The places of words in a text, except where they are part of longer words."""
    start = text.find(words)
    while start >= 0:
        end = start + len(words)
        is_word = len(words) > 1 or words.isascii() or _ONE.match(text, start)
        if is_word and not (_NO_START.match(text, start) or _NO_END.match(text, end)):
            is_plural = words[-1].isalpha() and text.startswith("s", end)
            yield start, end + is_plural
        start = text.find(words, start + 1)


def _without_lists(
    text: str,
    found: list[Mention],
    least: int,
) -> list[Mention]:
    """Leave out the options that a list merely names, each on a line with nothing about it."""
    listed: set[int] = set()  # the places of the list's items
    for chain in _chains(text, found):
        # 答案是: A. 線粒體⏎B. 核糖體⏎C. 細胞核
        is_led = not _opens_line(text, chain[0])
        if len(chain) > 1 + is_led:
            listed.update(item.start for item in chain)
    if len(listed) > len(found) / 2 > 4:  # a loop, cut off within the list
        for mention in found:
            if _is_bare_item(text, mention) and _opens_line(text, mention):
                listed.add(mention.start)
    if len(listed) < least:
        return found
    return [mention for mention in found if mention.start not in listed]


def _chains(
    text: str,
    found: list[Mention],
) -> list[list[Mention]]:
    """The bare items, in chains of items that are each on the line below the one before."""
    chains: list[list[Mention]] = []
    last: Mention | None = None
    for mention in found:
        if not _is_bare_item(text, mention):
            last = None
            continue
        if last and _is_next_item(text, last, mention):
            chains[-1].append(mention)
        else:
            chains.append([mention])
        last = mention
    return chains


def _is_bare_item(
    text: str,
    mention: Mention,
) -> bool:
    return SAYS["bare"].match(text, mention.end) is not None


def _opens_line(
    text: str,
    mention: Mention,
) -> bool:
    line = text.rfind("\n", 0, mention.start) + 1
    return not text[line : mention.start].strip(AROUND + "0123456789")


def _is_next_item(
    text: str,
    last: Mention,
    mention: Mention,
) -> bool:
    """Whether an item is on the line below another, and later in the alphabet."""
    lines = text[last.end : mention.start].split("\n")
    if len(lines) != 2 or lines[1].strip(AROUND + "0123456789"):
        return False
    is_alike = last.lettered == mention.lettered
    return is_alike and max(last.letters) < min(mention.letters)


def _merged(
    text: str,
    found: list[Mention],
) -> list[Mention]:
    """Merge each letter with the option text beside it."""
    merged: list[Mention] = []
    for mention in found:
        last = merged[-1] if merged else None
        if last and mention.start < last.end:
            continue
        if last and _is_with_text(text, last, mention):
            last.end = mention.end
            last.lettered = True
            last.spelled = True
        else:
            merged.append(mention)
    return merged


def _is_with_text(
    text: str,
    last: Mention,
    mention: Mention,
) -> bool:
    """Whether two mentions in a row are a letter and the text beside it."""
    gap = text[last.end : mention.start]
    if last.lettered == mention.lettered or not SAYS["gap"].fullmatch(gap):
        return False
    if "。" in gap and not SAYS["closed"].match(text, mention.end):
        return False  # B。長洲最細
    is_label = gap.strip() in (".", ":", ")")
    return is_label or last.letters == mention.letters


def _joined(
    text: str,
    found: list[Mention],
) -> list[Mention]:
    """Join the options that "and", "或" and the like put together."""
    joined: list[Mention] = []
    for mention in found:
        if joined and _are_joined(text, joined[-1], mention):
            joined[-1].letters |= mention.letters
            joined[-1].end = mention.end
        else:
            joined.append(mention)
    return joined


def _are_joined(
    text: str,
    last: Mention,
    mention: Mention,
) -> bool:
    is_mixed = last.lettered != mention.lettered  # 答案是甲,B和C都不對
    if is_mixed and last.letters == mention.letters:
        return False
    gap = GLOSS.sub("", text[last.end : mention.start])
    if last.is_full and mention.is_full and not gap.strip(" ,;()"):
        return True  # a list in a line
    join = SAYS["join"].fullmatch(gap)
    if not join or join["firm"]:
        return bool(join)
    gloss = GLOSS.match(text, mention.end)
    end = gloss.end() if gloss else mention.end
    return not is_mixed and SAYS["joined"].match(text, end) is not None


options_of = lru_cache(maxsize=256)(Options)  # many responses answer the same question
