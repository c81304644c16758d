"""The letter that a model chose, read from what it wrote.

`docs/extraction.md` describes the mechanism. No letter is ever guessed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from hkcanto_metrics import decision_words as say
from hkcanto_metrics.option_grammar import AROUND, Mention, Options, options_of
from hkcanto_metrics.response_text import Response, beginning_of, normalize_response, own_answer

# What a response says of an option at one place.
_IGNORED, _REFUTED, _NAMED, _AFFIRMED, _HEDGED, _CONCLUDED, _CHOSEN = range(7)
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
_WORDS = re.compile(r"[a-z]{4}|(?=([\u4e00-\u9fff]{2}))")
_COORDINATED = re.compile(r"(?: ?\([^()]*\))?(?:[,、/ )]| ?(?:or|and|nor)(?= )|[和或及与]){1,4}")
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


def extract_choice(text: str, options: Mapping[str, str], question: str = "") -> str | None:
    """Return the option letter that a model's output settles on.

    Understands English, Cantonese and Written Chinese in both scripts. Reads the first 1,500 and
    the last 3,500 characters of what follows the reasoning block.

    Args:
        text: what the model wrote, special tokens and reasoning block included or not.
        options: the options shown, letter to text: two to ten of "A" to "J".
        question: the question asked. Where it asks for what is not so, "B is wrong" decides for B.

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
    return read_choice(text, options, question).letter


def read_choice(text: str, options: Mapping[str, str], question: str = "") -> ChoiceReading:
    """Read the option that a model's output settles on, with the reason and the place.

    Args:
        text: what the model wrote, special tokens and reasoning block included or not.
        options: the options shown, letter to text: two to ten of "A" to "J".
        question: the question asked. Where it asks for what is not so, "B is wrong" decides for B.

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
    asked = _asked_not(question)
    readings = (
        _read(normalize_response(part, shown.keep_readings), shown, asked, part is not answer)
        for part in (beginning_of(answer), answer)
        if part
    )
    return next(filter(None, readings))


def _read(
    response: Response, shown: Options, asked_not: str | None, goes_on: bool
) -> ChoiceReading | None:
    """Read a response in parts, each without what it takes back, up to another question.

    If it goes on, None where that may matter.
    """
    text = response.text
    if not text.strip() and not goes_on:
        return ChoiceReading(None, "none: empty")
    line_ends = [-1] * _LINES + [match.start() for match in re.finditer("\n", text)]
    known = line_ends[-_LINES] if goes_on else len(text)
    cuts = [cut for cut in say.NEXT_PART.finditer(text, 1) if cut.start() <= known]
    ends = [cut.start() for cut in cuts] + [len(text)] * (not goes_on)
    reading = None
    first = say.NEXT_PART.match(f"\n{text[:400]}")
    first = None if first and first["list"] else first
    for cut, start, end in zip([first, *cuts], [0, *ends], ends[:_PARTS], strict=False):
        items = [match.groups() for match in _ITEM.finditer(text, start, end)]
        same = [own.lower().startswith(shown.texts.get(name, own)) for name, own in items]
        if cut and cut["question"] and not (any(same) or not items if cut is first else all(same) and items):
            return reading or ChoiceReading(None, "none: undecided")
        taken_back = [m.start("words") for m in say.RETRACTED.finditer(text, start, end)]
        reading = _Reader(
            response[max([start, *taken_back]) : end], shown, asked_not
        ).reading()
        if reading.letter:
            return reading
    return None if goes_on and len(ends) < _PARTS else reading


def _located(letter: str, reason: str, words: Response) -> ChoiceReading:
    return ChoiceReading(letter, reason, (words.origins[0], words.origins[-1] + 1))


@lru_cache(maxsize=256)  # many responses answer one question
def _asked_not(question: str) -> str | None:
    """What a question says of all options but one; None if it asks for what is so."""
    text = normalize_response(Response(question, range(len(question)))).text
    found = [*say.ASKS_NOT.finditer(text)]
    return re.sub(r"[,.。?:\n]", " ", text[found[-1].start() :]).lower() if found else None


def _shares(words: str, others: str) -> bool:
    """Whether two texts share a pair of Chinese characters or the beginning of an English word."""
    found = (match[0] or match[1] for match in _WORDS.finditer(words.lower()))
    return any(word in others for word in found)


class _Reader:
    """Reads one response to one question."""

    def __init__(self, response: Response, shown: Options, asked_not: str | None) -> None:
        self._response, self._shown, self._text = response, shown, response.text
        self._asked_not = asked_not
        ends = [match.end() for match in _SENTENCE_END.finditer(self._text)]
        self._edges = [0, *ends, len(self._text)]
        places = response.origins[:2]  # B因為: a letter run together with what follows
        self._is_glued = bool(_GLUED.match(self._text)) and places[1] == places[0] + 1
        self._mentions = shown.mentions(self._text)
        following = [mention.start for mention in self._mentions[1:]] + [len(self._text)]
        self._stances: dict[Mention, int] = {}
        previous = None
        for mention, after in zip(self._mentions, following, strict=False):
            self._stances[mention] = self._stance(mention, after)
            if previous and self._stances[previous] == _REFUTED and self._stances[mention] == _NAMED:
                between = self._text[previous.end : mention.start]
                if _COORDINATED.fullmatch(between):  # neither A, nor B
                    self._stances[mention] = _REFUTED
            previous = mention

    def _sentence(self, mention: Mention) -> tuple[int, int]:
        """Where the sentence around a mention starts and ends."""
        at = bisect_right(self._edges, mention.start)
        start, end = self._edges[at - 1 : at + 1]
        is_line = start and self._text[start - 1] == "\n" and not self._rest_of_line(mention)
        if is_line and not self._text[start : mention.start].strip(AROUND):
            previous = self._edges[at - 2]
            if say.LEADS_ON.search(self._text[previous : start - 1]):
                start = previous  # 答案是：⏎B
        return start, end

    def _lead(self, mention: Mention) -> str:
        start = max(self._sentence(mention)[0], mention.start - 300)
        return say.OPTION_WORD.sub("", self._text[start : mention.start])

    def _rest_of_line(self, mention: Mention) -> str:
        return self._text[mention.end :].partition("\n")[0].strip(" .。,)!~")

    def _stance(self, mention: Mention, following: int) -> int:
        """What the words around a mention, in its sentence, say of the option."""
        lead, end = self._lead(mention), self._sentence(mention)[1]
        rest = self._text[mention.end : end]
        clause = re.split("[,、;]", lead)[-1]
        is_own = not say.NOT_OWN.search(say.CONTRAST.split(lead)[-1])
        is_glued = mention.start == 0 and self._is_glued
        if (say.ASKED.match(rest) and not is_glued) or not is_own:
            return _IGNORED
        if say.NEGATED.search(clause):
            return _REFUTED
        after = self._text[mention.end : mention.end + 60]
        if say.CLAIMED.match(after):
            return _CHOSEN
        near, is_whole = lead[-90:], bool(say.CLOSED.match(after))
        stance = _NAMED
        if is_whole or (mention.spelled and mention.lettered):
            if say.ANSWER.search(near):
                stance = _CHOSEN
            elif say.CONCLUDES.search(near):
                stance = _CONCLUDED
            elif say.COPULA.search(clause[-60:]):
                stance = _CONCLUDED if mention.lettered else _AFFIRMED
            elif say.MATCHES.search(clause[-60:]):
                stance = _AFFIRMED
            elif lead != clause and not clause.strip(AROUND) and rest.strip(" )\n") in _ENDS:
                stance = _CONCLUDED
        if stance < _CHOSEN and say.FIRM.search(lead[-60:]):
            stance = _CHOSEN
        elif stance < _CONCLUDED and say.ONLY.search(lead[-60:]):
            stance = _CONCLUDED
        judged = self._judged(mention, after, following, stance)
        if judged is not None:
            return judged
        if stance >= _CONCLUDED or is_glued:
            return _HEDGED if is_glued or say.HEDGED.search(clause) else stance
        return stance

    def _judged(self, mention: Mention, after: str, following: int, stance: int) -> int | None:
        """What is said of an option after it: refuted, affirmed or nothing."""
        if stance >= _CONCLUDED:
            is_refuted = say.ASSAILED.match(after) and self._asked_not is None
            return _REFUTED if is_refuted else None
        is_first = not self._lead(mention).strip(AROUND) and not (self._is_glued and not mention.start)
        if is_first and (
            (mention.lettered and mention.spelled) or following >= self._sentence(mention)[1]
        ):
            after = after.replace(",", "-")  # a sentence on one option
        if self._asked_not is not None and say.EXCEPTED.match(after):
            return _CONCLUDED
        refuted, affirmed = say.REFUTED.match(after), say.AFFIRMED.match(after)
        if refuted and affirmed and affirmed.end() < refuted.end():
            between = after[affirmed.end() : refuted.end()]
            refuted = refuted if say.CONTRAST.search(between) else None
        if refuted or affirmed:
            if bool(refuted) == (self._asked_not is None):
                return _REFUTED
            return _CONCLUDED if say.CONCLUDES.search(self._lead(mention)[-90:]) else _AFFIRMED
        is_rest = len(mention.letters) == len(self._shown.texts) - 1
        if self._asked_not is not None and (is_rest or _shares(after, self._asked_not)):
            return _REFUTED
        return None

    def reading(self) -> ChoiceReading:
        """The option that the response settles on."""
        stances, opening = self._stances, next(filter(self._opens, self._mentions[:1]), None)
        if self._mentions and self._closes(self._mentions[-1]):
            stances[self._mentions[-1]] = max(_CONCLUDED, stances[self._mentions[-1]])
        if opening and not self._is_glued:
            stances[opening] = max(_CONCLUDED, stances[opening])
        decisions = [mention for mention in self._mentions if stances[mention] >= _HEDGED]
        if opening and not self._rest_of_line(opening).strip(AROUND):
            turn = say.REVISED if len(opening.letters) == 1 else say.CONTRAST
            decisions = [m for m in decisions[1:] if self._is_turn(opening, m, turn)]
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
        is_dismissed = self._stances[first] <= _REFUTED
        if is_dismissed or say.OPTION_WORD.sub("", before).strip(AROUND):
            return False
        item = _ITEM.search(after)
        is_item = item and self._rest_of_line(first) and item[1] > max(first.letters)
        return bool(say.CLOSED.match(after)) and not is_item

    def _closes(self, last: Mention) -> bool:
        """Whether the last sentence is an option, and no item of a list that was cut off."""
        before, rest = self._text[: last.start].rstrip(" ("), self._text[last.end :].strip(" )\n")
        items = _ITEM.findall(before)
        is_item = items and (rest == "." or ord(max(last.letters)) == ord(items[-1][0]) + 1)
        lead = self._lead(last).strip(AROUND)
        is_named = self._stances[last] >= _NAMED and (not lead or lead[-1] == "=")
        return is_named and not is_item and (rest in _ENDS or (not rest and before[-1:] in "\n?="))

    def _settled(self, decisions: list[Mention]) -> ChoiceReading:
        """The last of the firmest decisions, unless openly revised; two in one sentence are none."""
        level = max(self._stances[m] for m in decisions)
        last = [m for m in decisions if self._stances[m] == level][-1]
        for later in decisions:
            if later.start > last.end and self._is_turn(last, later, say.REVISED):
                last = later
        for other in decisions:
            is_equal = self._stances[other] >= min(level, _CONCLUDED)
            is_together = level == _HEDGED or self._sentence(other) == self._sentence(last)
            if is_equal and is_together and other.letters != last.letters:
                between = self._text[other.end : last.start]
                if not (say.REVISED.search(between) or say.CONTRAST.search(between)):
                    return ChoiceReading(None, "none: several")
        return self._of(last, "stated")

    def _is_turn(self, before: Mention, after: Mention, turn: re.Pattern[str]) -> bool:
        return bool(turn.search(self._text, max(before.end, after.start - 60), after.start))

    def _hinted(self) -> ChoiceReading:
        """The one option that the response speaks for without stating a decision."""
        is_several, ending = len(self._mentions) > 1, self._text[-1:]
        is_open = ending in ",:、" or (is_several and ending not in ".。!)✓✗")
        if self._mentions and self._stances[self._mentions[-1]] == _NAMED and is_open:
            return ChoiceReading(None, "none: cut off")
        with_stance = {stance: [] for stance in range(_CHOSEN)}
        for mention in self._mentions:
            with_stance[self._stances[mention]].append(mention)
        affirmed, named, refuted = (with_stance[s] for s in (_AFFIRMED, _NAMED, _REFUTED))
        if len({mention.letters for mention in affirmed}) > 1:
            return ChoiceReading(None, "none: several")
        if affirmed:
            return self._of(affirmed[0], "affirmed")
        left = self._shown.texts.keys() - frozenset().union(*(m.letters for m in refuted))
        is_ended = ending in ".。!)✓✗"
        if len(left) == 1 and len(self._shown.texts) > 2 and is_ended:
            places = slice(refuted[-1].start, refuted[-1].end)
            return _located(left.pop(), "eliminated", self._response[places])
        if named and is_ended:
            start, end = self._sentence(named[-1])
            pointed = [mention for mention in named if start <= mention.start]
            is_free = named[-1].spelled or self._lead(named[-1]).rstrip(" (")[-1:] in ("", *",:")
            is_last = is_free and not self._text[end:].strip(AROUND)
            if is_last and len(pointed) == 1 and say.POINTS.search(self._text, start, end):
                return self._of(named[-1], "affirmed")
        if len({mention.letters for mention in named}) > 1:
            return ChoiceReading(None, "none: several")
        for hint in filter(self._is_telling, named):
            return self._of(hint, "option text")
        if say.REFUSED.search(self._text):
            return ChoiceReading(None, "none: refusal")
        return self._paraphrased() or ChoiceReading(None, "none: undecided")

    def _is_telling(self, hint: Mention) -> bool:
        """Whether an option's text stands in the first or the last sentence, and not by chance."""
        start, end = self._sentence(hint)
        name, after = self._text[hint.start : hint.end], self._text[hint.end : end]
        is_long = len(name) > 3 or name.isdigit() or (hint.start == start and not name.isascii())
        is_inner = start and self._text[end:].strip(AROUND)
        return hint.spelled and not is_inner and (is_long or bool(say.CLOSED.match(after)))

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
