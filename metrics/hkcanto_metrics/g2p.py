"""Scores of grapheme-to-phoneme conversion into Jyutping (HKCanto-Eval, Section 3.6, Appendix E.3).

The paper's two figures are kept under names that say whose they are, because its "CER" is no
character error rate; beside them stand the measures of the field.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain, product, starmap, zip_longest
from operator import eq
from statistics import fmean

import numpy as np
from jiwer import CharacterOutput, WordOutput, process_characters, process_words
from rapidfuzz.distance import Indel, Levenshtein

from hkcanto_metrics.jyutping import (
    Answer,
    extract_jyutping,
    is_valid,
    normalize_as_published,
    parse_answer,
    parse_syllable,
)
from hkcanto_metrics.lattice import Positions, Target, best_path
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
# A response that goes on is a loop, and each further syllable is one more error.
_LONGEST_RESPONSE = 100_000
# Up to so many variants times tokens, comparing every variant is faster than the lattice.
_MOST_COMPARED = 1 << 17
# Gold syllables times those of a response that has run away: aligning by sound takes a quarter of a
# second.
_MOST_ALIGNED_BY_SOUND = 1 << 18

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
    time polynomial in the length though the number of variants is exponential. Against the variant
    chosen, jiwer counts the errors.

    ``cer_published`` and ``levenshtein_published`` are those of the release of HKCanto-Eval, except
    that a response without one correct character scores 1.0 in both; the release gives it a CER of
    0.0, that of a perfect answer.

    Of a response, 100,000 characters are scored.

    Args:
        response: A model's response; reasoning in ``<think>`` and the like is not scored.
        answer: The gold string, such as ``jau5 liu5 (ze2|ze5) jung2 pou5``.

    Returns:
        The scores and what they were counted from.

    Raises:
        MalformedAnswer: The gold string does not follow the notation.

    Examples:
        >>> score = score_jyutping("nei5 hou3", "(nei5|lei5) hou2")
        >>> score.ser, score.tone_error_rate, score.onset_error_rate
        (0.5, 0.5, 0.0)
    """
    gold = parse_answer(answer)
    stripped = strip_reasoning(response)
    text = stripped[:_LONGEST_RESPONSE]
    extracted = extract_jyutping(text)
    syllables = extracted.split()
    published_variant, cer_published, levenshtein_published = _published(text, gold)
    variant = _nearest_syllables(syllables, gold)
    words = process_words(" ".join(variant), extracted)
    alignment = _alignment(variant, syllables, words)
    onset, nucleus, coda, tone = _component_rates(alignment)
    valid = [is_valid(syllable) for syllable in syllables]
    return JyutpingScore(
        cer_published=cer_published,
        levenshtein_published=levenshtein_published,
        published_variant=published_variant,
        cer=_rate(process_characters(_nearest_characters(extracted, gold), extracted)),
        ser=_rate(words),
        tone_error_rate=tone,
        onset_error_rate=onset,
        nucleus_error_rate=nucleus,
        coda_error_rate=coda,
        valid=any(valid),
        valid_share=fmean(valid) if valid else 0.0,
        extracted=extracted,
        variant=" ".join(variant),
        alignment=alignment,
        problem=_problem(response, stripped, valid, len(variant)),
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
        TypeError: Responses were given in the place of scores.
        ValueError: There are no scores.

    Examples:
        >>> scores = [score_jyutping("nei5", "nei5"), score_jyutping("", "hou2")]
        >>> pool_jyutping(scores)["invalid_rate"]
        0.5
    """
    items = list(scores)
    if not items:
        raise ValueError("no scores to pool: the list is empty; score at least one sentence")
    if any(isinstance(item, str) for item in items):
        raise TypeError("scores are strings: pass the results of score_jyutping, one per sentence")
    return {
        "cer_published": fmean(score.cer_published for score in items),
        "levenshtein_published": fmean(score.levenshtein_published for score in items),
        **{name: pool_rates(getattr(score, name) for score in items) for name in _RATES},
        "invalid_rate": fmean(not score.valid for score in items),
    }


def _published(text: str, gold: Answer) -> tuple[str, float, float]:
    """The variant nearest to the response, and the release's CER and Levenshtein figures for it."""
    response = normalize_as_published(text)

    def indel(variant: str) -> Fraction:
        return Fraction(Indel.distance(variant, response), len(variant) + len(response))

    # Without a cost for substitutions the edit distance is the Indel distance.
    variant = _nearest_text(gold.published, response, pair_costs=(0,), errors=indel)
    similarity = Indel.normalized_similarity(variant, response)
    if similarity == 0:
        return variant, 1.0, 1.0
    syllables = variant.split(" ")
    correct = sum(map(eq, syllables, response.split(" ")))
    return variant, 1 - correct / len(syllables), 1 - similarity


def _nearest_characters(extracted: str, gold: Answer) -> str:
    """The variant of lowest character error rate."""
    # A blank ends each syllable, on both sides, so that optional syllables need no special case:
    # the last blanks match and change no distance. The length is counted without the last one.
    lattice = [
        ["".join(f"{syllable} " for syllable in option) for option in options]
        for options in gold.syllables
    ]

    def errors(variant: str) -> Fraction:
        return Fraction(Levenshtein.distance(variant[:-1], extracted), len(variant) - 1)

    return _nearest_text(lattice, f"{extracted} ", pair_costs=(0, 1), errors=errors)[:-1]


def _nearest_text(
    lattice: Sequence[Sequence[str]],
    response: str,
    pair_costs: tuple[int, ...],
    errors: Callable[[str], Fraction],
) -> str:
    if _are_few(lattice, len(response)):
        return min(map("".join, product(*lattice)), key=errors)
    target = _characters(response, pair_costs)
    path = best_path(lattice, target, lambda p: errors("".join(chain.from_iterable(p))))
    return "".join(chain.from_iterable(path))


def _nearest_syllables(response: Sequence[str], gold: Answer) -> Sequence[str]:
    """The variant of lowest syllable error rate; of several, the one of the nearest sounds."""

    def errors(variant: Sequence[str]) -> Fraction:
        return Fraction(Levenshtein.distance(variant, response), len(variant))

    if _are_few(gold.syllables, len(response)):
        variants = [list(chain.from_iterable(path)) for path in product(*gold.syllables)]
        rates = list(map(errors, variants))
        lowest = min(rates)
        nearest = [v for v, rate in zip(variants, rates, strict=True) if rate == lowest]
        if len(nearest) == 1:
            return nearest[0]
        return min(
            nearest, key=lambda v: sum(starmap(_differing, _aligned(_align_by_sound(v, response))))
        )
    longest = sum(max(map(len, options)) for options in gold.syllables)
    # One syllable error weighs more than all components of a path can, times the denominator of
    # the ratio, so that components decide only between paths with the same syllable error rate.
    target = _syllables(response, error_cost=4 * (longest + 1) ** 2)
    path = best_path(gold.syllables, target, lambda p: errors(list(chain.from_iterable(p))))
    return list(chain.from_iterable(path))


def _are_few(lattice: Sequence[Sequence[object]], response_length: int) -> bool:
    """Whether comparing the response with every variant is the faster way."""
    return math.prod(map(len, lattice)) * (response_length + 1) <= _MOST_COMPARED


def _alignment(variant: Sequence[str], response: Sequence[str], words: WordOutput) -> Alignment:
    """The alignment of jiwer, unless another with as few errors may pair nearer sounds."""
    errors = words.substitutions + words.deletions + words.insertions
    endless = len(variant) * len(response) > _MOST_ALIGNED_BY_SOUND
    if words.substitutions and errors > 1 and not endless:
        return _align_by_sound(variant, response)
    return tuple(
        chain.from_iterable(
            zip_longest(
                variant[chunk.ref_start_idx : chunk.ref_end_idx],
                response[chunk.hyp_start_idx : chunk.hyp_end_idx],
            )
            for chunk in words.alignments[0]
        )
    )


def _align_by_sound(gold: Sequence[str], response: Sequence[str]) -> Alignment:
    """The alignment with the fewest errors whose pairs differ in the fewest components.

    Of several, the one where syllables without a partner come as late as possible.
    """
    insert, delete, pair = range(3)
    rows, columns = len(gold), len(response)
    error = 4 * rows + 1  # more than all components can differ
    # With so few errors an alignment cannot stray further from the diagonal.
    fewest = Levenshtein.distance(gold, response)
    deletions, insertions = (fewest + rows - columns) // 2, (fewest + columns - rows) // 2
    above = [error * j if j <= insertions else math.inf for j in range(columns + 1)]
    moves = [bytearray(columns + 1)]
    for i, syllable in enumerate(gold, 1):
        row, steps = [math.inf] * (columns + 1), bytearray(columns + 1)
        row[0], steps[0] = error * i, delete
        for j in range(max(1, i - deletions), min(columns, i + insertions) + 1):
            row[j] = row[j - 1] + error
            if above[j] + error < row[j]:
                row[j], steps[j] = above[j] + error, delete
            got = response[j - 1]
            cost = above[j - 1] + (got != syllable and error + _differing(syllable, got))
            if cost < row[j]:
                row[j], steps[j] = cost, pair
        above = row
        moves.append(steps)
    i, j = rows, columns
    pairs: list[tuple[str | None, str | None]] = []
    while i or j:
        step = moves[i][j]
        i -= step != insert
        j -= step != delete
        pairs.append((None if step == insert else gold[i], None if step == delete else response[j]))
    return tuple(reversed(pairs))


def _rate(output: WordOutput | CharacterOutput) -> Rate:
    wrong = output.substitutions + output.deletions
    return Rate.of(wrong + output.insertions, output.hits + wrong)


def _component_rates(alignment: Alignment) -> list[Rate]:
    """Onset, nucleus, coda and tone error rate on aligned syllables."""
    pairs = _aligned(alignment)
    if not pairs:
        return [Rate.of(len(alignment), len(alignment))] * 4
    # Equal syllables are right even where they show no component, such as an English word.
    wrong = [_wrong_components(gold, got) for gold, got in pairs if gold != got]
    return [Rate.of(sum(components[i] for components in wrong), len(pairs)) for i in range(4)]


def _wrong_components(gold: str, got: str) -> list[bool]:
    components = zip(parse_syllable(gold), parse_syllable(got), strict=True)
    return [expected is None or expected != heard for expected, heard in components]


@lru_cache(maxsize=65536)
def _differing(gold: str, got: str) -> int:
    """How many components differ."""
    return 0 if gold == got else sum(_wrong_components(gold, got))


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
    if len(text) > _LONGEST_RESPONSE:
        return f"scored are {_LONGEST_RESPONSE:,} characters of {len(text):,}"
    if (times := len(valid) / reference_length) >= _TIMES_TOO_LONG:
        return f"response is {times:.0f} times as long as the reference"
    return ""


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
