"""Automatic scores of translations (HKMMLU, Section 4 and Table 2), for corpora and sentences.

Each score has a raw form, for which the script must be right, too, and a normalised form, with both
sides folded to one script, for which only the words must be right. HKCanto-Eval (Appendix F)
rejects BLEU for pairs of Cantonese and Written Chinese, because the two share most characters. For
such pairs, use these scores only as a diagnostic.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.metadata import version
from statistics import fmean
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

from hkcanto_metrics.script import fold_script, is_han, script_of, simplified_share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts = NDArray[np.float64]

Language = Literal["zh", "en"]
Lines = Sequence[str]

SCORES = ("bleu", "bleu_2", "chrf", "meteor", "rouge_l", "mean")
RATES = ("wrong_script", "empty", "copied_source")
# DeepSeek-V3 from Cantonese to Mandarin: (57.4 + 79.0 + 80.2) / 3 = 72.2 (HKMMLU, Table 2).
_AVERAGED = ("bleu", "meteor", "rouge_l")
_NORMALIZED = "_normalized"
_FROM_SACREBLEU = ("bleu", "bleu_2", "chrf")
_BLEU_TOKENIZERS = {"zh": "zh", "en": "13a"}
# A harness scores each sentence and then the corpus, perhaps one figure at a time; the cache avoids
# counting a pair twice. HKMMLU has 44,146 pairs in each direction, each raw and folded; an entry
# takes a kilobyte.
_PAIRS_REMEMBERED = 1 << 17

# An empty WordNet with the interface that NLTK's METEOR uses.
_NO_SYNONYMS = SimpleNamespace(synsets=lambda _: ())

LONGEST = 10_000
"""The number of characters of a text that are scored; a longer translation is in a loop."""


def score_translation(
    hypotheses: Lines,
    references: Lines,
    *,
    language: Language = "zh",
    sources: Lines | None = None,
) -> dict[str, float]:
    """Score the translations of a corpus.

    BLEU, BLEU-2 (up to pairs of tokens) and chrF are sacreBLEU's corpus scores. METEOR is the mean
    of NLTK's sentence scores without WordNet, which has no Chinese and would have to be downloaded;
    in English it therefore matches words and stems but not synonyms. ROUGE-L is the mean of the
    sentences' F1. METEOR and ROUGE-L use characters without white space as tokens, or for English
    sacreBLEU's 13a tokens in lower case. A perfect translation scores 100, with two exceptions: in
    METEOR, m tokens score 100 - 50 / m³, and BLEU needs a reference with at least four tokens. Only
    the first 10,000 characters of a text are scored; the rates below look at the whole text.

    Args:
        hypotheses: The translations, without wrapping (`hkcanto_metrics.cleaning.clean_output`).
        references: One reference for each translation.
        language: Language of the references: ``zh`` for Cantonese and Written Chinese, or ``en``.
        sources: The texts that were translated; only ``copied_source`` needs them.

    Returns:
        ``bleu``, ``bleu_2``, ``chrf``, ``meteor``, ``rouge_l`` and ``mean`` (of BLEU, METEOR and
        ROUGE-L, as in HKMMLU's Table 2), from 0 to 100. The same with the suffix ``_normalized``,
        with all characters folded to one script (`hkcanto_metrics.script.fold_script`). Rates from
        0 to 1: ``wrong_script``, the share of outputs for which `is_wrong_script` holds;
        ``empty``, the share of outputs with only white space; ``copied_source``, the share for
        which `is_copy` holds.

    Raises:
        TypeError: A string was given instead of a list.
        ValueError: There is nothing to score, the lengths differ, or a reference is empty.

    Examples:
        >>> scores = score_translation(["他說這裡沒有人"], ["他说这里没有人"])
        >>> [round(scores[key], 1) for key in ("rouge_l", "rouge_l_normalized", "wrong_script")]
        [42.9, 100.0, 1.0]
    """
    rows = _rows(
        hypotheses,
        references,
        language,
        sources,
    )
    figures = _figures({name: row.sum(axis=0) for name, row in rows.items()}, language)
    figures["wrong_script"] = fmean(map(is_wrong_script, hypotheses, references))
    figures["empty"] = fmean(not hypothesis.strip() for hypothesis in hypotheses)
    if sources is not None:
        figures["copied_source"] = fmean(
            map(
                is_copy,
                hypotheses,
                references,
                sources,
            )
        )
    return figures


def sentence_scores(
    hypothesis: str,
    reference: str,
    language: Language = "zh",
) -> dict[str, float]:
    """Score one translation.

    Args:
        hypothesis: The translation.
        reference: The reference.
        language: As in `score_translation`.

    Returns:
        The scores of `score_translation`, without the rates. BLEU ignores n-grams that are longer
        than the hypothesis (sacreBLEU's ``eff:yes``), so the mean of the sentences' BLEU is not the
        corpus BLEU.

    Raises:
        ValueError: The reference is empty.

    Examples:
        >>> round(sentence_scores("我食飯", "我食咗飯")["chrf"], 2)  # F2 of P = 1/2 and R = 13/36
        38.24
    """
    rows = _rows([hypothesis], [reference], language)
    return _figures(
        {name: row[0] for name, row in rows.items()}, language, sentence=True
    )


def is_wrong_script(hypothesis: str, reference: str) -> bool:
    """Return whether most of a translation is in a different script from its reference.

    Args:
        hypothesis: The translation.
        reference: The reference. If it has no Chinese characters, every script except Chinese
            characters is right. If none of its characters is specific to Simplified or Traditional,
            both of these are right.

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


def is_copy(
    hypothesis: str,
    reference: str,
    source: str,
) -> bool:
    """Return whether a translation repeats its source although the reference does not.

    Script, case, punctuation and white space are ignored.

    Args:
        hypothesis: The translation.
        reference: The reference.
        source: The text to be translated.

    Examples:
        >>> is_copy("他是我朋友", "佢係我朋友。", "他是我朋友。")
        True
    """
    words = _bare(source)
    return words != "" and _bare(hypothesis) == words != _bare(reference)


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, fold_script(text).lower()))


def sufficient_statistics(
    name: str,
    hypotheses: Lines,
    references: Lines,
    *,
    language: Language = "zh",
) -> tuple[Counts, Callable[[Counts], float]]:
    """Count the terms of one corpus figure, for tests that resample or exchange sentences.

    Args:
        name: One of `SCORES`, with or without ``_normalized``.
        hypotheses: The outputs, one per sentence.
        references: The gold texts, in the same order.
        language: `zh` compares characters, `en` words.

    Returns:
        A row of counts for each sentence, and a function that computes the figure from the summed
        rows of any sentences.

    Raises:
        TypeError: As in `score_translation`.
        ValueError: As in `score_translation`, or the figure is unknown.

    Examples:
        >>> rows, score = sufficient_statistics("rouge_l", ["我食飯", "你好"], ["我食咗飯", "你好"])
        >>> round(score(rows[0]), 1), round(score(rows.sum(axis=0)), 1)
        (85.7, 92.9)
    """
    import numpy as np

    base = name.removesuffix(_NORMALIZED)
    if base not in SCORES:
        raise ValueError(f"score {name!r} is unknown: use one of {', '.join(SCORES)}")
    suffix = name.removeprefix(base)
    parts = [part + suffix for part in (_AVERAGED if base == "mean" else (base,))]
    rows = _rows(hypotheses, references, language)
    ends = np.cumsum([rows[part].shape[1] for part in parts])[:-1]

    def score(sums: Counts) -> float:
        totals = zip(parts, np.split(sums, ends), strict=True)
        return fmean(_figure(part, total, language) for part, total in totals)

    return np.hstack([rows[part] for part in parts]), score


def translation_signatures(language: Language = "zh") -> dict[str, str]:
    """Return a signature for each score that says how it was computed, as sacreBLEU does.

    Args:
        language: As in `score_translation`.

    Returns:
        sacreBLEU's own signatures for ``bleu``, ``bleu_2`` and ``chrf``, with the n-gram order,
        which sacreBLEU omits, and similar ones for ``meteor``, ``rouge_l``, ``mean`` and
        ``normalized``.

    Examples:
        >>> translation_signatures()["bleu"].split("|version:")[0]
        'nrefs:1|case:mixed|eff:no|tok:zh|smooth:exp'
    """
    metrics = {name: _sacrebleu(name, language) for name in _FROM_SACREBLEU}
    for metric in metrics.values():
        # sacreBLEU has no signature before it has scored.
        metric.corpus_score(["-"], [["-"]])
    tokenizer = "13a" if language == "en" else "char"
    tokens = f"nrefs:1|case:lc|tok:{tokenizer}"
    signed = {name: str(metric.get_signature()) for name, metric in metrics.items()}
    return signed | {
        "bleu_2": f"order:2|{signed['bleu_2']}",
        "meteor": f"{tokens}|stem:porter|wordnet:none|a:0.9|b:3|g:0.5|nltk:{version('nltk')}",
        "rouge_l": f"{tokens}|f:1|rapidfuzz:{version('rapidfuzz')}",
        "mean": "+".join(_AVERAGED),
        "normalized": f"script:one|unit:char|opencc:{version('opencc')}",
    }


def _figures(
    sums: Mapping[str, Counts],
    language: Language,
    *,
    sentence: bool = False,
) -> dict[str, float]:
    """Compute the figures from summed rows of sentences, in the documented order."""
    figures: dict[str, float] = {}
    for suffix in ("", _NORMALIZED):
        for score in SCORES[:-1]:
            name = score + suffix
            figures[name] = _figure(
                name,
                sums[name],
                language,
                sentence,
            )
        figures[f"mean{suffix}"] = fmean(figures[name + suffix] for name in _AVERAGED)
    return figures


def _figure(
    name: str,
    total: Counts,
    language: Language,
    sentence: bool = False,
) -> float:
    """Compute one figure, except ``mean``, from summed rows of sentences."""
    base = name.removesuffix(_NORMALIZED)
    if base not in _FROM_SACREBLEU:
        return float(total[0] / total[1])
    metric = _sacrebleu(base, language, sentence)
    return float(metric._compute_score_from_stats(total.tolist()).score)


def _rows(
    hypotheses: Lines,
    references: Lines,
    language: Language,
    sources: Lines | None = None,
) -> dict[str, Counts]:
    """Count the terms of each figure: a row for each sentence, to be summed."""
    import numpy as np

    _refuse_invalid(
        hypotheses,
        references,
        language,
        sources,
    )
    outputs = [text.strip()[:LONGEST] for text in hypotheses]
    targets = [text.strip()[:LONGEST] for text in references]
    rows: dict[str, Counts] = {}
    for suffix in ("", _NORMALIZED):
        if suffix and language == "zh":
            outputs = [*map(fold_script, outputs)]
            targets = [*map(fold_script, targets)]
        counts = [
            _count(*pair, language) for pair in zip(outputs, targets, strict=True)
        ]
        for name in counts[0]:
            rows[name + suffix] = np.array([row[name] for row in counts], dtype=float)
    return rows


def _refuse_invalid(
    hypotheses: Lines,
    references: Lines,
    language: Language,
    sources: Lines | None,
) -> None:
    if language not in _BLEU_TOKENIZERS:
        raise ValueError(f"language {language!r} is unknown: use 'zh' or 'en'")
    lists = {"hypotheses": hypotheses, "references": references, "sources": sources}
    for name, texts in lists.items():
        if isinstance(texts, str):
            raise TypeError(
                f"{name} is a string, {reprlib.repr(texts)}: pass a list of strings"
            )
        if texts is not None and len(texts) != len(hypotheses):
            raise ValueError(
                f"{len(hypotheses)} hypotheses but {len(texts)} {name}: give pairs"
            )
    if not hypotheses:
        raise ValueError(
            "no translations to score: the list is empty; give at least one pair"
        )
    for number, reference in enumerate(references):
        if not reference.strip():
            raise ValueError(
                f"reference {number} is empty: nothing can be scored against it"
            )


@lru_cache(maxsize=_PAIRS_REMEMBERED)
def _count(
    hypothesis: str,
    reference: str,
    language: Language,
) -> dict[str, tuple[float, ...]]:
    """Count one pair: sacreBLEU's own statistics, or a score and a count of 1."""
    # Takes two seconds, because it imports all of NLTK.
    from nltk.translate.meteor_score import single_meteor_score
    from rapidfuzz.distance import Indel

    tokens = [_tokens(text.lower(), language) for text in (hypothesis, reference)]
    counts: dict[str, tuple[float, ...]] = {}
    for name in ("bleu", "chrf"):
        # The same statistics that sacreBLEU's own bootstrap resamples.
        (row,) = _sacrebleu(name, language)._extract_corpus_statistics(
            [hypothesis], [[reference]]
        )
        counts[name] = tuple(row)
    lengths = counts["bleu"][:2]
    matches = counts["bleu"][2:6]  # of four orders
    totals = counts["bleu"][6:]
    counts["bleu_2"] = (*lengths, *matches[:2], *totals[:2])
    meteor = single_meteor_score(tokens[1], tokens[0], wordnet=_NO_SYNONYMS)
    counts["meteor"] = (100 * float(meteor), 1)
    # F1 of the longest common subsequence, 2 · LCS / (m + n), is the Indel similarity.
    counts["rouge_l"] = (100 * Indel.normalized_similarity(*tokens), 1)
    return counts


def _tokens(text: str, language: Language) -> list[str]:
    if language == "zh":
        return [*"".join(text.split())]
    tokens: list[str] = _sacrebleu("bleu", language).tokenizer(text).split()
    return tokens


@cache
def _sacrebleu(
    name: str,
    language: Language,
    sentence: bool = False,
) -> Any:
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
