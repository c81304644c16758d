"""Kinds of lines and sentences in a response to a request for a translation.

A piece has one kind, by the first rule that fits: a courtesy, an offer, a comment, a romanisation,
a copy of the source, a gloss, or text. A kind that the source has, too, may be part of the
translation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from rapidfuzz.distance import LCSseq

from hkcanto_metrics.fluency import count_features
from hkcanto_metrics.language import Language, identify_language
from hkcanto_metrics.patterns import read_patterns
from hkcanto_metrics.script import HAN, fold_script

# Only this much is read; the rest is kept if the translation goes on to the end of what is read.
CHARACTERS_READ = 30_000
LINES_READ = 500
# Share of a text's bigrams that also occur in the source: 22 % or more in the Cantonese references
# of Chinese sentences, 5 % or less in the references of other sentences (percentiles 1 and 99).
_RELATED = 0.12
_COPIED = 0.88
# Lengths relative to the source. Of 3,000 Cantonese references of English texts, 98 % have 0.76 to
# 1.33 times its length; of Chinese texts, 0.88 to 1.09 times. A summary is much shorter.
SUMMARY = 0.15
SHORT = 0.3
HALF = 0.5
COMPLETE = 0.6
ENOUGH = 0.7
WHOLE = 0.95
FULL = 1.25
_CHARACTERS_IN_A_WORD = 1.3
# The size of a source so short that length and wording show less.
_FEW = 15
HEAD = 200
LONGEST_LABEL = 60
_LONGEST_NAME = 5
_LONGEST_PAUSE = 2
HAN_CHARACTER = re.compile(f"[{HAN}]")
_UNIT = re.compile(rf"[{HAN}]|[^\W\d_{HAN}]+(?:['’][a-z]+)?[1-6]?")
_TONE = re.compile("[1-6]$|[āáǎàēéěèīíǐìōóǒòūúǔùǖǘǚǜ]")
_SENTENCE_END = re.compile(r"(?<=[。！!？?.…~])\s*|[,，]\s*")
QUOTED = re.compile(r"[「『“\"]([^「」『』“”\"]+)[」』”\"]")
_PAIRED = re.compile("[→=＝]")  # a word and its explanation
QUESTION = re.compile("[?？]")
OPENING = re.compile(r"(?:<\w+>|[\W_]|\d\d?[.、)]\s)*")
QUOTE_MARK = re.compile(r"(?m)^>\x20?")
ARROW = re.compile(r"(?:→|⇒|[-=]>)\s*")
TABLE = re.compile(r"\|.*\|")
# A title in a line of its own.
_TITLE = re.compile(r"#+\s.*|\*\*[^*]+\*\*[:：]?")
_CLOSERS = re.compile('[」』”’"）)]+')
COLONS = (":", "：")
REMARK = ("(", "（", "[")
PATTERNS = read_patterns(
    Path(__file__).with_name("translation_layout.toml"), re.IGNORECASE | re.VERBOSE
)
# The kinds of text below a heading, in the order in which headings are looked for.
HEADINGS = (
    "turn",
    "draft",
    "final",
    "option",
    "version",
    "notes",
    "source",
    "named",
    "label",
)
ASIDES = {"draft", "notes", "option", "version", "turn"}
# Kinds of text after a translation.
TAILS = ("offer", "request", "comment", "wish", "ending")
_SPOKEN = {"courtesy", "announces", "item", "closing", "rule", *HEADINGS, *TAILS}
# Kinds that a source has if it has a mark or a word of them anywhere.
_SOURCE_MARKS = {
    "brackets": re.compile("[(（)）]"),
    "colon": re.compile("[:：→—]"),
    "quotes": QUOTED,
    "table": TABLE,
    "quote": QUOTE_MARK,
    "arrow": ARROW,
    "title": re.compile("[#*]"),
    "about": PATTERNS["language"],
    "wish": PATTERNS["wishes"],
    "ending": PATTERNS["ends"],
}
# The kinds that may follow a mark or a number.
_WORDED = {"offer", *HEADINGS}
_MARKS = " 。！!.,，~～*…😊"
# The names of the requested language. A text without a distinctive word may be in any variety of
# Chinese.
_WRITTEN: Set[Language] = {"written_chinese", "simplified_mandarin"}
_ASKED: dict[str, Set[Language]] = {
    "yue": {"cantonese"},
    "zh": _WRITTEN,
    "en": {"english"},
}


class Part:
    """A text with the units for comparing it: Chinese characters and words of other languages."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.folded = fold_script(text)
        self.units = _UNIT.findall(self.folded.lower())
        han = len(HAN_CHARACTER.findall(self.folded))
        words = len(self.units) - han
        self.size = han + _CHARACTERS_IN_A_WORD * words or 0.1
        self.chinese = han > words
        toned = sum(map(bool, map(_TONE.search, self.units)))
        self.romanised = words > max(1, han) and toned > 0.3 * words
        self.bigrams = {*pairwise(self.units)}

    @cached_property
    def language(self) -> Language | None:
        """The language that its words indicate; None if they indicate none or several."""
        language = identify_language(self.text).language
        is_neutral = language in _WRITTEN and not count_features(self.text)[1]
        return None if is_neutral or language in ("mixed", "none") else language

    def is_repeated_in(self, other: Part) -> bool:
        """Whether another text says most of it; a long one has the words of any short one."""
        if min(len(self.units), len(other.units)) < _FEW:
            return {*self.units} <= {*other.units}
        return len(self.bigrams & other.bigrams) >= HALF * len(self.bigrams)


class Piece(Part):
    """A piece of a response.

    Args:
        text: Its text.
        gap: The white space before it.
        heading: The kind of text below it, if it is a heading.
    """

    def __init__(
        self,
        text: str,
        gap: str,
        heading: str = "",
    ) -> None:
        super().__init__(text)
        self.gap = gap
        self.heading = heading
        self.kind = "heading" if heading else ""
        self.section = ""  # the last heading above it
        if heading == "entry":
            self.heading = ""
            self.kind = "talk"


class PieceKinds:
    """The kinds of pieces of a response that a source does not have itself.

    Args:
        source: The text to be translated.
        language: The language asked for: ``yue``, ``zh`` or ``en``. By default, Cantonese is
            preferred to Written Chinese if the source is Written Chinese.
    """

    def __init__(
        self,
        source: str,
        language: str,
    ) -> None:
        self.source = source
        self.original = Part(source[:CHARACTERS_READ])
        lines = self.original.folded.splitlines()[:LINES_READ]
        self.n_lines = len([*filter(str.strip, source.splitlines())])
        self.is_short = self.original.size < _FEW
        self.kinds = {
            kind for kind in _SPOKEN if not any(begins(kind, line) for line in lines)
        }
        for kind, mark in _SOURCE_MARKS.items():
            self.kinds.add(kind)
            if mark.search(self.original.folded):
                self.kinds.discard(kind)
        opening = _SENTENCE_END.split(self.original.folded, maxsplit=1)[0]
        is_opened = (
            opening.endswith(("!", "！")) and Part(opening).size <= _LONGEST_NAME
        )
        if is_opened or PATTERNS["assent"].fullmatch(opening.strip(_MARKS)):
            self.kinds.discard("courtesy")
        self.asked = _ASKED.get(language, set())
        if not language and self.original.language in {*_WRITTEN, None}:
            self.asked = _ASKED["yue"]
        # Nothing is foreign if the language asked for is not known.
        unknown = None if self.original.chinese else True
        self.chinese = {"yue": True, "zh": True, "en": False}.get(language, unknown)

    def _is_about(self, part: Part) -> bool:
        """Whether a text speaks of translating, although the source does not."""
        ends = part.folded[:160], part.folded[-60:]
        return "about" in self.kinds and any(map(PATTERNS["about"].search, ends))

    def _name_kinds(self, pieces: Sequence[Piece]) -> None:
        """Name the kind of each piece, and the section that it is in."""
        section = ""
        known = ""  # the translation as far as it is known
        size = 0.0
        for piece, after in pairwise([*pieces, Piece("", "")]):
            share = size / self.original.size
            if not piece.heading and self._is_title(piece, share):
                piece.heading = "notes"
                piece.kind = "heading"
            piece.kind = piece.kind or self._kind(
                piece,
                after.text,
                share,
                known,
            )
            # Another turn of the user goes on to the end.
            if section != "turn" or share < SHORT:
                section = self._section_below(piece) or section
            piece.section = section
            if piece.kind == "text" and section not in ASIDES:
                size += piece.size
                known += piece.folded
        if size < WHOLE * self.original.size:
            for piece in pieces:
                if piece.kind == "loose":
                    piece.kind = "text"

    def _is_title(
        self,
        piece: Piece,
        share: float,
    ) -> bool:
        """Whether a piece is a short title of notes, although the source has no titles."""
        is_over = share >= COMPLETE and self.n_lines == 1 and "\n" in piece.gap
        is_title = _TITLE.fullmatch(piece.text) is not None
        return "title" in self.kinds and is_over and is_title

    @staticmethod
    def _section_below(piece: Piece) -> str:
        """The kind of text that begins below a piece; empty if it does not begin any."""
        if piece.kind == "request":
            return "turn"
        if piece.kind in TAILS or piece.kind == "rule":
            return "notes"
        return piece.heading

    def _kind(
        self,
        piece: Piece,
        after: str,
        share: float,
        known: str,
    ) -> str:
        """The kind of a piece of a response, by the first rule that fits."""
        frame = self._frame_kind(piece, share)
        if frame:
            return frame
        if piece.romanised and not self.original.romanised:
            return "romanisation"
        if self._is_foreign(piece):
            return "other"
        if self._is_copy(piece):
            return "copy"
        if self._is_talk(piece, after, share) or self._is_gloss(piece, share, known):
            return "talk"
        return "text" if self._goes_on(piece, share) else "loose"

    def _frame_kind(
        self,
        piece: Piece,
        share: float,
    ) -> str:
        """The kind of a piece that is no text, or that speaks to the user; else empty."""
        if share >= COMPLETE and "rule" in self.kinds and begins("rule", piece.text):
            return "rule"
        if _CLOSERS.fullmatch(piece.text) and share:
            return "text"
        if not piece.units or piece.text.startswith("```"):
            return "mark"
        if not share and "courtesy" in self.kinds and begins("courtesy", piece.text):
            return "courtesy"
        return self._tail_kind(piece, share) if share >= HALF else ""

    def _tail_kind(
        self,
        piece: Piece,
        share: float,
    ) -> str:
        """The kind of a piece that speaks to the user, unlike the source; else empty."""
        for kind in TAILS:
            if kind in self.kinds and begins(kind, piece.text):
                return "" if self.n_lines > 1 and share < COMPLETE else kind
        return ""

    def _is_copy(self, piece: Piece) -> bool:
        """Whether a piece repeats the source."""
        if piece.size < COMPLETE * self.original.size:
            return False
        # A sentence may change by a few particles only.
        if piece.language in self.asked and self.original.language not in self.asked:
            return False
        similarity = LCSseq.similarity(piece.text, self.source)
        return similarity >= _COPIED * len(piece.text)

    def _is_talk(
        self,
        piece: Piece,
        after: str,
        share: float,
    ) -> bool:
        """Whether a piece speaks of translating, or announces what follows."""
        is_long = piece.size >= COMPLETE * self.original.size
        if is_long and share < COMPLETE and not self.is_short:
            return False
        is_led = piece.text.rstrip("*").endswith(COLONS) and self.n_lines == 1
        is_led = is_led and not after.startswith(("「", "『", "“", '"'))
        return self._is_about(piece) or (is_led and "colon" in self.kinds)

    def _is_gloss(
        self,
        piece: Piece,
        share: float,
        known: str,
    ) -> bool:
        """Whether a piece explains words of the source or of the translation."""
        texts = f"{self.original.folded} {known}".lower()
        entry = PATTERNS["entry"].match(piece.folded)
        word = entry[1].strip().lower() if entry else ""
        is_entry = 0 < len(word) < COMPLETE * len(self.source) and word in texts
        is_entry = is_entry or len(_PAIRED.findall(piece.text)) > 1
        quoted: list[str] = []
        if share >= SHORT and "quotes" in self.kinds:
            quoted = QUOTED.findall(piece.folded.lower())
        has_word = any(word[1:] and word in texts for word in quoted)
        return has_word or (is_entry and "colon" in self.kinds)

    def _is_foreign(self, piece: Part) -> bool:
        """Whether a piece is in another script than the one asked for."""
        if self.chinese in (None, piece.chinese):
            return False
        is_name = len(piece.units) <= _LONGEST_NAME
        is_name = is_name and {*piece.units} <= {*self.original.units}
        return len(piece.units) > _LONGEST_PAUSE and not is_name

    def _goes_on(
        self,
        piece: Piece,
        share: float,
    ) -> bool:
        """Whether a piece may begin or go on with the translation, not with the source."""
        is_first = not share and self.n_lines == 1
        if is_first and "closing" in self.kinds and begins("closing", piece.text):
            return False
        is_late = share >= COMPLETE and piece.size > _LONGEST_NAME
        return not (is_first or is_late) or self._is_related(piece)

    def _is_related(self, part: Part) -> bool:
        """Whether a text shares words with the source, if both are Chinese."""
        if self.is_short or not (part.chinese and self.original.chinese):
            return True
        shared = len(part.bigrams & self.original.bigrams)
        return shared > _RELATED * len(part.bigrams)


def begins(kind: str, text: str) -> bool:
    """Whether a text is of a kind by its first words."""
    folded = fold_script(text.strip()[:HEAD]).replace("’", "'")
    if kind == "courtesy":
        sentences = [sentence.strip(_MARKS) for sentence in _SENTENCE_END.split(folded)]
        spoken = [*filter(None, sentences)]
        return bool(spoken) and all(map(PATTERNS["courtesy"].fullmatch, spoken))
    begin = OPENING.match(folded) if kind in _WORDED else None
    return PATTERNS[kind].match(folded, begin.end() if begin else 0) is not None


def label_length(text: str) -> int:
    """Return the length of a label at the start of a text that names a translation or its language.

    Examples:
        >>> label_length("譯文：好"), label_length("(Cantonese) 好"), label_length("好：好")
        (3, 11, 0)
    """
    label = PATTERNS["own_label"].match(fold_script(text[:LONGEST_LABEL]))
    return label.end() if label else 0
