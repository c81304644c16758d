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
    HAN_CHARACTER,
    HEAD,
    HEADINGS,
    LONGEST_ANNOUNCEMENT,
    OPENING,
    PATTERNS,
    QUOTED,
    TABLE,
    TAILS,
    UNIT,
    WHOLE,
    Part,
    Piece,
    PieceKinds,
)

_MOST_SENTENCES = 30
_STATEMENT = re.compile(
    r"[^。！？!?.\n]*(?:[。！？!?…]+[」』”\"）)]*|\.[」』”\"）)]*(?=\s|$)|\.|$)\s*"
    r"|[「『“\"][^」』”\"]+[」』”\"]\s*(?=[、,，/或「『“\"]|or\b|$)"
)
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[a-zA-Z]\w*)(?:\s[^<>]*)?>")
_CLOSING = re.compile(r"\*\*|</\w+>")
_ENDS_IN_COLON = re.compile(r"[:：][\s*]*$")
_ENDED = re.compile(r"[。！？!?.…」』”\"*]\s*$")


class PieceReader(PieceKinds):
    """How a response is cut into pieces, see `PieceKinds`."""

    def _with_headings(self, text: str) -> str:
        """A text with a heading for each tag that names a part of a response."""
        return text if "<" in self.source else _TAG.sub(self._tag_heading, text)

    @staticmethod
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

    def _pieces(self, lines: Sequence[str]) -> Iterator[Piece]:
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
                    is_own = heading == "notes" and "colon" not in self.kinds
                    if is_first and (is_own or self._is_own_head(rest[:HEAD])):
                        heading, end = "", self._text_length(rest)
                    is_first &= heading != ""
                    yield Piece(rest[:end].strip(), gap, heading)
                    gap = " " if rest[:end][-1].isspace() else ""
                    rest = rest[end:].strip()
            gap += "\n" if line[-1:].isspace() else ""

    def _segments(self, line: str) -> list[tuple[str, str]]:
        """The parts of a line, each with its heading if it is one: cells, quotations, or the line."""
        quoted = self._quotations(line)
        if quoted:
            return quoted
        cells = self._cells(line)
        if not TABLE.fullmatch(line):
            return [("", cell) for cell in cells]
        segments = []
        for cell in cells:
            is_short = Part(cell).size < HALF * self.original.size
            is_entry = is_short and not self._heading(cell)
            segments.append(("entry" if is_entry else "", cell))
        return segments

    def _quotations(self, line: str) -> list[tuple[str, str]]:
        """The translations that a line quotes, and what it says about them."""
        if "quotes" not in self.kinds or self.source in line:
            return []
        parts = QUOTED.split(line)
        outside = Part(" ".join(parts[::2]))
        if not self._is_about(outside) and not self._is_foreign(outside):
            return []
        quoted = [*map(Part, parts[1::2])]
        if not any(map(self._may_be_all, quoted)):
            return []
        segments = [(self._role_before(parts[0]), parts[0])]
        for part, after in zip(quoted, parts[2::2], strict=True):
            role = "" if self._may_be_all(part) else "notes"
            is_long = Part(after).size >= HALF * self.original.size
            # Words between two quotations belong to neither.
            is_text = is_long and (after is parts[-1] or _ENDED.search(after))
            segments += [(role, part.text), ("" if is_text else "option", after)]
        return [(role, text.strip()) for role, text in segments if text.strip()]

    def _role_before(self, text: str) -> str:
        """The kind of the quotation after a text."""
        heading = self._heading(text.strip().rstrip(":： ") + ":")
        return heading[0] if heading else "label"

    def _may_be_all(self, part: Part) -> bool:
        """Whether a text is as long as the source and in the script asked for."""
        is_long = part.size >= COMPLETE * self.original.size
        return is_long and not self._is_foreign(part)

    def _cells(self, line: str) -> list[str]:
        """The cells of a row of a table, a copy of the source apart from other text, or the line."""
        if "table" in self.kinds and TABLE.fullmatch(line):
            return [cell.strip() for cell in line.split("|")]
        before, copy, after = line.partition(self.source)
        if not copy:
            return [line]
        pair = PATTERNS["pair"].match(after)
        others = Part(before + after)
        if not others.units:
            return [copy if pair else line]
        if pair and "arrow" in self.kinds:
            return [before.rstrip(" 「『“\"'*"), copy, "→" + after[pair.end() :]]
        is_long = others.size >= COMPLETE * self.original.size and not self.is_short
        return [before, copy, after] if is_long or self._is_about(others) else [line]

    def _heading(self, text: str) -> tuple[str, int] | None:
        """The subject of a heading at the start of a text, and its length."""
        folded = fold_script(text[:HEAD])
        arrow = ARROW.match(text)
        if arrow and "arrow" in self.kinds:
            return "label", arrow.end()
        opening = OPENING.match(folded)
        marks = opening[0] if opening else ""
        if self.has_questions and PATTERNS["dialogue"].match(folded, len(marks)):
            return None
        for name in HEADINGS:
            heading = PATTERNS[name].match(folded, len(marks))
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

    def _is_own_head(self, text: str) -> bool:
        """Whether a text begins with a head that the source has, too."""
        head = PATTERNS["headed"].match(fold_script(text))
        if head is None or self.headed is None:
            return False
        return head.lastgroup == self.headed.lastgroup

    def _closing_length(
        self,
        text: str,
        marks: str,
        heading: re.Match[str],
    ) -> int:
        """The length of the mark after a heading that closes one before it."""
        is_open = ("**" in marks or "<" in marks) and "**" not in heading[0]
        closing = _CLOSING.match(text, heading.end()) if is_open else None
        return len(closing[0]) if closing else 0

    def _announcement(
        self,
        text: str,
        folded: str,
    ) -> tuple[str, int] | None:
        """A text that announces a translation: a whole line, or the start of one."""
        if self._announces(text, folded):
            return "label", len(text)
        if "courtesy" in self.kinds:
            agreed = PATTERNS["agrees"].match(folded)
            if agreed and not self._has_counterpart(folded[agreed.end() :]):
                return "label", agreed.end()
            dashed = PATTERNS["dashed"].match(folded)
            if dashed and self._may_follow_dash(text[dashed.end() :]):
                return "label", dashed.end()
        if not self.original.chinese:
            foreign = PATTERNS["foreign"].match(text)
            if foreign:
                return "label", foreign.end()
        length = self._head_length(folded)
        if length:
            return "label", length
        return self._opening(text, folded) if "about" in self.kinds else None

    def _has_counterpart(self, after: str) -> bool:
        """Whether the source has a short opening, too, for which the text after one has nothing."""
        return self.is_opened and Part(after).sentences < self.original.sentences

    def _may_follow_dash(self, after: str) -> bool:
        """Whether a text after a dash may be the whole translation of a source without dashes."""
        size = Part(after[: 2 * len(self.source) + HEAD]).size
        return "colon" in self.kinds and size >= COMPLETE * self.original.size

    def _head_length(self, folded: str) -> int:
        """Return the length of a head, up to its colon, outside of the translation."""
        head = PATTERNS["head"].match(folded)
        if head is None:
            return 0
        label = Part(head[0])
        rest = Part(folded[head.end() :])
        # Who speaks, "Tommy講：", has the source's names.
        words = {*label.units}
        if not label.chinese:
            words = {unit for unit in words if not HAN_CHARACTER.match(unit)}
        is_name = words <= {*self.original.units}
        if is_name or rest.size < COMPLETE * self.original.size:
            return 0
        is_foreign = self._is_foreign(label) and not self._is_foreign(rest)
        if is_foreign or ("colon" in self.kinds and _is_about_wording(head[0])):
            return head.end()
        return 0

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
        if len(text) > LONGEST_ANNOUNCEMENT or PATTERNS["request"].match(folded):
            return False
        return PATTERNS["announces"].search(folded) is not None

    @staticmethod
    def _opens(
        name: str,
        text: str,
        folded: str,
    ) -> int:
        """The length of an opening about translating, before other text."""
        head = PATTERNS[name].match(folded)
        spoken = "tells" if name == "opening" else "about"
        if head is None or not PATTERNS[spoken].search(head[0]):
            return 0
        return head.end() if UNIT.search(text, head.end()) else 0

    def _opening(
        self,
        text: str,
        folded: str,
    ) -> tuple[str, int] | None:
        """A text up to a colon, a quotation or a full stop that speaks of translating."""
        for name in ("colon", "quoting", "opening"):
            length = self._opens(name, text, folded)
            tells = PATTERNS["tells"].search(folded, 0, length) is not None
            if length and not (name == "opening" and self.is_followed):
                is_told = tells and not self.is_followed
                is_kept = name == "colon" and "colon" not in self.kinds
                return None if is_kept and not is_told else ("label", length)
        return None

    def _text_length(self, text: str) -> int:
        """The length of a text before another one, or a remark, in the same line."""
        length = self._remark_start(text)
        size = 0.0
        end = 0
        statements = islice(_STATEMENT.finditer(text), _MOST_SENTENCES)
        for n_sentences, statement in enumerate(statements):
            share = size / self.original.size
            least = COMPLETE if n_sentences >= self.original.sentences else FULL
            is_whole = share >= least and end < length
            if is_whole and self._begins_other(text[:end], text[end:], share):
                return end
            size += Part(statement[0]).size
            end = statement.end()
        return length

    def _begins_other(
        self,
        before: str,
        after: str,
        share: float,
    ) -> bool:
        """Whether a text after a whole translation is none of it."""
        heading = self._heading(after)
        if heading:
            rest = Part(after[heading[1] : 3 * len(before)])
            is_text = heading[0] != "notes"
            return not is_text or rest.size >= HALF * self.original.size
        statement = _STATEMENT.match(after)
        piece = Piece(statement[0].strip() if statement else after, "")
        if {*piece.units} <= {*self.original.units}:
            return False
        if self._is_foreign(piece) or self._is_tail(piece, share):
            return True
        if piece.size >= HALF * self.original.size and self._is_item(piece.text):
            return True
        if share < WHOLE:
            return False
        return self._is_about(piece) or self._is_gloss(piece, share, before)

    def _is_tail(
        self,
        piece: Piece,
        share: float,
    ) -> bool:
        """Whether a sentence in the line of a translation speaks to the user."""
        if self._is_frame(
            "comment",
            piece,
            share,
            0,
        ):
            return self._is_about(piece)
        return any(
            self._is_frame(
                kind,
                piece,
                share,
                0,
            )
            for kind in TAILS.keys() - {"ending"}
        )

    def _remark_start(self, text: str) -> int:
        """Where a remark in brackets at the end of a text begins."""
        opening = max(text.rfind("("), text.rfind("（"))
        is_closed = text.rstrip("。. ").endswith((")", "）"))
        if opening <= 0 or not is_closed or "brackets" not in self.kinds:
            return len(text)
        # Brackets inside a sentence may be part of it.
        inside = Part(text[opening:])
        is_name = {*inside.units} <= {*self.original.units}
        is_foreign = inside.chinese != Part(text[:opening]).chinese and not is_name
        is_inside = not _ENDED.search(text[:opening])
        if is_inside and not (is_foreign or self._is_about(inside)):
            return len(text)
        return opening


def _is_about_wording(head: str) -> bool:
    """Whether a head speaks of wording, and neither reports speech nor addresses somebody."""
    bare = head.rstrip("*:： ")
    if PATTERNS["speech"].search(bare) or PATTERNS["address"].match(bare):
        return False
    return PATTERNS["wording"].search(bare) is not None
