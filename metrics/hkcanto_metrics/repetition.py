"""Detect degenerate repetition: the loops that a language model can fall into."""

from hkcanto_metrics.rates import Rate

_NGRAM_LENGTH = 10
_MIN_REPEATED = 10
_MIN_SHARE = 0.3


def repeated_share(text: str) -> Rate:
    """Measure how much of a text repeats earlier parts of it.

    This is seq-rep-n of Welleck et al. (2020), "Neural Text Generation With Unlikelihood Training",
    Section 6, with 10-grams of characters: 1 - distinct n-grams / all n-grams. A run of white space
    counts as one blank, so indentation does not count as repetition.

    Args:
        text: Any text; the running time is linear in its length.

    Returns:
        The share, from 0 to 1, with its counts; 0 if the text is shorter than 10 characters.

    Examples:
        >>> repeated_share("0123456789" * 2)  # 11 10-grams; the last repeats the first
        0.09090909090909091
    """
    characters = " ".join(text.split())
    total = max(len(characters) - _NGRAM_LENGTH + 1, 0)
    distinct = {characters[start : start + _NGRAM_LENGTH] for start in range(total)}
    return Rate.of(total - len(distinct), total)


def is_degenerate(text: str) -> bool:
    """Return whether a text is caught in a loop.

    A text is in a loop if at least 30 % of its 10-grams, and at least 10 of them, repeat earlier
    ones. One of the 1,619 restaurant reviews, comments, articles and talks in HKCanto-Eval is: a
    review that was pasted twice. The minimum of 10 excludes laughter and cheers (哈哈哈哈).

    Args:
        text: Any text; the running time is linear in its length.

    Returns:
        Whether it is in a loop.

    Examples:
        >>> is_degenerate("今日好開心，" * 6), is_degenerate("哈哈哈哈哈哈，今日好開心！")
        (True, False)
    """
    repeated = repeated_share(text)
    return repeated.errors >= max(_MIN_REPEATED, _MIN_SHARE * repeated.total)
