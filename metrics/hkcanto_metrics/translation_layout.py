"""Find the translation in a response, by what each of its lines is.

The response is cut into pieces, each of one kind (see `translation_pieces`, `translation_kinds`).
Of several texts, one under no heading of notes or alternatives, as long as the source and in the
language asked for comes first; then the earliest. Quality never counts. If another text is left
that nothing explains, the result is ambiguous.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from hkcanto_metrics.script import fold_script
from hkcanto_metrics.translation_kinds import (
    ASIDES,
    CHARACTERS_READ,
    COLONS,
    COMPLETE,
    ENOUGH,
    FULL,
    HALF,
    HAN_CHARACTER,
    HEAD,
    LINES_READ,
    PATTERNS,
    QUOTE_MARK,
    QUOTED,
    REMARK,
    SHORT,
    SUMMARY,
    Part,
    Piece,
    begins,
    label_length,
)
from hkcanto_metrics.translation_pieces import PieceReader

_TOO_MUCH = 1.4  # times the length of the source, for several lines of a source of one
# Emoji at the start or the end, with their modifiers.
_SIGNS = "[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001ffff][\ufe0f\u200d]*"
_QUOTED_SENTENCE = re.compile(r"([「『“\"].*[」』”\"])[。.]", re.DOTALL)
_EMOJI = re.compile(rf"\A(?:{_SIGNS}\s*)+|(?:\s*{_SIGNS})+\Z")
# The kinds of pieces that may be the translation, or part of it.
_TEXTS = ("text", "loose", "other", "copy")


class Translation(NamedTuple):
    """The parts of a response.

    Attributes:
        text: The translation, or the whole response if none is found; empty if the response has
            only its romanisation.
        removed: The names of the removed parts.
        ambiguous: Whether another part could be the translation, or the text speaks of it. The
            first of several alternatives is kept.
    """

    text: str
    removed: Set[str] = frozenset()
    ambiguous: bool = False


@dataclass
class _Block:
    """Pieces of text in a row, under one heading."""

    heading: str
    kind: str
    pieces: list[Piece] = field(default_factory=list)

    @cached_property
    def whole(self) -> Part:
        """Its text, with the white space between its pieces."""
        return Part("".join(piece.gap + piece.text for piece in self.pieces).strip())


class TranslationReader(PieceReader):
    """What could be a translation of one source.

    Args:
        source: The text to be translated.
        language: The language asked for: ``yue``, ``zh`` or ``en``. By default, Cantonese is
            preferred to Written Chinese if the source is Written Chinese.
    """

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
            text = QUOTE_MARK.sub("", text)
        text = self._with_headings(text)
        read = text[:CHARACTERS_READ].splitlines(keepends=True)[:LINES_READ]
        pieces = [*self._pieces(read)]
        self._name_kinds(pieces)
        blocks = [*self._blocks(pieces)]
        nothing = self._name_of_nothing(pieces, blocks)
        if nothing:
            return Translation("", {nothing})
        size = sum(block.whole.size for block in blocks)
        if size < SUMMARY * self.original.size:
            return Translation(text, ambiguous=self._is_doubtful(text))
        runs = [run for block in blocks for run in self._runs(block)]
        best = max(runs, key=self._rank)
        kept = best.whole.text
        is_ambiguous = any(self._is_rival(run, best) for run in runs)
        is_ambiguous |= best.heading in ASIDES
        is_ambiguous |= self._has_too_much(best) or self._is_doubtful(kept)
        if best.pieces[-1] is pieces[-1]:
            kept += text[sum(map(len, read)) :]
        removed = self._part_names(best, pieces)
        return Translation(self._trimmed(kept), removed, is_ambiguous)

    def refuses(self, text: str) -> bool:
        """Tell whether a text refuses to translate or asks back, unless the source does so, too.

        Examples:
            >>> TranslationReader("He left.", "yue").refuses("Sorry, I can't translate this.")
            True
            >>> reader = TranslationReader("I can't translate this.", "yue")
            >>> reader.refuses("我翻譯唔到呢句。"), reader.refuses("抱歉，我無法翻譯。")
            (False, False)
        """
        opening = fold_script(text[:HEAD]).replace("’", "'")
        source = self.original.folded.replace("’", "'")
        for kind in ("refusal", "message", "nothing", "choice", "question"):
            if PATTERNS[kind].match(opening):
                return PATTERNS[f"own_{kind}"].search(source) is None
        return False

    def _is_doubtful(self, text: str) -> bool:
        """Whether a text speaks to the user, of translating, or of two translations."""
        opening = fold_script(text[:HEAD])
        if "about" in self.kinds and PATTERNS["speaks"].search(opening):
            return True
        is_data = text.startswith("{") and "{" not in self.source
        if is_data or PATTERNS["alternatives"].search(opening):
            return True
        least = HALF * self.original.size
        quoted = QUOTED.findall(text) if "quotes" in self.kinds else []
        if any(
            len(words) + 5 < len(text) and Part(words).size >= least for words in quoted
        ):
            return True
        if self.chinese is False and HAN_CHARACTER.search(text):
            return True
        return "offer" in self.kinds and begins("offer", text)

    def _name_of_nothing(
        self,
        pieces: Sequence[Piece],
        blocks: Sequence[_Block],
    ) -> str:
        """What a response consists of that has no text at all; empty if it has one."""
        if any(block.kind != "other" for block in blocks):
            return ""
        kinds = {piece.kind for piece in pieces}
        if "romanisation" in kinds:
            return "romanisation"
        if kinds == {"mark"} and self.original.units:
            return "marks"
        if blocks or not pieces or "colon" not in self.kinds:
            return ""
        return "preamble" if pieces[-1].text.rstrip("* ").endswith(COLONS) else ""

    def _has_too_much(self, block: _Block) -> bool:
        """Whether a text has more lines than the source, and is much longer."""
        is_long = block.whole.size > _TOO_MUCH * self.original.size
        return is_long and len(block.pieces) > self.n_lines

    def _is_rival(
        self,
        run: _Block,
        best: _Block,
    ) -> bool:
        """Whether another text could be the translation, too."""
        whole = run.whole
        if run is best or best.heading == "final" or run.kind != "text":
            return False
        if run.heading == "quoted" != best.heading or run.heading in ASIDES - {
            "option"
        }:
            return False
        if whole.size < HALF * self.original.size or whole.text.startswith(REMARK):
            return False
        if whole.chinese != best.whole.chinese or whole.is_repeated_in(best.whole):
            return False
        return self._language_rank(run) > 0

    def _blocks(self, pieces: Sequence[Piece]) -> Iterator[_Block]:
        """The texts that may be the translation, each under its heading."""
        block: _Block | None = None
        for piece in pieces:
            if piece.kind not in _TEXTS:
                if block:
                    yield block
                block = None
                continue
            if block and self._is_apart(piece, block):
                yield block
                block = None
            block = block or _Block(piece.section, piece.kind)
            block.pieces.append(piece)
        if block:
            yield block

    @staticmethod
    def _is_apart(
        piece: Piece,
        block: _Block,
    ) -> bool:
        """Whether a piece begins another text than the one before it."""
        if piece.kind != block.kind:
            return True
        return "\n" in piece.gap and begins("bracket", piece.text)

    def _runs(self, block: _Block) -> list[_Block]:
        """The runs of the fewest pieces that say as much as the source, one after the other."""
        if not self._has_too_much(block):
            return [block]
        runs: list[_Block] = []
        pieces: list[Piece] = []
        for piece in block.pieces:
            if self._is_complete(pieces):
                runs.append(_Block(block.heading, block.kind, pieces))
                pieces = []
            pieces.append(piece)
        return [*runs, _Block(block.heading, block.kind, pieces)]

    def _is_complete(self, pieces: Sequence[Piece]) -> bool:
        """Whether pieces say as much as the source."""
        if not pieces or pieces[-1].text.endswith(COLONS):
            return False
        least = FULL if self.n_lines > len(pieces) else ENOUGH
        return sum(piece.size for piece in pieces) >= least * self.original.size

    def _rank(self, run: _Block) -> tuple[float, ...]:
        """How likely a run is the translation; the earliest of equal ones is."""
        size = run.whole.size / self.original.size
        is_named = run.heading in ("final", "named", "label")
        is_related = is_named or (run.kind != "loose" and self._is_related(run.whole))
        return (
            run.kind != "other" and size >= SUMMARY,
            run.heading not in ASIDES,
            run.kind != "copy" and size >= HALF,
            self._language_rank(run) if size >= HALF and is_related else 0,
            run.heading == "final",
            not run.whole.text.startswith(REMARK),
            min(size, COMPLETE) if is_related else 0.0,
        )

    def _language_rank(self, run: _Block) -> int:
        """2 for a text in the language asked for, 1 for one that may be, 0 for another."""
        language = run.whole.language
        if not self.asked or language is None:
            return 1
        return 2 if language in self.asked else 0

    def _trimmed(self, text: str) -> str:
        """A translation without the marks of a list, brackets or a stop before it."""
        if not self.source.startswith("。"):
            text = text.removeprefix("。").lstrip()
        quoted = _QUOTED_SENTENCE.fullmatch(text)
        if quoted and "quotes" in self.kinds:
            text = quoted[1]
        if not _EMOJI.search(self.source):
            text = _EMOJI.sub("", text).strip()
        item = PATTERNS["item"].match(text)
        if item and "\n" not in text and "item" in self.kinds:
            text = text[item.end() :]
        if "brackets" in self.kinds:
            inside = PATTERNS["bracket"].fullmatch(text)
            text = inside[1] if inside else text
            if "（" not in text and "(" not in text:
                text = text.rstrip(")）")
        return text

    @staticmethod
    def _part_names(
        best: _Block,
        pieces: Sequence[Piece],
    ) -> set[str]:
        """The names of the pieces before and after the translation."""
        first = pieces.index(best.pieces[0])
        last = pieces.index(best.pieces[-1])
        names: set[str] = set()
        for piece in pieces[:first]:
            names.add("label" if label_length(piece.text) else "preamble")
        for piece in pieces[last + 1 :]:
            if piece.kind != "mark" and piece.heading != "label":
                names.add(_name_after(piece, best.whole))
        return names


def _name_after(
    piece: Piece,
    translation: Part,
) -> str:
    """The name of a piece after the translation."""
    if piece.kind == "romanisation":
        return "romanisation"
    if piece.section == "turn":
        return "other turn"
    if piece.kind in _TEXTS and piece.size >= SHORT * translation.size:
        is_version = piece.chinese == translation.chinese
        return "second version" if is_version else "back-translation"
    return "second version" if piece.heading == "version" else "notes"
