"""How a response settles on all options that are right: the rules, in order.

`SET_RULES` is the ordered list. It works as `hkcanto_metrics.choice_rules`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from hkcanto_metrics.choice_rules import Decision, firmest, unnamed, unread
from hkcanto_metrics.choice_statements import (
    AFFIRMED,
    CHOSEN,
    HEDGED,
    NAMED,
    REFUTED,
    Statements,
    letters_of,
)
from hkcanto_metrics.decision_words import AROUND, SAYS
from hkcanto_metrics.number import parse_number
from hkcanto_metrics.option_grammar import Mention
from hkcanto_metrics.response_text import Response

_LEAD = 40  # characters before an enumeration in the last line
_LETTERS = re.compile("(?:[A-J][ ,、;/&+\n]*)+[.。]?")
SetRule = Callable[[Statements], Decision | None]


def without_counts(response: Response) -> Response:
    """A response without the number of options after an enumeration: 「A、C 兩項」."""
    return Response(SAYS["counted"].sub("", response.text), response.origins)


def a_range(view: Statements) -> Decision | None:
    """A range; a dash may also join two options.

    Examples:
        A至C。 → none
    """
    return unread("undecided") if SAYS["range"].search(view.text) else None


def only_letters(view: Statements) -> Decision | None:
    """The response has only letters and what joins them.

    Examples:
        ABCD → ABCD
        A、B、C、D → ABCD
    """
    letters = re.findall("[A-J]", view.text)
    is_only = _LETTERS.fullmatch(view.text) and len({*letters}) == len(letters)
    return Decision(frozenset(letters), "bare") if is_only else None


def ticked_boxes(view: Statements) -> Decision | None:
    """The ticked check boxes.

    Examples:
        - [x] A⏎- [ ] B⏎- [x] C⏎- [ ] D → AC
    """
    ticked = [m for m in view.mentions if view.text[: m.start].rstrip(" (")[-1:] == "■"]
    return Decision(letters_of(ticked), "stated") if ticked else None


def alternatives(view: Statements) -> Decision | None:
    """Options joined by "or".

    Examples:
        A或者C → none
    """
    for mention in view.mentions:
        is_either = SAYS["either"].search(view.text, mention.start, mention.end)
        if is_either and len(mention.letters) > 1 and mention.stance > REFUTED:
            return unread("several")
    return None


def last_lines(view: Statements) -> Decision | None:
    """The last line, or the list at the end, is only an enumeration, or calls one right.

    Why: a response is read to its end. Its end settles what was weighed above.

    Examples:
        B 睇落似，但佢大過晒。⏎⏎A. 大嶼山⏎C. 長洲 → AC
        B is out.⏎⏎A, C, D are correct. → ACD
    """
    listed = _last_list(view)
    if not listed or min(mention.stance for mention in listed) <= REFUTED:
        return None
    start = view.line_start(listed[0])
    letters = letters_of(listed)
    if _is_headed_otherwise(view, start):
        return unread("undecided")
    if _is_enumeration(view, listed, (start, len(view.text))):
        is_conclusion = start and letters < view.shown.texts.keys()
    else:
        is_conclusion = len(letters) > 1 and _calls_right(view, listed, start)
    return Decision(letters, "last line") if is_conclusion else None


def _is_headed_otherwise(view: Statements, start: int) -> bool:
    """Whether the line above a list announces options that are wrong, or perhaps right."""
    heading = view.text[:start].rstrip("\n").rpartition("\n")[2]
    if view.shown.denied or not heading.endswith(":"):
        return False
    return bool(SAYS["denied"].search(heading) or SAYS["hedged"].search(heading))


def _calls_right(
    view: Statements,
    listed: list[Mention],
    start: int,
) -> bool:
    """Whether a line is an enumeration that is called right, after a few words."""
    span = listed[0].start, listed[-1].end
    if span[0] - start > _LEAD or not _is_enumeration(view, listed, span):
        return False
    rest = view.text[span[1] :]
    if SAYS["verdict_of_several"].fullmatch(rest):
        return True
    return not SAYS["comma"].search(rest) and _has_property_asked(view, rest)


def _last_list(view: Statements) -> list[Mention]:
    """The mentions of the last line, and of the lines above that have only an option each."""
    if not view.mentions:
        return []
    start = view.line_start(view.mentions[-1])
    listed = [mention for mention in view.mentions if mention.start >= start]
    for mention in reversed(view.mentions[: -len(listed)]):
        if not _is_item_above(view, mention, listed[0]):
            break
        listed.insert(0, mention)
    return [] if view.continues_list(listed[0]) else listed


def _is_item_above(
    view: Statements,
    mention: Mention,
    item: Mention,
) -> bool:
    """Whether a mention is alone in the line above an item, and earlier in the alphabet."""
    line = view.line_start(mention)
    if view.text[line : mention.start].strip(AROUND + "-"):
        return False
    is_above = view.text.find("\n", mention.end) + 1 == view.line_start(item)
    is_earlier = max(mention.letters) < min(item.letters)
    return view.ends_line(mention) and is_above and is_earlier


def _has_property_asked(view: Statements, rest: str) -> bool:
    """Whether the words after an enumeration repeat the question's property."""
    said = SAYS["described"].match(rest)
    if not said or view.shown.denied:
        return False
    head = [*SAYS["words"].finditer(said["property"].lower())][-1:]
    return any((word[1] or word[0]) in view.shown.words for word in head)


def only_a_list(view: Statements) -> Decision | None:
    """The response, or what follows its last colon, is only a list of some options.

    Examples:
        Both A and C → AC
        啱嘅有：⏎- A. 大嶼山⏎- C. 長洲 → AC
    """
    start = view.text.rfind(":\n") + 1
    listed = [mention for mention in view.mentions if mention.start >= start]
    if not listed or not _is_enumeration(view, listed, (start, len(view.text))):
        return None
    letters, stances = letters_of(listed), {mention.stance for mention in listed}
    if min(stances) <= REFUTED or not (start or letters < view.shown.texts.keys()):
        return None
    if _is_headed_otherwise(view, start):
        return unread("undecided")
    return Decision(letters, "stated" if max(stances) >= HEDGED else "listed")


def _is_enumeration(
    view: Statements,
    listed: list[Mention],
    span: tuple[int, int],
) -> bool:
    """Whether a part of the response is only these mentions and what joins them."""
    starts = [*(mention.start for mention in listed), span[1]]
    ends = [span[0], *(mention.end for mention in listed)]
    gaps = map(slice, ends, starts)
    return all(SAYS["enumerates"].fullmatch(view.text[gap]) for gap in gaps)


def stated_set(view: Statements) -> Decision | None:
    """The firmest decision, and the options joined to it in one enumeration.

    Examples:
        答案係 A（大嶼山）、C（長洲）同 D。 → ACD
        應該係A同B，亦可能係C。 → none
    """
    decisions = [mention for mention in view.mentions if mention.stance > AFFIRMED]
    if not decisions:
        return None
    last = firmest(view, decisions)
    begin = next(m for m in [*decisions, last] if m.sentence == last.sentence)
    letters, end = _joined_to(view, begin)
    if _is_unsettled(view, last, letters, end):
        return unread("undecided")
    is_some = letters < view.shown.texts.keys()
    is_certain = last.stance == CHOSEN or (is_some and _is_complete(view, letters))
    return Decision(letters, "stated") if is_certain else unread("undecided")


def _is_unsettled(
    view: Statements,
    last: Mention,
    letters: frozenset[str],
    end: int,
) -> bool:
    """Whether an enumeration goes on with what is not read, or is contradicted below."""
    if SAYS["goes_on"].match(view.text, end):
        return True
    later = [mention for mention in view.mentions if mention.start > end]
    is_contradicted = any(_contradicts(mention, letters) for mention in later)
    return is_contradicted or bool(SAYS["corrects"].search(view.text, last.end))


def _joined_to(view: Statements, begin: Mention) -> tuple[frozenset[str], int]:
    """The options joined to a mention in one enumeration, and where it ends."""
    letters, end = begin.letters, begin.end
    for mention in view.mentions:
        if mention.start < begin.end or mention.stance <= REFUTED:
            continue
        gap = re.sub(r"\([^()]*\)", "", view.text[end : mention.start])
        is_closed = SAYS["closed"].match(view.text, mention.end)
        if re.search("[;.。\n]", gap) and not is_closed:
            break
        if not SAYS["enumerates"].fullmatch(gap):
            break
        letters, end = letters | mention.letters, mention.end
    return letters, end


def _contradicts(mention: Mention, letters: frozenset[str]) -> bool:
    """Whether a mention calls another option right, or one of these wrong."""
    if mention.stance == REFUTED:
        return not mention.letters.isdisjoint(letters)
    return mention.stance != NAMED and not mention.letters <= letters


def _is_complete(view: Statements, letters: frozenset[str]) -> bool:
    """Whether several options are concluded, or all others are called wrong."""
    judged = letters | letters_of(view.with_stance(REFUTED))
    return len(letters) > 1 or judged >= view.shown.texts.keys()


def all_or_rest(view: Statements) -> Decision | None:
    """All options, all but some, or the rest, where the response does not name each.

    Examples:
        全部都啱。 → ABCD
        除咗 B 之外都啱。 → ACD
        B 錯，其他都啱。 → ACD
    """
    text, every = view.text, view.shown.texts
    own = " ".join(every.values())
    if SAYS["all_of"].search(own) or SAYS["none_of"].search(own):
        return None
    but = SAYS["all_but"].search(text)
    if but:
        return _all_but(view, but)
    gone = letters_of(view.with_stance(REFUTED))
    if gone:
        is_rest = SAYS["rest"].search(text) and not SAYS["rest_wrong"].search(text)
        return Decision(frozenset(every) - gone, "all but") if is_rest else None
    every_one = SAYS["all_of"].search(text)
    if not every_one:
        return None
    count = every_one["count"]
    is_all = not count or parse_number(count) == len(every)
    return Decision(frozenset(every), "all") if is_all else None


def _all_but(view: Statements, but: re.Match[str]) -> Decision | None:
    """All options but those that "except" names; nothing may be said of another one."""
    start = view.sentence_start(but.start())
    if SAYS["nothing"].search(view.text, start, but.start()):
        return unread("undecided")
    is_behind = bool(but["behind"])
    near = [m for m in view.mentions if (m.start < but.start()) == is_behind]
    excepted = letters_of(near[:1])
    if letters_of(near) not in (excepted, view.shown.texts.keys()):
        return unread("undecided")
    if not excepted:
        return None
    return Decision(frozenset(view.shown.texts) - excepted, "all but")


def judged_each(view: Statements) -> Decision | None:
    """The options called right, or named together, if the others are called wrong.

    Examples:
        A 啱，B 錯，C 啱，D 錯。 → AC
        A、C 同 D 都係大島，B 唔係。 → ACD
    """
    stances, every = _last_stances(view), view.shown.texts.keys()
    best = max(stances.values(), default=REFUTED)
    right = frozenset(letter for letter in stances if stances[letter] == best)
    is_each = stances.keys() >= every
    if best == NAMED:
        is_read = is_each and _are_together(view, right)
    else:
        is_read = best == AFFIRMED and (is_each or len(right) > 1)
    if view.shown.denied or not {*stances.values()} <= {best, REFUTED}:
        return None
    is_read = is_read and right < every and view.is_finished
    return Decision(right, "judged") if is_read else None


def _are_together(view: Statements, letters: frozenset[str]) -> bool:
    """Whether one enumeration names these options."""
    return any(mention.letters == letters for mention in view.with_stance(NAMED))


def _last_stances(view: Statements) -> dict[str, int]:
    """The last stance towards each option; a mere mention changes none."""
    last: dict[str, int] = {}
    for mention in view.mentions:
        for letter in mention.letters if mention.stance else ():
            if letter not in last or mention.stance != NAMED:
                last[letter] = mention.stance
    return last


SET_RULES: tuple[SetRule, ...] = (
    a_range,
    only_letters,
    ticked_boxes,
    alternatives,
    last_lines,
    only_a_list,
    stated_set,
    all_or_rest,
    judged_each,
)


def set_decision(view: Statements) -> Decision:
    """The decision of the first rule that makes one."""
    for rule in SET_RULES:
        decision = rule(view)
        if decision:
            return decision
    return unnamed(view)
