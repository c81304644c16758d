"""Whether a text is written in Cantonese, rather than in Standard Written Chinese (SWC).

This is the part of HKCanto-Eval's fluency criterion (Appendix G.1) that needs no reader: a text
fails if it has "words that are exclusive to Written Chinese (e.g. 這, 的, 了)". Which words are
features of Cantonese and of SWC is decided by cantonesedetect, the classifier of the benchmark's
authors (Lau, Lau and To, 2024, https://aclanthology.org/2024.eurali-1.4/).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from cantonesedetect import CantoneseDetector, Detector

from hkcanto_metrics.rates import Rate, pool_rates
from hkcanto_metrics.repetition import is_degenerate
from hkcanto_metrics.script import CharacterTable, simplified_share, to_traditional

LABELS = ("cantonese", "mixed", "neutral", "swc", "none")
_MEANS = ("simplified_ratio", "degenerate", "length_penalty", "n_characters")
MIN_CANTONESE_RATIO = 0.9
"""Least share of Cantonese features in a text with SWC features (performance/calibrate_fluency.py).

Not 1, because the detector's SWC features are words that Cantonese may have too, such as 把 in
一把遮: 11 of the 20 Cantonese articles and talks in HKCanto-Eval have some.
"""

_DETECTOR = CantoneseDetector()
# cantonesedetect 1.1.2 lacks a "|" here, and so takes the 些 of 些少 for an SWC feature.
SWC_EXCEPTIONS = re.compile(Detector.SWC_EXCLUDE_RE.pattern.replace("的起心肝些[", "的起心肝|些["))
_DETECTORS_CHARACTERS = frozenset(
    f"{Detector.CANTO_FEATURE_RE.pattern}{Detector.CANTO_EXCLUDE_RE.pattern}"
    f"{Detector.SWC_FEATURE_RE.pattern}{Detector.SWC_EXCLUDE_RE.pattern}"
)
_STRAIGHT_QUOTES = re.compile(r'"([^"\n]*)"')


def _to_detectors_character(character: str) -> str:
    """The Traditional character, unless the detector knows the one given.

    Conversion would turn some of those, such as 吃 and 台, into variants that it does not know.
    """
    return character if character in _DETECTORS_CHARACTERS else to_traditional(character)


IN_DETECTORS_CHARACTERS = CharacterTable(_to_detectors_character)


class Term(NamedTuple):
    """A word in a text: ``text[start:end] == term``."""

    term: str
    start: int
    end: int


@dataclass(frozen=True)
class Fluency:
    """How Cantonese a text is.

    Attributes:
        label: The detector's own verdict on the text outside of quotations: ``cantonese``, ``swc``,
            ``mixed`` or ``neutral`` (features in at most 1 % of the characters); ``none`` if the
            text has no Chinese character.
        cantonese_ratio: Share of Cantonese features among the Cantonese and SWC features outside of
            quotations, from 0 to 1; 0 without any features. ``total`` is the number of features.
        swc_terms: The SWC features outside of quotations, in order.
        simplified_ratio: Share of Simplified characters among those that tell the script, from 0 to
            1 (`simplified_share`).
        degenerate: The text is caught in a loop (`is_degenerate`).
        passed: The text passes as Cantonese.
        length_penalty: Factor for the score of a summary, from 0 to 1 (`length_penalty`); 1 if
            there is no limit.
        n_characters: Number of characters that are not white space.
    """

    label: str
    cantonese_ratio: Rate
    swc_terms: tuple[Term, ...]
    simplified_ratio: float
    degenerate: bool
    passed: bool
    length_penalty: float
    n_characters: int


def cantonese_fluency(text: str, *, max_characters: int | None = None) -> Fluency:
    """Judge whether a text is Cantonese by the words in it.

    A text passes if it has a Chinese character, is not caught in a loop, and either has no SWC
    feature or at least nine Cantonese features for each of them. From that follows:

    * Neutral text, with no feature of either kind, passes: it has no word that only Written Chinese
      uses. Formal Cantonese is often like that, and of the questions of HKCanto-Eval that have the
      same length, more are neutral in Cantonese than in Written Chinese.
    * Quotations in 「」, 『』, “”, "", 《》 and 【】 do not count, unless all the text is in them.
    * English words do not count.
    * Simplified script does not fail a text; ``simplified_ratio`` reports it. Features are looked
      up after conversion to Traditional characters.

    Args:
        text: The text, without reasoning and labels, which `clean_output` removes from a model's
            output. The time is linear in its length.
        max_characters: Number of characters from which a summary is penalised for its length (500
            in HKCanto-Eval), from 1 up; None for no limit.

    Returns:
        The judgement and what it is based on.

    Raises:
        ValueError: ``max_characters`` is less than 1.

    Examples:
        >>> cantonese_fluency("佢哋啱啱返咗屋企，仲未食飯。").passed
        True
        >>> cantonese_fluency("他們剛回家。").swc_terms
        (Term(term='他', start=0, end=1),)
    """
    n_characters = len("".join(text.split()))
    judged = _without_quotations(text.translate(IN_DETECTORS_CHARACTERS))
    has_chinese = Detector.ALL_HAN_RE.search(judged) is not None
    n_cantonese = len(_features(judged, Detector.CANTO_FEATURE_RE, Detector.CANTO_EXCLUDE_RE))
    swc_spans = _features(judged, Detector.SWC_FEATURE_RE, SWC_EXCEPTIONS)
    ratio = Rate.of(n_cantonese, n_cantonese + len(swc_spans))
    degenerate = is_degenerate(text)
    penalty = 1.0 if max_characters is None else length_penalty(n_characters, max_characters)
    return Fluency(
        label=str(_DETECTOR.judge(judged)) if has_chinese else "none",
        cantonese_ratio=ratio,
        swc_terms=tuple(Term(text[start:end], start, end) for start, end in swc_spans),
        simplified_ratio=simplified_share(text),
        degenerate=degenerate,
        passed=has_chinese and not degenerate and (not swc_spans or ratio >= MIN_CANTONESE_RATIO),
        length_penalty=penalty,
        n_characters=n_characters,
    )


def length_penalty(n_characters: int, max_characters: int = 500) -> float:
    """Compute the factor by which the score of a long summary is reduced.

    HKCanto-Eval (Appendix G.1) reduces the score of a summary of more than 500 characters
    "proportionally to the excess length, ensuring the penalty factor remains between 0 and 1", and
    gives no formula. Here each excess character costs 1 / ``max_characters`` of the score: only a
    factor that would fall below 0 has to be kept from doing so.

    Args:
        n_characters: Number of characters in the summary, from 0 up.
        max_characters: Number of characters that cost nothing, from 1 up.

    Returns:
        max(0, 1 - excess / ``max_characters``): 1 up to the limit, 0 from twice the limit on.

    Raises:
        ValueError: ``max_characters`` is less than 1.

    Examples:
        >>> length_penalty(500), length_penalty(600), length_penalty(1200)
        (1.0, 0.8, 0.0)
    """
    if max_characters < 1:
        raise ValueError(
            f"max_characters is {max_characters}, but a summary of that length does not exist; "
            "give a number from 1 up, or None for no limit"
        )
    excess = max(0, n_characters - max_characters)
    return max(0.0, 1 - excess / max_characters)


def pool_fluency(scores: Iterable[Fluency]) -> dict[str, float]:
    """Pool the judgements of texts into figures of a corpus.

    Args:
        scores: One judgement per text.

    Returns:
        ``passed`` and ``degenerate``: shares of the texts. ``cantonese_ratio``: share of Cantonese
        features among all features of the corpus. ``simplified_ratio``,
        ``length_penalty`` and ``n_characters``: means over the texts. ``label_cantonese``,
        ``label_mixed``, ``label_neutral``, ``label_swc`` and ``label_none``: shares of the texts.

    Raises:
        TypeError: Texts were given in the place of judgements.
        ValueError: There are no judgements.

    Examples:
        >>> figures = pool_fluency(map(cantonese_fluency, ["佢哋返咗屋企。", "他們回家了。"]))
        >>> figures["passed"], figures["label_swc"], figures["cantonese_ratio"]
        (0.5, 0.5, 0.6666666666666666)
    """
    items = list(scores)
    if not items:
        raise ValueError("no judgements to pool: the list is empty; judge at least one text")
    if any(isinstance(item, str) for item in items):
        raise TypeError("scores are strings: pass the results of cantonese_fluency, one per text")
    labels = Counter(item.label for item in items)
    return {
        "passed": fmean(item.passed for item in items),
        "cantonese_ratio": pool_rates(item.cantonese_ratio for item in items),
        **{name: fmean(getattr(item, name) for item in items) for name in _MEANS},
        **{f"label_{label}": labels[label] / len(items) for label in LABELS},
    }


def _without_quotations(text: str) -> str:
    """The text with quotations overwritten, or all of it if no Chinese is left outside of them."""
    outside = Detector.ALL_QUOTEMARKS_RE.sub(
        lambda quotation: "…" * len(quotation[0]), _STRAIGHT_QUOTES.sub(r"“\1”", text)
    )
    return outside if Detector.ALL_HAN_RE.search(outside) else text


def _features(
    text: str, features: re.Pattern[str], exceptions: re.Pattern[str]
) -> list[tuple[int, int]]:
    """Places of the features that do not begin in an exception."""
    excepted = {i for exception in exceptions.finditer(text) for i in range(*exception.span())}
    found = (feature.span() for feature in features.finditer(text))
    return [(start, end) for start, end in found if start not in excepted]
