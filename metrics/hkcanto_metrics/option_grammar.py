"""Find where a response mentions the options of a question: by letter, by text, by position."""

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import takewhile
from pathlib import Path

from hkcanto_metrics.number import parse_number
from hkcanto_metrics.patterns import Patterns
from hkcanto_metrics.response_text import READING, Response, normalize_response
from hkcanto_metrics.script import fold_script

_DATA = tomllib.loads(
    Path(__file__).with_name("decision_words.toml").read_text("utf-8")
)


def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a form; `{name}` is replaced by a class of words."""
    for name, members in reversed(_DATA["words"].items()):
        english = [f"«{'|'.join(members['english'])}»"] if "english" in members else []
        either = "|".join([*members.get("chinese", []), *english])
        pattern = pattern.replace(f"{{{name}}}", f"(?:{either})")
    pattern = pattern.replace("«", r"(?<![a-z])(?:").replace("»", r")(?![a-z])")
    return re.compile(fold_script(pattern), re.IGNORECASE)


SAYS = Patterns(
    {name: "".join(parts) for name, parts in _DATA["forms"].items()}, _compiled
)
# A response may name an option that is one of these words by any other word of the same row.
_SAME = [{fold_script(word) for word in row} for row in _DATA["same"]["rows"]]
_PLACES: dict[str, int] = _DATA["places"]

AROUND = " \t\n.。,、;:!?()…~✓→"  # characters around an option that mean nothing
_EDGE = AROUND.replace("?", "")  # the same around the text of an option
LABEL = re.compile("zz[0-9]+zz")  # the code of a label, see `labels.py`
_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5}
_MOST = 30  # mentions that are read at each end; a text with more is in a loop

# A letter's boundaries are written out, because a Chinese character next to it is a boundary, too.
# A to J are read even if there are fewer options: such a letter is an answer that names no option.
# `re` is fast on patterns that begin with a set of characters.
_LETTER = re.compile(
    r"[A-Ja-j](?<![0-9A-Za-z\\&'+°_∠△].)(?<![0-9A-Za-z]-.)(?<![A-Z]\..)(?<![^A-Z][A-Z]\(.)"
    r"(?<![^A-Z][A-Z]=.)(?<!\A[A-Z]=.)"
    r"(?:(?P<one>(?<=[A-J]))(?![0-9A-Za-z+#&°%'_]|-[0-9A-Za-z]|\. ?[A-Z]\.)"
    r"(?!" + SAYS["article"].pattern + r")"
    r"|(?<=[a-j])(?=[)\s.。,;!]*$|(?<=\(.)\))|(?<=[A-J])[A-J]{1,9}(?![0-9A-Za-z]))"
)
_NO_END = re.compile(r"(?<=[0-9A-Za-z])(?!s(?![a-z]))[0-9A-Za-z]|(?<=\d)[.,]\d")
_NO_START = re.compile(
    rf"{_NO_END.pattern}|(?<=[-._^])\d|(?<=[0-9A-Za-z][0-9A-Za-z]\))\d"
)
# Parts of an option that a response may omit: an article, a remark in brackets, first names.
_NAME = re.compile(r"(?:[A-Z][\w.'-]* (?:of |the )*)+([A-Z][a-z]{3,})")
# A single Chinese character that is an option must be a word of its own.
_ONE = re.compile(
    rf"(?<![^\s{AROUND}=是为选答的指同在a-j]).(?:\)|{SAYS['closed'].pattern})", re.I
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
    spelled: bool = False
    sentence: tuple[int, int] = (0, 0)
    stance: int = 0


class Options:
    """The options of one question, ready to be found in a response, and what the question asks.

    Attributes:
        texts: Letter → text.
        values: Number → letter, if all options are numbers.
        keep_readings: Whether the options are about pronunciation.
        denied: The question's text from the words that ask for an untrue option; "" if none do.
        asked: The question's text.
        names: Letters that name things in the question.
        named: The options' letters among them, if they are several.
        words: The question's words.

    Examples:
        >>> options = Options((("A", "詩"), ("B", "史")), "邊個唔係？")
        >>> [mention.letters for mention in options.mentions("B.史")]
        [frozenset({'B'})]
    """

    def __init__(
        self, options: tuple[tuple[str, str], ...], question: str = ""
    ) -> None:
        asked = normalize_response(Response(question, ())).text
        self.asked = asked.lower()
        denials = [match.start() for match in SAYS["asks_not"].finditer(asked)]
        self.denied = asked[denials[-1] :].lower() if denials else ""
        self.names, self.words = {*SAYS["name"].findall(asked)}, words_of(asked)
        things = {letter for name in self.names for letter in name} & {*dict(options)}
        self.named = things if len(things) > 1 else set[str]()  # one may be the article
        full = {
            key: normalize_response(Response(own, ()), True).text
            for key, own in options
        }
        same = takewhile(
            lambda each: len({*each}) == 1, zip(*full.values(), strict=False)
        )
        shared = len(SAYS["start"].findall("".join(each[0] for each in same))[0])
        # Readings are the answer to a question about pronunciation, not an annotation.
        self.keep_readings = any(READING.search(text) for text in full.values())
        self.texts = {
            letter: text.strip(_EDGE).lower() or text for letter, text in full.items()
        }
        rest = shared if shared < 3 or "".join(full.values()).isascii() else 0
        names = {
            letter: _forms(text) | _forms(text[rest:]) for letter, text in full.items()
        }
        forms = [(form, letter) for letter in names for form in sorted(names[letter])]
        letters, counts = (
            {*map(str.lower, self.texts), ""},
            Counter(form for form, _ in forms),
        )
        self._forms = [
            each for each in forms if counts[each[0]] == 1 and each[0] not in letters
        ]
        cores = [(key, text[shared:].strip(_EDGE)) for key, text in full.items()]
        found = [
            (key, each)
            for key, core in cores
            if (each := SAYS["quantity"].fullmatch(core))
        ]
        self.values = {_value(each[1]): letter for letter, each in found}
        self._units = {_unit(each) for _, each in found}
        sets = {
            key: SAYS["around_set"].sub("", text).strip(_EDGE)
            for key, text in full.items()
        }
        sets = {
            key: own for key, own in sets.items() if SAYS["statements"].fullmatch(own)
        }
        self._sets = {_numbers(own): key for key, own in sets.items()}
        self._is_numbered = any(
            re.search(r"\(\d\)|[①-⑨]", text) for text in full.values()
        )
        if len(self._sets) < 2 or max(map(len, self._sets)) < 2:
            self._sets.clear()
        elif self._sets:
            self._forms = [(form, key) for form, key in self._forms if key not in sets]
        # A, as the unit of a current, is a letter.
        self._has_letter_units = any(
            re.search(r"\d ?[A-J]\Z", text) for text in full.values()
        )
        # The codes of labels count as letters.
        self._are_labels = all(LABEL.fullmatch(text) for text in full.values())
        if len(self.values) < len(full) or len(self._units) > 1:
            self.values.clear()

    def mentions(self, text: str, several: bool = False) -> list[Mention]:
        """Every mention in a normalised text, in order, except those in mere lists of options.

        Options joined by "and", "或" and the like are one mention. If several options may be right,
        a list is a mere list only if it has all options.
        """
        found = [*self._by_text(text), *self._by_letter(text), *self._by_position(text)]
        found.sort(key=lambda mention: (mention.start, -mention.end))
        merged = _merged(text, found[:_MOST] + found[_MOST:][-_MOST:], self.named)
        joined = _joined(
            text, _without_lists(text, merged, len(self.texts) if several else 0)
        )
        if several:
            return joined
        # The options of the question, repeated in one line.
        return [mention for mention in joined if not self._is_repeated(text, mention)]

    def _is_repeated(self, text: str, mention: Mention) -> bool:
        """Whether a line only repeats the options: 「選項：A. 巴士 B. 電車」."""
        line = text.rfind("\n", 0, mention.start) + 1
        lead = text[line : mention.start].strip(AROUND).lower()
        is_full = mention.lettered and mention.spelled
        is_all = is_full and mention.letters >= self.texts.keys()
        return is_all and lead in ("", "选项", "options", "choices")

    def _by_text(self, text: str) -> Iterator[Mention]:
        lower = text.lower()
        for form, letter in self._forms:
            for span in _spans(form, lower):
                is_label = self._are_labels
                yield Mention(frozenset(letter), *span, is_label, not is_label)
        for match in SAYS["statements"].finditer(text) if self._sets else ():
            numbers = _numbers(match[0])
            before = text[max(0, match.start() - 14) : match.start()]
            is_whole = match[0].strip(AROUND) == text.strip(AROUND)
            is_set = len(numbers) > 1 or is_whole or SAYS["before_one"].search(before)
            if is_set and numbers in self._sets:
                yield Mention(
                    frozenset(self._sets[numbers]), *match.span(), False, True
                )
        for match in SAYS["quantity"].finditer(text) if self.values else ():
            value = _value(match[1])
            if value in self.values and self._is_measured(match):
                yield Mention(frozenset(self.values[value]), *match.span(), False, True)

    def _is_measured(self, match: re.Match[str]) -> bool:
        """Whether a number has the options' unit, in any spelling, or no unit."""
        (own,), unit = self._units, _unit(match)
        shapes = {
            (each[:1], each.count("/"), each[-1:].isdigit()) for each in (own, unit)
        }
        is_other = unit.isascii() != own.isascii() and ("/" in unit) == bool(
            {*"/每"} & {*own}
        )
        return len(shapes) == 1 or not (unit and own) or is_other

    def _by_letter(self, text: str) -> Iterator[Mention]:
        for match in _LETTER.finditer(text):
            letters = frozenset(match[0].upper())
            is_set = [*match[0].upper()] == sorted(letters & {*self.texts})
            before = text[max(0, match.start() - 14) : match.start()]
            is_numeral = self._sets and match[0] not in self.texts  # I, II
            is_letter = (is_set or match["one"] is not None) and not is_numeral
            if self._has_letter_units and re.search(r"\d[ (]*\Z", before):
                continue
            if is_letter and not SAYS["no_option_before"].search(before):
                yield Mention(letters, *match.span())

    def _by_position(self, text: str) -> Iterator[Mention]:
        for match in SAYS["position"].finditer(text) if not self._is_numbered else ():
            word = match[match.lastindex or 0].lower()
            place = _PLACES[word] if word in _PLACES else int(_value(word))
            place = (
                place if place >= 0 else {3: 2, 5: 3}.get(len(self.texts), _MOST)
            )  # the middle
            if place <= len(self.texts) and not (match[3] and self.values):
                yield Mention(frozenset([*self.texts][place - 1]), *match.span())


def words_of(text: str) -> set[str]:
    """The beginnings of a text's words that mean something."""
    plain = SAYS["empty"].sub(" ", text.lower())
    return {word[1] or word[0] for word in SAYS["words"].finditer(plain)}


def _spans(words: str, text: str) -> Iterator[tuple[int, int]]:
    """The places of words in a text, except where they are part of longer words."""
    start = text.find(words)
    while start >= 0:
        end = start + len(words)
        is_word = len(words) > 1 or words.isascii() or _ONE.match(text, start)
        if is_word and not (_NO_START.match(text, start) or _NO_END.match(text, end)):
            yield start, end
        start = text.find(words, start + 1)


def _forms(own: str) -> set[str]:
    """The ways of writing an option's text, including the empty one."""
    text = own.strip(_EDGE)
    bare, name = (
        SAYS["remark"].sub("", text.lower()).strip(_EDGE),
        _NAME.fullmatch(text),
    )
    others = [bare, name[1].lower() if name else ""]
    others += [bare.removesuffix("s")] if bare[-4:].isalpha() else []
    same = next((each for each in _SAME if text.lower() in each), ())
    others += [re.sub(r"\d+", _in_han, text.lower())]
    return {text.lower(), *(each for each in others if len(each) > 1), *same}


def _in_han(number: re.Match[str]) -> str:
    """A number below 100 in Chinese numerals, as dates have them."""
    tens, ones = divmod(int(number[0][:9]), 10)
    if tens > 9:
        return number[0]
    digits = "零一二三四五六七八九"
    return f"{digits[tens] if tens > 1 else ''}{'十' if tens else ''}{digits[ones] if ones else ''}"


@lru_cache(maxsize=1024)
def _value(number: str) -> Fraction | str:
    return number if (value := parse_number(number)) is None else value


def _unit(match: re.Match[str]) -> str:
    return (match["unit"] or "").replace(" per ", "/").replace("度", "°").lower()


def _numbers(statements: str) -> frozenset[int]:
    """The numbers of statements, written in any way: (1), ①, i, 一."""
    found = SAYS["numeral"].findall(statements.lower())
    return frozenset(
        _ROMAN.get(each) or int(unicodedata.numeric(each)) for each in found
    )


def _without_lists(text: str, found: list[Mention], least: int) -> list[Mention]:
    """Leave out the options that a list merely names, each on a line with nothing about it."""
    listed: set[int] = set()  # the places of the list's items
    chain: list[Mention] = []
    for mention in found:
        if not _is_bare_item(text, mention):
            chain = []
            continue
        if chain and not _is_next_item(text, chain[-1], mention):
            chain = []
        chain.append(mention)
        is_led = not _opens_line(
            text, chain[0]
        )  # 答案是: A. 線粒體⏎B. 核糖體⏎C. 細胞核
        if len(chain) > 1 + is_led:
            listed |= {item.start for item in chain}
    if len(listed) > len(found) / 2 > 4:  # a loop, cut off within the list
        bare = [mention for mention in found if _is_bare_item(text, mention)]
        listed |= {item.start for item in bare if _opens_line(text, item)}
    if len(listed) < least:
        return found
    return [mention for mention in found if mention.start not in listed]


def _is_bare_item(text: str, mention: Mention) -> bool:
    return SAYS["bare"].match(text, mention.end) is not None


def _opens_line(text: str, mention: Mention) -> bool:
    line = text.rfind("\n", 0, mention.start) + 1
    return not text[line : mention.start].strip(AROUND + "0123456789")


def _ends_sentence(text: str, mention: Mention) -> bool:
    """Whether a mention ends a line of text: not the first item of 「答案是：A⏎B⏎C」."""
    line = text.rfind("\n", 0, mention.start) + 1
    before = text[line : mention.start].strip(" ().。,、;!?…~✓→0123456789")
    return bool(before) and not before.endswith(":")


def _is_next_item(text: str, last: Mention, mention: Mention) -> bool:
    """Whether an item is on the line below another, and later in the alphabet."""
    lines = text[last.end : mention.start].split("\n")
    if len(lines) != 2 or lines[1].strip(AROUND + "0123456789"):
        return False
    is_alike = last.lettered == mention.lettered
    return is_alike and max(last.letters) < min(mention.letters)


def _merged(text: str, found: list[Mention], named: Set[str]) -> list[Mention]:
    """Merge each letter with the option text beside it; a named thing only with its own text."""
    merged: list[Mention] = []
    for mention in found:
        last = merged[-1] if merged else None
        gap = text[last.end : mention.start] if last else ""
        is_label = gap.strip() in (*".:)",) and last and not last.letters <= named
        own = last and (last.letters == mention.letters or is_label)
        is_one = (
            last
            and last.lettered != mention.lettered
            and own
            and SAYS["gap"].fullmatch(gap)
        )
        if last and is_one and mention.start >= last.end:
            last.end, last.lettered, last.spelled = mention.end, True, True
        elif not last or mention.start >= last.end:
            merged.append(mention)
    return merged


def _joined(text: str, found: list[Mention]) -> list[Mention]:
    joined: list[Mention] = []
    for mention in found:
        last = joined[-1] if joined else None
        join = SAYS["join"].fullmatch(text, last.end, mention.start) if last else None
        is_list = (
            last
            and last.lettered
            and last.spelled
            and mention.lettered
            and mention.spelled
        )
        mixed = last and last.lettered != mention.lettered  # 答案是甲,B和C都不对
        is_firm = join and (
            join["firm"] or (not mixed and SAYS["joined"].match(text, mention.end))
        )
        is_list = (
            is_list and last and not text[last.end : mention.start].strip(" ,;()")
        )  # in a line
        if (
            last
            and (is_firm or is_list)
            and not (mixed and last.letters == mention.letters)
        ):
            last.letters, last.end = last.letters | mention.letters, mention.end
        else:
            joined.append(mention)
    return joined


options_of = lru_cache(maxsize=256)(Options)  # many responses answer the same question
