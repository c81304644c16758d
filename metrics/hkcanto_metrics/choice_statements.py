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
IGNORED, REFUTED, NAMED, AFFIRMED, HEDGED, CONCLUDED, CHOSEN = range(7)
ITEM = SAYS["item"]
_OWN = 3  # characters of an option's text, more than a word such as "correct"
_LINE = 20  # characters before an option in its line
_ENDS = (*".。!)✓✗",)
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
        return is_inside and bool(self.lead.rpartition("(")[2].strip())

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
        """Whether the response ends as a sentence does."""
        return self.text.rstrip()[-1:] in _ENDS

    @cached_property
    def is_glued(self) -> bool:
        """Whether the response opens with a letter that runs into the text: 「B因為…」."""
        origins = self.response.origins
        if not SAYS["glued"].match(self.text) or origins[1] != origins[0] + 1:
            return False
        return self.text[0] not in self.shown.names

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
        if first.stance <= REFUTED or self._is_listed(first) or self.is_parallel(first):
            return None
        return None if self._is_walk(first) else first

    def _is_walk(self, first: Mention) -> bool:
        """Whether a sentence names all options, one after the other: "A, then B, then C"."""
        here = self.mentions_between(*first.sentence)
        others = [mention for mention in here if mention is not first]
        if len(others) < 2 or letters_of(here) < self.shown.texts.keys():
            return False
        if SAYS["explains"].search(self.text, first.end, others[0].start):
            return False
        if any(other.lettered != first.lettered for other in others):
            return False  # 長洲，A 大、B 同 D 遠
        return all(other.stance == NAMED for other in others)

    def _is_listed(self, first: Mention) -> bool:
        """Whether a list of options follows right below an option that comes before them."""
        item = ITEM.search(self.text, first.end)
        if not item or item[1] <= max(first.letters):
            return False
        between = self.text[first.end : item.start()]
        return bool(self.rest_of_line(first)) or not between.strip(AROUND)

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

    def is_glued_at(self, mention: Mention) -> bool:
        """Whether a mention is the letter that opens the response and runs into the text."""
        return self.is_glued and not mention.start and len(mention.letters) == 1

    def is_item(self, mention: Mention) -> bool:
        """Whether another option begins a line, so that the lines are a list."""
        return any(letters != mention.letters for letters in self._line_openers)

    @cached_property
    def _line_openers(self) -> list[frozenset[str]]:
        """The options that begin a line."""
        openers = []
        line = -1
        for mention in self.mentions:
            start = self.line_start(mention)
            if start == line:
                continue
            line = start
            before = self.text[start : mention.start][-60:]
            if not SAYS["option_word"].sub("", before).strip(AROUND):
                openers.append(mention.letters)
        return openers

    def continues_list(self, mention: Mention) -> bool:
        """Whether a letter is the next item of a list, which may be cut off there."""
        before = self.text[: self.line_start(mention)].rstrip("\n").split("\n")
        letters = ""
        for line in reversed(before):
            item = ITEM.match(f"\n{line}")
            if not item:
                break
            letters = item[1] + letters
        if len({*letters}) < len(letters):  # a loop
            return True
        previous = chr(ord(min(mention.letters)) - 1)
        return letters[-1:] == previous and [*letters] == sorted(letters) != [previous]

    def is_parallel(self, first: Mention) -> bool:
        """Whether the next option follows in the same construction: "A: 25 %, B: 50 %"."""
        form = self._form(first)
        if form and form in map(self._form, self._others(first)):
            return True
        labels = [*SAYS["label"].finditer(self.text, first.start)]
        others = [label for label in labels[1:] if label["letter"] not in first.letters]
        if not others or labels[0].start() > first.start:
            return False
        label, other = labels[0], others[0]
        if ord(other["letter"]) != ord(max(first.letters)) + 1:
            return False
        if (label["sign"], not label["rest"]) != (other["sign"], not other["rest"]):
            return False
        between = self.text[label.end() : other.start()]
        return not SAYS["explains"].search(between)

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
        if not corrects:
            return False
        return not SAYS["confirmed"].search(self.text, corrects.end())

    def is_related(self, mention: Mention) -> bool:
        """Whether an option's text is said of what the question asks for, or of nothing else."""
        name = self.text[mention.start : mention.end]
        if mention.lettered or SAYS["yes_or_no"].fullmatch(name):
            return True
        start, end = mention.sentence
        before = SAYS["comma"].split(self.text[start : mention.start])[-1]
        if SAYS["settles"].search(before) and self.text[mention.end :][:1] != " ":
            return True
        names = {*SAYS["name"].findall(before)}
        if names and self.shown.names and not names & self.shown.names:
            return False
        after = self.text[mention.end : end]
        clause = f"{before} {SAYS['comma'].split(after)[0]}"
        if self._has_asked_degree(after) or self._is_in_other_language(clause):
            return True
        return bool(words_of(clause) & self.shown.words) or self._is_settled(mention)

    def _has_asked_degree(self, words: str) -> bool:
        """Whether words have a superlative of the question."""
        wanted = SAYS["superlative"].findall(self.shown.asked)
        return any(degree in words.lower() for degree in wanted)

    def _is_in_other_language(self, words: str) -> bool:
        """Whether words, apart from names, are all in another language than the question."""
        languages = {word.isascii() for word in self.shown.words}
        written = words_of(re.sub("[A-Z][a-z]+", " ", words))
        return not any(word.isascii() in languages for word in written)

    def _is_settled(self, mention: Mention) -> bool:
        """Whether a sentence says that an option is what is asked for, or "C and not B"."""
        if self.is_fulfilled(mention):
            return True
        following = self.mentions_between(mention.end, mention.sentence[1])[:1]
        return any(other.stance == REFUTED for other in following)

    def is_fulfilled(self, mention: Mention) -> bool:
        """Whether a sentence ends with saying that an option is what the question asks for."""
        rest = self.text[mention.end : mention.sentence[1]].rstrip()
        named = SAYS["fulfilled"].fullmatch(rest)
        if not named or SAYS["denied"].search(named["what"]):
            return False
        return set() < words_of(named["what"]) <= self.shown.words

    def _sentence(self, mention: Mention) -> tuple[int, int]:
        """Where the sentence around a mention starts and ends."""
        index = bisect_right(self._edges, mention.start)
        start, end = self._edges[index - 1 : index + 1]
        previous = self._edges[max(0, index - 2)]
        line, _, lead = self.text[previous : mention.start].rpartition("\n")
        if not line or SAYS["option_word"].sub("", lead).strip(AROUND):
            return start, end
        if SAYS["walk_through"].search(line):
            return start, end
        rest = self.rest_of_line(mention)  # 答案是：⏎B
        if not SAYS["leads_to" if rest else "leads_on"].search(line):
            return start, end
        is_item = rest and self._is_list_item(mention, start)
        is_led = not (is_item or (lead and self._is_one_of_two(mention)))
        return (previous if is_led and not self.is_parallel(mention) else start), end

    def _is_one_of_two(self, mention: Mention) -> bool:
        """Whether the line below has only another option."""
        below = self.text.find("\n", mention.end) + 1
        for other in self.mentions_between(below, below + _LINE) if below else ():
            lead = SAYS["option_word"].sub("", self.text[below : other.start])
            if not lead.strip(AROUND) and self.ends_line(other):
                return other.letters != mention.letters
        return False

    def _is_list_item(
        self,
        mention: Mention,
        start: int,
    ) -> bool:
        """Whether a line with an option and more is one of several items."""
        if not mention.spelled and ITEM.search(self.text, 0, start):
            return True
        return bool(ITEM.match(self.text, self.text.find("\n", mention.end)))

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
        if self.several and SAYS["unsure"].match(words.after):
            return HEDGED
        if self.several and stance in (NAMED, AFFIRMED):
            around = words.clause[-60:] + self.text[mention.end : mention.end + 4]
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

    def _others(self, first: Mention) -> list[Mention]:
        """The other options that begin a sentence after an option's text."""
        if not first.spelled:
            return []
        later = [mention for mention in self.mentions if mention.start > first.end]
        others = [mention for mention in later if mention.letters != first.letters]
        return [*filter(self._opens_clause, others)]

    def _opens_clause(self, mention: Mention) -> bool:
        """Whether a mention is the first thing in its sentence, or after a semicolon."""
        lead = self.text[mention.sentence[0] : mention.start]
        return not lead.rpartition(";")[2].strip(AROUND)

    def _form(self, mention: Mention) -> tuple[bool, str] | None:
        """How an option is written, and the sign between it and what is said of it."""
        sign = self.text[mention.end :].lstrip(" )")[:1]
        return (mention.lettered, sign) if sign in (*":-=→(✓✗",) else None


StanceRule = Callable[[Words], int | None]


def ticked_box(words: Words) -> int | None:
    """A check box before an option: a ticked one chooses it, an empty one rejects it.

    Why: models answer in forms, and name the rejected options there, too.

    Examples:
        - [ ] A. 大嶼山⏎- [x] C. 長洲 → C
        ☐A ☐B ☑C ☐D → C
    """
    mark = words.view.text[: words.mention.start].rstrip(" (")[-1:]
    if mark == "■":
        return CHOSEN
    return REFUTED if mark == "□" else None


def mark_before(words: Words) -> int | None:
    """A tick or a cross before an option, in a line that begins with one.

    Why: "❌ B ✅ C" says that C is right; by the rule for words after a mention, B would be.

    Examples:
        ❌ B ✅ C → C
        ❌ A ❌ B ❌ C ✅ D → D
    """
    start = words.view.line_start(words.mention)
    line = words.view.text[start : words.mention.start].lstrip()
    if line[:1] not in ("✓", "✗") or line.rstrip(" (")[-1:] not in ("✓", "✗"):
        return None
    is_right = line.rstrip(" (")[-1] == "✓"
    if words.view.shown.denied and SAYS["truth"].search(words.view.shown.denied):
        is_right = not is_right
    return AFFIRMED if is_right else REFUTED


def questioned(words: Words) -> int | None:
    """An option in a question counts only after words that name the answer.

    Why: models think aloud in questions.

    Examples:
        長洲嗎 → none
        B啱嗎？唔啱。 → none
        Is it B? → none
    """
    if not SAYS["asked"].match(words.rest) or words.view.is_glued_at(words.mention):
        return None
    stance = _replied(words) if "?" in words.rest else None
    if stance is not None:
        return stance
    is_last = not words.view.text[words.mention.end :].strip(" )?")
    return None if is_last and SAYS["firm"].search(words.lead) else IGNORED


def _replied(words: Words) -> int | None:
    """The stance of the reply to a question about an option: 「BD啱嗎？唔啱。」."""
    _, _, after = words.view.text[words.mention.end :].partition("?")
    reply = SAYS["reply"].match(after)
    if reply:
        return REFUTED if reply["no"] else AFFIRMED
    if words.rest.strip(" )") != "?":
        return None
    near = words.view.text[words.mention.end : words.mention.end + 20]
    if SAYS["refuted"].match(near):
        return REFUTED
    return AFFIRMED if SAYS["affirmed"].match(near) else None


def not_own(words: Words) -> int | None:
    """A condition, a doubt, a first thought, a common mistake or another's view is not a decision.

    Why: a response weighs options before it chooses.

    Examples:
        好多人以為係 B，其實係 C。 → C
        你話揀 B，我唔同意，係 C。 → C
        If the bridge counted, the answer would be B. → none
    """
    if words.mention.lettered and SAYS["ticks"].match(words.after.lstrip(" )")):
        return None  # Let me check: A ✗
    if SAYS["disagreed"].match(words.view.text, words.mention.end):
        return IGNORED
    own = SAYS["contrast"].split(words.lead)[-1]
    if SAYS["that_is"].search(words.lead) and not words.is_closed:
        own = words.lead  # 佢話搭的士,即是的士貴
    return IGNORED if SAYS["not_own"].search(own) else None


def supposed(words: Words) -> int | None:
    """Words after an option say under which condition it would be right.

    Examples:
        B would be correct if we asked for the largest one. → none
    """
    return IGNORED if SAYS["supposed"].match(words.rest) else None


def likewise(words: Words) -> int | None:
    """The stance to the option before holds for this one, too.

    Examples:
        A is right, and so is B. → none
    """
    if not SAYS["likewise"].search(words.clause):
        return None
    mentions = words.view.mentions
    index = mentions.index(words.mention)
    return min(mentions[index - 1].stance, AFFIRMED) if index else NAMED


def called_wrong(words: Words) -> int | None:
    """Words like 「錯誤的是」 before an option refute it, unless the question asks for that.

    Examples:
        錯誤嘅係 A、B、D。 → C
        The wrong ones are A, B and D. → C
    """
    if words.view.shown.denied:
        return None
    if words.view.several and SAYS["labelled_not"].search(words.lead):
        return REFUTED  # 哺乳類：A、C⏎非哺乳類：B、D
    is_denied = SAYS["asks_negatively"].search(words.view.shown.asked)
    if not is_denied and _names_what_is_not_so(words, words.lead):
        return REFUTED
    return REFUTED if SAYS["called_wrong"].search(words.lead) else None


def _names_what_is_not_so(
    words: Words,
    lead: str,
) -> bool:
    """Whether a lead announces the options without the property that the question asks for."""
    named = SAYS["not_so_is"].search(lead)
    if not named:
        return False
    said = (named["said"] or named["han"]).strip().lower()
    shown = words.view.shown
    return said in shown.asked or set() < words_of(said) <= shown.words


def negated(words: Words) -> int | None:
    """A negation or an exclusion before an option refutes it.

    Examples:
        唔係 B，係 C。 → C
        排除 A、B 同 D。 → C
    """
    if not SAYS["negated"].search(words.clause):
        return None
    if SAYS["nothing_but"].search(words.clause):
        return CONCLUDED
    if SAYS["perhaps_not"].search(words.clause):
        return IGNORED
    if not words.view.shown.denied:
        return REFUTED
    is_answer = bool(SAYS["excepting"].search(words.clause))
    is_answer = is_answer or _names_what_is_not_so(words, words.clause)
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
    if mention.spelled or not mention.letters <= words.view.shown.named:
        return None
    if not SAYS["name"].search(words.view.text, mention.start, mention.end):
        return None  # by its position
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
    if _has_like_line(words) or SAYS["before_walk"].search(near):
        return None
    is_only = SAYS["only"].search(near) and not SAYS["refuted"].match(words.after)
    is_closing = words.is_closed and (
        SAYS["concludes"].search(near)
        or (words.mention.lettered and SAYS["copula"].search(words.clause[-60:]))
    )
    return _tempered(words, CONCLUDED) if is_only or is_closing else None


def _has_like_line(words: Words) -> bool:
    """Whether others have such a label, too: 「面：6⏎角：8⏎邊：12」, "Second: A. Third: B."."""
    if not _line_label(words.view, words.mention):
        return False
    return any(
        mention.letters != words.mention.letters and _line_label(words.view, mention)
        for mention in words.view.mentions
    )


def _line_label(view: Statements, mention: Mention) -> str:
    """The label in a line or sentence right before an option, unless it announces the answer."""
    start = max(view.line_start(mention), view.sentence_start(mention.start))
    lead = view.text[start : mention.start].strip(" (")
    is_label = lead.endswith(":") and lead.count(":") == 1 and len(lead) < _LINE
    return "" if not is_label or SAYS["verdict_label"].search(lead) else lead


def restated(words: Words) -> int | None:
    """A clause is the question with an option in place of its question word.

    Examples:
        (最細嘅島係邊個？) 最細嘅島係長洲，最大嘅島係大嶼山。 → C
        (Which island has no roads?) 長洲 has no roads. 坪洲 has one road. → C
    """
    shown = words.view.shown
    clause = words.clause.strip(AROUND).lower()
    if shown.subject and clause.removeprefix("the ") == shown.subject:
        return _tempered(words, CONCLUDED) if words.is_closed else None
    after = words.after.lower().lstrip(" )")
    if not shown.predicate or not after.startswith(shown.predicate):
        return None
    rest = after[len(shown.predicate) :]
    return AFFIRMED if not rest or SAYS["clause_end"].match(rest) else None


def set_apart(words: Words) -> int | None:
    """An option is unlike all others, or surpasses them in the degree that the question asks for.

    Examples:
        (Which island is the smallest?) 長洲 is smaller than 大嶼山, 南丫島 and 坪洲. → C
        (邊個島冇車？) 長洲冇車，唔似大嶼山、南丫島同坪洲。 → C
    """
    view = words.view
    apart = SAYS["set_apart"].match(words.rest)
    if not apart or view.shown.denied:
        return None
    start, end = words.mention.end, words.mention.sentence[1]
    others = letters_of(view.mentions_between(start + apart.end(), end))
    if others != view.shown.texts.keys() - words.mention.letters:
        return None
    if view.mentions_between(start, start + apart.end()):
        return None
    degree = apart["degree"]
    return None if degree and f"{degree}est" not in view.shown.asked else AFFIRMED


def dismissed(words: Words) -> int | None:
    """The sentence on an option ends with calling it wrong.

    Examples:
        C係第二細，所以唔啱。 → none
        C睇落細，其實大，係陷阱。 → none
        A is the largest, so it is out. B is in the south, so it is out. D is near, so it is out. → C
    """
    if words.view.shown.denied or not SAYS["dismissed"].match(words.rest):
        return None
    return REFUTED


def fulfilled(words: Words) -> int | None:
    """The sentence on an option ends with saying that it is what the question asks for.

    Examples:
        (邊個係離島？) 第三個喺海中心，冇橋到，所以係離島。 → C
        (Which island is car-free?) 長洲 has narrow lanes, so it is car-free. → C
    """
    lead = words.lead.strip(AROUND).lower()
    if words.view.shown.denied or lead not in ("", "the", "a", "an"):
        return None
    return AFFIRMED if words.view.is_fulfilled(words.mention) else None


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
    if words.view.several or not words.view.is_glued_at(words.mention):
        return None
    if words.view.shown.denied:
        after = words.after
        is_statement = after[:1] in {*"是属"} or SAYS["affirmed"].match(after)
        return _judged(words, after) or (NAMED if is_statement else HEDGED)
    if SAYS["refuted"].match(words.after[:6]):
        return REFUTED
    for other in words.view.mentions[1:]:  # A睇落細，B睇落大
        is_alike = words.view.text[other.end : other.end + 1] == words.after[:1]
        if other.lettered and is_alike:
            return NAMED
    return HEDGED


def alone(words: Words) -> int | None:
    """An option that is a whole clause, at the end or after another clause, is a conclusion.

    Examples:
        我揀 A。唔係，C。 → C
        呢題好易，C。 → C
    """
    mention = words.mention
    view = words.view
    if words.is_remark or view.continues_list(mention) or words.after[:1] == ":":
        return None
    sign = words.sign_before
    if sign == "、":
        return None  # a list that begins with something else
    ending = SAYS["sure_end"].sub("", words.rest).strip(" \n")
    if ending.strip(".。!)") or not (ending or sign in ("\n", "?", "=")):
        return None
    is_last = not SAYS["sure_end"].sub("", view.text[mention.end :]).strip(AROUND)
    if sign == "=":
        is_alone = is_last and view.is_related(mention)
    elif words.clause.strip(AROUND):
        is_alone = False
    else:
        is_alone = is_last or bool(SAYS["comma"].search(words.lead))
    return CONCLUDED if is_alone else None


def judged(words: Words) -> int | None:
    """Words after an option, or a short line below it, call it right or wrong.

    If the question asks for what is not true, they mean the contrary.

    Examples:
        B 太大，C 啱。 → C
        A ✗⏎B ✗⏎C ✓⏎D ✗ → C
    """
    view = words.view
    mention = words.mention
    below = SAYS["verdict_below"].match(view.text, mention.end)
    if below and view.is_item(mention):
        line = view.text[below.end() :].partition("\n")[0]
        if view.mentions_between(below.end(), below.end() + len(line)):
            return None
        return _judged(words, view.text[below.end() : mention.end + 60])
    if not words.lead.strip(AROUND) and view.mentions_between(*mention.sentence) == [
        mention
    ]:
        after = SAYS["rest_wrong"].sub("", words.after)
        return _judged(words, after.replace(",", "-"))
    return _judged(words, words.after)


def likened(words: Words) -> int | None:
    """A result or a description leads to an option: 「即係…」, "which gives".

    Examples:
        唔係坪洲，係長洲。 → C
        They correspond to C. → C
        The examiners are after 長洲. 坪洲 is a trap. → C
    """
    near = words.clause[-60:]
    is_label = not words.mention.spelled and _has_like_line(words)
    if is_label or SAYS["before_walk"].search(near):
        return None
    start = words.mention.end
    end = start + len(SAYS["comma"].split(words.rest)[0])
    is_cleft = words.rest[:5] in (" that", " who ")
    is_cleft &= not words.view.mentions_between(start, end)
    if SAYS["settles"].search(near) and (words.is_closed or is_cleft):
        is_open = SAYS["contrast"].search(words.rest) or _goes_on(words)
        return None if is_open else AFFIRMED
    if not words.is_closed:
        return None
    is_like = SAYS["copula"].search(near) or SAYS["matches"].search(near)
    return AFFIRMED if is_like else None


def _goes_on(words: Words) -> bool:
    """Whether a sentence goes on with other values: "at noon it's 20, at night 12"."""
    view = words.view
    others = view.mentions_between(words.mention.end, words.mention.sentence[1])
    if not view.shown.values or not others:
        return False
    between = view.text[words.mention.end : others[0].start]
    return not SAYS["denied"].search(between)


def as_asked(words: Words) -> int | None:
    """Words after an option say of it alone what the question asks for, or that it alone is so.

    Examples:
        (邊個島最細？) 長洲得兩平方公里多啲，係四個之中最細。 → C
        (邊個島最細？) C is only two square kilometres, second to the smallest. → none
        大嶼山同坪洲都有，長洲先至係。 → C
    """
    view = words.view
    if view.shown.denied:
        return None
    if SAYS["unlike"].search(words.rest):
        return None
    if SAYS["singled_out"].match(words.after) or SAYS["is_so"].match(words.after):
        return AFFIRMED
    if _is_described(words) or _has_asked_degree(words):
        return AFFIRMED
    return None


def _is_described(words: Words) -> bool:
    """Whether a clause says what the question asks for of an option that it describes."""
    described = SAYS["describes"].search(words.clause)
    if not described or not words.is_closed:
        return False
    return bool(words_of(described["named"]) & words.view.shown.words)


def _has_asked_degree(words: Words) -> bool:
    """Whether words after an option give it alone the degree that the question asks for."""
    view = words.view
    wanted = {*SAYS["superlative"].findall(view.shown.asked)}
    degree = SAYS["superlative"].search(words.rest)
    if not degree or degree[0].lower() not in wanted:
        return False
    end = words.mention.end + degree.end()
    if len(view.mentions_between(words.mention.start, end)) > 1:
        return False
    if SAYS["denied"].search(words.rest[: degree.start()]):
        return False
    if SAYS["superlative_end"].match(words.rest, degree.end()):
        return True
    thing = SAYS["words"].match(words.rest[degree.end() :].lstrip())
    return bool(thing and (thing[1] or thing[0]).lower() in view.shown.words)


STANCE_RULES: tuple[StanceRule, ...] = (
    ticked_box,
    mark_before,
    questioned,
    not_own,
    supposed,
    likewise,
    called_wrong,
    negated,
    claimed,
    announced,
    thing,
    concluded,
    restated,
    set_apart,
    dismissed,
    fulfilled,
    conceded,
    glued,
    alone,
    judged,
    likened,
    as_asked,
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
    if stance == AFFIRMED and _is_own_text(words, after):
        return None
    if words.view.shown.denied:
        stance = _of_exception(words, after, stance)
    if stance == AFFIRMED and SAYS["then"].search(words.lead[-60:]):
        return CONCLUDED
    return stance


def _is_own_text(words: Words, after: str) -> bool:
    """Whether the words that call an option right are part of its text."""
    affirmed = SAYS["affirmed"].match(after)
    said = affirmed[0].strip(AROUND).lower() if affirmed else ""
    texts = words.view.shown.texts
    own = [texts.get(letter, "") for letter in words.mention.letters]
    return len(said) > _OWN and any(said in text for text in own)


def _verdict(after: str) -> int | None:
    """Whether the words after a mention call it right or wrong."""
    refuted = SAYS["refuted"].match(after)
    affirmed = SAYS["affirmed"].match(after)
    if affirmed and (not refuted or refuted.end() > affirmed.end()):
        return AFFIRMED
    return REFUTED if refuted else None


def _of_exception(
    words: Words,
    after: str,
    verdict: int | None,
) -> int | None:
    """The stance towards an option if the question asks for the exception."""
    is_truth = SAYS["truth"].search(
        words.view.shown.denied
    )  # of statements, not things
    if verdict == REFUTED or SAYS["excepted"].match(after):
        return AFFIRMED
    if verdict == AFFIRMED and not is_truth:
        return AFFIRMED
    if verdict == AFFIRMED or _repeats_question(words, after):
        return REFUTED
    return None


def _repeats_question(
    words: Words,
    after: str,
) -> bool:
    """Whether the words after a mention say of it what the question denies."""
    if SAYS["closed"].match(after):
        return False
    if len(words.mention.letters) == len(words.view.shown.texts) - 1:
        return True
    said = SAYS["words"].finditer(re.split("[,。;.\n]", after.lower())[0])
    return any((word[0] or word[1]) in words.view.shown.denied for word in said)


def letters_of(mentions: Iterable[Mention]) -> frozenset[str]:
    """The letters of several mentions."""
    return frozenset().union(*(mention.letters for mention in mentions))
