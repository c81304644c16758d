"""Extract the set of letters that a model chose, for questions with several right options.

It uses the words and the mechanism of `choice`; `docs/extraction.md` says what differs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from hkcanto_metrics.choice import (
    _AFFIRMED,
    _CONCLUDED,
    _HEDGED,
    _NAMED,
    _REFUTED,
    ChoiceReading,
    _asked,
    _read,
    _Reader,
)
from hkcanto_metrics.decision_words import SAYS
from hkcanto_metrics.option_grammar import AROUND, Mention, options_of
from hkcanto_metrics.response_text import Response, normalize_response, own_answer

# A text of only letters and the words or marks that join them.
_ONLY_LETTERS = re.compile(
    r"[^\w✓✗]*[A-J](?:(?:[^\w✓✗]|and|和|同埋?|及|以及|与|加)*[A-J])*[^\w✓✗]*"
)
_LETTER = re.compile(r"[A-J]")
_OPTIONS = re.compile(r"(?<![a-z])options(?= \(?[A-J](?![A-Za-z]))", re.IGNORECASE)
_AND = re.compile(r"(?<=[A-J) ])&(?= ?\(?[A-J](?![A-Za-z]))")  # A & D
# An item of a list: its letter, its text, or both.
_ITEM = re.compile(r"[\s(*•·-]*(?:\d{1,2}[.)、] ?)?(?:\(?([A-J])(?![A-Za-z])[).:、]*)?\s*(.*)")


@dataclass(frozen=True, slots=True)
class ChoiceSetReading:
    """The options read from a response to "choose all that apply", and why.

    Attributes:
        letters: the letters of the options in order, or `None`.
        reason: how they were read: ``bare``, ``stated``, ``all``, ``all but``, ``listed``,
            ``judged``, or a reason of `ChoiceReading`, including its reasons for `None`.
    """

    letters: str | None
    reason: str


def extract_choice_set(text: str, options: Mapping[str, str], question: str = "") -> str | None:
    """Return the letters of all options that a model's output settles on.

    Args:
        text: what the model wrote, with or without special tokens and the reasoning block.
        options: the options shown, letter to text: two to ten of "A" to "J".
        question: the question asked.

    Returns:
        The letters in the order of the options, or `None` if the output states no decision. These
        rules are ours.

    Examples:
        >>> animals = {"A": "獅子", "B": "老虎", "C": "鯨魚", "D": "企鵝"}
        >>> extract_choice_set("A、B同C都係哺乳類，企鵝唔係。", animals)
        'ABC'
    """
    return read_choice_set(text, options, question).letters


def read_choice_set(text: str, options: Mapping[str, str], question: str = "") -> ChoiceSetReading:
    """Read all options that a model's output settles on, with the reason.

    Args:
        text: what the model wrote, with or without special tokens and the reasoning block.
        options: the options shown, letter to text: two to ten of "A" to "J".
        question: the question asked.

    Returns:
        The letters that `extract_choice_set` returns, and why.

    Examples:
        >>> read_choice_set("All but C.", {"A": "1", "B": "2", "C": "3"})
        ChoiceSetReading(letters='AB', reason='all but')
    """
    answer = own_answer(text)
    if answer is None:
        return ChoiceSetReading(None, "none: cut off")
    shown = options_of(tuple(options.items()))
    normal = normalize_response(answer, shown.keep_readings)
    text = _AND.sub("、", _OPTIONS.sub("option ", normal.text))  # as long as before
    normal = Response(text, normal.origins)
    if not normal.text.strip():
        return ChoiceSetReading(None, "none: empty")
    if bare := _only_letters(normal.text, shown.texts):
        return ChoiceSetReading(bare, "bare")
    found = _read(normal, shown, _asked(question), _SetReader)
    return ChoiceSetReading(found.letter, found.reason)


def _only_letters(text: str, there: Mapping[str, str]) -> str:
    """Return the letters of a text that has only option letters; an empty string for others."""
    letters = _LETTER.findall(text) if _ONLY_LETTERS.fullmatch(text) else []
    distinct = len({*letters}) == len(letters) and {*letters} <= there.keys()
    return "".join(sorted(letters)) if distinct else ""


class _SetReader(_Reader):
    """Reads one response to one question for all options that it names as right."""

    def reading(self) -> ChoiceReading:
        """The options that the response settles on."""
        mentions, stances = self._mentions, self._stances
        if mentions and stances[mentions[0]] != _AFFIRMED and self._opens(mentions[0]):
            stances[mentions[0]] = max(_CONCLUDED, stances[mentions[0]])
        decisions = [each for each in mentions if stances[each] >= _HEDGED]
        level = max((stances[each] for each in decisions), default=0)
        if any(SAYS["either"].search(self._text, *each) for each in self._enumerations()):
            return ChoiceReading(None, "none: several")
        if level >= _CONCLUDED:
            return self._stated([each for each in decisions if stances[each] == level], decisions)
        for found in (self._whole(), self._listed()):
            if found:
                return found
        if decisions:  # only hedged ones: next to another option, each is one thought of several
            beside = [
                each
                for each in mentions
                if stances[each] > _REFUTED
                and self._sentences[each] == self._sentences[decisions[-1]]
            ]
            if len({each.letters for each in (*beside, *decisions)}) > 1:
                return ChoiceReading(None, "none: undecided")
            return self._set(decisions[-1].letters, "stated")
        return self._judged_each() or super().reading()

    def _set(self, letters: frozenset[str] | set[str], reason: str) -> ChoiceReading:
        if not letters <= self._shown.texts.keys():
            return ChoiceReading(None, "none: no option")
        return ChoiceReading("".join(sorted(letters)) or None, reason)

    def _stated(self, firm: list[Mention], decisions: list[Mention]) -> ChoiceReading:
        """The last of the firmest decisions, if not revised, and the options joined to it."""
        last = firm[-1]
        for later in decisions:
            if later.start > last.end and self._is_turn(last, later, SAYS["revised"]):
                last = later
        begin = next(m for m in decisions if self._sentences[m] == self._sentences[last])
        if self._is_turn(begin, last, SAYS["turn"]):
            begin = last
        letters = self._chain(begin, last)
        if any(m.start > last.end and not m.letters <= letters for m in self._hedged()):
            return ChoiceReading(None, "none: undecided")
        return self._set(letters, "stated")

    def _hedged(self) -> list[Mention]:
        return [each for each in self._mentions if self._stances[each] == _HEDGED]

    def _chain(self, first: Mention, last: Mention) -> set[str]:
        """The options from a decision on that are in the same enumeration."""
        letters, end = set(first.letters), first.end
        for each in self._mentions:
            if each.start < first.end or self._stances[each] <= _REFUTED:
                continue
            gap = re.sub(r"\([^()]*\)", "", self._text[end : each.start])
            is_aside = gap.endswith("\n(") and self._rest_of_line(each)
            is_decided = each.start <= last.start and self._stances[each] >= _CONCLUDED
            if is_aside or not (SAYS["enumerates"].fullmatch(gap) or is_decided):
                break
            letters |= each.letters
            end = each.end
        return letters

    def _whole(self) -> ChoiceReading | None:
        """All options, all but some, or none, where the text says so without naming each."""
        own = " ".join(self._shown.texts.values())
        text = self._text.lower()
        if SAYS["all_of"].search(own) or SAYS["none_of"].search(own):
            return None
        every = {*self._shown.texts}
        refuted = {m for m in self._mentions if self._stances[m] == _REFUTED}
        gone = {letter for each in refuted for letter in each.letters}
        if (but := SAYS["all_but"].search(text)) or (gone and SAYS["rest"].search(text)):
            start = but.start() if but else 0
            excepted = {x for m in self._mentions if m.start >= start for x in m.letters & gone}
            after = [m for m in self._mentions if but and m.start >= but.start()]
            excepted |= after[0].letters if after and not excepted else frozenset()
            return self._set(every - excepted, "all but") if excepted else None
        if SAYS["none_of"].search(text):
            return ChoiceReading(None, "none: no option")
        return self._set(every, "all") if SAYS["all_of"].search(text) and not gone else None

    def _listed(self) -> ChoiceReading | None:
        """The options listed one to a line, after a line that introduces the list."""
        lines = [line.strip() for line in self._text.split("\n") if line.strip(AROUND)]
        leads = [at for at, line in enumerate(lines) if line.endswith(":")]
        items = lines[leads[-1] + 1 :] if leads else lines
        letters = [self._item(each) for each in items]
        is_all = {*letters} >= {*self._shown.texts} and not leads
        if not letters or None in letters or is_all:
            return None
        return self._set({each for each in letters if each}, "listed")

    def _item(self, line: str) -> str | None:
        match = _ITEM.fullmatch(line)
        letter, text = match.groups() if match else (None, line)
        own = text.strip(AROUND).lower()
        same = [name for name, each in self._shown.texts.items() if each == own]
        if letter is None:
            return same[0] if len(same) == 1 else None
        return letter if not own or letter in same else None

    def _judged_each(self) -> ChoiceReading | None:
        """The options called right, or those named but not called wrong."""
        last: dict[str, int] = {}
        for each in self._mentions:
            stance = self._stances[each]
            for letter in each.letters if stance else ():
                last[letter] = stance if stance != _NAMED else last.get(letter, _NAMED)
        refuted, named, affirmed = (
            {letter for letter, own in last.items() if own == stance}
            for stance in (_REFUTED, _NAMED, _AFFIRMED)
        )
        if affirmed:
            return self._set(affirmed, "judged")
        if not named or SAYS["refused"].search(self._text):
            return None
        is_each = refuted and last.keys() >= self._shown.texts.keys()
        return self._set(named, "judged") if is_each or self._is_enumeration() else None

    def _stance(self, mention: Mention) -> int:
        """The stance of the words around a mention; after "wrong ones:", refuted."""
        lead = self._text[self._sentences[mention][0] : mention.start][-60:]
        is_wrong = not self._denied and SAYS["called_wrong"].search(lead)
        return _REFUTED if is_wrong else super()._stance(mention)

    def _enumerations(self) -> list[tuple[int, int]]:
        """The places where several options are named together."""
        return [
            (each.start, each.end)
            for each in self._mentions
            if len(each.letters) > 1 and self._stances[each] > _REFUTED
        ]

    def _is_enumeration(self) -> bool:
        """Whether a response is hardly more than options and the words that join them."""
        rest, end = [], 0
        for each in self._mentions:
            rest.append(self._text[end : each.start])
            end = each.end
        rest.append(self._text[end:])
        return all(SAYS["enumerates"].fullmatch(gap) for gap in rest)
