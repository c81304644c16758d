"""Find the translation in a response, by what each of its lines is.

The response is cut into pieces, each of one kind (see `translation_pieces`, `translation_kinds`).
Of several texts, one under no heading of notes or alternatives, as long as the source and in the
language asked for comes first; then the earliest. Quality never counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
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
    FEW,
    FULL,
    HALF,
    HEAD,
    LINES_READ,
    PATTERNS,
    QUESTION,
    QUOTE_MARK,
    RELATED,
    SHORT,
    SUMMARY,
    TOO_MUCH,
    WHOLE,
    Heading,
    Part,
    Piece,
    begins,
    label_length,
)
from hkcanto_metrics.translation_pieces import PieceReader

_SAME = 0.9
_QUOTED_SENTENCE = re.compile(r"([「『“\"].*[」』”\"])[。.]", re.DOTALL)
_REMARK = ("(", "（", "[")
# Emoji at the start or the end, with their modifiers.
_SIGNS = "[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001ffff][\ufe0f\u200d]*"
_EMOJI = re.compile(rf"\A(?:{_SIGNS}\s*)+|(?:\s*{_SIGNS})+\Z")
# The headings of the translation.
_NAMED = {"final", "named", "label"}
# Of several texts under such headings, the last one is the most mature.
_MATURING = {"draft", "final"}
# The kinds of pieces that may be the translation, or part of it.
_TEXTS = ("text", "loose", "other", "copy")


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


@dataclass
class _Block:
    """Pieces of text in a row, under one heading."""

    heading: str
    kind: str
    is_named: bool = False  # whether the heading names the language or a translation
    pieces: list[Piece] = field(default_factory=list)

    @property
    def is_answer(self) -> bool:
        """Whether it is in the script asked for, and not under a heading of something else."""
        return self.heading not in ASIDES and self.kind != "other"

    @property
    def is_remark(self) -> bool:
        """Whether it is a remark in brackets."""
        return self.pieces[0].text.startswith(_REMARK)

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
        blocks = self._blocks(pieces)
        whole = self._without_choice(text, pieces, blocks)
        if whole is not None:
            return whole
        best, is_ambiguous = self._chosen(blocks)
        kept = best.whole.text
        is_ambiguous |= self._has_too_much(best) or self._explains(kept)
        is_ambiguous |= self._joins_two(kept)
        if best.pieces[-1] is pieces[-1]:
            kept += text[sum(map(len, read)) :]
        removed = self._part_names(best, pieces)
        return Translation(self._trimmed(kept), removed, is_ambiguous)

    def _without_choice(
        self,
        text: str,
        pieces: list[Piece],
        blocks: list[_Block],
    ) -> Translation | None:
        """The whole text, or an empty one, for a text without a part of its own."""
        own = [block for block in blocks if block.is_answer]
        if self._is_spelt(pieces) and not self._is_enough(own):
            has_notes = bool(blocks) or len(pieces) > 1
            removed = {"romanisation", "notes"} if has_notes else {"romanisation"}
            return Translation("", removed)
        if text and self.original.units and not any(map(str.isalnum, text)):
            return Translation("", {"marks"})
        if self._is_message(text):
            return Translation(text)
        if self._only_announces(pieces):
            return Translation("", {"preamble"})
        if not self._is_enough(blocks):
            is_ambiguous = self._explains(text) or self._joins_two(text)
            return Translation(text, ambiguous=is_ambiguous)
        return None

    def refuses(self, text: str) -> bool:
        """Tell whether a text refuses to translate or to sum up, unless the source refuses, too.

        Examples:
            >>> TranslationReader("He left.", "yue").refuses("Sorry, I can't translate this.")
            True
            >>> reader = TranslationReader("I can't translate this.", "yue")
            >>> reader.refuses("我翻譯唔到呢句。"), reader.refuses("抱歉，我無法翻譯。")
            (False, False)
        """
        opening = fold_script(text[:HEAD]).replace("’", "'")
        source = self.original.folded.replace("’", "'")
        if PATTERNS["refusal"].match(opening):
            refused = PATTERNS["inability"].search(source)
            return not (refused and PATTERNS["subject"].search(source))
        if PATTERNS["choice"].match(opening) and not PATTERNS["styles"].search(source):
            return not self.is_question or bool(PATTERNS["language"].search(opening))
        if self._is_message(text):
            return True
        if not PATTERNS["question"].match(opening):
            return False
        if self.is_question or PATTERNS["missing"].search(source):
            return False
        return PATTERNS["asking"].search(source) is None

    def gives_up(
        self,
        response: str,
        kept: str,
    ) -> bool:
        """Tell whether a response refuses or asks back, and what is kept of it only goes on with it.

        Args:
            response: The response.
            kept: What `find` found.

        Examples:
            >>> offer = "But I can help with another sentence."
            >>> TranslationReader("He left.", "yue").gives_up(f"I can't translate this. {offer}", offer)
            True
        """
        if begins("offer", kept) or PATTERNS["instead"].match(fold_script(kept[:HEAD])):
            return self.refuses(response)
        if self.is_question or PATTERNS["needed"].search(self.original.folded):
            return False
        needed = PATTERNS["needed"]
        is_asked = needed.search(fold_script(kept)) or QUESTION.search(kept)
        is_asking = QUESTION.search(response) and needed.search(fold_script(response))
        return bool(is_asked and is_asking)

    def has_nothing(self, text: str) -> bool:
        """Tell whether a response begins by saying that there is no text to translate.

        Examples:
            >>> TranslationReader("[image]", "yue").has_nothing("I don't see any text to translate.")
            True
            >>> TranslationReader("見唔到啲字。", "en").has_nothing("I can't see the text.")
            False
        """
        opening = fold_script(text[:HEAD]).replace("’", "'")
        if PATTERNS["nothing"].match(opening) is None:
            return False
        source = self.original.folded
        return PATTERNS["inability"].search(source) is None and not re.search(
            "[没冇唔不无未]|\\bn(?:o|ot|othing)\\b", source
        )

    def _only_announces(self, pieces: Sequence[Piece]) -> bool:
        """Whether a response breaks off after a line that announces the translation."""
        if not pieces or not pieces[-1].text.rstrip("* ").endswith(COLONS):
            return False
        return "colon" in self.kinds and all(
            piece.heading or piece.kind in ("courtesy", "talk") for piece in pieces
        )

    def _joins_two(self, text: str) -> bool:
        """Whether a text gives two translations, although the source lacks such a form."""
        is_two = PATTERNS["alternatives"].search(fold_script(text[:HEAD])) is not None
        return is_two and "quotes" in self.kinds

    def _is_message(self, text: str) -> bool:
        """Whether a text is a system's message about a missing answer, unlike the source."""
        is_message = PATTERNS["message"].match(fold_script(text[:HEAD])) is not None
        return is_message and PATTERNS["outage"].search(self.original.folded) is None

    def _explains(self, text: str) -> bool:
        """Whether a text only speaks of the words of the source, which does not do so itself."""
        is_about = PATTERNS["explanation"].match(fold_script(text[:HEAD])) is not None
        return is_about and PATTERNS["terms"].search(self.original.folded) is None

    def _has_too_much(self, block: _Block) -> bool:
        """Whether lines that nothing tells apart are longer than one translation of the source."""
        if self.is_short or len(block.pieces) <= self.n_lines:
            return False
        return block.whole.size > TOO_MUCH * self.original.size

    def _is_spelt(self, pieces: Sequence[Piece]) -> bool:
        """Whether a response has a romanisation of the translation."""
        size = sum(piece.size for piece in pieces if piece.spelt)
        return size >= SHORT * self.original.size

    def _is_enough(self, blocks: Sequence[_Block]) -> bool:
        """Whether texts are long enough to be the translation, not a summary."""
        size = sum(piece.size for block in blocks for piece in block.pieces)
        return size >= SUMMARY * self.original.size

    def _chosen(self, blocks: Sequence[_Block]) -> tuple[_Block, bool]:
        """The translation, and whether other lines beside it could be it, too."""
        runs = [run for block in blocks for run in self._runs(block)]
        if any(map(self._settles, runs)):
            runs = [run for run in runs if run.heading != "later"]
        best = max(runs, key=self._rank)
        if best.heading in _MATURING:
            best = max(reversed(runs), key=self._rank)
        is_ambiguous = any(self._is_as_good(block, best) for block in blocks)
        if self.original.size >= 2 * FEW:
            return best, is_ambiguous
        kept = self._with_rivals(best, blocks)
        return kept, is_ambiguous or len(kept.pieces) > len(best.pieces)

    def _with_rivals(
        self,
        best: _Block,
        blocks: Sequence[_Block],
    ) -> _Block:
        """The best run of a short text, up to others in its block that are as likely."""
        block = next(block for block in blocks if best.pieces[0] in block.pieces)
        places: list[int] = []
        for run in self._runs(block):
            if run.pieces == best.pieces or self._is_rival(run, best):
                places.append(block.pieces.index(run.pieces[0]))
                places.append(block.pieces.index(run.pieces[-1]))
        return self._run(block, min(places), max(places) + 1)

    def _is_as_good(
        self,
        block: _Block,
        best: _Block,
    ) -> bool:
        """Whether another text is an alternative that nothing puts second."""
        return any(self._is_alternative_to(run, best) for run in self._runs(block))

    def _is_alternative_to(
        self,
        run: _Block,
        best: _Block,
    ) -> bool:
        """Whether a run is another translation, beside the best one."""
        if best.heading == "final" or run.is_remark or run.kind != "text":
            return False
        equals = {"", "label", "later", "named", "option", best.heading}
        if run.heading not in equals or run.heading in ("draft", "notes"):
            return False
        least = HALF if run.heading == "option" else COMPLETE
        if run.whole.size < least * self.original.size:
            return False
        is_other = max(run.whole.share(best.whole), best.whole.share(run.whole)) < _SAME
        if run.heading == "option" and self.is_short:  # a particle is a difference
            is_other = run.whole.units != best.whole.units
        if self._evidence(run.whole) < self._evidence(best.whole):
            return False
        return is_other and self._language_rank(run) >= self._language_rank(best)

    def _is_rival(
        self,
        run: _Block,
        best: _Block,
    ) -> bool:
        """Whether a run is as likely the translation as the best one, and another text."""
        if run.pieces == best.pieces or run.is_remark:
            return False
        is_other = run.whole.share(best.whole) < HALF
        return is_other and self._rank(run) == self._rank(best)

    def _blocks(self, pieces: Sequence[Piece]) -> list[_Block]:
        """The texts that may be the translation, each under its heading."""
        blocks: list[_Block] = []
        heading = Heading()
        size = 0.0
        goes_on = False
        self._name_kinds(pieces)
        for piece in pieces:
            heading = self._below(piece, heading, size / self.original.size)
            if piece.kind not in _TEXTS:
                if blocks and begins("chosen", piece.text):
                    blocks[-1].heading = "final"
                goes_on = False
                continue
            if goes_on and self._is_alternative(piece, blocks[-1]):
                heading = Heading("option")
            if not goes_on or self._is_apart(piece, heading, blocks[-1]):
                blocks.append(_Block(heading.role, piece.kind, heading.is_named))
            blocks[-1].pieces.append(piece)
            goes_on = True
            if piece.kind in ("text", "loose") and heading.role not in ASIDES:
                size += piece.size
        return blocks

    @staticmethod
    def _is_apart(
        piece: Piece,
        heading: Heading,
        block: _Block,
    ) -> bool:
        """Whether a piece begins another text than the one before it."""
        if piece.kind != block.kind or heading.role != block.heading:
            return True
        return "\n" in piece.gap and begins("bracket", piece.text)

    def _is_alternative(
        self,
        piece: Piece,
        block: _Block,
    ) -> bool:
        """Whether a piece is the next of a list of translations."""
        if piece.size < HALF * self.original.size:
            return False
        return self._is_item(piece.text) and self._is_item(block.pieces[0].text)

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
            while self._is_complete(shorter) and self._is_apart_below(run, shorter):
                start += 1
                run = shorter
                shorter = self._run(block, start + 1, end)
            runs.append(run)
            start = end
        return runs or [block]

    def _is_apart_below(
        self,
        run: _Block,
        shorter: _Block,
    ) -> bool:
        """Whether the translation is in the other pieces of a run, and the first one is beside it."""
        first, second = run.pieces[:2]
        if first.text.endswith(COLONS) or second.text.startswith(_REMARK):
            return False
        if second.gap != "\n" or not self._is_related(first):
            return True
        return first.is_repeated_in(shorter.whole)  # it goes on with the source

    @staticmethod
    def _goes_on_below(
        block: _Block,
        run: _Block,
        end: int,
    ) -> bool:
        """Whether the next line goes on with the text, neither a new paragraph nor a repetition."""
        if end == len(block.pieces):
            return False
        below = block.pieces[end]
        is_line = below.gap == "\n" and not below.text.startswith(_REMARK)
        return is_line and not below.is_repeated_in(run.whole)

    @staticmethod
    def _run(
        block: _Block,
        start: int,
        end: int,
    ) -> _Block:
        """Some pieces of a block in a row."""
        return _Block(
            block.heading, block.kind, block.is_named, block.pieces[start:end]
        )

    def _is_one(self, block: _Block) -> bool:
        """Whether a block is no longer than one translation."""
        is_as_long = block.whole.size <= FULL * self.original.size
        return len(block.pieces) <= self.n_lines or is_as_long

    def _is_complete(self, run: _Block) -> bool:
        """Whether a run says as much as the source."""
        if not run.pieces or run.pieces[-1].text.endswith(COLONS):
            return False
        size = run.whole.size / self.original.size
        if size < ENOUGH:
            return False
        if self.n_lines > 1:
            return len(run.pieces) >= self.n_lines or size >= FULL
        return size >= WHOLE or run.whole.sentences >= self.original.sentences

    def _rank(self, run: _Block) -> tuple[float, ...]:
        """How likely a run is the translation; the earliest of equal ones is."""
        size = run.whole.size / self.original.size
        is_related = run.kind != "loose" and self._is_related(run.whole)
        is_related = is_related or run.heading in _NAMED
        return (
            run.kind != "other" and size >= SUMMARY,
            run.heading not in ASIDES,
            run.heading != "draft",
            run.kind != "copy" and size >= HALF,
            self._language_rank(run) if size >= HALF and is_related else 0,
            not run.is_remark,
            min(size, COMPLETE) if is_related else 0.0,
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
        is_long = run.whole.size >= SHORT * self.original.size
        is_text = run.kind == "text" and run.heading not in ("later", *ASIDES)
        return is_long and is_text and run.whole.language in self.asked

    def _evidence(self, part: Part) -> float:
        """How much of the source's names, numbers and questions a text has."""
        text = part.text.lower()
        named = [name in text for name in self.names]
        is_question = QUESTION.search(text) is not None
        share = sum(named) / len(named) if named else 0.0
        is_close = part.share(self.original) > 2 * RELATED
        return share + is_close + (is_question == self.is_question)

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
            if not re.search("[(（]", text):
                text = text.rstrip(")）")
        return text

    def _part_names(
        self,
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
            names.add(self._part_name(piece, best.whole))
        return names - {""}

    def _part_name(
        self,
        piece: Piece,
        translation: Part,
    ) -> str:
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
        if piece.kind not in _TEXTS or piece.size < SHORT * translation.size:
            return "notes"
        is_version = piece.chinese == translation.chinese
        return "second version" if is_version else "back-translation"
