"""Automatic scores of translations (HKMMLU, Section 4 and Table 2), for corpora and sentences.

Each score exists raw, which asks for the right script too, and normalised, with both sides folded
to one script, which asks for the right words only. HKCanto-Eval (Appendix F) rejects BLEU as the
score of Cantonese and Written Chinese pairs, most characters of which are the same in both; there,
all of this is a diagnostic.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.metadata import version
from statistics import fmean
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

from hkcanto_metrics.rates import Estimate, bootstrap_sums
from hkcanto_metrics.script import fold_script, is_han, script_of, simplified_share

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Counts = npt.NDArray[np.float64]

Language = Literal["zh", "en"]

SCORES = ("bleu", "bleu_2", "chrf", "meteor", "rouge_l", "mean")
RATES = ("wrong_script", "empty", "copied_source")
# DeepSeek-V3 from Cantonese to Mandarin: (57.4 + 79.0 + 80.2) / 3 = 72.2 (HKMMLU, Table 2).
_AVERAGED = ("bleu", "meteor", "rouge_l")
_NORMALIZED = "_normalized"
_FROM_SACREBLEU = ("bleu", "bleu_2", "chrf")
_BLEU_TOKENIZERS = {"zh": "zh", "en": "13a"}
# A harness scores each sentence, and then the corpus, perhaps figure by figure: no pair is counted
# twice. HKMMLU has 44,146 pairs in each direction, each raw and folded; an entry takes a kilobyte.
_PAIRS_REMEMBERED = 1 << 17

# NLTK's WordNet reader as METEOR uses it, without a word in it.
_NO_SYNONYMS = SimpleNamespace(synsets=lambda _: ())

LONGEST = 10_000
"""How many characters of a text are scored; a translation that goes on is a loop."""


def score_translation(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    language: Language = "zh",
    sources: Sequence[str] | None = None,
) -> dict[str, float]:
    """Score the translations of a corpus.

    BLEU, BLEU-2 (up to pairs of tokens) and chrF are sacreBLEU's corpus scores. METEOR is the mean
    of NLTK's sentence scores without WordNet, which knows no Chinese and would have to be
    downloaded, so in English it matches words and stems but no synonyms. ROUGE-L is the mean of the
    sentences' F1. The tokens of METEOR and ROUGE-L are the characters, without white space, or in
    English those of sacreBLEU's 13a, in lower case. References themselves score 100 in all but
    METEOR, where m tokens score 100 - 50 / m³, and in BLEU if any has four tokens. Of texts of more
    than 10,000 characters, these are scored; the rates below are of all of a text.

    Args:
        hypotheses: The translations, without wrapping (`hkcanto_metrics.cleaning.clean_output`).
        references: One reference for each.
        language: Of the references: ``zh`` for Cantonese and Written Chinese, or ``en``.
        sources: What was translated; only ``copied_source`` needs it.

    Returns:
        ``bleu``, ``bleu_2``, ``chrf``, ``meteor``, ``rouge_l`` and ``mean`` (of BLEU, METEOR and
        ROUGE-L, as in HKMMLU's Table 2), from 0 to 100; the same with ``_normalized`` after the
        name, with all characters folded to one script (`hkcanto_metrics.script.fold_script`); and
        from 0 to 1, ``wrong_script``: share of outputs for which `is_wrong_script` holds;
        ``empty``: share of outputs with nothing but white space; ``copied_source``: share for which
        `is_copy` holds.

    Raises:
        TypeError: A string was given in the place of a list.
        ValueError: There is nothing to score, the numbers differ, or a reference is empty.

    Examples:
        >>> scores = score_translation(["他說這裡沒有人"], ["他说这里没有人"])
        >>> [round(scores[key], 1) for key in ("rouge_l", "rouge_l_normalized", "wrong_script")]
        [42.9, 100.0, 1.0]
    """
    rows = _rows(hypotheses, references, language, sources)
    return _figures({name: row.sum(axis=0) for name, row in rows.items()}, language)


def sentence_scores(hypothesis: str, reference: str, language: Language = "zh") -> dict[str, float]:
    """Score one translation.

    Args:
        hypothesis: The translation.
        reference: The reference.
        language: As in `score_translation`.

    Returns:
        The scores of `score_translation`, without the rates. BLEU takes no account of n-grams that
        are longer than the hypothesis (sacreBLEU's ``eff:yes``), so the mean of the sentences' BLEU
        is not the corpus BLEU.

    Raises:
        ValueError: The reference is empty.

    Examples:
        >>> round(sentence_scores("我食飯", "我食咗飯")["chrf"], 2)  # F2 of P = 1/2 and R = 13/36
        38.24
    """
    rows = _rows([hypothesis], [reference], language)
    figures = _figures({name: row[0] for name, row in rows.items()}, language, sentence=True)
    return {name: value for name, value in figures.items() if name not in RATES}


def is_wrong_script(hypothesis: str, reference: str) -> bool:
    """Return whether most of a translation is in another script than its reference.

    Args:
        hypothesis: The translation.
        reference: The reference. Without Chinese characters, any other script than theirs is right;
            without a character that tells Simplified from Traditional, either is.

    Examples:
        >>> is_wrong_script("这里没有人", "這裡沒有人"), is_wrong_script("人", "這裡沒有人")
        (True, False)
    """
    if not any(map(is_han, reference)):
        letters = [character for character in hypothesis if character.isalpha()]
        return sum(map(is_han, letters)) > len(letters) / 2
    if "none" in (script_of(hypothesis), script_of(reference)):
        return False
    return (simplified_share(hypothesis) > 0.5) != (simplified_share(reference) > 0.5)


def is_copy(hypothesis: str, reference: str, source: str) -> bool:
    """Return whether a translation repeats its source, where the reference does not.

    Script, case, punctuation and white space make no difference.

    Args:
        hypothesis: The translation.
        reference: The reference.
        source: What was to be translated.

    Examples:
        >>> is_copy("他是我朋友", "佢係我朋友。", "他是我朋友。")
        True
    """
    words = _bare(source)
    return words != "" and _bare(hypothesis) == words != _bare(reference)


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, fold_script(text).lower()))


def bootstrap_translation(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    language: Language = "zh",
    sources: Sequence[str] | None = None,
    clusters: Sequence[Hashable] | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> dict[str, Estimate]:
    """Find confidence intervals of the corpus figures by resampling the sentences.

    Percentile bootstrap (Koehn, 2004, "Statistical Significance Tests for Machine Translation
    Evaluation"); all figures see the same resamples.

    Args:
        hypotheses: The outputs, one per sentence.
        references: The gold texts, as many.
        language: `zh` compares characters, `en` words.
        sources: The texts that were translated, as many; without them nothing is a copy.
        clusters: One per sentence, equal for those that are not independent, such as several
            responses to one question: they are drawn together.
        resamples: Number of resamples, from 1 up.
        confidence: Probability that an interval covers, between 0 and 1.
        seed: Seed of the resampling.

    Returns:
        Each figure of `score_translation` with its interval.

    Raises:
        TypeError: As in `score_translation`.
        ValueError: There is nothing to score, the numbers differ, or a reference is empty.

    Examples:
        >>> interval = bootstrap_translation(["你好", "再見。"], ["你好", "再見！"])["rouge_l"]
        >>> round(interval.low, 1), round(interval.high, 1)
        (66.7, 100.0)
    """
    table, split = _table(_rows(hypotheses, references, language, sources))
    return bootstrap_sums(
        table,
        lambda sums: _figures(split(sums), language),
        clusters,
        resamples=resamples,
        confidence=confidence,
        seed=seed,
    )


def sufficient_statistics(
    name: str, hypotheses: Sequence[str], references: Sequence[str], *, language: Language = "zh"
) -> tuple[Counts, Callable[[Counts], float]]:
    """Count what one corpus figure is made of, for tests that resample or exchange sentences.

    Args:
        name: One of `SCORES`, with or without ``_normalized``.
        hypotheses: The outputs, one per sentence.
        references: The gold texts, as many.
        language: `zh` compares characters, `en` words.

    Returns:
        A row of counts for each sentence, and the function that makes the figure of the summed rows
        of any sentences.

    Raises:
        TypeError: As in `score_translation`.
        ValueError: As in `score_translation`, or the figure is unknown.

    Examples:
        >>> rows, score = sufficient_statistics("rouge_l", ["我食飯", "你好"], ["我食咗飯", "你好"])
        >>> round(score(rows[0]), 1), round(score(rows.sum(axis=0)), 1)
        (85.7, 92.9)
    """
    base = name.removesuffix(_NORMALIZED)
    if base not in SCORES:
        raise ValueError(f"score {name!r} is unknown: use one of {', '.join(SCORES)}")
    suffix = name.removeprefix(base)
    parts = [part + suffix for part in (_AVERAGED if base == "mean" else (base,))]
    rows = _rows(hypotheses, references, language)
    table, split = _table({part: rows[part] for part in parts})

    def score(sums: Counts) -> float:
        return fmean(_figure(part, total, language) for part, total in split(sums).items())

    return table, score


def translation_signatures(language: Language = "zh") -> dict[str, str]:
    """Say how each score was made, as sacreBLEU does.

    Args:
        language: As in `score_translation`.

    Returns:
        sacreBLEU's own signatures for ``bleu``, ``bleu_2`` and ``chrf``, with the order that it
        leaves out, and the like for ``meteor``, ``rouge_l``, ``mean`` and ``normalized``.

    Examples:
        >>> translation_signatures()["bleu"].split("|version:")[0]
        'nrefs:1|case:mixed|eff:no|tok:zh|smooth:exp'
    """
    metrics = {name: _sacrebleu(name, language) for name in _FROM_SACREBLEU}
    for metric in metrics.values():
        metric.corpus_score(["-"], [["-"]])  # sacreBLEU signs nothing before it has scored
    tokens = f"nrefs:1|case:lc|tok:{'13a' if language == 'en' else 'char'}"
    signed = {name: str(metric.get_signature()) for name, metric in metrics.items()}
    return signed | {
        "bleu_2": f"order:2|{signed['bleu_2']}",
        "meteor": f"{tokens}|stem:porter|wordnet:none|a:0.9|b:3|g:0.5|nltk:{version('nltk')}",
        "rouge_l": f"{tokens}|f:1|rapidfuzz:{version('rapidfuzz')}",
        "mean": "+".join(_AVERAGED),
        "normalized": f"script:one|unit:char|opencc:{version('opencc')}",
    }


def _table(rows: Mapping[str, Counts]) -> tuple[Counts, Callable[[Counts], dict[str, Counts]]]:
    """Join rows into one table, and say how to split its sums again."""
    import numpy as np

    ends = np.cumsum([row.shape[1] for row in rows.values()])[:-1]
    joined = np.hstack(list(rows.values()))
    return joined, lambda sums: dict(zip(rows, np.split(sums, ends), strict=True))


def _figures(
    sums: Mapping[str, Counts], language: Language, *, sentence: bool = False
) -> dict[str, float]:
    """Make the figures of the sentences whose rows were summed, in the documented order."""
    figures = {name: _figure(name, total, language, sentence) for name, total in sums.items()}
    for suffix in ("", _NORMALIZED):
        figures[f"mean{suffix}"] = fmean(figures[name + suffix] for name in _AVERAGED)
    names = (*SCORES, *(name + _NORMALIZED for name in SCORES), *RATES)
    return {name: figures[name] for name in names if name in figures}


def _figure(name: str, total: Counts, language: Language, sentence: bool = False) -> float:
    """Make one figure, not a mean of others, of the sentences whose rows were summed."""
    base = name.removesuffix(_NORMALIZED)
    if base in _FROM_SACREBLEU:
        metric = _sacrebleu(base, language, sentence)
        return float(metric._compute_score_from_stats(total.tolist()).score)
    return float(total[0] / total[1])


def _rows(
    hypotheses: Sequence[str],
    references: Sequence[str],
    language: Language,
    sources: Sequence[str] | None = None,
) -> dict[str, Counts]:
    """Count what each figure is made of: a row for each sentence, to be summed."""
    import numpy as np

    if language not in _BLEU_TOKENIZERS:
        raise ValueError(f"language {language!r} is unknown: use 'zh' or 'en'")
    given = {"hypotheses": hypotheses, "references": references, "sources": sources}
    for name, texts in given.items():
        if isinstance(texts, str):
            raise TypeError(
                f"{name} is a string, {reprlib.repr(texts)}: pass a list of strings, or call "
                "sentence_scores for one pair"
            )
        if texts is not None and len(texts) != len(hypotheses):
            raise ValueError(
                f"{len(hypotheses)} hypotheses but {len(texts)} {name}: give one for each"
            )
    if not hypotheses:
        raise ValueError("no translations to score: the list is empty; give at least one pair")
    for number, reference in enumerate(references):
        if not reference.strip():
            raise ValueError(f"reference {number} is empty: nothing can be scored against it")
    pairs = list(zip(hypotheses, references, strict=True))
    scored = [[text.strip()[:LONGEST] for text in pair] for pair in pairs]
    counts = [_count(*pair, language) for pair in scored]
    folded = counts
    if language == "zh":
        folded = [_count(*map(fold_script, pair), language) for pair in scored]
    rows = {name: [count[name] for count in counts] for name in counts[0]}
    rows |= {name + _NORMALIZED: [count[name] for count in folded] for name in counts[0]}
    rows["wrong_script"] = [(is_wrong_script(*pair), 1) for pair in pairs]
    rows["empty"] = [(not hypothesis.strip(), 1) for hypothesis in hypotheses]
    if sources is not None:
        rows["copied_source"] = [
            (is_copy(*pair, source), 1) for pair, source in zip(pairs, sources, strict=True)
        ]
    return {name: np.array(row, dtype=float) for name, row in rows.items()}


@lru_cache(maxsize=_PAIRS_REMEMBERED)
def _count(hypothesis: str, reference: str, language: Language) -> dict[str, tuple[float, ...]]:
    """Count one pair: sacreBLEU's own statistics, or a score and one sentence."""
    from nltk.translate.meteor_score import single_meteor_score  # two seconds: imports all of NLTK
    from rapidfuzz.distance import Indel

    tokens = _tokens(hypothesis, language), _tokens(reference, language)
    counts: dict[str, tuple[float, ...]] = {}
    for name in ("bleu", "chrf"):
        # What sacreBLEU's own bootstrap resamples.
        (row,) = _sacrebleu(name, language)._extract_corpus_statistics([hypothesis], [[reference]])
        counts[name] = tuple(row)
    lengths, orders = counts["bleu"][:2], counts["bleu"][2:]  # matches of four orders, and totals
    counts["bleu_2"] = (*lengths, *orders[:2], *orders[4:6])
    meteor = single_meteor_score(tokens[1], tokens[0], wordnet=_NO_SYNONYMS)
    counts["meteor"] = (100 * float(meteor), 1)
    # F1 of the longest common subsequence, 2 · LCS / (m + n), is the Indel similarity.
    counts["rouge_l"] = (100 * Indel.normalized_similarity(*tokens), 1)
    return counts


@cache
def _sacrebleu(name: str, language: Language, sentence: bool = False) -> Any:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    if name == "chrf":
        return CHRF()
    return BLEU(
        tokenize=_BLEU_TOKENIZERS[language],
        effective_order=sentence,
        max_ngram_order=2 if name == "bleu_2" else 4,
        force=True,
    )


def _tokens(text: str, language: Language) -> list[str]:
    if language == "zh":
        return list("".join(text.lower().split()))
    return str(_sacrebleu("bleu", language).tokenizer(text.lower())).split()
