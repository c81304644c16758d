"""Extract the letter of the option that a model chose from its response, or the letters of several.

`docs/extraction.md` describes the mechanism. No letter is ever guessed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from rapidfuzz.fuzz import partial_ratio

from hkcanto_metrics.number import parse_number
from hkcanto_metrics.option_grammar import (
    AROUND,
    SAYS,
    Mention,
    Options,
    options_of,
    words_of,
)
from hkcanto_metrics.response_text import Response, normalize_response, own_answer

# The stance that a response takes towards an option at one place.
_IGNORED, _REFUTED, _NAMED, _AFFIRMED, _HEDGED, _CONCLUDED, _CHOSEN = range(7)
# A shortcut for the form of most direct answers; everything below reads them the same way.
_BARE_LETTER = re.compile(r"\s*+\(?([A-Za-z])\)?[.?？]?\s*")
_ITEM, _JOINS = SAYS["item"], re.compile("[而和與与及、,，]")
_SAME_QUESTION = 95  # percent of a question that the response repeats, if it is ours
_CLOSING = 150  # characters that may follow a conclusion
_ENDS = (*".。!)✓✗",)  # what a finished response ends in


@dataclass(frozen=True, slots=True)
class ChoiceReading:
    """The option read from a response, and why.

    Attributes:
        letter: the letter of an option, or `None`.
        reason: how the letter was read: ``bare``, ``first line``, ``stated``, ``affirmed``,
            ``eliminated``, ``last sentence``, ``option text``; or ``none: `` followed by ``empty``,
            ``cut off`` (in reasoning or a list), ``refusal``, ``several``,
            ``no option`` (another letter), ``undecided``.
        evidence: start and end of the words in the given text that name the option, if any.
    """

    letter: str | None
    reason: str
    evidence: tuple[int, int] | None = None


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


def extract_choice(
    text: str, options: Mapping[str, str], question: str = ""
) -> str | None:
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


def read_choice(
    text: str, options: Mapping[str, str], question: str = ""
) -> ChoiceReading:
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
        raise TypeError(
            f"options is a {type(options).__name__}: give a mapping, letter to text"
        )
    answer = own_answer(text)
    if answer is None:
        return ChoiceReading(None, "none: cut off")
    bare = _BARE_LETTER.fullmatch(answer.text)
    if bare and bare[1].upper() in options:
        return _located(bare[1].upper(), "bare", answer[bare.start(1) : bare.end(1)])
    whole = _JOINS.sub("", answer.text.strip())
    same = [
        key
        for key, own in options.items()
        if _JOINS.sub("", own.strip()) == whole != ""
    ]
    if len(same) == 1:
        return _located(same[0], "option text", answer)
    if len({*SAYS["numbered"].findall(answer.text)}) > 1:
        return ChoiceReading(None, "none: several")
    return _read(answer, options, question, _Reader)


def extract_choice_set(
    text: str, options: Mapping[str, str], question: str = ""
) -> str | None:
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


def read_choice_set(
    text: str, options: Mapping[str, str], question: str = ""
) -> ChoiceSetReading:
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
    reading = _read(answer, options, question, _SetReader)
    return ChoiceSetReading(reading.letter, reading.reason)


def _read(
    answer: Response, options: Mapping[str, str], question: str, reader: type[_Reader]
) -> ChoiceReading:
    """Read a response part by part, without retracted statements, until it asks a new question."""
    shown = options_of(tuple(options.items()), question)
    response = normalize_response(answer, shown.keep_readings)
    text, reading = response.text, ChoiceReading(None, "none: undecided")
    if not text.strip():
        return ChoiceReading(None, "none: empty")
    asked = SAYS["asks"].match(text.lower()) if shown.asked else None
    if asked and partial_ratio(asked["question"], shown.asked) < _SAME_QUESTION:
        return reading
    cuts = [
        SAYS["next_part"].match(f"\n{text[:400]}"),
        *SAYS["next_part"].finditer(text, 1),
    ]
    starts = [0, *(cut.start() for cut in cuts[1:] if cut), len(text)]
    for cut, (start, end) in zip(cuts[:3], pairwise(starts), strict=False):
        items = _ITEM.findall(text, start, end)
        same = [
            own.lower().startswith(shown.texts.get(name, own)[:8])
            for name, own in items
        ]
        is_asked = cut and cut["question"] and (start or (same and not cut["list"]))
        if is_asked and not (
            same and (all(same) if start else 2 * sum(same) > len(same))
        ):
            return reading
        taken_back = [
            m.start("words") for m in SAYS["retracted"].finditer(text, start, end)
        ]
        part = response[max([start, *taken_back]) : end]
        reading = reader(part, shown).reading()
        if reading.letter:
            return reading
    return reading


def _located(letter: str, reason: str, words: Response) -> ChoiceReading:
    return ChoiceReading(letter, reason, (words.origins[0], words.origins[-1] + 1))


class _Reader:
    """Reads one response to one question."""

    several = False  # whether several options may be right

    def __init__(self, response: Response, shown: Options) -> None:
        self._response, self._shown = response, shown
        self._text = text = response.text
        self._edges = [
            0,
            *(m.end() for m in SAYS["sentence_end"].finditer(text)),
            len(text),
        ]
        is_glued = (
            SAYS["glued"].match(text) and response.origins[1] == response.origins[0] + 1
        )
        self._is_glued = bool(is_glued) and text[0] not in shown.names
        self._mentions = shown.mentions(text, self.several)
        for mention in self._mentions:
            mention.sentence = self._sentence(mention)
        for mention in self._mentions:
            mention.stance = self._stance(mention)

    def _sentence(self, mention: Mention) -> tuple[int, int]:
        """Where the sentence around a mention starts and ends."""
        at = bisect_right(self._edges, mention.start)
        start, end = self._edges[at - 1 : at + 1]
        line, _, lead = self._text[
            self._edges[max(0, at - 2)] : mention.start
        ].rpartition("\n")
        if not line or lead.strip(AROUND):
            return start, end
        rest = self._rest_of_line(
            mention
        )  # 答案是：⏎B. Not a list item, if more follows
        is_item = rest and not mention.spelled and _ITEM.search(self._text, 0, start)
        is_item = is_item or (
            rest and _ITEM.match(self._text, self._text.find("\n", mention.end))
        )
        leads = SAYS["leads_to" if rest else "leads_on"].search(line)
        is_led = leads and not is_item and not self._is_parallel(mention)
        return (self._edges[at - 2] if is_led else start), end

    def _rest_of_line(self, mention: Mention) -> str:
        return self._text[mention.end :].partition("\n")[0].strip(" .。,)!~✓→")

    def _stance(self, mention: Mention) -> int:
        """The stance of the words around a mention, in its sentence, towards the option."""
        start, end = mention.sentence
        lead = SAYS["option_word"].sub("", self._text[start : mention.start][-300:])
        clause, rest = SAYS["comma"].split(lead)[-1], self._text[mention.end : end]
        after = self._text[mention.end : mention.end + 60].partition("\n")[0]
        is_glued = self._is_glued and not mention.start and len(mention.letters) == 1
        is_doubted = SAYS["firm"].search(lead) and not self._text[mention.end :].strip(
            " )?"
        )
        if SAYS["asked"].match(rest) and not is_glued and not is_doubted:
            return _IGNORED
        if SAYS["not_own"].search(SAYS["contrast"].split(lead)[-1]):
            return _IGNORED
        if not self._shown.denied and SAYS["called_wrong"].search(lead):
            return _REFUTED
        if SAYS["negated"].search(clause):
            is_answer = self._shown.denied and SAYS["excepting"].search(clause)
            return _CONCLUDED if is_answer else _REFUTED
        if SAYS["claimed"].match(after):
            return _CHOSEN
        stance = self._chosen(mention, lead, clause, after) if lead else _NAMED
        if (
            stance < _CHOSEN
            and not mention.spelled
            and mention.letters <= self._shown.named
        ):
            return _IGNORED
        if stance >= _CONCLUDED:
            if SAYS["assailed"].match(after) and not self._shown.denied:
                return _REFUTED
            return _HEDGED if SAYS["hedged"].search(clause) else stance
        if is_glued:
            if self._shown.denied:
                is_statement = after[:1] in {*"是属"} or SAYS["affirmed"].match(after)
                return self._judged(
                    mention, lead, after, _NAMED if is_statement else _HEDGED
                )
            return _REFUTED if SAYS["refuted"].match(after[:6]) else _HEDGED
        if self._is_alone(mention, lead, clause, rest):
            return _CONCLUDED
        others = [m for m in self._mentions if start <= m.start < end and m != mention]
        if not others and not lead.strip(AROUND):
            after = after.replace(",", "-")  # a sentence on one option
        if below := SAYS["verdict_below"].match(self._text, mention.end):
            after = self._text[below.end() : mention.end + 60]
        return self._judged(mention, lead, after, stance)

    def _is_alone(self, mention: Mention, lead: str, clause: str, rest: str) -> bool:
        """Whether a mention is a whole clause, at the end or after another, and not a fragment."""
        before = (
            SAYS["option_word"]
            .sub("", self._text[: mention.start][-30:])
            .rstrip(" (")[-1:]
        )
        is_label = rest.strip() == "." and _ITEM.search(
            self._text, 0, mention.start
        )  # cut off
        is_whole = (rest.strip(" )\n") or before in (*"\n?=",)) and not rest.strip(
            " )\n.。!"
        )
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
        is_only = SAYS["only"].search(near) and not SAYS["refuted"].match(after)
        if is_only or (is_whole and SAYS["concludes"].search(near)):
            return _CONCLUDED
        if is_whole and SAYS["copula"].search(clause[-60:]):
            return _CONCLUDED if mention.lettered else _AFFIRMED
        return (
            _AFFIRMED if is_whole and SAYS["matches"].search(clause[-60:]) else _NAMED
        )

    def _judged(self, mention: Mention, lead: str, after: str, stance: int) -> int:
        """The stance of the words after a mention, reversed if the question asks for a denial."""
        refuted, affirmed = SAYS["refuted"].match(after), SAYS["affirmed"].match(after)
        is_for = bool(affirmed and not (refuted and refuted.end() <= affirmed.end()))
        is_against = bool(refuted and not is_for)
        if self._shown.denied:
            words = SAYS["words"].finditer(re.split("[,。;.\n]", after.lower())[0])
            is_shared = any(
                (word[0] or word[1]) in self._shown.denied for word in words
            )
            is_shared = is_shared or len(mention.letters) == len(self._shown.texts) - 1
            is_said = is_shared and not SAYS["closed"].match(after)
            is_excepted = bool(SAYS["excepted"].match(after))
            is_truth = bool(
                SAYS["truth"].search(self._shown.denied)
            )  # of statements, not things
            is_against, is_for = (
                is_said or (is_for and is_truth),
                is_against or is_excepted,
            )
        if is_for:
            return _CONCLUDED if SAYS["then"].search(lead[-60:]) else _AFFIRMED
        return _REFUTED if is_against else stance

    def reading(self) -> ChoiceReading:
        """The option that the response settles on."""
        if not self._mentions:
            return self._unnamed()
        opening = self._opening()
        if opening and not self._is_glued:
            opening.stance = max(_CONCLUDED, opening.stance)
        decisions = [mention for mention in self._mentions if mention.stance >= _HEDGED]
        if opening and not self._rest_of_line(opening).strip(AROUND):
            turn = "revised" if len(opening.letters) == 1 else "contrast"
            later = decisions[1:]
            decisions = [
                m for m in later if self._is_turn(opening, m, turn) or self._is_final(m)
            ]
            if not decisions and not self._is_corrected(opening):
                return self._of(opening, "first line")
        return self._settled(decisions) if decisions else self._hinted()

    def _is_corrected(self, decision: Mention) -> bool:
        """Whether a decision is corrected later, to something that was not read."""
        for_it = [
            m
            for m in self._mentions
            if m.letters == decision.letters and m.stance > _NAMED
        ]
        return bool(
            SAYS["corrects"].search(self._text, max(m.end for m in (decision, *for_it)))
        )

    def _of(self, mention: Mention, reason: str) -> ChoiceReading:
        if len(mention.letters) > 1:
            return ChoiceReading(None, "none: several")
        if not mention.letters <= self._shown.texts.keys():
            return ChoiceReading(None, "none: no option")
        return _located(
            min(mention.letters), reason, self._response[mention.start : mention.end]
        )

    def _opening(self) -> Mention | None:
        """The option that the response opens with, if it is not the first of several."""
        first = self._mentions[0]
        before, after = self._text[: first.start], self._text[first.end :]
        item = _ITEM.search(after)
        is_far = (
            item
            and not self._rest_of_line(first)
            and after[: item.start()].strip(AROUND)
        )
        is_item = item is not None and not is_far and item[1] > max(first.letters)
        is_start = not SAYS["option_word"].sub("", before).strip(AROUND)
        is_ended = SAYS["closed" if first.lettered else "ended"].match(after)
        is_listed = is_item or self._is_parallel(first)
        is_opening = is_start and is_ended and not is_listed
        return first if is_opening and first.stance > _REFUTED else None

    def _is_parallel(self, first: Mention) -> bool:
        """Whether the next option follows in the same construction: "A: 25 %, B: 50 %"."""
        form = self._form(first)
        if form and form in map(self._form, self._others(first)):
            return True
        labels = [*SAYS["label"].finditer(self._text, first.start)]
        others = [each for each in labels[1:] if each["letter"] not in first.letters]
        if not others or labels[0].start() > first.start:
            return False
        label, other = labels[0], others[0]
        between = self._text[label.end() : other.start()]
        is_next = ord(other["letter"]) == ord(max(first.letters)) + 1
        is_same = (label["sign"], not label["rest"]) == (
            other["sign"],
            not other["rest"],
        )
        return is_next and is_same and not SAYS["explains"].search(between)

    def _others(self, first: Mention) -> list[Mention]:
        """The other options that begin a sentence after an option's text."""
        text, later = self._text, [m for m in self._mentions if m.start > first.end]
        starts = [m for m in later if not text[m.sentence[0] : m.start].strip(AROUND)]
        return (
            [m for m in starts if m.letters != first.letters] if first.spelled else []
        )

    def _form(self, mention: Mention) -> tuple[bool, str] | None:
        """How an option is written, and the sign between it and what is said of it."""
        sign = self._text[mention.end :].lstrip(" )")[:1]
        return (mention.lettered, sign) if sign in (*":-=→(",) else None

    def _is_turn(self, before: Mention, after: Mention, turn: str) -> bool:
        turned = SAYS[turn].search(
            self._text, max(before.end, after.start - 60), after.start
        )
        return bool(
            turned or SAYS["corrects"].search(self._text, before.end, after.start)
        )

    def _is_final(self, mention: Mention) -> bool:
        """Whether a choice is the conclusion at the end of a response."""
        is_chosen = (
            mention.stance == _CHOSEN and len(self._text) - mention.end < _CLOSING
        )
        lead = self._text[mention.sentence[0] : mention.start]
        return is_chosen and bool(SAYS["finally"].search(lead))

    def _firmest(self, decisions: list[Mention]) -> Mention:
        """The last of the firmest decisions, or a later one that revises it."""
        level = max(mention.stance for mention in decisions)
        last = [mention for mention in decisions if mention.stance == level][-1]
        for later in decisions:
            if later.start > last.end and self._is_turn(last, later, "revised"):
                last = later
        return last

    def _settled(self, decisions: list[Mention]) -> ChoiceReading:
        """The firmest decision; two in one sentence decide nothing."""
        level, last = max(m.stance for m in decisions), self._firmest(decisions)
        for other in decisions:
            is_equal = other.stance >= min(level, _CONCLUDED)
            is_near = level == _HEDGED or other.sentence == last.sentence
            is_revised = SAYS["turn"].search(self._text, other.end, last.start)
            if (
                is_equal
                and is_near
                and other.letters != last.letters
                and not is_revised
            ):
                return ChoiceReading(None, "none: several")
        if self._is_corrected(last):
            return ChoiceReading(None, "none: undecided")
        rest = self._text[last.end :].strip(AROUND) and len(self._mentions) > 1
        is_cut = (rest and self._text[-1:] not in _ENDS) or SAYS["dangling"].search(
            self._text
        )
        if is_cut and level < _CHOSEN and not last.lettered:
            return ChoiceReading(None, "none: cut off")
        return self._of(last, "stated")

    def _hinted(self) -> ChoiceReading:
        """The one option that the response favours without stating a decision."""
        mentions, every = self._mentions, self._shown.texts.keys()
        last, ending = mentions[-1], self._text[-1:]
        refuted, named, affirmed = (
            self._with(_REFUTED),
            self._with(_NAMED),
            self._with(_AFFIRMED),
        )
        affirmed = [m for m in affirmed if not SAYS["varies"].search(self._text, m.end)]
        named, affirmed = (
            [m for m in each if self._is_related(m)] for each in (named, affirmed)
        )
        gone = _letters(refuted)
        left, named = every - gone, [m for m in named if not m.letters <= gone]
        is_cut = last.stance == _NAMED and len(mentions) > 1 and ending not in _ENDS
        is_open = last.stance in (_NAMED, _AFFIRMED)
        if is_cut or (is_open and SAYS["dangling"].search(self._text, last.end)):
            return ChoiceReading(None, "none: cut off")
        if not affirmed and len(left) == 1 < len(every) - 1 and ending in _ENDS:
            return self._of(replace(refuted[-1], letters=frozenset(left)), "eliminated")
        if len(affirmed) > 1 and self._is_turn(affirmed[-2], affirmed[-1], "contrast"):
            del affirmed[:-1]
        if self._shown.values and SAYS["sum"].search(self._text):
            ends = [
                m for m in named + affirmed if not self._text[m.end :].strip(AROUND)
            ]
            affirmed = [m for m in affirmed if m.lettered] or ends or affirmed
            is_value = affirmed and not affirmed[-1].lettered
            if is_value and SAYS["result"].search(self._text, affirmed[-1].end):
                return ChoiceReading(None, "none: undecided")
        refused = SAYS["refused"].search(self._text)
        if refused:
            affirmed = [m for m in affirmed if m.lettered or m.end >= refused.start()]
        if (
            refused
            and not affirmed
            and not any(m.start <= refused.start() < m.end for m in named)
        ):
            return self._unnamed()
        if not affirmed and (pointed := self._pointed()):
            return self._of(pointed, "last sentence")
        if len({mention.letters for mention in affirmed or named}) > 1:
            return ChoiceReading(None, "none: several")
        if affirmed:
            return self._of(affirmed[0], "affirmed")
        told = [m for m in named if self._is_telling(m)]
        options = {
            m.letters
            for m in mentions
            if m.spelled or not m.letters <= self._shown.named
        }
        return (
            self._of(told[-1], "option text")
            if told and len(options) == 1
            else self._unnamed()
        )

    def _is_related(self, mention: Mention) -> bool:
        """Whether an option's text is said of what the question asks for, or of nothing else."""
        start, end = mention.sentence
        before = SAYS["comma"].split(self._text[start : mention.start])[-1]
        rest = f"{before} {SAYS['comma'].split(self._text[mention.end : end])[0]}"
        names, asked = {*SAYS["name"].findall(before)}, self._shown
        if mention.lettered or (names and asked.names and not names & asked.names):
            return mention.lettered
        languages = {word.isascii() for word in asked.words}
        words = words_of(re.sub("[A-Z][a-z]+", " ", rest))
        is_other = any(word.isascii() in languages for word in words)
        return not is_other or bool(words_of(rest) & asked.words)

    def _with(self, stance: int) -> list[Mention]:
        return [mention for mention in self._mentions if mention.stance == stance]

    def _pointed(self) -> Mention | None:
        """The one option that the last sentence or section names without leaving it open."""
        last, text = self._mentions[-1], self._text
        (start, end), headings = last.sentence, [*SAYS["heading"].finditer(text)]
        is_last = text[-1:] in _ENDS and (headings or not text[end:].strip(AROUND))
        start = min([start, *(match.start() for match in headings[-1:])])
        here = [mention for mention in self._mentions if mention.start >= start]
        is_for = all(
            m.letters == last.letters and m.stance in (_NAMED, _AFFIRMED) for m in here
        )
        named = self._with(_NAMED)  # each in turn, as the subject of its sentence
        subjects = {
            m.letters: m
            for m in named
            if not text[m.sentence[0] : m.start].strip(AROUND)
        }
        is_drawn = SAYS["finally"].search(text, last.sentence[0], last.start)
        is_label = SAYS["label"].match(text, last.start) and self._is_parallel(
            self._mentions[0]
        )
        is_listed = len(subjects) > 1 and last in subjects.values()
        is_open = (
            SAYS["open"].search(text, start) or is_listed or (is_label and not is_drawn)
        )
        # A letter after a reason counts, unless it is part of a noun or a name in the question.
        lead, after = text[: last.start], text[last.end : last.end + 60]
        is_name = last.letters & self._shown.names or SAYS["noun"].match(after)
        is_part = not last.spelled and (is_name or SAYS["beside"].search(lead[-9:]))
        is_letter = last.lettered and SAYS["pause"].search(lead, 1) and not is_part
        is_given = last.spelled or headings or SAYS["draws"].search(text, start)
        is_told = last.spelled and SAYS["points"].search(text, start, last.end)
        is_said = (is_letter and is_given) or is_told
        return last if is_last and is_for and is_said and not is_open else None

    def _is_telling(self, hint: Mention) -> bool:
        """Whether an option's text is an answer: in the first sentence, without a list."""
        name = self._text[hint.start : hint.end]
        is_name = len(name) > 1 + name.isascii() and not SAYS["denied"].search(name)
        is_first = not hint.sentence[0] and not _ITEM.search(self._text)
        is_sure = (
            is_name or name.isdigit() or SAYS["closed"].match(self._text, hint.end)
        )
        return bool(hint.spelled and is_first and is_sure)

    def _unnamed(self) -> ChoiceReading:
        """No option is named as the answer: it was refused, or nothing was decided."""
        is_refused = SAYS["refused"].search(self._text)
        return ChoiceReading(None, f"none: {'refusal' if is_refused else 'undecided'}")


class _SetReader(_Reader):
    """Reads one response to one question for all options that it names as right."""

    several = True

    def __init__(self, response: Response, shown: Options) -> None:
        if not SAYS["name"].search(response.text):
            small = SAYS["small_letter"].sub(
                lambda match: match[0].upper(), response.text
            )
            response = Response(small, response.origins)
        else:  # a mark before a letter belongs to it: ✓ B
            marked = re.sub(r"(?m)^([✓✗]) ([A-J])$", r"\2 \1", response.text)
            response = Response(marked, response.origins)
        super().__init__(response, shown)

    def reading(self) -> ChoiceReading:
        """The options that the response settles on."""
        if SAYS["range"].search(self._text):
            return ChoiceReading(None, "none: undecided")
        letters = "".join(SAYS["letter"].findall(self._text))
        if SAYS["only_letters"].fullmatch(self._text) and len({*letters}) == len(
            letters
        ):
            return self._set({*letters}, "bare")
        mentions = self._mentions
        opening = self._opening() if mentions else None
        if opening and opening.stance != _AFFIRMED:
            opening.stance = max(_CONCLUDED, opening.stance)
        decisions = [mention for mention in mentions if mention.stance >= _HEDGED]
        joined = [m for m in mentions if len(m.letters) > 1 and m.stance > _REFUTED]
        if any(SAYS["either"].search(self._text, m.start, m.end) for m in joined):
            return ChoiceReading(None, "none: several")
        is_chosen = any(mention.stance == _CHOSEN for mention in mentions)
        if (
            not is_chosen
            and SAYS["all_but"].search(self._text)
            and (reading := self._whole())
        ):
            return reading
        if reading := self._listed():
            return reading
        if any(mention.stance > _HEDGED for mention in decisions):
            return self._stated(decisions)
        if reading := self._whole():
            return reading
        if (
            decisions
        ):  # only hedged ones: next to another option, each is one thought of several
            last = decisions[-1]
            beside = [
                m
                for m in mentions
                if m.stance > _REFUTED and m.sentence == last.sentence
            ]
            if len({m.letters for m in (*beside, *decisions, mentions[-1])}) > 1:
                return ChoiceReading(None, "none: undecided")
            return self._set(last.letters, "stated")
        return self._judged_each() or self._unnamed()

    def _set(self, letters: Iterable[str], reason: str) -> ChoiceReading:
        if not {*letters} <= self._shown.texts.keys():
            return ChoiceReading(None, "none: no option")
        return ChoiceReading("".join(sorted(letters)) or None, reason)

    def _stated(self, decisions: list[Mention]) -> ChoiceReading:
        """The firmest decision and the options joined to it in one enumeration."""
        last = self._firmest(decisions)
        begin = next(m for m in decisions if m.sentence == last.sentence)
        if any(begin.start < m.start < last.start for m in self._with(_REFUTED)):
            begin = last
        letters, end = {*begin.letters}, begin.end
        for mention in self._mentions:
            if mention.start < begin.end or mention.stance <= _REFUTED:
                continue
            gap = re.sub(r"\([^()]*\)", "", self._text[end : mention.start])
            is_other = ";" in gap and mention.spelled and len(begin.letters) > 1
            is_new = re.search("[.。\n]", gap) and not SAYS["closed"].match(
                self._text, mention.end
            )
            if is_other or is_new or not SAYS["enumerates"].fullmatch(gap):
                break
            letters |= mention.letters
            end = mention.end
        later = [m for m in self._mentions if m.start > end]
        is_more = any(m.stance >= _AFFIRMED and not m.letters <= letters for m in later)
        doubted = _letters(m for m in later if m.stance == _HEDGED)
        refuted = _letters(m for m in later if m.stance == _REFUTED)
        every, known = (
            self._shown.texts.keys(),
            letters | _letters(self._with(_REFUTED)),
        )
        is_firm = last.stance == _CHOSEN
        named = _letters(self._mentions) if last.lettered else every
        is_one_of_several = not is_firm and len(letters) == 1 and not named <= known
        is_whole = last.lettered and (is_firm or begin.letters >= every)
        is_list = letters >= every and (later or not is_whole)
        is_corrected = later and SAYS["corrects"].search(
            self._text, last.end, later[-1].start
        )
        is_open = is_more or is_one_of_several or is_list or is_corrected
        if is_open or SAYS["others"].search(self._text, last.end):
            return ChoiceReading(None, "none: undecided")
        if not doubted <= letters or refuted & letters:
            return ChoiceReading(None, "none: undecided")
        return self._set(letters, "stated")

    def _whole(self) -> ChoiceReading | None:
        """All options, all but some, or none, where the text says so without naming each."""
        text, every = self._text, self._shown.texts
        own = " ".join(every.values())
        if SAYS["all_of"].search(own) or SAYS["none_of"].search(own):
            return None
        gone, but = _letters(self._with(_REFUTED)), SAYS["all_but"].search(text)
        if but or (gone and SAYS["rest"].search(text)):
            sentence = (
                self._edges[bisect_right(self._edges, but.start()) - 1] if but else 0
            )
            if but and SAYS["nothing"].search(text, sentence, but.start()):
                return ChoiceReading(None, "none: undecided")
            behind = but and but["behind"]
            near = [
                m
                for m in self._mentions
                if not but or (m.start < but.start()) == bool(behind)
            ]
            excepted = _letters(near) & gone or (
                _letters(near[:1]) if but else frozenset()
            )
            if (
                but and not behind and not _letters(near) <= excepted
            ):  # besides A, B is right, too
                return ChoiceReading(None, "none: undecided")
            return self._set(every.keys() - excepted, "all but") if excepted else None
        found = SAYS["all_of"].search(text)
        is_all = found and (
            not found["count"] or parse_number(found["count"]) == len(every)
        )
        return self._set(every, "all") if is_all and not gone else None

    def _listed(self) -> ChoiceReading | None:
        """The options of a response, or of what follows its last colon, that is only a list."""
        start = self._text.rfind(":\n") + 1
        listed = [mention for mention in self._mentions if mention.start >= start]
        starts = [*(mention.start for mention in listed), len(self._text)]
        ends = [start, *(mention.end for mention in listed)]
        gaps = [self._text[end:start] for end, start in zip(ends, starts, strict=True)]
        is_list = listed and all(SAYS["enumerates"].fullmatch(gap) for gap in gaps)
        is_all = not start and _letters(listed) >= self._shown.texts.keys()
        if (
            not is_list
            or is_all
            or any(mention.stance <= _REFUTED for mention in listed)
        ):
            return None
        is_said = any(mention.stance >= _HEDGED for mention in listed)
        return self._set(_letters(listed), "stated" if is_said else "listed")

    def _judged_each(self) -> ChoiceReading | None:
        """The options called right, or those named together, if nothing else is said of others."""
        last: dict[str, int] = {}
        for mention in self._mentions:
            for letter in mention.letters if mention.stance else ():
                if letter not in last or mention.stance != _NAMED:
                    last[letter] = mention.stance
        affirmed = [letter for letter in last if last[letter] == _AFFIRMED]
        named = {letter for letter in last if last[letter] == _NAMED}
        if SAYS["asks_negatively"].search(self._shown.asked):
            return None
        leads = [self._text[: m.start][-9:] for m in self._with(_AFFIRMED)]
        is_only = SAYS["only_these"].search(" ".join(leads))
        gone, every = _letters(self._with(_REFUTED)), self._shown.texts.keys()
        if affirmed or not named:
            is_told = gone or all(m.lettered for m in self._with(_AFFIRMED))
            is_each = is_told and gone | {*affirmed} >= every
            is_sure = 1 < len(affirmed) < len(every) or is_only or is_each
            return (
                self._set(affirmed, "judged")
                if affirmed and is_sure and not named
                else None
            )
        is_each = bool(gone) and last.keys() >= every
        is_joined = named in [m.letters for m in self._with(_NAMED)]
        is_refused = SAYS["refused"].search(self._text)
        return (
            self._set(named, "judged")
            if is_each and is_joined and not is_refused
            else None
        )

    def _stance(self, mention: Mention) -> int:
        """The stance of the words around a mention, with "perhaps" before it."""
        lead = self._text[mention.sentence[0] : mention.start][-60:]
        stance = super()._stance(mention)
        around = (
            SAYS["comma"].split(lead)[-1] + self._text[mention.end : mention.end + 4]
        )
        is_doubted = stance in (_NAMED, _AFFIRMED) and SAYS["hedged"].search(around)
        return _HEDGED if is_doubted else stance


def _letters(mentions: Iterable[Mention]) -> frozenset[str]:
    return frozenset().union(*(mention.letters for mention in mentions))
