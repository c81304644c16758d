"""Scores of grapheme-to-phoneme conversion into Jyutping (HKCanto-Eval, Section 3.6, Appendix E.3).

The paper's two figures are kept under names that say whose they are, because its "CER" is no
character error rate; beside them stand the measures of the field.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from operator import eq
from statistics import fmean

import numpy as np
from rapidfuzz.distance import Indel, Levenshtein

from hkcanto_metrics.jyutping import (
    Answer,
    extract_jyutping,
    is_valid,
    normalize_as_published,
    parse_answer,
    parse_syllable,
)
from hkcanto_metrics.lattice import Positions, Target, align, best_path
from hkcanto_metrics.rates import Rate, pool_rates
from hkcanto_metrics.reasoning import strip_reasoning

_RATES = (
    "cer",
    "ser",
    "tone_error_rate",
    "onset_error_rate",
    "nucleus_error_rate",
    "coda_error_rate",
)
_TIMES_TOO_LONG = 3

Alignment = tuple[tuple[str | None, str | None], ...]


@dataclass(frozen=True)
class JyutpingScore:
    """How well one response renders a sentence in Jyutping. In every rate 0 is perfect.

    Attributes:
        cer_published: The paper's "CER": share of the gold syllables that do not stand at the same
            position in the response, from 0 to 1.
        levenshtein_published: The paper's "Levenshtein distance": normalised Indel distance on
            characters, from 0 to 1.
        published_variant: The variant of the gold string that the published pair refers to.
        cer: Character error rate against the variant where it is lowest. Insertions are errors, so
            it may exceed 1; it is not clipped.
        ser: Syllable error rate, likewise.
        tone_error_rate: Share of the aligned syllables with a wrong tone, from 0 to 1; 1 if none is
            aligned. ``total`` is the number of aligned syllables, or else that of the gold.
        onset_error_rate: Likewise for onsets.
        nucleus_error_rate: Likewise for nuclei.
        coda_error_rate: Likewise for codas.
        valid: The response has at least one syllable that PyCantonese accepts.
        valid_share: Share of the response's syllables that PyCantonese accepts, from 0 to 1.
        extracted: The Jyutping found in the response.
        variant: The variant of the gold string with the lowest syllable error rate; of several, the
            one whose onsets, nuclei, codas and tones differ least.
        alignment: The syllables of ``variant`` beside those of ``extracted``; None where one side
            has none.
        problem: What is unusual about the response, in words; empty if nothing is.
    """

    cer_published: float
    levenshtein_published: float
    published_variant: str
    cer: Rate
    ser: Rate
    tone_error_rate: Rate
    onset_error_rate: Rate
    nucleus_error_rate: Rate
    coda_error_rate: Rate
    valid: bool
    valid_share: float
    extracted: str
    variant: str
    alignment: Alignment
    problem: str

    @property
    def aligned_syllables(self) -> int:
        """Number of gold syllables that stand beside a syllable of the response."""
        return len(_aligned(self.alignment))


def score_jyutping(response: str, answer: str) -> JyutpingScore:
    """Score a response against a gold string with alternatives.

    Each measure is taken against the variant of the gold string that it is best for, exactly, in
    time polynomial in the length though the number of variants is exponential.

    ``cer_published`` and ``levenshtein_published`` are those of the release of HKCanto-Eval, except
    that a response without one correct character scores 1.0 in both; the release gives it a CER of
    0.0, that of a perfect answer.

    Args:
        response: A model's response; reasoning in ``<think>`` and the like is not scored.
        answer: The gold string, such as ``jau5 liu5 (ze2|ze5) jung2 pou5``.

    Returns:
        The scores and what they were counted from.

    Raises:
        MalformedAnswer: The gold string does not follow the notation.

    >>> score = score_jyutping("nei5 hou3", "(nei5|lei5) hou2")
    >>> score.ser, score.tone_error_rate, score.onset_error_rate
    (0.5, 0.5, 0.0)
    """
    gold = parse_answer(answer)
    text = strip_reasoning(response)
    extracted = extract_jyutping(text)
    published_variant, cer_published, levenshtein_published = _published(text, gold)
    alignment = _align_syllables(extracted.split(), gold)
    variant = [expected for expected, _ in alignment if expected is not None]
    onset, nucleus, coda, tone = _component_rates(alignment)
    valid = [is_valid(syllable) for syllable in extracted.split()]
    return JyutpingScore(
        cer_published=cer_published,
        levenshtein_published=levenshtein_published,
        published_variant=published_variant,
        cer=_character_error_rate(extracted, gold),
        ser=Rate.of(sum(expected != got for expected, got in alignment), len(variant)),
        tone_error_rate=tone,
        onset_error_rate=onset,
        nucleus_error_rate=nucleus,
        coda_error_rate=coda,
        valid=any(valid),
        valid_share=fmean(valid) if valid else 0.0,
        extracted=extracted,
        variant=" ".join(variant),
        alignment=alignment,
        problem=_problem(response, text, valid, len(variant)),
    )


def pool_jyutping(scores: Iterable[JyutpingScore]) -> dict[str, float]:
    """Pool the scores of sentences into those of a corpus.

    Args:
        scores: One score per sentence.

    Returns:
        ``cer_published`` and ``levenshtein_published``: means over the sentences, as in Table 3 of
        the paper. ``cer``, ``ser`` and the tone, onset, nucleus and coda error rates: summed errors
        over summed lengths. ``invalid_rate``: share of the responses without any valid Jyutping.

    Raises:
        ValueError: There are no scores.

    >>> pool_jyutping([score_jyutping("nei5", "nei5"), score_jyutping("", "hou2")])["invalid_rate"]
    0.5
    """
    items = list(scores)
    if not items:
        raise ValueError("no scores to pool: the list is empty; score at least one sentence")
    return {
        "cer_published": fmean(score.cer_published for score in items),
        "levenshtein_published": fmean(score.levenshtein_published for score in items),
        **{name: pool_rates(getattr(score, name) for score in items) for name in _RATES},
        "invalid_rate": fmean(not score.valid for score in items),
    }


def _published(text: str, gold: Answer) -> tuple[str, float, float]:
    """The variant nearest to the response, and the release's CER and Levenshtein figures for it."""
    response = normalize_as_published(text)

    def indel(path: tuple[Sequence[str], ...]) -> Fraction:
        variant = _concatenate(path)
        return Fraction(Indel.distance(variant, response), len(variant) + len(response))

    # Without a cost for substitutions the edit distance is the Indel distance.
    variant = _concatenate(best_path(gold.published, _characters(response, pair_costs=(0,)), indel))
    similarity = Indel.normalized_similarity(variant, response)
    if similarity == 0:
        return variant, 1.0, 1.0
    syllables = variant.split(" ")
    correct = sum(map(eq, syllables, response.split(" ")))
    return variant, 1 - correct / len(syllables), 1 - similarity


def _character_error_rate(extracted: str, gold: Answer) -> Rate:
    # A blank ends each syllable, on both sides, so that optional syllables need no special case:
    # the last blanks match and change no distance. The length is counted without the last one.
    lattice = [
        ["".join(f"{syllable} " for syllable in option) for option in options]
        for options in gold.syllables
    ]

    def errors(path: tuple[Sequence[str], ...]) -> Fraction:
        variant = _concatenate(path)[:-1]
        return Fraction(Levenshtein.distance(variant, extracted), len(variant))

    path = best_path(lattice, _characters(f"{extracted} ", pair_costs=(0, 1)), errors)
    variant = _concatenate(path)[:-1]
    return Rate.of(Levenshtein.distance(variant, extracted), len(variant))


def _align_syllables(response: Sequence[str], gold: Answer) -> Alignment:
    """Align the response with the variant of lowest syllable error rate."""
    longest = sum(max(map(len, options)) for options in gold.syllables)
    # One syllable error weighs more than all components of a path can, times the denominator of
    # the ratio, so that components decide only between paths with the same syllable error rate.
    target = _syllables(response, error_cost=4 * (longest + 1) ** 2)

    def errors(path: tuple[Sequence[str], ...]) -> Fraction:
        variant = list(chain.from_iterable(path))
        return Fraction(Levenshtein.distance(variant, response), len(variant))

    variant = list(chain.from_iterable(best_path(gold.syllables, target, errors)))
    return tuple(
        (None if i is None else variant[i], None if j is None else response[j])
        for i, j in align(variant, target)
    )


def _component_rates(alignment: Alignment) -> list[Rate]:
    """Onset, nucleus, coda and tone error rate on aligned syllables."""
    pairs = _aligned(alignment)
    if not pairs:
        return [Rate.of(len(alignment), len(alignment))] * 4
    # Equal syllables are right even where they show no component, such as an English word.
    wrong = [(parse_syllable(gold), parse_syllable(got)) for gold, got in pairs if gold != got]
    return [
        Rate.of(sum(a[i] is None or a[i] != b[i] for a, b in wrong), len(pairs)) for i in range(4)
    ]


def _aligned(alignment: Alignment) -> list[tuple[str, str]]:
    return [(gold, got) for gold, got in alignment if gold is not None and got is not None]


def _problem(response: str, text: str, valid: Sequence[bool], reference_length: int) -> str:
    if not response.strip():
        return "empty response"
    if not text.strip():
        return "nothing but reasoning; the token limit may have cut off the answer"
    if not valid:
        return "no Jyutping: no syllable with a tone digit"
    if not any(valid):
        return f"no valid Jyutping: PyCantonese accepts 0 of {len(valid)} syllables"
    if (times := len(valid) / reference_length) >= _TIMES_TOO_LONG:
        return f"response is {times:.0f} times as long as the reference"
    return ""


def _concatenate(path: tuple[Sequence[str], ...]) -> str:
    return "".join(chain.from_iterable(path))


def _characters(response: str, pair_costs: tuple[int, ...]) -> Target[str]:
    characters = np.array(list(response), dtype="U1").view(np.uint32)
    anywhere = np.arange(len(response))

    def places(character: str) -> Sequence[Positions]:
        return (np.flatnonzero(characters == ord(character)), anywhere)[: len(pair_costs)]

    return Target(len(response), places, pair_costs)


def _syllables(response: Sequence[str], error_cost: int) -> Target[str]:
    """Pairs are equal syllables, or syllables that differ in at most 1, 2, 3 or 4 components."""
    where = defaultdict(list)
    for position, syllable in enumerate(response):
        where[syllable].append(position)
    # What a syllable does not show differs from everything, on either side.
    shown = [["?" if part is None else part for part in parse_syllable(s)] for s in response]
    components = np.array(shown, dtype="U2").reshape(-1, 4)

    def places(syllable: str) -> Sequence[Positions]:
        expected = ["!" if part is None else part for part in parse_syllable(syllable)]
        differing = (components != expected).sum(axis=1)
        equal = np.array(where.get(syllable, []), dtype=np.int64)
        return equal, *(np.flatnonzero(differing <= most) for most in (1, 2, 3, 4))

    costs = (0, *(error_cost + differing for differing in (1, 2, 3, 4)))
    return Target(len(response), places, costs, error_cost)
