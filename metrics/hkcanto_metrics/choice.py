"""The letter that a model chose, read from what it wrote.

Three steps. `normalize_response` reduces the ways of writing the same thing to one. The phrases
in `decision_phrases` are looked up, and what stands at each is read by a small grammar: one option
or several joined, each a letter, a letter with its option's text, or the text alone. Then the
decisions are settled: the last one stated wins; a question, a condition or a negation is none; two
letters are none; weaker hints count where nothing is decided. No letter is ever guessed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

from hkcanto_metrics import decision_phrases as phrases
from hkcanto_metrics.decision_phrases import CUES, Strength
from hkcanto_metrics.reasoning import strip_reasoning
from hkcanto_metrics.response_text import BOPOMOFO, normalize_response, own_turn


def extract_choice(text: str, options: Mapping[str, str]) -> str | None:
    """Return the option letter that a model's output settles on.

    Understands English, Cantonese and Written Chinese in both scripts. Reads the first 2,000 and
    the last 4,000 characters of what follows the reasoning block.

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
    answer = own_turn(strip_reasoning(text))
    letter = _read(answer, options, keep_bopomofo=False)
    if letter is None and any(BOPOMOFO.search(option) for option in options.values()):
        # In a question about readings, bopomofo is the answer rather than an annotation.
        letter = _read(answer, options, keep_bopomofo=True)
    return letter


def _read(answer: str, options: Mapping[str, str], *, keep_bopomofo: bool) -> str | None:
    response = normalize_response(answer, keep_bopomofo=keep_bopomofo)
    normalized = {
        letter: normalize_response(option, keep_bopomofo=keep_bopomofo)
        for letter, option in options.items()
    }
    return _spelled_by(answer, options, response) or _Reader(response, normalized).choice()


def _spelled_by(answer: str, options: Mapping[str, str], response: str) -> str | None:
    """The option whose text the answer consists of, if that is not an option letter."""
    bare_letter = _OPTION.match(response)
    if (
        bare_letter
        and bare_letter.end() >= len(response.rstrip(' .。)"'))
        and (bare_letter["letter"].upper() in options)
    ):
        return None
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


# An option letter, its boundaries written out. A small one counts only at the end of a clause.
_BEFORE_LETTER = r"(?<![0-9A-Za-z\u00c0-\u058f_\\&'+°-])(?<![A-Z]\.)"
_AFTER_LETTER = r"(?![0-9A-Za-z\u00c0-\u058f_+#&°%']|-[0-9A-Za-z]|\.\s?[A-Za-z]\.)"
_OPTION_WORD = (
    r"(?:(?i:(?:the )?(?:correct )?(?:option|choice|letter|answer)|选项|选择|字母|代号)|\\boxed)"
)

# More than these in one response are a loop, of which both ends are read.
MOST_JOINED = 8
MOST_MATCHES = 50

_LETTER = re.compile(f"{_BEFORE_LETTER}[A-H]{_AFTER_LETTER}")
_OPTION = re.compile(
    rf'[\s()":]{{0,6}}(?:{_OPTION_WORD}[\s(":]{{0,4}})?'
    rf'(?P<letter>[A-H]|[a-h](?=[)" ]{{0,4}}(?:$|[\n.,。;!]))){_AFTER_LETTER}'
)
_LETTERS_RUN_TOGETHER = re.compile(r'[\s(":]{0,6}(?P<letters>[A-H]{2,5})(?![0-9A-Za-z])')
_SUBJECT = re.compile(
    rf'(?:(?P<word>{_OPTION_WORD})[ (":]{{0,3}}|{_BEFORE_LETTER})(?=[A-H](?![a-z]))'
)
_LABEL = re.compile(
    r'(?:^|[\n;。])[ ("]{0,3}(?P<word>[Oo]ption |选项)?(?P<letter>[A-H])'
    r'(?:[).:、"]|$|(?<=[Oo]ption [A-H])|(?<=选项[A-H]))',
    re.MULTILINE,
)
_ARTICLE = re.compile(r"(?<![A-Za-z])A (?=[a-z])")
_LAST_LINE = re.compile(rf'\n[ ("]{{0,3}}(?P<word>{_OPTION_WORD} ?)?(?P<letter>[A-H])[)" .。!]*$')
_IN_BRACKETS_AT_END = re.compile(r"\((?P<letter>[A-H])\)[.。!]?$")
_BEFORE_TEXT = re.compile(r'[\s(":]{0,6}(?:(?i:the |option |choice )|选项)?[("]{0,2}')
_AFTER_TEXT = re.compile(r'[)"]{0,3}(?:[年月日元度岁个人次分秒]|选项|项)?')
_BETWEEN_LETTER_AND_TEXT = re.compile(r'[)".:、,\s(=–—-]{0,6}')
_AFTER_OPTION = re.compile(r'[)"]{0,4}(?: ?(?:[这呢嗰]个)?(?:选项|选择|项|(?i:option))[)"]{0,2})?')


@dataclass(frozen=True, slots=True)
class _Choice:
    """One option, or several joined, as it stands in the response."""

    letters: frozenset[str]
    start: int
    end: int
    spelled: bool


@dataclass(frozen=True, slots=True)
class _Decision:
    """A choice that the response states; without letters, the withdrawal of one."""

    letters: frozenset[str]
    start: int
    end: int = 0
    hedged: bool = False


class _Reader:
    """Reads one normalised response to one question with normalised options."""

    def __init__(self, response: str, options: Mapping[str, str]) -> None:
        self._texts = {letter: text.strip(" .。,、;").lower() for letter, text in options.items()}
        texts = list(self._texts.values())
        # Longest first, so that an option is not taken for another that it begins with.
        self._by_text = sorted(
            (
                (text, letter)
                for letter, text in self._texts.items()
                if text and texts.count(text) == 1
            ),
            key=lambda item: -len(item[0]),
        )
        self._initials = {text[0] for text, _ in self._by_text}
        self._set_text(response)
        self._set_text(self._without_listings())

    def _set_text(self, text: str) -> None:
        self._text, self._lower = text, text.lower()
        # Several cues often end at the same place.
        self._choices: dict[int, _Choice | None] = {}

    def choice(self) -> str | None:
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
        return next(iter(letters)) if len(letters) == 1 and letters <= self._texts.keys() else None

    # The grammar of options -----------------------------------------------------------------

    def _choice_at(self, at: int) -> _Choice | None:
        """The option that stands at `at`, with those joined to it by "and", "或" and the like."""
        if at not in self._choices:
            self._choices[at] = self._parse_choice(at)
        return self._choices[at]

    def _parse_choice(self, at: int) -> _Choice | None:
        first = self._option_at(at)
        if first is None:
            return None
        letters, end = first.letters, first.end
        for _ in range(MOST_JOINED):
            join = phrases.JOIN.match(self._text, end)
            following = self._option_at(join.end()) if join else None
            if join is None or following is None:
                break
            is_closed = phrases.JOINED if join["firm"] else phrases.JOINED_WEAKLY
            if (
                "\n" in self._text[end : following.start]
                or (join["weak"] and following.spelled and not first.spelled)
                or not is_closed.match(self._text, following.end)
            ):
                break
            letters, end = letters | following.letters, following.end
        return _Choice(letters, first.start, end, first.spelled)

    def _option_at(self, at: int) -> _Choice | None:
        option = _OPTION.match(self._text, at)
        letter = option["letter"].upper() if option else ""
        by_text = self._option_text_at(at)
        if by_text and (
            option is None or letter not in self._texts or by_text.end > option.end() + 1
        ):
            return by_text
        if option:
            own_text_end = self._own_text_end(letter, option.end())
            end = own_text_end or _end(_AFTER_OPTION, self._text, option.end())
            return _Choice(frozenset(letter), option.start("letter"), end, own_text_end is not None)
        several = _LETTERS_RUN_TOGETHER.match(self._text, at)
        if several and list(several["letters"]) == sorted(set(several["letters"])):
            start, end = several.span("letters")
            return _Choice(frozenset(several["letters"]), start, end, spelled=False)
        return None

    def _option_text_at(self, at: int) -> _Choice | None:
        for start in {at, _end(_BEFORE_TEXT, self._text, at)}:
            for text, letter in (
                self._by_text if self._lower[start : start + 1] in self._initials else ()
            ):
                end = start + len(text)
                if self._lower.startswith(text, start) and not self._cuts_word(end):
                    end = _end(_AFTER_TEXT, self._text, end)
                    if phrases.CLOSED.match(self._text, end) or phrases.ASKED.match(
                        self._text, end
                    ):
                        return _Choice(frozenset(letter), start, end, spelled=True)
        return None

    def _own_text_end(self, letter: str, at: int) -> int | None:
        """Where the text of option `letter`, or a good part of it, ends if it follows at `at`."""
        own = self._texts.get(letter, "")
        start = _end(_BETWEEN_LETTER_AND_TEXT, self._text, at)
        beginning = own[: 5 if own.isascii() else 2]
        if not own or not self._lower.startswith(beginning, start):
            return None
        end = start + len(own if self._lower.startswith(own, start) else beginning)
        return None if self._cuts_word(end) and end - start == len(own) else end

    def _cuts_word(self, at: int) -> bool:
        """Whether a Latin word or a number goes on at `at`."""
        before, after = self._text[at - 1 : at], self._text[at : at + 1]
        if after in (".", ",") and before.isdigit():
            return self._text[at + 1 : at + 2].isdigit()
        return before.isascii() and before.isalnum() and after.isascii() and after.isalnum()

    def _without_listings(self) -> str:
        """The response with an ellipsis for every mere repetition of the list of options."""
        order = list(self._texts)
        runs: list[list[tuple[str, int, int]]] = []
        for letter, start, end in self._labelled_texts():
            if runs:
                last, _, last_end = runs[-1][-1]
                gap = self._text[last_end:start] if start >= last_end else "inside the last"
                is_next = order.index(letter) == order.index(last) + 1
                if is_next and not gap.strip(' \n().、,;:。"-/'):
                    runs[-1].append((letter, start, end))
                    continue
            runs.append([(letter, start, end)])
        text = self._text
        for run in reversed(runs):
            is_contrast = len(run) == 2 and "," in text[run[0][2] : run[1][1]]
            if len(run) > 1 and not is_contrast:
                end = run[-1][2]
                # The list may have been cut off after its next letter.
                for following in order[order.index(run[-1][0]) + 1 :][:1]:
                    end = _end(re.compile(rf"[\s(]*{following}[).:、\s]*$"), text, end)
                text = f"{text[: run[0][1]]}\n…\n{text[end:]}"
        cut_off = re.search(rf"\n\(?({order[0]})[.:、]$", text) if order else None
        if cut_off and re.search(rf"…|(?m:^)\(?{order[0]}[.:、]", text[: cut_off.start()]):
            return text[: cut_off.start()]
        return text

    def _labelled_texts(self) -> Iterator[tuple[str, int, int]]:
        for match in _matches(_LETTER, self._text):
            end = self._own_text_end(match[0], match.end())
            if end is not None:
                yield match[0], match.start(), end

    # Decisions ------------------------------------------------------------------------------

    def _decisions(self) -> Iterator[_Decision]:
        """Everything in the response that states a decision or takes one back, in any order."""
        yield from self._announced(Strength.FIRM, Strength.LOOSE)
        for choice in self._subjects:
            claim = phrases.CLAIMED.match(self._text, choice.end)
            if claim and not phrases.ASKED.match(self._text, claim.end()):
                yield _Decision(choice.letters, choice.start)
        opening = self._opening()
        if opening:
            yield _Decision(opening.letters, opening.start)
        last = _LAST_LINE.search(self._text)
        if last and not self._continues_list(last):
            yield _Decision(frozenset(last["letter"]), last.start("letter"))
        for withdrawal in phrases.RETRACTED.finditer(self._text):
            yield _Decision(frozenset(), withdrawal.start())

    def _announced(self, *strengths: Strength) -> Iterator[_Decision]:
        for strength, pattern in _cue_patterns():
            if strength not in strengths:
                continue
            for cue in _matches(pattern, self._text):
                choice = self._choice_at(cue.end())
                if choice is None or not self._stands(choice, strength):
                    continue
                if "\n" in self._text[cue.end() : choice.start] and self._is_list_item(choice):
                    continue
                clause = self._clause_before(cue.start())
                if not _is_blocked(clause):
                    hedged = _is_hedged(clause + cue[0])
                    yield _Decision(choice.letters, choice.start, choice.end, hedged)

    def _stands(self, choice: _Choice, strength: Strength) -> bool:
        """Whether what follows the choice lets it stand."""
        end = choice.end
        if phrases.ASKED.match(self._text, end) or phrases.REFUTED.match(self._text, end):
            return False
        if choice.spelled or phrases.CLOSED.match(self._text, end):
            return True
        is_article = self._text[choice.start] in "Aa"
        goes_on = phrases.GOES_ON_AFTER_A if is_article else phrases.GOES_ON
        return strength is Strength.FIRM and goes_on.match(self._text, end) is not None

    def _is_list_item(self, choice: _Choice) -> bool:
        """Whether the choice, on a line below its cue, is one item of a list of options."""
        line_end = self._text.find("\n", choice.end) % (len(self._text) + 1)
        rest_of_line = self._text[choice.end : line_end].strip(' .。!)"')
        following = _LABEL.match(self._text, line_end)
        return bool(rest_of_line and not choice.spelled) or bool(
            following and following["letter"] > max(choice.letters)
        )

    def _continues_list(self, last: re.Match[str]) -> bool:
        """Whether the last line is the beginning of the next item of a list, cut off."""
        labels = [
            label["letter"]
            for label in _matches(_LABEL, self._text[: last.start()])
            if bool(label["word"]) == bool(last["word"])
        ]
        return bool(labels) and ord(labels[-1]) == ord(last["letter"]) - 1

    def _clause_before(self, at: int) -> str:
        return re.split(r"[\n.。,;!?、:]", self._text[max(0, at - 40) : at])[-1]

    def _opening(self) -> _Choice | None:
        """The choice that the response opens with, unless it opens a list."""
        choice = self._choice_at(0)
        if (
            choice is None
            or phrases.REFUTED_ITEM.match(self._text, choice.end)
            or not self._stands(choice, Strength.LOOSE)
        ):
            return None
        line_end = self._text.find("\n", choice.end)
        following = self._choice_at(line_end + 1) if line_end >= 0 else None
        if following and following.spelled and following.letters != choice.letters:
            return None
        if self._lower[choice.start : choice.end] in self._texts.values():
            lines = set(self._lower[choice.end :].split("\n"))
            if any(text in lines for text, letter in self._by_text if letter not in choice.letters):
                return None
        successor = chr(ord(max(choice.letters)) + 1)
        if re.match(rf'[)".:、,;\s]*{successor}(?![A-Za-z])', self._text[choice.end :]):
            return None
        label = _LABEL.search(self._text, choice.end)
        opens_list = (
            label
            and label["letter"] == successor
            and not phrases.EXPLAINED.search(self._text, choice.end, label.start())
        )
        return None if opens_list else choice

    def _direct_answer(self) -> _Choice | None:
        """The choice that alone fills the first line, with reasons or another question to follow."""
        opening = self._opening()
        if opening is None or len(opening.letters) != 1:
            return None
        rest_of_line = self._text[opening.end :].partition("\n")[0]
        return None if rest_of_line.strip(' .。,!)":;') else opening

    def _revision(self, direct: _Choice, decisions: list[_Decision]) -> frozenset[str]:
        """The decision by which the response openly departs from its direct answer."""
        another = re.compile(r"\n[ (]*A[).:、]").search(self._text, direct.end)
        until = another.start() if another else len(self._text)
        return _settle(
            [
                decision
                for decision in decisions
                if direct.end < decision.start < until
                and phrases.REVISED.search(
                    self._text, max(direct.end, decision.start - 60), decision.start
                )
            ]
        )

    def _on_this_question(self, decisions: list[_Decision]) -> list[_Decision]:
        """The decisions before the response, having decided, begins another question."""
        decided = [decision.start for decision in decisions if decision.letters]
        question = phrases.NEW_QUESTION.search(self._text, min(decided)) if decided else None
        if question is None:
            return decisions
        return [decision for decision in decisions if decision.start < question.start()]

    # Hints ----------------------------------------------------------------------------------

    @cached_property
    def _subjects(self) -> list[_Choice]:
        """The choices that can be the subject of their clause."""
        subjects: list[_Choice] = []
        end = 0
        for match in _matches(_SUBJECT, self._text):
            start = match.start()
            if start < end:
                continue
            choice = self._choice_at(start)
            if choice is None:
                continue
            end = choice.end
            is_subject = (
                match["word"]
                or choice.spelled
                or len(choice.letters) > 1
                or phrases.SUBJECT_AHEAD.search(self._text, max(0, start - 24), start)
            )
            if is_subject and not _is_blocked(self._clause_before(start)):
                subjects.append(choice)
        return subjects

    def _hinted(self, after: int) -> str | None:
        """The one option that the response speaks for without stating a decision."""
        hints = list(self._announced(Strength.HINT))
        refuted: frozenset[str] = frozenset()
        for choice in self._subjects:
            refutation = phrases.REFUTED_NEARBY.match(self._text, choice.end)
            affirmation = phrases.AFFIRMED.match(self._text, choice.end)
            if refutation and (not affirmation or refutation.end() < affirmation.end()):
                refuted |= choice.letters
            elif (
                affirmation
                or phrases.ALONE_AHEAD.search(self._text, max(0, choice.start - 24), choice.start)
                or (choice.spelled and phrases.CLOSED.match(self._text, choice.end))
            ):
                hints.append(_Decision(choice.letters, choice.start))
        for pattern in (_IN_BRACKETS_AT_END, phrases.LAST_CLAUSE):
            if at_end := pattern.search(self._text):
                hints.append(_Decision(frozenset(at_end["letter"]), at_end.start()))
        hints = [hint for hint in hints if hint.start > after and not self._is_considered(hint)]
        if not hints:
            return self._named_in_only_sentence()
        hinted = frozenset[str]().union(*(hint.letters for hint in hints))
        body = self._text.rstrip(" .。!")
        ends = [match.end() for match in phrases.SENTENCE_END.finditer(body)] or [0]
        is_finished = len(body) < len(self._text)
        is_last = max(hint.start for hint in hints) >= ends[-1] and (is_finished or not refuted)
        mentioned = frozenset(_LETTER.findall(self._text)) - refuted
        is_first = (
            min(hint.start for hint in hints) < (ends[0] or len(body)) and mentioned == hinted
        )
        by_elimination = self._texts.keys() - refuted == hinted
        return self._only(hinted - refuted) if is_first or is_last or by_elimination else None

    def _is_considered(self, hint: _Decision) -> bool:
        before = self._text[max(0, hint.start - 80) : hint.start]
        sentence = re.split(r"[。!?]|(?<!:)\n|(?<![A-H])\.(?=\s)", before)[-1]
        return phrases.CONSIDERED.search(sentence) is not None

    def _named_in_only_sentence(self) -> str | None:
        """The option that ends a response of one sentence, in which no other is named."""
        sentence = self._lower.rstrip(' .。!")')
        if phrases.SENTENCE_END.search(sentence) or phrases.NOT_STATED.search(sentence):
            return None
        named = [
            (letter, len(sentence) - len(text))
            for text, letter in self._by_text
            if len(text) >= (3 if text.isascii() else 2) and text in sentence
        ]
        if not named and (match := phrases.IS_AT_END.search(self._text[: len(sentence)])):
            named = [(match["letter"], match.start("letter"))]
        if len(named) != 1:
            return None
        letter, at = named[0]
        if self._cuts_word(at) or _LETTER.search(_ARTICLE.sub("", self._text[:at])):
            return None
        return (
            self._only(frozenset(letter))
            if sentence[at:] in (letter.lower(), self._texts[letter])
            else None
        )


def _settle(decisions: list[_Decision]) -> frozenset[str]:
    """The last decision; hedged ones count only beside other hedged ones, and add up."""
    settled: frozenset[str] = frozenset()
    hedged = True
    several_end = 0
    for decision in decisions:
        if decision.start < several_end:  # the second of 選A還是選B
            continue
        if len(decision.letters) > 1:
            several_end = decision.end
        if not decision.letters:
            settled, hedged = frozenset(), True
        elif not decision.hedged:
            settled, hedged = decision.letters, False
        elif hedged:
            settled |= decision.letters
    return settled


@cache
def _cue_patterns() -> tuple[tuple[Strength, re.Pattern[str]], ...]:
    return tuple((cue.strength, phrases.phrase(cue.pattern)) for cue in CUES)


@lru_cache(maxsize=64)
def _is_blocked(clause: str) -> bool:
    return phrases.BLOCKED.search(clause) is not None


@lru_cache(maxsize=64)
def _is_hedged(clause: str) -> bool:
    return phrases.HEDGED.search(clause) is not None


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _matches(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    found = list(pattern.finditer(text))
    return found[:-MOST_MATCHES][:MOST_MATCHES] + found[-MOST_MATCHES:]
