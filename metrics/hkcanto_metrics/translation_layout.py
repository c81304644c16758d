"""Find the translation in a response, by what each of its lines is.

A response is cut into pieces: lines, cells of a table, headings before other text in a line. Each
has one kind, by the first rule that fits: a courtesy, an offer, a comment, a romanisation, a copy
of the source, a gloss, or text. Headings say what the text below them is. A kind that the source
has, too, may be part of the translation. Of several texts, one under no heading of notes or
alternatives, as long as the source and in the language asked for comes first; then the earliest.
Quality never counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from hkcanto_metrics.fluency import count_features
from hkcanto_metrics.language import Language, identify_language
from hkcanto_metrics.patterns import read_patterns
from hkcanto_metrics.script import HAN, fold_script

# Only this much is read; the rest is kept if the translation goes on to the end of what is read.
_CHARACTERS_READ, _LINES_READ = 30_000, 500
# Share of a text's bigrams that also occur in the source: 22 % or more in the Cantonese references
# of Chinese sentences, 5 % or less in the references of other sentences (percentiles 1 and 99).
_RELATED, _COPIED = 0.12, 0.88
# Lengths relative to the source. Of 3,000 Cantonese references of English texts, 98 % have 0.76 to
# 1.33 times its length; of Chinese texts, 0.88 to 1.09 times. A summary is much shorter.
_SUMMARY, _SHORT, _HALF, _COMPLETE = 0.15, 0.3, 0.5, 0.6
_ENOUGH, _WHOLE, _FULL, _TOO_MUCH = 0.7, 0.95, 1.25, 1.8
_CHARACTERS_IN_A_WORD = 1.3
# The size of a source so short that length and wording show less.
_FEW = 15
_HEAD, _LONGEST_LABEL, _LONGEST_ANNOUNCEMENT = 200, 60, 80
_LONGEST_NAME, _LONGEST_PAUSE = 5, 2
_MOST_SENTENCES = 30
_SAME = 0.9

_HAN_CHARACTER = re.compile(f"[{HAN}]")
_UNIT = re.compile(rf"[{HAN}]|[^\W\d_{HAN}]+(?:['’][a-z]+)?[1-6]?")
_TONE = re.compile("[1-6]$|[āáǎàēéěèīíǐìōóǒòūúǔùǖǘǚǜ]")
_SENTENCE = re.compile(r"[。！？!?]+|\.[. ]*(?=\W*(?:\s|$))")
_STATEMENT = re.compile(
    r"[^。！？!?.\n]*(?:[。！？!?…]+[」』”\"）)]*|\.[」』”\"）)]*(?=\s|$)|\.|$)\s*"
    r"|[「『“\"][^」』”\"]+[」』”\"]\s*(?=[、,，/或「『“\"]|or\b|$)"
)
_SENTENCE_END = re.compile(r"(?<=[。！!？?.…~])\s*|[,，]\s*")
_QUOTED = re.compile(r"[「『“\"]([^「」『』“”\"]+)[」』”\"]")
_PAIRED = re.compile("[→=＝]")  # a word and its explanation
_NAME = re.compile(r"[^\W_\u3400-\u9fff]*(?:\d|[A-Z])[^\W_\u3400-\u9fff]*")
_QUESTION = re.compile("[?？]")
_OPENING = re.compile(r"(?:<\w+>|[\W_]|\d\d?[.、)]\s)*")
_CLOSING = re.compile(r"\*\*|</\w+>")
_QUOTE_MARK = re.compile(r"(?m)^>\x20?")
_QUOTED_SENTENCE = re.compile(r"([「『“\"].*[」』”\"])[。.]", re.DOTALL)
_ARROW = re.compile(r"(?:→|⇒|[-=]>)\s*")
_ENDS_IN_COLON = re.compile(r"[:：][\s*]*$")
_BRACKETS = re.compile("[(（)）]")
_COLON = re.compile("[:：→—]")
_ENDED = re.compile(r"[。！？!?.…」』”\"*]\s*$")
_TABLE = re.compile(r"\|.*\|")
_CLOSERS = re.compile('[」』”’"）)]+')
_REMARK = ("(", "（", "[")
_COLONS, _QUOTATION = (":", "："), ("「", "『", "“", '"')

_PATTERNS = read_patterns(
    Path(__file__).with_suffix(".toml"), re.IGNORECASE | re.VERBOSE
)
# The kinds of text below a heading, in the order in which headings are looked for.
_HEADINGS = (
    "turn",
    "draft",
    "final",
    "option",
    "version",
    "notes",
    "source",
    "named",
    "label",
    "voice",
)
# The headings of the translation.
_NAMED = {"final", "named", "label"}
_ASIDES = {"draft", "notes", "option", "version", "turn"}
# Of several texts under such headings, the last one is the most mature.
_MATURING = {"draft", "final"}
# A kind of text after a translation → the share of the source's length that comes before it.
_TAILS = {"offer": _SHORT, "request": _SHORT, "comment": _HALF}
# The kinds of pieces that may be the translation, or part of it.
_TEXTS = ("text", "loose", "other", "copy")
# The kinds that may follow a mark or a number.
_WORDED = {"offer", *_HEADINGS}
_MARKS = " 。！!.,，~～*…😊"

# The names of the requested language. A text without a distinctive word may be in any variety of
# Chinese.
_WRITTEN: Set[Language] = {"written_chinese", "simplified_mandarin"}
_ASKED: dict[str, Set[Language]] = {
    "yue": {"cantonese"},
    "zh": _WRITTEN,
    "en": {"english"},
}


class Translation(NamedTuple):
    """The parts of a response.

    Attributes:
        text: The translation, or the whole response if none is found; empty if the response has
            only its romanisation.
        removed: The names of the removed parts.
        ambiguous: Whether several parts could be the translation. The first of several
            alternatives is kept; lines of a short text that nothing tells apart are all kept.
    """

    text: str
    removed: Set[str] = frozenset()
    ambiguous: bool = False


class _Part:
    """A text with the units for comparing it: Chinese characters and words of other languages."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.folded = fold_script(text)
        self.units = _UNIT.findall(self.folded.lower())
        han = len(_HAN_CHARACTER.findall(self.folded))
        words = len(self.units) - han
        self.size = han + _CHARACTERS_IN_A_WORD * words or 0.1
        self.chinese = han > words
        toned = sum(map(bool, map(_TONE.search, self.units)))
        self.romanised = words > max(2, han) and toned > 0.3 * words
        self.romanised |= toned == words > 1 and not han
        # A gloss repeats the characters that it explains.
        self.spelt = self.romanised and not han
        lines = filter(None, map(str.strip, text.splitlines()))
        # A line that ends in a colon belongs to the next one.
        self.sentences = sum(
            len(_SENTENCE.findall(line)) or not line.endswith(_COLONS) for line in lines
        )
        self.bigrams = {*pairwise(self.units)}

    @cached_property
    def language(self) -> Language | None:
        """The language that its words indicate; None if they indicate none or several."""
        language = identify_language(self.text).language
        is_neutral = language in _WRITTEN and not count_features(self.text)[1]
        return None if is_neutral or language in ("mixed", "none") else language

    def share(self, other: _Part) -> float:
        """The share of its bigrams, or of the characters of a short text, that another has."""
        if min(len(self.units), len(other.units)) < _FEW:
            return len({*self.units} & {*other.units}) / (len({*self.units}) or 1)
        return len(self.bigrams & other.bigrams) / len(self.bigrams)


class _Piece(_Part):
    """A piece of a response.

    Args:
        text: Its text.
        gap: The white space before it.
        heading: The kind of text below it, if it is a heading.
    """

    def __init__(self, text: str, gap: str, heading: str = "") -> None:
        super().__init__(text)
        self.gap = gap
        self.heading = heading
        self.kind = "heading" if heading else ""
        if heading == "entry":
            self.heading = ""
            self.kind = "talk"


class _Heading(NamedTuple):
    """The kind of text below a heading, and whether it names the language or a translation."""

    role: str = ""
    is_named: bool = False


@dataclass
class _Block:
    """Pieces of text in a row, under one heading."""

    heading: str
    kind: str
    is_named: bool = False  # whether the heading names the language or a translation
    pieces: list[_Piece] = field(default_factory=list)

    @property
    def is_answer(self) -> bool:
        """Whether it is in the script asked for, and not under a heading of something else."""
        return self.heading not in _ASIDES and self.kind != "other"

    @property
    def is_remark(self) -> bool:
        """Whether it is a remark in brackets."""
        return self.pieces[0].text.startswith(_REMARK)

    @cached_property
    def whole(self) -> _Part:
        """Its text, with the white space between its pieces."""
        return _Part("".join(piece.gap + piece.text for piece in self.pieces).strip())


def label_length(text: str) -> int:
    """Return the length of a label at the start of a text that names a translation or its language.

    Examples:
        >>> label_length("譯文：好"), label_length("(Cantonese) 好"), label_length("好：好")
        (3, 11, 0)
    """
    label = _PATTERNS["own_label"].match(fold_script(text[:_LONGEST_LABEL]))
    return label.end() if label else 0


class TranslationReader:
    """What could be a translation of one source.

    Args:
        source: The text to be translated.
        language: The language asked for: ``yue``, ``zh`` or ``en``. By default, Cantonese is
            preferred to Written Chinese if the source is Written Chinese.
    """

    def __init__(self, source: str, language: str) -> None:
        self.source = source
        self.original = _Part(source[:_CHARACTERS_READ])
        lines = self.original.folded.splitlines()[:_LINES_READ]
        self.n_lines = len([*filter(str.strip, source.splitlines())])
        self.is_short = self.original.size < _FEW
        self.kinds = {
            "about",
            "courtesy",
            "announces",
            "item",
            "closing",
            "rule",
            *_HEADINGS,
            *_TAILS,
        }
        for kind in [*self.kinds]:
            if any(_begins(kind, line) for line in lines):
                self.kinds.discard(kind)
        opening = _SENTENCE_END.split(self.original.folded, maxsplit=1)[0]
        if _PATTERNS["courtesy"].fullmatch(opening.strip(_MARKS)):
            self.kinds.discard("courtesy")
        if _PATTERNS["language"].search(self.original.folded):
            self.kinds.discard("about")
        marks = {
            "brackets": _BRACKETS,
            "colon": _COLON,
            "quotes": _QUOTED,
            "table": _TABLE,
            "quote": _QUOTE_MARK,
            "arrow": _ARROW,
        }
        self.kinds |= {name for name, mark in marks.items() if not mark.search(source)}
        self.names = {name.lower() for name in _NAME.findall(source)}
        self.is_question = _QUESTION.search(source) is not None
        self.asked = _ASKED.get(language, set())
        if not language and self.original.language in {*_WRITTEN, None}:
            self.asked = _ASKED["yue"]
        self.chinese = {"yue": True, "zh": True, "en": False}.get(language)

    def find(self, text: str) -> Translation:
        """Find the translation in a response.

        Args:
            text: The response, without wrapping around the whole of it.

        Examples:
            >>> TranslationReader("He left.", "").find("佢走咗。\\n\\nNote: This is casual.")
            Translation(text='佢走咗。', removed={'notes'}, ambiguous=False)
            >>> TranslationReader("他走了。", "yue").find("他走了。\\n直接翻譯成粵語：佢走咗。")[0]
            '佢走咗。'
        """
        if "quote" in self.kinds:
            text = _QUOTE_MARK.sub("", text)
        read = text[:_CHARACTERS_READ].splitlines(keepends=True)[:_LINES_READ]
        pieces = [*self._pieces(read)]
        blocks = self._blocks(pieces)
        own = [block for block in blocks if block.is_answer]
        if self._is_spelt(pieces) and not self._is_enough(own):
            others = {"notes"} if len(blocks) or len(pieces) > 1 else set()
            return Translation("", {"romanisation"} | others)
        if not self._is_enough(blocks):
            return Translation(text)
        best, is_ambiguous = self._chosen(blocks)
        is_ambiguous = is_ambiguous or self._has_too_much(best)
        kept = best.whole.text
        if best.pieces[-1] is pieces[-1]:
            kept += text[sum(map(len, read)) :]
        removed = self._part_names(best, pieces)
        return Translation(self._trimmed(kept), removed, is_ambiguous)

    def refuses(self, text: str) -> bool:
        """Tell whether a text refuses to translate or to sum up, unless the source refuses, too.

        Examples:
            >>> TranslationReader("He left.", "yue").refuses("Sorry, I can't translate this.")
            True
            >>> reader = TranslationReader("I can't translate this.", "yue")
            >>> reader.refuses("我翻譯唔到呢句。"), reader.refuses("抱歉，我無法翻譯。")
            (False, False)
        """
        opening = fold_script(text[:_HEAD]).replace("’", "'")
        source = self.original.folded.replace("’", "'")
        if _PATTERNS["refusal"].match(opening):
            refused = _PATTERNS["inability"].search(source)
            return not (refused and _PATTERNS["subject"].search(source))
        if not _PATTERNS["question"].match(opening):
            return False
        if self.is_question or _PATTERNS["missing"].search(source):
            return False
        return _PATTERNS["asking"].search(source) is None

    def _has_too_much(self, block: _Block) -> bool:
        """Whether lines that nothing tells apart are longer than one translation of the source."""
        if self.is_short or len(block.pieces) <= self.n_lines:
            return False
        return block.whole.size > _TOO_MUCH * self.original.size

    def _is_spelt(self, pieces: Sequence[_Piece]) -> bool:
        """Whether a response has a romanisation of the translation."""
        size = sum(piece.size for piece in pieces if piece.spelt)
        return size >= _SHORT * self.original.size

    def _is_enough(self, blocks: Sequence[_Block]) -> bool:
        """Whether texts are long enough to be the translation, not a summary."""
        size = sum(piece.size for block in blocks for piece in block.pieces)
        return size >= _SUMMARY * self.original.size

    def _chosen(self, blocks: Sequence[_Block]) -> tuple[_Block, bool]:
        """The translation, and whether other lines beside it could be it, too."""
        runs = [run for block in blocks for run in self._runs(block)]
        if any(map(self._settles, runs)):
            runs = [run for run in runs if run.heading != "later"]
        best = max(runs, key=self._rank)
        if best.heading in _MATURING:
            best = max(reversed(runs), key=self._rank)
        is_ambiguous = any(self._is_as_good(block, best) for block in blocks)
        if self.original.size >= 2 * _FEW:
            return best, is_ambiguous
        block = next(block for block in blocks if best.pieces[0] in block.pieces)
        rivals = [run for run in self._runs(block) if self._is_rival(run, best)]
        ends = [run.pieces[end] for run in (best, *rivals) for end in (0, -1)]
        places = [*map(block.pieces.index, ends)]
        kept = self._run(block, min(places), max(places) + 1)
        return kept, is_ambiguous or bool(rivals)

    def _is_as_good(self, block: _Block, best: _Block) -> bool:
        """Whether another text is an alternative that nothing puts second."""
        return any(self._is_alternative_to(run, best) for run in self._runs(block))

    def _is_alternative_to(self, run: _Block, best: _Block) -> bool:
        """Whether a run is another translation, beside the best one."""
        if best.heading == "final" or run.is_remark or run.kind != "text":
            return False
        equals = {"", "label", "later", "named", "option", best.heading}
        if run.heading not in equals or run.heading in ("draft", "notes"):
            return False
        if run.whole.size < _COMPLETE * self.original.size:
            return False
        is_other = max(run.whole.share(best.whole), best.whole.share(run.whole)) < _SAME
        if self._evidence(run.whole) < self._evidence(best.whole):
            return False
        return is_other and self._language_rank(run) >= self._language_rank(best)

    def _is_rival(self, run: _Block, best: _Block) -> bool:
        """Whether a run is as likely the translation as the best one, and another text."""
        if run.pieces == best.pieces or run.is_remark:
            return False
        is_other = run.whole.share(best.whole) < _HALF
        return is_other and self._rank(run) == self._rank(best)

    def _pieces(self, lines: Sequence[str]) -> Iterator[_Piece]:
        """Split lines into pieces, with headings and remarks apart."""
        gap = ""
        is_first = True
        for line in lines:
            for role, segment in self._segments(line.strip()):
                rest = segment
                while rest:
                    heading, end = (
                        (role, len(rest))
                        if role
                        else self._heading(rest) or ("", self._text_length(rest))
                    )
                    # A note has nothing to explain yet: "Beware: …" in the source.
                    if heading == "notes" and is_first and "colon" not in self.kinds:
                        heading, end = "", self._text_length(rest)
                    is_first = False
                    yield _Piece(rest[:end].strip(), gap, heading)
                    gap = " " if rest[:end][-1].isspace() else ""
                    rest = rest[end:].strip()
            gap += "\n" if line[-1:].isspace() else ""

    def _segments(self, line: str) -> list[tuple[str, str]]:
        """The parts of a line, each with its heading if it is one: cells, quotations, or the line."""
        quoted = self._quotations(line)
        if quoted:
            return quoted
        cells = self._cells(line)
        if not _TABLE.fullmatch(line):
            return [("", cell) for cell in cells]
        segments = []
        for cell in cells:
            is_short = _Part(cell).size < _HALF * self.original.size
            is_entry = is_short and not self._heading(cell)
            segments.append(("entry" if is_entry else "", cell))
        return segments

    def _quotations(self, line: str) -> list[tuple[str, str]]:
        """The translations that a line quotes, and what it says about them."""
        if "quotes" not in self.kinds or self.source in line:
            return []
        parts = _QUOTED.split(line)
        outside = _Part(" ".join(parts[::2]))
        if not self._is_about(outside) and not self._is_foreign(outside):
            return []
        quoted = [*map(_Part, parts[1::2])]
        if not any(map(self._may_be_all, quoted)):
            return []
        segments = [(self._role_before(parts[0]), parts[0])]
        for part, after in zip(quoted, parts[2::2], strict=True):
            role = "" if self._may_be_all(part) else "notes"
            is_long = _Part(after).size >= _HALF * self.original.size
            segments += [(role, part.text), ("" if is_long else "option", after)]
        return [(role, text.strip()) for role, text in segments if text.strip()]

    def _role_before(self, text: str) -> str:
        """The kind of the quotation after a text."""
        heading = self._heading(text.strip().rstrip(":： ") + ":")
        return heading[0] if heading else "label"

    def _may_be_all(self, part: _Part) -> bool:
        """Whether a text is as long as the source and in the script asked for."""
        is_long = part.size >= _COMPLETE * self.original.size
        return is_long and not self._is_foreign(part)

    def _cells(self, line: str) -> list[str]:
        """The cells of a row of a table, a copy of the source apart from other text, or the line."""
        if "table" in self.kinds and _TABLE.fullmatch(line):
            return [cell.strip() for cell in line.split("|")]
        before, copy, after = line.partition(self.source)
        if not copy:
            return [line]
        pair = _PATTERNS["pair"].match(after)
        others = _Part(before + after)
        if not others.units:
            return [copy if pair else line]
        if pair and "arrow" in self.kinds:
            return [before.rstrip(" 「『“\"'*"), copy, "→" + after[pair.end() :]]
        is_long = others.size >= _COMPLETE * self.original.size and not self.is_short
        return [before, copy, after] if is_long or self._is_about(others) else [line]

    def _heading(self, text: str) -> tuple[str, int] | None:
        """The subject of a heading at the start of a text, and its length."""
        folded = fold_script(text[:_HEAD])
        arrow = _ARROW.match(text)
        if arrow and "arrow" in self.kinds:
            return "label", arrow.end()
        opening = _OPENING.match(folded)
        marks = opening[0] if opening else ""
        for name in _HEADINGS:
            heading = _PATTERNS[name].match(folded, len(marks))
            if heading is None or name not in self.kinds:
                continue
            # A source about languages may be the name of one.
            is_marked = marks.startswith(("#", "**")) or _ENDS_IN_COLON.search(
                heading[0]
            )
            if "about" in self.kinds or is_marked:
                role = "label" if name == "voice" else name
                return role, heading.end() + self._closing_length(
                    folded, marks, heading
                )
        return self._announcement(text, folded)

    def _closing_length(self, text: str, marks: str, heading: re.Match[str]) -> int:
        """The length of the mark after a heading that closes one before it."""
        is_open = ("**" in marks or "<" in marks) and "**" not in heading[0]
        closing = _CLOSING.match(text, heading.end()) if is_open else None
        return len(closing[0]) if closing else 0

    def _announcement(self, text: str, folded: str) -> tuple[str, int] | None:
        """A text that announces a translation: a whole line, or the start of one."""
        if self._announces(text, folded):
            return "label", len(text)
        if "courtesy" in self.kinds:
            agreed = _PATTERNS["agrees"].match(folded)
            if agreed:
                return "label", agreed.end()
        if not self.original.chinese:
            foreign = _PATTERNS["foreign"].match(text)
            if foreign:
                return "label", foreign.end()
        length = self._head_length(folded)
        if length:
            return "label", length
        return self._opening(text, folded) if "about" in self.kinds else None

    def _head_length(self, folded: str) -> int:
        """The length of a head up to a colon that is no part of the translation."""
        head = _PATTERNS["head"].match(folded)
        if head is None:
            return 0
        label = _Part(head[0])
        rest = _Part(folded[head.end() :])
        # Who speaks, "Tommy講：", has the source's names.
        words = {*label.units}
        if not label.chinese:
            words = {unit for unit in words if not _HAN_CHARACTER.match(unit)}
        is_name = words <= {*self.original.units}
        if is_name or rest.size < _COMPLETE * self.original.size:
            return 0
        is_foreign = self._is_foreign(label) and not self._is_foreign(rest)
        if is_foreign or (
            "colon" in self.kinds
            and _is_about_wording(head[0])
            and not self._is_part_of_source(label)
        ):
            return head.end()
        return 0

    def _is_part_of_source(self, label: _Part) -> bool:
        """Whether the source has most of the characters or words of a label."""
        return label.share(self.original) >= _HALF

    def _announces(self, text: str, folded: str) -> bool:
        """Whether a line announces a translation, or says that the model is about to translate."""
        if "about" in self.kinds and _PATTERNS["plan"].match(folded):
            return True
        if "announces" not in self.kinds or not text.endswith(_COLONS):
            return False
        if len(text) > _LONGEST_ANNOUNCEMENT or _PATTERNS["request"].match(folded):
            return False
        return _PATTERNS["announces"].search(folded) is not None

    @staticmethod
    def _opens(name: str, text: str, folded: str) -> int:
        """The length of an opening about translating, before other text."""
        head = _PATTERNS[name].match(folded)
        spoken = "tells" if name == "opening" else "about"
        if head is None or not _PATTERNS[spoken].search(head[0]):
            return 0
        return head.end() if _UNIT.search(text, head.end()) else 0

    def _opening(self, text: str, folded: str) -> tuple[str, int] | None:
        """A text up to a colon, a quotation or a full stop that speaks of translating."""
        for name in ("colon", "quoting", "opening"):
            length = self._opens(name, text, folded)
            if length:
                is_kept = name == "colon" and "colon" not in self.kinds
                return None if is_kept else ("label", length)
        return None

    def _text_length(self, text: str) -> int:
        """The length of a text before another one, or a remark, in the same line."""
        length = self._remark_start(text)
        size = 0.0
        end = 0
        statements = islice(_STATEMENT.finditer(text), _MOST_SENTENCES)
        for n_sentences, statement in enumerate(statements):
            share = size / self.original.size
            least = _COMPLETE if n_sentences >= self.original.sentences else _FULL
            is_whole = share >= least and end < length
            if is_whole and self._begins_other(text[:end], text[end:], share):
                return end
            size += _Part(statement[0]).size
            end = statement.end()
        return length

    def _begins_other(self, before: str, after: str, share: float) -> bool:
        """Whether a text after a whole translation is none of it."""
        heading = self._heading(after)
        if heading:
            rest = _Part(after[heading[1] : 3 * len(before)])
            is_text = heading[0] != "notes"
            return not is_text or rest.size >= _HALF * self.original.size
        statement = _STATEMENT.match(after)
        piece = _Piece(statement[0].strip() if statement else after, "")
        if {*piece.units} <= {*self.original.units}:
            return False
        tails = [kind for kind in _TAILS if self._is_frame(kind, piece, share, 0)]
        if tails and (tails != ["comment"] or self._is_about(piece)):
            return True
        is_alternative = piece.size >= _HALF * self.original.size
        if is_alternative and "item" in self.kinds and _begins("item", piece.text):
            return True
        if self._is_foreign(piece):
            return True
        if share < _WHOLE:
            return False
        return self._is_about(piece) or self._is_gloss(piece, share, before)

    def _remark_start(self, text: str) -> int:
        """Where a remark in brackets at the end of a text begins."""
        opening = max(text.rfind("("), text.rfind("（"))
        is_closed = text.rstrip("。. ").endswith((")", "）"))
        if opening <= 0 or not is_closed or "brackets" not in self.kinds:
            return len(text)
        # Brackets inside a sentence may be part of it.
        inside = _Part(text[opening:])
        is_name = {*inside.units} <= {*self.original.units}
        is_foreign = inside.chinese != _Part(text[:opening]).chinese and not is_name
        is_inside = not _ENDED.search(text[:opening])
        if is_inside and not (is_foreign or self._is_about(inside)):
            return len(text)
        return opening

    def _is_about(self, part: _Part) -> bool:
        """Whether a text speaks of translating, although the source does not."""
        ends = part.folded[:160], part.folded[-60:]
        return "about" in self.kinds and any(map(_PATTERNS["about"].search, ends))

    def _blocks(self, pieces: Sequence[_Piece]) -> list[_Block]:
        """The texts that may be the translation, each under its heading."""
        blocks: list[_Block] = []
        heading = _Heading()
        size = 0.0
        goes_on = False
        self._name_kinds(pieces)
        for piece in pieces:
            heading = self._below(piece, heading, size / self.original.size)
            if piece.kind not in _TEXTS:
                if blocks and _begins("chosen", piece.text):
                    blocks[-1].heading = "final"
                goes_on = False
                continue
            if goes_on and self._is_alternative(piece, blocks[-1]):
                heading = _Heading("option")
            if not goes_on or self._is_apart(piece, heading, blocks[-1]):
                blocks.append(_Block(heading.role, piece.kind, heading.is_named))
            blocks[-1].pieces.append(piece)
            goes_on = True
            if piece.kind in ("text", "loose") and heading.role not in _ASIDES:
                size += piece.size
        return blocks

    def _name_kinds(self, pieces: Sequence[_Piece]) -> None:
        """Name the kind of each piece."""
        heading = _Heading()
        known = ""  # the translation as far as it is known
        size = 0.0
        for piece, after in pairwise([*pieces, _Piece("", "")]):
            share = size / self.original.size
            piece.kind = piece.kind or self._kind(piece, after.text, share, known)
            heading = self._below(piece, heading, share)
            if piece.kind in ("text", "loose") and heading.role not in _ASIDES:
                size += piece.size
                known += piece.text if piece.kind == "text" else ""
        sure = sum(piece.size for piece in pieces if piece.kind == "text")
        if sure >= _WHOLE * self.original.size:
            return
        # Without the lines that share nothing with the source, the translation is not whole.
        for piece, after in pairwise([*pieces, _Piece("", "\n\n")]):
            is_beside = piece.gap.count("\n") < 2 or after.gap.count("\n") < 2
            if piece.kind == "loose" and is_beside:
                piece.kind = "text"

    def _below(self, piece: _Piece, heading: _Heading, share: float) -> _Heading:
        """The kind of text below a piece."""
        # Another turn of the user goes on to the end.
        if heading.role == "turn" and share >= _SHORT:
            return heading
        if piece.kind == "request":
            return _Heading("turn")
        if piece.kind in _TAILS or piece.kind == "rule":
            return _Heading("notes")
        if not piece.heading:
            return heading
        is_later = piece.heading in ("named", "label") and share >= _SHORT
        return _Heading(
            "later" if is_later else piece.heading,
            is_named=piece.heading in ("named", "final"),
        )

    @staticmethod
    def _is_apart(piece: _Piece, heading: _Heading, block: _Block) -> bool:
        """Whether a piece begins another text than the one before it."""
        if piece.kind != block.kind or heading.role != block.heading:
            return True
        return "\n" in piece.gap and _begins("bracket", piece.text)

    def _is_alternative(self, piece: _Piece, block: _Block) -> bool:
        """Whether a piece is the next of a list of translations."""
        if "item" not in self.kinds or piece.size < _HALF * self.original.size:
            return False
        return _begins("item", piece.text) and _begins("item", block.pieces[0].text)

    def _kind(self, piece: _Piece, after: str, share: float, known: str) -> str:
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

    def _frame_kind(self, piece: _Piece, share: float) -> str:
        """The kind of a piece that is no text, or that speaks to the user; else empty."""
        if self._is_frame("rule", piece, share, _COMPLETE):
            return "rule"
        if _CLOSERS.fullmatch(piece.text) and share:
            return "text"
        if not piece.units or piece.text.startswith("```"):
            return "mark"
        if "brackets" in self.kinds and _begins("chosen", piece.text):
            return "talk"
        if not share and self._is_frame("courtesy", piece, share, 0):
            return "courtesy"
        for kind, least in _TAILS.items():
            if self._is_frame(kind, piece, share, least):
                return kind
        return ""

    def _is_frame(self, kind: str, piece: _Piece, share: float, least: float) -> bool:
        """Whether a piece is of a kind that the source lacks, after so much of the translation."""
        # By then, the translation of one line has what the source says itself.
        is_over = self.n_lines == 1 and share >= _ENOUGH and kind in _TAILS
        if kind not in self.kinds and not is_over:
            return False
        if least and self.n_lines > 1:
            least = _COMPLETE
        if share < least or not _begins(kind, piece.text):
            return False
        is_question = kind == "offer" and _QUESTION.search(piece.text) is not None
        return (
            not (is_question and self.is_question)
            or _PATTERNS["help"].search(piece.folded) is not None
        )

    def _is_copy(self, piece: _Piece) -> bool:
        """Whether a piece repeats the source."""
        if piece.size < _COMPLETE * self.original.size:
            return False
        similarity = LCSseq.similarity(piece.text, self.source)
        return similarity >= _COPIED * len(piece.text)

    def _is_talk(self, piece: _Piece, after: str, share: float) -> bool:
        """Whether a piece speaks of translating, or announces what follows."""
        is_long = piece.size >= _COMPLETE * self.original.size and not self.is_short
        if self._is_about(piece) and (share >= _COMPLETE or not is_long):
            return True
        announces = piece.text.rstrip("*").endswith(_COLONS) and "colon" in self.kinds
        if _PATTERNS["address"].match(piece.folded.strip("*:： ")):
            return False
        return announces and not is_long and not after.startswith(_QUOTATION)

    def _is_gloss(self, piece: _Piece, share: float, known: str) -> bool:
        """Whether a piece explains words."""
        if "colon" in self.kinds and len(_PAIRED.findall(piece.text)) > 1:
            return True
        if "colon" in self.kinds and self._is_entry(piece):
            return True
        if "quotes" not in self.kinds:
            return False
        quoted = _QUOTED.findall(piece.text)
        if share < _SHORT:
            words = _Part(" ".join(quoted))
            is_entry = len(quoted) > 1 and words.size > _HALF * piece.size
            is_short = piece.size < _COMPLETE * self.original.size
            return is_short and is_entry and any(map(self.source.__contains__, quoted))
        if (
            "item" in self.kinds
            and _begins("item", piece.text)
            and not _begins("item", known)
        ):
            return True
        return any(
            (share >= _COMPLETE and word in known) or (word[1:] and word in self.source)
            for word in quoted
        )

    def _is_entry(self, piece: _Piece) -> bool:
        """Whether a piece has a word of the source, and what it means."""
        entry = _PATTERNS["entry"].match(piece.folded)
        if entry is None:
            return False
        word = _Part(entry[1].strip())
        rest = piece.size - word.size
        if rest >= _COMPLETE * self.original.size and not self.is_short:
            return False
        is_word = word.folded.lower() in self.original.folded.lower()
        return is_word and word.size < _COMPLETE * self.original.size

    def _is_foreign(self, piece: _Part) -> bool:
        """Whether a piece is in another script than the one asked for."""
        original = self.original
        asked = piece.chinese if self.chinese is None else self.chinese
        if piece.chinese == asked and (piece.chinese or original.chinese):
            return False
        is_name = len(piece.units) <= _LONGEST_NAME
        is_name = is_name and {*piece.units} <= {*original.units}
        return len(piece.units) > _LONGEST_PAUSE and not is_name

    def _goes_on(self, piece: _Piece, share: float) -> bool:
        """Whether a piece may begin or go on with the translation, not with the source."""
        is_first = not share and self.n_lines == 1
        if is_first and "closing" in self.kinds and _begins("closing", piece.text):
            return False
        is_late = share >= _COMPLETE and piece.size > _LONGEST_NAME
        return not (is_first or is_late) or self._is_related(piece)

    def _is_related(self, part: _Part) -> bool:
        """Whether a text shares words with the source, if both are Chinese."""
        if self.is_short or not (part.chinese and self.original.chinese):
            return True
        shared = len(part.bigrams & self.original.bigrams)
        return shared > _RELATED * len(part.bigrams)

    def _runs(self, block: _Block) -> list[_Block]:
        """The runs of the fewest pieces that say as much as the source, one after the other."""
        if self._is_one(block):
            return [block]
        runs: list[_Block] = []
        start = 0
        for end in range(1, len(block.pieces) + 1):
            run = self._run(block, start, end)
            if not self._is_complete(run) or self._goes_on_below(block, run, end):
                continue
            # Lines before it may go on with the source.
            shorter = self._run(block, start + 1, end)
            while self._is_complete(shorter) and self._is_apart_below(run):
                start += 1
                run = shorter
                shorter = self._run(block, start + 1, end)
            runs.append(run)
            start = end
        return runs or [block]

    def _is_apart_below(self, run: _Block) -> bool:
        """Whether the first piece of a run is no part of the translation in the others."""
        first, second = run.pieces[:2]
        if first.text.endswith(_COLONS) or second.text.startswith(_REMARK):
            return False
        return second.gap != "\n" or not self._is_related(first)

    @staticmethod
    def _goes_on_below(block: _Block, run: _Block, end: int) -> bool:
        """Whether the next line goes on with the text: it is no paragraph and repeats nothing."""
        if end == len(block.pieces):
            return False
        below = block.pieces[end]
        is_line = below.gap == "\n" and not below.text.startswith(_REMARK)
        return is_line and below.share(run.whole) < _HALF

    @staticmethod
    def _run(block: _Block, start: int, end: int) -> _Block:
        """Some pieces of a block in a row."""
        return _Block(
            block.heading, block.kind, block.is_named, block.pieces[start:end]
        )

    def _is_one(self, block: _Block) -> bool:
        """Whether a block is no longer than one translation."""
        is_as_long = block.whole.size <= _FULL * self.original.size
        return len(block.pieces) <= self.n_lines or is_as_long

    def _is_complete(self, run: _Block) -> bool:
        """Whether a run says as much as the source."""
        if not run.pieces or run.pieces[-1].text.endswith(_COLONS):
            return False
        size = run.whole.size / self.original.size
        if size < _ENOUGH:
            return False
        if self.n_lines > 1:
            return len(run.pieces) >= self.n_lines or size >= _FULL
        return size >= _WHOLE or run.whole.sentences >= self.original.sentences

    def _rank(self, run: _Block) -> tuple[float, ...]:
        """How likely a run is the translation; the earliest of equal ones is."""
        size = run.whole.size / self.original.size
        is_related = run.kind != "loose" and self._is_related(run.whole)
        is_related = is_related or run.heading in _NAMED
        return (
            run.kind != "other" and size >= _SUMMARY,
            run.heading not in _ASIDES,
            run.heading != "draft",
            run.kind != "copy" and size >= _HALF,
            self._language_rank(run) if size >= _HALF and is_related else 0,
            not run.is_remark,
            min(size, _COMPLETE) if is_related else 0.0,
            run.heading != "later",
            run.heading == "final",
            self.is_short and run.heading in _NAMED,
            self._evidence(run.whole),
        )

    def _language_rank(self, run: _Block) -> int:
        """2 for a text that is named as a translation and is in the language asked for, or 1 or 0."""
        language = run.whole.language
        if self.asked and language not in (None, *self.asked):
            return 0
        return 2 if run.is_named and language in self.asked else 1

    def _settles(self, run: _Block) -> bool:
        """Whether a run is in the language asked for, so that later headings begin something else."""
        is_long = run.whole.size >= _SHORT * self.original.size
        is_text = run.kind == "text" and run.heading not in ("later", *_ASIDES)
        return is_long and is_text and run.whole.language in self.asked

    def _evidence(self, part: _Part) -> float:
        """How much of the source's names, numbers and questions a text has."""
        text = part.text.lower()
        named = [name in text for name in self.names]
        is_question = _QUESTION.search(text) is not None
        share = sum(named) / len(named) if named else 0.0
        is_close = part.share(self.original) > 2 * _RELATED
        return share + is_close + (is_question == self.is_question)

    def _trimmed(self, text: str) -> str:
        """A translation without the marks of a list, brackets or a stop before it."""
        if not self.source.startswith("。"):
            text = text.removeprefix("。").lstrip()
        quoted = _QUOTED_SENTENCE.fullmatch(text)
        if quoted and "quotes" in self.kinds:
            text = quoted[1]
        item = _PATTERNS["item"].match(text)
        if item and "\n" not in text and "item" in self.kinds:
            text = text[item.end() :]
        if "brackets" in self.kinds:
            inside = _PATTERNS["bracket"].fullmatch(text)
            text = inside[1] if inside else text
            if not re.search("[(（]", text):
                text = text.rstrip(")）")
        return text

    def _part_names(self, best: _Block, pieces: Sequence[_Piece]) -> set[str]:
        """The names of the pieces before and after the translation."""
        first = pieces.index(best.pieces[0])
        last = pieces.index(best.pieces[-1])
        names: set[str] = set()
        for piece in pieces[:first]:
            names.add("label" if label_length(piece.text) else "preamble")
        for piece in pieces[last + 1 :]:
            names.add(self._part_name(piece, best.whole))
        return names - {""}

    def _part_name(self, piece: _Piece, translation: _Part) -> str:
        """The name of a piece after the translation."""
        if piece.text.startswith("```"):
            return "code fence"
        if piece.kind == "mark" or piece.heading == "label":
            return ""
        if piece.spelt:
            return "romanisation"
        if piece.heading == "turn" or piece.kind == "request":
            return "other turn"
        if piece.heading == "version":
            return "second version"
        if piece.kind not in _TEXTS or piece.size < _SHORT * translation.size:
            return "notes"
        is_version = piece.chinese == translation.chinese
        return "second version" if is_version else "back-translation"


def _is_about_wording(head: str) -> bool:
    """Whether a head speaks of wording, and neither reports speech nor addresses somebody."""
    bare = head.rstrip("*:： ")
    if _PATTERNS["speech"].search(bare) or _PATTERNS["address"].match(bare):
        return False
    return _PATTERNS["wording"].search(bare) is not None


def _begins(kind: str, text: str) -> bool:
    """Whether a text is of a kind by its first words."""
    folded = fold_script(text.strip()[:_HEAD]).replace("’", "'")
    if kind == "courtesy":
        sentences = [sentence.strip(_MARKS) for sentence in _SENTENCE_END.split(folded)]
        spoken = [*filter(None, sentences)]
        return bool(spoken) and all(map(_PATTERNS["courtesy"].fullmatch, spoken))
    begin = _OPENING.match(folded) if kind in _WORDED else None
    return _PATTERNS[kind].match(folded, begin.end() if begin else 0) is not None
