"""Find the translation in a response, by what could be a translation of the source.

A response is split into lines. A line is ruled out if it is in another script than the one asked
for, is a romanisation or a copy of the source, or speaks of translating although the source does
not. The lines between two that are ruled out are a section. In a section, the translation is the
fewest lines that are as long as the source and have as many sentences. If other lines could be it
just as well, all are kept. Quality never counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from rapidfuzz.distance import LCSseq

from hkcanto_metrics.fluency import count_features
from hkcanto_metrics.language import Language, identify_language
from hkcanto_metrics.script import fold_script

# Only this much is read; the rest is kept if the translation goes on to the end of what is read.
_CHARACTERS_READ, _LINES_READ = 30_000, 500
# Share of a text's bigrams that also occur in the source: 22 % or more in the Cantonese references
# of Chinese sentences, 5 % or less in the references of other sentences (percentiles 1 and 99).
_RELATED, _ALIKE, _COPIED = 0.12, 0.3, 0.88
# Lengths relative to the source. Of 3,000 Cantonese references of English texts, 98 % have 0.76 to
# 1.33 times its length; of Chinese texts, 0.88 to 1.09 times. A summary is much shorter.
_SUMMARY, _SHORT, _COMPLETE, _FULL, _TOO_LONG = 0.15, 0.3, 0.6, 1.25, 2.0
_CHARACTERS_IN_A_WORD = 1.3
_FEW = 15  # units of a source whose translation may have twice its length, or no bigram of it
_ENOUGH, _CLEAR = 0.7, 0.1
_HEAD, _LONGEST_LABEL, _LONGEST_NAME = 200, 60, 5

_HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN_CHARACTER = re.compile(f"[{_HAN}]")
_UNIT = re.compile(rf"[{_HAN}]|[^\W\d_{_HAN}]+(?:['’][a-z]+)?[1-6]?")
_NAME = re.compile(r"[^\W_\u3400-\u9fff]*(?:\d|[A-Z])[^\W_\u3400-\u9fff]*")
_TONE = re.compile("[1-6]$|[āáǎàēéěèīíǐìōóǒòūúǔùǖǘǚǜ]")
_SENTENCE = re.compile(r"[。！？!?]+|\.(?=\W*(?:\s|$))")

# Patterns meet text folded to Simplified script.
_VARIETIES = (
    "粤语|广东话|白话文?|口语|普通话|国语|书面语|中文|汉语|英文|英语"
    "|cantonese|mandarin|chinese|english"
)
_RESULT = "翻译|译[文本句]?|translat(?:ion|ed)"
_QUALIFIERS = (
    "香港|标准|现代|书面|简体|繁体|[成为做的嘅]|结果|版本?"
    "|the|hong kong|standard|modern|written|spoken|traditional|simplified|text|sentence|version"
)
_WORDS = rf"(?:(?:{_VARIETIES}|{_RESULT}|{_QUALIFIERS}) ?)*"
_LABEL = re.compile(
    rf"(?i)[#*\s]*(?:(【)|([(（]))?\**{_WORDS}(?:{_VARIETIES}|{_RESULT}) ?{_WORDS}\**"
    r"(?(1)】[:：]?|(?(2)[:：]?[)）][:：]?|[:：]))\**"
)
# Words for translating, languages and saying. A line with them is not part of the translation of a
# source that has none.
_ABOUT = re.compile(
    r"(?i)翻[译成做]|译|粤语|广东话|普通话|书面语|口语|白话|拼音|直译|原[文句]|[讲说写]法|[咁样点]讲"
    r"|表达|translat|cantonese|mandarin|jyutping|romani[sz]|^(?:in )?(?:english|chinese)\b"
    r"|^[这此上][段句]?.{0,4}(?:意思|大意)|希望.{0,12}(?:帮|满意|啱)|hope (?:this|that|it) help"
    r"|(?:say|put|phrase) (?:it|this|that)\b"
)
_OF_LANGUAGE = re.compile(
    r"(?i)[语译]|[话文]\b|中文|英文|广东话|普通话|表达|chinese|english|cantonese|language|translat"
)
_ASKS = re.compile(r"(?i)(?:[请将把]|please|\W*translate)(?!.*(?:以下[是为系]|如下))")
_TURN = re.compile(
    r"(?i)[#*\s]*(?:human|user|system|instruction|人类|用户|问题?"
    r"|(assistant|response|助手|助理))\**(?:[:：]|\n|$)\**\s*"
)
_NOTES = re.compile(
    r"(?i)[*#\s(（\[【]*(?:(?:notes?|explanations?|breakdown|pronunciation|romani[sz]ation|jyutping"
    r"|yale|pinyin|back.?translation|original|source|literal(?:ly)?)\b"
    r"|注|备注|附注|译注|请注意|解[释说析]|说明|分析|词汇|[粤广].{0,3}拼音|拼音|粤拼|发音|读音|直译|原[文句])"
    r"[^:：。，]{0,30}[:：)）\]】]"
)
_VERSION = re.compile(
    r"(?i)[*#\s(（\[【]*(?:或者?|又或者?|另外?一?[种个]?|更[^:：，。]{1,8}的?|其他"
    r"|(?:or|alternative|another|(?:here's )?a more|more|version)\b)"
    r"[^:：。]{0,60}[:：]\**(?:\s*$|\s*[*\"「『“])"
)
_HEADING = re.compile(r"#+$|\*\*[^*]{1,80}[:：]?\*\*\W*$|#+ |[-*_=]{3,}$")
_BRACKET = re.compile(r"[(（\[［](.*)[)）\]］]\W?$")
_ITEM = re.compile(r"(?:[1-9][.、)]\s*|\([1-9]\)\s*|[-*•]\s+)(?=\S)")
_ANNOUNCEMENT = re.compile(r"[^:：。\n]{2,60}?(?:[:：]|\s[—–-]+\s|->|→)\**\s*")
_OPENING = re.compile(r"[^。！!.\n]{2,60}[。！!.]\s*(?=\S)")
_FOREIGN_START = re.compile(rf"[^{_HAN}]{{20,1500}}[.!?:][\"'”]?\s+(?=[「『“\"]?[{_HAN}])")
_QUOTED = re.compile(r"[「『“\"]([^「」『』“”\"]+)[」』”\"]")

_QUESTION = re.compile("[?？]")
_ENDS_ANOTHER = re.compile(r"[，。、；：？！」』）”,.;:?!)]")
_COLONS, _QUOTATION = (":", "："), ("「", "『", "“", '"')

# The names of the requested language. A text without a distinctive word may be in any variety of
# Chinese.
_WRITTEN: frozenset[Language] = frozenset({"written_chinese", "simplified_mandarin"})
_ASKED: dict[str, frozenset[Language]] = {
    "yue": frozenset({"cantonese"}),
    "zh": _WRITTEN,
    "en": frozenset({"english"}),
}


class _Part:
    """A text with the units for comparing it: Chinese characters and words of other languages."""

    def __init__(self, text: str, gap: str = "") -> None:
        self.text, self.gap = text, gap
        self.folded = fold_script(text)
        self.units = _UNIT.findall(self.folded.lower())
        self.bigrams = set(pairwise(self.units))
        han = len(_HAN_CHARACTER.findall(self.folded))
        words = len(self.units) - han
        self.size = han + _CHARACTERS_IN_A_WORD * words or 0.1
        self.chinese = han > words
        toned = sum(bool(_TONE.search(unit)) for unit in self.units)
        self.romanised = words > max(2, han) and toned > 0.3 * words
        # Whether its beginning or its end speaks of translating.
        ends = self.folded[:160], self.folded[160:][-60:]
        self.about = any(map(_ABOUT.search, ends))
        lines = filter(None, map(str.strip, text.splitlines()))
        self.sentences = sum(len(_SENTENCE.findall(line)) or 1 for line in lines)

    @cached_property
    def language(self) -> Language | None:
        """The language that its words indicate; None if they indicate none or several."""
        language = identify_language(self.text).language
        if language in _WRITTEN and not count_features(self.text)[1]:
            return None
        return None if language in ("mixed", "none") else language

    def share(self, other: _Part) -> float:
        """The share of its bigrams, or of the characters of a short text, that another has."""
        if min(len(self.units), len(other.units)) < _FEW:
            return len({*self.units} & {*other.units}) / (len({*self.units}) or 1)
        return len(self.bigrams & other.bigrams) / len(self.bigrams)

    def is_like(self, other: _Part) -> bool:
        """Whether it is another version of a text."""
        few = min(len(self.units), len(other.units)) < _FEW
        return self.share(other) >= (0.5 if few else _ALIKE)


@dataclass
class _Section:
    """Lines in a row that could be translation, and whether the line before announces one."""

    announced: bool = False
    lines: list[_Part] = field(default_factory=list)

    @property
    def size(self) -> float:
        return sum(line.size for line in self.lines)


def label_length(text: str) -> int:
    """Return the length of a label at the start of a text that names a translation or its language.

    Examples:
        >>> label_length("譯文：好"), label_length("(Cantonese) 好"), label_length("好：好")
        (3, 11, 0)
    """
    label = _LABEL.match(fold_script(text[:_LONGEST_LABEL]))
    return label.end() if label else 0


@dataclass
class Found:
    """The translation found in a response.

    Attributes:
        text: The translation, or the whole text if none is found. It is empty if the response has
            only its romanisation.
        removed: The names of the removed parts.
        ambiguous: Whether several parts could be the translation; all are kept.
    """

    text: str
    removed: set[str] = field(default_factory=set)
    ambiguous: bool = False


def find_translation(text: str, source: str, language: str = "") -> Found:
    """Find the translation in a response.

    Args:
        text: The response, without wrapping around the whole of it.
        source: The text to be translated. Marks that the source has, too, such as brackets around a
            line, are ignored.
        language: The language asked for: ``yue``, ``zh`` or ``en``. By default, Cantonese is
            preferred to Written Chinese if the source is Written Chinese.

    Returns:
        The translation, and what was removed.

    Examples:
        >>> find_translation("佢走咗。\\n\\nNote: 佢 means he.", "He left.")
        Found(text='佢走咗。', removed={'notes'}, ambiguous=False)
        >>> find_translation("他走了。\\n直接翻譯成粵語：佢走咗。", "他走了。", "yue").text
        '佢走咗。'
    """
    return _Reader(source.strip(), language).find(text)


class _Reader:
    """What could be a translation of one source."""

    def __init__(self, source: str, language: str) -> None:
        self.source = source
        self.original = _Part(source[:_CHARACTERS_READ])
        self.language = language
        self.lines_of_source = len(list(filter(str.strip, source.splitlines())))
        self.names = {name.lower() for name in _NAME.findall(source)}
        self.about_language = bool(_OF_LANGUAGE.search(self.original.folded))
        heads = [line.strip()[:_HEAD] for line in self.original.folded.splitlines()[:_LINES_READ]]
        marks = (_TURN, _LABEL, _NOTES, _VERSION, _HEADING, _BRACKET, _ITEM, _ENDS_ANOTHER)
        self.marks = {mark for mark in marks if not any(map(mark.match, heads))}
        self.brackets = re.search("[(（)）]", source) is not None
        self.colon = re.search("[:：→—]", source) is not None
        self.removed: set[str] = set()
        self.copies: list[_Part] = []

    def find(self, text: str) -> Found:
        """Find the translation in a response; see `find_translation`."""
        lines, rest = self._lines(text)
        # A gloss repeats the characters that it explains.
        spelt = [line for line in lines if line.romanised and not _HAN_CHARACTER.search(line.text)]
        romanised = sum(line.size for line in spelt) >= _SHORT * self.original.size
        passes = [(True, self.language), (False, self.language), (False, "")]
        for self.strict, self.language in passes[: 2 if romanised else 3]:
            sections = self._sections(lines)
            size = sum(section.size for section in sections)
            if self.copies or size >= _SUMMARY * self.original.size:
                break
        else:
            if romanised:
                return Found("", {"romanisation", *(["notes"] if len(spelt) < len(lines) else [])})
            return Found(text)
        kept, ambiguous = self._choose(sections)
        self._name_others(kept, lines)
        found = "".join(line.gap + line.text for line in kept).strip()
        goes_on = kept[-1] is lines[-1]
        return Found(self._trim(found + (rest if goes_on else "")), self.removed, ambiguous)

    def _choose(self, sections: list[_Section]) -> tuple[list[_Part], bool]:
        """The lines of the translation, and whether others could be it, too."""
        least = self.original.size
        complete = [section for section in sections if section.size >= _COMPLETE * least]
        if complete and complete[0] is not sections[0] and sections[0].size >= _SHORT * least:
            covered = [self._evidence(_joined(each.lines)) for each in (sections[0], *complete)]
            complete = sections[:1] if covered[0] >= max(covered) else complete
        related = [section for section in complete if self._is_related(_joined(section.lines))]
        if related or (complete and not self.copies):
            return self._fewest(self._section(sections, related or complete).lines)
        if self.copies:
            return self.copies[:1], False
        return max(sections, key=lambda section: section.size).lines, False

    def _lines(self, text: str) -> tuple[list[_Part], str]:
        """Split a text into its lines, with announcements and copies of the source apart."""
        read = text[:_CHARACTERS_READ].splitlines(keepends=True)[:_LINES_READ]
        parts: list[_Part] = []
        gap = ""
        for line in read:
            before, copy, after = line.strip().partition(self.source)
            pieces = [line.strip()]
            others = _Part(before + after)
            if copy and (others.about or others.size >= _COMPLETE * self.original.size):
                pieces = [before, copy, after.lstrip(" →=>-–—:：")]
            for piece in pieces:
                while piece:
                    end = self._head_length(piece) or self._remark_start(piece)
                    parts.append(_Part(piece[:end].strip(), gap))
                    piece, gap = piece[end:].strip(), ""
            gap += "\n" if line[-1:].isspace() else ""
        return parts, text[sum(map(len, read)) :]

    def _head_length(self, line: str) -> int:
        """The length of a label or an announcement before other text in a line; 0 without one."""
        turn = self._match(_TURN, line)
        if turn and turn[1]:
            return turn.end()
        if _LABEL in self.marks and (length := label_length(line)):
            return length
        if not self.original.chinese and (foreign := _FOREIGN_START.match(line)):
            return foreign.end()
        for pattern in () if self.about_language else (_ANNOUNCEMENT, _OPENING):
            head = pattern.match(line)
            if head and _ABOUT.search(fold_script(head[0])) and _UNIT.search(line, head.end()):
                return 0 if pattern is _ANNOUNCEMENT and self.colon else head.end()
        return 0

    def _remark_start(self, line: str) -> int:
        """The place of a remark in brackets at the end of a line; its length without one."""
        opening = max(line.rfind("("), line.rfind("（"))
        if opening < 1 or line.rstrip("。. ")[-1:] not in (")", "）") or self.brackets:
            return len(line)
        remark, before = _Part(line[opening:]), _Part(line[:opening])
        notes = _NOTES.match(remark.folded[:_HEAD]) or (remark.about and not self.about_language)
        quotes = any(quoted in before.text for quoted in _QUOTED.findall(remark.text))
        other = remark.chinese != before.chinese and len(remark.units) > 5
        return opening if remark.romanised or notes or quotes or other else len(line)

    def _sections(self, lines: list[_Part]) -> list[_Section]:
        """The lines that could be translation, in sections between those that could not."""
        sections = [_Section()]
        self.removed.clear()
        self.copies.clear()
        for place, line in enumerate(lines):
            size = sum(section.size for section in sections) / self.original.size
            if size >= _SHORT and (
                name := self._end(line, size, next(s.lines[0] for s in sections if s.lines))
            ):
                self.removed.add(name)
                break
            after = lines[place + 1].text if place + 1 < len(lines) else ""
            if self._is_out(line, after, sections, size):
                sections.append(_Section(not _SENTENCE.search(line.text[-2:])))
            else:
                if self._match(_BRACKET, line.text) or self._changes_script(sections[-1], line):
                    sections.append(_Section())
                sections[-1].lines.append(line)
        return [section for section in sections if section.lines]

    def _end(self, line: _Part, size: float, first: _Part) -> str:
        """The name of a line with which something else begins after the translation."""
        if self._match(_TURN, line.text) or (line.about and _ASKS.match(line.folded)):
            return "other turn"
        if self._match(_VERSION, line.text):
            return "second version"
        if self._match(_NOTES, line.text) or self._match(_HEADING, line.text):
            return "romanisation" if line.romanised else "notes"
        if self._match(_ITEM, line.text) and not self._match(_ITEM, first.text):
            return self._name(line, size * self.original.size, True)
        return ""

    def _is_out(self, line: _Part, after: str, sections: list[_Section], size: float) -> bool:
        """Whether a line cannot be part of the translation."""
        original, text = self.original, line.text
        if not line.units or text.startswith("```") or self._match(_NOTES, text):
            return True
        if self.strict and not size and self._match(_ENDS_ANOTHER, text):
            return True
        if self._match(_TURN, text) or (label_length(text) == len(text) and _LABEL in self.marks):
            return True
        asked = {"yue": True, "zh": True, "en": False}.get(self.language, line.chinese)
        foreign = line.chinese != asked or not (line.chinese or original.chinese)
        is_name = len(line.units) <= _LONGEST_NAME and {*line.units} <= {*original.units}
        if foreign and len(line.units) > 2 and not is_name:
            return True
        if line.romanised and not original.romanised:
            return True
        literal = LCSseq.similarity(text, self.source) >= _COPIED * len(text)
        if literal and line.size >= _COMPLETE * original.size:
            self.copies.append(line)
            return True
        is_long = original.size >= _FEW and line.size >= _COMPLETE * original.size
        complete = size >= _COMPLETE
        if line.about and not self.about_language and (complete or not is_long):
            return True
        if text.rstrip("*")[-1] in _COLONS and not self.colon and not is_long:
            return after[:1] not in _QUOTATION
        if size >= _SHORT and not _QUOTED.search(self.source):
            whole = "".join(each.text for section in sections for each in section.lines)
            whole += self.source
            if any(quoted in whole for quoted in _QUOTED.findall(text)):
                return True
        doubtful = complete or (self.strict and not size)
        return doubtful and line.size > _LONGEST_NAME and not self._is_related(line)

    def _is_related(self, part: _Part) -> bool:
        return not self._is_comparable(part) or part.share(self.original) >= _RELATED

    def _is_comparable(self, part: _Part) -> bool:
        return part.chinese and self.original.chinese and self.original.size >= _FEW

    def _changes_script(self, section: _Section, line: _Part) -> bool:
        different = section.lines and section.lines[-1].chinese != line.chinese
        return bool(different) and len(line.units) > 2 and not self.language

    def _section(self, sections: list[_Section], complete: list[_Section]) -> _Section:
        """The section with the translation: the first, unless another is surely it."""
        first = complete[0]
        parts = {id(section): _joined(section.lines) for section in sections}
        told = parts[id(first)].language
        asked = _ASKED.get(self.language, frozenset())
        if not self.language and {told, self.original.language} <= {*_WRITTEN, None}:
            asked = _ASKED["yue"]
        if asked and told is not None and told not in asked:
            for section in sections:
                least = _COMPLETE if parts[id(section)].chinese == parts[id(first)].chinese else 0
                least = min(least, 0.5)
                if (
                    parts[id(section)].language in asked
                    and section.size >= least * self.original.size
                ):
                    return section
        evidence = self._evidence(parts[id(first)])
        for section in complete[1:]:
            part = parts[id(section)]
            if part.language not in (told, *asked):
                continue
            better = self._evidence(part) - evidence
            if better > _CLEAR and self._is_comparable(part):
                return section
            if section.announced and not first.announced and better >= 0:
                return section
        return first

    def _fewest(self, lines: list[_Part]) -> tuple[list[_Part], bool]:
        """The fewest lines that say as much as the source, and whether others could, too."""
        least, short = self.original.size, self.original.size < _FEW
        size = sum(line.size for line in lines)
        if len(lines) <= self.lines_of_source or (not short and size <= _FULL * least):
            return lines, False
        runs: list[tuple[int, int]] = []
        start = 0
        for end in range(1, len(lines) + 1):
            while self._is_enough(lines[start:end]):
                if runs and runs[-1][1] == end:
                    runs.pop()
                runs.append((start, end))
                start += 1
                while lines[start - 1].text[-1] in _COLONS:  # it belongs to the next line
                    start += 1
        apart = runs[:1]
        for run in runs[1:]:
            if run[0] >= apart[-1][1]:
                apart.append(run)
        if len(apart) < 2:
            ends = (runs[0][0], runs[-1][1]) if runs else (0, len(lines))
            return lines[slice(*ends)], False
        parts = {run: _joined(lines[slice(*run)]) for run in apart}
        asked = (None, *_ASKED.get(self.language, ()))
        apart = [run for run in apart if parts[run].language in asked] or apart
        if short or self._is_comparable(parts[apart[0]]):
            evidence = {run: self._evidence(parts[run]) for run in apart}
            apart.sort(key=lambda run: -round(evidence[run], 1))
            others = [
                run
                for run in apart[1:]
                if evidence[run] > evidence[apart[0]] - _CLEAR
                and not parts[run].is_like(parts[apart[0]])
            ]
            if short and others:
                ends = min([apart[0], *others])[0], max([apart[0], *others])[1]
                return lines[slice(*ends)], True
        return lines[slice(*apart[0])], False

    def _is_enough(self, lines: list[_Part]) -> bool:
        if not lines or lines[-1].text[-1] in _COLONS:
            return False
        size = sum(line.size for line in lines)
        sentences = sum(line.sentences for line in lines if line.text[-1] not in _COLONS)
        enough = _ENOUGH * self.original.size
        return size >= enough and sentences >= self.original.sentences

    def _evidence(self, part: _Part) -> float:
        """How much of the source's names and numbers a text has, and of its wording if Chinese."""
        named = sum(name in part.text.lower() for name in self.names)
        named = named and 0.5 + named / len(self.names)
        comparable = part.chinese and self.original.chinese
        question = bool(_QUESTION.search(part.text)) == bool(_QUESTION.search(self.source))
        shared = self.original.share(part) if comparable else 0
        return named + shared + question / 5

    def _name_others(self, kept: list[_Part], lines: list[_Part]) -> None:
        """Name the lines before and after the translation."""
        first, last = lines.index(kept[0]), lines.index(kept[-1])
        size = sum(line.size for line in kept)
        for place, line in enumerate(lines):
            if label_length(line.text) == len(line.text):
                self.removed.add("label")
            elif line.text.startswith("```"):
                self.removed.add("code fence")
            elif place < first:
                self.removed.add("preamble")
            elif place > last:
                if "other turn" in self.removed or "second version" in self.removed:
                    break
                self.removed.add(self._name(line, size, line.chinese == kept[0].chinese))

    def _name(self, line: _Part, size: float, same: bool) -> str:
        if line.romanised and not _HAN_CHARACTER.search(line.text):
            return "romanisation"
        if (
            line.about
            or line.romanised
            or _NOTES.match(line.folded[:_HEAD])
            or line.size < _ALIKE * size
        ):
            return "notes"
        return "second version" if same else "back-translation"

    def _trim(self, text: str) -> str:
        """Cut other text from the line of the translation."""
        if not self.original.text.startswith("。"):
            text = text.removeprefix("。").lstrip()
        if _ITEM in self.marks and "\n" not in text:
            text = _ITEM.sub("", text, count=1) if _ITEM.match(text) else text
        if _BRACKET in self.marks and (inside := _BRACKET.fullmatch(text)):
            return inside[1]
        opened = text.count("(") + text.count("（")
        return text if opened or self.brackets else text.rstrip(")）")

    def _match(self, mark: re.Pattern[str], text: str) -> re.Match[str] | None:
        return mark.match(fold_script(text[:_HEAD])) if mark in self.marks else None


def _joined(lines: list[_Part]) -> _Part:
    return _Part("".join(line.gap + line.text for line in lines).strip())
