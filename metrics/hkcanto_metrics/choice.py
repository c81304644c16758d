"""Extract the letter of the option that a model chose from its response, or the letters of several.

`docs/extraction.md` describes the mechanism. No letter is ever guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from hkcanto_metrics.choice_forms import with_capital_labels, written_out
from hkcanto_metrics.choice_rules import Decision, letter_decision, unread
from hkcanto_metrics.choice_set_rules import set_decision, without_counts
from hkcanto_metrics.choice_statements import Statements
from hkcanto_metrics.decision_words import SAYS
from hkcanto_metrics.option_grammar import Options, options_of
from hkcanto_metrics.response_text import Response, normalize_response, own_answer

# A shortcut for the form of most direct answers; the rules read them the same way.
_BARE_LETTER = re.compile(r"\s*+\(?([A-Za-z])\)?[.?？]?\s*")
_JOINS = re.compile("[而和與与及、,，]")
_MOST_PARTS = 3
_ITEM = SAYS["item"]


@dataclass(frozen=True, slots=True)
class ChoiceReading:
    """The option read from a response, and why.

    Attributes:
        letter: the letter of an option, or `None`.
        reason: how the letter was read: ``bare``, ``first line``, ``last line``, ``stated``,
            ``affirmed``, ``eliminated``, ``option text``; or ``none: ``
            followed by ``empty``, ``cut off`` (in reasoning or a list), ``refusal``, ``several``,
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
    text: str,
    options: Mapping[str, str],
    question: str = "",
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
    text: str,
    options: Mapping[str, str],
    question: str = "",
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
        letter
        for letter, option in options.items()
        if _JOINS.sub("", option.strip()) == whole != ""
    ]
    if len(same) == 1:
        return _located(same[0], "option text", answer)
    if len({*SAYS["numbered"].findall(answer.text)}) > 1:
        return ChoiceReading(None, "none: several")
    decision, part = _decision(
        answer,
        options,
        question,
        several=False,
    )
    mention = decision.mention
    if not decision.letters or mention is None:
        return ChoiceReading(None, decision.reason)
    words = part[mention.start : mention.end]
    return _located(min(decision.letters), decision.reason, words)


def extract_choice_set(
    text: str,
    options: Mapping[str, str],
    question: str = "",
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
    text: str,
    options: Mapping[str, str],
    question: str = "",
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
    decision, _ = _decision(
        answer,
        options,
        question,
        several=True,
    )
    letters = "".join(sorted(decision.letters))
    return ChoiceSetReading(letters or None, decision.reason)


def _decision(
    answer: Response,
    options: Mapping[str, str],
    question: str,
    several: bool,
) -> tuple[Decision, Response]:
    """The decision of the first part of a response that makes one, with that part."""
    shown = options_of(tuple(options.items()), question)
    response = normalize_response(written_out(answer), shown.keep_readings)
    response = with_capital_labels(response, shown)
    text = response.text.rstrip()
    response = response[len(text) - len(text.lstrip()) : len(text)]
    if not text.strip():
        return unread("empty"), response
    decision, part = unread("undecided"), response
    for part, taken_back in _parts(response, shown):
        if several:
            decision = set_decision(Statements(without_counts(part), shown, True))
        else:
            decision = letter_decision(Statements(part, shown))
            before = letter_decision(Statements(taken_back, shown))
            if decision.letters == before.letters != frozenset():
                decision = unread("undecided")
        if not decision.letters <= shown.texts.keys():
            decision = unread("no option")
        elif len(decision.letters) > 1 and not several:
            decision = unread("several")
            break
        if decision.letters:
            break
    return decision, part


def _parts(
    response: Response,
    shown: Options,
) -> Iterator[tuple[Response, Response]]:
    """The parts of a response, until it asks another question, and what each takes back."""
    text = response.text
    cuts = [
        SAYS["next_part"].match(f"\n{text[:400]}"),
        *SAYS["next_part"].finditer(text, 1),
    ]
    starts = [0, *(cut.start() for cut in cuts[1:] if cut), len(text)]
    for cut, (start, end) in zip(cuts[:_MOST_PARTS], pairwise(starts), strict=False):
        if start and cut and cut["aside"]:
            return
        if (
            cut
            and cut["question"]
            and _is_other_question(
                cut,
                text,
                start,
                end,
                shown,
            )
        ):
            return
        begin = start
        for retraction in SAYS["retracted"].finditer(text, start, end):
            start = retraction.start("words")
        yield response[start:end], response[begin:start]


def _is_other_question(
    cut: re.Match[str],
    text: str,
    start: int,
    end: int,
    shown: Options,
) -> bool:
    """Whether a part repeats a question, or begins with one, whose options are not ours."""
    items: list[tuple[str, str]] = _ITEM.findall(text, start, end)
    same = [
        text.lower().startswith(shown.texts.get(letter, text)[:8])
        for letter, text in items
    ]
    if not start and (cut["list"] or not same):
        return False
    if start:
        return not (same and all(same))
    return 2 * sum(same) <= len(same)


def _located(
    letter: str,
    reason: str,
    words: Response,
) -> ChoiceReading:
    return ChoiceReading(letter, reason, (words.origins[0], words.origins[-1] + 1))
