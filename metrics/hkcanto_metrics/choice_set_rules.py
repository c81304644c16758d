"""How a response settles on all options that are right: the rules, in order.

`SET_RULES` is the ordered list. It works as `hkcanto_metrics.choice_rules`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from hkcanto_metrics.choice_rules import (
    Decision,
    firmest,
    having_property,
    is_as_asked,
    is_each_parted,
    is_number,
    parted,
    unnamed,
    unread,
)
from hkcanto_metrics.choice_statements import (
    AFFIRMED,
    CHOSEN,
    CONCLUDED,
    HEDGED,
    NAMED,
    REFUTED,
    Statements,
    letters_of,
)
from hkcanto_metrics.decision_words import AROUND, SAYS
from hkcanto_metrics.number import parse_number
from hkcanto_metrics.option_grammar import Mention, words_of
from hkcanto_metrics.response_text import Response

_LEAD = 40  # characters before an enumeration in the last line
_LIST_ITEM = re.compile(r"\W*+(?:\d+[.)] *\W*+)?([A-J])(?![A-Za-z])")
SetRule = Callable[[Statements], Decision | None]


def with_capital_letters(response: Response) -> Response:
    """Small letters as capital ones, if there are no capital ones; a mark after its letter.

    The number of options after an enumeration is left out: 「A、C 兩項」. A+C is A、C.
    """
    text = response.text
    if SAYS["name"].search(text):  # a mark before a letter belongs to it: ✓ B
        text = re.sub(r"(?m)^([✓✗]) ([A-J])$", r"\2 \1", text)
    else:
        text = SAYS["small_letter"].sub(lambda match: match[0].upper(), text)
    text = SAYS["plus"].sub("、", text)
    return Response(SAYS["counted"].sub("", text), response.origins)


def a_range(view: Statements) -> Decision | None:
    """A range with a dash, which may also join two options, or between two states of mind.

    Examples:
        A-C → none
        Options from A to C apply. → none
    """
    return unread("undecided") if SAYS["range"].search(view.text) else None


def only_letters(view: Statements) -> Decision | None:
    """The response has only letters and what joins them.

    Examples:
        ABCD → ABCD
        A, C and D → ACD
    """
    letters = SAYS["letter"].findall(view.text)
    is_only = SAYS["only_letters"].fullmatch(view.text)
    if not is_only or len({*letters}) < len(letters):
        return None
    return Decision(frozenset(letters), "bare")


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
        if len(mention.letters) < 2 or mention.stance <= REFUTED:
            continue
        if SAYS["solutions"].search(view.text, mention.start, mention.end):
            continue
        if SAYS["either"].search(view.text, mention.start, mention.end):
            return _both(view, mention) or unread("several")
    return None


def _both(view: Statements, either: Mention) -> Decision | None:
    """Two options joined by "or", if the response says below that both are right."""
    later = [mention for mention in view.mentions if mention.start > either.end]
    if not later and len(either.letters) == 2:
        is_both = SAYS["both_right"].match(view.text, either.end)
        return Decision(either.letters, "stated", either) if is_both else None
    is_same = len(later) == 1 and later[0].letters == either.letters
    if not is_same or later[0].stance < CONCLUDED:
        return None
    if SAYS["either"].search(view.text, later[0].start):
        return None
    return Decision(either.letters, "stated", later[0])


def headed_lists(view: Statements) -> Decision | None:
    """A list below words that say that its options are right, and perhaps one of wrong ones.

    Examples:
        Correct options:⏎- A. 大嶼山⏎- C. 長洲⏎Incorrect options:⏎- B. 南丫島⏎- D. 坪洲 → AC
        我揀：⏎- A（最大）⏎- C（有海鮮） → AC
        Correct:⏎- A⏎- C⏎Perhaps:⏎- D → none
    """
    lists: dict[str, set[str]] = {"right": set(), "wrong": set()}
    chosen = lists["right"]
    items: set[str] | None = None  # of the list that the line belongs to
    for line in filter(str.strip, view.text.split("\n")):
        item = _LIST_ITEM.match(line)
        if item and item[1] in view.shown.texts and items is not None:
            if _is_doubtful_item(line, item, items is chosen):
                return None
            items.add(item[1])
            continue
        kind = _kind_of_line(view, line)
        if kind in lists:
            items = lists[kind]
        elif kind == "denied":
            return unread("undecided")
        elif chosen and kind == "remark":
            items = set()
        elif items is not None or kind == "options":
            return _broken_off(line, kind, chosen)
    return _listed_right(view, chosen, lists["wrong"])


def _broken_off(
    line: str,
    kind: str,
    chosen: set[str],
) -> Decision | None:
    """No decision below a line that is not of a list: a further heading, or another's view."""
    is_open = kind == "heading" or SAYS["not_own"].search(line)
    return unread("undecided") if chosen and is_open else None


def _is_doubtful_item(
    line: str,
    item: re.Match[str],
    is_chosen: bool,
) -> bool:
    """Whether an item of a list is held for possible only, or wrong below words for right ones."""
    is_refuted = is_chosen and SAYS["refuted"].match(line, item.end())
    return bool(is_refuted or SAYS["hedged"].search(line))


def _kind_of_line(view: Statements, line: str) -> str:
    """Return what a line beside the items does: head a list, name options, or remark on them."""
    words = line.strip()
    if SAYS["list_of_right"].fullmatch(words):
        return "right"
    if SAYS["list_of_wrong"].fullmatch(words):
        return "wrong"
    if _is_denied_heading(view, line):
        return "denied"
    if SAYS["name"].search(line):
        return "options"
    return "heading" if words.endswith(":") else "remark"


def _listed_right(
    view: Statements, chosen: set[str], rejected: set[str]
) -> Decision | None:
    """The decision of a list of right options beside one of wrong options."""
    if not chosen:
        is_other_list = rejected and not view.shown.denied
        return unread("undecided") if is_other_list else None
    is_truth = view.shown.denied and rejected  # of the statements, not of the answer
    if is_truth or chosen & rejected or chosen >= view.shown.texts.keys():
        return None
    return Decision(frozenset(chosen), "listed")


def _is_denied_heading(view: Statements, line: str) -> bool:
    """Whether a line announces options that are not right, or only in part."""
    if view.shown.denied or not line.rstrip().endswith(":"):
        return False
    if SAYS["name"].search(line):
        return False
    return bool(SAYS["denied"].search(line) or SAYS["partly"].search(line))


def only_named(view: Statements) -> Decision | None:
    """The options called right, where all that the response does not name are wrong.

    Examples:
        得 A 啱，其他三個都錯晒。 → A
        Only B and C apply. The rest do not. → BC
        大嶼山同長洲都係，其餘兩個唔係。 → AC
    """
    rest = SAYS["rest_wrong"].search(view.text)
    if not rest or SAYS["hedged"].search(view.text):
        return None
    if _are_all_but_rest(view, rest):
        return Decision(letters_of(view.mentions), "stated", view.mentions[-1])
    last = view.mentions[-1] if view.mentions else None
    if not last or last.end > rest.start() or not last.stance:
        return None
    is_right = last.stance >= AFFIRMED or SAYS["only"].search(view.text[: last.start])
    is_one = is_right and letters_of(view.mentions) == last.letters
    left = len(view.shown.texts) - len(last.letters)
    if is_one and not is_number(rest["number"] or rest["few"], left):
        return unread("undecided")
    return Decision(last.letters, "stated", last) if is_one else None


def _are_all_but_rest(view: Statements, rest: re.Match[str]) -> bool:
    """Whether options have what the question asks for, and as many as are left do not."""
    named = letters_of(view.mentions)
    left = len(view.shown.texts) - len(named)
    if len(named) < 2 or not is_number(rest["number"] or rest["few"], left):
        return False
    if SAYS["asks_negatively"].search(view.shown.asked):
        return False
    if any(m.stance != NAMED or m.end > rest.start() for m in view.mentions):
        return False
    told = view.text[view.mentions[-1].end : rest.start()] + view.text[rest.end() :]
    return words_of(told) <= view.shown.words


def listed_above(view: Statements) -> Decision | None:
    """A list of options, and below it that so many are right.

    Examples:
        (邊啲係大島？) **A. 大嶼山**⏎**C. 長洲**⏎**D. 坪洲**⏎以上三個都係大島，南丫島並非大島。 → ACD
    """
    above = SAYS["above"].search(view.text)
    if not above or SAYS["asks_negatively"].search(view.shown.asked):
        return None
    listed = view.mentions_between(0, above.start())
    letters = letters_of(listed)
    is_counted = is_number(above["count"] or above["number"], len(letters))
    if not (is_counted and is_as_asked(view, above.end())):
        return None
    is_list = all(m.stance == NAMED and view.opens_sentence(m) for m in listed)
    if not is_list or _goes_on(view.mentions[len(listed) :], letters):
        return None
    is_some = letters < view.shown.texts.keys()
    return Decision(letters, "listed") if is_some else None


def _goes_on(mentions: list[Mention], letters: frozenset[str]) -> bool:
    """Whether mentions do more than to call other options wrong."""
    is_other = letters_of(mentions) & letters
    return bool(is_other) or any(mention.stance != REFUTED for mention in mentions)


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
    if _is_enumeration(
        view,
        listed,
        start,
        len(view.text),
    ):
        is_conclusion = start and not letters >= view.shown.texts.keys()
    else:
        is_conclusion = len(letters) > 1 and _calls_right(view, listed, start)
    return Decision(letters, "last line") if is_conclusion else None


def _calls_right(
    view: Statements,
    listed: list[Mention],
    start: int,
) -> bool:
    """Whether a line is an enumeration that is called right, after a few words."""
    if listed[0].start - start > _LEAD:
        return False
    if not _is_enumeration(
        view,
        listed,
        listed[0].start,
        listed[-1].end,
    ):
        return False
    rest = view.text[listed[-1].end :]
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
    if not said or SAYS["asks_negatively"].search(view.shown.asked):
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
    if not listed or not _is_enumeration(
        view,
        listed,
        start,
        len(view.text),
    ):
        return None
    if not start and letters_of(listed) >= view.shown.texts.keys():
        return None
    stances = {mention.stance for mention in listed}
    if min(stances) <= REFUTED:
        return None
    return Decision(
        letters_of(listed), "stated" if max(stances) >= HEDGED else "listed"
    )


def _is_enumeration(
    view: Statements, listed: list[Mention], start: int, end: int
) -> bool:
    """Whether a part of the response is only these mentions and what joins them."""
    starts = [*(mention.start for mention in listed), end]
    ends = [start, *(mention.end for mention in listed)]
    for gap_start, gap_end in zip(ends, starts, strict=True):
        if not SAYS["enumerates"].fullmatch(view.text[gap_start:gap_end]):
            return False
    return True


def stated_set(view: Statements) -> Decision | None:
    """The firmest decision, and the options joined to it in one enumeration.

    Examples:
        答案係 A（大嶼山）、C（長洲）同 D。 → ACD
        應該係A同B，亦可能係C。 → none
    """
    decisions = [mention for mention in view.mentions if mention.stance >= HEDGED]
    if all(mention.stance == HEDGED for mention in decisions):
        return None
    last = firmest(view, decisions)
    begin = _beginning(view, decisions, last)
    letters, end = _joined_to(view, begin)
    if _is_miscounted(view, begin, letters) or _is_only_shown(view, begin):
        return unread("undecided")
    if SAYS["others"].search(view.text, last.end):
        return unread("undecided")
    if _is_unsettled(
        view,
        last,
        begin,
        letters,
        end,
    ):
        return unread("undecided")
    return Decision(letters, "stated")


def _beginning(
    view: Statements,
    decisions: list[Mention],
    last: Mention,
) -> Mention:
    """Where the enumeration of the last decision begins: in its sentence, after what it rejects."""
    first = next(mention for mention in decisions if mention.sentence == last.sentence)
    for rejected in view.with_stance(REFUTED):
        if first.start < rejected.start < last.start:
            return last
    return first


def _is_only_shown(view: Statements, begin: Mention) -> bool:
    """Whether options are shown below an answer that is missing: "Answer: none⏎Options: A, B"."""
    before = view.text[: begin.sentence[0]]
    lead = view.text[begin.sentence[0] : begin.start]
    is_missing = SAYS["no_answer_given"].search(before)
    return bool(is_missing and SAYS["shows_options"].search(lead))


def _is_miscounted(
    view: Statements,
    begin: Mention,
    letters: frozenset[str],
) -> bool:
    """Whether the response says before that another number of options is right."""
    count = SAYS["number_right"].search(view.text, 0, begin.start)
    return bool(count and parse_number(count["count"]) != len(letters))


def _joined_to(view: Statements, begin: Mention) -> tuple[frozenset[str], int]:
    """The options joined to a mention in one enumeration, and where it ends."""
    letters, end = begin.letters, begin.end
    for mention in view.mentions:
        if mention.start < begin.end or mention.stance <= REFUTED:
            continue
        gap = re.sub(r"\([^()]*\)", "", view.text[end : mention.start])
        is_other = ";" in gap and mention.spelled and len(begin.letters) > 1
        is_new = re.search("[.。\n]", gap)
        if is_new and SAYS["closed"].match(view.text, mention.end):
            is_new = None
        if is_other or is_new or not SAYS["enumerates"].fullmatch(gap):
            break
        letters, end = letters | mention.letters, mention.end
    return letters, end


def _is_unsettled(
    view: Statements, last: Mention, begin: Mention, letters: frozenset[str], end: int
) -> bool:
    """Whether other options may be right, or some of these may not be."""
    later = [mention for mention in view.mentions if mention.start > end]
    if any(_contradicts(mention, letters) for mention in later):
        return True
    if later and SAYS["corrects"].search(view.text, last.end, later[-1].start):
        return True
    options = view.shown.texts.keys()
    if letters >= options:
        is_all = last.stance == CHOSEN or begin.letters >= options
        return bool(later) or not (last.lettered and is_all)
    return not _is_certain(view, last, letters)


def _is_certain(
    view: Statements,
    last: Mention,
    letters: frozenset[str],
) -> bool:
    """Whether a decision for some of the options leaves no other one open."""
    if last.stance == CHOSEN or len(letters) > 1:
        return True
    if _is_said_alone(view, last, letters):
        return True
    return not _is_one_of_several(view, last, letters)


def _is_said_alone(
    view: Statements,
    last: Mention,
    letters: frozenset[str],
) -> bool:
    """Whether the response says that only this option is right, and calls no other one right."""
    accepted = [mention for mention in view.mentions if mention.stance >= AFFIRMED]
    lead = view.words_around(last).lead
    return letters_of(accepted) <= letters and bool(SAYS["only"].search(lead))


def _contradicts(mention: Mention, letters: frozenset[str]) -> bool:
    """Whether a mention calls another option right, or one of these wrong."""
    if mention.stance >= AFFIRMED:
        return not mention.letters <= letters
    return mention.stance == REFUTED and not mention.letters.isdisjoint(letters)


def _is_one_of_several(
    view: Statements, last: Mention, letters: frozenset[str]
) -> bool:
    """Whether the response leaves open another option than the one that it concludes."""
    every = frozenset(view.shown.texts)
    named = letters_of(view.mentions) if last.lettered else every
    return not named <= letters | letters_of(view.with_stance(REFUTED))


def all_or_rest(view: Statements) -> Decision | None:
    """All options, all but some, or the rest, where the response does not name each.

    Examples:
        全部都啱。 → ABCD
        除咗 B 之外都啱。 → ACD
        除咗 B 之外，其餘三項（A、C、D）都啱。 → ACD
        B 錯，其他都啱。 → ACD
    """
    text, every = SAYS["listed"].sub("", view.text), view.shown.texts
    own = " ".join(every.values())
    if SAYS["all_of"].search(own) or SAYS["none_of"].search(own):
        return None
    gone, but = letters_of(view.with_stance(REFUTED)), SAYS["all_but"].search(text)
    if but:
        return _all_but(view, but, gone)
    if gone and SAYS["rest_wrong"].search(text):
        return None
    is_rest = SAYS["rest"].search(text)
    if not gone and is_rest:
        gone = _counted_out(view, is_rest)
    if gone:
        return Decision(frozenset(every.keys() - gone), "all but") if is_rest else None
    every_one = SAYS["all_of"].search(text)
    if every_one and is_number(every_one["count"], len(every)):
        return Decision(frozenset(every), "all")
    return None


def _counted_out(view: Statements, rest: re.Match[str]) -> frozenset[str]:
    """The options named before "the remaining two", if that is how many others there are."""
    count = rest["rest"] or rest["remaining"] or rest["kept"]
    named = letters_of(view.mentions)
    if rest["keep"]:
        count = str(len(view.shown.texts) - len(named))
    if not count or parse_number(count) != len(view.shown.texts) - len(named):
        return frozenset()
    is_before = all(mention.end <= rest.start() for mention in view.mentions)
    stances = {mention.stance for mention in view.mentions}
    return named if is_before and stances == {NAMED} else frozenset()


def _all_but(
    view: Statements, but: re.Match[str], gone: frozenset[str]
) -> Decision | None:
    """All options but those that "except" names."""
    start = view.sentence_start(but.start())
    if SAYS["nothing"].search(view.text, start, but.start()):
        return unread("undecided")
    is_behind = bool(but["behind"])
    near = [m for m in view.mentions if (m.start < but.start()) == is_behind]
    first = letters_of(near[:1])
    if not letters_of(m for m in near if m.stance == REFUTED) <= first:
        return unread("undecided")
    named = letters_of(near)
    excepted = named & gone or first
    if not is_behind and _is_besides(view, named, excepted):
        return unread("undecided")
    if not excepted:
        return None
    return Decision(frozenset(view.shown.texts.keys() - excepted), "all but")


def _is_besides(
    view: Statements,
    named: frozenset[str],
    excepted: frozenset[str],
) -> bool:
    """Whether an option beside the excepted ones is named: besides A, B is right, too."""
    if named <= excepted:
        return False
    is_complete = named == view.shown.texts.keys()
    return not (is_complete and SAYS["the_rest"].search(view.text))


def perhaps(view: Statements) -> Decision | None:
    """Only a hedged decision; next to another option, each is one thought of several.

    Examples:
        可能係 A 同 C。 → AC
        可能係A又可能係D。 → none
    """
    decisions = view.with_stance(HEDGED)
    if not decisions:
        return None
    last = decisions[-1]
    beside = [*decisions, view.mentions[-1]]
    for mention in view.mentions:
        if mention.stance > REFUTED and mention.sentence == last.sentence:
            beside.append(mention)
    if len({mention.letters for mention in beside}) > 1:
        return unread("undecided")
    return Decision(last.letters, "stated")


def described_each(view: Statements) -> Decision | None:
    """Each option is described, some by the property that the question asks for.

    Examples:
        (邊啲係大島？) A同C係大島，B係細島，D係石。 → AC
    """
    decision = having_property(view)
    if decision:
        return Decision(decision.letters, "judged")
    for mention in view.mentions:
        if not SAYS["described"].match(view.text, mention.end):
            return None
    having, lacking = parted(
        view.mentions,
        lambda mention: _has_property_asked(view, view.text[mention.end :]),
    )
    is_each = is_each_parted(view, having, lacking)
    return Decision(having, "judged") if is_each else None


def judged_each(view: Statements) -> Decision | None:
    """The options called right, or those named together, if nothing else is said of others.

    Examples:
        A 啱，B 錯，C 啱，D 錯。 → AC
    """
    if SAYS["asks_negatively"].search(view.shown.asked):
        return None
    last = _last_stances(view)
    affirmed = frozenset(letter for letter in last if last[letter] == AFFIRMED)
    named = frozenset(letter for letter in last if last[letter] == NAMED)
    if affirmed and named:
        return None
    is_read = _are_all_right(view, affirmed) if affirmed else _are_left(view, named)
    return Decision(affirmed or named, "judged") if is_read else None


def _are_all_right(view: Statements, affirmed: frozenset[str]) -> bool:
    """Whether the options called right are all that are."""
    if 1 < len(affirmed) < len(view.shown.texts) or _is_only(view):
        return True
    return _is_each(view, letters_of(view.with_stance(REFUTED)) | affirmed)


def _are_left(view: Statements, named: frozenset[str]) -> bool:
    """Whether options are named together, and all others are called wrong."""
    if SAYS["refused"].search(view.text):
        return False
    refuted = letters_of(view.with_stance(REFUTED))
    is_joined = named in [mention.letters for mention in view.with_stance(NAMED)]
    return bool(
        refuted and is_joined and _last_stances(view).keys() >= view.shown.texts.keys()
    )


def _last_stances(view: Statements) -> dict[str, int]:
    """The last stance towards each option; a mere mention changes none."""
    last: dict[str, int] = {}
    for mention in view.mentions:
        for letter in mention.letters if mention.stance else ():
            if letter not in last or mention.stance != NAMED:
                last[letter] = mention.stance
    return last


def _is_only(view: Statements) -> bool:
    """Whether words say that only these options are right."""
    leads = [view.text[: m.start][-9:] for m in view.with_stance(AFFIRMED)]
    return bool(SAYS["only_these"].search(" ".join(leads)))


def _is_each(view: Statements, judged: frozenset[str]) -> bool:
    """Whether every option is called right or wrong."""
    affirmed = view.with_stance(AFFIRMED)
    is_told = view.with_stance(REFUTED) or all(m.lettered for m in affirmed)
    return bool(is_told and judged >= view.shown.texts.keys())


SET_RULES: tuple[SetRule, ...] = (
    a_range,
    only_letters,
    ticked_boxes,
    headed_lists,
    alternatives,
    only_named,
    listed_above,
    last_lines,
    only_a_list,
    stated_set,
    all_or_rest,
    perhaps,
    described_each,
    judged_each,
)


def set_decision(view: Statements) -> Decision:
    """The decision of the first rule that makes one."""
    for rule in SET_RULES:
        decision = rule(view)
        if decision:
            return decision
    return unnamed(view)
