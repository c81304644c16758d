"""The letter that a model chose, read from what it wrote.

`docs/extraction.md` describes the mechanism. No letter is ever guessed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from hkcanto_metrics import decision_phrases as phrases
from hkcanto_metrics.option_grammar import AROUND, Mention, Options, options_of
from hkcanto_metrics.response_text import Response, beginning_of, normalize_response, own_answer

# What a response says of an option at one place.
_DISMISSED, _NAMED, _AFFIRMED, _HEDGED, _CHOSEN = range(5)
_PARTS = 3  # are read
_LINES = 4  # A phrase that begins a part has this many line ends at most.
# What most direct answers are: a shortcut past everything below, which says the same of them.
_BARE_LETTER = re.compile(r"\s*+\(?([A-Za-z])\)?[.]?\s*")
# Several questions answered in a numbered list.
_NUMBERED = re.compile(
    r"(?im)^[^\S\n]*(?:問題|问题|q|第)?\s?\d{1,3}\s?[題题.)、:：]+\s*(?:答案|answer)?[:：]?\s*([A-J])[.。]?\s*$"
)
_ITEM = re.compile(r"\n\(?([A-J])[).:、] ?([^\n]*)")
_GLUED = re.compile(r"[A-J][\u4e00-\u9fff].{8}")
_ENDS = (".", "。", "!")
_SENTENCE_END = re.compile(r"[。!?\n.](?:(?<!\.)|(?=\s))")


@dataclass(frozen=True, slots=True)
class ChoiceReading:
    """What a response comes to, and why.

    Attributes:
        letter: the letter of an option, or `None`.
        reason: how the letter was read: ``bare``, ``first line``, ``stated``, ``affirmed``,
            ``option text``, ``paraphrase``; or ``none: `` and ``empty``, ``cut off`` (in reasoning
            or a list), ``refusal``, ``several``, ``no option`` (another letter), ``undecided``.
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

    Examples:
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

    Raises:
        TypeError: The options are no mapping.

    Examples:
        >>> read_choice("我揀長洲。", {"A": "大嶼山", "B": "南丫島", "C": "長洲"})
        ChoiceReading(letter='C', reason='stated', evidence=(2, 4))
    """
    if not isinstance(options, Mapping):
        kind = type(options).__name__
        raise TypeError(f"options is a {kind}: give a mapping, as by dict(zip('ABCD', options))")
    answer = own_answer(text)
    if answer is None:
        return ChoiceReading(None, "none: cut off")
    bare = _BARE_LETTER.fullmatch(answer.text)
    if bare and bare[1].upper() in options:
        return _located(bare[1].upper(), "bare", answer[bare.start(1) : bare.end(1)])
    same = [letter for letter, own in options.items() if own.strip() == answer.text.strip() != ""]
    if len(same) == 1:
        return _located(same[0], "option text", answer)
    shown = options_of(tuple(options.items()))
    if len(set(_NUMBERED.findall(answer.text))) > 1:
        return ChoiceReading(None, "none: several")
    readings = (
        _read(normalize_response(part, shown.keep_readings), shown, goes_on=part is not answer)
        for part in (beginning_of(answer), answer)
        if part
    )
    return next(filter(None, readings))


def _read(response: Response, shown: Options, *, goes_on: bool) -> ChoiceReading | None:
    """Read a response in parts, each without what it takes back, up to another question.

    If it goes on, None where that may matter.
    """
    text = response.text
    if not text.strip() and not goes_on:
        return ChoiceReading(None, "none: empty")
    line_ends = [-1] * _LINES + [match.start() for match in re.finditer("\n", text)]
    known = line_ends[-_LINES] if goes_on else len(text)
    cuts = [cut for cut in phrases.NEXT_PART.finditer(text, 1) if cut.start() <= known]
    ends = [cut.start() for cut in cuts] + [len(text)] * (not goes_on)
    reading = None
    for cut, start, end in zip([None, *cuts], [0, *ends], ends[:_PARTS], strict=False):
        items = [match.groups() for match in _ITEM.finditer(text, start, end)]
        is_this = all(own.lower().startswith(shown.texts.get(name, own)) for name, own in items)
        if cut and cut["question"] and not (items and is_this):
            return reading
        taken_back = [m.start("words") for m in phrases.RETRACTED.finditer(text, start, end)]
        reading = _Reader(response[max([start, *taken_back]) : end], shown).reading()
        if reading.letter:
            return reading
    return None if goes_on and len(ends) < _PARTS else reading


def _located(letter: str, reason: str, words: Response) -> ChoiceReading:
    return ChoiceReading(letter, reason, (words.origins[0], words.origins[-1] + 1))


class _Reader:
    """Reads one response to one question."""

    def __init__(self, response: Response, shown: Options) -> None:
        self._response, self._shown, self._text = response, shown, response.text
        ends = [match.end() for match in _SENTENCE_END.finditer(self._text)]
        self._edges = [0, *ends, len(self._text)]
        places = response.origins[:2]  # B因為: a letter run together with what follows
        self._is_glued = bool(_GLUED.match(self._text)) and places[1] == places[0] + 1
        self._mentions = shown.mentions(self._text)
        self._stances = {mention: self._stance(mention) for mention in self._mentions}

    def _sentence(self, mention: Mention) -> tuple[int, int]:
        """Where the sentence around a mention starts and ends."""
        at = bisect_right(self._edges, mention.start)
        start, end = self._edges[at - 1 : at + 1]
        if start and self._text[start - 1] == "\n" and not self._rest_of_line(mention):
            previous = self._edges[at - 2]
            if phrases.LEADS_ON.search(self._text[previous : start - 1]):
                start = previous  # 答案是：⏎B
        return start, end

    def _lead(self, mention: Mention) -> str:
        start = max(self._sentence(mention)[0], mention.start - 300)
        return phrases.OPTION_WORD.sub("", self._text[start : mention.start])

    def _rest_of_line(self, mention: Mention) -> str:
        return self._text[mention.end :].partition("\n")[0].strip(" .。,)!~")

    def _stance(self, mention: Mention) -> int:
        lead, rest = self._lead(mention), self._text[mention.end : self._sentence(mention)[1]]
        clause = re.split("[,、;]", lead)[-1]
        after = self._text[mention.end : mention.end + 60]
        if mention.lettered and mention.spelled and not lead.strip(AROUND):
            after = after.replace(",", "-")  # the verdict on an item of a list
        is_own = not phrases.NOT_OWN.search(phrases.CONTRAST.split(lead)[-1])
        is_glued = mention.start == 0 and self._is_glued
        is_asked = phrases.ASKED.match(rest) and not is_glued
        if is_asked or not is_own or phrases.NEGATED.search(clause):
            return _DISMISSED
        if phrases.CLAIMED.match(after):
            return _CHOSEN
        is_chosen = bool(phrases.FIRM.search(lead[-60:]))
        if phrases.CLOSED.match(after) or (mention.spelled and mention.lettered):
            is_chosen = is_chosen or bool(phrases.CUE.search(lead[-90:]))
            is_predicate = bool(phrases.COPULA.search(clause[-60:]))
            if is_predicate and not is_chosen and not mention.lettered:
                return _AFFIRMED
            is_alone = lead != clause and not clause.strip(AROUND) and rest.strip(" )\n") in _ENDS
            is_chosen = is_chosen or is_predicate or is_alone
        if (phrases.ASSAILED if is_chosen else phrases.REFUTED).match(after):
            return _DISMISSED
        if is_chosen or is_glued:
            return _HEDGED if is_glued or phrases.HEDGED.search(clause) else _CHOSEN
        return _AFFIRMED if phrases.AFFIRMED.match(after) else _NAMED

    def reading(self) -> ChoiceReading:
        """The option that the response settles on."""
        opening = next(filter(self._opens, self._mentions[:1]), None)
        decisions = [
            mention
            for mention in self._mentions
            if self._stances[mention] >= _HEDGED
            or mention == opening
            or (mention == self._mentions[-1] and self._closes(mention))
        ]
        if opening and not self._rest_of_line(opening).strip(AROUND):
            turn = phrases.REVISED if len(opening.letters) == 1 else phrases.CONTRAST
            text, end = self._text, opening.end
            decisions = [
                m for m in decisions[1:] if turn.search(text, max(end, m.start - 60), m.start)
            ]
            if not decisions:
                return self._of(opening, "first line")
        return self._settled(decisions) if decisions else self._hinted()

    def _of(self, mention: Mention, reason: str) -> ChoiceReading:
        if len(mention.letters) > 1 or not mention.letters <= self._shown.texts.keys():
            why = "several" if len(mention.letters) > 1 else "no option"
            return ChoiceReading(None, f"none: {why}")
        return _located(min(mention.letters), reason, self._response[mention.start : mention.end])

    def _opens(self, first: Mention) -> bool:
        """Whether the response opens with an option that is not judged among others."""
        before, after = self._text[: first.start], self._text[first.end :]
        is_dismissed = self._stances[first] == _DISMISSED
        if is_dismissed or phrases.OPTION_WORD.sub("", before).strip(AROUND):
            return False
        item = _ITEM.search(after)
        is_item = item and self._rest_of_line(first) and item[1] > max(first.letters)
        return bool(phrases.CLOSED.match(after)) and not is_item

    def _closes(self, last: Mention) -> bool:
        """Whether the last sentence is an option, and no item of a list that was cut off."""
        before, rest = self._text[: last.start].rstrip(" ("), self._text[last.end :].strip(" )\n")
        items = _ITEM.findall(before)
        is_item = items and (rest == "." or ord(max(last.letters)) == ord(items[-1][0]) + 1)
        is_named = self._stances[last] >= _NAMED and not self._lead(last).strip(AROUND)
        return is_named and not is_item and (rest in _ENDS or (not rest and before[-1:] in "\n?"))

    def _settled(self, decisions: list[Mention]) -> ChoiceReading:
        firm = [m for m in decisions if self._stances[m] != _HEDGED]
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
        is_several, ending = len(self._mentions) > 1, self._text[-1:]
        is_open = ending in ",:、" or (is_several and ending not in ".。!)")
        if self._mentions and self._stances[self._mentions[-1]] == _NAMED and is_open:
            return ChoiceReading(None, "none: cut off")
        for stance, reason in ((_AFFIRMED, "affirmed"), (_NAMED, "option text")):
            hints = [m for m in self._mentions if self._stances[m] == stance]
            if len({hint.letters for hint in hints}) > 1:
                return ChoiceReading(None, "none: several")
            for hint in hints:
                if stance == _AFFIRMED or self._is_telling(hint):
                    return self._of(hint, reason)
        if phrases.REFUSED.search(self._text):
            return ChoiceReading(None, "none: refusal")
        return self._paraphrased() or ChoiceReading(None, "none: undecided")

    def _is_telling(self, hint: Mention) -> bool:
        """Whether an option's text stands in the first or the last sentence, and not by chance."""
        start, end = self._sentence(hint)
        name, after = self._text[hint.start : hint.end], self._text[hint.end : end]
        is_long = len(name) > 3 or name.isdigit() or (hint.start == start and not name.isascii())
        is_inner = start and self._text[end:].strip(AROUND)
        return hint.spelled and not is_inner and (is_long or bool(phrases.CLOSED.match(after)))

    def _paraphrased(self) -> ChoiceReading | None:
        """The option most of whose pairs of characters stand in the last sentence."""
        start = self._edges[bisect_left(self._edges, len(self._text.rstrip(AROUND))) - 1]
        texts, sentence = self._shown.texts, self._text[start:].lower()
        shares = sorted(
            (sum(a + b in sentence for a, b in pairwise(text)) / (len(text) - 1), letter)
            for letter, text in texts.items()
            if len(text) > 5 and not text.isascii()
        )
        is_named = self._mentions or any(text in self._text.lower() for text in texts.values())
        if is_named or len(shares) < 2 or shares[-1][0] < max(0.7, shares[-2][0] + 0.15):
            return None
        return _located(shares[-1][1], "paraphrase", self._response[start:])
