"""The stance of a response to each option that it mentions: the rules for the words around a mention.

`STANCE_RULES` is the ordered list. Each rule gets the response and the words around one mention,
and returns the response's stance towards the option there, or `None` to leave it to the next rule.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from hkcanto_metrics.decision_words import AROUND, SAYS
from hkcanto_metrics.option_grammar import GLOSS, Mention, Options, words_of
from hkcanto_metrics.response_text import Response

# The stances, from "not an answer" to the firmest.
IGNORED, REFUTED, NAMED, HEDGED, AFFIRMED, CONCLUDED, CHOSEN = range(7)
ITEM = SAYS["item"]
_ENDS = (*".。!)✓✗",)
_LISTED = re.compile(r"\W*([A-J]) ?(?:[.):、←✓✗(]|$)")  # a line of a list of options
# After an option: the next one in an order.
_IN_ORDER = re.compile(
    r"\W*(?:and )?(?:then|followed by|然后|之后|再)\W*[A-J](?![a-z])"
)
_SENTENCE_SIGNS = " .。,)!~✓→"


@dataclass(frozen=True, slots=True)
class Words:
    """The words around a mention.

    Attributes:
        view: The response.
        mention: The mention.
        lead: What its sentence has before it.
        clause: The part of the lead after the last comma.
        rest: What its sentence has after it.
        after: What its line has after it, at most 60 characters.
    """

    view: Statements
    mention: Mention
    lead: str
    clause: str
    rest: str
    after: str

    @property
    def sign_before(self) -> str:
        """The sign before the mention; "" at the start of the response."""
        before = self.view.text[: self.mention.start][-30:]
        return SAYS["option_word"].sub("", before).rstrip(" (")[-1:]

    @property
    def is_remark(self) -> bool:
        """Whether the mention is part of a remark in brackets."""
        is_inside = self.lead.count("(") > self.lead.count(")")
        before, _, within = self.lead.rpartition("(")
        is_beside = before.strip() or self.view.text[: self.mention.sentence[0]].strip()
        return bool(is_inside and is_beside and within.strip())

    @property
    def is_closed(self) -> bool:
        """Whether the mention ends its clause, or is a letter with its text."""
        is_full = self.mention.lettered and self.mention.spelled
        return is_full or bool(SAYS["closed"].match(self.after))


class Statements:
    """A response to one question: its mentions of options, with its stance at each.

    Attributes:
        response: The normalised response.
        text: Its text.
        shown: The options.
        several: Whether several options may be right.
        mentions: The mentions in order.
    """

    def __init__(
        self,
        response: Response,
        shown: Options,
        several: bool = False,
    ) -> None:
        self.response, self.shown, self.several = response, shown, several
        self.text = text = response.text
        sentence_ends = [match.end() for match in SAYS["sentence_end"].finditer(text)]
        self._edges = [0, *sentence_ends, len(text)]
        self.mentions = shown.mentions(text, several)
        for mention in self.mentions:
            mention.sentence = self._sentence(mention)
        for mention in self.mentions:
            mention.stance = self._stance(mention)
        self._raise_opening()

    @cached_property
    def is_finished(self) -> bool:
        """Whether the response ends as a sentence does, or with an item after a tick or cross."""
        line = self.text.rstrip().rpartition("\n")[2]
        return line[-1:] in _ENDS or line.lstrip("- ")[:1] in ("✓", "✗")

    @cached_property
    def is_glued(self) -> bool:
        """Whether the response opens with a letter that runs into the text: 「B因為…」."""
        origins = self.response.origins
        is_run = SAYS["glued"].match(self.text) and origins[1] == origins[0] + 1
        return bool(is_run) and self.text[0] not in self.shown.names

    @cached_property
    def opening(self) -> Mention | None:
        """The option that the response opens with, if it is not the first of several."""
        first = self.mentions[0]
        before = SAYS["courtesy"].sub("", self.text[: first.start])
        if SAYS["option_word"].sub("", before).strip(AROUND):
            return None
        after = self.text[first.end :]
        end = SAYS["closed" if first.lettered else "ended"]
        gloss = GLOSS.match(after)
        if not end.match(after) or (gloss and not end.match(after, gloss.end())):
            return None
        if first.stance <= REFUTED or self.is_parallel(first):
            return None
        if _IN_ORDER.match(self.text[first.end :]):
            return None
        item = ITEM.search(self.text, first.end)
        if not item or item[1] <= max(first.letters):
            return first
        between = self.text[first.end : item.start()]
        return first if SAYS["explains"].search(between) else None

    def with_stance(self, stance: int) -> list[Mention]:
        """The mentions of one stance."""
        return [mention for mention in self.mentions if mention.stance == stance]

    def mentions_between(
        self,
        start: int,
        end: int,
    ) -> list[Mention]:
        """The mentions that begin in a part of the response."""
        return [mention for mention in self.mentions if start <= mention.start < end]

    def words_around(self, mention: Mention) -> Words:
        """The words around a mention in its sentence."""
        start, end = mention.sentence
        lead = SAYS["option_word"].sub("", self.text[start : mention.start][-300:])
        return Words(
            self,
            mention,
            lead,
            SAYS["comma"].split(lead)[-1],
            self.text[mention.end : end],
            self.text[mention.end : mention.end + 60].partition("\n")[0],
        )

    def rest_of_line(self, mention: Mention) -> str:
        """The rest of the line after a mention, without signs."""
        rest = self.text[mention.end :].partition("\n")[0]
        return rest.strip(_SENTENCE_SIGNS)

    def ends_line(self, mention: Mention) -> bool:
        """Whether a mention is the last thing in its line."""
        return not self.rest_of_line(mention).strip(AROUND)

    def line_start(self, mention: Mention) -> int:
        """Where the line of a mention starts."""
        return self.text.rfind("\n", 0, mention.start) + 1

    def sentence_start(self, place: int) -> int:
        """Where the sentence around a place starts."""
        return self._edges[bisect_right(self._edges, place) - 1]

    def opens_sentence(self, mention: Mention) -> bool:
        """Whether a mention is the first thing in its sentence."""
        return not self.text[mention.sentence[0] : mention.start].strip(AROUND)

    def continues_list(self, mention: Mention) -> bool:
        """Whether the line above begins with the letter before, so that the lines are a list."""
        above = self.text[: self.line_start(mention)].rstrip("\n").rpartition("\n")[2]
        item = _LISTED.match(above)
        if item is None:
            return False
        return ord(item[1]) + 1 == ord(min(mention.letters))

    def is_parallel(self, first: Mention) -> bool:
        """Whether another option follows in the same construction: "A: 25 %, B: 50 %"."""
        form = self._form(first)
        return bool(form) and any(
            form == self._form(mention)
            for mention in self.mentions
            if mention.start > first.end and mention.letters != first.letters
        )

    def is_turn(
        self,
        before: Mention,
        after: Mention,
        turn: str,
    ) -> bool:
        """Whether the response changes its mind between two mentions."""
        start = max(before.end, after.start - 60)
        if turn == "contrast" and before.sentence != after.sentence:
            start = before.sentence[1]  # "so it is" ends the one before
        if SAYS[turn].search(self.text, start, after.start):
            return True
        return bool(SAYS["corrects"].search(self.text, before.end, after.start))

    def is_corrected(self, decision: Mention) -> bool:
        """Whether a decision is corrected later, to something that was not read."""
        end = decision.end
        for mention in self.mentions:
            if mention.letters == decision.letters and mention.stance > NAMED:
                end = max(end, mention.end)
        corrects = SAYS["corrects"].search(self.text, end)
        return bool(corrects)

    def is_related(self, mention: Mention) -> bool:
        """Whether an option's text is said of what the question asks for, or of nothing else."""
        name = self.text[mention.start : mention.end]
        if (
            mention.lettered
            or SAYS["affirmed"].match(name)
            or SAYS["refuted"].match(name)
        ):
            return True  # true and false are said of the question itself
        start, end = mention.sentence
        before = SAYS["comma"].split(self.text[start : mention.start])[-1]
        after = SAYS["comma"].split(self.text[mention.end : end])[0]
        clause = f"{before} {after}"
        if self._is_in_other_language(clause):
            return True
        return bool(words_of(clause) & self.shown.words)

    def _is_in_other_language(self, words: str) -> bool:
        """Whether words, apart from names, are all in another language than the question."""
        languages = {word.isascii() for word in self.shown.words}
        written = words_of(re.sub("[A-Z][a-z]+", " ", words))
        return not any(word.isascii() in languages for word in written)

    def _sentence(self, mention: Mention) -> tuple[int, int]:
        """Where the sentence around a mention starts and ends."""
        index = bisect_right(self._edges, mention.start)
        start, end = self._edges[index - 1 : index + 1]
        previous = self._edges[max(0, index - 2)]
        line, _, lead = self.text[previous : mention.start].rpartition("\n")
        if not line or SAYS["option_word"].sub("", lead).strip(AROUND):
            return start, end
        rest = self.rest_of_line(mention)  # 答案是：⏎B
        below = self.text.find("\n", mention.end)
        is_item = rest and ITEM.match(self.text, below)
        is_led = not is_item and SAYS["leads_to" if rest else "leads_on"].search(line)
        return (previous if is_led and not self.is_parallel(mention) else start), end

    def _stance(self, mention: Mention) -> int:
        words = self.words_around(mention)
        for rule in STANCE_RULES:
            stance = rule(words)
            if stance is not None:
                break
        else:
            stance = NAMED
        if self.several and SAYS["allowed"].match(words.after) and stance == NAMED:
            stance = AFFIRMED
        if self.several and stance in (NAMED, AFFIRMED):
            around = words.clause[-60:] + self.text[mention.end : mention.end + 8]
            return HEDGED if SAYS["hedged"].search(around) else stance
        return stance

    def _raise_opening(self) -> None:
        """Take the option that the response opens with as a conclusion."""
        opening = self.opening if self.mentions else None
        if not opening:
            return
        is_judged = opening.stance == AFFIRMED if self.several else self.is_glued
        if not is_judged:
            opening.stance = max(CONCLUDED, opening.stance)

    def _form(self, mention: Mention) -> tuple[bool, str] | None:
        """How an option is written, and the sign between it and what is said of it."""
        sign = self.text[mention.end :].lstrip(" )")[:1]
        return (mention.lettered, sign) if sign in (*":-=→(✓✗",) else None


StanceRule = Callable[[Words], int | None]


def marked(words: Words) -> int | None:
    """A check box, a tick or a cross before an option, in a line that begins with one.

    Why: models answer in forms, and name the rejected options there, too.

    Examples:
        - [ ] A. 大嶼山⏎- [x] C. 長洲 → C
        ☐A ☐B ☑C ☐D → C
        ❌ B ✅ C → C
    """
    start = words.view.line_start(words.mention)
    line = words.view.text[start : words.mention.start].strip(" (-")
    mark = line[-1:]
    if mark in ("■", "□"):
        return CHOSEN if mark == "■" else REFUTED
    if line[:1] not in ("✓", "✗") or mark not in ("✓", "✗"):
        return None
    if words.view.shown.denied:
        return NAMED
    return AFFIRMED if mark == "✓" else REFUTED


def questioned(words: Words) -> int | None:
    """An option in a question counts only after words that name the answer.

    Why: models think aloud in questions.

    Examples:
        長洲嗎 → none
        Is it B? → none
    """
    if not SAYS["asked"].match(words.rest) or words.view.is_glued:
        return None
    is_last = not words.view.text[words.mention.end :].strip(" )?")
    return None if is_last and SAYS["firm"].search(words.lead) else IGNORED


def not_own(words: Words) -> int | None:
    """A condition, a doubt, a first thought, a common mistake or another's view is not a decision.

    Why: a response weighs options before it chooses.

    Examples:
        好多人以為係 B，其實係 C。 → C
        If the bridge counted, the answer would be B. → none
    """
    own = SAYS["contrast"].split(words.lead)[-1]
    return IGNORED if SAYS["not_own"].search(own) else None


def supposed(words: Words) -> int | None:
    """Words after an option say under which condition it would be right.

    Examples:
        B would be correct if we asked for the largest one. → none
    """
    return IGNORED if SAYS["supposed"].match(words.rest) else None


def called_wrong(words: Words) -> int | None:
    """Words like 「錯誤的是」 before an option refute it, unless the question asks for that.

    Examples:
        錯誤嘅係 A、B、D。 → C
        The wrong ones are A, B and D. → C
    """
    if words.view.shown.denied:
        return None
    return REFUTED if SAYS["called_wrong"].search(words.lead) else None


def negated(words: Words) -> int | None:
    """A negation or an exclusion before an option refutes it.

    Examples:
        唔係 B，係 C。 → C
        排除 A、B 同 D。 → C
    """
    if not SAYS["negated"].search(words.clause):
        return None
    if SAYS["perhaps_not"].search(words.clause):
        return IGNORED
    is_answer = words.view.shown.denied and SAYS["excepting"].search(words.clause)
    return CONCLUDED if is_answer else REFUTED


def claimed(words: Words) -> int | None:
    """Words after an option say that it is the answer.

    Examples:
        C 就係答案。 → C
        C is the right answer. B is larger. → C
    """
    return CHOSEN if SAYS["claimed"].match(words.after) else None


def announced(words: Words) -> int | None:
    """Words before an option announce the answer, or the writer chooses.

    Examples:
        答案：C → C
        I'd go with C, since B is larger. → C
    """
    near = words.lead[-90:]
    is_answer = words.is_closed and SAYS["answer"].search(near)
    if is_answer or SAYS["firm"].search(near):
        return _tempered(words, CHOSEN)
    return None


def thing(words: Words) -> int | None:
    """A letter that names a thing in the question is not an option.

    Why: "Lines A and B are parallel" speaks of the lines.

    Examples:
        (島 A 同島 B，邊個近啲？) A 細啲，所以係 A。 → none
        (島 A 同島 B，邊個近啲？) 所以選項 A 啱。 → A
    """
    mention = words.mention
    if mention.spelled or not mention.letters <= words.view.shown.names:
        return None
    lead = words.view.text[words.view.line_start(mention) : mention.start]
    is_option = bool(lead.strip(AROUND)) and SAYS["option_word"].search(lead)
    is_line = not lead.strip(AROUND) and words.view.ends_line(mention)
    return None if is_option or is_line else IGNORED


def concluded(words: Words) -> int | None:
    """Words before an option conclude that it is right, or that only it is left.

    Examples:
        A、B 太大，所以係 C。 → C
        That leaves C. → C
    """
    near = words.lead[-90:]
    is_only = SAYS["only"].search(near) and not SAYS["refuted"].match(words.after)
    is_closing = words.is_closed and SAYS["concludes"].search(near)
    return _tempered(words, CONCLUDED) if is_only or is_closing else None


def conceded(words: Words) -> int | None:
    """An option is right in another respect: 「B啱，但題目唔係問呢樣」.

    Examples:
        B 睇落啱，但佢只係近啲。 → none
        B is true of the nearest one, but that is not the question. → none
    """
    return IGNORED if SAYS["conceded"].match(words.rest) else None


def glued(words: Words) -> int | None:
    """A letter that opens the response and runs into the text: the weakest decision.

    Examples:
        C因為佢最細。 → C
        C型血嘅人。 → none
    """
    is_first = not words.mention.start and len(words.mention.letters) == 1
    if words.view.several or not words.view.is_glued or not is_first:
        return None
    others = [other for other in words.view.mentions[1:] if other.lettered]
    if any(words.view.text[other.end :][:1] == words.after[:1] for other in others):
        return NAMED
    is_denied = words.view.shown.denied
    return _judged(words, words.after) or (NAMED if is_denied else HEDGED)


def alone(words: Words) -> int | None:
    """An option that is a whole clause, at the end or after another clause, is a conclusion.

    Examples:
        我揀 A。唔係，C。 → C
        呢題好易，C。 → C
    """
    view = words.view
    sign = words.sign_before
    if words.is_remark or view.continues_list(words.mention) or sign == "、":
        return None
    ending = words.rest.strip(" \n")
    if ending.strip(".。!)") or not (ending or sign in ("\n", "?")):
        return None
    is_last = not view.text[words.mention.end :].strip(AROUND)
    if words.clause.strip(AROUND):
        return None
    is_alone = is_last or SAYS["comma"].search(words.lead)
    return CONCLUDED if is_alone else None


def judged(words: Words) -> int | None:
    """Words after an option call it right or wrong.

    If the question asks for what is not true, they mean the contrary.

    Examples:
        B 太大，C 啱。 → C
        A ✗⏎B ✗⏎C ✓⏎D ✗ → C
    """
    return _judged(words, words.after)


def likened(words: Words) -> int | None:
    """A result or a description leads to an option: 「即係…」, "which gives".

    Examples:
        唔係坪洲，係長洲。 → C
        They correspond to C. → C
        南丫島大啲（即係 B）。 → none
    """
    near = words.clause[-60:]
    before = [m for m in words.view.mentions if m.start < words.mention.start][-1:]
    if words.mention.spelled and any(
        m.letters == words.mention.letters for m in before
    ):
        return None  # C is 長洲
    is_like = SAYS["copula"].search(near) or SAYS["matches"].search(near)
    if not is_like or words.is_remark or not words.is_closed:
        return None
    return _tempered(words, AFFIRMED)


STANCE_RULES: tuple[StanceRule, ...] = (
    marked,
    questioned,
    not_own,
    supposed,
    called_wrong,
    negated,
    claimed,
    announced,
    thing,
    concluded,
    conceded,
    glued,
    alone,
    judged,
    likened,
)


def _tempered(
    words: Words,
    stance: int,
) -> int:
    """A decision that is taken back at once, or that "perhaps" weakens."""
    if SAYS["assailed"].match(words.after) and not words.view.shown.denied:
        return REFUTED
    return HEDGED if SAYS["hedged"].search(words.clause) else stance


def _judged(
    words: Words,
    after: str,
) -> int | None:
    """The stance of the words after a mention, reversed if the question asks for a denial."""
    stance = _verdict(after)
    if words.view.shown.denied:
        is_named = stance == REFUTED and SAYS["of_answer"].match(after)
        return REFUTED if is_named else _of_exception(words, stance)
    if stance == AFFIRMED and SAYS["then"].search(words.lead[-60:]):
        return CONCLUDED
    return stance


def _verdict(after: str) -> int | None:
    """Whether the words after a mention call it right or wrong."""
    refuted = SAYS["refuted"].match(after)
    affirmed = SAYS["affirmed"].match(after)
    if affirmed and (not refuted or refuted.end() > affirmed.end()):
        return AFFIRMED
    return REFUTED if refuted else None


def _of_exception(
    words: Words,
    verdict: int | None,
) -> int | None:
    """The stance towards an option if the question asks for the exception."""
    if verdict == REFUTED:
        return AFFIRMED
    if verdict == AFFIRMED and SAYS["truth"].search(words.view.shown.denied):
        return REFUTED  # of statements, not things
    return verdict


def letters_of(mentions: Iterable[Mention]) -> frozenset[str]:
    """The letters of several mentions."""
    return frozenset().union(*(mention.letters for mention in mentions))
