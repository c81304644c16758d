"""Parse Jyutping in responses, gold strings and single syllables.

The gold strings of HKCanto-Eval (Appendix E.3) list alternatives in parentheses, as in
``jau5 liu5 (ze2|ze5) jung2 pou5``. They are expanded here to every string that they accept.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, product
from typing import NamedTuple

from hkcanto_metrics.script import HAN, CharacterTable

# Match only from the first letter of a run; otherwise a long run without a tone takes quadratic
# time.
_TONED_SYLLABLE = re.compile(r"(?<![a-z])[a-z]+[1-6]")
_TOKEN = re.compile(r"[a-z]*[1-6]|[a-z]+")
_WORD = re.compile("([a-z]+)([0-9]?)")
_GAP = re.compile(r"[\s,-]*")
# Text in brackets without a toned syllable.
_GLOSS = re.compile(
    r"(?<![a-z])[(\[【](?![^()\[\]【】]*[a-z][1-6])[^()\[\]【】]*[)\]】](?![a-z:])"
)
# A remark in brackets with characters and a reading.
_REMARK = re.compile(
    rf"[(\[【][^()\[\]【】]*(?:[{HAN}]|\b(?:also|or|sometimes)\b)[^()\[\]【】]*[)\]】]"
)
_GOLD_PIECE = re.compile(
    r"\((?P<group>[^()]*)\)|(?P<literal>[^()|]+)|(?P<stray>.)", re.DOTALL
)
_PUBLISHED_GROUP = re.compile(r"\(([^()]*\|[^()]*)\)")

# Onset, nucleus and coda in any combination, as PyCantonese accepts them; it has v, too.
_SYLLABLE = re.compile(
    "(ng|[gk]w|[bpmfdtnlgkhwzcsjv])?(aa|eo|oe|yu|ng|[aeioumn])(ng|[iumnptk])?"
)
_LONGEST_SYLLABLE = 6  # "ngaang"
_MOST_VARIANTS = 256
_LONGEST_ANSWER = 10_000


# A slash, or a comma in brackets, is a separator of alternatives that nothing else reads as such.
_NOT_JYUTPING = re.compile(
    r"/|[^\W\da-z_]|[0789]|(?<![a-z])[1-6]|[a-z](?![a-z1-6()])|\([^()]*[,;，、；][^()]*\)"
)
_PUNCTUATION = re.compile(r"[^a-z1-6()|]+")

_FOLDED = CharacterTable(lambda character: unicodedata.normalize("NFKC", character))


class MalformedAnswer(ValueError):  # noqa: N818 - part of the metric API
    """A gold string that does not follow the notation of alternatives."""


class Syllable(NamedTuple):
    """A parsed syllable; None for a component that the text does not show."""

    onset: str | None
    nucleus: str | None
    coda: str | None
    tone: str | None


@lru_cache(maxsize=4096)
def parse_answer(answer: str) -> tuple[tuple[str, ...], ...]:
    """Read a gold string.

    Parentheses with ``|`` list alternatives, each of one or more syllables. Parentheses without it
    enclose an optional part: ``(ng)aam1`` accepts ``ngaam1`` and ``aam1``. Both kinds may be
    attached to letters.

    Args:
        answer: A gold string of HKCanto-Eval's G2P test. The released gold strings have at most
            eight variants.

    Returns:
        The syllables of each variant. The last group varies fastest.

    Raises:
        MalformedAnswer: Parentheses or bars do not match or are nested, an alternative is empty,
            there are more than 256 variants, there is no syllable at all, or there are more than
            10,000 characters.

    Examples:
        >>> parse_answer("(ng)aam1 (ze2|ze5)")
        (('ngaam1', 'ze2'), ('ngaam1', 'ze5'), ('aam1', 'ze2'), ('aam1', 'ze5'))
    """
    if len(answer) > _LONGEST_ANSWER:
        problem = f"{len(answer):,} characters; expected a sentence of at most {_LONGEST_ANSWER:,}"
        raise _malformed(answer[:40], 40, problem)
    text = fold(answer)
    choices = [_choices(text, piece) for piece in _GOLD_PIECE.finditer(text)]
    count = math.prod(map(len, choices))
    if count > _MOST_VARIANTS:
        problem = (
            f"{count:,} variants; expected at most {_MOST_VARIANTS}; split the sentence"
        )
        raise _malformed(text, 0, problem)
    variants: dict[tuple[str, ...], None] = {}  # each once, in order
    for parts in product(*choices):
        variants[tuple(_TOKEN.findall("".join(parts)))] = None
    has_tone = any(map(_TONED_SYLLABLE.search, chain.from_iterable(variants)))
    if not has_tone or () in variants:
        problem = "no syllable, or only optional ones; expected Jyutping as in 'nei5 (hou2|hou3)'"
        raise _malformed(text, 0, problem)
    return tuple(variants)


def normalize_answer(answer: str) -> str:
    """Return a gold string in the form in which every measure compares a response.

    Capitals, full-width and superscript characters are folded, and punctuation is left out. If the
    released scorer would not expand the alternatives, as in ``(ng)aam1``, all variants are listed.

    Args:
        answer: A gold string.

    Raises:
        MalformedAnswer: `parse_answer` refuses it, it has letters or digits that Jyutping does not
            have, a syllable without a tone, or alternatives that are not written as ``(ze2|ze5)``.

    Examples:
        >>> normalize_answer("Nei⁵ hou2, (ze2|ze5)!"), normalize_answer("(ng)aam1")
        ('nei5 hou2 (ze2|ze5)', '(ngaam1|aam1)')
    """
    text = fold(answer)
    if _NOT_JYUTPING.search(text):
        raise _malformed(
            text, 0, "expected syllables as 'nei5', alternatives as '(ze2|ze5)'"
        )
    text = " ".join(_PUNCTUATION.sub(" ", text).split())
    text = re.sub(r"(?<=[(|]) | (?=[)|])", "", text)
    variants = parse_answer(text)
    for variant in variants:
        if extract_jyutping(" ".join(variant)).split() != [*variant]:
            raise _malformed(text, 0, "a part is not read as Jyutping")
    published = [tuple(variant.split(" ")) for variant in published_variants(text)]
    if published == [*variants]:
        return text
    texts = [" ".join(variant) for variant in variants]
    return texts[0] if len(texts) == 1 else f"({'|'.join(texts)})"


@lru_cache(maxsize=4096)
def published_variants(answer: str) -> tuple[str, ...]:
    """Expand a gold string the way HKCanto-Eval's released scorer does.

    It expands only parentheses with ``|``. Everything else stays as written, including blanks.

    Examples:
        >>> published_variants("(ng)aam1  (ze2|ze5)")
        ('(ng)aam1  ze2', '(ng)aam1  ze5')
    """
    pieces = _PUBLISHED_GROUP.split(answer)
    choices = [piece.split("|") if i % 2 else [piece] for i, piece in enumerate(pieces)]
    return tuple(map("".join, product(*choices)))


def extract_jyutping(response: str) -> str:
    """Take the Jyutping out of a response.

    The reading is found by what lies around it, never by its wording. In a line it begins at the
    first toned syllable, so an introduction ("Sure! The Jyutping is: ...") does not count as an
    error; syllables right before it count, too, even if they have no tone or a wrong digit. Lines
    in a row are one reading. A note, a list of words, and a second version are not scored, nor is a
    gloss: text in brackets that has no toned syllable. Other text in the reading is kept and counts
    as wrong syllables.

    Args:
        response: A model's response, without reasoning.

    Returns:
        Lower-case tokens, split after tone digits and joined by single spaces; empty if there is no
        toned syllable. Full-width letters and superscript tones, also those of LaTeX and HTML,
        count as plain ones.

    Examples:
        >>> extract_jyutping("Sure! The Jyutping is: Nei5hou2.")
        'nei5 hou2'
        >>> extract_jyutping("nei$^5$ hou$^2$ (hello)\\n\\nNote: hou2 means good.")
        'nei5 hou2'
    """
    text = _RUBY.sub(" ", _LINE_BREAK.sub("\n", fold(response)))
    text = _with_plain_tones(text)
    text = _without(_REJECTED, text)
    text = _without(_REMARK, _GLOSS.sub(" ", text))
    if _UNCHOSEN.search(text):
        return ""
    return " ".join(_chosen(_readings(text)))


def _without(pattern: re.Pattern[str], text: str) -> str:
    """A text without remarks, unless they have most of its syllables."""
    rest = pattern.sub(" ", text)
    n_outside = len(_TONED_SYLLABLE.findall(rest))
    is_half = 2 * n_outside >= len(_TONED_SYLLABLE.findall(text))
    return rest if is_half else text


_RUN = r"(?<![a-z1-6])(?<![1-6] )[a-z]++[1-6](?:[ -]?[a-z]++[1-6])*+"
# A reading that is warned of, or that others use; it follows these words.
_WARNING = r"""
(?:[唔不](?:好|要|可以?|能|[應应][該该]?|[會会])|[別别勿])[^a-z0-9。！!\n:,]{0,8}[讀读念唸寫写當当認认][成作做為为]?
|(?:[唔不][係系是]|[而並并]非)(?:[讀读念唸][成作做]?)?|[唔不][讀读念唸][成作做]?
|(?:有[啲些]?|[好很不][多少])人(?:[會会]|都)?[誤误]?[讀读念唸寫写][成作做]?
|[誤误錯错][讀读念唸][成作做為为]?|[讀读念唸][錯错][成做為为]
|\b(?:(?:do|should|must)(?:\ not|n['’]t)|never|avoid)\ (?:be\ )?
 (?:confus|mistak|mix|read|pronounc|say|writ)(?:e|ed|ing)?\b[^\d.!?\n:]{0,24}?
 (?:\ (?:as|with|for|it|like))?
|\b(?:not|rather\ than|instead\ of|mis(?:read|pronounced)\ as)
|\b(?:some|many|people|others)(?:\ (?:people|speakers|often|may|might)){0,3}
 \ (?:say|read|pronounce)(?:\ it|\ this)?(?:\ as)?"""
_WRONG = r"[(\[]?[❌✗✘✖]|(?:[(\[]|is\ |[係是])\ ?(?:wrong|incorrect|[錯错]|唔[啱對]|不[對对正])"
# 唔 and 不 of the sentence itself are in its reading.
_REJECTED = re.compile(
    rf"""(?:{_WARNING})[\ 「『“"'*`]*+(?!(?:[a-z]++[1-6]\ ?)*(?:m4|bat1)\b){_RUN}(?:,?\ but\b)?
    |(?m:^)[^\w\n]{{0,8}}[❌✗✘✖][\ :]*+{_RUN}|{_RUN}[」』”"'*`]*+\ ?(?:{_WRONG})""",
    re.VERBOSE,
)

# Tones as LaTeX and HTML set them.
_SUPERSCRIPT = re.compile(
    r"\$?\^\s?(?:\{\s?(?:\\text\{)?([1-6])\}{1,2}|([1-6]))\$?|<sup>\s?([1-6])\s?</sup>"
)
_LATEX = re.compile(r"\$|\\[ ,;]|\\(?:text|mathrm)\{|(?<=[1-6])\}")
_TONE_APART = re.compile(r"(?<![a-z])([a-z]{1,6}) ([1-6])(?![0-9a-z])")
# What ends a discussion of readings; in the sentence itself, 呢個 has its reading beside it.
_SETTLING = (
    r"(?:so |but |and )?(?:here|in this)\b"
    r"|[而但故]?(?:所以|因此|[呢這这][度裡裏里個个]|本[題题句詞词])[^a-z\n]{0,20}[讀读念唸:]"
)
# Statements of a line. A full stop may follow a tone, and what announces the sentence a comma.
_STATEMENT_END = re.compile(
    r"(?<=[.!?])\s+|(?<=[。！？])|(?<=[1-6])\s?(?=\bor\b|或)|(?:[,;→]|->)\s?"
    r"(?=(?:(?:and|so|therefore|thus|hence|giving),? )*"
    r"(?:the )?(?:full|whole|complete|entire|putting) |so (?:[a-z ]{2,30}:|the |it |we )|所以|[全整成]句"
    rf"|{_SETTLING})"
)
# Words that are no syllables in a row: prose after the reading. Found only from the start of a gap;
# otherwise a long gap takes quadratic time.
_PROSE = re.compile(r"(?<![^a-z0-9])(?:[^a-z0-9]+[a-z]+(?:'[a-z]+)?(?![a-z0-9'])){3}")
_FEWEST_BEFORE_PROSE = 3
_LINE_BREAK = re.compile(r"<br ?/?>")
_RUBY = re.compile(r"</?(?:ruby|rb|rp|rt)>")
_EXPLANATION = re.compile(
    rf"(?:->|[→=—–]|\s-\s|\bmean(?:s|ing)\b|[{HAN}]{{2,}})(?![^\n]*?[a-z][1-6])|<|\"[,:]"
)
_LIST_MARK = re.compile(r"\A\s*(?:[-*•|]\s|\||\d\d?[.)、]\s?)")
_HAN_CHARACTER = re.compile(f"[{HAN}]")
_NOTE = re.compile(
    r"\W*(?:p\.?s\.?|nb"
    r"|first\b|initially|originally|i first|my first|draft|attempt"
    r"|初稿|第[一二三四1-4][稿次版]|一開始|一开始|起初|原本|最初"
    r"|notes?\b|remarks?|here,|breakdown|explanation|explained|tones?\b|syllables?\b"
    r"|characters?\b|word|meaning|alternativ|another|variant|some\b|others\b|or\b|also\b|lazy|colloquial|literary"
    r"|mandarin|pinyin|hanyu|yale|ipa\b|in mandarin|key|vocabulary|glossary|details?\b|where\b"
    r"|[例註注备備附說说解詞词字逐分另或又懶懒聲声音普漢汉提補补耶變变口讀读]"
    r"(?!(?:拼|語|语|音標)?[:：]\W*[a-z]+[1-6]\W+[a-z]+[1-6]\W+[a-z]+[1-6]\W+[a-z]+[1-6]))"
)
_ALSO_READ = re.compile("(?:[又亦也可另][以]?|[單单][獨独])[讀读念]")
# Before syllables that only show what Jyutping looks like, readings of some words, and readings
# none of which is chosen.
_PARTIAL = re.compile(
    r"例如|譬如|\bfor example\b|\bsuch as\b|\be\.g\."
    r"|\b(?:important|key|main|difficult|hard|tricky|some)\b.{0,12}\bwords?\b"
    r"|(?:重點|重点|關鍵|关键|主要|[難难])的?[字詞词]"
    r"|\beither\W*\Z"
    r"|\b(?:several|multiple|different|two|three|many) (?:[a-z]+ )?(?:readings|pronunciations)\b"
    r"|[多幾几兩两三][個个種种]?[^\W\da-z]{0,3}(?:[讀读][音法]|[發发]音)|多音字"
)
# Two readings, and neither is chosen.
_UNCHOSEN = re.compile(
    r"(?:[讀读][法音]?|[發发]音)(?:都|皆|均)[係系是]?(?:通行|得|可以|啱|對|对|接受)"
    r"|\bboth (?:readings|pronunciations) (?:are|work)"
)
_WHOLE = re.compile(
    r"\W*(?:(?:full|whole|complete|entire|final|combined|together|putting|so,?|therefore|answer"
    r"|correct(?:ed|ion)?|revised|fixed|better)\b"
    r"|.{0,12}(?:together|combined|full sentence|complete)|[完整全合最答]|[更修改訂订][正訂订]|正[確确]"
    r"|.{0,6}(?:全句|整句|成句|[全整成][個个]?[詞词]|完整|合起|最終|最终)|本[題题句詞词])"
    r"|.*?(?:\b(?:correct(?:ed|ion)?|revised|fixed|final)\b|[改更修][為为正成]|[應应][該该]?[係系是])"
)
_ALTERNATIVES = re.compile(r"[1-6] / [a-z]")
_SETTLED = re.compile(rf"\W*(?:(?:so|thus|hence|therefore)\b|{_SETTLING})")
_HALF = 0.5


@dataclass
class _Reading:
    """Jyutping in lines that follow each other."""

    tokens: list[str]
    role: str  # "whole", "note" or "part", by the words before it
    is_item: bool
    is_labelled: bool
    n_lines: int = 1

    def is_followed_by(self, reading: _Reading) -> bool:
        """Whether the reading of the next statement goes on with this one."""
        if self.is_item and reading.is_item and self.role == reading.role:
            return not (reading.role and reading.is_labelled)
        return not (reading.is_labelled or reading.role)

    def rivals(self, reading: _Reading) -> bool:
        """Whether another reading may be of the same sentence, and differs."""
        if self.tokens == reading.tokens or reading.size < self.size:
            return False
        n_shared = len({*self.tokens} & {*reading.tokens})
        return self.size == reading.size or n_shared >= _HALF * self.size

    @property
    def size(self) -> int:
        """The number of toned syllables."""
        return sum(token[-1] in "123456" for token in self.tokens)


def _with_plain_tones(text: str) -> str:
    """A folded text with the tones of LaTeX and HTML, and tones after a blank, as plain ones."""
    if "^" in text or "<sup>" in text:
        text = _LATEX.sub(" ", _SUPERSCRIPT.sub(r"\1\2\3", text))
    if _TONED_SYLLABLE.search(text):
        return text
    return _TONE_APART.sub(
        lambda match: (
            "".join(match.groups()) if is_valid(match[1] + match[2]) else match[0]
        ),
        text,
    )


def _readings(text: str) -> list[_Reading]:
    """The readings of a text. A label, an empty line or a note begins another one."""
    readings: list[_Reading] = []
    heading = ""  # the last line without Jyutping
    goes_on = False
    for line in text.splitlines():
        bare_line = _LIST_MARK.sub("", line)
        for statement in _STATEMENT_END.split(bare_line):
            start = _start(statement)
            if start is None:
                if _TOKEN.search(statement) or ":" in statement:
                    heading = statement
                    goes_on = False
                goes_on = goes_on and bool(statement.strip())
                continue
            is_item = bare_line != line or _HAN_CHARACTER.search(statement) is not None
            reading = _reading(
                statement,
                start,
                heading,
                is_item=is_item,
            )
            if goes_on and readings[-1].is_followed_by(reading):
                readings[-1].tokens += reading.tokens
                readings[-1].n_lines += 1
            else:
                readings.append(reading)
            goes_on = True
    return readings


def _reading(
    statement: str,
    start: int,
    heading: str,
    *,
    is_item: bool,
) -> _Reading:
    """The Jyutping of a statement that has some, up to prose or an explanation."""
    before, rest = statement[:start], statement[start:]
    is_labelled = re.search("[a-z:或]|[全整成]句", before) is not None
    is_labelled |= _SETTLED.match(before) is not None
    label = before if is_labelled else heading
    unexplained = _EXPLANATION.split(rest, maxsplit=1)[0]
    reading = _PROSE.split(unexplained, maxsplit=1)[0]
    tokens = _TOKEN.findall(reading)
    role = "part" if _ALTERNATIVES.search(reading) else _role(label, before, tokens)
    if reading != unexplained and len(tokens) < _FEWEST_BEFORE_PROSE:
        role = role or "note"
    return _Reading(
        tokens,
        role,
        is_item,
        is_labelled,
    )


def _role(
    label: str,
    before: str,
    tokens: list[str],
) -> str:
    """What the words before a reading say that it is."""
    if _PARTIAL.search(before) or _PARTIAL.search(label):
        return "part"
    if _WHOLE.match(label) or (_SETTLED.match(label) and len(tokens) > 1):
        return "whole"
    # 拼音 is any romanisation, also of syllables that Cantonese lacks.
    is_foreign = "拼音" in label and not all(map(is_valid, tokens))
    is_note = is_foreign or _NOTE.match(label) or _ALSO_READ.search(before)
    return "note" if is_note else ""


def _start(line: str) -> int | None:
    """Where the Jyutping of a line begins."""
    first = _TONED_SYLLABLE.search(line)
    if not first:
        return None
    start = first.start()
    for word in reversed([*_WORD.finditer(line, 0, start)]):
        is_syllable = word[2] or None not in parse_syllable(word[1])[:3]
        if not is_syllable or not _GAP.fullmatch(line, word.end(), start):
            break
        start = word.start()
    return start


def _chosen(readings: list[_Reading]) -> list[str]:
    """The tokens of the reading of the sentence; none if several may be it, or none is."""
    own = _own_readings(readings)
    if not own:
        is_note = [reading.role for reading in readings] == ["note"]
        return readings[0].tokens if is_note else []
    whole = [reading for reading in own if reading.role == "whole"]
    if whole:
        return whole[-1].tokens
    # One item alone, such as a sentence and its reading, is no list.
    plain = [reading for reading in own if reading.n_lines == 1 or not reading.is_item]
    first = (plain or own)[0]
    return [] if any(map(first.rivals, plain)) else first.tokens


def _own_readings(readings: list[_Reading]) -> list[_Reading]:
    """The readings that are no notes, without those of a part of the sentence."""
    own = [reading for reading in readings if reading.role in ("", "whole")]
    longest = max([reading.size for reading in own], default=0)
    return [reading for reading in own if reading.size >= _HALF * longest]


def normalize_as_published(response: str) -> str:
    """Normalise a response as HKCanto-Eval's released scorer does, before it compares characters.

    Args:
        response: A model's response, without reasoning.

    Returns:
        The response in lower case, with every character except ``a-z``, ``1-6`` and blanks replaced
        by a blank, and exactly one blank after each tone digit.

    Examples:
        >>> normalize_as_published("Gam1jat6, tin1 hei3!")
        'gam1 jat6 tin1 hei3'
    """
    letters = re.sub(r"[^a-z1-6\s]+", " ", response.lower())
    return re.sub(r"(?<=[1-6])\s*", " ", letters).strip()


@lru_cache(maxsize=1 << 16)
def parse_syllable(token: str) -> Syllable:
    """Parse one syllable as PyCantonese does.

    Args:
        token: Letters and a tone digit, in any form that `fold` folds; either may be missing or
            wrong.

    Returns:
        Its onset, nucleus, coda and tone. ``hao3`` has a tone, although PyCantonese rejects its
        letters; ``nei`` has an onset, nucleus and coda, although it has no tone.

    Examples:
        >>> parse_syllable("gwong2"), parse_syllable("hao3").tone
        (Syllable(onset='gw', nucleus='o', coda='ng', tone='2'), '3')
    """
    token = fold(token) if len(token) <= 2 * _LONGEST_SYLLABLE else token
    letters = token.rstrip("123456")
    tone = token[len(letters) :] or None
    match = _SYLLABLE.fullmatch(letters)
    if not match:
        return Syllable(
            None,
            None,
            None,
            tone,
        )
    return Syllable(
        match[1] or "",
        match[2],
        match[3] or "",
        tone,
    )


def is_valid(token: str) -> bool:
    """Tell whether a token is a Jyutping syllable, as PyCantonese does.

    Examples:
        >>> is_valid("hou2"), is_valid("hao3")
        (True, False)
    """
    return None not in parse_syllable(token)


def fold(text: str) -> str:
    """Fold full-width, superscript and other compatibility characters (NFKC), and lower-case.

    Each character is folded by itself, because NFKC over a whole text takes quadratic time on long
    runs of combining marks, which models do produce.

    Examples:
        >>> fold("Ｎｅｉ⁵")
        'nei5'
    """
    return text.translate(_FOLDED).lower()


def _choices(text: str, piece: re.Match[str]) -> list[str]:
    """The texts that a piece of a gold string accepts."""
    if piece["literal"]:
        return [piece["literal"]]
    options = (piece["group"] or "").split("|")
    if not all(map(_TOKEN.search, options)):
        problem = f"{piece[0]!r:.40} is unmatched or has an empty alternative; expected '(ze2|ze5)'"
        raise _malformed(text, piece.start(), problem)
    return options if len(options) > 1 else [*options, ""]


def _malformed(
    text: str,
    position: int,
    problem: str,
) -> MalformedAnswer:
    return MalformedAnswer(
        f"malformed answer {text!r}, at character {position + 1}: {problem}"
    )
