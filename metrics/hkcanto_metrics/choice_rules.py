"""How a response settles on one option: the rules, in order.

`LETTER_RULES` is the ordered list. Each rule gets the statements of a response and returns a
decision, or `None` to leave it to the next rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from hkcanto_metrics.choice_statements import (
    AFFIRMED,
    CHOSEN,
    CONCLUDED,
    HEDGED,
    ITEM,
    NAMED,
    REFUTED,
    Statements,
    letters_of,
)
from hkcanto_metrics.decision_words import AROUND, SAYS
from hkcanto_metrics.option_grammar import Mention

_CLOSING = 150  # characters that may follow a conclusion
_SHORT = 60  # characters of a last line that only concludes


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


def _later_decisions(
    view: Statements,
    opening: Mention,
) -> list[Mention]:
    """The decisions below a first line that revise it."""
    turn = "revised" if len(opening.letters) == 1 else "contrast"
    return [
        mention
        for mention in view.mentions[1:]
        if mention.stance >= HEDGED
        and (view.is_turn(opening, mention, turn) or _is_final(view, mention))
    ]


def _is_final(
    view: Statements,
    mention: Mention,
) -> bool:
    """Whether a choice is the conclusion at the end of a response."""
    is_chosen = mention.stance == CHOSEN and len(view.text) - mention.end < _CLOSING
    lead = view.text[mention.sentence[0] : mention.start]
    return is_chosen and bool(SAYS["finally"].search(lead))


def every_one(view: Statements) -> Decision | None:
    """Three options or more are announced as the answer: a loop through the options.

    Examples:
        答案：A⏎正確答案：B⏎我揀 C。 → none
    """
    single = [m for m in view.with_stance(CHOSEN) if len(m.letters) == 1]
    announced = letters_of(single)
    return unread("several") if len(announced) > 2 else None


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
    last, lead = here[-1], view.text[view.line_start(here[0]) : here[0].start]
    if not _is_conclusion(view, here, lead):
        return None
    if lead.strip(AROUND) and _is_repeated(view, last, lead):
        return unread("several")
    return Decision(last.letters, "last line", last)


def _closing_line(view: Statements) -> list[Mention]:
    """The mentions of one option in the last line that has any, if it closes the response."""
    last = view.mentions[-1]
    start = view.line_start(last)
    here = [mention for mention in view.mentions if mention.end > start]
    if not (start and last.lettered) or letters_of(here) != last.letters:
        return []
    is_end = len(view.text) - last.end <= _CLOSING
    if last.stance < NAMED or SAYS["dangling"].match(view.text, last.end):
        return []
    return here if is_end else []


def _is_conclusion(
    view: Statements,
    here: list[Mention],
    lead: str,
) -> bool:
    """Whether the last line concludes: it is bare, a verdict, or short and decides."""
    last = here[-1]
    if _is_bare_line(view, here, lead):
        return not (view.continues_list(last) or _is_walk(view, last))
    is_short = len(view.text) - view.line_start(last) < _SHORT
    if last.stance == AFFIRMED:
        return _is_verdict(view, last) or (is_short and _is_told(view, last))
    return last.stance >= CONCLUDED and is_short


def _is_bare_line(
    view: Statements,
    here: list[Mention],
    lead: str,
) -> bool:
    """Whether a line consists of mentions and signs."""
    between = [view.text[a.end : b.start] for a, b in pairwise(here)]
    around = "".join([lead, *between, view.rest_of_line(here[-1])])
    return not around.strip(AROUND + "(#■=>-")


def _is_repeated(
    view: Statements,
    last: Mention,
    lead: str,
) -> bool:
    """Whether a line above says the same of another option."""
    return any(
        mention.letters != last.letters
        and view.text[view.line_start(mention) : mention.start] == lead
        and not view.is_turn(mention, last, "revised")
        for mention in view.mentions
    )


def _is_walk(view: Statements, last: Mention) -> bool:
    """Whether another option has a line of its own, too, without a turn between."""
    return any(
        mention.letters != last.letters
        and not view.is_turn(mention, last, "revised")
        and view.ends_line(mention)
        and view.line_start(mention) == mention.start
        for mention in view.mentions
    )


def _is_verdict(view: Statements, last: Mention) -> bool:
    """Whether a line that calls an option right is the conclusion, and not one of several."""
    rest = view.text[last.end :].partition("\n")[0]
    if not SAYS["verdict"].fullmatch(rest):
        return False
    others = filter(view.opens_sentence, view.with_stance(AFFIRMED))
    return all(other.letters == last.letters for other in others)


def _is_told(view: Statements, last: Mention) -> bool:
    """Whether a line ends with an option, and not after a label or in a remark."""
    words = view.words_around(last)
    return view.ends_line(last) and not words.is_remark and words.sign_before != ":"


def otherwise_announced(view: Statements) -> Decision | None:
    """The last words that announce an answer are followed by none of the options.

    Why: what is announced there is the answer, whatever was said before, and we cannot read it.

    Examples:
        單獨睇，A 啱。但呢度唔係。⏎⏎答：最細嗰個 → none
    """
    if view.with_stance(CHOSEN):
        return None
    announced = [match.end() for match in SAYS["announces"].finditer(view.text)]
    if not announced or view.mentions[-1].end > announced[-1]:
        return None
    return unread("undecided")


def all_wrong(view: Statements) -> Decision | None:
    """At the end, the response says that none of the options is right.

    Examples:
        A 唔啱。B 唔啱。C 啱少少。D 唔啱。全部都唔係。 → none
    """
    none = [*SAYS["none_of"].finditer(view.text)]
    if not none or SAYS["none_of"].search(" ".join(view.shown.texts.values())):
        return None
    start, end = view.sentence_start(none[-1].start()), none[-1].end()
    letters = letters_of(view.mentions_between(start, end))
    is_some = letters and letters < view.shown.texts.keys()
    is_last = view.mentions[-1].start < end
    return unread("undecided") if is_last and not is_some else None


def last_decision(view: Statements) -> Decision | None:
    """The last of the firmest decisions; two in one sentence are ambiguous.

    A bare correction takes it back.

    Examples:
        答案係 B。唔係，答案係 C。 → C
        答案係 B。等等，我計錯咗。 → none
        (邊個島最細？) 答案係 B。再諗真啲，B 唔啱。 → none
    """
    decisions = [m for m in view.mentions if m.stance >= CONCLUDED]
    opening = view.opening
    if opening and view.ends_line(opening):
        decisions = _later_decisions(view, opening)
    if not decisions:
        return None
    last = firmest(view, decisions)
    if any(_is_rival(view, other, last) for other in view.mentions):
        return unread("several")
    if _is_denied_below(view, last) or view.is_corrected(last):
        return unread("undecided")
    if last.stance < CHOSEN and _breaks_off(view, last):
        return unread("cut off")
    return Decision(last.letters, "stated", last)


def _is_denied_below(view: Statements, last: Mention) -> bool:
    """Whether a later sentence calls an option wrong, and the question does not ask for that."""
    denied = [
        mention.letters
        for mention in view.with_stance(REFUTED)
        if mention.lettered and mention.sentence[0] >= last.sentence[1]
    ]
    return bool(view.shown.asked) and last.letters in denied


def firmest(
    view: Statements,
    decisions: list[Mention],
) -> Mention:
    """The last of the firmest decisions, or a later one that revises it."""
    level = max(mention.stance for mention in decisions)
    last = [mention for mention in decisions if mention.stance == level][-1]
    for later in view.mentions:
        if later.start > last.end and later.stance >= HEDGED:
            last = later if view.is_turn(last, later, "revised") else last
    return last


def _is_rival(
    view: Statements,
    other: Mention,
    last: Mention,
) -> bool:
    """Whether another decision is in the sentence of the last one, without a turn between."""
    if other.letters == last.letters or other.sentence != last.sentence:
        return False
    if other.stance < HEDGED or other.stance == AFFIRMED:
        return False
    return not SAYS["turn"].search(view.text, other.end, last.start)


def _breaks_off(
    view: Statements,
    last: Mention,
) -> bool:
    """Whether a response goes on after an option, to no end."""
    if SAYS["dangling"].search(view.text):
        return True
    rest = view.text[last.end :].strip(AROUND)
    is_only = letters_of(view.mentions) == last.letters
    return bool(rest) and not (last.lettered or is_only or view.is_finished)


def eliminated(view: Statements) -> Decision | None:
    """All options but one are called wrong, and none is called right.

    Examples:
        A 唔啱。B 唔啱。D 唔啱。 → C
    """
    every, refuted = frozenset(view.shown.texts), view.with_stance(REFUTED)
    left = every - letters_of(refuted)
    if len(left) != 1 or len(every) < 3 or not view.is_finished:
        return None
    return None if _weak(view) else Decision(left, "eliminated", refuted[-1])


def _weak(view: Statements) -> list[Mention]:
    """The mentions that call an option right, perhaps."""
    return [
        mention
        for mention in view.mentions
        if mention.stance in (HEDGED, AFFIRMED) and view.is_related(mention)
    ]


def called_right(view: Statements) -> Decision | None:
    """The one option that is called right; two are no choice.

    Examples:
        B 太大，C 啱。 → C
        A 同 D 都啱。 → none
        可能係 A，亦可能係 B。 → none
    """
    right = _weak(view)
    if not right:
        return None
    if len(letters_of(right)) > 1:
        return unread("several")
    is_hedged = all(mention.stance == HEDGED for mention in right)
    if is_hedged and letters_of(view.mentions) != right[-1].letters:
        return unread("undecided")
    return _settled(view, right[-1], "affirmed")


def _settled(
    view: Statements,
    last: Mention,
    reason: str,
) -> Decision:
    """A weak decision, unless the response breaks off while it speaks of several options."""
    if SAYS["dangling"].search(view.text):
        return unread("cut off")
    if not last.lettered and SAYS["refused"].search(view.text):
        return unread("refusal")
    if not view.is_finished and _speaks_on(view, last):
        return unread("cut off")
    if view.shown.values and SAYS["result"].search(view.text, last.end):
        return unread("undecided")  # a calculation goes on
    later = [m for m in view.mentions if m.start > last.end and m.stance == NAMED]
    if not last.lettered and letters_of(later) - last.letters:
        return unread("several")
    return Decision(last.letters, reason, last)


def _speaks_on(view: Statements, last: Mention) -> bool:
    """Whether a response goes on after an option, with another one or in another sentence."""
    end = view.mentions[-1]
    if end.stance == NAMED and end.letters != last.letters:
        return True
    return bool(SAYS["sentence_end"].search(view.text, end.end))


def option_text(view: Statements) -> Decision | None:
    """The text of the only option that the response names, in its first sentence.

    Examples:
        搶包山喺長洲。 → C
        長洲同坪洲都細。 → none
    """
    last = view.mentions[-1]
    if any(m.stance != NAMED or m.letters != last.letters for m in view.mentions):
        return unnamed(view)
    if not _is_telling(view, last):
        return unnamed(view)
    return _settled(view, last, "option text")


def _is_telling(view: Statements, mention: Mention) -> bool:
    """Whether an option's text is an answer: in the first sentence, without a list."""
    if not mention.spelled or mention.sentence[0]:
        return False
    if ITEM.search(view.text) or not view.is_related(mention):
        return False
    name = view.text[mention.start : mention.end]
    is_verdict = SAYS["denied"].search(name) or SAYS["affirmed"].match(name)
    is_name = len(name) > 1 + name.isascii() and not is_verdict
    is_sure = is_name or name.isdigit()
    return bool(is_sure or SAYS["closed"].match(view.text, mention.end))


LETTER_RULES: tuple[LetterRule, ...] = (
    first_line,
    every_one,
    last_line,
    otherwise_announced,
    all_wrong,
    last_decision,
    eliminated,
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
