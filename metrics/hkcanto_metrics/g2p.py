"""Scores of grapheme-to-phoneme conversion into Jyutping (HKCanto-Eval, Section 3.6, Appendix E.3).

The paper's two figures are named ``…_published``, because its "CER" is not a character error rate.
The usual error rates of the field are reported beside them.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from operator import eq
from statistics import fmean

import jiwer
from rapidfuzz.distance import Indel, Levenshtein

from hkcanto_metrics import jyutping
from hkcanto_metrics.jyutping import is_valid, parse_answer, parse_syllable
from hkcanto_metrics.rates import Rate, pool_rates
from hkcanto_metrics.reasoning import strip_reasoning

_POOLED = (
    "cer_published",
    "levenshtein_published",
    "cer",
    "ser",
    "tone_error_rate",
    "onset_error_rate",
    "nucleus_error_rate",
    "coda_error_rate",
)
_TIMES_TOO_LONG = 3
# A longer response is in a loop, and each further syllable is one more error.
_LONGEST_RESPONSE = 20_000
# Gold syllables times response syllables, over all variants: takes a quarter of a second.
_MOST_ALIGNED_BY_SOUND = 1 << 18

# jiwer's own transforms without those that clean up white space, of which there is none.
_SYLLABLES = jiwer.Compose([jiwer.ReduceToListOfListOfWords()])
_CHARACTERS = jiwer.Compose([jiwer.ReduceToListOfListOfChars()])

Pair = tuple[str | None, str | None]
Alignment = tuple[Pair, ...]


@dataclass(frozen=True)
class JyutpingScore:
    """How well one response renders a sentence in Jyutping. In every rate, 0 is perfect.

    Attributes:
        cer_published: The paper's "CER": share of the gold syllables that are missing at the same
            position in the response, from 0 to 1.
        levenshtein_published: The paper's "Levenshtein distance": normalised Indel distance on
            characters, from 0 to 1.
        published_variant: The variant of the gold string that the two published figures refer to.
        cer: Character error rate against the variant with the lowest one. Insertions are errors, so
            it may exceed 1; it is not clipped.
        ser: Syllable error rate, computed in the same way.
        tone_error_rate: Share of the aligned syllables with a wrong tone, from 0 to 1; 1 if none is
            aligned. ``total`` is the number of aligned syllables, or of gold syllables if none is
            aligned.
        onset_error_rate: Likewise for onsets.
        nucleus_error_rate: Likewise for nuclei.
        coda_error_rate: Likewise for codas.
        valid: Whether the response has at least one syllable that PyCantonese accepts.
        valid_share: Share of the response's syllables that PyCantonese accepts, from 0 to 1.
        extracted: The Jyutping found in the response.
        variant: The variant of the gold string with the lowest syllable error rate; if several tie,
            the one whose onsets, nuclei, codas and tones differ least.
        alignment: Pairs of a syllable of ``variant`` and one of ``extracted``; None for a syllable
            without a partner.
        problem: A description of anything unusual about the response; empty if nothing is.
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


def score_jyutping(response: str, answer: str) -> JyutpingScore:
    """Score a response against a gold string with alternatives.

    Each measure compares the response with every variant of the gold string and takes the best.

    ``cer_published`` and ``levenshtein_published`` follow the released code of HKCanto-Eval, with
    two exceptions. A response without a single correct character scores 1.0 in both; the released
    code gives it a CER of 0.0, the score of a perfect answer. Superscript tones and full-width
    letters count as plain ones, as in every other figure; the released code drops them.

    Only the first 20,000 characters of a response are scored; ``problem`` says if there are more.

    Args:
        response: A model's response; reasoning in ``<think>`` and the like is not scored.
        answer: The gold string, such as ``jau5 liu5 (ze2|ze5) jung2 pou5``.

    Returns:
        The scores and what they were counted from.

    Raises:
        MalformedAnswer: The gold string does not follow the notation or has more than 256 variants.

    Examples:
        >>> score = score_jyutping("nei5 hou3", "(nei5|lei5) hou2")
        >>> score.ser, score.tone_error_rate, score.onset_error_rate
        (0.5, 0.5, 0.0)
    """
    variants = parse_answer(answer)
    stripped = strip_reasoning(response)
    text = stripped[:_LONGEST_RESPONSE]
    extracted = jyutping.extract_jyutping(text)
    syllables = extracted.split()
    published_variant, cer_published, levenshtein_published = _published(text, answer)
    variant, alignment = _nearest_sounds(variants, syllables)
    valid = [is_valid(syllable) for syllable in syllables]
    return JyutpingScore(
        cer_published=cer_published,
        levenshtein_published=levenshtein_published,
        published_variant=published_variant,
        cer=_character_error_rate(variants, extracted),
        ser=Rate.of(sum(gold != got for gold, got in alignment), len(variant)),
        **_component_rates(alignment),
        valid=any(valid),
        valid_share=fmean(valid) if valid else 0.0,
        extracted=extracted,
        variant=" ".join(variant),
        alignment=alignment,
        problem=_problem(
            response,
            stripped,
            valid,
            len(variant),
        ),
    )


def pool_jyutping(scores: Iterable[JyutpingScore]) -> dict[str, float]:
    """Pool the scores of sentences into the scores of a corpus.

    Args:
        scores: One score per sentence.

    Returns:
        ``cer_published`` and ``levenshtein_published``: means over the sentences, as in Table 3 of
        the paper. ``cer``, ``ser`` and the tone, onset, nucleus and coda error rates: summed errors
        over summed lengths. ``invalid_rate``: share of the responses without any valid Jyutping.

    Raises:
        TypeError: Responses were given instead of scores.
        ValueError: There are no scores.

    Examples:
        >>> scores = [score_jyutping("nei5", "nei5"), score_jyutping("", "hou2")]
        >>> pool_jyutping(scores)["invalid_rate"]
        0.5
    """
    items = list(scores)
    if any(isinstance(item, str) for item in items):
        raise TypeError(
            "scores are strings: pass the results of score_jyutping, one per sentence"
        )
    rates = {
        name: pool_rates(getattr(score, name) for score in items) for name in _POOLED
    }
    return rates | {"invalid_rate": fmean(not score.valid for score in items)}


def _component_rates(alignment: Alignment) -> dict[str, Rate]:
    """The error rates of tones, onsets, nuclei and codas; 1 if no syllable has a partner."""
    wrong = _wrong_parts(alignment) or [(True,) * 4] * len(alignment)
    parts = zip(jyutping.Syllable._fields, zip(*wrong, strict=True), strict=True)
    return {
        f"{part}_error_rate": Rate.of(sum(errors), len(wrong)) for part, errors in parts
    }


def _character_error_rate(variants: Iterable[Sequence[str]], extracted: str) -> Rate:
    """The character error rate against the variant with the lowest one."""
    texts = map(" ".join, variants)
    nearest = min(texts, key=lambda text: _distance(text, extracted))
    characters = jiwer.process_characters(
        nearest,
        extracted,
        _CHARACTERS,
        _CHARACTERS,
    )
    errors = characters.substitutions + characters.deletions + characters.insertions
    return Rate.of(errors, len(nearest))


def _published(text: str, answer: str) -> tuple[str, float, float]:
    """The variant nearest to the response, and the release's CER and Levenshtein figures for it."""
    response = jyutping.normalize_as_published(jyutping.fold(text))
    variants = jyutping.published_variants(answer)
    nearest = min(variants, key=lambda text: Indel.normalized_distance(text, response))
    similarity = Indel.normalized_similarity(nearest, response)
    if similarity == 0:
        return nearest, 1.0, 1.0
    syllables = nearest.split(" ")
    correct = sum(map(eq, syllables, response.split(" ")))
    return nearest, 1 - correct / len(syllables), 1 - similarity


def _distance(variant: Sequence[str], response: Sequence[str]) -> float:
    return Levenshtein.distance(variant, response) / len(variant)


def _nearest_sounds(
    variants: Sequence[Sequence[str]], response: Sequence[str]
) -> tuple[Sequence[str], Alignment]:
    """The variant with the lowest syllable error rate; of several, the one closest in sound."""
    rates = [_distance(variant, response) for variant in variants]
    lowest = min(rates)
    nearest = [
        variant for variant, rate in zip(variants, rates, strict=True) if rate == lowest
    ]
    most_cells = _MOST_ALIGNED_BY_SOUND // len(nearest)
    alignments = [_aligned(variant, response, most_cells) for variant in nearest]
    pairs = zip(nearest, alignments, strict=True)
    return min(pairs, key=lambda pair: sum(map(sum, _wrong_parts(pair[1]))))


def _aligned(
    gold: Sequence[str],
    response: Sequence[str],
    most_cells: int,
) -> Alignment:
    """The alignment with the fewest errors; of several, the closest in sound, if that is quick."""
    words = jiwer.process_words(
        " ".join(gold), " ".join(response), _SYLLABLES, _SYLLABLES
    )
    # Only with a substitution and another error may another alignment have as few.
    errors = words.substitutions + words.deletions + words.insertions
    has_others = words.substitutions and errors > 1
    if has_others and len(gold) * len(response) <= most_cells:
        return _align_by_sound(gold, response)
    pairs: list[Pair] = []
    for part in words.alignments[0]:
        syllables = gold[part.ref_start_idx : part.ref_end_idx]
        pairs += zip_longest(syllables, response[part.hyp_start_idx : part.hyp_end_idx])
    return tuple(pairs)


def _align_by_sound(gold: Sequence[str], response: Sequence[str]) -> Alignment:
    """The alignment with the fewest errors whose pairs differ in the fewest components.

    If several tie, the one in which syllables without a partner come as late as possible.
    """
    # More than the largest possible sum of component differences.
    error = 4 * len(gold) + 1
    costs = _alignment_costs(gold, response, error)
    i = len(gold)
    j = len(response)
    pairs: list[Pair] = []
    while i or j:
        if j and costs[i][j] == costs[i][j - 1] + error:
            j -= 1
            pairs.append((None, response[j]))
        elif i and costs[i][j] == costs[i - 1][j] + error:
            i -= 1
            pairs.append((gold[i], None))
        else:
            i -= 1
            j -= 1
            pairs.append((gold[i], response[j]))
    return tuple(pairs[::-1])


def _alignment_costs(
    gold: Sequence[str],
    response: Sequence[str],
    error: int,
) -> list[list[float]]:
    """The costs of aligning each beginning of the gold syllables with each of the response's."""
    # With so few errors an alignment cannot stray further from the diagonal.
    fewest = Levenshtein.distance(gold, response)
    longer = len(gold) - len(response)
    deletions = (fewest + longer) // 2
    insertions = (fewest - longer) // 2
    costs: list[list[float]] = [[error * j for j in range(len(response) + 1)]]
    for i, syllable in enumerate(gold, 1):
        above = costs[-1]
        row = [error * i] + [math.inf] * len(response)
        for j in range(max(1, i - deletions), min(len(response), i + insertions) + 1):
            pair = above[j - 1]
            if response[j - 1] != syllable:
                pair += error + sum(_wrong(syllable, response[j - 1]))
            row[j] = min(pair, row[j - 1] + error, above[j] + error)
        costs.append(row)
    return costs


@lru_cache(maxsize=65536)
def _wrong(gold: str, got: str) -> tuple[bool, ...]:
    """Which of onset, nucleus, coda and tone are wrong.

    Equal syllables are right even if they have no components, such as an English word.
    """
    pairs = zip(parse_syllable(gold), parse_syllable(got), strict=True)
    return tuple(
        gold != got and (right is None or right != heard) for right, heard in pairs
    )


def _wrong_parts(alignment: Alignment) -> list[tuple[bool, ...]]:
    """For each pair of aligned syllables, see `_wrong`."""
    return [
        _wrong(gold, got)
        for gold, got in alignment
        if gold is not None and got is not None
    ]


def _problem(
    response: str,
    text: str,
    valid: Sequence[bool],
    reference_length: int,
) -> str:
    problem = _first_problem(
        response,
        text,
        valid,
        reference_length,
    )
    if len(text) <= _LONGEST_RESPONSE:
        return problem
    cut = f"only the first {_LONGEST_RESPONSE:,} of {len(text):,} characters are scored"
    return f"{problem}; {cut}" if problem else cut


def _first_problem(
    response: str,
    text: str,
    valid: Sequence[bool],
    reference_length: int,
) -> str:
    if not response.strip():
        return "empty response"
    if not text.strip():
        return "only reasoning; the token limit may have cut off the answer"
    if not valid:
        return "no Jyutping: a syllable with a tone digit is missing"
    if not any(valid):
        return f"no valid Jyutping: PyCantonese accepts 0 of {len(valid)} syllables"
    times = len(valid) / reference_length
    if times >= _TIMES_TOO_LONG:
        return f"response is {times:.0f} times as long as the reference"
    return ""
