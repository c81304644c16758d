"""Cut a response to a request for a translation into pieces.

Pieces are lines, cells of a table, headings before other text in a line, and remarks after it.
Headings say what the text below them is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from hkcanto_metrics.script import fold_script
from hkcanto_metrics.translation_kinds import (
    ARROW,
    COLONS,
    COMPLETE,
    FULL,
    HALF,
    HEAD,
    HEADINGS,
    OPENING,
    PATTERNS,
    TABLE,
    WHOLE,
    Part,
    Piece,
    PieceKinds,
)

_MOST_SENTENCES = 30
_LONGEST_ANNOUNCEMENT = 120
_STATEMENT = re.compile(
    r"[^。！？!?.\n]*(?:[。！？!?…]+[」』”\"）)]*|\.[」』”\"）)]*(?=\s|$)|\.|$)\s*"
    r"|[「『“\"][^」』”\"]+[」』”\"]\s*(?=[、,，/或「『“\"]|or\b|$)"
)
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[a-zA-Z]\w*)(?:\s[^<>]*)?>")
_CLOSING = re.compile(r"\*\*|</\w+>")
_ENDED = re.compile(r"[。！？!?.…」』”\"*]\s*$")


class PieceReader(PieceKinds):
    """How a response is cut into pieces, see `PieceKinds`."""

    def _with_headings(self, text: str) -> str:
        """A text with a heading for each tag that names a part of a response."""
        return text if "<" in self.source else _TAG.sub(_tag_heading, text)

    def _pieces(self, lines: Sequence[str]) -> Iterator[Piece]:
        """Split lines into pieces, with headings and remarks apart."""
        gap = ""
        is_first = True
        for line in lines:
            for role, segment in self._segments(line.strip()):
                rest = segment
                while rest:
                    heading, end = role, len(rest)
                    if not role:
                        heading, end = self._heading(rest) or (
                            "",
                            self._text_length(rest),
                        )
                    # A source with a colon may have such a heading itself.
                    is_own = (
                        heading not in ("final", "named", "label")
                        and "colon" not in self.kinds
                    )
                    if is_first and is_own:
                        heading, end = "", self._text_length(rest)
                    is_first &= heading != ""
                    yield Piece(rest[:end].strip(), gap, heading)
                    gap = " " if rest[:end][-1].isspace() else ""
                    rest = rest[end:].strip()
            gap += "\n" if line[-1:].isspace() else ""

    def _segments(self, line: str) -> list[tuple[str, str]]:
        """The parts of a line, each with its heading if it is one: cells, a copy, or the line."""
        if "table" in self.kinds and TABLE.fullmatch(line):
            return [
                (self._cell_role(cell.strip()), cell.strip())
                for cell in line.split("|")
            ]
        return [("", text) for text in self._around_copy(line)]

    def _cell_role(self, cell: str) -> str:
        """The kind of a cell of a table: a word is an entry of a glossary."""
        is_word = Part(cell).size < HALF * self.original.size
        return "entry" if is_word and not self._heading(cell) else ""

    def _around_copy(self, line: str) -> list[str]:
        """A copy of the source and the text around it, or the line."""
        before, copy, after = line.partition(self.source)
        if not copy:
            return [line]
        pair = PATTERNS["pair"].match(fold_script(after))
        others = Part(before + after)
        if pair and others.units and "arrow" in self.kinds:
            return [before.rstrip(" 「『“\"'*"), copy, "→" + after[pair.end() :]]
        is_long = others.size >= COMPLETE * self.original.size
        return [before, copy, after] if is_long else [line]

    def _heading(self, text: str) -> tuple[str, int] | None:
        """The subject of a heading at the start of a text, and its length."""
        folded = fold_script(text[:HEAD])
        arrow = ARROW.match(text)
        if arrow and "arrow" in self.kinds:
            return "label", arrow.end()
        opening = OPENING.match(folded)
        marks = opening[0] if opening else ""
        for name in HEADINGS:
            heading = PATTERNS[name].match(folded, len(marks))
            if heading and name in self.kinds:
                end = heading.end()
                closing = _CLOSING.match(folded, end)
                is_open = ("**" in marks or "<" in marks) and "**" not in heading[0]
                return name, closing.end() if closing and is_open else end
        length = self._announcement_length(text, folded)
        return ("label", length) if length else None

    def _announcement_length(
        self,
        text: str,
        folded: str,
    ) -> int:
        """The length of an announcement of a translation: a whole line, or the start of one."""
        if self._announces(text, folded):
            return len(text)
        for name, is_possible in (
            ("agrees", "courtesy" in self.kinds),
            ("foreign", not self.original.chinese),
        ):
            opening = PATTERNS[name].match(folded)
            if opening and is_possible:
                return opening.end()
        head = PATTERNS["head"].match(folded)
        if head and self._is_head(head[0], Part(folded[head.end() :])):
            return head.end()
        opening = PATTERNS["opening"].match(folded)
        is_told = opening and PATTERNS["tells"].search(opening[0])
        return opening.end() if opening and is_told and "about" in self.kinds else 0

    def _announces(
        self,
        text: str,
        folded: str,
    ) -> bool:
        """Whether a line announces a translation, or says that the model is about to translate."""
        if "about" in self.kinds and PATTERNS["plan"].match(folded):
            return True
        if "announces" not in self.kinds or not text.endswith(COLONS):
            return False
        if len(text) > _LONGEST_ANNOUNCEMENT or PATTERNS["request"].match(folded):
            return False
        return PATTERNS["announces"].search(folded) is not None

    def _is_head(
        self,
        head: str,
        rest: Part,
    ) -> bool:
        """Whether the start of a line, up to a colon or dash, is not part of the translation."""
        if rest.size < COMPLETE * self.original.size:
            return False
        speech = PATTERNS["speech"].search(head.rstrip("*:：—- "))
        is_wording = "colon" in self.kinds and PATTERNS["wording"].search(head)
        return not speech and bool(is_wording or self._is_about(Part(head)))

    def _text_length(self, text: str) -> int:
        """The length of a text before another one, or a remark, in the same line."""
        length = self._remark_start(text)
        size = 0.0
        end = 0
        for statement in islice(_STATEMENT.finditer(text), _MOST_SENTENCES):
            share = size / self.original.size
            if (
                share >= COMPLETE
                and end < length
                and self._begins_other(text[end:], share)
            ):
                return end
            size += Part(statement[0]).size
            end = statement.end()
        return length

    def _begins_other(
        self,
        after: str,
        share: float,
    ) -> bool:
        """Whether a text after a whole translation is none of it."""
        heading = self._heading(after)
        if heading:
            return heading[0] != "notes" or share >= WHOLE
        statement = _STATEMENT.match(after)
        piece = Piece(statement[0].strip() if statement else after, "")
        if {*piece.units} <= {*self.original.units}:
            return False
        if self._is_foreign(piece) or (share >= FULL and self._is_about(piece)):
            return True
        return self._tail_kind(piece, share) != ""

    def _remark_start(self, text: str) -> int:
        """Where a remark in brackets at the end of a text begins."""
        opening = max(text.rfind("("), text.rfind("（"))
        is_closed = text.rstrip("。. ").endswith((")", "）"))
        if opening <= 0 or not is_closed or "brackets" not in self.kinds:
            return len(text)
        inside = Part(text[opening:])
        is_name = {*inside.units} <= {*self.original.units}
        is_foreign = inside.chinese != Part(text[:opening]).chinese and not is_name
        # Brackets inside a sentence may be part of it.
        is_beside = _ENDED.search(text[:opening]) is not None
        is_remark = is_beside or is_foreign or self._is_about(inside)
        return opening if is_remark else len(text)


def _tag_heading(tag: re.Match[str]) -> str:
    """The heading that says the same as a tag; a tag of something else as it is."""
    heading = tag["name"].replace("_", " ") + ":"
    # One letter is a tag of HTML.
    is_heading = tag["name"][1:] and any(
        PATTERNS[name].fullmatch(heading) for name in HEADINGS
    )
    if not is_heading:
        return tag[0]
    return "\n\n" if tag["end"] else f"\n\n{heading}\n"
