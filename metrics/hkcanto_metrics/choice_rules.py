"""How a response settles on one option: the rules, in order.

`LETTER_RULES` is the ordered list. Each rule gets the statements of a response and returns a
decision, or `None` to leave it to the next rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from hkcanto_metrics.choice_statements import (
    AFFIRMED,
    CHOSEN,
    CONCLUDED,
    HEDGED,
    IGNORED,
    ITEM,
    NAMED,
    REFUTED,
    Statements,
    letters_of,
)
from hkcanto_metrics.decision_words import AROUND, SAYS
from hkcanto_metrics.number import parse_number
from hkcanto_metrics.option_grammar import Mention, words_of

_CLOSING = 150  # characters that may follow a conclusion
_SHORT = 60  # characters of a last line that only concludes
_WEAK = {NAMED, AFFIRMED, REFUTED}


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision of a rule.

    Attributes:
        letters: The letters of the options; empty if the response settles on none.
        reason: The reason, as `ChoiceReading` has it.
        mention: Where the response says so.
    """

    letters: frozenset[str]
    reason: str
    mention: Mention | None = None


LetterRule = Callable[[Statements], Decision | None]


def unread(reason: str) -> Decision:
    """The decision that a response settles on nothing."""
    return Decision(frozenset(), f"none: {reason}")


def unnamed(view: Statements) -> Decision:
    """No option is named as the answer: it was refused, or nothing was decided."""
    is_refused = SAYS["refused"].search(view.text)
    return unread("refusal" if is_refused else "undecided")


def last_line(view: Statements) -> Decision | None:
    """The last line that mentions options names one, or calls one right, and says nothing more.

    Why: a response is read to its end. Its end settles what was weighed above.

    Examples:
        B 睇落似，但佢唔係最細。⏎⏎C → C
        初步判斷係 B。再睇面積，C 先細。⏎⏎選項C正確。 → C
        排除 A、B，剩下 C 同 D。C 細啲。⏎⏎因此，選項 C 是正確的。 → C
    """
    here = _closing_line(view)
    if not here:
        return None
    if _repeats_line_above(view, here):
        return unread("several")
    last, start = here[-1], view.line_start(here[-1])
    lead = view.text[start : here[0].start]
    if _is_bare_line(view, here, lead):
        is_line = last.lettered and not _is_one_of_several_lines(view, last)
        is_short = not view.text[last.end :].strip(AROUND)
    elif last.stance == AFFIRMED:
        is_line = last.lettered and _is_verdict(view, last, lead)
        is_short = True
    else:
        is_line = last.stance >= CONCLUDED
        is_short = last.lettered and len(view.text) - start < _SHORT
    is_line = is_line and (is_short or not _decided_elsewhere(view, last))
    return Decision(last.letters, "last line", last) if is_line else None


def _closing_line(view: Statements) -> list[Mention]:
    """The mentions of one option in the last line that has any, if it closes the response."""
    last = view.mentions[-1]
    start, end = view.line_start(last), last.end
    here = [mention for mention in view.mentions if mention.end > start]
    if not start or letters_of(here) != last.letters:
        return []
    if last.stance in (IGNORED, REFUTED, HEDGED) or len(view.text) - end > _CLOSING:
        return []
    if SAYS["dangling"].match(view.text, end) or SAYS["corrects"].search(
        view.text, start
    ):
        return []
    return here


def _is_bare_line(
    view: Statements,
    here: list[Mention],
    lead: str,
) -> bool:
    """Whether a line consists of mentions and signs."""
    between = [view.text[a.end : b.start] for a, b in pairwise(here)]
    around = "".join([lead, *between, view.rest_of_line(here[-1])])
    return not around.strip(AROUND + "(#■=>-")


def _repeats_line_above(view: Statements, here: list[Mention]) -> bool:
    """Whether the line above says the same of another option.

    Examples:
        最細嘅島係南丫島。⏎最細嘅島係長洲。 → none
    """
    last = here[-1]
    start = view.line_start(last)
    lead = view.text[start : here[0].start]
    above = view.text.rfind("\n", 0, start - 1) + 1
    if not lead.strip(AROUND) or last.stance < AFFIRMED:
        return False
    for other in view.mentions_between(above, start):
        is_other = other.letters != last.letters and other.stance >= last.stance
        if is_other and view.text[above : other.start] == lead:
            return not view.is_turn(other, last, "revised")
    return False


def _is_one_of_several_lines(view: Statements, last: Mention) -> bool:
    """Whether a bare line belongs to a list, a walk through the options or an explanation."""
    if view.continues_list(last) or _is_one_of_ticked(view, last):
        return True
    return _is_one_of_headings(view, last) or _is_in_explanation(view, last)


def _is_one_of_headings(view: Statements, last: Mention) -> bool:
    """Whether lines with an option each head paragraphs, and this one is the last of them."""
    headings = [
        mention.letters
        for mention in view.mentions
        if mention.is_full
        and view.ends_line(mention)
        and view.line_start(mention) == mention.start
    ]
    letters = "".join(min(letters) for letters in headings)
    is_walk = len(letters) > 2 and letters == "".join(sorted({*letters}))
    return is_walk and letters[-1] in last.letters


def _is_in_explanation(view: Statements, last: Mention) -> bool:
    """Whether a last line is part of the explanation of another option, which was announced."""
    for other in view.with_stance(CHOSEN):
        is_other = other.letters != last.letters and other.start < last.start
        if is_other and SAYS["explained"].match(view.text, other.end):
            return not view.is_turn(other, last, "revised")
    return False


def _is_one_of_ticked(view: Statements, last: Mention) -> bool:
    """Whether the last line has a tick, and another option has one, too."""
    ticked = {
        mention.letters
        for mention in view.mentions
        if view.text[mention.end :].lstrip(" )")[:1] == "✓"
    }
    return last.letters in ticked and len(ticked) > 1


def _is_verdict(
    view: Statements,
    last: Mention,
    lead: str,
) -> bool:
    """Whether a line that calls an option right is the conclusion, and not one of several."""
    rest = view.text[last.end :].partition("\n")[0]
    if not SAYS["verdict"].fullmatch(rest) or SAYS["also"].search(lead + rest):
        return False
    if SAYS["finally"].search(lead) or SAYS["exclusive"].search(rest):
        return True
    for other in view.with_stance(AFFIRMED):
        line = view.text[view.line_start(other) :].partition("\n")[0]
        is_like = other.letters != last.letters and view.opens_sentence(other)
        if is_like and not SAYS["contrast"].search(line):
            return False
    return True


def _decided_elsewhere(
    view: Statements,
    last: Mention,
) -> bool:
    """Whether words as firm decide for another option."""
    decided = [m for m in view.mentions if m.stance > max(last.stance, HEDGED)]
    return bool(letters_of(decided) - last.letters)


def marked_one(view: Statements) -> Decision | None:
    """Each option has an item, and only one a tick; or all a tick or a cross, and one the other.

    Why: in a full list, the item that is marked otherwise is the answer, even where the question
    asks for the exception, and the ticks may mean "is so" or "is the answer".

    Examples:
        A. 大嶼山 147⏎B. 南丫島 14⏎C. 長洲 2.5 ✓⏎D. 坪洲 1 → C
        (Which island is NOT large?) A ✓ large⏎B ✓ large⏎C ✗ small⏎D ✓ large → C
        (邊個島唔大？) 對照：A ✓ 大，B ✓ 大，C ✗ 細，D ✓ 大。 → C
    """
    if not SAYS["ticks"].search(view.text) or SAYS["truth"].search(view.shown.denied):
        return None
    marks = _item_marks(view)
    if len(marks) < max(3, len(view.shown.texts)):
        return None
    every = [*marks.values()]
    for letter, mark in marks.items():
        others = {*every} - {mark}
        if every.count(mark) > 1 or len(others) > 1:
            continue
        if mark == "✓" or (mark and view.shown.denied):
            mention = next(m for m in view.mentions if letter in m.letters)
            return Decision(frozenset(letter), "affirmed", mention)
    return None


def one_called_right(view: Statements) -> Decision | None:
    """The response is a list of all options, and only one of them is called right there.

    Examples:
        A⏎B⏎C ← correct⏎D → C
        A. 大嶼山⏎B. 南丫島⏎C. 長洲（正確）⏎D. 坪洲 → C
        A⏎B⏎C ← wrong⏎D → none
    """
    items = [*SAYS["option_line"].finditer(view.text)]
    texts = view.shown.texts
    lines = [*filter(str.strip, view.text.split("\n"))]
    if [item["letter"] for item in items] != sorted(texts) or len(lines) > len(items):
        return None
    remarks = [
        item["rest"].lower().replace(texts[item["letter"]], "") for item in items
    ]
    said = [remark.strip(AROUND + "<←-()[]") for remark in remarks]
    right = [item for item, words in zip(items, said, strict=True) if _is_right(words)]
    is_plain = said.count("") >= len(items) - max(1, len(right))
    if not is_plain or SAYS["truth"].search(view.shown.denied):
        return None
    if len(right) != 1:
        return unread("several")
    return _decision_at(right[0])


def _is_right(words: str) -> bool:
    """Whether the words beside an option only call it right."""
    return bool(SAYS["verdict"].fullmatch(words))


def _decision_at(item: re.Match[str]) -> Decision:
    """The decision for the option whose letter a line has."""
    letters = frozenset(item["letter"])
    place = Mention(letters, item.start("letter"), item.end("letter"))
    return Decision(letters, "affirmed", place)


def _item_marks(view: Statements) -> dict[str, str]:
    """The tick or cross in the line of each option, if each has a line, and nothing else does."""
    together = SAYS["line_of_ticks"].search(view.text)
    if together:
        return _marks_in_line(view, *together.span())
    marks: dict[str, str] = {}
    for mention in view.mentions:
        line = view.text[mention.end :].partition("\n")[0]
        signs = SAYS["ticks"].findall(line)
        letters = "".join(mention.letters)
        is_item = not view.text[view.line_start(mention) : mention.start].strip(AROUND)
        if not is_item or letters in marks or len(letters) > 1 or len(signs) > 1:
            return {}
        marks[letters] = "".join(signs)
    return marks


def _marks_in_line(
    view: Statements,
    start: int,
    end: int,
) -> dict[str, str]:
    """The tick or cross right after each option of a line, if each has one: 「A ✓，B ✗，C ✓」."""
    marks: dict[str, str] = {}
    for mention in view.mentions_between(start, end):
        sign = view.text[mention.end :].lstrip(" )")[:1]
        letters = "".join(mention.letters)
        if sign not in ("✓", "✗") or len(letters) > 1 or letters in marks:
            return {}
        marks[letters] = sign
    return marks


def likeliest(view: Statements) -> Decision | None:
    """Each option has a share or points: the one with more than half of them is the answer.

    Examples:
        A（10%）B（5%）C（80%）D（5%） → C
        A 1分，B 0分，C 9分，D 3分。 → C
        A: 25%, B: 25%, C: 25%, D: 25% → none
    """
    found = [*SAYS["share"].finditer(view.text)]
    shares = {m["letter"]: float(m["part"] or m["share"]) for m in found}
    if len(shares) < 2 or view.shown.values:
        return None
    if not letters_of(view.mentions) <= shares.keys() <= view.shown.texts.keys():
        return None
    total = sum(shares.values())
    if found[0]["percent"]:
        total = max(100, total)
    is_whole = shares.keys() == view.shown.texts.keys() or found[0]["percent"]
    letter = max(shares, key=shares.__getitem__)
    if not is_whole or total > 101 or 2 * shares[letter] <= total:
        return None
    mention = next(m for m in view.mentions if letter in m.letters)
    return Decision(frozenset(letter), "stated", mention)


def every_one(view: Statements) -> Decision | None:
    """Each option is announced as the answer in the same words: a loop through the options.

    Examples:
        答案：A⏎大⏎答案：B⏎長⏎答案：C⏎細⏎答案：D → none
    """
    announced = view.with_stance(CHOSEN)
    leads: dict[str, set[str]] = {}
    for mention in announced if len(announced) > 2 else ():
        lead = view.text[view.line_start(mention) : mention.start]
        if len(mention.letters) == 1 and lead.strip(AROUND):
            leads.setdefault(lead, set()).update(mention.letters)
    is_every = any(letters >= view.shown.texts.keys() for letters in leads.values())
    return unread("several") if is_every else None


def remaining(view: Statements) -> Decision | None:
    """All options but one are named, and "the remaining one" is what they are not.

    Examples:
        大嶼山、南丫島同坪洲都有車，剩低嗰個就係答案。 → C
        A, B and D are far larger. The remaining one is tiny. → C
    """
    named = SAYS["the_remaining"].search(view.text)
    if not named or view.mentions_between(named.start(), len(view.text)):
        return None
    left = view.shown.texts.keys() - letters_of(view.mentions)
    if len(left) != 1 or len(view.shown.texts) < 3 or not view.is_finished:
        return None
    if any(mention.stance == CHOSEN for mention in view.mentions):
        return None
    return Decision(frozenset(left), "eliminated", view.mentions[-1])


def first_line(view: Statements) -> Decision | None:
    """The first line is just an option, and nothing below revises it.

    Why: an answer comes first and its explanation below, which names other options, too.

    Examples:
        C⏎⏎解釋：A、B 都大過佢。 → C
        A⏎⏎等等，計錯咗。更正：C → C
    """
    opening = view.opening
    if not opening or not view.ends_line(opening):
        return None
    if _later_decisions(view, opening) or view.is_corrected(opening):
        return None
    return Decision(opening.letters, "first line", opening)


def _decisions(view: Statements) -> list[Mention]:
    return [mention for mention in view.mentions if mention.stance >= HEDGED]


def _later_decisions(
    view: Statements,
    opening: Mention,
) -> list[Mention]:
    """The decisions below a first line that revise it."""
    turn = "revised" if len(opening.letters) == 1 else "contrast"
    return [
        mention
        for mention in _decisions(view)[1:]
        if view.is_turn(opening, mention, turn) or _is_final(view, mention)
    ]


def _is_final(
    view: Statements,
    mention: Mention,
) -> bool:
    """Whether a choice is the conclusion at the end of a response."""
    is_chosen = mention.stance == CHOSEN and len(view.text) - mention.end < _CLOSING
    lead = view.text[mention.sentence[0] : mention.start]
    return is_chosen and bool(SAYS["finally"].search(lead))


def firmest(
    view: Statements,
    decisions: list[Mention],
) -> Mention:
    """The last of the firmest decisions, or a later one that revises it."""
    level = max(mention.stance for mention in decisions)
    last = [mention for mention in decisions if mention.stance == level][-1]
    for later in decisions:
        if later.start > last.end and view.is_turn(last, later, "revised"):
            last = later
    return last


def last_decision(view: Statements) -> Decision | None:
    """The last of the firmest decisions; two in one sentence are ambiguous.

    A bare correction takes it back.

    Examples:
        答案係 B。唔係，答案係 C。 → C
        答案係 B。等等，我計錯咗。 → none
        可能係 A，亦可能係 B。 → none
    """
    decisions = _standing_decisions(view)
    if not decisions:
        return None
    last = firmest(view, decisions)
    if any(
        _rivals(
            view,
            decisions,
            other,
            last,
        )
        for other in decisions
    ):
        return unread("several")
    if view.is_corrected(last) or _is_doubted(view, last) or _gives_up(view, last):
        return unread("undecided")
    is_chosen = any(mention.stance == CHOSEN for mention in decisions)
    if not is_chosen and not last.lettered and _breaks_off(view, last):
        return unread("cut off")
    return Decision(last.letters, "stated", last)


def _standing_decisions(view: Statements) -> list[Mention]:
    """The decisions that are not taken back; below a first line, only those that revise it."""
    decisions = _decisions(view)
    opening = view.opening
    if opening and view.ends_line(opening):
        decisions = _later_decisions(view, opening)
    return [mention for mention in decisions if not _is_taken_back(view, mention)]


def _rivals(
    view: Statements,
    decisions: list[Mention],
    other: Mention,
    last: Mention,
) -> bool:
    """Whether another decision is as firm and as near as the last one."""
    level = max(mention.stance for mention in decisions)
    if other.stance < min(level, CONCLUDED) or other.letters == last.letters:
        return False
    if level != HEDGED and other.sentence != last.sentence:
        return False
    return not SAYS["turn"].search(view.text, other.end, last.start)


def _is_doubted(view: Statements, last: Mention) -> bool:
    """Whether the response ends by holding another option for possible, too."""
    later = [mention for mention in view.with_stance(HEDGED) if mention.end > last.end]
    return any(
        mention.letters != last.letters and view.is_turn(last, mention, "contrast")
        for mention in later
    )


def _is_taken_back(view: Statements, decision: Mention) -> bool:
    """Whether the response says later that the answer is not this option."""
    for mention in view.with_stance(REFUTED):
        is_same = mention.letters == decision.letters and mention.start > decision.end
        lead = view.text[mention.sentence[0] : mention.start]
        if is_same and SAYS["answer_not"].search(lead):
            return True
    return False


def _gives_up(view: Statements, last: Mention) -> bool:
    """Whether "perhaps" is all that is said for one of several options before a refusal."""
    if last.stance != HEDGED or not SAYS["refused"].search(view.text, last.end):
        return False
    return letters_of(view.mentions) != last.letters


def _breaks_off(
    view: Statements,
    last: Mention,
) -> bool:
    rest = view.text[last.end :].strip(AROUND) and len(view.mentions) > 1
    is_open = rest and not view.is_finished
    return bool(is_open or SAYS["dangling"].search(view.text))


def cut_off(view: Statements) -> Decision | None:
    """A response that breaks off while it speaks of an option.

    Examples:
        A 正確。B → none
    """
    last = view.mentions[-1]
    others = [
        mention
        for mention in view.mentions[:-1]
        if mention.stance != AFFIRMED or mention.letters != last.letters
    ]
    is_more = last.stance == NAMED and others
    is_open = bool(is_more and not view.is_finished)
    if last.stance in (NAMED, AFFIRMED):
        is_open = is_open or bool(SAYS["dangling"].search(view.text, last.end))
    return unread("cut off") if is_open else None


def eliminated(view: Statements) -> Decision | None:
    """All options but one are called wrong, and none is called right.

    Examples:
        A 唔啱。B 唔啱。D 唔啱。 → C
        大嶼山大，南丫島長，坪洲遠，三個都唔啱。 → C
        除咗 C 之外，其他都唔啱。 → C
    """
    excepted = _excepted(view)
    if excepted:
        return Decision(excepted.letters, "eliminated", excepted)
    every, refuted = view.shown.texts.keys(), view.with_stance(REFUTED)
    refuted = refuted + _refuted_together(view)
    left = every - letters_of(refuted)
    if len(left) != 1 or len(every) < 3 or not view.is_finished:
        return None
    if _affirmed(view):
        return None
    return Decision(frozenset(left), "eliminated", refuted[-1])


def _excepted(view: Statements) -> Mention | None:
    """The only option that a response names, if it says that all but this one are wrong."""
    if view.shown.denied or len(letters_of(view.mentions)) != 1:
        return None
    but = SAYS["all_but_wrong"].search(view.text)
    if not but:
        return None
    inside = view.mentions_between(but.start(), but.end())
    return inside[0] if inside else None


def _refuted_together(view: Statements) -> list[Mention]:
    """The options named before words like "none of those three fits", if these are all but one."""
    none = SAYS["none_of_them"].search(view.text)
    if not none or view.shown.denied:
        return []
    rest = SAYS["clause_end"].split(view.text[none.end() :])[0]
    if "?" in rest or (words_of(rest) and not words_of(rest) & view.shown.words):
        return []
    named = view.mentions_between(0, none.start())
    stances = {mention.stance for mention in named}
    later = view.mentions_between(none.end(), len(view.text))
    if letters_of(named) & letters_of(later) or not stances <= {NAMED, REFUTED}:
        return []
    number = len(letters_of(named))
    counts = (none["count"], none["number"], none["few"], none["these"])
    is_counted = is_number("".join(filter(None, counts)), number)
    is_all_but_one = 2 < number == len(view.shown.texts) - 1
    return named if is_counted and is_all_but_one else []


def is_as_asked(
    view: Statements,
    place: int,
) -> bool:
    """Whether a clause after a place says only what the question asks for."""
    clause = SAYS["clause_end"].split(view.text[place:])[0]
    return "?" not in clause and words_of(clause) <= view.shown.words


def is_number(
    count: str | None,
    number: int,
) -> bool:
    """Whether a count is this number, or there is none."""
    return not count or parse_number(count) == number


def _named(view: Statements) -> list[Mention]:
    """The mentions that only name an option that is not called wrong."""
    gone = letters_of(view.with_stance(REFUTED))
    named = filter(view.is_related, view.with_stance(NAMED))
    return [mention for mention in named if not mention.letters <= gone]


def _affirmed(view: Statements) -> list[Mention]:
    """The mentions that call an option right."""
    return [
        mention
        for mention in view.with_stance(AFFIRMED)
        if view.is_related(mention)
        and not SAYS["varies"].search(view.text, mention.end)
    ]


def _still_affirmed(view: Statements) -> list[Mention]:
    """The mentions that call an option right and are not overtaken."""
    affirmed = _affirmed(view)
    if len(affirmed) > 1 and view.is_turn(affirmed[-2], affirmed[-1], "contrast"):
        affirmed = affirmed[-1:]
    if _is_sum(view):
        lettered = [mention for mention in affirmed if mention.lettered]
        affirmed = lettered or _results(view, affirmed) or affirmed
    refused = SAYS["refused"].search(view.text)
    if not refused:
        return affirmed
    return [m for m in affirmed if m.lettered or m.end >= refused.start()]


def _is_sum(view: Statements) -> bool:
    """Whether the response calculates, and the options are numbers."""
    return bool(view.shown.values and SAYS["sum"].search(view.text))


def _results(
    view: Statements,
    affirmed: list[Mention],
) -> list[Mention]:
    """The options that end a calculation."""
    candidates = _named(view) + affirmed
    return [m for m in candidates if not view.text[m.end :].strip(AROUND)]


def unfinished_sum(view: Statements) -> Decision | None:
    """A value that a calculation reaches, and goes on from.

    Examples:
        總數 = 12⏎再減 1 = 11 → none
    """
    if not _is_sum(view):
        return None
    affirmed = _still_affirmed(view)
    if not affirmed or affirmed[-1].lettered:
        return None
    goes_on = SAYS["result"].search(view.text, affirmed[-1].end)
    return unread("undecided") if goes_on else None


def refusal(view: Statements) -> Decision | None:
    """A refusal, unless an option's text says it, or an option is called right.

    Examples:
        我冇辦法確定，地圖淨係有長洲。 → none
    """
    refused = SAYS["refused"].search(view.text)
    if not refused or _still_affirmed(view):
        return None
    for mention in _named(view):
        if mention.start <= refused.start() < mention.end:
            return None
    return unnamed(view)


def last_sentence(view: Statements) -> Decision | None:
    """The one option that the last sentence or section names without leaving it open.

    Examples:
        面積要最細（見地圖）。C 講嘅就係呢個島。 → C
        ## 結論⏎四個島之中，最細嗰個就係 C 講嗰個。 → C
    """
    last = view.mentions[-1]
    start = _last_section(view, last)
    if start is None or _still_affirmed(view):
        return None
    if not _is_only_option(view, last, start) or _is_open(view, last, start):
        return None
    lead = SAYS["option_word"].sub("", view.text[start : last.start])
    words = lead + view.text[last.start : last.end]
    is_pointed = last.spelled and SAYS["points"].search(words)
    is_drawn = last.spelled or start < last.sentence[0]
    is_drawn = is_drawn or bool(SAYS["draws"].search(view.text, start))
    if is_pointed or (is_drawn and _is_letter_after_reason(view, last)):
        return Decision(last.letters, "last sentence", last)
    return None


def _last_section(
    view: Statements,
    last: Mention,
) -> int | None:
    """Where the last section or sentence starts, if it has the last mention."""
    headings = [match.start() for match in SAYS["heading"].finditer(view.text)]
    if headings:
        return min(headings[-1], last.sentence[0])
    if view.text[last.sentence[1] :].strip(AROUND):
        return None
    return last.sentence[0]


def _is_only_option(
    view: Statements,
    last: Mention,
    start: int,
) -> bool:
    """Whether a finished response names, from a place on, only one option, and does not refute it."""
    here = [mention for mention in view.mentions if mention.start >= start]
    stances = {mention.stance for mention in here}
    is_only = letters_of(here) == last.letters and stances <= {NAMED, AFFIRMED}
    return is_only and view.is_finished


def _is_open(
    view: Statements,
    last: Mention,
    start: int,
) -> bool:
    """Whether the last sentence leaves the answer open, or is one of several alike."""
    if SAYS["open"].search(view.text, start):
        return True
    named = [*filter(view.opens_sentence, view.with_stance(NAMED))]
    is_subject = view.opens_sentence(last) and last.stance == NAMED
    if is_subject and len({mention.letters for mention in named}) > 1:
        return True
    is_label = SAYS["label"].match(view.text, last.start)
    if not is_label or not view.is_parallel(view.mentions[0]):
        return False
    return not SAYS["finally"].search(view.text, last.sentence[0], last.start)


def _is_letter_after_reason(
    view: Statements,
    last: Mention,
) -> bool:
    """Whether a mention is an option's letter, not part of a name, and follows a reason."""
    lead, after = view.text[: last.start], view.text[last.end : last.end + 60]
    if not last.lettered or not SAYS["pause"].search(lead, 1):
        return False
    is_name = last.letters & view.shown.names or SAYS["noun"].match(after)
    return bool(last.spelled or not (is_name or SAYS["beside"].search(lead[-9:])))


def having_property(view: Statements) -> Decision | None:
    """Each option is described, and only some have the property that the question asks for.

    Examples:
        (邊個屬於離島嘅首府？) 大嶼山係最大嘅島，南丫島多風車，坪洲近。長洲先前屬於離島嘅首府。 → C
    """
    if any(mention.stance not in _WEAK for mention in view.mentions):
        return None
    having, lacking = parted(
        view.mentions, lambda mention: _has_asked_words(view, mention)
    )
    if view.mentions and not having and not view.shown.denied:
        having, lacking = _parted_by_words(view)
    if view.shown.denied:
        having, lacking = lacking, having
    if not is_each_parted(view, having, lacking):
        return None
    first = next(mention for mention in view.mentions if mention.letters <= having)
    return Decision(having, "affirmed", first)


def parted(
    mentions: list[Mention],
    holds: Callable[[Mention], bool],
) -> tuple[frozenset[str], frozenset[str]]:
    """The letters of the mentions for which something holds, and those of the others."""
    held = [mention for mention in mentions if holds(mention)]
    others = [mention for mention in mentions if mention not in held]
    return letters_of(held), letters_of(others)


def is_each_parted(
    view: Statements,
    having: frozenset[str],
    lacking: frozenset[str],
) -> bool:
    """Whether each option has a property or lacks it, some of them either."""
    if not having or not lacking or having & lacking:
        return False
    return having | lacking >= view.shown.texts.keys()


def _parted_by_words(view: Statements) -> tuple[frozenset[str], frozenset[str]]:
    """The option that alone is described by words of the question, two or more, and the others.

    Examples:
        (邊年租借新界？) 1842 割讓港島，1860 割讓九龍，1898 租借新界。 → 1898
    """
    shares: dict[frozenset[str], int] = {}
    words = ""
    for mention in view.mentions:
        words = _described_as(view, mention)
        is_subject = SAYS["clause_start"].search(view.text[: mention.start])
        if not is_subject or SAYS["denied"].search(words) or mention.letters in shares:
            return frozenset(), frozenset()
        shares[mention.letters] = len(words_of(words) & view.shown.words)
    if view.text[view.mentions[-1].end + len(words) :].strip(AROUND):
        return frozenset(), frozenset()
    having = [letters for letters, share in shares.items() if share > 1]
    if len(having) != 1 or sum(map(bool, shares.values())) > 1:
        return frozenset(), frozenset()
    return having[0], letters_of(view.mentions) - having[0]


def _described_as(view: Statements, mention: Mention) -> str:
    """What a response says of an option, up to the next one."""
    later = [other.start for other in view.mentions if other.start > mention.start]
    after = view.text[mention.end : min(later, default=len(view.text))]
    return SAYS["statement_end"].split(after)[0]


def _has_asked_words(
    view: Statements,
    mention: Mention,
) -> bool:
    """Whether the words after a mention repeat four characters of the question, undenied."""
    words = _described_as(view, mention)
    for start in range(len(words) - 3):
        shared = words[start : start + 4]
        if SAYS["han_only"].fullmatch(shared) and shared in view.shown.asked:
            return not SAYS["denied"].search(words[:start])
    return False


def called_right(view: Statements) -> Decision | None:
    """The one option that is called right; two are no choice.

    Examples:
        B 太大，C 啱。 → C
        A 同 D 都啱。 → none
    """
    affirmed = _still_affirmed(view)
    if len({mention.letters for mention in affirmed or _named(view)}) > 1:
        return unread("several")
    return Decision(affirmed[0].letters, "affirmed", affirmed[0]) if affirmed else None


def option_text(view: Statements) -> Decision | None:
    """The text of the only option that the response names, in its first sentence.

    Examples:
        搶包山喺長洲。 → C
        長洲同坪洲都細。 → none
    """
    texts = [mention for mention in _named(view) if _is_telling(view, mention)]
    options = {
        mention.letters
        for mention in view.mentions
        if mention.spelled or not mention.letters <= view.shown.named
    }
    if not texts or len(options) != 1:
        return unnamed(view)
    return Decision(texts[-1].letters, "option text", texts[-1])


def _is_telling(
    view: Statements,
    mention: Mention,
) -> bool:
    """Whether an option's text is an answer: in the first sentence, without a list."""
    if not mention.spelled or mention.sentence[0] or ITEM.search(view.text):
        return False
    if view.shown.values and SAYS["result"].search(view.text, mention.end):
        return False
    name = view.text[mention.start : mention.end]
    is_name = len(name) > 1 + name.isascii() and not SAYS["denied"].search(name)
    is_sure = is_name or name.isdigit()
    return bool(is_sure or SAYS["closed"].match(view.text, mention.end))


LETTER_RULES: tuple[LetterRule, ...] = (
    marked_one,
    one_called_right,
    likeliest,
    first_line,
    every_one,
    remaining,
    last_line,
    last_decision,
    cut_off,
    eliminated,
    unfinished_sum,
    refusal,
    last_sentence,
    having_property,
    called_right,
    option_text,
)


def letter_decision(view: Statements) -> Decision:
    """The decision of the first rule that makes one."""
    for rule in LETTER_RULES if view.mentions else ():
        decision = rule(view)
        if decision:
            return decision
    return unnamed(view)
