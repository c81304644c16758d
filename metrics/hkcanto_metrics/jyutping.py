"""Parse Jyutping in responses, gold strings and single syllables.

The gold strings of HKCanto-Eval (Appendix E.3) list alternatives in parentheses, as in
``jau5 liu5 (ze2|ze5) jung2 pou5``. They are expanded here to every string that they accept.
"""

import math
import re
import unicodedata
from functools import lru_cache
from itertools import chain, product
from typing import NamedTuple

from hkcanto_metrics.script import CharacterTable

# Match only from the first letter of a run; otherwise a long run without a tone takes quadratic
# time.
_TONED_SYLLABLE = re.compile(r"(?<![a-z])[a-z]+[1-6]")
_TOKEN = re.compile(r"[a-z]*[1-6]|[a-z]+")
_WORD = re.compile("([a-z]+)([0-9]?)")
_GAP = re.compile(r"[\s,-]*")
# Text in brackets without a toned syllable.
_GLOSS = re.compile(
    r"(?<![a-z])[(\[【](?![^()\[\]【】]*[a-z][1-6])[^()\[\]【】]*[)\]】](?![a-z])"
)
_GOLD_PIECE = re.compile(
    r"\((?P<group>[^()]*)\)|(?P<literal>[^()|]+)|(?P<stray>.)", re.DOTALL
)
_PUBLISHED_GROUP = re.compile(r"\(([^()]*\|[^()]*)\)")

# As long as "ngaang"; PyCantonese takes quadratic time to refuse long runs of letters.
_LONGEST_SYLLABLE = 6
_MOST_VARIANTS = 256
_LONGEST_ANSWER = 10_000


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

    On each line with a toned syllable, the Jyutping is everything from the first such syllable to
    the end of the line, so an introduction ("Sure! The Jyutping is: ...") does not count as an
    error. Syllables right before it count, too, even if they have no tone or a wrong digit. Other
    text after that syllable is kept and counts as wrong syllables, except a gloss: text in brackets
    that has no toned syllable.

    Args:
        response: A model's response, without reasoning.

    Returns:
        Lower-case tokens, split after tone digits and joined by single spaces; empty if there is no
        toned syllable. Full-width letters and superscript tones count as plain ones.

    Examples:
        >>> extract_jyutping("Sure! The Jyutping is: Nei5hou2.")
        'nei5 hou2'
        >>> extract_jyutping("gwong dung1 waa2 (Cantonese)")
        'gwong dung1 waa2'
    """
    tokens: list[str] = []
    for line in _GLOSS.sub(" ", fold(response)).splitlines():
        first = _TONED_SYLLABLE.search(line)
        if not first:
            continue
        start = first.start()
        for word in reversed([*_WORD.finditer(line, 0, start)]):
            is_syllable = word[2] or None not in parse_syllable(word[1])[:3]
            if not is_syllable or not _GAP.fullmatch(line, word.end(), start):
                break
            start = word.start()
        tokens += _TOKEN.findall(line, start)
    return " ".join(tokens)


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
    """Parse one syllable with PyCantonese.

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
    from pycantonese import parse_jyutping

    token = fold(token) if len(token) <= 2 * _LONGEST_SYLLABLE else token
    letters = token.rstrip("123456")
    tone = token[len(letters) :] or None
    try:
        (parsed,) = parse_jyutping(letters[: _LONGEST_SYLLABLE + 1] + "1")
    except ValueError:
        return Syllable(None, None, None, tone)
    return Syllable(parsed.onset, parsed.nucleus, parsed.coda, tone)


def is_valid(token: str) -> bool:
    """Tell whether PyCantonese accepts a token as a Jyutping syllable.

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


def _malformed(text: str, position: int, problem: str) -> MalformedAnswer:
    return MalformedAnswer(
        f"malformed answer {text!r}, at character {position + 1}: {problem}"
    )
