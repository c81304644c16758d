"""Refuse items that cannot all be from the release: damaged, repeated, in another language."""

import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from random import Random

from hkcanto_metrics.script import count_scripts

from ..declarations import TaskDefinition
from ..errors import DataCorrupt
from ..samples import Sample
from .tables import Row

_ODD_SHARE = 0.1
"""The share of a file's rows that may be odd: 6 of 424 in HKMMLU's law are in Simplified script,
78 of 1,534 in MMLU's have broken quotation marks, 2 of 125 on insurance contradict each other."""

_ENOUGH_ROWS = 10
"""Files with fewer rows may have no Chinese row, or rows that are all the same."""

_ROWS_OF_SCRIPT = 60  # rows of a file whose script is counted
_DAMAGED = re.compile("[\ufffd\x80-\x84\x86-\x9f]")
_MEDIA = re.compile(
    r"data:(image|audio|video)/.*|/9j/[\w+/]{60}.*|iVBORw0KGgo.*"
    r"|\S+\.(png|jpe?g|gif|webp|bmp|svg|tiff?|wav|mp3|flac|ogg|m4a|mp4)(\?\S*)?",
    re.DOTALL | re.IGNORECASE,
)
"""An image, sound or film as a text, or the name of its file."""
_HAN_CHARACTER = re.compile("[\u3400-\u9fff]")


def refuse_odd(
    samples: Sequence[Sample],
    definition: TaskDefinition,
    where: str,
) -> None:
    """Refuse the items of a file if too many of them cannot be right.

    Args:
        samples: The items of one file, before any conversion of their script.
        definition: Their task, which declares language and script.
        where: The file, for the message.

    Raises:
        DataCorrupt: The first problem in the file.
    """
    questions = [sample.question or sample.source for sample in samples]
    has_choices = bool(samples and samples[0].choices)
    is_chinese = definition.is_traditional or definition.language in ("zh", "yue")
    _refuse_damaged(questions, where)
    if is_chinese and has_choices and len(samples) >= _ENOUGH_ROWS:
        _refuse_other_language(samples, where)
    if definition.is_traditional:
        _refuse_simplified(samples, where)
    # Few questions occur twice, so the costlier look at choices and targets is rare.
    if has_choices and len(samples) - len(set(questions)) > _ENOUGH_ROWS:
        _refuse_repeated(samples, where)


def media_columns(rows: Sequence[Row], columns: Collection[str]) -> list[str]:
    """Return those columns that hold an image, sound or bytes in any row.

    Examples:
        >>> media_columns([Row(1, {"image": {"bytes": b"...", "path": None}})], ["image"])
        ['image']
    """
    return [
        name for name in columns if any(_is_media(row.cells.get(name)) for row in rows)
    ]


def _is_media(cell: object) -> bool:
    if isinstance(cell, Mapping):
        if "sampling_rate" in cell:  # `datasets` decodes a sound to numbers
            return True
        cell = [*cell.values()]
    if isinstance(cell, list):
        return any(map(_is_media, cell))
    if isinstance(cell, str):
        return bool(_MEDIA.fullmatch(cell))
    return isinstance(cell, bytes)


def _refuse_damaged(questions: Sequence[str], where: str) -> None:
    # Nearly all files are sound, and one search is quicker than one a row.
    if not _DAMAGED.search("".join(questions)):
        return
    rows = len(questions)
    damaged = sum(1 for question in questions if _DAMAGED.search(question))
    if damaged > max(1, _ODD_SHARE * rows):
        raise DataCorrupt(
            f"{where} has characters that no text contains (U+FFFD, control) in "
            f"{damaged} of {rows} rows: it was read in a wrong encoding. Fetch it again."
        )


def _refuse_other_language(samples: Sequence[Sample], where: str) -> None:
    for sample in samples:
        texts = filter(None, (sample.question, *sample.choices))
        if _HAN_CHARACTER.search("".join(texts)):
            return
    raise DataCorrupt(
        f"{where} has no Chinese character: it is in another language. Fetch it again."
    )


def _refuse_simplified(samples: Sequence[Sample], where: str) -> None:
    # Rows may alternate between scripts, so they are drawn at random.
    drawn = Random(0).sample(samples, min(len(samples), _ROWS_OF_SCRIPT))
    texts = [sample.text for sample in drawn]
    # Few files have a Simplified character, and each character is looked up once here.
    _, n_characters = count_scripts("".join({*"".join(texts)}))
    if not n_characters:
        return
    simplified = 0
    for text in texts:
        n_traditional, n_simplified = count_scripts(text)
        if n_simplified > n_traditional:
            simplified += 1
    if simplified > max(1, _ODD_SHARE * len(drawn)):
        raise DataCorrupt(
            f"{where} has {simplified} of {len(drawn)} rows in Simplified script; Traditional is "
            "declared. Put the release's Traditional file in its place."
        )


def _refuse_repeated(samples: Sequence[Sample], where: str) -> None:
    rows = len(samples)
    targets: defaultdict[Hashable, set[str]] = defaultdict(set)  # of each question
    for sample in samples:
        question = (sample.question, sample.choices, *sample.cells.values())
        targets[question].add(sample.target)
    repeated = rows - len(targets)
    contradictory = sum(1 for answers in targets.values() if len(answers) > 1)
    many_contradict = contradictory > max(_ODD_SHARE * rows, _ENOUGH_ROWS)
    many_repeat = len(targets) > _ENOUGH_ROWS and repeated >= rows / 2
    if many_contradict or many_repeat:
        raise DataCorrupt(
            f"{where} asks the same questions several times: {contradictory} with other answers, "
            f"{repeated} repeated of {rows} rows. Fetch it again."
        )
