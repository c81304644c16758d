"""How the options of a question are written in a response: by letter, by text, joined, in lists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hkcanto_metrics.decision_phrases import ASKED, CLOSED, EXPLAINED, JOIN, JOINED, JOINED_WEAKLY

# More than these in one response are a loop, of which both ends are read.
_MOST_JOINED = 8
_MOST_MATCHES = 50

# A letter's boundaries are written out, because a Chinese character next to it is one. A to H are
# read even where there are fewer options: to answer with another letter is not to answer.
_BEFORE = r"(?<![0-9A-Za-z\u00c0-\u058f_\\&'+°-])(?<![A-Z]\.)"
_AFTER = r"(?![0-9A-Za-z\u00c0-\u058f_+#&°%']|-[0-9A-Za-z]|\([a-z]\))"
_INITIALS = re.compile(r"\.\s?[A-Za-z]\.")
_WORD = (
    r"(?:(?i:(?:the )?(?:correct )?(?:option|choice|letter|answer)|选项|选择|字母|代号)|\\boxed)"
)

LETTER = re.compile(f"{_BEFORE}[A-H]{_AFTER}")
# An option, perhaps with a word such as "option", that can be the subject of a clause.
MENTION = re.compile(rf'(?:(?P<word>{_WORD})[ (":]{{0,3}}|{_BEFORE})(?=[A-H](?![a-z]))')
LAST_LINE = re.compile(rf'\n[ ("]{{0,3}}(?P<word>{_WORD} ?)?(?P<letter>[A-H])[)" .。!]*$')

# A small letter counts only at the end of a clause.
_OPTION = re.compile(
    rf'[\s()":]{{0,6}}(?:{_WORD}[\s(":]{{0,4}})?'
    rf'(?P<letter>[A-H]|[a-h](?=[)" ]{{0,4}}(?:$|[\n.,。;!]))){_AFTER}'
)
_AFTER_OPTION = re.compile(r'[)"]{0,4}(?: ?(?:[这呢嗰]个)?(?:选项|选择|项|(?i:option))[)"]{0,2})?')
_RUN_TOGETHER = re.compile(r'[\s(":]{0,6}(?P<letters>[A-H]{2,5})(?![0-9A-Za-z])')
_BEFORE_TEXT = re.compile(r'[\s(":]{0,6}(?:(?i:the |option |choice )|选项)?[("]{0,2}')
_AFTER_TEXT = re.compile(r'[)"]{0,3}(?:[年月日元度岁个人次分秒]|选项|项)?')
_FROM_LETTER_TO_TEXT = re.compile(r'[)".:、,\s(=>–—-]{0,6}')
# A full stop that belongs to the text, since the sentence goes on after it.
_FULL_STOP = re.compile(r"[.。](?=[)\"]? ?[^\s)\"])")
_BETWEEN_LIST_ITEMS = ' \n().、,;:。"-/'
_LABEL = re.compile(
    r'(?:^|[\n;。])[ ("]{0,3}(?P<word>[Oo]ption |选项)?(?P<letter>[A-H])'
    r'(?:[).:、"]|$|(?<=[Oo]ption [A-H])|(?<=选项[A-H]))',
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Choice:
    """One option, or several joined, at a place in the response.

    Attributes:
        letters: the letters, of options or (up to H) of none.
        start: where the first letter or text starts.
        end: where the last one ends, closing brackets included.
        spelled: the text of the (first) option stands there, alone or after its letter.
    """

    letters: frozenset[str]
    start: int
    end: int
    spelled: bool


class OptionGrammar:
    """Finds the options of one question in one response.

    Attributes:
        text: the normalised response, an ellipsis in place of every mere list of the options.
        lower: the same in small letters.
        texts: the normalised text of each option, by letter.
        distinct: the texts that identify an option with its letter, the longest first.

    >>> grammar = OptionGrammar("答案:A和(C)", {"A": "詩", "B": "史", "C": "試"})
    >>> sorted(grammar.choice_at(3).letters)
    ['A', 'C']
    """

    def __init__(self, response: str, options: Mapping[str, str]) -> None:
        """Read `response` with `options`, both as `normalize_response` returns them."""
        self.texts = {letter: text.strip(" .。,、;").lower() for letter, text in options.items()}
        texts = list(self.texts.values())
        self.distinct = sorted(
            ((own, letter) for letter, own in self.texts.items() if own and texts.count(own) == 1),
            key=lambda item: -len(item[0]),
        )
        self._initials = {text[0] for text, _ in self.distinct}
        self._set_text(response)
        self._set_text(self._without_lists())

    def _set_text(self, text: str) -> None:
        self.text, self.lower = text, text.lower()
        # Many phrases end at the same place.
        self._choices: dict[int, Choice | None] = {}

    # Options ----------------------------------------------------------------------------------

    def choice_at(self, at: int) -> Choice | None:
        """The option that stands at `at`, with those joined to it by "and", "或" and the like."""
        if at not in self._choices:
            self._choices[at] = self._read_choice(at)
        return self._choices[at]

    def _read_choice(self, at: int) -> Choice | None:
        first = self._read_option(at)
        if first is None:
            return None
        letters, end = first.letters, first.end
        for _ in range(_MOST_JOINED):
            join = JOIN.match(self.text, end)
            following = self._read_option(join.end()) if join else None
            if join is None or following is None:
                break
            closed = JOINED if join["firm"] else JOINED_WEAKLY
            if (
                "\n" in self.text[end : following.start]
                or (join["weak"] and following.spelled and not first.spelled)
                or not closed.match(self.text, following.end)
            ):
                break
            letters, end = letters | following.letters, following.end
        return Choice(letters, first.start, end, first.spelled)

    def _read_option(self, at: int) -> Choice | None:
        option = _OPTION.match(self.text, at)
        letter = option["letter"].upper() if option else ""
        by_text = self._read_text(at)
        if by_text and not (option and letter in self.texts and by_text.end <= option.end() + 1):
            return by_text
        if option:
            own_text_end = self._own_text_end(letter, option.end())
            if own_text_end is None and _INITIALS.match(self.text, option.end()):
                return None
            end = own_text_end or match_end(_AFTER_OPTION, self.text, option.end())
            return Choice(frozenset(letter), option.start("letter"), end, own_text_end is not None)
        several = _RUN_TOGETHER.match(self.text, at)
        if several and list(several["letters"]) == sorted(set(several["letters"])):
            return Choice(frozenset(several["letters"]), *several.span("letters"), spelled=False)
        return None

    def _read_text(self, at: int) -> Choice | None:
        for start in range(match_end(_BEFORE_TEXT, self.text, at), at - 1, -1):
            if self.lower[start : start + 1] not in self._initials:
                continue
            for text, letter in self.distinct:
                end = start + len(text)
                if not self.lower.startswith(text, start) or self.cuts_word(end):
                    continue
                end = match_end(_AFTER_TEXT, self.text, end)
                if CLOSED.match(self.text, end) or ASKED.match(self.text, end):
                    return Choice(frozenset(letter), start, end, spelled=True)
        return None

    def _own_text_end(self, letter: str, at: int) -> int | None:
        """Where the text of option `letter`, or its beginning, ends if it follows at `at`."""
        own = self.texts.get(letter, "")
        beginning = own[: 5 if own.isascii() else 2]
        after_letter = match_end(_FROM_LETTER_TO_TEXT, self.text, at)
        # The text itself may begin with a bracket or a sign.
        for start in range(after_letter, at - 1, -1):
            end = start + len(own)
            if own and self.lower.startswith(own, start) and not self.cuts_word(end):
                return match_end(_FULL_STOP, self.text, end)
            if len(beginning) < len(own) and self.lower.startswith(beginning, start):
                return start + len(beginning) if "\n" not in self.text[at:start] else None
        return None

    def cuts_word(self, at: int) -> bool:
        """Whether a Latin word or a number goes on at `at`."""
        before, after = self.text[at - 1 : at], self.text[at : at + 1]
        if after in (".", ",") and before.isdigit():
            return self.text[at + 1 : at + 2].isdigit()
        return before.isascii() and before.isalnum() and after.isascii() and after.isalnum()

    # Lists of options -------------------------------------------------------------------------

    def _without_lists(self) -> str:
        order = list(self.texts)
        text = self.text
        for items in reversed(list(self._runs_of_items(order))):
            start, end = items[0][1], items[-1][2]
            is_contrast = len(items) == 2 and "," in text[items[0][2] : items[1][1]]
            if len(items) > 1 and not is_contrast:
                # The list may have been cut off after its next letter.
                following = "".join(order[order.index(items[-1][0]) + 1 :][:1])
                cut_off = (
                    re.compile(rf"[\s().。,、;]*{following}[).:、\s]*$") if following else None
                )
                end = match_end(cut_off, text, end) if cut_off else end
                text = f"{text[:start]}\n…\n{text[end:]}"
        return _without_cut_off_item(text, order[0]) if order else text

    def _runs_of_items(self, order: list[str]) -> Iterator[list[tuple[str, int, int]]]:
        """Runs of options, each its letter and text, that follow each other in order."""
        run: list[tuple[str, int, int]] = []
        for match in matches(LETTER, self.text):
            letter, start = match[0], match.start()
            end = self._own_text_end(letter, match.end())
            if end is None:
                continue
            if run:
                last, _, last_end = run[-1]
                is_next = order.index(letter) == order.index(last) + 1 and start >= last_end
                if not is_next or self.text[last_end:start].strip(_BETWEEN_LIST_ITEMS):
                    yield run
                    run = []
            run.append((letter, start, end))
        if run:
            yield run

    def is_list_item(self, choice: Choice) -> bool:
        """Whether a choice that stands on a line below its cue is an item of a list."""
        line_end = self.text.find("\n", choice.end) % (len(self.text) + 1)
        if not choice.spelled and self.text[choice.end : line_end].strip(' .。!)"'):
            return True
        label = _LABEL.match(self.text, line_end)
        return label is not None and label["letter"] > max(choice.letters)

    def opens_list(self, choice: Choice) -> bool:
        """Whether a choice at the beginning of the response is the first of a list."""
        line_end = self.text.find("\n", choice.end)
        below = self.choice_at(line_end + 1) if line_end >= 0 else None
        if below and below.spelled and below.letters != choice.letters:
            return True
        if self.lower[choice.start : choice.end] in self.texts.values():
            lines = set(self.lower[choice.end :].split("\n"))
            if any(text in lines for text, letter in self.distinct if letter not in choice.letters):
                return True
        successor = _next_letter(max(choice.letters))
        if re.match(rf'[)".:、,;\s]*{successor}(?![A-Za-z])', self.text[choice.end :]):
            return True
        label = _LABEL.search(self.text, choice.end)
        return (
            label is not None
            and label["letter"] == successor
            and not EXPLAINED.search(self.text, choice.end, label.start())
        )

    def is_cut_off_item(self, last_line: re.Match[str]) -> bool:
        """Whether the last line, a letter, is the beginning of a list's next item."""
        labels = [
            label["letter"]
            for label in matches(_LABEL, self.text[: last_line.start()])
            if bool(label["word"]) == bool(last_line["word"])
        ]
        return bool(labels) and _next_letter(labels[-1]) == last_line["letter"]


def _without_cut_off_item(text: str, first: str) -> str:
    """The text without the first label of a list, where a loop was cut off right after it."""
    cut_off = re.search(rf"\n\(?{first}[.:、]$", text)
    if cut_off and re.search(rf"…|(?m:^)\(?{first}[.:、]", text[: cut_off.start()]):
        return text[: cut_off.start()]
    return text


def _next_letter(letter: str) -> str:
    return chr(ord(letter) + 1)


def match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where the pattern's match at `at` ends; `at` if there is none."""
    match = pattern.match(text, at)
    return match.end() if match else at


def matches(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """The pattern's matches in the text; of very many, the first and the last ones."""
    found = list(pattern.finditer(text))
    return found[:-_MOST_MATCHES][:_MOST_MATCHES] + found[-_MOST_MATCHES:]
