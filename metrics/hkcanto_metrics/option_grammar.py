"""How the options of a question are mentioned in a response: by letter, by text, by position."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from hkcanto_metrics import decision_words as say
from hkcanto_metrics.response_text import READING, Response, normalize_response

AROUND = " \t\n.。,、;:!?()…~✓→"  # what may stand around an option and mean nothing
_EDGE = AROUND.replace("?", "")  # ... around the text of an option
_MOST = 30  # mentions that are read at each end: more are a loop

# A letter's boundaries are written out, because a Chinese character next to it is one. A to J are
# read even where there are fewer options: to answer with another letter is not to answer. A set of
# characters at the start of a pattern is what `re` finds fast.
_LETTER = re.compile(
    r"[A-Ja-j](?<![0-9A-Za-z\\&'+°_].)(?<![0-9A-Za-z]-.)(?<![A-Z]\..)"
    r"(?:(?P<one>(?<=[A-J]))(?![0-9A-Za-z+#&°%'_]|-[0-9A-Za-z]|\. ?[A-Z]\.)"
    r"(?!(?<=[AI])(?<!ption .)(?<!选项.) (?!(?:" + say.AFTER_LETTER + r")(?![a-z]))[a-z'])"
    r"|(?<=[a-j])(?=[)\s.。,;!]*$|(?<=\(.)\))|(?<=[A-J])[A-J]{1,9}(?![0-9A-Za-z]))"
)
_WORD_GOES_ON = r"(?<=[0-9A-Za-z])[0-9A-Za-z]|(?<=\d)[.,]\d"
_NO_START = re.compile(rf"{_WORD_GOES_ON}|(?<=[-._^)])\d")
_NO_END = re.compile(_WORD_GOES_ON)
_POSITION = say.words(
    r"(?<!倒数)第([一二三四五六七八九十\d]{1,2})(?:个|选?项)(?![字人月年])"
    r"|(?:最(?=尾))?(头|最后|尾)[一那]?个(?!字)|(?:选|答)(?:第|项)?\(?([一二三四五1-5])\)?(?![\dA-Za-z.个种次项])"
    r"|(?<![a-z])(?:the )?(first|second|third|fourth|fifth|last) (?:option|one|choice|answer)"
    r"|option (?:number |no. ?)?\(?([1-5]|one|two|three|four|five)\)?(?![\da-z])"
)
_POSITION_WORD = re.compile("第|个|选|答|option|first|second|third|fourth|fifth|last")
_PLACES = {word: place for place, word in enumerate("一二三四五六七八九十")}
_PLACES |= {str(place + 1): place for place in range(10)} | {"last": -1, "最后": -1, "尾": -1}
for _words in ("first second third fourth fifth", "one two three four five"):
    _PLACES |= {word: place for place, word in enumerate(_words.split())} | {"头": 0}
_BARE = re.compile(r"[\s.。,、;:!)]*(?:\n|\Z)")
_REMARK = re.compile(r"^(?:the|an?) |(?<=.) ?\([^()]*\)$")
_NAME = re.compile(r"(?:[A-Z][\w.'-]* (?:of |the )*)+([A-Z][a-z]{3,})")
_NUMBER = re.compile(r"[±+-]?\d+(?:[.,]\d+)*(?:×10\^[+-]?\d+)?(?:/\d+)?")
_FRAME = re.compile(r"(?:[a-z]=|(?:hk|us)?\$)?#[^#]{0,12}")
_UNIT = (
    r" ?(?:[%°℃]|[平立]?方?[厘公千毫分]?[米尺里克升斤分年岁元天次个人倍秒时度蚊]"
    r"|(?:kilo|centi|milli)?(?:met(?:re|er)|gram|joule|newton|watt|second|minute|hour|year|dollar)s?"
    r"(?: per [a-z]+)?|(?!is|in|or|and|are|to|so|as|at|by|of|on|but|for|was|the|not|out)"
    r"[a-z]{1,3}[23]?(?:(?:/| per )[a-z]+[23]?)?(?![a-z]))"
)
_NUMERALS = "零一二三四五六七八九十百千万亿"
_CHINESE = {ord(str(place)): digit for place, digit in enumerate(_NUMERALS[:10])}
_TO_TEXT = re.compile(r"[).:、, (=>-]{0,6}")
_JOIN = say.words(
    r"\)*[ ]?(?:(?P<firm>、|/|→|\)\(|和|同埋?|[与及跟至到]|以及|(?:或者?|定|还)是?选?择?"
    r"|,? ?(?:and/or|and|or|to)(?![a-z])|,[或和同与及]者?)|[,;]|(?P<line>[.。]?\n)|(?P<space> ))"
    r" ?(?:选项|option |答:)?\(*"
)
_JOINED = re.compile(r"[\s)]*(?:$|[\n.。,;!?/和及与或同]|(?:and|or)(?![a-z])|[A-J](?![A-Za-z]))")


@dataclass(frozen=True, slots=True)
class Mention:
    """One option, or several joined, at a place in the response, by letter or text or both."""

    letters: frozenset[str]  # of options or (up to J) of none
    start: int
    end: int
    lettered: bool = True  # so is a position
    spelled: bool = False


class Options:
    """The options of one question, ready to be found in a response.

    Examples:
        >>> options = Options((("A", "詩"), ("B", "史")))
        >>> [mention.letters for mention in options.mentions("B.史")]
        [frozenset({'B'})]
    """

    def __init__(self, options: tuple[tuple[str, str], ...]) -> None:
        full = {
            letter: normalize_response(Response(text, range(len(text))), keep_readings=True).text
            for letter, text in options
        }
        # In a question about readings, these are the answer rather than an annotation.
        self.keep_readings = any(READING.search(text) for text in full.values())
        self.texts = {letter: text.strip(_EDGE).lower() or text for letter, text in full.items()}
        forms = [(form, key) for key, text in full.items() for form in _forms(text)]
        counts = Counter(form for form, _ in forms)
        self._spelled = [
            (form, letter)
            for form, letter in forms
            if form and counts[form] == 1 and form.upper() not in self.texts
        ]
        self._numbers = _numbers(self.texts)

    def mentions(self, text: str) -> list[Mention]:
        """Every mention in a normalised text, in order, those in mere lists of options left out.

        Options joined by "and", "或" and the like are one mention.
        """
        lower = text.lower()
        found = [
            Mention(frozenset(letter), *span, lettered=False, spelled=True)
            for own, letter in self._spelled
            for span in _spans(own, lower if own == own.lower() else text)
        ]
        for match in self._numbers.finditer(lower) if self._numbers else ():
            found.append(Mention(frozenset(match.lastgroup or ""), *match.span(), False, True))
        for match in _LETTER.finditer(text):
            letters, before = {*match[0].upper()}, max(0, match.start() - 24)
            is_one = match["one"] is not None
            is_option = is_one or [*match[0].upper()] == sorted(letters & {*self.texts})
            if is_option and not say.NO_OPTION_BEFORE.search(text[before : match.start()]):
                found.append(Mention(frozenset(letters), *match.span()))
        for match in _POSITION.finditer(text) if _POSITION_WORD.search(lower) else ():
            place = _PLACES.get(match[match.lastindex or 0].lower(), 99)
            if place < len(self.texts) and not (match[3] and match[3] in self.texts.values()):
                found.append(Mention(frozenset([*self.texts][place]), *match.span()))
        found.sort(key=lambda mention: (mention.start, -mention.end))
        merged = _merged(text, found[:_MOST] + found[_MOST:][-_MOST:])
        return _joined(text, self._without_lists(text, merged))

    def _without_lists(self, text: str, found: list[Mention]) -> list[Mention]:
        """Leave out the options that a list merely names, each on a line with nothing about it."""
        order = "".join(self.texts)
        runs: list[list[Mention]] = []
        for mention in found:
            last = runs[-1][-1] if runs else mention
            pair = "".join([*last.letters, *mention.letters])
            line, *lines = text[last.end : mention.start].split("\n")
            is_next = len(pair) == 2 and pair in order and last.lettered == mention.lettered
            if is_next and len(lines) == 1 and not lines[0].strip(AROUND + "0123456789"):
                runs[-1].append(mention)
            else:
                runs.append([mention])
        bare = [[m for m in run if _BARE.match(text, m.end)] for run in runs]
        is_loop = sum(len(items) > 1 for items in bare) > 1
        kept: list[Mention] = []
        for previous, run, items in zip([[], *runs], runs, bare, strict=False):
            # A loop was cut off within the list, or after the first label of another.
            beside = text[previous[-1].end : run[0].start] if previous else "-"
            is_cut = not beside.strip(AROUND) or text[run[0].end :].strip() in (*".:、",)
            if not (is_loop and is_cut and len(run) == 1):
                kept += [m for m in run if len(items) < 2 or m not in items]
        return kept


def _forms(own: str) -> set[str]:
    """An option's text, also without an article, a remark in brackets, first names, a zero."""
    text = own.strip(_EDGE)
    bare = _REMARK.sub("", text.lower()).strip(_EDGE)
    name = _NAME.fullmatch(text)
    return {text.lower(), bare if len(bare) > 1 else "", name[1] if name else "", text.lstrip("0")}


def _numbers(texts: Mapping[str, str]) -> re.Pattern[str] | None:
    """Finds the numbers in which options differ, in whatever unit, also as Chinese numerals."""
    numbers = {letter: _NUMBER.findall(text) for letter, text in texts.items()}
    frames = {_NUMBER.sub("#", text) for text in texts.values()}
    values = [own[0] for own in numbers.values() if len(own) == 1]
    if len(frames) > 1 or len({*values}) < len(texts) or not _FRAME.fullmatch(frames.pop()):
        return None
    own = "|".join(
        rf"(?P<{letter}>{re.escape(value)}{_in_chinese(value)})"
        for letter, value in zip(texts, values, strict=True)
    )
    return re.compile(rf"(?<![0-9A-Za-z.,^×÷*/±+)-])(?:[a-z]=)?(?:{own})(?![\d^]| ?[×÷*/+=]|[.,]\d)(?:{_UNIT})?")


def _in_chinese(value: str) -> str:
    """A whole number in Chinese numerals, as another branch of a pattern: tens, or digit by digit."""
    if not value.isdigit():
        return ""
    digits = value.translate(_CHINESE)
    if len(value) == 1:
        return rf"|(?<=[为是=]){digits}(?![{_NUMERALS}])"
    if len(value) == 2:
        digits = f"{digits[0].lstrip('一')}十{digits[1].rstrip('零')}"
    return rf"|(?<![{_NUMERALS}]){digits}(?![{_NUMERALS}])"


def _spans(words: str, text: str) -> Iterator[tuple[int, int]]:
    """Where words stand in a text that are not part of longer ones."""
    start = text.find(words)
    while start >= 0:
        end = start + len(words)
        if _NO_START.match(text, start) or _NO_END.match(text, end):
            end = start + 1
        else:
            yield start, end
        start = text.find(words, end)


def _merged(text: str, found: list[Mention]) -> list[Mention]:
    """The mentions, a letter and the text beside it as one."""
    merged: list[Mention] = []
    for mention in found:
        last = merged[-1] if merged else None
        if last and mention.start < last.end:
            continue
        if last and mention.lettered != last.lettered:
            gap = text[last.end : mention.start]
            is_own = last.letters == mention.letters or (last.lettered and gap.strip() in (*".:",))
            if is_own and _TO_TEXT.fullmatch(gap):
                merged[-1] = replace(last, end=mention.end, lettered=True, spelled=True)
                continue
        merged.append(mention)
    return merged


def _joined(text: str, found: list[Mention]) -> list[Mention]:
    joined: list[Mention] = []
    for mention in found:
        last = joined[-1] if joined else None
        join = _JOIN.fullmatch(text, last.end, mention.start) if last else None
        if last and join and join["line"]:  # some items of a list, on a line each
            is_line = not text[: last.start].rpartition("\n")[2].strip(AROUND)
            is_list = is_line and last.lettered == mention.lettered
            join = join if is_list and max(last.letters) < max(mention.letters) else None
        elif last and join and join["space"] and last.spelled != mention.spelled:
            join = None
        if last and last.letters == mention.letters and last.lettered != mention.lettered:
            join = None
        if last and join and (join["firm"] or _JOINED.match(text, mention.end)):
            joined[-1] = replace(last, letters=last.letters | mention.letters, end=mention.end)
        else:
            joined.append(mention)
    return joined


options_of = lru_cache(maxsize=256)(Options)  # many responses answer one question
