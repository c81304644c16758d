"""The letter that a model chose, read from what it wrote.

Four steps, a module each. `response_text` reduces the ways of writing the same thing to one.
`decision_phrases` lists the phrases that state a decision, or take one back. `option_grammar` reads
what stands at a phrase: one option or several, by letter or by text. Here the decisions are
settled: the last one stated wins; a question, a condition or a negation is none; two letters are
none; weaker hints count where nothing is decided. No letter is ever guessed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

from hkcanto_metrics import decision_phrases as phrases
from hkcanto_metrics.decision_phrases import CUES, Strength, phrase
from hkcanto_metrics.option_grammar import (
    LAST_LINE,
    LETTER,
    MENTION,
    Choice,
    OptionGrammar,
    matches,
)
from hkcanto_metrics.reasoning import strip_reasoning
from hkcanto_metrics.response_text import BOPOMOFO, normalize_response, own_turn

# What most direct answers are: a shortcut past everything below, which says the same of them.
_BARE_LETTER = re.compile(r"\s*+\(?([A-Za-z])\)?[.]?\s*")


def extract_choice(text: str, options: Mapping[str, str]) -> str | None:
    """Return the option letter that a model's output settles on.

    Understands English, Cantonese and Written Chinese in both scripts. Reads the first 1,500 and
    the last 3,500 characters of what follows the reasoning block.

    Args:
        text: what the model wrote, special tokens and reasoning block included or not.
        options: the options shown, letter to text: two to five of "A" to "E".

    Returns:
        One of the letters of `options`, or `None` where the output states no single decision:
        a refusal, a question, several letters, a letter that is no option, a cut-off reasoning.

    Source: HKCanto-Eval, HKMMLU and TMMLU+ all score the letter found in a response; none of the
    papers defines how it is found. These rules are our own.

    >>> islands = {"A": "大嶼山", "B": "南丫島", "C": "長洲", "D": "坪洲"}
    >>> extract_choice("答案：A。等等，唔啱，應該係（D）先啱。", islands)
    'D'
    >>> extract_choice("A 同 B 都有可能。", islands) is None
    True
    """
    if (bare := _BARE_LETTER.fullmatch(text)) and bare[1].upper() in options:
        return bare[1].upper()
    answer = own_turn(strip_reasoning(text))
    letter = _read(answer, options, keep_bopomofo=False)
    if letter is None and any(BOPOMOFO.search(option) for option in options.values()):
        # In a question about readings, bopomofo is the answer rather than an annotation.
        letter = _read(answer, options, keep_bopomofo=True)
    return letter


def _read(answer: str, options: Mapping[str, str], *, keep_bopomofo: bool) -> str | None:
    response = normalize_response(answer, keep_bopomofo=keep_bopomofo)
    if response.strip(' .。()"').upper() not in options and (spelled := _spelled(answer, options)):
        return spelled
    normalized = {
        letter: normalize_response(option, keep_bopomofo=keep_bopomofo)
        for letter, option in options.items()
    }
    return _Verdict(OptionGrammar(response, normalized)).letter()


def _spelled(answer: str, options: Mapping[str, str]) -> str | None:
    """The option whose text the answer consists of."""
    if len(answer) > 2 * max(map(len, options.values()), default=0) + 100:
        return None
    for simplify in (str.strip, _plain, _plainest):
        wanted = simplify(answer)
        found = [letter for letter, option in options.items() if simplify(option) == wanted]
        if wanted and found:
            return found[0] if len(found) == 1 else None
    return None


def _plain(text: str) -> str:
    """Text without its width, case and surrounding punctuation."""
    text = unicodedata.normalize("NFKC", text).casefold()
    around = " \t\n*_`#>\"'.。,、;:!?「」『』《》【】()“”‘’…~"
    return " ".join(text.strip(around).split()) or text


def _plainest(text: str) -> str:
    """Text without punctuation and white space, but for signs that belong to numbers."""
    return re.sub(r"(?<!\d)[.,](?!\d)|[^\w.,+\-−±%°<>=/*^()\[\]]|_", "", _plain(text))


@dataclass(frozen=True, slots=True)
class _Decision:
    """What a response states at one place; without letters, it takes a decision back."""

    letters: frozenset[str]
    start: int
    end: int
    hedged: bool = False


class _Verdict:
    """What one response to one question comes to."""

    def __init__(self, grammar: OptionGrammar) -> None:
        self._grammar = grammar
        self._text = grammar.text

    def letter(self) -> str | None:
        """The letter of the option that the response settles on."""
        decisions = self._on_this_question(sorted(self._decisions(), key=lambda item: item.start))
        direct = self._direct_answer()
        if direct:
            return self._only(self._revision(direct, decisions) or direct.letters)
        settled = _settle(decisions)
        if settled and not (len(settled) > 1 and decisions[-1].hedged):
            return self._only(settled)
        return self._hinted(after=max((item.start for item in decisions), default=-1))

    def _only(self, letters: frozenset[str]) -> str | None:
        is_option = len(letters) == 1 and letters <= self._grammar.texts.keys()
        return next(iter(letters)) if is_option else None

    # Decisions --------------------------------------------------------------------------------

    def _decisions(self) -> Iterator[_Decision]:
        """Everything that states a decision or takes one back, in any order."""
        yield from self._announced(Strength.FIRM, Strength.LOOSE)
        for choice in self._subjects:
            claim = phrases.CLAIMED.match(self._text, choice.end)
            if claim and not phrases.ASKED.match(self._text, claim.end()):
                yield _Decision(choice.letters, choice.start, choice.end)
        opening = self._opening()
        if opening:
            yield _Decision(opening.letters, opening.start, opening.end)
        last_line = LAST_LINE.search(self._text)
        if last_line and not self._grammar.is_cut_off_item(last_line):
            yield _Decision(frozenset(last_line["letter"]), *last_line.span("letter"))
        for withdrawal in phrases.RETRACTED.finditer(self._text):
            yield _Decision(frozenset(), *withdrawal.span())

    def _announced(self, *strengths: Strength) -> Iterator[_Decision]:
        """The decisions that follow a cue of one of these strengths."""
        for strength, pattern in _cue_patterns():
            if strength not in strengths:
                continue
            for cue in matches(pattern, self._text):
                choice = self._grammar.choice_at(cue.end())
                if choice is None or not self._stands(choice, strength):
                    continue
                is_below = "\n" in self._text[cue.end() : choice.start]
                if is_below and self._grammar.is_list_item(choice):
                    continue
                clause = self._clause_before(cue.start())
                if not _is_blocked(clause):
                    hedged = _is_hedged(clause + cue[0])
                    yield _Decision(choice.letters, choice.start, choice.end, hedged)

    def _stands(self, choice: Choice, strength: Strength) -> bool:
        """Whether what follows the choice lets it stand."""
        end = choice.end
        if phrases.ASKED.match(self._text, end) or phrases.REFUTED.match(self._text, end):
            return False
        if choice.spelled or phrases.CLOSED.match(self._text, end):
            return True
        if phrases.LED_ON.match(self._text, end):
            return True
        is_article = self._text[choice.start] in "Aa"
        goes_on = phrases.GOES_ON_AFTER_A if is_article else phrases.GOES_ON
        return strength is Strength.FIRM and goes_on.match(self._text, end) is not None

    def _clause_before(self, at: int) -> str:
        return re.split(r"[\n.。,;!?、:]", self._text[max(0, at - 40) : at])[-1]

    def _opening(self) -> Choice | None:
        """The choice that the response opens with, unless it opens a list."""
        choice = self._grammar.choice_at(0)
        if (
            choice is None
            or phrases.REFUTED_ITEM.match(self._text, choice.end)
            or not self._stands(choice, Strength.LOOSE)
            or self._grammar.opens_list(choice)
        ):
            return None
        return choice

    def _direct_answer(self) -> Choice | None:
        """The choice that fills the first line: an explanation or another question may follow."""
        opening = self._opening()
        if opening is None or len(opening.letters) != 1:
            return None
        rest_of_line = self._text[opening.end :].partition("\n")[0]
        return None if rest_of_line.strip(' .。,!)":;') else opening

    def _revision(self, direct: Choice, decisions: list[_Decision]) -> frozenset[str]:
        """The decision by which the response openly departs from its direct answer."""
        another = re.compile(r"\n(?:…|[ (]*A[).:、])").search(self._text, direct.end)
        until = another.start() if another else len(self._text)
        revised = [
            decision
            for decision in decisions
            if direct.end < decision.start < until
            and phrases.REVISED.search(
                self._text, max(direct.end, decision.start - 60), decision.start
            )
        ]
        return _settle(revised)

    def _on_this_question(self, decisions: list[_Decision]) -> list[_Decision]:
        """The decisions before the response, having decided, begins another question."""
        decided = [decision.start for decision in decisions if decision.letters]
        question = phrases.NEW_QUESTION.search(self._text, min(decided)) if decided else None
        if question is None:
            return decisions
        return [decision for decision in decisions if decision.start < question.start()]

    # Hints ------------------------------------------------------------------------------------

    @cached_property
    def _subjects(self) -> list[Choice]:
        """The choices that can be the subject of their clause."""
        subjects: list[Choice] = []
        end = 0
        for mention in matches(MENTION, self._text):
            start = mention.start()
            choice = self._grammar.choice_at(start) if start >= end else None
            if choice is None:
                continue
            end = choice.end
            is_subject = (
                mention["word"]
                or choice.spelled
                or len(choice.letters) > 1
                or phrases.SUBJECT_AHEAD.search(self._text, max(0, start - 24), start)
            )
            is_article = not mention["word"] and phrases.ARTICLE.match(self._text, start)
            if is_subject and not is_article and not _is_blocked(self._clause_before(start)):
                subjects.append(choice)
        return subjects

    def _hinted(self, after: int) -> str | None:
        """The one option that the response speaks for without stating a decision."""
        hints = list(self._announced(Strength.HINT))
        refuted: frozenset[str] = frozenset()
        for choice in self._subjects:
            against = phrases.REFUTED_NEARBY.match(self._text, choice.end)
            favour = phrases.AFFIRMED.match(self._text, choice.end)
            if against and (not favour or against.end() < favour.end()):
                refuted |= choice.letters
            elif (
                favour
                or phrases.ALONE_AHEAD.search(self._text, max(0, choice.start - 24), choice.start)
                or (choice.spelled and phrases.CLOSED.match(self._text, choice.end))
            ):
                hints.append(_Decision(choice.letters, choice.start, choice.end))
        if at_end := phrases.LAST_CLAUSE.search(self._text):
            hints.append(
                _Decision(frozenset(at_end["letter"] or at_end["bracketed"]), *at_end.span())
            )
        hints = [hint for hint in hints if hint.start > after and not self._is_considered(hint)]
        if not hints:
            return self._named_in_only_sentence()
        hinted = frozenset[str]().union(*(hint.letters for hint in hints))
        if self._grammar.texts.keys() - refuted == hinted or self._is_prominent(hints, refuted):
            return self._only(hinted - refuted)
        return None

    def _is_prominent(self, hints: list[_Decision], refuted: frozenset[str]) -> bool:
        """Whether hints stand in the last sentence, or in the first and nothing contests them."""
        body = self._text.rstrip(" .。!")
        is_finished = len(body) < len(self._text)
        ends = [match.end() for match in phrases.SENTENCE_END.finditer(body)]
        if max(hint.start for hint in hints) >= (ends[-1] if ends else 0):
            return is_finished or not refuted
        mentioned = frozenset(LETTER.findall(self._text)) - refuted
        in_first_sentence = min(hint.start for hint in hints) < ends[0]
        return in_first_sentence and mentioned <= frozenset().union(*(h.letters for h in hints))

    def _is_considered(self, hint: _Decision) -> bool:
        before = self._text[max(0, hint.start - 80) : hint.start]
        sentence = re.split(r"[。!?]|(?<!:)\n|(?<![A-H])\.(?=\s)", before)[-1]
        return phrases.CONSIDERED.search(sentence) is not None

    def _named_in_only_sentence(self) -> str | None:
        """The option that ends a response of one sentence, in which no other is named."""
        sentence = self._grammar.lower.rstrip(' .。!")')
        if phrases.SENTENCE_END.search(sentence) or phrases.NOT_STATED.search(sentence):
            return None
        named = [
            (letter, len(sentence) - len(text))
            for text, letter in self._grammar.distinct
            if len(text) >= (3 if text.isascii() else 2) and text in sentence
        ]
        if not named and (match := phrases.IS_AT_END.search(self._text[: len(sentence)])):
            named = [(match["letter"], match.start("letter"))]
        if len(named) != 1:
            return None
        letter, at = named[0]
        is_at_end = sentence[at:] in (letter.lower(), self._grammar.texts.get(letter))
        before = phrases.ARTICLE.sub("", self._text[:at])
        is_alone = not self._grammar.cuts_word(at) and not LETTER.search(before)
        return self._only(frozenset(letter)) if is_at_end and is_alone else None


def _settle(decisions: list[_Decision]) -> frozenset[str]:
    """The last decision; hedged ones count only beside other hedged ones, and add up."""
    settled: frozenset[str] = frozenset()
    hedged = True
    several_end = own_text_end = 0
    for decision in decisions:
        if decision.start < several_end:  # the second of 選A還是選B
            continue
        if len(decision.letters) > 1:
            several_end = decision.end
        if not decision.letters and decision.start < own_text_end:  # the option's own "No, …"
            continue
        own_text_end = max(own_text_end, decision.end)
        if not decision.letters:
            settled, hedged = frozenset(), True
        elif not decision.hedged:
            settled, hedged = decision.letters, False
        elif hedged:
            settled |= decision.letters
    return settled


@cache
def _cue_patterns() -> tuple[tuple[Strength, re.Pattern[str]], ...]:
    return tuple((cue.strength, phrase(cue.pattern)) for cue in CUES)


# A response in a loop asks the same again and again.
@lru_cache(maxsize=64)
def _is_blocked(clause: str) -> bool:
    return phrases.BLOCKED.search(clause) is not None


@lru_cache(maxsize=64)
def _is_hedged(clause: str) -> bool:
    return phrases.HEDGED.search(clause) is not None
