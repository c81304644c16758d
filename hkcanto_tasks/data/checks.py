"""Refuse items that cannot all be from the release: damaged, repeated, in another language."""

import re
from collections.abc import Hashable, Sequence
from random import Random

from hkcanto_metrics.script import count_scripts

from ..declarations import TaskDefinition
from ..errors import DataCorrupt
from ..samples import Sample

_ODD_SHARE = 0.1
"""The share of a file's rows that may be odd: 6 of 424 in HKMMLU's law are in Simplified script,
78 of 1,534 in MMLU's have broken quotation marks, 2 of 125 on insurance contradict each other."""

_ENOUGH = 10
"""Files with fewer rows may have no Chinese row, or rows that are all the same."""

_LOOKED_AT = 60  # rows of a file whose script is counted
_DAMAGED = re.compile("[\ufffd\x80-\x84\x86-\x9f]")
_HAN = re.compile("[\u3400-\u9fff]")


def refuse_odd(
    samples: Sequence[Sample], definition: TaskDefinition, where: str
) -> None:
    """Refuse the items of a file if too many of them cannot be right.

    Args:
        samples: The items of one file, before any conversion of their script.
        definition: Their task, which declares language and script.
        where: The file, for the message.

    Raises:
        DataCorrupt: The first problem that was found.
    """
    rows, has_choices = len(samples), bool(samples and samples[0].choices)
    few, remedy = max(1, _ODD_SHARE * rows), "Fetch it again."
    texts = [sample.question or sample.source for sample in samples]
    whole = "".join(texts)
    is_sound = whole.isascii() or not _DAMAGED.search(whole)
    damaged = 0 if is_sound else sum(map(bool, map(_DAMAGED.search, texts)))
    if damaged > few:
        odd = f"characters that no text contains (U+FFFD, control) in {damaged} of {rows} rows"
        raise DataCorrupt(
            f"{where} has {odd}: it was read in a wrong encoding. {remedy}"
        )
    is_chinese = definition.is_traditional or definition.language in ("zh", "yue")
    shown = (
        "".join(filter(None, (sample.question, *sample.choices))) for sample in samples
    )
    if (
        is_chinese
        and rows >= _ENOUGH
        and has_choices
        and not any(map(_HAN.search, shown))
    ):
        raise DataCorrupt(
            f"{where} has no Chinese character: it is in another language. {remedy}"
        )
    if definition.is_traditional:
        some = Random(0).sample(samples, min(rows, _LOOKED_AT))  # rows may alternate
        counts = (count_scripts(sample.text) for sample in some)
        simplified = sum(of_sc > of_tc for of_tc, of_sc in counts)
        if simplified > max(1, _ODD_SHARE * len(some)):
            odd = f"{simplified} of {len(some)} rows in Simplified script; Traditional is declared"
            raise DataCorrupt(
                f"{where} has {odd}. Put the release's Traditional file in its place."
            )
    if has_choices and rows - len({*texts}) > _ENOUGH:
        targets: dict[Hashable, set[str]] = {}  # of each question
        for item in samples:
            asked = (item.question, item.choices, *item.cells.values())
            targets.setdefault(asked, set()).add(item.target)
        contrary, repeated = (
            sum(len(of) > 1 for of in targets.values()),
            rows - len(targets),
        )
        if contrary > max(few, _ENOUGH) or (
            len(targets) > _ENOUGH and repeated >= rows / 2
        ):
            odd = f"{contrary} with other answers, {repeated} repeated of {rows} rows"
            raise DataCorrupt(
                f"{where} asks the same questions several times: {odd}. {remedy}"
            )
