"""The letter that a model chose, read from what it wrote.

`docs/extraction.md` describes the mechanism. No letter is ever guessed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import pairwise

from hkcanto_metrics import decision_phrases as phrases
from hkcanto_metrics.option_grammar import AROUND, OPTION_WORD, Mention, Options, options_of
from hkcanto_metrics.response_text import Response, normalize_response, own_answer

# What most direct answers are: a shortcut past everything below, which says the same of them.
_BARE_LETTER = re.compile(r"\s*+\(?([A-Za-z])\)?[.]?\s*")
# Several questions answered in a numbered list.
_NUMBERED = re.compile(
    r"^\s*(?:問題|问题|Q|第)?\s?\d{1,3}\s?[題题]?[.)、:：]\s*(?:答案|(?i:answer))?[:：]?\s*([A-J])[.。]?\s*$",
    re.MULTILINE,
)
_LABEL = re.compile(r"\n\(?([A-J])[).:、]")
_ITEM = re.compile(r"\n([A-J])[.):、] ?([^\n]+)")
_SENTENCE_END = re.compile(r"[。!?\n]|\.(?=\s)")


@dataclass(frozen=True, slots=True)
class ChoiceReading:
    """What a response comes to, and why.

    Attributes:
        letter: the letter of an option, or `None`.
        reason: how the letter was read: ``bare``, ``first line``, ``first letter``, ``stated``,
            ``affirmed``, ``option text``, ``paraphrase``; or why there is none: ``none: empty``,
            ``none: cut off`` (in the reasoning or in a list), ``none: refusal``, ``none:
            several``, ``none: no option`` (another letter), ``none: undecided``.
        evidence: start and end of the words in the given text that name the option, if any.
    """

    letter: str | None
    reason: str
    evidence: tuple[int, int] | None = None


def extract_choice(text: str, options: Mapping[str, str]) -> str | None:
    """Return the option letter that a model's output settles on.

    Understands English, Cantonese and Written Chinese in both scripts. Reads the first 1,500 and
    the last 3,500 characters of what follows the reasoning block.

    Args:
        text: what the model wrote, special tokens and reasoning block included or not.
        options: the options shown, letter to text: two to ten of "A" to "J".

    Returns:
        One of the letters of `options`, or `None` where the output states no single decision.
        HKCanto-Eval, HKMMLU and TMMLU+ do not define how a letter is found: these rules are ours.

    >>> islands = {"A": "大嶼山", "B": "南丫島", "C": "長洲", "D": "坪洲"}
    >>> extract_choice("答案：A。等等，唔啱，應該係（D）先啱。", islands)
    'D'
    >>> extract_choice("A 同 B 都有可能。", islands) is None
    True
    """
    return read_choice(text, options).letter


def read_choice(text: str, options: Mapping[str, str]) -> ChoiceReading:
    """Read the option that a model's output settles on, with the reason and the place.

    Args:
        text: what the model wrote, special tokens and reasoning block included or not.
        options: the options shown, letter to text: two to ten of "A" to "J".

    Returns:
        The letter that `extract_choice` returns, why, and where it was read.

    >>> read_choice("我揀長洲。", {"A": "大嶼山", "B": "南丫島", "C": "長洲"})
    ChoiceReading(letter='C', reason='stated', evidence=(2, 4))
    """
    bare = _BARE_LETTER.fullmatch(text)
    if bare and bare[1].upper() in options:
        return ChoiceReading(bare[1].upper(), "bare", bare.span(1))
    answer = own_answer(text)
    if answer is None:
        return ChoiceReading(None, "none: cut off")
    shown = options_of(tuple(options.items()))
    response = normalize_response(answer, shown.keep_bopomofo)
    if letter := shown.spelled(answer.text, response.text):
        return _located(letter, "option text", answer, 0, len(answer.text))
    if not response.text.strip():
        return ChoiceReading(None, "none: empty")
    if len(set(_NUMBERED.findall(answer.text))) > 1:
        return ChoiceReading(None, "none: several")
    for part in _questions(response, shown):
        reading = _Reader(part, shown).reading()
        if reading.letter:
            break
    return reading


def _questions(response: Response, shown: Options) -> Iterator[Response]:
    """The response up to where it begins another question; on from there if it is this one."""
    cuts = [match.start() for match in phrases.NEW_QUESTION.finditer(response.text)]
    cuts = [0, *cuts, len(response.text)]
    for start, end in pairwise(cuts[:4]):
        items = _ITEM.findall(response.text[start:end])
        is_this = all(own.lower().startswith(shown.texts.get(name, own)) for name, own in items)
        if start and not (items and is_this):
            return
        yield response[start:end]


def _located(letter: str, reason: str, text: Response, start: int, end: int) -> ChoiceReading:
    return ChoiceReading(letter, reason, (text.origins[start], text.origins[end - 1] + 1))


class _Stance(IntEnum):
    """What a response says of an option at one place."""

    REFUTED, SPOKEN_OF, NAMED, AFFIRMED, HEDGED, CHOSEN = range(6)


class _Reader:
    """Reads one response to one question."""

    def __init__(self, response: Response, shown: Options) -> None:
        self._response, self._shown, self._text = response, shown, response.text
        self._mentions = shown.mentions(self._text)
        self._ends = [match.end() for match in _SENTENCE_END.finditer(self._text)]
        self._stances = {mention: self._stance(mention) for mention in self._mentions}

    def _sentence(self, mention: Mention) -> tuple[int, int]:
        """Where the sentence around a mention starts and ends."""
        at = bisect_right(self._ends, mention.start)
        start, end = [0, *self._ends][at], [*self._ends, len(self._text)][at]
        if start and self._text[start - 1] == "\n" and not self._rest_of_line(mention):
            previous = [0, *self._ends][at - 1]
            if phrases.LEADS_ON.search(self._text[previous : start - 1]):
                start = previous  # 答案是：⏎B
        return start, end

    def _rest_of_line(self, mention: Mention) -> str:
        return self._text[mention.end :].partition("\n")[0].strip(" .。,)!~")

    def _stance(self, mention: Mention) -> _Stance:
        text, (start, end) = self._text, self._sentence(mention)
        lead = OPTION_WORD.sub("", text[max(start, mention.start - 300) : mention.start])
        clause = re.split("[,、;]", lead)[-1]
        after = text[mention.end : mention.end + 60]
        if mention.lettered and mention.spelled and not lead.strip(AROUND):
            after = after.replace(",", "-")  # the verdict on an item of a list
        is_asked = text[end - 1] == "?" and "," not in text[mention.end : end]
        is_asked = is_asked or after.lstrip(") ")[:1] in (*"吗咩",)
        if is_asked and not (mention.spelled and mention.letters <= self._shown.asking):
            return _Stance.SPOKEN_OF
        if phrases.NEGATED.search(clause):
            return _Stance.REFUTED
        if phrases.NOT_OWN.search(phrases.CONTRAST.split(lead)[-1]):
            return _Stance.SPOKEN_OF
        if phrases.CLAIMED.match(after):
            return _Stance.CHOSEN
        is_closed = bool(phrases.CLOSED.match(after)) or (mention.spelled and mention.lettered)
        is_chosen = bool(phrases.FIRM.search(lead[-60:]))
        if is_closed and not is_chosen:
            is_chosen = any(cue.search(lead[-90:]) for cue in phrases.CUES)
        if is_closed and not is_chosen:
            is_predicate = bool(phrases.COPULA.search(clause[-60:]))
            if is_predicate and not mention.lettered:
                return _Stance.AFFIRMED
            is_end = text[mention.end : end].strip(" )") in (".", "。", "!")
            is_chosen = is_predicate or (is_end and lead != clause and not clause.strip(AROUND))
        refuted = (phrases.ASSAILED if is_chosen else phrases.REFUTED).match(after)
        affirmed = phrases.AFFIRMED.match(after)
        if refuted and phrases.OTHER_REFUTED.search(refuted[0]):
            following = range(mention.end + refuted.end(), mention.end + refuted.end() + 3)
            refuted = None if any(each.start in following for each in self._mentions) else refuted
        if refuted and not (affirmed and affirmed.end() < refuted.end()):
            return _Stance.REFUTED
        if is_chosen:
            return _Stance.HEDGED if phrases.HEDGED.search(clause[-60:]) else _Stance.CHOSEN
        return _Stance.AFFIRMED if affirmed or phrases.ONLY.search(clause) else _Stance.NAMED

    def reading(self) -> ChoiceReading:
        """The option that the response settles on."""
        opening = self._opening()
        if opening and self._opens_list(opening):
            return ChoiceReading(None, "none: several")
        decisions = self._decisions(opening)
        if opening and not self._rest_of_line(opening).strip(AROUND):
            turn = phrases.REVISED if len(opening.letters) == 1 else phrases.CONTRAST
            after = self._text[opening.end :]
            decisions = [
                decision
                for decision in decisions
                if (at := decision.start - opening.end) > 0 and turn.search(after[:at], at - 60)
            ]
            if not decisions:
                return self._of(opening, "first line")
        return self._settled(decisions) if decisions else self._hinted()

    def _of(self, mention: Mention, reason: str) -> ChoiceReading:
        if len(mention.letters) > 1:
            return ChoiceReading(None, "none: several")
        if not mention.letters <= self._shown.texts.keys():
            return ChoiceReading(None, "none: no option")
        start, end = mention.start, mention.end
        return _located(min(mention.letters), reason, self._response, start, end)

    def _opening(self) -> Mention | None:
        """The option that the response opens with, unless it is judged among others."""
        first = self._mentions[0] if self._mentions else None
        if first is None or self._stances[first] <= _Stance.SPOKEN_OF:
            return None
        before, after = self._text[: first.start], self._text[first.end :]
        label = _LABEL.search(after)
        is_item = label and self._rest_of_line(first) and label[1] > first.last
        is_first = not OPTION_WORD.sub("", before).strip(AROUND)
        return first if is_first and phrases.CLOSED.match(after) and not is_item else None

    def _opens_list(self, opening: Mention) -> bool:
        """Whether the first two lines, or several lines of text alone, are an option each."""
        lines = [line.strip(AROUND) for line in self._text[opening.start :].split("\n")]
        spans = {self._text[m.start : m.end].strip(AROUND): m for m in reversed(self._mentions)}
        others = [spans.get(line) for line in lines[1 : 2 if opening.lettered else None]]
        return spans.get(lines[0]) == opening and any(
            other and other.lettered == opening.lettered and other.last > opening.last
            for other in others
        )

    def _decisions(self, opening: Mention | None) -> list[Mention]:
        decisions = [
            mention
            for mention in self._mentions
            if mention == opening
            or self._stances[mention] >= _Stance.HEDGED
            or (mention == self._mentions[-1] and self._is_last_line(mention))
        ]
        aside = phrases.ASIDE.search(self._text, decisions[0].end) if decisions else None
        end = aside.start() if aside else len(self._text)
        taken_back = [match.start() for match in phrases.RETRACTED.finditer(self._text)]
        start = max(taken_back, default=-1)
        return [mention for mention in decisions if start < mention.start < end]

    def _is_last_line(self, last: Mention) -> bool:
        """Whether the last sentence is an option, and no item of a list that was cut off."""
        start, rest = self._sentence(last)[0], self._text[last.end :].strip(" )\n")
        is_alone = not OPTION_WORD.sub("", self._text[start : last.start]).strip(AROUND)
        is_line = self._text[start - 1] in "\n?" or rest
        if self._stances[last] < _Stance.NAMED or not is_alone or not is_line or rest.strip(".。!"):
            return False
        labels = _LABEL.findall(self._text[: last.start])
        return not labels or (rest != "." and ord(last.last) != ord(labels[-1]) + 1)

    def _settled(self, decisions: list[Mention]) -> ChoiceReading:
        firm = [m for m in decisions if self._stances[m] != _Stance.HEDGED]
        last = (firm or decisions)[-1]
        for other in firm or decisions:
            between = self._text[other.end : last.start]
            is_together = not firm or self._sentence(other) == self._sentence(last)
            is_revised = phrases.REVISED.search(between) or phrases.CONTRAST.search(between)
            if is_together and other.letters != last.letters and not is_revised:
                return ChoiceReading(None, "none: several")
        return self._of(last, "stated")

    def _hinted(self) -> ChoiceReading:
        """The one option that the response speaks for without stating a decision."""
        if glued := self._glued():
            return self._of(glued, "first letter")
        last = self._mentions[-1] if self._mentions else None
        is_open = self._text[-1] not in ".。!)" if len(self._mentions) > 1 else False
        if last and self._stances[last] == _Stance.NAMED and (is_open or self._text[-1] in ":,、"):
            return ChoiceReading(None, "none: cut off")
        refuted = {m.letters for m in self._mentions if self._stances[m] == _Stance.REFUTED}
        for stance, reason in ((_Stance.AFFIRMED, "affirmed"), (_Stance.NAMED, "option text")):
            hints = [m for m in self._mentions if self._stances[m] == stance]
            hints = [hint for hint in hints if hint.letters not in refuted]
            if len({hint.letters for hint in hints}) > 1:
                return ChoiceReading(None, "none: several")
            for hint in hints:
                # A text counts in the first or in the last sentence.
                start, end = self._sentence(hint)
                is_inner = start and self._text[end:].strip(AROUND)
                name, after = self._text[hint.start : hint.end], self._text[hint.end : end]
                is_first = hint.start == start and not name.isascii()
                is_long = is_first or len(name) > 3 or name.isdigit()
                is_whole = is_long or phrases.CLOSED.match(after)
                if stance == _Stance.AFFIRMED or (hint.spelled and is_whole and not is_inner):
                    return self._of(hint, reason)
        if phrases.REFUSED.search(self._text):
            return ChoiceReading(None, "none: refusal")
        return self._paraphrased() or ChoiceReading(None, "none: undecided")

    def _glued(self) -> Mention | None:
        """The letter that the response opens with, run together with what follows: B因為."""
        if not self._mentions or not re.match(r"[A-J][\u4e00-\u9fff].{8}", self._text):
            return None
        first, origins = self._mentions[0], self._response.origins
        is_first = first.start == 0 and first.lettered and origins[1] == origins[0] + 1
        is_only = all(m.letters == first.letters for m in self._mentions if m.lettered)
        is_glued = is_first and is_only and self._stances[first] != _Stance.REFUTED
        return replace(first, end=1) if is_glued else None

    def _paraphrased(self) -> ChoiceReading | None:
        """The option most of whose pairs of characters stand in the last sentence."""
        texts = self._shown.texts
        start = max((end for end in self._ends if self._text[end:].strip(AROUND)), default=0)
        sentence = self._text[start:].lower()
        pairs = {letter: list(pairwise(text)) for letter, text in texts.items()}
        shares = sorted(
            (sum(a + b in sentence for a, b in own) / len(own), letter)
            for letter, own in pairs.items()
            if len(own) > 4 and not texts[letter].isascii()
        )
        if len(shares) < 2 or shares[-1][0] < max(0.7, shares[-2][0] + 0.15):
            return None
        named = self._mentions or any(text in self._text.lower() for text in texts.values())
        if named or len(sentence) > 200:
            return None
        return _located(shares[-1][1], "paraphrase", self._response, start, len(self._text))
