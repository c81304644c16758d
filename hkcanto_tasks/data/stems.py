"""Match names in a release, such as file stems, to the subjects of a benchmark."""

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from ..catalogue import Subject
from ..errors import DataNotFound

# Words that do not distinguish names.
_SILENT = {
    *("and", "the", "of", "to", "data", "all", "default", "main", "full"),
    *("question", "translation", "parallel", "sentence", "corpus"),
}


@lru_cache(4096)
def words(name: str, benchmark: str = "") -> tuple[str, ...]:
    """Return the words of a name that distinguish it from others.

    Args:
        name: The name of a file, a configuration or a subject.
        benchmark: A word that all names contain.

    Examples:
        >>> words("Hong Kong Film & Television"), words("HKMMLU-can2man", "hkmmlu")
        (('hk', 'film', 'television'), ('can', 'man'))
    """
    text = unicodedata.normalize("NFKC", name).lower()
    text = re.sub(r"hong[\s_-]?kong", "hk", text)
    text = re.sub(r"(?<=[a-z])2(?=[a-z])", " ", text)
    found = re.findall(r"[a-z0-9]+|[\u3400-\u9fff]+", text)
    plain = (re.sub(r"(?<=..[^s])s$", "", word) for word in found if word != benchmark)
    return tuple(word for word in plain if word not in _SILENT)


def names(subject: Subject, benchmark: str) -> set[tuple[str, ...]]:
    """Return the names of a subject in a release, each as a tuple of words.

    Args:
        subject: The subject.
        benchmark: A word that may be in all names.

    Examples:
        >>> sorted(names(Subject(name="law", chinese="法律"), "quiz"))
        [('law',), ('法律',)]
    """
    known = (subject.stem, *subject.aliases, subject.name, subject.title, subject.chinese)
    return {words(name, benchmark) for name in known} - {()}


def match_stems(
    stems: Collection[str],
    subjects: Sequence[Subject],
    benchmark: str,
    rows: Callable[[str], int],
) -> dict[str, Subject]:
    """Find each stem's subject, if it is certain.

    Stems are matched by `HKCANTO_ALIASES`; by name, title and aliases; by the same words in another
    order; by words that contain, or are contained in, the words of only one subject; and finally by
    the published number of rows. Several stems may match one subject, each by another of its names.

    Args:
        stems: The release's names of subjects.
        subjects: The benchmark's subjects.
        benchmark: A word that may be in all names.
        rows: Stem → number of test rows.

    Raises:
        DataNotFound: `HKCANTO_ALIASES` cannot be read.
    """
    known = {subject: names(subject, benchmark) for subject in subjects}
    by_hand = {words(stem, benchmark): subject for stem, subject in _by_hand().items()}
    said: dict[tuple[str, ...], list[str]] = {}
    for stem in stems:
        said.setdefault(words(stem, benchmark), []).append(stem)
    said.pop((), None)
    ways: tuple[Callable[[tuple[str, ...], Subject], bool], ...] = (
        lambda name, subject: by_hand.get(name) in (subject.name or subject.stem, subject.stem),
        lambda name, subject: name in known[subject],
        lambda name, subject: {*name} in map(set, known[subject]),
        lambda name, subject: any(
            {*name} < {*each} or {*each} < {*name} for each in known[subject]
        ),
        lambda name, subject: bool(subject.rows) and rows(said[name][0]) == subject.rows,
    )
    found: dict[tuple[str, ...], Subject] = {}
    for fits in ways:
        free = [subject for subject in subjects if subject not in found.values()]
        fitting = {
            name: [subject for subject in free if fits(name, subject)]
            for name in said
            if name not in found
        }
        claims = Counter(subject for each in fitting.values() for subject in each)
        found |= {
            name: each[0]
            for name, each in fitting.items()
            if len(each) == 1 and (claims[each[0]] == 1 or fits in ways[:2])
        }
    exact = {
        each.stem: each for each in subjects if each.stem and each.stem in stems
    }  # words may be the same
    by_words = {stem: subject for name, subject in found.items() for stem in said[name]}
    own = {stem: each for stem, each in exact.items() if words(stem, benchmark) not in by_hand}
    return by_words | own


def _by_hand() -> Mapping[str, str]:
    """Return stem → subject from `HKCANTO_ALIASES`: `stem=subject,…`, or a file of such lines."""
    given = os.environ.get("HKCANTO_ALIASES", "")
    if given and "=" not in given:
        try:
            given = Path(given).expanduser().read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DataNotFound(
                f"HKCANTO_ALIASES={given} is neither stem=subject,stem=subject nor a file of such "
                f"lines: {getattr(error, 'strerror', None) or error}."
            ) from error
    pairs = (line.split("=", 1) for line in re.split(r"[,\n]", given) if "=" in line)
    return {stem.strip(): subject.strip() for stem, subject in pairs}
