"""Find the translation in a response, by what could be a translation of the source.

A response is split into lines. A line is ruled out if it is in another script than the one asked
for, is a romanisation or a copy of the source, or speaks of translating although the source does
not. The lines between two that are ruled out are a section. The translation is the fewest lines of
a section that are as long as the source and have as many sentences. If other lines fit equally
well, all are kept. Quality never counts.
"""

from __future__ import annotations

import re
from collections.abc import Set
from functools import cached_property
from itertools import pairwise
from pathlib import Path

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
_SUMMARY, _SHORT, _HALF, _COMPLETE, _ENOUGH, _WHOLE, _FULL = (
    0.15,
    0.3,
    0.5,
    0.6,
    0.7,
    0.95,
    1.25,
)
_CHARACTERS_IN_A_WORD = 1.3
# The size of a source so short that length and wording show less.
_FEW = 15
_CLEAR = 0.1  # a difference of evidence that decides
_HEAD, _LONGEST_LABEL, _LONGEST_NAME = 200, 60, 5

_HAN_CHARACTER = re.compile(f"[{HAN}]")
_UNIT = re.compile(rf"[{HAN}]|[^\W\d_{HAN}]+(?:['’][a-z]+)?[1-6]?")
_NAME = re.compile(r"[^\W_\u3400-\u9fff]*(?:\d|[A-Z])[^\W_\u3400-\u9fff]*")
_TONE = re.compile("[1-6]$|[āáǎàēéěèīíǐìōóǒòūúǔùǖǘǚǜ]")
_SENTENCE = re.compile(r"[。！？!?]+|\.[. ]*(?=\W*(?:\s|$))")
_QUESTION = re.compile("[?？]")
_QUOTED = re.compile(r"[「『“\"]([^「」『』“”\"]+)[」』”\"]")
_PAIRED = re.compile("[→=＝]")  # a word and its explanation
_COLONS, _QUOTATION = (":", "："), ("「", "『", "“", '"')


_PATTERNS = read_patterns(
    Path(__file__).with_suffix(".toml"), re.IGNORECASE | re.VERBOSE
)
_MARKS = ("turn", "label", "notes", "version", "bracket", "item", "closing")

# The names of the requested language. A text without a distinctive word may be in any variety of
# Chinese.
_WRITTEN: Set[Language] = {"written_chinese", "simplified_mandarin"}
_ASKED: dict[str, Set[Language]] = {
    "yue": {"cantonese"},
    "zh": _WRITTEN,
    "en": {"english"},
}


class _Part:
    """A text with the units for comparing it: Chinese characters and words of other languages."""

    def __init__(self, text: str, gap: str = "") -> None:
        self.text, self.gap = text, gap
        self.is_remark = text[:1] in ("(", "（") and "\n" not in gap
        self.announced = False  # whether the line before it announces a translation
        self.folded = fold_script(text)
        self.units = _UNIT.findall(self.folded.lower())
        han = len(_HAN_CHARACTER.findall(self.folded))
        words = len(self.units) - han
        self.size = han + _CHARACTERS_IN_A_WORD * words or 0.1
        self.chinese = han > words
        toned = sum(map(bool, map(_TONE.search, self.units)))
        self.romanised = words > max(2, han) and toned > 0.3 * words
        self.spelt = (
            self.romanised and not han
        )  # a gloss repeats the characters that it explains
        self.about = any(
            map(_PATTERNS["about"].search, (self.folded[:160], self.folded[-60:]))
        )
        lines = filter(None, map(str.strip, text.splitlines()))
        self.sentences = sum(len(_SENTENCE.findall(line)) or 1 for line in lines)
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


class _Lines(_Part):
    """Lines in a row that may be the translation."""

    def __init__(self, section: list[_Part], start: int, end: int) -> None:
        self.lines, self.section = section[start:end], section
        super().__init__("".join(line.gap + line.text for line in self.lines).strip())
        self.announced = section[0].announced


def label_length(text: str) -> int:
    """Return the length of a label at the start of a text that names a translation or its language.

    Examples:
        >>> label_length("譯文：好"), label_length("(Cantonese) 好"), label_length("好：好")
        (3, 11, 0)
    """
    label = _PATTERNS["label"].match(fold_script(text[:_LONGEST_LABEL]))
    return label.end() if label else 0


class TranslationReader:
    """What could be a translation of one source.

    Args:
        source: The text to be translated. Marks that the source has, too, such as brackets around a
            line, are ignored.
        language: The language asked for: ``yue``, ``zh`` or ``en``. By default, Cantonese is
            preferred to Written Chinese if the source is Written Chinese.
    """

    def __init__(self, source: str, language: str) -> None:
        self.source, self.language, self.strict = source, language, True
        self.original = _Part(source[:_CHARACTERS_READ])
        self.lines_of_source = len(list(filter(str.strip, source.splitlines())))
        self.names = {name.lower() for name in _NAME.findall(source)}
        self.about_language = (
            _PATTERNS["language"].search(self.original.folded) is not None
        )
        heads = [
            line.strip()[:_HEAD]
            for line in self.original.folded.splitlines()[:_LINES_READ]
        ]
        marks = {name: _PATTERNS[name] for name in _MARKS}
        self.marks = {
            name: mark
            for name, mark in marks.items()
            if not any(map(mark.match, heads))
        }
        self.brackets = re.search("[(（)）]", source) is not None
        self.colon = re.search("[:：→—]", source) is not None
        self.quotes = _QUOTED.search(source) is not None
        self.removed: set[str] = set()
        self.copies: list[_Part] = []

    def find(self, text: str) -> tuple[str, set[str], bool]:
        """Find the translation in a response.

        Args:
            text: The response, without wrapping around the whole of it.

        Returns:
            The translation, or the whole text if none is found; it is empty if the response has
            only its romanisation. The names of the removed parts. Whether several parts could be
            the translation; all are kept.

        Examples:
            >>> TranslationReader("He left.", "").find("佢走咗。\\n\\nNote: 佢 means he.")
            ('佢走咗。', {'notes'}, False)
            >>> TranslationReader("他走了。", "yue").find("他走了。\\n直接翻譯成粵語：佢走咗。")[0]
            '佢走咗。'
        """
        lines, rest = self._lines(text)
        spelt = [line for line in lines if line.spelt]
        romanised = sum(line.size for line in spelt) >= _SHORT * self.original.size
        passes = [(True, self.language), (False, self.language), (False, "")]
        for self.strict, self.language in passes[: 2 if romanised else 3]:
            sections = self._sections(lines)
            size = sum(line.size for section in sections for line in section)
            if self.copies or size >= _SUMMARY * self.original.size:
                break
        else:
            if romanised:
                return (
                    "",
                    {"romanisation", *(["notes"] if len(spelt) < len(lines) else [])},
                    False,
                )
            return text, set(), False
        best, ambiguous = self._choose(sections)
        self._name_others(best.lines, lines)
        goes_on = best.lines[-1] is lines[-1]
        kept = best.text + (rest if goes_on else "")
        if not self.source.startswith("。"):
            kept = kept.removeprefix("。").lstrip()
        if "\n" not in kept and (item := self._match("item", kept)):
            kept = kept[item.end() :]
        if "bracket" in self.marks and (inside := _PATTERNS["bracket"].fullmatch(kept)):
            kept = inside[1]
        elif not self.brackets and not re.search("[(（]", kept):
            kept = kept.rstrip(")）")
        return kept, self.removed, ambiguous

    def _lines(self, text: str) -> tuple[list[_Part], str]:
        """Split a text into its lines, with announcements and copies of the source apart."""
        read = text[:_CHARACTERS_READ].splitlines(keepends=True)[:_LINES_READ]
        parts: list[_Part] = []
        gap = ""
        for line in read:
            pieces = [line.strip()]
            before, copy, after = pieces[0].partition(self.source)
            others = _Part(before + after if copy else "")
            if others.about or others.size >= _COMPLETE * self.original.size:
                pieces = [before, copy, after.lstrip(" →=>-–—:：")]
            for piece in pieces:
                while piece:
                    opening = max(piece.rfind("("), piece.rfind("（"))
                    is_closed = piece.rstrip("。. ")[-1:] in (")", "）")
                    is_remark = opening > 0 and is_closed and not self.brackets
                    end = self._head_length(piece) or (
                        opening if is_remark else len(piece)
                    )
                    parts.append(_Part(piece[:end].strip(), gap))
                    gap = " " if piece[:end][-1].isspace() else ""
                    piece = piece[end:].strip()
            gap += "\n" if line[-1:].isspace() else ""
        return parts, text[sum(map(len, read)) :]

    def _head_length(self, line: str) -> int:
        """The length of a label or an announcement before other text in a line; 0 without one."""
        turn = self._match("turn", line)
        if turn and turn[1]:
            return turn.end()
        if "label" in self.marks and (length := label_length(line)):
            return length
        if not self.original.chinese and (foreign := _PATTERNS["foreign"].match(line)):
            return foreign.end()
        for name in () if self.about_language else ("colon", "opening"):
            head = _PATTERNS[name].match(line)
            announces = head and _PATTERNS["about"].search(fold_script(head[0]))
            if head and announces and _UNIT.search(line, head.end()):
                return 0 if name == "colon" and self.colon else head.end()
        return 0

    def _sections(self, lines: list[_Part]) -> list[list[_Part]]:
        """The lines that could be translation, in sections between those that could not."""
        sections: list[list[_Part]] = [[]]
        self.removed.clear()
        self.copies.clear()
        size, announced = 0.0, False
        for line, after in pairwise([*lines, _Part("")]):
            first = next((section[0] for section in sections if section), line)
            asks = line.about and _PATTERNS["asks"].match(line.folded)
            is_list = self._match("item", line.text) and not self._match(
                "item", first.text
            )
            ends = (  # something else begins after the translation
                ("other turn", self._match("turn", line.text) or asks),
                ("second version", self._match("version", line.text)),
                (
                    "romanisation" if line.romanised else "notes",
                    self._match("notes", line.text),
                ),
                ("notes", is_list),
            )
            if size >= _SHORT and (named := [name for name, is_end in ends if is_end]):
                self.removed.add(named[0])
                break
            is_out = self._is_out(line, after.text, sections, size)
            before = sections[-1][-1] if sections[-1] else line
            changes = (
                not self.language
                and before.chinese != line.chinese
                and len(line.units) > 2
            )
            if (
                is_out
                or changes
                or ("\n" in line.gap and self._match("bracket", line.text))
            ):
                sections.append([])
                announced = is_out and not _SENTENCE.search(line.text[-2:])
            if not is_out:
                line.announced, announced = announced, False
                sections[-1].append(line)
                size += line.size / self.original.size
        return [section for section in sections if section]

    def _is_out(
        self, line: _Part, after: str, sections: list[list[_Part]], size: float
    ) -> bool:
        """Whether a line cannot be part of the translation."""
        original, text = self.original, line.text
        is_mark = not line.units or self._is_label(text) or self._match("turn", text)
        if is_mark or text.startswith("```") or self._match("notes", text):
            return True
        asked = {"yue": True, "zh": True, "en": False}.get(self.language, line.chinese)
        foreign = line.chinese != asked or not (line.chinese or original.chinese)
        is_name = len(line.units) <= _LONGEST_NAME and {*line.units} <= {
            *original.units
        }
        is_foreign = foreign and len(line.units) > 2 and not is_name
        is_glossary = not self.colon and len(_PAIRED.findall(text)) > 1
        if is_foreign or is_glossary or (line.romanised and not original.romanised):
            return True
        is_long = line.size >= _COMPLETE * original.size
        if is_long and LCSseq.similarity(text, self.source) >= _COPIED * len(text):
            self.copies.append(line)
            return True
        is_long, complete = is_long and original.size >= _FEW, size >= _COMPLETE
        if line.about and not self.about_language and (complete or not is_long):
            return True
        if text.rstrip("*")[-1] in _COLONS and not self.colon and not is_long:
            return after[:1] not in _QUOTATION
        known = (
            "".join(each.text for section in sections for each in section)
            if complete
            else ""
        )
        quoted = [] if self.quotes else _QUOTED.findall(text)
        repeated = [
            each
            for each in quoted
            if each in known or (each[1:] and each in self.source)
        ]
        if size >= _SHORT and repeated:
            return True
        first = self.strict and not size and self.lines_of_source == 1
        if first and self._match("closing", text):
            return True
        doubtful = first or (complete and line.size > _LONGEST_NAME)
        return doubtful and not self._is_related(line)

    def _is_label(self, text: str) -> bool:
        return "label" in self.marks and label_length(text) == len(text)

    def _is_comparable(self, part: _Part) -> bool:
        return part.chinese and self.original.chinese and self.original.size >= _FEW

    def _is_related(self, part: _Part) -> bool:
        shared = len(part.bigrams & self.original.bigrams)
        return not self._is_comparable(part) or shared > _RELATED * len(part.bigrams)

    def _choose(self, sections: list[list[_Part]]) -> tuple[_Lines, bool]:
        """The translation, and whether other lines could be it, too."""
        size, short = self.original.size, self.original.size < _FEW
        parts = [part for section in sections for part in self._fewest(section)]
        others = [part for part in parts if part.size >= _COMPLETE * size]
        others = [*filter(self._is_related, others)] or ([] if self.copies else others)
        if self.copies and not others:
            return _Lines(self.copies, 0, 1), False
        best = others[0] if others else max(parts, key=lambda part: part.size)
        asked = _ASKED.get(self.language, set())
        if not self.language and {best.language, self.original.language} <= {
            *_WRITTEN,
            None,
        }:
            asked = _ASKED["yue"]
        if asked and best.language not in (None, *asked):
            long = [part for part in parts if part.size >= _HALF * size]
            best = next((part for part in long if part.language in asked), best)
        rivals: list[_Lines] = []
        for part in others:
            is_other = part.language not in (None, best.language, *asked)
            if part is best or part.lines[0].is_remark or is_other:
                continue
            better = self._evidence(part) - self._evidence(best)
            same = part.section is best.section
            surely = better > _CLEAR and ((short and same) or self._is_comparable(part))
            prefers = part.language in asked and best.language not in asked
            announced = part.announced and not (best.announced or same)
            if surely or (announced and (prefers or (short and better >= 0))):
                best, rivals = part, []
            elif (
                same
                and size < 2 * _FEW
                and better >= -_CLEAR
                and part.share(best) < _HALF
            ):
                rivals.append(part)
        if rivals:  # they and the lines between them
            section = best.section
            places = [
                section.index(line) for part in (best, *rivals) for line in part.lines
            ]
            best = _Lines(section, min(places), max(places) + 1)
        return best, bool(rivals)

    def _fewest(self, section: list[_Part]) -> list[_Lines]:
        """The runs of the fewest lines that say as much as the source, one after the other."""
        sizes = [line.size / self.original.size for line in section]
        # A line that ends in a colon belongs to the next one.
        open_ = [line.text[-1] in _COLONS for line in section]
        counts = [0 if line.text[-1] in _COLONS else line.sentences for line in section]
        is_long = self.original.size >= _FEW
        if len(section) <= self.lines_of_source or (is_long and sum(sizes) <= _FULL):
            return [_Lines(section, 0, len(section))]

        def is_whole(start: int, end: int) -> bool:
            size, n_lines = sum(sizes[start:end]), end - start
            is_as_long = (
                size >= _WHOLE or sum(counts[start:end]) >= self.original.sentences
            )
            is_as_long = is_as_long or (is_long and n_lines == self.lines_of_source)
            return not open_[end - 1] and size >= _ENOUGH and is_as_long

        runs: list[tuple[int, int]] = []
        start = 0
        for end in range(1, len(section) + 1):
            while is_whole(start, end):
                if runs and runs[-1][1] == end:
                    runs.pop()
                runs.append((start, end))
                start = next(
                    at
                    for at in range(start + 1, end + 1)
                    if at == end or not (open_[at - 1] or section[at].is_remark)
                )
        apart = runs[:1]
        for run in runs:
            if apart[-1][1] <= run[0]:
                apart.append(run)
        if len(apart) < 2:
            apart = [(runs[0][0], runs[-1][1]) if runs else (0, len(section))]
        return [_Lines(section, *run) for run in apart]

    def _evidence(self, part: _Part) -> float:
        """How much of the source's names and numbers a text has, and of its wording if Chinese."""
        named = sum(name in part.text.lower() for name in self.names)
        question = bool(_QUESTION.search(part.text)) == bool(
            _QUESTION.search(self.source)
        )
        evidence = question / 5 + (named and 0.5 + named / len(self.names))
        both_chinese = part.chinese and self.original.chinese
        return evidence + (self.original.share(part) if both_chinese else 0)

    def _name_others(self, kept: list[_Part], lines: list[_Part]) -> None:
        """Name the lines before and after the translation."""
        first, last = lines.index(kept[0]), lines.index(kept[-1])
        size = sum(line.size for line in kept)
        ended = bool({"other turn", "second version"} & self.removed)
        for place, line in enumerate(lines):
            notes = (
                line.about or line.romanised or _PATTERNS["notes"].match(line.folded)
            )
            names = {
                "label": self._is_label(line.text),
                "code fence": line.text.startswith("```"),
                "preamble": place < first,
                "": place <= last or ended,
                "romanisation": line.spelt,
                "notes": notes or line.size < _SHORT * size,
                "second version": line.chinese == kept[0].chinese,
                "back-translation": True,
            }
            self.removed.add(next(name for name, is_so in names.items() if is_so))
        self.removed.discard("")

    def _match(self, mark: str, text: str) -> re.Match[str] | None:
        return (
            self.marks[mark].match(fold_script(text[:_HEAD]))
            if mark in self.marks
            else None
        )
