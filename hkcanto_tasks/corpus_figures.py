"""Figures of a whole corpus: computed from all pairs of hypothesis and reference at once."""

from collections.abc import Hashable, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from hkcanto_metrics.rates import Estimate
from hkcanto_metrics.translation import (
    Language,
    bootstrap_translation,
    score_translation,
    translation_signatures,
)

from .catalogue import NamedTask
from .records import Judgement


class Pair(NamedTuple):
    """What one item gives to a corpus figure."""

    hypothesis: str
    reference: str
    source: str


def pair_of(judgement: Judgement) -> Pair:
    """Return what a judged item gives to corpus figures."""
    return Pair(judgement.hypothesis, judgement.reference, judgement.source)


def language_of(task: NamedTask) -> Language:
    """Return by which units a task's texts are compared: words in English, else characters."""
    return "en" if task.entry.language == "en" else "zh"


def metric_signatures(task: NamedTask) -> dict[str, str]:
    """Return how each corpus figure of a task is computed, in sacreBLEU's form where it has one."""
    return dict(translation_signatures(language_of(task)))


def corpus_scores(pairs: Iterable[Pair], language: Language) -> Mapping[str, float]:
    """Return all figures of a corpus; the harnesses ask for them one by one, and get them cached.

    Args:
        pairs: One per item.
        language: See `language_of`.
    """
    return _scores(tuple(pairs), language)


def corpus_errors(
    pairs: Iterable[Pair], language: Language, items: Iterable[Hashable]
) -> Mapping[str, Estimate]:
    """Return the bootstrap intervals of `corpus_scores`, cached likewise.

    Args:
        pairs: One per response.
        language: See `language_of`.
        items: What each is a response to: those of all epochs of an item are drawn together.
    """
    return _errors(tuple(pairs), language, tuple(items))


@lru_cache(maxsize=4)
def _scores(pairs: tuple[Pair, ...], language: Language) -> Mapping[str, float]:
    hypotheses, references, sources = zip(*pairs, strict=True)
    return score_translation(hypotheses, references, language=language, sources=sources)


@lru_cache(maxsize=4)
def _errors(
    pairs: tuple[Pair, ...], language: Language, items: tuple[Hashable, ...]
) -> Mapping[str, Estimate]:
    hypotheses, references, _ = zip(*pairs, strict=True)
    return bootstrap_translation(hypotheses, references, language=language, clusters=items)
