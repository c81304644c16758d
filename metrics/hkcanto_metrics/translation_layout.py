"""Find the translation in a response, by turns, paragraphs, labels, brackets and languages.

The choice depends on a text's place, its label and its similarity to the source, never on its
quality. Of several texts, the one in the requested language is kept. If none is in that language, a
label for any variety counts.
"""

from __future__ import annotations

import re
from itertools import groupby, pairwise

from hkcanto_metrics.fluency import count_features
from hkcanto_metrics.language import Language, identify_language
from hkcanto_metrics.repetition import is_degenerate
from hkcanto_metrics.script import fold_script

# Only this much is read. The rest is kept or cut together with the end of the part that is read.
_CHARACTERS_READ = 30_000
_LINES_READ = 500
# Share of a text's bigrams that also occur in the source: 22 % or more in the Cantonese references
# of Chinese sentences, 5 % or less in the references of other sentences (percentiles 1 and 99).
_RELATED, _LIKE, _ALIKE, _COPIED, _VERBATIM = 0.12, 0.2, 0.3, 0.88, 0.95
# Lengths relative to the source: from _COMPLETE on, a translation may be complete; above
# _TOO_LONG, a text cannot all be translation. Summaries, which are much shorter, may have headings
# of their own.
_SUMMARY, _SHORT, _COMPLETE, _TOO_LONG = 0.15, 0.3, 0.6, 2.0
_CHARACTERS_IN_A_WORD = 1.3

_HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN_CHARACTER = re.compile(f"[{_HAN}]")
_UNIT = re.compile(rf"[{_HAN}]|[^\W\d_{_HAN}]+[1-6]?")
_TONE = re.compile("[1-6]$|[āáǎàēéěèīíǐìōóǒòūúǔùǖǘǚǜ]")

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
_LABEL_LINE = re.compile(
    rf"(?i)[#*\s]*(?:(?:{_VARIETIES}|{_RESULT}|{_QUALIFIERS}|[如以]下|[是为]|[这呢段句话]"
    r"|here(?: is|['’]s)|in(?:to)?|of|is) ?)++[:：]\**$"
)
_NAMES_RESULT = re.compile(_RESULT, re.IGNORECASE)
_LONGEST_LABEL, _HEAD = 60, 200

_ABOUT = re.compile(
    r"(?i)翻译|译[文法]|translat|粤语|广东话|普通话|拼音|cantonese|mandarin|jyutping|romani[sz]"
    r"|^[这此上][段句]?.{0,4}(?:意思|大意)|希望.{0,12}(?:帮|满意)|hope (?:this|that|it) help"
)
_OF_LANGUAGE = re.compile(r"[语译]|[话文]\b|中文|英文|chinese|english|language|translat", re.I)
_ASKS = re.compile(r"[请将把]|please|\W*translate", re.IGNORECASE)
_OFFERS = re.compile(r"以下[是为系]|如下|here|below|sure", re.IGNORECASE)
_TURN = re.compile(
    r"(?i)[#*<|\s]*(?:im_start\|>)?(?:human|user|system|instruction|人类|用户|问题?"
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
_BRACKET = re.compile(r"[(（\[［]")
_CLOSING = re.compile(r"[)）\]］]")
_ENDS_ANOTHER = re.compile(r"[，。、；：？！」』）”,.;:?!)]")
_FOREIGN_START = re.compile(rf"[^{_HAN}]{{20,1500}}[.!?:][\"'”]?\s+(?=[「『“\"]?[{_HAN}])")
_ITEM = re.compile(r"(?:1[.、)]|\(1\))\s*")


# The names of the requested language. A text without a distinctive word may be in any variety of
# Chinese.
_WRITTEN: frozenset[Language] = frozenset({"written_chinese", "simplified_mandarin"})
_ASKED: dict[str, frozenset[Language]] = {
    "yue": frozenset({"cantonese"}),
    "zh": _WRITTEN,
    "en": frozenset({"english"}),
}
_FEW = 15
_BRACKETED = re.compile(r"^[(（]([^()（）]*)[)）]$")
_HEAD_OF_LINE = re.compile(r"[^:：，。\n]{2,40}[:：]\**\s*")
_COLON = re.compile("[:：]")
_QUOTATION = ("「", "『", "“", '"')


class _Piece:
    """A text with the units for comparing it: Chinese characters and words of other languages."""

    def __init__(self, text: str, gap: str = "") -> None:
        self.text, self.gap = text, gap
        self.folded = fold_script(text)
        self.units = _UNIT.findall(self.folded.lower())
        self.bigrams = set(pairwise(self.units))
        han = len(_HAN_CHARACTER.findall(self.folded))
        words = len(self.units) - han
        self.size = han + _CHARACTERS_IN_A_WORD * words
        self.chinese = han > words
        toned = sum(bool(_TONE.search(unit)) for unit in self.units)
        self.romanised = words > max(2, han) and toned > 0.3 * words
        # Whether its beginning or its end mentions translation.
        ends = self.folded[:160], self.folded[160:][-60:]
        self.about = any(map(_ABOUT.search, ends))


def label_length(text: str) -> int:
    """Return the length of a label at the start of a text that names a translation or its language.

    Examples:
        >>> label_length("譯文：好"), label_length("(Cantonese) 好"), label_length("好：好")
        (3, 11, 0)
    """
    label = _LABEL.match(fold_script(text[:_LONGEST_LABEL]))
    return label.end() if label else 0


def find_translation(text: str, source: str, language: str = "") -> tuple[str, set[str]]:
    """Find the translation in a response.

    Args:
        text: The response, without wrapping around the whole of it.
        source: The text to be translated. Marks that the source has, too, such as brackets around a
            line, are ignored.
        language: The language asked for: ``yue``, ``zh`` or ``en``. By default, Cantonese is
            preferred to Written Chinese if the source is Written Chinese.

    Returns:
        The translation, or the whole text if none is found, and the names of the removed parts. The
        translation is empty if the response has only its romanisation.

    Examples:
        >>> find_translation("佢走咗。\\n\\nNote: 佢 means he.", "He left.")
        ('佢走咗。', {'notes'})
        >>> find_translation("他走了。\\n直接翻譯成粵語：佢走咗。", "他走了。", "yue")[0]
        '佢走咗。'
    """
    original = _Piece(source[:_CHARACTERS_READ])
    lines, rest = _lines(_after_copy(text, source.strip()))
    found, removed, sure = _read(text, lines, rest, original)
    told, asked = _told(found), _ASKED.get(language, frozenset())
    if not language and {told, _told(source)} <= _WRITTEN:
        asked = _ASKED["yue"]
    read = _Piece(found[:_CHARACTERS_READ])
    is_note = bool(_NOTES.match(read.folded[:_HEAD])) or (
        read.about and not _OF_LANGUAGE.search(original.folded)
    )
    in_other = asked and told not in asked and (told is not None or is_note)
    if in_other:
        bare = [_without_head(line, original, labelled=True) for line in lines]
        if version := _version_in(asked, bare, original, read):
            return version, removed | {"second version" if found in text else "preamble"}
    # A gloss repeats the characters that it explains.
    spelt = [line for line in lines if line.romanised and not _HAN_CHARACTER.search(line.folded)]
    romanised = 0 if original.romanised else sum(line.size for line in spelt)
    doubtful = is_note or not read.chinese if in_other or not sure else False
    if doubtful and romanised >= _SHORT * original.size:
        more = {"notes"} if any(not line.romanised for line in lines) else set()
        return "", {"romanisation"} | more
    bare_text = _without_head(read, original).text
    if bare_text != read.text and _told(bare_text) in (asked or _ASKED["yue"]):
        return found.removeprefix(read.text.removesuffix(bare_text)), removed | {"label"}
    return found, removed


def _after_copy(text: str, source: str) -> str:
    """Move the introduction of a translation to its own line if it follows a copy of the source."""
    before, copy, after = text.partition(source)
    head = _HEAD_OF_LINE.match(after.lstrip()) if copy else None
    introduces = head and _ABOUT.search(fold_script(head[0]))
    return f"{before}{copy}\n{after.lstrip()}" if introduces else text


def _version_in(
    asked: frozenset[Language], lines: list[_Piece], original: _Piece, found: _Piece
) -> str:
    """The first translation among the lines in a language; empty if there is none."""

    def is_own(line: _Piece) -> bool:
        # The introduction of the next version is left empty.
        return bool(line.units) and not line.romanised and _told(line.text) in (None, *asked)

    for in_language, run in groupby(lines, is_own):
        own = list(run) if in_language else []
        version, _, _ = _read("\n".join(each.gap + each.text for each in own), own, "", original)
        version = _BRACKETED.sub(r"\1", version)
        made = _Piece(version[:_CHARACTERS_READ])
        least = _COMPLETE if found.chinese == made.chinese else _SUMMARY
        shared = max(_share(made.bigrams, original.bigrams), _share(original.bigrams, made.bigrams))
        if original.size < _FEW:  # 他走了 and 佢走咗 have no pair of characters in common
            shared = max(shared, len({*made.units} & {*original.units}) / (len(made.units) or 1))
        # If it replaces a note in another language, it need not be a plausible translation.
        is_note = found.chinese != made.chinese and not is_degenerate(version)
        related = is_note or not original.chinese or shared >= _RELATED
        if related and made.size >= least * original.size and _told(version) in asked:
            return version
    return ""


def _read(
    text: str, lines: list[_Piece], rest: str, original: _Piece
) -> tuple[str, set[str], bool]:
    """Return the translation, the names of the removed parts, and whether the result is certain."""
    for strict in (True, False):
        reading = _Reading(original, strict)
        stopped = not all(map(reading.take, lines))
        if reading.kept and (not strict or reading.is_plausible()):
            break
    else:
        return text, set(), False
    if not reading.removed:
        return *_trim(text, original, reading.removed), strict
    if stopped and len(reading.kept) > 1 and reading.kept[-1].text.endswith((":", "：")):
        reading.kept.pop()
    found = "".join(piece.gap + piece.text for piece in reading.kept).strip()
    return *_trim(found + ("" if stopped else rest), original, reading.removed), strict


def _told(text: str) -> Language | None:
    """The language that the words of a text indicate; None if they indicate none or several."""
    language = identify_language(text[:_CHARACTERS_READ]).language
    if language in _WRITTEN and not count_features(text[:_CHARACTERS_READ])[1]:
        return None
    return None if language in ("mixed", "none") else language


def _without_head(line: _Piece, original: _Piece, *, labelled: bool = False) -> _Piece:
    """A text without an introduction, in whatever words, that announces a translation."""
    head = _HEAD_OF_LINE.match(line.text)
    if not head:
        return line
    about = _ABOUT.search(fold_script(head[0])) and not _OF_LANGUAGE.search(original.folded)
    # Not before speech: a translation may introduce speech like this even if its source does not.
    is_own = "\n" in head[0] or (labelled and not line.text.startswith(_QUOTATION, head.end()))
    introduces = about or (is_own and not _COLON.search(original.text))
    if not introduces:
        return line
    bare = line.text[head.end() :]
    is_bracketed = head[0][0] in "(（" and bare[-1:] in (")", "）")
    return _Piece(bare[:-1] if is_bracketed else bare, line.gap)


def _lines(text: str) -> tuple[list[_Piece], str]:
    """Split a text into its non-blank lines and the rest, which is not read."""
    pieces: list[_Piece] = []
    gap = ""
    lines = text[:_CHARACTERS_READ].splitlines(keepends=True)
    end = sum(map(len, lines[:_LINES_READ]))
    for line in lines[:_LINES_READ]:
        bare = line.strip()
        if bare:
            pieces.append(_Piece(bare, gap))
            gap = ""
        gap += "\n" if line[-1:].isspace() else ""
    return pieces, text[end:]


class _Reading:
    """A response read line by line.

    Attributes:
        kept: The lines of the translation.
        removed: The names of what was not kept.
        size: The size of the lines kept.
    """

    def __init__(self, source: _Piece, strict: bool) -> None:
        self.source, self._strict = source, strict
        self.kept: list[_Piece] = []
        self.removed: set[str] = set()
        self.size = 0.0
        self._bigrams: set[tuple[str, str]] = set()
        self._label = self._asked = ""
        self._labelled = self._closed = False
        lines = source.folded.splitlines()[:_LINES_READ]
        heads = [line.strip()[:_HEAD] for line in lines]
        marks = (_TURN, _LABEL, _NOTES, _VERSION, _HEADING, _BRACKET, _ENDS_ANOTHER)
        self._marks = {mark for mark in marks if not any(map(mark.match, heads))}
        self._of_language = bool(_OF_LANGUAGE.search(source.folded))

    def is_plausible(self) -> bool:
        """Whether the lines kept are long enough, and similar to a Chinese source."""
        like = _share(self._bigrams, self.source.bigrams) >= _LIKE
        return self.size >= _SHORT * self.source.size and (like or not self._misses_source())

    def take(self, line: _Piece) -> bool:
        """Take the next line, and return whether the translation may go on after it."""
        if line.text.startswith("```"):
            self.removed.add("code fence")
            self._closed = bool(self.kept)
            return True
        if self._closed:
            return self._stop("notes")
        turn = self._match(_TURN, line)
        text = line.folded
        is_heading = len(text) <= 150 and text.rstrip("*").endswith((":", "："))
        asks = is_heading and _ABOUT.search(text) and _ASKS.search(text)
        # The response repeats the prompt.
        if (asks and not _OFFERS.search(text)) or (turn and not turn[1]):
            if self.kept:
                return self._stop("other turn")
            self._asked = self._asked or line.text
            self.removed.add("preamble")
            return True
        if turn and turn[1]:
            if self.kept and not self._copied(_COPIED) and not self._misses_source():
                return self._stop("other turn")
            self._drop("preamble")
            line = _Piece(line.text[turn.end() :].strip(), line.gap)
        elif self._asked.startswith(line.text):
            return False
        if label := self._label_of(line):
            self._label = label
            self.removed.add("label")
            line = _Piece(line.text[len(label) :].strip(), line.gap)
        if not line.text:
            return True
        label, self._label = self._label, ""
        if label:
            if self.kept and not self._supersedes(line, label):
                return self._stop(self._name(line))
            if self.kept:
                self._drop("second version")
            self._labelled = True
        if self.kept:
            return self._go_on(line)
        if self._can_begin(line):
            self._keep(line)
        else:
            self.removed.add("preamble")
        return True

    def _can_begin(self, line: _Piece) -> bool:
        """Whether the translation can begin with a line."""
        introduces = line.text.rstrip("*")[-1:] in (":", "：") and line.about
        foreign = not (self.source.chinese or line.chinese)
        if not line.units or introduces or foreign or line.romanised:
            return False
        if self._strict and self._match(_NOTES, line):
            return False
        if self._labelled:
            return True
        # A line about translation may continue the source, or be the model's own.
        if self._speaks_about(line) and line.size < _COMPLETE * self.source.size:
            return not self._strict and self.source.chinese
        ends_another = self._match(_ENDS_ANOTHER, line)
        return not self._strict or not (ends_another or self._is_unrelated(line))

    def _speaks_about(self, line: _Piece) -> bool:
        return line.about and not self._of_language

    def _is_unrelated(self, line: _Piece) -> bool:
        comparable = line.chinese and self.source.chinese
        return comparable and _share(line.bigrams, self.source.bigrams) < _RELATED

    def _go_on(self, line: _Piece) -> bool:
        """Keep the line if it continues the translation."""
        in_brackets = self._match(_BRACKET, line)
        if line.romanised and not in_brackets:
            self.removed.add("romanisation")
            return True
        if self._match(_VERSION, line):
            return self._stop("second version")
        summary = self.size < _SUMMARY * self.source.size
        if not summary and (self._match(_NOTES, line) or self._match(_HEADING, line)):
            return self._stop("romanisation" if line.romanised else "notes")
        after = _CLOSING.split(line.text)[1:]
        if in_brackets and not (after and _UNIT.search(after[-1])):
            return self._stop(self._name(line))
        foreign = line.chinese != self.kept[0].chinese and len(line.units) > 2
        if self._replaces(line, foreign):
            self._drop("preamble")
            self._keep(line)
            return True
        if foreign or self._speaks_about(line):
            return self._stop(self._name(line))
        if self._repeats(line):
            return self._stop("second version")
        complete = self.size >= _COMPLETE * self.source.size
        if complete and line.size > 5 and self._is_unrelated(line):
            return self._stop("notes")
        self._keep(line)
        return not self._too_long()

    def _keep(self, line: _Piece) -> None:
        self.kept.append(line)
        self.size += line.size
        self._bigrams |= line.bigrams

    def _drop(self, name: str) -> None:
        self.removed.add(name)
        self.kept.clear()
        self._bigrams.clear()
        self.size = 0.0

    def _stop(self, name: str) -> bool:
        self.removed.add(name)
        return False

    def _match(self, mark: re.Pattern[str], line: _Piece) -> re.Match[str] | None:
        return mark.match(line.folded[:_HEAD]) if mark in self._marks else None

    def _label_of(self, line: _Piece) -> str:
        if _LABEL not in self._marks or self._match(_VERSION, line):
            return ""
        if length := label_length(line.text):
            return line.text[:length]
        if self._match(_BRACKET, line) and (length := label_length(line.text[1:])):
            return line.text[: length + 1]
        alone = len(line.text) <= _LONGEST_LABEL and _LABEL_LINE.match(line.folded)
        return line.text if alone and _NAMES_RESULT.search(line.folded) else ""

    def _copied(self, share: float) -> bool:
        """Whether the kept text is the source itself."""
        bigrams = self.source.bigrams
        return min(_share(bigrams, self._bigrams), _share(self._bigrams, bigrams)) >= share

    def _misses_source(self) -> bool:
        """Whether the kept text has almost nothing in common with the source."""
        comparable = self.source.chinese and self.kept[0].chinese
        missed = comparable and _share(self.source.bigrams, self._bigrams) < _LIKE
        return missed or self.size < _SHORT * self.source.size

    def _replaces(self, line: _Piece, foreign: bool) -> bool:
        """Whether a line, unlike a kept copy or continuation of the source, is the translation."""
        if self._speaks_about(line) or line.size < _COMPLETE * self.source.size:
            return False
        if foreign:
            return self._copied(_VERBATIM) and line.size < _TOO_LONG * self.source.size
        covered = _share(self.source.bigrams, line.bigrams)
        if self._copied(_COPIED):
            return _RELATED < covered < _COPIED - 0.05
        own = _share(self._bigrams, self.source.bigrams) < _ALIKE
        return own and self.source.chinese and self._misses_source() and covered >= _ALIKE

    def _supersedes(self, line: _Piece, label: str) -> bool:
        """Whether a labelled line is the translation, rather than the text kept before it."""
        foreign = line.chinese != self.kept[0].chinese
        if self._copied(_VERBATIM if foreign else _COPIED):
            return True
        if self.size < _SHORT * min(self.source.size, line.size):
            return True
        if self._labelled or foreign:
            return False
        back = line.chinese == self.source.chinese and (
            _likeness(line.bigrams, self.source.bigrams)
            > _likeness(self._bigrams, self.source.bigrams)
        )
        return bool(_NAMES_RESULT.search(fold_script(label))) and not back

    def _repeats(self, line: _Piece) -> bool:
        complete = _COMPLETE * self.source.size
        if self.size < complete or line.size < 0.5 * self.size:
            return line.text == self.kept[-1].text and line.size > 5
        twice = min(line.size, self.size) > 1.2 * complete
        return twice or _share(line.bigrams, self._bigrams) >= _ALIKE

    def _too_long(self) -> bool:
        """Cut the kept lines after a complete paragraph, if they cannot all be translation."""
        if self.size <= _TOO_LONG * self.source.size:
            return False
        size = 0.0
        for number, line in enumerate(self.kept):
            if size >= _COMPLETE * self.source.size and "\n\n" in line.gap:
                del self.kept[number:]
                self.removed.add("other turn")
                return True
            size += line.size
        return False

    def _name(self, line: _Piece) -> str:
        """Name a line that is not part of the translation."""
        if line.romanised:
            return "romanisation"
        if line.about or self._match(_NOTES, line) or line.size < _ALIKE * self.size:
            return "notes"
        return "second version" if line.chinese == self.kept[0].chinese else "back-translation"


def _share(bigrams: set[tuple[str, str]], others: set[tuple[str, str]]) -> float:
    return len(bigrams & others) / (len(bigrams) or 1)


def _likeness(bigrams: set[tuple[str, str]], others: set[tuple[str, str]]) -> float:
    return 2 * len(bigrams & others) / ((len(bigrams) + len(others)) or 1)


def _trim(text: str, source: _Piece, removed: set[str]) -> tuple[str, set[str]]:
    """Cut other text from the line of the translation."""
    if not source.chinese and (start := _FOREIGN_START.match(text)):
        text, removed = text[start.end() :], removed | {"preamble"}
    if not _ENDS_ANOTHER.match(source.text):
        text = text.removeprefix("。").lstrip()
    if "second version" in removed and not _ITEM.match(source.text):
        text = _ITEM.sub("", text, count=1) if _ITEM.match(text) else text
    opening = max(text.rfind("("), text.rfind("（"))
    if opening < 0 and "label" in removed:
        return text.rstrip(")）"), removed
    if (
        opening < 1
        or text.rstrip("。. ")[-1:] not in (")", "）")
        or re.search("[(（]", source.text)
    ):
        return text, removed
    remark = _Piece(text[opening:][:_CHARACTERS_READ])
    before = _Piece(text[:opening][-_CHARACTERS_READ:])
    about = _NOTES.match(remark.folded[:_HEAD]) or (
        remark.about and not _OF_LANGUAGE.search(source.folded)
    )
    if remark.romanised or about:
        name = "romanisation" if remark.romanised else "notes"
    elif remark.chinese != before.chinese and len(remark.units) > 5:
        name = "back-translation"
    else:
        return text, removed
    return text[:opening].rstrip(), removed | {name}
