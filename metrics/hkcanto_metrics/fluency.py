"""Check whether a text is written in Cantonese, rather than in Standard Written Chinese (SWC).

This is the part of HKCanto-Eval's fluency criterion (Appendix G.1) that a program can check: a text
fails if it has "words that are exclusive to Written Chinese (e.g. 這, 的, 了)". The features of
Cantonese and of SWC are those of cantonesedetect, the classifier of the benchmark's authors (Lau,
Lau and To, 2024, https://aclanthology.org/2024.eurali-1.4/).
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from cantonesedetect import CantoneseDetector, Detector

from hkcanto_metrics.language import (
    DETECTORS_FORMS,
    SWC_EXCEPTIONS,
    identify_language,
    quick,
)
from hkcanto_metrics.rates import Rate, pool_rates
from hkcanto_metrics.repetition import is_degenerate
from hkcanto_metrics.script import is_han, simplified_share

LABELS = ("cantonese", "mixed", "neutral", "swc", "none")
_MEANS = ("simplified_ratio", "degenerate", "length_penalty", "n_characters")
MIN_CANTONESE_RATIO = 0.9
"""The share of Cantonese features that a text with SWC features needs to pass."""
# `performance/calibrate_fluency.py` sets it. It is below 1, because some of the detector's SWC
# features are also words of Cantonese, such as 把 in 一把遮: 11 of the 20 Cantonese articles and
# talks in HKCanto-Eval have some.


_DETECTOR = CantoneseDetector()
Pattern = re.Pattern[str]
_STRAIGHT_QUOTES = re.compile(r'"([^"\n]*)"')

_CANTONESE = quick(Detector.CANTO_FEATURE_RE.pattern)
_CANTONESE_EXCEPTIONS = quick(Detector.CANTO_EXCLUDE_RE.pattern)
_SWC = quick(Detector.SWC_FEATURE_RE.pattern)
_SWC_EXCEPTIONS = quick(SWC_EXCEPTIONS)


class Term(NamedTuple):
    """A word in a text: ``text[start:end] == term``."""

    term: str
    start: int
    end: int


@dataclass(frozen=True)
class Fluency:
    """How Cantonese a text is.

    Attributes:
        label: The detector's own label of the text outside of quotations: ``cantonese``, ``swc``,
            ``mixed`` or ``neutral`` (features in at most 1 % of the characters); ``none`` if the
            text has no Chinese character.
        cantonese_ratio: Share of Cantonese features among the Cantonese and SWC features outside of
            quotations, from 0 to 1; 0 without any features. ``total`` is the number of features.
        swc_terms: The SWC features outside of quotations, in order.
        simplified_ratio: Share of Simplified characters among those that belong to one script only,
            from 0 to 1 (`simplified_share`).
        degenerate: Whether the text is caught in a loop (`is_degenerate`).
        passed: Whether the text passes as Cantonese.
        fluent_published: Whether it also passes Appendix G's rule: no SWC feature at all, not even
            one that is a word of Cantonese, too.
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
    fluent_published: bool
    length_penalty: float
    n_characters: int


def cantonese_fluency(text: str, *, max_characters: int | None = None) -> Fluency:
    """Judge by its words whether a text is Cantonese.

    A text passes if it is in Chinese or in a mixture (`identify_language`), it is not
    caught in a loop, and it has either no SWC feature or at least nine Cantonese features for each
    SWC feature. This means:

    * Neutral text, without features of either kind, passes: none of its words is only used in
      Written Chinese. Formal Cantonese is often neutral. Among the questions of HKCanto-Eval of the
      same length, more are neutral in Cantonese than in Written Chinese.
    * Quotations in 「」, 『』, “”, "", 《》 and 【】 do not count, unless the whole text is quoted.
    * English words in Cantonese sentences do not count. A text in English, in any other language or
      in another variety of Chinese, such as Wu or Classical Chinese, fails, even if it names
      Cantonese words. A text without any prose, such as a letter with a name, fails, too. A single
      Chinese word, too short to judge, passes as neutral.
    * Simplified script does not fail a text; ``simplified_ratio`` reports it. Features are looked
      up after conversion to Traditional characters.

    Args:
        text: The text, without reasoning and labels; use `clean_output` to remove them from a
            model's output. The running time is linear in its length.
        max_characters: Number of characters above which a summary is penalised for its length (500
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
    penalty = 1.0
    if max_characters is not None:
        penalty = length_penalty(n_characters, max_characters)
    judged = _outside_quotations(text)
    has_chinese = Detector.ALL_HAN_RE.search(judged) is not None
    ratio, swc_terms = count_features(text)
    is_pure = not swc_terms or ratio >= MIN_CANTONESE_RATIO
    degenerate = is_degenerate(text)
    passed = has_chinese and not degenerate and is_pure and _is_chinese(text)
    return Fluency(
        label=str(_DETECTOR.judge(judged)) if has_chinese else "none",
        cantonese_ratio=ratio,
        swc_terms=swc_terms,
        simplified_ratio=simplified_share(text),
        degenerate=degenerate,
        passed=passed,
        fluent_published=passed and not swc_terms,
        length_penalty=penalty,
        n_characters=n_characters,
    )


def _is_chinese(text: str) -> bool:
    language = identify_language(text).language
    if language == "none":  # a word or two
        return all(map(is_han, filter(str.isalpha, text)))
    return language not in ("english", "other")


def count_features(text: str) -> tuple[Rate, tuple[Term, ...]]:
    """Count the features of Cantonese and of SWC outside of quotations.

    Args:
        text: As `cantonese_fluency` takes it.

    Returns:
        `Fluency.cantonese_ratio` and `Fluency.swc_terms`.

    Examples:
        >>> count_features("佢話他走咗。")
        (0.6666666666666666, (Term(term='他', start=2, end=3),))
    """
    judged = _outside_quotations(text)
    cantonese = _features(judged, _CANTONESE, _CANTONESE_EXCEPTIONS)
    swc = _features(judged, _SWC, _SWC_EXCEPTIONS)
    ratio = Rate.of(len(cantonese), len(cantonese) + len(swc))
    return ratio, tuple(Term(text[start:end], start, end) for start, end in swc)


def length_penalty(n_characters: int, max_characters: int = 500) -> float:
    """Compute the factor by which the score of a long summary is reduced.

    HKCanto-Eval (Appendix G.1) reduces the score of a summary of more than 500 characters
    "proportionally to the excess length, ensuring the penalty factor remains between 0 and 1", and
    gives no formula. Here each excess character costs 1 / ``max_characters`` of the score, down to
    a factor of 0.

    Args:
        n_characters: Number of characters in the summary, from 0 up.
        max_characters: Number of characters without a penalty, from 1 up.

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
            f"max_characters is {max_characters}; give a number from 1 up, or None"
        )
    return max(0.0, 1 - max(0, n_characters - max_characters) / max_characters)


def pool_fluency(scores: Iterable[Fluency]) -> dict[str, float]:
    """Pool the judgements of texts into the figures of a corpus.

    Args:
        scores: One judgement per text.

    Returns:
        ``passed`` and ``degenerate``: shares of the texts. ``cantonese_ratio``: share of Cantonese
        features among all features of the corpus. ``simplified_ratio``,
        ``length_penalty`` and ``n_characters``: means over the texts. ``label_cantonese``,
        ``label_mixed``, ``label_neutral``, ``label_swc`` and ``label_none``: shares of the texts.

    Raises:
        TypeError: Texts were given instead of judgements.
        ValueError: There are no judgements.

    Examples:
        >>> figures = pool_fluency(map(cantonese_fluency, ["佢哋返咗屋企。", "他們回家了。"]))
        >>> figures["passed"], figures["label_swc"], figures["cantonese_ratio"]
        (0.5, 0.5, 0.6666666666666666)
    """
    items = list(scores)
    if not items:
        raise ValueError(
            "no judgements to pool: the list is empty; judge at least one text"
        )
    if any(isinstance(item, str) for item in items):
        raise TypeError(
            "scores are strings: pass the results of cantonese_fluency, one per text"
        )
    labels = Counter(item.label for item in items)
    figures = {
        "passed": fmean(item.passed for item in items),
        "cantonese_ratio": pool_rates(item.cantonese_ratio for item in items),
    }
    for name in _MEANS:
        figures[name] = fmean(getattr(item, name) for item in items)
    for label in LABELS:
        figures[f"label_{label}"] = labels[label] / len(items)
    return figures


def _outside_quotations(text: str) -> str:
    """The text in the detector's characters; quotations are blanked if Chinese is left outside."""
    text = text.translate(DETECTORS_FORMS)
    quoted = _STRAIGHT_QUOTES.sub(r"“\1”", text)
    outside = Detector.ALL_QUOTEMARKS_RE.sub(lambda match: "…" * len(match[0]), quoted)
    return outside if Detector.ALL_HAN_RE.search(outside) else text


def _features(
    text: str,
    features: Pattern,
    exceptions: Pattern,
) -> list[tuple[int, int]]:
    """The spans of the features that do not begin inside an exception."""
    excepted: set[int] = set()
    for exception in exceptions.finditer(text):
        excepted.update(range(*exception.span()))
    spans = [feature.span() for feature in features.finditer(text)]
    return [(start, end) for start, end in spans if start not in excepted]
