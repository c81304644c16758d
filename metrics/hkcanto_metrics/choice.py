"""Extract the option letter that a model chose from its response.

`docs/extraction.md` describes the mechanism. No letter is ever guessed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from hkcanto_metrics.decision_words import SAYS
from hkcanto_metrics.option_grammar import AROUND, Mention, Options, options_of
from hkcanto_metrics.response_text import Response, normalize_response, own_answer

# The stance that a response takes towards an option at one place.
_IGNORED, _REFUTED, _NAMED, _AFFIRMED, _HEDGED, _CONCLUDED, _CHOSEN = range(7)
# A shortcut for the form of most direct answers; everything below reads them the same way.
_BARE_LETTER = re.compile(r"\s*+\(?([A-Za-z])\)?[.]?\s*")
_ITEM, _SENTENCE_END = SAYS["item"], SAYS["sentence_end"]
_SHORT = 400  # characters: the only option in a shorter response cannot be a mere example


@dataclass(frozen=True, slots=True)
class ChoiceReading:
    """The option read from a response, and why.

    Attributes:
        letter: the letter of an option, or `None`.
        reason: how the letter was read: ``bare``, ``first line``, ``stated``, ``affirmed``,
            ``eliminated``, ``last sentence``, ``option text``, ``paraphrase``; or ``none: ``
            followed by ``empty``, ``cut off`` (in reasoning or a list), ``refusal``, ``several``,
            ``no option`` (a letter that is not an option), ``undecided``.
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
        text: what the model wrote, with or without special tokens and the reasoning block.
        options: the options shown, letter to text: two to ten of "A" to "J".
        question: the question asked. If it asks which is not true, "B is wrong" decides for B.

    Returns:
        One of the letters of `options`, or `None` if the output states no single decision.
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
        text: what the model wrote, with or without special tokens and the reasoning block.
        options: the options shown, letter to text: two to ten of "A" to "J".
        question: the question asked. If it asks which is not true, "B is wrong" decides for B.

    Returns:
        The letter that `extract_choice` returns, why, and where it was read.

    Raises:
        TypeError: The options are not a mapping.

    Examples:
        >>> read_choice("我揀長洲。", {"A": "大嶼山", "B": "南丫島", "C": "長洲"})
        ChoiceReading(letter='C', reason='stated', evidence=(2, 4))
    """
    if not isinstance(options, Mapping):
        raise TypeError(f"options is a {type(options).__name__}: give a mapping, letter to text")
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
    if len({*SAYS["numbered"].findall(answer.text)}) > 1:
        return ChoiceReading(None, "none: several")
    normal = normalize_response(answer, shown.keep_readings)
    if not normal.text.strip():
        return ChoiceReading(None, "none: empty")
    return _read(normal, shown, _asked(question))


def _read(
    response: Response,
    shown: Options,
    asked: tuple[str, frozenset[str]],
    reader: type[_Reader] | None = None,
) -> ChoiceReading:
    """Read a response part by part, without retracted statements, until it asks a new question."""
    text, reading = response.text, ChoiceReading(None, "none: undecided")
    cuts = [SAYS["next_part"].match(f"\n{text[:400]}"), *SAYS["next_part"].finditer(text, 1)]
    starts = [0, *(cut.start() for cut in cuts[1:] if cut), len(text)]
    for cut, (start, end) in zip(cuts[:3], pairwise(starts), strict=False):
        items = _ITEM.findall(text, start, end)
        same = [own.lower().startswith(shown.texts.get(name, own)[:8]) for name, own in items]
        is_asked = cut and cut["question"] and (start or (same and not cut["list"]))
        if is_asked and not (same and all(same) if start else any(same)):
            return reading
        taken_back = [m.start("words") for m in SAYS["retracted"].finditer(text, start, end)]
        part = response[max([start, *taken_back]) : end]
        reading = (reader or _Reader)(part, shown, asked).reading()
        if reading.letter:
            return reading
    return reading


def _located(letter: str, reason: str, words: Response) -> ChoiceReading:
    return ChoiceReading(letter, reason, (words.origins[0], words.origins[-1] + 1))


@lru_cache(maxsize=256)  # many responses answer one question
def _asked(question: str) -> tuple[str, frozenset[str]]:
    """The text from the words that ask for an untrue option, if any; letters that name things."""
    text = normalize_response(Response(question, ())).text
    found = [match.start() for match in SAYS["asks_not"].finditer(text)]
    return text[found[-1] :].lower() if found else "", frozenset(SAYS["name"].findall(text))


class _Reader:
    """Reads one response to one question."""

    def __init__(
        self, response: Response, shown: Options, asked: tuple[str, frozenset[str]]
    ) -> None:
        self._response, self._shown, self._text = response, shown, response.text
        (self._denied, self._names), text = asked, self._text
        self._edges = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
        is_glued = SAYS["glued"].match(text) and response.origins[1] == response.origins[0] + 1
        self._is_glued = bool(is_glued) and text[0] not in self._names
        self._mentions = shown.mentions(text)
        self._sentences = {mention: self._sentence(mention) for mention in self._mentions}
        self._stances = {mention: self._stance(mention) for mention in self._mentions}

    def _sentence(self, mention: Mention) -> tuple[int, int]:
        """Where the sentence around a mention starts and ends."""
        at = bisect_right(self._edges, mention.start)
        start, end = self._edges[at - 1 : at + 1]
        line, _, lead = self._text[self._edges[max(0, at - 2)] : mention.start].rpartition("\n")
        if not line or lead.strip(AROUND):
            return start, end
        rest = self._rest_of_line(mention)  # 答案是：⏎B. Not a list item, if more follows
        is_item = rest and not mention.spelled and _ITEM.search(self._text, 0, start)
        is_item = is_item or (rest and _ITEM.match(self._text, self._text.find("\n", mention.end)))
        leads = not is_item and SAYS["leads_to" if rest else "leads_on"].search(line)
        return (self._edges[at - 2] if leads else start), end

    def _rest_of_line(self, mention: Mention) -> str:
        return self._text[mention.end :].partition("\n")[0].strip(" .。,)!~✓→")

    def _stance(self, mention: Mention) -> int:
        """The stance of the words around a mention, in its sentence, towards the option."""
        start, end = self._sentences[mention]
        lead = SAYS["option_word"].sub("", self._text[start : mention.start][-300:])
        clause, rest = SAYS["comma"].split(lead)[-1], self._text[mention.end : end]
        after = self._text[mention.end : mention.end + 60]
        is_glued = self._is_glued and not mention.start
        is_asked = SAYS["asked"].match(rest) and not is_glued
        is_not_own = lead and SAYS["not_own"].search(lead)
        if is_asked or (is_not_own and SAYS["not_own"].search(SAYS["contrast"].split(lead)[-1])):
            return _IGNORED
        if clause and SAYS["negated"].search(clause):
            return _CONCLUDED if self._denied and SAYS["excepting"].search(clause) else _REFUTED
        if SAYS["claimed"].match(after):
            return _CHOSEN
        stance = self._chosen(mention, lead, clause, after) if lead else _NAMED
        if stance >= _CONCLUDED:
            if SAYS["assailed"].match(after) and not self._denied:
                return _REFUTED
            return _HEDGED if SAYS["hedged"].search(clause) else stance
        if is_glued:
            is_statement = self._denied and after[:1] in {*"係是屬属"}
            if is_statement and self._judged(mention, lead, after, _HEDGED) == _REFUTED:
                return _REFUTED
            return _REFUTED if SAYS["refuted"].match(after[:6]) else _HEDGED
        if self._is_alone(mention, lead, clause, rest):
            return _CONCLUDED
        others = [m for m in self._mentions if start <= m.start < end and m != mention]
        if not others and not lead.strip(AROUND):
            after = after.replace(",", "-")  # a sentence on one option
        return self._judged(mention, lead, after, stance)

    def _is_alone(self, mention: Mention, lead: str, clause: str, rest: str) -> bool:
        """Whether a mention is a whole clause, at the end or after another, and not a fragment."""
        before = SAYS["option_word"].sub("", self._text[: mention.start][-30:]).rstrip(" (")[-1:]
        is_label = rest.strip() == "." and _ITEM.search(self._text, 0, mention.start)  # cut off
        is_whole = (rest.strip(" )\n") or before in (*"\n?=",)) and not rest.strip(" )\n.。!")
        is_free = clause[-1:] == "=" or not clause.strip(AROUND)
        is_last = not self._text[mention.end :].strip(AROUND)
        is_next = before != "=" and SAYS["comma"].search(lead)
        return bool(is_free and is_whole and not is_label and (is_last or is_next))

    def _chosen(self, mention: Mention, lead: str, clause: str, after: str) -> int:
        """The stance of the words before a mention."""
        near = lead[-90:]
        is_whole = (mention.lettered and mention.spelled) or SAYS["closed"].match(after)
        if SAYS["firm"].search(near) or (is_whole and SAYS["answer"].search(near)):
            return _CHOSEN
        if SAYS["only"].search(near) or (is_whole and SAYS["concludes"].search(near)):
            return _CONCLUDED
        if is_whole and SAYS["copula"].search(clause[-60:]):
            if mention.lettered and not mention.spelled and mention.letters & self._names:
                return _NAMED
            return _CONCLUDED if mention.lettered else _AFFIRMED
        return _AFFIRMED if is_whole and SAYS["matches"].search(clause[-60:]) else _NAMED

    def _judged(self, mention: Mention, lead: str, after: str, stance: int) -> int:
        """The stance of the words after a mention, reversed if the question asks for a denial."""
        refuted, affirmed = SAYS["refuted"].match(after), SAYS["affirmed"].match(after)
        is_for = bool(affirmed and not (refuted and refuted.end() <= affirmed.end()))
        is_against = bool(refuted and not is_for)
        if self._denied:
            words = SAYS["words"].finditer(re.split("[,。;.\n]", after.lower())[0])
            is_shared = any((word[0] or word[1]) in self._denied for word in words)
            is_shared = is_shared or len(mention.letters) == len(self._shown.texts) - 1
            is_said = is_shared and not SAYS["closed"].match(after)
            is_excepted = bool(SAYS["excepted"].match(after))
            is_against, is_for = is_for or is_said, is_against or is_excepted
        if is_for:
            return _CONCLUDED if SAYS["then"].search(lead[-60:]) else _AFFIRMED
        return _REFUTED if is_against else stance

    def reading(self) -> ChoiceReading:
        """The option that the response settles on."""
        stances, mentions = self._stances, self._mentions
        if not mentions:
            return self._unnamed()
        opening = mentions[0] if self._opens(mentions[0]) else None
        if opening and not self._is_glued:
            stances[opening] = max(_CONCLUDED, stances[opening])
        decisions = [mention for mention in mentions if stances[mention] >= _HEDGED]
        if opening and not self._rest_of_line(opening).strip(AROUND):
            turn = SAYS["revised"] if len(opening.letters) == 1 else SAYS["contrast"]
            decisions = [m for m in decisions[1:] if self._is_turn(opening, m, turn)]
            last = self._pointed() if SAYS["corrects"].search(self._text) else None
            if not decisions and not (last and self._is_turn(opening, last, SAYS["corrects"])):
                return self._of(opening, "first line")
        return self._settled(decisions) if decisions else self._hinted()

    def _of(self, mention: Mention, reason: str) -> ChoiceReading:
        if len(mention.letters) > 1:
            return ChoiceReading(None, "none: several")
        if not mention.letters <= self._shown.texts.keys():
            return ChoiceReading(None, "none: no option")
        return _located(min(mention.letters), reason, self._response[mention.start : mention.end])

    def _opens(self, first: Mention) -> bool:
        """Whether the response opens with an option that is not the first of a list."""
        before, after = self._text[: first.start], self._text[first.end :]
        item = _ITEM.search(after)
        is_far = item and not self._rest_of_line(first) and after[: item.start()].strip(AROUND)
        is_item = item is not None and not is_far and item[1] > max(first.letters)
        is_start = not SAYS["option_word"].sub("", before).strip(AROUND) and self._is_closed(first)
        return is_start and not is_item and self._stances[first] > _REFUTED

    def _is_closed(self, mention: Mention) -> bool:
        """Whether a mention ends its clause and is not the first of several things."""
        after = self._text[mention.end : mention.end + 60]
        return bool(SAYS["closed"].match(after)) and (mention.lettered or after[:1] != "、")

    def _is_turn(self, before: Mention, after: Mention, turn: re.Pattern[str]) -> bool:
        turned = turn.search(self._text, max(before.end, after.start - 60), after.start)
        return bool(turned or SAYS["corrects"].search(self._text, before.end, after.start))

    def _settled(self, decisions: list[Mention]) -> ChoiceReading:
        """The last of the firmest decisions, if not revised; two in one sentence decide nothing."""
        level = max(self._stances[m] for m in decisions)
        last = [m for m in decisions if self._stances[m] == level][-1]
        for later in decisions:
            if later.start > last.end and self._is_turn(last, later, SAYS["revised"]):
                last = later
        for other in decisions:
            is_equal = self._stances[other] >= min(level, _CONCLUDED)
            is_near = level == _HEDGED or self._sentences[other] == self._sentences[last]
            is_revised = SAYS["turn"].search(self._text, other.end, last.start)
            if is_equal and is_near and other.letters != last.letters and not is_revised:
                return ChoiceReading(None, "none: several")
        return self._of(last, "stated")

    def _hinted(self) -> ChoiceReading:
        """The one option that the response favours without stating a decision."""
        ending, stances = self._text[-1:], self._stances
        is_ended, is_several = ending in (*".。!)✓✗",), len(stances) > 1
        is_open, last = ending in (*",:、×÷+=-(",), stances[self._mentions[-1]]
        by = [[m for m in self._mentions if stances[m] == each] for each in range(_HEDGED)]
        refuted, named, affirmed = by[_REFUTED], by[_NAMED], by[_AFFIRMED]
        affirmed = [m for m in affirmed if not SAYS["varies"].search(self._text, m.end)]
        gone = {letter for each in refuted for letter in each.letters}
        left, named = self._shown.texts.keys() - gone, [m for m in named if not m.letters <= gone]
        apart = self._against_group(named) if named and not affirmed else []
        is_cut = last == _NAMED and is_several and not (is_ended or apart)
        if is_cut or (is_open and last in (_NAMED, _AFFIRMED)):
            return ChoiceReading(None, "none: cut off")
        if not affirmed and len(left) == 1 < len(self._shown.texts) - 1 and is_ended:
            return self._of(replace(refuted[-1], letters=frozenset(left)), "eliminated")
        if len(affirmed) > 1 and self._is_turn(affirmed[-2], affirmed[-1], SAYS["contrast"]):
            del affirmed[:-1]
        if self._shown.values and SAYS["sum"].search(self._text):
            ends = [m for m in named + affirmed if not self._text[m.end :].strip(AROUND)]
            affirmed = [m for m in affirmed if m.lettered] or ends or affirmed
        refused = SAYS["refused"].search(self._text)
        if refused and not affirmed and not any(m.start <= refused.start() < m.end for m in named):
            return self._unnamed()
        affirmed = affirmed or apart
        if not affirmed and (pointed := self._pointed()):
            return self._of(pointed, "last sentence")
        if len({mention.letters for mention in affirmed or named}) > 1:
            return ChoiceReading(None, "none: several")
        if affirmed:
            return self._of(affirmed[0], "affirmed")
        told = [m for m in named if self._is_telling(m, is_ended)]
        return self._of(told[-1], "option text") if told else self._unnamed()

    def _against_group(self, named: list[Mention]) -> list[Mention]:
        """The one option contrasted with all the others named, since there is only one answer."""
        last = named[-1:]
        others = [mention for mention in named if mention.letters != last[0].letters]
        if len({self._sentences[m] for m in others}) != 1 or _ITEM.search(self._text):
            return []
        rest, one = [frozenset[str]().union(*(m.letters for m in part)) for part in (others, last)]
        between = self._text[others[-1].end : last[0].start]
        is_all = rest | one >= self._shown.texts.keys() and _SENTENCE_END.search(between)
        is_apart = is_all or (len(rest) > 1 and SAYS["against"].search(between))
        return last if is_apart and len(one) == 1 and not rest & one else []

    def _pointed(self) -> Mention | None:
        """The one option that the last sentence or section names without leaving it open."""
        last, text, stances = self._mentions[-1], self._text, self._stances
        (start, end), headings = self._sentences[last], [*SAYS["heading"].finditer(text)]
        is_last = text[-1:] in (*".。!)✓✗",) and (headings or not text[end:].strip(AROUND))
        start = min([start, *(match.start() for match in headings[-1:])])
        here = [mention for mention in self._mentions if mention.start >= start]
        is_for = all(m.letters == last.letters and stances[m] in (_NAMED, _AFFIRMED) for m in here)
        told = {m.letters: m for m in self._mentions if self._is_subject(m)}  # each in turn
        is_open = SAYS["open"].search(text, start) or (len(told) > 1 and last in told.values())
        is_said = self._is_letter(last) or (last.spelled and SAYS["points"].search(text, start))
        return last if is_last and is_for and is_said and not is_open else None

    def _is_subject(self, mention: Mention) -> bool:
        """Whether a sentence begins with an option, and so may merely describe it."""
        is_one = mention.lettered and len(mention.letters) == 1 and self._stances[mention] == _NAMED
        return is_one and not self._text[self._sentences[mention][0] : mention.start].strip(AROUND)

    def _is_letter(self, mention: Mention) -> bool:
        """Whether a mention is an option letter that comes after a reason.

        A letter that is part of a noun, or that names a thing in the question, does not count.
        """
        lead, after = self._text[: mention.start], self._text[mention.end : mention.end + 60]
        is_beside = SAYS["beside"].search(lead[-9:]) and not SAYS["closed"].match(after)
        is_name = mention.letters & self._names or SAYS["noun"].match(after) or is_beside
        is_after = mention.lettered and SAYS["pause"].search(lead, 1)
        return bool(is_after and (mention.spelled or not is_name))

    def _is_telling(self, hint: Mention, is_ended: bool) -> bool:
        """Whether an option's text is an answer: it is first, last, or in a short response."""
        (start, end), name = self._sentences[hint], self._text[hint.start : hint.end]
        is_sure, is_first = self._is_closed(hint), self._text[hint.end :][:1] == "、"
        is_long = is_sure or len(name) > 3 or name.isdigit()
        is_name = len(name) > 1 + name.isascii() and not SAYS["denied"].search(name)
        is_against = any(start <= m.start < end and s == _REFUTED for m, s in self._stances.items())
        is_edge = (not start or not self._text[end:].strip(AROUND)) and not is_against
        is_only = is_ended and len(self._text) < _SHORT and not _ITEM.search(self._text)
        is_told = (is_edge and is_long) or (is_only and (is_name or is_sure))
        return hint.spelled and not is_first and is_told

    def _unnamed(self) -> ChoiceReading:
        """The option whose character pairs occur most in the last sentence."""
        text, texts = self._text.lower(), self._shown.texts
        start = self._edges[-2 if self._edges[-2] < len(text) else -3]
        if self._mentions or any(own in text for own in texts.values()):
            texts = {}
        long = [(name, own) for name, own in texts.items() if len(own) > 3 and not own.isascii()]
        pairs = [(name, [a + b in text[start:] for a, b in pairwise(own)]) for name, own in long]
        shares = sorted((sum(found) / len(found), name) for name, found in pairs)
        (second, _), (most, letter) = shares[-2:] if len(shares) > 1 else [(1, ""), (0, "")]
        is_clear = most >= 0.5 and most - second >= 0.15 and 2 * most - second >= 0.8
        denies = [SAYS["denied"].search(each) for each in (text[start:], texts.get(letter, ""))]
        if is_clear and (denies[1] or not denies[0]):
            return _located(letter, "paraphrase", self._response[start:])
        is_refused = SAYS["refused"].search(self._text)
        return ChoiceReading(None, f"none: {'refusal' if is_refused else 'undecided'}")
