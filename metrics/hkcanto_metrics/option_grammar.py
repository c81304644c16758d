"""How the options of a question are mentioned in a response: by letter, by text, by position."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from hkcanto_metrics import decision_phrases as phrases
from hkcanto_metrics.response_text import BOPOMOFO, Response, normalize_response

AROUND = " \t\n.。,、;:!?()…~"  # what may stand around an option and mean nothing
_MOST = 60  # mentions that are read at each end: more are a loop

# A letter's boundaries are written out, because a Chinese character next to it is one. A to J are
# read even where there are fewer options: to answer with another letter is not to answer.
_LETTER = re.compile(
    r"(?<![0-9A-Za-z\\&'+°_])(?<![0-9A-Za-z]-)(?<![A-Z]\.)"
    r"(?:(?P<one>[A-J])(?![0-9A-Za-z+#&°%'_]|-[0-9A-Za-z]|\. ?[A-Z]\.)"
    r"|[a-j](?=[)\s.。,;!]*$|(?<=\(.)\))|[A-J]{2,10}(?![0-9A-Za-z]))"
)
_POSITION = re.compile(
    r"第([一二三四五六七八九十\d]{1,2})(?:个|选?项)(?![字人月年])|(最后)一?个"
    r"|(?<![a-z])(?:the )?(first|second|third|fourth|fifth|last) (?:option|one|choice|answer)"
    r"|(?:option |选项)([一二三四五1-5])(?![\dA-Za-z])",
    re.IGNORECASE,
)
_PLACES = {word: place for place, word in enumerate("一二三四五六七八九十")}
_PLACES |= {str(place + 1): place for place in range(10)}
_PLACES |= {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1, "最后": -1}
OPTION_WORD = re.compile(
    r"(?<!正确)(?<!最佳)(?:选项|(?<![a-z])(?:the )?option)[ (]*$", re.IGNORECASE
)
_TO_TEXT = re.compile(r"[).:、, (=>-]{0,6}")
_JOIN = re.compile(
    r"\)*[ ]?(?:(?P<firm>、|/|→|\)\(|和|同埋?|[与及跟至到]|以及|(?:或者?|定|还)是?选?择?"
    r"|,? ?(?:and/or|and|or|to)(?![a-z])|,[或和同与及]者?)|[,;]|(?P<space> ))"
    r" ?(?:选项|option |答:)?\(*",
    re.IGNORECASE,
)
_JOINED = re.compile(r"[\s)]*(?:$|[\n.。,、;!?/]|[A-J](?![A-Za-z]))")


@dataclass(frozen=True, slots=True)
class Mention:
    """One option, or several joined, at a place in the response, by letter or text or both."""

    letters: frozenset[str]  # of options or (up to J) of none
    start: int
    end: int
    lettered: bool = True  # so is a position
    spelled: bool = False

    @property
    def last(self) -> str:
        """The last of the letters."""
        return max(self.letters)


class Options:
    """The options of one question, ready to be found in a response.

    >>> options = Options((("A", "詩"), ("B", "史")))
    >>> [mention.letters for mention in options.mentions("B.史")]
    [frozenset({'B'})]
    """

    def __init__(self, options: tuple[tuple[str, str], ...]) -> None:
        """Normalise the texts of the options."""
        self._literal = dict(options)
        # In a question about readings, bopomofo is the answer rather than an annotation.
        self.keep_bopomofo = any(BOPOMOFO.search(text) for _, text in options)
        full = {
            letter: normalize_response(Response(text, range(len(text))), self.keep_bopomofo).text
            for letter, text in options
        }
        self.texts = {letter: text.strip(AROUND).lower() or text for letter, text in full.items()}
        self.asking = {letter for letter, text in full.items() if "?" in text[-2:]}
        self._order = "".join(self.texts)
        texts = list(self.texts.values())
        self._distinct = [
            (text, letter)
            for letter, text in self.texts.items()
            if text and texts.count(text) == 1 and text.upper() not in self.texts
        ]

    def spelled(self, answer: str, normalized: str) -> str | None:
        """The option whose text the answer is, to the character or but for its markup."""
        plain = normalized.strip(AROUND).lower()
        for options, wanted in ((self._literal, answer.strip()), (self.texts, plain)):
            found = [letter for letter, option in options.items() if option.strip() == wanted]
            if wanted and wanted.upper() not in self.texts and len(found) == 1:
                return found[0]
        return None

    def mentions(self, text: str) -> list[Mention]:
        """Every mention in a normalised text, in order, those in mere lists of options left out.

        Options joined by "and", "或" and the like are one mention.
        """
        found = [*self._by_text(text), *self._by_letter(text)]
        for match in _POSITION.finditer(text):
            place = _PLACES.get(match[match.lastindex or 0].lower(), 99)
            if place < len(self._order):
                found.append(Mention(frozenset(self._order[place]), *match.span()))
        found.sort(key=lambda mention: (mention.start, -mention.end))
        merged = _merged(text, found[:_MOST] + found[_MOST:][-_MOST:])
        return _joined(text, self._without_lists(text, merged))

    def _by_text(self, text: str) -> list[Mention]:
        lower, found = text.lower(), list[Mention]()
        for own, letter in self._distinct:
            start = lower.find(own)
            while start >= 0 and len(found) < 4 * _MOST:
                end = start + len(own)
                is_part = own[0].isdigit() and text[start - 1 : start] in (*".-_^)",)
                if not (is_part or _cuts(text, start) or _cuts(text, end)):
                    found.append(Mention(frozenset(letter), start, end, False, True))
                start = lower.find(own, start + 1)
        return found

    def _by_letter(self, text: str) -> list[Mention]:
        found = []
        matches = list(_LETTER.finditer(text))
        for match in matches[:_MOST] + matches[_MOST:][-_MOST:]:
            (start, end), letters = match.span(), match[0].upper()
            before = text[max(0, start - 24) : start]
            if not match["one"]:
                is_option = list(letters) == sorted(set(letters) & set(self._order))
            elif phrases.ARTICLE.match(text, start):
                is_option = OPTION_WORD.search(before) is not None
            else:
                is_option = not phrases.NO_OPTION_BEFORE.search(before)
            if is_option:
                found.append(Mention(frozenset(letters), start, end))
        return found

    def _without_lists(self, text: str, found: list[Mention]) -> list[Mention]:
        runs: list[list[Mention]] = []
        for mention in found:
            last = runs[-1][-1] if runs else mention
            gap = text[last.end : mention.start]
            pair = "".join([*last.letters, *mention.letters])
            if (
                (len(pair) == 2 and pair in self._order)
                and (mention.spelled, mention.lettered) == (last.spelled, last.lettered)
                and not gap.strip(AROUND + "0123456789")
                and ("\n" in gap or (mention.spelled and not gap.strip(" .。;")))
            ):
                runs[-1].append(mention)
            else:
                runs.append([mention])
        lists = [run for run in runs if len(run) > 1]
        kept: list[Mention] = []
        for previous, run in zip([[], *runs], runs, strict=False):
            # A loop was cut off within the list, or after the first label of another.
            beside = text[previous[-1].end : run[0].start].strip(AROUND) if previous else "?"
            is_rest = len(lists) > 1 and not beside
            is_first = lists and text[run[0].end :].strip(" \n") in (".", ":", "、")
            if len(run) == 1 and not is_rest and not is_first:
                kept += run
        return kept


def _cuts(text: str, at: int) -> bool:
    """Whether a Latin word or a number goes on at `at`."""
    before, after = text[at - 1 : at] if at else "", text[at : at + 1]
    if after in (".", ",") and before.isdigit():
        return text[at + 1 : at + 2].isdigit()
    return before.isascii() and before.isalnum() and after.isascii() and after.isalnum()


def _merged(text: str, found: list[Mention]) -> list[Mention]:
    """The mentions, a letter and the text beside it as one."""
    merged: list[Mention] = []
    for mention in found:
        last = merged[-1] if merged else None
        if last and mention.start < last.end:
            continue
        if last and mention.lettered != last.lettered and len(last.letters) == 1:
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
        is_close = join and not (join["space"] and last and last.spelled != mention.spelled)
        if last and join and is_close and (join["firm"] or _JOINED.match(text, mention.end)):
            joined[-1] = replace(last, letters=last.letters | mention.letters, end=mention.end)
        else:
            joined.append(mention)
    return joined


options_of = lru_cache(maxsize=256)(Options)  # many responses answer one question
